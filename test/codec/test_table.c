/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - the rows of the drivers: names of the registry, sets, magics. */
#include "codec/codec.h"

#include "codec.h"

static void test_every_row_is_a_capability(void **unused)
{
    (void)unused;
    size_t i = 0;
    for (const qp_driver *driver; (driver = qp_driver_at(i)) != NULL; i++) {
        const qp_capability *capability = qp_capability_find(driver->capability);
        assert_non_null(capability);
        assert_ptr_equal(qp_driver_find(driver->capability), driver); /* so no name stands twice */
        bool in_payload = strcmp(driver->capability, "wai.image.int_cond_refine") == 0;
        assert_int_equal(driver->reads_set, capability->lowering != NULL && !in_payload);
        assert_int_equal(strlen(driver->magic), 4);
        assert_true(driver->start_encoder == NULL || driver->encode != NULL);
    }
    assert_true(i > 0);
    assert_null(qp_driver_find("wai.nobody"));
}

/* Decodes a head of 64 bytes; gives the refusal's offset. */
static int64_t refused_at(const char *capability, const char *magic)
{
    uint8_t bytes[64] = {0};
    char digest[65];
    qp_error error;
    memcpy(bytes, magic, 4);
    bytes[4] = 7; /* a version that nobody knows */
    assert_int_equal(test_decode(capability, NULL, bytes, sizeof bytes, digest, &error),
                     QP_PAYLOAD_MALFORMED);
    return error.offset;
}

static void test_every_driver_knows_its_own_magic(void **unused)
{
    (void)unused;
    const qp_driver *driver;
    for (size_t i = 0; (driver = qp_driver_at(i)) != NULL; i++) {
        if (driver->reads_set)
            continue;
        assert_int_equal(refused_at(driver->capability, driver->magic), 4);
        assert_int_equal(refused_at(driver->capability, "QPF1"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_a_capability),
        cmocka_unit_test(test_every_driver_knows_its_own_magic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
