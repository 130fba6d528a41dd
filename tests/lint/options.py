#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command has a man page. The page documents exactly the options of --help, with the
same arguments and defaults. If --help says that an option has no effect, the page says so,
too. Each section of a page lists its options in alphabetical order. The bash completion
offers the same options.
options.py NODEWISE"""
import os
import re
import subprocess
import sys

import tree

COMMON = {"--help", "--usage", "--version", "-?", "-V"}
PARTS = {"bench": ("pattern", "halo", "channel")}  # each of these has a --help of its own
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z?][\w-]*)")
# how the text of an option states its default: (10s), (default: 10s), paper (default)
DEFAULT = re.compile(r"\((?:default: )?(\d[\w.,]*)\)|([\w.-]+) \(default\)")


def say(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout


def commands(nodewise):
    listed = say(nodewise, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.M)


def options(help_text):
    """The options in argp's help: {option: (argument, sentence)}."""
    found, sentence = {}, None
    for line in help_text.splitlines():
        if line[28:29] == " ":  # the column where sentences begin, also after only one blank
            line = line[:29] + " " + line[29:]
        left = re.match(r"^ {2,6}(-.*?)(?: {2,}(\S.*))?$", line)
        if left:
            argument = left[1].partition("=")[2].rstrip("]")
            sentence = [left[2] or ""]
            for name in OPTION.findall(left[1].replace("[HOSTS=]", "")):
                found[name] = (argument, sentence)
        elif sentence is not None and re.match(r"^ {20,}\S", line):
            sentence.append(line.strip())
        else:
            sentence = None
    return {name: (argument, " ".join(words)) for name, (argument, words)
            in found.items() if name not in COMMON}


def plain(line):
    return re.sub(r"[*\\]|(?<!\w)_|_(?!\w)", "", line)


def definitions(page):
    """What the page tells: {option: [(line, argument, paragraph)]}. A line of
    definition lists options by commas, each with its argument."""
    found, names = {}, []
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("*-"):
            names = [re.match(r"(--?[a-zA-Z?][\w-]*)\[?=?(.*?)\]?$", word)
                     for word in re.split(r"[,;] (?=-)|(?= \(-)", plain(line))]
            for name in filter(None, names):
                found.setdefault(name[1], []).append((number, name[2], [line]))
        elif line.startswith("\t"):
            for name in filter(None, names):
                found[name[1]][-1][2].append(line)
        elif line:
            names = []
    return {name: [(number, argument, plain(" ".join(lines)))
                   for number, argument, lines in told]
            for name, told in found.items()}


def unsorted(page):
    """Long options that follow a later one in the alphabet within their section."""
    for section in re.split(r"^##? ", page, flags=re.M):
        names = [re.search(r"--[a-z][\w-]*", plain(line)) for line in
                 section.splitlines() if re.match(r"\*-", line)]
        names = [name[0] for name in names if name]
        yield from (after for before, after in zip(names, names[1:]) if after < before)


def is_said(words, told):
    text = " ".join(paragraph for _, _, paragraph in told)
    return re.search(r"(?<![\w.])%s(?!\w)" % re.escape(words), text)


def is_idle(text):
    return "without effect" in text


def compare(name, helps, page):
    """Compares the page with each of the helps."""
    told = definitions(page)
    breaches = ["%s:%d: there is no option %s" % (name, told[option][0][0], option)
                for option in sorted(set(told).difference(COMMON, *helps))]
    for option, (argument, sentence) in (pair for text in helps
                                         for pair in text.items()):
        if option not in told:
            breaches.append("%s:1: does not tell of %s" % (name, option))
            continue
        line = told[option][0][0]
        if option[1] == "-" and argument not in (a for _, a, _ in told[option]):
            breaches.append("%s:%d: %s takes '%s'" % (name, line, option, argument))
        if is_idle(sentence) != is_idle(" ".join(text for _, _, text in told[option])) \
                and "See nodewise(1)" not in told[option][0][2]:
            breaches.append("%s:%d: and --help do not agree if %s has an effect"
                            % (name, line, option))
        breaches += ["%s:%d: does not say that %s goes without %s"
                     % (name, line, one or other, option)
                     for one, other in DEFAULT.findall(sentence)
                     if not is_said(one or other, told[option])]
    return breaches


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


