/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocate.c - the default allocator, zeroed arrays, and arenas.
 */
#include "base/base.h"

#include <stdalign.h>
#include <stdlib.h>

static void *default_reallocate(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

qp_allocator qp_allocator_or_default(const qp_allocator *allocator)
{
    return allocator != NULL ? *allocator : (qp_allocator){default_reallocate, NULL};
}

/* The bytes of an array, at least one so that a block always exists; false when they overflow. */
static bool block_size(size_t count, size_t size, size_t *bytes)
{
    if (!qp_mul_size(count, size, bytes) || *bytes > PTRDIFF_MAX)
        return false;
    if (*bytes == 0)
        *bytes = 1;
    return true;
}

void *qp_allocate(const qp_allocator *allocator, size_t count, size_t size)
{
    size_t bytes;
    if (!block_size(count, size, &bytes))
        return NULL;
    if (allocator == NULL)
        return calloc(1, bytes); /* large blocks come zeroed from the system at no cost */

    void *block = allocator->reallocate(allocator->context, NULL, 0, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void qp_release(const qp_allocator *allocator, void *block, size_t count, size_t size)
{
    size_t bytes;
    if (block == NULL || !block_size(count, size, &bytes))
        return;
    qp_allocator owner = qp_allocator_or_default(allocator);
    owner.reallocate(owner.context, block, bytes, 0);
}

void qp_bytes_free(const qp_allocator *allocator, void *bytes, size_t size)
{
    qp_release(allocator, bytes, size, 1);
}

/* ---- arenas ------------------------------------------------------------------------------- */

#define ARENA_ALIGNMENT 16u
#define ARENA_FIRST_CHUNK ((size_t)4096)
#define ARENA_LARGEST_CHUNK ((size_t)1 << 20)

/* A chunk is one block: this head, up to 15 bytes to the next multiple of 16, then `capacity`. */
struct qp_arena_chunk {
    qp_arena_chunk *next;
    size_t size;     /* of the whole block */
    size_t capacity; /* of the data */
    uint8_t *data;
};

void qp_arena_init(qp_arena *arena, const qp_allocator *allocator)
{
    arena->allocator = qp_allocator_or_default(allocator);
    arena->chunks = NULL;
    arena->used = 0;
}

static qp_arena_chunk *chunk_new(qp_arena *arena, size_t capacity)
{
    size_t size;
    if (!qp_add_size(capacity, sizeof(qp_arena_chunk) + ARENA_ALIGNMENT - 1, &size))
        return NULL;
    uint8_t *block = arena->allocator.reallocate(arena->allocator.context, NULL, 0, size);
    if (block == NULL)
        return NULL;

    qp_arena_chunk *chunk = (qp_arena_chunk *)(void *)block;
    uint8_t *data = block + sizeof(qp_arena_chunk);
    size_t over = (size_t)((uintptr_t)data % ARENA_ALIGNMENT);
    chunk->next = NULL;
    chunk->size = size;
    chunk->capacity = capacity;
    chunk->data = over == 0 ? data : data + (ARENA_ALIGNMENT - over);
    return chunk;
}

/* A request too large to share a chunk gets its own, put behind the first so that the room left in
 * the first is not lost. */
static void *allocate_alone(qp_arena *arena, size_t bytes)
{
    qp_arena_chunk *chunk = chunk_new(arena, bytes);
    if (chunk == NULL)
        return NULL;
    if (arena->chunks == NULL) {
        arena->chunks = chunk;
        arena->used = bytes;
    } else {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    }
    return chunk->data;
}

static bool add_chunk(qp_arena *arena, size_t bytes)
{
    size_t capacity = ARENA_FIRST_CHUNK;
    if (arena->chunks != NULL && arena->chunks->capacity >= capacity / 2)
        capacity = arena->chunks->capacity <= ARENA_LARGEST_CHUNK / 2 ? arena->chunks->capacity * 2
                                                                      : ARENA_LARGEST_CHUNK;
    if (capacity < bytes)
        capacity = bytes;

    qp_arena_chunk *chunk = chunk_new(arena, capacity);
    if (chunk == NULL)
        return false;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->used = 0;
    return true;
}

void *qp_arena_allocate(qp_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!block_size(count, size, &bytes))
        return NULL;
    bytes = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;

    void *block;
    if (arena->chunks != NULL && bytes <= arena->chunks->capacity - arena->used) {
        block = arena->chunks->data + arena->used;
        arena->used += bytes;
    } else if (bytes > ARENA_FIRST_CHUNK / 4) {
        block = allocate_alone(arena, bytes);
    } else {
        if (!add_chunk(arena, bytes))
            return NULL;
        block = arena->chunks->data;
        arena->used = bytes;
    }
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void qp_arena_free(qp_arena *arena)
{
    qp_arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        qp_arena_chunk *next = chunk->next;
        arena->allocator.reallocate(arena->allocator.context, chunk, chunk->size, 0);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->used = 0;
}
