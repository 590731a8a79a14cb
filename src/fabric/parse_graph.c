/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_graph.c - dataflow graphs (section 12). Values may be used before their definition, so
 * operands are resolved, and types compared, once the graph is complete.
 */
#include "fabric/text.h"

/* A statement as it stands. The first values are its results, the others its operands; types and
 * values are spans of the graph's two lists, for arrays made later. */
typedef struct raw_actor {
    const qp_fabric_schema *schema;
    qp_fabric_place place;        /* of the first result */
    qp_fabric_place schema_place; /* of the schema's name */
    uint32_t results, operands;   /* how many of each */
    uint32_t first_operand;       /* in the list of references */
    uint32_t first_result;        /* value number */
    uint32_t first_type;          /* in the list of types: operands, then results */
    qp_fabric_semantics semantics;
} raw_actor;

/* A value that is read. */
typedef struct reference {
    qp_fabric_symbol name;
    qp_fabric_place place;
} reference;

typedef struct builder {
    qp_fabric_parser *p;
    qp_fabric_graph *graph;
    qp_fabric_list values;     /* qp_fabric_value */
    qp_fabric_list actors;     /* raw_actor */
    qp_fabric_list references; /* reference: operands of all actors, in order */
    qp_fabric_list types;      /* qp_fabric_type */
    qp_fabric_list outputs;    /* reference */
} builder;

static bool no_name(builder *b, const reference *r)
{
    return qp_fabric_parse_fail(b->p, r->place, "there is no value '%%%.64s'",
                                qp_fabric_name_text(b->p->model, r->name));
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool take_value_name(builder *b, reference *r)
{
    qp_fabric_token token;

    if (!qp_fabric_take_kind(b->p, QP_FABRIC_TOKEN_VAL, "a value", &token))
        return false;
    r->place = token.place;
    r->name = qp_fabric_intern(b->p->model->names, token.text, token.size);
    return r->name != QP_FABRIC_NO_INDEX || qp_fabric_parse_no_memory(b->p);
}

static bool take_type(builder *b, qp_fabric_type *type)
{
    qp_fabric_parser *p = b->p;
    qp_fabric_token token = p->token;
    const int kind = token.kind == QP_FABRIC_TOKEN_TYPE ? QP_FABRIC_TOKEN_TYPE : QP_FABRIC_TOKEN_ID;
    uint64_t bits = 0;

    if (!qp_fabric_take_kind(p, kind, "a type", NULL))
        return false;
    p->status =
        qp_fabric_type_parse(token.text, token.size, &p->model->arena, token.place, type, p->error);
    if (p->status != QP_OK)
        return false;
    if (type->kind == QP_FABRIC_INDEX) {
        b->graph->prints_index = true;
        if (b->graph->index_width == 0)
            return qp_fabric_parse_fail(p, token.place,
                                        "a graph with index types needs 'index 32' or 'index 64'");
    }
    return qp_fabric_payload_bits(type, b->graph->index_width, &bits);
}

/* A new value: a graph input (`actor` QP_FABRIC_NO_INDEX) or a result, whose type comes later. */
static bool add_value(builder *b, const reference *r, uint32_t actor, uint32_t ordinal)
{
    qp_fabric_value value = {.name = r->name,
                             .place = r->place,
                             .actor = actor,
                             .ordinal = ordinal,
                             .output = QP_FABRIC_NO_INDEX};

    return qp_fabric_define(b->p, b->graph->scope, r->name, (uint32_t)b->values.count, r->place) &&
           qp_fabric_list_add(b->p, &b->values, &value);
}

static void set_type(builder *b, uint32_t number, const qp_fabric_type *type)
{
    qp_fabric_value *value = (qp_fabric_value *)b->values.items + number;
    uint64_t bits = 0;

    value->type = *type;
    (void)qp_fabric_payload_bits(type, b->graph->index_width, &bits);
    value->bits = (uint32_t)bits; /* at most QP_FABRIC_PAYLOAD_BITS_MAX */
}

static bool take_input(builder *b)
{
    const uint32_t number = (uint32_t)b->values.count;
    qp_fabric_type type;
    reference r;

    if (!qp_fabric_take(b->p) || !take_value_name(b, &r) ||
        !add_value(b, &r, QP_FABRIC_NO_INDEX, number) ||
        !qp_fabric_take_kind(b->p, ':', "':'", NULL) || !take_type(b, &type))
        return false;
    set_type(b, number, &type);
    return true;
}

/* "%a, %b =": the results. */
static bool take_results(builder *b, raw_actor *actor)
{
    qp_fabric_parser *p = b->p;
    reference r;

    actor->place = p->token.place;
    actor->first_result = (uint32_t)b->values.count;
    for (;;) {
        if (!take_value_name(b, &r) ||
            !add_value(b, &r, (uint32_t)b->actors.count, actor->results++))
            return false;
        if (!qp_fabric_next_is(p, ','))
            return qp_fabric_take_kind(p, '=', "',' or '='", NULL);
        if (!qp_fabric_take(p))
            return false;
    }
}

static bool take_schema(builder *b, raw_actor *actor)
{
    qp_fabric_parser *p = b->p;
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_SCHEMA, "a schema", &token))
        return false;
    actor->schema_place = token.place;
    actor->schema = qp_fabric_find_schema(token.text, token.size);
    if (actor->schema == NULL)
        return qp_fabric_parse_fail(p, token.place, "'%.*s' is no schema",
                                    (int)(token.size < 40 ? token.size : 40), token.text);
    if (actor->schema->type_rule == qp_fabric_types_none)
        return qp_fabric_parse_unsupported(
            p, token.place, "no implementation family can run %s%s", actor->schema->name,
            actor->schema->semantics == QP_FABRIC_CASE_TYPED_CONSTANT ? ": use dataflow.constant"
                                                                      : "");
    return true;
}

