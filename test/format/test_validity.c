/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_validity.c - every rule about words, of every format: what it refuses, where it says the
 * fault is, and what it must let pass (tensor-formats.md sections 3, 5 and 6, artifact-container.md
 * section 8, ggml-blocks.md section 1).
 */
#include "random_words.h"

/* A matrix of random valid words, in which a test breaks one. */
typedef struct subject {
    qp_matrix matrix;
    qp_word_planes words;
} subject;

static subject make(const char *format, uint64_t rows, uint64_t columns, uint64_t divisors)
{
    subject s;
    uint64_t seed = columns;
    s.matrix = format_plan(format, (uint64_t[]){rows, columns}, 2, divisors);
    s.words = format_words(&s.matrix, rows);
    random_words(&s.matrix, &s.words, &seed);
    assert_int_equal(qp_words_check(&s.matrix, 0, rows, &s.words, NULL), QP_OK);
    return s;
}

static void discard(subject *s)
{
    format_words_free(&s->words);
}

static void assert_valid(const subject *s)
{
    assert_int_equal(qp_words_check(&s->matrix, 0, s->matrix.rows, &s->words, NULL), QP_OK);
}

static void assert_fault(const subject *s, const char *check, int64_t row, int64_t column)
{
    qp_error error = {.check = NULL};
    assert_int_equal(qp_words_check(&s->matrix, 0, s->matrix.rows, &s->words, &error),
                     QP_FIELD_RANGE);
    assert_string_equal(error.check, check);
    assert_int_equal(error.row, row);
    assert_int_equal(error.column, column);
    assert_non_null(strstr(error.message, s->matrix.format->name));

    /* the same rows, asked for from another row on */
    qp_word_planes from = {s->words.codes + s->matrix.code_row_bytes,
                           s->words.scales + s->matrix.scale_row_bytes, s->words.divisors};
    assert_int_equal(qp_words_check(&s->matrix, 1, s->matrix.rows - 1, &from, &error),
                     row >= 1 ? QP_FIELD_RANGE : QP_OK);
    assert_int_equal(error.row, row);
}

/* Formats of one word an element have no rule. */
static void test_direct(void **state)
{
    static const char *const names[] = {"bf16", "fp32", "int32"};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(names); i++) {
        subject s = make(names[i], 3, 64, 1);
        memset(s.words.codes, 0xFF, (size_t)(3 * s.matrix.code_row_bytes));
        assert_valid(&s);
        discard(&s);
    }
}

/* ---- grouped formats ---------------------------------------------------------------------- */

/* Group 1 of row 2, whose codes are set to zero; group 2 is the last, of three columns. */
static void set_scale(subject *s, uint16_t scale)
{
    uint64_t group = s->matrix.format->group;
    put_u16(s->words.scales + 2 * s->matrix.scale_row_bytes + 2, scale);
    memset(s->words.codes + 2 * s->matrix.code_row_bytes + group, 0, (size_t)group);
}

static void check_grouped_scales(const char *name, bool is_q2)
{
    static const uint16_t never[] = {0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFFFF};
    static const uint16_t always[] = {0x0000, 0x0001, 0x8001, 0x03FF, 0x7BFF, 0xFBFF};
    uint64_t group = qp_format_find(name)->group;
    subject s = make(name, 4, 2 * group + 3, 1);

    for (size_t i = 0; i < TEST_COUNT(never); i++) {
        set_scale(&s, never[i]);
        assert_fault(&s, "scale_invalid", 2, (int64_t)group);
    }
    for (size_t i = 0; i < TEST_COUNT(always); i++) {
        set_scale(&s, always[i]);
        assert_valid(&s);
    }
    set_scale(&s, 0x8000);
    if (is_q2)
        assert_valid(&s);
    else
        assert_fault(&s, "scale_invalid", 2, (int64_t)group);
    discard(&s);
}

static void check_grouped_codes(const char *name, bool is_q2)
{
    const qp_format *format = qp_format_find(name);
    uint64_t group = format->group;
    subject s = make(name, 4, 2 * group + 3, 1);
    uint8_t *code = s.words.codes + 2 * s.matrix.code_row_bytes + group + 5;

    set_scale(&s, 0x3C00);
    for (int value = -128; value < 128; value++) {
        *code = (uint8_t)value;
        if (value >= format->code_min && value <= format->code_max)
            assert_valid(&s);
        else
            assert_fault(&s, "code_invalid", 2, (int64_t)group + 5);
    }
    set_scale(&s, 0x0000);
    *code = 1;
    if (is_q2)
        assert_valid(&s);
    else
        assert_fault(&s, "zero_scale_code", 2, (int64_t)group + 5);
    discard(&s);
}

