/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_convert.c - conversions between the kinds of files: what is kept, what is computed, the same
 * bytes for any threads and chunks, and nothing left when something fails.
 */
#include "artifact/convert.h"

#include "../failing_allocator.h"
#include "support/convert_files.h"

#include "number/minifloat.h"

#include <math.h>

#define STORIES QP_TEST_DATA "/weights/stories260k-bf16.safetensors"
#define STORIES_Q4 QP_TEST_DATA "/weights/stories260k-q4_0.gguf"
#define FULL QP_TEST_DATA "/ggml/a-full.gguf"

/* A file with a tensor of most kinds. */
static void write_mixed(const char *path)
{
    static const int32_t integers[] = {0, -1, INT32_MAX, INT32_MIN};
    static const uint8_t bytes[] = {0, 1, 255};
    tensor_file file;
    qp_buffer words;
    tensor_file_init(&file);
    tensor_file_random(&file, "w.bf16", "BF16", "[6,256]", 6 * 256, 1);
    tensor_file_random(&file, "w.f32", "F32", "[3,130]", 3 * 130, 2);
    tensor_file_random(&file, "w.bank", "F32", "[2,4,64]", 2 * 4 * 64, 3);
    tensor_file_random(&file, "scalar", "F32", "[]", 1, 4);
    tensor_file_random(&file, "vector", "BF16", "[5]", 5, 5);
    qp_buffer_init(&words, NULL);
    for (size_t i = 0; i < TEST_COUNT(integers); i++)
        qp_buffer_le(&words, (uint32_t)integers[i], 4);
    tensor_file_add(&file, "integers", "I32", "[2,2]", words.bytes, words.size);
    qp_buffer_free(&words);
    tensor_file_add(&file, "bytes", "U8", "[3]", bytes, sizeof bytes);
    tensor_file_write(&file, "\"format\":\"pt\",\"note\":\"\\u00fc \\\"x\\\"\"", path);
}

/* ---- there and back -------------------------------------------------------------------------- */

/* Every kind to every other and back: the digest stands. */
static void test_kinds_keep_words(void **state)
{
    (void)state;
    static const char *const endings[] = {"ninfer", "gguf", "safetensors"};
    folder_make("test_convert_kinds");
    const char *digest = digest_of(STORIES);
    for (size_t a = 0; a < TEST_COUNT(endings); a++) {
        char first[32], second[32];
        snprintf(first, sizeof first, "one.%s", endings[a]);
        convert(STORIES, in_folder(first), NULL);
        assert_verifies(in_folder(first));
        assert_string_equal(digest_of(in_folder(first)), digest);
        for (size_t b = 0; b < TEST_COUNT(endings); b++) {
            snprintf(second, sizeof second, "two.%s", endings[b]);
            convert(in_folder(first), in_folder(second), NULL);
            assert_verifies(in_folder(second));
            assert_string_equal(digest_of(in_folder(second)), digest);
            convert(in_folder(second), in_folder("back.safetensors"), NULL);
            assert_string_equal(digest_of(in_folder("back.safetensors")), digest);
        }
    }
    folder_remove();
}

static void test_gguf_comes_back_byte_for_byte(void **state)
{
    (void)state;
    folder_make("test_convert_gguf");
    convert(STORIES_Q4, in_folder("a.ninfer"), NULL);
    convert(in_folder("a.ninfer"), in_folder("a.gguf"), NULL);
    assert_same_files(in_folder("a.gguf"), STORIES_Q4);
    convert(STORIES_Q4, in_folder("b.gguf"), NULL);
    assert_same_files(in_folder("b.gguf"), STORIES_Q4);
    folder_remove();
}

/* A file with every type of metadata, the eighteen formats, and a tensor of rank 3. F16 becomes
 * fp32, so it is compared after that. */
static void test_every_format_of_gguf(void **state)
{
    (void)state;
    folder_make("test_convert_full");
    convert(FULL, in_folder("a.gguf"), NULL);
    convert(in_folder("a.gguf"), in_folder("a.ninfer"), NULL);
    convert(in_folder("a.ninfer"), in_folder("b.ninfer"), NULL);
    convert(in_folder("b.ninfer"), in_folder("b.gguf"), NULL);
    assert_same_files(in_folder("a.gguf"), in_folder("b.gguf"));
    assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(in_folder("a.gguf")));
    assert_verifies(in_folder("b.ninfer"));
    folder_remove();
}

static void assert_same_metadata(const char *a, const char *b)
{
    size_t count, other_count;
    qp_artifact *one = opened(a), *other = opened(b);
    const qp_artifact_metadatum *entries = qp_artifact_metadata(one, &count);
    (void)qp_artifact_metadata(other, &other_count);
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++) {
        const qp_artifact_metadatum *same = qp_artifact_metadata_find(other, entries[i].key);
        assert_non_null(same);
        assert_int_equal(entries[i].type, same->type);
        assert_int_equal(entries[i].size, same->size);
        assert_memory_equal(entries[i].value, same->value, entries[i].size);
        if (entries[i].type == QP_META_ARRAY) {
            assert_int_equal(entries[i].element_type, same->element_type);
            assert_int_equal(entries[i].count, same->count);
        }
    }
    qp_artifact_close(one);
    qp_artifact_close(other);
}

static void test_metadata_of_all_types(void **state)
{
    (void)state;
    folder_make("test_convert_metadata");
    convert(FULL, in_folder("a.gguf"), "*=fp32");
    convert(in_folder("a.gguf"), in_folder("a.ninfer"), NULL);
    convert(in_folder("a.ninfer"), in_folder("a.safetensors"), NULL);
    convert(in_folder("a.safetensors"), in_folder("b.ninfer"), NULL);
    convert(in_folder("b.ninfer"), in_folder("b.gguf"), NULL);
    assert_same_metadata(in_folder("a.gguf"), in_folder("b.gguf"));
    assert_string_equal(digest_of(in_folder("a.gguf")), digest_of(in_folder("b.gguf")));
    folder_remove();
}

static void test_mixed_elements(void **state)
{
    (void)state;
    folder_make("test_convert_mixed");
    write_mixed(in_folder("m.safetensors"));
    convert(in_folder("m.safetensors"), in_folder("a.ninfer"), NULL);
    assert_verifies(in_folder("a.ninfer"));
    convert(in_folder("a.ninfer"), in_folder("a.safetensors"), NULL);
    convert(in_folder("a.safetensors"), in_folder("b.gguf"), NULL);
    convert(in_folder("b.gguf"), in_folder("b.ninfer"), NULL);
    convert(in_folder("b.ninfer"), in_folder("b.safetensors"), NULL);
    assert_same_files(in_folder("a.safetensors"), in_folder("b.safetensors"));

    qp_artifact *artifact = opened(in_folder("a.safetensors"));
    assert_string_equal(qp_artifact_find(artifact, "bytes")->type, "I32");
    assert_string_equal(qp_artifact_find(artifact, "w.bf16")->type, "BF16");
    assert_int_equal(qp_artifact_find(artifact, "w.bank")->rank, 3);
    const qp_artifact_metadatum *note = qp_artifact_metadata_find(artifact, "note");
    assert_int_equal(note->size, strlen("ü \"x\""));
    assert_memory_equal(note->value, "ü \"x\"", note->size);
    qp_artifact_close(artifact);
    folder_remove();
}

/* ---- what is computed ------------------------------------------------------------------------ */

static float value_at(const char *path, const char *tensor, uint64_t row, uint64_t column)
{
    float values[8192];
    qp_matrix matrix;
    qp_artifact *artifact = opened(path);
    const qp_artifact_tensor *found = qp_artifact_find(artifact, tensor);
    assert_non_null(found);
    assert_int_equal(qp_artifact_matrix(artifact, found, &matrix, NULL), QP_OK);
    assert_true(matrix.columns <= TEST_COUNT(values));
    assert_int_equal(qp_artifact_decode(artifact, found, row, 1, 0, values, NULL), QP_OK);
    qp_artifact_close(artifact);
    return values[column];
}

