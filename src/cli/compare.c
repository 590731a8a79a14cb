/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - `quipu compare`: the first tensor in which two traces differ, or, told by their
 * content, how far apart two files of weights are.
 */
#include "cli/compare.h"

#include "cli/compare_weights.h"

static const char help[] =
    "usage: quipu compare A.trace B.trace [--force] [--json]\n"
    "       quipu compare A B [--all] [--html PAGE] [--json]\n"
    "\n"
    "Finds the first tensor, in graph order and decode by decode, that differs\n"
    "between two runs of one graph. It tells the operator that made the tensor, its\n"
    "parameters, both digests and ranges, and why they differ: other data, other\n"
    "parameters, other scalars or, where all these are the same, a program that\n"
    "computes wrongly. 'quipu run --trace' writes traces; where both runs kept their\n"
    "tensors (--trace-tensors), the first element that differs is shown too, with\n"
    "both values, and how many do. '-' is standard input.\n"
    "\n"
    "Of two files of weights (.ninfer, GGUF, safetensors, of one kind or of two) it\n"
    "compares the values of each tensor of the same name: how many differ, the root\n"
    "of the mean squared error, the largest error, the signal-to-noise ratio in\n"
    "decibels (the first file is the signal) and where the first difference is. A\n"
    "wider type than binary32 is compared by its own bytes.\n"
    "\n"
    "  --force      compare traces of different graphs too, as far as their tensors\n"
    "               are made by the same operators from the same tensors\n"
    "  --all        list the tensors that are the same, too\n"
    "  --html PAGE  of weights: write a page with a picture of each tensor's values\n"
    "               and errors\n"
    "  --json       print the answer as JSON\n"
    "\n"
    "Exit status: 0 no difference, 1 a difference or a refusal, 2 wrong usage, 3 the\n"
    "environment failed.\n"
    "\n"
    "Example:\n"
    "  quipu run net.whg1 in.npy --trace here.trace --trace-tensors\n"
    "  quipu compare here.trace there.trace\n"
    "  quipu compare model.safetensors model-q4.ninfer --html q4.html\n";

/* ---- two records -------------------------------------------------------------------------- */

static bool same_values(const qp_trace_record *a, const qp_trace_record *b)
{
    return memcmp(a->shape, b->shape, sizeof a->shape) == 0 && strcmp(a->sha256, b->sha256) == 0;
}

/* Whether both are the same tensor, made by the same operator from the same tensors. */
static bool same_place(const qp_trace_record *a, const qp_trace_record *b)
{
    return a->decode == b->decode && a->tensor == b->tensor && a->is_input == b->is_input &&
           a->is_state == b->is_state && strcmp(a->name, b->name) == 0 && a->output == b->output &&
           a->n_reads == b->n_reads &&
           memcmp(a->reads, b->reads, a->n_reads * sizeof *a->reads) == 0;
}

