/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_rules.c - the types of each schema's operands and results (sections 2.2 and 2.3). A rule
 * returns NULL, or what is wrong in one sentence.
 */
#include "fabric/schema.h"

typedef const qp_fabric_signature signature_view;
typedef const qp_fabric_type type_view;

static bool is_integer(type_view *t)
{
    return t->kind == QP_FABRIC_INTEGER;
}

/* Index counts as the integer that section 6 replaces it by. */
static bool is_integral(type_view *t)
{
    return t->kind == QP_FABRIC_INTEGER || t->kind == QP_FABRIC_INDEX;
}

static bool is_float(type_view *t)
{
    return t->kind == QP_FABRIC_FLOAT;
}

static bool is_number(type_view *t)
{
    return is_integral(t) || is_float(t);
}

static bool is_bit(type_view *t)
{
    return is_integer(t) && t->width == 1;
}

static bool is_scalar_bit(type_view *t)
{
    return is_bit(t) && t->rank == 0;
}

static bool same_element(type_view *a, type_view *b)
{
    return a->kind == b->kind && a->width == b->width && a->code == b->code;
}

/* All operands have one type. */
static bool same_operands(signature_view *s)
{
    for (size_t i = 1; i < s->operand_count; i++)
        if (!qp_fabric_same_type(&s->operands[0], &s->operands[i]))
            return false;
    return true;
}

const char *qp_fabric_types_none(signature_view *s)
{
    (void)s;
    return "no implementation family admits this schema";
}

static const char *all_same(signature_view *s, bool (*element)(type_view *), const char *what)
{
    if (!same_operands(s) || !qp_fabric_same_type(&s->operands[0], &s->results[0]))
        return "operands and result must have one type";
    return element(&s->operands[0]) ? NULL : what;
}

const char *qp_fabric_types_integers(signature_view *s)
{
    return all_same(s, is_integral, "the type must be an integer or a vector of integers");
}

const char *qp_fabric_types_floats(signature_view *s)
{
    return all_same(s, is_float, "the type must be a float or a vector of floats");
}

static const char *compare(signature_view *s, bool (*element)(type_view *), const char *what)
{
    if (!same_operands(s))
        return "the operands must have one type";
    if (!element(&s->operands[0]))
        return what;
    if (!is_bit(&s->results[0]) || !qp_fabric_same_shape(&s->operands[0], &s->results[0]))
        return "the result must be i1, or a vector of i1 of the operands' shape";
    return NULL;
}

const char *qp_fabric_types_integer_compare(signature_view *s)
{
    return compare(s, is_integral, "the operands must be integers or vectors of integers");
}

const char *qp_fabric_types_float_compare(signature_view *s)
{
    return compare(s, is_float, "the operands must be floats or vectors of floats");
}

const char *qp_fabric_types_select(signature_view *s)
{
    if (!qp_fabric_same_type(&s->operands[1], &s->operands[2]) ||
        !qp_fabric_same_type(&s->operands[1], &s->results[0]))
        return "both choices and the result must have one type";
    if (!is_number(&s->operands[1]))
        return "the choices must be integers, floats or vectors of them";
    if (!is_bit(&s->operands[0]) || !qp_fabric_same_shape(&s->operands[0], &s->operands[1]))
        return "the condition must be i1, or a vector of i1 of the choices' shape";
    return NULL;
}

/* One operand to one result of the same shape, elements of the two given sorts. */
static const char *convert(signature_view *s, bool (*from)(type_view *), bool (*to)(type_view *),
                           const char *what)
{
    if (!qp_fabric_same_shape(&s->operands[0], &s->results[0]))
        return "operand and result must have one shape";
    return from(&s->operands[0]) && to(&s->results[0]) ? NULL : what;
}

static const char *widen(signature_view *s, bool (*element)(type_view *), const char *what)
{
    const char *fault = convert(s, element, element, what);
    if (fault != NULL)
        return fault;
    return s->results[0].width > s->operands[0].width ? NULL : "the result must be strictly wider";
}

static const char *narrow(signature_view *s, bool (*element)(type_view *), const char *what)
{
    const char *fault = convert(s, element, element, what);
    if (fault != NULL)
        return fault;
    return s->results[0].width < s->operands[0].width ? NULL
                                                      : "the result must be strictly narrower";
}

const char *qp_fabric_types_integer_widen(signature_view *s)
{
    return widen(s, is_integer, "operand and result must be integers");
}

const char *qp_fabric_types_integer_narrow(signature_view *s)
{
    return narrow(s, is_integer, "operand and result must be integers");
}

