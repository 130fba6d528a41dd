#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes nodewise/_declarations.py from the public headers, by cffi.

    generate.py OUTPUT INCLUDE COMPILER...

The preprocessor resolves the headers' macros; the lines that stand in our own
headers are kept. cffi then compiles the declarations to a Python module of its
out-of-line ABI mode, so nothing is compiled and no declaration is written by
hand. The initialisers of option structs (NW_..._INIT) and the constants are
macros, which cffi does not see: they are added to the module as dictionaries.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import cffi

HEADERS = ("nodewise.h", "reorder.h")
# A handle of MPI is an int (MPICH) or a pointer (Open MPI): both are passed as an
# integer of a register's size.
MPI = "#define MPI_VERSION 3\n#include <stdint.h>\ntypedef int MPI_Fint;\n"
# cffi has no 128-bit integers. Where the compiler has them, long double has the
# same size and alignment; the values are read from the bytes (see _cost.py).
WIDE = "typedef long double nw_uint128;"


def preprocess(include, compiler):
    """The text of our own headers, without what they include of others."""
    source = MPI + "".join("#include <nodewise/%s>\n" % name for name in HEADERS)
    done = subprocess.run(compiler + ["-E", "-I", include, "-x", "c", "-"], text=True,
                          input=source, stdout=subprocess.PIPE, check=True)
    kept, ours = [], False
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "(.*)"', line)
        if marker:
            ours = "/nodewise/" in marker[1]
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def declarations(text):
    """The text as cffi reads it: no attributes, no 128 bits; and free(), since
    callers free the texts that the library makes."""
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    text = re.sub(r"__extension__\s+typedef\s+unsigned\s+__int128\s+nw_uint128\s*;",
                  WIDE, text)
    return "typedef _Bool bool; typedef intptr_t MPI_Comm; typedef int MPI_Fint; " \
           "void free(void *);\n" + text


def headers(include):
    for name in sorted(os.listdir(os.path.join(include, "nodewise"))):
        with open(os.path.join(include, "nodewise", name), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.S)
            yield text.replace("\\\n", " ")


def initialisers(include):
    """{struct: {member: value}} of the macros NW_..._INIT; value is a number or a
    list of numbers, as Python writes them."""
    found = {}
    for text in headers(include):
        for struct, rest in re.findall(
                r"#define NW_\w+_INIT\s+\{\s*(?:\.size = )?sizeof\(struct (\w+)\)(.*)\}", text):
            found[struct] = {
                member: json.loads(value.replace("{", "[").replace("}", "]"))
                for member, value in re.findall(r"\.(\w+) = (\{[^}]*\}|[-\d.]+)", rest)}
    return found


def constants(include):
    """{name: number} of the macros that stand for a whole number."""
    return {name: int(value, 0) for text in headers(include) for name, value in
            re.findall(r"^#define (NW_\w+) +\(?(-?(?:0x[\da-fA-F]+|\d+))\)? *$", text, re.M)}


def main(output, include, compiler):
    ffi = cffi.FFI()
    ffi.cdef(declarations(preprocess(include, compiler)))
    ffi.set_source("nodewise._declarations", None)
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.py")
        ffi.emit_python_code(made)
        with open(made, encoding="utf-8") as file:
            text = file.read()
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
        file.write("initialisers = %r\n" % initialisers(include))
        file.write("constants = %r\n" % constants(include))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
