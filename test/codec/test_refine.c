/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refine.c - WIR1 (integer-operators.md section 13.5; docs/payloads.md): every prediction over
 * every kind of media, the decode against a plain reading of the text, every refusal, damage, and
 * the golden payloads of test/data/codec.
 */
#include "synthetic.h"

#include "failing_allocator.h"
#include "quipu/stage.h"
#include "support/codec_checks.h"

#define IMAGE "wai.image.int_refine"
#define VIDEO "wai.video.int_refine"
#define AUDIO "wai.audio.int_refine"
#define SPLAT "wai.splat.int_refine"

/* Where fields lie. */
enum { PREDICTION = 5, TYPE = 6, RESERVED = 7, UNITS = 8, D0 = 12, D1 = 16, D2 = 20 };
enum { RATE_NUM = 24, RATE_DEN = 28, Q = 32, OFFSET = 36, TABLE = 40, CDF = 44 };
enum { USUAL, IDENTITY, UP2, RATE }; /* options.mode */

/* ---- layers below ------------------------------------------------------------------------- */

/* The same media, every element off by a little. */
static qp_media blurred(const qp_media *media, uint64_t seed)
{
    qp_media below = *media;
    synthetic_room(&below);
    memcpy(below.bytes, media->bytes, media->size);
    size_t step = media->layout == QP_LAYOUT_AUDIO ? 2 : 1;
    for (size_t i = 0; i < below.size; i += step) /* of audio, the low byte */
        below.bytes[i] = (uint8_t)(below.bytes[i] & 0xF8) | (uint8_t)test_below(&seed, 4);
    return below;
}

/* Every second pixel of every second row. */
static qp_media halved(const qp_media *media)
{
    qp_media below = *media;
    bool planes = media->layout == QP_LAYOUT_PLANES;
    uint32_t outer = planes ? media->channels : media->frames;
    uint32_t inner = planes ? 1 : media->channels;
    below.height = (media->height + 1) / 2;
    below.width = (media->width + 1) / 2;
    synthetic_room(&below);
    uint8_t *out = below.bytes;
    for (uint32_t f = 0; f < outer; f++)
        for (uint32_t y = 0; y < media->height; y += 2)
            for (uint32_t x = 0; x < media->width; x += 2)
                for (uint32_t c = 0; c < inner; c++)
                    *out++ =
                        media->bytes[(((size_t)f * media->height + y) * media->width + x) * inner +
                                     c];
    return below;
}

static qp_media planes_of(uint32_t channels, uint32_t height, uint32_t width)
{
    uint64_t seed = channels;
    qp_media media = {.layout = QP_LAYOUT_PLANES,
                      .frames = 1,
                      .height = height,
                      .width = width,
                      .channels = channels};
    synthetic_room(&media);
    for (size_t i = 0; i < media.size; i++)
        media.bytes[i] = (uint8_t)(synthetic_sample((int32_t)(i / width), (int32_t)(i % width), 0) +
                                   (int32_t)test_below(&seed, 5));
    return media;
}

/* ---- the decode, as plainly as the text has it -------------------------------------------- */

static int32_t element(const qp_media *media, size_t i)
{
    return media->layout == QP_LAYOUT_AUDIO ? qp_load_i16(media->bytes + 2 * i) : media->bytes[i];
}

