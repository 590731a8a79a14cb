/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - quipu lower: a parameter set's graphs and certificate (integer-operators.md section
 * 13).
 */
#define _POSIX_C_SOURCE 200809L /* mkdir, rmdir */

#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/lower_linear.h"
#include "cli/output.h"
#include "cli/set_files.h"

#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct options {
    const char *path, *output, *capability, *pin;
    const char *linear, *input; /* a stored matrix in a set's place */
    bool json;
} options;

/* ---- arguments ---------------------------------------------------------------------------- */

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            o->json = true;
        else if (qp_args_value(&args, "-o", &o->output) ||
                 qp_args_value(&args, "--output", &o->output) ||
                 qp_args_value(&args, "--capability", &o->capability) ||
                 qp_args_value(&args, "--pin", &o->pin) ||
                 qp_args_value(&args, "--linear", &o->linear) ||
                 qp_args_value(&args, "--input", &o->input))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (o->path != NULL)
            return qp_cli_usage("lower", "one set at a time, please");
        else
            o->path = path;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (o->linear != NULL && (o->path != NULL || o->capability != NULL || o->pin != NULL))
        return qp_cli_usage("lower", "--linear takes a matrix in a set's place");
    if (o->linear == NULL && o->input != NULL)
        return qp_cli_usage("lower", "--input goes with --linear");
    return o->path == NULL && o->linear == NULL ? qp_cli_usage("lower", "a set is missing")
                                                : QP_EXIT_OK;
}

/* ---- what is said of a set ---------------------------------------------------------------- */

static void put_digest(const void *bytes, size_t size, qp_buffer *text)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_buffer_hex(text, digest, sizeof digest);
}

static void put_line(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, "%-12s %s\n", name, value);
}

static void put_text(const qp_lowered *set, const qp_buffer *certificate, qp_buffer *text)
{
    const qp_capability *capability = qp_lowered_capability(set);
    const char *sha256 = qp_lowered_sha256(set);

    put_line(text, "capability", capability == NULL ? "none" : capability->name);
    put_line(text, "lowering", qp_lowered_lowering(set));
    put_line(text, "set", sha256 == NULL ? "none: the graph came in a payload" : sha256);
    for (size_t i = 0; i < qp_lowered_count(set); i++) {
        qp_lowered_role role = qp_lowered_at(set, i);
        qp_buffer_format(text, "%-12s ", role.name);
        put_digest(role.bytes, role.size, text);
        qp_buffer_format(text, "  %zu bytes\n", role.size);
    }
    qp_buffer_format(text, "%-12s ", "certificate");
    put_digest(certificate->bytes, certificate->size, text);
    for (int p = QP_ACC32; p <= QP_ACC64; p++) {
        qp_buffer_format(text, "\n%-12s ", qp_profile_name((qp_profile)p));
        qp_describe_profile(qp_lowered_certificate(set), (qp_profile)p, text);
    }
    qp_buffer_format(text, "\n%-12s ", "npu");
    qp_describe_npu(qp_lowered_certificate(set), text);
    qp_buffer_text(text, "\n");
}

static void put_string(qp_buffer *text, const char *value)
{
    if (value == NULL)
        qp_buffer_text(text, "null");
    else
        qp_buffer_json_string(text, value, strlen(value));
}

static void put_json(const qp_lowered *set, const qp_buffer *certificate, qp_buffer *text)
{
    const qp_capability *capability = qp_lowered_capability(set);
    const qp_certificate *c = qp_lowered_certificate(set);

    qp_buffer_text(text, "{\"capability\":");
    put_string(text, capability == NULL ? NULL : capability->name);
    qp_buffer_text(text, ",\"lowering\":");
    put_string(text, qp_lowered_lowering(set));
    qp_buffer_text(text, ",\"set_sha256\":");
    put_string(text, qp_lowered_sha256(set));
    qp_buffer_text(text, ",\"graphs\":[");
    for (size_t i = 0; i < qp_lowered_count(set); i++) {
        qp_lowered_role role = qp_lowered_at(set, i);
        qp_buffer_text(text, i == 0 ? "{\"name\":" : ",{\"name\":");
        put_string(text, role.name);
        qp_buffer_text(text, ",\"graph_sha256\":\"");
        put_digest(role.bytes, role.size, text);
        qp_buffer_format(text, "\",\"bytes\":%zu}", role.size);
    }
    qp_buffer_text(text, "],\"certificate_sha256\":\"");
    put_digest(certificate->bytes, certificate->size, text);
    qp_buffer_format(text, "\",\"acc32\":%s,\"acc64\":%s,\"npu\":%s}\n",
                     qp_certificate_meets(c, QP_ACC32, NULL) ? "true" : "false",
                     qp_certificate_meets(c, QP_ACC64, NULL) ? "true" : "false",
                     qp_certificate_npu(c) ? "true" : "false");
}

/* ---- the directory ------------------------------------------------------------------------ */

/* Where the files go; on failure those written so far are taken away again. */
typedef struct target {
    const char *directory;
    bool made;
    qp_buffer name; /* of the file at hand */
} target;

static const char *name_file(target *t, const char *name, const char *suffix)
{
    t->name.size = 0;
    qp_buffer_format(&t->name, "%s/%s%s", t->directory, name, suffix);
    qp_buffer_append(&t->name, "", 1);
    return t->name.failed ? NULL : (const char *)t->name.bytes;
}

static qp_status write_file(target *t, const char *name, const char *suffix, const void *bytes,
                            size_t size, qp_error *error)
{
    const char *path = name_file(t, name, suffix);
    return path == NULL ? qp_fail_memory(error, "the name of a file")
                        : qp_output_write(path, bytes, size, error);
}

