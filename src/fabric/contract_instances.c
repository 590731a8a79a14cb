/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_instances.c - the exact resource contracts of the families (section 9).
 */
#include "fabric/contract.h"

#include <inttypes.h>

/* ---- parts that several contracts share --------------------------------------------------- */

static const qp_fabric_capacity one_slot = {1, 0};
static const uint32_t ranks[] = {0, 1, 1}; /* a prefix serves contracts with fewer events */
static const qp_fabric_word_list timing_1 = {1, ranks};
static const qp_fabric_word_list timing_2 = {2, ranks};
static const qp_fabric_word_list timing_3 = {3, ranks};
static const qp_fabric_claim outer_and_group[] = {{0, 0, 1}, {1, 0, 1}};
static const uint32_t group_claim = 1;

enum { ACCEPT = 0, COMMIT = 1, RELEASE = 2 };

static const qp_fabric_contract_state slot_state[] = {{1, &one_slot}};
static const qp_fabric_contract_state logical_state[] = {{0, NULL}};
static const qp_fabric_contract_state logical_and_slot[] = {{0, NULL}, {1, &one_slot}};
static const qp_fabric_contract_state outer_and_slot[] = {{1, &one_slot}, {1, &one_slot}};

/* The pattern of the stateless ops: state 0 is the result slot. */
static const qp_fabric_pattern elastic_patterns[] = {{.acquire = ACCEPT,
                                                      .release = RELEASE,
                                                      .commits = true,
                                                      .commit_event = COMMIT,
                                                      .claim_count = 1,
                                                      .claims = outer_and_group}};

/* ---- rows --------------------------------------------------------------------------------- */

/* Cases in order; pattern c has eligibility c and transition c. */
typedef struct contract_row {
    uint32_t states;
    const qp_fabric_contract_state *state;
    const qp_fabric_word_list *timing;
    uint32_t cases;
    /* pattern c, filled in but for the keys */
    void (*pattern)(uint32_t c, qp_fabric_pattern *pattern);
} contract_row;

/* Transparent: commits where it accepts, claims nothing. */
static void transparent_pattern(uint32_t c, qp_fabric_pattern *pattern)
{
    (void)c;
    pattern->commits = true;
}

static void stream_pattern(uint32_t c, qp_fabric_pattern *pattern)
{
    (void)c;
    pattern->release = COMMIT;
    pattern->commits = true;
    pattern->commit_event = COMMIT;
    pattern->claim_count = 1;
    pattern->claims = &outer_and_group[1];
}

/* The outer use always, the group slot where the case can emit; slots are made later. */
static void adapter_pattern(const qp_fabric_handshake *handshake, uint32_t c,
                            qp_fabric_pattern *pattern)
{
    pattern->release = RELEASE;
    pattern->commits = true;
    pattern->commit_event = COMMIT;
    pattern->claim_count = handshake->cases[c].group_count > 0 ? 2 : 1;
    pattern->claims = outer_and_group;
    pattern->transaction_count = handshake->cases[c].group_count;
}

static void parallelize_pattern(uint32_t c, qp_fabric_pattern *pattern)
{
    adapter_pattern(&qp_fabric_handshakes[QP_FABRIC_HANDSHAKE_PARALLELIZE], c, pattern);
}

static void serialize_pattern(uint32_t c, qp_fabric_pattern *pattern)
{
    adapter_pattern(&qp_fabric_handshakes[QP_FABRIC_HANDSHAKE_SERIALIZE], c, pattern);
}

static const contract_row rows[QP_FABRIC_CONTRACT_COUNT] = {
    [QP_FABRIC_CONTRACT_ELASTIC] = {1, slot_state, &timing_3, 1, NULL},
    [QP_FABRIC_CONTRACT_TRANSPARENT_3] = {1, logical_state, &timing_1, 3, transparent_pattern},
    [QP_FABRIC_CONTRACT_TRANSPARENT_4] = {1, logical_state, &timing_1, 4, transparent_pattern},
    [QP_FABRIC_CONTRACT_STREAM] = {2, logical_and_slot, &timing_2, 4, stream_pattern},
    [QP_FABRIC_CONTRACT_PARALLELIZE] = {2, outer_and_slot, &timing_3, 4, parallelize_pattern},
    [QP_FABRIC_CONTRACT_SERIALIZE] = {2, outer_and_slot, &timing_3, 2, serialize_pattern},
};

/* ---- making one --------------------------------------------------------------------------- */

