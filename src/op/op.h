/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - what an operator is: the thirty graph operators of integer-operators.md section 5 are
 * rows of one table, and everything about an operator stands in its own file.
 *
 * An operator's file describes, in the order of the text: its parameters (a table of fields, from
 * which reading, dumping and assembling follow), the checks on them, its channel counts and shape
 * rule, its bounds rule (section 8.3) and its reference evaluation.
 */
#ifndef QP_OP_OP_H
#define QP_OP_OP_H

#include "base/base.h"
#include "number/bound.h"
#include "number/function.h"

#include "op/intermediate.h"

/* The cap on every tensor and every size an operator forms (section 3). */
#define QP_ELEMENTS_MAX ((uint32_t)1 << 26)
/* The most outputs of any operator: subpos_split's four. */
#define QP_OUTPUTS_MAX 4

/* [channels, height, width]; the element (c, y, x) stands at (c·height + y)·width + x. */
typedef struct qp_shape {
    uint32_t channels, height, width;
} qp_shape;

/* channels·height·width; below 2^96, so it is saturated to UINT64_MAX where it passes 64 bits. */
uint64_t qp_shape_elements(const qp_shape *shape);

/* A scalar's declared range. */
typedef struct qp_range {
    int64_t lo, hi;
} qp_range;

/* ---- parameters (section 10.4) ------------------------------------------------------------ */

/* Signed little-endian integers read in place from the graph's bytes; width is 1, 2, 4 or 8. */
typedef struct qp_integers {
    const uint8_t *bytes;
    size_t count;
    unsigned width;
} qp_integers;

static inline int64_t qp_integers_at(const qp_integers *values, size_t index)
{
    const uint8_t *p = values->bytes + index * values->width;
    switch (values->width) {
    case 1:
        return qp_to_i8(*p);
    case 2:
        return qp_load_i16(p);
    case 4:
        return qp_load_i32(p);
    default:
        return qp_load_i64(p);
    }
}

/* The least and the greatest of values[start .. start + count), count >= 1. */
qp_range qp_integers_range(const qp_integers *values, size_t start, size_t count);

typedef enum qp_bias_place { QP_BIAS_NONE = 0, QP_BIAS_PRE = 1, QP_BIAS_POST = 2 } qp_bias_place;
typedef enum qp_kind { QP_KIND_ABSENT = 0, QP_KIND_ONE = 1, QP_KIND_PER_CHANNEL = 2 } qp_kind;

/* The requantisation block RQ. */
typedef struct qp_rq {
    qp_round round;
    qp_bias_place bias_place;
    qp_kind mult_kind;
    qp_kind shift_kind;
    qp_integers mult, bias; /* count 0, 1 or the channels */
    const uint8_t *shift;
    size_t n_shifts; /* 1 or the channels */
} qp_rq;

/* A constant, or the index of a scalar. */
typedef struct qp_operand {
    bool scalar;
    int64_t value;
} qp_operand;

/* The dimensions of an array of parameters, from the parameters read before it and the channel
 * count of the operator's first input; returns the rank, 1..4. */
typedef unsigned qp_dims_fn(const void *params, uint32_t in_channels, uint64_t dims[4]);

typedef enum qp_field_kind {
    QP_FIELD_U8,        /* uint8_t */
    QP_FIELD_U32,       /* uint32_t */
    QP_FIELD_I64,       /* int64_t */
    QP_FIELD_U64,       /* uint64_t */
    QP_FIELD_EXPONENT,  /* int8_t, -128 for none */
    QP_FIELD_ROUND,     /* qp_round, one byte in the file */
    QP_FIELD_ORDER,     /* uint8_t[4]: a permutation of 0..3 */
    QP_FIELD_OPERAND,   /* qp_operand: u8 kind, 3 reserved, u32 */
    QP_FIELD_OPERAND64, /* qp_operand: u8 kind, 7 reserved, i64 */
    QP_FIELD_WIDTH,     /* uint8_t: bytes of each integer of a later array; `minimum` is a mask */
    QP_FIELD_RESERVED,  /* `minimum` zero bytes */
    QP_FIELD_RQ,        /* qp_rq over dims channels */
    QP_FIELD_INTEGERS   /* qp_integers over dims, of the width in the field at `width_offset` */
} qp_field_kind;

