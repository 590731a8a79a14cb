/* SPDX-License-Identifier: Apache-2.0 */
/* conform_index.c - an index of weight vectors: its sections, and the files that it names. */
#include "cli/conform_index.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- members ------------------------------------------------------------------------------ */

qp_status qp_index_text(qp_json_value object, const char *name, char text[QP_INDEX_NAME],
                        qp_error *why)
{
    qp_json_value value;
    text[0] = '\0';
    if (!qp_json_find(object, name, &value) || qp_json_is_null(value))
        return QP_OK;
    return qp_json_copy_string(value, text, QP_INDEX_NAME, why);
}

qp_status qp_index_u64(qp_json_value object, const char *name, uint64_t otherwise, uint64_t *value,
                       qp_error *why)
{
    qp_json_value member;
    *value = otherwise;
    if (!qp_json_find(object, name, &member) || qp_json_is_null(member))
        return QP_OK;
    return qp_json_get_u64(member, value, why);
}

qp_status qp_index_shape(qp_json_value object, const char *name, uint64_t shape[QP_SHAPE_RANK_MAX],
                         uint32_t *rank, qp_error *why)
{
    qp_json_value array = QP_JSON_NO_VALUE, element;
    *rank = 0;
    qp_status status = qp_json_member(object, name, QP_JSON_ARRAY, &array, why);
    qp_json_iterator iterator = qp_json_iterate(array);
    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        if (*rank == QP_SHAPE_RANK_MAX)
            return qp_json_fail(element, why, "more than 16 dimensions");
        status = qp_json_get_u64(element, &shape[*rank], why);
        ++*rank;
    }
    return status;
}

qp_status qp_index_digest(qp_json_value object, const char *name, const void *bytes, size_t size,
                          qp_error *why)
{
    char wanted[QP_INDEX_NAME], found[QP_SHA256_HEX_SIZE];
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;

    qp_status status = qp_index_text(object, name, wanted, why);
    if (status != QP_OK)
        return status;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, found);
    return strcmp(found, wanted) == 0
               ? QP_OK
               : qp_fail(why, QP_MALFORMED, "its %s is %s, not %s", name, found, wanted);
}

/* ---- files -------------------------------------------------------------------------------- */

/* Whether every part of a path is a plain name: nothing leads out of the folder. */
static bool is_inside(const char *name)
{
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || strncmp(part, ".", length) == 0 ||
            (length == 2 && strncmp(part, "..", 2) == 0) || memchr(part, '\\', length) != NULL ||
            memchr(part, ':', length) != NULL)
            return false;
        part += length;
        if (*part == '\0')
            return true;
    }
}

qp_status qp_index_path(const qp_index *index, const char *name, char **path, qp_error *why)
{
    size_t folder = strlen(index->folder);
    *path = NULL;
    if (!is_inside(name))
        return qp_fail(why, QP_MALFORMED, "'%.100s' is no file of the index's folder", name);
    *path = malloc(folder + strlen(name) + 1);
    if (*path == NULL)
        return qp_fail_memory(why, "the name of a file");
    memcpy(*path, index->folder, folder);
    memcpy(*path + folder, name, strlen(name) + 1);
    return QP_OK;
}

static qp_status check_file(qp_json_value reference, const char *name, const qp_file *file,
                            qp_error *why)
{
    uint64_t bytes;
    qp_error digest;
    qp_status status = qp_index_u64(reference, "bytes", file->size, &bytes, why);
    if (status != QP_OK)
        return status;
    if (bytes != file->size)
        return qp_fail(why, QP_MALFORMED, "%.80s has %zu bytes, not %" PRIu64, name, file->size,
                       bytes);
    if (qp_index_digest(reference, "sha256", file->bytes, file->size, &digest) != QP_OK)
        return qp_fail(why, QP_MALFORMED, "%.60s: %.160s", name, digest.message);
    return QP_OK;
}

qp_status qp_index_open(const qp_index *index, qp_json_value reference, qp_file *file,
                        qp_error *why)
{
    char name[QP_INDEX_NAME], *path;
    *file = (qp_file){0};
    qp_status status = qp_index_text(reference, "file", name, why);
    if (status == QP_OK)
        status = qp_index_path(index, name, &path, why);
    if (status != QP_OK)
        return status;
    status = qp_file_open(path, NULL, file, why);
    free(path);
    if (status != QP_OK)
        return status;
    status = check_file(reference, name, file, why);
    if (status != QP_OK)
        qp_file_close(file);
    return status;
}

/* ---- what is expected --------------------------------------------------------------------- */

qp_status qp_index_expect(qp_json_value item, qp_index_expectation *expected, qp_error *why)
{
    char expect[QP_INDEX_NAME];
    qp_status status = qp_index_text(item, "expect", expect, why);
    if (status == QP_OK)
        status = qp_index_text(item, "refusal", expected->refusal, why);
    if (status != QP_OK)
        return status;
    expected->refuse = strcmp(expect, "refuse") == 0 || (expect[0] == '\0' && expected->refusal[0]);
    if (!expected->refuse && expect[0] != '\0' && strcmp(expect, "ok") != 0)
        return qp_fail(why, QP_MALFORMED, "'expect' is neither ok nor refuse");
    return QP_OK;
}

/* Section 9.7 has one word for the geometry of a tensor, section 4 another. */
static bool same_check(const char *wanted, const char *check)
{
    if (wanted[0] == '\0')
        return true;
    if (check == NULL)
        return false;
    return strcmp(wanted, check) == 0 ||
           (strcmp(wanted, "geometry") == 0 && strcmp(check, "C-GEOM") == 0);
}

