/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relation.c - the relation of every family (sections 4 and 7): which components are written,
 * which points are reached, and that no declaration order matters.
 */
#include "capability_support.h"

#define ALL_FORMATS "formats = [f16,bf16,f32,f64]"
#define PROFILE(roundings, nans, zeros, required)                                                  \
    "behavior = { rounding_modes = [" roundings "], nan_behaviors = [" nans                        \
    "], subnormal_behaviors = [preserve], signed_zero_behaviors = [" zeros                         \
    "], required_fast_math = [" required "] }"
#define NEAREST PROFILE("to_nearest_even", "ieee", "preserve", "")
#define ALL_ROUNDINGS "to_nearest_even,downward,upward,toward_zero,to_nearest_away"

typedef struct relation_row {
    op_text op;
    const char *expected;
} relation_row;

static const relation_row rows[] = {
    /* scalar integers */
    {{"ScalarIntegerAddSub", "arith.addi,arith.subi", "32,32", "32", "integer_widths = [8,32]"},
     "Add|Sub"},
    {{"ScalarIntegerAddSub", "arith.subi", "32,32", "32", "integer_widths = [8,32]"}, "None"},
    {{"ScalarIntegerLogic", "arith.andi,arith.ori,arith.xori,llvm.or", "8,8", "8",
      "integer_widths = [1,8]"},
     "Or|And|Xor"},
    {{"ScalarIntegerLogic", "arith.ori,llvm.or", "8,8", "8", "integer_widths = [8]"}, "None"},
    {{"ScalarIntegerShift", "arith.shli,arith.shrsi,arith.shrui", "32,32", "32",
      "integer_widths = [8,32]"},
     "Left|LogicalRight|ArithmeticRight i8|ArithmeticRight i32"},
    {{"ScalarIntegerShift", "arith.shrsi", "32,32", "32", "integer_widths = [8,16]"},
     "ArithmeticRight i8|ArithmeticRight i16"},
    {{"ScalarIntegerShift", "arith.shli,arith.shrui", "32,32", "32", "integer_widths = [8,16]"},
     "Left|LogicalRight"},
    /* a width that the ports do not carry is no point */
    {{"ScalarIntegerShift", "arith.shrsi", "8,8", "8", "integer_widths = [8,16]"}, "None"},
    {{"ScalarIntegerCompareMinMax", "arith.cmpi,arith.minsi,arith.maxui", "32,32", "32",
      "operand_widths = [8,32], comparison_predicates = [eq,slt,ugt]"},
     "Compare eq|Compare slt i8|Compare slt i32|Compare ugt|SignedMin i8|SignedMin "
     "i32|UnsignedMax"},
    {{"ScalarIntegerCast", "arith.extsi,arith.extui,arith.trunci", "32", "32",
      "width_pairs = [(8,32),(16,32),(32,8)], resolved_index_widths = []"},
     "Truncate|SignExtend from i8|SignExtend from i16|ZeroExtend from i8|ZeroExtend from i16"},
    {{"ScalarIntegerCast", "arith.index_cast,arith.index_castui", "64", "64",
      "width_pairs = [(32,32),(8,32),(64,8)], resolved_index_widths = [32,64]"},
     "Identity|Truncate|SignExtend|ZeroExtend"},
    {{"ScalarValueSelect", "arith.select", "1,64,64", "64",
      "integer_widths = [1,8], float_formats = [f64]"},
     "None"},
    {{"ScalarBitReinterpret", "arith.bitcast", "32", "32",
      "integer_widths = [32], float_formats = [f32]"},
     "None"},
    {{"ScalarIntegerMultiply", "arith.muli", "32,32", "32", "integer_widths = [8,16,32]"}, "None"},
    {{"ScalarSignedIntegerDivRem", "arith.divsi,arith.remsi", "64,64", "64",
      "integer_widths = [8,64]"},
     "Quotient i8|Quotient i64|Remainder i8|Remainder i64"},
    {{"ScalarUnsignedIntegerDivRem", "arith.remui", "64,64", "64", "integer_widths = [8,64]"},
     "Remainder i8|Remainder i64"},
    {{"ScalarIntegerSaturatingAddSub", "llvm.intr.sadd.sat,llvm.intr.usub.sat", "8,8", "8",
      "integer_widths = [8]"},
     "SignedAdd|UnsignedSub"},
    {{"ScalarIntegerCountZeros", "math.ctlz,llvm.intr.ctlz,llvm.intr.cttz", "16", "16",
      "integer_widths = [8,16]"},
     "Leading i8|Leading i16|Trailing i8|Trailing i16"},
    /* scalar floats */
    {{"ScalarFloatSign", "arith.negf,math.absf", "32", "32", "formats = [f16,bf16,f32], " NEAREST},
     "Negate 16-bit|Negate 32-bit|Absolute 16-bit|Absolute 32-bit"},
    {{"ScalarFloatAddSub", "arith.addf", "64,64", "64", "formats = [f32], " NEAREST}, "None"},
    {{"ScalarFloatAddSub", "arith.addf,arith.subf", "64,64", "64",
      "formats = [f32,bf16], " PROFILE("downward,upward", "ieee", "preserve", "")},
     "Add bf16 downward|Add bf16 upward|Add f32 downward|Add f32 upward|"
     "Sub bf16 downward|Sub bf16 upward|Sub f32 downward|Sub f32 upward"},
    {{"ScalarFloatMultiply", "arith.mulf", "32,32", "32",
      "formats = [f32], " PROFILE("downward,to_nearest_even", "ieee", "preserve", "")},
     "to_nearest_even|downward"},
    {{"ScalarFloatFma", "math.fma", "64,64,64", "64", "formats = [f32,f64], " NEAREST}, "f32|f64"},
    {{"ScalarFloatDivide", "arith.divf", "64,64", "64", "formats = [f64,f16], " NEAREST},
     "f16|f64"},
    {{"ScalarFloatRemainder", "arith.remf", "32,32", "32", "formats = [f64,f32,f16], " NEAREST},
     "f16|f32"},
    {{"ScalarFloatWidthCast", "arith.extf,arith.truncf", "64", "64",
      "format_pairs = [(f16,f32),(f32,f64),(f32,f16)], " PROFILE("to_nearest_even,upward", "ieee",
                                                                 "preserve", "")},
     "from f16 to f32|from f32 to f16 to_nearest_even|from f32 to f16 upward|from f32 to f64"},
    {{"ScalarFloatWidthCast", "arith.extf", "64", "64",
      "format_pairs = [(f16,f32),(bf16,f32)], " NEAREST},
     "from bf16|from f16"},
    {{"ScalarIntegerToFloat", "arith.sitofp", "32", "32", "format_pairs = [(8,f16),(32,f16)]"},
     "Signed from i8|Signed from i32"},
    {{"ScalarFloatToInteger", "arith.fptoui", "64", "64", "format_pairs = [(32,f32),(8,f64)]"},
     "Unsigned from f32 to i32|Unsigned from f64 to i8"},
    {{"ScalarFloatCompareMinMax", "arith.cmpf", "64,64", "1",
      "formats = [f16,f32], predicates = [olt,true], " NEAREST},
     "olt f16|olt f32|true"},
    {{"ScalarFloatCompareMinMax", "arith.cmpf", "64,64", "1",
      "formats = [f16,bf16,f32], predicates = [olt], " PROFILE("to_nearest_even", "ieee",
                                                               "preserve", "nnan")},
     "16-bit|32-bit"},
    {{"ScalarFloatCompareMinMax", "arith.minimumf,arith.minnumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " PROFILE("to_nearest_even", "ieee,number_preferred",
                                                      "preserve", "")},
     "Minimum|MinNumber"},
    {{"ScalarFloatCompareMinMax", "arith.minimumf,arith.minnumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " NEAREST},
     "None"},
    {{"ScalarMathPow", "math.powf", "64,64", "64",
      "formats = [f32,f64], accuracy_guarantee = CorrectlyRounded, " NEAREST},
     "f32|f64"},
    /* loop control */
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [8,32], step_kind = add, predicates = [ne]"},
     "i8|i32"},
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [32], step_kind = mul, predicates = [ne,slt]"},
     "ne|slt"},
    {{"LoopCarry", "dataflow.carry", "1,32,32", "32", ""}, "None"},
    {{"LoopInvariant", "dataflow.invariant", "1,0", "0", ""}, "None"},
    {{"LoopGate", "dataflow.gate", "1,32", "1,32", ""}, "None"},
    /* vectors */
    {{"FixedVectorIntegerAddSub", "arith.addi,arith.subi", "64,64", "64",
      "element_widths = [8,16], max_payload_bits = 64"},
     "Add i8|Add i16|Sub i8|Sub i16"},
    {{"FixedVectorIntegerAddSub", "arith.addi", "64,64", "64",
      "element_widths = [8,16], max_payload_bits = 64"},
     "i8|i16"},
    {{"FixedVectorIntegerAddSub", "arith.addi,arith.subi", "64,64", "64",
      "element_widths = [8], max_payload_bits = 64"},
     "Add|Sub"},
    /* no lane of a width fits: it is dropped */
    {{"FixedVectorIntegerAddSub", "arith.addi", "64,64", "64",
      "element_widths = [8,16], max_payload_bits = 15"},
     "None"},
    {{"FixedVectorIntegerLogic", "arith.andi,arith.ori,arith.xori", "64,64", "64",
      "element_widths = [1,16], max_payload_bits = 64"},
     "Or|And|Xor"},
    {{"FixedVectorIntegerLogic", "arith.xori", "64,64", "64",
      "element_widths = [1,16], max_payload_bits = 64"},
     "None"},
    {{"FixedVectorIntegerShift", "arith.shli,arith.shrsi", "64,64", "64",
      "element_widths = [8,16], max_payload_bits = 64"},
     "Left i8|Left i16|ArithmeticRight i8|ArithmeticRight i16"},
    {{"FixedVectorIntegerCompareMinMax", "arith.cmpi,arith.minsi", "64,64", "64",
      "element_widths = [8,16], predicates = [eq,slt], max_payload_bits = 64"},
     "Compare eq i8|Compare eq i16|Compare slt i8|Compare slt i16|SignedMin i8|SignedMin i16"},
    {{"FixedVectorIntegerCompareMinMax", "arith.cmpi", "64,64", "64",
      "element_widths = [8], predicates = [eq,slt], max_payload_bits = 64"},
     "eq|slt"},
    {{"FixedVectorIntegerCompareMinMax", "arith.cmpi,arith.minsi", "64,64", "64",
      "element_widths = [8], predicates = [slt], max_payload_bits = 64"},
     "Compare|SignedMin"},
    {{"FixedVectorIntegerMultiply", "arith.muli", "64,64", "64",
      "element_widths = [8,16], max_payload_bits = 64"},
     "i8|i16"},
    {{"FixedVectorIntegerSaturatingAddSub", "llvm.intr.uadd.sat,llvm.intr.ssub.sat", "64,64", "64",
      "element_widths = [8], max_payload_bits = 64"},
     "SignedSub|UnsignedAdd"},
    {{"FixedVectorIntegerCountZeros", "math.cttz,llvm.intr.cttz", "64", "64",
      "element_widths = [8,64], max_payload_bits = 64"},
     "i8|i64"},
    {{"FixedVectorValueSelect", "arith.select", "8,64,64", "64",
      "integer_element_widths = [8,32], float_element_formats = [f32], max_payload_bits = 64"},
     "8-bit|32-bit"},
    {{"FixedVectorFloatSign", "arith.negf", "64", "64",
      "element_formats = [f16,bf16,f32], max_payload_bits = 64, " NEAREST},
     "16-bit|32-bit"},
    {{"FixedVectorFloatAddSub", "arith.addf,arith.subf", "64,64", "64",
      "element_formats = [f32], max_payload_bits = 64, " PROFILE("downward,upward", "ieee",
                                                                 "preserve", "")},
     "Add downward|Add upward|Sub downward|Sub upward"},
    {{"FixedVectorFloatMultiply", "arith.mulf", "64,64", "64",
      "element_formats = [f32,f16], max_payload_bits = 64, " NEAREST},
     "f16|f32"},
    {{"FixedVectorFloatFma", "math.fma", "64,64,64", "64",
      "element_formats = [f32,bf16], max_payload_bits = 64, " NEAREST},
     "bf16|f32"},
    {{"FixedVectorFloatCompareMinMax", "arith.cmpf,arith.minnumf", "64,64", "64",
      "element_formats = [f16,bf16], predicates = [olt,ult,ord], max_payload_bits = 64, " PROFILE(
          "to_nearest_even", "ieee", "preserve", "nnan")},
     "Compare olt|Compare true|Minimum"},
    {{"FixedVectorFloatCompareMinMax", "arith.maximumf", "64,64", "64",
      "element_formats = [f16,f32], predicates = [ogt], max_payload_bits = 64, " NEAREST},
     "f16|f32"},
    {{"FixedVectorPack", "dataflow.pack", "64", "64",
      "integer_element_widths = [8], float_element_formats = [f32], max_payload_bits = 64"},
     "None"},
    {{"FixedVectorUnpack", "dataflow.unpack", "64", "64",
      "integer_element_widths = [1,8], float_element_formats = [], max_payload_bits = 64"},
     "None"},
    {{"FixedVectorParallelize", "dataflow.parallelize", "16,1", "32,32,1",
      "integer_element_widths = [8,16], float_element_formats = [bf16], max_payload_bits = 32"},
     "8-bit x1|8-bit x2|8-bit x3|8-bit x4|16-bit x1|16-bit x2"},
    {{"FixedVectorParallelize", "dataflow.parallelize", "8,1", "32,3,1",
      "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 32"},
     "x1|x2|x3"},
    {{"FixedVectorSerialize", "dataflow.serialize", "64,2,1", "64,1",
      "integer_element_widths = [8,64], float_element_formats = [], max_payload_bits = 64"},
     "8-bit x1|8-bit x2|64-bit x1"},
    /* routed tokens: the example of section 7.1, and small ones */
    {{"TokenMux", "dataflow.mux", "32,16,32,16", "32", "max_payload_bits = 32, max_fan = 3"},
     "[1,2]|[1,3]|[2,1]|[1,2,3]|[1,3,2]|[2,1,3]"},
    {{"TokenMux", "dataflow.mux", "32,16,32,16", "32", "max_payload_bits = 8, max_fan = 3"},
     "[1,2]|[1,2,3]"},
    {{"TokenSync", "dataflow.sync", "8,8,8", "8,8,8", "max_payload_bits = 8, max_fan = 3"},
     "[0]|[0,1]|[0,1,2]"},
    {{"TokenSync", "dataflow.sync", "8,16", "8,16", "max_payload_bits = 16, max_fan = 2"},
     "[0]|[1]|[0,1]"},
    {{"TokenSync", "dataflow.sync", "8,16", "8,16", "max_payload_bits = 8, max_fan = 2"},
     "[0]|[0,1]"},
    {{"TokenSync", "dataflow.sync", "8", "8", "max_payload_bits = 8, max_fan = 2"}, "None"},
    {{"TokenDemux", "dataflow.demux", "1,32", "32,32", "max_payload_bits = 32, max_fan = 2"},
     "None"},
    {{"TokenDemux", "dataflow.demux", "1,32", "32,32,32", "max_payload_bits = 32, max_fan = 3"},
     "None"},
    {{"TokenDemux", "dataflow.demux", "31,32", "32,8", "max_payload_bits = 32, max_fan = 2"},
     "[0,1]|[1,0]"},
    {{"TokenDemux", "dataflow.demux", "32,32", "32,32,32", "max_payload_bits = 32, max_fan = 3"},
     "[0,1]|[0,1,2]"},
    {{"TokenDemux", "dataflow.demux", "64,8", "32,16,8", "max_payload_bits = 32, max_fan = 9"},
     "[0,1]|[0,1,2]"},
    /* direct */
    {{"TokenConstant", "dataflow.constant", "0", "16", "max_payload_bits = 64"}, "Direct 16"},
    {{"TokenConstant", "dataflow.constant", "0", "64", "max_payload_bits = 3"}, "Direct 3"},
    {{"FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "64,64,32,32", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 2, resolved_index_widths = [32]"},
     "Direct 26"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 0, resolved_index_widths = []"},
     "Direct 11"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "1,1", "1",
      "integer_element_widths = [1], float_element_formats = [], max_container_payload_bits = 1, "
      "max_slice_payload_bits = 1, max_dynamic_position_rank = 0, resolved_index_widths = []"},
     "None"},
    {{"FixedVectorShuffle", "vector.shuffle", "64,64", "64",
      "integer_element_widths = [8,16], float_element_formats = [], max_operand_payload_bits = 64, "
      "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 8, "
      "max_result_blocks = 4"},
     "Direct 22"},
};

