/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - open addressing with linear probing, at most half full.
 */
#include "fabric/names.h"

enum { FIRST_CAPACITY = 64 };

/* FNV-1a, then a finaliser (that of SplitMix64), so that low bits depend on all bytes. */
static uint64_t mixed(uint64_t h)
{
    h ^= h >> 30;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    h ^= h >> 27;
    h *= UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint32_t hash_text(uint64_t seed, const char *text, size_t size)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ mixed(seed);
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)mixed(h);
}

static size_t hash_pair(uint64_t seed, qp_fabric_scope_id scope, qp_fabric_symbol symbol)
{
    return (size_t)mixed(seed ^ ((uint64_t)scope << 32 | symbol));
}

void qp_fabric_names_init(qp_fabric_names *names, qp_arena *arena, uint64_t seed)
{
    memset(names, 0, sizeof *names);
    names->allocator = arena->allocator;
    names->arena = arena;
    names->seed = seed;
}

void qp_fabric_names_free(qp_fabric_names *names)
{
    const qp_allocator *allocator = &names->allocator;

    qp_release(allocator, names->meanings, names->meaning_capacity, sizeof *names->meanings);
    qp_release(allocator, names->hashes, names->symbol_capacity / 2, sizeof *names->hashes);
    qp_release(allocator, names->texts, names->symbol_capacity / 2, sizeof *names->texts);
    qp_release(allocator, names->symbol_slots, names->symbol_capacity, sizeof *names->symbol_slots);
    names->meanings = NULL;
    names->hashes = NULL;
    names->texts = NULL;
    names->symbol_slots = NULL;
    names->symbol_capacity = names->meaning_capacity = names->meaning_count = 0;
    names->symbol_count = 0;
}

/* ---- symbols ------------------------------------------------------------------------------ */

/* The slot of a text: its own, or the empty one where it belongs. The table is not empty. */
static size_t symbol_slot(const qp_fabric_names *names, const char *text, size_t size,
                          uint32_t hash)
{
    const size_t mask = names->symbol_capacity - 1;
    size_t slot = hash & mask;

    for (; names->symbol_slots[slot] != 0; slot = (slot + 1) & mask) {
        uint32_t symbol = names->symbol_slots[slot] - 1;
        const char *found = names->texts[symbol];
        if (names->hashes[symbol] == hash && strlen(found) == size &&
            memcmp(found, text, size) == 0)
            break;
    }
    return slot;
}

static bool grow_symbols(qp_fabric_names *names)
{
    const size_t old = names->symbol_capacity;
    const size_t capacity = old == 0 ? FIRST_CAPACITY : old * 2;
    qp_fabric_names grown = *names;

    if (capacity > UINT32_MAX / 2)
        return false;
    grown.symbol_capacity = capacity;
    grown.symbol_slots = qp_allocate(&names->allocator, capacity, sizeof *grown.symbol_slots);
    grown.texts = qp_allocate(&names->allocator, capacity / 2, sizeof *grown.texts);
    grown.hashes = qp_allocate(&names->allocator, capacity / 2, sizeof *grown.hashes);
    if (grown.symbol_slots == NULL || grown.texts == NULL || grown.hashes == NULL) {
        qp_release(&names->allocator, grown.hashes, capacity / 2, sizeof *grown.hashes);
        qp_release(&names->allocator, grown.texts, capacity / 2, sizeof *grown.texts);
        qp_release(&names->allocator, grown.symbol_slots, capacity, sizeof *grown.symbol_slots);
        return false;
    }
    for (uint32_t i = 0; i < names->symbol_count; i++) {
        grown.texts[i] = names->texts[i];
        grown.hashes[i] = names->hashes[i];
        size_t slot = grown.hashes[i] & (capacity - 1);
        while (grown.symbol_slots[slot] != 0)
            slot = (slot + 1) & (capacity - 1);
        grown.symbol_slots[slot] = i + 1;
    }
    qp_release(&names->allocator, names->hashes, old / 2, sizeof *names->hashes);
    qp_release(&names->allocator, names->texts, old / 2, sizeof *names->texts);
    qp_release(&names->allocator, names->symbol_slots, old, sizeof *names->symbol_slots);
    *names = grown;
    return true;
}

