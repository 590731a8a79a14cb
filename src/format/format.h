/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - the registries' private halves, and the seam of fast decoding.
 *
 * A format is one row of table.c and the functions of its family; a layout is one row of layouts.c.
 * The reference way from stored bytes to values is a piece of a row as words (the layout's) and
 * then decode (the format's), both plain; a decode kernel does the two at once, is chosen by a
 * processor mask, and is tested by equality with the reference. There is no switch over formats
 * outside the tables.
 */
#ifndef QP_FORMAT_FORMAT_H
#define QP_FORMAT_FORMAT_H

#include "base/base.h"
#include "quipu/format.h"

/* One row of words. */
typedef struct qp_word_row {
    const uint8_t *codes;
    const uint8_t *scales;
    uint32_t divisor; /* nvfp4: the binary32 word of the row's own source; else 0 */
} qp_word_row;

/* The first fault of a row: `column` -1 when it is the row's scale or divisor, and the first column
 * of a group or block when it is the scale of that. */
typedef struct qp_word_fault {
    const char *check; /* "code_invalid", ...; NULL: none */
    int64_t column;
    const char *what; /* "a code outside the legal interval", for the sentence */
} qp_word_fault;

/* What a format does with one row of `columns` columns. */
struct qp_format_rules {
    /* Bytes of one row of the word form. */
    uint64_t (*code_row_bytes)(const qp_format *format, uint64_t columns);
    uint64_t (*scale_row_bytes)(const qp_format *format, uint64_t columns);
    qp_word_fault (*check)(const qp_format *format, const qp_word_row *row, uint64_t columns);
    void (*decode)(const qp_format *format, const qp_word_row *row, uint64_t columns,
                   float *values);
    /* gguf_*: one block to `group` values; NULL for the other families. */
    void (*decode_block)(const uint8_t *block, float *values);
    /* gguf_*: whether every scale word of a block is finite; NULL for the other families. */
    bool (*finite_block)(const uint8_t *block);
    /* Grouped: the stored word of a code is (code + code_bias) mod 2^code_bits. */
    uint8_t code_bias;
};

/* The families' rules; those of the gguf_* formats stand in ggml_blocks.h. */
extern const struct qp_format_rules qp_bf16_rules, qp_fp32_rules, qp_int32_rules;
extern const struct qp_format_rules qp_grouped_rules, qp_q2_rules;
extern const struct qp_format_rules qp_nvfp4_rules;
extern const struct qp_format_rules qp_row_bf16_rules, qp_row_fp16_rules;

/* ---- layouts ------------------------------------------------------------------------------ */

#define QP_PIECE_COLUMNS 512 /* at most, where a piece is made of codes that are not bytes */

/* Some neighbouring columns of one row in the word form. `words` points to the stored bytes where
 * those are the words already, and into the piece itself where they had to be made. */
typedef struct qp_piece {
    qp_word_row words;
    uint64_t columns;
    uint8_t codes[QP_PIECE_COLUMNS];
    uint8_t scales[QP_PIECE_COLUMNS / 16];
} qp_piece;

/* What a layout does. */
struct qp_layout_rules {
    bool (*takes)(const qp_format *format);
    /* Rank and divisibility, then bytes, planes and row_step; the caller has filled the rest. */
    qp_status (*plan)(qp_matrix *matrix, qp_error *error);
    void (*spans)(const qp_matrix *matrix, uint64_t first, uint64_t count,
                  qp_span spans[QP_PLANES]);
    /* The piece of row rows->first + `row` that begins at `column`: 0, or where the piece before it
     * ended. Its divisor is left to the caller. This is the whole of decoding and unpacking. */
    void (*piece)(const qp_matrix *matrix, const qp_rows *rows, uint64_t row, uint64_t column,
                  qp_piece *piece);
    void (*pack)(const qp_matrix *matrix, uint64_t first, uint64_t count,
                 const qp_word_planes *words, uint8_t *const planes[QP_PLANES]);
    /* NULL: this layout has no padding inside rows. */
    qp_status (*check_padding)(const qp_matrix *matrix, const qp_rows *rows, qp_error *error);
};

extern const struct qp_layout_rules qp_contiguous_rules, qp_row_split_rules, qp_block_scale_rules,
    qp_row_scale_rules, qp_row_interleaved_rules, qp_gguf_blocks_rules;

/* What several layouts share (layouts.c). */

/* Refuses another rank than 2. */
qp_status qp_layout_rank_two(const qp_matrix *matrix, qp_error *error);
/* The refusal of a tensor of 2^64 bytes or more. */
qp_status qp_layout_too_large(const qp_matrix *matrix, qp_error *error);
/* The smallest multiple of `alignment` that is `size` or more: false over 2^64 - 1. */
bool qp_layout_align(uint64_t size, uint64_t alignment, uint64_t *result);
/* Plans one plane of rows that take `row_bytes` each. */
qp_status qp_layout_plan_rows(qp_matrix *matrix, uint64_t row_bytes, qp_error *error);
/* Spans of planes whose rows all take planes[p].size / rows bytes. */
void qp_layout_spans_of_rows(const qp_matrix *matrix, uint64_t first, uint64_t count,
                             qp_span spans[QP_PLANES]);
/* The rest of a row of a layout whose codes are stored as words, in plane 0, with the scales in
 * plane 2 where there are some. */
void qp_layout_piece_of_words(const qp_matrix *matrix, const qp_rows *rows, uint64_t row,
                              uint64_t column, qp_piece *piece);
/* Copies codes to plane 0, and scales to plane 2 where there are some. */
void qp_layout_pack_words(const qp_matrix *matrix, uint64_t first, uint64_t count,
                          const qp_word_planes *words, uint8_t *const planes[QP_PLANES]);

/* Stored rows to values without a kernel, in the floating-point mode that the thread is in. */
void qp_rows_decode_ref(const qp_matrix *matrix, const qp_rows *rows, float *values);

/* ---- decode kernels ----------------------------------------------------------------------- */

/* A way from stored rows to values, for one format. Bit for bit the reference's. */
typedef struct qp_decode_kernel {
    const char *name;   /* "avx2", "avx512", "neon" or "portable" */
    const char *format; /* the canonical name that it decodes */
    uint32_t cpu;       /* the features that it needs */
    void (*decode)(const qp_matrix *matrix, const qp_rows *rows, float *values);
} qp_decode_kernel;

/* The first kernel of the table for the format whose needs `cpu` meets, or NULL: the reference. */
const qp_decode_kernel *qp_decode_kernel_find(const qp_format *format, uint32_t cpu);

/* For the tests: every kernel of the table. */
size_t qp_decode_kernel_count(void);
const qp_decode_kernel *qp_decode_kernel_at(size_t index);

#endif
