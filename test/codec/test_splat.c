/* SPDX-License-Identifier: Apache-2.0 */
/* test_splat.c - WIS1: round trips, every refusal, bad input and little memory. */
#include "support/codec_checks.h"
#include "support/small_networks.h"

#include "quipu/latents.h"

enum { SIDE_H = 5, SIDE_W = 6, COUNT = SMALL_SPLAT_LATENTS * SIDE_H * SIDE_W };
enum { HEIGHT = 2 * SIDE_H - 1, WIDTH = 2 * SIDE_W };
/* Offsets in a payload. */
enum { H = 8, W = 12, PLANES = 16, N_TABLES = 18, C = 20, SH = 22, SW = 24, RESERVED = 26 };
enum { TABLE = 28 };
/* Of the first multipliers of g_s.whm. */
enum { MULT = 24 + 4 + 24 + 2 * SMALL_SPLAT_LATENTS * 4 * 16 };

typedef struct fixture {
    small_set set;
    int32_t symbols[COUNT];
    qp_encoded payload;
    codec_case c;
} fixture;

static void encode(fixture *f)
{
    qp_splat_source source = {
        SMALL_SPLAT_PLANES, HEIGHT, WIDTH, {SMALL_SPLAT_LATENTS, SIDE_H, SIDE_W, f->symbols}};
    assert_int_equal(qp_splat_encode(&source, NULL, &f->payload, NULL), QP_OK);
    f->c = (codec_case){"wai.splat.int_codec", &f->set, {.bytes = f->payload.bytes}};
    f->c.unit.size = f->payload.size;
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    small_set_splat(3, &f->set);
    small_symbols(4, f->symbols, COUNT);
    encode(f);
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

/* The planes are the corner of what the set's graph gives for the latents. */
static void is_what_the_graph_gives(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    qp_session_options options = {.profile = QP_ACC64};
    int64_t latents[COUNT], value;
    qp_session *session;
    qp_array out;
    qp_media media;

    for (size_t i = 0; i < COUNT; i++)
        latents[i] = (int64_t)f->symbols[i] * (1 << SMALL_AFRAC);
    qp_array in = {latents, QP_INT64, SMALL_SPLAT_LATENTS, SIDE_H, SIDE_W};
    assert_int_equal(qp_session_create(qp_lowered_certificate(qp_set_lowered(open.set)), &options,
                                       NULL, &session, NULL),
                     QP_OK);
    assert_int_equal(qp_session_decode(session, &in, 1, NULL, 0, NULL), QP_OK);
    assert_int_equal(qp_session_output(session, 0, &out), QP_OK);
    assert_int_equal(qp_decoder_decode(open.decoder, &f->c.unit, &media, NULL), QP_OK);
    assert_int_equal(media.layout, QP_LAYOUT_PLANES);
    assert_int_equal(media.channels, SMALL_SPLAT_PLANES);
    assert_int_equal(media.height, HEIGHT);
    assert_int_equal(media.width, WIDTH);
    for (size_t i = 0; i < media.size; i++) {
        size_t x = i % WIDTH, y = i / WIDTH % HEIGHT, c = i / WIDTH / HEIGHT;
        qp_array_read(&out, (c * out.height + y) * out.width + x, 1, &value);
        assert_int_equal(media.bytes[i], value);
    }
    qp_media_free(NULL, &media);
    qp_session_free(session);
    codec_end(&open);
}

static void golden(void **state)
{
    codec_golden(&((fixture *)*state)->c, QP_TEST_DATA "/codec/splats.wis");
}

static void framing(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    const size_t at_least_one[] = {PLANES, C, SH, SW};
    for (size_t i = 0; i < TEST_COUNT(at_least_one); i++)
        codec_refused_with(c, at_least_one[i], 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 0, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 5, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, H, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, W, 65537, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, N_TABLES, 2, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, RESERVED, 256, 2, QP_PAYLOAD_MALFORMED);
}

static void what_does_not_fit(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, C, SMALL_SPLAT_LATENTS + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, PLANES, SMALL_SPLAT_PLANES - 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, H, 2 * SIDE_H + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, W, 2 * SIDE_W + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, SH, 65535 | 65535u << 16, 4, QP_TOO_LARGE);
    codec_refused_with(c, TABLE + 8, 1, 4, QP_MODEL_MISMATCH); /* cdf[0] is not 0 */
}

static void streams(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, SW, 60 * SIDE_W, 2, QP_STREAM_EXHAUSTED);
    codec_refused_with(c, SH, SIDE_H - 1, 2, QP_GEOMETRY_MISMATCH);
    uint8_t *bytes = codec_patch(c, SH, SIDE_H - 1, 2);
    codec_case fewer = *c;
    fewer.unit.bytes = bytes;
    codec_refused_with(&fewer, H, 1, 4, QP_STREAM_NONCANONICAL);
    free(bytes);
}

static void a_latent_out_of_range(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 4; i++) { /* multipliers of 2^46 */
        memset(f->set.files[0].bytes + MULT + 8 * i, 0, 8);
        f->set.files[0].bytes[MULT + 8 * i + 5] = 64;
    }
    f->symbols[5] = 1 << 20;
    qp_encoded_free(NULL, &f->payload);
    encode(f);
    codec_refused(&f->c, QP_FIELD_RANGE);
}

static void torment(void **state)
{
    codec_torment(&((fixture *)*state)->c);
}

static qp_status encode_with(void *context, const qp_allocator *allocator, qp_encoded *payload)
{
    const fixture *f = context;
    qp_splat_source source = {
        SMALL_SPLAT_PLANES, HEIGHT, WIDTH, {SMALL_SPLAT_LATENTS, SIDE_H, SIDE_W, f->symbols}};
    return qp_splat_encode(&source, allocator, payload, NULL);
}

static void encoder_without_memory(void **state)
{
    codec_starve_encoder(encode_with, *state);
}

static void encoder_refuses(void **state)
{
    fixture *f = *state;
    qp_splat_source source = {0, 1, 1, {SMALL_SPLAT_LATENTS, SIDE_H, SIDE_W, f->symbols}};
    qp_encoded payload;
    assert_int_equal(qp_splat_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.planes = 1;
    source.width = 65537;
    assert_int_equal(qp_splat_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.latents.channels = 0;
    assert_int_equal(qp_splat_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_what_the_graph_gives),
        TEST(golden),
        TEST(framing),
        TEST(what_does_not_fit),
        TEST(streams),
        TEST(a_latent_out_of_range),
        TEST(torment),
        TEST(encoder_refuses),
        TEST(encoder_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
