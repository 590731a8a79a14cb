/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/artifact.h - files of weights: .ninfer v3, GGUF v2 and v3, safetensors and its index of
 * shards (artifact-container.md, ggml-blocks.md sections 6 and 7).
 *
 * Opening maps the file and reads its directory; a tensor's bytes are touched when they are asked
 * for. Nothing is allocated from a number that the file's length does not bear out. A refusal
 * carries the offset and, for .ninfer, the text's id of the check ("F-MAGIC", "C-DUPID") in
 * qp_error.check; GGUF and safetensors refusals carry an id of ours with the prefix "G-" or "S-"
 * (docs/formats.md lists them).
 */
#ifndef QUIPU_ARTIFACT_H
#define QUIPU_ARTIFACT_H

#include "quipu/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of file: one row of the registry. */
typedef struct qp_artifact_kind {
    const char *name;                           /* "ninfer", "gguf", "safetensors" */
    const char *extension;                      /* ".ninfer", ".gguf", ".safetensors" */
    const char *summary;                        /* one line for tables */
    const struct qp_artifact_kind_rules *rules; /* private: src/artifact/artifact.h */
} qp_artifact_kind;

QP_API size_t qp_artifact_kind_count(void);
QP_API const qp_artifact_kind *qp_artifact_kind_at(size_t index);
QP_API const qp_artifact_kind *qp_artifact_kind_find(const char *name);
/* By the ending of a path, ".safetensors.index.json" too; NULL when none has it. */
QP_API const qp_artifact_kind *qp_artifact_kind_of_path(const char *path);
/* By the first bytes of a file, 4096 or all of it; NULL when they are of none. Of an index of
 * shards all bytes up to the name of its map. */
QP_API const qp_artifact_kind *qp_artifact_kind_of_bytes(const uint8_t *bytes, size_t size);

typedef struct qp_artifact qp_artifact;

/*
 * A tensor as its file lists it; lives as long as the artifact. Exactly one of `format` and
 * `element` says what its words are where both could: `format` for words of a registered format,
 * `element` for the scalar types of sources (bf16, fp32 and int32 have both). Both are NULL for a
 * type that this library lists and cannot read (a ggml type of no format here, an unknown .ninfer
 * format): asking for its matrix is refused.
 */
typedef struct qp_artifact_tensor {
    const char *name; /* UTF-8, NUL-terminated, unique in the file */
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX]; /* row-major: GGUF's dimensions reversed */
    const char *type;                  /* as the file spells it: "F16", "Q4_K", "q4_g64_fp16" */
    const qp_format *format;
    const qp_storage_layout *layout; /* with a format; contiguous for direct and gguf blocks */
    const qp_element *element;
    uint64_t divisors; /* 1 but for .ninfer's nvfp4 */
    uint32_t file;   /* index of the shard; 0 of a single file. A .ninfer offset is a logical one */
    uint64_t offset; /* of its first byte in that file, or in the .ninfer logical payload */
    uint64_t bytes;
} qp_artifact_tensor;

/* Bytes that a .ninfer file carries beside its tensors. */
typedef struct qp_artifact_resource {
    const char *id;
    const char *encoding; /* "raw_bytes_v1" is the only one that can be read */
    uint64_t offset;
    uint64_t bytes;
} qp_artifact_resource;

/* Types of metadata values: GGUF's ids 0 to 12, and JSON text for .ninfer. safetensors has strings.
 */
typedef enum qp_metadata_type {
    QP_META_U8 = 0,
    QP_META_I8,
    QP_META_U16,
    QP_META_I16,
    QP_META_U32,
    QP_META_I32,
    QP_META_F32,
    QP_META_BOOL,
    QP_META_STRING,
    QP_META_ARRAY,
    QP_META_U64,
    QP_META_I64,
    QP_META_F64,
    QP_META_JSON
} qp_metadata_type;

/*
 * One entry. `value` points to `size` bytes in the file: a number little-endian; the bytes of a
 * string without its length; of an array `count` elements of `element_type` as GGUF stores them,
 * strings with their u64 lengths; JSON text. Of .ninfer the members of `metadata` come as they are,
 * those of component C's `config` as "C/name", those of `provenance` as "provenance/name".
 */
typedef struct qp_artifact_metadatum {
    const char *key; /* UTF-8, NUL-terminated */
    qp_metadata_type type;
    qp_metadata_type element_type; /* of an array */
    uint64_t count;                /* elements of an array, else 1 */
    const uint8_t *value;
    uint64_t size;
} qp_artifact_metadatum;

/* Opens `path`: the kind is told by its content; a safetensors index opens its shards, a .ninfer
 * entry its continuations when a read needs them. Ownership: qp_artifact_close. */
QP_API qp_status qp_artifact_open(const char *path, const qp_allocator *allocator,
                                  qp_artifact **artifact, qp_error *error);
/* The same for bytes in memory that must outlive the artifact; `name` stands for the file name.
 * Shards and continuations cannot be opened then. */
QP_API qp_status qp_artifact_open_bytes(const char *name, const uint8_t *bytes, size_t size,
                                        const qp_allocator *allocator, qp_artifact **artifact,
                                        qp_error *error);
QP_API void qp_artifact_close(qp_artifact *artifact);

QP_API const qp_artifact_kind *qp_artifact_kind_of(const qp_artifact *artifact);
/* "3" of a GGUF v3 file, "3" of .ninfer v3, "" of safetensors. */
QP_API const char *qp_artifact_version(const qp_artifact *artifact);
/* Tensors in the file's order. */
QP_API const qp_artifact_tensor *qp_artifact_tensors(const qp_artifact *artifact, size_t *count);
QP_API const qp_artifact_tensor *qp_artifact_find(const qp_artifact *artifact, const char *name);
QP_API const qp_artifact_metadatum *qp_artifact_metadata(const qp_artifact *artifact,
                                                         size_t *count);
