/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rows.c - rows of tensors: the same words and values whether a tensor lies in one file or is
 * cut anywhere, for every format; element types, and what is refused.
 */
#include "support/weight_files.h"

#include "../failing_allocator.h"
#include "artifact/artifact.h"

/* ---- one tensor in many pieces -------------------------------------------------------------- */

/* The artifact `whole` of one file, its payload in files of `piece` bytes that are in memory:
 * continuations as a program that has opened them sees them. */
static void cut(qp_artifact *whole, uint64_t piece)
{
    const qp_artifact_file first = whole->files[0];
    uint64_t done = piece < first.size ? piece : first.size;

    whole->files[0].size = done;
    while (done < first.size) {
        uint64_t size = first.size - done < piece ? first.size - done : piece;
        qp_artifact_file *next = qp_artifact_add_file(whole);
        assert_non_null(next);
        /* each in a block of its own, so that nothing reads on from one into the next */
        uint8_t *bytes = malloc((size_t)size);
        memcpy(bytes, first.file.bytes + first.at + done, (size_t)size);
        *next = (qp_artifact_file){.name = "part",
                                   .file = {.bytes = bytes, .size = (size_t)size},
                                   .borrowed = true,
                                   .start = done,
                                   .size = size};
        done += size;
    }
}

static void close_pieces(qp_artifact *artifact)
{
    for (size_t i = 1; i < artifact->n_files; i++)
        free((void *)(uintptr_t)artifact->files[i].file.bytes);
    qp_artifact_close(artifact);
}

/* Room for all words and values of a tensor. */
typedef struct reading {
    uint8_t *codes, *scales, divisors[64];
    float *values;
    size_t code_bytes, scale_bytes, count;
} reading;

static reading reading_make(const qp_matrix *matrix)
{
    reading made = {.code_bytes = (size_t)(matrix->rows * matrix->code_row_bytes),
                    .scale_bytes = (size_t)(matrix->rows * matrix->scale_row_bytes),
                    .count = (size_t)(matrix->rows * matrix->columns)};
    made.codes = calloc(made.code_bytes + 1, 1);
    made.scales = calloc(made.scale_bytes + 1, 1);
    made.values = calloc(made.count + 1, sizeof *made.values);
    return made;
}

static void reading_free(reading *made)
{
    free(made->codes);
    free(made->scales);
    free(made->values);
}

/* Reads a tensor in steps of `step` rows. */
static void read_in_steps(qp_artifact *artifact, const qp_artifact_tensor *tensor, uint64_t step,
                          reading *into)
{
    qp_row_reader *reader;
    assert_int_equal(qp_row_reader_open(artifact, tensor, &reader, NULL), QP_OK);
    const qp_matrix *matrix = qp_row_reader_matrix(reader);
    for (uint64_t row = 0; row < matrix->rows; row += step) {
        uint64_t count = matrix->rows - row < step ? matrix->rows - row : step;
        const qp_word_planes words = {into->codes + row * matrix->code_row_bytes,
                                      into->scales + row * matrix->scale_row_bytes, into->divisors};
        assert_int_equal(qp_row_reader_words(reader, row, count, &words, NULL), QP_OK);
        assert_int_equal(
            qp_row_reader_values(reader, row, count, 0, into->values + row * matrix->columns, NULL),
            QP_OK);
    }
    qp_row_reader_close(reader);
}

static void assert_same(const reading *a, const reading *b)
{
    assert_memory_equal(a->codes, b->codes, a->code_bytes);
    assert_memory_equal(a->scales, b->scales, a->scale_bytes);
    assert_memory_equal(a->divisors, b->divisors, sizeof a->divisors);
    assert_memory_equal(a->values, b->values, a->count * sizeof *a->values);
}

static void test_pieces_of_every_size(void **state)
{
    static const uint64_t pieces[] = {1, 2, 3, 7, 64, 129, 1000, 4096};
    qp_file file = fixture_open("ninfer", "a-single.ninfer");
    qp_artifact *whole = open_bytes("a.ninfer", file.bytes, file.size);
    size_t count;
    (void)state;

    const qp_artifact_tensor *tensors = qp_artifact_tensors(whole, &count);
    for (size_t p = 0; p < TEST_COUNT(pieces); p++) {
        qp_artifact *parts = open_bytes("a.ninfer", file.bytes, file.size);
        cut(parts, pieces[p]);
        for (size_t i = 0; i < count; i++) {
            qp_matrix matrix;
            assert_int_equal(qp_artifact_matrix(whole, &tensors[i], &matrix, NULL), QP_OK);
            reading expected = reading_make(&matrix), found = reading_make(&matrix);
            read_in_steps(whole, &tensors[i], matrix.rows, &expected);
            for (uint64_t step = 1; step <= 3; step++) {
                read_in_steps(parts, &tensors[i], step == 3 ? matrix.rows : step, &found);
                assert_same(&expected, &found);
            }
            reading_free(&expected);
            reading_free(&found);
        }
        close_pieces(parts);
    }
    qp_artifact_close(whole);
    qp_file_close(&file);
}