static void test_relations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_relation(&rows[i].op, rows[i].expected);
}

/* ---- anchors ------------------------------------------------------------------------------ */

static size_t count_keys(const op_text *op)
{
    op_case c = seal_op(op, NULL);
    assert_sealed(&c);
    const size_t count = c.capability.relation.key_count;
    free_op(&c);
    return count;
}

/* [addi,subi] has two keys and [addi] none; whether a slot follows is the configuration's test. */
static void anchor_04_two_members_two_keys(void **state)
{
    op_text op = {"ScalarIntegerAddSub", "arith.addi,arith.subi", "32,32", "32",
                  "integer_widths = [8,32]"};
    (void)state;

    assert_relation(&op, "Add|Sub");
    op.schemas = "arith.addi";
    assert_relation(&op, "None");
}

static void anchor_05_division_keys(void **state)
{
    op_text op = {"ScalarSignedIntegerDivRem", "arith.divsi,arith.remsi", "64,64", "64",
                  "integer_widths = [8,16,32,64]"};
    (void)state;

    assert_int_equal(count_keys(&op), 8);
    op.params = "integer_widths = [32]";
    assert_relation(&op, "Quotient|Remainder");
    op.schemas = "arith.divsi";
    assert_relation(&op, "None");
}

static void anchor_23_stream_keys(void **state)
{
    static const char graph[] =
        "graph g { input %i : i8 input %l : i8 input %s : i8\n"
        "%v, %p = dataflow.stream %i, %l, %s { step = sub, predicate = slt } : (i8,i8,i8) -> "
        "(i8,i1) output %v output %p }";
    const op_text op = {"LoopStream", "dataflow.stream", "32,32,32", "32,1",
                        "integer_widths = [8,32], step_kind = add, predicates = [slt,ult]"};
    op_case c = seal_op(&op, graph);
    (void)state;

    assert_sealed(&c);
    assert_int_equal(c.capability.relation.key_count, 4);
    const qp_fabric_offer offer = offer_actor(&c, 0);
    assert_int_equal(qp_fabric_admit(c.node, &offer, &c.error), QP_MODEL_MISMATCH);
    assert_int_equal(c.error.fault, QP_FABRIC_INADMISSIBLE);
    assert_int_equal(c.error.rule, QP_FABRIC_RULE_STEP_KIND);
    free_op(&c);
}

