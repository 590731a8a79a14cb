/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_jpegai.c - the integer stages of wai.image.jpegai on the smallest bundle: the conversion to
 * Q16, round trips of the entropy substreams, a whole decode against its graphs, refusals.
 */
#include "support/small_sets.h"
#include "support/test.h"

#include "conform/sets.h"
#include "failing_allocator.h"
#include "quipu/jpegai.h"
#include "quipu/stage.h"

enum { C_Y = QP_JPEGAI_Y_CHANNELS, C_UV = QP_JPEGAI_UV_CHANNELS, ROW = 16, SPAN = 256 };
enum { N_LUMA = 256 * 256 };

typedef struct fixture {
    qp_small_set set;
    qp_buffer norm; /* norm.json with bounds of 1, so that -1 is the escape of each distribution */
    qp_jpegai_model *model;
    int64_t z_y[C_Y * ROW], z_uv[C_UV * ROW];
    uint8_t grfs_y[C_Y], grfs_uv[C_UV];
    int16_t y_q[C_Y * SPAN], uv_q[C_UV * SPAN];
    qp_encoded soz, sorp, sors;
    qp_jpegai_segments segments;
} fixture;

static void find_set(qp_small_set *set)
{
    for (size_t i = 0; i < qp_small_set_count(); i++) {
        assert_int_equal(qp_small_set_make(i, NULL, set, NULL), QP_OK);
        if (strcmp(set->name, "jpegai") == 0)
            return;
        qp_small_set_free(set);
    }
    fail();
}

static void set_bounds(fixture *f)
{
    static const char name[] = "\"bounds\":[";
    qp_member *norm = &f->set.members[0];
    const char *text = norm->bytes;
    size_t at = 0, after;
    assert_string_equal(norm->path, "norm.json");
    while (memcmp(text + at, name, strlen(name)) != 0)
        at++;
    at += strlen(name);
    for (after = at; text[after] != ']'; after++)
        continue;
    qp_buffer_init(&f->norm, NULL);
    qp_buffer_append(&f->norm, text, at);
    for (size_t i = 0; i < 32; i++)
        qp_buffer_text(&f->norm, i == 0 ? "1" : ",1");
    qp_buffer_append(&f->norm, text + after, norm->size - after);
    norm->bytes = f->norm.bytes;
    norm->size = f->norm.size;
}

static void fill(fixture *f)
{
    uint64_t seed = 21;
    for (size_t i = 0; i < C_Y * ROW; i++)
        f->z_y[i] = (int64_t)small_random(&seed, 64) - 31;
    for (size_t i = 0; i < C_UV * ROW; i++)
        f->z_uv[i] = (int64_t)small_random(&seed, 64) - 31;
    for (size_t i = 0; i < C_Y; i++)
        f->grfs_y[i] = small_random(&seed, 2) == 1;
    for (size_t i = 0; i < C_UV; i++)
        f->grfs_uv[i] = small_random(&seed, 2) == 1;
    for (size_t i = 0; i < C_Y * SPAN; i++) {
        bool far = small_random(&seed, 50) == 0; /* an escape */
        f->y_q[i] =
            (int16_t)(far ? (int)small_random(&seed, 3000) - 1500 : -(int)small_random(&seed, 2));
        if (i < C_UV * SPAN)
            f->uv_q[i] = f->y_q[i];
    }
}

static void encode(fixture *f)
{
    qp_jpegai_coded y = {QP_JPEGAI_Y, f->z_y, f->grfs_y, f->y_q};
    qp_jpegai_coded uv = {QP_JPEGAI_UV, f->z_uv, f->grfs_uv, f->uv_q};
    assert_int_equal(qp_jpegai_encode_hyper(f->model, f->z_y, f->z_uv, NULL, &f->soz, NULL), QP_OK);
    assert_int_equal(qp_jpegai_encode_latent(f->model, &y, NULL, &f->sorp, NULL), QP_OK);
    assert_int_equal(qp_jpegai_encode_latent(f->model, &uv, NULL, &f->sors, NULL), QP_OK);
    f->segments = (qp_jpegai_segments){{f->soz.bytes, f->soz.size},
                                       {f->sorp.bytes, f->sorp.size},
                                       {f->sors.bytes, f->sors.size},
                                       f->grfs_y,
                                       f->grfs_uv};
}

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    find_set(&f->set);
    set_bounds(f);
    assert_int_equal(
        qp_jpegai_model_open(f->set.members, f->set.count, NULL, NULL, &f->model, NULL), QP_OK);
    fill(f);
    encode(f);
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture *f = *state;
    qp_encoded_free(NULL, &f->sors);
    qp_encoded_free(NULL, &f->sorp);
    qp_encoded_free(NULL, &f->soz);
    qp_jpegai_model_close(f->model);
    qp_buffer_free(&f->norm);
    qp_small_set_free(&f->set);
    free(f);
    return 0;
}

