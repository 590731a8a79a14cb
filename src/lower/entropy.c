/* SPDX-License-Identifier: Apache-2.0 */
/* entropy.c - the form of entropy.json: afrac, edges, and one table an edge and a hyper channel. */
#include "lower/entropy.h"

#include "base/json.h"

/* An array whose every element is an integer. */
static qp_status check_integers(qp_json_value array, qp_error *error)
{
    qp_json_value element;
    int64_t ignored;
    qp_status status = qp_json_expect(array, QP_JSON_ARRAY, error);
    qp_json_iterator iterator = qp_json_iterate(array);
    while (status == QP_OK && qp_json_next(&iterator, &element))
        status = qp_json_get_i64(element, &ignored, error);
    return status;
}

static qp_status check_table(qp_json_value table, qp_error *error)
{
    qp_json_value value;
    int64_t ignored;
    qp_status status = qp_json_member(table, "cdf", QP_JSON_ARRAY, &value, error);
    if (status == QP_OK)
        status = check_integers(value, error);
    if (status == QP_OK)
        status = qp_json_member(table, "offset", QP_JSON_NUMBER, &value, error);
    return status == QP_OK ? qp_json_get_i64(value, &ignored, error) : status;
}

static qp_status check_tables(qp_json_value root, const char *name, size_t *count, qp_error *error)
{
    qp_json_value tables, table;
    qp_status status = qp_json_member(root, name, QP_JSON_ARRAY, &tables, error);
    if (status != QP_OK)
        return status;
    qp_json_iterator iterator = qp_json_iterate(tables);
    for (*count = 0; status == QP_OK && qp_json_next(&iterator, &table); ++*count)
        status = check_table(table, error);
    return status;
}

static qp_status check_members(qp_json_value root, const uint32_t *afrac, qp_error *error)
{
    qp_json_value value, edges;
    int64_t own;
    size_t n_y, n_z;

    qp_status status = qp_json_member(root, "afrac", QP_JSON_NUMBER, &value, error);
    if (status == QP_OK)
        status = qp_json_get_i64(value, &own, error);
    if (status == QP_OK && afrac != NULL && own != (int64_t)*afrac)
        status = qp_json_fail(value, error, "afrac is not the networks'");
    if (status == QP_OK)
        status = qp_json_member(root, "edges", QP_JSON_ARRAY, &edges, error);
    if (status == QP_OK)
        status = check_integers(edges, error);
    if (status == QP_OK)
        status = check_tables(root, "y", &n_y, error);
    if (status == QP_OK && n_y != qp_json_count(edges))
        status = qp_json_fail(edges, error, "there is not one \"y\" table an edge");
    return status == QP_OK ? check_tables(root, "z", &n_z, error) : status;
}

qp_status qp_entropy_check(qp_lower_job *job, const qp_cursor *text, const uint32_t *afrac)
{
    qp_json json;
    qp_json_init(&json, job->allocator);
    json.first_offset = text->base;
    qp_status status = qp_json_parse(&json, text->bytes, text->size, job->error);
    if (status == QP_OK)
        status = check_members(qp_json_root(&json), afrac, job->error);
    qp_json_free(&json);
    return status == QP_OK ? QP_OK : qp_lower_recode(job, status);
}

qp_status qp_entropy_member(qp_lower_job *job, const char *path, const uint32_t *afrac)
{
    const qp_member *member;
    qp_status status = qp_lower_member(job, path, &member);
    if (status != QP_OK)
        return status;
    qp_cursor text = qp_cursor_over(member);
    return qp_entropy_check(job, &text, afrac);
}
