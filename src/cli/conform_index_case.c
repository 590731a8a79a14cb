/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform_index_case.c - the encoded tensors of an index: inputs through a method to words, words
 * to stored bytes, and stored bytes back to words and values; and the sizes of stored tensors.
 */
#include "cli/conform_index.h"
#include "cli/weights.h"

#include <ctype.h>
#include <inttypes.h>

typedef enum role {
    ROLE_IN,
    ROLE_WORDS,
    ROLE_CODES,
    ROLE_SCALES,
    ROLE_DIVISORS,
    ROLE_BLOCKS,
    ROLE_IMPORTANCE,
    ROLES
} role;

static const char *const role_names[ROLES] = {
    [ROLE_IN] = "in",
    [ROLE_WORDS] = "words",
    [ROLE_CODES] = "codes",
    [ROLE_SCALES] = "scales",
    [ROLE_DIVISORS] = "divisors",
    [ROLE_BLOCKS] = "blocks",
    [ROLE_IMPORTANCE] = "importance",
};

typedef struct tensor_case {
    const qp_index *index;
    qp_json_value item;
    qp_index_expectation expected;
    char method[QP_INDEX_NAME], format[QP_INDEX_NAME], layout[QP_INDEX_NAME];
    uint64_t shape[QP_SHAPE_RANK_MAX], divisors;
    uint32_t rank;
    bool negative_scales;

    qp_file inputs[ROLES]; /* `bytes` is NULL without one */
    const qp_element *element;
    char encoding[32]; /* of the input's blocks */

    qp_matrix matrix;
    qp_words_room words;
    float *importance;
} tensor_case;

/* ---- reading ------------------------------------------------------------------------------ */

/* "ggml_q8_0" are the blocks of gguf_q8_0; the ternary types keep their name. */
static void set_encoding(tensor_case *c, const char *dtype)
{
    static const char before[] = "ggml_";
    size_t length = sizeof before - 1;
    snprintf(c->encoding, sizeof c->encoding, "gguf_%.20s",
             strncmp(dtype, before, length) == 0 ? dtype + length : dtype);
    if (qp_format_find(c->encoding) == NULL)
        snprintf(c->encoding, sizeof c->encoding, "%.30s", dtype);
}

static qp_status set_element(tensor_case *c, const char *dtype, qp_error *why)
{
    char name[16];
    snprintf(name, sizeof name, "%.15s", dtype);
    for (char *p = name; *p != '\0'; p++)
        *p = (char)toupper((unsigned char)*p);
    c->element = qp_element_find(name);
    return c->element != NULL
               ? QP_OK
               : qp_fail(why, QP_MALFORMED, "there is no element type '%.40s'", dtype);
}

static qp_status read_input(tensor_case *c, qp_json_value input, qp_error *why)
{
    char name[QP_INDEX_NAME], dtype[QP_INDEX_NAME];
    int which = 0;
    qp_status status = qp_index_text(input, "role", name, why);
    if (status == QP_OK)
        status = qp_index_text(input, "dtype", dtype, why);
    if (status != QP_OK)
        return status;
    while (which < ROLES && strcmp(name, role_names[which]) != 0)
        which++;
    if (which == ROLES || c->inputs[which].bytes != NULL)
        return qp_fail(why, QP_MALFORMED, "'%.40s' is no role of an input, or a second one", name);
    if (which == ROLE_IN)
        status = set_element(c, dtype, why);
    if (which == ROLE_BLOCKS)
        set_encoding(c, dtype);
    return status != QP_OK ? status : qp_index_open(c->index, input, &c->inputs[which], why);
}

static qp_status read_parameters(tensor_case *c, qp_error *why)
{
    qp_json_value parameters, name, value;
    qp_status status = QP_OK;
    if (!qp_json_find(c->item, "parameters", &parameters))
        return QP_OK;
    qp_json_iterator iterator = qp_json_iterate(parameters);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value)) {
        if (!qp_json_equals(name, "negative_scales"))
            return qp_json_fail(name, why, "a parameter that conform does not know");
        status = qp_json_get_bool(value, &c->negative_scales, why);
    }
    return status;
}

