/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_avx512.c - the decode kernels in AVX-512: see kernels.h. */
#include "format/ggml_blocks.h"
#include "format/kernels.h"

#if defined(QP_KERNELS_X86)

#    include "format/lanes_avx512.h"

#    include "format/kernels_direct.inc"
#    include "format/kernels_groups.inc"
#    include "format/kernels_blocks.inc"
#    include "format/kernels_grids.inc"
#    include "format/kernels_table.inc"

#endif
