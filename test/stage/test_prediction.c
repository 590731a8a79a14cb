/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prediction.c - residual_step, mc_predict, up2_predict and rate_predict (integer-operators.md
 * section 5E, E9 to E12), and the encoder's choice of residuals and vectors.
 */
#include "quipu/quipu.h"
#include "support/test.h"

#include <string.h>

/* ---- E9 ----------------------------------------------------------------------------------- */

static int64_t step(const qp_residual *residual, int64_t pred, int64_t r)
{
    int64_t value = 0;
    assert_int_equal(qp_residual_step(residual, pred, r, &value, NULL), QP_OK);
    return value;
}

/* Both forms, where the second holds, and the plain definition in 64 bits. */
static void assert_forms(const qp_residual *residual, int64_t pred, int64_t r)
{
    int64_t plain = pred + r * residual->q, value = step(residual, pred, r);
    plain = plain < residual->lo ? residual->lo : plain > residual->hi ? residual->hi : plain;
    assert_true(value == plain);
    if (qp_residual_fits_i32(residual))
        assert_int_equal(qp_residual_step_i32(residual, (int32_t)pred, (int32_t)r), plain);
}

static void test_residual_forms(void **state)
{
    static const int64_t ranges[][2] = {{0, 255},
                                        {-32768, 32767},
                                        {0, 1},
                                        {-5, 0},
                                        {100, 100 + 65535},
                                        {INT32_MAX - 65535, INT32_MAX},
                                        {INT32_MIN, INT32_MIN + 9},
                                        {INT32_MAX - 131070 - 65535, INT32_MAX - 131070},
                                        {(int64_t)INT32_MIN + 131070, (int64_t)INT32_MIN + 131071},
                                        {INT32_MIN, INT32_MAX}};
    static const int64_t steps[] = {1, 2, 3, 7, 16, 254, 255, 256, 257, 32768, 65534, 65535};
    uint64_t seed = 5;
    (void)state;
    for (size_t k = 0; k < TEST_COUNT(ranges); k++)
        for (size_t j = 0; j < TEST_COUNT(steps); j++) {
            qp_residual residual = {steps[j], ranges[k][0], ranges[k][1]};
            int64_t reach = (residual.hi - residual.lo) / residual.q + 1; /* R */
            int64_t preds[4] = {residual.lo, residual.hi, residual.lo + 1,
                                test_between(&seed, residual.lo, residual.hi)};
            int64_t rs[] = {0,         1,          -1,        reach,     -reach,
                            reach + 1, -reach - 1, reach - 1, 1 - reach, INT32_MAX,
                            INT32_MIN, 2,          -2};
            assert_int_equal(qp_residual_check(&residual, NULL), QP_OK);
            for (size_t p = 0; p < 4; p++)
                for (size_t i = 0; i < TEST_COUNT(rs); i++)
                    if (rs[i] >= INT32_MIN && rs[i] <= INT32_MAX)
                        assert_forms(&residual, preds[p], rs[i]);
        }
    /* the registered ranges have the 32-bit form; near the limits of i32 there is none */
    assert_true(qp_residual_fits_i32(&(qp_residual){1, 0, 255}));
    assert_true(qp_residual_fits_i32(&(qp_residual){1, -32768, 32767}));
    assert_false(qp_residual_fits_i32(&(qp_residual){1, 0, 65536}));
    assert_false(qp_residual_fits_i32(&(qp_residual){1, INT32_MAX - 65535, INT32_MAX}));
    assert_false(qp_residual_fits_i32(&(qp_residual){1, INT32_MIN, INT32_MIN + 255}));
}

static void test_residual_by_hand(void **state)
{
    qp_residual bytes = {7, 0, 255}, wide = {65535, INT64_MIN, INT64_MAX};
    qp_residual top = {65535, (int64_t)1 << 31, ((int64_t)1 << 31) + 65535};
    (void)state;
    assert_int_equal(step(&bytes, 128, 0), 128);
    assert_int_equal(step(&bytes, 128, 3), 149);
    assert_int_equal(step(&bytes, 128, -19), 0); /* 128 - 133 */
    assert_int_equal(step(&bytes, 250, 1), 255);
    /* the text's example: with lo = 2^31 - 65536 and q = 65535 the sum passes i32 */
    assert_true(step(&(qp_residual){65535, INT32_MAX - 65535, INT32_MAX}, INT32_MAX, 2) ==
                INT32_MAX);
    assert_true(step(&top, ((int64_t)1 << 31) + 65535, -1) == (int64_t)1 << 31);
    assert_true(step(&wide, INT64_MAX, 1) == INT64_MAX);
    assert_true(step(&wide, INT64_MIN + 1, INT32_MIN) == INT64_MIN);
    assert_true(step(&wide, INT64_MAX, INT32_MIN) == INT64_MAX - ((int64_t)65535 << 31));
}

