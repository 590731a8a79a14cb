/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imatrix.c - reading importance matrix files in their three forms.
 */
#include "artifact/imatrix.h"

#include "artifact/artifact.h"
#include "number/float_mode.h"
#include "number/minifloat.h"

#include <inttypes.h>
#include <stdio.h>

/* An entry of the older form. */
typedef struct entry {
    const char *name; /* first member: qp_named */
    int32_t calls;
    uint32_t count;
    const uint8_t *sums;
} entry;

/* Finds the vector of a tensor by its name; `values` NULL without one. */
typedef qp_status find_vector(qp_imatrix *imatrix, const char *name, qp_importance *importance,
                              qp_error *error);

struct qp_imatrix {
    qp_allocator allocator;
    qp_arena arena;
    find_vector *find;
    qp_artifact *artifact; /* GGUF or safetensors, else NULL */
    qp_file file;          /* of the older form */
    bool borrowed;
    entry *entries;
    size_t count;
    const uint32_t *by_name;
};

/* ---- vectors --------------------------------------------------------------------------------- */

static float *room_for(qp_imatrix *imatrix, uint64_t count)
{
    return count <= SIZE_MAX ? qp_arena_allocate(&imatrix->arena, (size_t)count, sizeof(float))
                             : NULL;
}

/* binary32(sum / max(count, 1)). The quotient in binary64 rounds as one division would. */
static void divide_sums(float *values, uint64_t count, double calls)
{
    qp_float_mode mode = qp_float_mode_enter();
    double divisor = calls > 1.0 ? calls : 1.0;
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)((double)values[i] / divisor);
    qp_float_mode_leave(mode);
}

static uint64_t elements_of(const qp_artifact_tensor *tensor)
{
    return tensor->bytes / 4; /* of F32 */
}

static qp_status read_f32(qp_imatrix *imatrix, const qp_artifact_tensor *tensor, float **values,
                          qp_error *error)
{
    if (strcmp(tensor->type, "F32") != 0)
        return qp_fail(error, QP_MALFORMED, "the importance %.80s is %.20s, not F32", tensor->name,
                       tensor->type);
    uint64_t count = elements_of(tensor);
    *values = room_for(imatrix, count);
    uint8_t *bytes = qp_allocate(&imatrix->allocator, (size_t)count, 4);
    qp_status status = QP_OK;
    if (*values == NULL || bytes == NULL)
        status = qp_fail_memory(error, "an importance");
    if (status == QP_OK)
        status = qp_artifact_read(imatrix->artifact, tensor, 0, tensor->bytes, bytes, error);
    for (uint64_t i = 0; i < count && status == QP_OK; i++)
        (*values)[i] = qp_float_of_bits(qp_load_u32(bytes + 4 * i));
    qp_release(&imatrix->allocator, bytes, (size_t)count, 4);
    return status;
}

/* The tensor `name` + `ending`; NULL without one. */
static const qp_artifact_tensor *find_ending(const qp_imatrix *imatrix, const char *name,
                                             const char *ending)
{
    char text[128]; /* names of GGUF tensors have fewer than 64 bytes */
    int length = snprintf(text, sizeof text, "%s%s", name, ending);
    if (length < 0 || (size_t)length >= sizeof text)
        return NULL;
    return qp_artifact_find(imatrix->artifact, text);
}

static qp_status find_in_gguf(qp_imatrix *imatrix, const char *name, qp_importance *importance,
                              qp_error *error)
{
    const qp_artifact_tensor *sums = find_ending(imatrix, name, ".in_sum2");
    const qp_artifact_tensor *counts = find_ending(imatrix, name, ".counts");
    float *values = NULL, *calls = NULL;
    if (sums == NULL)
        return QP_OK;
    if (counts == NULL || strcmp(counts->type, "F32") != 0 || elements_of(counts) != 1)
        return qp_fail(error, QP_MALFORMED,
                       "%.80s.counts is not one F32: only dense matrices have importance", name);
    qp_status status = read_f32(imatrix, sums, &values, error);
    if (status == QP_OK)
        status = read_f32(imatrix, counts, &calls, error);
    if (status != QP_OK)
        return status;
    divide_sums(values, elements_of(sums), (double)calls[0]);
    *importance = (qp_importance){values, elements_of(sums)};
    return QP_OK;
}

static qp_status find_in_safetensors(qp_imatrix *imatrix, const char *name,
                                     qp_importance *importance, qp_error *error)
{
    const qp_artifact_tensor *tensor = qp_artifact_find(imatrix->artifact, name);
    float *values = NULL;
    if (tensor == NULL)
        return QP_OK;
    qp_status status = read_f32(imatrix, tensor, &values, error);
    if (status == QP_OK)
        *importance = (qp_importance){values, elements_of(tensor)};
    return status;
}