/* A bare format goes to the matrices that it fits; a pattern to all that it matches. */
static void test_presets(void **state)
{
    (void)state;
    size_t count;
    qp_convert_plan *plan;
    qp_convert_options options = {.preset = "fp32=bf16,gguf_q8_0,w.b*=bf16"};
    folder_make("test_convert_presets");
    write_mixed(in_folder("m.safetensors"));
    qp_artifact *source = opened(in_folder("m.safetensors"));
    qp_error error;
    assert_int_equal(qp_convert_plan_make(source, in_folder("p.ninfer"), &options, &plan, &error),
                     QP_MALFORMED);
    static const char *const unfit[] = {"nvfp4", "fp32,gguf_q4_0,nvfp4", "gguf_q4_k,nvfp4"};
    for (size_t i = 0; i < TEST_COUNT(unfit); i++) {
        options.preset = unfit[i];
        assert_int_equal(
            qp_convert_plan_make(source, in_folder("p.ninfer"), &options, &plan, &error),
            QP_INVALID_ARGUMENT);
        assert_non_null(strstr(error.message, "nvfp4 fits no tensor"));
    }
    options.preset = "q8_g32_fp16,w.b*=bf16";
    assert_int_equal(qp_convert_plan_make(source, in_folder("p.ninfer"), &options, &plan, NULL),
                     QP_OK);
    const qp_plan_item *items = qp_convert_plan_items(plan, &count);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < count; i++) {
        const char *name = items[i].parameter, *format = items[i].target.format->name;
        bool is_matrix = strcmp(name, "w.f32") == 0, is_bf16 = strncmp(name, "w.b", 3) == 0;
        if (is_matrix)
            assert_string_equal(format, "q8_g32_fp16");
        else if (is_bf16)
            assert_string_equal(format, "bf16");
        else
            assert_string_not_equal(format, "q8_g32_fp16");
        assert_string_equal(items[i].method->name, is_matrix ? "grouped_absmax" : "cast_direct");
    }
    assert_int_equal(qp_convert_plan_source_bytes(plan),
                     6 * 256 * 2 + 3 * 130 * 4 + 512 * 4 + 4 + 10 + 16 + 3);
    qp_convert_plan_free(plan);
    qp_artifact_close(source);
    folder_remove();
}

/* How much of a file of importance is used; one of other names is refused. */
static void test_importance(void **state)
{
    (void)state;
    static const char *const known[] = {"w.bf16", "blk.0.w"};
    folder_make("test_convert_importance");
    write_mixed(in_folder("m.safetensors"));
    qp_artifact *source = opened(in_folder("m.safetensors"));
    for (size_t k = 0; k < TEST_COUNT(known); k++) {
        size_t found, asked;
        qp_convert_plan *plan;
        qp_error error;
        tensor_file file;
        tensor_file_init(&file);
        tensor_file_random(&file, known[k], "F32", "[256]", 256, 1);
        tensor_file_write(&file, NULL, in_folder("i.safetensors"));
        qp_file bytes = whole_file(in_folder("i.safetensors"));
        uint8_t *copy = malloc(bytes.size);
        memcpy(copy, bytes.bytes, bytes.size);
        for (size_t i = bytes.size - 1024 + 3; i < bytes.size; i += 4)
            copy[i] &= 0x7F; /* weights are not negative */
        size_t size = bytes.size;
        qp_file_close(&bytes);
        write_file(in_folder("i.safetensors"), copy, size);
        free(copy);
        qp_convert_options options = {.preset = "q4_g64_fp16",
                                      .imatrix = in_folder("i.safetensors")};
        qp_status status =
            qp_convert_plan_make(source, in_folder("p.ninfer"), &options, &plan, &error);
        assert_int_equal(status, k == 0 ? QP_OK : QP_MODEL_MISMATCH);
        if (status == QP_OK) {
            qp_convert_plan_importance(plan, &found, &asked);
            assert_int_equal(found, 1);
            assert_int_equal(asked, 2);
        } else {
            assert_string_equal(error.check, "importance_names");
            assert_non_null(strstr(error.message, "i.safetensors"));
        }
        qp_convert_plan_free(plan);
    }
    qp_artifact_close(source);
    folder_remove();
}

/* Every method from every thread and in chunks of every size: the same bytes. */
static void test_same_bytes(void **state)
{
    (void)state;
    static const char *const presets[] = {"q4_g64_fp16", "q6_g64_fp16", "t2_g128_fp16",
                                          "gguf_q8_0",   "gguf_q4_k",   "fp8_e4m3fn_row_bf16",
                                          "fp32",        "nvfp4",       "int32"};
    static const uint32_t rows[] = {1, 3, 64, 129};
    tensor_file file;
    folder_make("test_convert_same");
    tensor_file_init(&file);
    tensor_file_random(&file, "a", "BF16", "[256,256]", 256 * 256, 7);
    tensor_file_random(&file, "b", "F16", "[7,512]", 7 * 512, 8);
    tensor_file_random(&file, "c", "F32", "[9]", 9, 9);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    for (size_t p = 0; p < TEST_COUNT(presets); p++) {
        convert(in_folder("s.safetensors"), in_folder("a.ninfer"), presets[p]);
        assert_verifies(in_folder("a.ninfer"));
        for (size_t r = 0; r < TEST_COUNT(rows); r++) {
            qp_convert_options options = {.preset = presets[p],
                                          .rows_per_chunk = rows[r],
                                          .threads = (uint32_t)(1 + r),
                                          .cpu = r % 2 == 0 ? qp_cpu_features() : 0};
            assert_int_equal(
                convert_with(in_folder("s.safetensors"), in_folder("b.ninfer"), &options, NULL),
                QP_OK);
            assert_same_files(in_folder("a.ninfer"), in_folder("b.ninfer"));
        }
    }
    folder_remove();
}

/* Rows that are longer than a tile are cut into columns: 128 threads make tiles of 2^15 elements.
 */
static void test_long_rows(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *shape, *back;
        size_t elements;
    } cases[] = {
        {"q4_g64_fp16", "[2,70001]", "fp32", 140002},
        {"gguf_q5_0", "[2,65568]", "fp32", 131136},
        {"gguf_q6_k", "[1,65792]", "gguf_q8_0", 65792},
        {"nvfp4", "[128,1088]", "fp32", 128 * 1088},
        {"bf16", "[1,100000]", "q8_g32_fp16", 100000},
        {"fp8_e4m3fn_row_bf16", "[2,70000]", "bf16", 140000},
    };
    folder_make("test_convert_long");
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        tensor_file file;
        tensor_file_init(&file);
        tensor_file_random(&file, "w", "F32", cases[i].shape, cases[i].elements, i);
        tensor_file_write(&file, NULL, in_folder("s.safetensors"));
        const char *names[] = {"few", "many"};
        for (size_t k = 0; k < 2; k++) {
            char path[32], back[32], again[32], copy[32];
            qp_convert_options options = {.preset = cases[i].preset, .threads = k == 0 ? 1 : 128};
            snprintf(path, sizeof path, "%s.ninfer", names[k]);
            snprintf(back, sizeof back, "%s-back.ninfer", names[k]);
            snprintf(again, sizeof again, "%s-again.ninfer", names[k]);
            snprintf(copy, sizeof copy, "%s-copy.safetensors", names[k]);
            assert_int_equal(
                convert_with(in_folder("s.safetensors"), in_folder(path), &options, NULL), QP_OK);
            options.preset = cases[i].back; /* values out of long encoded rows */
            assert_int_equal(convert_with(in_folder(path), in_folder(back), &options, NULL), QP_OK);
            options.preset = NULL; /* words of long encoded rows */
            assert_int_equal(convert_with(in_folder(path), in_folder(again), &options, NULL),
                             QP_OK);
            assert_string_equal(digest_of(in_folder(path)), digest_of(in_folder(again)));
            if (strncmp(cases[i].preset, "nvfp4", 5) != 0)
                continue;
            assert_int_equal(convert_with(in_folder(path), in_folder(copy), &options, NULL), QP_OK);
            assert_string_equal(digest_of(in_folder(path)), digest_of(in_folder(copy)));
        }
        assert_same_files(in_folder("few.ninfer"), in_folder("many.ninfer"));
        assert_string_equal(digest_of(in_folder("few-back.ninfer")),
                            digest_of(in_folder("many-back.ninfer")));
    }
    folder_remove();
}

