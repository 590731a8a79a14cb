/* SPDX-License-Identifier: Apache-2.0 */
/* test_int_hyper.c - WIH1: round trips, every refusal and its place, damage, memory. */
#include "codec/codec.h"

#include "codec.h"

#define CAPABILITY "wai.neural.int_hyper"

/* Offsets of the payload's fields. */
enum {
    AT_VERSION = 4,
    AT_HEIGHT = 8,
    AT_MZ = 16,
    AT_M = 22,
    AT_Z_SIZE = 28,
    AT_Y_SIZE = 32,
    AT_Z_STREAM = 36
};

typedef struct fixture {
    small_set files;
    qp_set *set;
    qp_media picture;
    qp_encoded payload;
} fixture;

static fixture make(uint64_t seed, uint32_t height, uint32_t width)
{
    fixture f;
    small_set_hyper(seed, &f.files);
    f.set = test_open(CAPABILITY, &f.files);
    f.picture = small_picture(seed, height, width, 3);
    f.payload = test_encode(CAPABILITY, f.set, &f.files, &f.picture);
    return f;
}

static void drop(fixture *f)
{
    qp_encoded_free(NULL, &f->payload);
    qp_media_free(NULL, &f->picture);
    qp_set_close(f->set);
    small_set_free(&f->files);
}

static void put_le(uint8_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Decodes the payload with `width` bytes at `at` set to `value`, or cut to `size`; asserts the code
 * and, unless `offset` is -1, the place. */
static void expect(const fixture *f, test_bytes bytes, qp_status code, int64_t offset)
{
    char digest[65];
    qp_error error;
    qp_status status = test_decode(CAPABILITY, f->set, bytes.at, bytes.size, digest, &error);
    assert_int_equal(status, code);
    assert_int_equal(error.status, code);
    if (offset >= 0)
        assert_int_equal(error.offset, offset);
    free(bytes.at);
}

static test_bytes changed(const fixture *f, size_t at, uint64_t value, unsigned width)
{
    test_bytes copy = test_copy(f->payload.bytes, f->payload.size);
    put_le(copy.at + at, value, width);
    return copy;
}

/* ---- what works --------------------------------------------------------------------------- */

static void test_round_trip_of_every_size(void **unused)
{
    static const uint32_t sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {7, 9}, {8, 8}, {33, 65}};
    (void)unused;
    for (size_t i = 0; i < TEST_COUNT(sizes); i++) {
        fixture f = make(i, sizes[i][0], sizes[i][1]);
        qp_decoder *decoder;
        qp_media media;
        assert_int_equal(qp_decoder_create(CAPABILITY, f.set, NULL, NULL, &decoder, NULL), QP_OK);
        qp_unit unit = {.bytes = f.payload.bytes, .size = f.payload.size};
        assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
        assert_int_equal(media.height, sizes[i][0]);
        assert_int_equal(media.width, sizes[i][1]);
        assert_int_equal(media.channels, 3);
        assert_int_equal(media.size, (size_t)sizes[i][0] * sizes[i][1] * 3);
        qp_media_free(NULL, &media);
        qp_decoder_free(decoder);
        drop(&f);
    }
}

static void test_reference_evaluation_gives_the_same_bytes(void **unused)
{
    (void)unused;
    fixture f = make(3, 50, 70);
    char fast[65], plain[65];
    qp_decoder *decoder;
    qp_media media;
    qp_decode_options options = {.reference = 1};
    assert_int_equal(test_decode(CAPABILITY, f.set, f.payload.bytes, f.payload.size, fast, NULL),
                     QP_OK);
    assert_int_equal(qp_decoder_create(CAPABILITY, f.set, &options, NULL, &decoder, NULL), QP_OK);
    qp_unit unit = {.bytes = f.payload.bytes, .size = f.payload.size};
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    qp_media_digest(&media, plain);
    assert_string_equal(fast, plain);
    qp_media_free(NULL, &media);
    qp_decoder_free(decoder);
    drop(&f);
}

