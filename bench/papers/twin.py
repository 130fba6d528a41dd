# SPDX-License-Identifier: BSD-3-Clause
"""The twin of a paper's figure or table: made, kept, drawn and read again.

A part is a module with TITLE, PAPER, EXPERIMENTS and page(data). An experiment
is a function run(nodewise) that returns a Table; its docstring's first line is
the caption.
"""
import datetime
import hashlib
import inspect
import json
import os
import platform
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs", "results")
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"]


class Table:
    """Rows of words and numbers; draw is how gnuplot shows them: 'bars' of all
    columns by the first, 'lines' over the first, or None."""

    def __init__(self, columns, rows, draw="bars", y="", **more):
        self.columns, self.rows, self.draw, self.y, self.more = columns, rows, draw, y, more


class Nodewise:
    """The built command, run in a folder of its own."""

    def __init__(self, build):
        self.build, self.folder = build, tempfile.mkdtemp(prefix="nodewise-results-")

    def call(self, *words, **more):
        env = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", **more)
        done = subprocess.run([os.path.join(self.build, "nodewise"), *map(str, words)],
                              cwd=self.folder, text=True, capture_output=True, env=env,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError("nodewise %s: %s" % (words[0], done.stderr.strip()[-300:]))
        return done.stdout

    def answer(self, *words):
        return json.loads(self.call(*words, "--json"))

    def script(self, *words, bars=False):
        """Runs a benchmark script; returns its output. With `bars`, the script has limits,
        and its exit status 1 is accepted: it means only that the script missed a limit."""
        done = subprocess.run([str(w) for w in words], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        if done.returncode and not (bars and done.returncode == 1):
            raise RuntimeError("%s: %s" % (words[0], (done.stderr or done.stdout).strip()[-300:]))
        return done.stdout

    def built(self, target):
        """The path of a program that the plain build leaves out."""
        subprocess.run(["ninja", "-C", self.build, target], check=True, capture_output=True)
        return os.path.join(self.build, target)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def machine():
    """This machine in words."""
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    return "%s, %d cores, Linux %s, load %.1f" % (model, os.cpu_count(),
                                                  platform.release().split("-")[0],
                                                  os.getloadavg()[0])


class Place:
    """Where one experiment's files are, and whether they are of this program."""

    def __init__(self, build, part, experiment):
        self.build, self.part, self.run = build, part, experiment
        self.name = experiment.__name__
        self.base = os.path.join(RESULTS, part, self.name)
        self.stamp = os.path.join(build, "results", part + "-" + self.name)

    def missing(self):
        needs = getattr(self.run, "needs", None)
        return needs(self.build) if needs else None

    def key(self):
        digest = hashlib.sha256(open(inspect.getsourcefile(self.run), "rb").read())
        digest.update(open(os.path.join(self.build, "nodewise"), "rb").read())
        return digest.hexdigest()

    def is_done(self):
        return (os.path.exists(self.base + ".tsv") and os.path.exists(self.stamp)
                and open(self.stamp).read() == self.key())

    def date(self):
        if not os.path.exists(self.base + ".tsv"):
            return "nothing"
        return read(self.base + ".tsv")["date"]

    def make(self):
        nodewise = Nodewise(self.build)
        try:
            table = self.run(nodewise)
        finally:
            nodewise.close()
        os.makedirs(os.path.dirname(self.base), exist_ok=True)
        self.write(table)
        draw(table, self.base, self.run.__doc__.split("\n")[0])
        os.makedirs(os.path.dirname(self.stamp), exist_ok=True)
        open(self.stamp, "w").write(self.key())

    def write(self, table):
        lines = ["# " + line.strip() for line in self.run.__doc__.strip().split("\n")]
        how = {"date": datetime.date.today(), "machine": machine(),
               "command": "make results-" + self.part.replace("_", "-"), **table.more}
        lines += ["# %s: %s" % (word, how[word]) for word in ("date", "machine", "command")]
        lines.append("# seed: %s" % getattr(self.run, "seed", "1 (the default)"))
        lines.append("\t".join(table.columns))
        lines += ["\t".join(show(value) for value in row) for row in table.rows]
        with open(self.base + ".tsv.new", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(self.base + ".tsv.new", self.base + ".tsv")


def show(value):
    if isinstance(value, float):
        return "%.4g" % (value if abs(value) > 1e-9 else 0)
    return str(value)


def read(path):
    """Reads a table: how it was made, caption, columns, and rows as dicts of strings."""
    found = {"caption": "", "date": "?", "machine": "?", "command": "?", "seed": "?", "rows": []}
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        how = line[2:].split(": ", 1)
        if line.startswith("# ") and how[0] in found and len(how) == 2:
            found[how[0]] = how[1]
        elif line.startswith("#"):
            found["caption"] = found["caption"] or line[2:]
        elif "columns" not in found:
            found["columns"] = line.split("\t")
        else:
            found["rows"].append(dict(zip(found["columns"], line.split("\t"))))
    return found


def quote(text):
    return '"%s"' % text.replace("\\", "").replace('"', "'")


def names(table):
    """The names below the bars."""
    return [show(row[0]) for row in table.rows if table.more.get("pick", lambda row: True)(row)]


def room_right(table):
    """The number of characters to the right of the bars for the last name, which is written
    at 45 degrees."""
    return max(3.0, 0.66 * len(names(table)[-1]) - 55 / len(names(table)) + 2)


def height(table):
    """The height of the picture in pixels, including the space that long names need below
    the bars."""
    longest = max(map(len, names(table))) if table.draw == "bars" else 0
    return 420 + max(0, 5 * (longest - 12))


def draw(table, base, caption):
    if table.more.get("svg"):
        open(base + ".svg", "w", encoding="utf-8").write(table.more["svg"])
    if not table.draw:
        return
    more = table.more
    columns = more.get("show", table.columns[more.get("first", 1):])
    numbers = [table.columns.index(c) + 1 for c in columns]
    lines = ["set terminal svg size 900,%d font 'sans-serif,12' background '#ffffff'" % height(table),
             "set output %s" % quote(base + ".svg"), "set title %s noenhanced" % quote(caption),
             "set ylabel %s noenhanced" % quote(table.y), "set key outside below maxrows 2",
             "set grid ytics lc '#dddddd'", "set datafile separator '\\t'",
             "set yrange [*<0:*]"]
    if table.draw == "bars":
        lines += ["set style data histograms", "set style histogram clustered gap 1",
                  "set style fill solid 1 noborder", "set xtics rotate by -45 noenhanced",
                  "set rmargin %.1f" % room_right(table)]
    else:
        lines += ["set xlabel %s noenhanced offset 0,0.6" % quote(table.columns[0]),
                  "set style data linespoints"]
    lines += more.get("gnuplot", [])
    plots = []
    for i, number in enumerate(numbers):
        using = (":xtic(1)" if not i else "") if table.draw == "bars" else ""
        what = number if table.draw == "bars" else "1:%d" % number
        plots.append(("'-' using %s%s title %s noenhanced lc rgb '%s'"
                      % (what, using, quote(table.columns[number - 1]),
                         COLOURS[i % len(COLOURS)])))
    data = "\n".join("\t".join(show(v) for v in row) for row in table.rows
                     if more.get("pick", lambda row: True)(row))
    text = "\n".join(lines) + "\nplot " + ", ".join(plots) + "\n" + (data + "\ne\n") * len(plots)
    subprocess.run(["gnuplot"], input=text, text=True, check=True, capture_output=True)


class Data:
    """The tables of a part, which its page reads."""

    def __init__(self, part):
        self.part = part

    def has(self, name):
        return os.path.exists(os.path.join(RESULTS, self.part, name + ".tsv"))

    def any(self):
        return os.path.isdir(os.path.join(RESULTS, self.part))

    def table(self, name):
        return read(os.path.join(RESULTS, self.part, name + ".tsv"))

    def row(self, name, first):
        return next(r for r in self.table(name)["rows"] if list(r.values())[0] == first)


def page_text(part, name):
    """The text of a part around its tables, with all figures read from them."""
    data, out = Data(name), ["# " + part.TITLE, "", part.PAPER, ""]
    for experiment in part.EXPERIMENTS:
        title = experiment.__name__
        if not data.has(title):
            continue
        table = data.table(title)
        out += ["## " + table["caption"], ""]
        if os.path.exists(os.path.join(RESULTS, name, title + ".svg")):
            out += ["![%s](%s/%s.svg)" % (title, name, title), ""]
        out += [part.words(title, data).strip(), "",
                "Numbers: [%s.tsv](%s/%s.tsv); %s; %s; `%s`; seed %s."
                % (title, name, title, table["date"], table["machine"], table["command"],
                   table["seed"]), ""]
    return "\n".join(out)


def write_page(part, name, troubles):
    """Writes docs/results/PART.md; missing experiments and the reasons are at the end."""
    lost = list(troubles) + list(getattr(part, "ABSENT", []))
    text = page_text(part, name)
    if lost:
        text += "\n## Missing, or kept from an earlier run\n\n" + "\n".join("- " + line for line in lost)
    os.makedirs(RESULTS, exist_ok=True)
    with open(os.path.join(RESULTS, name + ".md"), "w", encoding="utf-8") as file:
        file.write(text.rstrip() + "\n")


def differs(part, name):
    """Whether a page differs from what its tables give."""
    path = os.path.join(RESULTS, name + ".md")
    if not os.path.exists(path):
        return Data(name).any()
    kept = open(path, encoding="utf-8").read()
    return kept.split("\n## Missing")[0].rstrip() != page_text(part, name).rstrip()


def write_index(parts):
    lines = ["# Results", "",
             "`make results` (or `make results-PART`) makes the tables and figures of five papers again. Each caption says",
             "how its figures were obtained, and each table has the date, the machine and the command:", "",
             "- **measured**: real runs on the named machine",
             "- **emulated**: real runs whose network was slowed down (shaped links)",
             "- **simulated**: SimGrid plays the messages on a described cluster",
             "- **modelled**: real code in which test doubles of hardware take the hardware's time",
             "- **computed**, **predicted**: results of formulas", "",
             "The pages:", ""]
    for name in parts:
        page = os.path.join(RESULTS, name + ".md")
        if os.path.exists(page):
            title = open(page, encoding="utf-8").readline()[2:].strip()
            tables = sorted(f for f in os.listdir(os.path.join(RESULTS, name))
                            if f.endswith(".tsv")) if os.path.isdir(os.path.join(RESULTS, name)) else []
            lines.append("- [%s](%s.md): %d tables" % (title, name, len(tables)))
        else:
            lines.append("- %s: not run yet" % name.replace("_", " "))
    lines.append("- [GPU paths on one NVIDIA H100](gpu.md): measured by `bench/gpu/run`")
    lines.append("- [Training jobs](training.md): simulated by `bench/training/run`")
    with open(os.path.join(RESULTS, "README.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
