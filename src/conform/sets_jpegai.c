/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets_jpegai.c - the smallest bundle of wai.image.jpegai that section 13.6 admits: the channels
 * that it fixes, and as few as its rules allow elsewhere.
 */
#include "conform/sets_jpegai.h"

#include <stdio.h>

enum { LUMA = 160, CHROMA = 96, CDF = 63, SHIFT = 31 };

/* ---- JSON --------------------------------------------------------------------------------- */

typedef struct writer {
    qp_buffer *b;
    bool follows; /* a member stands before */
} writer;

static writer begin_file(qp_small_set *set, const char *path)
{
    set->paths[set->count] = path;
    writer w = {&set->files[set->count++], false};
    qp_buffer_text(w.b, "{");
    return w;
}

static void end_file(writer *w)
{
    qp_buffer_text(w->b, "}");
}

static void put_name(writer *w, const char *name)
{
    qp_buffer_format(w->b, "%s\"%s\":", w->follows ? "," : "", name);
    w->follows = true;
}

/* "[" and `count` values of a prime period between lo and lo + 12·step. */
static void put_values(writer *w, size_t count, int64_t lo, int64_t step)
{
    qp_buffer_text(w->b, "[");
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(w->b, i == 0 ? "" : ",");
        qp_buffer_i64_decimal(w->b, lo + (int64_t)(i * 5 % 13) * step);
    }
    qp_buffer_text(w->b, "]");
}

/* ---- the scale path ----------------------------------------------------------------------- */

static void put_counts(writer *w, const char *name, size_t rows)
{
    put_name(w, name);
    qp_buffer_text(w->b, "[");
    for (size_t r = 0; r < rows; r++)
        for (unsigned i = 0; i < CDF; i++)
            qp_buffer_format(w->b, "%s%u", r + i == 0 ? "" : ",", i < 30 ? 0 : i < 33 ? 128 : 255);
    qp_buffer_text(w->b, "]");
}

static void put_norm(qp_small_set *set)
{
    writer w = begin_file(set, "norm.json");
    put_name(&w, "pmf");
    for (unsigned r = 0; r < 32; r++)
        qp_buffer_format(w.b, "%s[%u,%u]", r == 0 ? "[" : ",", 200 - r, 56 + r);
    qp_buffer_text(w.b, "]");
    put_name(&w, "bounds");
    put_values(&w, 32, 8, 1);
    put_name(&w, "per_channel");
    qp_buffer_text(w.b, "16");
    put_counts(&w, "cdfs_y", LUMA);
    put_counts(&w, "cdfs_uv", CHROMA);
    put_name(&w, "gain_y");
    put_values(&w, LUMA, -40, 9);
    put_name(&w, "gain_uv");
    put_values(&w, CHROMA, -20, 5);
    end_file(&w);
}

static void put_tensor(writer *w, const char *name, const char *dims, size_t count, int64_t lo)
{
    put_name(w, name);
    qp_buffer_format(w->b, "{\"dims\":[%s],\"v\":", dims);
    put_values(w, count, lo, lo < 0 ? -lo / 6 : 1);
    qp_buffer_text(w->b, "}");
}

static void put_scale(qp_small_set *set, const char *path, unsigned channels)
{
    char dims[64];
    writer w = begin_file(set, path);
    snprintf(dims, sizeof dims, "1,%u,1,1", channels);
    put_tensor(&w, "conv1.weight", dims, channels, -90);
    put_tensor(&w, "conv1.bias", "1", 1, -300);
    put_tensor(&w, "onnx::Pow_85", "1,1,1,1", 1, 7);
    put_tensor(&w, "depthwise.weight", "2,1,3,3", 18, -60);
    put_tensor(&w, "depthwise.bias", "2", 2, -1000);
    put_tensor(&w, "onnx::Pow_91", "1,2,1,1", 2, 4);
    snprintf(dims, sizeof dims, "%u,2,1,1", 16 * channels);
    put_tensor(&w, "pointwise.weight", dims, (size_t)32 * channels, -120);
    snprintf(dims, sizeof dims, "%u", 16 * channels);
    put_tensor(&w, "pointwise.bias", dims, (size_t)16 * channels, -6);
    snprintf(dims, sizeof dims, "1,%u,1,1", 16 * channels);
    put_tensor(&w, "onnx::Pow_97", dims, (size_t)16 * channels, 1);
    end_file(&w);
}

