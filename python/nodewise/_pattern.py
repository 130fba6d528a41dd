# SPDX-License-Identifier: BSD-3-Clause
"""Patterns: who sends how much to whom, from and to scipy, numpy and networkx."""
from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import numpy as np

from ._library import (borrow, check, decode, encode, ffi, lib, number_of, options, taken,
                       view)

KINDS = ("hh", "gg", "hg", "gh")
BLOCK = 1 << 20  # values that are checked at a time, so that they stay in the cache


class Total(NamedTuple):
    """Totals of a pattern."""

    bytes: int
    messages: int
    edges: int


def _whole(values: np.ndarray) -> np.ndarray:
    """A copy as uint64; ValueError with the position of a value that is not a whole
    number from 0 to 2^64 - 1."""
    if values.dtype.kind in "ub":
        return values.astype(np.uint64)
    if values.dtype.kind not in "if":
        raise ValueError("bytes, messages and weights are numbers, not %s" % values.dtype)
    out = np.empty(values.shape, np.uint64)
    for first in range(0, len(values), BLOCK):
        block = values[first:first + BLOCK]
        good = block >= 0
        if block.dtype.kind == "f":
            good &= (block < 2.0**64) & (block == np.floor(block))
        if not good.all():
            raise _Bad(first + int(np.argmin(good)))
        out[first:first + BLOCK] = block
    return out


def _byte_counts(values: np.ndarray) -> np.ndarray:
    """A copy as uint64, by the rule for files of Matrix Market: absolute values, rounded to
    whole bytes, and at least 1 byte unless 0. ValueError with the position of a value that
    is not a number or is 2^64 or more."""
    if values.dtype.kind not in "if":
        return _whole(values)
    out = np.empty(values.shape, np.uint64)
    for first in range(0, len(values), BLOCK):
        block = np.abs(values[first:first + BLOCK])
        if block.dtype.kind == "i":  # abs(-128) is -128 in int8
            block = block.astype("u%d" % block.itemsize)
        else:
            good = block < 2.0**64
            if not good.all():
                raise _Bad(first + int(np.argmin(good)))
            block = np.where(block > 0, np.maximum(np.rint(block), 1), 0)
        out[first:first + BLOCK] = block.astype(np.uint64)
    return out


class _Bad(ValueError):
    """The entry at this position of a matrix cannot be a number of bytes."""

    @property
    def position(self) -> int:
        return self.args[0]


def _canonical(matrix: Any) -> Any:
    """The matrix in compressed rows, columns in order, equal ones summed, without zeros; the
    matrix itself if it is so already."""
    rows = matrix.tocsr()
    rows.check_format(full_check=True)
    if rows.has_canonical_format and rows.data.all():
        return rows
    rows = rows.copy() if rows is matrix else rows
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _is_networkx(source: Any) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(source, networkx.Graph)


