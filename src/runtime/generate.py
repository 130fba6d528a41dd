#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers: one C line for each function that a row of the table
names and the MPI header declares.

    generate.py TABLE[,MESSAGES] OUTPUT HEADER COMPILER [ARGUMENTS...]
    generate.py --list TABLE COMPILER [ARGUMENTS...]   what is covered, what not

Types come from the header, names of arguments and what to do from the table;
a row that the header lacks is left out. See the head of each table: the rows
of MESSAGES stand between a wrapper and the call.
"""
import fnmatch, re, subprocess, sys

ROW = re.compile(r"(?:(always|anywhere|before|catching|collective|direct|ending|form|instead|noting|watching|by|own)\s+)?(\w+)\(([^)]*)\)\s*:\s*(.*)")


def read_table(path):
    """Rows by function name, and (pattern, reason) of what is left alone."""
    rows, skips = {}, []
    text = re.sub(r"\\\n\s*", " ", open(path, encoding="utf-8").read())
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        skip = re.match(r"(skip|inside|timed)\s+([\w*\s]+):\s*(.+)", line)
        row = ROW.fullmatch(line)
        if skip:
            skips += [(word, skip[3], skip[1]) for word in skip[2].split()]
        elif row:
            names = [name.strip() for name in row[3].split(",") if name.strip()]
            rows[("form " if row[1] == "form" else "") + row[2]] = (row[1], names, row[4])
        else:
            sys.exit("%s: row %d is none: %s" % (path, number, line))
    return rows, skips


def called(name):
    """MPI's name of it; Open MPI 4 has persistent collective calls as MPIX_*_init."""
    return "MPI" + "_" * (not name.startswith("X_")) + name


def prototypes(command):
    """name -> list of parameter declarations, from the preprocessed header."""
    source = subprocess.run(command + ["-E", "-P", "-x", "c", "-"], check=True,
                            input="#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n"
                            "#include <mpi-ext.h>\n#endif\n", capture_output=True,
                            text=True).stdout
    found = {}
    for match in re.finditer(r"\bint\s+PMPI(_\w+|X_\w+_init)\s*\(([^;{]*?)\)\s*"
                             r"(?:__attribute__\s*\(\(.*?\)\)\s*)*;", source, re.S):
        found[match[1].lstrip("_")] = [" ".join(p.split()) for p in match[2].split(",")]
    return found


def declare(parameter, name):
    """The parameter with the table's name for it."""
    match = re.fullmatch(r"(.*?[\s*])(\w+)?((?:\[\w*\])*)", parameter)
    if not match or match[1].strip() in ("", "const"):
        return parameter + " " + name
    return match[1] + name + match[3]


def cast(parameter, name, word):
    """A definition of `name`, with the parameter's type, from a machine word."""
    match = re.fullmatch(r"(.*?[\s*])(\w+)?((?:\[\w*\])*)", parameter)
    kind, rows = (match[1].strip(), match[3]) if match else (parameter, "")
    if kind == "const":
        kind = parameter
    if not rows and not kind.endswith("*"):
        kind = kind.removeprefix("const ")
    row = rows[rows.find("]") + 1:]
    pointer = "(*%s)" + row if row else "*%s" if rows else "%s"
    return "%s %s = (%s %s)%s" % (kind, pointer % name, kind, pointer % "", word)


def heading(name, names, parameters):
    """What every macro begins with: the entry's machine words and how they become
    arguments, the arguments of the call, and those of what it shares with its
    PMPI twin."""
    declared = [declare(p, n) for p, n in zip(parameters, names)]
    declared += ["..."] * (parameters[-1] == "...")
    words = ["nw_word_%d" % i for i in range(len(names))]
    entry = "((%s), (%s), %s)" % (
        ", ".join("uintptr_t " + word for word in words) or "void", ", ".join(words),
        "; ".join(map(cast, parameters, names, words)) or "(void)0")
    shared = ["__typeof__(&%s) nw_next" % called(name)] + declared
    lists = [names, shared, ["nw_next"] + names]
    return ", ".join([called(name), entry] + ["(%s)" % ", ".join(l) for l in lists])


def wrapper(name, row, parameters, staged):
    when, names, action = row
    head = heading(name, names, parameters)
    if when in ("instead", "noting"):
        return "NW_WRAP_%s(%s, %s)" % (when.upper(), head, action.strip())
    before, _, after = (action.partition("=>") if "=>" in action else
                        (action, "", "") if when in ("anywhere", "before", "ending") else ("", "", action))
    return "NW_WRAP%s(%s, %s, %s, %s)" % (
        "_" + when.upper() if when in ("always", "anywhere", "ending", "watching") else "", head,
        "nw_message_" + called(name) if staged else "NW_STRAIGHT",
        before.strip() or "(void)0", after.strip() or "(void)0")


