/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what the verbs of the quipu command share.
 *
 * A verb is one file and one row of QP_VERBS. Exit codes: 0 done, 1 refused (code and place on
 * standard error) or a difference found, 2 wrong usage, 3 the environment failed (I/O, memory).
 */
#ifndef QP_CLI_CLI_H
#define QP_CLI_CLI_H

#include "base/base.h"
#include "quipu/quipu.h"

#include <stdio.h>

enum { QP_EXIT_OK = 0, QP_EXIT_REFUSED = 1, QP_EXIT_USAGE = 2, QP_EXIT_ENVIRONMENT = 3 };

/* Every verb, in the order of `quipu --help`: name and one line. */
#define QP_VERBS(ROW)                                                                              \
    ROW(info, "what is in a file: graphs, weights, their tensors")                                 \
    ROW(certify, "the bounds certificate, the profiles a graph meets, admissible ranges")          \
    ROW(run, "run a graph on pictures or arrays")                                                  \
    ROW(compare, "two traces or two files of weights: where they differ, and by how much")         \
    ROW(dump, "a graph as JSON that people can read and edit")                                     \
    ROW(assemble, "a graph's bytes from its JSON")                                                 \
    ROW(lower, "the graphs and the certificate of a parameter set, or of a stored matrix")         \
    ROW(encode, "a picture or a video to a .qp file")                                              \
    ROW(decode, "a .qp file to its picture, video or sound")                                       \
    ROW(upscale, "a picture of twice the size, exactly")                                           \
    ROW(set, "what a parameter set is, its pin, and whether it holds")                             \
    ROW(convert, "a file of weights to another kind, or to other formats")                         \
    ROW(verify, "whether a file of weights keeps every rule of its formats")                       \
    ROW(hash, "digests of weights, the same in every kind of file")                                \
    ROW(extract, "a tensor of a file of weights as .npy")                                          \
    ROW(pack, ".npy arrays, or a parameter set, to a file of weights")                             \
    ROW(tensor, "one tensor's raw bytes: values or words to a layout's bytes, and back")           \
    ROW(formats, "how weights can be stored: formats, layouts, methods, files")                    \
    ROW(fabric, "a reconfigurable processor: its units, maps, configuration bits, cycles")         \
    ROW(vectors, "write the reference conformance vectors")                                        \
    ROW(conform, "run a directory of conformance vectors")

typedef struct qp_verb {
    const char *name;
    const char *summary;
    const char *help;                  /* the whole of `quipu VERB --help` */
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} qp_verb;

#define QP_ROW(name, summary) extern const qp_verb qp_verb_##name;
QP_VERBS(QP_ROW)
#undef QP_ROW

/* ---- messages ----------------------------------------------------------------------------- */

/* Prints "quipu VERB: FILE: code: sentence (place)" on standard error; returns the exit code.
 * `file` may be NULL. */
int qp_cli_refuse(const char *verb, const char *file, const qp_error *error);

/* Prints "quipu VERB: sentence" and where help is; returns QP_EXIT_USAGE. */
int qp_cli_usage(const char *verb, const char *format, ...) QP_PRINTF(2, 3);

/* ---- files -------------------------------------------------------------------------------- */

/* The whole of a file, or of standard input for "-". Ownership: qp_file_close. */
qp_status qp_cli_read(const char *path, qp_file *file, qp_error *error);

/* A graph from a file or from standard input, which then stays in `file`. Ownership: qp_graph_free,
 * then qp_file_close. */
qp_status qp_cli_graph(const char *path, qp_file *file, qp_graph **graph, qp_error *error);

/* What a file of another kind than expected begins as ("a PNG picture"), or NULL. */
const char *qp_cli_kind(const uint8_t *bytes, size_t size);

/* ---- options ------------------------------------------------------------------------------ */

/*
 * A walk over a verb's arguments. Options are "--name VALUE", "--name=VALUE" or a short "-o VALUE";
 * "--" ends them; "-" alone is a positional argument.
 *
 *     qp_args args = qp_args_start(argc, argv);
 *     while (qp_args_next(&args)) {
 *         if (qp_args_flag(&args, "--json"))
 *             json = true;
 *         else if (qp_args_value(&args, "-o", &output) || qp_args_value(&args, "--output",
 * &output)) continue; else if (!qp_args_positional(&args, &path)) break;
 *     }
 *     if (args.failed) return qp_args_usage(&args);
 */
typedef struct qp_args {
    char **argv;
    int argc, at;
    bool options_ended;
    bool failed; /* an unknown option or a missing value; `why` says which */
    const char *current;
    char why[120];
} qp_args;

qp_args qp_args_start(int argc, char **argv);
/* Moves to the next argument; false at the end, or after a failure. */
bool qp_args_next(qp_args *args);
/* Whether the current argument is this option, without a value. */
bool qp_args_flag(qp_args *args, const char *name);
/* Whether it is this option; its value is then in *value (or the walk has failed). */
bool qp_args_value(qp_args *args, const char *name, const char **value);
/* Whether it is no option: *value is then the argument. An unknown option fails the walk. */
bool qp_args_positional(qp_args *args, const char **value);
/* Prints why the walk failed; returns QP_EXIT_USAGE. */
int qp_args_usage(const qp_args *args);

/* A whole decimal integer; false for anything else. */
bool qp_cli_i64(const char *text, int64_t *value);

#endif
