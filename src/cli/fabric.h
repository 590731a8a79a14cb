/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric.h - what the parts of quipu fabric share. A part is one row of QP_FABRIC_PARTS and one
 * function; the frame reads the files, calls it and writes what it appended.
 */
#ifndef QP_CLI_FABRIC_H
#define QP_CLI_FABRIC_H

#include "base/json.h"
#include "cli/cli.h"
#include "fabric/model.h"

#include <inttypes.h>

/* Every part, in the order of `quipu fabric --help`: name and one line. */
#define QP_FABRIC_PARTS(ROW)                                                                       \
    ROW(check, "whether fabrics, graphs and maps hold, and their identities")                      \
    ROW(relation, "what each operation can be configured to do: its keys or fields")               \
    ROW(supports, "which operations accept which actors of a graph, or the rule that says no")     \
    ROW(templates, "the ways a function unit can be switched: its capability templates")           \
    ROW(map, "finds the maps of a graph on a fabric, or the reason why there is none")             \
    ROW(configure, "the configuration bits of a map: image, JSON or the ABI")                      \
    ROW(decode, "reads an image back: every slot, its value and its fields")                       \
    ROW(simulate, "runs a map cycle by cycle, or a graph alone")                                   \
    ROW(show, "draws units, their templates or a map as SVG")

/* What the command line asks for; a part reads the options that its row takes. */
typedef struct qp_cli_part_options {
    const char *fabric, *graph, *map, *unit, *operation, *actor, *inputs, *outputs;
    const char *image, *tokens, *stalls, *vcd, *pipeline;
    uint64_t work, limit, cycles, stall_seed, ordinal; /* 0: not given, but for the ordinal */
    bool has_ordinal;
    bool json, abi, golden, watch, templates;
    uint64_t *resets; /* all cycles of --reset */
    size_t reset_count;
} qp_cli_part_options;

/*
 * Appends the part's output to `text`, also where it returns a refusal (a "no" in JSON). The model
 * is that of the files.
 */
typedef qp_status qp_cli_part_run(const qp_fabric_model *model, const qp_cli_part_options *options,
                                  qp_buffer *text, qp_fabric_error *error);

typedef struct qp_cli_part {
    const char *name, *summary;
    const char *help;    /* the whole of `quipu fabric PART --help` */
    const char *options; /* the long options that it takes, a blank around each: " --json --map " */
    qp_cli_part_run *run;
} qp_cli_part;

#define QP_ROW(name, summary) extern const qp_cli_part qp_cli_part_##name;
QP_FABRIC_PARTS(QP_ROW)
#undef QP_ROW

/* The help of a part by its name; that of the verb for any other name. */
const char *qp_cli_fabric_help(const char *part);

/* ---- what parts need ---------------------------------------------------------------------- */

/* The fault of a call of the foundation, without a place. */
qp_status qp_cli_fault(qp_status status, qp_fabric_error *error);

/* A name of the model: `given`, which must be there, or the only one; `option` is for the message
 * ("--map"). */
qp_status qp_cli_choose(const qp_fabric_model *model, qp_fabric_item item, const char *given,
                        const char *option, const char **name, qp_fabric_error *error);

/* A walk over function units: those of one fabric, or of all; and one of them, or all. */
typedef struct qp_cli_unit_walk {
    const qp_fabric_model *model;
    const char *fabric_name, *unit_name; /* NULL for all */
    uint32_t next_fabric, next_unit;
    /* the unit that the walk is at */
    const qp_fabric_fabric *fabric;
    const qp_fabric_fu *unit;
} qp_cli_unit_walk;
qp_cli_unit_walk qp_cli_units(const qp_fabric_model *model, const char *fabric, const char *unit);
bool qp_cli_next_unit(qp_cli_unit_walk *walk);

/* Appends words, divided by `between`, in lines of at most 100 columns that begin with `indent`
 * blanks. */
typedef struct qp_cli_lines {
    qp_buffer *text;
    size_t indent;
    const char *between;
    size_t column; /* 0 before the first word */
} qp_cli_lines;
void qp_cli_lines_add(qp_cli_lines *lines, const char *word);
void qp_cli_lines_end(qp_cli_lines *lines);

/* Appends a line "  TITLE  DIGITS" of hexadecimal digits, and more lines below it for many. */
void qp_cli_put_digits(qp_buffer *text, const char *title, const char *digits, size_t count);

/* ,"name":"text" with `before` in place of the comma. */
void qp_cli_json_text(qp_buffer *text, const char *before, const char *name, const char *value);
void qp_cli_json_number(qp_buffer *text, const char *before, const char *name, uint64_t value);

/* What is in a model: a table, or the members "fabrics", "graphs" and "maps" of a JSON object. */
qp_status qp_cli_put_items(const qp_fabric_model *model, bool json, qp_buffer *text,
                           qp_fabric_error *error);

#endif
