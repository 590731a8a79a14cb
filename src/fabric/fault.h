/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - errors of the fabric room: a class, a rule, a place in a text file, one sentence.
 */
#ifndef QP_FABRIC_FAULT_H
#define QP_FABRIC_FAULT_H

#include "base/base.h"
#include "quipu/fabric.h"

/* A place in a text file. `line` 0: no place. The name belongs to the model. */
typedef struct qp_fabric_place {
    const char *file;
    uint32_t line, column;
} qp_fabric_place;

#define QP_FABRIC_NOWHERE ((qp_fabric_place){NULL, 0, 0})

/* Fills `error` (which may be NULL) and returns the status that belongs to the class. */
qp_status qp_fabric_fail(qp_fabric_error *error, qp_fabric_fault fault, qp_fabric_place place,
                         const char *format, ...) QP_PRINTF(4, 5);

/* CapabilityInadmissible by a rule. */
qp_status qp_fabric_refuse(qp_fabric_error *error, qp_fabric_rule rule, qp_fabric_place place,
                           const char *format, ...) QP_PRINTF(4, 5);

/* Out of memory, and a call that breaks the contract: no class, no place. */
qp_status qp_fabric_fail_memory(qp_fabric_error *error, const char *what);
qp_status qp_fabric_fail_argument(qp_fabric_error *error, const char *format, ...) QP_PRINTF(2, 3);

#endif
