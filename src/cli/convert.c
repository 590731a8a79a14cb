/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - quipu convert: from one file of weights to another. */
#define _POSIX_C_SOURCE 200809L /* fileno, isatty */

#include "artifact/artifact.h"
#include "artifact/imatrix.h"
#include "cli/convert_mpi.h"
#include "cli/convert_pipe.h"
#include "cli/convert_plan.h"
#include "cli/cpu_option.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/threads_option.h"

#include <inttypes.h>
#include <unistd.h>

typedef struct arguments {
    qp_convert_request request;
    const char *recipe, *to, *container, *threads, *limit, *rows, *cpu;
    bool plan, quiet;
} arguments;

/* ---- arguments ---------------------------------------------------------------------------- */

static bool take_value(qp_args *args, arguments *a)
{
    qp_convert_options *o = &a->request.options;
    return qp_args_value(args, "--recipe", &a->recipe) || qp_args_value(args, "--to", &a->to) ||
           qp_args_value(args, "--imatrix", &o->imatrix) ||
           qp_args_value(args, "--name", &o->name) ||
           qp_args_value(args, "--container", &a->container) ||
           qp_args_value(args, "--max-file-bytes", &a->limit) ||
           qp_args_value(args, "--rows-per-chunk", &a->rows) ||
           qp_args_value(args, "--threads", &a->threads) || qp_args_value(args, "--cpu", &a->cpu);
}

static int read_words(int argc, char **argv, arguments *a)
{
    qp_args args = qp_args_start(argc, argv);
    qp_convert_request *r = &a->request;
    const char *extra = NULL;
    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--plan"))
            a->plan = true;
        else if (qp_args_flag(&args, "--force"))
            r->options.replace = true;
        else if (qp_args_flag(&args, "--json"))
            r->json = true;
        else if (qp_args_flag(&args, "--quiet"))
            a->quiet = true;
        else if (!take_value(&args, a) &&
                 !qp_args_positional(&args, r->input == NULL    ? &r->input
                                            : r->output == NULL ? &r->output
                                                                : &extra))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (r->output == NULL || extra != NULL)
        return qp_cli_usage("convert", "one file to read and one to write are needed");
    return QP_EXIT_OK;
}

/* A whole number from 1 to `most` where the option is given. */
static int read_number(const char *option, const char *text, uint64_t most, uint64_t *value)
{
    int64_t number;
    if (text == NULL)
        return QP_EXIT_OK;
    if (!qp_cli_i64(text, &number) || number < 1 || (uint64_t)number > most)
        return qp_cli_usage("convert", "%s is a whole number from 1 to %" PRIu64, option, most);
    *value = (uint64_t)number;
    return QP_EXIT_OK;
}

static int read_numbers(arguments *a)
{
    qp_convert_options *o = &a->request.options;
    uint64_t rows = 0;
    if (!qp_threads_option(a->threads, &o->threads))
        return qp_cli_usage("convert", "--threads is a number from 1 to %d", QP_THREADS_MOST);
    int code = read_number("--rows-per-chunk", a->rows, UINT32_MAX, &rows);
    if (code == QP_EXIT_OK)
        code = read_number("--max-file-bytes", a->limit, INT64_MAX, &o->max_file_bytes);
    o->rows_per_chunk = (uint32_t)rows;
    return code;
}

static bool goes_to_pipe(const arguments *a)
{
    return strcmp(a->request.output, "-") == 0;
}

static int check_arguments(arguments *a)
{
    qp_convert_options *o = &a->request.options;
    if (a->recipe != NULL && a->to != NULL)
        return qp_cli_usage("convert", "--recipe or --to, not both");
    if (a->container != NULL && (o->container = qp_artifact_kind_find(a->container)) == NULL)
        return qp_cli_usage(
            "convert", "there is no kind of file '%.40s': ninfer, gguf, safetensors", a->container);
    if (!qp_cpu_option(a->cpu, &o->cpu))
        return qp_cli_usage("convert", "--cpu is " QP_CPU_OPTION_NAMES ", not '%.40s'", a->cpu);
    o->preset = a->to;
    int code = read_numbers(a);
    if (code == QP_EXIT_OK && goes_to_pipe(a) && (a->container == NULL || a->limit != NULL))
        return qp_cli_usage("convert", "standard output takes one file, whose kind --container "
                                       "names");
    return code;
}

