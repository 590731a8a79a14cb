/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finder.c - the walk of finder.h: a realization at a time, an op at a time, each op's actor by a
 * path from one that has its place already where there is one. What does not fit is left at once;
 * nothing is left that could fit.
 */
#include "fabric/finder.h"

/* In value_at: the input only feeds idle ports. */
#define IDLE (QP_FABRIC_NO_INDEX - 1)

bool qp_fabric_spend(qp_fabric_finder *f, uint64_t steps)
{
    if (f->work < steps) {
        f->work = 0;
        f->exhausted = true;
        return false;
    }
    f->work -= steps;
    return true;
}

static const qp_fabric_fu *unit_of(const qp_fabric_finder *f, const qp_fabric_cover_row *row)
{
    return &f->sealed->fabric->fus[row->fu];
}

static const qp_fabric_path *input_path(const qp_fabric_finder *f, const qp_fabric_cover_row *row,
                                        uint32_t node, uint32_t port)
{
    return qp_fabric_path_to(unit_of(f, row), row->derived, (qp_fabric_endpoint){node, port});
}

uint32_t qp_fabric_operand_input(const qp_fabric_finder *f, uint32_t actor, uint32_t operand)
{
    const qp_fabric_cover_row *row = &f->rows[f->row_of[actor]];
    const uint32_t port = f->operand_ports[f->operand_base[actor] + operand];
    const qp_fabric_path *path = input_path(f, row, f->node_of[actor], port);

    return path->source.node == QP_FABRIC_NO_INDEX ? path->source.port : QP_FABRIC_NO_INDEX;
}

uint32_t qp_fabric_value_output(const qp_fabric_finder *f, uint32_t value)
{
    const uint32_t actor = f->graph->values[value].actor;
    const qp_fabric_endpoint source = {f->node_of[actor], f->result_ports[value]};
    uint32_t cursor = 0;
    qp_fabric_path path;

    while (qp_fabric_next_path(f->rows[f->row_of[actor]].derived, source, &cursor, &path))
        if (path.end.node == QP_FABRIC_NO_INDEX)
            return path.end.port;
    return QP_FABRIC_NO_INDEX;
}

/* ---- the row in hand ---------------------------------------------------------------------- */

/* Which operand comes in at each input of an op. */
static void set_operands(qp_fabric_finder *f, uint32_t actor, const qp_fabric_node *op)
{
    const uint32_t *ports = f->operand_ports + f->operand_base[actor];

    for (uint32_t i = 0; i < op->n_in; i++)
        f->operand_at[i] = QP_FABRIC_NO_INDEX;
    for (uint32_t i = 0; i < f->graph->actors[actor].operand_count; i++)
        f->operand_at[ports[i]] = i;
}

/* The value that an input of the op in hand reads; IDLE where it is idle. */
static uint32_t value_in(const qp_fabric_finder *f, uint32_t actor, uint32_t port)
{
    const uint32_t operand = f->operand_at[port];
    return operand != QP_FABRIC_NO_INDEX ? f->graph->actors[actor].operands[operand] : IDLE;
}

/* An input of the unit gives one value, or feeds idle ports only. */
static bool hold_value(qp_fabric_finder *f, uint32_t port, uint32_t value, uint32_t step)
{
    if (f->value_at[port] == QP_FABRIC_NO_INDEX) {
        f->value_at[port] = value;
        f->value_step[port] = step;
    }
    return f->value_at[port] == value;
}

static void place_values(qp_fabric_finder *f, uint32_t number, bool place)
{
    const qp_fabric_find_step *step = &f->steps[number];
    const qp_fabric_cover_row *row = &f->rows[step->realization];
    const qp_fabric_node *op = &unit_of(f, row)->nodes[step->node];

    set_operands(f, step->actor, op);
    for (uint32_t i = 0; i < op->n_in; i++) {
        const qp_fabric_path *path = input_path(f, row, step->node, i);
        if (path->source.node != QP_FABRIC_NO_INDEX)
            continue;
        if (place)
            hold_value(f, path->source.port, value_in(f, step->actor, i), number);
        else if (f->value_step[path->source.port] == number)
            f->value_at[path->source.port] = QP_FABRIC_NO_INDEX;
    }
}

