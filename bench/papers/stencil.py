# SPDX-License-Identifier: BSD-3-Clause
"""The node-aware stencil paper: partition and placement examples, scaling."""
import os
import shutil
import subprocess

import boxes
import timeline
from twin import ROOT, Table

TITLE = "Node-aware stencil: partition, placement, scaling"
PAPER = ("Paper: node-aware stencil communication on heterogeneous supercomputers (figures 3 to 5 and 11 to 13), on "
         "Summit's nodes of six GPUs (`summit`). The times are **simulated**, or predicted by the model of `nodewise "
         "halo plan`; figure 9 is **measured** in host memory. [GPU paths on one NVIDIA H100](gpu.md) has the methods "
         "and the pack rates as **measured** on one GPU.")
COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def figure_3(nodewise):
    """Figure 3, computed: halo volumes of four divisions of a square
    36 x 36 cells, radius 1. A piece of a x b cells has a halo of 2 (a + b)
    cells, without the corners, as in the paper. V_d is their sum."""
    rows = []
    for across, along in (2, 2), (4, 1), (3, 3), (9, 1):
        volume = 2 * (36 // across + 36 // along)
        rows.append(["%dx%d" % (across, along), volume, volume * across * along])
    return Table(["division", "V_s", "V_d"], rows, "bars", "cells")


def pieces(plan, scale):
    """The boxes of a plan's pieces, seen along z, with one colour per node."""
    return [(piece["low"][0] * scale[0], piece["low"][1] * scale[1],
             (piece["high"][0] - piece["low"][0]) * scale[0],
             (piece["high"][1] - piece["low"][1]) * scale[1],
             "%d.%d" % (piece["node"], piece["slot"]), piece["node"])
            for piece in plan["pieces"] if piece["low"][2] == 0]


def figure_4(nodewise):
    """Figure 4, computed: 4 x 24 x 2 cells over 12 nodes of 4 GPUs
    Drawn along z, x to the right; node.GPU in each piece."""
    rows, panels = [], []
    for kind in "paper", "least":
        words = ["--partition", "paper"] if kind == "paper" else []
        plan = nodewise.answer("halo", "plan", "-n", "4x24x2", "--nodes", 12, "--slots", 4, *words)
        rows.append([kind, "x".join(map(str, plan["node_grid"])),
                     "x".join(map(str, plan["slot_grid"])), plan["bytes"],
                     plan["bytes_between_nodes"]])
        panels.append(({"paper": "the paper's bisection", "least": "least between nodes"}[kind],
                       pieces(plan, (40, 20))))
    return Table(["partition", "nodes", "GPUs of a node", "bytes", "between nodes"], rows, None,
                 svg=boxes.draw("Figure 4, computed: 4 x 24 x 2 cells, 12 nodes of 4 GPUs", panels))


def figure_5(nodewise):
    """Figure 5, computed: four pieces on the GPUs of a node with two GPUs per processor
    1400 x 960 x 700 cells, open borders, radius 3, four single-precision quantities. The
    partition is the paper's, the node is Summit's with two GPUs per processor. w: bytes
    from piece to piece; d: 1 / bandwidth. The times of each pair, in the best placement
    and in rank order, are those of the model of halo plan."""
    text = open(os.path.join(ROOT, "data/clusters/summit.yaml"), encoding="utf-8").read()
    for old, new in (("gpu: 3", "gpu: 2"), ("gpu 0-2", "gpu 0-1"), ("gpu 3-5", "gpu 2-3"),
                     ("summit[0001-0004]", "summit[0001-0001]")):
        if old not in text:
            raise RuntimeError("summit.yaml has no '%s'" % old)
        text = text.replace(old, new)
    with open(os.path.join(nodewise.folder, "four.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    plans = {kind: nodewise.answer("halo", "plan", "-t", "four.yaml", "-n", "1400x960x700", "-r", 3,
                                   "--quantities", 4, "--element", 4, "--partition", "paper",
                                   "--border", "open",
                                   *(["--placement", "trivial"] if kind == "in order" else []))
             for kind in ("best", "in order")}
    rows, panels = [], []
    for pair in range(len(plans["best"]["pairs"])):
        both = [plan["pairs"][pair] for plan in plans.values()]
        if both[0]["from"] >= both[0]["to"]:
            continue
        row = ["%d - %d" % (both[0]["from"], both[0]["to"]), both[0]["bytes"]]
        for plan, one in zip(plans.values(), both):
            slots = [plan["pieces"][one[end]]["slot"] for end in ("from", "to")]
            row += ["%d - %d" % tuple(slots), 1e6 * one["seconds"]]
        rows.append(row)
    rows.append(["all", plans["best"]["bytes"]] + [
        value for plan in plans.values() for value in ("", 1e6 * plan["seconds"])])
    for kind, plan in plans.items():
        for piece in plan["pieces"]:
            piece["node"] = piece["slot"] // 2  # a colour for each processor
        panels.append(("%s: %.3f ms" % (kind, 1e3 * plan["seconds"]), pieces(plan, (0.13, 0.13))))
    return Table(["pieces", "w bytes", "GPUs best", "best us", "GPUs in order", "in order us"], rows,
                 None, svg=boxes.draw("Figure 5, computed: processor.GPU of four pieces", panels))


def figure_11(nodewise):
    """Figure 11, predicted: placement of 1440 x 1452 x 700 cells on one Summit node
    Radius 3 (assumed, the paper calls it typical), four single-precision
    quantities, periodic; best proven over all 720 placements."""
    rows, panels = [], []
    for kind in "optimal", "trivial", "worst":
        words = [] if kind == "optimal" else ["--placement", kind]
        plan = nodewise.answer("halo", "plan", "-t", "summit:1", "-n", "1440x1452x700", "-r", 3,
                               "--quantities", 4, "--element", 4, *words)
        rows.append([kind, 1e3 * plan["slot_cost"], 1e3 * plan["seconds"],
                     "yes" if plan["exact"] else "no"])
        for piece in plan["pieces"]:
            piece["node"] = piece["slot"] // 3  # a colour for each processor
        panels.append(("%s: %.3f ms per exchange" % (kind, 1e3 * plan["seconds"]),
                       pieces(plan, (0.12, 0.1))))
    return Table(["placement", "cost ms", "exchange ms", "proven"], rows, None, svg=boxes.draw(
        "Figure 11, predicted: processor.GPU of six pieces of 720 x 484 x 700 cells", panels))


def together(lines):
    """The lines of the step that both ranks began at most nearly the same time, without the
    first and the last step."""
    begun = {}
    for words in lines:
        ranks = begun.setdefault(int(words[0]), {})
        ranks[words[1]] = min(int(words[8]), ranks.get(words[1], int(words[8])))
    inner = [step for step in sorted(begun)[1:-1] if len(begun[step]) == 2]
    best = min(inner, key=lambda step: abs(begun[step]["0"] - begun[step]["1"]))
    return [words for words in lines if int(words[0]) == best]


def figure_9(nodewise):
    """Figure 9, measured: timeline of one overlapped exchange of the heat example
    Two ranks in host memory, 27 points, 96^3 cells. Of 24 steps, the figure shows the one
    that the ranks began most nearly together. The times are those of the exchange's own
    trace (NODEWISE_HALO_TRACE)."""
    trace = os.path.join(nodewise.folder, "trace")
    program = nodewise.built("examples/heat/heat-openmpi")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    subprocess.run(["mpirun.openmpi", *root, "--oversubscribe", "-n", "2", program, "-n", "96", "-27",
                    "-s", "24"], check=True, capture_output=True, cwd=nodewise.folder, timeout=120,
                   env=dict(os.environ, NODEWISE_HALO_TRACE=trace, XDG_CACHE_HOME=nodewise.folder))
    lines = [line.split() for rank in "01" for line in open("%s.%s" % (trace, rank))
             if line[0] != "#"]
    lines = together(lines)
    since = min(int(words[8]) for words in lines)  # the lines of both ranks have the same clock
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
    return Table(columns, rows, "bars", "ms per exchange", show=columns[1:7] + columns[8:])


def figure_12a(nodewise):
    """Figure 12a, simulated: one Summit node, methods added one by one, and CUDA-aware MPI alone
    1363^3 cells, 6 ranks of a GPU each; CUDA-aware MPI for every message opens a CUDA IPC
    handle every time (100 us, assumed), once a pair (ca-pair) or a direction (ca-each)."""
    base = os.path.join(nodewise.folder, "one")
    nodewise.script(os.path.join(ROOT, "bench/halo/scaling"), nodewise.build, 1, base)
    lines = open(base + ".txt").read().split("# one node", 1)[1].splitlines()
    names, (_, *times) = lines[1].split()[1:], lines[2].split()
    return Table(["methods", "exchange ms"], [[n, 1e3 * float(t)] for n, t in zip(names, times)],
                 "bars", "ms per exchange")


def figure_12(nodewise):
    """Figures 12b and 12c, simulated: weak scaling, 750^3 cells per GPU, methods added one by one"""
    return scaling(nodewise, "weak")


def figure_13(nodewise):
    """Figure 13, simulated: strong scaling of 1363^3 cells, methods added one by one"""
    return scaling(nodewise, "strong")


EXPERIMENTS = [figure_3, figure_4, figure_5, figure_9, figure_11, figure_12a, figure_12, figure_13]
ABSENT = ["no figure was run on several GPUs, figure 9 included",
          "figure 12a with 1 and 2 ranks per node: the model has no cost for several copies of one process at a time"]


def weak(data):
    by = {r["configuration"].split("n/")[0]: r for r in data.table("figure_12")["rows"]}

    def times(nodes, column, other_nodes, other):
        return float(by[nodes][column + " ms"]) / float(by[other_nodes][other + " ms"])
    return ("- From 32 to 256 nodes the exchange takes %.2f times as long if the fat tree routes adaptively. With fixed "
            "routes (`fixed`, D-mod-K) the factor is %.2f, because some links then carry more flows than others. "
            "Paper: flat after 32.\n"
            "- At 256 nodes the methods inside the node make the exchange %.2f times faster if MPI's copies there overlap "
            "the network, %.2f times if they do not (`apart`, not drawn). Paper, measured: 1.16.\n"
            "- With CUDA-aware MPI (`ca`) the links alone would allow %.2f times the time of the staged exchange. "
            "In the paper's profile the copies of CUDA-aware MPI run in the default stream and wait for the device, "
            "so that a GPU "
            "has one message in progress at a time. Simulated like this (`serial`), the exchange takes %.1f times as "
            "long as the staged one on 2 nodes and %.1f times on 256. Paper: slower everywhere, and it degrades "
            "dramatically with more nodes; here it is flat from 16 nodes on." %
            (times("256", "+kernel", "32", "+kernel"),
             times("256", "fixed", "32", "fixed"), times("256", "+remote", "256", "+kernel"),
             times("256", "apart", "256", "+kernel"), times("256", "ca", "256", "+kernel"),
             times("2", "serial", "2", "+kernel"), times("256", "serial", "256", "+kernel")))


def one_node(data):
    row = {r["methods"]: float(r["exchange ms"]) for r in data.table("figure_12a")["rows"]}
    best = row["+kernel"]
    return ("- All methods together are %.1f times faster than staging alone (paper: 6).\n"
            "- They are %.1f times faster than CUDA-aware MPI that opens a handle once for each pair of GPUs, and %.1f times "
            "faster if it opens one for each of the 26 directions (paper: 2, and it names the repeated opening as "
            "the cause).\n"
            "- CUDA-aware MPI is %.1f or %.1f times faster than staging (paper: 3).\n"
            "- Copies between processes give a factor of %.1f. Peer copies give %.2f more; here they serve the exchange of a "
            "piece with itself, in the paper ranks with several GPUs. The kernel adds almost nothing, as in the paper.\n"
            "- Staging is limited by the copies of one core inside the node (8 GB/s, assumed)."
            % (row["+remote"] / best, row["ca-pair"] / best, row["ca-each"] / best,
               row["+remote"] / row["ca-pair"], row["+remote"] / row["ca-each"],
               row["+remote"] / row["+colo"], row["+colo"] / row["+peer"]))


def strong(data):
    rows = data.table("figure_13")["rows"]
    total = [float(r["+kernel ms"]) for r in rows]
    gains = [float(r["+remote ms"]) / float(r["+kernel ms"]) for r in rows]
    nodes = [r["configuration"].split("n/")[0] for r in rows]
    most = total.index(max(total))
    last = next(n for n, gain in zip(nodes, gains) if gain < 1.05)
    return ("- With all methods the exchange takes %s ms on one node. It is longest on %s nodes (%s ms) and falls to %s ms on "
            "%s. From 128 to 256 nodes it still falls by %.0f %% (paper: it falls from 1 to 128 nodes and not beyond).\n"
            "- Staged (`+remote`), it takes %s ms on one node and %s ms on two.\n"
            "- The paper does not mention the rise at first. Here a GPU has 50 GB/s inside a node and a third of a "
            "port's 12.5 GB/s between nodes, so the first cuts between nodes cost more than they save.\n"
            "- The methods inside the node make the exchange %.1f times faster on one node, and less than 1.05 times from %s "
            "nodes on (paper: nothing from 32 on)."
            % (rows[0]["+kernel ms"], nodes[most], rows[most]["+kernel ms"], rows[-1]["+kernel ms"],
               nodes[-1], 100 * (1 - total[-1] / total[-2]), rows[0]["+remote ms"], rows[1]["+remote ms"],
               gains[0], last))


def overlap(data):
    """For which part of the time of messages between ranks the callers computed."""
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
    return ("Two ranks use the methods %s. Blue and red bars are work of the library, light blue bars are messages in flight, green "
            "bars are computation of the program. The program computes during %.0f %% of the time in which messages "
            "between the ranks are in flight." % (" and ".join(methods), 100 * hidden / under_way))


def placed(rows):
    heavy, whole = max(rows[:-1], key=lambda r: int(r["w bytes"])), rows[-1]
    return ("The quadratic assignment puts the pieces with the larger common face (%s, %s bytes each way) on GPUs %s of one "
            "processor; in rank order they are on GPUs %s of two processors. One pair alone takes the same time "
            "either way. All pairs together take %s us with the best placement and %s us in order, because fewer bytes "
            "cross the link between the processors. The paper's drawing has no figures." %
            (heavy["pieces"], heavy["w bytes"], heavy["GPUs best"], heavy["GPUs in order"],
             whole["best us"], whole["in order us"]))


def words(name, data):
    if name == "figure_9":
        return overlap(data)
    if name == "figure_3":
        rows = data.table(name)["rows"]
        return ("Squares have a smaller halo than strips, as the paper states: %s instead of %s cells for four pieces, "
                "%s instead of %s for nine." % tuple(r["V_d"] for r in rows))
    if name == "figure_4":
        row = data.row(name, "paper")
        return ("The paper's bisection gives %s nodes and %s GPUs in each node, as in its figure." %
                (row["nodes"], row["GPUs of a node"]))
    if name == "figure_5":
        return placed(data.table(name)["rows"])
    if name == "figure_11":
        best, plain = data.row(name, "optimal"), data.row(name, "trivial")
        return ("The exchange of the node takes %s ms with the best placement and %s ms in trivial order: %.0f %% less, "
                "%.2f times as fast (paper, measured: 20 %% faster). In the best placement, three pieces along y, whose "
                "common faces are the largest, share the three GPUs of one processor. In trivial order, one of each "
                "three is on the other processor." % (
                    best["exchange ms"], plain["exchange ms"],
                    100 - 100 * float(best["exchange ms"]) / float(plain["exchange ms"]),
                    float(plain["exchange ms"]) / float(best["exchange ms"])))
    if name == "figure_12":
        return weak(data)
    if name == "figure_12a":
        return one_node(data)
    return strong(data)
