#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the bundled cluster files as C: embed.py OUT.c FILE.yaml...

The first line of each is '# NAME: SUMMARY', or '# NAME:N: SUMMARY' where the
number of nodes is the user's choice.
"""
import os, re, sys

def quote(text):
    out = ""
    for byte in text.encode("utf-8"):
        char = chr(byte)
        out += char if 32 <= byte < 127 and char not in '"\\?' else "\\%03o" % byte
    return '"%s"' % out

def entry(path):
    text = open(path, encoding="utf-8").read()
    name = os.path.basename(path)[:-len(".yaml")]
    first = re.match(r"# ([a-z0-9-]+)(:N)?: (.+)\n", text)
    if not first or first.group(1) != name:
        sys.exit("%s:1: must be '# %s: SUMMARY'" % (path, name))
    lines = "\n     ".join(quote(line) for line in text.splitlines(keepends=True))
    return "    {%s, %s, %s,\n     %s},\n" % (
        quote(name), quote(first.group(3)), "true" if first.group(2) else "false", lines)

def main(out, paths):
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "topology/cluster/bundled.h"\n\n'
                   "const struct nw_bundled nw_bundled_clusters[] = {\n")
        file.writelines(entry(path) for path in paths)
        file.write("    {0},\n};\n")

main(sys.argv[1], sys.argv[2:])
