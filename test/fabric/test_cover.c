/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cover.c - the refinement cover (section 7.3): the worked cases, what a relaxed actor reuses,
 * and that the cover does not depend on the order of its points.
 */
#include "capability_support.h"

#define PROFILE(nans, required)                                                                    \
    "behavior = { rounding_modes = [to_nearest_even], nan_behaviors = [" nans                      \
    "], subnormal_behaviors = [preserve], signed_zero_behaviors = [preserve], "                    \
    "required_fast_math = [" required "] }"

/* The text of the key that an actor projects to, against `expected`; "None" where there is none. */
static void assert_projects(const op_text *op, const char *graph, uint32_t actor,
                            const char *expected)
{
    op_case c = seal_op(op, graph);

    assert_sealed(&c);
    const qp_fabric_semantic_value value = project_actor(&c, actor);
    const char *found = "None";
    for (size_t i = 0; i < c.capability.relation.key_count; i++)
        if (c.capability.relation.keys[i].bytes == value.bytes)
            found = c.capability.relation.keys[i].text;
    assert_string_equal(found, expected);
    free_op(&c);
}

/* A comparison by a predicate and a mask, of a format. */
static void assert_compares(const op_text *op, const char *format, const char *attributes,
                            const char *expected)
{
    char graph[512];

    snprintf(graph, sizeof graph,
             "graph g { input %%a : %s input %%b : %s %%r = arith.cmpf %%a, %%b { %s } : (%s,%s) "
             "-> (i1) output %%r }",
             format, format, attributes, format, format);
    assert_projects(op, graph, 0, expected);
}

/* One of minimumf, maximumf, minnumf, maxnumf. */
static void assert_takes(const op_text *op, const char *schema, const char *format,
                         const char *attributes, const char *expected)
{
    char graph[512];

    snprintf(graph, sizeof graph,
             "graph g { input %%a : %s input %%b : %s %%r = arith.%s %%a, %%b { %s } : (%s,%s) -> "
             "(%s) output %%r }",
             format, format, schema, attributes, format, format, format);
    assert_projects(op, graph, 0, expected);
}

/* ---- the worked cases --------------------------------------------------------------------- */

static void case_a(void)
{
    const op_text op = {"ScalarFloatCompareMinMax", "arith.cmpf", "32,32", "1",
                        "formats = [f32], predicates = [oeq,ueq], " PROFILE("ieee", "")};

    assert_relation(&op, "oeq|ueq");
    assert_compares(&op, "f32", "predicate = oeq", "oeq");
    assert_compares(&op, "f32", "predicate = oeq, fastmath = [nnan]", "oeq");
    assert_compares(&op, "f32", "predicate = ueq, fastmath = [nnan]", "ueq");
}

static void case_b(void)
{
    const op_text op = {
        "ScalarFloatCompareMinMax", "arith.cmpf,arith.minnumf", "16,16", "16",
        "formats = [f16,bf16], predicates = [olt,ult,ord], " PROFILE("ieee", "nnan")};

    assert_relation(&op, "Compare olt|Compare true|Minimum");
    assert_compares(&op, "f16", "predicate = ult, fastmath = [nnan]", "Compare olt");
    assert_compares(&op, "bf16", "predicate = olt, fastmath = [nnan,nsz]", "Compare olt");
    assert_compares(&op, "bf16", "predicate = ord, fastmath = [nnan]", "Compare true");
    assert_takes(&op, "minnumf", "f16", "fastmath = [nnan]", "Minimum");
}

static void case_c(void)
{
    static const char graph[] = "graph g { input %a : i32 %s = arith.sitofp %a : (i32) -> (f32)\n"
                                "%u = arith.uitofp %a : (i32) -> (f32)\n"
                                "%n = arith.uitofp %a { nneg } : (i32) -> (f32)\n"
                                "output %s output %u output %n }";
    op_text op = {"ScalarIntegerToFloat", "arith.sitofp,arith.uitofp", "32", "32",
                  "format_pairs = [(32,f32)]"};

    assert_relation(&op, "Signed|Unsigned");
    assert_projects(&op, graph, 0, "Signed");
    assert_projects(&op, graph, 1, "Unsigned");
    assert_projects(&op, graph, 2, "Unsigned");
    op.schemas = "arith.uitofp";
    assert_relation(&op, "None");
    assert_projects(&op, graph, 2, "None");
}

static void case_d(void)
{
    static const char graph[] =
        "graph g { input %a : f32 %s = arith.fptosi %a : (f32) -> (i32)\n"
        "%t = llvm.fptosi.sat %a : (f32) -> (i32) %u = arith.fptoui %a : (f32) -> (i32)\n"
        "%v = llvm.fptoui.sat %a : (f32) -> (i32) output %s output %t output %u output %v }";
    op_text op = {"ScalarFloatToInteger",
                  "arith.fptosi,arith.fptoui,llvm.fptosi.sat,llvm.fptoui.sat", "32", "32",
                  "format_pairs = [(32,f32)]"};

    assert_relation(&op, "Signed|Unsigned");
    for (uint32_t actor = 0; actor < 4; actor++)
        assert_projects(&op, graph, actor, actor < 2 ? "Signed" : "Unsigned");
    op.schemas = "arith.fptosi,llvm.fptosi.sat";
    assert_relation(&op, "None");
}

