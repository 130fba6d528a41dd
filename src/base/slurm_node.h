/* SPDX-License-Identifier: BSD-3-Clause */
/* What Slurm calls the node that this process runs on, which need not be the
 * host's own name. */
#ifndef NW_BASE_SLURM_NODE_H
#define NW_BASE_SLURM_NODE_H

#include <stdbool.h>
#include <stddef.h>

/* False where no slurmstepd is among our ancestors (a launcher that came by
 * ssh): then the host's name is all there is. */
bool nw_slurm_node(char *name, size_t size);

#endif
