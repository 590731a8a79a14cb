/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpegai_members.c - the weight files of integer-operators.md section 13.6.2: members of kind conv
 * and q16, each of which must be whole whether a graph reads it or not.
 */
#include "lower/cursor.h"
#include "lower/jpegai.h"

#include <stdio.h>

static const qp_range any_i64 = {INT64_MIN, INT64_MAX};
static const qp_range any_shift = {0, QP_SHIFT_MAX};
static const qp_range not_negative = {0, INT64_MAX};

/* ---- the kinds ---------------------------------------------------------------------------- */

static bool is_kind(qp_json_value member, const char *kind)
{
    qp_json_value value;
    return qp_json_kind_of(member) == QP_JSON_OBJECT && qp_json_find(member, "kind", &value) &&
           qp_json_equals(value, kind);
}

static qp_status check_integers(qp_lower_job *job, qp_json_value array, size_t *count)
{
    qp_json_iterator iterator = qp_json_iterate(array);
    qp_json_value element;
    int64_t ignored;
    for (*count = 0; qp_json_next(&iterator, &element); ++*count) {
        qp_status status = qp_value_read(job, element, any_i64, &ignored);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

/* The product of the dims. Once 0 it stays 0, and one past 64 bits is no array's count. */
static qp_status multiply_dims(qp_lower_job *job, qp_json_value dims, uint64_t *product)
{
    qp_json_iterator iterator = qp_json_iterate(dims);
    qp_json_value element;
    bool has_zero = false;
    *product = 1;
    while (qp_json_next(&iterator, &element)) {
        int64_t dim;
        qp_status status = qp_value_read(job, element, not_negative, &dim);
        if (status != QP_OK)
            return status;
        has_zero |= dim == 0;
        *product = qp_product(*product, dim == 0 ? 1 : (uint64_t)dim, 1, 1);
    }
    if (has_zero)
        *product = 0;
    return QP_OK;
}

static qp_status check_conv(qp_lower_job *job, qp_json_value member)
{
    qp_json_value dims, w, value;
    uint64_t product;
    size_t count = 0;
    int64_t ignored;
    qp_status status = qp_value_member(job, member, "dims", QP_JSON_ARRAY, &dims);
    if (status == QP_OK)
        status = multiply_dims(job, dims, &product);
    if (status == QP_OK)
        status = qp_value_member(job, member, "w", QP_JSON_ARRAY, &w);
    if (status == QP_OK)
        status = check_integers(job, w, &count);
    if (status == QP_OK && count != product)
        status = qp_value_refuse(job, w, "there are not as many weights as the dims multiply to");
    if (status == QP_OK)
        status = qp_value_member(job, member, "mult", QP_JSON_NUMBER, &value);
    if (status == QP_OK)
        status = qp_value_read(job, value, any_i64, &ignored);
    if (status == QP_OK)
        status = qp_value_member(job, member, "shift", QP_JSON_NUMBER, &value);
    return status == QP_OK ? qp_value_read(job, value, any_shift, &ignored) : status;
}

static qp_status check_q16(qp_lower_job *job, qp_json_value member)
{
    qp_json_value v;
    size_t count;
    qp_status status = qp_value_member(job, member, "v", QP_JSON_ARRAY, &v);
    return status == QP_OK ? check_integers(job, v, &count) : status;
}

static qp_status check_file(qp_lower_job *job, qp_json_value root)
{
    qp_json_value name, member;
    qp_status status = qp_json_expect(root, QP_JSON_OBJECT, job->error);
    if (status != QP_OK)
        return qp_lower_recode(job, status);
    qp_json_iterator iterator = qp_json_iterate(root);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &member)) {
        if (is_kind(member, "conv"))
            status = check_conv(job, member);
        else if (is_kind(member, "q16"))
            status = check_q16(job, member);
    }
    return status;
}

/* ---- the open file ------------------------------------------------------------------------ */

void qp_jpegai_begin(qp_jpegai *j, qp_lower_job *job)
{
    *j = (qp_jpegai){.job = job, .status = QP_OK};
    qp_build_init(&j->build, job->allocator);
    qp_json_init(&j->json, job->allocator);
}

