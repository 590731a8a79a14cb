/* SPDX-License-Identifier: Apache-2.0 */
/* test_container.c - QPF1: round trips, and a refusal with its place for every field. */
#include "codec/codec.h"

#include "codec.h"

static const char digest[] = "00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef";

static void test_round_trip(void **unused)
{
    (void)unused;
    const qp_encoded payloads[3] = {
        {(uint8_t *)"first", 5}, {(uint8_t *)"", 0}, {(uint8_t *)"third!", 6}};
    qp_encoded file;
    qp_container read;
    assert_int_equal(
        qp_container_write("wai.neural.int_hyper", digest, payloads, 3, NULL, &file, NULL), QP_OK);
    assert_int_equal(qp_container_read(file.bytes, file.size, &read, NULL), QP_OK);
    assert_string_equal(read.capability, "wai.neural.int_hyper");
    assert_string_equal(read.set_sha256, digest);
    assert_int_equal(read.count, 3);
    size_t at = 0;
    qp_unit unit;
    for (size_t i = 0; i < 3; i++) {
        assert_true(qp_container_next(&read, &at, &unit));
        assert_int_equal(unit.size, payloads[i].size);
        assert_memory_equal(unit.bytes, payloads[i].bytes, unit.size);
    }
    assert_false(qp_container_next(&read, &at, &unit));
    qp_encoded_free(NULL, &file);
}

static void expect(test_bytes bytes, int64_t offset)
{
    qp_container read = {.count = 77};
    qp_error error;
    assert_int_equal(qp_container_read(bytes.at, bytes.size, &read, &error), QP_PAYLOAD_MALFORMED);
    assert_int_equal(error.offset, offset);
    assert_int_equal(read.count, 77); /* unchanged */
    free(bytes.at);
}

static test_bytes changed(const qp_encoded *file, size_t at, uint8_t value)
{
    test_bytes copy = test_copy(file->bytes, file->size);
    copy.at[at] = value;
    return copy;
}

static void test_refusals(void **unused)
{
    (void)unused;
    const qp_encoded payload = {(uint8_t *)"body", 4};
    qp_encoded file;
    enum { NAME = 9, DIGEST = 9 + 5, LENGTH = DIGEST + 32 };
    assert_int_equal(qp_container_write("a.b.c", NULL, &payload, 1, NULL, &file, NULL), QP_OK);
    assert_int_equal(file.size, LENGTH + 4 + 4);
    expect(changed(&file, 0, 'q'), 0);
    expect(changed(&file, 4, 0), 4);
    expect(changed(&file, 7, 9), 7);
    expect(changed(&file, 8, 0), 8);
    expect(changed(&file, NAME + 1, ' '), NAME + 1);
    expect(changed(&file, NAME + 1, 0xC3), NAME + 1);
    expect(changed(&file, LENGTH, 5), LENGTH + 4);
    expect(changed(&file, LENGTH + 3, 0x80), LENGTH + 4);
    for (size_t size = 0; size < file.size; size++) {
        qp_container read;
        test_bytes cut = test_copy(file.bytes, size);
        assert_int_equal(qp_container_read(cut.at, size, &read, NULL), QP_PAYLOAD_MALFORMED);
        free(cut.at);
    }
    qp_encoded_free(NULL, &file);
}

static void test_what_is_not_written(void **unused)
{
    (void)unused;
    const qp_encoded payload = {(uint8_t *)"body", 4};
    char name[300];
    qp_encoded file;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(qp_container_write(name, NULL, &payload, 1, NULL, &file, NULL),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_container_write("", NULL, &payload, 1, NULL, &file, NULL),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_container_write("a", "abc", &payload, 1, NULL, &file, NULL),
                     QP_INVALID_ARGUMENT);
    assert_int_equal(qp_container_write("a", NULL, &payload, 0, NULL, &file, NULL),
                     QP_INVALID_ARGUMENT);
    assert_null(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
