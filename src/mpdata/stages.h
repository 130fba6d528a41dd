/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a step in 17 stages over whole arrays; compiled once for each
 * precision and instruction set. */
#ifndef NW_MPDATA_STAGES_H
#define NW_MPDATA_STAGES_H

#include "mpdata/real.h"
#include "mpdata/view.h"

/* Computes one step of the whole grid. view->stage must have all its arrays,
 * which must be 0 before the first step. */
void NW_NAME(nw_mpdata_stages)(const struct nw_mpdata_view *view);

#endif
