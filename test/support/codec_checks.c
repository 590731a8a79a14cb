/* SPDX-License-Identifier: Apache-2.0 */
/* codec_checks.c - see codec_checks.h. */
#include "support/codec_checks.h"

#include "failing_allocator.h"

/* ---- decoding ----------------------------------------------------------------------------- */

static qp_status start(const codec_case *c, const qp_allocator *allocator,
                       const qp_decode_options *options, codec_open *open)
{
    qp_set_options asked = {.capability = c->capability};
    qp_status status = QP_OK;
    *open = (codec_open){0};
    if (c->set != NULL)
        status = qp_set_open(c->set->members, c->set->beside, &asked, allocator, &open->set, NULL);
    return status == QP_OK ? qp_decoder_create(c->capability, open->set, options, allocator,
                                               &open->decoder, NULL)
                           : status;
}

codec_open codec_start(const codec_case *c, size_t max_memory)
{
    qp_decode_options options = {.max_memory = max_memory};
    codec_open open;
    assert_int_equal(start(c, NULL, &options, &open), QP_OK);
    return open;
}

void codec_end(codec_open *open)
{
    qp_decoder_free(open->decoder);
    qp_set_close(open->set);
    *open = (codec_open){0};
}

qp_status codec_decode(const codec_case *c, qp_media *media, qp_error *error)
{
    codec_open open = codec_start(c, 0);
    qp_media made;
    qp_status status = qp_decoder_decode(open.decoder, &c->unit, &made, error);
    if (media != NULL)
        *media = made;
    else
        qp_media_free(NULL, &made);
    codec_end(&open);
    return status;
}

void codec_refused(const codec_case *c, qp_status expected)
{
    qp_error error = {0};
    qp_status status = codec_decode(c, NULL, &error);
    assert_string_equal(qp_status_token(status), qp_status_token(expected));
    assert_int_equal(error.status, expected);
    assert_true(error.message[0] != '\0');
}

uint8_t *codec_patch(const codec_case *c, size_t at, uint64_t value, unsigned width)
{
    uint8_t *bytes = malloc(c->unit.size);
    assert_non_null(bytes);
    assert_true(at + width <= c->unit.size);
    memcpy(bytes, c->unit.bytes, c->unit.size);
    for (unsigned i = 0; i < width; i++)
        bytes[at + i] = (uint8_t)(value >> (8 * i) & 0xFF);
    return bytes;
}

void codec_refused_with(const codec_case *c, size_t at, uint64_t value, unsigned width,
                        qp_status expected)
{
    uint8_t *bytes = codec_patch(c, at, value, width);
    codec_case patched = *c;
    patched.unit.bytes = bytes;
    codec_refused(&patched, expected);
    free(bytes);
}

static void digest(const codec_case *c, char sha256[65])
{
    qp_media media;
    qp_error error = {0};
    if (codec_decode(c, &media, &error) != QP_OK)
        fail_msg("%s: %s", qp_status_token(error.status), error.message);
    qp_media_digest(&media, sha256);
    qp_media_free(NULL, &media);
}

void codec_digest(const codec_case *c, const char *sha256)
{
    char found[65];
    digest(c, found);
    assert_string_equal(found, sha256);
}

/* ---- golden payloads ---------------------------------------------------------------------- */

