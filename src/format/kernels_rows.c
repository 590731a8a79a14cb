/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_rows.c - the drivers of decode kernels: from a chunk of rows to runs of groups, by the
 * geometry of artifact-container.md sections 7.1 to 7.6.
 */
#include "format/kernels.h"
#include "number/minifloat.h"

#include <string.h>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

/* One way over a chunk of rows. */
typedef struct row_walk {
    qp_decode_run run;
    size_t group;            /* values */
    size_t bytes[QP_PLANES]; /* of a group in each plane */
    bool around;             /* values go around the caches */
} row_walk;

enum {
    STEP = 512, /* values decoded before they are stored around the caches */
    /* Bytes of output from which going around the caches pays: see docs/performance.md. */
    LEAST_AROUND = 32 * 1024 * 1024
};

/* ---- storing ------------------------------------------------------------------------------ */

#if defined(__SSE2__)

/* Such stores take 16 bytes at a time: each row must begin at a multiple of that. */
static bool goes_around(const qp_matrix *matrix, const qp_rows *rows, const float *values)
{
    return rows->count >= LEAST_AROUND / sizeof *values / matrix->columns &&
           (rows->count == 1 || matrix->columns % 4 == 0) && (uintptr_t)values % 16 == 0;
}

static void store_around(const float *from, size_t count, float *values)
{
    size_t whole = count / 4 * 4;
    for (size_t i = 0; i < whole; i += 4)
        _mm_stream_ps(values + i, _mm_loadu_ps(from + i));
    memcpy(values + whole, from + whole, (count - whole) * sizeof *values);
}

/* Orders the stores before whatever the caller does next. */
static void finish_around(const row_walk *walk)
{
    if (walk->around)
        _mm_sfence();
}

#else

static bool goes_around(const qp_matrix *matrix, const qp_rows *rows, const float *values)
{
    (void)matrix;
    (void)rows;
    (void)values;
    return false;
}

static void store_around(const float *from, size_t count, float *values)
{
    memcpy(values, from, count * sizeof *values);
}

static void finish_around(const row_walk *walk)
{
    (void)walk;
}

#endif

/* ---- runs --------------------------------------------------------------------------------- */

/* The planes from the group `index` on. */
static void move_planes(const row_walk *walk, const uint8_t *const planes[QP_PLANES], size_t index,
                        const uint8_t *moved[QP_PLANES])
{
    for (unsigned p = 0; p < QP_PLANES; p++)
        moved[p] = planes[p] == NULL ? NULL : planes[p] + index * walk->bytes[p];
}

/* Asks for the bytes of groups that come two steps later, so that reading goes on while values are
 * stored. */
static void fetch_groups(const row_walk *walk, const uint8_t *const planes[QP_PLANES],
                         size_t groups)
{
#if defined(__GNUC__)
    for (unsigned p = 0; p < QP_PLANES; p++) {
        size_t line = walk->bytes[p] < 64 ? 64 : walk->bytes[p];
        for (size_t i = 0; i < groups * walk->bytes[p]; i += line)
            __builtin_prefetch(planes[p] + i);
    }
#else
    (void)walk;
    (void)planes;
    (void)groups;
#endif
}

/* `count` groups that lie one after the other. */
static void run_groups(const row_walk *walk, const uint8_t *const planes[QP_PLANES], size_t count,
                       float *values)
{
    size_t groups = STEP / walk->group;

    if (!walk->around) {
        walk->run(planes, count, values);
        return;
    }
    for (size_t done = 0; done < count; done += groups) {
        float step[STEP];
        const uint8_t *here[QP_PLANES];
        size_t now = count - done < groups ? count - done : groups;
        if (count - done >= 3 * groups) {
            move_planes(walk, planes, done + 2 * groups, here);
            fetch_groups(walk, here, groups);
        }
        move_planes(walk, planes, done, here);
        walk->run(here, now, step);
        store_around(step, now * walk->group, values + done * walk->group);
    }
}

/* A row's groups, of which the last may be partly filled. */
static void run_row(const row_walk *walk, const uint8_t *const planes[QP_PLANES], size_t columns,
                    float *values)
{
    size_t whole = columns / walk->group, rest = columns % walk->group;

    run_groups(walk, planes, whole, values);
    if (rest != 0) {
        float last[STEP];
        const uint8_t *here[QP_PLANES];
        move_planes(walk, planes, whole, here);
        walk->run(here, 1, last);
        memcpy(values + whole * walk->group, last, rest * sizeof *values);
    }
}

/* ---- layouts ------------------------------------------------------------------------------ */

