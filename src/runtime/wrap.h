/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Macros for the generated wrappers of MPI functions. Both MPI_X and PMPI_X are
 * defined, since Fortran bindings call either. Each forwards to the next
 * definition of its own name, so that another tool between Nodewise and MPI
 * still works. If MPI functions call each other, only the outermost call of a
 * thread is recorded.
 */
#ifndef NW_RUNTIME_WRAP_H
#define NW_RUNTIME_WRAP_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* True between MPI_Init and MPI_Finalize if communication or call times are
 * recorded. */
extern bool nw_active;
/* The number of wrappers that this thread is inside of; 0 in the program's own
 * code. */
extern _Thread_local int nw_depth;

static inline bool nw_is_active(void)
{
    return __atomic_load_n(&nw_active, __ATOMIC_RELAXED);
}

/* nw_call_begin returns the time in ns if this is the outermost MPI call of the
 * thread and is recorded, else 0. nw_call_end adds the time since `begun_ns` to
 * the function `name`, whose number is `id`. It does nothing if `begun_ns` is
 * 0. */
uint64_t nw_call_begin(void);
void nw_call_end(uint64_t begun_ns, int id, const char *name);

/* True between MPI_Init and MPI_Finalize if NODEWISE_REORDER asks for
 * reordering or NODEWISE_GPU is "assign", and the machine could be read. */
extern bool nw_reordering;
void nw_reorder_start(void);
void nw_reorder_finish(void);
/* Before MPI_Abort: with NODEWISE_CHECK=1, warns of reordered communicators in
 * which this process has not asked for its rank. Local. */
void nw_asked_abort(void);

static inline bool nw_is_reordering(void)
{
    return __atomic_load_n(&nw_reordering, __ATOMIC_RELAXED);
}

#define NW_NEXT(name) ((__typeof__(&name))NW_CACHED(nw_next_call, #name))

/* Defines MPI_X or PMPI_X, which looks up its next definition and then runs the
 * statement `body`. Parameters are machine words, since handles of another MPI
 * ABI may be wider than ours (nw_foreign); `typed` converts the parameters to
 * our types. */
#define NW_ENTRY(name, declared, words, typed, body)                           \
    NW_API int nw_entry_##name declared __asm__(#name);                        \
    int nw_entry_##name declared                                               \
    {                                                                          \
        void *nw_found = NW_CACHED(nw_next_call, #name);                       \
        __typeof__(&name) nw_next = (__typeof__(&name))nw_found;               \
                                                                               \
        if (__builtin_expect(nw_foreign, 0))                                   \
            return ((int(*) declared)nw_found)words;                           \
        typed;                                                                 \
        body;                                                                  \
    }
#define NW_ENTRIES(name, entry, body) NW_ENTRIES_OF(name, NW_WORDS entry, body)
#define NW_ENTRIES_OF(...) NW_ENTRIES_BOTH(__VA_ARGS__)
#define NW_ENTRIES_BOTH(name, declared, words, typed, body)                    \
    NW_ENTRY(name, declared, words, typed, body)                               \
    NW_ENTRY(P##name, declared, words, typed, body)
#define NW_WORDS(declared, words, ...) declared, words, __VA_ARGS__
#define NW_SHARED static __attribute__((noinline)) int
#define NW_STRAIGHT(next, ...) next(__VA_ARGS__)

/* Defines the wrapper of an MPI function. If calls are recorded and the thread
 * is in no other wrapper, it runs `before`, then the call `below`, then `after`
 * if the call succeeded; otherwise only `below`. `below` is the next definition
 * of the MPI function, or a Nodewise function that stages GPU memory and then
 * calls the next definition. */
#define NW_WRAP(name, entry, args, shared, passed, below, before, after)       \
    NW_WRAP_WHERE(!nw_depth, name, entry, shared, passed, below, before, after)

/* Like NW_WRAP, but also runs `before` and `after` for a call inside another
 * MPI call, which a callback of the program made. */
#define NW_WRAP_ENDING(name, entry, args, shared, passed, below, before,       \
                       after)                                                  \
    NW_WRAP_WHERE(true, name, entry, shared, passed, below, before, after)

#define NW_WRAP_WHERE(where, name, entry, shared, passed, below, before,       \
                      after)                                                   \
    NW_WRAP_AROUND(                                                            \
        where, name, entry, shared, passed, below, before,                     \
        if (nw_rc == MPI_SUCCESS) { after; })

/* Like NW_WRAP, but `after` runs even if the call failed; `after` checks
 * nw_rc. */
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

/* Wraps MPI_Init, MPI_Finalize and similar calls. The statements `before` and
 * `after` (only after success) run even if nw_active is false, and may change
 * nw_active. They do not run inside another wrapper. */
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

/* Runs `before` before each call: also inside a callback of the program, and
 * also if nothing is recorded. */
#define NW_WRAP_ANYWHERE(name, entry, args, shared, passed, below, before,     \
                         after)                                                \
    NW_SHARED nw_wrapped_##name shared                                         \
    {                                                                          \
        nw_depth++;                                                            \
        before;                                                                \
        nw_depth--;                                                            \
        return below passed;                                                   \
    }                                                                          \
    NW_ENTRIES(name, entry, return nw_wrapped_##name passed)

/* Runs the expression `call` instead of the MPI function if reordering is on
 * and the thread is in no other wrapper; otherwise calls the MPI function. */
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

/* Calls the MPI function, then runs `after` if the call succeeded, reordering
 * is on and the thread is in no other wrapper. */
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
