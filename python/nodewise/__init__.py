# SPDX-License-Identifier: BSD-3-Clause
"""Nodewise maps MPI programs onto nodes, cores and GPUs.

Three nouns: a Topology is a machine, a Pattern is a program, a Mapping is the answer.

>>> import numpy, nodewise
>>> machine = nodewise.Topology("hierarchy:4:4@1:10")
>>> pattern = nodewise.Pattern.generate("stencil2d5:dims=4x4,bytes=1024")
>>> mapping = nodewise.map(machine, pattern)
>>> mapping.cost.hop_bytes < mapping.default_cost.hop_bytes
True
>>> numpy.asarray(mapping).shape
(16,)
"""
from . import reorder
from ._cost import Cost, Level, Simulation
from ._errors import (Error, FileError, FormatError, InvalidArgument, NotFound, OutOfMemory,
                      Unsupported)
from ._launch import Launch, launch, launchers
from ._map import algorithms, default_mapping, evaluate, map, simulate
from ._mapping import Mapping
from ._pattern import KINDS, Pattern, Total
from ._profile import profile
from ._report import Report, report
from ._topology import Link, Links, Topology

__all__ = [
    "Cost", "Error", "FileError", "FormatError", "InvalidArgument", "KINDS", "Launch",
    "Level", "Link", "Links", "Mapping", "NotFound", "OutOfMemory", "Pattern", "Report",
    "Simulation", "Topology", "Total", "Unsupported", "algorithms", "default_mapping",
    "evaluate", "launch", "launchers", "map", "profile", "reorder",
    "report", "simulate",
]
