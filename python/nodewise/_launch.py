# SPDX-License-Identifier: BSD-3-Clause
"""From a mapping to running ranks: the files and the command line of a launcher."""
from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass, field
from typing import Any, Sequence

from ._library import check, decode, encode, ffi, lib, number_of, options, several
from ._mapping import Mapping


@dataclass(frozen=True)
class Launch:
    """What a launcher needs to place the ranks."""

    launcher: str
    files: dict[str, str]
    """Text of each file by its path."""
    command: list[str]
    """The command line."""
    environment: dict[str, str]
    """Variables to set for the command."""
    notes: list[str]
    """What a person should know."""
    uses_exec: bool
    """True if `nodewise exec` stands in front of the program, and reads the mapping."""
    mapping: Mapping = field(repr=False)
    mapping_path: str
    _handle: Any = field(repr=False)

    def write(self) -> None:
        """Writes all files, and the mapping if `nodewise exec` reads it."""
        check(lib.nw_launch_write(self._handle))
        if self.uses_exec:
            self.mapping.write(self.mapping_path)

    def run(self, **arguments: Any) -> subprocess.CompletedProcess:
        """Writes the files and runs the command; arguments as for subprocess.run."""
        self.write()
        env = arguments.pop("env", None)
        return subprocess.run(self.command, env={**(os.environ if env is None else env),
                                                 **self.environment}, **arguments)

    def __str__(self) -> str:
        words = ["%s=%s" % (name, shlex.quote(value))
                 for name, value in self.environment.items()]
        return " ".join(words + [shlex.quote(word) for word in self.command])


def launchers() -> dict[str, str]:
    """The launchers: name and one sentence of each.

    >>> "openmpi4" in launchers()
    True
    """
    found, name, text = {}, ffi.new("const char **"), ffi.new("const char **")
    while lib.nw_launch_launcher(len(found), name, text):
        found[decode(name[0])] = decode(text[0])
    return found


def launch(mapping: Mapping, launcher: str, program: Sequence[str] = ("./app",), *,
           prefix: str = "nodewise", exec: str = "auto", gpu_visibility: str = "one",
           memory: str = "bind", nodewise: str | None = None) -> Launch:
    """Makes the files and the command line that start a program with the ranks where a
    mapping places them. This function writes no file and starts nothing: the result's
    ``write`` writes the files, and ``run`` also starts the program.

    Args:
        mapping: a complete mapping.
        launcher: a name from ``nodewise.launchers()``.
        program: the program and its arguments.
        prefix: the names of all files begin with this text.
        exec: when to put `nodewise exec` in front of the program: ``"auto"`` (if it is
            needed), ``"always"`` or ``"never"``.
        gpu_visibility: which GPUs a rank sees: ``"one"`` (only its own) or ``"permuted"``
            (all GPUs of the node, in an order in which the device with the rank's local
            number is its own).
        memory: how a rank gets memory: ``"bind"`` (only on the NUMA nodes of its
            cores), ``"prefer"`` (there first) or ``"leave"`` (anywhere).
        nodewise: path of `nodewise` on the nodes (default: the nodes search PATH).

    >>> import nodewise
    >>> mapping = nodewise.Mapping(nodewise.Topology("magc-a"), [0, 1])
    >>> nodewise.launch(mapping, "openmpi4", ["./app"]).command[0]
    'mpirun'
    """
    kept = [ffi.new("char[]", encode(word)) for word in several(program)]
    words = ffi.new("const char *[]", kept)
    path = prefix + ".mapping"
    texts = {"launcher": launcher, "prefix": prefix, "mapping_path": path,
             "topology_source": mapping.topology.source if mapping.topology._loads else None,
             "exec_path": nodewise}
    borrowed = {name: ffi.new("char[]", encode(text)) for name, text in texts.items() if text}
    struct = options(
        "nw_launch_options", program=words, program_words=len(kept),
        exec=number_of("nw_launch_exec", "NW_LAUNCH_EXEC_", exec),
        visibility=number_of("nw_gpu_visibility", "NW_GPU_", gpu_visibility),
        memory=number_of("nw_memory_binding", "NW_MEMORY_", memory), **borrowed)
    out = ffi.new("nw_launch **")
    check(lib.nw_launch_new(mapping.topology._handle, mapping._handle, struct, out))
    made = ffi.gc(out[0], lib.nw_launch_free)
    variables = (decode(made.variable[i]) for i in range(made.variable_count))
    return Launch(
        launcher=launcher,
        files={decode(made.file[i].path): decode(made.file[i].text)
               for i in range(made.file_count)},
        command=[decode(made.word[i]) for i in range(made.word_count)],
        environment=dict(one.split("=", 1) for one in variables),
        notes=(decode(made.note) or "").splitlines(), uses_exec=made.uses_exec,
        mapping=mapping, mapping_path=path, _handle=made)
