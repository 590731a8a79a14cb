/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupt.h - stopping long work on Ctrl-C without leaving its unfinished files behind.
 */
#ifndef QP_CLI_INTERRUPT_H
#define QP_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the first SIGINT, SIGTERM or SIGHUP is only noted, for the work to end by itself; a
 * second one ends the process at once. A signal that was ignored (nohup) stays so. */
void qp_interrupt_watch(void);

/* Whether a signal was noted. */
bool qp_interrupted(void);

/* Nothing is left to put in order: signals end the process again, and one that was noted does so
 * now, as its parent expects. */
void qp_interrupt_end(void);

#endif
