/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_supports.c - quipu fabric supports: which operations accept which actors. */
#include "cli/fabric.h"
#include "cli/text_table.h"
#include "fabric/fault.h"

/* Actor ports in the order of "0,2,1". */
enum { PORTS_MAX = 64 };

typedef struct ports {
    uint32_t list[PORTS_MAX];
    size_t count;
} ports;

/* What was asked, and what is said of each actor. */
typedef struct survey {
    const qp_fabric_model *model;
    const qp_cli_part_options *options;
    const qp_fabric_graph *graph;
    const char *fabric, *graph_name;
    const ports *inputs, *outputs; /* NULL for the canonical ones */
    qp_text_table table;
    qp_buffer *text;
    size_t actors, refused, operations;
} survey;

/* The operations that accept one actor, and why the one that came closest does not. */
typedef struct answer {
    qp_buffer accepted; /* names divided by blanks, or JSON */
    size_t count;
    qp_fabric_error closest;
} answer;

static bool read_ports(const char *text, ports *list)
{
    list->count = 0;
    while (*text != '\0' && list->count < PORTS_MAX) {
        uint32_t value = 0;
        if (*text < '0' || *text > '9')
            return false;
        for (; *text >= '0' && *text <= '9' && value < 100000; text++)
            value = value * 10 + (uint32_t)(*text - '0');
        list->list[list->count++] = value;
        if (*text == ',' && text[1] != '\0')
            text++;
        else if (*text != '\0')
            return false;
    }
    return *text == '\0';
}

static const char *actor_name(const survey *s, const qp_fabric_actor *actor)
{
    return qp_fabric_name_text(s->model, s->graph->values[actor->results[0]].name);
}

/* ---- one actor ---------------------------------------------------------------------------- */

/* A later rule of section 6 is a nearer miss than an earlier one. */
static void keep_closest(answer *a, const qp_fabric_error *error)
{
    if (a->closest.fault == QP_FABRIC_NO_FAULT || error->rule > a->closest.rule)
        a->closest = *error;
}

/* QP_OK where the answer is yes or no; another status where the question cannot be asked. */
static qp_status ask(survey *s, const char *operation, const char *actor, answer *a,
                     qp_fabric_error *error)
{
    const qp_fabric_question question = {
        .fabric = s->fabric,
        .operation = operation,
        .graph = s->graph_name,
        .actor = actor,
        .operand_ports = s->inputs != NULL ? s->inputs->list : NULL,
        .result_ports = s->outputs != NULL ? s->outputs->list : NULL,
        .operand_count = s->inputs != NULL ? s->inputs->count : 0,
        .result_count = s->outputs != NULL ? s->outputs->count : 0,
    };
    qp_status status = qp_fabric_supports(s->model, &question, NULL, error);

    s->operations++;
    if (status == QP_OK) {
        if (s->options->json)
            qp_buffer_text(&a->accepted, a->count > 0 ? "," : "");
        qp_buffer_format(&a->accepted, s->options->json ? "\"%s\"" : "%s ", operation);
        a->count++;
        return QP_OK;
    }
    if (error->fault != QP_FABRIC_INADMISSIBLE)
        return status;
    keep_closest(a, error);
    return QP_OK;
}

static qp_status ask_operations(survey *s, const char *actor, answer *a, qp_fabric_error *error)
{
    qp_cli_unit_walk walk = qp_cli_units(s->model, s->fabric, s->options->unit);
    qp_status status = QP_OK;

    while (status == QP_OK && qp_cli_next_unit(&walk))
        for (uint32_t i = 0; i < walk.unit->n_nodes && status == QP_OK; i++) {
            const qp_fabric_node *node = &walk.unit->nodes[i];
            qp_buffer name;
            if (node->kind != QP_FABRIC_NODE_OP)
                continue;
            qp_buffer_init(&name, NULL);
            qp_buffer_format(&name, "%s.%s", qp_fabric_name_text(s->model, walk.unit->name),
                             qp_fabric_name_text(s->model, node->name));
            qp_buffer_append(&name, "", 1);
            if (name.failed)
                status = qp_fabric_fail_memory(error, "an operation's name");
            else if (s->options->operation == NULL ||
                     strcmp(s->options->operation, (const char *)name.bytes) == 0)
                status = ask(s, (const char *)name.bytes, actor, a, error);
            qp_buffer_free(&name);
        }
    return status;
}

static void put_answer(survey *s, const qp_fabric_actor *actor, answer *a)
{
    const char *name = actor_name(s, actor), *reason = a->closest.base.message;
    const char *rule = qp_fabric_rule_name(a->closest.rule);

    qp_buffer_append(&a->accepted, "", 1);
    const char *accepted = a->accepted.failed ? "" : (const char *)a->accepted.bytes;
    if (s->options->json) {
        qp_cli_json_text(s->text, s->actors > 0 ? ",\n{" : "{", "actor", name);
        qp_cli_json_text(s->text, ",", "schema", actor->schema->name);
        qp_buffer_format(s->text, ",\"operations\":[%s]", accepted);
        if (a->count == 0) {
            qp_cli_json_text(s->text, ",", "rule", rule);
            qp_cli_json_text(s->text, ",", "reason", reason);
        }
        qp_buffer_text(s->text, "}");
    } else if (a->count > 0) {
        qp_text_table_row(&s->table, "%%%s\t%s\tyes\t%s", name, actor->schema->name, accepted);
    } else {
        qp_text_table_row(&s->table, "%%%s\t%s\tno\t%s: %s", name, actor->schema->name, rule,
                          reason);
    }
    s->actors++;
    s->refused += a->count == 0;
}

