/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gguf_encode.c - the method gguf_search: its error beside that of ggml's own encoders, the
 * same words on every processor, and what it refuses.
 */
#include "method_test.h"

#include "gguf_encode_scalar.h"
#include "support/guard.h"

#include "format/ggml_blocks.h"

#include <fenv.h>

static const char *const encoded[] = {"gguf_q8_0", "gguf_q4_0", "gguf_q5_0",   "gguf_q4_k",
                                      "gguf_q5_k", "gguf_q6_k", "gguf_iq4_nl", "gguf_iq4_xs"};

#define SOURCE_ROWS 16
#define SOURCE_COLUMNS 256
#define SOURCE_COUNT (SOURCE_ROWS * SOURCE_COLUMNS)

/* ---- one conversion ----------------------------------------------------------------------- */

static qp_method_job job_of(const qp_matrix *target, const float *importance)
{
    return (qp_method_job){.target = target,
                           .importance = importance,
                           .cpu = qp_cpu_features(),
                           .element = qp_element_find("F32"),
                           .method = qp_method_find("gguf_search")};
}

/* Asserts that the conversion goes well. */
static void encode_rows(qp_method_job job, const float *values, uint64_t step, uint8_t *blocks)
{
    qp_method_rows rows = {.values = values, .words = {.codes = blocks}};
    qp_error error = {.message = ""};
    if (method_run(job, &rows, step, &error) != QP_OK)
        fail_msg("%s: %s", job.target->format->name, error.message);
}

static void decode_rows(const qp_matrix *target, uint8_t *blocks, float *values)
{
    qp_word_planes words = {.codes = blocks};
    qp_words_decode(target, 0, target->rows, &words, values);
}

static double squared_error(const float *a, const float *b, size_t count, const float *importance)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = importance == NULL ? 1.0 : (double)importance[i % SOURCE_COLUMNS];
        double rest = (double)a[i] - (double)b[i];
        sum += weight * rest * rest;
    }
    return sum;
}

static double encode_error(const char *format, const float *values, const float *importance,
                           const float *measure)
{
    qp_matrix target = format_plan_two(format, SOURCE_ROWS, SOURCE_COLUMNS);
    uint8_t *blocks = format_bytes(target.bytes);
    float *decoded = format_values(SOURCE_COUNT);
    encode_rows(job_of(&target, importance), values, SOURCE_ROWS, blocks);
    decode_rows(&target, blocks, decoded);
    double error = squared_error(values, decoded, SOURCE_COUNT, measure);
    free(blocks);
    free(decoded);
    return error;
}

/* ---- ggml's own blocks -------------------------------------------------------------------- */

static float *load_floats(const char *name, size_t count)
{
    qp_file file = format_open("gguf-vectors", name);
    float *values = format_values(count);
    assert_int_equal(file.size, 4 * count);
    for (size_t i = 0; i < count; i++)
        values[i] = qp_float_of_bits(qp_load_u32(file.bytes + 4 * i));
    qp_file_close(&file);
    return values;
}

/* ggml's blocks of the same values, decoded: "gguf_q4_k" lies in q4_K.f32. */
static float *load_ggml(const char *format)
{
    char name[32];
    snprintf(name, sizeof name, "%s.f32", format + strlen("gguf_"));
    char *k = strstr(name, "_k.");
    if (k != NULL)
        k[1] = 'K';
    return load_floats(name, SOURCE_COUNT);
}

static void make_importance(float importance[SOURCE_COLUMNS])
{
    uint64_t seed = 7;
    for (size_t k = 0; k < SOURCE_COLUMNS; k++) {
        float u = (float)test_below(&seed, 1000) / 100.0f;
        importance[k] = k % 31 == 0 ? 0.0f : u * u;
    }
}

