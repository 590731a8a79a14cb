/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_params.c - the parameter layouts, ranges and shape rules of each operator at load (integer-
 * operators.md sections 5, 10.4 and 10.5), with the place of each refusal.
 */
#include "support/one_operator.h"

#include <string.h>

enum {
    CONV = 0x01,
    RESCALE,
    CHSCALE,
    LUT16,
    ADD,
    CONCAT,
    CHUNK_ADD,
    SPLIT,
    PIXEL_SHUFFLE,
    PIXEL_UNSHUFFLE,
    CLAMP,
    RELU,
    LEAKY,
    PAD_REP,
    CROP_TO,
    MUL,
    CONV_TRANSPOSE,
    IGDN,
    CROP = 0x14,
    SUBPOS_SPLIT,
    SUBPOS_MERGE,
    FILL,
    LAYERNORM_C,
    L2NORM,
    SOFTMAX,
    ELU = 0x1C,
    GRAM,
    APPLY
};

/* Hexadecimal bytes of common parts: u32 values, and an RQ block of one shift of 0. */
#define U0 "00000000"
#define U1 "01000000"
#define U2 "02000000"
#define U3 "03000000"
#define UMAX "FFFFFFFF"
#define I0 U0 U0
#define RQ                                                                                         \
    "0000000100000000"                                                                             \
    "00"
#define SCALAR_0 "01000000" U0
#define SCALAR_1 "01000000" U1
#define CONST_0 U0 U0
#define CONST_1 U0 U1
#define CONV_HEAD(cout, kh, ph, groups) cout kh U1 U1 U1 ph U0 groups U1

/* Places other than a byte of the parameters. */
enum { LOADS = -1, AT_OPERATOR = -2 };

typedef struct load_case {
    unsigned opcode;
    uint32_t n_in;
    qp_shape in[4];
    uint32_t n_out, out_channels;
    const char *params;
    int at;           /* the byte of the parameters that is refused, or a place above */
    qp_status status; /* of AT_OPERATOR; 0 stands for QP_MODEL_MISMATCH */
} load_case;

#define ONE(c, h, w)                                                                               \
    1,                                                                                             \
    {                                                                                              \
        {                                                                                          \
            c, h, w                                                                                \
        }                                                                                          \
    }
#define TWO(c, h, w, d, i, x)                                                                      \
    2,                                                                                             \
    {                                                                                              \
        {c, h, w},                                                                                 \
        {                                                                                          \
            d, i, x                                                                                \
        }                                                                                          \
    }

