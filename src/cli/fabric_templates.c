/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_templates.c - quipu fabric templates: the ways a function unit can be switched. */
#include "cli/fabric.h"
#include "fabric/fault.h"

static void put_names(qp_buffer *text, const char *const *names, size_t count, const char *between)
{
    qp_cli_lines lines = {.text = text, .indent = 6, .between = between};
    for (size_t i = 0; i < count; i++)
        qp_cli_lines_add(&lines, names[i]);
    qp_cli_lines_end(&lines);
}

static void put_text(const qp_fabric_templates *templates, const char *fabric, const char *unit,
                     qp_buffer *text)
{
    qp_buffer_format(text, "%s of %s: %zu template%s\n", unit, fabric, templates->count,
                     templates->count == 1 ? "" : "s");
    for (size_t i = 0; i < templates->count; i++) {
        const qp_fabric_template *row = &templates->rows[i];
        qp_buffer_format(text, "  %zu: %zu node%s, %zu wire%s\n", i, row->node_count,
                         row->node_count == 1 ? "" : "s", row->edge_count,
                         row->edge_count == 1 ? "" : "s");
        put_names(text, row->nodes, row->node_count, "");
        put_names(text, row->edges, row->edge_count, ",");
    }
}

static void put_json_names(qp_buffer *text, const char *member, const char *const *names,
                           size_t count)
{
    qp_buffer_format(text, ",\"%s\":[", member);
    for (size_t i = 0; i < count; i++) {
        qp_buffer_text(text, i > 0 ? "," : "");
        qp_buffer_json_string(text, names[i], strlen(names[i]));
    }
    qp_buffer_text(text, "]");
}

static void put_json(const qp_fabric_templates *templates, const char *fabric, const char *unit,
                     qp_buffer *text)
{
    qp_cli_json_text(text, "{", "fabric", fabric);
    qp_cli_json_text(text, ",", "unit", unit);
    qp_buffer_text(text, ",\"templates\":[");
    for (size_t i = 0; i < templates->count; i++) {
        const qp_fabric_template *row = &templates->rows[i];
        qp_cli_json_number(text, i > 0 ? ",{" : "{", "template", i);
        put_json_names(text, "nodes", row->nodes, row->node_count);
        put_json_names(text, "wires", row->edges, row->edge_count);
        qp_buffer_text(text, ",\"bytes\":\"");
        qp_buffer_hex(text, row->bytes, row->size);
        qp_buffer_text(text, "\"}");
    }
    qp_buffer_text(text, "]}");
}

static qp_status templates(const qp_fabric_model *model, const qp_cli_part_options *options,
                           qp_buffer *text, qp_fabric_error *error)
{
    qp_cli_unit_walk walk = qp_cli_units(model, options->fabric, options->unit);
    qp_status status = QP_OK;
    size_t count = 0;

    qp_buffer_text(text, options->json ? "{\"units\":[" : "");
    for (; status == QP_OK && qp_cli_next_unit(&walk); count++) {
        const char *fabric = qp_fabric_name_text(model, walk.fabric->name);
        const char *unit = qp_fabric_name_text(model, walk.unit->name);
        qp_fabric_templates *found;
        status = qp_fabric_templates_of(model, fabric, unit, NULL, &found, error);
        if (status != QP_OK)
            break;
        qp_buffer_text(text, count == 0 ? "" : options->json ? ",\n" : "\n");
        if (options->json)
            put_json(found, fabric, unit, text);
        else
            put_text(found, fabric, unit, text);
        qp_fabric_templates_free(found);
    }
    qp_buffer_text(text, options->json ? "]}\n" : "");
    if (status == QP_OK && count == 0)
        status = qp_fabric_fail_argument(error, "the files have no such unit");
    if (status != QP_OK)
        text->size = 0;
    return status;
}

const qp_cli_part qp_cli_part_templates = {
    "templates", "the ways a function unit can be switched: its capability templates",
    "usage: quipu fabric templates [--fabric F] [--unit U] [--json] [-o OUT] FILE...\n"
    "\n"
    "Shows every unit's inventory of capability templates: which operations, muxes and demuxes "
    "are\n"
    "active together, and over which wires. A template's number is its place in the order of\n"
    "canonical bytes, whatever the order in the file; maps name templates by it.\n"
    "\n"
    "  --fabric F, --unit U  only units of these\n"
    "  --json                the same as JSON, with each template's bytes\n"
    "\n"
    "example: quipu fabric templates dot.fabric\n",
    " --fabric --unit --json ", templates};
