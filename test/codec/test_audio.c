/* SPDX-License-Identifier: Apache-2.0 */
/* test_audio.c - WIA1: round trips, every refusal, bad input and little memory. */
#include "support/codec_checks.h"
#include "support/small_networks.h"

#include "failing_allocator.h"
#include "quipu/latents.h"

enum { LENGTH = 40, SAMPLES = 75, COUNT = SMALL_AUDIO_LATENTS * LENGTH };
/* Offsets in a payload. */
enum { T_OUT = 8, RATE = 12, CHANNELS = 16, N_TABLES = 18, T_IN = 20, TABLE = 24 };
/* Of the first multipliers of g_s.wam. */
enum { MULT = 24 + 4 + 24 + 2 * SMALL_AUDIO_LATENTS * 3 * 4 };

typedef struct fixture {
    small_set set;
    int32_t symbols[COUNT];
    qp_encoded payload;
    codec_case c;
} fixture;

static void encode(fixture *f)
{
    qp_audio_source source = {SAMPLES, 16000, {SMALL_AUDIO_LATENTS, 1, LENGTH, f->symbols}};
    assert_int_equal(qp_audio_encode(&source, NULL, &f->payload, NULL), QP_OK);
    f->c = (codec_case){"wai.audio.int_codec", &f->set, {.bytes = f->payload.bytes}};
    f->c.unit.size = f->payload.size;
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    small_set_audio(1, &f->set);
    small_symbols(2, f->symbols, COUNT);
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

/* The samples are those of the set's graph, run on the latents without a driver. */
static void is_what_the_graph_gives(void **state)
{
    fixture *f = *state;
    codec_open open = codec_start(&f->c, 0);
    qp_session_options options = {.profile = QP_ACC64};
    int64_t latents[COUNT], t_out = SAMPLES, value;
    qp_session *session;
    qp_array out;
    qp_media media;

    for (size_t i = 0; i < COUNT; i++)
        latents[i] = (int64_t)f->symbols[i] * (1 << SMALL_AFRAC);
    qp_array in = {latents, QP_INT64, SMALL_AUDIO_LATENTS, 1, LENGTH};
    assert_int_equal(qp_session_create(qp_lowered_certificate(qp_set_lowered(open.set)), &options,
                                       NULL, &session, NULL),
                     QP_OK);
    assert_int_equal(qp_session_decode(session, &in, 1, &t_out, 1, NULL), QP_OK);
    assert_int_equal(qp_session_output(session, 0, &out), QP_OK);
    assert_int_equal(qp_decoder_decode(open.decoder, &f->c.unit, &media, NULL), QP_OK);
    assert_int_equal(media.layout, QP_LAYOUT_AUDIO);
    assert_int_equal(media.width, SAMPLES);
    assert_int_equal(media.rate, 16000);
    assert_int_equal(media.channels, SMALL_AUDIO_CHANNELS);
    for (size_t t = 0; t < SAMPLES; t++)
        for (size_t c = 0; c < SMALL_AUDIO_CHANNELS; c++) {
            qp_array_read(&out, c * SAMPLES + t, 1, &value);
            assert_int_equal(qp_load_i16(media.bytes + 2 * (t * SMALL_AUDIO_CHANNELS + c)), value);
        }
    qp_media_free(NULL, &media);
    qp_session_free(session);
    codec_end(&open);
}

static void golden(void **state)
{
    fixture *f = *state;
    codec_golden(&f->c, QP_TEST_DATA "/codec/sound.wia");
}

static void framing(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, 0, 'w', 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 4, 2, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, 7, 1, 1, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, T_OUT, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, T_OUT, (1 << 26) + 1, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, RATE, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, CHANNELS, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, N_TABLES, 0, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, N_TABLES, 3, 2, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, T_IN, 0, 4, QP_PAYLOAD_MALFORMED);
    codec_refused_with(c, TABLE + 4, UINT32_MAX, 4, QP_PAYLOAD_MALFORMED);
}

static void what_does_not_fit(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, CHANNELS, SMALL_AUDIO_LATENTS + 1, 2, QP_MODEL_MISMATCH);
    codec_refused_with(c, T_IN, 1 << 26, 4, QP_TOO_LARGE);
    codec_refused_with(c, T_OUT, 2 * LENGTH + 1, 4, QP_GEOMETRY_MISMATCH);
    codec_refused_with(c, TABLE + 8, 1, 4, QP_MODEL_MISMATCH); /* cdf[0] is not 0 */
}