/* The actor gets the op, or leaves it. */
static void set_actor(qp_fabric_finder *f, uint32_t number, bool set)
{
    const qp_fabric_find_step *step = &f->steps[number];

    f->actor_at[step->node] = set ? step->actor : QP_FABRIC_NO_INDEX;
    f->covered[step->actor] = set;
    f->row_of[step->actor] = step->realization;
    f->node_of[step->actor] = step->node;
}

/* Takes a row in hand: the arrays by node and input are its. */
static void load(qp_fabric_finder *f, uint32_t number)
{
    if (f->loaded == number)
        return;
    for (unsigned pass = 0; pass < 2; pass++) {
        const uint32_t which = pass == 0 ? f->loaded : number;
        if (which == QP_FABRIC_NO_INDEX)
            continue;
        const qp_fabric_cover_row *row = &f->rows[which];
        for (uint32_t i = 0; i < row->op_count; i++) {
            const uint32_t step = row->first_step + i;
            if (step >= f->step_count)
                break;
            qp_fabric_spend(f, 1);
            f->actor_at[f->steps[step].node] =
                pass == 0 ? QP_FABRIC_NO_INDEX : f->steps[step].actor;
            place_values(f, step, pass != 0);
        }
    }
    f->loaded = number;
}

/* ---- whether an actor fits ---------------------------------------------------------------- */

static bool carries(const qp_fabric_finder *f, uint32_t value, const qp_fabric_path *path)
{
    return f->graph->values[value].bits <= path->narrowest;
}

/* Whether a value, at the input of an op, comes from where its path says. */
static bool input_fits(qp_fabric_finder *f, uint32_t number, const qp_fabric_path *path,
                       uint32_t value)
{
    const qp_fabric_endpoint source = path->source;

    if (source.node == QP_FABRIC_NO_INDEX)
        return (value == IDLE || carries(f, value, path)) &&
               hold_value(f, source.port, value, number);
    if (value == IDLE || !carries(f, value, path))
        return false;
    const uint32_t producer = f->graph->values[value].actor;
    if (producer == QP_FABRIC_NO_INDEX)
        return false;
    if (f->actor_at[source.node] == QP_FABRIC_NO_INDEX)
        return !f->covered[producer];
    return f->actor_at[source.node] == producer && f->result_ports[value] == source.port;
}

/* Whether the actor at the end of a path, where there is one, reads what its source makes. */
static bool output_fits(const qp_fabric_finder *f, const qp_fabric_path *path, uint32_t value)
{
    const uint32_t reader =
        path->end.node != QP_FABRIC_NO_INDEX ? f->actor_at[path->end.node] : QP_FABRIC_NO_INDEX;

    if (path->end.node == QP_FABRIC_NO_INDEX)
        return value == IDLE || carries(f, value, path);
    if (value == IDLE)
        return false;
    if (reader == QP_FABRIC_NO_INDEX)
        return true;
    const uint32_t *ports = f->operand_ports + f->operand_base[reader];
    for (uint32_t i = 0; i < f->graph->actors[reader].operand_count; i++)
        if (ports[i] == path->end.port)
            return f->graph->actors[reader].operands[i] == value;
    return false;
}

/* The value that leaves an op by a port; IDLE for none. */
static uint32_t value_out(const qp_fabric_finder *f, uint32_t actor, uint32_t port)
{
    const qp_fabric_actor *a = &f->graph->actors[actor];

    for (uint32_t i = 0; i < a->result_count; i++)
        if (f->result_ports[a->results[i]] == port)
            return a->results[i];
    return IDLE;
}

