/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_forms.c - world/1, sr2/1 and jpegai-int/1 (integer-operators.md sections 13.5 to 13.7):
 * the operators, channels, policies and widths of the small sets' graphs against the text, and the
 * load checks that are these forms' own.
 */
#include "bytes.h"
#include "conform/sets.h"

static qp_small_set make(const char *name)
{
    qp_small_set set;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        assert_int_equal(qp_small_set_make(i, NULL, &set, NULL), QP_OK);
        if (strcmp(set.name, name) == 0)
            return set;
        qp_small_set_free(&set);
    }
    fail_msg("no set %s", name);
    return set;
}

static qp_status lower(const qp_small_set *set, qp_lowered **made, qp_error *error)
{
    qp_lower_options options = {.capability = set->capability};
    return qp_lower(set->members, set->count, &options, NULL, made, error);
}

/* An operator of a graph and the channels and policy of its first output: "conv 4 check". */
static void assert_operators(const qp_graph *graph, const char *const *expected, size_t count)
{
    assert_int_equal(qp_graph_describe(graph).n_operators, count);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        qp_operator_info op = qp_graph_operator(graph, (uint32_t)i);
        qp_tensor_info out = qp_graph_tensor(graph, op.out[0]);
        snprintf(text, sizeof text, "%s %u %s", op.name, (unsigned)out.channels, out.policy);
        assert_string_equal(text, expected[i]);
    }
}

static void assert_range(qp_tensor_info tensor, int64_t lo, int64_t hi)
{
    assert_true(tensor.lo == lo && tensor.hi == hi);
}

/* ---- world/1 ------------------------------------------------------------------------------ */

static void test_world(void **state)
{
    (void)state;
    static const char *const transition[] = {"fill 1 derived", "fill 1 derived", "fill 1 derived",
                                             "concat 5 check", "relu 5 check",   "conv 3 check",
                                             "leaky 3 check",  "conv 2 derived", "clamp 2 derived"};
    qp_small_set set = make("world");
    qp_lowered *made;
    assert_int_equal(lower(&set, &made, NULL), QP_OK);
    assert_int_equal(qp_lowered_count(made), 2);
    assert_string_equal(qp_lowered_at(made, 0).name, "T");
    assert_string_equal(qp_lowered_at(made, 1).name, "g_s");
    const qp_graph *t = qp_lowered_at(made, 0).graph;
    assert_operators(t, transition, TEST_COUNT(transition));
    assert_int_equal(qp_graph_describe(t).n_scalars, 3);
    assert_range(qp_graph_tensor(t, 0), INT64_MIN, INT64_MAX);
    /* x_0 is read by a ReLU: all of 64 bits, though it is no graph input */
    assert_range(qp_graph_tensor(t, 4), INT64_MIN, INT64_MAX);
    const uint8_t *bytes = (const uint8_t *)qp_lowered_at(made, 0).bytes;
    qp_operator_info clamp = qp_graph_operator(t, 8);
    assert_int_equal(qp_load_i64(bytes + clamp.parameter_offset), -256);
    assert_int_equal(qp_load_i64(bytes + clamp.parameter_offset + 8), 256);
    for (uint32_t a = 0; a < 3; a++) {
        int64_t lo, hi;
        qp_operator_info fill = qp_graph_operator(t, a);
        assert_int_equal(bytes[fill.parameter_offset], 1);
        assert_int_equal(qp_load_i64(bytes + fill.parameter_offset + 8), a);
        qp_graph_scalar(t, a, &lo, &hi);
        assert_true(lo == INT64_MIN && hi == INT64_MAX);
    }
    qp_lowered_free(made);
    qp_small_set_free(&set);
}

/* A one-layer network of c to `out` channels. */
static void put_pointwise(qp_buffer *b, int64_t afrac, int64_t c, int64_t out)
{
    put_head(b, "WHM1");
    PUT(b, 4, afrac, 0, 0, 1);
    PUT(b, 1, 1, 0, 0, 0);
    PUT(b, 4, c, out, 1, 1, 0);
    for (int64_t i = 0; i < c * out; i++)
        PUT(b, 2, 1);
    for (int64_t i = 0; i < 2 * out; i++)
        PUT(b, 8, 1);
}

