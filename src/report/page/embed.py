#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the style and the script of the report as C: embed.py OUT.c page.css page.js.

The page puts the script into a CDATA section, so that it is valid XML and HTML.
"""
import re
import sys


def quote(line):
    return '"%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"')


def lines(path):
    text = open(path, encoding="ascii").read()
    if "]]>" in text or "</" in text or "//" in text:
        sys.exit("%s: ']]>', '</' and '//' may not stand in it" % path)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [line.strip() for line in text.splitlines() if line.strip()]


def main(out, paths):
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "report/page/page.h"\n')
        for path in paths:
            name = "style" if path.endswith(".css") else "script"
            file.write("\nconst char nw_page_%s[] =\n    %s;\n" %
                       (name, "\n    ".join(quote(line) for line in lines(path))))


main(sys.argv[1], sys.argv[2:])
