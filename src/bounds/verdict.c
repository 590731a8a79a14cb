/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - which profile and subset a set meets, and why not (sections 7, 8.5 and 9.2). */
#include "bounds/bounds.h"

const char *qp_profile_name(qp_profile profile)
{
    return profile == QP_ACC32 ? "acc32" : "acc64";
}

unsigned qp_profile_width(qp_profile profile, qp_class class)
{
    static const unsigned widths[2][4] = {
        [QP_ACC32] = {[QP_CLASS_TENSOR] = 32,
                      [QP_CLASS_ACC] = 32,
                      [QP_CLASS_WIDE] = 32,
                      [QP_CLASS_PRODUCT] = 64},
        [QP_ACC64] = {[QP_CLASS_TENSOR] = 64,
                      [QP_CLASS_ACC] = 64,
                      [QP_CLASS_WIDE] = 128,
                      [QP_CLASS_PRODUCT] = 128},
    };
    return widths[profile][class];
}

/* ---- one node ----------------------------------------------------------------------------- */

bool qp_bounds_fit(const qp_recorded *recorded, uint32_t n_recorded, const qp_interval *result,
                   uint32_t n_out, qp_profile profile)
{
    for (uint32_t i = 0; i < n_recorded; i++) {
        unsigned width = qp_profile_width(profile, qp_intermediate_class(recorded[i].key));
        if (!qp_interval_fits(&recorded[i].interval, width))
            return false;
    }
    for (uint32_t k = 0; k < n_out; k++)
        if (!qp_interval_fits(&result[k], qp_profile_width(profile, QP_CLASS_TENSOR)))
            return false;
    return true;
}

static bool has_check_output(const qp_graph *graph, const qp_node *node)
{
    for (uint32_t k = 0; k < node->n_out; k++)
        if (graph->tensors[node->out[k]].policy == QP_CHECK)
            return true;
    return false;
}

bool qp_node_fits(const qp_graph_bounds *bounds, uint32_t index, qp_profile profile)
{
    const qp_node *node = &bounds->graph->nodes[index];
    const qp_certified_node *found = &bounds->nodes[index];

    if (found->saturated ||
        !qp_bounds_fit(found->recorded, found->n_recorded, found->result, node->n_out, profile))
        return false;
    return profile == QP_ACC64 ||
           (found->conditions == 0 && !has_check_output(bounds->graph, node));
}

/* The interval of a failing node with the most bits; a tie goes to the smallest key. */
static void widest_failure(const qp_node *node, const qp_certified_node *found, qp_profile profile,
                           qp_failure *failure)
{
    static const char *const out_keys[QP_OUTPUTS_MAX] = {"out.0", "out.1", "out.2", "out.3"};

    for (uint32_t i = 0; i < found->n_recorded + node->n_out; i++) {
        bool recorded = i < found->n_recorded;
        uint32_t k = recorded ? 0 : i - found->n_recorded;
        const qp_interval *interval = recorded ? &found->recorded[i].interval : &found->result[k];
        qp_class class = recorded ? qp_intermediate_class(found->recorded[i].key) : QP_CLASS_TENSOR;
        const char *key = recorded ? qp_intermediate_name(found->recorded[i].key) : out_keys[k];
        unsigned bits = qp_interval_bits(interval);

        if (bits <= qp_profile_width(profile, class) || bits < failure->bits)
            continue;
        if (bits > failure->bits || strcmp(key, failure->key) < 0) {
            failure->bits = bits;
            failure->key = key;
        }
    }
}

static void node_failure(const qp_graph_bounds *bounds, uint32_t index, qp_profile profile,
                         qp_failure *failure)
{
    const qp_certified_node *found = &bounds->nodes[index];

    failure->where = "node";
    failure->index = index;
    if (found->saturated) {
        failure->key = "saturated";
        return;
    }
    widest_failure(&bounds->graph->nodes[index], found, profile, failure);
    if (failure->bits != 0)
        return;
    failure->key = "policy.check";
    for (unsigned c = QP_CONDITION_COUNT; c-- > 0;)
        if ((found->conditions >> c & 1) != 0)
            failure->key = qp_condition_name((qp_condition)c);
}

/* ---- one graph ---------------------------------------------------------------------------- */

static bool range_failure(qp_range range, qp_profile profile, qp_failure *failure)
{
    qp_interval interval = qp_interval_of(range.lo, range.hi);
    unsigned bits = qp_interval_bits(&interval);
    if (bits <= qp_profile_width(profile, QP_CLASS_TENSOR))
        return false;
    failure->key = "range";
    failure->bits = bits;
    return true;
}

bool qp_graph_failure(const qp_graph_bounds *bounds, qp_profile profile, qp_failure *failure)
{
    const qp_graph *graph = bounds->graph;

    *failure = (qp_failure){.role = bounds->role};
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_tensor_record *tensor = &graph->tensors[graph->inputs[i].tensor];
        failure->where = "input";
        failure->index = i;
        if (range_failure((qp_range){tensor->lo, tensor->hi}, profile, failure))
            return true;
    }
    for (uint32_t i = 0; i < graph->n_scalars; i++) {
        failure->where = "scalar";
        failure->index = i;
        if (range_failure(graph->scalars[i], profile, failure))
            return true;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (!qp_node_fits(bounds, i, profile)) {
            node_failure(bounds, i, profile, failure);
            return true;
        }
    return false;
}

/* ---- the set ------------------------------------------------------------------------------ */

int qp_certificate_meets(const qp_certificate *certificate, qp_profile profile, qp_failure *failure)
{
    qp_failure first;
    for (size_t g = 0; g < certificate->n_graphs; g++)
        if (qp_graph_failure(&certificate->graphs[g], profile, &first)) {
            if (failure != NULL)
                *failure = first;
            return 0;
        }
    return 1;
}

