/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_network.c - WHM1, WAM1 and their bundles (integer-operators.md sections 13.2 to 13.4a)
 * against graphs spelled out from the text, and each load check refused with its place.
 */
#include "bytes.h"

#define SPLAT "wai.splat.int_codec"
#define AUDIO "wai.audio.int_codec"

/* ---- WHM1 --------------------------------------------------------------------------------- */

/* afrac 4, gf 3, shift 2, and one layer of each tag: 0, 2, 3, 4, 1. */
static void put_five_layers(qp_buffer *b)
{
    put_head(b, "WHM1");
    PUT(b, 4, 4, 3, 2, 5);
    PUT(b, 1, 0, 0, 0, 0);       /* transposed, */
    PUT(b, 4, 1, 2, 1, 2, 0, 1); /* 1 to 2 channels, k 1, stride 2, pad 0, opad 1 */
    PUT(b, 2, 3, -5);
    PUT(b, 8, 7, -8);
    PUT(b, 8, 100, -200);
    PUT(b, 1, 2, 0, 0, 0); /* inverse GDN, 2 channels */
    PUT(b, 4, 2);
    PUT(b, 4, 1, 0, 0, 1);
    PUT(b, 8, 256, 256);
    PUT(b, 1, 3, 0, 0, 0); /* ReLU */
    PUT(b, 1, 4, 0, 0, 0); /* leaky, 3/8 */
    PUT(b, 8, 3);
    PUT(b, 4, 3);
    PUT(b, 1, 1, 0, 0, 0);    /* convolution, */
    PUT(b, 4, 2, 1, 1, 1, 0); /* 2 to 1 channels */
    PUT(b, 2, 1, 2);
    PUT(b, 8, 1);
    PUT(b, 8, 0);
}

/* The largest X of the leaky layer: 3·X <= 2^63 - 1. */
#define LEAKY_LIMIT (INT64_MAX / 3)
/* Of the convolution: c·k·k·Wm·X = 4·X <= 2^63 - 1, and floor(4·X / 2^2) + 1 <= 2^63 - 1 holds. */
#define CONV_LIMIT (INT64_MAX / 4)
/* Of the transposed one: 5·X <= 2^63 - 1 and floor(5·X·8 / 2^2) + 1 + 200 <= 2^63 - 1, which is
 * 10·X <= 2^63 - 202. */
#define TRANSPOSED_LIMIT ((INT64_MAX - 201) / 10)

/*
 * Of the inverse GDN, G = 1, Bb = 256, c = 2, gf = 3, afrac = 4. X² <= I128 holds up to 2^63. With
 * N = 256 + 2·(floor(X²/8) + 1), isqrt(N) is about X/2, so the last condition decides:
 * floor(X·isqrt(N) / 16) + 1 <= 2^63 - 1. It is found by a search bit by bit; X·isqrt(N) < 2^126.
 */
__extension__ typedef unsigned __int128 u128;

static uint64_t root(u128 n)
{
    uint64_t r = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = r | (uint64_t)1 << bit;
        if ((u128)next * next <= n)
            r = next;
    }
    return r;
}

static bool igdn_holds(uint64_t x)
{
    u128 n = 256 + 2 * ((u128)x * x / 8 + 1);
    return ((u128)x * root(n) >> 4) + 1 <= INT64_MAX;
}

static int64_t igdn_limit(void)
{
    uint64_t x = 0;
    for (int bit = 62; bit >= 0; bit--)
        if (igdn_holds(x | (uint64_t)1 << bit))
            x |= (uint64_t)1 << bit;
    assert_true(igdn_holds(x) && !igdn_holds(x + 1));
    return (int64_t)x;
}

