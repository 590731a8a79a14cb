/* SPDX-License-Identifier: Apache-2.0 */
/* test_int_synth.c - WIY1: packed latents decode, and every refusal is payload_malformed. */
#include "codec/codec.h"

#include "codec.h"
#include "support/codec_checks.h"

#define CAPABILITY "wai.neural.int_synth"

enum { SIDE = 3, AT_RESERVED = 5, AT_C = 6, AT_S = 8, AT_SECOND = 10, AT_H = 12, AT_LATENTS = 20 };

typedef struct fixture {
    small_set files;
    qp_set *set;
    qp_encoded payload;
} fixture;

static fixture make(uint64_t seed)
{
    fixture f;
    uint8_t values[2 * SIDE * SIDE];
    qp_media latents = {QP_LAYOUT_PLANES, 1, SIDE, SIDE, 2, 0, values, sizeof values};
    small_set_synth(seed, &f.files);
    f.set = test_open(CAPABILITY, &f.files);
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)small_random(&seed, 256);
    f.payload = test_encode(CAPABILITY, f.set, NULL, &latents);
    assert_int_equal(f.payload.size, AT_LATENTS + sizeof values);
    assert_memory_equal(f.payload.bytes + AT_LATENTS, values, sizeof values);
    return f;
}

static void drop(fixture *f)
{
    qp_encoded_free(NULL, &f->payload);
    qp_set_close(f->set);
    small_set_free(&f->files);
}

static void test_latents_decode(void **unused)
{
    (void)unused;
    fixture f = make(1);
    qp_decoder *decoder;
    qp_media media;
    qp_unit unit = {.bytes = f.payload.bytes, .size = f.payload.size};
    assert_int_equal(qp_decoder_create(CAPABILITY, f.set, NULL, NULL, &decoder, NULL), QP_OK);
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    assert_int_equal(media.height, 4 * SIDE);
    assert_int_equal(media.width, 4 * SIDE);
    assert_int_equal(media.channels, 3);
    qp_media_free(NULL, &media);
    qp_decoder_free(decoder);
    drop(&f);
}

static void expect_change(const fixture *f, size_t at, uint8_t value)
{
    char digest[65];
    qp_error error;
    test_bytes copy = test_copy(f->payload.bytes, f->payload.size);
    copy.at[at] = value;
    assert_int_equal(test_decode(CAPABILITY, f->set, copy.at, copy.size, digest, &error),
                     QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.status, QP_PAYLOAD_MALFORMED);
    free(copy.at);
}

static void test_refusals(void **unused)
{
    (void)unused;
    fixture f = make(2);
    char digest[65];
    expect_change(&f, 0, 'X');
    expect_change(&f, 4, 2);
    expect_change(&f, AT_RESERVED, 1);
    expect_change(&f, AT_C, 0);
    expect_change(&f, AT_C, 1);     /* bytes are left */
    expect_change(&f, AT_C + 1, 1); /* bytes are missing */
    expect_change(&f, AT_S, 0);
    expect_change(&f, AT_SECOND, 1);
    expect_change(&f, AT_H, 4 * SIDE + 1); /* the network gives another size */
    expect_change(&f, AT_H + 4, 0);
    for (size_t size = 0; size < f.payload.size; size++)
        assert_int_equal(test_decode(CAPABILITY, f.set, f.payload.bytes, size, digest, NULL),
                         QP_PAYLOAD_MALFORMED);
    /* one channel of 18 by 1 has as many bytes as two of 3 by 3, but the set reads two */
    qp_buffer one;
    qp_buffer_init(&one, NULL);
    qp_payload_put_head(&one, "WIY1", 1);
    qp_buffer_le(&one, 1, 2);
    qp_buffer_le(&one, 3, 2);
    qp_buffer_le(&one, 0, 2);
    qp_buffer_le(&one, 12, 4);
    qp_buffer_le(&one, 12, 4);
    qp_payload_put_zeros(&one, 9);
    assert_int_equal(test_decode(CAPABILITY, f.set, one.bytes, one.size, digest, NULL),
                     QP_PAYLOAD_MALFORMED);
    qp_buffer_free(&one);
    drop(&f);
}

/* Latents that the network makes more than 2^26 elements of, in a payload and in the encoder. */
static void test_a_plan_that_is_too_large(void **unused)
{
    enum { WIDE = 1200 };
    (void)unused;
    fixture f = make(4);
    char digest[65];
    qp_buffer large;
    qp_encoder *encoder;
    qp_encoded payload;
    size_t size = (size_t)2 * WIDE * WIDE;
    qp_buffer_init(&large, NULL);
    qp_payload_put_head(&large, "WIY1", 1);
    qp_buffer_le(&large, 2, 2);
    qp_buffer_le(&large, WIDE, 2);
    qp_buffer_le(&large, 0, 2);
    qp_buffer_le(&large, 4 * WIDE, 4);
    qp_buffer_le(&large, 4 * WIDE, 4);
    qp_payload_put_zeros(&large, size);
    assert_int_equal(test_decode(CAPABILITY, f.set, large.bytes, large.size, digest, NULL),
                     QP_PAYLOAD_MALFORMED);
    qp_media latents = {QP_LAYOUT_PLANES, 1, WIDE, WIDE, 2, 0, large.bytes, size};
    assert_int_equal(qp_encoder_create(CAPABILITY, f.set, NULL, 0, NULL, NULL, &encoder, NULL),
                     QP_OK);
    assert_int_equal(qp_encoder_encode(encoder, &(qp_source){.media = &latents}, &payload, NULL),
                     QP_PAYLOAD_MALFORMED);
    assert_null(payload.bytes);
    qp_encoder_free(encoder);
    qp_buffer_free(&large);
    drop(&f);
}

/* Truncation, flipped bits, and the caller's memory, whose code stays QP_TOO_LARGE. */
static void test_torment(void **unused)
{
    (void)unused;
    fixture f = make(5);
    codec_torment(
        &(codec_case){CAPABILITY, &f.files, {.bytes = f.payload.bytes, .size = f.payload.size}});
    drop(&f);
}

static void test_sets_are_refused_with_the_same_code(void **unused)
{
    (void)unused;
    small_set files;
    qp_set *set;
    qp_set_options options = {.capability = CAPABILITY};
    small_set_synth(3, &files);
    files.files[0].bytes[2] = '!';
    assert_int_equal(qp_set_open(files.members, 1, &options, NULL, &set, NULL),
                     QP_PAYLOAD_MALFORMED);
    assert_null(set);
    small_set_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latents_decode),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_plan_that_is_too_large),
        cmocka_unit_test(test_torment),
        cmocka_unit_test(test_sets_are_refused_with_the_same_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