/* The last, partly filled group obeys the same rules, and faults come in order of columns. */
static void check_grouped_order(const char *name)
{
    const qp_format *format = qp_format_find(name);
    int64_t last = 2 * (int64_t)format->group;
    subject s = make(name, 4, 2 * format->group + 3, 1);
    uint8_t *codes = s.words.codes + s.matrix.code_row_bytes;
    uint8_t *scales = s.words.scales + s.matrix.scale_row_bytes;

    codes[last + 2] = 0x80;
    put_u16(scales + 4, 0x3C00);
    assert_fault(&s, "code_invalid", 1, last + 2);
    put_u16(scales + 4, 0x7C00);
    assert_fault(&s, "scale_invalid", 1, last);
    codes[1] = 0x80;
    put_u16(scales, 0x3C00);
    assert_fault(&s, "code_invalid", 1, 1);
    discard(&s);
}

static void test_grouped(void **state)
{
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        bool is_q2 = strcmp(format->name, "q2_g64_fp16") == 0;
        if (format->family != QP_FAMILY_GROUPED)
            continue;
        check_grouped_scales(format->name, is_q2);
        check_grouped_codes(format->name, is_q2);
        check_grouped_order(format->name);
    }
}

/* The intervals of section 5, by hand. */
static void test_intervals(void **state)
{
    static const struct {
        const char *name;
        int min, max;
    } known[] = {{"q2_g64_fp16", -1, 2},   {"q4_g64_fp16", -8, 7},     {"q5_g64_fp16", -16, 15},
                 {"q6_g64_fp16", -32, 31}, {"q8_g32_fp16", -127, 127}, {"t2_g128_fp16", -1, 1}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(known); i++) {
        assert_int_equal(qp_format_find(known[i].name)->code_min, known[i].min);
        assert_int_equal(qp_format_find(known[i].name)->code_max, known[i].max);
    }
}

/* Stored bytes of codes that two's complement has and the format has not. */
static void test_stored_words(void **state)
{
    static const struct {
        const char *name;
        uint8_t byte;
    } cases[] = {{"t2_g128_fp16", 0x02}, {"q8_g32_fp16", 0x80}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        subject s = make(cases[i].name, 2, 128, 1);
        put_u16(s.words.scales, 0x3C00);
        uint8_t *bytes = format_pack(&s.matrix, &s.words);
        qp_rows rows = qp_rows_in(&s.matrix, bytes, 0, 2);
        bytes[0] = cases[i].byte;
        qp_rows_unpack(&s.matrix, &rows, &s.words);
        assert_fault(&s, "code_invalid", 0, 0);
        free(bytes);
        discard(&s);
    }
}

/* ---- nvfp4 -------------------------------------------------------------------------------- */

static void test_nvfp4_scales(void **state)
{
    subject s = make("nvfp4", 256, 128, 2);
    uint8_t *scale = s.words.scales + 131 * 8 + 3;
    (void)state;
    for (unsigned word = 0; word < 256; word++) {
        *scale = (uint8_t)word;
        if (word < 0x7F)
            assert_valid(&s);
        else
            assert_fault(&s, "scale_invalid", 131, 48);
    }
    discard(&s);
}

static void test_nvfp4_divisors(void **state)
{
    static const uint32_t never[] = {0x00000000, 0x80000000, 0x7F800000, 0x7F800001,
                                     0x7FC00000, 0xFF800000, 0xBF800000, 0xFFFFFFFF};
    static const uint32_t always[] = {0x00000001, 0x00800000, 0x3F800000, 0x7F7FFFFF};
    subject s = make("nvfp4", 384, 64, 3);
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(never); i++) {
        put_u32(s.words.divisors + 4, never[i]);
        assert_fault(&s, "divisor_invalid", 128, -1);
    }
    for (size_t i = 0; i < TEST_COUNT(always); i++) {
        put_u32(s.words.divisors + 4, always[i]);
        assert_valid(&s);
    }
    discard(&s);
}

/* ---- row FP8 ------------------------------------------------------------------------------ */

static void check_row_scales(const char *name, uint16_t infinity)
{
    subject s = make(name, 3, 40, 1);
    memset(s.words.codes + 40, 0x80, 40); /* the negative zeros of row 1: fine with any scale */
    for (uint32_t word = 0; word < 65536; word++) {
        put_u16(s.words.scales + 2, (uint16_t)word);
        if (word < infinity)
            assert_valid(&s);
        else
            assert_fault(&s, "scale_invalid", 1, -1);
    }
    discard(&s);
}

