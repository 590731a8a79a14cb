/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wcf1.c - any bytes as WCF1 payloads of one sequence, each behind its length: a frame that is
 * refused leaves the sequence as it was, so that leaving it out changes no other frame.
 */
#include "codec_fuzz.h"

#include "support/small_networks.h"

enum { FRAMES_MAX = 8 };

/* The next frame's payload, or false at the end. */
static bool next_frame(const uint8_t **data, size_t *size, qp_unit *unit)
{
    if (*size < 4)
        return false;
    size_t length = qp_load_u32(*data);
    *data += 4;
    *size -= 4;
    *unit = (qp_unit){.bytes = *data, .size = length < *size ? length : *size};
    *data += unit->size;
    *size -= unit->size;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qp_set *set; /* opened once, for every input */
    qp_set_options asked = {.capability = "wai.video.int_cond.frame"};
    qp_decode_options options = {.max_memory = FUZZ_MEMORY};
    qp_decoder *all, *accepted;
    char first[65], second[65];
    small_set files;
    qp_unit unit;

    if (set == NULL) {
        small_set_cond(8, &files);
        REQUIRE(qp_set_open(files.members, files.count, &asked, NULL, &set, NULL) == QP_OK);
        small_set_free(&files);
    }
    REQUIRE(qp_decoder_create(asked.capability, set, &options, NULL, &all, NULL) == QP_OK);
    REQUIRE(qp_decoder_create(asked.capability, set, &options, NULL, &accepted, NULL) == QP_OK);
    for (int i = 0; i < FRAMES_MAX && next_frame(&data, &size, &unit); i++) {
        fuzz_unit(asked.capability, set, &unit);
        qp_status status = fuzz_decode(all, &unit, NULL, first);
        REQUIRE(status <= QP_PAYLOAD_MALFORMED);
        if (status != QP_OK)
            continue;
        REQUIRE(fuzz_decode(accepted, &unit, NULL, second) == QP_OK);
        REQUIRE(memcmp(first, second, sizeof first) == 0);
    }
    qp_decoder_free(accepted);
    qp_decoder_free(all);
    return 0;
}
