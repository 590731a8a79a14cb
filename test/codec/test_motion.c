/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_motion.c - WIV1 and WIF1 (integer-operators.md section 13.5; docs/payloads.md): round trips,
 * the decode against a plain reading of the text, every refusal, damage of every kind, and the
 * golden payloads of test/data/codec.
 */
#include "synthetic.h"

#include "failing_allocator.h"
#include "quipu/stage.h"
#include "support/codec_checks.h"

#define CLIP "wai.video.int_motion"
#define FRAME "wai.video.int_motion.frame"

/* Where fields of a WIV1 without keyframe lie; the table's n stands at TABLE + 4. */
enum { KEYFRAME = 5, PRECISION = 6, RESERVED = 7, FRAMES = 8, HEIGHT = 12, BLOCK = 20, Q = 24 };
enum { TABLE = 28, CDF = 36 };

static qp_encoded encode_clip(const qp_media *clip, const qp_encode_options *options)
{
    qp_source source = {.media = clip};
    return encode_media(CLIP, options, &source);
}

static qp_status decode_clip(const qp_encoded *payload, qp_media *media, qp_error *error)
{
    qp_unit unit = {.bytes = payload->bytes, .size = payload->size};
    return decode_bytes(CLIP, NULL, &unit, media, error);
}

/* The offset of the vectors of a WIV1. */
static size_t vectors_at(const uint8_t *bytes)
{
    return CDF + 4 * (size_t)qp_load_u32(bytes + TABLE + 4);
}

static size_t blocks_of(const qp_media *clip, uint32_t block)
{
    return (size_t)((clip->height + block - 1) / block) * ((clip->width + block - 1) / block);
}

static size_t stream_at(const uint8_t *bytes, const qp_media *clip, uint32_t block)
{
    return vectors_at(bytes) + (clip->frames - 1) * blocks_of(clip, block) * 4;
}

/* ---- round trips -------------------------------------------------------------------------- */

static void check_round_trip(const qp_media *clip, const qp_encode_options *options)
{
    qp_encoded payload = encode_clip(clip, options), again = encode_clip(clip, options);
    qp_media decoded;
    assert_int_equal(payload.size, again.size);
    assert_memory_equal(payload.bytes, again.bytes, payload.size);
    assert_int_equal(decode_clip(&payload, &decoded, NULL), QP_OK);
    if (options->q == 1)
        assert_same_media(&decoded, clip);
    assert_int_equal(decoded.size, clip->size);
    assert_true(largest_difference(decoded.bytes, clip->bytes, clip->size) <=
                (int32_t)options->q / 2);
    qp_media_free(NULL, &decoded);
    qp_encoded_free(NULL, &payload);
    qp_encoded_free(NULL, &again);
}

static void test_round_trips(void **state)
{
    static const uint32_t sizes[][3] = {{1, 1, 1}, {3, 7, 5}, {4, 16, 16}, {2, 33, 18}, {5, 1, 9}};
    static const uint32_t steps[] = {1, 2, 3, 7, 16, 255, 256, 65535}, blocks[] = {1, 4, 16, 1000};
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
        qp_media clip = synthetic_clip(sizes[s][0], sizes[s][1], sizes[s][2], s);
        for (size_t q = 0; q < TEST_COUNT(steps); q++)
            for (size_t b = 0; b < TEST_COUNT(blocks); b++) {
                qp_encode_options options = {.q = steps[q],
                                             .block = blocks[b],
                                             .range = 3,
                                             .precision = 1 + (uint32_t)(b + q) % 2};
                check_round_trip(&clip, &options);
            }
        qp_media_free(NULL, &clip);
    }
}

/* Noise over the whole range, at q 1: every residual from -255 to 255 may occur, and clamping. */
static void test_noise(void **state)
{
    uint64_t seed = 5;
    qp_media clip = synthetic_clip(3, 24, 20, 1);
    (void)state;
    for (size_t i = 0; i < clip.size; i++)
        clip.bytes[i] = (uint8_t)test_below(&seed, 256);
    check_round_trip(&clip, &(qp_encode_options){.q = 1, .block = 8, .range = 2, .precision = 2});
    for (size_t i = 0; i < clip.size; i++)
        clip.bytes[i] = (uint8_t)(test_below(&seed, 2) * 255);
    check_round_trip(&clip, &(qp_encode_options){.q = 1, .block = 8, .range = 2, .precision = 1});
    qp_media_free(NULL, &clip);
}

