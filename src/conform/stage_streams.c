/* SPDX-License-Identifier: Apache-2.0 */
/* stage_streams.c - vectors of rans64_decode and mans_decode. */
#include "conform/stage_line.h"

/* ---- rans64_decode ------------------------------------------------------------------------ */

static qp_status read_modes(const qp_stage_line *line, qp_rans_modes *modes, qp_error *error)
{
    static const char *const lenient[] = {"end", "escape", "table"};
    static const char *const strict[] = {"end", "escape", "hi", "lo", "table"};
    static const char *const ends[] = {"canonical", "final_only"};
    static const char *const escapes[] = {"lenient", "strict"};
    static const char *const tables[] = {"t4097", "t2"};
    bool is_strict = qp_json_count(line->modes) > 3;
    qp_json_value members[5];
    unsigned end = 0, escape = 0, table = 0;

    qp_status status = qp_line_members(line->modes, is_strict ? strict : lenient, is_strict ? 5 : 3,
                                       members, error);
    if (status == QP_OK)
        status = qp_stage_word(members[0], ends, 2, &end, error);
    if (status == QP_OK)
        status = qp_stage_word(members[1], escapes, 2, &escape, error);
    if (status == QP_OK && is_strict)
        status = qp_stage_integer(members[2], &modes->hi, error);
    if (status == QP_OK && is_strict)
        status = qp_stage_integer(members[3], &modes->lo, error);
    if (status == QP_OK)
        status = qp_stage_word(members[is_strict ? 4 : 2], tables, 2, &table, error);
    if (status == QP_OK && is_strict != (escape == 1))
        return qp_json_fail(line->modes, error, "lo and hi are members under strict, only");
    modes->end = end == 0 ? QP_RANS_CANONICAL : QP_RANS_FINAL_ONLY;
    modes->escape = is_strict ? QP_RANS_STRICT : QP_RANS_LENIENT;
    modes->table = table == 0 ? QP_RANS_T4097 : QP_RANS_T2;
    return status;
}

typedef struct rans_vector {
    qp_rans_modes modes;
    const uint8_t *stream;
    size_t size;
    qp_rans_cdf *cdfs;
    size_t n_cdfs;
    const uint32_t *reads;
    size_t count;
    int32_t *symbols;
} rans_vector;

static qp_status read_cdfs(qp_stage_line *line, qp_json_value value, rans_vector *v,
                           qp_error *error)
{
    static const char *const names[] = {"cdf", "offset"};
    qp_json_iterator each = qp_json_iterate(value);
    qp_json_value table, members[2];

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    if (status != QP_OK)
        return status;
    v->cdfs = qp_arena_allocate(line->arena, qp_json_count(value), sizeof *v->cdfs);
    if (v->cdfs == NULL)
        return qp_fail_memory(error, "tables");
    for (; status == QP_OK && qp_json_next(&each, &table); v->n_cdfs++) {
        qp_rans_cdf *cdf = &v->cdfs[v->n_cdfs];
        status = qp_line_members(table, names, 2, members, error);
        if (status == QP_OK)
            status = qp_stage_list(line, members[0], &cdf->cdf, error);
        if (status == QP_OK)
            status = qp_stage_integer(members[1], &cdf->offset, error);
    }
    return status;
}

static qp_status read_rans(qp_stage_line *line, rans_vector *v, qp_error *error)
{
    static const char *const names[] = {"reads", "stream", "tables"};
    qp_json_value members[3];
    qp_status status = qp_line_members(line->in, names, 3, members, error);
    if (status == QP_OK)
        status = read_modes(line, &v->modes, error);
    if (status == QP_OK)
        status = qp_stage_indices(line, members[0], &v->reads, &v->count, error);
    if (status == QP_OK)
        status = qp_stage_bytes(line, members[1], &v->stream, &v->size, error);
    if (status == QP_OK)
        status = read_cdfs(line, members[2], v, error);
    if (status != QP_OK)
        return status;
    v->symbols = qp_arena_allocate(line->arena, v->count, sizeof *v->symbols);
    return v->symbols != NULL ? QP_OK : qp_fail_memory(error, "symbols");
}

static qp_status decode_rans(const rans_vector *v, const qp_rans_tables *tables, qp_error *error)
{
    qp_rans_decoder decoder;
    qp_status status = qp_rans_decoder_init(&decoder, tables, v->stream, v->size, error);
    if (status == QP_OK)
        status = qp_rans_decode_run(&decoder, v->reads, v->count, v->symbols, error);
    return status == QP_OK ? qp_rans_finish(&decoder, error) : status;
}

