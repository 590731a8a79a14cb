/* SPDX-License-Identifier: Apache-2.0 */
/* sets.c - the small sets: WHM1, WAM1, their bundles, int_synth, WSR1, and sets that carry graphs.
 */
#include "conform/sets.h"

#include "conform/sets_jpegai.h"
#include "graph/writer.h"

/* ---- values ------------------------------------------------------------------------------- */

/* Small integers that repeat with a prime period, so that no two rows of a layer are alike. */
static int64_t value_at(size_t index, int64_t span)
{
    return (int64_t)(index * 7 + 3) % 23 * span / 11 - span;
}

static void put_values(qp_buffer *b, size_t count, unsigned width, int64_t span)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(b, (uint64_t)value_at(i, span), width);
}

static qp_buffer *add_file(qp_small_set *set, const char *path)
{
    set->paths[set->count] = path;
    return &set->files[set->count++];
}

/* ---- networks ----------------------------------------------------------------------------- */

enum { AFRAC = 8 };

static void put_u32s(qp_buffer *b, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(b, values[i], 4);
}

static void begin_network(qp_buffer *b, const char *magic, uint32_t n_layers)
{
    qp_buffer_text(b, magic);
    qp_buffer_le(b, 1, 4); /* version and reserved */
    put_u32s(b, (const uint32_t[]){AFRAC, 10, 12, n_layers}, 4);
}

/* A transposed convolution (tag 0) or a convolution (1) of k·k taps, or of k in WAM1. */
static void put_convolution(qp_buffer *b, unsigned tag, const uint32_t c_out_k[3], uint32_t stride,
                            size_t taps)
{
    uint32_t c = c_out_k[0], out = c_out_k[1], k = c_out_k[2];
    qp_buffer_le(b, tag, 4);
    put_u32s(b, (const uint32_t[]){c, out, k, stride, k / 2, stride - 1}, tag == 0 ? 6 : 5);
    put_values(b, (size_t)c * out * taps, 2, 900);
    put_values(b, out, 8, 2000);
    put_values(b, out, 8, 70);
}

static void put_igdn(qp_buffer *b, uint32_t c)
{
    qp_buffer_le(b, 2, 4);
    qp_buffer_le(b, c, 4);
    for (size_t i = 0; i < (size_t)c * c; i++)
        qp_buffer_le(b, i % 5 * 40, 4);
    for (size_t i = 0; i < c; i++)
        qp_buffer_le(b, 60000 + i, 8);
}

static void put_relu(qp_buffer *b)
{
    qp_buffer_le(b, 3, 4);
}

static void put_leaky(qp_buffer *b, int64_t slope, uint32_t frac)
{
    qp_buffer_le(b, 4, 4);
    qp_buffer_le(b, (uint64_t)slope, 8);
    qp_buffer_le(b, frac, 4);
}

/* Upsampling by 2 from c channels to `out`, with an inverse GDN between. */
static void put_synthesis(qp_buffer *b, uint32_t c, uint32_t out)
{
    begin_network(b, "WHM1", 3);
    put_convolution(b, 0, (const uint32_t[]){c, 2, 3}, 2, 9);
    put_igdn(b, 2);
    put_convolution(b, 0, (const uint32_t[]){2, out, 1}, 1, 1);
}

/* The size kept, with a rectifier between. */
static void put_plain(qp_buffer *b, uint32_t c, uint32_t out)
{
    begin_network(b, "WHM1", 3);
    put_convolution(b, 1, (const uint32_t[]){c, 2, 3}, 1, 9);
    put_relu(b);
    put_convolution(b, 1, (const uint32_t[]){2, out, 1}, 1, 1);
}

static void put_entropy(qp_buffer *b)
{
    qp_buffer_format(b,
                     "{\"afrac\":%d,\"edges\":[20,300],\"y\":[{\"cdf\":[0,30000,65000,65536],"
                     "\"offset\":-1},{\"cdf\":[0,9000,40000,65000,65536],\"offset\":-2}],"
                     "\"z\":[{\"cdf\":[0,20000,60000,65536],\"offset\":-1}]}",
                     (int)AFRAC);
}

