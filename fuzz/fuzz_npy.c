/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_npy.c - a .npy file that is read, written again from its elements, reads as the same array;
 * a little-endian one has the same element bytes; and what is written writes itself.
 */
#include "cli/npy.h"

#include <stdlib.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static void check_again(const qp_npy *array, const int64_t *values)
{
    qp_buffer first, second;
    qp_npy again;
    qp_buffer_init(&first, NULL);
    qp_buffer_init(&second, NULL);
    REQUIRE(qp_npy_write(&first, array->type, &array->shape, values, NULL) == QP_OK);
    REQUIRE(qp_npy_read(first.bytes, first.size, &again, NULL) == QP_OK);
    REQUIRE(again.type == array->type && again.count == array->count && !again.big_endian);
    REQUIRE(memcmp(&again.shape, &array->shape, sizeof again.shape) == 0);
    REQUIRE(again.data_offset % 64 == 0);
    size_t size = array->count * qp_npy_type_size(array->type);
    if (!array->big_endian)
        REQUIRE(size == 0 || memcmp(again.data, array->data, size) == 0);

    int64_t *values_again = qp_allocate(NULL, array->count, sizeof *values_again);
    REQUIRE(values_again != NULL);
    REQUIRE(qp_npy_elements(&again, 0, again.count, values_again, NULL) == QP_OK);
    REQUIRE(memcmp(values, values_again, array->count * sizeof *values) == 0);
    REQUIRE(qp_npy_write(&second, again.type, &again.shape, values_again, NULL) == QP_OK);
    REQUIRE(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0);
    free(values_again);
    qp_buffer_free(&first);
    qp_buffer_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_npy array;
    qp_error error;
    qp_status status = qp_npy_read(data, size, &array, &error);
    if (status != QP_OK) {
        REQUIRE(status == QP_MALFORMED || status == QP_TOO_LARGE);
        REQUIRE(error.offset >= 0 && (uint64_t)error.offset <= size);
        return 0;
    }
    REQUIRE(array.data_offset + array.count * qp_npy_type_size(array.type) == size);
    int64_t *values = qp_allocate(NULL, array.count, sizeof *values);
    REQUIRE(values != NULL);
    status = qp_npy_elements(&array, 0, array.count, values, &error);
    if (status == QP_OK)
        check_again(&array, values);
    else
        REQUIRE(status == QP_FIELD_RANGE && error.record >= 0 &&
                (uint64_t)error.record < array.count);
    free(values);
    return 0;
}
