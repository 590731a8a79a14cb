/* SPDX-License-Identifier: Apache-2.0 */
/* convert_pipe.c - see convert_pipe.h. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "cli/convert_pipe.h"

#include "cli/interrupt.h"
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__wasi__) /* which has no folder for temporary files */

qp_status qp_convert_pipe_open(qp_convert_pipe *pipe, qp_error *error)
{
    *pipe = (qp_convert_pipe){0};
    return qp_fail(error, QP_IO, "standard output takes no file of weights here: name a file");
}

#else

/* `start` and `end` one after the other. */
static char *join(const char *start, const char *end)
{
    size_t length = strlen(start), size = strlen(end) + 1;
    char *text = malloc(length + size);
    if (text != NULL) {
        memcpy(text, start, length);
        memcpy(text + length, end, size);
    }
    return text;
}

qp_status qp_convert_pipe_open(qp_convert_pipe *pipe, qp_error *error)
{
    const char *place = getenv("TMPDIR");
    *pipe = (qp_convert_pipe){0};
    char *folder = join(place != NULL && *place != '\0' ? place : "/tmp", "/quipu-XXXXXX");
    if (folder == NULL)
        return qp_fail_memory(error, "the name of a temporary file");
    if (mkdtemp(folder) == NULL) {
        qp_status status = qp_fail(error, QP_IO, "cannot make a temporary folder %.120s: %s",
                                   folder, strerror(errno));
        free(folder);
        return status;
    }
    pipe->folder = folder;
    pipe->path = join(folder, "/weights");
    return pipe->path != NULL ? QP_OK : qp_fail_memory(error, "the name of a temporary file");
}

#endif

qp_status qp_convert_pipe_send(qp_convert_pipe *pipe, qp_error *error)
{
    qp_file file;
    qp_status status = qp_file_open(pipe->path, NULL, &file, error);
    if (status != QP_OK)
        return status;
    qp_convert_pipe_close(pipe); /* the bytes are mapped, and stay */
    qp_interrupt_end();
    status = qp_output_write("-", file.bytes, file.size, error);
    qp_file_close(&file);
    return status;
}

void qp_convert_pipe_close(qp_convert_pipe *pipe)
{
    if (pipe->path != NULL)
        (void)unlink(pipe->path);
    if (pipe->folder != NULL)
        (void)rmdir(pipe->folder);
    free(pipe->path);
    free(pipe->folder);
    *pipe = (qp_convert_pipe){0};
}
