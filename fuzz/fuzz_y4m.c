/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_y4m.c - any bytes as a YUV4MPEG2 file: it is refused with a place within it, or gives media
 * of at most three times its bytes, which write a file that reads as the same media and writes
 * itself.
 */
#include "cli/y4m.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static void check_again(const qp_media *media)
{
    qp_buffer first, second;
    qp_media again;
    qp_buffer_init(&first, NULL);
    qp_buffer_init(&second, NULL);
    REQUIRE(qp_y4m_write(&first, media, NULL) == QP_OK);
    REQUIRE(qp_y4m_is(first.bytes, first.size));
    REQUIRE(qp_y4m_read(first.bytes, first.size, &again, NULL) == QP_OK);
    REQUIRE(again.frames == media->frames && again.height == media->height);
    REQUIRE(again.width == media->width && again.channels == media->channels);
    REQUIRE(again.size == media->size && memcmp(again.bytes, media->bytes, media->size) == 0);
    REQUIRE(qp_y4m_write(&second, &again, NULL) == QP_OK);
    REQUIRE(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0);
    qp_media_free(NULL, &again);
    qp_buffer_free(&first);
    qp_buffer_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_error error = {.offset = -1};
    qp_media media;
    qp_status status = qp_y4m_read(data, size, &media, &error);
    if (status != QP_OK) {
        REQUIRE(media.bytes == NULL && error.message[0] != '\0');
        REQUIRE(status == QP_MALFORMED || status == QP_FIELD_RANGE);
        REQUIRE(error.offset >= 0 && (uint64_t)error.offset <= size);
        return 0;
    }
    REQUIRE(qp_y4m_is(data, size) && media.size <= 3 * size);
    REQUIRE(media.size == (size_t)media.frames * media.height * media.width * media.channels);
    check_again(&media);
    qp_media_free(NULL, &media);
    return 0;
}
