/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_simulate.c - the cycle tables of section 12.1 and the anchors 8 to 15.
 */
#include "fabric/simulate_support.h"

#include "fabric/examples.h"

static const char mac_tokens[] = "{\"port\": \"a\", \"tokens\": [\"00000003\", \"00000005\"]}\n"
                                 "{\"port\": \"b\", \"tokens\": [\"00000004\", \"00000006\"]}\n"
                                 "{\"port\": \"ph\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                                 "{\"port\": \"init\", \"tokens\": [\"0000000a\"]}\n";

/* ---- the MAC of 13.2 ---------------------------------------------------------------------- */

static void test_mac(void **state)
{
    static event_log log;
    text_run run = {example_13_2, "mac", mac_tokens, NULL, {.observer = &log.observer}};
    qp_fabric_run_counts counts;
    (void)state;

    log_init(&log, SEE_FIRE | SEE_STATE);
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"00000034\"], \"cycles\": [5]}\n", &counts);
    assert_string_equal(log.text, "0 fire p Fire\n"
                                  "0 fire c Init\n"
                                  "0 fire x0 Lane1\n"
                                  "1 state c Running\n"
                                  "1 fire p Fire\n"
                                  "1 fire n Fire\n"
                                  "2 fire c Next\n"
                                  "2 fire x0 Lane1\n"
                                  "3 fire n Fire\n"
                                  "4 fire c Next\n"
                                  "4 fire x0 Lane0\n"
                                  "5 fire c Close\n"
                                  "6 state c Initial\n");
    assert_int_equal(counts.cycles, 7);
    assert_int_equal(counts.firings, 11);
}

/* With arith.subi for %n: 10, -2, -32. */
static void test_mac_subtracts(void **state)
{
    static char text[sizeof example_13_2];
    text_run run = {text, "mac", mac_tokens, NULL, {0}};
    (void)state;

    memcpy(text, example_13_2, sizeof text);
    memcpy(strstr(text, "arith.addi %x1"), "arith.subi %x1", strlen("arith.subi %x1"));
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"ffffffe0\"], \"cycles\": [5]}\n", NULL);
}

/* mul waits for cycle 2, car Next and dmx fire at 4 and 6, x0 is offered from 7 and goes at 8. */
static void test_mac_stalled(void **state)
{
    static event_log log;
    text_run run = {example_13_2,
                    "mac",
                    mac_tokens,
                    "{\"port\": \"b\", \"cycles\": [[0, 2]]}\n"
                    "{\"port\": \"x0\", \"cycles\": [[5, 8]]}\n",
                    {.observer = &log.observer}};
    (void)state;

    log_init(&log, SEE_FIRE);
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"00000034\"], \"cycles\": [8]}\n", NULL);
    assert_string_equal(log.text, "0 fire c Init\n"
                                  "0 fire x0 Lane1\n"
                                  "2 fire p Fire\n"
                                  "3 fire p Fire\n"
                                  "3 fire n Fire\n"
                                  "4 fire c Next\n"
                                  "4 fire x0 Lane1\n"
                                  "5 fire n Fire\n"
                                  "6 fire c Next\n"
                                  "6 fire x0 Lane0\n"
                                  "7 fire c Close\n");
}

/* A reset in cycle 3 with a second init: pc has T, F left and pd F. */
static void test_mac_reset(void **state)
{
    static const uint64_t resets[] = {3};
    static event_log log;
    text_run run = {example_13_2,
                    "mac",
                    "{\"port\": \"a\", \"tokens\": [\"00000003\", \"00000005\"]}\n"
                    "{\"port\": \"b\", \"tokens\": [\"00000004\", \"00000006\"]}\n"
                    "{\"port\": \"ph\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                    "{\"port\": \"init\", \"tokens\": [\"0000000a\", \"00000001\"]}\n",
                    NULL,
                    {.resets = resets, .reset_count = 1, .observer = &log.observer}};
    qp_fabric_run_counts counts;
    (void)state;

    log_init(&log, SEE_FIRE | SEE_RESET);
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"00000001\"], \"cycles\": [5]}\n", &counts);
    assert_string_equal(log.text, "0 fire p Fire\n"
                                  "0 fire c Init\n"
                                  "0 fire x0 Lane1\n"
                                  "1 fire p Fire\n"
                                  "1 fire n Fire\n"
                                  "2 fire c Next\n"
                                  "2 fire x0 Lane1\n"
                                  "3 reset\n"
                                  "4 fire c Init\n"
                                  "4 fire x0 Lane0\n");
    assert_int_equal(counts.cycles, 7);
}