static void anchor_30_parallelize_key_has_no_kind(void **state)
{
    static const char graph[] =
        "graph g { input %t : none input %a : i32 input %b : f32\n"
        "%x = dataflow.constant %t { value = 1 } : (none) -> (i1)\n"
        "%i, %im, %ip = dataflow.parallelize %a, %x : (i32,i1) -> (vector<2xi32>,vector<2xi1>,i1)\n"
        "%f, %fm, %fp = dataflow.parallelize %b, %x : (f32,i1) -> (vector<2xf32>,vector<2xi1>,i1)\n"
        "output %i output %im output %ip output %f output %fm output %fp }";
    const op_text op = {"FixedVectorParallelize", "dataflow.parallelize", "32,1", "64,2,1",
                        "integer_element_widths = [32,8], float_element_formats = [f32], "
                        "max_payload_bits = 64"};
    op_case c = seal_op(&op, graph);
    (void)state;

    assert_sealed(&c);
    const qp_fabric_semantic_value integer = project_actor(&c, 1), real = project_actor(&c, 2);
    assert_int_equal(integer.size, real.size);
    assert_memory_equal(integer.bytes, real.bytes, real.size);
    free_op(&c);
}

/* ---- declaration order -------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* The length of the first item of a list: up to a comma outside of brackets. */
static size_t item_length(const char *text, size_t size)
{
    int depth = 0;
    size_t at = 0;

    for (; at < size && (depth > 0 || text[at] != ','); at++)
        depth += (strchr("[{(", text[at]) != NULL) - (strchr("]})", text[at]) != NULL);
    return at;
}

