/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.c - ranges of bits in payloads (section 1.1: bit k in word k / 64, lane 0 lowest).
 */
#include "fabric/evaluate.h"

static uint64_t low_bits(uint32_t width)
{
    return width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
}

uint64_t qp_fabric_get_bits(const uint64_t *payload, uint64_t first, uint32_t width)
{
    const size_t word = (size_t)(first / 64);
    const unsigned shift = (unsigned)(first % 64);

    if (width == 0)
        return 0;
    uint64_t value = payload[word] >> shift;
    if (shift + width > 64) /* shift is at least 1 then */
        value |= payload[word + 1] << (64 - shift);
    return value & low_bits(width);
}

void qp_fabric_set_bits(uint64_t *payload, uint64_t first, uint32_t width, uint64_t value)
{
    const size_t word = (size_t)(first / 64);
    const unsigned shift = (unsigned)(first % 64);
    const uint64_t mask = low_bits(width);

    if (width == 0)
        return;
    value &= mask;
    payload[word] = (payload[word] & ~(mask << shift)) | value << shift;
    if (shift + width > 64)
        payload[word + 1] = (payload[word + 1] & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

void qp_fabric_copy_bits(uint64_t *to, uint64_t to_first, const uint64_t *from, uint64_t from_first,
                         uint64_t width)
{
    uint64_t done = 0;

    if (to_first % 64 == 0 && from_first % 64 == 0 && width >= 64) {
        const size_t words = (size_t)(width / 64);
        memcpy(to + to_first / 64, from + from_first / 64, words * sizeof *to);
        done = 64 * (uint64_t)words;
    }
    while (done < width) {
        const uint32_t part = width - done < 64 ? (uint32_t)(width - done) : 64;
        qp_fabric_set_bits(to, to_first + done, part,
                           qp_fabric_get_bits(from, from_first + done, part));
        done += part;
    }
}

void qp_fabric_set_ones(uint64_t *payload, uint64_t first, uint64_t width)
{
    for (uint64_t done = 0; done < width; done += 64)
        qp_fabric_set_bits(payload, first + done, width - done < 64 ? (uint32_t)(width - done) : 64,
                           UINT64_MAX);
}
