#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every public header compiles alone, in C11 and in C++, and its options can be
initialised in both. Headers that need mpi.h may stand before it or after it. Every
header of ours has an include guard. In C++ no function has the name of a struct.
headers.py COMPILER..."""
import os
import re
import subprocess
import sys
import tempfile

import tree


def initialised(text):
    """Statements with a variable of each struct that has an initialiser."""
    for name in re.findall(r"#define (NW_\w+_INIT)\b", text):
        of = re.search(r"sizeof\(struct (\w+)\)", text[text.index("#define " + name):])
        yield "extern struct %s a; struct %s a = %s;\n" % (of.group(1), of.group(1), name)


# the part of MPI that our headers use
MPI = """#ifndef MPI_H
#define MPI_H
#define MPI_VERSION 3
typedef int MPI_Comm;
#endif
"""


def compiles(compiler, header, language, mpi):
    """Whether the header compiles, also after it was included before mpi.h."""
    command = compiler + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                          "-Wno-missing-field-initializers",
                          "-x", language, "-I", "include", "-I", mpi, "-"]
    lines = ["#include <%s>\n" % header]
    if header.endswith("_mpi.h"):
        lines = ["#include <%s>\n#include <mpi.h>\n" % header.replace("_mpi", "")] + lines
        lines.append("extern __typeof__(&%s) used;\n" % NEEDS_MPI[os.path.basename(header)])
    lines += [line.replace(" a", " of_%d" % i) for i, line in
              enumerate(initialised(tree.text("include/" + header)))]
    done = subprocess.run(command, input="".join(lines), text=True,
                          cwd=tree.SOURCE, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().split("\n")[0]


def hidden():
    """Structs that have the name of a function, which would hide them from C++."""
    text = "".join(re.sub(r"#ifndef __cplusplus.*?#endif|/\*.*?\*/", "", tree.text(name),
                          flags=re.S)
                   for name in tree.files(".h") if name.startswith("include/"))
    return sorted(set(re.findall(r"\bstruct (nw_\w+) \{", text))
                  & set(re.findall(r"(?<!struct )(?<!= )\b(nw_\w+)\(", text)))


NEEDS_MPI = {"halo_mpi.h": "nw_halo_plan", "channel_mpi.h": "nw_channel_open_mpi"}
breaches = ["include/nodewise: %s is the name of a struct and of a function" % name
            for name in hidden()]
folder = tempfile.TemporaryDirectory()
with open(os.path.join(folder.name, "mpi.h"), "w", encoding="utf-8") as file:
    file.write(MPI)
for name in tree.files(".h"):
    if not name.startswith(("include/", "src/")):
        continue
    guard = re.search(r"^#ifndef (\w+_H)\n#define \1$", tree.text(name), re.M)
    if not guard:
        breaches.append("%s:1: no include guard" % name)
    if name.startswith("include/"):
        for language in ("c", "c++"):
            why = compiles(sys.argv[1:], os.path.relpath(name, "include"), language,
                           folder.name)
            if why:
                breaches.append("%s: as %s: %s" % (name, language, why))
tree.finish(breaches)
