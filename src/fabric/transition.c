/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transition.c - the handshake cases and transitions of section 3, by kind of handshake.
 */
#include "fabric/transition.h"

#include "fabric/lanes.h"

#include <inttypes.h>
#include <stdio.h>

typedef const qp_fabric_transition transition_view;
typedef const qp_fabric_state state_view;
typedef const qp_fabric_firing firing_view;
typedef const uint64_t *const *head_view;
typedef uint64_t *const *result_view;

static inline bool is_true(const uint64_t *head)
{
    return (head[0] & 1) != 0;
}

/* A chosen case, with the number of groups of its row. */
static inline bool chosen(transition_view *t, qp_fabric_firing *firing, uint32_t case_ordinal)
{
    firing->case_ordinal = case_ordinal;
    firing->group_count = qp_fabric_handshakes[t->handshake].cases[case_ordinal].group_count;
    firing->lane = 0;
    return true;
}

/* What the rows of the handshake say. */
static bool consumes_case(transition_view *t, firing_view *firing, uint32_t operand)
{
    const qp_fabric_handshake *handshake = &qp_fabric_handshakes[t->handshake];
    return (handshake->cases[firing->case_ordinal].consumes >> operand & 1) != 0;
}

static bool produces_case(transition_view *t, firing_view *firing, uint32_t group, uint32_t result)
{
    const qp_fabric_handshake *handshake = &qp_fabric_handshakes[t->handshake];
    return (handshake->cases[firing->case_ordinal].groups[group] >> result & 1) != 0;
}

static qp_fabric_outcome stays(transition_view *t, qp_fabric_state *state, firing_view *firing,
                               head_view heads)
{
    (void)t;
    (void)state;
    (void)firing;
    (void)heads;
    return QP_FABRIC_DEFINED;
}

/* ---- one case: all operands in, all results out ------------------------------------------- */

static bool all_choose(transition_view *t, state_view *state, head_view heads,
                       qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)state;
    (void)outcome;
    for (uint32_t i = 0; i < t->operand_count; i++)
        if (heads[i] == NULL)
            return false;
    *firing = (qp_fabric_firing){0, 1, 0};
    return true;
}

static bool consumes_all(transition_view *t, firing_view *firing, uint32_t operand)
{
    (void)firing;
    return operand < t->operand_count;
}

static bool produces_all(transition_view *t, firing_view *firing, uint32_t group, uint32_t result)
{
    (void)firing;
    (void)group;
    return result < t->result_count;
}

static qp_fabric_outcome compute_form(transition_view *t, state_view *state,
                                      qp_fabric_firing *firing, head_view heads, uint32_t group,
                                      result_view results)
{
    (void)state;
    (void)firing;
    (void)group;
    return t->evaluator.evaluate(&t->evaluator, heads, results);
}

static qp_fabric_outcome constant_form(transition_view *t, state_view *state,
                                       qp_fabric_firing *firing, head_view heads, uint32_t group,
                                       result_view results)
{
    const qp_fabric_semantics *semantics = t->evaluator.signature.semantics;

    (void)state;
    (void)firing;
    (void)heads;
    (void)group;
    qp_fabric_copy_words(results[0], semantics->payload, semantics->payload_words);
    return QP_FABRIC_DEFINED;
}

static qp_fabric_outcome sync_form(transition_view *t, state_view *state, qp_fabric_firing *firing,
                                   head_view heads, uint32_t group, result_view results)
{
    const uint32_t *values = t->graph->actors[t->actor].results;

    (void)state;
    (void)firing;
    (void)group;
    for (uint32_t i = 0; i < t->result_count; i++)
        qp_fabric_copy_words(results[i], heads[i],
                             qp_fabric_words(t->graph->values[values[i]].bits));
    return QP_FABRIC_DEFINED;
}

/* ---- mux, demux: one case a lane ---------------------------------------------------------- */

/* A selector of two lanes is i1, of more an index. */
static bool select_lane(transition_view *t, const uint64_t *selector, qp_fabric_firing *firing,
                        qp_fabric_outcome *outcome)
{
    if (selector[0] >= t->lanes) {
        *outcome = QP_FABRIC_OUT_OF_RANGE;
        return false;
    }
    const uint32_t lane = (uint32_t)selector[0];
    *firing = (qp_fabric_firing){lane, 1, lane};
    return true;
}

