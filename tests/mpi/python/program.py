# SPDX-License-Identifier: BSD-3-Clause
"""The program of the ranks. It prints one line of JSON for each rank.

    program.py regions

 grids

 plain
"""
import json
import sys
import warnings

import numpy as np
from mpi4py import MPI

import nodewise
import nodewise.reorder

world = MPI.COMM_WORLD


def ring(bytes_):
    """Each rank sends the given number of bytes to the next."""
    world.Sendrecv(np.zeros(bytes_, np.uint8), (world.rank + 1) % world.size,
                   recvbuf=np.zeros(bytes_, np.uint8), source=(world.rank - 1) % world.size)


def regions():
    ring(7)
    with nodewise.profile("first.pattern"):
        ring(100)
        ring(100)
    ring(9)
    with nodewise.profile("second.pattern"):
        if world.rank == 0:
            world.Send(np.zeros(5, np.uint8), 1)
        elif world.rank == 1:
            world.Recv(np.zeros(5, np.uint8), 0)
    with nodewise.profile("third.pattern"):
        pass
    problems = []
    try:
        with nodewise.profile("outer.pattern"):
            with nodewise.profile("inner.pattern"):
                pass
    except nodewise.InvalidArgument as error:
        problems.append(str(error))
    try:
        with nodewise.profile("failed.pattern"):
            ring(3)
            raise LookupError
    except LookupError:
        pass
    with nodewise.profile("fourth.pattern"):
        ring(4)
    return problems


def plain():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with nodewise.profile("first.pattern"):
            ring(1)
    return [str(one.message) for one in caught]


def order(grid):
    """The old rank of each new one, and that neighbours know each other."""
    if grid == MPI.COMM_NULL:
        return None
    found = grid.allgather(world.rank)
    assert grid.Get_cart_rank(grid.coords) == grid.rank
    for dimension in range(grid.ndim):
        source, target = grid.Shift(dimension, 1)
        seen = grid.sendrecv(grid.rank, target, source=source)
        assert source == MPI.PROC_NULL or seen == source
    return found


def grids():
    dims, periods = [4, 2], [True, False]
    ours = order(nodewise.reorder.cart_create(world, dims, periods, weights=[1, 50]))
    assert ours == order(nodewise.reorder.cart_create(
        world, np.array(dims), np.array(periods), weights=np.array([1, 50.0])))
    plain_ = order(world.Create_cart(dims, periods, reorder=True))
    small = order(nodewise.reorder.cart_create(world, [3, 2]))
    problems = []
    for arguments in (([4, 2], [True]), ([4, 2], None, [1]), ([9, 9],)):
        try:
            nodewise.reorder.cart_create(world, *arguments[:2],
                                         weights=arguments[2] if arguments[2:] else None)
        except (ValueError, MPI.Exception) as error:
            problems.append(type(error).__name__)
    return dict(ours=ours, plain=plain_, small=small, problems=problems)


result = {"regions": regions, "grids": grids, "plain": plain}[sys.argv[1]]()
sys.stdout.write(json.dumps([world.rank, result]) + "\n")