static void test_at_or_below_ggml(void **state)
{
    float importance[SOURCE_COLUMNS];
    float *source = load_floats("source.f32", SOURCE_COUNT);
    (void)state;
    make_importance(importance);
    for (size_t f = 0; f < TEST_COUNT(encoded); f++) {
        float *ggml = load_ggml(encoded[f]);
        double theirs = squared_error(source, ggml, SOURCE_COUNT, NULL);
        double ours = encode_error(encoded[f], source, NULL, NULL);
        print_message("%-12s squared error %.3f of ggml's\n", encoded[f], ours / theirs);
        assert_true(ours <= 0.97 * theirs); /* a margin, so that a step back is seen */

        theirs = squared_error(source, ggml, SOURCE_COUNT, importance);
        double plain = encode_error(encoded[f], source, NULL, importance);
        double weighted = encode_error(encoded[f], source, importance, importance);
        assert_true(weighted <= 0.95 * theirs);
        assert_true(weighted < plain);
        free(ggml);
    }
    free(source);
}

/* ---- the same words everywhere ------------------------------------------------------------ */

/* Of the blocks of source.f32: computed once, and the same on every machine and compiler. */
static void test_pinned(void **state)
{
    static const char *const digests[TEST_COUNT(encoded)] = {
        "5bfca666772847c1473bd8ca3a846186a7e76eff395cb07c59921aa622394897",
        "13f0b8242b6207df50c74069fbb4498f75d6c83efe0ca4463dd83455687f57c6",
        "a5e066ca7992c6e440f67b2803b62559ecaebba61599134bb9acfeeae33c2c9a",
        "042d8bfa72a0738924aae4cb280afe7bab50bc6938633c20548bdf8f43a8da60",
        "c3df0788b0878463032ba2fde8d078be3f975dd158d78cc7ecce75bbaf91935d",
        "1dd553901d8a22e8bc3990652c0f059fb504a6923d3ae27e168812d3ce1af12c",
        "15e4855badc901fb2768345b7bca68da3f056415dbd09369675746f45ba75a6e",
        "3e3ef22d75415db0b81e63939a40879c1e6fbd99f764fcd8c48983b1820fdb36",
    };
    float *source = load_floats("source.f32", SOURCE_COUNT);
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++) {
        qp_matrix target = format_plan_two(encoded[f], SOURCE_ROWS, SOURCE_COLUMNS);
        uint8_t *blocks = format_bytes(target.bytes), digest[QP_SHA256_SIZE];
        char text[QP_SHA256_HEX_SIZE];
        qp_sha256 hash;
        encode_rows(job_of(&target, NULL), source, SOURCE_ROWS, blocks);
        qp_sha256_init(&hash);
        qp_sha256_update(&hash, blocks, (size_t)target.bytes);
        qp_sha256_final(&hash, digest);
        qp_sha256_hex(digest, text);
        assert_string_equal(text, digests[f]);
        free(blocks);
    }
    free(source);
}

/* The caller's rounding mode does not reach the words, and stands afterwards. */
static void test_rounding_mode(void **state)
{
    (void)state;
#ifdef FE_UPWARD
    int before = fegetround();
    assert_int_equal(fesetround(FE_UPWARD), 0);
    test_pinned(state);
    int after = fegetround();
    fesetround(before);
    assert_int_equal(after, FE_UPWARD);
#endif
}

/* Kinds of values that search differently. */
enum { KINDS = 14 };

static float random_unit(uint64_t *seed)
{
    int64_t sum = 0; /* nearly normal */
    for (int i = 0; i < 6; i++)
        sum += test_between(seed, -0x100000, 0x100000);
    return (float)sum / 0x1p21f;
}

static float random_value(uint64_t *seed, unsigned kind, size_t i)
{
    float x = random_unit(seed);
    switch (kind) {
    case 0:
        return x;
    case 1:
        return test_below(seed, 50) == 0 ? 30 * x : x; /* outliers */
    case 2:
        return x * 0x1p-12f; /* scales near and among subnormal words */
    case 3:
        return x * 0x1p-20f;
    case 4:
        return x * 0x1p-26f; /* at the edge of nothing */
    case 5:
        return x * 0x1p-140f; /* subnormal values */
    case 6:
        return test_below(seed, 10) == 0 ? x : 0.0f; /* sparse */
    case 7:
        return 1.0f + x / 16; /* far from zero */
    case 8:
        return i / 32 % 2 == 0 ? 1.0f + x : -1.0f + x; /* offsets of both signs */
    case 9:
        return (float)test_between(seed, -1, 1); /* ternary */
    case 10:
        return i / 96 % 2 == 0 ? 0.0f : -0.75f; /* constant parts */
    case 11:
        return i % 32 == 5 ? x : -0.0f; /* one value of a block */
    case 12:
        return x * 60000.0f; /* large */
    default:
        return (float)test_between(seed, -8, 7) / 8; /* already on a grid: many ties */
    }
}

