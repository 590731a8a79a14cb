/* SPDX-License-Identifier: Apache-2.0 */
/* test_set.c - sets: their digest, entropy tables that lie, pins, and the cache with its budget. */
#include "codec/codec.h"

#include "codec.h"

#define CAPABILITY "wai.neural.int_hyper"

static qp_status open_with(const small_set *files, qp_set_options options, qp_set **set,
                           qp_error *error)
{
    options.capability = CAPABILITY;
    return qp_set_open(files->members, files->count, &options, NULL, set, error);
}

static void test_what_lies_beside_a_set_is_no_part_of_it(void **unused)
{
    (void)unused;
    small_set files;
    qp_set *alone, *beside;
    qp_set_options options = {.capability = CAPABILITY};
    small_set_hyper(1, &files);
    assert_int_equal(qp_set_open(files.members, files.beside, &options, NULL, &alone, NULL), QP_OK);
    assert_int_equal(qp_set_open(files.members, files.count, &options, NULL, &beside, NULL), QP_OK);
    assert_string_equal(qp_lowered_sha256(qp_set_lowered(alone)),
                        qp_lowered_sha256(qp_set_lowered(beside)));
    qp_set_close(beside);
    qp_set_close(alone);
    small_set_free(&files);
}

static void test_members_may_go_once_a_set_is_open(void **unused)
{
    (void)unused;
    small_set files;
    small_set_hyper(2, &files);
    qp_media picture = small_picture(2, 20, 20, 3);
    qp_set *set = test_open(CAPABILITY, &files);
    qp_encoded payload = test_encode(CAPABILITY, set, &files, &picture);
    char before[65], after[65];
    assert_int_equal(test_decode(CAPABILITY, set, payload.bytes, payload.size, before, NULL),
                     QP_OK);
    for (size_t i = 0; i < files.count; i++)
        memset(files.files[i].bytes, 0, files.files[i].size);
    assert_int_equal(test_decode(CAPABILITY, set, payload.bytes, payload.size, after, NULL), QP_OK);
    assert_string_equal(before, after);
    qp_encoded_free(NULL, &payload);
    qp_set_close(set);
    qp_media_free(NULL, &picture);
    small_set_free(&files);
}

