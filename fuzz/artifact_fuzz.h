/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_fuzz.h - what the targets of files of weights have in common: any bytes are opened, or
 * refused with a place in them; what is listed can be asked for, or is refused with a check;
 * nothing takes much more memory than the file has bytes; and without memory nothing is left.
 */
#ifndef QP_FUZZ_ARTIFACT_FUZZ_H
#define QP_FUZZ_ARTIFACT_FUZZ_H

#include "artifact/artifact.h"

#include "../test/failing_allocator.h"

#include <string.h>

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* A table's record for the fewest bytes that can make one, and what parsing takes. */
enum { FUZZ_MEMORY_FACTOR = 64, FUZZ_MEMORY_LEAST = 1 << 16, FUZZ_ROW_COLUMNS = 1 << 16 };

/* The first row and the last one, as words and as values. */
static inline void fuzz_rows(qp_artifact *artifact, const qp_artifact_tensor *tensor)
{
    qp_row_reader *reader;
    qp_error error = {0};
    qp_status status = qp_row_reader_open(artifact, tensor, &reader, &error);
    if (status != QP_OK) {
        REQUIRE(error.status == status && error.message[0] != '\0');
        return;
    }
    const qp_matrix *matrix = qp_row_reader_matrix(reader);
    if (matrix->rows > 0 && matrix->columns <= FUZZ_ROW_COLUMNS) {
        uint8_t *codes = calloc((size_t)matrix->code_row_bytes + 1, 1);
        uint8_t *scales = calloc((size_t)matrix->scale_row_bytes + 1, 1);
        uint8_t *divisors = calloc((size_t)matrix->divisors + 1, 4);
        float *values = calloc((size_t)matrix->columns + 1, sizeof *values);
        const qp_word_planes words = {codes, scales, divisors};
        REQUIRE(codes != NULL && scales != NULL && divisors != NULL && values != NULL);
        for (uint64_t row = 0; row<matrix->rows; row += matrix->rows> 1 ? matrix->rows - 1 : 1) {
            REQUIRE(qp_row_reader_words(reader, row, 1, &words, NULL) == QP_OK);
            status = qp_row_reader_values(reader, row, 1, 0, values, &error);
            REQUIRE(status == QP_OK || status == QP_INVALID_ARGUMENT || status == QP_FIELD_RANGE);
        }
        free(codes);
        free(scales);
        free(divisors);
        free(values);
    }
    qp_row_reader_close(reader);
}

static inline void fuzz_opened(qp_artifact *artifact)
{
    size_t n_tensors, n_resources, n_metadata;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &n_tensors);
    const qp_artifact_resource *resources = qp_artifact_resources(artifact, &n_resources);
    const qp_artifact_metadatum *metadata = qp_artifact_metadata(artifact, &n_metadata);
    unsigned sum = 0;

    for (size_t i = 0; i < n_tensors; i++) {
        REQUIRE(qp_artifact_find(artifact, tensors[i].name) == &tensors[i]);
        fuzz_rows(artifact, &tensors[i]);
    }
    for (size_t i = 0; i < n_resources; i++)
        REQUIRE(qp_artifact_resource_find(artifact, resources[i].id) == &resources[i]);
    for (size_t i = 0; i < n_metadata; i++) {
        REQUIRE(qp_artifact_metadata_find(artifact, metadata[i].key) != NULL);
        for (uint64_t k = 0; k < metadata[i].size; k++) /* every byte is there to be read */
            sum += metadata[i].value[k];
    }
    REQUIRE(sum < UINT32_MAX);
}

static inline void fuzz_artifact(const char *name, const uint8_t *data, size_t size)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_artifact *artifact;
    qp_error error = {0};

    qp_status status = qp_artifact_open_bytes(name, data, size, &allocator, &artifact, &error);
    REQUIRE(memory.high_water <= FUZZ_MEMORY_FACTOR * size + FUZZ_MEMORY_LEAST);
    if (status == QP_OK) {
        fuzz_opened(artifact);
    } else {
        REQUIRE(artifact == NULL && error.status == status && error.message[0] != '\0');
        REQUIRE(status == QP_MALFORMED || status == QP_IO);
        REQUIRE(error.offset >= 0 && (uint64_t)error.offset <= size);
    }
    qp_artifact_close(artifact);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);

    memory = failing_allocator_make(1 + size % 32);
    status = qp_artifact_open_bytes(name, data, size, &allocator, &artifact, NULL);
    REQUIRE(!memory.has_failed || status == QP_NO_MEMORY);
    qp_artifact_close(artifact);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

#endif