static qp_status find_in_entries(qp_imatrix *imatrix, const char *name, qp_importance *importance,
                                 qp_error *error)
{
    qp_named named = {imatrix->entries, imatrix->count, sizeof *imatrix->entries};
    size_t found = qp_named_find(&named, imatrix->by_name, name);
    if (found >= imatrix->count)
        return QP_OK;
    const entry *e = &imatrix->entries[found];
    float *values = room_for(imatrix, e->count);
    if (values == NULL)
        return qp_fail_memory(error, "an importance");
    for (uint32_t i = 0; i < e->count; i++)
        values[i] = qp_float_of_bits(qp_load_u32(e->sums + 4 * (size_t)i));
    divide_sums(values, e->count, (double)e->calls);
    *importance = (qp_importance){values, e->count};
    return QP_OK;
}

/* ---- the older form -------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *bytes;
    size_t size, at;
} cursor;

static qp_status malformed(const cursor *c, qp_error *error, const char *what)
{
    qp_place place = QP_NOWHERE;
    place.offset = (int64_t)c->at;
    return qp_fail_at(error, QP_MALFORMED, place, "this is no importance matrix: %s", what);
}

/* A positive i32, or one that is not negative where `or_zero`. */
static qp_status read_i32(cursor *c, bool or_zero, int32_t *value, qp_error *error)
{
    if (c->size - c->at < 4)
        return malformed(c, error, "it ends inside an entry");
    *value = qp_load_i32(c->bytes + c->at);
    if (*value < 0 || (*value == 0 && !or_zero))
        return malformed(c, error, "a count is not positive");
    c->at += 4;
    return QP_OK;
}

static qp_status read_bytes(cursor *c, uint64_t size, const uint8_t **bytes, qp_error *error)
{
    if (c->size - c->at < size)
        return malformed(c, error, "it ends inside an entry");
    *bytes = c->bytes + c->at;
    c->at += (size_t)size;
    return QP_OK;
}

static qp_status read_entry(qp_imatrix *imatrix, cursor *c, entry *e, qp_error *error)
{
    int32_t length = 0, count = 0;
    const uint8_t *name = NULL;
    qp_status status = read_i32(c, false, &length, error);
    if (status == QP_OK)
        status = read_bytes(c, (uint64_t)length, &name, error);
    if (status == QP_OK)
        status = read_i32(c, true, &e->calls, error);
    if (status == QP_OK)
        status = read_i32(c, false, &count, error);
    if (status == QP_OK)
        status = read_bytes(c, 4 * (uint64_t)count, &e->sums, error);
    if (status != QP_OK)
        return status;
    if (memchr(name, 0, (size_t)length) != NULL)
        return malformed(c, error, "a name holds a zero byte");
    char *copy = qp_arena_allocate(&imatrix->arena, (size_t)length + 1, 1);
    if (copy == NULL)
        return qp_fail_memory(error, "an entry of an importance matrix");
    memcpy(copy, name, (size_t)length);
    e->name = copy;
    e->count = (uint32_t)count;
    return QP_OK;
}

/* An optional end: the last chunk, then the name of the data. */
static qp_status read_end(cursor *c, qp_error *error)
{
    int32_t chunk, length = 0;
    const uint8_t *name;
    if (c->at == c->size)
        return QP_OK;
    qp_status status = read_i32(c, true, &chunk, error);
    if (status == QP_OK && c->at < c->size)
        status = read_i32(c, true, &length, error);
    if (status == QP_OK)
        status = read_bytes(c, (uint64_t)length, &name, error);
    if (status == QP_OK && c->at != c->size)
        status = malformed(c, error, "bytes follow its end");
    return status;
}

/* The least that an entry takes: a name of one byte and one sum. */
#define LEAST_ENTRY 17