/* The reader's words and values are the registry's own of the whole tensor. */
static void test_equals_the_registry(void **state)
{
    qp_artifact *artifact;
    size_t count;
    (void)state;
    assert_int_equal(
        qp_artifact_open(QP_TEST_DATA "/ninfer/a-single.ninfer", NULL, &artifact, NULL), QP_OK);
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *bytes;
        qp_matrix matrix;
        assert_int_equal(qp_artifact_matrix(artifact, &tensors[i], &matrix, NULL), QP_OK);
        assert_int_equal(qp_artifact_view(artifact, &tensors[i], 0, tensors[i].bytes, &bytes, NULL),
                         QP_OK);
        reading expected = reading_make(&matrix), found = reading_make(&matrix);
        const qp_word_planes words = {expected.codes, expected.scales, expected.divisors};
        qp_rows rows = qp_rows_in(&matrix, bytes, 0, matrix.rows);
        qp_rows_unpack(&matrix, &rows, &words);
        qp_words_decode(&matrix, 0, matrix.rows, &words, expected.values);
        const qp_word_planes again = {found.codes, found.scales, found.divisors};
        assert_int_equal(qp_artifact_words(artifact, &tensors[i], 0, matrix.rows, &again, NULL),
                         QP_OK);
        assert_int_equal(qp_artifact_decode(artifact, &tensors[i], 0, matrix.rows,
                                            qp_cpu_features(), found.values, NULL),
                         QP_OK);
        assert_same(&expected, &found);
        reading_free(&expected);
        reading_free(&found);
    }
    qp_artifact_close(artifact);
}

/* ---- the scratch ---------------------------------------------------------------------------- */

/* 4 MiB of bf16 in files of 3 MiB: the rows are read through a scratch of 1 MiB at most. */
static void test_scratch_is_bounded(void **state)
{
    enum { ROWS = 2048, COLUMNS = 1024 };
    static const char json[] =
        "{\"components\":{\"text\":{\"config\":{}}},\"objects\":[{\"id\":\"t\",\"kind\":\"tensor\","
        "\"shape\":[2048,1024],\"format\":\"bf16\",\"layout\":\"contiguous_le_v1\",\"offset\":0,"
        "\"bytes\":4194304}],\"bindings\":{},\"uses\":[],"
        "\"files\":[{\"path\":null,\"payload_bytes\":4194304}]}";
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_artifact *artifact;
    qp_buffer file;
    size_t count;
    (void)state;

    build_ninfer(&file, json, strlen(json), ROWS * COLUMNS * 2);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        file.bytes[4096 + 2 * i + 1] = (uint8_t)(i % 100);
    assert_int_equal(
        qp_artifact_open_bytes("m", file.bytes, file.size, &allocator, &artifact, NULL), QP_OK);
    cut(artifact, 3 << 20);
    size_t before = memory.bytes;
    memory.high_water = before;
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    assert_int_equal(qp_artifact_decode(artifact, qp_artifact_tensors(artifact, &count), 0, ROWS, 0,
                                        values, NULL),
                     QP_OK);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        assert_int_equal(word, (uint32_t)(i % 100) << 24);
    }
    assert_true(memory.high_water - before <= (1 << 20) + 4096);
    free(values);
    close_pieces(artifact);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
    qp_buffer_free(&file);
}

static void test_every_allocation_fails_once(void **state)
{
    qp_file file = fixture_open("ninfer", "a-single.ninfer");
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(0);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        float values[5 * 77];
        assert_int_equal(
            qp_artifact_open_bytes("m", file.bytes, file.size, &allocator, &artifact, NULL), QP_OK);
        cut(artifact, 100);
        memory.requests = 0;
        memory.fail_at = k;
        qp_status status = qp_artifact_decode(
            artifact, qp_artifact_find(artifact, "w/fp8bf16-rand"), 0, 5, 0, values, NULL);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        close_pieces(artifact);
        assert_int_equal(memory.blocks, 0);
        if (!memory.has_failed)
            break;
    }
    qp_file_close(&file);
}

/* ---- element types -------------------------------------------------------------------------- */

#define HEADER(dtype, shape, bytes)                                                                \
    "{\"t\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[0," bytes "]}}"