/* All paths at an op whose actor stands in actor_at. */
static bool paths_fit(qp_fabric_finder *f, uint32_t number)
{
    const qp_fabric_find_step *step = &f->steps[number];
    const qp_fabric_cover_row *row = &f->rows[step->realization];
    const qp_fabric_node *op = &unit_of(f, row)->nodes[step->node];
    bool fits = true;

    set_operands(f, step->actor, op);
    for (uint32_t i = 0; i < op->n_in && fits; i++)
        fits =
            input_fits(f, number, input_path(f, row, step->node, i), value_in(f, step->actor, i));
    for (uint32_t i = 0; i < op->n_out && fits; i++) {
        const uint32_t value = value_out(f, step->actor, i);
        uint32_t cursor = 0;
        qp_fabric_path path;
        while (fits && qp_fabric_next_path(row->derived, (qp_fabric_endpoint){step->node, i},
                                           &cursor, &path))
            fits = qp_fabric_spend(f, 1) && output_fits(f, &path, value);
    }
    return fits;
}

/* ---- whether a whole realization fits ----------------------------------------------------- */

/* Whether an operand of an actor that has its op comes from outside. */
static bool is_external(const qp_fabric_finder *f, const qp_fabric_use *use, uint32_t row)
{
    return !f->covered[use->actor] || f->row_of[use->actor] != row ||
           qp_fabric_operand_input(f, use->actor, use->operand) != QP_FABRIC_NO_INDEX;
}

/* A result leaves by one output exactly if something outside reads it. */
static bool result_fits(qp_fabric_finder *f, uint32_t number, uint32_t row)
{
    const qp_fabric_value *value = &f->graph->values[number];
    const qp_fabric_endpoint source = {f->node_of[value->actor], f->result_ports[number]};
    bool needed = value->output != QP_FABRIC_NO_INDEX;
    uint32_t cursor = 0, outputs = 0;
    qp_fabric_path path;

    while (qp_fabric_next_path(f->rows[row].derived, source, &cursor, &path))
        outputs += path.end.node == QP_FABRIC_NO_INDEX;
    for (uint32_t i = 0; i < value->use_count && !needed; i++)
        needed = is_external(f, &value->uses[i], row);
    return qp_fabric_spend(f, 1 + (uint64_t)cursor + value->use_count) &&
           outputs == (needed ? 1 : 0);
}

/* Whether a value's external edges, as far as both ends have their ops, join ports of one kind. */
static bool kinds_fit(qp_fabric_finder *f, uint32_t number)
{
    const qp_fabric_value *value = &f->graph->values[number];

    if (value->actor == QP_FABRIC_NO_INDEX || !f->covered[value->actor])
        return true;
    const uint32_t row = f->row_of[value->actor], output = qp_fabric_value_output(f, number);
    for (uint32_t i = 0; i < value->use_count; i++) {
        const qp_fabric_use *use = &value->uses[i];
        if (!f->covered[use->actor])
            continue;
        const uint32_t input = qp_fabric_operand_input(f, use->actor, use->operand);
        if (input == QP_FABRIC_NO_INDEX || output == QP_FABRIC_NO_INDEX)
            continue;
        if (unit_of(f, &f->rows[f->row_of[use->actor]])->inputs[input].width.tagged !=
            unit_of(f, &f->rows[row])->outputs[output].width.tagged)
            return false;
    }
    return qp_fabric_spend(f, 1 + (uint64_t)value->use_count);
}

static bool realization_fits(qp_fabric_finder *f, uint32_t number)
{
    const qp_fabric_cover_row *row = &f->rows[number];

    for (uint32_t i = 0; i < row->op_count; i++) {
        const qp_fabric_actor *actor = &f->graph->actors[f->steps[row->first_step + i].actor];
        for (uint32_t k = 0; k < actor->result_count; k++)
            if (!result_fits(f, actor->results[k], number) ||
                (f->tagged && !kinds_fit(f, actor->results[k])))
                return false;
        for (uint32_t k = 0; k < actor->operand_count && f->tagged; k++)
            if (!kinds_fit(f, actor->operands[k]))
                return false;
    }
    return true;
}

/* ---- placing an actor --------------------------------------------------------------------- */

static void retract(qp_fabric_finder *f, uint32_t number)
{
    load(f, f->steps[number].realization);
    place_values(f, number, false);
    set_actor(f, number, false);
    f->step_count = number;
}

