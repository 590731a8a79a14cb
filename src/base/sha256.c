/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.c - SHA-256 by FIPS 180-4: the portable compression function, padding, and the choice of
 * a path.
 */
#include "base/sha256.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const uint32_t qp_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* ---- the functions of section 4.1.2, in their names ---------------------------------------- */

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t ch(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (~x & z);
}

static uint32_t maj(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

static uint32_t big_sigma_0(uint32_t x)
{
    return rotr(x, 2) ^ rotr(x, 13) ^ rotr(x, 22);
}

static uint32_t big_sigma_1(uint32_t x)
{
    return rotr(x, 6) ^ rotr(x, 11) ^ rotr(x, 25);
}

static uint32_t small_sigma_0(uint32_t x)
{
    return rotr(x, 7) ^ rotr(x, 18) ^ x >> 3;
}

static uint32_t small_sigma_1(uint32_t x)
{
    return rotr(x, 17) ^ rotr(x, 19) ^ x >> 10;
}

static uint32_t load_big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static void store_big_endian(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16 & 0xFF);
    p[2] = (uint8_t)(v >> 8 & 0xFF);
    p[3] = (uint8_t)(v & 0xFF);
}

/* Section 6.2.2, step 3. The letters a to h do not move: in round t, modulo 8, the letter of index
 * i is v[(i - t) mod 8], so that eight rounds bring every letter home. */
static inline void round_in_place(uint32_t v[8], unsigned t, uint32_t constant_and_word)
{
    uint32_t a = v[(0 - t) & 7], b = v[(1 - t) & 7], c = v[(2 - t) & 7];
    uint32_t e = v[(4 - t) & 7], f = v[(5 - t) & 7], g = v[(6 - t) & 7];
    uint32_t t1 = v[(7 - t) & 7] + big_sigma_1(e) + ch(e, f, g) + constant_and_word;
    v[(3 - t) & 7] += t1;
    v[(7 - t) & 7] = t1 + big_sigma_0(a) + maj(a, b, c);
}

/* Section 6.2.2, one block. */
static void absorb(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    uint32_t v[8];

    for (unsigned t = 0; t < 16; t++)
        w[t] = load_big_endian(block + 4 * t);
    for (unsigned t = 16; t < 64; t++)
        w[t] = small_sigma_1(w[t - 2]) + w[t - 7] + small_sigma_0(w[t - 15]) + w[t - 16];

    memcpy(v, state, sizeof v);
    for (unsigned t = 0; t < 64; t += 8) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            round_in_place(v, i, qp_sha256_constants[t + i] + w[t + i]);
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
}

static void blocks_portable(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    for (; count > 0; count--, blocks += 64)
        absorb(state, blocks);
}

static bool always(void)
{
    return true;
}

/* ---- the paths ------------------------------------------------------------------------------ */

const qp_sha256_path qp_sha256_paths[QP_SHA256_PATHS] = {
    {"x86", qp_sha256_x86_available, qp_sha256_blocks_x86},
    {"portable", always, blocks_portable},
};

bool qp_sha256_init_path(qp_sha256 *hash, size_t path)
{
    static const uint32_t initial[8] = {
        /* section 5.3.3: the square roots of the first eight primes */
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    if (path >= QP_SHA256_PATHS || !qp_sha256_paths[path].available())
        return false;
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, initial, sizeof initial);
    hash->path = (uint32_t)path;
    return true;
}

void qp_sha256_init(qp_sha256 *hash)
{
    for (size_t path = 0; path < QP_SHA256_PATHS; path++) {
        if (qp_sha256_init_path(hash, path))
            return;
    }
}

/* ---- the message ---------------------------------------------------------------------------- */

void qp_sha256_update(qp_sha256 *hash, const void *bytes, size_t size)
{
    qp_sha256_blocks *absorb_blocks = qp_sha256_paths[hash->path].blocks;
    const uint8_t *p = bytes;
    size_t held = (size_t)(hash->length % 64);

    hash->length += size;
    if (held > 0) {
        size_t take = size < 64 - held ? size : 64 - held;
        if (take > 0)
            memcpy(hash->block + held, p, take);
        if (held + take < 64)
            return;
        absorb_blocks(hash->state, hash->block, 1);
        p += take;
        size -= take;
    }
    if (size >= 64)
        absorb_blocks(hash->state, p, size / 64);
    if (size % 64 > 0)
        memcpy(hash->block, p + size / 64 * 64, size % 64);
}

/* Section 5.1.1: a one bit, zeros, and the length in bits as 64 bits, big-endian. */
void qp_sha256_final(qp_sha256 *hash, uint8_t digest[QP_SHA256_SIZE])
{
    uint8_t padding[72] = {0x80}; /* at most 64 bytes to reach 56 modulo 64, then the length */
    uint64_t bits = hash->length * 8;
    size_t size = 64 - (size_t)((hash->length + 8) % 64);

    store_big_endian(padding + size, (uint32_t)(bits >> 32));
    store_big_endian(padding + size + 4, (uint32_t)(bits & UINT32_MAX));
    qp_sha256_update(hash, padding, size + 8);
    for (size_t i = 0; i < 8; i++)
        store_big_endian(digest + 4 * i, hash->state[i]);
}

void qp_sha256_hex(const uint8_t digest[QP_SHA256_SIZE], char text[QP_SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < QP_SHA256_SIZE; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[QP_SHA256_HEX_SIZE - 1] = '\0';
}
