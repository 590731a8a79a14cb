/* SPDX-License-Identifier: Apache-2.0 */
/* open_set.h - the set of a verb: a directory that the user names, or one within the command. */
#ifndef QP_CLI_OPEN_SET_H
#define QP_CLI_OPEN_SET_H

#include "cli/set_files.h"

#define QP_PICTURE_CAPABILITY "wai.neural.int_hyper"

typedef struct qp_opened_set {
    qp_set *set; /* NULL for a capability without one */
    qp_set_files files;
} qp_opened_set;

/* Opens the set in `path`, or, where that is NULL, the one within the command that has the wanted
 * digest; a set that is nowhere is QP_MODEL_MISMATCH with the digest in the message. A digest of
 * zeros stands for a capability without a set. Ownership: qp_opened_set_close. */
qp_status qp_opened_set_find(const char *path, const qp_container *wanted, const qp_pin *pin,
                             qp_opened_set *opened, qp_error *error);

/* Opens a set with no digest asked for: that of `path`, or the quality within the command. Of a
 * capability without sets it opens none. */
qp_status qp_opened_set_open(const char *path, const char *capability, int quality,
                             const qp_pin *pin, qp_opened_set *opened, qp_error *error);
void qp_opened_set_close(qp_opened_set *opened);

/* Reads a pin. */
qp_status qp_cli_pin(const char *path, qp_pin *pin, qp_error *error);

/* "1", "2" or "3"; false for anything else. */
bool qp_cli_quality(const char *text, int *quality);

#endif
