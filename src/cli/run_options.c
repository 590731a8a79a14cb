/* SPDX-License-Identifier: Apache-2.0 */
/* run_options.c - the command line of `quipu run`. */
#include "cli/run.h"

static bool allocate_lists(qp_run *run, int argc)
{
    size_t room = (size_t)argc;
    run->n_words = 3 * room;
    run->words = qp_allocate(NULL, run->n_words, sizeof *run->words);
    if (run->words == NULL)
        return false;
    run->options.inputs = run->words;
    run->options.outputs = run->words + room;
    run->options.scalars = run->words + 2 * room;
    return true;
}

static bool take_flag(qp_run_options *o, qp_args *args)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--sequence", &o->sequence},   {"--digest", &o->digest},
                 {"--json", &o->json},           {"--time", &o->time},
                 {"--reference", &o->reference}, {"--trace-tensors", &o->trace_tensors}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (qp_args_flag(args, flags[i].name)) {
            *flags[i].flag = true;
            return true;
        }
    }
    return false;
}

typedef struct choices {
    const char *profile, *format;
} choices;

static bool take_value(qp_run_options *o, choices *chosen, qp_args *args)
{
    if (qp_args_value(args, "-o", &o->outputs[o->n_outputs]) ||
        qp_args_value(args, "--output", &o->outputs[o->n_outputs])) {
        o->n_outputs++;
        return true;
    }
    if (qp_args_value(args, "--scalar", &o->scalars[o->n_scalars])) {
        o->n_scalars++;
        return true;
    }
    return qp_args_value(args, "--trace", &o->trace) ||
           qp_args_value(args, "--profile", &chosen->profile) ||
           qp_args_value(args, "--format", &chosen->format);
}

static bool take_positional(qp_run_options *o, qp_args *args)
{
    const char *word;
    if (!qp_args_positional(args, &word))
        return false;
    if (o->graph == NULL)
        o->graph = word;
    else
        o->inputs[o->n_inputs++] = word;
    return true;
}

static int set_choices(qp_run_options *o, const choices *chosen)
{
    o->profile = QP_ACC64;
    if (strcmp(chosen->profile, "acc32") == 0)
        o->profile = QP_ACC32;
    else if (strcmp(chosen->profile, "acc64") != 0)
        return qp_cli_usage("run", "--profile is acc32 or acc64, not '%s'", chosen->profile);
    o->png = strcmp(chosen->format, "png") == 0;
    if (!o->png && strcmp(chosen->format, "npy") != 0)
        return qp_cli_usage("run", "--format is npy or png, not '%s'", chosen->format);
    return QP_EXIT_OK;
}

static size_t count_dashes(const char *const *names, size_t count)
{
    size_t dashes = 0;
    for (size_t i = 0; i < count; i++)
        dashes += strcmp(names[i], "-") == 0;
    return dashes;
}

static int check_streams(const qp_run_options *o)
{
    size_t read = count_dashes(&o->graph, 1) + count_dashes(o->inputs, o->n_inputs);
    size_t written = count_dashes(o->outputs, o->n_outputs);
    if (o->trace != NULL)
        written += count_dashes(&o->trace, 1);
    for (size_t i = 1; i < o->n_outputs; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->outputs[i], o->outputs[k]) == 0)
                return qp_cli_usage("run", "two outputs go to %.100s", o->outputs[i]);
    if (read > 1)
        return qp_cli_usage("run", "standard input can be read once only");
    if (written > 1)
        return qp_cli_usage("run", "only one thing can go to standard output");
    if (o->trace_tensors && (o->trace == NULL || strcmp(o->trace, "-") == 0))
        return qp_cli_usage("run", "--trace-tensors needs --trace with the name of a file");
    return QP_EXIT_OK;
}

int qp_run_read_options(qp_run *run, int argc, char **argv)
{
    qp_run_options *o = &run->options;
    choices chosen = {"acc64", "npy"};
    qp_args args = qp_args_start(argc, argv);

    if (!allocate_lists(run, argc)) {
        (void)qp_fail_memory(&run->error, "the command line");
        return qp_cli_refuse("run", NULL, &run->error);
    }
    while (qp_args_next(&args))
        if (!take_flag(o, &args) && !take_value(o, &chosen, &args) && !take_positional(o, &args))
            break;
    if (args.failed)
        return qp_args_usage(&args);
    if (o->graph == NULL)
        return qp_cli_usage("run", "a graph is needed");
    int code = set_choices(o, &chosen);
    return code == QP_EXIT_OK ? check_streams(o) : code;
}

