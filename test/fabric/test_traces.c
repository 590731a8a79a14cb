/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_traces.c - a run as a VCD file and as a pipeline diagram.
 */
#include "fabric/simulate_support.h"

#include "fabric/examples.h"
#include "fabric/random_map.h"

#include <stdlib.h>

/* ---- running with a trace ----------------------------------------------------------------- */

typedef enum trace_kind { TRACE_VCD, TRACE_PIPELINE } trace_kind;

/* The text of a trace, with a NUL behind it; the caller frees the buffer. */
static void trace_run(loaded_map *m, trace_kind kind, uint64_t cycles, qp_buffer *text)
{
    qp_fabric_observer observer;
    qp_fabric_vcd *vcd = NULL;
    qp_fabric_pipeline *pipeline = NULL;
    const uint64_t resets[] = {9};
    const qp_fabric_script script = {.inputs = m->inputs,
                                     .stalls = m->stalls,
                                     .resets = resets,
                                     .reset_count = 1,
                                     .observer = &observer};
    qp_fabric_simulation *simulation;

    qp_buffer_init(text, NULL);
    if (kind == TRACE_VCD)
        assert_good(qp_fabric_vcd_begin(&m->verified, NULL, text, &vcd, &observer, &m->error),
                    &m->error);
    else
        assert_good(
            qp_fabric_pipeline_begin(&m->verified, 40, NULL, &pipeline, &observer, &m->error),
            &m->error);
    assert_good(qp_fabric_simulation_make(&m->verified, &script, NULL, &simulation, &m->error),
                &m->error);
    assert_good(qp_fabric_simulation_run(simulation, cycles, &m->error), &m->error);
    const uint64_t ran = qp_fabric_simulation_counts(simulation).cycles;
    qp_fabric_simulation_free(simulation);
    assert_good(qp_fabric_vcd_end(vcd, ran, &m->error), &m->error);
    assert_good(qp_fabric_pipeline_end(pipeline, text, &m->error), &m->error);
    qp_buffer_append(text, "", 1);
    assert_false(text->failed);
}

/* ---- VCD ---------------------------------------------------------------------------------- */

/* 7 - 2 on the one op of 13.1, its output stalled in cycle 1. */
static void test_vcd_of_one_op(void **state)
{
    loaded_map m;
    qp_buffer text;
    (void)state;

    load_map(&m, example_13_1, "m");
    load_streams(&m,
                 "{\"port\": \"a\", \"tokens\": [\"00000007\"]}\n"
                 "{\"port\": \"b\", \"tokens\": [\"00000002\"]}\n",
                 "{\"port\": \"d\", \"cycles\": [[1, 2]]}\n");
    trace_run(&m, TRACE_VCD, 3, &text);
    assert_string_equal((char *)text.bytes, "$comment quipu: one time step is one cycle $end\n"
                                            "$timescale 1 ns $end\n"
                                            "$scope module m $end\n"
                                            "$var wire 1 - d_valid $end\n"
                                            "$var wire 1 . d_ready $end\n"
                                            "$var wire 32 / d_data [31:0] $end\n"
                                            "$scope module r $end\n"
                                            "$scope module d $end\n"
                                            "$var wire 1 0 fire $end\n"
                                            "$var string 1 1 case $end\n"
                                            "$var wire 1 ! in0_valid $end\n"
                                            "$var wire 1 \" in0_ready $end\n"
                                            "$var wire 32 # in0_data [31:0] $end\n"
                                            "$var wire 1 $ in1_valid $end\n"
                                            "$var wire 1 % in1_ready $end\n"
                                            "$var wire 32 & in1_data [31:0] $end\n"
                                            "$upscope $end\n"
                                            "$upscope $end\n"
                                            "$upscope $end\n"
                                            "$enddefinitions $end\n"
                                            "#0\n"
                                            "$dumpvars\n0!\n0\"\n0$\n0%\n0-\n0.\n00\n$end\n"
                                            "sFire 1\n1!\n1\"\nb111 #\n1$\n1%\nb10 &\n10\n"
                                            "#1\n0!\n0\"\n0$\n0%\n1-\nb101 /\n00\ns- 1\n"
                                            "#2\n1.\n"
                                            "#3\n0-\n0.\n");
    qp_buffer_free(&text);
    unload_map(&m);
}

