/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - verifying and hashing, for the conversion that does both to what it has written and
 * read.
 */
#ifndef QP_ARTIFACT_CHECK_H
#define QP_ARTIFACT_CHECK_H

#include "artifact/source.h"

/* Elements of a tile that is read to be checked or hashed. */
#define QP_CHECK_ELEMENTS ((uint64_t)1 << 18)

/* The first tile of a matrix from `row`, `column` on: whole rows, or of long ones a part. */
qp_tile qp_check_tile(uint64_t rows, uint64_t columns, bool cuts, uint64_t row, uint64_t column);

/* qp_artifact_verify, but for artifact_id: the digest that gives it is left in `id` where that is
 * not NULL. */
qp_status qp_verify(qp_artifact *artifact, const qp_allocator *allocator, uint32_t threads,
                    uint8_t *id, qp_error *error);

/* SHA-256 over the logical payload of a .ninfer artifact, whose files are open, and then its
 * directory: the first QP_ARTIFACT_ID_SIZE bytes are artifact_id. */
void qp_artifact_id_digest(const qp_artifact *artifact, uint8_t digest[QP_SHA256_SIZE]);

/* The digests of a source's parameters, one each, and of all of them together. */
qp_status qp_weight_source_hash(const qp_weight_source *source, uint32_t threads,
                                uint8_t (*digests)[QP_SHA256_SIZE], uint8_t whole[QP_SHA256_SIZE],
                                qp_error *error);

#endif
