/* SPDX-License-Identifier: Apache-2.0 */
/* describe_verdict.c - a verdict in words, and what can be done about a failure. */
#include "cli/describe.h"

/* The graph that a failure names. */
static const qp_graph_bounds *failed_graph(const qp_certificate *certificate,
                                           const qp_failure *failure)
{
    for (size_t g = 0; g + 1 < certificate->n_graphs; g++)
        if (strcmp(certificate->graphs[g].role, failure->role) == 0)
            return &certificate->graphs[g];
    return &certificate->graphs[certificate->n_graphs - 1];
}

static bool is_node(const qp_failure *failure)
{
    return strcmp(failure->where, "node") == 0;
}

/* The interval that fails, with its class; `interval` is NULL where the key carries no bits. */
static qp_fact failing_fact(const qp_graph_bounds *bounds, const qp_failure *failure)
{
    qp_fact none = {failure->key, NULL, QP_CLASS_TENSOR, failure->bits};
    for (uint32_t i = 0; is_node(failure) && i < qp_fact_count(bounds, failure->index); i++) {
        qp_fact fact = qp_fact_at(bounds, failure->index, i);
        if (strcmp(fact.key, failure->key) == 0)
            return fact;
    }
    return none;
}

void qp_describe_profile(const qp_certificate *certificate, qp_profile profile, qp_buffer *text)
{
    qp_failure failure;
    if (qp_certificate_meets(certificate, profile, &failure)) {
        qp_buffer_text(text, "yes");
        return;
    }
    const qp_graph_bounds *bounds = failed_graph(certificate, &failure);
    qp_buffer_text(text, "no: ");
    if (certificate->n_graphs > 1)
        qp_buffer_format(text, "graph %s, ", failure.role);
    qp_buffer_format(text, "%s %u", failure.where, failure.index);
    if (is_node(&failure))
        qp_buffer_format(text, ", %s,", bounds->graph->nodes[failure.index].op->name);
    if (failure.bits == 0) {
        qp_buffer_format(text, " fails %s", failure.key);
        return;
    }
    qp_buffer_format(text, " needs %u bits for %s; %s has %u", failure.bits,
                     is_node(&failure) ? failure.key : "its range", qp_profile_name(profile),
                     qp_profile_width(profile, failing_fact(bounds, &failure).class));
}

/* ---- advice ------------------------------------------------------------------------------- */

/* The keys that carry no bits, and what to do about each. */
static const struct {
    const char *key, *advice;
} remedies[] = {
    {"saturated", "A bound passes 2^255 here. Clamp what the operator reads to a narrower range."},
    {"policy.check",
     "Under acc32 only graph inputs may refuse a value. Give the output the policy clamp or "
     "derived."},
    {"rq.mult", "A multiplier does not fit 32 bits. Halve it and take one off the shift."},
    {"rq.shift", "A shift passes 63. Halve the multiplier once for each step above it."},
    {"rq.post_bias", "A post bias does not fit 32 bits. Make the output's scale coarser."},
    {"weights", "A weight does not fit 32 bits. Make the weights' scale coarser."},
    {"chscale.m", "An entry of M does not fit 32 bits. Halve M and take one off the shift."},
    {"chscale.s", "The shift passes 63. Halve M once for each step above it."},
    {"igdn.gamma", "A gamma does not fit 32 bits. Halve gamma and take one off gf."},
    {"igdn.shift", "gf or frac passes 63. Use fewer fractional bits."},
    {"leaky.a", "The slope a does not fit 32 bits. Halve it and take one off f."},
};

static void advise_key(const char *key, qp_buffer *text)
{
    for (size_t i = 0; i < QP_COUNT(remedies); i++)
        if (strcmp(remedies[i].key, key) == 0)
            qp_buffer_format(text, "%s\n", remedies[i].advice);
}

