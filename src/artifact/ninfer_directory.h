/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_directory.h - what the readers of a .ninfer directory's groups share
 * (artifact-container.md sections 3 and 4). The groups are read in the order of the text: JSON
 * text, root, files, objects (ninfer_objects.c), components, bindings, uses (ninfer_bindings.c),
 * metadata and provenance.
 */
#ifndef QP_ARTIFACT_NINFER_DIRECTORY_H
#define QP_ARTIFACT_NINFER_DIRECTORY_H

#include "artifact/artifact.h"
#include "base/json.h"

enum { NINFER_HEADER = 32, NINFER_PAYLOAD_STEP = 4096 };

/* What a reference can name. */
typedef struct ninfer_object {
    const char *id;
    uint64_t elements; /* of a tensor's shape; 0 of a resource */
} ninfer_object;

/* A directory while it is read. */
typedef struct ninfer_directory {
    qp_artifact *artifact;
    qp_json json;
    qp_arena arena; /* of what is not needed afterwards */
    qp_buffer text; /* the last ID that was read */
    uint64_t payload_bytes;

    /* the root's members; QP_JSON_NO_VALUE for one that is not there */
    qp_json_value components, objects, bindings, uses, files, metadata, provenance;

    ninfer_object *records; /* of both kinds, in their order */
    size_t n_records, record_capacity;
    const uint32_t *records_by_id;
} ninfer_directory;

/* The members that a record may have. */
typedef struct ninfer_member {
    const char *name;
    bool required;
} ninfer_member;

/* The values of a record's members in the order of `members`, QP_JSON_NO_VALUE for one that is not
 * there. C-OBJECT, C-UNKNOWN, C-MISSING. */
qp_status qp_ninfer_members(qp_json_value record, const ninfer_member *members, size_t count,
                            qp_json_value *values, qp_error *error);

/* A U64, above zero where `positive`: C-INT. */
qp_status qp_ninfer_u64(qp_json_value value, bool positive, uint64_t *result, qp_error *error);

/* An ID, NUL-terminated; it stands until the next is read. C-ID. */
qp_status qp_ninfer_id(ninfer_directory *directory, qp_json_value value, const char **id,
                       qp_error *error);
/* The same in an arena, where it stays. */
qp_status qp_ninfer_keep_id(ninfer_directory *directory, qp_arena *arena, qp_json_value value,
                            const char **id, qp_error *error);

/* The groups. */
qp_status qp_ninfer_objects(ninfer_directory *directory, qp_error *error);
qp_status qp_ninfer_components(ninfer_directory *directory, qp_error *error);
qp_status qp_ninfer_bindings_and_uses(ninfer_directory *directory, qp_error *error);

/* The object that a reference names, of the kind that is wanted: C-ID, C-REF. */
qp_status qp_ninfer_reference(ninfer_directory *directory, qp_json_value value, bool tensor,
                              const ninfer_object **object, qp_error *error);

/* Reads the directory in artifact->directory and fills the artifact's tables. */
qp_status qp_ninfer_read_directory(qp_artifact *artifact, qp_error *error);

#endif
