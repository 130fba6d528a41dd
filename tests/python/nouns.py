# SPDX-License-Identifier: BSD-3-Clause
"""Topologies, patterns and mappings, and what is made of them, beside the command."""
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
from unittest import mock

import numpy as np

import nodewise
from nodewise import Mapping, Pattern, Topology, _library, _simgrid
from support import SOURCE, InFolder, command, command_json, needs

DENSE = np.array([[0, 100, 0], [0, 0, 7], [5, 0, 0]])
INVALID = os.path.join(SOURCE, "tests/fixtures/pattern/invalid")


class Topologies(InFolder):
    def test_distances_are_the_hierarchys(self):
        machine = Topology("hierarchy:4:8:16@1:10.5:100")
        i, j = np.indices((512, 512))
        expected = np.select([i == j, i // 4 == j // 4, i // 32 == j // 32], [0, 1, 10.5], 100)
        np.testing.assert_array_equal(machine.distances(), expected)
        self.assertEqual(machine.distance(0, 33), 100)

    def test_distances_from_an_array(self):
        matrix = [[0, 2, 3], [4, 0, 5], [6, 7, 1]]
        machine = Topology(matrix)
        np.testing.assert_array_equal(machine.distances(), matrix)
        self.assertFalse(machine.has_links)
        with self.assertRaises(ValueError):
            Topology([[1, 2, 3]])

    def test_routes_are_as_long_as_distances(self):
        machine = Topology("magc-a")
        for a, b in ((0, 1), (0, machine.element_count - 1), ("gpu0", "gpu1"), (0, "gpu3"), (2, 2)):
            route = machine.route(a, b)
            self.assertEqual(len(route), machine.distance(a, b))
            self.assertEqual([machine.links[2 * link.link + link.direction] for link in route],
                             route)

    def test_route_is_the_commands(self):
        striped = os.path.join(SOURCE, "tests/fixtures/topology/valid/two_cards.yaml")
        for source, a, b in (("magc-a", "0", "gpu1"), (striped, "gpu0", "gpu2")):
            theirs = command_json("topology", source, "--route", a, b)
            ours = Topology(source).route(a, b)
            self.assertEqual([(link.name, link.kind, link.bandwidth) for link in ours],
                             [(link["name"], link["kind"], link["bandwidth"])
                              for link in theirs["links"]])
        self.assertEqual([link.name for link in ours if "leaf" in link.name],
                         ["n%d: nic %d - leaf%d" % (n, c, c) for c in (0, 1) for n in (1, 2)])

    def test_texts_are_the_commands(self):
        machine = Topology("magc-a")
        self.assertEqual(machine.tree(), command("topology", "magc-a"))
        self.assertEqual(machine._repr_svg_(), command("topology", "magc-a", "--svg"))
        self.assertEqual(json.loads(machine.to_json()), command_json("topology", "magc-a"))

    def test_compose(self):
        machine = Topology.compose(network="magc-a", nodes=["hwloc:package:2 core:4"])
        self.assertEqual(machine.nodes, Topology("magc-a").nodes)
        self.assertEqual(machine.element_count, 8 * len(machine.nodes))
        self.assertIsInstance(machine.notes, str)

    def test_elements_may_be_hardware_threads(self):
        source = "hwloc:package:1 core:2 pu:2"
        self.assertEqual(Topology(source).element_count, 2)
        self.assertEqual(Topology(source, elements="pu").element_count, 4)

    def test_errors(self):
        with open("bad.yaml", "w", encoding="utf-8") as file:
            file.write("nodewise: cluster 1\nnothing_such: 1\n")
        with self.assertRaises(nodewise.FormatError) as caught:
            Topology("bad.yaml")
        self.assertEqual((caught.exception.file, caught.exception.line), ("bad.yaml", 2))
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(nodewise.Error):
            Topology("no-such-cluster")
        machine = Topology("magc-a")
        for end in (-1, machine.element_count, "gpu99"):
            with self.assertRaises(IndexError):
                machine.distance(0, end)
        for end in ("core1", "gpu", None):
            with self.assertRaises((ValueError, TypeError)):
                machine.distance(0, end)
        with self.assertRaisesRegex(ValueError, "unknown objective 'speed'; use .*hop-bytes"):
            nodewise.map(machine, DENSE, objective="speed")


class Patterns(InFolder):
    def expect(self, pattern, dense=DENSE):
        np.testing.assert_array_equal(pattern.to_numpy(), dense)

    def test_smallest_numbers(self):
        for bits in (8, 16, 32, 64):
            least = np.iinfo("int%d" % bits).min
            pattern = Pattern(np.array([[0, least], [0, 0]], "int%d" % bits))
            self.assertEqual(pattern.bytes.tolist(), [-int(least)])

    def test_numpy(self):
        self.expect(Pattern(DENSE))
        self.expect(Pattern(DENSE.astype(float)))
        self.expect(Pattern(DENSE.tolist()))
        self.expect(Pattern.from_numpy(DENSE))

    def test_large_numbers_are_exact(self):
        big = np.array([[0, 2**64 - 1], [2**53 + 1, 0]], np.uint64)
        self.expect(Pattern(big), big)

    def test_arrays_are_read_only(self):
        for name in ("row", "dst", "kind", "bytes", "messages"):
            with self.assertRaises(ValueError):
                getattr(Pattern(DENSE), name)[0] = 1

    def test_arrays_outlive_the_pattern(self):
        found = Pattern.generate("stencil2d5:dims=64x64,bytes=10").bytes
        self.assertEqual(int(found.sum()), 10 * len(found))

    @needs("scipy")
    def test_scipy(self):
        from scipy import sparse

        for kind in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix, sparse.lil_matrix,
                     sparse.csr_array):
            self.expect(Pattern(kind(DENSE)))
        self.assertEqual((Pattern(DENSE).to_scipy() != sparse.csr_array(DENSE)).nnz, 0)

    @needs("scipy")
    def test_scipy_unsorted_and_twice(self):
        from scipy import sparse

        # row 0: columns 2, 0, 2
        matrix = sparse.csr_matrix((np.array([1.0, 2, 4]), np.array([2, 0, 2]),
                                    np.array([0, 3, 3, 3])), shape=(3, 3))
        self.expect(Pattern(matrix), [[2, 0, 5], [0, 0, 0], [0, 0, 0]])
        np.testing.assert_array_equal(matrix.indices, [2, 0, 2])  # as it was

    @needs("scipy")
    def test_scipy_does_not_share_memory(self):
        from scipy import sparse

        matrix = sparse.csr_matrix(DENSE)
        pattern = Pattern(matrix)
        matrix.data[:] = 1
        matrix.indices[:] = 0
        self.expect(pattern)
        back = pattern.to_scipy()
        back.data[:] = 1
        self.expect(pattern)

    @needs("scipy")
    def test_one_copy(self):
        """Of a canonical matrix nothing is held but the pattern's own arrays, at any
        time, and a block that is checked at a time."""
        from scipy import sparse

        rows, neighbours = 40000, 26
        indptr = np.arange(rows + 1) * neighbours
        indices = np.sort((np.arange(rows)[:, None] + np.arange(1, neighbours + 1)) % rows,
                          axis=1).astype(np.int32).ravel()
        matrix = sparse.csr_matrix((np.full(rows * neighbours, 4096.0), indices, indptr),
                                   shape=(rows, rows))
        self.assertTrue(matrix.has_canonical_format)
        tracemalloc.start()
        pattern = Pattern(matrix)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        own = sum(getattr(pattern, name).nbytes
                  for name in ("row", "dst", "kind", "bytes", "messages"))
        self.assertLess(peak, own + 24 * 2**20)
        self.assertEqual(pattern.total().bytes, 4096 * rows * neighbours)

    @needs("networkx", "scipy")
    def test_networkx(self):
        import networkx

        graph = networkx.DiGraph()
        graph.add_weighted_edges_from([(2, 0, 5), (0, 1, 100), (1, 2, 7)])
        self.expect(Pattern(graph))
        self.expect(Pattern(Pattern(DENSE).to_networkx()))
        named = networkx.relabel_nodes(graph, {0: "a", 1: "b", 2: "c"})
        self.expect(Pattern(named), DENSE[np.ix_([2, 0, 1], [2, 0, 1])])

    @needs("networkx", "scipy")
    def test_networkx_undirected_counts_twice(self):
        import networkx

        graph = networkx.Graph()
        graph.add_edge(0, 1, volume=9)
        self.expect(Pattern.from_networkx(graph, weight="volume"), [[0, 9], [9, 0]])

    def test_every_format(self):
        pattern = Pattern(DENSE + DENSE.T)
        for form in ("native", "metis", "mm", "matrix", "list"):
            with self.subTest(form):
                path = "file." + form
                pattern.write(path, form)
                self.expect(Pattern("%s:%s" % (form, path)), DENSE + DENSE.T)

    def test_kinds(self):
        both = Pattern.combine(Pattern(DENSE), Pattern(2 * DENSE))
        np.testing.assert_array_equal(both.to_numpy("hh"), DENSE)
        np.testing.assert_array_equal(both.to_numpy("gg"), 2 * DENSE)
        self.expect(both, 3 * DENSE)
        np.testing.assert_array_equal(both.to_numpy(values="messages"), 2 * (DENSE > 0))
        self.expect(both.select("gg"), 2 * DENSE)
        self.expect(Pattern(DENSE, kind="gg").select("gg"))
        self.assertEqual(both.total("gg"), nodewise.Total(224, 3, 3))
        self.assertEqual(both.total().bytes, 336)

    def test_messages(self):
        pattern = Pattern(DENSE, messages=(DENSE > 0) * 3)
        np.testing.assert_array_equal(pattern.messages, [3, 3, 3])
        with self.assertRaisesRegex(ValueError, "other entries"):
            Pattern(DENSE, messages=DENSE.T)
        with self.assertRaisesRegex(ValueError, "-1"):
            Pattern(DENSE, messages=-(DENSE > 0).astype(int))

    def test_an_empty_pattern(self):
        pattern = Pattern(np.zeros((2, 2)))
        self.assertEqual((pattern.edges, pattern.total().bytes), (0, 0))
        self.expect(pattern, np.zeros((2, 2)))
        self.assertEqual(len(pattern.dst), 0)

    def test_bad_values_are_named(self):
        for bad in (np.nan, np.inf, -np.inf, 2.0**64):
            matrix = DENSE.astype(float)
            matrix[1, 2] = bad
            with self.assertRaisesRegex(ValueError, "row 1, column 2"):
                Pattern(matrix)
        with self.assertRaisesRegex(ValueError, "square"):
            Pattern(DENSE[:2])
        for bad in (np.zeros((0, 0)), np.array([["a", "b"], ["c", "d"]]), 1, None,
                    DENSE.astype(complex)):
            with self.assertRaises((ValueError, TypeError)):
                Pattern(bad)

    def test_negative_integers(self):
        self.expect(Pattern(-DENSE), DENSE)
        least = np.array([[0, np.iinfo(np.int64).min], [1, 0]])
        np.testing.assert_array_equal(Pattern(least).bytes, np.array([2**63, 1], np.uint64))

    @needs("scipy")
    def test_a_matrix_of_a_solver_is_the_pattern_of_its_file(self):
        from scipy import io, sparse

        values = [1.7, 2.5, 3.5, 0.3, -0.5, -3.2, 1e15, 0.0]
        matrix = sparse.coo_matrix((values, (range(8), range(1, 9))), shape=(9, 9))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "solver.mtx")
            io.mmwrite(path, matrix)
            for name in "row", "dst", "bytes", "messages":
                np.testing.assert_array_equal(getattr(Pattern(matrix), name),
                                              getattr(Pattern(path), name))

    @needs("scipy")
    def test_broken_scipy_matrices_are_refused(self):
        from scipy import sparse

        matrix = sparse.csr_matrix(DENSE)
        matrix.indices[0] = 10**6
        with self.assertRaises(ValueError):
            Pattern(matrix)

    def test_errors_name_file_and_line(self):
        seen = 0
        for name in sorted(os.listdir(INVALID)):
            try:
                Pattern(os.path.join(INVALID, name))
            except nodewise.Error as error:
                seen += error.line is not None and error.file.endswith(name)
        self.assertGreater(seen, 10)
        with self.assertRaises(nodewise.FileError) as caught:
            Pattern("nothing-there.pattern")
        self.assertIsInstance(caught.exception, OSError)

    def test_svg_is_the_commands(self):
        Pattern(DENSE).write("a.pattern")
        command("pattern", "a.pattern", "--svg", "a.svg", "-o", "b.pattern")
        with open("a.svg", encoding="utf-8") as file:
            self.assertEqual(Pattern("a.pattern")._repr_svg_(), file.read())


