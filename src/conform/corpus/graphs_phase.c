/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corpus/graphs_phase.c - transposed convolutions as phase convolutions (section 9.3).
 *
 * Each graph computes one transposed convolution twice: output 0 by `conv_transpose`, output 1 by a
 * stride-1 `conv` with the stride's phases as its channels, `pixel_shuffle` and `crop`. The two
 * outputs are equal.
 */
#include "conform/corpus/parts.h"

enum { CIN = 2, COUT = 2, HEIGHT = 3, WIDTH = 4, SIDE_MAX = 6, STRIDE_MAX = 4 };

/* A square kernel, stride and padding. */
typedef struct phases {
    const char *name;
    uint32_t kernel, stride, padding, output_padding;
    qp_round round;
    qp_bias_place place;
} phases;

/* An output padding is at most what the phases' taps leave: taps·stride - kernel. */
static const phases table[] = {
    {"kernel 4, stride 2, padding 1", 4, 2, 1, 0, QP_ROUND_FLOOR, QP_BIAS_POST},
    {"kernel 3, stride 2, padding 1, output padding 1", 3, 2, 1, 1, QP_ROUND_HALF_UP, QP_BIAS_PRE},
    {"kernel 5, stride 2, padding 2, output padding 1", 5, 2, 2, 1, QP_ROUND_HALF_EVEN,
     QP_BIAS_POST},
    {"kernel 2, stride 3, taps missing", 2, 3, 0, 1, QP_ROUND_FLOOR, QP_BIAS_PRE},
    {"kernel 4, stride 4, one tap a phase", 4, 4, 0, 0, QP_ROUND_HALF_UP, QP_BIAS_POST},
    {"kernel 6, stride 4", 6, 4, 1, 2, QP_ROUND_FLOOR, QP_BIAS_PRE},
    {"kernel 1, stride 2, most positions hold the bias alone", 1, 2, 0, 1, QP_ROUND_FLOOR,
     QP_BIAS_PRE},
};

typedef struct weights {
    int64_t wt[CIN][COUT][SIDE_MAX][SIDE_MAX];
    int64_t mult[COUT], shift[COUT], bias[COUT];
} weights;

static void draw(qp_corpus *c, weights *w)
{
    for (unsigned ci = 0; ci < CIN; ci++)
        for (unsigned o = 0; o < COUT; o++)
            for (unsigned i = 0; i < SIDE_MAX; i++)
                qp_case_random_list(c, w->wt[ci][o][i], SIDE_MAX, (qp_range){-99, 99});
    qp_case_random_list(c, w->mult, COUT, (qp_range){-300, 300});
    qp_case_random_list(c, w->shift, COUT, (qp_range){0, 9});
    qp_case_random_list(c, w->bias, COUT, (qp_range){-4000, 4000});
}

static void transposed(qp_corpus *c, const phases *p, const weights *w)
{
    const uint32_t fields[] = {COUT,       p->kernel,         p->kernel,
                               p->stride,  p->stride,         p->padding,
                               p->padding, p->output_padding, p->output_padding};
    qp_case_rq rq = {.round = p->round,
                     .place = p->place,
                     .mult = {w->mult, COUT},
                     .shift = {w->shift, COUT},
                     .bias = {w->bias, COUT}};

    qp_case_output(c, qp_part(c, "conv_transpose", "0", COUT));
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &rq);
    for (unsigned ci = 0; ci < CIN; ci++)
        for (unsigned o = 0; o < COUT; o++)
            for (unsigned i = 0; i < p->kernel; i++)
                qp_case_integers(c, 1, (qp_list){w->wt[ci][o][i], p->kernel});
}

/* The weights of one phase and input channel: the sub-kernel, flipped; 0 where a tap is missing. */
static void phase_weights(qp_corpus *c, const phases *p, const int64_t kernel[SIDE_MAX][SIDE_MAX],
                          uint32_t phase)
{
    uint32_t taps = (p->kernel + p->stride - 1) / p->stride;
    uint32_t first_y = phase / p->stride, first_x = phase % p->stride;

    for (uint32_t i = 0; i < taps; i++)
        for (uint32_t j = 0; j < taps; j++) {
            uint32_t y = first_y + p->stride * (taps - 1 - i);
            uint32_t x = first_x + p->stride * (taps - 1 - j);
            int64_t value = y < p->kernel && x < p->kernel ? kernel[y][x] : 0;
            qp_case_integers(c, 1, (qp_list){&value, 1});
        }
}

static void phase_convolution(qp_corpus *c, const phases *p, const weights *w)
{
    enum { CHANNELS_MAX = COUT * STRIDE_MAX * STRIDE_MAX };
    int64_t mult[CHANNELS_MAX], shift[CHANNELS_MAX], bias[CHANNELS_MAX];
    uint32_t taps = (p->kernel + p->stride - 1) / p->stride;
    uint32_t count = p->stride * p->stride;
    const uint32_t fields[] = {COUT * count, taps, taps, 1, 1, taps - 1, taps - 1, 1};

    for (uint32_t k = 0; k < COUT * count; k++) {
        mult[k] = w->mult[k / count];
        shift[k] = w->shift[k / count];
        bias[k] = w->bias[k / count];
    }
    qp_case_rq rq = {.round = p->round,
                     .place = p->place,
                     .mult = {mult, COUT * count},
                     .shift = {shift, COUT * count},
                     .bias = {bias, COUT * count}};
    qp_part(c, "conv", "0", COUT * count);
    for (size_t i = 0; i < QP_COUNT(fields); i++)
        qp_case_u32(c, fields[i]);
    qp_case_u8(c, 1);
    qp_case_zeros(c, 3);
    qp_case_rq_block(c, &rq);
    for (uint32_t k = 0; k < COUT * count; k++)
        for (unsigned ci = 0; ci < CIN; ci++)
            phase_weights(c, p, w->wt[ci][k / count], k % count);
}

/* Interleaves the phases and crops the padding. Tensors: 0 the input, 1 conv_transpose's, 2 the
 * phases, 3 the shuffled. */
static void interleave(qp_corpus *c, const phases *p)
{
    uint32_t more = p->kernel + p->output_padding - 2 * p->padding;
    const uint32_t operands[] = {p->padding, p->padding, (HEIGHT - 1) * p->stride + more,
                                 (WIDTH - 1) * p->stride + more};
    qp_part(c, "pixel_shuffle", "2", COUT);
    qp_case_u32(c, p->stride);
    qp_case_output(c, qp_part(c, "crop", "3", COUT));
    for (size_t i = 0; i < QP_COUNT(operands); i++) {
        qp_case_zeros(c, 4);
        qp_case_u32(c, operands[i]);
    }
}

void qp_graphs_phase(qp_corpus *c, const void *context)
{
    (void)context;
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        weights w;
        qp_case(c, QP_WANT_ACC32, "%s", table[i].name);
        draw(c, &w);
        qp_case_input(c, CIN, -128, 127);
        transposed(c, &table[i], &w);
        phase_convolution(c, &table[i], &w);
        interleave(c, &table[i]);
        for (unsigned k = 0; k < 2; k++) {
            qp_case_decode(c, QP_OK);
            qp_case_give_random(c, HEIGHT, WIDTH);
        }
    }
}