/* ---- progress ----------------------------------------------------------------------------- */

enum { BAR = 40, STEP_MS = 100 };

typedef struct progress {
    double start, shown; /* seconds of the clock */
    bool terminal;
} progress;

/* One line on the terminal, at most ten times a second. */
static void show_progress(progress *p, uint64_t done, uint64_t total)
{
    double now = qp_convert_clock(), share = total == 0 ? 1 : (double)done / (double)total;
    char left[32];
    if (done < total && (now - p->shown) * 1000 < STEP_MS)
        return;
    p->shown = now;
    int filled = (int)(share * BAR);
    double passed = now - p->start;
    qp_convert_duration(share > 0 ? passed / share - passed : 0, left);
    fprintf(stderr, "\r[%.*s%*s] %3.0f%%  %.0f MB/s  %s left   ", filled,
            "########################################", BAR - filled, "", share * 100,
            passed > 0 ? (double)done / passed / 1e6 : 0, left);
}

/* False stops the conversion, which then leaves nothing. */
static bool go_on(void *context, uint64_t done, uint64_t total)
{
    progress *p = context;
    if (p->terminal)
        show_progress(p, done, total);
    return !qp_interrupted();
}

static void clear_progress(void)
{
    fprintf(stderr, "\r%*s\r", BAR + 40, "");
}

/* ---- the verb ----------------------------------------------------------------------------- */

static bool has_file(const qp_artifact *artifact, const char *name)
{
    for (size_t i = 0; i < qp_artifact_file_count(artifact); i++)
        if (strcmp(qp_artifact_file_name(artifact, i), name) == 0)
            return true;
    return false;
}

/* Files that belonged to what was replaced, and to nothing now. They are their owner's to remove.
 */
static void tell_left(const qp_artifact *replaced, const char *path)
{
    qp_artifact *written = NULL;
    qp_buffer left;
    qp_error unused;
    if (replaced == NULL || qp_artifact_open(path, NULL, &written, &unused) != QP_OK)
        return;
    qp_buffer_init(&left, NULL);
    for (size_t i = 1; i < qp_artifact_file_count(replaced); i++) {
        const char *name = qp_artifact_file_name(replaced, i);
        left.size = 0;
        qp_buffer_append(&left, path, (size_t)(qp_path_file_name(path) - path));
        qp_buffer_append(&left, name, strlen(name) + 1);
        if (!left.failed && !has_file(written, name) && access((char *)left.bytes, F_OK) == 0)
            printf("%s: belonged to what was replaced, and to nothing now\n", (char *)left.bytes);
    }
    qp_buffer_free(&left);
    qp_artifact_close(written);
}

static qp_status run_plan(const arguments *a, qp_convert_plan *plan, bool terminal, qp_error *error)
{
    const char *output = qp_convert_plan_output(plan);
    bool speaks = !a->quiet && qp_mpi_is_first() && !goes_to_pipe(a);
    qp_artifact *replaced = NULL;
    qp_error unused;
    if (speaks && a->request.options.replace)
        (void)qp_artifact_open(output, NULL, &replaced, &unused);
    qp_interrupt_watch();
    qp_status status = qp_mpi_convert(plan, error);
    if (terminal)
        clear_progress();
    if (status == QP_OK && speaks) {
        printf("%s: %" PRIu64 " bytes of weights became %" PRIu64 " bytes, verified\n", output,
               qp_convert_plan_source_bytes(plan), qp_convert_plan_target_bytes(plan));
        tell_left(replaced, output);
    }
    qp_artifact_close(replaced);
    return status;
}