qp_status qp_stage_run_rans64_decode(qp_stage_line *line, qp_error *error)
{
    rans_vector v = {0};
    qp_rans_tables *tables = NULL;
    qp_status status = read_rans(line, &v, error);
    if (status == QP_OK)
        status = qp_rans_tables_create(v.cdfs, v.n_cdfs, &v.modes, &line->arena->allocator, &tables,
                                       error);
    if (status == QP_OK)
        status = decode_rans(&v, tables, error);
    qp_rans_tables_free(tables);
    if (status != QP_OK)
        return status;
    int64_t *wide = qp_arena_allocate(line->arena, v.count, sizeof *wide);
    if (wide == NULL)
        return qp_fail_memory(error, "symbols");
    for (size_t i = 0; i < v.count; i++)
        wide[i] = v.symbols[i];
    qp_buffer_text(line->expect, "{\"symbols\":");
    qp_stage_put_list(line->expect, wide, v.count);
    qp_buffer_text(line->expect, "}");
    return QP_OK;
}

/* ---- mans_decode -------------------------------------------------------------------------- */

/* Appends the symbols of one span or row as an array; `is_first` of all. */
static qp_status put_symbols(qp_stage_line *line, const int16_t *symbols, size_t count,
                             bool is_first, qp_error *error)
{
    int64_t *wide = qp_arena_allocate(line->arena, count, sizeof *wide);
    if (wide == NULL)
        return qp_fail_memory(error, "symbols");
    for (size_t i = 0; i < count; i++)
        wide[i] = symbols[i];
    qp_buffer_text(line->expect, is_first ? "{\"symbols\":[" : ",");
    qp_stage_put_list(line->expect, wide, count);
    return QP_OK;
}

typedef struct sgm_vector {
    const uint8_t *stream;
    size_t size;
    const qp_integer_list *pmf;
    size_t n_pmf;
    qp_integer_list bounds;
    qp_mans_span *spans;
    size_t n_spans;
    bool uneven; /* a span with as many masks as distributions is one of one length */
} sgm_vector;

static qp_status read_mask(qp_stage_line *line, qp_json_value value, qp_mans_span *span,
                           qp_error *error)
{
    qp_json_iterator each = qp_json_iterate(value);
    qp_json_value element;
    size_t n = 0;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    if (status != QP_OK)
        return status;
    span->length = qp_json_count(value);
    uint8_t *mask = qp_arena_allocate(line->arena, span->length, 1);
    if (mask == NULL)
        return qp_fail_memory(error, "a mask");
    while (status == QP_OK && qp_json_next(&each, &element)) {
        bool is_set = false;
        status = qp_json_get_bool(element, &is_set, error);
        mask[n++] = is_set;
    }
    span->mask = mask;
    return status;
}

static qp_status read_spans(qp_stage_line *line, qp_json_value value, sgm_vector *v,
                            qp_error *error)
{
    static const char *const names[] = {"mask", "sigma"};
    qp_json_iterator each = qp_json_iterate(value);
    qp_json_value element, members[2];

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    if (status != QP_OK)
        return status;
    v->spans = qp_arena_allocate(line->arena, qp_json_count(value), sizeof *v->spans);
    if (v->spans == NULL)
        return qp_fail_memory(error, "spans");
    for (; status == QP_OK && qp_json_next(&each, &element); v->n_spans++) {
        qp_mans_span *span = &v->spans[v->n_spans];
        size_t n_sigma = 0;
        status = qp_line_members(element, names, 2, members, error);
        if (status == QP_OK)
            status = read_mask(line, members[0], span, error);
        if (status == QP_OK)
            status = qp_stage_indices(line, members[1], &span->sigma, &n_sigma, error);
        v->uneven = v->uneven || n_sigma != span->length;
    }
    return status;
}

static qp_status read_sgm(qp_stage_line *line, sgm_vector *v, qp_error *error)
{
    static const char *const names[] = {"bounds", "memory", "mode", "pmf", "spans"};
    qp_json_value members[5];
    qp_status status = qp_line_members(line->in, names, 5, members, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[0], &v->bounds, error);
    if (status == QP_OK)
        status = qp_stage_bytes(line, members[1], &v->stream, &v->size, error);
    if (status == QP_OK)
        status = qp_stage_lists(line, members[3], &v->pmf, &v->n_pmf, error);
    return status == QP_OK ? read_spans(line, members[4], v, error) : status;
}