static qp_status ask_actor(survey *s, const qp_fabric_actor *actor, qp_fabric_error *error,
                           qp_fabric_error *closest)
{
    answer a = {0};

    qp_buffer_init(&a.accepted, NULL);
    qp_status status = ask_operations(s, actor_name(s, actor), &a, error);
    if (status == QP_OK && s->operations > 0)
        put_answer(s, actor, &a);
    if (status == QP_OK && a.count == 0)
        *closest = a.closest;
    qp_buffer_free(&a.accepted);
    return status;
}

/* ---- all actors --------------------------------------------------------------------------- */

static qp_status ask_all(survey *s, qp_fabric_error *error)
{
    qp_fabric_error closest = {0};
    qp_status status = QP_OK;

    qp_text_table_init(&s->table, "LLll");
    for (uint32_t i = 0; i < s->graph->n_actors && status == QP_OK; i++) {
        const qp_fabric_actor *actor = &s->graph->actors[i];
        if (s->options->actor == NULL || strcmp(s->options->actor, actor_name(s, actor)) == 0)
            status = ask_actor(s, actor, error, &closest);
    }
    if (status == QP_OK && s->actors == 0)
        status = qp_fabric_fail_argument(error, "there is no such actor or operation");
    if (status != QP_OK) {
        qp_buffer_free(&s->table.rows);
        return status;
    }
    qp_text_table_print(&s->table, 100, s->text);
    if (s->refused == 0)
        return QP_OK;
    if (s->actors == 1) {
        *error = closest;
        return error->base.status;
    }
    return qp_fabric_fail(error, QP_FABRIC_INADMISSIBLE, QP_FABRIC_NOWHERE,
                          "%zu of %zu actors have no operation", s->refused, s->actors);
}

static qp_status open_survey(survey *s, ports lists[2], qp_fabric_error *error)
{
    const qp_cli_part_options *o = s->options;
    qp_status status =
        qp_cli_choose(s->model, QP_FABRIC_ITEM_FABRIC, o->fabric, "--fabric", &s->fabric, error);
    if (status == QP_OK)
        status = qp_cli_choose(s->model, QP_FABRIC_ITEM_GRAPH, o->graph, "--graph", &s->graph_name,
                               error);
    if (status != QP_OK)
        return status;
    s->graph = qp_fabric_find_graph(s->model, s->graph_name, error);
    if (o->inputs == NULL && o->outputs == NULL)
        return QP_OK;
    if (o->inputs == NULL || o->outputs == NULL || o->actor == NULL || o->operation == NULL)
        return qp_fabric_fail_argument(error, "--in and --out go together, with --op and --actor");
    if (!read_ports(o->inputs, &lists[0]) || !read_ports(o->outputs, &lists[1]))
        return qp_fabric_fail_argument(error, "--in and --out take ports as in 0,2,1");
    s->inputs = &lists[0];
    s->outputs = &lists[1];
    return QP_OK;
}

static qp_status supports(const qp_fabric_model *model, const qp_cli_part_options *options,
                          qp_buffer *text, qp_fabric_error *error)
{
    survey s = {.model = model, .options = options, .text = text};
    ports lists[2] = {0};
    qp_status status = open_survey(&s, lists, error);

    if (status != QP_OK)
        return status;
    qp_buffer_text(text, options->json ? "{\"actors\":[" : "");
    status = ask_all(&s, error);
    qp_buffer_text(text, options->json ? "]}\n" : "");
    if (s.actors == 0)
        text->size = 0;
    return status;
}

const qp_cli_part qp_cli_part_supports = {
    "supports", "which operations accept which actors of a graph, or the rule that says no",
    "usage: quipu fabric supports [--fabric F] [--unit U] [--op UNIT.NODE] [--graph G]\n"
    "                             [--actor A] [--in PORTS --out PORTS] [--json] [-o OUT] FILE...\n"
    "\n"
    "Asks every operation of a fabric whether it accepts each actor of a graph: its schema, "
    "shape,\n"
    "widths, formats, predicates, rounding, accuracy, and its ports. An actor that none accepts "
    "is\n"
    "told with the rule by which the nearest operation refuses it. Exit status 1 where some actor\n"
    "has no operation.\n"
    "\n"
    "  --actor A             one actor, by its first result without '%'\n"
    "  --op UNIT.NODE        one operation\n"
    "  --in 0,2 --out 0      the ports that the actor's operands and results are to have; without\n"
    "                        these the first that are allowed\n"
    "  --json                the same as JSON\n"
    "\n"
    "example: quipu fabric supports --actor n --op Mac.mul dot.fabric dot.graph\n",
    " --fabric --unit --op --graph --actor --in --out --json ", supports};
