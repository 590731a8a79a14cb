/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic.h - pictures, clips and signals that tests make for codecs: a texture that moves, with
 * a little noise, the same on every machine. And what tests do with payloads.
 */
#ifndef QP_TEST_CODEC_SYNTHETIC_H
#define QP_TEST_CODEC_SYNTHETIC_H

#include "base/base.h"
#include "quipu/codec.h"
#include "support/test.h"

/* Media with room for their bytes; the sizes are set. Freed by qp_media_free(NULL, ...). */
static inline void synthetic_room(qp_media *media)
{
    media->size = (size_t)media->frames * media->height * media->width * media->channels *
                  (media->layout == QP_LAYOUT_AUDIO ? 2 : 1);
    media->bytes = qp_allocate(NULL, media->size, 1);
    assert_non_null(media->bytes);
}

/* A triangle wave of period 64 and height 32. */
static inline int32_t synthetic_wave(int32_t t)
{
    int32_t place = t & 63;
    return place < 32 ? place : 64 - place;
}

static inline uint8_t synthetic_sample(int32_t y, int32_t x, int32_t c)
{
    return (uint8_t)(40 + 3 * synthetic_wave(2 * x + y) + 2 * synthetic_wave(3 * y - x + 9 * c));
}

/* Pixels whose texture moves by (1, 2) pels a frame, with noise of -1..1. */
static inline qp_media synthetic_clip(uint32_t frames, uint32_t height, uint32_t width,
                                      uint64_t seed)
{
    qp_media media = {.layout = QP_LAYOUT_PIXELS,
                      .frames = frames,
                      .height = height,
                      .width = width,
                      .channels = 3};
    synthetic_room(&media);
    uint8_t *out = media.bytes;
    for (uint32_t f = 0; f < frames; f++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                for (uint32_t c = 0; c < 3; c++)
                    *out++ = (uint8_t)(synthetic_sample((int32_t)(y + f), (int32_t)(x + 2 * f),
                                                        (int32_t)c) +
                                       (int32_t)test_below(&seed, 3) - 1);
    return media;
}

/* Audio of `length` samples: two waves and noise. */
static inline qp_media synthetic_signal(uint32_t length, uint32_t channels, uint64_t seed)
{
    qp_media media = {
        .layout = QP_LAYOUT_AUDIO, .frames = 1, .height = 1, .width = length, .channels = channels};
    synthetic_room(&media);
    for (uint32_t i = 0; i < length; i++)
        for (uint32_t c = 0; c < channels; c++) {
            int32_t t = (int32_t)(i * (c + 1));
            int32_t v = 300 * (synthetic_wave(t) - 16) + 90 * (synthetic_wave(5 * t) - 16) +
                        (int32_t)test_below(&seed, 40) - 20;
            size_t at = 2 * ((size_t)i * channels + c);
            media.bytes[at] = (uint8_t)((uint32_t)v & 0xFF);
            media.bytes[at + 1] = (uint8_t)((uint32_t)v >> 8 & 0xFF);
        }
    return media;
}

static inline void assert_same_media(const qp_media *a, const qp_media *b)
{
    assert_int_equal(a->layout, b->layout);
    assert_int_equal(a->frames, b->frames);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->bytes, b->bytes, a->size);
}

/* The largest difference of any byte. */
static inline int32_t largest_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    int32_t most = 0;
    for (size_t i = 0; i < size; i++) {
        int32_t difference = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        most = difference > most ? difference : most;
    }
    return most;
}

/* Encodes with an encoder of its own. */
static inline qp_encoded encode_media(const char *capability, const qp_encode_options *options,
                                      const qp_source *source)
{
    qp_encoder *encoder;
    qp_encoded payload;
    assert_int_equal(qp_encoder_create(capability, NULL, NULL, 0, options, NULL, &encoder, NULL),
                     QP_OK);
    assert_int_equal(qp_encoder_encode(encoder, source, &payload, NULL), QP_OK);
    qp_encoder_free(encoder);
    return payload;
}

/* Decodes with a decoder of its own, from a block of the payload's own size. */
static inline qp_status decode_bytes(const char *capability, const qp_decode_options *options,
                                     const qp_unit *unit, qp_media *media, qp_error *error)
{
    qp_decoder *decoder;
    uint8_t *exact = malloc(unit->size > 0 ? unit->size : 1);
    assert_non_null(exact);
    if (unit->size > 0)
        memcpy(exact, unit->bytes, unit->size);
    qp_unit copy = *unit;
    copy.bytes = exact;
    assert_int_equal(qp_decoder_create(capability, NULL, options, NULL, &decoder, NULL), QP_OK);
    qp_status status = qp_decoder_decode(decoder, &copy, media, error);
    assert_true((media->bytes != NULL) == (status == QP_OK));
    qp_decoder_free(decoder);
    free(exact);
    return status;
}

static inline void put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> 8 * i & 0xFF);
}

#endif
