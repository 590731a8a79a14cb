/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/movement.c - vectors of the data movement of section 5.10. */
#include "conform/rows.h"

/* An input whose range is random, so that widths of storage differ. */
static uint32_t moved_input(qp_corpus *c, uint32_t channels)
{
    int64_t size = QP_P(qp_case_random(c, 2, 40));
    return qp_case_input(c, channels, -size, size + 1);
}

/* Every range at the ends of i32 and i64 through one operator of one input. */
static void limits(qp_corpus *c, void (*make)(qp_corpus *c, qp_range range), qp_shape shape)
{
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        const qp_range *r = &qp_limits[i].range;
        qp_case(c, qp_limits[i].want, "values from %s", qp_limits[i].name);
        make(c, *r);
        qp_case_decode(c, QP_OK);
        qp_case_give_shape(c, shape, QP_LIST(r->lo, r->hi, r->lo + 1, r->hi - 1, 0));
    }
}

/* ---- concat ------------------------------------------------------------------------------- */

static void concat_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    qp_case_input(c, 1, -9, 99);
    qp_case_input(c, 2, -999, 9);
    qp_case_tensor(c, 3);
    qp_case_operator(c, "concat", "0 1 > 2");
    qp_case_output(c, 2);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_random(c, height, width);
}

static void concat_exponents(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        int exponents[3];
    } table[] = {{"equal exponents", QP_WANT_ACC32, {7, 7, 7}},
                 {"refused: the second input's exponent differs", QP_WANT_MISMATCH, {7, 8, 7}},
                 {"refused: the output's exponent differs", QP_WANT_MISMATCH, {7, 7, 8}},
                 {"refused: the output has no exponent", QP_WANT_MISMATCH, {7, 7, -128}}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        concat_base(c, 1, 2);
        for (uint32_t t = 0; t < 3; t++)
            qp_case_exponent(c, t, table[i].exponents[t]);
    }
}

static void concat_cases(qp_corpus *c)
{
    concat_exponents(c);
    qp_case(c, QP_WANT_ACC32, "five inputs, one of them twice");
    qp_case_input(c, 1, -9, 9);
    qp_case_input(c, 2, 0, 255);
    qp_case_input(c, 3, INT32_MIN, 0);
    qp_case_input(c, 1, 0, INT32_MAX);
    qp_case_tensor(c, 8);
    qp_case_operator(c, "concat", "0 1 2 3 0 > 4");
    qp_case_output(c, 4);
    qp_case_decode(c, QP_OK);
    for (unsigned k = 0; k < 4; k++)
        qp_case_give_random(c, 2, 3);

    static const uint32_t sizes[][2] = {{2, 3}, {3, 2}, {1, 4}};
    qp_case(c, QP_WANT_ACC32, "inputs whose sizes disagree");
    qp_case_input(c, 1, 0, 9);
    qp_case_input(c, 1, 0, 9);
    qp_case_tensor(c, 2);
    qp_case_operator(c, "concat", "0 1 > 2");
    qp_case_output(c, 2);
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, 2, 2);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case(c, QP_WANT_ACC32, "an output past max_elems");
    concat_base(c, 2, 2);
    qp_case_max_elems(c, 12);
    qp_case_decode_shape(c, QP_GEOMETRY_MISMATCH, 0, (qp_shape){1, 1, 5});
    qp_case(c, QP_WANT_ACC32, "an output one past max_elems");
    concat_base(c, 2, 2);
    qp_case_max_elems(c, 11);
    qp_case_first_want(c, QP_TOO_LARGE);
}

const qp_corpus_row qp_row_concat = {"concat", concat_base, concat_cases, false};

/* ---- split -------------------------------------------------------------------------------- */

static void split(qp_corpus *c, uint32_t channels, uint32_t start, uint32_t count)
{
    moved_input(c, channels);
    qp_case_tensor(c, count == 0 || count > 99 ? 1 : count);
    qp_case_operator(c, "split", "0 > 1");
    qp_case_u32(c, start);
    qp_case_u32(c, count);
    qp_case_output(c, 1);
}

static void split_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint32_t start = (uint32_t)qp_case_random(c, 0, 3);
    split(c, 5, start, (uint32_t)qp_case_random(c, 1, 5 - start));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void split_range(qp_corpus *c, qp_range range)
{
    qp_case_input(c, 2, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "split", "0 > 1");
    qp_case_u32(c, 1);
    qp_case_u32(c, 1);
    qp_case_output(c, 1);
}

