/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h - resource contracts (section 9): the record, its canonical codec, its validation and
 * the exact instances of the families.
 */
#ifndef QP_FABRIC_CONTRACT_H
#define QP_FABRIC_CONTRACT_H

#include "fabric/model.h"

typedef struct qp_fabric_capacity {
    uint32_t capacity, initial_occupancy;
} qp_fabric_capacity;

typedef struct qp_fabric_claim {
    uint32_t state, dimension, amount;
} qp_fabric_claim;

typedef struct qp_fabric_slot_schema { /* of parameters and sharing assignments */
    uint32_t kind, width;
} qp_fabric_slot_schema;

typedef struct qp_fabric_word_list {
    uint32_t count;
    const uint32_t *items;
} qp_fabric_word_list;

typedef struct qp_fabric_contract_state {
    uint32_t dimension_count;
    const qp_fabric_capacity *dimensions;
} qp_fabric_contract_state;

typedef struct qp_fabric_pattern {
    uint32_t requester, eligibility, acquire, release;
    bool commits;
    uint32_t commit_event, commit_transition; /* where it commits */
    uint32_t timing;
    uint32_t claim_count;
    const qp_fabric_claim *claims;
    uint32_t transaction_count;
    const qp_fabric_word_list *transactions; /* claim numbers of each */
    uint32_t parameter_count, sharing_count;
    const qp_fabric_slot_schema *parameters, *sharing;
} qp_fabric_pattern;

typedef enum qp_fabric_grant {
    QP_FABRIC_GRANT_NONE = 0,
    QP_FABRIC_GRANT_FIXED = 1, /* an order */
    QP_FABRIC_GRANT_CYCLE = 2  /* a cycle and where it starts after reset */
} qp_fabric_grant;

/* The record; array position is the key. */
typedef struct qp_fabric_contract {
    uint32_t state_count;
    const qp_fabric_contract_state *states;
    uint32_t transition_count;
    uint32_t timing_count;
    const qp_fabric_word_list *timings; /* ranks of each */
    uint32_t pattern_count;
    const qp_fabric_pattern *patterns;
    uint32_t requester_count, eligibility_count, event_count;
    qp_fabric_grant grant;
    qp_fabric_word_list grant_order;
    uint32_t reset_cursor;
} qp_fabric_contract;

/* Encoding, every number u32. */
void qp_fabric_put_contract(qp_buffer *buffer, const qp_fabric_contract *contract);
/* Decodes and validates; arrays come from `arena`. Invalid for anything else than one whole valid
 * record. */
qp_status qp_fabric_get_contract(const void *bytes, size_t size, qp_arena *arena,
                                 qp_fabric_contract *contract, qp_fabric_error *error);
/* The rules of section 9 on a record made by hand; `allocator` lends scratch. */
qp_status qp_fabric_check_contract(const qp_fabric_contract *contract,
                                   const qp_allocator *allocator, qp_fabric_error *error);

/* The exact instance of a node's family; serialize's M comes from the params. Unsupported where M
 * is over QP_FABRIC_TRANSACTIONS_MAX. */
#define QP_FABRIC_TRANSACTIONS_MAX 65536u
qp_status qp_fabric_contract_of(const qp_fabric_node *node, qp_arena *arena,
                                qp_fabric_contract *contract, qp_fabric_error *error);
/* Unsupported where a valid record is not that instance word for word (anchor 17). */
qp_status qp_fabric_match_contract(const qp_fabric_node *node, const void *bytes, size_t size,
                                   qp_arena *arena, qp_fabric_error *error);

#endif
