/* SPDX-License-Identifier: Apache-2.0 */
/* info_metadata.h - the metadata of a file of weights in words and in JSON. */
#ifndef QP_CLI_INFO_METADATA_H
#define QP_CLI_INFO_METADATA_H

#include "cli/cli.h"

/* "u32", "string", "array of f32". */
void qp_info_metadata_type(const qp_artifact_metadatum *datum, qp_buffer *text);

/* The value in one line of printable ASCII, of at most `width` characters or so. */
void qp_info_metadata_text(const qp_artifact_metadatum *datum, size_t width, qp_buffer *text);

/* The value as JSON. Of an array the first 16 elements: {"array":"u32","count":N,"first":[...]}.
 * Floats that JSON has no numbers for are strings. */
void qp_info_metadata_json(const qp_artifact_metadatum *datum, qp_buffer *text);

#endif