/* ---- Q16 ---------------------------------------------------------------------------------- */

/* sign, the exponent of 2, and the 52 bits of fraction */
static uint64_t binary64(unsigned sign, int exponent, uint64_t fraction)
{
    return (uint64_t)sign << 63 | (uint64_t)(unsigned)(exponent + 1023) << 52 | fraction;
}

static void q16(void **state)
{
    const uint64_t half = (uint64_t)1 << 51, ulp = 1, all = ((uint64_t)1 << 52) - 1;
    const struct {
        uint64_t bits;
        int64_t value;
    } rows[] = {
        {0, 0},
        {(uint64_t)1 << 63, 0},            /* -0 */
        {binary64(0, 0, 0), 65536},        /* 1 */
        {binary64(1, 0, half), -98304},    /* -1.5 */
        {binary64(0, -16, 0), 1},          /* one unit */
        {binary64(0, -17, 0), 1},          /* half a unit: a tie, away from zero */
        {binary64(1, -17, 0), -1},         /* and below zero */
        {binary64(0, -18, all), 0},        /* just below half */
        {binary64(0, -17, ulp), 1},        /* just above */
        {binary64(0, -16, half), 2},       /* one and a half */
        {binary64(0, -16, half - ulp), 1}, /* a little less */
        {binary64(1, -16, half), -2},      /* away from zero again */
        {binary64(0, -1074 + 52, 0), 0},   /* the least normal number */
        {1, 0},                            /* the least of all */
        {binary64(1, 15, 0), INT32_MIN},   /* -2^15 */
    };
    int64_t value;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(rows); i++) {
        assert_int_equal(qp_jpegai_to_q16(rows[i].bits, &value, NULL), QP_OK);
        assert_int_equal(value, rows[i].value);
    }
    /* 2^31 - 1 units, and as far above it as still rounds down */
    uint64_t most = ((((uint64_t)1 << 31) - 1) << 22) & all;
    assert_int_equal(qp_jpegai_to_q16(binary64(0, 14, most), &value, NULL), QP_OK);
    assert_int_equal(value, INT32_MAX);
    assert_int_equal(qp_jpegai_to_q16(binary64(0, 14, most + (1 << 21) - 1), &value, NULL), QP_OK);
    assert_int_equal(value, INT32_MAX);
}

static void q16_refuses(void **state)
{
    const uint64_t most = ((((uint64_t)1 << 31) - 1) << 22) & (((uint64_t)1 << 52) - 1);
    const uint64_t bits[] = {
        binary64(0, 14, most + (1 << 21)), /* a tie that rounds to 2^31 */
        binary64(0, 15, 0),
        binary64(1, 15, (uint64_t)1 << 20), /* -2^31 and a half unit */
        binary64(0, 16, 0),
        binary64(1, 1023, 0),
        binary64(0, 1024, 0), /* infinity */
        binary64(1, 1024, 0),
        binary64(0, 1024, 1), /* no number */
    };
    int64_t value = 7;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(bits); i++)
        assert_int_equal(qp_jpegai_to_q16(bits[i], &value, NULL), QP_FIELD_RANGE);
    assert_int_equal(value, 7);
}

/* ---- the entropy decodes ------------------------------------------------------------------ */

