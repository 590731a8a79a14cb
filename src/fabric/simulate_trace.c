/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_trace.c - a run as its observer sees it, and what an op holds between two cycles. In
 * each cycle come, in this order: what results in slots do outside of their unit, channel by
 * channel; the operands' channels; what transparent ops do outside; the firings by actor; and the
 * states that stand from the next cycle on.
 */
#include "fabric/simulation.h"

#include <inttypes.h>

/* ---- events ------------------------------------------------------------------------------- */

/* The detail is what stands in `text`; without memory for it, it is empty. */
static void tell(qp_fabric_simulation *s, uint64_t cycle, qp_fabric_event_kind kind,
                 const char *name)
{
    qp_buffer_append(&s->text, "", 1);
    const qp_fabric_event event = {cycle, kind, name,
                                   s->text.failed ? "" : (const char *)s->text.bytes};
    s->observer->event(s->observer->context, &event);
    s->text.size = 0;
}

static void tell_channel(qp_fabric_simulation *s, uint32_t channel, const uint64_t *payload,
                         bool taken)
{
    const qp_fabric_channel *row = &s->channels.rows[channel];

    qp_fabric_put_token(&s->text, payload, s->graph->values[row->value].bits);
    tell(s, s->cycle, QP_FABRIC_EVENT_OFFER, row->name);
    if (taken)
        tell(s, s->cycle, QP_FABRIC_EVENT_HANDOFF, row->name);
}

static void tell_queues(qp_fabric_simulation *s, const qp_fabric_sim_result *result,
                        const uint64_t *payload, bool taken)
{
    for (uint32_t i = result->first_queue; i < result->end_queue; i++)
        tell_channel(s, s->operand_count + s->feeds[i], payload, taken);
}

static void tell_output(qp_fabric_simulation *s, const qp_fabric_sim_result *result,
                        const uint64_t *payload, bool taken)
{
    tell_channel(s, s->operand_count + s->queue_count + result->output, payload, taken);
}

void qp_fabric_sim_trace_posting(qp_fabric_simulation *s, uint32_t result)
{
    const qp_fabric_sim_result *r = &s->results[result];
    const uint64_t *payload = s->payloads[s->ops[r->op].half][result];

    if (r->fresh)
        tell_queues(s, r, payload, true);
    if (r->waiting)
        tell_output(s, r, payload, !qp_fabric_sim_output_stalled(s, r->output));
}

static void trace_operands(qp_fabric_simulation *s)
{
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (s->heads[i] != NULL)
            tell_channel(s, i, s->heads[i], s->ops[s->operand_op[i]].fires && s->takes[i]);
}

/* What a transparent op gives outside of its unit is taken where it fires. */
static void trace_transparent(qp_fabric_simulation *s, const qp_fabric_sim_op *op)
{
    for (uint32_t i = 0; i < op->result_count; i++) {
        const uint32_t number = op->first_result + i;
        const qp_fabric_sim_result *result = &s->results[number];
        if (op->firing.group_count == 0 || !qp_fabric_produces(&op->transition, &op->firing, 0, i))
            continue;
        tell_queues(s, result, s->payloads[0][number], op->fires);
        if (result->output != QP_FABRIC_NO_INDEX)
            tell_output(s, result, s->payloads[0][number], op->fires);
    }
}

static void put_case(qp_buffer *text, const qp_fabric_sim_op *op)
{
    const qp_fabric_handshake *handshake = &qp_fabric_handshakes[op->transition.handshake];

    if (handshake->cases != NULL)
        qp_buffer_text(text, handshake->cases[op->firing.case_ordinal].name);
    else if (op->transition.lanes > 0)
        qp_buffer_format(text, "Lane%" PRIu32, op->firing.lane);
    else
        qp_buffer_text(text, "Fire");
}

void qp_fabric_sim_trace_firings(qp_fabric_simulation *s)
{
    trace_operands(s);
    for (uint32_t i = 0; i < s->transparent_count; i++)
        if (s->ops[s->transparents[i]].ready)
            trace_transparent(s, &s->ops[s->transparents[i]]);
    for (uint32_t a = 0; a < s->op_count; a++)
        if (s->ops[a].fires) {
            put_case(&s->text, &s->ops[a]);
            tell(s, s->cycle, QP_FABRIC_EVENT_FIRE, qp_fabric_actor_name(s->verified, a));
        }
}

