/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - files that come into being whole or not at all (artifact-container.md section 6, step
 * 6), and the writing half of a container.
 *
 * New files are made beside their target under another name: "PATH.quipu-N", a file where there is
 * one and a folder of that name where there are several. Bytes go in at any place, in any order and
 * from several threads, through a sink. Publishing renames, the first file last. What was not
 * published is removed when the object is freed; a run that is killed leaves that file or folder
 * and nothing else.
 */
#ifndef QP_ARTIFACT_WRITE_H
#define QP_ARTIFACT_WRITE_H

#include "base/base.h"

/* Where bytes go: any offsets of numbered files, several threads at once. */
typedef struct qp_sink {
    qp_status (*write_at)(void *context, size_t file, uint64_t offset, const void *bytes,
                          size_t size, qp_error *error);
    void *context;
} qp_sink;

/* A file to be made: its name in the folder of the first one (NULL for the first), its size. Bytes
 * that are never written are zero. */
typedef struct qp_new_file {
    const char *name;
    uint64_t size;
} qp_new_file;

typedef struct qp_new_files qp_new_files;

/* Makes the files. QP_IO when a target exists and is not to be replaced, or is no ordinary file.
 * Ownership: qp_new_files_free. */
qp_status qp_new_files_create(const char *path, const qp_new_file *files, size_t count,
                              bool replace, const qp_allocator *allocator, qp_new_files **made,
                              qp_error *error);

/* Writes into the files. */
qp_sink qp_new_files_sink(qp_new_files *files);

/* The path under which a file is found until it is published. */
const char *qp_new_files_path(const qp_new_files *files, size_t index);

/* Ends writing: the operating system's last chance to refuse. */
qp_status qp_new_files_close(qp_new_files *files, qp_error *error);

/* Renames the files to their targets. On failure none of them is left. */
qp_status qp_new_files_publish(qp_new_files *files, qp_error *error);

/* Removes what was not published, and frees; NULL is allowed. */
void qp_new_files_free(qp_new_files *files);

/* QP_IO when `path` exists and may not be replaced. */
qp_status qp_new_files_check_target(const char *path, bool replace, qp_error *error);

#endif