/* Rows without a gap between them: one run. */
static void decode_stream(const qp_matrix *matrix, const qp_rows *rows, const row_walk *walk,
                          float *values)
{
    run_groups(walk, rows->planes, (size_t)(rows->count * matrix->columns) / walk->group, values);
    finish_around(walk);
}

void qp_decode_elements(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                        float *values)
{
    row_walk walk = {run, 1, {matrix->format->code_bits / 8}, goes_around(matrix, rows, values)};
    decode_stream(matrix, rows, &walk, values);
}

void qp_decode_blocks(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                      float *values)
{
    const qp_format *format = matrix->format;
    row_walk walk = {run, format->group, {format->group_bytes}, goes_around(matrix, rows, values)};
    decode_stream(matrix, rows, &walk, values);
}

void qp_decode_groups(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                      float *values)
{
    size_t group = matrix->format->group, bits = matrix->format->code_bits;
    size_t high = bits == 5 || bits == 6 ? bits - 4 : 0;
    row_walk walk = {run,
                     group,
                     {group * (bits - high) / 8, group * high / 8, 2},
                     goes_around(matrix, rows, values)};
    size_t columns = (size_t)matrix->columns;
    size_t row_groups = (columns + 127) / 128 * 128 / group;

    if (columns % 128 == 0) {
        decode_stream(matrix, rows, &walk, values);
        return;
    }
    for (size_t n = 0; n < rows->count; n++) {
        const uint8_t *planes[QP_PLANES];
        move_planes(&walk, rows->planes, n * row_groups, planes);
        run_row(&walk, planes, columns, values + n * columns);
    }
    finish_around(&walk);
}

void qp_decode_scaled_rows(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                           float *values)
{
    row_walk walk = {run, 1, {1}, goes_around(matrix, rows, values)};
    size_t columns = (size_t)matrix->columns;

    for (size_t n = 0; n < rows->count; n++) {
        const uint8_t *const planes[QP_PLANES] = {rows->planes[0] + n * columns, NULL,
                                                  rows->planes[2] + 2 * n, NULL};
        run_row(&walk, planes, columns, values + n * columns);
    }
    finish_around(&walk);
}

void qp_decode_interleaved_rows(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run,
                                float *values)
{
    row_walk walk = {run, 1, {1}, goes_around(matrix, rows, values)};
    size_t columns = (size_t)matrix->columns;

    for (size_t n = 0; n < rows->count; n++) {
        const uint8_t *codes = rows->planes[0] + n * (columns + 2);
        const uint8_t *const planes[QP_PLANES] = {codes, NULL, codes + columns, NULL};
        run_row(&walk, planes, columns, values + n * columns);
    }
    finish_around(&walk);
}

/* ---- nvfp4 -------------------------------------------------------------------------------- */

/* The value of each scale word and each E2M1 magnitude over a divisor: there are few of them, and a
 * division is slow. */
static void fill_tile_values(float divisor, qp_tile_values *values)
{
    for (unsigned s = 0; s < QP_TILE_SCALES; s++) {
        float scale = qp_float_of_bits(qp_e4m3_to_f32_bits((uint8_t)s));
        for (unsigned m = 0; m < QP_TILE_MAGNITUDES; m++)
            values->of[s][m] = qp_float_of_bits(qp_e2m1_to_f32_bits((uint8_t)m)) * scale / divisor;
    }
}

void qp_decode_tiles(const qp_matrix *matrix, const qp_rows *rows, qp_decode_run run, float *values)
{
    row_walk walk = {run, 64, {32, 0, 512}, goes_around(matrix, rows, values)};
    size_t columns = (size_t)matrix->columns, tile_row = columns / 64 * 512;
    uint64_t source_rows = matrix->rows / matrix->divisors;
    qp_tile_values table;

    for (size_t n = 0; n < rows->count; n++) {
        uint64_t row = rows->first + n;
        size_t t = (size_t)(rows->first % 128) + n; /* from the first row of the span's tiles */
        const uint8_t *scales =
            rows->planes[2] + t / 128 * tile_row + t % 32 * 16 + t % 128 / 32 * 4;
        if (n == 0 || row % source_rows == 0) {
            uint32_t divisor = qp_load_u32(rows->planes[3] + 4 * (row / source_rows));
            fill_tile_values(qp_float_of_bits(divisor), &table);
        }
        const uint8_t *const planes[QP_PLANES] = {rows->planes[0] + n * (columns / 2), NULL, scales,
                                                  (const uint8_t *)(const void *)&table};
        run_row(&walk, planes, columns, values + n * columns);
    }
    finish_around(&walk);
}