static void run_set(const qp_gguf_encoder_set *set, const qp_format *format,
                    const qp_gguf_tile *blocks, size_t count, uint8_t *out)
{
    const qp_gguf_encoder *encoder = qp_gguf_encoder_find(set, format->name);
    assert_non_null(encoder);
    for (size_t first = 0; first < count; first += set->lanes) {
        qp_gguf_tile tile = *blocks;
        tile.count = (unsigned)(count - first < set->lanes ? count - first : set->lanes);
        for (size_t l = 0; l < QP_GGUF_LANES_MAX; l++) {
            size_t at = first + (l < tile.count ? l : tile.count - 1);
            tile.values[l] = blocks->values[0] + at * format->group;
            tile.weights[l] = blocks->weights[0] + at * format->group;
            tile.blocks[l] = out + at * format->group_bytes;
        }
        assert_int_equal(encoder->encode(&tile), tile.count);
    }
}

/* Every instruction set of this machine against numbers of plain C, on guarded memory. */
static void compare_sets(const qp_format *format, unsigned kind, bool weighted)
{
    enum { BLOCKS = 37 }; /* no multiple of any number of lanes */
    uint64_t seed = 100 * kind + weighted;
    size_t count = BLOCKS * (size_t)format->group, size = BLOCKS * (size_t)format->group_bytes;
    test_guarded values = test_guard(count * sizeof(float));
    test_guarded weights = test_guard(count * sizeof(float));
    uint8_t *reference = format_bytes(size);
    for (size_t i = 0; i < count; i++) {
        ((float *)values.data)[i] = random_value(&seed, kind, i);
        ((float *)weights.data)[i] =
            i / 256 % 5 == 0 ? 0.0f : (float)test_below(&seed, 1 << 10) * 0x1p90f;
    }
    qp_gguf_tile blocks = {
        .weighted = weighted, .values = {values.data}, .weights = {weights.data}};
    run_set(&gguf_encoders_scalar, format, &blocks, BLOCKS, reference);
    for (size_t s = 0; qp_gguf_encoder_set_at(s) != NULL; s++) {
        const qp_gguf_encoder_set *set = qp_gguf_encoder_set_at(s);
        if ((set->cpu & ~qp_cpu_features()) != 0)
            continue;
        test_guarded out = test_guard(size);
        run_set(set, format, &blocks, BLOCKS, out.data);
        if (memcmp(out.data, reference, size) != 0)
            fail_msg("%s %s: values of kind %u differ", format->name, set->name, kind);
        test_unguard(&out);
    }
    free(reference);
    test_unguard(&values);
    test_unguard(&weights);
}

static void test_sets_agree(void **state)
{
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            for (int weighted = 0; weighted < 2; weighted++)
                compare_sets(qp_format_find(encoded[f]), kind, weighted != 0);
}

/* The method gives the same blocks for any mask and any chunks of rows, and the words are valid
 * (qp_method_encode looks). */
static void test_chunks(void **state)
{
    float importance[SOURCE_COLUMNS];
    float *source = load_floats("source.f32", SOURCE_COUNT);
    (void)state;
    make_importance(importance);
    for (size_t f = 0; f < TEST_COUNT(encoded); f++) {
        qp_matrix target = format_plan_two(encoded[f], SOURCE_ROWS, SOURCE_COLUMNS);
        uint8_t *expected = format_bytes(target.bytes), *blocks = format_bytes(target.bytes);
        encode_rows(job_of(&target, importance), source, SOURCE_ROWS, expected);
        for (size_t m = 0; m < TEST_COUNT(method_masks); m++)
            for (uint64_t step = 1; step <= SOURCE_ROWS; step += 4) {
                qp_method_job job = job_of(&target, importance);
                job.cpu = method_mask(m);
                memset(blocks, 0xA5, (size_t)target.bytes);
                encode_rows(job, source, step, blocks);
                assert_memory_equal(blocks, expected, (size_t)target.bytes);
            }
        free(expected);
        free(blocks);
    }
    free(source);
}

