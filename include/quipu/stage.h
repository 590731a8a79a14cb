/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/stage.h - the stage operators E1 to E13 (integer-operators.md section 5E), which work on
 * streams, symbols and samples outside any graph, and the inverse of each that has one.
 *
 * Every operator refuses an operand, mode or table that breaks its conditions with the text's code,
 * before any symbol or element is decoded. Where the refusal has an index `at` (section 14.1) of 0
 * or more, the error names it: `table` is QP_TABLE_SYMBOLS and `record` is `at`. For `at` = -1 the
 * error has no place.
 *
 * Nothing here allocates but the functions that take an allocator: making tables, and encoding. No
 * decode loop does. Tables do not change once made, so any number of threads may read them; a
 * decoder belongs to one thread. Decoders are small structures that the caller owns, need no end,
 * and may be copied to remember a place.
 *
 * Encoders are the mirror images of their decoders. Their bytes are the same on every machine.
 */
#ifndef QUIPU_STAGE_H
#define QUIPU_STAGE_H

#include "quipu/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Some integers, and how many. `values` may be NULL where `count` is 0. */
typedef struct qp_integer_list {
    const int64_t *values;
    size_t count;
} qp_integer_list;

/* Bytes that an encoder made. */
typedef struct qp_stream {
    uint8_t *bytes;
    size_t size;
} qp_stream;

/* Frees a stream, with the allocator that made it, and empties it. */
QP_API void qp_stream_free(const qp_allocator *allocator, qp_stream *stream);

/* ---- E1: rans64_decode -------------------------------------------------------------------- */

typedef enum qp_rans_table_rule {
    QP_RANS_T4097, /* 3 <= n <= 4097 */
    QP_RANS_T2     /* 2 <= n <= 65537 */
} qp_rans_table_rule;

typedef enum qp_rans_escape_rule { QP_RANS_LENIENT, QP_RANS_STRICT } qp_rans_escape_rule;

typedef enum qp_rans_end_rule { QP_RANS_CANONICAL, QP_RANS_FINAL_ONLY } qp_rans_end_rule;

/* The modes that a capability fixes; all zero is t4097, lenient, canonical. */
typedef struct qp_rans_modes {
    qp_rans_table_rule table;
    qp_rans_escape_rule escape;
    qp_rans_end_rule end;
    int64_t lo, hi; /* read under QP_RANS_STRICT only: every symbol lies in [lo, hi] */
} qp_rans_modes;

/* One table as it is given: `cdf[0] = 0` up to `cdf[n - 1] = 65536`, strictly increasing, whose
 * last interval is the escape; and the offset that is added to every value. */
typedef struct qp_rans_cdf {
    qp_integer_list cdf;
    int64_t offset;
} qp_rans_cdf;

typedef struct qp_rans_tables qp_rans_tables;

/*
 * Checks `count` tables against the modes and prepares them: 1 KiB a table beside its intervals.
 * Nothing of `cdfs` need outlive the call. QP_MODEL_MISMATCH, with the table's index in the
 * message, for a table that breaks its rule, an offset that does not fit i32, or bounds lo > hi or
 * beyond i32. `count` may be 0. Ownership: qp_rans_tables_free.
 */
QP_API qp_status qp_rans_tables_create(const qp_rans_cdf *cdfs, size_t count,
                                       const qp_rans_modes *modes, const qp_allocator *allocator,
                                       qp_rans_tables **tables, qp_error *error);

/* Frees tables; NULL is allowed. */
QP_API void qp_rans_tables_free(qp_rans_tables *tables);

QP_API size_t qp_rans_tables_count(const qp_rans_tables *tables);
QP_API qp_rans_modes qp_rans_tables_modes(const qp_rans_tables *tables);

/* A decode under way. The caller reads `decoded` and nothing else. */
typedef struct qp_rans_decoder {
    const qp_rans_tables *tables;
    const uint8_t *next, *end; /* the words that are left */
    uint64_t state;
    uint64_t decoded; /* symbols so far; after a refusal, its index `at` */
    int ran_out;      /* a word was wanted where none was left */
} qp_rans_decoder;

/*
 * Starts a decode. The stream and the tables must stay until its end. QP_MODEL_MISMATCH for a
 * stream that is no multiple of 4 bytes, or has fewer than 8.
 */
QP_API qp_status qp_rans_decoder_init(qp_rans_decoder *decoder, const qp_rans_tables *tables,
                                      const uint8_t *stream, size_t size, qp_error *error);

