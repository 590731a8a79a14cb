/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcd.c - a run as a value change dump (IEEE 1364, with string variables as GTKWave has them): one
 * time step a cycle. A channel's `valid` says that a token stands on it, its `ready` that the token
 * is taken in this cycle. An actor has `fire`, the `case` of the firing, and where its schema has
 * one its `state`.
 */
#include "fabric/channels.h"
#include "fabric/simulate.h"

#include <inttypes.h>
#include <stdio.h>

enum { VALID, READY, DATA, SIGNALS }; /* of a channel */
enum { FIRE, CASE, STATE };           /* of an actor */

/* What a channel shows in the cycle at hand, and what the file says so far. */
typedef struct shown_channel {
    bool valid, ready, was_valid, was_ready;
    char *data;     /* the digits, in turn with `was_data`; NULL without payload */
    char *was_data; /* "" before the first token */
} shown_channel;

typedef struct shown_actor {
    bool fires, fired;
    const char *state; /* what the file says, with the blank and the identifier; NULL for none */
} shown_actor;

struct qp_fabric_vcd {
    const qp_fabric_verified *verified;
    qp_allocator allocator;
    qp_arena arena;
    qp_buffer *buffer;
    qp_fabric_channels channels;
    shown_channel *shown;
    shown_actor *actors;
    uint64_t cycle;
    bool stamped; /* the time of the cycle at hand stands in the file */
};

/* ---- names -------------------------------------------------------------------------------- */

/* The identifier of a signal: digits of base 94 from '!' on. */
static void put_identifier(qp_buffer *buffer, uint32_t number)
{
    char digit;

    do {
        digit = (char)('!' + number % 94);
        qp_buffer_append(buffer, &digit, 1);
        number /= 94;
    } while (number > 0);
}

static uint32_t channel_signal(uint32_t channel, uint32_t signal)
{
    return channel * SIGNALS + signal;
}

static uint32_t actor_signal(const qp_fabric_vcd *vcd, uint32_t actor, uint32_t signal)
{
    return channel_signal(qp_fabric_channel_count(&vcd->channels) + actor, signal);
}

static void put_variable(qp_fabric_vcd *vcd, const char *kind, uint32_t bits, uint32_t signal)
{
    qp_buffer_format(vcd->buffer, "$var %s %" PRIu32 " ", kind, bits);
    put_identifier(vcd->buffer, signal);
    qp_buffer_text(vcd->buffer, " ");
}

static void end_variable(qp_fabric_vcd *vcd, const char *name, const char *what)
{
    qp_buffer_text(vcd->buffer, name);
    qp_buffer_text(vcd->buffer, what);
    qp_buffer_text(vcd->buffer, " $end\n");
}

/* ---- the head of the file ----------------------------------------------------------------- */

static void declare_channel(qp_fabric_vcd *vcd, uint32_t channel, const char *name)
{
    const uint32_t bits = vcd->verified->graph->values[vcd->channels.rows[channel].value].bits;

    put_variable(vcd, "wire", 1, channel_signal(channel, VALID));
    end_variable(vcd, name, "_valid");
    put_variable(vcd, "wire", 1, channel_signal(channel, READY));
    end_variable(vcd, name, "_ready");
    if (bits == 0)
        return;
    put_variable(vcd, "wire", bits, channel_signal(channel, DATA));
    qp_buffer_text(vcd->buffer, name);
    qp_buffer_format(vcd->buffer, "_data [%" PRIu32 ":0] $end\n", bits - 1);
}

static void open_scope(qp_fabric_vcd *vcd, const char *name)
{
    qp_buffer_text(vcd->buffer, "$scope module ");
    qp_buffer_text(vcd->buffer, name);
    qp_buffer_text(vcd->buffer, " $end\n");
}

static void close_scope(qp_fabric_vcd *vcd)
{
    qp_buffer_text(vcd->buffer, "$upscope $end\n");
}

