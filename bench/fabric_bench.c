/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fabric_bench.c - firings a second of the cycle simulator on one core: fabric_bench [MILLIONS].
 * The unit is the MAC of the fabric tables' section 13.2, fed with dot products of 1000 terms, with
 * open sinks and with stalls from a seed; and a row of sixteen adders behind one another. Each row
 * is the best of five runs of about MILLIONS million firings (2 without it).
 */
#define _POSIX_C_SOURCE 200809L

#include "fabric/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TERMS = 1000, RUNS = 5, CHAIN = 16 };

static const char mac_text[] =
    "fabric M { fu Mac (a:32, b:32, pc:1, pd:1, init:32) -> (y:32) {\n"
    "  op mul ScalarIntegerMultiply [arith.muli] in (32,32) out (32) params { integer_widths = "
    "[32] }\n"
    "  op acc ScalarIntegerAddSub [arith.addi, arith.subi] in (32,32) out (32) params { "
    "integer_widths = [32] }\n"
    "  op car LoopCarry [dataflow.carry] in (1,32,32) out (32) params {}\n"
    "  op dmx TokenDemux [dataflow.demux] in (1,32) out (32,32) params { max_payload_bits = 32, "
    "max_fan = 2 }\n"
    "  wire a -> mul.0  wire b -> mul.1  wire pc -> car.0  wire init -> car.1  wire pd -> dmx.0\n"
    "  wire car.0 -> dmx.1  wire dmx.1 -> acc.0  wire mul.0 -> acc.1  wire acc.0 -> car.2\n"
    "  wire dmx.0 -> y } occ u Mac }\n"
    "graph dot { input %a : i32  input %b : i32  input %ph : i1  input %init : i32\n"
    "  %p = arith.muli %a, %b : (i32,i32) -> (i32)\n"
    "  %c = dataflow.carry %ph, %init, %n : (i1,i32,i32) -> (i32)\n"
    "  %x0, %x1 = dataflow.demux %ph, %c : (i1,i32) -> (i32,i32)\n"
    "  %n = arith.addi %x1, %p : (i32,i32) -> (i32)  output %x0 }\n"
    "map mac of dot on M { realize r fu Mac template 0 {\n"
    "  actor %p -> mul in (0,1) out (0)  bound %p in 0 -> a  bound %p in 1 -> b\n"
    "  actor %c -> car in (0,1,2) out (0)  bound %c in 0 -> pc  bound %c in 1 -> init\n"
    "  actor %x0 -> dmx in (0,1) out (0,1)  bound %x0 in 0 -> pd  bound %x0 out 0 -> y\n"
    "  actor %n -> acc in (0,1) out (0) } bind r -> u }\n";

typedef struct bench {
    qp_arena arena;
    qp_fabric_model *model;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    qp_fabric_stream *inputs;
    qp_fabric_stall *stalls;
} bench;

static void check(qp_status status, const qp_fabric_error *error)
{
    char line[700];

    if (status == QP_OK)
        return;
    fprintf(stderr, "%s\n", qp_fabric_error_text(error, line, sizeof line));
    exit(EXIT_FAILURE);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first map of a text, with `tokens` in every input: the numbers from 0 on, or for inputs of
 * one bit ones with a zero after each TERMS. */
static void prepare(bench *b, const char *text, size_t tokens)
{
    const qp_fabric_text texts = {"bench", text, strlen(text)};
    qp_fabric_error error;

    qp_arena_init(&b->arena, NULL);
    check(qp_fabric_read(&texts, 1, NULL, &b->model, &error), &error);
    check(qp_fabric_seal_fabric(b->model, &b->model->fabrics[0], &b->arena, &b->sealed, &error),
          &error);
    check(qp_fabric_verify(&b->sealed, &b->model->maps[0], &b->arena, &b->verified, &error),
          &error);
    const qp_fabric_graph *graph = b->verified.graph;
    b->inputs = qp_arena_allocate(&b->arena, graph->n_inputs, sizeof *b->inputs);
    b->stalls =
        qp_arena_allocate(&b->arena, (size_t)graph->n_inputs + graph->n_outputs, sizeof *b->stalls);
    for (uint32_t i = 0; b->inputs != NULL && i < graph->n_inputs; i++) {
        b->inputs[i] = (qp_fabric_stream){.count = tokens, .words = 1};
        b->inputs[i].payload = qp_arena_allocate(&b->arena, tokens, sizeof(uint64_t));
        if (b->inputs[i].payload == NULL)
            exit(EXIT_FAILURE);
        for (size_t k = 0; k < tokens; k++)
            b->inputs[i].payload[k] =
                graph->values[i].bits > 1 ? k & UINT32_MAX : k % (TERMS + 1) != TERMS;
    }
    if (b->inputs == NULL || b->stalls == NULL)
        exit(EXIT_FAILURE);
}

static void finish(bench *b)
{
    qp_fabric_free(b->model);
    qp_arena_free(&b->arena);
}

static void run(const bench *b, const char *name)
{
    const qp_fabric_script script = {.inputs = b->inputs, .stalls = b->stalls};
    qp_fabric_run_counts counts = {0, 0};
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        qp_fabric_simulation *simulation;
        qp_fabric_error error;
        check(qp_fabric_simulation_make(&b->verified, &script, NULL, &simulation, &error), &error);
        const double start = now();
        check(qp_fabric_simulation_run(simulation, UINT64_MAX, &error), &error);
        const double seconds = now() - start;
        best = seconds < best ? seconds : best;
        counts = qp_fabric_simulation_counts(simulation);
        qp_fabric_simulation_free(simulation);
    }
    printf("%-28s %10llu firings %10llu cycles  %7.2f M firings/s  %7.2f M cycles/s\n", name,
           (unsigned long long)counts.firings, (unsigned long long)counts.cycles,
           (double)counts.firings / best / 1e6, (double)counts.cycles / best / 1e6);
}

