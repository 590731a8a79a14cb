/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_admission.c - admission (section 6), one refusal a rule; the canonical correspondences
 * (sections 4 and 7.1), idle ports and the proof of definedness (section 3).
 */
#include "capability_support.h"

#define PROFILE(roundings, nans, zeros, required)                                                  \
    "behavior = { rounding_modes = [" roundings "], nan_behaviors = [" nans                        \
    "], subnormal_behaviors = [preserve], signed_zero_behaviors = [" zeros                         \
    "], required_fast_math = [" required "] }"
#define NEAREST PROFILE("to_nearest_even", "ieee", "preserve", "")

/* Supports(R, A, P) for the first actor of a graph, at its canonical ports. */
static qp_status supports(const op_text *op, const char *graph, qp_fabric_error *error)
{
    op_case c = read_op(op, graph);
    char line[512];

    if (c.status != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&c.error, line, sizeof line));
    const qp_fabric_actor *actor = &c.graph->actors[0];
    const qp_fabric_question question = {
        .fabric = "F",
        .operation = "U.f",
        .graph = "g",
        .actor = qp_fabric_name_text(c.model, c.graph->values[actor->results[0]].name)};
    memset(error, 0, sizeof *error);
    const qp_status status = qp_fabric_supports(c.model, &question, NULL, error);
    free_op(&c);
    return status;
}

/* A graph of one actor with these types, its operands the inputs %a0, %a1, .. */
static void make_graph(char *text, size_t size, const char *schema, const char *attributes,
                       const char *operands, const char *results)
{
    qp_buffer buffer;
    const char *separator = "";
    unsigned inputs = 0, outputs = 0;
    int depth = 0;

    qp_buffer_init(&buffer, NULL);
    qp_buffer_text(&buffer, "graph g index 32 {");
    for (const char *at = operands; *at != '\0'; inputs++) {
        const size_t length = strcspn(at, ",");
        qp_buffer_format(&buffer, " input %%a%u : %.*s", inputs, (int)length, at);
        at += length + (at[length] == ',');
    }
    for (const char *at = results; depth == 0; at += strcspn(at, ",") + 1) {
        qp_buffer_format(&buffer, "%s %%r%u", outputs > 0 ? "," : "", outputs);
        outputs++;
        depth = at[strcspn(at, ",")] == '\0';
    }
    qp_buffer_format(&buffer, " = %s", schema);
    for (unsigned i = 0; i < inputs; i++, separator = ",")
        qp_buffer_format(&buffer, "%s %%a%u", separator, i);
    qp_buffer_format(&buffer, "%s : (%s) -> (%s)", attributes, operands, results);
    for (unsigned i = 0; i < outputs; i++)
        qp_buffer_format(&buffer, " output %%r%u", i);
    qp_buffer_text(&buffer, " }");
    assert_true(buffer.size < size);
    memcpy(text, buffer.bytes, buffer.size);
    text[buffer.size] = '\0';
    qp_buffer_free(&buffer);
}

typedef struct admission_row {
    op_text op;
    const char *schema, *attributes, *operands, *results;
    qp_fabric_rule rule; /* NONE: admitted */
    const char *point;   /* the beginning of the message */
} admission_row;

#define INTEGERS                                                                                   \
    {                                                                                              \
        "ScalarIntegerAddSub", "arith.addi", "32,32", "32", "integer_widths = [8,32]"              \
    }
#define VECTORS                                                                                    \
    {                                                                                              \
        "FixedVectorIntegerAddSub", "arith.addi", "64,64", "64",                                   \
            "element_widths = [8,16], max_payload_bits = 48"                                       \
    }
#define FLOATS(profile)                                                                            \
    {                                                                                              \
        "ScalarFloatAddSub", "arith.addf", "32,32", "32", "formats = [f16,f32], " profile          \
    }
