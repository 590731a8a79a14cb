/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - behaviour keys (section 7): a row for each component of a point, what a domain writes of
 * it, its bytes, and how people see it.
 */
#include "fabric/relation.h"

#include <inttypes.h>

static const char key_domain[] = "loom.fabric.operation-behavior-key";

typedef const qp_fabric_behavior_point point_view;

/* ---- components --------------------------------------------------------------------------- */

/*
 * A component of a point: whether the point has it, how two points that have it compare, its bytes
 * and its text. `value` is of the components that are one number; it also orders them.
 */
typedef struct component_row {
    uint64_t (*value)(point_view *p); /* 0 where the point lacks it */
    int (*compare)(point_view *a, point_view *b);
    void (*put)(qp_buffer *buffer, point_view *p);
    void (*text)(qp_buffer *buffer, const qp_fabric_family *family, point_view *p);
} component_row;

static void put_type(qp_buffer *buffer, int ordinal)
{
    const qp_fabric_type type = qp_fabric_float_type(qp_fabric_formats[ordinal].tag);
    qp_buffer bytes;

    qp_buffer_init(&bytes, &buffer->allocator);
    qp_fabric_put_type(&bytes, &type);
    if (bytes.failed)
        buffer->failed = true;
    else
        qp_fabric_put_frame(buffer, bytes.bytes, bytes.size);
    qp_buffer_free(&bytes);
}

static void put_atom(qp_buffer *buffer, const qp_fabric_vocabulary *words, uint32_t number)
{
    qp_buffer bytes;

    qp_buffer_init(&bytes, &buffer->allocator);
    qp_fabric_put_atom(&bytes, words, number);
    if (bytes.failed)
        buffer->failed = true;
    else
        qp_fabric_put_frame(buffer, bytes.bytes, bytes.size);
    qp_buffer_free(&bytes);
}

static uint64_t width_value(point_view *p)
{
    return p->width;
}

static void width_put(qp_buffer *buffer, point_view *p)
{
    qp_fabric_put_u32(buffer, p->width);
}

/* "i32" where the record knows integers alone, else "32-bit". */
static void width_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    const qp_fabric_field_row *rows = qp_fabric_params_rows[family->params].fields;
    bool floats = false;

    for (uint32_t i = 0; rows[i].name != NULL; i++)
        floats = floats || rows[i].type == QP_FABRIC_FIELD_FORMATS;
    qp_buffer_format(buffer, floats ? "%" PRIu32 "-bit" : "i%" PRIu32, p->width);
}

static uint64_t source_width_value(point_view *p)
{
    return p->source_width;
}

static void source_width_put(qp_buffer *buffer, point_view *p)
{
    qp_fabric_put_u32(buffer, p->source_width);
}

static void source_width_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_format(buffer, "from i%" PRIu32, p->source_width);
}

static uint64_t destination_width_value(point_view *p)
{
    return p->destination_width;
}

static void destination_width_put(qp_buffer *buffer, point_view *p)
{
    qp_fabric_put_u32(buffer, p->destination_width);
}

static void destination_width_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_format(buffer, "to i%" PRIu32, p->destination_width);
}

static uint64_t lane_count_value(point_view *p)
{
    return p->lane_count;
}

static void lane_count_put(qp_buffer *buffer, point_view *p)
{
    qp_fabric_put_u32(buffer, (uint32_t)p->lane_count); /* at most a port's bits */
}

static void lane_count_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_format(buffer, "x%" PRIu64, p->lane_count);
}

static uint64_t image_value(point_view *p)
{
    return p->image_count;
}

static int image_compare(point_view *a, point_view *b)
{
    if (a->image_count != b->image_count)
        return a->image_count < b->image_count ? -1 : 1;
    for (uint32_t i = 0; i < a->image_count; i++)
        if (a->image[i] != b->image[i])
            return a->image[i] < b->image[i] ? -1 : 1;
    return 0;
}

static void image_put(qp_buffer *buffer, point_view *p)
{
    qp_fabric_put_u32(buffer, p->image_count);
    for (uint32_t i = 0; i < p->image_count; i++)
        qp_fabric_put_u64(buffer, p->image[i]);
}

static void image_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    for (uint32_t i = 0; i < p->image_count; i++)
        qp_buffer_format(buffer, "%s%" PRIu32, i == 0 ? "[" : ",", p->image[i]);
    qp_buffer_text(buffer, "]");
}

static uint64_t predicate_value(point_view *p)
{
    return p->predicate;
}

static void integer_predicate_put(qp_buffer *buffer, point_view *p)
{
    put_atom(buffer, &qp_fabric_integer_predicates, p->predicate);
}

