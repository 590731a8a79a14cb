/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intermediate.h - the named values of section 5, their classes (section 7.1), and the hook by
 * which an instrumented build shows every one that an evaluation forms.
 */
#ifndef QP_OP_INTERMEDIATE_H
#define QP_OP_INTERMEDIATE_H

#include "number/i128.h"

#include <stddef.h>

/* The width classes of section 7.1 (`tensor` is the class of producer results and ranges). */
typedef enum qp_class { QP_CLASS_TENSOR, QP_CLASS_ACC, QP_CLASS_WIDE, QP_CLASS_PRODUCT } qp_class;

/* Every key of Table 8.5-A with its class, in ascending byte order of the names. */
#define QP_INTERMEDIATES(ROW)                                                                      \
    ROW(APPLY_ACC, "apply.acc", ACC)                                                               \
    ROW(APPLY_TERM, "apply.term", ACC)                                                             \
    ROW(CONV_ACC, "conv.acc", ACC)                                                                 \
    ROW(CONV_TERM, "conv.term", ACC)                                                               \
    ROW(CONVT_ACC, "convT.acc", ACC)                                                               \
    ROW(CONVT_TERM, "convT.term", ACC)                                                             \
    ROW(ELU_P, "elu.p", WIDE)                                                                      \
    ROW(EXP_C, "exp.c", ACC)                                                                       \
    ROW(EXP_NEGX, "exp.negx", ACC)                                                                 \
    ROW(EXP_NL, "exp.nl", ACC)                                                                     \
    ROW(EXP_T2, "exp.t2", ACC)                                                                     \
    ROW(GRAM_ACC, "gram.acc", ACC)                                                                 \
    ROW(GRAM_TERM, "gram.term", ACC)                                                               \
    ROW(IGDN_N, "igdn.N", WIDE)                                                                    \
    ROW(IGDN_GX2, "igdn.gx2", PRODUCT)                                                             \
    ROW(IGDN_R, "igdn.r", ACC)                                                                     \
    ROW(IGDN_TERM, "igdn.term", WIDE)                                                              \
    ROW(IGDN_X2, "igdn.x2", WIDE)                                                                  \
    ROW(IGDN_XR, "igdn.xr", WIDE)                                                                  \
    ROW(L2_T, "l2.T", WIDE)                                                                        \
    ROW(L2_K, "l2.k", ACC)                                                                         \
    ROW(L2_VK, "l2.vk", WIDE)                                                                      \
    ROW(LEAKY_P, "leaky.p", ACC)                                                                   \
    ROW(LN_S, "ln.S", WIDE)                                                                        \
    ROW(LN_T, "ln.T", WIDE)                                                                        \
    ROW(LN_D, "ln.d", ACC)                                                                         \
    ROW(LN_DK, "ln.dk", WIDE)                                                                      \
    ROW(LN_K, "ln.k", ACC)                                                                         \
    ROW(LN_M, "ln.m", WIDE)                                                                        \
    ROW(LN_N, "ln.n", ACC)                                                                         \
    ROW(LN_NG, "ln.ng", WIDE)                                                                      \
    ROW(LN_V, "ln.v", WIDE)                                                                        \
    ROW(MUL_P, "mul.p", ACC)                                                                       \
    ROW(RQ_P, "rq.p", PRODUCT)                                                                     \
    ROW(RQ_Q, "rq.q", ACC)                                                                         \
    ROW(RQ_T, "rq.t", ACC)                                                                         \
    ROW(RQ_Y, "rq.y", ACC)                                                                         \
    ROW(RSQ_NUM, "rsq.num", ACC)                                                                   \
    ROW(SIG_NUM, "sig.num", ACC)                                                                   \
    ROW(SM_DIFF, "sm.diff", ACC)                                                                   \
    ROW(SM_NUM, "sm.num", ACC)                                                                     \
    ROW(SM_SUM, "sm.sum", ACC)

typedef enum qp_intermediate {
#define QP_ROW(id, name, class) QP_##id,
    QP_INTERMEDIATES(QP_ROW)
#undef QP_ROW
        QP_INTERMEDIATE_COUNT
} qp_intermediate;

/* The most intermediates one operator records: layernorm_c's ten. */
#define QP_NODE_INTERMEDIATES_MAX 10

const char *qp_intermediate_name(qp_intermediate key);
qp_class qp_intermediate_class(qp_intermediate key);

/*
 * QP_OBSERVE(e, key, value) shows one value of an intermediate, a qp_i128, to the observer of the
 * evaluation `e`. It is empty but where QP_INSTRUMENTED is defined: the soundness test builds the
 * library so, and holds every value formed against its certified interval.
 */
typedef struct qp_observer qp_observer;
struct qp_observer {
    /* The values that follow are those of operator `index`. */
    void (*node)(qp_observer *observer, uint32_t index);
    void (*observe)(qp_observer *observer, qp_intermediate key, qp_i128 value);
};

#if defined(QP_INSTRUMENTED)
#    define QP_OBSERVE(e, key, value)                                                              \
        do {                                                                                       \
            if ((e)->observer != NULL)                                                             \
                (e)->observer->observe((e)->observer, (key), (value));                             \
        } while (0)
#    define QP_OBSERVING(e) ((e)->observer != NULL)
#else
#    define QP_OBSERVE(e, key, value) ((void)(e))
#    define QP_OBSERVING(e) ((void)(e), false)
#endif
#define QP_OBSERVE_I64(e, key, value) QP_OBSERVE(e, key, qp_i128_from_i64(value))

#endif
