/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_layouts.c - where words lie: the sizes and byte examples of artifact-container.md section 7,
 * and for every format that rows, views, gathers and pieces agree with the whole.
 */
#include "random_words.h"

/* ---- sizes -------------------------------------------------------------------------------- */

static void check_size(const char *format, uint64_t rows, uint64_t columns, uint64_t expected)
{
    qp_matrix matrix = format_plan_two(format, rows, columns);
    assert_true(matrix.bytes == expected);
}

/* Section 7.7. */
static void test_sizes(void **state)
{
    static const char *const formats[6] = {"q2_g64_fp16", "q4_g64_fp16", "q5_g64_fp16",
                                           "q6_g64_fp16", "q8_g32_fp16", "t2_g128_fp16"};
    static const uint64_t large[6] = {10321920, 19496960, 24084480, 28672000, 38993920, 9748480};
    static const uint64_t tails[6] = {272, 272, 528, 528, 544, 264};
    static const uint64_t ones[6] = {260, 260, 516, 516, 264, 258};
    (void)state;

    for (unsigned f = 0; f < 6; f++) {
        check_size(formats[f], 7168, 5120, large[f]);
        check_size(formats[f], 2, 130, tails[f]);
        check_size(formats[f], 1, 1, ones[f]);
    }
    check_size("nvfp4", 14336, 5120, 41287684);
    assert_int_equal(format_plan("nvfp4", (uint64_t[]){256, 64}, 2, 2).bytes, 9224);
    check_size("fp8_e4m3fn_row_bf16", 14336, 5120, 73428992);
    check_size("fp8_e4m3fn_row_bf16", 3, 5, 262);
    check_size("fp8_e4m3fn_row_fp16", 1000, 160, 162000);
    check_size("gguf_q4_k", 3, 512, 864);
    assert_int_equal(format_plan("bf16", NULL, 0, 1).bytes, 2);
    assert_int_equal(format_plan("fp32", (uint64_t[]){2, 3, 5}, 3, 1).bytes, 120);
}

/* "Check of [2,130] q5" in section 7.7. */
static void test_planes(void **state)
{
    qp_matrix matrix = format_plan_two("q5_g64_fp16", 2, 130);
    (void)state;
    assert_int_equal(matrix.planes[0].offset, 0);
    assert_int_equal(matrix.planes[0].size, 256);
    assert_int_equal(matrix.planes[1].offset, 256);
    assert_int_equal(matrix.planes[1].size, 64);
    assert_int_equal(matrix.planes[2].offset, 512);
    assert_int_equal(matrix.planes[2].size, 16);
    assert_int_equal(matrix.planes[3].size, 0);
    assert_int_equal(matrix.row_step, 1);
    assert_int_equal(matrix.code_row_bytes, 130);
    assert_int_equal(matrix.scale_row_bytes, 6);
    matrix = format_plan("bf16", (uint64_t[]){2, 3, 5}, 3, 1);
    assert_int_equal(matrix.rows, 6);
    assert_int_equal(matrix.columns, 5);
    assert_int_equal(format_plan_two("nvfp4", 128, 64).row_step, 128);
}

static void refuse(const char *format, const char *layout, const uint64_t *shape, uint32_t rank,
                   uint64_t divisors)
{
    qp_matrix matrix = {.bytes = 77};
    qp_error error = {.check = NULL};
    const qp_storage_layout *found = layout == NULL ? NULL : qp_layout_find(layout);
    assert_int_equal(
        qp_matrix_plan(qp_format_find(format), found, shape, rank, divisors, &matrix, &error),
        QP_GEOMETRY_MISMATCH);
    assert_string_equal(error.check, "C-GEOM");
    assert_true(strlen(error.message) > 10);
    assert_int_equal(matrix.bytes, 77); /* unchanged on a refusal */
}

