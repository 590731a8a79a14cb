/* SPDX-License-Identifier: Apache-2.0 */
/* extract.c - quipu extract: a tensor of a file of weights as .npy. */
#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/weights.h"

typedef struct options {
    const char *path, *name, *output;
    bool words;
} options;

/* ---- values ------------------------------------------------------------------------------- */

static qp_status shape_of(const uint64_t *shape, uint32_t rank, qp_npy_shape *npy, qp_error *error)
{
    if (rank > QP_NPY_MAX_RANK)
        return qp_fail(error, QP_TOO_LARGE, "a .npy file here has at most 8 dimensions");
    npy->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] > SIZE_MAX)
            return qp_fail(error, QP_TOO_LARGE, "a dimension does not fit this machine");
        npy->sizes[i] = (size_t)shape[i];
    }
    return QP_OK;
}

static qp_status put_head(qp_output_file *output, const char *descr, const qp_npy_shape *shape,
                          qp_error *error)
{
    qp_buffer head;
    qp_buffer_init(&head, NULL);
    qp_npy_append_head(&head, descr, shape);
    qp_status status = head.failed ? qp_fail_memory(error, "the head of a .npy file")
                                   : qp_output_append(output, head.bytes, head.size, error);
    qp_buffer_free(&head);
    return status;
}

enum { PIECE = 1024 };

/* Floats as little-endian words. */
static qp_status put_floats(qp_output_file *output, const float *values, size_t count,
                            qp_error *error)
{
    uint8_t bytes[4 * PIECE];
    qp_status status = QP_OK;
    for (size_t done = 0, n; done < count && status == QP_OK; done += n) {
        n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; i++) {
            uint32_t word;
            memcpy(&word, &values[done + i], sizeof word);
            for (unsigned k = 0; k < 4; k++)
                bytes[4 * i + k] = (uint8_t)(word >> 8 * k & 0xFF);
        }
        status = qp_output_append(output, bytes, 4 * n, error);
    }
    return status;
}

static qp_status put_walk(qp_weights_walk *walk, qp_output_file *output, qp_error *error)
{
    const float *values;
    size_t count = 1;
    qp_status status = QP_OK;
    while (status == QP_OK && count > 0) {
        status = qp_weights_walk_next(walk, &values, &count, error);
        if (status == QP_OK)
            status = put_floats(output, values, count, error);
    }
    return status;
}

static qp_status put_values(qp_weights_walk *walk, const qp_npy_shape *shape, const char *path,
                            qp_error *error)
{
    qp_output_file output;
    qp_status status = qp_output_open(path, &output, error);
    if (status == QP_OK)
        status = put_head(&output, "<f4", shape, error);
    if (status == QP_OK)
        status = put_walk(walk, &output, error);
    return qp_output_close(&output, status, error);
}

static qp_status extract_tensor(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                const char *path, qp_error *error)
{
    qp_weights_walk walk;
    qp_npy_shape shape;
    qp_status status = shape_of(tensor->shape, tensor->rank, &shape, error);
    if (status != QP_OK)
        return status;
    status = qp_weights_walk_open(&walk, artifact, tensor, error);
    if (status == QP_OK)
        status = put_values(&walk, &shape, path, error);
    qp_weights_walk_close(&walk);
    return status;
}

/* A parameter of a .ninfer file, which rows of tensors keep, or one that is composed. */
static qp_status extract_parameter(const qp_weight_source *source, const options *o,
                                   qp_error *error)
{
    const qp_parameter *parameter = qp_weight_source_find(source, o->name);
    qp_weights_walk walk;
    qp_npy_shape shape;
    if (parameter == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "there is no tensor '%.100s' in it", o->name);
    if (o->words)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "'%.100s' is no tensor of its own: it has values, not words", o->name);
    qp_status status = shape_of(parameter->shape, parameter->rank, &shape, error);
    if (status != QP_OK)
        return status;
    status = qp_weights_walk_parameter(&walk, source, parameter, error);
    if (status == QP_OK)
        status = put_values(&walk, &shape, o->output, error);
    qp_weights_walk_close(&walk);
    return status;
}

