/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_write.c - the layout of a .ninfer artifact: its directory, placement and continuation
 * files (artifact-container.md sections 2, 3 and 6).
 *
 * A .ninfer source's components, resources, uses and metadata are kept as they are. Of another
 * source the metadata become the config of one component, text.
 *
 * artifact_id (OURS) is the first 16 bytes of the SHA-256 over the logical payload, gaps included,
 * and then the json_bytes bytes of the directory as they stand, its blanks included. convert.c puts
 * it in when the payload has been written.
 */
#include "artifact/ninfer_directory.h"
#include "artifact/plan.h"

#include <stdio.h>

#define TENSOR_ALIGNMENT 256

/* ---- components and metadata ----------------------------------------------------------------- */

static void append_text(qp_buffer *out, const char *text)
{
    qp_buffer_json_string(out, text, strlen(text));
}

static const qp_weight_source *first_source(const qp_convert_plan *plan)
{
    return &plan->sources[0]->source;
}

/* A member of the source's directory as it stands; false where there is none. */
static bool append_own(const qp_convert_plan *plan, const char *name, qp_buffer *out)
{
    const qp_weight_source *source = first_source(plan);
    qp_json_value value;
    const char *text;
    size_t length;
    if (!source->has_directory || !qp_json_find(qp_json_root(&source->json), name, &value))
        return false;
    qp_json_source(value, &text, &length);
    qp_buffer_append(out, text, length);
    return true;
}

static void append_components(const qp_convert_plan *plan, qp_buffer *out)
{
    if (append_own(plan, "components", out))
        return;
    qp_buffer_text(out, "{\"text\":{\"config\":{");
    for (size_t i = 0; i < plan->metadata.count; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        qp_buffer_text(out, i > 0 ? "," : "");
        append_text(out, entry->key);
        qp_buffer_text(out, ":");
        qp_metadata_append_json(entry, out);
    }
    qp_buffer_text(out, "}}}");
}

/* Begins a member of an object whose first one is still to come while `*comma` is "". */
static void begin_member(qp_buffer *out, const char **comma, const char *name)
{
    qp_buffer_text(out, *comma);
    append_text(out, name);
    qp_buffer_text(out, ":");
    *comma = ",";
}

static void append_value_types(const qp_convert_plan *plan, const char **comma, qp_buffer *out)
{
    const char *inner = "";
    if (plan->metadata.count == 0)
        return;
    begin_member(out, comma, "value_types");
    qp_buffer_text(out, "{");
    for (size_t i = 0; i < plan->metadata.count; i++) {
        char type[QP_METADATA_TYPE_SIZE];
        if (plan->metadata.entries[i].type == QP_META_JSON)
            continue;
        qp_metadata_type_name(&plan->metadata.entries[i], type);
        begin_member(out, &inner, plan->metadata.entries[i].key);
        append_text(out, type);
    }
    qp_buffer_text(out, "}");
}

static void append_shape(qp_buffer *out, uint32_t rank, const uint64_t *shape)
{
    qp_buffer_text(out, "[");
    for (uint32_t i = 0; i < rank; i++) {
        qp_buffer_text(out, i > 0 ? "," : "");
        qp_buffer_u64_decimal(out, shape[i]);
    }
    qp_buffer_text(out, "]");
}

static const qp_plan_parameter *binding_of(const qp_convert_plan *plan, size_t index)
{
    return &plan->parameters[plan->parameters[index].share];
}

/* Whether the parameter is bound to a whole tensor, whose shape is its own. */
static bool is_whole(const qp_convert_plan *plan, size_t index)
{
    const qp_parameter *source = plan->parameters[index].source;
    const qp_plan_parameter *bound = binding_of(plan, index);
    return bound->is_whole && bound->source->rank == source->rank &&
           memcmp(bound->source->shape, source->shape, source->rank * sizeof source->shape[0]) == 0;
}

/* Whether a reader would take the parts for this shape: rows of matrices, or a vector. */
static bool shape_is_told(const qp_convert_plan *plan, size_t index)
{
    const qp_parameter *source = plan->parameters[index].source;
    const qp_plan_parameter *bound = binding_of(plan, index);
    bool has_rows = true;
    for (size_t i = 0; i < bound->n_parts; i++) {
        const qp_plan_part *part = &bound->parts[i];
        const qp_plan_object *object = &plan->objects[part->object];
        uint64_t columns = object->target.columns;
        has_rows = has_rows && object->rank == 2 &&
                   columns == plan->objects[bound->parts[0].object].target.columns &&
                   part->begin % columns == 0 && part->end % columns == 0;
    }
    if (has_rows)
        return source->rank == 2 &&
               source->columns == plan->objects[bound->parts[0].object].target.columns;
    return source->rank == 1;
}