static qp_status read_case(tensor_case *c, qp_error *why)
{
    qp_json_value inputs, input;
    qp_status status = qp_index_expect(c->item, &c->expected, why);
    if (status == QP_OK)
        status = qp_index_text(c->item, "method", c->method, why);
    if (status == QP_OK)
        status = qp_index_text(c->item, "format", c->format, why);
    if (status == QP_OK)
        status = qp_index_text(c->item, "layout", c->layout, why);
    if (status == QP_OK)
        status = qp_index_u64(c->item, "divisors", 1, &c->divisors, why);
    if (status == QP_OK)
        status = qp_index_shape(c->item, "shape", c->shape, &c->rank, why);
    if (status == QP_OK)
        status = read_parameters(c, why);
    if (status != QP_OK || !qp_json_find(c->item, "inputs", &inputs))
        return status;
    qp_json_iterator iterator = qp_json_iterate(inputs);
    while (status == QP_OK && qp_json_next(&iterator, &input))
        status = read_input(c, input, why);
    return status;
}

static void free_case(tensor_case *c)
{
    for (int i = 0; i < ROLES; i++)
        if (c->inputs[i].bytes != NULL)
            qp_file_close(&c->inputs[i]);
    qp_release(NULL, c->importance, (size_t)c->matrix.columns, sizeof *c->importance);
    qp_words_room_free(&c->words);
}

/* ---- geometry ----------------------------------------------------------------------------- */

static qp_status plan(const char *format, const char *layout, const tensor_case *c,
                      qp_matrix *matrix, qp_error *error)
{
    const qp_format *f = qp_format_find(format);
    const qp_storage_layout *l = qp_layout_find(layout);
    if (f == NULL)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "C-GEOM", -1, "there is no format '%.60s'",
                             format);
    if (l == NULL && layout[0] != '\0')
        return qp_fail_check(error, QP_MODEL_MISMATCH, "C-GEOM", -1, "there is no layout '%.60s'",
                             layout);
    return qp_matrix_plan(f, l, c->shape, c->rank, c->divisors, matrix, error);
}

/* Whether an input's file holds `count` times `size` bytes. */
static qp_status check_input(const tensor_case *c, role which, uint64_t count, uint64_t size,
                             qp_error *why)
{
    uint64_t bytes;
    if (c->inputs[which].bytes == NULL)
        return qp_fail(why, QP_MALFORMED, "the input '%s' is missing", role_names[which]);
    if (!qp_mul_u64(count, size, &bytes) || bytes != c->inputs[which].size)
        return qp_fail(why, QP_MALFORMED,
                       "the input '%s' has %zu bytes, which do not fit the shape",
                       role_names[which], c->inputs[which].size);
    return QP_OK;
}

/* ---- encoding ----------------------------------------------------------------------------- */

static qp_status check_words(const tensor_case *c, qp_word_planes *words, qp_error *why)
{
    const qp_matrix *m = &c->matrix;
    role codes = c->inputs[ROLE_WORDS].bytes != NULL ? ROLE_WORDS : ROLE_CODES;
    qp_status status = check_input(c, codes, m->rows, m->code_row_bytes, why);
    if (status == QP_OK && m->scale_row_bytes > 0)
        status = check_input(c, ROLE_SCALES, m->rows, m->scale_row_bytes, why);
    if (status == QP_OK && m->format->family == QP_FAMILY_NVFP4)
        status = check_input(c, ROLE_DIVISORS, m->divisors, 4, why);
    /* read only, whatever the planes' type allows */
    words->codes = (uint8_t *)(uintptr_t)c->inputs[codes].bytes;
    words->scales = (uint8_t *)(uintptr_t)c->inputs[ROLE_SCALES].bytes;
    words->divisors = (uint8_t *)(uintptr_t)c->inputs[ROLE_DIVISORS].bytes;
    return status;
}