/* The prediction of element (a, b, c) of a unit. */
static int64_t model_prediction(const uint8_t *bytes, const qp_media *below, uint32_t unit,
                                const uint32_t at[3])
{
    uint32_t d0 = qp_load_u32(bytes + D0), d1 = qp_load_u32(bytes + D1);
    uint32_t d2 = qp_load_u32(bytes + D2), h = below->height, w = below->width;
    if (bytes[PREDICTION] == 0)
        return element(below, (((size_t)unit * d0 + at[0]) * d1 + at[1]) * d2 + at[2]);
    if (bytes[PREDICTION] == 1) {
        qp_samples samples = {
            below->bytes + (size_t)unit * h * w * d2, d2, h, w, 1, (size_t)w * d2, d2};
        assert_int_equal(qp_up2_check(&samples, d0, d1, NULL), QP_OK);
        return qp_up2_at(&samples, at[2], at[0], at[1]);
    }
    qp_rate rate = {w, qp_load_u32(bytes + RATE_NUM), qp_load_u32(bytes + RATE_DEN), d0};
    int16_t *channel = malloc(w * sizeof *channel);
    assert_non_null(channel);
    for (uint32_t i = 0; i < w; i++)
        channel[i] = (int16_t)element(below, (size_t)i * d2 + at[2]);
    assert_int_equal(qp_rate_check(&rate, NULL), QP_OK);
    int64_t value = qp_rate_at(&rate, channel, 1, at[0]);
    free(channel);
    return value;
}

/* Decodes one unit and compares; gives where the next one begins. */
static size_t model_unit(const uint8_t *bytes, size_t at, const qp_media *below, uint32_t unit,
                         const qp_media *decoded)
{
    uint32_t n = qp_load_u32(bytes + at), d[3] = {0}, i[3];
    bool is_audio = bytes[TYPE] == 1;
    qp_residual residual = {qp_load_u16(bytes + Q), is_audio ? -32768 : 0, is_audio ? 32767 : 255};
    int64_t *values = malloc(n * sizeof *values), value;
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    qp_rans_tables *tables;
    qp_rans_decoder decoder;
    int32_t r;
    assert_non_null(values);
    for (uint32_t k = 0; k < n; k++)
        values[k] = qp_load_u32(bytes + at + 4 + 4 * k);
    qp_rans_cdf cdf = {{values, n}, qp_load_i32(bytes + OFFSET)};
    assert_int_equal(qp_rans_tables_create(&cdf, 1, &modes, NULL, &tables, NULL), QP_OK);
    at += 4 + 4 * (size_t)n;
    uint32_t size = qp_load_u32(bytes + at);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, bytes + at + 4, size, NULL), QP_OK);
    for (int k = 0; k < 3; k++)
        d[k] = qp_load_u32(bytes + D0 + 4 * k);
    size_t e = (size_t)unit * d[0] * d[1] * d[2];
    for (i[0] = 0; i[0] < d[0]; i[0]++)
        for (i[1] = 0; i[1] < d[1]; i[1]++)
            for (i[2] = 0; i[2] < d[2]; i[2]++) {
                int64_t predicted = model_prediction(bytes, below, unit, i);
                assert_int_equal(qp_rans_decode(&decoder, 0, &r, NULL), QP_OK);
                assert_int_equal(qp_residual_step(&residual, predicted, r, &value, NULL), QP_OK);
                assert_int_equal(element(decoded, e++), value);
            }
    assert_int_equal(qp_rans_finish(&decoder, NULL), QP_OK);
    qp_rans_tables_free(tables);
    free(values);
    return at + 4 + size;
}

/* ---- round trips -------------------------------------------------------------------------- */

typedef struct layers {
    const char *capability;
    const qp_media *media, *below;
} layers;

static qp_encoded encode(const layers *l, const qp_encode_options *options)
{
    qp_source source = {.media = l->media, .base = l->below, .n_base = 1};
    return encode_media(l->capability, options, &source);
}

static codec_case case_of(const layers *l, const qp_encoded *payload)
{
    return (codec_case){l->capability, NULL, {payload->bytes, payload->size, l->below, 1}};
}

