/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_files.h - the files of a parameter set, given as one file or as a directory.
 */
#ifndef QP_CLI_SET_FILES_H
#define QP_CLI_SET_FILES_H

#include "cli/cli.h"

/* The members of a set and what holds their bytes and paths. */
typedef struct qp_set_files {
    qp_member *members;
    size_t count;
    /* private */
    qp_file *files;
    char **paths;
    size_t capacity;
} qp_set_files;

/* Opens SET: a file, "-" for standard input, or a directory, of which the files that the capability
 * reads are taken (those of every form where `capability` is NULL), or, where none of them is
 * there, its graphs: every NAME.whg1, in the order of the names' bytes. Ownership:
 * qp_set_files_close. */
qp_status qp_set_files_open(const char *path, const char *capability, qp_set_files *set,
                            qp_error *error);
void qp_set_files_close(qp_set_files *set);

#endif
