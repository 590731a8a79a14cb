/* SPDX-License-Identifier: Apache-2.0 */
/* formats.c - quipu formats: the registries of stored weights as tables. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text_table.h"

#include <inttypes.h>

enum { LINE = 100 };

typedef enum style { STYLE_TEXT, STYLE_MARKDOWN, STYLE_JSON } style;

/* ---- cells -------------------------------------------------------------------------------- */

static void put_string(qp_buffer *text, const char *name, const char *value)
{
    qp_buffer_format(text, ",\"%s\":", name);
    qp_buffer_json_string(text, value, strlen(value));
}

static const char *family_name(qp_format_family family)
{
    static const char *const names[] = {[QP_FAMILY_DIRECT] = "direct",
                                        [QP_FAMILY_GROUPED] = "grouped",
                                        [QP_FAMILY_NVFP4] = "block float",
                                        [QP_FAMILY_ROW_FP8] = "row float",
                                        [QP_FAMILY_GGUF] = "ggml block"};
    return names[family];
}

static const char *input_name(qp_method_input input)
{
    static const char *const names[] = {[QP_INPUT_VALUES] = "values",
                                        [QP_INPUT_ELEMENTS] = "elements",
                                        [QP_INPUT_ENCODED] = "encoded rows"};
    return names[input];
}

/* "64", "32 (18 bytes)", "a row". */
static void name_group(const qp_format *format, char text[40])
{
    if (format->group == 0)
        snprintf(text, 40, "a row");
    else if (format->group_bytes > 0)
        snprintf(text, 40, "%" PRIu32 " in %" PRIu32 " B", format->group, format->group_bytes);
    else
        snprintf(text, 40, "%" PRIu32, format->group);
}

static bool takes(const qp_method *method, size_t format)
{
    return method->targets(qp_format_at(format));
}

/* ---- one table each ----------------------------------------------------------------------- */

static void row_of_format(size_t i, bool wide, qp_text_table *table)
{
    const qp_format *f = qp_format_at(i);
    char group[40];
    name_group(f, group);
    qp_text_table_row(table, "%s\t%s\t%g\t%s\t%s%s%s", f->name, family_name(f->family), f->bits,
                      group, wide ? f->layout : "", wide ? "\t" : "", f->summary);
}

static void json_of_format(size_t i, qp_buffer *text)
{
    const qp_format *f = qp_format_at(i);
    put_string(text, "family", family_name(f->family));
    put_string(text, "layout", f->layout);
    qp_buffer_format(text,
                     ",\"bits\":%g,\"code_bits\":%" PRIu32 ",\"group\":%" PRIu32
                     ",\"group_bytes\":%" PRIu32,
                     f->bits, f->code_bits, f->group, f->group_bytes);
    if (f->family == QP_FAMILY_GROUPED)
        qp_buffer_format(text, ",\"codes\":[%" PRId32 ",%" PRId32 "]", f->code_min, f->code_max);
    if (f->ggml_type >= 0)
        qp_buffer_format(text, ",\"ggml_type\":%" PRId32, f->ggml_type);
}

static void row_of_layout(size_t i, bool wide, qp_text_table *table)
{
    const qp_storage_layout *layout = qp_layout_at(i);
    unsigned formats = 0;
    (void)wide;
    for (size_t k = 0; k < qp_format_count(); k++)
        formats += strcmp(qp_format_at(k)->layout, layout->name) == 0;
    qp_text_table_row(table, "%s\t%u\t%s", layout->name, formats, layout->summary);
}

static void json_of_layout(size_t i, qp_buffer *text)
{
    const char *name = qp_layout_at(i)->name, *before = "";
    qp_buffer_text(text, ",\"formats\":[");
    for (size_t k = 0; k < qp_format_count(); k++)
        if (strcmp(qp_format_at(k)->layout, name) == 0) {
            qp_buffer_format(text, "%s\"%s\"", before, qp_format_at(k)->name);
            before = ",";
        }
    qp_buffer_text(text, "]");
}