/* What an RQ field admits beyond the shift. */
enum { QP_RQ_MULT = 1, QP_RQ_BIAS = 2, QP_RQ_PER_CHANNEL = 4, QP_RQ_ANY = 7 };

/* The widths of weights, and those of multipliers, biases and gammas, as masks. */
enum { QP_WIDTHS_ALL = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, QP_WIDTHS_WIDE = 1 << 4 | 1 << 8 };

#define QP_COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* An array whose integers have one fixed width rather than a width field. */
#define QP_FIXED_WIDTH(bytes) ((size_t)0x8000 | (bytes))

typedef enum qp_exponent_of { QP_OF_INPUT, QP_OF_OUTPUT } qp_exponent_of;

/*
 * One field of a parameter layout, in file order. `offset` is its place in the operator's own
 * parameter structure. `minimum` and `maximum` bound U8, U32, I64 and U64 fields (a `maximum` of 0
 * sets no limit beyond the type's); for WIDTH `minimum` has bit w set for an allowed width w.
 */
typedef struct qp_field {
    const char *name;
    qp_field_kind kind;
    size_t offset;
    uint32_t minimum, maximum;
    qp_dims_fn *dims;
    size_t width_offset;
    unsigned rq_admits;
    qp_exponent_of exponent_of; /* of EXPONENT: the tensor whose exponent it equals (5.6) */
} qp_field;

/* The width of an INTEGERS field's values. */
static inline unsigned qp_field_width(const qp_field *field, const void *params)
{
    if (field->width_offset >= QP_FIXED_WIDTH(0))
        return (unsigned)(field->width_offset - QP_FIXED_WIDTH(0));
    return *((const uint8_t *)params + field->width_offset);
}

/* What a parameter check may look at beyond the parameters themselves. */
typedef struct qp_params_context {
    const qp_range *scalars;
    uint32_t n_scalars;
    uint32_t in_channels; /* of the first input */
} qp_params_context;

/* ---- plans -------------------------------------------------------------------------------- */

/*
 * The sizes of one operator's inputs, and the scalars: their values at run time, NULL at load, when
 * a crop is planned on its smallest start and largest length (section 5.10).
 */
typedef struct qp_plan {
    const void *params;
    const qp_shape *in;
    uint32_t n_in;
    const int64_t *scalars;
    const qp_range *scalar_ranges;
} qp_plan;

/* Reads a scalar operand's value, or the constant. Only for a plan or evaluation at run time. */
static inline int64_t qp_operand_value(const qp_operand *operand, const int64_t *scalars)
{
    return operand->scalar ? scalars[operand->value] : operand->value;
}

/* ---- bounds ------------------------------------------------------------------------------- */

/* The parameter conditions of section 7.2, in that table's order. */
typedef enum qp_condition {
    QP_CONDITION_RQ_MULT,
    QP_CONDITION_RQ_SHIFT,
    QP_CONDITION_RQ_POST_BIAS,
    QP_CONDITION_WEIGHTS,
    QP_CONDITION_CHSCALE_M,
    QP_CONDITION_CHSCALE_S,
    QP_CONDITION_IGDN_GAMMA,
    QP_CONDITION_IGDN_SHIFT,
    QP_CONDITION_LEAKY_A,
    QP_CONDITION_COUNT
} qp_condition;

