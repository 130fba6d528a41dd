# SPDX-License-Identifier: BSD-3-Clause
"""The paper on small GPU messages: latency, bandwidth and rate by protocol."""
import os
import statistics
import subprocess

import liquid
from twin import ROOT, Table

TITLE = "Small GPU messages"
PAPER = ("Paper: eager protocols for small messages between GPUs (figures 3 to 11). Figures 3 to 5 are **measured** on "
         "one NVIDIA H100 that two processes use in turn, by `bench/gpu/run`. [GPU paths on one NVIDIA H100](gpu.md) has "
         "more. Loopback and GDRCopy have never run on hardware: the machine had no adapter and no GDRCopy module.\n\n"
         "*Naive*, *loopback* and *fastcopy* are ways to copy a message into GPU memory: by the driver, by the adapter, which "
         "sends to itself, and by the CPU, which stores through a mapping of that memory.\n\n"
         "Figures 6 to 11 are **modelled**, because they need adapters or many GPUs. Test doubles of the driver, of GDRCopy "
         "and of libfabric (`tests/support`) keep GPU memory in host memory. Each operation takes the time that the "
         "reference hardware needs. These times were fixed before any measurement:\n\n"
         "| operation | latency | rate |\n|---|---|---|\n"
         "| copy by the driver | 6 us | 12 GB/s |\n| store by the CPU | 0.1 us | 10 GB/s |\n"
         "| read by the adapter | 0.6 us | 0.8 GB/s |\n| write by the adapter | 0.6 us | 6 GB/s |\n"
         "| loopback | 1.2 us | 2 GB/s |\n\n"
         "For comparison: the H100 took 8 to 11 us for a copy of 8 B by the driver and 0.4 us for a store. The wire is "
         "shared memory between two processes (libfabric's `shm`), whose messages take 0.3 to 1 us; those of InfiniBand "
         "take longer. Compare the differences between protocols with the paper's, not the absolute times. The times "
         "also vary between runs: a message takes 0.3 or 1 us, depending on how close the two cores of the virtual machine are. "
         "This affects rendezvous most, because it sends three messages. The tables of 2026-11-23 were made when the "
         "library itself simulated these times; they have not been repeated, because no idle machine was available.")
WAYS = {"naive": ("gather", "naive"), "rendezvous": ("rendezvous", "auto"),
        "loopback": ("gather", "loopback"), "fastcopy": ("gather", "fastcopy"),
        "auto": ("auto", "auto")}
COSTS = {"copy": (6, 12), "store": (0.1, 10), "adapter-read": (0.6, 0.8),
         "adapter-write": (0.6, 6), "loopback": (1.2, 2)}
LARGEST, RUNS, SMALL = 8192, 5, 512
LOG = ["set logscale x 2", "set xlabel 'bytes'"]
ABSENT = ["loopback in figures 3 to 5, and the bandwidth of the CPU's stores: not measured on a GPU",
          "figures 6 to 11 on real GPUs: they need adapters or several GPUs",
          "figure 8 on 16 nodes: it has two processes here, one for each core"]


def no_double(build):
    if not os.path.exists(os.path.join(build, "tests/support/fake_hmem/libfabric.so.1")):
        return "the double of the driver is not built (-Dtests=enabled)"
    return None


def osu(nodewise, test, memory, way, costs="1", turns=200, ranks=2):
    """{bytes: the last column} of one run."""
    protocol, copy = WAYS[way]
    out = nodewise.call("bench", "channel", test, "-m", memory, "-p", protocol, "-c", copy,
                        "-f", "verbs;ofi_rxm", "-b", LARGEST, "-i", turns, "-n", ranks,
                        FAKE_CUDA_COSTS=costs, **liquid.doubles(nodewise))
    if "verbs;ofi_rxm, CPU's stores: gdrcopy" not in out.split("\n")[0]:
        raise RuntimeError("device memory is not that of the doubles")
    rows = [line.split() for line in out.splitlines() if line and line[0] != "#"]
    return {int(row[0]): float(row[-1]) for row in rows}


def medians(nodewise, test, memory, ways, runs=RUNS, **more):
    """{way: {bytes: median of the runs}}, the ways taking turns."""
    seen = {way: [] for way in ways}
    for _ in range(runs):
        for way in ways:
            seen[way].append(osu(nodewise, test, memory, way, **more))
    return {way: {size: statistics.median(run[size] for run in kept) for size in kept[0]}
            for way, kept in seen.items()}


