/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - what the drivers share: one row a capability, sets with their tables ready, and what a
 * decoder and an encoder hold between payloads.
 *
 * A driver is one file. It reads its payload with payload.h, plans its graphs with qp_plan_graph,
 * takes sessions from qp_decoder_session, and gives its media with qp_media_make. It allocates
 * through the decoder's or encoder's allocator alone, which holds it to the caller's max_memory.
 */
#ifndef QP_CODEC_CODEC_H
#define QP_CODEC_CODEC_H

#include "codec/payload.h"
#include "op/op.h"
#include "quipu/codec.h"

/* ---- drivers ------------------------------------------------------------------------------ */

/* Every driver, in the order of the registry. A row needs `const qp_driver qp_driver_NAME`. */
#define QP_DRIVERS(ROW)                                                                            \
    ROW(int_synth)                                                                                 \
    ROW(int_hyper)                                                                                 \
    ROW(audio)                                                                                     \
    ROW(splat)                                                                                     \
    ROW(int_mlicpp)                                                                                \
    ROW(video_int_motion)                                                                          \
    ROW(video_int_motion_frame)                                                                    \
    ROW(video_int_hyper)                                                                           \
    ROW(video_int_hyper_frame)                                                                     \
    ROW(image_int_refine)                                                                          \
    ROW(video_int_refine)                                                                          \
    ROW(audio_int_refine)                                                                          \
    ROW(splat_int_refine)                                                                          \
    ROW(int_cond)                                                                                  \
    ROW(int_cond_frame)                                                                            \
    ROW(image_int_cond_refine)

typedef struct qp_driver {
    const char *capability;
    const char *magic; /* of its payloads */
    bool reads_set;    /* its payloads are decoded through a parameter set */

    /* Makes set->entropy; NULL where a set needs nothing but its graphs. */
    qp_status (*prepare)(qp_set *set, qp_error *error);

    /* One payload. On a refusal *media is freed by the caller of this, and `state` unchanged. */
    qp_status (*decode)(qp_decoder *decoder, const qp_unit *unit, qp_media *media, qp_error *error);
    /* Frees decoder->state and sets it to NULL; NULL where the driver keeps none. */
    void (*forget)(qp_decoder *decoder);

    /* Prepares encoder->state from encoder->beside; NULL for nothing. */
    qp_status (*start_encoder)(qp_encoder *encoder, qp_error *error);
    /* One payload into an empty buffer; NULL where the library does not encode. */
    qp_status (*encode)(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                        qp_error *error);
    /* Frees encoder->state, also what a failed start left of it; NULL where there is none. */
    void (*forget_encoder)(qp_encoder *encoder);
} qp_driver;

#define QP_DRIVER_ROW(name) extern const qp_driver qp_driver_##name;
QP_DRIVERS(QP_DRIVER_ROW)
#undef QP_DRIVER_ROW

/* The driver of a capability, or NULL; and of an index, or NULL past the last. */
const qp_driver *qp_driver_find(const char *capability);
const qp_driver *qp_driver_at(size_t index);

/* ---- allocation with a limit -------------------------------------------------------------- */

typedef struct qp_budget {
    qp_allocator inner;
    size_t limit; /* SIZE_MAX for none */
    size_t used, peak;
    bool exceeded; /* a block was refused for the limit's sake */
} qp_budget;

/* The budget must stay where it is while the allocator that this gives is used. */
qp_allocator qp_budget_init(qp_budget *budget, size_t limit, const qp_allocator *inner);
/* `size` bytes go to the caller's own care: they stay allocated and are counted no longer. */
void qp_budget_give(qp_budget *budget, size_t size);
/* Turns QP_NO_MEMORY into QP_TOO_LARGE where it was the limit that refused. */
qp_status qp_budget_status(qp_budget *budget, qp_status status, qp_error *error);

/* ---- entropy tables ----------------------------------------------------------------------- */

/* An entropy.json, ready for the stage operators. */
typedef struct qp_entropy {
    int64_t afrac;
    int64_t *edges;
    size_t n_edges;
    qp_rans_tables *y, *z;
} qp_entropy;

/* Reads the text, which need not outlive the call, and checks the tables and, for `ceil`, the
 * edges. QP_MODEL_MISMATCH for anything that breaks a rule. Ownership: qp_entropy_free. */
