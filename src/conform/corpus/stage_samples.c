/* SPDX-License-Identifier: Apache-2.0 */
/* stage_samples.c - cases of the stage operators over samples and shapes: E10 to E13. */
#include "conform/stage_vectors.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { REFUSED = -1, SAMPLES_MAX = 3 * 7 * 9 };

/* A tensor of random values in [lo, hi], as the member `name`. */
static void random_tensor(qp_stage_corpus *c, const char *name, const int64_t shape[3], int64_t lo,
                          int64_t hi)
{
    int64_t data[SAMPLES_MAX];
    size_t count = (size_t)(shape[0] * shape[1] * shape[2]);
    for (size_t i = 0; i < count; i++)
        data[i] = qp_stage_random(c, 0, 3) == 0 ? (qp_stage_random(c, 0, 1) ? lo : hi)
                                                : qp_stage_random(c, lo, hi);
    qp_stage_in(c, "\"%s\":{", name);
    qp_stage_in_list(c, "data", data, count);
    qp_stage_in(c, ",");
    qp_stage_in_list(c, "shape", shape, 3);
    qp_stage_in(c, "}");
}

/* ---- E10 ---------------------------------------------------------------------------------- */

typedef struct motion_case {
    int64_t shape[3];
    int64_t y, x, c, dy, dx, precision;
} motion_case;

static void motion(qp_stage_corpus *c, const motion_case *m)
{
    qp_stage_in(c, "{\"c\":\"%lld\",\"dx\":\"%lld\",\"dy\":\"%lld\",", (long long)m->c,
                (long long)m->dx, (long long)m->dy);
    random_tensor(c, "frame", m->shape, 0, 255);
    qp_stage_in(c, ",\"precision\":\"%lld\",\"x\":\"%lld\",\"y\":\"%lld\"}",
                (long long)m->precision, (long long)m->x, (long long)m->y);
}

void qp_stage_cases_mc_predict(qp_stage_corpus *c)
{
    static const int64_t steps[] = {-21, -3, -2, -1, 0, 1, 2, 3, 22};
    static const motion_case wrong[] = {
        {{3, 4, 5}, 4, 0, 0, 0, 0, 1}, {{3, 4, 5}, -1, 0, 0, 0, 0, 1},
        {{3, 4, 5}, 0, 5, 0, 0, 0, 1}, {{3, 4, 5}, 0, -1, 0, 0, 0, 2},
        {{3, 4, 5}, 0, 0, 3, 0, 0, 1}, {{3, 4, 5}, 0, 0, -1, 0, 0, 1},
        {{3, 4, 5}, 0, 0, 0, 0, 0, 0}, {{3, 4, 5}, 0, 0, 0, 0, 0, 3},
        {{1, 4, 5}, 0, 0, 0, 0, 0, 1}, {{4, 4, 5}, 0, 0, 0, 0, 0, 1}};

    for (int64_t precision = 1; precision <= 2; precision++)
        for (size_t i = 0; i < COUNT(steps); i++)
            for (size_t j = 0; j < COUNT(steps); j++) {
                motion_case m = {{3, 4, 5}, 0,        0,        (int64_t)(i + j) % 3,
                                 steps[i],  steps[j], precision};
                m.y = (int64_t)(i * 3 + j) % 4;
                m.x = (int64_t)(i + j * 2) % 5;
                qp_stage_case(c, QP_OK, 0, "precision %d, vector (%d, %d)", (int)precision,
                              (int)m.dy, (int)m.dx);
                motion(c, &m);
            }
    for (int precision = 1; precision <= 2; precision++) {
        qp_stage_case(c, QP_OK, 0, "precision %d, one pixel, the ends of i32", precision);
        motion(c, &(motion_case){{3, 1, 1}, 0, 0, 2, INT32_MAX, INT32_MIN, precision});
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        qp_stage_case(c, QP_MODEL_MISMATCH, REFUSED, "operands that are none of the frame's, %d",
                      (int)i);
        motion(c, &wrong[i]);
    }
}

/* ---- E11 ---------------------------------------------------------------------------------- */

static void up2(qp_stage_corpus *c, const int64_t shape[3], int64_t d0, int64_t d1)
{
    qp_stage_in(c, "{\"d0\":\"%lld\",\"d1\":\"%lld\",", (long long)d0, (long long)d1);
    random_tensor(c, "prev", shape, 0, 255);
    qp_stage_in(c, "}");
}

