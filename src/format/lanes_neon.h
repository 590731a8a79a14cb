/* SPDX-License-Identifier: Apache-2.0 */
/* lanes_neon.h - 32 codes in two registers of aarch64's NEON. See lanes_plain.h. */
#ifndef QP_FORMAT_LANES_NEON_H
#define QP_FORMAT_LANES_NEON_H

#include "format/kernels.h"
#include "number/minifloat.h"

#include <arm_neon.h>
#include <string.h>

#define QP_LANES __attribute__((always_inline)) static inline
#define QP_RUN static
#define QP_ISA_NAME "neon"
#define QP_ISA_CPU QP_CPU_NEON
#define QP_ISA_TABLE qp_kernels_neon

typedef uint8x16x2_t lanes;

QP_LANES lanes lanes_of(uint8x16_t low, uint8x16_t high)
{
    lanes a = {{low, high}};
    return a;
}

QP_LANES float half(const uint8_t *p)
{
    float16x4_t word = vreinterpret_f16_u16(vdup_n_u16(qp_load_u16(p)));
    return vgetq_lane_f32(vcvt_f32_f16(word), 0);
}

QP_LANES lanes lanes_load(const uint8_t *p)
{
    return lanes_of(vld1q_u8(p), vld1q_u8(p + 16));
}

QP_LANES lanes lanes_fill(int byte)
{
    uint8x16_t a = vdupq_n_u8((uint8_t)(byte & 255));
    return lanes_of(a, a);
}

QP_LANES lanes lanes_and(lanes a, lanes b)
{
    return lanes_of(vandq_u8(a.val[0], b.val[0]), vandq_u8(a.val[1], b.val[1]));
}

QP_LANES lanes lanes_or(lanes a, lanes b)
{
    return lanes_of(vorrq_u8(a.val[0], b.val[0]), vorrq_u8(a.val[1], b.val[1]));
}

QP_LANES lanes lanes_xor(lanes a, lanes b)
{
    return lanes_of(veorq_u8(a.val[0], b.val[0]), veorq_u8(a.val[1], b.val[1]));
}

QP_LANES lanes lanes_add(lanes a, lanes b)
{
    return lanes_of(vaddq_u8(a.val[0], b.val[0]), vaddq_u8(a.val[1], b.val[1]));
}

QP_LANES lanes lanes_subtract(lanes a, lanes b)
{
    return lanes_of(vsubq_u8(a.val[0], b.val[0]), vsubq_u8(a.val[1], b.val[1]));
}

QP_LANES lanes lanes_field(lanes a, int from, int to, int bits)
{
    int8x16_t shift = vdupq_n_s8((int8_t)(to - from));
    lanes moved = lanes_of(vshlq_u8(a.val[0], shift), vshlq_u8(a.val[1], shift));
    return lanes_and(moved, lanes_fill(((1 << bits) - 1) << to));
}

QP_LANES lanes lanes_halves(const uint8_t *p)
{
    uint8x16_t a = vld1q_u8(p);
    return lanes_of(vandq_u8(a, vdupq_n_u8(15)), vshrq_n_u8(a, 4));
}

QP_LANES lanes lanes_pairs(const uint8_t *p)
{
    lanes a = lanes_halves(p);
    return vzipq_u8(a.val[0], a.val[1]);
}

QP_LANES lanes lanes_quarters(const uint8_t *p)
{
    static const int8_t shifts[16] = {0, -2, -4, -6, 0, -2, -4, -6, 0, -2, -4, -6, 0, -2, -4, -6};
    uint8x8_t a = vld1_u8(p);
    uint8x8x2_t twice = vzip_u8(a, a);
    lanes spread = lanes_of(vcombine_u8(vzip_u8(twice.val[0], twice.val[0]).val[0],
                                        vzip_u8(twice.val[0], twice.val[0]).val[1]),
                            vcombine_u8(vzip_u8(twice.val[1], twice.val[1]).val[0],
                                        vzip_u8(twice.val[1], twice.val[1]).val[1]));
    int8x16_t shift = vld1q_s8(shifts);
    spread = lanes_of(vshlq_u8(spread.val[0], shift), vshlq_u8(spread.val[1], shift));
    return lanes_and(spread, lanes_fill(3));
}

QP_LANES lanes lanes_mask(uint32_t bits)
{
    uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t low =
        vcombine_u8(vdup_n_u8((uint8_t)(bits & 255)), vdup_n_u8((uint8_t)(bits >> 8 & 255)));
    uint8x16_t high =
        vcombine_u8(vdup_n_u8((uint8_t)(bits >> 16 & 255)), vdup_n_u8((uint8_t)(bits >> 24)));
    return lanes_of(vtstq_u8(low, bit), vtstq_u8(high, bit));
}

