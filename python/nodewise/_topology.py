# SPDX-License-Identifier: BSD-3-Clause
"""Topologies: machines, with their distances, routes and links."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Iterator, NamedTuple, Union

import numpy as np

from ._library import (NULL, borrow, check, decode, encode, ffi, lib, number_of, options,
                       several, taken)

End = Union[int, str]
"""An element by its number, or ``"gpuN"`` for GPU N of the machine."""


class Link(NamedTuple):
    """One direction of a link."""

    name: str
    kind: str
    """``"pcie"``, ``"nvlink"``, ``"network"`` and so on."""
    bandwidth: float
    """bytes/s"""
    latency: float
    """s"""
    half_duplex: bool
    assumed: bool
    """True if the figures come from the table of nodewise-topology(5)."""
    link: int
    """number of the link, from 0"""
    direction: int
    """0 towards the root or as declared, 1 back"""


class Links(Sequence):
    """All links of a machine in both directions: entry ``2 * link + direction``."""

    def __init__(self, topology: Topology):
        self._topology = topology

    def __len__(self) -> int:
        return 2 * lib.nw_topology_link_count(self._topology._handle)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError("link %d of %d" % (index, len(self)))
        return self._topology._link(index % len(self))

    def __iter__(self) -> Iterator[Link]:
        return (self[i] for i in range(len(self)))


class Topology:
    """A machine: nodes with cores, GPUs and network cards, and their links.

    Args:
        source: any SOURCE of nodewise-topology(5): ``"live"``, a cluster file, an hwloc
            XML file, ``"hierarchy:4:8:16@1:10:100"``, ``"hwloc:package:2 core:12"``, a
            bundled cluster's name; or an array of distances, shape (n, n), for a machine
            of n elements without links.
        elements: what ranks are placed on: ``"core"`` or ``"pu"`` (hardware threads).

    >>> from nodewise import Topology
    >>> machine = Topology("hierarchy:4:2@1:10")
    >>> machine
    <Topology 'hierarchy:4:2@1:10': 1 node, 8 elements, 0 GPUs>
    >>> machine.distance(0, 3), machine.distance(0, 4)
    (1.0, 10.0)
    >>> machine.distances().shape
    (8, 8)
    """

    _loads = True  # `source` is one that `nodewise` can load

    def __init__(self, source: Any, *, elements: str = "core"):
        out = ffi.new("nw_topology **")
        if isinstance(source, (str, os.PathLike)):
            self.source = os.fspath(source)
            given = options("nw_topology_options",
                            elements=number_of("nw_elements", "NW_ELEMENTS_", elements))
            check(lib.nw_topology_load(encode(source), given, out))
        else:
            if not np.ndim(source):
                raise TypeError("a topology is a source such as 'live' or a square array of "
                                "distances, not %s" % type(source).__name__)
            matrix = np.ascontiguousarray(source, np.float64)
            if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
                raise ValueError("distances have the shape (n, n), not %s" % (matrix.shape,))
            self.source, self._loads = "distances", False
            check(lib.nw_topology_from_distances(
                b"distances", borrow(matrix, "double *"), len(matrix), out))
        self._take(out[0])

    def _take(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.nw_topology_free)
        self._ends: Any = None

    @classmethod
    def compose(cls, network: str | None = None, nodes: Sequence[str] = (),
                gpus: str | None = None, *, elements: str = "core") -> Topology:
        """One machine from several sources, as ``nodewise topology --network``.

        Args:
            network: source of the hosts and switches.
            nodes: what is inside the hosts: ``"SOURCE"`` or ``"HOSTS=SOURCE"``.
            gpus: source whose GPU links are taken.

        The contradictions between the sources are in the attribute ``notes``.
        """
        words = [ffi.new("char[]", encode(word)) for word in several(nodes)]
        array = ffi.new("const char *[]", words)
        kept = [ffi.new("char[]", encode(word)) if word else NULL for word in (network, gpus)]
        parts = options("nw_topology_parts", network=kept[0], nodes=array,
                        node_count=len(words), gpus=kept[1])
        given = options("nw_topology_options",
                        elements=number_of("nw_elements", "NW_ELEMENTS_", elements))
        made = cls.__new__(cls)
        out = ffi.new("nw_topology **")
        made.notes = taken(lambda notes: lib.nw_topology_compose(parts, given, out, notes))
        made.source, made._loads = "composed", False
        made._take(out[0])
        return made

    @staticmethod
    def bundled() -> dict[str, str]:
        """The bundled clusters: name and one sentence of each.

        >>> "magc-a" in Topology.bundled()
        True
        """
        found, name, text = {}, ffi.new("const char **"), ffi.new("const char **")
        while lib.nw_topology_bundled(len(found), name, text):
            found[decode(name[0])] = decode(text[0])
        return found

    # --- what is in it ---

    @property
    def name(self) -> str:
        return decode(lib.nw_topology_name(self._handle))

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes, in the topology's order."""
        count = lib.nw_topology_node_count(self._handle)
        return [decode(lib.nw_topology_node_name(self._handle, i)) for i in range(count)]

    @property
    def element_count(self) -> int:
        return lib.nw_topology_element_count(self._handle)

    @property
    def gpu_count(self) -> int:
        return lib.nw_topology_gpu_count(self._handle)

    @property
    def element_nodes(self) -> np.ndarray:
        """Node of each element: int32, shape (element_count,)."""
        return np.repeat(np.arange(len(self._first()) - 1, dtype=np.int32),
                         np.diff(self._first()))

    def _first(self, gpus: bool = False) -> np.ndarray:
        """First element (or GPU) of each node, and the count behind the last."""
        call = lib.nw_topology_node_gpus if gpus else lib.nw_topology_node_elements
        count = lib.nw_topology_node_count(self._handle)
        total = self.gpu_count if gpus else self.element_count
        return np.array([call(self._handle, i).first for i in range(count)] + [total],
                        np.int64)

    @property
    def has_links(self) -> bool:
        """False for matrices of distances, which have neither links nor congestion."""
        return lib.nw_topology_has_links(self._handle)

    @property
    def links(self) -> Links:
        """All links, each direction by itself; made when they are looked at."""
        return Links(self)

    def _link(self, hop: int) -> Link:
        info = lib.nw_topology_link(self._handle, hop // 2)
        name = ffi.new("char[160]")
        lib.nw_topology_link_name(self._handle, hop // 2, name, 160)
        return Link(decode(name), decode(lib.nw_link_kind_name(info.kind)),
                    info.bandwidth[hop % 2], info.latency, info.half_duplex, info.assumed,
                    hop // 2, hop % 2)

    # --- distances and routes ---

    def _end(self, end: End) -> Any:
        gpu = isinstance(end, str) and end.startswith("gpu")
        words = end[3:] if gpu else end
        try:
            number = int(words)
        except ValueError:
            raise ValueError("an end is the number of an element, or 'gpuN', not %r"
                             % (end,)) from None
        count = self.gpu_count if gpu else self.element_count
        if not 0 <= number < count:
            raise IndexError("%s %d does not exist: the machine has %d %s"
                             % ("GPU" if gpu else "element", number, count,
                                "GPUs" if gpu else "elements"))
        call = lib.nw_topology_gpu_end if gpu else lib.nw_topology_element_end
        return call(self._handle, number)

    def distance(self, a: End, b: End) -> float:
        """Distance of two ends: the number of links between them, or the number given
        by a hierarchy or matrix; 0 for the same end."""
        return lib.nw_topology_distance(self._handle, self._end(a), self._end(b))

    def distances(self) -> np.ndarray:
        """Distances between all elements: float64, shape (element_count, element_count).
        Row a, column b is ``distance(a, b)``. It takes 8 bytes a pair."""
        count = self.element_count
        out = np.empty((count, count))
        if self._ends is None:
            self._ends = ffi.new("struct nw_end[]", count)
            for i in range(count):
                self._ends[i] = lib.nw_topology_element_end(self._handle, i)
        for i in range(count):
            lib.nw_topology_distances(self._handle, self._ends[i], self._ends, count,
                                      borrow(out[i], "double *"))
        return out

    def route(self, a: End, b: End) -> list[Link]:
        """The links from a to b in order; [] for a = b and for matrices. If messages
        are divided over several network cards, the links of each part in turn.

        >>> [link.kind for link in Topology("hierarchy:4:2").route(0, 5)]
        ['group', 'group', 'group', 'group']
        """
        hops = ffi.new("uint32_t[]", max(1, lib.nw_topology_route_max(self._handle)))
        first, last, links = self._end(a), self._end(b), []
        for _ in range(lib.nw_topology_stripe_count(self._handle, first, last)):
            count = lib.nw_topology_route(self._handle, first, last, hops)
            links += [self._link(hops[i]) for i in range(count)]
            first.nic -= 1  # the next part of a message goes by the next card
            last.nic -= 1
        return links

    # --- shown and written ---

    def tree(self) -> str:
        """The machine as a tree of words, as ``nodewise topology`` prints it."""
        return taken(lib.nw_report_topology_tree, self._handle)

    def to_json(self) -> str:
        """The machine as JSON, schema ``nodewise.topology/1``."""
        return taken(lib.nw_report_topology_json, self._handle)

    def to_yaml(self) -> str:
        """The machine as a cluster file, which reads back as the same machine."""
        return taken(lib.nw_topology_write, self._handle)

    def to_svg(self) -> str:
        """The machine as an SVG picture."""
        return taken(lib.nw_report_topology_svg, self._handle)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        nodes = lib.nw_topology_node_count(self._handle)
        return "<Topology %r: %d node%s, %d elements, %d GPUs>" % (
            self.name, nodes, "s"[:nodes != 1], self.element_count, self.gpu_count)


def as_topology(source: Any) -> Topology:
    return source if isinstance(source, Topology) else Topology(source)