static void put_five_layers_graph(qp_buffer *b)
{
    int64_t x1 = igdn_limit();
    put_graph_header(b, (graph_counts){8, 7, 1, 1, 0});
    put_input(b, 0, 0, 0);
    PUT(b, 4, 7);
    put_tensor(b, 1, 2, -TRANSPOSED_LIMIT, TRANSPOSED_LIMIT);
    put_tensor(b, 2, 2, -x1, x1);
    put_tensor(b, 2, 0, 0, 0); /* read by the ReLU */
    put_tensor(b, 2, 2, -LEAKY_LIMIT, LEAKY_LIMIT);
    put_tensor(b, 2, 2, -CONV_LIMIT, CONV_LIMIT);
    put_tensor(b, 1, 0, 0, 0);
    put_tensor(b, 1, 0, 0, 0);
    put_tensor(b, 1, 0, 0, 0);

    put_operator(b, 0x11, 0, 1, 36 + 4 + 8 + 16 + 1 + 16 + 4);
    PUT(b, 4, 2, 1, 1, 2, 2, 0, 0, 1, 1);
    PUT(b, 1, 2, 0, 0, 0);             /* w_bytes */
    PUT(b, 1, 0, 2, 2, 1, 8, 8, 0, 0); /* floor, post, per channel, one shift */
    PUT(b, 8, 7, -8);
    PUT(b, 1, 2);
    PUT(b, 8, 100, -200);
    PUT(b, 2, 3, -5);

    put_operator(b, 0x12, 1, 2, 8 + 8 + 16 + 16);
    PUT(b, 4, 3, 4);
    PUT(b, 1, 4, 0, 0, 0, 0, 0, 0, 0);
    PUT(b, 4, 1, 0, 0, 1);
    PUT(b, 8, 256, 256);

    put_operator(b, 0x0C, 2, 3, 0);

    put_operator(b, 0x0D, 3, 4, 12);
    PUT(b, 8, 3);
    PUT(b, 4, 3);

    put_operator(b, 0x01, 4, 5, 32 + 4 + 8 + 8 + 1 + 8 + 4);
    PUT(b, 4, 1, 1, 1, 1, 1, 0, 0, 1);
    PUT(b, 1, 2, 0, 0, 0);
    PUT(b, 1, 0, 2, 2, 1, 8, 8, 0, 0);
    PUT(b, 8, 1);
    PUT(b, 1, 2);
    PUT(b, 8, 0);
    PUT(b, 2, 1, 2);

    put_operator(b, 0x0B, 5, 6, 16); /* the RGB8 step */
    PUT(b, 8, 0, 16);
    put_operator(b, 0x02, 6, 7, 8 + 4 + 1);
    PUT(b, 1, 1, 0, 1, 1, 4, 0, 0, 0);
    PUT(b, 4, 255);
    PUT(b, 1, 4);
}

static void test_whm1_to_the_byte(void **state)
{
    (void)state;
    qp_buffer file, graph;
    qp_lowered *set;
    qp_buffer_init(&file, NULL);
    qp_buffer_init(&graph, NULL);
    put_five_layers(&file);
    put_five_layers_graph(&graph);
    assert_int_equal(lower_file(SPLAT, &file, &set, NULL), QP_OK);
    assert_int_equal(qp_lowered_count(set), 1);
    assert_graph(set, 0, "g_s", &graph);
    assert_string_equal(qp_lowered_lowering(set), "whm1/1");
    qp_lowered_free(set);
    qp_buffer_free(&graph);
    qp_buffer_free(&file);
}

/* The input check refuses exactly the inputs past X: both ends decode, one past each does not. */
static qp_status decode_one(const qp_lowered *set, int64_t value)
{
    qp_session_options options = {.profile = QP_ACC64};
    qp_session *session;
    qp_array input = {&value, QP_INT64, 1, 1, 1};
    assert_int_equal(qp_session_create(qp_lowered_certificate(set), &options, NULL, &session, NULL),
                     QP_OK);
    qp_status status = qp_session_decode(session, &input, 1, NULL, 0, NULL);
    qp_session_free(session);
    return status;
}

/* One convolution of one weight whose predicate is the file's alone. */
static void put_one_layer(qp_buffer *b, int64_t weight, int64_t mult, int64_t bias)
{
    put_head(b, "WHM1");
    PUT(b, 4, 4, 0, 0, 1);
    PUT(b, 1, 1, 0, 0, 0);
    PUT(b, 4, 1, 1, 1, 1, 0);
    PUT(b, 2, weight);
    PUT(b, 8, mult);
    PUT(b, 8, bias);
}

static void test_input_at_its_limit(void **state)
{
    (void)state;
    qp_buffer file;
    qp_lowered *set;
    qp_buffer_init(&file, NULL);
    put_one_layer(&file, -3, 5, -1000);
    assert_int_equal(lower_file(SPLAT, &file, &set, NULL), QP_OK);
    int64_t limit = (INT64_MAX - 1001) / 15;
    assert_int_equal(decode_one(set, limit), QP_OK);
    assert_int_equal(decode_one(set, -limit), QP_OK);
    assert_int_equal(decode_one(set, limit + 1), QP_FIELD_RANGE);
    assert_int_equal(decode_one(set, -limit - 1), QP_FIELD_RANGE);
    qp_lowered_free(set);
    qp_buffer_free(&file);
}

