/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of a run, each with a pattern of its own: the program begins them by
 * MPI_Pcontrol, or they are equal spans of time. Phase 0 is the time before the
 * first MPI_Pcontrol. Several parts of the run may have the same phase. */
#ifndef NW_PROFILE_PHASES_H
#define NW_PROFILE_PHASES_H

#include <stdbool.h>
#include <stdint.h>

/* Later spans of time and higher levels belong to the last phase. */
enum { NW_PHASES = 1000 };

/* Reads NODEWISE_PHASES; the first span begins now. */
void nw_phases_open(void);
bool nw_phases_are_on(void);
/* MPI_Pcontrol. */
void nw_phases_level(int level);
/* The time of a call. */
void nw_phases_time(uint64_t now_ns);

#endif
