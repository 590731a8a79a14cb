/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - a conversion before it runs: what becomes of each parameter, which tensors are written,
 * from what and how, and where their bytes lie in which file.
 *
 *     plan.c           the sources, and the order in which a plan is made
 *     plan_recipe.c    a recipe's steps: choices for rows of parameters, groups, sharing
 *     plan_choice.c    a choice's format and method where a recipe says nothing
 *     plan_objects.c   parameters to encoded tensors: segments, groups, shapes, bindings
 *     plan_uses.c      .ninfer's uses and their auxiliaries
 *     provenance.c     how the values arose, as JSON
 *     *_write.c        the layout of each kind of file
 */
#ifndef QP_ARTIFACT_PLAN_H
#define QP_ARTIFACT_PLAN_H

#include "artifact/imatrix.h"
#include "artifact/metadata.h"
#include "artifact/recipe.h"
#include "artifact/source.h"
#include "artifact/write.h"
#include "quipu/convert.h"

#define QP_FINGERPRINT_BYTES 4096 /* of each tensor */

/* A file that values come from. The first is the one that is converted. */
typedef struct qp_plan_source {
    qp_weight_source source;
    const char *path;                    /* as a recipe names it; NULL of the first */
    qp_artifact *opened;                 /* by the plan; NULL of the first */
    uint8_t fingerprint[QP_SHA256_SIZE]; /* of a file without artifact_id */
} qp_plan_source;

typedef struct qp_plan_imatrix {
    const char *path;
    qp_imatrix *imatrix;
    uint8_t digest[QP_SHA256_SIZE]; /* of the file */
    size_t asked, found;            /* parameters whose importance is wanted, and is there */
} qp_plan_imatrix;

/* What a recipe says of some rows; NULL and 0 where it says nothing. */
typedef struct qp_choice {
    const qp_format *format;
    const qp_storage_layout *layout;
    const char *method;
    const char *source; /* a path */
    const char *imatrix;
    bool negative_scales;
    const qp_recipe_step *step; /* the last that said something, for messages */
} qp_choice;

/* Rows of a parameter with one choice. */
typedef struct qp_segment {
    uint64_t begin, end;
    qp_choice choice;
} qp_segment;

/* A part of a parameter in the target: elements of an encoded tensor. */
typedef struct qp_plan_part {
    size_t object;
    uint64_t begin, end;
} qp_plan_part;

#define QP_NO_GROUP SIZE_MAX

typedef struct qp_plan_parameter {
    const qp_parameter *source; /* of the first source */
    qp_segment *segments;
    size_t n_segments;
    size_t group;      /* index, or QP_NO_GROUP */
    bool is_separated; /* from groups that are not the recipe's */
    size_t share;      /* the parameter whose binding it reuses, or its own index */
    qp_plan_part *parts;
    size_t n_parts;
    bool is_whole; /* one part, which is a whole encoded tensor of the same shape */
} qp_plan_parameter;

typedef struct qp_plan_group {
    size_t *members; /* parameters in their order */
    size_t count;
    const qp_recipe_step *step; /* NULL: the source's own packing */
    bool has_shape;
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX];
} qp_plan_group;

/* Elements of a parameter that become elements of an encoded tensor. */
typedef struct qp_plan_input {
    const qp_parameter *parameter; /* of the source that is read */
    size_t source;                 /* of the plan */
    uint64_t begin, elements;      /* of the parameter */
    uint64_t at;                   /* in the encoded tensor */
} qp_plan_input;

/* A tensor that is written. */
typedef struct qp_plan_object {
    const char *name;
    uint32_t rank; /* of the shape that the file states */
    uint64_t shape[QP_SHAPE_RANK_MAX];
    bool is_auxiliary;
    qp_matrix target;
    qp_method_job job; /* its target is the one above */
    const char *imatrix;
    bool as_values; /* elements are read as values: the sources' types differ */
    qp_plan_input *inputs;
    size_t n_inputs;
    uint64_t source_bytes;
    uint8_t *divisors;       /* imported ones, or NULL */
    const uint8_t *constant; /* its words, where it has no inputs */
    bool is_divisor;         /* a constant that is an activation divisor */
    /* of the layout: where planes lie in the payload (stored: the first byte of all of them) */
    uint64_t at[QP_PLANES];
    uint64_t bytes;
} qp_plan_object;

/* A use of .ninfer, and its auxiliaries. */
typedef struct qp_plan_auxiliary {
    const char *role;
    size_t parameter;                   /* whose binding it is, or SIZE_MAX */
    size_t object;                      /* where it has a tensor of its own, or SIZE_MAX */
    const qp_recipe_auxiliary *numbers; /* of a recipe, until they have a tensor */
} qp_plan_auxiliary;

typedef struct qp_plan_use {
    size_t parameter;
    const char *input;
    const char *policy; /* NULL: none stated */
    qp_plan_auxiliary *auxiliaries;
    size_t count, capacity;
} qp_plan_use;

/* Payload bytes [start, start + size) lie at `at` in a file. */
typedef struct qp_plan_run {
    size_t file;
    uint64_t at, start, size;
} qp_plan_run;

/* The bytes before a file's payload. */
typedef struct qp_plan_head {
    uint8_t *bytes;
    size_t size;
} qp_plan_head;