/* Motion is found: a clip that moves by whole pels takes far less than one that does not. */
static void test_motion_pays(void **state)
{
    qp_encode_options options = {.q = 4, .block = 8};
    qp_media clip = synthetic_clip(6, 48, 64, 3);
    (void)state;
    qp_encoded payload = encode_clip(&clip, &options);
    size_t at = vectors_at(payload.bytes), found = 0, vectors = 5 * blocks_of(&clip, 8);
    for (size_t i = 0; i < vectors; i++)
        found += qp_load_i16(payload.bytes + at + 4 * i) == 2 &&
                 qp_load_i16(payload.bytes + at + 4 * i + 2) == 4; /* half-pels */
    assert_true(found * 2 > vectors);
    assert_true(payload.size < clip.size / 3);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

/* ---- the decode, as plainly as the text has it -------------------------------------------- */

static void model_frame(qp_rans_decoder *decoder, const uint8_t *bytes, uint8_t *frame,
                        const uint8_t *previous, const uint8_t *vectors)
{
    uint32_t height = qp_load_u32(bytes + HEIGHT), width = qp_load_u32(bytes + HEIGHT + 4);
    uint32_t block = qp_load_u32(bytes + BLOCK), across = (width + block - 1) / block;
    qp_residual residual = {qp_load_u16(bytes + Q), 0, 255};
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < 3; c++) {
                uint8_t predicted = 128;
                int32_t r;
                int64_t value;
                if (previous != NULL) {
                    qp_samples samples = qp_samples_pixels(previous, 3, height, width);
                    const uint8_t *v = vectors + 4 * ((y / block) * across + x / block);
                    qp_motion motion = {qp_load_i16(v), qp_load_i16(v + 2), bytes[PRECISION]};
                    qp_pixel pixel = {y, x, c};
                    assert_int_equal(qp_mc_predict(&samples, &pixel, &motion, &predicted, NULL),
                                     QP_OK);
                }
                assert_int_equal(qp_rans_decode(decoder, 0, &r, NULL), QP_OK);
                assert_int_equal(qp_residual_step(&residual, predicted, r, &value, NULL), QP_OK);
                *frame++ = (uint8_t)value;
            }
}

static void check_model(const qp_encoded *payload, const qp_media *clip)
{
    const uint8_t *bytes = payload->bytes;
    uint32_t n = qp_load_u32(bytes + TABLE + 4), block = qp_load_u32(bytes + BLOCK);
    int64_t *values = malloc(n * sizeof *values);
    uint8_t *frames = malloc(clip->size);
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    qp_rans_tables *tables;
    qp_rans_decoder decoder;
    qp_media decoded;
    assert_true(values != NULL && frames != NULL);
    for (uint32_t i = 0; i < n; i++)
        values[i] = qp_load_u32(bytes + CDF + 4 * i);
    qp_rans_cdf cdf = {{values, n}, qp_load_i32(bytes + TABLE)};
    assert_int_equal(qp_rans_tables_create(&cdf, 1, &modes, NULL, &tables, NULL), QP_OK);
    size_t at = stream_at(bytes, clip, block), samples = clip->size / clip->frames;
    assert_int_equal(
        qp_rans_decoder_init(&decoder, tables, bytes + at + 4, qp_load_u32(bytes + at), NULL),
        QP_OK);
    for (uint32_t f = 0; f < clip->frames; f++)
        model_frame(
            &decoder, bytes, frames + f * samples, f == 0 ? NULL : frames + (f - 1) * samples,
            f == 0 ? NULL : bytes + vectors_at(bytes) + (f - 1) * 4 * blocks_of(clip, block));
    assert_int_equal(qp_rans_finish(&decoder, NULL), QP_OK);
    assert_int_equal(decode_clip(payload, &decoded, NULL), QP_OK);
    assert_memory_equal(decoded.bytes, frames, clip->size);
    qp_media_free(NULL, &decoded);
    qp_rans_tables_free(tables);
    free(frames);
    free(values);
}

/* Random vectors too, far outside the frame: the residuals stay, so the frames are others. */
static void test_against_model(void **state)
{
    uint64_t seed = 11;
    (void)state;
    for (uint32_t k = 0; k < 12; k++) {
        uint32_t block = 1 + test_below(&seed, 9);
        qp_media clip = synthetic_clip(3, 1 + test_below(&seed, 20), 1 + test_below(&seed, 20), k);
        qp_encode_options options = {
            .q = 1 + k, .block = block, .range = 2, .precision = 1 + k % 2};
        qp_encoded payload = encode_clip(&clip, &options);
        check_model(&payload, &clip);
        size_t at = vectors_at(payload.bytes), end = stream_at(payload.bytes, &clip, block);
        for (; at < end; at++)
            payload.bytes[at] = (uint8_t)test_random(&seed);
        check_model(&payload, &clip);
        qp_encoded_free(NULL, &payload);
        qp_media_free(NULL, &clip);
    }
}

/* ---- refusals of WIV1 --------------------------------------------------------------------- */

static void assert_refused(qp_status want, const qp_encoded *payload, int64_t offset)
{
    qp_media media;
    qp_error error = {0};
    assert_int_equal(decode_clip(payload, &media, &error), want);
    assert_int_equal(error.status, want);
    if (offset >= 0)
        assert_int_equal(error.offset, offset);
}

/* Refused with `value` in the `width` bytes at `at`. */
static void assert_field(qp_status want, const qp_encoded *payload, size_t at, unsigned width,
                         uint32_t value)
{
    uint8_t kept[4];
    memcpy(kept, payload->bytes + at, width);
    for (unsigned i = 0; i < width; i++)
        payload->bytes[at + i] = (uint8_t)(value >> 8 * i & 0xFF);
    assert_refused(want, payload, want == QP_PAYLOAD_MALFORMED ? (int64_t)at : -1);
    memcpy(payload->bytes + at, kept, width);
}

