/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the generated wrappers. Both MPI_X and PMPI_X are defined, since
 * Fortran bindings use either. Each forwards to the next definition of its own
 * name, so that another tool in between still works. Only the outermost entry
 * of a thread counts.
 */
#ifndef NW_RUNTIME_WRAP_H
#define NW_RUNTIME_WRAP_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* True from MPI_Init to MPI_Finalize if something is to be recorded. */
extern bool nw_active;
/* How many wrappers this thread is in. */
extern _Thread_local int nw_depth;

static inline bool nw_is_active(void)
{
    return __atomic_load_n(&nw_active, __ATOMIC_RELAXED);
}

/* The time now while the outermost call of a thread is recorded, else 0; adds
 * the time since then to the function `name`, which `id` identifies. */
uint64_t nw_call_begin(void);
void nw_call_end(uint64_t begun_ns, int id, const char *name);

/* True from MPI_Init to MPI_Finalize if NODEWISE_REORDER asks for it. */
extern bool nw_reordering;
void nw_reorder_start(void);
void nw_reorder_finish(void);

static inline bool nw_is_reordering(void)
{
    return __atomic_load_n(&nw_reordering, __ATOMIC_RELAXED);
}

#define NW_NEXT(name) ((__typeof__(&name))NW_CACHED(nw_next_call, #name))

/* MPI_X and PMPI_X: each hands its next definition on to their shared part. An
 * entry takes machine words, since a library of another ABI may have wider
 * handles in the place of ours (nw_foreign); `typed` gives them our types. */
#define NW_ENTRY(name, declared, words, typed, way)                            \
    NW_API int nw_entry_##name declared __asm__(#name);                        \
    int nw_entry_##name declared                                               \
    {                                                                          \
        void *nw_found = NW_CACHED(nw_next_call, #name);                       \
        __typeof__(&name) nw_next = (__typeof__(&name))nw_found;               \
                                                                               \
        if (__builtin_expect(nw_foreign, 0))                                   \
            return ((int(*) declared)nw_found)words;                           \
        typed;                                                                 \
        way;                                                                   \
    }
#define NW_ENTRIES(name, entry, way) NW_ENTRIES_OF(name, NW_WORDS entry, way)
#define NW_ENTRIES_OF(...) NW_ENTRIES_BOTH(__VA_ARGS__)
#define NW_ENTRIES_BOTH(name, declared, words, typed, way)                     \
    NW_ENTRY(name, declared, words, typed, way)                                \
    NW_ENTRY(P##name, declared, words, typed, way)
#define NW_WORDS(declared, words, ...) declared, words, __VA_ARGS__
#define NW_SHARED static __attribute__((noinline)) int
#define NW_STRAIGHT(next, ...) next(__VA_ARGS__)

/* `before` runs ahead of the call, and `after` behind it if it succeeded.
 * `below` does the call: the next definition, or a function that stages GPU
 * memory ahead of it. */
#define NW_WRAP(name, entry, args, shared, passed, below, before, after)       \
    NW_WRAP_WHERE(!nw_depth, name, entry, shared, passed, below, before, after)

/* Also counts a call inside another one, made by a callback of the program. */
#define NW_WRAP_ENDING(name, entry, args, shared, passed, below, before,       \
                       after)                                                  \
    NW_WRAP_WHERE(true, name, entry, shared, passed, below, before, after)

#define NW_WRAP_WHERE(where, name, entry, shared, passed, below, before,       \
                      after)                                                   \
    NW_WRAP_AROUND(                                                            \
        where, name, entry, shared, passed, below, before,                     \
        if (nw_rc == MPI_SUCCESS) { after; })

/* `after` also runs behind a call that failed, and looks at nw_rc. */
#define NW_WRAP_WATCHING(name, entry, args, shared, passed, below, before,     \
                         after)                                                \
    NW_WRAP_AROUND(!nw_depth, name, entry, shared, passed, below, before, after)

#define NW_WRAP_AROUND(where, name, entry, shared, passed, below, before,      \
                       after)                                                  \
    NW_SHARED nw_wrapped_##name shared                                         \
    {                                                                          \
        uint64_t nw_begun_;                                                    \
        int nw_rc;                                                             \
                                                                               \
        nw_depth++;                                                            \
        before;                                                                \
        nw_begun_ = nw_call_begin();                                           \
        nw_rc = below passed;                                                  \
        nw_call_end(nw_begun_, __COUNTER__, #name);                            \
        after;                                                                 \
        nw_depth--;                                                            \
        return nw_rc;                                                          \
    }                                                                          \
    NW_ENTRIES(name, entry,                                                    \
               return nw_is_active() && (where) ? nw_wrapped_##name passed     \
                                                : below passed)

/* Around the beginning and the end: there `after` and `before` decide on
 * nw_active themselves. */
#define NW_WRAP_ALWAYS(name, entry, args, shared, passed, below, before,       \
                       after)                                                  \
    NW_SHARED nw_wrapped_##name shared                                         \
    {                                                                          \
        bool nw_outer = !nw_depth++;                                           \
        int nw_rc;                                                             \
                                                                               \
        if (nw_outer) {                                                        \
            before;                                                            \
        }                                                                      \
        nw_rc = below passed;                                                  \
        if (nw_outer && nw_rc == MPI_SUCCESS) {                                \
            after;                                                             \
        }                                                                      \
        nw_depth--;                                                            \
        return nw_rc;                                                          \
    }                                                                          \
    NW_ENTRIES(name, entry, return nw_wrapped_##name passed)

/* A function of ours does the call if ranks are reordered. */
#define NW_WRAP_INSTEAD(name, entry, args, shared, passed, call)               \
    NW_SHARED nw_wrapped_##name shared                                         \
    {                                                                          \
        int nw_rc;                                                             \
                                                                               \
        if (!nw_is_reordering() || nw_depth)                                   \
            return nw_next args;                                               \
        nw_depth++;                                                            \
        nw_rc = call;                                                          \
        nw_depth--;                                                            \
        return nw_rc;                                                          \
    }                                                                          \
    NW_ENTRIES(name, entry, return nw_wrapped_##name passed)

#define NW_WRAP_NOTING(name, entry, args, shared, passed, after)               \
    NW_SHARED nw_wrapped_##name shared                                         \
    {                                                                          \
        int nw_rc = nw_next args;                                              \
                                                                               \
        if (nw_is_reordering() && !nw_depth && nw_rc == MPI_SUCCESS) {         \
            nw_depth++;                                                        \
            after;                                                             \
            nw_depth--;                                                        \
        }                                                                      \
        return nw_rc;                                                          \
    }                                                                          \
    NW_ENTRIES(name, entry, return nw_wrapped_##name passed)

#endif
