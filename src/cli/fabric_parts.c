/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_parts.c - what the parts of quipu fabric share. */
#include "cli/fabric.h"
#include "cli/text_table.h"
#include "fabric/fault.h"
#include "fabric/text.h"

qp_status qp_cli_fault(qp_status status, qp_fabric_error *error)
{
    error->fault = QP_FABRIC_NO_FAULT;
    error->rule = QP_FABRIC_RULE_NONE;
    error->line = error->column = 0;
    return status;
}

/* ---- names -------------------------------------------------------------------------------- */

static const char *item_name(qp_fabric_item item)
{
    static const char *const names[] = {"fabric", "graph", "map"};
    return names[item];
}

qp_status qp_cli_choose(const qp_fabric_model *model, qp_fabric_item item, const char *given,
                        const char *option, const char **name, qp_fabric_error *error)
{
    size_t count = qp_fabric_count(model, item);

    *name = given;
    for (size_t i = 0; given != NULL && i < count; i++)
        if (strcmp(qp_fabric_name(model, item, i), given) == 0)
            return QP_OK;
    if (given != NULL)
        return qp_fabric_fail_argument(error, "the files have no %s '%.80s'", item_name(item),
                                       given);
    if (count == 0)
        return qp_fabric_fail_argument(error, "the files have no %s", item_name(item));
    if (count > 1)
        return qp_fabric_fail_argument(error, "the files have %zu %ss: name one with %s", count,
                                       item_name(item), option);
    *name = qp_fabric_name(model, item, 0);
    return QP_OK;
}

/* ---- units -------------------------------------------------------------------------------- */

qp_cli_unit_walk qp_cli_units(const qp_fabric_model *model, const char *fabric, const char *unit)
{
    return (qp_cli_unit_walk){.model = model, .fabric_name = fabric, .unit_name = unit};
}

static bool is_named(const qp_fabric_model *model, qp_fabric_symbol symbol, const char *name)
{
    return name == NULL || strcmp(qp_fabric_name_text(model, symbol), name) == 0;
}

bool qp_cli_next_unit(qp_cli_unit_walk *walk)
{
    const qp_fabric_model *model = walk->model;
    for (; walk->next_fabric < model->n_fabrics; walk->next_fabric++, walk->next_unit = 0) {
        walk->fabric = &model->fabrics[walk->next_fabric];
        if (!is_named(model, walk->fabric->name, walk->fabric_name))
            continue;
        while (walk->next_unit < walk->fabric->n_fus) {
            walk->unit = &walk->fabric->fus[walk->next_unit++];
            if (is_named(model, walk->unit->name, walk->unit_name))
                return true;
        }
    }
    return false;
}

/* ---- lines and JSON ----------------------------------------------------------------------- */

void qp_cli_lines_add(qp_cli_lines *lines, const char *word)
{
    enum { COLUMNS = 100 };
    size_t length = strlen(word), between = strlen(lines->between);

    if (lines->column > 0) {
        qp_buffer_text(lines->text, lines->between);
        lines->column += between;
        if (lines->column + 1 + length + between > COLUMNS) {
            qp_buffer_text(lines->text, "\n");
            lines->column = 0;
        } else {
            qp_buffer_text(lines->text, " ");
            lines->column++;
        }
    }
    if (lines->column == 0) {
        for (size_t i = 0; i < lines->indent; i++)
            qp_buffer_text(lines->text, " ");
        lines->column = lines->indent;
    }
    qp_buffer_text(lines->text, word);
    lines->column += length;
}

void qp_cli_lines_end(qp_cli_lines *lines)
{
    if (lines->column > 0)
        qp_buffer_text(lines->text, "\n");
    lines->column = 0;
}

void qp_cli_put_digits(qp_buffer *text, const char *title, const char *digits, size_t count)
{
    enum { DIGITS = 64 };
    for (size_t at = 0; at < count || at == 0; at += DIGITS) {
        qp_buffer_format(text, "  %-10s  ", at == 0 ? title : "");
        qp_buffer_append(text, digits + at, count - at < DIGITS ? count - at : DIGITS);
        qp_buffer_text(text, "\n");
    }
}

void qp_cli_json_text(qp_buffer *text, const char *before, const char *name, const char *value)
{
    qp_buffer_format(text, "%s\"%s\":", before, name);
    qp_buffer_json_string(text, value, strlen(value));
}

void qp_cli_json_number(qp_buffer *text, const char *before, const char *name, uint64_t value)
{
    qp_buffer_format(text, "%s\"%s\":", before, name);
    qp_buffer_u64_decimal(text, value);
}

/* ---- what is in a model ------------------------------------------------------------------- */

/* A model's items in one form: a table's rows, or JSON. */
typedef struct items {
    const qp_fabric_model *model;
    qp_text_table *table; /* NULL for JSON */
    qp_buffer *text;
} items;

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static const char *symbol_text(const items *s, qp_fabric_symbol symbol)
{
    return qp_fabric_name_text(s->model, symbol);
}

