/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - operators and their values in words. */
#include "cli/describe.h"

static const char *const round_names[] = {
    [QP_ROUND_FLOOR] = "floor",
    [QP_ROUND_HALF_UP] = "half_up",
    [QP_ROUND_HALF_EVEN] = "half_even",
};

/* ---- parameters --------------------------------------------------------------------------- */

/* What the fields of one operator are read from, and what has been written of them. */
typedef struct qp_summary {
    const qp_node *node;
    uint32_t in_channels;
    qp_buffer *text;
} qp_summary;

static const void *field_at(const qp_summary *s, const qp_field *field)
{
    return (const uint8_t *)s->node->params + field->offset;
}

static uint32_t u32_at(const qp_summary *s, const qp_field *field)
{
    uint32_t value;
    memcpy(&value, field_at(s, field), sizeof value);
    return value;
}

/* Two neighbours such as "kh" and "kw" are one size: "k 5x5". */
static bool is_size_pair(const qp_field *field, const qp_field *next)
{
    if (field->kind != QP_FIELD_U32 || next->kind != QP_FIELD_U32)
        return false;
    size_t length = strlen(field->name);
    return length >= 2 && strlen(next->name) == length && field->name[length - 1] == 'h' &&
           next->name[length - 1] == 'w' && memcmp(field->name, next->name, length - 1) == 0;
}

static void put_operand(const qp_operand *operand, qp_buffer *text)
{
    if (operand->scalar)
        qp_buffer_text(text, "scalar ");
    qp_buffer_i64_decimal(text, operand->value);
}

static void put_rq(const qp_rq *rq, qp_buffer *text)
{
    unsigned least = rq->shift[0], most = rq->shift[0];
    for (size_t i = 1; i < rq->n_shifts; i++) {
        least = rq->shift[i] < least ? rq->shift[i] : least;
        most = rq->shift[i] > most ? rq->shift[i] : most;
    }
    qp_buffer_format(text, "%s, shift %u", round_names[rq->round], least);
    if (most != least)
        qp_buffer_format(text, "..%u", most);
    if (rq->mult_kind != QP_KIND_ABSENT)
        qp_buffer_format(text, ", %s",
                         rq->mult_kind == QP_KIND_ONE ? "one multiplier" : "multiplier a channel");
    if (rq->bias_place != QP_BIAS_NONE)
        qp_buffer_text(text, rq->bias_place == QP_BIAS_PRE ? ", bias pre" : ", bias post");
}

static void put_array(const qp_summary *s, const qp_field *field)
{
    uint64_t dims[4];
    unsigned rank = field->dims(s->node->params, s->in_channels, dims);
    qp_buffer_format(s->text, "%s int%u ", field->name, 8 * qp_field_width(field, s->node->params));
    for (unsigned i = 0; i < rank; i++) {
        qp_buffer_text(s->text, i > 0 ? "x" : "");
        qp_buffer_u64_decimal(s->text, dims[i]);
    }
}

static void put_integer(const qp_summary *s, const qp_field *field)
{
    const void *at = field_at(s, field);
    qp_buffer_format(s->text, "%s ", field->name);
    if (field->kind == QP_FIELD_I64)
        qp_buffer_i64_decimal(s->text, *(const int64_t *)at);
    else if (field->kind == QP_FIELD_U64)
        qp_buffer_u64_decimal(s->text, *(const uint64_t *)at);
    else if (field->kind == QP_FIELD_U8)
        qp_buffer_u64_decimal(s->text, *(const uint8_t *)at);
    else
        qp_buffer_u64_decimal(s->text, u32_at(s, field));
}

static void put_order(const uint8_t *order, qp_buffer *text)
{
    qp_buffer_format(text, "order %u %u %u %u", order[0], order[1], order[2], order[3]);
}

static void put_exponent(const qp_summary *s, const qp_field *field)
{
    int exponent = *(const int8_t *)field_at(s, field);
    if (exponent == QP_EXPONENT_NONE)
        qp_buffer_format(s->text, "%s none", field->name);
    else
        qp_buffer_format(s->text, "%s %d", field->name, exponent);
}

static void put_field(const qp_summary *s, const qp_field *field)
{
    const void *at = field_at(s, field);
    switch (field->kind) {
    case QP_FIELD_EXPONENT:
        put_exponent(s, field);
        break;
    case QP_FIELD_ROUND:
        qp_buffer_text(s->text, round_names[*(const qp_round *)at]);
        break;
    case QP_FIELD_ORDER:
        put_order(at, s->text);
        break;
    case QP_FIELD_OPERAND:
    case QP_FIELD_OPERAND64:
        qp_buffer_format(s->text, "%s ", field->name);
        put_operand(at, s->text);
        break;
    case QP_FIELD_RQ:
        put_rq(at, s->text);
        break;
    case QP_FIELD_INTEGERS:
        put_array(s, field);
        break;
    default:
        put_integer(s, field);
        break;
    }
}

