/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_show.c - quipu fabric show: units, their templates or a map, drawn as SVG. */
#include "cli/fabric.h"
#include "cli/unit_picture.h"
#include "fabric/fault.h"
#include "fabric/mapping.h"

/* The pictures so far, one below the other. */
typedef struct sheet {
    const qp_fabric_model *model;
    const qp_cli_part_options *options;
    qp_buffer body;
    int32_t width, height;
    size_t count;
} sheet;

static const char *name_of(const sheet *s, qp_fabric_symbol symbol)
{
    return qp_fabric_name_text(s->model, symbol);
}

static qp_status add_view(sheet *s, const qp_unit_view *view, qp_fabric_error *error)
{
    int32_t width, height;
    qp_status status = qp_unit_picture(view, s->height, &s->body, &width, &height);

    if (status == QP_NO_MEMORY)
        return qp_fabric_fail_memory(error, "a picture");
    if (status != QP_OK)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, view->fu->place,
                              "the unit is too big to draw");
    s->width = width > s->width ? width : s->width;
    s->height += height;
    s->count++;
    return QP_OK;
}

/* ---- units and templates ------------------------------------------------------------------ */

static qp_status add_templates(sheet *s, const qp_cli_unit_walk *walk, qp_arena *arena,
                               qp_fabric_error *error)
{
    uint64_t work = QP_FABRIC_INVENTORY_WORK;
    qp_fabric_inventory inventory;
    qp_status status =
        qp_fabric_inventory_of(s->model, walk->unit, &work, arena, &inventory, error);

    if (status == QP_OK && s->options->has_ordinal && s->options->ordinal >= inventory.count)
        status = qp_fabric_fail_argument(error, "%s has %" PRIu32 " template%s, numbered from 0",
                                         name_of(s, walk->unit->name), inventory.count,
                                         inventory.count == 1 ? "" : "s");
    for (uint32_t i = 0; status == QP_OK && i < inventory.count; i++) {
        char title[160];
        if (s->options->has_ordinal && s->options->ordinal != i)
            continue;
        snprintf(title, sizeof title, "%.60s of %.60s, template %" PRIu32,
                 name_of(s, walk->unit->name), name_of(s, walk->fabric->name), i);
        status = add_view(s,
                          &(qp_unit_view){.model = s->model,
                                          .fu = walk->unit,
                                          .title = title,
                                          .active = &inventory.templates[i]},
                          error);
    }
    return status;
}

static qp_status add_unit(sheet *s, const qp_cli_unit_walk *walk, qp_fabric_error *error)
{
    char title[160];
    snprintf(title, sizeof title, "%.60s of %.60s", name_of(s, walk->unit->name),
             name_of(s, walk->fabric->name));
    return add_view(s, &(qp_unit_view){.model = s->model, .fu = walk->unit, .title = title}, error);
}

static qp_status add_units(sheet *s, qp_arena *arena, qp_fabric_error *error)
{
    const qp_cli_part_options *o = s->options;
    qp_cli_unit_walk walk = qp_cli_units(s->model, o->fabric, o->unit);
    qp_status status = QP_OK;

    while (status == QP_OK && qp_cli_next_unit(&walk))
        status = o->templates || o->has_ordinal ? add_templates(s, &walk, arena, error)
                                                : add_unit(s, &walk, error);
    if (status == QP_OK && s->count == 0)
        status = qp_fabric_fail_argument(error, "the files have no such unit");
    return status;
}

/* ---- maps --------------------------------------------------------------------------------- */

static const char *occurrence_of(const sheet *s, const qp_fabric_map_item *map, uint32_t r)
{
    const qp_fabric_fabric *fabric = &s->model->fabrics[map->fabric];
    for (uint32_t i = 0; i < map->n_binds; i++)
        if (map->binds[i].realization == r)
            return name_of(s, fabric->occurrences[map->binds[i].occurrence].name);
    return "?";
}

