/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the thirty operators (integer-operators.md section 5), and the rules several share. */
#include "op/op.h"

#define QP_ROW(name) extern const qp_operator qp_operator_##name;
QP_OPERATORS(QP_ROW)
#undef QP_ROW

const qp_operator *const qp_operators[QP_OPERATOR_COUNT] = {
#define QP_ROW(name) &qp_operator_##name,
    QP_OPERATORS(QP_ROW)
#undef QP_ROW
};

const qp_operator *qp_operator_by_opcode(unsigned opcode)
{
    return opcode >= 1 && opcode <= QP_OPERATOR_COUNT ? qp_operators[opcode - 1] : NULL;
}

const qp_operator *qp_operator_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < QP_OPERATOR_COUNT; i++)
        if (strlen(qp_operators[i]->name) == length &&
            memcmp(qp_operators[i]->name, name, length) == 0)
            return qp_operators[i];
    return NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    qp_class class;
} intermediates[QP_INTERMEDIATE_COUNT] = {
#define QP_ROW(id, text, class_id) [QP_##id] = {text, QP_CLASS_##class_id},
    QP_INTERMEDIATES(QP_ROW)
#undef QP_ROW
};

const char *qp_intermediate_name(qp_intermediate key)
{
    return intermediates[key].name;
}

qp_class qp_intermediate_class(qp_intermediate key)
{
    return intermediates[key].class;
}

const char *qp_policy_name(qp_policy policy)
{
    static const char *const names[] = {
        [QP_DERIVED] = "derived", [QP_CLAMP] = "clamp", [QP_CHECK] = "check"};
    return names[policy];
}

const char *qp_condition_name(qp_condition condition)
{
    static const char *const names[QP_CONDITION_COUNT] = {
        [QP_CONDITION_RQ_MULT] = "rq.mult",           [QP_CONDITION_RQ_SHIFT] = "rq.shift",
        [QP_CONDITION_RQ_POST_BIAS] = "rq.post_bias", [QP_CONDITION_WEIGHTS] = "weights",
        [QP_CONDITION_CHSCALE_M] = "chscale.m",       [QP_CONDITION_CHSCALE_S] = "chscale.s",
        [QP_CONDITION_IGDN_GAMMA] = "igdn.gamma",     [QP_CONDITION_IGDN_SHIFT] = "igdn.shift",
        [QP_CONDITION_LEAKY_A] = "leaky.a",
    };
    return names[condition];
}

const char *qp_npu_flag_name(qp_npu_flag flag)
{
    static const char *const names[QP_NPU_FLAG_COUNT] = {
        [QP_NPU_FLAG_CHSCALE] = "chscale",
        [QP_NPU_FLAG_LUT16] = "lut16",
        [QP_NPU_FLAG_RQ_FLOOR_MULT] = "rq_floor_mult",
        [QP_NPU_FLAG_RQ_HALF_EVEN] = "rq_half_even",
        [QP_NPU_FLAG_RQ_NEG_MULT] = "rq_neg_mult",
        [QP_NPU_FLAG_RQ_POST_BIAS] = "rq_post_bias",
        [QP_NPU_FLAG_RQ_SHIFT_RANGE] = "rq_shift_range",
        [QP_NPU_FLAG_STATE_ADD] = "state_add",
    };
    return names[flag];
}

/* ---- shapes ------------------------------------------------------------------------------- */

uint64_t qp_shape_elements(const qp_shape *shape)
{
    uint64_t elements = (uint64_t)shape->height * shape->width; /* two u32: below 2^64 */
    return qp_mul_u64(elements, shape->channels, &elements) ? elements : UINT64_MAX;
}

const char *qp_channels_unchanged(const void *params, const uint32_t *in, uint32_t n_in,
                                  uint32_t *out)
{
    (void)params, (void)n_in;
    out[0] = in[0];
    return NULL;
}

qp_status qp_shape_unchanged(const qp_plan *plan, qp_shape *out, const char **why)
{
    (void)why;
    out[0].height = plan->in[0].height;
    out[0].width = plan->in[0].width;
    return QP_OK;
}

qp_status qp_check_side(uint64_t side, const char *sentence, const char **why)
{
    if (side <= QP_ELEMENTS_MAX)
        return QP_OK;
    if (why != NULL)
        *why = sentence;
    return QP_TOO_LARGE;
}

uint64_t qp_scratch_row(const qp_plan *plan, const qp_shape *out)
{
    uint32_t width = out[0].width;
    return plan->in[0].width > width ? plan->in[0].width : width;
}

/* ---- bounds ------------------------------------------------------------------------------- */

void qp_bounds_record(qp_node_bounds *bounds, qp_intermediate key, qp_interval interval)
{
    for (uint32_t i = 0; i < bounds->n_recorded; i++)
        if (bounds->recorded[i].key == key) {
            qp_interval *kept = &bounds->recorded[i].interval;
            *kept = qp_interval_hull(*kept, interval);
            return;
        }
    bounds->recorded[bounds->n_recorded++] = (qp_recorded){key, interval};
}

void qp_bounds_result(qp_node_bounds *bounds, unsigned output, qp_interval interval)
{
    qp_interval *kept = &bounds->result[output];
    *kept = bounds->has_result[output] ? qp_interval_hull(*kept, interval) : interval;
    bounds->has_result[output] = true;
}

const qp_interval *qp_bounds_find(const qp_node_bounds *bounds, qp_intermediate key)
{
    for (uint32_t i = 0; i < bounds->n_recorded; i++)
        if (bounds->recorded[i].key == key)
            return &bounds->recorded[i].interval;
    return NULL;
}

void qp_bounds_condition_i32(qp_node_bounds *bounds, qp_condition condition, qp_range range)
{
    if (range.lo < INT32_MIN || range.hi > INT32_MAX)
        bounds->conditions |= 1u << condition;
}

void qp_bounds_condition_shift(qp_node_bounds *bounds, qp_condition condition, uint32_t shift)
{
    enum { ACC32_SHIFT_MAX = 63 }; /* section 7.2 */
    if (shift > ACC32_SHIFT_MAX)
        bounds->conditions |= 1u << condition;
}

void qp_bounds_movement(const qp_bounds_query *query, qp_node_bounds *bounds)
{
    for (uint32_t i = 0; i < query->n_in; i++)
        qp_bounds_result(bounds, 0, query->in[i]);
}
