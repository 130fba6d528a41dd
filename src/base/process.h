/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NW_BASE_PROCESS_H
#define NW_BASE_PROCESS_H

#include <sys/types.h>

/* Returns the parent of a process, and sets *state to the letter of its state
 * in /proc/PID/stat; `state` may be NULL. Returns -1, with *state unchanged, if
 * this file cannot be read. */
pid_t nw_process_parent(pid_t process, char *state);

#endif
