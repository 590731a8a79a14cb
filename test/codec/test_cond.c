/* SPDX-License-Identifier: Apache-2.0 */
/* test_cond.c - WIC1 and WCF1: a second decoder written from the text, references that refused
 * frames leave alone, every refusal, bad input. */
#include "support/codec_checks.h"
#include "support/small_networks.h"

#include "codec/codec.h"
#include "quipu/latents.h"

enum { SH = 2, SW = 3, FH = 2 * SH, FW = 2 * SW, HEIGHT = 4 * SH, WIDTH = 4 * SW - 1 };
enum { PLANE = SH * SW, N_Y = SMALL_COND_LATENTS * PLANE, N_F = SMALL_COND_FEATURE * FH * FW };
enum { FRAMES = 5, GROUP = 3, FRAME_SIZE = HEIGHT * WIDTH * 3, CTX = 2 };
/* Offsets in payloads: the shapes are at the same place in both. */
enum { H = 8, W = 12, M = 16, F = 22, COUNT = 28, KIND = 32, INDEX = 28, LENGTH = 4 };

typedef struct fixture {
    small_set set;
    qp_encoded video, frames[FRAMES];
    codec_case c;
} fixture;

/* ---- encoding ----------------------------------------------------------------------------- */

/* Latents that depend on the frame and on the context, so that a wrong context shows. */
static qp_status analyse(void *context, uint32_t frame, const qp_array *ctx, int64_t *latents,
                         qp_error *error)
{
    int64_t values[PLANE];
    (void)context, (void)error;
    small_values(frame + 100, latents, N_Y);
    qp_array_read(ctx, 0, PLANE, values);
    for (size_t i = 0; i < N_Y; i++)
        latents[i] += values[i % PLANE] % 512;
    return QP_OK;
}

static qp_cond_source source_of(uint32_t frames)
{
    return (qp_cond_source){.shapes = {.height = HEIGHT,
                                       .width = WIDTH,
                                       .m = SMALL_COND_LATENTS,
                                       .sh = SH,
                                       .sw = SW,
                                       .f = SMALL_COND_FEATURE,
                                       .fh = FH,
                                       .fw = FW},
                            .frames = frames,
                            .group = GROUP,
                            .analyse = analyse};
}

static void encode(fixture *f)
{
    qp_cond_source source = source_of(FRAMES);
    codec_open open = codec_start(&f->c, 0);
    assert_int_equal(qp_cond_encode(open.set, &source, NULL, &f->video, NULL), QP_OK);
    codec_end(&open);
    f->c.capability = "wai.video.int_cond.frame";
    open = codec_start(&f->c, 0);
    assert_int_equal(qp_cond_encode_frames(open.set, &source, NULL, f->frames, NULL), QP_OK);
    codec_end(&open);
    f->c.capability = "wai.video.int_cond";
    f->c.unit.bytes = f->video.bytes;
    f->c.unit.size = f->video.size;
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    small_set_cond(8, &f->set);
    f->c = (codec_case){.capability = "wai.video.int_cond", .set = &f->set};
    encode(f);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < FRAMES; i++)
        qp_encoded_free(NULL, &f->frames[i]);
    qp_encoded_free(NULL, &f->video);
    small_set_free(&f->set);
    free(f);
    return 0;
}

/* The case of one frame's payload. */
static codec_case frame_case(const fixture *f, size_t frame)
{
    codec_case c = {"wai.video.int_cond.frame", &f->set, {.bytes = f->frames[frame].bytes}};
    c.unit.size = f->frames[frame].size;
    return c;
}

/* ---- the second decoder ------------------------------------------------------------------- */

typedef struct second {
    const qp_set *set;
    int64_t feature[N_F];
} second;

