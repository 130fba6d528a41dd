#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the libraries show and need: libnodewise the functions that the public
headers declare, libnodewise-channel those of channel.h and status.h, the preloaded ones names of MPI and NCCL and what headers declare;
at load time only libc, libm and the loader, and libnodewise OpenMP for its solver.
No library calls functions that change the whole process.
exports.py LIBNODEWISE LIBNODEWISE_CHANNEL NCCL_PROFILER [PRELOADED...]"""
import os
import re
import subprocess
import sys

import tree

# functions that no library may call, since they change the program that has loaded it
FORBIDDEN = {"fork", "vfork", "umask", "putenv", "exit", "_exit", "signal", "system", "popen",
             "clearenv", "alarm", "setitimer", "chdir", "setlocale", "quick_exit", "_Exit", "abort",
             "raise", "execve", "execv", "execvp", "dup2", "sigprocmask", "mprotect", "ptrace"}
# nw_launch_choose_gpus and nw_launch_choose_nic of libnodewise set variables: that is what
# they promise to a program that calls them
FORBIDDEN_PRELOADED = {"setenv", "unsetenv"}
MAY_NEED = re.compile(r"(libc|libm|ld-linux.*|libpthread|libdl)\.so\.")


def shown(library):
    out = subprocess.run([tree.need("nm"), "-D", "--defined-only", library],
                         capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {row[2].split("@")[0] for row in rows if len(row) == 3 and row[1] != "A"}


def needed(library):
    out = subprocess.run([tree.need("readelf"), "-d", library],
                         capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", out)


def called(library):
    out = subprocess.run([tree.need("nm"), "-D", "--undefined-only", library],
                         capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def declared(word="NW_API", only=()):
    names = set()
    for header in tree.files(".h"):
        if not header.startswith("include/nodewise/") or (
                only and os.path.basename(header) not in only):
            continue
        code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", tree.text(header), flags=re.S)
        code = re.sub(r"__attribute__\s*\(\(.*?\)\)|NW_PRINTF\([^)]*\)", " ", code)
        code = re.sub(r"^\s*#.*$", "", code, flags=re.M)
        names |= set(re.findall(r"\b%s\b[^;{(#]*?\b(nw_\w+)\s*[(;\[]" % word, code))
    return names


def main(libnodewise, channel, nccl_profiler, preloaded):
    breaches = []
    have, want = shown(libnodewise), declared()
    breaches += ["libnodewise shows %s, which no public header declares" % n
                 for n in sorted(have - want)]
    breaches += ["libnodewise lacks %s, which a public header declares" % n
                 for n in sorted(want - have)]
    have, want_channel = shown(channel), declared(only=("channel.h", "status.h"))
    breaches += ["libnodewise-channel shows %s, or lacks it" % n
                 for n in sorted(have ^ want_channel)]
    own = declared("NW_MPI_API")
    for library in preloaded:
        breaches += ["%s shows %s" % (library, name) for name in sorted(shown(library))
                     if not re.match(r"P?MPIX?_|p?mpi_|nccl[A-Z]", name) and name not in own | want]
        breaches += ["%s lacks %s" % (library, name)
                     for name in sorted(own - shown(library))]
        if not shown(library):
            breaches.append("%s shows nothing" % library)
    if shown(nccl_profiler) != {"ncclProfiler_v%d" % v for v in range(1, 7)}:
        breaches.append("%s shows other names than ncclProfiler_v1 to v6" % nccl_profiler)
    for library in [libnodewise, channel, nccl_profiler] + preloaded:
        breaches += ["%s calls %s" % (library, name)
                     for name in sorted(called(library) & (
                         FORBIDDEN | (FORBIDDEN_PRELOADED if library != libnodewise else set())))]
        breaches += ["%s needs %s at load time" % (library, name)
                     for name in needed(library) if not MAY_NEED.match(name)
                     and not (library == libnodewise and name.startswith(("libgomp.", "libomp.")))]
    tree.finish(breaches)


main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
