/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - metadata on its way from one kind of file to another.
 *
 * GGUF has typed values, safetensors strings, .ninfer JSON. Values travel in GGUF's form with its
 * types. .ninfer keeps them as the members of component text's config and their types beside it, in
 * metadata.value_types ("u32", "array<string>"); safetensors keeps them as texts and the types of
 * what is no string in __metadata__'s "quipu.value_types". So GGUF's values come back as they were.
 *
 * In JSON a number is a number (a float the shortest decimal that reads back as itself, one that is
 * not finite the string of its bits, "0x7fc00000"), a string a string (one that is not UTF-8
 * {"hex": "..."}), an array an array.
 */
#ifndef QP_ARTIFACT_METADATA_H
#define QP_ARTIFACT_METADATA_H

#include "artifact/source.h"

#define QP_VALUE_TYPES_KEY "quipu.value_types"
#define QP_PROVENANCE_KEY "quipu.provenance"

/* What a source carries beside its tensors. */
typedef struct qp_metadata {
    qp_arena arena;
    qp_artifact_metadatum *entries; /* typed as GGUF's, or JSON that no GGUF type holds */
    size_t count, capacity;
    const uint8_t *provenance; /* JSON text of the source's own, or NULL */
    size_t provenance_size;
    const char *name; /* metadata.name of a .ninfer, or NULL */
    const char **lost;
    size_t n_lost, lost_capacity;
} qp_metadata;

/* Collects from any kind of file. Values point into the source or the arena. Ownership:
 * qp_metadata_free, also after a failure. */
qp_status qp_metadata_collect(const qp_weight_source *source, const qp_allocator *allocator,
                              qp_metadata *metadata, qp_error *error);
void qp_metadata_free(qp_metadata *metadata);

/* Notes a key, or a thing, that the target cannot carry. */
qp_status qp_metadata_lose(qp_metadata *metadata, const char *what, qp_error *error);

/* The name of an entry's type, "array<u32>", in `text`; "json" of JSON. */
#define QP_METADATA_TYPE_SIZE 24
void qp_metadata_type_name(const qp_artifact_metadatum *entry, char text[QP_METADATA_TYPE_SIZE]);

/* Appends the JSON form of an entry's value. */
void qp_metadata_append_json(const qp_artifact_metadatum *entry, qp_buffer *out);

/* Whether a text is UTF-8. */
bool qp_is_utf8(const uint8_t *bytes, uint64_t size);

/* The value of a JSON form, of the type named, in GGUF's form in the arena; false when the value is
 * not of that type. QP_META_JSON with a type of its own choice where `type` is NULL; false then
 * where no type of GGUF holds it. */
bool qp_metadata_read_json(qp_json_value value, const char *type, qp_arena *arena,
                           qp_artifact_metadatum *entry, bool *no_memory);

/* ---- numbers --------------------------------------------------------------------------------- */

/* Appends the shortest decimal that reads back as the value, which is finite. */
void qp_append_f32(qp_buffer *out, float value);
void qp_append_f64(qp_buffer *out, double value);

/* A JSON number to the nearest binary64. False when it is none or too long. */
bool qp_read_f64(const char *text, size_t length, double *value);
/* The same to the nearest binary32, in one rounding. */
bool qp_read_f32(const char *text, size_t length, float *value);

#endif
