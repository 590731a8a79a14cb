/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - reading and writing the fields of a payload (docs/payloads.md).
 *
 * A cursor remembers its first fault, with the offset and the sentence; after it every field reads
 * as 0 and every run of bytes as empty. One look at the end, qp_payload_check, gives the refusal:
 *
 *     qp_payload p = qp_payload_over(bytes, size);
 *     qp_payload_head(&p, "WIH1", 3);
 *     uint32_t height = qp_payload_u32_in(&p, 1, 65536, "the height");
 *     qp_bytes stream = qp_payload_stream(&p, "the z stream");
 *     qp_payload_end(&p);
 *     qp_status status = qp_payload_check(&p, error);
 *
 * Names of fields go into sentences as they are: "the payload ends within the height".
 */
#ifndef QP_CODEC_PAYLOAD_H
#define QP_CODEC_PAYLOAD_H

#include "base/base.h"
#include "quipu/stage.h"

typedef struct qp_payload {
    const uint8_t *bytes;
    size_t size, at;
    size_t base; /* the offset of bytes[0] in the outermost payload */
    bool failed;
    size_t fault_at; /* in the outermost payload */
    char fault[160];
} qp_payload;

/* A run of bytes in a payload, which the payload's owner keeps. */
typedef struct qp_bytes {
    const uint8_t *bytes;
    size_t size;
} qp_bytes;

/* ---- reading ------------------------------------------------------------------------------ */

qp_payload qp_payload_over(const void *bytes, size_t size);

/* Sets the fault, where there is none yet: `at` is an offset in this cursor's bytes. */
void qp_payload_fault(qp_payload *payload, size_t at, const char *format, ...) QP_PRINTF(3, 4);

/* The bytes that are left; 0 after a fault. */
size_t qp_payload_left(const qp_payload *payload);

/* The magic of 4 characters, version 1, and `reserved` zero bytes. */
void qp_payload_head(qp_payload *payload, const char *magic, size_t reserved);
/* `count` bytes that are zero. */
void qp_payload_reserved(qp_payload *payload, size_t count);

uint8_t qp_payload_u8(qp_payload *payload, const char *field);
uint16_t qp_payload_u16(qp_payload *payload, const char *field);
uint32_t qp_payload_u32(qp_payload *payload, const char *field);
int16_t qp_payload_i16(qp_payload *payload, const char *field);
int32_t qp_payload_i32(qp_payload *payload, const char *field);
int64_t qp_payload_i64(qp_payload *payload, const char *field);

/* A field that lies in [lo, hi]. */
uint8_t qp_payload_u8_in(qp_payload *payload, uint8_t lo, uint8_t hi, const char *field);
uint16_t qp_payload_u16_in(qp_payload *payload, uint16_t lo, uint16_t hi, const char *field);
uint32_t qp_payload_u32_in(qp_payload *payload, uint32_t lo, uint32_t hi, const char *field);

/* A u32 count of things that take at least `each` bytes of the payload, 1 or more. */
uint32_t qp_payload_count(qp_payload *payload, size_t each, const char *field);

/* `count` things of `each` bytes, in place. */
qp_bytes qp_payload_take(qp_payload *payload, uint64_t count, size_t each, const char *field);
/* A u32 length and as many bytes. */
qp_bytes qp_payload_block(qp_payload *payload, const char *field);
/* The same for a rANS stream: a multiple of 4 bytes, and at least 8. */
qp_bytes qp_payload_stream(qp_payload *payload, const char *field);
/* `size` bytes as a rANS stream, whose length stood elsewhere. */
qp_bytes qp_payload_stream_of(qp_payload *payload, uint32_t size, const char *field);
/* A u32 length and as many bytes, as a payload within this one. Its faults are its own: they name
 * offsets of the outermost payload. */
qp_payload qp_payload_within(qp_payload *payload, const char *field);

/* A table that a payload carries: `i32 offset`, `u32 n`, then `n` times `u32`, the cumulative
 * counts. Whether it keeps E1's rule is checked where tables are made (QP_MODEL_MISMATCH). */
typedef struct qp_payload_table {
    int32_t offset;
    qp_bytes counts; /* 4 bytes each */
} qp_payload_table;
qp_payload_table qp_payload_table_read(qp_payload *payload, const char *field);

/* Makes the tables for E1. QP_MODEL_MISMATCH as qp_rans_tables_create. */
qp_status qp_payload_tables_make(const qp_payload_table *tables, size_t count,
                                 const qp_rans_modes *modes, const qp_allocator *allocator,
                                 qp_rans_tables **made, qp_error *error);

/* Bytes after the last field are a fault. */
void qp_payload_end(qp_payload *payload);
/* QP_OK, or QP_PAYLOAD_MALFORMED with the first fault's offset and sentence. */
qp_status qp_payload_check(const qp_payload *payload, qp_error *error);

/* ---- writing: single fields go by qp_buffer_le -------------------------------------------- */

void qp_payload_put_head(qp_buffer *buffer, const char *magic, size_t reserved);
void qp_payload_put_zeros(qp_buffer *buffer, size_t count);
/* A u32 length and the bytes. The buffer fails for 4 GiB and more. */
void qp_payload_put_block(qp_buffer *buffer, const void *bytes, size_t size);
void qp_payload_put_table(qp_buffer *buffer, const qp_rans_cdf *table);

#endif