static void case_e(void)
{
    op_text op = {"ScalarFloatAddSub", "arith.addf,arith.subf", "64,64", "64",
                  "formats = [f16,bf16,f32,f64], behavior = { rounding_modes = "
                  "[to_nearest_even,downward,upward,toward_zero,to_nearest_away], "
                  "nan_behaviors = [ieee], subnormal_behaviors = [preserve], "
                  "signed_zero_behaviors = [preserve], required_fast_math = [] }"};
    op_case c = seal_op(&op, NULL);

    assert_sealed(&c);
    assert_int_equal(c.capability.relation.key_count, 40);
    free_op(&c);
    op.schemas = "arith.addf";
    op.params = "formats = [f32], " PROFILE("ieee", "");
    assert_relation(&op, "None");
}

static void case_f(void)
{
    static const char graph[] =
        "graph g { input %a : f16\n"
        "%r = math.exp %a { fastmath = [afn], accuracy = Max1Ulp } : (f16) -> (f16)\n"
        "%s = math.exp %a { fastmath = [afn], accuracy = Max4Ulp } : (f16) -> (f16)\n"
        "output %r output %s }";
    op_text op = {
        "ScalarMathExp", "math.exp", "32", "32",
        "formats = [f16,f32], accuracy_guarantee = CorrectlyRounded, " PROFILE("ieee", "")};

    assert_relation(&op, "f16|f32");
    assert_projects(&op, graph, 0, "f16");
    assert_projects(&op, graph, 1, "f16");
    op.in = op.out = "16";
    assert_relation(&op, "None");
}

static void anchor_20_refinement_cover(void **state)
{
    (void)state;
    case_a();
    case_b();
    case_c();
    case_d();
    case_e();
    case_f();
}

/* ---- what is reused ----------------------------------------------------------------------- */

/* Each NaN behaviour that the record lacks leaves its schemas to nnan actors, which reuse the
 * strict representative of the other. */
static void test_reuse_of_the_other_behavior(void **state)
{
    op_text op = {"ScalarFloatCompareMinMax", "arith.minimumf,arith.minnumf", "32,32", "32",
                  "formats = [f16,f32], predicates = [olt], " PROFILE("ieee", "")};
    (void)state;

    assert_relation(&op, "f16|f32"); /* all Minimum */
    assert_takes(&op, "minnumf", "f32", "fastmath = [nnan]", "f32");
    assert_takes(&op, "minimumf", "f16", "", "f16");
    op.params = "formats = [f16,f32], predicates = [olt], " PROFILE("number_preferred", "");
    assert_relation(&op, "f16|f32"); /* all MinNumber */
    assert_takes(&op, "minimumf", "f16", "fastmath = [nnan]", "f16");
    op.params = "formats = [f32], predicates = [olt], " PROFILE("ieee,number_preferred", "");
    assert_relation(&op, "Minimum|MinNumber");
    assert_takes(&op, "minimumf", "f32", "fastmath = [nnan]", "Minimum");
    assert_takes(&op, "minnumf", "f32", "fastmath = [nnan]", "MinNumber");
}

/* ord without NaN is true; a strict ord serves it too, and is preferred by its own actor. */
static void test_ordered_predicates(void **state)
{
    op_text op = {"ScalarFloatCompareMinMax", "arith.cmpf", "32,32", "1",
                  "formats = [f32], predicates = [ord,true,uno,false], " PROFILE("ieee", "")};
    (void)state;

    assert_relation(&op, "false|ord|uno|true");
    assert_compares(&op, "f32", "predicate = ord, fastmath = [nnan]", "ord");
    assert_compares(&op, "f32", "predicate = true, fastmath = [nnan]", "true");
    assert_compares(&op, "f32", "predicate = uno, fastmath = [nnan]", "uno");
    op.params = "formats = [f32], predicates = [ord,true,uno,false], " PROFILE("ieee", "nnan");
    assert_relation(&op, "false|true");
    assert_compares(&op, "f32", "predicate = ord, fastmath = [nnan]", "true");
    assert_compares(&op, "f32", "predicate = uno, fastmath = [nnan]", "false");
}

/* Every unordered predicate has its ordered form without NaN. */
static void test_unordered_predicates(void **state)
{
    static const char *const pairs[][2] = {{"ueq", "oeq"}, {"ugt", "ogt"}, {"uge", "oge"},
                                           {"ult", "olt"}, {"ule", "ole"}, {"une", "one"}};
    (void)state;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char params[512], attributes[64];
        snprintf(params, sizeof params, "formats = [f32], predicates = [%s,true], %s", pairs[i][0],
                 PROFILE("ieee", "nnan"));
        snprintf(attributes, sizeof attributes, "predicate = %s, fastmath = [nnan]", pairs[i][0]);
        const op_text op = {"ScalarFloatCompareMinMax", "arith.cmpf", "32,32", "1", params};
        assert_compares(&op, "f32", attributes, pairs[i][1]);
    }
}