const char *qp_fabric_types_float_widen(signature_view *s)
{
    return widen(s, is_float, "operand and result must be floats");
}

const char *qp_fabric_types_float_narrow(signature_view *s)
{
    return narrow(s, is_float, "operand and result must be floats");
}

const char *qp_fabric_types_integer_to_float(signature_view *s)
{
    return convert(s, is_integer, is_float, "the operand must be an integer, the result a float");
}

const char *qp_fabric_types_float_to_integer(signature_view *s)
{
    return convert(s, is_float, is_integer, "the operand must be a float, the result an integer");
}

const char *qp_fabric_types_index_cast(signature_view *s)
{
    const char *what = "operand and result must be integers or index";
    const char *fault = convert(s, is_integral, is_integral, what);
    if (fault != NULL)
        return fault;
    return is_integer(&s->operands[0]) != is_integer(&s->results[0])
               ? NULL
               : "exactly one of operand and result must be index";
}

static bool is_fixed(type_view *t)
{
    return is_integer(t) || is_float(t);
}

const char *qp_fabric_types_bitcast(signature_view *s)
{
    const char *fault = convert(s, is_fixed, is_fixed, "the types must be integers or floats");
    if (fault != NULL)
        return fault;
    return s->operands[0].width == s->results[0].width ? NULL : "the widths must be equal";
}

/* ---- vectors ------------------------------------------------------------------------------ */

/*
 * Positions of extract and insert: `vector` is indexed, `block` is selected, the operands behind
 * `first` are the dynamic positions.
 */
static const char *position(signature_view *s, type_view *vector, type_view *block, size_t first)
{
    const qp_fabric_semantics *semantics = s->semantics;
    const size_t count = semantics->entry_count;
    size_t dynamic = 0;

    if (vector->rank == 0 || !is_number(vector))
        return "the container must be a vector";
    if (count > vector->rank)
        return "the position has more entries than the vector has dimensions";
    for (size_t i = 0; i < count; i++) {
        int64_t entry = semantics->entries[i];
        if (entry == QP_FABRIC_DYNAMIC)
            dynamic++;
        else if (entry < 0 || (uint64_t)entry >= vector->dims[i])
            return "a position lies outside its dimension";
    }
    if (!same_element(vector, block) || block->rank != vector->rank - count ||
        (block->rank > 0 &&
         memcmp(block->dims, vector->dims + count, block->rank * sizeof *block->dims) != 0))
        return "the block's type is not what the position selects";
    if (s->operand_count != first + dynamic)
        return "each '?' of the position needs one operand";
    for (size_t i = first; i < s->operand_count; i++)
        if (s->operands[i].kind != QP_FABRIC_INDEX || s->operands[i].rank > 0)
            return "dynamic positions must be index";
    return NULL;
}

const char *qp_fabric_types_extract(signature_view *s)
{
    if (s->operand_count < 1)
        return "a vector is missing";
    return position(s, &s->operands[0], &s->results[0], 1);
}

const char *qp_fabric_types_insert(signature_view *s)
{
    if (s->operand_count < 2)
        return "a value and a vector are needed";
    if (!qp_fabric_same_type(&s->operands[1], &s->results[0]))
        return "the result must have the destination's type";
    return position(s, &s->operands[1], &s->operands[0], 2);
}

/* True where two vectors differ at most in the leading dimension. */
static bool same_blocks(type_view *a, type_view *b)
{
    return a->rank > 0 && a->rank == b->rank && same_element(a, b) &&
           (a->rank == 1 || memcmp(a->dims + 1, b->dims + 1, (a->rank - 1) * sizeof *a->dims) == 0);
}

const char *qp_fabric_types_shuffle(signature_view *s)
{
    type_view *a = &s->operands[0];
    const qp_fabric_semantics *semantics = s->semantics;

    if (!same_blocks(a, &s->operands[1]) || !same_blocks(a, &s->results[0]) || !is_number(a))
        return "the three must be vectors that differ in the leading dimension only";
    if (semantics->entry_count != s->results[0].dims[0])
        return "the mask must have one entry for each block of the result";
    uint64_t blocks = a->dims[0] + s->operands[1].dims[0]; /* each at most 2^20 */
    for (size_t i = 0; i < semantics->entry_count; i++) {
        int64_t entry = semantics->entries[i];
        if (entry < QP_FABRIC_POISON_BLOCK || (entry >= 0 && (uint64_t)entry >= blocks))
            return "a mask entry names no source block";
    }
    return NULL;
}

