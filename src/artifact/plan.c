/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - making a plan: the sources, the recipe's steps over parameters, and then what the other
 * files of the plan make of them.
 */
#include "artifact/plan.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- small things ---------------------------------------------------------------------------- */

const char *qp_plan_keep(qp_convert_plan *plan, const char *text, size_t length)
{
    char *copy = qp_arena_allocate(&plan->arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

bool qp_choice_equal(const qp_choice *a, const qp_choice *b)
{
    const char *const texts[][2] = {
        {a->method, b->method}, {a->source, b->source}, {a->imatrix, b->imatrix}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bool one = texts[i][0] == NULL, other = texts[i][1] == NULL;
        if (one != other || (!one && strcmp(texts[i][0], texts[i][1]) != 0))
            return false;
    }
    return a->format == b->format && a->layout == b->layout &&
           a->negative_scales == b->negative_scales;
}

const qp_method *qp_plan_method_named(const qp_convert_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->options.n_methods; i++) {
        const qp_method *method = plan->options.methods[i];
        if (method != NULL && method->name != NULL && strcmp(method->name, name) == 0)
            return method;
    }
    return qp_method_find(name);
}

/* ---- sources and importance ------------------------------------------------------------------ */

/* Where a file's tensors begin; its end where it has none, as an index of shards. */
static uint64_t head_of(const qp_artifact *artifact, size_t file)
{
    uint64_t head = artifact->files[file].file.size;
    for (size_t i = 0; i < artifact->n_tensors; i++) {
        const qp_artifact_tensor *tensor = &artifact->tensors[i];
        if (tensor->file == file && tensor->offset < head)
            head = tensor->offset;
    }
    return head;
}

/* SHA-256 over what stands before the tensors in each file, and the beginning of each tensor. */
static void take_fingerprint(const qp_artifact *artifact, uint8_t digest[QP_SHA256_SIZE])
{
    qp_sha256 hash;
    qp_sha256_init(&hash);
    for (size_t i = 0; i < artifact->n_files; i++)
        qp_sha256_update(&hash, artifact->files[i].file.bytes, (size_t)head_of(artifact, i));
    for (size_t i = 0; i < artifact->n_tensors; i++) {
        const qp_artifact_tensor *tensor = &artifact->tensors[i];
        uint8_t beginning[QP_FINGERPRINT_BYTES];
        uint64_t size = tensor->bytes < sizeof beginning ? tensor->bytes : sizeof beginning;
        qp_artifact_copy(artifact, tensor, 0, size, beginning);
        qp_sha256_update(&hash, beginning, (size_t)size);
    }
    qp_sha256_final(&hash, digest);
}

static qp_status add_source(qp_convert_plan *plan, qp_artifact *artifact, const char *path,
                            qp_error *error)
{
    void *grown = qp_table_grow(&plan->allocator, plan->sources, &plan->source_capacity,
                                plan->n_sources, sizeof *plan->sources);
    if (grown == NULL)
        return qp_fail_memory(error, "the sources of a plan");
    plan->sources = grown;
    qp_plan_source *source = qp_arena_allocate(&plan->arena, 1, sizeof *source);
    if (source == NULL)
        return qp_fail_memory(error, "the sources of a plan");
    plan->sources[plan->n_sources] = source;
    source->path = path;
    qp_status status = QP_OK;
    if (artifact == NULL) {
        status = qp_artifact_open(path, &plan->allocator, &source->opened, error);
        artifact = source->opened;
    }
    if (status == QP_OK)
        status = qp_weight_source_open(artifact, &plan->allocator, &source->source, error);
    if (status != QP_OK) {
        qp_artifact_close(source->opened);
        return status;
    }
    if (qp_artifact_id(artifact) == NULL)
        take_fingerprint(artifact, source->fingerprint);
    plan->n_sources++;
    return QP_OK;
}

qp_status qp_plan_source_of(qp_convert_plan *plan, const qp_choice *choice, size_t *index,
                            qp_error *error)
{
    *index = 0;
    if (choice->source == NULL)
        return QP_OK;
    for (*index = 1; *index < plan->n_sources; ++*index) {
        if (strcmp(plan->sources[*index]->path, choice->source) == 0)
            return QP_OK;
    }
    return add_source(plan, NULL, choice->source, error);
}

/* The digest of a whole file, for provenance. */
static qp_status digest_file(const qp_convert_plan *plan, const char *path,
                             uint8_t digest[QP_SHA256_SIZE], qp_error *error)
{
    qp_file file;
    qp_sha256 hash;
    qp_status status = qp_file_open(path, &plan->allocator, &file, error);
    if (status != QP_OK)
        return status;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, file.bytes, file.size);
    qp_sha256_final(&hash, digest);
    qp_file_close(&file);
    return QP_OK;
}

