/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_configure.c - quipu fabric configure and decode: bits from a map, and back. */
#include "cli/fabric.h"
#include "cli/text_table.h"
#include "fabric/fault.h"

/* ---- configure ---------------------------------------------------------------------------- */

static qp_status configure(const qp_fabric_model *model, const qp_cli_part_options *options,
                           qp_buffer *text, qp_fabric_error *error)
{
    qp_fabric_form form = options->json  ? QP_FABRIC_FORM_JSON
                          : options->abi ? QP_FABRIC_FORM_ABI
                                         : QP_FABRIC_FORM_IMAGE;
    const char *map = NULL, *fabric = NULL;
    qp_status status = QP_OK;
    void *bytes;
    size_t size;

    if (options->json && options->abi)
        return qp_fabric_fail_argument(error, "--json or --abi: one of them");
    const bool has_map = options->map != NULL || qp_fabric_count(model, QP_FABRIC_ITEM_MAP) > 0;
    if (has_map && options->fabric != NULL)
        return qp_fabric_fail_argument(
            error, "--fabric is for files without a map; here --map says which fabric");
    if (has_map)
        status = qp_cli_choose(model, QP_FABRIC_ITEM_MAP, options->map, "--map", &map, error);
    else if (form == QP_FABRIC_FORM_IMAGE)
        status = qp_fabric_fail_argument(error, "an image needs a map, and the files have none");
    else
        status = qp_cli_choose(model, QP_FABRIC_ITEM_FABRIC, options->fabric, "--fabric", &fabric,
                               error);
    if (status == QP_OK)
        status = qp_fabric_configure(model, map, fabric, form, NULL, &bytes, &size, error);
    if (status != QP_OK)
        return status;
    qp_buffer_append(text, bytes, size);
    if (form == QP_FABRIC_FORM_JSON && size > 0 && ((const char *)bytes)[size - 1] != '\n')
        qp_buffer_text(text, "\n");
    qp_bytes_free(NULL, bytes, size);
    return QP_OK;
}

const qp_cli_part qp_cli_part_configure = {
    "configure", "the configuration bits of a map: image, JSON or the ABI",
    "usage: quipu fabric configure [--map M] [--fabric F] [--json | --abi] [-o OUT] FILE...\n"
    "\n"
    "Derives the configuration of a map: the template of every unit that is used and the "
    "behaviour\n"
    "of every operation that has one, each in its slot. Writes the image: a header and the bits.\n"
    "\n"
    "  --json     the payload in hex and every slot with its fields: offset, width, value; "
    "without\n"
    "             a map in the files, every slot of the fabric inactive\n"
    "  --abi      the ConfigurationABI: how slots are encoded and where their bits stand\n"
    "  --map M    one map of several; --fabric F one fabric, where there is no map\n"
    "\n"
    "example: quipu fabric configure dot.fabric dot.graph dot.map -o dot.image\n",
    " --map --fabric --json --abi ", configure};

/* ---- decode ------------------------------------------------------------------------------- */

static void append_member(qp_json_value object, const char *name, qp_buffer *cell)
{
    qp_json_value value;
    const char *source;
    size_t length;

    if (!qp_json_find(object, name, &value) || qp_json_is_null(value))
        return;
    if (qp_json_kind_of(value) == QP_JSON_STRING) {
        qp_json_append_string(value, cell);
        return;
    }
    qp_json_source(value, &source, &length);
    qp_buffer_append(cell, source, length);
}

/* One row of the table for each field of a slot. */
static void put_slot(qp_json_value slot, qp_text_table *table)
{
    static const char *const members[] = {"name", "bit_offset", "bit_width", "value"};
    qp_json_value fields = QP_JSON_NO_VALUE, field, selected = QP_JSON_NO_VALUE;
    bool is_selected = false;
    qp_error ignored;
    qp_buffer row;

    qp_json_find(slot, "fields", &fields);
    if (!qp_json_find(slot, "selected", &selected) ||
        qp_json_get_bool(selected, &is_selected, &ignored) != QP_OK)
        is_selected = false;
    for (qp_json_iterator i = qp_json_iterate(fields); qp_json_next(&i, &field);) {
        qp_buffer_init(&row, NULL);
        append_member(slot, "owner", &row);
        qp_buffer_text(&row, "\t");
        append_member(slot, "context", &row);
        qp_buffer_text(&row, is_selected ? "\tyes" : "\tno");
        for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
            qp_buffer_text(&row, "\t");
            append_member(field, members[k], &row);
        }
        qp_buffer_append(&row, "", 1);
        if (row.failed)
            table->rows.failed = true;
        else
            qp_text_table_row(table, "%s", (const char *)row.bytes);
        qp_buffer_free(&row);
    }
}

