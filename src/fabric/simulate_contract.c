/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_contract.c - what an op's contract says of how it runs (section 9). All that run have
 * one requester and states that one use fills; they differ in whether a firing holds a slot until
 * its results are delivered, or holds nothing and publishes at once.
 */
#include "fabric/simulation.h"

/* The rank of an event, in the pattern's timing. */
static uint32_t rank_of(const qp_fabric_contract *contract, const qp_fabric_pattern *pattern,
                        uint32_t event)
{
    return contract->timings[pattern->timing].items[event];
}

/* Every claim takes all that its state has. */
static bool claims_whole_states(const qp_fabric_contract *contract,
                                const qp_fabric_pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->claim_count; i++) {
        const qp_fabric_claim *claim = &pattern->claims[i];
        const qp_fabric_capacity *capacity =
            &contract->states[claim->state].dimensions[claim->dimension];
        if (claim->amount != capacity->capacity || capacity->initial_occupancy != 0)
            return false;
    }
    return true;
}

/* Accepts at rank 0; commits and releases at one rank, 0 where it claims nothing and 1 where it
 * does. */
static bool runs(const qp_fabric_contract *contract, const qp_fabric_pattern *pattern)
{
    const uint32_t late = pattern->claim_count > 0;

    return pattern->commits && pattern->parameter_count == 0 && pattern->sharing_count == 0 &&
           rank_of(contract, pattern, pattern->acquire) == 0 &&
           rank_of(contract, pattern, pattern->commit_event) == late &&
           rank_of(contract, pattern, pattern->release) == late &&
           claims_whole_states(contract, pattern);
}

qp_status qp_fabric_discipline_of(const qp_fabric_contract *contract, qp_fabric_place place,
                                  qp_fabric_discipline *discipline, qp_fabric_error *error)
{
    bool good = contract->grant == QP_FABRIC_GRANT_NONE && contract->pattern_count > 0 &&
                contract->requester_count == 1;

    for (uint32_t i = 0; good && i < contract->pattern_count; i++)
        good = runs(contract, &contract->patterns[i]) &&
               (contract->patterns[i].claim_count == 0) == (contract->patterns[0].claim_count == 0);
    if (!good)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, place,
                              "nothing here runs an op with such a resource contract");
    discipline->transparent = contract->patterns[0].claim_count == 0;
    return QP_OK;
}
