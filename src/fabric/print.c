/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print.c - the canonical text of fabrics and graphs (section 11): every token behind one space
 * but the first, user names by number.
 */
#include "fabric/attributes.h"
#include "fabric/text.h"

#include <stdlib.h>

static void token(qp_buffer *buffer, const char *text)
{
    qp_buffer_text(buffer, " ");
    qp_buffer_text(buffer, text);
}

static void number(qp_buffer *buffer, uint64_t value)
{
    qp_buffer_text(buffer, " ");
    qp_buffer_u64_decimal(buffer, value);
}

static void name(qp_buffer *buffer, const char *before, uint64_t value)
{
    qp_buffer_text(buffer, before);
    qp_buffer_text(buffer, "n");
    qp_buffer_u64_decimal(buffer, value);
}

static void comma(qp_buffer *buffer, bool first)
{
    if (!first)
        token(buffer, ",");
}

/* ---- params ------------------------------------------------------------------------------- */

static void print_member(qp_buffer *buffer, const qp_fabric_field_domain *domain, bool is_number,
                         uint32_t bit)
{
    if (is_number)
        number(buffer, domain->number((int)bit));
    else
        token(buffer, qp_fabric_word(domain->words, bit + 1));
}

/* The members of a set, in the order of their bits. */
static void print_set(qp_buffer *buffer, const qp_fabric_field_domain *domain, uint32_t set)
{
    bool first = true;

    token(buffer, "[");
    for (uint32_t bit = 0; bit < 32; bit++) {
        if ((set >> bit & 1) == 0)
            continue;
        comma(buffer, first);
        first = false;
        if (domain->form == QP_FABRIC_VALUE_PAIRS) {
            token(buffer, "(");
            print_member(buffer, domain, domain->first_is_number, bit / 5);
            token(buffer, ",");
            print_member(buffer, domain, domain->second_is_number, bit % 5);
            token(buffer, ")");
        } else {
            print_member(buffer, domain, domain->form == QP_FABRIC_VALUE_NUMBERS, bit);
        }
    }
    token(buffer, "]");
}

static void print_record(qp_buffer *buffer, const qp_fabric_field_row *rows, const void *record);

static void print_value(qp_buffer *buffer, const qp_fabric_field_row *row, const void *record)
{
    const qp_fabric_field_domain *domain = &qp_fabric_field_domains[row->type];
    const char *at = (const char *)record + row->offset;
    uint64_t value = 0;
    uint32_t set = 0;

    if (domain->form == QP_FABRIC_VALUE_RECORD) {
        print_record(buffer, qp_fabric_behavior_fields, at);
    } else if (domain->form == QP_FABRIC_VALUE_NUMBER) {
        memcpy(&value, at, sizeof value);
        number(buffer, value);
    } else {
        memcpy(&set, at, sizeof set);
        if (domain->form == QP_FABRIC_VALUE_WORD)
            token(buffer, qp_fabric_word(domain->words, set));
        else
            print_set(buffer, domain, set);
    }
}

static void print_record(qp_buffer *buffer, const qp_fabric_field_row *rows, const void *record)
{
    bool first = true;

    token(buffer, "{");
    for (uint32_t i = 0; rows[i].name != NULL; i++) {
        if (rows[i].type == QP_FABRIC_FIELD_POINTERS) /* always empty, and then not printed */
            continue;
        comma(buffer, first);
        first = false;
        token(buffer, rows[i].name);
        token(buffer, "=");
        print_value(buffer, &rows[i], record);
    }
    token(buffer, "}");
}

void qp_fabric_print_params(qp_buffer *buffer, const qp_fabric_family *family,
                            const qp_fabric_params *params)
{
    print_record(buffer, qp_fabric_params_rows[family->params].fields, params);
}

/* ---- fabrics ------------------------------------------------------------------------------ */

static void print_width(qp_buffer *buffer, qp_fabric_width width)
{
    number(buffer, width.bits);
    if (width.tagged)
        qp_buffer_text(buffer, "t");
}

