/* SPDX-License-Identifier: Apache-2.0 */
/* small_sets.c - see small_sets.h. */
#include "small_sets.h"

#include <stdlib.h>

enum { TRANSPOSED = 0, CONV = 1, LEAKY = 4, SHIFT = 16, GF = 0, SLOPE = 410, SLOPE_FRAC = 12 };
enum { EDGES = 8, TABLE = 24, FULL = 65536 };

uint32_t small_random(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % limit);
}

/* ---- networks ----------------------------------------------------------------------------- */

void small_whm_head(qp_buffer *file, uint32_t n_layers)
{
    qp_buffer_text(file, "WHM1");
    qp_buffer_le(file, 1, 4); /* version 1 and 3 reserved bytes */
    qp_buffer_le(file, SMALL_AFRAC, 4);
    qp_buffer_le(file, GF, 4);
    qp_buffer_le(file, SHIFT, 4);
    qp_buffer_le(file, n_layers, 4);
}

void small_whm_layer(uint64_t *seed, const small_layer *layer, qp_buffer *file)
{
    const uint32_t fields[] = {layer->c,      layer->out, layer->k,
                               layer->stride, layer->pad, layer->opad};
    size_t n_fields = layer->tag == TRANSPOSED ? 6 : 5;
    size_t weights = (size_t)layer->c * layer->out * layer->k * layer->k;

    qp_buffer_le(file, layer->tag, 4);
    for (size_t i = 0; i < n_fields; i++)
        qp_buffer_le(file, fields[i], 4);
    for (size_t i = 0; i < weights; i++) {
        uint32_t steps = small_random(seed, 2 * (uint32_t)layer->reach + 1);
        qp_buffer_le(file, (uint64_t)((int64_t)steps - layer->reach), 2);
    }
    for (size_t i = 0; i < layer->out; i++)
        qp_buffer_le(file, (uint64_t)layer->mult, 8);
    for (size_t i = 0; i < layer->out; i++)
        qp_buffer_le(file, (uint64_t)layer->bias, 8);
}

void small_whm_leaky(qp_buffer *file)
{
    qp_buffer_le(file, LEAKY, 4);
    qp_buffer_le(file, SLOPE, 8);
    qp_buffer_le(file, SLOPE_FRAC, 4);
}

/* ---- tables ------------------------------------------------------------------------------- */

void small_table_json(uint64_t *seed, size_t n, int64_t offset, qp_buffer *text)
{
    int64_t weights[TABLE * 2], total = 0, so_far = 0, count = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        size_t from_end = i < n - 2 - i ? i : n - 2 - i;
        weights[i] = (int64_t)(1 + from_end * from_end) * 16 + small_random(seed, 16);
        total += weights[i];
    }
    qp_buffer_text(text, "{\"cdf\":[0");
    for (size_t i = 0; i + 2 < n; i++) {
        so_far += weights[i];
        count = (int64_t)i + 1 + so_far * (FULL - (int64_t)n) / total; /* each at least 1 */
        qp_buffer_text(text, ",");
        qp_buffer_i64_decimal(text, count);
    }
    qp_buffer_format(text, ",%d],\"offset\":%lld}", FULL, (long long)offset);
}

void small_entropy_json(uint64_t *seed, size_t n_edges, size_t n_z, qp_buffer *text)
{
    qp_buffer_format(text, "{\"afrac\":%d,\"edges\":[", SMALL_AFRAC);
    for (size_t i = 0; i < n_edges; i++)
        qp_buffer_format(text, i == 0 ? "%zu" : ",%zu", 128 * i);
    qp_buffer_text(text, "],\"y\":[");
    for (size_t i = 0; i < n_edges; i++) {
        qp_buffer_text(text, i == 0 ? "" : ",");
        small_table_json(seed, TABLE - n_edges + i, -(int64_t)(TABLE - n_edges + i) / 2, text);
    }
    qp_buffer_text(text, "],\"z\":[");
    for (size_t i = 0; i < n_z; i++) {
        qp_buffer_text(text, i == 0 ? "" : ",");
        small_table_json(seed, TABLE, -TABLE / 2, text);
    }
    qp_buffer_text(text, "]}");
}

/* ---- sets --------------------------------------------------------------------------------- */

static void start(small_set *set)
{
    *set = (small_set){0};
    for (size_t i = 0; i < SMALL_FILES_MAX; i++)
        qp_buffer_init(&set->files[i], NULL);
}