/*
 * Decodes one symbol against table `table`. The table may depend on symbols decoded before.
 *
 * Refusals, in the text's order: QP_STREAM_EXHAUSTED under `canonical`; under `strict` also
 * QP_STREAM_NONCANONICAL for an escape that counts more than 8 groups or is not minimal, and
 * QP_FIELD_RANGE for a symbol outside [lo, hi]. Each names the symbol's index. QP_MODEL_MISMATCH,
 * with no index, for a table that is not there. After a refusal the decode is over.
 */
QP_API qp_status qp_rans_decode(qp_rans_decoder *decoder, size_t table, int32_t *symbol,
                                qp_error *error);

/*
 * Decodes `count` symbols, symbol i against table reads[i], faster than one by one. An index that
 * no table has is refused before any symbol is decoded. On a refusal `symbols` holds what was
 * decoded before it, and what follows is undefined.
 */
QP_API qp_status qp_rans_decode_run(qp_rans_decoder *decoder, const uint32_t *reads, size_t count,
                                    int32_t *symbols, qp_error *error);

/* The same, every symbol against one table. */
QP_API qp_status qp_rans_decode_same(qp_rans_decoder *decoder, size_t table, size_t count,
                                     int32_t *symbols, qp_error *error);

/*
 * The end rule, after the last symbol: QP_STREAM_NONCANONICAL under `canonical` unless every word
 * is read and the state is 2^31; QP_STREAM_EXHAUSTED under `final_only` for a stream that has run
 * out. Its index is the number of symbols.
 */
QP_API qp_status qp_rans_finish(const qp_rans_decoder *decoder, qp_error *error);

/* Symbols to encode, symbol i against table reads[i]. */
typedef struct qp_rans_symbols {
    const uint32_t *reads;
    const int32_t *symbols;
    size_t count;
} qp_rans_symbols;

/*
 * Encodes symbols so that the decode of the same reads gives them and ends canonically; escapes are
 * minimal, so that the stream holds under every mode. QP_MODEL_MISMATCH for an index that no table
 * has; QP_FIELD_RANGE, with the index, for a symbol that no stream of these modes gives; otherwise
 * every list of symbols has a stream, the empty one too. Ownership: qp_stream_free.
 */
QP_API qp_status qp_rans_encode(const qp_rans_tables *tables, const qp_rans_symbols *symbols,
                                const qp_allocator *allocator, qp_stream *stream, qp_error *error);

/* ---- E2 to E7: from symbols to values, and from scales to tables -------------------------- */

/* E2: sym·2^f + base. QP_FIELD_RANGE, at 0, unless f is in 0..62 and the value fits i64. */
QP_API qp_status qp_dequantize(int64_t sym, int64_t f, int64_t base, int64_t *value,
                               qp_error *error);

typedef enum qp_bucket_rule {
    QP_BUCKET_CEIL, /* N edges, of which the last is never compared */
    QP_BUCKET_FLOOR /* N - 1 edges, which do not decrease */
} qp_bucket_rule;

/* The conditions of E3 on its edges: at least one, and under `floor` non-decreasing.
 * QP_MODEL_MISMATCH otherwise. */
QP_API qp_status qp_bucket_check(qp_integer_list edges, qp_bucket_rule rule, qp_error *error);

/* E3: the index of the table for a scale, below edges.count under `ceil` and at most edges.count
 * under `floor`. The edges have passed qp_bucket_check. */
QP_API size_t qp_bucket(int64_t sigma, qp_integer_list edges, qp_bucket_rule rule);

/* E4: 1 where v > thr. A position that is not coded consumes no symbol. */
QP_API int qp_coded(int64_t v, int64_t thr);

/* E5: clamp(R_half_up(v, s), 0, n - 1). QP_MODEL_MISMATCH unless s is in 0..127 and n >= 1. */
QP_API qp_status qp_scale_index(int64_t v, int64_t s, int64_t n, int64_t *index, qp_error *error);

/* The parameters of E6. */
typedef struct qp_block_rule {
    int64_t b;      /* the side of a block, at least 1 */
    int64_t s;      /* the shift, in 0..127, whatever the number of positions in the block */
    int64_t lo, hi; /* lo <= hi */
} qp_block_rule;

