/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sets.c - the small sets of every lowering: what they give, their identity and their pins;
 * and that no cut, no changed byte and no failing allocation does harm.
 */
#include "conform/sets.h"
#include "failing_allocator.h"
#include "quipu/quipu.h"
#include "support/test.h"

static qp_small_set make(size_t index)
{
    qp_small_set set;
    assert_int_equal(qp_small_set_make(index, NULL, &set, NULL), QP_OK);
    return set;
}

static qp_status lower(const qp_small_set *set, const qp_lower_options *options, qp_lowered **made,
                       qp_error *error)
{
    qp_lower_options asked = *options;
    asked.capability = set->capability;
    return qp_lower(set->members, set->count, &asked, NULL, made, error);
}

static qp_status code_of(const qp_small_set *set)
{
    bool synth = set->capability != NULL && strcmp(set->capability, "wai.neural.int_synth") == 0;
    return synth ? QP_PAYLOAD_MALFORMED : QP_MODEL_MISMATCH;
}

/* ---- what they give ----------------------------------------------------------------------- */

static void test_every_set_is_certified(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        qp_lowered *made;
        qp_error error = {0};
        qp_status status = lower(&set, &(qp_lower_options){.any_verdict = 1}, &made, &error);
        if (status != QP_OK)
            print_error("%s: %s\n", set.name, error.message);
        assert_int_equal(status, QP_OK);
        assert_true(qp_lowered_count(made) > 0);
        qp_lowered_free(made);
        qp_small_set_free(&set);
    }
}

static void pin_of(const qp_small_set *set, qp_pin *pin)
{
    qp_lowered *made;
    assert_int_equal(lower(set, &(qp_lower_options){.any_verdict = 1}, &made, NULL), QP_OK);
    *pin = (qp_pin){0};
    snprintf(pin->capability, sizeof pin->capability, "%s", set->capability);
    snprintf(pin->sha256, sizeof pin->sha256, "%s", qp_lowered_sha256(made));
    pin->has_ops_profile = 1;
    pin->ops_profile = strcmp(set->pin, "acc32") == 0 ? QP_ACC32 : QP_ACC64;
    qp_lowered_free(made);
}

static void test_weak_sets_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        qp_lower_options options = {0};
        qp_lowered *made;
        qp_pin pin;
        if (set.pin != NULL) {
            pin_of(&set, &pin);
            options.pin = &pin;
        }
        assert_int_equal(lower(&set, &options, &made, NULL), set.weak ? code_of(&set) : QP_OK);
        assert_true((made == NULL) == set.weak);
        qp_lowered_free(made);
        qp_small_set_free(&set);
    }
}

static void test_guessed_like_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        qp_lowered *made;
        if (strcmp(set.name, "video-int_hyper") == 0 || strcmp(set.name, "int_cond_refine") == 0) {
            /* the files of wai.neural.int_hyper, and those of a set that carries graphs */
            qp_small_set_free(&set);
            continue;
        }
        qp_lower_options options = {.any_verdict = 1};
        assert_int_equal(qp_lower(set.members, set.count, &options, NULL, &made, NULL), QP_OK);
        const qp_capability *found = qp_lowered_capability(made);
        if (set.capability == NULL)
            assert_null(found);
        else
            assert_string_equal(found->name, set.capability);
        qp_lowered_free(made);
        qp_small_set_free(&set);
    }
}

/* ---- bad input ---------------------------------------------------------------------------- */

/* Lowers a set one file of which is replaced. */
static qp_status lower_changed(qp_small_set *set, size_t file, const void *bytes, size_t size,
                               qp_error *error)
{
    qp_member kept = set->members[file];
    qp_lowered *made;
    *error = (qp_error){0};
    set->members[file].bytes = bytes;
    set->members[file].size = size;
    qp_status status = lower(set, &(qp_lower_options){0}, &made, error);
    assert_true((made == NULL) == (status != QP_OK));
    qp_lowered_free(made);
    set->members[file] = kept;
    return status;
}