static void run(const second *s, size_t graph, const qp_array *in, int64_t *out)
{
    qp_session_options options = {.graph = graph, .profile = QP_ACC64, .reference = 1};
    qp_session *session;
    qp_array given;
    assert_int_equal(qp_session_create(qp_lowered_certificate(qp_set_lowered(s->set)), &options,
                                       NULL, &session, NULL),
                     QP_OK);
    assert_int_equal(qp_session_decode(session, in, 1, NULL, 0, NULL), QP_OK);
    assert_int_equal(qp_session_output(session, 0, &given), QP_OK);
    qp_array_read(&given, 0, (size_t)qp_array_elements(&given), out);
    qp_session_free(session);
}

/* `frame` begins at its kind. */
static void decode_second(second *s, const uint8_t *frame, int64_t picture[3 * 16 * PLANE])
{
    const qp_entropy *e = &s->set->entropy;
    int64_t joined[N_Y + CTX * PLANE], prior[2 * N_Y];
    qp_rans_decoder d;

    if (frame[0] == 0)
        memset(s->feature, 0, sizeof s->feature);
    qp_array feature = {s->feature, QP_INT64, SMALL_COND_FEATURE, FH, FW};
    run(s, 0, &feature, joined + N_Y);
    run(s, 1, &(qp_array){joined + N_Y, QP_INT64, CTX, SH, SW}, prior);
    assert_int_equal(
        qp_rans_decoder_init(&d, e->y, frame + 2 * LENGTH, qp_load_u32(frame + LENGTH), NULL),
        QP_OK);
    for (size_t i = 0; i < N_Y; i++) {
        size_t table = qp_bucket(prior[i], qp_entropy_edges(e), QP_BUCKET_CEIL);
        int32_t symbol;
        assert_int_equal(qp_rans_decode(&d, table, &symbol, NULL), QP_OK);
        joined[i] = (int64_t)symbol * (1 << SMALL_AFRAC) + prior[N_Y + i];
    }
    assert_int_equal(qp_rans_finish(&d, NULL), QP_OK);
    run(s, 2, &(qp_array){joined, QP_INT64, SMALL_COND_LATENTS + CTX, SH, SW}, s->feature);
    run(s, 3, &feature, picture);
}

static void check_picture(const uint8_t *pixels, const int64_t *picture)
{
    for (size_t i = 0; i < FRAME_SIZE; i++) {
        size_t c = i % 3, x = i / 3 % WIDTH, y = i / 3 / WIDTH;
        assert_int_equal(pixels[i], picture[(c * HEIGHT + y) * 4 * SW + x]);
    }
}

static void decodes_as_the_text_says(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    const uint8_t *frame = (const uint8_t *)f->c.unit.bytes + KIND;
    int64_t picture[3 * 16 * PLANE];
    second s = {.set = open.set};
    qp_media media;

    assert_int_equal(qp_decoder_decode(open.decoder, &f->c.unit, &media, NULL), QP_OK);
    assert_int_equal(media.frames, FRAMES);
    for (size_t i = 0; i < FRAMES; i++) {
        assert_int_equal(frame[0], i % GROUP != 0);
        decode_second(&s, frame, picture);
        check_picture(media.bytes + i * FRAME_SIZE, picture);
        frame += 2 * LENGTH + qp_load_u32(frame + LENGTH);
    }
    qp_media_free(NULL, &media);
    codec_end(&open);
}

/* ---- frames one by one -------------------------------------------------------------------- */

static void expect_frame(qp_decoder *decoder, const qp_encoded *payload, const uint8_t *pixels)
{
    qp_unit unit = {.bytes = payload->bytes, .size = payload->size};
    qp_media media;
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    assert_int_equal(media.size, FRAME_SIZE);
    assert_memory_equal(media.bytes, pixels, FRAME_SIZE);
    qp_media_free(NULL, &media);
}

static qp_status decode_with(qp_decoder *decoder, const codec_case *c, size_t at, uint64_t value)
{
    uint8_t *bytes = codec_patch(c, at, value, 1);
    qp_unit unit = {.bytes = bytes, .size = c->unit.size};
    qp_media media;
    qp_status status = qp_decoder_decode(decoder, &unit, &media, NULL);
    assert_null(media.bytes);
    free(bytes);
    return status;
}

