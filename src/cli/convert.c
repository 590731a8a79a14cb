/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - quipu convert: from one file of weights to another. */
#define _POSIX_C_SOURCE 200809L /* fileno, isatty */

#include "cli/convert_plan.h"
#include "cli/cpu_option.h"
#include "cli/output.h"

#include <inttypes.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };

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
    uint64_t threads = 1, rows = 0;
    int code = read_number("--threads", a->threads, MOST_THREADS, &threads);
    if (code == QP_EXIT_OK)
        code = read_number("--rows-per-chunk", a->rows, UINT32_MAX, &rows);
    if (code == QP_EXIT_OK)
        code = read_number("--max-file-bytes", a->limit, INT64_MAX, &o->max_file_bytes);
    o->threads = (uint32_t)threads;
    o->rows_per_chunk = (uint32_t)rows;
    return code;
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
    return read_numbers(a);
}

/* ---- progress ----------------------------------------------------------------------------- */

enum { BAR = 40, STEP_MS = 100 };

typedef struct progress {
    double start, shown; /* seconds of the clock */
} progress;

/* One line on the terminal, at most ten times a second. */
static bool show_progress(void *context, uint64_t done, uint64_t total)
{
    progress *p = context;
    double now = qp_convert_clock(), share = total == 0 ? 1 : (double)done / (double)total;
    char left[32];
    if (done < total && (now - p->shown) * 1000 < STEP_MS)
        return true;
    p->shown = now;
    int filled = (int)(share * BAR);
    double passed = now - p->start;
    qp_convert_duration(share > 0 ? passed / share - passed : 0, left);
    fprintf(stderr, "\r[%.*s%*s] %3.0f%%  %.0f MB/s  %s left   ", filled,
            "########################################", BAR - filled, "", share * 100,
            passed > 0 ? (double)done / passed / 1e6 : 0, left);
    return true;
}

static void clear_progress(void)
{
    fprintf(stderr, "\r%*s\r", BAR + 40, "");
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status run_plan(const arguments *a, qp_convert_plan *plan, bool terminal, qp_error *error)
{
    qp_status status = qp_convert_run(plan, error);
    if (terminal)
        clear_progress();
    if (status == QP_OK && !a->quiet)
        printf("%s: %" PRIu64 " bytes of weights became %" PRIu64 " bytes, verified\n",
               a->request.output, qp_convert_plan_source_bytes(plan),
               qp_convert_plan_target_bytes(plan));
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

static qp_status convert_artifact(arguments *a, qp_artifact *artifact, qp_error *error)
{
    qp_convert_plan *plan;
    progress p = {.start = qp_convert_clock()};
    bool terminal = !a->plan && !a->quiet && isatty(fileno(stderr)) == 1;
    if (terminal) {
        a->request.options.progress = show_progress;
        a->request.options.progress_context = &p;
    }
    qp_status status =
        qp_convert_plan_make(artifact, a->request.output, &a->request.options, &plan, error);
    /* the weights have been opened: what does not parse is the recipe */
    if (status == QP_MALFORMED && a->recipe != NULL)
        a->request.input = a->recipe;
    if (status != QP_OK)
        return status;
    status = a->plan ? show_plan(a, artifact, plan, error) : run_plan(a, plan, terminal, error);
    qp_convert_plan_free(plan);
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
        status = convert_artifact(a, file.artifact, &error);
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
    if (a.recipe != NULL)
        qp_file_close(&recipe);
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
    "\n"
    "  --to PRESET          a format for every matrix, or PATTERN=FORMAT, comma separated, as\n"
    "                       '*attn*=q6_g64_fp16,*=q4_g64_fp16'\n"
    "  --recipe R.json      a recipe: a JSON array of assignments (docs/formats.md)\n"
    "  --imatrix FILE       the importance of columns, for grouped_search\n"
    "  --plan               only say what will happen: formats, methods, sizes before and\n"
    "                       after, what is lost, and the time, from a short sample\n"
    "  --json               the plan as JSON\n"
    "  --name NAME          the name in a .ninfer file's metadata\n"
    "  --max-file-bytes N   .ninfer: go on in files .part-0001 and so on beyond N bytes\n"
    "  --container KIND     ninfer, gguf or safetensors, whatever OUT's ending\n"
    "  --threads N          work with N threads; the bytes are the same\n"
    "  --rows-per-chunk N   rows that are worked on at once; the bytes are the same\n"
    "  --cpu NAMES          use no other processor features: " QP_CPU_OPTION_NAMES "\n"
    "  --force              replace OUT\n"
    "  --quiet              say nothing, show no progress\n"
    "\n"
    "example: quipu convert --to q4_g64_fp16 model.safetensors model.ninfer\n",
    convert};
