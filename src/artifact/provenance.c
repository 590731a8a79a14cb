/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provenance.c - how the values of a conversion arose, as JSON (artifact-container.md section 3.7).
 *
 *     {"converter": "quipu", "recipe": TEXT, "preset": TEXT,
 *      "sources": {NAME: {"path": NAME, "bytes": N, "fingerprint": HEX, "artifact_id": HEX,
 *                         "provenance": {...}}},
 *      "method": [{"method": NAME, "format": NAME, "from": TYPE, "negative_scales": true,
 *                  "imatrix": {"path": NAME, "sha256": HEX}, "objects": [ID, ...]}, ...]}
 *
 * `from` is the type of elements that a cast changes. An earlier provenance of a source is kept
 * under it; layers that only tell of copies give way to the ones below them.
 *
 * There is no time and no folder in it: paths are file names, also inside the recipe's text. The
 * fingerprint of a source is the SHA-256 over its files' bytes before their tensors and then the
 * first 4096 bytes of each tensor in the file's order; a .ninfer has its artifact_id instead. (A
 * digest of all bytes would take longer than the conversion.)
 */
#include "artifact/plan.h"

#include <stdio.h>

static void append_text(qp_buffer *out, const char *text)
{
    qp_buffer_json_string(out, text, strlen(text));
}

static void append_digest(qp_buffer *out, const uint8_t digest[QP_SHA256_SIZE])
{
    qp_buffer_text(out, "\"");
    qp_buffer_hex(out, digest, QP_SHA256_SIZE);
    qp_buffer_text(out, "\"");
}

/* ---- the recipe without folders -------------------------------------------------------------- */

static void append_value(qp_json_value value, bool is_path, qp_buffer *out);

static void append_string(qp_json_value value, bool is_path, qp_buffer *out)
{
    qp_buffer text;
    qp_buffer_init(&text, &out->allocator);
    qp_json_append_string(value, &text);
    qp_buffer_append(&text, "", 1);
    out->failed = out->failed || text.failed;
    if (!text.failed) {
        const char *whole = (const char *)text.bytes;
        if (is_path)
            append_text(out, qp_path_file_name(whole));
        else
            qp_buffer_json_string(out, whole, text.size - 1);
    }
    qp_buffer_free(&text);
}

static void append_members(qp_json_value object, qp_buffer *out)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    const char *comma = "";
    qp_buffer_text(out, "{");
    while (qp_json_next_member(&iterator, &name, &value)) {
        qp_buffer_text(out, comma);
        append_string(name, false, out);
        qp_buffer_text(out, ":");
        append_value(value, qp_json_equals(name, "source") || qp_json_equals(name, "imatrix"), out);
        comma = ",";
    }
    qp_buffer_text(out, "}");
}

/* Recursive: the reader has limited the depth. */
static void append_value(qp_json_value value, bool is_path, qp_buffer *out)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;
    const char *text, *comma = "";
    size_t length;
    if (qp_json_kind_of(value) == QP_JSON_OBJECT) {
        append_members(value, out);
    } else if (qp_json_kind_of(value) == QP_JSON_STRING) {
        append_string(value, is_path, out);
    } else if (qp_json_kind_of(value) == QP_JSON_ARRAY) {
        qp_buffer_text(out, "[");
        while (qp_json_next(&iterator, &element)) {
            qp_buffer_text(out, comma);
            append_value(element, false, out);
            comma = ",";
        }
        qp_buffer_text(out, "]");
    } else {
        qp_json_source(value, &text, &length);
        qp_buffer_append(out, text, length);
    }
}

static void append_recipe(const qp_convert_plan *plan, qp_buffer *out)
{
    qp_json json;
    qp_buffer text;
    qp_json_init(&json, &plan->allocator);
    qp_buffer_init(&text, &plan->allocator);
    if (qp_json_parse(&json, plan->options.recipe, plan->options.recipe_size, NULL) == QP_OK)
        append_value(qp_json_root(&json), false, &text);
    else
        text.failed = true; /* it has been read before, so memory is what lacks */
    qp_buffer_text(out, ",\"recipe\":");
    qp_buffer_json_string(out, (const char *)text.bytes, text.size);
    out->failed = out->failed || text.failed;
    qp_buffer_free(&text);
    qp_json_free(&json);
}

/* ---- sources --------------------------------------------------------------------------------- */

static const char *name_of(const qp_plan_source *source)
{
    return qp_path_file_name(source->source.artifact->path);
}

