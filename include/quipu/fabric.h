/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/fabric.h - a reconfigurable processor: what its function units can do, how a dataflow graph
 * maps on them, the bits that configure them, and their cycles (fabric-operations.md and
 * fabric-tables.md; section numbers below are of the latter).
 *
 * The way through: text files are read into a model (qp_fabric_read), which holds fabrics, graphs
 * and maps; the model is checked; then one asks it for relations, templates, maps, configuration
 * bits and runs. The library of this header is `quipu_fabric`; it needs nothing of `quipu` but the
 * foundation, and uses MPFR for the floating-point schemas where it was built with it.
 *
 * Names address what a model holds: a fabric, graph or map by its name, a function unit by its name
 * in the fabric, an operation by "UNIT.NODE", an actor by its first result without '%'.
 */
#ifndef QUIPU_FABRIC_H
#define QUIPU_FABRIC_H

#include "quipu/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors (section 11) ------------------------------------------------------------------ */

/* The four classes of refusal. */
typedef enum qp_fabric_fault {
    QP_FABRIC_NO_FAULT = 0, /* not a refusal of the text: memory, a file, a wrong call */
    QP_FABRIC_INVALID,      /* a bad record, file or run */
    QP_FABRIC_INADMISSIBLE, /* an actor, a port or a proof is not accepted */
    QP_FABRIC_UNSUPPORTED,  /* well formed, but nothing here provides it */
    QP_FABRIC_CONFLICT      /* two values for one configuration slot */
} qp_fabric_fault;

/* Which rule of section 6 or 11 says no to an actor; QP_FABRIC_RULE_NONE elsewhere. */
typedef enum qp_fabric_rule {
    QP_FABRIC_RULE_NONE = 0,
    QP_FABRIC_RULE_SCHEMA,         /* the schema is not in op_list */
    QP_FABRIC_RULE_SHAPE,          /* a scalar on a vector family, or the reverse; a wrong rank */
    QP_FABRIC_RULE_WIDTH,          /* an integer width is not in the record */
    QP_FABRIC_RULE_FORMAT,         /* a float format is not in the record */
    QP_FABRIC_RULE_PAIR,           /* a pair of a cast or conversion is not in the record */
    QP_FABRIC_RULE_PREDICATE,      /* a predicate is not in the record */
    QP_FABRIC_RULE_STEP_KIND,      /* another step kind */
    QP_FABRIC_RULE_CAPACITY,       /* a payload, block or container over the record's maximum */
    QP_FABRIC_RULE_FAN,            /* more lanes than max_fan */
    QP_FABRIC_RULE_FAST_MATH,      /* the actor does not grant required_fast_math */
    QP_FABRIC_RULE_ROUNDING,       /* a rounding mode is not in the profile */
    QP_FABRIC_RULE_NAN,            /* a NaN behaviour is not in the profile */
    QP_FABRIC_RULE_SIGNED_ZERO,    /* the actor needs signed zeros preserved */
    QP_FABRIC_RULE_ACCURACY,       /* the circuit guarantees less than the actor accepts */
    QP_FABRIC_RULE_INDEX_WIDTH,    /* the graph's index width is not in resolved_index_widths */
    QP_FABRIC_RULE_TYPE,           /* a type that the family never carries */
    QP_FABRIC_RULE_PORT_WIDTH,     /* a payload is wider than a port or a segment of its path */
    QP_FABRIC_RULE_PORT_KIND,      /* bits against bits_tag */
    QP_FABRIC_RULE_CORRESPONDENCE, /* ports that are not the canonical ones (sections 4, 7.1) */
    QP_FABRIC_RULE_DEFINEDNESS,    /* a phase or mask without a proof (section 3) */
    QP_FABRIC_RULE_COUNT
} qp_fabric_rule;

/*
 * Where and why a call failed. `base` is the error of the whole library: its status is QP_MALFORMED
 * for Invalid and QP_MODEL_MISMATCH for the three others. `line` and `column` count from 1, columns
 * in bytes; 0 where no place in a file applies, and `file` is then "". A longer file name keeps its
 * end.
 */
