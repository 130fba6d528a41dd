/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in the form of two NAS benchmarks, and the time spent in MPI. */
#ifndef NAS_H
#define NAS_H

#include <mpi.h>

/* Each runs on all ranks of comm, whose number must be a power of two, and
 * returns the largest error against the known solution. *seconds gets the time
 * without the setup. */
double cg(MPI_Comm comm, double *seconds);
double mg(MPI_Comm comm, double *seconds);

/* The time in seconds that is spent in MPI between begin and end, measured by
 * wrappers (messages.c). */
void messages_begin(void);
void messages_end(void);
double messages_took(void);

void fail(const char *what);

#endif
