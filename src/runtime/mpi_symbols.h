/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library under us, reached without linking it: a preloaded library
 * may find itself in a shell, or in a program that loads its MPI late and
 * privately. Functions and predefined handles are looked up when first used.
 */
#ifndef NW_RUNTIME_MPI_SYMBOLS_H
#define NW_RUNTIME_MPI_SYMBOLS_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdbool.h>
#include <stdint.h>

/* True if the program's MPI library has another ABI than this flavour: then
 * calls pass straight through and nothing else here may call MPI. Known after
 * the first nw_next_call(). */
extern bool nw_foreign;
/* True on rank 0 by the launcher's variables, or without such variables. Usable
 * without MPI. */
bool nw_is_first_process(void);

/* The address of a predefined handle of the MPI library, or NULL. */
void *nw_mpi_data(const char *name);
/* The next definition of the function after ours, or in a loaded MPI library.
 * If it is missing, one warning says so, and the result is a function that
 * returns MPI_ERR_INTERN. */
void *nw_next_call(const char *name);

#define NW_CACHED(find, name)                                                  \
    __extension__({                                                            \
        static void *nw_cached_;                                               \
        void *nw_found_ = __atomic_load_n(&nw_cached_, __ATOMIC_ACQUIRE);      \
        if (__builtin_expect(!nw_found_, 0)) {                                 \
            nw_found_ = find(name);                                            \
            __atomic_store_n(&nw_cached_, nw_found_, __ATOMIC_RELEASE);        \
        }                                                                      \
        nw_found_;                                                             \
    })

/* PMPI_name of the MPI library itself, for our own calls. */
#define NW_PMPI(name)                                                          \
    ((__typeof__(&PMPI_##name))NW_CACHED(nw_next_call, "PMPI_" #name))

/* Open MPI's handles are addresses of its data: an undefined data symbol would
 * keep any program that has no MPI from starting. */
#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                   \
    ((type)NW_CACHED(nw_mpi_data, #global))
#endif

#endif
