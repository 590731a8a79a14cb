/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.c - a table in plain text: each column as wide as its widest cell. */
#include "cli/text_table.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    INDENT = 2,
    GAP = 2,
    LEAST_LAST = 10, /* what the last column is to have */
    LEAST_CUT = 12   /* what a column that is cut keeps */
};

void qp_text_table_init(qp_text_table *table, const char *align)
{
    table->align = align;
    qp_buffer_init(&table->rows, NULL);
}

void qp_text_table_row(qp_text_table *table, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !qp_buffer_reserve(&table->rows, (size_t)length + 1)) {
        table->rows.failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf((char *)table->rows.bytes + table->rows.size, (size_t)length + 1, format, arguments);
    va_end(arguments);
    table->rows.size += (size_t)length;
    qp_buffer_text(&table->rows, "\n");
}

/* The next cell of the rows at *at, without its end; *last says that it ends a row. */
static size_t next_cell(const qp_buffer *rows, size_t *at, const char **cell, bool *last)
{
    size_t start = *at, end = start;
    while (end < rows->size && rows->bytes[end] != '\t' && rows->bytes[end] != '\n')
        end++;
    *cell = (const char *)rows->bytes + start;
    *last = end >= rows->size || rows->bytes[end] == '\n';
    *at = end + 1;
    return end - start;
}

static void measure(const qp_buffer *rows, size_t widths[QP_TEXT_TABLE_COLUMNS])
{
    unsigned column = 0;
    for (size_t at = 0; at < rows->size;) {
        const char *cell;
        bool last;
        size_t length = next_cell(rows, &at, &cell, &last);
        widths[column] = length > widths[column] ? length : widths[column];
        column = last ? 0 : column + 1;
    }
}

/* Takes from the columns that may be cut what the last one needs. */
static void shrink(size_t widths[QP_TEXT_TABLE_COLUMNS], const char *align, size_t width)
{
    unsigned columns = (unsigned)strlen(align);
    size_t last = widths[columns - 1] < LEAST_LAST ? widths[columns - 1] : LEAST_LAST;
    size_t used = INDENT + (columns - 1) * GAP + last;

    for (unsigned i = 0; i + 1 < columns; i++)
        used += widths[i];
    for (; used > width; used--) {
        unsigned widest = columns;
        for (unsigned i = 0; i + 1 < columns; i++)
            if (align[i] == 'L' && widths[i] > LEAST_CUT &&
                (widest == columns || widths[i] > widths[widest]))
                widest = i;
        if (widest == columns)
            break;
        widths[widest]--;
    }
}

static void put_spaces(qp_buffer *text, size_t count)
{
    qp_buffer_format(text, "%*s", (int)count, "");
}

static void put_cut(qp_buffer *text, const char *cell, size_t length, size_t room)
{
    if (length <= room)
        qp_buffer_append(text, cell, length);
    else if (room >= 2)
        qp_buffer_format(text, "%.*s..", (int)room - 2, cell);
}

static void put_cell(qp_buffer *text, const char *cell, size_t length, size_t width, char align)
{
    size_t shown = length < width ? length : width;
    if (align == 'r')
        put_spaces(text, width - shown);
    put_cut(text, cell, length, width);
    if (align != 'r')
        put_spaces(text, width - shown);
}

static void trim_line(qp_buffer *text)
{
    while (text->size > 0 && text->bytes[text->size - 1] == ' ')
        text->size--;
}

void qp_text_table_print(qp_text_table *table, size_t width, qp_buffer *text)
{
    size_t widths[QP_TEXT_TABLE_COLUMNS] = {0}, used = INDENT;
    unsigned column = 0;

    measure(&table->rows, widths);
    shrink(widths, table->align, width);
    for (size_t at = 0; at < table->rows.size;) {
        const char *cell;
        bool last;
        size_t length = next_cell(&table->rows, &at, &cell, &last);
        put_spaces(text, column == 0 ? INDENT : GAP);
        used = column == 0 ? INDENT : used + GAP;
        if (last && table->align[column + 1] == '\0') {
            put_cut(text, cell, length, used < width ? width - used : 0);
        } else {
            put_cell(text, cell, length, widths[column], table->align[column]);
            used += widths[column];
        }
        column++;
        if (last) {
            trim_line(text);
            qp_buffer_text(text, "\n");
            column = 0;
        }
    }
    if (table->rows.failed)
        text->failed = true;
    qp_buffer_free(&table->rows);
}
