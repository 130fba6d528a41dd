#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No two files call each other in a circle, except through the dispatch tables below. The
mapping engine stays in layers: a folder of src/map includes only folders that stand before
it in src/map/meson.build, and has at most 20 .c files.

The argument is the static library of the core, beside the objects of all else."""
import glob
import os
import re
import subprocess
import sys

import tree

C_FILES = 20
# at most 8 files: each has a table of functions, whose entries use files beside the table
TABLES = {"src_channel_loaded.c", "src_channel_memory_mapping.c", "src_channel_proto_protocols.c", "src_pattern_format.c"}


def folders():
    """The folders of src/map, bottom first."""
    listed = re.search(r"foreach folder : \[(.*?)\]", tree.text("src/map/meson.build"), re.S)
    return re.findall(r"'(\w+)'", listed[1])


def check_files(breaches):
    order = folders()
    counts = {}
    for name in tree.files(".c", ".h"):
        if not name.startswith("src/map/"):
            continue
        folder = os.path.dirname(name)[len("src/map/"):]
        if name.endswith(".c"):
            counts[folder] = counts.get(folder, 0) + 1
        for number, line in enumerate(tree.text(name).split("\n"), 1):
            found = re.match(r'#include "map/(\w+)/', line)
            if found and folder and order.index(found[1]) > order.index(folder):
                breaches.append("%s:%d: %s/ may not use %s/" % (name, number, folder, found[1]))
    for folder, count in counts.items():
        if count > C_FILES:
            breaches.append("src/map/%s:1: %d .c files, more than %d" % (folder, count, C_FILES))


def symbols(core):
    """(file, symbol, kind) of the core, of all programs, and of the libraries of one MPI
    library."""
    folder = os.path.dirname(core)
    places = [folder + "/nodewise.p", folder + "/nodewise-reader.p",
              folder + "/libnccl-profiler-nodewise.so.p"]
    for name in ("libnodewise-[mo]*.so", "libnodewise-halo-*.a", "nodewise-probe-*",
                 "nodewise-mpdata-*"):  # one MPI library of each
        places += sorted(glob.glob(folder + "/" + name + ".p"))[:1]
    objects = [o for place in places for o in glob.glob(place + "/src_*.c.o")]
    listing = subprocess.run([tree.need("nm"), "-A", "-P", "-g", core] + objects, check=True,
                             capture_output=True, text=True).stdout
    for line in listing.split("\n"):
        found = re.match(r"(?:.*[\[/])?(src_\w+\.c)\.o\]?: (\S+) (\w)", line)
        if found and found[1] not in TABLES:
            yield found.groups()


def calls(core):
    """{file: files whose symbols it uses}"""
    home, wanted = {}, {}
    for file, symbol, kind in symbols(core):
        if kind == "U":
            wanted.setdefault(file, set()).add(symbol)
        else:
            home[symbol] = file
    return {user: {home[s] for s in used if s in home} - {user}
            for user, used in wanted.items()}


def circle(graph):
    """The objects on circles, or between two of them: objects that call no others and
    objects that no others call are removed repeatedly."""
    graph = {user: set(used) for user, used in graph.items()}
    while True:
        used = set().union(*graph.values())
        inner = {u: graph[u] for u in graph if graph[u] & set(graph) and u in used}
        if len(inner) == len(graph):
            return sorted(graph)
        graph = inner


def main():
    breaches = []
    check_files(breaches)
    graph = calls(sys.argv[1])
    if len(graph) < 300:
        breaches.append("%s: only %d objects" % (sys.argv[1], len(graph)))
    left = circle(graph)
    if left:
        breaches.append("src: files call each other in a circle: %s" % ", ".join(left))
    tree.finish(breaches)


main()
