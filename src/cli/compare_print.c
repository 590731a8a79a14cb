/* SPDX-License-Identifier: Apache-2.0 */
/* compare_print.c - a comparison in words and in JSON. */
#include "cli/compare.h"

#include "base/json.h"

#include <inttypes.h>

const char *qp_cause_name(qp_cause cause)
{
    static const char *const names[] = {[QP_CAUSE_NONE] = "none",
                                        [QP_CAUSE_LENGTH] = "length",
                                        [QP_CAUSE_STRUCTURE] = "structure",
                                        [QP_CAUSE_INPUT] = "input",
                                        [QP_CAUSE_STATE] = "state",
                                        [QP_CAUSE_PARAMETERS] = "parameters",
                                        [QP_CAUSE_POLICY] = "policy",
                                        [QP_CAUSE_SCALARS] = "scalars",
                                        [QP_CAUSE_EVALUATION] = "evaluation"};
    return names[cause];
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- words -------------------------------------------------------------------------------- */

static void put_decode(qp_buffer *text, const qp_trace_reader *trace, uint64_t decode)
{
    static const char *const colours[] = {"red", "green", "blue"};
    qp_buffer_format(text, "decode %" PRIu64, decode);
    if (trace->header.colour && decode < 3)
        qp_buffer_format(text, " (%s)", colours[decode]);
}

static void put_reads(qp_buffer *text, const qp_trace_record *record)
{
    qp_buffer_text(text, record->n_reads == 1 ? "tensor " : "tensors ");
    for (size_t i = 0; i < record->n_reads; i++)
        qp_buffer_format(text, "%s%" PRIu64, i > 0 ? ", " : "", record->reads[i]);
}

/* "operator 3, conv (section 5.2), from tensors 1, 2". */
static void put_producer(qp_buffer *text, const qp_trace_record *record)
{
    if (record->is_input) {
        qp_buffer_format(text, "input %" PRIu64 "%s", record->producer,
                         record->is_state ? ", a state" : "");
        return;
    }
    qp_buffer_format(text, "operator %" PRIu64 ", %s (section %s), output %" PRIu64 ", from ",
                     record->producer, record->name, record->section, record->output);
    put_reads(text, record);
}

static void put_side(qp_buffer *text, const qp_trace_reader *trace, const qp_trace_record *record)
{
    qp_buffer_format(text,
                     "  %s\n    shape [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], values %" PRId64
                     "..%" PRId64 ", policy %s\n    sha256 %s\n",
                     trace->path, record->shape[0], record->shape[1], record->shape[2], record->lo,
                     record->hi, record->policy, record->sha256);
}

static void put_elements(qp_buffer *text, const qp_comparison *c)
{
    const qp_elements_difference *e = &c->elements;
    const uint64_t *shape = c->record_a.shape;
    if (!e->known) {
        if (memcmp(shape, c->record_b.shape, sizeof c->record_b.shape) == 0)
            qp_buffer_text(text, "  To see the elements that differ, run both with "
                                 "--trace-tensors.\n");
        return;
    }
    qp_buffer_format(text,
                     "  first element that differs (c, y, x): (%" PRIu64 ", %" PRIu64 ", %" PRIu64
                     ") is %" PRId64 " and %" PRId64 "\n  %" PRIu64 " of %" PRIu64
                     " elements differ\n",
                     e->first / shape[2] / shape[1], e->first / shape[2] % shape[1],
                     e->first % shape[2], e->a, e->b, e->count, shape[0] * shape[1] * shape[2]);
}

static void put_parameters(qp_buffer *text, const qp_comparison *c)
{
    const qp_trace_record *a = &c->record_a, *b = &c->record_b;
    if (a->is_input)
        return;
    qp_buffer_format(text, "  parameters: %s%s(%" PRIu64 " byte%s)\n", a->parameters,
                     a->parameters[0] != '\0' ? " " : "", a->parameter_bytes,
                     plural(a->parameter_bytes));
    if (strcmp(a->parameters, b->parameters) != 0)
        qp_buffer_format(text, "  in the second: %s (%" PRIu64 " byte%s)\n", b->parameters,
                         b->parameter_bytes, plural(b->parameter_bytes));
}

static void put_cause(qp_buffer *text, const qp_comparison *c)
{
    static const char *const sentences[] = {
        [QP_CAUSE_INPUT] = "The runs were given different data.",
        [QP_CAUSE_STATE] = "The state starts at different values.",
        [QP_CAUSE_PARAMETERS] = "What the operator reads is the same in both; its parameters are "
                                "not.",
        [QP_CAUSE_POLICY] = "What the operator reads and its parameters are the same in both; the "
                            "tensor's policy is not.",
        [QP_CAUSE_EVALUATION] = "What the operator reads and its parameters are the same in both: "
                                "one of the two programs\n  computes it wrongly."};
    const char *sentence = sentences[c->cause];
    if (c->record_a.is_input && c->cause == QP_CAUSE_POLICY)
        sentence = "The input's policy is not the same in both.";
    if (c->record_a.is_input && c->cause == QP_CAUSE_EVALUATION)
        sentence = "The output that feeds the state was the same in both: one of the two programs "
                   "carries it wrongly.";
    if (c->cause == QP_CAUSE_SCALARS)
        qp_buffer_format(text, "  The runs were given different scalars: %s and %s.\n",
                         (const char *)c->a.header.scalars.bytes,
                         (const char *)c->b.header.scalars.bytes);
    else
        qp_buffer_format(text, "  %s\n", sentence);
}

static void put_tensor(qp_buffer *text, const qp_comparison *c)
{
    const qp_trace_record *a = &c->record_a;
    put_decode(text, &c->a, a->decode);
    qp_buffer_format(text, ", tensor %" PRIu64 " differs; ", a->tensor);
    if (c->same == 0)
        qp_buffer_text(text, "nothing comes before it\n");
    else
        qp_buffer_format(text, "the %" PRIu64 " before it %s the same\n", c->same,
                         c->same == 1 ? "is" : "are");
    qp_buffer_text(text, "  made by ");
    put_producer(text, a);
    qp_buffer_text(text, "\n");
    put_parameters(text, c);
    put_side(text, &c->a, a);
    put_side(text, &c->b, &c->record_b);
    put_elements(text, c);
    put_cause(text, c);
}

static void put_structure_side(qp_buffer *text, const qp_trace_reader *trace,
                               const qp_trace_record *record)
{
    qp_buffer_format(text, "  %s: ", trace->path);
    put_decode(text, trace, record->decode);
    qp_buffer_format(text, ", tensor %" PRIu64 ", made by ", record->tensor);
    put_producer(text, record);
    qp_buffer_text(text, "\n");
}

static void put_equal(qp_buffer *text, const qp_comparison *c)
{
    uint64_t decodes = c->a.header.decodes;
    qp_buffer_format(text, "no difference in %" PRIu64 " tensor%s over %" PRIu64 " decode%s\n",
                     c->a.header.tensors, plural(c->a.header.tensors), decodes, plural(decodes));
}

void qp_compare_print(const qp_comparison *c, qp_buffer *text)
{
    if (strcmp(c->a.header.graph, c->b.header.graph) != 0)
        qp_buffer_text(text, "The traces are of different graphs.\n");
    switch (c->cause) {
    case QP_CAUSE_NONE:
        put_equal(text, c);
        break;
    case QP_CAUSE_LENGTH:
        qp_buffer_format(text,
                         "the traces have %" PRIu64 " and %" PRIu64
                         " decodes; no difference as far as both go\n",
                         c->a.header.decodes, c->b.header.decodes);
        break;
    case QP_CAUSE_STRUCTURE:
        qp_buffer_format(text, "the graphs part; the %" PRIu64 " tensor%s before %s the same\n",
                         c->same, plural(c->same), c->same == 1 ? "is" : "are");
        put_structure_side(text, &c->a, &c->record_a);
        put_structure_side(text, &c->b, &c->record_b);
        break;
    default:
        put_tensor(text, c);
        break;
    }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_text(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, ", \"%s\": ", name);
    qp_buffer_json_string(text, value, strlen(value));
}

static void json_producer(qp_buffer *text, const qp_trace_record *record)
{
    if (record->is_input) {
        qp_buffer_format(text, ", \"input\": %" PRIu64 ", \"state\": %s", record->producer,
                         record->is_state ? "true" : "false");
        return;
    }
    qp_buffer_format(text, ", \"operator\": %" PRIu64 ", \"output\": %" PRIu64, record->producer,
                     record->output);
    json_text(text, "name", record->name);
    json_text(text, "section", record->section);
    qp_buffer_text(text, ", \"reads\": [");
    for (size_t i = 0; i < record->n_reads; i++)
        qp_buffer_format(text, "%s%" PRIu64, i > 0 ? ", " : "", record->reads[i]);
    qp_buffer_text(text, "]");
    json_text(text, "parameters", record->parameters);
    qp_buffer_format(text, ", \"parameter_bytes\": %" PRIu64, record->parameter_bytes);
    json_text(text, "parameter_sha256", record->parameters_sha256);
}

static void json_side(qp_buffer *text, const char *name, const qp_trace_record *record)
{
    qp_buffer_format(text,
                     ", \"%s\": {\"decode\": %" PRIu64 ", \"tensor\": %" PRIu64
                     ", \"shape\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
                     name, record->decode, record->tensor, record->shape[0], record->shape[1],
                     record->shape[2]);
    json_text(text, "sha256", record->sha256);
    qp_buffer_format(text, ", \"lo\": %" PRId64 ", \"hi\": %" PRId64, record->lo, record->hi);
    json_text(text, "policy", record->policy);
    json_producer(text, record);
    qp_buffer_text(text, "}");
}

static void json_elements(qp_buffer *text, const qp_comparison *c)
{
    const qp_elements_difference *e = &c->elements;
    const uint64_t *shape = c->record_a.shape;
    if (e->known)
        qp_buffer_format(text,
                         ", \"elements\": {\"first\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64
                         "], \"a\": %" PRId64 ", \"b\": %" PRId64 ", \"differ\": %" PRIu64
                         ", \"of\": %" PRIu64 "}",
                         e->first / shape[2] / shape[1], e->first / shape[2] % shape[1],
                         e->first % shape[2], e->a, e->b, e->count, shape[0] * shape[1] * shape[2]);
}

void qp_compare_print_json(const qp_comparison *c, qp_buffer *text)
{
    bool equal = c->cause == QP_CAUSE_NONE;
    qp_buffer_format(text, "{\"equal\": %s, \"cause\": %s%s%s", equal ? "true" : "false",
                     equal ? "" : "\"", equal ? "null" : qp_cause_name(c->cause),
                     equal ? "" : "\"");
    qp_buffer_format(text,
                     ", \"same_graph\": %s, \"same\": %" PRIu64 ", \"decodes\": [%" PRIu64
                     ", %" PRIu64 "]",
                     strcmp(c->a.header.graph, c->b.header.graph) == 0 ? "true" : "false", c->same,
                     c->a.header.decodes, c->b.header.decodes);
    if (!equal && c->cause != QP_CAUSE_LENGTH) {
        json_side(text, "a", &c->record_a);
        json_side(text, "b", &c->record_b);
        json_elements(text, c);
    }
    qp_buffer_text(text, "}\n");
}