def table(nodewise, test, memory, ways, y, **more):
    found = medians(nodewise, test, memory, ways, **more)
    rows = [[size] + [found[way][size] for way in ways] for size in found[ways[0]] if size]
    scale = [] if y == "us" else ["set logscale y"]
    return Table(["bytes"] + list(ways), rows, "lines", y, gnuplot=LOG + scale +
                 (["set yrange [*:*]"] if scale else []))


PROPOSED = ["rendezvous", "loopback", "fastcopy", "auto"]
CLUSTER_B = "adapter-read:0.6:2.2"


MEASURED = "gpu-h100-80gb-third-2026-11-26.txt"
ON_GPU = {"naive": "gather.naive", "rendezvous": "rendezvous.naive"}


def on_gpu(test, memory, y):
    """The times with the driver's copies, from the figures that bench/gpu/run wrote; those
    of the CPU's stores from the table of `nodewise bench channel` at the end of the file."""
    ways, found, stores = list(ON_GPU), {}, {}
    with open(os.path.join(ROOT, "bench/results", MEASURED), encoding="utf-8") as file:
        before, after = file.read().split("# Size       H-D        D-D\n")
    for line in before.splitlines():
        name, *value = line.split() or [""]
        for way in ways:
            start = "channel.%s.%s.%s." % (test, memory, ON_GPU[way])
            if name.startswith(start) and name[len(start):].isdigit():
                found.setdefault(int(name[len(start):]), {})[way] = float(value[0])
    if test == "latency":
        ways = ways + ["fastcopy"]
        stores = {int(size): (hd, dd) for size, hd, dd in map(str.split, after.splitlines())}
    rows = []
    for size in sorted(found):
        row = [found[size][way] for way in ON_GPU]
        if stores:
            row.append(float(stores[size][memory == "DD"]) if size in stores else "")
        rows.append([size] + row)
    return Table(["bytes"] + ways, rows, "lines", y, gnuplot=LOG + ["set logscale y", "set yrange [*:*]"],
                 date="2026-11-26", command="bench/gpu/run",
                 machine="NVIDIA H100 80GB HBM3, driver 580.159, 16 cores, two processes without MPS")


def figure_3a(_nodewise):
    """Figures 3a and 4b, measured (one NVIDIA H100, 2026-11-26): D-D latency
    Median of 200 round trips by the driver's copies, microseconds of half of one.
    fastcopy: the receiver's memory is one that Vulkan maps, and the CPU stores into it;
    by `nodewise bench channel latency` in an earlier run of that day."""
    return on_gpu("latency", "DD", "us")


def figure_3b(_nodewise):
    """Figures 3b and 5b, measured (one NVIDIA H100, 2026-11-26): D-D bandwidth
    Windows of 64 messages by the driver's copies; MB/s."""
    return on_gpu("bw", "DD", "MB/s")


def figure_4a(_nodewise):
    """Figure 4a, measured (one NVIDIA H100, 2026-11-26): H-D latency
    Median of 200 round trips by the driver's copies, microseconds of half of one.
    fastcopy: the receiver's memory is one that Vulkan maps, and the CPU stores into it;
    by `nodewise bench channel latency` in an earlier run of that day."""
    return on_gpu("latency", "HD", "us")


def figure_5a(_nodewise):
    """Figure 5a, measured (one NVIDIA H100, 2026-11-26): H-D bandwidth
    Windows of 64 messages by the driver's copies; MB/s."""
    return on_gpu("bw", "HD", "MB/s")


def figure_6a(nodewise):
    """Figure 6a, modelled: D-D latency on cluster B, adapter and GPU behind one switch
    The adapter reads at 2.2 GB/s, which the choice of auto does not know of.
    Median of 5 runs, shm; microseconds."""
    return table(nodewise, "latency", "DD", PROPOSED, "us", costs=CLUSTER_B)


def figure_6b(nodewise):
    """Figure 6b, modelled: D-D bandwidth on cluster B, adapter and GPU behind one switch
    The adapter reads at 2.2 GB/s, which the choice of auto does not know of.
    Median of 5 runs, shm; MB/s."""
    return table(nodewise, "bw", "DD", PROPOSED, "MB/s", costs=CLUSTER_B, turns=20)


