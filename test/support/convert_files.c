/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "support/convert_files.h"

#include "number/minifloat.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the folder ------------------------------------------------------------------------------ */

static char folder[256];

static void remove_all(const char *path, bool keep)
{
    DIR *entries = opendir(path);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char inside[1024];
        struct stat facts;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (lstat(inside, &facts) == 0 && S_ISDIR(facts.st_mode))
            remove_all(inside, false);
        else
            (void)unlink(inside);
    }
    if (entries != NULL)
        (void)closedir(entries);
    if (!keep)
        (void)rmdir(path);
}

void folder_make(const char *name)
{
    snprintf(folder, sizeof folder, "%s.tmp", name);
    remove_all(folder, false);
    assert_int_equal(mkdir(folder, 0777), 0);
}

void folder_remove(void)
{
    remove_all(folder, false);
}

const char *in_folder(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

bool file_exists(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0;
}

size_t folder_count(void)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(entries);
    return count;
}

/* ---- files ----------------------------------------------------------------------------------- */

qp_file whole_file(const char *path)
{
    qp_file file;
    assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
    return file;
}

void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

void copy_file(const char *from, const char *to)
{
    qp_file file = whole_file(from);
    write_file(to, file.bytes, file.size);
    qp_file_close(&file);
}

void assert_same_files(const char *a, const char *b)
{
    qp_file one = whole_file(a), other = whole_file(b);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.bytes, other.bytes, one.size);
    qp_file_close(&one);
    qp_file_close(&other);
}

/* ---- safetensors ----------------------------------------------------------------------------- */

void tensor_file_init(tensor_file *file)
{
    qp_buffer_init(&file->header, NULL);
    qp_buffer_init(&file->data, NULL);
}

void tensor_file_add(tensor_file *file, const char *name, const char *dtype, const char *shape,
                     const void *bytes, size_t size)
{
    qp_buffer_format(&file->header,
                     ",\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", name,
                     dtype, shape, file->data.size, file->data.size + size);
    qp_buffer_append(&file->data, bytes, size);
}

void tensor_file_random(tensor_file *file, const char *name, const char *dtype, const char *shape,
                        size_t elements, uint64_t seed)
{
    qp_buffer bytes;
    qp_buffer_init(&bytes, NULL);
    for (size_t i = 0; i < elements; i++) {
        float value = (float)test_between(&seed, -120, 120) / 64.0f; /* seven bits, exact */
        uint32_t bits = qp_bits_of_float(value);
        if (strcmp(dtype, "F32") == 0)
            qp_buffer_le(&bytes, bits, 4);
        else if (strcmp(dtype, "BF16") == 0)
            qp_buffer_le(&bytes, qp_bf16_from_f32_bits(bits), 2);
        else
            qp_buffer_le(&bytes, qp_f16_from_f32_bits(bits), 2);
    }
    assert_false(bytes.failed);
    tensor_file_add(file, name, dtype, shape, bytes.bytes, bytes.size);
    qp_buffer_free(&bytes);
}

void tensor_file_write(tensor_file *file, const char *metadata, const char *path)
{
    qp_buffer whole;
    qp_buffer_init(&whole, NULL);
    const char *members = file->header.size > 0 ? (const char *)file->header.bytes + 1 : "";
    size_t size = file->header.size > 0 ? file->header.size - 1 : 0;
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "{");
    if (metadata != NULL)
        qp_buffer_format(&text, "\"__metadata__\":{%s}%s", metadata, size > 0 ? "," : "");
    qp_buffer_append(&text, members, size);
    qp_buffer_text(&text, "}");
    qp_buffer_le(&whole, text.size, 8);
    qp_buffer_append(&whole, text.bytes, text.size);
    qp_buffer_append(&whole, file->data.bytes, file->data.size);
    assert_false(whole.failed || text.failed || file->header.failed || file->data.failed);
    write_file(path, whole.bytes, whole.size);
    qp_buffer_free(&whole);
    qp_buffer_free(&text);
    qp_buffer_free(&file->header);
    qp_buffer_free(&file->data);
}