typedef struct qp_fabric_error {
    qp_error base;
    qp_fabric_fault fault;
    qp_fabric_rule rule;
    uint32_t line, column;
    char file[160];
} qp_fabric_error;

/* "Invalid", "CapabilityInadmissible", "Unsupported", "Conflict"; "" for no fault. */
QP_API const char *qp_fabric_fault_name(qp_fabric_fault fault);

/* A rule in one word as the command prints it ("port-width"); "none" for no rule. */
QP_API const char *qp_fabric_rule_name(qp_fabric_rule rule);

/*
 * Writes "FILE:LINE:COLUMN: Invalid: message" (without a place where there is none) into `text` of
 * `size` bytes; the line is cut to fit and always terminated. Returns `text`.
 */
QP_API const char *qp_fabric_error_text(const qp_fabric_error *error, char *text, size_t size);

/* ---- reading text files (section 12) ------------------------------------------------------ */

typedef struct qp_fabric_model qp_fabric_model;

/* One text file: its name is for messages. Bytes need no terminator. */
typedef struct qp_fabric_text {
    const char *name;
    const void *bytes;
    size_t size;
} qp_fabric_text;

/*
 * Reads any number of texts as one and resolves every name. The grammar, the types of graphs and
 * the uniqueness of names are checked here; what a record, a unit or a map means is checked by
 * qp_fabric_check. Nothing of the texts is kept. Memory is proportional to them.
 *
 * QP_OK with the model in *model, else *model is NULL. Ownership: qp_fabric_free.
 */
QP_API qp_status qp_fabric_read(const qp_fabric_text *texts, size_t count,
                                const qp_allocator *allocator, qp_fabric_model **model,
                                qp_fabric_error *error);

/* Frees a model and all that it lent; NULL is allowed. */
QP_API void qp_fabric_free(qp_fabric_model *model);

/* What a model holds. */
typedef enum qp_fabric_item {
    QP_FABRIC_ITEM_FABRIC,
    QP_FABRIC_ITEM_GRAPH,
    QP_FABRIC_ITEM_MAP
} qp_fabric_item;

QP_API size_t qp_fabric_count(const qp_fabric_model *model, qp_fabric_item item);

/* A name of the model; NULL where `index` is not below the count. The model owns it. */
QP_API const char *qp_fabric_name(const qp_fabric_model *model, qp_fabric_item item, size_t index);

/*
 * The canonical bytes of one fabric, graph or map (section 11): one line of tokens. QP_OK with
 * `*size` bytes in *bytes; ownership: qp_bytes_free with the same allocator.
 */
QP_API qp_status qp_fabric_canonical(const qp_fabric_model *model, qp_fabric_item item,
                                     size_t index, const qp_allocator *allocator, void **bytes,
                                     size_t *size, qp_fabric_error *error);

/* The identity (section 11) as 64 lower-case digits and a NUL. */
QP_API qp_status qp_fabric_identity(const qp_fabric_model *model, qp_fabric_item item, size_t index,
                                    char text[65], qp_fabric_error *error);

/*
 * Checks everything in the model: every operation's record and relation, every unit's wiring and
 * templates, every map. The first fault in file order is reported.
 */
QP_API qp_status qp_fabric_check(const qp_fabric_model *model, const qp_allocator *allocator,
                                 qp_fabric_error *error);

/* ---- capability (sections 5 to 8) --------------------------------------------------------- */

typedef enum qp_fabric_relation_kind {
    QP_FABRIC_RELATION_NONE,
    QP_FABRIC_RELATION_FINITE,
    QP_FABRIC_RELATION_DIRECT
} qp_fabric_relation_kind;

/* A key of a finite domain: its bytes (section 7) and how the command shows it ("Add"). */
typedef struct qp_fabric_key {
    const uint8_t *bytes;
    size_t size;
    const char *text;
} qp_fabric_key;

/* A field of a direct carrier (section 8), from bit `offset` of the carrier. */
typedef struct qp_fabric_field {
    const char *name;
    uint64_t offset, width;
} qp_fabric_field;