def figure_7(nodewise):
    """Figure 7, modelled: D-D message rate of one pair
    Median of 5 runs of 20 windows of 64 messages, shm; messages a second."""
    return table(nodewise, "mbw_mr", "DD", PROPOSED, "messages/s", turns=20)


def figure_8(nodewise):
    """Figure 8, modelled: Gather, Allgather and Alltoall from device memory, 2 processes
    Median of 5 runs of 100 turns, shm; mean microseconds of a rank. The paper
    has 16 nodes; more processes than this machine's cores would measure its
    scheduler."""
    names, columns, found = ["gather", "allgather", "alltoall"], ["bytes"], []
    for test in names:
        found.append(medians(nodewise, test, "DD", PROPOSED[:3], turns=100))
        columns += ["%s %s" % (test, way) for way in PROPOSED[:3]]
    rows = [[size] + [one[way][size] for one in found for way in PROPOSED[:3]]
            for size in found[0]["loopback"]]
    return Table(columns, rows, "lines", "us", gnuplot=LOG + ["set logscale y", "set yrange [*:*]"])


def lbm(nodewise, ranks, z, way, costs="1"):
    """Microseconds per step of computation and of messages, and the digest of the result."""
    env = dict(os.environ, FAKE_CUDA_COSTS=costs, FAKE_CUDA_READABLE="1",
               NODEWISE_CHANNEL_PROTOCOL=WAYS[way][0], NODEWISE_CHANNEL_COPY=WAYS[way][1],
               NODEWISE_CHANNEL_PROVIDER="verbs;ofi_rxm", **liquid.doubles(nodewise))
    done = subprocess.run([nodewise.built("bench/channel/lbm"), str(ranks), str(z), "100"], env=env,
                          text=True, capture_output=True, check=True)
    compute, messages, digest = done.stdout.split()
    return float(compute), float(messages), digest


def figure_9(nodewise):
    """Figure 9, modelled: a lattice Boltzmann step, 32 x 32 x Z cells on 2 processes
    bench/channel/lbm: D3Q19 and a scalar, six floats a face point, twelve
    messages of 4 KiB each way; median of 5 runs of 100 steps, shm,
    the ways taking turns; microseconds per step. Computation is the time that
    the double of the driver takes for the kernel. Every run ended with the same bits as one process alone."""
    rows = []
    for z in 4, 8, 16, 32:
        alone = lbm(nodewise, 1, z, "fastcopy")[2]
        runs = {way: [] for way in PROPOSED}
        for _ in range(RUNS):
            for way in PROPOSED:
                runs[way].append(lbm(nodewise, 2, z, way))
        for way in PROPOSED:
            if any(run[2] != alone for run in runs[way]):
                raise RuntimeError("32x32x%d by %s came out otherwise than alone" % (z, way))
            compute, messages = (statistics.median(run[i] for run in runs[way]) for i in (0, 1))
            rows.append(["32x32x%d %s" % (z, way), compute, messages, compute + messages])
    return Table(["grid and protocol", "computation", "messages", "total"], rows, "bars", "us per step",
                 show=["computation", "messages"], gnuplot=["set style histogram rowstacked"])


def figure_9_loopback(nodewise):
    """Figure 9's loopback, modelled: the step at 32 x 32 x 4 with a cheaper loopback
    As figure 9, all in turns, in microseconds per step. The first column is the part
    that counts of the loopback's own cost of 1.2 us and 2 GB/s."""
    us, rate = COSTS["loopback"]
    runs = {factor: [] for factor in [0] + liquid.LOOPBACK}  # 0: rendezvous
    for _ in range(RUNS):
        for factor in runs:
            costs = "loopback:%g:%g" % (us * factor, rate / factor) if factor not in (0, 1) else "1"
            runs[factor].append(sum(lbm(nodewise, 2, 4, "loopback" if factor else "rendezvous",
                                        costs)[:2]))
    base = statistics.median(runs.pop(0))
    rows = [[factor, base, statistics.median(steps), 100 * (1 - statistics.median(steps) / base)]
            for factor, steps in runs.items()]
    return Table(["share of the loopback's cost", "rendezvous", "loopback", "less %"], rows, "bars",
                 "us per step", show=["rendezvous", "loopback"])


