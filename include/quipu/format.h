/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/format.h - stored weights: what a word means, how rows of words lie in bytes, and how
 * values become words (tensor-formats.md; artifact-container.md sections 7 to 9; ggml-blocks.md).
 *
 * Three registries, one row a thing: numeric formats (what a word is), storage layouts (where its
 * bytes lie), methods (how values become words). A matrix is one encoded tensor: a format, a
 * layout, a shape; everything about its bytes follows from these three.
 *
 * The word form of rows, which hashes, word files and methods use, keeps the logical words apart
 * from any layout, in up to three planes, each row after row:
 *  - codes: of a direct format the word, little-endian (2 or 4 bytes); grouped, one signed byte a
 *    code; nvfp4, two E2M1 codes a byte, the even column in the low four bits; row FP8, one byte a
 *    code; gguf_*, the blocks.
 *  - scales: grouped, a binary16 word a group, little-endian; nvfp4, an E4M3FN byte for 16 columns;
 *    row FP8, a 16-bit word a row, little-endian.
 *  - divisors: nvfp4, a binary32 word for each stacked source, little-endian; they have no rows.
 *
 * Every function here computes with integers, or with binary32 and binary64 in round to nearest
 * even without contraction and with subnormals, whatever floating-point mode the caller's thread is
 * in.
 */
#ifndef QUIPU_FORMAT_H
#define QUIPU_FORMAT_H

#include "quipu/base.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QP_SHAPE_RANK_MAX 16 /* artifact-container.md section 1 */

/* ---- element types ------------------------------------------------------------------------ */

/* The scalar types in which sources keep values, beside the formats: those of safetensors (section
 * 7 of ggml-blocks.md) and of GGUF that take whole bytes. All little-endian. */
typedef struct qp_element {
    const char *name;   /* safetensors' spelling: "F16" */
    const char *npy;    /* the .npy descr, "<f2", or NULL */
    const char *format; /* the direct format with the same words ("bf16"), or NULL */
    uint32_t bytes;     /* of one element */
    bool is_float;      /* holds fractions: grouped methods take it as a source */
    int32_t gguf_type;  /* GGUF's type id, or -1 */
} qp_element;

QP_API size_t qp_element_count(void);
QP_API const qp_element *qp_element_at(size_t index);
/* By name; NULL without one. */
QP_API const qp_element *qp_element_find(const char *name);

/*
 * `count` elements to binary32, round to nearest even. QP_FIELD_RANGE, check "source_not_finite"
 * and the index as `column`, when a finite source becomes infinite (section 7 of ggml-blocks.md).
 * NaN and infinite sources pass: it is the method that refuses them. The types without a numeric
 * reading here (BOOL, F8_E5M2, C64 and the like) are refused with QP_INVALID_ARGUMENT.
 */
QP_API qp_status qp_element_to_float(const qp_element *element, const uint8_t *bytes, size_t count,
                                     float *values, qp_error *error);

/* ---- formats ------------------------------------------------------------------------------ */

typedef enum qp_format_family {
    QP_FAMILY_DIRECT,  /* one word an element, any shape */
    QP_FAMILY_GROUPED, /* signed codes, a binary16 scale a group */
    QP_FAMILY_NVFP4,   /* E2M1 codes, E4M3FN block scales, binary32 divisors */
    QP_FAMILY_ROW_FP8, /* E4M3FN codes, a scale a row */
    QP_FAMILY_GGUF     /* ggml's blocks */
} qp_format_family;

/* A numeric format. `group` is the number of columns that share a scale (a block for gguf_*), 1 for
 * direct formats, 0 for one scale a row. */
typedef struct qp_format {
    const char *name;    /* canonical: "q4_g64_fp16" */
    const char *summary; /* one line for tables */
    qp_format_family family;
    const char *layout;   /* the name of its layout: every format has one */
    uint32_t code_bits;   /* of one code; 0 for gguf_* */
    uint32_t group;       /* columns */
    uint32_t group_bytes; /* gguf_*: bytes of a block, else 0 */
    int32_t code_min;     /* grouped: the legal codes, else 0 */
    int32_t code_max;
    int32_t ggml_type; /* gguf_*, and the direct formats that ggml has, else -1 */
    double bits;       /* a weight, of full groups (tensor-formats.md section 1) */
    const struct qp_format_rules *rules; /* private: src/format/format.h */
} qp_format;

QP_API size_t qp_format_count(void);
QP_API const qp_format *qp_format_at(size_t index);
/* By canonical name; NULL without one. */
QP_API const qp_format *qp_format_find(const char *name);

/* ---- layouts ------------------------------------------------------------------------------ */

typedef struct qp_storage_layout {
    const char *name;                    /* "row_split_k128_v1" */
    const char *summary;                 /* one line for tables */
    const struct qp_layout_rules *rules; /* private */
} qp_storage_layout;

