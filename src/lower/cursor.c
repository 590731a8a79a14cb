/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.c - the fields of network files (docs/lowering.md). */
#include "lower/cursor.h"

qp_cursor qp_cursor_over(const qp_member *member)
{
    return (qp_cursor){.bytes = member->bytes, .size = member->size};
}

/* The next `count` bytes, or NULL and the fault remembered. */
static const uint8_t *take(qp_cursor *cursor, size_t count, const char *field)
{
    if (cursor->field != NULL)
        return NULL;
    if (count > qp_cursor_left(cursor)) {
        cursor->field = field;
        cursor->field_at = cursor->at;
        return NULL;
    }
    const uint8_t *bytes = cursor->bytes + cursor->at;
    cursor->at += count;
    return bytes;
}

uint8_t qp_cursor_u8(qp_cursor *cursor, const char *field)
{
    const uint8_t *p = take(cursor, 1, field);
    return p == NULL ? 0 : *p;
}

uint32_t qp_cursor_u32(qp_cursor *cursor, const char *field)
{
    const uint8_t *p = take(cursor, 4, field);
    return p == NULL ? 0 : qp_load_u32(p);
}

int64_t qp_cursor_i64(qp_cursor *cursor, const char *field)
{
    const uint8_t *p = take(cursor, 8, field);
    return p == NULL ? 0 : qp_load_i64(p);
}

qp_integers qp_cursor_integers(qp_cursor *cursor, uint64_t count, unsigned width, const char *field)
{
    /* a count that the bytes cannot hold asks for one byte more than there is */
    bool fits = count <= qp_cursor_left(cursor) / width;
    size_t wanted = fits ? (size_t)count * width : qp_cursor_left(cursor) + 1;
    const uint8_t *bytes = take(cursor, wanted, field);
    return (qp_integers){bytes, bytes == NULL ? 0 : (size_t)count, width};
}

qp_cursor qp_cursor_part(qp_cursor *cursor, uint32_t length, const char *field)
{
    size_t base = cursor->base + cursor->at;
    const uint8_t *bytes = take(cursor, length, field);
    return (qp_cursor){.bytes = bytes, .size = bytes == NULL ? 0 : length, .base = base};
}

qp_status qp_cursor_check(const qp_lower_job *job, const qp_cursor *cursor)
{
    if (cursor->field == NULL)
        return QP_OK;
    return qp_lower_refuse(job, (int64_t)(cursor->base + cursor->field_at),
                           "the file ends within %s", cursor->field);
}

qp_status qp_cursor_end(const qp_lower_job *job, const qp_cursor *cursor)
{
    if (qp_cursor_left(cursor) == 0)
        return QP_OK;
    return qp_lower_refuse(job, qp_cursor_offset(cursor), "bytes follow the last field");
}

qp_status qp_cursor_reserved(const qp_lower_job *job, qp_cursor *cursor, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t offset = qp_cursor_offset(cursor);
        if (qp_cursor_u8(cursor, "a reserved byte") != 0)
            return qp_lower_refuse(job, offset, "a reserved byte is not 0");
    }
    return qp_cursor_check(job, cursor);
}

qp_status qp_cursor_head(const qp_lower_job *job, qp_cursor *cursor, const char *magic)
{
    const uint8_t *found = take(cursor, 4, "the magic");
    if (found != NULL && memcmp(found, magic, 4) != 0)
        return qp_lower_refuse(job, (int64_t)cursor->base, "the file does not begin with %s",
                               magic);
    uint8_t version = qp_cursor_u8(cursor, "the version");
    if (cursor->field == NULL && version != 1)
        return qp_lower_refuse(job, (int64_t)cursor->base + 4, "version %u is not known",
                               (unsigned)version);
    return qp_cursor_reserved(job, cursor, 3);
}

uint64_t qp_product(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t ab, abc, abcd;
    if (!qp_mul_u64(a, b, &ab) || !qp_mul_u64(ab, c, &abc) || !qp_mul_u64(abc, d, &abcd))
        return UINT64_MAX;
    return abcd;
}
