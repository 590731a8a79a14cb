/* SPDX-License-Identifier: Apache-2.0 */
/* info_graph.c - what quipu info says of a WHG1 graph, as text and as JSON. */
#include "cli/info_graph.h"

#include "cli/text_table.h"

#include <inttypes.h>
#include <stdio.h>

enum { LINE = 100 };

/* The text of a buffer that was written for one table cell. */
static const char *cell(qp_buffer *buffer)
{
    qp_buffer_append(buffer, "", 1);
    return buffer->failed ? "" : (const char *)buffer->bytes;
}

static void clear(qp_buffer *buffer)
{
    buffer->size = 0;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static uint64_t array_bytes(const qp_graph *graph)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        bytes += qp_describe_array_bytes(&graph->nodes[i]);
    return bytes;
}

/* ---- text --------------------------------------------------------------------------------- */

static void put_counts(const qp_graph *graph, qp_buffer *text)
{
    char digest[QP_SHA256_HEX_SIZE];

    qp_graph_digest(graph, digest);
    qp_buffer_format(text, "  sha256  %s\n", digest);
    qp_buffer_format(text, "  holds   %u input%s, %u scalar%s, %u output%s, %u tensor%s, ",
                     graph->n_inputs, plural(graph->n_inputs), graph->n_scalars,
                     plural(graph->n_scalars), graph->n_outputs, plural(graph->n_outputs),
                     graph->n_tensors, plural(graph->n_tensors));
    qp_buffer_format(text, "%u operator%s\n  arrays  ", graph->n_nodes, plural(graph->n_nodes));
    qp_buffer_u64_decimal(text, array_bytes(graph));
    qp_buffer_format(text, " bytes of weights and tables; a tensor holds at most %u elements\n",
                     graph->max_elems);
}

static void put_inputs(const qp_graph *graph, qp_buffer *text)
{
    qp_text_table table;

    qp_text_table_init(&table, "rrllll");
    qp_text_table_row(&table, "#\ttensor\tshape\tkind\tpolicy\trange");
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];
        char shape[48], kind[64] = "data";

        if (input->max_h > 0)
            snprintf(shape, sizeof shape, "%ux%ux%u at most", tensor->channels, input->max_h,
                     input->max_w);
        else
            snprintf(shape, sizeof shape, "%u ch, any size", tensor->channels);
        if (input->state)
            snprintf(kind, sizeof kind, "state: output %u, first %" PRId64, input->src,
                     input->init);
        qp_text_table_row(&table, "%u\t%u\t%s\t%s\t%s\t%" PRId64 "..%" PRId64, i, input->tensor,
                          shape, kind, tensor->policy == QP_CHECK ? "check" : "clamp", tensor->lo,
                          tensor->hi);
    }
    qp_buffer_text(text, "\ninputs\n");
    qp_text_table_print(&table, LINE, text);
}

static void put_scalars(const qp_graph *graph, qp_buffer *text)
{
    qp_text_table table;

    if (graph->n_scalars == 0)
        return;
    qp_text_table_init(&table, "rl");
    qp_text_table_row(&table, "#\trange");
    for (uint32_t i = 0; i < graph->n_scalars; i++)
        qp_text_table_row(&table, "%u\t%" PRId64 "..%" PRId64, i, graph->scalars[i].lo,
                          graph->scalars[i].hi);
    qp_buffer_text(text, "\nscalars\n");
    qp_text_table_print(&table, LINE, text);
}