static void check_round_trip(const layers *l, const qp_encode_options *options, uint8_t prediction)
{
    qp_encoded payload = encode(l, options), again = encode(l, options);
    codec_case c = case_of(l, &payload);
    qp_media decoded;
    size_t at = TABLE, elements = l->media->size / (l->media->layout == QP_LAYOUT_AUDIO ? 2 : 1);
    assert_int_equal(payload.size, again.size);
    assert_memory_equal(payload.bytes, again.bytes, payload.size);
    assert_int_equal(payload.bytes[PREDICTION], prediction);
    assert_int_equal(codec_decode(&c, &decoded, NULL), QP_OK);
    if (options->q <= 1)
        assert_same_media(&decoded, l->media);
    for (size_t i = 0; i < elements; i++) {
        int32_t off = element(&decoded, i) - element(l->media, i);
        assert_true((off < 0 ? -off : off) <= (int32_t)options->q / 2);
    }
    uint32_t units = qp_load_u32(payload.bytes + UNITS);
    for (uint32_t k = 0; k < units; k++)
        at = model_unit(payload.bytes, at, l->below, k, &decoded);
    assert_int_equal(at, payload.size);
    qp_media_free(NULL, &decoded);
    qp_encoded_free(NULL, &again);
    qp_encoded_free(NULL, &payload);
}

static void check_bytes(const char *capability, qp_media *media)
{
    qp_media same = blurred(media, 3), half = halved(media);
    layers identity = {capability, media, &same}, up2 = {capability, media, &half};
    static const uint32_t steps[] = {0, 1, 2, 5, 300, 65535};
    for (size_t q = 0; q < TEST_COUNT(steps); q++) {
        qp_encode_options options = {.q = steps[q]};
        check_round_trip(&identity, &options, 0);
        if (media->height > 1 || media->width > 1)
            check_round_trip(&up2, &options, 1);
    }
    qp_media_free(NULL, &half);
    qp_media_free(NULL, &same);
    qp_media_free(NULL, media);
}

static void test_pictures(void **state)
{
    static const uint32_t sizes[][2] = {{1, 1}, {2, 2}, {7, 5}, {16, 24}, {1, 9}, {33, 1}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(sizes); i++) {
        qp_media picture = synthetic_clip(1, sizes[i][0], sizes[i][1], i);
        check_bytes(IMAGE, &picture);
        qp_media clip = synthetic_clip(3, sizes[i][0], sizes[i][1], i);
        check_bytes(VIDEO, &clip);
        qp_media planes = planes_of(5, sizes[i][0], sizes[i][1]);
        check_bytes(SPLAT, &planes);
    }
}

static void check_signal(uint32_t length, uint32_t channels, uint32_t below_length)
{
    qp_media signal = synthetic_signal(length, channels, 1), same = blurred(&signal, 2);
    qp_media slow = synthetic_signal(below_length, channels, 4);
    layers identity = {AUDIO, &signal, &same}, rate = {AUDIO, &signal, &slow};
    static const uint32_t steps[] = {1, 2, 50, 65535};
    for (size_t q = 0; q < TEST_COUNT(steps); q++) {
        check_round_trip(&identity, &(qp_encode_options){.q = steps[q]}, 0);
        check_round_trip(&rate, &(qp_encode_options){.q = steps[q], .mode = RATE}, 2);
    }
    qp_media_free(NULL, &slow);
    qp_media_free(NULL, &same);
    qp_media_free(NULL, &signal);
}

static void test_signals(void **state)
{
    (void)state;
    check_signal(1, 1, 1);
    check_signal(2000, 1, 1000);
    check_signal(441, 2, 160);
    check_signal(100, 3, 257);
}

/* Residuals of both extremes, -65535 and 65535. */
static void test_extremes(void **state)
{
    qp_media signal = synthetic_signal(64, 1, 1), below = synthetic_signal(64, 1, 1);
    layers l = {AUDIO, &signal, &below};
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        signal.bytes[2 * i] = i % 2 ? 0xFF : 0;
        signal.bytes[2 * i + 1] = i % 2 ? 0x7F : 0x80;
        below.bytes[2 * i] = i % 2 ? 0 : 0xFF;
        below.bytes[2 * i + 1] = i % 2 ? 0x80 : 0x7F;
    }
    check_round_trip(&l, &(qp_encode_options){.q = 1}, 0);
    check_round_trip(&l, &(qp_encode_options){.q = 65535}, 0);
    check_round_trip(&l, &(qp_encode_options){.q = 40000}, 0);
    qp_media_free(NULL, &below);
    qp_media_free(NULL, &signal);
}

