#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The mapping engine stays in layers: a folder of src/map includes only folders that
stand before it in src/map/meson.build, a folder has at most 20 .c files, and no two files
call each other in a circle. Nor do files of the channel, except for its dispatch tables.

The argument is the static library that has their objects."""
import os
import re
import subprocess
import sys

import tree

C_FILES = 20
TABLES = {"src_channel_memory_mapping.c", "src_channel_proto_protocols.c"}


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


def calls(archive, module):
    """{object: objects whose symbols it uses}"""
    listing = subprocess.run([tree.need("nm"), "-A", "-P", "-g", archive], check=True,
                             capture_output=True, text=True).stdout
    home, wanted = {}, {}
    for line in listing.split("\n"):
        found = re.match(r".*\[(?:.*/)?(src_%s_\w+\.c)\.o\]: (\S+) (\w)" % module, line)
        if not found or found[1] in TABLES:
            continue
        if found[3] == "U":
            wanted.setdefault(found[1], set()).add(found[2])
        else:
            home[found[2]] = found[1]
    return {user: {home[s] for s in symbols if s in home} - {user}
            for user, symbols in wanted.items()}


def circle(graph):
    """The objects on circles, or between two of them: those that lead nowhere and those
    that nothing leads to are taken away again and again."""
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
    for module, least in ("map", 50), ("channel", 30):
        graph = calls(sys.argv[1], module)
        if len(graph) < least:
            breaches.append("%s: no objects of src/%s" % (sys.argv[1], module))
        left = circle(graph)
        if left:
            breaches.append("src/%s: files call each other in a circle: %s" % (module, ", ".join(left)))
    tree.finish(breaches)


main()
