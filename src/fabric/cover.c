/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cover.c - the refinement cover of float comparisons, minima and maxima (section 7.3). Saturation
 * and nneg need none: their roles and endpoints are those of the unrestricted schema.
 */
#include "fabric/relation.h"

#include <stdlib.h>

enum { F16 = 0, BF16 = 1 }; /* ordinals of qp_fabric_formats */

/* ---- normal forms ------------------------------------------------------------------------- */

static const char *normal_role(const char *role)
{
    if (strcmp(role, "MinNumber") == 0)
        return "Minimum";
    return strcmp(role, "MaxNumber") == 0 ? "Maximum" : role;
}

/* Without NaN an unordered predicate is its ordered one, ord is true and uno is false. */
static uint32_t normal_predicate(uint32_t predicate)
{
    static const uint8_t normal[] = {
        [QP_FABRIC_UEQ] = QP_FABRIC_OEQ,   [QP_FABRIC_FUGT] = QP_FABRIC_OGT,
        [QP_FABRIC_FUGE] = QP_FABRIC_OGE,  [QP_FABRIC_FULT] = QP_FABRIC_OLT,
        [QP_FABRIC_FULE] = QP_FABRIC_OLE,  [QP_FABRIC_UNE] = QP_FABRIC_ONE,
        [QP_FABRIC_ORD] = QP_FABRIC_TRUE,  [QP_FABRIC_UNO] = QP_FABRIC_FALSE,
        [QP_FABRIC_TRUE] = QP_FABRIC_TRUE,
    };
    return normal[predicate] != 0 ? normal[predicate] : predicate;
}

static bool same_behavior(const qp_fabric_behavior_point *a, const qp_fabric_behavior_point *b)
{
    return strcmp(normal_role(a->role), normal_role(b->role)) == 0 &&
           normal_predicate(a->predicate) == normal_predicate(b->predicate);
}

/* Whether a representative's numeric format serves a relaxed point's. */
static bool serves_format(const qp_fabric_behavior_point *representative,
                          const qp_fabric_behavior_point *point, bool scalar)
{
    if (representative->format >= 0)
        return representative->format == point->format ||
               (scalar && representative->format == BF16 && point->format == F16);
    return representative->numeric_width == 0 ||
           (point->format >= 0 &&
            representative->numeric_width == qp_fabric_formats[point->format].bits);
}

/* Whether the actor stands at exactly this representative. */
static bool is_own(const qp_fabric_behavior_point *representative,
                   const qp_fabric_behavior_point *point)
{
    return qp_fabric_compare_points(representative, point) == 0;
}

static bool refines(const qp_fabric_behavior_point *representative,
                    const qp_fabric_cover_point *point, bool scalar)
{
    return same_behavior(representative, &point->point) &&
           serves_format(representative, &point->point, scalar);
}

/* ---- the cover ---------------------------------------------------------------------------- */

/* Strict points first, then relaxed ones, each by their actor projections. */
static int by_strictness(const void *a, const void *b)
{
    const qp_fabric_cover_point *x = a, *y = b;

    if (x->relaxed != y->relaxed)
        return x->relaxed ? 1 : -1;
    return qp_fabric_compare_bytes(x->bytes, x->size, y->bytes, y->size);
}

static qp_fabric_behavior_point normalised(const qp_fabric_behavior_point *point)
{
    qp_fabric_behavior_point normal = *point;

    normal.role = normal_role(point->role);
    normal.predicate = normal_predicate(point->predicate);
    normal.format = -1;
    if (point->format >= 0 && normal.predicate != QP_FABRIC_TRUE &&
        normal.predicate != QP_FABRIC_FALSE)
        normal.numeric_width = qp_fabric_formats[point->format].bits;
    return normal;
}

static bool is_refined(const qp_fabric_points *cover, const qp_fabric_cover_point *point,
                       bool scalar)
{
    for (size_t i = 0; i < cover->count; i++)
        if (refines(&cover->items[i], point, scalar))
            return true;
    return false;
}

static bool is_there(const qp_fabric_points *cover, const qp_fabric_behavior_point *point)
{
    for (size_t i = 0; i < cover->count; i++)
        if (is_own(&cover->items[i], point))
            return true;
    return false;
}

void qp_fabric_cover(qp_fabric_cover_point *points, size_t count, bool scalar,
                     qp_fabric_points *cover)
{
    if (count > 1)
        qsort(points, count, sizeof *points, by_strictness);
    for (size_t i = 0; i < count; i++) {
        if (points[i].relaxed ? is_refined(cover, &points[i], scalar)
                              : is_there(cover, &points[i].point))
            continue;
        const qp_fabric_behavior_point added =
            points[i].relaxed ? normalised(&points[i].point) : points[i].point;
        if (!qp_fabric_points_add(cover, &added))
            return;
    }
}

size_t qp_fabric_cover_choose(const qp_fabric_behavior_point *representatives, size_t count,
                              bool scalar, const qp_fabric_cover_point *point)
{
    for (size_t i = 0; i < count; i++)
        if (is_own(&representatives[i], &point->point))
            return i;
    for (size_t i = 0; i < count && point->relaxed; i++)
        if (refines(&representatives[i], point, scalar))
            return i;
    return count;
}