/* A file name that an earlier source has gets a number. */
static void append_source_name(const qp_convert_plan *plan, size_t index, qp_buffer *out)
{
    size_t number = 1;
    const char *name = name_of(plan->sources[index]);
    for (size_t i = 0; i < index; i++)
        number += strcmp(name_of(plan->sources[i]), name) == 0;
    if (number == 1) {
        append_text(out, name);
        return;
    }
    qp_buffer numbered;
    qp_buffer_init(&numbered, &out->allocator);
    qp_buffer_format(&numbered, "%s (%zu)", name, number);
    qp_buffer_json_string(out, (const char *)numbered.bytes, numbered.size);
    out->failed = out->failed || numbered.failed;
    qp_buffer_free(&numbered);
}

/* Whether a method of the list makes other values than it read. */
static bool has_quantizer(qp_json_value methods)
{
    qp_json_iterator iterator = qp_json_iterate(methods);
    qp_json_value entry, name, from;
    while (qp_json_next(&iterator, &entry)) {
        if (!qp_json_find(entry, "method", &name) || qp_json_find(entry, "from", &from) ||
            (!qp_json_equals(name, "import_encoded") && !qp_json_equals(name, "cast_direct")))
            return true;
    }
    return false;
}

/* Whether a provenance is our own and tells of nothing but copies. */
static bool tells_of_copies(qp_json_value provenance)
{
    qp_json_value converter, methods;
    return qp_json_find(provenance, "converter", &converter) &&
           qp_json_equals(converter, "quipu") && qp_json_find(provenance, "method", &methods) &&
           !has_quantizer(methods);
}

/* The provenance of its one source; QP_JSON_NO_VALUE without one. */
static qp_json_value layer_below(qp_json_value provenance)
{
    qp_json_value sources, name, source, below = QP_JSON_NO_VALUE;
    if (!qp_json_find(provenance, "sources", &sources) || qp_json_count(sources) != 1)
        return QP_JSON_NO_VALUE;
    qp_json_iterator iterator = qp_json_iterate(sources);
    (void)qp_json_next_member(&iterator, &name, &source);
    (void)qp_json_find(source, "provenance", &below);
    return below;
}

/* The source's own provenance without layers that only copied. One that is no JSON, as a GGUF file
 * may hold it, is a string. Nothing is appended where all is copies and `copies` is false. */
static void append_layers(const qp_convert_plan *plan, const char *before, bool copies,
                          qp_buffer *out)
{
    const qp_metadata *metadata = &plan->metadata;
    qp_json json;
    const char *text = NULL;
    size_t length;
    if (metadata->provenance == NULL)
        return;
    qp_json_init(&json, &plan->allocator);
    qp_status status = qp_json_parse(&json, metadata->provenance, metadata->provenance_size, NULL);
    qp_json_value layer = qp_json_root(&json), below;
    while (tells_of_copies(layer) && qp_json_kind_of(below = layer_below(layer)) == QP_JSON_OBJECT)
        layer = below;
    bool is_kept = copies || status != QP_OK || !tells_of_copies(layer);
    qp_json_source(layer, &text, &length);
    if (is_kept)
        qp_buffer_text(out, before);
    if (is_kept && text != NULL)
        qp_buffer_append(out, text, length);
    else if (is_kept)
        qp_buffer_json_string(out, (const char *)metadata->provenance, metadata->provenance_size);
    out->failed = out->failed || json.fault == QP_JSON_FAULT_MEMORY;
    qp_json_free(&json);
}

static uint64_t bytes_of(const qp_artifact *artifact)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < artifact->n_files; i++)
        bytes += artifact->files[i].file.size;
    return bytes;
}

static void append_sources(const qp_convert_plan *plan, qp_buffer *out)
{
    qp_buffer_text(out, ",\"sources\":{");
    for (size_t i = 0; i < plan->n_sources; i++) {
        const qp_plan_source *source = plan->sources[i];
        const uint8_t *id = qp_artifact_id(source->source.artifact);
        qp_buffer_text(out, i > 0 ? "," : "");
        append_source_name(plan, i, out);
        qp_buffer_text(out, ":{\"path\":");
        append_text(out, name_of(source));
        qp_buffer_text(out, ",\"bytes\":");
        qp_buffer_u64_decimal(out, bytes_of(source->source.artifact));
        if (id != NULL) {
            qp_buffer_text(out, ",\"artifact_id\":\"");
            qp_buffer_hex(out, id, QP_ARTIFACT_ID_SIZE);
            qp_buffer_text(out, "\"");
        } else {
            qp_buffer_text(out, ",\"fingerprint\":");
            append_digest(out, source->fingerprint);
        }
        if (i == 0)
            append_layers(plan, ",\"provenance\":", true, out);
        qp_buffer_text(out, "}");
    }
    qp_buffer_text(out, "}");
}

