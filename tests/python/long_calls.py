# SPDX-License-Identifier: BSD-3-Clause
"""Long calls: Ctrl-C keeps the best so far, the interpreter's lock is released, and
progress is told."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import nodewise
from support import BUILD

MACHINE = "hierarchy:4:8:16@1:10:100"
PATTERN = "random:ranks=512,degree=8,bytes=1000"
SEARCH = """
import sys, nodewise
pattern = nodewise.Pattern.generate(%r)
print("ready", flush=True)
mapping = nodewise.map(%r, pattern, time=300, progress=%s)
print(mapping.interrupted, mapping.cost.hop_bytes <= mapping.default_cost.hop_bytes)
"""


def search(progress="False"):
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH % (PATTERN, MACHINE, progress)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python")))


def ticks(path):
    with open(path, encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[11])


def searched(process):
    """The processor time in seconds of its threads, also of ended ones, but without the
    first, which waits."""
    whole, first = "/proc/%d/stat" % process.pid, "/proc/%d/task/%d/stat" % (process.pid, process.pid)
    return (ticks(whole) - ticks(first)) / os.sysconf("SC_CLK_TCK")


class LongCalls(unittest.TestCase):
    def test_interrupt_keeps_the_best(self):
        process = search()
        self.assertEqual(process.stdout.readline(), "ready\n")
        while process.poll() is None and searched(process) < 0.3:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=200)
        self.assertEqual((out, err, process.returncode), ("True True\n", "", 0))

    def test_progress_is_shown(self):
        process = search("True")
        self.assertEqual(process.stdout.readline(), "ready\n")
        seen = ""
        while "%" not in seen:
            more = process.stderr.read(1)
            self.assertTrue(more, seen)
            seen += more
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=200)
        err = seen + err
        self.assertEqual(out, "True True\n")
        self.assertTrue(err.endswith("\n\033[K"), err[-80:])  # \r is read as \n

    def test_a_function_may_stop_it(self):
        seen = []

        def note(done, total, what):
            seen.append(what)
            raise KeyboardInterrupt

        mapping = nodewise.map(MACHINE, nodewise.Pattern.generate(PATTERN), time=300,
                               progress=note)
        self.assertTrue(mapping.interrupted)
        self.assertTrue(seen[0])

    def test_an_exception_of_the_function_ends_it(self):
        def fail(done, total, what):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            nodewise.map(MACHINE, nodewise.Pattern.generate(PATTERN), time=300, progress=fail)

    def test_other_threads_run(self):
        pattern, done, counts = nodewise.Pattern.generate(PATTERN), threading.Event(), [0]

        def count():
            while not done.is_set():
                counts[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        nodewise.map(MACHINE, pattern, time=1, threads=1)
        before = counts[0]
        done.set()
        thread.join()
        self.assertGreater(before, 10)

    def test_maps_at_once_are_as_those_alone(self):
        """Handles may be read concurrently, and errors belong to their thread."""
        pattern = nodewise.Pattern.generate(PATTERN)
        alone = nodewise.map(MACHINE, pattern, effort="fast").elements.tolist()
        found = []

        def one(good):
            try:
                found.append(nodewise.map(MACHINE, pattern, effort="fast", algorithm=None if good
                                          else "nothing").elements.tolist())
            except nodewise.InvalidArgument as error:
                found.append("nothing" in str(error))

        threads = [threading.Thread(target=one, args=(i % 2,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found, key=str), sorted([alone, alone, True, True], key=str))