/* The importance vector as numbers; section 9.7's refusal where its length is another. */
static qp_status take_importance(tensor_case *c, qp_error *refusal, qp_error *why)
{
    const qp_file *file = &c->inputs[ROLE_IMPORTANCE];
    size_t columns = (size_t)c->matrix.columns; /* the input in rows of them lies in memory */
    if (file->bytes == NULL)
        return QP_OK;
    if (file->size / 4 != columns || file->size % 4 != 0)
        return qp_fail_check(refusal, QP_FIELD_RANGE, "importance_length", -1,
                             "the importance vector has another length than a row");
    c->importance = qp_allocate(NULL, columns, sizeof *c->importance);
    if (c->importance == NULL)
        return qp_fail_memory(why, "an importance vector");
    for (size_t i = 0; i < columns; i++) {
        uint32_t word = qp_load_u32(file->bytes + 4 * i);
        memcpy(&c->importance[i], &word, sizeof word);
    }
    return QP_OK;
}

/* What a method reads, from its first row on. */
typedef struct source {
    const uint8_t *elements;
    float *values;
    qp_word_planes encoded;
    qp_matrix matrix; /* of the encoded words */
    const char *encoding;
} source;

static qp_status make_values(const tensor_case *c, const qp_method *method, source *s,
                             qp_error *refusal, qp_error *why)
{
    const qp_matrix *m = &c->matrix;
    uint64_t count;
    s->elements = c->inputs[ROLE_IN].bytes;
    if (!qp_mul_u64(m->rows, m->columns, &count))
        return qp_fail(why, QP_MALFORMED, "the shape is too large");
    qp_status status =
        check_input(c, ROLE_IN, count, c->element == NULL ? 0 : c->element->bytes, why);
    if (status != QP_OK || method->input != QP_INPUT_VALUES)
        return status;
    s->values = qp_allocate(NULL, (size_t)count, sizeof *s->values);
    if (s->values == NULL)
        return qp_fail_memory(why, "the values of a tensor");
    return qp_element_to_float(c->element, s->elements, (size_t)count, s->values, refusal);
}

static qp_status make_encoded(const tensor_case *c, source *s, qp_error *why)
{
    if (c->inputs[ROLE_BLOCKS].bytes == NULL) {
        s->encoding = c->matrix.format->name;
        s->matrix = c->matrix;
        return check_words(c, &s->encoded, why);
    }
    s->encoding = c->encoding;
    qp_status status = plan(c->encoding, "", c, &s->matrix, why);
    if (status == QP_OK)
        status = check_input(c, ROLE_BLOCKS, s->matrix.rows, s->matrix.code_row_bytes, why);
    s->encoded.codes = (uint8_t *)(uintptr_t)c->inputs[ROLE_BLOCKS].bytes;
    return status;
}

/* The source's rows and the method's job over them. */
static qp_weights_encoding encoding_of(const tensor_case *c, const qp_method *method,
                                       const source *s)
{
    return (qp_weights_encoding){.job = {.target = &c->matrix,
                                         .importance = c->importance,
                                         .negative_scales = c->negative_scales,
                                         .cpu = qp_cpu_features(),
                                         .element = c->element,
                                         .encoding = s->encoding,
                                         .method = method},
                                 .rows = {.count = c->matrix.rows,
                                          .values = s->values,
                                          .elements = s->elements,
                                          .encoded = s->encoded,
                                          .words = c->words.words},
                                 .code_row_bytes = s->matrix.code_row_bytes,
                                 .scale_row_bytes = s->matrix.scale_row_bytes};
}