qp_fabric_symbol qp_fabric_intern(qp_fabric_names *names, const char *text, size_t size)
{
    const uint32_t hash = hash_text(names->seed, text, size);

    if (names->symbol_count >= names->symbol_capacity / 2 && !grow_symbols(names))
        return QP_FABRIC_NO_INDEX;
    size_t slot = symbol_slot(names, text, size, hash);
    if (names->symbol_slots[slot] != 0)
        return names->symbol_slots[slot] - 1;
    char *copy = qp_arena_allocate(names->arena, size + 1, 1);
    if (copy == NULL)
        return QP_FABRIC_NO_INDEX;
    memcpy(copy, text, size);
    names->texts[names->symbol_count] = copy;
    names->hashes[names->symbol_count] = hash;
    names->symbol_slots[slot] = ++names->symbol_count;
    return names->symbol_count - 1;
}

qp_fabric_symbol qp_fabric_find_symbol(const qp_fabric_names *names, const char *text, size_t size)
{
    if (names->symbol_capacity == 0)
        return QP_FABRIC_NO_INDEX;
    size_t slot = symbol_slot(names, text, size, hash_text(names->seed, text, size));
    return names->symbol_slots[slot] - 1; /* an empty slot gives QP_FABRIC_NO_INDEX */
}

/* ---- meanings ----------------------------------------------------------------------------- */

static size_t meaning_slot(const qp_fabric_names *names, qp_fabric_scope_id scope,
                           qp_fabric_symbol symbol)
{
    const qp_fabric_meaning *meanings = names->meanings;
    const size_t mask = names->meaning_capacity - 1;
    size_t slot = hash_pair(names->seed, scope, symbol) & mask;

    while (meanings[slot].scope != QP_FABRIC_NO_INDEX &&
           (meanings[slot].scope != scope || meanings[slot].symbol != symbol))
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow_meanings(qp_fabric_names *names)
{
    const size_t old_capacity = names->meaning_capacity;
    const size_t capacity = old_capacity == 0 ? FIRST_CAPACITY : old_capacity * 2;
    qp_fabric_meaning *old = names->meanings;
    qp_fabric_meaning *grown = qp_allocate(&names->allocator, capacity, sizeof *grown);

    if (grown == NULL)
        return false;
    for (size_t i = 0; i < capacity; i++)
        grown[i].scope = QP_FABRIC_NO_INDEX;
    names->meanings = grown;
    names->meaning_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].scope != QP_FABRIC_NO_INDEX)
            grown[meaning_slot(names, old[i].scope, old[i].symbol)] = old[i];
    qp_release(&names->allocator, old, old_capacity, sizeof *old);
    return true;
}

qp_fabric_declared qp_fabric_declare(qp_fabric_names *names, qp_fabric_scope_id scope,
                                     qp_fabric_symbol symbol, uint32_t number)
{
    if (names->meaning_count >= names->meaning_capacity / 2 && !grow_meanings(names))
        return QP_FABRIC_DECLARED_NO_MEMORY;
    size_t slot = meaning_slot(names, scope, symbol);
    if (names->meanings[slot].scope != QP_FABRIC_NO_INDEX)
        return QP_FABRIC_DECLARED_TWICE;
    names->meanings[slot] = (qp_fabric_meaning){scope, symbol, number};
    names->meaning_count++;
    return QP_FABRIC_DECLARED;
}

uint32_t qp_fabric_meaning_of(const qp_fabric_names *names, qp_fabric_scope_id scope,
                              qp_fabric_symbol symbol)
{
    if (names->meaning_capacity == 0 || symbol == QP_FABRIC_NO_INDEX)
        return QP_FABRIC_NO_INDEX;
    size_t slot = meaning_slot(names, scope, symbol);
    return names->meanings[slot].scope == QP_FABRIC_NO_INDEX ? QP_FABRIC_NO_INDEX
                                                             : names->meanings[slot].number;
}
