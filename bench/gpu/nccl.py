#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of NCCL by PyTorch, by processes that share one GPU.

    torchrun --nproc-per-node 4 nccl.py calls FILE
    torchrun --nproc-per-node 4 nccl.py times [TURNS]

Each process has an NCCL_HOSTID of its own, so that NCCL lets them share the GPU and
sends between them as between nodes. calls: collective calls of the world and of its
halves, and sends, every result checked; FILE gets the bytes that ring algorithms send
from rank to rank, as lines "FROM TO BYTES". times: rows "BYTES MEDIAN_US" of an all-reduce.
Exit status 77 where PyTorch, NCCL or a GPU is missing.
"""
import os
import statistics
import sys
import time

RANK = int(os.environ.get("RANK", "0"))
os.environ["NCCL_HOSTID"] = "rank%d" % RANK
os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")


def absent(words):
    print("absent nccl: %s" % words, flush=True)
    sys.exit(77)


try:
    import torch
    import torch.distributed as dist
except ImportError as missing:
    absent(missing)

BACKEND = os.environ.get("NW_BACKEND", "nccl")  # gloo for a trial without a GPU
DEVICE = "cuda" if BACKEND == "nccl" else "cpu"
COUNT = 322560  # elements of a block; a multiple of all group sizes
ITEM = 4  # bytes of an element


class Traffic:
    """The bytes that ring algorithms send from rank to rank."""

    def __init__(self):
        self.bytes = {}

    def add(self, source, target, size):
        if size:
            self.bytes[source, target] = self.bytes.get((source, target), 0) + size

    def ring(self, ranks, size, last=None):
        """Each rank sends `size` bytes to the next; in a chain the last one sends none."""
        for i, rank in enumerate(ranks):
            if rank != last:
                self.add(rank, ranks[(i + 1) % len(ranks)], size)

    def collectives(self, ranks):
        """The bytes that collectives() makes a group of ranks send."""
        n = len(ranks)
        self.ring(ranks, 2 * COUNT * ITEM * (n - 1) // n)
        self.ring(ranks, COUNT * ITEM * (n - 1))
        self.ring(ranks, COUNT * ITEM * (n - 1))
        self.ring(ranks, COUNT * ITEM, last=ranks[-1])


def full(count, value):
    return torch.full((count,), float(value), device=DEVICE)


def all_right(tensor, value):
    return bool((tensor == value).all())


def collectives(ranks, group):
    """Makes all calls in one group of ranks; returns whether all results are right."""
    n, me = len(ranks), ranks.index(RANK)
    right = []
    block = full(COUNT, me + 1)
    dist.all_reduce(block, group=group)
    right.append(all_right(block, n * (n + 1) // 2))
    parts = [full(COUNT, 0) for _ in ranks]
    dist.all_gather(parts, full(COUNT, me + 1), group=group)
    right.append(all(all_right(part, i + 1) for i, part in enumerate(parts)))
    block = full(COUNT, 0)
    if BACKEND == "nccl":
        dist.reduce_scatter(block, [full(COUNT, i + 1) for i in range(n)], group=group)
        right.append(all_right(block, (me + 1) * n))
    block = full(COUNT, me + 1)
    dist.broadcast(block, src=ranks[0], group=group)
    right.append(all_right(block, 1))
    return all(right)


def sends(size, traffic):
    """Sends from rank 0 to the last rank, and from that to rank 1."""
    right = True
    for source, target, count in ((0, size - 1, COUNT), (size - 1, 1, COUNT // 2)):
        if RANK == source:
            dist.send(full(count, 7), target)
        if RANK == target:
            block = full(count, 0)
            dist.recv(block, source)
            right = all_right(block, 7)
        traffic.add(source, target, count * ITEM)
    return right


def calls(size, name):
    traffic = Traffic()
    world = list(range(size))
    right = collectives(world, None)
    traffic.collectives(world)
    halves = [world[0::2], world[1::2]]
    groups = [dist.new_group(half) for half in halves]
    for half, group in zip(halves, groups):
        if RANK in half:
            right = collectives(half, group) and right
        traffic.collectives(half)
    right = sends(size, traffic) and right
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    if RANK == 0:
        with open(name, "w", encoding="utf-8") as file:
            for (source, target), count in sorted(traffic.bytes.items()):
                file.write("%d %d %d\n" % (source, target, count))
    print("%s nccl rank %d" % ("ok" if right else "FAULT", RANK), flush=True)
    return not right


def times(turns):
    for size in (8, 4096, 262144, 4194304):
        block = full(max(size // ITEM, 1), 1)
        seconds = []
        for _ in range(turns + turns // 5 + 2):
            since = time.perf_counter()
            dist.all_reduce(block)
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - since)
            block.fill_(1)
        if RANK == 0:
            print("%d %.2f" % (size, statistics.median(seconds[-turns:]) * 1e6), flush=True)
    return 0


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("calls", "times"):
        sys.exit(__doc__)
    if BACKEND == "nccl":
        if not torch.cuda.is_available() or not dist.is_nccl_available():
            absent("PyTorch has no NCCL, or no GPU")
        torch.cuda.set_device(0)
    dist.init_process_group(BACKEND)
    if RANK == 0:
        print("# PyTorch %s, %s" % (torch.__version__, "NCCL %s" % (torch.cuda.nccl.version(),)
                                    if BACKEND == "nccl" else BACKEND), flush=True)
    if sys.argv[1] == "calls":
        code = calls(dist.get_world_size(), sys.argv[2])
    else:
        code = times(int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    dist.destroy_process_group()
    sys.exit(code)


main()