/* The flags of section 9.2, in ascending order of their names. */
typedef enum qp_npu_flag {
    QP_NPU_FLAG_CHSCALE,
    QP_NPU_FLAG_LUT16,
    QP_NPU_FLAG_RQ_FLOOR_MULT,
    QP_NPU_FLAG_RQ_HALF_EVEN,
    QP_NPU_FLAG_RQ_NEG_MULT,
    QP_NPU_FLAG_RQ_POST_BIAS,
    QP_NPU_FLAG_RQ_SHIFT_RANGE,
    QP_NPU_FLAG_STATE_ADD,
    QP_NPU_FLAG_COUNT
} qp_npu_flag;

/* "rq.mult" and "chscale": the texts' names of both. */
const char *qp_condition_name(qp_condition condition);
const char *qp_npu_flag_name(qp_npu_flag flag);

/* What a bounds rule reads. */
typedef struct qp_bounds_query {
    const void *params;
    const qp_interval *in; /* the tensors' own intervals, after their policies */
    uint32_t n_in;
    uint32_t in_channels;
    const qp_shape *in_shapes; /* planned on the declared sizes; NULL when none are declared */
    const qp_range *scalar_ranges;
} qp_bounds_query;

typedef struct qp_recorded {
    qp_intermediate key;
    qp_interval interval; /* the hull over channels */
} qp_recorded;

/* What it gives. A rule adds each interval once a channel; the hull is kept. */
typedef struct qp_node_bounds {
    qp_recorded recorded[QP_NODE_INTERMEDIATES_MAX];
    uint32_t n_recorded;
    qp_interval result[QP_OUTPUTS_MAX]; /* producer results */
    bool has_result[QP_OUTPUTS_MAX];
    bool saturated;
    bool outside_table;  /* lut16: the input's interval passes [-32767, 32767]; no results then */
    qp_range weights;    /* of conv and conv_transpose, or of chscale's M; lo > hi for none */
    uint32_t conditions; /* a bit for each qp_condition the parameters fail under acc32 */
    uint32_t npu_flags;  /* a bit for each qp_npu_flag */
} qp_node_bounds;

void qp_bounds_record(qp_node_bounds *bounds, qp_intermediate key, qp_interval interval);
void qp_bounds_result(qp_node_bounds *bounds, unsigned output, qp_interval interval);
/* The recorded interval of a key, or NULL. */
const qp_interval *qp_bounds_find(const qp_node_bounds *bounds, qp_intermediate key);
/* The condition fails unless every value of the range fits i32. */
void qp_bounds_condition_i32(qp_node_bounds *bounds, qp_condition condition, qp_range range);
/* The condition fails where a shift passes 63. */
void qp_bounds_condition_shift(qp_node_bounds *bounds, qp_condition condition, uint32_t shift);

/* ---- evaluation --------------------------------------------------------------------------- */

/* The integer types a tensor may be stored in (section 3, Storage). */
typedef enum qp_storage {
    QP_STORAGE_I8,
    QP_STORAGE_U8,
    QP_STORAGE_I16,
    QP_STORAGE_U16,
    QP_STORAGE_I32,
    QP_STORAGE_U32,
    QP_STORAGE_I64
} qp_storage;

unsigned qp_storage_bytes(qp_storage storage);
/* The narrowest type that holds [lo, hi], an unsigned one only where the signed one of its width
 * does not. */
qp_storage qp_storage_for(int64_t lo, int64_t hi);

typedef struct qp_tensor {
    void *data; /* aligned for its type */
    qp_storage storage;
    qp_shape shape;
} qp_tensor;

/* The policies of section 3, with the codes of the tensor record. */
typedef enum qp_policy { QP_DERIVED = 0, QP_CLAMP = 1, QP_CHECK = 2 } qp_policy;

/* "derived", "clamp" or "check". */
const char *qp_policy_name(qp_policy policy);

typedef struct qp_output {
    qp_tensor tensor;
    qp_policy policy;
    int64_t lo, hi; /* the declared range; all of i64 for `derived` */
} qp_output;

