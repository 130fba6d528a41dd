#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that codespell finds nothing in the files that people have written."""
import subprocess

import tree

tool = tree.need("codespell")
names = [n for n in tree.files()
         if not n.startswith(("tests/fuzz/corpus/", "tests/fixtures/"))
         and not n.endswith((".svg", ".ptx", ".zst"))]
done = subprocess.run([tool, "-L", "nd,te,inout,ans,ned,fo,ot,numer,improbe,strat,renderd,evalute,mapp,patttern"] + names,
                      cwd=tree.SOURCE, capture_output=True, text=True, check=False)
breaches = done.stdout.splitlines()
if done.returncode and not breaches:
    breaches = [done.stderr.strip()]
tree.finish(breaches)