static bool same_scalars(const qp_comparison *c)
{
    const qp_buffer *a = &c->a.header.scalars, *b = &c->b.header.scalars;
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static qp_cause find_cause(const qp_comparison *c)
{
    const qp_trace_record *a = &c->record_a, *b = &c->record_b;
    if (!same_place(a, b))
        return QP_CAUSE_STRUCTURE;
    if (same_values(a, b))
        return QP_CAUSE_NONE;
    if (strcmp(a->parameters_sha256, b->parameters_sha256) != 0)
        return QP_CAUSE_PARAMETERS;
    if (strcmp(a->policy, b->policy) != 0)
        return QP_CAUSE_POLICY;
    if (a->is_input && !a->is_state)
        return QP_CAUSE_INPUT;
    if (a->is_input)
        return a->decode == 0 || c->a.header.colour ? QP_CAUSE_STATE : QP_CAUSE_EVALUATION;
    return same_scalars(c) ? QP_CAUSE_EVALUATION : QP_CAUSE_SCALARS;
}

/* ---- two traces --------------------------------------------------------------------------- */

static int refuse(const char *file, const qp_error *error)
{
    return qp_cli_refuse("compare", file, error);
}

/* Reads both traces up to their first difference, or to the end of one. */
static int find_difference(qp_comparison *c)
{
    qp_error error;
    bool more_a = true, more_b = true;

    for (;;) {
        if (qp_trace_next(&c->a, &c->record_a, &more_a, &error) != QP_OK)
            return refuse(c->a.path, &error);
        if (qp_trace_next(&c->b, &c->record_b, &more_b, &error) != QP_OK)
            return refuse(c->b.path, &error);
        if (!more_a || !more_b)
            break;
        c->cause = find_cause(c);
        if (c->cause != QP_CAUSE_NONE)
            return QP_EXIT_OK;
        c->same++;
    }
    c->cause = more_a != more_b ? QP_CAUSE_LENGTH : QP_CAUSE_NONE;
    return QP_EXIT_OK;
}

static int check_graphs(const qp_comparison *c, bool force)
{
    if (force || strcmp(c->a.header.graph, c->b.header.graph) == 0)
        return QP_EXIT_OK;
    fprintf(stderr,
            "quipu compare: the traces are of different graphs, %.16s... and %.16s...;\n"
            "--force compares them as far as their operators are the same\n",
            c->a.header.graph, c->b.header.graph);
    return QP_EXIT_REFUSED;
}

static int print(const qp_comparison *c, bool json)
{
    qp_buffer text;
    qp_error error;

    qp_buffer_init(&text, NULL);
    if (json)
        qp_compare_print_json(c, &text);
    else
        qp_compare_print(c, &text);
    if (text.failed) {
        (void)qp_fail_memory(&error, "the comparison");
        return refuse(NULL, &error);
    }
    fwrite(text.bytes, 1, text.size, stdout);
    qp_buffer_free(&text);
    return c->cause == QP_CAUSE_NONE ? QP_EXIT_OK : QP_EXIT_REFUSED;
}

static int compare(qp_comparison *c, bool force, bool json)
{
    qp_error error;
    const char *file = NULL;

    int code = check_graphs(c, force);
    if (code == QP_EXIT_OK)
        code = find_difference(c);
    if (code != QP_EXIT_OK)
        return code;
    if (qp_compare_elements(c, &file, &error) != QP_OK)
        return refuse(file, &error);
    return print(c, json);
}

static int open_and_compare(const char *paths[2], bool force, bool json)
{
    qp_comparison c = {.cause = QP_CAUSE_NONE};
    qp_error error;
    int code;

    if (qp_trace_open(&c.a, paths[0], &error) != QP_OK) {
        code = refuse(paths[0], &error);
    } else {
        if (qp_trace_open(&c.b, paths[1], &error) != QP_OK)
            code = refuse(paths[1], &error);
        else
            code = compare(&c, force, json);
        qp_trace_close(&c.b);
    }
    qp_trace_close(&c.a);
    return code;
}

typedef struct arguments {
    const char *paths[2];
    const char *html;
    bool force, json, all;
} arguments;

/* QP_EXIT_OK, or the code of wrong usage. */
static int read_arguments(int argc, char **argv, arguments *a)
{
    const char *path;
    size_t count = 0;
    qp_args args = qp_args_start(argc, argv);

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--force"))
            a->force = true;
        else if (qp_args_flag(&args, "--json"))
            a->json = true;
        else if (qp_args_flag(&args, "--all"))
            a->all = true;
        else if (qp_args_value(&args, "--html", &a->html))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (count++ < 2)
            a->paths[count - 1] = path;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (count != 2)
        return qp_cli_usage("compare", "two traces or two files of weights are needed; %zu given",
                            count);
    if (strcmp(a->paths[0], "-") == 0 && strcmp(a->paths[1], "-") == 0)
        return qp_cli_usage("compare", "standard input can be read once only");
    return QP_EXIT_OK;
}

static int verb(int argc, char **argv)
{
    arguments a = {0};
    int code = read_arguments(argc, argv, &a);
    if (code != QP_EXIT_OK)
        return code;
    if (qp_is_weights(a.paths[0]) || qp_is_weights(a.paths[1])) {
        qp_compare_weights_options options = {
            .paths = {a.paths[0], a.paths[1]}, .html = a.html, .json = a.json, .all = a.all};
        return qp_compare_weights(&options);
    }
    if (a.html != NULL || a.all)
        return qp_cli_usage("compare", "--html and --all are of files of weights");
    return open_and_compare(a.paths, a.force, a.json);
}

const qp_verb qp_verb_compare = {
    "compare", "two traces or two files of weights: where they differ, and by how much", help,
    verb};