static void test_world_load_checks(void **state)
{
    (void)state;
    static const struct {
        int64_t t_afrac, t_in, t_out, g_afrac, g_in;
        qp_status status;
    } cases[] = {{4, 3, 2, 4, 2, QP_OK},   /* one plane */
                 {4, 256, 2, 4, 2, QP_OK}, /* 254, the most that a concat reads beside z */
                 {4, 257, 2, 4, 2, QP_MODEL_MISMATCH}, /* one too many */
                 {4, 2, 2, 4, 2, QP_MODEL_MISMATCH},   /* none */
                 {4, 1, 2, 4, 2, QP_MODEL_MISMATCH},
                 {4, 3, 3, 4, 2, QP_MODEL_MISMATCH}, /* the latent's shape is not given back */
                 {4, 3, 2, 5, 2, QP_MODEL_MISMATCH}, /* two values of afrac */
                 {31, 3, 2, 31, 2, QP_MODEL_MISMATCH}};
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_buffer t, g;
        qp_lowered *made;
        qp_lower_options options = {0};
        qp_buffer_init(&t, NULL);
        qp_buffer_init(&g, NULL);
        put_pointwise(&t, cases[i].t_afrac, cases[i].t_in, cases[i].t_out);
        put_pointwise(&g, cases[i].g_afrac, cases[i].g_in, 3);
        qp_member members[] = {{"g_s.whm", g.bytes, g.size}, {"T.whm", t.bytes, t.size}};
        assert_int_equal(qp_lower(members, 2, &options, NULL, &made, NULL), cases[i].status);
        qp_lowered_free(made);
        qp_buffer_free(&g);
        qp_buffer_free(&t);
    }
}

/* ---- sr2/1 -------------------------------------------------------------------------------- */

static void test_sr2(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "rescale 1 derived",       "conv 2 derived", "clamp 2 derived", "conv 4 derived",
        "pixel_shuffle 1 derived", "add 1 derived",  "clamp 1 derived"};
    qp_small_set set = make("sr2");
    qp_lowered *made;
    assert_int_equal(lower(&set, &made, NULL), QP_OK);
    const qp_graph *graph = qp_lowered_at(made, 0).graph;
    assert_operators(graph, expected, TEST_COUNT(expected));
    assert_int_equal(qp_graph_describe(graph).n_inputs, 2);
    assert_range(qp_graph_tensor(graph, 1), 0, 255);
    assert_true(qp_certificate_meets(qp_lowered_certificate(made), QP_ACC32, NULL));
    qp_lowered_free(made);
    qp_small_set_free(&set);
}

static void test_sr2_load_checks(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t value;
    } cases[] = {{8, 2},  {8, 0},  {12, 0},  {12, 1}, {12, 3}, {16, 0}, {16, 3},
                 {20, 2}, {20, 0}, {24, 32}, {25, 1}, {4, 2},  {5, 1}};
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_small_set set = make("sr2");
        qp_lowered *made;
        set.files[0].bytes[cases[i].offset] = cases[i].value;
        assert_int_equal(lower(&set, &made, NULL), QP_MODEL_MISMATCH);
        qp_small_set_free(&set);
    }
}

/* ---- jpegai-int/1 ------------------------------------------------------------------------- */

static const char *const scale_operators[] = {
    "clamp 160 derived", "conv 1 derived",    "relu 1 derived",
    "clamp 1 derived",   "conv 2 derived",    "relu 2 derived",
    "clamp 2 derived",   "conv 2560 derived", "pixel_shuffle 160 derived",
    "abs 160 derived",   "clamp 160 derived", "rescale 160 derived"};

static const char *const rec_uv_operators[] = {
    "rescale 96 derived", "conv 2 check",     "conv_transpose 1 check", "clamp 1 derived",
    "conv 1 check",       "clamp 1 derived",  "conv 384 check",         "split 96 derived",
    "split 96 derived",   "split 96 derived", "split 96 derived",       "subpos_merge 96 derived",
    "add 96 check"};

/* concat, C, concat, T, CAB (17), G (5), C, shuffle, TAB, TAB, G, T, shuffle, D */
#define TAB_OPERATORS                                                                              \
    "layernorm_c 4 check", "conv 12 check", "conv 12 check", "split 4 derived", "split 4 derived", \
        "split 4 derived", "l2norm 4 derived", "l2norm 4 derived", "gram 4 check",                 \
        "rescale 4 check", "softmax 4 derived", "apply 4 check", "conv 4 check", "add 4 check",    \
        "layernorm_c 4 check", "conv 6 check", "conv 6 check", "split 3 derived",                  \
        "split 3 derived", "elu 3 derived", "mul 3 check", "conv 4 check", "add 4 check"
