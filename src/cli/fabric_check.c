/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_check.c - quipu fabric check: whether everything in the files holds. */
#include "cli/fabric.h"

static qp_status check(const qp_fabric_model *model, const qp_cli_part_options *options,
                       qp_buffer *text, qp_fabric_error *error)
{
    qp_status status = qp_fabric_check(model, NULL, error);

    if (status != QP_OK)
        return status;
    if (options->json)
        qp_buffer_text(text, "{");
    const size_t before = text->size;
    status = qp_cli_put_items(model, options->json, text, error);
    if (options->json)
        qp_buffer_text(text, "}\n");
    else if (text->size == before)
        qp_buffer_text(text, "there is no fabric, graph or map\n");
    else
        qp_buffer_text(text, "everything holds\n");
    return status;
}

const qp_cli_part qp_cli_part_check = {
    "check", "whether fabrics, graphs and maps hold, and their identities",
    "usage: quipu fabric check [--json] [-o OUT] FILE...\n"
    "\n"
    "Reads the files as one and checks all that is in them: records and relations of every\n"
    "operation, wiring and templates of every unit, types of every graph, every map. The first\n"
    "fault is told with its place. What holds is listed, each with the first 16 digits of its\n"
    "identity: the SHA-256 over its canonical text.\n"
    "\n"
    "  --json  the list as JSON, with whole identities\n"
    "\n"
    "example: quipu fabric check dot.fabric dot.graph dot.map\n",
    " --json ", check};