static void put_unit(qp_json_value unit, qp_buffer *text)
{
    qp_json_value slots = QP_JSON_NO_VALUE, slot, payload;
    const char *digits;
    size_t count;
    qp_text_table table;

    append_member(unit, "payload_bit_count", text);
    qp_buffer_text(text, " bits\n");
    if (qp_json_find(unit, "payload", &payload) && qp_json_string_view(payload, &digits, &count))
        qp_cli_put_digits(text, "payload", digits, count);
    qp_text_table_init(&table, "LrllrrL");
    qp_text_table_row(&table, "slot\tcontext\tset\tfield\tbit\tbits\tvalue");
    qp_json_find(unit, "slots", &slots);
    for (qp_json_iterator i = qp_json_iterate(slots); qp_json_next(&i, &slot);)
        put_slot(slot, &table);
    qp_text_table_print(&table, 100, text);
}

/* The report of the configuration as a table. */
static qp_status put_table(const char *report, size_t size, qp_buffer *text, qp_fabric_error *error)
{
    qp_json_value units = QP_JSON_NO_VALUE, unit;
    qp_json json;

    qp_json_init(&json, NULL);
    qp_status status = qp_json_parse(&json, report, size, &error->base);
    if (status == QP_OK) {
        qp_json_value root = qp_json_root(&json);
        qp_buffer_text(text, "fabric ");
        append_member(root, "fabric", text);
        qp_buffer_text(text, ", ");
        qp_json_find(root, "programming_units", &units);
        for (qp_json_iterator i = qp_json_iterate(units); qp_json_next(&i, &unit);)
            put_unit(unit, text);
    }
    qp_json_free(&json);
    return status == QP_OK ? QP_OK : qp_cli_fault(status, error);
}

static qp_status decode_image(const qp_fabric_model *model, const qp_cli_part_options *options,
                              const qp_fabric_text *image, qp_buffer *text, qp_fabric_error *error)
{
    const char *fabric;
    void *report;
    size_t size;
    qp_status status =
        qp_cli_choose(model, QP_FABRIC_ITEM_FABRIC, options->fabric, "--fabric", &fabric, error);
    if (status == QP_OK)
        status = qp_fabric_decode(model, fabric, image, NULL, &report, &size, error);
    if (status != QP_OK)
        return status;
    if (options->json) {
        qp_buffer_append(text, report, size);
        if (size > 0 && ((const char *)report)[size - 1] != '\n')
            qp_buffer_text(text, "\n");
    } else {
        status = put_table(report, size, text, error);
    }
    qp_bytes_free(NULL, report, size);
    return status;
}

static qp_status decode(const qp_fabric_model *model, const qp_cli_part_options *options,
                        qp_buffer *text, qp_fabric_error *error)
{
    qp_file file;

    if (options->image == NULL)
        return qp_fabric_fail_argument(error, "--image names the file to decode");
    qp_status status = qp_cli_read(options->image, &file, &error->base);
    if (status != QP_OK)
        return qp_cli_fault(status, error);
    const qp_fabric_text image = {options->image, file.bytes, file.size};
    status = decode_image(model, options, &image, text, error);
    qp_file_close(&file);
    return status;
}

const qp_cli_part qp_cli_part_decode = {
    "decode", "reads an image back: every slot, its value and its fields",
    "usage: quipu fabric decode --image IMAGE [--fabric F] [--json] [-o OUT] FILE...\n"
    "\n"
    "Reads an image against its fabric: which template and which behaviour every slot holds, and\n"
    "the bits that say so. Every byte that a configuration would not write is refused.\n"
    "\n"
    "  --image IMAGE  what 'quipu fabric configure' wrote\n"
    "  --fabric F     one fabric of several\n"
    "  --json         the report of 'quipu fabric configure --json'\n"
    "\n"
    "example: quipu fabric decode --image dot.image dot.fabric dot.graph dot.map\n",
    " --image --fabric --json ", decode};