#define R_OPERATORS(c) "conv 1 check", "relu 1 derived", "conv " c " check", "add " c " check"
#define G_OPERATORS                                                                                \
    "clamp 4 derived", "conv 4 check", "conv 4 check", "rescale 4 check", "mul 4 check"
#define CAB_OPERATORS                                                                              \
    R_OPERATORS("4"), R_OPERATORS("4"), "conv 2 check", R_OPERATORS("2"), R_OPERATORS("2"),        \
        "conv_transpose 4 check", "sigmoid 4 derived", "mul 4 check", "add 4 check"

static const char *const syn_uv_operators[] = {"concat 256 derived",
                                               "conv 1 check",
                                               "concat 97 derived",
                                               "conv_transpose 4 check",
                                               CAB_OPERATORS,
                                               G_OPERATORS,
                                               "conv 16 check",
                                               "pixel_shuffle 4 derived",
                                               TAB_OPERATORS,
                                               TAB_OPERATORS,
                                               G_OPERATORS,
                                               "conv_transpose 8 check",
                                               "pixel_shuffle 2 derived",
                                               "rescale 2 clamp"};

static void test_jpegai(void **state)
{
    (void)state;
    static const char *const roles[] = {"hs_y", "hs_uv", "rec_y", "rec_uv", "syn_y", "syn_uv"};
    qp_small_set set = make("jpegai");
    qp_lowered *made;
    assert_int_equal(lower(&set, &made, NULL), QP_OK);
    assert_int_equal(qp_lowered_count(made), TEST_COUNT(roles));
    for (size_t i = 0; i < TEST_COUNT(roles); i++)
        assert_string_equal(qp_lowered_at(made, i).name, roles[i]);
    assert_operators(qp_lowered_at(made, 0).graph, scale_operators, TEST_COUNT(scale_operators));
    assert_operators(qp_lowered_at(made, 3).graph, rec_uv_operators, TEST_COUNT(rec_uv_operators));
    assert_operators(qp_lowered_at(made, 5).graph, syn_uv_operators, TEST_COUNT(syn_uv_operators));

    const qp_graph *rec = qp_lowered_at(made, 2).graph;
    assert_range(qp_graph_tensor(rec, 0), -31, 32);
    assert_range(qp_graph_tensor(rec, 1), INT32_MIN, INT32_MAX);
    assert_true(qp_graph_input(rec, 0).max_h == 4 && qp_graph_input(rec, 1).max_h == 16);
    const qp_graph *syn = qp_lowered_at(made, 4).graph;
    assert_range(qp_graph_tensor(syn, qp_graph_output(syn, 0)), 0, 255 << 16);
    qp_lowered_free(made);
    qp_small_set_free(&set);
}

/* Replaces the first occurrence of a text in a file of the bundle by one of its own length or
 * less, and lowers it. */
typedef struct edit {
    const char *path, *from, *to, *says;
} edit;

static const edit edits[] = {
    {"norm.json", "[200,56]", "[200,57]", "sum"},
    {"norm.json", "[200,56]", "[256]   ", "width"},
    {"norm.json", "[200,56]", "[-1,257]", "outside"},
    {"norm.json", "\"per_channel\":16", "\"per_channel\":17", "outside"},
    {"norm.json", "\"bounds\":[8", "\"bounds\":[-", ""},
    {"norm.json", "\"gain_y\"", "\"gain_x\"", "gain_y"},
    {"norm.json", "128,128,128", "128,127,128", "decreases"},
    {"weights/hs_y.json", "\"dims\":[1,160,1,1]", "\"dims\":[1,161,1,1]", "dims"},
    {"weights/hs_y.json", "onnx::Pow_85", "onnx::Pow_84", "onnx::Pow_85"},
    {"weights/hs_uv.json", "\"dims\":[2,1,3,3]", "\"dims\":[2,1,3,4]", "dims"},
    {"weights/hyp_y.json", "\"shift\":31", "\"shift\":-1", "outside"},
    {"weights/hyp_y.json", "\"kind\":\"conv\"", "\"kind\":\"q16\" ", ""},
    {"weights/synth_y.json", "TAM.TABs.0.ffn.norm1.bias", "TAM.TABs.0.ffn.norm1.none",
     "norm1.bias"},
    {"weights/hyp_y.json", "\"conv1.weight\"", "\"conv2.weight\"", "already"},
    {"weights/hyp_uv.json", "\"mult\":268435456", "\"mult\":26843545.", ""},
    {"weights/hyp_uv.json", "\"mult\":268435456", "\"mult\":2684354.6", ""},
    {"weights/hyp_uv.json", "\"mult\":268435456", "\"mult\":268435e56", ""},
    {"weights/hyp_uv.json", "\"mult\":268435456", "\"mult\":true     ", ""},
    {"weights/mcm2_y.json", "\"dims\":[5,1,3,3]", "\"dims\":[1,5,3,3]", "dims"},
    {"weights/mcm3_y.json", "\"dims\":[160,1,1,1]", "\"dims\":[1,160,1,1]", "dims"},
    {"weights/synth_y.json", "TAM.TABs.1.attn.temperature", "TAM.TABs.1.attn.temporary  ",
     "temperature"},
    {"weights/synth_y.json", "\"dims\":[4,1,3,3]", "\"dims\":[1,4,3,3]", "dims"},
    {"weights/synth_uv.json", "\"dims\":[4,8,3,3]", "\"dims\":[8,4,3,3]", "dims"},
};