/* A row with one scale is held whole, so its length has a limit. */
static void test_row_too_long(void **state)
{
    (void)state;
    const size_t columns = ((size_t)1 << 24) + 1;
    qp_convert_options options = {.preset = "fp8_e4m3fn_row_bf16"};
    qp_convert_plan *plan;
    qp_error error;
    tensor_file file;
    uint8_t *zeros = calloc(columns, 1);
    folder_make("test_convert_too_long");
    tensor_file_init(&file);
    tensor_file_add(&file, "w", "F8_E4M3", "[1,16777217]", zeros, columns);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    free(zeros);
    qp_artifact *source = opened(in_folder("s.safetensors"));
    assert_int_equal(qp_convert_plan_make(source, in_folder("a.ninfer"), &options, &plan, &error),
                     QP_TOO_LARGE);
    assert_non_null(strstr(error.message, "16777216"));
    options.preset = "q4_g64_fp16";
    assert_int_equal(qp_convert_plan_make(source, in_folder("a.ninfer"), &options, &plan, &error),
                     QP_OK);
    qp_convert_plan_free(plan);
    qp_artifact_close(source);
    folder_remove();
}

/* ---- tensors that are one matrix together -----------------------------------------------------
 */

static void add_bytes(tensor_file *file, const char *name, const char *dtype, const char *shape,
                      size_t size, uint64_t seed, uint32_t limit)
{
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)test_below(&seed, limit);
    tensor_file_add(file, name, dtype, shape, bytes, size);
    free(bytes);
}

static void test_row_fp8(void **state)
{
    (void)state;
    static const uint8_t scales[] = {0x80, 0x3F, 0x00, 0x3F, 0x80, 0x40}; /* 1, 0.5, 4 */
    static const uint8_t one[] = {0, 0, 0, 0x40};                         /* 2.0f */
    static const uint8_t half[] = {0, 0x3C, 0, 0x38, 0, 0x40};
    static const uint8_t codes[] = {0x38, 0xB8, 0x00, 0x80, 0x7E, 0x01}; /* 1 -1 0 -0 448 2^-9 */
    tensor_file file;
    folder_make("test_convert_fp8");
    tensor_file_init(&file);
    tensor_file_add(&file, "p.weight", "F8_E4M3", "[3,2]", codes, sizeof codes);
    tensor_file_add(&file, "p.weight_scale", "BF16", "[3,1]", scales, sizeof scales);
    tensor_file_add(&file, "q.weight", "F8_E4M3", "[3,2]", codes, sizeof codes);
    tensor_file_add(&file, "q.weight_scale", "F32", "[]", one, sizeof one);
    tensor_file_add(&file, "r.weight", "F8_E4M3", "[3,2]", codes, sizeof codes);
    tensor_file_add(&file, "r.weight_scale", "F16", "[3]", half, sizeof half);
    tensor_file_add(&file, "alone", "F8_E4M3", "[3,2]", codes, sizeof codes);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert(in_folder("f.safetensors"), in_folder("a.ninfer"), NULL);
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_int_equal(qp_json_count(member_at(root, "objects")), 4);
    assert_true(qp_json_equals(member_at(root, "objects>#0>format"), "fp8_e4m3fn_row_bf16"));
    assert_true(qp_json_equals(member_at(root, "objects>#2>format"), "fp8_e4m3fn_row_fp16"));
    assert_true(qp_json_equals(member_at(root, "objects>#3>format"), "fp32"));
    assert_true(value_at(in_folder("a.ninfer"), "weight/000000", 2, 0) == 448.0f * 4);
    assert_true(value_at(in_folder("a.ninfer"), "weight/000001", 0, 1) == -2.0f);
    assert_true(value_at(in_folder("a.ninfer"), "weight/000003", 2, 0) == 448.0f);

    convert(in_folder("a.ninfer"), in_folder("a.safetensors"), NULL);
    convert(in_folder("a.safetensors"), in_folder("b.ninfer"), NULL);
    assert_string_equal(digest_of(in_folder("a.safetensors")), digest_of(in_folder("a.ninfer")));
    assert_string_equal(digest_of(in_folder("a.safetensors")), digest_of(in_folder("b.ninfer")));
    folder_remove();
}

static void test_block_fp8(void **state)
{
    (void)state;
    tensor_file file;
    float scales[6];
    folder_make("test_convert_block");
    tensor_file_init(&file);
    add_bytes(&file, "w", "F8_E4M3", "[130,300]", 130 * 300, 3, 0x7F);
    qp_buffer bytes;
    qp_buffer_init(&bytes, NULL);
    for (size_t i = 0; i < 6; i++) {
        scales[i] = 0.25f * (float)(i + 1);
        qp_buffer_le(&bytes, qp_bits_of_float(scales[i]), 4);
    }
    tensor_file_add(&file, "w_scale_inv", "F32", "[2,3]", bytes.bytes, bytes.size);
    qp_buffer_free(&bytes);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert(in_folder("f.safetensors"), in_folder("a.ninfer"), NULL);
    assert_string_equal(digest_of(in_folder("f.safetensors")), digest_of(in_folder("a.ninfer")));
    qp_artifact *source = opened(in_folder("f.safetensors"));
    uint8_t codes[130 * 300];
    assert_int_equal(
        qp_artifact_read(source, qp_artifact_find(source, "w"), 0, sizeof codes, codes, NULL),
        QP_OK);
    qp_artifact_close(source);
    static const struct {
        uint64_t row, column;
        size_t scale;
    } places[] = {{0, 0, 0}, {127, 128, 1}, {128, 127, 3}, {129, 299, 5}};
    for (size_t i = 0; i < TEST_COUNT(places); i++) {
        float code =
            qp_float_of_bits(qp_e4m3_to_f32_bits(codes[places[i].row * 300 + places[i].column]));
        assert_true(value_at(in_folder("a.ninfer"), "weight/000000", places[i].row,
                             places[i].column) == code * scales[places[i].scale]);
    }
    folder_remove();
}

static void add_nvfp4(tensor_file *file, const char *name, const char *endings[3], float divisor,
                      uint64_t seed)
{
    char text[64];
    uint8_t word[4];
    for (unsigned b = 0; b < 4; b++)
        word[b] = (uint8_t)(qp_bits_of_float(divisor) >> 8 * b);
    snprintf(text, sizeof text, "%s%s", name, endings[0]);
    add_bytes(file, text, "U8", "[128,64]", 128 * 64, seed, 256);
    snprintf(text, sizeof text, "%s%s", name, endings[1]);
    add_bytes(file, text, "F8_E4M3", "[128,8]", 128 * 8, seed + 1, 0x7F);
    snprintf(text, sizeof text, "%s%s", name, endings[2]);
    tensor_file_add(file, text, "F32", "[]", word, 4);
}

static const char *packed[] = {"_packed", "_scale", "_global_scale"};
static const char *modelopt[] = {"", "_scale", "_scale_2"};

static void test_nvfp4(void **state)
{
    (void)state;
    tensor_file file;
    folder_make("test_convert_nvfp4");
    tensor_file_init(&file);
    add_nvfp4(&file, "p.weight", packed, 3.0f, 1);
    add_nvfp4(&file, "q.weight", modelopt, 1.0f / 3, 1); /* a multiplier: about the same */
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert(in_folder("f.safetensors"), in_folder("a.ninfer"), NULL);
    assert_verifies(in_folder("a.ninfer"));
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_int_equal(qp_json_count(member_at(root, "objects")), 2);
    assert_true(qp_json_equals(member_at(root, "objects>#1>format"), "nvfp4"));
    for (uint64_t k = 0; k < 128; k++) {
        float p = value_at(in_folder("a.ninfer"), "weight/000000", 77, k);
        float q = value_at(in_folder("a.ninfer"), "weight/000001", 77, k);
        float expected = (float)(1.0 / (double)(1.0f / 3));
        assert_true(fabsf(p * 3.0f - q * expected) <= fabsf(p) * 1e-5f);
    }
    convert(in_folder("a.ninfer"), in_folder("a.safetensors"), NULL);
    assert_string_equal(digest_of(in_folder("f.safetensors")), digest_of(in_folder("a.ninfer")));
    assert_string_equal(digest_of(in_folder("f.safetensors")),
                        digest_of(in_folder("a.safetensors")));
    qp_artifact *artifact = opened(in_folder("a.safetensors"));
    assert_non_null(qp_artifact_find(artifact, "q.weight_packed"));
    assert_non_null(qp_artifact_find(artifact, "q.weight_global_scale"));
    qp_artifact_close(artifact);
    folder_remove();
}

