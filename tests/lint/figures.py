#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the sources of README's figures. Each figure with a unit stands, rounded as README
quotes it, in a table of docs/results, in the output of a command of docs/howto/gain.md (a
test runs the commands), or in the results of bench/run. Figures that README names as a
paper's are left out. Each page of docs/results must agree with its tables."""
import os
import re
import subprocess
import sys

import tree

FIGURE = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)(?= (?:%|ms|us|ns|s|times|GB/s|MB/s)(?!\w)| to \d)")


def known():
    """All numbers of the tables."""
    numbers = set()
    for name in tree.files(".tsv"):
        if name.startswith("docs/results/"):
            for line in tree.text(name).splitlines():
                if not line.startswith("#"):
                    numbers.update(map(float, re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", line)))
    printed = re.findall(r"^```console\n(.*?)^```$", tree.text("docs/howto/gain.md"), re.M | re.S)
    for text in printed + [tree.text("bench/results/run.txt")]:
        numbers.update(map(float, re.findall(r"\d+(?:\.\d+)?", text)))
    return numbers


def stands(word, numbers):
    digits = len(word.split(".")[1]) if "." in word else 0
    return any("%.*f" % (digits, n) == word for n in numbers)


def main():
    numbers = known()
    text = re.sub(r"the paper (?:measured|prints|saw) [^);]*", "", tree.text("README.md"))
    quoted = FIGURE.findall(text)
    breaches = ["README.md: %s is in no table of docs/results and no output of docs/howto/gain.md" % word
                for word in quoted if not stands(word, numbers)]
    if len(quoted) < 5:
        breaches.append("README.md: quotes no figures")
    done = subprocess.run([sys.executable, os.path.join(tree.SOURCE, "bench/papers/run"),
                           "--check"], capture_output=True, text=True, check=False)
    breaches += (done.stdout + done.stderr).splitlines()
    tree.finish(breaches)


main()
