/* SPDX-License-Identifier: Apache-2.0 */
/* sets_write.c - the files of certificates/<capability>/ (section 14.3). */
#include "conform/sets.h"

#include <stdio.h>

#define PATH_SIZE 256

/* Where the files of one set go. */
typedef struct writing {
    qp_vectors_sink *sink;
    void *context;
    const qp_allocator *allocator;
    const qp_small_set *set;
    const qp_lowered *lowered;
    qp_error *error;
} writing;

/* Gives bytes as certificates/<capability>/<digest><rest>. */
static qp_status give(const writing *w, const char *before, const char *name, const char *after,
                      qp_member bytes)
{
    char path[PATH_SIZE];
    qp_buffer buffer;
    snprintf(path, sizeof path, "certificates/%s/%s%s%s%s", w->set->capability,
             qp_lowered_sha256(w->lowered), before, name, after);
    qp_buffer_init(&buffer, w->allocator);
    qp_buffer_append(&buffer, bytes.bytes, bytes.size);
    qp_status status = buffer.failed ? qp_fail_memory(w->error, "a file of a set")
                                     : w->sink(w->context, path, &buffer, w->error);
    qp_buffer_free(&buffer);
    return status;
}

static qp_status give_certificate(const writing *w)
{
    char *json;
    size_t size;
    qp_status status = qp_certificate_json(qp_lowered_certificate(w->lowered), w->allocator, &json,
                                           &size, w->error);
    if (status != QP_OK)
        return status;
    status = give(w, ".json", "", "", (qp_member){NULL, json, size});
    qp_bytes_free(w->allocator, json, size);
    return status;
}

static qp_status give_pin(const writing *w)
{
    char text[PATH_SIZE];
    if (w->set->pin == NULL)
        return QP_OK;
    int size = snprintf(text, sizeof text,
                        "{\"capability\":\"%s\",\"ops_profile\":\"%s\",\"sha256\":\"%s\"}",
                        w->set->capability, w->set->pin, qp_lowered_sha256(w->lowered));
    return give(w, "/pin", "", ".json", (qp_member){NULL, text, (size_t)size});
}

static qp_status give_set(const writing *w)
{
    qp_status status = give_certificate(w);
    for (size_t i = 0; i < qp_lowered_count(w->lowered) && status == QP_OK; i++) {
        qp_lowered_role role = qp_lowered_at(w->lowered, i);
        status = give(w, "/", role.name, ".whg1", (qp_member){NULL, role.bytes, role.size});
    }
    if (status == QP_OK)
        status = give_pin(w);
    for (size_t i = 0; i < w->set->count && status == QP_OK; i++)
        status = give(w, "/set/", w->set->paths[i], "", w->set->members[i]);
    return status;
}

/* A set without a capability, or whose graph came in a payload, has no place there. */
static qp_status write_set(writing *w)
{
    qp_lower_options options = {.capability = w->set->capability, .any_verdict = 1};
    qp_lowered *lowered;
    if (w->set->capability == NULL)
        return QP_OK;
    qp_status status =
        qp_lower(w->set->members, w->set->count, &options, w->allocator, &lowered, w->error);
    if (status != QP_OK)
        return status;
    w->lowered = lowered;
    if (qp_lowered_sha256(lowered) != NULL)
        status = give_set(w);
    qp_lowered_free(lowered);
    return status;
}

qp_status qp_small_sets_write(qp_vectors_sink *sink, void *context, const qp_allocator *allocator,
                              qp_error *error)
{
    qp_status status = QP_OK;
    for (size_t i = 0; i < qp_small_set_count() && status == QP_OK; i++) {
        qp_small_set set;
        status = qp_small_set_make(i, allocator, &set, error);
        if (status != QP_OK)
            return status;
        writing w = {sink, context, allocator, &set, NULL, error};
        status = write_set(&w);
        qp_small_set_free(&set);
    }
    return status;
}
