#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the longest files and functions, and how many are longer than the style
recommends. In src/map, a file has at most 600 lines and a function at most 60; elsewhere
there may be reasons for more."""
import tree

MODULE, FILE_LINES, BODY_LINES = "src/map/", 600, 60


def functions(name, lines):
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield number - start - 1, name, start - 1
            start = None


def main():
    lengths, bodies = [], []
    for name in tree.files(".c", ".h"):
        if not name.startswith(("src/", "include/")):
            continue
        lines = tree.text(name).split("\n")
        lengths.append((len(lines) - 1, name))
        bodies += functions(name, lines)
    lengths.sort(reverse=True)
    bodies.sort(reverse=True)
    print("longest files:")
    for count, name in lengths[:5]:
        print("  %5d %s" % (count, name))
    print("longest functions:")
    for count, name, line in bodies[:10]:
        print("  %5d %s:%d" % (count, name, line))
    short = sum(count <= 35 for count, _, _ in bodies)
    if bodies:
        print("%d functions, median %d lines, %.0f %% within 35" %
              (len(bodies), bodies[len(bodies) // 2][0], 100 * short / len(bodies)))
    tree.finish(["%s:1: %d lines, more than %d" % (name, count, FILE_LINES)
                 for count, name in lengths
                 if name.startswith(MODULE) and count > FILE_LINES] +
                ["%s:%d: a function of %d lines, more than %d" % (name, line, count, BODY_LINES)
                 for count, name, line in bodies
                 if name.startswith(MODULE) and count > BODY_LINES])


main()