static qp_buffer *begin_file(small_set *set, const char *path)
{
    set->members[set->count].path = path;
    return &set->files[set->count++];
}

static void finish(small_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        set->members[i].bytes = set->files[i].bytes;
        set->members[i].size = set->files[i].size;
    }
}

void small_set_hyper(uint64_t seed, small_set *set)
{
    qp_buffer *file;
    start(set);
    file = begin_file(set, "h_s.whm");
    small_whm_head(file, 2);
    small_whm_layer(
        &seed, &(small_layer){TRANSPOSED, SMALL_Z, 2 * SMALL_Y, 4, 2, 1, 0, 600, 48, 200}, file);
    small_whm_leaky(file);
    file = begin_file(set, "g_s.whm");
    small_whm_head(file, 3);
    small_whm_layer(&seed, &(small_layer){TRANSPOSED, SMALL_Y, 6, 4, 4, 0, 0, 700, 12, 60}, file);
    small_whm_leaky(file);
    small_whm_layer(&seed, &(small_layer){CONV, 6, 3, 3, 1, 1, 0, 900, 14, 100}, file);
    file = begin_file(set, "entropy.json");
    small_entropy_json(&seed, EDGES, SMALL_Z, file);
    set->beside = set->count;
    file = begin_file(set, "g_a.whm");
    small_whm_head(file, 2);
    small_whm_layer(&seed, &(small_layer){CONV, 3, SMALL_Y, 4, 4, 0, 0, 60, 5000, 0}, file);
    small_whm_leaky(file);
    file = begin_file(set, "h_a.whm");
    small_whm_head(file, 1);
    small_whm_layer(&seed, &(small_layer){CONV, SMALL_Y, SMALL_Z, 3, 2, 1, 0, 900, 30, 0}, file);
    finish(set);
}

static void put_integers(uint64_t *seed, size_t count, int32_t reach, qp_buffer *text)
{
    qp_buffer_text(text, "[");
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)small_random(seed, 2 * (uint32_t)reach + 1) - reach;
        qp_buffer_format(text, i == 0 ? "%lld" : ",%lld", (long long)value);
    }
    qp_buffer_text(text, "]");
}

/* Weights as [in][out][k][k]. */
static void put_weights(uint64_t *seed, size_t in, size_t out, size_t k, qp_buffer *text)
{
    qp_buffer_text(text, "[");
    for (size_t i = 0; i < in; i++) {
        qp_buffer_text(text, i == 0 ? "[" : ",[");
        for (size_t o = 0; o < out; o++) {
            qp_buffer_text(text, o == 0 ? "[" : ",[");
            for (size_t r = 0; r < k; r++) {
                qp_buffer_text(text, r == 0 ? "" : ",");
                put_integers(seed, k, 40, text);
            }
            qp_buffer_text(text, "]");
        }
        qp_buffer_text(text, "]");
    }
    qp_buffer_text(text, "]");
}

void small_set_synth(uint64_t seed, small_set *set)
{
    start(set);
    qp_buffer *file = begin_file(set, "int_synth.json");
    qp_buffer_text(file, "{\"layers\":[{\"in_ch\":2,\"out_ch\":3,\"k\":4,\"stride\":4,\"pad\":0,"
                         "\"shift\":4,\"weight\":");
    put_weights(&seed, 2, 3, 4, file);
    qp_buffer_text(file, ",\"bias\":");
    put_integers(&seed, 3, 2000, file);
    qp_buffer_text(file, "}]}");
    set->beside = set->count;
    finish(set);
}

void small_set_free(small_set *set)
{
    for (size_t i = SMALL_FILES_MAX; i > 0; i--)
        qp_buffer_free(&set->files[i - 1]);
}

/* ---- pictures ----------------------------------------------------------------------------- */

qp_media small_picture(uint64_t seed, uint32_t height, uint32_t width, uint32_t channels)
{
    size_t size = (size_t)height * width * channels;
    qp_media media = {QP_LAYOUT_PIXELS, 1, height, width, channels, 0, NULL, size};
    media.bytes = malloc(size);
    for (size_t i = 0; media.bytes != NULL && i < size; i++) {
        size_t c = i % channels, x = i / channels % width, y = i / channels / width;
        uint32_t edge = (x / 7 + y / 5) % 2 == 0 ? 60 : 0;
        media.bytes[i] = (uint8_t)((x * 3 + y * (c + 2) + edge + small_random(&seed, 12)) % 256);
    }
    return media;
}
