#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every function of mpi.h with a buffer: a C function that calls it for every.c, or
its name, if the table has neither a row nor a reason for it (a newer MPI).

    every.py SOURCE OUTPUT COMPILER [ARGUMENTS...]
"""
import fnmatch
import os
import re
import sys

SOURCE, OUTPUT, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "src/runtime"))
import generate  # noqa: E402

VALUES = {
    "dest": "0", "source": "0", "root": "0", "rank": "0", "disp": "0", "offset": "0",
    "tag": "TAG", "stag": "TAG", "rtag": "TAG", "partitions": "1", "unit": "1",
    "type": "MPI_INT", "stype": "MPI_INT", "rtype": "MPI_INT", "otype": "MPI_INT",
    "ttype": "MPI_INT", "op": "MPI_SUM", "info": "MPI_INFO_NULL", "status": "&status",
    "request": "&request", "message": "&message", "position": "&at_byte",
    "datarep": '"external32"', "file": "file", "size": "BYTES",
    "rcounts": "counts", "scounts": "counts", "places": "places", "splaces": "places",
    "rplaces": "places", "stypes": "types", "rtypes": "types"}


def is_buffer(parameter):
    return re.search(r"void\s*\*(?!\s*\*)", parameter)


def array(name, parameter):
    """An array that a call with vectors of counts (v) or types (w) needs."""
    kind = re.match(r"(?:const\s+)?(\w+)", parameter)[1]
    if name.endswith("types"):
        return "    const %s types[2] = {MPI_INT, MPI_INT};" % kind
    values = "{3, 3}" if name.endswith("counts") else "{0, 4}"
    return "    const %s %s[2] = %s;" % (
        kind, VALUES[name], values)


def value(name, function):
    """The argument of that name."""
    if name == "comm" and function.startswith("Win"):
        return "MPI_COMM_WORLD"
    if name == "comm":
        return "ring" if "eighbor" in function else "MPI_COMM_SELF"
    if name == "win":
        return "&window" if function.startswith("Win_create") else "window"
    return VALUES.get(name, "COUNT")


def around(names, function):
    """The statements that must precede the call."""
    if "message" in names:
        return "    host_sends();\n    MPI_Mprobe(0, TAG, MPI_COMM_SELF, &message, &status);"
    if "dest" in names and "source" not in names:
        return "    host_receives();"
    if "source" in names and "dest" not in names:
        return "    host_sends();"
    return ""


def caller(function, names, parameters):
    buffers = iter(range(3))
    arguments, arrays = [], []
    for name, parameter in zip(names, parameters):
        if is_buffer(parameter):
            arguments.append("at[%d]" % next(buffers))
            continue
        arguments.append(value(name, function))
        if arguments[-1] in ("counts", "places", "types"):
            arrays.append(array(name, parameter))
        if name == "position":
            arrays.append("    %s at_byte = 0;" % parameter.split("*")[0].strip())
    # calls with vectors of types (w) count displacements in bytes
    if "lltoallw" in function:
        arrays = [a.replace("{0, 4}", "{0, 16}") for a in arrays]
    ends = []
    if "request" in names:
        started = function.removesuffix("_c").endswith("_init")
        ends.append("    rc = finish(rc, &request, %d);" % started)
    if "position" in names:
        ends.append("    position = (int)at_byte;")
    return "\n".join(
        ["static int call_%s(char *const *at)" % function, "{",
         "    MPI_Request request = MPI_REQUEST_NULL;",
         "    MPI_Message message = MPI_MESSAGE_NULL;", "    MPI_Status status;",
         "    int rc;"] + sorted(set(arrays)) +
        ["", "    (void)request, (void)message, (void)status;"] +
        [line for line in [around(names, function)] if line] +
        ["    rc = %s(%s);" % (generate.called(function), ", ".join(arguments))] + ends +
        ["    host_settles(rc);", "    return rc;", "}", ""])


def main():
    rows, skips = generate.read_table(
        os.path.join(SOURCE, "src/runtime/messages/calls.table"))
    rows = {key: row for key, row in rows.items() if not key.startswith("form ")}
    header = generate.prototypes(COMMAND)
    staged = dict(generate.all_rows(rows, header))
    lines, bad, called, unknown = [], [], [], []
    for function, parameters in sorted(header.items()):
        places = [i for i, p in enumerate(parameters) if is_buffer(p)]
        if not places:
            continue
        if function not in staged:
            if not any(fnmatch.fnmatchcase(function, pattern) for pattern, _, _ in skips):
                unknown.append(generate.called(function))
            continue
        _, names, action = staged[function]
        words = re.findall(r"\w+", action)
        bad += ["%s: the row says nothing of %s" % (generate.called(function), names[i])
                for i in places if names[i] not in words]
        lines.append(caller(function, names, parameters))
        called.append((function, len(places)))
    if bad or not called:
        sys.exit("\n".join(bad) or "mpi.h has no function with a buffer")
    lines += ["static const struct function functions[] = {"]
    lines += ['    {"%s", %d, call_%s},' % (generate.called(name), n, name) for name, n in called]
    lines += ["};", "static const char *const unknown[] = {"]
    lines += ['    "%s",' % name for name in unknown] + ["    NULL};", ""]
    with open(OUTPUT, "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


main()
