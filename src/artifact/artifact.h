/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact.h - what the container readers and writers share: the opened artifact, its files, and
 * the private half of a container's row in the registry (artifact.c).
 *
 * A reader's `open` is given the first file, mapped, and fills the tables of the artifact. Names
 * and keys live in the arena; metadata values and the directory point into the mapped file.
 */
#ifndef QP_ARTIFACT_ARTIFACT_H
#define QP_ARTIFACT_ARTIFACT_H

#include "base/base.h"
#include "quipu/artifact.h"

#define QP_ARTIFACT_ID_SIZE 16

/* One file of an artifact: the one that was opened, a .ninfer continuation, a shard. Its payload,
 * `size` bytes, begins at `at` in the file. Offsets of tensors count from `start`: in .ninfer the
 * logical offset of the first payload byte, else 0. */
typedef struct qp_artifact_file {
    const char *name; /* without a folder */
    qp_file file;     /* bytes is NULL until it is opened */
    bool borrowed;    /* the bytes are the caller's */
    uint64_t start;
    uint64_t size;
    uint64_t at;
} qp_artifact_file;

struct qp_artifact {
    qp_allocator allocator;
    qp_arena arena;
    const qp_artifact_kind *kind;
    const char *path; /* as it was given, or the name that stands for it */
    bool in_memory;   /* opened from bytes: no other file can be opened */
    const char *version;
    uint8_t id[QP_ARTIFACT_ID_SIZE]; /* .ninfer: artifact_id */
    uint64_t alignment;

    qp_artifact_file *files; /* at least one; continuations from 1 on */
    size_t n_files, file_capacity;
    qp_artifact_tensor *tensors;
    size_t n_tensors, tensor_capacity;
    const uint32_t *tensors_by_name; /* indices, in the order of the names' bytes */
    qp_artifact_metadatum *metadata;
    size_t n_metadata, metadata_capacity;
    qp_artifact_resource *resources;
    size_t n_resources, resource_capacity;
    const uint32_t *resources_by_name;
    const uint32_t *metadata_by_key;
    const char *directory;
    size_t directory_size;
};

/* What a kind of file does. */
struct qp_artifact_kind_rules {
    /* Whether the first bytes of a file are of this kind, readable or not. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* Reads the directory in artifact->files[0], which is open, and fills the tables. */
    qp_status (*open)(qp_artifact *artifact, qp_error *error);
    /* Checks files[index] once it is mapped; NULL where `open` has opened them all. */
    qp_status (*check_file)(const qp_artifact *artifact, size_t index, qp_error *error);
    /* The checks that are made when a tensor is asked for; NULL: none. */
    qp_status (*check_tensor)(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                              qp_error *error);
    /* The ending of a file that names the files of an artifact of this kind; NULL: there is none.
     */
    const char *index_extension;
    /* The check that fails when another file of the artifact cannot be opened. */
    const char *missing_file;
    bool has_id;          /* artifact_id */
    bool spans_files;     /* a tensor's bytes may lie in several files, one after the other */
    bool flattens_blocks; /* a tensor of blocks has any rank: rows of its last dimension */
    /* How such a file is written: src/artifact/write.h. */
    const struct qp_artifact_kind_writer *writer;
};

extern const struct qp_artifact_kind_rules qp_ninfer_rules;
extern const struct qp_artifact_kind_rules qp_gguf_rules;
extern const struct qp_artifact_kind_rules qp_safetensors_rules;

/* The writers' halves, each in its kind's *_write.c. */
extern const struct qp_artifact_kind_writer qp_ninfer_writer;
extern const struct qp_artifact_kind_writer qp_gguf_writer;
extern const struct qp_artifact_kind_writer qp_safetensors_writer;

/* ---- the types of ggml ---------------------------------------------------------------------- */