static void print_ports(qp_buffer *buffer, const qp_fabric_port *ports, uint32_t count,
                        uint32_t base)
{
    token(buffer, "(");
    for (uint32_t i = 0; i < count; i++) {
        comma(buffer, i == 0);
        name(buffer, " ", (uint64_t)base + i);
        token(buffer, ":");
        print_width(buffer, ports[i].width);
    }
    token(buffer, ")");
}

static void print_widths(qp_buffer *buffer, const qp_fabric_width *widths, uint32_t count)
{
    token(buffer, "(");
    for (uint32_t i = 0; i < count; i++) {
        comma(buffer, i == 0);
        print_width(buffer, widths[i]);
    }
    token(buffer, ")");
}

static uint32_t input_names(const qp_fabric_fu *fu)
{
    return fu->name_base + 1;
}

static uint32_t output_names(const qp_fabric_fu *fu)
{
    return input_names(fu) + fu->n_inputs;
}

static uint32_t node_names(const qp_fabric_fu *fu)
{
    return output_names(fu) + fu->n_outputs;
}

static void print_op(qp_buffer *buffer, const qp_fabric_node *node)
{
    bool first = true;

    token(buffer, node->family->keyword);
    token(buffer, "[");
    for (uint32_t i = 0; i < node->family->member_count; i++) {
        if ((node->enabled >> i & 1) == 0)
            continue;
        comma(buffer, first);
        first = false;
        token(buffer, qp_fabric_schemas[node->family->members[i].schema].name);
    }
    token(buffer, "]");
    token(buffer, "in");
    print_widths(buffer, node->in, node->n_in);
    token(buffer, "out");
    print_widths(buffer, node->out, node->n_out);
    token(buffer, "params");
    qp_fabric_print_params(buffer, node->family, &node->params);
}

static void print_node(qp_buffer *buffer, const qp_fabric_fu *fu, uint32_t index)
{
    static const char *const words[] = {"op", "mux", "demux"};
    const qp_fabric_node *node = &fu->nodes[index];

    token(buffer, words[node->kind]);
    name(buffer, " ", (uint64_t)node_names(fu) + index);
    if (node->kind == QP_FABRIC_NODE_OP) {
        print_op(buffer, node);
    } else {
        print_width(buffer, node->in[0]);
        number(buffer, node->kind == QP_FABRIC_NODE_MUX ? node->n_in : node->n_out);
    }
}

static void print_end(qp_buffer *buffer, const qp_fabric_fu *fu, qp_fabric_endpoint end,
                      bool source)
{
    if (end.node == QP_FABRIC_NO_INDEX) {
        name(buffer, " ", (uint64_t)(source ? input_names(fu) : output_names(fu)) + end.port);
        return;
    }
    name(buffer, " ", (uint64_t)node_names(fu) + end.node);
    qp_buffer_text(buffer, ".");
    qp_buffer_u64_decimal(buffer, end.port);
}

/* Orders rows as their bytes of section 10 do: fixed-width words compare as numbers. */
static int compare_rows(const void *a, const void *b)
{
    const qp_fabric_row *x = *(const qp_fabric_row *const *)a;
    const qp_fabric_row *y = *(const qp_fabric_row *const *)b;

    if (x->op_count != y->op_count)
        return x->op_count < y->op_count ? -1 : 1;
    for (uint32_t i = 0; i < x->op_count; i++)
        if (x->ops[i] != y->ops[i])
            return x->ops[i] < y->ops[i] ? -1 : 1;
    if (x->route_count != y->route_count)
        return x->route_count < y->route_count ? -1 : 1;
    for (uint32_t i = 0; i < x->route_count; i++) {
        if (x->routes[i].node != y->routes[i].node)
            return x->routes[i].node < y->routes[i].node ? -1 : 1;
        if (x->routes[i].port != y->routes[i].port)
            return x->routes[i].port < y->routes[i].port ? -1 : 1;
    }
    return 0;
}