/*
 * E6: every position takes clamp(R_half_up(S, s), lo, hi), where S is the sum over its block of the
 * plane. `out` has the elements of `x`, in its order, and does not overlap it. QP_MODEL_MISMATCH
 * for parameters out of range.
 */
QP_API qp_status qp_block_stat(const qp_array *x, const qp_block_rule *rule, int64_t *out,
                               qp_error *error);

/* The tables of E7: `m` edges, and rows of m + 1 entries. */
typedef struct qp_band_table {
    qp_integer_list edges;
    const qp_integer_list *rows;
    size_t n_rows;
} qp_band_table;

/* E7: rows[row][#{k : v >= edges[k]}]. QP_MODEL_MISMATCH for a row that is not there or does not
 * hold m + 1 entries. */
QP_API qp_status qp_band_lookup(int64_t v, const qp_band_table *table, int64_t row, int64_t *value,
                                qp_error *error);

/* ---- E8: mans_decode ---------------------------------------------------------------------- */

#define QP_MANS_SLOTS 256     /* states of one decoder state: 8 bits */
#define QP_MANS_ROW_COUNTS 63 /* cumulative counts of one row of `fac` */
#define QP_MANS_ROW_ESCAPE 63 /* the symbol of a row's slot 255 */

typedef struct qp_mans_latents qp_mans_latents;

/*
 * The latent tables of `sgm`, from the rows P[sigma] and the bounds B_y. QP_MODEL_MISMATCH unless
 * the rows have one width of at least 1, each holds non-negative integers that sum to 256, and
 * every bound lies in [0, 255]. Nothing given need outlive the call. Ownership:
 * qp_mans_latents_free.
 */
QP_API qp_status qp_mans_latents_create(const qp_integer_list *pmf, size_t n_pmf,
                                        qp_integer_list bounds, const qp_allocator *allocator,
                                        qp_mans_latents **latents, qp_error *error);

/* Frees tables; NULL is allowed. */
QP_API void qp_mans_latents_free(qp_mans_latents *latents);

/* How many distributions there are: the smaller of the counts of rows and of bounds. */
QP_API size_t qp_mans_latents_count(const qp_mans_latents *latents);

/* One row of `fac`, checked. */
typedef struct qp_mans_row {
    uint8_t counts[QP_MANS_ROW_COUNTS]; /* cumulative, non-decreasing */
} qp_mans_row;

/* QP_MODEL_MISMATCH unless there are 63 counts, non-decreasing, in [0, 255]. */
QP_API qp_status qp_mans_row_make(qp_integer_list counts, qp_mans_row *row, qp_error *error);

/* A decode under way, of one mode. The caller reads `position` and nothing else. */
typedef struct qp_mans_decoder {
    const uint8_t *stream;
    size_t size;
    size_t index;                      /* p: the window's place in 8 zero bytes and the stream */
    uint64_t head;                     /* h: the bits of the window that are left, below 2^bit */
    unsigned bit;                      /* b, at most 63 */
    uint8_t states[2];                 /* s1, s2 */
    uint64_t position;                 /* positions decoded so far */
    uint32_t row_table[QP_MANS_SLOTS]; /* T_z */
} qp_mans_decoder;

/*
 * Starts a decode: the window's `init`. The stream must stay until the decode's end.
 * QP_STREAM_EXHAUSTED, at 0, for a stream that is too short or has a zero tail. Tables and operands
 * are checked before this (section 5E); a driver that holds all of them does so with the functions
 * above and qp_mans_span_check.
 */
QP_API qp_status qp_mans_decoder_init(qp_mans_decoder *decoder, const uint8_t *stream, size_t size,
                                      qp_error *error);

/* A span of `sgm`: `length` positions, of which those with a mask of 0 are 0 and read nothing. */
typedef struct qp_mans_span {
    const uint8_t *mask;   /* [length] */
    const uint32_t *sigma; /* [length]: the distribution of each position, masked or not */
    size_t length;
} qp_mans_span;

/* QP_MODEL_MISMATCH where a position names a distribution that is not there. */
QP_API qp_status qp_mans_span_check(const qp_mans_latents *latents, const qp_mans_span *span,
                                    qp_error *error);

/*
 * Decodes one span; the window and the states carry to the next. QP_MODEL_MISMATCH as
 * qp_mans_span_check, before the span's first position; QP_STREAM_EXHAUSTED, with the position
 * counted over every span so far, where the stream does not hold the bits. After a refusal the
 * decode is over. Symbols are 16 bits wide: the text wraps them.
 */
