/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_params.c - the legality of records (section 5) and port counts (section 4): what is Invalid,
 * and by which sentence.
 */
#include "capability_support.h"

#define PROFILE(roundings, nans, subnormals, zeros, required)                                      \
    "behavior = { rounding_modes = [" roundings "], nan_behaviors = [" nans                        \
    "], subnormal_behaviors = [" subnormals "], signed_zero_behaviors = [" zeros                   \
    "], required_fast_math = [" required "] }"
#define NEAREST PROFILE("to_nearest_even", "ieee", "preserve", "preserve", "")

typedef struct refused_row {
    op_text op;
    const char *part; /* of the message */
} refused_row;

static void assert_refused(const op_text *op, const char *part)
{
    op_case c = seal_op(op, NULL);

    if (c.status != QP_MALFORMED || c.error.fault != QP_FABRIC_INVALID ||
        strstr(c.error.base.message, part) == NULL || c.error.line == 0)
        print_error("%s [%s] { %s }: status %d, '%s', not '%s'\n", op->family, op->schemas,
                    op->params, (int)c.status, c.status == QP_OK ? "" : c.error.base.message, part);
    assert_int_equal(c.status, QP_MALFORMED);
    assert_int_equal(c.error.fault, QP_FABRIC_INVALID);
    assert_non_null(strstr(c.error.base.message, part));
    assert_true(c.error.line > 0);
    free_op(&c);
}

