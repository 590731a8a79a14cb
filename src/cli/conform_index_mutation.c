/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_index_mutation.c - artifacts whose continuation files were changed: a copy in a folder of
 * its own, the sentence that says what changes, and the refusal that must follow.
 */
#define _POSIX_C_SOURCE 200809L /* mkdir, rmdir */

#include "cli/cli.h"
#include "cli/conform_index.h"
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_FILES = 64,   /* of one artifact */
    MOST_NAMES = 1000, /* folders that are tried, if earlier runs were killed */
    PATH_SIZE = 1024
};

/* A file of the copy, changed in memory before it is written. */
typedef struct copied {
    char name[QP_INDEX_NAME];
    qp_buffer bytes;
    bool removed;
} copied;

typedef struct mutation {
    const qp_index *index;
    copied files[MOST_FILES];
    size_t count;
    char folder[PATH_SIZE];
} mutation;

/* ---- the artifact ------------------------------------------------------------------------- */

static qp_status copy_file(mutation *m, qp_json_value reference, qp_error *why)
{
    qp_file file;
    if (m->count == MOST_FILES)
        return qp_fail(why, QP_MALFORMED, "the artifact has too many files");
    copied *copy = &m->files[m->count];
    qp_status status = qp_index_text(reference, "file", copy->name, why);
    if (status == QP_OK)
        status = qp_index_open(m->index, reference, &file, why);
    if (status != QP_OK)
        return status;
    if (strchr(copy->name, '/') != NULL) {
        qp_file_close(&file);
        return qp_fail(why, QP_MALFORMED, "'%.80s' lies in another folder", copy->name);
    }
    qp_buffer_init(&copy->bytes, NULL);
    qp_buffer_append(&copy->bytes, file.bytes, file.size);
    qp_file_close(&file);
    m->count++;
    return copy->bytes.failed ? qp_fail_memory(why, "a copy of a file") : QP_OK;
}

/* The item of the section "containers" with that entry. */
static qp_status find_base(const qp_index *index, const char *entry, qp_json_value *base,
                           qp_error *why)
{
    qp_json_value containers, name;
    if (qp_json_find(index->root, "containers", &containers)) {
        qp_json_iterator iterator = qp_json_iterate(containers);
        while (qp_json_next(&iterator, base))
            if (qp_json_find(*base, "entry", &name) && qp_json_equals(name, entry))
                return QP_OK;
    }
    return qp_fail(why, QP_MALFORMED, "the index has no container '%.80s'", entry);
}

static qp_status copy_base(mutation *m, const char *entry, qp_error *why)
{
    qp_json_value base, files, reference;
    qp_status status = find_base(m->index, entry, &base, why);
    if (status == QP_OK)
        status = qp_json_member(base, "files", QP_JSON_ARRAY, &files, why);
    if (status != QP_OK)
        return status;
    qp_json_iterator iterator = qp_json_iterate(files);
    while (status == QP_OK && qp_json_next(&iterator, &reference))
        status = copy_file(m, reference, why);
    return status;
}

/* ---- the sentence ------------------------------------------------------------------------- */

/* Passes over a word of the sentence and the space behind it. */
static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    if ((*text)[length] == ' ')
        *text += length + 1;
    else if ((*text)[length] == '\0')
        *text += length;
    else
        return false;
    return true;
}

/* Passes over the name of a file of the copy. */
static copied *take_file(mutation *m, const char **text)
{
    const char *before = *text;
    for (size_t i = 0; i < m->count; i++)
        if (take_word(text, m->files[i].name))
            return &m->files[i];
    *text = before;
    return NULL;
}

static bool take_number(const char **text, int base, unsigned long highest, size_t *value)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(*text, &end, base);
    if (end == *text || **text == '-' || errno != 0 || number > highest ||
        (*end != ' ' && *end != '\0'))
        return false;
    *value = number;
    *text = *end == ' ' ? end + 1 : end;
    return true;
}

/* The end of the sentence: a remark in brackets may stand there. */
static bool is_end(const char *text)
{
    return text[0] == '\0' || (text[0] == '(' && text[strlen(text) - 1] == ')');
}

/* "remove the file F". */
static bool remove_file(mutation *m, const char *text)
{
    if (!take_word(&text, "remove") || !take_word(&text, "the") || !take_word(&text, "file"))
        return false;
    copied *file = take_file(m, &text);
    if (file == NULL || !is_end(text))
        return false;
    file->removed = true;
    return true;
}

/* "byte N of F set to 0xHH" and "byte N of F XOR 0xHH". */
static bool change_byte(mutation *m, const char *text)
{
    size_t at, value;
    if (!take_word(&text, "byte") || !take_number(&text, 10, UINT32_MAX, &at) ||
        !take_word(&text, "of"))
        return false;
    copied *file = take_file(m, &text);
    bool flips = file != NULL && take_word(&text, "XOR");
    if (file == NULL || at >= file->bytes.size ||
        (!flips && !(take_word(&text, "set") && take_word(&text, "to"))) ||
        !take_number(&text, 16, UINT8_MAX, &value) || !is_end(text))
        return false;
    uint8_t *byte = &file->bytes.bytes[at];
    *byte = (uint8_t)(flips ? *byte ^ value : value);
    return true;
}

