/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_relation.c - quipu fabric relation: what each operation can be configured to do. */
#include "cli/fabric.h"
#include "cli/text_table.h"
#include "fabric/fault.h"

/* One operation with its relation. */
typedef struct operation {
    const char *fabric;
    const char *name; /* "UNIT.NODE" */
    const qp_fabric_node *node;
    const qp_fabric_relation *relation;
} operation;

typedef struct listing {
    const qp_fabric_model *model;
    const qp_cli_part_options *options;
    qp_text_table table;
    qp_buffer *text;
    size_t count;
} listing;

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_op_list(const qp_fabric_node *node, qp_buffer *text)
{
    const char *before = "";
    qp_buffer_text(text, ",\"op_list\":[");
    for (uint32_t i = 0; i < node->family->member_count; i++) {
        if ((node->enabled >> i & 1) == 0)
            continue;
        qp_buffer_format(text, "%s\"%s\"", before,
                         qp_fabric_schemas[node->family->members[i].schema].name);
        before = ",";
    }
    qp_buffer_text(text, "]");
}

static void put_json_keys(const qp_fabric_relation *relation, qp_buffer *text)
{
    qp_buffer_text(text, ",\"kind\":\"finite\",\"keys\":[");
    for (size_t i = 0; i < relation->key_count; i++) {
        const qp_fabric_key *key = &relation->keys[i];
        qp_cli_json_text(text, i > 0 ? ",{" : "{", "text", key->text);
        qp_buffer_text(text, ",\"bytes\":\"");
        qp_buffer_hex(text, key->bytes, key->size);
        qp_buffer_text(text, "\"}");
    }
    qp_buffer_text(text, "]");
}

static void put_json_fields(const qp_fabric_relation *relation, qp_buffer *text)
{
    qp_buffer_text(text, ",\"kind\":\"direct\"");
    qp_cli_json_number(text, ",", "carrier_bits", relation->carrier_bits);
    qp_buffer_text(text, ",\"fields\":[");
    for (size_t i = 0; i < relation->field_count; i++) {
        const qp_fabric_field *field = &relation->fields[i];
        qp_cli_json_text(text, i > 0 ? ",{" : "{", "name", field->name);
        qp_cli_json_number(text, ",", "bit_offset", field->offset);
        qp_cli_json_number(text, ",", "bit_width", field->width);
        qp_buffer_text(text, "}");
    }
    qp_buffer_text(text, "]");
}

static void put_json(const operation *o, qp_buffer *text)
{
    qp_cli_json_text(text, "{", "fabric", o->fabric);
    qp_cli_json_text(text, ",", "operation", o->name);
    qp_cli_json_text(text, ",", "family", o->node->family->keyword);
    put_op_list(o->node, text);
    if (o->relation->kind == QP_FABRIC_RELATION_FINITE)
        put_json_keys(o->relation, text);
    else if (o->relation->kind == QP_FABRIC_RELATION_DIRECT)
        put_json_fields(o->relation, text);
    else
        qp_buffer_text(text, ",\"kind\":\"none\"");
    qp_buffer_text(text, "}");
}

/* ---- text --------------------------------------------------------------------------------- */

/* The bits of a codebook's code (section 11): max(1, ceil(log2 n)). */
static unsigned code_bits(size_t count)
{
    unsigned bits = 1;
    while (bits < 63 && (uint64_t)1 << bits < count)
        bits++;
    return bits;
}

/* One operation asked for by name: every key or field on a line of its own. */
static void put_whole(const operation *o, qp_buffer *text)
{
    const qp_fabric_relation *relation = o->relation;
    qp_text_table table;

    qp_buffer_format(text, "%s of %s, %s: ", o->name, o->fabric, o->node->family->keyword);
    if (relation->kind == QP_FABRIC_RELATION_NONE)
        qp_buffer_text(text, "nothing to configure\n");
    qp_text_table_init(&table, relation->kind == QP_FABRIC_RELATION_FINITE ? "rl" : "rrl");
    if (relation->kind == QP_FABRIC_RELATION_FINITE) {
        qp_buffer_format(text, "%zu behaviours in %u bit%s\n", relation->key_count,
                         code_bits(relation->key_count),
                         code_bits(relation->key_count) == 1 ? "" : "s");
        qp_text_table_row(&table, "code\tbehaviour");
        for (size_t i = 0; i < relation->key_count; i++)
            qp_text_table_row(&table, "%zu\t%s", i, relation->keys[i].text);
    }
    if (relation->kind == QP_FABRIC_RELATION_DIRECT) {
        qp_buffer_format(text, "a carrier of %" PRIu64 " bits\n", relation->carrier_bits);
        qp_text_table_row(&table, "bit\tbits\tfield");
        for (size_t i = 0; i < relation->field_count; i++)
            qp_text_table_row(&table, "%" PRIu64 "\t%" PRIu64 "\t%s", relation->fields[i].offset,
                              relation->fields[i].width, relation->fields[i].name);
    }
    qp_text_table_print(&table, 100, text);
}

