/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of this process: FILE.nccl.HOST.PID, lines of equal length. It is
 * written while the program runs, so that it survives a kill. A file that
 * cannot be written is given up, and the program goes on. One thread at a time.
 */
#ifndef NW_NCCL_PART_H
#define NW_NCCL_PART_H

#include "runtime/nccl/process.h"

#include <stdbool.h>

/* A new file, never one that exists. False: nothing is recorded. */
bool nw_nccl_part_open(const struct nw_nccl_self *self);
bool nw_nccl_part_is_open(void);
/* Writes line `line`, or a new one if it is -1, and returns its number. */
__attribute__((format(printf, 2, 3))) long
nw_nccl_part_put(long line, const char *format, ...);
/* True if the last writing was long enough ago. */
bool nw_nccl_part_is_due(void);
void nw_nccl_part_saved(void);
void nw_nccl_part_close(void);

#endif
