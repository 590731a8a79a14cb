/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imatrix.h - importance matrix files: a weight for each input channel of a matrix, which
 * grouped_search reads (artifact-container.md section 11).
 *
 * Three forms: llama.cpp's GGUF (NAME.in_sum2 and NAME.counts), safetensors of F32 vectors by
 * parameter, and llama.cpp's older binary form (OURS). A file is tried as GGUF first.
 */
#ifndef QP_ARTIFACT_IMATRIX_H
#define QP_ARTIFACT_IMATRIX_H

#include "base/base.h"
#include "base/json.h"

typedef struct qp_imatrix qp_imatrix;

/* Opens a file. Ownership: qp_imatrix_close. */
qp_status qp_imatrix_open(const char *path, const qp_allocator *allocator, qp_imatrix **imatrix,
                          qp_error *error);
/* The same for bytes that outlive it; `name` stands for the path. */
qp_status qp_imatrix_open_bytes(const char *name, const uint8_t *bytes, size_t size,
                                const qp_allocator *allocator, qp_imatrix **imatrix,
                                qp_error *error);
void qp_imatrix_close(qp_imatrix *imatrix);

/* A vector of importance, in memory of the imatrix. */
typedef struct qp_importance {
    const float *values; /* NULL: the file has none for this parameter */
    uint64_t count;
} qp_importance;

/*
 * The vector of a parameter: the one of its own name, else that of the tensor that section 11 maps
 * a name like "text/layers/3/mlp/up" to, with the heads of gdn/output reordered. `config` is the
 * configuration of component text, or QP_JSON_NO_VALUE.
 */
qp_status qp_imatrix_find(qp_imatrix *imatrix, qp_json_value config, const char *parameter,
                          qp_importance *importance, qp_error *error);

#endif
