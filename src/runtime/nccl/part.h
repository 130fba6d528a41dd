/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of this process, FILE.nccl.HOST.PID (with a number appended if that
 * exists), with lines of equal length. It is written while the program runs, so
 * that the counts survive if the process is killed. After a failed write the
 * file is closed and the program continues. Callers hold a lock.
 */
#ifndef NW_NCCL_PART_H
#define NW_NCCL_PART_H

#include "runtime/nccl/process.h"

#include <stdbool.h>

/* Creates the file, never overwriting another. Returns false if that fails;
 * then nothing is recorded. */
bool nw_nccl_part_open(const struct nw_nccl_self *self);
bool nw_nccl_part_is_open(void);
/* Writes line `line`, or appends a line if `line` is -1. Returns the number of
 * the line. Returns `line` if the file is closed, the text is too long, or the
 * write failed. */
__attribute__((format(printf, 2, 3))) long
nw_nccl_part_put(long line, const char *format, ...);
/* Returns true if it is time to write the counts; nw_nccl_part_saved then marks
 * the end of writing. */
bool nw_nccl_part_is_due(void);
void nw_nccl_part_saved(void);
void nw_nccl_part_close(void);

#endif
