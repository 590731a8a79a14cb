/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_capability.c - the registry: the library's table says member by member what
 * registry/capabilities.json says, and that is what sections 11, 13.0 and 13.5 say.
 */
#include "base/json.h"
#include "bytes.h"

#define QP_REGISTRY QP_MODELS "/../registry/capabilities.json"

/* A string member, or NULL where the table must have NULL. */
static void assert_text(qp_json_value object, const char *name, const char *found)
{
    qp_json_value value;
    if (!qp_json_find(object, name, &value))
        assert_null(found);
    else
        assert_true(found != NULL && qp_json_equals(value, found));
}

static void assert_stage(qp_json_value ops, const qp_capability *c)
{
    qp_json_value stage, rans64 = QP_JSON_NO_VALUE;
    assert_int_equal(qp_json_member(ops, "stage", QP_JSON_OBJECT, &stage, NULL), QP_OK);
    qp_json_find(stage, "rans64", &rans64);
    assert_text(rans64, "table", c->rans64_table);
    assert_text(rans64, "escape", c->rans64_escape);
    assert_text(rans64, "end", c->rans64_end);
    assert_text(stage, "bucket", c->bucket);
    assert_int_equal(qp_json_count(stage), (c->rans64_table != NULL) + (c->bucket != NULL));
}

static void assert_roles(qp_json_value ops, const qp_capability *c)
{
    qp_json_value roles, name, value;
    size_t i = 0;
    qp_json_find(ops, "role_profiles", &roles);
    assert_int_equal(qp_json_count(roles), c->n_role_profiles);
    qp_json_iterator iterator = qp_json_iterate(roles);
    for (; qp_json_next_member(&iterator, &name, &value); i++) {
        assert_true(qp_json_equals(name, c->role_profiles[i].role));
        assert_true(qp_json_equals(value, qp_profile_name(c->role_profiles[i].profile)));
    }
}

static void assert_entry(qp_json_value entry, const qp_capability *c)
{
    qp_json_value ops;
    assert_text(entry, "class", c->class_name);
    assert_int_equal(qp_json_member(entry, "ops", QP_JSON_OBJECT, &ops, NULL), QP_OK);
    assert_text(ops, "set", c->operator_set);
    assert_text(ops, "lowering", c->lowering);
    assert_text(ops, "subset", c->subset);
    assert_text(ops, "profile", c->lowering == NULL ? NULL : qp_profile_name(c->profile));
    assert_roles(ops, c);
    assert_stage(ops, c);
}

static void test_table_is_fresh(void **state)
{
    (void)state;
    qp_file file;
    qp_json json;
    qp_json_value entries, name, entry;
    size_t i = 0;
    assert_int_equal(qp_file_open(QP_REGISTRY, NULL, &file, NULL), QP_OK);
    qp_json_init(&json, NULL);
    assert_int_equal(qp_json_parse(&json, file.bytes, file.size, NULL), QP_OK);
    assert_int_equal(
        qp_json_member(qp_json_root(&json), "capabilities", QP_JSON_OBJECT, &entries, NULL), QP_OK);
    qp_json_iterator iterator = qp_json_iterate(entries);
    for (; qp_json_next_member(&iterator, &name, &entry); i++) {
        const qp_capability *c = qp_capability_at(i);
        assert_non_null(c);
        assert_true(qp_json_equals(name, c->name));
        assert_ptr_equal(qp_capability_find(c->name), c);
        assert_entry(entry, c);
    }
    assert_null(qp_capability_at(i));
    assert_null(qp_capability_find("wai.neural.none"));
    qp_json_free(&json);
    qp_file_close(&file);
}

/* Sections 11, 13.0 and 13.5. */
typedef struct row {
    const char *name, *lowering, *table, *end, *bucket;
} row;

static const row rows[] = {
    {"wai.neural.int_synth", "int_synth/1", NULL, NULL, NULL},
    {"wai.neural.int_hyper", "whm1/1", "t4097", "canonical", "ceil"},
    {"wai.neural.int_mlicpp", "wmb1/1", "t2", "final_only", "ceil"},
    {"wai.video.int_motion", NULL, "t4097", "canonical", NULL},
    {"wai.video.int_motion.frame", NULL, "t4097", "canonical", NULL},
    {"wai.video.int_hyper", "whm1/1", "t4097", "canonical", "ceil"},
    {"wai.video.int_hyper.frame", "whm1/1", "t4097", "canonical", "ceil"},
    {"wai.video.int_cond", "wcb1/1", "t4097", "canonical", "ceil"},
    {"wai.video.int_cond.frame", "wcb1/1", "t4097", "canonical", "ceil"},
    {"wai.audio.int_codec", "wam1/1", "t4097", "canonical", NULL},
    {"wai.splat.int_codec", "whm1/1", "t4097", "canonical", NULL},
    {"wai.image.int_refine", NULL, "t4097", "canonical", NULL},
    {"wai.video.int_refine", NULL, "t4097", "canonical", NULL},
    {"wai.audio.int_refine", NULL, "t4097", "canonical", NULL},
    {"wai.splat.int_refine", NULL, "t4097", "canonical", NULL},
    {"wai.image.int_cond_refine", "wcp1/1", "t4097", "canonical", NULL},
    {"wai.world.model", "world/1", NULL, NULL, NULL},
    {"wai.image.jpegai", "jpegai-int/1", NULL, NULL, NULL},
};

static void assert_same(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a != NULL)
        assert_string_equal(a, b);
}

static void test_registry_is_the_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        const qp_capability *c = qp_capability_find(rows[i].name);
        bool entropy = strcmp(rows[i].name, "wai.image.jpegai") == 0;
        assert_non_null(c);
        assert_same(c->lowering, rows[i].lowering);
        assert_same(c->rans64_table, rows[i].table);
        assert_same(c->rans64_end, rows[i].end);
        assert_same(c->rans64_escape, rows[i].table == NULL ? NULL : "lenient");
        assert_same(c->bucket, rows[i].bucket);
        assert_same(c->subset, rows[i].lowering == NULL ? NULL : "full");
        assert_string_equal(c->class_name, entropy ? "NeuralEntropyExact" : "NeuralIntegerExact");
        assert_int_equal(c->n_role_profiles, entropy ? 2 : 0);
        assert_true(c->lowering == NULL || c->profile == QP_ACC64);
        assert_true((c->lowering == NULL) == (qp_set_path(c->name, 0) == NULL));
    }
    assert_null(qp_capability_at(TEST_COUNT(rows)));
}

/* A capability of stage operators alone has no set. */
static void test_no_set(void **state)
{
    (void)state;
    qp_buffer file;
    qp_buffer_init(&file, NULL);
    qp_buffer_text(&file, "WHM1");
    assert_int_equal(lower_file("wai.video.int_motion", &file, NULL, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(lower_file("no.such", &file, NULL, NULL), QP_MODEL_MISMATCH);
    qp_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table_is_fresh),
                                       cmocka_unit_test(test_registry_is_the_text),
                                       cmocka_unit_test(test_no_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
