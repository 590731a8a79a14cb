/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - quipu set: what a parameter set is, its pin, and whether it holds. */
#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/open_set.h"
#include "cli/output.h"

#include "base/json.h"

enum { USUAL_QUALITY = 2 };

typedef struct options {
    const char *action, *path, *output, *capability, *pin, *quality_text;
    int quality;
} options;

static int check_options(options *o)
{
    static const char *const actions[] = {"info", "pin", "verify"};
    bool known = false;
    for (size_t i = 0; o->action != NULL && i < 3; i++)
        known = known || strcmp(o->action, actions[i]) == 0;
    if (!known)
        return qp_cli_usage("set", "info, pin or verify comes first");
    if (o->quality_text != NULL && !qp_cli_quality(o->quality_text, &o->quality))
        return qp_cli_usage("set", "--quality is 1, 2 or 3");
    if ((o->path == NULL) == (o->quality_text == NULL))
        return qp_cli_usage("set", "a directory, or --quality N for the model within this command");
    return QP_EXIT_OK;
}

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *word;

    while (qp_args_next(&args)) {
        if (qp_args_value(&args, "-o", &o->output) ||
            qp_args_value(&args, "--output", &o->output) ||
            qp_args_value(&args, "--capability", &o->capability) ||
            qp_args_value(&args, "--pin", &o->pin) ||
            qp_args_value(&args, "--quality", &o->quality_text))
            continue;
        if (!qp_args_positional(&args, &word))
            break;
        if (o->action == NULL)
            o->action = word;
        else if (o->path == NULL)
            o->path = word;
        else
            return qp_cli_usage("set", "one set at a time, please");
    }
    return args.failed ? qp_args_usage(&args) : check_options(o);
}

/* ---- what is said ------------------------------------------------------------------------- */

static qp_profile strongest(const qp_lowered *set)
{
    return qp_certificate_meets(qp_lowered_certificate(set), QP_ACC32, NULL) ? QP_ACC32 : QP_ACC64;
}

static void put_info(const qp_set *set, qp_buffer *text)
{
    const qp_lowered *lowered = qp_set_lowered(set);
    qp_buffer_format(text, "capability   %s\n", qp_lowered_capability(lowered)->name);
    qp_buffer_format(text, "lowering     %s\n", qp_lowered_lowering(lowered));
    qp_buffer_format(text, "set          %s\n", qp_lowered_sha256(lowered));
    for (size_t i = 0; i < qp_lowered_count(lowered); i++) {
        qp_lowered_role role = qp_lowered_at(lowered, i);
        qp_graph_info info = qp_graph_describe(role.graph);
        qp_buffer_format(text, "%-12s %zu bytes, %u operators\n", role.name, role.size,
                         (unsigned)info.n_operators);
    }
    for (int p = QP_ACC32; p <= QP_ACC64; p++) {
        qp_buffer_format(text, "%-12s ", qp_profile_name((qp_profile)p));
        qp_describe_profile(qp_lowered_certificate(lowered), (qp_profile)p, text);
        qp_buffer_text(text, "\n");
    }
    qp_buffer_format(text, "memory       %zu bytes when open\n", qp_set_bytes(set));
}

/* Canonical JSON: names in order, no spaces. */
static void put_pin(const qp_set *set, qp_buffer *text)
{
    const qp_lowered *lowered = qp_set_lowered(set);
    const char *name = qp_lowered_capability(lowered)->name;
    qp_buffer_text(text, "{\"capability\":");
    qp_buffer_json_string(text, name, strlen(name));
    qp_buffer_format(text, ",\"ops_profile\":\"%s\",\"sha256\":\"%s\"}",
                     qp_profile_name(strongest(lowered)), qp_lowered_sha256(lowered));
}

static void put_verified(const qp_set *set, qp_buffer *text)
{
    const qp_lowered *lowered = qp_set_lowered(set);
    qp_buffer_format(text, "%s: sound, and meets %s\n", qp_lowered_sha256(lowered),
                     qp_profile_name(strongest(lowered)));
}

static qp_status say(const qp_set *set, const options *o, qp_error *error)
{
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    if (strcmp(o->action, "info") == 0)
        put_info(set, &text);
    else if (strcmp(o->action, "pin") == 0)
        put_pin(set, &text);
    else
        put_verified(set, &text);
    qp_status status = qp_output_buffer(o->output == NULL ? "-" : o->output, &text, error);
    qp_buffer_free(&text);
    return status;
}

/* The capability that the names of a set's files tell; the picture codec's where they tell none,
 * whose refusal then says what is missing. */
static const char *told_by_files(const char *path)
{
    qp_set_files files;
    qp_lower_options any = {.any_verdict = 1};
    qp_lowered *lowered = NULL;
    const char *name = QP_PICTURE_CAPABILITY;
    qp_error unused;

    if (path == NULL || qp_set_files_open(path, NULL, &files, &unused) != QP_OK)
        return name;
    if (qp_lower(files.members, files.count, &any, NULL, &lowered, &unused) == QP_OK &&
        qp_lowered_capability(lowered) != NULL)
        name = qp_lowered_capability(lowered)->name;
    qp_lowered_free(lowered);
    qp_set_files_close(&files);
    return name;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static int set(int argc, char **argv)
{
    options o = {.quality = USUAL_QUALITY};
    qp_opened_set opened;
    qp_pin pin;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (o.pin != NULL && qp_cli_pin(o.pin, &pin, &error) != QP_OK)
        return qp_cli_refuse("set", o.pin, &error);
    if (o.capability == NULL)
        o.capability = o.pin == NULL ? told_by_files(o.path) : pin.capability;
    qp_status status = qp_opened_set_open(o.path, o.capability, o.quality,
                                          o.pin == NULL ? NULL : &pin, &opened, &error);
    if (status != QP_OK)
        return qp_cli_refuse("set", o.path, &error);
    status = say(opened.set, &o, &error);
    qp_opened_set_close(&opened);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("set", o.output, &error);
}

const qp_verb qp_verb_set = {
    "set", "what a parameter set is, its pin, and whether it holds",
    "usage: quipu set info|pin|verify [OPTION...] DIR\n"
    "\n"
    "Opens the parameter set in DIR (or the one file of a set of one file) as a decode would:\n"
    "its networks are lowered and certified, its entropy tables are checked.\n"
    "\n"
    "  info            what it is: digest, graphs, profiles\n"
    "  pin             its pin, by which a receiver knows it: canonical JSON\n"
    "  verify          exit 0 where a decode may use it, 1 with the reason where not\n"
    "\n"
    "  --capability NAME  the capability; without it that of the pin, or that the files tell\n"
    "  --quality N        the model within this command, 1 to 3, in place of DIR\n"
    "  --pin PIN.json     refuse a set that is not the pinned one, or weaker than it claims\n"
    "  -o FILE            where the text goes\n"
    "\n"
    "example: quipu set pin -o pin.json models/int_hyper/q2\n",
    set};
