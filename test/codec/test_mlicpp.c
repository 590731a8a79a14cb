/* SPDX-License-Identifier: Apache-2.0 */
/* test_mlicpp.c - WIM1: a second decoder written from the text, both codes, bad input. */
#include "support/codec_checks.h"
#include "support/small_networks.h"

#include "codec/codec.h"
#include "quipu/latents.h"

enum { ZH = 2, ZW = 3, YH = 2 * ZH, YW = 2 * ZW, PLANE = YH * YW };
enum { N_Z = SMALL_MLICPP_Z * ZH * ZW, N_Y = SMALL_MLICPP_Y * PLANE, SLICES = 2 };
enum { HEIGHT = 4 * ZH - 1, WIDTH = 4 * ZW };
/* Offsets in a payload. */
enum { H = 8, W = 12, Z = 16, Y = 22, K = 28, RESERVED = 30, Z_SIZE = 32, Y_SIZE = 36, DATA = 40 };

typedef struct fixture {
    small_set set;
    int32_t z[N_Z];
    int64_t y[N_Y];
    qp_encoded payload;
    codec_case c;
} fixture;

static qp_status encode(fixture *f, uint32_t slices)
{
    qp_mlicpp_source source = {
        HEIGHT, WIDTH, slices, {SMALL_MLICPP_Z, ZH, ZW, f->z}, {SMALL_MLICPP_Y, YH, YW, f->y}};
    codec_open open = codec_start(&f->c, 0);
    qp_encoded_free(NULL, &f->payload);
    qp_status status = qp_mlicpp_encode(open.set, &source, NULL, &f->payload, NULL);
    f->c.unit.bytes = f->payload.bytes;
    f->c.unit.size = f->payload.size;
    codec_end(&open);
    return status;
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    small_set_mlicpp(5, &f->set);
    small_symbols(6, f->z, N_Z);
    small_values(7, f->y, N_Y);
    f->c = (codec_case){.capability = "wai.neural.int_mlicpp", .set = &f->set};
    assert_int_equal(encode(f, SLICES), QP_OK);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    qp_encoded_free(NULL, &f->payload);
    small_set_free(&f->set);
    free(f);
    return 0;
}

/* ---- the second decoder ------------------------------------------------------------------- */

static qp_session *session_of(const codec_open *open, size_t graph)
{
    qp_session_options options = {.graph = graph, .profile = QP_ACC64, .reference = 1};
    qp_session *session;
    assert_int_equal(qp_session_create(qp_lowered_certificate(qp_set_lowered(open->set)), &options,
                                       NULL, &session, NULL),
                     QP_OK);
    return session;
}

static void run(qp_session *session, const qp_array *in, int64_t *out)
{
    qp_array given;
    assert_int_equal(qp_session_decode(session, in, 1, NULL, 0, NULL), QP_OK);
    assert_int_equal(qp_session_output(session, 0, &given), QP_OK);
    qp_array_read(&given, 0, (size_t)qp_array_elements(&given), out);
}

/* One pass over a slice, symbol by symbol. */
static void decode_pass(const qp_entropy *e, qp_rans_decoder *d, const int64_t *conditions,
                        size_t slice, int parity, int64_t *y)
{
    for (size_t i = 0; i < SMALL_MLICPP_Y / SLICES * PLANE; i++) {
        size_t at = slice * (SMALL_MLICPP_Y / SLICES) * PLANE + i;
        int32_t symbol;
        if ((int)((at / YW % YH + at % YW) % 2) != parity)
            continue;
        size_t table = qp_bucket(conditions[at], qp_entropy_edges(e), QP_BUCKET_CEIL);
        assert_int_equal(qp_rans_decode(d, table, &symbol, NULL), QP_OK);
        assert_int_equal(qp_dequantize(symbol, e->afrac, conditions[N_Y + at], &y[at], NULL),
                         QP_OK);
    }
}

static void decode_y(const codec_open *open, qp_rans_decoder *d, int64_t *joined, size_t n_h)
{
    qp_session *entropy = session_of(open, 1);
    qp_array in = {joined, QP_INT64, (uint32_t)(SMALL_MLICPP_Y + n_h / PLANE), YH, YW};
    int64_t conditions[2 * N_Y];
    for (size_t slice = 0; slice < SLICES; slice++)
        for (int parity = 0; parity < 2; parity++) {
            run(entropy, &in, conditions);
            decode_pass(&open->set->entropy, d, conditions, slice, parity, joined);
        }
    qp_session_free(entropy);
}

