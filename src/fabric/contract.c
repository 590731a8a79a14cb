/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.c - the canonical codec of resource contracts and the rules that a record obeys
 * (section 9).
 */
#include "fabric/contract.h"

/* The one kind of parameter and sharing values: a physical tag. */
enum { PHYSICAL_TAG = 0 };

/* ---- encoding ----------------------------------------------------------------------------- */

static void put_words(qp_buffer *buffer, const qp_fabric_word_list *list)
{
    qp_fabric_put_u32(buffer, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        qp_fabric_put_u32(buffer, list->items[i]);
}

static void put_schemas(qp_buffer *buffer, const qp_fabric_slot_schema *schemas, uint32_t count)
{
    qp_fabric_put_u32(buffer, count);
    for (uint32_t i = 0; i < count; i++) {
        qp_fabric_put_u32(buffer, schemas[i].kind);
        qp_fabric_put_u32(buffer, schemas[i].width);
    }
}

static void put_state(qp_buffer *buffer, const qp_fabric_contract_state *state)
{
    qp_fabric_put_u32(buffer, state->dimension_count);
    for (uint32_t i = 0; i < state->dimension_count; i++) {
        qp_fabric_put_u32(buffer, state->dimensions[i].capacity);
        qp_fabric_put_u32(buffer, state->dimensions[i].initial_occupancy);
    }
}

static void put_pattern(qp_buffer *buffer, const qp_fabric_pattern *pattern)
{
    qp_fabric_put_u32(buffer, pattern->requester);
    qp_fabric_put_u32(buffer, pattern->eligibility);
    qp_fabric_put_u32(buffer, pattern->acquire);
    qp_fabric_put_u32(buffer, pattern->release);
    qp_fabric_put_u32(buffer, pattern->commits);
    if (pattern->commits) {
        qp_fabric_put_u32(buffer, pattern->commit_event);
        qp_fabric_put_u32(buffer, pattern->commit_transition);
    }
    qp_fabric_put_u32(buffer, pattern->timing);
    qp_fabric_put_u32(buffer, pattern->claim_count);
    for (uint32_t i = 0; i < pattern->claim_count; i++) {
        qp_fabric_put_u32(buffer, pattern->claims[i].state);
        qp_fabric_put_u32(buffer, pattern->claims[i].dimension);
        qp_fabric_put_u32(buffer, pattern->claims[i].amount);
    }
    qp_fabric_put_u32(buffer, pattern->transaction_count);
    for (uint32_t i = 0; i < pattern->transaction_count; i++)
        put_words(buffer, &pattern->transactions[i]);
    put_schemas(buffer, pattern->parameters, pattern->parameter_count);
    put_schemas(buffer, pattern->sharing, pattern->sharing_count);
}

void qp_fabric_put_contract(qp_buffer *buffer, const qp_fabric_contract *contract)
{
    qp_fabric_put_u32(buffer, contract->state_count);
    for (uint32_t i = 0; i < contract->state_count; i++)
        put_state(buffer, &contract->states[i]);
    qp_fabric_put_u32(buffer, contract->transition_count);
    qp_fabric_put_u32(buffer, contract->timing_count);
    for (uint32_t i = 0; i < contract->timing_count; i++)
        put_words(buffer, &contract->timings[i]);
    qp_fabric_put_u32(buffer, contract->pattern_count);
    for (uint32_t i = 0; i < contract->pattern_count; i++)
        put_pattern(buffer, &contract->patterns[i]);
    qp_fabric_put_u32(buffer, contract->requester_count);
    qp_fabric_put_u32(buffer, contract->eligibility_count);
    qp_fabric_put_u32(buffer, contract->event_count);
    qp_fabric_put_u32(buffer, (uint32_t)contract->grant);
    if (contract->grant != QP_FABRIC_GRANT_NONE)
        put_words(buffer, &contract->grant_order);
    if (contract->grant == QP_FABRIC_GRANT_CYCLE)
        qp_fabric_put_u32(buffer, contract->reset_cursor);
}

/* ---- decoding ----------------------------------------------------------------------------- */

typedef struct decoder {
    qp_fabric_cursor cursor;
    qp_arena *arena;
    bool no_memory;
} decoder;

/* Room for `*count` items that take at least `bytes` each in the record; with too few of them left,
 * or without memory, the decoder fails and the count is 0. */
static void *get_array(decoder *d, uint32_t *count, size_t bytes, size_t size)
{
    *count = qp_fabric_get_u32(&d->cursor);
    if (*count > (d->cursor.size - d->cursor.at) / bytes)
        d->cursor.failed = true;
    void *items = d->cursor.failed ? NULL : qp_arena_allocate(d->arena, *count, size);
    if (items == NULL && !d->cursor.failed)
        d->no_memory = d->cursor.failed = true;
    if (items == NULL)
        *count = 0;
    return items;
}

static qp_fabric_word_list get_words(decoder *d)
{
    qp_fabric_word_list list;
    uint32_t *items = get_array(d, &list.count, 4, sizeof *items);

    for (uint32_t i = 0; i < list.count; i++)
        items[i] = qp_fabric_get_u32(&d->cursor);
    list.items = items;
    return list;
}

static const qp_fabric_slot_schema *get_schemas(decoder *d, uint32_t *count)
{
    qp_fabric_slot_schema *items = get_array(d, count, 8, sizeof *items);

    for (uint32_t i = 0; i < *count; i++) {
        items[i].kind = qp_fabric_get_u32(&d->cursor);
        items[i].width = qp_fabric_get_u32(&d->cursor);
    }
    return items;
}

static qp_fabric_contract_state get_state(decoder *d)
{
    qp_fabric_contract_state state;
    qp_fabric_capacity *items = get_array(d, &state.dimension_count, 8, sizeof *items);

    for (uint32_t i = 0; i < state.dimension_count; i++) {
        items[i].capacity = qp_fabric_get_u32(&d->cursor);
        items[i].initial_occupancy = qp_fabric_get_u32(&d->cursor);
    }
    state.dimensions = items;
    return state;
}

static const qp_fabric_claim *get_claims(decoder *d, uint32_t *count)
{
    qp_fabric_claim *items = get_array(d, count, 12, sizeof *items);

    for (uint32_t i = 0; i < *count; i++) {
        items[i].state = qp_fabric_get_u32(&d->cursor);
        items[i].dimension = qp_fabric_get_u32(&d->cursor);
        items[i].amount = qp_fabric_get_u32(&d->cursor);
    }
    return items;
}

/* A variant: 0 to `most`. */
static uint32_t get_variant(decoder *d, uint32_t most)
{
    const uint32_t variant = qp_fabric_get_u32(&d->cursor);
    if (variant > most)
        d->cursor.failed = true;
    return d->cursor.failed ? 0 : variant;
}

static void get_pattern(decoder *d, qp_fabric_pattern *pattern)
{
    pattern->requester = qp_fabric_get_u32(&d->cursor);
    pattern->eligibility = qp_fabric_get_u32(&d->cursor);
    pattern->acquire = qp_fabric_get_u32(&d->cursor);
    pattern->release = qp_fabric_get_u32(&d->cursor);
    pattern->commits = get_variant(d, 1) == 1;
    if (pattern->commits) {
        pattern->commit_event = qp_fabric_get_u32(&d->cursor);
        pattern->commit_transition = qp_fabric_get_u32(&d->cursor);
    }
    pattern->timing = qp_fabric_get_u32(&d->cursor);
    pattern->claims = get_claims(d, &pattern->claim_count);
    qp_fabric_word_list *transactions =
        get_array(d, &pattern->transaction_count, 4, sizeof *transactions);
    for (uint32_t i = 0; i < pattern->transaction_count; i++)
        transactions[i] = get_words(d);
    pattern->transactions = transactions;
    pattern->parameters = get_schemas(d, &pattern->parameter_count);
    pattern->sharing = get_schemas(d, &pattern->sharing_count);
}

static void get_record(decoder *d, qp_fabric_contract *contract)
{
    enum { PATTERN_BYTES = 40 };
    qp_fabric_contract_state *states = get_array(d, &contract->state_count, 4, sizeof *states);

    for (uint32_t i = 0; i < contract->state_count; i++)
        states[i] = get_state(d);
    contract->states = states;
    contract->transition_count = qp_fabric_get_u32(&d->cursor);
    qp_fabric_word_list *timings = get_array(d, &contract->timing_count, 4, sizeof *timings);
    for (uint32_t i = 0; i < contract->timing_count; i++)
        timings[i] = get_words(d);
    contract->timings = timings;
    qp_fabric_pattern *patterns =
        get_array(d, &contract->pattern_count, PATTERN_BYTES, sizeof *patterns);
    for (uint32_t i = 0; i < contract->pattern_count; i++)
        get_pattern(d, &patterns[i]);
    contract->patterns = patterns;
    contract->requester_count = qp_fabric_get_u32(&d->cursor);
    contract->eligibility_count = qp_fabric_get_u32(&d->cursor);
    contract->event_count = qp_fabric_get_u32(&d->cursor);
    contract->grant = (qp_fabric_grant)get_variant(d, QP_FABRIC_GRANT_CYCLE);
    if (contract->grant != QP_FABRIC_GRANT_NONE)
        contract->grant_order = get_words(d);
    if (contract->grant == QP_FABRIC_GRANT_CYCLE)
        contract->reset_cursor = qp_fabric_get_u32(&d->cursor);
}

qp_status qp_fabric_get_contract(const void *bytes, size_t size, qp_arena *arena,
                                 qp_fabric_contract *contract, qp_fabric_error *error)
{
    decoder d = {.cursor = qp_fabric_cursor_over(bytes, size), .arena = arena};

    memset(contract, 0, sizeof *contract);
    get_record(&d, contract);
    if (d.no_memory)
        return qp_fabric_fail_memory(error, "a resource contract");
    if (!qp_fabric_at_end(&d.cursor))
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "these bytes are not one whole resource contract: something is wrong "
                              "at byte %zu",
                              d.cursor.at);
    return qp_fabric_check_contract(contract, &arena->allocator, error);
}

