/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_map.c - mapping of files: the POSIX way, and the answer "no" for systems without it.
 */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)

#    define _DEFAULT_SOURCE 1    /* madvise */
#    define _DARWIN_C_SOURCE 1   /* the same on macOS */
#    define _FILE_OFFSET_BITS 64 /* files over 2 GiB are seen as such on 32-bit systems */

#    include "base/file_map.h"

#    include <sys/mman.h>
#    include <sys/stat.h>
#    include <unistd.h>

bool qp_file_map(FILE *stream, qp_file *file)
{
    int descriptor = fileno(stream);
    struct stat facts;

    if (descriptor < 0 || fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return false;
    if (facts.st_size <= 0 || (uint64_t)facts.st_size > PTRDIFF_MAX)
        return false;
    if (lseek(descriptor, 0, SEEK_CUR) != 0)
        return false;

    size_t size = (size_t)facts.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return false;
    (void)madvise(bytes, size, MADV_SEQUENTIAL); /* advice only: a refusal changes nothing */
    file->bytes = bytes;
    file->size = size;
    file->mapped = true;
    return true;
}

void qp_file_unmap(qp_file *file)
{
    (void)munmap((void *)(uintptr_t)file->bytes, file->size);
}

#else

#    include "base/file_map.h"

bool qp_file_map(FILE *stream, qp_file *file)
{
    (void)stream;
    (void)file;
    return false;
}

void qp_file_unmap(qp_file *file)
{
    (void)file;
}

#endif