/* Matrices with different divisors stacked keep a divisor each; equal ones share one. */
static void test_nvfp4_groups(void **state)
{
    (void)state;
    qp_json_value divisors;
    tensor_file file;
    folder_make("test_convert_stacked");
    tensor_file_init(&file);
    add_nvfp4(&file, "a.weight", packed, 3.0f, 1);
    add_nvfp4(&file, "b.weight", packed, 5.0f, 3);
    add_nvfp4(&file, "c.weight", packed, 3.0f, 5);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert_recipe(in_folder("f.safetensors"), in_folder("a.ninfer"),
                   "[{\"group\": [\"a.weight\", \"b.weight\"]}]");
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(qp_json_equals(member_at(root, "objects>#0>id"), "weight/000000"));
    assert_int_equal(fabsf(value_at(in_folder("a.ninfer"), "weight/000000", 0, 0)) >= 0, 1);
    assert_true(qp_json_find(member_at(root, "objects>#0"), "divisors", &divisors));
    assert_string_equal(digest_of(in_folder("f.safetensors")), digest_of(in_folder("a.ninfer")));
    assert_verifies(in_folder("a.ninfer"));
    /* the packing is kept, and taken apart again */
    convert(in_folder("a.ninfer"), in_folder("b.ninfer"), NULL);
    root = directory_of(in_folder("b.ninfer"));
    assert_int_equal(qp_json_count(member_at(root, "objects")), 2);
    assert_string_equal(digest_of(in_folder("b.ninfer")), digest_of(in_folder("a.ninfer")));
    convert(in_folder("b.ninfer"), in_folder("b.safetensors"), NULL);
    assert_string_equal(digest_of(in_folder("b.safetensors")),
                        digest_of(in_folder("f.safetensors")));

    convert_recipe(in_folder("f.safetensors"), in_folder("c.ninfer"),
                   "[{\"group\": [\"a.weight\", \"c.weight\"]}]");
    root = directory_of(in_folder("c.ninfer"));
    assert_false(qp_json_find(member_at(root, "objects>#0"), "divisors", &divisors));
    assert_string_equal(digest_of(in_folder("f.safetensors")), digest_of(in_folder("c.ninfer")));
    folder_remove();
}

/* A geometry that no layout stores gives values. */
static void test_nvfp4_values(void **state)
{
    (void)state;
    static const uint8_t codes[8] = {0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB, 0xED, 0x0F};
    static const float expected[16] = {0.5f,  1,  1.5f,  2,  3,  4,  6,  -0.0f,
                                       -0.5f, -1, -1.5f, -2, -3, -4, -6, 0};
    static const uint8_t scale[1] = {0x40};            /* 2 */
    static const uint8_t divisor[4] = {0, 0, 0, 0x40}; /* 2 */
    tensor_file file;
    folder_make("test_convert_nvvalues");
    tensor_file_init(&file);
    tensor_file_add(&file, "w_packed", "U8", "[1,8]", codes, 8);
    tensor_file_add(&file, "w_scale", "F8_E4M3", "[1,1]", scale, 1);
    tensor_file_add(&file, "w_global_scale", "F32", "[1]", divisor, 4);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert(in_folder("f.safetensors"), in_folder("a.gguf"), NULL);
    for (uint64_t k = 0; k < 16; k++) {
        float value = value_at(in_folder("a.gguf"), "w", 0, k);
        assert_int_equal(qp_bits_of_float(value), qp_bits_of_float(expected[k]));
    }
    folder_remove();
}

/* ---- recipes --------------------------------------------------------------------------------- */

static void write_layer(const char *path)
{
    tensor_file file;
    tensor_file_init(&file);
    tensor_file_random(&file, "l.q", "BF16", "[4,128]", 512, 1);
    tensor_file_random(&file, "l.k", "BF16", "[2,128]", 256, 2);
    tensor_file_random(&file, "l.v", "BF16", "[2,128]", 256, 3);
    tensor_file_random(&file, "embed", "BF16", "[8,64]", 512, 4);
    tensor_file_random(&file, "head", "BF16", "[8,64]", 512, 5);
    tensor_file_random(&file, "bias1", "F32", "[3]", 3, 6);
    tensor_file_random(&file, "bias2", "F32", "[2]", 2, 7);
    tensor_file_write(&file, NULL, path);
}

static void test_recipe_of_all_verbs(void **state)
{
    (void)state;
    static const char recipe[] =
        "[{\"assign\": \"l.*\", \"format\": \"q6_g64_fp16\"},\n"
        " {\"assign\": [\"embed\"], \"format\": \"q8_g32_fp16\", \"rows\": [2, 5],\n"
        "  \"method\": \"grouped_search\", \"parameters\": {\"negative_scales\": true}},\n"
        " {\"group\": [\"l.q\", \"l.k\", \"l.v\"]},\n"
        " {\"group\": [\"bias?\"]},\n"
        " {\"share\": \"head\", \"target\": \"embed\"},\n"
        " {\"separate\": [\"embed\"]},\n"
        " {\"use\": \"l.q\", \"input\": \"x\", \"activation_policy\": \"AllowA8\",\n"
        "  \"auxiliaries\": {\"activation_input_divisor\": 0.5, \"other\": [1, 2.5],\n"
        "                  \"bias\": \"bias2\"}},\n"
        " {\"assign\": \"l.k\", \"activation_policy\": \"AllowA4\"}]";
    folder_make("test_convert_recipe");
    write_layer(in_folder("s.safetensors"));
    convert_recipe(in_folder("s.safetensors"), in_folder("a.ninfer"), recipe);
    assert_verifies(in_folder("a.ninfer"));
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    int64_t range[2];
    /* objects: q+k+v, three runs of embed's rows, the biases, then two auxiliaries */
    assert_int_equal(qp_json_count(member_at(root, "objects")), 7);
    assert_int_equal(qp_json_get_i64_array(member_at(root, "objects>#0>shape"), range, 2, NULL),
                     QP_OK);
    assert_int_equal(range[0], 8);
    assert_int_equal(
        qp_json_get_i64_array(member_at(root, "bindings>l.k>parts>#0>range"), range, 2, NULL),
        QP_OK);
    assert_int_equal(range[0], 4 * 128);
    assert_int_equal(range[1], 6 * 128);
    assert_int_equal(qp_json_count(member_at(root, "bindings>embed>parts")), 3);
    assert_int_equal(qp_json_count(member_at(root, "bindings>head>parts")), 3);
    assert_true(qp_json_equals(member_at(root, "objects>#2>format"), "q8_g32_fp16"));
    assert_true(qp_json_equals(member_at(root, "objects>#5>id"), "auxiliary/000000"));
    assert_int_equal(qp_json_count(member_at(root, "objects>#5>shape")), 0);
    assert_true(
        qp_json_equals(member_at(root, "uses>#0>auxiliaries>activation_input_divisor>object"),
                       "auxiliary/000000"));
    assert_true(qp_json_equals(member_at(root, "uses>#0>auxiliaries>bias>parts>#0>object"),
                               "weight/000004"));
    assert_true(qp_json_equals(member_at(root, "uses>#0>activation_policy"), "AllowA8"));
    assert_true(qp_json_equals(member_at(root, "uses>#1>input"), "input"));
    assert_true(qp_json_equals(member_at(root, "provenance>recipe"), recipe) == false);
    assert_true(value_at(in_folder("a.ninfer"), "auxiliary/000001", 0, 1) == 2.5f);

    /* all of it is kept by a copy */
    convert(in_folder("a.ninfer"), in_folder("b.ninfer"), NULL);
    assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(in_folder("b.ninfer")));
    root = directory_of(in_folder("b.ninfer"));
    assert_int_equal(qp_json_count(member_at(root, "objects")), 7);
    assert_int_equal(qp_json_count(member_at(root, "bindings>head>parts")), 3);
    assert_true(
        qp_json_equals(member_at(root, "uses>#0>auxiliaries>other>object"), "auxiliary/000001"));
    convert(in_folder("b.ninfer"), in_folder("c.ninfer"), NULL);
    assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(in_folder("c.ninfer")));
    folder_remove();
}

