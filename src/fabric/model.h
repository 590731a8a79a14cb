/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - what text files hold, in memory: fabrics with their function units, dataflow graphs,
 * and maps of one on the other. Plain structures in one arena; nothing changes once the model is
 * read. Every ordinal is a position in an array, in file order.
 */
#ifndef QP_FABRIC_MODEL_H
#define QP_FABRIC_MODEL_H

#include "fabric/family.h"

#define QP_FABRIC_NO_INDEX UINT32_MAX

/* ---- names -------------------------------------------------------------------------------- */

/* Each distinct identifier of the texts has one number; qp_fabric_name_text gives it back. */
typedef uint32_t qp_fabric_symbol;

/* A set of (scope, symbol) pairs with a number each: whatever must be unique within something. */
typedef uint32_t qp_fabric_scope_id;

/* ---- fabrics (sections 10 and 12) --------------------------------------------------------- */

/* A WIDTH: payload bits, and whether the port is bits_tag. */
typedef struct qp_fabric_width {
    uint32_t bits;
    bool tagged;
} qp_fabric_width;

/* A port of a function unit. */
typedef struct qp_fabric_port {
    qp_fabric_symbol name;
    qp_fabric_width width;
    qp_fabric_place place;
} qp_fabric_port;

typedef enum qp_fabric_node_kind { /* the values are the kinds of node references (section 10) */
                                   QP_FABRIC_NODE_OP = 0,
                                   QP_FABRIC_NODE_MUX = 1,
                                   QP_FABRIC_NODE_DEMUX = 2
} qp_fabric_node_kind;

/* A node of a unit. A mux has `lanes` inputs and one output, a demux the reverse, all of width
 * in[0]; the arrays of an op have n_in and n_out members, those of a mux or demux one. */
typedef struct qp_fabric_node {
    qp_fabric_node_kind kind;
    qp_fabric_symbol name;
    qp_fabric_place place;
    uint32_t n_in, n_out;
    const qp_fabric_width *in, *out;
    uint32_t input_base; /* of its first input among the unit's sinks */
    /* ops only */
    const qp_fabric_family *family;
    uint32_t enabled; /* op_list: a mask over the family's members */
    qp_fabric_params params;
} qp_fabric_node;

/* One end of a wire: a port of a node, or with `node` QP_FABRIC_NO_INDEX a port of the unit. */
typedef struct qp_fabric_endpoint {
    uint32_t node, port;
} qp_fabric_endpoint;

typedef struct qp_fabric_wire {
    qp_fabric_endpoint source;      /* a unit's input or a node's output */
    qp_fabric_endpoint destination; /* a node's input or a unit's output */
    qp_fabric_place place;
} qp_fabric_wire;

typedef struct qp_fabric_route {
    uint32_t node, port; /* a mux's or demux's ordinal, the lane chosen */
} qp_fabric_route;

/* An authored row of the template domain; ops and routes ascend by node, without repeats. */
typedef struct qp_fabric_row {
    uint32_t op_count, route_count;
    const uint32_t *ops;
    const qp_fabric_route *routes;
    qp_fabric_place place;
} qp_fabric_row;

/*
 * A function unit. Sinks are numbered: the inputs of node 0, of node 1, .. and then the unit's
 * outputs, which is the order of the canonical text. Every sink has exactly one wire (checked when
 * the text is read), and wires[sink] is it. `by_source` orders the wires' numbers by source: unit
 * inputs first, then nodes.
 */
typedef struct qp_fabric_fu {
    qp_fabric_symbol name;
    qp_fabric_place place;
    uint32_t id; /* in its fabric */
    qp_fabric_scope_id scope;
    uint32_t n_inputs, n_outputs, n_nodes, n_sinks, n_rows;
    uint32_t name_base; /* canonical names: nB the unit, then inputs, outputs, nodes */
    const qp_fabric_port *inputs, *outputs;
    const qp_fabric_node *nodes;
    const qp_fabric_wire *wires; /* n_sinks */
    const uint32_t *by_source;   /* n_sinks */
    const qp_fabric_row *rows;
} qp_fabric_fu;

