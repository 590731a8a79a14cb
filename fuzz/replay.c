/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - gives every file named on the command line, and every file of every folder named, to a
 * fuzz target, so that a corpus is replayed without libFuzzer.
 */
#if !defined(_DEFAULT_SOURCE)
#    define _DEFAULT_SOURCE /* dirent.h */
#endif
#define _FILE_OFFSET_BITS 64 /* a folder of a large file system, on a 32-bit machine */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES_MAX = 1 << 22, PATH_BYTES = 4096 };

/* 1 where the file was read and tried. */
static int replay_file(const char *path)
{
    uint8_t *read_into = malloc(FILE_BYTES_MAX), *exact = NULL;
    FILE *file = fopen(path, "rb");
    int replayed = 0;

    if (file != NULL && read_into != NULL) {
        size_t size = fread(read_into, 1, FILE_BYTES_MAX, file);
        /* a block of the input's own size, so that a sanitizer sees a read beyond it */
        exact = malloc(size > 0 ? size : 1);
        if (exact != NULL && !ferror(file)) {
            for (size_t k = 0; k < size; k++)
                exact[k] = read_into[k];
            LLVMFuzzerTestOneInput(exact, size);
            replayed = 1;
        }
    }
    if (file != NULL)
        fclose(file);
    free(read_into);
    free(exact);
    return replayed;
}

static int replay_folder(const char *path, DIR *folder)
{
    int replayed = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[PATH_BYTES];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        replayed += replay_file(name);
    }
    return replayed;
}

int main(int argc, char **argv)
{
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            replayed += replay_file(argv[i]);
            continue;
        }
        replayed += replay_folder(argv[i], folder);
        closedir(folder);
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