static void put_fabric(const items *s, uint32_t index, const char *identity)
{
    const qp_fabric_fabric *fabric = &s->model->fabrics[index];
    const char *name = symbol_text(s, fabric->name);
    uint32_t ops = 0;

    for (uint32_t i = 0; i < fabric->n_fus; i++)
        for (uint32_t k = 0; k < fabric->fus[i].n_nodes; k++)
            ops += fabric->fus[i].nodes[k].kind == QP_FABRIC_NODE_OP;
    if (s->table != NULL) {
        qp_text_table_row(s->table,
                          "fabric\t%s\t%" PRIu32 " unit%s, %" PRIu32 " operation%s, %" PRIu32
                          " occurrence%s\t%.16s",
                          name, fabric->n_fus, plural(fabric->n_fus), ops, plural(ops),
                          fabric->n_occurrences, plural(fabric->n_occurrences), identity);
        return;
    }
    qp_cli_json_text(s->text, "{", "name", name);
    qp_cli_json_number(s->text, ",", "units", fabric->n_fus);
    qp_cli_json_number(s->text, ",", "operations", ops);
    qp_cli_json_number(s->text, ",", "occurrences", fabric->n_occurrences);
    qp_cli_json_text(s->text, ",", "identity", identity);
}

static void put_graph(const items *s, uint32_t index, const char *identity)
{
    const qp_fabric_graph *graph = &s->model->graphs[index];
    const char *name = symbol_text(s, graph->name);

    if (s->table != NULL) {
        qp_text_table_row(
            s->table,
            "graph\t%s\t%" PRIu32 " actor%s, %" PRIu32 " input%s, %" PRIu32 " output%s\t%.16s",
            name, graph->n_actors, plural(graph->n_actors), graph->n_inputs,
            plural(graph->n_inputs), graph->n_outputs, plural(graph->n_outputs), identity);
        return;
    }
    qp_cli_json_text(s->text, "{", "name", name);
    qp_cli_json_number(s->text, ",", "actors", graph->n_actors);
    qp_cli_json_number(s->text, ",", "inputs", graph->n_inputs);
    qp_cli_json_number(s->text, ",", "outputs", graph->n_outputs);
    qp_cli_json_text(s->text, ",", "identity", identity);
}

static void put_map(const items *s, uint32_t index, const char *identity)
{
    const qp_fabric_map_item *map = &s->model->maps[index];
    const char *graph = symbol_text(s, s->model->graphs[map->graph].name);
    const char *fabric = symbol_text(s, s->model->fabrics[map->fabric].name);

    if (s->table != NULL) {
        qp_text_table_row(s->table, "map\t%s\t%s on %s, %" PRIu32 " realization%s\t%.16s",
                          symbol_text(s, map->name), graph, fabric, map->n_realizations,
                          plural(map->n_realizations), identity);
        return;
    }
    qp_cli_json_text(s->text, "{", "name", symbol_text(s, map->name));
    qp_cli_json_text(s->text, ",", "graph", graph);
    qp_cli_json_text(s->text, ",", "fabric", fabric);
    qp_cli_json_number(s->text, ",", "realizations", map->n_realizations);
    qp_cli_json_text(s->text, ",", "identity", identity);
}

static qp_status put_kind(const items *s, qp_fabric_item item, qp_fabric_error *error)
{
    static void (*const put[])(const items *, uint32_t, const char *) = {put_fabric, put_graph,
                                                                         put_map};
    const size_t count = qp_fabric_count(s->model, item);
    qp_status status = QP_OK;
    char identity[65];

    if (s->table == NULL)
        qp_buffer_format(s->text, "%s\"%ss\":[", item == QP_FABRIC_ITEM_FABRIC ? "" : ",",
                         item_name(item));
    for (size_t i = 0; i < count && status == QP_OK; i++) {
        status = qp_fabric_identity(s->model, item, i, identity, error);
        if (status != QP_OK)
            break;
        if (s->table == NULL && i > 0)
            qp_buffer_text(s->text, ",");
        put[item](s, (uint32_t)i, identity);
        if (s->table == NULL)
            qp_buffer_text(s->text, "}");
    }
    if (s->table == NULL)
        qp_buffer_text(s->text, "]");
    return status;
}

qp_status qp_cli_put_items(const qp_fabric_model *model, bool json, qp_buffer *text,
                           qp_fabric_error *error)
{
    qp_text_table table;
    items s = {model, json ? NULL : &table, text};

    qp_text_table_init(&table, "lLLl");
    qp_status status = put_kind(&s, QP_FABRIC_ITEM_FABRIC, error);
    if (status == QP_OK)
        status = put_kind(&s, QP_FABRIC_ITEM_GRAPH, error);
    if (status == QP_OK)
        status = put_kind(&s, QP_FABRIC_ITEM_MAP, error);
    if (json)
        qp_buffer_free(&table.rows);
    else
        qp_text_table_print(&table, 100, text);
    return status;
}
