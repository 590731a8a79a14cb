/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_file.c - the lines of a vector file and of npu.jsonl (integer-operators.md sections 14.1
 * and 14.5).
 */
#include "conform/conform.h"
#include "conform/conform_ids.h"

#include <inttypes.h>
#include <stdio.h>

void qp_conform_run_init(qp_conform_run *run, const qp_allocator *allocator)
{
    *run = (qp_conform_run){0};
    qp_conform_init(&run->conform, allocator);
    qp_buffer_init(&run->npu, allocator);
}

void qp_conform_run_free(qp_conform_run *run)
{
    qp_conform_free(&run->conform);
    qp_buffer_free(&run->npu);
}

/* ---- lines -------------------------------------------------------------------------------- */

typedef struct line_walk {
    const char *next, *end;
    const char *line; /* the current one, without its line feed */
    size_t size;
    uint64_t number; /* from 1 */
    bool ended;      /* by a line feed */
} line_walk;

static line_walk walk(const void *bytes, size_t size)
{
    const char *start = bytes;
    return (line_walk){.next = start, .end = size == 0 ? start : start + size};
}

static bool next_line(line_walk *w)
{
    if (w->next == w->end)
        return false;
    size_t left = (size_t)(w->end - w->next);
    const char *feed = memchr(w->next, '\n', left);
    w->line = w->next;
    w->size = feed != NULL ? (size_t)(feed - w->next) : left;
    w->ended = feed != NULL;
    w->next += w->size + w->ended;
    w->number++;
    return true;
}

static const char unended[] = "the last line does not end with a line feed";

static void fail_line(qp_conform_run *run, const char *file, uint64_t line,
                      const qp_conform_result *result, const char *what)
{
    qp_conform_difference difference = {file, line, NULL, 0, what};
    if (result != NULL) {
        difference.id = result->id;
        difference.id_size = result->id_size;
    }
    run->failed++;
    if (run->report != NULL)
        run->report(run->context, &difference);
}

/* ---- vector files ------------------------------------------------------------------------- */

/* Appends a string that may need the escapes of section 8.5. */
static void put_string(qp_buffer *buffer, const char *text)
{
    qp_buffer_text(buffer, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            qp_buffer_text(buffer, "\\");
        qp_buffer_append(buffer, text, 1);
    }
    qp_buffer_text(buffer, "\"");
}

static qp_status keep_npu_line(qp_conform_run *run, const char *file,
                               const qp_conform_result *result, qp_error *error)
{
    if (result->npu == NULL || result->id == NULL)
        return QP_OK;
    qp_buffer_text(&run->npu, "{\"file\":");
    put_string(&run->npu, file);
    qp_buffer_text(&run->npu, ",\"id\":\"");
    qp_buffer_append(&run->npu, result->id, result->id_size); /* escaped as in its line */
    qp_buffer_text(&run->npu, "\",");
    qp_buffer_append(&run->npu, result->npu, result->npu_size);
    qp_buffer_text(&run->npu, "\n");
    return run->npu.failed ? qp_fail_memory(error, "the lines of npu.jsonl") : QP_OK;
}

/* Why a line that runs fails nevertheless; NULL where it does not. */
static qp_status check_file_rules(qp_conform_ids *ids, const line_walk *w,
                                  const qp_conform_result *result, const char **why,
                                  qp_error *error)
{
    bool is_new = true;
    qp_status status = QP_OK;
    if (result->id != NULL)
        status = qp_conform_ids_add(ids, result->id, result->id_size, &is_new, error);
    if (result->outcome == QP_CONFORM_FAILED)
        *why = result->what;
    else if (!is_new)
        *why = "the id occurs twice in the file";
    else
        *why = w->ended ? NULL : unended;
    return status;
}

static qp_status run_one(qp_conform_run *run, const qp_conform_rules *rules, const char *file,
                         const line_walk *w, qp_conform_ids *ids, qp_error *error)
{
    qp_conform_result result;
    const char *why = NULL;
    qp_status status = qp_conform_line(
        &run->conform, rules, &(qp_conform_text){w->line, w->size, w->number}, &result, error);
    if (status == QP_OK)
        status = check_file_rules(ids, w, &result, &why, error);
    if (status == QP_OK)
        status = keep_npu_line(run, file, &result, error);
    if (status != QP_OK)
        return status;
    if (why != NULL)
        fail_line(run, file, w->number, &result, why);
    else
        run->passed += result.outcome == QP_CONFORM_PASSED;
    return QP_OK;
}

