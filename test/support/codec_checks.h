/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_checks.h - what every driver's test asks of its payloads: one digest, a refusal for every
 * truncation, no harm from any flipped bit, memory within its limit, and no leak without memory.
 */
#ifndef QP_TEST_SUPPORT_CODEC_CHECKS_H
#define QP_TEST_SUPPORT_CODEC_CHECKS_H

#include "support/small_sets.h"
#include "support/test.h"

/* A payload, its set (NULL for none) and what it decodes upon. */
typedef struct codec_case {
    const char *capability;
    const small_set *set;
    qp_unit unit;
} codec_case;

/* Opens the set and a decoder of it; each is NULL where it was refused. */
typedef struct codec_open {
    qp_set *set;
    qp_decoder *decoder;
} codec_open;
codec_open codec_start(const codec_case *c, size_t max_memory);
void codec_end(codec_open *open);

/* Decodes with a decoder of its own. The media are freed where `media` is NULL. */
qp_status codec_decode(const codec_case *c, qp_media *media, qp_error *error);
/* A copy of the payload with `width` bytes at `at` set to a value. Ownership: free(). */
uint8_t *codec_patch(const codec_case *c, size_t at, uint64_t value, unsigned width);
/* Requires that refusal of such a copy. */
void codec_refused_with(const codec_case *c, size_t at, uint64_t value, unsigned width,
                        qp_status expected);
/* Requires that refusal. */
void codec_refused(const codec_case *c, qp_status expected);
/* Requires QP_OK and that digest. */
void codec_digest(const codec_case *c, const char *sha256);
/* The same for a payload and a digest that are committed: the file `path` and `path`.sha256. With
 * the variable QP_GOLDEN set, writes both first. */
void codec_golden(const codec_case *c, const char *path);

/* Every prefix is QP_PAYLOAD_MALFORMED. */
void codec_truncate(const codec_case *c);
/* Every bit flipped alone gives one of the text's refusals or some output, and the decoder then
 * still decodes the payload as before. */
void codec_flip(const codec_case *c);
/* Every request for memory fails once; and a limit below the peak is QP_TOO_LARGE. */
void codec_starve(const codec_case *c);

/* An encoder that fails each of its requests for memory once: QP_NO_MEMORY and nothing left. */
typedef qp_status codec_encode_fn(void *context, const qp_allocator *allocator,
                                  qp_encoded *payload);
void codec_starve_encoder(codec_encode_fn *encode, void *context);

/* All three. */
void codec_torment(const codec_case *c);

#endif
