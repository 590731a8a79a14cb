/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - elements of a tensor in and out of its storage type, and its policy (section 3). */
#include "op/op.h"

/* The storage types: name, C type, bytes, least and greatest value. */
#define QP_STORAGES(ROW)                                                                           \
    ROW(I8, int8_t, INT8_MIN, INT8_MAX)                                                            \
    ROW(U8, uint8_t, 0, UINT8_MAX)                                                                 \
    ROW(I16, int16_t, INT16_MIN, INT16_MAX)                                                        \
    ROW(U16, uint16_t, 0, UINT16_MAX)                                                              \
    ROW(I32, int32_t, INT32_MIN, INT32_MAX)                                                        \
    ROW(U32, uint32_t, 0, UINT32_MAX)                                                              \
    ROW(I64, int64_t, INT64_MIN, INT64_MAX)

static const struct {
    unsigned bytes;
    int64_t lo, hi;
} storages[] = {
#define QP_ROW(name, type, least, greatest) [QP_STORAGE_##name] = {sizeof(type), least, greatest},
    QP_STORAGES(QP_ROW)
#undef QP_ROW
};

unsigned qp_storage_bytes(qp_storage storage)
{
    return storages[storage].bytes;
}

qp_storage qp_storage_for(int64_t lo, int64_t hi)
{
    for (qp_storage s = QP_STORAGE_I8; s < QP_STORAGE_I64; s++)
        if (storages[s].lo <= lo && hi <= storages[s].hi)
            return s;
    return QP_STORAGE_I64;
}

#define QP_ROW(name, type, least, greatest)                                                        \
    static void load_##name(const void *data, size_t stride, size_t count, int64_t *values)        \
    {                                                                                              \
        const type *from = data;                                                                   \
        if (stride == 1)                                                                           \
            for (size_t k = 0; k < count; k++)                                                     \
                values[k] = from[k];                                                               \
        else                                                                                       \
            for (size_t k = 0; k < count; k++)                                                     \
                values[k] = from[k * stride];                                                      \
    }                                                                                              \
                                                                                                   \
    static void store_##name(void *data, qp_range range, const int64_t *values, size_t count)      \
    {                                                                                              \
        type *to = data;                                                                           \
        for (size_t k = 0; k < count; k++)                                                         \
            to[k] = (type)qp_clamp_i64(values[k], range.lo, range.hi);                             \
    }
QP_STORAGES(QP_ROW)
#undef QP_ROW

static void (*const loads[])(const void *, size_t, size_t, int64_t *) = {
#define QP_ROW(name, type, least, greatest) [QP_STORAGE_##name] = load_##name,
    QP_STORAGES(QP_ROW)
#undef QP_ROW
};

static void (*const stores[])(void *, qp_range, const int64_t *, size_t) = {
#define QP_ROW(name, type, least, greatest) [QP_STORAGE_##name] = store_##name,
    QP_STORAGES(QP_ROW)
#undef QP_ROW
};

static void *element_address(const qp_tensor *tensor, size_t index)
{
    return (char *)tensor->data + index * storages[tensor->storage].bytes;
}

void qp_tensor_load(const qp_tensor *tensor, size_t start, size_t stride, size_t count,
                    int64_t *values)
{
    loads[tensor->storage](element_address(tensor, start), stride, count, values);
}

static size_t first_outside(qp_range range, const int64_t *values, size_t count)
{
    bool outside = false;
    for (size_t k = 0; k < count; k++)
        outside |= (values[k] < range.lo) | (values[k] > range.hi);
    if (!outside)
        return count;
    size_t k = 0;
    while (values[k] >= range.lo && values[k] <= range.hi)
        k++;
    return k;
}

qp_status qp_emit(const qp_evaluation *e, unsigned output, size_t start, const int64_t *values,
                  size_t count)
{
    const qp_output *out = &e->out[output];
    qp_range range = {out->lo, out->hi};
    size_t stored = count;

    if (out->policy == QP_CHECK)
        stored = first_outside(range, values, count);
    stores[out->tensor.storage](element_address(&out->tensor, start), range, values, stored);
    if (stored == count)
        return QP_OK;
    *e->refusal = (qp_refusal){output, start + stored, values[stored]};
    return QP_FIELD_RANGE;
}

/* Elements handled at a time where no row is needed: 4 KiB of stack. */
enum { SPAN = 512 };

qp_status qp_evaluate_spans(const qp_evaluation *e, qp_span_fn *transform)
{
    int64_t values[SPAN];
    const qp_shape *shape = &e->in[0].shape;
    size_t plane = (size_t)shape->height * shape->width; /* at most 2^26 */

    for (uint32_t c = 0; c < shape->channels; c++)
        for (size_t done = 0, n; done < plane; done += n) {
            n = plane - done < SPAN ? plane - done : SPAN;
            size_t start = c * plane + done;
            qp_tensor_read(&e->in[0], start, n, values);
            transform(e, c, values, n);
            qp_status status = qp_emit(e, 0, start, values, n);
            if (status != QP_OK)
                return status;
        }
    return QP_OK;
}

qp_status qp_evaluate_copy(const qp_evaluation *e, const qp_copy *copy)
{
    int64_t values[SPAN];
    for (size_t done = 0, n; done < copy->count; done += n) {
        n = copy->count - done < SPAN ? copy->count - done : SPAN;
        qp_tensor_read(&e->in[copy->input], copy->from + done, n, values);
        qp_status status = qp_emit(e, copy->output, copy->to + done, values, n);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

void qp_tensor_add(const qp_tensor *tensor, size_t start, int64_t *values, size_t count)
{
    int64_t addend[SPAN];
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < SPAN ? count - done : SPAN;
        qp_tensor_read(tensor, start + done, n, addend);
        for (size_t k = 0; k < n; k++)
            values[done + k] += addend[k]; /* the producer result fits i64 */
    }
}

qp_status qp_evaluate_sums(const qp_evaluation *e, size_t total, qp_add_fn *add)
{
    int64_t values[SPAN];
    for (size_t done = 0, n; done < total; done += n) {
        n = total - done < SPAN ? total - done : SPAN;
        qp_tensor_read(&e->in[0], done, n, values);
        add(e, done, values, n);
        qp_status status = qp_emit(e, 0, done, values, n);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}