static void check_latent(const qp_jpegai_latent *l, const int64_t *z, const uint8_t *grfs,
                         const int16_t *y_q)
{
    static const int64_t edges[] = {1004, 1353, 1938};
    static const int64_t rows[2][4] = {{-31, 20, 122, 181}, {-80, -31, 71, 130}};
    assert_memory_equal(l->z, z, l->channels * ROW * sizeof *z);
    for (size_t i = 0; i < (size_t)l->channels * SPAN; i++) {
        size_t block = i / SPAN * SPAN + i % SPAN / 128 * 128 + i % 16 / 8 * 8, band = 0;
        int64_t sum = 0;
        for (size_t k = 0; k < 64; k++)
            sum += l->v[block + k / 8 * 16 + k % 8];
        int64_t likely = sum < 0 ? 0 : (sum + 32) / 64 > 4351 ? 4351 : (sum + 32) / 64;
        for (size_t e = 0; e < 3; e++)
            band += likely >= edges[e];
        int64_t scaled = l->v[i] + rows[grfs[i / SPAN] ? 0 : 1][band] + 64;
        int64_t sigma = scaled < 0 ? 0 : scaled / 128 > 31 ? 31 : scaled / 128;
        assert_int_equal(l->likely[i], likely);
        assert_int_equal(l->mask[i], l->v[i] > 382);
        assert_int_equal(l->sigma[i], sigma);
        assert_int_equal(l->y_q[i], l->mask[i] ? y_q[i] : 0);
    }
}

static void round_trips(void **state)
{
    fixture *f = *state;
    qp_jpegai_latent l;
    size_t coded = 0;
    assert_int_equal(qp_jpegai_entropy(f->model, QP_JPEGAI_Y, &f->segments, NULL, &l, NULL), QP_OK);
    check_latent(&l, f->z_y, f->grfs_y, f->y_q);
    for (size_t i = 0; i < C_Y * SPAN; i++)
        coded += l.mask[i];
    assert_true(coded > 0 && coded < C_Y * SPAN);
    qp_jpegai_latent_free(NULL, &l);
    assert_int_equal(qp_jpegai_entropy(f->model, QP_JPEGAI_UV, &f->segments, NULL, &l, NULL),
                     QP_OK);
    check_latent(&l, f->z_uv, f->grfs_uv, f->uv_q);
    qp_jpegai_latent_free(NULL, &l);
}

/* Decodes both planes; the first refusal. */
static qp_status entropy(const fixture *f, const qp_jpegai_segments *segments)
{
    qp_jpegai_latent l;
    qp_status status = qp_jpegai_entropy(f->model, QP_JPEGAI_Y, segments, NULL, &l, NULL);
    if (status == QP_OK) {
        qp_jpegai_latent_free(NULL, &l);
        status = qp_jpegai_entropy(f->model, QP_JPEGAI_UV, segments, NULL, &l, NULL);
    }
    if (status == QP_OK)
        qp_jpegai_latent_free(NULL, &l);
    return status;
}

/* A substream is read from its end: what is missing is missing at its front. */
static void short_streams(void **state)
{
    fixture *f = *state;
    qp_jpegai_bytes *parts[3];
    qp_jpegai_segments s = f->segments;
    parts[0] = &s.soz;
    parts[1] = &s.sorp;
    parts[2] = &s.sors;
    for (size_t i = 0; i < 3; i++) {
        s = f->segments;
        parts[i]->bytes += parts[i]->size / 2;
        parts[i]->size -= parts[i]->size / 2;
        assert_int_equal(entropy(f, &s), QP_STREAM_EXHAUSTED);
        parts[i]->size = 0;
        assert_int_equal(entropy(f, &s), QP_STREAM_EXHAUSTED);
    }
}

static void flipped_bits(void **state)
{
    fixture *f = *state;
    for (size_t at = 0; at < f->sorp.size; at += 1 + f->sorp.size / 40) {
        f->sorp.bytes[at] ^= 0x24;
        qp_status status = entropy(f, &f->segments);
        assert_true(status == QP_OK || status == QP_STREAM_EXHAUSTED);
        f->sorp.bytes[at] ^= 0x24;
    }
}

/* ---- the whole decode --------------------------------------------------------------------- */

/* Stages in integers, written as binary64: the residual is y_q; the latent is what a random network
 * takes without leaving its ranges, a few hundredths that depend on the reconstruction. */
