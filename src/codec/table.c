/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the drivers by the names of their capabilities. */
#include "codec/codec.h"

#define QP_DRIVER_ROW(name) &qp_driver_##name,
static const qp_driver *const drivers[] = {QP_DRIVERS(QP_DRIVER_ROW)};
#undef QP_DRIVER_ROW

#define DRIVERS (sizeof drivers / sizeof *drivers)

const qp_driver *qp_driver_at(size_t index)
{
    return index < DRIVERS ? drivers[index] : NULL;
}

const qp_driver *qp_driver_find(const char *capability)
{
    for (size_t i = 0; i < DRIVERS; i++)
        if (strcmp(drivers[i]->capability, capability) == 0)
            return drivers[i];
    return NULL;
}