static void test_refusals(void **state)
{
    const uint64_t half = UINT64_C(1) << 63, most = UINT64_MAX;
    uint64_t ones[QP_SHAPE_RANK_MAX + 1];
    (void)state;

    for (unsigned i = 0; i <= QP_SHAPE_RANK_MAX; i++)
        ones[i] = 1;
    assert_int_equal(format_plan("bf16", ones, QP_SHAPE_RANK_MAX, 1).bytes, 2);
    refuse("bf16", NULL, ones, QP_SHAPE_RANK_MAX + 1, 1);
    refuse("no_such_format", NULL, ones, 2, 1);
    refuse("bf16", NULL, (uint64_t[]){2, 0}, 2, 1);
    refuse("bf16", NULL, (uint64_t[]){0, 2}, 2, 1);
    refuse("bf16", NULL, (uint64_t[]){2, 2}, 2, 0);
    refuse("bf16", NULL, (uint64_t[]){2, 2}, 2, 2);
    refuse("bf16", NULL, (uint64_t[]){half}, 1, 1);
    refuse("bf16", NULL, (uint64_t[]){half, 1}, 2, 1);
    refuse("fp32", NULL, (uint64_t[]){half, 2, 1}, 3, 1);
    refuse("q4_g64_fp16", NULL, (uint64_t[]){1, most}, 2, 1);
    refuse("q8_g32_fp16", NULL, (uint64_t[]){1, most - 200}, 2, 1);
    refuse("q8_g32_fp16", NULL, (uint64_t[]){most / 128, 128}, 2, 1);
    refuse("fp8_e4m3fn_row_bf16", NULL, (uint64_t[]){1, most}, 2, 1);
    refuse("fp8_e4m3fn_row_fp16", NULL, (uint64_t[]){1, most}, 2, 1);
    refuse("fp8_e4m3fn_row_fp16", NULL, (uint64_t[]){half, 1}, 2, 1);
    refuse("gguf_q8_0", NULL, (uint64_t[]){2, half}, 2, 1);
    /* fewer than 2^64 bytes, and 2^64 elements */
    refuse("q4_g64_fp16", NULL, (uint64_t[]){half, 2}, 2, 1);
    refuse("t2_g128_fp16", NULL, (uint64_t[]){UINT64_C(1) << 32, UINT64_C(1) << 32}, 2, 1);
    refuse("gguf_iq1_s", NULL, (uint64_t[]){UINT64_C(1) << 32, UINT64_C(1) << 32}, 2, 1);
    refuse("gguf_q8_0", NULL, (uint64_t[]){1, 33}, 2, 1);
    refuse("nvfp4", NULL, (uint64_t[]){128, 96}, 2, 1);
    refuse("nvfp4", NULL, (uint64_t[]){64, 64}, 2, 1);
    refuse("nvfp4", NULL, (uint64_t[]){256, 64}, 2, 0);
    refuse("nvfp4", NULL, (uint64_t[]){256, 64}, 2, 3);
    refuse("nvfp4", NULL, (uint64_t[]){256, 64}, 2, 4); /* 64 rows each */
    refuse("nvfp4", NULL, (uint64_t[]){half, 64}, 2, 1);
    refuse("q4_g64_fp16", NULL, (uint64_t[]){128}, 1, 1);
    refuse("q4_g64_fp16", NULL, (uint64_t[]){2, 2, 128}, 3, 1);
    refuse("q4_g64_fp16", "gguf_blocks_v1", (uint64_t[]){2, 128}, 2, 1);
    refuse("gguf_q4_0", "row_split_k128_v1", (uint64_t[]){2, 128}, 2, 1);
    refuse("fp8_e4m3fn_row_bf16", "row_interleaved_v1", (uint64_t[]){2, 128}, 2, 1);
    refuse("fp8_e4m3fn_row_fp16", "row_scale_v1", (uint64_t[]){2, 128}, 2, 1);
    /* 2^63 rows and columns of 34/32 bytes are still below 2^64 bytes */
    assert_true(format_plan_two("gguf_q8_0", 1, half).bytes == half / 32 * 34);
}

/* ---- bytes -------------------------------------------------------------------------------- */

typedef struct byte_example {
    const char *format;
    uint64_t columns;
    int8_t codes[10];
    const char *base; /* its first bytes; the rest is `fill` */
    size_t base_size;
    uint8_t fill;
    const char *high;
    size_t high_size;
    uint64_t scale_offset;
    uint64_t total;
} byte_example;

