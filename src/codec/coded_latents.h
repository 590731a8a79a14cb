/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coded_latents.h - latents as the drivers code them: the symbols of one stream become values by
 * E2, against tables of the payload or, where a network gives a scale and a mean for each, against
 * the table that E3 names (integer-operators.md section 13.5).
 */
#ifndef QP_CODEC_CODED_LATENTS_H
#define QP_CODEC_CODED_LATENTS_H

#include "codec/codec.h"
#include "quipu/latents.h"

/* ---- arrays and networks ------------------------------------------------------------------ */

/* Values [channels, height, width] as a session reads them. */
qp_array qp_latent_array(const int64_t *values, const qp_shape *shape);

/* The afrac of a WHM1 or WAM1 file of a set that is lowered: the field at byte 8. */
int64_t qp_network_afrac(const qp_member *network);

/* Runs a graph of one data input and gives its only output, which stays until the next run. */
qp_status qp_network_run(qp_session *session, const qp_array *input, qp_array *output,
                         qp_error *error);

/* Whether the shapes are the same. */
static inline bool qp_shape_is(const qp_shape *shape, uint32_t channels, uint32_t height,
                               uint32_t width)
{
    return shape->channels == channels && shape->height == height && shape->width == width;
}

/* The checks on what a synthesis gives, once it is planned: its channels (QP_MODEL_MISMATCH), and
 * that the picture fits into it (QP_GEOMETRY_MISMATCH). */
qp_status qp_synthesis_check(const qp_shape *given, const qp_shape *picture, qp_error *error);

/* Gives a refusal the code by which its capability calls it (section 4): any status before
 * QP_PAYLOAD_MALFORMED's group ends becomes `code`, and what is no refusal stays as it is. */
qp_status qp_refusal_as(qp_status status, qp_status code, qp_error *error);

/* Ends an encoder: the buffer's bytes become the payload's where `status` is QP_OK and there was
 * memory; the buffer is then gone in any case. Gives the status. */
qp_status qp_encoded_take(qp_buffer *buffer, qp_status status, qp_encoded *payload,
                          qp_error *error);

/* ---- tables of a payload ------------------------------------------------------------------ */

/* Latents coded against tables that the payload carries: one for all, or one a channel. */
typedef struct qp_carried {
    qp_payload_table *tables; /* [n_tables], of the allocator below */
    uint16_t n_tables;
    qp_bytes stream;
} qp_carried;

/* Reads `n_tables` tables and a stream. QP_NO_MEMORY, or QP_OK with the payload's fault, if any, in
 * `payload`. Ownership: qp_carried_free. */
qp_status qp_carried_read(qp_payload *payload, uint16_t n_tables, const qp_allocator *allocator,
                          qp_carried *carried, qp_error *error);
void qp_carried_free(const qp_allocator *allocator, qp_carried *carried);

/* Decodes [channels, height, width] in raster order, E2 `dequantize(sym, f, 0)`; the stream ends
 * canonically. The tables are checked first (QP_MODEL_MISMATCH). */
qp_status qp_carried_decode(const qp_carried *carried, int64_t f, const qp_shape *shape,
                            const qp_allocator *allocator, int64_t *values, qp_error *error);

/* The encoder's side: makes tables, writes them and the stream. A payload has one table a channel
 * where qp_carried_tables says so. */
uint16_t qp_carried_tables(const qp_latents *latents);
qp_status qp_carried_write(const qp_latents *latents, const qp_allocator *allocator,
                           qp_buffer *payload, qp_error *error);

/* QP_INVALID_ARGUMENT unless the latents have elements, at most 2^26 and 2^16 - 1 channels. */
qp_status qp_latents_check(const qp_latents *latents, qp_error *error);

/* Makes set->entropy of the tables of a WMB1 or WCB1 bundle, which is lowered. */
qp_status qp_bundle_prepare(qp_set *set, const qp_rans_modes *modes, qp_error *error);

/* ---- tables of a set ---------------------------------------------------------------------- */

/* Decodes [channels, height, width] in raster order, channel c against the set's `z` table c, E2
 * `dequantize(sym, afrac, 0)`, then the end rule. There are as many tables as channels. */
qp_status qp_hyper_decode(const qp_entropy *entropy, qp_bytes stream, const qp_shape *shape,
                          int64_t *values, qp_error *error);
/* Its encoder: `channels` tables, as the decode. */
qp_status qp_hyper_encode(const qp_entropy *entropy, const qp_latents *latents,
                          const qp_allocator *allocator, qp_stream *stream, qp_error *error);

/* Scales and means of latents: an array [2m, h, w], the scales first. */
typedef struct qp_conditions {
    const qp_entropy *entropy;
    qp_array array;
} qp_conditions;

/* Some of the latents, in coding order: elements first .. first + count of [m, h, w], or those that
 * `positions`, where it is not NULL, adds to `first`. */
typedef struct qp_pass {
    const uint32_t *positions;
    size_t first, count;
} qp_pass;

/* Decodes them into `values`, [m, h, w]: E3 names the table, one E1 symbol, E2
 * `dequantize(sym, afrac, mean)`. The end rule is the caller's. */
qp_status qp_conditioned_decode(const qp_conditions *conditions, const qp_pass *pass,
                                qp_rans_decoder *decoder, int64_t *values, qp_error *error);

/* Symbols as they are chosen. */
typedef struct qp_chosen {
    qp_allocator allocator;
    uint32_t *reads;
    int32_t *symbols;
    size_t count, capacity;
} qp_chosen;

qp_status qp_chosen_init(qp_chosen *chosen, size_t capacity, const qp_allocator *allocator,
                         qp_error *error);
void qp_chosen_free(qp_chosen *chosen);

/* Chooses, for each of the latents, the symbol whose value comes nearest to its target, and puts
 * the value that decodes into `values`, which may be the targets. QP_FIELD_RANGE where no symbol of
 * 32 bits does. */
qp_status qp_conditioned_choose(const qp_conditions *conditions, const qp_pass *pass,
                                const int64_t *targets, qp_chosen *chosen, int64_t *values,
                                qp_error *error);

#endif
