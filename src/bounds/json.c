/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - a certificate's canonical JSON (section 8.5): members in ascending order of their keys,
 * every integer a decimal string, no space.
 */
#include "base/json.h"
#include "bounds/bounds.h"

/* A string's value, quoted; names were checked to be printable ASCII, so only '"' and '\\' need an
 * escape, as section 8.5 has it. */
static void put_text(qp_buffer *b, const char *text)
{
    qp_buffer_json_string(b, text, strlen(text));
}

static void put_text_or_null(qp_buffer *b, const char *text)
{
    if (text == NULL)
        qp_buffer_text(b, "null");
    else
        put_text(b, text);
}

static void put_i64(qp_buffer *b, int64_t value)
{
    qp_buffer_text(b, "\"");
    qp_buffer_i64_decimal(b, value);
    qp_buffer_text(b, "\"");
}

static void put_bound(qp_buffer *b, const qp_bound *bound)
{
    char text[QP_BOUND_TEXT_SIZE];
    put_text(b, qp_bound_text(bound, text));
}

static void put_bool(qp_buffer *b, bool value)
{
    qp_buffer_text(b, value ? "true" : "false");
}

/* A comma before every element but the first. */
static void put_comma(qp_buffer *b, bool *first)
{
    if (!*first)
        qp_buffer_text(b, ",");
    *first = false;
}

/* "bits":"9","hi":"255","lo":"0" without the braces. */
static void put_interval_members(qp_buffer *b, const qp_interval *interval)
{
    qp_buffer_text(b, "\"bits\":");
    put_i64(b, qp_interval_bits(interval));
    qp_buffer_text(b, ",\"hi\":");
    put_bound(b, &interval->hi);
    qp_buffer_text(b, ",\"lo\":");
    put_bound(b, &interval->lo);
}

static void put_flags(qp_buffer *b, uint32_t flags)
{
    bool first = true;
    qp_buffer_text(b, "[");
    for (unsigned f = 0; f < QP_NPU_FLAG_COUNT; f++)
        if ((flags >> f & 1) != 0) {
            put_comma(b, &first);
            put_text(b, qp_npu_flag_name((qp_npu_flag)f));
        }
    qp_buffer_text(b, "]");
}

/* ---- inputs and scalars ------------------------------------------------------------------- */

static void put_input(qp_buffer *b, const qp_graph *graph, const qp_graph_input_record *input)
{
    const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];

    qp_buffer_text(b, "{\"hi\":");
    put_i64(b, tensor->hi);
    if (input->state) {
        qp_buffer_text(b, ",\"init\":");
        put_i64(b, input->init);
    }
    qp_buffer_text(b, input->state ? ",\"kind\":\"state\",\"lo\":" : ",\"kind\":\"data\",\"lo\":");
    put_i64(b, tensor->lo);
    qp_buffer_text(b, ",\"max_h\":");
    put_i64(b, input->max_h);
    qp_buffer_text(b, ",\"max_w\":");
    put_i64(b, input->max_w);
    qp_buffer_text(b, ",\"policy\":");
    put_text(b, qp_policy_name(tensor->policy));
    if (input->state) {
        qp_buffer_text(b, ",\"src\":");
        put_i64(b, input->src);
    }
    qp_buffer_text(b, ",\"tensor\":");
    put_i64(b, input->tensor);
    qp_buffer_text(b, "}");
}

