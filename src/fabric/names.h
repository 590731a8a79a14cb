/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - the identifiers of the texts and what they stand for in each scope: two hash tables,
 * so that hostile files cost no more than their size.
 */
#ifndef QP_FABRIC_NAMES_H
#define QP_FABRIC_NAMES_H

#include "fabric/model.h"

/* What a name stands for in a scope. */
typedef struct qp_fabric_meaning {
    qp_fabric_scope_id scope;
    qp_fabric_symbol symbol;
    uint32_t number;
} qp_fabric_meaning;

struct qp_fabric_names {
    qp_allocator allocator;
    qp_arena *arena;
    uint64_t seed;          /* of the hashes */
    uint32_t *symbol_slots; /* symbol + 1, 0 for an empty slot */
    size_t symbol_capacity;
    const char **texts; /* by symbol */
    uint32_t *hashes;
    uint32_t symbol_count;
    qp_fabric_meaning *meanings; /* scope QP_FABRIC_NO_INDEX for an empty slot */
    size_t meaning_capacity, meaning_count;
};

/* Zeroed tables whose texts live in `arena`. A seed that follows from all that will be read keeps
 * names from being chosen so that they collide; nothing but time depends on it. */
void qp_fabric_names_init(qp_fabric_names *names, qp_arena *arena, uint64_t seed);
void qp_fabric_names_free(qp_fabric_names *names);

/* The symbol of a text, new or old; QP_FABRIC_NO_INDEX without memory. */
qp_fabric_symbol qp_fabric_intern(qp_fabric_names *names, const char *text, size_t size);
/* The symbol of a text that is there, else QP_FABRIC_NO_INDEX. */
qp_fabric_symbol qp_fabric_find_symbol(const qp_fabric_names *names, const char *text, size_t size);

typedef enum qp_fabric_declared {
    QP_FABRIC_DECLARED,
    QP_FABRIC_DECLARED_TWICE,
    QP_FABRIC_DECLARED_NO_MEMORY
} qp_fabric_declared;

/* Gives a symbol a meaning in a scope. */
qp_fabric_declared qp_fabric_declare(qp_fabric_names *names, qp_fabric_scope_id scope,
                                     qp_fabric_symbol symbol, uint32_t number);

/* The number, or QP_FABRIC_NO_INDEX. */
uint32_t qp_fabric_meaning_of(const qp_fabric_names *names, qp_fabric_scope_id scope,
                              qp_fabric_symbol symbol);

#endif
