/* SPDX-License-Identifier: Apache-2.0 */
/* test_y4m.c - YUV4MPEG2 files: every form that is read, what is written, refusals with their
 * place, and headers made to mislead. */
#include "support/test.h"

#include "base/base.h"
#include "cli/y4m.h"

enum { WIDTH = 3, HEIGHT = 2, FRAMES = 2, PLANE = WIDTH * HEIGHT, SIZE = FRAMES * 3 * PLANE };

/* A file of these lines before each frame; sample i of a frame's planes is 7·i + 100·frame. */
static void make(const char *header, const char *frame, size_t planes, qp_buffer *file)
{
    qp_buffer_init(file, NULL);
    qp_buffer_text(file, header);
    for (size_t f = 0; f < FRAMES; f++) {
        qp_buffer_text(file, frame);
        for (size_t i = 0; i < planes * PLANE; i++)
            qp_buffer_le(file, (7 * i + 100 * f) & UINT8_MAX, 1);
    }
}

static qp_status read_text(const char *text, size_t size, qp_error *error)
{
    qp_media media;
    uint8_t *exact = malloc(size + (size == 0));
    assert_non_null(exact);
    memcpy(exact, text, size);
    qp_status status = qp_y4m_read(exact, size, &media, error);
    assert_true((status == QP_OK) == (media.bytes != NULL));
    qp_media_free(NULL, &media);
    free(exact);
    return status;
}

static void check_pixels(const qp_media *media, size_t planes)
{
    assert_int_equal(media->layout, QP_LAYOUT_PIXELS);
    assert_int_equal(media->frames, FRAMES);
    assert_int_equal(media->height, HEIGHT);
    assert_int_equal(media->width, WIDTH);
    assert_int_equal(media->channels, 3);
    assert_int_equal(media->size, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        size_t f = i / (3 * PLANE), pixel = i % (3 * PLANE) / 3, c = i % 3;
        size_t expected = c < planes ? (7 * (c * PLANE + pixel) + 100 * f) & UINT8_MAX : 128;
        assert_int_equal(media->bytes[i], expected);
    }
}

static void every_form(void **state)
{
    static const struct {
        const char *header, *frame;
        size_t planes;
    } forms[] = {
        {"YUV4MPEG2 W3 H2 C444\n", "FRAME\n", 3},
        {"YUV4MPEG2 W3 H2 F30000:1001 Ip A1:1 C444 XYSCSS=444 XCOLORRANGE=FULL\n", "FRAME\n", 3},
        {"YUV4MPEG2  C444 I? H2   W3 \n", "FRAME Xnote\n", 3},
        {"YUV4MPEG2 W3 H2 Cmono\n", "FRAME\n", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        qp_buffer file;
        qp_media media;
        make(forms[i].header, forms[i].frame, forms[i].planes, &file);
        assert_true(qp_y4m_is(file.bytes, file.size));
        assert_int_equal(qp_y4m_read(file.bytes, file.size, &media, NULL), QP_OK);
        check_pixels(&media, forms[i].planes);
        qp_media_free(NULL, &media);
        qp_buffer_free(&file);
    }
}

/* What is written of what was read is the file, where its header is ours. */
static void writes_back(void **state)
{
    qp_buffer file, again;
    qp_media media;
    (void)state;
    make("YUV4MPEG2 W3 H2 F0:0 Ip A0:0 C444\n", "FRAME\n", 3, &file);
    assert_int_equal(qp_y4m_read(file.bytes, file.size, &media, NULL), QP_OK);
    qp_buffer_init(&again, NULL);
    assert_int_equal(qp_y4m_write(&again, &media, NULL), QP_OK);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.bytes, file.bytes, file.size);
    qp_media_free(NULL, &media);
    qp_buffer_free(&again);
    qp_buffer_free(&file);
}

