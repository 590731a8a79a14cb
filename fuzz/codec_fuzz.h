/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_fuzz.h - what the targets of payloads have in common: any bytes are decoded, or refused
 * with one of the text's codes, to the same end each time and within the memory that is allowed;
 * and without memory they are refused and nothing is left.
 */
#ifndef QP_FUZZ_CODEC_FUZZ_H
#define QP_FUZZ_CODEC_FUZZ_H

#include "quipu/codec.h"

#include "../test/failing_allocator.h"

#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

enum { FUZZ_MEMORY = 1 << 24 };

static inline qp_status fuzz_decode(qp_decoder *decoder, const qp_unit *unit,
                                    const qp_allocator *allocator, char sha256[65])
{
    qp_error error = {0};
    qp_media media;
    qp_status status = qp_decoder_decode(decoder, unit, &media, &error);
    REQUIRE((status == QP_OK) == (media.bytes != NULL));
    REQUIRE(status == QP_OK || (error.status == status && error.message[0] != '\0'));
    REQUIRE(qp_decoder_peak(decoder) <= FUZZ_MEMORY);
    memset(sha256, 0, 65);
    if (status == QP_OK)
        qp_media_digest(&media, sha256);
    qp_media_free(allocator, &media);
    return status;
}

/* One payload, on a decoder of its own: twice, then with little memory. `set` may be NULL. */
static inline qp_status fuzz_unit(const char *capability, const qp_set *set, const qp_unit *unit)
{
    qp_decode_options options = {.max_memory = FUZZ_MEMORY};
    char first[65], second[65];
    qp_decoder *decoder;

    REQUIRE(qp_decoder_create(capability, set, &options, NULL, &decoder, NULL) == QP_OK);
    qp_status status = fuzz_decode(decoder, unit, NULL, first);
    REQUIRE(status <= QP_PAYLOAD_MALFORMED);
    qp_decoder_reset(decoder);
    REQUIRE(fuzz_decode(decoder, unit, NULL, second) == status);
    REQUIRE(memcmp(first, second, sizeof first) == 0);
    qp_decoder_free(decoder);

    failing_allocator memory = failing_allocator_make(2 + unit->size % 64);
    qp_allocator allocator = failing_allocator_use(&memory);
    REQUIRE(qp_decoder_create(capability, set, &options, &allocator, &decoder, NULL) == QP_OK);
    qp_status starved = fuzz_decode(decoder, unit, &allocator, second);
    REQUIRE(starved == status || (memory.has_failed && starved == QP_NO_MEMORY));
    qp_decoder_free(decoder);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
    return status;
}

#endif