static void make_int_hyper(qp_small_set *set)
{
    qp_buffer *h_s = add_file(set, "h_s.whm");
    begin_network(h_s, "WHM1", 3);
    put_convolution(h_s, 0, (const uint32_t[]){1, 2, 3}, 2, 9);
    put_leaky(h_s, 13, 7);
    put_convolution(h_s, 1, (const uint32_t[]){2, 4, 3}, 1, 9);
    put_synthesis(add_file(set, "g_s.whm"), 2, 3);
    put_entropy(add_file(set, "entropy.json"));
}

static void make_splat(qp_small_set *set)
{
    put_synthesis(add_file(set, "g_s.whm"), 3, 4);
}

static void make_audio(qp_small_set *set)
{
    qp_buffer *b = add_file(set, "g_s.wam");
    begin_network(b, "WAM1", 3);
    put_convolution(b, 0, (const uint32_t[]){2, 3, 4}, 2, 4);
    put_igdn(b, 3);
    put_convolution(b, 0, (const uint32_t[]){3, 1, 3}, 1, 3);
}

static void make_world(qp_small_set *set)
{
    qp_buffer *t = add_file(set, "T.whm");
    begin_network(t, "WHM1", 4);
    put_relu(t);
    put_convolution(t, 1, (const uint32_t[]){5, 3, 3}, 1, 9);
    put_leaky(t, 26, 7);
    put_convolution(t, 1, (const uint32_t[]){3, 2, 1}, 1, 1);
    put_synthesis(add_file(set, "g_s.whm"), 2, 3);
}

/* ---- bundles ------------------------------------------------------------------------------ */

typedef void put_network(qp_buffer *b, uint32_t c, uint32_t out);

static void put_length(qp_buffer *b, size_t at)
{
    for (unsigned i = 0; i < 4 && !b->failed; i++)
        b->bytes[at + i] = (uint8_t)((b->size - at - 4) >> (8 * i) & 0xFF);
}

static void put_part(qp_buffer *b, put_network *put, uint32_t c, uint32_t out)
{
    size_t at = b->size;
    qp_buffer_le(b, 0, 4);
    put(b, c, out);
    put_length(b, at);
}

static void put_tables(qp_buffer *b)
{
    size_t at = b->size;
    qp_buffer_le(b, 0, 4);
    put_entropy(b);
    put_length(b, at);
}

static qp_buffer *begin_bundle(qp_small_set *set, const char *path, const char *magic, uint32_t n)
{
    qp_buffer *b = add_file(set, path);
    qp_buffer_text(b, magic);
    qp_buffer_le(b, 1, 4);
    qp_buffer_le(b, n, 4);
    return b;
}

static void make_int_mlicpp(qp_small_set *set)
{
    qp_buffer *b = begin_bundle(set, "model.wmb", "WMB1", 3);
    put_part(b, put_synthesis, 1, 4);
    put_part(b, put_plain, 6, 4);
    put_part(b, put_synthesis, 2, 3);
    put_tables(b);
}

static void make_int_cond(qp_small_set *set)
{
    qp_buffer *b = begin_bundle(set, "model.wcb", "WCB1", 4);
    put_part(b, put_plain, 2, 2);
    put_part(b, put_plain, 2, 4);
    put_part(b, put_synthesis, 4, 2);
    put_part(b, put_plain, 2, 3);
    put_tables(b);
}

/* ---- int_synth ---------------------------------------------------------------------------- */

static void put_list(qp_buffer *b, const char *name, const int64_t *values, size_t count)
{
    qp_buffer_format(b, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(b, i == 0 ? "" : ",");
        qp_buffer_i64_decimal(b, values[i]);
    }
    qp_buffer_text(b, "]");
}