static void append_shapes(const qp_convert_plan *plan, const char **comma, qp_buffer *out)
{
    const char *inner = "";
    for (size_t i = 0; i < plan->n_parameters; i++) {
        const qp_parameter *source = plan->parameters[i].source;
        if (source->is_auxiliary || binding_of(plan, i)->n_parts == 0 || is_whole(plan, i) ||
            shape_is_told(plan, i))
            continue;
        if (inner[0] == '\0') {
            begin_member(out, comma, "parameter_shapes");
            qp_buffer_text(out, "{");
        }
        begin_member(out, &inner, source->name);
        append_shape(out, source->rank, source->shape);
    }
    qp_buffer_text(out, inner[0] != '\0' ? "}" : "");
}

/* The members of a .ninfer source's metadata that are not made anew. */
static void append_own_metadata(const qp_convert_plan *plan, const char **comma, qp_buffer *out)
{
    qp_json_value object, name, value;
    if (!qp_json_find(qp_json_root(&first_source(plan)->json), "metadata", &object))
        return;
    qp_json_iterator iterator = qp_json_iterate(object);
    while (qp_json_next_member(&iterator, &name, &value)) {
        const char *text;
        size_t length;
        if (qp_json_equals(name, "parameter_shapes") || qp_json_equals(name, "name"))
            continue;
        qp_buffer_text(out, *comma);
        qp_json_source(name, &text, &length);
        qp_buffer_append(out, text, length);
        qp_buffer_text(out, ":");
        qp_json_source(value, &text, &length);
        qp_buffer_append(out, text, length);
        *comma = ",";
    }
}

static void append_metadata(const qp_convert_plan *plan, qp_buffer *out)
{
    const char *name = plan->options.name != NULL ? plan->options.name : plan->metadata.name;
    const char *comma = "";
    qp_buffer_text(out, "{");
    if (name != NULL && name[0] != '\0') {
        begin_member(out, &comma, "name");
        append_text(out, name);
    }
    if (first_source(plan)->has_directory)
        append_own_metadata(plan, &comma, out);
    else
        append_value_types(plan, &comma, out);
    append_shapes(plan, &comma, out);
    qp_buffer_text(out, "}");
}

/* ---- objects, bindings, uses ----------------------------------------------------------------- */

static void append_number(qp_buffer *out, const char *name, uint64_t number)
{
    qp_buffer_format(out, ",\"%s\":", name);
    qp_buffer_u64_decimal(out, number);
}

static void append_tensor(const qp_plan_object *object, qp_buffer *out)
{
    qp_buffer_text(out, "{\"id\":");
    append_text(out, object->name);
    qp_buffer_text(out, ",\"shape\":");
    append_shape(out, object->rank, object->shape);
    qp_buffer_text(out, ",\"format\":");
    append_text(out, object->target.format->name);
    qp_buffer_text(out, ",\"layout\":");
    append_text(out, object->target.layout->name);
    append_number(out, "offset", object->at[0]);
    append_number(out, "bytes", object->target.bytes);
    if (object->target.divisors > 1)
        append_number(out, "divisors", object->target.divisors);
    qp_buffer_text(out, ",\"kind\":\"tensor\"}");
}

static void append_resource(const qp_artifact_resource *resource, uint64_t offset, qp_buffer *out)
{
    qp_buffer_text(out, "{\"id\":");
    append_text(out, resource->id);
    qp_buffer_text(out, ",\"encoding\":");
    append_text(out, resource->encoding);
    append_number(out, "offset", offset);
    append_number(out, "bytes", resource->bytes);
    qp_buffer_text(out, ",\"kind\":\"resource\"}");
}

static void append_objects(const qp_convert_plan *plan, qp_buffer *out)
{
    size_t count;
    const qp_artifact_resource *resources =
        qp_artifact_resources(first_source(plan)->artifact, &count);
    const char *comma = "";
    uint64_t offset = 0;
    qp_buffer_text(out, "[");
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(out, comma);
        append_resource(&resources[i], offset, out);
        offset += resources[i].bytes;
        comma = ",";
    }
    for (size_t i = 0; i < plan->n_objects; i++) {
        qp_buffer_text(out, comma);
        append_tensor(&plan->objects[i], out);
        comma = ",";
    }
    qp_buffer_text(out, "]");
}

