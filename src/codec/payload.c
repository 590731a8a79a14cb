/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c - the fields of payloads (docs/payloads.md, "Conventions"). */
#include "codec/payload.h"

#include <stdarg.h>
#include <stdio.h>

enum { TABLE_COUNT_BYTES = 4, STREAM_WORD = 4, STREAM_LEAST = 8 };

/* ---- faults ------------------------------------------------------------------------------- */

qp_payload qp_payload_over(const void *bytes, size_t size)
{
    return (qp_payload){.bytes = bytes, .size = size};
}

void qp_payload_fault(qp_payload *payload, size_t at, const char *format, ...)
{
    va_list arguments;
    if (payload->failed)
        return;
    payload->failed = true;
    payload->fault_at = payload->base + at;
    va_start(arguments, format);
    vsnprintf(payload->fault, sizeof payload->fault, format, arguments);
    va_end(arguments);
}

size_t qp_payload_left(const qp_payload *payload)
{
    return payload->failed ? 0 : payload->size - payload->at;
}

qp_status qp_payload_check(const qp_payload *payload, qp_error *error)
{
    if (!payload->failed)
        return QP_OK;
    qp_place place = {QP_TABLE_NONE, -1, -1, (int64_t)payload->fault_at};
    return qp_fail_at(error, QP_PAYLOAD_MALFORMED, place, "%s", payload->fault);
}

void qp_payload_end(qp_payload *payload)
{
    if (qp_payload_left(payload) > 0)
        qp_payload_fault(payload, payload->at, "bytes follow the last field");
}

/* ---- fields ------------------------------------------------------------------------------- */

/* The next `count` bytes, or NULL with a fault. */
static const uint8_t *take(qp_payload *payload, size_t count, const char *field)
{
    if (payload->failed)
        return NULL;
    if (count > payload->size - payload->at) {
        qp_payload_fault(payload, payload->at, "the payload ends within %s", field);
        return NULL;
    }
    const uint8_t *bytes = payload->bytes + payload->at;
    payload->at += count;
    return bytes;
}

void qp_payload_head(qp_payload *payload, const char *magic, size_t reserved)
{
    const uint8_t *found = take(payload, 4, "the magic");
    if (found != NULL && memcmp(found, magic, 4) != 0)
        qp_payload_fault(payload, 0, "the payload does not begin with %s", magic);
    size_t at = payload->at;
    uint8_t version = qp_payload_u8(payload, "the version");
    if (version != 1)
        qp_payload_fault(payload, at, "version %u is not known", (unsigned)version);
    qp_payload_reserved(payload, reserved);
}

void qp_payload_reserved(qp_payload *payload, size_t count)
{
    for (size_t i = 0; i < count && !payload->failed; i++)
        if (qp_payload_u8(payload, "a reserved byte") != 0)
            qp_payload_fault(payload, payload->at - 1, "a reserved byte is not 0");
}

uint8_t qp_payload_u8(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 1, field);
    return p == NULL ? 0 : *p;
}

uint16_t qp_payload_u16(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 2, field);
    return p == NULL ? 0 : qp_load_u16(p);
}

uint32_t qp_payload_u32(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 4, field);
    return p == NULL ? 0 : qp_load_u32(p);
}

int16_t qp_payload_i16(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 2, field);
    return p == NULL ? 0 : qp_load_i16(p);
}

int32_t qp_payload_i32(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 4, field);
    return p == NULL ? 0 : qp_load_i32(p);
}

int64_t qp_payload_i64(qp_payload *payload, const char *field)
{
    const uint8_t *p = take(payload, 8, field);
    return p == NULL ? 0 : qp_load_i64(p);
}

/* Holds a field of `width` bytes, just read, to its range. */
static void hold(qp_payload *payload, uint32_t value, const uint32_t range[2], size_t width,
                 const char *field)
{
    if (!payload->failed && (value < range[0] || value > range[1]))
        qp_payload_fault(payload, payload->at - width, "%s is %lu, outside %lu to %lu", field,
                         (unsigned long)value, (unsigned long)range[0], (unsigned long)range[1]);
}

uint8_t qp_payload_u8_in(qp_payload *payload, uint8_t lo, uint8_t hi, const char *field)
{
    uint8_t value = qp_payload_u8(payload, field);
    hold(payload, value, (uint32_t[2]){lo, hi}, sizeof value, field);
    return value;
}

uint16_t qp_payload_u16_in(qp_payload *payload, uint16_t lo, uint16_t hi, const char *field)
{
    uint16_t value = qp_payload_u16(payload, field);
    hold(payload, value, (uint32_t[2]){lo, hi}, sizeof value, field);
    return value;
}

uint32_t qp_payload_u32_in(qp_payload *payload, uint32_t lo, uint32_t hi, const char *field)
{
    uint32_t value = qp_payload_u32(payload, field);
    hold(payload, value, (uint32_t[2]){lo, hi}, sizeof value, field);
    return value;
}

