/* SPDX-License-Identifier: Apache-2.0 */
/* limit.c - in a file of its own, so that it is compiled as it stands and called. */
#include "bench.h"

void limit_multiply_add(int64_t *restrict acc, const int64_t *restrict x, int64_t weight,
                        size_t count)
{
    for (size_t k = 0; k < count; k++)
        acc[k] += weight * x[k];
}
