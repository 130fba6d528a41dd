/* SPDX-License-Identifier: BSD-3-Clause */
/* If `nodewise reorder` started the job, rank 0 says at the end that none of
 * its calls could reorder the ranks. Only rank 0's own calls count: a message
 * between the ranks could block a program of which a rank never reaches
 * MPI_Finalize. */
#include "runtime/reorder/reorder.h"

#include "runtime/warn.h"

#include <stdlib.h>

static struct {
    bool tells;       /* this process prints the line */
    bool wanted;      /* a call asked for reordering */
    const char *name; /* the first function that was called; NULL: none */
} unused;

void nw_unused_start(int rank)
{
    const char *value = getenv("NODEWISE_REORDER_TELL");
    MPI_Comm parent = MPI_COMM_NULL;

    if (!rank && value && value[0])
        unused.tells =
            !NW_PMPI(Comm_get_parent)(&parent) && parent == MPI_COMM_NULL;
}

void nw_unused_note(const struct nw_call *call)
{
    const char *none = NULL;

    __atomic_compare_exchange_n(&unused.name, &none, call->name, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (call->wanted)
        __atomic_store_n(&unused.wanted, true, __ATOMIC_RELAXED);
}

void nw_unused_finish(int rank_count)
{
    if (!unused.tells || unused.wanted)
        return;
    if (rank_count == 1)
        nw_warn("MPI_COMM_WORLD has a single rank, so there is nothing to "
                "reorder; start several: nodewise reorder -- mpirun -n 8 "
                "./app");
    else if (!unused.name)
        nw_warn("rank 0 called no topology function such as MPI_Cart_create, "
                "so it was not reordered; 'nodewise run' places the ranks of "
                "any MPI program");
    else
        nw_warn("rank 0 passed reorder = 0 to %s, so it was not reordered; "
                "if the program works by its rank in the new communicator, "
                "use 'nodewise reorder --force'",
                unused.name);
}
