#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command has a page, and every option that its --help tells stands
there; the bash completion offers them.  options.py NODEWISE"""
import os
import re
import subprocess
import sys

import tree

COMMON = {"--help", "--usage", "--version", "-?", "-V"}


def say(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout


def commands(nodewise):
    listed = say(nodewise, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.M)


def options(help_text):
    """The words that begin with a dash in argp's left column."""
    found = set()
    for line in help_text.splitlines():
        left = re.match(r"^ {2,6}(-.*?)(?: {2,}|$)", line)
        if left:
            found |= set(re.findall(r"(?<![\w-])(--?[a-zA-Z?][\w-]*)", left[1]))
    return found - COMMON


def in_page(page, option):
    return re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(option),
                     page.replace("\\", "")) is not None


def completed(nodewise, command, *before, word="--"):
    script = os.path.join(tree.SOURCE, "completions/nodewise")
    words = ("nodewise", command) + before
    code = ('. "$1"; COMP_WORDS=(%s "%s"); COMP_CWORD=%d; _nodewise;'
            'printf "%%s\\n" "${COMPREPLY[@]}"'
            % (" ".join(words), word, len(words)))
    path = os.path.dirname(nodewise) + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-c", code, "bash", script], text=True,
                          capture_output=True, check=False,
                          env=dict(os.environ, PATH=path))
    return set(done.stdout.split())


# What the options' readers take and the manual pages tell.
VALUES = {
    ("map", "--algorithm"): {"auto", "magc", "rowcol", "multilevel"},
    ("map", "--objective"): {"auto", "hop-bytes", "congestion", "latency"},
    ("map", "--effort"): {"fast", "default", "strong"},
    ("map", "--elements"): {"core", "pu"},
    ("map", "--phase2"): {"greedy", "scotch"},
    ("map", "--output-format"): {"mapping", "pe"},
    ("map", "--progress"): {"auto", "always", "never"},
    ("launch", "--for"): {"openmpi4", "mpich41", "slurm", "flux"},
    ("report", "--simulate"): {"auto", "always", "never"},
    ("profile", "--mpi"): {"openmpi", "mpich"},
    ("pattern", "--kind"): {"hh", "gg", "hg", "gh"},
    ("pattern", "--to"): {"native", "metis", "mm", "matrix", "list"},
}


def refuses(nodewise, command, option, word):
    """A word that is not taken is named in quotes."""
    done = subprocess.run([nodewise, command, option, word, "--nothing-such"],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    return "'%s'" % word in done.stderr


def check_values(nodewise):
    """The shell offers each word that an option takes, and no other."""
    breaches = []
    for (command, option), taken in VALUES.items():
        offered = completed(nodewise, command, option, word="")
        parted = completed(nodewise, command, option, "=", word="")
        breaches += ["completions/nodewise: %s %s lacks %s"
                     % (command, option, word)
                     for word in sorted(taken - (offered & parted))]
        breaches += ["completions/nodewise: %s refuses %s %s"
                     % (command, option, word) for word in sorted(offered)
                     if refuses(nodewise, command, option, word)]
    return breaches


def main(nodewise):
    breaches = check_values(nodewise)
    for command in commands(nodewise):
        name = "man/nodewise-%s.1.scd" % command
        found = options(say(nodewise, command, "--help"))
        if not found:
            breaches.append("nodewise %s --help lists no options" % command)
        if not os.path.exists(os.path.join(tree.SOURCE, name)):
            breaches.append("%s: there is no such page" % name)
            continue
        page = tree.text(name)
        breaches += ["%s:1: does not tell of %s" % (name, option)
                     for option in sorted(found) if not in_page(page, option)]
        if "EXAMPLE" not in page:
            breaches.append("%s:1: has no EXAMPLE" % name)
        offered = completed(nodewise, command)
        breaches += ["completions/nodewise: nodewise %s does not offer %s"
                     % (command, option) for option in sorted(found)
                     if option.startswith("--") and option not in offered]
    tree.finish(breaches)


main(os.path.abspath(sys.argv[1]))
