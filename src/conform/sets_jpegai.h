/* SPDX-License-Identifier: Apache-2.0 */
/* sets_jpegai.h - a small bundle of wai.image.jpegai, whose shapes section 13.6 fixes. */
#ifndef QP_CONFORM_SETS_JPEGAI_H
#define QP_CONFORM_SETS_JPEGAI_H

#include "conform/sets.h"

void qp_small_jpegai(qp_small_set *set);

#endif