static void test_a_decoder_decodes_again_and_after_a_refusal(void **unused)
{
    (void)unused;
    fixture f = make(4, 30, 20);
    char digest[65], again[65];
    qp_decoder *decoder;
    qp_media media;
    assert_int_equal(test_decode(CAPABILITY, f.set, f.payload.bytes, f.payload.size, digest, NULL),
                     QP_OK);
    assert_int_equal(qp_decoder_create(CAPABILITY, f.set, NULL, NULL, &decoder, NULL), QP_OK);
    for (int i = 0; i < 3; i++) {
        qp_unit cut = {.bytes = f.payload.bytes, .size = f.payload.size - 4};
        qp_unit whole = {.bytes = f.payload.bytes, .size = f.payload.size};
        assert_int_equal(qp_decoder_decode(decoder, &cut, &media, NULL), QP_PAYLOAD_MALFORMED);
        assert_int_equal(qp_decoder_decode(decoder, &whole, &media, NULL), QP_OK);
        qp_media_digest(&media, again);
        assert_string_equal(digest, again);
        qp_media_free(NULL, &media);
    }
    qp_decoder_free(decoder);
    drop(&f);
}

static void test_grey_is_encoded_as_three_equal_channels(void **unused)
{
    (void)unused;
    fixture f = make(5, 24, 24);
    qp_media grey = small_picture(9, 24, 24, 1);
    qp_media colour = small_picture(9, 24, 24, 3);
    for (size_t i = 0; i < colour.size; i++)
        colour.bytes[i] = grey.bytes[i / 3];
    qp_encoded one = test_encode(CAPABILITY, f.set, &f.files, &grey);
    qp_encoded three = test_encode(CAPABILITY, f.set, &f.files, &colour);
    assert_int_equal(one.size, three.size);
    assert_memory_equal(one.bytes, three.bytes, one.size);
    qp_encoded_free(NULL, &three);
    qp_encoded_free(NULL, &one);
    qp_media_free(NULL, &colour);
    qp_media_free(NULL, &grey);
    drop(&f);
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void test_framing(void **unused)
{
    (void)unused;
    fixture f = make(6, 40, 40);
    expect(&f, changed(&f, 0, 'X', 1), QP_PAYLOAD_MALFORMED, 0);
    expect(&f, changed(&f, AT_VERSION, 2, 1), QP_PAYLOAD_MALFORMED, AT_VERSION);
    for (size_t i = 1; i <= 3; i++)
        expect(&f, changed(&f, AT_VERSION + i, 1, 1), QP_PAYLOAD_MALFORMED,
               (int64_t)(AT_VERSION + i));
    expect(&f, changed(&f, AT_HEIGHT, 0, 4), QP_PAYLOAD_MALFORMED, AT_HEIGHT);
    expect(&f, changed(&f, AT_HEIGHT, 65537, 4), QP_PAYLOAD_MALFORMED, AT_HEIGHT);
    expect(&f, changed(&f, AT_HEIGHT + 4, 0, 4), QP_PAYLOAD_MALFORMED, AT_HEIGHT + 4);
    expect(&f, changed(&f, AT_Z_SIZE, 4, 4), QP_PAYLOAD_MALFORMED, AT_Z_STREAM);
    expect(&f, changed(&f, AT_Z_SIZE, 0xFFFFFFFC, 4), QP_PAYLOAD_MALFORMED, AT_Z_STREAM);
    expect(&f, changed(&f, AT_Y_SIZE, 10, 4), QP_PAYLOAD_MALFORMED, -1);
    test_bytes longer = {malloc(f.payload.size + 1), f.payload.size + 1};
    memcpy(longer.at, f.payload.bytes, f.payload.size);
    longer.at[f.payload.size] = 0;
    expect(&f, longer, QP_PAYLOAD_MALFORMED, (int64_t)f.payload.size);
    drop(&f);
}

static void test_sizes_that_do_not_fit_the_set(void **unused)
{
    (void)unused;
    fixture f = make(7, 40, 40);
    expect(&f, changed(&f, AT_MZ, 3, 2), QP_MODEL_MISMATCH, -1);        /* h_s reads 2 channels */
    expect(&f, changed(&f, AT_MZ + 2, 0, 2), QP_MODEL_MISMATCH, -1);    /* an empty hyper-latent */
    expect(&f, changed(&f, AT_MZ + 2, 4, 2), QP_GEOMETRY_MISMATCH, -1); /* h_s gives another size */
    expect(&f, changed(&f, AT_M, 3, 2), QP_GEOMETRY_MISMATCH, -1);
    expect(&f, changed(&f, AT_M + 4, 11, 2), QP_GEOMETRY_MISMATCH, -1);
    expect(&f, changed(&f, AT_HEIGHT, 41, 4), QP_GEOMETRY_MISMATCH, -1); /* g_s gives 40 rows */
    expect(&f, changed(&f, AT_MZ + 2, 0xFFFFFFFF, 4), QP_TOO_LARGE, -1);
    drop(&f);
}

/* Decodes the fixture's payload through its set with one file replaced. */
static void expect_set(const fixture *f, size_t file, const qp_buffer *bytes, qp_status code)
{
    small_set other = f->files;
    char digest[65];
    other.members[file].bytes = bytes->bytes;
    other.members[file].size = bytes->size;
    qp_set *set = test_open(CAPABILITY, &other);
    assert_int_equal(test_decode(CAPABILITY, set, f->payload.bytes, f->payload.size, digest, NULL),
                     code);
    qp_set_close(set);
}

static void test_sets_whose_parts_do_not_fit(void **unused)
{
    (void)unused;
    fixture f = make(15, 40, 40);
    uint64_t seed = 1;
    qp_buffer bytes;

    qp_buffer_init(&bytes, NULL);
    small_entropy_json(&seed, 3, SMALL_Z + 1, &bytes); /* a z table too many */
    expect_set(&f, 2, &bytes, QP_MODEL_MISMATCH);
    bytes.size = 0;
    /* E2 takes a shift of at most 62 */
    qp_buffer_text(&bytes, "{\"afrac\":63,\"edges\":[1],\"y\":[");
    small_table_json(&seed, 8, -3, &bytes);
    qp_buffer_text(&bytes, "],\"z\":[");
    small_table_json(&seed, 8, -3, &bytes);
    qp_buffer_text(&bytes, ",");
    small_table_json(&seed, 8, -3, &bytes);
    qp_buffer_text(&bytes, "]}");
    expect_set(&f, 2, &bytes, QP_FIELD_RANGE);
    bytes.size = 0;
    small_whm_head(&bytes, 1); /* a g_s of four channels */
    small_whm_layer(&seed, &(small_layer){0, SMALL_Y, 4, 4, 4, 0, 0, 9, 9, 9}, &bytes);
    expect_set(&f, 1, &bytes, QP_MODEL_MISMATCH);
    qp_buffer_free(&bytes);
    drop(&f);
}

/* What does not fit is told before any symbol is decoded. */
static void test_sizes_come_before_streams(void **unused)
{
    (void)unused;
    fixture f = make(16, 40, 40);
    test_bytes both = changed(&f, AT_HEIGHT, 41, 4);
    memset(both.at + AT_Z_STREAM, 0, 8); /* a state that no encoder leaves */
    expect(&f, both, QP_GEOMETRY_MISMATCH, -1);
    test_bytes stream = changed(&f, AT_Z_STREAM, 0, 8);
    expect(&f, stream, QP_STREAM_EXHAUSTED, -1);
    drop(&f);
}

static void test_streams(void **unused)
{
    (void)unused;
    fixture f = make(8, 64, 64);
    size_t z_size = qp_load_u32(f.payload.bytes + AT_Z_SIZE);
    size_t y_size = qp_load_u32(f.payload.bytes + AT_Y_SIZE);
    assert_true(z_size > 8 && y_size > 8);

    /* the y stream without its last word runs out, and with one more has a word left */
    test_bytes cut = changed(&f, AT_Y_SIZE, y_size - 4, 4);
    cut.size -= 4;
    expect(&f, cut, QP_STREAM_EXHAUSTED, -1);
    test_bytes longer = {malloc(f.payload.size + 4), f.payload.size + 4};
    memcpy(longer.at, f.payload.bytes, f.payload.size);
    put_le(longer.at + AT_Y_SIZE, y_size + 4, 4);
    put_le(longer.at + f.payload.size, 0, 4);
    expect(&f, longer, QP_STREAM_NONCANONICAL, -1);
    drop(&f);
}

/* A stream of `count` symbols `symbol` against one of the set's tables in turn. */
static qp_stream stream_of(const qp_rans_tables *tables, size_t plane, size_t count, int32_t symbol)
{
    uint32_t *reads = calloc(count, sizeof *reads);
    int32_t *symbols = calloc(count, sizeof *symbols);
    qp_stream stream;
    for (size_t i = 0; i < count; i++) {
        reads[i] = (uint32_t)(i / plane);
        symbols[i] = symbol;
    }
    qp_rans_symbols coded = {reads, symbols, count};
    assert_int_equal(qp_rans_encode(tables, &coded, NULL, &stream, NULL), QP_OK);
    free(symbols);
    free(reads);
    return stream;
}

/* A symbol of 2e9 is an h_s input of about 2^39, and the multipliers of this h_s admit 2^19. */
static void test_values_out_of_range(void **unused)
{
    (void)unused;
    small_set files;
    qp_buffer wide;
    small_set_hyper(11, &files);
    qp_buffer_init(&wide, NULL);
    uint64_t seed = 1;
    small_whm_head(&wide, 1);
    small_whm_layer(&seed,
                    &(small_layer){0, SMALL_Z, 2 * SMALL_Y, 4, 2, 1, 0, 30000, INT64_C(1) << 40, 0},
                    &wide);
    files.members[0].bytes = wide.bytes;
    files.members[0].size = wide.size;
    qp_set *set = test_open(CAPABILITY, &files);

    qp_buffer payload;
    qp_buffer_init(&payload, NULL);
    qp_stream z = stream_of(set->entropy.z, 1, SMALL_Z, 2000000000);
    qp_buffer_text(&payload, "WIH1");
    qp_buffer_le(&payload, 1, 4);
    qp_buffer_le(&payload, 8, 4);
    qp_buffer_le(&payload, 8, 4);
    const uint16_t sizes[] = {SMALL_Z, 1, 1, SMALL_Y, 2, 2};
    for (size_t i = 0; i < TEST_COUNT(sizes); i++)
        qp_buffer_le(&payload, sizes[i], 2);
    qp_buffer_le(&payload, z.size, 4);
    qp_buffer_le(&payload, 8, 4);
    qp_buffer_append(&payload, z.bytes, z.size);
    qp_buffer_le(&payload, UINT64_C(1) << 31, 8);
    char digest[65];
    qp_error error;
    assert_int_equal(test_decode(CAPABILITY, set, payload.bytes, payload.size, digest, &error),
                     QP_FIELD_RANGE);
    qp_stream_free(NULL, &z);
    qp_buffer_free(&payload);
    qp_set_close(set);
    qp_buffer_free(&wide);
    small_set_free(&files);
}

static void test_pictures_that_are_not_encoded(void **unused)
{
    (void)unused;
    fixture f = make(9, 16, 16);
    qp_encoder *encoder;
    qp_encoded payload;
    const qp_member *beside = f.files.members + f.files.beside;
    assert_int_equal(qp_encoder_create(CAPABILITY, f.set, beside, 1, NULL, NULL, &encoder, NULL),
                     QP_MODEL_MISMATCH); /* h_a.whm is missing */
    assert_null(encoder);
    assert_int_equal(qp_encoder_create(CAPABILITY, f.set, beside, 2, NULL, NULL, &encoder, NULL),
                     QP_OK);
    qp_media two = small_picture(1, 8, 8, 2);
    assert_int_equal(qp_encoder_encode(encoder, &(qp_source){.media = &two}, &payload, NULL),
                     QP_INVALID_ARGUMENT);
    assert_null(payload.bytes);
    two.size--;
    assert_int_equal(qp_encoder_encode(encoder, &(qp_source){.media = &two}, &payload, NULL),
                     QP_INVALID_ARGUMENT);
    two.size++;
    qp_media_free(NULL, &two);
    qp_encoder_free(encoder);
    drop(&f);
}

/* The encoder through networks of one layer each; `z` and `stride` are h_a's. */
static qp_status encode_through(const fixture *f, int64_t mult, uint32_t z, uint32_t stride)
{
    const small_layer layers[] = {{1, 3, SMALL_Y, 4, 4, 0, 0, 60, mult, 0},
                                  {1, SMALL_Y, z, 3, stride, 1, 0, 900, 30, 0}};
    qp_member beside[2];
    qp_buffer files[2];
    qp_encoder *encoder;
    qp_encoded payload;
    uint64_t seed = 1;
    for (size_t i = 0; i < 2; i++) {
        qp_buffer_init(&files[i], NULL);
        small_whm_head(&files[i], 1);
        small_whm_layer(&seed, &layers[i], &files[i]);
        beside[i] = (qp_member){i == 0 ? "g_a.whm" : "h_a.whm", files[i].bytes, files[i].size};
    }
    assert_int_equal(qp_encoder_create(CAPABILITY, f->set, beside, 2, NULL, NULL, &encoder, NULL),
                     QP_OK);
    qp_status status =
        qp_encoder_encode(encoder, &(qp_source){.media = &f->picture}, &payload, NULL);
    assert_int_equal(payload.bytes != NULL, status == QP_OK);
    qp_encoded_free(NULL, &payload);
    qp_encoder_free(encoder);
    for (size_t i = 0; i < 2; i++)
        qp_buffer_free(&files[i]);
    return status;
}

static void test_networks_and_pictures_that_do_not_fit(void **unused)
{
    (void)unused;
    fixture f = make(17, 16, 16);
    assert_int_equal(encode_through(&f, 5000, SMALL_Z, 2), QP_OK);
    assert_int_equal(encode_through(&f, 5000, SMALL_Z + 1, 2), QP_MODEL_MISMATCH); /* z tables */
    assert_int_equal(encode_through(&f, 5000, SMALL_Z, 1), QP_GEOMETRY_MISMATCH);
    assert_int_equal(encode_through(&f, INT64_C(1) << 42, SMALL_Z, 2), QP_FIELD_RANGE);
    qp_media picture = f.picture; /* refused before its bytes are read */
    f.picture.height = f.picture.width = 8192;
    f.picture.size = (size_t)8192 * 8192 * 3;
    assert_int_equal(encode_through(&f, 5000, SMALL_Z, 2), QP_TOO_LARGE);
    f.picture = picture;
    drop(&f);
}

/* ---- damage ------------------------------------------------------------------------------- */

static void test_truncation_at_every_byte(void **unused)
{
    (void)unused;
    fixture f = make(10, 24, 40);
    for (size_t size = 0; size < f.payload.size; size++) {
        test_bytes cut = test_copy(f.payload.bytes, size);
        expect(&f, cut, QP_PAYLOAD_MALFORMED, -1);
    }
    drop(&f);
}

static void test_every_bit_flipped(void **unused)
{
    (void)unused;
    fixture f = make(12, 24, 24);
    char digest[65];
    size_t refused = 0;
    for (size_t bit = 0; bit < 8 * f.payload.size; bit++) {
        qp_error error;
        test_bytes copy = test_copy(f.payload.bytes, f.payload.size);
        copy.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
        qp_status status = test_decode(CAPABILITY, f.set, copy.at, copy.size, digest, &error);
        assert_true(status <= QP_PAYLOAD_MALFORMED); /* a decode, or a refusal of the text */
        refused += status != QP_OK;
        free(copy.at);
    }
    assert_true(refused > 8 * f.payload.size / 2); /* the streams' ends are canonical */
    drop(&f);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_memory_limit(void **unused)
{
    (void)unused;
    fixture f = make(13, 100, 100);
    qp_decoder *decoder;
    qp_media media;
    qp_unit unit = {.bytes = f.payload.bytes, .size = f.payload.size};
    assert_int_equal(qp_decoder_create(CAPABILITY, f.set, NULL, NULL, &decoder, NULL), QP_OK);
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    qp_media_free(NULL, &media);
    qp_decode_options options = {.max_memory = qp_decoder_peak(decoder)};
    qp_decoder_free(decoder);
    assert_int_equal(qp_decoder_create(CAPABILITY, f.set, &options, NULL, &decoder, NULL), QP_OK);
    assert_int_equal(qp_decoder_decode(decoder, &unit, &media, NULL), QP_OK);
    qp_media_free(NULL, &media);
    assert_int_equal(qp_decoder_peak(decoder), options.max_memory);
    qp_decoder_free(decoder);
    for (size_t step = 1; step < 64; step++) {
        qp_error error;
        qp_decode_options less = {.max_memory = options.max_memory * step / 64};
        assert_int_equal(qp_decoder_create(CAPABILITY, f.set, &less, NULL, &decoder, NULL), QP_OK);
        assert_int_equal(qp_decoder_decode(decoder, &unit, &media, &error), QP_TOO_LARGE);
        assert_true(qp_decoder_peak(decoder) <= less.max_memory);
        qp_decoder_free(decoder);
    }
    drop(&f);
}

/* One whole way, with every object from `allocator`. */
static qp_status whole_way(const small_set *files, const qp_media *picture,
                           const qp_allocator *allocator)
{
    qp_set *set = NULL;
    qp_encoder *encoder = NULL;
    qp_decoder *decoder = NULL;
    qp_encoded payload = {0};
    qp_media media = {0};
    qp_set_options options = {.capability = CAPABILITY};

    qp_status status = qp_set_open(files->members, files->beside, &options, allocator, &set, NULL);
    if (status == QP_OK)
        status = qp_encoder_create(CAPABILITY, set, files->members + files->beside,
                                   files->count - files->beside, NULL, allocator, &encoder, NULL);
    if (status == QP_OK)
        status = qp_encoder_encode(encoder, &(qp_source){.media = picture}, &payload, NULL);
    if (status == QP_OK)
        status = qp_decoder_create(CAPABILITY, set, NULL, allocator, &decoder, NULL);
    if (status == QP_OK)
        status = qp_decoder_decode(
            decoder, &(qp_unit){.bytes = payload.bytes, .size = payload.size}, &media, NULL);
    qp_media_free(allocator, &media);
    qp_decoder_free(decoder);
    qp_encoded_free(allocator, &payload);
    qp_encoder_free(encoder);
    qp_set_close(set);
    return status;
}

static void test_every_allocation_fails_once(void **unused)
{
    (void)unused;
    small_set files;
    small_set_hyper(14, &files);
    qp_media picture = small_picture(14, 16, 16, 3);
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_status status = whole_way(&files, &picture, &allocator);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        if (!memory.has_failed) {
            assert_int_equal(status, QP_OK);
            break;
        }
        assert_int_equal(status, QP_NO_MEMORY);
    }
    qp_media_free(NULL, &picture);
    small_set_free(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_every_size),
        cmocka_unit_test(test_reference_evaluation_gives_the_same_bytes),
        cmocka_unit_test(test_a_decoder_decodes_again_and_after_a_refusal),
        cmocka_unit_test(test_grey_is_encoded_as_three_equal_channels),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_sizes_that_do_not_fit_the_set),
        cmocka_unit_test(test_sets_whose_parts_do_not_fit),
        cmocka_unit_test(test_sizes_come_before_streams),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_pictures_that_are_not_encoded),
        cmocka_unit_test(test_networks_and_pictures_that_do_not_fit),
        cmocka_unit_test(test_truncation_at_every_byte),
        cmocka_unit_test(test_every_bit_flipped),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
