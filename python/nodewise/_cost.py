# SPDX-License-Identifier: BSD-3-Clause
"""What a mapping costs, and the prediction of an exchange."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._library import NULL, decode, ffi, lib, view


class Level(NamedTuple):
    """What meets at one level of the machine."""

    host_bytes: int
    gpu_bytes: int
    host_messages: int
    gpu_messages: int


@dataclass(frozen=True)
class Cost:
    """What a mapping costs; the definitions are those of nodewise-map(1). Figures that
    need links are None for machines without links."""

    hop_bytes: int | float
    """Sum of bytes x distance; an exact int if all distances are whole numbers."""
    host_hop_bytes: int | float
    """The same between hosts."""
    gpu_hop_bytes: int | float
    """The same between GPUs."""
    max_congestion: float | None
    """s: the most that one direction of a link carries, divided by its bandwidth"""
    max_congestion_host: float | None
    """s"""
    max_congestion_gpu: float | None
    """s"""
    latency: float
    """s: sum of messages x latency of their routes"""
    busy: float | None
    """s: congestion of all links together"""
    time: float | None
    """s: a model of all messages of the pattern; of one exchange if divided by the largest message count"""
    remote_gpus: int
    """ranks whose GPU is on another node"""
    levels: dict[str, Level]
    """Bytes and messages by the level at which the two ends meet."""
    link_congestion: np.ndarray | None
    """s, by ``2 * link + direction``: float64, shape (len(topology.links),)"""


def _sum(found: Any) -> int | float:
    if not found.integral:
        return found.value
    return int.from_bytes(bytes(ffi.buffer(ffi.addressof(found, "exact"))), sys.byteorder)


def _levels(topology: Any, found: Any) -> dict[str, Level]:
    levels = {}
    for i in range(found.level_count):
        level = Level(found.level_bytes[0][i], found.level_bytes[1][i],
                      found.level_messages[0][i], found.level_messages[1][i])
        if any(level):
            levels[decode(lib.nw_topology_level_name(topology, i))] = level
    return levels


def cost_of(topology: Any, found: Any) -> Cost:
    """From a struct nw_cost, which the caller frees."""
    seconds = {name: getattr(found, name) if found.has_congestion else None
               for name in ("max_congestion", "max_congestion_host", "max_congestion_gpu",
                            "busy", "time")}
    links = None
    if found.link_congestion != NULL:
        links = view(found.link_congestion, 2 * found.link_count, np.float64).copy()
    return Cost(hop_bytes=_sum(found.hop_bytes), host_hop_bytes=_sum(found.host_hop_bytes),
                gpu_hop_bytes=_sum(found.gpu_hop_bytes), latency=found.latency,
                remote_gpus=found.remote_gpus, levels=_levels(topology, found),
                link_congestion=links, **seconds)


@dataclass(frozen=True)
class Simulation:
    """The predicted exchange."""

    time: float
    """s until the last message has arrived"""
    estimate: float
    """s: the estimate from congestion"""
    simulated: bool
    """False: `time` is the estimate"""
    resolution: float
    """s: arrivals closer than this were taken as one"""
    flows: int
    """messages that cross a link"""
    bytes: int
    """of these messages"""