static void test_malformed(void **state)
{
    qp_media clip = synthetic_clip(2, 8, 8, 1);
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.block = 4});
    size_t end = stream_at(payload.bytes, &clip, 4);
    qp_media decoded;
    (void)state;
    assert_field(QP_PAYLOAD_MALFORMED, &payload, 0, 1, 'V');
    assert_field(QP_PAYLOAD_MALFORMED, &payload, 4, 1, 2);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, KEYFRAME, 1, 1);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, RESERVED, 1, 1);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, FRAMES, 4, 0);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, HEIGHT, 4, 0);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, HEIGHT + 4, 4, 0);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, HEIGHT, 4, 65537);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, BLOCK, 4, 0);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, Q + 2, 1, 1);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, Q + 3, 1, 1);
    assert_field(QP_PAYLOAD_MALFORMED, &payload, TABLE + 4, 4, UINT32_MAX);
    put_u32(payload.bytes + end, 7);
    assert_refused(QP_PAYLOAD_MALFORMED, &payload, (int64_t)end + 4);
    put_u32(payload.bytes + end, (uint32_t)(payload.size - end));
    assert_refused(QP_PAYLOAD_MALFORMED, &payload, (int64_t)end + 4);
    put_u32(payload.bytes + end, (uint32_t)(payload.size - end - 4));
    assert_int_equal(decode_clip(&payload, &decoded, NULL), QP_OK);
    qp_media_free(NULL, &decoded);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

/* Counts that no payload holds are refused before anything is formed from them. */
static void test_wild_counts(void **state)
{
    qp_media clip = synthetic_clip(2, 8, 8, 1);
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.block = 4});
    int64_t vectors = (int64_t)vectors_at(payload.bytes);
    (void)state;
    put_u32(payload.bytes + FRAMES, UINT32_MAX);
    assert_refused(QP_PAYLOAD_MALFORMED, &payload, vectors);
    put_u32(payload.bytes + HEIGHT, 65536);
    put_u32(payload.bytes + HEIGHT + 4, 65536);
    put_u32(payload.bytes + BLOCK, 1); /* 2^32 blocks a frame, 2^64 vectors */
    assert_refused(QP_PAYLOAD_MALFORMED, &payload, vectors);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

static void test_conditions(void **state)
{
    qp_media clip = synthetic_clip(1, 8, 8, 1);
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.q = 4});
    uint32_t n = qp_load_u32(payload.bytes + TABLE + 4);
    (void)state;
    assert_true(n > 4);
    assert_field(QP_MODEL_MISMATCH, &payload, PRECISION, 1, 0);
    assert_field(QP_MODEL_MISMATCH, &payload, PRECISION, 1, 3);
    assert_field(QP_MODEL_MISMATCH, &payload, Q, 2, 0);
    assert_field(QP_MODEL_MISMATCH, &payload, CDF, 4, 1); /* does not begin at 0 */
    assert_field(QP_MODEL_MISMATCH, &payload, CDF + 4 * (n - 1), 4, 65535); /* a wrong total */
    assert_field(QP_MODEL_MISMATCH, &payload, CDF + 8, 4, 0);               /* decreasing */
    assert_field(QP_MODEL_MISMATCH, &payload, CDF + 4, 4, 0);               /* no width */
    put_u32(payload.bytes + HEIGHT + 4, 4096);
    put_u32(payload.bytes + HEIGHT, 65536);
    assert_refused(QP_TOO_LARGE, &payload, -1);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

/* 86 frames of 4096 by 4096 are 2^32 bytes and more: refused before the stream. */
static void test_large_output(void **state)
{
    enum { MANY = 86 };
    qp_media clip = synthetic_clip(1, 8, 8, 1);
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.q = 4});
    size_t at = vectors_at(payload.bytes), size = at + 4 * (MANY - 1) + 4 + 8;
    uint8_t *bytes = calloc(size, 1);
    qp_encoded large = {bytes, size};
    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, payload.bytes, at);
    put_u32(bytes + FRAMES, MANY);
    put_u32(bytes + HEIGHT, 4096);
    put_u32(bytes + HEIGHT + 4, 4096);
    put_u32(bytes + BLOCK, 4096);
    put_u32(bytes + size - 12, 8);
    assert_refused(QP_TOO_LARGE, &large, -1);
    free(bytes);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

/* A stream of one word fewer or more than it should have. */
static void test_stream_ends(void **state)
{
    qp_media clip = synthetic_clip(1, 8, 8, 1), media;
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.q = 1});
    size_t at = stream_at(payload.bytes, &clip, 16);
    uint8_t *longer = malloc(payload.size + 4);
    qp_error error = {0};
    (void)state;
    assert_non_null(longer);
    memset(longer, 0, payload.size + 4);
    memcpy(longer, payload.bytes, payload.size);
    qp_encoded changed = {longer, payload.size - 4};
    put_u32(longer + at, (uint32_t)(payload.size - at - 8));
    assert_int_equal(decode_clip(&changed, &media, &error), QP_STREAM_EXHAUSTED);
    assert_int_equal(error.table, QP_TABLE_SYMBOLS);
    assert_true(error.record > 0 && error.record < 8 * 8 * 3);
    changed.size = payload.size + 4;
    put_u32(longer + at, (uint32_t)(payload.size - at));
    assert_int_equal(decode_clip(&changed, &media, &error), QP_STREAM_NONCANONICAL);
    assert_int_equal(error.record, 8 * 8 * 3);
    free(longer);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &clip);
}

/* ---- WIF1 --------------------------------------------------------------------------------- */

enum { GROUP_FRAMES = 7, GROUP = 3 };

typedef struct sequence {
    qp_media clip;
    qp_encoded payloads[GROUP_FRAMES];
    size_t samples;
} sequence;

static qp_media frame_of(const qp_media *clip, uint32_t index)
{
    qp_media frame = *clip;
    frame.frames = 1;
    frame.size = clip->size / clip->frames;
    frame.bytes = clip->bytes + index * frame.size;
    return frame;
}

