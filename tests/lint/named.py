#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that source files exist if a README or another .md file names them in backquotes.
A name is relative to the folder of the .md file or a folder below, to the top of the tree,
to src/ or to include/. Also checks that every test program that a script starts has a
source, and that every folder of src/ has a README."""
import fnmatch
import os
import re

import tree

WORD = re.compile(r"`([\w./*-]+\.(?:c|h|cpp|cu|f90|py|table|map|md|scd|t|yaml))`")
FOREIGN = {"mpi.h", "netcdf.h"}
SKIPPED = {"CHANGELOG.md"}  # also names files that no longer exist


def main():
    files = tree.files()
    breaches = ["%s: has no README.md" % os.path.dirname(build)
                for build in files if re.match(r"src/\w+/meson\.build$", build)
                and build.replace("meson.build", "README.md") not in files]
    for page in tree.files(".md"):
        here = os.path.dirname(page)
        for number, line in enumerate(tree.text(page).splitlines(), 1):
            for word in set(WORD.findall(line)) - FOREIGN:
                near = [os.path.normpath(os.path.join(folder, word)) for folder in
                        (here, os.path.join(here, "*"), "", "src", "include")]
                if page not in SKIPPED and not any(
                        fnmatch.filter(files, path) for path in near):
                    breaches.append("%s:%d: there is no %s" % (page, number, word))
    # programs that `make check` does not start by these scripts
    for script in [name for name in files if re.match(r"scripts/\w|tests/.*races$", name)]:
        for number, line in enumerate(tree.text(script).splitlines(), 1):
            breaches += ["%s:%d: there is no tests/unit/test_%s.c" % (script, number, name)
                         for name in re.findall(r"tests/unit/test-(\w+)", line)
                         if "tests/unit/test_%s.c" % name not in files and "$" not in line]
    tree.finish(breaches)


main()
