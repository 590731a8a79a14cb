/* SPDX-License-Identifier: Apache-2.0 */
/* test_upscale.c - the exact upscaler against sums written out, its refusals and its memory. */
#include "support/small_sets.h"
#include "support/test.h"

#include "failing_allocator.h"
#include "quipu/stage.h"
#include "quipu/upscale.h"

enum { HEIGHT = 5, WIDTH = 4 };

/* ---- priors ------------------------------------------------------------------------------- */

static void put_layer(uint64_t *seed, const uint32_t in_out_k[3], uint32_t shift, qp_buffer *b)
{
    uint32_t in = in_out_k[0], out = in_out_k[1], k = in_out_k[2];
    qp_buffer_le(b, out, 4);
    qp_buffer_le(b, k, 4);
    qp_buffer_le(b, shift, 4);
    for (uint32_t i = 0; i < out; i++)
        qp_buffer_le(b, (uint64_t)((int64_t)small_random(seed, 400) - 200), 4);
    for (uint32_t i = 0; i < in * out * k * k; i++)
        qp_buffer_le(b, (uint64_t)((int64_t)small_random(seed, 121) - 60), 2);
}

static qp_lowered *make_prior(uint32_t channels, qp_buffer *b)
{
    uint64_t seed = channels;
    qp_lower_options options = {0};
    qp_lowered *prior;
    qp_buffer_init(b, NULL);
    qp_buffer_text(b, "WSR1");
    qp_buffer_le(b, 1, 4);
    qp_buffer_le(b, channels, 4);
    qp_buffer_le(b, 2, 4);
    put_layer(&seed, (const uint32_t[]){channels, 3, 3}, 5, b);
    put_layer(&seed, (const uint32_t[]){3, 4 * channels, 1}, 8, b);
    qp_member member = {"prior.wsr", b->bytes, b->size};
    assert_int_equal(qp_lower(&member, 1, &options, NULL, &prior, NULL), QP_OK);
    return prior;
}

/* ---- the sums, written out ---------------------------------------------------------------- */

static int64_t sample(const qp_media *m, int64_t c, int64_t y, int64_t x)
{
    if (y < 0 || y >= m->height || x < 0 || x >= m->width)
        return 0; /* the padding of what is less 128 */
    return m->bytes[(y * m->width + x) * m->channels + c] - 128;
}

static int64_t round_half_up(int64_t v, unsigned shift)
{
    v += (int64_t)1 << (shift - 1);
    return v >= 0 ? v >> shift : -(-(v + 1) >> shift) - 1;
}

/* Layer 1 at a place, then layer 2's channel `out`; `b` is the prior's file. */
static int64_t correction(const qp_media *m, const uint8_t *b, const int64_t place[2], size_t out)
{
    size_t in = m->channels;
    const uint8_t *bias1 = b + 28, *weight1 = bias1 + 12;
    const uint8_t *bias2 = weight1 + 2 * 3 * in * 9 + 12, *weight2 = bias2 + 16 * in;
    int64_t sum = qp_load_i32(bias2 + 4 * out);
    for (size_t h = 0; h < 3; h++) {
        int64_t hidden = qp_load_i32(bias1 + 4 * h);
        for (size_t i = 0; i < in * 9; i++)
            hidden += qp_load_i16(weight1 + 2 * (h * in * 9 + i)) *
                      sample(m, (int64_t)(i / 9), place[0] + (int64_t)(i % 9 / 3) - 1,
                             place[1] + (int64_t)(i % 3) - 1);
        hidden = round_half_up(hidden, 5);
        hidden = hidden < 0 ? 0 : hidden > 32767 ? 32767 : hidden;
        sum += qp_load_i16(weight2 + 2 * (out * 3 + h)) * hidden;
    }
    return round_half_up(sum, 8);
}