QP_API size_t qp_layout_count(void);
QP_API const qp_storage_layout *qp_layout_at(size_t index);
QP_API const qp_storage_layout *qp_layout_find(const char *name);

/* ---- a matrix ----------------------------------------------------------------------------- */

#define QP_PLANES 4 /* of stored bytes: codes (base), high bits, scales, divisors */

typedef struct qp_span {
    uint64_t offset; /* from the first byte of the encoded tensor */
    uint64_t size;   /* 0: the plane is not there */
} qp_span;

/* One encoded tensor. Fill it with qp_matrix_plan and only read it. */
typedef struct qp_matrix {
    const qp_format *format;
    const qp_storage_layout *layout;
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint64_t
        rows; /* N; of a direct tensor the product of all dimensions but the last; 1 of a scalar */
    uint64_t columns; /* K; the last dimension; 1 of a scalar */
    uint64_t divisors;
    uint64_t bytes;            /* of the encoded tensor */
    qp_span planes[QP_PLANES]; /* ascending; what lies between them is zero bytes */
    uint64_t row_step; /* rows are packed in chunks that begin at a multiple of this: 1, or 128 */
    uint64_t code_row_bytes; /* of the word form */
    uint64_t scale_row_bytes;
} qp_matrix;

/*
 * The geometry of a tensor (sections 7.1 to 7.6). `layout` NULL takes the format's own; `divisors`
 * is 1 unless the format is nvfp4. Refused with QP_GEOMETRY_MISMATCH and check "C-GEOM": a pair
 * that is not registered, a wrong rank, a zero dimension, a broken divisibility rule, divisors
 * where there are none, a size over 2^64 - 1.
 */
QP_API qp_status qp_matrix_plan(const qp_format *format, const qp_storage_layout *layout,
                                const uint64_t *shape, uint32_t rank, uint64_t divisors,
                                qp_matrix *matrix, qp_error *error);

/*
 * The stored bytes that hold the rows [first, first + count), plane by plane: what a reader must
 * fetch for them. For nvfp4 the span of scales covers whole tiles of 128 rows.
 */
QP_API void qp_matrix_spans(const qp_matrix *matrix, uint64_t first, uint64_t count,
                            qp_span spans[QP_PLANES]);

/* Stored bytes of some rows: planes[p] points to the first byte of the span p of qp_matrix_spans.
 */
typedef struct qp_rows {
    uint64_t first;
    uint64_t count;
    const uint8_t *planes[QP_PLANES];
} qp_rows;

/* The rows of a whole encoded tensor that lies in memory at `bytes`. */
QP_API qp_rows qp_rows_in(const qp_matrix *matrix, const uint8_t *bytes, uint64_t first,
                          uint64_t count);

/* Words of `count` rows in the word form. A plane that the format lacks is not touched. */
typedef struct qp_word_planes {
    uint8_t *codes;    /* count * code_row_bytes */
    uint8_t *scales;   /* count * scale_row_bytes */
    uint8_t *divisors; /* 4 * divisors: of the whole matrix, whatever the rows */
} qp_word_planes;

/* Stored rows to words. Any bytes are taken: qp_words_check says whether they are valid. */
QP_API void qp_rows_unpack(const qp_matrix *matrix, const qp_rows *rows,
                           const qp_word_planes *words);

/*
 * Words to stored bytes, canonical padding of these rows included: planes[p] points to the first
 * byte of the span p of qp_matrix_spans and is written in whole. `first` and, but for the last
 * chunk, `count` are multiples of row_step.
 */
QP_API void qp_rows_pack(const qp_matrix *matrix, uint64_t first, uint64_t count,
                         const qp_word_planes *words, uint8_t *const planes[QP_PLANES]);

/*
 * The validity rules of the format on `count` rows of words that begin at row `first`
 * (tensor-formats.md section 3, artifact-container.md section 8, ggml-blocks.md section 1):
 * QP_FIELD_RANGE with row and column, and check "code_invalid", "scale_invalid", "zero_scale_code"
 * or "divisor_invalid". The first fault in row, then column order is the one reported; the column
 * of a group's or block's scale is its first one, that of a row's scale or divisor is -1.
 */
QP_API qp_status qp_words_check(const qp_matrix *matrix, uint64_t first, uint64_t count,
                                const qp_word_planes *words, qp_error *error);

/* Whether the padding inside some stored rows is canonical: QP_MALFORMED, check "padding_invalid".
 * The bytes between planes are the caller's to look at. */
QP_API qp_status qp_rows_check_padding(const qp_matrix *matrix, const qp_rows *rows,
                                       qp_error *error);

/* Words to the binary32 values that they represent, bit for bit; `values` holds count * columns.
 * int32 words convert to binary32 by round to nearest even. The plain reference: qp_rows_decode
 * gives the same. */
