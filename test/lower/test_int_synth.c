/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_int_synth.c - int_synth.json (integer-operators.md section 13.1) against a graph spelled out
 * from the text, and each load check refused.
 */
#include "bytes.h"

#define SYNTH "wai.neural.int_synth"

static qp_status lower_text(const char *text, qp_lowered **set, qp_error *error)
{
    qp_buffer file;
    qp_buffer_init(&file, NULL);
    qp_buffer_text(&file, text);
    qp_status status = lower_file(SYNTH, &file, set, error);
    qp_buffer_free(&file);
    return status;
}

static const char two_layers[] =
    "{ \"layers\": [\n"
    "  { \"in_ch\": 1, \"out_ch\": 2, \"k\": 1, \"stride\": 2, \"pad\": 0, \"out_pad\": 1,\n"
    "    \"weight\": [3, -5], \"bias\": [7, 8], \"shift\": 4, \"relu\": true },\n"
    "  { \"in_ch\": 2, \"out_ch\": 3, \"k\": 1, \"stride\": 1, \"pad\": 0,\n"
    "    \"weight\": [1, 2, 3, 4, 5, 6], \"bias\": [0, -1, 2147483647], \"note\": {\"a\": [1.5]} "
    "}\n"
    "] }\n";

static void put_graph(qp_buffer *b)
{
    put_graph_header(b, (graph_counts){5, 4, 1, 1, 0});
    put_input(b, 0, 0, 0);
    PUT(b, 4, 4);
    put_tensor(b, 1, 2, -128, 127);
    put_tensor(b, 2, 0, 0, 0);
    put_tensor(b, 2, 0, 0, 0);
    put_tensor(b, 3, 0, 0, 0);
    put_tensor(b, 3, 0, 0, 0);

    put_operator(b, 0x11, 0, 1, 36 + 4 + 8 + 1 + 8 + 8);
    PUT(b, 4, 2, 1, 1, 2, 2, 0, 0, 1, 1);
    PUT(b, 1, 4, 0, 0, 0);
    PUT(b, 1, 0, 1, 0, 1, 0, 4, 0, 0); /* floor, pre, no multiplier, one shift, biases of 4 bytes */
    PUT(b, 1, 4);
    PUT(b, 4, 7, 8);
    PUT(b, 4, 3, -5);
    put_operator(b, 0x0C, 1, 2, 0);
    put_operator(b, 0x11, 2, 3, 36 + 4 + 8 + 1 + 12 + 24);
    PUT(b, 4, 3, 1, 1, 1, 1, 0, 0, 0, 0);
    PUT(b, 1, 4, 0, 0, 0);
    PUT(b, 1, 0, 1, 0, 1, 0, 4, 0, 0);
    PUT(b, 1, 0);
    PUT(b, 4, 0, -1, INT32_MAX);
    PUT(b, 4, 1, 2, 3, 4, 5, 6);
    put_operator(b, 0x0B, 3, 4, 16);
    PUT(b, 8, 0, 255);
}

static void test_to_the_byte(void **state)
{
    (void)state;
    qp_buffer graph;
    qp_lowered *set;
    qp_buffer_init(&graph, NULL);
    put_graph(&graph);
    assert_int_equal(lower_text(two_layers, &set, NULL), QP_OK);
    assert_int_equal(qp_lowered_count(set), 1);
    assert_graph(set, 0, "synth", &graph);
    assert_string_equal(qp_lowered_lowering(set), "int_synth/1");
    qp_lowered_free(set);
    qp_buffer_free(&graph);
}

/* ---- one layer, written with what a case changes ------------------------------------------ */

#define LAYER(in, out, k, stride, pad, rest)                                                       \
    "{\"layers\":[{\"in_ch\":" in ",\"out_ch\":" out ",\"k\":" k ",\"stride\":" stride             \
    ",\"pad\":" pad "," rest "}]}"

