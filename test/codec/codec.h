/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - what the tests of drivers share: sets opened, payloads made, refusals counted. */
#ifndef QP_TEST_CODEC_CODEC_H
#define QP_TEST_CODEC_CODEC_H

#include "support/small_sets.h"
#include "support/test.h"

#include "failing_allocator.h"

/* A payload or a file that a test may change. */
typedef struct test_bytes {
    uint8_t *at;
    size_t size;
} test_bytes;

static inline test_bytes test_copy(const void *bytes, size_t size)
{
    test_bytes copy = {malloc(size == 0 ? 1 : size), size};
    assert_non_null(copy.at);
    if (size > 0)
        memcpy(copy.at, bytes, size);
    return copy;
}

static inline qp_set *test_open(const char *capability, const small_set *files)
{
    qp_set *set;
    qp_error error;
    qp_set_options options = {.capability = capability};
    qp_status status = qp_set_open(files->members, files->beside, &options, NULL, &set, &error);
    if (status != QP_OK)
        fail_msg("%s", error.message);
    return set;
}

/* The payload of some media. Ownership: qp_encoded_free with NULL. */
static inline qp_encoded test_encode(const char *capability, const qp_set *set,
                                     const small_set *files, const qp_media *media)
{
    qp_encoder *encoder;
    qp_encoded payload = {0};
    qp_error error;
    const qp_member *beside = files == NULL ? NULL : files->members + files->beside;
    size_t n_beside = files == NULL ? 0 : files->count - files->beside;
    qp_status status =
        qp_encoder_create(capability, set, beside, n_beside, NULL, NULL, &encoder, &error);
    if (status == QP_OK)
        status = qp_encoder_encode(encoder, &(qp_source){.media = media}, &payload, &error);
    if (status != QP_OK)
        fail_msg("%s", error.message);
    qp_encoder_free(encoder);
    return payload;
}

/* Decodes into *digest; what it gives on a refusal is the code, with *error. */
static inline qp_status test_decode(const char *capability, const qp_set *set, const void *bytes,
                                    size_t size, char digest[65], qp_error *error)
{
    qp_decoder *decoder;
    qp_media media;
    assert_int_equal(qp_decoder_create(capability, set, NULL, NULL, &decoder, error), QP_OK);
    qp_status status =
        qp_decoder_decode(decoder, &(qp_unit){.bytes = bytes, .size = size}, &media, error);
    if (status == QP_OK)
        qp_media_digest(&media, digest);
    else
        assert_null(media.bytes);
    qp_media_free(NULL, &media);
    qp_decoder_free(decoder);
    return status;
}

#endif