static void write_golden(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void codec_golden(const codec_case *c, const char *path)
{
    char digest_path[520], sha256[65];
    qp_file payload, expected;

    snprintf(digest_path, sizeof digest_path, "%s.sha256", path);
    digest(c, sha256);
    if (getenv("QP_GOLDEN") != NULL) {
        write_golden(path, c->unit.bytes, c->unit.size);
        write_golden(digest_path, sha256, 64);
    }
    assert_int_equal(qp_file_open(path, NULL, &payload, NULL), QP_OK);
    assert_int_equal(qp_file_open(digest_path, NULL, &expected, NULL), QP_OK);
    assert_int_equal(payload.size, c->unit.size);
    assert_memory_equal(payload.bytes, c->unit.bytes, payload.size);
    assert_int_equal(expected.size, 64);
    assert_memory_equal(expected.bytes, sha256, 64);
    qp_file_close(&expected);
    qp_file_close(&payload);
}

/* ---- truncation and flipped bits ---------------------------------------------------------- */

void codec_truncate(const codec_case *c)
{
    codec_open open = codec_start(c, 0);
    for (size_t size = 0; size < c->unit.size; size++) {
        uint8_t *exact = malloc(size + (size == 0)); /* so that reading beyond is seen */
        qp_unit unit = c->unit;
        qp_media media;
        assert_non_null(exact);
        memcpy(exact, c->unit.bytes, size);
        unit.bytes = exact;
        unit.size = size;
        assert_int_equal(qp_decoder_decode(open.decoder, &unit, &media, NULL),
                         QP_PAYLOAD_MALFORMED);
        assert_null(media.bytes);
        free(exact);
    }
    codec_end(&open);
}

enum { FLIPS_MAX = 4000, FLIP_MEMORY = 1 << 23 };

static void flip(const codec_case *c, qp_decoder *decoder, uint8_t *bytes, size_t bit)
{
    qp_unit unit = c->unit;
    qp_media media;
    unit.bytes = bytes;
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    qp_status status = qp_decoder_decode(decoder, &unit, &media, NULL);
    assert_true(status <= QP_PAYLOAD_MALFORMED);
    assert_true((status == QP_OK) == (media.bytes != NULL));
    qp_media_free(NULL, &media);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_true(qp_decoder_peak(decoder) <= FLIP_MEMORY);
}

void codec_flip(const codec_case *c)
{
    codec_open open = codec_start(c, FLIP_MEMORY);
    char before[65], after[65];
    qp_media media;
    uint8_t *bytes = malloc(c->unit.size);
    size_t bits = c->unit.size * 8, step = bits / FLIPS_MAX + 1;

    assert_non_null(bytes);
    memcpy(bytes, c->unit.bytes, c->unit.size);
    digest(c, before);
    for (size_t bit = 0; bit < bits; bit += step)
        flip(c, open.decoder, bytes, bit);
    qp_decoder_reset(open.decoder);
    assert_int_equal(qp_decoder_decode(open.decoder, &c->unit, &media, NULL), QP_OK);
    qp_media_digest(&media, after);
    qp_media_free(NULL, &media);
    assert_string_equal(before, after);
    free(bytes);
    codec_end(&open);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void starve_allocator(const codec_case *c)
{
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        codec_open open;
        qp_media media = {0};
        qp_status status = start(c, &allocator, NULL, &open);
        if (status == QP_OK)
            status = qp_decoder_decode(open.decoder, &c->unit, &media, NULL);
        qp_media_free(&allocator, &media);
        codec_end(&open);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
}

static qp_status decode_within(const codec_case *c, size_t limit, size_t *peak)
{
    codec_open open = codec_start(c, limit);
    qp_media media;
    qp_status status = qp_decoder_decode(open.decoder, &c->unit, &media, NULL);
    qp_media_free(NULL, &media);
    *peak = qp_decoder_peak(open.decoder);
    codec_end(&open);
    return status;
}

void codec_starve(const codec_case *c)
{
    size_t peak, other;
    starve_allocator(c);
    assert_int_equal(decode_within(c, 0, &peak), QP_OK);
    assert_int_equal(decode_within(c, peak, &other), QP_OK);
    for (size_t limit = 1; limit < peak; limit += 1 + peak / 50)
        assert_int_equal(decode_within(c, limit, &other), QP_TOO_LARGE);
    assert_int_equal(decode_within(c, peak - 1, &other), QP_TOO_LARGE);
}

void codec_starve_encoder(codec_encode_fn *encode, void *context)
{
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_encoded payload = {0};
        qp_status status = encode(context, &allocator, &payload);
        assert_true((status == QP_OK) == (payload.bytes != NULL));
        qp_encoded_free(&allocator, &payload);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
}

void codec_torment(const codec_case *c)
{
    codec_truncate(c);
    codec_flip(c);
    codec_starve(c);
}