/* "last byte of F removed". */
static bool cut_byte(mutation *m, const char *text)
{
    if (!take_word(&text, "last") || !take_word(&text, "byte") || !take_word(&text, "of"))
        return false;
    copied *file = take_file(m, &text);
    if (file == NULL || file->bytes.size == 0 || !take_word(&text, "removed") || !is_end(text))
        return false;
    file->bytes.size--;
    return true;
}

/* "contents of F and G exchanged". */
static bool exchange(mutation *m, const char *text)
{
    if (!take_word(&text, "contents") || !take_word(&text, "of"))
        return false;
    copied *a = take_file(m, &text);
    copied *b = a != NULL && take_word(&text, "and") ? take_file(m, &text) : NULL;
    if (b == NULL || !take_word(&text, "exchanged") || !is_end(text))
        return false;
    qp_buffer kept = a->bytes;
    a->bytes = b->bytes;
    b->bytes = kept;
    return true;
}

static qp_status change(mutation *m, qp_json_value item, qp_error *why)
{
    static bool (*const sentences[])(mutation *, const char *) = {remove_file, change_byte,
                                                                  cut_byte, exchange};
    char text[QP_INDEX_NAME];
    qp_status status = qp_index_text(item, "mutation", text, why);
    if (status != QP_OK)
        return status;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i](m, text))
            return QP_OK;
    return qp_fail(why, QP_MALFORMED, "the mutation '%.150s' is not understood", text);
}

/* ---- the folder --------------------------------------------------------------------------- */

static qp_status make_folder(mutation *m, qp_error *why)
{
    const char *temporary = getenv("TMPDIR");
    if (temporary == NULL || temporary[0] == '\0')
        temporary = "/tmp";
    for (unsigned n = 0; n < MOST_NAMES; n++) {
        int length = snprintf(m->folder, sizeof m->folder, "%s/quipu-conform-%u", temporary, n);
        if (length < 0 || (size_t)length >= sizeof m->folder)
            break;
        if (mkdir(m->folder, 0700) == 0)
            return QP_OK;
        if (errno != EEXIST)
            break;
    }
    m->folder[0] = '\0';
    return qp_fail(why, QP_IO, "no folder can be made in %.120s: %s", temporary, strerror(errno));
}

static bool name_of(const mutation *m, const char *name, char path[2 * PATH_SIZE])
{
    int length = snprintf(path, 2 * PATH_SIZE, "%s/%s", m->folder, name);
    return length > 0 && length < 2 * PATH_SIZE;
}

static qp_status write_files(const mutation *m, qp_error *why)
{
    char path[2 * PATH_SIZE];
    qp_status status = QP_OK;
    for (size_t i = 0; i < m->count && status == QP_OK; i++)
        if (!m->files[i].removed && name_of(m, m->files[i].name, path))
            status = qp_output_buffer(path, &m->files[i].bytes, why);
    return status;
}

static void free_mutation(mutation *m)
{
    char path[2 * PATH_SIZE];
    for (size_t i = 0; i < m->count; i++) {
        if (m->folder[0] != '\0' && name_of(m, m->files[i].name, path))
            remove(path);
        qp_buffer_free(&m->files[i].bytes);
    }
    if (m->folder[0] != '\0')
        rmdir(m->folder);
}

static qp_status check(const mutation *m, const char *entry, qp_json_value item, qp_error *why)
{
    qp_index_expectation expected;
    char path[2 * PATH_SIZE];
    qp_artifact *artifact = NULL;
    qp_error got = {0};
    qp_status status = qp_index_expect(item, &expected, why);
    if (status != QP_OK || !name_of(m, entry, path))
        return status;
    status = qp_artifact_open(path, NULL, &artifact, &got);
    if (status == QP_OK)
        status = qp_index_read_all(artifact, &got);
    qp_artifact_close(artifact);
    return qp_index_compare(&expected, status, &got, why);
}

static qp_status run(mutation *m, qp_json_value item, qp_error *why)
{
    char entry[QP_INDEX_NAME];
    qp_status status = qp_index_text(item, "base_entry", entry, why);
    if (status == QP_OK)
        status = copy_base(m, entry, why);
    if (status == QP_OK)
        status = change(m, item, why);
    if (status == QP_OK)
        status = make_folder(m, why);
    if (status == QP_OK)
        status = write_files(m, why);
    return status == QP_OK ? check(m, entry, item, why) : status;
}

qp_status qp_index_mutation(const qp_index *index, qp_json_value item, qp_error *why)
{
    mutation *m = qp_allocate(NULL, 1, sizeof *m);
    if (m == NULL)
        return qp_fail_memory(why, "a changed artifact");
    m->index = index;
    qp_status status = run(m, item, why);
    free_mutation(m);
    qp_release(NULL, m, 1, sizeof *m);
    return status;
}
