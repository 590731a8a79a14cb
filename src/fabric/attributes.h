/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes.h - the attributes of actors in the text form (section 12's table), one row each.
 */
#ifndef QP_FABRIC_ATTRIBUTES_H
#define QP_FABRIC_ATTRIBUTES_H

#include "fabric/schema.h"

typedef enum qp_fabric_attribute_form {
    QP_FABRIC_ATTRIBUTE_MASK,     /* a list of flag words; 0 is as good as absent */
    QP_FABRIC_ATTRIBUTE_WORD,     /* one word */
    QP_FABRIC_ATTRIBUTE_FLAG,     /* bare */
    QP_FABRIC_ATTRIBUTE_POSITION, /* list of INT or '?' */
    QP_FABRIC_ATTRIBUTE_BLOCKS,   /* list of INT, -1 for poison */
    QP_FABRIC_ATTRIBUTE_VALUE     /* a constant */
} qp_fabric_attribute_form;

typedef struct qp_fabric_attribute {
    const char *name;
    qp_fabric_attribute_form form;
    bool required;
    bool rounding; /* only where the schema takes a rounding mode */
    const qp_fabric_vocabulary *words;
    size_t offset; /* of the uint32_t in qp_fabric_semantics, for masks and words */
} qp_fabric_attribute;

#define QP_FABRIC_ATTRIBUTES_MAX 2

/* By case: its attributes in the order of the table; a NULL name ends them. */
extern const qp_fabric_attribute qp_fabric_case_attributes[QP_FABRIC_CASE_COUNT]
                                                          [QP_FABRIC_ATTRIBUTES_MAX + 1];

#endif