static void take_away(target *t, const qp_lowered *set, size_t written)
{
    for (size_t i = 0; i < written; i++) {
        const char *path = name_file(t, qp_lowered_at(set, i).name, ".whg1");
        if (path != NULL)
            remove(path);
    }
    if (t->made)
        rmdir(t->directory);
}

static qp_status make_directory(target *t, qp_error *error)
{
    struct stat facts;
    t->made = mkdir(t->directory, 0777) == 0;
    if (t->made || (errno == EEXIST && stat(t->directory, &facts) == 0 && S_ISDIR(facts.st_mode)))
        return QP_OK;
    return qp_fail(error, QP_IO, "cannot make the directory %.150s: %s", t->directory,
                   strerror(errno));
}

/* The graphs first and the certificate last, so that a directory with one is whole. */
static qp_status write_all(target *t, const qp_lowered *set, const qp_buffer *certificate,
                           qp_error *error)
{
    size_t written = 0;
    qp_status status = make_directory(t, error);
    if (status != QP_OK)
        return status;
    for (; status == QP_OK && written < qp_lowered_count(set); written++) {
        qp_lowered_role role = qp_lowered_at(set, written);
        status = write_file(t, role.name, ".whg1", role.bytes, role.size, error);
    }
    if (status == QP_OK)
        status =
            write_file(t, "certificate", ".json", certificate->bytes, certificate->size, error);
    if (status != QP_OK)
        take_away(t, set, written);
    return status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status show(const qp_lowered *set, const options *o, qp_error *error)
{
    qp_buffer certificate, text;
    qp_status status = QP_OK;

    qp_buffer_init(&certificate, NULL);
    qp_buffer_init(&text, NULL);
    qp_certificate_append(qp_lowered_certificate(set), &certificate);
    if (certificate.failed)
        status = qp_fail_memory(error, "a certificate");
    if (status == QP_OK && o->output != NULL) {
        target t = {.directory = o->output};
        qp_buffer_init(&t.name, NULL);
        status = write_all(&t, set, &certificate, error);
        qp_buffer_free(&t.name);
    }
    if (status == QP_OK) {
        if (o->json)
            put_json(set, &certificate, &text);
        else
            put_text(set, &certificate, &text);
        status = qp_output_buffer("-", &text, error);
    }
    qp_buffer_free(&text);
    qp_buffer_free(&certificate);
    return status;
}

static qp_status read_pin(const char *path, qp_pin *pin, qp_error *error)
{
    qp_file file;
    qp_status status = qp_cli_read(path, &file, error);
    if (status != QP_OK)
        return status;
    status = qp_pin_read(file.bytes, file.size, NULL, pin, error);
    qp_file_close(&file);
    return status;
}

static int lower_files(const qp_set_files *files, const options *o, const qp_pin *pin)
{
    qp_lower_options asked = {.capability = o->capability, .pin = pin};
    qp_lowered *set;
    qp_error error;

    if (pin != NULL && asked.capability == NULL)
        asked.capability = pin->capability;
    if (qp_lower(files->members, files->count, &asked, NULL, &set, &error) != QP_OK)
        return qp_cli_refuse("lower", o->path, &error);
    qp_status status = show(set, o, &error);
    qp_lowered_free(set);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("lower", NULL, &error);
}

static int lower(int argc, char **argv)
{
    options o = {0};
    qp_set_files files;
    qp_pin pin;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (o.linear != NULL)
        return qp_lower_linear(&(qp_lower_linear_options){o.linear, o.input, o.output, o.json});
    if (o.pin != NULL && read_pin(o.pin, &pin, &error) != QP_OK)
        return qp_cli_refuse("lower", o.pin, &error);
    if (qp_set_files_open(o.path, o.capability, &files, &error) != QP_OK)
        return qp_cli_refuse("lower", o.path, &error);
    code = lower_files(&files, &o, o.pin == NULL ? NULL : &pin);
    qp_set_files_close(&files);
    return code;
}

const qp_verb qp_verb_lower = {
    "lower", "the graphs and the certificate of a parameter set, or of a stored matrix",
    "usage: quipu lower [OPTION...] [-o DIR] SET\n"
    "       quipu lower --linear FILE:TENSOR [--input LO,HI] [-o W.whg1]\n"
    "\n"
    "Turns the networks of a parameter set into their canonical WHG1 graphs, certifies them and\n"
    "prints their digests and the verdict. SET is the set's file, the directory of its files, or\n"
    "an artifact that 'quipu pack --set' made; '-' reads one file from standard input. A set that\n"
    "its capability does not admit is refused. docs/lowering.md lists the forms and their files.\n"
    "\n"
    "With --linear it turns a stored matrix [N,K] of a grouped-integer format into a graph of its\n"
    "exact product with a vector of K integers. The result is 2^24 times the product, an integer:\n"
    "nothing is rounded. A matrix whose sums could pass 64 bits is refused, with the node.\n"
    "\n"
    "  --capability NAME  the capability, such as wai.neural.int_hyper; without it the files'\n"
    "                     names tell, or how a single file begins\n"
    "  --pin PIN.json     refuse a set that is not the pinned one, or weaker than it claims\n"
    "  --json             print JSON\n"
    "  -o DIR             write ROLE.whg1 for each graph and certificate.json to DIR, which is\n"
    "                     made where it is not there; nothing is left of a failure\n"
    "\n"
    "  --linear FILE:TENSOR  a matrix of a file of weights\n"
    "  --input LO,HI         the range of the vector's elements; -128,127 without it\n"
    "\n"
    "examples: quipu lower --capability wai.neural.int_synth -o graphs int_synth.json\n"
    "          quipu lower --linear model.ninfer:blk.0.attn_q.weight -o q.whg1\n",
    lower};
