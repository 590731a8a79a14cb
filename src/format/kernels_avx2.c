/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_avx2.c - the decode kernels in AVX2 and F16C: see kernels.h. */
#include "format/ggml_blocks.h"
#include "format/kernels.h"

#if defined(QP_KERNELS_X86)

#    include "format/lanes_avx2.h"

#    include "format/kernels_direct.inc"
#    include "format/kernels_groups.inc"
#    include "format/kernels_blocks.inc"
#    include "format/kernels_grids.inc"
#    include "format/kernels_table.inc"

#endif
