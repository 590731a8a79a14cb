/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.h - small parameter sets of every lowering (integer-operators.md section 14.3), file by
 * file. The generator writes them with their certificates and graphs; tests lower them, cut them
 * short and change them.
 */
#ifndef QP_CONFORM_SETS_H
#define QP_CONFORM_SETS_H

#include "base/base.h"
#include "conform/vectors.h"
#include "quipu/lower.h"

#define QP_SMALL_SET_FILES 11

typedef struct qp_small_set {
    const char *name;       /* "int_hyper" */
    const char *capability; /* NULL for a form of none */
    const char *pin;        /* the profile that its pin claims, or NULL */
    bool weak;              /* it is refused, by its capability or its pin */
    size_t count;
    const char *paths[QP_SMALL_SET_FILES];
    qp_buffer files[QP_SMALL_SET_FILES];
    qp_member members[QP_SMALL_SET_FILES];
} qp_small_set;

/* How many there are. */
size_t qp_small_set_count(void);

/* The set of an index; QP_NO_MEMORY, or QP_OK. Ownership: qp_small_set_free. */
qp_status qp_small_set_make(size_t index, const qp_allocator *allocator, qp_small_set *set,
                            qp_error *error);
void qp_small_set_free(qp_small_set *set);

/*
 * Gives to `sink` (vectors.h) the corpus of section 14.3, for each set that has a digest D:
 * certificates/<capability>/D.json and, below D/, each <role>.whg1, the set's files in set/, and
 * pin.json where a pin over it claims a profile.
 */
qp_status qp_small_sets_write(qp_vectors_sink *sink, void *context, const qp_allocator *allocator,
                              qp_error *error);

#endif
