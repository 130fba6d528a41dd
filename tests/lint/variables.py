#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The NODEWISE_ variables that the sources read, those that doctor --env lists
and those that the man pages tell of are the same, with the same values.
variables.py NODEWISE"""
import json
import os
import re
import subprocess
import sys

import tree

NAME = re.compile(r"NODEWISE_[A-Z_]*[A-Z]")
READ = re.compile(r"""(?:"|\$\{?)(NODEWISE_[A-Z_]*[A-Z])(?=["}\]; ])""")
TOLD = re.compile(r"^\*(NODEWISE_\w+)\*(?:=(.*))?$", re.M)
TABLE = "src/base/environment.c"
# variables of the test doubles, which are documented beside them
DOUBLES = "tests/support/fake_cuda/README.md"


def listed(nodewise):
    done = subprocess.run([nodewise, "doctor", "--env", "--json"], check=True,
                          capture_output=True, text=True)
    return {one["name"]: one["values"]
            for one in json.loads(done.stdout)["variables"]}


def read():
    """{name: a file whose code has it as a word}."""
    return {name: file for file in tree.files(".c", ".h", ".in")
            if file.startswith(("src/", "tests/support/")) and file != TABLE
            for name in READ.findall(tree.text(file))}


def told():
    """(name, values, file, line) of each definition in a page."""
    for file in tree.files(".scd"):
        for number, line in enumerate(tree.text(file).splitlines(), 1):
            match = TOLD.match(line)
            if match:
                values = re.sub(r"[*_\\](?![A-Z])|(?<![A-Z])_", "", match[2] or "")
                yield match[1], values, file, number


def main(nodewise):
    table, code, pages = listed(nodewise), read(), list(told())
    doubles = NAME.findall(tree.text(DOUBLES))
    breaches = ["%s:1: reads %s, which %s does not list" % (code[name], name, TABLE)
                for name in sorted(set(code) - set(table))]
    breaches += ["%s:1: nothing reads %s" % (TABLE, name)
                 for name in sorted(set(table) - set(code))]
    breaches += ["%s:1: no page tells of %s" % (TABLE, name) for name in
                 sorted(set(table).difference(doubles, (one[0] for one in pages)))]
    for name, values, file, number in pages:
        if name not in table:
            breaches.append("%s:%d: there is no %s" % (file, number, name))
        elif values and values != table[name]:
            breaches.append("%s:%d: %s=%s is %s in %s"
                            % (file, number, name, values, table[name], TABLE))
    breaches += ["%s:1: there is no %s" % (file, name)
                 for file in tree.files(".scd", ".md") if file != "CHANGELOG.md"
                 for name in sorted(set(NAME.findall(tree.text(file))) - set(table))]
    if not code or not pages:
        breaches.append("no variables were found")
    tree.finish(breaches)


main(os.path.abspath(sys.argv[1]))
