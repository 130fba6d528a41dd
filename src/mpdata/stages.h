/* SPDX-License-Identifier: BSD-3-Clause */
/* The 17 stages over whole arrays, in the build's precision. */
#ifndef NW_MPDATA_STAGES_H
#define NW_MPDATA_STAGES_H

#include "mpdata/real.h"
#include "mpdata/view.h"

/* One step of the whole grid; view->stage has all its arrays, 0 at first. */
void NW_NAME(nw_mpdata_stages)(const struct nw_mpdata_view *view);

#endif
