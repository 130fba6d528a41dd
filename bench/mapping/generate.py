#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the graphs of the mapping benchmark: `generate.py KIND N SEED FILE`
writes one in METIS format. Kinds:

s5, s9        2-D stencils
s7, s27       3-D stencils
w7            s7 with 10 times as many bytes in the first dimension
p7            s7, periodic
rgg           a random geometric graph, cut into n parts: a vertex for each
              part, numbered as a partitioner numbers parts
mesh          the same of a triangle mesh with a hole
shuffled      rgg with its vertices in random order
rmat          R-MAT
regular       all vertices have the same degree
near          points in a cube, with edges to the four nearest
uniform       Erdos-Renyi
preferential  Barabasi-Albert
small_world   a ring with some random edges
blocks        dense groups with few edges between them"""
import heapq
import random
import sys


def shape(n, dims):
    """The most cubic grid of n cells."""
    best = None
    def search(left, d, so_far):
        nonlocal best
        if d == 1:
            grid = so_far + [left]
            if best is None or max(grid) - min(grid) < max(best) - min(best):
                best = grid
            return
        for a in range(1, left + 1):
            if left % a == 0:
                search(left // a, d - 1, so_far + [a])
    search(n, dims, [])
    return best


def stencil(n, dims, weight, periodic=False):
    grid = shape(n, dims)
    steps = [[]]
    for _ in range(dims):
        steps = [s + [d] for s in steps for d in (-1, 0, 1)]
    edges = {}
    for rank in range(n):
        at, rest = [], rank
        for size in reversed(grid):
            at.insert(0, rest % size)
            rest //= size
        for step in steps:
            bytes_ = weight(step)
            to = [a + s for a, s in zip(at, step)]
            if not bytes_:
                continue
            if periodic:
                to = [t % size for t, size in zip(to, grid)]
            if any(t < 0 or t >= size for t, size in zip(to, grid)):
                continue
            other = 0
            for t, size in zip(to, grid):
                other = other * size + t
            if other > rank:
                edges[rank, other] = bytes_
    return edges


def faces(step):
    return 100 if sum(map(abs, step)) == 1 else 0


def all_neighbours(step):
    return {0: 0, 1: 100, 2: 10, 3: 1}[sum(map(abs, step))]


def heavy_first(step):
    if sum(map(abs, step)) != 1:
        return 0
    return 1000 if step[0] else 100


def nine(step):
    return {0: 0, 1: 100, 2: 10}[sum(map(abs, step))]


def near_points(points, radius):
    cells = {}
    for i, (x, y) in enumerate(points):
        cells.setdefault((int(x / radius), int(y / radius)), []).append(i)
    for (cx, cy), inside in cells.items():
        for dx in (0, 1):
            for dy in (-1, 0, 1):
                if (dx, dy) < (0, 0) or (dx == 0 and dy < 0):
                    continue
                for i in inside:
                    for j in cells.get((cx + dx, cy + dy), []):
                        if (dx, dy) == (0, 0) and j <= i:
                            continue
                        a, b = points[i], points[j]
                        if (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 < radius ** 2:
                            yield i, j


def cut_by_coordinates(points, parts):
    """Recursive coordinate bisection; parts are numbered in the order of the cuts."""
    part = [0] * len(points)
    stack = [(list(range(len(points))), 0, parts)]
    while stack:
        inside, first, count = stack.pop()
        if count == 1:
            for i in inside:
                part[i] = first
            continue
        axis = max((0, 1), key=lambda d: max(points[i][d] for i in inside) -
                   min(points[i][d] for i in inside))
        inside.sort(key=lambda i: points[i][axis])
        left = count // 2
        middle = len(inside) * left // count
        stack.append((inside[:middle], first, left))
        stack.append((inside[middle:], first + left, count - left))
    return part


def quotient(n, rng, hole):
    total = n * (60 if n <= 8192 else 24)
    points = []
    while len(points) < total:
        x, y = rng.random(), rng.random()
        density = 1.0
        if hole:
            r = ((x - .5) ** 2 + (y - .5) ** 2) ** .5
            density = 0 if r < .15 else min(1, .1 + .3 / (10 * abs(r - .3) + .3))
        if rng.random() < density:
            points.append((x, y))
    radius = (8.0 / (3.14 * total)) ** .5
    part = cut_by_coordinates(points, n)
    edges = {}
    for i, j in near_points(points, radius):
        a, b = sorted((part[i], part[j]))
        if a != b:
            edges[a, b] = edges.get((a, b), 0) + 1
    return edges


def shuffled(n, rng):
    deal = list(range(n))
    rng.shuffle(deal)
    return {tuple(sorted((deal[a], deal[b]))): w
            for (a, b), w in quotient(n, rng, False).items()}


def rmat(n, rng):
    levels = (n - 1).bit_length()
    edges = {}
    while len(edges) < 8 * n:
        a = b = 0
        for _ in range(levels):
            r = rng.random()
            a, b = 2 * a + (r >= .76), 2 * b + (.57 <= r < .76 or r >= .95)
        if a != b and a < n and b < n:
            key = tuple(sorted((a, b)))
            edges[key] = edges.get(key, 0) + 1
    return edges


def regular(n, rng):
    edges = {}
    for _ in range(4):
        deal = list(range(n))
        rng.shuffle(deal)
        for i in range(n):
            a, b = sorted((deal[i], deal[i - 1]))
            if a != b:
                edges[a, b] = rng.randint(1, 100)
    return edges


def near(n, rng):
    points = [(rng.random(), rng.random(), rng.random()) for _ in range(n)]
    edges = {}
    for i, (x, y, z) in enumerate(points):
        far = [((x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2, j)
               for j, (a, b, c) in enumerate(points) if j != i]
        for _, j in heapq.nsmallest(4, far):
            edges[min(i, j), max(i, j)] = rng.randint(1, 100)
    return edges


def weighted(n, count, rng, draw_pair):
    """`count` different edges between pairs that draw_pair() returns."""
    edges = {}
    while len(edges) < count:
        a, b = sorted(draw_pair())
        if a != b and b < n:
            edges[a, b] = rng.randint(1, 100)
    return edges


def uniform(n, rng):
    return weighted(n, 4 * n, rng, lambda: (rng.randrange(n), rng.randrange(n)))


def preferential(n, rng):
    edges, ends = {}, [0]
    for i in range(1, n):
        for j in set(rng.choice(ends) for _ in range(4)):
            edges[j, i] = rng.randint(1, 100)
            ends += [i, j]
    return edges


def small_world(n, rng):
    edges = {}
    for i in range(n):
        for step in (1, 2, 3):
            j = rng.randrange(n) if rng.random() < .1 else (i + step) % n
            if i != j:
                edges[min(i, j), max(i, j)] = rng.randint(1, 100)
    return edges


def blocks(n, rng):
    deal = list(range(n))
    rng.shuffle(deal)

    def pair():
        first = rng.randrange(n)
        if rng.random() < .2:
            return deal[first], deal[rng.randrange(n)]
        return deal[first], deal[min(n - 1, first // 24 * 24 + rng.randrange(24))]
    return weighted(n, 5 * n, rng, pair)


DRAWN = {"shuffled": shuffled, "rmat": rmat, "regular": regular, "near": near,
         "uniform": uniform, "preferential": preferential,
         "small_world": small_world, "blocks": blocks}


def make(kind, n, rng):
    if kind in ("rgg", "mesh"):
        return quotient(n, rng, kind == "mesh")
    if kind in DRAWN:
        return DRAWN[kind](n, rng)
    dims, weight, periodic = {"s5": (2, faces, False), "s9": (2, nine, False),
                              "s7": (3, faces, False),
                              "s27": (3, all_neighbours, False),
                              "w7": (3, heavy_first, False),
                              "p7": (3, faces, True)}[kind]
    return stencil(n, dims, weight, periodic)


def main():
    kind, n, seed, path = sys.argv[1:5]
    n = int(n)
    edges = make(kind, n, random.Random(int(seed)))
    rows = [[] for _ in range(n)]
    for (a, b), w in edges.items():
        rows[a].append((b, w))
        rows[b].append((a, w))
    with open(path, "w", encoding="ascii") as out:
        out.write(f"{n} {len(edges)} 001\n")
        for row in rows:
            out.write(" ".join(f"{b + 1} {w}" for b, w in sorted(row)) + "\n")


main()