static void make_int_synth(qp_small_set *set)
{
    int64_t values[36];
    qp_buffer *b = add_file(set, "int_synth.json");
    for (size_t i = 0; i < QP_COUNT(values); i++)
        values[i] = value_at(i, 300);
    qp_buffer_text(b, "{\"layers\":[{\"in_ch\":2,\"out_ch\":4,\"k\":2,\"stride\":2,\"pad\":0,"
                      "\"shift\":6,\"relu\":true");
    put_list(b, "weight", values, 32);
    put_list(b, "bias", values, 4);
    qp_buffer_text(b, "},{\"in_ch\":4,\"out_ch\":3,\"k\":1,\"stride\":1,\"pad\":0,\"out_pad\":0");
    put_list(b, "weight", values + 3, 12);
    put_list(b, "bias", values, 3);
    qp_buffer_text(b, "}]}");
}

/* One channel, a kernel of 1 and a stride of 1. */
static void put_unit(qp_buffer *b, int64_t weight, int64_t bias, bool relu)
{
    qp_buffer_text(b, "{\"in_ch\":1,\"out_ch\":1,\"k\":1,\"stride\":1,\"pad\":0");
    put_list(b, "weight", &weight, 1);
    put_list(b, "bias", &bias, 1);
    qp_buffer_text(b, relu ? ",\"relu\":true}" : "}");
}

/* 2^63 - 1 = 127 · 1205449 · 92737 · 649657, so that 127, the largest latent, becomes the
 * largest sum of 64 bits. */
static void make_synth_limit(qp_small_set *set, int64_t bias)
{
    qp_buffer *b = add_file(set, "int_synth.json");
    qp_buffer_text(b, "{\"layers\":[");
    put_unit(b, 1205449, 0, true);
    qp_buffer_text(b, ",");
    put_unit(b, 92737, 0, false);
    qp_buffer_text(b, ",");
    put_unit(b, 649657, bias, false);
    qp_buffer_text(b, "]}");
}

static void make_synth_at_acc64(qp_small_set *set)
{
    make_synth_limit(set, 0);
}

static void make_synth_past_acc64(qp_small_set *set)
{
    make_synth_limit(set, 1);
}

/* -128 · 2^24 = -2^31 */
static void make_synth_weight(qp_small_set *set, int64_t weight)
{
    qp_buffer *b = add_file(set, "int_synth.json");
    qp_buffer_text(b, "{\"layers\":[");
    put_unit(b, weight, 0, false);
    qp_buffer_text(b, "]}");
}

static void make_synth_at_acc32(qp_small_set *set)
{
    make_synth_weight(set, (int64_t)1 << 24);
}

static void make_synth_past_acc32(qp_small_set *set)
{
    make_synth_weight(set, ((int64_t)1 << 24) + 1);
}

/* ---- WSR1 --------------------------------------------------------------------------------- */

/* out, k, shift, 3 reserved; the biases; the weights */
static void put_prior_layer(qp_buffer *b, uint32_t in, uint32_t out, uint32_t k, uint32_t shift)
{
    put_u32s(b, (const uint32_t[]){out, k, shift}, 3);
    put_values(b, out, 4, 500);
    put_values(b, (size_t)in * out * k * k, 2, 60);
}

static void make_sr2(qp_small_set *set)
{
    qp_buffer *b = add_file(set, "prior.wsr");
    qp_buffer_text(b, "WSR1");
    put_u32s(b, (const uint32_t[]){1, 1, 2}, 3);
    put_prior_layer(b, 1, 2, 3, 4);
    put_prior_layer(b, 2, 4, 1, 7);
}

/* ---- graphs ------------------------------------------------------------------------------- */

static uint32_t put_tensor(qp_graph_writer *w, qp_policy policy, int64_t lo, int64_t hi)
{
    qp_graph_tensor_record record = {lo, hi, 1, QP_EXPONENT_NONE, policy};
    return qp_writer_tensor(w, &record);
}