/* X = 2^63 where no weight limits it: the range is all of 64 bits. */
static void test_input_without_limit(void **state)
{
    (void)state;
    qp_buffer file;
    qp_lowered *set;
    qp_buffer_init(&file, NULL);
    put_one_layer(&file, 0, 1, 0);
    assert_int_equal(lower_file(SPLAT, &file, &set, NULL), QP_OK);
    qp_tensor_info tensor = qp_graph_tensor(qp_lowered_at(set, 0).graph, 0);
    assert_true(tensor.lo == INT64_MIN && tensor.hi == INT64_MAX);
    assert_int_equal(decode_one(set, INT64_MIN), QP_OK);
    qp_lowered_free(set);
    qp_buffer_free(&file);
}

/* The predicate fails at 0 where the bias alone passes: 1 + Bm <= 2^63 - 1. */
static void test_no_limit(void **state)
{
    (void)state;
    static const struct {
        int64_t bias;
        qp_status status;
    } cases[] = {{INT64_MAX - 1, QP_OK},
                 {-(INT64_MAX - 1), QP_OK},
                 {INT64_MAX, QP_MODEL_MISMATCH},
                 {INT64_MIN, QP_MODEL_MISMATCH}};
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_buffer file;
        qp_buffer_init(&file, NULL);
        put_one_layer(&file, 0, 0, cases[i].bias);
        assert_int_equal(lower_file(SPLAT, &file, NULL, NULL), cases[i].status);
        qp_buffer_free(&file);
    }
}

/* A ReLU that reads the network's input: all of 64 bits, since a graph input is never derived. */
static void test_relu_first(void **state)
{
    (void)state;
    qp_buffer file;
    qp_lowered *set;
    qp_buffer_init(&file, NULL);
    put_head(&file, "WHM1");
    PUT(&file, 4, 4, 0, 0, 2);
    PUT(&file, 1, 3, 0, 0, 0);
    PUT(&file, 1, 1, 0, 0, 0);
    PUT(&file, 4, 3, 1, 1, 1, 0);
    PUT(&file, 2, 1, 1, 1);
    PUT(&file, 8, 1);
    PUT(&file, 8, 0);
    assert_int_equal(lower_file(SPLAT, &file, &set, NULL), QP_OK);
    qp_tensor_info tensor = qp_graph_tensor(qp_lowered_at(set, 0).graph, 0);
    assert_int_equal(tensor.channels, 3);
    assert_true(tensor.lo == INT64_MIN && tensor.hi == INT64_MAX);
    qp_lowered_free(set);
    qp_buffer_free(&file);
}

/* ---- WAM1 --------------------------------------------------------------------------------- */

static void put_audio(qp_buffer *b)
{
    put_head(b, "WAM1");
    PUT(b, 4, 5, 0, 1, 1);
    PUT(b, 1, 0, 0, 0, 0);
    PUT(b, 4, 2, 1, 3, 2, 1, 1); /* 2 to 1 channels, k 3, stride 2, pad 1, opad 1 */
    PUT(b, 2, 1, 2, 3, -4, 5, 6);
    PUT(b, 8, 9);
    PUT(b, 8, 10);
}

