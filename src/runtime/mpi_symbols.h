/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access to the program's MPI library without linking it. This library may be
 * preloaded into a shell, which has no MPI, or into a program that loads MPI
 * late with dlopen. So MPI functions and predefined handles are looked up at
 * their first use.
 */
#ifndef NW_RUNTIME_MPI_SYMBOLS_H
#define NW_RUNTIME_MPI_SYMBOLS_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdbool.h>
#include <stdint.h>

/* True if the program's MPI library has another ABI than the MPI that this file
 * was compiled for. Then all calls pass straight through, and no function here
 * may call MPI. Valid after the first nw_next_call(). */
extern bool nw_foreign;
/* Returns whether this process is rank 0 by the launcher's environment
 * variables; true if no variable gives a rank. May be called before
 * MPI_Init. */
bool nw_is_first_process(void);

/* Returns the address of a predefined handle of the MPI library by its symbol
 * name, or NULL if the library has no such symbol. */
void *nw_mpi_data(const char *name);
/* Returns the definition of the MPI function `name` that follows ours in the
 * library search order. If this order has no definition, returns that of
 * another loaded MPI library, or loads an installed one. If no library has a
 * definition, warns once and returns a function that always returns
 * MPI_ERR_INTERN. */
void *nw_next_call(const char *name);

/* Returns a hash of `start` and the version string of the MPI library, since
 * measurements are stored per library. */
uint64_t nw_mpi_hash(uint64_t start);

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

/* The MPI library's own PMPI function, for calls that Nodewise makes itself. */
#define NW_PMPI(name)                                                          \
    ((__typeof__(&PMPI_##name))NW_CACHED(nw_next_call, "PMPI_" #name))

/* Returns true if `mine` is true on all ranks of `comm`, and false on all ranks
 * if MPI fails. A rank that may fail alone, for example because memory is
 * exhausted, calls this function before a step in which the others would wait
 * for it. Collective. */
bool nw_all_ranks(MPI_Comm comm, bool mine);

/* Open MPI's predefined handles are addresses of its data symbols. These are
 * looked up by name, since an undefined data symbol would keep a program
 * without MPI from starting. */
#ifdef OPEN_MPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                                   \
    ((type)NW_CACHED(nw_mpi_data, #global))
#endif

#endif
