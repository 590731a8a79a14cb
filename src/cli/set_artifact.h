/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set_artifact.h - a parameter set in a .ninfer artifact: its files are the resources, under their
 * paths; long lists of integers in its JSON files are int32 tensors.
 */
#ifndef QP_CLI_SET_ARTIFACT_H
#define QP_CLI_SET_ARTIFACT_H

#include "cli/cli.h"

/* Makes an artifact of the set in a directory, or of the one file of a set. */
qp_status qp_set_pack(const char *set, const char *output, qp_error *error);

/* Whether a file begins as a .ninfer artifact. */
bool qp_set_is_artifact(const char *path);

/* Gives each file of the set in an artifact: its path and its bytes, which `take` owns afterwards
 * (qp_release, as `size` bytes), even where it fails. */
typedef qp_status qp_set_take(void *context, const char *path, uint8_t *bytes, size_t size,
                              qp_error *error);
qp_status qp_set_unpack(const char *path, qp_set_take *take, void *context, qp_error *error);

#endif