/* A run ends by its number of cycles, or with the first idle one behind all stalls and resets. */
static void test_ends(void **state)
{
    text_run run = {example_13_2, "mac", mac_tokens, NULL, {.cycles = 5}};
    static const uint64_t resets[] = {9, 2000};
    qp_fabric_run_counts counts;
    (void)state;

    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [], \"cycles\": []}\n", &counts);
    assert_int_equal(counts.cycles, 5);
    run.options.cycles = 0;
    run.stalls = "{\"port\": \"a\", \"cycles\": [[900000, 900001]]}\n";
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"00000034\"], \"cycles\": [5]}\n", &counts);
    assert_int_equal(counts.cycles, 900002);
    run.stalls = "{\"port\": \"b\", \"cycles\": [[0, 1000000]]}\n";
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [], \"cycles\": []}\n", &counts);
    assert_int_equal(counts.cycles, 1000000);
    run.stalls = "{\"port\": \"b\", \"cycles\": [[7, 7]]}\n"; /* nothing is stalled */
    run.options.resets = resets;
    run.options.reset_count = 2;
    assert_run(&run, "{\"port\": \"x0\", \"tokens\": [\"00000034\"], \"cycles\": [5]}\n", &counts);
    assert_int_equal(counts.cycles, 2002);
}

/* ---- elastic ops -------------------------------------------------------------------------- */

static const char add_pairs[] = "{\"port\": \"a\", \"tokens\": [\"00000007\", \"00000001\"]}\n"
                                "{\"port\": \"b\", \"tokens\": [\"00000002\", \"00000005\"]}\n";

/* Accept at 0, the sink blocked until 4: the result is valid and unchanged 1..4, the second firing
 * comes at 4 and publishes at 5. */
static void anchor_08_elastic(void **state)
{
    static event_log log;
    text_run run = {example_13_1,
                    "m",
                    add_pairs,
                    "{\"port\": \"d\", \"cycles\": [[0, 4]]}\n",
                    {.observer = &log.observer}};
    (void)state;

    log_init(&log, SEE_FIRE | SEE_OFFER | SEE_HANDOFF);
    assert_run(&run,
               "{\"port\": \"d\", \"tokens\": [\"00000005\", \"fffffffc\"], \"cycles\": [4, 5]}\n",
               NULL);
    assert_string_equal(log.text, "0 offer d.0 00000007\n"
                                  "0 handoff d.0\n"
                                  "0 offer d.1 00000002\n"
                                  "0 handoff d.1\n"
                                  "0 fire d Fire\n"
                                  "1 offer d 00000005\n"
                                  "1 offer d.0 00000001\n"
                                  "1 offer d.1 00000005\n"
                                  "2 offer d 00000005\n"
                                  "2 offer d.0 00000001\n"
                                  "2 offer d.1 00000005\n"
                                  "3 offer d 00000005\n"
                                  "3 offer d.0 00000001\n"
                                  "3 offer d.1 00000005\n"
                                  "4 offer d 00000005\n"
                                  "4 handoff d\n"
                                  "4 offer d.0 00000001\n"
                                  "4 handoff d.0\n"
                                  "4 offer d.1 00000005\n"
                                  "4 handoff d.1\n"
                                  "4 fire d Fire\n"
                                  "5 offer d fffffffc\n"
                                  "5 handoff d\n");
}

