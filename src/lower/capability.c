/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capability.c - the registry of capabilities (integer-operators.md section 11). Its one source is
 * registry/capabilities.json; the table here is written from it.
 */
#include "quipu/lower.h"

#include <string.h>

#include "lower/capabilities.inc"

const qp_capability *qp_capability_at(size_t index)
{
    return index < sizeof capabilities / sizeof *capabilities ? &capabilities[index] : NULL;
}

const qp_capability *qp_capability_find(const char *name)
{
    const qp_capability *capability;
    for (size_t i = 0; (capability = qp_capability_at(i)) != NULL; i++)
        if (strcmp(capability->name, name) == 0)
            return capability;
    return NULL;
}