/* ---- states ------------------------------------------------------------------------------- */

bool qp_fabric_has_state(qp_fabric_handshake_kind handshake)
{
    return handshake != QP_FABRIC_HANDSHAKE_ALL && handshake != QP_FABRIC_HANDSHAKE_MUX &&
           handshake != QP_FABRIC_HANDSHAKE_DEMUX && handshake != QP_FABRIC_HANDSHAKE_SERIALIZE;
}

static bool same_state(const qp_fabric_state *a, const qp_fabric_state *b)
{
    return a->mode == b->mode && a->pending == b->pending && a->current == b->current &&
           a->limit == b->limit && a->step == b->step;
}

void qp_fabric_put_state(qp_buffer *text, qp_fabric_handshake_kind handshake,
                         const qp_fabric_state *state)
{
    static const char *const modes[QP_FABRIC_HANDSHAKE_COUNT][2] = {
        [QP_FABRIC_HANDSHAKE_STREAM] = {"Idle", "Running"},
        [QP_FABRIC_HANDSHAKE_CARRY] = {"Initial", "Running"},
        [QP_FABRIC_HANDSHAKE_INVARIANT] = {"Initial", "Running"},
        [QP_FABRIC_HANDSHAKE_GATE] = {"Closed", "Open"},
    };

    if (modes[handshake][0] == NULL)
        qp_buffer_format(text, "Pending(%" PRIu32 ")", state->pending);
    else
        qp_buffer_text(text, modes[handshake][state->mode]);
    if (handshake == QP_FABRIC_HANDSHAKE_STREAM && state->mode != 0)
        qp_buffer_format(text, "(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", state->current,
                         state->limit, state->step);
}

void qp_fabric_sim_trace_states(qp_fabric_simulation *s)
{
    for (uint32_t a = 0; a < s->op_count; a++) {
        const qp_fabric_sim_op *op = &s->ops[a];
        if (!op->stateful || same_state(&op->state, &s->shown[a]))
            continue;
        s->shown[a] = op->state;
        qp_fabric_put_state(&s->text, op->transition.handshake, &op->state);
        tell(s, s->cycle + 1, QP_FABRIC_EVENT_STATE, qp_fabric_actor_name(s->verified, a));
    }
}

void qp_fabric_sim_trace_reset(qp_fabric_simulation *s)
{
    tell(s, s->cycle, QP_FABRIC_EVENT_RESET, "");
    qp_fabric_sim_trace_states(s);
}

/* ---- slots -------------------------------------------------------------------------------- */

/* The obligations of a result that are met: its operands' in file order, its queues', its
 * output's. */
static void put_delivered(const qp_fabric_simulation *s, const qp_fabric_sim_result *result,
                          bool **at)
{
    for (uint32_t k = result->first_sink; k < result->end_sink; k++)
        *(*at)++ = s->heads[s->sinks[k]] == NULL;
    for (uint32_t i = result->first_queue; i < result->end_queue; i++)
        *(*at)++ = !result->fresh;
    if (result->output != QP_FABRIC_NO_INDEX)
        *(*at)++ = !result->waiting;
}

qp_fabric_holding qp_fabric_simulation_holding(const qp_fabric_simulation *simulation,
                                               uint32_t actor)
{
    const qp_fabric_sim_op *op = &simulation->ops[actor];
    bool *at = simulation->delivered[actor];

    for (uint32_t i = 0; i < op->result_count; i++)
        put_delivered(simulation, &simulation->results[op->first_result + i], &at);
    const bool occupied = op->pending > 0 || op->external_left > 0;
    const qp_fabric_claim_state *claim = occupied ? op->claim : NULL;
    return (qp_fabric_holding){.occupied = occupied,
                               .group = claim != NULL ? claim->next_group - 1 : 0,
                               .groups_left = claim != NULL ? claim->groups_left : 0,
                               .delivered = simulation->delivered[actor]};
}