qp_status qp_entropy_read(const void *text, size_t size, const qp_rans_modes *modes,
                          const qp_allocator *allocator, qp_entropy *entropy, qp_error *error);
void qp_entropy_free(const qp_allocator *allocator, qp_entropy *entropy);

/* The modes of E1 that a capability's row of the registry names. */
qp_rans_modes qp_codec_modes(const qp_capability *capability);

static inline qp_integer_list qp_entropy_edges(const qp_entropy *entropy)
{
    return (qp_integer_list){entropy->edges, entropy->n_edges};
}

/* ---- sets --------------------------------------------------------------------------------- */

/* Copies of files. */
typedef struct qp_members {
    qp_member *at;
    size_t count;
} qp_members;

struct qp_set {
    qp_budget budget; /* counts what the set takes */
    qp_allocator allocator;
    const qp_driver *driver;
    qp_allocator outer; /* gave the set itself */
    qp_members members; /* those that the capability reads */
    qp_lowered *lowered;
    qp_entropy entropy; /* of drivers that prepare it; empty otherwise */

    char sha256[QP_SHA256_HEX_SIZE];
    qp_set_cache *cache; /* NULL for a set of its own */
    qp_set *newer, *older;
    size_t holders;
};

/* The file of a path, or NULL. */
const qp_member *qp_members_find(const qp_members *members, const char *path);

/* Copies files, their paths too. Ownership: qp_members_free. */
qp_status qp_members_copy(const qp_member *members, size_t count, const qp_allocator *allocator,
                          qp_members *copy, qp_error *error);
void qp_members_free(const qp_allocator *allocator, qp_members *members);

/* ---- planning ----------------------------------------------------------------------------- */

/*
 * The shapes that a graph gives for these inputs: the checks of section 4 on inputs, scalars and
 * the run-time plan, with its codes, and no memory but 16 bytes a tensor. A driver plans every
 * graph before it decodes a stream.
 */
qp_status qp_plan_graph(const qp_graph *graph, const qp_shape *inputs, const int64_t *scalars,
                        const qp_allocator *allocator, qp_shape *outputs, qp_error *error);

/* ---- decoders and encoders ---------------------------------------------------------------- */

/* The driver of a capability, and whether the set, or NULL, is one of its own. */
qp_status qp_codec_driver(const char *capability, const qp_set *set, const qp_driver **driver,
                          qp_error *error);

/* The most graphs of any capability's set. */
#define QP_CODEC_GRAPHS_MAX 6

struct qp_decoder {
    qp_budget budget;
    qp_allocator allocator; /* for everything that a decode takes */
    qp_allocator outer;     /* gave the decoder itself */
    const qp_driver *driver;
    const qp_set *set; /* or NULL */
    qp_decode_options options;
    qp_session *sessions[QP_CODEC_GRAPHS_MAX];
    void *state; /* the driver's: the frame before, carried features */
};

/* The session of a graph of the set, made at its first use. */
qp_status qp_decoder_session(qp_decoder *decoder, size_t graph, qp_session **session,
                             qp_error *error);

/* Room for media of that form, whose `bytes` and `size` it sets. QP_TOO_LARGE past 2^32 - 1 bytes
 * on any machine. */
qp_status qp_media_make(const qp_allocator *allocator, qp_media *media, qp_error *error);

/* The bytes that media of a form have, or 0 where a dimension is 0 or the product passes 2^32 - 1.
 */
uint64_t qp_media_bytes(const qp_media *media);

/* Element (c, y, x) of an array of bytes or wider values in 0..255 as pixels: the top left corner
 * of the array, `media->height` by `media->width`, into frame `frame`. */
void qp_media_put_pixels(qp_media *media, uint32_t frame, const qp_array *array);

struct qp_encoder {
    qp_budget budget;
    qp_allocator allocator;
    qp_allocator outer;
    const qp_driver *driver;
    const qp_set *set;
    qp_encode_options options;
    qp_members beside;
    void *state; /* the driver's */
};

/* A graph of a set of several, made to run once. */
qp_status qp_codec_session(const qp_certificate *certificate, size_t graph, int reference,
                           const qp_allocator *allocator, qp_session **session, qp_error *error);

#endif