def order_of(values):
    return " > ".join(sorted(values, key=values.get, reverse=True))


def order(nodewise):
    """The order, modelled: latency of 8 bytes at half and double of each cost
    Both parts of the cost, latency and time a byte, times the factor. Median
    of 3 runs, shm; microseconds."""
    rows = []
    for memory in "HD", "DD":
        for kind in ["none"] + list(COSTS):
            for factor in (1,) if kind == "none" else (0.5, 2):
                us, rate = COSTS.get(kind, (0, 0))
                costs = "1" if kind == "none" else "%s:%g:%g" % (kind, us * factor, rate / factor)
                found = medians(nodewise, "latency", memory, list(WAYS)[:4], costs=costs, runs=3)
                at8 = {way: found[way][8] for way in found}
                rows.append([memory, kind, factor] + [at8[w] for w in at8] + [order_of(at8)])
    return Table(["memory", "cost", "factor"] + list(WAYS)[:4] + ["order"], rows, None)


def host(nodewise):
    """Host to host, measured: a bare fi_sendv ping-pong and the channel, alternating
    bench/channel/bare: median over 20 openings of 15 turns of 100 round trips,
    each process on a core of its own; microseconds. The bare one sends header and payload too,
    but copies nothing out of its receive buffer."""
    rows = []
    for provider in "shm", "tcp;ofi_rxm":
        for line in nodewise.script(nodewise.built("bench/channel/bare"),
                                    provider).splitlines()[1:]:
            size, bare, _, _, gather, pack, _, auto, *more = map(float, line.split())
            rows.append([provider, int(size), bare, gather, pack, auto, 100 * (auto / bare - 1)] + more)
    return Table(["provider", "bytes", "bare", "gather", "pack", "auto", "auto over bare %",
                  "bare pack more ns", "bare pack more than word ns", "pack more ns"], rows, None)


EXPERIMENTS = [figure_3a, figure_3b, figure_4a, figure_5a, figure_6a, figure_6b,
               figure_7, figure_8, figure_9, figure_9_loopback, order, host]
for _experiment in EXPERIMENTS:
    if "measured (" not in _experiment.__doc__:
        _experiment.needs = no_double
    _experiment.seed = "none, nothing is random"
EXPERIMENTS[10:10] = liquid.EXPERIMENTS


def column(data, name, way, low=0, high=LARGEST):
    return {int(r["bytes"]): float(r[way]) for r in data.table(name)["rows"]
            if low <= int(r["bytes"]) <= high}


def below(data, name, way, base="rendezvous", **limits):
    """By how many per cent `way` is below `base`: the least, the most, and where the most
    is."""
    ours, theirs = column(data, name, way, **limits), column(data, name, base, **limits)
    less = {size: 100 * (1 - ours[size] / theirs[size]) for size in ours}
    best = max(less, key=less.get)
    return min(less.values()), less[best], best


def times(data, name, way, base="rendezvous", **limits):
    """How many times as large as `base` `way` is, on average and at most, and where the
    most is."""
    ours, theirs = column(data, name, way, **limits), column(data, name, base, **limits)
    more = {size: ours[size] / theirs[size] for size in ours}
    best = max(more, key=more.get)
    return statistics.mean(more.values()), more[best], best


def at(data, name, way, size=8):
    return column(data, name, way, size, size)[size]


def say_3a(data):
    return ("At 8 B the naive copy takes %.1f us, rendezvous %.1f us and the CPU's stores %.1f us. The paper has about 10 us, "
            "6 us and less. On this GPU rendezvous gains nothing over the naive copy. Stores replace one of its two "
            "copies. The paper's figure 4b also has loopback, which never ran on hardware here."
            % tuple(at(data, "figure_3a", way) for way in ("naive", "rendezvous", "fastcopy")))


def say_3b(data):
    mean, _, _ = times(data, "figure_3b", "naive", "rendezvous")
    return ("The naive copy reaches %.0f %% of rendezvous' bandwidth on average up to 8 KiB; in the paper it reaches 30 %%. "
            "In the paper's rendezvous an adapter reads the GPU. Here the driver copies in both, and rendezvous adds its "
            "handshake." % (100 * mean))


