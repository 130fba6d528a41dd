# SPDX-License-Identifier: BSD-3-Clause
"""What cffi took from the headers is what a C compiler makes of them: sizes, offsets,
enumerators and the initialisers of option structs."""
import os
import shlex
import subprocess
import tempfile
import unittest

from nodewise._declarations import ffi, initialisers
from nodewise._library import options
from support import SOURCE

HEADERS = ("nodewise/nodewise.h", "nodewise/reorder.h")
# as for python/generate.py, which lets the preprocessor read them
MPI = ("#define MPI_VERSION 3\n#include <stdint.h>\n"
       "typedef intptr_t MPI_Comm; typedef int MPI_Fint;\n")


def is_opaque(kind):
    try:  # kind.fields would end Python 3.14 with cffi 2
        ffi.sizeof(kind)
    except ffi.error:
        return True
    return False


def structs():
    """(its name in C, its type) of each struct that is not opaque."""
    typedefs, tags, _ = ffi.list_types()
    for name in ["struct " + tag for tag in tags] + typedefs:
        kind = ffi.typeof(name)
        if kind.kind == "struct" and not is_opaque(kind):
            yield name, kind


def enums():
    for name, kind in structs():
        for _, field in kind.fields:
            if field.type.kind == "enum":
                yield field.type
    yield ffi.typeof("enum nw_objective")
    yield ffi.typeof("nw_status")


def compiled(lines):
    """The words that a C program with these statements prints, one per line."""
    text = MPI + "".join("#include <%s>\n" % name for name in HEADERS)
    text += "#include <stdio.h>\n#include <stddef.h>\nint main(void) {\n%s\n}\n" % "\n".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(shlex.split(os.environ["NW_CC"]) + [
            "-std=gnu11", "-I", os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", program],
            input=text, text=True, check=True)
        return subprocess.run([program], capture_output=True, text=True,
                              check=True).stdout.splitlines()


class Declarations(unittest.TestCase):
    def test_sizes_and_offsets(self):
        lines, expected = [], []
        for name, kind in structs():
            lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
            expected.append("%s %d" % (name, ffi.sizeof(kind)))
            for member, field in kind.fields:
                lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof((%s){0}.%s));'
                             % (name, member, name, member, name.replace("enum ", ""), member))
                expected.append("%s.%s %d %d" % (name, member, field.offset,
                                                 ffi.sizeof(field.type)))
        self.assertGreater(len(expected), 200)
        self.assertEqual(compiled(lines), expected)

    def test_enumerators(self):
        lines, expected = [], []
        for kind in set(enums()):
            for name, value in kind.relements.items():
                lines.append('printf("%s %%d\\n", (int)%s);' % (name, name))
                expected.append("%s %d" % (name, value))
        self.assertGreater(len(expected), 40)
        self.assertEqual(compiled(lines), expected)

    def test_initialisers(self):
        """Byte by byte; padding is zero in both."""
        lines, expected = [], []
        known = [name for name in initialisers if name in ffi.list_types()[1]]
        for name in known:
            macro = name.upper() + "_INIT"
            lines.append('{ static struct %s s = %s; for (size_t i = 0; i < sizeof s; i++) '
                         'printf("%%02x", ((unsigned char *)&s)[i]); puts(" %s"); }'
                         % (name, macro, name))
            expected.append("%s %s" % (bytes(ffi.buffer(options(name))).hex(), name))
        self.assertGreater(len(expected), 6)
        self.assertEqual(compiled(lines), expected)
