# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the mapping benchmark, with the peers that are available on this machine."""
import datetime
import os
import re

from twin import RESULTS, ROOT, Table, read

TITLE = "Mapping: our engine and its peers"
PAPER = ("J is hop-bytes relative to the best mapping of each instance (1.000: as good as the best of all). The tables have geometric means of J over the instances, "
         "and CPU seconds of the whole program with one thread. All figures are **measured** on this machine. The peers "
         "are those that Debian has (Scotch; METIS with our swaps) and those in the file NW_BENCH_PEERS (SharedMap with "
         "three efforts and VieM with two, built from their own repositories in November 2026). A peer that needs more "
         "than a minute for an instance, or more than 20 s for 32,768 ranks, is left out for this instance. The best peer "
         "is the best of those that finished. Without NW_BENCH_PEERS, the rows of its peers keep their last figures and "
         "their date.")
ROW = re.compile(r"(.+?)\s+(\d\.\d{4})\s+(\d+\.\d{4})\s+(\d+\.\d+)\s+(\d+)$")


def over_peers(line):
    """`auto over the best peer: mean M; kind R, ...` as a row without seconds."""
    name, _, found = line.partition(": mean ")
    ratios = [float(word.split()[-1]) for word in found.split("; ")[1].split(", ")]
    return [name, float(found.split(";")[0]), max(ratios), "", len(ratios)]


def kept(name, rows):
    """Returns the new rows together with the last table's rows of peers that are not
    available here."""
    path = os.path.join(RESULTS, "mapping", name + ".tsv")
    if os.environ.get("NW_BENCH_PEERS") or not os.path.exists(path):
        return rows
    old, here = read(path), {row[0] for row in rows}
    lost = [r for r in old["rows"] if r["algorithm"] not in here]
    if not lost:
        return rows
    over = [r for r in old["rows"] if "over the best peer" in r["algorithm"]]
    keep = lost + [r for r in over if r not in lost]
    return [row for row in rows if "over the best peer" not in row[0]] + [
        [r[c] for c in ("algorithm", "J / best", "worst", "CPU s", "instances")]
        + [r.get("measured", old["date"])] for r in keep]


def peers(nodewise, name, size, kinds):
    os.environ.update(NW_BENCH_SIZES=str(size), NW_BENCH_KINDS=kinds, NW_BENCH_SEEDS="1",
                      NW_BENCH_LIMIT="20" if size > 10000 else "60")
    more = [os.environ["NW_BENCH_PEERS"]] if os.environ.get("NW_BENCH_PEERS") else []
    text = nodewise.script(os.path.join(ROOT, "bench/mapping/run"),
                           os.path.join(nodewise.build, "nodewise"), *more)
    rows, today = [], str(datetime.date.today())
    for line in text.splitlines():
        found = ROW.match(line)
        if found:
            rows.append([found.group(1), *map(float, found.groups()[1:4]), int(found.group(5)), today])
        elif " over the best peer: mean" in line:
            rows.append(over_peers(line) + [today])
    if not rows:
        raise RuntimeError("no table in what bench/mapping/run printed")
    columns = ["algorithm", "J / best", "worst", "CPU s", "instances", "measured"]
    return Table(columns, kept(name, rows), "bars",
                 "J / best", show=["J / best"], pick=lambda row: row[0] != "block")


def stencils_512(nodewise):
    """Measured: one rank per element, stencils, 512 ranks on 4:8:16@1:10:100, one seed"""
    return peers(nodewise, "stencils_512", 512, "stencils")


def irregular_512(nodewise):
    """Measured: one rank per element, irregular patterns, 512 ranks on 4:8:16@1:10:100, one seed"""
    return peers(nodewise, "irregular_512", 512, "irregular")


def stencils_4608(nodewise):
    """Measured: one rank per element, stencils, 4608 ranks on 12:2:24:8@1:3:10:20, one seed"""
    return peers(nodewise, "stencils_4608", 4608, "stencils")


def irregular_4608(nodewise):
    """Measured: one rank per element, irregular patterns, 4608 ranks on 12:2:24:8@1:3:10:20, one seed"""
    return peers(nodewise, "irregular_4608", 4608, "irregular")


def stencils_32768(nodewise):
    """Measured: one rank per element, stencils, 32,768 ranks on 4:16:32:16@1:10:100:1000, one seed"""
    return peers(nodewise, "stencils_32768", 32768, "s5,s7,s27")


def irregular_32768(nodewise):
    """Measured: one rank per element, irregular patterns, 32,768 ranks on 4:16:32:16@1:10:100:1000, one seed"""
    return peers(nodewise, "irregular_32768", 32768, "rgg,mesh,shuffled")


EXPERIMENTS = [stencils_512, irregular_512, stencils_4608, irregular_4608, stencils_32768,
               irregular_32768]


MAPPERS = {"auto": "Nodewise", "auto fast": "Nodewise, `--effort fast`", "scotch": "Scotch",
           "metis, swaps": "METIS with our swaps", "sharedmap fast": "SharedMap fast",
           "sharedmap eco": "SharedMap eco", "sharedmap strong": "SharedMap strong",
           "viem eco": "VieM eco", "viem strong": "VieM strong"}


def ratio(value):
    """J over that of the best peer, in words."""
    text = "%.3f" % float(value)
    return text + (" (equal to the best peer)" if text == "1.000" else "")


def words(name, data):
    table = data.table(name)
    rows = {r["algorithm"]: r for r in table["rows"]}
    best = rows.get("auto over the best peer")
    text = "| mapper | J | J at worst | CPU time |\n|---|---|---|---|\n"
    for algorithm, title in MAPPERS.items():
        row = rows.get(algorithm)
        text += ("| %s | %.3f | %.3f | %.2f s |\n" % (title, float(row["J / best"]), float(row["worst"]), float(row["CPU s"]))
                 if row else "| %s | left out | | |\n" % title)
    if best:
        text += "\nOur hop-bytes over those of the best peer of each instance: %s in the mean, %s at worst." % (
            ratio(best["J / best"]), ratio(best["worst"]))
        if best.get("measured", table["date"]) != table["date"]:
            text += " This and the peers that are not on this machine were measured on %s." % best["measured"]
    return text
