/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_verify.c - every rule over a whole file: what is in order passes, and every kind of fault is
 * found at its tensor, row and column.
 */
#include "quipu/convert.h"

#include "../failing_allocator.h"
#include "support/convert_files.h"

#include "artifact/artifact.h"

/* ---- files in order -------------------------------------------------------------------------- */

static void test_fixtures_pass(void **state)
{
    (void)state;
    static const char *const files[] = {
        "/ninfer/a-single.ninfer",
        "/ninfer/a-sharded.ninfer",
        "/ninfer/a-tiny-base.ninfer",
        "/ggml/a-small.gguf",
        "/ggml/a-full.gguf",
        "/ggml/a-version2.gguf",
        "/ggml/a-imatrix.gguf",
        "/ggml/a-good.safetensors",
        "/weights/all-types.gguf",
        "/weights/stories260k-q4_0.gguf",
        "/weights/stories260k-bf16.safetensors",
    };
    for (size_t i = 0; i < TEST_COUNT(files); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", QP_TEST_DATA, files[i]);
        assert_verifies(path);
    }
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* A copy of a file of the folder with some bytes of a tensor changed. */
static void patch_file(const char *from, const char *to, uint64_t at, const void *bytes,
                       size_t size)
{
    qp_file file = whole_file(in_folder(from));
    uint8_t *copy = malloc(file.size);
    assert_true(at + size <= file.size);
    memcpy(copy, file.bytes, file.size);
    memcpy(copy + at, bytes, size);
    write_file(in_folder(to), copy, file.size);
    free(copy);
    qp_file_close(&file);
}

/* Where the first byte of a tensor lies in its one file, and its geometry. */
static uint64_t place_of(const char *path, const char *name, qp_matrix *matrix)
{
    qp_artifact *artifact = opened(in_folder(path));
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, name);
    assert_non_null(tensor);
    uint64_t at = tensor->offset;
    if (strstr(path, ".ninfer") != NULL)
        at += artifact->files[0].at;
    if (matrix != NULL)
        assert_int_equal(qp_artifact_matrix(artifact, tensor, matrix, NULL), QP_OK);
    qp_artifact_close(artifact);
    return at;
}

typedef struct fault {
    const char *check;
    int64_t row, column;
} fault;

static void assert_fault(const char *path, const char *name, fault expected)
{
    for (uint32_t threads = 1; threads <= 3; threads++) {
        qp_error error = {.status = QP_OK};
        qp_artifact *artifact = opened(in_folder(path));
        qp_status status = qp_artifact_verify(artifact, threads, &error);
        qp_artifact_close(artifact);
        if (status == QP_OK || error.check == NULL || strcmp(error.check, expected.check) != 0)
            print_message("%s: %s\n", expected.check, error.message);
        assert_int_not_equal(status, QP_OK);
        assert_non_null(error.check);
        assert_string_equal(error.check, expected.check);
        if (name != NULL)
            assert_non_null(strstr(error.message, name));
        assert_int_equal(error.row, expected.row);
        assert_int_equal(error.column, expected.column);
    }
}

static void write_source(const char *path, size_t rows, size_t columns)
{
    char shape[64];
    tensor_file file;
    snprintf(shape, sizeof shape, "[%zu,%zu]", rows, columns);
    tensor_file_init(&file);
    tensor_file_random(&file, "first", "F32", "[3,64]", 192, 1);
    tensor_file_random(&file, "w", "F32", shape, rows * columns, 2);
    tensor_file_random(&file, "last", "F32", "[1]", 1, 3);
    tensor_file_write(&file, NULL, path);
}

