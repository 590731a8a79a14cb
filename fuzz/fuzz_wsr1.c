/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wsr1.c - any bytes as the prior of the exact upscaler: it is refused as a set, or upscales
 * every picture of its channels, to the same bytes by kernels and by reference, the first of two
 * frames as it is alone; and with little memory it says so and leaves nothing.
 *
 * The input: four bytes for the pictures, their channels and number, height, width and seed; then
 * the prior.
 */
#include "codec_fuzz.h"

#include "quipu/upscale.h"
#include "support/small_sets.h"

enum { HEAD = 4, SIDE_MAX = 16, PRIOR_MAX = 1 << 13 };

static qp_media make_pictures(const uint8_t *head)
{
    uint32_t frames = 1 + (head[0] >> 1) % 2, height = 1 + head[1] % SIDE_MAX;
    qp_media pictures =
        small_picture(head[3], frames * height, 1 + head[2] % SIDE_MAX, head[0] % 2 == 0 ? 3 : 1);
    pictures.frames = frames;
    pictures.height = height;
    return pictures;
}

static bool is_upscaled(const qp_media *pictures, const qp_media *result)
{
    return result->layout == QP_LAYOUT_PIXELS && result->frames == pictures->frames &&
           result->height == 2 * pictures->height && result->width == 2 * pictures->width &&
           result->channels == pictures->channels && result->size == 4 * pictures->size;
}

/* Another way to what `result` begins with. */
static void hold(const qp_lowered *prior, const qp_media *pictures,
                 const qp_decode_options *options, const qp_media *result)
{
    qp_media again;
    REQUIRE(qp_upscale(prior, pictures, options, NULL, &again, NULL) == QP_OK);
    REQUIRE(is_upscaled(pictures, &again) && again.size <= result->size);
    REQUIRE(memcmp(again.bytes, result->bytes, again.size) == 0);
    qp_media_free(NULL, &again);
}

static void hold_starved(const qp_lowered *prior, const qp_media *pictures, size_t blocks,
                         const qp_media *result)
{
    failing_allocator memory = failing_allocator_make(blocks);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_decode_options options = {.max_memory = FUZZ_MEMORY};
    qp_media again;
    qp_status status = qp_upscale(prior, pictures, &options, &allocator, &again, NULL);
    REQUIRE(status == QP_OK || status == QP_TOO_LARGE ||
            (memory.has_failed && status == QP_NO_MEMORY));
    REQUIRE((status == QP_OK) == (again.bytes != NULL));
    REQUIRE(memory.high_water <= FUZZ_MEMORY);
    if (status == QP_OK)
        REQUIRE(memcmp(again.bytes, result->bytes, result->size) == 0);
    qp_media_free(&allocator, &again);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

static void upscale(const qp_lowered *prior, qp_media *pictures, size_t blocks)
{
    qp_decode_options reference = {.reference = 1};
    qp_error error = {0};
    qp_media result;
    qp_status status = qp_upscale(prior, pictures, NULL, NULL, &result, &error);
    const qp_graph *graph = qp_lowered_at(prior, 0).graph;
    uint32_t channels = qp_graph_tensor(graph, qp_graph_input(graph, 0).tensor).channels;
    REQUIRE(status == (channels == pictures->channels ? QP_OK : QP_MODEL_MISMATCH));
    if (status != QP_OK) {
        REQUIRE(result.bytes == NULL && error.message[0] != '\0');
        return;
    }
    REQUIRE(is_upscaled(pictures, &result));
    hold(prior, pictures, &reference, &result);
    hold_starved(prior, pictures, blocks, &result);
    pictures->size /= pictures->frames;
    pictures->frames = 1;
    hold(prior, pictures, NULL, &result);
    qp_media_free(NULL, &result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_lower_options options = {0};
    qp_lowered *prior;

    if (size < HEAD || size > HEAD + PRIOR_MAX)
        return 0;
    qp_member member = {"prior.wsr", data + HEAD, size - HEAD};
    qp_status status = qp_lower(&member, 1, &options, NULL, &prior, NULL);
    REQUIRE(status == QP_OK || status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE ||
            status == QP_PAYLOAD_MALFORMED);
    if (status != QP_OK)
        return 0;
    if (strcmp(qp_lowered_lowering(prior), "sr2/1") == 0) {
        qp_media pictures = make_pictures(data);
        size_t bytes = pictures.size;
        upscale(prior, &pictures, 1 + data[3] % 64);
        pictures.size = bytes;
        qp_media_free(NULL, &pictures);
    }
    qp_lowered_free(prior);
    return 0;
}