/* Writes the items of a list in a random order, and so on within their own brackets. */
static void permute(qp_buffer *out, const char *text, size_t size, uint32_t *seed)
{
    struct {
        const char *text;
        size_t size;
    } items[32], taken;
    size_t count = 0;

    for (size_t at = 0; at <= size; at += items[count++].size + 1) {
        items[count].text = text + at;
        items[count].size = item_length(text + at, size - at);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t pick = i + next_random(seed) % (count - i);
        taken = items[pick];
        items[pick] = items[i];
        const char *open = memchr(taken.text, '[', taken.size);
        const char *brace = memchr(taken.text, '{', taken.size);
        open = brace != NULL && (open == NULL || brace < open) ? brace : open;
        qp_buffer_text(out, i > 0 ? "," : "");
        const size_t head = open != NULL ? (size_t)(open - taken.text) + 1 : taken.size;
        qp_buffer_append(out, taken.text, head);
        if (open == NULL)
            continue;
        permute(out, open + 1, taken.size - head - 1, seed);
        qp_buffer_append(out, taken.text + taken.size - 1, 1);
    }
}

static char *permuted(const char *text, uint32_t *seed)
{
    qp_buffer out;

    qp_buffer_init(&out, NULL);
    permute(&out, text, strlen(text), seed);
    qp_buffer_append(&out, "", 1);
    assert_false(out.failed);
    return (char *)out.bytes;
}