static const load_case cases[] = {
    /* every length is exact */
    {RELU, ONE(1, 1, 1), 1, 1, "", LOADS, 0},
    {RELU, ONE(1, 1, 1), 1, 1, "00", 0, 0},
    {ADD, TWO(1, 1, 1, 1, 1, 1), 1, 1, "00", 0, 0},
    {SPLIT, ONE(4, 1, 1), 1, 2, U2 U2, LOADS, 0},
    {SPLIT, ONE(4, 1, 1), 1, 2, U2 "020000", 4, 0},
    {SPLIT, ONE(4, 1, 1), 1, 2, U2 U2 "00", 8, 0},
    /* ranges of single parameters */
    {SPLIT, ONE(4, 1, 1), 1, 1, U2 U0, 4, 0},
    {PIXEL_SHUFFLE, ONE(4, 1, 1), 1, 1, U0, 0, 0},
    {PIXEL_UNSHUFFLE, ONE(1, 2, 2), 1, 4, U0, 0, 0},
    {PAD_REP, ONE(1, 1, 1), 1, 1, U0, 0, 0},
    {CLAMP, ONE(1, 1, 1), 1, 1,
     "0100000000000000"
     "0000000000000000",
     0, 0},
    {CLAMP, ONE(1, 1, 1), 1, 1, I0 I0, LOADS, 0},
    {LEAKY, ONE(1, 1, 1), 1, 1, I0 "3F000000", LOADS, 0},
    {LEAKY, ONE(1, 1, 1), 1, 1, I0 "40000000", 8, 0},
    {L2NORM, ONE(1, 1, 1), 1, 1, I0, 0, 0},
    {L2NORM, ONE(1, 1, 1), 1, 1, UMAX UMAX, LOADS, 0},
    {LAYERNORM_C, ONE(1, 1, 1), 1, 1, I0 "0400000000000000" U0 I0, 0, 0},
    {LAYERNORM_C, ONE(1, 1, 1), 1, 1, U1 U0 "0200000000000000" U0 I0, 8, 0},
    {LAYERNORM_C, ONE(1, 1, 1), 1, 1, U1 U0 "0400000000000001" U0 I0, 15, 0},
    {LAYERNORM_C, ONE(1, 1, 1), 1, 1, U1 U0 "0400000000000000" U0 I0, LOADS, 0},
    {IGDN, ONE(1, 1, 1), 1, 1,
     "7F000000"
     "7F000000"
     "0800000000000000" I0 I0,
     LOADS, 0},
    {IGDN, ONE(1, 1, 1), 1, 1, "80000000" U0 "0800000000000000" I0 I0, 0, 0},
    {IGDN, ONE(1, 1, 1), 1, 1,
     U0 "80000000"
        "0800000000000000" I0 I0,
     4, 0},
    {IGDN, ONE(1, 1, 1), 1, 1, U0 U0 "0100000000000000" I0 I0, 8, 0},
    {ELU, ONE(1, 1, 1), 1, 1, "00000000000000", 0, 0},
    /* permutations */
    {SUBPOS_SPLIT, ONE(1, 2, 2), 4, 1, "00010203", LOADS, 0},
    {SUBPOS_SPLIT, ONE(1, 2, 2), 4, 1, "00010202", 0, 0},
    {SUBPOS_SPLIT, ONE(1, 2, 2), 4, 1, "00010204", 0, 0},
    /* operands: two scalars of [0, 1] are declared */
    {CROP, ONE(1, 2, 2), 1, 1, CONST_0 CONST_0 CONST_1 CONST_1, LOADS, 0},
    {CROP, ONE(1, 2, 2), 1, 1, "02000000" U0 CONST_0 CONST_1 CONST_1, 0, 0},
    {CROP, ONE(1, 2, 2), 1, 1, CONST_0 "00000100" U0 CONST_1 CONST_1, 10, 0},
    {CROP, ONE(1, 2, 2), 1, 1, SCALAR_1 SCALAR_0 SCALAR_1 SCALAR_1, LOADS, 0},
    {CROP, ONE(1, 2, 2), 1, 1, "01000000" U2 CONST_0 CONST_1 CONST_1, 0, 0},
    {CROP, ONE(1, 2, 2), 1, 1, CONST_0 CONST_0 CONST_0 CONST_1, AT_OPERATOR, 0}, /* readings 14 */
    {CROP, ONE(1, 2, 2), 1, 1, U0 U2 CONST_0 SCALAR_0 CONST_1, AT_OPERATOR, 0},
    {CROP, ONE(1, 2, 2), 1, 1, U0 UMAX CONST_0 CONST_1 CONST_1, AT_OPERATOR, 0},
    {FILL, ONE(1, 1, 1), 1, 9,
     "0100000000000000"
     "0100000000000000",
     LOADS, 0},
    {FILL, ONE(1, 1, 1), 1, 9,
     "0100000000000000"
     "0200000000000000",
     0, 0},
    {FILL, ONE(1, 1, 1), 1, 9, "0100000000000000" UMAX UMAX, 0, 0},
    {FILL, ONE(1, 1, 1), 1, 9, "0000000000000001" I0, 7, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U2 "00040000" U0 U0, LOADS, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U2 U2 "00040000" U0 U0, 0, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U1 "00040000" U0, 0, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U0 "00040000", 4, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U2 "03040000" U0 U0, 8, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U2 "00020000" U0 U0, 9, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U2 "00048000" U0 U0, 10, 0},
    {CHSCALE, ONE(1, 1, 1), 1, 1, U0 U2 "00040001" U0 U0, 11, 0},
    /* what an RQ block admits */
    {MUL, TWO(2, 1, 1, 1, 1, 1), 1, 2, RQ, LOADS, 0},
    {MUL, TWO(2, 1, 1, 1, 1, 1), 1, 2,
     "0002000100040000"
     "00" U0 U0,
     0, 0},
    {GRAM, TWO(2, 1, 1, 2, 1, 1), 1, 2, U1 RQ, LOADS, 0},
    {GRAM, TWO(2, 1, 1, 2, 1, 1), 1, 2, U1 "0000010104000000" U0 "00", 4, 0},
    {GRAM, TWO(2, 1, 1, 2, 1, 1), 1, 2,
     U1 "0000000200000000"
        "0000",
     4, 0},
    {GRAM, TWO(2, 1, 1, 2, 1, 1), 1, 2, U0 RQ, 0, 0},
    {RESCALE, ONE(2, 1, 1), 1, 2,
     "0000000200000000"
     "7F80",
     9, 0},
    /* channels and shapes */
    {CONCAT, TWO(2, 3, 4, 1, 3, 4), 1, 3, "", LOADS, 0},
    {CONCAT, TWO(2, 3, 4, 1, 3, 4), 1, 2, "", AT_OPERATOR, 0},
    {CONCAT, TWO(2, 3, 4, 1, 4, 3), 1, 3, "", AT_OPERATOR, 0},
    {CONCAT, ONE(2, 3, 4), 1, 2, "", AT_OPERATOR, 0},
    {CONCAT, TWO(UINT32_MAX, 0, 0, UINT32_MAX, 0, 0), 1, UINT32_MAX - 1, "", AT_OPERATOR, 0},
    {CHUNK_ADD, ONE(3, 1, 1), 1, 1, "", AT_OPERATOR, 0},
    {SPLIT, ONE(4, 1, 1), 1, 2, U3 U2, AT_OPERATOR, 0},
    {SPLIT, ONE(4, 1, 1), 1, 2, UMAX U2, AT_OPERATOR, 0},
    {PIXEL_SHUFFLE, ONE(4, 1, 1), 1, 1, U2, LOADS, 0},
    {PIXEL_SHUFFLE, ONE(6, 1, 1), 1, 1, U2, AT_OPERATOR, 0},
    {PIXEL_SHUFFLE, ONE(4, 1, 1), 1, 4, "00000100", AT_OPERATOR, 0}, /* r² = 2^32 */
    {PIXEL_UNSHUFFLE, ONE(1, 2, 3), 1, 4, U2, AT_OPERATOR, 0},
    {PIXEL_UNSHUFFLE, ONE(1, 0, 0), 1, 1, "00000100", AT_OPERATOR, 0},
    {PIXEL_UNSHUFFLE, ONE(1, 0, 0), 1, 1, UMAX, AT_OPERATOR, 0},
    {PAD_REP, ONE(1, 2, 2), 1, 1, "01000004", AT_OPERATOR, QP_TOO_LARGE},
    {PAD_REP, ONE(1, 2, 2), 1, 1, UMAX, AT_OPERATOR, QP_TOO_LARGE},
    {CROP_TO, TWO(1, 2, 2, 3, 2, 1), 1, 1, "", LOADS, 0},
    {CROP_TO, TWO(1, 2, 2, 3, 2, 3), 1, 1, "", AT_OPERATOR, 0},
    {MUL, TWO(4, 1, 1, 2, 1, 1), 1, 4, RQ, AT_OPERATOR, 0},
    {APPLY, TWO(4, 1, 2, 4, 3, 3), 1, 4, U2 RQ, LOADS, 0},
    {APPLY, TWO(4, 1, 4, 4, 3, 3), 1, 4, U2 RQ, AT_OPERATOR, 0},
    {APPLY, TWO(4, 2, 1, 4, 3, 3), 1, 4, U2 RQ, AT_OPERATOR, 0},
    {APPLY, TWO(4, 1, 1, 4, 3, 3), 1, 4, U3 RQ, AT_OPERATOR, 0},
    {SUBPOS_SPLIT, ONE(1, 3, 2), 4, 1, "00010203", AT_OPERATOR, 0},
    {SUBPOS_MERGE, 4, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 1, 1, "03020100", LOADS, 0},
    {SUBPOS_MERGE,
     4,
     {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {2, 1, 1}},
     1,
     1,
     "03020100",
     AT_OPERATOR,
     0},
    {SUBPOS_MERGE,
     4,
     {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 2}},
     1,
     1,
     "03020100",
     AT_OPERATOR,
     0},
    {SUBPOS_MERGE,
     4,
     {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 2, 1}},
     1,
     1,
     "03020100",
     AT_OPERATOR,
     0},
    /* inputs that differ in one side only */
    {ADD, TWO(1, 2, 1, 1, 1, 1), 1, 1, "", AT_OPERATOR, 0},
    {ADD, TWO(1, 1, 2, 1, 1, 1), 1, 1, "", AT_OPERATOR, 0},
    {ADD, TWO(2, 1, 1, 1, 1, 1), 1, 2, "", AT_OPERATOR, 0},
    {MUL, TWO(1, 2, 1, 1, 1, 1), 1, 1, RQ, AT_OPERATOR, 0},
    {MUL, TWO(1, 1, 2, 1, 1, 1), 1, 1, RQ, AT_OPERATOR, 0},
    {CONCAT, TWO(1, 2, 1, 1, 1, 1), 1, 2, "", AT_OPERATOR, 0},
    {CONCAT, TWO(1, 1, 2, 1, 1, 1), 1, 2, "", AT_OPERATOR, 0},
    {GRAM, TWO(1, 2, 1, 1, 1, 1), 1, 1, U1 RQ, AT_OPERATOR, 0},
    {GRAM, TWO(1, 1, 2, 1, 1, 1), 1, 1, U1 RQ, AT_OPERATOR, 0},
    {GRAM, TWO(2, 1, 1, 1, 1, 1), 1, 2, U1 RQ, AT_OPERATOR, 0},
    {CROP_TO, TWO(1, 2, 2, 3, 3, 2), 1, 1, "", AT_OPERATOR, 0},
    {CONV, ONE(1, 1, 1), 1, 1, CONV_HEAD(U1, U1, U0, U1) RQ "00", LOADS, 0},
    {CONV, ONE(1, 1, 1), 1, 1, CONV_HEAD(U1, U2, U0, U1) RQ "0000", AT_OPERATOR, 0},
    {CONV, ONE(1, 1, 1), 1, 1, CONV_HEAD(U1, U1, UMAX, U1) RQ "00", AT_OPERATOR, QP_TOO_LARGE},
    {CONV, ONE(1, 1, 1), 1, 2, CONV_HEAD(U2, U1, U0, U2) RQ, AT_OPERATOR, 0},
    {CONV, ONE(2, 1, 1), 1, 1, CONV_HEAD(U1, U1, U0, U2) RQ "00", AT_OPERATOR, 0},
    {CONV_TRANSPOSE, ONE(1, 1, 1), 1, 1, U1 U1 U1 U1 U1 U0 U0 U0 U0 U1 RQ "00", LOADS, 0},
    {CONV_TRANSPOSE, ONE(1, 1, 1), 1, 1, U1 U2 U1 U1 U1 U1 U0 U0 U0 U1 RQ "0000", AT_OPERATOR, 0},
    {CONV_TRANSPOSE, ONE(1, 1, 1), 1, 1, U1 U1 U1 U1 U1 UMAX U0 U0 U0 U1 RQ "00", AT_OPERATOR, 0},
    {CONV_TRANSPOSE, ONE(1, 1, 1), 1, 1, U1 U1 U1 U1 U1 U0 U0 UMAX U0 U1 RQ "00", AT_OPERATOR,
     QP_TOO_LARGE},
    /* 2^13·2^14 uncropped elements pass 2^26, before the padding that leaves none is looked at */
    {CONV_TRANSPOSE, ONE(1, 1, 1), 1, 1,
     U1 U1 U1 U1 U1 UMAX U0 "00200000"
                            "00400000" U1 RQ "00",
     AT_OPERATOR, QP_TOO_LARGE},
    /* sums over the picture need its size */
    {SOFTMAX, ONE(1, 0, 0), 1, 1, "", AT_OPERATOR, 0},
    {L2NORM, ONE(1, 0, 0), 1, 1, U1 U0, AT_OPERATOR, 0},
    {GRAM, TWO(2, 0, 0, 2, 0, 0), 1, 2, U1 RQ, AT_OPERATOR, 0},
    {RELU, ONE(1, 0, 0), 1, 1, "", LOADS, 0},
};