/* One identifier for each variable, ascending times, and only declared identifiers change. */
static void assert_sound_vcd(char *text)
{
    static bool declared[94 * 94];
    bool defined = false;
    int scopes = 0;
    long long last = -1;

    memset(declared, 0, sizeof declared);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char id[4] = "", kind[8], name[80];
        unsigned bits;
        if (sscanf(line, "$var %7s %u %3s %79s", kind, &bits, id, name) == 4) {
            assert_false(defined);
            const int number = id[0] - '!' + (id[1] != '\0' ? 94 * (id[1] - '!') : 0);
            assert_in_range(number, 0, 94 * 94 - 1);
            assert_false(declared[number]);
            declared[number] = true;
            assert_in_range(bits, 1, 64);
        } else if (line[0] == '$') {
            scopes += strncmp(line, "$scope", 6) == 0;
            scopes -= strncmp(line, "$upscope", 8) == 0;
            defined = defined || strncmp(line, "$enddefinitions", 15) == 0;
            assert_true(!defined || scopes == 0);
        } else if (line[0] == '#') {
            const long long time = atoll(line + 1);
            assert_true(time > last);
            last = time;
        } else {
            const char *change =
                line[0] == '0' || line[0] == '1' ? line + 1 : strrchr(line, ' ') + 1;
            const int number = change[0] - '!' + (change[1] != '\0' ? 94 * (change[1] - '!') : 0);
            assert_true(defined && last >= 0);
            assert_in_range(number, 0, 94 * 94 - 1);
            assert_true(declared[number]);
        }
    }
    assert_true(defined);
}

static void test_vcd_of_mac(void **state)
{
    loaded_map m;
    qp_buffer text;
    (void)state;

    load_map(&m, example_13_2, "mac");
    load_streams(&m,
                 "{\"port\": \"a\", \"tokens\": [\"00000003\", \"00000005\"]}\n"
                 "{\"port\": \"b\", \"tokens\": [\"00000004\", \"00000006\"]}\n"
                 "{\"port\": \"ph\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                 "{\"port\": \"init\", \"tokens\": [\"0000000a\"]}\n",
                 "{\"port\": \"x0\", \"cycles\": [[5, 8]]}\n");
    trace_run(&m, TRACE_VCD, 100, &text);
    assert_non_null(strstr((char *)text.bytes, "\nsInitial "));
    assert_non_null(strstr((char *)text.bytes, "\nsRunning "));
    assert_non_null(strstr((char *)text.bytes, "\nb110100 ")); /* 52 */
    assert_non_null(strstr((char *)text.bytes, "\nsLane1 "));
    assert_sound_vcd((char *)text.bytes);
    qp_buffer_free(&text);
    unload_map(&m);
}

/* ---- diagrams ----------------------------------------------------------------------------- */

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

/* The table of 12.1 with the second stall: eleven firings, the sum offered at 5 and taken at 8. */
static void test_pipeline_of_mac(void **state)
{
    loaded_map m;
    qp_buffer buffer;
    (void)state;

    load_map(&m, example_13_2, "mac");
    load_streams(&m,
                 "{\"port\": \"a\", \"tokens\": [\"00000003\", \"00000005\"]}\n"
                 "{\"port\": \"b\", \"tokens\": [\"00000004\", \"00000006\"]}\n"
                 "{\"port\": \"ph\", \"tokens\": [\"1\", \"1\", \"0\"]}\n"
                 "{\"port\": \"init\", \"tokens\": [\"0000000a\"]}\n",
                 "{\"port\": \"x0\", \"cycles\": [[5, 8]]}\n");
    trace_run(&m, TRACE_PIPELINE, 100, &buffer);
    const char *text = (char *)buffer.bytes;
    assert_true(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 39) == 0);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    assert_int_equal(count_of(text, ">Fire</text>"), 4);
    assert_int_equal(count_of(text, ">Init</text>"), 1);
    assert_int_equal(count_of(text, ">Next</text>"), 2);
    assert_int_equal(count_of(text, ">Close</text>"), 1);
    assert_int_equal(count_of(text, ">Lane1</text>"), 2);
    assert_int_equal(count_of(text, ">Lane0</text>"), 1);
    assert_int_equal(count_of(text, ">00000034</text>"), 4);
    assert_int_equal(count_of(text, "class=\"out\""), 2); /* once, and once in the key */
    assert_int_equal(count_of(text, "class=\"reset\""), 2);
    qp_buffer_free(&buffer);
    unload_map(&m);
}

