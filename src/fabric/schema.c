/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - the table of operation schemas, their handshake cases (section 3) and the actor
 * projection's bytes (sections 1.4 and 2.1).
 */
#include "fabric/schema.h"

#define SCHEMA_TAG UINT32_C(0x4c530201)
#define CASE_TAG UINT32_C(0x4c530101)

#define H true
#define X false
#define ROUNDS QP_FABRIC_FLAG_ROUNDS
#define MPFR QP_FABRIC_FLAG_MPFR
#define NAN_IEEE QP_FABRIC_FLAG_NAN_IEEE
#define NAN_NUMBER QP_FABRIC_FLAG_NAN_NUMBER
#define ROW(id, name, family, kind, operands, results, rule, definedness, handshake, flags, eval)  \
    [id] = {id,                                                                                    \
            name,                                                                                  \
            family,                                                                                \
            QP_FABRIC_CASE_##kind,                                                                 \
            operands,                                                                              \
            results,                                                                               \
            qp_fabric_types_##rule,                                                                \
            QP_FABRIC_TRANSFER_##definedness,                                                      \
            QP_FABRIC_HANDSHAKE_##handshake,                                                       \
            flags},
const qp_fabric_schema qp_fabric_schemas[QP_FABRIC_SCHEMA_COUNT] = {
#include "fabric/schemas.inc"
};
#undef ROW
#undef H
#undef X

/* Masks over operand and result ordinals. */
enum { B0 = 1, B1 = 2, B2 = 4, B01 = 3, B02 = 5, B012 = 7 };

static const qp_fabric_handshake_case stream_cases[] = {
    {"StartTrue", B012, 1, {B01}},
    {"StartClose", B012, 1, {B1}},
    {"ContinueTrue", 0, 1, {B01}},
    {"ContinueClose", 0, 1, {B1}},
};
static const qp_fabric_handshake_case carry_cases[] = {
    {"Init", B1, 1, {B0}},
    {"Next", B02, 1, {B0}},
    {"Close", B0, 0, {0}},
};
static const qp_fabric_handshake_case invariant_cases[] = {
    {"Init", B1, 1, {B0}},
    {"Replay", B0, 1, {B0}},
    {"Close", B0, 0, {0}},
};
static const qp_fabric_handshake_case gate_cases[] = {
    {"ClosedDrop", B01, 0, {0}},
    {"FirstTrue", B01, 1, {B1}},
    {"ContinueTrue", B01, 1, {B01}},
    {"Close", B01, 1, {B0}},
};
static const qp_fabric_handshake_case parallelize_cases[] = {
    {"Accumulate", B01, 0, {0}},
    {"Full", B01, 1, {B012}},
    {"EmptyClose", B1, 1, {B2}},
    {"PartialClose", B1, 2, {B012, B2}},
};
static const qp_fabric_handshake_case serialize_cases[] = {
    {"Active", B012, 1, {B01}},
    {"Close", B2, 1, {B1}},
};

#define CASES(rows)                                                                                \
    {                                                                                              \
        sizeof(rows) / sizeof(rows)[0], rows                                                       \
    }
const qp_fabric_handshake qp_fabric_handshakes[QP_FABRIC_HANDSHAKE_COUNT] = {
    [QP_FABRIC_HANDSHAKE_ALL] = {1, NULL},
    [QP_FABRIC_HANDSHAKE_STREAM] = CASES(stream_cases),
    [QP_FABRIC_HANDSHAKE_CARRY] = CASES(carry_cases),
    [QP_FABRIC_HANDSHAKE_INVARIANT] = CASES(invariant_cases),
    [QP_FABRIC_HANDSHAKE_GATE] = CASES(gate_cases),
    [QP_FABRIC_HANDSHAKE_PARALLELIZE] = CASES(parallelize_cases),
    [QP_FABRIC_HANDSHAKE_SERIALIZE] = CASES(serialize_cases),
};

const qp_fabric_schema *qp_fabric_find_schema(const char *name, size_t size)
{
    for (size_t i = 0; i < QP_FABRIC_SCHEMA_COUNT; i++) {
        const char *found = qp_fabric_schemas[i].name;
        if (strlen(found) == size && memcmp(found, name, size) == 0)
            return &qp_fabric_schemas[i];
    }
    return NULL;
}

const char *qp_fabric_check_signature(const qp_fabric_signature *signature)
{
    const qp_fabric_schema *schema = signature->schema;

    if (schema->operands > 0 && signature->operand_count != schema->operands)
        return "the number of operands is not the schema's";
    if (schema->results > 0 && signature->result_count != schema->results)
        return "the number of results is not the schema's";
    return schema->type_rule(signature);
}

/* ---- canonical bytes ---------------------------------------------------------------------- */

/* Bits [first, first + width) of a payload as one bit string: u32 width, then the bytes, most
 * significant first. */
