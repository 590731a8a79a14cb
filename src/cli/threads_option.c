/* SPDX-License-Identifier: Apache-2.0 */
/* threads_option.c - see threads_option.h. */
#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "cli/threads_option.h"
#include "cli/cli.h"

#if defined(__unix__) || defined(__APPLE__)
#    include <unistd.h>
#endif

static int64_t processors(void)
{
    int64_t count = 1;
#ifdef _SC_NPROCESSORS_ONLN
    count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > QP_THREADS_MOST ? QP_THREADS_MOST : count;
}

bool qp_threads_option(const char *text, uint32_t *threads)
{
    int64_t number = 0;

    if (text == NULL)
        number = processors();
    else if (!qp_cli_i64(text, &number))
        return false;
    *threads = number < 1 || number > QP_THREADS_MOST ? 0 : (uint32_t)number;
    return *threads > 0;
}
