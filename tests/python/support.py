# SPDX-License-Identifier: BSD-3-Clause
"""Functions that the tests of the package share."""
import importlib.util
import json
import os
import subprocess
import tempfile
import unittest

NODEWISE = os.environ["NODEWISE"]
SOURCE = os.environ["NW_SOURCE"]
BUILD = os.environ["NW_BUILD"]


def needs(*packages):
    """Skips a test by the name of the first package that is not installed."""
    missing = [name for name in packages if not importlib.util.find_spec(name)]
    return unittest.skipIf(missing, "%s is not installed" % "".join(missing[:1]))


def command(*words, check=True):
    """Runs `nodewise`; its standard output."""
    done = subprocess.run([NODEWISE, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise AssertionError("nodewise %s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def command_json(*words):
    return json.loads(command(*words, "--json"))


class InFolder(unittest.TestCase):
    """Each test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