#define COMPARES(profile)                                                                          \
    {                                                                                              \
        "ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "32,32", "32",                     \
            "formats = [f32], predicates = [oeq,olt], " profile                                    \
    }
#define CASTS                                                                                      \
    {                                                                                              \
        "ScalarIntegerCast", "arith.extsi,arith.index_cast", "64", "64",                           \
            "width_pairs = [(8,32),(8,64)], resolved_index_widths = [64]"                          \
    }
#define SLICES                                                                                     \
    {                                                                                              \
        "FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "64,64,64,64", "64",         \
            "integer_element_widths = [8], float_element_formats = [], "                           \
            "max_container_payload_bits = 48, max_slice_payload_bits = 16, "                       \
            "max_dynamic_position_rank = 2, resolved_index_widths = [32,64]"                       \
    }
#define SHUFFLES                                                                                   \
    {                                                                                              \
        "FixedVectorShuffle", "vector.shuffle", "64,64", "64",                                     \
            "integer_element_widths = [8], float_element_formats = [], max_operand_payload_bits "  \
            "= 40, max_result_payload_bits = 32, max_block_payload_bits = 16, "                    \
            "max_source_blocks = 6, max_result_blocks = 3"                                         \
    }
#define MUXES(params)                                                                              \
    {                                                                                              \
        "TokenMux", "dataflow.mux", "32,8,8,8", "8", params                                        \
    }

static const admission_row rows[] = {
    /* points 1 and 2 */
    {INTEGERS, "arith.addi", "", "i32,i32", "i32", QP_FABRIC_RULE_NONE, ""},
    {INTEGERS, "arith.addi", "{ overflow = [nsw,nuw] }", "i8,i8", "i8", QP_FABRIC_RULE_NONE, ""},
    {INTEGERS, "arith.subi", "", "i32,i32", "i32", QP_FABRIC_RULE_SCHEMA, "point 1"},
    {INTEGERS, "arith.muli", "", "i32,i32", "i32", QP_FABRIC_RULE_SCHEMA, "point 1"},
    {INTEGERS, "arith.addi", "", "vector<2xi8>,vector<2xi8>", "vector<2xi8>", QP_FABRIC_RULE_SHAPE,
     "point 2"},
    {VECTORS, "arith.addi", "", "i8,i8", "i8", QP_FABRIC_RULE_SHAPE, "point 2"},
    /* point 3 */
    {INTEGERS, "arith.addi", "", "i16,i16", "i16", QP_FABRIC_RULE_WIDTH, "point 3"},
    {INTEGERS, "arith.addi", "", "i12,i12", "i12", QP_FABRIC_RULE_WIDTH, "point 3"},
    {VECTORS, "arith.addi", "", "vector<2x3xi8>,vector<2x3xi8>", "vector<2x3xi8>",
     QP_FABRIC_RULE_NONE, ""},
    {VECTORS, "arith.addi", "", "vector<7xi8>,vector<7xi8>", "vector<7xi8>",
     QP_FABRIC_RULE_CAPACITY, "point 3"},
    {{"ScalarIntegerCompareMinMax", "arith.cmpi", "8,8", "1",
      "operand_widths = [8], comparison_predicates = [slt]"},
     "arith.cmpi",
     "{ predicate = sle }",
     "i8,i8",
     "i1",
     QP_FABRIC_RULE_PREDICATE,
     "point 3"},
    {FLOATS(NEAREST), "arith.addf", "", "f64,f64", "f64", QP_FABRIC_RULE_FORMAT, "point 3"},
    {{"ScalarFloatWidthCast", "arith.extf", "64", "64", "format_pairs = [(f16,f32)], " NEAREST},
     "arith.extf",
     "",
     "f16",
     "f64",
     QP_FABRIC_RULE_PAIR,
     "point 3"},
    {{"ScalarIntegerToFloat", "arith.uitofp", "64", "64", "format_pairs = [(32,f32)]"},
     "arith.uitofp",
     "{ nneg }",
     "i32",
     "f32",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"ScalarIntegerToFloat", "arith.uitofp", "64", "64", "format_pairs = [(32,f32)]"},
     "arith.uitofp",
     "",
     "i8",
     "f32",
     QP_FABRIC_RULE_PAIR,
     "point 3"},
    {{"ScalarFloatToInteger", "arith.fptoui", "64", "64", "format_pairs = [(32,f32)]"},
     "arith.fptoui",
     "",
     "f32",
     "i32",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"ScalarFloatToInteger", "arith.fptoui", "64", "64", "format_pairs = [(32,f32)]"},
     "arith.fptoui",
     "",
     "f32",
     "i64",
     QP_FABRIC_RULE_PAIR,
     "point 3"},
    {CASTS, "arith.extsi", "", "i8", "i32", QP_FABRIC_RULE_NONE, ""},
    {CASTS, "arith.extsi", "", "i16", "i32", QP_FABRIC_RULE_PAIR, "point 3"},
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [32], step_kind = add, predicates = [slt]"},
     "dataflow.stream",
     "{ step = mul, predicate = slt }",
     "i32,i32,i32",
     "i32,i1",
     QP_FABRIC_RULE_STEP_KIND,
     "point 3"},
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [32], step_kind = add, predicates = [slt]"},
     "dataflow.stream",
     "{ step = add, predicate = ult }",
     "i32,i32,i32",
     "i32,i1",
     QP_FABRIC_RULE_PREDICATE,
     "point 3"},
    {{"ScalarValueSelect", "arith.select", "1,32,32", "32",
      "integer_widths = [1], float_formats = [f32]"},
     "arith.select",
     "",
     "i1,f32,f32",
     "f32",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"ScalarValueSelect", "arith.select", "1,32,32", "32",
      "integer_widths = [1], float_formats = [f32]"},
     "arith.select",
     "",
     "i1,i8,i8",
     "i8",
     QP_FABRIC_RULE_WIDTH,
     "point 3"},
    {{"ScalarBitReinterpret", "arith.bitcast", "32", "32",
      "integer_widths = [32], float_formats = [f16]"},
     "arith.bitcast",
     "",
     "i32",
     "f32",
     QP_FABRIC_RULE_FORMAT,
     "point 3"},
    {SLICES, "vector.extract", "{ position = [?] }", "vector<3x2xi8>,index", "vector<2xi8>",
     QP_FABRIC_RULE_NONE, ""},
    {SLICES, "vector.extract", "{ position = [0] }", "vector<7xi8>", "i8", QP_FABRIC_RULE_CAPACITY,
     "point 3"},
    {SLICES, "vector.extract", "{ position = [0] }", "vector<2x3xi8>", "vector<3xi8>",
     QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SLICES, "vector.extract", "{ position = [?,?,?] }", "vector<2x1x2xi8>,index,index,index", "i8",
     QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SLICES, "vector.insert", "{ position = [0] }", "i16,vector<2xi16>", "vector<2xi16>",
     QP_FABRIC_RULE_WIDTH, "point 3"},
    {SHUFFLES, "vector.shuffle", "{ mask = [0,-1,4] }", "vector<2xi8>,vector<3xi8>", "vector<3xi8>",
     QP_FABRIC_RULE_NONE, ""},
    {SHUFFLES, "vector.shuffle", "{ mask = [0] }", "vector<6xi8>,vector<1xi8>", "vector<1xi8>",
     QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SHUFFLES, "vector.shuffle", "{ mask = [0] }", "vector<1x3xi8>,vector<1x3xi8>",
     "vector<1x3xi8>", QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SHUFFLES, "vector.shuffle", "{ mask = [0] }", "vector<4xi8>,vector<3xi8>", "vector<1xi8>",
     QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SHUFFLES, "vector.shuffle", "{ mask = [0,0,0,0] }", "vector<1xi8>,vector<1xi8>",
     "vector<4xi8>", QP_FABRIC_RULE_CAPACITY, "point 3"},
    {SHUFFLES, "vector.shuffle", "{ mask = [0,0,0] }", "vector<1x2xi8>,vector<1x2xi8>",
     "vector<3x2xi8>", QP_FABRIC_RULE_CAPACITY, "point 3"},
    {{"FixedVectorPack", "dataflow.pack", "64", "64",
      "integer_element_widths = [8], float_element_formats = [f16], max_payload_bits = 32"},
     "dataflow.pack",
     "",
     "vector<2xf16>",
     "i32",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"FixedVectorUnpack", "dataflow.unpack", "64", "64",
      "integer_element_widths = [8], float_element_formats = [f16], max_payload_bits = 32"},
     "dataflow.unpack",
     "",
     "i64",
     "vector<8xi8>",
     QP_FABRIC_RULE_CAPACITY,
     "point 3"},
    /* point 4 */
    {FLOATS(PROFILE("upward", "ieee", "preserve", "")), "arith.addf", "", "f32,f32", "f32",
     QP_FABRIC_RULE_ROUNDING, "point 4"},
    {FLOATS(PROFILE("upward", "ieee", "preserve", "")), "arith.addf", "{ rounding = upward }",
     "f32,f32", "f32", QP_FABRIC_RULE_NONE, ""},
    {FLOATS(NEAREST), "arith.addf", "{ rounding = to_nearest_even }", "f32,f32", "f32",
     QP_FABRIC_RULE_NONE, ""},
    {FLOATS(PROFILE("to_nearest_even", "ieee", "preserve", "nnan,arcp")), "arith.addf",
     "{ fastmath = [nnan] }", "f32,f32", "f32", QP_FABRIC_RULE_FAST_MATH, "point 4"},
    {FLOATS(PROFILE("to_nearest_even", "number_preferred", "preserve", "")), "arith.addf", "",
     "f32,f32", "f32", QP_FABRIC_RULE_NAN, "point 4"},
    {FLOATS(PROFILE("to_nearest_even", "number_preferred", "preserve", "")), "arith.addf",
     "{ fastmath = [nnan] }", "f32,f32", "f32", QP_FABRIC_RULE_NONE, ""},
    {COMPARES(NEAREST), "arith.minnumf", "", "f32,f32", "f32", QP_FABRIC_RULE_NAN, "point 4"},
    {COMPARES(NEAREST), "arith.minnumf", "{ fastmath = [nnan] }", "f32,f32", "f32",
     QP_FABRIC_RULE_NONE, ""},
    {COMPARES(NEAREST), "arith.cmpf", "{ predicate = ult }", "f32,f32", "i1",
     QP_FABRIC_RULE_PREDICATE, "point 3"},
    {FLOATS(PROFILE("to_nearest_even", "ieee", "ignore_sign", "")), "arith.addf",
     "{ fastmath = [nnan] }", "f32,f32", "f32", QP_FABRIC_RULE_SIGNED_ZERO, "point 4"},
    {FLOATS(PROFILE("to_nearest_even", "ieee", "ignore_sign", "")), "arith.addf",
     "{ fastmath = [nsz] }", "f32,f32", "f32", QP_FABRIC_RULE_NONE, ""},
    /* point 6 */
    {{"TokenConstant", "dataflow.constant", "0", "64", "max_payload_bits = 8"},
     "dataflow.constant",
     "{ value = 1 }",
     "none",
     "i9",
     QP_FABRIC_RULE_CAPACITY,
     "point 6"},
    {MUXES("max_payload_bits = 4, max_fan = 3"), "dataflow.mux", "", "i1,i5,i5", "i5",
     QP_FABRIC_RULE_CAPACITY, "point 6"},
    {MUXES("max_payload_bits = 8, max_fan = 2"), "dataflow.mux", "", "index,i5,i5,i5", "i5",
     QP_FABRIC_RULE_FAN, "point 6"},
    /* the selector is no payload */
    {MUXES("max_payload_bits = 8, max_fan = 3"), "dataflow.mux", "", "index,i5,i5,i5", "i5",
     QP_FABRIC_RULE_NONE, ""},
    /* point 7: the graph's index has 32 bits */
    {INTEGERS, "arith.addi", "", "index,index", "index", QP_FABRIC_RULE_NONE, ""},
    {{"ScalarIntegerAddSub", "arith.addi", "64,64", "64", "integer_widths = [64]"},
     "arith.addi",
     "",
     "index,index",
     "index",
     QP_FABRIC_RULE_WIDTH,
     "point 3"},
    {CASTS, "arith.index_cast", "", "i8", "index", QP_FABRIC_RULE_INDEX_WIDTH, "point 7"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 48, "
      "max_slice_payload_bits = 16, max_dynamic_position_rank = 1, resolved_index_widths = [64]"},
     "vector.extract",
     "{ position = [?] }",
     "vector<2xi8>,index",
     "i8",
     QP_FABRIC_RULE_INDEX_WIDTH,
     "point 7"},
    /* point 8 */
    {{"ScalarIntegerAddSub", "arith.addi", "32,31", "32", "integer_widths = [8,32]"},
     "arith.addi",
     "",
     "i32,i32",
     "i32",
     QP_FABRIC_RULE_PORT_WIDTH,
     "point 8"},
    {{"ScalarIntegerAddSub", "arith.addi", "32,32", "31", "integer_widths = [8,32]"},
     "arith.addi",
     "",
     "i32,i32",
     "i32",
     QP_FABRIC_RULE_PORT_WIDTH,
     "point 8"},
    {{"LoopCarry", "dataflow.carry", "1,8,8", "8", ""},
     "dataflow.carry",
     "",
     "i1,vector<2xi4>,vector<2xi4>",
     "vector<2xi4>",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"LoopCarry", "dataflow.carry", "1,8,8", "8", ""},
     "dataflow.carry",
     "",
     "i1,f16,f16",
     "f16",
     QP_FABRIC_RULE_PORT_WIDTH,
     "point 8"},
    {{"LoopCarry", "dataflow.carry", "1,0,0", "0", ""},
     "dataflow.carry",
     "",
     "i1,none,none",
     "none",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"LoopGate", "dataflow.gate", "1,32", "1,32", ""},
     "dataflow.gate",
     "",
     "i1,index",
     "i1,index",
     QP_FABRIC_RULE_NONE,
     ""},
    /* section 3 */
    {{"FixedVectorSerialize", "dataflow.serialize", "16,2,1", "8,1",
      "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 16"},
     "dataflow.serialize",
     "",
     "vector<2xi8>,vector<2xi1>,i1",
     "i8,i1",
     QP_FABRIC_RULE_DEFINEDNESS,
     "section 3"},
    /* point 9: promises never reject */
    {{"ScalarIntegerLogic", "llvm.or", "8,8", "8", "integer_widths = [8]"},
     "llvm.or",
     "{ disjoint }",
     "i8,i8",
     "i8",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"ScalarIntegerShift", "arith.shrui", "8,8", "8", "integer_widths = [8]"},
     "arith.shrui",
     "{ exact }",
     "i8,i8",
     "i8",
     QP_FABRIC_RULE_NONE,
     ""},
    {{"ScalarIntegerCountZeros", "llvm.intr.ctlz", "8", "8", "integer_widths = [8]"},
     "llvm.intr.ctlz",
     "{ zero_poison }",
     "i8",
     "i8",
     QP_FABRIC_RULE_NONE,
     ""},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const admission_row *row = &rows[i];
        qp_fabric_error error;
        char graph[1024];
        make_graph(graph, sizeof graph, row->schema, row->attributes, row->operands, row->results);
        const qp_status status = supports(&row->op, graph, &error);
        const bool admitted = row->rule == QP_FABRIC_RULE_NONE;
        if ((status == QP_OK) != admitted || error.rule != row->rule)
            print_error("row %zu: status %d, rule %s: %s\n%s\n", i, (int)status,
                        qp_fabric_rule_name(error.rule), error.base.message, graph);
        assert_int_equal(status, admitted ? QP_OK : QP_MODEL_MISMATCH);
        assert_int_equal(error.rule, row->rule);
        if (admitted)
            continue;
        assert_int_equal(error.fault, QP_FABRIC_INADMISSIBLE);
        assert_int_equal(strncmp(error.base.message, row->point, strlen(row->point)), 0);
        assert_true(error.line > 0);
    }
}