/* The sealed relation of one operation; the arrays belong to it. */
typedef struct qp_fabric_relation {
    qp_fabric_relation_kind kind;
    size_t key_count; /* finite */
    const qp_fabric_key *keys;
    uint64_t carrier_bits; /* direct */
    size_t field_count;
    const qp_fabric_field *fields;
} qp_fabric_relation;

/* The relation of "UNIT.NODE" of a fabric. Ownership: qp_fabric_relation_free. */
QP_API qp_status qp_fabric_relation_of(const qp_fabric_model *model, const char *fabric,
                                       const char *operation, const qp_allocator *allocator,
                                       qp_fabric_relation **relation, qp_fabric_error *error);
QP_API void qp_fabric_relation_free(qp_fabric_relation *relation);

/* Supports(R, A, P): which actor, on which operation, through which ports. */
typedef struct qp_fabric_question {
    const char *fabric, *operation; /* "UNIT.NODE" */
    const char *graph, *actor;      /* the actor by its first result */
    const uint32_t *operand_ports;  /* NULL with NULL below: the first canonical ports */
    const uint32_t *result_ports;
    size_t operand_count, result_count;
} qp_fabric_question;

/*
 * QP_OK where the operation supports the actor; QP_MODEL_MISMATCH with fault and rule where it does
 * not; another status where the question itself is wrong.
 */
QP_API qp_status qp_fabric_supports(const qp_fabric_model *model,
                                    const qp_fabric_question *question,
                                    const qp_allocator *allocator, qp_fabric_error *error);

/* ---- templates (section 10) --------------------------------------------------------------- */

/* One capability template; nodes and edges by their names ("add", "a -> da.0"). */
typedef struct qp_fabric_template {
    size_t node_count, edge_count;
    const char *const *nodes;
    const char *const *edges;
    const uint8_t *bytes; /* section 10 */
    size_t size;
} qp_fabric_template;

typedef struct qp_fabric_templates {
    size_t count;
    const qp_fabric_template *rows; /* the ordinal is the position */
} qp_fabric_templates;

/* The inventory of a unit. Ownership: qp_fabric_templates_free. */
QP_API qp_status qp_fabric_templates_of(const qp_fabric_model *model, const char *fabric,
                                        const char *unit, const qp_allocator *allocator,
                                        qp_fabric_templates **templates, qp_fabric_error *error);
QP_API void qp_fabric_templates_free(qp_fabric_templates *templates);

/* ---- the search for maps (section 11) ----------------------------------------------------- */

typedef struct qp_fabric_search {
    const char *graph, *fabric;
    uint64_t work; /* at most this many steps; 0 for the default of 10 million */
    size_t limit;  /* at most this many maps; 0 for all */
} qp_fabric_search;

/* How a search ended. Only `complete` with no map is a "no". */
typedef enum qp_fabric_search_end {
    QP_FABRIC_SEARCH_COMPLETE, /* every realisation was found */
    QP_FABRIC_SEARCH_LIMIT,    /* `limit` maps were found; there may be more */
    QP_FABRIC_SEARCH_WORK      /* the work bound was reached; there may be more */
} qp_fabric_search_end;

typedef struct qp_fabric_maps {
    qp_fabric_search_end end;
    uint64_t work; /* steps taken */
    size_t count;
    const char *const *texts; /* each a map in the text form, named GRAPH_0, GRAPH_1, ... */
    const char *reason;       /* with no map: the smallest reason, one sentence; else "" */
} qp_fabric_maps;

/*
 * Finds the maps of a graph on a fabric. QP_OK also where there is none: see `end`, `count` and
 * `reason`. Ownership: qp_fabric_maps_free.
 */
QP_API qp_status qp_fabric_map(const qp_fabric_model *model, const qp_fabric_search *search,
                               const qp_allocator *allocator, qp_fabric_maps **maps,
                               qp_fabric_error *error);
QP_API void qp_fabric_maps_free(qp_fabric_maps *maps);

/* ---- configuration (section 11) ----------------------------------------------------------- */

/* What qp_fabric_configure writes. */
typedef enum qp_fabric_form {
    QP_FABRIC_FORM_ABI,   /* the ConfigurationABI, canonical JSON */
    QP_FABRIC_FORM_IMAGE, /* the image: header and payload; needs a map */
    QP_FABRIC_FORM_JSON   /* the report of `quipu fabric configure --json` */
} qp_fabric_form;

