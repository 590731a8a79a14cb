/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recipe.c - the JSON form of recipes, presets and shell patterns.
 */
#include "artifact/recipe.h"

#include "../failing_allocator.h"
#include "support/test.h"

/* ---- patterns -------------------------------------------------------------------------------- */

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "any.name/at all", true},
        {"a*", "a", true},
        {"a*", "ba", false},
        {"*.weight", "x.weight", true},
        {"*.weight", "x.weight.weight", true},
        {"*.weight", "x.weights", false},
        {"blk.*.attn_?.weight", "blk.12.attn_q.weight", true},
        {"blk.*.attn_?.weight", "blk.12.attn_qq.weight", false},
        {"a*b*c", "a.b.b.x.c", true},
        {"a*b*c", "a.c.b", false},
        {"?", "\xC3\xBC", true},
        {"??", "\xC3\xBC", false},
        {"?", "", false},
        {"[abc]", "b", true},
        {"[abc]", "d", false},
        {"[!abc]", "d", true},
        {"[!abc]", "a", false},
        {"l.[0-9]", "l.7", true},
        {"l.[0-9]", "l.x", false},
        {"[a-]", "-", true},
        {"[]a]", "]", true},
        {"[!]a]", "]", false},
        {"[!]a]", "b", true},
        {"[ab", "[ab", true},
        {"[", "[", true},
        {"[ab", "a", false},
        {"x[\xC3\xA4-\xC3\xBC]", "x\xC3\xB6", true},
        {"\\*", "\\x", true},
        {"*\xC3\xBC", "abc\xC3\xBC", true},
        {"a**b", "ab", true},
        {"[z-a]", "m", false},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        if (qp_pattern_match(cases[i].pattern, cases[i].name) != cases[i].matches)
            print_message("%s of %s\n", cases[i].pattern, cases[i].name);
        assert_int_equal(qp_pattern_match(cases[i].pattern, cases[i].name), cases[i].matches);
    }
}

