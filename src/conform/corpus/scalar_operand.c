/* SPDX-License-Identifier: Apache-2.0 */
/* corpus/scalar_operand.c - vectors of `crop` and `fill` (section 5.10), whose operands are
 * constants or scalars. */
#include "conform/rows.h"

/* A constant, or the scalar of that index. */
typedef struct operand {
    bool scalar;
    uint32_t value;
} operand;

/* y0, x0, h and w. */
typedef struct crop {
    operand sides[4];
} crop;

#define CONSTANT(v)                                                                                \
    {                                                                                              \
        false, v                                                                                   \
    }
#define SCALAR(k)                                                                                  \
    {                                                                                              \
        true, k                                                                                    \
    }

static void build_crop(qp_corpus *c, qp_range range, const crop *p)
{
    qp_case_input(c, 2, range.lo, range.hi);
    qp_case_tensor(c, 2);
    qp_case_operator(c, "crop", "0 > 1");
    for (unsigned k = 0; k < 4; k++) {
        qp_case_u8(c, p->sides[k].scalar);
        qp_case_zeros(c, 3);
        qp_case_u32(c, p->sides[k].value);
    }
    qp_case_output(c, 1);
}

static void crop_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    uint32_t y0 = (uint32_t)qp_case_random(c, 0, height - 1);
    uint32_t h = (uint32_t)qp_case_random(c, 1, height - y0);
    crop p = {{CONSTANT(0), CONSTANT(0), CONSTANT(0), SCALAR(0)}};
    p.sides[0].value = y0;
    p.sides[2].value = h;
    qp_case_scalar(c, 1, width);
    build_crop(c, (qp_range){-70000, 9}, &p);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    qp_case_give_scalar(c, qp_case_random(c, 1, width));
}

/* Each condition of the shape rule alone, on constants: at load the sizes are not declared. */
static void crop_constants(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_status want;
        crop p;
    } table[] = {
        {"the whole", QP_OK, {{CONSTANT(0), CONSTANT(0), CONSTANT(3), CONSTANT(4)}}},
        {"the last element", QP_OK, {{CONSTANT(2), CONSTANT(3), CONSTANT(1), CONSTANT(1)}}},
        {"a row past the last",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(2), CONSTANT(0), CONSTANT(2), CONSTANT(4)}}},
        {"a column past the last",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(0), CONSTANT(1), CONSTANT(3), CONSTANT(4)}}},
        {"a start past the input",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(3), CONSTANT(0), CONSTANT(1), CONSTANT(1)}}},
        {"a height of 0",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(0), CONSTANT(0), CONSTANT(0), CONSTANT(1)}}},
        {"a width of 0",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(0), CONSTANT(0), CONSTANT(1), CONSTANT(0)}}},
        {"a start and a length past 32 bits",
         QP_GEOMETRY_MISMATCH,
         {{CONSTANT(UINT32_MAX), CONSTANT(0), CONSTANT(UINT32_MAX), CONSTANT(1)}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++)
        for (unsigned declared = 0; declared < 2; declared++) {
            bool refused = declared && table[i].want != QP_OK;
            qp_case(c, refused ? QP_WANT_MISMATCH : QP_WANT_ACC32, "%s%s",
                    declared ? "declared: " : "", table[i].name);
            build_crop(c, (qp_range){INT32_MIN, INT32_MAX}, &table[i].p);
            if (declared)
                qp_case_declare(c, 3, 4);
            if (!refused) {
                qp_case_decode(c, table[i].want);
                qp_case_give_random(c, 3, 4);
            }
        }
}

