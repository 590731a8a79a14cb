/* SPDX-License-Identifier: Apache-2.0 */
/*
 * public_mapping.c - templates by name, and the search for maps.
 */
#include "fabric/search.h"

/* ---- templates ---------------------------------------------------------------------------- */

/* Templates with the arena that holds them; the templates come first. */
typedef struct owned_templates {
    qp_fabric_templates templates;
    qp_arena arena;
} owned_templates;

/* "da.0", or a port of the unit by its name. */
static void put_end(qp_buffer *buffer, const qp_fabric_model *model, const qp_fabric_fu *fu,
                    qp_fabric_endpoint end, bool source)
{
    if (end.node == QP_FABRIC_NO_INDEX) {
        const qp_fabric_port *port = source ? &fu->inputs[end.port] : &fu->outputs[end.port];
        qp_buffer_text(buffer, qp_fabric_name_text(model, port->name));
        return;
    }
    qp_buffer_text(buffer, qp_fabric_name_text(model, fu->nodes[end.node].name));
    qp_buffer_text(buffer, ".");
    qp_buffer_u64_decimal(buffer, end.port);
}

/* "a -> da.0"; NULL without memory. */
static const char *edge_text(const qp_fabric_model *model, const qp_fabric_fu *fu,
                             const qp_fabric_wire *wire, qp_arena *arena)
{
    char *text = NULL;
    qp_buffer buffer;

    qp_buffer_init(&buffer, &arena->allocator);
    put_end(&buffer, model, fu, wire->source, true);
    qp_buffer_text(&buffer, " -> ");
    put_end(&buffer, model, fu, wire->destination, false);
    if (!buffer.failed)
        text = qp_arena_allocate(arena, buffer.size + 1, 1);
    if (text != NULL)
        memcpy(text, buffer.bytes, buffer.size);
    qp_buffer_free(&buffer);
    return text;
}

static bool show_template(const qp_fabric_model *model, const qp_fabric_fu *fu,
                          const qp_fabric_derived *derived, qp_arena *arena,
                          qp_fabric_template *shown)
{
    const char **nodes = qp_arena_allocate(arena, derived->node_count, sizeof *nodes);
    const char **edges = qp_arena_allocate(arena, derived->edge_count, sizeof *edges);

    if (nodes == NULL || edges == NULL)
        return false;
    for (uint32_t i = 0; i < derived->node_count; i++)
        nodes[i] = qp_fabric_name_text(model, fu->nodes[derived->nodes[i]].name);
    for (uint32_t i = 0; i < derived->edge_count; i++) {
        edges[i] = edge_text(model, fu, &fu->wires[derived->edges[i]], arena);
        if (edges[i] == NULL)
            return false;
    }
    *shown = (qp_fabric_template){.node_count = derived->node_count,
                                  .edge_count = derived->edge_count,
                                  .nodes = nodes,
                                  .edges = edges,
                                  .bytes = derived->bytes,
                                  .size = derived->size};
    return true;
}

static qp_status show_templates(const qp_fabric_model *model, const qp_fabric_fu *fu,
                                owned_templates *owned, qp_fabric_error *error)
{
    uint64_t work = QP_FABRIC_INVENTORY_WORK;
    qp_fabric_inventory inventory = {0, NULL};
    qp_status status = qp_fabric_check_topology(model, fu, &owned->arena, error);

    if (status == QP_OK)
        status = qp_fabric_inventory_of(model, fu, &work, &owned->arena, &inventory, error);
    if (status != QP_OK)
        return status;
    qp_fabric_template *rows = qp_arena_allocate(&owned->arena, inventory.count, sizeof *rows);
    if (rows == NULL)
        return qp_fabric_fail_memory(error, "the templates of a unit");
    for (uint32_t i = 0; i < inventory.count; i++)
        if (!show_template(model, fu, &inventory.templates[i], &owned->arena, &rows[i]))
            return qp_fabric_fail_memory(error, "the templates of a unit");
    owned->templates = (qp_fabric_templates){inventory.count, rows};
    return QP_OK;
}

qp_status qp_fabric_templates_of(const qp_fabric_model *model, const char *fabric, const char *unit,
                                 const qp_allocator *allocator, qp_fabric_templates **templates,
                                 qp_fabric_error *error)
{
    const qp_fabric_fabric *found = qp_fabric_find_fabric(model, fabric, error);
    const qp_fabric_fu *fu = found != NULL ? qp_fabric_find_fu(model, found, unit, error) : NULL;

    *templates = NULL;
    if (fu == NULL)
        return QP_MALFORMED;
    owned_templates *owned = qp_allocate(allocator, 1, sizeof *owned);
    if (owned == NULL)
        return qp_fabric_fail_memory(error, "the templates of a unit");
    qp_arena_init(&owned->arena, allocator);
    qp_status status = show_templates(model, fu, owned, error);
    if (status == QP_OK)
        *templates = &owned->templates;
    else
        qp_fabric_templates_free(&owned->templates);
    return status;
}

