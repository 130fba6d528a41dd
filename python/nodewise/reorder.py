# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of mpi4py whose ranks are reordered, so that neighbours are near."""
from __future__ import annotations

from typing import Any, Sequence

from . import _mpi
from ._library import NULL, ffi


def cart_create(comm: Any, dims: Sequence[int], periods: Sequence[bool] | None = None, *,
                weights: Sequence[float] | None = None) -> Any:
    """A Cartesian communicator, as ``comm.Create_cart(dims, periods, reorder=True)``, whose
    ranks are placed by Nodewise (nodewise-reorder(7)), under Open MPI or MPICH. The process
    with new rank k takes vertex k of the grid. All ranks must be started with the library
    for their MPI: ``mpirun -x LD_PRELOAD=libnodewise-openmpi.so`` or ``mpiexec -genv
    LD_PRELOAD libnodewise-mpich.so``; NODEWISE_REORDER need not be set.

    Args:
        comm: a communicator of mpi4py.
        dims: size of each dimension.
        periods: for each dimension, whether it is a ring (default: none is).
        weights: traffic along each dimension, in any unit (default: as
            nodewise-reorder(7) finds them).

    Returns:
        An ``mpi4py.MPI.Cartcomm``; ``MPI.COMM_NULL`` on ranks that are left over.

    Collective over comm; the first call of a program is collective over MPI_COMM_WORLD. ::

        from mpi4py import MPI
        import nodewise.reorder

        grid = nodewise.reorder.cart_create(MPI.COMM_WORLD, [4, 2], [True, False])
    """
    from mpi4py import MPI

    count = len(dims)
    for name, values in (("periods", periods), ("weights", weights)):
        if values is not None and len(values) != count:
            raise ValueError("%d %s for %d dimensions" % (len(values), name, count))
    kept = (ffi.new("int[]", list(dims)),
            ffi.new("int[]", [False] * count if periods is None else [bool(one) for one in periods]),
            NULL if weights is None else ffi.new("double[]", list(weights)))
    grid = ffi.new("struct nw_reorder_grid *", {
        "count": count, "dims": kept[0], "periods": kept[1], "weights": kept[2]})
    made = ffi.new("MPI_Comm *")
    code = _mpi.library().nw_reorder_cart_create(_mpi.handle(comm), grid, made)
    if code:
        raise MPI.Exception(code)
    value = made[0] if _mpi._flavour()[0] == "openmpi" else int(ffi.cast("int", made[0]))
    return _mpi.wrap(MPI.Cartcomm, value)