static void put_scalar(qp_buffer *b, uint32_t index, qp_range range)
{
    qp_buffer_text(b, "{\"hi\":");
    put_i64(b, range.hi);
    qp_buffer_text(b, ",\"index\":");
    put_i64(b, index);
    qp_buffer_text(b, ",\"lo\":");
    put_i64(b, range.lo);
    qp_buffer_text(b, "}");
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void put_conditions(qp_buffer *b, uint32_t conditions)
{
    bool first = true;
    qp_buffer_text(b, "[");
    for (unsigned c = 0; c < QP_CONDITION_COUNT; c++)
        if ((conditions >> c & 1) != 0) {
            put_comma(b, &first);
            put_text(b, qp_condition_name((qp_condition)c));
        }
    qp_buffer_text(b, "]");
}

static const qp_interval *find(const qp_certified_node *node, qp_intermediate key)
{
    for (uint32_t i = 0; i < node->n_recorded; i++)
        if (node->recorded[i].key == key)
            return &node->recorded[i].interval;
    return NULL;
}

/* The keys stand in ascending order in the enumeration itself. */
static void put_intermediates(qp_buffer *b, const qp_certified_node *node)
{
    bool first = true;
    qp_buffer_text(b, "{");
    for (unsigned key = 0; key < QP_INTERMEDIATE_COUNT; key++) {
        const qp_interval *interval = find(node, (qp_intermediate)key);
        if (interval == NULL)
            continue;
        put_comma(b, &first);
        put_text(b, qp_intermediate_name((qp_intermediate)key));
        qp_buffer_text(b, ":{");
        put_interval_members(b, interval);
        qp_buffer_text(b, "}");
    }
    qp_buffer_text(b, "}");
}

static void put_mac(qp_buffer *b, const qp_graph_bounds *bounds, uint32_t index)
{
    const qp_node *node = &bounds->graph->nodes[index];
    qp_range weights = bounds->nodes[index].weights;

    qp_buffer_text(b, ",\"mac\":{\"a_bits\":[");
    for (uint32_t k = 0; k < node->n_in; k++) {
        if (k > 0)
            qp_buffer_text(b, ",");
        put_i64(b, qp_interval_bits(&bounds->tensors[node->in[k]]));
    }
    qp_buffer_text(b, "]");
    if (weights.lo <= weights.hi) {
        qp_interval interval = qp_interval_of(weights.lo, weights.hi);
        qp_buffer_text(b, ",\"w_bits\":");
        put_i64(b, qp_interval_bits(&interval));
    }
    qp_buffer_text(b, "}");
}

static void put_output(qp_buffer *b, const qp_graph_bounds *bounds, uint32_t tensor,
                       const qp_interval *result)
{
    qp_buffer_text(b, "{");
    put_interval_members(b, &bounds->tensors[tensor]);
    qp_buffer_text(b, ",\"policy\":");
    put_text(b, qp_policy_name(bounds->graph->tensors[tensor].policy));
    qp_buffer_text(b, ",\"result\":{");
    put_interval_members(b, result);
    qp_buffer_text(b, "},\"tensor\":");
    put_i64(b, tensor);
    qp_buffer_text(b, "}");
}

static void put_chunk_length(qp_buffer *b, const qp_interval *term)
{
    int64_t length = qp_chunk_length(term);
    qp_buffer_text(b, ",\"k_c\":");
    if (length < 0)
        qp_buffer_text(b, "\"unbounded\"");
    else
        put_i64(b, length);
}

static void put_node(qp_buffer *b, const qp_graph_bounds *bounds, uint32_t index)
{
    const qp_node *node = &bounds->graph->nodes[index];
    const qp_certified_node *found = &bounds->nodes[index];
    bool first = true;

    qp_buffer_text(b, "{\"acc32_params\":");
    put_conditions(b, found->conditions);
    qp_buffer_text(b, ",\"fits\":[");
    for (int profile = QP_ACC32; profile <= QP_ACC64; profile++)
        if (qp_node_fits(bounds, index, (qp_profile)profile)) {
            put_comma(b, &first);
            put_text(b, qp_profile_name((qp_profile)profile));
        }
    qp_buffer_text(b, "],\"index\":");
    put_i64(b, index);
    qp_buffer_text(b, ",\"intermediates\":");
    put_intermediates(b, found);
    if (node->op->k_c != QP_INTERMEDIATE_COUNT)
        put_chunk_length(b, find(found, node->op->k_c));
    if (node->op->has_mac)
        put_mac(b, bounds, index);
    qp_buffer_text(b, ",\"npu_flags\":");
    put_flags(b, qp_node_flags(bounds, index));
    qp_buffer_text(b, ",\"op\":");
    put_text(b, node->op->name);
    qp_buffer_text(b, ",\"out\":[");
    for (uint32_t k = 0; k < node->n_out; k++) {
        if (k > 0)
            qp_buffer_text(b, ",");
        put_output(b, bounds, node->out[k], &found->result[k]);
    }
    qp_buffer_text(b, "],\"saturated\":");
    put_bool(b, found->saturated);
    qp_buffer_text(b, "}");
}

/* ---- graphs and the verdict --------------------------------------------------------------- */

static void put_graph(qp_buffer *b, const qp_graph_bounds *bounds)
{
    const qp_graph *graph = bounds->graph;
    char digest[QP_SHA256_HEX_SIZE];

    qp_graph_digest(graph, digest);
    qp_buffer_text(b, "{\"graph_sha256\":");
    put_text(b, digest);
    qp_buffer_text(b, ",\"inputs\":[");
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        if (i > 0)
            qp_buffer_text(b, ",");
        put_input(b, graph, &graph->inputs[i]);
    }
    qp_buffer_text(b, "],\"name\":");
    put_text(b, bounds->role);
    qp_buffer_text(b, ",\"nodes\":[");
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (i > 0)
            qp_buffer_text(b, ",");
        put_node(b, bounds, i);
    }
    qp_buffer_text(b, "],\"scalars\":[");
    for (uint32_t i = 0; i < graph->n_scalars; i++) {
        if (i > 0)
            qp_buffer_text(b, ",");
        put_scalar(b, i, graph->scalars[i]);
    }
    qp_buffer_text(b, "]}");
}