static bool take_operands(builder *b, raw_actor *actor)
{
    qp_fabric_parser *p = b->p;
    reference r;

    actor->first_operand = (uint32_t)b->references.count;
    for (;;) {
        if (!take_value_name(b, &r) || !qp_fabric_list_add(p, &b->references, &r))
            return false;
        actor->operands++;
        if (!qp_fabric_next_is(p, ','))
            return true;
        if (!qp_fabric_take(p))
            return false;
    }
}

/* "( T, T )" of exactly `count` types. */
static bool take_types(builder *b, uint32_t count, const char *what)
{
    qp_fabric_parser *p = b->p;
    qp_fabric_place place = p->token.place;
    qp_fabric_type type;
    uint32_t found = 0;
    bool more = true;

    if (!qp_fabric_take_kind(p, '(', "'('", NULL))
        return false;
    for (; more; found++)
        if (!take_type(b, &type) || !qp_fabric_list_add(p, &b->types, &type) ||
            !qp_fabric_take_comma(p, ')', &more))
            return false;
    return found == count ||
           qp_fabric_parse_fail(p, place, "the %s are %lu, and the types here %lu", what,
                                (unsigned long)count, (unsigned long)found);
}

/* The attributes, once the types are known; the lexer comes back behind the types. */
static bool take_attributes(builder *b, raw_actor *actor, const qp_fabric_lexer *record)
{
    qp_fabric_parser *p = b->p;
    const qp_fabric_lexer behind = p->lexer;
    const qp_fabric_token next = p->token;
    const qp_fabric_type *types = (const qp_fabric_type *)b->types.items + actor->first_type;
    const qp_fabric_signature signature = {.schema = actor->schema,
                                           .operands = types,
                                           .results = types + actor->operands,
                                           .operand_count = actor->operands,
                                           .result_count = actor->results,
                                           .index_width = b->graph->index_width};

    if (record != NULL && !qp_fabric_resume(p, record))
        return false;
    if (!qp_fabric_parse_attributes(p, &signature, record != NULL, actor->schema_place,
                                    &actor->semantics))
        return false;
    p->lexer = behind;
    p->token = next;
    qp_fabric_signature whole = signature;
    whole.semantics = &actor->semantics;
    const char *fault = qp_fabric_check_signature(&whole);
    return fault == NULL ||
           qp_fabric_parse_fail(p, actor->schema_place, "%s: %s", actor->schema->name, fault);
}

