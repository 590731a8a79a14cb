/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_configuration.c - checking a model, and configurations by name: written, and read back.
 */
#include "fabric/configuration.h"

/* ---- checking ----------------------------------------------------------------------------- */

static qp_status check_map(const qp_fabric_sealed *sealed, const qp_fabric_map_item *map,
                           const qp_allocator *allocator, qp_fabric_error *error)
{
    qp_fabric_verified verified;
    qp_arena arena;

    qp_arena_init(&arena, allocator);
    qp_status status = qp_fabric_verify(sealed, map, &arena, &verified, error);
    qp_arena_free(&arena);
    return status;
}

qp_status qp_fabric_check(const qp_fabric_model *model, const qp_allocator *allocator,
                          qp_fabric_error *error)
{
    qp_fabric_sealed *sealed = qp_allocate(allocator, model->n_fabrics, sizeof *sealed);
    qp_status status = QP_OK;
    qp_arena arena;

    if (sealed == NULL)
        return qp_fabric_fail_memory(error, "the fabrics");
    qp_arena_init(&arena, allocator);
    for (uint32_t i = 0; i < model->n_fabrics && status == QP_OK; i++)
        status = qp_fabric_seal_fabric(model, &model->fabrics[i], &arena, &sealed[i], error);
    for (uint32_t i = 0; i < model->n_maps && status == QP_OK; i++)
        status = check_map(&sealed[model->maps[i].fabric], &model->maps[i], allocator, error);
    qp_arena_free(&arena);
    qp_release(allocator, sealed, model->n_fabrics, sizeof *sealed);
    return status;
}

/* ---- configuring -------------------------------------------------------------------------- */

/* What a configuration is made of. */
typedef struct configuration {
    const qp_fabric_model *model;
    const qp_fabric_map_item *map; /* NULL for none */
    qp_arena arena;
    qp_fabric_sealed sealed;
    qp_fabric_layout layout;
    qp_fabric_projection projection; /* of the map */
} configuration;

static qp_status lay_out(configuration *c, const qp_fabric_fabric *fabric, qp_fabric_error *error)
{
    qp_status status = qp_fabric_seal_fabric(c->model, fabric, &c->arena, &c->sealed, error);
    return status == QP_OK ? qp_fabric_layout_of(&c->sealed, &c->arena, &c->layout, error) : status;
}

/* The map verified, and its projection. */
static qp_status project_map(configuration *c, qp_fabric_error *error)
{
    qp_fabric_verified verified;
    qp_status status = qp_fabric_verify(&c->sealed, c->map, &c->arena, &verified, error);

    if (status == QP_OK)
        status = qp_fabric_derive(&verified, &c->layout.slots, 0, &c->arena, &c->projection, error);
    return status;
}

static qp_status put_form(const configuration *c, qp_fabric_form form, qp_buffer *buffer,
                          qp_fabric_error *error)
{
    const qp_fabric_projection *projection = c->map != NULL ? &c->projection : NULL;
    char identity[QP_SHA256_HEX_SIZE];

    if (form == QP_FABRIC_FORM_ABI)
        return qp_fabric_put_abi(buffer, &c->layout, error);
    if (form == QP_FABRIC_FORM_JSON)
        return qp_fabric_put_report(
            buffer, &c->layout, projection,
            c->map != NULL ? qp_fabric_name_text(c->model, c->map->name) : NULL, error);
    if (c->map == NULL)
        return qp_fabric_fail_argument(error, "an image needs a map");
    const uint32_t number = (uint32_t)(c->map - c->model->maps);
    if (!qp_fabric_item_identity(c->model, QP_FABRIC_ITEM_MAP, number, identity))
        return qp_fabric_fail_memory(error, "the identity of a map");
    return qp_fabric_put_image(buffer, &c->layout, projection, identity, error);
}

static qp_status take(qp_buffer *buffer, qp_status status, void **bytes, size_t *size,
                      qp_fabric_error *error)
{
    if (status == QP_OK) {
        *bytes = qp_buffer_take(buffer, size);
        return *bytes != NULL ? QP_OK : qp_fabric_fail_memory(error, "a configuration");
    }
    qp_buffer_free(buffer);
    return status;
}

qp_status qp_fabric_configure(const qp_fabric_model *model, const char *map, const char *fabric,
                              qp_fabric_form form, const qp_allocator *allocator, void **bytes,
                              size_t *size, qp_fabric_error *error)
{
    configuration c = {.model = model};
    const qp_fabric_fabric *found;
    qp_buffer buffer;

    *bytes = NULL;
    *size = 0;
    if (map != NULL) {
        c.map = qp_fabric_find_map(model, map, error);
        found = c.map != NULL ? &model->fabrics[c.map->fabric] : NULL;
    } else {
        found = qp_fabric_find_fabric(model, fabric, error);
    }
    if (found == NULL)
        return QP_MALFORMED;
    qp_arena_init(&c.arena, allocator);
    qp_buffer_init(&buffer, allocator);
    qp_status status = lay_out(&c, found, error);
    if (status == QP_OK && c.map != NULL)
        status = project_map(&c, error);
    if (status == QP_OK)
        status = put_form(&c, form, &buffer, error);
    status = take(&buffer, status, bytes, size, error);
    qp_arena_free(&c.arena);
    return status;
}

/* ---- decoding ----------------------------------------------------------------------------- */

/* The name of the model's map of an identity; NULL where the model has none. */
static qp_status find_map(const qp_fabric_model *model, const char *identity, const char **name,
                          qp_fabric_error *error)
{
    char found[QP_SHA256_HEX_SIZE];

    *name = NULL;
    for (uint32_t i = 0; i < model->n_maps && *name == NULL; i++) {
        if (!qp_fabric_item_identity(model, QP_FABRIC_ITEM_MAP, i, found))
            return qp_fabric_fail_memory(error, "the identity of a map");
        if (strcmp(found, identity) == 0)
            *name = qp_fabric_name_text(model, model->maps[i].name);
    }
    return QP_OK;
}

static qp_status decode(configuration *c, const qp_fabric_text *image,
                        const qp_allocator *allocator, qp_buffer *buffer, qp_fabric_error *error)
{
    const char *name = NULL;
    qp_fabric_image read;

    qp_status status =
        qp_fabric_get_image(&c->layout, image->bytes, image->size, allocator, &read, error);
    if (status == QP_OK)
        status = qp_fabric_decode_payload(&c->layout, read.payload, read.payload_size, &c->arena,
                                          &c->projection, error);
    if (status == QP_OK)
        status = find_map(c->model, read.mapping, &name, error);
    if (status == QP_OK)
        status = qp_fabric_put_report(buffer, &c->layout, &c->projection, name, error);
    return status;
}

qp_status qp_fabric_decode(const qp_fabric_model *model, const char *fabric,
                           const qp_fabric_text *image, const qp_allocator *allocator, void **json,
                           size_t *size, qp_fabric_error *error)
{
    configuration c = {.model = model};
    const qp_fabric_fabric *found = qp_fabric_find_fabric(model, fabric, error);
    qp_buffer buffer;

    *json = NULL;
    *size = 0;
    if (found == NULL)
        return QP_MALFORMED;
    qp_arena_init(&c.arena, allocator);
    qp_buffer_init(&buffer, allocator);
    qp_status status = lay_out(&c, found, error);
    if (status == QP_OK)
        status = decode(&c, image, allocator, &buffer, error);
    status = take(&buffer, status, json, size, error);
    qp_arena_free(&c.arena);
    return status;
}