/* The refusals of recipes over parameters, with the place of the step. */
static void test_recipe_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *recipe, *says;
    } cases[] = {
        {"[{\"assign\": \"nothing.*\", \"format\": \"bf16\"}]", "line 1, column 2"},
        {"[\n {\"assign\": \"l.q\", \"rows\": [0, 5], \"format\": \"fp32\"}]", "line 2, column 2"},
        {"[{\"assign\": \"bias1\", \"rows\": [0, 1], \"format\": \"fp32\"}]", "no rows"},
        {"[{\"assign\": \"l.q\", \"method\": \"none\"}]", "no method"},
        {"[{\"assign\": \"l.q\", \"method\": \"import_encoded\"}]", "does not write"},
        {"[{\"assign\": \"l.q\", \"format\": \"q2_g64_fp16\"}]", "no method makes"},
        {"[{\"assign\": \"l.q\", \"layout\": \"row_split_k128_v1\"}]", ""},
        {"[{\"assign\": \"l.q\", \"source\": \"/no/such/file\"}]", "cannot open"},
        {"[{\"assign\": \"l.q\", \"parameters\": {\"negative_scales\": true}}]", "negative_scales"},
        {"[{\"group\": [\"l.q\", \"embed\"]}]", "equal columns"},
        {"[{\"group\": [\"l.q\", \"bias1\"]}]", "members"},
        {"[{\"group\": [\"l.q\"]}, {\"group\": [\"l.*\"]}]", "another group"},
        {"[{\"group\": [\"l.q\"]}, {\"separate\": [\"l.*\"]}]", "in a group"},
        {"[{\"separate\": \"l.q\"}, {\"group\": [\"l.*\"]}]", "kept separate"},
        {"[{\"group\": [\"l.q\"], \"shape\": [5]}]", "512"},
        {"[{\"assign\": \"l.q\", \"format\": \"fp32\", \"rows\": [0, 1]}, {\"group\": \"l.*\"}]",
         "whole parameters"},
        {"[{\"share\": \"l.q\", \"target\": \"l.k\"}]", "shapes"},
        {"[{\"share\": \"head\", \"target\": \"embed\"}, {\"share\": \"embed\", \"target\": "
         "\"head\"}]",
         "itself"},
        {"[{\"share\": \"l.q\", \"target\": \"l.q\"}]", "itself"},
        {"[{\"share\": \"x\", \"target\": \"l.q\"}]", "no parameter x"},
        {"[{\"use\": \"x\", \"input\": \"y\"}]", "no parameter x"},
        {"[{\"use\": \"l.q\", \"input\": \"y\", \"auxiliaries\": {\"a\": \"zz\"}}]", "zz"},
        {"[{\"use\": \"l.q\", \"input\": \"y\", \"auxiliaries\": {\"activation_input_divisor\": "
         "-1}}]",
         "positive"},
        {"[{\"use\": \"l.q\", \"input\": \"y\", \"auxiliaries\": {\"input_columns\": [0, 0]}}]",
         "permutation"},
        {"[{\"use\": \"l.q\", \"input\": \"y\", \"auxiliaries\": {\"hadamard_signs\": [1, 1]}}]",
         "1024"},
        {"[{\"use\": \"l.q\", \"input\": \"y\", \"auxiliaries\": {\"input_columns\": [1, 0]}}]",
         "each column"},
    };
    folder_make("test_convert_refusals");
    write_layer(in_folder("s.safetensors"));
    qp_artifact *source = opened(in_folder("s.safetensors"));
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_convert_plan *plan;
        qp_error error = {.status = QP_OK};
        qp_convert_options options = {.recipe = cases[i].recipe,
                                      .recipe_size = strlen(cases[i].recipe)};
        qp_status status =
            qp_convert_plan_make(source, in_folder("a.ninfer"), &options, &plan, &error);
        if (status == QP_OK || strstr(error.message, cases[i].says) == NULL)
            print_message("case %zu: %s\n", i, error.message);
        assert_int_not_equal(status, QP_OK);
        assert_null(plan);
        assert_non_null(strstr(error.message, cases[i].says));
    }
    assert_int_equal(folder_count(), 1);
    qp_artifact_close(source);
    folder_remove();
}

/* Values from another file by the same names. */
static void test_second_source(void **state)
{
    (void)state;
    char recipe[512];
    tensor_file file;
    folder_make("test_convert_second");
    write_layer(in_folder("s.safetensors"));
    tensor_file_init(&file);
    tensor_file_random(&file, "embed", "F32", "[8,64]", 512, 99);
    tensor_file_random(&file, "l.q", "F32", "[8,64]", 512, 99);
    tensor_file_write(&file, NULL, in_folder("t.safetensors"));
    snprintf(recipe, sizeof recipe, "[{\"assign\": \"embed\", \"source\": \"%s\"}]",
             in_folder("t.safetensors"));
    convert_recipe(in_folder("s.safetensors"), in_folder("a.ninfer"), recipe);
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(qp_json_equals(member_at(root, "objects>#3>format"), "fp32"));
    assert_true(
        qp_json_equals(member_at(root, "provenance>sources>t.safetensors>path"), "t.safetensors"));
    assert_true(qp_json_equals(member_at(root, "provenance>recipe"),
                               "[{\"assign\":\"embed\",\"source\":\"t.safetensors\"}]"));
    qp_convert_options options = {.recipe = recipe};
    snprintf(recipe, sizeof recipe, "[{\"assign\": \"l.q\", \"source\": \"%s\"}]",
             in_folder("t.safetensors"));
    options.recipe_size = strlen(recipe);
    qp_error error;
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("b.ninfer"), &options, &error),
        QP_MALFORMED);
    assert_non_null(strstr(error.message, "of this shape"));
    folder_remove();
}

/* An activation divisor of the source serves a use that allows four bits. */
static void test_activation_divisor(void **state)
{
    (void)state;
    static const uint8_t eight[4] = {0, 0, 0, 0x41}, four[4] = {0, 0, 0x80, 0x40};
    static const char recipe[] = "[{\"group\": [\"a.weight\", \"b.weight\"]},"
                                 "{\"assign\": \"?.weight\", \"activation_policy\": \"AllowA4\"}]";
    tensor_file file;
    folder_make("test_convert_divisor");
    tensor_file_init(&file);
    add_nvfp4(&file, "a.weight", packed, 3.0f, 1);
    tensor_file_add(&file, "a.input_global_scale", "F32", "[]", eight, 4);
    add_nvfp4(&file, "b.weight", packed, 3.0f, 3);
    tensor_file_add(&file, "b.input_global_scale", "F32", "[1]", four, 4);
    tensor_file_write(&file, NULL, in_folder("f.safetensors"));
    convert_recipe(in_folder("f.safetensors"), in_folder("a.ninfer"), recipe);
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(
        qp_json_equals(member_at(root, "uses>#1>auxiliaries>activation_input_divisor>object"),
                       "auxiliary/000001")); /* never shared */
    assert_true(value_at(in_folder("a.ninfer"), "auxiliary/000000", 0, 0) == 4.0f);

    qp_error error;
    qp_convert_options options = {.recipe = recipe, .recipe_size = strlen(recipe)};
    tensor_file_init(&file);
    add_nvfp4(&file, "a.weight", packed, 3.0f, 1);
    add_nvfp4(&file, "b.weight", packed, 3.0f, 3);
    tensor_file_write(&file, NULL, in_folder("g.safetensors"));
    assert_int_equal(
        convert_with(in_folder("g.safetensors"), in_folder("b.ninfer"), &options, &error),
        QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, "activation_input_divisor"));
    folder_remove();
}