/* In the smallest chunks, then in one: what is refused is told in `refusal`. */
static qp_status encode_twice(const tensor_case *c, const qp_method *method, const source *s,
                              qp_error *refusal)
{
    qp_weights_encoding e = encoding_of(c, method, s);
    qp_status status = qp_weights_prepare(&e, refusal);
    if (status == QP_OK)
        status = qp_weights_encode(&e, c->matrix.row_step, refusal);
    if (status == QP_OK)
        status = qp_weights_encode(&e, c->matrix.rows, refusal);
    qp_weights_encoding_free(&e);
    return status;
}

/* By a method: `refusal` is set by the method, `why` by a fault of the case. */
static qp_status encode_by(tensor_case *c, const qp_method *method, qp_error *refusal,
                           qp_error *why)
{
    source s = {0};
    qp_status status = method->input == QP_INPUT_ENCODED ? make_encoded(c, &s, why)
                                                         : make_values(c, method, &s, refusal, why);
    if (status == QP_OK)
        status = take_importance(c, refusal, why);
    if (status == QP_OK)
        status = encode_twice(c, method, &s, refusal);
    qp_release(NULL, s.values, (size_t)(c->matrix.rows * c->matrix.columns), sizeof *s.values);
    return status;
}

/* The words as they are given. */
static qp_status encode_words(tensor_case *c, qp_error *refusal, qp_error *why)
{
    qp_word_planes words = {0};
    qp_status status = check_words(c, &words, why);
    if (status == QP_OK)
        status = qp_words_check(&c->matrix, 0, c->matrix.rows, &words, refusal);
    if (status != QP_OK)
        return status;
    memcpy(c->words.words.codes, words.codes, c->words.codes);
    if (c->words.scales > 0)
        memcpy(c->words.words.scales, words.scales, c->words.scales);
    if (c->words.divisors > 0)
        memcpy(c->words.words.divisors, words.divisors, c->words.divisors);
    return QP_OK;
}

static bool is_codec(const char *method)
{
    return strcmp(method, "words") == 0 || strcmp(method, "codec_words") == 0;
}

/* Whether an input is there for each row of the words, so that room for them may be made. */
static qp_status check_sizes(const tensor_case *c, qp_error *why)
{
    uint64_t given = 0, words;
    for (int i = 0; i < ROLES; i++)
        given += c->inputs[i].size;
    if (!qp_mul_u64(c->matrix.rows, c->matrix.code_row_bytes, &words) || words / 16 > given)
        return qp_fail(why, QP_MALFORMED, "the inputs do not fill the shape");
    return QP_OK;
}

static qp_status encode(tensor_case *c, qp_error *refusal, qp_error *why)
{
    qp_status status = plan(c->format, c->layout, c, &c->matrix, refusal);
    if (status != QP_OK)
        return status;
    const qp_method *method = qp_method_find(c->method);
    if (method == NULL && !is_codec(c->method))
        return qp_fail(why, QP_MALFORMED, "there is no method '%.60s'", c->method);
    status = check_sizes(c, why);
    if (status == QP_OK)
        status = qp_words_room_make(&c->matrix, c->matrix.rows, &c->words, why);
    if (status != QP_OK)
        return status;
    return method == NULL ? encode_words(c, refusal, why) : encode_by(c, method, refusal, why);
}

/* ---- stored bytes ------------------------------------------------------------------------- */

static qp_status fail_byte(const uint8_t *a, const uint8_t *b, size_t size, const char *what,
                           qp_error *why)
{
    size_t i = 0;
    while (i + 1 < size && a[i] == b[i])
        i++;
    return qp_fail(why, QP_MALFORMED, "%s differ at byte %zu: 0x%02x, not 0x%02x", what, i, a[i],
                   b[i]);
}

