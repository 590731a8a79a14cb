/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - the conventions that every codec of the texts shares: big-endian words, frames and
 * domain prefixes; written to a buffer, read by a cursor whose first fault sticks.
 */
#ifndef QP_FABRIC_CODEC_H
#define QP_FABRIC_CODEC_H

#include "base/base.h"

/* The low 32 or 64 bits, most significant byte first. */
void qp_fabric_put_u32(qp_buffer *buffer, uint32_t value);
void qp_fabric_put_u64(qp_buffer *buffer, uint64_t value);
/* frame(x): u32 length, then the bytes; a longer string than 2^32 - 1 fails the buffer. */
void qp_fabric_put_frame(qp_buffer *buffer, const void *bytes, size_t size);
void qp_fabric_put_frame_text(qp_buffer *buffer, const char *text);
/* dom(S, M, m). */
void qp_fabric_put_domain(qp_buffer *buffer, const char *name, uint32_t major, uint32_t minor);

/*
 * A cursor over bytes that may be hostile. Once something does not fit, `failed` stays set, `at`
 * keeps the offset of the fault, and every later read gives zeros: look once at the end of a
 * record.
 */
typedef struct qp_fabric_cursor {
    const uint8_t *bytes;
    size_t size, at;
    bool failed;
} qp_fabric_cursor;

static inline qp_fabric_cursor qp_fabric_cursor_over(const void *bytes, size_t size)
{
    return (qp_fabric_cursor){bytes, size, 0, false};
}

uint32_t qp_fabric_get_u32(qp_fabric_cursor *cursor);
uint64_t qp_fabric_get_u64(qp_fabric_cursor *cursor);
/* `count` bytes in place; NULL where they are not there. */
const uint8_t *qp_fabric_get_bytes(qp_fabric_cursor *cursor, size_t count);
/* A frame: a cursor over its bytes (empty and failed where it does not fit). */
qp_fabric_cursor qp_fabric_get_frame(qp_fabric_cursor *cursor);
/* Fails the cursor where the bytes are not exactly dom(name, major, minor). */
void qp_fabric_expect_domain(qp_fabric_cursor *cursor, const char *name, uint32_t major,
                             uint32_t minor);
/* True where nothing failed and nothing is left. */
bool qp_fabric_at_end(const qp_fabric_cursor *cursor);

/* Orders byte strings: a prefix comes first. */
int qp_fabric_compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size);

#endif
