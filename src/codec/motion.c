/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.c - video by block motion and residuals: `wai.video.int_motion` (WIV1) and its frame form
 * (WIF1), and `wai.video.int_hyper`, whose first frame is a nested WIH1 (integer-operators.md
 * section 13.5).
 */
#include "codec/motion.h"
#include "codec/int_hyper.h"

/* What a payload of either kind says. */
typedef struct motion_fields {
    qp_motion_grid grid;
    uint32_t frames; /* WIV1: how many */
    uint32_t index;  /* WIF1: the frame's place in its group */
    bool has_table;
    qp_residual residual;
    qp_payload_table table;
    qp_payload nested; /* the keyframe's WIH1, where there is one */
    qp_bytes vectors;
    qp_bytes stream;
} motion_fields;

/* ---- the geometry of a frame -------------------------------------------------------------- */

static uint32_t blocks_along(uint32_t side, uint32_t block)
{
    return side / block + (side % block != 0);
}

uint64_t qp_motion_blocks(const qp_motion_grid *grid)
{
    return (uint64_t)blocks_along(grid->height, grid->block) *
           blocks_along(grid->width, grid->block);
}

bool qp_motion_has_keyframe(const qp_driver *driver)
{
    return driver->reads_set;
}

/* ---- a frame ------------------------------------------------------------------------------ */

qp_status qp_motion_predict(const qp_motion_grid *grid, const uint8_t *previous,
                            const uint8_t *vectors, uint8_t *frame, qp_error *error)
{
    qp_samples reference =
        qp_samples_pixels(previous, QP_MOTION_CHANNELS, grid->height, grid->width);
    uint32_t across = blocks_along(grid->width, grid->block);
    for (uint32_t y = 0; y < grid->height; y++) { /* one row of each block at a time */
        const uint8_t *vector =
            vectors + (size_t)(y / grid->block) * across * QP_MOTION_VECTOR_BYTES;
        for (uint32_t k = 0; k < across; k++, vector += QP_MOTION_VECTOR_BYTES) {
            qp_motion motion = {qp_load_i16(vector), qp_load_i16(vector + 2), grid->precision};
            qp_block block = {y, k * grid->block, 1, grid->block};
            size_t at = ((size_t)y * grid->width + block.x) * QP_MOTION_CHANNELS;
            qp_status status = qp_mc_predict_block(&reference, &block, &motion, frame + at, error);
            if (status != QP_OK)
                return status;
        }
    }
    return QP_OK;
}

/* A stream of residuals under way, and room for one row of them. */
typedef struct residual_stream {
    qp_residual residual;
    qp_rans_decoder decoder;
    int32_t *row;
    size_t row_samples;
} residual_stream;

/* E1 and E9: decodes the residuals of a frame and adds them to its prediction, in place. */
static qp_status add_residuals(residual_stream *stream, uint8_t *frame, size_t samples,
                               qp_error *error)
{
    for (size_t at = 0; at < samples; at += stream->row_samples) {
        qp_status status =
            qp_rans_decode_same(&stream->decoder, 0, stream->row_samples, stream->row, error);
        if (status != QP_OK)
            return status;
        for (size_t i = 0; i < stream->row_samples; i++)
            frame[at + i] =
                (uint8_t)qp_residual_step_i32(&stream->residual, frame[at + i], stream->row[i]);
    }
    return QP_OK;
}

static qp_status start_stream(residual_stream *stream, const motion_fields *fields,
                              const qp_rans_tables *tables, const qp_allocator *allocator,
                              qp_error *error)
{
    stream->residual = fields->residual;
    stream->row_samples = (size_t)fields->grid.width * QP_MOTION_CHANNELS;
    stream->row = qp_allocate(allocator, stream->row_samples, sizeof *stream->row);
    if (stream->row == NULL)
        return qp_fail_memory(error, "a row of residuals");
    return qp_rans_decoder_init(&stream->decoder, tables, fields->stream.bytes, fields->stream.size,
                                error);
}

static void end_stream(residual_stream *stream, const qp_allocator *allocator)
{
    qp_release(allocator, stream->row, stream->row_samples, sizeof *stream->row);
}

