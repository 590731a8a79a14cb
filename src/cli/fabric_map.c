/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_map.c - quipu fabric map: finds the maps of a graph on a fabric. */
#include "cli/fabric.h"
#include "fabric/fault.h"

static const char *end_text(qp_fabric_search_end end)
{
    static const char *const texts[] = {"complete", "limit", "work"};
    return texts[end];
}

static void put_text(const qp_fabric_maps *maps, const qp_fabric_search *search, qp_buffer *text)
{
    static const char *const more[] = {"all that there are", "there may be more",
                                       "there may be more: the bound on the work was reached"};
    if (maps->count == 0)
        return;
    qp_buffer_format(text, "# %zu map%s of %s on %s, %s; %" PRIu64 " steps\n", maps->count,
                     maps->count == 1 ? "" : "s", search->graph, search->fabric, more[maps->end],
                     maps->work);
    for (size_t i = 0; i < maps->count; i++)
        qp_buffer_text(text, maps->texts[i]);
}

static void put_json(const qp_fabric_maps *maps, const qp_fabric_search *search, qp_buffer *text)
{
    qp_cli_json_text(text, "{", "graph", search->graph);
    qp_cli_json_text(text, ",", "fabric", search->fabric);
    qp_cli_json_text(text, ",", "end", end_text(maps->end));
    qp_cli_json_number(text, ",", "work", maps->work);
    qp_cli_json_text(text, ",", "reason", maps->reason);
    qp_buffer_text(text, ",\"maps\":[");
    for (size_t i = 0; i < maps->count; i++) {
        qp_buffer_text(text, i > 0 ? "," : "");
        qp_buffer_json_string(text, maps->texts[i], strlen(maps->texts[i]));
    }
    qp_buffer_text(text, "]}\n");
}

/* "No" is said only of a complete search. */
static qp_status refuse(const qp_fabric_maps *maps, const qp_fabric_search *search,
                        qp_fabric_error *error)
{
    if (maps->end == QP_FABRIC_SEARCH_WORK)
        return qp_fabric_fail(error, QP_FABRIC_UNSUPPORTED, QP_FABRIC_NOWHERE,
                              "no map of %.40s on %.40s was found in %" PRIu64
                              " steps, and not all was tried: raise --work",
                              search->graph, search->fabric, maps->work);
    return qp_fabric_fail(error, QP_FABRIC_INADMISSIBLE, QP_FABRIC_NOWHERE,
                          "%.40s has no map on %.40s: %s", search->graph, search->fabric,
                          maps->reason);
}

static qp_status map(const qp_fabric_model *model, const qp_cli_part_options *options,
                     qp_buffer *text, qp_fabric_error *error)
{
    qp_fabric_search search = {.work = options->work, .limit = (size_t)options->limit};
    qp_fabric_maps *maps;
    qp_status status =
        qp_cli_choose(model, QP_FABRIC_ITEM_GRAPH, options->graph, "--graph", &search.graph, error);

    if (status == QP_OK)
        status = qp_cli_choose(model, QP_FABRIC_ITEM_FABRIC, options->fabric, "--fabric",
                               &search.fabric, error);
    if (status == QP_OK)
        status = qp_fabric_map(model, &search, NULL, &maps, error);
    if (status != QP_OK)
        return status;
    if (options->json)
        put_json(maps, &search, text);
    else
        put_text(maps, &search, text);
    if (maps->count == 0)
        status = refuse(maps, &search, error);
    qp_fabric_maps_free(maps);
    return status;
}

const qp_cli_part qp_cli_part_map = {
    "map", "finds the maps of a graph on a fabric, or the reason why there is none",
    "usage: quipu fabric map [--graph G] [--fabric F] [--limit N] [--work N] [--json] [-o OUT]\n"
    "                        FILE...\n"
    "\n"
    "Tries every way in which templates of the fabric's units carry the graph, and writes each "
    "map\n"
    "that holds in the text form, named G_0, G_1, and so on: the output is a file for the other\n"
    "parts. Where there is none, the smallest reason is told and the exit status is 1. A search\n"
    "that ended at its bound never says that there is none.\n"
    "\n"
    "  --limit N  stop after N maps; a fabric of equal units has a map for each order of them\n"
    "  --work N   at most N steps (10 million)\n"
    "  --json     how the search ended, its steps, the maps and the reason as JSON\n"
    "\n"
    "example: quipu fabric map --limit 1 dot.fabric dot.graph -o dot.map\n",
    " --graph --fabric --limit --work --json ", map};
