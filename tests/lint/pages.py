#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that man pages compile without a warning of scdoc, and that meson installs each.
nodewise-map(1) has at most 1,500 words, and CHANGELOG.md at most 120 lines."""
import os
import subprocess

import tree

scdoc = tree.need("scdoc")
pages = tree.files(".scd")
listed = tree.text("man/meson.build")
breaches = [] if pages else ["there are no man pages"]
for page in pages:
    with open(os.path.join(tree.SOURCE, page), "rb") as file:
        done = subprocess.run([scdoc], stdin=file, capture_output=True, check=False)
    if done.returncode or done.stderr:
        breaches.append("%s:1: %s" % (page, done.stderr.decode().strip()))
    if "'%s'" % os.path.basename(page).removesuffix(".scd") not in listed:
        breaches.append("%s:1: is not in man/meson.build" % page)
words = len(tree.text("man/nodewise-map.1.scd").split())
if words > 1500:
    breaches.append("man/nodewise-map.1.scd:1: %d words; move explanations to docs/explanation" % words)
lines = tree.text("CHANGELOG.md").count("\n")
if lines > 120:
    breaches.append("CHANGELOG.md:121: %d lines" % lines)
tree.finish(breaches)
