# SPDX-License-Identifier: BSD-3-Clause
"""Computing, pricing and simulating mappings."""
from __future__ import annotations

from typing import Any, Mapping as Names, Sequence

import numpy as np

from ._cost import Cost, Simulation, cost_of
from ._library import borrow, check, decode, encode, ffi, lib, number_of, options, several
from ._mapping import Mapping, as_mapping
from ._pattern import Pattern, as_pattern, whole_of
from ._run import Report, run
from ._simgrid import helper
from ._topology import Topology, as_topology

OBJECTIVE = ("nw_objective", "NW_OBJECTIVE_")


class _Arguments:
    """The option struct of a mapping, and what it points to."""

    def __init__(self, topology: Topology, pattern: Pattern):
        self.topology, self.pattern = topology, pattern
        self.kept: list[Any] = []
        self.why: str | None = None
        self.struct = options("nw_map_options")

    def keep(self, value: Any) -> Any:
        self.kept.append(value)
        return value

    def plain(self, **members: Any) -> None:
        for name, value in members.items():
            if value is not None:
                setattr(self.struct, name, value)

    def words(self, algorithm: str | None, phases: Sequence[str | None]) -> None:
        if algorithm:
            self.struct.algorithm = self.keep(ffi.new("char[]", encode(algorithm)))
        if len(several(phases)) > len(self.struct.phase):
            raise ValueError("at most %d phases, not %d" % (len(self.struct.phase), len(phases)))
        for i, phase in enumerate(several(phases)):
            if phase:
                self.struct.phase[i] = self.keep(ffi.new("char[]", encode(phase)))

    def objective(self, objective: str | Sequence[str]) -> None:
        if objective == "auto":
            choice = ffi.new("struct nw_objective_choice *")
            check(lib.nw_map_choose_objective(self.topology._handle, self.pattern._handle,
                                              choice))
            self.struct.objective = choice.objective
            self.struct.careful = choice.objective != number_of(*OBJECTIVE, "hop-bytes")
            self.why = decode(choice.why)
            return
        words = objective.split(",") if isinstance(objective, str) else list(objective)
        if not 1 <= len(words) <= 2:
            raise ValueError("one or two objectives, not %d" % len(words))
        numbers = [number_of(*OBJECTIVE, word) for word in words]
        self.struct.objective = numbers[0]
        self.struct.has_second = len(numbers) == 2
        self.struct.second = numbers[-1]

    def array(self, name: str, values: Any, dtype: Any, ctype: str, count: int) -> None:
        if values is None:
            return
        array = self.keep(np.ascontiguousarray(values, dtype))
        if array.shape != (count,):
            raise ValueError("%s have the shape (%d,), not %s" % (name, count, array.shape))
        setattr(self.struct, name, borrow(array, ctype))

    def hosts(self, hosts: Sequence[str] | Names[str, int] | None) -> None:
        if hosts is None:
            return
        hosts = several(hosts)
        nodes = [lib.nw_topology_node_find(self.topology._handle, encode(name))
                 for name in hosts]
        if -1 in nodes:
            raise ValueError("the machine has no node %r" % list(hosts)[nodes.index(-1)])
        self.struct.host_count = len(nodes)
        self.array("hosts", nodes, np.int32, "int32_t *", len(nodes))
        if isinstance(hosts, Names):
            self.array("slots", list(hosts.values()), np.int32, "int32_t *", len(nodes))

    def mapping(self, name: str, source: Any) -> None:
        if source is not None:
            setattr(self.struct, name, self.keep(as_mapping(source, self.topology))._handle)


def _answer(arguments: _Arguments, found: Any, interrupted: bool) -> Mapping:
    topology, struct = arguments.topology, arguments.struct
    mapping = Mapping._owning(topology, found.mapping)
    found.mapping = ffi.NULL  # the mapping's now
    mapping.cost = cost_of(topology._handle, found.cost)
    mapping.default_cost = cost_of(topology._handle, found.standard)
    mapping.algorithm = decode(found.report.algorithm)
    mapping.objective = decode(lib.nw_objective_name(struct.objective))
    mapping.objective_why = arguments.why
    mapping.seed, mapping.steps = struct.seed, found.report.steps
    mapping.hurried, mapping.proven = found.report.hurried, found.report.proven
    mapping.interrupted = interrupted
    return mapping