static void split_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        uint32_t start, count;
    } table[] = {{"every channel", QP_WANT_LOADED, 0, 4},
                 {"the last channel", QP_WANT_LOADED, 3, 1},
                 {"refused: one channel past the last", QP_WANT_MISMATCH, 2, 3},
                 {"refused: a start past the last channel", QP_WANT_MISMATCH, 4, 1},
                 {"refused: a count of 0", QP_WANT_MISMATCH, 0, 0},
                 {"refused: start + count past 32 bits", QP_WANT_MISMATCH, UINT32_MAX, 2},
                 {"refused: a count of 2^32 - 1", QP_WANT_MISMATCH, 1, UINT32_MAX}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "%s", table[i].name);
        split(c, 4, table[i].start, table[i].count);
        if (table[i].want == QP_WANT_LOADED) {
            qp_case_decode(c, QP_OK);
            qp_case_give_random(c, 2, 3);
        }
    }
    limits(c, split_range, (qp_shape){2, 1, 5});
}

const qp_corpus_row qp_row_split = {"split", split_base, split_cases, false};

/* ---- pixel_shuffle and pixel_unshuffle ---------------------------------------------------- */

static void pixels(qp_corpus *c, const char *name, const uint32_t channels[2], uint32_t r)
{
    moved_input(c, channels[0]);
    qp_case_tensor(c, channels[1]);
    qp_case_operator(c, name, "0 > 1");
    qp_case_u32(c, r);
    qp_case_output(c, 1);
}

static void shuffle(qp_corpus *c, uint32_t in, uint32_t out, uint32_t r)
{
    pixels(c, "pixel_shuffle", (const uint32_t[]){in, out}, r);
}

static void unshuffle(qp_corpus *c, uint32_t in, uint32_t out, uint32_t r)
{
    pixels(c, "pixel_unshuffle", (const uint32_t[]){in, out}, r);
}

static void pixel_shuffle_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint32_t r = (uint32_t)qp_case_random(c, 1, 3);
    shuffle(c, 2 * r * r, 2, r);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void shuffle_range(qp_corpus *c, qp_range range)
{
    qp_case_input(c, 4, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "pixel_shuffle", "0 > 1");
    qp_case_u32(c, 2);
    qp_case_output(c, 1);
}

static void pixel_shuffle_cases(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "channel 4c + 2i + j goes to row i, column j");
    qp_case_input(c, 8, 0, 99);
    qp_case_tensor(c, 2);
    qp_case_operator(c, "pixel_shuffle", "0 > 1");
    qp_case_u32(c, 2);
    qp_case_output(c, 1);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 8, 1, QP_LIST(10, 20, 11, 21, 12, 22, 13, 23, 50, 60, 51, 61, 52, 62, 53, 63));

    /* a side past 2^26 would need r^2 channels of it in the input, which passes 2^26 first */
    qp_case(c, QP_WANT_LOADED, "declared: an upsampled side of 2^24");
    shuffle(c, 4, 1, 2);
    qp_case_max_elems(c, 1 << 26);
    qp_case_declare(c, 1, 1 << 23);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 3);
    qp_case(c, QP_WANT_LOADED, "an output of max_elems");
    shuffle(c, 4, 1, 2);
    qp_case_max_elems(c, 24);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 2, 3);
    qp_case_decode_shape(c, QP_TOO_LARGE, 0, (qp_shape){4, 1, 7});
    qp_case(c, QP_WANT_MISMATCH, "refused: channels that are no multiple of r^2");
    shuffle(c, 6, 1, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: r of 0");
    shuffle(c, 4, 1, 0);
    qp_case(c, QP_WANT_MISMATCH, "refused: r of 2^16, whose square passes 32 bits");
    shuffle(c, 4, 4, 65536);
    qp_case(c, QP_WANT_MISMATCH, "refused: r of 2^32 - 1");
    shuffle(c, 1, 1, UINT32_MAX);
    limits(c, shuffle_range, (qp_shape){4, 1, 2});
}

const qp_corpus_row qp_row_pixel_shuffle = {"pixel_shuffle", pixel_shuffle_base,
                                            pixel_shuffle_cases, false};

