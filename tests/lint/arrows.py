#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Modules include only modules above them, folders of a module only the folders that the
second table names, and a foreign header is included only at home. ARCHITECTURE.md has the
same tables, by folder."""
import re

import tree

BASE = {"base"}
NOUNS = BASE | {"topology", "pattern"}
COST = NOUNS | {"cost"}
MAP = COST | {"map"}

# module: the other modules of which it may include headers
ARROWS = {
    "base": set(),
    "topology": BASE,
    "pattern": BASE,
    "cost": NOUNS,
    "map": COST,
    "rowcol": COST,
    "launch": MAP,
    "simulate": MAP,
    "report": MAP | {"launch", "simulate"},
    "gpu": BASE,
    "runtime": MAP | {"gpu", "channel"},
    "probe": BASE | {"topology", "gpu", "launch"},
    "channel": BASE | {"gpu"},
    "halo": MAP | {"channel", "gpu", "runtime"},
    "mpdata": MAP | {"halo", "rowcol"},
    "bench": BASE | {"gpu"},
    "reader": NOUNS,
    "cli": BASE,
}

# folder of a module: the other folders of it that it may include, beside the files of the
# module itself. src/map has an order of its own (circles.py).
FOLDERS = {
    "channel": {"fabric": set(), "memory": {"fabric"}, "proto": set(), "tune": {"memory"},
                "wireup": {"fabric", "memory", "proto"}},
    "runtime": {"messages": set(), "nccl": set(), "profile": set(), "reorder": set()},
    "halo": {"plan": set(), "exchange": {"plan"}},
    "topology": {"network": set(), "parse": set(), "compose": set(), "gpu": {"parse"},
                 "hwloc": {"gpu", "parse"}, "infiniband": {"network"},
                 "cluster": {"hwloc", "network", "parse"},
                 "export": {"gpu", "network"}, "kubernetes": {"network", "parse", "slurm"},
                 "slurm": {"cluster", "network", "parse"}},
    "pattern": {"nccl": set()},
    "mpdata": {"program": set()},
    "gpu": {"kernels": set()},
}

# public header: the module that implements it
PUBLIC = {
    "status": "base", "progress": "base", "topology": "topology",
    "pattern": "pattern", "mapping": "cost", "cost": "cost", "map": "map",
    "launch": "launch", "simulate": "simulate", "report": "report",
    "profile": "runtime", "reorder": "runtime", "probe": "probe", "gpu": "gpu", "channel": "channel", "channel_mpi": "channel", "halo": "halo",
    "halo_mpi": "halo", "rowcol": "rowcol",
    "mpdata": "mpdata",
}

# first part of a foreign header's name: the modules in which it may be included
HOMES = {
    "zstd.h": BASE, "jansson.h": BASE,
    "hwloc": {"topology"}, "hwloc.h": {"topology"}, "yaml.h": {"topology"},
    "cyaml": {"topology"}, "expat.h": {"topology"},
    "otf2": {"pattern"},
    "scotch.h": {"map"},
    "simgrid": {"simulate"},
    "libsmartcols.h": {"report"},
    "mpi.h": {"runtime", "probe", "channel", "halo", "mpdata", "bench"},
    "mpi-ext.h": {"runtime"},
    "rdma": {"channel"}, "pmix.h": {"channel"},
    "omp.h": {"mpdata"}, "netcdf.h": {"mpdata"},
    "argp.h": {"cli", "bench", "mpdata"},
}

# headers of libc and the kernel, which every module may include
SYSTEM = set("""
arpa assert.h cpuid.h ctype.h dirent.h dlfcn.h endian.h errno.h fcntl.h float.h ftw.h
getopt.h glob.h ifaddrs.h immintrin.h inttypes.h langinfo.h libgen.h limits.h
link.h linux locale.h malloc.h math.h net netdb.h netinet poll.h pthread.h pwd.h sched.h
search.h semaphore.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h
stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h sys syscall.h
termios.h time.h ucontext.h unistd.h wchar.h x86intrin.h execinfo.h fnmatch.h
elf.h regex.h
""".split())


def room_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check_folder(name, header):
    """Checks an include from a folder of a module into another folder of it."""
    ours, theirs = name.split("/")[1:], header.split("/")
    if len(ours) < 3 or ours[0] not in FOLDERS or len(theirs) < 3 or theirs[0] != ours[0] \
            or theirs[1] == ours[1]:
        return None
    if ours[1] not in FOLDERS[ours[0]]:
        return "folder '%s' is not in tests/lint/arrows.py" % "/".join(ours[:2])
    if theirs[1] in FOLDERS[ours[0]][ours[1]]:
        return None
    return "%s may not know %s (%s)" % ("/".join(ours[:2]), "/".join(theirs[:2]), header)


def check_own(room, header):
    """A header of ours: 'topology/route.h' or 'nodewise/topology.h'."""
    first, _, rest = header.partition("/")
    if first == "nodewise":
        target = PUBLIC.get(rest.removesuffix(".h"))
        if target is None:
            return None if rest == "nodewise.h" and room == "cli" else \
                "<%s> has no room in tests/lint/arrows.py" % header
        if room == "cli":
            return None
    else:
        target = first
    if target == room or target in ARROWS[room]:
        return None
    return "%s may not know %s (%s)" % (room, target, header)


def check_foreign(room, header):
    first, last = header.split("/")[0], header.split("/")[-1]
    if first in SYSTEM or "." not in header:  # <vector>: the C++ library
        return None
    if first not in HOMES:  # <scotch-int64/scotch.h>
        first = last
    if first not in HOMES:
        return "<%s> has no home in tests/lint/arrows.py" % header
    if room not in HOMES[first]:
        return "<%s> belongs to %s" % (header, ", ".join(sorted(HOMES[first])))
    return None


def main():
    breaches = []
    for name in tree.files(".c", ".h", ".cpp", ".hpp"):
        room = room_of(name)
        if room is None:
            continue
        if room not in ARROWS:
            breaches.append("%s:1: room '%s' is not in tests/lint/arrows.py"
                            % (name, room))
            continue
        for number, line in enumerate(tree.text(name).split("\n"), 1):
            found = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
            if not found:
                continue
            header = found[1] or found[2]
            if found[1] and ("/" not in header or header == "config.h"):
                continue  # a header in the same folder, or one that the build generates
            own = found[1] or header.startswith("nodewise/")
            why = (check_own if own else check_foreign)(room, header)
            why = why or (found[1] and check_folder(name, header))
            if why:
                breaches.append("%s:%d: %s" % (name, number, why))
    scotch = [n for n in tree.files(".c", ".h") if "scotch.h>" in tree.text(n)]
    if len(scotch) > 1:
        breaches.append("scotch.h stands in more than one file: %s" % scotch)
    tree.finish(breaches)


main()
