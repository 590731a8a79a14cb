/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_test.h - one conversion by a method, in chunks and with any processor mask, for the tests
 * of methods.
 */
#ifndef QP_TEST_FORMAT_METHOD_TEST_H
#define QP_TEST_FORMAT_METHOD_TEST_H

#include "format_test.h"

static const uint32_t method_masks[] = {0, QP_CPU_AVX2, QP_CPU_AVX2 | QP_CPU_AVX512, ~0u};

/* A mask that this machine can run. */
static inline uint32_t method_mask(size_t index)
{
    return method_masks[index] & qp_cpu_features();
}

/* The rows [first, first + count) of a conversion whose source and words are of all rows. */
static inline qp_method_rows method_chunk(const qp_method_job *job, const qp_method_rows *all,
                                          uint64_t first, uint64_t count)
{
    const qp_matrix *target = job->target;
    qp_method_rows rows = {.first = first, .count = count, .words = all->words};
    if (all->values != NULL)
        rows.values = all->values + first * target->columns;
    if (all->elements != NULL)
        rows.elements = all->elements + first * target->columns * job->element->bytes;
    rows.words.codes += first * target->code_row_bytes;
    if (target->scale_row_bytes > 0)
        rows.words.scales += first * target->scale_row_bytes;
    return rows;
}

/* Prepares, surveys and encodes; the source is values or elements. */
static inline qp_status method_run(qp_method_job job, const qp_method_rows *all, uint64_t step,
                                   qp_error *error)
{
    uint64_t rows = job.target->rows, count;
    float *maxima = NULL;
    qp_status status = qp_method_prepare(&job, error);
    if (status == QP_OK && (count = qp_method_survey_count(&job)) > 0) {
        job.survey = maxima = format_values(count);
        for (uint64_t n = 0; n < rows && status == QP_OK; n += step) {
            qp_method_rows chunk = method_chunk(&job, all, n, rows - n < step ? rows - n : step);
            status = qp_method_survey(&job, &chunk, maxima, error);
        }
    }
    for (uint64_t n = 0; n < rows && status == QP_OK; n += step) {
        qp_method_rows chunk = method_chunk(&job, all, n, rows - n < step ? rows - n : step);
        status = qp_method_encode(&job, &chunk, error);
    }
    free(maxima);
    return status;
}

/* Values to words; `importance` may be NULL. */
static inline qp_status method_values(const char *method, const qp_matrix *target,
                                      const float *values, const qp_word_planes *words,
                                      qp_error *error)
{
    qp_method_job job = {.target = target,
                         .cpu = qp_cpu_features(),
                         .element = qp_element_find("F32"),
                         .method = qp_method_find(method)};
    qp_method_rows rows = {.values = values, .words = *words};
    assert_non_null(job.method);
    return method_run(job, &rows, target->rows, error);
}

#endif