static void declare_actor(qp_fabric_vcd *vcd, uint32_t actor)
{
    const qp_fabric_actor *a = &vcd->verified->graph->actors[actor];
    char name[16];

    open_scope(vcd, qp_fabric_actor_name(vcd->verified, actor));
    put_variable(vcd, "wire", 1, actor_signal(vcd, actor, FIRE));
    end_variable(vcd, "fire", "");
    put_variable(vcd, "string", 1, actor_signal(vcd, actor, CASE));
    end_variable(vcd, "case", "");
    if (vcd->actors[actor].state != NULL) {
        put_variable(vcd, "string", 1, actor_signal(vcd, actor, STATE));
        end_variable(vcd, "state", "");
    }
    for (uint32_t i = 0; i < a->operand_count; i++) {
        snprintf(name, sizeof name, "in%" PRIu32, i);
        declare_channel(vcd, vcd->channels.first_operand[actor] + i, name);
    }
    close_scope(vcd);
}

/* Nothing passes into the queue of a graph input. */
static bool is_declared(const qp_fabric_vcd *vcd, uint32_t channel)
{
    const uint32_t first = vcd->channels.operand_count;

    return channel < first || channel >= first + vcd->channels.queue_count ||
           vcd->channels.rows[channel].value >= vcd->verified->graph->n_inputs;
}

/* The queues of a realization's ports that results feed. */
static void declare_queues(qp_fabric_vcd *vcd, uint32_t realization)
{
    const qp_fabric_verified *v = vcd->verified;
    const qp_fabric_fu *fu = &v->sealed->fabric->fus[v->map->realizations[realization].fu];

    for (uint32_t q = 0; q < vcd->channels.queue_count; q++) {
        const qp_fabric_port_queue *queue = &vcd->channels.queues[q];
        if (queue->realization == realization && is_declared(vcd, vcd->channels.operand_count + q))
            declare_channel(vcd, vcd->channels.operand_count + q,
                            qp_fabric_name_text(v->sealed->model, fu->inputs[queue->port].name));
    }
}

static void put_head(qp_fabric_vcd *vcd)
{
    const qp_fabric_verified *v = vcd->verified;
    const qp_fabric_model *model = v->sealed->model;

    qp_buffer_text(vcd->buffer, "$comment quipu: one time step is one cycle $end\n"
                                "$timescale 1 ns $end\n");
    open_scope(vcd, qp_fabric_name_text(model, v->map->name));
    for (uint32_t i = 0; i < vcd->channels.output_count; i++)
        declare_channel(vcd, vcd->channels.operand_count + vcd->channels.queue_count + i,
                        qp_fabric_name_text(model, v->graph->values[v->graph->outputs[i]].name));
    for (uint32_t r = 0; r < v->map->n_realizations; r++) {
        open_scope(vcd, qp_fabric_name_text(model, v->map->realizations[r].name));
        declare_queues(vcd, r);
        for (uint32_t a = 0; a < v->graph->n_actors; a++)
            if (v->realization_of[a] == r)
                declare_actor(vcd, a);
        close_scope(vcd);
    }
    close_scope(vcd);
    qp_buffer_text(vcd->buffer, "$enddefinitions $end\n");
}

/* ---- values ------------------------------------------------------------------------------- */

static void put_stamp(qp_fabric_vcd *vcd)
{
    if (!vcd->stamped)
        qp_buffer_format(vcd->buffer, "#%" PRIu64 "\n", vcd->cycle);
    vcd->stamped = true;
}

static void put_bit(qp_fabric_vcd *vcd, bool value, uint32_t signal)
{
    put_stamp(vcd);
    qp_buffer_text(vcd->buffer, value ? "1" : "0");
    put_identifier(vcd->buffer, signal);
    qp_buffer_text(vcd->buffer, "\n");
}

static void put_string(qp_fabric_vcd *vcd, const char *value, uint32_t signal)
{
    put_stamp(vcd);
    qp_buffer_text(vcd->buffer, "s");
    qp_buffer_text(vcd->buffer, value);
    qp_buffer_text(vcd->buffer, " ");
    put_identifier(vcd->buffer, signal);
    qp_buffer_text(vcd->buffer, "\n");
}

/* Lower-case hex as binary; zeros at the front may go. */
static void put_data(qp_fabric_vcd *vcd, const char *hex, uint32_t signal)
{
    static const char digits[] = "0123456789abcdef";
    bool begun = false;

    put_stamp(vcd);
    qp_buffer_text(vcd->buffer, "b");
    for (; *hex != '\0'; hex++) {
        const char *found = strchr(digits, *hex);
        const unsigned digit = found != NULL ? (unsigned)(found - digits) : 0;
        for (unsigned bit = 8; bit > 0; bit >>= 1) {
            begun = begun || (digit & bit) != 0 || (hex[1] == '\0' && bit == 1);
            if (begun)
                qp_buffer_text(vcd->buffer, (digit & bit) != 0 ? "1" : "0");
        }
    }
    qp_buffer_text(vcd->buffer, " ");
    put_identifier(vcd->buffer, signal);
    qp_buffer_text(vcd->buffer, "\n");
}