/* ---- fields ------------------------------------------------------------------------------- */

static void read_size(qp_payload *payload, qp_motion_grid *grid)
{
    grid->height = qp_payload_u32_in(payload, 1, QP_MOTION_SIDE_MAX, "the height");
    grid->width = qp_payload_u32_in(payload, 1, QP_MOTION_SIDE_MAX, "the width");
}

static void read_table(qp_payload *payload, motion_fields *fields)
{
    fields->residual =
        (qp_residual){.q = qp_payload_u16(payload, "the step q"), .lo = 0, .hi = UINT8_MAX};
    qp_payload_reserved(payload, 2);
    fields->table = qp_payload_table_read(payload, "the table of residuals");
}

/* The vectors of so many frames, the stream, and the payload's end. */
static void read_tail(qp_payload *payload, uint32_t frames, motion_fields *fields)
{
    if (!payload->failed && frames > 0) {
        uint64_t blocks = qp_motion_blocks(&fields->grid), vectors;
        if (!qp_mul_u64(blocks, frames, &vectors))
            vectors = UINT64_MAX; /* which no payload holds */
        fields->vectors =
            qp_payload_take(payload, vectors, QP_MOTION_VECTOR_BYTES, "the motion vectors");
    }
    fields->stream = qp_payload_stream(payload, "the residual stream");
    qp_payload_end(payload);
}

static void read_clip(qp_payload *payload, bool has_keyframe, motion_fields *fields)
{
    qp_payload_head(payload, "WIV1", 0);
    uint8_t keyframe = qp_payload_u8_in(payload, has_keyframe, has_keyframe,
                                        "the keyframe flag of this capability");
    fields->grid.precision = qp_payload_u8(payload, "mv_precision");
    qp_payload_reserved(payload, 1);
    fields->frames = qp_payload_u32_in(payload, 1, UINT32_MAX, "the number of frames");
    read_size(payload, &fields->grid);
    fields->grid.block = qp_payload_u32_in(payload, 1, UINT32_MAX, "the side of a block");
    read_table(payload, fields);
    fields->has_table = true;
    if (keyframe == 1)
        fields->nested = qp_payload_within(payload, "the keyframe");
    read_tail(payload, fields->frames - 1, fields);
}

static void read_frame(qp_payload *payload, bool has_keyframe, motion_fields *fields)
{
    qp_payload_head(payload, "WIF1", 0);
    fields->has_table = qp_payload_u8_in(payload, 0, 1, "the table flag") == 1;
    size_t at = payload->at;
    fields->grid.precision = qp_payload_u8(payload, "mv_precision");
    qp_payload_reserved(payload, 1);
    fields->index = qp_payload_u32_in(payload, has_keyframe, UINT32_MAX, "the frame's index");
    read_size(payload, &fields->grid);
    bool is_intra = fields->index == 0;
    fields->grid.block =
        qp_payload_u32_in(payload, !is_intra, is_intra ? 0 : UINT32_MAX, "the side of a block");
    if (is_intra && fields->grid.precision != 0)
        qp_payload_fault(payload, at, "an intra frame has mv_precision 0");
    if (fields->has_table != (fields->index == has_keyframe))
        qp_payload_fault(payload, at - 1, "a group's first residuals, and only they, have a table");
    if (fields->has_table)
        read_table(payload, fields);
    read_tail(payload, !is_intra, fields);
}

/* The caps, then the conditions of the stage operators: E9's on q, E10's on mv_precision. */
static qp_status check_fields(const motion_fields *fields, bool has_vectors, qp_error *error)
{
    if (qp_motion_samples(&fields->grid) > QP_MOTION_SAMPLES_MAX)
        return qp_fail(error, QP_TOO_LARGE, "frames of %lu by %lu pass 2^26 samples",
                       (unsigned long)fields->grid.height, (unsigned long)fields->grid.width);
    if (has_vectors && fields->grid.precision != 1 && fields->grid.precision != 2)
        return qp_fail(error, QP_MODEL_MISMATCH, "mv_precision is 1 or 2, not %d",
                       fields->grid.precision);
    return fields->has_table ? qp_residual_check(&fields->residual, error) : QP_OK;
}