static bool mux_choose(transition_view *t, state_view *state, head_view heads,
                       qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)state;
    return heads[0] != NULL && select_lane(t, heads[0], firing, outcome) &&
           heads[1 + firing->lane] != NULL;
}

static bool mux_consumes(transition_view *t, firing_view *firing, uint32_t operand)
{
    (void)t;
    return operand == 0 || operand == 1 + firing->lane;
}

static qp_fabric_outcome mux_form(transition_view *t, state_view *state, qp_fabric_firing *firing,
                                  head_view heads, uint32_t group, result_view results)
{
    (void)state;
    (void)group;
    qp_fabric_copy_words(results[0], heads[1 + firing->lane], t->words);
    return QP_FABRIC_DEFINED;
}

static bool demux_choose(transition_view *t, state_view *state, head_view heads,
                         qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)state;
    return heads[0] != NULL && heads[1] != NULL && select_lane(t, heads[0], firing, outcome);
}

static bool demux_produces(transition_view *t, firing_view *firing, uint32_t group, uint32_t result)
{
    (void)t;
    (void)group;
    return result == firing->lane;
}

static qp_fabric_outcome demux_form(transition_view *t, state_view *state, qp_fabric_firing *firing,
                                    head_view heads, uint32_t group, result_view results)
{
    (void)state;
    (void)group;
    qp_fabric_copy_words(results[firing->lane], heads[1], t->words);
    return QP_FABRIC_DEFINED;
}

/* ---- stream ------------------------------------------------------------------------------- */

enum { STREAM_START_TRUE, STREAM_START_CLOSE, STREAM_CONTINUE_TRUE, STREAM_CONTINUE_CLOSE };

static bool stream_choose(transition_view *t, state_view *state, head_view heads,
                          qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    const uint32_t predicate = t->evaluator.signature.semantics->predicate;

    (void)outcome;
    if (state->mode != 0)
        return chosen(
            t, firing,
            qp_fabric_integer_predicate_holds(predicate, state->current, state->limit, t->width)
                ? STREAM_CONTINUE_TRUE
                : STREAM_CONTINUE_CLOSE);
    if (heads[0] == NULL || heads[1] == NULL || heads[2] == NULL)
        return false;
    return chosen(t, firing,
                  qp_fabric_integer_predicate_holds(predicate, heads[0][0], heads[1][0], t->width)
                      ? STREAM_START_TRUE
                      : STREAM_START_CLOSE);
}

static qp_fabric_outcome stream_form(transition_view *t, state_view *state,
                                     qp_fabric_firing *firing, head_view heads, uint32_t group,
                                     result_view results)
{
    const bool goes_on =
        firing->case_ordinal == STREAM_START_TRUE || firing->case_ordinal == STREAM_CONTINUE_TRUE;

    (void)t;
    (void)group;
    if (goes_on)
        results[0][0] = firing->case_ordinal == STREAM_START_TRUE ? heads[0][0] : state->current;
    results[1][0] = goes_on;
    return QP_FABRIC_DEFINED;
}

/* The steps, by their numbers: false where one fails. The caller cuts the result. */
typedef bool step_function(uint64_t x, uint64_t step, uint32_t width, uint64_t *next);

static bool step_add(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    (void)width;
    *next = x + step;
    return true;
}

static bool step_sub(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    (void)width;
    *next = x - step;
    return true;
}

static bool step_mul(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    (void)width;
    *next = x * step;
    return true;
}

static bool step_sdiv(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    if (step == 0 || (x == qp_fabric_smallest(width) && step == qp_fabric_mask(width)))
        return false;
    *next = (uint64_t)(qp_fabric_signed(x, width) / qp_fabric_signed(step, width));
    return true;
}

static bool step_udiv(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    (void)width;
    if (step == 0)
        return false;
    *next = x / step;
    return true;
}

static bool step_shl(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    if (step >= width)
        return false;
    *next = x << step;
    return true;
}

static bool step_ashr(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    if (step >= width)
        return false;
    *next = qp_fabric_shifted_right(x, (uint32_t)step, width);
    return true;
}

