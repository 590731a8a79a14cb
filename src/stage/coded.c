/* SPDX-License-Identifier: Apache-2.0 */
/* coded.c - coded (E4): whether a position has a symbol in the stream. */
#include "stage/stage.h"

int qp_coded(int64_t v, int64_t thr)
{
    return v > thr;
}
