# SPDX-License-Identifier: BSD-3-Clause
"""The tutorial does what it says, line by line, and leaves the files that it names."""
import doctest
import os
import unittest

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


if __name__ == "__main__":
    unittest.main()
