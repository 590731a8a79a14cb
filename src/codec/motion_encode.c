/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion_encode.c - the encoders of WIV1 and WIF1: vectors by full search, residuals against what
 * the decoder will have, and one table for them (docs/payloads.md, "Residual tables"). Everything
 * is integers in a fixed order, so that the bytes are the same on every machine.
 */
#include "codec/motion.h"
#include "codec/int_hyper.h"
#include "codec/residual.h"

/* What options of 0 stand for. */
enum { USUAL_Q = 4, USUAL_BLOCK = 16, USUAL_RANGE = 7, USUAL_PRECISION = 2, USUAL_GROUP = 32 };

enum { RANGE_MAX = 255 };
_Static_assert(2 * RANGE_MAX <= INT16_MAX, "a vector that the search finds fits its field");

/* A sequence under way. */
typedef struct motion_coder {
    qp_allocator allocator;
    qp_motion_grid grid;
    qp_residual residual;
    qp_motion_search search;
    size_t samples;
    uint8_t *reference; /* the frame before as it decodes */
    uint8_t *current;
    qp_buffer vectors;   /* as payloads have them */
    qp_buffer residuals; /* int32_t */
    qp_residual_counts counts;
} motion_coder;

/* ---- settings ----------------------------------------------------------------------------- */

static uint32_t option_or(uint32_t option, uint32_t usual)
{
    return option != 0 ? option : usual;
}

