#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that clang-format 14 would change nothing."""
import re
import subprocess

import tree

tool = tree.need("clang-format-14")
names = tree.files(".c", ".h")
done = subprocess.run([tool, "--dry-run"] + names, cwd=tree.SOURCE,
                      capture_output=True, text=True, check=False)
first = {}
for name, line in re.findall(r"^([^\s:]+):(\d+):\d+: warning", done.stderr, re.M):
    first.setdefault(name, line)
breaches = ["%s:%s: clang-format-14 -i would change this file" % item
            for item in sorted(first.items())]
if done.returncode and not breaches:
    breaches = [done.stderr.strip() or "clang-format-14 failed"]
tree.finish(breaches)
