/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hash.c - digests of tensors and of whole files against preimages put together here.
 */
#include "quipu/convert.h"

#include "../failing_allocator.h"
#include "support/convert_files.h"

static void number(qp_buffer *out, uint64_t value)
{
    qp_buffer_le(out, value, 8);
}

/* Name, zero byte, rank, dimensions: what stands before the words. */
static void begin(qp_buffer *out, const char *name, uint64_t rank, const uint64_t *shape)
{
    qp_buffer_init(out, NULL);
    qp_buffer_append(out, name, strlen(name) + 1);
    number(out, rank);
    for (uint64_t i = 0; i < rank; i++)
        number(out, shape[i]);
}

static void finish(qp_buffer *preimage, uint8_t digest[QP_SHA256_SIZE])
{
    qp_sha256 hash;
    assert_false(preimage->failed);
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, preimage->bytes, preimage->size);
    qp_sha256_final(&hash, digest);
    qp_buffer_free(preimage);
}

static void assert_tensor(const char *path, const char *name, qp_buffer *preimage)
{
    uint8_t expected[QP_SHA256_SIZE], digest[QP_SHA256_SIZE];
    qp_artifact *artifact = opened(path);
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, name);
    assert_non_null(tensor);
    assert_int_equal(qp_artifact_tensor_hash(artifact, tensor, digest, NULL), QP_OK);
    finish(preimage, expected);
    assert_memory_equal(digest, expected, sizeof digest);
    qp_artifact_close(artifact);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void test_direct(void **state)
{
    (void)state;
    static const uint8_t words[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const uint64_t shape[] = {2, 3};
    static const struct {
        const char *dtype, *name;
        size_t bytes;
    } cases[] = {{"BF16", "bf16", 2}, {"F16", "fp16", 2},        {"U8", "u8", 1},
                 {"I16", "i16", 2},   {"F8_E5M2", "f8_e5m2", 1}, {"BOOL", "bool", 1}};
    folder_make("test_hash_direct");
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        tensor_file file;
        qp_buffer preimage;
        tensor_file_init(&file);
        tensor_file_add(&file, "x", cases[i].dtype, "[2,3]", words, 6 * cases[i].bytes);
        tensor_file_write(&file, NULL, in_folder("a.safetensors"));
        begin(&preimage, cases[i].name, 2, shape);
        qp_buffer_append(&preimage, words, 6 * cases[i].bytes);
        assert_tensor(in_folder("a.safetensors"), "x", &preimage);
    }
    folder_remove();
}

static void test_scalar_and_empty(void **state)
{
    (void)state;
    static const uint8_t word[4] = {1, 2, 3, 4};
    tensor_file file;
    qp_buffer preimage;
    folder_make("test_hash_scalar");
    tensor_file_init(&file);
    tensor_file_add(&file, "s", "F32", "[]", word, 4);
    tensor_file_add(&file, "e", "F32", "[0,2]", word, 0);
    tensor_file_write(&file, NULL, in_folder("a.safetensors"));
    begin(&preimage, "fp32", 0, NULL);
    qp_buffer_append(&preimage, word, 4);
    assert_tensor(in_folder("a.safetensors"), "s", &preimage);
    static const uint64_t shape[] = {0, 2};
    begin(&preimage, "fp32", 2, shape);
    assert_tensor(in_folder("a.safetensors"), "e", &preimage);
    folder_remove();
}