static void test_other_capabilities(void **unused)
{
    (void)unused;
    small_set files;
    qp_set *set;
    qp_decoder *decoder;
    qp_set_options options = {.capability = "wai.nobody"};
    small_set_hyper(3, &files);
    assert_int_equal(qp_set_open(files.members, 3, &options, NULL, &set, NULL), QP_MODEL_MISMATCH);
    assert_null(set);
    set = test_open(CAPABILITY, &files);
    assert_int_equal(qp_decoder_create("wai.nobody", set, NULL, NULL, &decoder, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(qp_decoder_create("wai.neural.int_synth", set, NULL, NULL, &decoder, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(qp_decoder_create(CAPABILITY, NULL, NULL, NULL, &decoder, NULL),
                     QP_MODEL_MISMATCH);
    assert_null(decoder);
    qp_set_close(set);
    small_set_free(&files);
}

/* Opens the set with one text for entropy.json. */
static void expect_entropy(const char *text, qp_status code)
{
    small_set files;
    qp_set *set = NULL;
    qp_error error;
    small_set_hyper(4, &files);
    files.members[2].bytes = text;
    files.members[2].size = strlen(text);
    assert_int_equal(open_with(&files, (qp_set_options){0}, &set, &error), code);
    if (code != QP_OK)
        assert_null(set);
    qp_set_close(set);
    small_set_free(&files);
}

static void test_tables_that_lie(void **unused)
{
    (void)unused;
#define TABLE "{\"cdf\":[0,9,65536],\"offset\":0}"
#define TEXT(afrac, edges, y, z)                                                                   \
    "{\"afrac\":" afrac ",\"edges\":" edges ",\"y\":[" y "],\"z\":[" z "]}"
    expect_entropy(TEXT("8", "[3]", TABLE, TABLE "," TABLE), QP_OK);
    expect_entropy(TEXT("8", "[3]", "{\"cdf\":[0,9,9,65536],\"offset\":0}", TABLE),
                   QP_MODEL_MISMATCH); /* an empty interval */
    expect_entropy(TEXT("8", "[3]", "{\"cdf\":[0,9,8,65536],\"offset\":0}", TABLE),
                   QP_MODEL_MISMATCH); /* falling */
    expect_entropy(TEXT("8", "[3]", "{\"cdf\":[0,9,65535],\"offset\":0}", TABLE),
                   QP_MODEL_MISMATCH); /* another total */
    expect_entropy(TEXT("8", "[3]", "{\"cdf\":[0,65536],\"offset\":0}", TABLE), QP_MODEL_MISMATCH);
    expect_entropy(TEXT("8", "[3]", "{\"cdf\":[0,9,65536],\"offset\":2147483648}", TABLE),
                   QP_MODEL_MISMATCH);
    expect_entropy(TEXT("8", "[]", "", TABLE), QP_MODEL_MISMATCH);       /* no edge */
    expect_entropy(TEXT("8", "[3,4]", TABLE, TABLE), QP_MODEL_MISMATCH); /* a table is missing */
    expect_entropy(TEXT("8.0", "[3]", TABLE, TABLE), QP_MODEL_MISMATCH);
    expect_entropy(TEXT("\"8\"", "[3]", TABLE, TABLE), QP_MODEL_MISMATCH);
    expect_entropy(TEXT("8", "[true]", TABLE, TABLE), QP_MODEL_MISMATCH);
    expect_entropy(TEXT("8,\"afrac\":8", "[3]", TABLE, TABLE), QP_MODEL_MISMATCH);
    expect_entropy("{\"afrac\":8,\"edges\":[3],\"y\":[" TABLE "]}", QP_MODEL_MISMATCH);
    expect_entropy("", QP_MODEL_MISMATCH);
    expect_entropy("[", QP_MODEL_MISMATCH);
#undef TEXT
#undef TABLE
}

static void test_pins(void **unused)
{
    (void)unused;
    small_set files;
    qp_pin pin = {.capability = CAPABILITY};
    small_set_hyper(5, &files);
    qp_set *set = test_open(CAPABILITY, &files);
    memcpy(pin.sha256, qp_lowered_sha256(qp_set_lowered(set)), sizeof pin.sha256);
    qp_set_close(set);
    assert_int_equal(open_with(&files, (qp_set_options){.pin = &pin}, &set, NULL), QP_OK);
    qp_set_close(set);
    pin.has_ops_profile = 1;
    pin.ops_profile = QP_ACC64;
    assert_int_equal(open_with(&files, (qp_set_options){.pin = &pin}, &set, NULL), QP_OK);
    qp_set_close(set);
    pin.ops_profile = QP_ACC32; /* more than the set meets */
    assert_int_equal(open_with(&files, (qp_set_options){.pin = &pin}, &set, NULL),
                     QP_MODEL_MISMATCH);
    pin.has_ops_profile = 0;
    pin.sha256[0] = pin.sha256[0] == '0' ? '1' : '0';
    assert_int_equal(open_with(&files, (qp_set_options){.pin = &pin}, &set, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(open_with(&files, (qp_set_options){.sha256 = pin.sha256}, &set, NULL),
                     QP_MODEL_MISMATCH);
    small_set_free(&files);
}

/* ---- the cache ---------------------------------------------------------------------------- */

static qp_set *open_kept(qp_set_cache *cache, uint64_t seed)
{
    small_set files;
    qp_set *set;
    small_set_hyper(seed, &files);
    assert_int_equal(open_with(&files, (qp_set_options){.cache = cache}, &set, NULL), QP_OK);
    small_set_free(&files);
    return set;
}

static void test_a_kept_set_is_not_loaded_again(void **unused)
{
    (void)unused;
    qp_set_cache *cache;
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    assert_int_equal(qp_set_cache_create(1 << 24, &allocator, &cache, NULL), QP_OK);
    qp_set *first = open_kept(cache, 1);
    size_t bytes = memory.bytes;
    qp_set *again = open_kept(cache, 1);
    assert_ptr_equal(first, again);
    assert_int_equal(memory.bytes, bytes);
    assert_int_equal(qp_set_cache_count(cache), 1);
    assert_int_equal(qp_set_cache_bytes(cache), qp_set_bytes(first));
    qp_set *other = open_kept(cache, 2);
    assert_ptr_not_equal(first, other);
    qp_set_close(first);
    qp_set_close(again);
    qp_set_close(other);
    assert_int_equal(qp_set_cache_count(cache), 2);
    qp_set_cache_free(cache);
    assert_int_equal(memory.blocks, 0);
}

static void test_the_budget_drops_the_least_recently_used(void **unused)
{
    (void)unused;
    qp_set_cache *cache;
    qp_set *one = open_kept(NULL, 1);
    size_t each = qp_set_bytes(one);
    qp_set_close(one);
    assert_int_equal(qp_set_cache_create(2 * each + each / 2, NULL, &cache, NULL), QP_OK);
    qp_set_close(open_kept(cache, 1));
    qp_set_close(open_kept(cache, 2));
    qp_set *kept = open_kept(cache, 1); /* 2 is now the least recently used */
    qp_set_close(kept);
    qp_set_close(open_kept(cache, 3));
    assert_int_equal(qp_set_cache_count(cache), 2);
    assert_ptr_equal(open_kept(cache, 1), kept);
    qp_set_close(kept);

    /* open sets stay beyond the budget, and go when they are closed */
    qp_set *held[4];
    for (uint64_t i = 0; i < 4; i++)
        held[i] = open_kept(cache, 10 + i);
    assert_int_equal(qp_set_cache_count(cache), 4);
    for (size_t i = 0; i < 4; i++)
        qp_set_close(held[i]);
    assert_int_equal(qp_set_cache_count(cache), 2);
    assert_true(qp_set_cache_bytes(cache) <= 2 * each + each / 2);
    qp_set_cache_free(cache);
}

static void test_a_refused_set_is_not_kept(void **unused)
{
    (void)unused;
    small_set files;
    qp_set *set;
    qp_set_cache *cache;
    small_set_hyper(1, &files);
    files.files[1].bytes[0] = 'X';
    assert_int_equal(qp_set_cache_create(1 << 24, NULL, &cache, NULL), QP_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_with(&files, (qp_set_options){.cache = cache}, &set, NULL),
                         QP_MODEL_MISMATCH);
        assert_int_equal(qp_set_cache_count(cache), 0);
    }
    qp_set_cache_free(cache);
    small_set_free(&files);
}

static void test_a_pin_is_checked_on_a_kept_set_too(void **unused)
{
    (void)unused;
    small_set files;
    qp_set *set;
    qp_set_cache *cache;
    qp_pin pin = {.capability = CAPABILITY, .has_ops_profile = 1, .ops_profile = QP_ACC32};
    assert_int_equal(qp_set_cache_create(1 << 24, NULL, &cache, NULL), QP_OK);
    set = open_kept(cache, 6);
    memcpy(pin.sha256, qp_lowered_sha256(qp_set_lowered(set)), sizeof pin.sha256);
    qp_set_close(set);
    small_set_hyper(6, &files);
    qp_set_options options = {.cache = cache, .pin = &pin};
    assert_int_equal(open_with(&files, options, &set, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_set_cache_count(cache), 1);
    qp_set_cache_free(cache);
    small_set_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_lies_beside_a_set_is_no_part_of_it),
        cmocka_unit_test(test_members_may_go_once_a_set_is_open),
        cmocka_unit_test(test_other_capabilities),
        cmocka_unit_test(test_tables_that_lie),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_a_kept_set_is_not_loaded_again),
        cmocka_unit_test(test_the_budget_drops_the_least_recently_used),
        cmocka_unit_test(test_a_refused_set_is_not_kept),
        cmocka_unit_test(test_a_pin_is_checked_on_a_kept_set_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