/* The rates of the media are used where they give the length, and the result has its own. */
static void test_sampling_rates(void **state)
{
    qp_media signal = synthetic_signal(735, 2, 1), below = synthetic_signal(267, 2, 2), decoded;
    layers l = {AUDIO, &signal, &below};
    (void)state;
    signal.rate = 44100;
    below.rate = 16000; /* floor(267 * 441 / 160) = 735 */
    qp_encoded payload = encode(&l, NULL);
    assert_int_equal(qp_load_u32(payload.bytes + RATE_NUM), 441);
    assert_int_equal(qp_load_u32(payload.bytes + RATE_DEN), 160);
    codec_case c = case_of(&l, &payload);
    assert_int_equal(codec_decode(&c, &decoded, NULL), QP_OK);
    assert_int_equal(decoded.rate, 44100);
    assert_same_media(&decoded, &signal);
    qp_media_free(NULL, &decoded);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &below);
    qp_media_free(NULL, &signal);
}

/* ---- refusals ----------------------------------------------------------------------------- */

typedef struct fixture {
    qp_media picture, half, signal, slow;
    qp_encoded up2, rate;
    codec_case up2_case, rate_case;
} fixture;

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->picture = synthetic_clip(1, 9, 8, 1);
    f->half = halved(&f->picture);
    f->signal = synthetic_signal(90, 2, 1);
    f->slow = synthetic_signal(45, 2, 3);
    layers up2 = {IMAGE, &f->picture, &f->half}, rate = {AUDIO, &f->signal, &f->slow};
    f->up2 = encode(&up2, NULL);
    f->rate = encode(&rate, &(qp_encode_options){.q = 9});
    f->up2_case = case_of(&up2, &f->up2);
    f->rate_case = case_of(&rate, &f->rate);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    qp_encoded_free(NULL, &f->rate);
    qp_encoded_free(NULL, &f->up2);
    qp_media_free(NULL, &f->slow);
    qp_media_free(NULL, &f->signal);
    qp_media_free(NULL, &f->half);
    qp_media_free(NULL, &f->picture);
    free(f);
    return 0;
}

