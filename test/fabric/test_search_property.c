/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_search_property.c - on small random graphs and fabrics, the search finds as many maps as
 * there are ways to put actors on ops, lanes on ports and realizations in occurrences that the
 * checks of section 11 take; all of them different.
 */
#include "configuration_support.h"

enum { OPS = 3, ACTORS = 3, HOMES = 3, LANES = 3, CHOICES = 64 };

static uint64_t random_state = 1;

static unsigned below(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33) % limit;
}

/* ---- random texts ------------------------------------------------------------------------- */

/* A source of 32 bits in a unit: its inputs, its ops, and perhaps its selector. */
static void put_source(qp_buffer *text, unsigned ops, bool selector)
{
    static const char *const inputs[] = {"a", "b", "c"};
    const unsigned source = below(3 + ops + (selector ? 1 : 0));

    if (source < 3)
        qp_buffer_text(text, inputs[source]);
    else if (source < 3 + ops)
        qp_buffer_format(text, "o%u.0", source - 3);
    else
        qp_buffer_text(text, "m.0");
}

/* A unit up to its template rows. */
static void put_unit(qp_buffer *text, unsigned number)
{
    const unsigned ops = below(2) == 0 ? 1 : 1 + below(OPS);
    const unsigned outputs = 1 + below(ops);
    const bool selector = below(3) == 0;

    qp_buffer_format(text, "fu U%u (a:32, b:32, c:32, s:1) -> (", number);
    for (unsigned i = 0; i < outputs; i++)
        qp_buffer_format(text, "%sy%u:%s", i > 0 ? ", " : "", i, "64");
    qp_buffer_text(text, ") {\n");
    for (unsigned i = 0; i < ops; i++) {
        const bool add = below(4) > 0;
        if (add)
            qp_buffer_format(text,
                             "op o%u ScalarIntegerAddSub [arith.addi] in (32,32) out (32) "
                             "params { integer_widths = [32] } ",
                             i);
        else
            qp_buffer_format(text,
                             "op o%u TokenMux [dataflow.mux] in (1,32,64,32) out (64) params "
                             "{ max_payload_bits = 64, max_fan = 2 } wire s -> o%u.0 ",
                             i, i);
        for (unsigned k = add ? 0 : 1; k < (add ? 2 : 1 + LANES); k++) {
            qp_buffer_text(text, "wire ");
            put_source(text, ops, selector);
            qp_buffer_format(text, " -> o%u.%u ", i, k);
        }
    }
    for (unsigned i = 0; selector && i < 2; i++) {
        qp_buffer_text(text, i == 0 ? "mux m 32 2 wire " : "wire ");
        put_source(text, ops, false);
        qp_buffer_format(text, " -> m.%u ", i);
    }
    for (unsigned i = 0; i < outputs; i++)
        qp_buffer_format(text, "wire o%u.0 -> y%u ", ops - 1 - i, i);
}

/* Whether a unit with one row, or without, has templates. */
static bool takes_row(const qp_buffer *unit, const char *row)
{
    qp_buffer text;
    qp_fabric_model *model = NULL;

    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "fabric F { ");
    qp_buffer_append(&text, unit->bytes, unit->size);
    qp_buffer_format(&text, "%s } }", row);
    const qp_fabric_text input = {"unit", text.bytes, text.size};
    const bool good = qp_fabric_read(&input, 1, NULL, &model, NULL) == QP_OK &&
                      qp_fabric_check(model, NULL, NULL) == QP_OK;
    qp_fabric_free(model);
    qp_buffer_free(&text);
    return good;
}