qp_status qp_conform_file(qp_conform_run *run, const qp_conform_rules *rules, const char *file,
                          const void *bytes, size_t size, qp_error *error)
{
    qp_conform_ids ids;
    qp_error found = {0};
    qp_status status = QP_OK;
    line_walk w = walk(bytes, size);

    qp_conform_ids_init(&ids, &run->conform.allocator);
    while (status == QP_OK && next_line(&w))
        status = run_one(run, rules, file, &w, &ids, &found);
    qp_conform_ids_free(&ids);
    if (status == QP_OK)
        return QP_OK;
    return qp_fail(error, status, "line %" PRIu64 ": %.190s", w.number, found.message);
}

/* ---- npu.jsonl ---------------------------------------------------------------------------- */

/* The bytes of a line before its "npu" member, which name the vector; 0 where there is none. No
 * string of canonical JSON holds the mark, as its quotes would be escaped. */
static size_t name_length(const line_walk *w)
{
    static const char mark[] = ",\"npu\":";
    for (size_t i = 0; i + sizeof mark - 1 <= w->size; i++)
        if (memcmp(w->line + i, mark, sizeof mark - 1) == 0)
            return i;
    return 0;
}

/* Whether both lines name one vector. */
static bool same_vector(const line_walk *a, const line_walk *b)
{
    size_t length = name_length(a);
    return length > 0 && name_length(b) == length && memcmp(a->line, b->line, length) == 0;
}

static void fail_missing(qp_conform_run *run, const char *file, uint64_t line, const line_walk *own)
{
    char what[sizeof((qp_error *)0)->message];
    snprintf(what, sizeof what, "a line is missing here: %.*s",
             (int)(own->size < 180 ? own->size : 180), own->line);
    fail_line(run, file, line, NULL, what);
}

static void compare_npu(qp_conform_run *run, const char *file, const line_walk *given,
                        const line_walk *own)
{
    char what[sizeof((qp_error *)0)->message];
    size_t i = 0;

    while (i < given->size && i < own->size && given->line[i] == own->line[i])
        i++;
    if (i == given->size && i == own->size) {
        if (given->ended)
            run->passed++;
        else
            fail_line(run, file, given->number, NULL, unended);
        return;
    }
    size_t from = i < 20 ? 0 : i - 20;
    snprintf(what, sizeof what, "from column %zu: expected %.*s, got %.*s", from + 1,
             (int)(given->size - from < 80 ? given->size - from : 80), given->line + from,
             (int)(own->size - from < 80 ? own->size - from : 80), own->line + from);
    fail_line(run, file, given->number, NULL, what);
}

/* Moves `own` on to the vector that a line names, and counts the lines between as missing. Where no
 * later line is that vector's, `own` stays and the answer is false. */
static bool find_vector(qp_conform_run *run, const char *file, const line_walk *given,
                        line_walk *own)
{
    line_walk ahead = *own;
    bool found = false;

    while (!found && next_line(&ahead))
        found = same_vector(given, &ahead);
    while (found && next_line(own) && own->number < ahead.number)
        fail_missing(run, file, given->number, own);
    return found;
}

qp_status qp_conform_npu(qp_conform_run *run, const char *file, const void *bytes, size_t size,
                         qp_error *error)
{
    line_walk given = walk(bytes, size), own = walk(run->npu.bytes, run->npu.size);

    if (run->npu.failed)
        return qp_fail_memory(error, "the lines of npu.jsonl");
    while (next_line(&given)) {
        if (find_vector(run, file, &given, &own))
            compare_npu(run, file, &given, &own);
        else
            fail_line(run, file, given.number, NULL,
                      "not the line of a vector with a graph that loads, or out of order");
    }
    while (next_line(&own))
        fail_missing(run, file, given.number + 1, &own);
    return QP_OK;
}

/* ---- other kinds -------------------------------------------------------------------------- */

void qp_conform_skip(qp_conform_run *run, const char *file, const void *bytes, size_t size)
{
    static const char ending[] = ".jsonl";
    size_t length = strlen(file);
    line_walk w = walk(bytes, size);

    if (length < sizeof ending || strcmp(file + length - (sizeof ending - 1), ending) != 0) {
        run->skipped++;
        return;
    }
    while (next_line(&w))
        run->skipped++;
}
