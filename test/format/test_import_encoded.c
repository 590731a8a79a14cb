/* SPDX-License-Identifier: Apache-2.0 */
/* test_import_encoded.c - artifact-container.md section 9.6: words move as they are. */
#include "method_test.h"
#include "random_words.h"

/* Imports whole words; what the source keeps is in `encoded`. */
static qp_status import(const char *encoding, const qp_matrix *target, qp_word_planes encoded,
                        const qp_word_planes *words, qp_error *error)
{
    qp_method_job job = {
        .target = target, .encoding = encoding, .method = qp_method_find("import_encoded")};
    qp_method_rows rows = {.count = target->rows, .encoded = encoded, .words = *words};
    qp_status status = qp_method_prepare(&job, error);
    return status == QP_OK ? qp_method_encode(&job, &rows, error) : status;
}

/* ---- ternary blocks ----------------------------------------------------------------------- */

static void pack_142(const uint8_t digits[128], uint16_t scale, uint8_t block[34])
{
    put_u16(block, scale);
    memset(block + 2, 0, 32);
    for (size_t j = 0; j < 128; j++)
        block[2 + j / 4] |= (uint8_t)(digits[j] << (2 * (j % 4)));
}

/* The byte whose fraction byte / 256 begins with these ternary digits. */
static uint8_t pack_digits(const uint8_t *digits, size_t count, size_t step)
{
    uint32_t value = 0;
    for (size_t t = 0; t < 5; t++)
        value = 3 * value + (t < count ? digits[t * step] : 0);
    return (uint8_t)((value * 256 + 242) / 243);
}

static void pack_143(const uint8_t digits[128], uint16_t scale, uint8_t block[28])
{
    for (size_t i = 0; i < 16; i++)
        block[i] = pack_digits(digits + i, 5, 16);
    for (size_t i = 0; i < 8; i++)
        block[16 + i] = pack_digits(digits + 80 + i, 5, 8);
    for (size_t i = 0; i < 2; i++)
        block[24 + i] = pack_digits(digits + 120 + i, 4, 2);
    put_u16(block + 26, scale);
}

static void test_ternary(void **state)
{
    uint64_t seed = 143;
    uint8_t digits[4][128], blocks_142[4 * 34], blocks_143[4 * 28];
    qp_matrix target = format_plan_two("t2_g128_fp16", 2, 256);
    (void)state;
    for (size_t round = 0; round < 200; round++) {
        uint16_t scales[4];
        for (size_t b = 0; b < 4; b++) {
            scales[b] = (uint16_t)(1 + test_below(&seed, 0x7BFF));
            scales[b] = (uint16_t)(scales[b] | test_below(&seed, 2) << 15);
            for (size_t j = 0; j < 128; j++)
                digits[b][j] = (uint8_t)test_below(&seed, 3);
            pack_142(digits[b], scales[b], blocks_142 + b * 34);
            pack_143(digits[b], scales[b], blocks_143 + b * 28);
        }
        for (size_t kind = 0; kind < 2; kind++) {
            qp_word_planes words = format_words(&target, 2);
            qp_word_planes encoded = {kind == 0 ? blocks_142 : blocks_143, NULL, NULL};
            const char *encoding = kind == 0 ? "ggml_142" : "ggml_143";
            assert_int_equal(import(encoding, &target, encoded, &words, NULL), QP_OK);
            for (size_t b = 0; b < 4; b++) {
                assert_int_equal(qp_load_u16(words.scales + 2 * b), scales[b]);
                for (size_t j = 0; j < 128; j++)
                    assert_int_equal(qp_to_i8(words.codes[b * 128 + j]), digits[b][j] - 1);
            }
            format_words_free(&words);
        }
    }
}

/* The digit of artifact-container.md section 9.6 for every byte. */
static void test_every_143_byte(void **state)
{
    qp_matrix target = format_plan_two("t2_g128_fp16", 1, 128);
    (void)state;
    for (uint32_t x = 0; x < 256; x++) {
        static const uint32_t powers[] = {1, 3, 9, 27, 81};
        uint8_t block[28];
        qp_word_planes words = format_words(&target, 1), encoded = {block, NULL, NULL};
        memset(block, (int)x, 26);
        put_u16(block + 26, 0x3C00);
        assert_int_equal(import("ggml_143", &target, encoded, &words, NULL), QP_OK);
        for (size_t j = 0; j < 128; j++) {
            size_t t = j < 80 ? j / 16 : j < 120 ? (j - 80) / 8 : (j - 120) / 2;
            int expected = (int)((x * powers[t] % 256 * 3) >> 8) - 1;
            assert_int_equal(qp_to_i8(words.codes[j]), expected);
        }
        format_words_free(&words);
    }
}

static void expect_refusal(const char *encoding, const qp_matrix *target, uint8_t *blocks,
                           const char *check, int64_t row, int64_t column)
{
    qp_word_planes words = format_words(target, target->rows), encoded = {blocks, NULL, NULL};
    qp_error error = {.check = ""};
    assert_int_not_equal(import(encoding, target, encoded, &words, &error), QP_OK);
    assert_string_equal(error.check, check);
    assert_int_equal(error.row, row);
    assert_int_equal(error.column, column);
    format_words_free(&words);
}

