/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_bench.c - the decode of a 768 x 512 picture by wai.neural.int_hyper, and where its time
 * goes: entropy decoding, the networks, and the rest.
 *
 *     build/bench/codec_bench [--json] [SET]
 *
 * SET is a directory as `quipu encode --set` takes it; the model of the usual quality otherwise.
 * The picture is made here, from slopes, edges and noise, and encoded first. Then each round times
 * a whole decode, and its parts on the same data:
 *
 *     entropy   both rANS streams (E1), and the choice of the table of each latent (E3)
 *     networks  h_s and g_s
 *     the rest  E2 of the latents, the pixels, and memory for both
 *
 * Each figure is processor time, the best of several rounds, after a decode that prepares the
 * sessions. The parts must give the picture that the decoder gives; what they leave of its time is
 * framing, plans and noise. One round more runs both networks by reference.
 */
#include "codec/int_hyper.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CAPABILITY "wai.neural.int_hyper"

enum { WIDTH = 768, HEIGHT = 512, PIXEL = 3, ROUNDS = 5, FILES = 5, BESIDE = 3, PATH_SIZE = 4096 };

/* Seconds of this process on a processor: a decode has one thread, and its neighbours' turns do not
 * count. */
static double now(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "codec_bench: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void require_ok(qp_status status, const char *what, const qp_error *error)
{
    if (status == QP_OK)
        return;
    fprintf(stderr, "codec_bench: %s: %s: %s\n", what, qp_status_token(status), error->message);
    exit(EXIT_FAILURE);
}

/* ---- results ------------------------------------------------------------------------------ */

static bool as_json;
static bool any_printed;

static void report(const char *name, double value, const char *unit)
{
    if (as_json)
        printf("%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}",
               any_printed ? "," : "[", name, value, unit);
    else
        printf("%-44s %9.4g %s\n", name, value, unit);
    any_printed = true;
}

/* ---- the picture -------------------------------------------------------------------------- */

static uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % limit);
}

/* Up and down from 0 to `height` and back, `period` pixels long. */
static int wave(int at, int period, int height)
{
    int phase = at % period, half = period / 2;
    return (phase < half ? phase : period - phase) * height / half;
}

/* A slope of each colour, waves in both directions, bright rectangles, and noise. */
static uint8_t sample(int y, int x, int c, uint64_t *seed)
{
    int value = 40 + (c + 1) * x / 24 + (3 - c) * y / 16;
    value += wave(x + y / 2, 190 + 20 * c, 30) + wave(2 * y + x / 3, 74, 18);
    value += x % 128 > 70 && y % 96 > 50 ? 36 - 12 * c : 0;
    uint32_t rough = x / 96 % 2 == y / 64 % 2 ? 6 : 40; /* smooth tiles and grainy ones */
    value += (int)random_below(seed, rough) + (int)random_below(seed, rough) - (int)rough + 1;
    return (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
}

static qp_media make_picture(void)
{
    qp_media picture = {QP_LAYOUT_PIXELS, 1, HEIGHT, WIDTH, PIXEL, 0, NULL, 0};
    uint64_t seed = 1;
    require(qp_media_make(NULL, &picture, NULL) == QP_OK, "no memory");
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < PIXEL; c++)
                picture.bytes[(y * WIDTH + x) * PIXEL + c] = sample(y, x, c, &seed);
    return picture;
}

/* ---- the set and the payload -------------------------------------------------------------- */

typedef struct model {
    qp_file files[FILES];
    qp_member members[FILES]; /* the set, then what lies beside it */
    qp_set *set;
} model;

static void open_model(const char *directory, model *m)
{
    static const char *const names[FILES] = {"h_s.whm", "g_s.whm", "entropy.json", "g_a.whm",
                                             "h_a.whm"};
    qp_set_options options = {.capability = CAPABILITY};
    qp_error error;
    for (size_t i = 0; i < FILES; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        require_ok(qp_file_open(path, NULL, &m->files[i], &error), path, &error);
        m->members[i] = (qp_member){names[i], m->files[i].bytes, m->files[i].size};
    }
    require_ok(qp_set_open(m->members, BESIDE, &options, NULL, &m->set, &error), directory, &error);
}

static void close_model(model *m)
{
    qp_set_close(m->set);
    for (size_t i = FILES; i > 0; i--)
        qp_file_close(&m->files[i - 1]);
}