/* Few places of a large file, every place of a small one. */
static size_t step_of(size_t size)
{
    return size / 150 + 1;
}

/* A copy of exactly that size, so that a sanitizer sees a read past its end. */
static uint8_t *copy_of(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void test_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        for (size_t f = 0; f < set.count; f++)
            for (size_t n = 0; n < set.members[f].size; n += step_of(set.members[f].size)) {
                qp_error error;
                uint8_t *cut = copy_of(set.members[f].bytes, n);
                assert_int_equal(lower_changed(&set, f, cut, n, &error), code_of(&set));
                assert_true(error.offset <= (int64_t)n);
                free(cut);
            }
        qp_small_set_free(&set);
    }
}

static void test_mutation(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        for (size_t f = 0; f < set.count; f++)
            for (size_t n = 0; n < set.members[f].size; n += step_of(set.members[f].size)) {
                qp_error error;
                size_t size = set.members[f].size;
                uint8_t *changed = copy_of(set.members[f].bytes, size);
                changed[n] ^= (uint8_t)(1 + test_below(&seed, 255));
                qp_status status = lower_changed(&set, f, changed, size, &error);
                assert_true(status == QP_OK || status == code_of(&set) || status == QP_TOO_LARGE);
                free(changed);
            }
        qp_small_set_free(&set);
    }
}

static void test_bytes_after_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        for (size_t f = 0; f < set.count; f++) {
            qp_error error;
            size_t size = set.members[f].size;
            uint8_t *longer = malloc(size + 1);
            assert_non_null(longer);
            memcpy(longer, set.members[f].bytes, size);
            longer[size] = 0;
            assert_int_equal(lower_changed(&set, f, longer, size + 1, &error), code_of(&set));
            free(longer);
        }
        qp_small_set_free(&set);
    }
}

static void test_missing_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        if (set.count > 1 && set.capability != NULL) {
            for (size_t f = 0; f < set.count; f++) {
                qp_lowered *made;
                const char *path = set.members[f].path;
                qp_lower_options any = {0};
                set.members[f].path = "other";
                assert_int_equal(lower(&set, &any, &made, NULL), QP_MODEL_MISMATCH);
                /* a world model's g_s.whm alone may be a splat's */
                if (strcmp(set.name, "world") != 0)
                    assert_int_equal(qp_lower(set.members, set.count, &any, NULL, &made, NULL),
                                     QP_MODEL_MISMATCH);
                set.members[f].path = path;
            }
        }
        qp_small_set_free(&set);
    }
}

static void test_failing_allocator(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        qp_lower_options options = {.capability = set.capability, .any_verdict = 1};
        for (size_t k = 1;; k += k / 64 + 1) {
            failing_allocator memory = failing_allocator_make(k);
            qp_allocator allocator = failing_allocator_use(&memory);
            qp_lowered *made;
            qp_status status = qp_lower(set.members, set.count, &options, &allocator, &made, NULL);
            qp_lowered_free(made);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            if (!memory.has_failed)
                break;
            assert_int_equal(status, QP_NO_MEMORY);
        }
        qp_small_set_free(&set);
    }
}

/* ---- identity ----------------------------------------------------------------------------- */

static void digest_of(const void *bytes, size_t size, char text[QP_SHA256_HEX_SIZE])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
}

static void test_identity_of_a_directory(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        if (strcmp(set.name, "int_hyper") == 0) {
            char digest[3][QP_SHA256_HEX_SIZE], listing[512], expected[QP_SHA256_HEX_SIZE];
            qp_lowered *made;
            for (size_t f = 0; f < 3; f++)
                digest_of(set.members[f].bytes, set.members[f].size, digest[f]);
            int n = snprintf(listing, sizeof listing,
                             "{\"entropy.json\":\"%s\",\"g_s.whm\":\"%s\",\"h_s.whm\":\"%s\"}",
                             digest[2], digest[1], digest[0]);
            digest_of(listing, (size_t)n, expected);
            assert_int_equal(lower(&set, &(qp_lower_options){0}, &made, NULL), QP_OK);
            assert_string_equal(qp_lowered_sha256(made), expected);
            qp_lowered_free(made);
        }
        qp_small_set_free(&set);
    }
}