/* ---- kinds that cannot hold a format ----------------------------------------------------------
 */

static void test_formats_refused(void **state)
{
    (void)state;
    qp_error error;
    qp_convert_options options = {.preset = "q4_g64_fp16"};
    folder_make("test_convert_holds");
    assert_int_equal(convert_with(STORIES, in_folder("a.gguf"), &options, &error),
                     QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "container_format");
    assert_non_null(strstr(error.message, "layers.0.attention.wk.weight"));
    assert_non_null(strstr(error.message, "q4_g64_fp16"));
    assert_int_equal(convert_with(STORIES, in_folder("a.safetensors"), &options, &error),
                     QP_MODEL_MISMATCH);
    options.preset = NULL;
    assert_int_equal(convert_with(STORIES_Q4, in_folder("a.safetensors"), &options, &error),
                     QP_MODEL_MISMATCH);
    options.preset = "*=bf16";
    assert_int_equal(convert_with(STORIES_Q4, in_folder("a.safetensors"), &options, &error), QP_OK);
    options.preset = NULL;
    assert_int_equal(convert_with(STORIES, in_folder("a.bin"), &options, &error),
                     QP_INVALID_ARGUMENT);
    options.container = qp_artifact_kind_find("gguf");
    assert_int_equal(convert_with(STORIES, in_folder("a.bin"), &options, &error), QP_OK);
    assert_verifies(in_folder("a.bin"));
    options.recipe = "[{\"group\": \"*\"}]";
    options.recipe_size = strlen(options.recipe);
    assert_int_equal(convert_with(STORIES, in_folder("a.bin"), &options, &error), QP_MALFORMED);
    assert_int_equal(folder_count(), 2);
    folder_remove();
}

static void test_lost(void **state)
{
    (void)state;
    size_t count;
    qp_convert_plan *plan;
    qp_convert_options options = {.replace = true};
    folder_make("test_convert_lost");
    write_layer(in_folder("s.safetensors"));
    qp_artifact *source = opened(QP_TEST_DATA "/ninfer/a-single.ninfer");
    options.preset = "*=bf16";
    assert_int_equal(qp_convert_plan_make(source, in_folder("a.gguf"), &options, &plan, NULL),
                     QP_OK);
    const char *const *lost = qp_convert_plan_lost(plan, &count);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || strcmp(lost[i], "r/tokenizer") == 0;
    assert_true(found);
    qp_convert_plan_free(plan);
    options.preset = NULL;
    assert_int_equal(qp_convert_plan_make(source, in_folder("a.ninfer"), &options, &plan, NULL),
                     QP_OK);
    (void)qp_convert_plan_lost(plan, &count);
    assert_int_equal(count, 0);
    qp_convert_plan_free(plan);
    qp_artifact_close(source);
    folder_remove();
}

/* ---- continuation files ---------------------------------------------------------------------- */

static void test_continuations(void **state)
{
    (void)state;
    qp_convert_options options = {.max_file_bytes = 65536};
    qp_error error;
    folder_make("test_convert_split");
    assert_int_equal(convert_with(STORIES, in_folder("a.ninfer"), &options, &error), QP_OK);
    assert_true(folder_count() > 5);
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_int_equal(qp_json_count(member_at(root, "files")), folder_count());
    assert_true(qp_json_equals(member_at(root, "files>#1>path"), "a.ninfer.part-0001"));
    qp_file part = whole_file(in_folder("a.ninfer.part-0001"));
    assert_int_equal(part.size, 65536);
    qp_file_close(&part);
    assert_verifies(in_folder("a.ninfer"));
    assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(STORIES));
    convert(in_folder("a.ninfer"), in_folder("b.ninfer"), NULL);
    assert_string_equal(digest_of(in_folder("b.ninfer")), digest_of(STORIES));

    options.max_file_bytes = 8192;
    assert_int_equal(convert_with(STORIES, in_folder("c.ninfer"), &options, &error),
                     QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "W-LIMIT");
    options.max_file_bytes = 1 << 24; /* more than enough: one file */
    assert_int_equal(convert_with(STORIES, in_folder("d.ninfer"), &options, &error), QP_OK);
    assert_false(file_exists(in_folder("d.ninfer.part-0001")));
    folder_remove();
}

/* Shards hold whole tensors, those of one matrix together; the first has the metadata. */
static void test_shards(void **state)
{
    (void)state;
    qp_convert_options options = {.max_file_bytes = 12288};
    qp_error error;
    tensor_file file;
    folder_make("test_convert_shards");
    tensor_file_init(&file);
    tensor_file_random(&file, "a", "F32", "[2,1000]", 2000, 1);
    add_nvfp4(&file, "p.weight", packed, 3.0f, 1);
    tensor_file_random(&file, "z", "BF16", "[3]", 3, 2);
    tensor_file_write(&file, "\"format\":\"pt\",\"note\":\"x\"", in_folder("f.safetensors"));
    const char *digest = digest_of(in_folder("f.safetensors"));
    assert_int_equal(
        convert_with(in_folder("f.safetensors"), in_folder("b.safetensors"), &options, &error),
        QP_OK);
    assert_int_equal(folder_count(), 4);
    assert_true(file_exists(in_folder("b-00001-of-00002.safetensors")));
    assert_string_equal(digest_of(in_folder("b.safetensors.index.json")), digest);
    assert_verifies(in_folder("b.safetensors.index.json"));
    qp_artifact *artifact = opened(in_folder("b-00001-of-00002.safetensors"));
    assert_non_null(qp_artifact_find(artifact, "a"));
    assert_null(qp_artifact_find(artifact, "p.weight_packed"));
    assert_non_null(qp_artifact_metadata_find(artifact, "note"));
    qp_artifact_close(artifact);
    artifact = opened(in_folder("b-00002-of-00002.safetensors"));
    static const char *const names[] = {"p.weight_packed", "p.weight_scale",
                                        "p.weight_global_scale", "z"};
    for (size_t i = 0; i < TEST_COUNT(names); i++)
        assert_non_null(qp_artifact_find(artifact, names[i]));
    assert_null(qp_artifact_metadata_find(artifact, "note"));
    assert_non_null(qp_artifact_metadata_find(artifact, "format"));
    qp_artifact_close(artifact);

    /* one file and back: the same bytes as without shards */
    convert(in_folder("b.safetensors.index.json"), in_folder("c.safetensors"), NULL);
    convert(in_folder("f.safetensors"), in_folder("d.safetensors"), NULL);
    assert_same_files(in_folder("c.safetensors"), in_folder("d.safetensors"));
    options.max_file_bytes = 9000;
    assert_int_equal(
        convert_with(in_folder("f.safetensors"), in_folder("e.safetensors"), &options, &error),
        QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "W-LIMIT");
    assert_non_null(strstr(error.message, "p.weight"));
    folder_remove();
}

/* The worked split of section 6: the segments of a-sharded from its limit and its payload. */
static void test_worked_split(void **state)
{
    (void)state;
    static const uint64_t segments[] = {4096, 8192, 3088};
    qp_convert_options options = {.max_file_bytes = 12288};
    folder_make("test_convert_worked");
    /* the same payload, and a directory of more than one page and less than two */
    copy_file(QP_TEST_DATA "/ninfer/a-single.ninfer", in_folder("s.ninfer"));
    qp_error error;
    assert_int_equal(convert_with(in_folder("s.ninfer"), in_folder("a.ninfer"), &options, &error),
                     QP_OK);
    qp_artifact *artifact = opened(in_folder("a.ninfer"));
    size_t size;
    (void)qp_artifact_directory(artifact, &size);
    assert_int_equal((size + 32) % 4096, 0);
    uint64_t entry = (12288 - (size + 32)) / 4096 * 4096;
    qp_json_value files = member_at(directory_of(in_folder("a.ninfer")), "files");
    uint64_t bytes;
    assert_int_equal(qp_json_get_u64(member_at(files, "#0>payload_bytes"), &bytes, NULL), QP_OK);
    assert_int_equal(bytes, entry);
    assert_int_equal(qp_json_get_u64(member_at(files, "#1>payload_bytes"), &bytes, NULL), QP_OK);
    assert_int_equal(bytes, segments[1]);
    qp_artifact_close(artifact);
    folder_remove();
}