qp_status qp_index_compare(const qp_index_expectation *expected, qp_status status,
                           const qp_error *got, qp_error *why)
{
    if (status == QP_NO_MEMORY || status == QP_INTERNAL) {
        *why = *got;
        return status;
    }
    if (!expected->refuse)
        return status == QP_OK ? QP_OK
                               : qp_fail(why, QP_MALFORMED, "refused: %s: %.180s",
                                         got->check == NULL ? "" : got->check, got->message);
    if (status == QP_OK)
        return qp_fail(why, QP_MALFORMED, "not refused; %s is expected",
                       expected->refusal[0] == '\0' ? "a refusal" : expected->refusal);
    if (!same_check(expected->refusal, got->check))
        return qp_fail(why, QP_MALFORMED, "refused with %s, not with %s: %.140s",
                       got->check == NULL ? "no check" : got->check, expected->refusal,
                       got->message);
    return QP_OK;
}

/* ---- the run ------------------------------------------------------------------------------ */

typedef struct section {
    const char *name;
    const char *id; /* the member that names an item, or NULL */
    qp_index_check *check;
} section;

static const section sections[] = {
    {"cases", "id", qp_index_case},
    {"encoded_sizes", NULL, qp_index_size},
    {"encoded_size_refusals", NULL, qp_index_size_refusal},
    {"containers", "entry", qp_index_container},
    {"continuation_mutations", "name", qp_index_mutation},
    {"directory_cases", "name", qp_index_directory},
    {"gguf_files", "file", qp_index_weight_file},
    {"safetensors_files", "file", qp_index_weight_file},
};

typedef struct walk {
    qp_conform_run *run;
    qp_index index;
    const char *path;
    qp_error *error; /* of the environment */
} walk;

static void report(walk *w, const section *s, qp_json_value item, const char *what)
{
    qp_json_value id;
    qp_conform_difference difference = {w->path, qp_json_place_of(item).line, s->name,
                                        strlen(s->name), what};
    const char *text;
    size_t length;
    if (s->id != NULL && qp_json_find(item, s->id, &id) &&
        qp_json_string_view(id, &text, &length)) {
        difference.id = text;
        difference.id_size = length;
    }
    w->run->failed++;
    if (w->run->report != NULL)
        w->run->report(w->run->context, &difference);
}

static qp_status run_item(walk *w, const section *s, qp_json_value item)
{
    qp_error why = {0};
    qp_status status = s->check(&w->index, item, &why);
    if (status == QP_NO_MEMORY || status == QP_INTERNAL) {
        *w->error = why;
        return status;
    }
    if (status == QP_OK)
        w->run->passed++;
    else
        report(w, s, item, why.message);
    return QP_OK;
}

/* A section is an array, or an object with one under "cases". */
static qp_status run_section(walk *w, const section *s, qp_json_value items)
{
    qp_json_value item;
    qp_status status = QP_OK;
    if (qp_json_kind_of(items) == QP_JSON_OBJECT)
        (void)qp_json_find(items, "cases", &items);
    if (qp_json_kind_of(items) != QP_JSON_ARRAY) {
        report(w, s, w->index.root, "the section is no array");
        return QP_OK;
    }
    qp_json_iterator iterator = qp_json_iterate(items);
    while (status == QP_OK && qp_json_next(&iterator, &item))
        status = run_item(w, s, item);
    return status;
}

static bool is_list(qp_json_value value)
{
    qp_json_kind kind = qp_json_kind_of(value);
    return kind == QP_JSON_ARRAY || kind == QP_JSON_OBJECT;
}

static qp_status run_member(walk *w, qp_json_value name, qp_json_value value)
{
    static const section unknown = {"index", NULL, NULL};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (qp_json_equals(name, sections[i].name))
            return run_section(w, &sections[i], value);
    if (is_list(value))
        report(w, &unknown, value, "a section that conform does not know");
    return QP_OK;
}

static qp_status run_index(walk *w)
{
    qp_json_value name, value;
    uint64_t version;
    qp_error why = {0};
    qp_status status = qp_index_u64(w->index.root, "index_version", 0, &version, &why);
    if (status == QP_OK && version != 1)
        status = qp_fail(&why, QP_MALFORMED, "the index's version is not 1");
    if (status != QP_OK) {
        static const section head = {"index_version", NULL, NULL};
        report(w, &head, w->index.root, why.message);
        return QP_OK;
    }
    qp_json_iterator iterator = qp_json_iterate(w->index.root);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value))
        status = run_member(w, name, value);
    return status;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = malloc(length + 1);
    if (folder != NULL) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return folder;
}

qp_status qp_conform_index(qp_conform_run *run, const char *path, const qp_file *file,
                           qp_error *error)
{
    qp_json json;
    char *folder = folder_of(path);
    if (folder == NULL)
        return qp_fail_memory(error, "the name of a folder");
    qp_json_init(&json, NULL);
    qp_status status = qp_json_parse(&json, file->bytes, file->size, error);
    if (status == QP_OK) {
        walk w = {run, {folder, qp_json_root(&json)}, path, error};
        status = run_index(&w);
    }
    qp_json_free(&json);
    free(folder);
    return status;
}

bool qp_conform_is_index(const uint8_t *bytes, size_t size)
{
    qp_json json;
    qp_json_value version;
    qp_json_init(&json, NULL);
    bool is = size > 0 && bytes[0] == '{' && qp_json_parse(&json, bytes, size, NULL) == QP_OK &&
              qp_json_find(qp_json_root(&json), "index_version", &version);
    qp_json_free(&json);
    return is;
}
