/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_gguf.c - GGUF files of any bytes. */
#include "artifact_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_artifact("m.gguf", data, size);
    return 0;
}
