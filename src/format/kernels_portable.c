/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_portable.c - the decode kernels in plain C: see kernels.h. */
#include "format/ggml_blocks.h"
#include "format/lanes_plain.h"

#include "format/kernels_direct.inc"
#include "format/kernels_groups.inc"
#include "format/kernels_blocks.inc"
#include "format/kernels_grids.inc"
#include "format/kernels_table.inc"
