/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configuration.h - the ConfigurationABI (section 11): the default layout of a fabric's slots, its
 * canonical JSON, images made and read back, the report of `configure --json`.
 */
#ifndef QP_FABRIC_CONFIGURATION_H
#define QP_FABRIC_CONFIGURATION_H

#include "fabric/mapping.h"
#include "fabric/text.h"

/* The one programming unit of the default layout. */
#define QP_FABRIC_UNIT_ID "u0"

/* One field of the default layout: a slot's place in the payload and its encoding. */
typedef struct qp_fabric_layout_row {
    uint64_t offset, width; /* in the payload, contiguous in slot order */
    size_t entry_count;     /* codebook: entries in domain order, the code is the position; 0:
                               direct bits */
    const qp_fabric_semantic_value *entries;
    qp_fabric_semantic_value inactive;
} qp_fabric_layout_row;

typedef struct qp_fabric_layout {
    const qp_fabric_sealed *sealed;
    qp_fabric_slots slots;
    const qp_fabric_layout_row *rows; /* [slot] */
    uint64_t payload_bits;
} qp_fabric_layout;

qp_status qp_fabric_layout_of(const qp_fabric_sealed *sealed, qp_arena *arena,
                              qp_fabric_layout *layout, qp_fabric_error *error);

/* The code of a codebook's value, which is its position; a binary search. */
uint64_t qp_fabric_code_of(const qp_fabric_layout_row *row, qp_fabric_semantic_value value);
/* A slot's value in a projection, which may be NULL: the inactive one where it gives none. */
qp_fabric_semantic_value qp_fabric_slot_value(const qp_fabric_layout *layout,
                                              const qp_fabric_projection *projection, size_t slot);

/* The payload's packed bits; slots without a value take the inactive one. */
qp_status qp_fabric_encode_payload(const qp_fabric_layout *layout,
                                   const qp_fabric_projection *projection, qp_arena *arena,
                                   uint8_t **payload, size_t *size, qp_fabric_error *error);
/* The reverse: the values of the slots that a map gave one, which are those of the units that are
 * not Disabled and of the ops of their templates. Invalid for a code without an entry, a value
 * outside its domain, an op out of use that is not inactive, a bit above the payload. */
qp_status qp_fabric_decode_payload(const qp_fabric_layout *layout, const uint8_t *payload,
                                   size_t size, qp_arena *arena, qp_fabric_projection *projection,
                                   qp_fabric_error *error);

/* {"schema":..,"schema_version":..,"artifact":..} */
void qp_fabric_put_artifact_ref(qp_buffer *buffer, const qp_fabric_artifact *artifact,
                                const char *identity);
/* The ABI's canonical JSON, and an image. */
qp_status qp_fabric_put_abi(qp_buffer *buffer, const qp_fabric_layout *layout,
                            qp_fabric_error *error);
qp_status qp_fabric_put_image(qp_buffer *buffer, const qp_fabric_layout *layout,
                              const qp_fabric_projection *projection, const char *map_identity,
                              qp_fabric_error *error);

/* What an image says. */
typedef struct qp_fabric_image {
    char abi[QP_SHA256_HEX_SIZE], mapping[QP_SHA256_HEX_SIZE];
    uint64_t payload_bits;
    const uint8_t *payload;
    size_t payload_size;
} qp_fabric_image;

/* Strict: any byte that qp_fabric_put_image would not write is Invalid. `allocator` lends scratch;
 * `image` points into the bytes. */
qp_status qp_fabric_get_image(const qp_fabric_layout *layout, const void *bytes, size_t size,
                              const qp_allocator *allocator, qp_fabric_image *image,
                              qp_fabric_error *error);

/* The report of `configure --json`; `map` is NULL where there is none. */
qp_status qp_fabric_put_report(qp_buffer *buffer, const qp_fabric_layout *layout,
                               const qp_fabric_projection *projection, const char *map,
                               qp_fabric_error *error);

#endif
