/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - quipu decode: a .qp file to a picture, sound or arrays (docs/payloads.md). */
#define _POSIX_C_SOURCE 200809L /* fileno, isatty */

#include "cli/cli.h"
#include "cli/frames.h"
#include "cli/media_file.h"
#include "cli/open_set.h"
#include "cli/output.h"
#include "cli/y4m.h"

#include "base/json.h"

#include <unistd.h>

typedef struct options {
    const char *path, *output, *set, *pin, *receipt, *memory_text;
    size_t max_memory;
    bool digest, y4m;
} options;

/* ---- arguments ---------------------------------------------------------------------------- */

static bool read_memory(const char *text, size_t *bytes)
{
    int64_t value;
    if (!qp_cli_i64(text, &value) || value < 1 || (uint64_t)value > SIZE_MAX)
        return false;
    *bytes = (size_t)value;
    return true;
}

static int check_options(options *o)
{
    if (o->path == NULL)
        return qp_cli_usage("decode", "a .qp file is missing");
    if (o->output == NULL && !o->digest && o->receipt == NULL)
        return qp_cli_usage("decode", "-o FILE says where the picture goes; --digest prints its "
                                      "SHA-256");
    if (o->memory_text != NULL && !read_memory(o->memory_text, &o->max_memory))
        return qp_cli_usage("decode", "--max-memory is a number of bytes");
    int streams = (o->output != NULL && strcmp(o->output, "-") == 0) +
                  (o->receipt != NULL && strcmp(o->receipt, "-") == 0) + o->digest;
    if (streams > 1)
        return qp_cli_usage("decode", "only one thing can go to standard output");
    return QP_EXIT_OK;
}

static int read_options(int argc, char **argv, options *o)
{
    qp_args args = qp_args_start(argc, argv);
    const char *path;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--digest"))
            o->digest = true;
        else if (qp_args_flag(&args, "--y4m"))
            o->y4m = true;
        else if (qp_args_value(&args, "-o", &o->output) ||
                 qp_args_value(&args, "--output", &o->output) ||
                 qp_args_value(&args, "--set", &o->set) || qp_args_value(&args, "--pin", &o->pin) ||
                 qp_args_value(&args, "--receipt", &o->receipt) ||
                 qp_args_value(&args, "--max-memory", &o->memory_text))
            continue;
        else if (!qp_args_positional(&args, &path))
            break;
        else if (o->path != NULL)
            return qp_cli_usage("decode", "one file at a time, please");
        else
            o->path = path;
    }
    return args.failed ? qp_args_usage(&args) : check_options(o);
}

/* ---- the whole sequence ------------------------------------------------------------------- */

/* Counts a payload's media to those before it, whose form they must have. */
static qp_status join(qp_media *all, const qp_media *next, qp_error *error)
{
    bool sound = next->layout == QP_LAYOUT_AUDIO;
    if (all->channels == 0) {
        *all = *next;
        return QP_OK;
    }
    if (next->layout != all->layout || next->channels != all->channels ||
        next->height != all->height || (!sound && next->width != all->width))
        return qp_fail(error, QP_GEOMETRY_MISMATCH, "the payloads of one file differ in size");
    uint32_t *length = sound ? &all->width : &all->frames;
    if (__builtin_add_overflow(*length, sound ? next->width : next->frames, length))
        return qp_fail(error, QP_TOO_LARGE, "the file has 2^32 frames or samples and more");
    return QP_OK;
}

static qp_status decode_next(qp_decoder *decoder, const qp_unit *unit, qp_media *all,
                             qp_buffer *bytes, qp_error *error)
{
    qp_media next;
    qp_status status = qp_decoder_decode(decoder, unit, &next, error);
    if (status != QP_OK)
        return status;
    status = join(all, &next, error);
    qp_buffer_append(bytes, next.bytes, next.size);
    qp_media_free(NULL, &next);
    if (status == QP_OK && bytes->failed)
        status = qp_fail_memory(error, "the output");
    return status;
}

