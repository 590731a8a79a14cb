/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_option.c - see cpu_option.h. */
#include "cli/cpu_option.h"

bool qp_cpu_option(const char *name, uint32_t *cpu)
{
    static const struct {
        const char *name;
        uint32_t features;
    } names[] = {{"all", UINT32_MAX},
                 {"none", 0},
                 {"avx2", QP_CPU_AVX2},
                 {"avx512", QP_CPU_AVX512 | QP_CPU_AVX2},
                 {"neon", QP_CPU_NEON}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name == NULL || strcmp(name, names[i].name) == 0) {
            *cpu = qp_cpu_features() & names[i].features;
            return true;
        }
    return false;
}
