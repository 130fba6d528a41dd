/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's name of the node that this process runs on; the host's own name may
 * differ. */
#ifndef NW_BASE_SLURM_NODE_H
#define NW_BASE_SLURM_NODE_H

#include <stdbool.h>
#include <stddef.h>

/* False where no slurmstepd is among our ancestors (a launcher that came by
 * ssh): then the host's name is all there is. */
bool nw_slurm_node(char *name, size_t size);

#endif