static qp_status read_older(qp_imatrix *imatrix, qp_error *error)
{
    cursor c = {imatrix->file.bytes, imatrix->file.size, 0};
    int32_t count = 0;
    qp_status status = read_i32(&c, false, &count, error);
    if (status == QP_OK && (uint64_t)count > (c.size - c.at) / LEAST_ENTRY)
        status = malformed(&c, error, "more entries than the file can hold");
    if (status != QP_OK)
        return status;
    imatrix->entries = qp_arena_allocate(&imatrix->arena, (size_t)count, sizeof *imatrix->entries);
    if (imatrix->entries == NULL)
        return qp_fail_memory(error, "the entries of an importance matrix");
    imatrix->count = (size_t)count;
    for (size_t i = 0; i < imatrix->count && status == QP_OK; i++)
        status = read_entry(imatrix, &c, &imatrix->entries[i], error);
    if (status == QP_OK)
        status = read_end(&c, error);
    if (status != QP_OK)
        return status;
    qp_named named = {imatrix->entries, imatrix->count, sizeof *imatrix->entries};
    imatrix->by_name = qp_named_order(&imatrix->arena, &named);
    if (imatrix->by_name == NULL)
        return qp_fail_memory(error, "the entries of an importance matrix");
    size_t repeated = qp_named_repeated(&named, imatrix->by_name);
    if (repeated < imatrix->count)
        return qp_fail(error, QP_MALFORMED, "an importance matrix has %.80s twice",
                       imatrix->entries[repeated].name);
    imatrix->find = find_in_entries;
    return QP_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Section 11 makes general.type a part of the form; a model's file has another. */
static bool is_of_type_imatrix(const qp_artifact *artifact)
{
    static const char type[] = "imatrix";
    const qp_artifact_metadatum *found = qp_artifact_metadata_find(artifact, "general.type");
    return found != NULL && found->type == QP_META_STRING && found->size == sizeof type - 1 &&
           memcmp(found->value, type, sizeof type - 1) == 0;
}

static qp_status open_artifact(qp_imatrix *imatrix, const char *path, bool in_memory,
                               qp_error *error)
{
    const qp_file *file = &imatrix->file;
    qp_status status = in_memory
                           ? qp_artifact_open_bytes(path, file->bytes, file->size,
                                                    &imatrix->allocator, &imatrix->artifact, error)
                           : qp_artifact_open(path, &imatrix->allocator, &imatrix->artifact, error);
    if (status != QP_OK)
        return status;
    const char *kind = qp_artifact_kind_of(imatrix->artifact)->name;
    if (strcmp(kind, "ninfer") == 0)
        return qp_fail(error, QP_MALFORMED, "a .ninfer file holds no importance");
    imatrix->find = strcmp(kind, "gguf") == 0 ? find_in_gguf : find_in_safetensors;
    if (imatrix->find == find_in_gguf && !is_of_type_imatrix(imatrix->artifact))
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "this GGUF file holds no importance matrix: its general.type is not "
                       "\"imatrix\"");
    return QP_OK;
}

static bool is_path_of(const char *path, const char *kind)
{
    const qp_artifact_kind *named = qp_artifact_kind_of_path(path);
    return named != NULL && strcmp(named->name, kind) == 0;
}

static qp_status read_any(qp_imatrix *imatrix, const char *path, bool in_memory, qp_error *error)
{
    const qp_file *file = &imatrix->file;
    const qp_artifact_kind *kind = qp_artifact_kind_of_bytes(file->bytes, file->size);
    if (kind == NULL && !is_path_of(path, "gguf") && !is_path_of(path, "safetensors"))
        return read_older(imatrix, error);
    return open_artifact(imatrix, path, in_memory, error);
}

static qp_imatrix *imatrix_new(const qp_allocator *allocator)
{
    qp_imatrix *imatrix = qp_allocate(allocator, 1, sizeof *imatrix);
    if (imatrix != NULL) {
        imatrix->allocator = qp_allocator_or_default(allocator);
        qp_arena_init(&imatrix->arena, allocator);
    }
    return imatrix;
}

static qp_status finish(qp_status status, qp_imatrix *made, qp_imatrix **imatrix)
{
    if (status == QP_OK)
        *imatrix = made;
    else
        qp_imatrix_close(made);
    return status;
}

qp_status qp_imatrix_open(const char *path, const qp_allocator *allocator, qp_imatrix **imatrix,
                          qp_error *error)
{
    *imatrix = NULL;
    qp_imatrix *made = imatrix_new(allocator);
    if (made == NULL)
        return qp_fail_memory(error, "an importance matrix");
    qp_status status = qp_file_open(path, allocator, &made->file, error);
    if (status == QP_OK)
        status = read_any(made, path, false, error);
    return finish(status, made, imatrix);
}

qp_status qp_imatrix_open_bytes(const char *name, const uint8_t *bytes, size_t size,
                                const qp_allocator *allocator, qp_imatrix **imatrix,
                                qp_error *error)
{
    *imatrix = NULL;
    qp_imatrix *made = imatrix_new(allocator);
    if (made == NULL)
        return qp_fail_memory(error, "an importance matrix");
    made->borrowed = true;
    made->file.bytes = bytes;
    made->file.size = size;
    return finish(read_any(made, name, true, error), made, imatrix);
}

void qp_imatrix_close(qp_imatrix *imatrix)
{
    if (imatrix == NULL)
        return;
    qp_artifact_close(imatrix->artifact);
    if (!imatrix->borrowed)
        qp_file_close(&imatrix->file);
    qp_arena_free(&imatrix->arena);
    qp_allocator allocator = imatrix->allocator;
    qp_release(&allocator, imatrix, 1, sizeof *imatrix);
}

/* ---- parameters to tensors ------------------------------------------------------------------- */