/* ---- against the graph -------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "V" or "I=V": the value, and the index where one is given. */
static bool parse_scalar(const char *text, bool *has_index, int64_t *index, int64_t *value)
{
    char digits[24];
    const char *equals = strchr(text, '=');

    *has_index = equals != NULL;
    if (equals == NULL)
        return qp_cli_i64(text, value);
    size_t length = (size_t)(equals - text);
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return qp_cli_i64(digits, index) && qp_cli_i64(equals + 1, value);
}

/* Gives scalar `text` its place; `given` says which have one. */
static int place_scalar(qp_run *run, const char *text, bool *given)
{
    int64_t index = 0, value;
    bool has_index;
    if (!parse_scalar(text, &has_index, &index, &value))
        return qp_cli_usage("run", "--scalar takes V or I=V with whole numbers, not '%s'", text);
    while (!has_index && index < run->info.n_scalars && given[index])
        index++;
    if (index < 0 || index >= run->info.n_scalars)
        return qp_cli_usage("run", "--scalar %s: the graph takes %u scalar%s", text,
                            run->info.n_scalars, plural(run->info.n_scalars));
    if (given[index])
        return qp_cli_usage("run", "--scalar %s: scalar %lld has a value already", text,
                            (long long)index);
    given[index] = true;
    run->scalars[index] = value;
    return QP_EXIT_OK;
}

static int place_scalars(qp_run *run, bool *given)
{
    const qp_run_options *o = &run->options;
    for (size_t i = 0; i < o->n_scalars; i++) {
        int code = place_scalar(run, o->scalars[i], given);
        if (code != QP_EXIT_OK)
            return code;
    }
    if (o->n_scalars < run->info.n_scalars)
        return qp_cli_usage("run", "the graph takes %u scalar%s; %zu given with --scalar",
                            run->info.n_scalars, plural(run->info.n_scalars), o->n_scalars);
    return QP_EXIT_OK;
}

static int set_scalars(qp_run *run)
{
    size_t count = run->info.n_scalars;
    bool *given = qp_allocate(NULL, count, sizeof *given);
    run->scalars = qp_allocate(NULL, count, sizeof *run->scalars);
    if (given == NULL || run->scalars == NULL) {
        qp_release(NULL, given, count, sizeof *given);
        (void)qp_fail_memory(&run->error, "the scalars");
        return qp_cli_refuse("run", NULL, &run->error);
    }
    int code = place_scalars(run, given);
    qp_release(NULL, given, count, sizeof *given);
    return code;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), least = strlen(ending);
    return length >= least && strcmp(name + length - least, ending) == 0;
}

/* A picture's name that is not PNG's: the bytes would not be what the name says. */
static bool is_other_picture(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_in(name, endings[i]))
            return true;
    return false;
}

int qp_run_check_options(qp_run *run)
{
    const qp_run_options *o = &run->options;
    if (o->n_inputs != run->n_sources)
        return qp_cli_usage("run", "the graph takes %zu input%s; %zu given", run->n_sources,
                            plural(run->n_sources), o->n_inputs);
    if (o->n_outputs > run->info.n_outputs)
        return qp_cli_usage("run", "the graph has %u output%s; %zu given with -o",
                            run->info.n_outputs, plural(run->info.n_outputs), o->n_outputs);
    for (size_t i = 0; i < o->n_outputs; i++)
        if (is_other_picture(o->outputs[i]))
            return qp_cli_usage("run", "%.100s: pictures are written as .png, arrays as .npy",
                                o->outputs[i]);
    return set_scalars(run);
}

bool qp_run_is_png(const qp_run *run, size_t index)
{
    const char *name = run->options.outputs[index];
    if (ends_in(name, ".png") || ends_in(name, ".PNG"))
        return true;
    return run->options.png && !ends_in(name, ".npy");
}