/* ---- words -------------------------------------------------------------------------------- */

/* One .npy file of bytes. */
static qp_status put_plane(const char *path, const char *descr, const qp_npy_shape *shape,
                           const uint8_t *bytes, size_t size, qp_error *error)
{
    qp_output_file output;
    qp_status status = qp_output_open(path, &output, error);
    if (status == QP_OK)
        status = put_head(&output, descr, shape, error);
    if (status == QP_OK)
        status = qp_output_append(&output, bytes, size, error);
    return qp_output_close(&output, status, error);
}

/* "X.npy" becomes "X.scales.npy". Ownership: qp_buffer_free. */
static const char *name_plane(const char *path, const char *plane, qp_buffer *name)
{
    size_t length = strlen(path);
    bool npy = length > 4 && strcmp(path + length - 4, ".npy") == 0;
    qp_buffer_init(name, NULL);
    qp_buffer_append(name, path, npy ? length - 4 : length);
    qp_buffer_format(name, ".%s.npy", plane);
    qp_buffer_append(name, "", 1);
    return name->failed ? NULL : (const char *)name->bytes;
}

typedef struct plane {
    const char *name; /* NULL: the file of the output's own name */
    const char *descr;
    qp_npy_shape shape;
    const uint8_t *bytes;
    size_t size;
} plane;

static qp_status put_named(const char *path, const plane *p, qp_error *error)
{
    qp_buffer buffer;
    if (p->name == NULL)
        return put_plane(path, p->descr, &p->shape, p->bytes, p->size, error);
    const char *name = name_plane(path, p->name, &buffer);
    qp_status status = name == NULL
                           ? qp_fail_memory(error, "the name of a file")
                           : put_plane(name, p->descr, &p->shape, p->bytes, p->size, error);
    qp_buffer_free(&buffer);
    return status;
}

/* The planes of the word form: codes in the output's own file, scales and divisors beside it. */
static unsigned list_planes(const qp_matrix *m, const qp_words_room *room, plane planes[3])
{
    size_t rows = (size_t)m->rows; /* the words lie in memory */
    size_t codes = (size_t)m->code_row_bytes, scales = (size_t)m->scale_row_bytes;
    bool grouped = m->format->family == QP_FAMILY_GROUPED;
    bool block = m->format->family == QP_FAMILY_NVFP4;
    unsigned count = 1;
    planes[0] =
        (plane){NULL, grouped ? "|i1" : "|u1", {2, {rows, codes}}, room->words.codes, room->codes};
    if (scales > 0)
        planes[count++] = (plane){"scales",
                                  block ? "|u1" : "<u2",
                                  {2, {rows, block ? scales : scales / 2}},
                                  room->words.scales,
                                  room->scales};
    if (room->divisors > 0)
        planes[count++] = (plane){
            "divisors", "<f4", {1, {room->divisors / 4}}, room->words.divisors, room->divisors};
    return count;
}

static qp_status extract_planes(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                const options *o, qp_error *error)
{
    qp_matrix matrix;
    qp_words_room room;
    plane planes[3];
    qp_status status = qp_artifact_matrix(artifact, tensor, &matrix, error);
    if (status == QP_OK)
        status = qp_words_room_make(&matrix, matrix.rows, &room, error);
    if (status != QP_OK)
        return status;
    unsigned count = list_planes(&matrix, &room, planes);
    if (count > 1 && strcmp(o->output, "-") == 0)
        status = qp_fail(error, QP_INVALID_ARGUMENT,
                         "codes and scales are files of their own: name one with -o");
    if (status == QP_OK)
        status = qp_weights_words(artifact, tensor, &matrix, 0, matrix.rows, &room.words, error);
    for (unsigned i = 0; i < count && status == QP_OK; i++)
        status = put_named(o->output, &planes[i], error);
    qp_words_room_free(&room);
    return status;
}

