/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - open sets, and the cache that keeps them (integer-operators.md section 8.6).
 *
 * The key of a kept set is the digest of the exact bytes and the capability; the lowering and the
 * profile follow from the capability, whose row of the registry does not change while the program
 * runs.
 */
#include "base/json.h"
#include "codec/codec.h"

struct qp_set_cache {
    qp_allocator allocator;
    size_t budget, bytes, count;
    qp_set *newest, *oldest;
};

/* ---- the files and their digest ----------------------------------------------------------- */

/* The most files that any form has. */
enum { FILES_MAX = 16 };

/* The files of a set, in the order of their paths. */
typedef struct selection {
    qp_member files[FILES_MAX];
    size_t count;
} selection;

static void insert(selection *chosen, const qp_member *member)
{
    size_t at = chosen->count++;
    for (; at > 0 && strcmp(chosen->files[at - 1].path, member->path) > 0; at--)
        chosen->files[at] = chosen->files[at - 1];
    chosen->files[at] = *member;
}

/* The files that the capability reads. One that is missing is left for qp_lower to refuse. */
static void choose(const char *capability, const qp_member *members, size_t n_members,
                   selection *chosen)
{
    qp_members all = {(qp_member *)(uintptr_t)members, n_members};
    const char *path;

    chosen->count = 0;
    for (size_t i = 0; i < FILES_MAX && (path = qp_set_path(capability, i)) != NULL; i++) {
        const qp_member *member = qp_members_find(&all, path);
        if (member != NULL)
            insert(chosen, member);
    }
    bool one_file = qp_set_path(capability, 1) == NULL;
    if (chosen->count == 0 && one_file && n_members == 1)
        insert(chosen, &members[0]);
}

static void digest_of(const void *bytes, size_t size, char sha256[QP_SHA256_HEX_SIZE])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, sha256);
}

/* The digest of one file, or of the listing of several (docs/payloads.md, "Sets"). */
static qp_status identify(const char *capability, const selection *chosen,
                          const qp_allocator *allocator, char sha256[QP_SHA256_HEX_SIZE],
                          qp_error *error)
{
    qp_buffer listing;
    char digest[QP_SHA256_HEX_SIZE];

    if (qp_set_path(capability, 1) == NULL && chosen->count == 1) {
        digest_of(chosen->files[0].bytes, chosen->files[0].size, sha256);
        return QP_OK;
    }
    qp_buffer_init(&listing, allocator);
    for (size_t i = 0; i < chosen->count; i++) {
        const qp_member *file = &chosen->files[i];
        digest_of(file->bytes, file->size, digest);
        qp_buffer_text(&listing, i == 0 ? "{" : ",");
        qp_buffer_json_string(&listing, file->path, strlen(file->path));
        qp_buffer_format(&listing, ":\"%s\"", digest);
    }
    qp_buffer_text(&listing, "}");
    qp_status status = listing.failed ? qp_fail_memory(error, "a set's listing") : QP_OK;
    if (status == QP_OK)
        digest_of(listing.bytes, listing.size, sha256);
    qp_buffer_free(&listing);
    return status;
}

/* ---- one set ------------------------------------------------------------------------------ */

static void destroy(qp_set *set)
{
    qp_allocator outer = set->outer;
    qp_entropy_free(&set->allocator, &set->entropy);
    qp_lowered_free(set->lowered);
    if (set->members.at != NULL)
        qp_members_free(&set->allocator, &set->members);
    qp_release(&outer, set, 1, sizeof *set);
}

static qp_status load(qp_set *set, const selection *chosen, const qp_set_options *options,
                      qp_error *error)
{
    qp_lower_options asked = {.capability = options->capability, .pin = options->pin};
    qp_status status =
        qp_members_copy(chosen->files, chosen->count, &set->allocator, &set->members, error);
    if (status == QP_OK)
        status = qp_lower(set->members.at, set->members.count, &asked, &set->allocator,
                          &set->lowered, error);
    if (status == QP_OK && strcmp(qp_lowered_sha256(set->lowered), set->sha256) != 0)
        status = qp_fail(error, QP_INTERNAL, "a set has two digests");
    if (status == QP_OK && set->driver->prepare != NULL)
        status = set->driver->prepare(set, error);
    return status;
}

static qp_status make(const selection *chosen, const qp_set_options *options, const char *sha256,
                      const qp_allocator *allocator, qp_set **set, qp_error *error)
{
    qp_set *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a set");
    made->outer = qp_allocator_or_default(allocator);
    made->allocator = qp_budget_init(&made->budget, SIZE_MAX, allocator);
    made->driver = qp_driver_find(options->capability);
    made->holders = 1;
    memcpy(made->sha256, sha256, sizeof made->sha256);
    qp_status status = load(made, chosen, options, error);
    if (status == QP_OK)
        *set = made;
    else
        destroy(made);
    return status;
}

/* ---- the cache ---------------------------------------------------------------------------- */