static bool step_lshr(uint64_t x, uint64_t step, uint32_t width, uint64_t *next)
{
    if (step >= width)
        return false;
    *next = x >> step;
    return true;
}

static step_function *const steps[] = {
    [QP_FABRIC_STEP_ADD] = step_add,   [QP_FABRIC_STEP_SUB] = step_sub,
    [QP_FABRIC_STEP_MUL] = step_mul,   [QP_FABRIC_STEP_SDIV] = step_sdiv,
    [QP_FABRIC_STEP_UDIV] = step_udiv, [QP_FABRIC_STEP_SHL] = step_shl,
    [QP_FABRIC_STEP_ASHR] = step_ashr, [QP_FABRIC_STEP_LSHR] = step_lshr,
};

static qp_fabric_outcome stream_advance(transition_view *t, qp_fabric_state *state,
                                        firing_view *firing, head_view heads)
{
    uint64_t next;

    if (firing->case_ordinal == STREAM_START_CLOSE ||
        firing->case_ordinal == STREAM_CONTINUE_CLOSE) {
        qp_fabric_reset(t, state);
        return QP_FABRIC_DEFINED;
    }
    if (firing->case_ordinal == STREAM_START_TRUE) {
        state->mode = 1;
        state->current = heads[0][0];
        state->limit = heads[1][0];
        state->step = heads[2][0];
    }
    if (!steps[t->evaluator.signature.semantics->step](state->current, state->step, t->width,
                                                       &next))
        return QP_FABRIC_OUT_OF_RANGE;
    state->current = next & qp_fabric_mask(t->width);
    return QP_FABRIC_DEFINED;
}

/* ---- carry, invariant --------------------------------------------------------------------- */

enum { LOOP_INIT, LOOP_NEXT, LOOP_CLOSE }; /* invariant's second case is Replay */

/* Initial does not look at the phase. */
static bool carry_choose(transition_view *t, state_view *state, head_view heads,
                         qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)outcome;
    if (state->mode == 0)
        return heads[1] != NULL && chosen(t, firing, LOOP_INIT);
    if (heads[0] == NULL)
        return false;
    if (!is_true(heads[0]))
        return chosen(t, firing, LOOP_CLOSE);
    return heads[2] != NULL && chosen(t, firing, LOOP_NEXT);
}

static qp_fabric_outcome carry_form(transition_view *t, state_view *state, qp_fabric_firing *firing,
                                    head_view heads, uint32_t group, result_view results)
{
    (void)state;
    (void)group;
    qp_fabric_copy_words(results[0], heads[firing->case_ordinal == LOOP_INIT ? 1 : 2], t->words);
    return QP_FABRIC_DEFINED;
}

static qp_fabric_outcome carry_advance(transition_view *t, qp_fabric_state *state,
                                       firing_view *firing, head_view heads)
{
    (void)t;
    (void)heads;
    state->mode = firing->case_ordinal != LOOP_CLOSE;
    return QP_FABRIC_DEFINED;
}

static bool invariant_choose(transition_view *t, state_view *state, head_view heads,
                             qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)outcome;
    if (state->mode == 0)
        return heads[1] != NULL && chosen(t, firing, LOOP_INIT);
    return heads[0] != NULL && chosen(t, firing, is_true(heads[0]) ? LOOP_NEXT : LOOP_CLOSE);
}

static qp_fabric_outcome invariant_form(transition_view *t, state_view *state,
                                        qp_fabric_firing *firing, head_view heads, uint32_t group,
                                        result_view results)
{
    (void)group;
    qp_fabric_copy_words(results[0], firing->case_ordinal == LOOP_INIT ? heads[1] : state->payload,
                         t->words);
    return QP_FABRIC_DEFINED;
}

static qp_fabric_outcome invariant_advance(transition_view *t, qp_fabric_state *state,
                                           firing_view *firing, head_view heads)
{
    if (firing->case_ordinal == LOOP_INIT)
        qp_fabric_copy_words(state->payload, heads[1], t->words);
    if (firing->case_ordinal == LOOP_CLOSE)
        qp_fabric_reset(t, state);
    else
        state->mode = 1;
    return QP_FABRIC_DEFINED;
}

/* ---- gate --------------------------------------------------------------------------------- */