/*
 * The configuration of a map (`map` not NULL) or of a fabric without a map (`map` NULL, every slot
 * inactive), in the form asked for. QP_OK with `*size` bytes in *bytes; ownership: qp_bytes_free
 * with the same allocator.
 */
QP_API qp_status qp_fabric_configure(const qp_fabric_model *model, const char *map,
                                     const char *fabric, qp_fabric_form form,
                                     const qp_allocator *allocator, void **bytes, size_t *size,
                                     qp_fabric_error *error);

/*
 * Reads an image back against a fabric of the model: header, every slot's semantic value, the same
 * configured function. The report is JSON of the same shape as QP_FABRIC_FORM_JSON. Every
 * noncanonical byte is refused. Ownership of *json: qp_bytes_free.
 */
QP_API qp_status qp_fabric_decode(const qp_fabric_model *model, const char *fabric,
                                  const qp_fabric_text *image, const qp_allocator *allocator,
                                  void **json, size_t *size, qp_fabric_error *error);

/* ---- runs (sections 3, 9 and 12.1) -------------------------------------------------------- */

/* The streams of a run by JSON Lines of section 12.1; an empty text for none. */
typedef struct qp_fabric_streams {
    qp_fabric_text tokens;
    qp_fabric_text stalls;
} qp_fabric_streams;

/* What happened in one cycle; the strings last for the call. */
typedef enum qp_fabric_event_kind {
    QP_FABRIC_EVENT_FIRE,    /* an actor fired: `name` its first result, `detail` its case */
    QP_FABRIC_EVENT_OFFER,   /* a value stands on a channel: `name` the channel, `detail` hex */
    QP_FABRIC_EVENT_HANDOFF, /* a channel's token was taken */
    QP_FABRIC_EVENT_STATE,   /* an actor's logical state changed: `detail` the state */
    QP_FABRIC_EVENT_RESET
} qp_fabric_event_kind;

typedef struct qp_fabric_event {
    uint64_t cycle;
    qp_fabric_event_kind kind;
    const char *name;
    const char *detail;
} qp_fabric_event;

/* Sees the events of a run in order. It must not call into the model. */
typedef struct qp_fabric_observer {
    void (*event)(void *context, const qp_fabric_event *event);
    void *context;
} qp_fabric_observer;

typedef struct qp_fabric_run_options {
    uint64_t cycles;        /* at most this many; 0 for 1000000 */
    const uint64_t *resets; /* cycles of reset, any order */
    size_t reset_count;
    const qp_fabric_observer *observer; /* NULL for none */
    uint64_t stall_seed;                /* 0 for none; else stalls of its own beside the script's:
                                           the same for the same seed and graph, none from cycle
                                           10000 on */
} qp_fabric_run_options;

/* Counts of a run. */
typedef struct qp_fabric_run_counts {
    uint64_t cycles, firings;
} qp_fabric_run_counts;

/*
 * Runs a map cycle by cycle. `options` and `counts` may be NULL. QP_OK with the outputs as JSON
 * Lines of section 12.1 in *lines. Ownership: qp_bytes_free.
 */
QP_API qp_status qp_fabric_simulate(const qp_fabric_model *model, const char *map,
                                    const qp_fabric_streams *streams,
                                    const qp_fabric_run_options *options,
                                    const qp_allocator *allocator, void **lines, size_t *size,
                                    qp_fabric_run_counts *counts, qp_fabric_error *error);

/*
 * Runs a graph alone, without time: the golden model (section 3). `firings` bounds the run (0 for
 * 100 million). The outputs come as lines without cycles. Ownership: qp_bytes_free.
 */
QP_API qp_status qp_fabric_golden(const qp_fabric_model *model, const char *graph,
                                  const qp_fabric_text *tokens, uint64_t firings,
                                  const qp_allocator *allocator, void **lines, size_t *size,
                                  qp_fabric_error *error);

/* 1 where this library evaluates the rounded floating-point schemas (built with MPFR). */
QP_API int qp_fabric_has_float(void);

#ifdef __cplusplus
}
#endif

#endif