/* An occurrence of a unit. */
typedef struct qp_fabric_occurrence {
    qp_fabric_symbol name;
    qp_fabric_place place;
    uint32_t fu;
    uint32_t contexts; /* at least 1 */
} qp_fabric_occurrence;

typedef struct qp_fabric_fabric {
    qp_fabric_symbol name;
    qp_fabric_place place;
    qp_fabric_scope_id scope;
    uint32_t n_fus, n_occurrences;
    uint32_t occurrence_base; /* canonical names of the occurrences: nB, .. */
    const qp_fabric_fu *fus;
    const qp_fabric_occurrence *occurrences;
} qp_fabric_fabric;

/* The sink number of a destination endpoint. */
uint32_t qp_fabric_sink(const qp_fabric_fu *fu, qp_fabric_endpoint destination);

/* The wires of a source endpoint: `*count` numbers, NULL for none. */
const uint32_t *qp_fabric_fanout(const qp_fabric_fu *fu, qp_fabric_endpoint source,
                                 uint32_t *count);

/* The width of an endpoint, as a source (`source` true) or as a destination. */
qp_fabric_width qp_fabric_endpoint_width(const qp_fabric_fu *fu, qp_fabric_endpoint end,
                                         bool source);

/* ---- graphs ------------------------------------------------------------------------------- */

/* One use of a value: operand `operand` of actor `actor`. */
typedef struct qp_fabric_use {
    uint32_t actor, operand;
} qp_fabric_use;

/* A value: graph input `ordinal`, or result `ordinal` of an actor. */
typedef struct qp_fabric_value {
    qp_fabric_symbol name;
    qp_fabric_place place;
    qp_fabric_type type;
    uint32_t actor; /* QP_FABRIC_NO_INDEX for a graph input */
    uint32_t ordinal;
    uint32_t output; /* its ordinal among the outputs, QP_FABRIC_NO_INDEX where it is none */
    uint32_t bits;   /* of the payload, index resolved */
    uint32_t use_count;
    const qp_fabric_use *uses; /* in file order */
} qp_fabric_value;

typedef struct qp_fabric_actor {
    const qp_fabric_schema *schema;
    qp_fabric_place place;
    qp_fabric_semantics semantics;
    uint32_t operand_count, result_count;
    const uint32_t *operands; /* value numbers */
    const uint32_t *results;
    const qp_fabric_type *operand_types, *result_types;
} qp_fabric_actor;

/* Values are numbered: the inputs, then the results statement by statement. */
typedef struct qp_fabric_graph {
    qp_fabric_symbol name;
    qp_fabric_place place;
    qp_fabric_scope_id scope;
    uint32_t index_width; /* 0 where the text gives none */
    uint32_t n_inputs, n_values, n_actors, n_outputs;
    bool prints_index; /* some type is or contains index */
    const qp_fabric_value *values;
    const qp_fabric_actor *actors;
    const uint32_t *outputs; /* value numbers */
} qp_fabric_graph;

/* The signature of an actor, for schema.h; it points into the graph. */
qp_fabric_signature qp_fabric_actor_signature(const qp_fabric_graph *graph, uint32_t actor);

/* ---- maps --------------------------------------------------------------------------------- */

/* An actor on an op node. The lists are in actor ordinal order. */
typedef struct qp_fabric_binding {
    uint32_t actor, node;
    qp_fabric_place place;
    uint32_t operand_count, result_count; /* of the lists as they were written */
    const uint32_t *operand_ports, *result_ports;
} qp_fabric_binding;

/* A boundary row: an operand (`input`) or result of an actor at a port of the unit. */
typedef struct qp_fabric_bound {
    uint32_t actor;
    bool input;
    uint32_t ordinal; /* of the operand or result, as written: may lie past the actor's count */
    uint32_t port;    /* among the unit's inputs (`input`) or outputs */
    qp_fabric_place place;
} qp_fabric_bound;