void qp_jpegai_open(qp_jpegai *j, const char *path)
{
    const qp_member *member;
    if (j->status == QP_OK)
        j->status = qp_lower_member(j->job, path, &member);
    if (j->status != QP_OK)
        return;
    j->status = qp_json_parse(&j->json, member->bytes, member->size, j->job->error);
    if (j->status == QP_OK)
        j->status = check_file(j->job, qp_json_root(&j->json));
    else
        j->status = qp_lower_recode(j->job, j->status);
}

qp_status qp_jpegai_end(qp_jpegai *j, const char *role, qp_value output)
{
    qp_json_free(&j->json);
    if (j->status == QP_OK)
        j->status = qp_build_finish(j->job, &j->build, role, output);
    qp_build_free(&j->build);
    return j->status;
}

void qp_jpegai_refuse(qp_jpegai *j, const char *text)
{
    if (j->status == QP_OK)
        j->status = qp_lower_refuse(j->job, -1, "%s", text);
}

/* ---- members ------------------------------------------------------------------------------ */

qp_module qp_jpegai_module(const char *module, const char *rest)
{
    qp_module name;
    snprintf(name.text, sizeof name.text, "%.40s%.38s", module, rest);
    return name;
}

/* The member of a kind; one that is not there, or of the other kind, is refused. */
static qp_json_value find(qp_jpegai *j, const char *name, const char *kind)
{
    qp_json_value member = QP_JSON_NO_VALUE;
    if (j->status != QP_OK)
        return member;
    bool found = qp_json_find(qp_json_root(&j->json), name, &member);
    if (!found || !is_kind(member, kind))
        j->status = qp_lower_refuse(j->job, -1, "there is no member %.80s of kind %s", name, kind);
    return member;
}

static qp_json_value part(qp_json_value member, const char *name)
{
    qp_json_value value;
    qp_json_find(member, name, &value); /* check_file has seen it */
    return value;
}

/* An integer of a member, 0 after a refusal. */
static int64_t number(qp_jpegai *j, qp_json_value member, const char *name)
{
    int64_t value = 0;
    if (j->status == QP_OK)
        j->status = qp_value_read(j->job, part(member, name), any_i64, &value);
    return value;
}

qp_values qp_jpegai_q16(qp_jpegai *j, const char *name, uint64_t count)
{
    qp_values values = {0};
    qp_json_value member = find(j, name, "q16");
    if (j->status == QP_OK)
        j->status = qp_values_read(j->job, part(member, "v"), count, any_i64, &values);
    return values;
}

qp_values qp_jpegai_bias(qp_jpegai *j, const char *module, uint64_t count, bool *found)
{
    qp_module name = qp_jpegai_module(module, ".bias");
    qp_json_value member = QP_JSON_NO_VALUE;
    *found = j->status == QP_OK && qp_json_find(qp_json_root(&j->json), name.text, &member) &&
             (is_kind(member, "q16") || is_kind(member, "conv"));
    return *found ? qp_jpegai_q16(j, name.text, count) : (qp_values){0};
}

qp_jpegai_conv qp_jpegai_weights(qp_jpegai *j, const char *module)
{
    qp_jpegai_conv conv = {{0}, {0}, 0, 0};
    qp_values dims = {0};
    qp_module name = qp_jpegai_module(module, ".weight");
    qp_json_value member = find(j, name.text, "conv");
    if (j->status == QP_OK)
        j->status = qp_values_read(j->job, part(member, "dims"), 4, not_negative, &dims);
    for (size_t i = 0; i < dims.count; i++)
        conv.dims[i] = (uint64_t)dims.at[i];
    qp_values_free(j->job, &dims);
    conv.mult = number(j, member, "mult");
    conv.shift = number(j, member, "shift");
    if (j->status == QP_OK) {
        qp_json_value w = part(member, "w");
        j->status = qp_values_read(j->job, w, qp_json_count(w), any_i64, &conv.weights);
    }
    return conv;
}

int64_t qp_jpegai_shift(qp_jpegai *j, const char *module)
{
    qp_module name = qp_jpegai_module(module, ".weight");
    qp_json_value member = find(j, name.text, "conv");
    return number(j, member, "shift");
}