/* Everything that a viewer would else show as unknown. */
static void put_first_values(qp_fabric_vcd *vcd)
{
    put_stamp(vcd);
    qp_buffer_text(vcd->buffer, "$dumpvars\n");
    for (uint32_t i = 0; i < qp_fabric_channel_count(&vcd->channels); i++) {
        if (!is_declared(vcd, i))
            continue;
        put_bit(vcd, false, channel_signal(i, VALID));
        put_bit(vcd, false, channel_signal(i, READY));
    }
    for (uint32_t a = 0; a < vcd->verified->graph->n_actors; a++) {
        put_bit(vcd, false, actor_signal(vcd, a, FIRE));
        if (vcd->actors[a].state != NULL)
            put_string(vcd, vcd->actors[a].state, actor_signal(vcd, a, STATE));
    }
    qp_buffer_text(vcd->buffer, "$end\n");
}

/* ---- cycles ------------------------------------------------------------------------------- */

static void end_channel(qp_fabric_vcd *vcd, uint32_t number)
{
    shown_channel *c = &vcd->shown[number];

    if (c->valid != c->was_valid)
        put_bit(vcd, c->valid, channel_signal(number, VALID));
    if (c->ready != c->was_ready)
        put_bit(vcd, c->ready, channel_signal(number, READY));
    if (c->valid && c->data != NULL && strcmp(c->data, c->was_data) != 0) {
        char *data = c->data;
        put_data(vcd, data, channel_signal(number, DATA));
        c->data = c->was_data;
        c->was_data = data;
    }
    c->was_valid = c->valid;
    c->was_ready = c->ready;
    c->valid = c->ready = false;
}

/* What is different in the cycle at hand. */
static void end_cycle(qp_fabric_vcd *vcd)
{
    for (uint32_t i = 0; i < qp_fabric_channel_count(&vcd->channels); i++)
        end_channel(vcd, i);
    for (uint32_t a = 0; a < vcd->verified->graph->n_actors; a++) {
        shown_actor *actor = &vcd->actors[a];
        if (actor->fires != actor->fired) {
            put_bit(vcd, actor->fires, actor_signal(vcd, a, FIRE));
            if (!actor->fires)
                put_string(vcd, "-", actor_signal(vcd, a, CASE));
        }
        actor->fired = actor->fires;
        actor->fires = false;
    }
}

/* Goes on to a cycle; the one behind the last that was seen may show that it all fell. */
static void go_to(qp_fabric_vcd *vcd, uint64_t cycle)
{
    for (int i = 0; i < 2 && vcd->cycle < cycle; i++) {
        end_cycle(vcd);
        vcd->cycle = i == 0 ? vcd->cycle + 1 : cycle;
        vcd->stamped = false;
    }
}

static void see_channel(qp_fabric_vcd *vcd, const qp_fabric_event *event)
{
    const uint32_t number = qp_fabric_find_channel(&vcd->channels, event->name);

    if (number == QP_FABRIC_NO_INDEX)
        return;
    shown_channel *c = &vcd->shown[number];
    if (event->kind == QP_FABRIC_EVENT_HANDOFF) {
        c->ready = true;
        return;
    }
    c->valid = true;
    const uint32_t bits = vcd->verified->graph->values[vcd->channels.rows[number].value].bits;
    if (c->data != NULL && strlen(event->detail) == (bits + 3) / 4)
        memcpy(c->data, event->detail, (bits + 3) / 4 + 1);
}

static void see_actor(qp_fabric_vcd *vcd, const qp_fabric_event *event)
{
    const qp_fabric_verified *v = vcd->verified;
    const uint32_t actor = qp_fabric_find_actor(v->sealed->model, v->graph, event->name, NULL);

    if (actor == QP_FABRIC_NO_INDEX)
        return;
    if (event->kind == QP_FABRIC_EVENT_STATE) {
        put_string(vcd, event->detail, actor_signal(vcd, actor, STATE));
        return;
    }
    vcd->actors[actor].fires = true;
    put_string(vcd, event->detail, actor_signal(vcd, actor, CASE));
}

