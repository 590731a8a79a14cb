/* SPDX-License-Identifier: Apache-2.0 */
/* small_networks.c - see small_networks.h. */
#include "support/small_networks.h"

enum { TRANSPOSED = 0, CONV = 1, IGDN = 2, EDGES = 5, GF = 0, SHIFT = 16 };

/* ---- files -------------------------------------------------------------------------------- */

static qp_buffer *begin_set(small_set *set, const char *path)
{
    *set = (small_set){0};
    for (size_t i = 0; i < SMALL_FILES_MAX; i++)
        qp_buffer_init(&set->files[i], NULL);
    set->members[0].path = path;
    set->count = set->beside = 1;
    return &set->files[0];
}

static void end_set(small_set *set)
{
    set->members[0].bytes = set->files[0].bytes;
    set->members[0].size = set->files[0].size;
}

/* ---- sound -------------------------------------------------------------------------------- */

/* A layer of WAM1: k weights, not k·k, for each pair of channels. */
static void put_wam_layer(uint64_t *seed, const small_layer *l, qp_buffer *file)
{
    const uint32_t fields[] = {l->c, l->out, l->k, l->stride, l->pad, l->opad};
    qp_buffer_le(file, TRANSPOSED, 4);
    for (size_t i = 0; i < 6; i++)
        qp_buffer_le(file, fields[i], 4);
    for (size_t i = 0; i < (size_t)l->c * l->out * l->k; i++) {
        int64_t weight = (int64_t)small_random(seed, 2 * (uint32_t)l->reach + 1) - l->reach;
        qp_buffer_le(file, (uint64_t)weight, 2);
    }
    for (size_t i = 0; i < 2 * (size_t)l->out; i++)
        qp_buffer_le(file, (uint64_t)(i < l->out ? l->mult : l->bias), 8);
}

static void put_igdn(uint32_t channels, qp_buffer *file)
{
    qp_buffer_le(file, IGDN, 4);
    qp_buffer_le(file, channels, 4);
    for (uint32_t i = 0; i < channels * channels; i++)
        qp_buffer_le(file, i % 3 == 0, 4);
    for (uint32_t i = 0; i < channels; i++)
        qp_buffer_le(file, 60000 + 1000 * i, 8);
}

void small_set_audio(uint64_t seed, small_set *set)
{
    qp_buffer *file = begin_set(set, "g_s.wam");
    qp_buffer_text(file, "WAM1");
    qp_buffer_le(file, 1, 4);
    qp_buffer_le(file, SMALL_AFRAC, 4);
    qp_buffer_le(file, GF, 4);
    qp_buffer_le(file, SHIFT, 4);
    qp_buffer_le(file, 3, 4);
    put_wam_layer(&seed, &(small_layer){0, SMALL_AUDIO_LATENTS, 3, 4, 2, 1, 0, 300, 20, 3}, file);
    put_igdn(3, file);
    put_wam_layer(&seed, &(small_layer){0, 3, SMALL_AUDIO_CHANNELS, 3, 1, 1, 0, 300, 40, -5}, file);
    end_set(set);
    file = &set->files[set->count];
    small_whm_head(file, 1);
    small_whm_layer(
        &seed,
        &(small_layer){CONV, SMALL_AUDIO_CHANNELS, SMALL_AUDIO_LATENTS, 3, 2, 1, 0, 300, 12, 0},
        file);
    set->members[set->count++] = (qp_member){"g_a.whm", file->bytes, file->size};
}

/* ---- planes ------------------------------------------------------------------------------- */

void small_set_splat(uint64_t seed, small_set *set)
{
    qp_buffer *file = begin_set(set, "g_s.whm");
    small_whm_head(file, 3);
    small_whm_layer(
        &seed, &(small_layer){TRANSPOSED, SMALL_SPLAT_LATENTS, 4, 4, 2, 1, 0, 700, 24, 40}, file);
    put_igdn(4, file);
    small_whm_layer(&seed, &(small_layer){CONV, 4, SMALL_SPLAT_PLANES, 3, 1, 1, 0, 700, 14, 120},
                    file);
    end_set(set);
}