/* ---- ports -------------------------------------------------------------------------------- */

/* The rule that refuses the first actor at given ports. */
static qp_fabric_rule rule_of(op_case *c, const uint32_t *operands, const uint32_t *results)
{
    qp_fabric_offer offer = {.signature = qp_fabric_actor_signature(c->graph, 0),
                             .operand_ports = operands,
                             .result_ports = results};

    memset(&c->error, 0, sizeof c->error);
    (void)qp_fabric_admit(c->node, &offer, &c->error);
    return c->error.rule;
}

#define PORTS(...) ((const uint32_t[]){__VA_ARGS__})

static void test_straight_ports(void **state)
{
    const op_text add = INTEGERS, slices = SLICES;
    op_case c = seal_op(&add, "graph g { input %a : i8 input %b : i8 %r = arith.addi %a, %b : "
                              "(i8,i8) -> (i8) output %r }");
    op_case s =
        seal_op(&slices, "graph g index 32 { input %a : vector<2xi8> input %i : index\n"
                         "%r = vector.extract %a, %i { position = [?] } : (vector<2xi8>,index) -> "
                         "(i8) output %r }");
    op_case i = seal_op(
        &slices, "graph g index 32 { input %a : vector<2xi8> input %i : index input %v : i8\n"
                 "%r = vector.insert %v, %a, %i { position = [?] } : "
                 "(i8,vector<2xi8>,index) -> (vector<2xi8>) output %r }");
    (void)state;

    assert_sealed(&c);
    assert_sealed(&s);
    assert_sealed(&i);
    assert_int_equal(rule_of(&c, PORTS(0, 1), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&c, PORTS(1, 0), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&c, PORTS(0, 0), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&c, PORTS(0, 2), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&c, PORTS(0, 1), PORTS(1)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&s, PORTS(0, 2), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&s, PORTS(0, 1), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&s, PORTS(0, 3), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&i, PORTS(0, 1, 2), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&i, PORTS(1, 0, 2), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    free_op(&i);
    free_op(&s);
    free_op(&c);
}

static void test_routed_ports(void **state)
{
    const op_text mux = {"TokenMux", "dataflow.mux", "32,16,32,16", "32",
                         "max_payload_bits = 32, max_fan = 3"};
    const op_text sync = {"TokenSync", "dataflow.sync", "8,16,8", "8,16,8",
                          "max_payload_bits = 16, max_fan = 3"};
    const op_text demux = {"TokenDemux", "dataflow.demux", "1,16", "16,8,16",
                           "max_payload_bits = 16, max_fan = 3"};
    op_case m = seal_op(&mux, "graph g { input %s : i1 input %a : i8 input %b : i8\n"
                              "%r = dataflow.mux %s, %a, %b : (i1,i8,i8) -> (i8) output %r }");
    op_case s = seal_op(&sync, "graph g { input %a : i8 input %b : i16\n"
                               "%r, %q = dataflow.sync %a, %b : (i8,i16) -> (i8,i16)\n"
                               "output %r output %q }");
    op_case d = seal_op(&demux, "graph g { input %s : i1 input %a : i9\n"
                                "%r, %q = dataflow.demux %s, %a : (i1,i9) -> (i9,i9)\n"
                                "output %r output %q }");
    (void)state;

    assert_sealed(&m);
    assert_sealed(&s);
    assert_sealed(&d);
    assert_int_equal(rule_of(&m, PORTS(0, 1, 3), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&m, PORTS(0, 1, 2), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&m, PORTS(0, 2, 1), PORTS(0)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&m, PORTS(0, 3, 1), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&m, PORTS(0, 2, 3), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&m, PORTS(0, 1, 1), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&m, PORTS(0, 0, 1), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&m, PORTS(1, 1, 2), PORTS(0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&s, PORTS(0, 1), PORTS(0, 1)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&s, PORTS(0, 1), PORTS(1, 0)), QP_FABRIC_RULE_PORT_WIDTH);
    assert_int_equal(rule_of(&s, PORTS(0, 1), PORTS(2, 1)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&s, PORTS(2, 1), PORTS(2, 1)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&s, PORTS(1, 2), PORTS(1, 2)), QP_FABRIC_RULE_PORT_WIDTH);
    assert_int_equal(rule_of(&d, PORTS(0, 1), PORTS(0, 2)), QP_FABRIC_RULE_NONE);
    assert_int_equal(rule_of(&d, PORTS(0, 1), PORTS(2, 0)), QP_FABRIC_RULE_CORRESPONDENCE);
    assert_int_equal(rule_of(&d, PORTS(0, 1), PORTS(0, 1)), QP_FABRIC_RULE_PORT_WIDTH);
    assert_int_equal(rule_of(&d, PORTS(1, 0), PORTS(0, 2)), QP_FABRIC_RULE_PORT_WIDTH);
    free_op(&d);
    free_op(&s);
    free_op(&m);
}

/* All correspondences of the first actor, as "in>out|in>out". */
static void assert_correspondences(const op_text *op, const char *graph, const char *expected)
{
    op_case c = seal_op(op, graph);
    qp_buffer text;
    uint32_t operands[16], results[16];
    uint64_t cursor = 0;

    assert_sealed(&c);
    qp_buffer_init(&text, NULL);
    const qp_fabric_signature s = qp_fabric_actor_signature(c.graph, 0);
    while (qp_fabric_next_correspondence(c.node, &s, &cursor, operands, results)) {
        const qp_fabric_offer offer = {s, operands, results, QP_FABRIC_NOWHERE};
        assert_int_equal(qp_fabric_admit(c.node, &offer, NULL), QP_OK);
        qp_buffer_text(&text, text.size > 0 ? "|" : "");
        for (size_t i = 0; i < s.operand_count; i++)
            qp_buffer_format(&text, "%u", (unsigned)operands[i]);
        qp_buffer_text(&text, ">");
        for (size_t i = 0; i < s.result_count; i++)
            qp_buffer_format(&text, "%u", (unsigned)results[i]);
    }
    qp_buffer_append(&text, "", 1);
    assert_string_equal((const char *)text.bytes, expected);
    qp_buffer_free(&text);
    free_op(&c);
}

static void test_correspondences(void **state)
{
    const op_text add = INTEGERS, slices = SLICES;
    const op_text mux = {"TokenMux", "dataflow.mux", "32,16,32,16", "32",
                         "max_payload_bits = 32, max_fan = 3"};
    const op_text sync = {"TokenSync", "dataflow.sync", "8,16,8,32", "8,16,8,32",
                          "max_payload_bits = 32, max_fan = 3"};
    const op_text demux = {"TokenDemux", "dataflow.demux", "1,16", "16,8,16",
                           "max_payload_bits = 16, max_fan = 3"};
    (void)state;

    assert_correspondences(&add,
                           "graph g { input %a : i8 input %b : i8 %r = arith.addi %a, %b : "
                           "(i8,i8) -> (i8) output %r }",
                           "01>0");
    assert_correspondences(&slices,
                           "graph g index 32 { input %a : vector<2x2xi8> input %i : index input %j "
                           ": index %r = vector.extract %a, %i, %j { position = [?,?] } : "
                           "(vector<2x2xi8>,index,index) -> (i8) output %r }",
                           "023>0");
    assert_correspondences(&mux,
                           "graph g { input %s : i1 input %a : i8 input %b : i8\n"
                           "%r = dataflow.mux %s, %a, %b : (i1,i8,i8) -> (i8) output %r }",
                           "012>0|013>0|021>0");
    assert_correspondences(
        &mux,
        "graph g index 32 { input %s : index input %a : i8\n"
        "%r = dataflow.mux %s, %a, %a, %a : (index,i8,i8,i8) -> (i8) output %r }",
        "0123>0|0132>0|0213>0");
    /* 17 bits fit lane 2 alone: no two lanes */
    assert_correspondences(&mux,
                           "graph g { input %s : i1 input %a : i17\n"
                           "%r = dataflow.mux %s, %a, %a : (i1,i17,i17) -> (i17) output %r }",
                           "");
    /* lane by lane: %b needs 16 bits at least, %c 8 */
    assert_correspondences(&sync,
                           "graph g { input %a : i8 input %b : i16 input %c : i8\n"
                           "%r, %q, %s = dataflow.sync %a, %b, %c : (i8,i16,i8) -> (i8,i16,i8)\n"
                           "output %r output %q output %s }",
                           "012>012|013>013|031>031|032>032|130>130|310>310");
    assert_correspondences(&demux,
                           "graph g { input %s : i1 input %a : i9\n"
                           "%r, %q = dataflow.demux %s, %a : (i1,i9) -> (i9,i9)\n"
                           "output %r output %q }",
                           "01>02");
}

/* The ports that an actor leaves idle. */
static void test_idle_ports(void **state)
{
    const op_text slices = SLICES;
    const op_text demux = {"TokenDemux", "dataflow.demux", "1,16", "16,8,16",
                           "max_payload_bits = 16, max_fan = 3"};
    op_case c = seal_op(&slices, "graph g { input %a : vector<2xi8>\n"
                                 "%r = vector.extract %a { position = [1] } : (vector<2xi8>) -> "
                                 "(i8) output %r }");
    op_case d = seal_op(&demux, "graph g { input %s : i1 input %a : i9\n"
                                "%r, %q = dataflow.demux %s, %a : (i1,i9) -> (i9,i9)\n"
                                "output %r output %q }");
    (void)state;

    assert_sealed(&c);
    assert_sealed(&d);
    qp_fabric_offer offer = offer_actor(&c, 0);
    for (uint32_t port = 0; port < 6; port++)
        assert_int_equal(qp_fabric_idle_input(c.node, &offer, port), port >= 1 && port <= 3);
    assert_false(qp_fabric_idle_output(c.node, &offer, 0));
    offer = offer_actor(&d, 0);
    for (uint32_t port = 0; port < 4; port++)
        assert_int_equal(qp_fabric_idle_output(d.node, &offer, port), port == 1);
    assert_false(qp_fabric_idle_input(d.node, &offer, 0));
    free_op(&d);
    free_op(&c);
}

/* ---- Supports, relations by name ---------------------------------------------------------- */

static void test_questions(void **state)
{
    const op_text add = INTEGERS;
    op_case c = read_op(&add, "graph g { input %a : i8 input %b : i8 %r = arith.addi %a, %b : "
                              "(i8,i8) -> (i8) output %r }");
    qp_fabric_question q = {"F", "U.f", "g", "r", NULL, NULL, 0, 0};
    qp_fabric_error error;
    (void)state;

    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_OK);
    q.operand_ports = PORTS(0, 1);
    q.result_ports = PORTS(0);
    q.operand_count = 2;
    q.result_count = 1;
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_OK);
    q.operand_ports = PORTS(1, 0);
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.rule, QP_FABRIC_RULE_CORRESPONDENCE);
    q.operand_count = 1;
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_INVALID_ARGUMENT);
    q = (qp_fabric_question){"F", "U.f", "g", "a", NULL, NULL, 0, 0}; /* an input is no actor */
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_MALFORMED);
    q = (qp_fabric_question){"F", "U.a0", "g", "r", NULL, NULL, 0, 0};
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_MALFORMED);
    q = (qp_fabric_question){"G", "U.f", "g", "r", NULL, NULL, 0, 0};
    assert_int_equal(qp_fabric_supports(c.model, &q, NULL, &error), QP_MALFORMED);
    free_op(&c);
}