static const char *packed(type_view *vector, type_view *integer, uint32_t index_width)
{
    uint64_t bits;

    if (vector->rank == 0 || !is_number(vector) || !is_integer(integer) || integer->rank > 0)
        return "a vector on one side and an integer on the other are needed";
    return qp_fabric_payload_bits(vector, index_width, &bits) && bits == integer->width
               ? NULL
               : "the integer must be as wide as the vector";
}

const char *qp_fabric_types_pack(signature_view *s)
{
    return packed(&s->operands[0], &s->results[0], s->index_width);
}

const char *qp_fabric_types_unpack(signature_view *s)
{
    return packed(&s->results[0], &s->operands[0], s->index_width);
}

/* vector<NxT>, vector<Nxi1> and a phase. */
static const char *lane_group(type_view *group, type_view *element)
{
    if (!is_number(element) || element->rank > 0)
        return "the data must be a scalar integer, index or float";
    if (group[0].rank != 1 || !same_element(&group[0], element))
        return "the vector must have rank one and the data's element type";
    if (!is_bit(&group[1]) || !qp_fabric_same_shape(&group[0], &group[1]))
        return "the mask must be a vector of i1 with the vector's lanes";
    return is_scalar_bit(&group[2]) ? NULL : "the group phase must be i1";
}

const char *qp_fabric_types_parallelize(signature_view *s)
{
    if (!is_scalar_bit(&s->operands[1]))
        return "the scalar phase must be i1";
    return lane_group(s->results, &s->operands[0]);
}

const char *qp_fabric_types_serialize(signature_view *s)
{
    if (!is_scalar_bit(&s->results[1]))
        return "the scalar phase must be i1";
    return lane_group(s->operands, &s->results[0]);
}

/* ---- tokens ------------------------------------------------------------------------------- */

const char *qp_fabric_types_stream(signature_view *s)
{
    if (!same_operands(s) || !qp_fabric_same_type(&s->operands[0], &s->results[0]))
        return "init, limit, step and value must have one type";
    if (!is_integer(&s->operands[0]) || s->operands[0].rank > 0 || s->operands[0].width > 64)
        return "the type must be a scalar integer of at most 64 bits";
    return is_scalar_bit(&s->results[1]) ? NULL : "the phase must be i1";
}

/* carry and invariant: a phase, then values of one type. */
const char *qp_fabric_types_carry(signature_view *s)
{
    if (!is_scalar_bit(&s->operands[0]))
        return "the phase must be i1";
    for (size_t i = 1; i < s->operand_count; i++)
        if (!qp_fabric_same_type(&s->operands[i], &s->results[0]))
            return "the values and the result must have one type";
    return NULL;
}

const char *qp_fabric_types_gate(signature_view *s)
{
    if (!is_scalar_bit(&s->operands[0]) || !is_scalar_bit(&s->results[0]))
        return "the condition must be i1 on both sides";
    return qp_fabric_same_type(&s->operands[1], &s->results[1])
               ? NULL
               : "the value must have one type on both sides";
}

const char *qp_fabric_types_constant(signature_view *s)
{
    if (s->operands[0].kind != QP_FABRIC_NONE)
        return "the operand must be a control token (none)";
    return is_number(&s->results[0]) ? NULL : "a constant must be of integers, index or floats";
}

const char *qp_fabric_types_sync(signature_view *s)
{
    if (s->operand_count < 1 || s->operand_count != s->result_count)
        return "a sync has as many results as operands, at least one";
    for (size_t i = 0; i < s->operand_count; i++)
        if (!qp_fabric_same_type(&s->operands[i], &s->results[i]))
            return "each lane must have one type on both sides";
    return NULL;
}

/* The selector is i1 for two lanes and index for more; all lanes and `value` have one type. */
static const char *routed(type_view *selector, type_view *value, type_view *lanes, size_t count)
{
    if (count < 2)
        return "at least two lanes are needed";
    if (count == 2 ? !is_scalar_bit(selector)
                   : selector->kind != QP_FABRIC_INDEX || selector->rank > 0)
        return "the selector must be i1 for two lanes and index for more";
    for (size_t i = 0; i < count; i++)
        if (!qp_fabric_same_type(value, &lanes[i]))
            return "all lanes must have one type";
    return NULL;
}

const char *qp_fabric_types_mux(signature_view *s)
{
    if (s->operand_count < 3)
        return "a selector and at least two lanes are needed";
    return routed(&s->operands[0], &s->results[0], s->operands + 1, s->operand_count - 1);
}

const char *qp_fabric_types_demux(signature_view *s)
{
    return routed(&s->operands[0], &s->operands[1], s->results, s->result_count);
}