/* Every row that is good by itself; false without any. */
static bool put_rows(qp_buffer *text, const qp_buffer *unit)
{
    bool any = false;

    for (unsigned ops = 1; ops < 1u << OPS; ops++)
        for (unsigned route = 0; route < 3; route++) {
            qp_buffer row;
            const char *before = "";
            qp_buffer_init(&row, NULL);
            qp_buffer_text(&row, "template { ops [");
            for (unsigned i = 0; i < OPS; i++)
                if ((ops >> i & 1) != 0) {
                    qp_buffer_format(&row, "%so%u", before, i);
                    before = ",";
                }
            if (route == 0)
                qp_buffer_text(&row, "] } ");
            else
                qp_buffer_format(&row, "] routes [m=%u] } ", route - 1);
            qp_buffer_append(&row, "", 1);
            if (takes_row(unit, (const char *)row.bytes)) {
                qp_buffer_text(text, (const char *)row.bytes);
                any = true;
            }
            qp_buffer_free(&row);
        }
    return any;
}

static bool put_fabric(qp_buffer *text)
{
    const unsigned units = 1 + below(2);
    bool good = true;

    qp_buffer_text(text, "fabric F {\n");
    for (unsigned i = 0; i < units && good; i++) {
        qp_buffer unit;
        qp_buffer_init(&unit, NULL);
        put_unit(&unit, i);
        qp_buffer_append(text, unit.bytes, unit.size);
        good = put_rows(text, &unit);
        qp_buffer_text(text, "}\n");
        qp_buffer_free(&unit);
    }
    qp_buffer_format(text, "occ u U0 contexts %u occ v U%u }\n", 1 + below(2), units - 1);
    return good;
}

/* A graph of additions and at most one mux; what nobody reads is an output. */
static void put_graph(qp_buffer *text)
{
    const unsigned actors = 1 + below(ACTORS), mux = below(2 * ACTORS);
    unsigned operands[ACTORS][2];
    bool input_read[3] = {false, false, false}, read[ACTORS] = {false, false, false};

    for (unsigned i = 0; i < actors; i++)
        for (unsigned k = 0; k < 2; k++) {
            operands[i][k] = below(3 + actors);
            if (operands[i][k] < 3)
                input_read[operands[i][k]] = true;
            else
                read[operands[i][k] - 3] = true;
        }
    qp_buffer_text(text, "graph g { ");
    for (unsigned i = 0; i < 3; i++)
        if (input_read[i])
            qp_buffer_format(text, "input %%v%u : i32 ", i);
    if (mux < actors)
        qp_buffer_text(text, "input %s : i1 ");
    for (unsigned i = 0; i < actors; i++)
        qp_buffer_format(text, "%%v%u = %s %%v%u, %%v%u : (%s) -> (i32) ", 3 + i,
                         i == mux ? "dataflow.mux %s," : "arith.addi", operands[i][0],
                         operands[i][1], i == mux ? "i1,i32,i32" : "i32,i32");
    for (unsigned i = 0; i < actors; i++)
        if (!read[i] || below(4) == 0)
            qp_buffer_format(text, "output %%v%u ", 3 + i);
    qp_buffer_text(text, "}\n");
}

/* ---- every way ---------------------------------------------------------------------------- */

/* An actor at an op in a home, by some ports. */
typedef struct choice {
    unsigned home;
    uint32_t node, operands[3];
} choice;

typedef struct home {
    uint32_t occurrence, context, fu;
} home;

typedef struct ways {
    const qp_fabric_sealed *sealed;
    const qp_fabric_graph *graph;
    unsigned home_count, counts[ACTORS];
    home homes[HOMES];
    choice choices[ACTORS][CHOICES];
    const choice *chosen[ACTORS];
    uint32_t templates[HOMES];
    size_t good;
} ways;

static const uint32_t zero_ports[1] = {0};

static void find_homes(ways *w)
{
    for (uint32_t i = 0; i < w->sealed->fabric->n_occurrences; i++)
        for (uint32_t k = 0; k < w->sealed->fabric->occurrences[i].contexts; k++)
            w->homes[w->home_count++] = (home){i, k, w->sealed->fabric->occurrences[i].fu};
}