/* The candidate of a step at its op by the ports that stand in its arrays. */
static bool place(qp_fabric_finder *f, uint32_t number)
{
    const qp_fabric_find_step *step = &f->steps[number];
    const qp_fabric_cover_row *row = &f->rows[step->realization];
    const qp_fabric_node *op = &unit_of(f, row)->nodes[step->node];
    const qp_fabric_actor *actor = &f->graph->actors[step->actor];
    const qp_fabric_offer offer = {qp_fabric_actor_signature(f->graph, step->actor),
                                   f->operand_ports + f->operand_base[step->actor],
                                   f->result_ports + actor->results[0], QP_FABRIC_NOWHERE};

    if (!qp_fabric_spend(f, 1 + (uint64_t)op->n_in + op->n_out) ||
        qp_fabric_admit(op, &offer, NULL) != QP_OK)
        return false;
    load(f, step->realization);
    set_actor(f, number, true);
    f->step_count = number + 1;
    if (paths_fit(f, number) &&
        (f->step_count < row->first_step + row->op_count || realization_fits(f, step->realization)))
        return true;
    retract(f, number);
    return false;
}

/* The next ports of the candidate by which it fits. */
static bool next_ports(qp_fabric_finder *f, uint32_t number)
{
    qp_fabric_find_step *step = &f->steps[number];
    const qp_fabric_cover_row *row = &f->rows[step->realization];
    const qp_fabric_node *op = &unit_of(f, row)->nodes[step->node];
    const qp_fabric_signature signature = qp_fabric_actor_signature(f->graph, step->actor);
    uint32_t *operands = f->operand_ports + f->operand_base[step->actor];
    uint32_t *results = f->result_ports + f->graph->actors[step->actor].results[0];

    if (step->correspondence == 0 &&
        qp_fabric_admit_actor(op, &signature, QP_FABRIC_NOWHERE, NULL) != QP_OK)
        return false;
    while (!f->exhausted &&
           qp_fabric_next_correspondence(op, &signature, &step->correspondence, operands, results))
        if (place(f, number))
            return true;
    return false;
}

/* ---- the order of a realization's ops ----------------------------------------------------- */

static void add_step(qp_fabric_finder *f, uint32_t row, uint32_t *count, uint32_t node,
                     qp_fabric_anchor_kind anchor, const qp_fabric_path *path)
{
    if (f->seen[node])
        return;
    f->seen[node] = true;
    f->steps[(*count)++] = (qp_fabric_find_step){.realization = row,
                                                 .node = node,
                                                 .anchor = anchor,
                                                 .path = path,
                                                 .actor = QP_FABRIC_NO_INDEX};
}

/* The neighbours of an op that have no step yet. */
static void add_neighbours(qp_fabric_finder *f, uint32_t number, uint32_t node, uint32_t *count)
{
    const qp_fabric_cover_row *row = &f->rows[number];
    const qp_fabric_node *op = &unit_of(f, row)->nodes[node];

    for (uint32_t i = 0; i < op->n_in; i++) {
        const qp_fabric_path *path = input_path(f, row, node, i);
        if (path->source.node != QP_FABRIC_NO_INDEX)
            add_step(f, number, count, path->source.node, QP_FABRIC_ANCHOR_PRODUCER, path);
    }
    for (uint32_t i = 0; i < op->n_out; i++) {
        uint32_t cursor = 0;
        qp_fabric_path path;
        while (qp_fabric_next_path(row->derived, (qp_fabric_endpoint){node, i}, &cursor, &path))
            if (path.end.node != QP_FABRIC_NO_INDEX)
                add_step(f, number, count, path.end.node, QP_FABRIC_ANCHOR_CONSUMER,
                         input_path(f, row, path.end.node, path.end.port));
    }
}

