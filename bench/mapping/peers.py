# SPDX-License-Identifier: BSD-3-Clause
"""Other mappers by their command lines: a file of lines `name: command`, in
which {graph}, {k}, {hierarchy}, {distances}, {seed} and {out} stand for the
METIS file, the number of elements, 4:8:16, 1:10:100, the seed and the file to
write, one element a line."""
import shlex
import shutil
import sys

FIELDS = ("graph", "k", "hierarchy", "distances", "seed", "out")


def words(command, fields):
    return [word.format(**fields) for word in shlex.split(command)]


def wrong(name, command, taken):
    """What is wrong with a line; nothing if it is right."""
    if not name or not command.strip():
        return "expected 'name: command'"
    if name in taken:
        return f"{name} is there already"
    try:
        program = words(command, dict.fromkeys(FIELDS, "1"))[0]
    except (KeyError, IndexError):
        return f"only {', '.join(FIELDS)} may stand in braces"
    except ValueError as error:
        return str(error)
    return None if shutil.which(program) else f"no program {program}"


def read(path, taken):
    """Reads {name: command}; ends the program if a line is wrong."""
    found = {}
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, command = (part.strip() for part in line.partition(":"))
        why = wrong(name, command, {**taken, **found})
        if why:
            sys.exit(f"{path}:{number}: {why}")
        found[name] = command
    return found
