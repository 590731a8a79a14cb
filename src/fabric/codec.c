/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c - big-endian words, frames and domain prefixes (the conventions of fabric-tables.md).
 */
#include "fabric/codec.h"

void qp_fabric_put_u32(qp_buffer *buffer, uint32_t value)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
    qp_buffer_append(buffer, bytes, sizeof bytes);
}

void qp_fabric_put_u64(qp_buffer *buffer, uint64_t value)
{
    qp_fabric_put_u32(buffer, (uint32_t)(value >> 32));
    qp_fabric_put_u32(buffer, (uint32_t)value);
}

void qp_fabric_put_frame(qp_buffer *buffer, const void *bytes, size_t size)
{
    if (size > UINT32_MAX) {
        buffer->failed = true;
        return;
    }
    qp_fabric_put_u32(buffer, (uint32_t)size);
    qp_buffer_append(buffer, bytes, size);
}

void qp_fabric_put_frame_text(qp_buffer *buffer, const char *text)
{
    qp_fabric_put_frame(buffer, text, strlen(text));
}

void qp_fabric_put_domain(qp_buffer *buffer, const char *name, uint32_t major, uint32_t minor)
{
    qp_buffer_append(buffer, name, strlen(name) + 1);
    qp_fabric_put_u32(buffer, major);
    qp_fabric_put_u32(buffer, minor);
}

const uint8_t *qp_fabric_get_bytes(qp_fabric_cursor *cursor, size_t count)
{
    if (cursor->failed || count > cursor->size - cursor->at) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->bytes + cursor->at;
    cursor->at += count;
    return bytes;
}

uint32_t qp_fabric_get_u32(qp_fabric_cursor *cursor)
{
    const uint8_t *p = qp_fabric_get_bytes(cursor, 4);
    if (p == NULL)
        return 0;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint64_t qp_fabric_get_u64(qp_fabric_cursor *cursor)
{
    uint64_t high = qp_fabric_get_u32(cursor);
    uint64_t low = qp_fabric_get_u32(cursor);
    return cursor->failed ? 0 : high << 32 | low;
}

qp_fabric_cursor qp_fabric_get_frame(qp_fabric_cursor *cursor)
{
    size_t size = qp_fabric_get_u32(cursor);
    const uint8_t *bytes = qp_fabric_get_bytes(cursor, size);
    if (bytes == NULL)
        return (qp_fabric_cursor){cursor->bytes, 0, 0, true};
    return qp_fabric_cursor_over(bytes, size);
}

void qp_fabric_expect_domain(qp_fabric_cursor *cursor, const char *name, uint32_t major,
                             uint32_t minor)
{
    const size_t size = strlen(name) + 1;
    const uint8_t *bytes = qp_fabric_get_bytes(cursor, size);

    if (bytes == NULL)
        return;
    if (memcmp(bytes, name, size) != 0) {
        cursor->at -= size;
        cursor->failed = true;
        return;
    }
    uint32_t found_major = qp_fabric_get_u32(cursor);
    uint32_t found_minor = qp_fabric_get_u32(cursor);
    if (found_major != major || found_minor != minor)
        cursor->failed = true;
}

bool qp_fabric_at_end(const qp_fabric_cursor *cursor)
{
    return !cursor->failed && cursor->at == cursor->size;
}

int qp_fabric_compare_bytes(const void *a, size_t a_size, const void *b, size_t b_size)
{
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common > 0 ? memcmp(a, b, common) : 0;
    if (order != 0)
        return order;
    return (a_size > b_size) - (a_size < b_size);
}
