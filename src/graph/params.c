/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.c - an operator's parameters from its bytes, by its table of fields
 * (integer-operators.md section 10.4).
 */
#include "graph/graph.h"

/* The bytes of one operator's parameters. The first fault is kept; reads after it give 0. */
typedef struct cursor {
    const uint8_t *bytes;
    size_t size, at;
    size_t fault_at;
    const char *fault; /* NULL while there is none */
} cursor;

static void fault(cursor *c, size_t at, const char *sentence)
{
    if (c->fault != NULL)
        return;
    c->fault = sentence;
    c->fault_at = at;
}

/* `count` bytes, or NULL past the end. */
static const uint8_t *take(cursor *c, size_t count)
{
    if (c->fault != NULL)
        return NULL;
    if (c->size - c->at < count) {
        fault(c, c->at, "the parameters are shorter than the operator's layout");
        return NULL;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += count;
    return p;
}

static uint64_t take_le(cursor *c, size_t width)
{
    const uint8_t *p = take(c, width);
    if (p == NULL)
        return 0;
    switch (width) {
    case 1:
        return *p;
    case 4:
        return qp_load_u32(p);
    default:
        return qp_load_u64(p);
    }
}

static void take_zeros(cursor *c, size_t count)
{
    size_t start = c->at;
    const uint8_t *p = take(c, count);
    for (size_t i = 0; p != NULL && i < count; i++)
        if (p[i] != 0) {
            fault(c, start + i, "a reserved field is not 0");
            return;
        }
}

/* An array of `count` integers in place. */
static qp_integers take_integers(cursor *c, uint64_t count, unsigned width)
{
    qp_integers values = {NULL, 0, width};
    uint64_t bytes;
    if (!qp_mul_u64(count, width, &bytes) || bytes > c->size - c->at) {
        fault(c, c->at, "the parameters are shorter than the operator's layout");
        return values;
    }
    values.bytes = take(c, (size_t)bytes);
    values.count = values.bytes == NULL ? 0 : (size_t)count;
    return values;
}

static uint64_t product_of_dims(cursor *c, const uint64_t *dims, unsigned rank)
{
    uint64_t product = 1;
    for (unsigned i = 0; i < rank; i++)
        if (!qp_mul_u64(product, dims[i], &product)) {
            fault(c, c->at, "the parameters are shorter than the operator's layout");
            return 0;
        }
    return product;
}

/* ---- the RQ block ------------------------------------------------------------------------- */

enum { RQ_HEADER_BYTES = 8, AT_ROUND = 0, AT_BIAS, AT_M_KIND, AT_S_KIND, AT_M_BYTES, AT_B_BYTES };

static bool is_wide(unsigned width)
{
    return width == 4 || width == 8;
}

static const char *check_rq_header(const uint8_t *b, unsigned admits)
{
    if (b[AT_ROUND] > QP_ROUND_HALF_EVEN)
        return "the rounding is not 0, 1 or 2";
    if (b[AT_BIAS] > QP_BIAS_POST || (b[AT_BIAS] != 0 && (admits & QP_RQ_BIAS) == 0))
        return "the bias kind is not one that the operator takes";
    if (b[AT_M_KIND] > QP_KIND_PER_CHANNEL || (b[AT_M_KIND] != 0 && (admits & QP_RQ_MULT) == 0))
        return "the multiplier kind is not one that the operator takes";
    if (b[AT_S_KIND] != QP_KIND_ONE &&
        (b[AT_S_KIND] != QP_KIND_PER_CHANNEL || (admits & QP_RQ_PER_CHANNEL) == 0))
        return "the shift kind is not one that the operator takes";
    if (b[AT_M_KIND] == 0 ? b[AT_M_BYTES] != 0 : !is_wide(b[AT_M_BYTES]))
        return "the multiplier's width is not 4 or 8 (0 when there is none)";
    if (b[AT_BIAS] == 0 ? b[AT_B_BYTES] != 0 : !is_wide(b[AT_B_BYTES]))
        return "the bias's width is not 4 or 8 (0 when there is none)";
    if (b[6] != 0 || b[7] != 0)
        return "a reserved field is not 0";
    return NULL;
}

static uint64_t count_of_kind(unsigned kind, uint64_t channels)
{
    return kind == QP_KIND_ABSENT ? 0 : kind == QP_KIND_ONE ? 1 : channels;
}

static void take_rq(cursor *c, qp_rq *rq, uint64_t channels, unsigned admits)
{
    size_t start = c->at;
    const uint8_t *b = take(c, RQ_HEADER_BYTES);
    if (b == NULL)
        return;
    const char *why = check_rq_header(b, admits);
    if (why != NULL) {
        fault(c, start, why);
        return;
    }
    rq->round = (qp_round)b[AT_ROUND];
    rq->bias_place = (qp_bias_place)b[AT_BIAS];
    rq->mult_kind = (qp_kind)b[AT_M_KIND];
    rq->shift_kind = (qp_kind)b[AT_S_KIND];
    rq->mult = take_integers(c, count_of_kind(b[AT_M_KIND], channels), b[AT_M_BYTES]);
    start = c->at;
    qp_integers shift = take_integers(c, count_of_kind(b[AT_S_KIND], channels), 1);
    rq->shift = shift.bytes;
    rq->n_shifts = shift.count;
    rq->bias = take_integers(c, b[AT_BIAS] == 0 ? 0 : channels, b[AT_B_BYTES]);
    for (size_t i = 0; i < shift.count; i++)
        if (shift.bytes[i] > QP_SHIFT_MAX) {
            fault(c, start + i, "a shift passes 127");
            return;
        }
}

/* ---- fields ------------------------------------------------------------------------------- */

static void take_operand(cursor *c, qp_operand *operand, size_t reserved, size_t width)
{
    size_t start = c->at;
    uint64_t kind = take_le(c, 1);
    if (kind > 1)
        fault(c, start, "an operand's kind is neither 0 (constant) nor 1 (scalar)");
    take_zeros(c, reserved);
    uint64_t value = take_le(c, width);
    operand->scalar = kind == 1;
    operand->value = width == 8 ? qp_to_i64(value) : (int64_t)value;
}

static void take_order(cursor *c, uint8_t order[4])
{
    size_t start = c->at;
    const uint8_t *p = take(c, 4);
    unsigned seen = 0;
    if (p == NULL)
        return;
    memcpy(order, p, 4);
    for (unsigned k = 0; k < 4; k++)
        seen |= p[k] < 4 ? 1u << p[k] : 0;
    if (seen != 0xF)
        fault(c, start, "the order is not a permutation of the four positions");
}

static void take_unsigned(cursor *c, const qp_field *field, void *target, size_t width)
{
    size_t start = c->at;
    uint64_t value = take_le(c, width);
    if (value < field->minimum || (field->maximum != 0 && value > field->maximum))
        fault(c, start, "a parameter is outside its range");
    if (width == 1)
        *(uint8_t *)target = (uint8_t)value;
    else if (width == 4)
        *(uint32_t *)target = (uint32_t)value;
    else
        *(uint64_t *)target = value;
}

static void take_width(cursor *c, const qp_field *field, uint8_t *target)
{
    size_t start = c->at;
    uint64_t width = take_le(c, 1);
    if (width > 8 || (field->minimum >> width & 1) == 0)
        fault(c, start, "a width of integers is not one that the operator takes");
    *target = (uint8_t)width;
}

/* Reads one field into its place in `params`. */
static void take_field(cursor *c, const qp_field *field, void *params, uint32_t in_channels)
{
    void *target = (char *)params + field->offset;
    uint64_t dims[4];
    size_t start = c->at;

    switch (field->kind) {
    case QP_FIELD_U8:
        take_unsigned(c, field, target, 1);
        break;
    case QP_FIELD_U32:
        take_unsigned(c, field, target, 4);
        break;
    case QP_FIELD_U64:
        take_unsigned(c, field, target, 8);
        break;
    case QP_FIELD_I64:
        *(int64_t *)target = qp_to_i64(take_le(c, 8));
        break;
    case QP_FIELD_EXPONENT:
        *(int8_t *)target = qp_to_i8((uint8_t)take_le(c, 1));
        break;
    case QP_FIELD_ROUND: {
        uint64_t round = take_le(c, 1);
        if (round > QP_ROUND_HALF_EVEN)
            fault(c, start, "the rounding is not 0, 1 or 2");
        *(qp_round *)target = (qp_round)(round & 3);
        break;
    }
    case QP_FIELD_ORDER:
        take_order(c, target);
        break;
    case QP_FIELD_OPERAND:
        take_operand(c, target, 3, 4);
        break;
    case QP_FIELD_OPERAND64:
        take_operand(c, target, 7, 8);
        break;
    case QP_FIELD_WIDTH:
        take_width(c, field, target);
        break;
    case QP_FIELD_RESERVED:
        take_zeros(c, field->minimum);
        break;
    case QP_FIELD_RQ:
        if (c->fault == NULL) {
            field->dims(params, in_channels, dims);
            take_rq(c, target, dims[0], field->rq_admits);
        }
        break;
    case QP_FIELD_INTEGERS:
        if (c->fault == NULL) {
            unsigned rank = field->dims(params, in_channels, dims);
            uint64_t count = product_of_dims(c, dims, rank);
            *(qp_integers *)target = take_integers(c, count, qp_field_width(field, params));
        }
        break;
    }
}

/* An operand that names a scalar names one of the graph's. */
static const char *check_operands(const qp_graph *graph, const qp_node *node)
{
    for (uint32_t i = 0; i < node->op->n_fields; i++) {
        const qp_field *field = &node->op->fields[i];
        if (field->kind != QP_FIELD_OPERAND && field->kind != QP_FIELD_OPERAND64)
            continue;
        const qp_operand *operand =
            (const qp_operand *)(const void *)((const char *)node->params + field->offset);
        if (operand->scalar && (operand->value < 0 || operand->value >= graph->n_scalars))
            return "an operand names a scalar that the graph does not have";
    }
    return NULL;
}

qp_status qp_graph_read_params(qp_graph *graph, uint32_t index, qp_node *node, qp_error *error)
{
    const qp_operator *op = node->op;
    cursor c = {.bytes = graph->bytes + node->params_offset, .size = node->params_bytes};
    uint32_t in_channels = graph->tensors[node->in[0]].channels;
    void *params = NULL;

    if (op->n_fields > 0) {
        params = qp_arena_allocate(&graph->arena, 1, op->params_size);
        if (params == NULL)
            return qp_fail_memory(error, "an operator's parameters");
    }
    node->params = params;
    for (uint32_t i = 0; i < op->n_fields && c.fault == NULL; i++)
        take_field(&c, &op->fields[i], params, in_channels);
    if (c.fault == NULL && c.at != c.size)
        fault(&c, c.at, "the parameters are longer than the operator's layout");
    if (c.fault == NULL) {
        const char *why = check_operands(graph, node);
        if (why == NULL && op->check != NULL) {
            qp_params_context context = {graph->scalars, graph->n_scalars, in_channels};
            why = op->check(params, &context);
        }
        if (why != NULL)
            fault(&c, 0, why);
    }
    if (c.fault == NULL)
        return QP_OK;
    qp_place place = {QP_TABLE_PARAMETERS, -1, index, (int64_t)(node->params_offset + c.fault_at)};
    return qp_fail_at(error, QP_MODEL_MISMATCH, place, "%s: %s", op->name, c.fault);
}