struct qp_convert_plan {
    qp_allocator allocator;
    qp_arena arena;
    qp_convert_options options; /* texts in the arena */
    const char *output;
    const qp_artifact_kind *kind;
    const struct qp_artifact_kind_writer *writer;

    qp_plan_source **sources; /* each stays where it is */
    size_t n_sources, source_capacity;
    qp_recipe recipe;
    qp_plan_imatrix *imatrices;
    size_t n_imatrices, imatrix_capacity;
    qp_metadata metadata;

    qp_plan_parameter *parameters; /* those of the first source, in their order */
    size_t n_parameters;
    qp_plan_group *groups;
    size_t n_groups, group_capacity;
    qp_plan_use *uses;
    size_t n_uses, use_capacity;
    qp_plan_object *objects; /* weights, then auxiliaries */
    size_t n_objects, object_capacity, n_weights;
    qp_plan_item *items;
    size_t n_items;
    bool computes; /* some method is more than a copy */

    qp_new_file *files;
    qp_plan_head *heads;
    qp_plan_run *runs;
    size_t n_files;
    uint64_t payload_bytes;
    uint64_t source_bytes, target_bytes;
    uint64_t resource_bytes; /* at the beginning of the payload */
};

/* ---- the writing half of a kind of file -------------------------------------------------------
 */

struct qp_artifact_kind_writer {
    /* Whether the kind of file can hold the words of a format. */
    bool (*holds)(const qp_format *format);
    bool has_bindings; /* parameters may share, be packed together, or lie in several tensors */
    bool keeps_words;  /* planes of the word form, not the stored bytes of the layout */
    bool has_id;       /* artifact_id */
    bool divides;      /* into several files */
    /* Whether the kind of file can keep an entry of metadata that is no .ninfer's own. */
    bool (*carries)(const qp_artifact_metadatum *entry);
    /* Refuses what cannot be named or shaped; NULL: nothing. */
    qp_status (*check)(const qp_plan_object *object, qp_error *error);
    /* Fills the objects' places, files, heads and runs. */
    qp_status (*layout)(qp_convert_plan *plan, qp_error *error);
};

/* ---- between the plan's parts -----------------------------------------------------------------
 */

/* A copy in the plan's arena; NULL without memory. */
const char *qp_plan_keep(qp_convert_plan *plan, const char *text, size_t length);

/* The source of a choice: opened and listed when a recipe first names it. */
qp_status qp_plan_source_of(qp_convert_plan *plan, const qp_choice *choice, size_t *index,
                            qp_error *error);
qp_status qp_plan_imatrix_of(qp_convert_plan *plan, const char *path, qp_plan_imatrix **imatrix,
                             qp_error *error);

/* The format that rows keep where a recipe names none. */
const qp_format *qp_plan_default_format(const qp_plan_input *input);

/* A method of that name, the program's own first; NULL without one. */
const qp_method *qp_plan_method_named(const qp_convert_plan *plan, const char *name);

/* Completes an object whose target and inputs are set: its method and job. */
qp_status qp_plan_choose_method(qp_convert_plan *plan, const qp_choice *choice,
                                qp_plan_object *object, qp_error *error);

/* Whether two choices say the same. */
bool qp_choice_equal(const qp_choice *a, const qp_choice *b);

/* Appends a zeroed object; NULL without memory. */
qp_plan_object *qp_plan_add_object(qp_convert_plan *plan);

/* Groups of the parameters that are the rows of one tensor in a .ninfer source. */
qp_status qp_plan_find_packings(qp_convert_plan *plan, qp_error *error);
qp_status qp_plan_apply_recipe(qp_convert_plan *plan, qp_error *error);
qp_status qp_plan_make_objects(qp_convert_plan *plan, qp_error *error);
qp_status qp_plan_read_uses(qp_convert_plan *plan, qp_error *error);
qp_status qp_plan_apply_policy(qp_convert_plan *plan, size_t parameter, const char *policy,
                               qp_error *error);
qp_status qp_plan_apply_use(qp_convert_plan *plan, const qp_recipe_step *step, qp_error *error);
qp_status qp_plan_finish_uses(qp_convert_plan *plan, qp_error *error);

/* The type of the elements that a cast changes, "values" of decoded ones; NULL where words are
 * copied, or the method is no cast. */
const char *qp_plan_cast_from(const qp_plan_object *object);

/* The provenance of the plan, a JSON object. */
void qp_plan_provenance(const qp_convert_plan *plan, qp_buffer *out);

/* The text that GGUF and safetensors keep as "quipu.provenance": the plan's where it computes
 * words, else the source's own if it tells of more than copies; empty where there is none. So a
 * copy there and back gives the same bytes. */
void qp_plan_flat_provenance(const qp_convert_plan *plan, qp_buffer *out);

/* Sets head and size of a file; QP_NO_MEMORY when the buffer has failed. */
qp_status qp_plan_set_head(qp_convert_plan *plan, size_t file, qp_buffer *head, qp_error *error);
/* Room for files, heads and runs, all zero. */
qp_status qp_plan_set_files(qp_convert_plan *plan, size_t count, qp_error *error);

#endif
