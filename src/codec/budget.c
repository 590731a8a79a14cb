/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - an allocator that counts what is held and refuses to pass a limit. */
#include "codec/codec.h"

static void *reallocate(void *context, void *block, size_t old_size, size_t new_size)
{
    qp_budget *budget = context;
    if (new_size > old_size && new_size - old_size > budget->limit - budget->used) {
        budget->exceeded = true;
        return NULL;
    }
    void *made = budget->inner.reallocate(budget->inner.context, block, old_size, new_size);
    if (made == NULL && new_size > 0)
        return NULL;
    budget->used = budget->used - old_size + new_size;
    if (budget->used > budget->peak)
        budget->peak = budget->used;
    return made;
}

qp_allocator qp_budget_init(qp_budget *budget, size_t limit, const qp_allocator *inner)
{
    *budget = (qp_budget){.inner = qp_allocator_or_default(inner), .limit = limit};
    return (qp_allocator){reallocate, budget};
}

void qp_budget_give(qp_budget *budget, size_t size)
{
    budget->used -= size;
}

qp_status qp_budget_status(qp_budget *budget, qp_status status, qp_error *error)
{
    if (status != QP_NO_MEMORY || !budget->exceeded)
        return status;
    return qp_fail(error, QP_TOO_LARGE, "it needs more than the %zu bytes of memory allowed",
                   budget->limit);
}