QP_API void qp_words_decode(const qp_matrix *matrix, uint64_t first, uint64_t count,
                            const qp_word_planes *words, float *values);

/* Stored rows to values by the fastest way that `cpu` allows (QP_CPU_*). Invalid words give
 * unspecified values and no fault. No memory is allocated. */
QP_API void qp_rows_decode(const qp_matrix *matrix, const qp_rows *rows, uint32_t cpu,
                           float *values);

/* ---- methods ------------------------------------------------------------------------------ */

/* What a method reads of its source. */
typedef enum qp_method_input {
    QP_INPUT_VALUES,   /* binary32 values */
    QP_INPUT_ELEMENTS, /* the source's own elements: cast_direct keeps an unchanged type bit for bit
                        */
    QP_INPUT_ENCODED   /* encoded rows of the source */
} qp_method_input;

/* One conversion of one tensor, which a method may look at and keeps no pointer to. */
typedef struct qp_method_job {
    const qp_matrix *target;
    const float
        *importance; /* `columns` weights, finite and not negative, or NULL: all weigh the same */
    bool negative_scales;      /* grouped_search may use them */
    uint32_t cpu;              /* QP_CPU_* that it may use; never changes a result */
    const qp_element *element; /* of the source's elements; NULL when it is encoded */
    const char
        *encoding; /* of an encoded source: a format's name, "ggml_142" or "ggml_143"; else NULL */
    const struct qp_method *method;
    const float *survey; /* what the method's `survey` found in all rows; NULL without one */
} qp_method_job;

/* A chunk of rows, source and target. */
typedef struct qp_method_rows {
    uint64_t first;
    uint64_t count;
    const float *values;     /* QP_INPUT_VALUES: count * columns */
    const uint8_t *elements; /* QP_INPUT_ELEMENTS: count * columns elements */
    qp_word_planes
        encoded; /* QP_INPUT_ENCODED: words of the source's format; ternary blocks in `codes` */
    qp_word_planes words; /* receives the target's words */
} qp_method_rows;

/*
 * A method: how values become words (section 9). A program registers one of its own by handing it
 * to the function that converts; it is then named in provenance. Its words are held to the format's
 * validity rules like everyone's: see qp_method_encode.
 */
typedef struct qp_method {
    const char *name;
    const char *summary; /* one line for tables */
    qp_method_input input;
    bool takes_importance;      /* the recipe's `imatrix` */
    bool takes_negative_scales; /* the recipe's `negative_scales` */
    bool (*targets)(const qp_format *format);
    /* Refusals that need no data; NULL: none. */
    qp_status (*prepare)(const qp_method_job *job, qp_error *error);
    /* Rows in, words out. Rows do not depend on one another, so any chunks give the same words.
     * QP_FIELD_RANGE with row, column and a check of section 9.7 on a refusal. May run in several
     * threads at once. */
    qp_status (*encode)(const qp_method_job *job, const qp_method_rows *rows, qp_error *error);
    /* Both NULL, or both given: what must be known of the whole matrix before its first row is
     * encoded, as `survey_count` numbers, each the maximum of something over rows. `survey` raises
     * `maxima` (0 at the start) by some rows, whose `words` it does not touch. Rows may come in any
     * chunks and order, and partial maxima may be joined by maximum. */
    uint64_t (*survey_count)(const qp_matrix *target);
    qp_status (*survey)(const qp_method_job *job, const qp_method_rows *rows, float *maxima,
                        qp_error *error);
    void *context; /* the program's own */
} qp_method;

/* The built-in methods. */
QP_API size_t qp_method_count(void);
QP_API const qp_method *qp_method_at(size_t index);
QP_API const qp_method *qp_method_find(const char *name);

/* Whether the method takes the job: check "method_target" when it does not write that format,
 * "source_type" for a source of a kind or type that it does not read, "method_parameter" for a
 * parameter that it does not take, "importance_invalid" with the column for a weight that is
 * negative or not finite, and what the method's own `prepare` refuses ("geometry").
 * "importance_length" is the caller's to look at. */
QP_API qp_status qp_method_prepare(const qp_method_job *job, qp_error *error);

/* How many numbers the method surveys; 0 when it needs no first pass. At most one a row. */
QP_API uint64_t qp_method_survey_count(const qp_method_job *job);

/* The first pass: raises `maxima` by some rows. Once all rows have been seen, `job->survey` points
 * to the maxima and rows are encoded. */
QP_API qp_status qp_method_survey(const qp_method_job *job, const qp_method_rows *rows,
                                  float *maxima, qp_error *error);

/* Encodes rows, then checks the words by qp_words_check. On failure the words are unspecified.
 * Every call writes all of words.divisors: threads give each its own. */
QP_API qp_status qp_method_encode(const qp_method_job *job, const qp_method_rows *rows,
                                  qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
