/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - the parts of running one line. A function returns QP_MALFORMED, with the sentence in
 * `error`, where the line is malformed or differs from what this library gives; that is the line's
 * failure. Any other status but QP_OK is the program's.
 */
#ifndef QP_CONFORM_LINE_H
#define QP_CONFORM_LINE_H

#include "conform/conform.h"

/* ---- reading (line.c) --------------------------------------------------------------------- */

/* Parses a line that is canonical as far as its bytes say: printable ASCII, no space outside a
 * string, no bare number, no escape but \" and \\. The order of members is qp_line_members'. */
qp_status qp_line_parse(qp_json *json, const char *line, size_t size, qp_error *error);

/* The values of an object with exactly these members, in this order. */
qp_status qp_line_members(qp_json_value object, const char *const *names, size_t count,
                          qp_json_value *values, qp_error *error);

/* A string's bytes as they stand between the quotes, escapes included; false for another kind. */
bool qp_line_string(qp_json_value value, const char **text, size_t *size);

/* The bytes that lowercase hexadecimal spells, in place of what `bytes` held. */
qp_status qp_line_hex(qp_json_value value, qp_buffer *bytes, qp_error *error);

/* A decimal integer of any size: the nearest int64, and whether that is not the value itself. */
qp_status qp_line_integer(qp_json_value value, int64_t *integer, bool *beyond, qp_error *error);

/* ---- decodes (conform_decode.c) ----------------------------------------------------------- */

/* Runs the decodes of one vector in a session that has made none: one sequence (section 10.3). */
qp_status qp_conform_decodes(qp_conform *conform, qp_session *session, qp_json_value decodes,
                             qp_error *error);

#endif
