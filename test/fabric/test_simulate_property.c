/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simulate_property.c - random graphs on units that fit them, with random data, stalls and
 * resets. The simulator does in every cycle what reference_cycles.h does, and what comes out is
 * what the golden model gives, whatever is stalled.
 */
#include "fabric/reference_cycles.h"

#include "fabric/random_map.h"

#include <stdlib.h>

enum { CASES = 800, FIRINGS_MAX = 1200, CYCLES_MAX = 8000, RESET_CYCLES = 300 };

/* What the cases met, so that none of it is lost unseen. */
typedef struct tally {
    int cases, refused, endless, whole, external, starved, resets;
} tally;

static void random_tokens(random_source *random, loaded_map *m)
{
    m->inputs = qp_arena_allocate(&m->arena, m->graph->n_inputs, sizeof *m->inputs);
    assert_non_null(m->inputs);
    for (uint32_t i = 0; i < m->graph->n_inputs; i++) {
        const uint32_t bits = m->graph->values[i].bits;
        qp_fabric_stream *input = &m->inputs[i];
        input->words = qp_fabric_words(bits);
        input->count = random_below(random, 12);
        input->payload = qp_arena_allocate(&m->arena, input->count * input->words, 8);
        assert_non_null(input->payload);
        for (size_t k = 0; k < input->count * input->words; k++)
            input->payload[k] = bits == 1 ? random_below(random, 4) > 0
                                          : random_word(random) & (UINT64_MAX >> (64 - bits));
    }
}

static void random_stalls(random_source *random, loaded_map *m, bool some)
{
    const uint32_t ports = m->graph->n_inputs + m->graph->n_outputs;

    m->stalls = qp_arena_allocate(&m->arena, ports, sizeof *m->stalls);
    assert_non_null(m->stalls);
    for (uint32_t i = 0; some && i < ports; i++) {
        qp_fabric_interval *intervals = qp_arena_allocate(&m->arena, 10, sizeof *intervals);
        assert_non_null(intervals);
        m->stalls[i].count = random_below(random, 10);
        m->stalls[i].intervals = intervals;
        for (size_t k = 0; k < m->stalls[i].count; k++) {
            intervals[k].first = random_below(random, 60);
            intervals[k].end = intervals[k].first + random_below(random, 12);
        }
    }
}

static void assert_same_stream(const qp_fabric_stream *a, const qp_fabric_stream *b, bool cycles)
{
    assert_int_equal(a->count, b->count);
    if (a->count == 0)
        return;
    if (a->words > 0)
        assert_memory_equal(a->payload, b->payload, a->count * a->words * sizeof *a->payload);
    if (cycles)
        assert_memory_equal(a->cycles, b->cycles, a->count * sizeof *a->cycles);
}

/* Each stream begins like the golden one; true where it is all of it. */
static bool is_golden(const loaded_map *m, const qp_fabric_stream *outputs,
                      const qp_fabric_stream *golden)
{
    bool whole = true;

    for (uint32_t i = 0; i < m->graph->n_outputs; i++) {
        assert_true(outputs[i].count <= golden[i].count);
        whole = whole && outputs[i].count == golden[i].count;
        if (outputs[i].count > 0 && outputs[i].words > 0)
            assert_memory_equal(outputs[i].payload, golden[i].payload,
                                outputs[i].count * outputs[i].words * sizeof(uint64_t));
    }
    return whole;
}

/* The simulator beside the reference, cycle by cycle; the simulation is the caller's. After a reset
 * a stream may have other operands than it was meant to have, and never end. */