/* ---- validation --------------------------------------------------------------------------- */

/* What a check remembers. Keys that must be used are no more than the patterns. */
typedef struct validation {
    const qp_fabric_contract *contract;
    qp_arena scratch;
    bool *requesters, *eligibilities, *transitions; /* used keys */
    size_t *state_base;                             /* of a state's dimensions below */
    uint32_t *claimed_in;                           /* [dimension] the last pattern + 1 */
    uint32_t *claimed_by;                           /* [dimension] its requester + 1 */
    qp_fabric_error *error;
} validation;

static bool broken(const validation *v, const char *what)
{
    qp_fabric_fail(v->error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE, "a resource contract: %s", what);
    return false;
}

static bool check_states(const validation *v)
{
    for (uint32_t s = 0; s < v->contract->state_count; s++)
        for (uint32_t i = 0; i < v->contract->states[s].dimension_count; i++) {
            const qp_fabric_capacity *c = &v->contract->states[s].dimensions[i];
            if (c->initial_occupancy > c->capacity)
                return broken(v, "an initial occupancy is over its capacity");
        }
    return true;
}

static bool check_timings(const validation *v)
{
    for (uint32_t i = 0; i < v->contract->timing_count; i++)
        if (v->contract->timings[i].count != v->contract->event_count)
            return broken(v, "a timing has not one rank for each event");
    return true;
}