static bool take_statement(builder *b)
{
    qp_fabric_parser *p = b->p;
    qp_fabric_lexer record;
    raw_actor actor = {0};

    if (!take_results(b, &actor) || !take_schema(b, &actor) || !take_operands(b, &actor))
        return false;
    const bool has_record = qp_fabric_next_is(p, '{');
    if (has_record && !qp_fabric_skip_braces(p, &record))
        return false;
    actor.first_type = (uint32_t)b->types.count;
    if (!qp_fabric_take_kind(p, ':', "':'", NULL) || !take_types(b, actor.operands, "operands") ||
        !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL) ||
        !take_types(b, actor.results, "results"))
        return false;
    const qp_fabric_type *types = (const qp_fabric_type *)b->types.items + actor.first_type;
    for (uint32_t i = 0; i < actor.results; i++)
        set_type(b, actor.first_result + i, &types[actor.operands + i]);
    return take_attributes(b, &actor, has_record ? &record : NULL) &&
           qp_fabric_list_add(p, &b->actors, &actor);
}

/* Behind NAME: inputs, statements, outputs, in this order. */
static bool take_body(builder *b)
{
    qp_fabric_parser *p = b->p;
    reference r;

    if (qp_fabric_next_is_word(p, "index")) {
        qp_fabric_place place;
        if (!qp_fabric_take(p))
            return false;
        place = p->token.place;
        if (!qp_fabric_take_u32(p, "an index width", &b->graph->index_width))
            return false;
        if (qp_fabric_index_ordinal(b->graph->index_width) < 0)
            return qp_fabric_parse_fail(p, place, "the index width is 32 or 64");
    }
    if (!qp_fabric_take_kind(p, '{', "'{'", NULL))
        return false;
    while (qp_fabric_next_is_word(p, "input"))
        if (!take_input(b))
            return false;
    b->graph->n_inputs = (uint32_t)b->values.count;
    while (qp_fabric_next_is(p, QP_FABRIC_TOKEN_VAL))
        if (!take_statement(b))
            return false;
    while (qp_fabric_next_is_word(p, "output"))
        if (!qp_fabric_take(p) || !take_value_name(b, &r) ||
            !qp_fabric_list_add(p, &b->outputs, &r))
            return false;
    return qp_fabric_take_kind(p, '}', "a statement, 'output' or '}'", NULL);
}

/* ---- resolving ---------------------------------------------------------------------------- */

/* The value numbers of all operands, and each value's count of uses. */
static bool resolve_operands(builder *b, uint32_t *operands)
{
    const reference *references = b->references.items;
    qp_fabric_value *values = b->values.items;

    for (size_t i = 0; i < b->references.count; i++) {
        operands[i] = qp_fabric_meaning_of(b->p->model->names, b->graph->scope, references[i].name);
        if (operands[i] == QP_FABRIC_NO_INDEX)
            return no_name(b, &references[i]);
        values[operands[i]].use_count++;
    }
    return true;
}

static bool resolve_outputs(builder *b)
{
    const reference *references = b->outputs.items;
    qp_fabric_value *values = b->values.items;
    uint32_t *outputs = qp_arena_allocate(&b->p->model->arena, b->outputs.count, sizeof *outputs);

    if (outputs == NULL)
        return qp_fabric_parse_no_memory(b->p);
    for (size_t i = 0; i < b->outputs.count; i++) {
        const reference *r = &references[i];
        uint32_t v = qp_fabric_meaning_of(b->p->model->names, b->graph->scope, r->name);
        if (v == QP_FABRIC_NO_INDEX)
            return no_name(b, r);
        if (values[v].actor == QP_FABRIC_NO_INDEX)
            return qp_fabric_parse_fail(b->p, r->place, "an output must name a result");
        if (values[v].output != QP_FABRIC_NO_INDEX)
            return qp_fabric_parse_fail(b->p, r->place, "this result is already an output");
        values[v].output = (uint32_t)i;
        outputs[i] = v;
    }
    b->graph->outputs = outputs;
    b->graph->n_outputs = (uint32_t)b->outputs.count;
    return true;
}