qp_status qp_set_cache_create(size_t budget, const qp_allocator *allocator, qp_set_cache **cache,
                              qp_error *error)
{
    *cache = qp_allocate(allocator, 1, sizeof **cache);
    if (*cache == NULL)
        return qp_fail_memory(error, "a cache of sets");
    (*cache)->allocator = qp_allocator_or_default(allocator);
    (*cache)->budget = budget;
    return QP_OK;
}

static void unlink_set(qp_set_cache *cache, qp_set *set)
{
    *(set->newer == NULL ? &cache->newest : &set->newer->older) = set->older;
    *(set->older == NULL ? &cache->oldest : &set->older->newer) = set->newer;
    set->newer = set->older = NULL;
    cache->count--;
    cache->bytes -= qp_set_bytes(set);
}

static void link_newest(qp_set_cache *cache, qp_set *set)
{
    set->older = cache->newest;
    *(set->older == NULL ? &cache->oldest : &set->older->newer) = set;
    cache->newest = set;
    cache->count++;
    cache->bytes += qp_set_bytes(set);
}

/* Drops what nobody holds, least recently used first, until the budget holds. */
static void shrink(qp_set_cache *cache)
{
    qp_set *newer;
    for (qp_set *set = cache->oldest; set != NULL && cache->bytes > cache->budget; set = newer) {
        newer = set->newer;
        if (set->holders == 0) {
            unlink_set(cache, set);
            destroy(set);
        }
    }
}

void qp_set_cache_free(qp_set_cache *cache)
{
    if (cache == NULL)
        return;
    cache->budget = 0;
    shrink(cache);
    qp_allocator allocator = cache->allocator;
    qp_release(&allocator, cache, 1, sizeof *cache);
}

size_t qp_set_cache_count(const qp_set_cache *cache)
{
    return cache->count;
}

size_t qp_set_cache_bytes(const qp_set_cache *cache)
{
    return cache->bytes;
}

static qp_set *find(qp_set_cache *cache, const char *capability, const char *sha256)
{
    for (qp_set *set = cache->newest; set != NULL; set = set->older)
        if (strcmp(set->sha256, sha256) == 0 && strcmp(set->driver->capability, capability) == 0)
            return set;
    return NULL;
}

/* The set that the cache holds, or one that it will hold from now on. */
static qp_status open_kept(const selection *chosen, const qp_set_options *options,
                           const char *sha256, qp_set **set, qp_error *error)
{
    qp_set_cache *cache = options->cache;
    qp_set *found = find(cache, options->capability, sha256);
    qp_status status;

    if (found != NULL) {
        status = qp_lowered_require(found->lowered, options->pin, error);
        if (status != QP_OK)
            return status;
        unlink_set(cache, found);
        found->holders++;
    } else {
        status = make(chosen, options, sha256, &cache->allocator, &found, error);
        if (status != QP_OK)
            return status;
        found->cache = cache;
    }
    link_newest(cache, found);
    shrink(cache);
    *set = found;
    return QP_OK;
}

/* ---- the front door ----------------------------------------------------------------------- */

static qp_status check_capability(const char *capability, qp_error *error)
{
    const qp_driver *driver = qp_driver_find(capability);
    if (driver == NULL || !driver->reads_set)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "no capability with a parameter set that this library decodes has the name "
                       "%.100s",
                       capability);
    return QP_OK;
}

static qp_status check_digest(const char *wanted, const char *sha256, qp_error *error)
{
    if (wanted == NULL || strcmp(wanted, sha256) == 0)
        return QP_OK;
    return qp_fail(error, QP_MODEL_MISMATCH, "the set %s is asked for, and this one is %s", wanted,
                   sha256);
}

qp_status qp_set_open(const qp_member *members, size_t n_members, const qp_set_options *options,
                      const qp_allocator *allocator, qp_set **set, qp_error *error)
{
    const qp_allocator *from = options->cache == NULL ? allocator : &options->cache->allocator;
    char sha256[QP_SHA256_HEX_SIZE];
    selection chosen;

    *set = NULL;
    qp_status status = check_capability(options->capability, error);
    if (status != QP_OK)
        return status;
    choose(options->capability, members, n_members, &chosen);
    status = identify(options->capability, &chosen, from, sha256, error);
    if (status == QP_OK)
        status = check_digest(options->sha256, sha256, error);
    if (status != QP_OK)
        return status;
    return options->cache == NULL ? make(&chosen, options, sha256, from, set, error)
                                  : open_kept(&chosen, options, sha256, set, error);
}

void qp_set_close(qp_set *set)
{
    if (set == NULL)
        return;
    set->holders--;
    if (set->cache != NULL)
        shrink(set->cache);
    else
        destroy(set);
}

const qp_lowered *qp_set_lowered(const qp_set *set)
{
    return set->lowered;
}

size_t qp_set_bytes(const qp_set *set)
{
    return set->budget.used + sizeof *set;
}
