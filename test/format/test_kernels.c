/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels.c - every decode kernel that this machine can run, against the reference: random and
 * extreme scales, every length of a row's last group, chunks of rows, planes at any address whose
 * last byte stands before an unmapped page, and outputs that go around the caches.
 */
#include "format_test.h"
#include "support/guard.h"

#include <string.h>

/* ---- words -------------------------------------------------------------------------------- */

/* Zeros, subnormals, the ends of the normal range. */
static const uint16_t extreme_halves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF,
                                          0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x3C00, 0xBC00};
static const uint16_t extreme_brains[] = {0x0000, 0x0001, 0x007F, 0x0080, 0x3F80, 0x7C00, 0x7F7F};
static const uint32_t extreme_divisors[] = {0x00000001u, 0x007FFFFFu, 0x00800000u,
                                            0x3F800000u, 0x40490FDBu, 0x7F7FFFFFu};

#define ONE_OF(seed, array) (array)[test_below(seed, sizeof(array) / sizeof *(array))]

static void store_16(uint8_t *p, uint16_t word)
{
    p[0] = (uint8_t)(word & 255);
    p[1] = (uint8_t)(word >> 8);
}

static void fill_random(uint8_t *bytes, uint64_t size, uint64_t *seed)
{
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(test_random(seed) >> 56);
}

/* A finite binary16 word; now and then an extreme one. */
static uint16_t some_half(uint64_t *seed)
{
    if (test_below(seed, 4) == 0)
        return ONE_OF(seed, extreme_halves);
    uint32_t magnitude = test_below(seed, 0x7C00);
    return (uint16_t)(magnitude | (test_below(seed, 2) << 15));
}

static void grouped_words(const qp_matrix *matrix, qp_word_planes *words, uint64_t *seed)
{
    const qp_format *format = matrix->format;
    for (uint64_t i = 0; i < matrix->rows * matrix->code_row_bytes; i++) {
        int64_t code = test_between(seed, format->code_min, format->code_max);
        words->codes[i] = (uint8_t)((uint64_t)code & 255);
    }
    for (uint64_t i = 0; i < matrix->rows * matrix->scale_row_bytes; i += 2)
        store_16(words->scales + i, some_half(seed));
}

static void nvfp4_words(const qp_matrix *matrix, qp_word_planes *words, uint64_t *seed)
{
    fill_random(words->codes, matrix->rows * matrix->code_row_bytes, seed);
    for (uint64_t i = 0; i < matrix->rows * matrix->scale_row_bytes; i++)
        words->scales[i] = (uint8_t)test_below(seed, 0x7F);
    for (uint64_t i = 0; i < matrix->divisors; i++) {
        uint32_t word = ONE_OF(seed, extreme_divisors);
        store_16(words->divisors + 4 * i, (uint16_t)(word & 0xFFFF));
        store_16(words->divisors + 4 * i + 2, (uint16_t)(word >> 16));
    }
}

static void fp8_words(const qp_matrix *matrix, qp_word_planes *words, uint64_t *seed)
{
    bool brain = strcmp(matrix->format->name, "fp8_e4m3fn_row_bf16") == 0;
    for (uint64_t i = 0; i < matrix->rows * matrix->code_row_bytes; i++)
        words->codes[i] = (uint8_t)(test_below(seed, 0x7F) | test_below(seed, 2) << 7);
    for (uint64_t n = 0; n < matrix->rows; n++) {
        uint16_t scale = brain ? ONE_OF(seed, extreme_brains) : some_half(seed) & 0x7FFFu;
        store_16(words->scales + 2 * n, scale);
    }
}

/* Where the blocks' scale words lie. IQ1_M has one in the top nibbles of four words. */
static const struct scale_words {
    const char *format;
    uint32_t count, at[2];
} scale_words[] = {
    {"gguf_q2_k", 2, {80, 82}}, {"gguf_q3_k", 1, {108}}, {"gguf_q4_k", 2, {0, 2}},
    {"gguf_q5_k", 2, {0, 2}},   {"gguf_q6_k", 1, {208}}, {"gguf_iq1_m", 0, {0}},
};

static void extreme_block(const qp_format *format, uint8_t *block, uint64_t *seed)
{
    for (size_t i = 0; i < sizeof scale_words / sizeof *scale_words; i++)
        if (strcmp(scale_words[i].format, format->name) == 0) {
            for (uint32_t k = 0; k < scale_words[i].count; k++)
                store_16(block + scale_words[i].at[k], ONE_OF(seed, extreme_halves));
            return;
        }
    store_16(block, ONE_OF(seed, extreme_halves));
}

