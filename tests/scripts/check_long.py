#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-long: a stage that passed runs again only after the sources changed; one
that was skipped runs again each time, and is no failure."""
import os
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.environ["NW_SOURCE"], "scripts")


class CheckLong(unittest.TestCase):
    def setUp(self):
        """A tree of only these scripts, a build folder, and a Ninja that does nothing."""
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for folder in ("scripts", "build", "bench/training", "bin"):
            os.makedirs(self.path(folder))
        for name in ("check-long", "sanitized", "python-path"):
            shutil.copy(os.path.join(SCRIPTS, name), self.path("scripts"))
        self.write("build/build.ninja", "")
        self.write("bin/ninja", "#!/bin/sh\n")
        self.write(".gitignore", "build*\nbench\n")
        for words in ("init", "add .", "-c user.name=a -c user.email=a commit -m a"):
            subprocess.run(["git", "-C", self.folder.name, *words.split()], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), 0o755)

    def train(self, status):
        """The exit status and output of the stage `training` when its script exits so."""
        self.write("bench/training/gloo", "#!/bin/sh\nexit %d\n" % status)
        ran = subprocess.run([self.path("scripts/check-long"), "training"], check=False,
                             stdout=subprocess.PIPE, text=True, env=dict(
                                 os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"]))
        return ran.returncode, ran.stdout

    def test_runs_until_it_passed(self):
        for status, code, said in ((77, 0, "skipped after"), (1, 1, "FAILED after"),
                                   (77, 0, "skipped after"), (0, 0, "passed in"),
                                   (1, 0, "passed before")):
            found, out = self.train(status)
            self.assertEqual(found, code)
            self.assertRegex(out, "^training: %s" % said)


unittest.main()
