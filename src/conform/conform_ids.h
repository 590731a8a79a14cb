/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_ids.h - the ids of one vector file, which must differ (integer-operators.md
 * section 14.1).
 */
#ifndef QP_CONFORM_CONFORM_IDS_H
#define QP_CONFORM_CONFORM_IDS_H

#include "base/base.h"

/* A hash table of the ids' digests: ids made to collide cost no more than others. */
typedef struct qp_conform_ids {
    qp_allocator allocator;
    uint8_t (*digests)[QP_SHA256_SIZE]; /* [capacity]; all zero where free */
    size_t capacity;                    /* a power of two, or 0 */
    size_t count;
} qp_conform_ids;

void qp_conform_ids_init(qp_conform_ids *ids, const qp_allocator *allocator);
void qp_conform_ids_free(qp_conform_ids *ids);

/* Adds an id; *is_new is false where it was there already. */
qp_status qp_conform_ids_add(qp_conform_ids *ids, const char *id, size_t size, bool *is_new,
                             qp_error *error);

#endif
