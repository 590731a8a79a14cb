/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - quipu pack: .npy arrays to a file of weights. The arrays become a safetensors file in
 * memory, which is written as it stands or converted.
 */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/npy.h"
#include "cli/output.h"
#include "cli/set_artifact.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ALIGNMENT = 8 }; /* of the first byte behind the header, as most writers have it */

/* One array: its file, and the tensor that it becomes. */
typedef struct input {
    char *name;
    const char *path;
    qp_file file;
    qp_npy_raw array;
    const qp_element *element;
} input;

typedef struct command {
    const char *output, *set, *to, *recipe, *name;
    bool force;
    char **words; /* "X.npy", "NAME=X.npy" */
    int n_words;
} command;

/* ---- the arrays --------------------------------------------------------------------------- */

/* "NAME=PATH", or the last part of a path without its ending. */
static char *name_of(const char *word, const char **path)
{
    const char *equals = strchr(word, '='), *start = word;
    size_t length;
    *path = word;
    if (equals != NULL && equals > word) {
        *path = equals + 1;
        length = (size_t)(equals - word);
    } else {
        const char *slash = strrchr(word, '/');
        start = slash == NULL ? word : slash + 1;
        length = strlen(start);
        if (length > 4 && strcmp(start + length - 4, ".npy") == 0)
            length -= 4;
    }
    char *name = malloc(length + 1);
    if (name != NULL) {
        memcpy(name, start, length);
        name[length] = '\0';
    }
    return name;
}

/* The scalar type of a descr, whatever its byte order. */
static const qp_element *element_of(const qp_npy_raw *array)
{
    char little[sizeof array->descr];
    memcpy(little, array->descr, sizeof little);
    if (little[0] == '>')
        little[0] = '<';
    for (size_t i = 0; i < qp_element_count(); i++) {
        const qp_element *element = qp_element_at(i);
        if (element->npy != NULL && strcmp(element->npy + 1, little + 1) == 0)
            return element;
    }
    return NULL;
}

static qp_status read_array(const char *word, input *in, qp_error *error)
{
    *in = (input){0};
    in->name = name_of(word, &in->path);
    if (in->name == NULL)
        return qp_fail_memory(error, "the name of a tensor");
    qp_status status = qp_cli_read(in->path, &in->file, error);
    if (status == QP_OK)
        status = qp_npy_read_raw(in->file.bytes, in->file.size, &in->array, error);
    if (status != QP_OK)
        return status;
    in->element = element_of(&in->array);
    if (in->element == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT, "no file of weights has the type %s",
                       in->array.descr);
    return QP_OK;
}

static void free_inputs(input *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        free(inputs[i].name);
        if (inputs[i].file.bytes != NULL)
            qp_file_close(&inputs[i].file);
    }
    free(inputs);
}

/* ---- a safetensors file ------------------------------------------------------------------- */

static size_t bytes_of(const input *in)
{
    return in->array.count * in->array.width; /* they lie in memory */
}

static void put_entry(const input *in, uint64_t begin, qp_buffer *header)
{
    qp_buffer_json_string(header, in->name, strlen(in->name));
    qp_buffer_format(header, ":{\"dtype\":\"%s\",\"shape\":[", in->element->name);
    for (unsigned i = 0; i < in->array.shape.rank; i++)
        qp_buffer_format(header, "%s%zu", i == 0 ? "" : ",", in->array.shape.sizes[i]);
    qp_buffer_format(header, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin,
                     begin + bytes_of(in));
}

static void put_data(const input *in, qp_buffer *file)
{
    size_t width = in->array.width, size = bytes_of(in);
    size_t start = file->size;
    qp_buffer_append(file, in->array.data, size);
    if (in->array.descr[0] != '>' || file->failed)
        return;
    for (uint8_t *p = file->bytes + start; p < file->bytes + start + size; p += width)
        for (size_t k = 0; k < width / 2; k++) {
            uint8_t kept = p[k];
            p[k] = p[width - 1 - k];
            p[width - 1 - k] = kept;
        }
}

static qp_status make_file(const input *inputs, int count, qp_buffer *file, qp_error *error)
{
    qp_buffer header;
    uint64_t at = 0;
    qp_buffer_init(&header, NULL);
    qp_buffer_text(&header, "{");
    for (int i = 0; i < count; i++) {
        qp_buffer_text(&header, i == 0 ? "" : ",");
        put_entry(&inputs[i], at, &header);
        at += bytes_of(&inputs[i]);
    }
    qp_buffer_text(&header, "}");
    while (header.size % ALIGNMENT != 0 && !header.failed)
        qp_buffer_text(&header, " ");
    qp_buffer_le(file, header.size, 8);
    qp_buffer_append(file, header.bytes, header.size);
    for (int i = 0; i < count; i++)
        put_data(&inputs[i], file);
    bool failed = header.failed || file->failed;
    qp_buffer_free(&header);
    return failed ? qp_fail_memory(error, "a file of weights") : QP_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* False stops the conversion, which then leaves nothing. */
static bool go_on(void *context, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    return !qp_interrupted();
}

static qp_status convert(qp_artifact *artifact, const command *c, const qp_file *recipe,
                         qp_error *error)
{
    qp_convert_options options = {.preset = c->to,
                                  .recipe = (const char *)recipe->bytes,
                                  .recipe_size = recipe->size,
                                  .name = c->name,
                                  .cpu = qp_cpu_features(),
                                  .replace = c->force,
                                  .progress = go_on};
    qp_convert_plan *plan;
    qp_status status = qp_convert_plan_make(artifact, c->output, &options, &plan, error);
    if (status != QP_OK)
        return status;
    qp_interrupt_watch();
    status = qp_convert_run(plan, error);
    qp_convert_plan_free(plan);
    return status;
}

/* As it stands where that is asked for: every scalar type is kept then. An index has shards. */
static bool is_plain(const command *c)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(c->output), count = sizeof ending - 1;
    return c->to == NULL && c->recipe == NULL && length >= count &&
           strcmp(c->output + length - count, ending) == 0;
}