static void pixel_unshuffle_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint32_t r = (uint32_t)qp_case_random(c, 1, 3);
    unshuffle(c, 2, 2 * r * r, r);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height * r, width * r);
}

static void unshuffle_range(qp_corpus *c, qp_range range)
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 4);
    qp_case_operator(c, "pixel_unshuffle", "0 > 1");
    qp_case_u32(c, 2);
    qp_case_output(c, 1);
}

static void pixel_unshuffle_cases(qp_corpus *c)
{
    qp_case(c, QP_WANT_LOADED, "sizes that are no multiples of r");
    unshuffle(c, 1, 9, 3);
    static const uint32_t sizes[][2] = {{3, 4}, {4, 3}, {2, 3}, {1, 1}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 3, 6);
    qp_case(c, QP_WANT_MISMATCH, "declared: a height that is no multiple of r");
    unshuffle(c, 1, 9, 3);
    qp_case_declare(c, 4, 6);
    qp_case(c, QP_WANT_LOADED, "declared multiples, and a decode that is none");
    unshuffle(c, 1, 4, 2);
    qp_case_declare(c, 4, 6);
    qp_case_decode(c, QP_GEOMETRY_MISMATCH);
    qp_case_give_random(c, 3, 6);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 4, 6);
    qp_case(c, QP_WANT_MISMATCH, "refused: r of 0");
    unshuffle(c, 1, 1, 0);
    qp_case(c, QP_WANT_MISMATCH, "refused: r of 2^16");
    unshuffle(c, 1, 1, 65536);
    limits(c, unshuffle_range, (qp_shape){1, 2, 4});
}

const qp_corpus_row qp_row_pixel_unshuffle = {"pixel_unshuffle", pixel_unshuffle_base,
                                              pixel_unshuffle_cases, false};

/* ---- pad_rep and crop_to ------------------------------------------------------------------ */

static void pad(qp_corpus *c, uint32_t channels, uint32_t m)
{
    moved_input(c, channels);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "pad_rep", "0 > 1");
    qp_case_u32(c, m);
    qp_case_output(c, 1);
}

static void pad_rep_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    pad(c, 2, (uint32_t)qp_case_random(c, 1, 5));
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void pad_range(qp_corpus *c, qp_range range)
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "pad_rep", "0 > 1");
    qp_case_u32(c, 4);
    qp_case_output(c, 1);
}

static void pad_rep_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_status want;
        uint32_t m, height, width;
    } table[] = {{"m of 1 changes nothing", QP_OK, 1, 3, 5},
                 {"a multiple already", QP_OK, 3, 3, 6},
                 {"one past a multiple", QP_OK, 3, 4, 7},
                 {"a plane of 1 to 8x8", QP_OK, 8, 1, 1},
                 {"an output past max_elems", QP_TOO_LARGE, 65, 1, 1},
                 {"a side of 2^26", QP_TOO_LARGE, 1 << 26, 1, 1},
                 {"a side past 2^26", QP_TOO_LARGE, (1 << 26) + 1, 1, 1},
                 {"a side past 32 bits", QP_TOO_LARGE, UINT32_MAX, 1, 1}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_LOADED, "%s", table[i].name);
        pad(c, 1, table[i].m);
        qp_case_decode(c, table[i].want);
        qp_case_give_random(c, table[i].height, table[i].width);
    }
    qp_case(c, QP_WANT_TOO_LARGE, "declared: a side past 2^26");
    pad(c, 1, (1 << 26) + 1);
    qp_case_declare(c, 1, 1);
    qp_case(c, QP_WANT_TOO_LARGE, "declared: an output past max_elems");
    pad(c, 1, 65);
    qp_case_declare(c, 1, 1);
    qp_case(c, QP_WANT_MISMATCH, "refused: m of 0");
    pad(c, 1, 0);
    limits(c, pad_range, (qp_shape){1, 1, 5});
}

const qp_corpus_row qp_row_pad_rep = {"pad_rep", pad_rep_base, pad_rep_cases, false};

static void crop_to_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    moved_input(c, 2);
    qp_case_input(c, 3, -1, 1);
    qp_case_tensor(c, 2);
    qp_case_operator(c, "crop_to", "0 1 > 2");
    qp_case_output(c, 2);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height + 1, width + 2);
    qp_case_give_random(c, height, width);
}