void qp_stage_cases_up2_predict(qp_stage_corpus *c)
{
    static const int64_t wrong[][2] = {{0, 6}, {4, 0}, {3, 8}, {5, 6}, {4, 7}, {2, 6}, {4, 4}};

    for (int64_t d0 = 1; d0 <= 5; d0++)
        for (int64_t d1 = 1; d1 <= 5; d1 += d0 % 2 + 1) {
            qp_stage_case(c, QP_OK, 0, "%d by %d", (int)d0, (int)d1);
            up2(c, (const int64_t[]){1 + d1 % 3, (d0 + 1) / 2, (d1 + 1) / 2}, d0, d1);
        }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        qp_stage_case(c, QP_GEOMETRY_MISMATCH, REFUSED, "%d by %d from 2 by 3", (int)wrong[i][0],
                      (int)wrong[i][1]);
        up2(c, (const int64_t[]){3, 2, 3}, wrong[i][0], wrong[i][1]);
    }
}

/* ---- E12 ---------------------------------------------------------------------------------- */

typedef struct rate_case {
    qp_status want;
    int64_t channels, length, num, den, d0;
} rate_case;

void qp_stage_cases_rate_predict(qp_stage_corpus *c)
{
    static const rate_case cases[] = {{QP_OK, 1, 3, 2, 1, 6},
                                      {QP_OK, 2, 5, 3, 2, 7},
                                      {QP_OK, 2, 5, 2, 3, 3},
                                      {QP_OK, 1, 1, 7, 1, 7},
                                      {QP_OK, 3, 4, 1, 1, 4},
                                      {QP_OK, 1, 7, 441, 160, 19},
                                      {QP_OK, 1, 5, UINT32_MAX, UINT32_MAX, 5},
                                      {QP_OK, 1, 4, UINT32_MAX, UINT32_MAX / 3, 12},
                                      {QP_OK, 1, 3, UINT32_MAX, (int64_t)1 << 31, 5},
                                      {QP_OK, 1, 2, 1, 2, 1},
                                      {QP_GEOMETRY_MISMATCH, 1, 3, 2, 1, 5},
                                      {QP_GEOMETRY_MISMATCH, 1, 3, 2, 1, 7},
                                      {QP_GEOMETRY_MISMATCH, 1, 3, 2, 1, 0},
                                      {QP_GEOMETRY_MISMATCH, 1, 1, 1, 2, 0},
                                      {QP_GEOMETRY_MISMATCH, 1, 3, 0, 1, 0},
                                      {QP_GEOMETRY_MISMATCH, 1, 3, 2, 0, 6},
                                      {QP_GEOMETRY_MISMATCH, 2, 3, UINT32_MAX, UINT32_MAX, 2}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        const rate_case *r = &cases[i];
        for (int ends = 0; ends < 2; ends++) {
            qp_stage_case(c, r->want, REFUSED, "%d: %lld of %lld at %lld/%lld%s", (int)i,
                          (long long)r->d0, (long long)r->length, (long long)r->num,
                          (long long)r->den, ends ? ", the ends of i16" : "");
            qp_stage_in(c, "{\"d0\":\"%lld\",", (long long)r->d0);
            random_tensor(c, "prev", (const int64_t[]){r->channels, 1, r->length},
                          ends ? INT16_MIN : -300, ends ? INT16_MAX : 300);
            qp_stage_in(c, ",\"rate_den\":\"%lld\",\"rate_num\":\"%lld\"}", (long long)r->den,
                        (long long)r->num);
        }
    }
}

/* ---- E13 ---------------------------------------------------------------------------------- */

void qp_stage_cases_coding_order(qp_stage_corpus *c)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 1, 1}, {2, 2, 3}, {2, 3, 3},
                                        {1, 4, 1}, {1, 1, 5}, {2, 4, 6}, {3, 5, 2}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int kind = 0; kind < 4; kind++) {
            const char *order = kind < 2 ? "raster" : "checkerboard";
            const char *anchor = kind % 2 == 0 ? "true" : "false";
            qp_stage_case(c, QP_OK, 0, "%s over %d by %d by %d, anchor %s", order,
                          (int)shapes[i][0], (int)shapes[i][1], (int)shapes[i][2], anchor);
            qp_stage_in(c, "{\"anchor\":%s,\"order\":\"%s\",", anchor, order);
            qp_stage_in_list(c, "shape", shapes[i], 3);
            qp_stage_in(c, "}");
        }
}