static void integer_predicate_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_text(buffer, qp_fabric_word(&qp_fabric_integer_predicates, p->predicate));
}

static void float_predicate_put(qp_buffer *buffer, point_view *p)
{
    put_atom(buffer, &qp_fabric_float_predicates, p->predicate);
}

static void float_predicate_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_text(buffer, qp_fabric_word(&qp_fabric_float_predicates, p->predicate));
}

static uint64_t format_value(point_view *p)
{
    return (uint64_t)(p->format + 1);
}

static void format_put(qp_buffer *buffer, point_view *p)
{
    put_type(buffer, p->format);
}

static void format_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_text(buffer, qp_fabric_formats[p->format].name);
}

static uint64_t source_format_value(point_view *p)
{
    return (uint64_t)(p->source_format + 1);
}

static void source_format_put(qp_buffer *buffer, point_view *p)
{
    put_type(buffer, p->source_format);
}

static void source_format_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_format(buffer, "from %s", qp_fabric_formats[p->source_format].name);
}

static uint64_t destination_format_value(point_view *p)
{
    return (uint64_t)(p->destination_format + 1);
}

static void destination_format_put(qp_buffer *buffer, point_view *p)
{
    put_type(buffer, p->destination_format);
}

static void destination_format_text(qp_buffer *buffer, const qp_fabric_family *family,
                                    point_view *p)
{
    (void)family;
    qp_buffer_format(buffer, "to %s", qp_fabric_formats[p->destination_format].name);
}

static uint64_t rounding_value(point_view *p)
{
    return p->rounding;
}

static void rounding_put(qp_buffer *buffer, point_view *p)
{
    put_atom(buffer, &qp_fabric_roundings, p->rounding);
}

static void rounding_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    (void)family;
    qp_buffer_text(buffer, qp_fabric_word(&qp_fabric_roundings, p->rounding));
}

/* Exact formats first, then the widths of normalised points. */
static uint64_t numeric_value(point_view *p)
{
    if (p->format >= 0)
        return format_value(p);
    return p->numeric_width > 0 ? UINT64_C(256) + p->numeric_width : 0;
}

static void numeric_put_vector(qp_buffer *buffer, point_view *p)
{
    if (p->format >= 0)
        put_type(buffer, p->format);
    else
        qp_fabric_put_u32(buffer, p->numeric_width);
}

static void numeric_put(qp_buffer *buffer, point_view *p)
{
    enum { EXACT = 1, WIDTH = 2 };
    qp_fabric_put_u32(buffer, p->format >= 0 ? EXACT : WIDTH);
    numeric_put_vector(buffer, p);
}

static void numeric_text(qp_buffer *buffer, const qp_fabric_family *family, point_view *p)
{
    if (p->format >= 0)
        format_text(buffer, family, p);
    else
        qp_buffer_format(buffer, "%" PRIu32 "-bit", p->numeric_width);
}

static const component_row component_rows[] = {
    [QP_FABRIC_COMPONENT_WIDTH] = {width_value, NULL, width_put, width_text},
    [QP_FABRIC_COMPONENT_SOURCE_WIDTH] = {source_width_value, NULL, source_width_put,
                                          source_width_text},
    [QP_FABRIC_COMPONENT_DESTINATION_WIDTH] = {destination_width_value, NULL, destination_width_put,
                                               destination_width_text},
    [QP_FABRIC_COMPONENT_LANE_COUNT] = {lane_count_value, NULL, lane_count_put, lane_count_text},
    [QP_FABRIC_COMPONENT_LANE_IMAGE] = {image_value, image_compare, image_put, image_text},
    [QP_FABRIC_COMPONENT_INTEGER_PREDICATE] = {predicate_value, NULL, integer_predicate_put,
                                               integer_predicate_text},
    [QP_FABRIC_COMPONENT_FLOAT_PREDICATE] = {predicate_value, NULL, float_predicate_put,
                                             float_predicate_text},
    [QP_FABRIC_COMPONENT_FORMAT] = {format_value, NULL, format_put, format_text},
    [QP_FABRIC_COMPONENT_SOURCE_FORMAT] = {source_format_value, NULL, source_format_put,
                                           source_format_text},
    [QP_FABRIC_COMPONENT_DESTINATION_FORMAT] = {destination_format_value, NULL,
                                                destination_format_put, destination_format_text},
    [QP_FABRIC_COMPONENT_ROUNDING] = {rounding_value, NULL, rounding_put, rounding_text},
    [QP_FABRIC_COMPONENT_NUMERIC_FORMAT] = {numeric_value, NULL, numeric_put, numeric_text},
    [QP_FABRIC_COMPONENT_NUMERIC_FORMAT_VECTOR] = {numeric_value, NULL, numeric_put_vector,
                                                   numeric_text},
};

