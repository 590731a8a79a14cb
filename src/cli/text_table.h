/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_table.h - a table in plain text that fits a line of a given width.
 *
 *     qp_text_table table;
 *     qp_text_table_init(&table, "rl");
 *     qp_text_table_row(&table, "#\toperator");
 *     qp_text_table_row(&table, "0\tconv");
 *     qp_text_table_print(&table, 100, &buffer);
 */
#ifndef QP_CLI_TEXT_TABLE_H
#define QP_CLI_TEXT_TABLE_H

#include "base/base.h"

enum { QP_TEXT_TABLE_COLUMNS = 12 };

typedef struct qp_text_table {
    const char *align; /* a letter a column: 'l', 'r', or 'L' for a left one that may be cut */
    qp_buffer rows;    /* cells ended by a tab, rows by a line break */
} qp_text_table;

void qp_text_table_init(qp_text_table *table, const char *align);
/* One row: cells divided by tabs, one for each letter of `align`. */
void qp_text_table_row(qp_text_table *table, const char *format, ...) QP_PRINTF(2, 3);
/* Prints and frees the table. Where a line would pass `width`, the cells of 'L' columns and of the
 * last one are cut and end in "..". */
void qp_text_table_print(qp_text_table *table, size_t width, qp_buffer *text);

#endif