static void put_outputs(const qp_graph_bounds *bounds, qp_buffer *text)
{
    const qp_graph *graph = bounds->graph;
    qp_text_table table;
    qp_buffer shape, range;

    qp_buffer_init(&shape, NULL);
    qp_buffer_init(&range, NULL);
    qp_text_table_init(&table, "rrlrl");
    qp_text_table_row(&table, "#\ttensor\tshape\tbits\tcertified range");
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        uint32_t tensor = graph->outputs[i];
        clear(&shape);
        clear(&range);
        qp_describe_shape(graph, tensor, &shape);
        qp_describe_interval(&bounds->tensors[tensor], &range);
        qp_text_table_row(&table, "%u\t%u\t%s\t%u\t%s", i, tensor, cell(&shape),
                          qp_interval_bits(&bounds->tensors[tensor]), cell(&range));
    }
    qp_buffer_text(text, "\noutputs\n");
    qp_text_table_print(&table, LINE, text);
    qp_buffer_free(&shape);
    qp_buffer_free(&range);
}

static bool same(const qp_interval *a, const qp_interval *b)
{
    return qp_bound_compare(&a->lo, &b->lo) == 0 && qp_bound_compare(&a->hi, &b->hi) == 0;
}

/* The certified interval of each output, after its policy; once where all are the same. */
static void put_ranges(const qp_graph_bounds *bounds, const qp_node *node, qp_buffer *text)
{
    const qp_interval *first = &bounds->tensors[node->out[0]];
    uint32_t count = 1;

    for (uint32_t k = 1; k < node->n_out; k++)
        if (!same(first, &bounds->tensors[node->out[k]]))
            count = node->n_out;
    for (uint32_t k = 0; k < count; k++) {
        qp_buffer_text(text, k > 0 ? " " : "");
        qp_describe_interval_short(&bounds->tensors[node->out[k]], text);
    }
}

enum { TENSORS, SHAPE, RANGE, PARAMETERS, CELLS };

static void put_operator(const qp_graph_bounds *bounds, uint32_t index, qp_text_table *table,
                         qp_buffer cells[CELLS])
{
    const qp_node *node = &bounds->graph->nodes[index];
    static const char *const profiles[] = {
        [QP_FIT_BOTH] = "32 64", [QP_FIT_ACC64] = "64", [QP_FIT_NEITHER] = "none"};
    qp_fact fact = qp_fact_tightest(bounds, index);

    for (int i = 0; i < CELLS; i++)
        clear(&cells[i]);
    qp_describe_indices(node->in, node->n_in, &cells[TENSORS]);
    qp_buffer_text(&cells[TENSORS], " -> ");
    qp_describe_indices(node->out, node->n_out, &cells[TENSORS]);
    qp_describe_shape(bounds->graph, node->out[0], &cells[SHAPE]);
    put_ranges(bounds, node, &cells[RANGE]);
    qp_describe_parameters(bounds->graph, node, &cells[PARAMETERS]);
    qp_text_table_row(table, "%u\t%s\t%s\t%s\t%" PRIu64 "\t%s\t%3u %s\t%s\t%s", index,
                      node->op->name, cell(&cells[TENSORS]), cell(&cells[SHAPE]),
                      qp_describe_array_bytes(node), cell(&cells[RANGE]), fact.bits, fact.key,
                      profiles[qp_fit_of_node(bounds, index)], cell(&cells[PARAMETERS]));
}

static void put_operators(const qp_graph_bounds *bounds, qp_buffer *text)
{
    qp_text_table table;
    qp_buffer cells[CELLS];

    for (int i = 0; i < CELLS; i++)
        qp_buffer_init(&cells[i], NULL);
    qp_text_table_init(&table, "rlLlrllll");
    qp_text_table_row(&table, "#\toperator\ttensors\tshape\tarrays\trange\twidest\tacc\t"
                              "parameters");
    for (uint32_t i = 0; i < bounds->graph->n_nodes; i++)
        put_operator(bounds, i, &table, cells);
    qp_buffer_text(text, "\noperators\n");
    qp_text_table_print(&table, LINE, text);
    for (int i = 0; i < CELLS; i++)
        qp_buffer_free(&cells[i]);
}

