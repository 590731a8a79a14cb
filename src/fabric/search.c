/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - the search for maps (section 11): every cover of finder.h, with every choice of
 * occurrences and contexts; each map that is found is verified before it counts.
 */
#include "fabric/finder.h"
#include "fabric/search_reason.h"

/* What an actor, a row or a bind of a found map costs of the work, so that the bound holds for
 * memory too. */
#define MAP_ITEM_WORK 16

typedef struct searcher {
    qp_fabric_finder finder;
    const qp_fabric_sealed *sealed;
    const qp_fabric_graph *graph;
    qp_arena *arena; /* of the results */
    qp_fabric_error *error;
    size_t limit;
    const qp_fabric_map_item **maps;
    size_t count, capacity;
    uint64_t *homes; /* [row] of the cover: a number among the homes of its unit */
    uint32_t row_total;
} searcher;

static qp_status fail_memory(const searcher *s)
{
    return qp_fabric_fail_memory(s->error, "the maps that were found");
}

/* ---- one cover as realizations ------------------------------------------------------------ */

/* The rows of an actor: operands from outside, then results that leave. */
static void add_bounds(const searcher *s, uint32_t actor, qp_fabric_bound *bounds, uint32_t *count)
{
    const qp_fabric_actor *a = &s->graph->actors[actor];

    for (uint32_t i = 0; i < a->operand_count; i++) {
        const uint32_t port = qp_fabric_operand_input(&s->finder, actor, i);
        if (port != QP_FABRIC_NO_INDEX)
            bounds[(*count)++] = (qp_fabric_bound){actor, true, i, port, QP_FABRIC_NOWHERE};
    }
    for (uint32_t i = 0; i < a->result_count; i++) {
        const uint32_t port = qp_fabric_value_output(&s->finder, a->results[i]);
        if (port != QP_FABRIC_NO_INDEX)
            bounds[(*count)++] = (qp_fabric_bound){actor, false, i, port, QP_FABRIC_NOWHERE};
    }
}

static const uint32_t *copy_ports(qp_arena *arena, const uint32_t *ports, uint32_t count)
{
    uint32_t *copy = qp_arena_allocate(arena, count, sizeof *copy);

    if (copy != NULL && count > 0)
        memcpy(copy, ports, count * sizeof *copy);
    return copy;
}

static bool set_binding(const searcher *s, uint32_t actor, qp_fabric_binding *binding)
{
    const qp_fabric_finder *f = &s->finder;
    const qp_fabric_actor *a = &s->graph->actors[actor];

    *binding = (qp_fabric_binding){
        .actor = actor,
        .node = f->node_of[actor],
        .operand_count = a->operand_count,
        .result_count = a->result_count,
        .operand_ports =
            copy_ports(s->arena, f->operand_ports + f->operand_base[actor], a->operand_count),
        .result_ports = copy_ports(s->arena, f->result_ports + a->results[0], a->result_count)};
    return binding->operand_ports != NULL && binding->result_ports != NULL;
}

/* Room for the realizations of the cover. */
static bool start_realizations(const searcher *s, qp_fabric_realization *made,
                               qp_fabric_binding **bindings, qp_fabric_bound **bounds)
{
    for (uint32_t i = 0; i < s->finder.row_count; i++) {
        const qp_fabric_cover_row *row = &s->finder.rows[i];
        size_t rows = 0;
        for (uint32_t k = 0; k < row->op_count; k++) {
            const uint32_t actor = s->finder.steps[row->first_step + k].actor;
            rows += (size_t)s->graph->actors[actor].operand_count +
                    s->graph->actors[actor].result_count;
        }
        bindings[i] = qp_arena_allocate(s->arena, row->op_count, sizeof **bindings);
        bounds[i] = qp_arena_allocate(s->arena, rows, sizeof **bounds);
        if (bindings[i] == NULL || bounds[i] == NULL)
            return false;
        made[i] = (qp_fabric_realization){.name = QP_FABRIC_NO_INDEX,
                                          .fu = row->fu,
                                          .template_ordinal = row->template_ordinal,
                                          .bindings = bindings[i],
                                          .bounds = bounds[i]};
    }
    return true;
}