static void put_audio_graph(qp_buffer *b)
{
    /* c·k·Wm·Mm = 2·3·6·9 = 324: floor(324·X / 2) + 1 + 10 <= 2^63 - 1 */
    int64_t limit = (INT64_MAX - 11) / 162;
    put_graph_header(b, (graph_counts){5, 4, 1, 1, 1});
    PUT(b, 8, 1, 1 << 26); /* t_out */
    put_input(b, 0, 0, 0);
    PUT(b, 4, 4);
    put_tensor(b, 2, 2, -limit, limit);
    put_tensor(b, 1, 0, 0, 0);
    put_tensor(b, 1, 2, -(INT64_MAX / 32767), (INT64_MAX - 16) / 32767);
    put_tensor(b, 1, 0, 0, 0);
    put_tensor(b, 1, 0, 0, 0);

    put_operator(b, 0x11, 0, 1, 36 + 4 + 8 + 8 + 1 + 8 + 12);
    PUT(b, 4, 1, 1, 3, 1, 2, 0, 1, 0, 1);
    PUT(b, 1, 2, 0, 0, 0);
    PUT(b, 1, 0, 2, 2, 1, 8, 8, 0, 0);
    PUT(b, 8, 9);
    PUT(b, 1, 1);
    PUT(b, 8, 10);
    PUT(b, 2, 1, 2, 3, -4, 5, 6);

    put_operator(b, 0x14, 1, 2, 32);
    PUT(b, 4, 0, 0, 0, 0, 0, 1, 1, 0); /* 0, 0, 1, scalar 0 */
    put_operator(b, 0x02, 2, 3, 8 + 4 + 1);
    PUT(b, 1, 1, 0, 1, 1, 4, 0, 0, 0);
    PUT(b, 4, 32767);
    PUT(b, 1, 5);
    put_operator(b, 0x0B, 3, 4, 16);
    PUT(b, 8, -32768, 32767);
}

/* ceil(-2^63 / 32767) = -floor(2^63 / 32767), and 2^63 - 1 divides to the same. */
static void test_wam1_to_the_byte(void **state)
{
    (void)state;
    qp_buffer file, graph;
    qp_lowered *set;
    qp_buffer_init(&file, NULL);
    qp_buffer_init(&graph, NULL);
    put_audio(&file);
    put_audio_graph(&graph);
    assert_int_equal(lower_file(AUDIO, &file, &set, NULL), QP_OK);
    assert_graph(set, 0, "g_s", &graph);
    qp_lowered_free(set);
    qp_buffer_free(&graph);
    qp_buffer_free(&file);
}

static void test_wam1_has_two_tags(void **state)
{
    (void)state;
    for (int64_t tag = 1; tag < 6; tag++) {
        qp_buffer file;
        qp_error error;
        if (tag == 2)
            continue;
        qp_buffer_init(&file, NULL);
        put_audio(&file);
        file.bytes[20] = 2; /* another layer follows */
        PUT(&file, 1, tag, 0, 0, 0);
        put_integers(&file, 8, (const int64_t[8]){0}, 8);
        assert_int_equal(lower_file(AUDIO, &file, NULL, &error), QP_MODEL_MISMATCH);
        assert_non_null(strstr(error.message, "layer 1"));
        qp_buffer_free(&file);
    }
}

/* ---- load checks -------------------------------------------------------------------------- */

/* A field of put_five_layers' bytes that is changed, and what the refusal says. */
typedef struct change {
    size_t offset;
    unsigned width;
    int64_t value;
    int64_t at; /* the offset of the refusal; -1 for any */
    const char *says;
} change;

/* The layers begin at 24, 88, 128, 132 and 148. */
static const change changes[] = {
    {0, 1, 'X', 0, "WHM1"},
    {4, 1, 2, 4, "version"},
    {6, 1, 1, 6, "reserved"},
    {8, 4, 0, 8, "afrac"},
    {8, 4, 31, 8, "afrac"},
    {12, 4, 128, 12, "gf or shift"},
    {16, 4, 128, 12, "gf or shift"},
    {20, 4, 0, 20, "no layers"},
    {20, 4, 6, -1, "the file ends"},
    {20, 4, 4, -1, "bytes follow"},
    {20, 4, 0x7FFFFFFF, 20, "do not fit"},
    {24, 1, 5, 24, "tag 5"},
    {25, 1, 1, 25, "reserved"},
    {28, 4, 0, -1, "no channels"},
    {32, 4, 0, -1, "no channels"},
    {36, 4, 0, -1, "stride is 0"},
    {36, 4, 0x7FFFFFFF, -1, "the weights"},
    {28, 4, 0xFFFFFFFF, -1, "the weights"},
    {40, 4, 0, 24, "stride is 0"},
    {92, 4, 3, -1, ""},
    {144, 4, 64, 132, "slope_frac"},
    {152, 4, 3, -1, ""},
    {156, 4, 0, -1, ""},
};

