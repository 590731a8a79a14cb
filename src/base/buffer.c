/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - a growing byte string whose failure is sticky.
 */
#include "base/base.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define SMALLEST_CAPACITY ((size_t)64)

void qp_buffer_init(qp_buffer *buffer, const qp_allocator *allocator)
{
    buffer->allocator = qp_allocator_or_default(allocator);
    buffer->bytes = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
    buffer->failed = false;
}

void qp_buffer_free(qp_buffer *buffer)
{
    if (buffer->bytes != NULL)
        buffer->allocator.reallocate(buffer->allocator.context, buffer->bytes, buffer->capacity, 0);
    buffer->bytes = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}

static bool grow(qp_buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity < SMALLEST_CAPACITY ? SMALLEST_CAPACITY : buffer->capacity;
    if (capacity < needed && !qp_add_size(capacity, capacity / 2, &capacity))
        return false;
    if (capacity < needed)
        capacity = needed;
    if (capacity > PTRDIFF_MAX)
        return false;
    void *bytes = buffer->allocator.reallocate(buffer->allocator.context, buffer->bytes,
                                               buffer->capacity, capacity);
    if (bytes == NULL)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool qp_buffer_reserve(qp_buffer *buffer, size_t more)
{
    size_t needed;
    if (buffer->failed)
        return false;
    if (more <= buffer->capacity - buffer->size)
        return true;
    if (!qp_add_size(buffer->size, more, &needed) || !grow(buffer, needed))
        buffer->failed = true;
    return !buffer->failed;
}

void qp_buffer_append(qp_buffer *buffer, const void *bytes, size_t size)
{
    if (size == 0 || !qp_buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void qp_buffer_text(qp_buffer *buffer, const char *text)
{
    qp_buffer_append(buffer, text, strlen(text));
}

void qp_buffer_format(qp_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) {
        buffer->failed = true;
        return;
    }
    if (!qp_buffer_reserve(buffer, (size_t)length + 1)) /* the NUL is written, not counted */
        return;
    va_start(arguments, format);
    vsnprintf((char *)buffer->bytes + buffer->size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->size += (size_t)length;
}

void qp_buffer_le(qp_buffer *buffer, uint64_t value, unsigned width)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i) & 0xFF);
    qp_buffer_append(buffer, bytes, width <= 8 ? width : 8);
}

void qp_buffer_u64_decimal(qp_buffer *buffer, uint64_t value)
{
    char digits[20]; /* 2^64 - 1 has 20 digits */
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    qp_buffer_append(buffer, digits + start, sizeof digits - start);
}

void qp_buffer_i64_decimal(qp_buffer *buffer, int64_t value)
{
    if (value < 0)
        qp_buffer_append(buffer, "-", 1);
    qp_buffer_u64_decimal(buffer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void qp_buffer_hex(qp_buffer *buffer, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t text_size;
    if (!qp_mul_size(size, 2, &text_size)) {
        buffer->failed = true;
        return;
    }
    if (!qp_buffer_reserve(buffer, text_size))
        return;
    for (size_t i = 0; i < size; i++) {
        buffer->bytes[buffer->size++] = (uint8_t)digits[bytes[i] >> 4];
        buffer->bytes[buffer->size++] = (uint8_t)digits[bytes[i] & 15];
    }
}

void *qp_buffer_take(qp_buffer *buffer, size_t *size)
{
    void *exact = NULL;
    *size = 0;
    if (!buffer->failed && buffer->size > 0)
        exact = buffer->allocator.reallocate(buffer->allocator.context, buffer->bytes,
                                             buffer->capacity, buffer->size);
    if (exact == NULL) {
        qp_buffer_free(buffer);
        return NULL;
    }
    *size = buffer->size;
    qp_buffer_init(buffer, &buffer->allocator);
    return exact;
}