void qp_describe_parameters(const qp_graph *graph, const qp_node *node, qp_buffer *text)
{
    qp_summary s = {node, graph->tensors[node->in[0]].channels, text};
    bool first = true;

    for (uint32_t i = 0; i < node->op->n_fields; i++) {
        const qp_field *field = &node->op->fields[i];
        if (field->kind == QP_FIELD_RESERVED || field->kind == QP_FIELD_WIDTH)
            continue;
        qp_buffer_text(text, first ? "" : ", ");
        first = false;
        if (i + 1 < node->op->n_fields && is_size_pair(field, field + 1)) {
            int length = (int)strlen(field->name) - 1;
            qp_buffer_format(text, "%.*s %ux%u", length, field->name, u32_at(&s, field),
                             u32_at(&s, field + 1));
            i++;
        } else {
            put_field(&s, field);
        }
    }
}

uint64_t qp_describe_array_bytes(const qp_node *node)
{
    uint64_t bytes = 0; /* of one file: no sum passes its length */
    for (uint32_t i = 0; i < node->op->n_fields; i++) {
        const qp_field *field = &node->op->fields[i];
        if (field->kind != QP_FIELD_INTEGERS)
            continue;
        const qp_integers *array = (const void *)((const uint8_t *)node->params + field->offset);
        bytes += (uint64_t)array->count * array->width;
    }
    return bytes;
}

void qp_describe_shape(const qp_graph *graph, uint32_t tensor, qp_buffer *text)
{
    if (graph->sized) {
        const qp_shape *shape = &graph->shapes[tensor];
        qp_buffer_format(text, "%ux%ux%u", shape->channels, shape->height, shape->width);
    } else {
        qp_buffer_format(text, "%u ch", graph->tensors[tensor].channels);
    }
}

void qp_describe_indices(const uint32_t *indices, uint32_t count, qp_buffer *text)
{
    for (uint32_t i = 0; i < count; i++)
        qp_buffer_format(text, "%s%u", i > 0 ? " " : "", indices[i]);
}

/* ---- values ------------------------------------------------------------------------------- */

uint32_t qp_fact_count(const qp_graph_bounds *bounds, uint32_t node)
{
    return bounds->nodes[node].n_recorded + bounds->graph->nodes[node].n_out;
}

qp_fact qp_fact_at(const qp_graph_bounds *bounds, uint32_t node, uint32_t index)
{
    static const char *const out_keys[QP_OUTPUTS_MAX] = {"out.0", "out.1", "out.2", "out.3"};
    const qp_certified_node *found = &bounds->nodes[node];
    qp_fact fact;

    if (index < found->n_recorded) {
        fact.key = qp_intermediate_name(found->recorded[index].key);
        fact.class = qp_intermediate_class(found->recorded[index].key);
        fact.interval = &found->recorded[index].interval;
    } else {
        fact.key = out_keys[index - found->n_recorded];
        fact.class = QP_CLASS_TENSOR;
        fact.interval = &found->result[index - found->n_recorded];
    }
    fact.bits = qp_interval_bits(fact.interval);
    return fact;
}

qp_fact qp_fact_tightest(const qp_graph_bounds *bounds, uint32_t node)
{
    qp_fact tightest = qp_fact_at(bounds, node, 0);
    for (uint32_t i = 1; i < qp_fact_count(bounds, node); i++) {
        qp_fact fact = qp_fact_at(bounds, node, i);
        if (qp_fact_room(&fact, QP_ACC32) < qp_fact_room(&tightest, QP_ACC32))
            tightest = fact;
    }
    return tightest;
}

int qp_fact_room(const qp_fact *fact, qp_profile profile)
{
    return (int)qp_profile_width(profile, fact->class) - (int)fact->bits;
}

qp_fit qp_fit_of_node(const qp_graph_bounds *bounds, uint32_t node)
{
    if (qp_node_fits(bounds, node, QP_ACC32))
        return QP_FIT_BOTH;
    return qp_node_fits(bounds, node, QP_ACC64) ? QP_FIT_ACC64 : QP_FIT_NEITHER;
}

qp_fit qp_fit_of_fact(const qp_fact *fact)
{
    if (qp_fact_room(fact, QP_ACC32) >= 0)
        return QP_FIT_BOTH;
    return qp_fact_room(fact, QP_ACC64) >= 0 ? QP_FIT_ACC64 : QP_FIT_NEITHER;
}

const char *qp_fit_words(qp_fit fit)
{
    static const char *const words[] = {"acc32 acc64", "acc64 only", "neither"};
    return words[fit];
}

void qp_describe_interval(const qp_interval *interval, qp_buffer *text)
{
    char digits[QP_BOUND_TEXT_SIZE];
    qp_buffer_text(text, qp_bound_text(&interval->lo, digits));
    qp_buffer_text(text, "..");
    qp_buffer_text(text, qp_bound_text(&interval->hi, digits));
}

/* The first three digits and the power of ten where there are more than seven. */
static void put_short(const qp_bound *bound, qp_buffer *text)
{
    enum { MOST_DIGITS = 7 };
    char digits[QP_BOUND_TEXT_SIZE];
    const char *first = qp_bound_text(bound, digits);
    const char *sign = *first == '-' ? "-" : "";
    size_t count;

    first += *first == '-';
    count = strlen(first);
    if (count <= MOST_DIGITS)
        qp_buffer_format(text, "%s%s", sign, first);
    else
        qp_buffer_format(text, "%s%c.%.2se%zu", sign, first[0], first + 1, count - 1);
}

void qp_describe_interval_short(const qp_interval *interval, qp_buffer *text)
{
    put_short(&interval->lo, text);
    qp_buffer_text(text, "..");
    put_short(&interval->hi, text);
}