/* values[k] = the element at start + k·stride. */
void qp_tensor_load(const qp_tensor *tensor, size_t start, size_t stride, size_t count,
                    int64_t *values);
static inline void qp_tensor_read(const qp_tensor *tensor, size_t start, size_t count,
                                  int64_t *values)
{
    qp_tensor_load(tensor, start, 1, count, values);
}

/* Where a `check` policy refused. */
typedef struct qp_refusal {
    unsigned output;
    size_t element; /* CHW position */
    int64_t value;
} qp_refusal;

typedef struct qp_evaluation {
    const void *params;
    const qp_tensor *in;
    uint32_t n_in;
    const qp_output *out;
    const int64_t *scalars;
    int64_t *scratch;    /* as many words as the operator's `scratch` asked for */
    bool narrow_product; /* the certificate: every rq.p fits i64 */
    qp_refusal *refusal;
    qp_observer *observer; /* NULL but in the instrumented build */
} qp_evaluation;

/*
 * Stores producer results at elements start .. start + count of an output, under its policy.
 * QP_FIELD_RANGE, with the place in `refusal`, where a `check` range is left; elements after the
 * refused one are not stored. The values are not changed.
 */
qp_status qp_emit(const qp_evaluation *e, unsigned output, size_t start, const int64_t *values,
                  size_t count);

/* A transform of `count` elements of one channel of the first input, in place. */
typedef void qp_span_fn(const qp_evaluation *e, uint32_t channel, int64_t *values, size_t count);

/* Applies `transform` to the whole of input 0 and stores it as output 0, span by span. */
qp_status qp_evaluate_spans(const qp_evaluation *e, qp_span_fn *transform);

/* values[k] += the element start + k of a tensor. */
void qp_tensor_add(const qp_tensor *tensor, size_t start, int64_t *values, size_t count);

/* Stores the first `total` elements of input 0, each span passed through `add` first. */
typedef void qp_add_fn(const qp_evaluation *e, size_t start, int64_t *values, size_t count);
qp_status qp_evaluate_sums(const qp_evaluation *e, size_t total, qp_add_fn *add);

/* Copies `count` elements of an input to an output, unchanged but for the policy. */
typedef struct qp_copy {
    uint32_t input;
    unsigned output;
    size_t from, to, count;
} qp_copy;
qp_status qp_evaluate_copy(const qp_evaluation *e, const qp_copy *copy);

/* ---- operators ---------------------------------------------------------------------------- */

/* The columns of section 5's table for wai-ops/1-npu. */
/* Reasons of section 8.5 that lie in an operator's parameters. */
typedef enum qp_npu_reason { QP_NPU_INSIDE, QP_NPU_CONV_GROUPS, QP_NPU_CROP_SCALAR } qp_npu_reason;

typedef enum qp_npu_membership { QP_NPU_NO, QP_NPU_YES, QP_NPU_FLAGGED } qp_npu_membership;

