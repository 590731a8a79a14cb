/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.c - quipu tensor: one tensor's raw bytes. Values or words on one side, the bytes of a
 * layout on the other.
 */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/weights.h"

#include <inttypes.h>

typedef struct options {
    const char *action, *in, *out;
    const char *format, *layout, *shape, *method, *divisors, *importance;
    bool words, negative_scales;
} options;

/* ---- arguments ---------------------------------------------------------------------------- */

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *extra = NULL;
    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--words"))
            o->words = true;
        else if (qp_args_flag(&args, "--negative-scales"))
            o->negative_scales = true;
        else if (qp_args_value(&args, "--format", &o->format) ||
                 qp_args_value(&args, "--layout", &o->layout) ||
                 qp_args_value(&args, "--shape", &o->shape) ||
                 qp_args_value(&args, "--method", &o->method) ||
                 qp_args_value(&args, "--importance", &o->importance) ||
                 qp_args_value(&args, "--divisors", &o->divisors) ||
                 qp_args_value(&args, "-o", &o->out))
            continue;
        else if (!qp_args_positional(&args, o->action == NULL ? &o->action
                                            : o->in == NULL   ? &o->in
                                            : o->out == NULL  ? &o->out
                                                              : &extra))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (o->action == NULL || (strcmp(o->action, "encode") != 0 && strcmp(o->action, "decode") != 0))
        return qp_cli_usage("tensor", "encode or decode comes first");
    if (o->in == NULL || o->out == NULL || extra != NULL)
        return qp_cli_usage("tensor", "one input and one output are needed");
    if (o->format == NULL || o->shape == NULL)
        return qp_cli_usage("tensor", "--format and --shape are needed");
    return QP_EXIT_OK;
}

/* "3,512"; "" is the shape of a scalar. */
static bool read_shape(const char *text, uint64_t shape[QP_SHAPE_RANK_MAX], uint32_t *rank)
{
    *rank = 0;
    while (*text != '\0') {
        char number[24];
        int64_t value;
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof number || *rank == QP_SHAPE_RANK_MAX)
            return false;
        memcpy(number, text, length);
        number[length] = '\0';
        if (!qp_cli_i64(number, &value) || value < 1)
            return false;
        shape[(*rank)++] = (uint64_t)value;
        text += length;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return true;
}

static qp_status plan(const options *o, uint64_t divisors, qp_matrix *matrix, qp_error *error)
{
    const qp_format *format = qp_format_find(o->format);
    const qp_storage_layout *layout = o->layout == NULL ? NULL : qp_layout_find(o->layout);
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint32_t rank;
    if (format == NULL)
        return qp_fail_check(error, QP_INVALID_ARGUMENT, "C-GEOM", -1,
                             "there is no format '%.60s'; 'quipu formats' lists them", o->format);
    if (o->layout != NULL && layout == NULL)
        return qp_fail_check(error, QP_INVALID_ARGUMENT, "C-GEOM", -1,
                             "there is no layout '%.60s'; 'quipu formats' lists them", o->layout);
    if (!read_shape(o->shape, shape, &rank))
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "'%.60s' is no shape: positive numbers with commas between, as 3,512",
                       o->shape);
    return qp_matrix_plan(format, layout, shape, rank, divisors, matrix, error);
}

/* --divisors is a number of them where words are given or taken, whose planes hold them. */
static int read_divisors(const options *o, uint64_t *divisors)
{
    int64_t value = 1;
    if (o->divisors != NULL && (!qp_cli_i64(o->divisors, &value) || value < 1))
        return qp_cli_usage("tensor", "--divisors is a number of them, at least 1");
    *divisors = (uint64_t)value;
    return QP_EXIT_OK;
}

/* ---- the word form ------------------------------------------------------------------------ */

static qp_status fail_size(const char *what, size_t given, uint64_t wanted, qp_error *error)
{
    return qp_fail(error, QP_MALFORMED, "%s: %zu bytes are given, %" PRIu64 " are needed", what,
                   given, wanted);
}