qp_status qp_plan_imatrix_of(qp_convert_plan *plan, const char *path, qp_plan_imatrix **imatrix,
                             qp_error *error)
{
    for (size_t i = 0; i < plan->n_imatrices; i++) {
        *imatrix = &plan->imatrices[i];
        if (strcmp((*imatrix)->path, path) == 0)
            return QP_OK;
    }
    void *grown = qp_table_grow(&plan->allocator, plan->imatrices, &plan->imatrix_capacity,
                                plan->n_imatrices, sizeof *plan->imatrices);
    if (grown == NULL)
        return qp_fail_memory(error, "the importance of a plan");
    plan->imatrices = grown;
    *imatrix = &plan->imatrices[plan->n_imatrices];
    **imatrix = (qp_plan_imatrix){.path = path};
    qp_status status = digest_file(plan, path, (*imatrix)->digest, error);
    if (status == QP_OK)
        status = qp_imatrix_open(path, &plan->allocator, &(*imatrix)->imatrix, error);
    plan->n_imatrices += status == QP_OK;
    if (status != QP_OK && error != NULL && strstr(error->message, path) == NULL)
        qp_artifact_name_error(error, path);
    return status;
}

/* The file that the options name, before any tensor is looked at: what is wrong with it is no
 * tensor's fault. */
static qp_status open_importance(qp_convert_plan *plan, qp_error *error)
{
    qp_plan_imatrix *imatrix;
    if (plan->options.imatrix == NULL)
        return QP_OK;
    return qp_plan_imatrix_of(plan, plan->options.imatrix, &imatrix, error);
}

/* A file that knows none of the parameters was made for other names. */
static qp_status check_importance(const qp_convert_plan *plan, qp_error *error)
{
    for (size_t i = 0; i < plan->n_imatrices; i++) {
        const qp_plan_imatrix *imatrix = &plan->imatrices[i];
        if (imatrix->asked > 0 && imatrix->found == 0)
            return qp_fail_check(error, QP_MODEL_MISMATCH, "importance_names", -1,
                                 "%.100s knows none of the %zu parameters that its importance is "
                                 "for: it has other names",
                                 imatrix->path, imatrix->asked);
    }
    return QP_OK;
}

