#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read all files of a folder by two builds: reader_snapshot.py OLD NEW FOLDER.

OLD and NEW are two nodewise commands. Every reader of machines and of patterns tries
every file. The output names each file that only one of them reads, and each difference
between what the two read.
"""
import itertools, json, os, re, subprocess, sys

TOPOLOGY = ["", "hwloc:", "ibnet:", "slurm:", "nccl:", "nvidia-smi:", "matrix:"]
PATTERN = ["", "list:", "matrix:", "metis:", "mm:", "qaplib:", "ti:", "native:", "monitoring:"]

def read(command, words):
    """What a command prints, or None if it refuses the file or needs more than 20 s."""
    try:
        done = subprocess.run([command, *words], capture_output=True, text=True, cwd=folder,
                              errors="replace", stdin=subprocess.DEVNULL, timeout=20)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode < 0 or done.returncode > 4:
        sys.exit(f"{command} {' '.join(words)}: status {done.returncode}")
    return done.stdout if done.returncode == 0 else None

def differences(old, new, path=""):
    """Paths and values that differ; keys that only NEW has are counted apart."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new.keys() - old.keys():
            added[key] = added.get(key, 0) + 1
        for key in old:
            yield from differences(old[key], new.get(key), f"{path}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} -> {len(new)}"
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{path}[{i}]")
    elif old != new:
        yield f"{path}: {old} -> {new}"

def compare(words):
    global same, refused
    texts = [read(command, words) for command in commands]
    what = " ".join(words)
    if texts[0] == texts[1]:
        same, refused = same + (texts[0] is not None), refused + (texts[0] is None)
    elif None in texts:
        print(f"{what}: {'now read' if texts[0] is None else 'now refused'}", flush=True)
    else:
        parts = [json.loads(text) if "--json" in words else text.splitlines() for text in texts]
        found = list(differences(*parts))
        same += not found
        if found:
            print(f"{what}: {len(found)} differences: {'; '.join(found[:4])}", flush=True)
    return texts[1] is not None

def sources(file):
    """A file alone, and with the files and topologies that it can be read with."""
    for kind in TOPOLOGY:
        reads = compare(["topology", "--json", kind + file])
        beside = sorted(os.listdir(os.path.join(folder, os.path.dirname(file))))
        if kind == "ibnet:" and reads:
            for other, key in itertools.product(beside, ["lft", "map"]):
                other = os.path.join(os.path.dirname(file), other)
                compare(["topology", "--json", f"ibnet:{file},{key}={other}"])
        if kind == "slurm:" and reads and file.endswith(".yaml"):
            text = open(os.path.join(folder, file)).read()
            for name in re.findall(r"^ *-? *topology: *(\w+)", text, re.M):
                compare(["topology", "--json", f"slurm:{file},topology={name}"])

*commands, folder = [os.path.abspath(word) for word in sys.argv[1:4]]
added, same, refused = {}, 0, 0
for top, folders, names in os.walk(folder):
    folders.sort()
    for name in sorted(names):
        file = os.path.relpath(os.path.join(top, name), folder)
        sources(file)
        for kind in PATTERN:
            compare(["pattern", "-q", kind + file, "-o", "-"])
print(f"{same} read the same, {refused} refused by both; keys that only NEW writes: "
      + ", ".join(sorted(added)))
