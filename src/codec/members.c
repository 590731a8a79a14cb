/* SPDX-License-Identifier: Apache-2.0 */
/* members.c - copies of the files of a set. */
#include "codec/codec.h"

const qp_member *qp_members_find(const qp_members *members, const char *path)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->at[i].path, path) == 0)
            return &members->at[i];
    return NULL;
}

/* The path and the bytes in one block: the bytes first, which stay aligned, at least one. */
static bool copy_one(const qp_member *member, const qp_allocator *allocator, qp_member *copy)
{
    size_t path_size = strlen(member->path) + 1, whole;
    if (!qp_add_size(member->size, path_size, &whole))
        return false;
    uint8_t *block = qp_allocate(allocator, whole, 1);
    if (block == NULL)
        return false;
    if (member->size > 0)
        memcpy(block, member->bytes, member->size);
    memcpy(block + member->size, member->path, path_size);
    *copy = (qp_member){(const char *)block + member->size, block, member->size};
    return true;
}

qp_status qp_members_copy(const qp_member *members, size_t count, const qp_allocator *allocator,
                          qp_members *copy, qp_error *error)
{
    *copy = (qp_members){qp_allocate(allocator, count, sizeof *copy->at), 0};
    if (copy->at == NULL)
        return qp_fail_memory(error, "the files of a set");
    copy->count = count;
    for (size_t i = 0; i < count; i++)
        if (!copy_one(&members[i], allocator, &copy->at[i])) {
            qp_members_free(allocator, copy);
            return qp_fail_memory(error, "the files of a set");
        }
    return QP_OK;
}

void qp_members_free(const qp_allocator *allocator, qp_members *members)
{
    for (size_t i = members->count; i > 0; i--) {
        const qp_member *member = &members->at[i - 1];
        if (member->bytes != NULL) {
            uint8_t *block = (uint8_t *)(uintptr_t)member->bytes;
            qp_release(allocator, block, member->size + strlen(member->path) + 1, 1);
        }
    }
    qp_release(allocator, members->at, members->count, sizeof *members->at);
    *members = (qp_members){0};
}