static void append_hex(qp_buffer *buffer, const char *text)
{
    for (; *text != '\0'; text += 2) {
        const char pair[] = {text[0], text[1], '\0'};
        qp_buffer_le(buffer, strtoul(pair, NULL, 16), 1);
    }
}

static void hold(size_t index, const load_case *c)
{
    test_operator op = test_operator_make(c->opcode);
    qp_buffer bytes;
    qp_graph *graph;
    qp_error error = {.table = QP_TABLE_NONE, .operator_index = -1, .offset = -1};

    for (uint32_t k = 0; k < c->n_in; k++)
        test_operator_input(&op, c->in[k], 0, 1, NULL);
    for (uint32_t k = 0; k < c->n_out; k++)
        test_operator_output(&op, c->out_channels);
    test_operator_scalar(&op, 0, 1, 0);
    test_operator_scalar(&op, 0, 1, 0);
    append_hex(&op.params, c->params);
    qp_buffer_init(&bytes, NULL);
    test_write(&op, &bytes);
    qp_status status = qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, &error);
    qp_status expected = c->at == LOADS       ? QP_OK
                         : c->status != QP_OK ? c->status
                                              : QP_MODEL_MISMATCH;
    size_t params_at = bytes.size - op.params.size;
    if (status != expected ||
        (c->at >= 0 &&
         (error.table != QP_TABLE_PARAMETERS || error.offset != (int64_t)params_at + c->at)) ||
        (c->at == AT_OPERATOR && error.table != QP_TABLE_OPERATORS) ||
        (c->at != LOADS && error.operator_index != 0))
        fail_msg("case %zu: status %d, table %d, byte %d of the parameters: %s", index, status,
                 error.table, (int)(error.offset - (int64_t)params_at), error.message);
    qp_graph_free(graph);
    qp_buffer_free(&bytes);
    test_operator_free(&op);
}