static int compare_component(const component_row *row, point_view *a, point_view *b)
{
    if (row->compare != NULL)
        return row->compare(a, b);
    const uint64_t x = row->value(a), y = row->value(b);
    return (x > y) - (x < y);
}

/* ---- the order of points ------------------------------------------------------------------ */

int qp_fabric_compare_points(point_view *a, point_view *b)
{
    static const qp_fabric_component order[] = {
        QP_FABRIC_COMPONENT_WIDTH,
        QP_FABRIC_COMPONENT_SOURCE_WIDTH,
        QP_FABRIC_COMPONENT_DESTINATION_WIDTH,
        QP_FABRIC_COMPONENT_LANE_COUNT,
        QP_FABRIC_COMPONENT_LANE_IMAGE,
        QP_FABRIC_COMPONENT_INTEGER_PREDICATE, /* of either list */
        QP_FABRIC_COMPONENT_SOURCE_FORMAT,
        QP_FABRIC_COMPONENT_DESTINATION_FORMAT,
        QP_FABRIC_COMPONENT_ROUNDING,
        QP_FABRIC_COMPONENT_NUMERIC_FORMAT, /* a format too */
    };
    int result = strcmp(a->role, b->role);

    for (size_t i = 0; i < sizeof order / sizeof order[0] && result == 0; i++)
        result = compare_component(&component_rows[order[i]], a, b);
    return result;
}

/* ---- what a domain writes ----------------------------------------------------------------- */

/* Whether a component takes two values among the points of a role or, by its scope, of all. */
static bool varies(const qp_fabric_component_row *row, point_view *points, size_t count,
                   const char *role)
{
    const component_row *component = &component_rows[row->component];
    point_view *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if ((row->scope == QP_FABRIC_SCOPE_ROLE && strcmp(points[i].role, role) != 0) ||
            component->value(&points[i]) == 0)
            continue;
        if (first == NULL)
            first = &points[i];
        else if (compare_component(component, first, &points[i]) != 0)
            return true;
    }
    return false;
}

static bool several_roles(point_view *points, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(points[i].role, points[0].role) != 0)
            return true;
    return false;
}

qp_fabric_key_shape qp_fabric_shape_of(const qp_fabric_family *family, point_view *points,
                                       size_t count, const char *role)
{
    const qp_fabric_key_row *row = &qp_fabric_key_rows[family->key];
    qp_fabric_key_shape shape = {.role = row->role_rule == QP_FABRIC_ROLE_ALWAYS};

    if (row->role_rule == QP_FABRIC_ROLE_IF_SEVERAL)
        shape.role = several_roles(points, count);
    for (uint32_t i = 0; i < QP_FABRIC_COMPONENTS_MAX; i++)
        if (row->components[i].component != QP_FABRIC_COMPONENT_NONE &&
            varies(&row->components[i], points, count, role))
            shape.components |= UINT32_C(1) << i;
    return shape;
}

/* Component i of a point's key, NULL where it is not written. */
static const component_row *written(const qp_fabric_family *family, qp_fabric_key_shape shape,
                                    point_view *point, uint32_t i)
{
    const component_row *row =
        &component_rows[qp_fabric_key_rows[family->key].components[i].component];
    return (shape.components >> i & 1) != 0 && row->value(point) != 0 ? row : NULL;
}

/* ---- bytes and text ----------------------------------------------------------------------- */

void qp_fabric_put_key(qp_buffer *buffer, const qp_fabric_family *family, qp_fabric_key_shape shape,
                       point_view *point)
{
    qp_fabric_put_domain(buffer, key_domain, 1, 0);
    qp_fabric_put_frame_text(buffer, family->keyword);
    qp_fabric_put_frame_text(buffer, shape.role ? point->role : "");
    for (uint32_t i = 0; i < QP_FABRIC_COMPONENTS_MAX; i++) {
        const component_row *row = written(family, shape, point, i);
        if (row != NULL)
            row->put(buffer, point);
    }
}

void qp_fabric_put_key_text(qp_buffer *buffer, const qp_fabric_family *family,
                            qp_fabric_key_shape shape, point_view *point)
{
    const char *before = "";

    if (shape.role && point->role[0] != '\0') {
        qp_buffer_text(buffer, point->role);
        before = " ";
    }
    for (uint32_t i = 0; i < QP_FABRIC_COMPONENTS_MAX; i++) {
        const component_row *row = written(family, shape, point, i);
        if (row == NULL)
            continue;
        qp_buffer_text(buffer, before);
        row->text(buffer, family, point);
        before = " ";
    }
}