/* All pairs of lanes of a mux, the two inputs of an addition. */
static void add_choices(ways *w, uint32_t actor, unsigned number, uint32_t node)
{
    const bool mux = w->graph->actors[actor].operand_count == 3;
    const bool routed = w->sealed->fabric->fus[w->homes[number].fu].nodes[node].family->roles ==
                        QP_FABRIC_ROLES_MUX;

    if (mux != routed)
        return;
    if (!mux)
        w->choices[actor][w->counts[actor]++] = (choice){number, node, {0, 1, 0}};
    for (uint32_t p = 1; mux && p <= LANES; p++)
        for (uint32_t q = 1; q <= LANES; q++)
            if (p != q)
                w->choices[actor][w->counts[actor]++] = (choice){number, node, {0, p, q}};
}

/* The rows that the paths ask for: no others can be right. */
static uint32_t find_rows(const ways *w, const qp_fabric_fu *fu, const qp_fabric_derived *derived,
                          uint32_t actor, qp_fabric_bound *bounds)
{
    const choice *c = w->chosen[actor];
    uint32_t count = 0, cursor = 0;
    qp_fabric_path path;

    for (uint32_t i = 0; i < w->graph->actors[actor].operand_count; i++) {
        const qp_fabric_path *to =
            qp_fabric_path_to(fu, derived, (qp_fabric_endpoint){c->node, c->operands[i]});
        if (to != NULL && to->source.node == QP_FABRIC_NO_INDEX)
            bounds[count++] = (qp_fabric_bound){actor, true, i, to->source.port, QP_FABRIC_NOWHERE};
    }
    while (qp_fabric_next_path(derived, (qp_fabric_endpoint){c->node, 0}, &cursor, &path))
        if (path.end.node == QP_FABRIC_NO_INDEX && count < 8)
            bounds[count++] = (qp_fabric_bound){actor, false, 0, path.end.port, QP_FABRIC_NOWHERE};
    return count;
}

/* One choice of everything: a map if the checks take it. */
static void try_map(ways *w)
{
    qp_fabric_binding bindings[HOMES][ACTORS];
    qp_fabric_bound bounds[HOMES][8 * ACTORS];
    qp_fabric_realization realizations[HOMES];
    qp_fabric_bind binds[HOMES];
    qp_fabric_map_item map = {.realizations = realizations, .binds = binds};
    qp_fabric_verified verified;
    qp_arena arena;

    for (unsigned h = 0; h < w->home_count; h++) {
        const qp_fabric_fu *fu = &w->sealed->fabric->fus[w->homes[h].fu];
        qp_fabric_realization r = {.fu = w->homes[h].fu,
                                   .template_ordinal = w->templates[h],
                                   .bindings = bindings[h],
                                   .bounds = bounds[h]};
        for (uint32_t a = 0; a < w->graph->n_actors; a++) {
            if (w->chosen[a]->home != h)
                continue;
            bindings[h][r.n_bindings++] =
                (qp_fabric_binding){.actor = a,
                                    .node = w->chosen[a]->node,
                                    .operand_count = w->graph->actors[a].operand_count,
                                    .result_count = 1,
                                    .operand_ports = w->chosen[a]->operands,
                                    .result_ports = zero_ports};
            r.n_bounds +=
                find_rows(w, fu, &w->sealed->inventories[r.fu].templates[r.template_ordinal], a,
                          &bounds[h][r.n_bounds]);
        }
        if (r.n_bindings == 0)
            continue;
        binds[map.n_binds++] = (qp_fabric_bind){map.n_realizations, w->homes[h].occurrence,
                                                w->homes[h].context, QP_FABRIC_NOWHERE};
        realizations[map.n_realizations++] = r;
    }
    qp_arena_init(&arena, NULL);
    w->good += qp_fabric_verify(w->sealed, &map, &arena, &verified, NULL) == QP_OK;
    qp_arena_free(&arena);
}

/* Every template of every home that has an actor. */
static void try_templates(ways *w, unsigned h)
{
    bool used = false;

    if (h == w->home_count || h == HOMES) { /* put_fabric makes no more */
        try_map(w);
        return;
    }
    for (uint32_t a = 0; a < w->graph->n_actors; a++)
        used = used || w->chosen[a]->home == h;
    const uint32_t count = used ? w->sealed->inventories[w->homes[h].fu].count : 1;
    for (uint32_t t = 0; t < count; t++) {
        w->templates[h] = t;
        try_templates(w, h + 1);
    }
}