/* ---- blocks that are known ---------------------------------------------------------------- */

static void test_zeros(void **state)
{
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++) {
        qp_matrix target = format_plan_two(encoded[f], 3, 256);
        uint8_t *blocks = format_bytes(target.bytes);
        float *values = format_values(3 * 256), *decoded = format_values(3 * 256);
        values[5] = -0.0f;
        encode_rows(job_of(&target, NULL), values, 3, blocks);
        decode_rows(&target, blocks, decoded);
        for (size_t i = 0; i < 3 * 256; i++)
            assert_int_equal(qp_bits_of_float(decoded[i]) & 0x7FFFFFFFu, 0);
        free(blocks);
        free(values);
        free(decoded);
    }
}

/* Encodes one block of 32 that is expected to come back exactly. */
static void check_exact(const char *format, const float values[32], const uint8_t *expected)
{
    qp_matrix target = format_plan_two(format, 1, 32);
    uint8_t *block = format_bytes(target.bytes);
    float decoded[32];
    encode_rows(job_of(&target, NULL), values, 1, block);
    decode_rows(&target, block, decoded);
    for (size_t i = 0; i < 32; i++)
        assert_true(decoded[i] == values[i]);
    assert_memory_equal(block, expected, (size_t)target.bytes);
    free(block);
}

/* The scale is half of a unit: 0x3800 as binary16. */
static void test_exact_blocks(void **state)
{
    float values[32];
    uint8_t block[34] = {0x00, 0x38};
    (void)state;

    for (int i = 0; i < 32; i++)
        values[i] = (float)(i % 16 - 8) / 2; /* codes 0..15, then 0..15 */
    for (int j = 0; j < 16; j++)
        block[2 + j] = (uint8_t)(17 * j);
    check_exact("gguf_q4_0", values, block);

    for (int i = 0; i < 32; i++)
        values[i] = (float)(i - 16) / 2; /* codes 0..31: the high bits are those of 16..31 */
    memcpy(block + 2, "\x00\x00\xFF\xFF", 4);
    for (int j = 0; j < 16; j++)
        block[6 + j] = (uint8_t)(17 * j);
    check_exact("gguf_q5_0", values, block);

    for (int i = 0; i < 32; i++) {
        values[i] = (float)(8 * i - 128) / 2;
        block[2 + i] = (uint8_t)((8 * i - 128) & 255);
    }
    check_exact("gguf_q8_0", values, block);

    for (int i = 0; i < 32; i++)
        values[i] = (float)qp_kvalues_iq4nl[i % 16] / 2;
    for (int j = 0; j < 16; j++)
        block[2 + j] = (uint8_t)(17 * j);
    check_exact("gguf_iq4_nl", values, block);
}

/* The search's own table of levels is the text's. */
static void test_levels(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++)
        assert_true(levels[i] == (float)qp_kvalues_iq4nl[i]);
    for (int i = 0; i < 15; i++)
        assert_true(borders[i] == (levels[i] + levels[i + 1]) / 2);
    for (float value = -140.0f; value < 140.0f; value += 0.25f) {
        float nearest = levels[(int)level_of(value)];
        for (int i = 0; i < 16; i++)
            assert_true(fabsf(value - nearest) <= fabsf(value - levels[i]));
    }
}

/* Values far below one, and all of one sign, keep a relative precision that the type's codes give
 * wherever a scale can be stored. */