QP_API qp_status qp_mans_decode_span(qp_mans_decoder *decoder, const qp_mans_latents *latents,
                                     const qp_mans_span *span, int16_t *symbols, qp_error *error);

/* Decodes one row of `fac`; the window, the states and the row table carry to the next. The
 * symbols lie in 0..63. Refusals as qp_mans_decode_span's. */
QP_API qp_status qp_mans_decode_row(qp_mans_decoder *decoder, const qp_mans_row *row, size_t length,
                                    int16_t *symbols, qp_error *error);

/* What encoders read: a span or a row with its symbols. */
typedef struct qp_mans_coded_span {
    qp_mans_span span;
    const int16_t *symbols; /* [span.length] */
} qp_mans_coded_span;

typedef struct qp_mans_coded_row {
    qp_mans_row row;
    const int16_t *symbols; /* [length] */
    size_t length;
} qp_mans_coded_row;

/*
 * Encodes spans: the decode of the same spans gives their symbols. QP_MODEL_MISMATCH as
 * qp_mans_span_check; QP_FIELD_RANGE, with the position, for a symbol that its distribution does
 * not hold and its escape does not reach, and for one other than 0 where the mask is 0. Ownership:
 * qp_stream_free.
 */
QP_API qp_status qp_mans_encode_spans(const qp_mans_latents *latents,
                                      const qp_mans_coded_span *spans, size_t count,
                                      const qp_allocator *allocator, qp_stream *stream,
                                      qp_error *error);

/* Encodes rows of `fac`. QP_FIELD_RANGE, with the position, for a symbol outside 0..63. */
QP_API qp_status qp_mans_encode_rows(const qp_mans_coded_row *rows, size_t count,
                                     const qp_allocator *allocator, qp_stream *stream,
                                     qp_error *error);

/* ---- E9: residual_step -------------------------------------------------------------------- */

/* What is fixed of E9 over a picture or a signal. */
typedef struct qp_residual {
    int64_t q;      /* 1..65535 */
    int64_t lo, hi; /* lo < hi */
} qp_residual;

/* The conditions on q, lo and hi (QP_MODEL_MISMATCH). */
QP_API qp_status qp_residual_check(const qp_residual *residual, qp_error *error);

/* E9: clamp(pred + r*q, lo, hi). QP_MODEL_MISMATCH as qp_residual_check, and unless pred lies in
 * [lo, hi] and r fits i32. */
QP_API qp_status qp_residual_step(const qp_residual *residual, int64_t pred, int64_t r,
                                  int64_t *value, qp_error *error);

/* 1 where the 32-bit form holds: every value it forms fits i32. */
QP_API int qp_residual_fits_i32(const qp_residual *residual);

/* E9 in its 32-bit form, for a residual that has passed both checks above and a pred in [lo, hi].
 * The integers are the same. */
QP_API int32_t qp_residual_step_i32(const qp_residual *residual, int32_t pred, int32_t r);

/* The encoder's side: the r whose step from `pred` comes nearest to `target`, both in [lo, hi]; of
 * two as near, the one nearer to 0. The residual has passed qp_residual_check. */
QP_API int32_t qp_residual_choose(const qp_residual *residual, int64_t pred, int64_t target);

/* ---- E10 and E11: prediction from 8-bit samples ------------------------------------------- */

/* Samples [channels, height, width] in memory: (c, y, x) stands at c*channel_step + y*row_step +
 * x*column_step, so that planes and interleaved pixels are read alike. */
typedef struct qp_samples {
    const uint8_t *data;
    uint32_t channels, height, width;
    size_t channel_step, row_step, column_step;
} qp_samples;

/* Samples of planes one after another (CHW), and of pixels one after another (HWC). */
QP_API qp_samples qp_samples_planes(const uint8_t *data, uint32_t channels, uint32_t height,
                                    uint32_t width);
QP_API qp_samples qp_samples_pixels(const uint8_t *data, uint32_t channels, uint32_t height,
                                    uint32_t width);

/* A vector, in units of 1/precision pel. */
typedef struct qp_motion {
    int32_t dy, dx;
    int precision; /* mv_precision: 1 whole-pel, 2 half-pel */
} qp_motion;

/* A place of a frame. */
typedef struct qp_pixel {
    int64_t y, x;
    int64_t c;
} qp_pixel;

/* E10. QP_MODEL_MISMATCH unless the frame has 3 channels and at least one pixel, the pixel and the
 * channel are the frame's, and the precision is 1 or 2. */