uint32_t qp_payload_count(qp_payload *payload, size_t each, const char *field)
{
    size_t at = payload->at;
    uint32_t count = qp_payload_u32(payload, field);
    if (!payload->failed && count > qp_payload_left(payload) / each)
        qp_payload_fault(payload, at, "%s is %lu, more than the bytes that are left can hold",
                         field, (unsigned long)count);
    return payload->failed ? 0 : count;
}

/* ---- runs of bytes ------------------------------------------------------------------------ */

qp_bytes qp_payload_take(qp_payload *payload, uint64_t count, size_t each, const char *field)
{
    size_t left = qp_payload_left(payload);
    if (count > left / each) {
        qp_payload_fault(payload, payload->at, "the payload ends within %s", field);
        return (qp_bytes){NULL, 0};
    }
    size_t size = (size_t)count * each; /* at most what is left */
    const uint8_t *bytes = take(payload, size, field);
    return (qp_bytes){bytes, bytes == NULL ? 0 : size};
}

qp_bytes qp_payload_block(qp_payload *payload, const char *field)
{
    uint32_t size = qp_payload_u32(payload, field);
    return qp_payload_take(payload, size, 1, field);
}

qp_bytes qp_payload_stream(qp_payload *payload, const char *field)
{
    uint32_t size = qp_payload_u32(payload, field);
    return qp_payload_stream_of(payload, size, field);
}

qp_bytes qp_payload_stream_of(qp_payload *payload, uint32_t size, const char *field)
{
    if (size < STREAM_LEAST || size % STREAM_WORD != 0)
        qp_payload_fault(payload, payload->at,
                         "%s is %lu bytes; a stream is a multiple of 4, and at least 8", field,
                         (unsigned long)size);
    return qp_payload_take(payload, size, 1, field);
}

qp_payload qp_payload_within(qp_payload *payload, const char *field)
{
    uint32_t size = qp_payload_u32(payload, field);
    size_t base = payload->base + payload->at;
    qp_bytes part = qp_payload_take(payload, size, 1, field);
    return (qp_payload){.bytes = part.bytes, .size = part.size, .base = base};
}

/* ---- tables ------------------------------------------------------------------------------- */

qp_payload_table qp_payload_table_read(qp_payload *payload, const char *field)
{
    qp_payload_table table = {.offset = qp_payload_i32(payload, field)};
    uint32_t n = qp_payload_count(payload, TABLE_COUNT_BYTES, field);
    table.counts = qp_payload_take(payload, n, TABLE_COUNT_BYTES, field);
    return table;
}

static void widen(const qp_payload_table *tables, size_t count, int64_t *values, qp_rans_cdf *cdfs)
{
    for (size_t t = 0; t < count; t++) {
        size_t n = tables[t].counts.size / TABLE_COUNT_BYTES;
        cdfs[t] = (qp_rans_cdf){{values, n}, tables[t].offset};
        for (size_t i = 0; i < n; i++)
            *values++ = qp_load_u32(tables[t].counts.bytes + i * TABLE_COUNT_BYTES);
    }
}

qp_status qp_payload_tables_make(const qp_payload_table *tables, size_t count,
                                 const qp_rans_modes *modes, const qp_allocator *allocator,
                                 qp_rans_tables **made, qp_error *error)
{
    size_t total = 0;
    *made = NULL;
    for (size_t t = 0; t < count; t++) /* at most a quarter of the payload's bytes */
        total += tables[t].counts.size / TABLE_COUNT_BYTES;
    int64_t *values = qp_allocate(allocator, total, sizeof *values);
    qp_rans_cdf *cdfs = qp_allocate(allocator, count, sizeof *cdfs);
    qp_status status = QP_OK;
    if (values == NULL || cdfs == NULL) {
        status = qp_fail_memory(error, "a payload's tables");
    } else {
        widen(tables, count, values, cdfs);
        status = qp_rans_tables_create(cdfs, count, modes, allocator, made, error);
    }
    qp_release(allocator, cdfs, count, sizeof *cdfs);
    qp_release(allocator, values, total, sizeof *values);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

void qp_payload_put_zeros(qp_buffer *buffer, size_t count)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(buffer, 0, 1);
}

void qp_payload_put_head(qp_buffer *buffer, const char *magic, size_t reserved)
{
    qp_buffer_append(buffer, magic, 4);
    qp_buffer_le(buffer, 1, 1);
    qp_payload_put_zeros(buffer, reserved);
}

void qp_payload_put_block(qp_buffer *buffer, const void *bytes, size_t size)
{
    uint64_t length = size;
    if (length > UINT32_MAX)
        buffer->failed = true;
    qp_buffer_le(buffer, size, 4);
    qp_buffer_append(buffer, bytes, size);
}

void qp_payload_put_table(qp_buffer *buffer, const qp_rans_cdf *table)
{
    qp_buffer_le(buffer, (uint64_t)table->offset, 4);
    qp_buffer_le(buffer, table->cdf.count, 4);
    for (size_t i = 0; i < table->cdf.count; i++)
        qp_buffer_le(buffer, (uint64_t)table->cdf.values[i], TABLE_COUNT_BYTES);
}
