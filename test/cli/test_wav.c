/* SPDX-License-Identifier: Apache-2.0 */
/* test_wav.c - WAV files: what is written reads back, other chunks, refusals with their place. */
#include "support/test.h"

#include "base/base.h"
#include "cli/media_file.h"
#include "cli/wav.h"

enum { SAMPLES = 5, CHANNELS = 2, SIZE = 2 * SAMPLES * CHANNELS };

static qp_media make(uint8_t bytes[SIZE])
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 37);
    return (qp_media){QP_LAYOUT_AUDIO, 1, 1, SAMPLES, CHANNELS, 22050, bytes, SIZE};
}

static void write(qp_buffer *file)
{
    uint8_t bytes[SIZE];
    qp_media media = make(bytes);
    qp_buffer_init(file, NULL);
    assert_int_equal(qp_media_encode(&media, file, NULL), QP_OK);
}

static void reads_back(void **state)
{
    uint8_t bytes[SIZE];
    qp_media expected = make(bytes), media;
    qp_buffer file;
    (void)state;
    write(&file);
    assert_true(qp_wav_is(file.bytes, file.size));
    assert_int_equal(qp_wav_read(file.bytes, file.size, &media, NULL), QP_OK);
    assert_int_equal(media.layout, QP_LAYOUT_AUDIO);
    assert_int_equal(media.width, expected.width);
    assert_int_equal(media.channels, expected.channels);
    assert_int_equal(media.rate, expected.rate);
    assert_int_equal(media.size, SIZE);
    assert_memory_equal(media.bytes, bytes, SIZE);
    qp_media_free(NULL, &media);
    qp_buffer_free(&file);
}

/* A chunk of odd size before the data, and an extensible format. */
static void other_forms(void **state)
{
    qp_buffer plain, file;
    qp_media media;
    (void)state;
    write(&plain);
    qp_buffer_init(&file, NULL);
    qp_buffer_append(&file, plain.bytes, 12);
    qp_buffer_text(&file, "fmt ");
    qp_buffer_le(&file, 40, 4);
    qp_buffer_le(&file, 0xFFFE, 2);
    qp_buffer_append(&file, plain.bytes + 22, 14);
    qp_buffer_le(&file, 22, 2);
    qp_buffer_le(&file, 16, 2);
    qp_buffer_le(&file, 3, 4);
    qp_buffer_le(&file, 1, 2); /* PCM */
    for (int i = 0; i < 14; i++)
        qp_buffer_le(&file, 0, 1);
    qp_buffer_text(&file, "LIST");
    qp_buffer_le(&file, 3, 4);
    qp_buffer_text(&file, "abc");
    qp_buffer_le(&file, 0, 1);
    qp_buffer_append(&file, plain.bytes + 36, plain.size - 36);
    assert_int_equal(qp_wav_read(file.bytes, file.size, &media, NULL), QP_OK);
    assert_int_equal(media.width, SAMPLES);
    qp_media_free(NULL, &media);
    qp_buffer_free(&file);
    qp_buffer_free(&plain);
}

static void truncation(void **state)
{
    qp_buffer file;
    qp_media media;
    (void)state;
    write(&file);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *exact = malloc(size + (size == 0));
        qp_error error = {0};
        assert_non_null(exact);
        memcpy(exact, file.bytes, size);
        assert_int_equal(qp_wav_read(exact, size, &media, &error), QP_MALFORMED);
        assert_true(error.offset >= 0 && (size_t)error.offset <= size);
        free(exact);
    }
    qp_buffer_free(&file);
}

static void refuse_with(size_t at, uint8_t value, qp_status expected)
{
    qp_buffer file;
    qp_media media;
    write(&file);
    file.bytes[at] = value;
    assert_int_equal(qp_wav_read(file.bytes, file.size, &media, NULL), expected);
    assert_null(media.bytes);
    qp_buffer_free(&file);
}

static void refusals(void **state)
{
    (void)state;
    refuse_with(0, 'X', QP_MALFORMED);
    refuse_with(20, 3, QP_FIELD_RANGE);  /* floats */
    refuse_with(34, 24, QP_FIELD_RANGE); /* bits a sample */
    refuse_with(22, 0, QP_MALFORMED);    /* channels */
    refuse_with(22, 3, QP_MALFORMED);    /* of which there is no whole number of samples */
    refuse_with(40, 0, QP_MALFORMED);    /* bytes of data */
    refuse_with(36, 'x', QP_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(truncation),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