static void crop_to_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_status want;
        uint32_t height, width;
    } table[] = {{"a reference as large as the input", QP_OK, 3, 4},
                 {"a reference of 1x1", QP_OK, 1, 1},
                 {"a reference taller than the input", QP_GEOMETRY_MISMATCH, 4, 4},
                 {"a reference wider than the input", QP_GEOMETRY_MISMATCH, 3, 5},
                 {"a reference wider and shorter", QP_GEOMETRY_MISMATCH, 1, 5}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_ACC32, "%s", table[i].name);
        qp_case_input(c, 1, INT32_MIN, INT32_MAX);
        qp_case_input(c, 1, 0, 1);
        qp_case_tensor(c, 1);
        qp_case_operator(c, "crop_to", "0 1 > 2");
        qp_case_output(c, 2);
        qp_case_decode(c, table[i].want);
        qp_case_give_random(c, 3, 4);
        qp_case_give_random(c, table[i].height, table[i].width);
    }
    qp_case(c, QP_WANT_ACC64, "the reference's range passes i32, its values are not read");
    qp_case_input(c, 1, 0, 9);
    qp_case_input(c, 1, INT64_MIN, INT64_MAX);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "crop_to", "0 1 > 2");
    qp_case_output(c, 2);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, 1, 2, 3);
    QP_ROW(c, INT64_MIN, INT64_MAX);
    qp_case(c, QP_WANT_ACC32, "the reference's range still refuses a decode");
    qp_case_input(c, 1, 0, 9);
    qp_case_input(c, 1, 0, 9);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "crop_to", "0 1 > 2");
    qp_case_output(c, 2);
    qp_case_decode(c, QP_FIELD_RANGE);
    QP_ROW(c, 1, 2, 3);
    QP_ROW(c, 0, 10);
}

const qp_corpus_row qp_row_crop_to = {"crop_to", crop_to_base, crop_to_cases, false};

/* ---- subpos_split and subpos_merge -------------------------------------------------------- */

static void order_of(qp_corpus *c, const uint8_t order[4])
{
    for (unsigned k = 0; k < 4; k++)
        qp_case_u8(c, order[k]);
}

/* A random permutation of 0..3. */
static void random_order(qp_corpus *c, uint8_t order[4])
{
    for (uint8_t k = 0; k < 4; k++) {
        size_t at = (size_t)qp_case_random(c, 0, k);
        order[k] = order[at];
        order[at] = k;
    }
}

static void subpos_split(qp_corpus *c, qp_range range, const uint8_t order[4])
{
    qp_case_input(c, 2, range.lo, range.hi);
    for (unsigned k = 0; k < 4; k++)
        qp_case_tensor(c, 2);
    qp_case_operator(c, "subpos_split", "0 > 1 2 3 4");
    order_of(c, order);
    for (uint32_t k = 1; k <= 4; k++)
        qp_case_output(c, k);
}

static const uint8_t raster[4] = {0, 1, 2, 3};

static void subpos_split_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint8_t order[4];
    random_order(c, order);
    subpos_split(c, (qp_range){-7000, 9000}, order);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 2 * height, 2 * width);
}

static void subpos_split_range(qp_corpus *c, qp_range range)
{
    subpos_split(c, range, raster);
}

static void refused_orders(qp_corpus *c, void (*base)(qp_corpus *c, uint32_t, uint32_t))
{
    static const struct {
        const char *name;
        unsigned at, value;
    } table[] = {{"an order that is no permutation", 0, 1},
                 {"an order with a 4", 3, 4},
                 {"an order with 255", 2, 255}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, QP_WANT_MISMATCH, "refused: %s", table[i].name);
        base(c, 1, 1);
        qp_case_forget_decodes(c);
        int64_t at = qp_case_at(c, QP_TABLE_PARAMETERS, 0);
        qp_case_patch(c, at, 4, 0x03020100);
        qp_case_patch(c, at + table[i].at, 1, table[i].value);
    }
}

