/* SPDX-License-Identifier: Apache-2.0 */
/* quipu/quipu.h - the whole library. */
#ifndef QUIPU_QUIPU_H
#define QUIPU_QUIPU_H

#include "quipu/base.h"
#include "quipu/certify.h"
#include "quipu/graph.h"
#include "quipu/run.h"

#endif
