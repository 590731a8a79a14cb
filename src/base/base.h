/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - the library's own foundation: errors with a place, allocation, sizes that are checked
 * before they are formed, little-endian bytes, buffers, arenas, files and digests.
 */
#ifndef QP_BASE_BASE_H
#define QP_BASE_BASE_H

#include "quipu/base.h"

#include <stdbool.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------- */

#if defined(__GNUC__)
#    define QP_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#    define QP_PRINTF(format_index, first)
#endif

/* Fills `error` (which may be NULL) with no place and a formatted message; returns `status`. */
qp_status qp_fail(qp_error *error, qp_status status, const char *format, ...) QP_PRINTF(3, 4);

/* The same with a place; -1 for a part that does not apply. */
typedef struct qp_place {
    qp_table table;
    int64_t record;
    int64_t operator_index;
    int64_t offset;
} qp_place;

#define QP_NOWHERE ((qp_place){QP_TABLE_NONE, -1, -1, -1})

qp_status qp_fail_at(qp_error *error, qp_status status, qp_place place, const char *format, ...)
    QP_PRINTF(4, 5);

/* A check that the text names failed: `check` in static storage, `offset` -1 without one. */
qp_status qp_fail_check(qp_error *error, qp_status status, const char *check, int64_t offset,
                        const char *format, ...) QP_PRINTF(5, 6);

/* The same for an element of a weight matrix; `column` -1 for a whole row. */
typedef struct qp_element_place {
    int64_t row;
    int64_t column;
} qp_element_place;
qp_status qp_fail_element(qp_error *error, qp_status status, const char *check,
                          qp_element_place place, const char *format, ...) QP_PRINTF(5, 6);

/* Out of memory: `what` names what was to be allocated. */
qp_status qp_fail_memory(qp_error *error, const char *what);

/* ---- sizes -------------------------------------------------------------------------------- */

