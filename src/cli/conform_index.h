/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_index.h - running an index of weight vectors for `quipu conform`
 * (artifact-container.md section 14, ggml-blocks.md section 8): encoded tensors, sizes, whole files
 * and their mutations.
 */
#ifndef QP_CLI_CONFORM_INDEX_H
#define QP_CLI_CONFORM_INDEX_H

#include "conform/conform.h"

/* Whether the bytes are JSON with the member "index_version". */
bool qp_conform_is_index(const uint8_t *bytes, size_t size);

/* Runs every item of the index in `file`, which lies at `path`: each is one more passed or failed.
 * The files that it names lie in its folder or below. A status tells that the environment failed.
 */
qp_status qp_conform_index(qp_conform_run *run, const char *path, const qp_file *file,
                           qp_error *error);

/* ---- what the sections share -------------------------------------------------------------- */

enum { QP_INDEX_NAME = 256 };

typedef struct qp_index {
    const char *folder; /* of the index, with its '/', or "" */
    qp_json_value root;
} qp_index;

/* One item of a section: QP_OK where it holds, else what differs. */
typedef qp_status qp_index_check(const qp_index *index, qp_json_value item, qp_error *why);

qp_index_check qp_index_case;
qp_index_check qp_index_size;
qp_index_check qp_index_size_refusal;
qp_index_check qp_index_container;
qp_index_check qp_index_mutation;
qp_index_check qp_index_directory;
qp_index_check qp_index_weight_file;

/* A string member; "" where it is not there or null. */
qp_status qp_index_text(qp_json_value object, const char *name, char text[QP_INDEX_NAME],
                        qp_error *why);
/* An unsigned member; `otherwise` where it is not there. */
qp_status qp_index_u64(qp_json_value object, const char *name, uint64_t otherwise, uint64_t *value,
                       qp_error *why);
qp_status qp_index_shape(qp_json_value object, const char *name, uint64_t shape[QP_SHAPE_RANK_MAX],
                         uint32_t *rank, qp_error *why);

/* Whether a digest member is that of some bytes. */
qp_status qp_index_digest(qp_json_value object, const char *name, const void *bytes, size_t size,
                          qp_error *why);

/* The path of a file of the index's folder; one that leads out of it is refused. Ownership: free.
 */
qp_status qp_index_path(const qp_index *index, const char *name, char **path, qp_error *why);
/* Opens the file that `reference` names, after its size and its digest have been checked.
 * Ownership: qp_file_close. */
qp_status qp_index_open(const qp_index *index, qp_json_value reference, qp_file *file,
                        qp_error *why);

/* What an item expects, from its members "expect" and "refusal". */
typedef struct qp_index_expectation {
    bool refuse;
    char refusal[QP_INDEX_NAME]; /* the check's name; "": any */
} qp_index_expectation;
qp_status qp_index_expect(qp_json_value item, qp_index_expectation *expected, qp_error *why);

/* Whether what came of it is what was expected: `status` with its error, which is taken into the
 * sentence. */
qp_status qp_index_compare(const qp_index_expectation *expected, qp_status status,
                           const qp_error *got, qp_error *why);

/* Asks for every object of an artifact in the file's order, all its bytes. */
qp_status qp_index_read_all(qp_artifact *artifact, qp_error *error);

#endif
