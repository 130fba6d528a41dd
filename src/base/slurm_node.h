/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds Slurm's name of this node, which may differ from the host name. */
#ifndef NW_BASE_SLURM_NODE_H
#define NW_BASE_SLURM_NODE_H

#include <stdbool.h>
#include <stddef.h>

/* Stores Slurm's node name in `name`. Returns false if this process is not in a
 * Slurm job, or if slurmstepd is not its ancestor, for example because ssh
 * started it. */
bool nw_slurm_node(char *name, size_t size);

#endif