/* ---- weight files ------------------------------------------------------------------------- */

/* A module: weights of the dims, and a bias of `bias` values, none for 0. */
static void put_module(writer *w, const char *name, const unsigned dims[4], unsigned bias)
{
    size_t count = (size_t)dims[0] * dims[1] * dims[2] * dims[3];
    qp_buffer_format(w->b, "%s\"%s.weight\":{\"kind\":\"conv\",\"dims\":[%u,%u,%u,%u],\"w\":",
                     w->follows ? "," : "", name, dims[0], dims[1], dims[2], dims[3]);
    w->follows = true;
    put_values(w, count, -6, 1);
    qp_buffer_format(w->b, ",\"mult\":%d,\"shift\":%d}", 1 << 28, (int)SHIFT);
    if (bias == 0)
        return;
    qp_buffer_format(w->b, ",\"%s.bias\":{\"kind\":\"q16\",\"v\":", name);
    put_values(w, bias, -3000, 500);
    qp_buffer_text(w->b, "}");
}

#define DIMS(...) ((const unsigned[]){__VA_ARGS__})

static void put_q16(writer *w, const char *name, size_t count, int64_t lo)
{
    put_name(w, name);
    qp_buffer_text(w->b, "{\"kind\":\"q16\",\"v\":");
    put_values(w, count, lo, 700);
    qp_buffer_text(w->b, "}");
}

static void put_hyper(qp_small_set *set, const char *path, unsigned channels)
{
    writer w = begin_file(set, path);
    put_module(&w, "conv1", DIMS(2, channels, 1, 1), 2);
    put_module(&w, "conv2", DIMS(2, 1, 4, 4), 1);
    put_module(&w, "conv3", DIMS(1, 1, 3, 3), 0);
    put_module(&w, "conv4", DIMS(4 * channels, 1, 3, 3), 4 * channels);
    put_name(&w, "ignored");
    qp_buffer_text(w.b, "{\"kind\":\"note\",\"w\":1.5}");
    end_file(&w);
}

static void put_context(qp_small_set *set, const char *path, unsigned stage)
{
    writer w = begin_file(set, path);
    if (stage > 0) {
        put_module(&w, "conv.0", DIMS(5, stage * LUMA, 1, 1), 5);
        put_module(&w, "conv.1", DIMS(5, 1, 3, 3), 5);
    }
    put_module(&w, "fusion_pred_net.conv1", DIMS(1, LUMA + (stage > 0 ? 5 : 0), 1, 1), 1);
    put_module(&w, "fusion_pred_net.conv2", DIMS(1, 1, 1, 1), 0);
    put_module(&w, "fusion_pred_net.conv3", DIMS(LUMA, 1, 1, 1), LUMA);
    end_file(&w);
}

static void put_part(writer *w, const char *module, const char *part, const unsigned dims[4],
                     unsigned bias)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s", module, part);
    put_module(w, name, dims, bias);
}

static void put_residual(writer *w, const char *module, unsigned c)
{
    put_part(w, module, ".conv1", DIMS(1, c, 3, 3), 1);
    put_part(w, module, ".conv2", DIMS(c, 1, 3, 3), 0);
}

static void put_gate(writer *w, const char *module, unsigned c)
{
    put_part(w, module, ".conv", DIMS(4, c / 4, 3, 3), 4);
    put_part(w, module, ".conv2", DIMS(c, 4, 1, 1), c);
}

static void put_cab(writer *w, unsigned c)
{
    put_residual(w, "CAB.residual_trunk.0", c);
    put_residual(w, "CAB.residual_trunk.1", c);
    put_module(w, "CAB.subscale", DIMS(2, c, 3, 3), 2);
    put_residual(w, "CAB.residual_mask2.0", 2);
    put_residual(w, "CAB.residual_mask3.0", 2);
    put_module(w, "CAB.upscale", DIMS(2, c, 3, 3), c);
}