enum { GATE_CLOSED_DROP, GATE_FIRST_TRUE, GATE_CONTINUE_TRUE, GATE_CLOSE };

static bool gate_choose(transition_view *t, state_view *state, head_view heads,
                        qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)outcome;
    if (heads[0] == NULL || heads[1] == NULL)
        return false;
    if (state->mode == 0)
        return chosen(t, firing, is_true(heads[0]) ? GATE_FIRST_TRUE : GATE_CLOSED_DROP);
    return chosen(t, firing, is_true(heads[0]) ? GATE_CONTINUE_TRUE : GATE_CLOSE);
}

static qp_fabric_outcome gate_form(transition_view *t, state_view *state, qp_fabric_firing *firing,
                                   head_view heads, uint32_t group, result_view results)
{
    const uint32_t taken = firing->case_ordinal;

    (void)state;
    (void)group;
    if (taken == GATE_CONTINUE_TRUE || taken == GATE_CLOSE)
        results[0][0] = taken == GATE_CONTINUE_TRUE;
    if (taken != GATE_CLOSE)
        qp_fabric_copy_words(results[1], heads[1], t->words);
    return QP_FABRIC_DEFINED;
}

static qp_fabric_outcome gate_advance(transition_view *t, qp_fabric_state *state,
                                      firing_view *firing, head_view heads)
{
    (void)t;
    (void)heads;
    state->mode =
        firing->case_ordinal == GATE_FIRST_TRUE || firing->case_ordinal == GATE_CONTINUE_TRUE;
    return QP_FABRIC_DEFINED;
}

/* ---- parallelize -------------------------------------------------------------------------- */

enum { LANES_ACCUMULATE, LANES_FULL, LANES_EMPTY_CLOSE, LANES_PARTIAL_CLOSE };

static bool parallelize_choose(transition_view *t, state_view *state, head_view heads,
                               qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)outcome;
    if (heads[1] == NULL)
        return false;
    if (!is_true(heads[1]))
        return chosen(t, firing, state->pending == 0 ? LANES_EMPTY_CLOSE : LANES_PARTIAL_CLOSE);
    return heads[0] != NULL &&
           chosen(t, firing, state->pending + 1 < t->lanes ? LANES_ACCUMULATE : LANES_FULL);
}

/* The pending lanes, the last one just arriving where the vector is full; zeros behind them. */
static void form_vector(transition_view *t, state_view *state, firing_view *firing, head_view heads,
                        result_view results)
{
    const uint64_t vector_bits = (uint64_t)t->lanes * t->width;
    uint32_t count = state->pending;

    qp_fabric_copy_words(results[0], state->payload, qp_fabric_words(vector_bits));
    if (firing->case_ordinal == LANES_FULL)
        qp_fabric_copy_bits(results[0], (uint64_t)count++ * t->width, heads[0], 0, t->width);
    memset(results[1], 0, qp_fabric_words(t->lanes) * sizeof *results[1]);
    qp_fabric_set_ones(results[1], 0, count);
    results[2][0] = 1;
}

static qp_fabric_outcome parallelize_form(transition_view *t, state_view *state,
                                          qp_fabric_firing *firing, head_view heads, uint32_t group,
                                          result_view results)
{
    if (firing->case_ordinal != LANES_EMPTY_CLOSE && group == 0)
        form_vector(t, state, firing, heads, results);
    else
        results[2][0] = 0;
    return QP_FABRIC_DEFINED;
}

static qp_fabric_outcome parallelize_advance(transition_view *t, qp_fabric_state *state,
                                             firing_view *firing, head_view heads)
{
    if (firing->case_ordinal == LANES_ACCUMULATE)
        qp_fabric_copy_bits(state->payload, (uint64_t)state->pending++ * t->width, heads[0], 0,
                            t->width);
    else
        qp_fabric_reset(t, state);
    return QP_FABRIC_DEFINED;
}

/* ---- serialize ---------------------------------------------------------------------------- */

enum { GROUP_ACTIVE, GROUP_CLOSE };

/* Word w of the mask; bits behind the last lane do not count. */
static uint64_t mask_word(transition_view *t, const uint64_t *mask, uint32_t w)
{
    const uint32_t left = t->lanes - 64 * w;
    return mask[w] & qp_fabric_mask(left < 64 ? left : 64);
}