/* Everything that the public functions make is given back, wherever memory ends. */
static void test_failing_allocator(void **state)
{
    const op_text mux = {"TokenMux", "dataflow.mux", "32,16,32,16", "32",
                         "max_payload_bits = 32, max_fan = 3"};
    op_case c = read_op(&mux, "graph g { input %s : i1 input %a : i8 input %b : i8\n"
                              "%r = dataflow.mux %s, %a, %b : (i1,i8,i8) -> (i8) output %r }");
    const qp_fabric_question q = {"F", "U.f", "g", "r", NULL, NULL, 0, 0};
    qp_fabric_error error;
    (void)state;

    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        const qp_allocator allocator = failing_allocator_use(&memory);
        qp_fabric_relation *relation;
        qp_status status =
            qp_fabric_relation_of(c.model, "F", "U.f", &allocator, &relation, &error);
        assert_int_equal(status == QP_OK, relation != NULL);
        if (status == QP_OK) {
            assert_int_equal(relation->key_count, 6);
            status = qp_fabric_supports(c.model, &q, &allocator, &error);
        }
        qp_fabric_relation_free(relation);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
    free_op(&c);
}

/* ---- definedness -------------------------------------------------------------------------- */

/* The proofs of a graph's values, as the names of those that are proved. */
static void assert_proved(const char *graph, const char *expected)
{
    const op_text add = INTEGERS;
    op_case c = read_op(&add, graph);
    qp_buffer text;
    char line[512];

    if (c.status != QP_OK)
        fail_msg("%s", qp_fabric_error_text(&c.error, line, sizeof line));
    const bool *defined = qp_fabric_definedness(c.graph, &c.arena);
    assert_non_null(defined);
    qp_buffer_init(&text, NULL);
    for (uint32_t i = 0; i < c.graph->n_values; i++)
        if (defined[i])
            qp_buffer_format(&text, "%s ", qp_fabric_name_text(c.model, c.graph->values[i].name));
    qp_buffer_append(&text, "", 1);
    assert_string_equal((const char *)text.bytes, expected);
    qp_buffer_free(&text);
    free_op(&c);
}

