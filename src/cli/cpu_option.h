/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_option.h - the value of --cpu: which features of the processor may be used. */
#ifndef QP_CLI_CPU_OPTION_H
#define QP_CLI_CPU_OPTION_H

#include "base/base.h"

#define QP_CPU_OPTION_NAMES "all, none, avx2, avx512 or neon"

/* The features of a name that this processor has; all of them where `name` is NULL. False for a
 * name that there is not. */
bool qp_cpu_option(const char *name, uint32_t *cpu);

#endif