static void assert_same_relation(const qp_fabric_capability *a, const qp_fabric_capability *b)
{
    assert_int_equal(a->relation.kind, b->relation.kind);
    assert_int_equal(a->relation.key_count, b->relation.key_count);
    assert_int_equal(a->relation.carrier_bits, b->relation.carrier_bits);
    assert_int_equal(a->inactive.size, b->inactive.size);
    if (a->inactive.size > 0)
        assert_memory_equal(a->inactive.bytes, b->inactive.bytes, a->inactive.size);
    for (size_t i = 0; i < a->relation.key_count; i++) {
        assert_int_equal(a->relation.keys[i].size, b->relation.keys[i].size);
        assert_memory_equal(a->relation.keys[i].bytes, b->relation.keys[i].bytes,
                            a->relation.keys[i].size);
        assert_string_equal(a->relation.keys[i].text, b->relation.keys[i].text);
    }
}

/* Schemas, sets, pairs, profile lists and fields in any order give one relation. */
static void test_declaration_order(void **state)
{
    uint32_t seed = 5;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case first = seal_op(&rows[i].op, NULL);
        for (int round = 0; round < 6; round++) {
            char *schemas = permuted(rows[i].op.schemas, &seed);
            char *params = permuted(rows[i].op.params, &seed);
            const op_text op = {rows[i].op.family, schemas, rows[i].op.in, rows[i].op.out, params};
            op_case again = seal_op(&op, NULL);
            assert_sealed(&again);
            assert_same_relation(&first.capability, &again.capability);
            free_op(&again);
            free(params);
            free(schemas);
        }
        free_op(&first);
    }
}

