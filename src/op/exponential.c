/* SPDX-License-Identifier: Apache-2.0 */
/* exponential.c - the bounds rule of exp_neg_q16 (integer-operators.md section 8.3). */
#include "op/exponential.h"

/* The constants of section 2's definition. */
enum { LN2 = 45426, T_MIN = 43245, T_MAX = 88670, FACTOR = 23495, Q16 = 16 };

static qp_bound whole_periods(qp_bound u)
{
    bool unused = false; /* at most u */
    qp_bound period = qp_bound_from_i64(LN2);
    return qp_bound_mul(period, qp_bound_floor_divide(u, period), &unused);
}

void qp_exp_bounds(qp_interval u, qp_node_bounds *bounds)
{
    int64_t t2_max = (int64_t)T_MAX * T_MAX;

    qp_bounds_record(bounds, QP_EXP_NEGX, u);
    qp_bounds_record(bounds, QP_EXP_NL, (qp_interval){whole_periods(u.lo), whole_periods(u.hi)});
    qp_bounds_record(bounds, QP_EXP_T2, qp_interval_of((int64_t)T_MIN * T_MIN, t2_max));
    qp_bounds_record(bounds, QP_EXP_C, qp_interval_of(0, FACTOR * (t2_max >> Q16)));
}

int64_t qp_exp_observed(const qp_evaluation *e, int64_t x)
{
    if (!QP_OBSERVING(e))
        return qp_exp_neg_q16(x, NULL);
    qp_exp_steps steps;
    int64_t value = qp_exp_neg_q16(x, &steps);
    QP_OBSERVE_I64(e, QP_EXP_NEGX, steps.negx);
    QP_OBSERVE_I64(e, QP_EXP_NL, steps.nl);
    QP_OBSERVE_I64(e, QP_EXP_T2, steps.t2);
    QP_OBSERVE_I64(e, QP_EXP_C, steps.c);
    return value;
}
