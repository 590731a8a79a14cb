/* SPDX-License-Identifier: Apache-2.0 */
/* compare_elements.c - the elements that two runs kept of a tensor. */
#include "cli/compare.h"

#include "cli/npy.h"

enum { SPAN = 1024 };

/* A kept tensor: a .npy file beside its trace. */
typedef struct kept {
    qp_buffer name;
    qp_file file;
    qp_npy array;
} kept;

static qp_status open_kept(kept *k, const char *path, const qp_trace_record *record,
                           qp_error *error)
{
    *k = (kept){0};
    qp_buffer_init(&k->name, NULL);
    qp_trace_tensor_name(&k->name, path, record->decode, record->tensor);
    if (k->name.failed)
        return qp_fail_memory(error, "the name of a kept tensor");
    qp_status status = qp_file_open((const char *)k->name.bytes, NULL, &k->file, error);
    if (status != QP_OK)
        return status;
    status = qp_npy_read(k->file.bytes, k->file.size, &k->array, error);
    if (status != QP_OK)
        return status;
    const qp_npy_shape *shape = &k->array.shape;
    if (shape->rank != 3 || shape->sizes[0] != record->shape[0] ||
        shape->sizes[1] != record->shape[1] || shape->sizes[2] != record->shape[2])
        return qp_fail(error, QP_MALFORMED, "the array's shape is not that of the trace");
    return QP_OK;
}

static void close_kept(kept *k)
{
    qp_buffer_free(&k->name);
    if (k->file.bytes != NULL)
        qp_file_close(&k->file);
}

static qp_status count_differences(const qp_npy *a, const qp_npy *b, qp_elements_difference *found,
                                   qp_error *error)
{
    int64_t values_a[SPAN], values_b[SPAN];
    for (size_t done = 0, n; done < a->count; done += n) {
        n = a->count - done < SPAN ? a->count - done : SPAN;
        qp_status status = qp_npy_elements(a, done, n, values_a, error);
        if (status == QP_OK)
            status = qp_npy_elements(b, done, n, values_b, error);
        if (status != QP_OK)
            return status;
        for (size_t i = 0; i < n; i++) {
            if (values_a[i] == values_b[i])
                continue;
            if (found->count++ == 0) {
                found->first = done + i;
                found->a = values_a[i];
                found->b = values_b[i];
            }
        }
    }
    if (found->count == 0)
        return qp_fail(error, QP_MALFORMED,
                       "the kept elements are the same in both, though the digests differ");
    found->known = true;
    return QP_OK;
}

static bool can_compare(const qp_comparison *c)
{
    const char *a = c->a.path, *b = c->b.path;
    if (c->cause == QP_CAUSE_NONE || c->cause == QP_CAUSE_LENGTH || c->cause == QP_CAUSE_STRUCTURE)
        return false;
    return c->a.header.keep && c->b.header.keep && strcmp(a, "-") != 0 && strcmp(b, "-") != 0 &&
           memcmp(c->record_a.shape, c->record_b.shape, sizeof c->record_a.shape) == 0;
}

qp_status qp_compare_elements(qp_comparison *c, const char **file, qp_error *error)
{
    kept a, b;
    if (!can_compare(c))
        return QP_OK;

    *file = c->a.path;
    qp_status status = open_kept(&a, c->a.path, &c->record_a, error);
    if (status == QP_OK) {
        *file = c->b.path;
        status = open_kept(&b, c->b.path, &c->record_b, error);
        if (status == QP_OK)
            status = count_differences(&a.array, &b.array, &c->elements, error);
        close_kept(&b);
    }
    close_kept(&a);
    return status;
}
