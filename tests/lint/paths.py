#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no tracked file has a path of somebody's machine or a package registry:
packages come from the system's own repositories, and a checkout may be at any path."""
import os
import re

import tree

HOSTS = ("pypi|pythonhosted|npmjs|crates|debian|rubygems|docker")
RULES = [re.compile(r"(?<![\w.$])/(?:home|Users)/(?!you\b|user\b)\w+"),
         re.compile(r"(?<![\w.$/])/root/\w"),
         re.compile(r"https?://[\w.-]*(?:%s)\.(?:org|com|io)" % HOSTS)]
here = os.path.realpath(tree.SOURCE)
EVERYBODYS = {"tmp", "var", "opt", "srv", "mnt", "media", "usr", "etc", "run", "dev"}
if here.count("/") > 1 and here.split("/")[1] not in EVERYBODYS:
    RULES.append(re.compile(r"(?<![\w.$])" + re.escape(os.path.dirname(here)) + "/"))

breaches = []
for name in tree.files():
    if name.startswith(("tests/fuzz/corpus/", "tests/lint/paths.py")):
        continue
    for number, line in enumerate(tree.text(name).split("\n"), 1):
        breaches += ["%s:%d: '%s'" % (name, number, found[0])
                     for found in (rule.search(line) for rule in RULES) if found]
tree.finish(breaches)