/* A refused frame, whichever check it fails, leaves the next one as if it had not been. */
static void a_refused_frame_leaves_the_reference(void **state)
{
    fixture *f = *state;
    codec_case c = frame_case(f, 1);
    codec_open open = codec_start(&c, 0);
    qp_media video;
    qp_unit unit = {.bytes = c.unit.bytes, .size = c.unit.size};
    qp_media media;

    assert_int_equal(codec_decode(&f->c, &video, NULL), QP_OK);
    assert_int_equal(qp_decoder_decode(open.decoder, &unit, &media, NULL), QP_MODEL_MISMATCH);
    for (size_t i = 0; i < FRAMES; i++) {
        c = frame_case(f, i);
        assert_int_equal(decode_with(open.decoder, &c, 0, 0), QP_PAYLOAD_MALFORMED);
        assert_int_equal(decode_with(open.decoder, &c, F, 9), QP_MODEL_MISMATCH);
        assert_int_equal(decode_with(open.decoder, &c, INDEX, 7), QP_MODEL_MISMATCH);
        assert_int_equal(decode_with(open.decoder, &c, H, HEIGHT + 1), QP_GEOMETRY_MISMATCH);
        size_t last = c.unit.size - 4; /* the stream's last word: its end is not canonical */
        qp_status status = decode_with(open.decoder, &c, last, 0x5Au ^ f->frames[i].bytes[last]);
        assert_true(status == QP_STREAM_NONCANONICAL || status == QP_STREAM_EXHAUSTED);
        expect_frame(open.decoder, &f->frames[i], video.bytes + i * FRAME_SIZE);
    }
    qp_decoder_reset(open.decoder);
    assert_int_equal(qp_decoder_decode(open.decoder, &unit, &media, NULL), QP_MODEL_MISMATCH);
    qp_media_free(NULL, &video);
    codec_end(&open);
}

/* A frame that is lost is noticed, and a new intra frame goes on. */
static void a_lost_frame_is_noticed(void **state)
{
    fixture *f = *state;
    const size_t order[] = {0, 2, 1, 1, 2, 3, 4};
    const qp_status expected[] = {QP_OK, QP_MODEL_MISMATCH, QP_OK, QP_MODEL_MISMATCH, QP_OK, QP_OK,
                                  QP_OK};
    codec_case c = frame_case(f, 0);
    codec_open open = codec_start(&c, 0);
    for (size_t i = 0; i < TEST_COUNT(order); i++) {
        qp_media media;
        c = frame_case(f, order[i]);
        assert_int_equal(qp_decoder_decode(open.decoder, &c.unit, &media, NULL), expected[i]);
        qp_media_free(NULL, &media);
    }
    codec_end(&open);
}