static qp_status settings_of(const qp_encode_options *options, motion_coder *coder, qp_error *error)
{
    uint32_t precision = option_or(options->precision, USUAL_PRECISION);
    coder->residual = (qp_residual){option_or(options->q, USUAL_Q), 0, UINT8_MAX};
    coder->grid.block = option_or(options->block, USUAL_BLOCK);
    coder->search.range = option_or(options->range, USUAL_RANGE);
    if (coder->residual.q > UINT16_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the step q lies in 1..65535");
    if (coder->search.range > RANGE_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the search reaches at most 255 pels");
    if (precision > 2)
        return qp_fail(error, QP_INVALID_ARGUMENT, "the precision is 1 or 2");
    coder->grid.precision = coder->search.precision = (int)precision;
    return QP_OK;
}

static qp_status size_of(const qp_media *media, motion_coder *coder, qp_error *error)
{
    coder->grid.height = media->height;
    coder->grid.width = media->width;
    if (media->layout != QP_LAYOUT_PIXELS || media->channels != QP_MOTION_CHANNELS)
        return qp_fail(error, QP_INVALID_ARGUMENT, "video has red, green and blue pixels");
    if (media->height > QP_MOTION_SIDE_MAX || media->width > QP_MOTION_SIDE_MAX ||
        qp_motion_samples(&coder->grid) > QP_MOTION_SAMPLES_MAX)
        return qp_fail(error, QP_INVALID_ARGUMENT, "frames of %lu by %lu are too large",
                       (unsigned long)media->height, (unsigned long)media->width);
    coder->samples = (size_t)qp_motion_samples(&coder->grid);
    return QP_OK;
}

/* ---- a sequence --------------------------------------------------------------------------- */

static void coder_free(motion_coder *coder)
{
    if (coder->counts.counts != NULL)
        qp_residual_counts_free(&coder->counts);
    qp_buffer_free(&coder->residuals);
    qp_buffer_free(&coder->vectors);
    qp_release(&coder->allocator, coder->current, coder->samples, 1);
    qp_release(&coder->allocator, coder->reference, coder->samples, 1);
    *coder = (motion_coder){0};
}

/* Whatever is returned, coder_free frees it. */
static qp_status coder_init(motion_coder *coder, const qp_encoder *encoder, const qp_media *media,
                            qp_error *error)
{
    *coder = (motion_coder){.allocator = encoder->allocator};
    qp_buffer_init(&coder->vectors, &encoder->allocator);
    qp_buffer_init(&coder->residuals, &encoder->allocator);
    qp_status status = settings_of(&encoder->options, coder, error);
    if (status == QP_OK)
        status = size_of(media, coder, error);
    if (status == QP_OK)
        status =
            qp_residual_counts_init(&coder->counts, &coder->residual, &coder->allocator, error);
    if (status != QP_OK)
        return status;
    coder->reference = qp_allocate(&coder->allocator, coder->samples, 1);
    coder->current = qp_allocate(&coder->allocator, coder->samples, 1);
    if (coder->reference == NULL || coder->current == NULL)
        return qp_fail_memory(error, "a frame");
    return QP_OK;
}

/* Finds the vector of every block, in raster order. */
static qp_status find_vectors(motion_coder *coder, const uint8_t *rgb, qp_error *error)
{
    const qp_motion_grid *grid = &coder->grid;
    qp_samples frame = qp_samples_pixels(rgb, QP_MOTION_CHANNELS, grid->height, grid->width);
    qp_samples previous =
        qp_samples_pixels(coder->reference, QP_MOTION_CHANNELS, grid->height, grid->width);
    for (uint64_t y = 0; y < grid->height; y += grid->block)
        for (uint64_t x = 0; x < grid->width; x += grid->block) {
            qp_block block = {(uint32_t)y, (uint32_t)x, grid->block, grid->block};
            qp_motion motion;
            qp_status status =
                qp_motion_find(&frame, &previous, &block, &coder->search, &motion, error);
            if (status != QP_OK)
                return status;
            qp_buffer_le(&coder->vectors, (uint64_t)(int64_t)motion.dy, 2);
            qp_buffer_le(&coder->vectors, (uint64_t)(int64_t)motion.dx, 2);
        }
    return coder->vectors.failed ? qp_fail_memory(error, "the motion vectors") : QP_OK;
}

/* Chooses the residuals of a frame upon its prediction in `current`, which becomes the frame as it
 * decodes. */
static qp_status choose_residuals(motion_coder *coder, const uint8_t *rgb, qp_error *error)
{
    qp_buffer *residuals = &coder->residuals;
    size_t bytes;
    if (!qp_mul_size(coder->samples, sizeof(int32_t), &bytes) ||
        !qp_buffer_reserve(residuals, bytes))
        return qp_fail_memory(error, "the residuals");
    int32_t *out = (int32_t *)(void *)(residuals->bytes + residuals->size);
    for (size_t i = 0; i < coder->samples; i++) {
        out[i] = qp_residual_choose(&coder->residual, coder->current[i], rgb[i]);
        coder->current[i] =
            (uint8_t)qp_residual_step_i32(&coder->residual, coder->current[i], out[i]);
    }
    residuals->size += bytes;
    qp_residual_counts_add(&coder->counts, out, coder->samples);
    return QP_OK;
}

static qp_status code_frame(motion_coder *coder, const uint8_t *rgb, bool is_intra, qp_error *error)
{
    qp_status status = QP_OK;
    if (is_intra) {
        memset(coder->current, QP_MOTION_GREY, coder->samples);
    } else {
        size_t first = coder->vectors.size;
        status = find_vectors(coder, rgb, error);
        if (status == QP_OK)
            status = qp_motion_predict(&coder->grid, coder->reference, coder->vectors.bytes + first,
                                       coder->current, error);
    }
    if (status == QP_OK)
        status = choose_residuals(coder, rgb, error);
    if (status != QP_OK)
        return status;
    uint8_t *decoded = coder->current;
    coder->current = coder->reference;
    coder->reference = decoded;
    return QP_OK;
}

/* ---- the keyframe ------------------------------------------------------------------------- */

/* Decodes a WIH1 into the coder's reference. */
static qp_status decode_keyframe(const qp_encoder *encoder, const qp_buffer *wih1,
                                 motion_coder *coder, qp_error *error)
{
    qp_decoder *decoder;
    qp_media picture;
    qp_status status = qp_decoder_create(encoder->driver->capability, encoder->set, NULL,
                                         &encoder->allocator, &decoder, error);
    if (status != QP_OK)
        return status;
    status = qp_motion_keyframe(decoder, qp_payload_over(wih1->bytes, wih1->size), &picture, error);
    if (status == QP_OK && picture.size != coder->samples)
        status = qp_fail(error, QP_INTERNAL, "a keyframe that decodes to another size");
    if (status == QP_OK)
        memcpy(coder->reference, picture.bytes, coder->samples);
    qp_media_free(&decoder->allocator, &picture);
    qp_decoder_free(decoder);
    return status;
}

/* Encodes the first frame of the media as a WIH1; encoder->state is its encoder's. */
static qp_status code_keyframe(qp_encoder *encoder, const qp_media *media, motion_coder *coder,
                               qp_buffer *wih1, qp_error *error)
{
    qp_media picture = *media;
    qp_source source = {.media = &picture};
    picture.frames = 1;
    picture.size = coder->samples;
    qp_status status = qp_hyper_encode_picture(encoder, &source, wih1, error);
    if (status == QP_OK && wih1->failed)
        status = qp_fail_memory(error, "a keyframe");
    return status == QP_OK ? decode_keyframe(encoder, wih1, coder, error) : status;
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_size(qp_buffer *payload, const qp_motion_grid *grid, uint32_t block)
{
    qp_buffer_le(payload, grid->height, 4);
    qp_buffer_le(payload, grid->width, 4);
    qp_buffer_le(payload, block, 4);
}

static void put_table(qp_buffer *payload, const motion_coder *coder, const qp_residual_cdf *cdf)
{
    qp_rans_cdf table = qp_residual_cdf_view(cdf);
    qp_buffer_le(payload, (uint64_t)coder->residual.q, 2);
    qp_payload_put_zeros(payload, 2);
    qp_payload_put_table(payload, &table);
}

/* The vectors and the stream of what the coder has gathered. */
static qp_status put_tail(qp_buffer *payload, const motion_coder *coder, const qp_residual_cdf *cdf,
                          qp_error *error)
{
    qp_stream stream = {0};
    qp_status status = qp_residual_stream(
        cdf, (const int32_t *)(const void *)coder->residuals.bytes,
        coder->residuals.size / sizeof(int32_t), &coder->allocator, &stream, error);
    if (status != QP_OK)
        return status;
    qp_buffer_append(payload, coder->vectors.bytes, coder->vectors.size);
    qp_payload_put_block(payload, stream.bytes, stream.size);
    qp_stream_free(&coder->allocator, &stream);
    return payload->failed ? qp_fail_memory(error, "a payload") : QP_OK;
}

/* ---- WIV1 --------------------------------------------------------------------------------- */

static qp_status put_clip(qp_buffer *payload, const motion_coder *coder, uint32_t frames,
                          const qp_buffer *keyframe, qp_error *error)
{
    qp_residual_cdf *cdf = qp_allocate(&coder->allocator, 1, sizeof *cdf);
    if (cdf == NULL)
        return qp_fail_memory(error, "a table");
    qp_residual_cdf_make(&coder->counts, qp_residual_window_of(&coder->counts), cdf);
    qp_payload_put_head(payload, "WIV1", 0);
    qp_buffer_le(payload, keyframe->size > 0, 1);
    qp_buffer_le(payload, (uint64_t)coder->grid.precision, 1);
    qp_payload_put_zeros(payload, 1);
    qp_buffer_le(payload, frames, 4);
    put_size(payload, &coder->grid, coder->grid.block);
    put_table(payload, coder, cdf);
    if (keyframe->size > 0)
        qp_payload_put_block(payload, keyframe->bytes, keyframe->size);
    qp_status status = put_tail(payload, coder, cdf, error);
    qp_release(&coder->allocator, cdf, 1, sizeof *cdf);
    return status;
}

qp_status qp_motion_encode_clip(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                qp_error *error)
{
    const qp_media *media = source->media;
    bool has_keyframe = qp_motion_has_keyframe(encoder->driver);
    motion_coder coder;
    qp_buffer keyframe;
    qp_buffer_init(&keyframe, &encoder->allocator);
    qp_status status = coder_init(&coder, encoder, media, error);
    if (status == QP_OK && has_keyframe)
        status = code_keyframe(encoder, media, &coder, &keyframe, error);
    for (uint32_t f = has_keyframe; status == QP_OK && f < media->frames; f++)
        status = code_frame(&coder, media->bytes + f * coder.samples, f == 0, error);
    if (status == QP_OK)
        status = put_clip(payload, &coder, media->frames, &keyframe, error);
    qp_buffer_free(&keyframe);
    coder_free(&coder);
    return status;
}

/* ---- WIF1 --------------------------------------------------------------------------------- */

/* What an encoder of frames keeps from one to the next. */
typedef struct frames_coder {
    motion_coder coder; /* its reference is the frame before; empty without one */
    uint32_t index;     /* of the next frame in its group */
    qp_residual_cdf cdf;
    void *keyframes; /* the state of the WIH1 encoder, for int_hyper */
} frames_coder;

qp_status qp_motion_start_frames(qp_encoder *encoder, qp_error *error)
{
    frames_coder *frames = qp_allocate(&encoder->allocator, 1, sizeof *frames);
    qp_status status = QP_OK;
    if (frames == NULL)
        return qp_fail_memory(error, "an encoder of frames");
    if (qp_motion_has_keyframe(encoder->driver)) {
        status = qp_hyper_start(encoder, error);
        frames->keyframes = encoder->state;
    }
    encoder->state = frames;
    return status;
}

void qp_motion_forget_frames(qp_encoder *encoder)
{
    frames_coder *frames = encoder->state;
    if (frames == NULL)
        return;
    if (qp_motion_has_keyframe(encoder->driver)) {
        encoder->state = frames->keyframes;
        qp_hyper_forget(encoder);
    }
    coder_free(&frames->coder);
    qp_release(&encoder->allocator, frames, 1, sizeof *frames);
    encoder->state = NULL;
}

/*
 * Makes the group's table from the residuals of its first frame, and from what the frames after it
 * are likely to have: residual r counts total >> (2 + |r|·q/4), half as often for each 4 of a
 * sample's value.
 */
static void make_group_table(frames_coder *frames)
{
    enum { HALVED_AT = 4, SHIFT_MAX = 63 };
    qp_residual_counts *counts = &frames->coder.counts;
    uint64_t total = counts->total;
    for (int32_t r = -counts->reach; r <= counts->reach; r++) {
        int64_t shift = 2 + (r < 0 ? -r : r) * frames->coder.residual.q / HALVED_AT;
        uint64_t likely = shift > SHIFT_MAX ? 0 : total >> shift;
        counts->counts[r + counts->reach] += likely;
        counts->total += likely;
    }
    qp_residual_cdf_make(counts, qp_residual_window_of(counts), &frames->cdf);
}

static qp_status put_frame(qp_buffer *payload, frames_coder *frames, bool has_table,
                           qp_error *error)
{
    motion_coder *coder = &frames->coder;
    bool is_intra = frames->index == 0;
    if (has_table)
        make_group_table(frames);
    qp_payload_put_head(payload, "WIF1", 0);
    qp_buffer_le(payload, has_table, 1);
    qp_buffer_le(payload, is_intra ? 0 : (uint64_t)coder->grid.precision, 1);
    qp_payload_put_zeros(payload, 1);
    qp_buffer_le(payload, frames->index, 4);
    put_size(payload, &coder->grid, is_intra ? 0 : coder->grid.block);
    if (has_table)
        put_table(payload, coder, &frames->cdf);
    return put_tail(payload, coder, &frames->cdf, error);
}

/* Codes the next frame of a group and moves on. */
static qp_status next_frame(qp_encoder *encoder, const qp_media *media, qp_buffer *payload,
                            qp_error *error)
{
    frames_coder *frames = encoder->state;
    motion_coder *coder = &frames->coder;
    bool has_keyframe = qp_motion_has_keyframe(encoder->driver);
    qp_status status;

    coder->vectors.size = coder->residuals.size = 0;
    qp_residual_counts_clear(&coder->counts);
    if (frames->index == 0 && has_keyframe) {
        encoder->state = frames->keyframes;
        status = code_keyframe(encoder, media, coder, payload, error);
        encoder->state = frames;
    } else {
        status = code_frame(coder, media->bytes, frames->index == 0, error);
        if (status == QP_OK)
            status = put_frame(payload, frames, frames->index == has_keyframe, error);
    }
    return status;
}

qp_status qp_motion_encode_frame(qp_encoder *encoder, const qp_source *source, qp_buffer *payload,
                                 qp_error *error)
{
    const qp_media *media = source->media;
    frames_coder *frames = encoder->state;
    const qp_motion_grid *grid = &frames->coder.grid;
    qp_status status = QP_OK;
    if (media->frames != 1)
        return qp_fail(error, QP_INVALID_ARGUMENT, "frames are encoded one by one");
    if (frames->index == option_or(encoder->options.group, USUAL_GROUP) ||
        grid->height != media->height || grid->width != media->width)
        frames->index = 0;
    if (frames->index == 0) {
        coder_free(&frames->coder);
        status = coder_init(&frames->coder, encoder, media, error);
    }
    if (status == QP_OK)
        status = next_frame(encoder, media, payload, error);
    frames->index = status == QP_OK ? frames->index + 1 : 0; /* after a failure, a new group */
    return status;
}
