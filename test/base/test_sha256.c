/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sha256.c - SHA-256 against NIST's examples, on every path this machine has.
 */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define LONGEST 576 /* nine blocks */
#define PERIOD 251  /* a prime, so that no block of the pattern equals another */

/* The digest in hexadecimal by one path; false when this machine does not have it. */
static bool digest_by(size_t path, const void *bytes, size_t size, char text[QP_SHA256_HEX_SIZE])
{
    qp_sha256 hash;
    uint8_t digest[QP_SHA256_SIZE];
    if (!qp_sha256_init_path(&hash, path))
        return false;
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    return true;
}

static void assert_digest(const void *bytes, size_t size, const char *expected)
{
    for (size_t path = 0; path < QP_SHA256_PATHS; path++) {
        char text[QP_SHA256_HEX_SIZE];
        if (digest_by(path, bytes, size, text))
            assert_string_equal(text, expected);
    }
}

/* FIPS 180-2, appendix B, and NIST's "SHA examples"; the empty message is from the CAVP files. */
static void test_nist_examples(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char four_words[] =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
        "lmnopqrsmnopqrstnopqrstu";
    (void)state;
    assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest(two_blocks, 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    assert_digest(four_words, 112,
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

static void test_a_million_letters(void **state)
{
    size_t size = 1000000;
    char *text = malloc(size);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', size);
    assert_digest(text, size, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

/* The digest of the digests of all prefixes of the pattern, 0 to 576 bytes; the expected value is
 * from Python's hashlib. */
static void test_every_length(void **state)
{
    uint8_t pattern[LONGEST];
    (void)state;
    for (size_t i = 0; i < LONGEST; i++)
        pattern[i] = (uint8_t)(i % PERIOD);
    for (size_t path = 0; path < QP_SHA256_PATHS; path++) {
        qp_sha256 all, one;
        uint8_t digest[QP_SHA256_SIZE];
        char text[QP_SHA256_HEX_SIZE];
        if (!qp_sha256_init_path(&all, path))
            continue;
        for (size_t size = 0; size <= LONGEST; size++) {
            assert_true(qp_sha256_init_path(&one, path));
            qp_sha256_update(&one, pattern, size);
            qp_sha256_final(&one, digest);
            qp_sha256_update(&all, digest, sizeof digest);
        }
        qp_sha256_final(&all, digest);
        qp_sha256_hex(digest, text);
        assert_string_equal(text,
                            "b9379f422de8a3cfe81fc3cfdeb80f1adc100a17da196ce1443b16f874813058");
    }
}

/* Any division of a message into two or many updates gives the digest of the whole; the input
 * starts at every alignment. */
static void test_every_division(void **state)
{
    uint8_t pattern[LONGEST + 16];
    (void)state;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i % PERIOD);
    for (size_t path = 0; path < QP_SHA256_PATHS; path++) {
        for (size_t first = 0; first <= 200; first++) {
            const uint8_t *start = pattern + first % 16;
            char whole[QP_SHA256_HEX_SIZE], text[QP_SHA256_HEX_SIZE];
            uint8_t digest[QP_SHA256_SIZE];
            qp_sha256 hash;
            if (!digest_by(path, start, 300, whole))
                break;
            assert_true(qp_sha256_init_path(&hash, path));
            qp_sha256_update(&hash, start, first);
            for (size_t at = first; at < 300; at += 33)
                qp_sha256_update(&hash, start + at, at + 33 < 300 ? 33 : 300 - at);
            qp_sha256_update(&hash, NULL, 0);
            qp_sha256_final(&hash, digest);
            qp_sha256_hex(digest, text);
            assert_string_equal(text, whole);
        }
    }
}

/* The length field counts bits in 64 bits: 2^29 + 1 bytes pass 2^32 bits. The length is set rather
 * than hashed, and both paths must agree, so only the padding is under test; the expected value is
 * FIPS 180-4 by hand: one compression of the block 'a', 80, zeros, 00000001 00000008. */
static void test_length_above_32_bits(void **state)
{
    uint8_t block[64] = {'a', 0x80};
    uint32_t expected[8];
    (void)state;
    block[59] = 1;
    block[63] = 8;
    for (size_t path = 0; path < QP_SHA256_PATHS; path++) {
        qp_sha256 hash;
        uint8_t digest[QP_SHA256_SIZE];
        if (!qp_sha256_init_path(&hash, path))
            continue;
        memcpy(expected, hash.state, sizeof expected);
        qp_sha256_paths[path].blocks(expected, block, 1);
        hash.length = (uint64_t)1 << 29;
        qp_sha256_update(&hash, "a", 1);
        qp_sha256_final(&hash, digest);
        for (unsigned i = 0; i < 8; i++) {
            const uint8_t *p = digest + 4 * i;
            for (unsigned k = 0; k < 4; k++)
                assert_int_equal(p[k], expected[i] >> (24 - 8 * k) & 0xFF);
        }
    }
}

static void test_paths(void **state)
{
    qp_sha256 hash;
    (void)state;
    assert_true(qp_sha256_paths[QP_SHA256_PATHS - 1].available());
    assert_string_equal(qp_sha256_paths[QP_SHA256_PATHS - 1].name, "portable");
    assert_false(qp_sha256_init_path(&hash, QP_SHA256_PATHS));
    qp_sha256_init(&hash); /* takes the first that is there */
    for (size_t path = 0; path < hash.path; path++)
        assert_false(qp_sha256_paths[path].available());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nist_examples),        cmocka_unit_test(test_a_million_letters),
        cmocka_unit_test(test_every_length),         cmocka_unit_test(test_every_division),
        cmocka_unit_test(test_length_above_32_bits), cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
