/* SPDX-License-Identifier: Apache-2.0 */
/* stage_values.c - vectors of the stage operators from integers to integers: E2 to E7 and E9. */
#include "conform/stage_line.h"

qp_status qp_stage_run_dequantize(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"base", "f", "sym"};
    int64_t in[3], value = 0;
    qp_status status = qp_stage_integers(line, names, 3, in, error);
    if (status == QP_OK)
        status = qp_dequantize(in[2], in[1], in[0], &value, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "value", value);
    return status;
}

qp_status qp_stage_run_bucket(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"edges", "sigma"}, *const mode[] = {"bucket"};
    static const char *const words[] = {"ceil", "floor"};
    qp_json_value members[2], rule_value;
    qp_integer_list edges;
    int64_t sigma = 0;
    unsigned word = 0;

    qp_status status = qp_line_members(line->modes, mode, 1, &rule_value, error);
    if (status == QP_OK)
        status = qp_stage_word(rule_value, words, 2, &word, error);
    if (status == QP_OK)
        status = qp_line_members(line->in, names, 2, members, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[0], &edges, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[1], &sigma, error);
    qp_bucket_rule rule = word == 0 ? QP_BUCKET_CEIL : QP_BUCKET_FLOOR;
    if (status == QP_OK)
        status = qp_bucket_check(edges, rule, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "index", (int64_t)qp_bucket(sigma, edges, rule));
    return status;
}

qp_status qp_stage_run_coded(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"thr", "v"};
    int64_t in[2];
    qp_status status = qp_stage_integers(line, names, 2, in, error);
    if (status == QP_OK)
        qp_buffer_format(line->expect, "{\"coded\":%s}", qp_coded(in[1], in[0]) ? "true" : "false");
    return status;
}

qp_status qp_stage_run_scale_index(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"n", "s", "v"};
    int64_t in[3], index = 0;
    qp_status status = qp_stage_integers(line, names, 3, in, error);
    if (status == QP_OK)
        status = qp_scale_index(in[2], in[1], in[0], &index, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "index", index);
    return status;
}

qp_status qp_stage_run_block_stat(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"b", "hi", "lo", "s", "x"};
    qp_json_value members[5];
    qp_stage_tensor x = {0};
    qp_block_rule rule = {0};
    int64_t *parts[] = {&rule.b, &rule.hi, &rule.lo, &rule.s};

    qp_status status = qp_line_members(line->in, names, 5, members, error);
    for (size_t i = 0; status == QP_OK && i < 4; i++)
        status = qp_stage_integer(members[i], parts[i], error);
    if (status == QP_OK)
        status = qp_stage_tensor_of(line, members[4], &x, error);
    if (status != QP_OK)
        return status;
    int64_t *out = qp_arena_allocate(line->arena, x.data.count, sizeof *out);
    if (out == NULL)
        return qp_fail_memory(error, "a tensor");
    qp_array array = {x.data.values, QP_INT64, x.channels, x.height, x.width};
    status = qp_block_stat(&array, &rule, out, error);
    if (status == QP_OK)
        qp_stage_put_tensor(line, out, (const uint32_t[]){x.channels, x.height, x.width});
    return status;
}

qp_status qp_stage_run_band_lookup(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"edges", "row", "table", "v"};
    qp_json_value members[4];
    qp_band_table table = {0};
    int64_t row = 0, v = 0, value = 0;

    qp_status status = qp_line_members(line->in, names, 4, members, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[0], &table.edges, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[1], &row, error);
    if (status == QP_OK)
        status = qp_stage_lists(line, members[2], &table.rows, &table.n_rows, error);
    if (status == QP_OK)
        status = qp_stage_integer(members[3], &v, error);
    if (status == QP_OK)
        status = qp_band_lookup(v, &table, row, &value, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "value", value);
    return status;
}

qp_status qp_stage_run_residual_step(qp_stage_line *line, qp_error *error)
{
    static const char *const names[] = {"hi", "lo", "pred", "q", "r"};
    int64_t in[5], value = 0;
    qp_status status = qp_stage_integers(line, names, 5, in, error);
    if (status != QP_OK)
        return status;
    qp_residual residual = {.q = in[3], .lo = in[1], .hi = in[0]};
    status = qp_residual_step(&residual, in[2], in[4], &value, error);
    if (status == QP_OK)
        qp_stage_put_value(line, "value", value);
    return status;
}
