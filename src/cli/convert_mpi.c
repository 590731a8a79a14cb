/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_mpi.c - a conversion shared by the processes of an MPI run: each encodes its part of the
 * rows and writes it into the one artifact by MPI-IO (artifact/convert.h has the order of things).
 */
#include "cli/convert_mpi.h"

#include "artifact/convert.h"
#include "base/threads.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#define WRITE_STEP ((size_t)1 << 30) /* MPI counts in int */

/* mpirun tells its processes how many there are; a program that runs alone does not join MPI. */
static bool is_shared(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *size = getenv(names[i]);
        if (size != NULL && atoi(size) > 1)
            return true;
    }
    return false;
}

static bool has_joined(void)
{
    int joined = 0, left = 0;
    return MPI_Initialized(&joined) == MPI_SUCCESS && joined != 0 &&
           MPI_Finalized(&left) == MPI_SUCCESS && left == 0;
}

bool qp_mpi_is_first(void)
{
    int rank = 0;
    if (has_joined())
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == 0;
}

void qp_mpi_finish(void)
{
    if (has_joined())
        MPI_Finalize();
}

/* ---- how the processes speak ----------------------------------------------------------------- */

/* The files of this process, and the lock that its threads write under: MPI is asked for no more
 * than one caller at a time. */
typedef struct shared_files {
    MPI_File *files;
    size_t count;
    qp_lock *lock;
} shared_files;

static int greatest(void *context, int number)
{
    int all = number;
    (void)context;
    MPI_Allreduce(&number, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void broadcast(void *context, void *bytes, size_t size)
{
    (void)context;
    for (uint8_t *at = bytes; size > 0;) {
        size_t step = size < WRITE_STEP ? size : WRITE_STEP;
        MPI_Bcast(at, (int)step, MPI_BYTE, 0, MPI_COMM_WORLD);
        at += step;
        size -= step;
    }
}

static void maxima(void *context, float *values, size_t count)
{
    (void)context;
    while (count > 0) {
        size_t step = count < INT_MAX ? count : INT_MAX;
        MPI_Allreduce(MPI_IN_PLACE, values, (int)step, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
        values += step;
        count -= step;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static qp_status fail_mpi(qp_error *error, const char *verb, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return qp_fail(error, QP_IO, "cannot %s the shared file: %.120s", verb, text);
}

/* All processes open one file after the other, and stop at the first that one of them cannot open.
 */
static qp_status open_files(void *context, const char *const *paths, size_t count, qp_error *error)
{
    shared_files *shared = context;
    shared->files = calloc(count, sizeof *shared->files);
    if (greatest(NULL, shared->files == NULL) != 0)
        return qp_fail_memory(error, "the files of a conversion");
    for (size_t i = 0; i < count; i++) {
        int code = MPI_File_open(MPI_COMM_WORLD, paths[i], MPI_MODE_WRONLY, MPI_INFO_NULL,
                                 &shared->files[i]);
        if (greatest(NULL, code != MPI_SUCCESS) != 0)
            return fail_mpi(error, "open", code);
        shared->count++;
    }
    return QP_OK;
}

static qp_status close_files(void *context, qp_error *error)
{
    shared_files *shared = context;
    int worst = MPI_SUCCESS;
    for (size_t i = 0; i < shared->count; i++) {
        int code = MPI_File_close(&shared->files[i]);
        worst = code != MPI_SUCCESS ? code : worst;
    }
    shared->count = 0;
    return worst == MPI_SUCCESS ? QP_OK : fail_mpi(error, "close", worst);
}

static qp_status write_at(void *context, size_t file, uint64_t offset, const void *bytes,
                          size_t size, qp_error *error)
{
    shared_files *shared = context;
    const uint8_t *at = bytes;
    int code = MPI_SUCCESS;
    qp_lock_take(shared->lock);
    while (size > 0 && code == MPI_SUCCESS) {
        size_t step = size < WRITE_STEP ? size : WRITE_STEP;
        MPI_Status status;
        int wrote = 0;
        code = MPI_File_write_at(shared->files[file], (MPI_Offset)offset, at, (int)step, MPI_BYTE,
                                 &status);
        if (code == MPI_SUCCESS)
            MPI_Get_count(&status, MPI_BYTE, &wrote);
        if (code == MPI_SUCCESS && wrote <= 0)
            code = MPI_ERR_NO_SPACE;
        at += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    qp_lock_give(shared->lock);
    return code == MPI_SUCCESS ? QP_OK : fail_mpi(error, "write", code);
}

/* ---- the run --------------------------------------------------------------------------------- */

qp_status qp_mpi_agree(qp_status planned, qp_error *error)
{
    int provided = 0;
    if (!is_shared())
        return planned;
    if (!has_joined())
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    int worst = greatest(NULL, (int)planned);
    if (planned == QP_OK && worst != QP_OK)
        return qp_fail(error, (qp_status)worst, "another process of the conversion has failed");
    return planned;
}

qp_status qp_mpi_convert(qp_convert_plan *plan, qp_error *error)
{
    if (!has_joined())
        return qp_convert_run(plan, error);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shared_files files = {.lock = qp_lock_new(NULL)};
    const qp_convert_share share = {.rank = (uint32_t)rank,
                                    .size = (uint32_t)size,
                                    .broadcast = broadcast,
                                    .maxima = maxima,
                                    .greatest = greatest,
                                    .open = open_files,
                                    .close = close_files,
                                    .sink = {write_at, &files},
                                    .context = &files};
    qp_status status = files.lock != NULL ? QP_OK : qp_fail_memory(error, "a lock");
    status = qp_mpi_agree(status, error);
    if (status == QP_OK)
        status = qp_convert_run_share(plan, &share, error);
    free(files.files);
    qp_lock_free(files.lock);
    return status;
}