static const char two_results[] =
    "fabric F { fu U (a:8, b:8) -> (x:8, y:8) {\n"
    "  op s TokenSync [dataflow.sync] in (8,8) out (8,8) params { max_payload_bits = 8, max_fan = "
    "2 }\n"
    "  wire a -> s.0  wire b -> s.1  wire s.0 -> x  wire s.1 -> y } occ u U }\n"
    "graph g { input %a : i8  input %b : i8\n"
    "  %x, %y = dataflow.sync %a, %b : (i8,i8) -> (i8,i8)  output %x  output %y }\n"
    "map m of g on F { realize r fu U template 0 { actor %x -> s in (0,1) out (0,1)\n"
    "  bound %x in 0 -> a  bound %x in 1 -> b  bound %x out 0 -> x  bound %x out 1 -> y }\n"
    "  bind r -> u }\n";

/* Result 0 is taken at 1, result 1 at 3: result 0 is not offered again, the next firing is at 3. */
static void anchor_09_two_results(void **state)
{
    static event_log log;
    text_run run = {two_results,
                    "m",
                    "{\"port\": \"a\", \"tokens\": [\"01\", \"02\"]}\n"
                    "{\"port\": \"b\", \"tokens\": [\"11\", \"12\"]}\n",
                    "{\"port\": \"y\", \"cycles\": [[1, 3]]}\n",
                    {.observer = &log.observer}};
    (void)state;

    log_init(&log, SEE_FIRE | SEE_OFFER);
    assert_run(&run,
               "{\"port\": \"x\", \"tokens\": [\"01\", \"02\"], \"cycles\": [1, 4]}\n"
               "{\"port\": \"y\", \"tokens\": [\"11\", \"12\"], \"cycles\": [3, 4]}\n",
               NULL);
    assert_string_equal(log.text, "0 offer x.0 01\n0 offer x.1 11\n0 fire x Fire\n"
                                  "1 offer x 01\n1 offer y 11\n1 offer x.0 02\n1 offer x.1 12\n"
                                  "2 offer y 11\n2 offer x.0 02\n2 offer x.1 12\n"
                                  "3 offer y 11\n3 offer x.0 02\n3 offer x.1 12\n3 fire x Fire\n"
                                  "4 offer x 02\n4 offer y 12\n");
}

/* ---- transparent ops ---------------------------------------------------------------------- */

static const char one_carry[] =
    "fabric F { fu U (p:1, i:8, n:8) -> (y:8) {\n"
    "  op c LoopCarry [dataflow.carry] in (1,8,8) out (8) params {}\n"
    "  wire p -> c.0  wire i -> c.1  wire n -> c.2  wire c.0 -> y } occ u U }\n"
    "graph g { input %p : i1  input %i : i8  input %n : i8\n"
    "  %c = dataflow.carry %p, %i, %n : (i1,i8,i8) -> (i8)  output %c }\n"
    "map m of g on F { realize r fu U template 0 { actor %c -> c in (0,1,2) out (0)\n"
    "  bound %c in 0 -> p  bound %c in 1 -> i  bound %c in 2 -> n  bound %c out 0 -> y }\n"
    "  bind r -> u }\n";

/* A carry whose sink is blocked consumes nothing and stays in Initial; what it offers stands. */
static void anchor_10_carry_blocked(void **state)
{
    static event_log log;
    text_run run = {one_carry,
                    "m",
                    "{\"port\": \"p\", \"tokens\": [\"1\", \"0\"]}\n"
                    "{\"port\": \"i\", \"tokens\": [\"0a\"]}\n"
                    "{\"port\": \"n\", \"tokens\": [\"0b\"]}\n",
                    "{\"port\": \"c\", \"cycles\": [[0, 2]]}\n",
                    {.observer = &log.observer}};
    (void)state;

    log_init(&log, SEE_FIRE | SEE_HANDOFF | SEE_STATE);
    assert_run(&run, "{\"port\": \"c\", \"tokens\": [\"0a\", \"0b\"], \"cycles\": [2, 3]}\n", NULL);
    assert_string_equal(log.text, "2 handoff c.1\n2 handoff c\n2 fire c Init\n3 state c Running\n"
                                  "3 handoff c.0\n3 handoff c.2\n3 handoff c\n3 fire c Next\n"
                                  "4 handoff c.0\n4 fire c Close\n5 state c Initial\n");
}

