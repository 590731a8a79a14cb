/* SPDX-License-Identifier: Apache-2.0 */
/* html.h - text in HTML. */
#ifndef QP_CLI_HTML_H
#define QP_CLI_HTML_H

#include "base/base.h"

/* Appends text that stands for itself in an element and in a quoted attribute: & < > " ' become
 * references, and a byte that is no printable ASCII becomes '?'. */
void qp_html_text(qp_buffer *page, const char *text, size_t size);
static inline void qp_html_string(qp_buffer *page, const char *text)
{
    qp_html_text(page, text, strlen(text));
}
/* The same for what a buffer holds, which is emptied. */
void qp_html_take(qp_buffer *page, qp_buffer *text);

#endif