/* A safetensors file of one tensor, with those bytes. */
static qp_artifact *open_elements(qp_buffer *file, const char *header, const uint8_t *bytes,
                                  size_t size)
{
    build_safetensors(file, header, size);
    memcpy(file->bytes + file->size - size, bytes, size);
    return open_bytes("m", file->bytes, file->size);
}

static void test_halves(void **state)
{
    /* 1, -2, the smallest subnormal, 65504, infinity, -0 */
    static const uint8_t bytes[] = {0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b, 0, 0x7c, 0, 0x80};
    static const uint32_t expected[] = {0x3f800000, 0xc0000000, 0x33800000,
                                        0x477fe000, 0x7f800000, 0x80000000};
    qp_buffer file;
    qp_artifact *artifact = open_elements(&file, HEADER("F16", "[2,1,3]", "12"), bytes, 12);
    const qp_artifact_tensor *t = qp_artifact_find(artifact, "t");
    qp_row_reader *reader;
    const uint8_t *elements;
    float values[6];
    (void)state;

    assert_int_equal(qp_row_reader_open(artifact, t, &reader, NULL), QP_OK);
    const qp_matrix *matrix = qp_row_reader_matrix(reader);
    assert_null(matrix->format);
    assert_int_equal(matrix->rows, 2);
    assert_int_equal(matrix->columns, 3);
    assert_int_equal(matrix->code_row_bytes, 6);
    assert_int_equal(qp_row_reader_values(reader, 0, 2, 0, values, NULL), QP_OK);
    assert_memory_equal(values, expected, sizeof values);
    assert_int_equal(qp_row_reader_elements(reader, 1, 1, &elements, NULL), QP_OK);
    assert_memory_equal(elements, bytes + 6, 6);
    uint8_t copy[6];
    const qp_word_planes words = {copy, NULL, NULL};
    assert_int_equal(qp_row_reader_words(reader, 1, 1, &words, NULL), QP_OK);
    assert_memory_equal(copy, bytes + 6, 6);
    qp_row_reader_close(reader);
    qp_matrix planned;
    assert_int_equal(qp_artifact_matrix(artifact, t, &planned, NULL), QP_INVALID_ARGUMENT);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* A binary64 above the largest binary32 is refused with its row and column. */
static void test_overflow_has_a_place(void **state)
{
    uint8_t bytes[6 * 8] = {0};
    qp_buffer file;
    qp_error error;
    float values[6];
    (void)state;

    bytes[5 * 8 + 7] = 0x7f; /* 2^1008, element 5 of [3,2] */
    qp_artifact *artifact = open_elements(&file, HEADER("F64", "[3,2]", "48"), bytes, sizeof bytes);
    const qp_artifact_tensor *t = qp_artifact_find(artifact, "t");
    assert_int_equal(qp_artifact_decode(artifact, t, 0, 2, 0, values, NULL), QP_OK);
    assert_int_equal(qp_artifact_decode(artifact, t, 1, 2, 0, values, &error), QP_FIELD_RANGE);
    assert_string_equal(error.check, "source_not_finite");
    assert_int_equal(error.row, 2);
    assert_int_equal(error.column, 1);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* A scalar, an empty tensor of a format, and types that have no values. */
static void test_small_ones(void **state)
{
    static const uint8_t bytes[8] = {0, 0, 0x80, 0x3f};
    qp_buffer file;
    float value = 0;
    (void)state;

    qp_artifact *artifact = open_elements(&file, HEADER("F32", "[]", "4"), bytes, 4);
    const qp_artifact_tensor *t = qp_artifact_find(artifact, "t");
    assert_int_equal(qp_artifact_decode(artifact, t, 0, 1, 0, &value, NULL), QP_OK);
    assert_true(value == 1.0f);
    assert_int_equal(qp_artifact_decode(artifact, t, 0, 2, 0, &value, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_artifact_decode(artifact, t, 2, 0, 0, &value, NULL), QP_INVALID_ARGUMENT);
    assert_int_equal(qp_artifact_decode(artifact, t, 1, 0, 0, &value, NULL), QP_OK);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);

    artifact = open_elements(&file, HEADER("F32", "[3,0]", "0"), bytes, 0);
    t = qp_artifact_find(artifact, "t");
    assert_int_equal(qp_artifact_decode(artifact, t, 0, 3, 0, &value, NULL), QP_OK);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);

    artifact = open_elements(&file, HEADER("F4", "[16]", "8"), bytes, 8);
    t = qp_artifact_find(artifact, "t");
    assert_int_equal(qp_artifact_decode(artifact, t, 0, 1, 0, &value, NULL), QP_INVALID_ARGUMENT);
    qp_artifact_close(artifact);
    qp_buffer_free(&file);
}

/* ---- GGUF ----------------------------------------------------------------------------------- */

/* A tensor of blocks of rank 3 is a matrix of all its rows. */
static void test_experts(void **state)
{
    qp_file file = fixture_open("ggml", "a-full.gguf");
    qp_artifact *artifact = open_bytes("m", file.bytes, file.size);
    const qp_artifact_tensor *experts = qp_artifact_find(artifact, "experts.weight");
    qp_row_reader *reader;
    const uint8_t *blocks, *view;
    float all[6 * 32], row[32];
    (void)state;

    assert_int_equal(experts->rank, 3);
    assert_int_equal(qp_row_reader_open(artifact, experts, &reader, NULL), QP_OK);
    assert_int_equal(qp_row_reader_matrix(reader)->rows, 6);
    assert_int_equal(qp_row_reader_matrix(reader)->rank, 2);
    assert_int_equal(qp_row_reader_values(reader, 0, 6, 0, all, NULL), QP_OK);
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(qp_row_reader_values(reader, i, 1, qp_cpu_features(), row, NULL), QP_OK);
        assert_memory_equal(row, all + i * 32, sizeof row);
    }
    assert_int_equal(qp_row_reader_elements(reader, 2, 2, &blocks, NULL), QP_OK);
    assert_int_equal(qp_artifact_view(artifact, experts, 36, 36, &view, NULL), QP_OK);
    assert_ptr_equal(blocks, view); /* in place */
    qp_row_reader_close(reader);
    qp_artifact_close(artifact);
    qp_file_close(&file);
}

