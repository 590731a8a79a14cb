/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/convert.h - from one file of weights to another: recipes, plans, writing
 * (artifact-container.md sections 6, 9 and 10), verifying and hashing.
 *
 * A conversion is planned first: the plan says for each parameter what will happen to it and how
 * many bytes it will take; every refusal that needs no data comes then. Running a plan streams row
 * by row into a temporary file, reads the file back and verifies it, then renames it: a failure
 * leaves nothing behind. The bytes depend on the sources and the recipe alone: not on threads,
 * chunks, time or paths.
 *
 * Parameters are the source's tensors by their names; of .ninfer its bindings, auxiliaries and the
 * objects that nothing names; of safetensors weights in several tensors (row FP8, NVFP4 in both
 * spellings, block FP8) are one parameter each. Without a recipe words are kept: import_encoded for
 * gguf_*, FP8, NVFP4, ternary and grouped words, cast_direct for bf16, fp32 and int32; F16, F64,
 * lone FP8 and block FP8 become fp32, other integers int32. The metadata of GGUF and safetensors
 * become the config of component text, and come back from there with their types.
 *
 * A recipe is a JSON array of steps, each an object with one verb, whose value is what it is about,
 * and its members beside it (section 10). Selectors are names or shell patterns (*, ?, [a-z],
 * [!a-z]; a parameter's own name comes first), one or an array of them; one that matches nothing is
 * refused.
 *
 *     {"assign": SELECTORS, "format": F, "layout": L | "auto", "method": M, "source": PATH,
 *      "parameters": {"imatrix": PATH, "negative_scales": BOOL}, "activation_policy": P,
 *      "rows": [a, b]}
 *     {"use": PARAMETER, "input": ID, "activation_policy": P,
 *      "auxiliaries": {ROLE: PARAMETER | NUMBER | [NUMBERS]}}
 *     {"group": SELECTORS, "shape": [..]}
 *     {"share": PARAMETER, "target": PARAMETER}
 *     {"separate": SELECTORS}
 *
 * The same with all members in the verb's object: {"assign": {"selectors": SELECTORS, "format":
 * F}}; of use and share "parameter" stands for "selectors".
 *
 * Later steps win; only what a step states changes. P is "A16Only", "AllowA8" or "AllowA4".
 * `source` is another file of weights, from which the parameters of those names are read. Where no
 * method is stated, encoded words that fit are imported, direct formats cast, grouped ones made by
 * grouped_absmax (grouped_search with importance), fp8 by fp8_row_maxabs, gguf_* by gguf_search,
 * nvfp4 by nvfp4_absmax. The packing of a .ninfer source is kept as a group while its members
 * agree; `separate` takes a parameter out of it. use, group and share are for .ninfer targets.
 *
 * Refusals of a recipe are QP_MALFORMED with line, column and offset; a format that the target's
 * kind of file cannot hold is QP_MODEL_MISMATCH, check "container_format", and names the parameter.
 */
#ifndef QUIPU_CONVERT_H
#define QUIPU_CONVERT_H

#include "quipu/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qp_plan_item {
    const char *parameter; /* its ID: the source's name */
    uint64_t first_row;    /* of the parameter's rows, when a recipe splits it (`rows`) */
    uint64_t rows;
    const char
        *source_type; /* as the source spells it: "F16", or "F8_E4M3 + BF16" of composed ones */
    const qp_method *method;
    qp_matrix target;
    const char *object; /* the target's name for the tensor */
    uint64_t source_bytes;
} qp_plan_item;

typedef struct qp_convert_plan qp_convert_plan;

typedef struct qp_convert_options {
    const qp_allocator *allocator;
    const qp_artifact_kind
        *container;     /* NULL: by the ending of the output's path, which must then tell */
    const char *recipe; /* JSON text of a recipe, or NULL */
    size_t recipe_size;
    /* Formats, applied to the matrices that they fit (direct ones to all floating-point
     * parameters), and PATTERN=FORMAT, applied to all that they match, separated by commas; or
     * NULL. They come before the recipe's steps. */
    const char *preset;
    const char *imatrix;     /* path of an importance file for methods that take one, or NULL */
    const char *name;        /* metadata.name of a .ninfer artifact, or NULL */
    uint64_t max_file_bytes; /* continuation files of .ninfer, shards of safetensors; 0: one file */
    uint32_t rows_per_chunk; /* at most so many rows at a time; 0: as suits; never changes a byte */
    uint32_t threads;        /* 0: 1 */
    uint32_t cpu;            /* QP_CPU_* */
    const qp_method *const *methods; /* the program's own, beside the built-in ones */
    size_t n_methods;
    bool replace; /* an existing target */
    /* Called with source bytes done and in all, from one thread; NULL: none. False stops the run.
     */
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
} qp_convert_options;