static bool serialize_choose(transition_view *t, state_view *state, head_view heads,
                             qp_fabric_firing *firing, qp_fabric_outcome *outcome)
{
    (void)state;
    (void)outcome;
    if (heads[2] == NULL)
        return false;
    if (!is_true(heads[2]))
        return chosen(t, firing, GROUP_CLOSE);
    if (heads[0] == NULL || heads[1] == NULL)
        return false;
    *firing = (qp_fabric_firing){GROUP_ACTIVE, 0, 0};
    for (uint32_t w = 0; w < qp_fabric_words(t->lanes); w++)
        firing->group_count += (uint32_t)__builtin_popcountll(mask_word(t, heads[1], w));
    return true;
}

/* Every group of a case is like its one row. */
static bool serialize_produces(transition_view *t, firing_view *firing, uint32_t group,
                               uint32_t result)
{
    (void)group;
    return produces_case(t, firing, 0, result);
}

/* The first lane from `lane` on that the mask has; there is one. */
static uint32_t next_lane(transition_view *t, const uint64_t *mask, uint32_t lane)
{
    uint32_t w = lane / 64;
    uint64_t word = mask_word(t, mask, w) & ~UINT64_C(0) << lane % 64;

    while (word == 0)
        word = mask_word(t, mask, ++w);
    return 64 * w + (uint32_t)__builtin_ctzll(word);
}

static qp_fabric_outcome serialize_form(transition_view *t, state_view *state,
                                        qp_fabric_firing *firing, head_view heads, uint32_t group,
                                        result_view results)
{
    (void)state;
    (void)group;
    results[1][0] = firing->case_ordinal == GROUP_ACTIVE;
    if (firing->case_ordinal == GROUP_ACTIVE) {
        const uint32_t lane = next_lane(t, heads[1], firing->lane);
        memset(results[0], 0, qp_fabric_words(t->width) * sizeof *results[0]);
        qp_fabric_copy_bits(results[0], 0, heads[0], (uint64_t)lane * t->width, t->width);
        firing->lane = lane + 1;
    }
    return QP_FABRIC_DEFINED;
}

/* ---- the table ---------------------------------------------------------------------------- */

typedef const qp_fabric_signature signature_view;

static size_t value_words(signature_view *s, const qp_fabric_type *type)
{
    uint64_t bits = 0;

    (void)qp_fabric_payload_bits(type, s->index_width, &bits); /* bounded where it was read */
    return qp_fabric_words(bits);
}

/* Lanes and widths of a transition, by kind. */
typedef void prepare_function(qp_fabric_transition *t, signature_view *s);

static const qp_fabric_transition_rules constant_rules = {all_choose, consumes_all, produces_all,
                                                          constant_form, stays};
static const qp_fabric_transition_rules sync_rules = {all_choose, consumes_all, produces_all,
                                                      sync_form, stays};

static void prepare_all(qp_fabric_transition *t, signature_view *s)
{
    if (t->evaluator.evaluate == NULL)
        t->rules =
            s->schema->semantics == QP_FABRIC_CASE_TYPED_CONSTANT ? &constant_rules : &sync_rules;
}

static void prepare_mux(qp_fabric_transition *t, signature_view *s)
{
    t->lanes = t->operand_count - 1;
    t->words = value_words(s, &s->results[0]);
}

static void prepare_demux(qp_fabric_transition *t, signature_view *s)
{
    t->lanes = t->result_count;
    t->words = value_words(s, &s->operands[1]);
}

static void prepare_stream(qp_fabric_transition *t, signature_view *s)
{
    t->width = s->operands[0].width;
}

static void prepare_value(qp_fabric_transition *t, signature_view *s)
{
    t->words = value_words(s, &s->operands[1]);
}

static void prepare_invariant(qp_fabric_transition *t, signature_view *s)
{
    prepare_value(t, s);
    t->state_words = t->words;
}

/* A vector has at most QP_FABRIC_PAYLOAD_BITS_MAX lanes. */
static void prepare_lanes(qp_fabric_transition *t, signature_view *s, const qp_fabric_type *vector)
{
    t->lanes = (uint32_t)vector->dims[0];
    t->width = qp_fabric_element_bits(vector, s->index_width);
}