static void test_load_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(changes); i++) {
        const change *c = &changes[i];
        qp_buffer file;
        qp_error error = {0};
        qp_buffer_init(&file, NULL);
        put_five_layers(&file);
        for (unsigned k = 0; k < c->width; k++)
            file.bytes[c->offset + k] = (uint8_t)((uint64_t)c->value >> (8 * k) & 0xFF);
        assert_int_equal(lower_file(SPLAT, &file, NULL, &error), QP_MODEL_MISMATCH);
        if (strstr(error.message, c->says) == NULL || (c->at >= 0 && error.offset != c->at))
            fail_msg("change %zu: %s (byte %ld)", i, error.message, (long)error.offset);
        qp_buffer_free(&file);
    }
}

/* A kernel of 0 with weights to match is well framed, and refused. */
static void test_no_layer_with_channels(void **state)
{
    (void)state;
    qp_buffer file;
    qp_error error;
    qp_buffer_init(&file, NULL);
    put_head(&file, "WHM1");
    PUT(&file, 4, 4, 0, 0, 1);
    PUT(&file, 1, 3, 0, 0, 0);
    assert_int_equal(lower_file(SPLAT, &file, NULL, &error), QP_MODEL_MISMATCH);
    assert_non_null(strstr(error.message, "channels"));
    qp_buffer_free(&file);
}

/* ---- bundles ------------------------------------------------------------------------------ */

static void put_network(qp_buffer *b, int64_t afrac)
{
    PUT(b, 4, 24 + 4 + 20 + 2 + 16);
    put_head(b, "WHM1");
    PUT(b, 4, afrac, 0, 0, 1);
    PUT(b, 1, 1, 0, 0, 0);
    PUT(b, 4, 1, 1, 1, 1, 0);
    PUT(b, 2, 1);
    PUT(b, 8, 1, 0);
}

typedef struct bundle {
    const char *magic, *capability;
    int64_t n, afrac[4], tables_afrac;
    qp_status status;
} bundle;

static void test_bundles(void **state)
{
    (void)state;
    static const bundle bundles[] = {
        {"WMB1", "wai.neural.int_mlicpp", 3, {4, 4, 4}, 4, QP_OK},
        {"WMB1", "wai.neural.int_mlicpp", 3, {4, 4, 5}, 4, QP_MODEL_MISMATCH},
        {"WMB1", "wai.neural.int_mlicpp", 3, {4, 4, 4}, 5, QP_MODEL_MISMATCH},
        {"WMB1", "wai.neural.int_mlicpp", 4, {4, 4, 4, 4}, 4, QP_MODEL_MISMATCH},
        {"WCB1", "wai.video.int_cond", 4, {4, 4, 4, 4}, 4, QP_OK},
        {"WCB1", "wai.video.int_cond.frame", 4, {4, 4, 4, 4}, 4, QP_OK},
        {"WCB1", "wai.video.int_cond", 4, {4, 5, 4, 4}, 4, QP_MODEL_MISMATCH},
        {"WCB1", "wai.video.int_cond", 3, {4, 4, 4}, 4, QP_MODEL_MISMATCH},
        {"WMB1", "wai.video.int_cond", 3, {4, 4, 4}, 4, QP_MODEL_MISMATCH}};
    for (size_t i = 0; i < TEST_COUNT(bundles); i++) {
        const bundle *x = &bundles[i];
        char tables[64];
        qp_buffer file;
        qp_buffer_init(&file, NULL);
        put_head(&file, x->magic);
        PUT(&file, 4, x->n);
        for (int64_t k = 0; k < x->n; k++)
            put_network(&file, x->afrac[k]);
        int n = snprintf(tables, sizeof tables, "{\"afrac\":%d,\"edges\":[],\"y\":[],\"z\":[]}",
                         (int)x->tables_afrac);
        PUT(&file, 4, n);
        qp_buffer_text(&file, tables);
        assert_int_equal(lower_file(x->capability, &file, NULL, NULL), x->status);
        qp_buffer_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whm1_to_the_byte),
                                       cmocka_unit_test(test_input_at_its_limit),
                                       cmocka_unit_test(test_input_without_limit),
                                       cmocka_unit_test(test_no_limit),
                                       cmocka_unit_test(test_relu_first),
                                       cmocka_unit_test(test_wam1_to_the_byte),
                                       cmocka_unit_test(test_wam1_has_two_tags),
                                       cmocka_unit_test(test_load_checks),
                                       cmocka_unit_test(test_no_layer_with_channels),
                                       cmocka_unit_test(test_bundles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