static void print_row(qp_buffer *buffer, const qp_fabric_fu *fu, const qp_fabric_row *row)
{
    token(buffer, "template");
    token(buffer, "{");
    token(buffer, "ops");
    token(buffer, "[");
    for (uint32_t i = 0; i < row->op_count; i++) {
        comma(buffer, i == 0);
        name(buffer, " ", (uint64_t)node_names(fu) + row->ops[i]);
    }
    token(buffer, "]");
    if (row->route_count > 0) {
        token(buffer, "routes");
        token(buffer, "[");
        for (uint32_t i = 0; i < row->route_count; i++) {
            comma(buffer, i == 0);
            name(buffer, " ", (uint64_t)node_names(fu) + row->routes[i].node);
            token(buffer, "=");
            number(buffer, row->routes[i].port);
        }
        token(buffer, "]");
    }
    token(buffer, "}");
}

static void print_rows(qp_buffer *buffer, const qp_fabric_fu *fu)
{
    const qp_allocator allocator = buffer->allocator;
    const qp_fabric_row **order = qp_allocate(&allocator, fu->n_rows, sizeof *order);

    if (order == NULL) {
        buffer->failed = true;
        return;
    }
    for (uint32_t i = 0; i < fu->n_rows; i++)
        order[i] = &fu->rows[i];
    qsort(order, fu->n_rows, sizeof *order, compare_rows);
    for (uint32_t i = 0; i < fu->n_rows; i++)
        print_row(buffer, fu, order[i]);
    qp_release(&allocator, order, fu->n_rows, sizeof *order);
}

static void print_fu(qp_buffer *buffer, const qp_fabric_fu *fu)
{
    token(buffer, "fu");
    name(buffer, " ", fu->name_base);
    print_ports(buffer, fu->inputs, fu->n_inputs, input_names(fu));
    token(buffer, "->");
    print_ports(buffer, fu->outputs, fu->n_outputs, output_names(fu));
    token(buffer, "{");
    for (uint32_t i = 0; i < fu->n_nodes; i++)
        print_node(buffer, fu, i);
    for (uint32_t i = 0; i < fu->n_sinks; i++) {
        token(buffer, "wire");
        print_end(buffer, fu, fu->wires[i].source, true);
        token(buffer, "->");
        print_end(buffer, fu, fu->wires[i].destination, false);
    }
    print_rows(buffer, fu);
    token(buffer, "}");
}

