/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - the graph rules (10.3), the exponent rules (3, 5.6) and the plan at load (10.5). */
#include "graph/graph.h"

static qp_status refuse_input(const qp_graph *graph, uint32_t input, qp_status status,
                              qp_error *error, const char *sentence)
{
    size_t table = QP_WHG1_HEADER_BYTES + (size_t)graph->n_scalars * QP_WHG1_SCALAR_BYTES;
    size_t offset = table + (size_t)input * QP_WHG1_INPUT_BYTES;
    qp_place place = {QP_TABLE_INPUTS, input, -1, (int64_t)offset};
    return qp_fail_at(error, status, place, "%s", sentence);
}

static qp_status refuse_node(const qp_graph *graph, uint32_t index, qp_status status,
                             qp_error *error, const char *sentence)
{
    const qp_node *node = &graph->nodes[index];
    qp_place place = {QP_TABLE_OPERATORS, -1, index, (int64_t)node->offset};
    return qp_fail_at(error, status, place, "%s: %s", node->op->name, sentence);
}

/* ---- graph rules (step 6) ----------------------------------------------------------------- */

static qp_status check_inputs(qp_graph *graph, bool *defined, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        uint32_t tensor = graph->inputs[i].tensor;
        if (defined[tensor])
            return refuse_input(graph, i, QP_MODEL_MISMATCH, error,
                                "the tensor is another input already");
        if (graph->tensors[tensor].policy == QP_DERIVED)
            return refuse_input(graph, i, QP_MODEL_MISMATCH, error,
                                "an input's policy is neither clamp nor check");
        defined[tensor] = true;
        graph->origins[tensor] = (qp_origin){true, i};
    }
    if (graph->inputs[0].state)
        return refuse_input(graph, 0, QP_MODEL_MISMATCH, error, "input 0 is a state input");
    return QP_OK;
}

static qp_status check_order(qp_graph *graph, bool *defined, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        for (uint32_t k = 0; k < node->n_in; k++)
            if (!defined[node->in[k]])
                return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                                   "it reads a tensor that nothing before it gives");
        for (uint32_t k = 0; k < node->n_out; k++) {
            if (defined[node->out[k]])
                return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                                   "it writes a tensor that is given already");
            defined[node->out[k]] = true;
            graph->origins[node->out[k]] = (qp_origin){false, i};
        }
    }
    return QP_OK;
}

static qp_status check_states(const qp_graph *graph, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];
        if (!input->state)
            continue;
        if (input->src >= graph->n_outputs)
            return refuse_input(graph, i, QP_MODEL_MISMATCH, error,
                                "the state's src is not an output of the graph");
        if (graph->tensors[graph->outputs[input->src]].channels != tensor->channels)
            return refuse_input(graph, i, QP_MODEL_MISMATCH, error,
                                "the state and the output that feeds it differ in channels");
        if (input->init < tensor->lo || input->init > tensor->hi)
            return refuse_input(graph, i, QP_MODEL_MISMATCH, error,
                                "the state's init is outside its declared range");
    }
    return QP_OK;
}

static bool exponents_equal(const qp_graph *graph, const qp_node *node)
{
    int8_t exponent = graph->tensors[node->out[0]].exponent;
    for (uint32_t k = 0; k < node->n_in; k++)
        if (graph->tensors[node->in[k]].exponent != exponent)
            return false;
    return true;
}

/* The exponents that parameters repeat (lut16's). */
static bool exponent_fields_equal(const qp_graph *graph, const qp_node *node)
{
    for (uint32_t i = 0; i < node->op->n_fields; i++) {
        const qp_field *field = &node->op->fields[i];
        if (field->kind != QP_FIELD_EXPONENT)
            continue;
        uint32_t tensor = field->exponent_of == QP_OF_INPUT ? node->in[0] : node->out[0];
        const int8_t *exponent = (const int8_t *)node->params + field->offset;
        if (*exponent != graph->tensors[tensor].exponent)
            return false;
    }
    return true;
}

static qp_status check_exponents(const qp_graph *graph, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        if (node->op->equal_exponents && !exponents_equal(graph, node))
            return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                               "its tensors do not all carry one exponent, or none");
        if (!exponent_fields_equal(graph, node))
            return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                               "an exponent differs from its tensor's");
    }
    return QP_OK;
}