void qp_convert_plan_importance(const qp_convert_plan *plan, size_t *found, size_t *asked)
{
    *found = *asked = 0;
    for (size_t i = 0; i < plan->n_imatrices; i++) {
        *found += plan->imatrices[i].found;
        *asked += plan->imatrices[i].asked;
    }
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Whether rows of two parts can be converted as one: their encoding is the same. */
static bool same_encoding(const qp_weight_source_part *a, const qp_weight_source_part *b)
{
    return a->element == b->element && a->rules == b->rules &&
           (a->encoding == NULL) == (b->encoding == NULL) &&
           (a->encoding == NULL || strcmp(a->encoding, b->encoding) == 0);
}

/* Segments begin where the encoding of the source changes, if that is at a row. */
static qp_status first_segments(qp_convert_plan *plan, qp_plan_parameter *parameter,
                                qp_error *error)
{
    const qp_parameter *source = parameter->source;
    size_t most = source->n_parts > 0 ? source->n_parts : 1;
    parameter->segments = qp_arena_allocate(&plan->arena, most, sizeof *parameter->segments);
    if (parameter->segments == NULL)
        return qp_fail_memory(error, "the rows of a parameter");
    for (size_t i = 0; i < source->n_parts; i++) {
        const qp_weight_source_part *part = &source->parts[i];
        bool begins =
            i == 0 || (!same_encoding(part, &part[-1]) && part->at % source->columns == 0);
        if (!begins)
            continue;
        if (i > 0)
            parameter->segments[parameter->n_segments - 1].end = part->at / source->columns;
        parameter->segments[parameter->n_segments++] =
            (qp_segment){.begin = part->at / source->columns, .end = source->rows};
    }
    return QP_OK;
}

static qp_status list_parameters(qp_convert_plan *plan, qp_error *error)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    plan->parameters = qp_arena_allocate(&plan->arena, source->count, sizeof *plan->parameters);
    if (plan->parameters == NULL)
        return qp_fail_memory(error, "the parameters of a plan");
    plan->n_parameters = source->count;
    qp_status status = QP_OK;
    for (size_t i = 0; i < source->count && status == QP_OK; i++) {
        const qp_parameter *parameter = &source->parameters[i];
        status = qp_parameter_check_read(source->artifact, parameter, error);
        if (status != QP_OK)
            break;
        plan->parameters[i] = (qp_plan_parameter){.source = parameter, .group = QP_NO_GROUP};
        plan->parameters[i].share = parameter->same != NULL && plan->writer->has_bindings
                                        ? (size_t)(parameter->same - source->parameters)
                                        : i;
        status = first_segments(plan, &plan->parameters[i], error);
    }
    return status;
}

static qp_status read_recipe(qp_convert_plan *plan, qp_error *error)
{
    const qp_convert_options *options = &plan->options;
    qp_status status = QP_OK;
    if (options->preset != NULL)
        status = qp_recipe_read_preset(&plan->recipe, options->preset, error);
    if (status == QP_OK && options->recipe != NULL)
        status = qp_recipe_read(&plan->recipe, options->recipe, options->recipe_size, error);
    return status;
}

/* ---- what is listed -------------------------------------------------------------------------- */

static qp_status list_items(qp_convert_plan *plan, qp_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->n_objects; i++)
        count += plan->objects[i].n_inputs;
    plan->items = qp_arena_allocate(&plan->arena, count, sizeof *plan->items);
    if (plan->items == NULL)
        return qp_fail_memory(error, "the items of a plan");
    for (size_t i = 0; i < plan->n_objects; i++) {
        qp_plan_object *object = &plan->objects[i];
        object->job.target = &object->target; /* the table has stopped moving */
        for (size_t k = 0; k < object->n_inputs; k++) {
            const qp_plan_input *input = &object->inputs[k];
            const qp_parameter *parameter = input->parameter;
            double share_of = (double)input->elements / (double)parameter->elements;
            plan->items[plan->n_items++] = (qp_plan_item){
                .parameter = parameter->name,
                .first_row = input->begin / parameter->columns,
                .rows = input->elements / parameter->columns,
                .source_type = parameter->type,
                .method = object->job.method,
                .target = object->target,
                .object = object->name,
                .source_bytes = (uint64_t)((double)parameter->bytes * share_of),
            };
        }
    }
    return QP_OK;
}

/* What a kind of file without components, uses and resources leaves behind. */
static qp_status list_lost(qp_convert_plan *plan, qp_error *error)
{
    qp_status status = QP_OK;
    size_t count;
    const qp_artifact_resource *resources =
        qp_artifact_resources(plan->sources[0]->source.artifact, &count);
    for (size_t i = 0; i < count && !plan->writer->has_bindings && status == QP_OK; i++)
        status = qp_metadata_lose(&plan->metadata, resources[i].id, error);
    for (size_t i = 0; i < plan->metadata.count && status == QP_OK; i++) {
        const qp_artifact_metadatum *entry = &plan->metadata.entries[i];
        if (!plan->writer->carries(entry))
            status = qp_metadata_lose(&plan->metadata, entry->key, error);
    }
    if (status == QP_OK && plan->n_uses > 0 && !plan->writer->has_bindings)
        status = qp_metadata_lose(&plan->metadata, "uses", error);
    for (size_t i = 0; i < plan->n_parameters && status == QP_OK; i++) {
        const qp_parameter *parameter = plan->parameters[i].source;
        bool is_lost =
            parameter->elements == 0 || (parameter->is_auxiliary && !plan->writer->has_bindings);
        if (is_lost)
            status = qp_metadata_lose(&plan->metadata, parameter->name, error);
    }
    return status;
}

