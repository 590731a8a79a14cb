/* SPDX-License-Identifier: Apache-2.0 */
/* verify_file.h - whether a coded file decodes, and how far from its source. */
#ifndef QP_CLI_VERIFY_FILE_H
#define QP_CLI_VERIFY_FILE_H

#include "base/base.h"
#include "quipu/codec.h"

/* What decoding a file again found. */
typedef struct qp_verified {
    bool comparable;        /* the decoded samples are those of the source, one for one */
    uint64_t samples;       /* compared */
    uint64_t squared_error; /* their sum; at most 255² a sample of 8 bits */
    bool complete;          /* every frame of the source came */
} qp_verified;

/* Decodes a QPF1 file of `source` with the set that coded it. A refusal of the decode is this
 * one's. */
qp_status qp_verify_file(const qp_encoded *file, const qp_set *set, const qp_media *source,
                         qp_verified *verified, qp_error *error);

/* Peak signal-to-noise ratio in hundredths of a decibel, against 255; UINT32_MAX without error. */
uint32_t qp_verified_psnr(const qp_verified *verified);

#endif