static void subpos_split_cases(qp_corpus *c)
{
    static const uint8_t checkerboard[4] = {0, 3, 1, 2};
    qp_case(c, QP_WANT_ACC32, "the order 00 11 01 10, by hand");
    subpos_split(c, (qp_range){0, 99}, checkerboard);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 2, QP_LIST(1, 2, 3, 4, 51, 52, 53, 54));

    qp_case(c, QP_WANT_ACC32, "odd sizes are refused");
    subpos_split(c, (qp_range){0, 99}, raster);
    static const uint32_t sizes[][2] = {{1, 2}, {2, 1}, {3, 4}, {4, 3}, {1, 1}};
    for (size_t i = 0; i < QP_COUNT(sizes); i++) {
        qp_case_decode(c, QP_GEOMETRY_MISMATCH);
        qp_case_give_random(c, sizes[i][0], sizes[i][1]);
    }
    qp_case(c, QP_WANT_MISMATCH, "declared: an odd height");
    subpos_split(c, (qp_range){0, 99}, raster);
    qp_case_declare(c, 3, 4);
    qp_case(c, QP_WANT_ACC64, "a policy on the third output");
    subpos_split(c, (qp_range){0, 99}, raster);
    qp_case_policy(c, 3, QP_CHECK, 0, 50);
    qp_case_decode(c, QP_OK);
    qp_case_give(c, 2, 2, QP_LIST(99, 99, 50, 99, 99, 99, 0, 99));
    qp_case_decode(c, QP_FIELD_RANGE);
    qp_case_give(c, 2, 2, QP_LIST(0, 0, 51, 0, 0, 0, 0, 0));
    refused_orders(c, subpos_split_base);
    limits(c, subpos_split_range, (qp_shape){2, 2, 4});
}

const qp_corpus_row qp_row_subpos_split = {"subpos_split", subpos_split_base, subpos_split_cases,
                                           false};

static void subpos_merge(qp_corpus *c, qp_range range, const uint8_t order[4])
{
    for (unsigned k = 0; k < 4; k++)
        qp_case_input(c, 1, range.lo + (int64_t)k, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "subpos_merge", "0 1 2 3 > 4");
    order_of(c, order);
    qp_case_output(c, 4);
}

static void subpos_merge_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint8_t order[4];
    random_order(c, order);
    subpos_merge(c, (qp_range){-7000, 9000}, order);
    qp_case_decode(c, QP_OK);
    for (unsigned k = 0; k < 4; k++)
        qp_case_give_random(c, height, width);
}

/* Four inputs, of which one has another size. */
static void disagreeing(qp_corpus *c, unsigned which, uint32_t height, uint32_t width)
{
    qp_case_decode(c, QP_GEOMETRY_MISMATCH);
    for (unsigned k = 0; k < 4; k++)
        qp_case_give_random(c, k == which ? height : 2, k == which ? width : 2);
}

static void subpos_merge_cases(qp_corpus *c)
{
    qp_case(c, QP_WANT_ACC32, "inputs whose sizes disagree");
    subpos_merge(c, (qp_range){0, 99}, raster);
    for (unsigned which = 0; which < 4; which++) {
        disagreeing(c, which, 2, 3);
        disagreeing(c, which, 1, 2);
    }
    qp_case(c, QP_WANT_ACC32, "an output past max_elems");
    subpos_merge(c, (qp_range){0, 99}, raster);
    qp_case_max_elems(c, 8);
    qp_case_decode(c, QP_OK);
    for (unsigned k = 0; k < 4; k++)
        qp_case_give_random(c, 1, 2);
    qp_case_decode(c, QP_TOO_LARGE);
    for (unsigned k = 0; k < 4; k++)
        qp_case_give_random(c, 1, 3);
    qp_case(c, QP_WANT_TOO_LARGE, "declared: an output side past 2^26");
    subpos_merge(c, (qp_range){0, 99}, raster);
    qp_case_max_elems(c, 1 << 26);
    qp_case_declare(c, 1, (1 << 25) + 1);
    qp_case(c, QP_WANT_MISMATCH, "refused: inputs of different channels");
    subpos_merge(c, (qp_range){0, 99}, raster);
    qp_case_patch(c, qp_case_at(c, QP_TABLE_TENSORS, 2), 4, 2);
    refused_orders(c, subpos_merge_base);

    qp_case(c, QP_WANT_ACC32, "one tensor four times");
    qp_case_input(c, 1, INT32_MIN, INT32_MAX);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "subpos_merge", "0 0 0 0 > 1");
    order_of(c, raster);
    qp_case_output(c, 1);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, INT32_MIN, INT32_MAX);
}

const qp_corpus_row qp_row_subpos_merge = {"subpos_merge", subpos_merge_base, subpos_merge_cases,
                                           false};