static sequence make_sequence(uint32_t q)
{
    sequence s = {.clip = synthetic_clip(GROUP_FRAMES, 13, 21, 2)};
    qp_encode_options options = {.q = q, .block = 8, .range = 3, .group = GROUP};
    qp_encoder *encoder;
    assert_int_equal(qp_encoder_create(FRAME, NULL, NULL, 0, &options, NULL, &encoder, NULL),
                     QP_OK);
    for (uint32_t f = 0; f < GROUP_FRAMES; f++) {
        qp_media frame = frame_of(&s.clip, f);
        qp_source source = {.media = &frame};
        assert_int_equal(qp_encoder_encode(encoder, &source, &s.payloads[f], NULL), QP_OK);
        assert_int_equal(qp_load_u32(s.payloads[f].bytes + 8), f % GROUP);
        assert_int_equal(s.payloads[f].bytes[5], f % GROUP == 0);
    }
    qp_encoder_free(encoder);
    s.samples = s.clip.size / GROUP_FRAMES;
    return s;
}

static void free_sequence(sequence *s)
{
    for (uint32_t f = 0; f < GROUP_FRAMES; f++)
        qp_encoded_free(NULL, &s->payloads[f]);
    qp_media_free(NULL, &s->clip);
}

static qp_decoder *frame_decoder(void)
{
    qp_decoder *decoder;
    assert_int_equal(qp_decoder_create(FRAME, NULL, NULL, NULL, &decoder, NULL), QP_OK);
    return decoder;
}

static void expect_frame(qp_decoder *decoder, const sequence *s, uint32_t f, int32_t bound)
{
    qp_unit unit = {.bytes = s->payloads[f].bytes, .size = s->payloads[f].size};
    qp_media media;
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    assert_int_equal(media.size, s->samples);
    assert_int_equal(media.frames, 1);
    assert_true(largest_difference(media.bytes, s->clip.bytes + f * s->samples, media.size) <=
                bound);
    qp_media_free(NULL, &media);
}

static void expect_refusal(qp_decoder *decoder, qp_status want, const void *bytes, size_t size)
{
    qp_unit unit = {.bytes = bytes, .size = size};
    qp_media media;
    qp_error error = {0};
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, &error), want);
    assert_int_equal(error.status, want);
    assert_null(media.bytes);
}

static void test_frames(void **state)
{
    (void)state;
    for (uint32_t q = 1; q < 12; q += 5) {
        sequence s = make_sequence(q);
        qp_decoder *decoder = frame_decoder();
        for (uint32_t f = 0; f < GROUP_FRAMES; f++)
            expect_frame(decoder, &s, f, (int32_t)q / 2);
        qp_decoder_free(decoder);
        free_sequence(&s);
    }
}

/* A lost frame is refused until the next group; a refused payload leaves the sequence where it was;
 * a group's first frame may come at any time. */
static void test_lost_frames(void **state)
{
    sequence s = make_sequence(1);
    qp_decoder *decoder = frame_decoder();
    (void)state;
    expect_refusal(decoder, QP_MODEL_MISMATCH, s.payloads[1].bytes, s.payloads[1].size);
    expect_frame(decoder, &s, 0, 0);
    expect_refusal(decoder, QP_MODEL_MISMATCH, s.payloads[2].bytes, s.payloads[2].size);
    expect_frame(decoder, &s, 1, 0);
    expect_refusal(decoder, QP_MODEL_MISMATCH, s.payloads[1].bytes, s.payloads[1].size);
    expect_refusal(decoder, QP_PAYLOAD_MALFORMED, s.payloads[2].bytes, s.payloads[2].size - 1);
    expect_frame(decoder, &s, 2, 0);
    expect_frame(decoder, &s, 6, 0);
    expect_frame(decoder, &s, 3, 0);
    expect_frame(decoder, &s, 4, 0);
    qp_decoder_reset(decoder);
    expect_refusal(decoder, QP_MODEL_MISMATCH, s.payloads[5].bytes, s.payloads[5].size);
    qp_decoder_free(decoder);
    free_sequence(&s);
}

static void expect_changed(qp_decoder *decoder, qp_status want, const qp_encoded *payload,
                           size_t at, uint8_t value)
{
    uint8_t kept = payload->bytes[at];
    payload->bytes[at] = value;
    expect_refusal(decoder, want, payload->bytes, payload->size);
    payload->bytes[at] = kept;
}

static void test_frame_refusals(void **state)
{
    sequence s = make_sequence(1);
    const qp_encoded *intra = &s.payloads[0], *inter = &s.payloads[1];
    qp_decoder *decoder = frame_decoder();
    (void)state;
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 3, '2');
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 5, 2);  /* the table flag */
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 5, 0);  /* no table */
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 6, 1);  /* a precision */
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 7, 1);  /* reserved */
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 20, 8); /* a block */
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, intra, 12, 0); /* the height */
    expect_changed(decoder, QP_MODEL_MISMATCH, intra, 24, 0);    /* q */
    expect_changed(decoder, QP_MODEL_MISMATCH, intra, 36, 1);    /* the table */
    expect_frame(decoder, &s, 0, 0);
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, inter, 5, 1);
    expect_changed(decoder, QP_PAYLOAD_MALFORMED, inter, 20, 0);
    expect_changed(decoder, QP_MODEL_MISMATCH, inter, 6, 3);
    expect_changed(decoder, QP_GEOMETRY_MISMATCH, inter, 12, 14); /* as many blocks */
    expect_changed(decoder, QP_GEOMETRY_MISMATCH, inter, 16, 20);
    expect_frame(decoder, &s, 1, 0);
    qp_decoder_free(decoder);
    free_sequence(&s);
}

