/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rans_streams.c - streams that CompressAI's coder wrote decode to its symbols, end
 * canonically, and are what our encoder writes of these symbols, byte for byte.
 */
#include "base/json.h"
#include "quipu/quipu.h"
#include "support/test.h"

#define DATA QP_TEST_DATA "/rans/"

enum { TABLES_MAX = 64, ENTRIES_MAX = 512, COUNT_MAX = 65536 * 2 };

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct text {
    qp_file file;
    qp_json json;
} text;

static qp_json_value open_text(text *t, const char *path)
{
    assert_int_equal(qp_file_open(path, NULL, &t->file, NULL), QP_OK);
    qp_json_init(&t->json, NULL);
    assert_int_equal(qp_json_parse(&t->json, t->file.bytes, t->file.size, NULL), QP_OK);
    return qp_json_root(&t->json);
}

static void close_text(text *t)
{
    qp_json_free(&t->json);
    qp_file_close(&t->file);
}

static qp_json_value member(qp_json_value object, const char *name)
{
    qp_json_value value;
    assert_true(qp_json_find(object, name, &value));
    return value;
}

/* The integers of an array; their count. */
static size_t integers(qp_json_value array, int64_t *values, size_t most)
{
    size_t count = qp_json_count(array);
    assert_true(count <= most);
    assert_int_equal(qp_json_get_i64_array(array, values, count, NULL), QP_OK);
    return count;
}

typedef struct given {
    int64_t entries[TABLES_MAX][ENTRIES_MAX];
    int64_t sizes[TABLES_MAX], offsets[TABLES_MAX];
    qp_rans_cdf cdfs[TABLES_MAX];
    size_t count;
    int64_t wide[COUNT_MAX];
    uint32_t reads[COUNT_MAX];
    int32_t symbols[COUNT_MAX], decoded[COUNT_MAX];
    size_t length;
    qp_stream stream;
} given;

static given g;

static void read_tables(qp_json_value object)
{
    qp_json_iterator each = qp_json_iterate(member(object, "cdfs"));
    qp_json_value cdf;
    size_t count = 0;
    integers(member(object, "sizes"), g.sizes, TABLES_MAX);
    integers(member(object, "offsets"), g.offsets, TABLES_MAX);
    for (; qp_json_next(&each, &cdf); count++) {
        assert_true(count < TABLES_MAX);
        integers(cdf, g.entries[count], ENTRIES_MAX);
        g.cdfs[count].cdf.values = g.entries[count];
        g.cdfs[count].cdf.count = (size_t)g.sizes[count];
        g.cdfs[count].offset = g.offsets[count];
    }
    g.count = count;
}

/* ---- decoding ----------------------------------------------------------------------------- */

static qp_rans_tables *make_tables(qp_rans_modes modes)
{
    qp_rans_tables *tables;
    assert_int_equal(qp_rans_tables_create(g.cdfs, g.count, &modes, NULL, &tables, NULL), QP_OK);
    return tables;
}

/* Under every mode the same symbols: one by one and in a run. */
static void decode_all(const qp_rans_tables *tables)
{
    qp_rans_decoder decoder;
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        memset(g.decoded, 0x55, sizeof g.decoded);
        assert_int_equal(
            qp_rans_decoder_init(&decoder, tables, g.stream.bytes, g.stream.size, NULL), QP_OK);
        for (size_t i = 0; one_by_one && i < g.length; i++)
            assert_int_equal(qp_rans_decode(&decoder, g.reads[i], &g.decoded[i], NULL), QP_OK);
        if (!one_by_one)
            assert_int_equal(qp_rans_decode_run(&decoder, g.reads, g.length, g.decoded, NULL),
                             QP_OK);
        assert_int_equal(qp_rans_finish(&decoder, NULL), QP_OK);
        assert_int_equal(decoder.decoded, g.length);
    }
}

static void check_encoder(const qp_rans_tables *tables, const int32_t *symbols)
{
    qp_stream stream;
    qp_rans_symbols input = {g.reads, symbols, g.length};
    assert_int_equal(qp_rans_encode(tables, &input, NULL, &stream, NULL), QP_OK);
    assert_int_equal(stream.size, g.stream.size);
    assert_memory_equal(stream.bytes, g.stream.bytes, stream.size);
    qp_stream_free(NULL, &stream);
}