static qp_status show_plan(const arguments *a, qp_artifact *artifact, const qp_convert_plan *plan,
                           qp_error *error)
{
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    qp_status status = qp_convert_describe(artifact, plan, &a->request, &text, error);
    if (status == QP_OK)
        status = qp_output_buffer("-", &text, error);
    qp_buffer_free(&text);
    return status;
}

/* An importance that nothing would use was not meant to be left out. */
static qp_status check_importance(const arguments *a, const qp_convert_plan *plan, qp_error *error)
{
    size_t count;
    const qp_plan_item *items = qp_convert_plan_items(plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (items[i].method->takes_importance)
            return QP_OK;
    }
    return a->request.options.imatrix == NULL
               ? QP_OK
               : qp_fail_check(error, QP_INVALID_ARGUMENT, "method_parameter", -1,
                               "no tensor is converted by a method that takes the importance of "
                               "columns, as grouped_search does: --imatrix would change nothing");
}

/* What is wrong with the file of --imatrix is said of that file. */
static qp_status try_importance(const arguments *a, qp_error *error)
{
    qp_imatrix *imatrix = NULL;
    if (a->request.options.imatrix == NULL)
        return QP_OK;
    qp_status status = qp_imatrix_open(a->request.options.imatrix, NULL, &imatrix, error);
    qp_imatrix_close(imatrix);
    return status;
}

static qp_status convert_artifact(arguments *a, qp_artifact *artifact, const char *output,
                                  qp_error *error)
{
    qp_convert_plan *plan = NULL;
    bool terminal = !a->plan && !a->quiet && isatty(fileno(stderr)) == 1;
    progress p = {.start = qp_convert_clock(), .terminal = terminal};
    a->request.options.progress = go_on;
    a->request.options.progress_context = &p;
    if (a->plan) /* nothing is written */
        a->request.options.replace = true;
    qp_status status = try_importance(a, error);
    if (status != QP_OK)
        a->request.input = a->request.options.imatrix;
    else
        status = qp_convert_plan_make(artifact, output, &a->request.options, &plan, error);
    /* checks of files of weights have names: what else does not parse is the recipe */
    if (plan == NULL && status == QP_MALFORMED && error->check == NULL && a->recipe != NULL &&
        a->request.input != a->request.options.imatrix)
        a->request.input = a->recipe;
    if (status == QP_OK)
        status = check_importance(a, plan, error);
    if (!a->plan)
        status = qp_mpi_agree(status, error);
    if (status != QP_OK) {
        qp_convert_plan_free(plan); /* of a process whose own plan was made */
        return status;
    }
    status = a->plan ? show_plan(a, artifact, plan, error) : run_plan(a, plan, terminal, error);
    qp_convert_plan_free(plan);
    return status;
}

static qp_status convert_to_pipe(arguments *a, qp_artifact *artifact, qp_error *error)
{
    qp_convert_pipe pipe;
    qp_status status = qp_convert_pipe_open(&pipe, error);
    if (status == QP_OK)
        status = convert_artifact(a, artifact, pipe.path, error);
    if (status == QP_OK && qp_mpi_is_first())
        status = qp_convert_pipe_send(&pipe, error);
    qp_convert_pipe_close(&pipe);
    return status;
}

static int convert_file(arguments *a)
{
    qp_weights_file file;
    qp_error error;
    if (qp_output_check(a->request.output, a->plan || a->request.options.replace, &error) != QP_OK)
        return qp_cli_refuse("convert", NULL, &error);
    qp_status status = qp_weights_open(&file, a->request.input, &error);
    if (status == QP_OK)
        status = goes_to_pipe(a) && !a->plan
                     ? convert_to_pipe(a, file.artifact, &error)
                     : convert_artifact(a, file.artifact, a->request.output, &error);
    qp_weights_close(&file);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("convert", a->request.input, &error);
}