static qp_fabric_simulation *run_both(loaded_map *m, const uint64_t *resets, size_t reset_count)
{
    static ref_run reference;
    static ref_next next;
    const qp_fabric_script script = {
        .inputs = m->inputs, .stalls = m->stalls, .resets = resets, .reset_count = reset_count};
    qp_fabric_simulation *simulation;
    qp_fabric_run_counts before = {0, 0};
    bool done = false;

    assert_good(qp_fabric_simulation_make(&m->verified, &script, NULL, &simulation, &m->error),
                &m->error);
    ref_init(&reference, m);
    for (uint64_t cycle = 0; !done && (reset_count == 0 || cycle < RESET_CYCLES); cycle++) {
        bool reset = false;
        uint32_t fired = 0;
        for (size_t i = 0; i < reset_count; i++)
            reset = reset || resets[i] == cycle;
        assert_in_range(cycle, 0, CYCLES_MAX);
        assert_good(qp_fabric_simulation_cycle(simulation, &done, &m->error), &m->error);
        ref_cycle(&reference, reset, &next);
        for (uint32_t a = 0; !reset && a < m->graph->n_actors; a++)
            fired += reference.actors[a].fires;
        const qp_fabric_run_counts counts = qp_fabric_simulation_counts(simulation);
        assert_int_equal(counts.firings - before.firings, fired);
        before = counts;
        for (uint32_t a = 0; a < m->graph->n_actors; a++) {
            const qp_fabric_state *state = qp_fabric_simulation_state(simulation, a);
            assert_int_equal(state->mode, reference.actors[a].state.mode);
            assert_int_equal(state->pending, reference.actors[a].state.pending);
            assert_int_equal(state->current, reference.actors[a].state.current);
            assert_int_equal(qp_fabric_simulation_holding(simulation, a).occupied,
                             reference.actors[a].group < reference.actors[a].groups);
        }
        if (!done && reset_count == 0) /* a run ends where nothing moves and nothing comes */
            assert_true(reference.moved || cycle < 72);
    }
    for (uint32_t i = 0; i < m->graph->n_outputs; i++)
        assert_same_stream(&qp_fabric_simulation_outputs(simulation)[i], &reference.outputs[i],
                           true);
    ref_free(&reference);
    return simulation;
}

/* Without stalls, with some, and with resets too. */
static void run_case(random_source *random, loaded_map *m, bool external, tally *seen)
{
    const uint64_t resets[] = {random_below(random, 20), random_below(random, 40)};
    qp_fabric_stream golden[RANDOM_VALUES];

    random_tokens(random, m);
    random_stalls(random, m, false);
    const qp_status status =
        qp_fabric_golden_run(m->model, m->graph, m->inputs, FIRINGS_MAX, NULL, golden, &m->error);
    if (status == QP_OK) {
        qp_fabric_simulation *plain = run_both(m, NULL, 0);
        const qp_fabric_stream *outputs = qp_fabric_simulation_outputs(plain);
        const bool whole = is_golden(m, outputs, golden);
        assert_true(whole || !external);
        seen->whole += whole;
        seen->external += external;
        seen->starved += !whole;
        random_stalls(random, m, true);
        qp_fabric_simulation *stalled = run_both(m, NULL, 0);
        for (uint32_t i = 0; i < m->graph->n_outputs; i++)
            assert_same_stream(&outputs[i], &qp_fabric_simulation_outputs(stalled)[i], false);
        qp_fabric_simulation_free(stalled);
        qp_fabric_simulation_free(run_both(m, resets, 1 + random_below(random, 2)));
        qp_fabric_simulation_free(plain);
        seen->resets++;
    } else {
        assert_int_equal(m->error.fault, QP_FABRIC_UNSUPPORTED);
        seen->endless++;
    }
    for (uint32_t i = 0; i < m->graph->n_outputs; i++)
        qp_fabric_stream_free(&golden[i], NULL);
}

/* False where the fabric is refused: a combinational cycle of transparent ops. */
static bool load_random(loaded_map *m, const random_map *map)
{
    const qp_fabric_text text = {"random", map->text.bytes, map->text.size - 1};

    qp_arena_init(&m->arena, NULL);
    assert_good(qp_fabric_read(&text, 1, NULL, &m->model, &m->error), &m->error);
    const qp_status status =
        qp_fabric_seal_fabric(m->model, &m->model->fabrics[0], &m->arena, &m->sealed, &m->error);
    if (status != QP_OK) {
        assert_int_equal(m->error.fault, QP_FABRIC_INVALID);
        assert_non_null(strstr(m->error.base.message, "combinational"));
        return false;
    }
    assert_good(
        qp_fabric_verify(&m->sealed, &m->model->maps[0], &m->arena, &m->verified, &m->error),
        &m->error);
    m->graph = m->verified.graph;
    return true;
}

static void test_random_maps(void **state)
{
    static random_map map;
    static loaded_map m;
    tally seen = {0};
    (void)state;

    for (uint64_t seed = 1; seed <= CASES; seed++) {
        if (random_map_make(&map, seed)) {
            seen.cases++;
            if (load_random(&m, &map))
                run_case(&map.random, &m, map.all_external, &seen);
            else
                seen.refused++;
            unload_map(&m);
        }
        qp_buffer_free(&map.text);
    }
    print_message("%d maps: %d refused, %d endless, %d whole, %d external, %d starved\n",
                  seen.cases, seen.refused, seen.endless, seen.whole, seen.external, seen.starved);
    assert_in_range(seen.whole, CASES / 2, CASES);
    assert_in_range(seen.external, CASES / 10, CASES);
    assert_in_range(seen.starved, 1, CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
