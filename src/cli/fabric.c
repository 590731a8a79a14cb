/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.c - quipu fabric: the frame of its parts. */
#include "cli/fabric.h"
#include "cli/output.h"

#include <stddef.h>
#include <stdlib.h>

static const qp_cli_part *const parts[] = {
#define QP_ROW(name, summary) &qp_cli_part_##name,
    QP_FABRIC_PARTS(QP_ROW)
#undef QP_ROW
};

enum { PARTS = sizeof parts / sizeof *parts };

static const qp_cli_part *find_part(const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i]->name, name) == 0)
            return parts[i];
    return NULL;
}

const char *qp_cli_fabric_help(const char *part)
{
    const qp_cli_part *found = find_part(part);
    return found != NULL ? found->help : qp_verb_fabric.help;
}

/* ---- options ------------------------------------------------------------------------------ */

/* An option with a word for its value, a number, a number from 1 (for these, 0 in
 * qp_cli_part_options is "not given"), or none; where it goes in qp_cli_part_options. */
typedef enum option_kind {
    OPTION_WORD,
    OPTION_NUMBER,
    OPTION_COUNT,
    OPTION_FLAG,
    OPTION_RESET
} option_kind;

typedef struct option {
    const char *name;
    option_kind kind;
    size_t offset;
} option;

static const option options[] = {
#define AT(member) offsetof(qp_cli_part_options, member)
    {"--fabric", OPTION_WORD, AT(fabric)},
    {"--graph", OPTION_WORD, AT(graph)},
    {"--map", OPTION_WORD, AT(map)},
    {"--unit", OPTION_WORD, AT(unit)},
    {"--op", OPTION_WORD, AT(operation)},
    {"--actor", OPTION_WORD, AT(actor)},
    {"--in", OPTION_WORD, AT(inputs)},
    {"--out", OPTION_WORD, AT(outputs)},
    {"--image", OPTION_WORD, AT(image)},
    {"--tokens", OPTION_WORD, AT(tokens)},
    {"--stalls", OPTION_WORD, AT(stalls)},
    {"--vcd", OPTION_WORD, AT(vcd)},
    {"--pipeline", OPTION_WORD, AT(pipeline)},
    {"--work", OPTION_COUNT, AT(work)},
    {"--limit", OPTION_COUNT, AT(limit)},
    {"--cycles", OPTION_COUNT, AT(cycles)},
    {"--stall-seed", OPTION_COUNT, AT(stall_seed)},
    {"--template", OPTION_NUMBER, AT(ordinal)},
    {"--reset", OPTION_RESET, AT(resets)},
    {"--json", OPTION_FLAG, AT(json)},
    {"--abi", OPTION_FLAG, AT(abi)},
    {"--golden", OPTION_FLAG, AT(golden)},
    {"--watch", OPTION_FLAG, AT(watch)},
    {"--templates", OPTION_FLAG, AT(templates)},
#undef AT
};

enum { OPTIONS = sizeof options / sizeof *options };

typedef struct call {
    const qp_cli_part *part;
    char title[32]; /* "fabric check", for messages */
    qp_cli_part_options options;
    const char *output;
    char **paths;
    size_t path_count;
} call;

static bool takes(const qp_cli_part *part, const char *name)
{
    char word[24];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(part->options, word) != NULL;
}

static bool read_number(qp_args *args, const option *o, const char *text, uint64_t *number)
{
    const int64_t least = o->kind == OPTION_COUNT ? 1 : 0;
    int64_t value;
    if (args->failed)
        return false;
    if (qp_cli_i64(text, &value) && value >= least) {
        *number = (uint64_t)value;
        return true;
    }
    args->failed = true;
    snprintf(args->why, sizeof args->why, "%s takes a number%s, not '%.60s'", o->name,
             least > 0 ? " from 1" : "", text);
    return false;
}

static void set_value(call *c, const option *o, qp_args *args, const char *text)
{
    char *place = (char *)&c->options + o->offset;
    uint64_t number;

    if (o->kind == OPTION_WORD) {
        memcpy(place, &text, sizeof text);
        return;
    }
    if (!read_number(args, o, text, &number))
        return;
    if (o->kind == OPTION_RESET)
        c->options.resets[c->options.reset_count++] = number;
    else
        memcpy(place, &number, sizeof number);
    if (o->offset == offsetof(qp_cli_part_options, ordinal))
        c->options.has_ordinal = true;
}

/* Whether the current argument is an option of the part's. */
static bool take_option(call *c, qp_args *args)
{
    const char *text;
    for (size_t i = 0; i < OPTIONS && !args->failed; i++) {
        const option *o = &options[i];
        if (!takes(c->part, o->name))
            continue;
        if (o->kind == OPTION_FLAG && qp_args_flag(args, o->name)) {
            const bool yes = true;
            memcpy((char *)&c->options + o->offset, &yes, sizeof yes);
            return true;
        }
        if (o->kind != OPTION_FLAG && qp_args_value(args, o->name, &text)) {
            if (!args->failed)
                set_value(c, o, args, text);
            return true;
        }
    }
    return qp_args_value(args, "-o", &c->output) || qp_args_value(args, "--output", &c->output);
}

/* The files are gathered at the front of argv. */
static qp_args read_arguments(call *c, int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    c->output = "-";
    c->paths = argv + 1;
    while (qp_args_next(&args)) {
        if (take_option(c, &args))
            continue;
        if (!qp_args_positional(&args, &path))
            break;
        c->paths[c->path_count++] = (char *)(uintptr_t)path;
    }
    return args;
}

/* ---- files -------------------------------------------------------------------------------- */

