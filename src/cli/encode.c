/* SPDX-License-Identifier: Apache-2.0 */
/* encode.c - quipu encode: a picture, a video or sound to a .qp file (docs/payloads.md). */
#define _POSIX_C_SOURCE 200809L /* fileno, isatty */

#include "cli/cli.h"
#include "cli/frames.h"
#include "cli/media_file.h"
#include "cli/model.h"
#include "cli/open_set.h"
#include "cli/output.h"
#include "cli/verify_file.h"
#include "cli/wav.h"
#include "cli/y4m.h"

#include <unistd.h>

#define VIDEO_CAPABILITY "wai.video.int_motion"
#define AUDIO_CAPABILITY "wai.audio.int_codec"
#define FRAME_FORM ".frame" /* how the names of capabilities end whose payloads are frames */

enum { USUAL_QUALITY = 2, BESIDE = 2, PATH_SIZE = 4096 };

typedef struct options {
    const char *path, *output, *set, *capability, *quality_text, *step_text;
    int quality;
    uint32_t step;
    bool json, video;
} options;

static bool read_step(const char *text, uint32_t *step)
{
    int64_t value;
    if (!qp_cli_i64(text, &value) || value < 1 || value > UINT16_MAX)
        return false;
    *step = (uint32_t)value;
    return true;
}

static int check_options(options *o)
{
    if (o->path == NULL)
        return qp_cli_usage("encode", "a picture is missing");
    if (o->output == NULL)
        return qp_cli_usage("encode", "-o FILE says where the coded picture goes");
    if (o->quality_text != NULL && o->set != NULL)
        return qp_cli_usage("encode", "a set has one quality: --quality is for the default model");
    if (o->quality_text != NULL && !qp_cli_quality(o->quality_text, &o->quality))
        return qp_cli_usage("encode", "--quality is 1, 2 or 3");
    if (o->step_text != NULL && !read_step(o->step_text, &o->step))
        return qp_cli_usage("encode", "--step is a number from 1 to 65535");
    if (o->json && strcmp(o->output, "-") == 0)
        return qp_cli_usage("encode", "--json and -o - would both write to standard output");
    return QP_EXIT_OK;
}

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            o->json = true;
        else if (qp_args_value(&args, "-o", &o->output) ||
                 qp_args_value(&args, "--output", &o->output) ||
                 qp_args_value(&args, "--set", &o->set) ||
                 qp_args_value(&args, "--capability", &o->capability) ||
                 qp_args_value(&args, "--step", &o->step_text) ||
                 qp_args_value(&args, "--quality", &o->quality_text))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (o->path != NULL)
            return qp_cli_usage("encode", "one picture at a time, please");
        else
            o->path = path;
    }
    return args.failed ? qp_args_usage(&args) : check_options(o);
}

/* ---- the encoder's networks --------------------------------------------------------------- */

/* How many of the networks below an encoder reads: sound has no hyper-latent. */
static size_t count_beside(const options *o)
{
    return strcmp(o->capability, AUDIO_CAPABILITY) == 0 ? 1 : BESIDE;
}

/* The files beside the set in a directory, or those within the command. */
typedef struct beside {
    qp_member members[BESIDE];
    qp_file files[BESIDE];
    size_t count;
} beside;

static void close_beside(beside *b)
{
    for (size_t i = b->count; i > 0; i--)
        qp_file_close(&b->files[i - 1]);
    b->count = 0;
}

static qp_status open_beside(const char *directory, size_t count, beside *b, qp_error *error)
{
    static const char *const names[BESIDE] = {"g_a.whm", "h_a.whm"};
    char path[PATH_SIZE];
    qp_status status = QP_OK;

    for (b->count = 0; b->count < count && status == QP_OK;) {
        const char *name = names[b->count];
        int length = snprintf(path, sizeof path, "%s/%s", directory, name);
        if (length < 0 || length >= PATH_SIZE)
            return qp_fail(error, QP_IO, "the directory's name is too long");
        qp_file *file = &b->files[b->count];
        status = qp_file_open(path, NULL, file, error);
        if (status == QP_OK)
            b->members[b->count++] = (qp_member){name, file->bytes, file->size};
    }
    if (status != QP_OK)
        close_beside(b);
    return status;
}