/* A set of one file has that file's digest; the graph of a payload belongs to no set. */
static void test_identity_of_a_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        qp_small_set set = make(i);
        char expected[QP_SHA256_HEX_SIZE];
        qp_lowered *made;
        assert_int_equal(lower(&set, &(qp_lower_options){.any_verdict = 1}, &made, NULL), QP_OK);
        digest_of(set.members[0].bytes, set.members[0].size, expected);
        if (strcmp(set.name, "int_cond_refine") == 0)
            assert_null(qp_lowered_sha256(made));
        else if (set.count == 1)
            assert_string_equal(qp_lowered_sha256(made), expected);
        qp_lowered_free(made);
        qp_small_set_free(&set);
    }
}

/* ---- pins --------------------------------------------------------------------------------- */

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static qp_status read_pin(const char *text, qp_pin *pin)
{
    qp_error error;
    return qp_pin_read(text, strlen(text), NULL, pin, &error);
}

static void test_pins(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",
        "[]",
        "{}",
        "{\"capability\":\"a\"}",
        "{\"capability\":\"a\",\"sha256\":\"00\"}",
        "{\"capability\":1,\"sha256\":\"" DIGEST "\"}",
        "{\"capability\":\"a\",\"sha256\":\"" DIGEST "\"} ",
        "{\"capability\":\"a\", \"sha256\":\"" DIGEST "\"}",
        "{\"sha256\":\"" DIGEST "\",\"capability\":\"a\"}",
        "{\"capability\":\"a\",\"other\":1,\"sha256\":\"" DIGEST "\"}",
        "{\"capability\":\"a\",\"ops_profile\":\"acc16\",\"sha256\":\"" DIGEST "\"}",
        "{\"capability\":\"a\",\"ops_profile\":null,\"sha256\":\"" DIGEST "\"}",
        "{\"capability\":\"a\",\"sha256\":\"" DIGEST "\",\"tier\":1}",
        "{\"capability\":\"\\u0061\",\"sha256\":\"" DIGEST "\"}",
    };
    qp_pin pin = {.tier = "kept"};
    for (size_t i = 0; i < TEST_COUNT(refused); i++)
        assert_int_equal(read_pin(refused[i], &pin), QP_MODEL_MISMATCH);
    assert_string_equal(pin.tier, "kept");

    assert_int_equal(read_pin("{\"capability\":\"a\",\"ops_profile\":\"acc32\",\"sha256\":\"" DIGEST
                              "\",\"tier\":\"t\"}",
                              &pin),
                     QP_OK);
    assert_string_equal(pin.capability, "a");
    assert_string_equal(pin.sha256, DIGEST);
    assert_string_equal(pin.tier, "t");
    assert_true(pin.has_ops_profile && pin.ops_profile == QP_ACC32);
}

static void test_pin_of_another_set(void **state)
{
    (void)state;
    qp_small_set set = make(0);
    qp_lowered *made;
    qp_pin pin = {.capability = "wai.neural.int_synth", .sha256 = DIGEST};
    assert_int_equal(lower(&set, &(qp_lower_options){.pin = &pin}, &made, NULL),
                     QP_PAYLOAD_MALFORMED);
    qp_small_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_set_is_certified),
                                       cmocka_unit_test(test_weak_sets_are_refused),
                                       cmocka_unit_test(test_guessed_like_named),
                                       cmocka_unit_test(test_truncation),
                                       cmocka_unit_test(test_mutation),
                                       cmocka_unit_test(test_bytes_after_the_end),
                                       cmocka_unit_test(test_missing_files),
                                       cmocka_unit_test(test_failing_allocator),
                                       cmocka_unit_test(test_identity_of_a_directory),
                                       cmocka_unit_test(test_identity_of_a_file),
                                       cmocka_unit_test(test_pins),
                                       cmocka_unit_test(test_pin_of_another_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
