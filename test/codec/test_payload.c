/* SPDX-License-Identifier: Apache-2.0 */
/* test_payload.c - the cursor over payloads: the first fault stays, with its place. */
#include "codec/payload.h"

#include "codec.h"

static void test_fields_in_order(void **unused)
{
    (void)unused;
    qp_buffer b;
    qp_error error;
    qp_buffer_init(&b, NULL);
    qp_payload_put_head(&b, "ABCD", 3);
    qp_buffer_le(&b, 0xFE, 1);
    qp_buffer_le(&b, 0xFFFE, 2);
    qp_buffer_le(&b, 0xFFFFFFFE, 4);
    qp_buffer_le(&b, UINT64_MAX, 8);
    qp_payload_put_block(&b, "12345678", 8);
    qp_payload_put_block(&b, "xyz", 3);
    qp_payload p = qp_payload_over(b.bytes, b.size);
    qp_payload_head(&p, "ABCD", 3);
    assert_int_equal(qp_payload_u8(&p, "a"), 0xFE);
    assert_int_equal(qp_payload_i16(&p, "b"), -2);
    assert_int_equal(qp_payload_i32(&p, "c"), -2);
    assert_int_equal(qp_payload_i64(&p, "d"), -1);
    qp_bytes stream = qp_payload_stream(&p, "e");
    assert_int_equal(stream.size, 8);
    assert_memory_equal(stream.bytes, "12345678", 8);
    qp_payload within = qp_payload_within(&p, "f");
    assert_int_equal(within.size, 3);
    qp_payload_end(&p);
    assert_int_equal(qp_payload_check(&p, &error), QP_OK);

    /* a fault of the inner payload names its place in the outer one */
    qp_payload_u32(&within, "g");
    assert_int_equal(qp_payload_check(&within, &error), QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.offset, (int64_t)(b.size - 3));
    assert_string_equal(error.message, "the payload ends within g");
    qp_buffer_free(&b);
}

static void test_the_first_fault_stays(void **unused)
{
    (void)unused;
    static const uint8_t bytes[] = {5, 0, 0, 0, 1, 2};
    qp_error error;
    qp_payload p = qp_payload_over(bytes, sizeof bytes);
    assert_int_equal(qp_payload_u32_in(&p, 1, 4, "the side"), 5);
    assert_int_equal(qp_payload_u8(&p, "later"), 0);
    assert_int_equal(qp_payload_left(&p), 0);
    assert_null(qp_payload_take(&p, 1, 1, "later").bytes);
    qp_payload_reserved(&p, 100);
    qp_payload_end(&p);
    assert_int_equal(qp_payload_check(&p, &error), QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.offset, 0);
    assert_string_equal(error.message, "the side is 5, outside 1 to 4");
}

static void test_counts_against_what_is_left(void **unused)
{
    (void)unused;
    static const uint8_t bytes[] = {2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7};
    qp_payload p = qp_payload_over(bytes, sizeof bytes);
    assert_int_equal(qp_payload_count(&p, 3, "n"), 2);
    p = qp_payload_over(bytes, sizeof bytes);
    assert_int_equal(qp_payload_count(&p, 4, "n"), 0);
    assert_int_equal(qp_payload_check(&p, NULL), QP_PAYLOAD_MALFORMED);
    p = qp_payload_over(bytes, sizeof bytes);
    assert_null(qp_payload_take(&p, UINT64_MAX, 8, "n").bytes);
    assert_int_equal(qp_payload_check(&p, NULL), QP_PAYLOAD_MALFORMED);
}

static void test_streams_of_odd_lengths(void **unused)
{
    (void)unused;
    static const uint8_t bytes[16] = {0};
    static const uint32_t bad[] = {0, 4, 9, 10, 11, 20, UINT32_MAX, UINT32_MAX - 3};
    for (size_t i = 0; i < TEST_COUNT(bad); i++) {
        qp_payload p = qp_payload_over(bytes, sizeof bytes);
        assert_int_equal(qp_payload_stream_of(&p, bad[i], "s").size, 0);
        assert_int_equal(qp_payload_check(&p, NULL), QP_PAYLOAD_MALFORMED);
    }
}

static void test_tables(void **unused)
{
    (void)unused;
    static const int64_t counts[] = {0, 10, 65536};
    qp_rans_cdf table = {{counts, 3}, -7};
    qp_rans_modes modes = {0};
    qp_rans_tables *tables;
    qp_buffer b;
    qp_buffer_init(&b, NULL);
    qp_payload_put_table(&b, &table);
    qp_payload p = qp_payload_over(b.bytes, b.size);
    qp_payload_table read = qp_payload_table_read(&p, "the table");
    qp_payload_end(&p);
    assert_int_equal(qp_payload_check(&p, NULL), QP_OK);
    assert_int_equal(read.offset, -7);
    assert_int_equal(qp_payload_tables_make(&read, 1, &modes, NULL, &tables, NULL), QP_OK);
    qp_rans_tables_free(tables);
    b.bytes[8] = 1; /* the first count is not 0 */
    assert_int_equal(qp_payload_tables_make(&read, 1, &modes, NULL, &tables, NULL),
                     QP_MODEL_MISMATCH);
    assert_null(tables);
    qp_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_in_order),
        cmocka_unit_test(test_the_first_fault_stays),
        cmocka_unit_test(test_counts_against_what_is_left),
        cmocka_unit_test(test_streams_of_odd_lengths),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