static void put_verdict(const qp_certificate *certificate, qp_buffer *text)
{
    qp_buffer_text(text, "\nverdict\n  acc64   ");
    qp_describe_profile(certificate, QP_ACC64, text);
    qp_buffer_text(text, "\n  acc32   ");
    qp_describe_profile(certificate, QP_ACC32, text);
    qp_buffer_text(text, "\n  npu     ");
    qp_describe_npu(certificate, text);
    qp_buffer_text(text, "\n  flags   ");
    qp_describe_flags(qp_certificate_flags(certificate), text);
    qp_buffer_text(text, "\n");
}

static void put_text(const qp_certificate *certificate, qp_buffer *text)
{
    const qp_graph_bounds *bounds = &certificate->graphs[0];
    put_counts(bounds->graph, text);
    put_inputs(bounds->graph, text);
    put_scalars(bounds->graph, text);
    put_outputs(bounds, text);
    put_operators(bounds, text);
    put_verdict(certificate, text);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_json_interval(const qp_interval *interval, qp_buffer *text)
{
    char digits[QP_BOUND_TEXT_SIZE];
    qp_buffer_format(text, "\"lo\":\"%s\"", qp_bound_text(&interval->lo, digits));
    qp_buffer_format(text, ",\"hi\":\"%s\"", qp_bound_text(&interval->hi, digits));
    qp_buffer_format(text, ",\"bits\":%u", qp_interval_bits(interval));
}

static void put_json_tensor(const qp_graph_bounds *bounds, uint32_t tensor, qp_buffer *text)
{
    const qp_graph *graph = bounds->graph;

    qp_buffer_format(text, "\"tensor\":%u,\"channels\":%u,", tensor,
                     graph->tensors[tensor].channels);
    if (graph->sized)
        qp_buffer_format(text, "\"max_h\":%u,\"max_w\":%u,", graph->shapes[tensor].height,
                         graph->shapes[tensor].width);
    qp_buffer_format(text, "\"policy\":\"%s\",", qp_policy_name(graph->tensors[tensor].policy));
    put_json_interval(&bounds->tensors[tensor], text);
}

static void put_json_inputs(const qp_graph_bounds *bounds, qp_buffer *text)
{
    const qp_graph *graph = bounds->graph;
    qp_buffer_text(text, ",\"inputs\":[");
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        qp_buffer_format(text, "%s{\"kind\":\"%s\",", i > 0 ? "," : "",
                         input->state ? "state" : "data");
        if (input->state)
            qp_buffer_format(text, "\"src\":%u,\"init\":\"%" PRId64 "\",", input->src, input->init);
        put_json_tensor(bounds, input->tensor, text);
        qp_buffer_text(text, "}");
    }
    qp_buffer_text(text, "],\"scalars\":[");
    for (uint32_t i = 0; i < graph->n_scalars; i++)
        qp_buffer_format(text, "%s{\"lo\":\"%" PRId64 "\",\"hi\":\"%" PRId64 "\"}",
                         i > 0 ? "," : "", graph->scalars[i].lo, graph->scalars[i].hi);
    qp_buffer_text(text, "],\"outputs\":[");
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        qp_buffer_text(text, i > 0 ? ",{" : "{");
        put_json_tensor(bounds, graph->outputs[i], text);
        qp_buffer_text(text, "}");
    }
    qp_buffer_text(text, "]");
}