static void test_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); i++)
        hold(i, &cases[i]);
}

/* ---- lut16: its table, its exponents, its input's range ----------------------------------- */

typedef struct lut_case {
    int8_t e_in, e_out, in_exponent, out_exponent;
    int16_t first_entry;
    int64_t lo, hi;
    qp_status load, certify;
} lut_case;

static void hold_lut(const lut_case *c)
{
    static int64_t table[65536];
    static const uint32_t in = 0, out = 1;
    qp_graph_writer w;
    qp_buffer bytes;
    qp_graph *graph;
    qp_certificate *certificate = NULL;
    qp_error error;

    qp_graph_writer_init(&w, NULL);
    qp_buffer_init(&bytes, NULL);
    qp_writer_tensor(&w, &(qp_graph_tensor_record){c->lo, c->hi, 1, c->in_exponent, QP_CHECK});
    qp_writer_tensor(&w, &(qp_graph_tensor_record){0, 0, 1, c->out_exponent, QP_DERIVED});
    qp_writer_input(&w, &(qp_graph_input_record){0});
    qp_writer_output(&w, 1);
    qp_buffer *params = qp_writer_begin_operator(&w, LUT16, &in, 1, &out, 1);
    qp_writer_integers(params, (const int64_t[]){c->e_in, c->e_out, 0, 0}, 4, 1);
    table[0] = c->first_entry;
    qp_writer_integers(params, table, 65536, 2);
    qp_writer_end_operator(&w);
    assert_int_equal(qp_graph_writer_finish(&w, 1, &bytes, NULL), QP_OK);
    assert_int_equal(qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, &error), c->load);
    if (c->load == QP_OK)
        assert_int_equal(qp_certify(graph, NULL, &certificate, &error), c->certify);
    if (c->load != QP_OK || c->certify != QP_OK)
        assert_int_equal(error.operator_index, 0);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    qp_buffer_free(&bytes);
    qp_graph_writer_free(&w);
}