typedef struct stages {
    size_t calls[2];
    int64_t too_large; /* a residual in its place, or 0 */
    qp_status failure;
} stages;

static uint64_t whole(int64_t v)
{
    unsigned sign = v < 0;
    uint64_t magnitude = (uint64_t)(v < 0 ? -v : v);
    int exponent = 52;
    if (magnitude == 0)
        return 0;
    for (; magnitude < (uint64_t)1 << 52; magnitude <<= 1)
        exponent--;
    return binary64(sign, exponent, magnitude & (((uint64_t)1 << 52) - 1));
}

/* v·2^-16 */
static uint64_t units(int64_t v)
{
    return v == 0 ? 0 : whole(v) - ((uint64_t)16 << 52);
}

static qp_status dequantise(void *context, qp_jpegai_plane plane, const qp_jpegai_latent *latent,
                            uint64_t *residual, qp_error *error)
{
    stages *s = context;
    (void)error;
    s->calls[0] += plane == QP_JPEGAI_Y ? 1 : 100;
    for (size_t i = 0; i < (size_t)latent->channels * SPAN; i++)
        residual[i] = whole(latent->y_q[i] % 64);
    if (s->too_large != 0)
        residual[5] = whole(s->too_large);
    return s->failure;
}

static qp_status refine(void *context, qp_jpegai_plane plane, const int64_t *reconstructed,
                        uint64_t *latent, qp_error *error)
{
    stages *s = context;
    (void)error;
    s->calls[1] += plane == QP_JPEGAI_Y ? 1 : 100;
    for (size_t i = 0; i < (plane == QP_JPEGAI_Y ? C_Y : C_UV) * (size_t)SPAN; i++)
        latent[i] = units(reconstructed[i] / 256 % 2000);
    return QP_OK;
}

static qp_status decode(const fixture *f, stages *s, const qp_allocator *allocator,
                        size_t max_memory, qp_jpegai_planes *planes)
{
    qp_jpegai_stages given = {
        .dequantise = dequantise, .refine = refine, .context = s, .options = {max_memory, 0}};
    return qp_jpegai_decode(f->model, &f->segments, &given, allocator, planes, NULL);
}

static void run(const fixture *f, size_t graph, const qp_array *inputs, size_t n, int64_t *out)
{
    const qp_certificate *certificate = qp_lowered_certificate(qp_jpegai_lowered(f->model));
    qp_session_options options = {.graph = graph, .profile = QP_ACC64};
    qp_session *session;
    qp_array output;
    assert_int_equal(qp_session_create(certificate, &options, NULL, &session, NULL), QP_OK);
    assert_int_equal(qp_session_decode(session, inputs, n, NULL, 0, NULL), QP_OK);
    assert_int_equal(qp_session_output(session, 0, &output), QP_OK);
    qp_array_read(&output, 0, (size_t)qp_array_elements(&output), out);
    qp_session_free(session);
}

/* rec_* on z and the residual, then what `refine` makes of it. */
static void reconstruct(const fixture *f, size_t plane, const int64_t *z, int64_t *latent)
{
    uint32_t c = plane == 0 ? C_Y : C_UV;
    qp_jpegai_latent l;
    assert_int_equal(
        qp_jpegai_entropy(f->model, (qp_jpegai_plane)plane, &f->segments, NULL, &l, NULL), QP_OK);
    for (size_t i = 0; i < (size_t)c * SPAN; i++)
        latent[i] = (int64_t)(l.y_q[i] % 64) * 65536;
    qp_jpegai_latent_free(NULL, &l);
    qp_array inputs[2] = {{z, QP_INT64, c, 4, 4}, {latent, QP_INT64, c, 16, 16}};
    run(f, 2 + plane, inputs, 2, latent);
    for (size_t i = 0; i < (size_t)c * SPAN; i++)
        latent[i] = latent[i] / 256 % 2000;
}

