/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/lut16.c - vectors of `lut16` (section 5.6). Each graph holds a table of 128 KiB. */
#include "conform/rows.h"

enum { ENTRIES = 65536, NONE = -128 };

/* A table whose neighbours differ everywhere, with both ends of i16. `T[0]` is `first`. */
static void build(qp_corpus *c, qp_range range, int64_t first, const int exponents[2])
{
    qp_case_input(c, 1, range.lo, range.hi);
    qp_case_tensor(c, 1);
    qp_case_operator(c, "lut16", "0 > 1");
    qp_case_u8(c, (unsigned)exponents[0] & 0xFF);
    qp_case_u8(c, (unsigned)exponents[1] & 0xFF);
    qp_case_zeros(c, 2);
    for (int64_t i = 0; i < ENTRIES; i++) {
        int64_t entry = i == 0 ? first : (i * 31 + (i >> 8) * 7) % ENTRIES - 32768;
        qp_case_integers(c, 2, (qp_list){&entry, 1});
    }
    qp_case_output(c, 1);
}

static const int no_exponents[2] = {NONE, NONE};

static void base(qp_corpus *c, uint32_t height, uint32_t width)
{
    build(c, (qp_range){-2000, 2000}, 0, no_exponents);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
}

static void cases(qp_corpus *c)
{
    static const int pair[2] = {3, -4};

    qp_case(c, QP_WANT_ACC32, "the whole table, and exponents");
    build(c, (qp_range){-32767, 32767}, 0, pair);
    qp_case_exponent(c, 0, 3);
    qp_case_exponent(c, 1, -4);
    qp_case_decode(c, QP_OK);
    QP_ROW(c, -32767, -32766, -1, 0, 1, 32766, 32767);
    qp_case_decode(c, QP_FIELD_RANGE);
    QP_ROW(c, -32768);
    qp_case_decode(c, QP_FIELD_RANGE);
    QP_ROW(c, 32768);

    qp_case(c, QP_WANT_MISMATCH, "refused: an input that reaches -32768");
    build(c, (qp_range){-32768, 0}, 0, no_exponents);
    qp_case(c, QP_WANT_MISMATCH, "refused: an input that reaches 32768");
    build(c, (qp_range){0, 32768}, 0, no_exponents);
    qp_case(c, QP_WANT_MISMATCH, "refused: T[0] is not 0");
    build(c, (qp_range){0, 1}, 1, no_exponents);
    qp_case(c, QP_WANT_MISMATCH, "refused: the input's exponent is not e_in");
    build(c, (qp_range){0, 1}, 0, pair);
    qp_case_exponent(c, 1, -4);
    qp_case(c, QP_WANT_MISMATCH, "refused: the output's exponent is not e_out");
    build(c, (qp_range){0, 1}, 0, pair);
    qp_case_exponent(c, 0, 3);
    qp_case_exponent(c, 1, 4);
}

const qp_corpus_row qp_row_lut16 = {"lut16", base, cases, true};