static qp_status write_file(const command *c, const qp_buffer *file, qp_error *error)
{
    qp_artifact *artifact;
    qp_file recipe = {0};
    qp_status status =
        qp_artifact_open_bytes("arrays", file->bytes, file->size, NULL, &artifact, error);
    if (status == QP_OK && c->recipe != NULL)
        status = qp_cli_read(c->recipe, &recipe, error);
    if (status == QP_OK)
        status = is_plain(c) ? qp_output_buffer(c->output, file, error)
                             : convert(artifact, c, &recipe, error);
    if (recipe.bytes != NULL)
        qp_file_close(&recipe);
    qp_artifact_close(artifact);
    return status;
}

static int pack_arrays(const command *c)
{
    input *inputs = calloc((size_t)c->n_words, sizeof *inputs);
    qp_error error;
    qp_buffer file;
    int count = 0;
    qp_status status = inputs == NULL ? qp_fail_memory(&error, "the arrays") : QP_OK;
    while (status == QP_OK && count < c->n_words)
        status = read_array(c->words[count], &inputs[count], &error), count++;
    if (status != QP_OK) {
        int code = qp_cli_refuse("pack", count > 0 ? c->words[count - 1] : NULL, &error);
        free_inputs(inputs, count);
        return code;
    }
    qp_buffer_init(&file, NULL);
    status = make_file(inputs, count, &file, &error);
    if (status == QP_OK)
        status = write_file(c, &file, &error);
    qp_buffer_free(&file);
    free_inputs(inputs, count);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("pack", c->output, &error);
}

/* ---- the verb ----------------------------------------------------------------------------- */

static int read_arguments(int argc, char **argv, command *c)
{
    qp_args args = qp_args_start(argc, argv);
    const char *word;
    c->words = argv + 1; /* the arrays are gathered at the front of argv */
    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--force"))
            c->force = true;
        else if (qp_args_value(&args, "-o", &c->output) ||
                 qp_args_value(&args, "--output", &c->output) ||
                 qp_args_value(&args, "--set", &c->set) || qp_args_value(&args, "--to", &c->to) ||
                 qp_args_value(&args, "--recipe", &c->recipe) ||
                 qp_args_value(&args, "--name", &c->name))
            continue;
        else if (qp_args_positional(&args, &word))
            c->words[c->n_words++] = (char *)(uintptr_t)word;
        else
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (c->output == NULL)
        return qp_cli_usage("pack", "-o names the file to write");
    if ((c->set == NULL) == (c->n_words == 0))
        return qp_cli_usage("pack", "arrays, or --set DIR, are needed");
    return QP_EXIT_OK;
}

static int pack(int argc, char **argv)
{
    command c = {0};
    qp_error error;
    int code = read_arguments(argc, argv, &c);
    if (code != QP_EXIT_OK)
        return code;
    if (qp_output_check(c.output, c.force, &error) != QP_OK)
        return qp_cli_refuse("pack", NULL, &error);
    if (c.set == NULL) {
        code = pack_arrays(&c);
        qp_interrupt_end();
        return code;
    }
    if (qp_set_pack(c.set, c.output, &error) != QP_OK)
        return qp_cli_refuse("pack", c.set, &error);
    return QP_EXIT_OK;
}

const qp_verb qp_verb_pack = {
    "pack", ".npy arrays, or a parameter set, to a file of weights",
    "usage: quipu pack [OPTION...] X.npy... -o OUT\n"
    "       quipu pack --set DIR -o OUT.ninfer\n"
    "\n"
    "Makes a file of weights (.ninfer, GGUF or safetensors, told by its ending) from arrays of\n"
    "float16, float32, float64 or integers. A tensor has the name of its file without .npy, or\n"
    "the one before '=' in NAME=X.npy. safetensors keeps every type; the others go the way of\n"
    "'quipu convert'. With --set the files of a parameter set become the resources of an artifact\n"
    "and their long lists of integers int32 tensors; 'quipu lower' and every verb that takes a\n"
    "set read it from there.\n"
    "\n"
    "  --to PRESET      a format for every matrix, or PATTERN=FORMAT, comma separated\n"
    "  --recipe R.json  a recipe, as for 'quipu convert'\n"
    "  --name NAME      the name in a .ninfer file's metadata\n"
    "  --force          replace OUT\n"
    "\n"
    "example: quipu pack --to q8_g32_fp16 layer0.weight=w0.npy layer1.weight=w1.npy -o m.ninfer\n",
    pack};
