# SPDX-License-Identifier: BSD-3-Clause
"""Regions of a recorded MPI program with a profile of their own."""
from __future__ import annotations

import contextlib
import os
import warnings
from typing import Any

from . import _mpi
from ._errors import NotFound, error_of
from ._library import encode, ffi


def _check(shim: Any, status: int) -> None:
    if status:
        raise error_of(ffi.string(shim.nw_status_name(status)).decode(),
                       ffi.string(shim.nw_error_text()).decode("utf-8", "replace"))


class profile(contextlib.ContextDecorator):
    """Marks a region of an MPI program: what all ranks send in it is written to a
    pattern of its own.

    Args:
        path: the pattern's file, which rank 0 writes.

    All ranks of MPI_COMM_WORLD must enter and leave the region. The program must be
    recorded: ``nodewise profile -o all.pattern -- mpirun -n 4 python3 app.py``; otherwise
    rank 0 warns, and the program runs as it is. Regions do not nest. If the region
    ends with an exception, it is closed, and nothing is written. ::

        from mpi4py import MPI
        import nodewise

        with nodewise.profile("step.pattern"):
            MPI.COMM_WORLD.allreduce(1)
    """

    def __init__(self, path: str | os.PathLike):
        self.path = path

    def __enter__(self) -> profile:
        self._shim = _mpi.preloaded()
        try:
            if self._shim is not None:
                _check(self._shim, self._shim.nw_profile_begin())
                return self
        except NotFound:
            self._shim = None
        if not _mpi.is_first():
            return self
        warnings.warn("%s is not written: the program is not recorded; start it with "
                      "'nodewise profile -o FILE -- ...'" % os.fspath(self.path),
                      RuntimeWarning, stacklevel=2)
        return self

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        if self._shim is None:
            return
        if kind is None:
            _check(self._shim, self._shim.nw_profile_end(encode(self.path)))
        else:
            self._shim.nw_profile_discard()
