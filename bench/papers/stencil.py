# SPDX-License-Identifier: BSD-3-Clause
"""The node-aware stencil paper: partition and placement examples, scaling."""
import os

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
    return Table(columns, rows, "bars", "ms an exchange", show=columns[1:6] + columns[7:])


def figure_12(nodewise):
    """Figure 12, simulated: weak scaling, 750^3 cells a GPU, methods added one by one"""
    return scaling(nodewise, "weak")


def figure_13(nodewise):
    """Figure 13, simulated: strong scaling of 1363^3 cells, methods added one by one"""
    return scaling(nodewise, "strong")


EXPERIMENTS = [figure_3, figure_4, figure_11, figure_12, figure_13]
ABSENT = ["the overlap timeline of figure 9 from a real exchange's trace",
          "every figure on a real GPU"]


def weak(data):
    by = {r["configuration"].split("n/")[0]: r for r in data.table("figure_12")["rows"]}

    def times(nodes, column, other_nodes, other):
        return float(by[nodes][column + " ms"]) / float(by[other_nodes][other + " ms"])
    return ("On one node all methods together are %.1f times faster than staging alone (paper: 6). From "
            "32 to 256 nodes the exchange takes %.2f times as long where the fat tree's routes adapt, and "
            "%.2f times where they are fixed (`fixed`, D-mod-K: some links get more flows than others, "
            "and only that grows; paper: flat after 32). At 256 nodes the methods inside the node are worth %.2f "
            "times where MPI's copies there overlap the network, %.2f times where they do not (`apart`, not "
            "drawn; paper, measured: 1.16, between the two). The paper's loss by CUDA-aware MPI is not in "
            "these figures: it leaves the cause open, and `ca` has links and calls alone." %
            (times("1", "+remote", "1", "+kernel"), times("256", "+kernel", "32", "+kernel"),
             times("256", "fixed", "32", "fixed"), times("256", "+remote", "256", "+kernel"),
             times("256", "apart", "256", "+kernel")))


def words(name, data):
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
    return ("With all methods the exchange falls from %s ms on one node to %s ms on 256." %
            (rows[0][last], rows[-1][last]))