/* The faults of each format at one row: the byte within a plane that breaks a rule. */
static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        size_t rows, columns, plane;
        uint64_t within; /* from the plane's row 2 on */
        uint8_t value;
        fault fault;
    } cases[] = {
        {"q4_g64_fp16", 5, 100, 2, 2 * 2 + 1, 0x7C, {"scale_invalid", 2, 0}},
        {"q4_g64_fp16", 5, 100, 2, 2 * 2 + 3, 0x7C, {"scale_invalid", 2, 64}},
        {"q8_g32_fp16", 5, 64, 0, 33, 0x80, {"code_invalid", 2, 33}},
        {"t2_g128_fp16", 5, 64, 0, 3, 0x02, {"code_invalid", 2, 12}},
        {"fp8_e4m3fn_row_bf16", 5, 64, 0, 7, 0x7F, {"code_invalid", 2, 7}},
        {"fp8_e4m3fn_row_bf16", 5, 64, 2, 1, 0xBF, {"scale_invalid", 2, -1}},
        {"fp8_e4m3fn_row_fp16", 5, 64, 0, 9, 0xFF, {"code_invalid", 2, 9}},
        {"gguf_q8_0", 5, 64, 0, 34 + 1, 0x7C, {"scale_invalid", 2, 32}},
    };
    folder_make("test_verify_words");
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        char preset[64];
        qp_matrix matrix;
        qp_span spans[QP_PLANES];
        snprintf(preset, sizeof preset, "w=%s", cases[i].format);
        write_source(in_folder("s.safetensors"), cases[i].rows, cases[i].columns);
        convert(in_folder("s.safetensors"), in_folder("a.ninfer"), preset);
        uint64_t at = place_of("a.ninfer", "weight/000001", &matrix);
        qp_matrix_spans(&matrix, 2, 1, spans);
        uint64_t within = cases[i].within;
        if (strcmp(cases[i].format, "q4_g64_fp16") == 0)
            within -= 2 * 2; /* the plane's row begins at its span */
        patch_file("a.ninfer", "b.ninfer", at + spans[cases[i].plane].offset + within,
                   &cases[i].value, 1);
        assert_fault("b.ninfer", "weight/000001", cases[i].fault);
    }
    folder_remove();
}

static void test_nvfp4(void **state)
{
    (void)state;
    static const uint8_t negative = 0x81;
    static const uint8_t zero[4] = {0};
    qp_matrix matrix;
    folder_make("test_verify_nvfp4");
    write_source(in_folder("s.safetensors"), 256, 64);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "w=nvfp4");
    uint64_t at = place_of("a.ninfer", "weight/000001", &matrix);
    /* row 33, group 2: (33 % 32) * 16 + 33 / 32 * 4 + 2 */
    patch_file("a.ninfer", "b.ninfer", at + matrix.planes[2].offset + 16 + 4 + 2, &negative, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"scale_invalid", 33, 32});
    patch_file("a.ninfer", "b.ninfer", at + matrix.planes[3].offset, zero, 4);
    assert_fault("b.ninfer", "weight/000001", (fault){"divisor_invalid", 0, -1});
    folder_remove();
}

/* The first fault in row, then column order, whatever threads and tiles there are. */
static void test_first_fault(void **state)
{
    (void)state;
    static const uint8_t bad = 0x80;
    qp_matrix matrix;
    folder_make("test_verify_first");
    write_source(in_folder("s.safetensors"), 3000, 256);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "w=q8_g32_fp16");
    uint64_t at = place_of("a.ninfer", "weight/000001", &matrix);
    copy_file(in_folder("a.ninfer"), in_folder("b.ninfer"));
    static const uint64_t rows[] = {2999, 2100, 1500};
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        patch_file("b.ninfer", "c.ninfer", at + rows[i] * 256 + 17, &bad, 1);
        copy_file(in_folder("c.ninfer"), in_folder("b.ninfer"));
        assert_fault("b.ninfer", "weight/000001", (fault){"code_invalid", (int64_t)rows[i], 17});
    }
    folder_remove();
}

static void test_padding_and_gaps(void **state)
{
    (void)state;
    static const uint8_t one = 1;
    qp_matrix matrix;
    folder_make("test_verify_gaps");
    write_source(in_folder("s.safetensors"), 3, 100);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "w=q5_g64_fp16");
    uint64_t at = place_of("a.ninfer", "weight/000001", &matrix);
    /* lane 110 of row 1: padding inside the row */
    patch_file("a.ninfer", "b.ninfer", at + 1 * 64 + 55, &one, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"padding_invalid", 1, 110});
    /* between the base and the high plane, between tensors, before the payload */
    patch_file("a.ninfer", "b.ninfer", at + 3 * 64 + 5, &one, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"gap_invalid", -1, -1});
    patch_file("a.ninfer", "b.ninfer", at + matrix.bytes + 1, &one, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"gap_invalid", -1, -1});

    convert("" QP_TEST_DATA "/ninfer/a-single.ninfer", in_folder("r.ninfer"), NULL);
    qp_artifact *artifact = opened(in_folder("r.ninfer"));
    assert_true(artifact->n_resources > 0);
    const qp_artifact_resource *last = &artifact->resources[artifact->n_resources - 1];
    uint64_t gap = artifact->files[0].at + last->offset + last->bytes;
    qp_artifact_close(artifact);
    patch_file("r.ninfer", "b.ninfer", gap, &one, 1);
    assert_fault("b.ninfer", NULL, (fault){"gap_invalid", -1, -1});

    convert(in_folder("s.safetensors"), in_folder("a.gguf"), NULL);
    at = place_of("a.gguf", "last", NULL);
    patch_file("a.gguf", "b.gguf", at + 5, &one, 1);
    assert_fault("b.gguf", "last", (fault){"gap_invalid", -1, -1});
    folder_remove();
}

