/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relation.c - the one relation of an operation: None, Finite or Direct, sealed from its record and
 * ports; the projection of actors and the validator of values.
 */
#include "fabric/relation.h"

#include <stdlib.h>

/* What a Finite relation keeps for its projection: points in the order of their keys, and their
 * numbers in the order of qp_fabric_compare_points. */
typedef struct sealed_points {
    size_t count;
    const qp_fabric_behavior_point *points;
    const uint32_t *order;
} sealed_points;

/* ---- collecting points -------------------------------------------------------------------- */

static bool has_cover(const qp_fabric_family *family)
{
    return family->key == QP_FABRIC_KEY_FLOAT_COMPARE ||
           family->key == QP_FABRIC_KEY_VECTOR_FLOAT_COMPARE;
}

static bool is_scalar(const qp_fabric_family *family)
{
    return family->shape == QP_FABRIC_SHAPE_SCALAR;
}

typedef struct collection {
    const qp_fabric_node *node;
    qp_fabric_points *points;
    qp_arena arena; /* of what the cover sorts by */
    qp_fabric_cover_point *cover_points;
    size_t cover_count;
} collection;

static bool add_behavior(void *context, const qp_fabric_candidate *candidate)
{
    collection *c = context;
    const qp_fabric_behavior_point point =
        qp_fabric_behavior_of(c->node->family, &candidate->signature);

    return qp_fabric_points_add(c->points, &point);
}

/* At most every predicate and two minima and maxima, strict and relaxed, in every format. */
enum { COVER_POINTS_MAX = (16 + 4) * 2 * QP_FABRIC_FORMATS };

static bool add_cover_point(void *context, const qp_fabric_candidate *candidate)
{
    collection *c = context;
    qp_fabric_cover_point *point = &c->cover_points[c->cover_count++];
    qp_buffer buffer;

    qp_buffer_init(&buffer, &c->arena.allocator);
    qp_fabric_put_projection(&buffer, &candidate->signature);
    uint8_t *bytes =
        buffer.failed ? NULL : qp_arena_allocate(&c->arena, buffer.size, sizeof *bytes);
    if (bytes != NULL)
        memcpy(bytes, buffer.bytes, buffer.size);
    *point = (qp_fabric_cover_point){qp_fabric_behavior_of(c->node->family, &candidate->signature),
                                     candidate->relaxed, bytes, buffer.size};
    qp_buffer_free(&buffer);
    c->points->no_memory = c->points->no_memory || bytes == NULL;
    return bytes != NULL;
}

static void collect_cover(collection *c)
{
    qp_arena_init(&c->arena, &c->points->allocator);
    c->cover_points = qp_arena_allocate(&c->arena, COVER_POINTS_MAX, sizeof *c->cover_points);
    c->points->no_memory = c->cover_points == NULL;
    if (c->cover_points != NULL)
        qp_fabric_each_point(c->node, true, add_cover_point, c);
    if (!c->points->no_memory)
        qp_fabric_cover(c->cover_points, c->cover_count, is_scalar(c->node->family), c->points);
    qp_arena_free(&c->arena);
}

static void collect_points(const qp_fabric_node *node, qp_fabric_points *points)
{
    collection c = {.node = node, .points = points};

    if (node->family->key == QP_FABRIC_KEY_LANES)
        qp_fabric_add_images(node, points);
    else if (has_cover(node->family))
        collect_cover(&c);
    else
        qp_fabric_each_point(node, true, add_behavior, &c);
    qp_fabric_points_end(points);
}

/* ---- keys --------------------------------------------------------------------------------- */

/* A point on its way to a key. */
typedef struct key_row {
    size_t offset, size; /* of its bytes in the buffer */
    size_t text;         /* of its text in the other */
    const uint8_t *bytes;
    uint32_t point;
} key_row;

static int by_bytes(const void *a, const void *b)
{
    const key_row *x = a, *y = b;
    return qp_fabric_compare_bytes(x->bytes, x->size, y->bytes, y->size);
}

/* Writes every key and its text; points of a role lie together. */
static void write_keys(const qp_fabric_family *family, const qp_fabric_points *points,
                       key_row *rows, qp_buffer *bytes, qp_buffer *texts)
{
    qp_fabric_key_shape shape = {false, 0};

    for (size_t i = 0; i < points->count; i++) {
        const qp_fabric_behavior_point *point = &points->items[i];
        if (i == 0 || strcmp(point->role, point[-1].role) != 0)
            shape = qp_fabric_shape_of(family, points->items, points->count, point->role);
        rows[i] = (key_row){.offset = bytes->size, .text = texts->size, .point = (uint32_t)i};
        qp_fabric_put_key(bytes, family, shape, point);
        rows[i].size = bytes->size - rows[i].offset;
        qp_fabric_put_key_text(texts, family, shape, point);
        qp_buffer_append(texts, "", 1);
    }
}