/* The lanes of the widest vector that the record admits: serialize's M. */
static uint64_t most_lanes(const qp_fabric_params *params)
{
    uint32_t narrowest = UINT32_MAX;

    for (int i = 0; i < QP_FABRIC_WIDTHS; i++)
        if ((params->integers >> i & 1) != 0 && qp_fabric_width_of(i) < narrowest)
            narrowest = qp_fabric_width_of(i);
    for (int i = 0; i < QP_FABRIC_FORMATS; i++)
        if ((params->formats >> i & 1) != 0 && qp_fabric_formats[i].bits < narrowest)
            narrowest = qp_fabric_formats[i].bits;
    return params->max_payload_bits / narrowest;
}

/* Every transaction slot of a pattern selects claim 1. */
static bool make_transactions(qp_arena *arena, qp_fabric_pattern *pattern)
{
    qp_fabric_word_list *slots =
        qp_arena_allocate(arena, pattern->transaction_count, sizeof *slots);

    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < pattern->transaction_count; i++)
        slots[i] = (qp_fabric_word_list){1, &group_claim};
    pattern->transactions = slots;
    return true;
}

static bool make_patterns(const contract_row *row, uint32_t lanes, qp_arena *arena,
                          const qp_fabric_pattern **made)
{
    qp_fabric_pattern *patterns = qp_arena_allocate(arena, row->cases, sizeof *patterns);

    if (patterns == NULL)
        return false;
    for (uint32_t c = 0; c < row->cases; c++) {
        row->pattern(c, &patterns[c]);
        patterns[c].eligibility = c;
        patterns[c].commit_transition = c;
        if (c == 0 && lanes > 0)
            patterns[c].transaction_count = lanes; /* serialize: one for each lane of M */
        if (!make_transactions(arena, &patterns[c]))
            return false;
    }
    *made = patterns;
    return true;
}

qp_status qp_fabric_contract_of(const qp_fabric_node *node, qp_arena *arena,
                                qp_fabric_contract *contract, qp_fabric_error *error)
{
    const contract_row *row = &rows[node->family->contract];
    uint64_t lanes = 0;

    if (node->family->contract == QP_FABRIC_CONTRACT_SERIALIZE)
        lanes = most_lanes(&node->params);
    if (lanes > QP_FABRIC_TRANSACTIONS_MAX)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, node->place,
                              "%" PRIu64 " lanes to serialize are over %" PRIu32
                              ", the most that are supported",
                              lanes, QP_FABRIC_TRANSACTIONS_MAX);
    *contract = (qp_fabric_contract){.state_count = row->states,
                                     .states = row->state,
                                     .transition_count = row->cases,
                                     .timing_count = 1,
                                     .timings = row->timing,
                                     .pattern_count = row->cases,
                                     .patterns = elastic_patterns,
                                     .requester_count = 1,
                                     .eligibility_count = row->cases,
                                     .event_count = row->timing->count,
                                     .grant = QP_FABRIC_GRANT_NONE};
    if (row->pattern != NULL && !make_patterns(row, (uint32_t)lanes, arena, &contract->patterns))
        return qp_fabric_fail_memory(error, "a resource contract");
    return QP_OK;
}

/* The instance's bytes against the given ones. */
static qp_status compare(const qp_fabric_node *node, const qp_allocator *allocator,
                         const qp_fabric_contract *contract, const void *bytes, size_t size,
                         qp_fabric_error *error)
{
    qp_status status = QP_OK;
    qp_buffer buffer;

    qp_buffer_init(&buffer, allocator);
    qp_fabric_put_contract(&buffer, contract);
    if (buffer.failed)
        status = qp_fabric_fail_memory(error, "a resource contract");
    else if (buffer.size != size || memcmp(buffer.bytes, bytes, size) != 0)
        status = qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, node->place,
                                "%s provides its own resource contract only, not this one",
                                node->family->keyword);
    qp_buffer_free(&buffer);
    return status;
}

qp_status qp_fabric_match_contract(const qp_fabric_node *node, const void *bytes, size_t size,
                                   qp_arena *arena, qp_fabric_error *error)
{
    qp_fabric_contract given, own;
    qp_status status = qp_fabric_get_contract(bytes, size, arena, &given, error);

    if (status == QP_OK)
        status = qp_fabric_contract_of(node, arena, &own, error);
    return status == QP_OK ? compare(node, &arena->allocator, &own, bytes, size, error) : status;
}