/* ---- image and domain --------------------------------------------------------------------- */

/* Which keys have been projected to. */
typedef struct image_check {
    op_case *c;
    bool hit[4096];
} image_check;

static void note_value(image_check *check, qp_fabric_semantic_value value)
{
    const qp_fabric_relation *relation = &check->c->capability.relation;

    assert_int_equal(qp_fabric_check_value(&check->c->capability, value, NULL), QP_OK);
    for (size_t i = 0; i < relation->key_count; i++)
        if (relation->keys[i].bytes == value.bytes)
            check->hit[i] = true;
}

static bool project_candidate(void *context, const qp_fabric_candidate *candidate)
{
    static const uint32_t ports[] = {0, 1, 2};
    image_check *check = context;
    const qp_fabric_offer offer = {candidate->signature, ports, ports, QP_FABRIC_NOWHERE};
    qp_fabric_semantic_value value;

    assert_int_equal(
        qp_fabric_project(&check->c->capability, &offer, &check->c->arena, &value, NULL), QP_OK);
    note_value(check, value);
    return true;
}

/* Every canonical correspondence of a routed actor of control tokens: it differs from the others,
 * is admitted and has a value. */
static void project_routed(image_check *check, uint32_t lanes)
{
    const qp_fabric_node *node = check->c->node;
    const qp_fabric_roles roles = node->family->roles;
    qp_fabric_semantics semantics = {.fast_math = 0};
    qp_fabric_type types[16], selected[16];
    uint32_t operands[16], results[16];
    uint64_t cursor = 0;

    for (uint32_t i = 0; i < 16; i++)
        types[i] = selected[i] = qp_fabric_none_type();
    selected[0] = lanes > 2 ? qp_fabric_index_type() : qp_fabric_integer_type(1);
    qp_fabric_offer offer = {
        .signature = {.schema = &qp_fabric_schemas[node->family->members[0].schema],
                      .semantics = &semantics,
                      .operands = roles == QP_FABRIC_ROLES_SYNC ? types : selected,
                      .results = types,
                      .operand_count = roles == QP_FABRIC_ROLES_SYNC  ? lanes
                                       : roles == QP_FABRIC_ROLES_MUX ? lanes + 1
                                                                      : 2,
                      .result_count = roles == QP_FABRIC_ROLES_MUX ? 1 : lanes,
                      .index_width = 32},
        .operand_ports = operands,
        .result_ports = results};
    if (qp_fabric_check_signature(&offer.signature) != NULL)
        return; /* a mux or demux of one lane */
    while (qp_fabric_next_correspondence(node, &offer.signature, &cursor, operands, results)) {
        qp_fabric_semantic_value value;
        if (qp_fabric_admit(node, &offer, NULL) != QP_OK)
            continue; /* the selector's port */
        assert_int_equal(
            qp_fabric_project(&check->c->capability, &offer, &check->c->arena, &value, NULL),
            QP_OK);
        note_value(check, value);
        assert_true(cursor < 1000);
    }
}

/* Every point projects to a member, and every member is projected to. */
static void test_image_is_domain(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case c = seal_op(&rows[i].op, NULL);
        image_check check = {.c = &c};
        if (c.node->family->key == QP_FABRIC_KEY_LANES)
            for (uint32_t lanes = 1; lanes <= c.node->params.max_fan; lanes++)
                project_routed(&check, lanes);
        else if (c.node->family->relation != QP_FABRIC_RELATION_DIRECT)
            qp_fabric_each_point(c.node, true, project_candidate, &check);
        for (size_t k = 0; k < c.capability.relation.key_count; k++)
            assert_true(check.hit[k]);
        free_op(&c);
    }
}

/* ---- random records ----------------------------------------------------------------------- */

/* A subset of `all`, never empty where `all` is not. */
static uint32_t some(uint32_t all, uint32_t *seed)
{
    uint32_t set = all & next_random(seed);

    for (uint32_t bit = 0; set == 0 && all != 0; bit = (bit + 1) % 32)
        set = next_random(seed) % 4 == 0 ? all & UINT32_C(1) << bit : 0;
    return set;
}

