# SPDX-License-Identifier: BSD-3-Clause
"""The loaded library and what every call needs: statuses become exceptions,
option structs begin with their initialisers, texts are copied and freed."""
from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from ._declarations import constants, ffi, initialisers
from ._errors import error_of

from ._paths import LIBDIR

HERE = os.path.dirname(os.path.abspath(__file__))
SONAME = "libnodewise.so.0"
NULL = ffi.NULL
BUILD = os.path.dirname(os.path.dirname(HERE))  # in a build folder: its top
# the folders of a wheel's libraries, of a build folder, and of an installed tree
FOLDERS = [os.path.join(HERE, os.pardir, ".nodewise.mesonpy.libs"), BUILD, LIBDIR]


def find_library(name: str) -> str | None:
    """The path of a library of ours, in the folders of this package."""
    for folder in FOLDERS:
        found = sorted(glob.glob(os.path.join(glob.escape(folder), name + "*")))
        if found:
            return os.path.abspath(found[0])
    return None


def _load() -> Any:
    path = find_library(SONAME)
    try:
        return ffi.dlopen(path or SONAME)
    except OSError as error:
        raise ImportError(
            "%s; install nodewise (meson install -C build), or add the folder of %s "
            "to LD_LIBRARY_PATH" % (error, SONAME)) from None


lib = _load()
libc = ffi.dlopen(None)


def check(status: int) -> None:
    """Raises the exception of a status that is not NW_OK. Call it in the thread
    that made the failing call."""
    if status:
        raise error_of(ffi.string(lib.nw_status_name(status)).decode(),
                       ffi.string(lib.nw_error_text()).decode("utf-8", "replace"))


def options(struct: str, **members: Any) -> Any:
    """A new option struct: its initialiser, then the members that are not None."""
    made = ffi.new("struct %s *" % struct, initialisers[struct])
    made.size = ffi.sizeof("struct " + struct)
    for name, value in members.items():
        if value is not None:
            setattr(made, name, value)
    return made


def encode(path: str | os.PathLike) -> bytes:
    return os.fsencode(path)


def several(words: Any) -> Any:
    """The words of a sequence or mapping. A single word is a sequence of one, and not one
    of its letters."""
    return [words] if isinstance(words, (str, bytes, os.PathLike)) else words


def decode(text: Any) -> str | None:
    """A text that the library keeps; None for NULL."""
    return None if text == NULL else ffi.string(text).decode("utf-8", "replace")


def taken(call: Any, *arguments: Any) -> str:
    """The text that a call writes to its last argument, and which is freed."""
    out = ffi.new("char **")
    check(call(*arguments, out))
    text = ffi.string(out[0]).decode("utf-8", "replace")
    libc.free(out[0])
    return text


def number_of(enum: str, prefix: str, word: str) -> int:
    """The value of an enumerator by its last words: "hop-bytes" of
    NW_OBJECTIVE_HOP_BYTES with the prefix NW_OBJECTIVE_."""
    values = ffi.typeof("enum " + enum).relements
    key = prefix + word.upper().replace("-", "_")
    if key not in values or key.endswith("_COUNT"):
        known = [name[len(prefix):].lower().replace("_", "-") for name in values
                 if name.startswith(prefix) and not name.endswith("_COUNT")]
        raise ValueError("unknown %s %r; use %s" % (
            enum[len("nw_"):].replace("_", " "), word, ", ".join(known)))
    return values[key]


def view(pointer: Any, count: int, dtype: Any, owner: Any = None) -> np.ndarray:
    """A read-only array over memory of the library, without a copy. `owner` is
    kept alive as long as the array."""
    dtype = np.dtype(dtype)
    if not count:
        return np.empty(0, dtype)
    return np.asarray(_Memory(pointer, count, dtype, owner))


class _Memory:
    """Memory of the library as numpy takes it. The array keeps this object, and it
    keeps the owner of the memory."""

    def __init__(self, pointer: Any, count: int, dtype: np.dtype, owner: Any):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": (count,), "typestr": dtype.str,
            "data": (int(ffi.cast("intptr_t", pointer)), True)}  # read only


def borrow(array: np.ndarray, ctype: str) -> Any:
    """A C pointer to an array's memory; keep the array."""
    return ffi.cast(ctype, ffi.from_buffer(array)) if array.size else NULL


__all__ = ["constants", "ffi", "lib", "libc", "NULL"]