/* ---- artifacts ------------------------------------------------------------------------------- */

static void show(const qp_error *error)
{
    char text[512];
    print_message("%s [%s]\n", qp_error_text(error, text, sizeof text),
                  error->check != NULL ? error->check : "");
}

qp_artifact *opened(const char *path)
{
    qp_artifact *artifact = NULL;
    qp_error error;
    if (qp_artifact_open(path, NULL, &artifact, &error) != QP_OK)
        show(&error);
    assert_non_null(artifact);
    return artifact;
}

const char *digest_of(const char *path)
{
    static char texts[4][QP_SHA256_HEX_SIZE];
    static unsigned next;
    char *text = texts[next++ % 4];
    uint8_t digest[QP_SHA256_SIZE];
    qp_artifact *artifact = opened(path);
    qp_error error;
    qp_status status = qp_artifact_hash(artifact, digest, &error);
    if (status != QP_OK)
        show(&error);
    assert_int_equal(status, QP_OK);
    qp_sha256_hex(digest, text);
    qp_artifact_close(artifact);
    return text;
}

void assert_verifies(const char *path)
{
    qp_artifact *artifact = opened(path);
    qp_error error;
    qp_status status = qp_artifact_verify(artifact, 2, &error);
    if (status != QP_OK)
        show(&error);
    assert_int_equal(status, QP_OK);
    qp_artifact_close(artifact);
}

qp_status convert_with(const char *from, const char *to, const qp_convert_options *options,
                       qp_error *error)
{
    qp_convert_options own = *options;
    qp_convert_plan *plan = NULL;
    qp_artifact *source = NULL;
    own.replace = true;
    qp_status status = qp_artifact_open(from, options->allocator, &source, error);
    if (status == QP_OK)
        status = qp_convert_plan_make(source, to, &own, &plan, error);
    if (status == QP_OK)
        status = qp_convert_run(plan, error);
    qp_convert_plan_free(plan);
    qp_artifact_close(source);
    return status;
}

static void require(const char *from, const char *to, const qp_convert_options *options)
{
    qp_error error;
    qp_status status = convert_with(from, to, options, &error);
    if (status != QP_OK)
        show(&error);
    assert_int_equal(status, QP_OK);
}

void convert(const char *from, const char *to, const char *preset)
{
    qp_convert_options options = {.preset = preset, .threads = 2};
    require(from, to, &options);
}

void convert_recipe(const char *from, const char *to, const char *recipe)
{
    qp_convert_options options = {.recipe = recipe, .recipe_size = strlen(recipe)};
    require(from, to, &options);
}

/* ---- directories ----------------------------------------------------------------------------- */

qp_json_value directory_of(const char *path)
{
    static qp_json json;
    static char *text;
    size_t size;
    qp_artifact *artifact = opened(path);
    const char *directory = qp_artifact_directory(artifact, &size);
    qp_json_free(&json);
    free(text);
    text = malloc(size);
    assert_non_null(text);
    memcpy(text, directory, size);
    qp_artifact_close(artifact);
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, text, size, NULL), QP_OK);
    return qp_json_root(&json);
}

qp_json_value member_at(qp_json_value value, const char *path)
{
    char names[256];
    snprintf(names, sizeof names, "%s", path);
    for (char *name = names, *end; name != NULL; name = end != NULL ? end + 1 : NULL) {
        end = strchr(name, '>');
        if (end != NULL)
            *end = '\0';
        if (name[0] != '#') {
            assert_true(qp_json_find(value, name, &value));
            continue;
        }
        qp_json_iterator iterator = qp_json_iterate(value);
        for (int i = atoi(name + 1); i >= 0; i--)
            assert_true(qp_json_next(&iterator, &value));
    }
    return value;
}
