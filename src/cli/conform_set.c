/* SPDX-License-Identifier: Apache-2.0 */
/* conform_set.c - lowering a set of the conformance directory again. */
#define _POSIX_C_SOURCE 200809L /* stat */

#include "cli/conform_set.h"

#include "cli/set_files.h"

#include <stdio.h>
#include <sys/stat.h>

#define FOLDER "certificates/"
#define ENDING ".json"
#define DIGEST_DIGITS 64
#define NAME_SIZE 1024

/* ---- paths -------------------------------------------------------------------------------- */

/* What follows certificates/<capability>/, or NULL. */
static const char *below_capability(const char *path)
{
    size_t length = sizeof FOLDER - 1;
    const char *slash = strncmp(path, FOLDER, length) == 0 ? strchr(path + length, '/') : NULL;
    return slash == NULL ? NULL : slash + 1;
}

bool qp_conform_set_is_certificate(const char *path)
{
    const char *name = below_capability(path);
    return name != NULL && strlen(name) == DIGEST_DIGITS + sizeof ENDING - 1 &&
           strcmp(name + DIGEST_DIGITS, ENDING) == 0;
}

bool qp_conform_set_is_part(const char *path)
{
    const char *name = below_capability(path);
    return name != NULL && strchr(name, '/') == name + DIGEST_DIGITS;
}

/* The certificate at hand. */
typedef struct place {
    qp_conform_run *run;
    const char *root, *path;
    char capability[256], digest[DIGEST_DIGITS + 1];
    qp_error *error;
} place;

/* ROOT/certificates/<capability>/<digest><rest>; false where it is too long. */
static bool name_of(const place *p, const char *slash, const char *name, const char *ending,
                    char whole[NAME_SIZE])
{
    int length = snprintf(whole, NAME_SIZE, "%s/" FOLDER "%s/%s%s%s%s", p->root, p->capability,
                          p->digest, slash, name, ending);
    return length > 0 && length < NAME_SIZE;
}

/* ---- results ------------------------------------------------------------------------------ */

static void fail(const place *p, const char *id, const char *what)
{
    qp_conform_difference difference = {p->path, 1, id, id == NULL ? 0 : strlen(id), what};
    p->run->failed++;
    if (p->run->report != NULL)
        p->run->report(p->run->context, &difference);
}

/* Compares a file with what the lowering gave. */
static qp_status compare(const place *p, const char *id, const char *name, const void *bytes,
                         size_t size)
{
    qp_file file;
    struct stat facts;
    if (stat(name, &facts) != 0) {
        fail(p, id, "the file is not there");
        return QP_OK;
    }
    qp_status status = qp_cli_read(name, &file, p->error);
    if (status != QP_OK)
        return status;
    if (file.size == size && memcmp(file.bytes, bytes, size) == 0)
        p->run->passed++;
    else
        fail(p, id, "the bytes are not those of the lowering");
    qp_file_close(&file);
    return QP_OK;
}

static qp_status compare_all(const place *p, const qp_lowered *set)
{
    char name[NAME_SIZE], *json;
    size_t size;
    const char *sha256 = qp_lowered_sha256(set);

    if (sha256 == NULL || strcmp(sha256, p->digest) != 0)
        fail(p, NULL, "the set's digest is not the file's name");
    qp_status status = QP_OK;
    for (size_t i = 0; i < qp_lowered_count(set) && status == QP_OK; i++) {
        qp_lowered_role role = qp_lowered_at(set, i);
        if (name_of(p, "/", role.name, ".whg1", name))
            status = compare(p, role.name, name, role.bytes, role.size);
    }
    if (status == QP_OK)
        status = qp_certificate_json(qp_lowered_certificate(set), NULL, &json, &size, p->error);
    if (status != QP_OK)
        return status;
    if (name_of(p, "", "", ENDING, name))
        status = compare(p, NULL, name, json, size);
    qp_bytes_free(NULL, json, size);
    return status;
}

/* ---- a set -------------------------------------------------------------------------------- */

static qp_status lower_again(const place *p, const qp_set_files *files)
{
    qp_lower_options options = {.capability = p->capability, .any_verdict = 1};
    qp_lowered *set;
    qp_error refusal = {0};

    qp_status status = qp_lower(files->members, files->count, &options, NULL, &set, &refusal);
    if (status == QP_NO_MEMORY || status == QP_INTERNAL) {
        *p->error = refusal;
        return status;
    }
    if (status != QP_OK) {
        fail(p, NULL, refusal.message);
        return QP_OK;
    }
    status = compare_all(p, set);
    qp_lowered_free(set);
    return status;
}

qp_status qp_conform_set(qp_conform_run *run, const char *root, const char *path, qp_error *error)
{
    place p = {.run = run, .root = root, .path = path, .error = error};
    const char *name = below_capability(path);
    const char *capability = path + sizeof FOLDER - 1;
    char folder[NAME_SIZE];
    struct stat facts;
    qp_set_files files;

    snprintf(p.capability, sizeof p.capability, "%.*s", (int)(name - 1 - capability), capability);
    snprintf(p.digest, sizeof p.digest, "%.*s", DIGEST_DIGITS, name);
    if (!name_of(&p, "/set", "", "", folder) || stat(folder, &facts) != 0) {
        run->skipped++;
        return QP_OK;
    }
    qp_status status = qp_set_files_open(folder, p.capability, &files, error);
    if (status != QP_OK)
        return status;
    status = lower_again(&p, &files);
    qp_set_files_close(&files);
    return status;
}
