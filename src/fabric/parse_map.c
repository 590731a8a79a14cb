/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_map.c - maps (section 12). A map is read when all fabrics and graphs are there, so every
 * name is resolved at once; whether it is a correct map is mapping.h's to say.
 */
#include "fabric/text.h"

typedef struct context {
    qp_fabric_parser *p;
    const qp_fabric_graph *graph;
    const qp_fabric_fabric *fabric;
    const qp_fabric_fu *fu; /* of the realization that is read */
} context;

/* A name that must have a meaning in a scope; `what` is for the message. */
static bool take_known(qp_fabric_parser *p, qp_fabric_scope_id scope, const char *what,
                       uint32_t *number)
{
    qp_fabric_symbol name;
    qp_fabric_place place;

    if (!qp_fabric_take_name(p, what, &name, &place))
        return false;
    *number = qp_fabric_meaning_of(p->model->names, scope, name);
    return *number != QP_FABRIC_NO_INDEX ||
           qp_fabric_parse_fail(p, place, "there is no such name: '%.64s' is not %s",
                                qp_fabric_name_text(p->model, name), what);
}

/* A value that is the first result of an actor: the actor. */
static bool take_actor(const context *c, uint32_t *actor)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_token token;

    if (!qp_fabric_take_kind(p, QP_FABRIC_TOKEN_VAL, "an actor's first result", &token))
        return false;
    qp_fabric_symbol name = qp_fabric_find_symbol(p->model->names, token.text, token.size);
    uint32_t v = qp_fabric_meaning_of(p->model->names, c->graph->scope, name);
    const int shown = (int)(token.size < 64 ? token.size : 64);
    if (v == QP_FABRIC_NO_INDEX)
        return qp_fabric_parse_fail(p, token.place, "the graph has no value '%%%.*s'", shown,
                                    token.text);
    const qp_fabric_value *value = &c->graph->values[v];
    if (value->actor == QP_FABRIC_NO_INDEX || value->ordinal != 0)
        return qp_fabric_parse_fail(p, token.place, "'%%%.*s' is no actor's first result", shown,
                                    token.text);
    *actor = value->actor;
    return true;
}

/* "( 0, 1 )", possibly empty. */
static bool take_ordinals(qp_fabric_parser *p, const uint32_t **ordinals, uint32_t *count)
{
    qp_fabric_list list = qp_fabric_list_of(sizeof(uint32_t));
    const void *items = NULL;
    uint32_t ordinal;
    bool more = true, good = qp_fabric_take_kind(p, '(', "'('", NULL);

    if (good && qp_fabric_next_is(p, ')')) {
        more = false;
        good = qp_fabric_take(p);
    }
    while (good && more)
        good = qp_fabric_take_u32(p, "a port's number", &ordinal) &&
               qp_fabric_list_add(p, &list, &ordinal) && qp_fabric_take_comma(p, ')', &more);
    good = good && qp_fabric_list_end(p, &list, &items, count);
    qp_fabric_list_free(p, &list);
    *ordinals = items;
    return good;
}

/* actor VAL -> NODE in ords out ords */
static bool take_binding(const context *c, qp_fabric_list *bindings)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_binding binding = {.place = p->token.place};
    uint32_t local;

    if (!qp_fabric_take(p) || !take_actor(c, &binding.actor) ||
        !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL))
        return false;
    qp_fabric_place place = p->token.place;
    if (!take_known(p, c->fu->scope, "a node of the unit", &local))
        return false;
    binding.node = qp_fabric_local_ordinal(local);
    if (qp_fabric_local_kind_of(local) != QP_FABRIC_LOCAL_NODE ||
        c->fu->nodes[binding.node].kind != QP_FABRIC_NODE_OP)
        return qp_fabric_parse_fail(p, place, "an actor goes on an op");
    return qp_fabric_take_word(p, "in") &&
           take_ordinals(p, &binding.operand_ports, &binding.operand_count) &&
           qp_fabric_take_word(p, "out") &&
           take_ordinals(p, &binding.result_ports, &binding.result_count) &&
           qp_fabric_list_add(p, bindings, &binding);
}

/* bound VAL (in | out) INT -> FUPORT */
static bool take_bound(const context *c, qp_fabric_list *bounds)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_bound bound = {.place = p->token.place};
    uint32_t local;

    if (!qp_fabric_take(p) || !take_actor(c, &bound.actor))
        return false;
    bound.input = qp_fabric_next_is_word(p, "in");
    if (!qp_fabric_take_word(p, bound.input ? "in" : "out") ||
        !qp_fabric_take_u32(p, "an operand's or result's number", &bound.ordinal) ||
        !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL))
        return false;
    qp_fabric_place place = p->token.place;
    if (!take_known(p, c->fu->scope, "a port of the unit", &local))
        return false;
    if (qp_fabric_local_kind_of(local) !=
        (bound.input ? QP_FABRIC_LOCAL_INPUT : QP_FABRIC_LOCAL_OUTPUT))
        return qp_fabric_parse_fail(p, place, "this is no %s of the unit",
                                    bound.input ? "input" : "output");
    bound.port = qp_fabric_local_ordinal(local);
    return qp_fabric_list_add(p, bounds, &bound);
}