static void test_heads(void **state)
{
    (void)state;
    static const uint8_t one = 1;
    qp_convert_options options = {.max_file_bytes = 65536};
    folder_make("test_verify_heads");
    assert_int_equal(convert_with(QP_TEST_DATA "/weights/stories260k-bf16.safetensors",
                                  in_folder("a.ninfer"), &options, NULL),
                     QP_OK);
    copy_file(in_folder("a.ninfer.part-0001"), in_folder("kept"));
    patch_file("a.ninfer.part-0001", "a.ninfer.part-0001", 4095, &one, 1);
    assert_fault("a.ninfer", "part-0001", (fault){"gap_invalid", -1, -1});
    copy_file(in_folder("kept"), in_folder("a.ninfer.part-0001"));
    assert_verifies(in_folder("a.ninfer"));
    patch_file("a.ninfer.part-0001", "a.ninfer.part-0001", 9000, &one, 1);
    assert_fault("a.ninfer", NULL, (fault){"artifact_id", -1, -1});
    folder_remove();
}

/* One bit of a direct tensor, whose words are all valid: artifact_id tells, where we wrote it. */
static void test_artifact_id(void **state)
{
    (void)state;
    uint8_t byte = 0x55;
    folder_make("test_verify_id");
    write_source(in_folder("s.safetensors"), 3, 100);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), NULL);
    uint64_t at = place_of("a.ninfer", "weight/000000", NULL);
    patch_file("a.ninfer", "b.ninfer", at + 2, &byte, 1);
    assert_fault("b.ninfer", NULL, (fault){"artifact_id", -1, -1});
    byte = 0;
    patch_file("a.ninfer", "b.ninfer", 16, &byte, 1);
    qp_file file = whole_file(in_folder("a.ninfer"));
    bool is_zero = file.bytes[16] == 0;
    qp_file_close(&file);
    if (!is_zero)
        assert_fault("b.ninfer", NULL, (fault){"artifact_id", -1, -1});
    folder_remove();
}

/* Matrices of several tensors are held to the rules of their format too. */
static void test_composed(void **state)
{
    (void)state;
    static const uint8_t codes[] = {0x38, 0x38, 0x38, 0xFF};
    static const uint8_t scales[] = {0x80, 0x3F, 0x80, 0x3F};
    tensor_file file;
    folder_make("test_verify_composed");
    tensor_file_init(&file);
    tensor_file_add(&file, "p.weight", "F8_E4M3", "[2,2]", codes, 4);
    tensor_file_add(&file, "p.weight_scale", "BF16", "[2]", scales, 4);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    assert_fault("f.safetensors", "p.weight", (fault){"code_invalid", 1, 1});
    tensor_file_init(&file);
    tensor_file_add(&file, "p.other", "F8_E4M3", "[2,2]", codes, 4); /* alone it is any bytes */
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    assert_verifies(in_folder("f.safetensors"));
    folder_remove();
}

