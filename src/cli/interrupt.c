/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.c - see interrupt.h. */
#define _POSIX_C_SOURCE 200809L /* sigaction */

#include "cli/interrupt.h"

#if defined(__wasi__) /* which has no signals */

void qp_interrupt_watch(void)
{
}

bool qp_interrupted(void)
{
    return false;
}

void qp_interrupt_end(void)
{
}

#else

#    include <signal.h>
#    include <stddef.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { COUNT = sizeof numbers / sizeof *numbers };

static volatile sig_atomic_t noted; /* a handler can reach nothing else */

static void note(int number)
{
    noted = number;
    (void)signal(number, SIG_DFL);
}

void qp_interrupt_watch(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct sigaction before, action = {.sa_handler = note};
        if (sigaction(numbers[i], NULL, &before) != 0 || before.sa_handler == SIG_IGN)
            continue;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        (void)sigaction(numbers[i], &action, NULL); /* without it the signal ends the process */
    }
}

bool qp_interrupted(void)
{
    return noted != 0;
}

void qp_interrupt_end(void)
{
    struct sigaction now;
    for (int i = 0; i < COUNT; i++) {
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == note)
            (void)signal(numbers[i], SIG_DFL);
    }
    if (noted != 0)
        (void)raise(noted);
}

#endif
