#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every script that a person calls explains itself with --help, and does nothing else:
some of them would install packages or write results again."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["NW_SOURCE"]
INTERNAL = ("docs-man-links", "docs-reference", "python-path", "sanitized", "soname")


def files(folder):
    return {path: os.stat(path).st_mtime_ns
            for path in glob.glob(folder + "/**", recursive=True) if os.path.isfile(path)}


class Help(unittest.TestCase):
    def test_only_explains(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = folder + "/a tree"
            for part in ("scripts", "bench", "packaging"):
                shutil.copytree(os.path.join(SOURCE, part), os.path.join(tree, part))
            before = files(tree)
            for script in sorted(glob.glob(tree + "/scripts/*") + glob.glob(tree + "/bench/*/run") +
                                 [tree + "/packaging/check", tree + "/bench/gpu/kit",
                                  tree + "/bench/gpu/rehearse"]):
                if os.path.basename(script) in INTERNAL:
                    continue
                with self.subTest(script[len(tree) + 1:]):
                    ran = subprocess.run([script, "--help"], cwd=folder, capture_output=True,
                                         text=True, timeout=30, check=False)
                    self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                    self.assertGreater(len(ran.stdout), 50)
            self.assertEqual(files(tree), before)

    def test_docs_need_man_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([SOURCE + "/scripts/docs", folder], capture_output=True,
                                 text=True, timeout=30, check=False)
            self.assertIn(ran.returncode, (1, 77))  # 77: a generator is missing
            self.assertRegex(ran.stderr, "^docs: .*(has no man pages|is missing)")


unittest.main()