/* ---- adapters ----------------------------------------------------------------------------- */

/* Phases from a stream of constants, so that they are proved defined; its values are the data. */
static const char collect[] =
    "fabric F { fu U (c0:0, c1:0, c2:0) -> (v:32, k:4, g:1) {\n"
    "  op z TokenConstant [dataflow.constant] in (0) out (8) params { max_payload_bits = 8 }\n"
    "  op n TokenConstant [dataflow.constant] in (0) out (8) params { max_payload_bits = 8 }\n"
    "  op o TokenConstant [dataflow.constant] in (0) out (8) params { max_payload_bits = 8 }\n"
    "  op s LoopStream [dataflow.stream] in (8,8,8) out (8,1) params { integer_widths = [8], "
    "step_kind = add, predicates = [slt] }\n"
    "  op p FixedVectorParallelize [dataflow.parallelize] in (8,1) out (32,4,1) params { "
    "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 32 }\n"
    "  wire c0 -> z.0  wire c1 -> n.0  wire c2 -> o.0  wire z.0 -> s.0  wire n.0 -> s.1\n"
    "  wire o.0 -> s.2  wire s.0 -> p.0  wire s.1 -> p.1\n"
    "  wire p.0 -> v  wire p.1 -> k  wire p.2 -> g } occ u U }\n"
    "graph g { input %c : none\n"
    "  %z = dataflow.constant %c { value = 1 } : (none) -> (i8)\n"
    "  %n = dataflow.constant %c { value = 6 } : (none) -> (i8)\n"
    "  %o = dataflow.constant %c { value = 1 } : (none) -> (i8)\n"
    "  %i, %ph = dataflow.stream %z, %n, %o { step = add, predicate = slt } : (i8,i8,i8) -> "
    "(i8,i1)\n"
    "  %v, %k, %g = dataflow.parallelize %i, %ph : (i8,i1) -> (vector<4xi8>,vector<4xi1>,i1)\n"
    "  output %v  output %k  output %g }\n"
    "map m of g on F { realize r fu U template 0 {\n"
    "  actor %z -> z in (0) out (0)  actor %n -> n in (0) out (0)  actor %o -> o in (0) out (0)\n"
    "  actor %i -> s in (0,1,2) out (0,1)  actor %v -> p in (0,1) out (0,1,2)\n"
    "  bound %z in 0 -> c0  bound %n in 0 -> c1  bound %o in 0 -> c2\n"
    "  bound %v out 0 -> v  bound %v out 1 -> k  bound %v out 2 -> g } bind r -> u }\n";

static const char two_starts[] = "{\"port\": \"c\", \"tokens\": [\"none\", \"none\"]}\n";

/*
 * 1 2 3 4 | 5: the constants fire at 0, the stream from 1, its phases stand from 2. Full at 5
 * stands at 6; partial close at 7 publishes its first group at 8, which is stable while %g is
 * stalled, then {false}. The first accumulation of the next run waits for the handoff of that one
 * and comes in the same cycle.
 */
static void anchor_11_partial_close(void **state)
{
    static event_log log;
    text_run run = {collect,
                    "m",
                    two_starts,
                    "{\"port\": \"g\", \"cycles\": [[8, 11], [12, 14]]}\n",
                    {.observer = &log.observer, .cycles = 16}};
    (void)state;

    log_init(&log, SEE_FIRE | SEE_OFFER | SEE_HANDOFF);
    assert_run(&run,
               "{\"port\": \"v\", \"tokens\": [\"04030201\", \"00000005\"], \"cycles\": [6, 8]}\n"
               "{\"port\": \"k\", \"tokens\": [\"f\", \"1\"], \"cycles\": [6, 8]}\n"
               "{\"port\": \"g\", \"tokens\": [\"1\", \"1\", \"0\"], \"cycles\": [6, 11, 14]}\n",
               NULL);
    assert_non_null(strstr(log.text, "5 fire v Full\n"));
    assert_non_null(strstr(log.text, "7 fire v PartialClose\n"));
    assert_non_null(strstr(log.text, "\n8 offer v 00000005\n8 handoff v\n"));
    assert_non_null(strstr(log.text, "\n10 offer g 1\n10 offer v.0 01\n"));
    assert_non_null(strstr(log.text, "\n11 offer g 1\n11 handoff g\n"));
    assert_non_null(strstr(log.text, "\n12 offer g 0\n12 offer v.0 01\n"));
    assert_non_null(strstr(log.text, "\n14 offer g 0\n14 handoff g\n"));
    assert_null(strstr(log.text, "\n13 fire v"));
    assert_non_null(strstr(log.text, "\n14 fire v Accumulate\n"));
}