static void row_of_method(size_t i, bool wide, qp_text_table *table)
{
    const qp_method *m = qp_method_at(i);
    unsigned formats = 0;
    size_t first = 0;
    (void)wide;
    for (size_t k = 0; k < qp_format_count(); k++)
        if (takes(m, k) && formats++ == 0)
            first = k;
    if (formats == 1)
        qp_text_table_row(table, "%s\t%s\t%s\t%s", m->name, input_name(m->input),
                          qp_format_at(first)->name, m->summary);
    else
        qp_text_table_row(table, "%s\t%s\t%u formats\t%s", m->name, input_name(m->input), formats,
                          m->summary);
}

static void json_of_method(size_t i, qp_buffer *text)
{
    const qp_method *m = qp_method_at(i);
    const char *before = "";
    put_string(text, "reads", input_name(m->input));
    qp_buffer_format(text, ",\"imatrix\":%s,\"negative_scales\":%s,\"formats\":[",
                     m->takes_importance ? "true" : "false",
                     m->takes_negative_scales ? "true" : "false");
    for (size_t k = 0; k < qp_format_count(); k++)
        if (takes(m, k)) {
            qp_buffer_format(text, "%s\"%s\"", before, qp_format_at(k)->name);
            before = ",";
        }
    qp_buffer_text(text, "]");
}

static void row_of_kind(size_t i, bool wide, qp_text_table *table)
{
    const qp_artifact_kind *kind = qp_artifact_kind_at(i);
    (void)wide;
    qp_text_table_row(table, "%s\t%s\t%s", kind->name, kind->extension, kind->summary);
}

static void json_of_kind(size_t i, qp_buffer *text)
{
    put_string(text, "extension", qp_artifact_kind_at(i)->extension);
}

static const char *format_name(size_t i)
{
    return qp_format_at(i)->name;
}
static const char *format_summary(size_t i)
{
    return qp_format_at(i)->summary;
}
static const char *layout_name(size_t i)
{
    return qp_layout_at(i)->name;
}
static const char *layout_summary(size_t i)
{
    return qp_layout_at(i)->summary;
}
static const char *method_name(size_t i)
{
    return qp_method_at(i)->name;
}
static const char *method_summary(size_t i)
{
    return qp_method_at(i)->summary;
}
static const char *kind_name(size_t i)
{
    return qp_artifact_kind_at(i)->name;
}
static const char *kind_summary(size_t i)
{
    return qp_artifact_kind_at(i)->summary;
}

/* `wide` asks for what a line of 100 columns has no room for. */
typedef struct registry {
    const char *name, *align, *head;
    const char *wide_align, *wide_head; /* NULL: the same */
    size_t (*count)(void);
    const char *(*name_of)(size_t i);
    const char *(*summary_of)(size_t i);
    void (*row)(size_t i, bool wide, qp_text_table *table);
    void (*json)(size_t i, qp_buffer *text);
} registry;

static const registry registries[] = {
    {"formats", "llrll", "format\tfamily\tbits\tgroup\tmeaning", "llrlll",
     "format\tfamily\tbits\tgroup\tlayout\tmeaning", qp_format_count, format_name, format_summary,
     row_of_format, json_of_format},
    {"layouts", "lrl", "layout\tformats\tbytes", NULL, NULL, qp_layout_count, layout_name,
     layout_summary, row_of_layout, json_of_layout},
    {"methods", "llll", "method\treads\twrites\thow", NULL, NULL, qp_method_count, method_name,
     method_summary, row_of_method, json_of_method},
    {"files", "lll", "file\tending\twhat", NULL, NULL, qp_artifact_kind_count, kind_name,
     kind_summary, row_of_kind, json_of_kind},
};

enum { REGISTRIES = sizeof registries / sizeof *registries };

/* ---- printing ----------------------------------------------------------------------------- */

/* Rows of a table in Markdown; a rule follows the first. */
static void put_markdown(qp_text_table *table, qp_buffer *text)
{
    bool ruled = false;
    qp_buffer_text(text, "| ");
    for (size_t i = 0; i < table->rows.size; i++) {
        char c = (char)table->rows.bytes[i];
        if (c == '\t')
            qp_buffer_text(text, " | ");
        else if (c != '\n')
            qp_buffer_append(text, &c, 1);
        else
            qp_buffer_text(text, i + 1 == table->rows.size ? " |\n" : " |\n| ");
        if (c == '\n' && !ruled) {
            ruled = true;
            text->size -= 2;
            for (const char *a = table->align; *a != '\0'; a++)
                qp_buffer_text(text, *a == 'r' ? "|--:" : "|---");
            qp_buffer_text(text, "|\n| ");
        }
    }
    text->failed |= table->rows.failed;
    qp_buffer_free(&table->rows);
}