/* Section 7.2. */
static const byte_example byte_examples[] = {
    {"q4_g64_fp16", 5, {-8, 7, -1, 0, 3}, "\x78\x0f\x03", 3, 0, "", 0, 256, 260},
    {"q5_g64_fp16",
     10,
     {-16, 15, -1, 0, 3, -2, 8, -9, 1, -1},
     "\xf0\x0f\xe3\x78\xf1",
     5,
     0,
     "\xa5\x02",
     2,
     512,
     516},
    {"q6_g64_fp16", 6, {-32, 31, -1, 0, 17, -17}, "\xf0\x0f\xf1", 3, 0, "\x36\x09", 2, 512, 516},
    {"q8_g32_fp16", 4, {-127, 127, -1, 0}, "\x81\x7f\xff\x00", 4, 0, "", 0, 256, 264},
    {"t2_g128_fp16", 5, {-1, 1, 0, -1, 1}, "\xc7\x01", 2, 0, "", 0, 256, 258},
    {"q2_g64_fp16", 5, {-1, 2, 0, 1, -1}, "\x9c\x54\x55\x55", 4, 0x55, "", 0, 256, 260},
};

static void check_example(const byte_example *example)
{
    qp_matrix matrix = format_plan_two(example->format, 1, example->columns);
    qp_word_planes words = format_words(&matrix, 1);
    for (uint64_t k = 0; k < example->columns; k++)
        words.codes[k] = (uint8_t)example->codes[k];
    put_u16(words.scales, 0x3C00);
    uint8_t *bytes = format_pack(&matrix, &words), *expected = format_bytes(example->total);

    memset(expected, example->fill, (size_t)matrix.planes[0].size);
    memcpy(expected, example->base, example->base_size);
    memcpy(expected + 256, example->high, example->high_size);
    put_u16(expected + example->scale_offset, 0x3C00);
    assert_int_equal(matrix.bytes, example->total);
    assert_memory_equal(bytes, expected, example->total);
    free(bytes);
    free(expected);
    format_words_free(&words);
}

static void test_byte_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(byte_examples); i++)
        check_example(&byte_examples[i]);
}

/* Section 7.3: where the scale of row n and group g lies. */
static void test_swizzle(void **state)
{
    static const struct {
        uint64_t n, g, offset;
    } examples[] = {{0, 0, 0},        {1, 0, 16},   {32, 0, 4},
                    {0, 1, 1},        {0, 4, 512},  {128, 0, 3 * 512},
                    {127, 3, 511},    {31, 0, 496}, {255, 11, 3 * 512 + 2 * 512 + 511},
                    {33, 5, 512 + 21}};
    qp_matrix matrix = format_plan_two("nvfp4", 256, 192);
    qp_word_planes words = format_words(&matrix, 256);
    (void)state;

    for (size_t i = 0; i < TEST_COUNT(examples); i++) {
        uint8_t *word = words.scales + examples[i].n * 12 + examples[i].g;
        *word = 0x38;
        uint8_t *bytes = format_pack(&matrix, &words);
        for (uint64_t b = 0; b < matrix.planes[2].size; b++)
            assert_int_equal(bytes[matrix.planes[2].offset + b],
                             b == examples[i].offset ? 0x38 : 0);
        free(bytes);
        *word = 0;
    }
    format_words_free(&words);
}

/* Low nibble first, then scales at 4096 and the divisor behind them. */
static void test_nvfp4_bytes(void **state)
{
    qp_matrix matrix = format_plan_two("nvfp4", 128, 64);
    qp_word_planes words = format_words(&matrix, 128);
    (void)state;
    words.codes[0] = 0x21; /* column 0: 1, column 1: 2 */
    put_u32(words.divisors, 0x40000000);
    uint8_t *bytes = format_pack(&matrix, &words);
    assert_int_equal(bytes[0], 0x21);
    assert_int_equal(matrix.planes[2].offset, 4096);
    assert_int_equal(matrix.planes[3].offset, 4096 + 512);
    assert_int_equal(bytes[4096 + 512 + 3], 0x40);
    free(bytes);
    format_words_free(&words);
}

