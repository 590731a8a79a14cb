/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - reading little-endian fields of a file one after another. The first field that does
 * not fit is remembered, later ones read as 0, and one look at the end of a record tells.
 */
#ifndef QP_LOWER_CURSOR_H
#define QP_LOWER_CURSOR_H

#include "lower/lower.h"

typedef struct qp_cursor {
    const uint8_t *bytes;
    size_t size, at;
    size_t base;       /* the offset of bytes[0] in the member */
    const char *field; /* the first field that did not fit, or NULL */
    size_t field_at;
} qp_cursor;

qp_cursor qp_cursor_over(const qp_member *member);

/* The offset in the member of the next byte. */
static inline int64_t qp_cursor_offset(const qp_cursor *cursor)
{
    return (int64_t)(cursor->base + cursor->at);
}

static inline size_t qp_cursor_left(const qp_cursor *cursor)
{
    return cursor->size - cursor->at;
}

uint8_t qp_cursor_u8(qp_cursor *cursor, const char *field);
uint32_t qp_cursor_u32(qp_cursor *cursor, const char *field);
int64_t qp_cursor_i64(qp_cursor *cursor, const char *field);
/* `count` signed integers of `width` bytes, read in place. The product is checked. */
qp_integers qp_cursor_integers(qp_cursor *cursor, uint64_t count, unsigned width,
                               const char *field);
/* A cursor over the next `length` bytes. */
qp_cursor qp_cursor_part(qp_cursor *cursor, uint32_t length, const char *field);

/* Refuses where a field did not fit. */
qp_status qp_cursor_check(const qp_lower_job *job, const qp_cursor *cursor);
/* Refuses where bytes follow the last field. */
qp_status qp_cursor_end(const qp_lower_job *job, const qp_cursor *cursor);
/* `count` bytes that are reserved, and so zero. */
qp_status qp_cursor_reserved(const qp_lower_job *job, qp_cursor *cursor, size_t count);
/* Magic, version 1 and 3 reserved bytes: the head of every network file. */
qp_status qp_cursor_head(const qp_lower_job *job, qp_cursor *cursor, const char *magic);

/* a·b·c·d, or UINT64_MAX where it passes 64 bits: no count of anything in a file. */
uint64_t qp_product(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

#endif