/* Mask and phase from constants. %s is the mask's value, %s the fabric's payload bits. */
static const char spread_format[] =
    "fabric F { fu U (v:32, c0:0, c1:0) -> (y:8, p:1) {\n"
    "  op m TokenConstant [dataflow.constant] in (0) out (4) params { max_payload_bits = 4 }\n"
    "  op t TokenConstant [dataflow.constant] in (0) out (1) params { max_payload_bits = 1 }\n"
    "  op s FixedVectorSerialize [dataflow.serialize] in (32,4,1) out (8,1) params { "
    "integer_element_widths = [8], float_element_formats = [], max_payload_bits = 32 }\n"
    "  wire v -> s.0  wire c0 -> m.0  wire c1 -> t.0  wire m.0 -> s.1  wire t.0 -> s.2\n"
    "  wire s.0 -> y  wire s.1 -> p } occ u U }\n"
    "graph g { input %%v : vector<%dxi8>  input %%c : none\n"
    "  %%m = dataflow.constant %%c { value = %s } : (none) -> (vector<%dxi1>)\n"
    "  %%t = dataflow.constant %%c { value = 1 } : (none) -> (i1)\n"
    "  %%y, %%p = dataflow.serialize %%v, %%m, %%t : (vector<%dxi8>,vector<%dxi1>,i1) -> (i8,i1)\n"
    "  output %%y  output %%p }\n"
    "map m of g on F { realize r fu U template 0 {\n"
    "  actor %%m -> m in (0) out (0)  actor %%t -> t in (0) out (0)\n"
    "  actor %%y -> s in (0,1,2) out (0,1)  bound %%y in 0 -> v  bound %%m in 0 -> c0\n"
    "  bound %%t in 0 -> c1  bound %%y out 0 -> y  bound %%y out 1 -> p } bind r -> u }\n";

static const char *spread(char text[4096], int lanes, const char *mask)
{
    const int size = snprintf(text, 4096, spread_format, lanes, mask, lanes, lanes, lanes);
    assert_in_range(size, 1, 4095);
    return text;
}

static const char two_vectors[] = "{\"port\": \"v\", \"tokens\": [\"0d0c0b0a\", \"1d1c1b1a\"]}\n"
                                  "{\"port\": \"c\", \"tokens\": [\"none\", \"none\"]}\n";

/* A mask of zeros: the firing retires at t+1 with nothing published, and the next one comes then.
 */
static void anchor_12_mask_of_zeros(void **state)
{
    static event_log log;
    char text[4096];
    text_run run = {
        spread(text, 4, "[0,0,0,0]"), "m", two_vectors, NULL, {.observer = &log.observer}};
    (void)state;

    log_init(&log, SEE_FIRE);
    assert_run(&run,
               "{\"port\": \"y\", \"tokens\": [], \"cycles\": []}\n"
               "{\"port\": \"p\", \"tokens\": [], \"cycles\": []}\n",
               NULL);
    assert_string_equal(log.text, "0 fire m Fire\n0 fire t Fire\n"
                                  "1 fire m Fire\n1 fire t Fire\n1 fire y Active\n"
                                  "2 fire y Active\n");
}