static void put_table(const registry *r, style s, qp_buffer *text)
{
    qp_text_table table;
    bool wide = s == STYLE_MARKDOWN && r->wide_head != NULL;
    qp_text_table_init(&table, wide ? r->wide_align : r->align);
    qp_text_table_row(&table, "%s", wide ? r->wide_head : r->head);
    for (size_t i = 0; i < r->count(); i++)
        r->row(i, wide, &table);
    if (s == STYLE_MARKDOWN)
        put_markdown(&table, text);
    else
        qp_text_table_print(&table, LINE, text);
}

static void put_json(const registry *r, qp_buffer *text)
{
    qp_buffer_format(text, "\"%s\":[", r->name);
    for (size_t i = 0; i < r->count(); i++) {
        qp_buffer_format(text, "%s\n {\"name\":\"%s\"", i == 0 ? "" : ",", r->name_of(i));
        put_string(text, "summary", r->summary_of(i));
        r->json(i, text);
        qp_buffer_text(text, "}");
    }
    qp_buffer_text(text, "]");
}

/* The registry of that name, or all of them for NULL. */
static void put_all(const char *only, style s, qp_buffer *text)
{
    const char *before = "";
    qp_buffer_text(text, s == STYLE_JSON ? "{" : "");
    for (size_t i = 0; i < REGISTRIES; i++) {
        const registry *r = &registries[i];
        if (only != NULL && strcmp(only, r->name) != 0)
            continue;
        qp_buffer_text(text, before);
        if (s == STYLE_TEXT)
            qp_buffer_format(text, "%s\n", r->name);
        if (s == STYLE_JSON)
            put_json(r, text);
        else
            put_table(r, s, text);
        before = s == STYLE_JSON ? "," : "\n";
    }
    qp_buffer_text(text, s == STYLE_JSON ? "}\n" : "");
}

static bool is_registry(const char *name)
{
    for (size_t i = 0; i < REGISTRIES; i++)
        if (strcmp(registries[i].name, name) == 0)
            return true;
    return false;
}

static int formats(int argc, char **argv)
{
    qp_args args = qp_args_start(argc, argv);
    const char *only = NULL, *output = "-";
    style s = STYLE_TEXT;
    qp_buffer text;
    qp_error error;

    while (qp_args_next(&args)) {
        if (qp_args_flag(&args, "--json"))
            s = STYLE_JSON;
        else if (qp_args_flag(&args, "--markdown"))
            s = STYLE_MARKDOWN;
        else if (!qp_args_value(&args, "-o", &output) && !qp_args_positional(&args, &only))
            break;
    }
    if (args.failed)
        return qp_args_usage(&args);
    if (only != NULL && !is_registry(only))
        return qp_cli_usage("formats", "there are formats, layouts, methods and files, no '%.40s'",
                            only);
    qp_buffer_init(&text, NULL);
    put_all(only, s, &text);
    qp_status status = qp_output_buffer(output, &text, &error);
    qp_buffer_free(&text);
    return status == QP_OK ? QP_EXIT_OK : qp_cli_refuse("formats", output, &error);
}

const qp_verb qp_verb_formats = {
    "formats", "how weights can be stored: formats, layouts, methods, files",
    "usage: quipu formats [--json|--markdown] [-o OUT] [formats|layouts|methods|files]\n"
    "\n"
    "Prints the registries of stored weights: numeric formats (what a stored word means), storage\n"
    "layouts (where its bytes lie), methods (how values become words) and kinds of files. 'bits'\n"
    "are those of a weight, scales included; 'group' is how many weights share a scale.\n"
    "\n"
    "  --json      the same as JSON, with the formats that each method writes\n"
    "  --markdown  as Markdown tables\n"
    "  -o OUT      write to OUT instead of standard output\n"
    "\n"
    "example: quipu formats methods\n",
    formats};