/* Grouped codes are a signed byte each, whatever bits they are stored in; scales follow. */
static void test_grouped(void **state)
{
    (void)state;
    static const uint64_t shape[] = {2, 130};
    static float values[2 * 130];
    qp_buffer preimage, bytes;
    tensor_file file;
    folder_make("test_hash_grouped");
    qp_buffer_init(&bytes, NULL);
    for (size_t i = 0; i < 2 * 130; i++) { /* scales of 1: the group's maximum is 7 */
        values[i] = (float)((int)(i % 15) - 7);
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        qp_buffer_le(&bytes, bits, 4);
    }
    tensor_file_init(&file);
    tensor_file_add(&file, "w", "F32", "[2,130]", bytes.bytes, bytes.size);
    qp_buffer_free(&bytes);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "q4_g64_fp16");
    begin(&preimage, "q4_g64_fp16", 2, shape);
    qp_matrix matrix;
    qp_artifact *artifact = opened(in_folder("a.ninfer"));
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, "weight/000000");
    assert_int_equal(qp_artifact_matrix(artifact, tensor, &matrix, NULL), QP_OK);
    uint8_t codes[260], scales[64];
    assert_int_equal(matrix.code_row_bytes, 130);
    qp_word_planes planes = {codes, scales, NULL};
    assert_int_equal(qp_artifact_words(artifact, tensor, 0, 2, &planes, NULL), QP_OK);
    for (size_t i = 0; i < 128; i++) /* groups that hold a 7 or -7 and so have the scale 1 */
        assert_int_equal((int8_t)codes[i], (int)values[i]);
    qp_buffer_append(&preimage, codes, 260);
    qp_buffer_append(&preimage, scales, 2 * matrix.scale_row_bytes);
    qp_artifact_close(artifact);
    assert_tensor(in_folder("a.ninfer"), "weight/000000", &preimage);
    folder_remove();
}

static void test_blocks(void **state)
{
    (void)state;
    qp_buffer preimage;
    uint64_t shape[QP_SHAPE_RANK_MAX];
    folder_make("test_hash_blocks");
    qp_artifact *artifact = opened(QP_TEST_DATA "/weights/stories260k-q4_0.gguf");
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, "token_embd.weight");
    memcpy(shape, tensor->shape, sizeof shape);
    begin(&preimage, "gguf_q4_0", tensor->rank, shape);
    uint8_t *bytes = malloc((size_t)tensor->bytes);
    assert_int_equal(qp_artifact_read(artifact, tensor, 0, tensor->bytes, bytes, NULL), QP_OK);
    qp_buffer_append(&preimage, bytes, (size_t)tensor->bytes);
    free(bytes);
    qp_artifact_close(artifact);
    assert_tensor(QP_TEST_DATA "/weights/stories260k-q4_0.gguf", "token_embd.weight", &preimage);
    folder_remove();
}

/* ---- whole files ----------------------------------------------------------------------------- */

static void test_whole(void **state)
{
    (void)state;
    static const uint8_t words[] = {1, 2, 3, 4};
    static const uint64_t two[] = {2};
    uint8_t each[2][QP_SHA256_SIZE], expected[QP_SHA256_SIZE], digest[QP_SHA256_SIZE];
    tensor_file file;
    qp_buffer preimage;
    folder_make("test_hash_whole");
    tensor_file_init(&file);
    tensor_file_add(&file, "b", "BF16", "[2]", words, 4);
    tensor_file_add(&file, "a", "BF16", "[1]", words, 2);
    tensor_file_write(&file, "\"x\":\"y\"", in_folder("a.safetensors"));
    begin(&preimage, "bf16", 1, (const uint64_t[]){1});
    qp_buffer_append(&preimage, words, 2);
    finish(&preimage, each[0]);
    begin(&preimage, "bf16", 1, two);
    qp_buffer_append(&preimage, words, 4);
    finish(&preimage, each[1]);
    qp_buffer_init(&preimage, NULL);
    qp_buffer_append(&preimage, "a", 2);
    qp_buffer_append(&preimage, each[0], QP_SHA256_SIZE);
    qp_buffer_append(&preimage, "b", 2);
    qp_buffer_append(&preimage, each[1], QP_SHA256_SIZE);
    finish(&preimage, expected);

    qp_artifact *artifact = opened(in_folder("a.safetensors"));
    assert_int_equal(qp_artifact_hash(artifact, digest, NULL), QP_OK);
    assert_memory_equal(digest, expected, sizeof digest);
    qp_artifact_digests *digests;
    assert_int_equal(qp_artifact_digests_make(artifact, NULL, 2, &digests, NULL), QP_OK);
    assert_int_equal(qp_artifact_digests_count(digests), 2);
    assert_string_equal(qp_artifact_digests_name(digests, 0), "a");
    assert_memory_equal(qp_artifact_digests_at(digests, 0), each[0], QP_SHA256_SIZE);
    assert_string_equal(qp_artifact_digests_name(digests, 1), "b");
    assert_memory_equal(qp_artifact_digests_at(digests, 1), each[1], QP_SHA256_SIZE);
    assert_memory_equal(qp_artifact_digests_whole(digests), expected, QP_SHA256_SIZE);
    qp_artifact_digests_free(digests);
    qp_artifact_digests_free(NULL);
    qp_artifact_close(artifact);
    folder_remove();
}

