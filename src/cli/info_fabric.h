/* SPDX-License-Identifier: Apache-2.0 */
/* info_fabric.h - what quipu info says of the fabric's files: texts, and images of bits. */
#ifndef QP_CLI_INFO_FABRIC_H
#define QP_CLI_INFO_FABRIC_H

#include "cli/info_weights.h"

/* "fabric" where the file begins as such a text or image, else NULL. */
const char *qp_info_fabric_text_kind(const qp_file *file);
const char *qp_info_fabric_image_kind(const qp_file *file);

/* Appends what is in the file, as text or as JSON members that begin with a comma. */
qp_status qp_info_fabric_text(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                              qp_error *error);
qp_status qp_info_fabric_image(const qp_file *file, const qp_info_request *request, qp_buffer *text,
                               qp_error *error);

#endif