def say_4a(data):
    best = below(data, "figure_4a", "fastcopy", "naive")
    return ("At 8 B the naive copy takes %.1f us, rendezvous %.1f us and the CPU's stores %.1f us. Stores take up to %.0f %% less "
            "time than the naive copy (at %d B); in the paper fastcopy takes up to 63 %% less than rendezvous. The "
            "receiver's memory comes from the channel. GDRCopy could map any memory, but never ran on hardware here."
            % (*(at(data, "figure_4a", way) for way in ("naive", "rendezvous", "fastcopy")), best[1], best[2]))


def say_bandwidth(data, name, paper):
    loop, fast = times(data, name, "loopback"), times(data, name, "fastcopy")
    return ("Loopback reaches up to %.1f times the bandwidth of rendezvous (at %d B), fastcopy up to %.1f times (at %d B); %s "
            % (loop[1], loop[2], fast[1], fast[2], paper))


def say_5a(data):
    mean, best, size = times(data, "figure_5a", "naive")
    return ("The naive copy has %.2f times the bandwidth of rendezvous on average up to 8 KiB, and at most %.2f times (at %d B). "
            "The paper compares loopback and fastcopy with rendezvous; their bandwidth was not measured here."
            % (mean, best, size))


def say_6a(data):
    loop, fast = (statistics.mean(100 * (1 - ours / theirs) for ours, theirs in zip(
        column(data, "figure_6a", way).values(), column(data, "figure_6a", "rendezvous").values()))
        for way in ("loopback", "fastcopy"))
    return ("On average the latency of loopback is %.0f %% %s that of rendezvous, and that of fastcopy %.0f %% below it (paper: "
            "4 and 35 %% below). From 2 KiB on, the data of loopback crosses the adapter's link often enough to cost more "
            "than the handshake."
            % (abs(loop), "below" if loop > 0 else "above", fast))


def say_6b(data):
    other = times(data, "figure_6b", "fastcopy", "loopback")
    return say_bandwidth(data, "figure_6b", "paper: 1.1 and 2 times.") + (
        "Fastcopy has %.1f times the bandwidth of loopback on average (paper: 1.7)." % other[0])


def say_7(data):
    loop, fast = times(data, "figure_7", "loopback"), times(data, "figure_7", "fastcopy")
    return ("On average over the sizes, loopback has %.2f times the message rate of rendezvous and fastcopy %.1f times (paper: "
            "0.95 and 1.6 times). The rates fall beyond 512 B, as in the paper."
            % (loop[0], fast[0]))


def say_8(data):
    words = []
    for test, paper in ("gather", "49 % at 256 B"), ("allgather", "47 % at 32 B"), ("alltoall", "67 % at 256 B"):
        _, loop, at = below(data, "figure_8", test + " loopback", test + " rendezvous")
        _, fast, there = below(data, "figure_8", test + " fastcopy", test + " rendezvous")
        words.append("- %s: loopback up to %.0f %% less at %d B, fastcopy up to %.0f %% less at %d B (paper, loopback on 16 "
                     "nodes: up to %s)" % (test.capitalize(), loop, at, fast, there, paper))
    return ("Time saved over rendezvous:\n\n" + "\n".join(words) + "\n\nHere two processes have one handshake in progress "
            "each. On the paper's sixteen nodes a process has fifteen, and rendezvous pays for all of them. We cannot "
            "reproduce this gain: with more processes than cores, we would measure the scheduler.")


def say_9(data):
    rows = {r["grid and protocol"]: r for r in data.table("figure_9")["rows"]}
    base = rows["32x32x4 rendezvous"]
    words = []
    for way, paper in ("loopback", "18.8 and 5.3"), ("fastcopy", "23.4 and 15.4"), ("auto", None):
        total, part = (100 * (float(rows["32x32x4 " + way][what]) / float(base[what]) - 1)
                       for what in ("total", "messages"))
        words.append("- %s: total %+.1f %%, messages %+.1f %%%s"
                     % (way, total, part, " (paper: %s %% less)" % paper if paper else ""))
    return ("At 32x32x4, relative to rendezvous:\n\n" + "\n".join(words) + "\n\nLoopback gains little or nothing: each of "
            "these messages has 4 KiB. At the reference's rates the loopback of 4 KiB takes 3.2 us, about as long as the "
            "handshake that it saves. If the two cores are far from each other, the handshake takes longer and loopback "
            "gains more (next figure). The computation is short, because the modelled kernel is faster than the paper's "
            "K40, so the total falls as the messages do. In the paper it falls more, because more of it overlaps.")


