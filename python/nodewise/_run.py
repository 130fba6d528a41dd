# SPDX-License-Identifier: BSD-3-Clause
"""Long calls: they run in a thread of their own without the interpreter's lock,
while this thread shows the progress and waits for Ctrl-C."""
from __future__ import annotations

import sys
import threading
import time
from typing import Any, Callable

from ._library import check, ffi

Report = Callable[[int, int, str], None]

SHOWN_AFTER = 2.0  # s, as the command
REDRAW = 1 / 6  # s


class _Terminal:
    """A line on standard error that is redrawn, and cleared at the end."""

    def __init__(self) -> None:
        self.begun = self.drawn = time.monotonic()
        self.shown = False

    def __call__(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now - self.begun < SHOWN_AFTER or now - self.drawn < REDRAW:
            return
        self.drawn, self.shown = now, True
        share = min(1.0, done / total) if total else 0
        bar = " [%-30s] %3d %%" % ("#" * int(30 * share), 100 * share) if total else ""
        self.draw(what + bar)

    def draw(self, line: str) -> None:
        sys.stderr.write("\r%s\033[K" % line)
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            self.draw("")


class _Notebook(_Terminal):
    """A line below the cell of a notebook, redrawn in place."""

    def __init__(self) -> None:
        super().__init__()
        self.handle: Any = None

    def draw(self, line: str) -> None:
        from IPython.display import display

        data = {"text/plain": line}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _shower(progress: bool | Report | None) -> Any:
    if callable(progress):
        return progress
    if progress is False:
        return None
    if _is_notebook():
        return _Notebook()
    return _Terminal() if progress or sys.stderr.isatty() else None


class _Call:
    """One call on its way: its result, or the exception it ended with."""

    def __init__(self, call: Callable[[Any], int]):
        self.state = ffi.new("struct nw_progress *")
        self.seen = (0, 0, "")
        self.error: BaseException | None = None
        self.call = call
        self.update = ffi.callback("void(struct nw_progress *, uint64_t, uint64_t, const char *)",
                                   self.note)
        self.state.update = self.update

    def note(self, _self: Any, done: int, total: int, what: Any) -> None:
        self.seen = (done, total, ffi.string(what).decode("utf-8", "replace"))

    def run(self) -> None:
        try:
            check(self.call(self.state))
        except BaseException as error:  # raised again where the caller waits
            self.error = error

    def cancel(self) -> None:
        self.state.cancelled = 1


def _show(call: _Call, show: Any) -> None:
    if show is not None and call.seen[2]:
        show(*call.seen)


def _wait(thread: threading.Thread, call: _Call, show: Any) -> bool:
    """Waits for the call; True if Ctrl-C cut it short. A second Ctrl-C leaves the
    call to itself."""
    interrupted = False
    while thread.is_alive():
        try:
            # without progress nothing wakes this thread but the end and Ctrl-C
            thread.join(None if show is None or interrupted else REDRAW / 2)
            if not interrupted:
                _show(call, show)
        except BaseException as error:
            call.cancel()
            if interrupted or not isinstance(error, KeyboardInterrupt):
                raise
            interrupted = True
    return interrupted


def run(function: Callable[[Any], int], progress: bool | Report | None) -> bool:
    """Runs ``function(progress struct)``, which answers with a status.

    Args:
        function: a call of the library; it must hold on to all its arguments.
        progress: True to show it, False not to, None to show it on terminals and in
            notebooks; or a function of (done, total, what), which may raise
            KeyboardInterrupt to stop the call.

    Returns:
        True if the call was interrupted and brought its best result so far.
    """
    call, show = _Call(function), _shower(progress)
    thread = threading.Thread(target=call.run, name="nodewise", daemon=True)
    try:
        thread.start()
        interrupted = _wait(thread, call, show)
    finally:
        call.cancel()  # if an exception of the caller's function ends the wait
        if hasattr(show, "close"):
            show.close()
    if call.error:
        raise call.error
    return interrupted