/* Roles under text/layers/L/ and the tensors blk.L.<g>.weight that they stand for. */
typedef struct role {
    const char *name;
    const char *tensor;
} role;

static const role roles[] = {
    {"attention/query", "attn_q"},
    {"attention/gate", "attn_q"},
    {"attention/key", "attn_k"},
    {"attention/value", "attn_v"},
    {"attention/output", "attn_output"},
    {"gdn/query", "attn_qkv"},
    {"gdn/key", "attn_qkv"},
    {"gdn/value", "attn_qkv"},
    {"gdn/z", "attn_gate"},
    {"gdn/output", "ssm_out"},
    {"mlp/gate", "ffn_gate"},
    {"mlp/up", "ffn_up"},
    {"mlp/down", "ffn_down"},
};

/* The layer's number and the role of "text/layers/L/ROLE"; NULL for other names. */
static const role *role_of(const char *parameter, uint64_t *layer)
{
    static const char prefix[] = "text/layers/";
    const char *at = parameter + sizeof prefix - 1;
    if (strncmp(parameter, prefix, sizeof prefix - 1) != 0 || *at < '0' || *at > '9')
        return NULL;
    for (*layer = 0; *at >= '0' && *at <= '9' && *layer < 1000000; at++)
        *layer = *layer * 10 + (uint64_t)(*at - '0');
    if (*at != '/')
        return NULL;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(at + 1, roles[i].name) == 0)
            return &roles[i];
    }
    return NULL;
}

/* A member of the configuration, at its top level or under text_config. */
static bool find_config(qp_json_value config, const char *name, qp_json_value *value)
{
    qp_json_value nested;
    return qp_json_find(config, name, value) ||
           (qp_json_find(config, "text_config", &nested) && qp_json_find(nested, name, value));
}

/* Whether the layer is of the kind that has this role, as far as the configuration says. */
static bool layer_has_role(qp_json_value config, uint64_t layer, const role *found)
{
    qp_json_value kinds, kind = QP_JSON_NO_VALUE;
    bool is_attention = strncmp(found->name, "attention/", 10) == 0;
    if (strncmp(found->name, "mlp/", 4) == 0 || !find_config(config, "layer_types", &kinds))
        return true;
    qp_json_iterator iterator = qp_json_iterate(kinds);
    for (uint64_t i = 0; i <= layer; i++) {
        if (!qp_json_next(&iterator, &kind))
            return true;
    }
    return qp_json_equals(kind, "full_attention") == is_attention;
}

static bool config_number(qp_json_value config, const char *name, uint64_t *number)
{
    qp_json_value value;
    return find_config(config, name, &value) && qp_json_get_u64(value, number, NULL) == QP_OK &&
           *number > 0;
}

/* out[(h*R + r)*D + i] = in[(r*H + h)*D + i], with H key heads, R value heads each, width D. */
static qp_status reorder_heads(qp_imatrix *imatrix, qp_json_value config, const char *parameter,
                               qp_importance *importance, qp_error *error)
{
    uint64_t heads = 0, all = 0, width = 0, product;
    if (!config_number(config, "linear_num_key_heads", &heads) ||
        !config_number(config, "linear_num_value_heads", &all) ||
        !config_number(config, "linear_value_head_dim", &width) || all % heads != 0 ||
        !qp_mul_u64(all, width, &product) || product != importance->count)
        return qp_fail(error, QP_MALFORMED,
                       "the importance of %.80s has %" PRIu64
                       " numbers, which are not the heads that the configuration gives",
                       parameter, importance->count);
    float *values = room_for(imatrix, importance->count);
    if (values == NULL)
        return qp_fail_memory(error, "an importance");
    uint64_t groups = all / heads;
    for (uint64_t h = 0; h < heads; h++) {
        for (uint64_t r = 0; r < groups; r++)
            memcpy(values + (h * groups + r) * width, importance->values + (r * heads + h) * width,
                   (size_t)width * sizeof *values);
    }
    importance->values = values;
    return QP_OK;
}

qp_status qp_imatrix_find(qp_imatrix *imatrix, qp_json_value config, const char *parameter,
                          qp_importance *importance, qp_error *error)
{
    uint64_t layer;
    char tensor[64];
    *importance = (qp_importance){NULL, 0};
    qp_status status = imatrix->find(imatrix, parameter, importance, error);
    const role *found = role_of(parameter, &layer);
    if (status != QP_OK || importance->values != NULL || found == NULL ||
        !layer_has_role(config, layer, found))
        return status;
    snprintf(tensor, sizeof tensor, "blk.%" PRIu64 ".%s.weight", layer, found->tensor);
    status = imatrix->find(imatrix, tensor, importance, error);
    if (status != QP_OK || importance->values == NULL || strcmp(found->name, "gdn/output") != 0)
        return status;
    return reorder_heads(imatrix, config, parameter, importance, error);
}