static qp_status make_table(const qp_decoder *decoder, const motion_fields *fields,
                            qp_rans_tables **tables, qp_error *error)
{
    qp_rans_modes modes = {.table = QP_RANS_T4097};
    return qp_payload_tables_make(&fields->table, 1, &modes, &decoder->allocator, tables, error);
}

static qp_status make_media(const qp_decoder *decoder, const motion_fields *fields, uint32_t frames,
                            qp_media *media, qp_error *error)
{
    *media = (qp_media){.layout = QP_LAYOUT_PIXELS,
                        .frames = frames,
                        .height = fields->grid.height,
                        .width = fields->grid.width,
                        .channels = QP_MOTION_CHANNELS};
    return qp_media_make(&decoder->allocator, media, error);
}

/* ---- the nested keyframe ------------------------------------------------------------------ */

qp_status qp_motion_keyframe(qp_decoder *decoder, qp_payload wih1, qp_media *picture,
                             qp_error *error)
{
    *picture = (qp_media){0};
    qp_status status = qp_hyper_decode_picture(decoder, wih1, picture, error);
    if (status != QP_OK)
        qp_media_free(&decoder->allocator, picture);
    return status;
}

/* Decodes the keyframe of a clip into its first frame. */
static qp_status place_keyframe(qp_decoder *decoder, const qp_payload *nested, qp_media *media,
                                qp_error *error)
{
    qp_media picture;
    qp_status status = qp_motion_keyframe(decoder, *nested, &picture, error);
    if (status != QP_OK)
        return status;
    if (picture.height == media->height && picture.width == media->width &&
        picture.channels == media->channels)
        memcpy(media->bytes, picture.bytes, picture.size);
    else
        status =
            qp_fail(error, QP_GEOMETRY_MISMATCH, "a keyframe of %lu by %lu in a clip of %lu by %lu",
                    (unsigned long)picture.height, (unsigned long)picture.width,
                    (unsigned long)media->height, (unsigned long)media->width);
    qp_media_free(&decoder->allocator, &picture);
    return status;
}

/* ---- WIV1 --------------------------------------------------------------------------------- */

/* Frames from `first` on, each upon the one before it; then the end of the stream. */
static qp_status decode_frames(const motion_fields *fields, uint32_t first, residual_stream *stream,
                               qp_media *media, qp_error *error)
{
    size_t samples = (size_t)qp_motion_samples(&fields->grid);
    size_t vectors = (size_t)qp_motion_blocks(&fields->grid) * QP_MOTION_VECTOR_BYTES;
    for (uint32_t f = first; f < fields->frames; f++) {
        uint8_t *frame = media->bytes + f * samples;
        qp_status status = QP_OK;
        if (f == 0)
            memset(frame, QP_MOTION_GREY, samples);
        else
            status = qp_motion_predict(&fields->grid, frame - samples,
                                       fields->vectors.bytes + (f - 1) * vectors, frame, error);
        if (status == QP_OK)
            status = add_residuals(stream, frame, samples, error);
        if (status != QP_OK)
            return status;
    }
    return qp_rans_finish(&stream->decoder, error);
}

static qp_status decode_clip(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                             qp_error *error)
{
    motion_fields fields = {0};
    residual_stream stream = {0};
    qp_rans_tables *tables = NULL;
    bool has_keyframe = qp_motion_has_keyframe(decoder->driver);
    qp_payload payload = qp_payload_over(unit->bytes, unit->size);
    read_clip(&payload, has_keyframe, &fields);
    qp_status status = qp_payload_check(&payload, error);
    if (status == QP_OK)
        status = check_fields(&fields, true, error);
    if (status == QP_OK)
        status = make_table(decoder, &fields, &tables, error);
    if (status == QP_OK)
        status = make_media(decoder, &fields, fields.frames, media, error);
    if (status == QP_OK)
        status = start_stream(&stream, &fields, tables, &decoder->allocator, error);
    if (status == QP_OK && has_keyframe)
        status = place_keyframe(decoder, &fields.nested, media, error);
    if (status == QP_OK)
        status = decode_frames(&fields, has_keyframe, &stream, media, error);
    end_stream(&stream, &decoder->allocator);
    qp_rans_tables_free(tables);
    return status;
}