static qp_encoded encode(const model *m)
{
    qp_media picture = make_picture();
    qp_encoded payload;
    qp_encoder *encoder;
    qp_error error;
    require_ok(qp_encoder_create(CAPABILITY, m->set, m->members + BESIDE, FILES - BESIDE, NULL,
                                 NULL, &encoder, &error),
               "the encoder", &error);
    double start = now();
    require_ok(qp_encoder_encode(encoder, &(qp_source){.media = &picture}, &payload, &error),
               "the encoder", &error);
    report("encode", 1e3 * (now() - start), "ms");
    report("the payload", 8.0 * (double)payload.size / (WIDTH * HEIGHT), "bits a pixel");
    qp_encoder_free(encoder);
    qp_media_free(NULL, &picture);
    return payload;
}

/* ---- the parts ---------------------------------------------------------------------------- */

/* A decode taken apart: where its streams lie, and what each part reads. */
typedef struct parts {
    const qp_entropy *entropy;
    qp_shape z, y;
    qp_bytes z_stream, y_stream;
    size_t n_z, n_y;
    qp_hyper_work hyper, latent; /* of one round */
    qp_session *h_s, *g_s;
    qp_array scales, pixels; /* the sessions' */
} parts;

static qp_shape shape_at(const uint8_t *p)
{
    return (qp_shape){qp_load_u16(p), qp_load_u16(p + 2), qp_load_u16(p + 4)};
}

/* The payload as docs/payloads.md lays it out, which the decoder has read already. */
static void find_parts(const model *m, const qp_encoded *payload, int reference, parts *p)
{
    enum { Z_SHAPE = 16, Y_SHAPE = 22, Z_LENGTH = 28, Y_LENGTH = 32, STREAMS = 36 };
    const qp_certificate *certificate = qp_lowered_certificate(qp_set_lowered(m->set));
    const uint8_t *bytes = payload->bytes;

    *p = (parts){.entropy = &m->set->entropy};
    p->z = shape_at(bytes + Z_SHAPE);
    p->y = shape_at(bytes + Y_SHAPE);
    p->z_stream = (qp_bytes){bytes + STREAMS, qp_load_u32(bytes + Z_LENGTH)};
    p->y_stream = (qp_bytes){bytes + STREAMS + p->z_stream.size, qp_load_u32(bytes + Y_LENGTH)};
    p->n_z = (size_t)qp_shape_elements(&p->z);
    p->n_y = (size_t)qp_shape_elements(&p->y);
    require(qp_codec_session(certificate, QP_HYPER_H_S, reference, NULL, &p->h_s, NULL) == QP_OK &&
                qp_codec_session(certificate, QP_HYPER_G_S, reference, NULL, &p->g_s, NULL) ==
                    QP_OK,
            "no memory");
}

static void free_parts(parts *p)
{
    qp_session_free(p->g_s);
    qp_session_free(p->h_s);
}

static void decode_z(parts *p)
{
    qp_rans_decoder stream;
    size_t plane = p->n_z / p->z.channels;
    bool ok = qp_rans_decoder_init(&stream, p->entropy->z, p->z_stream.bytes, p->z_stream.size,
                                   NULL) == QP_OK;
    for (size_t c = 0; c < p->z.channels && ok; c++)
        ok = qp_rans_decode_same(&stream, c, plane, p->hyper.symbols + c * plane, NULL) == QP_OK;
    require(ok && qp_rans_finish(&stream, NULL) == QP_OK, "the z stream is refused");
}

static void decode_y(parts *p)
{
    qp_rans_decoder stream;
    qp_hyper_tables(p->entropy, &p->scales, p->n_y, &p->latent);
    require(qp_rans_decoder_init(&stream, p->entropy->y, p->y_stream.bytes, p->y_stream.size,
                                 NULL) == QP_OK &&
                qp_rans_decode_run(&stream, p->latent.reads, p->n_y, p->latent.symbols, NULL) ==
                    QP_OK &&
                qp_rans_finish(&stream, NULL) == QP_OK,
            "the y stream is refused");
}

/* E2 of a latent; `means` is whether the second half of the scales' array is its means. */
static void dequantize(const parts *p, const qp_hyper_work *work, bool means)
{
    enum { SPAN = 512 };
    int64_t mean[SPAN] = {0};
    bool ok = true;
    for (size_t start = 0, n; start < work->count && ok; start += n) {
        n = work->count - start < SPAN ? work->count - start : SPAN;
        if (means)
            qp_array_read(&p->scales, work->count + start, n, mean);
        for (size_t i = 0; i < n && ok; i++)
            ok = qp_dequantize(work->symbols[start + i], p->entropy->afrac, mean[i],
                               &work->values[start + i], NULL) == QP_OK;
    }
    require(ok, "a value is refused");
}

static void make_work(parts *p)
{
    require(qp_hyper_work_make(NULL, p->n_z, &p->hyper, NULL) == QP_OK &&
                qp_hyper_work_make(NULL, p->n_y, &p->latent, NULL) == QP_OK,
            "no memory");
}