static void put_norm_layer(writer *w, const char *module, const char *part, unsigned c)
{
    char name[80];
    snprintf(name, sizeof name, "%s%s.weight", module, part);
    put_q16(w, name, c, 60000);
    snprintf(name, sizeof name, "%s%s.bias", module, part);
    put_q16(w, name, c, -4000);
}

static void put_tab(writer *w, const char *module, unsigned c)
{
    char name[80];
    put_norm_layer(w, module, ".prep_data.norm1", c);
    put_part(w, module, ".prep_data.conv1", DIMS(3 * c, c, 1, 1), 3 * c);
    put_part(w, module, ".prep_data.conv2", DIMS(3 * c, 1, 3, 3), 0);
    snprintf(name, sizeof name, "%s.attn.temperature", module);
    put_q16(w, name, 4, 65536);
    put_part(w, module, ".attn.project_out", DIMS(c, c, 1, 1), c);
    put_norm_layer(w, module, ".ffn.norm1", c);
    put_part(w, module, ".ffn.project_in", DIMS(6, c, 1, 1), 6);
    put_part(w, module, ".ffn.dwconv", DIMS(6, 1, 3, 3), 6);
    put_part(w, module, ".ffn.project_out", DIMS(c, 3, 1, 1), 0);
}

static void put_synth_y(qp_small_set *set)
{
    writer w = begin_file(set, "weights/synth_y.json");
    put_residual(&w, "first_stage.0.0", LUMA);
    put_module(&w, "first_stage.1", DIMS(LUMA, 4, 3, 3), 4);
    put_gate(&w, "first_stage.2", 4);
    put_module(&w, "conv2_t", DIMS(4, 4, 3, 3), 0);
    put_cab(&w, 4);
    put_gate(&w, "iact2", 4);
    put_module(&w, "conv3_t", DIMS(16, 4, 1, 1), 16);
    put_module(&w, "TAM.ds_conv", DIMS(4, 4, 3, 3), 4);
    put_tab(&w, "TAM.TABs.0", 4);
    put_tab(&w, "TAM.TABs.1", 4);
    put_module(&w, "TAM.us_conv", DIMS(4, 4, 3, 3), 4);
    put_gate(&w, "iact3", 4);
    put_module(&w, "conv4_t", DIMS(4, 1, 3, 3), 1);
    end_file(&w);
}

static void put_synth_uv(qp_small_set *set)
{
    writer w = begin_file(set, "weights/synth_uv.json");
    put_module(&w, "first_stage.conv1", DIMS(1, LUMA + CHROMA, 3, 3), 1);
    put_module(&w, "conv2_t", DIMS(1 + CHROMA, 4, 3, 3), 4);
    put_cab(&w, 4);
    put_gate(&w, "iact2", 4);
    put_module(&w, "conv3_t", DIMS(16, 4, 1, 1), 0);
    put_tab(&w, "TAM.TABs.0", 4);
    put_tab(&w, "TAM.TABs.1", 4);
    put_gate(&w, "iact3", 4);
    put_module(&w, "conv4_t", DIMS(4, 8, 3, 3), 8);
    end_file(&w);
}

void qp_small_jpegai(qp_small_set *set)
{
    put_norm(set);
    put_scale(set, "weights/hs_y.json", LUMA);
    put_scale(set, "weights/hs_uv.json", CHROMA);
    put_hyper(set, "weights/hyp_y.json", LUMA);
    put_hyper(set, "weights/hyp_uv.json", CHROMA);
    put_context(set, "weights/mcm0_y.json", 0);
    put_context(set, "weights/mcm1_y.json", 1);
    put_context(set, "weights/mcm2_y.json", 2);
    put_context(set, "weights/mcm3_y.json", 3);
    put_synth_y(set);
    put_synth_uv(set);
}
