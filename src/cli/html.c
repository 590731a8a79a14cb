/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - text in HTML. */
#include "cli/html.h"

static const char *reference(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void qp_html_text(qp_buffer *page, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char *stands = reference(text[i]);
        if (stands != NULL)
            qp_buffer_text(page, stands);
        else
            qp_buffer_append(page, text[i] >= 0x20 && text[i] < 0x7F ? &text[i] : "?", 1);
    }
}

void qp_html_take(qp_buffer *page, qp_buffer *text)
{
    qp_html_text(page, (const char *)text->bytes, text->size);
    page->failed |= text->failed;
    text->size = 0;
}