class Mappings(InFolder):
    def setUp(self):
        super().setUp()
        command("pattern", "--generate", "stencil2d5:dims=4x8,bytes=1000", "-o", "app.pattern")
        self.machine, self.pattern = Topology("magc-a"), Pattern("app.pattern")

    def test_from_elements(self):
        elements = np.arange(32)[::-1]
        mapping = Mapping(self.machine, elements)
        np.testing.assert_array_equal(np.asarray(mapping), elements)
        np.testing.assert_array_equal(mapping.nodes, self.machine.element_nodes[elements])
        self.assertEqual([mapping[i] for i in range(len(mapping))], elements.tolist())

    def test_ranks_by_node(self):
        nodes = self.machine.nodes
        per_node = self.machine.element_count // len(nodes)
        mapping = Mapping(self.machine, [per_node, 0, per_node + 1])
        found = mapping.ranks_by_node
        self.assertEqual({name: ranks.tolist() for name, ranks in found.items()},
                         {nodes[0]: [1], nodes[1]: [0, 2]})

    def test_files(self):
        mapping = nodewise.map(self.machine, self.pattern)
        mapping.write("app.mapping")
        mapping.write("app.pe", format="pe")
        again = Mapping.read("app.mapping", self.machine)
        np.testing.assert_array_equal(again.elements, mapping.elements)
        np.testing.assert_array_equal(np.loadtxt("app.pe", int), mapping.elements)
        self.assertEqual([again.gpus(r) for r in range(32)], [mapping.gpus(r) for r in range(32)])

    def test_gpus(self):
        mapping = Mapping(self.machine, [0, 1, 2], gpus=[1, -1, 0])
        self.assertEqual([mapping.gpus(rank) for rank in range(3)], [[1], [], [0]])
        self.assertEqual(mapping.cores(2), [2])
        with open("open", "w", encoding="utf-8") as file:
            file.write("nodewise mapping 1\nranks 2\n0 * * *\n1 %s 0-1 -\n" %
                       self.machine.nodes[0])
        opened = Mapping.read("open", self.machine)
        self.assertEqual([opened.cores(rank) for rank in range(2)], [[], [0, 1]])
        with self.assertRaises(ValueError):
            Mapping(self.machine, [0], gpus=[99])

    def test_bad_elements_are_refused(self):
        for bad in ([-1], [self.machine.element_count], [0.5], [[0]], "ab"):
            with self.assertRaises((ValueError, OSError)):
                nodewise.evaluate(self.machine, [[0, 1], [1, 0]], bad)
        with self.assertRaises(nodewise.Error):  # fewer ranks than the pattern
            nodewise.evaluate(self.machine, self.pattern, [0, 1])
        with self.assertRaisesRegex(ValueError, "another machine"):
            nodewise.evaluate("hierarchy:64", self.pattern,
                              nodewise.default_mapping(self.machine, self.pattern))

    def test_map_is_the_commands(self):
        for extra, options in (((), {}), (("--objective", "congestion,hop-bytes", "--seed", "3"),
                                          dict(objective="congestion,hop-bytes", seed=3)),
                               (("--algorithm", "magc"), dict(algorithm="magc"))):
            with self.subTest(extra):
                theirs = command_json("map", "-t", "magc-a", "-p", "app.pattern", *extra, "-o",
                                      "their.mapping")
                ours = nodewise.map("magc-a", self.pattern, **options)
                ours.write("our.mapping")
                with open("our.mapping", encoding="utf-8") as one, \
                        open("their.mapping", encoding="utf-8") as other:
                    self.assertEqual(one.read(), other.read())
                self.expect_cost(ours.cost, theirs)
                self.expect_cost(ours.default_cost, theirs["default"])
                for name in ("algorithm", "objective", "seed", "steps", "proven"):
                    self.assertEqual(getattr(ours, name), theirs[name])

    def expect_cost(self, ours, theirs):
        for name in ("hop_bytes", "host_hop_bytes", "gpu_hop_bytes", "max_congestion",
                     "max_congestion_host", "max_congestion_gpu", "latency", "time",
                     "remote_gpus"):
            self.assertEqual(getattr(ours, name), theirs[name], name)
        self.assertEqual({name: tuple(level) for name, level in ours.levels.items()},
                         {level["name"]: (level["host_bytes"], level["gpu_bytes"],
                                          level["host_messages"], level["gpu_messages"])
                          for level in theirs["levels"]})

    def test_hop_bytes_are_exact_beyond_a_double(self):
        pattern = [[0, 2**53 + 1], [0, 0]]
        cost = nodewise.evaluate("hierarchy:2@7", pattern, [0, 1])
        self.assertEqual(cost.hop_bytes, 7 * (2**53 + 1))

    def test_link_congestion_is_what_the_links_carry(self):
        cost = nodewise.evaluate(self.machine, self.pattern)
        self.assertEqual(cost.link_congestion.shape, (len(self.machine.links),))
        self.assertEqual(cost.link_congestion.max(), cost.max_congestion)

    def test_evaluate_is_the_commands(self):
        mapping = nodewise.map(self.machine, self.pattern)
        mapping.write("app.mapping")
        theirs = command_json("evaluate", "-t", "magc-a", "-p", "app.pattern", "app.mapping")
        self.expect_cost(nodewise.evaluate(self.machine, self.pattern), theirs["mappings"][0])
        self.expect_cost(nodewise.evaluate(self.machine, self.pattern, "app.mapping"),
                         theirs["mappings"][1])

    def test_simulate_is_the_commands(self):
        simgrid = os.path.exists(os.path.join(os.environ["NW_BUILD"], "nodewise-simgrid"))
        theirs = command_json("simulate", "-t", "magc-a", "-p", "app.pattern", "--bytes", "1MiB",
                              *([] if simgrid else ["--estimate"]))["mappings"][0]
        ours = nodewise.simulate(self.machine, self.pattern, bytes=2**20, estimate=not simgrid)
        self.assertEqual(ours.simulated, theirs["method"] == "simulation")
        for name in ("time", "estimate", "resolution", "flows", "bytes"):
            self.assertEqual(getattr(ours, name), theirs[name], name)
        self.assertNotIn("NODEWISE_SIMGRID", os.environ)

    def test_launch_of_a_machine_without_a_source(self):
        """`nodewise exec` cannot load a machine that was composed or has only distances."""
        parts = Topology.compose(network="magc-a", nodes=["magc-a"])
        for machine, loads in ((self.machine, True), (parts, False), (Topology(np.eye(4)), False)):
            command = nodewise.launch(Mapping(machine, [0, 1], [0, 1] if machine.gpu_count else None),
                                      "openmpi4", exec="always", gpu_visibility="permuted").command
            self.assertEqual("-t" in command, loads)

    def test_launch_is_the_commands(self):
        mapping = nodewise.map(self.machine, self.pattern)
        mapping.write("app.mapping")
        for launcher in ("openmpi4", "openmpi5", "mpich41", "slurm"):
            with self.subTest(launcher):
                theirs = json.loads(command("launch", "-t", "magc-a", "--for", launcher, "--json",
                                            "-o", "app", "app.mapping", "--", "./app", "x y"))
                ours = nodewise.launch(mapping, launcher, ["./app", "x y"], prefix="app",
                                       nodewise=os.environ["NODEWISE"])
                self.assertEqual(ours.files,
                                 {file["path"]: file["text"] for file in theirs["files"]})
                self.assertEqual(ours.command, theirs["command"])
                self.assertEqual(ours.uses_exec, theirs["exec"])
                ours.write()
                for path, text in ours.files.items():
                    with open(path, encoding="utf-8") as file:
                        self.assertEqual(file.read(), text)

    def test_launch_runs_in_an_environment(self):
        """As with subprocess.run, no environment means that of this process."""
        launch = nodewise.launch(nodewise.map(self.machine, self.pattern), "openmpi4")
        command = [sys.executable, "-c", "import os; print('ONE' in os.environ, 'TWO' in os.environ)"]
        launch = dataclasses.replace(launch, command=command, environment={"ONE": "1"})
        with mock.patch.dict(os.environ, {"TWO": "2"}):
            for given, answer in (({}, "True True"), ({"env": None}, "True True"),
                                  ({"env": {}}, "True False")):
                done = launch.run(stdout=subprocess.PIPE, text=True, check=True, **given)
                self.assertEqual(done.stdout.strip(), answer)

    def test_library_in_any_folder(self):
        """Brackets in the name of a folder are no pattern of names."""
        os.mkdir("[a]")
        with open("[a]/libodd.so.0", "wb"):
            with mock.patch.object(_library, "FOLDERS", ["[a]"]):
                self.assertEqual(_library.find_library("libodd.so"),
                                 os.path.abspath("[a]/libodd.so.0"))

    @unittest.skipUnless(os.path.exists(os.path.join(os.environ["NW_BUILD"], "nodewise-simgrid")),
                         "built without SimGrid")
    def test_simulations_at_the_same_time(self):
        """The first one that ends leaves the variable to the other."""
        first, second = _simgrid.helper(), _simgrid.helper()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        self.assertIn("NODEWISE_SIMGRID", os.environ)
        second.__exit__(None, None, None)
        self.assertNotIn("NODEWISE_SIMGRID", os.environ)

    def test_report_without_the_simulator(self):
        with mock.patch.dict(os.environ, {"NODEWISE_SIMGRID": "/nowhere"}):
            mapping = nodewise.default_mapping(self.machine, self.pattern)
            page = nodewise.report(self.machine, self.pattern, mapping)
            self.assertNotIn("time of one exchange", page.html)
            with self.assertRaises(nodewise.NotFound):
                nodewise.report(self.machine, self.pattern, mapping, simulate=True)

    def test_report(self):
        mapping = nodewise.map(self.machine, self.pattern)
        page = nodewise.report(self.machine, self.pattern, {"better": mapping}, simulate=False)
        page.write("report.html")
        with open("report.html", encoding="utf-8") as file:
            text = file.read()
        self.assertIn("better", text)
        self.assertIn("</html>", text)
        self.assertIn("<svg", page.svg)
        self.assertIn("srcdoc", page._repr_html_())

    def test_more_ranks_than_elements(self):
        mapping = nodewise.map("hierarchy:2:2@1:10", self.pattern, imbalance=0)
        self.assertEqual(np.bincount(mapping.elements).tolist(), [8, 8, 8, 8])
        mapping.write("app.mapping")
        theirs = command_json("evaluate", "-t", "hierarchy:2:2@1:10", "-p", "app.pattern",
                              "app.mapping")["mappings"]
        self.expect_cost(nodewise.evaluate("hierarchy:2:2@1:10", self.pattern), theirs[0])
        self.assertEqual(mapping.default_cost.hop_bytes, theirs[0]["hop_bytes"])
        page = nodewise.report("hierarchy:2:2@1:10", self.pattern, mapping)
        self.assertIn("hop-bytes", page.html)

    def test_more_ranks_than_gpus(self):
        pattern = Pattern(np.roll(np.eye(16, dtype=int), 1, axis=1), kind="gg")
        machine = "hwloc:package:1 core:16"
        with self.assertRaises(nodewise.Error):  # it has no GPU at all
            nodewise.default_mapping(machine, pattern)
        pattern = Pattern(np.roll(np.eye(96, dtype=int), 1, axis=1), kind="gg")
        self.assertEqual(len(nodewise.default_mapping("magc-a", pattern)), 96)

    def test_options(self):
        nodes = self.machine.nodes
        on_two = nodewise.map(self.machine, self.pattern, hosts=[nodes[2], nodes[1]], capacity=2)
        self.assertLessEqual(set(on_two.ranks_by_node), {nodes[1], nodes[2]})
        limited = nodewise.map(self.machine, self.pattern.select("hh"),
                               hosts={name: 8 for name in nodes})
        self.assertTrue(all(len(ranks) <= 8 for ranks in limited.ranks_by_node.values()))
        with open("fix", "w", encoding="utf-8") as file:
            file.write("nodewise mapping 1\nranks 32\n")
            file.write("".join("%d %s\n" % (r, nodes[3] + " 0 -" if r == 5 else "* * *")
                               for r in range(32)))
        fixed = nodewise.map(self.machine, self.pattern, fix="fix")
        self.assertEqual((fixed.nodes[5], fixed.cores(5)), (3, [0]))
        started = nodewise.map(self.machine, self.pattern, algorithm="refine",
                               start=fixed.elements)
        self.assertLessEqual(started.cost.hop_bytes, started.default_cost.hop_bytes)
        weighed = nodewise.map(self.machine, self.pattern, capacity=4, imbalance=9,
                               weights=np.arange(1, 33))
        self.assertEqual(len(weighed), 32)
        with self.assertRaisesRegex(ValueError, "shape"):
            nodewise.map(self.machine, self.pattern, imbalance=1, weights=[1, 2])
        for wrong in (-1, 0.5, 2.0**64, float("nan")):
            with self.assertRaisesRegex(ValueError, "weights: .* whole number"):
                nodewise.map(self.machine, self.pattern, imbalance=1, weights=[1] * 31 + [wrong])
        with self.assertRaisesRegex(ValueError, "at most 3 phases, not 4"):
            nodewise.map(self.machine, self.pattern, phases=["magc"] * 4)
        for wrong in (dict(objective="speed"), dict(objective="time,latency,time"),
                      dict(hosts=["nowhere"]), dict(algorithm="nothing"), dict(effort="much")):
            with self.assertRaises(ValueError):
                nodewise.map(self.machine, self.pattern, **wrong)

    def test_single_words(self):
        """A string where a sequence of strings is expected is one word."""
        mapping = nodewise.Mapping(self.machine, range(4))
        self.assertEqual(nodewise.launch(mapping, "openmpi4", "./app").command,
                         nodewise.launch(mapping, "openmpi4", ["./app"]).command)
        self.assertEqual(nodewise.map(self.machine, self.pattern, hosts=self.machine.nodes[0],
                                      capacity=32).ranks_by_node.keys(),
                         {self.machine.nodes[0]})
        with self.assertRaisesRegex(ValueError, "'n.1-2.:4'"):
            nodewise.map(self.machine, self.pattern, hosts="n[1-2]:4")

    def test_swapped_arguments(self):
        for machine in (None, 3, self.pattern):
            with self.assertRaisesRegex(TypeError, "source"):
                nodewise.map(machine, self.machine)
        with self.assertRaisesRegex(TypeError, "Mapping.read"):
            nodewise.Mapping("app.mapping", self.machine)


if __name__ == "__main__":
    unittest.main()
