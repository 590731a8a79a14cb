/* SPDX-License-Identifier: Apache-2.0 */
#include "support/weight_files.h"

#include "../failing_allocator.h"

#include <stdio.h>

/* ---- fixtures ------------------------------------------------------------------------------- */

qp_file fixture_open_path(const char *folder, const char *name)
{
    char path[512];
    qp_file file;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
    return file;
}

void fixture_index_open_path(fixture_index *index, const char *folder)
{
    index->file = fixture_open_path(folder, "index.json");
    qp_json_init(&index->json, NULL);
    assert_int_equal(qp_json_parse(&index->json, index->file.bytes, index->file.size, NULL), QP_OK);
    index->root = qp_json_root(&index->json);
}

void fixture_index_close(fixture_index *index)
{
    qp_json_free(&index->json);
    qp_file_close(&index->file);
}

const char *fixture_text(qp_json_value record, const char *name, unsigned slot)
{
    static char texts[4][1024];
    qp_json_value value;
    if (!qp_json_find(record, name, &value) || qp_json_kind_of(value) != QP_JSON_STRING)
        return NULL;
    assert_int_equal(qp_json_copy_string(value, texts[slot], sizeof texts[slot], NULL), QP_OK);
    return texts[slot];
}

uint64_t fixture_u64(qp_json_value record, const char *name)
{
    qp_json_value value;
    uint64_t number = 0;
    assert_true(qp_json_find(record, name, &value));
    assert_int_equal(qp_json_get_u64(value, &number, NULL), QP_OK);
    return number;
}

void assert_fixture_digest(qp_json_value record, const char *name, const uint8_t *bytes,
                           size_t size)
{
    qp_sha256 hash;
    uint8_t digest[QP_SHA256_SIZE];
    char text[QP_SHA256_HEX_SIZE];

    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    const char *expected = fixture_text(record, name, 3);
    assert_non_null(expected);
    assert_string_equal(text, expected);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* In a block of exactly that size, so that a sanitizer sees a read beyond it. */
static uint8_t *exact_copy(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

static qp_error refuse(const char *name, const uint8_t *bytes, size_t size)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_artifact *artifact;
    qp_error error = {0};
    uint8_t *copy = exact_copy(bytes, size);

    qp_status status = qp_artifact_open_bytes(name, copy, size, &allocator, &artifact, &error);
    assert_int_not_equal(status, QP_OK);
    assert_null(artifact);
    assert_int_equal(status, error.status);
    assert_int_not_equal(status, QP_NO_MEMORY);
    assert_int_not_equal(status, QP_INTERNAL);
    assert_true(error.message[0] != '\0');
    assert_in_range((uintmax_t)error.offset, 0, size);
    assert_true(memory.high_water < HOSTILE_MEMORY);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.has_fault);
    free(copy);
    return error;
}

void assert_open_refused(const char *name, const uint8_t *bytes, size_t size, const char *check)
{
    qp_error error = refuse(name, bytes, size);
    if (error.check == NULL || strcmp(error.check, check) != 0)
        print_error("%s: %s\n", check, error.message);
    assert_non_null(error.check);
    assert_string_equal(error.check, check);
}

void assert_open_refused_at(const char *name, const uint8_t *bytes, size_t size, const char *check,
                            int64_t offset)
{
    assert_open_refused(name, bytes, size, check);
    assert_int_equal(refuse(name, bytes, size).offset, offset);
}

qp_artifact *open_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    qp_artifact *artifact;
    qp_error error = {0};
    qp_status status = qp_artifact_open_bytes(name, bytes, size, NULL, &artifact, &error);
    if (status != QP_OK)
        print_error("%s: %s\n", error.check != NULL ? error.check : "", error.message);
    assert_int_equal(status, QP_OK);
    assert_non_null(artifact);
    return artifact;
}

void assert_open_survives(const char *name, const uint8_t *bytes, size_t size)
{
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_artifact *artifact;
        qp_error error = {0};
        qp_status status = qp_artifact_open_bytes(name, bytes, size, &allocator, &artifact, &error);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        assert_int_equal(error.status, status);
        qp_artifact_close(artifact);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed)
            return;
    }
}

void assert_prefixes_refused(const char *name, const uint8_t *bytes, size_t size, size_t accepted)
{
    for (size_t length = 0; length < size; length++) {
        if (length >= accepted) {
            uint8_t *copy = exact_copy(bytes, length);
            qp_artifact_close(open_bytes(name, copy, length));
            free(copy);
            continue;
        }
        qp_error error = refuse(name, bytes, length);
        assert_non_null(error.check);
    }
}

/* ---- building ------------------------------------------------------------------------------- */

static void zeros(qp_buffer *file, size_t count)
{
    static const uint8_t zero[64];
    for (size_t step; count > 0; count -= step) {
        step = count < sizeof zero ? count : sizeof zero;
        qp_buffer_append(file, zero, step);
    }
    assert_false(file->failed);
}

void build_ninfer(qp_buffer *file, const void *json, size_t size, size_t payload)
{
    qp_buffer_init(file, NULL);
    qp_buffer_append(file, "NINFER\0\3", 8);
    qp_buffer_le(file, size, 8);
    for (unsigned i = 0; i < 16; i++)
        qp_buffer_le(file, i, 1);
    qp_buffer_append(file, json, size);
    zeros(file, (4096 - file->size % 4096) % 4096 + payload);
}

void build_safetensors(qp_buffer *file, const char *header, size_t data)
{
    qp_buffer_init(file, NULL);
    qp_buffer_le(file, strlen(header), 8);
    qp_buffer_text(file, header);
    zeros(file, data);
}