static const char *descr_of(const qp_element *element)
{
    static const struct {
        unsigned bytes;
        const char *descr;
    } unsigned_types[] = {{1, "|u1"}, {2, "<u2"}, {4, "<u4"}, {8, "<u8"}};
    if (element->npy != NULL)
        return element->npy;
    for (size_t i = 0; i < sizeof unsigned_types / sizeof *unsigned_types; i++)
        if (unsigned_types[i].bytes == element->bytes)
            return unsigned_types[i].descr;
    return NULL;
}

/* The elements of a scalar type as they are stored. */
static qp_status extract_elements(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                  const options *o, qp_error *error)
{
    const char *descr = descr_of(tensor->element);
    qp_npy_shape shape;
    size_t size;
    qp_status status = shape_of(tensor->shape, tensor->rank, &shape, error);
    if (status == QP_OK)
        status = qp_weights_size(tensor->bytes, "a tensor", &size, error);
    if (status == QP_OK && descr == NULL)
        status =
            qp_fail(error, QP_INVALID_ARGUMENT, "NumPy has no type for %s", tensor->element->name);
    if (status != QP_OK)
        return status;
    uint8_t *bytes = qp_allocate(NULL, size, 1);
    if (bytes == NULL)
        return qp_fail_memory(error, "a tensor");
    status = qp_artifact_read(artifact, tensor, 0, tensor->bytes, bytes, error);
    if (status == QP_OK)
        status = put_plane(o->output, descr, &shape, bytes, size, error);
    qp_release(NULL, bytes, size, 1);
    return status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status extract_from(qp_artifact *artifact, const options *o, qp_error *error)
{
    const qp_artifact_tensor *tensor = qp_weights_find(artifact, o->name);
    qp_weight_source source;
    if (tensor != NULL && !o->words)
        return extract_tensor(artifact, tensor, o->output, error);
    if (tensor != NULL)
        return tensor->element != NULL ? extract_elements(artifact, tensor, o, error)
                                       : extract_planes(artifact, tensor, o, error);
    qp_status status = qp_weight_source_open(artifact, NULL, &source, error);
    if (status != QP_OK)
        return status;
    status = extract_parameter(&source, o, error);
    qp_weight_source_close(&source);
    return status;
}

static int extract(int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    options o = {0};
    const char *extra = NULL;
    qp_weights_file file;
    qp_error error;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--words"))
            o.words = true;
        else if (!qp_args_value(&args, "-o", &o.output) &&
                 !qp_args_value(&args, "--output", &o.output) &&
                 !qp_args_positional(&args, o.path == NULL   ? &o.path
                                            : o.name == NULL ? &o.name
                                                             : &extra))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (o.name == NULL || extra != NULL)
        return qp_cli_usage("extract", "a file and the name of one tensor are needed");
    if (o.output == NULL)
        return qp_cli_usage("extract", "-o says where the array goes; '-' is standard output");
    qp_status status = qp_weights_open(&file, o.path, &error);
    if (status == QP_OK)
        status = extract_from(file.artifact, &o, &error);
    qp_weights_close(&file);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("extract", o.path, &error);
}

const qp_verb qp_verb_extract = {
    "extract", "a tensor of a file of weights as .npy",
    "usage: quipu extract [--words] FILE TENSOR -o X.npy\n"
    "\n"
    "Writes a tensor of a .ninfer, GGUF or safetensors file as a .npy array of float32: the\n"
    "values that its words represent, to the last bit. TENSOR may be a parameter of a .ninfer\n"
    "file that several tensors keep.\n"
    "\n"
    "  --words   the stored words in place of values. Of a scalar type its own numbers, or\n"
    "            unsigned integers where NumPy has no such type (bfloat16, FP8); of a quantized\n"
    "            one codes in X.npy, X.scales.npy and X.divisors.npy beside it; of ggml's blocks\n"
    "            their bytes, a row a row\n"
    "  -o X.npy  where it goes\n"
    "\n"
    "example: quipu extract model.gguf blk.0.attn_q.weight -o q.npy\n",
    extract};
