/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - looking things up in a model.
 */
#include "fabric/names.h"

#include <stdio.h>

const char *qp_fabric_name_text(const qp_fabric_model *model, qp_fabric_symbol symbol)
{
    return symbol < model->names->symbol_count ? model->names->texts[symbol] : "";
}

uint32_t qp_fabric_lookup(const qp_fabric_model *model, qp_fabric_scope_id scope, const char *name)
{
    qp_fabric_symbol symbol = qp_fabric_find_symbol(model->names, name, strlen(name));
    return qp_fabric_meaning_of(model->names, scope, symbol);
}

size_t qp_fabric_count(const qp_fabric_model *model, qp_fabric_item item)
{
    switch (item) {
    case QP_FABRIC_ITEM_FABRIC:
        return model->n_fabrics;
    case QP_FABRIC_ITEM_GRAPH:
        return model->n_graphs;
    case QP_FABRIC_ITEM_MAP:
        return model->n_maps;
    }
    return 0;
}

const char *qp_fabric_name(const qp_fabric_model *model, qp_fabric_item item, size_t index)
{
    if (index >= qp_fabric_count(model, item))
        return NULL;
    switch (item) {
    case QP_FABRIC_ITEM_FABRIC:
        return qp_fabric_name_text(model, model->fabrics[index].name);
    case QP_FABRIC_ITEM_GRAPH:
        return qp_fabric_name_text(model, model->graphs[index].name);
    case QP_FABRIC_ITEM_MAP:
        return qp_fabric_name_text(model, model->maps[index].name);
    }
    return NULL;
}

/* ---- wiring ------------------------------------------------------------------------------- */

uint32_t qp_fabric_sink(const qp_fabric_fu *fu, qp_fabric_endpoint destination)
{
    if (destination.node == QP_FABRIC_NO_INDEX)
        return fu->n_sinks - fu->n_outputs + destination.port;
    return fu->nodes[destination.node].input_base + destination.port;
}

/* Orders sources as `by_source` does: the unit's inputs (node + 1 wraps to 0), then the nodes. */
static bool source_before(qp_fabric_endpoint a, qp_fabric_endpoint b)
{
    if (a.node != b.node)
        return a.node + 1 < b.node + 1;
    return a.port < b.port;
}

/* The first place in `by_source` whose source is not before `source`, or behind it where `past`. */
static uint32_t source_bound(const qp_fabric_fu *fu, qp_fabric_endpoint source, bool past)
{
    uint32_t low = 0, high = fu->n_sinks;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        qp_fabric_endpoint found = fu->wires[fu->by_source[middle]].source;
        if (past ? !source_before(source, found) : source_before(found, source))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const uint32_t *qp_fabric_fanout(const qp_fabric_fu *fu, qp_fabric_endpoint source, uint32_t *count)
{
    uint32_t first = source_bound(fu, source, false);

    *count = source_bound(fu, source, true) - first;
    return *count > 0 ? fu->by_source + first : NULL;
}

qp_fabric_width qp_fabric_endpoint_width(const qp_fabric_fu *fu, qp_fabric_endpoint end,
                                         bool source)
{
    if (end.node == QP_FABRIC_NO_INDEX)
        return source ? fu->inputs[end.port].width : fu->outputs[end.port].width;
    const qp_fabric_node *node = &fu->nodes[end.node];
    const uint32_t port = node->kind == QP_FABRIC_NODE_OP ? end.port : 0;
    return source ? node->out[port] : node->in[port];
}

qp_fabric_signature qp_fabric_actor_signature(const qp_fabric_graph *graph, uint32_t actor)
{
    const qp_fabric_actor *a = &graph->actors[actor];
    return (qp_fabric_signature){.schema = a->schema,
                                 .semantics = &a->semantics,
                                 .operands = a->operand_types,
                                 .results = a->result_types,
                                 .operand_count = a->operand_count,
                                 .result_count = a->result_count,
                                 .index_width = graph->index_width};
}

/* ---- by name ------------------------------------------------------------------------------ */

static uint32_t find(const qp_fabric_model *model, qp_fabric_scope_id scope, const char *name,
                     const char *what, qp_fabric_error *error)
{
    uint32_t number = qp_fabric_lookup(model, scope, name);
    if (number == QP_FABRIC_NO_INDEX)
        qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE, "there is no %s '%.64s'", what,
                       name);
    return number;
}

const qp_fabric_fabric *qp_fabric_find_fabric(const qp_fabric_model *model, const char *name,
                                              qp_fabric_error *error)
{
    uint32_t number = find(model, QP_FABRIC_SCOPE_FABRICS, name, "fabric", error);
    return number != QP_FABRIC_NO_INDEX ? &model->fabrics[number] : NULL;
}

const qp_fabric_graph *qp_fabric_find_graph(const qp_fabric_model *model, const char *name,
                                            qp_fabric_error *error)
{
    uint32_t number = find(model, QP_FABRIC_SCOPE_GRAPHS, name, "graph", error);
    return number != QP_FABRIC_NO_INDEX ? &model->graphs[number] : NULL;
}

const qp_fabric_map_item *qp_fabric_find_map(const qp_fabric_model *model, const char *name,
                                             qp_fabric_error *error)
{
    uint32_t number = find(model, QP_FABRIC_SCOPE_MAPS, name, "map", error);
    return number != QP_FABRIC_NO_INDEX ? &model->maps[number] : NULL;
}

const qp_fabric_fu *qp_fabric_find_fu(const qp_fabric_model *model, const qp_fabric_fabric *fabric,
                                      const char *name, qp_fabric_error *error)
{
    uint32_t number = find(model, fabric->scope, name, "function unit", error);
    return number != QP_FABRIC_NO_INDEX ? &fabric->fus[number] : NULL;
}

const qp_fabric_node *qp_fabric_find_op(const qp_fabric_model *model,
                                        const qp_fabric_fabric *fabric, const char *name,
                                        const qp_fabric_fu **fu, qp_fabric_error *error)
{
    const char *dot = strchr(name, '.');
    const size_t length = dot != NULL ? (size_t)(dot - name) : 0;
    uint32_t unit = QP_FABRIC_NO_INDEX, local = QP_FABRIC_NO_INDEX;

    if (dot != NULL) {
        qp_fabric_symbol symbol = qp_fabric_find_symbol(model->names, name, length);
        unit = qp_fabric_meaning_of(model->names, fabric->scope, symbol);
    }
    if (unit != QP_FABRIC_NO_INDEX)
        local = qp_fabric_lookup(model, fabric->fus[unit].scope, dot + 1);
    if (local == QP_FABRIC_NO_INDEX || qp_fabric_local_kind_of(local) != QP_FABRIC_LOCAL_NODE ||
        fabric->fus[unit].nodes[qp_fabric_local_ordinal(local)].kind != QP_FABRIC_NODE_OP) {
        qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                       "there is no operation '%.128s': it is UNIT.NODE", name);
        return NULL;
    }
    *fu = &fabric->fus[unit];
    return &fabric->fus[unit].nodes[qp_fabric_local_ordinal(local)];
}

uint32_t qp_fabric_find_actor(const qp_fabric_model *model, const qp_fabric_graph *graph,
                              const char *name, qp_fabric_error *error)
{
    uint32_t value = qp_fabric_lookup(model, graph->scope, name);

    if (value != QP_FABRIC_NO_INDEX && graph->values[value].actor != QP_FABRIC_NO_INDEX &&
        graph->values[value].ordinal == 0)
        return graph->values[value].actor;
    qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                   "there is no actor whose first result is '%.64s'", name);
    return QP_FABRIC_NO_INDEX;
}