static void is_what_the_graphs_give(void **state)
{
    fixture *f = *state;
    int64_t *latents[2] = {calloc(C_Y * SPAN, 8), calloc(C_UV * SPAN, 8)};
    int64_t *planes[2] = {calloc(N_LUMA, 8), calloc(2 * N_LUMA, 8)};
    stages s = {0};
    qp_jpegai_planes made;

    assert_int_equal(decode(f, &s, NULL, 0, &made), QP_OK);
    assert_int_equal(s.calls[0], 101);
    assert_int_equal(s.calls[1], 101);
    reconstruct(f, 0, f->z_y, latents[0]);
    reconstruct(f, 1, f->z_uv, latents[1]);
    qp_array inputs[2] = {{latents[0], QP_INT64, C_Y, 16, 16},
                          {latents[1], QP_INT64, C_UV, 16, 16}};
    run(f, 4, inputs, 1, planes[0]);
    run(f, 5, inputs, 2, planes[1]);
    for (size_t i = 0; i < N_LUMA; i++)
        assert_int_equal(made.luma[i], planes[0][i]);
    for (size_t i = 0; i < 2 * N_LUMA; i++)
        assert_int_equal(made.chroma[i], planes[1][i]);
    qp_jpegai_planes_free(NULL, &made);
    for (size_t i = 0; i < 2; i++) {
        free(planes[i]);
        free(latents[i]);
    }
}

/* ---- golden digests ----------------------------------------------------------------------- */

static void hash_plane(qp_sha256 *hash, const int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t v = (uint32_t)values[i];
        const uint8_t bytes[4] = {(uint8_t)(v & 0xFF), (uint8_t)(v >> 8 & 0xFF),
                                  (uint8_t)(v >> 16 & 0xFF), (uint8_t)(v >> 24)};
        qp_sha256_update(hash, bytes, sizeof bytes);
    }
}

/* The substreams one after another; then the planes as little-endian 32-bit integers. */
static void golden(void **state)
{
    fixture *f = *state;
    const qp_encoded *parts[3] = {&f->soz, &f->sorp, &f->sors};
    uint8_t digest[QP_SHA256_SIZE];
    char text[QP_SHA256_HEX_SIZE];
    stages s = {0};
    qp_jpegai_planes planes;
    qp_sha256 hash;

    qp_sha256_init(&hash);
    for (size_t i = 0; i < 3; i++)
        qp_sha256_update(&hash, parts[i]->bytes, parts[i]->size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    assert_string_equal(text, "87995c75c7ed883760eca0563e7ca2fe357beef843ab113f36c0f471e328a855");

    assert_int_equal(decode(f, &s, NULL, 0, &planes), QP_OK);
    qp_sha256_init(&hash);
    hash_plane(&hash, planes.luma, N_LUMA);
    hash_plane(&hash, planes.chroma, 2 * N_LUMA);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    assert_string_equal(text, "36b02796f17a0f514b9ebc9848c3c5780ceb9cb0825b45d3dd207e6321f12d89");
    qp_jpegai_planes_free(NULL, &planes);
}

static void refusals(void **state)
{
    fixture *f = *state;
    stages s = {.too_large = 32768};
    qp_jpegai_planes planes;
    assert_int_equal(decode(f, &s, NULL, 0, &planes), QP_FIELD_RANGE);
    assert_null(planes.luma);
    s = (stages){.failure = QP_IO};
    assert_int_equal(decode(f, &s, NULL, 0, &planes), QP_IO);
    s = (stages){0};
    assert_int_equal(decode(f, &s, NULL, 1 << 20, &planes), QP_TOO_LARGE);
    f->segments.sors.size = 0; /* the streams of both planes come before any stage */
    assert_int_equal(decode(f, &s, NULL, 0, &planes), QP_STREAM_EXHAUSTED);
    assert_int_equal(s.calls[0], 0);
}

static void encoder_refuses(void **state)
{
    fixture *f = *state;
    qp_encoded payload;
    f->z_uv[9] = 33;
    assert_int_equal(qp_jpegai_encode_hyper(f->model, f->z_y, f->z_uv, NULL, &payload, NULL),
                     QP_FIELD_RANGE);
    assert_null(payload.bytes);
    qp_jpegai_coded uv = {QP_JPEGAI_UV, f->z_uv, f->grfs_uv, f->uv_q}; /* the scale graph refuses */
    assert_int_equal(qp_jpegai_encode_latent(f->model, &uv, NULL, &payload, NULL), QP_FIELD_RANGE);
    assert_null(payload.bytes);
}

/* With bounds of 9, which the distributions were not made for, there is a value that neither slots
 * nor an escape code. */
static void a_value_without_a_code(void **state)
{
    static const char name[] = "\"bounds\":[";
    fixture *f = *state;
    qp_jpegai_coded y = {QP_JPEGAI_Y, f->z_y, f->grfs_y, f->y_q};
    qp_jpegai_model *model;
    qp_encoded payload;
    size_t at = 0;
    while (memcmp(f->norm.bytes + at, name, strlen(name)) != 0)
        at++;
    for (at += strlen(name); f->norm.bytes[at] != ']'; at++)
        if (f->norm.bytes[at] == '1')
            f->norm.bytes[at] = '9';
    assert_int_equal(qp_jpegai_model_open(f->set.members, f->set.count, NULL, NULL, &model, NULL),
                     QP_OK);
    assert_int_equal(qp_jpegai_encode_latent(model, &y, NULL, &payload, NULL), QP_FIELD_RANGE);
    assert_null(payload.bytes);
    qp_jpegai_model_close(model);
}

/* A norm.json that is not one. */
static void a_bundle_that_fails_its_checks(void **state)
{
    fixture *f = *state;
    qp_jpegai_model *model;
    for (size_t i = 0; i < f->set.count; i++)
        if (strcmp(f->set.members[i].path, "norm.json") == 0)
            f->set.members[i].size--;
    assert_int_equal(qp_jpegai_model_open(f->set.members, f->set.count, NULL, NULL, &model, NULL),
                     QP_MODEL_MISMATCH);
    assert_null(model);
}

/* Every request of the entropy decode, and a few of the whole, which is long. */
static void without_memory(void **state)
{
    fixture *f = *state;
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_jpegai_latent l;
        qp_status status =
            qp_jpegai_entropy(f->model, QP_JPEGAI_UV, &f->segments, &allocator, &l, NULL);
        qp_jpegai_latent_free(&allocator, &l);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
    for (size_t k = 1; k < 40; k += 3) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        stages s = {0};
        qp_jpegai_planes planes;
        qp_status status = decode(f, &s, &allocator, 0, &planes);
        qp_jpegai_planes_free(&allocator, &planes);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
    }
}