/* ---- fixtures -------------------------------------------------------------------------------- */

static void test_fixtures(void **state)
{
    (void)state;
    static const char *const files[] = {
        QP_TEST_DATA "/ninfer/a-single.ninfer", QP_TEST_DATA "/ninfer/a-sharded.ninfer",
        QP_TEST_DATA "/ninfer/a-tiny-base.ninfer", QP_TEST_DATA "/ggml/a-small.gguf",
        QP_TEST_DATA "/ggml/a-version2.gguf"};
    folder_make("test_convert_fixtures");
    for (size_t i = 0; i < TEST_COUNT(files); i++) {
        convert(files[i], in_folder("a.ninfer"), NULL);
        assert_verifies(in_folder("a.ninfer"));
        convert(in_folder("a.ninfer"), in_folder("b.ninfer"), NULL);
        assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(in_folder("b.ninfer")));
        if (strstr(files[i], ".ninfer") != NULL)
            assert_string_equal(digest_of(in_folder("a.ninfer")), digest_of(files[i]));
    }
    folder_remove();
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void test_provenance(void **state)
{
    (void)state;
    folder_make("test_convert_provenance");
    convert(STORIES, in_folder("a.ninfer"), "q4_g64_fp16");
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(qp_json_equals(member_at(root, "provenance>converter"), "quipu"));
    assert_true(qp_json_equals(member_at(root, "provenance>preset"), "q4_g64_fp16"));
    assert_true(qp_json_equals(member_at(root, "provenance>method>#0>method"), "grouped_absmax"));
    assert_true(
        qp_json_equals(member_at(root, "provenance>sources>stories260k-bf16.safetensors>path"),
                       "stories260k-bf16.safetensors"));

    /* where a file comes from is no part of it */
    copy_file(STORIES, in_folder("stories260k-bf16.safetensors"));
    convert(in_folder("stories260k-bf16.safetensors"), in_folder("b.ninfer"), "q4_g64_fp16");
    assert_same_files(in_folder("a.ninfer"), in_folder("b.ninfer"));

    /* what was computed is told by files that have no provenance of their own, and comes back */
    convert(STORIES, in_folder("c.gguf"), "gguf_q8_0");
    convert(in_folder("c.gguf"), in_folder("d.gguf"), NULL);
    assert_same_files(in_folder("c.gguf"), in_folder("d.gguf"));
    convert(in_folder("c.gguf"), in_folder("d.ninfer"), NULL);
    root = directory_of(in_folder("d.ninfer"));
    assert_true(qp_json_equals(
        member_at(root, "provenance>sources>c.gguf>provenance>method>#0>method"), "gguf_search"));
    convert(in_folder("a.ninfer"), in_folder("e.ninfer"), "*=bf16");
    root = directory_of(in_folder("e.ninfer"));
    assert_true(qp_json_equals(member_at(root, "provenance>sources>a.ninfer>provenance>preset"),
                               "q4_g64_fp16"));
    folder_remove();
}

/* ---- a program's own method ------------------------------------------------------------------ */

static bool targets_q4(const qp_format *format)
{
    return strcmp(format->name, "q4_g64_fp16") == 0;
}

/* Codes of 3 and scales of 1, or in row 5 an illegal scale. */
static qp_status encode_threes(const qp_method_job *job, const qp_method_rows *rows,
                               qp_error *error)
{
    const bool *breaks = job->method->context;
    (void)error;
    memset(rows->words.codes, 3, (size_t)(rows->count * job->target->code_row_bytes));
    for (uint64_t i = 0; i < rows->count * job->target->scale_row_bytes / 2; i++) {
        rows->words.scales[2 * i] = 0;
        rows->words.scales[2 * i + 1] = 0x3C;
    }
    if (*breaks && rows->first <= 5 && 5 < rows->first + rows->count)
        rows->words.scales[(5 - rows->first) * job->target->scale_row_bytes + 1] = 0x80;
    return QP_OK;
}

static void test_own_method(void **state)
{
    (void)state;
    bool breaks = false;
    qp_method threes = {.name = "threes",
                        .summary = "all three",
                        .input = QP_INPUT_VALUES,
                        .targets = targets_q4,
                        .encode = encode_threes,
                        .context = &breaks};
    const qp_method *methods[] = {&threes};
    static const char recipe[] =
        "[{\"assign\": \"embed\", \"format\": \"q4_g64_fp16\", \"method\": \"threes\"}]";
    qp_convert_options options = {.recipe = recipe, .recipe_size = sizeof recipe - 1};
    qp_error error;
    folder_make("test_convert_own");
    write_layer(in_folder("s.safetensors"));
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, &error),
        QP_MALFORMED);
    options.methods = methods;
    options.n_methods = 1;
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, &error), QP_OK);
    assert_true(value_at(in_folder("a.ninfer"), "weight/000003", 7, 63) == 3.0f);
    qp_json_value root = directory_of(in_folder("a.ninfer"));
    assert_true(qp_json_equals(member_at(root, "provenance>method>#1>method"), "threes"));

    breaks = true; /* it is held to the format's rules like everyone */
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("b.ninfer"), &options, &error),
        QP_FIELD_RANGE);
    assert_string_equal(error.check, "scale_invalid");
    assert_int_equal(error.row, 5);
    assert_non_null(strstr(error.message, "embed"));
    assert_false(file_exists(in_folder("b.ninfer")));
    folder_remove();
}

/* ---- failure --------------------------------------------------------------------------------- */

/* A value that the method refuses is named by its parameter, row and column. */
static void test_refused_value(void **state)
{
    (void)state;
    float values[4 * 64] = {0};
    qp_error error;
    qp_convert_options options = {.preset = "q4_g64_fp16", .threads = 3, .rows_per_chunk = 1};
    tensor_file file;
    folder_make("test_convert_value");
    values[2 * 64 + 5] = NAN;
    values[3 * 64 + 1] = INFINITY;
    tensor_file_init(&file);
    tensor_file_random(&file, "good", "F32", "[3,64]", 192, 1);
    tensor_file_add(&file, "bad", "F32", "[4,64]", values, sizeof values);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    assert_int_equal(
        convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, &error),
        QP_FIELD_RANGE);
    assert_string_equal(error.check, "source_not_finite");
    assert_int_equal(error.row, 2);
    assert_int_equal(error.column, 5);
    assert_non_null(strstr(error.message, "bad"));
    assert_int_equal(folder_count(), 1);
    folder_remove();
}

static bool stop_at_once(void *context, uint64_t done, uint64_t total)
{
    uint64_t *calls = context;
    (void)done;
    (void)total;
    return ++*calls < 3;
}

static void test_stopped(void **state)
{
    (void)state;
    uint64_t calls = 0;
    qp_convert_options options = {.progress = stop_at_once, .progress_context = &calls};
    folder_make("test_convert_stopped");
    write_file(in_folder("a.ninfer"), "old", 3);
    assert_int_equal(convert_with(STORIES, in_folder("a.ninfer"), &options, NULL), QP_IO);
    assert_int_equal(calls, 3);
    assert_int_equal(folder_count(), 1); /* the old one */
    qp_file file = whole_file(in_folder("a.ninfer"));
    assert_int_equal(file.size, 3);
    qp_file_close(&file);
    folder_remove();
}

typedef struct progress {
    uint64_t done, total, calls;
} progress;

static bool watch(void *context, uint64_t done, uint64_t total)
{
    progress *p = context;
    assert_true(done >= p->done && done <= total);
    p->done = done;
    p->total = total;
    p->calls++;
    return true;
}