def map(topology: Topology | str, pattern: Any, *, objective: str | Sequence[str] = "auto",
        algorithm: str | None = None, phases: Sequence[str | None] = (), seed: int | None = None,
        effort: str = "default", steps: int | None = None, time: float | None = None,
        threads: int | None = None, start: Any = None, fix: Any = None,
        hosts: Sequence[str] | Names[str, int] | None = None,
        cores_per_rank: int | None = None, gpus_per_rank: int | None = None,
        ranks_per_gpu: int | None = None, remote_gpus: bool = False,
        affinity: float | None = None, capacity: int | None = None,
        imbalance: float | None = None, weights: Any = None, speeds: Any = None,
        whole_nodes: bool = False, spare: int | None = None,
        progress: bool | Report | None = None) -> Mapping:
    """Computes a mapping: a node, cores and GPUs for each rank. It is never worse than
    the default mapping for the objective.

    Args:
        topology: the machine, or its source.
        pattern: the traffic of the program: a Pattern, or a value that makes one.
        objective: the cost to reduce: ``"hop-bytes"``, ``"congestion"``, ``"latency"``,
            ``"time"``, ``"auto"``, or two of them. The second cost decides between
            mappings with the same first cost.
        algorithm: a name of ``nodewise.algorithms()`` (default: ``"auto"``).
        phases: an algorithm for each of MAGC's three phases.
        seed: random seed (default: 1).
        effort: ``"fast"``, ``"default"`` or ``"strong"``; steps: so many steps instead;
            time: search for so many seconds instead.
        threads: threads to use (default: the cores available, 1 inside an MPI process).
        start: a mapping to begin with; fix: a mapping file with ranks to leave in place,
            ``*`` being open. Both: a Mapping, a file or the elements of the ranks.
        hosts: names of the nodes to use, in order, or {name: most ranks}.
        cores_per_rank, gpus_per_rank, ranks_per_gpu: default 1.
        remote_gpus: let a rank have a GPU of another node.
        affinity: how strongly to keep a rank's core, GPU and network card close to each
            other (default: 0, off).
        capacity: most ranks of one element (default: 1).
        imbalance: how far the load of an element may pass the mean, as a fraction.
        weights: load of each rank, shape (ranks,); speeds: of each element, shape
            (topology.element_count,).
        whole_nodes: keep consecutive ranks together on each node, which torchrun needs.
        spare: leave the last nodes of `hosts`, or of the machine, without ranks.
        progress: True to show the progress, False not to (default: on terminals and in
            notebooks), or a function of (done, total, what).

    Ctrl-C ends the search and returns the best mapping so far, with `interrupted` set;
    before the first mapping it raises KeyboardInterrupt. The interpreter's lock is
    released meanwhile.

    >>> import nodewise
    >>> mapping = nodewise.map("hierarchy:4:4@1:10", [[0, 0, 8], [0, 0, 0], [8, 0, 0]])
    >>> mapping.cost.hop_bytes, mapping.objective
    (16, 'hop-bytes')
    """
    machine, program = as_topology(topology), as_pattern(pattern)
    arguments = _Arguments(machine, program)
    arguments.objective(objective)
    arguments.words(algorithm, phases)
    arguments.plain(seed=seed, effort=number_of("nw_effort", "NW_EFFORT_", effort),
                    steps=steps, seconds=time, threads=threads, remote_gpus=remote_gpus,
                    cores_per_rank=cores_per_rank, gpus_per_rank=gpus_per_rank,
                    ranks_per_gpu=ranks_per_gpu, affinity=affinity, capacity=capacity,
                    imbalance=imbalance, whole_nodes=whole_nodes, spare=spare)
    arguments.hosts(hosts)
    arguments.mapping("start", start)
    arguments.mapping("fixed", fix)
    arguments.array("weights", whole_of("weights", weights), np.uint64, "uint64_t *", program.ranks)
    arguments.array("speeds", speeds, np.float64, "double *", machine.element_count)
    answer = ffi.gc(ffi.new("struct nw_map_answer *"), lib.nw_map_answer_fini)

    def call(state: Any) -> int:
        arguments.struct.progress = state
        return lib.nw_map_priced(machine._handle, program._handle, arguments.struct, answer)

    return _answer(arguments, answer, run(call, progress))