static void test_small_and_shifted(void **state)
{
    static const double bounds[TEST_COUNT(encoded)] = {1e-4, 2e-2, 5e-3, 2e-2,
                                                       5e-3, 4e-3, 2e-2, 3e-2};
    float values[SOURCE_COUNT];
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++)
        for (int exponent = -16; exponent <= 12; exponent += 4)
            for (int shift = 0; shift < 2; shift++) {
                uint64_t seed = 11;
                double all = 0;
                for (size_t i = 0; i < SOURCE_COUNT; i++) {
                    values[i] = ldexpf(random_unit(&seed) + (shift != 0 ? 3.0f : 0.0f), exponent);
                    all += (double)values[i] * (double)values[i];
                }
                double error = encode_error(encoded[f], values, NULL, NULL);
                if (!(error <= bounds[f] * all))
                    fail_msg("%s at 2^%d, shift %d: %g", encoded[f], exponent, shift, error / all);
            }
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void check_refused(const char *format, float value, const char *check, uint32_t cpu)
{
    qp_matrix target = format_plan_two(format, 5, 512);
    uint8_t *blocks = format_bytes(target.bytes);
    float *values = format_values(5 * 512);
    qp_method_job job = job_of(&target, NULL);
    qp_method_rows rows = {.values = values, .words = {.codes = blocks}};
    qp_error error = {.status = QP_OK};
    values[3 * 512 + 300] = value;
    values[3 * 512 + 299] = 1.0f;
    values[4 * 512 + 1] = value;
    job.cpu = cpu;
    assert_int_equal(method_run(job, &rows, 2, &error), QP_FIELD_RANGE);
    assert_string_equal(error.check, check);
    assert_int_equal(error.row, 3);
    assert_int_equal(error.column, 300);
    free(blocks);
    free(values);
}

static void test_refused_values(void **state)
{
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++)
        for (size_t m = 0; m < TEST_COUNT(method_masks); m++) {
            check_refused(encoded[f], NAN, "source_not_finite", method_mask(m));
            check_refused(encoded[f], -INFINITY, "source_not_finite", method_mask(m));
            check_refused(encoded[f], 3e38f, "scale_not_finite", method_mask(m));
            check_refused(encoded[f], -3e38f, "scale_not_finite", method_mask(m));
        }
}

/* The largest values that have a scale come back near; the next larger one is refused. */
static void test_largest(void **state)
{
    static const float limits[TEST_COUNT(encoded)] = {128, 8, 16, 63, 63, 32 * 128, 127, 32 * 127};
    (void)state;
    for (size_t f = 0; f < TEST_COUNT(encoded); f++)
        for (int sign = -1; sign <= 1; sign += 2) {
            qp_matrix target = format_plan_two(encoded[f], 1, 256);
            uint8_t *blocks = format_bytes(target.bytes);
            float values[256] = {0}, decoded[256];
            float limit = limits[f] * 65520.0f;
            values[40] = (float)sign * nextafterf(limit, 0);
            encode_rows(job_of(&target, NULL), values, 1, blocks);
            decode_rows(&target, blocks, decoded);
            assert_true(fabsf(decoded[40] - values[40]) <= 0.15f * limit);
            free(blocks);
            check_refused(encoded[f], (float)sign * limit, "scale_not_finite", 0);
        }
}

static void test_refused_jobs(void **state)
{
    uint64_t shape[2] = {2, 96};
    qp_matrix target;
    qp_error error;
    (void)state;
    assert_int_equal(qp_matrix_plan(qp_format_find("gguf_q4_0"), NULL, shape, 2, 1, &target, NULL),
                     QP_OK);
    qp_method_job job = job_of(&target, NULL);
    assert_int_equal(qp_method_prepare(&job, NULL), QP_OK);
    assert_int_not_equal(
        qp_matrix_plan(qp_format_find("gguf_q4_k"), NULL, shape, 2, 1, &target, &error), QP_OK);
    assert_string_equal(error.check, "C-GEOM");

    job.element = qp_element_find("I32");
    assert_int_not_equal(qp_method_prepare(&job, &error), QP_OK);
    assert_string_equal(error.check, "source_type");

    static const char *const others[] = {"gguf_q2_k", "gguf_q3_k", "gguf_iq2_xs", "gguf_q2_0"};
    for (size_t i = 0; i < TEST_COUNT(others); i++) {
        target = format_plan_two(others[i], 2, 256);
        job = job_of(&target, NULL);
        assert_int_not_equal(qp_method_prepare(&job, &error), QP_OK);
        assert_string_equal(error.check, "method_target");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_or_below_ggml),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_rounding_mode),
        cmocka_unit_test(test_sets_agree),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_exact_blocks),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_small_and_shifted),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_refused_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