/* Keys of a pattern, and its ranks in order. */
static bool check_keys(const validation *v, const qp_fabric_pattern *p)
{
    const qp_fabric_contract *c = v->contract;

    if (p->requester >= c->requester_count || p->eligibility >= c->eligibility_count ||
        p->acquire >= c->event_count || p->release >= c->event_count ||
        p->timing >= c->timing_count ||
        (p->commits &&
         (p->commit_event >= c->event_count || p->commit_transition >= c->transition_count)))
        return broken(v, "a key of a pattern is out of range");
    const uint32_t *rank = c->timings[p->timing].items;
    const uint32_t middle = rank[p->commits ? p->commit_event : p->acquire];
    if (rank[p->acquire] > middle || middle > rank[p->release])
        return broken(v, "a pattern does not acquire, commit and release in the order of ranks");
    v->requesters[p->requester] = true;
    v->eligibilities[p->eligibility] = true;
    if (p->commits)
        v->transitions[p->commit_transition] = true;
    return true;
}

/* Claims of pattern `number`: in range, once a dimension, and without a grant policy never on a
 * dimension that another requester claims. */
static bool check_claims(const validation *v, const qp_fabric_pattern *p, uint32_t number)
{
    const qp_fabric_contract *c = v->contract;

    for (uint32_t i = 0; i < p->claim_count; i++) {
        const qp_fabric_claim *claim = &p->claims[i];
        if (claim->state >= c->state_count ||
            claim->dimension >= c->states[claim->state].dimension_count)
            return broken(v, "a claim names no dimension of a state");
        if (claim->amount == 0 ||
            claim->amount > c->states[claim->state].dimensions[claim->dimension].capacity)
            return broken(v, "a claim's amount is zero or over the capacity");
        const size_t at = v->state_base[claim->state] + claim->dimension;
        if (v->claimed_in[at] == number + 1)
            return broken(v, "a pattern claims one dimension twice");
        if (c->grant == QP_FABRIC_GRANT_NONE && v->claimed_by[at] != 0 &&
            v->claimed_by[at] != p->requester + 1)
            return broken(v, "two requesters contend and there is no grant policy");
        v->claimed_in[at] = number + 1;
        v->claimed_by[at] = p->requester + 1;
    }
    return true;
}

