/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of a run, each of which gets its own pattern. Either the program
 * begins each phase with MPI_Pcontrol, or phases are equal spans of time. With
 * MPI_Pcontrol, phase 0 is the time before the first call, and the same phase
 * may occur several times. Spans of time are numbered from 1. */
#ifndef NW_PROFILE_PHASES_H
#define NW_PROFILE_PHASES_H

#include <stdbool.h>
#include <stdint.h>

/* Later spans of time and higher levels of MPI_Pcontrol are counted in the last
 * phase. */
enum { NW_PHASES = 1000 };

/* Reads NODEWISE_PHASES. The first span of time begins now. */
void nw_phases_open(void);
bool nw_phases_are_on(void);
/* Begins the phase `level`, which the program passed to MPI_Pcontrol. Does
 * nothing if `level` is not positive or phases are spans of time. */
void nw_phases_level(int level);
/* If phases are spans of time: sets the phase by the time of an MPI call, in
 * nanoseconds (nw_clock_ns). */
void nw_phases_time(uint64_t now_ns);

#endif
