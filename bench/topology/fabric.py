#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the output that ibnetdiscover would print for a two-level fat tree.

fabric.py [HOSTS [LEAVES [SPINES]]]: the default is 10,000 hosts on 800 leaf and 200 spine
switches. Each leaf has a cable to a quarter of the spines.
"""
import sys

hosts, leaves, spines = (list(map(int, sys.argv[1:])) + [10000, 800, 200][len(sys.argv) - 1:])[:3]
ports = {}


def join(a, b):
    """Adds one cable; ports are numbered in the order of their cables."""
    pa, pb = ports.setdefault(a, []), ports.setdefault(b, [])
    pa.append((b, len(pb) + 1))
    pb.append((a, len(pa)))


def ident(name):
    kind = "H" if name.startswith("n") else "S"
    return "%s-%016x" % (kind, hash_of[name])


names = (["leaf%d" % i for i in range(leaves)] + ["spine%d" % i for i in range(spines)]
         + ["n%05d" % i for i in range(hosts)])
hash_of = {name: 0x1000 + 16 * i for i, name in enumerate(names)}
for h in range(hosts):
    join("leaf%d" % (h * leaves // hosts), "n%05d" % h)
for leaf in range(leaves):
    for up in range((spines + 3) // 4):
        join("leaf%d" % leaf, "spine%d" % ((leaf + 3 * up) % spines))
out = ["#\n# Topology file: written by bench/topology/fabric.py\n#\n"]
for name in names:
    switch = not name.startswith("n")
    out.append("sysimgguid=0x%x\n%s\t%d \"%s\"\t\t# \"%s\"%s\n" % (
        hash_of[name], "Switch" if switch else "Ca", len(ports[name]), ident(name),
        name if switch else name + " mlx5_0",
        " enhanced port 0 lid %d lmc 0" % (hash_of[name] >> 4) if switch else ""))
    for number, (peer, port) in enumerate(ports[name], 1):
        out.append("[%d]\t\"%s\"[%d]\t\t# \"%s\" lid %d 4xHDR\n" % (
            number, ident(peer), port, peer, hash_of[peer] >> 4))
    out.append("\n")
sys.stdout.write("".join(out))