static void put_json_operator(const qp_graph_bounds *bounds, uint32_t index, qp_buffer *text)
{
    const qp_node *node = &bounds->graph->nodes[index];
    qp_fact fact = qp_fact_tightest(bounds, index);
    bool first = true;

    qp_buffer_format(text, "{\"index\":%u,\"operator\":\"%s\",\"in\":[", index, node->op->name);
    for (uint32_t k = 0; k < node->n_in; k++)
        qp_buffer_format(text, "%s%u", k > 0 ? "," : "", node->in[k]);
    qp_buffer_text(text, "],\"out\":[");
    for (uint32_t k = 0; k < node->n_out; k++) {
        qp_buffer_text(text, k > 0 ? ",{" : "{");
        put_json_tensor(bounds, node->out[k], text);
        qp_buffer_text(text, "}");
    }
    qp_buffer_text(text, "],\"parameters\":\"");
    qp_describe_parameters(bounds->graph, node, text); /* no character that JSON escapes */
    qp_buffer_format(text, "\",\"array_bytes\":%" PRIu64 ",\"widest\":{\"key\":\"%s\",",
                     qp_describe_array_bytes(node), fact.key);
    put_json_interval(fact.interval, text);
    qp_buffer_text(text, "},\"fits\":[");
    for (int profile = QP_ACC32; profile <= QP_ACC64; profile++)
        if (qp_node_fits(bounds, index, (qp_profile)profile)) {
            qp_buffer_format(text, "%s\"%s\"", first ? "" : ",",
                             qp_profile_name((qp_profile)profile));
            first = false;
        }
    qp_buffer_text(text, "]}");
}

static void put_json_failure(const qp_certificate *certificate, qp_profile profile, qp_buffer *text)
{
    qp_failure failure;
    const char *name = qp_profile_name(profile);
    bool meets = qp_certificate_meets(certificate, profile, &failure) != 0;

    qp_buffer_format(text, "\"%s\":%s,", name, meets ? "true" : "false");
    if (meets)
        return;
    qp_buffer_format(text, "\"%s_first_failure\":{\"where\":\"%s\",\"index\":%u,\"key\":\"%s\"",
                     name, failure.where, failure.index, failure.key);
    if (failure.bits != 0)
        qp_buffer_format(text, ",\"bits\":%u", failure.bits);
    qp_buffer_text(text, "},");
}

static void put_json(const qp_certificate *certificate, qp_buffer *text)
{
    const qp_graph_bounds *bounds = &certificate->graphs[0];
    const qp_graph *graph = bounds->graph;
    char digest[QP_SHA256_HEX_SIZE];

    qp_graph_digest(graph, digest);
    qp_buffer_format(text,
                     ",\"sha256\":\"%s\",\"tensors\":%u,\"max_elems\":%u,\"array_bytes\":", digest,
                     graph->n_tensors, graph->max_elems);
    qp_buffer_u64_decimal(text, array_bytes(graph));
    put_json_inputs(bounds, text);
    qp_buffer_text(text, ",\"operators\":[");
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        qp_buffer_text(text, i > 0 ? "," : "");
        put_json_operator(bounds, i, text);
    }
    qp_buffer_text(text, "],\"verdict\":{");
    put_json_failure(certificate, QP_ACC64, text);
    put_json_failure(certificate, QP_ACC32, text);
    qp_buffer_format(text, "\"npu\":%s,\"npu_reasons\":\"",
                     qp_certificate_npu(certificate) ? "true" : "false");
    qp_describe_reasons(certificate, text);
    qp_buffer_text(text, "\",\"npu_flags\":[");
    uint32_t flags = qp_certificate_flags(certificate);
    bool first = true;
    for (unsigned f = 0; f < QP_NPU_FLAG_COUNT; f++)
        if ((flags >> f & 1) != 0) {
            qp_buffer_format(text, "%s\"%s\"", first ? "" : ",", qp_npu_flag_name((qp_npu_flag)f));
            first = false;
        }
    qp_buffer_text(text, "]}");
}

qp_status qp_info_graph(const qp_file *file, bool json, qp_buffer *text, qp_error *error)
{
    qp_graph *graph = NULL;
    qp_certificate *certificate = NULL;
    qp_status status = qp_graph_load(file->bytes, file->size, NULL, &graph, error);
    if (status == QP_OK)
        status = qp_certify(graph, NULL, &certificate, error);
    if (status == QP_OK) {
        if (json)
            put_json(certificate, text);
        else
            put_text(certificate, text);
    }
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    return status;
}
