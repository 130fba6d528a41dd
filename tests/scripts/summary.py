#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/summary: a test that failed counts as passed only if it passed each time
that it ran again, alone."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SUMMARY = os.path.join(os.environ["NW_SOURCE"], "scripts/summary")


def result(name, result, out=""):
    return {"name": "nodewise:unit / " + name, "result": result, "stdout": out}


class Summary(unittest.TestCase):
    def run_on(self, first, again, *options):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + "/meson-logs")
            paths = []
            for name, tests in (("mpi", first), ("again", again)):
                paths.append("%s/meson-logs/%s.json" % (folder, name))
                with open(paths[-1], "w", encoding="utf-8") as log:
                    log.writelines(json.dumps(test) + "\n" for test in tests)
            ran = subprocess.run([sys.executable, SUMMARY, *options, *paths],
                                 stdout=subprocess.PIPE, text=True, check=False)
            return ran.returncode, ran.stdout.splitlines()

    def test_passes_each_time(self):
        code, said = self.run_on(
            [result("a", "OK"), result("b", "TIMEOUT", "1..2\nok 1\n")],
            3 * [result("b", "OK", "1..2\nok 1\nok 2\n")])
        self.assertEqual((code, said[-1]), (0, "3 passed, 0 failed, 0 skipped"))
        self.assertRegex(said[0], "unit / b: timeout beside .* 3 of 3 times")

    def test_fails_once_more(self):
        code, said = self.run_on(
            [result("a", "OK"), result("b", "FAIL")],
            [result("b", "OK"), result("b", "FAIL"), result("b", "OK")])
        self.assertEqual((code, said[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertRegex(said[0], "2 of 3 times")

    def test_does_not_run_again(self):
        code, said = self.run_on([result("a", "OK"), result("b", "FAIL")], [])
        self.assertEqual((code, said[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_what_passed_stays(self):
        """Tests of the same name in other suites run, too; their results are not used."""
        code, said = self.run_on([result("a", "OK")], [result("a", "FAIL")])
        self.assertEqual((code, said[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_names_what_failed(self):
        code, said = self.run_on([result("a", "OK"), result("b", "FAIL")], [], "--failed")
        self.assertEqual((code, said), (0, ["b"]))


unittest.main()
