/* SPDX-License-Identifier: Apache-2.0 */
/* threads_option.h - the value of --threads: how many threads a verb may use. */
#ifndef QP_CLI_THREADS_OPTION_H
#define QP_CLI_THREADS_OPTION_H

#include "base/base.h"

#define QP_THREADS_MOST 1024

/* The number in `text`, from 1 to QP_THREADS_MOST; the processors of this machine where `text` is
 * NULL. False for anything else. */
bool qp_threads_option(const char *text, uint32_t *threads);

#endif
