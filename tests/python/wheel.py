# SPDX-License-Identifier: BSD-3-Clause
"""The wheel that pyproject.toml describes works by itself. It compiles everything, so it
belongs to the long tests: meson test -C build python-wheel."""
import glob
import os
import shutil
import subprocess
import sys
import unittest

from support import SOURCE, InFolder, needs

USE = """
import numpy, nodewise, os
assert os.path.dirname(nodewise.__file__) == os.path.abspath("site/nodewise")
assert nodewise._library.find_library("libnodewise.so.0").startswith(os.path.abspath("site"))
assert nodewise._library.find_library("libnodewise-").startswith(os.path.abspath("site"))
machine = nodewise.Topology("hierarchy:2:2@1:10")
mapping = nodewise.map(machine, nodewise.Pattern(numpy.eye(4, k=1)), progress=False)
assert mapping.cost.hop_bytes == 12
"""


class Wheel(InFolder):
    @needs("pip")
    @needs("build")
    @needs("mesonpy")
    @unittest.skipUnless(shutil.which("patchelf"), "patchelf is not installed")
    def test_install_and_use(self):
        self.run_python("-m", "build", "--wheel", "--no-isolation", "-o", ".", SOURCE)
        (wheel,) = glob.glob("nodewise-*.whl")
        self.run_python("-m", "pip", "install", "--no-index", "--no-deps", "--target", "site", wheel)
        self.run_python("-c", USE)

    def run_python(self, *words):
        done = subprocess.run([sys.executable, *words], env={**os.environ, "PYTHONPATH": "site"},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
