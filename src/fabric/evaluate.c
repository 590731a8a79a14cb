/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.c - the table of evaluations by schema, and the making of an evaluator.
 */
#include "fabric/evaluate.h"

typedef struct evaluation {
    qp_fabric_evaluate *evaluate;
    uint32_t data;   /* the operand that width and format are of */
    uint32_t widest; /* bits of a lane; 0 for the token schemas */
} evaluation;

#define E(name, data, widest) EVALUATION_##name,
enum { EVALUATION_NONE = 0, QP_FABRIC_EVALUATIONS(E) EVALUATION_COUNT };
#undef E

#define E(name, data, widest) [EVALUATION_##name] = {qp_fabric_evaluate_##name, data, widest},
static const evaluation evaluations[EVALUATION_COUNT] = {[EVALUATION_NONE] = {NULL, 0, 0},
                                                         QP_FABRIC_EVALUATIONS(E)};
#undef E

/* By schema id. */
#define ROW(id, name, family, kind, operands, results, rule, definedness, handshake, flags, eval)  \
    [id] = EVALUATION_##eval,
static const uint8_t evaluation_of[QP_FABRIC_SCHEMA_COUNT] = {
#include "fabric/schemas.inc"
};
#undef ROW
_Static_assert(EVALUATION_COUNT <= UINT8_MAX, "evaluation_of holds the ordinals");

static const char *const outcome_texts[] = {
    [QP_FABRIC_DEFINED] = "is defined",
    [QP_FABRIC_POISON] = "gives poison",
    [QP_FABRIC_UNDEFINED] = "is undefined: by zero, or of the smallest number by -1",
    [QP_FABRIC_OUT_OF_RANGE] = "is out of range: a selector, a position or a stream's step",
};

const char *qp_fabric_outcome_text(qp_fabric_outcome outcome)
{
    return outcome_texts[outcome];
}

static int format_of(const qp_fabric_type *type)
{
    return type->kind == QP_FABRIC_FLOAT ? qp_fabric_format_ordinal(type->code) : -1;
}

static void describe(qp_fabric_evaluator *evaluator, uint32_t data)
{
    const qp_fabric_signature *s = &evaluator->signature;
    const qp_fabric_type *operand = &s->operands[data], *result = &s->results[0];

    evaluator->lanes = 1;
    (void)qp_fabric_lanes(operand, &evaluator->lanes); /* bounded where the type was read */
    evaluator->width = qp_fabric_element_bits(operand, s->index_width);
    evaluator->result_width = qp_fabric_element_bits(result, s->index_width);
    evaluator->format = format_of(operand);
    evaluator->result_format = format_of(result);
    evaluator->rounding = qp_fabric_rounding_of(s->semantics);
}

qp_status qp_fabric_evaluator_make(const qp_fabric_signature *signature, qp_fabric_place place,
                                   qp_fabric_evaluator *evaluator, qp_fabric_error *error)
{
    const qp_fabric_schema *schema = signature->schema;
    const evaluation *row = &evaluations[evaluation_of[schema->id]];

    memset(evaluator, 0, sizeof *evaluator);
    evaluator->evaluate = row->evaluate;
    evaluator->signature = *signature;
    if (row->evaluate == NULL)
        return QP_OK;
    describe(evaluator, row->data);
    if ((schema->flags & QP_FABRIC_FLAG_MPFR) != 0 && qp_fabric_floats == NULL)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, place,
                              "%s rounds, which this library cannot: it was built without MPFR",
                              schema->name);
    if (evaluator->width > row->widest || evaluator->result_width > row->widest)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, place,
                              "%s is evaluated on lanes of at most %lu bits", schema->name,
                              (unsigned long)row->widest);
    return QP_OK;
}