/* A frame whose stream, the length of which stands at `at`, is cut or lengthened by a word. */
static void expect_words(qp_decoder *decoder, const qp_encoded *payload, size_t at, int words)
{
    uint8_t *bytes = calloc(payload->size + 4, 1);
    uint32_t length = qp_load_u32(payload->bytes + at);
    assert_non_null(bytes);
    memcpy(bytes, payload->bytes, payload->size);
    put_u32(bytes + at, words < 0 ? length - 4 : length + 4);
    expect_refusal(decoder, words < 0 ? QP_STREAM_EXHAUSTED : QP_STREAM_NONCANONICAL, bytes,
                   words < 0 ? payload->size - 4 : payload->size + 4);
    free(bytes);
}

static void test_frame_streams(void **state)
{
    sequence s = make_sequence(1);
    qp_encoded *intra = &s.payloads[0], *inter = &s.payloads[1];
    size_t at = vectors_at(intra->bytes), inter_at = 24 + 4 * blocks_of(&s.clip, 8);
    qp_decoder *decoder = frame_decoder();
    (void)state;
    expect_words(decoder, intra, at, -1);
    expect_words(decoder, intra, at, 1);
    expect_frame(decoder, &s, 0, 0);
    expect_words(decoder, inter, inter_at, -1);
    expect_words(decoder, inter, inter_at, 1);
    expect_frame(decoder, &s, 1, 0);
    put_u32(intra->bytes + 12, 65536);
    put_u32(intra->bytes + 16, 4096);
    expect_refusal(decoder, QP_TOO_LARGE, intra->bytes, intra->size);
    qp_decoder_free(decoder);
    free_sequence(&s);
}

/* The encoder goes on with a new group where the size changes. */
static void test_size_changes(void **state)
{
    qp_encoder *encoder;
    qp_decoder *decoder = frame_decoder();
    (void)state;
    assert_int_equal(qp_encoder_create(FRAME, NULL, NULL, 0, NULL, NULL, &encoder, NULL), QP_OK);
    for (uint32_t k = 0; k < 6; k++) {
        qp_media frame = synthetic_clip(1, 8 + k / 2, 9, k), media;
        qp_source source = {.media = &frame};
        qp_encoded payload;
        assert_int_equal(qp_encoder_encode(encoder, &source, &payload, NULL), QP_OK);
        assert_int_equal(qp_load_u32(payload.bytes + 8), k % 2);
        qp_unit unit = {.bytes = payload.bytes, .size = payload.size};
        assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
        assert_int_equal(media.height, frame.height);
        qp_media_free(NULL, &media);
        qp_encoded_free(NULL, &payload);
        qp_media_free(NULL, &frame);
    }
    qp_decoder_free(decoder);
    qp_encoder_free(encoder);
}

/* ---- damage ------------------------------------------------------------------------------- */

/* Truncation, flipped bits, little memory. */
static void test_torment(void **state)
{
    qp_media clip = synthetic_clip(3, 9, 10, 1), frame = synthetic_clip(1, 11, 6, 2);
    qp_encoded payload = encode_clip(&clip, &(qp_encode_options){.q = 2, .block = 5});
    qp_encoded intra = encode_media(FRAME, NULL, &(qp_source){.media = &frame});
    (void)state;
    codec_torment(&(codec_case){CLIP, NULL, {.bytes = payload.bytes, .size = payload.size}});
    codec_torment(&(codec_case){FRAME, NULL, {.bytes = intra.bytes, .size = intra.size}});
    qp_encoded_free(NULL, &intra);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &frame);
    qp_media_free(NULL, &clip);
}