static void another_size_needs_an_intra_frame(void **state)
{
    fixture *f = *state;
    codec_case c = frame_case(f, 0), inter = frame_case(f, 1);
    codec_open open = codec_start(&c, 0);
    uint8_t *bytes = codec_patch(&c, H, HEIGHT - 1, 4);
    qp_unit unit = {.bytes = bytes, .size = c.unit.size};
    qp_media media;
    assert_int_equal(qp_decoder_decode(open.decoder, &unit, &media, NULL), QP_OK);
    qp_media_free(NULL, &media);
    assert_int_equal(qp_decoder_decode(open.decoder, &inter.unit, &media, NULL),
                     QP_GEOMETRY_MISMATCH);
    free(bytes);
    codec_end(&open);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void golden(void **state)
{
    fixture *f = *state;
    codec_case intra = frame_case(f, 0);
    codec_golden(&f->c, QP_TEST_DATA "/codec/video.wic");
    codec_golden(&intra, QP_TEST_DATA "/codec/frame.wcf");
}

static void framing(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_case one = frame_case(*state, 0);
    codec_refused_with(c, 0, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 7, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, H, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, W, 65537, 4, QP_PAYLOAD_MALFORMED);
    for (size_t at = M; at < COUNT; at += 2)
        codec_refused_with(c, at, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, COUNT, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, COUNT, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, COUNT, FRAMES - 1, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, KIND, 1, 1, QP_PAYLOAD_MALFORMED); /* the first frame is intra */
    codec_refused_with(c, KIND, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, KIND + 1, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(&one, INDEX + LENGTH, 10, 4, QP_PAYLOAD_MALFORMED);
}

static void what_does_not_fit(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, F, SMALL_COND_FEATURE + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, F + 2, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(c, F + 2, FH + 3, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, F + 4, FW - 1, 2, QP_GEOMETRY_MISMATCH); /* ctx fits, dec does not */
    codec_refused_with(c, M, SMALL_COND_LATENTS + 1, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, M + 2, SH + 1, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, H, 4 * SH + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, W, 4 * SW + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_case one = frame_case(*state, 0);
    codec_refused_with(&one, F, SMALL_COND_FEATURE + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(&one, F + 2, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(&one, H, 4 * SH + 1, 4, QP_GEOMETRY_MISMATCH);
}

/* 86 frames of 4096 by 4096 are 2^32 bytes and more: refused before any is decoded. */
static void an_output_that_is_too_large(void **state)
{
    enum { SIDE = 4096, MANY = 86, STREAM = 8 };
    codec_case c = ((fixture *)*state)->c;
    const uint32_t sizes[] = {SMALL_COND_LATENTS, SIDE / 4, SIDE / 4,
                              SMALL_COND_FEATURE, SIDE / 2, SIDE / 2};
    qp_buffer large;
    qp_buffer_init(&large, NULL);
    qp_payload_put_head(&large, "WIC1", 3);
    qp_buffer_le(&large, SIDE, 4);
    qp_buffer_le(&large, SIDE, 4);
    for (size_t i = 0; i < TEST_COUNT(sizes); i++)
        qp_buffer_le(&large, sizes[i], 2);
    qp_buffer_le(&large, MANY, 4);
    for (size_t i = 0; i < MANY; i++) {
        qp_payload_put_zeros(&large, 4);
        qp_buffer_le(&large, STREAM, 4);
        qp_payload_put_zeros(&large, STREAM);
    }
    c.unit.bytes = large.bytes;
    c.unit.size = large.size;
    codec_refused(&c, QP_TOO_LARGE);
    qp_buffer_free(&large);
}

/* The payload with its last stream, whose length stands at `at`, cut or lengthened by a word. */
static void refused_with_words(const codec_case *c, size_t at, int words, qp_status expected)
{
    uint32_t length = qp_load_u32((const uint8_t *)c->unit.bytes + at);
    size_t kept = c->unit.size - (words < 0 ? 4 : 0), size = kept + (words > 0 ? 4 : 0);
    uint8_t *patched = codec_patch(c, at, words < 0 ? length - 4 : length + 4, 4);
    uint8_t *bytes = calloc(size, 1);
    codec_case other = *c;
    assert_non_null(bytes);
    memcpy(bytes, patched, kept);
    other.unit.bytes = bytes;
    other.unit.size = size;
    codec_refused(&other, expected);
    free(bytes);
    free(patched);
}

/* The last frame of a video, and a frame alone. */
static void streams_of_both_forms(void **state)
{
    fixture *f = *state;
    codec_case one = frame_case(f, 0);
    size_t at = KIND;
    for (size_t i = 1; i < FRAMES; i++)
        at += 2 * LENGTH + qp_load_u32(f->video.bytes + at + LENGTH);
    refused_with_words(&f->c, at + LENGTH, -1, QP_STREAM_EXHAUSTED);
    refused_with_words(&f->c, at + LENGTH, 1, QP_STREAM_NONCANONICAL);
    refused_with_words(&one, INDEX + LENGTH, -1, QP_STREAM_EXHAUSTED);
    refused_with_words(&one, INDEX + LENGTH, 1, QP_STREAM_NONCANONICAL);
}

static void a_value_out_of_range(void **state)
{
    fixture *f = *state;
    uint8_t *file = f->set.files[0].bytes;
    /* dec's first multiplier: behind the head, and ctx and prior with their lengths */
    size_t at = 12 + 4;
    for (int part = 0; part < 2; part++)
        at += 4 + (size_t)qp_load_u32(file + at - 4);
    at += 24 + 4 + 24 + 2 * (SMALL_COND_LATENTS + CTX) * SMALL_COND_FEATURE * 16;
    memset(file + at, 0, 8);
    file[at + 6] = 64; /* 2^54 leaves 14 bits for what dec reads */
    codec_refused(&f->c, QP_FIELD_RANGE);
    codec_case one = frame_case(f, 0);
    codec_refused(&one, QP_FIELD_RANGE);
}

static qp_status fail_to_analyse(void *context, uint32_t frame, const qp_array *ctx,
                                 int64_t *latents, qp_error *error)
{
    (void)context, (void)ctx, (void)error;
    small_values(1, latents, N_Y);
    return frame == 2 ? QP_IO : QP_OK;
}

static void encoder_refuses(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    qp_cond_source source = source_of(FRAMES);
    qp_encoded payload;
    source.analyse = fail_to_analyse;
    assert_int_equal(qp_cond_encode(open.set, &source, NULL, &payload, NULL), QP_IO);
    assert_null(payload.bytes);
    source.shapes.fh++;
    assert_int_equal(qp_cond_encode(open.set, &source, NULL, &payload, NULL), QP_GEOMETRY_MISMATCH);
    source.shapes.fh = 0;
    assert_int_equal(qp_cond_encode(open.set, &source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.frames = 0;
    assert_int_equal(qp_cond_encode(open.set, &source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    codec_end(&open);
}

typedef struct encoding {
    const qp_set *set;
    bool frames;
} encoding;

/* Of frames one by one the first payload is handed on. */
static qp_status encode_with(void *context, const qp_allocator *allocator, qp_encoded *payload)
{
    const encoding *e = context;
    qp_cond_source source = source_of(FRAMES);
    qp_encoded payloads[FRAMES];
    if (!e->frames)
        return qp_cond_encode(e->set, &source, allocator, payload, NULL);
    qp_status status = qp_cond_encode_frames(e->set, &source, allocator, payloads, NULL);
    *payload = payloads[0];
    for (size_t i = 1; i < FRAMES; i++)
        qp_encoded_free(allocator, &payloads[i]);
    return status;
}

static void encoder_without_memory(void **state)
{
    fixture *f = *state;
    codec_case one = frame_case(f, 0);
    codec_open open = codec_start(&f->c, 0), frames = codec_start(&one, 0);
    codec_starve_encoder(encode_with, &(encoding){open.set, false});
    codec_starve_encoder(encode_with, &(encoding){frames.set, true});
    codec_end(&frames);
    codec_end(&open);
}

static void torment(void **state)
{
    codec_case one = frame_case(*state, 0);
    codec_torment(&((fixture *)*state)->c);
    codec_torment(&one);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(decodes_as_the_text_says),
        TEST(a_refused_frame_leaves_the_reference),
        TEST(a_lost_frame_is_noticed),
        TEST(another_size_needs_an_intra_frame),
        TEST(golden),
        TEST(framing),
        TEST(what_does_not_fit),
        TEST(streams_of_both_forms),
        TEST(an_output_that_is_too_large),
        TEST(a_value_out_of_range),
        TEST(encoder_refuses),
        TEST(torment),
        TEST(encoder_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
