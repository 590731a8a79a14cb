/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_picture.c - PNG pictures. The files read here are made by this test from the PNG
 * specification (ISO/IEC 15948), with stored deflate blocks, not by the library that reads them.
 */
#include "cli/picture.h"

#include "../failing_allocator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#if defined(QP_HAVE_PNG)

/* ---- a PNG writer for tests ----------------------------------------------------------------- */

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGB_ALPHA = 6 };

static void append_u32(qp_buffer *file, uint32_t v)
{
    uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
    qp_buffer_append(file, bytes, 4);
}

static uint32_t crc32_of(const uint8_t *p, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (unsigned k = 0; k < 8; k++)
            crc = (crc & 1) != 0 ? 0xEDB88320u ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

static void append_chunk(qp_buffer *file, const char *name, const void *data, size_t size)
{
    append_u32(file, (uint32_t)size);
    size_t start = file->size;
    qp_buffer_text(file, name);
    qp_buffer_append(file, data, size);
    append_u32(file, crc32_of(file->bytes + start, size + 4));
}

/* zlib's head, one stored block, Adler-32. */
static void append_image(qp_buffer *file, const void *rows, size_t size)
{
    const uint8_t *p = rows;
    uint32_t a = 1, b = 0;
    qp_buffer data;
    qp_buffer_init(&data, NULL);
    qp_buffer_append(&data, "\x78\x01\x01", 3);
    qp_buffer_le(&data, size, 2);
    qp_buffer_le(&data, ~(uint64_t)size, 2);
    qp_buffer_append(&data, rows, size);
    for (size_t i = 0; i < size; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    append_u32(&data, b << 16 | a);
    append_chunk(file, "IDAT", data.bytes, data.size);
    qp_buffer_free(&data);
}

typedef struct head {
    uint32_t width;
    uint32_t height;
    uint8_t depth;
    uint8_t type;
    uint8_t interlace;
} head;

static void begin(qp_buffer *file, head h)
{
    qp_buffer data;
    qp_buffer_init(file, NULL);
    qp_buffer_init(&data, NULL);
    append_u32(&data, h.width);
    append_u32(&data, h.height);
    qp_buffer_append(&data, (uint8_t[]){h.depth, h.type, 0, 0, h.interlace}, 5);
    qp_buffer_append(file, "\x89PNG\r\n\x1a\n", 8);
    append_chunk(file, "IHDR", data.bytes, data.size);
    qp_buffer_free(&data);
}

static void end(qp_buffer *file, const void *rows, size_t size)
{
    append_image(file, rows, size);
    append_chunk(file, "IEND", "", 0);
    assert_false(file->failed);
}

static void assert_picture(qp_buffer *file, qp_picture_size size, const int64_t *expected)
{
    qp_picture picture;
    qp_error error = {.message = "none"};
    if (qp_picture_read(file->bytes, file->size, NULL, &picture, &error) != QP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(picture.size.channels, size.channels);
    assert_int_equal(picture.size.height, size.height);
    assert_int_equal(picture.size.width, size.width);
    assert_memory_equal(picture.values, expected,
                        (size_t)size.channels * size.height * size.width * sizeof *expected);
    qp_picture_free(&picture);
    qp_buffer_free(file);
}

static void assert_refused(qp_buffer *file, qp_status status, const char *sentence)
{
    qp_picture picture = {.values = NULL};
    qp_error error = {.message = "none"};
    qp_status found = qp_picture_read(file->bytes, file->size, NULL, &picture, &error);
    if (found != status || strstr(error.message, sentence) == NULL)
        fail_msg("%d: %s", (int)found, error.message);
    assert_null(picture.values);
    qp_buffer_free(file);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void test_grey_and_rgb(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){3, 2, 8, GREY, 0});
    end(&file,
        "\0\x00\x7f\xff"
        "\0\x01\x02\x80",
        8);
    assert_picture(&file, (qp_picture_size){1, 2, 3}, (int64_t[]){0, 127, 255, 1, 2, 128});

    begin(&file, (head){2, 2, 8, RGB, 0}); /* the second row by the filter Up */
    end(&file,
        "\0\x01\x02\x03\x04\x05\x06"
        "\2\x10\x10\x10\x10\x10\xff",
        14);
    assert_picture(&file, (qp_picture_size){3, 2, 2},
                   (int64_t[]){1, 4, 17, 20, 2, 5, 18, 21, 3, 6, 19, 5});
}

static void test_few_bits_and_palette(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){4, 1, 1, GREY, 0});
    end(&file, "\0\xA0", 2);
    assert_picture(&file, (qp_picture_size){1, 1, 4}, (int64_t[]){255, 0, 255, 0});

    begin(&file, (head){4, 1, 2, GREY, 0});
    end(&file, "\0\x1B", 2); /* 0 1 2 3, times 85 */
    assert_picture(&file, (qp_picture_size){1, 1, 4}, (int64_t[]){0, 85, 170, 255});

    begin(&file, (head){2, 1, 4, GREY, 0});
    end(&file, "\0\x1E", 2); /* times 17 */
    assert_picture(&file, (qp_picture_size){1, 1, 2}, (int64_t[]){17, 238});

    begin(&file, (head){3, 1, 4, PALETTE, 0});
    append_chunk(&file, "PLTE", "\x0a\x14\x1e\x28\x32\x3c", 6);
    end(&file, "\0\x10\x10", 3);
    assert_picture(&file, (qp_picture_size){3, 1, 3},
                   (int64_t[]){40, 10, 40, 50, 20, 50, 60, 30, 60});
}