static void check_pixels(const qp_media *m, const qp_media *result, const uint8_t *prior)
{
    qp_samples below = qp_samples_pixels(m->bytes, m->channels, m->height, m->width);
    for (size_t i = 0; i < result->size; i++) {
        size_t c = i % m->channels, x = i / m->channels % result->width;
        size_t y = i / m->channels / result->width;
        int64_t place[2] = {(int64_t)y / 2, (int64_t)x / 2};
        int64_t value = qp_up2_at(&below, (uint32_t)c, y, x) +
                        correction(m, prior, place, 4 * c + 2 * (y % 2) + x % 2);
        assert_int_equal(result->bytes[i], value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static void is_what_the_text_says(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        qp_buffer file;
        qp_lowered *prior = make_prior(channels, &file);
        qp_media picture = small_picture(channels, HEIGHT, WIDTH, channels), result;
        assert_int_equal(qp_upscale(prior, &picture, NULL, NULL, &result, NULL), QP_OK);
        assert_int_equal(result.height, 2 * HEIGHT);
        assert_int_equal(result.width, 2 * WIDTH);
        check_pixels(&picture, &result, file.bytes);
        qp_media_free(NULL, &result);
        qp_media_free(NULL, &picture);
        qp_lowered_free(prior);
        qp_buffer_free(&file);
    }
}

/* Frames are upscaled one by one. */
static void frames(void **state)
{
    qp_buffer file;
    qp_lowered *prior = make_prior(3, &file);
    qp_media two = small_picture(5, 2 * HEIGHT, WIDTH, 3), one = two, whole, part;
    (void)state;
    two.frames = 2;
    two.height = one.height = HEIGHT;
    one.size /= 2;
    assert_int_equal(qp_upscale(prior, &two, NULL, NULL, &whole, NULL), QP_OK);
    for (size_t i = 0; i < 2; i++) {
        one.bytes = two.bytes + i * one.size;
        assert_int_equal(qp_upscale(prior, &one, NULL, NULL, &part, NULL), QP_OK);
        assert_memory_equal(part.bytes, whole.bytes + i * part.size, part.size);
        qp_media_free(NULL, &part);
    }
    qp_media_free(NULL, &whole);
    qp_media_free(NULL, &two);
    qp_lowered_free(prior);
    qp_buffer_free(&file);
}

static void refusals(void **state)
{
    qp_buffer file;
    qp_lowered *prior = make_prior(3, &file);
    qp_media grey = small_picture(1, HEIGHT, WIDTH, 1), result;
    qp_media picture = small_picture(1, HEIGHT, WIDTH, 3), wrong = picture;
    qp_decode_options options = {.max_memory = 1000};
    (void)state;
    assert_int_equal(qp_upscale(prior, &grey, NULL, NULL, &result, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_upscale(prior, &picture, &options, NULL, &result, NULL), QP_TOO_LARGE);
    wrong.size--;
    assert_int_equal(qp_upscale(prior, &wrong, NULL, NULL, &result, NULL), QP_INVALID_ARGUMENT);
    wrong = picture;
    wrong.layout = QP_LAYOUT_PLANES;
    assert_int_equal(qp_upscale(prior, &wrong, NULL, NULL, &result, NULL), QP_INVALID_ARGUMENT);
    wrong = picture; /* refused before its bytes are read */
    wrong.height = wrong.width = 4096;
    wrong.size = (size_t)4096 * 4096 * 3;
    assert_int_equal(qp_upscale(prior, &wrong, NULL, NULL, &result, NULL), QP_TOO_LARGE);
    assert_null(result.bytes);
    qp_media_free(NULL, &picture);
    qp_media_free(NULL, &grey);
    qp_lowered_free(prior);
    qp_buffer_free(&file);
}

static void another_set(void **state)
{
    qp_lower_options options = {.capability = "wai.neural.int_synth"};
    qp_media picture = small_picture(1, HEIGHT, WIDTH, 3), result;
    qp_lowered *lowered;
    small_set set;
    (void)state;
    small_set_synth(1, &set);
    assert_int_equal(qp_lower(set.members, set.count, &options, NULL, &lowered, NULL), QP_OK);
    assert_int_equal(qp_upscale(lowered, &picture, NULL, NULL, &result, NULL), QP_MODEL_MISMATCH);
    qp_lowered_free(lowered);
    small_set_free(&set);
    qp_media_free(NULL, &picture);
}

static void without_memory(void **state)
{
    qp_buffer file;
    qp_lowered *prior = make_prior(1, &file);
    qp_media picture = small_picture(1, HEIGHT, WIDTH, 1);
    (void)state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_media result;
        qp_status status = qp_upscale(prior, &picture, NULL, &allocator, &result, NULL);
        qp_media_free(&allocator, &result);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
    qp_media_free(NULL, &picture);
    qp_lowered_free(prior);
    qp_buffer_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_text_says),
        cmocka_unit_test(frames),
        cmocka_unit_test(refusals),
        cmocka_unit_test(another_set),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