static void test_lut16(void **state)
{
    static const lut_case rows[] = {
        {-128, -128, -128, -128, 0, -32767, 32767, QP_OK, QP_OK},
        {-128, -128, -128, -128, 1, 0, 1, QP_MODEL_MISMATCH, QP_OK},
        {7, -127, 7, -127, 0, 0, 1, QP_OK, QP_OK},
        {7, -127, 8, -127, 0, 0, 1, QP_MODEL_MISMATCH, QP_OK},
        {7, -127, 7, -128, 0, 0, 1, QP_MODEL_MISMATCH, QP_OK},
        {0, -128, -128, -128, 0, 0, 1, QP_MODEL_MISMATCH, QP_OK},
        {-128, -128, -128, -128, 0, -32768, 0, QP_OK, QP_MODEL_MISMATCH},
        {-128, -128, -128, -128, 0, 0, 32768, QP_OK, QP_MODEL_MISMATCH},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++)
        hold_lut(&rows[i]);
}

/* ---- equal exponents: add, concat, chunk_add ---------------------------------------------- */

static qp_status load_exponents(unsigned opcode, uint32_t n_in, const int8_t exponents[3])
{
    static const uint32_t in[] = {0, 1}, out = 2;
    qp_graph_writer w;
    qp_buffer bytes;
    qp_graph *graph;

    qp_graph_writer_init(&w, NULL);
    qp_buffer_init(&bytes, NULL);
    for (uint32_t k = 0; k < 2; k++) {
        qp_writer_tensor(&w, &(qp_graph_tensor_record){0, 1, 2, exponents[k], QP_CHECK});
        qp_writer_input(&w, &(qp_graph_input_record){.tensor = k});
    }
    uint32_t channels = opcode == CONCAT ? 4 : opcode == CHUNK_ADD ? 1 : 2;
    qp_writer_tensor(&w, &(qp_graph_tensor_record){0, 0, channels, exponents[2], QP_DERIVED});
    qp_writer_output(&w, 2);
    qp_writer_begin_operator(&w, opcode, in, n_in, &out, 1);
    if (opcode == MUL)
        qp_buffer_append(&w.operators, "\0\0\0\1\0\0\0\0\0", 9);
    qp_writer_end_operator(&w);
    assert_int_equal(qp_graph_writer_finish(&w, 64, &bytes, NULL), QP_OK);
    qp_status status = qp_graph_load(bytes.bytes, bytes.size, NULL, &graph, NULL);
    qp_graph_free(graph);
    qp_buffer_free(&bytes);
    qp_graph_writer_free(&w);
    return status;
}

static void test_equal_exponents(void **state)
{
    static const struct {
        int8_t exponents[3];
        bool two, one; /* whether two inputs, and the first alone, may carry them */
    } rows[] = {
        {{-128, -128, -128}, true, true}, {{5, 5, 5}, true, true},
        {{5, 5, 6}, false, false},        {{5, 6, 5}, false, true},
        {{-128, 5, 5}, false, false},     {{5, 5, -128}, false, false},
        {{-128, -128, 0}, false, false},  {{0, -128, 0}, false, true},
    };
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        qp_status two = rows[i].two ? QP_OK : QP_MODEL_MISMATCH;
        assert_int_equal(load_exponents(ADD, 2, rows[i].exponents), two);
        assert_int_equal(load_exponents(CONCAT, 2, rows[i].exponents), two);
        assert_int_equal(load_exponents(CHUNK_ADD, 1, rows[i].exponents),
                         rows[i].one ? QP_OK : QP_MODEL_MISMATCH);
        assert_int_equal(load_exponents(MUL, 2, rows[i].exponents), QP_OK); /* not constrained */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_lut16),
        cmocka_unit_test(test_equal_exponents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
