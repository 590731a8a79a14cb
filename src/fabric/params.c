/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params.c - the table of hw_params records (section 5).
 */
#include "fabric/params.h"

#define P(field) offsetof(qp_fabric_params, field)
#define B(field) offsetof(qp_fabric_behavior, field)
#define SET(name, type, field)                                                                     \
    {                                                                                              \
        name, QP_FABRIC_FIELD_##type, P(field), true                                               \
    }
#define MAYBE(name, type, field)                                                                   \
    {                                                                                              \
        name, QP_FABRIC_FIELD_##type, P(field), false                                              \
    }
#define NUMBER(field)                                                                              \
    {                                                                                              \
#        field, QP_FABRIC_FIELD_NUMBER, P(field), true                                             \
    }
#define BEHAVIOR MAYBE("behavior", BEHAVIOR, behavior)

const qp_fabric_params_row qp_fabric_params_rows[QP_FABRIC_PARAMS_COUNT] = {
    [QP_FABRIC_PARAMS_SCALAR_INTEGER] = {"ScalarInteger",
                                         {SET("integer_widths", FAMILY_WIDTHS, integers),
                                          MAYBE("pointer_formats", POINTERS, integers)}},
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_COMPARE_MIN_MAX] =
        {"ScalarIntegerCompareMinMax",
         {SET("operand_widths", ORDINARY_WIDTHS, integers),
          SET("comparison_predicates", INTEGER_PREDICATES, predicates)}},
    [QP_FABRIC_PARAMS_SCALAR_VALUE_SELECT] = {"ScalarValueSelect",
                                              {MAYBE("integer_widths", LOGIC_WIDTHS, integers),
                                               MAYBE("float_formats", FORMATS, formats)}},
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_CAST] = {"ScalarIntegerCast",
                                              {SET("width_pairs", WIDTH_PAIRS, pairs),
                                               MAYBE("resolved_index_widths", INDEX_WIDTHS,
                                                     index_widths)}},
    [QP_FABRIC_PARAMS_SCALAR_BIT_REINTERPRET] = {"ScalarBitReinterpret",
                                                 {MAYBE("integer_widths", ORDINARY_WIDTHS,
                                                        integers),
                                                  MAYBE("float_formats", FORMATS, formats)}},
    [QP_FABRIC_PARAMS_SCALAR_FLOAT] = {"ScalarFloat", {SET("formats", FORMATS, formats), BEHAVIOR}},
    [QP_FABRIC_PARAMS_SCALAR_SPECIAL_MATH] = {"ScalarSpecialMath",
                                              {SET("formats", FORMATS, formats), BEHAVIOR,
                                               SET("accuracy_guarantee", TIER, accuracy)}},
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_COMPARE_MIN_MAX] = {"ScalarFloatCompareMinMax",
                                                       {SET("formats", FORMATS, formats), BEHAVIOR,
                                                        SET("predicates", FLOAT_PREDICATES,
                                                            predicates)}},
    [QP_FABRIC_PARAMS_SCALAR_FLOAT_WIDTH_CAST] = {"ScalarFloatWidthCast",
                                                  {SET("format_pairs", FORMAT_PAIRS, pairs),
                                                   BEHAVIOR}},
    [QP_FABRIC_PARAMS_SCALAR_INTEGER_FLOAT_CONVERSION] = {"ScalarIntegerFloatConversion",
                                                          {SET("format_pairs", INTEGER_FORMAT_PAIRS,
                                                               pairs)}},
    [QP_FABRIC_PARAMS_LOOP_STREAM] = {"LoopStream",
                                      {SET("integer_widths", ORDINARY_WIDTHS, integers),
                                       SET("step_kind", STEP, step_kind),
                                       SET("predicates", INTEGER_PREDICATES, predicates)}},
    [QP_FABRIC_PARAMS_TOKEN_PLANE] = {"TokenPlane", {{0}}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER] = {"FixedVectorInteger",
                                               {SET("element_widths", FAMILY_WIDTHS, integers),
                                                NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_INTEGER_COMPARE_MIN_MAX] =
        {"FixedVectorIntegerCompareMinMax",
         {SET("element_widths", ORDINARY_WIDTHS, integers),
          SET("predicates", INTEGER_PREDICATES, predicates), NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_VALUE_SELECT] =
        {"FixedVectorValueSelect",
         {MAYBE("integer_element_widths", LOGIC_WIDTHS, integers),
          MAYBE("float_element_formats", FORMATS, formats), NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_ADAPTER] = {"FixedVectorAdapter",
                                               {MAYBE("integer_element_widths", LOGIC_WIDTHS,
                                                      integers),
                                                MAYBE("float_element_formats", FORMATS, formats),
                                                NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT] = {"FixedVectorFloat",
                                             {SET("element_formats", FORMATS, formats), BEHAVIOR,
                                              NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX] =
        {"FixedVectorFloatCompareMinMax",
         {SET("element_formats", FORMATS, formats), BEHAVIOR,
          SET("predicates", FLOAT_PREDICATES, predicates), NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_PAYLOAD_CAPACITY] = {"PayloadCapacity", {NUMBER(max_payload_bits)}},
    [QP_FABRIC_PARAMS_ROUTED_TOKEN] = {"RoutedToken", {NUMBER(max_payload_bits), NUMBER(max_fan)}},
    [QP_FABRIC_PARAMS_SLICE_ALIGN_MERGE] =
        {"FixedVectorSliceAlignMerge",
         {MAYBE("integer_element_widths", LOGIC_WIDTHS, integers),
          MAYBE("float_element_formats", FORMATS, formats), NUMBER(max_container_payload_bits),
          NUMBER(max_slice_payload_bits),
          MAYBE("max_dynamic_position_rank", NUMBER, max_dynamic_position_rank),
          MAYBE("resolved_index_widths", INDEX_WIDTHS, index_widths)}},
    [QP_FABRIC_PARAMS_SHUFFLE] = {"FixedVectorShuffle",
                                  {MAYBE("integer_element_widths", LOGIC_WIDTHS, integers),
                                   MAYBE("float_element_formats", FORMATS, formats),
                                   NUMBER(max_operand_payload_bits),
                                   NUMBER(max_result_payload_bits), NUMBER(max_block_payload_bits),
                                   NUMBER(max_source_blocks), NUMBER(max_result_blocks)}},
};

const qp_fabric_field_row qp_fabric_behavior_fields[6] = {
    {"rounding_modes", QP_FABRIC_FIELD_ROUNDINGS, B(roundings), true},
    {"nan_behaviors", QP_FABRIC_FIELD_NANS, B(nans), true},
    {"subnormal_behaviors", QP_FABRIC_FIELD_SUBNORMALS, B(subnormals), true},
    {"signed_zero_behaviors", QP_FABRIC_FIELD_ZEROS, B(zeros), true},
    {"required_fast_math", QP_FABRIC_FIELD_FAST_MATH, B(required_fast_math), false},
    {NULL, QP_FABRIC_FIELD_NUMBER, 0, false},
};

#define NUMBERS(ordinal)                                                                           \
    {                                                                                              \
        QP_FABRIC_VALUE_NUMBERS, NULL, ordinal, qp_fabric_width_of, true, true                     \
    }
#define WORDS(list)                                                                                \
    {                                                                                              \
        QP_FABRIC_VALUE_WORDS, &list, NULL, NULL, false, false                                     \
    }

const qp_fabric_field_domain qp_fabric_field_domains[] = {
    [QP_FABRIC_FIELD_ORDINARY_WIDTHS] = NUMBERS(qp_fabric_ordinary_ordinal),
    [QP_FABRIC_FIELD_LOGIC_WIDTHS] = NUMBERS(qp_fabric_width_ordinal),
    [QP_FABRIC_FIELD_FAMILY_WIDTHS] = NUMBERS(qp_fabric_width_ordinal),
    [QP_FABRIC_FIELD_INDEX_WIDTHS] = {QP_FABRIC_VALUE_NUMBERS, NULL, qp_fabric_index_ordinal,
                                      qp_fabric_index_of, true, true},
    [QP_FABRIC_FIELD_FORMATS] = WORDS(qp_fabric_format_words),
    [QP_FABRIC_FIELD_INTEGER_PREDICATES] = WORDS(qp_fabric_integer_predicates),
    [QP_FABRIC_FIELD_FLOAT_PREDICATES] = WORDS(qp_fabric_float_predicates),
    [QP_FABRIC_FIELD_ROUNDINGS] = WORDS(qp_fabric_roundings),
    [QP_FABRIC_FIELD_NANS] = WORDS(qp_fabric_nan_behaviors),
    [QP_FABRIC_FIELD_SUBNORMALS] = WORDS(qp_fabric_subnormal_behaviors),
    [QP_FABRIC_FIELD_ZEROS] = WORDS(qp_fabric_zero_behaviors),
    [QP_FABRIC_FIELD_FAST_MATH] = WORDS(qp_fabric_fast_math),
    [QP_FABRIC_FIELD_STEP] = {QP_FABRIC_VALUE_WORD, &qp_fabric_steps, NULL, NULL, false, false},
    [QP_FABRIC_FIELD_TIER] = {QP_FABRIC_VALUE_WORD, &qp_fabric_tiers, NULL, NULL, false, false},
    [QP_FABRIC_FIELD_WIDTH_PAIRS] = {QP_FABRIC_VALUE_PAIRS, NULL, qp_fabric_width_ordinal,
                                     qp_fabric_width_of, true, true},
    [QP_FABRIC_FIELD_FORMAT_PAIRS] = {QP_FABRIC_VALUE_PAIRS, &qp_fabric_format_words, NULL, NULL,
                                      false, false},
    [QP_FABRIC_FIELD_INTEGER_FORMAT_PAIRS] = {QP_FABRIC_VALUE_PAIRS, &qp_fabric_format_words,
                                              qp_fabric_ordinary_ordinal, qp_fabric_width_of, true,
                                              false},
    [QP_FABRIC_FIELD_BEHAVIOR] = {QP_FABRIC_VALUE_RECORD, NULL, NULL, NULL, false, false},
    [QP_FABRIC_FIELD_NUMBER] = {QP_FABRIC_VALUE_NUMBER, NULL, NULL, NULL, false, false},
    [QP_FABRIC_FIELD_POINTERS] = {QP_FABRIC_VALUE_EMPTY, NULL, NULL, NULL, false, false},
};