void qp_fabric_templates_free(qp_fabric_templates *templates)
{
    owned_templates *owned = (owned_templates *)templates;

    if (owned == NULL)
        return;
    const qp_allocator allocator = owned->arena.allocator;
    qp_arena_free(&owned->arena);
    qp_release(&allocator, owned, 1, sizeof *owned);
}

/* ---- maps --------------------------------------------------------------------------------- */

/* Found maps with the arena that holds them; the maps come first. */
typedef struct owned_maps {
    qp_fabric_maps maps;
    qp_arena arena;
} owned_maps;

/* A map's text, named GRAPH_NUMBER; NULL without memory. */
static const char *map_text(const qp_fabric_model *model, const qp_fabric_map_item *map,
                            size_t number, qp_arena *arena)
{
    char *text = NULL;
    qp_buffer name, buffer;

    qp_buffer_init(&name, &arena->allocator);
    qp_buffer_init(&buffer, &arena->allocator);
    qp_buffer_text(&name, qp_fabric_name_text(model, model->graphs[map->graph].name));
    qp_buffer_text(&name, "_");
    qp_buffer_u64_decimal(&name, number);
    qp_buffer_append(&name, "", 1);
    if (!name.failed)
        qp_fabric_write_map(&buffer, model, map, (const char *)name.bytes);
    if (!name.failed && !buffer.failed)
        text = qp_arena_allocate(arena, buffer.size + 1, 1);
    if (text != NULL)
        memcpy(text, buffer.bytes, buffer.size);
    qp_buffer_free(&buffer);
    qp_buffer_free(&name);
    return text;
}

static qp_status find(const qp_fabric_model *model, const qp_fabric_search *search,
                      owned_maps *owned, qp_fabric_error *error)
{
    const qp_fabric_graph *graph = qp_fabric_find_graph(model, search->graph, error);
    const qp_fabric_fabric *fabric =
        graph != NULL ? qp_fabric_find_fabric(model, search->fabric, error) : NULL;
    qp_fabric_sealed sealed;
    qp_fabric_found found;

    if (fabric == NULL)
        return QP_MALFORMED;
    const uint64_t work = search->work != 0 ? search->work : QP_FABRIC_SEARCH_WORK_DEFAULT;
    qp_status status = qp_fabric_seal_fabric(model, fabric, &owned->arena, &sealed, error);
    if (status == QP_OK)
        status = qp_fabric_find_maps(&sealed, graph, (qp_fabric_search_bounds){work, search->limit},
                                     &owned->arena, &found, error);
    if (status != QP_OK)
        return status;
    const char **texts = qp_arena_allocate(&owned->arena, found.count, sizeof *texts);
    for (size_t i = 0; i < found.count && texts != NULL; i++) {
        texts[i] = map_text(model, found.maps[i], i, &owned->arena);
        if (texts[i] == NULL)
            texts = NULL;
    }
    owned->maps = (qp_fabric_maps){found.end, found.work, found.count, texts, found.reason};
    return texts != NULL ? QP_OK : qp_fabric_fail_memory(error, "the maps that were found");
}

qp_status qp_fabric_map(const qp_fabric_model *model, const qp_fabric_search *search,
                        const qp_allocator *allocator, qp_fabric_maps **maps,
                        qp_fabric_error *error)
{
    owned_maps *owned = qp_allocate(allocator, 1, sizeof *owned);

    *maps = NULL;
    if (owned == NULL)
        return qp_fabric_fail_memory(error, "a search");
    qp_arena_init(&owned->arena, allocator);
    qp_status status = find(model, search, owned, error);
    if (status == QP_OK)
        *maps = &owned->maps;
    else
        qp_fabric_maps_free(&owned->maps);
    return status;
}

void qp_fabric_maps_free(qp_fabric_maps *maps)
{
    owned_maps *owned = (owned_maps *)maps;

    if (owned == NULL)
        return;
    const qp_allocator allocator = owned->arena.allocator;
    qp_arena_free(&owned->arena);
    qp_release(&allocator, owned, 1, sizeof *owned);
}
