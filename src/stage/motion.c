/* SPDX-License-Identifier: Apache-2.0 */
/* motion.c - mc_predict (E10), for a pixel and for a block, and the encoder's search. */
#include "stage/stage.h"

enum { CHANNELS = 3, RANGE_MAX = 255 };

qp_samples qp_samples_planes(const uint8_t *data, uint32_t channels, uint32_t height,
                             uint32_t width)
{
    return (qp_samples){data, channels, height, width, (size_t)height * width, width, 1};
}

qp_samples qp_samples_pixels(const uint8_t *data, uint32_t channels, uint32_t height,
                             uint32_t width)
{
    return (qp_samples){data, channels, height, width, 1, (size_t)width * channels, channels};
}

/* ---- prediction --------------------------------------------------------------------------- */

static qp_status check_frame(const qp_samples *frame, int precision, qp_error *error)
{
    if (frame->channels != CHANNELS)
        return qp_fail(error, QP_MODEL_MISMATCH, "a frame of %u channels; it has 3",
                       (unsigned)frame->channels);
    if (frame->height == 0 || frame->width == 0)
        return qp_fail(error, QP_MODEL_MISMATCH, "a frame without a pixel");
    if (precision != 1 && precision != 2)
        return qp_fail(error, QP_MODEL_MISMATCH, "mv_precision is 1 or 2");
    return QP_OK;
}

/* Where a vector leads from a pixel; the shifts are arithmetic. */
static qp_half_place moved(int64_t y, int64_t x, const qp_motion *m)
{
    if (m->precision == 1)
        return (qp_half_place){.y = y + m->dy, .x = x + m->dx};
    return (qp_half_place){.y = y + qp_floor_shift_i64(m->dy, 1),
                           .x = x + qp_floor_shift_i64(m->dx, 1),
                           .fy = (uint32_t)m->dy & 1,
                           .fx = (uint32_t)m->dx & 1};
}

qp_status qp_mc_predict(const qp_samples *frame, const qp_pixel *pixel, const qp_motion *motion,
                        uint8_t *value, qp_error *error)
{
    qp_status status = check_frame(frame, motion->precision, error);
    if (status != QP_OK)
        return status;
    if (pixel->y < 0 || pixel->y >= frame->height || pixel->x < 0 || pixel->x >= frame->width)
        return qp_fail(error, QP_MODEL_MISMATCH, "a pixel outside the frame");
    if (pixel->c < 0 || pixel->c >= CHANNELS)
        return qp_fail(error, QP_MODEL_MISMATCH, "a channel that is not 0, 1 or 2");
    *value = qp_half_pel(frame, (uint32_t)pixel->c, moved(pixel->y, pixel->x, motion));
    return QP_OK;
}

/* Cuts a block to the frame; false where nothing is left of it. */
static bool cut_block(const qp_samples *frame, qp_block *block)
{
    if (block->y >= frame->height || block->x >= frame->width)
        return false;
    if (block->height > frame->height - block->y)
        block->height = frame->height - block->y;
    if (block->width > frame->width - block->x)
        block->width = frame->width - block->x;
    return block->height > 0 && block->width > 0;
}

qp_status qp_mc_predict_block(const qp_samples *frame, const qp_block *block,
                              const qp_motion *motion, uint8_t *out, qp_error *error)
{
    qp_block cut = *block;
    qp_status status = check_frame(frame, motion->precision, error);
    if (status != QP_OK)
        return status;
    if (!cut_block(frame, &cut))
        return qp_fail(error, QP_MODEL_MISMATCH, "a block outside the frame");
    for (uint32_t y = 0; y < cut.height; y++)
        for (uint32_t x = 0; x < cut.width; x++) {
            qp_half_place at = moved((int64_t)cut.y + y, (int64_t)cut.x + x, motion);
            for (uint32_t c = 0; c < CHANNELS; c++)
                *out++ = qp_half_pel(frame, c, at);
        }
    return QP_OK;
}

/* ---- the encoder's search ----------------------------------------------------------------- */

typedef struct search {
    const qp_samples *frame, *previous;
    qp_block block;
    qp_motion best;
    uint64_t cost; /* of the best; at most 255·3·2^32 */
} search;

/* The sum of absolute differences, or anything of at least `limit` once it has reached it. */
static uint64_t difference(const search *s, const qp_motion *motion, uint64_t limit)
{
    uint64_t sum = 0;
    for (uint32_t y = 0; y < s->block.height && sum < limit; y++)
        for (uint32_t x = 0; x < s->block.width; x++) {
            int64_t at_y = (int64_t)s->block.y + y, at_x = (int64_t)s->block.x + x;
            qp_half_place at = moved(at_y, at_x, motion);
            for (uint32_t c = 0; c < CHANNELS; c++) {
                unsigned a = qp_sample(s->frame, c, at_y, at_x);
                unsigned b = qp_half_pel(s->previous, c, at);
                sum += a > b ? a - b : b - a;
            }
        }
    return sum;
}

/* Whether `a` comes before `b` among vectors of one cost. */
static bool is_before(const qp_motion *a, const qp_motion *b)
{
    uint64_t length_a = qp_magnitude_i64(a->dy) + qp_magnitude_i64(a->dx);
    uint64_t length_b = qp_magnitude_i64(b->dy) + qp_magnitude_i64(b->dx);
    if (length_a != length_b)
        return length_a < length_b;
    return a->dy != b->dy ? a->dy < b->dy : a->dx < b->dx;
}

static void try_vector(search *s, const qp_motion *motion)
{
    uint64_t cost = difference(s, motion, s->cost + 1);
    if (cost < s->cost || (cost == s->cost && is_before(motion, &s->best))) {
        s->cost = cost;
        s->best = *motion;
    }
}

/* Every vector within `reach` units of `centre` that is a multiple of its `unit`. */
static void try_around(search *s, qp_motion centre, int32_t reach, int32_t unit)
{
    for (int32_t dy = -reach; dy <= reach; dy += unit)
        for (int32_t dx = -reach; dx <= reach; dx += unit)
            try_vector(s, &(qp_motion){centre.dy + dy, centre.dx + dx, centre.precision});
}

qp_status qp_motion_find(const qp_samples *frame, const qp_samples *previous, const qp_block *block,
                         const qp_motion_search *rule, qp_motion *motion, qp_error *error)
{
    search s = {.frame = frame, .previous = previous, .block = *block};
    qp_status status = check_frame(frame, rule->precision, error);
    if (status == QP_OK)
        status = check_frame(previous, rule->precision, error);
    if (status != QP_OK)
        return status;
    if (frame->height != previous->height || frame->width != previous->width)
        return qp_fail(error, QP_MODEL_MISMATCH, "two frames of different sizes");
    if (rule->range > RANGE_MAX)
        return qp_fail(error, QP_MODEL_MISMATCH, "a search beyond 255 pels");
    if (!cut_block(frame, &s.block))
        return qp_fail(error, QP_MODEL_MISMATCH, "a block outside the frame");

    s.best.precision = rule->precision;
    s.cost = difference(&s, &s.best, UINT64_MAX);
    try_around(&s, s.best, (int32_t)rule->range * rule->precision, rule->precision);
    if (rule->precision == 2)
        try_around(&s, s.best, 1, 1);
    *motion = s.best;
    return QP_OK;
}