/* What fits a line: the keys or the fields, one after the other. */
static void put_summary(const qp_fabric_relation *relation, qp_buffer *cell)
{
    enum { ENOUGH = 100 };
    for (size_t i = 0; i < relation->key_count && cell->size < ENOUGH; i++)
        qp_buffer_format(cell, "%s%s", i > 0 ? ", " : "", relation->keys[i].text);
    for (size_t i = 0; i < relation->field_count && cell->size < ENOUGH; i++)
        qp_buffer_format(cell, "%s%s %" PRIu64, i > 0 ? ", " : "", relation->fields[i].name,
                         relation->fields[i].width);
    qp_buffer_append(cell, "", 1);
}

static void put_row(const operation *o, listing *l)
{
    const qp_fabric_relation *relation = o->relation;
    static const char *const kinds[] = {"none", "finite", "direct"};
    uint64_t bits = relation->kind == QP_FABRIC_RELATION_FINITE ? code_bits(relation->key_count)
                                                                : relation->carrier_bits;
    qp_buffer cell;

    qp_buffer_init(&cell, NULL);
    put_summary(relation, &cell);
    if (l->count == 0)
        qp_text_table_row(&l->table,
                          "operation\tfamily\trelation\tcount\tbits\tbehaviours or fields");
    qp_text_table_row(&l->table, "%s\t%s\t%s\t%zu\t%" PRIu64 "\t%s", o->name,
                      o->node->family->keyword, kinds[relation->kind],
                      relation->key_count + relation->field_count, bits,
                      cell.failed ? "" : (const char *)cell.bytes);
    qp_buffer_free(&cell);
}

/* ---- every operation ---------------------------------------------------------------------- */

static void put_operation(const operation *o, listing *l)
{
    if (l->options->json) {
        qp_buffer_text(l->text, l->count > 0 ? ",\n" : "");
        put_json(o, l->text);
    } else if (l->options->operation != NULL) {
        put_whole(o, l->text);
    } else {
        put_row(o, l);
    }
    l->count++;
}

static qp_status list_operation(const qp_cli_unit_walk *walk, const qp_fabric_node *node,
                                listing *l, qp_fabric_error *error)
{
    qp_fabric_relation *relation;
    qp_buffer name;
    qp_status status = QP_OK;

    qp_buffer_init(&name, NULL);
    qp_buffer_format(&name, "%s.%s", qp_fabric_name_text(l->model, walk->unit->name),
                     qp_fabric_name_text(l->model, node->name));
    qp_buffer_append(&name, "", 1);
    operation o = {.fabric = qp_fabric_name_text(l->model, walk->fabric->name),
                   .name = (const char *)name.bytes,
                   .node = node};
    if (name.failed)
        status = qp_fabric_fail_memory(error, "an operation's name");
    else if (l->options->operation == NULL || strcmp(l->options->operation, o.name) == 0) {
        status = qp_fabric_relation_of(l->model, o.fabric, o.name, NULL, &relation, error);
        if (status == QP_OK) {
            o.relation = relation;
            put_operation(&o, l);
            qp_fabric_relation_free(relation);
        }
    }
    qp_buffer_free(&name);
    return status;
}

static qp_status relation(const qp_fabric_model *model, const qp_cli_part_options *options,
                          qp_buffer *text, qp_fabric_error *error)
{
    qp_cli_unit_walk walk = qp_cli_units(model, options->fabric, options->unit);
    listing l = {.model = model, .options = options, .text = text};
    qp_status status = QP_OK;

    qp_text_table_init(&l.table, "llLrrL");
    qp_buffer_text(text, options->json ? "{\"relations\":[" : "");
    while (status == QP_OK && qp_cli_next_unit(&walk))
        for (uint32_t i = 0; i < walk.unit->n_nodes && status == QP_OK; i++)
            if (walk.unit->nodes[i].kind == QP_FABRIC_NODE_OP)
                status = list_operation(&walk, &walk.unit->nodes[i], &l, error);
    qp_buffer_text(text, options->json ? "]}\n" : "");
    if (status == QP_OK && l.count == 0)
        status = qp_fabric_fail_argument(error, "the files have no such operation");
    if (status == QP_OK)
        qp_text_table_print(&l.table, 100, text);
    else
        qp_buffer_free(&l.table.rows);
    if (status != QP_OK)
        text->size = 0;
    return status;
}

const qp_cli_part qp_cli_part_relation = {
    "relation", "what each operation can be configured to do: its keys or fields",
    "usage: quipu fabric relation [--fabric F] [--unit U] [--op UNIT.NODE] [--json] [-o OUT]\n"
    "                             FILE...\n"
    "\n"
    "Shows the sealed relation of every operation: 'none', where there is nothing to configure;\n"
    "'finite', a codebook of behaviours; or 'direct', a carrier of bits with fields. Each with "
    "the\n"
    "bits that it takes in a configuration.\n"
    "\n"
    "  --fabric F, --unit U  only operations of these\n"
    "  --op UNIT.NODE        one operation, every behaviour or field on a line\n"
    "  --json                the same as JSON, with each key's bytes\n"
    "\n"
    "example: quipu fabric relation --op Mac.acc dot.fabric\n",
    " --fabric --unit --op --json ", relation};