/* Reads the recipe and plans. `source` must outlive the plan. Ownership: qp_convert_plan_free. */
QP_API qp_status qp_convert_plan_make(qp_artifact *source, const char *output,
                                      const qp_convert_options *options, qp_convert_plan **plan,
                                      qp_error *error);
QP_API void qp_convert_plan_free(qp_convert_plan *plan);
QP_API const qp_plan_item *qp_convert_plan_items(const qp_convert_plan *plan, size_t *count);
/* The file to open afterwards: the output, or beside it "OUTPUT.index.json" where a limit divides a
 * safetensors file into shards. Lives as long as the plan. */
QP_API const char *qp_convert_plan_output(const qp_convert_plan *plan);
/* Keys of metadata and resources that the target cannot carry. */
QP_API const char *const *qp_convert_plan_lost(const qp_convert_plan *plan, size_t *count);
/* How many parameters go to a method that reads importance files, and how many of them the files
 * know; the others weigh all columns alike. */
QP_API void qp_convert_plan_importance(const qp_convert_plan *plan, size_t *found, size_t *asked);
/* Bytes of the source's tensors, and of the files that will be written. */
QP_API uint64_t qp_convert_plan_source_bytes(const qp_convert_plan *plan);
QP_API uint64_t qp_convert_plan_target_bytes(const qp_convert_plan *plan);

/* Writes, reads back, verifies, renames. */
QP_API qp_status qp_convert_run(qp_convert_plan *plan, qp_error *error);

/*
 * Every structural and numeric rule over a whole file: lazy checks, words, padding, gaps, and for
 * .ninfer the artifact_id where provenance says that this library wrote it. The first fault in the
 * file's order is reported; qp_error.message names the tensor, row and column place the element.
 */
QP_API qp_status qp_artifact_verify(qp_artifact *artifact, uint32_t threads, qp_error *error);

/*
 * SHA-256 of a tensor, the same in every container: format name (F16 words under "fp16"), a zero
 * byte, u64 rank, u64 dimensions, the planes of the word form one after the other. Integers
 * little-endian. Element types without a format hash under their lower-case name ("f64", "i64",
 * "u8").
 */
QP_API qp_status qp_artifact_tensor_hash(qp_artifact *artifact, const qp_artifact_tensor *tensor,
                                         uint8_t digest[32], qp_error *error);
/* SHA-256 over all tensors sorted by the bytes of their names: name, a zero byte, the tensor's
 * digest. */
QP_API qp_status qp_artifact_hash(qp_artifact *artifact, uint8_t digest[32], qp_error *error);

/*
 * All digests at once: of each parameter, in the order of their names, and of all. A parameter is
 * what a conversion would write as one tensor: a tensor; of .ninfer a binding, an auxiliary of a
 * use under "PARAMETER/INPUT/ROLE", an object that nothing names; of safetensors the weight of
 * several tensors that are one encoded matrix. Its hash is that of qp_artifact_tensor_hash for the
 * parameter's own shape; where its rows are in several formats, the preimages of the runs of rows
 * follow one another. Ownership: qp_artifact_digests_free.
 */
typedef struct qp_artifact_digests qp_artifact_digests;
QP_API qp_status qp_artifact_digests_make(qp_artifact *artifact, const qp_allocator *allocator,
                                          uint32_t threads, qp_artifact_digests **digests,
                                          qp_error *error);
QP_API void qp_artifact_digests_free(qp_artifact_digests *digests);
QP_API size_t qp_artifact_digests_count(const qp_artifact_digests *digests);
QP_API const char *qp_artifact_digests_name(const qp_artifact_digests *digests, size_t index);
/* 32 bytes. */
QP_API const uint8_t *qp_artifact_digests_at(const qp_artifact_digests *digests, size_t index);
QP_API const uint8_t *qp_artifact_digests_whole(const qp_artifact_digests *digests);

#ifdef __cplusplus
}
#endif

#endif