def say_9_loopback(data):
    rows = data.table("figure_9_loopback")["rows"]
    return ("The gain of loopback depends on its cost relative to the handshake. At the reference's cost the step takes "
            "%+.1f %% relative to rendezvous, at half of this cost %+.1f %%, at a quarter %+.1f %% (paper: -18.8 %%). With "
            "rendezvous the step of %.0f us sends three messages through shared memory for each of its twelve; "
            "their latency varies between runs." %
            (*(-float(r["less %"]) for r in rows), float(rows[0]["rendezvous"])))


def say_order(data):
    rows = data.table("order")["rows"]
    paper = "naive > rendezvous > loopback > fastcopy"
    other = ["%s x%s (%s)" % (r["cost"], r["factor"], r["memory"]) for r in rows if r["order"] != paper]
    return ("The paper's order, %s, results in %d of %d settings. Other orders: %s. `none` has the costs "
            "unchanged." % (paper, len(rows) - len(other), len(rows),
                                       ", ".join(other) or "none"))


def say_host(data):
    rows = data.table("host")["rows"]
    ours = "auto" if "auto" in rows[0] else "gather"  # of an earlier state
    over = {p: max(float(r[ours + " over bare %"]) for r in rows if r["provider"] == p)
            for p in ("shm", "tcp;ofi_rxm")}
    large = [r for r in rows if 1024 <= int(r["bytes"]) <= 8192]
    faster = [r for r in large if float(r["pack more ns"]) > 0]
    slower = [r for r in large if r not in faster]
    more = [float(r["pack more ns"]) for r in faster]
    added = [1e3 * (float(r[ours]) - float(r["bare"])) for r in rows
             if r["provider"] == "shm" and int(r["bytes"]) <= 2048]
    at = {p: max((r for r in rows if r["provider"] == p),
                 key=lambda r: float(r[ours + " over bare %"]))["bytes"] for p in over}
    words = ("The channel adds at most %.1f %% over `shm` (at %s B) and %.1f %% over `tcp;ofi_rxm` (at %s B; our aim: 15 %%). "
             "Over `shm` it adds %.0f to %.0f ns up to 2 KiB. A negative value is possible, because the wait of the channel "
             "polls less often, and each poll takes a lock that the sender needs. From 1 KiB on, the channel also copies "
             "the payload out of its receive buffer; the bare program does not. Beyond 4 KiB `shm` calls the kernel for "
             "every message. The channel sends in parts that need no such call, and is faster. From 1 KiB on, packing "
             "takes %.0f to %.0f ns more than scatter-gather (alternating round trips, mean of the middle half of the "
             "differences)" %
             (over["shm"], at["shm"], over["tcp;ofi_rxm"], at["tcp;ofi_rxm"], min(added), max(added),
              min(more), max(more)))
    if not slower:
        return words + "."
    return words + ", except " + ", ".join(
        "%s at %s B (%.0f ns less; bare, %.0f ns %s)" %
        (r["provider"], r["bytes"], -float(r["pack more ns"]), abs(float(r["bare pack more ns"])),
         "more" if float(r["bare pack more ns"]) > 0 else "less")
        for r in slower) + (". Up to 3 KiB the two are nearly equal, and the sizes vary between runs. Scatter-gather takes "
                            "192 instructions less at 1 KiB and 288 less at 2 KiB, but `shm` copies while it holds the "
                            "receiver's lock, and over `tcp;ofi_rxm` the kernel gets three pieces instead of two.")


SAY = {"figure_9_loopback": say_9_loopback, "figure_3a": say_3a, "figure_3b": say_3b, "figure_4a": say_4a,
       "figure_5a": say_5a, "figure_6a": say_6a, "figure_6b": say_6b,
       "figure_7": say_7, "figure_8": say_8, "figure_9": say_9, "order": say_order, "host": say_host,
       **liquid.SAY}


def words(name, data):
    return SAY[name](data)