uint32_t qp_node_flags(const qp_graph_bounds *bounds, uint32_t index)
{
    const qp_graph *graph = bounds->graph;
    const qp_node *node = &graph->nodes[index];
    uint32_t flags = bounds->nodes[index].npu_flags;

    for (uint32_t k = 0; k < node->n_in && node->op->state_add; k++) {
        qp_origin origin = graph->origins[node->in[k]];
        if (origin.input && graph->inputs[origin.index].state)
            flags |= 1u << QP_NPU_FLAG_STATE_ADD;
    }
    return flags;
}

uint32_t qp_certificate_flags(const qp_certificate *certificate)
{
    uint32_t flags = 0;
    for (size_t g = 0; g < certificate->n_graphs; g++)
        for (uint32_t i = 0; i < certificate->graphs[g].graph->n_nodes; i++)
            flags |= qp_node_flags(&certificate->graphs[g], i);
    return flags;
}

static uint64_t node_reasons(const qp_graph *graph, const qp_node *node)
{
    uint64_t reasons = 0;
    qp_npu_reason why = QP_NPU_INSIDE;

    if (node->op->npu == QP_NPU_NO)
        reasons |= (uint64_t)1 << (QP_REASON_OPERATORS + node->op->opcode - 1);
    if (node->op->npu_reason != NULL)
        why = node->op->npu_reason(node->params, graph->tensors[node->in[0]].channels);
    if (why == QP_NPU_CONV_GROUPS)
        reasons |= (uint64_t)1 << QP_REASON_CONV_GROUPS;
    if (why == QP_NPU_CROP_SCALAR)
        reasons |= (uint64_t)1 << QP_REASON_CROP_SCALAR;
    return reasons;
}

uint64_t qp_certificate_reasons(const qp_certificate *certificate)
{
    uint64_t reasons = 0;
    if (!qp_certificate_meets(certificate, QP_ACC32, NULL))
        reasons |= (uint64_t)1 << QP_REASON_ACC32;
    for (size_t g = 0; g < certificate->n_graphs; g++) {
        const qp_graph *graph = certificate->graphs[g].graph;
        for (uint32_t i = 0; i < graph->n_nodes; i++)
            reasons |= node_reasons(graph, &graph->nodes[i]);
    }
    return reasons;
}

int qp_certificate_npu(const qp_certificate *certificate)
{
    return qp_certificate_reasons(certificate) == 0;
}

int64_t qp_chunk_length(const qp_interval *term)
{
    qp_bound greatest = qp_interval_magnitude(term);
    if (qp_bound_is_zero(&greatest))
        return -1;
    qp_bound length = qp_bound_floor_divide(qp_bound_from_i64(INT32_MAX), greatest);
    return qp_bound_to_i64(&length);
}

/* ---- requiring a profile (section 8.6) ---------------------------------------------------- */

static qp_status fail_profile(const qp_graph_bounds *bounds, qp_profile profile,
                              const qp_failure *failure, qp_error *error)
{
    const char *name = qp_profile_name(profile);
    bool node = strcmp(failure->where, "node") == 0;
    qp_place place = QP_NOWHERE;
    const char *operator_name = "";

    if (node) {
        place.table = QP_TABLE_OPERATORS;
        place.operator_index = failure->index;
        place.offset = (int64_t)bounds->graph->nodes[failure->index].offset;
        operator_name = bounds->graph->nodes[failure->index].op->name;
    } else {
        place.table = strcmp(failure->where, "input") == 0 ? QP_TABLE_INPUTS : QP_TABLE_SCALARS;
        place.record = failure->index;
    }
    bool alone = strcmp(failure->role, "graph") == 0; /* certified on its own */
    if (failure->bits != 0)
        return qp_fail_at(error, QP_MODEL_MISMATCH, place,
                          "%s%s does not meet %s: %s %u%s%s needs %u bits for %s",
                          alone ? "the " : "role ", failure->role, name, failure->where,
                          failure->index, node ? ", " : "", operator_name, failure->bits,
                          failure->key);
    return qp_fail_at(error, QP_MODEL_MISMATCH, place, "%s%s does not meet %s: %s %u%s%s fails %s",
                      alone ? "the " : "role ", failure->role, name, failure->where, failure->index,
                      node ? ", " : "", operator_name, failure->key);
}

qp_status qp_bounds_require(const qp_graph_bounds *bounds, qp_profile profile, qp_error *error)
{
    qp_failure failure;
    if (!qp_graph_failure(bounds, profile, &failure))
        return QP_OK;
    return fail_profile(bounds, profile, &failure, error);
}

static const qp_graph_bounds *find_role(const qp_certificate *certificate, const char *role)
{
    for (size_t g = 0; g < certificate->n_graphs; g++)
        if (strcmp(certificate->graphs[g].role, role) == 0)
            return &certificate->graphs[g];
    return NULL;
}

qp_status qp_certificate_require(const qp_certificate *certificate, qp_profile profile,
                                 const qp_role_profile *roles, size_t n_roles, qp_error *error)
{
    for (size_t g = 0; g < certificate->n_graphs; g++) {
        qp_status status = qp_bounds_require(&certificate->graphs[g], profile, error);
        if (status != QP_OK)
            return status;
    }
    for (size_t r = 0; r < n_roles; r++) {
        const qp_graph_bounds *bounds = find_role(certificate, roles[r].role);
        if (bounds == NULL)
            return qp_fail(error, QP_MODEL_MISMATCH, "the set has no role %s", roles[r].role);
        qp_status status = qp_bounds_require(bounds, roles[r].profile, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}