static int convert(int argc, char **argv)
{
    arguments a = {0};
    qp_file recipe = {0};
    qp_error error;
    int code = read_words(argc, argv, &a);
    if (code == QP_EXIT_OK)
        code = check_arguments(&a);
    if (code != QP_EXIT_OK)
        return code;
    if (a.recipe != NULL) {
        if (qp_cli_read(a.recipe, &recipe, &error) != QP_OK)
            return qp_cli_refuse("convert", a.recipe, &error);
        a.request.options.recipe = (const char *)recipe.bytes;
        a.request.options.recipe_size = recipe.size;
    }
    code = convert_file(&a);
    qp_mpi_finish();
    if (a.recipe != NULL)
        qp_file_close(&recipe);
    qp_interrupt_end();
    return code;
}

const qp_verb qp_verb_convert = {
    "convert", "a file of weights to another kind, or to other formats",
    "usage: quipu convert [OPTION...] IN OUT\n"
    "\n"
    "Writes the weights of IN (.ninfer, GGUF, safetensors or its index of shards) to OUT, whose\n"
    "ending tells the kind of file. Without a recipe every tensor keeps its words where the\n"
    "target has their format; other plain numbers are stored as they are, F16 as fp32. The file\n"
    "is written beside OUT, read back, verified and then renamed: a failure leaves nothing, and\n"
    "an existing OUT stays unless --force is given. The bytes depend on IN and the recipe alone.\n"
    "'-' is standard input or, with --container, standard output.\n"
    "\n"
    "  --to PRESET          a format for every matrix that it fits, or PATTERN=FORMAT, comma\n"
    "                       separated; the first that matches wins, and wildcards match matrices\n"
    "                       only, as '*attn*=q6_g64_fp16,*=q4_g64_fp16'\n"
    "  --recipe R.json      a recipe: a JSON array of assignments (docs/formats.md)\n"
    "  --imatrix FILE       the importance of columns, for grouped_search\n"
    "  --plan               only say what will happen: formats, methods, sizes before and\n"
    "                       after, what is lost, and the time, from a short sample\n"
    "  --json               the plan as JSON\n"
    "  --name NAME          the name in a .ninfer file's metadata\n"
    "  --max-file-bytes N   no file beyond N bytes: .ninfer goes on in files .part-0001 and so\n"
    "                       on, OUT.safetensors in shards with an index, as do all outputs named\n"
    "                       NAME.safetensors.index.json\n"
    "  --container KIND     ninfer, gguf or safetensors, whatever OUT's ending\n"
    "  --threads N          work with N threads, one a processor without it; the bytes are\n"
    "                       the same\n"
    "  --rows-per-chunk N   rows that are worked on at once; the bytes are the same\n"
    "  --cpu NAMES          use no other processor features: " QP_CPU_OPTION_NAMES "\n"
    "  --force              replace OUT; parts that only the old one had stay, and are named\n"
    "  --quiet              say nothing, show no progress\n"
    "\n"
    "A recipe's steps are read in order, and later ones win. NAMES is a name or a pattern with\n"
    "*, ? and [a-z], or an array of them; only what a step states changes:\n"
    "\n"
    "  {\"assign\": NAMES, \"format\": F, \"layout\": L, \"method\": M, \"source\": FILE,\n"
    "   \"rows\": [FIRST, END], \"activation_policy\": \"A16Only\", \"AllowA8\" or \"AllowA4\",\n"
    "   \"parameters\": {\"imatrix\": FILE, \"negative_scales\": true}}\n"
    "  {\"use\": NAME, \"input\": INPUT, \"activation_policy\": P,\n"
    "   \"auxiliaries\": {ROLE: a number, an array of them, or a parameter's name}}\n"
    "  {\"group\": NAMES, \"shape\": [N, K]}\n"
    "  {\"separate\": NAMES}\n"
    "  {\"share\": NAME, \"target\": NAME}\n"
    "\n"
    "All members may stand in the verb's object: {\"assign\": {\"selectors\": NAMES, \"format\": "
    "F}};\n"
    "of use and share NAME is then \"parameter\".\n"
    "\n"
    "example: quipu convert --to q4_g64_fp16 model.safetensors model.ninfer\n",
    convert};