# The words that the readers of options accept and that the manual pages describe.
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
    ("profile", "--mpi"): {"openmpi", "mpich", "mpiabi"},
    ("run", "--mpi"): {"openmpi", "mpich"},
    ("launch", "--mpi"): {"pmi2", "pmix"},
    ("launch", "--exec"): {"auto", "always", "never"},
    ("launch", "--gpu-visibility"): {"one", "permuted"},
    ("launch", "--memory"): {"bind", "prefer", "leave"},
    ("halo", "--border"): {"periodic", "open", "mirror"},
    ("halo", "--choose"): {"model", "order"},
    ("halo", "--partition"): {"best", "paper"},
    ("halo", "--placement"): {"best", "trivial", "random", "worst"},
    ("map", "--arrange"): {"best", "paper"},
    ("map", "--arrange-by"): {"sum", "slowest"},
    ("map", "--shapes"): {"several", "all"},
    ("evaluate", "--objective"): {"hop-bytes", "congestion", "latency", "time"},
    ("pattern", "--kind"): {"hh", "gg", "hg", "gh"},
    ("pattern", "--to"): {"native", "metis", "mm", "matrix", "list"},
    ("topology", "--to"): {"slurm", "slurm-yaml-block", "k8s"},
}


def words():
    """The values of an argument that is not an option, from the readers' tables."""
    sources = re.findall(r'\{"([a-z0-9-]+:)"', tree.text("src/topology/source.c"))
    formats = re.findall(r'^    \{"([a-z0-9-]+)", (?!NULL, NULL)', tree.text("src/pattern/format.c"),
                         re.M)
    machines = set(sources) | {"live", "magc-a", "dgx-h100"}
    patterns = {name + ":" for name in formats}
    return {("topology",): machines, ("map", "-t"): machines, ("topology", "--node"): machines,
            ("pattern",): patterns, ("evaluate", "-p"): patterns,
            ("bench",): {"pattern", "halo", "mpdata", "channel"}, ("help",): {"map", "reorder"},
            ("channel",): {"reach", "tune"}, ("halo",): {"plan", "tune"}, ("run", "--"): {"sh"}}


def check_words(nodewise):
    return ["completions/nodewise: %s lacks %s" % (" ".join(before), word)
            for before, taken in words().items()
            for word in sorted(taken - completed(nodewise, *before, word=""))]


def refuses(nodewise, command, option, word):
    """Whether the command refuses the word, and names it in quotes."""
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
    breaches = check_values(nodewise) + check_words(nodewise)
    for command in commands(nodewise):
        name = "man/nodewise-%s.1.scd" % command
        found = options(say(nodewise, command, "--help"))
        if not found:
            breaches.append("nodewise %s --help lists no options" % command)
        if not os.path.exists(os.path.join(tree.SOURCE, name)):
            breaches.append("%s: there is no such page" % name)
            continue
        page = tree.text(name)
        helps = [found] + [options(say(nodewise, command, part, "--help"))
                           for part in PARTS.get(command, ())]
        breaches += compare(name, helps, page)
        breaches += ["%s:1: %s is not in alphabetical order" % (name, option)
                     for option in unsorted(page)]
        if "EXAMPLE" not in page:
            breaches.append("%s:1: has no EXAMPLE" % name)
        offered = completed(nodewise, command)
        breaches += ["completions/nodewise: nodewise %s does not offer %s"
                     % (command, option) for option in sorted(found)
                     if option.startswith("--") and option not in offered]
    tree.finish(breaches)


main(os.path.abspath(sys.argv[1]))