/* The lazy checks of a directory, and faults of tensors before a bad one. */
static void test_lazy_checks(void **state)
{
    (void)state;
    static const uint8_t bad = 0x80;
    folder_make("test_verify_lazy");
    write_source(in_folder("s.safetensors"), 3, 64);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "w=q8_g32_fp16");
    qp_file file = whole_file(in_folder("a.ninfer"));
    uint8_t *copy = malloc(file.size);
    memcpy(copy, file.bytes, file.size);
    char *format = strstr((char *)copy + 32, "\"fp32\",\"layout\"");
    assert_non_null(format);
    format = strstr(format + 1, "\"fp32\",\"layout\""); /* the last tensor's */
    assert_non_null(format);
    format[4] = '3';
    write_file(in_folder("b.ninfer"), copy, file.size);
    free(copy);
    qp_file_close(&file);
    assert_fault("b.ninfer", "weight/000002", (fault){"C-GEOM", -1, -1});
    qp_error error;
    qp_artifact *artifact = opened(in_folder("b.ninfer"));
    qp_convert_plan *plan;
    const qp_convert_options options = {.threads = 1};
    assert_int_not_equal(qp_artifact_verify(artifact, 1, &error), QP_OK);
    const char *named = strstr(error.message, "weight/000002");
    assert_non_null(named);
    assert_null(strstr(named + 1, "weight/000002")); /* once */
    assert_int_equal(error.offset, place_of("a.ninfer", "weight/000002", NULL));
    assert_int_not_equal(
        qp_convert_plan_make(artifact, in_folder("d.gguf"), &options, &plan, &error), QP_OK);
    assert_non_null(strstr(error.message, "weight/000002"));
    qp_artifact_close(artifact);
    patch_file("b.ninfer", "c.ninfer", place_of("a.ninfer", "weight/000001", NULL) + 3, &bad, 1);
    assert_fault("c.ninfer", "weight/000001", (fault){"code_invalid", 0, 3});
    folder_remove();
}

/* A long row is cut into tiles: the fault keeps its column. */
static void test_long_row(void **state)
{
    (void)state;
    static const uint8_t bad = 0x80;
    qp_matrix matrix;
    folder_make("test_verify_long");
    write_source(in_folder("s.safetensors"), 2, 600001);
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "w=q8_g32_fp16");
    assert_verifies(in_folder("a.ninfer"));
    uint64_t at = place_of("a.ninfer", "weight/000001", &matrix);
    uint64_t row = matrix.planes[0].size / 2;
    patch_file("a.ninfer", "b.ninfer", at + row + 555555, &bad, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"code_invalid", 1, 555555});
    patch_file("a.ninfer", "b.ninfer", at + row + 600010, &bad, 1);
    assert_fault("b.ninfer", "weight/000001", (fault){"padding_invalid", 1, 600010});
    folder_remove();
}

/* Auxiliaries of a known role hold what it needs. */
static void test_auxiliaries(void **state)
{
    (void)state;
    static const uint8_t minus_two[4] = {0, 0, 0, 0xC0}, infinite[4] = {0, 0, 0x80, 0x7F};
    static const uint8_t other_id[16] = {0};
    folder_make("test_verify_uses");
    write_source(in_folder("s.safetensors"), 3, 64);
    convert_recipe(in_folder("s.safetensors"), in_folder("a.ninfer"),
                   "[{\"use\": \"w\", \"input\": \"x\", \"auxiliaries\": "
                   "{\"activation_input_divisor\": 2, \"other\": -1}}]");
    assert_verifies(in_folder("a.ninfer"));
    uint64_t at = place_of("a.ninfer", "auxiliary/000000", NULL);
    patch_file("a.ninfer", "b.ninfer", at, minus_two, 4);
    assert_fault("b.ninfer", "activation_input_divisor", (fault){"auxiliary_invalid", -1, -1});
    patch_file("a.ninfer", "b.ninfer", at, infinite, 4);
    assert_fault("b.ninfer", "activation_input_divisor", (fault){"auxiliary_invalid", -1, -1});
    patch_file("a.ninfer", "b.ninfer", 16, other_id, 16);
    assert_fault("b.ninfer", NULL, (fault){"artifact_id", -1, -1});
    folder_remove();
}

static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        qp_status status =
            qp_artifact_open(QP_TEST_DATA "/ninfer/a-single.ninfer", &allocator, &artifact, NULL);
        if (status == QP_OK)
            status = qp_artifact_verify(artifact, 1, NULL);
        qp_artifact_close(artifact);
        assert_int_equal(memory.blocks, 0);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures_pass),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_nvfp4),
        cmocka_unit_test(test_first_fault),
        cmocka_unit_test(test_padding_and_gaps),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_artifact_id),
        cmocka_unit_test(test_composed),
        cmocka_unit_test(test_lazy_checks),
        cmocka_unit_test(test_long_row),
        cmocka_unit_test(test_auxiliaries),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
