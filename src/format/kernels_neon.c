/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_neon.c - the decode kernels in NEON on aarch64: see kernels.h. */
#include "format/ggml_blocks.h"
#include "format/kernels.h"

#if defined(QP_KERNELS_NEON)

#    include "format/lanes_neon.h"

#    include "format/kernels_direct.inc"
#    include "format/kernels_groups.inc"
#    include "format/kernels_blocks.inc"
#    include "format/kernels_grids.inc"
#    include "format/kernels_table.inc"

#endif