/* Mask 1010b, of which lane 0 is the lowest bit: lanes 1, then 3. */
static void anchor_13_mask_of_two(void **state)
{
    char text[4096];
    text_run run = {spread(text, 4, "[0,1,0,1]"), "m", two_vectors, NULL, {0}};
    (void)state;

    assert_run(&run,
               "{\"port\": \"y\", \"tokens\": [\"0b\", \"0d\", \"1b\", \"1d\"], \"cycles\": "
               "[2, 3, 4, 5]}\n"
               "{\"port\": \"p\", \"tokens\": [\"1\", \"1\", \"1\", \"1\"], \"cycles\": "
               "[2, 3, 4, 5]}\n",
               NULL);
}

/* Two lanes on hardware of four: ones in the padding of the mask are not looked at. */
static void anchor_14_padding(void **state)
{
    char text[4096];
    loaded_map m;
    bool done = false;
    (void)state;

    load_map(&m, spread(text, 2, "[0,1]"), "m");
    load_streams(&m,
                 "{\"port\": \"v\", \"tokens\": [\"0b0a\"]}\n"
                 "{\"port\": \"c\", \"tokens\": [\"none\"]}\n",
                 "");
    /* no text can write such a constant: its payload is in the model's own memory */
    ((uint64_t *)(uintptr_t)m.graph->actors[0].semantics.payload)[0] = 0xe;
    const qp_fabric_script script = {.inputs = m.inputs, .stalls = m.stalls};
    qp_fabric_simulation *simulation;
    assert_good(qp_fabric_simulation_make(&m.verified, &script, NULL, &simulation, &m.error),
                &m.error);
    while (!done)
        assert_good(qp_fabric_simulation_cycle(simulation, &done, &m.error), &m.error);
    const qp_fabric_stream *outputs = qp_fabric_simulation_outputs(simulation);
    assert_int_equal(outputs[0].count, 1);
    assert_int_equal(outputs[0].payload[0], 0x0b);
    qp_fabric_simulation_free(simulation);
    unload_map(&m);
}

/* A reset while four lanes drain: slot, lane cursor and outer claim are empty after it, and the
 * next vector is accepted. */
static void anchor_15_reset_while_draining(void **state)
{
    static const uint64_t resets[] = {4};
    static event_log log;
    char text[4096];
    loaded_map m;
    bool done;
    (void)state;

    log_init(&log, SEE_FIRE | SEE_RESET);
    load_map(&m, spread(text, 4, "[1,1,1,1]"), "m");
    load_streams(&m,
                 "{\"port\": \"v\", \"tokens\": [\"0d0c0b0a\", \"1d1c1b1a\"]}\n"
                 "{\"port\": \"c\", \"tokens\": [\"none\", \"none\", \"none\"]}\n",
                 "");
    const qp_fabric_script script = {.inputs = m.inputs,
                                     .stalls = m.stalls,
                                     .resets = resets,
                                     .reset_count = 1,
                                     .observer = &log.observer};
    qp_fabric_simulation *simulation;
    assert_good(qp_fabric_simulation_make(&m.verified, &script, NULL, &simulation, &m.error),
                &m.error);
    for (int cycle = 0; cycle < 4; cycle++)
        assert_good(qp_fabric_simulation_cycle(simulation, &done, &m.error), &m.error);
    qp_fabric_holding holding = qp_fabric_simulation_holding(simulation, 2);
    assert_true(holding.occupied);
    assert_int_equal(holding.group, 2);
    assert_int_equal(holding.groups_left, 1);
    assert_false(holding.delivered[0]);
    assert_good(qp_fabric_simulation_cycle(simulation, &done, &m.error), &m.error);
    holding = qp_fabric_simulation_holding(simulation, 2);
    assert_false(holding.occupied);
    assert_int_equal(holding.groups_left, 0);
    assert_good(qp_fabric_simulation_run(simulation, 100, &m.error), &m.error);
    assert_string_equal(log.text, "0 fire m Fire\n0 fire t Fire\n"
                                  "1 fire m Fire\n1 fire t Fire\n1 fire y Active\n"
                                  "4 reset\n5 fire m Fire\n5 fire t Fire\n6 fire y Active\n");
    const qp_fabric_stream *outputs = qp_fabric_simulation_outputs(simulation);
    assert_int_equal(outputs[0].count, 6); /* 0a 0b, then 1a 1b 1c 1d */
    assert_int_equal(outputs[0].payload[1], 0x0b);
    assert_int_equal(outputs[0].payload[2], 0x1a);
    qp_fabric_simulation_free(simulation);
    unload_map(&m);
}