/* Every payload, one after another; all->bytes are the buffer's. */
static qp_status decode_all(const qp_container *container, const qp_set *set, const options *o,
                            qp_media *all, qp_buffer *bytes, qp_error *error)
{
    qp_decoder *decoder;
    qp_decode_options asked = {.max_memory = o->max_memory};
    bool progress = container->count > 1 && isatty(fileno(stderr)) == 1;
    size_t at = 0, done = 0;
    qp_unit unit;

    *all = (qp_media){0};
    qp_status status = qp_decoder_create(container->capability, set, &asked, NULL, &decoder, error);
    while (status == QP_OK && qp_container_next(container, &at, &unit)) {
        if (progress)
            fprintf(stderr, "\rpayload %zu of %zu", ++done, container->count);
        status = decode_next(decoder, &unit, all, bytes, error);
    }
    if (progress)
        fputs("\r\033[K", stderr);
    qp_decoder_free(decoder);
    all->bytes = bytes->bytes;
    all->size = bytes->size;
    return status;
}

/* ---- what is written ---------------------------------------------------------------------- */

/* The SHA-256 of the certificate's JSON, or NULL without a set. */
static qp_status certificate_digest(const qp_set *set, char text[QP_SHA256_HEX_SIZE],
                                    qp_error *error)
{
    char *json;
    size_t size;
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_status status =
        qp_certificate_json(qp_lowered_certificate(qp_set_lowered(set)), NULL, &json, &size, error);
    if (status != QP_OK)
        return status;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, json, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
    qp_bytes_free(NULL, json, size);
    return QP_OK;
}

static void put_digest(qp_buffer *text, const char *name, const char *sha256)
{
    if (sha256 == NULL)
        qp_buffer_format(text, ",\"%s\":null", name);
    else
        qp_buffer_format(text, ",\"%s\":\"%s\"", name, sha256);
}

/* Canonical JSON: names in order, no spaces. */
static qp_status write_receipt(const char *path, const qp_container *container, const qp_set *set,
                               const qp_media *media, qp_error *error)
{
    char certificate[QP_SHA256_HEX_SIZE], output[QP_SHA256_HEX_SIZE];
    qp_buffer text;
    qp_status status = set == NULL ? QP_OK : certificate_digest(set, certificate, error);
    if (status != QP_OK)
        return status;
    qp_media_digest(media, output);
    qp_buffer_init(&text, NULL);
    qp_buffer_text(&text, "{\"capability\":");
    qp_buffer_json_string(&text, container->capability, strlen(container->capability));
    put_digest(&text, "certificate_sha256", set == NULL ? NULL : certificate);
    qp_buffer_text(&text, ",\"fabric\":{\"backend\":\"wai-ops\",\"unit\":\"cpu\"}");
    put_digest(&text, "output_sha256", output);
    qp_buffer_format(&text, ",\"profile\":\"%s\"", qp_profile_name(QP_ACC64));
    put_digest(&text, "set_sha256", set == NULL ? NULL : qp_lowered_sha256(qp_set_lowered(set)));
    qp_buffer_text(&text, "}");
    status = qp_output_buffer(path, &text, error);
    qp_buffer_free(&text);
    return status;
}

static bool is_y4m(const options *o)
{
    size_t length = strlen(o->output), suffix = strlen(".y4m");
    return o->y4m || (length > suffix && strcmp(o->output + length - suffix, ".y4m") == 0);
}

static qp_status write_media(const options *o, const qp_media *media, qp_error *error)
{
    const char *path = o->output;
    bool y4m = is_y4m(o);
    qp_buffer file;
    if (!y4m && media->layout == QP_LAYOUT_PIXELS && media->frames > 1 && strcmp(path, "-") != 0)
        return qp_frames_write(path, media, error);
    qp_buffer_init(&file, NULL);
    qp_status status =
        y4m ? qp_y4m_write(&file, media, error) : qp_media_encode(media, &file, error);
    if (status == QP_OK)
        status = qp_output_buffer(path, &file, error);
    qp_buffer_free(&file);
    return status;
}

