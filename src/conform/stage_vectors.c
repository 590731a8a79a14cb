/* SPDX-License-Identifier: Apache-2.0 */
/* stage_vectors.c - the files of stage/: each case's line, computed and checked. */
#include "conform/stage_vectors.h"

#include <stdarg.h>
#include <stdio.h>

#define STAGE_FILE(name)                                                                           \
    {                                                                                              \
        "stage/" #name ".jsonl", #name, qp_stage_cases_##name                                      \
    }
const qp_stage_file qp_stage_files[QP_STAGE_OPERATORS] = {
    STAGE_FILE(band_lookup),  STAGE_FILE(block_stat),    STAGE_FILE(bucket),
    STAGE_FILE(coded),        STAGE_FILE(coding_order),  STAGE_FILE(dequantize),
    STAGE_FILE(mans_decode),  STAGE_FILE(mc_predict),    STAGE_FILE(rans64_decode),
    STAGE_FILE(rate_predict), STAGE_FILE(residual_step), STAGE_FILE(scale_index),
    STAGE_FILE(up2_predict),
};
#undef STAGE_FILE

/* ---- a case ------------------------------------------------------------------------------- */

void qp_stage_fail(qp_stage_corpus *c, qp_status status, const char *what)
{
    if (c->status == QP_OK)
        c->status = qp_fail(c->error, status, "stage/%s.jsonl: %s: %s", c->op, c->id, what);
}

/* Whether what a case gives is what its author wants. */
static bool is_wanted(const qp_stage_corpus *c, const qp_buffer *expect)
{
    char want[96];
    if (c->want == QP_STAGE_ANY)
        return true;
    snprintf(want, sizeof want, "{\"at\":\"%lld\",\"refuse\":\"%s\"}", (long long)c->at,
             qp_status_token(c->want));
    bool refused = expect->size == strlen(want) && memcmp(expect->bytes, want, expect->size) == 0;
    static const char at[] = "{\"at\":";
    if (c->want == QP_OK)
        return expect->size < sizeof at || memcmp(expect->bytes, at, sizeof at - 1) != 0;
    return refused;
}

static void append_line(qp_stage_corpus *c, const qp_buffer *expect, const qp_buffer *tail)
{
    qp_buffer_text(c->lines, "{\"expect\":");
    qp_buffer_append(c->lines, expect->bytes, expect->size);
    qp_buffer_text(c->lines, ",");
    qp_buffer_append(c->lines, tail->bytes + 1, tail->size - 1); /* after its brace */
    qp_buffer_text(c->lines, "\n");
    if (c->lines->failed)
        qp_stage_fail(c, QP_NO_MEMORY, "no memory for a line");
}

/* Runs {"id":...,"in":...,"modes":...,"op":...}. */
static void run_case(qp_stage_corpus *c, const qp_buffer *tail, qp_json *json)
{
    static const char *const names[] = {"id", "in", "modes", "op"};
    const qp_allocator *allocator = &c->lines->allocator;
    qp_json_value members[4];
    qp_error error = {0};
    qp_buffer expect;
    qp_arena arena;

    qp_status status = qp_line_parse(json, (const char *)tail->bytes, tail->size, &error);
    if (status == QP_OK)
        status = qp_line_members(qp_json_root(json), names, 4, members, &error);
    qp_buffer_init(&expect, allocator);
    qp_arena_init(&arena, allocator);
    qp_stage_line line = {&arena, members[1], members[2], SIZE_MAX, &expect};
    if (status == QP_OK)
        status = qp_stage_line_run(&line, members[3], &error);
    if (status != QP_OK)
        qp_stage_fail(c, status == QP_NO_MEMORY ? status : QP_INTERNAL, error.message);
    else if (!is_wanted(c, &expect))
        qp_stage_fail(c, QP_INTERNAL, "it does not give what its author wants");
    else
        append_line(c, &expect, tail);
    qp_arena_free(&arena);
    qp_buffer_free(&expect);
}

static void finish_case(qp_stage_corpus *c)
{
    qp_buffer tail;
    qp_json json;

    if (!c->open || c->status != QP_OK)
        return;
    c->open = false;
    qp_buffer_init(&tail, &c->lines->allocator);
    qp_json_init(&json, &c->lines->allocator);
    qp_buffer_format(&tail, "{\"id\":\"%s\",\"in\":", c->id);
    qp_buffer_append(&tail, c->in.bytes, c->in.size);
    qp_buffer_text(&tail, ",\"modes\":");
    if (c->modes.size == 0)
        qp_buffer_text(&tail, "{}");
    qp_buffer_append(&tail, c->modes.bytes, c->modes.size);
    qp_buffer_format(&tail, ",\"op\":\"%s\"}", c->op);
    if (tail.failed || c->in.failed || c->modes.failed)
        qp_stage_fail(c, QP_NO_MEMORY, "no memory for a case");
    else
        run_case(c, &tail, &json);
    qp_json_free(&json);
    qp_buffer_free(&tail);
}

/* FNV-1a over the operator's name and the id: each case has numbers of its own. */
static uint64_t seed_of(const qp_stage_corpus *c)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (const char *p = c->op; *p != '\0'; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001B3);
    for (const char *p = c->id; *p != '\0'; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001B3);
    return hash;
}

void qp_stage_case(qp_stage_corpus *c, qp_status want, int64_t at, const char *format, ...)
{
    va_list arguments;
    finish_case(c);
    va_start(arguments, format);
    vsnprintf(c->id, sizeof c->id, format, arguments);
    va_end(arguments);
    c->open = true;
    c->want = want;
    c->at = at;
    c->in.size = c->modes.size = 0;
    c->random = seed_of(c);
}

static void append_formatted(qp_stage_corpus *c, qp_buffer *buffer, const char *format,
                             va_list arguments)
{
    char text[512];
    int length = vsnprintf(text, sizeof text, format, arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        qp_stage_fail(c, QP_INTERNAL, "a text of its case is too long");
    else
        qp_buffer_text(buffer, text);
}

void qp_stage_in(qp_stage_corpus *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(c, &c->in, format, arguments);
    va_end(arguments);
}

void qp_stage_modes(qp_stage_corpus *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append_formatted(c, &c->modes, format, arguments);
    va_end(arguments);
}

void qp_stage_in_list(qp_stage_corpus *c, const char *name, const int64_t *values, size_t count)
{
    qp_stage_in(c, "\"%s\":", name);
    qp_stage_put_list(&c->in, values, count);
}

void qp_stage_in_bytes(qp_stage_corpus *c, const char *name, const uint8_t *bytes, size_t size)
{
    qp_stage_in(c, "\"%s\":\"", name);
    qp_buffer_hex(&c->in, bytes, size);
    qp_stage_in(c, "\"");
}

/* SplitMix64. */
int64_t qp_stage_random(qp_stage_corpus *c, int64_t lo, int64_t hi)
{
    uint64_t z = c->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0 for all of i64 */
    return qp_to_i64((uint64_t)lo + (span == 0 ? z : z % span));
}

qp_status qp_stage_vectors(const qp_stage_file *file, qp_buffer *lines,
                           const qp_allocator *allocator, qp_error *error)
{
    qp_stage_corpus c = {.op = file->op, .lines = lines, .error = error};
    qp_buffer_init(&c.in, allocator);
    qp_buffer_init(&c.modes, allocator);
    file->cases(&c);
    finish_case(&c);
    qp_buffer_free(&c.in);
    qp_buffer_free(&c.modes);
    return c.status;
}