/* Every operand first, then the window. */
static qp_status decode_sgm(qp_stage_line *line, const sgm_vector *v,
                            const qp_mans_latents *latents, qp_error *error)
{
    qp_mans_decoder decoder;
    qp_status status = QP_OK;
    if (v->uneven)
        return qp_fail(error, QP_MODEL_MISMATCH, "a mask and its distributions differ in length");
    for (size_t i = 0; status == QP_OK && i < v->n_spans; i++)
        status = qp_mans_span_check(latents, &v->spans[i], error);
    if (status == QP_OK)
        status = qp_mans_decoder_init(&decoder, v->stream, v->size, error);
    for (size_t i = 0; status == QP_OK && i < v->n_spans; i++) {
        int16_t *symbols = qp_arena_allocate(line->arena, v->spans[i].length, sizeof *symbols);
        if (symbols == NULL)
            return qp_fail_memory(error, "symbols");
        status = qp_mans_decode_span(&decoder, latents, &v->spans[i], symbols, error);
        if (status == QP_OK)
            status = put_symbols(line, symbols, v->spans[i].length, i == 0, error);
    }
    return status;
}

static qp_status run_sgm(qp_stage_line *line, size_t *count, qp_error *error)
{
    sgm_vector v = {0};
    qp_mans_latents *latents = NULL;
    qp_status status = read_sgm(line, &v, error);
    if (status == QP_OK)
        status = qp_mans_latents_create(v.pmf, v.n_pmf, v.bounds, &line->arena->allocator, &latents,
                                        error);
    if (status == QP_OK)
        status = decode_sgm(line, &v, latents, error);
    qp_mans_latents_free(latents);
    *count = v.n_spans;
    return status;
}

typedef struct fac_vector {
    const uint8_t *stream;
    size_t size;
    const qp_integer_list *counts;
    size_t n_rows;
    qp_integer_list lengths;
    qp_mans_row *rows;
} fac_vector;

static qp_status read_fac(qp_stage_line *line, fac_vector *v, qp_error *error)
{
    static const char *const names[] = {"lengths", "memory", "mode", "rows"};
    qp_json_value members[4];
    qp_status status = qp_line_members(line->in, names, 4, members, error);
    if (status == QP_OK)
        status = qp_stage_list(line, members[0], &v->lengths, error);
    if (status == QP_OK)
        status = qp_stage_bytes(line, members[1], &v->stream, &v->size, error);
    if (status == QP_OK)
        status = qp_stage_lists(line, members[3], &v->counts, &v->n_rows, error);
    if (status != QP_OK)
        return status;
    v->rows = qp_arena_allocate(line->arena, v->n_rows, sizeof *v->rows);
    return v->rows != NULL ? QP_OK : qp_fail_memory(error, "rows");
}

static qp_status check_fac(const qp_stage_line *line, const fac_vector *v, qp_error *error)
{
    uint64_t symbols = 0;
    if (v->lengths.count != v->n_rows)
        return qp_fail(error, QP_MODEL_MISMATCH, "there is not one length for each row");
    for (size_t i = 0; i < v->n_rows; i++) {
        qp_status status = qp_mans_row_make(v->counts[i], &v->rows[i], error);
        if (status != QP_OK)
            return status;
    }
    for (size_t i = 0; i < v->n_rows; i++) {
        if (v->lengths.values[i] < 0)
            return qp_fail(error, QP_MODEL_MISMATCH, "a row of a negative length");
        if (!qp_add_u64(symbols, (uint64_t)v->lengths.values[i], &symbols))
            symbols = UINT64_MAX;
    }
    return qp_stage_room(line, symbols, error);
}

static qp_status run_fac(qp_stage_line *line, size_t *count, qp_error *error)
{
    fac_vector v = {0};
    qp_mans_decoder decoder;
    qp_status status = read_fac(line, &v, error);
    if (status == QP_OK)
        status = check_fac(line, &v, error);
    if (status == QP_OK)
        status = qp_mans_decoder_init(&decoder, v.stream, v.size, error);
    for (size_t i = 0; status == QP_OK && i < v.n_rows; i++) {
        size_t length = (size_t)v.lengths.values[i];
        int16_t *symbols = qp_arena_allocate(line->arena, length, sizeof *symbols);
        if (symbols == NULL)
            return qp_fail_memory(error, "symbols");
        status = qp_mans_decode_row(&decoder, &v.rows[i], length, symbols, error);
        if (status == QP_OK)
            status = put_symbols(line, symbols, length, i == 0, error);
    }
    *count = v.n_rows;
    return status;
}

qp_status qp_stage_run_mans_decode(qp_stage_line *line, qp_error *error)
{
    static const char *const words[] = {"sgm", "fac"};
    qp_json_value mode;
    unsigned index = 0;
    size_t parts = 0;

    qp_status status = qp_json_member(line->in, "mode", QP_JSON_STRING, &mode, error);
    if (status == QP_OK)
        status = qp_stage_word(mode, words, 2, &index, error);
    if (status == QP_OK)
        status = index == 0 ? run_sgm(line, &parts, error) : run_fac(line, &parts, error);
    if (status == QP_OK)
        qp_buffer_text(line->expect, parts == 0 ? "{\"symbols\":[]}" : "]}");
    return status;
}