/* Whether the words, as stored bytes, are those of the file. */
static qp_status compare_stored(const tensor_case *c, const qp_file *stored, const char *what,
                                qp_error *why)
{
    if (stored->size != c->matrix.bytes)
        return qp_fail(why, QP_MALFORMED, "the encoded tensor has %zu bytes, not %" PRIu64,
                       stored->size, c->matrix.bytes);
    uint8_t *bytes = qp_allocate(NULL, stored->size, 1);
    if (bytes == NULL)
        return qp_fail_memory(why, "an encoded tensor");
    qp_weights_pack(&c->matrix, &c->words.words, bytes);
    qp_status status = memcmp(bytes, stored->bytes, stored->size) == 0
                           ? QP_OK
                           : fail_byte(bytes, stored->bytes, stored->size, what, why);
    qp_release(NULL, bytes, stored->size, 1);
    return status;
}

static uint32_t word_of(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static qp_status compare_row(const tensor_case *c, uint64_t row, const float *values,
                             const uint8_t *wanted, qp_error *why)
{
    for (uint64_t k = 0; k < c->matrix.columns; k++) {
        uint32_t given = word_of(values[k]), word = qp_load_u32(wanted + 4 * k);
        if (given != word)
            return qp_fail(why, QP_MALFORMED,
                           "row %" PRIu64 ", column %" PRIu64 " decodes to 0x%08" PRIx32
                           ", not to 0x%08" PRIx32,
                           row, k, given, word);
    }
    return QP_OK;
}

/* Row by row, by the fastest way and by the plain one. */
static qp_status compare_rows(const tensor_case *c, const qp_file *stored, const qp_file *decoded,
                              float *values, qp_error *why)
{
    const qp_matrix *m = &c->matrix;
    qp_status status = QP_OK;
    for (uint64_t row = 0; status == QP_OK && row < m->rows; row++) {
        const uint8_t *wanted = decoded->bytes + 4 * (size_t)(row * m->columns);
        qp_rows rows = qp_rows_in(m, stored->bytes, row, 1);
        qp_word_planes words = c->words.words;
        words.codes += (size_t)(row * m->code_row_bytes);
        words.scales += (size_t)(row * m->scale_row_bytes);
        qp_rows_decode(m, &rows, qp_cpu_features(), values);
        status = compare_row(c, row, values, wanted, why);
        if (status != QP_OK)
            break;
        qp_words_decode(m, row, 1, &words, values);
        status = compare_row(c, row, values, wanted, why);
    }
    return status;
}

static qp_status compare_decoded(const tensor_case *c, const qp_file *stored, qp_error *why)
{
    qp_json_value reference;
    qp_file decoded;
    uint64_t bytes;
    if (!qp_json_find(c->item, "decoded", &reference))
        return QP_OK;
    qp_status status = qp_index_open(c->index, reference, &decoded, why);
    if (status != QP_OK)
        return status;
    size_t columns = (size_t)c->matrix.columns;
    float *values = NULL;
    if (!qp_mul_u64(c->matrix.rows, c->matrix.columns, &bytes) || bytes != decoded.size / 4 ||
        decoded.size % 4 != 0)
        status = qp_fail(why, QP_MALFORMED, "the decoded values do not fill the shape");
    else if ((values = qp_allocate(NULL, columns, sizeof *values)) == NULL)
        status = qp_fail_memory(why, "a row of values");
    else
        status = compare_rows(c, stored, &decoded, values, why);
    qp_release(NULL, values, columns, sizeof *values);
    qp_file_close(&decoded);
    return status;
}

/* The stored bytes back: words that are valid, pack to the same bytes, and decode as they should.
 */
static qp_status compare_back(tensor_case *c, const qp_file *stored, qp_error *why)
{
    qp_rows rows = qp_rows_in(&c->matrix, stored->bytes, 0, c->matrix.rows);
    qp_rows_unpack(&c->matrix, &rows, &c->words.words);
    qp_status status = qp_words_check(&c->matrix, 0, c->matrix.rows, &c->words.words, why);
    if (status == QP_OK)
        status = qp_rows_check_padding(&c->matrix, &rows, why);
    if (status == QP_OK)
        status = compare_stored(c, stored, "the bytes packed again", why);
    return status == QP_OK ? compare_decoded(c, stored, why) : status;
}

/* A case without inputs, whose encoded bytes are given. */
static qp_status make_room_for_stored(tensor_case *c, const qp_file *stored, qp_error *why)
{
    qp_status status = plan(c->format, c->layout, c, &c->matrix, why);
    if (status == QP_OK && stored->size != c->matrix.bytes)
        status = qp_fail(why, QP_MALFORMED, "the encoded tensor has %zu bytes, not %" PRIu64,
                         stored->size, c->matrix.bytes);
    return status == QP_OK ? qp_words_room_make(&c->matrix, c->matrix.rows, &c->words, why)
                           : status;
}

static qp_status compare_encoded(tensor_case *c, bool has_inputs, qp_error *why)
{
    qp_json_value reference;
    qp_file stored;
    qp_status status = qp_json_member(c->item, "encoded", QP_JSON_OBJECT, &reference, why);
    if (status == QP_OK)
        status = qp_index_open(c->index, reference, &stored, why);
    if (status != QP_OK)
        return status;
    status = has_inputs ? compare_stored(c, &stored, "the encoded bytes", why)
                        : make_room_for_stored(c, &stored, why);
    if (status == QP_OK)
        status = compare_back(c, &stored, why);
    qp_file_close(&stored);
    return status;
}

static qp_status run_case(tensor_case *c, qp_error *why)
{
    qp_json_value unused;
    qp_error refusal = {0};
    bool has_inputs = qp_json_find(c->item, "inputs", &unused);
    qp_status status = read_case(c, why);
    if (status != QP_OK)
        return status;
    if (has_inputs) {
        status = encode(c, &refusal, why);
        if (status != QP_OK && refusal.status == QP_OK)
            return status; /* the case itself is at fault */
        status = qp_index_compare(&c->expected, status, &refusal, why);
        if (status != QP_OK || c->expected.refuse)
            return status;
    }
    if (!has_inputs && (c->method[0] != '\0' || c->expected.refuse))
        return qp_fail(why, QP_MALFORMED, "the case has no inputs to encode");
    return compare_encoded(c, has_inputs, why);
}

qp_status qp_index_case(const qp_index *index, qp_json_value item, qp_error *why)
{
    tensor_case c = {.index = index, .item = item};
    qp_status status = run_case(&c, why);
    free_case(&c);
    return status;
}

/* ---- sizes -------------------------------------------------------------------------------- */

static qp_status plan_size(const qp_index *index, qp_json_value item, qp_matrix *matrix,
                           qp_error *refusal, qp_error *why)
{
    tensor_case c = {.index = index, .item = item};
    qp_status status = read_case(&c, why);
    if (status == QP_OK)
        status = plan(c.format, c.layout, &c, matrix, refusal);
    return status;
}

qp_status qp_index_size(const qp_index *index, qp_json_value item, qp_error *why)
{
    qp_matrix matrix;
    uint64_t bytes;
    qp_status status = plan_size(index, item, &matrix, why, why);
    if (status == QP_OK)
        status = qp_index_u64(item, "bytes", 0, &bytes, why);
    if (status == QP_OK && matrix.bytes != bytes)
        status = qp_fail(why, QP_MALFORMED, "%" PRIu64 " bytes, not %" PRIu64, matrix.bytes, bytes);
    return status;
}

qp_status qp_index_size_refusal(const qp_index *index, qp_json_value item, qp_error *why)
{
    static const qp_index_expectation expected = {true, "C-GEOM"};
    qp_matrix matrix;
    qp_error refusal = {0};
    qp_status status = plan_size(index, item, &matrix, &refusal, why);
    if (status != QP_OK && refusal.status == QP_OK)
        return status;
    return qp_index_compare(&expected, status, &refusal, why);
}