/* The planes of a word file follow one another: codes, scales, divisors. */
static qp_status take_words(const qp_matrix *matrix, const qp_file *in, qp_words_room *room,
                            qp_error *error)
{
    uint64_t wanted;
    if (!qp_mul_u64(matrix->rows, matrix->code_row_bytes + matrix->scale_row_bytes, &wanted))
        return fail_size("the words", in->size, UINT64_MAX, error);
    wanted += matrix->format->family == QP_FAMILY_NVFP4 ? 4 * matrix->divisors : 0;
    if (in->size != wanted)
        return fail_size("the words", in->size, wanted, error);
    qp_status status = qp_words_room_make(matrix, matrix->rows, room, error);
    if (status != QP_OK)
        return status;
    memcpy(room->words.codes, in->bytes, room->codes);
    memcpy(room->words.scales, in->bytes + room->codes, room->scales);
    memcpy(room->words.divisors, in->bytes + room->codes + room->scales, room->divisors);
    return qp_words_check(matrix, 0, matrix->rows, &room->words, error);
}

static void put_words(const qp_words_room *room, qp_buffer *out)
{
    qp_buffer_append(out, room->words.codes, room->codes);
    qp_buffer_append(out, room->words.scales, room->scales);
    qp_buffer_append(out, room->words.divisors, room->divisors);
}

/* ---- encoding ----------------------------------------------------------------------------- */

/* Without --method: what keeps the values, else what the format's family is written with. */
static const qp_method *usual_method(const qp_format *format)
{
    for (size_t i = 0; i < qp_method_count(); i++) {
        const qp_method *method = qp_method_at(i);
        if (method->input != QP_INPUT_ENCODED && method->targets(format))
            return method;
    }
    return NULL;
}

static qp_status find_method(const options *o, const qp_matrix *matrix, const qp_method **method,
                             qp_error *error)
{
    *method = o->method == NULL ? usual_method(matrix->format) : qp_method_find(o->method);
    if (*method != NULL && (*method)->input == QP_INPUT_ENCODED)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%s takes words, not values: give them with --words", (*method)->name);
    if (*method != NULL)
        return QP_OK;
    if (o->method != NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "there is no method '%.60s'; 'quipu formats methods' lists them", o->method);
    return qp_fail_check(error, QP_INVALID_ARGUMENT, "method_target", -1,
                         "no method turns values into %s; --words takes its words",
                         matrix->format->name);
}

static void load_floats(const uint8_t *bytes, size_t count, float *values)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = qp_load_u32(bytes + 4 * i);
        memcpy(&values[i], &word, sizeof word);
    }
}

/* A vector of binary32, a weight a column. Ownership: qp_release, as `columns` floats. */
static qp_status read_importance(const options *o, const qp_matrix *matrix, float **importance,
                                 qp_error *error)
{
    qp_file file;
    *importance = NULL;
    if (o->importance == NULL)
        return QP_OK;
    qp_status status = qp_cli_read(o->importance, &file, error);
    if (status != QP_OK)
        return status;
    if (file.size % 4 != 0 || file.size / 4 != matrix->columns)
        status = qp_fail_check(error, QP_FIELD_RANGE, "importance_length", -1,
                               "the importance vector has %zu weights, a row %" PRIu64 " columns",
                               file.size / 4, matrix->columns);
    else if ((*importance = qp_allocate(NULL, file.size / 4, sizeof(float))) == NULL)
        status = qp_fail_memory(error, "an importance vector");
    else
        load_floats(file.bytes, file.size / 4, *importance);
    qp_file_close(&file);
    return status;
}