static qp_status make_encoder(const qp_set *set, const options *o, qp_encoder **encoder,
                              qp_error *error)
{
    const qp_model *model = &qp_models[o->quality - 1];
    qp_encode_options choice = {.q = o->step};
    beside b = {.count = 0};

    if (set == NULL)
        return qp_encoder_create(o->capability, NULL, NULL, 0, &choice, NULL, encoder, error);
    if (o->set == NULL)
        return qp_encoder_create(o->capability, set, model->members + model->n_set,
                                 model->count - model->n_set, &choice, NULL, encoder, error);
    qp_status status = open_beside(o->set, count_beside(o), &b, error);
    if (status == QP_OK)
        status = qp_encoder_create(o->capability, set, b.members, b.count, &choice, NULL, encoder,
                                   error);
    close_beside(&b);
    return status;
}

/* ---- payloads ----------------------------------------------------------------------------- */

/* The frames that go into one payload: all of them, or one for the capabilities of frames. */
static uint32_t frames_a_payload(const options *o, const qp_media *media)
{
    size_t length = strlen(o->capability), suffix = strlen(FRAME_FORM);
    bool frames = length > suffix && strcmp(o->capability + length - suffix, FRAME_FORM) == 0;
    return frames ? 1 : media->frames;
}

static qp_status encode_payloads(qp_encoder *encoder, const qp_media *media, uint32_t each,
                                 qp_encoded *payloads, qp_error *error)
{
    uint32_t count = media->frames / each;
    bool progress = count > 1 && isatty(fileno(stderr)) == 1;
    qp_media part = *media;
    qp_status status = QP_OK;

    part.frames = each;
    part.size = media->size / count;
    for (uint32_t i = 0; i < count && status == QP_OK; i++) {
        part.bytes = media->bytes + i * part.size;
        if (progress)
            fprintf(stderr, "\rframe %lu of %lu", (unsigned long)i + 1, (unsigned long)count);
        status = qp_encoder_encode(encoder, &(qp_source){.media = &part}, &payloads[i], error);
    }
    if (progress)
        fputs("\r\033[K", stderr);
    return status;
}

