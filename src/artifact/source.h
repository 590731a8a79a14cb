/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - the parameters of an opened file of weights, whatever keeps them: a tensor, some rows
 * of one or of several (the bindings of .ninfer), or the tensors of safetensors that are one
 * encoded matrix together (artifact-container.md sections 3.5 and 9.6).
 *
 * A parameter has an ID, a shape and elements in C order. It is read as values over any range of
 * elements, as plain elements, or as encoded rows.
 */
#ifndef QP_ARTIFACT_SOURCE_H
#define QP_ARTIFACT_SOURCE_H

#include "artifact/artifact.h"
#include "artifact/tile.h"
#include "base/json.h"

/* The tensors that one part of a parameter is kept in. */
typedef struct qp_weight_source_tensors {
    const qp_artifact_tensor *main;    /* elements, stored words, or codes */
    const qp_artifact_tensor *scales;  /* NULL: none */
    const qp_artifact_tensor *divisor; /* NULL: none */
} qp_weight_source_tensors;

struct qp_weight_source_rules;

/* Consecutive elements of a parameter in one encoding. */
typedef struct qp_weight_source_part {
    const struct qp_weight_source_rules *rules;
    qp_weight_source_tensors tensors;
    const qp_element *element; /* plain elements as they are stored, else NULL */
    const char *encoding;      /* a format's name, "ggml_142" or "ggml_143", else NULL */
    qp_matrix matrix;          /* of the tensors; without a format where it has none */
    uint64_t first;            /* the element of the tensors that is the part's first */
    uint64_t elements;
    uint64_t at; /* of the parameter, where the part begins */
} qp_weight_source_part;

typedef struct qp_parameter {
    const char *name; /* first member: qp_named */
    uint32_t rank;
    uint64_t shape[QP_SHAPE_RANK_MAX];
    uint64_t elements;
    uint64_t rows, columns; /* of its last dimension; 1 and 1 of a scalar */
    qp_weight_source_part *parts;
    size_t n_parts;
    const qp_artifact_tensor *unread; /* of a type that is not read, and without parts; or NULL */
    const char *type;                 /* as the source spells it: "F16", "F8_E4M3 + BF16" */
    uint64_t bytes;                   /* that its elements take in the source */
    bool is_auxiliary;                /* .ninfer: of a use, not of a binding */
    const char *owner; /* of an auxiliary: the parameter that is used, and the role */
    const char *role;
    bool has_own_shape;              /* not what its parts would say */
    const struct qp_parameter *same; /* an earlier one with the same binding, or NULL */
} qp_parameter;

typedef struct qp_weight_source {
    qp_artifact *artifact;
    qp_allocator allocator;
    qp_arena arena;
    qp_parameter *parameters;
    size_t count;
    const uint32_t *by_name;
    qp_json json; /* of a .ninfer: its directory */
    bool has_directory;
} qp_weight_source;

/* Opens all files of the artifact and lists its parameters in the file's order; those of a .ninfer
 * in the order of its bindings, then auxiliaries, then objects that no binding and no use names.
 * The artifact does not change afterwards. Ownership: qp_weight_source_close. */
qp_status qp_weight_source_open(qp_artifact *artifact, const qp_allocator *allocator,
                                qp_weight_source *source, qp_error *error);
void qp_weight_source_close(qp_weight_source *source);

/* Whether the parameter can be read: else the refusal that its tensor gets. The readers below give
 * it too. */
qp_status qp_parameter_check_read(const qp_artifact *artifact, const qp_parameter *parameter,
                                  qp_error *error);

/* NULL without one. */
const qp_parameter *qp_weight_source_find(const qp_weight_source *source, const char *name);

/* ---- for the lists of each kind -------------------------------------------------------------- */

/* A part that is a whole tensor: plain elements, or stored words. */
qp_status qp_weight_source_part_of(qp_weight_source *source, const qp_artifact_tensor *tensor,
                                   qp_weight_source_part *part, qp_error *error);
/* The parameter of a tensor and its part, under `name`. */
qp_status qp_weight_source_whole(qp_weight_source *source, const qp_artifact_tensor *tensor,
                                 const char *name, qp_parameter *parameter, qp_error *error);
/* Sets elements, rows and columns from the shape. */
void qp_parameter_set_geometry(qp_parameter *parameter);

/* The lists: .ninfer's bindings and uses, safetensors' composed tensors. */
qp_status qp_weight_source_list_ninfer(qp_weight_source *source, qp_error *error);
qp_status qp_weight_source_list_composed(qp_weight_source *source, qp_error *error);

/* ---- reading --------------------------------------------------------------------------------- */

