/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocabulary.c - the words of the texts and their atoms (section 1.3), one list each.
 */
#include "fabric/type.h"

#define LIST(name, what_text, domain_text, base, ...)                                              \
    static const char *const name##_words[] = {__VA_ARGS__};                                       \
    const qp_fabric_vocabulary name = {what_text, domain_text, base,                               \
                                       sizeof name##_words / sizeof name##_words[0], name##_words}

LIST(qp_fabric_integer_predicates, "an integer predicate",
     "loom.dataflow.integer-compare-predicate", 0, "eq", "ne", "slt", "sle", "sgt", "sge", "ult",
     "ule", "ugt", "uge");
LIST(qp_fabric_float_predicates, "a float predicate", "loom.dataflow.float-compare-predicate", 0,
     "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
     "une", "uno", "true");
LIST(qp_fabric_roundings, "a rounding mode", "loom.dataflow.rounding-mode", 0, "to_nearest_even",
     "downward", "upward", "toward_zero", "to_nearest_away");
LIST(qp_fabric_tiers, "an accuracy tier", "loom.special-math-accuracy-tier", QP_FABRIC_TIER_TAG,
     "CorrectlyRounded", "Max1Ulp", "Max2Ulp", "Max4Ulp");
LIST(qp_fabric_steps, "a step kind", NULL, 0, "add", "sub", "mul", "sdiv", "udiv", "shl", "ashr",
     "lshr");
LIST(qp_fabric_fast_math, "a fast-math flag", NULL, 0, "reassoc", "nnan", "ninf", "nsz", "arcp",
     "contract", "afn");
LIST(qp_fabric_overflow, "an overflow flag", NULL, 0, "nsw", "nuw");
LIST(qp_fabric_nan_behaviors, "a NaN behavior", NULL, 0, "ieee", "number_preferred");
LIST(qp_fabric_subnormal_behaviors, "a subnormal behavior", NULL, 0, "preserve");
LIST(qp_fabric_zero_behaviors, "a signed-zero behavior", NULL, 0, "preserve", "ignore_sign");
LIST(qp_fabric_format_words, "a float format", NULL, 0, "f16", "bf16", "f32", "f64");

uint32_t qp_fabric_word_number(const qp_fabric_vocabulary *list, const char *word, size_t size)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strlen(list->words[i]) == size && memcmp(list->words[i], word, size) == 0)
            return i + 1;
    return 0;
}

const char *qp_fabric_word(const qp_fabric_vocabulary *list, uint32_t number)
{
    return number >= 1 && number <= list->count ? list->words[number - 1] : "?";
}

void qp_fabric_put_atom(qp_buffer *buffer, const qp_fabric_vocabulary *list, uint32_t number)
{
    qp_fabric_put_domain(buffer, list->domain, 1, 0);
    qp_fabric_put_u32(buffer, list->tag_base + number);
}

uint32_t qp_fabric_get_atom(const qp_fabric_vocabulary *list, const void *bytes, size_t size)
{
    qp_fabric_cursor cursor = qp_fabric_cursor_over(bytes, size);

    qp_fabric_expect_domain(&cursor, list->domain, 1, 0);
    uint32_t tag = qp_fabric_get_u32(&cursor);
    if (!qp_fabric_at_end(&cursor) || tag <= list->tag_base || tag - list->tag_base > list->count)
        return 0;
    return tag - list->tag_base;
}