/* Encodes into the bytes of a file. */
static qp_status encode_file(qp_encoder *encoder, const qp_set *set, const qp_media *media,
                             const options *o, qp_encoded *file, qp_error *error)
{
    uint32_t each = frames_a_payload(o, media), count = media->frames / each;
    const char *sha256 = set == NULL ? NULL : qp_lowered_sha256(qp_set_lowered(set));
    qp_encoded *payloads = qp_allocate(NULL, count, sizeof *payloads);
    if (payloads == NULL)
        return qp_fail_memory(error, "the payloads of a video");
    qp_status status = encode_payloads(encoder, media, each, payloads, error);
    if (status == QP_OK)
        status = qp_container_write(o->capability, sha256, payloads, count, NULL, file, error);
    for (uint32_t i = count; i > 0; i--)
        qp_encoded_free(NULL, &payloads[i - 1]);
    qp_release(NULL, payloads, count, sizeof *payloads);
    return status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

/* Media of any kind, and whether it is a video. */
static qp_status read_media(options *o, qp_media *media, qp_error *error)
{
    qp_file file;
    o->video = qp_is_directory(o->path);
    if (o->video)
        return qp_frames_read(o->path, media, error);
    qp_status status = qp_cli_read(o->path, &file, error);
    if (status != QP_OK)
        return status;
    o->video = qp_y4m_is(file.bytes, file.size);
    if (o->video)
        status = qp_y4m_read(file.bytes, file.size, media, error);
    else if (qp_wav_is(file.bytes, file.size))
        status = qp_wav_read(file.bytes, file.size, media, error);
    else
        status = qp_media_read_picture(file.bytes, file.size, media, error);
    qp_file_close(&file);
    return status;
}

/* What is usual for such media, where the user names no capability. */
static void choose_capability(options *o, const qp_media *media)
{
    if (o->capability == NULL)
        o->capability = media->layout == QP_LAYOUT_AUDIO ? AUDIO_CAPABILITY
                        : o->video                       ? VIDEO_CAPABILITY
                                                         : QP_PICTURE_CAPABILITY;
}

/* Thousandths of a bit a pixel, or a sample of all channels, rounded to the nearest. */
static uint64_t millibits(const qp_media *media, size_t size)
{
    uint64_t pixels = (uint64_t)media->frames * media->height * media->width;
    return ((uint64_t)size * 8000 + pixels / 2) / pixels;
}

/* ", 33.10 dB" for what can be compared. */
static void format_psnr(const qp_verified *verified, char text[32])
{
    text[0] = '\0';
    if (!verified->comparable || !verified->complete)
        return;
    uint32_t psnr = qp_verified_psnr(verified);
    if (psnr == UINT32_MAX)
        snprintf(text, 32, ", lossless");
    else
        snprintf(text, 32, ", %lu.%02lu dB", (unsigned long)psnr / 100, (unsigned long)psnr % 100);
}

static void report(const qp_set *set, const qp_media *media, const options *o, size_t size,
                   const qp_verified *verified)
{
    char psnr[32];
    uint64_t rate = millibits(media, size);
    bool sound = media->layout == QP_LAYOUT_AUDIO;
    if (o->json) {
        printf("{\"capability\":\"%s\",\"set_sha256\":", o->capability);
        if (set == NULL)
            printf("null");
        else
            printf("\"%s\"", qp_lowered_sha256(qp_set_lowered(set)));
        printf(",\"frames\":%lu,\"height\":%lu,\"width\":%lu,\"bytes\":%zu,"
               "\"millibits_per_%s\":%llu}\n",
               (unsigned long)media->frames, (unsigned long)media->height,
               (unsigned long)media->width, size, sound ? "sample" : "pixel",
               (unsigned long long)rate);
    } else if (strcmp(o->output, "-") != 0) {
        format_psnr(verified, psnr);
        printf("%s: %zu bytes, %llu.%03llu bits a %s%s\n", o->output, size,
               (unsigned long long)(rate / 1000), (unsigned long long)(rate % 1000),
               sound ? "sample" : "pixel", psnr);
    }
}

static qp_status encode_media(const options *o, const qp_media *media, qp_error *error)
{
    qp_opened_set opened;
    qp_encoder *encoder = NULL;
    qp_encoded file = {0};
    qp_verified verified;
    qp_status status = qp_opened_set_open(o->set, o->capability, o->quality, NULL, &opened, error);
    if (status != QP_OK)
        return status;
    status = make_encoder(opened.set, o, &encoder, error);
    if (status == QP_OK)
        status = encode_file(encoder, opened.set, media, o, &file, error);
    if (status == QP_OK)
        status = qp_verify_file(&file, opened.set, media, &verified, error);
    if (status == QP_OK)
        status = qp_output_write(o->output, file.bytes, file.size, error);
    if (status == QP_OK)
        report(opened.set, media, o, file.size, &verified);
    qp_encoded_free(NULL, &file);
    qp_encoder_free(encoder);
    qp_opened_set_close(&opened);
    return status;
}

static int encode(int argc, char **argv)
{
    options o = {.quality = USUAL_QUALITY};
    qp_media media;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (read_media(&o, &media, &error) != QP_OK)
        return qp_cli_refuse("encode", o.path, &error);
    choose_capability(&o, &media);
    if (media.layout == QP_LAYOUT_AUDIO && o.set == NULL) {
        qp_media_free(NULL, &media);
        return qp_cli_usage("encode", "sound is coded with a set: --set DIR names it");
    }
    qp_status status = encode_media(&o, &media, &error);
    qp_media_free(NULL, &media);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("encode", o.set, &error);
}

const qp_verb qp_verb_encode = {
    "encode", "a picture or a video to a .qp file",
    "usage: quipu encode [OPTION...] -o FILE.qp PICTURE|VIDEO|SOUND\n"
    "\n"
    "Codes a PNG picture (8-bit grey or RGB) with an integer neural codec, or a directory of them\n"
    "as the frames of a video: a .qp file that decodes to the same pixels on every machine. The\n"
    "bytes of the file are the same everywhere, too. '-' reads standard input. A grey picture\n"
    "decodes as RGB. The file is decoded once before it is written. A WAV file of 16 bits is\n"
    "coded with the set that --set names.\n"
    "\n"
    "A video may be a Y4M file too (C444 or Cmono, progressive). Its planes Y, Cb and Cr are\n"
    "coded as they are in the place of red, green and blue; Cmono gets planes of 128 for its\n"
    "colour. So decode it to a .y4m file again: as PNG pictures its colours would be wrong. The\n"
    "frame rate, the pixels' shape and comments are not kept.\n"
    "\n"
    "  -o FILE.qp      where the coded picture goes; '-' for standard output\n"
    "  --quality N     1 (small), 2 (usual) or 3 (fine) of the model within this command\n"
    "  --set DIR       code with the set in DIR instead: h_s.whm, g_s.whm and entropy.json, with\n"
    "                  g_a.whm and h_a.whm beside them; for sound g_s.wam, with g_a.whm\n"
    "  --capability C  wai.neural.int_hyper for a picture, wai.audio.int_codec for sound and\n"
    "                  wai.video.int_motion, which needs no set, for a video are usual; also\n"
    "                  wai.video.int_hyper, whose first frame is a neural picture, and C.frame of\n"
    "                  both: a payload a frame\n"
    "  --step N        the step of a video's residuals, from 1 (lossless) up\n"
    "  --json          print JSON\n"
    "\n"
    "example: quipu encode --quality 3 -o photo.qp photo.png\n",
    encode};