static void check_row_codes(const char *name)
{
    subject s = make(name, 3, 40, 1);
    memset(s.words.codes + 40, 0, 40);
    for (unsigned zero = 0; zero < 2; zero++) {
        put_u16(s.words.scales + 2, zero ? 0x0000 : 0x0001);
        for (unsigned code = 0; code < 256; code++) {
            s.words.codes[40 + 17] = (uint8_t)code;
            if ((code & 0x7F) == 0x7F)
                assert_fault(&s, "code_invalid", 1, 17);
            else if (zero && (code & 0x7F) != 0)
                assert_fault(&s, "zero_scale_code", 1, 17);
            else
                assert_valid(&s);
        }
    }
    discard(&s);
}

static void test_row_fp8(void **state)
{
    (void)state;
    check_row_scales("fp8_e4m3fn_row_bf16", 0x7F80);
    check_row_scales("fp8_e4m3fn_row_fp16", 0x7C00);
    check_row_codes("fp8_e4m3fn_row_bf16");
    check_row_codes("fp8_e4m3fn_row_fp16");
}

/* ---- gguf_* ------------------------------------------------------------------------------- */

/* Where section 2 puts d and dmin. */
typedef struct scale_place {
    const char *name;
    int offsets[2]; /* -1: none */
} scale_place;

static const scale_place scale_places[] = {
    {"gguf_q4_0", {0, -1}},    {"gguf_q5_0", {0, -1}},   {"gguf_q8_0", {0, -1}},
    {"gguf_q2_0", {0, -1}},    {"gguf_q2_k", {80, 82}},  {"gguf_q3_k", {108, -1}},
    {"gguf_q4_k", {0, 2}},     {"gguf_q5_k", {0, 2}},    {"gguf_q6_k", {208, -1}},
    {"gguf_iq2_xxs", {0, -1}}, {"gguf_iq2_xs", {0, -1}}, {"gguf_iq2_s", {0, -1}},
    {"gguf_iq3_xxs", {0, -1}}, {"gguf_iq3_s", {0, -1}},  {"gguf_iq1_s", {0, -1}},
    {"gguf_iq4_nl", {0, -1}},  {"gguf_iq4_xs", {0, -1}},
};

/* In a block of otherwise any bytes, block 1 of row 2, only the scale words count. */
static void check_block(const scale_place *place, unsigned which)
{
    const qp_format *format = qp_format_find(place->name);
    subject s = make(place->name, 4, 3 * (uint64_t)format->group, 1);
    uint8_t *block = s.words.codes + 2 * s.matrix.code_row_bytes + format->group_bytes;

    memset(block, 0xFF, format->group_bytes);
    for (unsigned k = 0; k < 2; k++)
        if (place->offsets[k] >= 0)
            put_u16(block + place->offsets[k], 0xFBFF);
    assert_valid(&s);
    for (uint32_t word = 0; word < 65536; word += 0x3FF) {
        put_u16(block + place->offsets[which], (uint16_t)word);
        if ((word & 0x7C00) != 0x7C00)
            assert_valid(&s);
        else
            assert_fault(&s, "scale_invalid", 2, (int64_t)format->group);
    }
    discard(&s);
}

static void test_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(scale_places); i++)
        for (unsigned k = 0; k < 2; k++)
            if (scale_places[i].offsets[k] >= 0)
                check_block(&scale_places[i], k);
}

/* IQ1_M's scale is put together from four nibbles. */
static void test_iq1_m_block(void **state)
{
    subject s = make("gguf_iq1_m", 3, 512, 1);
    uint8_t *block = s.words.codes + s.matrix.code_row_bytes + 56;
    (void)state;
    for (uint32_t word = 0; word < 65536; word += 0x55) {
        for (unsigned k = 0; k < 4; k++)
            block[48 + 2 * k + 1] = (uint8_t)(0x0F | (word >> 4 * k & 15) << 4);
        if ((word & 0x7C00) != 0x7C00)
            assert_valid(&s);
        else
            assert_fault(&s, "scale_invalid", 1, 256);
    }
    discard(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),       cmocka_unit_test(test_grouped),
        cmocka_unit_test(test_intervals),    cmocka_unit_test(test_stored_words),
        cmocka_unit_test(test_nvfp4_scales), cmocka_unit_test(test_nvfp4_divisors),
        cmocka_unit_test(test_row_fp8),      cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_iq1_m_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
