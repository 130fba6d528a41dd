/* SPDX-License-Identifier: BSD-3-Clause */
/* The 17 stages of a step over whole arrays, compiled per precision. */
#ifndef NW_MPDATA_STAGES_H
#define NW_MPDATA_STAGES_H

#include "mpdata/real.h"
#include "mpdata/view.h"

/* Computes one step of the whole grid. view->stage must have all its arrays,
 * initially 0. */
void NW_NAME(nw_mpdata_stages)(const struct nw_mpdata_view *view);

#endif