static int refuse(const call *c, const qp_fabric_error *error)
{
    char text[sizeof error->base.message + 256];
    if (error->fault == QP_FABRIC_NO_FAULT)
        return qp_cli_refuse(c->title, NULL, &error->base);
    fprintf(stderr, "quipu %s: %s\n", c->title, qp_fabric_error_text(error, text, sizeof text));
    return QP_EXIT_REFUSED;
}

static int write_text(const call *c, const qp_buffer *text)
{
    qp_error error;
    if (text->size == 0 && !text->failed)
        return QP_EXIT_OK;
    if (qp_output_buffer(c->output, text, &error) != QP_OK)
        return qp_cli_refuse(c->title, c->output, &error);
    return QP_EXIT_OK;
}

static int run_part(const call *c, const qp_fabric_model *model)
{
    qp_fabric_error error = {0};
    qp_buffer text;

    qp_buffer_init(&text, NULL);
    qp_status status = c->part->run(model, &c->options, &text, &error);
    int code = write_text(c, &text);
    if (status != QP_OK && code == QP_EXIT_OK)
        code = refuse(c, &error);
    qp_buffer_free(&text);
    return code;
}

static int run_texts(const call *c, const qp_fabric_text *texts)
{
    qp_fabric_error error = {0};
    qp_fabric_model *model;

    if (qp_fabric_read(texts, c->path_count, NULL, &model, &error) != QP_OK)
        return refuse(c, &error);
    int code = run_part(c, model);
    qp_fabric_free(model);
    return code;
}

static int run_files(const call *c, qp_file *files, qp_fabric_text *texts)
{
    qp_error error;
    size_t opened = 0;
    int code = QP_EXIT_OK;

    for (; opened < c->path_count; opened++) {
        if (qp_cli_read(c->paths[opened], &files[opened], &error) != QP_OK) {
            code = qp_cli_refuse(c->title, c->paths[opened], &error);
            break;
        }
        texts[opened] = (qp_fabric_text){c->paths[opened], files[opened].bytes, files[opened].size};
    }
    if (code == QP_EXIT_OK)
        code = run_texts(c, texts);
    while (opened > 0)
        qp_file_close(&files[--opened]);
    return code;
}

static int run_call(const call *c)
{
    qp_file *files = qp_allocate(NULL, c->path_count, sizeof *files);
    qp_fabric_text *texts = qp_allocate(NULL, c->path_count, sizeof *texts);
    qp_error error;
    int code;

    if (files == NULL || texts == NULL) {
        qp_fail_memory(&error, "the files");
        code = qp_cli_refuse(c->title, NULL, &error);
    } else {
        code = run_files(c, files, texts);
    }
    qp_release(NULL, texts, c->path_count, sizeof *texts);
    qp_release(NULL, files, c->path_count, sizeof *files);
    return code;
}

static int fabric(int argc, char **argv)
{
    call c = {0};
    qp_error error;

    if (argc < 2)
        return qp_cli_usage("fabric", "a part is missing: check, relation, supports, ..");
    c.part = find_part(argv[1]);
    if (c.part == NULL)
        return qp_cli_usage("fabric", "there is no part '%s'", argv[1]);
    snprintf(c.title, sizeof c.title, "fabric %s", c.part->name);
    size_t room = (size_t)argc;
    c.options.resets = qp_allocate(NULL, room, sizeof *c.options.resets);
    if (c.options.resets == NULL) {
        qp_fail_memory(&error, "the cycles of resets");
        return qp_cli_refuse(c.title, NULL, &error);
    }
    qp_args args = read_arguments(&c, argc - 1, argv + 1);
    int code;
    if (args.failed)
        code = qp_cli_usage(c.title, "%s", args.why);
    else if (c.path_count == 0)
        code = qp_cli_usage(c.title, "a file is missing");
    else
        code = run_call(&c);
    qp_release(NULL, c.options.resets, room, sizeof *c.options.resets);
    return code;
}

const qp_verb qp_verb_fabric = {
    "fabric", "a reconfigurable processor: its units, maps, configuration bits, cycles",
    "usage: quipu fabric PART [OPTION...] FILE...\n"
    "\n"
    "Fabrics, dataflow graphs and maps of one on the other stand in text files; any number of\n"
    "them is read as one. A part says what to do with them:\n"
    "\n"
    "  check      whether fabrics, graphs and maps hold, and their identities\n"
    "  relation   what each operation can be configured to do: its keys or fields\n"
    "  supports   which operations accept which actors of a graph, or the rule that says no\n"
    "  templates  the ways a function unit can be switched: its capability templates\n"
    "  map        finds the maps of a graph on a fabric, or the reason why there is none\n"
    "  configure  the configuration bits of a map: image, JSON or the ABI\n"
    "  decode     reads an image back: every slot, its value and its fields\n"
    "  simulate   runs a map cycle by cycle, or a graph alone\n"
    "  show       draws units, their templates or a map as SVG\n"
    "\n"
    "'quipu fabric PART --help' explains a part. '-' reads standard input, -o OUT writes to OUT.\n"
    "What is wrong in a file is told as FILE:LINE:COLUMN, the class of the fault and a sentence.\n"
    "\n"
    "examples: quipu fabric check examples/fabric/dot/dot.fabric\n"
    "          cd examples/fabric/dot\n"
    "          quipu fabric map dot.fabric dot.graph -o dot.map\n"
    "          quipu fabric configure dot.fabric dot.graph dot.map -o dot.image\n"
    "          quipu fabric simulate dot.fabric dot.graph dot.map --tokens tokens.jsonl\n",
    fabric};