static void test_ternary_refusals(void **state)
{
    uint8_t digits[128] = {0}, blocks[2 * 34];
    qp_matrix target = format_plan_two("t2_g128_fp16", 2, 128);
    (void)state;
    memset(digits, 1, sizeof digits);
    pack_142(digits, 0x3C00, blocks);
    digits[77] = 3;
    pack_142(digits, 0x3C00, blocks + 34);
    expect_refusal("ggml_142", &target, blocks, "code_invalid", 1, 77);
    digits[77] = 2;
    pack_142(digits, 0x0000, blocks + 34);
    expect_refusal("ggml_142", &target, blocks, "zero_scale_code", 1, 77);
    pack_142(digits, 0x8000, blocks + 34);
    expect_refusal("ggml_142", &target, blocks, "scale_invalid", 1, 0);
    pack_142(digits, 0x7C00, blocks);
    expect_refusal("ggml_142", &target, blocks, "scale_invalid", 0, 0);
}

/* ---- Q8_0 and Q2_0 ------------------------------------------------------------------------ */

static void test_q8_0(void **state)
{
    uint8_t blocks[4 * 34];
    qp_matrix target = format_plan_two("q8_g32_fp16", 2, 64);
    qp_word_planes words = format_words(&target, 2), encoded = {blocks, NULL, NULL};
    (void)state;
    for (size_t b = 0; b < 4; b++) {
        put_u16(blocks + 34 * b, (uint16_t)(0x8001 + b));
        for (size_t j = 0; j < 32; j++)
            blocks[34 * b + 2 + j] = (uint8_t)(0x81 + 32 * b + j);
    }
    assert_int_equal(import("gguf_q8_0", &target, encoded, &words, NULL), QP_OK);
    for (size_t i = 0; i < 128; i++)
        assert_int_equal(words.codes[i], (uint8_t)(0x81 + i));
    for (size_t b = 0; b < 4; b++)
        assert_int_equal(qp_load_u16(words.scales + 2 * b), 0x8001 + b);
    blocks[34 * 3 + 2 + 5] = 0x80;
    expect_refusal("gguf_q8_0", &target, blocks, "code_invalid", 1, 37);
    format_words_free(&words);
}

static void test_q2_0(void **state)
{
    uint8_t blocks[18] = {0x00, 0x80}; /* -0, which q2 keeps, with any codes */
    qp_matrix target = format_plan_two("q2_g64_fp16", 1, 64);
    qp_word_planes words = format_words(&target, 1), encoded = {blocks, NULL, NULL};
    (void)state;
    memset(blocks + 2, 0xE4, 16); /* 3 2 1 0, the first lowest */
    assert_int_equal(import("gguf_q2_0", &target, encoded, &words, NULL), QP_OK);
    assert_int_equal(qp_load_u16(words.scales), 0x8000);
    for (size_t j = 0; j < 64; j++)
        assert_int_equal(qp_to_i8(words.codes[j]), (int)(j % 4) - 1);
    put_u16(blocks, 0xFE00);
    expect_refusal("gguf_q2_0", &target, blocks, "scale_invalid", 0, 0);
    format_words_free(&words);
}

static void test_prepare(void **state)
{
    static const struct {
        const char *encoding, *format;
        uint64_t columns;
        const char *check;
    } rows[] = {
        {"gguf_q8_0", "q8_g32_fp16", 33, "geometry"},
        {"gguf_q2_0", "q2_g64_fp16", 96, "geometry"},
        {"ggml_143", "t2_g128_fp16", 127, "geometry"},
        {"ggml_143", "q2_g64_fp16", 128, "method_target"},
        {"gguf_q8_0", "gguf_q4_0", 64, "method_target"},
        {"q4_g64_fp16", "q5_g64_fp16", 64, "method_target"},
        {"bf16", "bf16", 64, "method_target"},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        qp_matrix target = format_plan_two(rows[i].format, 1, rows[i].columns);
        expect_refusal(rows[i].encoding, &target, NULL, rows[i].check, -1, -1);
    }
}

/* ---- the same format ---------------------------------------------------------------------- */

static void check_copy(const qp_format *format, uint64_t *seed)
{
    bool is_nvfp4 = format->family == QP_FAMILY_NVFP4;
    uint64_t shape[2] = {is_nvfp4 ? 256 : 3, is_nvfp4 ? 64 : 256};
    qp_matrix target = format_plan(format->name, shape, 2, is_nvfp4 ? 2 : 1);
    qp_word_planes encoded = format_words(&target, target.rows);
    qp_word_planes words = format_words(&target, target.rows);
    random_words(&target, &encoded, seed);
    assert_int_equal(import(format->name, &target, encoded, &words, NULL), QP_OK);
    assert_memory_equal(words.codes, encoded.codes, target.rows * target.code_row_bytes);
    if (target.scale_row_bytes > 0)
        assert_memory_equal(words.scales, encoded.scales, target.rows * target.scale_row_bytes);
    if (is_nvfp4)
        assert_memory_equal(words.divisors, encoded.divisors, 8);
    format_words_free(&encoded);
    format_words_free(&words);
}

static void test_copies(void **state)
{
    uint64_t seed = 96;
    (void)state;
    for (size_t i = 0; i < qp_format_count(); i++)
        if (qp_format_at(i)->family != QP_FAMILY_DIRECT)
            check_copy(qp_format_at(i), &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ternary),
        cmocka_unit_test(test_every_143_byte),
        cmocka_unit_test(test_ternary_refusals),
        cmocka_unit_test(test_q8_0),
        cmocka_unit_test(test_q2_0),
        cmocka_unit_test(test_prepare),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