/* Half of input 0, added to input 1 where there is one. */
static void put_graph(qp_buffer *b, bool two)
{
    qp_graph_writer w;
    qp_graph_writer_init(&w, &b->allocator);
    uint32_t x = put_tensor(&w, QP_CHECK, 0, 255), y = 0;
    qp_writer_input(&w, &(qp_graph_input_record){.tensor = x});
    if (two) {
        y = put_tensor(&w, QP_CHECK, -255, 255);
        qp_writer_input(&w, &(qp_graph_input_record){.tensor = y});
    }
    uint32_t half = put_tensor(&w, QP_DERIVED, 0, 0), out = half;
    qp_buffer *params = qp_writer_begin_operator(&w, 0x0D, &x, 1, &half, 1); /* leaky */
    qp_buffer_le(params, 1, 8);
    qp_buffer_le(params, 1, 4);
    qp_writer_end_operator(&w);
    if (two) {
        out = put_tensor(&w, QP_DERIVED, 0, 0);
        qp_writer_begin_operator(&w, 0x05, (const uint32_t[]){half, y}, 2, &out, 1); /* add */
        qp_writer_end_operator(&w);
    }
    qp_writer_output(&w, out);
    if (qp_graph_writer_finish(&w, QP_ELEMENTS_MAX, b, NULL) != QP_OK)
        b->failed = true;
    qp_graph_writer_free(&w);
}

static void make_correction(qp_small_set *set)
{
    put_graph(add_file(set, "correction.whg1"), true);
}

static void make_graphs(qp_small_set *set)
{
    put_graph(add_file(set, "blend.whg1"), true);
    put_graph(add_file(set, "half.whg1"), false);
}

/* ---- all ---------------------------------------------------------------------------------- */

typedef struct row {
    const char *name, *capability, *pin;
    bool weak;
    void (*make)(qp_small_set *set);
} row;

static const row rows[] = {
    {"int_synth", "wai.neural.int_synth", NULL, false, make_int_synth},
    {"int_synth-at-acc64", "wai.neural.int_synth", NULL, false, make_synth_at_acc64},
    {"int_synth-past-acc64", "wai.neural.int_synth", NULL, true, make_synth_past_acc64},
    {"int_synth-at-acc32", "wai.neural.int_synth", "acc32", false, make_synth_at_acc32},
    {"int_synth-past-acc32", "wai.neural.int_synth", "acc32", true, make_synth_past_acc32},
    {"int_hyper", "wai.neural.int_hyper", "acc64", false, make_int_hyper},
    {"video-int_hyper", "wai.video.int_hyper", NULL, false, make_int_hyper},
    {"splat-int_codec", "wai.splat.int_codec", NULL, false, make_splat},
    {"audio-int_codec", "wai.audio.int_codec", NULL, false, make_audio},
    {"int_mlicpp", "wai.neural.int_mlicpp", NULL, false, make_int_mlicpp},
    {"int_cond", "wai.video.int_cond", NULL, false, make_int_cond},
    {"world", "wai.world.model", NULL, false, make_world},
    {"jpegai", "wai.image.jpegai", NULL, false, qp_small_jpegai},
    {"int_cond_refine", "wai.image.int_cond_refine", NULL, false, make_correction},
    {"sr2", NULL, NULL, false, make_sr2},
    {"graphs", NULL, NULL, false, make_graphs},
};

size_t qp_small_set_count(void)
{
    return QP_COUNT(rows);
}

qp_status qp_small_set_make(size_t index, const qp_allocator *allocator, qp_small_set *set,
                            qp_error *error)
{
    const row *r = &rows[index];
    bool failed = false;
    *set = (qp_small_set){
        .name = r->name, .capability = r->capability, .pin = r->pin, .weak = r->weak};
    for (size_t i = 0; i < QP_SMALL_SET_FILES; i++)
        qp_buffer_init(&set->files[i], allocator);
    r->make(set);
    for (size_t i = 0; i < set->count; i++) {
        const qp_buffer *file = &set->files[i];
        set->members[i] = (qp_member){set->paths[i], file->bytes, file->size};
        failed |= file->failed;
    }
    if (!failed)
        return QP_OK;
    qp_small_set_free(set);
    return qp_fail_memory(error, "a small set");
}

void qp_small_set_free(qp_small_set *set)
{
    for (size_t i = 0; i < QP_SMALL_SET_FILES; i++)
        qp_buffer_free(&set->files[i]);
    set->count = 0;
}
