/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - shell patterns over names. Characters are those of UTF-8; the time is at most the
 * product of the two lengths.
 */
#include "artifact/recipe.h"

/* The character at `text`, and its length in bytes; a stray byte is a character of its own. */
static uint32_t character_at(const char *text, size_t *length)
{
    const uint8_t *p = (const uint8_t *)text;
    unsigned more = p[0] >= 0xF0 ? 3 : p[0] >= 0xE0 ? 2 : p[0] >= 0xC0 ? 1 : 0;
    uint32_t character = more == 0 ? p[0] : p[0] & (0x3Fu >> more);

    *length = 1;
    for (unsigned i = 1; i <= more; i++) {
        if ((p[i] & 0xC0u) != 0x80u)
            return p[0];
        character = character << 6 | (p[i] & 0x3Fu);
    }
    *length = more + 1;
    return character;
}

/* The first character after a set that begins at `pattern` ("["), or NULL when it has no end. */
static const char *end_of_set(const char *pattern)
{
    const char *p = pattern + 1;
    p += *p == '!' ? 1 : 0;
    p += *p == ']' ? 1 : 0; /* as the first character it is one of the set */
    while (*p != '\0' && *p != ']')
        p++;
    return *p == ']' ? p + 1 : NULL;
}

static bool is_in_set(const char *pattern, const char *end, uint32_t character)
{
    const char *p = pattern + 1;
    bool negated = *p == '!', found = false;
    size_t length;
    p += negated ? 1 : 0;
    while (p < end - 1) {
        uint32_t low = character_at(p, &length);
        p += length;
        uint32_t high = low;
        if (p[0] == '-' && p + 1 < end - 1) {
            high = character_at(p + 1, &length);
            p += 1 + length;
        }
        found = found || (low <= character && character <= high);
    }
    return found != negated;
}

/* Whether one element of the pattern matches the character; `*next` is the element behind it. */
static bool matches_one(const char *pattern, uint32_t character, const char **next)
{
    size_t length;
    uint32_t own = character_at(pattern, &length);
    const char *end = own == '[' ? end_of_set(pattern) : NULL;
    *next = end != NULL ? end : pattern + length;
    if (end != NULL)
        return is_in_set(pattern, end, character);
    return own == '?' || own == character;
}

bool qp_pattern_match(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL; /* the last '*', and where its match ends so far */
    size_t length;
    while (*name != '\0') {
        const char *next = pattern;
        uint32_t character = character_at(name, &length);
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern != '\0' && matches_one(pattern, character, &next)) {
            pattern = next;
            name += length;
        } else if (star != NULL) {
            (void)character_at(resume, &length);
            resume += length;
            name = resume;
            pattern = star;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
