# SPDX-License-Identifier: BSD-3-Clause
"""The files of the project: those that git knows, or without git all but build folders."""
import os
import shutil
import subprocess
import sys

SOURCE = os.environ.get("NW_SOURCE") or os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def _walk():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [f for f in folders
                      if not f.startswith(("build", ".git", "demo-out"))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), SOURCE)


def files(*endings):
    """Paths below SOURCE, sorted, with one of the endings (or any)."""
    done = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached",
                           "--others", "--exclude-standard"],
                          capture_output=True, check=False)
    names = done.stdout.decode().split("\0") if done.returncode == 0 else _walk()
    return sorted(n for n in names
                  if n and (not endings or n.endswith(endings))
                  and os.path.isfile(os.path.join(SOURCE, n)))


def text(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8",
              errors="replace") as file:
        return file.read()


def need(program):
    """The path of the program; if it is missing, the test is skipped."""
    found = shutil.which(program)
    if not found:
        print("SKIP %s is not installed" % program)
        sys.exit(77)
    return found


def finish(breaches):
    for breach in breaches:
        print(breach)
    sys.exit(1 if breaches else 0)