/* The range of one input on which the failing operator, and all others that read it, would fit. */
static void advise_input(const qp_certificate *certificate, const qp_graph_bounds *bounds,
                         uint32_t tensor, qp_profile profile, qp_buffer *text)
{
    int64_t lo, hi;
    size_t graph = (size_t)(bounds - certificate->graphs);

    qp_buffer_format(text, "It reads tensor %u, which is certified to ", tensor);
    qp_describe_interval(&bounds->tensors[tensor], text);
    if (!qp_certificate_admissible(certificate, graph, tensor, profile, &lo, &hi)) {
        qp_buffer_format(text, "; no range of that tensor alone brings its readers under %s.\n",
                         qp_profile_name(profile));
        return;
    }
    qp_buffer_format(text, "; its readers meet %s while it stays within ",
                     qp_profile_name(profile));
    qp_interval admissible = qp_interval_of(lo, hi);
    qp_describe_interval(&admissible, text);
    qp_buffer_text(text, ".\n");
}

/* Whether an earlier input of the node is the same tensor. */
static bool is_repeated(const qp_node *node, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (node->in[i] == node->in[k])
            return true;
    return false;
}

static void advise_interval(const qp_certificate *certificate, const qp_graph_bounds *bounds,
                            const qp_failure *failure, qp_profile profile, qp_buffer *text)
{
    enum { MOST_INPUTS = 4 }; /* of which an admissible range is sought */
    const qp_node *node = &bounds->graph->nodes[failure->index];
    qp_fact fact = failing_fact(bounds, failure);
    int over = -qp_fact_room(&fact, profile);

    qp_buffer_format(text, "%s can take any value of ", fact.key);
    qp_describe_interval(fact.interval, text);
    qp_buffer_format(text, ": %u bits, %d more than the %u that %s has.\n", fact.bits, over,
                     qp_profile_width(profile, fact.class), qp_profile_name(profile));
    for (uint32_t k = 0; k < node->n_in && k < MOST_INPUTS; k++)
        if (!is_repeated(node, k))
            advise_input(certificate, bounds, node->in[k], profile, text);
    qp_buffer_text(text, "Clamp what it reads, or give its parameters or its input a coarser "
                         "scale.\n");
}

void qp_describe_advice(const qp_certificate *certificate, qp_profile profile, qp_buffer *text)
{
    qp_failure failure;
    if (qp_certificate_meets(certificate, profile, &failure))
        return;
    const qp_graph_bounds *bounds = failed_graph(certificate, &failure);
    if (!is_node(&failure))
        qp_buffer_format(text,
                         "Its declared range needs %u bits; %s has %u. Declare the range "
                         "that really occurs.\n",
                         failure.bits, qp_profile_name(profile),
                         qp_profile_width(profile, QP_CLASS_TENSOR));
    else if (failure.bits == 0)
        advise_key(failure.key, text);
    else
        advise_interval(certificate, bounds, &failure, profile, text);
}

/* ---- the accelerator subset --------------------------------------------------------------- */

static void put_reason(qp_buffer *text, bool *first, const char *before, const char *what)
{
    qp_buffer_format(text, "%s%s%s", *first ? "" : "; ", before, what);
    *first = false;
}

void qp_describe_reasons(const qp_certificate *certificate, qp_buffer *text)
{
    uint64_t reasons = qp_certificate_reasons(certificate);
    bool first = true;

    if ((reasons >> QP_REASON_ACC32 & 1) != 0)
        put_reason(text, &first, "", "it does not meet acc32");
    if ((reasons >> QP_REASON_CONV_GROUPS & 1) != 0)
        put_reason(text, &first, "", "a conv has groups and is not depthwise");
    if ((reasons >> QP_REASON_CROP_SCALAR & 1) != 0)
        put_reason(text, &first, "", "a crop takes its window from a scalar");
    for (unsigned k = 0; k < QP_OPERATOR_COUNT; k++)
        if ((reasons >> (QP_REASON_OPERATORS + k) & 1) != 0)
            put_reason(text, &first, "it uses ", qp_operators[k]->name);
}

void qp_describe_npu(const qp_certificate *certificate, qp_buffer *text)
{
    qp_buffer_text(text, qp_certificate_npu(certificate) ? "yes" : "no: ");
    qp_describe_reasons(certificate, text);
}

void qp_describe_flags(uint32_t flags, qp_buffer *text)
{
    bool first = true;
    for (unsigned f = 0; f < QP_NPU_FLAG_COUNT; f++)
        if ((flags >> f & 1) != 0) {
            qp_buffer_format(text, "%s%s", first ? "" : ", ", qp_npu_flag_name((qp_npu_flag)f));
            first = false;
        }
    if (first)
        qp_buffer_text(text, "none");
}