static void try_actors(ways *w, uint32_t actor)
{
    if (actor == w->graph->n_actors || actor == ACTORS) { /* put_graph makes no more */
        try_templates(w, 0);
        return;
    }
    for (unsigned i = 0; i < w->counts[actor]; i++) {
        w->chosen[actor] = &w->choices[actor][i];
        try_actors(w, actor + 1);
    }
}

static size_t count_ways(const qp_fabric_sealed *sealed, const qp_fabric_graph *graph)
{
    ways *w = calloc(1, sizeof *w);

    assert_non_null(w);
    w->sealed = sealed;
    w->graph = graph;
    find_homes(w);
    for (uint32_t a = 0; a < graph->n_actors; a++)
        for (unsigned h = 0; h < w->home_count; h++)
            for (uint32_t n = 0; n < sealed->fabric->fus[w->homes[h].fu].n_nodes; n++)
                if (sealed->fabric->fus[w->homes[h].fu].nodes[n].kind == QP_FABRIC_NODE_OP)
                    add_choices(w, a, h, n);
    try_actors(w, 0);
    const size_t good = w->good;
    free(w);
    return good;
}

/* ---- the property ------------------------------------------------------------------------- */

/* The texts of two maps without their names. */
static int compare_maps(const void *a, const void *b)
{
    return strcmp(strchr(*(const char *const *)a, '{'), strchr(*(const char *const *)b, '{'));
}

static void assert_different(const qp_fabric_model *model, const qp_fabric_found *found)
{
    char **texts = calloc(found->count + 1, sizeof *texts);

    assert_non_null(texts);
    for (size_t i = 0; i < found->count; i++) {
        qp_buffer buffer;
        qp_buffer_init(&buffer, NULL);
        qp_fabric_write_map(&buffer, model, found->maps[i], "m");
        qp_buffer_append(&buffer, "", 1);
        texts[i] = malloc(buffer.size);
        assert_non_null(texts[i]);
        memcpy(texts[i], buffer.bytes, buffer.size);
        qp_buffer_free(&buffer);
    }
    qsort(texts, found->count, sizeof *texts, compare_maps);
    for (size_t i = 1; i < found->count; i++)
        assert_true(compare_maps(&texts[i - 1], &texts[i]) != 0);
    for (size_t i = 0; i < found->count; i++)
        free(texts[i]);
    free(texts);
}

/* Returns how many maps there are. */
static size_t assert_all_found(const char *text)
{
    qp_fabric_model *model = read_one(text);
    qp_fabric_sealed sealed;
    qp_fabric_found found;
    qp_fabric_error error;
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    assert_good(qp_fabric_seal_fabric(model, &model->fabrics[0], &arena, &sealed, &error), &error);
    const qp_fabric_search_bounds bounds = {UINT64_C(100000000), 0};
    assert_good(qp_fabric_find_maps(&sealed, &model->graphs[0], bounds, &arena, &found, &error),
                &error);
    const size_t expected = count_ways(&sealed, &model->graphs[0]);
    if (found.count != expected)
        print_error("%zu maps, not %zu (%s):\n%s\n", found.count, expected, found.reason, text);
    assert_int_equal(found.end, QP_FABRIC_SEARCH_COMPLETE);
    assert_int_equal(found.count, expected);
    assert_different(model, &found);
    qp_arena_free(&arena);
    qp_fabric_free(model);
    return expected;
}

static void test_all_found(void **state)
{
    unsigned with_maps = 0;
    size_t total = 0;
    (void)state;

    for (unsigned run = 0; run < 3000; run++) {
        qp_buffer text;
        qp_buffer_init(&text, NULL);
        if (put_fabric(&text)) {
            put_graph(&text);
            qp_buffer_append(&text, "", 1);
            const size_t count = assert_all_found((const char *)text.bytes);
            with_maps += count > 0;
            total += count;
        }
        qp_buffer_free(&text);
    }
    assert_true(with_maps > 50); /* the property is about something */
    assert_true(total > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