static void test_definedness(void **state)
{
    (void)state;
    /* a constant is proved, whatever fires it; addi is not, whatever it is given */
    assert_proved("graph g { input %t : none %c = dataflow.constant %t { value = 1 } : (none) -> "
                  "(i8) %s = arith.addi %c, %c : (i8,i8) -> (i8) %x = arith.xori %c, %c : (i8,i8) "
                  "-> (i8) output %s output %x }",
                  "c x ");
    /* a lane of a sync for itself */
    assert_proved("graph g { input %t : none input %a : i8\n"
                  "%c = dataflow.constant %t { value = 1 } : (none) -> (i8)\n"
                  "%p, %q = dataflow.sync %a, %c : (i8,i8) -> (i8,i8) output %p output %q }",
                  "c q ");
    /* nnan and ninf make poison of defined operands */
    assert_proved("graph g { input %t : none\n"
                  "%c = dataflow.constant %t { value = 0 } : (none) -> (f32)\n"
                  "%p = arith.cmpf %c, %c { predicate = olt } : (f32,f32) -> (i1)\n"
                  "%q = arith.cmpf %c, %c { predicate = olt, fastmath = [nnan] } : (f32,f32) -> "
                  "(i1)\n"
                  "%r = arith.cmpf %c, %c { predicate = olt, fastmath = [ninf] } : (f32,f32) -> "
                  "(i1)\n"
                  "%s = arith.cmpf %c, %c { predicate = olt, fastmath = [nsz] } : (f32,f32) -> "
                  "(i1)\n"
                  "output %p output %q output %r output %s }",
                  "c p s ");
    /* parallelize: masks and phases need the phase alone; serialize: phases need mask and phase */
    assert_proved("graph g { input %t : none input %a : i8\n"
                  "%c = dataflow.constant %t { value = 1 } : (none) -> (i1)\n"
                  "%v, %m, %p = dataflow.parallelize %a, %c : (i8,i1) -> "
                  "(vector<2xi8>,vector<2xi1>,i1)\n"
                  "%d, %q = dataflow.serialize %v, %m, %p : (vector<2xi8>,vector<2xi1>,i1) -> "
                  "(i8,i1) output %d output %q }",
                  "c m p q ");
    assert_proved("graph g { input %t : none input %b : i1\n"
                  "%c = dataflow.constant %t { value = 1 } : (none) -> (i8)\n"
                  "%v, %m, %p = dataflow.parallelize %c, %b : (i8,i1) -> "
                  "(vector<2xi8>,vector<2xi1>,i1) output %v output %m output %p }",
                  "c ");
    /* the least fixpoint: a carry that needs itself is not proved */
    assert_proved("graph g { input %t : none\n"
                  "%c = dataflow.constant %t { value = 1 } : (none) -> (i1)\n"
                  "%x = dataflow.carry %c, %c, %y : (i1,i1,i1) -> (i1)\n"
                  "%y = arith.xori %x, %c : (i1,i1) -> (i1) output %x }",
                  "c ");
}