static bool check_transactions(const validation *v, const qp_fabric_pattern *p)
{
    for (uint32_t i = 0; i < p->transaction_count; i++)
        for (uint32_t k = 0; k < p->transactions[i].count; k++)
            if (p->transactions[i].items[k] >= p->claim_count)
                return broken(v, "a transaction names no claim of its pattern");
    return true;
}

static bool check_schemas(const validation *v, const qp_fabric_slot_schema *schemas, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (schemas[i].kind != PHYSICAL_TAG || schemas[i].width == 0)
            return broken(v, "a parameter is no physical tag of at least one bit");
    return true;
}

static bool check_patterns(const validation *v)
{
    for (uint32_t i = 0; i < v->contract->pattern_count; i++) {
        const qp_fabric_pattern *p = &v->contract->patterns[i];
        if (!check_keys(v, p) || !check_claims(v, p, i) || !check_transactions(v, p) ||
            !check_schemas(v, p->parameters, p->parameter_count) ||
            !check_schemas(v, p->sharing, p->sharing_count))
            return false;
    }
    return true;
}

static bool all_used(const bool *used, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!used[i])
            return false;
    return true;
}

static bool check_use(const validation *v)
{
    if (!all_used(v->requesters, v->contract->requester_count) ||
        !all_used(v->eligibilities, v->contract->eligibility_count) ||
        !all_used(v->transitions, v->contract->transition_count))
        return broken(v, "a requester, eligibility or transition is used by no pattern");
    return true;
}

/* The order is a permutation of the requesters. */
static bool check_grant(validation *v)
{
    const qp_fabric_word_list *order = &v->contract->grant_order;

    if (v->contract->grant == QP_FABRIC_GRANT_NONE)
        return true;
    if (order->count != v->contract->requester_count)
        return broken(v, "the grant order does not name every requester once");
    if (order->count > 0)
        memset(v->requesters, 0, order->count * sizeof *v->requesters);
    for (uint32_t i = 0; i < order->count; i++) {
        if (order->items[i] >= order->count || v->requesters[order->items[i]])
            return broken(v, "the grant order does not name every requester once");
        v->requesters[order->items[i]] = true;
    }
    return v->contract->grant != QP_FABRIC_GRANT_CYCLE ||
           v->contract->reset_cursor < order->count ||
           broken(v, "the grant cycle's reset cursor is out of range");
}

/* Scratch for the check; false without memory. */
static bool make_scratch(validation *v)
{
    const qp_fabric_contract *c = v->contract;
    size_t dimensions = 0;

    v->requesters = qp_arena_allocate(&v->scratch, c->requester_count, sizeof *v->requesters);
    v->eligibilities =
        qp_arena_allocate(&v->scratch, c->eligibility_count, sizeof *v->eligibilities);
    v->transitions = qp_arena_allocate(&v->scratch, c->transition_count, sizeof *v->transitions);
    v->state_base = qp_arena_allocate(&v->scratch, c->state_count, sizeof *v->state_base);
    if (v->state_base == NULL)
        return false;
    for (uint32_t i = 0; i < c->state_count; i++) {
        v->state_base[i] = dimensions;
        dimensions += c->states[i].dimension_count; /* of arrays that exist */
    }
    v->claimed_in = qp_arena_allocate(&v->scratch, dimensions, sizeof *v->claimed_in);
    v->claimed_by = qp_arena_allocate(&v->scratch, dimensions, sizeof *v->claimed_by);
    return v->requesters != NULL && v->eligibilities != NULL && v->transitions != NULL &&
           v->claimed_in != NULL && v->claimed_by != NULL;
}

qp_status qp_fabric_check_contract(const qp_fabric_contract *contract,
                                   const qp_allocator *allocator, qp_fabric_error *error)
{
    validation v = {.contract = contract, .error = error};
    qp_status status = QP_OK;

    if (contract->requester_count > contract->pattern_count ||
        contract->eligibility_count > contract->pattern_count ||
        contract->transition_count > contract->pattern_count)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                              "a resource contract: a requester, eligibility or transition is used "
                              "by no pattern");
    qp_arena_init(&v.scratch, allocator);
    if (!make_scratch(&v))
        status = qp_fabric_fail_memory(error, "the check of a resource contract");
    else if (!check_states(&v) || !check_timings(&v) || !check_patterns(&v) || !check_use(&v) ||
             !check_grant(&v))
        status = QP_MALFORMED;
    qp_arena_free(&v.scratch);
    return status;
}