/* ---- WIF1 --------------------------------------------------------------------------------- */

/* What a decoder keeps from one frame to the next. */
typedef struct motion_group {
    qp_motion_grid grid; /* the size of the frame decoded last */
    uint8_t *previous;   /* that frame */
    size_t samples;
    uint32_t index;         /* its place in the group */
    qp_rans_tables *tables; /* NULL until a payload of the group has brought them */
    qp_residual residual;
} motion_group;

static void forget_group(qp_decoder *decoder)
{
    motion_group *group = decoder->state;
    if (group == NULL)
        return;
    qp_rans_tables_free(group->tables);
    qp_release(&decoder->allocator, group->previous, group->samples, 1);
    qp_release(&decoder->allocator, group, 1, sizeof *group);
    decoder->state = NULL;
}

/* An inter frame follows the one decoded last, and has its size. */
static qp_status check_follows(const motion_group *group, const motion_fields *fields,
                               qp_error *error)
{
    if (group == NULL)
        return qp_fail(error, QP_MODEL_MISMATCH, "frame %lu of a group whose first is not there",
                       (unsigned long)fields->index);
    if (fields->index - 1 != group->index)
        return qp_fail(error, QP_MODEL_MISMATCH, "frame %lu of a group follows frame %lu",
                       (unsigned long)fields->index, (unsigned long)group->index);
    if (fields->grid.height != group->grid.height || fields->grid.width != group->grid.width)
        return qp_fail(error, QP_GEOMETRY_MISMATCH,
                       "a frame of %lu by %lu follows one of %lu by %lu",
                       (unsigned long)fields->grid.height, (unsigned long)fields->grid.width,
                       (unsigned long)group->grid.height, (unsigned long)group->grid.width);
    return QP_OK;
}

/* Makes room in the state for a decoded frame. Until qp_motion_keep nothing has changed. */
static qp_status make_room(qp_decoder *decoder, size_t samples, motion_group **group,
                           uint8_t **previous, qp_error *error)
{
    motion_group *old = decoder->state;
    *group = old != NULL ? old : qp_allocate(&decoder->allocator, 1, sizeof **group);
    if (*group == NULL)
        return qp_fail_memory(error, "the frame before");
    *previous = old != NULL && old->samples == samples
                    ? old->previous
                    : qp_allocate(&decoder->allocator, samples, 1);
    if (*previous != NULL)
        return QP_OK;
    if (old == NULL)
        qp_release(&decoder->allocator, *group, 1, sizeof **group);
    return qp_fail_memory(error, "the frame before");
}

/* Keeps a decoded frame for the next one. `tables` replace the group's where the frame begins a
 * group or brings them. */
static qp_status keep_frame(qp_decoder *decoder, const motion_fields *fields, const qp_media *media,
                            qp_rans_tables *tables, qp_error *error)
{
    motion_group *group;
    uint8_t *previous;
    qp_status status = make_room(decoder, media->size, &group, &previous, error);
    if (status != QP_OK)
        return status;
    if (previous != group->previous)
        qp_release(&decoder->allocator, group->previous, group->samples, 1);
    if (fields->index == 0 || fields->has_table) {
        qp_rans_tables_free(group->tables);
        group->tables = tables;
        group->residual = fields->residual;
    }
    group->previous = previous;
    group->samples = media->size;
    group->grid = fields->grid;
    group->index = fields->index;
    memcpy(previous, media->bytes, media->size);
    decoder->state = group;
    return QP_OK;
}

