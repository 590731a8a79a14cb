/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routed.c - the lane images of sync, mux and demux (section 7.1, "Routed lanes"), and the growing
 * list of points that they and the other enumerations fill.
 */
#include "fabric/relation.h"

#include <stdlib.h>

/* ---- lists of points ---------------------------------------------------------------------- */

/* Before repeats are removed: the elements of an adapter have at most three spellings a width. */
#define RAW_POINTS_MAX ((size_t)3 * QP_FABRIC_KEYS_MAX)
#define ORDINALS_MAX ((size_t)1 << 20)

/* Room for `more` items behind `count`; false without memory. */
static bool make_room(qp_fabric_points *points, void **items, size_t *capacity, size_t size,
                      size_t needed)
{
    if (needed <= *capacity)
        return true;
    const size_t wanted = needed + needed / 2 + 16; /* the lists are bounded */
    void *grown = points->allocator.reallocate(points->allocator.context, *items, *capacity * size,
                                               wanted * size);
    if (grown == NULL) {
        points->no_memory = true;
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

bool qp_fabric_points_add(qp_fabric_points *points, const qp_fabric_behavior_point *point)
{
    void *items = points->items, *ordinals = points->ordinals;

    points->too_many = points->too_many || points->count >= RAW_POINTS_MAX ||
                       point->image_count > ORDINALS_MAX - points->ordinal_count;
    if (points->too_many ||
        !make_room(points, &items, &points->capacity, sizeof *points->items, points->count + 1))
        return false;
    points->items = items;
    if (!make_room(points, &ordinals, &points->ordinal_capacity, sizeof *points->ordinals,
                   points->ordinal_count + point->image_count))
        return false;
    points->ordinals = ordinals;
    points->items[points->count++] = *point;
    if (point->image_count > 0)
        memcpy(points->ordinals + points->ordinal_count, point->image,
               point->image_count * sizeof *point->image);
    points->ordinal_count += point->image_count;
    return true;
}

static int point_order(const void *a, const void *b)
{
    return qp_fabric_compare_points(a, b);
}

void qp_fabric_points_end(qp_fabric_points *points)
{
    size_t at = 0, kept = 0;

    for (size_t i = 0; i < points->count; i++) {
        points->items[i].image = points->ordinals != NULL ? points->ordinals + at : NULL;
        at += points->items[i].image_count;
    }
    if (points->count > 1)
        qsort(points->items, points->count, sizeof *points->items, point_order);
    for (size_t i = 0; i < points->count; i++)
        if (i == 0 || qp_fabric_compare_points(&points->items[kept - 1], &points->items[i]) != 0)
            points->items[kept++] = points->items[i];
    points->count = kept;
    points->too_many = points->too_many || kept > QP_FABRIC_KEYS_MAX;
}

void qp_fabric_points_free(qp_fabric_points *points)
{
    qp_release(&points->allocator, points->items, points->capacity, sizeof *points->items);
    qp_release(&points->allocator, points->ordinals, points->ordinal_capacity,
               sizeof *points->ordinals);
}

/* ---- images ------------------------------------------------------------------------------- */

/* The lanes of an operation by class, and a sequence of classes that grows and shrinks. */
typedef struct image_walk {
    bool ordered; /* mux and demux; a sync has sets */
    uint32_t shortest, longest;
    uint32_t class_count;
    uint32_t class_start[QP_FABRIC_LANES_MAX + 1]; /* into `lanes` */
    uint32_t lanes[QP_FABRIC_LANES_MAX];           /* ordinals by class, ascending in each */
    uint32_t used[QP_FABRIC_LANES_MAX];            /* of each class */
    uint32_t depth;
    uint32_t choice[QP_FABRIC_LANES_MAX]; /* the class at each place */
    uint32_t image[QP_FABRIC_LANES_MAX];
} image_walk;

typedef struct lane_row {
    uint64_t capacity;
    uint32_t ordinal;
} lane_row;

static int by_class(const void *a, const void *b)
{
    const lane_row *x = a, *y = b;
    if (x->capacity != y->capacity)
        return x->capacity < y->capacity ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static void sort_lanes(const qp_fabric_node *node, image_walk *walk)
{
    const qp_fabric_lane_range range = qp_fabric_lanes_of(node);
    const uint32_t count = range.end - range.first;
    lane_row rows[QP_FABRIC_LANES_MAX];

    for (uint32_t i = 0; i < count; i++)
        rows[i] = (lane_row){qp_fabric_lane_capacity(node, range.first + i), range.first + i};
    qsort(rows, count, sizeof *rows, by_class);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].capacity != rows[i - 1].capacity)
            walk->class_start[walk->class_count++] = i;
        walk->lanes[i] = rows[i].ordinal;
    }
    walk->class_start[walk->class_count] = count;
}

/* How many lanes an image has. More than two need a selector of an index width. */
static void set_lengths(const qp_fabric_node *node, image_walk *walk)
{
    const qp_fabric_lane_range range = qp_fabric_lanes_of(node);
    const uint32_t count = range.end - range.first;

    walk->ordered = node->family->roles != QP_FABRIC_ROLES_SYNC;
    walk->shortest = walk->ordered ? 2 : 1;
    walk->longest = node->params.max_fan < count ? (uint32_t)node->params.max_fan : count;
    if (!walk->ordered)
        return;
    if (node->in[0].bits < qp_fabric_index_of(0) && walk->longest > 2)
        walk->longest = 2;
    if (node->in[0].bits == 0)
        walk->longest = 0;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The image of the sequence as it stands; a sync's is the set of its lanes. */
static bool add_image(const image_walk *walk, qp_fabric_points *points)
{
    uint32_t sorted[QP_FABRIC_LANES_MAX];
    qp_fabric_behavior_point point = {.role = "",
                                      .format = -1,
                                      .source_format = -1,
                                      .destination_format = -1,
                                      .image_count = walk->depth,
                                      .image = walk->image};

    if (walk->depth < walk->shortest)
        return true;
    if (!walk->ordered) {
        memcpy(sorted, walk->image, walk->depth * sizeof *sorted);
        qsort(sorted, walk->depth, sizeof *sorted, ascending);
        point.image = sorted;
    }
    return qp_fabric_points_add(points, &point);
}

/* Puts the first class from `from` on that has a lane left at the end of the sequence. */
static bool push_class(image_walk *walk, uint32_t from)
{
    for (uint32_t c = from; c < walk->class_count; c++) {
        const uint32_t at = walk->class_start[c] + walk->used[c];
        if (at == walk->class_start[c + 1])
            continue;
        walk->used[c]++;
        walk->choice[walk->depth] = c;
        walk->image[walk->depth++] = walk->lanes[at];
        return true;
    }
    return false;
}

/* Takes the last class away and gives the next one to try in its place. */
static uint32_t pop_class(image_walk *walk)
{
    const uint32_t c = walk->choice[--walk->depth];
    walk->used[c]--;
    return c + 1;
}

void qp_fabric_add_images(const qp_fabric_node *node, qp_fabric_points *points)
{
    image_walk walk = {.depth = 0};
    uint32_t from = 0;

    sort_lanes(node, &walk);
    set_lengths(node, &walk);
    if (walk.longest < walk.shortest)
        return;
    for (;;) {
        if (walk.depth < walk.longest && push_class(&walk, from)) {
            if (!add_image(&walk, points))
                return;
            from = walk.ordered ? 0 : walk.choice[walk.depth - 1];
        } else if (walk.depth > 0) {
            from = pop_class(&walk);
        } else {
            return;
        }
    }
}
