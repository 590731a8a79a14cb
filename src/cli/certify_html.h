/* SPDX-License-Identifier: Apache-2.0 */
/* certify_html.h - a certificate as one page that a browser shows. */
#ifndef QP_CLI_CERTIFY_HTML_H
#define QP_CLI_CERTIFY_HTML_H

#include "bounds/bounds.h"

/* Appends a self-contained HTML page: nothing is fetched, and all of it can be read without its one
 * line of script. `title` is shown as the file's name. */
void qp_certify_html(const qp_certificate *certificate, const char *title, qp_buffer *page);

#endif