/* A pattern that makes a matcher which tries every division take exponential time. */
static void test_pattern_time(void **state)
{
    (void)state;
    char name[3000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(qp_pattern_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
    assert_true(qp_pattern_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*", name));
}

/* ---- recipes --------------------------------------------------------------------------------- */

static qp_status read(qp_recipe *recipe, const char *text, qp_error *error)
{
    qp_recipe_init(recipe, NULL);
    return qp_recipe_read(recipe, text, strlen(text), error);
}

static const char all_verbs[] =
    "[{\"assign\": [\"a.*\", \"b\"], \"format\": \"q4_g64_fp16\", \"layout\": "
    "\"row_split_k128_v1\",\n"
    "  \"method\": \"grouped_search\", \"source\": \"x.gguf\", \"rows\": [3, 9],\n"
    "  \"activation_policy\": \"A16Only\",\n"
    "  \"parameters\": {\"imatrix\": \"i.gguf\", \"negative_scales\": true}},\n"
    " {\"assign\": \"c\", \"layout\": \"auto\"},\n"
    " {\"activation_policy\": \"AllowA4\", \"use\": \"p\", \"input\": \"x\",\n"
    "  \"auxiliaries\": {\"r\": \"t\", \"s\": -1.5e3, \"u\": [1, 2]}},\n"
    " {\"group\": [\"a\", \"b\"], \"shape\": [2, 3]},\n"
    " {\"share\": \"a\", \"target\": \"b\"},\n"
    " {\"separate\": \"z\"}]";

static void test_all_verbs(void **state)
{
    (void)state;
    qp_recipe recipe;
    assert_int_equal(read(&recipe, all_verbs, NULL), QP_OK);
    assert_int_equal(recipe.count, 6);
    const qp_recipe_step *s = recipe.steps;
    assert_int_equal(s[0].verb, QP_RECIPE_ASSIGN);
    assert_int_equal(s[0].selectors.count, 2);
    assert_string_equal(s[0].selectors.texts[1], "b");
    assert_string_equal(s[0].format->name, "q4_g64_fp16");
    assert_string_equal(s[0].layout->name, "row_split_k128_v1");
    assert_string_equal(s[0].method, "grouped_search");
    assert_string_equal(s[0].source, "x.gguf");
    assert_string_equal(s[0].imatrix, "i.gguf");
    assert_string_equal(s[0].activation_policy, "A16Only");
    assert_true(s[0].negative_scales && s[0].has_rows && s[0].has_parameters);
    assert_int_equal(s[0].rows[0], 3);
    assert_int_equal(s[0].rows[1], 9);
    assert_true(s[1].has_auto_layout && s[1].layout == NULL);
    assert_int_equal(s[1].place.line, 5);
    assert_int_equal(s[2].verb, QP_RECIPE_USE);
    assert_int_equal(s[2].n_auxiliaries, 3);
    assert_string_equal(s[2].auxiliaries[0].parameter, "t");
    assert_string_equal(s[2].auxiliaries[1].numbers[0], "-1.5e3");
    assert_true(s[2].auxiliaries[1].is_scalar && !s[2].auxiliaries[2].is_scalar);
    assert_int_equal(s[2].auxiliaries[2].count, 2);
    assert_int_equal(s[3].rank, 2);
    assert_int_equal(s[3].shape[1], 3);
    assert_string_equal(s[4].target, "b");
    assert_int_equal(s[5].verb, QP_RECIPE_SEPARATE);
    qp_recipe_free(&recipe);

    /* the other form */
    assert_int_equal(read(&recipe,
                          "[{\"assign\": {\"format\": \"bf16\", \"selectors\": [\"a\", \"b\"]}},"
                          "{\"use\": {\"parameter\": \"p\", \"input\": \"x\"}},"
                          "{\"group\": {\"selectors\": [\"a\"], \"shape\": [4]}},"
                          "{\"share\": {\"parameter\": \"a\", \"target\": \"b\"}},"
                          "{\"separate\": {\"selectors\": \"z\"}}]",
                          NULL),
                     QP_OK);
    s = recipe.steps;
    assert_int_equal(recipe.count, 5);
    assert_string_equal(s[0].format->name, "bf16");
    assert_string_equal(s[0].selectors.texts[1], "b");
    assert_string_equal(s[1].selectors.texts[0], "p");
    assert_string_equal(s[1].input, "x");
    assert_int_equal(s[2].shape[0], 4);
    assert_string_equal(s[3].selectors.texts[0], "a");
    assert_string_equal(s[3].target, "b");
    assert_int_equal(s[4].verb, QP_RECIPE_SEPARATE);
    qp_recipe_free(&recipe);

    assert_int_equal(read(&recipe, " [ ] ", NULL), QP_OK);
    assert_int_equal(recipe.count, 0);
    qp_recipe_free(&recipe);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{}", "line 1, column 1"},
        {"[1]", "line 1, column 2"},
        {"[{}]", "line 1, column 2"},
        {"[{\"format\": \"bf16\"}]", "one of `assign`"},
        {"[\n{\"assign\": \"a\", \"use\": \"b\"}]", "line 2, column 17"},
        {"[{\"assign\": \"a\", \"assign\": \"b\"}]", "line 1"},
        {"[{\"assign\": \"a\",\n \"formt\": \"bf16\"}]", "line 2, column 2"},
        {"[{\"assign\": \"a\", \"input\": \"x\"}]", "no member `input`"},
        {"[{\"share\": \"a\"}]", "needs the member `target`"},
        {"[{\"use\": \"a\"}]", "needs the member `input`"},
        {"[{\"share\": [\"a\"], \"target\": \"b\"}]", "line 1, column 12"},
        {"[{\"assign\": []}]", "selects nothing"},
        {"[{\"assign\": \"\"}]", "names nothing"},
        {"[{\"assign\": \"a\\u0000\"}]", "names nothing"},
        {"[{\"assign\": 3}]", "line 1, column 13"},
        {"[{\"assign\": [\"a\", null]}]", "line 1, column 19"},
        {"[{\"assign\": \"a\", \"format\": \"q3_g64\"}]", "no format is named q3_g64"},
        {"[{\"assign\": \"a\", \"layout\": \"tiles\"}]", "no layout is named tiles"},
        {"[{\"assign\": \"a\", \"activation_policy\": \"AllowA2\"}]", "AllowA8"},
        {"[{\"assign\": \"a\", \"rows\": [1]}]", "two numbers"},
        {"[{\"assign\": \"a\", \"rows\": [1, 2, 3]}]", "two numbers"},
        {"[{\"assign\": \"a\", \"rows\": [2, 2]}]", "the first below"},
        {"[{\"assign\": \"a\", \"rows\": [-1, 2]}]", "line 1"},
        {"[{\"assign\": \"a\", \"rows\": [0.5, 2]}]", "line 1"},
        {"[{\"assign\": \"a\", \"parameters\": {\"alpha\": 1}}]", "no method has"},
        {"[{\"assign\": \"a\", \"parameters\": {\"imatrix\": true}}]", "line 1"},
        {"[{\"assign\": \"a\", \"parameters\": {\"negative_scales\": 1}}]", "line 1"},
        {"[{\"assign\": \"a\", \"parameters\": []}]", "line 1"},
        {"[{\"group\": \"a\", \"shape\": [0]}]", "no zero"},
        {"[{\"group\": \"a\", \"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}]", "at most 16"},
        {"[{\"use\": \"a\", \"input\": \"x\", \"auxiliaries\": {\"r\": []}}]", "at least one"},
        {"[{\"use\": \"a\", \"input\": \"x\", \"auxiliaries\": {\"r\": [true]}}]", "line 1"},
        {"[{\"use\": \"a\", \"input\": \"x\", \"auxiliaries\": {\"\": 1}}]", "names nothing"},
        {"[{\"assign\": {\"format\": \"bf16\"}}]", "needs the member `selectors`"},
        {"[{\"assign\": {\"selectors\": \"a\"}, \"format\": \"bf16\"}]", "not both"},
        {"[{\"assign\": {\"selectors\": {}}}]", "line 1, column 27"},
        {"[{\"assign\": {\"selectors\": \"a\", \"parameter\": \"a\"}}]", "no such member"},
        {"[{\"use\": {\"selectors\": \"a\", \"input\": \"x\"}}]", "member `parameter`"},
        {"[{\"share\": {\"parameter\": \"a\"}}]", "needs the member `target`"},
        {"[{\"assign\": {\"selectors\": \"a\", \"assign\": \"b\"}}]", "no such member"},
        {"[{\"assign\": \"a\"}] x", "line 1, column 19"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        qp_recipe recipe;
        qp_error error = {.status = QP_OK};
        qp_status status = read(&recipe, cases[i].text, &error);
        if (status != QP_MALFORMED || strstr(error.message, cases[i].says) == NULL)
            print_message("%s: %s\n", cases[i].text, error.message);
        assert_int_equal(status, QP_MALFORMED);
        assert_non_null(strstr(error.message, cases[i].says));
        assert_true(error.offset >= 0 && (size_t)error.offset <= strlen(cases[i].text));
        qp_recipe_free(&recipe);
    }
}

static void test_presets(void **state)
{
    (void)state;
    qp_recipe recipe;
    qp_recipe_init(&recipe, NULL);
    assert_int_equal(
        qp_recipe_read_preset(&recipe, "a.*=bf16,q4_g64_fp16,out=gguf_q6_k,fp32", NULL), QP_OK);
    assert_int_equal(recipe.count, 4);
    const qp_recipe_step *s = recipe.steps;
    /* patterns override formats, and what stands first overrides what follows */
    assert_string_equal(s[0].format->name, "fp32");
    assert_true(s[0].where_fits && s[1].where_fits);
    assert_string_equal(s[1].format->name, "q4_g64_fp16");
    assert_string_equal(s[2].format->name, "gguf_q6_k");
    assert_string_equal(s[2].selectors.texts[0], "out");
    assert_string_equal(s[3].format->name, "bf16");
    assert_string_equal(s[3].selectors.texts[0], "a.*");
    assert_false(s[2].where_fits || s[3].where_fits);
    assert_false(s[2].matrices_only); /* a name */
    assert_false(s[3].matrices_only); /* a direct format */
    qp_recipe_free(&recipe);
    qp_recipe_init(&recipe, NULL);
    assert_int_equal(qp_recipe_read_preset(&recipe, "?=nvfp4", NULL), QP_OK);
    assert_true(recipe.steps[0].matrices_only);
    qp_recipe_free(&recipe);

    static const char *const wrong[] = {"",      "q4",       "a=q4", "=bf16", "bf16,",
                                        ",bf16", "a=b=bf16", "a=",   "bf16=a"};
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        qp_recipe_init(&recipe, NULL);
        assert_int_equal(qp_recipe_read_preset(&recipe, wrong[i], NULL), QP_INVALID_ARGUMENT);
        qp_recipe_free(&recipe);
    }
}

static void test_without_memory(void **state)
{
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_recipe recipe;
        qp_recipe_init(&recipe, &allocator);
        qp_status status = qp_recipe_read(&recipe, all_verbs, sizeof all_verbs - 1, NULL);
        if (status == QP_OK)
            status = qp_recipe_read_preset(&recipe, "bf16,a=fp32", NULL);
        qp_recipe_free(&recipe);
        assert_int_equal(memory.blocks, 0);
        if (!memory.has_failed)
            break;
        assert_int_equal(status, QP_NO_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),  cmocka_unit_test(test_pattern_time),
        cmocka_unit_test(test_all_verbs), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_presets),   cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
