# SPDX-License-Identifier: BSD-3-Clause
"""Mappings: which node, cores and GPUs each rank has."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._cost import Cost
from ._library import NULL, check, decode, encode, ffi, lib, view
from ._topology import Topology


class Mapping:
    """Which node, cores and GPUs each rank has. Numpy takes it as the array of its
    elements: ``numpy.asarray(mapping)``, ``mapping[rank]``, ``len(mapping)``.

    Args:
        topology: the machine.
        elements: the element of each rank, int, shape (ranks,).
        gpus: the GPU of each rank by its number inside the node, -1 for none, shape
            (ranks,); default: none.

    >>> from nodewise import Mapping, Topology
    >>> mapping = Mapping(Topology("hwloc:package:1 core:4"), [3, 2, 1, 0])
    >>> mapping[0], len(mapping)
    (3, 4)
    """

    # what nodewise.map adds
    cost: Cost | None = None
    """What the mapping costs, if nodewise.map computed it."""
    default_cost: Cost | None = None
    """What the default mapping costs, which the launcher would use."""
    algorithm: str | None = None
    objective: str | None = None
    objective_why: str | None = None
    """Why this objective was chosen, if it was ``"auto"``."""
    seed: int | None = None
    steps: int | None = None
    hurried: bool = False
    """True if a time limit or Ctrl-C had such a part in it that `steps` need not repeat
    it."""
    proven: bool = False
    """True if it is proven to be an optimum of the objective."""
    interrupted: bool = False
    """True if Ctrl-C ended the search, and this is the best until then."""

    def __init__(self, topology: Topology, elements: Any, gpus: Any = None):
        if isinstance(elements, (str, os.PathLike)) or not isinstance(topology, Topology):
            raise TypeError("a mapping is a Topology and the elements of the ranks; "
                            "Mapping.read(path, topology) reads a file")
        array = _ints(elements, "elements")
        if array.size and not (0 <= array.min() and array.max() < topology.element_count):
            raise ValueError("elements are from 0 to %d, not %d to %d"
                             % (topology.element_count - 1, array.min(), array.max()))
        out = ffi.new("nw_mapping **")
        check(lib.nw_mapping_new(topology._handle, array.size, out))
        self._take(topology, out[0])
        nodes = topology.element_nodes[array]
        self._put("node", nodes)
        self._put("core", array - topology._first()[nodes])
        self._put("gpu", np.full(array.size, -1) if gpus is None
                  else _checked_gpus(topology, nodes, _ints(gpus, "gpus")))

    def _take(self, topology: Topology, handle: Any) -> None:
        self.topology = topology
        self._handle = ffi.gc(handle, lib.nw_mapping_free)

    def _put(self, name: str, values: Any) -> None:
        if len(self):
            memory = ffi.buffer(getattr(self._handle, name), 4 * len(self))
            np.frombuffer(memory, np.int32)[:] = values

    @classmethod
    def _owning(cls, topology: Topology, handle: Any) -> Mapping:
        made = cls.__new__(cls)
        made._take(topology, handle)
        return made

    @classmethod
    def read(cls, path: str | os.PathLike, topology: Topology) -> Mapping:
        """Reads a mapping file; its nodes, cores and GPUs must exist in the machine."""
        out = ffi.new("nw_mapping **")
        check(lib.nw_mapping_read(encode(path), topology._handle, out))
        return cls._owning(topology, out[0])

    def write(self, path: str | os.PathLike, format: str = "mapping") -> None:
        """Writes a mapping file, or with ``format="pe"`` one element number a line."""
        if format == "pe":
            check(lib.nw_mapping_write_elements(self._handle, self.topology._handle,
                                                encode(path)))
        elif format == "mapping":
            check(lib.nw_mapping_write_by(self._handle, encode(path), 0))
        else:
            raise ValueError("format is 'mapping' or 'pe', not %r" % format)

    # --- its arrays ---

    @property
    def nodes(self) -> np.ndarray:
        """Node of each rank: int32, shape (ranks,); -1 if open. Read only."""
        return view(self._handle.node, len(self), np.int32, self)

    def cores(self, rank: int) -> list[int]:
        """Cores of a rank: logical indexes inside its node."""
        return self._set(lib.nw_mapping_cores, rank)

    def gpus(self, rank: int) -> list[int]:
        """GPUs of a rank inside the node, in the order in which the rank sees them."""
        return self._set(lib.nw_mapping_gpus, rank)

    def _set(self, call: Any, rank: int) -> list[int]:
        if not 0 <= rank < len(self):
            raise IndexError("rank %d of %d" % (rank, len(self)))
        found = call(self._handle, rank)
        return ffi.unpack(found.values, found.count) if found.count else []

    @property
    def elements(self) -> np.ndarray:
        """First element of each rank in the machine: int32, shape (ranks,); -1 if open."""
        ranks = len(self)
        first = (np.arange(ranks) if self._handle.core_row == NULL else
                 view(self._handle.core_row, ranks, np.int64, self))
        count = self._handle.core_row[ranks] if self._handle.core_row != NULL else ranks
        core = view(self._handle.core, count, np.int32, self)[first]
        nodes = self.nodes
        found = self.topology._first()[nodes] + core
        return np.where((nodes < 0) | (core < 0), -1, found).astype(np.int32)

    @property
    def ranks_by_node(self) -> dict[str, np.ndarray]:
        """The ranks of each node that has any, in ascending order, by the node's name."""
        nodes = self.nodes
        order = np.argsort(nodes, kind="stable")
        found, first = np.unique(nodes[order], return_index=True)
        parts = np.split(order, first[1:])
        return {decode(self._handle.node_name[node]): part
                for node, part in zip(found, parts) if node >= 0}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.elements if dtype is None else self.elements.astype(dtype)

    def __len__(self) -> int:
        return self._handle.rank_count

    def __getitem__(self, index: Any) -> Any:
        found = self.elements[index]
        return found.item() if np.ndim(found) == 0 else found

    def __repr__(self) -> str:
        nodes = len(np.unique(self.nodes))
        words = "%d rank%s on %d node%s" % (
            len(self), "s"[:len(self) != 1], nodes, "s"[:nodes != 1])
        if self.algorithm:
            words += ", by %s" % self.algorithm
        return "<Mapping: %s>" % words


def _ints(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError("%s are whole numbers, shape (ranks,), not %s of shape %s"
                         % (name, array.dtype, array.shape))
    return array


def _checked_gpus(topology: Topology, nodes: np.ndarray, gpus: np.ndarray) -> np.ndarray:
    counts = np.diff(topology._first(gpus=True))[nodes]
    if gpus.shape != nodes.shape or (gpus < -1).any() or (gpus >= counts).any():
        raise ValueError("gpus are one a rank, from -1 to the node's GPUs less one")
    return gpus


def as_mapping(source: Any, topology: Topology) -> Mapping:
    """A mapping, a file, or the elements of the ranks; for this machine."""
    if isinstance(source, (str, os.PathLike)):
        return Mapping.read(source, topology)
    if not isinstance(source, Mapping):
        return Mapping(topology, source)
    if source.topology is not topology and (
            source.topology.nodes != topology.nodes or
            not np.array_equal(source.topology._first(), topology._first())):
        raise ValueError("the mapping is of another machine: %r" % source.topology)
    return source