/* Products and sums of sizes: false when the result does not fit, and *result is then unchanged. */
static inline bool qp_mul_size(size_t a, size_t b, size_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

static inline bool qp_add_size(size_t a, size_t b, size_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool qp_mul_u64(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

static inline bool qp_add_u64(uint64_t a, uint64_t b, uint64_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

/* ---- allocation --------------------------------------------------------------------------- */

/* The allocator itself, or the C library's when `allocator` is NULL. */
qp_allocator qp_allocator_or_default(const qp_allocator *allocator);

/* `count` elements of `size` bytes, zeroed; NULL when there is no memory or the product overflows.
 * A count of 0 gives a block that may be freed with the same count and size. */
void *qp_allocate(const qp_allocator *allocator, size_t count, size_t size);

/* Frees a block of `count` elements of `size` bytes; NULL is allowed. */
void qp_release(const qp_allocator *allocator, void *block, size_t count, size_t size);

/* Allocations that live and die together. Zero-initialise with qp_arena_init. */
typedef struct qp_arena_chunk qp_arena_chunk;
typedef struct qp_arena {
    qp_allocator allocator;
    qp_arena_chunk *chunks;
    size_t used; /* bytes used of the first chunk */
} qp_arena;

void qp_arena_init(qp_arena *arena, const qp_allocator *allocator);
/* `count` elements of `size` bytes, zeroed and aligned to 16; NULL without memory. */
void *qp_arena_allocate(qp_arena *arena, size_t count, size_t size);
void qp_arena_free(qp_arena *arena);

/* ---- bytes -------------------------------------------------------------------------------- */

/* Little-endian loads from any address, on any machine. */
static inline uint16_t qp_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t qp_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t qp_load_u64(const uint8_t *p)
{
    return (uint64_t)qp_load_u32(p) | (uint64_t)qp_load_u32(p + 4) << 32;
}

/* Two's complement without an implementation-defined conversion; compilers make it a move. */
static inline int8_t qp_to_i8(uint8_t v)
{
    return (int8_t)(v < 0x80 ? v : v - 0x100);
}

static inline int16_t qp_to_i16(uint16_t v)
{
    return (int16_t)(v < 0x8000 ? v : v - 0x10000);
}

static inline int32_t qp_to_i32(uint32_t v)
{
    return v <= INT32_MAX ? (int32_t)v : (int32_t)(v - 0x80000000u) + INT32_MIN;
}

static inline int64_t qp_to_i64(uint64_t v)
{
    return v <= INT64_MAX ? (int64_t)v : (int64_t)(v - 0x8000000000000000u) + INT64_MIN;
}

static inline int8_t qp_load_i8(const uint8_t *p)
{
    return qp_to_i8(*p);
}

static inline int16_t qp_load_i16(const uint8_t *p)
{
    return qp_to_i16(qp_load_u16(p));
}

static inline int32_t qp_load_i32(const uint8_t *p)
{
    return qp_to_i32(qp_load_u32(p));
}

static inline int64_t qp_load_i64(const uint8_t *p)
{
    return qp_to_i64(qp_load_u64(p));
}

/* A growing byte string. Once an append fails for want of memory, `failed` stays set and later
 * appends do nothing, so a writer checks once at its end. */
typedef struct qp_buffer {
    qp_allocator allocator;
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed;
} qp_buffer;

void qp_buffer_init(qp_buffer *buffer, const qp_allocator *allocator);
void qp_buffer_free(qp_buffer *buffer);
bool qp_buffer_reserve(qp_buffer *buffer, size_t more);
void qp_buffer_append(qp_buffer *buffer, const void *bytes, size_t size);
void qp_buffer_text(qp_buffer *buffer, const char *text);
void qp_buffer_format(qp_buffer *buffer, const char *format, ...) QP_PRINTF(2, 3);
/* The low `width` bytes of `value`, little-endian; width is 1, 2, 4 or 8. */
void qp_buffer_le(qp_buffer *buffer, uint64_t value, unsigned width);
void qp_buffer_i64_decimal(qp_buffer *buffer, int64_t value);
void qp_buffer_u64_decimal(qp_buffer *buffer, uint64_t value);
void qp_buffer_hex(qp_buffer *buffer, const uint8_t *bytes, size_t size);
/* Ends a buffer and gives its bytes in a block of exactly *size, for qp_release or qp_bytes_free;
 * NULL with *size 0 where the buffer is empty or has failed. */
void *qp_buffer_take(qp_buffer *buffer, size_t *size);

/* ---- files -------------------------------------------------------------------------------- */

/* The bytes of a file: mapped where the system can, read otherwise. */
typedef struct qp_file {
    qp_allocator allocator;
    const uint8_t *bytes;
    size_t size;
    bool mapped;
} qp_file;

/* Opens `path` for reading. Ownership: qp_file_close. An empty file opens with size 0 and `bytes`
 * not NULL; a directory, or a path that cannot be read, is QP_IO. A mapped file that another
 * program cuts short while it is open ends this one (the operating system's rule for mappings). */
qp_status qp_file_open(const char *path, const qp_allocator *allocator, qp_file *file,
                       qp_error *error);
/* The same for standard input, which is read to its end ('-' on a command line). */
qp_status qp_file_open_standard_input(const qp_allocator *allocator, qp_file *file,
                                      qp_error *error);
void qp_file_close(qp_file *file);

/* ---- SHA-256 ------------------------------------------------------------------------------ */

#define QP_SHA256_SIZE 32
#define QP_SHA256_HEX_SIZE 65 /* 64 digits and a NUL */

typedef struct qp_sha256 {
    uint32_t state[8];
    uint32_t path;   /* which way computes it: a row of sha256.h's table */
    uint64_t length; /* bytes so far */
    uint8_t block[64];
} qp_sha256;

void qp_sha256_init(qp_sha256 *hash);
void qp_sha256_update(qp_sha256 *hash, const void *bytes, size_t size);
void qp_sha256_final(qp_sha256 *hash, uint8_t digest[QP_SHA256_SIZE]);
/* 64 lower-case digits and a NUL. */
void qp_sha256_hex(const uint8_t digest[QP_SHA256_SIZE], char text[QP_SHA256_HEX_SIZE]);

#endif