static qp_status encode_values(const qp_method_job *job, const qp_file *in, qp_words_room *room,
                               qp_error *error)
{
    const qp_matrix *matrix = job->target;
    size_t count = in->size / 4;
    qp_weights_encoding e = {.job = *job, .rows = {.count = matrix->rows, .elements = in->bytes}};
    qp_status status = qp_words_room_make(matrix, matrix->rows, room, error);
    if (status != QP_OK)
        return status;
    float *values = qp_allocate(NULL, count, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "the values of a tensor");
    load_floats(in->bytes, count, values);
    e.rows.values = values;
    e.rows.words = room->words;
    status = qp_weights_prepare(&e, error);
    if (status == QP_OK)
        status = qp_weights_encode(&e, matrix->rows, error);
    qp_weights_encoding_free(&e);
    qp_release(NULL, values, count, sizeof *values);
    return status;
}

static qp_status take_values(const options *o, const qp_matrix *matrix, const qp_file *in,
                             qp_words_room *room, qp_error *error)
{
    uint64_t count;
    float *importance;
    qp_method_job job = {.target = matrix,
                         .negative_scales = o->negative_scales,
                         .cpu = qp_cpu_features(),
                         .element = qp_element_find("F32")};
    if (!qp_mul_u64(matrix->rows, matrix->columns, &count))
        count = UINT64_MAX;
    if (in->size % 4 != 0 || in->size / 4 != count)
        return fail_size("the values", in->size, count > UINT64_MAX / 4 ? UINT64_MAX : 4 * count,
                         error);
    qp_status status = find_method(o, matrix, &job.method, error);
    if (status == QP_OK)
        status = read_importance(o, matrix, &importance, error);
    if (status != QP_OK)
        return status;
    job.importance = importance;
    status = encode_values(&job, in, room, error);
    qp_release(NULL, importance, (size_t)matrix->columns, sizeof *importance);
    return status;
}

