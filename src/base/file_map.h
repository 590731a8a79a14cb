/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_map.h - the part of file.c that differs between systems (file_map.c).
 */
#ifndef QP_BASE_FILE_MAP_H
#define QP_BASE_FILE_MAP_H

#include "base/base.h"

#include <stdio.h>

/* Maps the file behind `stream` and sets bytes, size and mapped. False, with nothing touched, when
 * it cannot be mapped (a pipe, an empty file, a stream that was read from, no such system call):
 * the caller then reads it. The mapping outlives the stream. */
bool qp_file_map(FILE *stream, qp_file *file);

/* Ends a mapping that qp_file_map made. */
void qp_file_unmap(qp_file *file);

#endif
