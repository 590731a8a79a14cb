/* SPDX-License-Identifier: Apache-2.0 */
/* media.c - what a decode gives: bytes in a form that is the same on every machine. */
#include "codec/codec.h"

enum { SPAN = 512 };

uint64_t qp_media_bytes(const qp_media *media)
{
    uint64_t bytes = media->layout == QP_LAYOUT_AUDIO ? 2 : 1;
    const uint32_t sizes[4] = {media->frames, media->height, media->width, media->channels};
    for (int i = 0; i < 4; i++) {
        bytes *= sizes[i]; /* both below 2^32 */
        if (bytes > UINT32_MAX)
            return 0;
    }
    return bytes;
}

qp_status qp_media_make(const qp_allocator *allocator, qp_media *media, qp_error *error)
{
    uint64_t size = qp_media_bytes(media);
    if (size == 0 || size > SIZE_MAX)
        return qp_fail(error, QP_TOO_LARGE, "the output has no bytes, or 2^32 and more");
    media->bytes = qp_allocate(allocator, (size_t)size, 1);
    if (media->bytes == NULL)
        return qp_fail_memory(error, "the output");
    media->size = (size_t)size;
    return QP_OK;
}

void qp_media_free(const qp_allocator *allocator, qp_media *media)
{
    qp_release(allocator, media->bytes, media->size, 1);
    *media = (qp_media){0};
}

void qp_media_digest(const qp_media *media, char sha256[QP_SHA256_HEX_SIZE])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, media->bytes, media->size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, sha256);
}

void qp_media_put_pixels(qp_media *media, uint32_t frame, const qp_array *array)
{
    int64_t values[SPAN];
    size_t channels = media->channels, row_bytes = channels * media->width;
    uint8_t *frame_bytes = media->bytes + row_bytes * media->height * frame;

    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < media->height; y++) {
            size_t source = (c * array->height + y) * array->width;
            uint8_t *row = frame_bytes + y * row_bytes + c;
            for (size_t x = 0, n; x < media->width; x += n) {
                n = media->width - x < SPAN ? media->width - x : SPAN;
                qp_array_read(array, source + x, n, values);
                for (size_t i = 0; i < n; i++)
                    row[(x + i) * channels] = (uint8_t)values[i];
            }
        }
}