void qp_fabric_print_fabric(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index)
{
    const qp_fabric_fabric *fabric = &model->fabrics[index];

    qp_buffer_text(buffer, "fabric n0 {");
    for (uint32_t i = 0; i < fabric->n_fus; i++)
        print_fu(buffer, &fabric->fus[i]);
    for (uint32_t i = 0; i < fabric->n_occurrences; i++) {
        const qp_fabric_occurrence *o = &fabric->occurrences[i];
        token(buffer, "occ");
        name(buffer, " ", (uint64_t)fabric->occurrence_base + i);
        name(buffer, " ", fabric->fus[o->fu].name_base);
        if (o->contexts > 1) {
            token(buffer, "contexts");
            number(buffer, o->contexts);
        }
    }
    token(buffer, "}");
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void print_value_name(qp_buffer *buffer, uint32_t value)
{
    name(buffer, " %", (uint64_t)value + 1); /* n0 is the graph */
}

static void print_types(qp_buffer *buffer, const qp_fabric_type *types, uint32_t count)
{
    token(buffer, "(");
    for (uint32_t i = 0; i < count; i++) {
        comma(buffer, i == 0);
        qp_buffer_text(buffer, " ");
        qp_fabric_type_text(buffer, &types[i]);
    }
    token(buffer, ")");
}

static void print_entries(qp_buffer *buffer, const qp_fabric_semantics *semantics)
{
    token(buffer, "[");
    for (size_t i = 0; i < semantics->entry_count; i++) {
        comma(buffer, i == 0);
        if (semantics->entries[i] == QP_FABRIC_DYNAMIC) {
            token(buffer, "?");
        } else {
            qp_buffer_text(buffer, " ");
            qp_buffer_i64_decimal(buffer, semantics->entries[i]);
        }
    }
    token(buffer, "]");
}

/* A constant: the unsigned number of each lane's bits. */
static void print_constant(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    const qp_allocator allocator = buffer->allocator;
    const qp_fabric_type *type = &signature->results[0];
    const uint32_t width = qp_fabric_element_bits(type, signature->index_width);
    const size_t words = signature->semantics->payload_words;
    uint64_t *payload = qp_allocate(&allocator, words, sizeof *payload);
    uint64_t *scratch = qp_allocate(&allocator, words, sizeof *scratch);
    uint64_t lanes = 1;

    if (payload == NULL || scratch == NULL || !qp_fabric_lanes(type, &lanes)) {
        buffer->failed = true;
        lanes = 0;
    } else {
        memcpy(payload, signature->semantics->payload, words * sizeof *payload);
    }
    if (type->rank > 0)
        token(buffer, "[");
    for (uint64_t i = 0; i < lanes; i++) {
        comma(buffer, i == 0);
        qp_buffer_text(buffer, " ");
        qp_fabric_put_decimal(buffer, (qp_fabric_bits){payload, i * width, width}, scratch);
    }
    if (type->rank > 0)
        token(buffer, "]");
    qp_release(&allocator, scratch, words, sizeof *scratch);
    qp_release(&allocator, payload, words, sizeof *payload);
}

/* True where the attribute is there: flags that are set, words, masks with a flag, lists. (An empty
 * position is required and stays, so that canonical text can be read.) */
static bool has_attribute(const qp_fabric_attribute *row, const qp_fabric_semantics *semantics,
                          uint32_t *value)
{
    switch (row->form) {
    case QP_FABRIC_ATTRIBUTE_FLAG:
        return semantics->flag;
    case QP_FABRIC_ATTRIBUTE_POSITION:
    case QP_FABRIC_ATTRIBUTE_BLOCKS:
    case QP_FABRIC_ATTRIBUTE_VALUE:
        return true;
    default:
        memcpy(value, (const char *)semantics + row->offset, sizeof *value);
        return *value != 0;
    }
}

static void print_mask(qp_buffer *buffer, const qp_fabric_vocabulary *words, uint32_t mask)
{
    const qp_fabric_field_domain domain = {
        .form = QP_FABRIC_VALUE_WORDS, .words = words, .ordinal = NULL, .number = NULL};
    print_set(buffer, &domain, mask);
}

static void print_attribute(qp_buffer *buffer, const qp_fabric_attribute *row,
                            const qp_fabric_signature *signature, uint32_t value)
{
    token(buffer, row->name);
    if (row->form == QP_FABRIC_ATTRIBUTE_FLAG)
        return;
    token(buffer, "=");
    if (row->form == QP_FABRIC_ATTRIBUTE_MASK)
        print_mask(buffer, row->words, value);
    else if (row->form == QP_FABRIC_ATTRIBUTE_WORD)
        token(buffer, qp_fabric_word(row->words, value));
    else if (row->form == QP_FABRIC_ATTRIBUTE_VALUE)
        print_constant(buffer, signature);
    else
        print_entries(buffer, signature->semantics);
}

void qp_fabric_print_attributes(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    const qp_fabric_attribute *rows = qp_fabric_case_attributes[signature->schema->semantics];
    bool first = true;

    for (uint32_t i = 0; rows[i].name != NULL; i++) {
        uint32_t value = 0;
        if (!has_attribute(&rows[i], signature->semantics, &value))
            continue;
        token(buffer, first ? "{" : ",");
        first = false;
        print_attribute(buffer, &rows[i], signature, value);
    }
    if (!first)
        token(buffer, "}");
}

static void print_actor(qp_buffer *buffer, const qp_fabric_graph *graph, uint32_t index)
{
    const qp_fabric_actor *actor = &graph->actors[index];
    const qp_fabric_signature signature = qp_fabric_actor_signature(graph, index);

    for (uint32_t i = 0; i < actor->result_count; i++) {
        comma(buffer, i == 0);
        print_value_name(buffer, actor->results[i]);
    }
    token(buffer, "=");
    token(buffer, actor->schema->name);
    for (uint32_t i = 0; i < actor->operand_count; i++) {
        comma(buffer, i == 0);
        print_value_name(buffer, actor->operands[i]);
    }
    qp_fabric_print_attributes(buffer, &signature);
    token(buffer, ":");
    print_types(buffer, actor->operand_types, actor->operand_count);
    token(buffer, "->");
    print_types(buffer, actor->result_types, actor->result_count);
}

void qp_fabric_print_graph(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index)
{
    const qp_fabric_graph *graph = &model->graphs[index];

    qp_buffer_text(buffer, "graph n0");
    if (graph->prints_index) {
        token(buffer, "index");
        number(buffer, graph->index_width);
    }
    token(buffer, "{");
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        token(buffer, "input");
        print_value_name(buffer, i);
        token(buffer, ":");
        qp_buffer_text(buffer, " ");
        qp_fabric_type_text(buffer, &graph->values[i].type);
    }
    for (uint32_t i = 0; i < graph->n_actors; i++)
        print_actor(buffer, graph, i);
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        token(buffer, "output");
        print_value_name(buffer, graph->outputs[i]);
    }
    token(buffer, "}");
}