qp_status qp_graph_check_rules(qp_graph *graph, qp_error *error)
{
    bool *defined = qp_allocate(&graph->arena.allocator, graph->n_tensors, sizeof *defined);
    if (defined == NULL)
        return qp_fail_memory(error, "the graph rules");

    qp_status status = check_inputs(graph, defined, error);
    if (status == QP_OK)
        status = check_order(graph, defined, error);
    for (uint32_t t = 0; t < graph->n_tensors && status == QP_OK; t++)
        if (!defined[t])
            status = qp_fail_at(error, QP_MODEL_MISMATCH, (qp_place){QP_TABLE_TENSORS, t, -1, -1},
                                "the tensor is neither an input nor an operator's output");
    qp_release(&graph->arena.allocator, defined, graph->n_tensors, sizeof *defined);
    if (status == QP_OK)
        status = check_states(graph, error);
    return status == QP_OK ? check_exponents(graph, error) : status;
}

/* ---- plan (step 7) ------------------------------------------------------------------------ */

static qp_status plan_channels(const qp_graph *graph, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        uint32_t in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = graph->tensors[node->in[k]].channels;
        for (uint32_t k = 0; k < node->n_out; k++)
            out[k] = graph->tensors[node->out[k]].channels;
        const char *why = node->op->channels(node->params, in, node->n_in, out);
        if (why != NULL)
            return refuse_node(graph, i, QP_MODEL_MISMATCH, error, why);
        for (uint32_t k = 0; k < node->n_out; k++)
            if (out[k] != graph->tensors[node->out[k]].channels)
                return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                                   "its output's channels are not those of the tensor record");
        if (node->op->needs_sizes && !graph->sized)
            return refuse_node(graph, i, QP_MODEL_MISMATCH, error,
                               "it needs a graph whose inputs declare their sizes");
    }
    return QP_OK;
}

qp_status qp_graph_plan_node(const qp_graph *graph, const qp_node *node, const qp_shape *in,
                             const int64_t *scalars, qp_shape out[QP_OUTPUTS_MAX], const char **why)
{
    qp_plan plan = {node->params, in, node->n_in, scalars, graph->scalars};

    for (uint32_t k = 0; k < node->n_out; k++)
        out[k].channels = graph->tensors[node->out[k]].channels;
    qp_status status = node->op->shape(&plan, out, why);
    if (status != QP_OK)
        return status;
    for (uint32_t k = 0; k < node->n_out; k++)
        if (qp_shape_elements(&out[k]) > graph->max_elems) {
            *why = "an output has more than max_elems elements";
            return QP_TOO_LARGE;
        }
    return QP_OK;
}

static qp_status plan_inputs(qp_graph *graph, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        qp_shape *shape = &graph->shapes[input->tensor];
        *shape = (qp_shape){graph->tensors[input->tensor].channels, input->max_h, input->max_w};
        if (qp_shape_elements(shape) > graph->max_elems)
            return refuse_input(graph, i, QP_TOO_LARGE, error,
                                "the declared size has more than max_elems elements");
    }
    return QP_OK;
}

static qp_status plan_shapes(qp_graph *graph, qp_error *error)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
        const char *why = NULL;
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = graph->shapes[node->in[k]];
        qp_status status = qp_graph_plan_node(graph, node, in, NULL, out, &why);
        if (status != QP_OK)
            return refuse_node(graph, i, status == QP_TOO_LARGE ? QP_TOO_LARGE : QP_MODEL_MISMATCH,
                               error, why);
        for (uint32_t k = 0; k < node->n_out; k++)
            graph->shapes[node->out[k]] = out[k];
    }
    return QP_OK;
}

qp_status qp_graph_plan_load(qp_graph *graph, qp_error *error)
{
    qp_status status = plan_channels(graph, error);
    if (status != QP_OK || !graph->sized)
        return status;
    graph->shapes = qp_arena_allocate(&graph->arena, graph->n_tensors, sizeof *graph->shapes);
    if (graph->shapes == NULL)
        return qp_fail_memory(error, "the planned shapes");
    status = plan_inputs(graph, error);
    return status == QP_OK ? plan_shapes(graph, error) : status;
}