/* ---- files -----------------------------------------------------------------------------------
 */

static void free_heads(qp_convert_plan *plan)
{
    for (size_t i = 0; i < plan->n_files; i++)
        qp_release(&plan->allocator, plan->heads[i].bytes, plan->heads[i].size, 1);
    plan->n_files = 0;
}

qp_status qp_plan_set_files(qp_convert_plan *plan, size_t count, qp_error *error)
{
    free_heads(plan);
    plan->files = qp_arena_allocate(&plan->arena, count, sizeof *plan->files);
    plan->heads = qp_arena_allocate(&plan->arena, count, sizeof *plan->heads);
    plan->runs = qp_arena_allocate(&plan->arena, count, sizeof *plan->runs);
    if (plan->files == NULL || plan->heads == NULL || plan->runs == NULL)
        return qp_fail_memory(error, "the files of a plan");
    plan->n_files = count;
    return QP_OK;
}

qp_status qp_plan_set_head(qp_convert_plan *plan, size_t file, qp_buffer *head, qp_error *error)
{
    bool failed = head->failed;
    plan->heads[file].bytes = qp_buffer_take(head, &plan->heads[file].size);
    if (failed || plan->heads[file].bytes == NULL)
        return qp_fail_memory(error, "the head of a file");
    return QP_OK;
}

static qp_status lay_out(qp_convert_plan *plan, qp_error *error)
{
    qp_status status = plan->writer->layout(plan, error);
    for (size_t i = 0; i < plan->n_files && status == QP_OK; i++)
        plan->target_bytes += plan->files[i].size;
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */

static qp_status keep_options(qp_convert_plan *plan, const char *output,
                              const qp_convert_options *options, qp_error *error)
{
    plan->options = *options;
    plan->output = qp_plan_keep(plan, output, strlen(output));
    bool kept = plan->output != NULL;
    if (options->recipe != NULL) {
        plan->options.recipe = qp_plan_keep(plan, options->recipe, options->recipe_size);
        kept = kept && plan->options.recipe != NULL;
    }
    const char **texts[] = {&plan->options.preset, &plan->options.imatrix, &plan->options.name};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*texts[i] == NULL)
            continue;
        *texts[i] = qp_plan_keep(plan, *texts[i], strlen(*texts[i]));
        kept = kept && *texts[i] != NULL;
    }
    const qp_method **methods =
        qp_arena_allocate(&plan->arena, options->n_methods, sizeof *methods);
    if (methods == NULL || !kept)
        return qp_fail_memory(error, "the options of a plan");
    for (size_t i = 0; i < options->n_methods; i++)
        methods[i] = options->methods[i];
    plan->options.methods = methods;
    return QP_OK;
}

static qp_status find_kind(qp_convert_plan *plan, qp_error *error)
{
    plan->kind = plan->options.container;
    if (plan->kind == NULL)
        plan->kind = qp_artifact_kind_of_path(plan->output);
    if (plan->kind == NULL)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "%.120s does not end in .ninfer, .gguf or .safetensors: name the kind of "
                       "file",
                       plan->output);
    plan->writer = plan->kind->rules->writer;
    if (plan->options.max_file_bytes > 0 && !plan->writer->divides)
        return qp_fail(error, QP_INVALID_ARGUMENT,
                       "a %s file is one file: .ninfer and safetensors are divided",
                       plan->kind->name);
    return qp_new_files_check_target(plan->output, plan->options.replace, error);
}

static qp_status collect_metadata(qp_convert_plan *plan, qp_error *error)
{
    const qp_weight_source *source = &plan->sources[0]->source;
    qp_status status = qp_metadata_collect(source, &plan->allocator, &plan->metadata, error);
    if (plan->writer->has_bindings && source->has_directory)
        plan->metadata.n_lost = 0; /* its components are kept as they are */
    return status;
}