/* A plan that fails comes before a table that breaks its rule, and that before the stream. */
static void order(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_case twice = *c;
    uint8_t *bytes = codec_patch(c, TABLE + 8, 1, 4);
    bytes[c->unit.size - 1] ^= 0x55;
    twice.unit.bytes = bytes;
    codec_refused(&twice, QP_MODEL_MISMATCH);
    codec_refused_with(&twice, T_OUT, 2 * LENGTH + 1, 4, QP_GEOMETRY_MISMATCH);
    free(bytes);
}

static void streams(void **state)
{
    const codec_case *c = &((fixture *)*state)->c;
    codec_refused_with(c, T_IN, 50 * LENGTH, 4, QP_STREAM_EXHAUSTED);
    codec_refused_with(c, T_IN, LENGTH - 1, 4, QP_STREAM_NONCANONICAL);
}

static void a_latent_out_of_range(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 3; i++) { /* multipliers of 2^46 leave 22 bits for a latent */
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

/* A table a channel, escapes, and one symbol only. */
static void round_trips(void **state)
{
    enum { LONG = 3000 };
    fixture *f = *state;
    int32_t *symbols = calloc(2 * LONG, sizeof *symbols);
    qp_audio_source source = {2 * LONG, 8000, {SMALL_AUDIO_LATENTS, 1, LONG, symbols}};
    codec_case c = f->c;
    qp_encoded payload;
    assert_non_null(symbols);
    for (uint64_t seed = 0; seed < 3; seed++) {
        if (seed > 0)
            small_symbols(seed, symbols, 2 * LONG);
        if (seed > 1)
            symbols[17] = 70000, symbols[LONG + 1] = -70001;
        assert_int_equal(qp_audio_encode(&source, NULL, &payload, NULL), QP_OK);
        c.unit.bytes = payload.bytes;
        c.unit.size = payload.size;
        assert_int_equal(codec_decode(&c, NULL, NULL), QP_OK);
        qp_encoded_free(NULL, &payload);
    }
    free(symbols);
}

/* ---- from sound --------------------------------------------------------------------------- */

static qp_media small_sound(uint32_t samples)
{
    uint64_t seed = samples;
    qp_media m = {.layout = QP_LAYOUT_AUDIO,
                  .frames = 1,
                  .height = 1,
                  .width = samples,
                  .channels = SMALL_AUDIO_CHANNELS,
                  .rate = 8000};
    m.size = 2 * (size_t)samples * SMALL_AUDIO_CHANNELS;
    m.bytes = malloc(m.size);
    assert_non_null(m.bytes);
    for (size_t i = 0; i < m.size; i++)
        m.bytes[i] = (uint8_t)small_random(&seed, 256);
    return m;
}

static qp_status encode_sound(const fixture *f, const qp_media *sound,
                              const qp_allocator *allocator, qp_encoded *payload)
{
    qp_set_options asked = {.capability = f->c.capability};
    qp_source source = {.media = sound};
    qp_encoder *encoder;
    qp_set *set;
    *payload = (qp_encoded){0};
    qp_status status = qp_set_open(f->set.members, f->set.beside, &asked, allocator, &set, NULL);
    if (status != QP_OK)
        return status;
    status = qp_encoder_create(asked.capability, set, f->set.members + f->set.beside,
                               f->set.count - f->set.beside, NULL, allocator, &encoder, NULL);
    if (status == QP_OK)
        status = qp_encoder_encode(encoder, &source, payload, NULL);
    qp_encoder_free(encoder);
    qp_set_close(set);
    return status;
}

/* Every length decodes to as many samples, and the latents are the analysis's, rounded. */
static void sound_goes_through(void **state)
{
    fixture *f = *state;
    for (uint32_t samples = 1; samples < 9; samples++) {
        qp_media sound = small_sound(samples), media;
        codec_case c = f->c;
        qp_encoded payload;
        assert_int_equal(encode_sound(f, &sound, NULL, &payload), QP_OK);
        c.unit.bytes = payload.bytes;
        c.unit.size = payload.size;
        assert_int_equal(codec_decode(&c, &media, NULL), QP_OK);
        assert_int_equal(media.width, samples);
        assert_int_equal(media.rate, 8000);
        assert_int_equal(qp_load_u32(payload.bytes + T_IN), (samples + 1) / 2);
        qp_media_free(NULL, &media);
        qp_encoded_free(NULL, &payload);
        qp_media_free(NULL, &sound);
    }
}

static void sound_golden(void **state)
{
    fixture *f = *state;
    qp_media sound = small_sound(333);
    codec_case c = f->c;
    qp_encoded payload;
    assert_int_equal(encode_sound(f, &sound, NULL, &payload), QP_OK);
    c.unit.bytes = payload.bytes;
    c.unit.size = payload.size;
    codec_golden(&c, QP_TEST_DATA "/codec/analysed.wia");
    qp_encoded_free(NULL, &payload);
    qp_media_free(NULL, &sound);
}

static void sound_is_refused(void **state)
{
    fixture *f = *state;
    qp_media sound = small_sound(20), other = sound;
    qp_encoded payload;
    other.rate = 0;
    assert_int_equal(encode_sound(f, &other, NULL, &payload), QP_INVALID_ARGUMENT);
    other = sound;
    other.layout = QP_LAYOUT_PIXELS;
    other.size = other.width * other.channels;
    assert_int_equal(encode_sound(f, &other, NULL, &payload), QP_INVALID_ARGUMENT);
    other = sound;
    other.channels = 1;
    other.size /= 2;
    assert_int_equal(encode_sound(f, &other, NULL, &payload), QP_MODEL_MISMATCH);
    f->set.files[1].bytes[8]++; /* afrac */
    assert_int_equal(encode_sound(f, &sound, NULL, &payload), QP_MODEL_MISMATCH);
    f->set.members[1].path = "h_a.whm";
    assert_int_equal(encode_sound(f, &sound, NULL, &payload), QP_MODEL_MISMATCH);
    qp_media_free(NULL, &sound);
}

/* The encoder with a g_a of that padding and multiplier; 3 wide, of stride 2. */
static qp_status encode_through(const fixture *f, uint32_t pad, int64_t mult, const qp_media *sound)
{
    small_layer layer = {1, SMALL_AUDIO_CHANNELS, SMALL_AUDIO_LATENTS, 3, 2, pad, 0, 300, mult, 0};
    fixture other = *f;
    uint64_t seed = 1;
    qp_encoded payload;
    qp_buffer g_a;
    qp_buffer_init(&g_a, NULL);
    small_whm_head(&g_a, 1);
    small_whm_layer(&seed, &layer, &g_a);
    other.set.members[1].bytes = g_a.bytes;
    other.set.members[1].size = g_a.size;
    qp_status status = encode_sound(&other, sound, NULL, &payload);
    assert_int_equal(payload.bytes != NULL, status == QP_OK);
    qp_encoded_free(NULL, &payload);
    qp_buffer_free(&g_a);
    return status;
}

static void sound_that_does_not_fit(void **state)
{
    const fixture *f = *state;
    qp_media sound = small_sound(20), longer = sound;
    assert_int_equal(encode_through(f, 1, 12, &sound), QP_OK);
    assert_int_equal(encode_through(f, 2, 12, &sound), QP_GEOMETRY_MISMATCH); /* a height of 2 */
    assert_int_equal(encode_through(f, 1, INT64_C(1) << 36, &sound), QP_FIELD_RANGE);
    longer.width = (1 << 26) + 1; /* refused before its bytes are read */
    longer.size = 2 * (size_t)longer.width * longer.channels;
    assert_int_equal(encode_through(f, 1, 12, &longer), QP_TOO_LARGE);
    qp_media_free(NULL, &sound);
}

static void sound_without_memory(void **state)
{
    fixture *f = *state;
    qp_media sound = small_sound(50);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_encoded payload;
        qp_status status = encode_sound(f, &sound, &allocator, &payload);
        qp_encoded_free(&allocator, &payload);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
    qp_media_free(NULL, &sound);
}

static void encoder_refuses(void **state)
{
    fixture *f = *state;
    qp_audio_source source = {0, 1, {SMALL_AUDIO_LATENTS, 1, LENGTH, f->symbols}};
    qp_encoded payload;
    assert_int_equal(qp_audio_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.samples = 1;
    source.latents.height = 2;
    source.latents.width = 2;
    assert_int_equal(qp_audio_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    source.latents.height = 0;
    assert_int_equal(qp_audio_encode(&source, NULL, &payload, NULL), QP_INVALID_ARGUMENT);
    assert_null(payload.bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_what_the_graph_gives),
        TEST(golden),
        TEST(framing),
        TEST(what_does_not_fit),
        TEST(order),
        TEST(streams),
        TEST(torment),
        TEST(a_latent_out_of_range),
        TEST(round_trips),
        TEST(encoder_refuses),
        TEST(sound_goes_through),
        TEST(sound_golden),
        TEST(sound_is_refused),
        TEST(sound_that_does_not_fit),
        TEST(sound_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
