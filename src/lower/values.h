/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - arrays of integers in the JSON files of sets.
 */
#ifndef QP_LOWER_VALUES_H
#define QP_LOWER_VALUES_H

#include "base/json.h"
#include "lower/lower.h"

/* Integers taken from a file. Ownership: qp_values_free. */
typedef struct qp_values {
    int64_t *at;
    size_t count;
} qp_values;

/* An array of exactly `count` integers in [lo, hi]. Nothing is allocated before the array is known
 * to hold that many elements. */
qp_status qp_values_read(qp_lower_job *job, qp_json_value array, uint64_t count, qp_range range,
                         qp_values *values);
void qp_values_free(const qp_lower_job *job, qp_values *values);

/* An integer in [lo, hi]. */
qp_status qp_value_read(qp_lower_job *job, qp_json_value value, qp_range range, int64_t *result);

/* The member of an object that must be there and of that kind. */
qp_status qp_value_member(qp_lower_job *job, qp_json_value object, const char *name,
                          qp_json_kind kind, qp_json_value *value);

/* Refuses at a value: "FILE: line 3, column 7: " and the text. */
qp_status qp_value_refuse(qp_lower_job *job, qp_json_value value, const char *text);

#endif