class Pattern:
    """How many bytes in how many messages each rank sends to each other rank.

    Args:
        source: a file in any format of nodewise-formats(5), with or without its prefix
            (``"mm:app.mtx"``); or a matrix, shape (ranks, ranks), of the bytes that rank
            i (row) sends to rank j (column): a scipy sparse matrix or array, a numpy
            array; or a networkx graph. The absolute value of an entry is rounded to whole
            bytes, at least 1 unless it is 0, as in files of Matrix Market. So the matrix
            of a solver is accepted without changes.
        messages: how many messages those bytes are, a matrix with the same entries
            (default: one an entry).
        kind: where the bytes of a matrix are, at the sender and at the receiver:
            ``"hh"`` (host to host), ``"gg"`` (GPU to GPU), ``"hg"`` or ``"gh"``.
        compact: renumber the ranks of a file whose numbers have gaps.

    A pattern holds its own copy. Its arrays are read only:

    * ``row``: int64, shape (ranks + 1,), edges of rank i are row[i] to row[i + 1] - 1;
    * ``dst``: int32, shape (edges,), the receiving rank;
    * ``kind``: uint8, shape (edges,), an index into ``nodewise.KINDS``;
    * ``bytes``, ``messages``: uint64, shape (edges,), totals of the whole run.

    >>> import numpy as np
    >>> from nodewise import Pattern
    >>> pattern = Pattern(np.array([[0, 100], [50, 0]]))
    >>> pattern
    <Pattern: 2 ranks, 2 edges, 150 bytes>
    >>> pattern.bytes
    array([100,  50], dtype=uint64)
    """

    def __init__(self, source: Any, *, messages: Any = None, kind: str = "hh",
                 compact: bool = False):
        self._kept: Any = None  # the arrays, if they are not the library's
        if isinstance(source, (str, os.PathLike)):
            out = ffi.new("nw_pattern **")
            given = options("nw_pattern_read_options", compact=compact)
            check(lib.nw_pattern_read(encode(source), given, out))
            self._take(out[0])
        elif _is_networkx(source):
            self._fill(_canonical(_of_networkx(source, "weight")), messages, kind)
        else:
            self._fill(_of_matrix(source), messages, kind)

    def _take(self, handle: Any) -> Pattern:
        self._kept = None
        self._handle = ffi.gc(handle, lib.nw_pattern_free)
        return self

    @classmethod
    def _owning(cls, handle: Any) -> Pattern:
        return cls.__new__(cls)._take(handle)

    def _fill(self, rows: Any, messages: Any, kind: str) -> None:
        """Takes compressed rows: one copy of each array."""
        ranks, edges = rows.shape[0], rows.nnz
        if rows.shape[0] != rows.shape[1] or ranks < 1:
            raise ValueError("a pattern is a square matrix, not %d x %d" % rows.shape)
        try:
            kept = {"row": rows.indptr.astype(np.uint64), "dst": rows.indices.astype(np.int32),
                    "kind": np.full(edges, number_of("nw_kind", "NW_KIND_", kind), np.uint8),
                    "bytes": _byte_counts(rows.data)}
        except _Bad as bad:
            row = int(np.searchsorted(rows.indptr, bad.position, "right")) - 1
            raise ValueError("row %d, column %d: %r is not a number of bytes"
                             % (row, rows.indices[bad.position],
                                rows.data[bad.position].item())) from None
        kept["messages"] = (np.ones(edges, np.uint64) if messages is None
                            else _messages_of(messages, rows))
        self._kept = kept
        self._handle = ffi.new("nw_pattern *", {"rank_count": ranks, "edge_count": edges})
        for name, ctype in (("row", "size_t *"), ("dst", "int32_t *"), ("kind", "uint8_t *"),
                            ("bytes", "uint64_t *"), ("messages", "uint64_t *")):
            setattr(self._handle, name, borrow(kept[name], ctype))

    # --- made otherwise ---

    @classmethod
    def generate(cls, specification: str) -> Pattern:
        """A generated pattern, as ``nodewise pattern --generate``; nodewise-pattern(1)
        lists names, keys and formulas.

        >>> Pattern.generate("stencil2d5:dims=4x4,bytes=1024").ranks
        16
        """
        out = ffi.new("nw_pattern **")
        check(lib.nw_pattern_generate(encode(specification), out))
        return cls._owning(out[0])

    @classmethod
    def combine(cls, host: Pattern, gpu: Pattern) -> Pattern:
        """The edges of one pattern between hosts, those of the other between GPUs."""
        out = ffi.new("nw_pattern **")
        check(lib.nw_pattern_combine(host._handle, gpu._handle, out))
        return cls._owning(out[0])

    @classmethod
    def from_scipy(cls, matrix: Any, **options: Any) -> Pattern:
        """From a scipy sparse matrix or array: as ``Pattern(matrix)``."""
        return cls(matrix, **options)

    @classmethod
    def from_numpy(cls, matrix: Any, **options: Any) -> Pattern:
        """From a dense matrix, whose zeros are no edges: as ``Pattern(matrix)``."""
        return cls(np.asarray(matrix), **options)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str = "weight", kind: str = "hh") -> Pattern:
        """From a networkx graph: `weight` names the edges' bytes, 1 where it is missing.
        Nodes 0 to n - 1 are the ranks of that number, others in the graph's order; an
        undirected edge counts in both directions.

        >>> import networkx
        >>> Pattern.from_networkx(networkx.cycle_graph(5))
        <Pattern: 5 ranks, 10 edges, 10 bytes>
        """
        made = cls.__new__(cls)
        made._fill(_canonical(_of_networkx(graph, weight)), None, kind)
        return made

    def select(self, kind: str) -> Pattern:
        """The edges of one kind alone."""
        out = ffi.new("nw_pattern **")
        check(lib.nw_pattern_select(self._handle, number_of("nw_kind", "NW_KIND_", kind), out))
        return Pattern._owning(out[0])

    def scale(self, ranks: int) -> Pattern:
        """The grid that is found in the pattern, scaled to so many ranks. The result's
        ``how`` says in a sentence what was found."""
        out = ffi.new("nw_pattern **")
        how = taken(lambda text: lib.nw_pattern_scale(self._handle, ranks, out, text))
        made = Pattern._owning(out[0])
        made.how = how
        return made

    # --- its arrays ---

    def _array(self, name: str, count: int, dtype: Any) -> np.ndarray:
        return view(getattr(self._handle, name), count, dtype, self)

    @property
    def ranks(self) -> int:
        return self._handle.rank_count

    @property
    def edges(self) -> int:
        return self._handle.edge_count

    @property
    def row(self) -> np.ndarray:
        return self._array("row", self.ranks + 1, np.int64)

    @property
    def dst(self) -> np.ndarray:
        return self._array("dst", self.edges, np.int32)

    @property
    def src(self) -> np.ndarray:
        """The sending rank: int32, shape (edges,); computed."""
        return np.repeat(np.arange(self.ranks, dtype=np.int32), np.diff(self.row))

    @property
    def kind(self) -> np.ndarray:
        return self._array("kind", self.edges, np.uint8)

    @property
    def bytes(self) -> np.ndarray:
        return self._array("bytes", self.edges, np.uint64)

    @property
    def messages(self) -> np.ndarray:
        return self._array("messages", self.edges, np.uint64)

    @property
    def weights(self) -> np.ndarray | None:
        """Computation of each rank: uint64, shape (ranks,); None: equal."""
        if not self._handle.weight:
            return None
        return self._array("weight", self.ranks, np.uint64)

    @property
    def program(self) -> str | None:
        """The command line that was profiled."""
        return decode(self._handle.program)

    @property
    def partial(self) -> str | None:
        """Why the profile is not whole."""
        return decode(self._handle.partial)

    @property
    def note(self) -> str | None:
        """Where the pattern comes from."""
        return decode(self._handle.note)

    def total(self, kind: str | None = None) -> Total:
        """Totals of one kind, or of all.

        >>> Pattern.generate("stencil2d5:dims=4x4,bytes=1024").total().edges
        48
        """
        totals = [lib.nw_pattern_total_of(self._handle, number_of("nw_kind", "NW_KIND_", one))
                  for one in ((kind,) if kind else KINDS)]
        return Total(*(sum(getattr(one, name) for one in totals) for name in Total._fields))

    # --- conversions ---

    def to_scipy(self, kind: str | None = None, values: str = "bytes") -> Any:
        """A ``scipy.sparse.csr_array`` of uint64, shape (ranks, ranks): bytes, or
        ``values="messages"``, of one kind or of all kinds together.

        >>> Pattern(np.array([[0, 3], [0, 0]])).to_scipy().toarray()
        array([[0, 3],
               [0, 0]], dtype=uint64)
        """
        from scipy.sparse import csr_array

        if values not in ("bytes", "messages"):
            raise ValueError("values are 'bytes' or 'messages', not %r" % values)
        if kind is not None and (self.kind != KINDS.index(kind)).any():
            return self.select(kind).to_scipy(None, values)
        matrix = csr_array((getattr(self, values).copy(), self.dst.copy(), self.row.copy()),
                           shape=(self.ranks, self.ranks))
        if len(np.unique(self.kind)) > 1:
            matrix.sum_duplicates()
        return matrix

    def to_numpy(self, kind: str | None = None, values: str = "bytes") -> np.ndarray:
        """A dense matrix of uint64, shape (ranks, ranks)."""
        return self.to_scipy(kind, values).toarray()

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` with `bytes` and `messages` of each edge, all kinds
        together; `weight` is the bytes."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.ranks))
        bytes_, messages = self.to_scipy().tocoo(), self.to_scipy(values="messages")
        for src, dst, sent, count in zip(bytes_.row.tolist(), bytes_.col.tolist(),
                                         bytes_.data.tolist(), messages.data.tolist()):
            graph.add_edge(src, dst, weight=sent, bytes=sent, messages=count)
        return graph

    def write(self, path: str | os.PathLike, format: str = "native") -> None:
        """Writes a file: ``"native"``, ``"metis"``, ``"mm"``, ``"matrix"`` or
        ``"list"``."""
        check(lib.nw_pattern_write_as(self._handle, format.encode(), encode(path)))

    # --- shown ---

    def text(self, width: int = 80) -> str:
        """Totals, and a heat map of each layer in characters."""
        return taken(lib.nw_report_pattern_text, self._handle, width)

    def to_svg(self) -> str:
        """The heat maps as an SVG picture."""
        return taken(lib.nw_report_pattern_svg, self._handle)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __len__(self) -> int:
        return self.ranks

    def __repr__(self) -> str:
        return "<Pattern: %d rank%s, %d edge%s, %d bytes>" % (
            self.ranks, "s"[:self.ranks != 1], self.edges, "s"[:self.edges != 1],
            self.total().bytes)


def _of_networkx(graph: Any, weight: str) -> Any:
    import networkx

    count = len(graph)
    numbered = all(node in graph for node in range(count))
    return networkx.to_scipy_sparse_array(graph, range(count) if numbered else None,
                                          weight=weight, format="csr")


def _of_matrix(source: Any) -> Any:
    """Compressed rows of a sparse or dense matrix."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(source):
        return _canonical(source)
    dense = np.asarray(source)
    if dense.ndim != 2:
        raise TypeError("a pattern is a file or a matrix, not %s" % type(source).__name__)
    return _Rows(dense)


class _Rows:
    """Compressed rows of a dense matrix, for numpy without scipy."""

    def __init__(self, dense: np.ndarray):
        src, self.indices = np.nonzero(dense)
        self.data = dense[src, self.indices]
        self.shape = dense.shape
        self.indptr = np.searchsorted(src, np.arange(dense.shape[0] + 1))
        self.nnz = len(src)


def _messages_of(messages: Any, rows: Any) -> np.ndarray:
    """The messages of the edges, which must be the entries of both."""
    other = _of_matrix(messages)
    if other.shape != rows.shape or not (np.array_equal(other.indptr, rows.indptr) and
                                         np.array_equal(other.indices, rows.indices)):
        raise ValueError("messages have other entries than bytes")
    return whole_of("messages", other.data)


def whole_of(name: str, values: Any) -> np.ndarray | None:
    """The values as uint64, or None for None; ValueError if one is not a whole number from 0
    to 2^64 - 1."""
    if values is None:
        return None
    array = np.asarray(values)
    try:
        return _whole(array.ravel()).reshape(array.shape)
    except _Bad as bad:
        raise ValueError("%s: %r is not a whole number from 0 to 2^64 - 1"
                         % (name, array.ravel()[bad.position].item())) from None


def as_pattern(source: Any) -> Pattern:
    return source if isinstance(source, Pattern) else Pattern(source)