static void put_profile(qp_buffer *b, const qp_certificate *certificate, qp_profile profile)
{
    qp_failure failure;
    bool meets = qp_certificate_meets(certificate, profile, &failure) != 0;

    put_text(b, qp_profile_name(profile));
    qp_buffer_text(b, ":");
    put_bool(b, meets);
    if (meets)
        return;
    qp_buffer_format(b, ",\"%s_first_failure\":{", qp_profile_name(profile));
    if (failure.bits != 0)
        qp_buffer_format(b, "\"bits\":\"%u\",", failure.bits);
    qp_buffer_text(b, "\"graph\":");
    put_text(b, failure.role);
    qp_buffer_format(b, ",\"index\":\"%u\",\"key\":", failure.index);
    put_text(b, failure.key);
    qp_buffer_text(b, ",\"where\":");
    put_text(b, failure.where);
    qp_buffer_text(b, "}");
}

/* The operators' reasons in ascending order of their names, after the three others. */
static void put_reasons(qp_buffer *b, uint64_t reasons)
{
    static const char *const fixed[QP_REASON_OPERATORS] = {
        [QP_REASON_ACC32] = "acc32",
        [QP_REASON_CONV_GROUPS] = "conv_groups",
        [QP_REASON_CROP_SCALAR] = "crop_scalar",
    };
    bool first = true;
    qp_buffer_text(b, "[");
    for (unsigned r = 0; r < QP_REASON_OPERATORS; r++)
        if ((reasons >> r & 1) != 0) {
            put_comma(b, &first);
            put_text(b, fixed[r]);
        }
    for (const char *last = "";;) {
        const char *next = NULL;
        for (unsigned k = 0; k < QP_OPERATOR_COUNT; k++) {
            const char *name = qp_operators[k]->name;
            bool listed = (reasons >> (QP_REASON_OPERATORS + k) & 1) != 0;
            if (listed && strcmp(name, last) > 0 && (next == NULL || strcmp(name, next) < 0))
                next = name;
        }
        if (next == NULL)
            break;
        put_comma(b, &first);
        qp_buffer_format(b, "\"op:%s\"", next);
        last = next;
    }
    qp_buffer_text(b, "]");
}

void qp_certificate_append(const qp_certificate *certificate, qp_buffer *b)
{
    uint64_t reasons = qp_certificate_reasons(certificate);

    qp_buffer_text(b, "{\"capability\":");
    put_text_or_null(b, certificate->capability);
    qp_buffer_text(b, ",\"certificate\":\"wai-ops/1 bounds\",\"graphs\":[");
    for (size_t g = 0; g < certificate->n_graphs; g++) {
        if (g > 0)
            qp_buffer_text(b, ",");
        put_graph(b, &certificate->graphs[g]);
    }
    qp_buffer_text(b, "],\"lowering\":");
    put_text(b, certificate->lowering);
    qp_buffer_text(b, ",\"set_sha256\":");
    put_text_or_null(b, certificate->set_sha256);
    qp_buffer_text(b, ",\"verdict\":{");
    put_profile(b, certificate, QP_ACC32);
    qp_buffer_text(b, ",");
    put_profile(b, certificate, QP_ACC64);
    qp_buffer_text(b, ",\"npu\":");
    put_bool(b, reasons == 0);
    qp_buffer_text(b, ",\"npu_flags\":");
    put_flags(b, qp_certificate_flags(certificate));
    qp_buffer_text(b, ",\"npu_reasons\":");
    put_reasons(b, reasons);
    qp_buffer_text(b, "}}");
}

qp_status qp_certificate_json(const qp_certificate *certificate, const qp_allocator *allocator,
                              char **bytes, size_t *size, qp_error *error)
{
    qp_buffer buffer;
    qp_buffer_init(&buffer, allocator);
    qp_certificate_append(certificate, &buffer);
    *bytes = qp_buffer_take(&buffer, size);
    return *bytes == NULL ? qp_fail_memory(error, "the certificate's bytes") : QP_OK;
}