/* A record and ports made by chance; most are refused for one reason or another. */
static qp_fabric_node random_node(uint32_t *seed, qp_fabric_width *widths)
{
    static const uint32_t ports[] = {1, 8, 16, 32, 64, 128};
    qp_fabric_node node = {.kind = QP_FABRIC_NODE_OP, .in = widths, .out = widths + 3};

    do
        node.family = &qp_fabric_families[next_random(seed) % QP_FABRIC_FAMILY_COUNT];
    while (node.family->roles != QP_FABRIC_ROLES_STRAIGHT ||
           node.family->relation == QP_FABRIC_RELATION_DIRECT);
    node.enabled = some((UINT32_C(1) << node.family->member_count) - 1, seed);
    const qp_fabric_schema *schema = &qp_fabric_schemas[node.family->members[0].schema];
    node.n_in = schema->operands;
    node.n_out = schema->results;
    const uint32_t least = next_random(seed) % 5;
    for (int i = 0; i < 6; i++)
        widths[i] = (qp_fabric_width){ports[least + next_random(seed) % (6 - least)], false};
    const qp_fabric_field_row *rows_of = qp_fabric_params_rows[node.family->params].fields;
    for (uint32_t i = 0; rows_of[i].name != NULL; i++) {
        static const uint32_t sets[] = {
            [QP_FABRIC_FIELD_ORDINARY_WIDTHS] = QP_FABRIC_ORDINARY_WIDTHS,
            [QP_FABRIC_FIELD_LOGIC_WIDTHS] = QP_FABRIC_LOGIC_WIDTHS,
            [QP_FABRIC_FIELD_FAMILY_WIDTHS] = QP_FABRIC_ORDINARY_WIDTHS,
            [QP_FABRIC_FIELD_INDEX_WIDTHS] = 3,
            [QP_FABRIC_FIELD_FORMATS] = 0xf,
            [QP_FABRIC_FIELD_INTEGER_PREDICATES] = 0x3ff,
            [QP_FABRIC_FIELD_FLOAT_PREDICATES] = 0xffff,
            [QP_FABRIC_FIELD_WIDTH_PAIRS] = 0x1ffffff,
            [QP_FABRIC_FIELD_FORMAT_PAIRS] = 0x7bdef,
            [QP_FABRIC_FIELD_INTEGER_FORMAT_PAIRS] = 0xf7bde0,
            [QP_FABRIC_FIELD_POINTERS] = 0,
        };
        const qp_fabric_field_type type = rows_of[i].type;
        if (type < sizeof sets / sizeof sets[0] && sets[type] != 0) {
            const uint32_t set = some(sets[type], seed);
            memcpy((char *)&node.params + rows_of[i].offset, &set, sizeof set);
        }
    }
    node.params.step_kind = QP_FABRIC_STEP_ADD;
    node.params.accuracy = QP_FABRIC_CORRECTLY_ROUNDED;
    node.params.max_payload_bits = 1 + next_random(seed) % 130;
    node.params.behavior = (qp_fabric_behavior){.roundings = some(0x1f, seed),
                                                .nans = some(3, seed),
                                                .subnormals = 1,
                                                .zeros = 1 + next_random(seed) % 2,
                                                .required_fast_math = next_random(seed) % 8};
    return node;
}

/* Pairs that the enabled schemas cannot use make most random casts Invalid: leave them out. */
static bool note_pair(void *context, const qp_fabric_candidate *candidate)
{
    *(uint32_t *)context |= candidate->pair;
    return true;
}

/* The distinct behaviours of a node without a cover. */
typedef struct behavior_set {
    const qp_fabric_node *node;
    qp_fabric_behavior_point points[4096];
    size_t count;
} behavior_set;

static bool add_distinct(void *context, const qp_fabric_candidate *candidate)
{
    behavior_set *set = context;
    const qp_fabric_behavior_point point =
        qp_fabric_behavior_of(set->node->family, &candidate->signature);

    for (size_t i = 0; i < set->count; i++)
        if (qp_fabric_compare_points(&set->points[i], &point) == 0)
            return true;
    assert_true(set->count < sizeof set->points / sizeof set->points[0]);
    set->points[set->count++] = point;
    return true;
}

/* As many keys as there are behaviours, or None for one; every key is projected to. */
static void check_sealed(op_case *c)
{
    image_check *check = calloc(1, sizeof *check);
    behavior_set *set = calloc(1, sizeof *set);
    const size_t keys = c->capability.relation.key_count;

    assert_non_null(check);
    assert_non_null(set);
    check->c = c;
    set->node = c->node;
    qp_fabric_each_point(c->node, true, project_candidate, check);
    for (size_t i = 0; i < keys; i++)
        assert_true(check->hit[i]);
    qp_fabric_each_point(c->node, true, add_distinct, set);
    if (c->node->family->relation == QP_FABRIC_RELATION_NONE)
        assert_int_equal(keys, 0);
    else if (c->node->family->params != QP_FABRIC_PARAMS_SCALAR_FLOAT_COMPARE_MIN_MAX &&
             c->node->family->params != QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX)
        assert_int_equal(keys, set->count > 1 ? set->count : 0);
    free(set);
    free(check);
}