/* Rooms of a reader: one a plane, one for values that become elements, one for its user's words. */
enum {
    QP_WEIGHT_SOURCE_VALUES_ROOM = QP_PLANES,
    QP_WEIGHT_SOURCE_WORDS_ROOM,
    QP_WEIGHT_SOURCE_ROOMS
};

/* What one thread reads with. */
typedef struct qp_weight_source_reader {
    qp_allocator allocator; /* which other threads may use at the same time */
    const qp_artifact *artifact;
    uint32_t cpu;
    uint8_t *rooms[QP_WEIGHT_SOURCE_ROOMS];
    size_t room_sizes[QP_WEIGHT_SOURCE_ROOMS];
} qp_weight_source_reader;

void qp_weight_source_reader_init(qp_weight_source_reader *reader, const qp_weight_source *source,
                                  const qp_allocator *allocator, uint32_t cpu);
void qp_weight_source_reader_free(qp_weight_source_reader *reader);

/* `size` bytes that stand until the next call for the same room; NULL without memory. */
uint8_t *qp_weight_source_reader_room(qp_weight_source_reader *reader, size_t room, uint64_t size);
/* Bytes of a tensor: in place, or copied into the room. */
qp_status qp_weight_source_reader_bytes(qp_weight_source_reader *reader, size_t room,
                                        const qp_artifact_tensor *tensor, const qp_piece *piece,
                                        const uint8_t **bytes, qp_error *error);

/* How the tensors of a part are read. Tiles are in rows and columns of the part's matrix. */
struct qp_weight_source_rules {
    /* Binary32 values of a tile. */
    qp_status (*values)(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                        const qp_tile *tile, float *values, qp_error *error);
    /* Encoded rows of a tile in the word form, without divisors; NULL: it is plain. */
    qp_status (*words)(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                       const qp_tile *tile, const qp_word_planes *words, qp_error *error);
    /* The divisor of a row of the tensors; NULL: there is none. */
    qp_status (*divisor)(qp_weight_source_reader *reader, const qp_weight_source_part *part,
                         uint64_t row, uint32_t *word, qp_error *error);
    bool cuts; /* columns of the word form may be cut, though the stored layout may not */
};

/* The stored rows of a tile of qp_weight_source_stored, and the matrix that they are laid out as.
 */
qp_status qp_weight_source_stored_rows(qp_weight_source_reader *reader,
                                       const qp_weight_source_part *part, const qp_tile *tile,
                                       qp_matrix *matrix, qp_rows *rows, qp_error *error);

/* Plain elements, stored words, ternary blocks; and the composed ones. */
extern const struct qp_weight_source_rules qp_weight_source_plain;
extern const struct qp_weight_source_rules qp_weight_source_stored;
extern const struct qp_weight_source_rules qp_weight_source_ternary;
extern const struct qp_weight_source_rules qp_weight_source_row_fp8;
extern const struct qp_weight_source_rules qp_weight_source_block_fp8;
extern const struct qp_weight_source_rules qp_weight_source_nvfp4;
extern const struct qp_weight_source_rules qp_weight_source_nvfp4_multiplier;

/* The refusals of these name the parameter, and its row and column where a value is at fault. */

/* A range of elements, as values. Of a row that is read in pieces, pieces of encoded ones begin and
 * end at multiples of QP_TILE_COLUMNS or at the row's end. */
qp_status qp_parameter_values(qp_weight_source_reader *reader, const qp_parameter *parameter,
                              uint64_t begin, uint64_t count, float *values, qp_error *error);

/* A range of elements as they are stored, where its parts hold elements of one type. In place where
 * possible; else the bytes stand until the next call. */
qp_status qp_parameter_elements(qp_weight_source_reader *reader, const qp_parameter *parameter,
                                uint64_t begin, uint64_t count, const uint8_t **bytes,
                                qp_error *error);

/* A range of any elements as binary32 values, little-endian. */
qp_status qp_parameter_value_elements(qp_weight_source_reader *reader,
                                      const qp_parameter *parameter, uint64_t begin, uint64_t count,
                                      const uint8_t **bytes, qp_error *error);

/* Some rows, and a cut of their columns, in the word form of their encoding, which is one. */
qp_status qp_parameter_words(qp_weight_source_reader *reader, const qp_parameter *parameter,
                             const qp_tile *tile, const qp_word_planes *words, qp_error *error);

/* The binary32 word of the divisor of a row of an nvfp4 parameter. */
qp_status qp_parameter_divisor(qp_weight_source_reader *reader, const qp_parameter *parameter,
                               uint64_t row, uint32_t *word, qp_error *error);

/* The part that holds an element. */
const qp_weight_source_part *qp_parameter_part(const qp_parameter *parameter, uint64_t element);
/* Whether columns may be cut wherever the parameter is read. */
bool qp_parameter_cuts(const qp_parameter *parameter);

#endif