/* Adders behind one another: each takes what the one before it gives, and an input of its own. */
static char *chain_text(void)
{
    qp_buffer t;
    size_t size;

    qp_buffer_init(&t, NULL);
    qp_buffer_text(&t, "fabric C { fu U (x:32");
    for (int i = 0; i < CHAIN; i++)
        qp_buffer_format(&t, ", i%d:32", i);
    qp_buffer_text(&t, ") -> (y:32) {\n");
    for (int i = 0; i < CHAIN; i++)
        qp_buffer_format(&t,
                         "op f%d ScalarIntegerAddSub [arith.addi] in (32,32) out (32) params "
                         "{ integer_widths = [32] } wire i%d -> f%d.1\n",
                         i, i, i);
    qp_buffer_text(&t, "wire x -> f0.0");
    for (int i = 1; i < CHAIN; i++)
        qp_buffer_format(&t, " wire f%d.0 -> f%d.0", i - 1, i);
    qp_buffer_format(&t, " wire f%d.0 -> y } occ u U }\ngraph g { input %%x : i32", CHAIN - 1);
    for (int i = 0; i < CHAIN; i++)
        qp_buffer_format(&t, " input %%i%d : i32", i);
    for (int i = 0; i < CHAIN; i++)
        if (i == 0)
            qp_buffer_text(&t, "\n%s0 = arith.addi %x, %i0 : (i32,i32) -> (i32)");
        else
            qp_buffer_format(&t, "\n%%s%d = arith.addi %%s%d, %%i%d : (i32,i32) -> (i32)", i, i - 1,
                             i);
    qp_buffer_format(&t, " output %%s%d }\nmap m of g on C { realize r fu U template 0 {\n",
                     CHAIN - 1);
    for (int i = 0; i < CHAIN; i++)
        qp_buffer_format(&t, "actor %%s%d -> f%d in (0,1) out (0) bound %%s%d in 1 -> i%d\n", i, i,
                         i, i);
    qp_buffer_format(&t, "bound %%s0 in 0 -> x bound %%s%d out 0 -> y } bind r -> u }\n",
                     CHAIN - 1);
    qp_buffer_append(&t, "", 1);
    return qp_buffer_take(&t, &size);
}

int main(int argc, char **argv)
{
    const double millions = argc > 1 ? strtod(argv[1], NULL) : 2;
    const size_t firings = (size_t)(millions * 1e6);
    char *chain = chain_text();
    qp_fabric_error error;
    bench b;

    if (chain == NULL)
        return EXIT_FAILURE;
    prepare(&b, mac_text, firings / 4);
    run(&b, "MAC of 13.2");
    check(qp_fabric_seed_stalls(b.verified.graph, 1, b.stalls, &b.arena, b.stalls, &error), &error);
    run(&b, "the same, stalls to 10000");
    finish(&b);
    prepare(&b, chain, firings / CHAIN);
    run(&b, "16 adders in a row");
    finish(&b);
    free(chain);
    return 0;
}