/* ---- anchors ------------------------------------------------------------------------------ */

/* One projection of an actor: the same bytes by the reader's attributes, whatever their order, for
 * the capability that admits it. */
static void anchor_01_one_projection(void **state)
{
    const op_text op = FLOATS(NEAREST);
    static const char *const graphs[] = {
        "graph g { input %a : f32 %r = arith.addf %a, %a { fastmath = [nsz,nnan], rounding = "
        "to_nearest_even } : (f32,f32) -> (f32) output %r }",
        "graph other { input %x : f32 input %y : f32 %z = arith.addf %x, %y { rounding = "
        "to_nearest_even, fastmath = [nnan,nsz] } : (f32,f32) -> (f32) output %z }"};
    qp_buffer bytes[2];
    (void)state;

    for (int i = 0; i < 2; i++) {
        op_case c = seal_op(&op, graphs[i]);
        assert_sealed(&c);
        const qp_fabric_offer offer = offer_actor(&c, 0);
        qp_buffer_init(&bytes[i], NULL);
        qp_fabric_put_projection(&bytes[i], &offer.signature);
        assert_int_equal(qp_fabric_admit(c.node, &offer, NULL), QP_OK);
        free_op(&c);
    }
    assert_int_equal(bytes[0].size, bytes[1].size);
    assert_memory_equal(bytes[0].bytes, bytes[1].bytes, bytes[1].size);
    /* domain of 50 bytes, tags, three terms with two counts, mask 10, rounding 1 */
    assert_hex(bytes[0].bytes + bytes[0].size - 12, 12, "0000000a0000000100000001");
    qp_buffer_free(&bytes[1]);
    qp_buffer_free(&bytes[0]);
}

