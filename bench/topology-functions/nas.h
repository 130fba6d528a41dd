/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in the form of two NAS benchmarks, and the time spent in MPI. */
#ifndef NAS_H
#define NAS_H

#include <mpi.h>

/* Each runs on all ranks of comm, a power of two of them, and returns the
 * largest error of a solution that is known. *seconds without setting up. */
double cg(MPI_Comm comm, double *seconds);
double mg(MPI_Comm comm, double *seconds);

/* Seconds inside MPI from begin to end, by wrappers (messages.c). */
void messages_begin(void);
void messages_end(void);
double messages_took(void);

void fail(const char *what);

#endif