static void put_bit_string(qp_buffer *buffer, const uint64_t *payload, uint64_t first,
                           uint32_t width)
{
    const uint32_t bytes = (width + 7) / 8;

    qp_fabric_put_u32(buffer, width);
    for (uint32_t i = bytes; i-- > 0;) {
        uint8_t byte = 0;
        for (uint32_t b = 0; b < 8 && 8 * i + b < width; b++) {
            uint64_t bit = first + 8 * i + b;
            byte |= (uint8_t)((payload[bit / 64] >> (bit % 64) & 1) << b);
        }
        qp_buffer_append(buffer, &byte, 1);
    }
}

static void put_constant(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    const qp_fabric_type *type = &signature->results[0];
    const uint32_t width = qp_fabric_element_bits(type, signature->index_width);
    uint64_t lanes = 1;

    (void)qp_fabric_lanes(type, &lanes); /* bounded where the type was read */
    qp_fabric_put_u32(buffer,
                      (type->kind == QP_FABRIC_FLOAT ? 2u : 1u) + (type->rank > 0 ? 2u : 0u));
    qp_fabric_put_type_term(buffer, type);
    if (type->rank > 0)
        qp_fabric_put_u64(buffer, lanes);
    for (uint64_t i = 0; i < lanes; i++)
        put_bit_string(buffer, signature->semantics->payload, i * width, width);
}

static void put_nothing(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    (void)buffer;
    (void)signature;
}

static void put_float(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->fast_math);
    qp_fabric_put_u32(buffer, signature->semantics->rounding != 0);
    if (signature->semantics->rounding != 0)
        qp_fabric_put_u32(buffer, signature->semantics->rounding);
}

static void put_overflow(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->overflow);
}

static void put_predicate(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->predicate);
}

static void put_float_compare(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->predicate);
    qp_fabric_put_u32(buffer, signature->semantics->fast_math);
}

static void put_stream(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->step);
    qp_fabric_put_u32(buffer, signature->semantics->predicate);
}

static void put_flag(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->flag);
}

static void put_entries(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u64(buffer, signature->semantics->entry_count);
    for (size_t i = 0; i < signature->semantics->entry_count; i++)
        qp_fabric_put_u64(buffer, (uint64_t)signature->semantics->entries[i]);
}

static void put_special_math(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_u32(buffer, signature->semantics->fast_math);
    qp_fabric_put_u32(buffer, QP_FABRIC_TIER_TAG + signature->semantics->tier);
}

static void (*const put_case[QP_FABRIC_CASE_COUNT])(qp_buffer *, const qp_fabric_signature *) = {
    [QP_FABRIC_CASE_NO_PAYLOAD] = put_nothing,
    [QP_FABRIC_CASE_FLOAT] = put_float,
    [QP_FABRIC_CASE_INTEGER_OVERFLOW] = put_overflow,
    [QP_FABRIC_CASE_INTEGER_COMPARE] = put_predicate,
    [QP_FABRIC_CASE_FLOAT_COMPARE] = put_float_compare,
    [QP_FABRIC_CASE_TYPED_CONSTANT] = put_constant,
    [QP_FABRIC_CASE_STREAM] = put_stream,
    [QP_FABRIC_CASE_MEMORY] = put_nothing,
    [QP_FABRIC_CASE_ZERO_POISON] = put_flag,
    [QP_FABRIC_CASE_MIN_POISON] = put_flag,
    [QP_FABRIC_CASE_AGGREGATE_POSITION] = put_entries,
    [QP_FABRIC_CASE_EXACT] = put_flag,
    [QP_FABRIC_CASE_NON_NEGATIVE] = put_flag,
    [QP_FABRIC_CASE_STATIC_POSITION] = put_entries,
    [QP_FABRIC_CASE_SHUFFLE_MASK] = put_entries,
    [QP_FABRIC_CASE_DISJOINT] = put_flag,
    [QP_FABRIC_CASE_INTRINSIC] = put_nothing,
    [QP_FABRIC_CASE_GET_ELEMENT_PTR] = put_nothing,
    [QP_FABRIC_CASE_SPECIAL_MATH] = put_special_math,
};

void qp_fabric_put_semantics(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    put_case[signature->schema->semantics](buffer, signature);
}

void qp_fabric_put_projection(qp_buffer *buffer, const qp_fabric_signature *signature)
{
    qp_fabric_put_domain(buffer, "loom.dataflow.actor-schema-projection", 2, 0);
    qp_fabric_put_u32(buffer, SCHEMA_TAG + signature->schema->id);
    qp_fabric_put_u32(buffer, CASE_TAG + (uint32_t)signature->schema->semantics);
    qp_fabric_put_u64(buffer, signature->operand_count);
    for (size_t i = 0; i < signature->operand_count; i++)
        qp_fabric_put_type_term(buffer, &signature->operands[i]);
    qp_fabric_put_u64(buffer, signature->result_count);
    for (size_t i = 0; i < signature->result_count; i++)
        qp_fabric_put_type_term(buffer, &signature->results[i]);
    qp_fabric_put_semantics(buffer, signature);
}
