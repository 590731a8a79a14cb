/* SPDX-License-Identifier: Apache-2.0 */
/* info_parameters.c - see info_parameters.h. */
#include "cli/info_parameters.h"

#include "base/json.h"

/* A string of the directory, NUL-terminated, in the arena. */
static const char *copy_string(qp_arena *arena, qp_json_value value)
{
    qp_buffer text;
    qp_buffer_init(&text, NULL);
    qp_json_append_string(value, &text);
    char *copy = text.failed ? NULL : qp_arena_allocate(arena, text.size + 1, 1);
    if (copy != NULL && text.size > 0)
        memcpy(copy, text.bytes, text.size);
    qp_buffer_free(&text);
    return copy;
}

/* A binding is one object, or parts that each name one. */
static qp_status keep(const qp_artifact *artifact, qp_kept_parameters *kept, qp_json_value object,
                      const char *name, qp_error *error)
{
    size_t count;
    const qp_artifact_tensor *tensors = qp_artifact_tensors(artifact, &count);
    qp_json_value id;
    if (!qp_json_find(object, "object", &id))
        return QP_OK;
    const char *text = copy_string(&kept->arena, id);
    if (text == NULL)
        return qp_fail_memory(error, "the parameters of a file");
    const qp_artifact_tensor *tensor = qp_artifact_find(artifact, text);
    if (tensor == NULL) /* the reader has refused such a binding */
        return QP_OK;
    qp_kept_parameter *of = &kept->of[tensor - tensors];
    if (of->count++ == 0)
        of->name = name;
    return QP_OK;
}

static qp_status keep_binding(const qp_artifact *artifact, qp_kept_parameters *kept,
                              qp_json_value name, qp_json_value binding, qp_error *error)
{
    qp_json_value parts, part;
    const char *text = copy_string(&kept->arena, name);
    if (text == NULL)
        return qp_fail_memory(error, "the parameters of a file");
    qp_status status = keep(artifact, kept, binding, text, error);
    if (!qp_json_find(binding, "parts", &parts))
        return status;
    qp_json_iterator iterator = qp_json_iterate(parts);
    while (status == QP_OK && qp_json_next(&iterator, &part))
        status = keep(artifact, kept, part, text, error);
    return status;
}

static qp_status keep_bindings(const qp_artifact *artifact, qp_kept_parameters *kept,
                               qp_json_value bindings, qp_error *error)
{
    size_t count;
    qp_json_value name, binding;
    qp_status status = QP_OK;
    (void)qp_artifact_tensors(artifact, &count);
    qp_json_iterator iterator = qp_json_iterate(bindings);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &binding)) {
        if (kept->of == NULL)
            kept->of = qp_arena_allocate(&kept->arena, count, sizeof *kept->of);
        status = kept->of == NULL ? qp_fail_memory(error, "the parameters of a file")
                                  : keep_binding(artifact, kept, name, binding, error);
    }
    return status;
}

qp_status qp_kept_parameters_read(const qp_artifact *artifact, qp_kept_parameters *kept,
                                  qp_error *error)
{
    size_t size;
    const char *directory = qp_artifact_directory(artifact, &size);
    qp_json json;
    qp_json_value bindings;
    qp_status status = QP_OK;
    kept->of = NULL;
    qp_arena_init(&kept->arena, NULL);
    if (qp_artifact_kind_of(artifact) != qp_artifact_kind_find("ninfer"))
        return QP_OK;
    qp_json_init(&json, NULL);
    if (qp_json_parse(&json, directory, size, NULL) == QP_OK &&
        qp_json_find(qp_json_root(&json), "bindings", &bindings))
        status = keep_bindings(artifact, kept, bindings, error);
    qp_json_free(&json);
    return status;
}

void qp_kept_parameters_free(qp_kept_parameters *kept)
{
    qp_arena_free(&kept->arena);
    kept->of = NULL;
}