/* Gives each value its list of uses, and checks that everything is read. */
static bool list_uses(builder *b, const uint32_t *operands)
{
    const raw_actor *actors = b->actors.items;
    qp_fabric_value *values = b->values.items;
    qp_fabric_use *uses = qp_arena_allocate(&b->p->model->arena, b->references.count, sizeof *uses);

    if (uses == NULL)
        return qp_fabric_parse_no_memory(b->p);
    for (size_t v = 0, next = 0; v < b->values.count; v++) {
        if (values[v].use_count == 0 && values[v].output == QP_FABRIC_NO_INDEX)
            return qp_fabric_parse_fail(b->p, values[v].place, "'%%%.64s' is not read",
                                        qp_fabric_name_text(b->p->model, values[v].name));
        values[v].uses = uses + next;
        next += values[v].use_count;
        values[v].use_count = 0; /* counted up again below */
    }
    for (uint32_t a = 0; a < b->actors.count; a++)
        for (uint32_t i = 0; i < actors[a].operands; i++) {
            qp_fabric_value *value = &values[operands[actors[a].first_operand + i]];
            uses[(size_t)(value->uses - uses) + value->use_count++] = (qp_fabric_use){a, i};
        }
    return true;
}

/* Operand types must be those of the definitions. */
static bool check_types(builder *b, const raw_actor *actor, const uint32_t *operands,
                        const qp_fabric_type *types)
{
    const qp_fabric_value *values = b->values.items;
    const reference *references = b->references.items;

    for (uint32_t i = 0; i < actor->operands; i++) {
        uint32_t number = actor->first_operand + i;
        if (!qp_fabric_same_type(&values[operands[number]].type, &types[actor->first_type + i]))
            return qp_fabric_parse_fail(b->p, references[number].place,
                                        "'%%%.64s' is defined with another type",
                                        qp_fabric_name_text(b->p->model, references[number].name));
    }
    return true;
}

static bool make_actors(builder *b, const uint32_t *operands, const qp_fabric_type *types)
{
    const raw_actor *raw = b->actors.items;
    qp_arena *arena = &b->p->model->arena;
    qp_fabric_actor *actors = qp_arena_allocate(arena, b->actors.count, sizeof *actors);
    uint32_t *numbers = qp_arena_allocate(arena, b->values.count, sizeof *numbers);

    if (actors == NULL || numbers == NULL)
        return qp_fabric_parse_no_memory(b->p);
    for (uint32_t v = 0; v < b->values.count; v++)
        numbers[v] = v;
    for (size_t i = 0; i < b->actors.count; i++) {
        if (!check_types(b, &raw[i], operands, types))
            return false;
        actors[i] = (qp_fabric_actor){.schema = raw[i].schema,
                                      .place = raw[i].place,
                                      .semantics = raw[i].semantics,
                                      .operand_count = raw[i].operands,
                                      .result_count = raw[i].results,
                                      .operands = operands + raw[i].first_operand,
                                      .results = numbers + raw[i].first_result,
                                      .operand_types = types + raw[i].first_type,
                                      .result_types = types + raw[i].first_type + raw[i].operands};
    }
    b->graph->actors = actors;
    b->graph->n_actors = (uint32_t)b->actors.count;
    return true;
}

static bool finish(builder *b)
{
    qp_fabric_parser *p = b->p;
    const void *types = NULL, *values = NULL;
    uint32_t *operands = qp_arena_allocate(&p->model->arena, b->references.count, sizeof *operands);
    uint32_t count;

    if (operands == NULL)
        return qp_fabric_parse_no_memory(p);
    if (!resolve_operands(b, operands) || !resolve_outputs(b) || !list_uses(b, operands) ||
        !qp_fabric_list_end(p, &b->types, &types, &count) || !make_actors(b, operands, types) ||
        !qp_fabric_list_end(p, &b->values, &values, &b->graph->n_values))
        return false;
    b->graph->values = values;
    return true;
}

bool qp_fabric_parse_graph(qp_fabric_parser *p, qp_fabric_graph *graph)
{
    builder b = {.p = p,
                 .graph = graph,
                 .values = qp_fabric_list_of(sizeof(qp_fabric_value)),
                 .actors = qp_fabric_list_of(sizeof(raw_actor)),
                 .references = qp_fabric_list_of(sizeof(reference)),
                 .types = qp_fabric_list_of(sizeof(qp_fabric_type)),
                 .outputs = qp_fabric_list_of(sizeof(reference))};

    bool good = qp_fabric_new_scopes(p, 1, &graph->scope) && take_body(&b) && finish(&b);
    qp_fabric_list_free(p, &b.outputs);
    qp_fabric_list_free(p, &b.types);
    qp_fabric_list_free(p, &b.references);
    qp_fabric_list_free(p, &b.actors);
    qp_fabric_list_free(p, &b.values);
    return good;
}
