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


def completed(nodewise, command):
    script = os.path.join(tree.SOURCE, "completions/nodewise")
    code = ('. "$1"; COMP_WORDS=(nodewise %s --); COMP_CWORD=2; _nodewise;'
            'printf "%%s\\n" "${COMPREPLY[@]}"' % command)
    path = os.path.dirname(nodewise) + ":" + os.environ["PATH"]
    done = subprocess.run(["bash", "-c", code, "bash", script], text=True,
                          capture_output=True, check=False,
                          env=dict(os.environ, PATH=path))
    return set(done.stdout.split())


def main(nodewise):
    breaches = []
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