/* ---- points made by hand ------------------------------------------------------------------ */

enum { F16 = 0, BF16 = 1, F32 = 2 };

static qp_fabric_cover_point made(const char *role, uint32_t predicate, int format, bool relaxed)
{
    static const uint8_t bytes[] = {0};
    return (qp_fabric_cover_point){.point = {.role = role,
                                             .predicate = predicate,
                                             .format = format,
                                             .source_format = -1,
                                             .destination_format = -1},
                                   .relaxed = relaxed,
                                   .bytes = bytes,
                                   .size = 1};
}

static size_t cover_size(qp_fabric_cover_point *points, size_t count, bool scalar)
{
    qp_fabric_points cover = {.allocator = qp_allocator_or_default(NULL)};

    qp_fabric_cover(points, count, scalar, &cover);
    const size_t size = cover.count;
    qp_fabric_points_free(&cover);
    return size;
}

/* A strict bf16 refines a relaxed f16 in the scalar family alone, and never the reverse. */
static void test_bf16_for_f16(void **state)
{
    qp_fabric_cover_point serves[] = {made("Minimum", 0, BF16, false),
                                      made("Minimum", 0, F16, true)};
    qp_fabric_cover_point reverse[] = {made("Minimum", 0, F16, false),
                                       made("Minimum", 0, BF16, true)};
    (void)state;

    assert_int_equal(cover_size(serves, 2, true), 1);
    assert_int_equal(cover_size(serves, 2, false), 2);
    assert_int_equal(cover_size(reverse, 2, true), 2);
    const qp_fabric_behavior_point representatives[] = {serves[0].point};
    assert_int_equal(qp_fabric_cover_choose(representatives, 1, true, &serves[1]), 0);
    assert_int_equal(qp_fabric_cover_choose(representatives, 1, false, &serves[1]), 1);
    /* a strict actor stands at its own point or nowhere */
    qp_fabric_cover_point strict = made("Minimum", 0, F16, false);
    assert_int_equal(qp_fabric_cover_choose(representatives, 1, true, &strict), 1);
}

/* Among representatives that refine, its own wins, then the first by keys. */
static void test_choice(void **state)
{
    const qp_fabric_behavior_point representatives[] = {
        made("Compare", QP_FABRIC_OLT, F32, false).point,
        made("Compare", QP_FABRIC_FULT, F32, false).point,
        made("Minimum", 0, F32, false).point,
    };
    qp_fabric_cover_point point = made("Compare", QP_FABRIC_FULT, F32, true);
    (void)state;

    assert_int_equal(qp_fabric_cover_choose(representatives, 3, true, &point), 1);
    assert_int_equal(qp_fabric_cover_choose(representatives, 1, true, &point), 0);
    point = made("MinNumber", 0, F32, true);
    assert_int_equal(qp_fabric_cover_choose(representatives, 3, true, &point), 2);
    point = made("MaxNumber", 0, F32, true);
    assert_int_equal(qp_fabric_cover_choose(representatives, 3, true, &point), 3);
}

static int by_point(const void *a, const void *b)
{
    return qp_fabric_compare_points(a, b);
}

/* Points in any order have one cover. */
static void test_order_of_points(void **state)
{
    static const char *const roles[] = {"Minimum", "MinNumber", "Compare"};
    qp_fabric_cover_point points[64];
    qp_fabric_behavior_point first[64];
    size_t count = 0, first_count = 0;
    uint32_t seed = 1;
    (void)state;

    for (int i = 0; i < 48; i++) { /* roles, strict and relaxed, formats, two predicates */
        const bool compares = i % 3 == 2;
        points[count++] =
            made(roles[i % 3], compares ? (i / 24 ? QP_FABRIC_FULT : QP_FABRIC_OLT) : 0, i / 6 % 4,
                 i / 3 % 2 == 0 || i % 3 == 1);
    }
    for (int round = 0; round < 200; round++) {
        qp_fabric_points cover = {.allocator = qp_allocator_or_default(NULL)};
        for (size_t i = count; i-- > 1;) {
            seed = seed * 1664525u + 1013904223u;
            const size_t pick = (seed >> 16) % (i + 1);
            const qp_fabric_cover_point moved = points[i];
            points[i] = points[pick];
            points[pick] = moved;
        }
        qp_fabric_cover(points, count, true, &cover);
        qsort(cover.items, cover.count, sizeof *cover.items, by_point);
        if (round == 0) {
            first_count = cover.count;
            memcpy(first, cover.items, first_count * sizeof *first);
        }
        assert_int_equal(cover.count, first_count);
        for (size_t i = 0; i < first_count; i++)
            assert_int_equal(by_point(&cover.items[i], &first[i]), 0);
        qp_fabric_points_free(&cover);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anchor_20_refinement_cover),
        cmocka_unit_test(test_reuse_of_the_other_behavior),
        cmocka_unit_test(test_ordered_predicates),
        cmocka_unit_test(test_unordered_predicates),
        cmocka_unit_test(test_bf16_for_f16),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_order_of_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