static void test_malformed(void **state)
{
    fixture *f = *state;
    const codec_case *up2 = &f->up2_case, *rate = &f->rate_case;
    size_t stream = CDF + 4 * (size_t)qp_load_u32(f->up2.bytes + TABLE);
    codec_refused_with(up2, 3, '2', 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, 4, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, PREDICTION, 3, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, PREDICTION, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(rate, PREDICTION, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(rate, PREDICTION, 0, 1, QP_PAYLOAD_MALFORMED); /* which has no rate */
    codec_refused_with(up2, TYPE, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(rate, TYPE, 0, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, RESERVED, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, Q + 2, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, UNITS, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, UNITS, 2, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, UNITS, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, RATE_NUM, 1, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, RATE_DEN, 1, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, TABLE, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, stream, 6, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, stream, 4, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(up2, stream, UINT32_MAX - 3, 4, QP_PAYLOAD_MALFORMED);
}

static void test_geometry(void **state)
{
    fixture *f = *state;
    const codec_case *up2 = &f->up2_case, *rate = &f->rate_case;
    codec_refused_with(up2, D0, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(up2, D1, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(up2, D2, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(up2, D2, 4, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(up2, D0, 11, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(up2, PREDICTION, 0, 1, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, D0, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, D0, 89, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, D1, 2, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, D2, 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, RATE_NUM, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, RATE_DEN, 0, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(rate, RATE_NUM, 3, 4, QP_GEOMETRY_MISMATCH);
}

/* The kinds of media: a picture and a signal are one unit, a plane has one channel. */
static void test_kinds(void **state)
{
    qp_media clip = synthetic_clip(2, 6, 7, 1), below = blurred(&clip, 1);
    layers l = {VIDEO, &clip, &below};
    qp_encoded payload = encode(&l, NULL);
    codec_case c = case_of(&l, &payload);
    (void)state;
    c.capability = IMAGE;
    codec_refused(&c, QP_GEOMETRY_MISMATCH);
    qp_media planes = below;
    planes.layout = QP_LAYOUT_PLANES;
    c.capability = SPLAT;
    c.unit.base = &planes;
    codec_refused(&c, QP_GEOMETRY_MISMATCH);
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &below);
    qp_media_free(NULL, &clip);
}

static void test_conditions(void **state)
{
    fixture *f = *state;
    const codec_case *up2 = &f->up2_case;
    uint32_t n = qp_load_u32(f->up2.bytes + TABLE);
    codec_case other = *up2;
    codec_refused_with(up2, Q, 0, 2, QP_MODEL_MISMATCH);
    codec_refused_with(up2, CDF, 1, 4, QP_MODEL_MISMATCH);
    codec_refused_with(up2, CDF + 4, 0, 4, QP_MODEL_MISMATCH);
    codec_refused_with(up2, CDF + 4 * (n - 1), 65537, 4, QP_MODEL_MISMATCH);
    codec_refused_with(up2, D0, UINT32_MAX, 4, QP_TOO_LARGE);
    codec_refused_with(up2, D0, 1 << 22, 4, QP_TOO_LARGE);
    other.unit.n_base = 0;
    codec_refused(&other, QP_MODEL_MISMATCH);
    other.unit.n_base = 2;
    codec_refused(&other, QP_MODEL_MISMATCH);
    other.unit.n_base = 1;
    other.unit.base = &f->slow;
    codec_refused(&other, QP_MODEL_MISMATCH);
    qp_media cut = f->half;
    cut.size--;
    other.unit.base = &cut;
    codec_refused(&other, QP_MODEL_MISMATCH);
}

/* A table that breaks its rule is named before any symbol is decoded, in the last unit too. */
static void test_table_first(void **state)
{
    qp_media clip = synthetic_clip(2, 6, 7, 1), below = blurred(&clip, 1);
    layers l = {VIDEO, &clip, &below};
    qp_encoded payload = encode(&l, NULL);
    codec_case c = case_of(&l, &payload);
    qp_error error = {0};
    size_t stream = CDF + 4 * (size_t)qp_load_u32(payload.bytes + TABLE);
    size_t second = stream + 4 + qp_load_u32(payload.bytes + stream);
    (void)state;
    memset(payload.bytes + stream + 4, 0, 8); /* a stream that ends at once */
    codec_refused(&c, QP_STREAM_EXHAUSTED);
    put_u32(payload.bytes + second + 4, 1);
    assert_int_equal(codec_decode(&c, NULL, &error), QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, "unit 1"));
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &below);
    qp_media_free(NULL, &clip);
}

/* A stream of one word fewer or more than it should have. */
static void test_stream_ends(void **state)
{
    fixture *f = *state;
    size_t at = CDF + 4 * (size_t)qp_load_u32(f->up2.bytes + TABLE);
    uint32_t size = qp_load_u32(f->up2.bytes + at);
    uint8_t *longer = calloc(1, f->up2.size + 4);
    codec_case c = f->up2_case;
    assert_non_null(longer);
    memcpy(longer, f->up2.bytes, f->up2.size);
    c.unit.bytes = longer;
    put_u32(longer + at, size - 4);
    c.unit.size = f->up2.size - 4;
    codec_refused(&c, QP_STREAM_EXHAUSTED);
    put_u32(longer + at, size + 4);
    c.unit.size = f->up2.size + 4;
    codec_refused(&c, QP_STREAM_NONCANONICAL);
    free(longer);
}

static void test_torment(void **state)
{
    fixture *f = *state;
    codec_torment(&f->up2_case);
    codec_torment(&f->rate_case);
}

static void test_failing_memory(void **state)
{
    fixture *f = *state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_encoder *encoder;
        qp_encoded payload = {0};
        qp_source source = {.media = &f->signal, .base = &f->slow, .n_base = 1};
        qp_status status =
            qp_encoder_create(AUDIO, NULL, NULL, 0, NULL, &allocator, &encoder, NULL);
        if (status == QP_OK)
            status = qp_encoder_encode(encoder, &source, &payload, NULL);
        qp_encoded_free(&allocator, &payload);
        qp_encoder_free(encoder);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
}

static void expect_no_encode(const qp_encode_options *options, const qp_source *source,
                             qp_status want)
{
    qp_encoder *encoder;
    qp_encoded payload;
    assert_int_equal(qp_encoder_create(IMAGE, NULL, NULL, 0, options, NULL, &encoder, NULL), QP_OK);
    assert_int_equal(qp_encoder_encode(encoder, source, &payload, NULL), want);
    assert_null(payload.bytes);
    qp_encoder_free(encoder);
}

static void test_encoder_arguments(void **state)
{
    fixture *f = *state;
    qp_source good = {&f->picture, &f->half, 1}, none = {&f->picture, NULL, 0};
    qp_source signal = {&f->signal, &f->slow, 1};
    expect_no_encode(&(qp_encode_options){.q = 65536}, &good, QP_INVALID_ARGUMENT);
    expect_no_encode(&(qp_encode_options){.mode = 4}, &good, QP_INVALID_ARGUMENT);
    expect_no_encode(&(qp_encode_options){.mode = RATE}, &good, QP_INVALID_ARGUMENT);
    expect_no_encode(&(qp_encode_options){.mode = IDENTITY}, &good, QP_GEOMETRY_MISMATCH);
    expect_no_encode(NULL, &none, QP_MODEL_MISMATCH);
    expect_no_encode(NULL, &signal, QP_INVALID_ARGUMENT);
}

/* ---- golden payloads ---------------------------------------------------------------------- */

static void check_golden(const char *name, const layers *l, const qp_encode_options *options)
{
    char path[512];
    qp_encoded payload = encode(l, options);
    codec_case c = case_of(l, &payload);
    snprintf(path, sizeof path, "%s/codec/%s.wir1", QP_TEST_DATA, name);
    codec_golden(&c, path);
    qp_encoded_free(NULL, &payload);
}

static void test_golden(void **state)
{
    qp_media clip = synthetic_clip(2, 15, 22, 51), half = halved(&clip), same = blurred(&clip, 52);
    qp_media planes = planes_of(4, 12, 10), planes_below = blurred(&planes, 53);
    qp_media signal = synthetic_signal(600, 2, 54), slow = synthetic_signal(200, 2, 55);
    (void)state;
    check_golden("video-identity", &(layers){VIDEO, &clip, &same}, &(qp_encode_options){.q = 3});
    check_golden("video-up2", &(layers){VIDEO, &clip, &half}, NULL);
    check_golden("splat-identity", &(layers){SPLAT, &planes, &planes_below}, NULL);
    check_golden("audio-rate", &(layers){AUDIO, &signal, &slow}, &(qp_encode_options){.q = 20});
    qp_media_free(NULL, &slow);
    qp_media_free(NULL, &signal);
    qp_media_free(NULL, &planes_below);
    qp_media_free(NULL, &planes);
    qp_media_free(NULL, &same);
    qp_media_free(NULL, &half);
    qp_media_free(NULL, &clip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_sampling_rates),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_table_first),
        cmocka_unit_test(test_stream_ends),
        cmocka_unit_test(test_torment),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_encoder_arguments),
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests(tests, start, end);
}