def whose(names):
    """Whose error handler a call has, by its arguments."""
    for name, made in (("comm", "COMM"), ("win", "WIN"), ("file", "FILE"), ("message", "MESSAGE")):
        if name in names:
            return "NW_OF_%s(%s)" % (made, name)
    return "NW_OF_COMM(MPI_COMM_WORLD)"


def staging(name, row, parameters, form):
    """The function that stands between the wrappers of `name` and the calls."""
    when, names, action = row
    head = heading(name, names, parameters)
    if when in ("by", "catching", "direct", "own"):
        return "NW_MESSAGE_%s(%s, %s)" % (when.upper(), head, action)
    end = ("KEEP" if "request" in names else
           "STATUS" if "status" in names else "END")
    how = ("WHOLE" if when == "collective" or "File_i" in name else
           "PAIR" if {"dest", "source", "message"} & set(names) else "", "EACH" if
           name.removesuffix("_c").endswith("_init") else "")
    other = "nw_is_algorithm_call() && %s" % form[2] if form else "false"
    gate = "catching" if "NW_RECEIVE" in action else "messaging"
    return "NW_MESSAGE(%s, %s, %s, NW_%s, NW_MESSAGE_%s((%s), %s), nw_is_%s, %s)" % (
        head, action, whose(names), "_".join(filter(None, how)) or "ONCE", end,
        ", ".join(names), whose(names), gate, other)


def expand(rows):
    """A collective row stands for its nonblocking and persistent twins too."""
    for function, (when, names, action) in rows.items():
        yield function, (when, names, action)
        if when == "collective":
            yield "I" + function[0].lower() + function[1:], (
                when, names + ["request"], action)
            for twin in function + "_init", "X_" + function + "_init":
                yield twin, (when, names + ["info", "request"],
                             action if "NW_STAGE" in action else
                             "NW_PLAN(%s, *request)" % action)


def all_rows(rows, header):
    """Rows of the table and their large-count twins, where declared."""
    for function, row in expand(rows):
        for name in (function, function + "_c"):
            if name not in header or (name != function and name in rows):
                continue
            count = len([p for p in header[name] if p not in ("...", "void")])
            if count == len(row[1]):
                yield name, row
            else:
                print("%s is left alone: it has %d arguments, the table gives %d"
                      % (called(name), count, len(row[1])), file=sys.stderr)


def inside(rows, skips, header):
    """Functions of which the time alone is counted, and that raise the guard: MPI
    calls itself inside some of them."""
    for name in header:
        for pattern, _, kind in skips:
            if kind != "skip" and fnmatch.fnmatchcase(name, pattern):
                count = 0 if header[name] == ["void"] else len(header[name])
                yield name, (None, ["a%d" % i for i in range(count)], "")
                break


def generate(table, output, include, command):
    table, _, messages = table.partition(",")
    rows, skips = read_table(table)
    header = prototypes(command)
    staging_rows = read_table(messages)[0] if messages else {}
    forms = {key[5:]: row for key, row in staging_rows.items() if key[:5] == "form "}
    staged = dict(all_rows({key: row for key, row in staging_rows.items()
                            if key[:5] != "form "}, header))
    lines = ["/* Generated from %s; do not edit. */" % table.split("/")[-1],
             '#include "%s"' % include]
    if staged:
        lines.append('#include "runtime/messages/messages.h"')
    lines += [staging(name, staged[name], header[name], forms.get(name.removesuffix("_c")))
              for name in header if name in staged]
    wrapped = dict(all_rows(rows, header))
    wrapped.update(inside(rows, skips, header))
    lines += [wrapper(name, wrapped[name], header[name], name in staged)
              for name in header if name in wrapped]
    lines += ["NW_WRAP_MESSAGE(%s)" % heading(name, staged[name][1], header[name])
              for name in header if name in staged and name not in wrapped]
    open(output, "w", encoding="utf-8").write("\n".join(lines) + "\n")


def moves_data(parameters):
    """Whether a call may carry bytes between ranks: it has data and a partner."""
    words = " ".join(parameters)
    data = re.search(r"MPI_Datatype", words) and re.search(r"void\s*\*", words)
    return data and re.search(r"MPI_(Comm|Win|Message)\b", words)


def show(table, command):
    """Prints what is not recorded and why; a function without a row, or with data
    and a pattern that was not made for it, is in no row. 1 if nothing is recorded."""
    rows, skips = read_table(table)
    header = prototypes(command)
    covered = {name for name, _ in all_rows(rows, header)}
    missing = 0
    for name in sorted(set(header) - covered):
        why = [reason for pattern, reason, _ in skips
               if fnmatch.fnmatchcase(name, pattern)]
        if moves_data(header[name]) and not name.startswith(("Pack", "Unpack")):
            why = []
        missing += not why
        print("%s: %s" % (called(name), why[0] if why else "in no row, and may carry data"))
    print("%d recorded, %d with a reason, %d missing"
          % (len(covered), len(set(header) - covered) - missing, missing))
    return 0 if covered else 1


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        sys.exit(show(sys.argv[2], sys.argv[3:]))
    generate(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