static void gguf_words(const qp_matrix *matrix, qp_word_planes *words, uint64_t *seed)
{
    const qp_format *format = matrix->format;
    uint64_t blocks = matrix->rows * matrix->code_row_bytes / format->group_bytes;
    for (uint64_t i = 0; i < blocks; i++) {
        uint8_t *block = words->codes + i * format->group_bytes;
        do
            fill_random(block, format->group_bytes, seed);
        while (!format->rules->finite_block(block));
        if (test_below(seed, 4) == 0)
            extreme_block(format, block, seed);
    }
}

static void direct_words(const qp_matrix *matrix, qp_word_planes *words, uint64_t *seed)
{
    fill_random(words->codes, matrix->rows * matrix->code_row_bytes, seed);
}

/* Stored bytes of a tensor with words that have values. */
static uint8_t *some_tensor(const qp_matrix *matrix, uint64_t *seed)
{
    static void (*const fill[])(const qp_matrix *, qp_word_planes *, uint64_t *) = {
        [QP_FAMILY_DIRECT] = direct_words, [QP_FAMILY_GROUPED] = grouped_words,
        [QP_FAMILY_NVFP4] = nvfp4_words,   [QP_FAMILY_ROW_FP8] = fp8_words,
        [QP_FAMILY_GGUF] = gguf_words,
    };
    qp_word_planes words = format_words(matrix, matrix->rows);
    fill[matrix->format->family](matrix, &words, seed);
    uint8_t *bytes = format_pack(matrix, &words);
    format_words_free(&words);
    return bytes;
}

/* ---- one chunk of rows -------------------------------------------------------------------- */

/* By unpack and decode, the plain way. */
static float *reference(const qp_matrix *matrix, const qp_rows *rows)
{
    qp_word_planes words = format_words(matrix, rows->count);
    float *values = format_values(rows->count * matrix->columns);
    qp_rows_unpack(matrix, rows, &words);
    qp_words_decode(matrix, rows->first, rows->count, &words, values);
    format_words_free(&words);
    return values;
}

static void expect_same(const qp_decode_kernel *kernel, const qp_matrix *matrix,
                        const float *values, const float *expected, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (qp_bits_of_float(values[i]) != qp_bits_of_float(expected[i]))
            fail_msg("%s %s: row %u column %u of %u is %08x, not %08x", kernel->name,
                     kernel->format, (unsigned)(i / matrix->columns),
                     (unsigned)(i % matrix->columns), (unsigned)matrix->columns,
                     (unsigned)qp_bits_of_float(values[i]),
                     (unsigned)qp_bits_of_float(expected[i]));
}

static void check_chunk(const qp_decode_kernel *kernel, const qp_matrix *matrix,
                        const uint8_t *bytes, uint64_t first, uint64_t count)
{
    qp_rows rows = {first, count, {NULL}};
    qp_span spans[QP_PLANES];
    test_guarded planes[QP_PLANES];
    test_guarded out = test_guard((size_t)(count * matrix->columns) * sizeof(float));

    qp_matrix_spans(matrix, first, count, spans);
    for (unsigned p = 0; p < QP_PLANES; p++) {
        planes[p] = test_guard((size_t)spans[p].size);
        memcpy(planes[p].data, bytes + spans[p].offset, (size_t)spans[p].size);
        if (spans[p].size != 0)
            rows.planes[p] = planes[p].data;
    }
    memset(out.data, 0xCD, out.size);
    kernel->decode(matrix, &rows, out.data);
    float *expected = reference(matrix, &rows);
    expect_same(kernel, matrix, out.data, expected, count * matrix->columns);
    free(expected);
    for (unsigned p = 0; p < QP_PLANES; p++)
        test_unguard(planes + p);
    test_unguard(&out);
}

static void check_shape(const qp_decode_kernel *kernel, uint64_t rows, uint64_t columns,
                        uint64_t divisors)
{
    uint64_t seed = rows * 1000003 + columns;
    uint64_t shape[2] = {rows, columns};
    qp_matrix matrix = format_plan(kernel->format, shape, 2, divisors);
    uint8_t *bytes = some_tensor(&matrix, &seed);

    check_chunk(kernel, &matrix, bytes, 0, rows);
    check_chunk(kernel, &matrix, bytes, rows / 2, 1);
    check_chunk(kernel, &matrix, bytes, 1, rows - 1);
    free(bytes);
}

/* ---- the tests ---------------------------------------------------------------------------- */