static qp_status lower_edited(qp_small_set *set, const edit *e, qp_error *error)
{
    qp_lowered *made;
    for (size_t f = 0; f < set->count; f++) {
        if (strcmp(set->paths[f], e->path) != 0)
            continue;
        qp_buffer *file = &set->files[f];
        size_t n = strlen(e->from);
        assert_int_equal(strlen(e->to), n);
        for (size_t i = 0; i + n <= file->size; i++)
            if (memcmp(file->bytes + i, e->from, n) == 0) {
                memcpy(file->bytes + i, e->to, n);
                qp_status status = lower(set, &made, error);
                qp_lowered_free(made);
                return status;
            }
    }
    fail_msg("%s has no %s", e->path, e->from);
    return QP_OK;
}

static void test_jpegai_load_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(edits); i++) {
        qp_small_set set = make("jpegai");
        qp_error error = {0};
        qp_status status = lower_edited(&set, &edits[i], &error);
        if (status != QP_MODEL_MISMATCH || strstr(error.message, edits[i].says) == NULL ||
            strstr(error.message, edits[i].path) != error.message)
            fail_msg("%s: %s: status %d, %s", edits[i].path, edits[i].to, (int)status,
                     error.message);
        qp_small_set_free(&set);
    }
}

/* What is no member of either kind is ignored, whatever it holds. */
static void test_jpegai_ignored(void **state)
{
    (void)state;
    static const edit kept[] = {{"weights/hyp_y.json", "\"conv1.bias\":{\"kind\":\"q16\"",
                                 "\"conv1.bias\":{\"kind\":\"q17\"", ""},
                                {"weights/hyp_y.json", "\"kind\":\"note\"", "\"kind\":[1.5] ", ""},
                                {"weights/hyp_y.json", "\"conv1.bias\"", "\"conv9.bias\"", ""}};
    qp_error error;
    for (size_t i = 0; i < TEST_COUNT(kept); i++) {
        qp_small_set set = make("jpegai");
        assert_int_equal(lower_edited(&set, &kept[i], &error), QP_OK);
        qp_small_set_free(&set);
    }
}

/* Lowers the bundle with a member added at the end of a file. */
static qp_status lower_with(const char *path, const char *member)
{
    qp_small_set set = make("jpegai");
    qp_lowered *made;
    for (size_t f = 0; f < set.count; f++)
        if (strcmp(set.paths[f], path) == 0) {
            set.files[f].size--;
            qp_buffer_format(&set.files[f], ",%s}", member);
            set.members[f].bytes = set.files[f].bytes;
            set.members[f].size = set.files[f].size;
        }
    qp_status status = lower(&set, &made, NULL);
    qp_lowered_free(made);
    qp_small_set_free(&set);
    return status;
}

/* At any depth of a weight file; in the scale path's files the last of two counts. */
static void test_jpegai_duplicates(void **state)
{
    (void)state;
    static const char weights[] = "weights/mcm1_y.json", scale[] = "weights/hs_y.json";
    assert_int_equal(lower_with(weights, "\"a\":1"), QP_OK);
    assert_int_equal(lower_with(weights, "\"a\":1,\"a\":1"), QP_MODEL_MISMATCH);
    assert_int_equal(lower_with(weights, "\"a\":[{\"b\":{\"c\":1,\"c\":1}}]"), QP_MODEL_MISMATCH);
    assert_int_equal(lower_with(weights, "\"a\":{\"b\":1,\"\\u0062\":1}"), QP_MODEL_MISMATCH);
    assert_int_equal(lower_with(scale, "\"conv1.bias\":{\"dims\":[1],\"v\":[5]}"), QP_OK);
    assert_int_equal(lower_with(scale, "\"conv1.bias\":{\"dims\":[1],\"v\":[]}"),
                     QP_MODEL_MISMATCH);
    assert_int_equal(lower_with("norm.json", "\"a\":1,\"a\":{\"b\":1,\"b\":1}"), QP_OK);
}

