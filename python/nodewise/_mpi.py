# SPDX-License-Identifier: BSD-3-Clause
"""The library for the MPI that mpi4py uses, and its handles."""
from __future__ import annotations

import functools
from typing import Any

from ._errors import NotFound
from ._library import check, ffi, find_library, lib

HANDLES = {4: ("mpich", "int *"), 8: ("openmpi", "intptr_t *")}


def _flavour() -> tuple[str, str]:
    """Name of the MPI's flavour, and the type of its handles' memory."""
    from mpi4py import MPI

    return HANDLES[MPI._sizeof(MPI.Comm)]


def _path(flavour: str) -> str:
    name = "libnodewise-%s.so" % flavour
    found = find_library(name)
    if found:
        return found
    out = ffi.new("char **")
    check(lib.nw_profile_library(flavour.encode(), out))
    return ffi.string(out[0]).decode()


@functools.lru_cache(maxsize=None)
def preloaded() -> Any:
    """The library if the program was started under it, else None."""
    running = ffi.dlopen(None)
    try:
        running.nw_profile_begin
    except (AttributeError, ffi.error):  # by the version of cffi
        return None
    return running


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """The library for mpi4py's MPI. It must be loaded when Python starts, since its
    thread-local variables are in the block that the loader lays out then."""
    if preloaded() is not None:
        return preloaded()
    flavour = _flavour()[0]
    raise NotFound("NW_ENODEV", "the library for MPI programs is not loaded; start all ranks "
                   "with it: mpiexec %s LD_PRELOAD%s%s" % (
                       "-x" if flavour == "openmpi" else "-genv",
                       "=" if flavour == "openmpi" else " ", _path(flavour)))


def is_first() -> bool:
    """True on rank 0 of MPI_COMM_WORLD."""
    from mpi4py import MPI

    return MPI.COMM_WORLD.rank == 0


def handle(comm: Any) -> int:
    """The MPI handle of a communicator of mpi4py."""
    from mpi4py import MPI

    return int(ffi.cast(_flavour()[1], MPI._addressof(comm))[0])


def wrap(kind: Any, value: int) -> Any:
    """A communicator of mpi4py of this class with that handle."""
    from mpi4py import MPI

    made = kind()
    ffi.cast(_flavour()[1], MPI._addressof(made))[0] = value
    return made
