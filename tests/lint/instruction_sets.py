#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the function that chooses kernels by the CPU asks for every extension with which
the compiler builds these kernels. instruction_sets.py COMPILER..."""
import platform
import re
import subprocess
import sys

import tree

CHOICE = "src/mpdata/select_kernels.c"
# These extensions are not asked for: __builtin_cpu_supports() of clang 14 does not know
# them, or another extension that is asked for includes them.
# gcc 14 and later count the lengths of AVX-512's registers as extensions (evex).
IMPLIED = {"avx", "crc32", "evex256", "evex512", "f16c", "lzcnt", "movbe", "popcnt", "sse3",
           "ssse3", "sse4_1", "sse4_2", "xsave", "lahf_sahf"}


def extensions(flags):
    """The extensions that the compiler uses with these flags, but not without them."""
    defined = []
    for more in flags, []:
        done = subprocess.run(sys.argv[1:] + more + ["-dM", "-E", "-x", "c", "/dev/null"],
                              capture_output=True, text=True, check=True)
        defined.append(set(re.findall(r"#define __([A-Z][A-Z0-9_]+?)__ 1$", done.stdout, re.M)))
    return {name.lower() for name in defined[0] - defined[1]} - IMPLIED


def asked(code, at):
    """The extensions for which the condition before the kernels `at` asks."""
    condition = code[:code.index("&nw_mpdata_kernels_float_" + at)].rsplit("if (", 1)[1]
    call = re.match(r"(\w+)\(\)\)", condition)
    if call:
        condition = code[code.index(call.group(1) + "(void)\n{"):].split("\n}", 1)[0]
    return set(re.findall(r'__builtin_cpu_supports\("(\w+)"\)', condition))


def main():
    if platform.machine() != "x86_64":
        sys.exit(77)
    kernels = re.findall(r"'(v\d)': \[(.*?)\]", tree.text("src/mpdata/meson.build"))
    code = tree.text(CHOICE)
    tree.finish(["%s: the kernels %s use %s, but the CPU is not asked for it" % (CHOICE, isa, name)
                 for isa, flags in kernels
                 for name in sorted(extensions(re.findall("'(.*?)'", flags)) - asked(code, isa))]
                or ([] if kernels else [CHOICE + ": no kernels found"]))


main()