/* The steps of a realization from one op on, neighbours first. */
static void order_steps(qp_fabric_finder *f, uint32_t number, uint32_t start)
{
    const qp_fabric_cover_row *row = &f->rows[number];
    uint32_t count = row->first_step, done = row->first_step, next = 0;

    add_step(f, number, &count, start, QP_FABRIC_ANCHOR_NONE, NULL);
    while (count < row->first_step + row->op_count || done < count) {
        if (done < count) {
            add_neighbours(f, number, f->steps[done++].node, &count);
            continue;
        }
        while (f->seen[row->derived->nodes[next]] ||
               unit_of(f, row)->nodes[row->derived->nodes[next]].kind != QP_FABRIC_NODE_OP)
            next++;
        add_step(f, number, &count, row->derived->nodes[next], QP_FABRIC_ANCHOR_NONE, NULL);
    }
    for (uint32_t i = row->first_step; i < count; i++)
        f->seen[f->steps[i].node] = false;
}

/* ---- candidates --------------------------------------------------------------------------- */

/* The next seat of the leader of a realization that begins at a step. */
static bool next_seat(qp_fabric_finder *f, uint32_t number)
{
    qp_fabric_cover_row *row = &f->rows[f->row_count - 1];
    const uint32_t schema = f->graph->actors[row->leader].schema->id;
    uint64_t candidate = f->steps[number].candidate;

    while (candidate < f->first_seat[schema + 1] - f->first_seat[schema]) {
        const qp_fabric_seat *seat = &f->seats[f->first_seat[schema] + candidate++];
        const qp_fabric_derived *derived =
            &f->sealed->inventories[seat->fu].templates[seat->template_ordinal];
        if (!qp_fabric_spend(f, 1))
            return false;
        if (f->used[seat->fu] >= f->homes[seat->fu] ||
            derived->op_count > f->graph->n_actors - number ||
            f->joins_ports[seat->fu][seat->template_ordinal])
            continue;
        if (!qp_fabric_spend(f, derived->path_count))
            return false;
        load(f, QP_FABRIC_NO_INDEX);
        row->fu = seat->fu;
        row->template_ordinal = seat->template_ordinal;
        row->derived = derived;
        row->op_count = derived->op_count;
        order_steps(f, f->row_count - 1, seat->node);
        f->steps[number].candidate = candidate;
        f->steps[number].actor = row->leader;
        return true;
    }
    return false;
}

/* The candidate of a number, by the step's anchor; QP_FABRIC_NO_INDEX where this one is none, and
 * *end where there are no more. */
static uint32_t candidate_of(const qp_fabric_finder *f, const qp_fabric_find_step *step, bool *end)
{
    const qp_fabric_graph *graph = f->graph;

    if (step->anchor == QP_FABRIC_ANCHOR_NONE) {
        *end = step->candidate >= graph->n_actors;
        return *end ? QP_FABRIC_NO_INDEX : (uint32_t)step->candidate;
    }
    if (step->anchor == QP_FABRIC_ANCHOR_PRODUCER) {
        const uint32_t reader = f->actor_at[step->path->end.node];
        const uint32_t *ports = f->operand_ports + f->operand_base[reader];
        uint32_t i = 0;
        *end = step->candidate > 0;
        while (i < graph->actors[reader].operand_count && ports[i] != step->path->end.port)
            i++;
        if (*end || i == graph->actors[reader].operand_count)
            return QP_FABRIC_NO_INDEX;
        return graph->values[graph->actors[reader].operands[i]].actor;
    }
    const uint32_t made =
        value_out(f, f->actor_at[step->path->source.node], step->path->source.port);
    *end = made == IDLE || step->candidate >= graph->values[made].use_count;
    if (*end)
        return QP_FABRIC_NO_INDEX;
    const qp_fabric_use *use = &graph->values[made].uses[step->candidate];
    const bool again = step->candidate > 0 && use->actor == (use - 1)->actor;
    return again ? QP_FABRIC_NO_INDEX : use->actor;
}

static bool next_neighbour(qp_fabric_finder *f, uint32_t number)
{
    qp_fabric_find_step *step = &f->steps[number];
    bool end = false;

    load(f, step->realization);
    while (!end && qp_fabric_spend(f, 1)) {
        const uint32_t actor = candidate_of(f, step, &end);
        step->candidate++;
        if (actor == QP_FABRIC_NO_INDEX || f->covered[actor])
            continue;
        step->actor = actor;
        return true;
    }
    return false;
}

static bool begins_row(const qp_fabric_finder *f, uint32_t number)
{
    return f->row_count > 0 && f->rows[f->row_count - 1].first_step == number;
}

