/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.c - the table of implementation families (section 4) and of key rows (section 7).
 */
#include "fabric/family.h"

#define R QP_FABRIC_SCOPE_ROLE
#define D QP_FABRIC_SCOPE_DOMAIN
#define C(component, scope)                                                                        \
    {                                                                                              \
        QP_FABRIC_COMPONENT_##component, scope                                                     \
    }

const qp_fabric_key_row qp_fabric_key_rows[QP_FABRIC_KEY_COUNT] = {
    [QP_FABRIC_KEY_NONE] = {QP_FABRIC_ROLE_EMPTY, {{0}}},
    [QP_FABRIC_KEY_ROLE] = {QP_FABRIC_ROLE_ALWAYS, {{0}}},
    [QP_FABRIC_KEY_VECTOR_ROLE] = {QP_FABRIC_ROLE_IF_SEVERAL, {{0}}},
    [QP_FABRIC_KEY_ROLE_WIDTH] = {QP_FABRIC_ROLE_ALWAYS, {C(WIDTH, R)}},
    [QP_FABRIC_KEY_VECTOR_WIDTH] = {QP_FABRIC_ROLE_IF_SEVERAL, {C(WIDTH, D)}},
    [QP_FABRIC_KEY_COMPARE] = {QP_FABRIC_ROLE_ALWAYS, {C(INTEGER_PREDICATE, R), C(WIDTH, R)}},
    [QP_FABRIC_KEY_VECTOR_COMPARE] = {QP_FABRIC_ROLE_IF_SEVERAL,
                                      {C(INTEGER_PREDICATE, R), C(WIDTH, D)}},
    [QP_FABRIC_KEY_CAST] = {QP_FABRIC_ROLE_ALWAYS, {C(SOURCE_WIDTH, R), C(DESTINATION_WIDTH, R)}},
    [QP_FABRIC_KEY_ELEMENT_WIDTH] = {QP_FABRIC_ROLE_EMPTY, {C(WIDTH, D)}},
    [QP_FABRIC_KEY_STREAM] = {QP_FABRIC_ROLE_EMPTY, {C(WIDTH, D), C(INTEGER_PREDICATE, D)}},
    [QP_FABRIC_KEY_ADAPTER] = {QP_FABRIC_ROLE_EMPTY, {C(WIDTH, D), C(LANE_COUNT, D)}},
    [QP_FABRIC_KEY_LANES] = {QP_FABRIC_ROLE_EMPTY, {C(LANE_IMAGE, D)}},
    [QP_FABRIC_KEY_FLOAT_ROUNDED] = {QP_FABRIC_ROLE_ALWAYS, {C(FORMAT, R), C(ROUNDING, R)}},
    [QP_FABRIC_KEY_FLOAT_ROUNDED_SINGLE] = {QP_FABRIC_ROLE_EMPTY, {C(FORMAT, R), C(ROUNDING, R)}},
    [QP_FABRIC_KEY_VECTOR_ROUNDED] = {QP_FABRIC_ROLE_IF_SEVERAL, {C(FORMAT, D), C(ROUNDING, D)}},
    [QP_FABRIC_KEY_VECTOR_ROUNDED_SINGLE] = {QP_FABRIC_ROLE_EMPTY, {C(FORMAT, D), C(ROUNDING, D)}},
    [QP_FABRIC_KEY_FORMAT] = {QP_FABRIC_ROLE_EMPTY, {C(FORMAT, R)}},
    [QP_FABRIC_KEY_FLOAT_CAST] = {QP_FABRIC_ROLE_EMPTY,
                                  {C(SOURCE_FORMAT, R), C(DESTINATION_FORMAT, R), C(ROUNDING, R)}},
    [QP_FABRIC_KEY_FROM_INTEGER] = {QP_FABRIC_ROLE_ALWAYS,
                                    {C(SOURCE_WIDTH, R), C(DESTINATION_FORMAT, R)}},
    [QP_FABRIC_KEY_TO_INTEGER] = {QP_FABRIC_ROLE_ALWAYS,
                                  {C(SOURCE_FORMAT, R), C(DESTINATION_WIDTH, R)}},
    [QP_FABRIC_KEY_FLOAT_COMPARE] = {QP_FABRIC_ROLE_IF_SEVERAL,
                                     {C(FLOAT_PREDICATE, R), C(NUMERIC_FORMAT, R)}},
    [QP_FABRIC_KEY_VECTOR_FLOAT_COMPARE] = {QP_FABRIC_ROLE_IF_SEVERAL,
                                            {C(FLOAT_PREDICATE, R), C(NUMERIC_FORMAT_VECTOR, D)}},
};