/* ---- any format, any shape ---------------------------------------------------------------- */

/* Shapes around every edge: tails, whole groups, one row, pieces of more than 512 columns. */
static const uint64_t grouped_columns[] = {1,   5,   31,  32,  33,  63,  64,  65,   127, 128,
                                           129, 191, 200, 256, 512, 513, 640, 1000, 1025};

typedef void matrix_check(const qp_matrix *matrix, uint64_t *seed);

/* Calls `check` for matrices of every format. */
static void for_all(matrix_check *check)
{
    uint64_t seed = 71;
    for (size_t f = 0; f < qp_format_count(); f++) {
        const qp_format *format = qp_format_at(f);
        uint64_t unit = format->family == QP_FAMILY_GGUF    ? format->group
                        : format->family == QP_FAMILY_NVFP4 ? 64
                                                            : 0;
        for (size_t c = 0; c < TEST_COUNT(grouped_columns); c++) {
            uint64_t columns = unit == 0 ? grouped_columns[c] : unit * (c + 1);
            uint64_t rows =
                unit == 64 && format->family == QP_FAMILY_NVFP4 ? 128 * (1 + c % 3) : 1 + c % 7;
            uint64_t divisors = format->family == QP_FAMILY_NVFP4 ? rows / 128 : 1;
            qp_matrix matrix = format_plan(format->name, (uint64_t[]){rows, columns}, 2, divisors);
            check(&matrix, &seed);
            if (format->family == QP_FAMILY_NVFP4 && c == 8)
                break;
        }
    }
}

static void assert_same_words(const qp_matrix *matrix, const qp_word_planes *a,
                              const qp_word_planes *b, uint64_t count)
{
    assert_memory_equal(a->codes, b->codes, count * matrix->code_row_bytes);
    if (matrix->scale_row_bytes != 0)
        assert_memory_equal(a->scales, b->scales, count * matrix->scale_row_bytes);
    if (matrix->planes[3].size != 0)
        assert_memory_equal(a->divisors, b->divisors, 4 * matrix->divisors);
}

static void check_round_trip(const qp_matrix *matrix, uint64_t *seed)
{
    qp_word_planes words = format_words(matrix, matrix->rows);
    qp_word_planes again = format_words(matrix, matrix->rows);
    uint64_t count = matrix->rows * matrix->columns;
    float *decoded = format_values(count), *direct = format_values(count);
    random_words(matrix, &words, seed);
    uint8_t *bytes = format_pack(matrix, &words);
    qp_rows rows = qp_rows_in(matrix, bytes, 0, matrix->rows);

    qp_rows_unpack(matrix, &rows, &again);
    assert_same_words(matrix, &words, &again, matrix->rows);
    assert_int_equal(qp_words_check(matrix, 0, matrix->rows, &words, NULL), QP_OK);
    assert_int_equal(qp_rows_check_padding(matrix, &rows, NULL), QP_OK);
    qp_words_decode(matrix, 0, matrix->rows, &words, decoded);
    qp_rows_decode_ref(matrix, &rows, direct);
    assert_true(format_same_bits(decoded, direct, count));
    qp_rows_decode(matrix, &rows, 0, direct);
    assert_true(format_same_bits(decoded, direct, count));
    qp_rows_decode(matrix, &rows, qp_cpu_features(), direct);
    assert_true(format_same_bits(decoded, direct, count));
    free(bytes);
    free(decoded);
    free(direct);
    format_words_free(&words);
    format_words_free(&again);
}

static void test_round_trips(void **state)
{
    (void)state;
    for_all(check_round_trip);
}

