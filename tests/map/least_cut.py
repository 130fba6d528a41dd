#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the bound of bench/mapping/least_cut against all parts of small grids: it is what
its description says, and no division of a small grid is below it."""
import itertools, math, os, subprocess, sys

GRIDS = (((3, 2, 2), (3, 1, 1), 3), ((4, 2, 2), (1, 1, 1), 4), ((4, 4, 1), (1, 1, 1), 4),
         ((2, 3, 3), (1, 2, 3), 3), ((6, 3, 1), (2, 1, 1), 3), ((2, 2, 4), (2, 5, 1), 2))


class Grid:
    def __init__(self, sizes, weights, parts):
        self.cells = list(itertools.product(*(range(n) for n in sizes)))
        self.sizes, self.weights, self.parts = sizes, weights, parts
        self.size = len(self.cells) // parts

    def cut(self, part):
        """Weight of the edges between the part and the rest."""
        sum = 0
        for cell in part:
            for d in range(3):
                for step in (-1, 1):
                    peer = cell[:d] + (cell[d] + step,) + cell[d + 1:]
                    if 0 <= peer[d] < self.sizes[d] and peer not in part:
                        sum += self.weights[d]
        return sum

    def kinds(self):
        """Each set of cells that may be the marked ones."""
        for up in range(3):
            if self.sizes[up] == 1:
                continue
            a, b = (d for d in range(3) if d != up)
            ends = {d: {c for c in self.cells if c[d] in (0, self.sizes[d] - 1)} for d in (a, b)}
            for some in (ends[a], ends[b], ends[a] & ends[b], ends[a] | ends[b]):
                yield some
                yield set(self.cells) - some

    def bound(self):
        parts = [(set(part), self.cut(set(part)))
                 for part in itertools.combinations(self.cells, self.size)]
        return max(min(cut for part, cut in parts if len(part & some) <= len(some) // self.parts)
                   for some in self.kinds())

    def best(self, left=None):
        """What the part that sends most of the best division sends, for few cells."""
        left = self.cells if left is None else left
        if not left:
            return 0
        return min(max(self.cut({left[0], *rest}),
                       self.best([c for c in left[1:] if c not in rest]))
                   for rest in itertools.combinations(left[1:], self.size - 1))


def ask(sizes, weights, parts):
    program = os.path.join(os.environ["NW_BUILD"], "bench/mapping/least_cut")
    words = [str(n) for n in (*sizes, *weights, parts)]
    return int(subprocess.check_output([program, *words], timeout=100))


print("1..%d" % len(GRIDS))
failed = False
for number, (sizes, weights, parts) in enumerate(GRIDS, 1):
    grid, found = Grid(sizes, weights, parts), ask(sizes, weights, parts)
    divisions = math.factorial(len(grid.cells)) // math.factorial(grid.size) ** parts
    good = found == grid.bound() and (divisions > 50000 or found <= grid.best())
    failed |= not good
    print("%s %d - %s in %d parts" % ("ok" if good else "not ok", number, "x".join(map(str, sizes)),
                                      parts))
sys.exit(failed)