static qp_status give(const options *o, const qp_container *container, const qp_set *set,
                      const qp_media *media, qp_error *error)
{
    char digest[QP_SHA256_HEX_SIZE];
    qp_status status = QP_OK;
    if (o->output != NULL)
        status = write_media(o, media, error);
    if (status == QP_OK && o->receipt != NULL)
        status = write_receipt(o->receipt, container, set, media, error);
    if (status == QP_OK && o->digest) {
        qp_media_digest(media, digest);
        printf("%s\n", digest);
    }
    return status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static qp_status check_pin(const qp_pin *pin, const qp_container *container, qp_error *error)
{
    if (pin == NULL || strcmp(pin->capability, container->capability) == 0)
        return QP_OK;
    return qp_fail(error, QP_MODEL_MISMATCH, "the pin is for %.80s, and the file needs %.80s",
                   pin->capability, container->capability);
}

static qp_status decode_file(const qp_file *file, const options *o, const qp_pin *pin,
                             qp_error *error)
{
    qp_container container;
    qp_opened_set opened = {0};
    qp_media media;
    qp_buffer bytes;

    qp_status status = qp_container_read(file->bytes, file->size, &container, error);
    if (status == QP_OK)
        status = check_pin(pin, &container, error);
    if (status == QP_OK)
        status = qp_opened_set_find(o->set, &container, pin, &opened, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&bytes, NULL);
    status = decode_all(&container, opened.set, o, &media, &bytes, error);
    if (status == QP_OK)
        status = give(o, &container, opened.set, &media, error);
    qp_buffer_free(&bytes);
    qp_opened_set_close(&opened);
    return status;
}

static int decode(int argc, char **argv)
{
    options o = {0};
    qp_file file;
    qp_pin pin;
    qp_error error;

    int code = read_options(argc, argv, &o);
    if (code != QP_EXIT_OK)
        return code;
    if (o.pin != NULL && qp_cli_pin(o.pin, &pin, &error) != QP_OK)
        return qp_cli_refuse("decode", o.pin, &error);
    if (qp_cli_read(o.path, &file, &error) != QP_OK)
        return qp_cli_refuse("decode", o.path, &error);
    qp_status status = decode_file(&file, &o, o.pin == NULL ? NULL : &pin, &error);
    qp_file_close(&file);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("decode", o.path, &error);
}

const qp_verb qp_verb_decode = {
    "decode", "a .qp file to its picture, video or sound",
    "usage: quipu decode [OPTION...] [-o FILE] FILE.qp\n"
    "\n"
    "Decodes a .qp file exactly: the same bytes on every machine, or a refusal. Pictures are\n"
    "written as PNG, a video as a directory of them or as one Y4M file, sound as WAV, planes as\n"
    ".npy. '-' reads from standard input. Nothing is written of a decode that is refused.\n"
    "\n"
    "  -o FILE           where the output goes; '-' for standard output; a video goes to one Y4M\n"
    "                    file where the name ends in .y4m\n"
    "  --y4m             write Y4M whatever the name: the three channels as Y, Cb and Cr of C444,\n"
    "                    which they are in a file that was coded from Y4M; the frame rate is\n"
    "                    unknown (F0:0), as a .qp file does not keep it\n"
    "  --digest          print the SHA-256 of the decoded samples\n"
    "  --set DIR         the set that the file was coded with, where it is not within this\n"
    "                    command\n"
    "  --pin PIN.json    refuse a set that is not the pinned one, or weaker than the pin claims\n"
    "  --receipt R.json  write what was decoded, through which set and where\n"
    "  --max-memory N    refuse a file whose decode would hold more than N bytes\n"
    "\n"
    "example: quipu decode --digest -o photo.png photo.qp\n",
    decode};