static void check_modes(void (*check)(const qp_rans_tables *tables))
{
    for (int mode = 0; mode < 8; mode++) {
        qp_rans_modes modes = {.table = mode & 1 ? QP_RANS_T2 : QP_RANS_T4097,
                               .escape = mode & 2 ? QP_RANS_STRICT : QP_RANS_LENIENT,
                               .end = mode & 4 ? QP_RANS_FINAL_ONLY : QP_RANS_CANONICAL,
                               .lo = -(1 << 20),
                               .hi = 1 << 20};
        qp_rans_tables *tables = make_tables(modes);
        check(tables);
        qp_rans_tables_free(tables);
    }
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void check_vector(const qp_rans_tables *tables)
{
    decode_all(tables);
    assert_memory_equal(g.decoded, g.symbols, g.length * sizeof *g.symbols);
    check_encoder(tables, g.symbols);
}

static void test_vectors(void **state)
{
    text t;
    qp_json_iterator each =
        qp_json_iterate(member(open_text(&t, DATA "compressai.json"), "vectors"));
    qp_json_value vector;
    size_t count = 0;
    static uint8_t bytes[4096];
    (void)state;

    for (; qp_json_next(&each, &vector); count++) {
        const char *hex;
        size_t digits;
        read_tables(vector);
        g.length = integers(member(vector, "indexes"), g.wide, COUNT_MAX);
        for (size_t i = 0; i < g.length; i++)
            g.reads[i] = (uint32_t)g.wide[i];
        assert_int_equal(integers(member(vector, "symbols"), g.wide, COUNT_MAX), g.length);
        for (size_t i = 0; i < g.length; i++)
            g.symbols[i] = (int32_t)g.wide[i];
        assert_true(qp_json_string_view(member(vector, "stream"), &hex, &digits));
        assert_true(digits <= 2 * sizeof bytes);
        for (size_t i = 0; i < digits / 2; i++)
            bytes[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
        g.stream = (qp_stream){bytes, digits / 2};
        check_modes(check_vector);
    }
    assert_int_equal(count, 4);
    close_text(&t);
}

/* ---- six photographs ---------------------------------------------------------------------- */

static char picture_digest[QP_SHA256_HEX_SIZE];

static void check_picture(const qp_rans_tables *tables)
{
    qp_sha256 hash;
    uint8_t bytes[4], digest[QP_SHA256_SIZE];
    char found[QP_SHA256_HEX_SIZE];

    decode_all(tables);
    qp_sha256_init(&hash);
    for (size_t i = 0; i < g.length; i++) {
        for (unsigned k = 0; k < 4; k++)
            bytes[k] = (uint8_t)((uint32_t)g.decoded[i] >> (8 * k));
        qp_sha256_update(&hash, bytes, 4);
    }
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, found);
    assert_string_equal(found, picture_digest);
    check_encoder(tables, g.decoded);
}

/* A channel's table reads all of its symbols: the third way to decode. */
static void check_by_channel(size_t channels)
{
    qp_rans_tables *tables = make_tables((qp_rans_modes){.table = QP_RANS_T4097});
    qp_rans_decoder decoder;
    size_t plane = g.length / channels;
    memcpy(g.symbols, g.decoded, sizeof g.symbols);
    assert_int_equal(qp_rans_decoder_init(&decoder, tables, g.stream.bytes, g.stream.size, NULL),
                     QP_OK);
    for (size_t c = 0; c < channels; c++)
        assert_int_equal(qp_rans_decode_same(&decoder, c, plane, g.decoded + c * plane, NULL),
                         QP_OK);
    assert_int_equal(qp_rans_finish(&decoder, NULL), QP_OK);
    assert_memory_equal(g.decoded, g.symbols, sizeof g.symbols);
    qp_rans_tables_free(tables);
}

static void test_photographs(void **state)
{
    text tables, streams;
    qp_json_value picture;
    size_t count = 0;
    (void)state;

    read_tables(open_text(&tables, DATA "cdfs.json"));
    qp_json_iterator each = qp_json_iterate(open_text(&streams, DATA "streams.json"));
    for (; qp_json_next(&each, &picture); count++) {
        char name[32], path[512];
        int64_t latent[3];
        qp_file file;
        assert_int_equal(qp_json_copy_string(member(picture, "stream"), name, sizeof name, NULL),
                         QP_OK);
        assert_int_equal(qp_json_copy_string(member(picture, "symbols_i32le_sha256"),
                                             picture_digest, sizeof picture_digest, NULL),
                         QP_OK);
        assert_int_equal(integers(member(picture, "latent"), latent, 3), 3);
        snprintf(path, sizeof path, DATA "%s", name);
        assert_int_equal(qp_file_open(path, NULL, &file, NULL), QP_OK);
        g.length = (size_t)(latent[0] * latent[1] * latent[2]);
        for (size_t i = 0; i < g.length; i++)
            g.reads[i] = (uint32_t)(i / (size_t)(latent[1] * latent[2]));
        static uint8_t bytes[65536];
        assert_true(file.size <= sizeof bytes);
        memcpy(bytes, file.bytes, file.size);
        g.stream = (qp_stream){bytes, file.size};
        check_modes(check_picture);
        check_by_channel((size_t)latent[0]);
        qp_file_close(&file);
    }
    assert_int_equal(count, 6);
    close_text(&streams);
    close_text(&tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_photographs)};
    return cmocka_run_group_tests_name("rans_streams", tests, NULL, NULL);
}