static void test_interlaced(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){2, 2, 8, GREY, 1});
    end(&file,
        "\0\x0b"
        "\0\x16"
        "\0\x21\x2c",
        7); /* passes 1, 6 and 7 of Adam7 */
    assert_picture(&file, (qp_picture_size){1, 2, 2}, (int64_t[]){11, 22, 33, 44});
}

static void test_alpha(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){2, 1, 8, GREY_ALPHA, 0});
    end(&file, "\0\x05\xff\x06\xff", 5);
    assert_picture(&file, (qp_picture_size){1, 1, 2}, (int64_t[]){5, 6});
    begin(&file, (head){2, 1, 8, RGB_ALPHA, 0});
    end(&file, "\0\x01\x02\x03\xff\x04\x05\x06\xff", 9);
    assert_picture(&file, (qp_picture_size){3, 1, 2}, (int64_t[]){1, 4, 2, 5, 3, 6});

    begin(&file, (head){2, 1, 8, GREY_ALPHA, 0});
    end(&file, "\0\x05\xff\x06\xfe", 5);
    assert_refused(&file, QP_FIELD_RANGE, "transparent");
    begin(&file, (head){1, 1, 8, RGB_ALPHA, 0});
    end(&file, "\0\x01\x02\x03\x00", 5);
    assert_refused(&file, QP_FIELD_RANGE, "transparent");

    /* a palette whose first entry is transparent, unused and then used */
    begin(&file, (head){1, 1, 8, PALETTE, 0});
    append_chunk(&file, "PLTE", "\x0a\x14\x1e\x28\x32\x3c", 6);
    append_chunk(&file, "tRNS", "\x00", 1);
    end(&file, "\0\x01", 2);
    assert_picture(&file, (qp_picture_size){3, 1, 1}, (int64_t[]){40, 50, 60});
    begin(&file, (head){1, 1, 8, PALETTE, 0});
    append_chunk(&file, "PLTE", "\x0a\x14\x1e\x28\x32\x3c", 6);
    append_chunk(&file, "tRNS", "\x00", 1);
    end(&file, "\0\x00", 2);
    assert_refused(&file, QP_FIELD_RANGE, "transparent");

    /* grey 7 is named transparent */
    begin(&file, (head){2, 1, 8, GREY, 0});
    append_chunk(&file, "tRNS", "\x00\x07", 2);
    end(&file, "\0\x06\x08", 3);
    assert_picture(&file, (qp_picture_size){1, 1, 2}, (int64_t[]){6, 8});
}

static void test_refusals(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){1, 1, 16, GREY, 0});
    end(&file, "\0\x12\x34", 3);
    assert_refused(&file, QP_FIELD_RANGE, "16 bits");

    qp_buffer_init(&file, NULL);
    qp_buffer_text(&file, "GIF89a, not a PNG file");
    assert_refused(&file, QP_MALFORMED, "no PNG");
    qp_buffer_init(&file, NULL);
    assert_refused(&file, QP_MALFORMED, "no PNG");

    begin(&file, (head){0, 1, 8, GREY, 0});
    end(&file, "\0", 1);
    assert_refused(&file, QP_MALFORMED, "damaged");

    begin(&file, (head){3, 2, 8, GREY, 0}); /* a row too few */
    end(&file, "\0\1\2\3", 4);
    assert_refused(&file, QP_MALFORMED, "damaged");

    begin(&file, (head){2, 1, 8, GREY, 0}); /* the check sum of the image chunk */
    end(&file, "\0\1\2", 3);
    file.bytes[file.size - 13] ^= 1;
    assert_refused(&file, QP_MALFORMED, "damaged");

    begin(&file, (head){1, 1, 8, PALETTE, 0}); /* no palette */
    end(&file, "\0\0", 2);
    assert_refused(&file, QP_MALFORMED, "damaged");
}

