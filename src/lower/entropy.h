/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entropy.h - the entropy.json of a set (docs/lowering.md): the tables of the stage operators,
 * which are not lowered. A set is held to their form when it is lowered.
 */
#ifndef QP_LOWER_ENTROPY_H
#define QP_LOWER_ENTROPY_H

#include "lower/cursor.h"

/* Checks the members and their types; where `afrac` is not NULL, that the tables share it. */
qp_status qp_entropy_check(qp_lower_job *job, const qp_cursor *text, const uint32_t *afrac);
/* The same for a member of the set. */
qp_status qp_entropy_member(qp_lower_job *job, const char *path, const uint32_t *afrac);

#endif