static bool runs_here(const qp_decode_kernel *kernel)
{
    return (kernel->cpu & qp_cpu_features()) == kernel->cpu;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_decode_kernel_count(); i++) {
        const qp_decode_kernel *kernel = qp_decode_kernel_at(i);
        const qp_format *format = qp_format_find(kernel->format);
        assert_non_null(format);
        if (!runs_here(kernel))
            continue;
        if (format->family == QP_FAMILY_GGUF) {
            for (uint64_t blocks = 1; blocks < 5; blocks++)
                check_shape(kernel, 5, blocks * format->group, 1);
        } else if (format->family == QP_FAMILY_NVFP4) {
            check_shape(kernel, 128, 64, 1);
            check_shape(kernel, 256, 192, 2);
            check_shape(kernel, 512, 64, 2);
        } else {
            for (uint64_t columns = 1; columns < 140; columns++)
                check_shape(kernel, 4, columns, 1);
            check_shape(kernel, 3, 1000, 1);
            check_shape(kernel, 5, 256, 1);
        }
    }
}

/* Every code of a format once for each extreme scale: random words would miss pairs. */
static void test_fp8_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_decode_kernel_count(); i++) {
        const qp_decode_kernel *kernel = qp_decode_kernel_at(i);
        if (qp_format_find(kernel->format)->family != QP_FAMILY_ROW_FP8 || !runs_here(kernel))
            continue;
        uint64_t seed = 1;
        qp_matrix matrix = format_plan_two(kernel->format, 64, 254);
        qp_word_planes words = format_words(&matrix, 64);
        fp8_words(&matrix, &words, &seed);
        for (uint64_t n = 0; n < 64; n++)
            for (uint64_t k = 0; k < 254; k++)
                words.codes[n * 254 + k] = (uint8_t)(k < 127 ? k : k + 1);
        uint8_t *bytes = format_pack(&matrix, &words);
        check_chunk(kernel, &matrix, bytes, 0, 64);
        free(bytes);
        format_words_free(&words);
    }
}

/* Outputs of more than 32 MiB, at an address that is and one that is not a multiple of 16, against
 * the same kernel row by row. */
static void check_large(const qp_decode_kernel *kernel, uint64_t rows, uint64_t columns)
{
    uint64_t seed = columns;
    qp_matrix matrix = format_plan_two(kernel->format, rows, columns);
    uint8_t *bytes = format_bytes(matrix.bytes);
    float *all = format_values(rows * columns + 4), *one = format_values(columns);

    for (unsigned p = 0; p < QP_PLANES; p++)
        fill_random(bytes + matrix.planes[p].offset, matrix.planes[p].size, &seed);
    for (unsigned shift = 0; shift < 2; shift++) {
        float *values =
            all + (((uintptr_t)all % 16 != 0 ? 16 - (uintptr_t)all % 16 : 0) / 4) + shift;
        qp_rows whole = qp_rows_in(&matrix, bytes, 0, rows);
        memset(values, 0xCD, (size_t)(rows * columns) * sizeof *values);
        kernel->decode(&matrix, &whole, values);
        for (uint64_t n = 0; n < rows; n++) {
            qp_rows row = qp_rows_in(&matrix, bytes, n, 1);
            kernel->decode(&matrix, &row, one);
            assert_true(format_same_bits(values + n * columns, one, columns));
        }
    }
    free(one);
    free(all);
    free(bytes);
}

static void test_large(void **state)
{
    static const struct {
        const char *format;
        uint64_t rows, columns;
    } cases[] = {
        {"fp32", 9, 999990},       {"q5_g64_fp16", 2100, 4096},         {"q6_g64_fp16", 2100, 4100},
        {"gguf_q6_k", 2100, 4096}, {"fp8_e4m3fn_row_bf16", 2100, 4004}, {"nvfp4", 2176, 4096},
        {"gguf_q4_0", 2100, 4000}, {"fp8_e4m3fn_row_fp16", 2100, 4004}, {"int32", 1, 8400003},
    };
    (void)state;
    for (size_t i = 0; i < qp_decode_kernel_count(); i++) {
        const qp_decode_kernel *kernel = qp_decode_kernel_at(i);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            if (strcmp(cases[c].format, kernel->format) == 0 && runs_here(kernel))
                check_large(kernel, cases[c].rows, cases[c].columns);
    }
}

/* A mask without features finds no kernel that needs some; the full one finds the widest. */
static void test_masks(void **state)
{
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        const qp_decode_kernel *plain = qp_decode_kernel_find(format, 0);
        const qp_decode_kernel *best = qp_decode_kernel_find(format, qp_cpu_features());
        assert_true(plain == NULL || plain->cpu == 0);
        assert_true(best == NULL || runs_here(best));
        assert_true(best == NULL || strcmp(best->format, format->name) == 0);
    }
    assert_null(qp_decode_kernel_at(qp_decode_kernel_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_fp8_codes),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