/* The frame of a WIF1 whose fields stand; `tables` are its own or its group's. */
static qp_status decode_residuals(qp_decoder *decoder, motion_fields *fields,
                                  const qp_rans_tables *tables, qp_media *media, qp_error *error)
{
    const motion_group *group = decoder->state;
    residual_stream stream = {0};
    if (!fields->has_table)
        fields->residual = group->residual;
    qp_status status = make_media(decoder, fields, 1, media, error);
    if (status == QP_OK)
        status = start_stream(&stream, fields, tables, &decoder->allocator, error);
    if (status == QP_OK && fields->index == 0)
        memset(media->bytes, QP_MOTION_GREY, media->size);
    else if (status == QP_OK)
        status = qp_motion_predict(&fields->grid, group->previous, fields->vectors.bytes,
                                   media->bytes, error);
    if (status == QP_OK)
        status = add_residuals(&stream, media->bytes, media->size, error);
    if (status == QP_OK)
        status = qp_rans_finish(&stream.decoder, error);
    end_stream(&stream, &decoder->allocator);
    return status;
}

static qp_status decode_frame(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                              qp_error *error)
{
    const motion_group *group = decoder->state;
    motion_fields fields = {0};
    qp_rans_tables *tables = NULL;
    qp_payload payload = qp_payload_over(unit->bytes, unit->size);
    read_frame(&payload, qp_motion_has_keyframe(decoder->driver), &fields);
    qp_status status = qp_payload_check(&payload, error);
    if (status == QP_OK)
        status = check_fields(&fields, fields.index > 0, error);
    if (status == QP_OK && fields.index > 0)
        status = check_follows(group, &fields, error);
    if (status == QP_OK && fields.has_table)
        status = make_table(decoder, &fields, &tables, error);
    if (status == QP_OK)
        status = decode_residuals(decoder, &fields, fields.has_table ? tables : group->tables,
                                  media, error);
    if (status == QP_OK)
        status = keep_frame(decoder, &fields, media, tables, error);
    if (status != QP_OK)
        qp_rans_tables_free(tables);
    return status;
}

/* A frame of `wai.video.int_hyper.frame`: a WIH1 begins a group. */
static qp_status decode_hyper_frame(qp_decoder *decoder, const qp_unit *unit, qp_media *media,
                                    qp_error *error)
{
    if (unit->size < 4 || memcmp(unit->bytes, "WIH1", 4) != 0)
        return decode_frame(decoder, unit, media, error);
    qp_payload payload = qp_payload_over(unit->bytes, unit->size);
    qp_status status = qp_motion_keyframe(decoder, payload, media, error);
    if (status != QP_OK)
        return status;
    motion_fields fields = {.grid = {.height = media->height, .width = media->width}};
    return keep_frame(decoder, &fields, media, NULL, error);
}

/* ---- the rows ----------------------------------------------------------------------------- */

const qp_driver qp_driver_video_int_motion = {.capability = "wai.video.int_motion",
                                              .magic = "WIV1",
                                              .decode = decode_clip,
                                              .encode = qp_motion_encode_clip};

const qp_driver qp_driver_video_int_motion_frame = {.capability = "wai.video.int_motion.frame",
                                                    .magic = "WIF1",
                                                    .decode = decode_frame,
                                                    .forget = forget_group,
                                                    .start_encoder = qp_motion_start_frames,
                                                    .encode = qp_motion_encode_frame,
                                                    .forget_encoder = qp_motion_forget_frames};

const qp_driver qp_driver_video_int_hyper = {.capability = "wai.video.int_hyper",
                                             .magic = "WIV1",
                                             .reads_set = true,
                                             .prepare = qp_hyper_prepare,
                                             .decode = decode_clip,
                                             .start_encoder = qp_hyper_start,
                                             .encode = qp_motion_encode_clip,
                                             .forget_encoder = qp_hyper_forget};

const qp_driver qp_driver_video_int_hyper_frame = {.capability = "wai.video.int_hyper.frame",
                                                   .magic = "WIF1",
                                                   .reads_set = true,
                                                   .prepare = qp_hyper_prepare,
                                                   .decode = decode_hyper_frame,
                                                   .forget = forget_group,
                                                   .start_encoder = qp_motion_start_frames,
                                                   .encode = qp_motion_encode_frame,
                                                   .forget_encoder = qp_motion_forget_frames};