/* Types 142 and 143 give their blocks, and no values; a type that ggml knows gives nothing. */
static void test_ternary_blocks(void **state)
{
    (void)state;
    for (uint32_t type = 141; type <= 143; type++) {
        qp_buffer file;
        qp_row_reader *reader;
        const uint8_t *blocks;
        float values[256];
        uint64_t bytes = type == 142 ? 34 : 28;
        qp_buffer_init(&file, NULL);
        qp_buffer_append(&file, "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
        qp_buffer_append(&file, "\1\0\0\0\0\0\0\0t\2\0\0\0\200\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 29);
        qp_buffer_le(&file, type == 141 ? 3 : type, 4); /* 3: Q4_1 */
        qp_buffer_le(&file, 0, 8);
        for (unsigned i = 0; i < 256; i++)
            qp_buffer_le(&file, i, 1);
        qp_artifact *artifact = open_bytes("m", file.bytes, file.size);
        const qp_artifact_tensor *t = qp_artifact_find(artifact, "t");
        qp_status status = qp_row_reader_open(artifact, t, &reader, NULL);
        assert_int_equal(status, type == 141 ? QP_MODEL_MISMATCH : QP_OK);
        if (status == QP_OK) {
            assert_int_equal(qp_row_reader_matrix(reader)->code_row_bytes, bytes);
            assert_int_equal(qp_row_reader_elements(reader, 1, 1, &blocks, NULL), QP_OK);
            assert_int_equal(blocks[1] - blocks[0], 1);
            assert_ptr_equal(blocks, file.bytes + t->offset + bytes);
            assert_int_equal(qp_row_reader_values(reader, 0, 2, 0, values, NULL),
                             QP_INVALID_ARGUMENT);
        }
        qp_row_reader_close(reader);
        qp_artifact_close(artifact);
        qp_buffer_free(&file);
    }
}

/* Formats of several planes have no rows of elements. */
static void test_elements_of_planes(void **state)
{
    qp_artifact *artifact;
    qp_row_reader *reader;
    const uint8_t *bytes;
    (void)state;
    assert_int_equal(
        qp_artifact_open(QP_TEST_DATA "/ninfer/a-single.ninfer", NULL, &artifact, NULL), QP_OK);
    assert_int_equal(
        qp_row_reader_open(artifact, qp_artifact_find(artifact, "w/nvfp4-stack"), &reader, NULL),
        QP_OK);
    assert_int_equal(qp_row_reader_elements(reader, 0, 1, &bytes, NULL), QP_INVALID_ARGUMENT);
    assert_null(bytes);
    qp_row_reader_close(reader);
    qp_artifact_close(artifact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_every_size),
        cmocka_unit_test(test_equals_the_registry),
        cmocka_unit_test(test_scratch_is_bounded),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_overflow_has_a_place),
        cmocka_unit_test(test_small_ones),
        cmocka_unit_test(test_experts),
        cmocka_unit_test(test_ternary_blocks),
        cmocka_unit_test(test_elements_of_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
