/* SPDX-License-Identifier: Apache-2.0 */
/* quipu/quipu.h - the whole library. */
#ifndef QUIPU_QUIPU_H
#define QUIPU_QUIPU_H

#include "quipu/artifact.h"
#include "quipu/base.h"
#include "quipu/certify.h"
#include "quipu/codec.h"
#include "quipu/convert.h"
#include "quipu/format.h"
#include "quipu/graph.h"
#include "quipu/import.h"
#include "quipu/jpegai.h"
#include "quipu/latents.h"
#include "quipu/lower.h"
#include "quipu/run.h"
#include "quipu/stage.h"
#include "quipu/upscale.h"

#endif
