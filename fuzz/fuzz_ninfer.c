/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ninfer.c - .ninfer entries of any bytes. An input that begins with '{' is the directory of
 * one, in a file whose payload has 9988 bytes, so that mutations need not find the framing.
 */
#include "artifact_fuzz.h"

enum { HEADER = 32, STEP = 4096, PAYLOAD = 9988 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] != '{') {
        fuzz_artifact("m.ninfer", data, size);
        return 0;
    }
    size_t length = (HEADER + size + STEP - 1) / STEP * STEP + PAYLOAD;
    uint8_t *file = calloc(length, 1);
    REQUIRE(file != NULL);
    memcpy(file, "NINFER\0\3", 8);
    for (unsigned i = 0; i < 8; i++)
        file[8 + i] = (uint8_t)((uint64_t)size >> 8 * i & 0xff);
    memcpy(file + HEADER, data, size);
    fuzz_artifact("m.ninfer", file, length);
    free(file);
    return 0;
}