/* The next candidate of a step and its ports. */
static bool next_choice(qp_fabric_finder *f, uint32_t number)
{
    qp_fabric_find_step *step = &f->steps[number];
    const bool begins = begins_row(f, number);

    while (!f->exhausted) {
        if (step->actor != QP_FABRIC_NO_INDEX && next_ports(f, number)) {
            if (begins)
                f->used[f->rows[step->realization].fu]++;
            return true;
        }
        if (!(begins ? next_seat(f, number) : next_neighbour(f, number)))
            break;
        step->correspondence = 0;
    }
    step->actor = QP_FABRIC_NO_INDEX;
    return false;
}

/* ---- the walk ----------------------------------------------------------------------------- */

/* A step that is new: where it begins a realization, the leader is the first actor without an op.
 */
static void begin_step(qp_fabric_finder *f, uint32_t number)
{
    const qp_fabric_cover_row *last = f->row_count > 0 ? &f->rows[f->row_count - 1] : NULL;
    uint32_t leader = last != NULL ? last->leader : 0;

    if (last != NULL && number < last->first_step + last->op_count) {
        f->steps[number].candidate = 0;
        f->steps[number].actor = QP_FABRIC_NO_INDEX;
        return;
    }
    while (f->covered[leader]) {
        qp_fabric_spend(f, 1);
        leader++;
    }
    f->rows[f->row_count++] = (qp_fabric_cover_row){.leader = leader, .first_step = number};
    f->steps[number] =
        (qp_fabric_find_step){.realization = f->row_count - 1, .actor = QP_FABRIC_NO_INDEX};
}

/* A step that has no more choices. */
static void end_step(qp_fabric_finder *f, uint32_t number)
{
    if (!begins_row(f, number))
        return;
    load(f, QP_FABRIC_NO_INDEX);
    f->row_count--;
}

/* Takes the last step's choice back. */
static uint32_t go_back(qp_fabric_finder *f)
{
    const uint32_t number = f->step_count - 1;
    const uint32_t fu = f->rows[f->steps[number].realization].fu;

    if (f->rows[f->steps[number].realization].first_step == number)
        f->used[fu]--;
    retract(f, number);
    return number;
}

static bool is_goal(const qp_fabric_finder *f)
{
    if (f->one_realization)
        return f->row_count == 1 && f->step_count == f->rows[0].op_count;
    return f->step_count == f->graph->n_actors;
}

/* On to the next goal: from the last step's next choice where `back`, else from a new step. */
static bool walk(qp_fabric_finder *f, bool back)
{
    while (!f->exhausted) {
        uint32_t number;
        if (back) {
            if (f->step_count == 0)
                return false;
            number = go_back(f);
        } else {
            number = f->step_count;
            begin_step(f, number);
        }
        back = !next_choice(f, number);
        if (back)
            end_step(f, number);
        else if (is_goal(f))
            return true;
    }
    return false;
}

bool qp_fabric_next_cover(qp_fabric_finder *f)
{
    const bool back = f->started;

    f->started = true;
    if (!back && is_goal(f)) /* a graph without actors has one cover, the empty one */
        return true;
    return walk(f, back);
}

void qp_fabric_finder_restart(qp_fabric_finder *f)
{
    while (f->step_count > 0) {
        const uint32_t number = go_back(f);
        end_step(f, number);
    }
    load(f, QP_FABRIC_NO_INDEX);
    f->row_count = 0;
    f->started = false;
}

bool qp_fabric_can_realize(qp_fabric_finder *f, uint32_t actor)
{
    bool found;

    qp_fabric_finder_restart(f);
    f->one_realization = true;
    f->rows[f->row_count++] = (qp_fabric_cover_row){.leader = actor};
    f->steps[0] = (qp_fabric_find_step){.actor = QP_FABRIC_NO_INDEX};
    found = next_choice(f, 0);
    if (!found)
        end_step(f, 0);
    else if (!is_goal(f))
        found = walk(f, false);
    qp_fabric_finder_restart(f);
    f->one_realization = false;
    return found;
}