QP_LANES lanes lanes_lookup(const int8_t table[16], lanes codes)
{
    uint8x16_t entries = vreinterpretq_u8_s8(vld1q_s8(table));
    return lanes_of(vqtbl1q_u8(entries, codes.val[0]), vqtbl1q_u8(entries, codes.val[1]));
}

QP_LANES lanes lanes_join_4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    return lanes_of(vcombine_u8(vld1_u8(a), vld1_u8(b)), vcombine_u8(vld1_u8(c), vld1_u8(d)));
}

QP_LANES lanes lanes_join_8(const uint8_t *const entries[8])
{
    uint8_t all[32];
    for (int i = 0; i < 8; i++)
        memcpy(all + 4 * i, entries[i], 4);
    return lanes_load(all);
}

QP_LANES void put_8(float *out, int8x8_t codes, float scale)
{
    int16x8_t words = vmovl_s8(codes);
    float32x4_t low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
    float32x4_t high = vcvtq_f32_s32(vmovl_high_s16(words));
    vst1q_f32(out, vmulq_n_f32(low, scale));
    vst1q_f32(out + 4, vmulq_n_f32(high, scale));
}

QP_LANES void put_16(float *out, uint8x16_t codes, float scale)
{
    int8x16_t numbers = vreinterpretq_s8_u8(codes);
    put_8(out, vget_low_s8(numbers), scale);
    put_8(out + 8, vget_high_s8(numbers), scale);
}

QP_LANES void lanes_put(float *out, lanes codes, float scale)
{
    put_16(out, codes.val[0], scale);
    put_16(out + 16, codes.val[1], scale);
}

QP_LANES void lanes_put_2(float *out, lanes codes, const float scales[2])
{
    put_16(out, codes.val[0], scales[0]);
    put_16(out + 16, codes.val[1], scales[1]);
}

QP_LANES void lanes_put_2_less(float *out, lanes codes, const float scales[2],
                               const float minima[2])
{
    lanes_put_2(out, codes, scales);
    for (int i = 0; i < 32; i += 4)
        vst1q_f32(out + i, vsubq_f32(vld1q_f32(out + i), vdupq_n_f32(minima[i / 16])));
}

QP_LANES void put_bf16(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 4) {
        uint16x4_t narrow = vreinterpret_u16_u8(vld1_u8(words + 2 * i));
        vst1q_f32(out + i, vreinterpretq_f32_u32(vshll_n_u16(narrow, 16)));
    }
}

QP_LANES void put_int32(float *out, const uint8_t *words)
{
    for (int i = 0; i < 32; i += 4)
        vst1q_f32(out + i, vcvtq_f32_s32(vreinterpretq_s32_u8(vld1q_u8(words + 4 * i))));
}

QP_LANES void put_e4m3(float *out, const uint8_t *codes, float scale)
{
    for (int i = 0; i < 32; i += 8) {
        int16x8_t words = vshlq_n_s16(vmovl_s8(vreinterpret_s8_u8(vld1_u8(codes + i))), 7);
        words = vandq_s16(words, vdupq_n_s16(QP_E4M3_AS_HALF));
        float32x4_t low = vcvt_f32_f16(vreinterpret_f16_s16(vget_low_s16(words)));
        float32x4_t high = vcvt_high_f32_f16(vreinterpretq_f16_s16(words));
        vst1q_f32(out + i, vmulq_n_f32(vmulq_n_f32(low, 256.0f), scale));
        vst1q_f32(out + i + 4, vmulq_n_f32(vmulq_n_f32(high, 256.0f), scale));
    }
}

QP_LANES void put_e2m1(float *out, const uint8_t *codes, const float values[8])
{
    uint8x16x2_t table = {
        {vreinterpretq_u8_f32(vld1q_f32(values)), vreinterpretq_u8_f32(vld1q_f32(values + 4))}};
    const uint32x4_t byte = vdupq_n_u32(0x03020100u);
    uint8x8_t pairs = vld1_u8(codes);
    uint8x8x2_t a = vzip_u8(vand_u8(pairs, vdup_n_u8(15)), vshr_n_u8(pairs, 4));
    uint8x16_t all = vcombine_u8(a.val[0], a.val[1]);
    for (int i = 0; i < 16; i += 4) {
        uint32x4_t code = vmovl_u16(vget_low_u16(vmovl_u8(vget_low_u8(all))));
        uint32x4_t index = vmlaq_n_u32(byte, vandq_u32(code, vdupq_n_u32(7)), 0x04040404u);
        uint8x16_t bits = vqtbl2q_u8(table, vreinterpretq_u8_u32(index));
        uint32x4_t sign = vshlq_n_u32(vshrq_n_u32(code, 3), 31);
        vst1q_f32(out + i, vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_u8(bits), sign)));
        all = vextq_u8(all, all, 4);
    }
}

#endif