/* "{ (actor | bound)* }" */
static bool take_rows(const context *c, qp_fabric_realization *r)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_list bindings = qp_fabric_list_of(sizeof(qp_fabric_binding));
    qp_fabric_list bounds = qp_fabric_list_of(sizeof(qp_fabric_bound));
    const void *binding_items = NULL, *bound_items = NULL;
    bool good = qp_fabric_take_kind(p, '{', "'{'", NULL);

    while (good && !qp_fabric_next_is(p, '}')) {
        if (qp_fabric_next_is_word(p, "actor"))
            good = take_binding(c, &bindings);
        else if (qp_fabric_next_is_word(p, "bound"))
            good = take_bound(c, &bounds);
        else
            good = qp_fabric_take_kind(p, '}', "'actor', 'bound' or '}'", NULL);
    }
    good = good && qp_fabric_take(p) &&
           qp_fabric_list_end(p, &bindings, &binding_items, &r->n_bindings) &&
           qp_fabric_list_end(p, &bounds, &bound_items, &r->n_bounds);
    r->bindings = binding_items;
    r->bounds = bound_items;
    qp_fabric_list_free(p, &bounds);
    qp_fabric_list_free(p, &bindings);
    return good;
}

/* realize NAME fu FU template INT { .. } */
static bool take_realization(context *c, qp_fabric_scope_id scope, qp_fabric_list *realizations)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_realization r = {0};
    qp_fabric_token token;

    if (!qp_fabric_take(p) || !qp_fabric_take_name(p, "a realization's name", &r.name, &r.place) ||
        !qp_fabric_define(p, scope, r.name, (uint32_t)realizations->count, r.place) ||
        !qp_fabric_take_word(p, "fu") ||
        !take_known(p, c->fabric->scope, "a unit of the fabric", &r.fu) ||
        !qp_fabric_take_word(p, "template") ||
        !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_INT, "a template's number", &token))
        return false;
    if (!qp_fabric_token_u64(&token, &r.template_ordinal))
        return qp_fabric_parse_fail(p, token.place, "the template's number does not fit 64 bits");
    c->fu = &c->fabric->fus[r.fu];
    return take_rows(c, &r) && qp_fabric_list_add(p, realizations, &r);
}

/* bind NAME -> OCC (context INT)? */
static bool take_bind(const context *c, qp_fabric_scope_id scope, qp_fabric_list *binds)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_bind bind = {.place = p->token.place};

    if (!qp_fabric_take(p) || !take_known(p, scope, "a realization", &bind.realization) ||
        !qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ARROW, "'->'", NULL) ||
        !take_known(p, c->fabric->scope + QP_FABRIC_SCOPE_OCCURRENCES, "an occurrence",
                    &bind.occurrence))
        return false;
    if (qp_fabric_next_is_word(p, "context") &&
        (!qp_fabric_take(p) || !qp_fabric_take_u32(p, "a context", &bind.context)))
        return false;
    return qp_fabric_list_add(p, binds, &bind);
}

static bool take_map(context *c, qp_fabric_map_item *map)
{
    qp_fabric_parser *p = c->p;
    qp_fabric_list realizations = qp_fabric_list_of(sizeof(qp_fabric_realization));
    qp_fabric_list binds = qp_fabric_list_of(sizeof(qp_fabric_bind));
    const void *realization_items = NULL, *bind_items = NULL;
    qp_fabric_scope_id scope;

    bool good = qp_fabric_new_scopes(p, 1, &scope) && qp_fabric_take_kind(p, '{', "'{'", NULL);
    while (good && qp_fabric_next_is_word(p, "realize"))
        good = take_realization(c, scope, &realizations);
    while (good && qp_fabric_next_is_word(p, "bind"))
        good = take_bind(c, scope, &binds);
    good = good && qp_fabric_take_kind(p, '}', "'realize', 'bind' or '}'", NULL) &&
           qp_fabric_list_end(p, &realizations, &realization_items, &map->n_realizations) &&
           qp_fabric_list_end(p, &binds, &bind_items, &map->n_binds);
    map->realizations = realization_items;
    map->binds = bind_items;
    qp_fabric_list_free(p, &binds);
    qp_fabric_list_free(p, &realizations);
    return good;
}

bool qp_fabric_parse_map(qp_fabric_parser *p, qp_fabric_map_item *map)
{
    context c = {.p = p};

    if (!qp_fabric_take_word(p, "of") ||
        !take_known(p, QP_FABRIC_SCOPE_GRAPHS, "a graph", &map->graph) ||
        !qp_fabric_take_word(p, "on") ||
        !take_known(p, QP_FABRIC_SCOPE_FABRICS, "a fabric", &map->fabric))
        return false;
    c.graph = &p->model->graphs[map->graph];
    c.fabric = &p->model->fabrics[map->fabric];
    return take_map(&c, map);
}
