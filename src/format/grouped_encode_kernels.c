/* SPDX-License-Identifier: Apache-2.0 */
/* grouped_encode_kernels.c - the table of fast grouped encoders, the widest first. */
#include "format/grouped_encode.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
extern const qp_grouped_kernel qp_grouped_avx512, qp_grouped_avx2;
#    define ROWS &qp_grouped_avx512, &qp_grouped_avx2,
#else
#    define ROWS
#endif

static const qp_grouped_kernel *const kernels[] = {ROWS NULL};

size_t qp_grouped_kernel_count(void)
{
    return sizeof kernels / sizeof kernels[0] - 1;
}

const qp_grouped_kernel *qp_grouped_kernel_at(size_t index)
{
    return index < qp_grouped_kernel_count() ? kernels[index] : NULL;
}

const qp_grouped_kernel *qp_grouped_kernel_find(uint32_t cpu)
{
    for (size_t i = 0; kernels[i] != NULL; i++)
        if ((kernels[i]->cpu & cpu) == kernels[i]->cpu)
            return kernels[i];
    return NULL;
}