/* Traces of random maps are sound, and the observer changes nothing. */
static void test_random_traces(void **state)
{
    static random_map map;
    loaded_map m;
    qp_buffer buffer;
    (void)state;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        const bool made = random_map_make(&map, seed);
        const qp_fabric_text text = {"random", map.text.bytes,
                                     map.text.size > 0 ? map.text.size - 1 : 0};
        qp_arena_init(&m.arena, NULL);
        m.model = NULL;
        if (made && qp_fabric_read(&text, 1, NULL, &m.model, &m.error) == QP_OK &&
            qp_fabric_seal_fabric(m.model, &m.model->fabrics[0], &m.arena, &m.sealed, &m.error) ==
                QP_OK) {
            assert_good(
                qp_fabric_verify(&m.sealed, &m.model->maps[0], &m.arena, &m.verified, &m.error),
                &m.error);
            m.graph = m.verified.graph;
            load_streams(&m, "", "");
            for (uint32_t i = 0; i < m.graph->n_inputs; i++) {
                m.inputs[i].count = 5;
                m.inputs[i].payload = qp_arena_allocate(&m.arena, 5 * m.inputs[i].words, 8);
                for (size_t k = 0; k < 5 * m.inputs[i].words; k++)
                    m.inputs[i].payload[k] = 1;
            }
            trace_run(&m, TRACE_VCD, 50, &buffer);
            assert_sound_vcd((char *)buffer.bytes);
            qp_buffer_free(&buffer);
            trace_run(&m, TRACE_PIPELINE, 50, &buffer);
            qp_buffer_free(&buffer);
        }
        unload_map(&m);
        qp_buffer_free(&map.text);
    }
}

/* Every allocation of a trace fails once. */
static void test_out_of_memory(void **state)
{
    qp_status status = QP_NO_MEMORY;
    size_t failures = 0;
    loaded_map m;
    (void)state;

    load_map(&m, example_13_1, "m");
    load_streams(&m, "{\"port\": \"a\", \"tokens\": [\"00000007\"]}\n", "");
    for (; status != QP_OK; failures++) {
        few_blocks blocks = {failures};
        const qp_allocator allocator = {few, &blocks};
        qp_fabric_observer observer;
        qp_fabric_vcd *vcd;
        qp_fabric_pipeline *pipeline = NULL;
        qp_buffer text;
        qp_buffer_init(&text, &allocator);
        status = qp_fabric_vcd_begin(&m.verified, &allocator, &text, &vcd, &observer, &m.error);
        if (status == QP_OK)
            status = qp_fabric_vcd_end(vcd, 1, &m.error);
        if (status == QP_OK)
            status = qp_fabric_pipeline_begin(&m.verified, 5, &allocator, &pipeline, &observer,
                                              &m.error);
        if (status == QP_OK)
            status = qp_fabric_pipeline_end(pipeline, &text, &m.error);
        qp_buffer_free(&text);
        if (status != QP_OK)
            assert_int_equal(status, QP_NO_MEMORY);
    }
    assert_in_range(failures, 5, 1000);
    unload_map(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vcd_of_one_op),   cmocka_unit_test(test_vcd_of_mac),
        cmocka_unit_test(test_pipeline_of_mac), cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