/* clang-format off */
#define ROW(id, keyword, count, params, relation, shape, roles, contract, key, ...)                \
    [id] = {id, #keyword, count, __VA_ARGS__, QP_FABRIC_PARAMS_##params,                           \
            QP_FABRIC_RELATION_##relation, QP_FABRIC_SHAPE_##shape, QP_FABRIC_ROLES_##roles,       \
            QP_FABRIC_CONTRACT_##contract, QP_FABRIC_KEY_##key},
#define MEMBERS(...) {__VA_ARGS__}

const qp_fabric_family qp_fabric_families[QP_FABRIC_FAMILY_COUNT] = {
    ROW(0, ScalarIntegerAddSub, 3, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC, ROLE,
        MEMBERS({1, "Add"}, {2, "Sub"}, {105, NULL}))
    ROW(1, ScalarIntegerLogic, 4, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC, ROLE,
        MEMBERS({7, "And"}, {8, "Or"}, {9, "Xor"}, {97, "Or"}))
    ROW(2, ScalarIntegerShift, 3, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC, ROLE_WIDTH,
        MEMBERS({4, "Left"}, {5, "ArithmeticRight"}, {6, "LogicalRight"}))
    ROW(3, ScalarIntegerCompareMinMax, 5, SCALAR_INTEGER_COMPARE_MIN_MAX, FINITE, SCALAR, STRAIGHT,
        ELASTIC, COMPARE,
        MEMBERS({18, "Compare"}, {14, "SignedMin"}, {15, "SignedMax"}, {16, "UnsignedMin"},
                {17, "UnsignedMax"}))
    ROW(4, ScalarValueSelect, 1, SCALAR_VALUE_SELECT, NONE, SCALAR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({19, NULL}))
    ROW(5, ScalarIntegerCast, 5, SCALAR_INTEGER_CAST, FINITE, SCALAR, STRAIGHT, ELASTIC, CAST,
        MEMBERS({20, NULL}, {21, NULL}, {22, NULL}, {23, NULL}, {24, NULL}))
    ROW(6, ScalarBitReinterpret, 1, SCALAR_BIT_REINTERPRET, NONE, SCALAR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({25, NULL}))
    ROW(7, ScalarFloatSign, 2, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC, ROLE_WIDTH,
        MEMBERS({31, "Negate"}, {43, "Absolute"}))
    ROW(8, ScalarFloatAddSub, 2, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC, FLOAT_ROUNDED,
        MEMBERS({26, "Add"}, {27, "Sub"}))
    ROW(9, ScalarFloatCompareMinMax, 5, SCALAR_FLOAT_COMPARE_MIN_MAX, FINITE, SCALAR, STRAIGHT,
        ELASTIC, FLOAT_COMPARE,
        MEMBERS({36, "Compare"}, {32, "Minimum"}, {33, "Maximum"}, {34, "MinNumber"},
                {35, "MaxNumber"}))
    ROW(10, ScalarFloatWidthCast, 2, SCALAR_FLOAT_WIDTH_CAST, FINITE, SCALAR, STRAIGHT, ELASTIC,
        FLOAT_CAST, MEMBERS({37, NULL}, {38, NULL}))
    ROW(11, ScalarIntegerToFloat, 2, SCALAR_INTEGER_FLOAT_CONVERSION, FINITE, SCALAR, STRAIGHT,
        ELASTIC, FROM_INTEGER, MEMBERS({39, "Signed"}, {40, "Unsigned"}))
    ROW(12, ScalarFloatToInteger, 4, SCALAR_INTEGER_FLOAT_CONVERSION, FINITE, SCALAR, STRAIGHT,
        ELASTIC, TO_INTEGER,
        MEMBERS({41, "Signed"}, {42, "Unsigned"}, {103, "Signed"}, {104, "Unsigned"}))
    ROW(13, ScalarIntegerMultiply, 1, SCALAR_INTEGER, NONE, SCALAR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({3, NULL}))
    ROW(14, ScalarFloatMultiply, 1, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC,
        FLOAT_ROUNDED_SINGLE, MEMBERS({28, NULL}))
    ROW(15, ScalarFloatFma, 1, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC,
        FLOAT_ROUNDED_SINGLE, MEMBERS({66, NULL}))
    ROW(16, LoopStream, 1, LOOP_STREAM, FINITE, SCALAR, STRAIGHT, STREAM, STREAM,
        MEMBERS({76, NULL}))
    ROW(17, LoopCarry, 1, TOKEN_PLANE, NONE, TOKEN, STRAIGHT, TRANSPARENT_3, NONE,
        MEMBERS({77, NULL}))
    ROW(18, LoopInvariant, 1, TOKEN_PLANE, NONE, TOKEN, STRAIGHT, TRANSPARENT_3, NONE,
        MEMBERS({78, NULL}))
    ROW(19, LoopGate, 1, TOKEN_PLANE, NONE, TOKEN, STRAIGHT, TRANSPARENT_4, NONE,
        MEMBERS({79, NULL}))
    ROW(20, FixedVectorIntegerAddSub, 2, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_WIDTH, MEMBERS({1, "Add"}, {2, "Sub"}))
    ROW(21, FixedVectorIntegerLogic, 4, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_ROLE, MEMBERS({7, "And"}, {8, "Or"}, {9, "Xor"}, {97, "Or"}))
    ROW(22, FixedVectorIntegerShift, 3, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_WIDTH, MEMBERS({4, "Left"}, {5, "ArithmeticRight"}, {6, "LogicalRight"}))
    ROW(23, FixedVectorIntegerCompareMinMax, 5, FIXED_VECTOR_INTEGER_COMPARE_MIN_MAX, FINITE,
        VECTOR, STRAIGHT, ELASTIC, VECTOR_COMPARE,
        MEMBERS({18, "Compare"}, {14, "SignedMin"}, {15, "SignedMax"}, {16, "UnsignedMin"},
                {17, "UnsignedMax"}))
    ROW(24, FixedVectorValueSelect, 1, FIXED_VECTOR_VALUE_SELECT, FINITE, VECTOR, STRAIGHT,
        ELASTIC, ELEMENT_WIDTH, MEMBERS({19, NULL}))
    ROW(25, FixedVectorIntegerMultiply, 1, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT, ELASTIC,
        ELEMENT_WIDTH, MEMBERS({3, NULL}))
    ROW(26, FixedVectorFloatSign, 2, FIXED_VECTOR_FLOAT, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_WIDTH, MEMBERS({31, "Negate"}, {43, "Absolute"}))
    ROW(27, FixedVectorFloatAddSub, 2, FIXED_VECTOR_FLOAT, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_ROUNDED, MEMBERS({26, "Add"}, {27, "Sub"}))
    ROW(28, FixedVectorFloatCompareMinMax, 5, FIXED_VECTOR_FLOAT_COMPARE_MIN_MAX, FINITE, VECTOR,
        STRAIGHT, ELASTIC, VECTOR_FLOAT_COMPARE,
        MEMBERS({36, "Compare"}, {32, "Minimum"}, {33, "Maximum"}, {34, "MinNumber"},
                {35, "MaxNumber"}))
    ROW(29, FixedVectorFloatMultiply, 1, FIXED_VECTOR_FLOAT, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_ROUNDED_SINGLE, MEMBERS({28, NULL}))
    ROW(30, FixedVectorFloatFma, 1, FIXED_VECTOR_FLOAT, FINITE, VECTOR, STRAIGHT, ELASTIC,
        VECTOR_ROUNDED_SINGLE, MEMBERS({66, NULL}))
    ROW(31, FixedVectorPack, 1, FIXED_VECTOR_ADAPTER, NONE, VECTOR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({86, NULL}))
    ROW(32, FixedVectorUnpack, 1, FIXED_VECTOR_ADAPTER, NONE, VECTOR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({87, NULL}))
    ROW(33, FixedVectorParallelize, 1, FIXED_VECTOR_ADAPTER, FINITE, VECTOR, STRAIGHT, PARALLELIZE,
        ADAPTER, MEMBERS({84, NULL}))
    ROW(34, FixedVectorSerialize, 1, FIXED_VECTOR_ADAPTER, FINITE, VECTOR, STRAIGHT, SERIALIZE,
        ADAPTER, MEMBERS({85, NULL}))
    ROW(35, TokenConstant, 1, PAYLOAD_CAPACITY, DIRECT, TOKEN, STRAIGHT, ELASTIC, NONE,
        MEMBERS({80, NULL}))
    ROW(36, TokenSync, 1, ROUTED_TOKEN, FINITE, TOKEN, SYNC, ELASTIC, LANES, MEMBERS({81, NULL}))
    ROW(37, TokenMux, 1, ROUTED_TOKEN, FINITE, TOKEN, MUX, ELASTIC, LANES, MEMBERS({82, NULL}))
    ROW(38, TokenDemux, 1, ROUTED_TOKEN, FINITE, TOKEN, DEMUX, ELASTIC, LANES, MEMBERS({83, NULL}))
    ROW(39, ScalarSignedIntegerDivRem, 2, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC,
        ROLE_WIDTH, MEMBERS({10, "Quotient"}, {12, "Remainder"}))
    ROW(40, ScalarUnsignedIntegerDivRem, 2, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC,
        ROLE_WIDTH, MEMBERS({11, "Quotient"}, {13, "Remainder"}))
    ROW(41, ScalarFloatDivide, 1, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC,
        FLOAT_ROUNDED_SINGLE, MEMBERS({29, NULL}))
    ROW(42, ScalarFloatRemainder, 1, SCALAR_FLOAT, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({30, NULL}))
    ROW(43, ScalarMathSin, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({45, NULL}))
    ROW(44, ScalarMathCos, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({46, NULL}))
    ROW(45, ScalarMathTan, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({47, NULL}))
    ROW(46, ScalarMathSinh, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({48, NULL}))
    ROW(47, ScalarMathCosh, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({49, NULL}))
    ROW(48, ScalarMathTanh, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({50, NULL}))
    ROW(49, ScalarMathExp, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({51, NULL}))
    ROW(50, ScalarMathExp2, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({52, NULL}))
    ROW(51, ScalarMathExpM1, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({53, NULL}))
    ROW(52, ScalarMathLog, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({54, NULL}))
    ROW(53, ScalarMathLog2, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({55, NULL}))
    ROW(54, ScalarMathLog10, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({56, NULL}))
    ROW(55, ScalarMathLog1p, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({57, NULL}))
    ROW(56, ScalarMathFloor, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({58, NULL}))
    ROW(57, ScalarMathCeil, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({59, NULL}))
    ROW(58, ScalarMathRound, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({60, NULL}))
    ROW(59, ScalarMathTrunc, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({61, NULL}))
    ROW(60, ScalarMathRoundEven, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({62, NULL}))
    ROW(61, ScalarMathSqrt, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({63, NULL}))
    ROW(62, ScalarMathRsqrt, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({64, NULL}))
    ROW(63, ScalarMathErf, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({65, NULL}))
    ROW(64, ScalarIntegerSaturatingAddSub, 4, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC,
        ROLE_WIDTH,
        MEMBERS({98, "SignedAdd"}, {99, "UnsignedAdd"}, {100, "SignedSub"}, {71, "UnsignedSub"}))
    ROW(65, FixedVectorIntegerSaturatingAddSub, 4, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT,
        ELASTIC, VECTOR_WIDTH,
        MEMBERS({98, "SignedAdd"}, {99, "UnsignedAdd"}, {100, "SignedSub"}, {71, "UnsignedSub"}))
    ROW(66, ScalarIntegerCountZeros, 4, SCALAR_INTEGER, FINITE, SCALAR, STRAIGHT, ELASTIC,
        ROLE_WIDTH, MEMBERS({93, "Leading"}, {101, "Trailing"}, {72, "Leading"}, {102, "Trailing"}))
    ROW(67, FixedVectorIntegerCountZeros, 4, FIXED_VECTOR_INTEGER, FINITE, VECTOR, STRAIGHT,
        ELASTIC, VECTOR_WIDTH,
        MEMBERS({93, "Leading"}, {101, "Trailing"}, {72, "Leading"}, {102, "Trailing"}))
    ROW(68, ScalarMathPow, 1, SCALAR_SPECIAL_MATH, FINITE, SCALAR, STRAIGHT, ELASTIC, FORMAT,
        MEMBERS({106, NULL}))
    ROW(69, FixedVectorSliceAlignMerge, 2, SLICE_ALIGN_MERGE, DIRECT, VECTOR, SLICE, ELASTIC, NONE,
        MEMBERS({94, NULL}, {95, NULL}))
    ROW(70, FixedVectorShuffle, 1, SHUFFLE, DIRECT, VECTOR, STRAIGHT, ELASTIC, NONE,
        MEMBERS({96, NULL}))
};
/* clang-format on */

const qp_fabric_family *qp_fabric_find_family(const char *keyword, size_t size)
{
    for (size_t i = 0; i < QP_FABRIC_FAMILY_COUNT; i++) {
        const char *found = qp_fabric_families[i].keyword;
        if (strlen(found) == size && memcmp(found, keyword, size) == 0)
            return &qp_fabric_families[i];
    }
    return NULL;
}

int qp_fabric_member_ordinal(const qp_fabric_family *family, const qp_fabric_schema *schema)
{
    for (uint32_t i = 0; i < family->member_count; i++)
        if (family->members[i].schema == schema->id)
            return (int)i;
    return -1;
}
