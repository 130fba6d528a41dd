# SPDX-License-Identifier: BSD-3-Clause
"""The mapping benchmark's table beside the peers that are on this machine."""
import os
import re

from twin import ROOT, Table

TITLE = "Mapping: our engine and its peers"
PAPER = ("J is hop-bytes relative to the best on each instance, geometric means; CPU seconds of the "
         "whole program, one thread. **Measured** on this machine; peers that Debian has (Scotch, "
         "METIS with our swaps). A file of more peers, named by NW_BENCH_PEERS, is run beside.")


def peers_512(nodewise):
    """Measured: one rank per element, 512 ranks, one seed"""
    os.environ.update(NW_BENCH_SIZES="512", NW_BENCH_SEEDS="1")
    more = [os.environ["NW_BENCH_PEERS"]] if os.environ.get("NW_BENCH_PEERS") else []
    text = nodewise.script(os.path.join(ROOT, "bench/mapping/run"),
                           os.path.join(nodewise.build, "nodewise"), *more)
    rows, kind = [], ""
    for line in text.splitlines():
        title = re.match(r"(stencils|irregular), (\d+) ranks", line)
        kind = title.group(1) if title else kind
        found = re.match(r"(.+?)\s+(\d\.\d{4})\s+(\d+\.\d{4})\s+(\d+\.\d+)\s+(\d+)$", line)
        if found:
            rows.append(["%s, %s" % (kind, found.group(1)), *map(float, found.groups()[1:4]),
                         int(found.group(5))])
    if not rows:
        raise RuntimeError("no table in what bench/mapping/run printed")
    return Table(["instances, algorithm", "J / best", "worst", "CPU s", "instances"], rows, "bars",
                 "J / best", show=["J / best"])


EXPERIMENTS = [peers_512]


def words(name, data):
    rows = {r["instances, algorithm"]: r for r in data.table(name)["rows"]}
    scotch = rows.get("irregular, scotch")
    return ("On irregular patterns Scotch's hop-bytes are %s times the best found, on stencils %s times; "
            "ours %s and %s." % (scotch["J / best"], rows["stencils, scotch"]["J / best"],
                                 rows["irregular, auto"]["J / best"],
                                 rows["stencils, auto"]["J / best"]))