/* ---- maps --------------------------------------------------------------------------------- */

static int compare_bindings(const void *a, const void *b)
{
    const qp_fabric_binding *x = *(const qp_fabric_binding *const *)a;
    const qp_fabric_binding *y = *(const qp_fabric_binding *const *)b;

    if (x->actor != y->actor)
        return x->actor < y->actor ? -1 : 1;
    return (x > y) - (x < y); /* the order of the file, in one array */
}

static int compare_bounds(const void *a, const void *b)
{
    const qp_fabric_bound *x = *(const qp_fabric_bound *const *)a;
    const qp_fabric_bound *y = *(const qp_fabric_bound *const *)b;

    if (x->actor != y->actor)
        return x->actor < y->actor ? -1 : 1;
    if (x->input != y->input)
        return x->input ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x > y) - (x < y);
}

static int compare_binds(const void *a, const void *b)
{
    const qp_fabric_bind *x = *(const qp_fabric_bind *const *)a;
    const qp_fabric_bind *y = *(const qp_fabric_bind *const *)b;

    if (x->realization != y->realization)
        return x->realization < y->realization ? -1 : 1;
    return (x > y) - (x < y);
}

/* Pointers to `count` items of `size` bytes, sorted; NULL without memory. */
static const void **sorted(qp_buffer *buffer, const void *items, uint32_t count, size_t size,
                           int (*compare)(const void *, const void *))
{
    const void **order = qp_allocate(&buffer->allocator, count, sizeof *order);

    if (order == NULL) {
        buffer->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = (const char *)items + i * size;
    qsort(order, count, sizeof *order, compare);
    return order;
}

static void print_ordinals(qp_buffer *buffer, const uint32_t *ordinals, uint32_t count)
{
    token(buffer, "(");
    for (uint32_t i = 0; i < count; i++) {
        comma(buffer, i == 0);
        number(buffer, ordinals[i]);
    }
    token(buffer, ")");
}

static void print_bindings(qp_buffer *buffer, const qp_fabric_graph *graph, const qp_fabric_fu *fu,
                           const qp_fabric_realization *r)
{
    const void **order =
        sorted(buffer, r->bindings, r->n_bindings, sizeof *r->bindings, compare_bindings);

    for (uint32_t i = 0; order != NULL && i < r->n_bindings; i++) {
        const qp_fabric_binding *b = order[i];
        token(buffer, "actor");
        print_value_name(buffer, graph->actors[b->actor].results[0]);
        token(buffer, "->");
        name(buffer, " ", (uint64_t)node_names(fu) + b->node);
        token(buffer, "in");
        print_ordinals(buffer, b->operand_ports, b->operand_count);
        token(buffer, "out");
        print_ordinals(buffer, b->result_ports, b->result_count);
    }
    qp_release(&buffer->allocator, order, r->n_bindings, sizeof *order);
}

static void print_bounds(qp_buffer *buffer, const qp_fabric_graph *graph, const qp_fabric_fu *fu,
                         const qp_fabric_realization *r)
{
    const void **order = sorted(buffer, r->bounds, r->n_bounds, sizeof *r->bounds, compare_bounds);

    for (uint32_t i = 0; order != NULL && i < r->n_bounds; i++) {
        const qp_fabric_bound *b = order[i];
        token(buffer, "bound");
        print_value_name(buffer, graph->actors[b->actor].results[0]);
        token(buffer, b->input ? "in" : "out");
        number(buffer, b->ordinal);
        token(buffer, "->");
        name(buffer, " ", (uint64_t)(b->input ? input_names(fu) : output_names(fu)) + b->port);
    }
    qp_release(&buffer->allocator, order, r->n_bounds, sizeof *order);
}

static void print_binds(qp_buffer *buffer, const qp_fabric_fabric *fabric,
                        const qp_fabric_map_item *map)
{
    const void **order =
        sorted(buffer, map->binds, map->n_binds, sizeof *map->binds, compare_binds);

    for (uint32_t i = 0; order != NULL && i < map->n_binds; i++) {
        const qp_fabric_bind *b = order[i];
        token(buffer, "bind");
        name(buffer, " ", (uint64_t)b->realization + 1);
        token(buffer, "->");
        name(buffer, " ", (uint64_t)fabric->occurrence_base + b->occurrence);
        if (fabric->occurrences[b->occurrence].contexts > 1) {
            token(buffer, "context");
            number(buffer, b->context);
        }
    }
    qp_release(&buffer->allocator, order, map->n_binds, sizeof *order);
}

static void print_identity(qp_buffer *buffer, const qp_fabric_model *model, qp_fabric_item item,
                           uint32_t index)
{
    char text[QP_SHA256_HEX_SIZE];

    if (qp_fabric_item_identity(model, item, index, text))
        token(buffer, text);
    else
        buffer->failed = true;
}

void qp_fabric_print_map(qp_buffer *buffer, const qp_fabric_model *model, uint32_t index)
{
    const qp_fabric_map_item *map = &model->maps[index];
    const qp_fabric_graph *graph = &model->graphs[map->graph];
    const qp_fabric_fabric *fabric = &model->fabrics[map->fabric];

    qp_buffer_text(buffer, "map n0 of");
    print_identity(buffer, model, QP_FABRIC_ITEM_GRAPH, map->graph);
    token(buffer, "on");
    print_identity(buffer, model, QP_FABRIC_ITEM_FABRIC, map->fabric);
    token(buffer, "{");
    for (uint32_t i = 0; i < map->n_realizations; i++) {
        const qp_fabric_realization *r = &map->realizations[i];
        const qp_fabric_fu *fu = &fabric->fus[r->fu];
        token(buffer, "realize");
        name(buffer, " ", (uint64_t)i + 1);
        token(buffer, "fu");
        name(buffer, " ", fu->name_base);
        token(buffer, "template");
        number(buffer, r->template_ordinal);
        token(buffer, "{");
        print_bindings(buffer, graph, fu, r);
        print_bounds(buffer, graph, fu, r);
        token(buffer, "}");
    }
    print_binds(buffer, fabric, map);
    token(buffer, "}");
}
