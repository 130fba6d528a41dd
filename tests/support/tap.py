# SPDX-License-Identifier: BSD-3-Clause
"""The lines of the Test Anything Protocol that a test in Python prints."""
prefix = ""  # stands before each name
count = 0


def _line(word, text):
    global count
    count += 1
    print("%s %d - %s%s" % (word, count, prefix, text), flush=True)


def ok(good, name, *notes):
    """Reports a test. If it failed, prints the end of each note."""
    _line("ok" if good else "not ok", name)
    for note in () if good else notes:
        print("# " + str(note)[-3000:].replace("\n", "\n# "), flush=True)


def skip(name, why):
    _line("ok", "%s # SKIP %s" % (name, why))


def plan():
    """Prints the number of tests, after the last."""
    print("1..%d" % count, flush=True)