static void encoders_without_memory(void **state)
{
    fixture *f = *state;
    qp_jpegai_coded uv = {QP_JPEGAI_UV, f->z_uv, f->grfs_uv, f->uv_q};
    for (size_t k = 1;; k++) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_encoded soz, sors = {0};
        qp_status status =
            qp_jpegai_encode_hyper(f->model, f->z_y, f->z_uv, &allocator, &soz, NULL);
        if (status == QP_OK)
            status = qp_jpegai_encode_latent(f->model, &uv, &allocator, &sors, NULL);
        qp_encoded_free(&allocator, &sors);
        qp_encoded_free(&allocator, &soz);
        assert_int_equal(memory.blocks, 0);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
        if (!memory.has_failed)
            break;
    }
}

/* The bundle's files are large: a few of the requests of its opening. */
static void opening_without_memory(void **state)
{
    fixture *f = *state;
    for (size_t k = 1; k < 3000; k += 1 + k / 3) {
        failing_allocator memory = failing_allocator_make(k);
        qp_allocator allocator = failing_allocator_use(&memory);
        qp_jpegai_model *model;
        qp_status status =
            qp_jpegai_model_open(f->set.members, f->set.count, NULL, &allocator, &model, NULL);
        qp_jpegai_model_close(model);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.has_fault);
        assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q16),
        cmocka_unit_test(q16_refuses),
        TEST(round_trips),
        TEST(short_streams),
        TEST(flipped_bits),
        TEST(is_what_the_graphs_give),
        TEST(golden),
        TEST(refusals),
        TEST(encoder_refuses),
        TEST(a_value_without_a_code),
        TEST(a_bundle_that_fails_its_checks),
        TEST(without_memory),
        TEST(encoders_without_memory),
        TEST(opening_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
