#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every public header stands alone, in C11 and in C++, and its options can be
initialised in both; every header of ours has its include guard; libnodewise(3) names
the structs that functions hide from C++.  headers.py COMPILER..."""
import os
import re
import subprocess
import sys

import tree


def initialised(text):
    """A variable of each struct that has an initialiser."""
    for name in re.findall(r"#define (NW_\w+_INIT)\b", text):
        of = re.search(r"sizeof\(struct (\w+)\)", text[text.index("#define " + name):])
        yield "extern struct %s a; struct %s a = %s;\n" % (of.group(1), of.group(1), name)


def compiles(compiler, header, language):
    command = compiler + ["-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                          "-Wno-missing-field-initializers",
                          "-x", language, "-I", "include", "-"]
    lines = ["#include <%s>\n" % header]
    lines += [line.replace(" a", " of_%d" % i) for i, line in
              enumerate(initialised(tree.text("include/" + header)))]
    done = subprocess.run(command, input="".join(lines), text=True,
                          cwd=tree.SOURCE, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().split("\n")[0]


def hidden():
    """Structs that have the name of a function: C++ needs the word struct for them."""
    text = "".join(re.sub(r"/\*.*?\*/", "", tree.text(name), flags=re.S)
                   for name in tree.files(".h") if name.startswith("include/"))
    return sorted(set(re.findall(r"\bstruct (nw_\w+) \{", text))
                  & set(re.findall(r"(?<!struct )(?<!= )\b(nw_\w+)\(", text)))


breaches = ["man/libnodewise.3.scd:1: does not name struct %s, which C++ does not see" % name
            for name in hidden()
            if "*%s*" % name not in tree.text("man/libnodewise.3.scd")]
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