/* A member that no graph reads must be whole all the same. */
static void test_jpegai_unread_members(void **state)
{
    (void)state;
    static const char path[] = "weights/mcm1_y.json";
    static const char *const refused[] = {
        "\"x\":{\"kind\":\"q16\"}",
        "\"x\":{\"kind\":\"q16\",\"v\":[1.0]}",
        "\"x\":{\"kind\":\"q16\",\"v\":[9223372036854775808]}",
        "\"x\":{\"kind\":\"conv\",\"dims\":[2],\"w\":[1],\"mult\":1,\"shift\":1}",
        "\"x\":{\"kind\":\"conv\",\"dims\":[-1,-1],\"w\":[1],\"mult\":1,\"shift\":1}",
        "\"x\":{\"kind\":\"conv\",\"dims\":[1],\"w\":[1],\"mult\":1}",
        "\"x\":{\"kind\":\"conv\",\"dims\":[1],\"w\":[1],\"mult\":1,\"shift\":128}",
        ("\"x\":{\"kind\":\"conv\",\"dims\":[4294967296,4294967296],\"w\":[],\"mult\":1,"
         "\"shift\":1}")};
    static const char *const accepted[] = {
        "\"x\":{\"kind\":\"q16\",\"v\":[],\"dims\":\"none\"}",
        "\"x\":{\"kind\":\"conv\",\"dims\":[],\"w\":[1],\"mult\":1,\"shift\":127}",
        ("\"x\":{\"kind\":\"conv\",\"dims\":[0,4294967296,4294967296,4294967296],\"w\":[],"
         "\"mult\":-1,\"shift\":0}")};
    for (size_t i = 0; i < TEST_COUNT(refused); i++)
        assert_int_equal(lower_with(path, refused[i]), QP_MODEL_MISMATCH);
    for (size_t i = 0; i < TEST_COUNT(accepted); i++)
        assert_int_equal(lower_with(path, accepted[i]), QP_OK);
}

/* Widths for JSON sources are the smallest that hold an operator's values (section 13.0). */
static void test_jpegai_widths(void **state)
{
    (void)state;
    static const struct {
        const char *weight;
        unsigned width;
    } cases[] = {{"-128", 1},  {"127", 1},         {"128", 2},       {"-129", 2},
                 {"32768", 4}, {"-2147483648", 4}, {"2147483648", 8}};
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        char member[256];
        qp_small_set set = make("jpegai");
        qp_lowered *made;
        snprintf(member, sizeof member,
                 ",\"depthwise.weight\":{\"dims\":[2,1,3,3],\"v\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                 "0,%s]}}",
                 cases[i].weight);
        set.files[1].size--; /* hs_y.json */
        qp_buffer_text(&set.files[1], member);
        set.members[1].bytes = set.files[1].bytes;
        set.members[1].size = set.files[1].size;
        qp_lower_options options = {.capability = set.capability, .any_verdict = 1};
        assert_int_equal(qp_lower(set.members, set.count, &options, NULL, &made, NULL), QP_OK);
        qp_lowered_role role = qp_lowered_at(made, 0);
        qp_operator_info conv = qp_graph_operator(role.graph, 4);
        const uint8_t *params = (const uint8_t *)role.bytes + conv.parameter_offset;
        assert_int_equal(params[32], cases[i].width); /* after eight u32 */
        assert_int_equal(params[36 + 5], 4);          /* b_bytes */
        /* 36, RQ: 8 + 2 shifts + 2 biases of 4 bytes, 18 weights */
        assert_int_equal(conv.parameter_bytes, 36 + 8 + 2 + 8 + 18 * cases[i].width);
        qp_lowered_free(made);
        qp_small_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_world),
                                       cmocka_unit_test(test_world_load_checks),
                                       cmocka_unit_test(test_sr2),
                                       cmocka_unit_test(test_sr2_load_checks),
                                       cmocka_unit_test(test_jpegai),
                                       cmocka_unit_test(test_jpegai_load_checks),
                                       cmocka_unit_test(test_jpegai_ignored),
                                       cmocka_unit_test(test_jpegai_duplicates),
                                       cmocka_unit_test(test_jpegai_unread_members),
                                       cmocka_unit_test(test_jpegai_widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
