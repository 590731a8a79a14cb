/* SPDX-License-Identifier: Apache-2.0 */
/* entropy.c - an entropy.json made ready for E1 and E3 (docs/payloads.md, "Sets"). */
#include "base/json.h"
#include "codec/codec.h"

/* ---- modes -------------------------------------------------------------------------------- */

static bool is(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

qp_rans_modes qp_codec_modes(const qp_capability *capability)
{
    qp_rans_modes modes = {0};
    modes.table = is(capability->rans64_table, "t2") ? QP_RANS_T2 : QP_RANS_T4097;
    modes.escape = is(capability->rans64_escape, "strict") ? QP_RANS_STRICT : QP_RANS_LENIENT;
    modes.end = is(capability->rans64_end, "final_only") ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL;
    return modes;
}

/* ---- one list of tables ------------------------------------------------------------------- */

/* The integers of an array. Ownership: qp_release, in failure too. */
static qp_status read_integers(qp_json_value array, const qp_allocator *allocator, int64_t **values,
                               size_t *count, qp_error *error)
{
    *count = qp_json_count(array); /* each takes 2 bytes of the text at least */
    *values = qp_allocate(allocator, *count, sizeof **values);
    if (*values == NULL)
        return qp_fail_memory(error, "entropy tables");
    return qp_json_get_i64_array(array, *values, *count, error);
}

static void release_cdfs(const qp_allocator *allocator, qp_rans_cdf *cdfs, size_t count)
{
    for (size_t i = count; cdfs != NULL && i > 0; i--) {
        int64_t *values = (int64_t *)(uintptr_t)cdfs[i - 1].cdf.values;
        qp_release(allocator, values, cdfs[i - 1].cdf.count, sizeof *values);
    }
    qp_release(allocator, cdfs, count, sizeof *cdfs);
}

static qp_status read_cdf(qp_json_value table, const qp_allocator *allocator, qp_rans_cdf *cdf,
                          qp_error *error)
{
    qp_json_value value;
    int64_t *values = NULL;
    size_t count = 0;
    qp_status status = qp_json_member(table, "cdf", QP_JSON_ARRAY, &value, error);
    if (status == QP_OK)
        status = read_integers(value, allocator, &values, &count, error);
    cdf->cdf = (qp_integer_list){values, values == NULL ? 0 : count};
    if (status == QP_OK)
        status = qp_json_member(table, "offset", QP_JSON_NUMBER, &value, error);
    return status == QP_OK ? qp_json_get_i64(value, &cdf->offset, error) : status;
}

static qp_status read_tables(qp_json_value root, const char *name, const qp_rans_modes *modes,
                             const qp_allocator *allocator, qp_rans_tables **tables,
                             qp_error *error)
{
    qp_json_value array, table;
    qp_status status = qp_json_member(root, name, QP_JSON_ARRAY, &array, error);
    if (status != QP_OK)
        return status;
    size_t count = qp_json_count(array), next = 0;
    qp_rans_cdf *cdfs = qp_allocate(allocator, count, sizeof *cdfs);
    if (cdfs == NULL)
        return qp_fail_memory(error, "entropy tables");
    qp_json_iterator iterator = qp_json_iterate(array);
    while (status == QP_OK && qp_json_next(&iterator, &table))
        status = read_cdf(table, allocator, &cdfs[next++], error);
    if (status == QP_OK)
        status = qp_rans_tables_create(cdfs, count, modes, allocator, tables, error);
    release_cdfs(allocator, cdfs, count);
    return status;
}

/* ---- the file ----------------------------------------------------------------------------- */

static qp_status read_members(qp_json_value root, const qp_rans_modes *modes,
                              const qp_allocator *allocator, qp_entropy *entropy, qp_error *error)
{
    qp_json_value value;
    qp_status status = qp_json_member(root, "afrac", QP_JSON_NUMBER, &value, error);
    if (status == QP_OK)
        status = qp_json_get_i64(value, &entropy->afrac, error);
    if (status == QP_OK)
        status = qp_json_member(root, "edges", QP_JSON_ARRAY, &value, error);
    if (status == QP_OK)
        status = read_integers(value, allocator, &entropy->edges, &entropy->n_edges, error);
    if (status == QP_OK)
        status = qp_bucket_check(qp_entropy_edges(entropy), QP_BUCKET_CEIL, error);
    if (status == QP_OK)
        status = read_tables(root, "y", modes, allocator, &entropy->y, error);
    if (status == QP_OK && qp_rans_tables_count(entropy->y) != entropy->n_edges)
        status = qp_json_fail(value, error, "there is not one \"y\" table an edge");
    return status == QP_OK ? read_tables(root, "z", modes, allocator, &entropy->z, error) : status;
}

/* What does not parse is a set that does not fit. */
static qp_status recode(qp_status status, qp_error *error)
{
    if (status != QP_MALFORMED && status != QP_TOO_LARGE)
        return status;
    if (error != NULL)
        error->status = QP_MODEL_MISMATCH;
    return QP_MODEL_MISMATCH;
}

qp_status qp_entropy_read(const void *text, size_t size, const qp_rans_modes *modes,
                          const qp_allocator *allocator, qp_entropy *entropy, qp_error *error)
{
    qp_json json;
    *entropy = (qp_entropy){0};
    qp_json_init(&json, allocator);
    qp_status status = qp_json_parse(&json, text, size, error);
    if (status == QP_OK)
        status = read_members(qp_json_root(&json), modes, allocator, entropy, error);
    qp_json_free(&json);
    if (status != QP_OK)
        qp_entropy_free(allocator, entropy);
    return recode(status, error);
}

void qp_entropy_free(const qp_allocator *allocator, qp_entropy *entropy)
{
    qp_rans_tables_free(entropy->z);
    qp_rans_tables_free(entropy->y);
    qp_release(allocator, entropy->edges, entropy->n_edges, sizeof *entropy->edges);
    *entropy = (qp_entropy){0};
}