static qp_status make(qp_convert_plan *plan, qp_artifact *source, qp_error *error)
{
    qp_status status = find_kind(plan, error);
    if (status == QP_OK)
        status = add_source(plan, source, NULL, error);
    if (status == QP_OK)
        status = collect_metadata(plan, error);
    if (status == QP_OK)
        status = list_parameters(plan, error);
    if (status == QP_OK)
        status = read_recipe(plan, error);
    if (status == QP_OK)
        status = open_importance(plan, error);
    if (status == QP_OK)
        status = qp_plan_read_uses(plan, error);
    if (status == QP_OK && plan->writer->has_bindings)
        status = qp_plan_find_packings(plan, error);
    if (status == QP_OK)
        status = qp_plan_apply_recipe(plan, error);
    if (status == QP_OK)
        status = qp_plan_make_objects(plan, error);
    if (status == QP_OK)
        status = check_importance(plan, error);
    if (status == QP_OK)
        status = qp_plan_finish_uses(plan, error);
    if (status == QP_OK)
        status = list_lost(plan, error);
    if (status == QP_OK)
        status = lay_out(plan, error);
    return status == QP_OK ? list_items(plan, error) : status;
}

qp_status qp_convert_plan_make(qp_artifact *source, const char *output,
                               const qp_convert_options *options, qp_convert_plan **plan,
                               qp_error *error)
{
    *plan = NULL;
    qp_convert_plan *made = qp_allocate(options->allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a plan");
    made->allocator = qp_allocator_or_default(options->allocator);
    qp_arena_init(&made->arena, options->allocator);
    qp_arena_init(&made->metadata.arena, options->allocator);
    qp_recipe_init(&made->recipe, options->allocator);
    qp_status status = keep_options(made, output, options, error);
    if (status == QP_OK)
        status = make(made, source, error);
    if (status == QP_OK)
        *plan = made;
    else
        qp_convert_plan_free(made);
    return status;
}

static void free_sources(qp_convert_plan *plan)
{
    for (size_t i = 0; i < plan->n_sources; i++) {
        qp_weight_source_close(&plan->sources[i]->source);
        qp_artifact_close(plan->sources[i]->opened);
    }
    for (size_t i = 0; i < plan->n_imatrices; i++)
        qp_imatrix_close(plan->imatrices[i].imatrix);
    qp_release(&plan->allocator, plan->sources, plan->source_capacity, sizeof *plan->sources);
    qp_release(&plan->allocator, plan->imatrices, plan->imatrix_capacity, sizeof *plan->imatrices);
}

void qp_convert_plan_free(qp_convert_plan *plan)
{
    if (plan == NULL)
        return;
    free_sources(plan);
    for (size_t i = 0; i < plan->n_uses; i++)
        qp_release(&plan->allocator, plan->uses[i].auxiliaries, plan->uses[i].capacity,
                   sizeof *plan->uses[i].auxiliaries);
    free_heads(plan);
    qp_release(&plan->allocator, plan->groups, plan->group_capacity, sizeof *plan->groups);
    qp_release(&plan->allocator, plan->uses, plan->use_capacity, sizeof *plan->uses);
    qp_release(&plan->allocator, plan->objects, plan->object_capacity, sizeof *plan->objects);
    qp_recipe_free(&plan->recipe);
    qp_metadata_free(&plan->metadata);
    qp_arena_free(&plan->arena);
    qp_allocator allocator = plan->allocator;
    qp_release(&allocator, plan, 1, sizeof *plan);
}

/* ---- what is asked --------------------------------------------------------------------------- */

const qp_plan_item *qp_convert_plan_items(const qp_convert_plan *plan, size_t *count)
{
    *count = plan->n_items;
    return plan->items;
}

const char *qp_convert_plan_output(const qp_convert_plan *plan)
{
    return plan->output;
}

const char *const *qp_convert_plan_lost(const qp_convert_plan *plan, size_t *count)
{
    *count = plan->metadata.n_lost;
    return plan->metadata.lost;
}

uint64_t qp_convert_plan_source_bytes(const qp_convert_plan *plan)
{
    return plan->source_bytes;
}

uint64_t qp_convert_plan_target_bytes(const qp_convert_plan *plan)
{
    return plan->target_bytes;
}