/* The rows [first, first + count) of stored bytes, copied span by span as a reader does. */
static qp_rows copied_rows(const qp_matrix *matrix, const uint8_t *bytes, uint64_t first,
                           uint64_t count, uint8_t *copies[QP_PLANES])
{
    qp_rows rows = {first, count, {NULL}};
    qp_span spans[QP_PLANES];
    qp_matrix_spans(matrix, first, count, spans);
    for (unsigned p = 0; p < QP_PLANES; p++) {
        assert_true(spans[p].offset + spans[p].size <= matrix->bytes);
        copies[p] = format_bytes(spans[p].size);
        memcpy(copies[p], bytes + spans[p].offset, (size_t)spans[p].size);
        rows.planes[p] = copies[p];
    }
    return rows;
}

static void check_view(const qp_matrix *matrix, const uint8_t *bytes, const float *whole,
                       uint64_t first, uint64_t count)
{
    uint8_t *copies[QP_PLANES];
    qp_rows rows = copied_rows(matrix, bytes, first, count, copies);
    qp_word_planes words = format_words(matrix, count);
    float *values = format_values(count * matrix->columns);
    const float *expected = whole + first * matrix->columns;

    qp_rows_decode_ref(matrix, &rows, values);
    assert_true(format_same_bits(values, expected, count * matrix->columns));
    qp_rows_decode(matrix, &rows, qp_cpu_features(), values);
    assert_true(format_same_bits(values, expected, count * matrix->columns));
    memset(values, 0xAA, (size_t)(count * matrix->columns) * sizeof *values);
    qp_rows_unpack(matrix, &rows, &words);
    assert_int_equal(qp_words_check(matrix, first, count, &words, NULL), QP_OK);
    qp_words_decode(matrix, first, count, &words, values);
    assert_true(format_same_bits(values, expected, count * matrix->columns));
    for (unsigned p = 0; p < QP_PLANES; p++)
        free(copies[p]);
    free(values);
    format_words_free(&words);
}

static void check_views(const qp_matrix *matrix, uint64_t *seed)
{
    qp_word_planes words = format_words(matrix, matrix->rows);
    float *whole = format_values(matrix->rows * matrix->columns);
    random_words(matrix, &words, seed);
    uint8_t *bytes = format_pack(matrix, &words);
    qp_rows rows = qp_rows_in(matrix, bytes, 0, matrix->rows);

    qp_rows_decode(matrix, &rows, 0, whole);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t first = test_below(seed, (uint32_t)matrix->rows);
        uint64_t count = 1 + test_below(seed, (uint32_t)(matrix->rows - first));
        check_view(matrix, bytes, whole, first, count);
    }
    free(bytes);
    free(whole);
    format_words_free(&words);
}

static void test_row_views(void **state)
{
    (void)state;
    for_all(check_views);
}

/* Any chunks, at multiples of row_step, pack to the bytes of the whole. */
static void check_chunks(const qp_matrix *matrix, uint64_t *seed)
{
    qp_word_planes words = format_words(matrix, matrix->rows);
    random_words(matrix, &words, seed);
    uint8_t *whole = format_pack(matrix, &words), *bytes = format_bytes(matrix->bytes);

    for (uint64_t first = 0, count; first < matrix->rows; first += count) {
        qp_span spans[QP_PLANES];
        uint8_t *planes[QP_PLANES];
        uint64_t steps = (matrix->rows - first) / matrix->row_step;
        count = matrix->row_step * (1 + test_below(seed, (uint32_t)steps));
        qp_word_planes chunk = {words.codes + first * matrix->code_row_bytes,
                                words.scales + first * matrix->scale_row_bytes, words.divisors};
        qp_matrix_spans(matrix, first, count, spans);
        for (unsigned p = 0; p < QP_PLANES; p++)
            planes[p] = bytes + spans[p].offset;
        qp_rows_pack(matrix, first, count, &chunk, planes);
    }
    assert_memory_equal(bytes, whole, matrix->bytes);
    free(bytes);
    free(whole);
    format_words_free(&words);
}

static void test_chunks(void **state)
{
    (void)state;
    for_all(check_chunks);
}