/* What the arena keeps of the keys. */
typedef struct key_store {
    uint8_t *bytes;
    char *texts;
    qp_fabric_key *keys;
    qp_fabric_behavior_point *points;
    uint32_t *order;
    uint32_t *ordinals;
    sealed_points *sealed;
} key_store;

static bool make_store(const qp_fabric_points *points, const qp_buffer *bytes,
                       const qp_buffer *texts, qp_arena *arena, key_store *store)
{
    store->bytes = qp_arena_allocate(arena, bytes->size, 1);
    store->texts = qp_arena_allocate(arena, texts->size, 1);
    store->keys = qp_arena_allocate(arena, points->count, sizeof *store->keys);
    store->points = qp_arena_allocate(arena, points->count, sizeof *store->points);
    store->order = qp_arena_allocate(arena, points->count, sizeof *store->order);
    store->ordinals = qp_arena_allocate(arena, points->ordinal_count, sizeof *store->ordinals);
    store->sealed = qp_arena_allocate(arena, 1, sizeof *store->sealed);
    return store->bytes != NULL && store->texts != NULL && store->keys != NULL &&
           store->points != NULL && store->order != NULL && store->ordinals != NULL &&
           store->sealed != NULL;
}

static void fill_store(const qp_fabric_points *points, key_row *rows, const qp_buffer *bytes,
                       const qp_buffer *texts, const key_store *store)
{
    memcpy(store->bytes, bytes->bytes, bytes->size);
    memcpy(store->texts, texts->bytes, texts->size);
    if (points->ordinal_count > 0)
        memcpy(store->ordinals, points->ordinals, points->ordinal_count * sizeof *store->ordinals);
    for (size_t i = 0; i < points->count; i++)
        rows[i].bytes = store->bytes + rows[i].offset;
    qsort(rows, points->count, sizeof *rows, by_bytes);
    for (size_t i = 0; i < points->count; i++) {
        const qp_fabric_behavior_point *point = &points->items[rows[i].point];
        store->keys[i] = (qp_fabric_key){rows[i].bytes, rows[i].size, store->texts + rows[i].text};
        store->points[i] = *point;
        if (point->image_count > 0)
            store->points[i].image = store->ordinals + (point->image - points->ordinals);
        store->order[rows[i].point] = (uint32_t)i;
    }
    *store->sealed = (sealed_points){points->count, store->points, store->order};
}

static bool make_keys(const qp_fabric_node *node, const qp_fabric_points *points, qp_arena *arena,
                      qp_fabric_capability *capability)
{
    qp_buffer bytes, texts;
    key_store store;
    key_row *rows = qp_allocate(&points->allocator, points->count, sizeof *rows);
    bool good = rows != NULL;

    qp_buffer_init(&bytes, &points->allocator);
    qp_buffer_init(&texts, &points->allocator);
    if (good)
        write_keys(node->family, points, rows, &bytes, &texts);
    good =
        good && !bytes.failed && !texts.failed && make_store(points, &bytes, &texts, arena, &store);
    if (good) {
        fill_store(points, rows, &bytes, &texts, &store);
        capability->relation = (qp_fabric_relation){
            .kind = QP_FABRIC_RELATION_FINITE, .key_count = points->count, .keys = store.keys};
        capability->inactive = (qp_fabric_semantic_value){store.keys[0].bytes, store.keys[0].size};
        capability->points = store.sealed;
    }
    qp_buffer_free(&texts);
    qp_buffer_free(&bytes);
    qp_release(&points->allocator, rows, points->count, sizeof *rows);
    return good;
}

/* A domain of one behaviour is None. */
static qp_status seal_finite(const qp_fabric_node *node, qp_arena *arena,
                             qp_fabric_capability *capability, qp_fabric_error *error)
{
    qp_fabric_points points = {.allocator = arena->allocator};
    qp_status status = QP_OK;

    collect_points(node, &points);
    if (points.no_memory)
        status = qp_fabric_fail_memory(error, "the behaviours of an operation");
    else if (points.too_many)
        status = qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, node->place,
                                "the operation has more behaviours than %lu, the most that are "
                                "supported",
                                (unsigned long)QP_FABRIC_KEYS_MAX);
    else if (points.count == 0)
        status = qp_fabric_fail(error, QP_FABRIC_INVALID, node->place,
                                "no actor can use the operation: its ports are too narrow");
    else if (points.count > 1 && !make_keys(node, &points, arena, capability))
        status = qp_fabric_fail_memory(error, "the behaviour keys of an operation");
    qp_fabric_points_free(&points);
    return status;
}

/* ---- sealing ------------------------------------------------------------------------------ */

