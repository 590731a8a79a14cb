/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear.c - a grouped-integer matrix as a WHG1 graph (tensor-formats.md section 6,
 * integer-operators.md sections 5.2, 5.5 and 5.10): a split, a convolution and a sum for each group
 * of columns.
 */
#include "import/linear.h"

#include "lower/build.h"
#include "quipu/certify.h"

#define SCALE_BITS 24 /* 2^-24 is the smallest binary16 */

int64_t qp_linear_scale(uint16_t word)
{
    int64_t fraction = word & 0x3FF;
    unsigned exponent = word >> 10 & 0x1F;
    /* 2^24 * (1024 + fraction) * 2^(exponent - 25); of a subnormal 2^24 * fraction * 2^-24 */
    int64_t value = exponent == 0 ? fraction : (1024 + fraction) * ((int64_t)1 << (exponent - 1));
    return (word & 0x8000) != 0 ? -value : value;
}
_Static_assert(SCALE_BITS == 24, "qp_linear_scale multiplies by 2^24");

/* ---- one group ---------------------------------------------------------------------------- */

typedef struct linear {
    const qp_matrix *matrix;
    const qp_word_planes *words;
    qp_build build;
    int64_t *scales; /* of one group, a row each */
    qp_value input;
} linear;

static void load_scales(linear *l, uint32_t group)
{
    const uint8_t *scale = l->words->scales + 2 * (size_t)group;
    for (size_t row = 0; row < (size_t)l->matrix->rows; row++)
        l->scales[row] = qp_linear_scale(qp_load_u16(scale + row * l->matrix->scale_row_bytes));
}

/* conv: cout; a kernel and a stride of 1; no padding; one group; weights of a byte. */
static void put_head(const linear *l, qp_buffer *params)
{
    static const int64_t no_shift = 0;
    size_t rows = (size_t)l->matrix->rows;
    const qp_rq_values rq = {.round = QP_ROUND_FLOOR,
                             .mult_kind = QP_KIND_PER_CHANNEL,
                             .shift_kind = QP_KIND_ONE,
                             .mult_width = qp_build_width(l->scales, rows, 4),
                             .mult = l->scales,
                             .shift = &no_shift,
                             .channels = rows};
    static const uint8_t geometry[] = {1, 1, 1, 1, 0, 0, 1}; /* kh kw sh sw ph pw groups */
    qp_buffer_le(params, l->matrix->rows, 4);
    for (size_t i = 0; i < sizeof geometry; i++)
        qp_buffer_le(params, geometry[i], 4);
    qp_buffer_le(params, 1, 1);
    qp_writer_zeros(params, 3);
    qp_writer_rq(params, &rq);
}

/* The product of a group's columns with its part of the vector. */
static qp_value put_group(linear *l, uint32_t group)
{
    const qp_matrix *m = l->matrix;
    uint32_t first = group * m->format->group, columns = (uint32_t)m->columns - first;
    qp_value part = l->input;
    columns = columns < m->format->group ? columns : m->format->group;
    if (columns < l->input.channels)
        part = qp_build_split(&l->build, l->input, first, columns);
    load_scales(l, group);
    qp_value out = qp_build_tensor(&l->build, (uint32_t)m->rows, QP_LIMITS_DERIVED);
    qp_buffer *params = qp_build_begin(&l->build, "conv", &part, 1, out);
    put_head(l, params);
    for (size_t row = 0; row < (size_t)m->rows; row++)
        qp_buffer_append(params, l->words->codes + row * (size_t)m->code_row_bytes + first,
                         columns);
    qp_build_end(&l->build);
    return out;
}

/* ---- the graph ---------------------------------------------------------------------------- */

static qp_value put_groups(linear *l)
{
    uint32_t columns = (uint32_t)l->matrix->columns, size = l->matrix->format->group;
    qp_value sum = put_group(l, 0);
    for (uint32_t group = 1; group <= (columns - 1) / size; group++) {
        qp_value pair[2] = {sum, put_group(l, group)};
        qp_value out = qp_build_tensor(&l->build, sum.channels, QP_LIMITS_DERIVED);
        sum = qp_build_plain(&l->build, "add", pair, 2, out);
    }
    return sum;
}

qp_status qp_linear_graph(const qp_matrix *matrix, const qp_word_planes *words,
                          const qp_linear_options *options, qp_buffer *graph, qp_error *error)
{
    linear l = {.matrix = matrix, .words = words};
    size_t rows = (size_t)matrix->rows;
    qp_limits limits = {QP_CHECK, options->lo, options->hi};
    if (matrix->rows > QP_ELEMENTS_MAX || matrix->columns > QP_ELEMENTS_MAX)
        return qp_fail(error, QP_TOO_LARGE, "a side of the matrix passes a graph's cap");
    l.scales = qp_allocate(&graph->allocator, rows, sizeof *l.scales);
    if (l.scales == NULL)
        return qp_fail_memory(error, "the scales of a group");
    qp_build_init(&l.build, &graph->allocator);
    l.input = qp_build_input(&l.build, (uint32_t)matrix->columns, limits, 0, 0);
    qp_writer_output(&l.build.writer, put_groups(&l).tensor);
    qp_status status = qp_graph_writer_finish(&l.build.writer, QP_ELEMENTS_MAX, graph, error);
    qp_build_free(&l.build);
    qp_release(&graph->allocator, l.scales, rows, sizeof *l.scales);
    return status;
}

