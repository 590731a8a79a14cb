/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_moving.c - ranges of bits, and the schemas that only move them (section 2.2): against a move
 * bit by bit, and by hand with the slices and the shuffle of sections 8 and 13.3.
 */
#include "evaluating.h"

static uint64_t bit_of(const uint64_t *payload, uint64_t bit)
{
    return payload[bit / 64] >> bit % 64 & 1;
}

static void test_ranges_of_bits(void **state)
{
    uint64_t seed = 1;
    (void)state;

    for (int i = 0; i < 20000; i++) {
        uint64_t from[4], to[4], before[4];
        const uint64_t from_first = random_u64(&seed) % 128, to_first = random_u64(&seed) % 128;
        const uint64_t width = random_u64(&seed) % 129;
        for (int k = 0; k < 4; k++) {
            from[k] = random_u64(&seed);
            before[k] = to[k] = random_u64(&seed);
        }
        qp_fabric_copy_bits(to, to_first, from, from_first, width);
        for (uint64_t bit = 0; bit < 256; bit++) {
            const bool inside = bit >= to_first && bit - to_first < width;
            assert_int_equal(bit_of(to, bit), inside ? bit_of(from, bit - to_first + from_first)
                                                     : bit_of(before, bit));
        }
    }
}

static void test_ones(void **state)
{
    uint64_t words[3] = {0};
    (void)state;

    qp_fabric_set_ones(words, 60, 70);
    assert_true(words[0] == UINT64_C(0xf000000000000000));
    assert_true(words[1] == UINT64_MAX);
    assert_true(words[2] == 3);
    assert_int_equal(qp_fabric_get_bits(words, 63, 0), 0);
}

static qp_fabric_outcome move(const subject *s, const uint64_t *const *heads, uint64_t *result)
{
    uint64_t *results[] = {result};
    return s->evaluator.evaluate(&s->evaluator, heads, results);
}

/* ---- select ------------------------------------------------------------------------------- */

static void test_select_of_scalars(void **state)
{
    const uint64_t yes = 1, no = 0, a[] = {5, 7}, b[] = {6, 8};
    uint64_t r[2];
    subject s;
    (void)state;

    subject_make(&s, "arith.select", "i1,i100,i100", "i100", NULL);
    move(&s, (const uint64_t *[]){&yes, a, b}, r);
    assert_memory_equal(r, a, sizeof a);
    move(&s, (const uint64_t *[]){&no, a, b}, r);
    assert_memory_equal(r, b, sizeof b);
    subject_free(&s);
}

static void test_select_of_vectors(void **state)
{
    uint64_t seed = 2;
    (void)state;

    for (int i = 0; i < 500; i++) {
        uint64_t c[1] = {0}, a[4] = {0}, b[4] = {0}, r[4];
        subject s;
        subject_make(&s, "arith.select", "vector<3x4xi1>,vector<3x4xi17>,vector<3x4xi17>",
                     "vector<3x4xi17>", NULL);
        random_payload(&seed, c, 12);
        random_payload(&seed, a, 204);
        random_payload(&seed, b, 204);
        assert_int_equal(move(&s, (const uint64_t *[]){c, a, b}, r), QP_FABRIC_DEFINED);
        for (uint64_t lane = 0; lane < 12; lane++)
            assert_int_equal(qp_fabric_get_bits(r, lane * 17, 17),
                             qp_fabric_get_bits(bit_of(c, lane) != 0 ? a : b, lane * 17, 17));
        assert_true(r[3] >> 12 == 0);
        subject_free(&s);
    }
}

/* ---- bitcast, pack, unpack ---------------------------------------------------------------- */

static void test_bits_unchanged(void **state)
{
    static const char *const rows[][3] = {
        {"arith.bitcast", "f32", "i32"},
        {"arith.bitcast", "vector<5xi16>", "vector<5xbf16>"},
        {"dataflow.pack", "vector<3x5xi7>", "i105"},
        {"dataflow.unpack", "i105", "vector<3x5xi7>"},
    };
    static const uint64_t bits[] = {32, 80, 105, 105};
    uint64_t seed = 4;
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t a[2] = {0}, r[2] = {0};
        subject s;
        subject_make(&s, rows[i][0], rows[i][1], rows[i][2], NULL);
        random_payload(&seed, a, bits[i]);
        assert_int_equal(move(&s, (const uint64_t *[]){a}, r), QP_FABRIC_DEFINED);
        assert_memory_equal(r, a, sizeof a);
        subject_free(&s);
    }
}

/* ---- extract, insert ---------------------------------------------------------------------- */

/* Lanes 0 .. 7 of vector<2x4xi8> are the numbers 10 .. 17. */
static const uint64_t eight_lanes = UINT64_C(0x11100f0e0d0c0b0a);