typedef struct qp_operator {
    uint8_t opcode;
    const char *name;
    const char *section; /* of integer-operators.md */
    uint8_t n_in, n_out;
    bool more_inputs;     /* n_in is the least count (concat) */
    bool needs_sizes;     /* the bounds rule reads the declared sizes (section 8.1) */
    bool equal_exponents; /* the exponent rule of section 3 */
    bool scalars_shape;   /* the shape rule reads scalars (crop) */
    bool state_add;       /* carries the flag state_add where it reads a state input */
    qp_npu_membership npu;

    const qp_field *fields; /* NULL for an operator without parameters */
    uint32_t n_fields;
    size_t params_size; /* of the operator's own structure */

    const qp_intermediate *intermediates; /* Table 8.5-A */
    uint32_t n_intermediates;
    qp_intermediate k_c; /* the term whose interval gives k_c, or QP_INTERMEDIATE_COUNT */
    bool has_mac;        /* the certificate carries `mac` */

    /* The parameter rules that no field states alone: NULL, or a sentence saying which fails. */
    const char *(*check)(const void *params, const qp_params_context *context);
    /* The channel counts: NULL with the outputs' counts in `out`, or a sentence. On entry `out`
     * holds the tensor records' counts, which `fill` takes as they are. */
    const char *(*channels)(const void *params, const uint32_t *in, uint32_t n_in, uint32_t *out);
    /* The sizes: QP_OK with the outputs' shapes (their channels are set already), QP_TOO_LARGE for
     * a size past the cap or QP_GEOMETRY_MISMATCH for a failed shape rule, in section 4's order. */
    qp_status (*shape)(const qp_plan *plan, qp_shape *out, const char **why);
    void (*bounds)(const qp_bounds_query *query, qp_node_bounds *bounds);
    /* Why the operator is outside wai-ops/1-npu beyond `npu`; NULL where nothing else can be. */
    qp_npu_reason (*npu_reason)(const void *params, uint32_t in_channels);
    /* int64 words of scratch memory one evaluation needs; NULL for none. */
    uint64_t (*scratch)(const qp_plan *plan, const qp_shape *out);
    qp_status (*evaluate)(const qp_evaluation *e);
} qp_operator;

/* The thirty, in the order of their opcodes 0x01 .. 0x1E. */
#define QP_OPERATORS(ROW)                                                                          \
    ROW(conv)                                                                                      \
    ROW(rescale)                                                                                   \
    ROW(chscale)                                                                                   \
    ROW(lut16)                                                                                     \
    ROW(add)                                                                                       \
    ROW(concat)                                                                                    \
    ROW(chunk_add)                                                                                 \
    ROW(split)                                                                                     \
    ROW(pixel_shuffle)                                                                             \
    ROW(pixel_unshuffle)                                                                           \
    ROW(clamp)                                                                                     \
    ROW(relu)                                                                                      \
    ROW(leaky)                                                                                     \
    ROW(pad_rep)                                                                                   \
    ROW(crop_to)                                                                                   \
    ROW(mul)                                                                                       \
    ROW(conv_transpose)                                                                            \
    ROW(igdn)                                                                                      \
    ROW(abs)                                                                                       \
    ROW(crop)                                                                                      \
    ROW(subpos_split)                                                                              \
    ROW(subpos_merge)                                                                              \
    ROW(fill)                                                                                      \
    ROW(layernorm_c)                                                                               \
    ROW(l2norm)                                                                                    \
    ROW(softmax)                                                                                   \
    ROW(sigmoid)                                                                                   \
    ROW(elu)                                                                                       \
    ROW(gram)                                                                                      \
    ROW(apply)

enum {
#define QP_ROW(name) QP_OPERATOR_INDEX_##name,
    QP_OPERATORS(QP_ROW)
#undef QP_ROW
        QP_OPERATOR_COUNT
};
extern const qp_operator *const qp_operators[QP_OPERATOR_COUNT];

/* The operator of an opcode or of a name; NULL when there is none. */
const qp_operator *qp_operator_by_opcode(unsigned opcode);
const qp_operator *qp_operator_by_name(const char *name, size_t length);

/* Shape rules that several operators share. */
qp_status qp_shape_unchanged(const qp_plan *plan, qp_shape *out, const char **why);
const char *qp_channels_unchanged(const void *params, const uint32_t *in, uint32_t n_in,
                                  uint32_t *out);
/* Refuses a size past the cap (section 3); a NULL `why` is allowed. */
qp_status qp_check_side(uint64_t side, const char *sentence, const char **why);
/* The movement rule of section 8.3: the hull of the inputs, for each output. */
void qp_bounds_movement(const qp_bounds_query *query, qp_node_bounds *bounds);

/* A row of scratch memory as long as the widest row of any output. */
uint64_t qp_scratch_row(const qp_plan *plan, const qp_shape *out);

#endif
