#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reordered communicators against a straightforward oracle, one TAP line each.

    reorder.py NAME FLAVOUR [MPI]

Programs of the standard ABI (mpiabi) run under the launcher and the library of MPI.
The machine is a described one: NODEWISE_TOPOLOGY says what it is and
NODEWISE_MAPPING where the ranks sit, unevenly, so that most orders can gain.
The environment has NODEWISE, NW_BUILD, NW_SOURCE and NW_MPIEXEC.
"""
import os, random, re, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../support")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../support/netns")
import launchers
import tap
from tap import ok

NAME, FLAVOUR = sys.argv[1:3]
MPI = sys.argv[3] if len(sys.argv) > 3 else FLAVOUR
BUILD, MPIEXEC = os.environ["NW_BUILD"], os.environ["NW_MPIEXEC"]
LIBRARY = "%s/libnodewise-%s.so" % (BUILD, FLAVOUR)
OPENMPI = MPI == "openmpi"
LONG = bool(os.environ.get("NW_LONG"))


def program(name):
    folder = "reorder" if MPI == FLAVOUR else "abi"
    return "%s/tests/mpi/%s/%s-%s" % (BUILD, folder, name, FLAVOUR)


def run(ranks, command, **variables):
    preloaded = [os.environ.get("NW_PRELOAD"), LIBRARY]
    variables = dict(LD_PRELOAD=" ".join(filter(None, preloaded)), **variables)
    line = [MPIEXEC]
    if OPENMPI:
        line += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        if os.getuid() == 0:
            line.append("--allow-run-as-root")
    for key, value in variables.items():
        line += (["-x", "%s=%s" % (key, value)] if OPENMPI
                 else ["-genv", key, value])
    if "threads" in command:
        line += launchers.options_for_threads(MPI)
    return subprocess.run(line + ["-n", str(ranks)] + command, text=True,
                          capture_output=True, timeout=2400 if LONG else 240,
                          stdin=subprocess.DEVNULL)


def machine(ranks, seed):
    """Puts the ranks on random cores of some nodes of a tree (odd seeds) or of a network
    with several routes (even ones)."""
    draw = random.Random(seed)
    tree = seed % 2
    seats = [(node, core) for node in range(1, 5 if tree else 1 + max(2, ranks // 3))
             for core in range(4)]
    with open("seats.mapping", "w") as file:
        file.write("nodewise mapping 1\nranks %d\n" % ranks)
        for rank, (node, core) in enumerate(draw.sample(seats, ranks)):
            file.write(("%d N%d %d -\n" if tree else "%d n%02d %d -\n")
                       % (rank, node, core))
    return dict(NODEWISE_TOPOLOGY="rashti-32" if tree else "rashti-192",
                NODEWISE_MAPPING="seats.mapping")


def counts(result):
    found = re.search(r"cases (\d+) moved (\d+) of (\d+) failed (\d+)",
                      result.stdout)
    return [int(word) for word in found.groups()] if found else [0, 0, 0, -1]


def oracle():
    # MPICH's ranks never yield, which is slow on two cores
    cases = 400 if LONG else 30 if OPENMPI else 8
    for ranks in (2, 3, 4, 6, 8) + ((12, 16) if LONG else ()):
        moved = big = 0
        for seed in range(1, 3):
            result = run(ranks, [program("oracle"), str(ranks * 10 + seed),
                                 str(cases)], NODEWISE_REORDER="force",
                         NODEWISE_REORDER_GAIN="0", NODEWISE_CHECK="1",
                         **machine(ranks, seed))
            found = counts(result)
            ok(result.returncode == 0 and found[3] == 0
               and "WRONG" not in result.stderr,
               "%d ranks, seed %d: %d cases" % (ranks, seed, found[0]),
               result.stdout, result.stderr)
            moved, big = moved + found[1], big + found[2]
        if ranks >= 4:
            ok(2 * moved >= big > 0, "%d ranks: %d of %d communicators moved"
               % (ranks, moved, big))


def shuffled():
    """Any permutation must give right communicators, not only good ones."""
    for ranks in (4, 7):
        result = run(ranks, [program("oracle"), str(ranks), "25" if OPENMPI else "8"],
                     NODEWISE_REORDER="force", NODEWISE_REORDER_GAIN="any",
                     NODEWISE_ALGORITHM="random", **machine(ranks, 1))
        found = counts(result)
        ok(result.returncode == 0 and found[3] == 0 and 2 * found[1] >= found[2],
           "%d ranks in random orders: %d of %d moved"
           % (ranks, found[1], found[2]), result.stdout, result.stderr)


def gathered():
    """The method for very large jobs, which works node by node, has the same orders, and
    they are right."""
    lines = []
    for way in ("rank", "node"):
        result = run(7, [program("oracle"), "5", "12" if OPENMPI else "6"],
                     NODEWISE_REORDER="force", NODEWISE_REORDER_GAIN="0",
                     NODEWISE_GATHER=way, NODEWISE_CHECK="1", **machine(7, 1))
        found = counts(result)
        ok(result.returncode == 0 and found[3] == 0 and found[1] > 0
           and "MPI_Dist_graph_create_adjacent of" in result.stderr
           and "WRONG" not in result.stderr,
           "gathered from each %s: %d of %d moved" % (way, found[1], found[2]), result)
        lines.append(sorted(re.findall(r"nodewise: (.*) hop-bytes -> (.*),", result.stderr)))
    ok(lines[0] == lines[1], "and the costs are the same", *lines)
    moving = dict(NODEWISE_REORDER="force", NODEWISE_REORDER_GAIN="any",
                  NODEWISE_ALGORITHM="random", NODEWISE_GATHER="node", **machine(3, 1))
    for what in ("leaks", "errors"):
        plain = run(3, [program("calls"), what])
        ours = run(3, [program("calls"), what], **moving)
        ok(plain.returncode == ours.returncode == 0 and said(plain) == said(ours)
           and (what == "errors" or ", reordered" in ours.stderr),
           "calls %s, node by node" % what, plain, ours)
    wrong = run(3, [program("oracle"), "5", "2"], NODEWISE_REORDER="on",
                NODEWISE_GATHER="nowhere")
    ok(wrong.returncode == 0 and wrong.stderr.count("NODEWISE_GATHER is") == 1,
       "another way is named", wrong)


def modes():
    plain = run(4, [program("oracle"), "5", "8"])
    ok(plain.returncode == 0 and "nodewise" not in plain.stderr
       and counts(plain)[1] == 0, "silent where nothing is asked", plain)
    report = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="report",
                 **machine(4, 1))
    ok(report.returncode == 0 and counts(report)[1] == 0
       and "would be reordered" in report.stderr, "report changes nothing",
       report)
    on = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="on",
             **machine(4, 1))
    force = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="force",
                **machine(4, 1))
    ok(on.returncode == force.returncode == 0
       and 0 < on.stderr.count(", reordered") < force.stderr.count(", reordered"),
       "on follows the program, force does not ask", on, force)
    wrong = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="maybe")
    ok(wrong.returncode == 0 and counts(wrong)[3] == 0
       and wrong.stderr.count("NODEWISE_REORDER is") == 1,
       "a wrong mode is named and nothing is done", wrong)
    wrong = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="force",
                NODEWISE_TOPOLOGY="/nowhere.yaml")
    ok(wrong.returncode == 0 and counts(wrong)[3] == 0
       and wrong.stderr.count("counts as flat") == 1,
       "a topology that cannot be read costs one warning", wrong)
    wrong = run(4, [program("oracle"), "5", "8"], NODEWISE_REORDER="force",
                NODEWISE_TOPOLOGY="magc-a")
    ok(wrong.returncode == 0 and counts(wrong)[3] == 0
       and "has no host" in wrong.stderr,
       "a topology without this host costs one warning", wrong)
    ours = run(4, [program("calls"), "hints"], NODEWISE_REORDER="report", **machine(4, 1))
    costs = re.findall(r"ranks: (\S+) hop-bytes", ours.stderr)
    ok(ours.returncode == 0 and len(costs) == 3 and costs[0] != costs[1] == costs[2],
       "a duplicate has the weights of its own info, not its original's", ours)
    parts = [run(4, [program("calls"), "hints"], NODEWISE_REORDER="report",
                 NODEWISE_CART_WEIGHTS=weights, **machine(4, 1)) for weights in ("0,1", "1,0")]
    found = [re.findall(r"ranks: (\S+) hop-bytes", part.stderr) for part in parts]
    ok([len(seen) for seen in found] == [3, 3]
       and float(found[0][2]) + float(found[1][2]) == float(costs[2]),
       "a dimension of weight 0 costs nothing", parts)
    none = run(4, [program("calls"), "hints"], NODEWISE_REORDER="force",
               NODEWISE_CART_WEIGHTS="0,0", **machine(4, 1))
    ok(none.returncode == 0 and none.stderr.count("hop-bytes") == 1
       and "NODEWISE_CART" not in none.stderr, "nor does a grid of such", none)


def typed():
    """nodewise reorder: the launch as it is typed, in place of variables by hand."""
    line = [MPIEXEC]
    if OPENMPI:
        line += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        if os.getuid() == 0:
            line.append("--allow-run-as-root")
    if os.environ.get("NW_PRELOAD"):
        line += (["-x", "LD_PRELOAD=" + os.environ["NW_PRELOAD"]] if OPENMPI
                 else ["-genv", "LD_PRELOAD", os.environ["NW_PRELOAD"]])
    place = machine(4, 1)
    for options, word in (["--report"], ", would be reordered"), (["--force"], ", reordered"):
        ours = subprocess.run(
            [os.environ["NODEWISE"], "reorder", *options, "-t", place["NODEWISE_TOPOLOGY"], "--"]
            + line + ["-n", "4", program("oracle"), "5", "8"], text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=240,
            env=dict(os.environ, NODEWISE_MAPPING=place["NODEWISE_MAPPING"]))
        ok(ours.returncode == 0 and word in ours.stderr, " ".join(["typed"] + options), ours)
    for ranks, what, words in ((3, "none", "rank 0 called no topology function"),
                               (3, "kept", "rank 0 passed reorder = 0 to MPI_Cart_create"),
                               (1, "none", "a single rank")):
        command = line + ["-n", str(ranks), program("calls"), what]
        plain, ours = (subprocess.run(before + command, text=True, capture_output=True,
                                      stdin=subprocess.DEVNULL, timeout=240)
                       for before in ([], [os.environ["NODEWISE"], "reorder", "--"]))
        told = [said for said in ours.stderr.split("\n")
                if said.startswith("nodewise:") and "hop-bytes" not in said]
        ok(ours.returncode == plain.returncode == 0 and ours.stdout == plain.stdout
           and len(told) == 1 and words in told[0] and "nodewise r" in told[0],
           "%d ranks, %s: one line says why and what to do" % (ranks, what), plain, ours)
    silent = run(3, [program("calls"), "none"], NODEWISE_REORDER="on")
    ok(silent.returncode == 0 and "no topology function" not in silent.stderr,
       "preloaded by hand: no such line", silent)
    for command in "reorder", "gpu-messages":
        ours = subprocess.run([os.environ["NODEWISE"], command, "--"] + line
                              + ["-n", "1", "sh", "-c", "exit 7"], timeout=240,
                              stdin=subprocess.DEVNULL, capture_output=True)
        ok(ours.returncode == 7, command + ": the program's exit status", ours)


def said(result):
    """The lines of several processes come in any order."""
    return sorted(result.stdout.split("\n"))


def calls():
    """The same answers with and without the library, bad arguments included."""
    for what, ranks in ((["errors"], 4), (["life"], 4), (["late"], 4),
                        (["threads"], 3), (["leaks"], 3)):
        moving = dict(NODEWISE_REORDER="force", NODEWISE_REORDER_GAIN="any",
                      NODEWISE_ALGORITHM="random", **machine(ranks, 1))
        plain = run(ranks, [program("calls")] + what)
        ours = run(ranks, [program("calls")] + what, **moving)
        ok(plain.returncode == ours.returncode == 0
           and said(plain) == said(ours) and plain.stdout
           and (what[0] == "errors" or "SKIP" in ours.stdout
                or ", reordered" in ours.stderr),
           "calls %s: %s" % (what[0], plain.stdout.strip().split("\n")[-1]),
           plain, ours)
        if what[0] == "errors":
            ours = run(ranks, [program("calls")] + what, NODEWISE_CHECK="1", **moving)
            ok(ours.returncode == 0 and said(plain) == said(ours)
               and "MPI_Graph_create: " not in ours.stderr,
               "no graph that is none is looked at", ours)
        if what[0] != "late":
            continue
        ok(ours.stderr.count("unknown info key nodewise_cart_weigths")
           == 1, "a misspelt key is named once", ours.stderr)
        for name, more in (("hwloc finds nothing", {"HWLOC_COMPONENTS": "stop"}),
                           ("ranks share cores", {"HWLOC_SYNTHETIC": "core:2 pu:1"})):
            ours = run(ranks, [program("calls")] + what, NODEWISE_REORDER="force",
                       NODEWISE_REORDER_GAIN="0", HWLOC_THISSYSTEM="0",
                       NODEWISE_CHECK="1", **more)
            ok(ours.returncode == 0 and said(plain) == said(ours)
               and ours.stderr.count("both ends of every edge agree") == 2
               and "MPI_Graph_create: WRONG" in ours.stderr,  # it is, on rank 0
               "calls late where " + name, plain, ours)


def lonely():
    """Both MPI libraries accept MPI_PROC_NULL as a neighbour, with reordering and without.
    If one rank passes bad arguments, the call is an error on all ranks; with the MPI library
    alone, the other ranks would wait."""
    for way in "rank", "node":
        ours = run(4, [program("calls"), "lonely"], NODEWISE_REORDER="on",
                   NODEWISE_GATHER=way, **machine(4, 1))
        ok(ours.returncode == 0 and sorted(ours.stdout.split()) ==
           sorted("grid: 4 graph: 4 source: 4 weight: 4".split())
           and "some ranks' arguments are bad" in ours.stderr,
           "what is bad on one rank is heard on all, gathered from each " + way, ours)
        plain = run(4, [program("calls"), "borders"])
        ours = run(4, [program("calls"), "borders"], NODEWISE_REORDER="on",
                   NODEWISE_REORDER_GAIN="any", NODEWISE_ALGORITHM="random",
                   NODEWISE_GATHER=way, NODEWISE_CHECK="1", **machine(4, 1))
        ok(plain.returncode == ours.returncode == 0 and said(plain) == said(ours)
           and "know their neighbours: 4" in ours.stdout
           and "adjacent of 6 edges" in ours.stderr and ", reordered" in ours.stderr
           and "WRONG" not in ours.stderr,
           "a line has nobody beyond its ends, gathered from each " + way, plain, ours)
        if not OPENMPI:
            continue
        ours = run(4, [program("calls"), "nobody"], NODEWISE_REORDER="on",
                   NODEWISE_REORDER_GAIN="any", NODEWISE_ALGORITHM="random",
                   NODEWISE_GATHER=way, **machine(4, 1))
        ok("MPI_Dist_graph_create of 8 edges" in ours.stderr
           and ", left as it is" in ours.stderr,  # before the MPI library may fail
           "edges to nobody leave the order, gathered from each " + way, ours)


def asked():
    """A program that never asks for its rank in a reordered communicator is named."""
    for what, warnings in ("unasked", 1), ("unfreed", 1), ("aborted", 1), ("asked", 0):
        ours = run(4, [program("calls"), what], NODEWISE_REORDER="on",
                   NODEWISE_REORDER_GAIN="any", NODEWISE_ALGORITHM="random",
                   NODEWISE_CHECK="1", **machine(4, 1))
        ok((ours.returncode == 0) != (what == "aborted") and ", reordered" in ours.stderr
           and ours.stderr.count("never asked for its rank") == warnings, what, ours)


def node_xml():
    """Two packages of two cores, two GPUs below a PCIe switch in each."""
    def sets(mask):
        return ('cpuset="0x%x" complete_cpuset="0x%x" nodeset="0x1" complete_nodeset="0x1"'
                % (mask, mask))
    number = iter(range(1, 99))
    begin = '<object type="%s" gp_index="%d" '
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">',
           begin % ("Machine", next(number)) + sets(15)
           + ' os_index="0" allowed_cpuset="0xf" allowed_nodeset="0x1">',
           begin % ("NUMANode", next(number)) + sets(15) + ' os_index="0" local_memory="1"/>']
    for package in range(2):
        out.append(begin % ("Package", next(number)) + sets(3 << 2 * package)
                   + ' os_index="%d">' % package)
        for core in (2 * package, 2 * package + 1):
            for kind, close in (("Core", ">"), ("PU", "/></object>")):
                out.append(begin % (kind, next(number)) + sets(1 << core)
                           + ' os_index="%d"' % core + close)
        bus = 0x10 * (package + 1)
        out.append(begin % ("Bridge", next(number)) + 'bridge_type="0-1" depth="0" '
                   'bridge_pci="0000:[%02x-%02x]">' % (bus, bus + 3))
        out.append(begin % ("Bridge", next(number)) + 'bridge_type="1-1" depth="1" '
                   'bridge_pci="0000:[%02x-%02x]" pci_busid="0000:%02x:00.0" pci_type="0604 '
                   '[8086:2030] [0000:0000] 04" pci_link_speed="15.75">' % (bus + 1, bus + 3, bus))
        for gpu in (1, 2):
            out.append(begin % ("PCIDev", next(number)) + 'pci_busid="0000:%02x:0%d.0" '
                       'pci_type="0302 [10de:20b0] [10de:144e] a1" pci_link_speed="15.75"/>'
                       % (bus + 1, gpu))
        out.append("</object></object></object>")
    return "\n".join(out + ["</object>", "</topology>"]) + "\n"


def gpus():
    """Ranks 0 and 2, and 1 and 3, talk: each pair belongs on one PCIe switch."""
    with open("node.xml", "w") as file:
        file.write(node_xml())
    with open("gpus.pattern", "w") as file:
        file.write("nodewise pattern 1\nranks 4 edges 4\n" + "".join(
            "%d %d gg 1000 1\n" % (r, (r + 2) % 4) for r in range(4)))
    node = dict(HWLOC_XMLFILE=os.getcwd() + "/node.xml", HWLOC_THISSYSTEM="0",
                LD_LIBRARY_PATH=BUILD + "/tests/support/fake_cuda")

    def devices(what, **more):
        result = run(4, [program("calls"), what], **node, **more)
        found = re.search(r"devices +(.*)\nstarted 0", result.stdout)
        return result, found.group(1).split() if found else []

    def is_paired(seen):
        return (sorted(seen) == ["0", "1", "2", "3"]
                and int(seen[0]) // 2 == int(seen[2]) // 2)

    result, seen = devices("gpus", NODEWISE_GPU="assign")
    ok(is_paired(seen), "the first topology call: devices %s" % seen, result)
    for weights, partner in (("1,50", 1), ("50,1", 2)):
        result, seen = devices("grid", NODEWISE_GPU="assign", NODEWISE_CART_WEIGHTS=weights)
        ok(sorted(seen) == ["0", "1", "2", "3"]
           and int(seen[0]) // 2 == int(seen[partner]) // 2,
           "a grid of weights %s: devices %s" % (weights, seen), result)
    result, seen = devices("profiled", NODEWISE_GPU="assign", NODEWISE_PROFILE="gpus.pattern")
    ok(is_paired(seen), "MPI_Init, from a profile: devices %s" % seen, result)
    result, seen = devices("initialised", NODEWISE_GPU="assign")
    ok(seen == ["-"] * 4 and result.stderr.count("CUDA runs already") == 1,
       "CUDA runs already: said and left", result)
    result, seen = devices("gpus", NODEWISE_REORDER="on")
    ok(seen == ["-"] * 4 and "NODEWISE_GPU" not in result.stderr, "off by default", result)


def memory():
    """Memory runs out on one rank: no rank waits forever, and all get a communicator."""
    forced = dict(NODEWISE_REORDER="force", NODEWISE_REORDER_GAIN="any", NODEWISE_CHECK="1")
    for algorithm, victim, most, gather in (
            ("auto", 3, 1000, "rank"), ("random", 3, 1000, "rank"), ("random", 0, 12, "node")):
        result = run(4, [program("memory"), str(victim), str(most)], NODEWISE_GATHER=gather,
                     NODEWISE_ALGORITHM=algorithm, **forced, **machine(4, 1))
        found = re.findall(r"(\w+): (\d+)\n", result.stdout)
        ok(result.returncode == 0 and len(found) == 4 and all(int(row[1]) for row in found)
           and (most < 1000 or ", reordered" in result.stderr)
           and "WRONG" not in result.stderr,
           "%s, rank %d: %s" % (algorithm, victim, found), result.stdout, result.stderr)
    # in MPI_Init: without memory for the locations or the profile, on all ranks or on none
    with open("four.pattern", "w") as file:
        file.write("nodewise pattern 1\nranks 4 edges 2\n0 1 hh 1000 1\n2 3 hh 1000 1\n")
    for described, victims in ((machine(4, 1), (0, 1) if LONG else (1,)),
                               ({}, (0, 1) if LONG else (0,))):
        for victim in victims:
            good = left = failing = 0
            for failing in range(8):
                result = run(4, [program("memory"), str(victim), "init", str(failing)],
                             NODEWISE_PROFILE="four.pattern", **forced, **described)
                good += result.returncode == 0 and "failed: " in result.stdout
                left += "nothing is reordered" in result.stderr
                if "failed: 0" in result.stdout:
                    break
            ok(good == failing + 1 and left, "MPI_Init, rank %d, %s: %d of %d" %
               (victim, "described" if described else "live", left, good), result)


def fortran():
    for name in ("grid77", "grid08"):
        result = run(4, [program(name)], NODEWISE_REORDER="on",
                     NODEWISE_REORDER_GAIN="any", NODEWISE_ALGORITHM="random",
                     **machine(4, 1))
        found = re.search(r"moved +(\d+) +wrong +(\d+)", result.stdout)
        ok(result.returncode == 0 and found and int(found.group(1)) > 0
           and int(found.group(2)) == 0
           and result.stderr.count(", reordered") == 2,
           "%s: %s" % (name, found and found.group()), result.stdout,
           result.stderr)


with tempfile.TemporaryDirectory(prefix="nodewise-reorder-") as folder:
    if MPI != FLAVOUR:
        if not launchers.link_standard_abi(MPI, folder):
            print("1..0 # SKIP %s has no libmpi_abi here" % MPI)
            sys.exit(0)
        os.environ["LD_LIBRARY_PATH"] = folder
    os.chdir(folder)
    globals()[NAME]()
    os.chdir("/")
tap.plan()
