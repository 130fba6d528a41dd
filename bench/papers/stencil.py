# SPDX-License-Identifier: BSD-3-Clause
"""The node-aware stencil paper: partition and placement examples, scaling."""
import os
import shutil
import subprocess

import timeline
from twin import ROOT, Table

TITLE = "Node-aware stencil: partition, placement, scaling"
PAPER = ("Paper: node-aware stencil communication on heterogeneous supercomputers (figures 3 to 5 and "
         "11 to 13), on Summit's nodes of six GPUs as described (`summit`). What is timed is "
         "**simulated** or predicted by the model of `nodewise halo plan`; no GPU was at hand.")
COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def figure_3(nodewise):
    """Figure 3, computed: halo volumes of four divisions of a square
    36 x 36 cells, radius 1: a piece of a x b cells has a halo of 2 (a + b)
    cells, corners left out as in the paper; V_d sums them."""
    rows = []
    for across, along in (2, 2), (4, 1), (3, 3), (9, 1):
        volume = 2 * (36 // across + 36 // along)
        rows.append(["%dx%d" % (across, along), volume, volume * across * along])
    return Table(["division", "V_s", "V_d"], rows, "bars", "cells")


def figure_4(nodewise):
    """Figure 4, computed: 4 x 24 x 2 cells over 12 nodes of 4 GPUs"""
    rows = []
    for kind in "paper", "least":
        words = ["--partition", "paper"] if kind == "paper" else []
        plan = nodewise.answer("halo", "plan", "-n", "4x24x2", "--nodes", 12, "--slots", 4, *words)
        rows.append([kind, "x".join(map(str, plan["node_grid"])),
                     "x".join(map(str, plan["slot_grid"])), plan["bytes"],
                     plan["bytes_between_nodes"]])
    return Table(["partition", "nodes", "GPUs of a node", "bytes", "between nodes"], rows, None)


def figure_11(nodewise):
    """Figure 11, predicted: placement of 1440 x 1452 x 700 cells on one Summit node
    Radius 3 (assumed, the paper calls it typical), four single-precision
    quantities, periodic; best proven over all 720 placements."""
    rows = []
    for kind in "optimal", "trivial", "worst":
        words = [] if kind == "optimal" else ["--placement", kind]
        plan = nodewise.answer("halo", "plan", "-t", "summit:1", "-n", "1440x1452x700", "-r", 3,
                               "--quantities", 4, "--element", 4, *words)
        rows.append([kind, 1e3 * plan["slot_cost"], 1e3 * plan["seconds"],
                     "yes" if plan["exact"] else "no"])
    return Table(["placement", "cost ms", "exchange ms", "proven"], rows, "bars", "ms",
                 show=["exchange ms"])


def figure_9(nodewise):
    """Figure 9, measured: what one overlapped exchange of the heat example did when
    Two ranks in host memory, 27 points, 96^3 cells; the last step but one, from
    the exchange's own trace (NODEWISE_HALO_TRACE)."""
    trace = os.path.join(nodewise.folder, "trace")
    program = nodewise.built("examples/heat/heat-openmpi")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    subprocess.run(["mpirun.openmpi", *root, "--oversubscribe", "-n", "2", program, "-n", "96", "-27",
                    "-s", "12"], check=True, capture_output=True, cwd=nodewise.folder, timeout=120,
                   env=dict(os.environ, NODEWISE_HALO_TRACE=trace, XDG_CACHE_HOME=nodewise.folder))
    lines = [line.split() for rank in "01" for line in open("%s.%s" % (trace, rank))
             if line[0] != "#"]
    wanted = sorted({int(words[0]) for words in lines})[-2]
    lines = [words for words in lines if int(words[0]) == wanted]
    since = min(int(words[8]) for words in lines)  # of both ranks: one clock
    rows = [[*words[1:6], words[6], (int(words[8]) - since) / 1e3, (int(words[9]) - since) / 1e3]
            for words in lines]
    kept = [row[:6] + ["%.1f" % row[6], "%.1f" % row[7]] for row in rows]
    return Table(["rank", "act", "end", "peer", "method", "phase", "from us", "to us"], kept, None,
                 svg=timeline.draw(rows))


figure_9.needs = lambda build: None if shutil.which("mpirun.openmpi") else "needs Open MPI"


def scaling(nodewise, which):
    """The table that bench/halo/scaling leaves, of weak or strong scaling."""
    base = os.path.join(nodewise.build, "results-scaling")
    stamp = os.path.getmtime(os.path.join(nodewise.build, "nodewise"))
    if not os.path.exists(base + ".txt") or os.path.getmtime(base + ".txt") < stamp:
        nodewise.script(os.path.join(ROOT, "bench/halo/scaling"), nodewise.build, 256, base)
    columns, rows, wanted = None, [], False
    for line in open(base + ".txt"):
        words = line.split()
        if line.startswith("# "):
            wanted = line.startswith("# " + which)
        elif wanted and words and words[0] == "configuration":
            columns = [words[0]] + ["%s ms" % w for w in words[1:]]
        elif wanted and words:
            rows.append([words[0]] + [1e3 * float(w) for w in words[1:]])
    return Table(columns, rows, "bars", "ms an exchange", show=columns[1:7] + columns[8:])


def figure_12(nodewise):
    """Figure 12, simulated: weak scaling, 750^3 cells a GPU, methods added one by one"""
    return scaling(nodewise, "weak")


def figure_13(nodewise):
    """Figure 13, simulated: strong scaling of 1363^3 cells, methods added one by one"""
    return scaling(nodewise, "strong")


EXPERIMENTS = [figure_3, figure_4, figure_9, figure_11, figure_12, figure_13]
ABSENT = ["every figure on a real GPU, figure 9 too"]


def weak(data):
    by = {r["configuration"].split("n/")[0]: r for r in data.table("figure_12")["rows"]}

    def times(nodes, column, other_nodes, other):
        return float(by[nodes][column + " ms"]) / float(by[other_nodes][other + " ms"])
    return ("On one node all methods together are %.1f times faster than staging alone (paper: 6). From "
            "32 to 256 nodes the exchange takes %.2f times as long where the fat tree's routes adapt, and "
            "%.2f times where they are fixed (`fixed`, D-mod-K: some links get more flows than others, "
            "and only that grows; paper: flat after 32). At 256 nodes the methods inside the node are worth %.2f "
            "times where MPI's copies there overlap the network, %.2f times where they do not (`apart`, not "
            "drawn; paper, measured: 1.16, between the two). With CUDA-aware MPI (`ca`) the links "
            "alone would allow %.2f times the staged exchange; with its copies in the default stream and "
            "the device waited for, as the paper's profile found, so that a GPU has one message at work "
            "at a time (`serial`), the exchange takes %.1f times as long as staged at 2 nodes and %.1f times "
            "at 256: slower everywhere, as the paper says, and growing up to 16 nodes, after "
            "which it is flat here (paper: degrades dramatically, no figures printed)." %
            (times("1", "+remote", "1", "+kernel"), times("256", "+kernel", "32", "+kernel"),
             times("256", "fixed", "32", "fixed"), times("256", "+remote", "256", "+kernel"),
             times("256", "apart", "256", "+kernel"), times("256", "ca", "256", "+kernel"),
             times("2", "serial", "2", "+kernel"), times("256", "serial", "256", "+kernel")))


def overlap(data):
    """How much of the way of what goes between ranks the callers computed in."""
    rows = data.table("figure_9")["rows"]
    under_way = hidden = 0
    for rank in "01":
        own = [r for r in rows if r["rank"] == rank]
        ways = [r for r in own if r["act"] == "way" and r["end"] != "self"]
        begin, end = min(float(r["from us"]) for r in ways), max(float(r["to us"]) for r in ways)
        under_way += end - begin
        hidden += sum(max(0, min(end, float(r["to us"])) - max(begin, float(r["from us"])))
                      for r in own if r["act"] == "caller")
    methods = sorted({r["method"] for r in rows if r["method"] != "-"})
    return ("Two ranks, methods %s; dark what the library does itself, light what is under way, green "
            "the program computing between its calls: %.0f %% of the time in which something is under "
            "way between the ranks." % (" and ".join(methods), 100 * hidden / under_way))


def words(name, data):
    if name == "figure_9":
        return overlap(data)
    if name == "figure_3":
        rows = data.table(name)["rows"]
        return ("Squares have less halo than strips: %s against %s cells for four pieces, %s against "
                "%s for nine, which is the paper's point." % tuple(r["V_d"] for r in rows))
    if name == "figure_4":
        row = data.row(name, "paper")
        return ("The paper's bisection gives %s nodes and %s GPUs in each, as its figure prints." %
                (row["nodes"], row["GPUs of a node"]))
    if name == "figure_11":
        best, plain = data.row(name, "optimal"), data.row(name, "trivial")
        return ("Placed best the node's exchange takes %s ms, in trivial order %s ms: %.0f %% less "
                "(paper, measured: 20 %%)." % (best["exchange ms"], plain["exchange ms"],
                                               100 - 100 * float(best["exchange ms"]) /
                                               float(plain["exchange ms"])))
    if name == "figure_12":
        return weak(data)
    rows = data.table(name)["rows"]
    last = "+kernel ms"
    return ("With all methods the exchange takes %s ms on one node and %s ms on 256." %
            (rows[0][last], rows[-1][last]))
