/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_mpi.h - `mpirun -n N quipu convert`: the processes of a run share the rows of one
 * conversion. Built with -DQUIPU_MPI=ON; without it these do what one process does.
 */
#ifndef QP_CLI_CONVERT_MPI_H
#define QP_CLI_CONVERT_MPI_H

#include "quipu/convert.h"

#include <stdbool.h>

#ifdef QP_HAVE_MPI

/* Joins the other processes, if mpirun has started several. Each sees what the plan has become in
 * all of them: a failure in one is one of all. */
qp_status qp_mpi_agree(qp_status planned, qp_error *error);

/* qp_convert_run, shared. */
qp_status qp_mpi_convert(qp_convert_plan *plan, qp_error *error);

/* Whether this process speaks for all: the only one, or the first. */
bool qp_mpi_is_first(void);

/* Leaves the other processes, at the end of the verb. */
void qp_mpi_finish(void);

#else

static inline qp_status qp_mpi_agree(qp_status planned, qp_error *error)
{
    (void)error;
    return planned;
}

static inline qp_status qp_mpi_convert(qp_convert_plan *plan, qp_error *error)
{
    return qp_convert_run(plan, error);
}

static inline bool qp_mpi_is_first(void)
{
    return true;
}

static inline void qp_mpi_finish(void)
{
}

#endif

#endif
