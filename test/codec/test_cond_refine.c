/* SPDX-License-Identifier: Apache-2.0 */
/* test_cond_refine.c - WCP1: corrections against a plain evaluation, lossless round trips, every
 * refusal, bad input. */
#include "support/codec_checks.h"
#include "support/small_networks.h"

#include "graph/writer.h"
#include "quipu/latents.h"

enum { HEIGHT = 9, WIDTH = 7, COLOURS = 3, SIDES = 3, PLANE = HEIGHT * WIDTH };
/* Offsets in a payload. */
enum { PREDICTION = 5, N_SIDE = 6, H = 8, W = 12, CHANNELS = 16, N_TABLES = 18, GRAPH = 20 };

typedef struct fixture {
    qp_media picture, below, half;
    int32_t side[SIDES * PLANE];
    qp_buffer graph;
    qp_encoded payload;
    codec_case c;
} fixture;

/* ---- graphs ------------------------------------------------------------------------------- */

static uint32_t put_tensor(qp_graph_writer *w, uint32_t channels, qp_policy policy,
                           const int64_t range[2])
{
    qp_graph_tensor_record record = {range[0], range[1], channels, QP_EXPONENT_NONE, policy};
    return qp_writer_tensor(w, &record);
}

/* side - leaky(prediction, 1/4), the side planes each in `reach`; without side planes the leaky
 * alone. */
static void put_graph(uint32_t sides, int64_t reach, qp_buffer *bytes)
{
    const int64_t samples[2] = {0, 255}, values[2] = {-reach, reach}, none[2] = {0, 0};
    qp_graph_writer w;
    qp_graph_writer_init(&w, NULL);
    bytes->size = 0;
    uint32_t x = put_tensor(&w, COLOURS, QP_CHECK, samples), y = 0;
    qp_writer_input(&w, &(qp_graph_input_record){.tensor = x});
    if (sides > 0) {
        y = put_tensor(&w, sides, QP_CHECK, values);
        qp_writer_input(&w, &(qp_graph_input_record){.tensor = y});
    }
    uint32_t quarter = put_tensor(&w, COLOURS, QP_DERIVED, none), out = quarter;
    qp_buffer *params = qp_writer_begin_operator(&w, 0x0D, &x, 1, &quarter, 1); /* leaky */
    qp_buffer_le(params, 1, 8);
    qp_buffer_le(params, 2, 4);
    qp_writer_end_operator(&w);
    if (sides > 0) {
        out = put_tensor(&w, COLOURS, QP_DERIVED, none);
        qp_writer_begin_operator(&w, 0x05, (const uint32_t[]){quarter, y}, 2, &out, 1); /* add */
        qp_writer_end_operator(&w);
    }
    qp_writer_output(&w, out);
    assert_int_equal(qp_graph_writer_finish(&w, QP_ELEMENTS_MAX, bytes, NULL), QP_OK);
    qp_graph_writer_free(&w);
}

/* ---- encoding ----------------------------------------------------------------------------- */

