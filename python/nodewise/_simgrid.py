# SPDX-License-Identifier: BSD-3-Clause
"""Where the simulator's helper program is. The library looks beside the running
program, which here is Python."""
from __future__ import annotations

import contextlib
import os
import sysconfig
import threading
from typing import Iterator

from ._library import BUILD
from ._paths import LIBEXECDIR

VARIABLE = "NODEWISE_SIMGRID"
PROGRAM = "nodewise-simgrid"


lock = threading.Lock()
users = 0  # contexts in which this module has set the variable


@contextlib.contextmanager
def helper() -> Iterator[None]:
    """Names the helper of a wheel, or of an installed tree that was moved, to the
    library, as long as the user does not name another."""
    found = next((path for path in (os.path.join(folder, PROGRAM) for folder in
                                    (sysconfig.get_path("scripts"), BUILD, LIBEXECDIR))
                  if os.access(path, os.X_OK)), None)
    if not _begin(found):
        yield
        return
    try:
        yield
    finally:
        _end()


def _begin(found: str | None) -> bool:
    """Sets the variable. False if the user has set it, or no helper was found."""
    global users
    with lock:
        if not found or (not users and VARIABLE in os.environ):
            return False
        users += 1
        os.environ[VARIABLE] = found
        return True


def _end() -> None:
    """Removes the variable if no other thread needs it."""
    global users
    with lock:
        users -= 1
        if not users:
            os.environ.pop(VARIABLE, None)
