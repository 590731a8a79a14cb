/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai.h - the parts of jpegai-int/1 (integer-operators.md section 13.6): the scale path's files,
 * the members of the weight files, and the blocks that the graphs are made of.
 */
#ifndef QP_LOWER_JPEGAI_H
#define QP_LOWER_JPEGAI_H

#include "lower/build.h"
#include "lower/values.h"

/* The latent channels of the two planes. */
enum { QP_JPEGAI_LUMA = 160, QP_JPEGAI_CHROMA = 96 };

/* 1 and 6 as Q16 values. */
enum { QP_Q16_ONE = 1 << 16, QP_Q16_SIX = 6 << 16 };

/* Section 13.6.1: norm.json's members and the graphs hs_y and hs_uv. */
qp_status qp_jpegai_scale(qp_lower_job *job);

/* ---- section 13.6.2 ----------------------------------------------------------------------- */

/* A graph as it grows and the weight file that its blocks read. The first refusal is kept, and the
 * blocks after it do nothing: a graph looks at `status` once, at its end. */
typedef struct qp_jpegai {
    qp_lower_job *job;
    qp_build build;
    qp_json json; /* the open file */
    qp_status status;
} qp_jpegai;

void qp_jpegai_begin(qp_jpegai *j, qp_lower_job *job);
/* Closes the open file, if any, and opens that one: any object with two members of one name, and
 * any member of kind conv or q16 that is not whole, is refused. */
void qp_jpegai_open(qp_jpegai *j, const char *path);
/* Ends a graph: its bytes go to the set where nothing was refused. Gives the status. */
qp_status qp_jpegai_end(qp_jpegai *j, const char *role, qp_value output);

/* A refusal that no value of the file is to blame for alone. */
void qp_jpegai_refuse(qp_jpegai *j, const char *text);

/* A name made of a module's and what follows it. */
typedef struct qp_module {
    char text[80];
} qp_module;
qp_module qp_jpegai_module(const char *module, const char *rest);

/* The values of a q16 member, exactly `count` of them. */
qp_values qp_jpegai_q16(qp_jpegai *j, const char *name, uint64_t count);
/* The same where the module may have none: `found` tells. */
qp_values qp_jpegai_bias(qp_jpegai *j, const char *module, uint64_t count, bool *found);

/* A conv member. Ownership: qp_values_free. */
typedef struct qp_jpegai_conv {
    uint64_t dims[4];
    qp_values weights;
    int64_t mult, shift;
} qp_jpegai_conv;
qp_jpegai_conv qp_jpegai_weights(qp_jpegai *j, const char *module);
/* The shift of a module's weights alone. */
int64_t qp_jpegai_shift(qp_jpegai *j, const char *module);

/* ---- blocks ------------------------------------------------------------------------------- */

/* A convolution's kernel, stride, padding and groups. */
typedef struct qp_jpegai_shape {
    uint32_t k, stride, pad, groups;
} qp_jpegai_shape;
#define QP_JPEGAI_DEPTHWISE 0 /* groups = c = cout */

/* Kernels of 1 and 3 that keep the size. */
#define QP_JPEGAI_1X1 ((qp_jpegai_shape){1, 1, 0, 1})
#define QP_JPEGAI_3X3 ((qp_jpegai_shape){3, 1, 1, 1})

/* C(m; k, s, p, g), its shift that of the member, or `shift` where that is not NULL. */
qp_value qp_jpegai_c(qp_jpegai *j, qp_value x, const char *module, qp_jpegai_shape shape,
                     const int64_t *shift);
/* T(m; k, op) */
qp_value qp_jpegai_t(qp_jpegai *j, qp_value x, const char *module, uint32_t k, uint32_t out_pad);
qp_value qp_jpegai_relu6(qp_jpegai *j, qp_value x);
qp_value qp_jpegai_relu(qp_jpegai *j, qp_value x);
qp_value qp_jpegai_residual(qp_jpegai *j, qp_value x, const char *module); /* R(m) */
qp_value qp_jpegai_gate(qp_jpegai *j, qp_value x, const char *module);     /* G(m) */
qp_value qp_jpegai_cab(qp_jpegai *j, qp_value x);
qp_value qp_jpegai_tab(qp_jpegai *j, qp_value x, const char *module);
qp_value qp_jpegai_shuffle2(qp_jpegai *j, qp_value x);
qp_value qp_jpegai_denormalise(qp_jpegai *j, qp_value x); /* D */
qp_value qp_jpegai_add(qp_jpegai *j, qp_value a, qp_value b);
qp_value qp_jpegai_mul(qp_jpegai *j, qp_value a, qp_value b);
/* Refuses where a value has not that many channels. */
void qp_jpegai_expect(qp_jpegai *j, qp_value x, uint32_t channels, const char *text);

#endif
