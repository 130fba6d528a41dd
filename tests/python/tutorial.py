# SPDX-License-Identifier: BSD-3-Clause
"""The tutorial does what it says, line by line, and leaves the files that it names;
so do the lines in README.md."""
import collections
import contextlib
import doctest
import io
import os
import re
import unittest

import nodewise
from support import SOURCE, InFolder, needs

TUTORIAL = os.path.join(SOURCE, "docs/tutorials/python.md")


class Tutorial(InFolder):
    @needs("scipy")
    def test_every_line(self):
        result = doctest.testfile(TUTORIAL, module_relative=False, encoding="utf-8")
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 25)
        for name in ("app.pattern", "pattern.svg", "report.html", "app.mapping"):
            self.assertGreater(os.path.getsize(name), 500, name)
        with open("pattern.svg", encoding="utf-8") as made, \
                open(os.path.join(SOURCE, "docs/pictures/python.svg"), encoding="utf-8") as kept:
            self.assertEqual(made.read(), kept.read())

    @needs("scipy")
    def test_the_lines_in_the_readme(self):
        """They map a matrix with one row for each core, and one with many."""
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            lines = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL)[1]
        self.assertLessEqual(sum(bool(line) for line in lines.splitlines()), 10)
        cores = len(os.sched_getaffinity(0))
        self.readme(lines, cores)
        mapping = self.readme(lines, 40 * cores)
        self.assertLessEqual(max(collections.Counter(mapping.elements.tolist()).values()), 41)

    def readme(self, lines, ranks):
        ring = [(i, (i + 1) % ranks, 1000) for i in range(ranks) if ranks > 1]
        with open("app.mtx", "w", encoding="utf-8") as file:
            file.write("%%MatrixMarket matrix coordinate integer general\n")
            file.write("%d %d %d\n" % (ranks, ranks, len(ring)))
            file.writelines("%d %d %d\n" % (i + 1, j + 1, bytes_) for i, j, bytes_ in ring)
        out = io.StringIO()
        names = {}
        with contextlib.redirect_stdout(out):
            exec(compile(lines, "README.md", "exec"), names)  # pylint: disable=exec-used
        pattern = names["matrix"]
        self.assertEqual(list(zip(pattern.src, pattern.dst, pattern.bytes)), ring)
        self.assertRegex(out.getvalue(), r"^\d+ -> \d+$")
        self.assertRegex(str(nodewise.launch(names["mapping"], "openmpi4", ["./app"])), r"mpirun .*\./app")
        nodewise.report(names["machine"], pattern, names["mapping"]).write("report.html")
        self.assertGreater(os.path.getsize("report.html"), 500)
        mapping = nodewise.Mapping.read("app.mapping", names["machine"])
        self.assertEqual(len(mapping), ranks)
        return mapping


if __name__ == "__main__":
    unittest.main()