QP_API const qp_artifact_resource *qp_artifact_resources(const qp_artifact *artifact,
                                                         size_t *count);
/* The entry of that key, the first where several have it, or NULL. */
QP_API const qp_artifact_metadatum *qp_artifact_metadata_find(const qp_artifact *artifact,
                                                              const char *key);
QP_API const qp_artifact_resource *qp_artifact_resource_find(const qp_artifact *artifact,
                                                             const char *id);
/* The JSON directory of a .ninfer file or the JSON header of a safetensors one; NULL of GGUF. */
QP_API const char *qp_artifact_directory(const qp_artifact *artifact, size_t *size);

/* The 16 bytes that tie the files of a .ninfer artifact together; NULL of the others. */
QP_API const uint8_t *qp_artifact_id(const qp_artifact *artifact);
/* Tensors begin at multiples of this: GGUF's ALIGNMENT, 256 of .ninfer, 1 of safetensors. */
QP_API uint64_t qp_artifact_alignment(const qp_artifact *artifact);
/* The files that the artifact lies in, by their names without a folder: the one that was opened,
 * then its continuations, or the shards. */
QP_API size_t qp_artifact_file_count(const qp_artifact *artifact);
QP_API const char *qp_artifact_file_name(const qp_artifact *artifact, size_t index);

/* The tensor's geometry, with the lazy checks C-GEOM, C-SIZE and C-ALIGN. A tensor whose words are
 * of an element type without a format is refused with QP_INVALID_ARGUMENT. Of GGUF a tensor of
 * blocks is a matrix whatever its rank: the rows of its first dimension in the file's order. */
QP_API qp_status qp_artifact_matrix(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                    qp_matrix *matrix, qp_error *error);

/* Copies `size` bytes of a tensor from `offset` on, or of a resource, over file boundaries. The
 * lazy checks come first (for a resource C-ENC); a range outside the tensor is QP_INVALID_ARGUMENT.
 */
QP_API qp_status qp_artifact_read(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                  uint64_t offset, uint64_t size, uint8_t *bytes, qp_error *error);
QP_API qp_status qp_artifact_read_resource(qp_artifact *artifact,
                                           const qp_artifact_resource *resource, uint8_t *bytes,
                                           qp_error *error);

/* The same without a copy where the bytes lie in one mapped file: *bytes is then set; else it is
 * NULL and qp_artifact_read gives them. Continuations are opened and checked first. */
QP_API qp_status qp_artifact_view(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                  uint64_t offset, uint64_t size, const uint8_t **bytes,
                                  qp_error *error);

/* ---- rows ----------------------------------------------------------------------------------- */

/*
 * Reads rows of one tensor, whatever its type and kind of file: in place where they lie in one
 * mapped file, else through a scratch of its own. Opening one opens the files that hold the tensor
 * and makes the lazy checks. Afterwards the artifact does not change: any number of readers, each
 * in a thread of its own, may read at the same time.
 */
typedef struct qp_row_reader qp_row_reader;

/* The artifact and the tensor must outlive the reader. Ownership: qp_row_reader_close. */
QP_API qp_status qp_row_reader_open(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                    qp_row_reader **reader, qp_error *error);
QP_API void qp_row_reader_close(qp_row_reader *reader);

/*
 * The geometry: qp_artifact_matrix, or, for element types without a format and for ggml's types 142
 * and 143, one whose `format` and `layout` are NULL and whose rows, columns, bytes, code_row_bytes
 * and one plane are those of the stored elements (for the two, blocks).
 */
QP_API const qp_matrix *qp_row_reader_matrix(const qp_row_reader *reader);

/* `count` rows from `first` on as stored. The bytes stand until the next call with this reader. The
 * scratch, where it is needed, takes as many bytes as these rows. */
QP_API qp_status qp_row_reader_rows(qp_row_reader *reader, uint64_t first, uint64_t count,
                                    qp_rows *rows, qp_error *error);

/* The same in the word form; without a format the elements, or blocks, in words->codes. Scratch:
 * 1 MiB, or one step of rows where that is more. */
QP_API qp_status qp_row_reader_words(qp_row_reader *reader, uint64_t first, uint64_t count,
                                     const qp_word_planes *words, qp_error *error);

/* The rows of a tensor that is stored as one plane of elements: element types, direct formats, and
 * blocks; the others are QP_INVALID_ARGUMENT. The bytes stand until the next call. */
QP_API qp_status qp_row_reader_elements(qp_row_reader *reader, uint64_t first, uint64_t count,
                                        const uint8_t **bytes, qp_error *error);

/* The values, in binary32: `values` holds count * columns. Scratch as for words. Element types
 * without a numeric reading, and ggml's 142 and 143, are QP_INVALID_ARGUMENT; a source that becomes
 * infinite is refused as qp_element_to_float says, with its row and column. */
QP_API qp_status qp_row_reader_values(qp_row_reader *reader, uint64_t first, uint64_t count,
                                      uint32_t cpu, float *values, qp_error *error);

/* One call for one reading. */
QP_API qp_status qp_artifact_words(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                   uint64_t first, uint64_t count, const qp_word_planes *words,
                                   qp_error *error);
QP_API qp_status qp_artifact_decode(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                    uint64_t first, uint64_t count, uint32_t cpu, float *values,
                                    qp_error *error);

#ifdef __cplusplus
}
#endif

#endif
