#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the name of a static function is in only one file of src/, so that ctags, gdb
and grep find the function. A name must have two words; the first says where it is."""
import re

import tree

DEFINITION = re.compile(r"^static (?:inline )?(?:const )?(?:[\w* ]+?[ *\n]+)(\w+)\(", re.M)


def main():
    places = {}
    for name in tree.files(".c"):
        if name.startswith("src/"):
            code = re.sub(r"/\*.*?\*/", "", tree.text(name), flags=re.S)
            for static in set(DEFINITION.findall(code)):
                places.setdefault(static, []).append(name)
    one_word = ["%s: the static %s needs a prefix" % (names[0], static)
                for static, names in sorted(places.items()) if "_" not in static]
    tree.finish(one_word + ["%s: the static %s is also in %s" % (name, static, ", ".join(
                     other for other in names if other != name))
                 for static, names in sorted(places.items()) if len(names) > 1
                 for name in names])


main()
