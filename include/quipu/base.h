/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quipu/base.h - what every part of the library shares: status, error, allocator, version.
 *
 * Conventions of the whole library:
 *  - A function that can fail returns a qp_status and takes an optional `qp_error *error` (NULL is
 *    allowed) that receives the code, the place and one sentence. On QP_OK it is left untouched.
 *  - On failure an out-parameter is set to NULL or left unchanged; it never holds a partial result.
 *  - Nothing here prints, exits, aborts or keeps global mutable state.
 *  - Objects are not shared between threads while one thread changes them. Graphs and certificates
 *    do not change once made, so any number of threads may read them; a session belongs to one
 *    thread at a time.
 */
#ifndef QUIPU_BASE_H
#define QUIPU_BASE_H

#include <stddef.h>
#include <stdint.h>

#define QP_VERSION_MAJOR 0
#define QP_VERSION_MINOR 1
#define QP_VERSION_PATCH 0

#if defined(_WIN32) && defined(QP_SHARED)
#    if defined(QP_BUILDING)
#        define QP_API __declspec(dllexport)
#    else
#        define QP_API __declspec(dllimport)
#    endif
#elif defined(__GNUC__)
#    define QP_API __attribute__((visibility("default")))
#else
#    define QP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The outcome of a call. The first group are refusal codes of integer-operators.md (section 4); the
 * second group are conditions of the program around it.
 */
typedef enum qp_status {
    QP_OK = 0,
    QP_MODEL_MISMATCH,      /* a graph, or what is supplied to it, does not fit */
    QP_TOO_LARGE,           /* a size passes a cap */
    QP_FIELD_RANGE,         /* a value lies outside its declared range */
    QP_GEOMETRY_MISMATCH,   /* a shape rule fails on the sizes of this decode */
    QP_STREAM_EXHAUSTED,    /* a coded stream ends before its symbols do */
    QP_STREAM_NONCANONICAL, /* a coded stream is not the one that its encoder writes */
    QP_PAYLOAD_MALFORMED,   /* the framing of a payload is broken */

    QP_MALFORMED,        /* a JSON, .npy, PNG or trace file does not parse */
    QP_INVALID_ARGUMENT, /* the caller broke the contract of a function */
    QP_NO_MEMORY,        /* the allocator returned NULL */
    QP_IO,               /* the operating system refused a read or a write */
    QP_INTERNAL          /* a fault of this library: please report it */
} qp_status;

/* The part of a file that an error lies in. */
typedef enum qp_table {
    QP_TABLE_NONE = 0,
    QP_TABLE_HEADER,
    QP_TABLE_SCALARS,
    QP_TABLE_INPUTS,
    QP_TABLE_OUTPUTS,
    QP_TABLE_TENSORS,
    QP_TABLE_OPERATORS,
    QP_TABLE_PARAMETERS,
    QP_TABLE_SYMBOLS /* of a coded stream: `record` is the refusal index `at` of section 14.1 */
} qp_table;

/*
 * Where and why a call failed. `record` is the index in `table`, `operator_index` the operator in
 * graph order, `offset` the byte offset in the file, `row` and `column` an element of a weight
 * matrix; each is -1 when it does not apply. `check` is the text's own name of the check that
 * failed ("C-DUPID", "scale_invalid"), in static storage, or NULL where the text gives none.
 * `message` is one plain sentence, NUL-terminated, without a line break.
 */
typedef struct qp_error {
    qp_status status;
    qp_table table;
    int64_t record;
    int64_t operator_index;
    int64_t offset;
    int64_t row;
    int64_t column;
    const char *check;
    char message[232];
} qp_error;

/*
 * Where memory comes from. `reallocate` behaves like realloc, with the old size given: it returns
 * a block of `new_size` bytes aligned for any type, keeping the first min(old_size, new_size)
 * bytes; `block` is NULL and `old_size` 0 for a new block. With `new_size` 0 it frees the block and
 * returns NULL. It returns NULL when it has no memory, and `block` is then still valid.
 *
 * Every function that takes a `const qp_allocator *` accepts NULL for the C library's realloc and
 * free. The structure is copied: it need not outlive the call, but its `context` must outlive every
 * object made with it.
 */
typedef struct qp_allocator {
    void *(*reallocate)(void *context, void *block, size_t old_size, size_t new_size);
    void *context;
} qp_allocator;

/* The text's token for a refusal code ("model_mismatch"), or a like token for the others. */
QP_API const char *qp_status_token(qp_status status);

/* The name of a table as it appears in messages ("tensors"); "" for QP_TABLE_NONE. */
QP_API const char *qp_table_name(qp_table table);

/* The version of the library that is running, "MAJOR.MINOR.PATCH". */
QP_API const char *qp_version(void);

/*
 * Writes `error` as one line, "code: message (tensors record 3, byte 92)", into `text`, which holds
 * `size` bytes; the line is cut to fit and always terminated. Returns `text`.
 */
QP_API const char *qp_error_text(const qp_error *error, char *text, size_t size);

/*
 * Features of a processor, as bits. A function that takes a `cpu` mask uses no other ones: pass
 * qp_cpu_features() for speed, 0 for the plain code that every machine has. The mask never changes
 * a result.
 */
enum {
    QP_CPU_AVX2 = 1,   /* with F16C */
    QP_CPU_AVX512 = 2, /* F, BW, DQ and VL, beside AVX2 */
    QP_CPU_NEON = 4    /* of aarch64 */
};

/* What this processor, and its system, can run. */
QP_API uint32_t qp_cpu_features(void);

/* Frees bytes that the library gave; NULL is allowed. */
QP_API void qp_bytes_free(const qp_allocator *allocator, void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