/* A long row is hashed in pieces: the plane's bytes are the same. */
static void test_long_rows(void **state)
{
    (void)state;
    qp_buffer preimage;
    static const uint64_t shape[] = {2, 300033};
    tensor_file file;
    folder_make("test_hash_long");
    tensor_file_init(&file);
    tensor_file_random(&file, "w", "F32", "[2,300033]", 2 * 300033, 4);
    tensor_file_write(&file, NULL, in_folder("s.safetensors"));
    convert(in_folder("s.safetensors"), in_folder("a.ninfer"), "q5_g64_fp16");
    qp_artifact *artifact = opened(in_folder("a.ninfer"));
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, "weight/000000");
    qp_matrix matrix;
    assert_int_equal(qp_artifact_matrix(artifact, tensor, &matrix, NULL), QP_OK);
    size_t codes = (size_t)(2 * matrix.code_row_bytes),
           scales = (size_t)(2 * matrix.scale_row_bytes);
    qp_word_planes planes = {malloc(codes), malloc(scales), NULL};
    assert_int_equal(qp_artifact_words(artifact, tensor, 0, 2, &planes, NULL), QP_OK);
    begin(&preimage, "q5_g64_fp16", 2, shape);
    qp_buffer_append(&preimage, planes.codes, codes);
    qp_buffer_append(&preimage, planes.scales, scales);
    free(planes.codes);
    free(planes.scales);
    qp_artifact_close(artifact);
    assert_tensor(in_folder("a.ninfer"), "weight/000000", &preimage);
    folder_remove();
}

static void test_unreadable(void **state)
{
    (void)state;
    uint8_t digest[QP_SHA256_SIZE];
    qp_error error;
    qp_artifact *artifact = opened(QP_TEST_DATA "/weights/all-types.gguf");
    assert_int_equal(qp_artifact_hash(artifact, digest, &error), QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "G-UNREADABLE");
    assert_non_null(strstr(error.message, "w.q4_1"));
    assert_int_equal(
        qp_artifact_tensor_hash(artifact, qp_artifact_find(artifact, "w.q4_1"), digest, &error),
        QP_MODEL_MISMATCH);
    assert_string_equal(error.check, "G-UNREADABLE");
    assert_int_equal(
        qp_artifact_tensor_hash(artifact, qp_artifact_find(artifact, "w.q4_0"), digest, &error),
        QP_OK);
    assert_int_equal(qp_artifact_verify(artifact, 1, &error), QP_OK);
    qp_artifact_close(artifact);
}

static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        uint8_t digest[QP_SHA256_SIZE];
        qp_status status =
            qp_artifact_open(QP_TEST_DATA "/ninfer/a-single.ninfer", &allocator, &artifact, NULL);
        if (status == QP_OK)
            status = qp_artifact_hash(artifact, digest, NULL);
        if (status == QP_OK)
            status = qp_artifact_tensor_hash(artifact, qp_artifact_tensors(artifact, &(size_t){0}),
                                             digest, NULL);
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
        cmocka_unit_test(test_direct),     cmocka_unit_test(test_scalar_and_empty),
        cmocka_unit_test(test_grouped),    cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_whole),      cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