typedef struct qp_fabric_realization {
    qp_fabric_symbol name;
    qp_fabric_place place;
    uint32_t fu;
    uint64_t template_ordinal; /* as written: may lie past the inventory */
    uint32_t n_bindings, n_bounds;
    const qp_fabric_binding *bindings; /* in file order */
    const qp_fabric_bound *bounds;
} qp_fabric_realization;

typedef struct qp_fabric_bind {
    uint32_t realization, occurrence, context;
    qp_fabric_place place;
} qp_fabric_bind;

typedef struct qp_fabric_map_item {
    qp_fabric_symbol name;
    qp_fabric_place place;
    uint32_t graph, fabric;
    uint32_t n_realizations, n_binds;
    const qp_fabric_realization *realizations;
    const qp_fabric_bind *binds; /* in file order */
} qp_fabric_map_item;

/* ---- the model ---------------------------------------------------------------------------- */

typedef struct qp_fabric_names qp_fabric_names; /* names.h */

struct qp_fabric_model {
    qp_arena arena;
    qp_fabric_names *names;
    uint32_t n_fabrics, n_graphs, n_maps;
    qp_fabric_fabric *fabrics;
    qp_fabric_graph *graphs;
    qp_fabric_map_item *maps;
};

/* The text of a symbol. */
const char *qp_fabric_name_text(const qp_fabric_model *model, qp_fabric_symbol symbol);

/* Looks a name up in a scope; QP_FABRIC_NO_INDEX where it is not there. The scopes of the model's
 * own items are below. In a graph's scope names are values, in a fabric's units and occurrences
 * (two scopes), in a unit's ports and nodes (see qp_fabric_local). */
uint32_t qp_fabric_lookup(const qp_fabric_model *model, qp_fabric_scope_id scope, const char *name);

enum {
    QP_FABRIC_SCOPE_FABRICS = 0,
    QP_FABRIC_SCOPE_GRAPHS,
    QP_FABRIC_SCOPE_MAPS,
    QP_FABRIC_SCOPE_FIRST_FREE,
    /* a fabric's `scope` is that of its units; its occurrences' is the next one */
    QP_FABRIC_SCOPE_OCCURRENCES = 1
};

/* What a name in a unit's scope stands for: the number that qp_fabric_lookup gives holds both. */
typedef enum qp_fabric_local_kind {
    QP_FABRIC_LOCAL_INPUT,
    QP_FABRIC_LOCAL_OUTPUT,
    QP_FABRIC_LOCAL_NODE
} qp_fabric_local_kind;

static inline uint32_t qp_fabric_local(qp_fabric_local_kind kind, uint32_t ordinal)
{
    return ordinal * 3 + (uint32_t)kind;
}

static inline qp_fabric_local_kind qp_fabric_local_kind_of(uint32_t local)
{
    return (qp_fabric_local_kind)(local % 3);
}

static inline uint32_t qp_fabric_local_ordinal(uint32_t local)
{
    return local / 3;
}

/* By name; NULL with an error that names what is not there. */
const qp_fabric_fabric *qp_fabric_find_fabric(const qp_fabric_model *model, const char *name,
                                              qp_fabric_error *error);
const qp_fabric_graph *qp_fabric_find_graph(const qp_fabric_model *model, const char *name,
                                            qp_fabric_error *error);
const qp_fabric_map_item *qp_fabric_find_map(const qp_fabric_model *model, const char *name,
                                             qp_fabric_error *error);
const qp_fabric_fu *qp_fabric_find_fu(const qp_fabric_model *model, const qp_fabric_fabric *fabric,
                                      const char *name, qp_fabric_error *error);
/* "UNIT.NODE": the op node, and its unit in *fu. */
const qp_fabric_node *qp_fabric_find_op(const qp_fabric_model *model,
                                        const qp_fabric_fabric *fabric, const char *name,
                                        const qp_fabric_fu **fu, qp_fabric_error *error);
/* An actor by its first result, without '%'; QP_FABRIC_NO_INDEX with an error. */
uint32_t qp_fabric_find_actor(const qp_fabric_model *model, const qp_fabric_graph *graph,
                              const char *name, qp_fabric_error *error);

#endif