static void append_whole(const qp_plan_object *object, qp_buffer *out)
{
    qp_buffer_text(out, "{\"object\":");
    append_text(out, object->name);
    qp_buffer_text(out, "}");
}

static void append_binding(const qp_convert_plan *plan, size_t index, qp_buffer *out)
{
    const qp_plan_parameter *bound = binding_of(plan, index);
    if (is_whole(plan, index)) {
        append_whole(&plan->objects[bound->parts[0].object], out);
        return;
    }
    qp_buffer_text(out, "{\"parts\":[");
    for (size_t i = 0; i < bound->n_parts; i++) {
        const qp_plan_part *part = &bound->parts[i];
        qp_buffer_text(out, i > 0 ? ",{\"object\":" : "{\"object\":");
        append_text(out, plan->objects[part->object].name);
        qp_buffer_text(out, ",\"range\":[");
        qp_buffer_u64_decimal(out, part->begin);
        qp_buffer_text(out, ",");
        qp_buffer_u64_decimal(out, part->end);
        qp_buffer_text(out, "]}");
    }
    qp_buffer_text(out, "]}");
}

static void append_bindings(const qp_convert_plan *plan, qp_buffer *out)
{
    const char *comma = "";
    qp_buffer_text(out, "{");
    for (size_t i = 0; i < plan->n_parameters; i++) {
        if (plan->parameters[i].source->is_auxiliary || binding_of(plan, i)->n_parts == 0)
            continue;
        begin_member(out, &comma, plan->parameters[i].source->name);
        append_binding(plan, i, out);
    }
    qp_buffer_text(out, "}");
}

static void append_use(const qp_convert_plan *plan, const qp_plan_use *use, qp_buffer *out)
{
    const char *comma = "";
    qp_buffer_text(out, "{\"parameter\":");
    append_text(out, plan->parameters[use->parameter].source->name);
    qp_buffer_text(out, ",\"input\":");
    append_text(out, use->input);
    if (use->policy != NULL) {
        qp_buffer_text(out, ",\"activation_policy\":");
        append_text(out, use->policy);
    }
    for (size_t i = 0; i < use->count; i++) {
        const qp_plan_auxiliary *auxiliary = &use->auxiliaries[i];
        qp_buffer_text(out, i == 0 ? ",\"auxiliaries\":{" : "");
        begin_member(out, &comma, auxiliary->role);
        if (auxiliary->object != SIZE_MAX)
            append_whole(&plan->objects[auxiliary->object], out);
        else
            append_binding(plan, auxiliary->parameter, out);
    }
    qp_buffer_text(out, use->count > 0 ? "}}" : "}");
}

static void append_uses(const qp_convert_plan *plan, qp_buffer *out)
{
    const char *comma = "";
    qp_buffer_text(out, "[");
    for (size_t i = 0; i < plan->n_uses; i++) {
        if (binding_of(plan, plan->uses[i].parameter)->n_parts == 0)
            continue;
        qp_buffer_text(out, comma);
        append_use(plan, &plan->uses[i], out);
        comma = ",";
    }
    qp_buffer_text(out, "]");
}

/* ---- the directory --------------------------------------------------------------------------- */

/* How the payload is divided: `entry` bytes in the entry, `part` in each continuation but the last.
 */
typedef struct division {
    uint64_t entry, part;
    size_t count; /* files */
} division;

static uint64_t payload_of(const qp_convert_plan *plan, const division *d, size_t file)
{
    uint64_t before = file == 0 ? 0 : d->entry + (file - 1) * d->part;
    uint64_t room = file == 0 ? d->entry : d->part;
    uint64_t left = plan->payload_bytes - before;
    return left < room ? left : room;
}

static void append_file_name(const qp_convert_plan *plan, size_t file, qp_buffer *out)
{
    qp_buffer_format(out, "%s.part-%04zu", qp_path_file_name(plan->output), file);
}