static void prepare_parallelize(qp_fabric_transition *t, signature_view *s)
{
    prepare_lanes(t, s, &s->results[0]);
    t->state_words = value_words(s, &s->results[0]);
}

static void prepare_serialize(qp_fabric_transition *t, signature_view *s)
{
    prepare_lanes(t, s, &s->operands[0]);
}

typedef struct kind_row {
    qp_fabric_transition_rules rules;
    prepare_function *prepare;
} kind_row;

static const kind_row kinds[QP_FABRIC_HANDSHAKE_COUNT] = {
    [QP_FABRIC_HANDSHAKE_ALL] = {{all_choose, consumes_all, produces_all, compute_form, stays},
                                 prepare_all},
    [QP_FABRIC_HANDSHAKE_MUX] = {{mux_choose, mux_consumes, produces_all, mux_form, stays},
                                 prepare_mux},
    [QP_FABRIC_HANDSHAKE_DEMUX] = {{demux_choose, consumes_all, demux_produces, demux_form, stays},
                                   prepare_demux},
    [QP_FABRIC_HANDSHAKE_STREAM] = {{stream_choose, consumes_case, produces_case, stream_form,
                                     stream_advance},
                                    prepare_stream},
    [QP_FABRIC_HANDSHAKE_CARRY] = {{carry_choose, consumes_case, produces_case, carry_form,
                                    carry_advance},
                                   prepare_value},
    [QP_FABRIC_HANDSHAKE_INVARIANT] = {{invariant_choose, consumes_case, produces_case,
                                        invariant_form, invariant_advance},
                                       prepare_invariant},
    [QP_FABRIC_HANDSHAKE_GATE] = {{gate_choose, consumes_case, produces_case, gate_form,
                                   gate_advance},
                                  prepare_value},
    [QP_FABRIC_HANDSHAKE_PARALLELIZE] = {{parallelize_choose, consumes_case, produces_case,
                                          parallelize_form, parallelize_advance},
                                         prepare_parallelize},
    [QP_FABRIC_HANDSHAKE_SERIALIZE] = {{serialize_choose, consumes_case, serialize_produces,
                                        serialize_form, stays},
                                       prepare_serialize},
};

qp_status qp_fabric_transition_make(const qp_fabric_graph *graph, uint32_t actor,
                                    qp_fabric_transition *transition, qp_fabric_error *error)
{
    const qp_fabric_actor *made = &graph->actors[actor];
    const qp_fabric_signature signature = qp_fabric_actor_signature(graph, actor);

    memset(transition, 0, sizeof *transition);
    transition->graph = graph;
    transition->actor = actor;
    transition->handshake = made->schema->handshake;
    transition->operand_count = made->operand_count;
    transition->result_count = made->result_count;
    transition->rules = &kinds[transition->handshake].rules;
    qp_status status =
        qp_fabric_evaluator_make(&signature, made->place, &transition->evaluator, error);
    if (status == QP_OK)
        kinds[transition->handshake].prepare(transition, &signature);
    return status;
}

void qp_fabric_reset(const qp_fabric_transition *transition, qp_fabric_state *state)
{
    state->mode = state->pending = 0;
    state->current = state->limit = state->step = 0;
    if (transition->state_words > 0)
        memset(state->payload, 0, transition->state_words * sizeof *state->payload);
}

qp_status qp_fabric_fail_firing(const qp_fabric_model *model,
                                const qp_fabric_transition *transition, qp_fabric_outcome outcome,
                                const uint64_t *cycle, qp_fabric_error *error)
{
    const qp_fabric_graph *graph = transition->graph;
    const qp_fabric_actor *actor = &graph->actors[transition->actor];
    const char *name = qp_fabric_name_text(model, graph->values[actor->results[0]].name);
    char when[40] = "";

    if (cycle != NULL)
        snprintf(when, sizeof when, " in cycle %" PRIu64, *cycle);
    return qp_fabric_fail(error, QP_FABRIC_INVALID, actor->place,
                          "the firing of '%%%.64s' (%s)%s %s", name, actor->schema->name, when,
                          qp_fabric_outcome_text(outcome));
}