static void writes_one_channel(void **state)
{
    static const char expected[] = "YUV4MPEG2 W2 H1 F0:0 Ip A0:0 Cmono\nFRAME\nab";
    uint8_t bytes[] = {'a', 'b'};
    qp_media media = {QP_LAYOUT_PIXELS, 1, 1, 2, 1, 0, bytes, sizeof bytes};
    qp_buffer file;
    (void)state;
    qp_buffer_init(&file, NULL);
    assert_int_equal(qp_y4m_write(&file, &media, NULL), QP_OK);
    assert_int_equal(file.size, strlen(expected));
    assert_memory_equal(file.bytes, expected, file.size);
    media.layout = QP_LAYOUT_PLANES;
    assert_int_equal(qp_y4m_write(&file, &media, NULL), QP_INVALID_ARGUMENT);
    media = (qp_media){QP_LAYOUT_PIXELS, 1, 1, 1, 2, 0, bytes, sizeof bytes};
    assert_int_equal(qp_y4m_write(&file, &media, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(file.size, strlen(expected));
    qp_buffer_free(&file);
}

/* A file cut at a whole frame is a shorter video; cut anywhere else it is none. */
static void truncation(void **state)
{
    qp_buffer file;
    (void)state;
    make("YUV4MPEG2 W3 H2 C444\n", "FRAME\n", 3, &file);
    size_t frame = 6 + 3 * PLANE, header = file.size - FRAMES * frame;
    for (size_t size = 0; size <= file.size; size++) {
        qp_error error = {0};
        bool whole = size > header && (size - header) % frame == 0;
        qp_status status = read_text((const char *)file.bytes, size, &error);
        assert_int_equal(status, whole ? QP_OK : QP_MALFORMED);
        assert_true(whole || (error.offset >= 0 && (size_t)error.offset <= size));
    }
    qp_buffer_free(&file);
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        qp_status status;
        int64_t offset;
    } cases[] = {
        {"YUV4MPEG2 W2 H2 C420jpeg\nFRAME\n123456", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W2 H2 C420\nFRAME\n123456", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W1 H1 C444p10\nFRAME\n123456", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W1 H1 C444alpha\nFRAME\n1234", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W1 H1 Cmono10\nFRAME\n12", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W2 H2\nFRAME\n123456", QP_FIELD_RANGE, 15},
        {"YUV4MPEG2 W1 H1 It Cmono\nFRAME\n1", QP_FIELD_RANGE, 16},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAME Itib\n1", QP_FIELD_RANGE, 28},
        {"YUV4MPEG2 W0 H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W-1 H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W1x H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W65537 H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W4294967297 H1 Cmono\nFRAME\n1", QP_MALFORMED, 10},
        {"YUV4MPEG2 W1 W1 H1 Cmono\nFRAME\n1", QP_MALFORMED, 13},
        {"YUV4MPEG2 W1 H1 Cmono Cmono\nFRAME\n1", QP_MALFORMED, 22},
        {"YUV4MPEG2 W1 Cmono\nFRAME\n1", QP_MALFORMED, 18},
        {"YUV4MPEG2 W1 H1 Cmono Q1\nFRAME\n1", QP_MALFORMED, 22},
        {"YUV4MPEG2 W1 H1\tCmono\nFRAME\n1", QP_MALFORMED, 15},
        {"YUV4MPEG2 W65536 H65536 C444\nFRAME\n1", QP_MALFORMED, 36},
        {"YUV4MPEG2 W1 H1 Cmono\n", QP_MALFORMED, 22},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAMES\n1", QP_MALFORMED, 22},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAME\n1x", QP_MALFORMED, 30},
        {"YUV4MPEG3 W1 H1 Cmono\nFRAME\n1", QP_MALFORMED, 0},
        {"YUV4MPEG2", QP_MALFORMED, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qp_error error = {.offset = -1};
        assert_int_equal(read_text(cases[i].text, strlen(cases[i].text), &error), cases[i].status);
        if (cases[i].status == QP_MALFORMED || cases[i].status == QP_FIELD_RANGE)
            assert_int_equal(error.offset, cases[i].offset);
    }
}

/* A line that never ends is given up after 1024 bytes. */
static void long_lines(void **state)
{
    qp_buffer file;
    qp_error error = {0};
    (void)state;
    qp_buffer_init(&file, NULL);
    qp_buffer_text(&file, "YUV4MPEG2 W1 H1 Cmono X");
    while (file.size < 1 << 20)
        qp_buffer_text(&file, "x");
    qp_buffer_text(&file, "\nFRAME\n1");
    assert_int_equal(read_text((const char *)file.bytes, file.size, &error), QP_MALFORMED);
    assert_int_equal(error.offset, 1024);
    qp_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),         cmocka_unit_test(writes_back),
        cmocka_unit_test(writes_one_channel), cmocka_unit_test(truncation),
        cmocka_unit_test(refusals),           cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
