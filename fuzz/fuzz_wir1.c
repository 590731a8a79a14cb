/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wir1.c - any bytes as a WIR1 payload (codec_fuzz.h) upon a layer below.
 *
 * The input: four bytes for the layer below, the kind of media, its height or length, its width and
 * its frames or channels; then the payload.
 */
#include "codec_fuzz.h"

#include <stdlib.h>

enum { HEAD = 4, SIDE_MAX = 64, COUNT_MAX = 4 };

static qp_media layer_below(const uint8_t *head, uint32_t kind)
{
    uint32_t height = 1 + head[1] % SIDE_MAX, width = 1 + head[2] % SIDE_MAX;
    uint32_t count = 1 + head[3] % COUNT_MAX;
    qp_media below = {QP_LAYOUT_PIXELS, 1, height, width, 3, 0, NULL, 0};
    if (kind == 1)
        below.frames = count;
    if (kind == 2)
        below = (qp_media){QP_LAYOUT_AUDIO, 1, 1, height * width, count, 0, NULL, 0};
    if (kind == 3)
        below = (qp_media){QP_LAYOUT_PLANES, 1, height, width, count, 0, NULL, 0};
    below.size = (size_t)below.frames * below.height * below.width * below.channels *
                 (kind == 2 ? 2 : 1);
    below.bytes = malloc(below.size);
    REQUIRE(below.bytes != NULL);
    for (size_t i = 0; i < below.size; i++)
        below.bytes[i] = (uint8_t)(i * 37 + i / 7);
    return below;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const capabilities[] = {"wai.image.int_refine", "wai.video.int_refine",
                                               "wai.audio.int_refine", "wai.splat.int_refine"};
    if (size < HEAD)
        return 0;
    uint32_t kind = data[0] % 4;
    qp_media below = layer_below(data, kind);
    qp_unit unit = {data + HEAD, size - HEAD, &below, 1};
    fuzz_unit(capabilities[kind], NULL, &unit);
    free(below.bytes);
    return 0;
}
