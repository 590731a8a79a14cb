/* SPDX-License-Identifier: Apache-2.0 */
/* conform_ids.c - the ids of one vector file. */
#include "conform/conform_ids.h"

#define FIRST_CAPACITY ((size_t)64)

void qp_conform_ids_init(qp_conform_ids *ids, const qp_allocator *allocator)
{
    *ids = (qp_conform_ids){.allocator = qp_allocator_or_default(allocator)};
}

void qp_conform_ids_free(qp_conform_ids *ids)
{
    qp_release(&ids->allocator, ids->digests, ids->capacity, sizeof *ids->digests);
    ids->digests = NULL;
    ids->capacity = ids->count = 0;
}

/* Where a digest stands, or the free place for it. No text is known whose digest is all zero. */
static uint8_t *find(const qp_conform_ids *ids, const uint8_t digest[QP_SHA256_SIZE])
{
    static const uint8_t free_place[QP_SHA256_SIZE];
    size_t mask = ids->capacity - 1;
    size_t at = (size_t)qp_load_u64(digest) & mask;
    while (memcmp(ids->digests[at], free_place, QP_SHA256_SIZE) != 0 &&
           memcmp(ids->digests[at], digest, QP_SHA256_SIZE) != 0)
        at = (at + 1) & mask;
    return ids->digests[at];
}

/* Keeps at least half of the table free. */
static bool make_room(qp_conform_ids *ids)
{
    qp_conform_ids larger = *ids;
    if (ids->count < ids->capacity / 2)
        return true;
    if (ids->capacity == 0)
        larger.capacity = FIRST_CAPACITY;
    else if (!qp_mul_size(ids->capacity, 2, &larger.capacity))
        return false;
    larger.digests = qp_allocate(&ids->allocator, larger.capacity, sizeof *larger.digests);
    if (larger.digests == NULL)
        return false;
    for (size_t i = 0; i < ids->capacity; i++)
        memcpy(find(&larger, ids->digests[i]), ids->digests[i], QP_SHA256_SIZE);
    qp_release(&ids->allocator, ids->digests, ids->capacity, sizeof *ids->digests);
    *ids = larger;
    return true;
}

qp_status qp_conform_ids_add(qp_conform_ids *ids, const char *id, size_t size, bool *is_new,
                             qp_error *error)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;

    if (!make_room(ids))
        return qp_fail_memory(error, "the ids of a vector file");
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, id, size);
    qp_sha256_final(&hash, digest);
    uint8_t *place = find(ids, digest);
    *is_new = memcmp(place, digest, QP_SHA256_SIZE) != 0;
    memcpy(place, digest, QP_SHA256_SIZE);
    ids->count += *is_new;
    return QP_OK;
}
