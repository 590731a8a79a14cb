/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wiv1.c - any bytes as a WIV1 payload (codec_fuzz.h): of `wai.video.int_motion`, and of
 * `wai.video.int_hyper` with a small set. No payload is one of both.
 */
#include "codec_fuzz.h"

#include "support/small_sets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qp_set *set; /* opened once, for every input */
    qp_set_options options = {.capability = "wai.video.int_hyper"};
    qp_unit unit = {.bytes = data, .size = size};
    small_set files;

    if (set == NULL) {
        small_set_hyper(3, &files);
        REQUIRE(qp_set_open(files.members, files.beside, &options, NULL, &set, NULL) == QP_OK);
        small_set_free(&files);
    }
    qp_status motion = fuzz_unit("wai.video.int_motion", NULL, &unit);
    qp_status hyper = fuzz_unit(options.capability, set, &unit);
    REQUIRE(motion == QP_PAYLOAD_MALFORMED || hyper == QP_PAYLOAD_MALFORMED);
    return 0;
}