/* Lists within lists are the same weights as one list. */
static void test_nested_weights(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LAYER("2", "1", "2", "1", "0", "\"weight\":[1,2,3,4,5,6,7,8],\"bias\":[0]"),
        LAYER("2", "1", "2", "1", "0",
              "\"weight\":[[[[1,2],[3,4]]],[[[5,6],[7,8]]]],\"bias\":[0]")};
    qp_lowered *sets[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(lower_text(texts[i], &sets[i], NULL), QP_OK);
    qp_lowered_role flat = qp_lowered_at(sets[0], 0), nested = qp_lowered_at(sets[1], 0);
    assert_int_equal(flat.size, nested.size);
    assert_memory_equal(flat.bytes, nested.bytes, flat.size);
    for (size_t i = 0; i < 2; i++)
        qp_lowered_free(sets[i]);
}

#define ONE "\"weight\":[1],\"bias\":[0]"

typedef struct refusal {
    const char *text, *says;
} refusal;

static const refusal refusals[] = {
    {"", ""},
    {"[]", "expected an object"},
    {"{}", "layers"},
    {"{\"layers\":{}}", "layers"},
    {"{\"layers\":[]}", "no layer"},
    {"{\"layers\":[1]}", "layer 0: line 1, column 12"},
    {LAYER("0", "1", "1", "1", "0", ONE), "outside"},
    {LAYER("1", "0", "1", "1", "0", "\"weight\":[],\"bias\":[]"), "outside"},
    {LAYER("1", "1", "0", "1", "0", "\"weight\":[],\"bias\":[0]"), "outside"},
    {LAYER("1", "1", "1", "0", "0", ONE), "outside"},
    {LAYER("1", "1", "1", "1", "-1", ONE), "outside"},
    {LAYER("1", "1", "1", "1", "4294967296", ONE), "outside"},
    {LAYER("1", "1", "1", "4294967296", "0", ONE), "outside"},
    {LAYER("1", "1", "1.0", "1", "0", ONE), ""},
    {LAYER("1", "1", "1", "1", "0", ONE ",\"shift\":128"), "outside"},
    {LAYER("1", "1", "1", "1", "0", ONE ",\"shift\":-1"), "outside"},
    {LAYER("1", "1", "1", "1", "0", ONE ",\"out_pad\":4294967296"), "outside"},
    {LAYER("1", "1", "1", "1", "0", ONE ",\"relu\":1"), ""},
    {LAYER("1", "1", "1", "1", "0", ONE ",\"k\":1"), "already"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[1,2],\"bias\":[0]"), "2 integers"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[],\"bias\":[0]"), "0 integers"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[1],\"bias\":[]"), "0 integers"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[2147483648],\"bias\":[0]"), "outside"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[1],\"bias\":[-2147483649]"), "outside"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[true],\"bias\":[0]"), ""},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[[[1]]],\"bias\":[0]"), ""},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[[[[1,2]]]],\"bias\":[0]"), "2 integers"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[[],1],\"bias\":[0]"), "as many"},
    {LAYER("4294967295", "4294967295", "4294967295", "1", "0", ONE), "integers"},
    {LAYER("4294967295", "4294967295", "4294967295", "1", "0", "\"weight\":[[1]],\"bias\":[0]"),
     "cannot hold"},
    {LAYER("1", "1", "1", "1", "0", "\"bias\":[0]"), "weight"},
    {LAYER("1", "1", "1", "1", "0", "\"weight\":[1]"), "bias"},
};

static void test_load_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(refusals); i++) {
        qp_error error = {0};
        assert_int_equal(lower_text(refusals[i].text, NULL, &error), QP_PAYLOAD_MALFORMED);
        if (strstr(error.message, refusals[i].says) == NULL ||
            strstr(error.message, "file: ") != error.message)
            fail_msg("%s: %s", refusals[i].text, error.message);
    }
}

static void test_layers_chain(void **state)
{
    (void)state;
    qp_error error;
    assert_int_equal(lower_text("{\"layers\":[{\"in_ch\":1,\"out_ch\":1,\"k\":1,\"stride\":1,"
                                "\"pad\":0," ONE "},\n{\"in_ch\":2,\"out_ch\":1,\"k\":1,"
                                "\"stride\":1,\"pad\":0,\"weight\":[1,2],\"bias\":[0]}]}",
                                NULL, &error),
                     QP_PAYLOAD_MALFORMED);
    assert_non_null(strstr(error.message, "layer 1: line 2, column 1: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_the_byte), cmocka_unit_test(test_nested_weights),
        cmocka_unit_test(test_load_checks), cmocka_unit_test(test_layers_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