static void see(void *context, const qp_fabric_event *event)
{
    qp_fabric_vcd *vcd = context;

    go_to(vcd, event->cycle);
    if (event->kind == QP_FABRIC_EVENT_OFFER || event->kind == QP_FABRIC_EVENT_HANDOFF)
        see_channel(vcd, event);
    else if (event->kind != QP_FABRIC_EVENT_RESET)
        see_actor(vcd, event);
}

/* ---- begin and end ------------------------------------------------------------------------ */

/* Room for the digits of a channel's tokens, twice. */
static bool make_channel(qp_fabric_vcd *vcd, uint32_t number)
{
    const uint32_t bits = vcd->verified->graph->values[vcd->channels.rows[number].value].bits;
    shown_channel *c = &vcd->shown[number];

    if (bits == 0)
        return true;
    c->data = qp_arena_allocate(&vcd->arena, (size_t)(bits + 3) / 4 + 1, 1);
    c->was_data = qp_arena_allocate(&vcd->arena, (size_t)(bits + 3) / 4 + 1, 1);
    return c->data != NULL && c->was_data != NULL;
}

/* The text of the reset state, where the schema has one. */
static bool make_actor(qp_fabric_vcd *vcd, uint32_t number)
{
    const qp_fabric_state reset = {0};
    char *state;
    qp_buffer text;

    qp_buffer_init(&text, &vcd->allocator);
    const qp_fabric_handshake_kind handshake =
        vcd->verified->graph->actors[number].schema->handshake;
    if (qp_fabric_has_state(handshake))
        qp_fabric_put_state(&text, handshake, &reset);
    bool good = !text.failed;
    if (good && text.size > 0) {
        state = qp_arena_allocate(&vcd->arena, text.size + 1, 1);
        good = state != NULL;
        if (good)
            memcpy(state, text.bytes, text.size);
        vcd->actors[number].state = state;
    }
    qp_buffer_free(&text);
    return good;
}

static bool make(qp_fabric_vcd *vcd)
{
    const uint32_t actors = vcd->verified->graph->n_actors;
    bool good = qp_fabric_channels_of(vcd->verified, true, &vcd->arena, &vcd->channels);

    if (!good)
        return false;
    const uint32_t channels = qp_fabric_channel_count(&vcd->channels);
    vcd->shown = qp_arena_allocate(&vcd->arena, channels, sizeof *vcd->shown);
    vcd->actors = qp_arena_allocate(&vcd->arena, actors, sizeof *vcd->actors);
    good = vcd->shown != NULL && vcd->actors != NULL;
    for (uint32_t i = 0; good && i < channels; i++)
        good = make_channel(vcd, i);
    for (uint32_t a = 0; good && a < actors; a++)
        good = make_actor(vcd, a);
    return good;
}

static void dispose(qp_fabric_vcd *vcd)
{
    const qp_allocator allocator = vcd->allocator;

    qp_arena_free(&vcd->arena);
    qp_release(&allocator, vcd, 1, sizeof *vcd);
}

qp_status qp_fabric_vcd_begin(const qp_fabric_verified *verified, const qp_allocator *allocator,
                              qp_buffer *buffer, qp_fabric_vcd **vcd, qp_fabric_observer *observer,
                              qp_fabric_error *error)
{
    qp_fabric_vcd *made = qp_allocate(allocator, 1, sizeof *made);

    *vcd = NULL;
    if (made == NULL)
        return qp_fabric_fail_memory(error, "a trace");
    made->verified = verified;
    made->allocator = qp_allocator_or_default(allocator);
    made->buffer = buffer;
    qp_arena_init(&made->arena, allocator);
    if (!make(made)) {
        dispose(made);
        return qp_fabric_fail_memory(error, "a trace");
    }
    put_head(made);
    put_first_values(made);
    *vcd = made;
    *observer = (qp_fabric_observer){see, made};
    return QP_OK;
}

qp_status qp_fabric_vcd_end(qp_fabric_vcd *vcd, uint64_t cycles, qp_fabric_error *error)
{
    if (vcd == NULL)
        return QP_OK;
    go_to(vcd, cycles);
    end_cycle(vcd);
    put_stamp(vcd);
    const bool failed = vcd->buffer->failed;
    dispose(vcd);
    return failed ? qp_fabric_fail_memory(error, "a trace") : QP_OK;
}