static void decodes_as_the_text_says(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    const uint8_t *bytes = f->c.unit.bytes;
    uint32_t z_size = qp_load_u32(bytes + Z_SIZE), y_size = qp_load_u32(bytes + Y_SIZE);
    int64_t z[N_Z], joined[N_Y + 3 * PLANE] = {0}, picture[3 * 16 * ZH * ZW];
    qp_session *h_s = session_of(&open, 0), *g_s = session_of(&open, 2);
    qp_rans_decoder d;
    qp_media media;

    for (size_t i = 0; i < N_Z; i++)
        z[i] = (int64_t)f->z[i] * (1 << SMALL_AFRAC);
    run(h_s, &(qp_array){z, QP_INT64, SMALL_MLICPP_Z, ZH, ZW}, joined + N_Y);
    assert_int_equal(
        qp_rans_decoder_init(&d, open.set->entropy.y, bytes + DATA + z_size, y_size, NULL), QP_OK);
    decode_y(&open, &d, joined, 3 * PLANE);
    assert_int_equal(qp_rans_finish(&d, NULL), QP_OK);
    run(g_s, &(qp_array){joined, QP_INT64, SMALL_MLICPP_Y, YH, YW}, picture);

    assert_int_equal(qp_decoder_decode(open.decoder, &f->c.unit, &media, NULL), QP_OK);
    assert_int_equal(media.size, HEIGHT * WIDTH * 3);
    for (size_t i = 0; i < media.size; i++) {
        size_t c = i % 3, x = i / 3 % WIDTH, row = i / 3 / WIDTH;
        assert_int_equal(media.bytes[i], picture[(c * 4 * ZH + row) * 4 * ZW + x]);
    }
    /* what was chosen comes as near as a whole symbol can */
    for (size_t i = 0; i < N_Y; i++)
        assert_true(llabs(joined[i] - f->y[i]) <= 1 << (SMALL_AFRAC - 1));
    qp_media_free(NULL, &media);
    qp_session_free(g_s);
    qp_session_free(h_s);
    codec_end(&open);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void golden(void **state)
{
    codec_golden(&((fixture *)*state)->c, QP_TEST_DATA "/codec/picture.wim");
}

static void framing(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, 0, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 6, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, H, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, W, 65537, 4, QP_PAYLOAD_MALFORMED);
    for (size_t at = Z; at < K; at += 2)
        codec_refused_with(c, at, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, Y + 2, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED); /* past 2^26 elements */
    codec_refused_with(c, K, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, K, 3, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, RESERVED, 1, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, Z_SIZE, 6, 4, QP_PAYLOAD_MALFORMED);
}

static void what_does_not_fit(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, Z, SMALL_MLICPP_Z + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, Z + 2, ZH + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, Y, SMALL_MLICPP_Y + 2, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, Y + 4, YW + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, H, 4 * ZH + 1, 4, QP_MODEL_MISMATCH);
    codec_refused_with(c, W, 4 * ZW + 1, 4, QP_MODEL_MISMATCH);
}

/* A stream that runs out: seen at its end alone. */
static void streams(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    uint32_t z_size = qp_load_u32((const uint8_t *)c->unit.bytes + Z_SIZE);
    size_t cut = c->unit.size - 8;
    codec_case shorter = *c;
    uint8_t *bytes = codec_patch(c, Y_SIZE, cut - DATA - z_size, 4);
    shorter.unit.bytes = bytes;
    shorter.unit.size = cut;
    codec_refused(&shorter, QP_PAYLOAD_MALFORMED);
    free(bytes);
}

/* A value that a network refuses has the payload's code too. */
static void a_latent_out_of_range(void **state)
{
    fixture *f = *state;
    uint8_t *file = f->set.files[0].bytes;
    size_t mult = 12 + 4 + 24 + 4 + 24 + 2 * SMALL_MLICPP_Z * 3 * 16; /* h_s's first */
    f->z[3] = 1 << 20;
    assert_int_equal(encode(f, SLICES), QP_OK);
    memset(file + mult, 0, 8);
    file[mult + 5] = 64; /* 2^46 */
    codec_refused(&f->c, QP_PAYLOAD_MALFORMED);
    assert_int_equal(encode(f, SLICES), QP_FIELD_RANGE);
}

static void encoder_refuses_other_sizes(void **state)
{
    const fixture *f = *state;
    qp_mlicpp_source source = {
        HEIGHT, WIDTH, SLICES, {SMALL_MLICPP_Z, ZH - 1, ZW, f->z}, {SMALL_MLICPP_Y, YH, YW, f->y}};
    codec_open open = codec_start(&f->c, 0);
    qp_encoded payload;
    assert_int_equal(qp_mlicpp_encode(open.set, &source, NULL, &payload, NULL), QP_MODEL_MISMATCH);
    assert_null(payload.bytes);
    codec_end(&open);
}

static void torment(void **state)
{
    codec_torment(&((fixture *)*state)->c);
}

static void every_number_of_slices(void **state)
{
    fixture *f = *state;
    assert_int_equal(encode(f, 1), QP_OK);
    assert_int_equal(codec_decode(&f->c, NULL, NULL), QP_OK);
    assert_int_equal(encode(f, 4), QP_OK);
    assert_int_equal(codec_decode(&f->c, NULL, NULL), QP_OK);
    assert_int_equal(encode(f, 3), QP_INVALID_ARGUMENT);
    f->y[2] = INT64_MAX;
    assert_int_equal(encode(f, 2), QP_FIELD_RANGE);
}

typedef struct encoding {
    const fixture *f;
    const qp_set *set;
} encoding;

static qp_status encode_with(void *context, const qp_allocator *allocator, qp_encoded *payload)
{
    const encoding *e = context;
    qp_mlicpp_source source = {HEIGHT,
                               WIDTH,
                               SLICES,
                               {SMALL_MLICPP_Z, ZH, ZW, e->f->z},
                               {SMALL_MLICPP_Y, YH, YW, e->f->y}};
    return qp_mlicpp_encode(e->set, &source, allocator, payload, NULL);
}

static void encoder_without_memory(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    codec_starve_encoder(encode_with, &(encoding){f, open.set});
    codec_end(&open);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(decodes_as_the_text_says),
        TEST(golden),
        TEST(framing),
        TEST(what_does_not_fit),
        TEST(streams),
        TEST(a_latent_out_of_range),
        TEST(encoder_refuses_other_sizes),
        TEST(every_number_of_slices),
        TEST(torment),
        TEST(encoder_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