static void anchor_02_disabled_member(void **state)
{
    const op_text op = INTEGERS;
    qp_fabric_error error;
    (void)state;

    assert_int_equal(supports(&op,
                              "graph g { input %a : i32 %r = arith.subi %a, %a : (i32,i32) -> "
                              "(i32) output %r }",
                              &error),
                     QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_INADMISSIBLE);
    assert_int_equal(error.rule, QP_FABRIC_RULE_SCHEMA);
}

static void anchor_03_scalar_and_vector(void **state)
{
    static const char scalar[] =
        "graph g { input %a : i32 %r = arith.addi %a, %a : (i32,i32) -> (i32) output %r }";
    static const char vector[] =
        "graph g { input %a : vector<4xi8> %r = arith.addi %a, %a : (vector<4xi8>,vector<4xi8>) -> "
        "(vector<4xi8>) output %r }";
    const op_text integers = INTEGERS;
    const op_text vectors = {"FixedVectorIntegerAddSub", "arith.addi", "64,64", "64",
                             "element_widths = [8,32], max_payload_bits = 64"};
    qp_fabric_error error;
    (void)state;

    assert_int_equal(supports(&integers, scalar, &error), QP_OK);
    assert_int_equal(supports(&vectors, vector, &error), QP_OK);
    assert_int_equal(supports(&vectors, scalar, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.rule, QP_FABRIC_RULE_SHAPE);
    assert_int_equal(supports(&integers, vector, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.rule, QP_FABRIC_RULE_SHAPE);
}

static void anchor_16_definedness(void **state)
{
    static const char input[] =
        "graph g { input %a : i8 input %p : i1\n"
        "%v, %m, %q = dataflow.parallelize %a, %p : (i8,i1) -> (vector<2xi8>,vector<2xi1>,i1)\n"
        "output %v output %m output %q }";
    static const char stream[] =
        "graph g { input %t : none input %a : i8\n"
        "%v, %m, %q = dataflow.parallelize %a, %p : (i8,i1) -> (vector<2xi8>,vector<2xi1>,i1)\n"
        "%z = dataflow.constant %t { value = 0 } : (none) -> (i32)\n"
        "%n = dataflow.constant %t { value = 5 } : (none) -> (i32)\n"
        "%o = dataflow.constant %t { value = 1 } : (none) -> (i32)\n"
        "%i, %p = dataflow.stream %z, %n, %o { step = add, predicate = slt } : (i32,i32,i32) -> "
        "(i32,i1)\n"
        "output %v output %m output %q output %i }";
    const op_text op = {"FixedVectorParallelize", "dataflow.parallelize", "8,1", "16,2,1",
                        "integer_element_widths = [8], float_element_formats = [], "
                        "max_payload_bits = 16"};
    qp_fabric_error error;
    (void)state;

    assert_int_equal(supports(&op, input, &error), QP_MODEL_MISMATCH);
    assert_int_equal(error.fault, QP_FABRIC_INADMISSIBLE);
    assert_int_equal(error.rule, QP_FABRIC_RULE_DEFINEDNESS);
    assert_int_equal(supports(&op, stream, &error), QP_OK);
}

static void anchor_25_accuracy(void **state)
{
    static const char *const tiers[] = {"CorrectlyRounded", "Max1Ulp", "Max2Ulp", "Max4Ulp"};
    const op_text op = {"ScalarMathExp", "math.exp", "32", "32",
                        "formats = [f32], accuracy_guarantee = Max2Ulp, " PROFILE(
                            "to_nearest_even", "ieee", "preserve", "afn")};
    qp_fabric_error error;
    char graph[256];
    (void)state;

    for (int i = 0; i < 4; i++) {
        snprintf(graph, sizeof graph,
                 "graph g { input %%a : f32 %%r = math.exp %%a { fastmath = [afn], accuracy = %s } "
                 ": (f32) -> (f32) output %%r }",
                 tiers[i]);
        assert_int_equal(supports(&op, graph, &error), i >= 2 ? QP_OK : QP_MODEL_MISMATCH);
        if (i < 2)
            assert_int_equal(error.rule, QP_FABRIC_RULE_ACCURACY);
    }
}

static void anchor_26_required_fast_math(void **state)
{
    static const char *const masks[] = {"", "nsz", "nnan",
                                        "reassoc,nnan,ninf,nsz,arcp,contract,afn"};
    const op_text strict = FLOATS(NEAREST);
    const op_text relaxed = FLOATS(PROFILE("to_nearest_even", "ieee", "preserve", "nnan"));
    qp_fabric_error error;
    char graph[256];
    (void)state;

    for (int i = 0; i < 4; i++) {
        snprintf(graph, sizeof graph,
                 "graph g { input %%a : f32 %%r = arith.addf %%a, %%a { fastmath = [%s] } : "
                 "(f32,f32) -> (f32) output %%r }",
                 masks[i]);
        assert_int_equal(supports(&strict, graph, &error), QP_OK);
        assert_int_equal(supports(&relaxed, graph, &error), i >= 2 ? QP_OK : QP_MODEL_MISMATCH);
        if (i < 2)
            assert_int_equal(error.rule, QP_FABRIC_RULE_FAST_MATH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_straight_ports),
        cmocka_unit_test(test_routed_ports),
        cmocka_unit_test(test_correspondences),
        cmocka_unit_test(test_idle_ports),
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_definedness),
        cmocka_unit_test(anchor_01_one_projection),
        cmocka_unit_test(anchor_02_disabled_member),
        cmocka_unit_test(anchor_03_scalar_and_vector),
        cmocka_unit_test(anchor_16_definedness),
        cmocka_unit_test(anchor_25_accuracy),
        cmocka_unit_test(anchor_26_required_fast_math),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