static const refused_row rows[] = {
    /* sets and numbers, which the reader sees */
    {{"ScalarIntegerAddSub", "arith.addi", "8,8", "8", "integer_widths = []"}, "empty"},
    {{"ScalarIntegerAddSub", "arith.addi", "8,8", "8", "integer_widths = [1]"}, "width"},
    {{"TokenConstant", "dataflow.constant", "0", "8", "max_payload_bits = 0"}, "zero"},
    /* port counts */
    {{"ScalarIntegerAddSub", "arith.addi", "8,8,8", "8", "integer_widths = [8]"}, "3 inputs"},
    {{"ScalarIntegerAddSub", "arith.addi", "8", "8", "integer_widths = [8]"}, "1 inputs"},
    {{"ScalarIntegerAddSub", "arith.addi", "8,8", "8,8", "integer_widths = [8]"}, "2 outputs"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64,32", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 2, resolved_index_widths = [32]"},
     "needs 4"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64,32", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 18446744073709551615, "
      "resolved_index_widths = [32]"},
     "needs 18446744073709551615"},
    {{"TokenSync", "dataflow.sync", "8,8", "8", "max_payload_bits = 8, max_fan = 2"}, "2 inputs"},
    {{"TokenMux", "dataflow.mux", "1,8", "8", "max_payload_bits = 8, max_fan = 2"}, "fewer lanes"},
    {{"TokenMux", "dataflow.mux", "1,8,8", "8,8", "max_payload_bits = 8, max_fan = 2"},
     "2 outputs"},
    {{"TokenDemux", "dataflow.demux", "1,8", "8", "max_payload_bits = 8, max_fan = 2"},
     "fewer lanes"},
    {{"TokenDemux", "dataflow.demux", "1", "8,8", "max_payload_bits = 8, max_fan = 2"}, "1 inputs"},
    /* records */
    {{"ScalarValueSelect", "arith.select", "1,8,8", "8", "integer_widths = [], float_formats = []"},
     "neither"},
    {{"ScalarBitReinterpret", "arith.bitcast", "8", "8", "integer_widths = [], float_formats = []"},
     "neither"},
    {{"FixedVectorPack", "dataflow.pack", "8", "8",
      "integer_element_widths = [], float_element_formats = [], max_payload_bits = 8"},
     "neither"},
    {{"TokenMux", "dataflow.mux", "1,8,8", "8", "max_payload_bits = 8, max_fan = 1"}, "max_fan"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 31, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 0, resolved_index_widths = []"},
     "max_slice_payload_bits"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 0, resolved_index_widths = [32]"},
     "resolved_index_widths"},
    {{"FixedVectorSliceAlignMerge", "vector.extract", "64,64,32", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 1, resolved_index_widths = []"},
     "resolved_index_widths"},
    {{"FixedVectorShuffle", "vector.shuffle", "64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_operand_payload_bits = 31, "
      "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 2, "
      "max_result_blocks = 1"},
     "max_block_payload_bits"},
    {{"FixedVectorShuffle", "vector.shuffle", "64,64", "64",
      "integer_element_widths = [8], float_element_formats = [], max_operand_payload_bits = 64, "
      "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 1, "
      "max_result_blocks = 1"},
     "max_source_blocks"},
    /* profiles */
    {{"ScalarFloatSign", "arith.negf", "32", "32",
      "formats = [f32], " PROFILE("to_nearest_even,upward", "ieee", "preserve", "preserve", "")},
     "no enabled schema rounds"},
    {{"ScalarFloatRemainder", "arith.remf", "32,32", "32",
      "formats = [f32], " PROFILE("downward,upward", "ieee", "preserve", "preserve", "")},
     "no enabled schema rounds"},
    {{"ScalarFloatWidthCast", "arith.extf", "32", "32",
      "format_pairs = [(f16,f32)], " PROFILE("downward,upward", "ieee", "preserve", "preserve",
                                             "")},
     "no enabled schema rounds"},
    {{"ScalarFloatCompareMinMax", "arith.cmpf", "32,32", "1",
      "formats = [f32], predicates = [oeq], " PROFILE("downward", "ieee", "preserve", "preserve",
                                                      "")},
     "to_nearest_even"},
    {{"ScalarMathSin", "math.sin", "32", "32",
      "formats = [f32], accuracy_guarantee = CorrectlyRounded, " PROFILE(
          "upward", "ieee", "preserve", "preserve", "")},
     "to_nearest_even"},
    {{"ScalarFloatAddSub", "arith.addf", "32,32", "32",
      "formats = [f32], " PROFILE("to_nearest_even", "ieee,number_preferred", "preserve",
                                  "preserve", "")},
     "nan_behaviors"},
    {{"FixedVectorFloatFma", "math.fma", "32,32,32", "32",
      "element_formats = [f32], max_payload_bits = 32, " PROFILE(
          "to_nearest_even", "ieee,number_preferred", "preserve", "preserve", "")},
     "nan_behaviors"},
    {{"ScalarMathSin", "math.sin", "32", "32",
      "formats = [f32], accuracy_guarantee = Max1Ulp, " NEAREST},
     "afn"},
    /* NaN behaviours of comparisons */
    {{"ScalarFloatCompareMinMax", "arith.minnumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " NEAREST},
     "ieee is listed"},
    {{"ScalarFloatCompareMinMax", "arith.minimumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " PROFILE("to_nearest_even", "number_preferred",
                                                      "preserve", "preserve", "nnan")},
     "number_preferred is listed"},
    {{"ScalarFloatCompareMinMax", "arith.minimumf,arith.minnumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " PROFILE("to_nearest_even", "ieee,number_preferred",
                                                      "preserve", "preserve", "nnan")},
     "every actor grants nnan"},
    /* predicates of minima and maxima */
    {{"ScalarIntegerCompareMinMax", "arith.cmpi,arith.minsi", "8,8", "8",
      "operand_widths = [8], comparison_predicates = [eq,ult]"},
     "needs its order"},
    {{"ScalarIntegerCompareMinMax", "arith.maxui", "8,8", "8",
      "operand_widths = [8], comparison_predicates = [ugt,eq]"},
     "no enabled schema uses"},
    {{"FixedVectorIntegerCompareMinMax", "arith.maxsi", "8,8", "8",
      "element_widths = [8], predicates = [slt], max_payload_bits = 8"},
     "needs its order"},
    {{"ScalarFloatCompareMinMax", "arith.maximumf", "32,32", "32",
      "formats = [f32], predicates = [olt], " NEAREST},
     "needs its order"},
    {{"ScalarFloatCompareMinMax", "arith.maximumf", "32,32", "32",
      "formats = [f32], predicates = [olt,ogt], " NEAREST},
     "no enabled schema uses"},
    /* orphans among pairs and index widths */
    {{"ScalarIntegerCast", "arith.extsi", "64", "64",
      "width_pairs = [(8,16),(16,8)], resolved_index_widths = []"},
     "a pair is listed"},
    {{"ScalarIntegerCast", "arith.extsi,arith.trunci", "64", "64",
      "width_pairs = [(8,16),(16,8),(8,8)], resolved_index_widths = []"},
     "a pair is listed"},
    {{"ScalarIntegerCast", "arith.extsi", "64", "64",
      "width_pairs = [(8,16)], resolved_index_widths = [32]"},
     "an index width is listed"},
    {{"ScalarIntegerCast", "arith.index_cast", "64", "64",
      "width_pairs = [(8,32)], resolved_index_widths = [32,64]"},
     "an index width is listed"},
    {{"ScalarIntegerCast", "arith.index_cast", "64", "64",
      "width_pairs = [(8,32),(8,64)], resolved_index_widths = [32]"},
     "a pair is listed"},
    {{"ScalarFloatWidthCast", "arith.extf,arith.truncf", "64", "64",
      "format_pairs = [(f16,f32),(f32,f16),(f16,bf16)], " NEAREST},
     "a pair is listed"},
    /* schemas that nobody reaches */
    {{"ScalarIntegerCast", "arith.extsi,arith.trunci", "64", "64",
      "width_pairs = [(8,16)], resolved_index_widths = []"},
     "arith.trunci"},
    {{"ScalarIntegerAddSub", "arith.addi", "8,7", "8", "integer_widths = [8,16]"}, "arith.addi"},
    {{"LoopCarry", "dataflow.carry", "0,32,32", "32", ""}, "dataflow.carry"},
    {{"FixedVectorIntegerAddSub", "arith.addi", "64,64", "64",
      "element_widths = [16], max_payload_bits = 15"},
     "arith.addi"},
    {{"FixedVectorParallelize", "dataflow.parallelize", "8,1", "32,0,1",
      "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 32"},
     "dataflow.parallelize"},
    {{"TokenMux", "dataflow.mux", "0,8,8", "8", "max_payload_bits = 8, max_fan = 2"}, "too narrow"},
    {{"TokenConstant", "dataflow.constant", "0", "0", "max_payload_bits = 8"}, "one bit"},
    {{"FixedVectorSliceAlignMerge", "vector.extract,vector.insert", "64,7", "64",
      "integer_element_widths = [8], float_element_formats = [], max_container_payload_bits = 64, "
      "max_slice_payload_bits = 32, max_dynamic_position_rank = 0, resolved_index_widths = []"},
     "vector.insert"},
    {{"ScalarFloatCompareMinMax", "arith.cmpf,arith.maxnumf", "32,32", "1",
      "formats = [f32], predicates = [true,ogt], " PROFILE(
          "to_nearest_even", "ieee,number_preferred", "preserve", "preserve", "")},
     "arith.maxnumf"},
    {{"FixedVectorShuffle", "vector.shuffle", "64,7", "64",
      "integer_element_widths = [8], float_element_formats = [], max_operand_payload_bits = 64, "
      "max_result_payload_bits = 64, max_block_payload_bits = 32, max_source_blocks = 2, "
      "max_result_blocks = 1"},
     "vector.shuffle"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_refused(&rows[i].op, rows[i].part);
}

static const op_text legal[] = {
    {"ScalarIntegerAddSub", "arith.addi", "8,8", "8", "integer_widths = [8], pointer_formats = []"},
    {"ScalarFloatSign", "arith.negf", "32", "32",
     "formats = [f32], " PROFILE("upward", "number_preferred", "preserve", "ignore_sign", "nsz")},
    {"ScalarFloatWidthCast", "arith.extf", "32", "32",
     "format_pairs = [(f16,f32)], " PROFILE("toward_zero", "ieee", "preserve", "preserve", "")},
    {"ScalarMathErf", "math.erf", "32", "32",
     "formats = [f32], accuracy_guarantee = Max4Ulp, " PROFILE("to_nearest_even", "ieee",
                                                               "preserve", "preserve", "afn,nnan")},
    {"ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "32,32", "32",
     "formats = [f32], predicates = [true,olt], " PROFILE(
         "to_nearest_even", "ieee,number_preferred", "preserve", "preserve", "")},
    {"ScalarIntegerCast", "arith.index_cast", "64", "64",
     "width_pairs = [(8,32),(64,8)], resolved_index_widths = [32,64]"},
    /* a pair that the ports do not carry is used by its schema, as long as some point is reached */
    {"ScalarIntegerCast", "arith.extsi", "8", "16",
     "width_pairs = [(8,16),(8,32)], resolved_index_widths = []"},
    {"TokenMux", "dataflow.mux", "1,8,8", "8",
     "max_payload_bits = 8, max_fan = 18446744073709551615"},
};

static void test_legal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) {
        op_case c = seal_op(&legal[i], NULL);
        assert_sealed(&c);
        free_op(&c);
    }
}