static qp_status encode(const options *o, const qp_matrix *matrix, const qp_file *in,
                        qp_buffer *out, qp_error *error)
{
    qp_words_room room = {0};
    size_t size;
    qp_status status =
        o->words ? take_words(matrix, in, &room, error) : take_values(o, matrix, in, &room, error);
    if (status == QP_OK)
        status = qp_weights_size(matrix->bytes, "an encoded tensor", &size, error);
    if (status == QP_OK && !qp_buffer_reserve(out, size))
        status = qp_fail_memory(error, "an encoded tensor");
    if (status == QP_OK) {
        memset(out->bytes, 0, size);
        qp_weights_pack(matrix, &room.words, out->bytes);
        out->size = size;
    }
    qp_words_room_free(&room);
    return status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* What lies between two planes is zero. */
static qp_status check_gaps(const qp_matrix *matrix, const uint8_t *bytes, qp_error *error)
{
    uint64_t at = 0;
    for (unsigned p = 0; p < QP_PLANES; p++) {
        const qp_span *plane = &matrix->planes[p];
        if (plane->size == 0)
            continue;
        for (; at < plane->offset; at++)
            if (bytes[at] != 0)
                return qp_fail_check(error, QP_MALFORMED, "padding_invalid", (int64_t)at,
                                     "a byte between two planes is not zero");
        at = plane->offset + plane->size;
    }
    return QP_OK;
}

/* The words of the stored bytes, after every rule of the format and the layout. */
static qp_status unpack(const qp_matrix *matrix, const qp_file *in, qp_words_room *room,
                        qp_error *error)
{
    if (in->size != matrix->bytes)
        return qp_fail_check(error, QP_MALFORMED, "C-SIZE", -1,
                             "%zu bytes are given, the tensor has %" PRIu64, in->size,
                             matrix->bytes);
    qp_status status = qp_words_room_make(matrix, matrix->rows, room, error);
    if (status != QP_OK)
        return status;
    qp_rows rows = qp_rows_in(matrix, in->bytes, 0, matrix->rows);
    qp_rows_unpack(matrix, &rows, &room->words);
    status = qp_words_check(matrix, 0, matrix->rows, &room->words, error);
    if (status == QP_OK)
        status = qp_rows_check_padding(matrix, &rows, error);
    return status == QP_OK ? check_gaps(matrix, in->bytes, error) : status;
}

static qp_status put_values(const qp_matrix *matrix, const qp_file *in, qp_buffer *out,
                            qp_error *error)
{
    size_t columns;
    qp_status status = qp_weights_size(matrix->columns, "a row", &columns, error);
    if (status != QP_OK)
        return status;
    float *values = qp_allocate(NULL, columns, sizeof *values);
    if (values == NULL)
        return qp_fail_memory(error, "a row of values");
    for (uint64_t row = 0; row < matrix->rows && !out->failed; row++) {
        qp_rows rows = qp_rows_in(matrix, in->bytes, row, 1);
        qp_rows_decode(matrix, &rows, qp_cpu_features(), values);
        for (size_t k = 0; k < columns; k++) {
            uint32_t word;
            memcpy(&word, &values[k], sizeof word);
            qp_buffer_le(out, word, 4);
        }
    }
    qp_release(NULL, values, columns, sizeof *values);
    return QP_OK;
}

static qp_status decode(const options *o, const qp_matrix *matrix, const qp_file *in,
                        qp_buffer *out, qp_error *error)
{
    qp_words_room room = {0};
    qp_status status = unpack(matrix, in, &room, error);
    if (status == QP_OK && o->words)
        put_words(&room, out);
    qp_words_room_free(&room);
    return status == QP_OK && !o->words ? put_values(matrix, in, out, error) : status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status convert(const options *o, const qp_matrix *matrix, const qp_file *in,
                         qp_error *error)
{
    qp_buffer out;
    qp_buffer_init(&out, NULL);
    qp_status status = strcmp(o->action, "encode") == 0 ? encode(o, matrix, in, &out, error)
                                                        : decode(o, matrix, in, &out, error);
    if (status == QP_OK)
        status = qp_output_buffer(o->out, &out, error);
    qp_buffer_free(&out);
    return status;
}

static int tensor(int argc, char **argv)
{
    options o = {0};
    qp_matrix matrix;
    qp_file in;
    qp_error error;
    uint64_t divisors = 1;

    int code = read_options(argc, argv, &o);
    if (code == QP_EXIT_OK)
        code = read_divisors(&o, &divisors);
    if (code != QP_EXIT_OK)
        return code;
    if (plan(&o, divisors, &matrix, &error) != QP_OK)
        return qp_cli_refuse("tensor", NULL, &error);
    if (qp_cli_read(o.in, &in, &error) != QP_OK)
        return qp_cli_refuse("tensor", o.in, &error);
    qp_status status = convert(&o, &matrix, &in, &error);
    qp_file_close(&in);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("tensor", o.in, &error);
}

const qp_verb qp_verb_tensor = {
    "tensor", "one tensor's raw bytes: values or words to a layout's bytes, and back",
    "usage: quipu tensor encode --format F --shape N,K [OPTION...] IN OUT\n"
    "       quipu tensor decode --format F --shape N,K [OPTION...] IN OUT\n"
    "\n"
    "Encode reads little-endian binary32 values, row after row, and writes the tensor's bytes as\n"
    "a file of weights stores them; decode goes back. Both hold words, scales and padding to the\n"
    "rules of the format and name row and column of the first fault. '-' is standard input or\n"
    "output.\n"
    "\n"
    "  --format F          the numeric format, such as q4_g64_fp16 ('quipu formats')\n"
    "  --shape N,K         the shape; of a scalar it is the empty word\n"
    "  --layout L          the layout; without it the format's own\n"
    "  --method M          how values become words; without it the format's first method\n"
    "  --importance FILE   encode: binary32 weights of the columns, for methods that take them\n"
    "  --negative-scales   encode: let grouped_search use negative scales\n"
    "  --divisors D        nvfp4: how many sources are stacked; 1 without it\n"
    "  --words             the format's words in place of values: the codes of every row, then\n"
    "                      the scales, then the divisors, each plane whole\n"
    "\n"
    "example: quipu tensor encode --format q4_g64_fp16 --shape 3,512 values.f32 tensor.bin\n",
    tensor};
