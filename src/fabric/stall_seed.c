/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall_seed.c - stalls made up from a seed. Each port has its own rhythm: free and stalled runs
 * take turns, their lengths drawn below two limits of the port's; one port in four never stalls.
 */
#include "fabric/streams.h"

enum { LONGEST_RUN = 9 };

/* splitmix64, of S. Vigna: every seed gives a good sequence. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t draw_length(uint64_t *state, uint64_t limit)
{
    return 1 + draw(state) % limit;
}

/* One port's intervals behind `count` that are there; every turn takes at least two cycles. */
static size_t make_up(uint64_t *state, qp_fabric_interval *intervals, size_t count)
{
    const bool stalls = draw(state) % 4 != 0;
    const uint64_t free_limit = draw_length(state, LONGEST_RUN);
    const uint64_t stalled_limit = draw_length(state, LONGEST_RUN);

    for (uint64_t at = draw(state) % free_limit; stalls && at < QP_FABRIC_SEEDED_CYCLES;) {
        const uint64_t end = at + draw_length(state, stalled_limit);
        intervals[count++] =
            (qp_fabric_interval){at, end < QP_FABRIC_SEEDED_CYCLES ? end : QP_FABRIC_SEEDED_CYCLES};
        at = end + draw_length(state, free_limit);
    }
    return count;
}

qp_status qp_fabric_seed_stalls(const qp_fabric_graph *graph, uint64_t seed,
                                const qp_fabric_stall *given, qp_arena *arena,
                                qp_fabric_stall *stalls, qp_fabric_error *error)
{
    const size_t ports = (size_t)graph->n_inputs + graph->n_outputs;
    uint64_t state = seed;

    for (size_t i = 0; i < ports; i++) {
        const size_t count = given[i].count;
        size_t room;
        qp_fabric_interval *intervals = NULL;
        if (qp_add_size(count, QP_FABRIC_SEEDED_CYCLES / 2 + 1, &room))
            intervals = qp_arena_allocate(arena, room, sizeof *intervals);
        if (intervals == NULL)
            return qp_fabric_fail_memory(error, "the stalls of a port");
        if (count > 0)
            memcpy(intervals, given[i].intervals, count * sizeof *intervals);
        stalls[i].intervals = intervals;
        stalls[i].count = make_up(&state, intervals, count);
    }
    return QP_OK;
}
