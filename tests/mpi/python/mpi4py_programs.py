# SPDX-License-Identifier: BSD-3-Clause
"""The package inside MPI programs: regions with a profile, reordered grids."""
import json
import os
import subprocess
import sys
import unittest

import numpy as np

import nodewise
from support import BUILD, InFolder, command

FLAVOUR, MPIEXEC = os.environ["NW_FLAVOUR"], os.environ["NW_MPIEXEC"]
LIBRARY = os.path.join(BUILD, "libnodewise-%s.so" % FLAVOUR)
# a folder with an mpi4py for this MPI, if the system's is for the other one
OWN = os.environ.get("NW_MPI4PY_" + FLAVOUR.upper(), os.path.join(BUILD, "mpi4py-" + FLAVOUR))
PACKAGES = os.pathsep.join([os.path.join(BUILD, "python"), OWN])
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")


def launch(ranks, words, **variables):
    line = [MPIEXEC]
    if FLAVOUR == "openmpi":
        line += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        line += ["--allow-run-as-root"] * (os.getuid() == 0)
    variables["PYTHONPATH"] = PACKAGES
    for name, value in variables.items():
        line += ["-x", "%s=%s" % (name, value)] if FLAVOUR == "openmpi" else ["-genv", name, value]
    return subprocess.run(line + ["-n", str(ranks), sys.executable] + words, text=True,
                          capture_output=True, check=False, timeout=200,
                          stdin=subprocess.DEVNULL)


def vendor():
    """The MPI that this Python's mpi4py is built with."""
    done = launch(1, ["-c", "from mpi4py import MPI; print(MPI._sizeof(MPI.Comm))"])
    return {"4": "mpich", "8": "openmpi"}.get(done.stdout.strip())


class Programs(InFolder):
    def setUp(self):
        super().setUp()
        if vendor() != FLAVOUR:
            self.skipTest("mpi4py for %s is not installed" % FLAVOUR)

    def answers(self, what, ranks, **variables):
        variables.setdefault("LD_PRELOAD", LIBRARY)
        preload = os.environ.get("NW_PRELOAD")
        if preload:
            variables["LD_PRELOAD"] = "%s %s" % (preload, variables["LD_PRELOAD"])
        done = launch(ranks, [PROGRAM, what], **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = dict(json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual(sorted(found), list(range(ranks)))
        return found, done.stderr

    def test_regions(self):
        found, _ = self.answers("regions", 4, NODEWISE_RECORD="all.pattern",
                                NODEWISE_COLLECTIVES="off")
        for problems in found.values():
            self.assertRegex(" ".join(problems), "open already")
        ring = np.roll(np.eye(4, dtype=int), 1, axis=1)
        first, second, third, fourth, whole = (
            nodewise.Pattern(name + ".pattern") for name in
            ("first", "second", "third", "fourth", "all"))
        np.testing.assert_array_equal(first.to_numpy(), 200 * ring)
        np.testing.assert_array_equal(first.to_numpy(values="messages"), 2 * ring)
        self.assertEqual((second.src.tolist(), second.dst.tolist(), second.bytes.tolist()),
                         ([0], [1], [5]))
        self.assertEqual(third.edges, 0)
        np.testing.assert_array_equal(fourth.to_numpy(), 4 * ring)
        expected = 223 * ring
        expected[0, 1] += 5
        np.testing.assert_array_equal(whole.to_numpy(), expected)
        for name in ("inner.pattern", "failed.pattern"):
            self.assertFalse(os.path.exists(name))

    def test_regions_without_a_profile(self):
        found, _ = self.answers("plain", 2)
        self.assertRegex(found[0][0], "not recorded.*nodewise profile")
        self.assertEqual(found[1], [])
        self.assertFalse(os.path.exists("first.pattern"))

    def test_grids(self):
        """The order is that of MPI_Cart_create under NODEWISE_REORDER=on, on a machine
        on which the ranks sit unevenly."""
        seats = [(node, core) for core in range(4) for node in (1, 2)]
        with open("seats.mapping", "w", encoding="utf-8") as file:
            file.write("nodewise mapping 1\nranks 8\n")
            file.writelines("%d N%d %d -\n" % (rank, node, core)
                            for rank, (node, core) in enumerate(seats))
        machine = dict(NODEWISE_TOPOLOGY="rashti-32", NODEWISE_MAPPING="seats.mapping")
        found, err = self.answers("grids", 8, **machine)
        self.assertNotIn("nodewise:", err)
        ours = found[0]["ours"]
        self.assertEqual(sorted(ours), list(range(8)))
        self.assertNotEqual(ours, list(range(8)))
        self.assertEqual(found[0]["plain"], list(range(8)))  # the MPI library's own
        for vertex in range(0, 8, 2):  # the heavy edges stay inside a node
            self.assertEqual(seats[ours[vertex]][0], seats[ours[vertex + 1]][0])
        self.assertEqual(sum(one["small"] is None for one in found.values()), 2)
        self.assertEqual(found[0]["problems"], ["ValueError", "ValueError", "Exception"])
        asked, _ = self.answers("grids", 8, NODEWISE_REORDER="on", NODEWISE_CART_WEIGHTS="1,50",
                                **machine)
        self.assertEqual(asked[0]["plain"], ours)

    def test_grids_need_the_library(self):
        done = launch(1, [PROGRAM, "grids"])
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "NotFound.*LD_PRELOAD.*libnodewise-" + FLAVOUR)

    def test_the_command_records_regions(self):
        words = [MPIEXEC] + (["--oversubscribe"] + ["--allow-run-as-root"] * (os.getuid() == 0)
                             if FLAVOUR == "openmpi" else [])
        os.environ["PYTHONPATH"] = PACKAGES
        self.addCleanup(os.environ.pop, "PYTHONPATH")
        command("profile", "-o", "all.pattern", "--", *words, "-n", "2", sys.executable, PROGRAM,
                "regions")
        self.assertEqual(nodewise.Pattern("second.pattern").total().bytes, 5)


if __name__ == "__main__":
    unittest.main()