static qp_status seal_none(const qp_fabric_node *node, qp_arena *arena,
                           qp_fabric_capability *capability, qp_fabric_error *error)
{
    (void)node;
    (void)arena;
    (void)capability;
    (void)error;
    return QP_OK;
}

static qp_status (*const seals[])(const qp_fabric_node *, qp_arena *, qp_fabric_capability *,
                                  qp_fabric_error *) = {
    [QP_FABRIC_RELATION_NONE] = seal_none,
    [QP_FABRIC_RELATION_FINITE] = seal_finite,
    [QP_FABRIC_RELATION_DIRECT] = qp_fabric_seal_carrier,
};

qp_status qp_fabric_seal(const qp_fabric_node *node, qp_arena *arena,
                         qp_fabric_capability *capability, qp_fabric_error *error)
{
    memset(capability, 0, sizeof *capability);
    capability->node = node;
    qp_status status = qp_fabric_check_op(node, error);
    if (status == QP_OK)
        status = qp_fabric_contract_of(node, arena, &capability->contract, error);
    if (status == QP_OK)
        status = seals[node->family->relation](node, arena, capability, error);
    return status;
}

/* ---- projection --------------------------------------------------------------------------- */

/* The number of a point in key order, `count` where the domain lacks it. */
static size_t find_point(const sealed_points *sealed, const qp_fabric_behavior_point *point)
{
    size_t low = 0, high = sealed->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = qp_fabric_compare_points(&sealed->points[sealed->order[middle]], point);
        if (order == 0)
            return sealed->order[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return sealed->count;
}

static int port_order(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* A routed actor's point; a sync's lanes in `sorted`. */
static void set_image(const qp_fabric_node *node, const qp_fabric_offer *offer, uint32_t *sorted,
                      qp_fabric_behavior_point *point)
{
    const qp_fabric_image_view image = qp_fabric_image_of(node, offer);

    point->image = image.ordinals;
    point->image_count = image.count;
    if (node->family->roles != QP_FABRIC_ROLES_SYNC)
        return;
    memcpy(sorted, image.ordinals, image.count * sizeof *sorted);
    qsort(sorted, image.count, sizeof *sorted, port_order);
    point->image = sorted;
}

static size_t find_key(const qp_fabric_capability *capability, const qp_fabric_offer *offer)
{
    const sealed_points *sealed = capability->points;
    const qp_fabric_family *family = capability->node->family;
    const qp_fabric_signature *signature = &offer->signature;
    qp_fabric_cover_point point = {.point = qp_fabric_behavior_of(family, signature),
                                   .relaxed =
                                       (signature->semantics->fast_math & QP_FABRIC_NNAN) != 0};
    uint32_t sorted[QP_FABRIC_LANES_MAX];

    if (has_cover(family))
        return qp_fabric_cover_choose(sealed->points, sealed->count, is_scalar(family), &point);
    if (family->key == QP_FABRIC_KEY_LANES)
        set_image(capability->node, offer, sorted, &point.point);
    return find_point(sealed, &point.point);
}

qp_status qp_fabric_project(const qp_fabric_capability *capability, const qp_fabric_offer *offer,
                            qp_arena *arena, qp_fabric_semantic_value *value,
                            qp_fabric_error *error)
{
    *value = (qp_fabric_semantic_value){NULL, 0};
    if (capability->relation.kind == QP_FABRIC_RELATION_NONE)
        return QP_OK;
    if (capability->relation.kind == QP_FABRIC_RELATION_DIRECT)
        return qp_fabric_project_carrier(capability, &offer->signature, arena, value, error);
    const size_t key = find_key(capability, offer);
    if (key == capability->relation.key_count)
        return qp_fabric_fail(error, QP_FABRIC_INADMISSIBLE, offer->place,
                              "the operation has no behaviour for this actor");
    value->bytes = capability->relation.keys[key].bytes;
    value->size = capability->relation.keys[key].size;
    return QP_OK;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool is_key(const qp_fabric_relation *relation, qp_fabric_semantic_value value)
{
    size_t low = 0, high = relation->key_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const qp_fabric_key *key = &relation->keys[middle];
        const int order = qp_fabric_compare_bytes(key->bytes, key->size, value.bytes, value.size);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

qp_status qp_fabric_check_value(const qp_fabric_capability *capability,
                                qp_fabric_semantic_value value, qp_fabric_error *error)
{
    const qp_fabric_relation *relation = &capability->relation;

    if (relation->kind == QP_FABRIC_RELATION_DIRECT)
        return qp_fabric_check_carrier(capability, value, error);
    if (relation->kind == QP_FABRIC_RELATION_NONE ? value.size == 0 : is_key(relation, value))
        return QP_OK;
    return qp_fabric_fail(error, QP_FABRIC_INVALID, QP_FABRIC_NOWHERE,
                          "these bytes are no behaviour key of the operation");
}