/* Section 7.2: gathering rows plane by plane gives the encoding of the matrix of those rows. */
static void check_gather(const qp_matrix *matrix, uint64_t *seed)
{
    enum { PICKED = 5 };
    if (matrix->row_step != 1)
        return;
    qp_matrix gathered = format_plan_two(matrix->format->name, PICKED, matrix->columns);
    qp_word_planes words = format_words(matrix, matrix->rows);
    qp_word_planes picked = format_words(&gathered, PICKED);
    random_words(matrix, &words, seed);
    uint8_t *bytes = format_pack(matrix, &words), *joined = format_bytes(gathered.bytes);

    for (uint64_t i = 0; i < PICKED; i++) {
        uint64_t row = test_below(seed, (uint32_t)matrix->rows);
        qp_span from[QP_PLANES], to[QP_PLANES];
        qp_matrix_spans(matrix, row, 1, from);
        qp_matrix_spans(&gathered, i, 1, to);
        for (unsigned p = 0; p < QP_PLANES; p++)
            memcpy(joined + to[p].offset, bytes + from[p].offset, (size_t)from[p].size);
        memcpy(picked.codes + i * matrix->code_row_bytes,
               words.codes + row * matrix->code_row_bytes, (size_t)matrix->code_row_bytes);
        memcpy(picked.scales + i * matrix->scale_row_bytes,
               words.scales + row * matrix->scale_row_bytes, (size_t)matrix->scale_row_bytes);
    }
    uint8_t *expected = format_pack(&gathered, &picked);
    assert_memory_equal(joined, expected, gathered.bytes);
    free(bytes);
    free(joined);
    free(expected);
    format_words_free(&words);
    format_words_free(&picked);
}

static void test_gathers(void **state)
{
    (void)state;
    for_all(check_gather);
}

/* ---- padding ------------------------------------------------------------------------------ */

/* Each bit of padding, turned over, is found; each bit of a word is not padding. */
static void check_padding_bits(const char *format, uint64_t columns)
{
    qp_matrix matrix = format_plan_two(format, 2, columns);
    qp_word_planes words = format_words(&matrix, 2), again = format_words(&matrix, 2);
    uint64_t seed = columns;
    random_words(&matrix, &words, &seed);
    uint8_t *bytes = format_pack(&matrix, &words);
    qp_rows rows = qp_rows_in(&matrix, bytes, 0, 2);

    for (unsigned p = 0; p < 3; p++) {
        for (uint64_t bit = 0; bit < 8 * matrix.planes[p].size; bit++) {
            uint8_t *byte = bytes + matrix.planes[p].offset + bit / 8;
            qp_error error = {.check = NULL};
            *byte = (uint8_t)(*byte ^ 1u << bit % 8);
            qp_status status = qp_rows_check_padding(&matrix, &rows, &error);
            qp_rows_unpack(&matrix, &rows, &again);
            bool changes_words =
                memcmp(words.codes, again.codes, (size_t)(2 * matrix.code_row_bytes)) != 0 ||
                memcmp(words.scales, again.scales, (size_t)(2 * matrix.scale_row_bytes)) != 0;
            assert_int_equal(status, changes_words ? QP_OK : QP_MALFORMED);
            if (status != QP_OK) {
                assert_string_equal(error.check, "padding_invalid");
                assert_int_equal(error.row, bit / 8 / (matrix.planes[p].size / 2));
                assert_true((uint64_t)error.column >= columns);
            }
            *byte = (uint8_t)(*byte ^ 1u << bit % 8);
        }
    }
    free(bytes);
    format_words_free(&words);
    format_words_free(&again);
}

static void test_padding(void **state)
{
    static const uint64_t columns[] = {1, 65, 128, 130, 255};
    (void)state;
    for (size_t f = 0; f < qp_format_count(); f++)
        if (qp_format_at(f)->family == QP_FAMILY_GROUPED)
            for (size_t c = 0; c < TEST_COUNT(columns); c++)
                check_padding_bits(qp_format_at(f)->name, columns[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_planes),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_byte_examples),
        cmocka_unit_test(test_swizzle),     cmocka_unit_test(test_nvfp4_bytes),
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_row_views),
        cmocka_unit_test(test_chunks),      cmocka_unit_test(test_gathers),
        cmocka_unit_test(test_padding),

    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