static void append_files(const qp_convert_plan *plan, const division *d, qp_buffer *out)
{
    qp_buffer_text(out, "[");
    for (size_t i = 0; i < d->count; i++) {
        qp_buffer name;
        qp_buffer_init(&name, &plan->allocator);
        append_file_name(plan, i, &name);
        qp_buffer_text(out, i > 0 ? ",{\"path\":" : "{\"path\":");
        if (i == 0)
            qp_buffer_text(out, "null");
        else
            qp_buffer_json_string(out, (const char *)name.bytes, name.size);
        append_number(out, "payload_bytes", payload_of(plan, d, i));
        qp_buffer_text(out, "}");
        out->failed = out->failed || name.failed;
        qp_buffer_free(&name);
    }
    qp_buffer_text(out, "]");
}

static void append_directory(const qp_convert_plan *plan, const division *d, qp_buffer *out)
{
    qp_buffer_text(out, "{\"components\":");
    append_components(plan, out);
    qp_buffer_text(out, ",\"objects\":");
    append_objects(plan, out);
    qp_buffer_text(out, ",\"bindings\":");
    append_bindings(plan, out);
    qp_buffer_text(out, ",\"uses\":");
    append_uses(plan, out);
    qp_buffer_text(out, ",\"metadata\":");
    append_metadata(plan, out);
    qp_buffer_text(out, ",\"provenance\":");
    qp_plan_provenance(plan, out);
    qp_buffer_text(out, ",\"files\":");
    append_files(plan, d, out);
    qp_buffer_text(out, "}");
}

/* ---- placement ------------------------------------------------------------------------------- */

static bool align_up(uint64_t *value, uint64_t step)
{
    uint64_t more = (step - *value % step) % step;
    return qp_add_u64(*value, more, value);
}

/* Section 6, steps 1 and 2: resources, weights, auxiliaries. */
static qp_status place_objects(qp_convert_plan *plan, qp_error *error)
{
    size_t count;
    const qp_artifact_resource *resources =
        qp_artifact_resources(first_source(plan)->artifact, &count);
    uint64_t end = 0;
    bool fits = true;
    for (size_t i = 0; i < count; i++)
        fits = fits && qp_add_u64(end, resources[i].bytes, &end);
    plan->resource_bytes = end;
    for (size_t i = 0; i < plan->n_objects && fits; i++) {
        qp_plan_object *object = &plan->objects[i];
        fits = align_up(&end, TENSOR_ALIGNMENT);
        object->at[0] = end;
        object->bytes = object->target.bytes;
        fits = fits && qp_add_u64(end, object->bytes, &end);
    }
    plan->payload_bytes = end;
    if (!fits)
        return qp_fail(error, QP_TOO_LARGE, "the tensors take 2^64 bytes or more");
    if (plan->n_objects + count == 0)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "C-OBJECTS", -1,
                             "there is no tensor: a .ninfer artifact has at least one object");
    return QP_OK;
}

/* Section 6, step 4. `start` is where the entry's payload begins. */
static qp_status divide(const qp_convert_plan *plan, uint64_t start, division *d, qp_error *error)
{
    uint64_t limit = plan->options.max_file_bytes, whole;
    *d = (division){plan->payload_bytes, 0, 1};
    bool fits = qp_add_u64(start, plan->payload_bytes, &whole);
    if (limit == 0 || (fits && whole <= limit))
        return QP_OK;
    d->entry = limit > start ? (limit - start) / NINFER_PAYLOAD_STEP * NINFER_PAYLOAD_STEP : 0;
    d->part = limit > NINFER_PAYLOAD_STEP
                  ? (limit - NINFER_PAYLOAD_STEP) / NINFER_PAYLOAD_STEP * NINFER_PAYLOAD_STEP
                  : 0;
    if (d->entry == 0 || d->part == 0)
        return qp_fail_check(error, QP_MODEL_MISMATCH, "W-LIMIT", -1,
                             "a file may not be so small: the directory alone takes %llu bytes",
                             (unsigned long long)start);
    uint64_t rest = plan->payload_bytes - d->entry;
    uint64_t parts = rest / d->part + (rest % d->part != 0);
    if (parts >= SIZE_MAX / sizeof(qp_new_file))
        return qp_fail(error, QP_TOO_LARGE, "there would be too many files");
    d->count = (size_t)parts + 1;
    return QP_OK;
}