/* ---- seeds and memory --------------------------------------------------------------------- */

/* The same seed stalls the same; another one stalls otherwise; all tokens come out. */
static void test_stall_seed(void **state)
{
    static const char begin[] = "{\"port\": \"x0\", \"tokens\": [\"00000034\"]";
    static const uint64_t seeds[] = {7, 7, 8};
    static event_log logs[3];
    (void)state;

    for (int i = 0; i < 3; i++) {
        text_run run = {example_13_2,
                        "mac",
                        mac_tokens,
                        NULL,
                        {.observer = &logs[i].observer, .stall_seed = seeds[i], .cycles = 400}};
        const qp_fabric_text texts = text_of("map", run.text);
        const qp_fabric_streams streams = {text_of("tokens", mac_tokens), text_of("stalls", "")};
        qp_fabric_model *model;
        void *lines;
        size_t size;
        log_init(&logs[i], SEE_FIRE);
        assert_int_equal(qp_fabric_read(&texts, 1, NULL, &model, NULL), QP_OK);
        assert_int_equal(qp_fabric_simulate(model, "mac", &streams, &run.options, NULL, &lines,
                                            &size, NULL, NULL),
                         QP_OK);
        assert_true(size > strlen(begin) && memcmp(lines, begin, strlen(begin)) == 0);
        qp_bytes_free(NULL, lines, size);
        qp_fabric_free(model);
    }
    assert_string_equal(logs[0].text, logs[1].text);
    assert_string_not_equal(logs[0].text, logs[2].text);
}

/* Every allocation of a traced run fails once; each time the run ends with that status. */
static void test_out_of_memory(void **state)
{
    const qp_fabric_text texts = text_of("map", example_13_2);
    const qp_fabric_streams streams = {
        text_of("tokens", mac_tokens),
        text_of("stalls", "{\"port\": \"a\", \"cycles\": [[1, 3]]}")};
    static event_log log;
    const qp_fabric_run_options options = {.observer = &log.observer, .stall_seed = 3};
    qp_fabric_model *model;
    qp_status status = QP_NO_MEMORY;
    size_t failures = 0;
    (void)state;

    log_init(&log, 0);
    assert_int_equal(qp_fabric_read(&texts, 1, NULL, &model, NULL), QP_OK);
    for (; status != QP_OK; failures++) {
        few_blocks blocks = {failures};
        const qp_allocator allocator = {few, &blocks};
        qp_fabric_error error;
        void *lines;
        size_t size;
        status = qp_fabric_simulate(model, "mac", &streams, &options, &allocator, &lines, &size,
                                    NULL, &error);
        if (status != QP_OK)
            assert_int_equal(status, QP_NO_MEMORY);
        qp_bytes_free(&allocator, lines, size);
    }
    assert_in_range(failures, 10, 10000);
    qp_fabric_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mac),
        cmocka_unit_test(test_mac_subtracts),
        cmocka_unit_test(test_mac_stalled),
        cmocka_unit_test(test_mac_reset),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(anchor_08_elastic),
        cmocka_unit_test(anchor_09_two_results),
        cmocka_unit_test(anchor_10_carry_blocked),
        cmocka_unit_test(anchor_11_partial_close),
        cmocka_unit_test(anchor_12_mask_of_zeros),
        cmocka_unit_test(anchor_13_mask_of_two),
        cmocka_unit_test(anchor_14_padding),
        cmocka_unit_test(anchor_15_reset_while_draining),
        cmocka_unit_test(test_stall_seed),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