def algorithms() -> dict[str, str]:
    """The mapping algorithms: name and one sentence of each.

    >>> "magc" in algorithms()
    True
    """
    found, name, text = {}, ffi.new("const char **"), ffi.new("const char **")
    while lib.nw_map_algorithm(len(found), name, text):
        found[decode(name[0])] = decode(text[0])
    return found


def default_mapping(topology: Topology | str, pattern: Any, *,
                    ranks_per_gpu: int | None = None) -> Mapping:
    """What the launcher would do without Nodewise (nodewise-map(1)). If there are more ranks
    than elements or GPUs, ranks share them evenly.

    >>> default_mapping("hierarchy:4", [[0, 1], [1, 0]]).elements
    array([0, 1], dtype=int32)
    """
    machine, program = as_topology(topology), as_pattern(pattern)
    out = ffi.new("nw_mapping **")
    given = options("nw_map_options", ranks_per_gpu=ranks_per_gpu)
    check(lib.nw_map_reference(machine._handle, program._handle, given, out))
    return Mapping._owning(machine, out[0])


def evaluate(topology: Topology | str, pattern: Any, mapping: Any = None) -> Cost:
    """What a mapping costs.

    Args:
        topology: the machine, or its source.
        pattern: the program: a Pattern, or what makes one.
        mapping: a Mapping, a file or the elements of the ranks (default: the default
            mapping).

    >>> evaluate("hierarchy:2:2@1:10", [[0, 5], [0, 0]], [0, 2]).hop_bytes
    50
    """
    machine, program = as_topology(topology), as_pattern(pattern)
    given = (default_mapping(machine, program) if mapping is None
             else as_mapping(mapping, machine))
    found = ffi.gc(ffi.new("struct nw_cost *"), lib.nw_cost_fini)
    check(lib.nw_cost_evaluate(machine._handle, program._handle, given._handle, found))
    return cost_of(machine._handle, found)


def simulate(topology: Topology | str, pattern: Any, mapping: Any = None, *,
             bytes: int | None = None, total: bool = False, estimate: bool = False,
             force: bool = False, progress: bool | Report | None = None) -> Simulation:
    """Predicts the time of one exchange, in which all messages start together.

    Args:
        topology: the machine, or its source.
        pattern: the program: a Pattern, or what makes one.
        mapping: a Mapping, a file or the elements of the ranks (default: the default
            mapping).
        bytes: scale all messages so that the largest has this size.
        total: all bytes of the run at once, instead of one message of mean size an edge.
        estimate: only the estimate from congestion, without SimGrid.
        force: simulate however many messages there are.
        progress: as for ``nodewise.map``; Ctrl-C raises KeyboardInterrupt.

    >>> simulate("magc-a", [[0, 1], [1, 0]], [0, 1], bytes=2**20, estimate=True).flows
    2
    """
    machine, program = as_topology(topology), as_pattern(pattern)
    given = (default_mapping(machine, program) if mapping is None
             else as_mapping(mapping, machine))
    struct = options("nw_simulate_options", bytes=bytes, total=total, estimate=estimate,
                     force=force)
    out = ffi.new("struct nw_simulation *")

    def call(state: Any) -> int:
        struct.progress = state
        return lib.nw_simulate(machine._handle, program._handle, given._handle, struct, out)

    with helper():
        run(call, progress)
    return Simulation(out.time, out.estimate, out.simulated, out.resolution, out.flows,
                      out.bytes)