/* The cover's realizations, actors in graph order; NULL without memory. */
static const qp_fabric_realization *make_realizations(const searcher *s)
{
    const uint32_t count = s->finder.row_count;
    qp_fabric_realization *made = qp_arena_allocate(s->arena, count, sizeof *made);
    qp_fabric_binding **bindings = qp_arena_allocate(s->arena, count, sizeof *bindings);
    qp_fabric_bound **bounds = qp_arena_allocate(s->arena, count, sizeof *bounds);

    if (made == NULL || bindings == NULL || bounds == NULL ||
        !start_realizations(s, made, bindings, bounds))
        return NULL;
    for (uint32_t actor = 0; actor < s->graph->n_actors; actor++) {
        const uint32_t row = s->finder.row_of[actor];
        if (!set_binding(s, actor, &bindings[row][made[row].n_bindings++]))
            return NULL;
        add_bounds(s, actor, bounds[row], &made[row].n_bounds);
    }
    return made;
}

/* ---- occurrences and contexts ------------------------------------------------------------- */

/* The bind of a home, which is a number over the contexts of the unit's occurrences. */
static qp_fabric_bind bind_of(searcher *s, uint32_t row, uint64_t home)
{
    const qp_fabric_fabric *fabric = s->sealed->fabric;
    uint32_t occurrence = 0;

    for (;; occurrence++) {
        const qp_fabric_occurrence *o = &fabric->occurrences[occurrence];
        qp_fabric_spend(&s->finder, 1);
        if (o->fu != s->finder.rows[row].fu)
            continue;
        if (home < o->contexts)
            break;
        home -= o->contexts;
    }
    return (qp_fabric_bind){row, occurrence, (uint32_t)home, QP_FABRIC_NOWHERE};
}

/* The first home from `home` on that no earlier row of the unit has. */
static uint64_t free_home(searcher *s, uint32_t row, uint64_t home)
{
    const uint32_t fu = s->finder.rows[row].fu;

    for (uint32_t i = 0; i < row && qp_fabric_spend(&s->finder, 1); i++)
        if (s->finder.rows[i].fu == fu && s->homes[i] == home) {
            home++;
            i = UINT32_MAX; /* from the first row again */
        }
    return home;
}

/* The first choice of homes: each unit's in order. The counters are those of the walk, by unit. */
static void first_homes(searcher *s, uint64_t *next)
{
    for (uint32_t i = 0; i < s->finder.row_count; i++)
        s->homes[i] = next[s->finder.rows[i].fu]++;
    for (uint32_t i = 0; i < s->finder.row_count; i++)
        next[s->finder.rows[i].fu] = 0;
}

/* The next choice in ascending order; false when there are no more. */
static bool next_homes(searcher *s)
{
    const qp_fabric_finder *f = &s->finder;

    for (uint32_t row = f->row_count; row-- > 0;) {
        s->homes[row] = free_home(s, row, s->homes[row] + 1);
        if (s->homes[row] >= f->homes[f->rows[row].fu])
            continue;
        for (uint32_t i = row + 1; i < f->row_count; i++)
            s->homes[i] = free_home(s, i, 0);
        return !f->exhausted;
    }
    return false;
}

/* ---- found maps --------------------------------------------------------------------------- */

static qp_status keep_map(searcher *s, const qp_fabric_map_item *map)
{
    if (s->count == s->capacity) {
        const size_t capacity = s->capacity > 0 ? 2 * s->capacity : 8;
        const qp_fabric_map_item **maps = qp_arena_allocate(s->arena, capacity, sizeof *maps);
        if (maps == NULL)
            return fail_memory(s);
        if (s->count > 0)
            memcpy(maps, s->maps, s->count * sizeof *maps);
        s->maps = maps;
        s->capacity = capacity;
    }
    s->maps[s->count++] = map;
    return QP_OK;
}

/* What is found must pass every check of section 11: a refusal is a fault of the search. */
static qp_status verify(const searcher *s, const qp_fabric_map_item *map)
{
    qp_fabric_verified verified;
    qp_fabric_error error;
    qp_arena scratch;

    qp_arena_init(&scratch, &s->arena->allocator);
    qp_status status = qp_fabric_verify(s->sealed, map, &scratch, &verified, &error);
    qp_arena_free(&scratch);
    if (status == QP_OK || status == QP_NO_MEMORY)
        return status == QP_OK ? QP_OK : fail_memory(s);
    if (s->error != NULL)
        *s->error = (qp_fabric_error){.fault = QP_FABRIC_NO_FAULT};
    return qp_fail(s->error != NULL ? &s->error->base : NULL, QP_INTERNAL,
                   "a map that was found is refused: %.200s", error.base.message);
}

