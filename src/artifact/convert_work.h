/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_work.h - the work of a conversion: tiles of the tensors that are written, each read,
 * encoded, packed and written by itself, in any order and by any thread or process.
 */
#ifndef QP_ARTIFACT_CONVERT_WORK_H
#define QP_ARTIFACT_CONVERT_WORK_H

#include "artifact/plan.h"
#include "base/threads.h"

/* What a worker keeps between its tiles. */
enum {
    QP_ROOM_VALUES,
    QP_ROOM_CODES, /* of the source */
    QP_ROOM_SCALES,
    QP_ROOM_TARGET_CODES,
    QP_ROOM_TARGET_SCALES,
    QP_ROOM_TARGET_DIVISORS,
    QP_ROOM_PACKED, /* one a plane */
    QP_ROOMS = QP_ROOM_PACKED + QP_PLANES
};

typedef struct qp_worker {
    qp_weight_source_reader *readers; /* one a source */
    uint8_t *rooms[QP_ROOMS];
    size_t sizes[QP_ROOMS];
} qp_worker;

/* How a tensor is cut into tiles. */
typedef struct qp_work_object {
    uint64_t rows, columns; /* of a tile, but for the last ones */
    uint64_t row_tiles, column_tiles;
    uint64_t first_task;
    float *survey; /* what its method has found, or NULL */
    uint64_t surveyed;
} qp_work_object;

typedef struct qp_work {
    qp_convert_plan *plan;
    qp_locked_allocator locked;
    qp_allocator allocator; /* of the workers */
    qp_worker *workers;
    uint32_t n_workers;
    qp_work_object *objects;
    uint64_t tasks;
    qp_sink sink;
    uint64_t done; /* bytes of the source */
} qp_work;

/* Cuts the plan's tensors for a number of threads. Ownership: qp_work_close, also on failure. */
qp_status qp_work_open(qp_work *work, qp_convert_plan *plan, uint32_t threads, qp_error *error);
void qp_work_close(qp_work *work);

/* One task: a tile is surveyed, or encoded and written. */
qp_status qp_work_survey(qp_work *work, uint64_t task, uint32_t worker, qp_error *error);
qp_status qp_work_encode(qp_work *work, uint64_t task, uint32_t worker, qp_error *error);

/* Writes bytes of the payload. */
qp_status qp_work_write(const qp_work *work, uint64_t offset, const void *bytes, uint64_t size,
                        qp_error *error);

#endif