/* ---- methods --------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const char *importance_of(const qp_plan_object *object)
{
    return object->job.importance != NULL ? object->imatrix : NULL;
}

const char *qp_plan_cast_from(const qp_plan_object *object)
{
    const qp_element *element = object->job.element;
    if (object->job.method == NULL || object->job.method->input != QP_INPUT_ELEMENTS)
        return NULL;
    if (object->as_values)
        return "values";
    bool is_same =
        element->format != NULL && strcmp(element->format, object->target.format->name) == 0;
    return is_same ? NULL : element->name;
}

static bool same_method(const qp_plan_object *a, const qp_plan_object *b)
{
    return a->job.method == b->job.method && a->target.format == b->target.format &&
           a->job.negative_scales == b->job.negative_scales &&
           same_text(importance_of(a), importance_of(b)) &&
           same_text(qp_plan_cast_from(a), qp_plan_cast_from(b));
}

static void append_importance(const qp_convert_plan *plan, const char *path, qp_buffer *out)
{
    for (size_t i = 0; i < plan->n_imatrices; i++) {
        if (strcmp(plan->imatrices[i].path, path) != 0)
            continue;
        qp_buffer_text(out, ",\"imatrix\":{\"path\":");
        append_text(out, qp_path_file_name(path));
        qp_buffer_text(out, ",\"sha256\":");
        append_digest(out, plan->imatrices[i].digest);
        qp_buffer_text(out, "}");
    }
}

/* The objects from `first` on that were made as it was. */
static void append_method(const qp_convert_plan *plan, size_t first, qp_buffer *out)
{
    const qp_plan_object *object = &plan->objects[first];
    const char *comma = "";
    qp_buffer_text(out, "{\"method\":");
    append_text(out, object->job.method->name);
    qp_buffer_text(out, ",\"format\":");
    append_text(out, object->target.format->name);
    if (qp_plan_cast_from(object) != NULL) {
        qp_buffer_text(out, ",\"from\":");
        append_text(out, qp_plan_cast_from(object));
    }
    if (object->job.negative_scales)
        qp_buffer_text(out, ",\"negative_scales\":true");
    if (importance_of(object) != NULL)
        append_importance(plan, importance_of(object), out);
    qp_buffer_text(out, ",\"objects\":[");
    for (size_t i = first; i < plan->n_objects; i++) {
        if (plan->objects[i].n_inputs == 0 || !same_method(object, &plan->objects[i]))
            continue;
        qp_buffer_text(out, comma);
        append_text(out, plan->objects[i].name);
        comma = ",";
    }
    qp_buffer_text(out, "]}");
}

/* The first object of each way is found by a list of them, which is short: methods times formats
 * times importance files. */
static void append_methods(const qp_convert_plan *plan, qp_buffer *out)
{
    size_t *firsts = NULL, count = 0, capacity = 0;
    qp_buffer_text(out, ",\"method\":[");
    for (size_t i = 0; i < plan->n_objects; i++) {
        bool is_new = plan->objects[i].n_inputs > 0;
        for (size_t k = 0; k < count && is_new; k++)
            is_new = !same_method(&plan->objects[firsts[k]], &plan->objects[i]);
        if (!is_new)
            continue;
        void *grown = qp_table_grow(&plan->allocator, firsts, &capacity, count, sizeof *firsts);
        if (grown == NULL) {
            out->failed = true;
            break;
        }
        firsts = grown;
        firsts[count++] = i;
        qp_buffer_text(out, count > 1 ? "," : "");
        append_method(plan, i, out);
    }
    qp_buffer_text(out, "]");
    qp_release(&plan->allocator, firsts, capacity, sizeof *firsts);
}

/* ---- all ------------------------------------------------------------------------------------- */

void qp_plan_provenance(const qp_convert_plan *plan, qp_buffer *out)
{
    qp_buffer_text(out, "{\"converter\":\"quipu\"");
    if (plan->options.recipe != NULL)
        append_recipe(plan, out);
    if (plan->options.preset != NULL) {
        qp_buffer_text(out, ",\"preset\":");
        append_text(out, plan->options.preset);
    }
    append_sources(plan, out);
    append_methods(plan, out);
    qp_buffer_text(out, "}");
}

void qp_plan_flat_provenance(const qp_convert_plan *plan, qp_buffer *out)
{
    if (plan->computes)
        qp_plan_provenance(plan, out);
    else
        append_layers(plan, "", false, out);
}
