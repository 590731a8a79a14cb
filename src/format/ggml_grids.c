/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ggml_grids.c - the tables of the grid types (ggml-blocks.md section 4), which cmake/grids.cmake
 * writes from ggml-grids.json.
 */
#include "format/ggml_blocks.h"

#include "ggml_grids.inc"
