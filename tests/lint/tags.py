#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A tag (struct nw_..., union, enum) means one thing in the whole tree."""
import re

import tree


def main():
    places = {}
    for name in tree.files(".c", ".h"):
        if not name.startswith(("src/", "include/")):
            continue
        for number, line in enumerate(tree.text(name).split("\n"), 1):
            found = re.match(r"\s*(?:typedef )?(?:struct|union|enum) (nw_\w+) \{", line)
            if found:
                places.setdefault(found[1], []).append("%s:%d" % (name, number))
    tree.finish(["%s: %s is also in %s" % (where[0], tag, ", ".join(where[1:]))
                 for tag, where in sorted(places.items()) if len(where) > 1])


main()