static void test_random_records(void **state)
{
    uint32_t seed = 7;
    size_t sealed = 0;
    (void)state;

    for (int round = 0; round < 6000; round++) {
        qp_fabric_width widths[6];
        qp_fabric_node node = random_node(&seed, widths);
        uint32_t pairs = 0;
        op_case c = {.node = &node};
        if (next_random(&seed) % 2 == 0) /* half of the profiles without needless choices */
            node.params.behavior.roundings = node.params.behavior.nans = 1;
        if (node.params.pairs != 0)
            qp_fabric_each_point(&node, false, note_pair, &pairs);
        node.params.pairs &= pairs;
        qp_arena_init(&c.arena, NULL);
        c.status = qp_fabric_seal(&node, &c.arena, &c.capability, &c.error);
        assert_true(c.status == QP_OK || c.status == QP_MALFORMED);
        sealed += c.status == QP_OK;
        if (c.status == QP_OK)
            check_sealed(&c);
        qp_arena_free(&c.arena);
    }
    assert_true(sealed > 1000);
}

/* ---- bounds and memory -------------------------------------------------------------------- */

static void put_widths(qp_buffer *text, unsigned count, unsigned step)
{
    for (unsigned i = 0; i < count; i++)
        qp_buffer_format(text, "%s%u", i > 0 ? "," : "", 8 + i * step);
}

/* Lane images grow exponentially: beyond the bound the operation is refused, and soon. */
static void test_domain_bounds(void **state)
{
    static const op_text wide[] = {
        {"FixedVectorParallelize", "dataflow.parallelize", "8,1", "4000000000,65537,1",
         "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 4000000000"},
        {"FixedVectorParallelize", "dataflow.parallelize", "8,1", "4000000000,4000000000,1",
         "integer_element_widths = [8], float_element_formats = [], max_payload_bits = "
         "18446744073709551615"},
        {"TokenConstant", "dataflow.constant", "0", "1048577", "max_payload_bits = 1048577"},
        {"FixedVectorSerialize", "dataflow.serialize", "8,1,1", "8,1",
         "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 524296"},
        {"FixedVectorShuffle", "vector.shuffle", "64,64", "64",
         "integer_element_widths = [8], float_element_formats = [], max_operand_payload_bits = 64, "
         "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 2, "
         "max_result_blocks = 18446744073709551615"},
    };
    qp_buffer text;
    (void)state;

    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        assert_relation(&wide[i], "Unsupported");
    for (unsigned lanes = 17; lanes <= 1025; lanes += 1008) {
        qp_buffer_init(&text, NULL);
        put_widths(&text, lanes, lanes == 17 ? 1 : 0);
        qp_buffer_append(&text, "", 1);
        const op_text op = {"TokenSync", "dataflow.sync", (const char *)text.bytes,
                            (const char *)text.bytes, "max_payload_bits = 64, max_fan = 2000"};
        assert_relation(&op, "Unsupported");
        qp_buffer_free(&text);
    }
}

/* As many lanes as are supported, all of one class: one image a lane count. */
static void test_many_lanes(void **state)
{
    qp_buffer text;
    (void)state;

    qp_buffer_init(&text, NULL);
    put_widths(&text, QP_FABRIC_LANES_MAX, 0);
    qp_buffer_append(&text, "", 1);
    const op_text op = {"TokenSync", "dataflow.sync", (const char *)text.bytes,
                        (const char *)text.bytes, "max_payload_bits = 64, max_fan = 2000"};
    assert_int_equal(count_keys(&op), QP_FABRIC_LANES_MAX);
    qp_buffer_free(&text);
}

static void test_failing_allocator(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        op_case c = read_op(&rows[i].op, NULL);
        for (size_t k = 1;; k++) {
            failing_allocator memory = failing_allocator_make(k);
            const qp_allocator allocator = failing_allocator_use(&memory);
            qp_fabric_capability capability;
            qp_arena arena;
            qp_arena_init(&arena, &allocator);
            const qp_status status = qp_fabric_seal(c.node, &arena, &capability, &c.error);
            qp_arena_free(&arena);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
            if (!memory.has_failed)
                break;
        }
        free_op(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relations),
        cmocka_unit_test(anchor_04_two_members_two_keys),
        cmocka_unit_test(anchor_05_division_keys),
        cmocka_unit_test(anchor_23_stream_keys),
        cmocka_unit_test(anchor_30_parallelize_key_has_no_kind),
        cmocka_unit_test(test_declaration_order),
        cmocka_unit_test(test_image_is_domain),
        cmocka_unit_test(test_random_records),
        cmocka_unit_test(test_domain_bounds),
        cmocka_unit_test(test_many_lanes),
        cmocka_unit_test(test_failing_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
