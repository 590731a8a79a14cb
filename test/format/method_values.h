/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_values.h - source values for the tests of methods: ordinary ones, and the kinds at which
 * an encoder's decisions turn.
 */
#ifndef QP_TEST_FORMAT_METHOD_VALUES_H
#define QP_TEST_FORMAT_METHOD_VALUES_H

#include "method_test.h"

/* Between -1 and 1, small ones more often, as weights are. */
static inline float weight_like(uint64_t *seed)
{
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (float)test_between(seed, -1000000, 1000000) * 0.00000025f;
    return sum;
}

/* A finite binary32 of any exponent. */
static inline float any_finite(uint64_t *seed)
{
    uint32_t bits;
    do
        bits = (uint32_t)test_random(seed);
    while (!qp_f32_bits_finite(bits));
    return qp_float_of_bits(bits);
}

typedef float value_function(uint64_t *seed, float unit);

static inline float value_plain(uint64_t *seed, float unit)
{
    return weight_like(seed) * unit;
}

/* On the grid of codes, and halfway between two of them. */
static inline float value_grid(uint64_t *seed, float unit)
{
    return (float)test_between(seed, -16, 14) * unit * 0.5f;
}

static inline float value_few(uint64_t *seed, float unit)
{
    return test_below(seed, 8) == 0 ? weight_like(seed) * unit : -0.0f;
}

static inline float value_outlier(uint64_t *seed, float unit)
{
    return weight_like(seed) * (test_below(seed, 40) == 0 ? 100 * unit : unit);
}

static inline float value_constant(uint64_t *seed, float unit)
{
    return test_below(seed, 2) == 0 ? unit : -unit;
}

static inline float value_zero(uint64_t *seed, float unit)
{
    (void)unit;
    return test_below(seed, 2) == 0 ? 0.0f : -0.0f;
}

/* One row of columns; the magnitudes stay below what q4's scale can hold. */
static inline void random_values(uint64_t *seed, float *values, uint64_t count)
{
    static value_function *const kinds[] = {value_plain,   value_grid, value_few,
                                            value_outlier, value_zero, value_constant};
    static const float units[] = {1.0f,      0.02f,     0x1p-14f, 0x1p-24f, 0x1p-27f,
                                  0x1p-126f, 0x1p-149f, 1000.0f,  65504.0f, 0.3f};
    value_function *kind = kinds[test_below(seed, TEST_COUNT(kinds))];
    float unit = units[test_below(seed, TEST_COUNT(units))];
    for (uint64_t k = 0; k < count; k++) {
        float value = kind(seed, unit);
        values[k] = value > 65504.0f ? 65504.0f : value < -65504.0f ? -65504.0f : value;
    }
}

#endif
