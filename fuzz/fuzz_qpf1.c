/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_qpf1.c - any bytes as a QPF1 file: refused with a place in it, or read; every payload then
 * lies in the file, and writing what was read gives the same bytes.
 */
#include "quipu/codec.h"

#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_back(const qp_container *container, const uint8_t *data, size_t size)
{
    qp_encoded file;
    qp_encoded *payloads = calloc(container->count, sizeof *payloads);
    REQUIRE(payloads != NULL);
    size_t at = 0;
    qp_unit unit;
    for (size_t i = 0; i < container->count; i++) {
        REQUIRE(qp_container_next(container, &at, &unit));
        const uint8_t *bytes = unit.bytes;
        REQUIRE(bytes >= data && bytes + unit.size <= data + size);
        payloads[i] = (qp_encoded){(uint8_t *)(uintptr_t)bytes, unit.size};
    }
    REQUIRE(!qp_container_next(container, &at, &unit));
    REQUIRE(qp_container_write(container->capability, container->set_sha256, payloads,
                               container->count, NULL, &file, NULL) == QP_OK);
    REQUIRE(file.size == size && memcmp(file.bytes, data, size) == 0);
    qp_encoded_free(NULL, &file);
    free(payloads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_container container;
    qp_error error;
    if (qp_container_read(data, size, &container, &error) == QP_OK)
        write_back(&container, data, size);
    else
        REQUIRE(error.status == QP_PAYLOAD_MALFORMED && error.offset >= 0 &&
                (uint64_t)error.offset <= size);
    return 0;
}
