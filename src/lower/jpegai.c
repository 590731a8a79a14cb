/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai.c - jpegai-int/1: the graphs rec_y, rec_uv, syn_y and syn_uv (integer-operators.md section
 * 13.6.2), after the scale path's.
 */
#include "lower/jpegai.h"

enum { STAGES = 4, HYPER_SIDE = 4, LATENT_SIDE = 16, SYMBOL_MIN = -31, SYMBOL_MAX = 32 };

/* (0,0), (1,1), (0,1), (1,0), each as 2a + b. */
static const uint8_t sub_lattice[STAGES] = {0, 3, 1, 2};

/* ---- sub-lattices ------------------------------------------------------------------------- */

static qp_value merge(qp_jpegai *j, const qp_value parts[STAGES])
{
    if (j->status != QP_OK)
        return parts[0];
    qp_value out = qp_build_tensor(&j->build, parts[0].channels, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(&j->build, "subpos_merge", parts, STAGES, out);
    qp_buffer_append(params, sub_lattice, sizeof sub_lattice);
    qp_build_end(&j->build);
    return out;
}

static void split(qp_jpegai *j, qp_value x, qp_value parts[STAGES])
{
    const qp_operator *op = qp_operator_by_name("subpos_split", strlen("subpos_split"));
    uint32_t tensors[STAGES];
    for (unsigned i = 0; i < STAGES; i++) {
        parts[i] = qp_build_tensor(&j->build, x.channels, QP_LIMITS_DERIVED);
        tensors[i] = parts[i].tensor;
    }
    qp_buffer *params =
        qp_writer_begin_operator(&j->build.writer, op->opcode, &x.tensor, 1, tensors, STAGES);
    qp_buffer_append(params, sub_lattice, sizeof sub_lattice);
    qp_build_end(&j->build);
}

/* ---- rec_y and rec_uv --------------------------------------------------------------------- */

/* From z to psi, 4C channels: C for each sub-lattice. */
static qp_value hyper_decoder(qp_jpegai *j, qp_value z)
{
    uint32_t channels = z.channels;
    qp_scale q16 = {QP_Q16_ONE, 0, QP_ROUND_FLOOR};
    qp_value x = qp_build_scale(&j->build, z, q16, QP_LIMITS_DERIVED);
    x = qp_jpegai_c(j, x, "conv1", QP_JPEGAI_1X1, NULL);
    x = qp_jpegai_t(j, x, "conv2", 4, 0);
    x = qp_jpegai_relu6(j, x);
    x = qp_jpegai_c(j, x, "conv3", QP_JPEGAI_3X3, NULL);
    x = qp_jpegai_relu6(j, x);
    x = qp_jpegai_c(j, x, "conv4", QP_JPEGAI_3X3, NULL);
    qp_jpegai_expect(j, x, STAGES * channels, "conv4 does not give four times the channels");
    return x;
}

static qp_value slice(qp_jpegai *j, qp_value psi, uint32_t i)
{
    uint32_t channels = psi.channels / STAGES;
    if (j->status != QP_OK)
        return psi;
    return qp_build_split(&j->build, psi, i * channels, channels);
}

static qp_value concat(qp_jpegai *j, const qp_value *in, size_t n_in)
{
    return j->status == QP_OK ? qp_build_concat(&j->build, in, n_in, QP_LIMITS_DERIVED) : in[0];
}

/* A context stage: mu_i from psi and the y decoded before. */
static qp_value context_stage(qp_jpegai *j, qp_value psi, const qp_value *y, uint32_t i)
{
    qp_value p = slice(j, psi, i), f = p;
    uint32_t channels = psi.channels / STAGES;
    if (i > 0) {
        qp_value context = i == 1 ? y[0] : concat(j, y, i);
        f = qp_jpegai_c(j, context, "conv.0", QP_JPEGAI_1X1, NULL);
        f = qp_jpegai_c(j, f, "conv.1", (qp_jpegai_shape){3, 1, 1, 5}, NULL);
        f = concat(j, (const qp_value[]){f, p}, 2);
    }
    f = qp_jpegai_c(j, f, "fusion_pred_net.conv1", QP_JPEGAI_1X1, NULL);
    f = qp_jpegai_relu(j, f);
    f = qp_jpegai_c(j, f, "fusion_pred_net.conv2", QP_JPEGAI_1X1, NULL);
    f = qp_jpegai_relu(j, f);
    f = qp_jpegai_c(j, f, "fusion_pred_net.conv3", QP_JPEGAI_1X1, NULL);
    qp_jpegai_expect(j, f, channels, "fusion_pred_net.conv3 does not give the latent's channels");
    return f;
}

static qp_value reconstruct_luma(qp_jpegai *j, qp_value psi, qp_value residual)
{
    static const char *const paths[STAGES] = {"weights/mcm0_y.json", "weights/mcm1_y.json",
                                              "weights/mcm2_y.json", "weights/mcm3_y.json"};
    qp_value r[STAGES], y[STAGES];
    if (j->status != QP_OK)
        return psi;
    split(j, residual, r);
    for (uint32_t i = 0; i < STAGES; i++) {
        qp_jpegai_open(j, paths[i]);
        y[i] = qp_jpegai_add(j, r[i], context_stage(j, psi, y, i));
    }
    return merge(j, y);
}

static qp_value reconstruct_chroma(qp_jpegai *j, qp_value psi, qp_value residual)
{
    qp_value parts[STAGES];
    for (uint32_t i = 0; i < STAGES; i++)
        parts[i] = slice(j, psi, i);
    return qp_jpegai_add(j, residual, merge(j, parts));
}

static qp_status lower_rec(qp_lower_job *job, bool luma)
{
    uint32_t channels = luma ? QP_JPEGAI_LUMA : QP_JPEGAI_CHROMA;
    qp_limits symbols = {QP_CHECK, SYMBOL_MIN, SYMBOL_MAX};
    qp_jpegai j;
    qp_jpegai_begin(&j, job);
    qp_value z = qp_build_input(&j.build, channels, symbols, HYPER_SIDE, HYPER_SIDE);
    qp_value r = qp_build_input(&j.build, channels, QP_LIMITS_A32, LATENT_SIDE, LATENT_SIDE);
    qp_jpegai_open(&j, luma ? "weights/hyp_y.json" : "weights/hyp_uv.json");
    qp_value psi = hyper_decoder(&j, z);
    qp_value y = luma ? reconstruct_luma(&j, psi, r) : reconstruct_chroma(&j, psi, r);
    return qp_jpegai_end(&j, luma ? "rec_y" : "rec_uv", y);
}

/* ---- syn_y and syn_uv --------------------------------------------------------------------- */

static qp_value attention_pair(qp_jpegai *j, qp_value x)
{
    x = qp_jpegai_tab(j, x, "TAM.TABs.0");
    return qp_jpegai_tab(j, x, "TAM.TABs.1");
}

/* What both planes have in the middle: conv2_t to pixel_shuffle(2). */
static qp_value middle(qp_jpegai *j, qp_value x)
{
    x = qp_jpegai_t(j, x, "conv2_t", 3, 1);
    x = qp_jpegai_cab(j, x);
    x = qp_jpegai_gate(j, x, "iact2");
    x = qp_jpegai_c(j, x, "conv3_t", QP_JPEGAI_1X1, NULL);
    return qp_jpegai_shuffle2(j, x);
}

static qp_status lower_syn_y(qp_lower_job *job)
{
    qp_jpegai j;
    qp_jpegai_begin(&j, job);
    qp_value x = qp_build_input(&j.build, QP_JPEGAI_LUMA, QP_LIMITS_A32, LATENT_SIDE, LATENT_SIDE);
    qp_jpegai_open(&j, "weights/synth_y.json");
    x = qp_jpegai_residual(&j, x, "first_stage.0.0");
    x = qp_jpegai_t(&j, x, "first_stage.1", 3, 1);
    x = qp_jpegai_gate(&j, x, "first_stage.2");
    x = middle(&j, x);
    x = qp_jpegai_c(&j, x, "TAM.ds_conv", (qp_jpegai_shape){3, 2, 1, 1}, NULL);
    x = attention_pair(&j, x);
    x = qp_jpegai_t(&j, x, "TAM.us_conv", 3, 1);
    x = qp_jpegai_gate(&j, x, "iact3");
    x = qp_jpegai_t(&j, x, "conv4_t", 3, 1);
    qp_jpegai_expect(&j, x, 1, "conv4_t does not give 1 channel");
    return qp_jpegai_end(&j, "syn_y", qp_jpegai_denormalise(&j, x));
}

static qp_status lower_syn_uv(qp_lower_job *job)
{
    qp_jpegai j;
    qp_jpegai_begin(&j, job);
    qp_value luma =
        qp_build_input(&j.build, QP_JPEGAI_LUMA, QP_LIMITS_A32, LATENT_SIDE, LATENT_SIDE);
    qp_value chroma =
        qp_build_input(&j.build, QP_JPEGAI_CHROMA, QP_LIMITS_A32, LATENT_SIDE, LATENT_SIDE);
    qp_jpegai_open(&j, "weights/synth_uv.json");
    qp_value x = concat(&j, (const qp_value[]){luma, chroma}, 2);
    x = qp_jpegai_c(&j, x, "first_stage.conv1", QP_JPEGAI_3X3, NULL);
    x = concat(&j, (const qp_value[]){x, chroma}, 2);
    x = middle(&j, x);
    x = attention_pair(&j, x);
    x = qp_jpegai_gate(&j, x, "iact3");
    x = qp_jpegai_t(&j, x, "conv4_t", 3, 1);
    qp_jpegai_expect(&j, x, 8, "conv4_t does not give 8 channels");
    x = qp_jpegai_shuffle2(&j, x);
    return qp_jpegai_end(&j, "syn_uv", qp_jpegai_denormalise(&j, x));
}

qp_status qp_lower_jpegai(qp_lower_job *job)
{
    qp_status status = qp_jpegai_scale(job);
    if (status == QP_OK)
        status = lower_rec(job, true);
    if (status == QP_OK)
        status = lower_rec(job, false);
    if (status == QP_OK)
        status = lower_syn_y(job);
    return status == QP_OK ? lower_syn_uv(job) : status;
}