QP_API qp_status qp_mc_predict(const qp_samples *frame, const qp_pixel *pixel,
                               const qp_motion *motion, uint8_t *value, qp_error *error);

/* A rectangle of pixels; one that passes the frame's edge is cut to it. */
typedef struct qp_block {
    uint32_t y, x, height, width;
} qp_block;

/* E10 for every pixel of a block, in raster order, three channels each: `out` takes 3 bytes a pixel
 * of the block as it is cut. QP_MODEL_MISMATCH as qp_mc_predict, and for a block that begins
 * outside the frame or is empty. */
QP_API qp_status qp_mc_predict_block(const qp_samples *frame, const qp_block *block,
                                     const qp_motion *motion, uint8_t *out, qp_error *error);

/* The encoder's side: finds the vector of a block by full search over whole pels within `range` of
 * no motion, then for precision 2 over the half-pels around the best. */
typedef struct qp_motion_search {
    uint32_t range; /* in pels, at most 255 */
    int precision;
} qp_motion_search;

/* The vector with the least sum of absolute differences between `frame`'s block and its prediction
 * from `previous`, which has the same size; of several, the shortest |dy| + |dx|, then the least
 * dy, then the least dx. QP_MODEL_MISMATCH as qp_mc_predict_block, for frames of two sizes and for
 * a range above 255. Which vector is found is no promise beyond that. */
QP_API qp_status qp_motion_find(const qp_samples *frame, const qp_samples *previous,
                                const qp_block *block, const qp_motion_search *search,
                                qp_motion *motion, qp_error *error);

/* QP_GEOMETRY_MISMATCH unless d0 and d1 are at least 1 and `below` is ceil(d0/2) by ceil(d1/2). */
QP_API qp_status qp_up2_check(const qp_samples *below, uint64_t d0, uint64_t d1, qp_error *error);

/* E11 at element (y, x) of channel c, for a picture below that has passed qp_up2_check: c below
 * its channels, y below d0 and x below d1. */
QP_API uint8_t qp_up2_at(const qp_samples *below, uint32_t c, uint64_t y, uint64_t x);

/* E11 for every element: `out` takes [channels, d0, d1], planes one after another. */
QP_API qp_status qp_up2_predict(const qp_samples *below, uint64_t d0, uint64_t d1, uint8_t *out,
                                qp_error *error);

/* ---- E12: rate_predict -------------------------------------------------------------------- */

/* A change of rate: `length` samples of a channel below become `d0`. */
typedef struct qp_rate {
    uint64_t length; /* n', at least 1 and at most 2^26 */
    uint32_t rate_num, rate_den;
    uint64_t d0;
} qp_rate;

/* QP_GEOMETRY_MISMATCH unless no member is 0, the length is at most 2^26, and
 * d0 = floor(length*rate_num / rate_den). */
QP_API qp_status qp_rate_check(const qp_rate *rate, qp_error *error);

/* E12 for output sample i < d0 of one channel whose samples stand `step` apart. The rate has passed
 * qp_rate_check. */
QP_API int16_t qp_rate_at(const qp_rate *rate, const int16_t *samples, size_t step, uint64_t i);

/* E12 for every sample: `samples` is [channels, 1, length] and `out` takes [channels, 1, d0]. */
QP_API qp_status qp_rate_predict(const qp_rate *rate, const int16_t *samples, uint32_t channels,
                                 int16_t *out, qp_error *error);

/* ---- E13: coding_order -------------------------------------------------------------------- */

typedef enum qp_order { QP_ORDER_RASTER, QP_ORDER_CHECKERBOARD } qp_order;

/* An order over the elements [channels, height, width]. */
typedef struct qp_order_rule {
    uint32_t channels, height, width;
    qp_order order;
    int anchor; /* read for checkerboard only: 1 for the elements with an even row + column */
} qp_order_rule;

/* How many elements the order has. QP_MODEL_MISMATCH for a dimension of 0, QP_TOO_LARGE for more
 * than 2^26 elements. */
QP_API qp_status qp_coding_order_count(const qp_order_rule *rule, size_t *count, qp_error *error);

/* E13: each element's position (c*height + y)*width + x, in coding order. `indices` takes as many
 * as qp_coding_order_count gives. Refusals as its. */
QP_API qp_status qp_coding_order(const qp_order_rule *rule, uint32_t *indices, qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
