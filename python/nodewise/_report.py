# SPDX-License-Identifier: BSD-3-Clause
"""One page that shows machine, pattern and mappings."""
from __future__ import annotations

import html
import os
from typing import Any, Mapping as Names, Sequence

from ._errors import NotFound
from ._library import constants, encode, ffi, lib, options, taken
from ._map import default_mapping, simulate
from ._mapping import Mapping, as_mapping
from ._pattern import Pattern, as_pattern
from ._topology import Topology, as_topology

QUICK_EDGES = 20000  # as `nodewise report --simulate auto`


class Report:
    """One self-contained HTML page. A notebook shows it in a frame."""

    def __init__(self, html_text: str, svg: str):
        self.html = html_text
        self.svg = svg
        """The heat maps alone."""

    def write(self, path: str | os.PathLike) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        return ('<iframe srcdoc="%s" width="100%%" height="700" frameborder="0"></iframe>'
                % html.escape(self.html))


def _named(mappings: Any, topology: Topology) -> dict[str, Mapping]:
    if isinstance(mappings, (Mapping, str)) or not isinstance(mappings, (Names, Sequence)):
        mappings = [mappings]
    if not isinstance(mappings, Names):
        mappings = {"%s" % (getattr(one, "algorithm", None) or "mapping")
                    + (" %d" % (i + 1) if len(mappings) > 1 else ""): one
                    for i, one in enumerate(mappings)}
    return {name: as_mapping(one, topology) for name, one in mappings.items()}


def _seconds(topology: Topology, pattern: Pattern, mapping: Mapping, wanted: Any) -> float:
    if wanted is False or (wanted is None and not (topology.has_links and
                                                   pattern.edges <= QUICK_EDGES)):
        return -1.0
    try:
        found = simulate(topology, pattern, mapping, force=bool(wanted))
    except NotFound:
        if wanted:
            raise
        return -1.0
    return found.time if found.simulated else -1.0


def report(topology: Topology | str, pattern: Any, mappings: Any, *,
           simulate: bool | None = None) -> Report:
    """A page that shows the machine, the pattern and the traffic before and after.

    Args:
        topology: the machine, or its source.
        pattern: the program: a Pattern, or what makes one.
        mappings: one Mapping, a list of mappings, or {name: mapping}. The default mapping
            is shown before them.
        simulate: True to simulate an exchange, False not to (default: if that is quick).

    >>> page = report("magc-a", [[0, 9], [9, 0]], {"swapped": [1, 0]}, simulate=False)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """
    machine, program = as_topology(topology), as_pattern(pattern)
    shown = {"default": default_mapping(machine, program), **_named(mappings, machine)}
    kept = [ffi.new("char[]", encode(name)) for name in shown]
    rows = ffi.new("struct nw_report_mapping[]", len(shown))
    for row, name, mapping in zip(rows, kept, shown.values()):
        row.name, row.mapping = name, mapping._handle
        row.seconds = _seconds(machine, program, mapping, simulate)
    source = ffi.new("char[]", encode(machine.source))
    struct = options("nw_report_input", topology=machine._handle, pattern=program._handle,
                     mapping=rows, mapping_count=len(shown), topology_source=source)
    return Report(taken(lib.nw_report_html, struct),
                  taken(lib.nw_report_before_after_svg, struct))