/* ---- bundles ------------------------------------------------------------------------------ */

/* Writes the length of what stands behind the 4 bytes at `at`. */
static void put_length(size_t at, qp_buffer *file)
{
    for (unsigned i = 0; i < 4 && !file->failed; i++)
        file->bytes[at + i] = (uint8_t)((file->size - at - 4) >> (8 * i) & 0xFF);
}

static void put_network(uint64_t *seed, const small_layer *layer, qp_buffer *file)
{
    size_t at = file->size;
    qp_buffer_le(file, 0, 4);
    small_whm_head(file, 2);
    small_whm_layer(seed, layer, file);
    small_whm_leaky(file);
    put_length(at, file);
}

static qp_buffer *begin_bundle(small_set *set, const char *path, const char *magic, uint32_t n)
{
    qp_buffer *file = begin_set(set, path);
    qp_buffer_text(file, magic);
    qp_buffer_le(file, 1, 4);
    qp_buffer_le(file, n, 4);
    return file;
}

static void end_bundle(uint64_t *seed, size_t n_z, small_set *set)
{
    qp_buffer *file = &set->files[0];
    size_t at = file->size;
    qp_buffer_le(file, 0, 4);
    small_entropy_json(seed, EDGES, n_z, file);
    put_length(at, file);
    end_set(set);
}

void small_set_mlicpp(uint64_t seed, small_set *set)
{
    enum { H = 3 };
    const small_layer h_s = {TRANSPOSED, SMALL_MLICPP_Z, H, 4, 2, 1, 0, 600, 48, 100};
    const small_layer entropy = {CONV, SMALL_MLICPP_Y + H, 2 * SMALL_MLICPP_Y, 3, 1, 1, 0, 600, 24,
                                 250};
    const small_layer g_s = {TRANSPOSED, SMALL_MLICPP_Y, 3, 4, 2, 1, 0, 700, 14, 110};
    qp_buffer *file = begin_bundle(set, "model.wmb", "WMB1", 3);
    put_network(&seed, &h_s, file);
    put_network(&seed, &entropy, file);
    put_network(&seed, &g_s, file);
    end_bundle(&seed, SMALL_MLICPP_Z, set);
}

void small_set_cond(uint64_t seed, small_set *set)
{
    enum { CTX = 2 };
    const small_layer ctx = {CONV, SMALL_COND_FEATURE, CTX, 3, 2, 1, 0, 600, 30, 90};
    const small_layer prior = {CONV, CTX, 2 * SMALL_COND_LATENTS, 3, 1, 1, 0, 700, 40, 250};
    const small_layer dec = {
        TRANSPOSED, SMALL_COND_LATENTS + CTX, SMALL_COND_FEATURE, 4, 2, 1, 0, 600, 24, 40};
    const small_layer recon = {TRANSPOSED, SMALL_COND_FEATURE, 3, 4, 2, 1, 0, 600, 24, 100};
    qp_buffer *file = begin_bundle(set, "model.wcb", "WCB1", 4);
    put_network(&seed, &ctx, file);
    put_network(&seed, &prior, file);
    put_network(&seed, &dec, file);
    put_network(&seed, &recon, file);
    end_bundle(&seed, 0, set);
}

/* ---- latents ------------------------------------------------------------------------------ */

void small_symbols(uint64_t seed, int32_t *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int32_t near = (int32_t)(small_random(&seed, 5) * small_random(&seed, 3)) - 4;
        bool far = small_random(&seed, 40) == 0;
        symbols[i] = far ? (int32_t)small_random(&seed, 400) - 200 : near;
    }
}

void small_values(uint64_t seed, int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (int64_t)small_random(&seed, 8 << SMALL_AFRAC) - (4 << SMALL_AFRAC);
}
