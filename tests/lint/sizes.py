#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the longest files and functions, and how many are longer than what
house style calls good. It never fails: a reason beats a number."""
import tree


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


main()