/* Scalars at their ends, past them, and within them where the crop does not fit. */
static void crop_scalars(qp_corpus *c)
{
    static const struct {
        qp_status want;
        int64_t y0, w;
    } decodes[] = {{QP_OK, 0, 4},
                   {QP_OK, 2, 1},
                   {QP_GEOMETRY_MISMATCH, -1, 4},
                   {QP_GEOMETRY_MISMATCH, 3, 4},
                   {QP_GEOMETRY_MISMATCH, 0, 5},
                   {QP_GEOMETRY_MISMATCH, 0, 0},
                   {QP_FIELD_RANGE, -2, 4},
                   {QP_FIELD_RANGE, 4, 4},
                   {QP_FIELD_RANGE, 0, 6},
                   {QP_FIELD_RANGE, 0, -1}};
    for (unsigned declared = 0; declared < 2; declared++) {
        qp_case(c, QP_WANT_ACC32, "scalars at their ends and past them%s",
                declared ? ", sizes declared" : "");
        qp_case_scalar(c, -1, 3);
        qp_case_scalar(c, 0, 5);
        build_crop(c, (qp_range){-9, 9}, &(crop){{SCALAR(0), CONSTANT(0), CONSTANT(1), SCALAR(1)}});
        if (declared)
            qp_case_declare(c, 3, 4);
        for (size_t i = 0; i < QP_COUNT(decodes); i++) {
            qp_case_decode(c, decodes[i].want);
            qp_case_give_random(c, 3, 4);
            qp_case_give_scalar(c, decodes[i].y0);
            qp_case_give_scalar(c, decodes[i].w);
        }
    }
}

/* The plan at load takes the smallest start and the largest length within the input. */
static void crop_load(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        qp_range scalar;
        crop p;
    } table[] = {
        {"a scalar start counts as 0, whatever its range",
         QP_WANT_ACC32,
         {90, 99},
         {{SCALAR(0), CONSTANT(0), CONSTANT(3), CONSTANT(4)}}},
        {"a scalar length is at most what the input leaves",
         QP_WANT_ACC32,
         {1, INT64_MAX},
         {{CONSTANT(2), CONSTANT(0), SCALAR(0), CONSTANT(4)}}},
        {"a scalar length that is never 1",
         QP_WANT_MISMATCH,
         {-9, 0},
         {{CONSTANT(0), CONSTANT(0), SCALAR(0), CONSTANT(4)}}},
        {"a start that leaves nothing",
         QP_WANT_MISMATCH,
         {1, 9},
         {{CONSTANT(3), CONSTANT(0), SCALAR(0), CONSTANT(4)}}},
        {"a start past the input and a scalar length",
         QP_WANT_MISMATCH,
         {1, 9},
         {{CONSTANT(UINT32_MAX), CONSTANT(0), SCALAR(0), CONSTANT(4)}}},
    };
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_want want = table[i].want;
        if (want == QP_WANT_ACC32 && table[i].scalar.hi > INT32_MAX)
            want = QP_WANT_ACC64; /* the scalar's own range */
        qp_case(c, want, "declared: %s", table[i].name);
        qp_case_scalar(c, table[i].scalar.lo, table[i].scalar.hi);
        build_crop(c, (qp_range){0, 9}, &table[i].p);
        qp_case_declare(c, 3, 4);
    }
    qp_case(c, QP_WANT_MISMATCH, "refused: a scalar that is not there");
    qp_case_scalar(c, 0, 1);
    build_crop(c, (qp_range){0, 9}, &(crop){{SCALAR(1), CONSTANT(0), CONSTANT(1), CONSTANT(1)}});
    qp_case(c, QP_WANT_MISMATCH, "refused: an operand's kind of 2");
    build_crop(c, (qp_range){0, 9}, &(crop){{CONSTANT(0), CONSTANT(0), CONSTANT(1), CONSTANT(1)}});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 8, 1, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: an operand's reserved byte");
    build_crop(c, (qp_range){0, 9}, &(crop){{CONSTANT(0), CONSTANT(0), CONSTANT(1), CONSTANT(1)}});
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 19, 1, 1);
}

static void crop_cases(qp_corpus *c)
{
    crop_constants(c);
    crop_scalars(c);
    crop_load(c);
    for (size_t i = 0; i < QP_LIMIT_COUNT; i++) {
        const qp_range *r = &qp_limits[i].range;
        qp_case(c, qp_limits[i].want, "values from %s", qp_limits[i].name);
        build_crop(c, *r, &(crop){{CONSTANT(0), CONSTANT(1), CONSTANT(1), CONSTANT(2)}});
        qp_case_decode(c, QP_OK);
        qp_case_give(c, 2, 1, QP_LIST(0, r->lo, r->hi, 0, r->hi, r->lo));
    }
}

