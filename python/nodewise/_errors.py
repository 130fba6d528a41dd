# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the package, one for each status of the library."""
from __future__ import annotations

import re

_PLACE = re.compile(r"(?s)(.+?):(\d+)(?::\d+)?: ")


class Error(Exception):
    """A call of the library failed.

    Attributes:
        status: name of the status, such as ``"NW_EFORMAT"``.
        file: the input file that is wrong, or None.
        line: the line in that file, from 1, or None.
    """

    def __init__(self, status: str, text: str):
        super().__init__(text)
        place = _PLACE.match(text)
        self.status = status
        self.file: str | None = place[1] if place else None
        self.line: int | None = int(place[2]) if place else None


class InvalidArgument(Error, ValueError):
    """An argument is invalid, or two arguments do not fit each other."""


class FormatError(Error, ValueError):
    """An input file or a text is malformed."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class NotFound(Error, RuntimeError):
    """A device, a library or a helper program is not here."""


class Unsupported(Error, RuntimeError):
    """The library cannot do this."""


class OutOfMemory(Error, MemoryError):
    """Memory ran out."""


BY_STATUS: dict[str, type[Error]] = {
    "NW_EINVAL": InvalidArgument,
    "NW_EFORMAT": FormatError,
    "NW_EIO": FileError,
    "NW_ENODEV": NotFound,
    "NW_EUNSUPPORTED": Unsupported,
    "NW_ENOMEM": OutOfMemory,
}


def error_of(status: str, text: str) -> BaseException:
    """The exception for a status. A call that was cancelled before it had any
    result is a KeyboardInterrupt, as in all of Python."""
    if status == "NW_ECANCELLED":
        return KeyboardInterrupt(text)
    return BY_STATUS.get(status, Error)(status, text)
