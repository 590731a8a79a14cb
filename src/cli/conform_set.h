/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_set.h - a set of certificates/<capability>/ for `quipu conform` (integer-operators.md
 * section 14.3).
 */
#ifndef QP_CLI_CONFORM_SET_H
#define QP_CLI_CONFORM_SET_H

#include "conform/conform.h"

/* Whether a path is certificates/<capability>/<digest>.json, or lies in the folder beside it. */
bool qp_conform_set_is_certificate(const char *path);
bool qp_conform_set_is_part(const char *path);

/* Lowers the set that lies in <digest>/set beside the certificate `path` of the directory `root`,
 * and compares its digest, its graphs and its certificate: each is one more passed or failed. A
 * certificate without its set is skipped. A status tells that the environment failed. */
qp_status qp_conform_set(qp_conform_run *run, const char *root, const char *path, qp_error *error);

#endif
