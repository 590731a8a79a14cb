/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - the table of decode kernels, the widest instruction set first. */
#include "format/kernels.h"

#include <string.h>

static const qp_decode_kernel *const tables[] = {
#if defined(QP_KERNELS_X86)
    qp_kernels_avx512,
    qp_kernels_avx2,
#elif defined(QP_KERNELS_NEON)
    qp_kernels_neon,
#endif
    qp_kernels_portable,
};

enum { TABLES = sizeof tables / sizeof *tables };

const qp_decode_kernel *qp_decode_kernel_at(size_t index)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const qp_decode_kernel *kernel = tables[t]; kernel->name != NULL; kernel++)
            if (index-- == 0)
                return kernel;
    return NULL;
}

size_t qp_decode_kernel_count(void)
{
    size_t count = 0;
    while (qp_decode_kernel_at(count) != NULL)
        count++;
    return count;
}

const qp_decode_kernel *qp_decode_kernel_find(const qp_format *format, uint32_t cpu)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const qp_decode_kernel *kernel = tables[t]; kernel->name != NULL; kernel++)
            if ((kernel->cpu & cpu) == kernel->cpu && strcmp(kernel->format, format->name) == 0)
                return kernel;
    return NULL;
}
