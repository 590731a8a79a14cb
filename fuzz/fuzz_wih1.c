/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wih1.c - any bytes as a WIH1 payload, and as the WIY1 payload of a set of its own
 * (codec_fuzz.h). No payload is one of both.
 */
#include "codec_fuzz.h"

#include "support/small_sets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static qp_set *open_once(const char *capability, void (*make)(uint64_t, small_set *))
{
    qp_set *set;
    small_set files;
    qp_set_options options = {.capability = capability};
    make(1, &files);
    REQUIRE(qp_set_open(files.members, files.beside, &options, NULL, &set, NULL) == QP_OK);
    small_set_free(&files);
    return set;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qp_set *hyper_set, *synth_set; /* opened once, for every input */
    qp_unit unit = {.bytes = data, .size = size};

    if (hyper_set == NULL) {
        hyper_set = open_once("wai.neural.int_hyper", small_set_hyper);
        synth_set = open_once("wai.neural.int_synth", small_set_synth);
    }
    qp_status hyper = fuzz_unit("wai.neural.int_hyper", hyper_set, &unit);
    qp_status synth = fuzz_unit("wai.neural.int_synth", synth_set, &unit);
    REQUIRE(synth == QP_OK || synth == QP_PAYLOAD_MALFORMED || synth == QP_TOO_LARGE);
    REQUIRE(hyper == QP_PAYLOAD_MALFORMED || synth == QP_PAYLOAD_MALFORMED);
    return 0;
}