static qp_status add_realization(sheet *s, const qp_fabric_verified *verified, uint32_t index,
                                 qp_fabric_error *error)
{
    const qp_fabric_map_item *map = verified->map;
    const qp_fabric_realization *r = &map->realizations[index];
    const qp_fabric_fu *fu = &s->model->fabrics[map->fabric].fus[r->fu];
    char title[200];

    snprintf(title, sizeof title, "%.40s on %.40s: %.40s, template %" PRIu64, name_of(s, r->name),
             occurrence_of(s, map, index), name_of(s, fu->name), r->template_ordinal);
    return add_view(s,
                    &(qp_unit_view){.model = s->model,
                                    .fu = fu,
                                    .title = title,
                                    .active = verified->template_of[index],
                                    .graph = verified->graph,
                                    .realization = r},
                    error);
}

static qp_status add_map(sheet *s, qp_arena *arena, qp_fabric_error *error)
{
    const qp_fabric_map_item *map;
    qp_fabric_sealed sealed;
    qp_fabric_verified verified;
    const char *name;
    qp_status status =
        qp_cli_choose(s->model, QP_FABRIC_ITEM_MAP, s->options->map, "--map", &name, error);

    if (status != QP_OK)
        return status;
    map = qp_fabric_find_map(s->model, name, error);
    status =
        qp_fabric_seal_fabric(s->model, &s->model->fabrics[map->fabric], arena, &sealed, error);
    if (status == QP_OK)
        status = qp_fabric_verify(&sealed, map, arena, &verified, error);
    for (uint32_t i = 0; status == QP_OK && i < map->n_realizations; i++)
        if (s->options->unit == NULL ||
            strcmp(s->options->unit, name_of(s, map->realizations[i].name)) == 0)
            status = add_realization(s, &verified, i, error);
    if (status == QP_OK && s->count == 0)
        status = qp_fabric_fail_argument(error, "the map has no such realization");
    return status;
}

static void put_sheet(const sheet *s, qp_buffer *text)
{
    qp_buffer_format(text,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\">\n<style>%s</style>\n"
                     "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                     s->width, s->height, s->width, s->height, qp_unit_picture_style);
    qp_buffer_append(text, s->body.bytes, s->body.size);
    qp_buffer_text(text, "</svg>\n");
    text->failed |= s->body.failed;
}

static qp_status show(const qp_fabric_model *model, const qp_cli_part_options *options,
                      qp_buffer *text, qp_fabric_error *error)
{
    sheet s = {.model = model, .options = options};
    qp_arena arena;

    qp_arena_init(&arena, NULL);
    qp_buffer_init(&s.body, NULL);
    qp_status status =
        options->map != NULL ? add_map(&s, &arena, error) : add_units(&s, &arena, error);
    if (status == QP_OK)
        put_sheet(&s, text);
    qp_buffer_free(&s.body);
    qp_arena_free(&arena);
    return status;
}

const qp_cli_part qp_cli_part_show = {
    "show", "draws units, their templates or a map as SVG",
    "usage: quipu fabric show [--fabric F] [--unit U] [--templates | --template N] [-o OUT] "
    "FILE...\n"
    "       quipu fabric show --map M [--unit REALIZATION] [-o OUT] FILE...\n"
    "\n"
    "Draws function units as SVG: ports at both ends, operations as boxes (warm for those with\n"
    "state, green for constants), muxes and demuxes as trapezoids. A dashed wire carries control\n"
    "tokens, a thin one a single bit.\n"
    "\n"
    "  --fabric F, --unit U  only units of these\n"
    "  --templates           every template of a unit, its nodes and wires marked\n"
    "  --template N          one template\n"
    "  --map M               every realization of a map: which actor stands on which operation,\n"
    "                        which value at which port; with --unit one realization\n"
    "\n"
    "example: quipu fabric show --map mac -o mac.svg dot.fabric dot.graph dot.map\n",
    " --fabric --unit --templates --template --map ", show};