/* A type id that GGUF files use (ggml-blocks.md section 6). */
typedef struct qp_ggml_type {
    uint32_t id;
    const char *name; /* "Q4_K" */
    uint32_t block_values;
    uint32_t block_bytes;
} qp_ggml_type;

/* NULL for an id that is not known or was removed. */
const qp_ggml_type *qp_ggml_type_find(uint32_t id);
/* By the spelling of qp_artifact_tensor.type. */
const qp_ggml_type *qp_ggml_type_named(const char *name);
/* Whether it is one of the two ternary types that import_encoded reads (142 and 143): no format of
 * the registry, and yet its bytes may be asked for. */
bool qp_ggml_type_is_ternary(const qp_ggml_type *type);

/* ---- files ---------------------------------------------------------------------------------- */

/* Opens files[index] unless it is open, as a sibling of the first, and checks it. */
qp_status qp_artifact_open_file(qp_artifact *artifact, size_t index, qp_error *error);

/* Opens and checks the files that hold a range of a tensor. */
qp_status qp_artifact_open_range(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                 uint64_t offset, uint64_t size, qp_error *error);

/* Opens every file, so that reading changes nothing afterwards. */
qp_status qp_artifact_open_files(qp_artifact *artifact, qp_error *error);

/* Some bytes of a tensor, whose files are open and which lie within it: in place, or NULL where
 * they lie in several files; and copied. */
const uint8_t *qp_artifact_bytes(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                 uint64_t offset, uint64_t size);
void qp_artifact_copy(const qp_artifact *artifact, const qp_artifact_tensor *tensor,
                      uint64_t offset, uint64_t size, uint8_t *bytes);

/* The last part of a path. */
const char *qp_path_file_name(const char *path);
/* Whether a name taken from a file is that of a sibling: without a folder, not "." or "..". */
bool qp_is_sibling_name(const char *name);

/* ---- tables --------------------------------------------------------------------------------- */

/* Room for one more of `count` records of `size` bytes in a block that grows by half; the block, or
 * NULL without memory, and then the old one stands. */
void *qp_table_grow(const qp_allocator *allocator, void *block, size_t *capacity, size_t count,
                    size_t size);

/* Appends a zeroed record, or NULL without memory. It moves the ones before it. */
qp_artifact_file *qp_artifact_add_file(qp_artifact *artifact);
qp_artifact_tensor *qp_artifact_add_tensor(qp_artifact *artifact);
qp_artifact_metadatum *qp_artifact_add_metadatum(qp_artifact *artifact);
qp_artifact_resource *qp_artifact_add_resource(qp_artifact *artifact);

/* Whether record `a` may stand before record `b`: neither is less, or `a` is. */
typedef bool qp_not_after(const void *context, uint32_t a, uint32_t b);

/* Sorts `count` indices by merging: stable, and never worse than n log n, whatever a file holds.
 * `scratch` has the same size; the result is in `indices`. */
void qp_sort_indices(uint32_t *indices, uint32_t *scratch, size_t count, qp_not_after *not_after,
                     const void *context);

/* Records whose first member is `const char *`, their name. */
typedef struct qp_named {
    const void *records;
    size_t count; /* below 2^32 */
    size_t stride;
} qp_named;

/* The indices in the order of the names' bytes, equal names in the order of the records, in the
 * arena; NULL without memory. */
uint32_t *qp_named_order(qp_arena *arena, const qp_named *named);
/* The first record with the name of an earlier one, or `count`. */
size_t qp_named_repeated(const qp_named *named, const uint32_t *order);
/* The record of that name, or `count`. */
size_t qp_named_find(const qp_named *named, const uint32_t *order, const char *name);

/* Sorts the artifact's tables for the searches by name, once: a reader that needs the order itself
 * calls it when the tables are full. */
qp_status qp_artifact_index(qp_artifact *artifact, qp_error *error);

/* Puts a name before the message of an error, which may be NULL. */
void qp_artifact_name_error(qp_error *error, const char *name);

#endif