/* ---- anchors ------------------------------------------------------------------------------ */

static void anchor_22_gep(void **state)
{
    const op_text op = {"ScalarIntegerAddSub", "arith.addi,llvm.getelementptr", "64,64", "64",
                        "integer_widths = [64]"};
    (void)state;

    assert_refused(&op, "llvm.getelementptr");
}

static void anchor_24_profiles(void **state)
{
    op_text op = {"ScalarFloatAddSub", "arith.addf", "32,32", "32", NULL};
    (void)state;

    op.params =
        "formats = [f32], " PROFILE("to_nearest_even", "ieee", "flush_to_zero", "preserve", "");
    assert_refused(&op, "flush_to_zero");
    op.params = "formats = [f32], " PROFILE("to_nearest_even", "ieee", "preserve",
                                            "preserve,ignore_sign", "");
    assert_refused(&op, "signed_zero_behaviors");
    op.family = "ScalarFloatSign";
    op.schemas = "arith.negf";
    op.in = "32";
    op.params =
        "formats = [f32], " PROFILE("to_nearest_even,downward", "ieee", "preserve", "preserve", "");
    assert_refused(&op, "rounding_modes");
}

/* A subnormal flush that no text can write. */
static void anchor_24_subnormals_by_hand(void **state)
{
    const op_text op = {"ScalarFloatAddSub", "arith.addf", "32,32", "32",
                        "formats = [f32], " NEAREST};
    op_case c = seal_op(&op, NULL);
    (void)state;

    assert_sealed(&c);
    qp_fabric_node node = *c.node;
    node.params.behavior.subnormals |= 2;
    assert_int_equal(qp_fabric_check_op(&node, &c.error), QP_MALFORMED);
    assert_int_equal(c.error.fault, QP_FABRIC_INVALID);
    free_op(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_legal),
        cmocka_unit_test(anchor_22_gep),
        cmocka_unit_test(anchor_24_profiles),
        cmocka_unit_test(anchor_24_subnormals_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
