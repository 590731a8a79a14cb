/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - the ways this machine can compute SHA-256. Every way gives the same digests; the
 * table exists so that tests compare them.
 */
#ifndef QP_BASE_SHA256_H
#define QP_BASE_SHA256_H

#include "base/base.h"

/* Absorbs `count` blocks of 64 bytes. */
typedef void qp_sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);

typedef struct qp_sha256_path {
    const char *name;
    bool (*available)(void); /* whether this processor has it */
    qp_sha256_blocks *blocks;
} qp_sha256_path;

/* The paths, fastest first; the last is portable and always available. */
#define QP_SHA256_PATHS 2
extern const qp_sha256_path qp_sha256_paths[QP_SHA256_PATHS];

/* Like qp_sha256_init, by the path of that index; false when this machine does not have it. */
bool qp_sha256_init_path(qp_sha256 *hash, size_t path);

/* sha256_x86.c: the SHA extensions of x86. On other processors it is never available. */
bool qp_sha256_x86_available(void);
void qp_sha256_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t count);

/* The constants K of FIPS 180-4, section 4.2.2. */
extern const uint32_t qp_sha256_constants[64];

#endif