/* ---- the tensor --------------------------------------------------------------------------- */

/* The words of some rows. */
typedef struct room {
    qp_word_planes words;
    size_t codes, scales;
} room;

static bool bytes_of(uint64_t rows, uint64_t row_bytes, size_t *size)
{
    uint64_t bytes;
    if (!qp_mul_u64(rows, row_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    *size = (size_t)bytes;
    return true;
}

static void free_room(const qp_allocator *allocator, room *r)
{
    qp_release(allocator, r->words.scales, r->scales, 1);
    qp_release(allocator, r->words.codes, r->codes, 1);
}

static qp_status make_room(const qp_matrix *matrix, const qp_allocator *allocator, room *r,
                           qp_error *error)
{
    *r = (room){0};
    if (bytes_of(matrix->rows, matrix->code_row_bytes, &r->codes) &&
        bytes_of(matrix->rows, matrix->scale_row_bytes, &r->scales)) {
        r->words.codes = qp_allocate(allocator, r->codes, 1);
        r->words.scales = qp_allocate(allocator, r->scales, 1);
    }
    if (r->words.codes != NULL && r->words.scales != NULL)
        return QP_OK;
    free_room(allocator, r);
    return qp_fail_memory(error, "the words of a matrix");
}

/* Whether the graph loads and its certificate meets acc64. */
static qp_status certify(const qp_buffer *bytes, qp_error *error)
{
    qp_graph *graph;
    qp_certificate *certificate = NULL;
    qp_status status = qp_graph_load(bytes->bytes, bytes->size, &bytes->allocator, &graph, error);
    if (status != QP_OK)
        return status;
    status = qp_certify(graph, &bytes->allocator, &certificate, error);
    if (status == QP_OK)
        status = qp_certificate_require(certificate, QP_ACC64, NULL, 0, error);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    return status;
}

static qp_status check_request(const qp_artifact_tensor *tensor, const qp_linear_options *options,
                               qp_error *error)
{
    if (tensor->format == NULL || tensor->format->family != QP_FAMILY_GROUPED)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "the tensor is %.40s: a product is exact for the grouped-integer formats",
                       tensor->type);
    if (options->lo > options->hi)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the range of the vector ends before it begins");
    return QP_OK;
}

/* The rows asked for as a matrix of their own. */
static qp_status choose_rows(const qp_linear_options *options, qp_matrix *matrix, qp_error *error)
{
    if (options->rows == 0 && options->first_row == 0)
        return QP_OK;
    if (options->rows == 0 || options->first_row > matrix->rows ||
        options->rows > matrix->rows - options->first_row)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the tensor does not have these rows");
    matrix->rows = options->rows;
    return QP_OK;
}

/* The graph of the rows of `matrix`, which are in the tensor from `first_row` on. */
static qp_status make_graph(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                            const qp_linear_options *options, const qp_matrix *matrix,
                            qp_buffer *graph, qp_error *error)
{
    uint64_t first = options->first_row;
    room r;
    qp_status status = make_room(matrix, &graph->allocator, &r, error);
    if (status != QP_OK)
        return status;
    status = qp_artifact_words(artifact, tensor, first, matrix->rows, &r.words, error);
    if (status == QP_OK)
        status = qp_words_check(matrix, first, matrix->rows, &r.words, error);
    if (status == QP_OK)
        status = qp_linear_graph(matrix, &r.words, options, graph, error);
    free_room(&graph->allocator, &r);
    return status;
}

qp_status qp_import_linear(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                           const qp_linear_options *options, const qp_allocator *allocator,
                           void **graph, size_t *size, qp_error *error)
{
    qp_matrix matrix;
    qp_buffer bytes;
    *graph = NULL;
    *size = 0;
    qp_status status = check_request(tensor, options, error);
    if (status == QP_OK)
        status = qp_artifact_matrix(artifact, tensor, &matrix, error);
    if (status == QP_OK)
        status = choose_rows(options, &matrix, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&bytes, allocator);
    status = make_graph(artifact, tensor, options, &matrix, &bytes, error);
    if (status == QP_OK)
        status = certify(&bytes, error);
    if (status == QP_OK && (*graph = qp_buffer_take(&bytes, size)) == NULL)
        status = qp_fail_memory(error, "a graph");
    qp_buffer_free(&bytes);
    return status;
}