static void test_residual_refusals(void **state)
{
    static const qp_residual wrong[] = {
        {0, 0, 255}, {65536, 0, 255}, {-1, 0, 255}, {1, 5, 5}, {1, 6, 5}};
    qp_residual bytes = {1, 0, 255};
    int64_t value = 9;
    qp_error error = {0};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(wrong); i++) {
        assert_int_equal(qp_residual_check(&wrong[i], NULL), QP_MODEL_MISMATCH);
        assert_int_equal(qp_residual_step(&wrong[i], 5, 0, &value, &error), QP_MODEL_MISMATCH);
        assert_int_equal(error.record, -1);
    }
    assert_int_equal(qp_residual_step(&bytes, -1, 0, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_residual_step(&bytes, 256, 0, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_residual_step(&bytes, 5, (int64_t)INT32_MAX + 1, &value, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(qp_residual_step(&bytes, 5, (int64_t)INT32_MIN - 1, &value, NULL),
                     QP_MODEL_MISMATCH);
    assert_int_equal(value, 9);
}

/* The choice is the nearest of all steps, and the least of the nearest. */
static void test_residual_choice(void **state)
{
    static const int64_t qs[] = {1, 2, 3, 8, 100, 255, 256, 65535};
    (void)state;
    for (size_t k = 0; k < TEST_COUNT(qs); k++)
        for (int64_t pred = 0; pred <= 255; pred += 5)
            for (int64_t target = 0; target <= 255; target++) {
                qp_residual residual = {qs[k], 0, 255};
                int32_t r = qp_residual_choose(&residual, pred, target);
                int64_t distance = llabs(step(&residual, pred, r) - target);
                for (int32_t other = -256; other <= 256; other++) {
                    int64_t far = llabs(step(&residual, pred, other) - target);
                    assert_true(distance < far || (distance == far && abs(r) <= abs(other)));
                }
            }
    qp_residual wide = {1, INT64_MIN, INT64_MAX};
    assert_int_equal(qp_residual_choose(&wide, INT64_MIN, INT64_MAX), INT32_MAX);
    assert_int_equal(qp_residual_choose(&wide, INT64_MAX, INT64_MIN), -INT32_MAX);
}

/* ---- E10 ---------------------------------------------------------------------------------- */

/* 2 by 3 pixels; channel 0 counts up, channel 1 is its ten times, channel 2 is 255. */
static const uint8_t planes[18] = {1,  2,   4,   8,   16,  32,  10,  20,  40,
                                   80, 160, 250, 255, 255, 255, 255, 255, 255};

static unsigned predict(const qp_samples *frame, qp_pixel pixel, qp_motion motion)
{
    uint8_t value = 0;
    assert_int_equal(qp_mc_predict(frame, &pixel, &motion, &value, NULL), QP_OK);
    return value;
}

static void test_mc_by_hand(void **state)
{
    qp_samples frame = qp_samples_planes(planes, 3, 2, 3);
    qp_pixel origin = {0, 0, 0}, corner = {1, 2, 1};
    (void)state;
    assert_int_equal(predict(&frame, origin, (qp_motion){0, 0, 1}), 1);
    assert_int_equal(predict(&frame, origin, (qp_motion){1, 2, 1}), 32);
    assert_int_equal(predict(&frame, origin, (qp_motion){-9, 9, 1}), 4);
    assert_int_equal(predict(&frame, origin, (qp_motion){INT32_MAX, INT32_MIN, 1}), 8);
    assert_int_equal(predict(&frame, origin, (qp_motion){INT32_MIN, INT32_MAX, 2}), 4);
    assert_int_equal(predict(&frame, origin, (qp_motion){0, 1, 2}), 2);   /* (1 + 2 + 1) >> 1 */
    assert_int_equal(predict(&frame, origin, (qp_motion){1, 0, 2}), 5);   /* (1 + 8 + 1) >> 1 */
    assert_int_equal(predict(&frame, origin, (qp_motion){1, 1, 2}), 7);   /* 27 + 2 >> 2 */
    assert_int_equal(predict(&frame, origin, (qp_motion){2, 3, 2}), 24);  /* 16 and 32 */
    assert_int_equal(predict(&frame, origin, (qp_motion){-1, -1, 2}), 1); /* all clamped */
    assert_int_equal(predict(&frame, corner, (qp_motion){0, 0, 2}), 250);
    assert_int_equal(predict(&frame, corner, (qp_motion){0, -1, 2}), 205);  /* 160 and 250 */
    assert_int_equal(predict(&frame, corner, (qp_motion){-1, -1, 2}), 118); /* 20 40 160 250 */
    assert_int_equal(predict(&frame, (qp_pixel){0, 0, 2}, (qp_motion){1, 1, 2}), 255);
}

static void test_mc_refusals(void **state)
{
    qp_samples frame = qp_samples_planes(planes, 3, 2, 3), two = qp_samples_planes(planes, 2, 3, 3),
               none = qp_samples_planes(planes, 3, 0, 3);
    static const qp_pixel outside[] = {{-1, 0, 0}, {2, 0, 0},  {0, -1, 0},
                                       {0, 3, 0},  {0, 0, -1}, {0, 0, 3}};
    qp_pixel origin = {0, 0, 0};
    qp_motion still = {0, 0, 1}, third = {0, 0, 3}, zeroth = {0, 0, 0};
    uint8_t value = 9;
    qp_error error = {0};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(outside); i++)
        assert_int_equal(qp_mc_predict(&frame, &outside[i], &still, &value, &error),
                         QP_MODEL_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_mc_predict(&two, &origin, &still, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_mc_predict(&none, &origin, &still, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_mc_predict(&frame, &origin, &third, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_mc_predict(&frame, &origin, &zeroth, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(value, 9);
    qp_block beyond = {2, 0, 1, 1}, empty = {0, 0, 0, 1};
    assert_int_equal(qp_mc_predict_block(&frame, &beyond, &still, &value, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_mc_predict_block(&frame, &empty, &still, &value, NULL), QP_MODEL_MISMATCH);
}

enum { H = 19, W = 23 };

static void random_frame(uint8_t frame[3 * H * W], uint64_t *seed)
{
    for (size_t i = 0; i < 3 * H * W; i++)
        frame[i] = (uint8_t)test_random(seed);
}

/* A block is its pixels, of planes and of interleaved samples alike, cut at the frame's edge. */
static void test_mc_blocks(void **state)
{
    static uint8_t frame[3 * H * W], pixels[3 * H * W], out[3 * 8 * 8 + 1];
    uint64_t seed = 17;
    (void)state;
    random_frame(frame, &seed);
    for (size_t i = 0; i < H * W; i++)
        for (size_t c = 0; c < 3; c++)
            pixels[3 * i + c] = frame[c * H * W + i];
    qp_samples both[2] = {qp_samples_planes(frame, 3, H, W), qp_samples_pixels(pixels, 3, H, W)};
    for (int round = 0; round < 300; round++) {
        qp_block block = {test_below(&seed, H), test_below(&seed, W), 8, 8};
        qp_motion motion = {(int32_t)test_between(&seed, -50, 50),
                            (int32_t)test_between(&seed, -50, 50), 1 + (int)test_below(&seed, 2)};
        size_t height = H - block.y < 8 ? H - block.y : 8,
               width = W - block.x < 8 ? W - block.x : 8;
        memset(out, 0xA5, sizeof out);
        out[3 * height * width] = 0x5A;
        assert_int_equal(qp_mc_predict_block(&both[round % 2], &block, &motion, out, NULL), QP_OK);
        for (size_t k = 0; k < 3 * height * width; k++) {
            qp_pixel at = {(int64_t)(block.y + k / 3 / width), (int64_t)(block.x + k / 3 % width),
                           (int64_t)(k % 3)};
            assert_int_equal(out[k], predict(&both[0], at, motion));
        }
        assert_int_equal(out[3 * height * width], 0x5A);
    }
}

/* A frame that is the one before it, moved: the search finds by how much. */
static void test_motion_search(void **state)
{
    static uint8_t previous[3 * H * W], frame[3 * H * W];
    uint64_t seed = 23;
    qp_samples before = qp_samples_planes(previous, 3, H, W),
               now = qp_samples_planes(frame, 3, H, W);
    qp_block block = {5, 6, 8, 8}, whole = {0, 0, H, W};
    (void)state;
    random_frame(previous, &seed);
    for (int precision = 1; precision <= 2; precision++)
        for (int32_t dy = -7; dy <= 7; dy += 3)
            for (int32_t dx = -7; dx <= 7; dx += 2) {
                qp_motion moved = {dy, dx, precision}, found = {0};
                qp_motion_search search = {precision == 1 ? 7 : 4, precision};
                static uint8_t pixels[3 * H * W];
                assert_int_equal(qp_mc_predict_block(&before, &whole, &moved, pixels, NULL), QP_OK);
                for (size_t i = 0; i < H * W; i++)
                    for (size_t c = 0; c < 3; c++)
                        frame[c * H * W + i] = pixels[3 * i + c];
                assert_int_equal(qp_motion_find(&now, &before, &block, &search, &found, NULL),
                                 QP_OK);
                if (precision == 1 || (dy % 2 == 0 && dx % 2 == 0)) {
                    assert_int_equal(found.dy, dy);
                    assert_int_equal(found.dx, dx);
                }
                assert_int_equal(found.precision, precision);
            }
    /* of equal vectors the shortest: a flat frame does not move */
    qp_motion found = {9, 9, 9};
    qp_motion_search search = {255, 2}, far = {256, 1}, odd = {1, 3};
    memset(previous, 7, sizeof previous);
    memset(frame, 7, sizeof frame);
    qp_block small = {0, 0, 1, 1};
    assert_int_equal(qp_motion_find(&now, &before, &small, &search, &found, NULL), QP_OK);
    assert_int_equal(found.dy, 0);
    assert_int_equal(found.dx, 0);
    assert_int_equal(qp_motion_find(&now, &before, &small, &far, &found, NULL), QP_MODEL_MISMATCH);
    assert_int_equal(qp_motion_find(&now, &before, &small, &odd, &found, NULL), QP_MODEL_MISMATCH);
    qp_samples other = qp_samples_planes(previous, 3, H, W - 1);
    assert_int_equal(qp_motion_find(&now, &other, &small, &search, &found, NULL),
                     QP_MODEL_MISMATCH);
}

/* ---- E11 ---------------------------------------------------------------------------------- */

static void test_up2(void **state)
{
    static const uint8_t below[8] = {1, 2, 4, 8, 255, 255, 255, 254}; /* two channels of 2 by 2 */
    /* 4 by 4: averages to the right and below, the last row and column clamped */
    static const uint8_t want[32] = {1,   2,   2,   2,   3,   4,   5,   5,   4,   6,   8,
                                     8,   4,   6,   8,   8,   255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 254, 254, 255, 255, 254, 254};
    qp_samples picture = qp_samples_planes(below, 2, 2, 2);
    uint8_t out[32];
    (void)state;
    assert_int_equal(qp_up2_predict(&picture, 4, 4, out, NULL), QP_OK);
    assert_memory_equal(out, want, sizeof want);
    assert_int_equal(qp_up2_predict(&picture, 3, 3, out, NULL), QP_OK); /* the same, cut */
    for (uint32_t k = 0; k < 9; k++)
        assert_int_equal(out[k], want[k / 3 * 4 + k % 3]);
    qp_error error = {0};
    static const uint64_t sizes[][2] = {
        {0, 4}, {4, 0}, {5, 4}, {4, 5}, {2, 4}, {4, 2}, {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < TEST_COUNT(sizes); i++)
        assert_int_equal(qp_up2_predict(&picture, sizes[i][0], sizes[i][1], out, &error),
                         QP_GEOMETRY_MISMATCH);
    assert_int_equal(error.record, -1);
    static const uint8_t one[1] = {9};
    picture = qp_samples_planes(one, 1, 1, 1);
    assert_int_equal(qp_up2_predict(&picture, 1, 2, out, NULL), QP_OK);
    assert_int_equal(out[0], 9);
    assert_int_equal(out[1], 9);
    assert_int_equal(qp_up2_at(&picture, 0, 1, 1), 9);
}

/* ---- E12 ---------------------------------------------------------------------------------- */

static void test_rate_by_hand(void **state)
{
    static const int16_t samples[6] = {0, 10, -11, 100, 101, 102};
    /* twice the rate: halves away from zero, the last held; (10 - 11) / 2 is -0.5 */
    static const int16_t twice[6] = {0, 5, 10, -1, -11, -11};
    static const int16_t second[6] = {100, 101, 101, 102, 102, 102};
    qp_rate rate = {3, 2, 1, 6};
    int16_t out[12];
    (void)state;
    assert_int_equal(qp_rate_predict(&rate, samples, 2, out, NULL), QP_OK);
    assert_memory_equal(out, twice, sizeof twice);
    assert_memory_equal(out + 6, second, sizeof second);
    rate = (qp_rate){3, 2, 3, 2}; /* slower: samples 0 and 1.5 */
    assert_int_equal(qp_rate_predict(&rate, samples, 1, out, NULL), QP_OK);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], -1);
    rate = (qp_rate){3, 1, 1, 3};
    assert_int_equal(qp_rate_predict(&rate, samples, 1, out, NULL), QP_OK);
    assert_memory_equal(out, samples, 3 * sizeof *out);
    assert_int_equal(qp_rate_at(&rate, samples, 2, 1), -11); /* samples 0, 2 and 4 */
}

/* Numerators of 2^32 - 1 and samples at both ends: nothing passes 64 bits, and the ends are met. */
static void test_rate_extremes(void **state)
{
    static const int16_t samples[2] = {INT16_MIN, INT16_MAX}, falls[2] = {INT16_MAX, INT16_MIN};
    qp_rate rate = {2, UINT32_MAX, UINT32_MAX, 2},
            fine = {2, UINT32_MAX, 1, 2 * (uint64_t)UINT32_MAX};
    int16_t out[2];
    (void)state;
    assert_int_equal(qp_rate_predict(&rate, samples, 1, out, NULL), QP_OK);
    assert_memory_equal(out, samples, sizeof samples);
    assert_int_equal(qp_rate_check(&fine, NULL), QP_OK);
    assert_int_equal(qp_rate_at(&fine, samples, 1, 0), INT16_MIN);
    assert_int_equal(qp_rate_at(&fine, samples, 1, UINT32_MAX - 1), INT16_MAX); /* all but 2^-16 */
    assert_int_equal(qp_rate_at(&fine, samples, 1, UINT32_MAX), INT16_MAX);
    assert_int_equal(qp_rate_at(&fine, samples, 1, fine.d0 - 1), INT16_MAX);
    assert_int_equal(qp_rate_at(&fine, falls, 1, UINT32_MAX - 1), INT16_MIN);
    /* just below the middle of 2^32 - 1 steps: a little less than -0.5, and a little more */
    assert_int_equal(qp_rate_at(&fine, samples, 1, UINT32_MAX / 2), -1);
    assert_int_equal(qp_rate_at(&fine, falls, 1, UINT32_MAX / 2), 0);
}

static void test_rate_refusals(void **state)
{
    static const qp_rate wrong[] = {{0, 2, 1, 6},
                                    {3, 0, 1, 6},
                                    {3, 2, 0, 6},
                                    {3, 2, 1, 0},
                                    {3, 2, 1, 5},
                                    {3, 2, 1, 7},
                                    {1, 1, 2, 0},
                                    {((uint64_t)1 << 26) + 1, 1, 1, ((uint64_t)1 << 26) + 1},
                                    {UINT64_MAX, UINT32_MAX, 1, 1}};
    qp_error error = {0};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(wrong); i++)
        assert_int_equal(qp_rate_predict(&wrong[i], NULL, 1, NULL, &error), QP_GEOMETRY_MISMATCH);
    assert_int_equal(error.record, -1);
    assert_int_equal(qp_rate_check(&(qp_rate){1 << 26, 7, 7, 1 << 26}, NULL), QP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residual_forms),
        cmocka_unit_test(test_residual_by_hand),
        cmocka_unit_test(test_residual_refusals),
        cmocka_unit_test(test_residual_choice),
        cmocka_unit_test(test_mc_by_hand),
        cmocka_unit_test(test_mc_refusals),
        cmocka_unit_test(test_mc_blocks),
        cmocka_unit_test(test_motion_search),
        cmocka_unit_test(test_up2),
        cmocka_unit_test(test_rate_by_hand),
        cmocka_unit_test(test_rate_extremes),
        cmocka_unit_test(test_rate_refusals),
    };
    return cmocka_run_group_tests_name("prediction", tests, NULL, NULL);
}