static void test_frame_damage(void **state)
{
    sequence s = make_sequence(3);
    (void)state;
    for (uint32_t f = 0; f < 2; f++)
        for (size_t bit = 0; bit < 8 * s.payloads[f].size; bit++) {
            qp_unit unit = {.bytes = s.payloads[f].bytes, .size = s.payloads[f].size};
            qp_decoder *decoder = frame_decoder();
            qp_media media;
            if (f == 1)
                expect_frame(decoder, &s, 0, 1);
            s.payloads[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            qp_status status = qp_decoder_decode(decoder, &unit, &media, NULL);
            s.payloads[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_true(status <= QP_PAYLOAD_MALFORMED);
            qp_media_free(NULL, &media);
            if (f == 1 && status != QP_OK)
                expect_frame(decoder, &s, 1, 1);
            qp_decoder_free(decoder);
        }
    free_sequence(&s);
}

/* ---- memory ------------------------------------------------------------------------------- */

static qp_status encode_and_decode(const char *capability, const qp_media *clip,
                                   const qp_allocator *allocator)
{
    qp_encoder *encoder = NULL;
    qp_decoder *decoder = NULL;
    qp_encoded payload = {0};
    qp_media media = {0};
    qp_source source = {.media = clip};
    qp_status status =
        qp_encoder_create(capability, NULL, NULL, 0, NULL, allocator, &encoder, NULL);
    if (status == QP_OK)
        status = qp_decoder_create(capability, NULL, NULL, allocator, &decoder, NULL);
    for (int k = 0; status == QP_OK && k < 2; k++) {
        status = qp_encoder_encode(encoder, &source, &payload, NULL);
        qp_unit unit = {.bytes = payload.bytes, .size = payload.size};
        if (status == QP_OK)
            status = qp_decoder_decode(decoder, &unit, &media, NULL);
        qp_media_free(allocator, &media);
        qp_encoded_free(allocator, &payload);
    }
    qp_decoder_free(decoder);
    qp_encoder_free(encoder);
    return status;
}

static void test_failing_memory(void **state)
{
    (void)state;
    for (uint32_t frames = 1; frames <= 2; frames++) {
        qp_media clip = synthetic_clip(frames, 8, 6, 1);
        for (size_t k = 1;; k++) {
            failing_allocator memory = failing_allocator_make(k);
            qp_allocator allocator = failing_allocator_use(&memory);
            qp_status status = encode_and_decode(frames == 1 ? FRAME : CLIP, &clip, &allocator);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            if (!memory.has_failed)
                break;
            assert_int_equal(status, QP_NO_MEMORY);
        }
        qp_media_free(NULL, &clip);
    }
}

static void test_encoder_arguments(void **state)
{
    static const qp_encode_options wrong[] = {{.q = 65536}, {.range = 256}, {.precision = 3}};
    qp_media clip = synthetic_clip(2, 4, 4, 1), grey = clip, signal = clip;
    qp_encoder *encoder;
    qp_encoded payload;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        qp_source source = {.media = &clip};
        assert_int_equal(qp_encoder_create(CLIP, NULL, NULL, 0, &wrong[i], NULL, &encoder, NULL),
                         QP_OK);
        assert_int_equal(qp_encoder_encode(encoder, &source, &payload, NULL), QP_INVALID_ARGUMENT);
        qp_encoder_free(encoder);
    }
    grey.channels = 1;
    grey.size /= 3;
    signal.layout = QP_LAYOUT_PLANES;
    const qp_media *media[] = {&clip, &grey, &signal};
    for (size_t i = 0; i < TEST_COUNT(media); i++) {
        qp_source source = {.media = media[i]};
        assert_int_equal(qp_encoder_create(FRAME, NULL, NULL, 0, NULL, NULL, &encoder, NULL),
                         QP_OK);
        assert_int_equal(qp_encoder_encode(encoder, &source, &payload, NULL), QP_INVALID_ARGUMENT);
        qp_encoder_free(encoder);
    }
    qp_media_free(NULL, &clip);
}

/* ---- wai.video.int_hyper ------------------------------------------------------------------ */

#define HYPER_CLIP "wai.video.int_hyper"
#define HYPER_FRAME "wai.video.int_hyper.frame"

/* A WIV1's nested payload stands after its table. */
typedef struct hyper {
    small_set files;
    qp_set *set;
    qp_media clip;
    qp_encoder *encoder;
    qp_encoded payload;
} hyper;

static hyper make_hyper(const char *capability)
{
    hyper h = {.clip = synthetic_clip(3, 16, 24, 9)};
    qp_set_options asked = {.capability = capability};
    qp_encode_options options = {.q = 1, .block = 8, .range = 2, .group = 2};
    small_set_hyper(3, &h.files);
    assert_int_equal(qp_set_open(h.files.members, h.files.beside, &asked, NULL, &h.set, NULL),
                     QP_OK);
    assert_int_equal(qp_encoder_create(capability, h.set, h.files.members + h.files.beside,
                                       h.files.count - h.files.beside, &options, NULL, &h.encoder,
                                       NULL),
                     QP_OK);
    return h;
}

static void free_hyper(hyper *h)
{
    qp_encoded_free(NULL, &h->payload);
    qp_encoder_free(h->encoder);
    qp_set_close(h->set);
    small_set_free(&h->files);
    qp_media_free(NULL, &h->clip);
}

/* What a WIH1 decodes to for `wai.neural.int_hyper`. */
static qp_media picture_of(const hyper *h, const void *bytes, size_t size)
{
    codec_case c = {"wai.neural.int_hyper", &h->files, {.bytes = bytes, .size = size}};
    qp_media picture;
    assert_int_equal(codec_decode(&c, &picture, NULL), QP_OK);
    return picture;
}

/* The first frame is its WIH1's picture; with q 1 the others are the frames themselves. */
static void test_hyper_clip(void **state)
{
    hyper h = make_hyper(HYPER_CLIP);
    qp_source source = {.media = &h.clip};
    qp_media media;
    (void)state;
    assert_int_equal(qp_encoder_encode(h.encoder, &source, &h.payload, NULL), QP_OK);
    size_t at = vectors_at(h.payload.bytes), samples = h.clip.size / 3;
    codec_case c = {HYPER_CLIP, &h.files, {.bytes = h.payload.bytes, .size = h.payload.size}};
    assert_int_equal(codec_decode(&c, &media, NULL), QP_OK);
    qp_media picture = picture_of(&h, h.payload.bytes + at + 4, qp_load_u32(h.payload.bytes + at));
    assert_memory_equal(media.bytes, picture.bytes, samples);
    assert_memory_equal(media.bytes + samples, h.clip.bytes + samples, 2 * samples);
    qp_media_free(NULL, &picture);
    qp_media_free(NULL, &media);

    codec_refused_with(&c, KEYFRAME, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(&c, HEIGHT, 15, 4, QP_GEOMETRY_MISMATCH); /* as many blocks */
    codec_refused_with(&c, at + 4 + 8, 15, 4, QP_GEOMETRY_MISMATCH);
    qp_error error = {0};
    uint8_t *patched = codec_patch(&c, at + 4, 'X', 1);
    codec_case nested = {HYPER_CLIP, &h.files, {.bytes = patched, .size = h.payload.size}};
    assert_int_equal(codec_decode(&nested, NULL, &error), QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.offset, at + 4); /* of the outer payload */
    free(patched);
    codec_refused_with(&c, at + 4 + 16, SMALL_Z + 1, 2, QP_MODEL_MISMATCH); /* the nested codes */
    codec_refused_with(&c, at + 4 + 22, SMALL_Y + 1, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(&c, at + 4 + 18, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(&c, at + 4 + 36, 0, 8, QP_STREAM_EXHAUSTED);
    codec_torment(&c);
    free_hyper(&h);
}

/* The nested y stream with a word more, and a set whose h_s admits next to nothing. */
static void test_hyper_nested_streams(void **state)
{
    hyper h = make_hyper(HYPER_CLIP);
    qp_source source = {.media = &h.clip};
    (void)state;
    assert_int_equal(qp_encoder_encode(h.encoder, &source, &h.payload, NULL), QP_OK);
    const uint8_t *bytes = h.payload.bytes;
    size_t at = vectors_at(bytes), length = qp_load_u32(bytes + at), end = at + 4 + length;
    uint8_t *longer = calloc(h.payload.size + 4, 1);
    assert_non_null(longer);
    memcpy(longer, bytes, end);
    memcpy(longer + end + 4, bytes + end, h.payload.size - end);
    put_u32(longer + at, (uint32_t)length + 4);
    put_u32(longer + at + 4 + 32, qp_load_u32(bytes + at + 4 + 32) + 4);
    codec_case c = {HYPER_CLIP, &h.files, {.bytes = longer, .size = h.payload.size + 4}};
    codec_refused(&c, QP_STREAM_NONCANONICAL);
    free(longer);

    qp_buffer narrow;
    uint64_t seed = 1;
    small_layer layer = {0, SMALL_Z, 2 * SMALL_Y, 4, 2, 1, 0, 30000, INT64_C(1) << 56, 0};
    qp_buffer_init(&narrow, NULL);
    small_whm_head(&narrow, 1);
    small_whm_layer(&seed, &layer, &narrow);
    h.files.members[0].bytes = narrow.bytes;
    h.files.members[0].size = narrow.size;
    c.unit.bytes = bytes;
    c.unit.size = h.payload.size;
    codec_refused(&c, QP_FIELD_RANGE);
    c.capability = HYPER_FRAME; /* the keyframe is an intra frame too */
    c.unit.bytes = bytes + at + 4;
    c.unit.size = length;
    codec_refused(&c, QP_FIELD_RANGE);
    qp_buffer_free(&narrow);
    free_hyper(&h);
}

/* A keyframe alone: the stream of residuals is empty. */
static void test_hyper_still(void **state)
{
    hyper h = make_hyper(HYPER_CLIP);
    qp_media still = frame_of(&h.clip, 0), media;
    qp_source source = {.media = &still};
    (void)state;
    assert_int_equal(qp_encoder_encode(h.encoder, &source, &h.payload, NULL), QP_OK);
    codec_case c = {HYPER_CLIP, &h.files, {.bytes = h.payload.bytes, .size = h.payload.size}};
    assert_int_equal(codec_decode(&c, &media, NULL), QP_OK);
    assert_int_equal(media.frames, 1);
    qp_media_free(NULL, &media);
    free_hyper(&h);
}

/* Frames one by one: WIH1, WIF1, WIH1. An intra WIF1 is no frame of this capability. */
static void test_hyper_frames(void **state)
{
    hyper h = make_hyper(HYPER_FRAME);
    sequence s = make_sequence(1);
    qp_decoder *decoder;
    (void)state;
    assert_int_equal(qp_decoder_create(HYPER_FRAME, h.set, NULL, NULL, &decoder, NULL), QP_OK);
    expect_refusal(decoder, QP_PAYLOAD_MALFORMED, s.payloads[0].bytes, s.payloads[0].size);
    for (uint32_t f = 0; f < 3; f++) {
        qp_media frame = frame_of(&h.clip, f), media, picture;
        qp_source source = {.media = &frame};
        assert_int_equal(qp_encoder_encode(h.encoder, &source, &h.payload, NULL), QP_OK);
        qp_unit unit = {.bytes = h.payload.bytes, .size = h.payload.size};
        assert_memory_equal(unit.bytes, f == 1 ? "WIF1" : "WIH1", 4);
        assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
        if (f == 1) {
            assert_memory_equal(media.bytes, frame.bytes, frame.size);
        } else {
            picture = picture_of(&h, unit.bytes, unit.size);
            assert_memory_equal(media.bytes, picture.bytes, picture.size);
            qp_media_free(NULL, &picture);
        }
        qp_media_free(NULL, &media);
        qp_encoded_free(NULL, &h.payload);
    }
    qp_decoder_free(decoder);
    free_sequence(&s);
    free_hyper(&h);
}

/* An intra frame's codes are a WIH1's, an inter frame's are a WIF1's; each leaves the group. */
static void test_hyper_frame_refusals(void **state)
{
    hyper h = make_hyper(HYPER_FRAME);
    qp_encoded payloads[2];
    qp_decoder *decoder;
    (void)state;
    for (uint32_t f = 0; f < 2; f++) {
        qp_media frame = frame_of(&h.clip, f);
        qp_source source = {.media = &frame};
        assert_int_equal(qp_encoder_encode(h.encoder, &source, &payloads[f], NULL), QP_OK);
    }
    const qp_encoded *inter = &payloads[1];
    codec_case intra = {
        HYPER_FRAME, &h.files, {.bytes = payloads[0].bytes, .size = payloads[0].size}};
    codec_refused_with(&intra, 4, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(&intra, 16, SMALL_Z + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(&intra, 22, SMALL_Y + 1, 2, QP_GEOMETRY_MISMATCH);
    codec_refused_with(&intra, 18, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(&intra, 36, 0, 8, QP_STREAM_EXHAUSTED);

    assert_int_equal(qp_decoder_create(HYPER_FRAME, h.set, NULL, NULL, &decoder, NULL), QP_OK);
    expect_words(decoder, &payloads[0], 32, 1); /* the y stream */
    expect_refusal(decoder, QP_MODEL_MISMATCH, inter->bytes, inter->size);
    qp_media media;
    assert_int_equal(qp_decoder_decode(decoder, &intra.unit, &media, NULL), QP_OK);
    qp_media_free(NULL, &media);
    size_t at = vectors_at(inter->bytes) + 4 * blocks_of(&h.clip, 8);
    expect_changed(decoder, QP_MODEL_MISMATCH, inter, 24, 0);     /* q */
    expect_changed(decoder, QP_GEOMETRY_MISMATCH, inter, 12, 15); /* as many blocks */
    expect_words(decoder, inter, at, -1);
    expect_words(decoder, inter, at, 1);
    qp_unit unit = {.bytes = inter->bytes, .size = inter->size};
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    qp_media_free(NULL, &media);
    qp_decoder_free(decoder);
    for (uint32_t f = 0; f < 2; f++)
        qp_encoded_free(NULL, &payloads[f]);
    free_hyper(&h);
}

/* ---- golden payloads ---------------------------------------------------------------------- */

#define GOLDEN(name) QP_TEST_DATA "/codec/" name

static void test_golden_clips(void **state)
{
    static const struct {
        const char *path;
        uint32_t frames, height, width;
        qp_encode_options options;
    } cases[] = {
        {GOLDEN("whole-pel.wiv1"), 4, 30, 41, {.q = 1, .precision = 1}},
        {GOLDEN("half-pel.wiv1"), 5, 24, 40, {.q = 6, .block = 7, .range = 4}},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_media clip = synthetic_clip(cases[i].frames, cases[i].height, cases[i].width, 40 + i);
        qp_encoded payload = encode_clip(&clip, &cases[i].options);
        codec_case c = {CLIP, NULL, {.bytes = payload.bytes, .size = payload.size}};
        codec_golden(&c, cases[i].path);
        qp_encoded_free(NULL, &payload);
        qp_media_free(NULL, &clip);
    }
}

/* Writes a file of GOLDEN where the variable QP_GOLDEN is set, and requires it otherwise. */
static void golden_file(const char *path, const void *bytes, size_t size)
{
    qp_file file;
    if (getenv("QP_GOLDEN") != NULL) {
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(bytes, 1, size, out), size);
        assert_int_equal(fclose(out), 0);
    }
    assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.bytes, bytes, size);
    qp_file_close(&file);
}

/* A group of three: the files are decoded in their order by one decoder. */
static void test_golden_frames(void **state)
{
    static const char *const paths[][2] = {{GOLDEN("group-0.wif1"), GOLDEN("group-0.wif1.sha256")},
                                           {GOLDEN("group-1.wif1"), GOLDEN("group-1.wif1.sha256")},
                                           {GOLDEN("group-2.wif1"), GOLDEN("group-2.wif1.sha256")}};
    sequence s = make_sequence(4);
    qp_decoder *decoder = frame_decoder();
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(paths); f++) {
        qp_unit unit = {.bytes = s.payloads[f].bytes, .size = s.payloads[f].size};
        qp_media media;
        char digest[65];
        assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
        qp_media_digest(&media, digest);
        golden_file(paths[f][0], unit.bytes, unit.size);
        golden_file(paths[f][1], digest, 64);
        qp_media_free(NULL, &media);
    }
    qp_decoder_free(decoder);
    free_sequence(&s);
}

static void test_golden_hyper(void **state)
{
    hyper h = make_hyper(HYPER_CLIP);
    qp_source source = {.media = &h.clip};
    (void)state;
    assert_int_equal(qp_encoder_encode(h.encoder, &source, &h.payload, NULL), QP_OK);
    codec_case c = {HYPER_CLIP, &h.files, {.bytes = h.payload.bytes, .size = h.payload.size}};
    codec_golden(&c, GOLDEN("keyframe.wiv1"));
    free_hyper(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_motion_pays),
        cmocka_unit_test(test_against_model),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_wild_counts),
        cmocka_unit_test(test_large_output),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_stream_ends),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_lost_frames),
        cmocka_unit_test(test_frame_refusals),
        cmocka_unit_test(test_size_changes),
        cmocka_unit_test(test_frame_streams),
        cmocka_unit_test(test_torment),
        cmocka_unit_test(test_frame_damage),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_encoder_arguments),
        cmocka_unit_test(test_hyper_nested_streams),
        cmocka_unit_test(test_hyper_clip),
        cmocka_unit_test(test_hyper_still),
        cmocka_unit_test(test_hyper_frame_refusals),
        cmocka_unit_test(test_hyper_frames),
        cmocka_unit_test(test_golden_clips),
        cmocka_unit_test(test_golden_frames),
        cmocka_unit_test(test_golden_hyper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