/* Steps 3 and 4: a reserve that holds the directory, whatever the division makes of it. */
static qp_status reserve_directory(const qp_convert_plan *plan, division *d, qp_buffer *json,
                                   uint64_t *reserve, qp_error *error)
{
    *d = (division){plan->payload_bytes, 0, 1};
    *reserve = 0;
    for (;;) {
        json->size = 0;
        append_directory(plan, d, json);
        if (json->failed)
            return qp_fail_memory(error, "the directory of an artifact");
        if (*reserve > 0 && json->size <= *reserve)
            return QP_OK;
        uint64_t end = NINFER_HEADER + (uint64_t)json->size;
        (void)align_up(&end, NINFER_PAYLOAD_STEP); /* of bytes in memory */
        *reserve = end - NINFER_HEADER;
        qp_status status = divide(plan, end, d, error);
        if (status != QP_OK)
            return status;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static qp_status set_entry(qp_convert_plan *plan, const qp_buffer *json, uint64_t reserve,
                           qp_error *error)
{
    static const uint8_t magic[] = {'N', 'I', 'N', 'F', 'E', 'R', 0, 3};
    qp_buffer head;
    qp_buffer_init(&head, &plan->allocator);
    qp_buffer_append(&head, magic, sizeof magic);
    qp_buffer_le(&head, reserve, 8);
    qp_buffer_le(&head, 0, 8);
    qp_buffer_le(&head, 0, 8);
    qp_buffer_append(&head, json->bytes, json->size);
    for (uint64_t i = json->size; i < reserve; i++)
        qp_buffer_text(&head, " ");
    return qp_plan_set_head(plan, 0, &head, error);
}

static qp_status set_continuation(qp_convert_plan *plan, size_t file, qp_error *error)
{
    static const uint8_t magic[] = {'N', 'I', 'N', 'P', 'R', 'T', 0, 3};
    qp_buffer head, name;
    qp_buffer_init(&head, &plan->allocator);
    qp_buffer_init(&name, &plan->allocator);
    qp_buffer_append(&head, magic, sizeof magic);
    qp_buffer_le(&head, file, 8);
    qp_buffer_le(&head, 0, 8);
    qp_buffer_le(&head, 0, 8);
    append_file_name(plan, file, &name);
    plan->files[file].name =
        name.failed ? NULL : qp_plan_keep(plan, (const char *)name.bytes, name.size);
    qp_buffer_free(&name);
    qp_status status = qp_plan_set_head(plan, file, &head, error);
    if (status == QP_OK && plan->files[file].name == NULL)
        status = qp_fail_memory(error, "the name of a file");
    return status;
}

static qp_status set_files(qp_convert_plan *plan, const division *d, const qp_buffer *json,
                           uint64_t reserve, qp_error *error)
{
    qp_status status = qp_plan_set_files(plan, d->count, error);
    if (status == QP_OK)
        status = set_entry(plan, json, reserve, error);
    uint64_t start = 0;
    for (size_t i = 0; i < d->count && status == QP_OK; i++) {
        uint64_t at = i == 0 ? NINFER_HEADER + reserve : NINFER_PAYLOAD_STEP;
        plan->runs[i] = (qp_plan_run){i, at, start, payload_of(plan, d, i)};
        plan->files[i].size = at + plan->runs[i].size;
        start += plan->runs[i].size;
        if (i > 0)
            status = set_continuation(plan, i, error);
    }
    return status;
}

static qp_status layout(qp_convert_plan *plan, qp_error *error)
{
    division d;
    qp_buffer json;
    uint64_t reserve = 0;
    qp_status status = place_objects(plan, error);
    if (status != QP_OK)
        return status;
    qp_buffer_init(&json, &plan->allocator);
    status = reserve_directory(plan, &d, &json, &reserve, error);
    if (status == QP_OK)
        status = set_files(plan, &d, &json, reserve, error);
    qp_buffer_free(&json);
    return status;
}

static bool holds(const qp_format *format)
{
    (void)format;
    return true;
}

static bool carries(const qp_artifact_metadatum *entry)
{
    (void)entry;
    return true;
}

/* An ID is not empty. */
static qp_status check(const qp_plan_object *object, qp_error *error)
{
    for (size_t i = 0; i < object->n_inputs; i++) {
        if (object->inputs[i].parameter->name[0] == '\0')
            return qp_fail_check(error, QP_MODEL_MISMATCH, "C-ID", -1,
                                 "a tensor without a name: .ninfer needs one");
    }
    return QP_OK;
}

const struct qp_artifact_kind_writer qp_ninfer_writer = {.holds = holds,
                                                         .has_bindings = true,
                                                         .has_id = true,
                                                         .divides = true,
                                                         .carries = carries,
                                                         .check = check,
                                                         .layout = layout};