static void encode(fixture *f, uint32_t sides, int up2, uint32_t q)
{
    const qp_media *base = up2 ? &f->half : &f->below;
    qp_correction_source source = {.media = &f->picture,
                                   .base = base,
                                   .up2 = up2,
                                   .graph = f->graph.bytes,
                                   .graph_size = f->graph.size,
                                   .side = f->side,
                                   .n_side = sides,
                                   .q = q};
    qp_encoded_free(NULL, &f->payload);
    assert_int_equal(qp_correction_encode(&source, NULL, &f->payload, NULL), QP_OK);
    f->c = (codec_case){.capability = "wai.image.int_cond_refine"};
    f->c.unit = (qp_unit){f->payload.bytes, f->payload.size, base, 1};
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->picture = small_picture(11, HEIGHT, WIDTH, COLOURS);
    f->below = small_picture(12, HEIGHT, WIDTH, COLOURS);
    f->half = small_picture(13, (HEIGHT + 1) / 2, (WIDTH + 1) / 2, COLOURS);
    small_symbols(14, f->side, SIDES * PLANE);
    qp_buffer_init(&f->graph, NULL);
    put_graph(SIDES, 4096, &f->graph);
    encode(f, SIDES, 0, 1);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    qp_encoded_free(NULL, &f->payload);
    qp_buffer_free(&f->graph);
    qp_media_free(NULL, &f->half);
    qp_media_free(NULL, &f->below);
    qp_media_free(NULL, &f->picture);
    free(f);
    return 0;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static int32_t clamp(int32_t v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* With a step of 1 the picture comes back; with a wide one it is the sum, which is known, and what
 * a few steps make of it. */
static void is_the_sum_refined(void **state)
{
    enum { Q = 40 };
    fixture *f = *state;
    qp_media media;
    assert_int_equal(codec_decode(&f->c, &media, NULL), QP_OK);
    assert_memory_equal(media.bytes, f->picture.bytes, f->picture.size);
    qp_media_free(NULL, &media);

    encode(f, SIDES, 0, Q);
    assert_int_equal(codec_decode(&f->c, &media, NULL), QP_OK);
    for (size_t i = 0; i < media.size; i++) {
        int32_t p = f->below.bytes[i], side = f->side[i % COLOURS * PLANE + i / COLOURS];
        int32_t sum = clamp(p + p + side); /* leaky leaves what is not negative */
        int32_t steps = media.bytes[i] - sum;
        assert_true(steps % Q == 0 || media.bytes[i] == 0 || media.bytes[i] == 255);
        assert_true(abs(media.bytes[i] - f->picture.bytes[i]) <= Q / 2);
    }
    qp_media_free(NULL, &media);
}

static void every_form(void **state)
{
    fixture *f = *state;
    qp_media media;
    for (int up2 = 0; up2 < 2; up2++)
        for (int sides = 0; sides < 2; sides++) {
            put_graph(sides ? SIDES : 0, 4096, &f->graph);
            encode(f, sides ? SIDES : 0, up2, 1);
            assert_int_equal(codec_decode(&f->c, &media, NULL), QP_OK);
            assert_memory_equal(media.bytes, f->picture.bytes, f->picture.size);
            qp_media_free(NULL, &media);
        }
}

static void golden(void **state)
{
    fixture *f = *state;
    codec_golden(&f->c, QP_TEST_DATA "/codec/corrected.wcp");
    encode(f, SIDES, 1, 12);
    codec_golden(&f->c, QP_TEST_DATA "/codec/corrected_up2.wcp");
}

/* ---- refusals ----------------------------------------------------------------------------- */

static size_t side_at(const fixture *f)
{
    return GRAPH + 4 + f->graph.size;
}

static void framing(void **state)
{
    fixture *f = *state;
    const codec_case *c = &f->c;
    const uint8_t *bytes = f->payload.bytes;
    size_t n = qp_load_u32(bytes + side_at(f) + 4), at = side_at(f) + 8 + 4 * n;
    size_t nested = at + 4 + qp_load_u32(bytes + at) + 4;

    codec_refused_with(c, 0, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, PREDICTION, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, PREDICTION + 2, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, H, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, W, 65537, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, CHANNELS, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, N_TABLES, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, N_TABLES, 2, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, GRAPH, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, nested, 'w', 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, nested + 5, 1, 1, QP_PAYLOAD_MALFORMED); /* not identity */
    codec_refused_with(c, nested + 4, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, nested + 8 + 4, HEIGHT + 1, 4, QP_GEOMETRY_MISMATCH);
}

/* The nested layer, last in the payload, with its stream cut or lengthened by a word. */
static void refused_with_words(const fixture *f, size_t nested, int words, qp_status expected)
{
    size_t n = qp_load_u32(f->payload.bytes + nested + 40), at = nested + 44 + 4 * n;
    size_t kept = f->payload.size - (words < 0 ? 4 : 0), size = kept + (words > 0 ? 4 : 0);
    uint8_t *bytes = calloc(size, 1);
    codec_case c = f->c;
    assert_non_null(bytes);
    memcpy(bytes, f->payload.bytes, kept);
    for (unsigned i = 0; i < 4; i++) {
        bytes[nested - 4 + i] = (uint8_t)((size - nested) >> 8 * i);
        bytes[at + i] = (uint8_t)((size - at - 4) >> 8 * i);
    }
    c.unit.bytes = bytes;
    c.unit.size = size;
    codec_refused(&c, expected);
    free(bytes);
}

static void nested_codes(void **state)
{
    fixture *f = *state;
    const uint8_t *bytes = f->payload.bytes;
    size_t n = qp_load_u32(bytes + side_at(f) + 4), at = side_at(f) + 8 + 4 * n;
    size_t nested = at + 4 + qp_load_u32(bytes + at) + 4;
    codec_refused_with(&f->c, nested + 12, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(&f->c, nested + 32, 0, 2, QP_MODEL_MISMATCH); /* q */
    codec_refused_with(&f->c, nested + 44, 1, 4, QP_MODEL_MISMATCH); /* the table */
    refused_with_words(f, nested, -1, QP_STREAM_EXHAUSTED);
    refused_with_words(f, nested, 1, QP_STREAM_NONCANONICAL);
}

/* An offset of the nested payload is one of the whole. */
static void nested_offsets(void **state)
{
    fixture *f = *state;
    size_t nested = f->payload.size;
    qp_error error = {0};
    while (memcmp(f->payload.bytes + nested - 4, "WIR1", 4) != 0)
        nested--;
    nested -= 4;
    uint8_t *bytes = codec_patch(&f->c, nested + 7, 1, 1);
    codec_case patched = f->c;
    patched.unit.bytes = bytes;
    assert_int_equal(codec_decode(&patched, NULL, &error), QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.offset, nested + 7);
    free(bytes);
}

static void what_does_not_fit(void **state)
{
    fixture *f = *state;
    const codec_case *c = &f->c;
    codec_case other = *c;
    codec_refused_with(c, H, HEIGHT + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, H, UINT64_C(65536) | UINT64_C(65536) << 32, 8, QP_TOO_LARGE);
    codec_refused_with(c, CHANNELS, 2, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, N_SIDE, 1, 1, QP_MODEL_MISMATCH); /* the graph reads three planes */
    codec_refused_with(c, GRAPH + 4, 0, 1, QP_MODEL_MISMATCH);
    codec_refused_with(c, side_at(f) + 8, 1, 4, QP_MODEL_MISMATCH); /* cdf[0] is not 0 */
    codec_refused_with(c, PREDICTION, 1, 1, QP_GEOMETRY_MISMATCH);
    other.unit.n_base = 0;
    codec_refused(&other, QP_MODEL_MISMATCH);
    other = *c;
    other.unit.base = &f->half;
    codec_refused(&other, QP_GEOMETRY_MISMATCH);
}

static void streams_and_ranges(void **state)
{
    fixture *f = *state;
    size_t n = qp_load_u32(f->payload.bytes + side_at(f) + 4), at = side_at(f) + 8 + 4 * n;
    uint32_t size = qp_load_u32(f->payload.bytes + at);
    codec_refused_with(&f->c, at + size, f->payload.bytes[at + size] ^ 0x5Au, 1,
                       QP_STREAM_NONCANONICAL);
    f->side[3] = 5000;
    qp_correction_source source = {.media = &f->picture,
                                   .base = &f->below,
                                   .graph = f->graph.bytes,
                                   .graph_size = f->graph.size,
                                   .side = f->side,
                                   .n_side = SIDES};
    qp_encoded payload;
    assert_int_equal(qp_correction_encode(&source, NULL, &payload, NULL), QP_FIELD_RANGE);
}

/* The bytes of a graph whose range is narrower, put in the place of the one that is carried. */
static void a_side_plane_out_of_range(void **state)
{
    fixture *f = *state;
    uint8_t *bytes = codec_patch(&f->c, 0, 'W', 1);
    codec_case narrow = f->c;
    size_t size = f->graph.size;
    put_graph(SIDES, 2, &f->graph);
    assert_int_equal(f->graph.size, size);
    memcpy(bytes + GRAPH + 4, f->graph.bytes, size);
    narrow.unit.bytes = bytes;
    codec_refused(&narrow, QP_FIELD_RANGE);
    free(bytes);
}

static qp_status encode_with(void *context, const qp_allocator *allocator, qp_encoded *payload)
{
    const fixture *f = context;
    qp_correction_source source = {.media = &f->picture,
                                   .base = &f->below,
                                   .graph = f->graph.bytes,
                                   .graph_size = f->graph.size,
                                   .side = f->side,
                                   .n_side = SIDES};
    return qp_correction_encode(&source, allocator, payload, NULL);
}

static void encoder_without_memory(void **state)
{
    codec_starve_encoder(encode_with, *state);
}

/* The last word of the side planes' stream is gone, and its length says so. */
static void a_stream_that_ends(void **state)
{
    fixture *f = *state;
    size_t n = qp_load_u32(f->payload.bytes + side_at(f) + 4), at = side_at(f) + 8 + 4 * n;
    uint32_t length = qp_load_u32(f->payload.bytes + at);
    uint8_t *bytes = codec_patch(&f->c, at, length - 4, 4);
    size_t end = at + 4 + length;
    codec_case shorter = f->c;
    memmove(bytes + end - 4, bytes + end, f->c.unit.size - end);
    shorter.unit.bytes = bytes;
    shorter.unit.size -= 4;
    codec_refused(&shorter, QP_STREAM_EXHAUSTED);
    free(bytes);
}

static void encoder_refuses(void **state)
{
    fixture *f = *state;
    qp_media wrong = f->picture;
    qp_correction_source source = {.media = &wrong,
                                   .base = &f->below,
                                   .graph = f->graph.bytes,
                                   .graph_size = f->graph.size,
                                   .side = f->side,
                                   .n_side = 256};
    qp_encoded payload;
    assert_int_equal(qp_correction_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.n_side = 1;
    assert_int_equal(qp_correction_encode(&source, NULL, &payload, NULL), QP_MODEL_MISMATCH);
    wrong.layout = QP_LAYOUT_PLANES;
    assert_int_equal(qp_correction_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    wrong = f->picture;
    source.q = 65536;
    assert_int_equal(qp_correction_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
}

static void torment(void **state)
{
    codec_torment(&((fixture *)*state)->c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_the_sum_refined),
        TEST(every_form),
        TEST(golden),
        TEST(framing),
        TEST(nested_offsets),
        TEST(nested_codes),
        TEST(what_does_not_fit),
        TEST(streams_and_ranges),
        TEST(a_side_plane_out_of_range),
        TEST(torment),
        TEST(encoder_without_memory),
        TEST(a_stream_that_ends),
        TEST(encoder_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
