/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluating.h - evaluators of schemas by name and types in the text's form, and random payloads.
 */
#ifndef QP_TEST_FABRIC_EVALUATING_H
#define QP_TEST_FABRIC_EVALUATING_H

#include "fabric/evaluate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* An actor without a graph. */
typedef struct subject {
    qp_arena arena;
    qp_fabric_semantics semantics;
    qp_fabric_type types[8];
    qp_fabric_evaluator evaluator;
} subject;

/* Reads types that commas part, from *types on. */
static inline size_t read_types(subject *s, const char *text, qp_fabric_type *types)
{
    size_t count = 0;

    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        assert_int_equal(
            qp_fabric_type_parse(at, size, &s->arena, QP_FABRIC_NOWHERE, &types[count++], NULL),
            QP_OK);
        at += size;
        if (*at == '\0')
            return count;
    }
}

/* `operands` as "i8,i8", `result` as "i8"; semantics may be NULL. Free with subject_free. */
static inline qp_status subject_try(subject *s, const char *schema, const char *operands,
                                    const char *result, const qp_fabric_semantics *semantics)
{
    qp_fabric_signature signature = {.semantics = &s->semantics, .index_width = 32};

    memset(s, 0, sizeof *s);
    qp_arena_init(&s->arena, NULL);
    if (semantics != NULL)
        s->semantics = *semantics;
    signature.schema = qp_fabric_find_schema(schema, strlen(schema));
    assert_non_null(signature.schema);
    signature.operands = s->types;
    signature.operand_count = read_types(s, operands, s->types);
    signature.results = s->types + signature.operand_count;
    signature.result_count = read_types(s, result, s->types + signature.operand_count);
    const char *fault = qp_fabric_check_signature(&signature);
    if (fault != NULL)
        fail_msg("%s (%s) -> (%s): %s", schema, operands, result, fault);
    return qp_fabric_evaluator_make(&signature, QP_FABRIC_NOWHERE, &s->evaluator, NULL);
}

static inline void subject_make(subject *s, const char *schema, const char *operands,
                                const char *result, const qp_fabric_semantics *semantics)
{
    assert_int_equal(subject_try(s, schema, operands, result, semantics), QP_OK);
}

static inline void subject_free(subject *s)
{
    qp_arena_free(&s->arena);
}

/* The first of one or two results that are one word each; operands of one word. */
static inline qp_fabric_outcome evaluate1(const subject *s, const uint64_t *operands,
                                          uint64_t *result)
{
    const uint64_t *heads[8];
    uint64_t *results[1];

    for (size_t i = 0; i < s->evaluator.signature.operand_count; i++)
        heads[i] = &operands[i];
    results[0] = result;
    return s->evaluator.evaluate(&s->evaluator, heads, results);
}

/* SplitMix64. */
static inline uint64_t random_u64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t test_mask(uint32_t width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

/* A number of `width` bits, often near 0, the signed ends and all ones, where carries happen. */
static inline uint64_t random_bits(uint64_t *state, uint32_t width)
{
    const uint64_t r = random_u64(state);
    const uint64_t near = r >> 8 & 3;
    const uint64_t ends[] = {0, UINT64_C(1) << (width - 1), UINT64_MAX,
                             UINT64_C(1) << (r >> 16) % width};

    if ((r & 1) != 0)
        return random_u64(state) & test_mask(width);
    if ((r & 2) != 0)
        return (ends[r >> 4 & 3] + near - 1) & test_mask(width);
    return random_u64(state) >> (r >> 16) % 64 & test_mask(width);
}

static inline void random_payload(uint64_t *state, uint64_t *payload, uint64_t bits)
{
    for (uint64_t i = 0; i < bits; i += 64)
        payload[i / 64] = random_bits(state, bits - i < 64 ? (uint32_t)(bits - i) : 64);
}

#endif