static void run(qp_session *session, const qp_hyper_work *work, const qp_shape *shape,
                qp_array *output)
{
    qp_array input = {work->values, QP_INT64, shape->channels, shape->height, shape->width};
    require(qp_session_decode(session, &input, 1, NULL, 0, NULL) == QP_OK &&
                qp_session_output(session, 0, output) == QP_OK,
            "a network refuses");
}

static void put_picture(parts *p, qp_media *picture)
{
    *picture = (qp_media){QP_LAYOUT_PIXELS, 1, HEIGHT, WIDTH, PIXEL, 0, NULL, 0};
    require(qp_media_make(NULL, picture, NULL) == QP_OK, "no memory");
    qp_media_put_pixels(picture, 0, &p->pixels);
    qp_hyper_work_free(NULL, &p->latent);
    qp_hyper_work_free(NULL, &p->hyper);
}

typedef struct times {
    double whole, entropy, networks, rest; /* seconds */
} times;

/* Adds what has passed since *start, which is moved on. */
static void count(double *start, double *spent)
{
    double end = now();
    *spent += end - *start;
    *start = end;
}

/* Every part once, in the order of the decode. */
static void time_parts(parts *p, times *t, qp_media *picture)
{
    double start = now();
    make_work(p);
    count(&start, &t->rest);
    decode_z(p);
    count(&start, &t->entropy);
    dequantize(p, &p->hyper, false);
    count(&start, &t->rest);
    run(p->h_s, &p->hyper, &p->z, &p->scales);
    count(&start, &t->networks);
    decode_y(p);
    count(&start, &t->entropy);
    dequantize(p, &p->latent, true);
    count(&start, &t->rest);
    run(p->g_s, &p->latent, &p->y, &p->pixels);
    count(&start, &t->networks);
    put_picture(p, picture);
    count(&start, &t->rest);
}

/* ---- rounds ------------------------------------------------------------------------------- */

static double time_whole(qp_decoder *decoder, const qp_encoded *payload, qp_media *picture)
{
    qp_unit unit = {.bytes = payload->bytes, .size = payload->size};
    qp_error error;
    double start = now();
    require_ok(qp_decoder_decode(decoder, &unit, picture, &error), "the decoder", &error);
    return now() - start;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* The best of each time. The whole and the parts take turns, so that what else the machine does
 * meets both. */
static times measure(const model *m, const qp_encoded *payload, int reference, int rounds)
{
    times best = {1e9, 1e9, 1e9, 1e9};
    qp_decode_options options = {.reference = reference};
    qp_decoder *decoder;
    qp_media picture, again;
    parts p;

    require(qp_decoder_create(CAPABILITY, m->set, &options, NULL, &decoder, NULL) == QP_OK,
            "no memory");
    find_parts(m, payload, reference, &p);
    for (int round = 0; round <= rounds; round++) {
        times t = {.whole = time_whole(decoder, payload, &picture)};
        time_parts(&p, &t, &again);
        require(again.size == picture.size && memcmp(again.bytes, picture.bytes, picture.size) == 0,
                "the parts give another picture");
        qp_media_free(NULL, &again);
        qp_media_free(NULL, &picture);
        if (round > 0)
            best = (times){least(best.whole, t.whole), least(best.entropy, t.entropy),
                           least(best.networks, t.networks), least(best.rest, t.rest)};
    }
    free_parts(&p);
    qp_decoder_free(decoder);
    return best;
}

static void report_times(const times *fast, const times *slow)
{
    double sum = fast->entropy + fast->networks + fast->rest;
    report("decode", 1e3 * fast->whole, "ms");
    report("entropy", 1e3 * fast->entropy, "ms");
    report("networks", 1e3 * fast->networks, "ms");
    report("the rest", 1e3 * fast->rest, "ms");
    report("entropy, of all parts", 100 * fast->entropy / sum, "%");
    report("networks, of all parts", 100 * fast->networks / sum, "%");
    report("the rest, of all parts", 100 * fast->rest / sum, "%");
    report("the decode over all parts", fast->whole / sum, "times");
    report("networks by reference over by kernels", slow->networks / fast->networks, "times");
}

int main(int argc, char **argv)
{
    const char *directory = QP_BENCH_SET;
    model m;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            as_json = true;
        else
            directory = argv[i];
    }
    open_model(directory, &m);
    qp_encoded payload = encode(&m);
    times fast = measure(&m, &payload, 0, ROUNDS);
    times slow = measure(&m, &payload, 1, 1);
    report_times(&fast, &slow);
    if (as_json)
        printf("\n]\n");
    qp_encoded_free(NULL, &payload);
    close_model(&m);
    return EXIT_SUCCESS;
}