const qp_corpus_row qp_row_crop = {"crop", crop_base, crop_cases, false};

/* ---- fill --------------------------------------------------------------------------------- */

static void build_fill(qp_corpus *c, uint32_t channels, bool scalar, int64_t value)
{
    qp_case_input(c, 2, -9, 9);
    qp_case_tensor(c, channels);
    qp_case_operator(c, "fill", "0 > 1");
    qp_case_u8(c, scalar);
    qp_case_zeros(c, 7);
    qp_case_i64(c, value);
    qp_case_output(c, 1);
}

static void fill_base(qp_corpus *c, uint32_t height, uint32_t width)
{
    bool scalar = qp_case_random(c, 0, 1) == 1;
    int64_t size = QP_P(qp_case_random(c, 4, 38));
    int64_t value = qp_case_random(c, -size, size);
    if (scalar)
        qp_case_scalar(c, -size, size);
    build_fill(c, 3, scalar, scalar ? 0 : value);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, height, width);
    if (scalar)
        qp_case_give_scalar(c, value);
}

static void fill_cases(qp_corpus *c)
{
    static const struct {
        const char *name;
        qp_want want;
        int64_t value;
    } table[] = {{"2^31 - 1", QP_WANT_ACC32, INT32_MAX},
                 {"-2^31", QP_WANT_ACC32, INT32_MIN},
                 {"2^31", QP_WANT_ACC64, QP_P(31)},
                 {"one below -2^31", QP_WANT_ACC64, (int64_t)INT32_MIN - 1},
                 {"2^63 - 1", QP_WANT_ACC64, INT64_MAX},
                 {"-2^63", QP_WANT_ACC64, INT64_MIN},
                 {"0", QP_WANT_ACC32, 0}};
    for (size_t i = 0; i < QP_COUNT(table); i++) {
        qp_case(c, table[i].want, "the constant %s", table[i].name);
        build_fill(c, 1, false, table[i].value);
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 2, 1);
    }
    static const int64_t values[] = {INT64_MIN, INT64_MAX, 0, 7};
    qp_case(c, QP_WANT_ACC64, "a scalar at both ends of i64");
    qp_case_scalar(c, INT64_MIN, INT64_MAX);
    build_fill(c, 2, true, 0);
    for (size_t i = 0; i < QP_COUNT(values); i++) {
        qp_case_decode(c, QP_OK);
        qp_case_give_random(c, 1, 2);
        qp_case_give_scalar(c, values[i]);
    }
    qp_case(c, QP_WANT_ACC32, "a scalar at its ends and past them");
    qp_case_scalar(c, -3, 5);
    build_fill(c, 1, true, 0);
    for (int64_t value = -4; value <= 6; value++) {
        qp_case_decode(c, value < -3 || value > 5 ? QP_FIELD_RANGE : QP_OK);
        qp_case_give_random(c, 1, 2);
        qp_case_give_scalar(c, value);
    }
    qp_case(c, QP_WANT_ACC32, "an output past max_elems");
    build_fill(c, 5, false, 3);
    qp_case_max_elems(c, 9);
    qp_case_decode(c, QP_OK);
    qp_case_give_random(c, 1, 1);
    qp_case_decode(c, QP_TOO_LARGE);
    qp_case_give_random(c, 1, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: a scalar that is not there");
    build_fill(c, 1, true, 0);
    qp_case(c, QP_WANT_MISMATCH, "refused: a scalar of index -1");
    qp_case_scalar(c, 0, 1);
    build_fill(c, 1, true, -1);
    qp_case(c, QP_WANT_MISMATCH, "refused: kind of 2");
    build_fill(c, 1, false, 0);
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0), 1, 2);
    qp_case(c, QP_WANT_MISMATCH, "refused: a reserved byte");
    build_fill(c, 1, false, 0);
    qp_case_patch(c, qp_case_at(c, QP_TABLE_PARAMETERS, 0) + 7, 1, 1);
}

const qp_corpus_row qp_row_fill = {"fill", fill_base, fill_cases, false};
