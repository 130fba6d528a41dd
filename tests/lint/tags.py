#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a tag (struct, union, enum) has one meaning in the whole tree, also if only
one file uses it."""
import re

import tree

TAG = re.compile(r"\s*(?:static |typedef )?(?:const )?(?:struct|union|enum) (\w+) \{")


def main():
    places = {}
    for name in tree.files(".c", ".h"):
        if not name.startswith(("src/", "include/")):
            continue
        for number, line in enumerate(tree.text(name).split("\n"), 1):
            found = TAG.match(line)
            if found:
                places.setdefault(found[1], []).append("%s:%d" % (name, number))
    tree.finish(["%s: %s is also in %s" % (where, tag, ", ".join(
                     other for other in wheres if other != where))
                 for tag, wheres in sorted(places.items()) if len(wheres) > 1
                 for where in wheres])


main()
