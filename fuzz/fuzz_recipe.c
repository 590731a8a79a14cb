/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recipe.c - a recipe is read in whole or refused at a place in its text; its selectors match
 * names without harm; as a preset it is read or refused; and without memory it is refused.
 */
#include "artifact/recipe.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

static const char *const names[] = {"", "a", "blk.0.attn_q.weight", "\xC3\xBC[x]", "text/layers/0"};

static void match_all(const qp_recipe *recipe)
{
    for (size_t i = 0; i < recipe->count; i++) {
        const qp_recipe_selectors *selectors = &recipe->steps[i].selectors;
        REQUIRE(selectors->count > 0);
        for (size_t k = 0; k < selectors->count; k++) {
            for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
                (void)qp_pattern_match(selectors->texts[k], names[n]);
            if (strpbrk(selectors->texts[k], "*?[") == NULL)
                REQUIRE(qp_pattern_match(selectors->texts[k], selectors->texts[k]));
        }
    }
}

static void read_as_preset(const uint8_t *data, size_t size)
{
    char text[256];
    size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
    qp_recipe recipe;
    memcpy(text, data, length);
    text[length] = '\0';
    qp_recipe_init(&recipe, NULL);
    qp_status status = qp_recipe_read_preset(&recipe, text, NULL);
    REQUIRE(status == QP_OK || status == QP_INVALID_ARGUMENT);
    if (status == QP_OK)
        match_all(&recipe);
    qp_recipe_free(&recipe);
}

static void read_without_memory(const uint8_t *data, size_t size)
{
    failing_allocator memory = failing_allocator_make(1 + size % 8);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_recipe recipe;
    qp_recipe_init(&recipe, &allocator);
    qp_status status = qp_recipe_read(&recipe, (const char *)data, size, NULL);
    REQUIRE(!memory.has_failed || status == QP_NO_MEMORY);
    qp_recipe_free(&recipe);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qp_recipe recipe;
    qp_error error = {.status = QP_OK};
    qp_recipe_init(&recipe, NULL);
    qp_status status = qp_recipe_read(&recipe, (const char *)data, size, &error);
    REQUIRE(status == QP_OK || status == QP_MALFORMED);
    if (status == QP_OK)
        match_all(&recipe);
    else
        REQUIRE(error.offset >= 0 && (uint64_t)error.offset <= size);
    qp_recipe_free(&recipe);
    read_as_preset(data, size);
    read_without_memory(data, size);
    return 0;
}
