#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every public header stands alone, in C11 and in C++; every header of ours
has its include guard.  headers.py COMPILER..."""
import os
import re
import subprocess
import sys

import tree


def compiles(compiler, header, language):
    command = compiler + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                          "-x", language, "-I", "include", "-"]
    done = subprocess.run(command, input="#include <%s>\n" % header, text=True,
                          cwd=tree.SOURCE, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().split("\n")[0]


breaches = []
for name in tree.files(".h"):
    if not name.startswith(("include/", "src/")):
        continue
    guard = re.search(r"^#ifndef (\w+_H)\n#define \1$", tree.text(name), re.M)
    if not guard:
        breaches.append("%s:1: no include guard" % name)
    if name.startswith("include/"):
        for language in ("c", "c++"):
            why = compiles(sys.argv[1:], os.path.relpath(name, "include"), language)
            if why:
                breaches.append("%s: as %s: %s" % (name, language, why))
tree.finish(breaches)
