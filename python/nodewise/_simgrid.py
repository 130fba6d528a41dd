# SPDX-License-Identifier: BSD-3-Clause
"""Where the simulator's helper program is. The library looks beside the running
program, which here is Python."""
from __future__ import annotations

import contextlib
import os
import sysconfig
from typing import Iterator

from ._library import BUILD
from ._paths import LIBEXECDIR

VARIABLE = "NODEWISE_SIMGRID"
PROGRAM = "nodewise-simgrid"


@contextlib.contextmanager
def helper() -> Iterator[None]:
    """Names the helper of a wheel, or of an installed tree that was moved, to the
    library, as long as the user does not name another."""
    found = next((path for path in (os.path.join(folder, PROGRAM) for folder in
                                    (sysconfig.get_path("scripts"), BUILD, LIBEXECDIR))
                  if os.access(path, os.X_OK)), None)
    if VARIABLE in os.environ or not found:
        yield
        return
    os.environ[VARIABLE] = found
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)