static void test_extract_by_hand(void **state)
{
    const int64_t row[] = {1}, both[] = {1, 2}, dynamic[] = {QP_FABRIC_DYNAMIC, 2};
    const uint64_t zero = 0, one = 1, two = 2;
    uint64_t r = 99;
    subject s;
    (void)state;

    subject_make(&s, "vector.extract", "vector<2x4xi8>", "vector<4xi8>",
                 &(qp_fabric_semantics){.entries = row, .entry_count = 1});
    move(&s, (const uint64_t *[]){&eight_lanes}, &r);
    assert_true(r == 0x11100f0e);
    subject_free(&s);
    subject_make(&s, "vector.extract", "vector<2x4xi8>", "i8",
                 &(qp_fabric_semantics){.entries = both, .entry_count = 2});
    move(&s, (const uint64_t *[]){&eight_lanes}, &r);
    assert_int_equal(r, 16);
    subject_free(&s);
    subject_make(&s, "vector.extract", "vector<2x4xi8>,index", "i8",
                 &(qp_fabric_semantics){.entries = dynamic, .entry_count = 2});
    move(&s, (const uint64_t *[]){&eight_lanes, &zero}, &r);
    assert_int_equal(r, 12);
    move(&s, (const uint64_t *[]){&eight_lanes, &one}, &r);
    assert_int_equal(r, 16);
    assert_int_equal(move(&s, (const uint64_t *[]){&eight_lanes, &two}, &r),
                     QP_FABRIC_OUT_OF_RANGE);
    subject_free(&s);
    /* no position: the whole vector */
    subject_make(&s, "vector.extract", "vector<2x4xi8>", "vector<2x4xi8>", NULL);
    move(&s, (const uint64_t *[]){&eight_lanes}, &r);
    assert_true(r == eight_lanes);
    subject_free(&s);
}

/* The actor of 13.3: insert i8 at [?, 2]. */
static void test_insert_by_hand(void **state)
{
    const int64_t dynamic[] = {QP_FABRIC_DYNAMIC, 2};
    const uint64_t value = 0xee, one = 1, far = UINT32_MAX;
    uint64_t r;
    subject s;
    (void)state;

    subject_make(&s, "vector.insert", "i8,vector<2x4xi8>,index", "vector<2x4xi8>",
                 &(qp_fabric_semantics){.entries = dynamic, .entry_count = 2});
    assert_int_equal(move(&s, (const uint64_t *[]){&value, &eight_lanes, &one}, &r),
                     QP_FABRIC_DEFINED);
    assert_true(r == UINT64_C(0x11ee0f0e0d0c0b0a));
    assert_int_equal(move(&s, (const uint64_t *[]){&value, &eight_lanes, &far}, &r),
                     QP_FABRIC_OUT_OF_RANGE);
    subject_free(&s);
}

/* What is inserted comes out again, and nothing else changes; lanes straddle words. */
static void test_insert_then_extract(void **state)
{
    uint64_t seed = 6;
    (void)state;

    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 5; j++) {
            const int64_t position[] = {i, j};
            const qp_fabric_semantics at = {.entries = position, .entry_count = 2};
            uint64_t block[1] = {0}, container[5] = {0}, inserted[5], again[1];
            subject in, out;
            subject_make(&in, "vector.insert", "vector<3xi7>,vector<3x5x3xi7>", "vector<3x5x3xi7>",
                         &at);
            subject_make(&out, "vector.extract", "vector<3x5x3xi7>", "vector<3xi7>", &at);
            random_payload(&seed, block, 21);
            random_payload(&seed, container, 315);
            move(&in, (const uint64_t *[]){block, container}, inserted);
            move(&out, (const uint64_t *[]){inserted}, again);
            assert_true(again[0] == block[0]);
            for (uint64_t bit = 0; bit < 315; bit++)
                if (bit / 21 != (uint64_t)(i * 5 + j))
                    assert_int_equal(bit_of(inserted, bit), bit_of(container, bit));
            subject_free(&in);
            subject_free(&out);
        }
}

/* ---- shuffle ------------------------------------------------------------------------------ */

/* The actor of 13.3: mask [0, 3, -1]; the poison block has the bits of block 0. */
static void test_shuffle_by_hand(void **state)
{
    const int64_t mask[] = {0, 3, QP_FABRIC_POISON_BLOCK};
    const uint64_t a = 0x22221111, b = 0x44443333;
    uint64_t r;
    subject s;
    (void)state;

    subject_make(&s, "vector.shuffle", "vector<2xi16>,vector<2xi16>", "vector<3xi16>",
                 &(qp_fabric_semantics){.entries = mask, .entry_count = 3});
    assert_int_equal(move(&s, (const uint64_t *[]){&a, &b}, &r), QP_FABRIC_DEFINED);
    assert_true(r == UINT64_C(0x111144441111));
    subject_free(&s);
}

static void test_shuffle_of_blocks(void **state)
{
    const int64_t mask[] = {4, 0, 2, 2, 1};
    uint64_t seed = 8, a[4] = {0}, b[5] = {0}, r[8];
    subject s;
    (void)state;

    /* blocks of 3 lanes of 33 bits: two of a, three of b */
    subject_make(&s, "vector.shuffle", "vector<2x3xi33>,vector<3x3xi33>", "vector<5x3xi33>",
                 &(qp_fabric_semantics){.entries = mask, .entry_count = 5});
    random_payload(&seed, a, 198);
    random_payload(&seed, b, 297);
    move(&s, (const uint64_t *[]){a, b}, r);
    for (uint64_t i = 0; i < 5; i++)
        for (uint64_t bit = 0; bit < 99; bit++) {
            const uint64_t source = (uint64_t)mask[i];
            const uint64_t expected =
                source < 2 ? bit_of(a, source * 99 + bit) : bit_of(b, (source - 2) * 99 + bit);
            assert_int_equal(bit_of(r, i * 99 + bit), expected);
        }
    assert_true(r[7] >> (495 - 448) == 0);
    subject_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_of_bits),    cmocka_unit_test(test_ones),
        cmocka_unit_test(test_select_of_scalars), cmocka_unit_test(test_select_of_vectors),
        cmocka_unit_test(test_bits_unchanged),    cmocka_unit_test(test_extract_by_hand),
        cmocka_unit_test(test_insert_by_hand),    cmocka_unit_test(test_insert_then_extract),
        cmocka_unit_test(test_shuffle_by_hand),   cmocka_unit_test(test_shuffle_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