/* A map of the cover with the homes as they are chosen. */
static qp_status add_map(searcher *s, const qp_fabric_realization *realizations)
{
    const uint32_t count = s->finder.row_count;
    qp_fabric_map_item *map = qp_arena_allocate(s->arena, 1, sizeof *map);
    qp_fabric_bind *binds = qp_arena_allocate(s->arena, count, sizeof *binds);

    if (map == NULL || binds == NULL)
        return fail_memory(s);
    for (uint32_t i = 0; i < count; i++)
        binds[i] = bind_of(s, i, s->homes[i]);
    *map = (qp_fabric_map_item){.name = QP_FABRIC_NO_INDEX,
                                .graph = (uint32_t)(s->graph - s->sealed->model->graphs),
                                .fabric = (uint32_t)(s->sealed->fabric - s->sealed->model->fabrics),
                                .n_realizations = count,
                                .n_binds = count,
                                .realizations = realizations,
                                .binds = binds};
    const qp_status status = verify(s, map);
    return status == QP_OK ? keep_map(s, map) : status;
}

static bool is_full(const searcher *s)
{
    return s->limit > 0 && s->count == s->limit;
}

/* The size of a map, in what it costs. */
static uint64_t map_work(const searcher *s)
{
    uint64_t items = s->finder.row_count;

    for (uint32_t i = 0; i < s->graph->n_actors; i++)
        items += 1 + (uint64_t)s->graph->actors[i].operand_count + s->graph->actors[i].result_count;
    return items * MAP_ITEM_WORK;
}

/* Every map of the cover in hand. */
static qp_status add_cover(searcher *s, uint64_t *next)
{
    if (!qp_fabric_spend(&s->finder, map_work(s)))
        return QP_OK;
    const qp_fabric_realization *realizations = make_realizations(s);
    if (realizations == NULL)
        return fail_memory(s);
    first_homes(s, next);
    do {
        const qp_status status = add_map(s, realizations);
        if (status != QP_OK || is_full(s))
            return status;
    } while (qp_fabric_spend(&s->finder, map_work(s)) && next_homes(s));
    return QP_OK;
}

/* ---- the search --------------------------------------------------------------------------- */

static qp_status search_covers(searcher *s)
{
    uint64_t *next = qp_arena_allocate(s->arena, s->sealed->fabric->n_fus, sizeof *next);
    qp_status status = next != NULL ? QP_OK : fail_memory(s);

    while (status == QP_OK && !is_full(s) && qp_fabric_next_cover(&s->finder))
        status = add_cover(s, next);
    return status;
}

qp_status qp_fabric_find_maps(const qp_fabric_sealed *sealed, const qp_fabric_graph *graph,
                              qp_fabric_search_bounds bounds, qp_arena *arena,
                              qp_fabric_found *found, qp_fabric_error *error)
{
    searcher s = {
        .sealed = sealed, .graph = graph, .arena = arena, .error = error, .limit = bounds.limit};
    bool refused = false;

    *found = (qp_fabric_found){.end = QP_FABRIC_SEARCH_COMPLETE, .reason = ""};
    s.homes = qp_arena_allocate(arena, graph->n_actors, sizeof *s.homes);
    if (s.homes == NULL || !qp_fabric_finder_init(&s.finder, sealed, graph, bounds.work, arena))
        return fail_memory(&s);
    qp_status status = qp_fabric_first_reason(&s.finder, arena, &found->reason, error);
    refused = found->reason[0] != '\0';
    if (status == QP_OK && !refused)
        status = search_covers(&s);
    if (status != QP_OK)
        return status;
    if (is_full(&s))
        found->end = QP_FABRIC_SEARCH_LIMIT;
    else if (s.finder.exhausted)
        found->end = QP_FABRIC_SEARCH_WORK;
    else if (s.count == 0 && !refused)
        status = qp_fabric_last_reason(&s.finder, arena, &found->reason, error);
    found->work = bounds.work - s.finder.work;
    found->count = s.count;
    found->maps = s.maps;
    return status;
}
