/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_wic1.c - any bytes as a WIC1 payload of a small set (codec_fuzz.h). */
#include "codec_fuzz.h"

#include "support/small_networks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qp_set *set; /* opened once, for every input */
    qp_set_options options = {.capability = "wai.video.int_cond"};
    qp_unit unit = {.bytes = data, .size = size};
    small_set files;

    if (set == NULL) {
        small_set_cond(8, &files);
        REQUIRE(qp_set_open(files.members, files.count, &options, NULL, &set, NULL) == QP_OK);
        small_set_free(&files);
    }
    fuzz_unit(options.capability, set, &unit);
    return 0;
}