/* A file of 70 bytes that claims gigabytes is refused before memory is taken for them. */
static void test_claims_of_size(void **state)
{
    static const uint32_t sizes[][2] = {
        {16384, 16384}, {16385, 16385}, {1000000, 1000000}, {0x7fffffff, 0x7fffffff}, {1, 1000000}};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        failing_allocator memory = failing_allocator_make(0);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_picture picture;
        qp_buffer file;
        begin(&file, (head){sizes[i][0], sizes[i][1], 8, RGB, 0});
        end(&file, "\0\1\2\3", 4);
        qp_status status = qp_picture_read(file.bytes, file.size, &allocator, &picture, NULL);
        assert_true(status == QP_TOO_LARGE || (i == 3 && status == QP_MALFORMED));
        assert_int_equal(memory.requests, 0);
        qp_buffer_free(&file);
    }
}

static void test_every_prefix(void **state)
{
    qp_buffer file;
    (void)state;
    begin(&file, (head){2, 2, 8, RGB, 0});
    end(&file,
        "\0\x01\x02\x03\x04\x05\x06"
        "\0\x10\x10\x10\x10\x10\x10",
        14);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *copy = malloc(size > 0 ? size : 1);
        qp_picture picture;
        qp_error error;
        assert_non_null(copy);
        memcpy(copy, file.bytes, size);
        assert_int_equal(qp_picture_read(copy, size, NULL, &picture, &error), QP_MALFORMED);
        assert_in_range((uintmax_t)error.offset, 0, size);
        free(copy);
    }
    qp_buffer_free(&file);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void test_round_trip(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        for (uint32_t n = 1; n <= 33; n += 8) {
            qp_picture_size size = {channels, n, 34 - n};
            int64_t values[3 * 33 * 34];
            qp_buffer buffer;
            for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
                values[i] = (int64_t)(i * 97 % 256);
            qp_buffer_init(&buffer, NULL);
            assert_int_equal(qp_picture_write(&buffer, size, values, NULL), QP_OK);
            assert_picture(&buffer, size, values);
        }
    }
}

static void test_refuses_values(void **state)
{
    int64_t values[12] = {0, 255};
    qp_buffer buffer;
    qp_error error;
    (void)state;
    qp_buffer_init(&buffer, NULL);
    values[7] = 256;
    values[8] = -1;
    assert_int_equal(qp_picture_write(&buffer, (qp_picture_size){3, 2, 2}, values, &error),
                     QP_FIELD_RANGE);
    assert_int_equal(error.record, 7);
    assert_string_equal(error.message,
                        "value 7 (channel 1, row 1, column 1) is 256, outside 0 to 255");
    values[7] = INT64_MIN;
    assert_int_equal(qp_picture_write(&buffer, (qp_picture_size){1, 3, 4}, values, &error),
                     QP_FIELD_RANGE);
    assert_string_equal(
        error.message,
        "value 7 (channel 0, row 1, column 3) is -9223372036854775808, outside 0 to 255");
    assert_int_equal(qp_picture_write(&buffer, (qp_picture_size){2, 2, 2}, values, NULL),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_picture_write(&buffer, (qp_picture_size){1, 0, 2}, values, NULL),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(
        qp_picture_write(&buffer, (qp_picture_size){1, UINT32_MAX, UINT32_MAX}, values, NULL),
        QP_TOO_LARGE);
    assert_int_equal(buffer.size, 0);
    qp_buffer_free(&buffer);
}

static void test_without_memory(void **state)
{
    static const int64_t values[300] = {1, 2, 3};
    const qp_picture_size size = {3, 10, 10};
    qp_buffer file;
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_buffer_init(&file, &allocator);
        qp_status status = qp_picture_write(&file, size, values, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (memory.has_failed)
            assert_int_equal(file.size, 0);
        qp_buffer_free(&file);
        assert_int_equal(memory.blocks, 0);
        if (!memory.has_failed)
            break;
    }
    qp_buffer_init(&file, NULL);
    assert_int_equal(qp_picture_write(&file, size, values, NULL), QP_OK);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_picture picture;
        qp_status status = qp_picture_read(file.bytes, file.size, &allocator, &picture, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (status == QP_OK)
            qp_picture_free(&picture);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            break;
    }
    qp_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey_and_rgb),   cmocka_unit_test(test_few_bits_and_palette),
        cmocka_unit_test(test_interlaced),     cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_claims_of_size),
        cmocka_unit_test(test_every_prefix),   cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refuses_values), cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}

#else

static void test_says_that_png_is_absent(void **state)
{
    const int64_t value = 0;
    qp_buffer buffer;
    qp_picture picture;
    qp_error error;
    (void)state;
    qp_buffer_init(&buffer, NULL);
    assert_false(qp_picture_supported());
    assert_int_equal(qp_picture_read((const uint8_t *)"", 0, NULL, &picture, &error),
                     QP_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "without libpng"));
    assert_int_equal(qp_picture_write(&buffer, (qp_picture_size){1, 1, 1}, &value, &error),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(buffer.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_that_png_is_absent)};
    return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}

#endif