static void test_progress(void **state)
{
    (void)state;
    progress p = {0};
    qp_convert_options options = {
        .progress = watch, .progress_context = &p, .threads = 3, .rows_per_chunk = 16};
    folder_make("test_convert_progress");
    assert_int_equal(convert_with(STORIES, in_folder("a.ninfer"), &options, NULL), QP_OK);
    assert_int_equal(p.done, p.total);
    assert_int_equal(p.total, 520064);
    assert_true(p.calls >= 1); /* from this thread alone, and the others may do most of the work */
    folder_remove();
}

/* A disk that is full at the n-th write. */
typedef struct full_disk {
    qp_sink inner;
    size_t writes, full_at;
} full_disk;

static qp_status write_until_full(void *context, size_t file, uint64_t offset, const void *bytes,
                                  size_t size, qp_error *error)
{
    full_disk *disk = context;
    if (++disk->writes >= disk->full_at)
        return qp_fail(error, QP_IO, "cannot write: no space left");
    return disk->inner.write_at(disk->inner.context, file, offset, bytes, size, error);
}

static qp_sink put_disk(void *context, qp_sink inner)
{
    full_disk *disk = context;
    disk->inner = inner;
    return (qp_sink){write_until_full, disk};
}

static void test_full_disk(void **state)
{
    (void)state;
    static const char *const targets[] = {"a.ninfer", "a.gguf", "a.safetensors",
                                          "a.safetensors.index.json"};
    folder_make("test_convert_disk");
    write_mixed(in_folder("m.safetensors"));
    for (size_t t = 0; t < TEST_COUNT(targets); t++) {
        qp_status status = QP_IO;
        for (size_t k = 1; status != QP_OK; k++) {
            full_disk disk = {.full_at = k};
            qp_convert_options options = {.max_file_bytes = t == 0 ? 12288 : 0};
            qp_convert_plan *plan;
            qp_artifact *source = opened(in_folder("m.safetensors"));
            assert_int_equal(
                qp_convert_plan_make(source, in_folder(targets[t]), &options, &plan, NULL), QP_OK);
            status = qp_convert_run_wrapped(plan, put_disk, &disk, NULL);
            qp_convert_plan_free(plan);
            qp_artifact_close(source);
            if (status != QP_OK)
                assert_int_equal(folder_count(), 1);
            assert_true(k < 100);
        }
        folder_remove();
        folder_make("test_convert_disk");
        write_mixed(in_folder("m.safetensors"));
    }
    folder_remove();
}

/* Every allocation fails once. */
static void starve(const char *source, const char *to, const qp_convert_options *wanted)
{
    char from[256];
    snprintf(from, sizeof from, "%s", source);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_convert_options options = *wanted;
        options.allocator = &allocator;
        size_t before = folder_count();
        qp_status status = convert_with(from, in_folder(to), &options, NULL);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed) {
            assert_int_equal(status, QP_OK);
            break;
        }
        assert_int_equal(status, QP_NO_MEMORY);
        assert_int_equal(folder_count(), before);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    static const char recipe[] =
        "[{\"assign\": \"l.*\", \"format\": \"q6_g64_fp16\"},"
        " {\"group\": [\"l.q\", \"l.k\", \"l.v\"]},"
        " {\"assign\": \"embed\", \"rows\": [1, 2], \"format\": \"fp32\"},"
        " {\"use\": \"l.q\", \"input\": \"x\", \"auxiliaries\": {\"a\": [1, 2]}}]";
    qp_convert_options plain = {.threads = 1};
    qp_convert_options with_recipe = {.recipe = recipe, .recipe_size = sizeof recipe - 1};
    folder_make("test_convert_memory");
    write_layer(in_folder("s.safetensors"));
    starve(in_folder("s.safetensors"), "a.ninfer", &with_recipe);
    starve(in_folder("a.ninfer"), "b.ninfer", &plain);
    starve(QP_TEST_DATA "/ggml/a-small.gguf", "c.ninfer", &plain);
    starve(in_folder("c.ninfer"), "d.gguf", &plain);
    tensor_file file;
    tensor_file_init(&file);
    add_nvfp4(&file, "p.weight", packed, 3.0f, 1);
    tensor_file_write(&file, "\"a\":\"b\"", in_folder("f.safetensors"));
    starve(in_folder("f.safetensors"), "e.safetensors", &plain);
    starve(in_folder("f.safetensors"), "g.safetensors.index.json", &plain);
    folder_remove();
}

/* Memory does not grow with the file. */
static void test_high_water(void **state)
{
    (void)state;
    size_t marks[2];
    folder_make("test_convert_water");
    for (size_t k = 0; k < 2; k++) {
        failing_allocator memory = failing_allocator_make(0);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_convert_options options = {.allocator = &allocator, .preset = "q4_g64_fp16"};
        size_t rows = k == 0 ? 4096 : 16384;
        char shape[32];
        tensor_file file;
        snprintf(shape, sizeof shape, "[%zu,256]", rows);
        tensor_file_init(&file);
        tensor_file_random(&file, "w", "F32", shape, rows * 256, 1);
        tensor_file_write(&file, NULL, in_folder("s.safetensors"));
        assert_int_equal(
            convert_with(in_folder("s.safetensors"), in_folder("a.ninfer"), &options, NULL), QP_OK);
        marks[k] = memory.high_water;
    }
    assert_int_equal(marks[0], marks[1]);
    assert_true(marks[0] < (size_t)4 << 20);
    folder_remove();
}

/* ---- odd files ------------------------------------------------------------------------------- */

static void test_empty_tensors(void **state)
{
    (void)state;
    size_t count;
    tensor_file file;
    qp_convert_plan *plan;
    qp_convert_options options = {.replace = true};
    folder_make("test_convert_empty");
    tensor_file_init(&file);
    tensor_file_add(&file, "nothing", "F32", "[0,4]", "", 0);
    tensor_file_random(&file, "w", "F32", "[4]", 4, 1);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    qp_artifact *source = opened(in_folder("s.safetensors"));
    assert_int_equal(qp_convert_plan_make(source, in_folder("a.ninfer"), &options, &plan, NULL),
                     QP_OK);
    const char *const *lost = qp_convert_plan_lost(plan, &count);
    assert_int_equal(count, 1);
    assert_string_equal(lost[0], "nothing");
    assert_int_equal(qp_convert_run(plan, NULL), QP_OK);
    qp_convert_plan_free(plan);
    qp_artifact_close(source);

    tensor_file_init(&file);
    tensor_file_write(&file, "\"a\":\"b\"", in_folder("e.safetensors"));
    convert(in_folder("e.safetensors"), in_folder("e.gguf"), NULL);
    assert_verifies(in_folder("e.gguf"));
    convert(in_folder("e.gguf"), in_folder("f.safetensors"), NULL);
    qp_error error;
    assert_int_equal(convert_with(in_folder("e.gguf"), in_folder("e.ninfer"), &options, &error),
                     QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "C-OBJECTS");
    folder_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_keep_words),
        cmocka_unit_test(test_gguf_comes_back_byte_for_byte),
        cmocka_unit_test(test_every_format_of_gguf),
        cmocka_unit_test(test_metadata_of_all_types),
        cmocka_unit_test(test_mixed_elements),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_importance),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_row_too_long),
        cmocka_unit_test(test_row_fp8),
        cmocka_unit_test(test_block_fp8),
        cmocka_unit_test(test_nvfp4),
        cmocka_unit_test(test_nvfp4_groups),
        cmocka_unit_test(test_nvfp4_values),
        cmocka_unit_test(test_recipe_of_all_verbs),
        cmocka_unit_test(test_recipe_refusals),
        cmocka_unit_test(test_second_source),
        cmocka_unit_test(test_activation_divisor),
        cmocka_unit_test(test_formats_refused),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_continuations),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_worked_split),
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_provenance),
        cmocka_unit_test(test_own_method),
        cmocka_unit_test(test_refused_value),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_high_water),
        cmocka_unit_test(test_empty_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
