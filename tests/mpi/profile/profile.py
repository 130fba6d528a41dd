#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of real programs against what they must say, one TAP line each.

    profile.py NAME FLAVOUR

Oracles: what a program counted itself, Open MPI's own monitoring, and a
program's output without the profiler. The environment has NODEWISE, NW_BUILD,
NW_SOURCE, NW_MPIEXEC and NW_FAKE_CUDA (a folder).
"""
import collections, glob, os, re, shutil, signal, subprocess, sys, tempfile, time

NAME, FLAVOUR = sys.argv[1:3]
NODEWISE, BUILD = os.environ["NODEWISE"], os.environ["NW_BUILD"]
SOURCE, MPIEXEC = os.environ["NW_SOURCE"], os.environ["NW_MPIEXEC"]
sys.dont_write_bytecode = True
sys.path.insert(0, SOURCE + "/tests/support")
sys.path.insert(0, SOURCE + "/tests/support/netns")
import launchers
import tap
from tap import ok, skip

LIBRARY = "%s/libnodewise-%s.so" % (BUILD, FLAVOUR)
OPENMPI = FLAVOUR == "openmpi"


def program(name):
    return "%s/tests/mpi/profile/%s-%s" % (BUILD, name, FLAVOUR)


def launcher(ranks, mca=(), variables=()):
    command = [MPIEXEC]
    if OPENMPI:
        command += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        if os.getuid() == 0:
            command.append("--allow-run-as-root")
        for key, value in mca:
            command += ["--mca", key, str(value)]
    for variable in variables:
        command += (["-x", variable] if OPENMPI
                    else ["-genv"] + variable.split("=", 1))
    return command + ["-n", str(ranks)]


def run(command, env={}, seconds=600):
    process = subprocess.Popen(command, text=True, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def profile(command, *options, env={}, seconds=600):
    """Runs the program under `nodewise profile -q`; returns the finished process and the
    lines of the pattern."""
    if os.path.exists("out.pattern"):
        os.unlink("out.pattern")
    result = run([NODEWISE, "profile", "-q", "-o", "out.pattern", *options, "--",
                  *command], env, seconds)
    lines = []
    if os.path.exists("out.pattern"):
        lines = open("out.pattern").read().split("\n")
    return result, lines


def edges(lines):
    """(src, dst) -> [bytes, messages] of a pattern."""
    found = collections.defaultdict(lambda: [0, 0])
    for words in (line.split() for line in lines):
        if len(words) >= 5 and words[0].isdigit():
            found[int(words[0]), int(words[1])][0] += int(words[3])
            found[int(words[0]), int(words[1])][1] += int(words[4])
    return dict(found)


def monitoring(kinds):
    """{(src, dst): [bytes, messages]} of what Open MPI's monitoring counted."""
    found = collections.defaultdict(lambda: [0, 0])
    for path in glob.glob("monitor.*.prof"):
        for words in (line.split() for line in open(path)):
            if words and words[0] in kinds and int(words[5]):
                found[int(words[1]), int(words[2])][0] += int(words[3])
                found[int(words[1]), int(words[2])][1] += int(words[5])
        os.unlink(path)
    return dict(found)


MONITOR = (("pml_monitoring_enable", 2), ("pml_monitoring_enable_output", 3),
           ("pml_monitoring_filename", "./monitor"))


def monitors():
    """Whether Open MPI's own monitoring works; in 6.0.0rc2 it ends every program."""
    works = run(launcher(2, MONITOR) + [program("cg")]).returncode == 0
    monitoring("E")  # removes its files
    if not works:
        ok(True, "compared with Open MPI's own monitoring # SKIP that ends programs here")
    return works


def same(name, got, wanted):
    wrong = ["%s: %s, not %s" % (key, got.get(key), wanted.get(key))
             for key in sorted(set(got) | set(wanted), key=str)
             if got.get(key) != wanted.get(key)]
    ok(not wrong and wanted, name, *wrong[:20], "%d wanted" % len(wanted))


def counted(text):
    """What a test program counted: (src, dst, kind) -> (bytes, messages)."""
    rows = [line.split() for line in text.split("\n")]
    return {tuple(row[:3]): tuple(row[3:5]) for row in rows
            if len(row) >= 5 and row[0].isdigit() and row[2] in
            ("hh", "gg", "hg", "gh")}


def keyed(lines, key):
    """The lines of a pattern that begin with a key: first word -> the numbers after it."""
    rows = [line.split() for line in lines if line.startswith(key + ": ")]
    return {row[1]: [int(word) for word in row[2:]] for row in rows}


def times_fit(lines):
    """Minimum, mean and maximum of each call; no rank was longer in MPI than in the run."""
    times = keyed(lines, "time")
    calls = {name: row for name, row in times.items() if name not in ("MPI", "run")}
    return (all(low <= mean <= high for _, low, mean, high in times.values())
            and times["MPI"][0] == sum(row[0] for row in calls.values())
            and abs(times["MPI"][2] - sum(row[2] for row in calls.values())) <= len(calls)
            and times["MPI"][3] <= times["run"][3])


# every send mode, over communicators that are made and freed; one region is not profiled
def modes():
    result, lines = profile(launcher(4) + [program("modes")],
                            "--collectives", "off")
    ok(result.returncode == 0 and not result.stderr, "runs", result)
    wanted = {}
    for row in (line.split() for line in result.stdout.split("\n")):
        if len(row) == 4:
            wanted[int(row[0]), int(row[1])] = [int(row[3]), int(row[2])]
    same("counts what the program counted", edges(lines), wanted)
    sizes_fit = True
    for words in (line.split() for line in lines):
        if len(words) > 5 and words[0].isdigit():
            counts = [int(word.split(":")[1]) for word in
                      " ".join(words[5:]).replace(",", " ").split()]
            sizes_fit &= sum(counts) == int(words[4])
    ok(sizes_fit, "sizes add up to messages", lines)
    # 20 MPI_Send of the program, on one rank each
    times = keyed(lines, "time")
    ok(times_fit(lines) and times["MPI_Send"][0] == 20 and times["run"][0] == 4,
       "time of each call", lines)
    sums = [sum(pair) for pair in zip(*edges(lines).values())]
    ok(keyed(lines, "traffic") == {"point-to-point": sums}, "all messages are point-to-point", lines)


def fortran_cg():
    result, lines = profile(launcher(4) + [program("cg")], "--collectives", "off")
    ok(result.returncode == 0, "runs", result)
    steps = int(result.stdout.split()[1])
    same("halo of each step", edges(lines),
         {(r, r + d): [steps * 96 * 8, steps] for r in range(4) for d in (-1, 1)
          if 0 <= r + d < 4})
    # one reduction before the loop, two a step, one after
    result, lines = profile(launcher(4) + [program("cg")], "--collectives",
                            "allreduce:recursive-doubling")
    halo = {(r, r + d): [steps * 96 * 8, steps] for r in range(4)
            for d in (-1, 1) if 0 <= r + d < 4}
    calls = 1 + 2 * steps + 1
    for r in range(4):
        for peer in (r ^ 1, r ^ 2):
            cell = halo.setdefault((r, peer), [0, 0])
            cell[0] += 8 * calls
            cell[1] += calls
    same("and its reductions", edges(lines), halo)


def fortran_heat():
    result, lines = profile(launcher(4) + [program("heat")], "--collectives", "off")
    ok(result.returncode == 0, "runs", result)
    # 2 x 2, periodic: two messages a step with each of two neighbours
    same("halo of each step", edges(lines),
         {(r, r ^ d): [2 * 50 * 24 * 8, 2 * 50] for r in range(4) for d in (1, 2)})


def threads():
    command = launcher(3)
    command[1:1] = launchers.options_for_threads(FLAVOUR)
    result, lines = profile(command + [program("threads")], "--collectives", "off")
    ok(result.returncode == 0, "runs", result)
    same("counts every thread's messages", counted("\n".join(lines)),
         counted(result.stdout))
    times = keyed(lines, "time")
    ok(times["MPI"][0] == sum(row[0] for name, row in times.items() if name not in ("MPI", "run")),
       "counts every thread's calls", lines)


def others():
    command = launcher(6) + [program("others")]
    result, lines = profile(command, "--collectives", "off")
    # Open MPI 6.0.0rc2 says so of its own UCX windows
    said = re.sub(r"^.*osc/ucx.*priority set inside.*\n\s*", "", result.stderr, flags=re.M)
    ok(result.returncode == 0 and not said, "runs", result)
    same("one-sided calls and neighbourhoods", counted("\n".join(lines)),
         counted(result.stdout))
    traffic, sums = keyed(lines, "traffic"), [sum(pair) for pair in zip(*edges(lines).values())]
    ok({"one-sided", "collective"} <= set(traffic) and times_fit(lines) and
       [sum(pair) for pair in zip(*traffic.values())] == sums,
       "bytes by their origin add up to all bytes", lines)
    ok(keyed(lines, "time")["MPI_Win_fence"][3], "time in calls that only wait", lines)
    result, lines = profile(command + ["across"])
    ok(result.returncode == 0 and not result.stderr, "types that mean nothing", result)
    same("between groups", counted("\n".join(lines)), counted(result.stdout))
    # MPICH 5.0 over UCX: a third of all calls of MPI_Comm_spawn on a busy machine fail with
    # this error, with or without Nodewise
    def unless_mpich_fails(attempt):
        for _ in range(8):
            result = attempt()
            if "ucx_spawn.c" not in str(result):
                break
        return result

    if unless_mpich_fails(lambda: run(command + ["spawn"])).returncode:
        ok(True, "processes outside # SKIP this MPI cannot spawn here")
        return
    result, lines = unless_mpich_fails(
        lambda: profile(command + ["spawn"], "--collectives", "off"))
    ok(result.returncode == 0, "spawns", result)
    same("the spawned process is counted apart", counted("\n".join(lines)),
         counted(result.stdout))
    ok(any("1 message, 4 bytes to processes outside" in line for line in lines),
       "and its message is named", lines[:5])
    if OPENMPI and launchers.version(FLAVOUR) >= (5, 0):
        skip("its own world has a profile",
             "Open MPI 5 gives spawned processes no variables of -x")
        return
    ok(len(glob.glob("out.pattern.spawn.*")) == 1, "its own world has a profile",
       os.listdir())


def kinds():
    folder = os.environ["NW_FAKE_CUDA"]
    for managed in [], ["FAKE_CUDA_UNIFIED=1"]:
        result, lines = profile(
            launcher(4, variables=["LD_LIBRARY_PATH=" + folder,
                                   "FAKE_CUDA_READABLE=1"] + managed) + [program("kinds")])
        ok(result.returncode == 0 and not result.stderr, "runs", result)
        got, wanted = counted("\n".join(lines)), counted(result.stdout)
        ok({key[2] for key in wanted} == {"hh", "gg", "hg", "gh"}, "all four kinds")
        same("host and GPU are told apart", got, wanted)


# rings and double trees, in communicators with ranks in other orders
def nccl():
    folder = os.environ["NW_FAKE_NCCL"]
    command = launcher(4, variables=["LD_LIBRARY_PATH=" + folder]) + [program("nccl")]
    result, lines = profile(command, "--collectives", "off")
    ok(result.returncode == 0 and not result.stderr, "runs", result)
    same("NCCL's traffic by rank of the job", counted("\n".join(lines)),
         counted(result.stdout))
    result, lines = profile(command, "--collectives", "off",
                            env={"NODEWISE_NCCL": "ring"})
    ok(counted("\n".join(lines)) != counted(result.stdout), "trees can be put off")
    short = [profile(command + [str(n)], "--collectives", "off")[0] for n in range(6)]
    said = sum("NCCL's messages are not counted" in result.stderr for result in short)
    ok(all(result.returncode == 0 for result in short) and said > 2,
       "memory runs out on one rank: said %d times" % said, short)
    result, lines = profile(command + ["0", "init"], "--collectives", "off")
    ok(result.returncode == 0 and not lines and result.stderr.count("could not be joined") == 1,
       "memory runs out in MPI_Init on one rank: the program runs without a profile", result)


def starts_several():
    """Whether the launcher starts several programs: that of Open MPI 5.0.7 ends by a signal."""
    return run(launcher(1) + ["true", ":", "-n", "1", "true"]).returncode == 0


# two jobs with the same profile, and files that are truncated
def shared():
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with open("victim", "w") as file:
        file.write("data")
    os.mkdir("folder")
    for rank in range(2):
        os.symlink("../victim", "folder/p.part.%d" % rank)
    command = launcher(2, variables=["LD_PRELOAD=" + LIBRARY, "NODEWISE_RECORD=folder/p"])
    jobs = [subprocess.Popen(command + [program("talks"), end], env=dict(os.environ, **environment),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for end in ("end.1", "end.2")]
    while len(glob.glob("folder/p.part.*.*")) < 4 and all(job.poll() is None for job in jobs):
        time.sleep(0.05)
    parts = glob.glob("folder/p.part.*.*")
    ok(len(parts) == 4 and all(os.stat(part).st_mode & 0o777 == 0o600 for part in parts),
       "each rank has a file of its own that others cannot open", parts)
    time.sleep(1)
    for part in parts:
        os.truncate(part, 0)
    # the second job ends first, and the first one then adds to what that has written
    for job, end in list(zip(jobs, ("end.1", "end.2")))[::-1]:
        time.sleep(1)
        open(end, "w").close()
        said, _ = job.communicate(timeout=600)
        ok(job.returncode == 0 and said.count("done") == 2, "a job ends well", job.returncode, said)
    ok("ranks 2" in open("folder/p").read() and not glob.glob("folder/p.part.*.*"),
       "a profile, and no part", os.listdir("folder"))
    mask = os.umask(0)
    os.umask(mask)
    ok(os.stat("folder/p").st_mode & 0o777 == 0o666 & ~mask, "the profile follows the umask")
    ok(open("victim").read() == "data", "a link is not followed")
    with open("script", "w") as file:
        for ranks in 2, 3:
            file.write(" ".join(launcher(ranks) + [program("ends"), "good"]) + "\n")
        file.write("exit 0\n")
    result, lines = profile(["sh", "script"], "--mpi", FLAVOUR, env=environment)
    ok("ranks 2" in "\n".join(lines) and "ranks 3" in open("out.pattern.2").read()
       and "'%s/out.pattern.2'" % os.getcwd() in result.stderr,
       "the second program of a script has a profile of its own", result, os.listdir())


# programs that start in an unusual way
def starts():
    words = ["%s\n" % " ".join(["-n", str(n), program("ends"), "good"]) for n in (2, 1)]
    with open("application", "w") as file:
        file.writelines(words)
    if OPENMPI and not starts_several():
        skip("an application file", "this launcher crashes where there are several programs")
        return
    if OPENMPI:
        for option in "--app", "-app":
            result, lines = profile(launcher(1)[:-2] + [option, "application"])
            ok(result.returncode == 5 and "ranks 3 edges 3" in "\n".join(lines).replace("edges 6", "edges 3"),
               option + " is recorded", result, lines[:3])
        return
    source = os.path.dirname(os.path.abspath(__file__)) + "/sessions.c"
    if run(["mpicc.mpich", "-o", "sessions", source]).returncode:
        ok(True, "sessions # SKIP this MPI has none")
        return
    # bytes that each rank sends to the next one, until the session or MPI is finalized
    sent = {"one": 101, "subset": 101, "later": 111, "init": 110}
    for how, count in sent.items():
        result, lines = profile(launcher(3) + ["./sessions", how], "--collectives", "off")
        ok(result.returncode == 0 and result.stdout.count("done") == 3 and
           {(a, b): w[0] for (a, b), w in edges(lines).items()}
           == {(r, (r + 1) % 3): count for r in range(3)}, "sessions, %s" % how, result, lines)
    reasons = {"none": "creates no communicator of all processes", "several": "several MPI sessions",
               "turned": "another order"}
    for how, reason in reasons.items():
        result, lines = profile(launcher(3) + ["./sessions", how])
        ok(result.returncode == 0 and result.stdout.count("done") == 3 and not lines
           and result.stderr.count(reason) == 1, "sessions, %s: the reason is named" % how, result)


# however the program ends, the profile has what it had sent
def ends():
    wanted = {(r, (r + 1) % 4): [80, 1] for r in range(4)}
    reasons = {"abort": "rank 1 called MPI_Abort with code 5",
               "handler": "rank 1 called MPI_Abort with code 5",
               "exit": "rank 1 ended without MPI_Finalize",
               "kill": "unknown"}
    for how, reason in reasons.items():
        command = launcher(4) + [program("ends"), how]
        if how == "exit" and not OPENMPI:
            # Hydra returns 5 or 9, depending on which rank it notices first. That of MPICH 5.0
            # hangs in 1 of 30 such jobs, with or without Nodewise.
            statuses = {5, 9}
            for seconds in 60, 60, 60, 600:
                try:
                    result, lines = profile(command, "--collectives", "off", seconds=seconds)
                    break
                except subprocess.TimeoutExpired:
                    for part in glob.glob("out.pattern.part*"):
                        os.unlink(part)
        else:
            statuses = {run(command).returncode}
            result, lines = profile(command, "--collectives", "off")
        ok(result.returncode in statuses, "%s: exit status" % how, result, statuses)
        partial = [line for line in lines if line.startswith("partial:")]
        ok(partial and reason in partial[0], "%s: says why" % how, lines[:6])
        same("%s: what was sent" % how, edges(lines), wanted)
        ok(not glob.glob("out.pattern.part*"), "%s: leaves no part" % how)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background ignores it
    job = subprocess.Popen([NODEWISE, "profile", "-o", "cut.pattern", "--collectives", "off",
                            "--", *launcher(4), program("ends"), "wait"], text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    job.stdout.readline()
    os.killpg(job.pid, signal.SIGINT)
    told = job.communicate(timeout=120)[1]
    same("Ctrl-C: what was sent", edges(open("cut.pattern").read().split("\n")) if
         os.path.exists("cut.pattern") else {}, wanted)
    # Hydra's own status may be 0 after a Ctrl-C
    ok((job.returncode or FLAVOUR == "mpich") and re.search("wrote cut.pattern: 4 ranks, .*; partial: .*ended without "
                                    "MPI_Finalize", told), "Ctrl-C: says that a part is kept", told)
    result, lines = profile(launcher(4) + [program("ends"), "early"])
    ok("ranks 4 edges 0" in lines and any(reasons["abort"] in line for line in lines),
       "early: a profile without messages", result, lines)
    result, lines = profile(launcher(4) + [program("ends"), "good"],
                            "--collectives", "off")
    ok(result.returncode == 5, "good: exit status", result)
    ok(not any(line.startswith("partial:") for line in lines), "good: is whole")
    # the profile comes from memory, and the file that rank 1 has closed is not left behind
    result, lines = profile(launcher(4) + [program("ends"), "closed"], "--collectives", "off")
    ok(result.returncode == 5 and not any(line.startswith("partial:") for line in lines)
       and edges(lines) == wanted, "closed: is whole", result, lines[:6])
    ok(not glob.glob("out.pattern.part*"), "closed: leaves no part", glob.glob("out.pattern.part*"))
    # no failure of the profiler may make the program fail, not even a removed folder
    result = run(launcher(4, variables=["LD_PRELOAD=" + LIBRARY,
                                        "NODEWISE_RECORD=/nowhere/x.pattern"])
                 + [program("ends"), "good"])
    ok(result.returncode == 5, "unwritable: exit status", result)
    ok(result.stderr.count("nodewise:") == 1, "unwritable: one warning", result)
    # a process alone, without a launcher
    alone = {"LD_PRELOAD": LIBRARY, "NODEWISE_RECORD": "alone.pattern"}
    for way, status in ("caught", 5), ("caught-exit", 7):
        result = run([program("ends"), way], alone, 60)
        ok(result.returncode == status, way + ": a signal while the part is written", result)
    result = run([program("ends"), "plugin"], {"LD_PRELOAD": LIBRARY}, 60)
    ok(result.returncode == 5, "a library that the program unloads does not stay", result)
    result = run([program("ends"), "limited"], alone, 60)
    ok(result.returncode == 5 and "no profile" in result.stderr and not os.path.exists("alone.pattern"),
       "a limit of the size of files ends no program", result)
    reader, writer = os.pipe()
    os.close(reader)
    status = subprocess.call([program("ends"), "good"], stderr=writer, timeout=60, env=dict(
        os.environ, LD_PRELOAD=LIBRARY, NODEWISE_RECORD="/nowhere/x.pattern"))
    os.close(writer)
    ok(status == 5, "a warning that nobody reads ends no program", status)
    os.mkfifo("pipe")  # no process has its other end open
    for name in "RECORD", "PROFILE":
        result = run(launcher(4, variables=["LD_PRELOAD=" + LIBRARY, "NODEWISE_REORDER=on",
                                            "NODEWISE_%s=pipe" % name])
                     + [program("ends"), "good"])
        ok(result.returncode == 5 and result.stderr.count("pipe: this is a pipe") == 1,
           "a pipe in NODEWISE_%s holds up no program" % name, result)


# a pattern of each phase; phases are begun by the program or by time
def phases():
    def of(name):
        return edges(open(name).read().split("\n"))

    itself = {(r, r): [8, 1] for r in range(3)}
    forth = {(r, (r + 1) % 3): [3 * 16, 3] for r in range(3)}
    back = {(r, (r + 2) % 3): [3 * 80, 3] for r in range(3)}
    open("out.pattern.phase-7", "w").close()  # of an earlier run
    result, lines = profile(launcher(3) + [program("phases")], "--phases")
    ok(result.returncode == 0 and not result.stderr, "runs", result)
    same("the pattern of the whole run", edges(lines), {**itself, **forth, **back})
    ok(sorted(glob.glob("out.pattern.*")) == ["out.pattern.phase-%d" % n for n in range(3)],
       "a file for each phase of this run", os.listdir())
    for number, wanted in enumerate((itself, forth, back)):
        same("phase %d" % number, of("out.pattern.phase-%d" % number), wanted)
    times = keyed(open("out.pattern.phase-2").read().split("\n"), "time")
    ok(times["MPI_Sendrecv"][0] == 9 and "run" not in times, "the time of a phase", times)
    result = run([NODEWISE, "profile", "--phases", "-o", "said.pattern", "--"] + launcher(3)
                 + [program("phases")])
    said = [line for line in result.stderr.split("\n") if ": phase " in line]
    ok(len(said) == 3 and "phase 1 (said.pattern.phase-1): point-to-point 144 B in 9 messages"
       in said[1], "one line for each phase", result)
    result, lines = profile(launcher(3) + [program("phases"), "sleep"], "--phases=500ms")
    names = glob.glob("out.pattern.phase-*")
    sums = collections.defaultdict(int)
    for name in names:
        for pair, (count, _) in of(name).items():
            sums[pair] += count
    ok(len(names) > 1 and sums == {pair: row[0] for pair, row in edges(lines).items()},
       "phases by time add up to the run", names, lines)
    result, _ = profile(launcher(3) + [program("phases")])
    ok(len(glob.glob("out.pattern.phase-*")) == len(names), "no phases unless asked for")


def quiet():
    plain = run(launcher(2) + [program("modes"), "all"])
    result, _ = profile(launcher(2) + [program("modes"), "all"])
    ok(result.stdout == plain.stdout and result.stderr == plain.stderr,
       "same output", result, plain)
    # the user's own LD_PRELOAD stays, and the launcher does not get ours
    script = "import os; print(os.environ['LD_PRELOAD'])"
    result, _ = profile(launcher(1) + [sys.executable, "-c", script],
                        env={"LD_PRELOAD": "libm.so.6"})
    ok(result.stdout.strip() == "libm.so.6:" + LIBRARY, "keeps LD_PRELOAD", result)
    ok(result.returncode == 0 and "no profile" in result.stderr,
       "says that there is no profile", result)
    result, _ = profile(["/nonexistent/mpirun", "-n", "2", "x"])
    ok(result.returncode == 4, "unknown launcher", result)
    result, lines = profile([program("modes"), "all"])
    ok(result.returncode == 0 and "ranks 1 edges 1" in lines,
       "a single rank without a launcher", result, lines[:3])
    result, _ = profile(launcher(2) + [program("modes"), "all"],
                        env={"NODEWISE_COLLECTIVES": "bcast:nonsense"})
    ok(result.returncode == 0 and "NODEWISE_COLLECTIVES" in result.stderr,
       "a wrong model is named", result)
    misspelt = launcher(2, variables=["NODEWISE_RECROD=x", "LD_PRELOAD=" + LIBRARY])
    result = run(misspelt + [program("modes"), "all"])
    ok(result.returncode == 0 and result.stdout == plain.stdout
       and result.stderr.count("unknown variable NODEWISE_RECROD") == 1,
       "a misspelt variable is named once, on rank 0", result)


def mixed(*groups):
    """Runs groups of (ranks, words before the program...) as one job, which has to end."""
    command = launcher(groups[0][0])[:-2]
    for count, *words in groups:
        command += ["-n", str(count), "env", *words, program("modes"), "all", ":"]
    return run(command[:-1])


# some ranks lack the library or its variables: the others wait for them at most 10 s and
# report it
def absent():
    if not starts_several():
        skip("ranks that lack the library", "this launcher crashes where there are several programs")
        return
    ours, record = "LD_PRELOAD=" + LIBRARY, "NODEWISE_RECORD=few.pattern"
    plain = run(launcher(3) + [program("modes"), "all"])
    for groups in ((1, ours), (2,)), ((2,), (1, ours)), ((3, ours),):
        result = mixed(*groups)
        ok(result.stdout == plain.stdout and not result.stderr,
           "without variables: as without the library", result)
    result = mixed((1, ours, record), (2,))
    ok(result.returncode == 0 and result.stdout == plain.stdout
       and result.stderr.count("nodewise:") == 1 and "rank 1, for example" in result.stderr
       and not glob.glob("few.pattern*"), "a variable on rank 0: says who is missing", result)
    result = mixed((1, ours, record), (1, ours, record), (1, ours))
    ok(result.returncode == 0 and result.stdout == plain.stdout
       and result.stderr.count("nodewise:") == 1 and "rank 2, for example" in result.stderr,
       "all but one: passes through", result)
    result = mixed((1,), (1, ours, record))
    ok(result.returncode and "rank 0 has not" in result.stderr
       and not glob.glob("few.pattern*"), "not on rank 0: ends with a sentence", result)
    # the value of rank 0 is used by all ranks, whatever theirs is
    result = mixed((1, ours, record), (2, ours, "NODEWISE_RECORD=other.pattern"))
    ok(result.stdout == plain.stdout and not result.stderr and
       "ranks 3" in open("few.pattern").read() and os.listdir() == ["few.pattern"],
       "rank 0's variable decides", result)
    os.unlink("few.pattern")
    result = mixed((1, ours, "NODEWISE_GPU=off"), (2, ours, record))
    ok(result.stdout == plain.stdout and not glob.glob("few.pattern*") and
       "NODEWISE_RECORD is not set on rank 0" in result.stderr
       and "nothing is done" not in result.stderr,
       "a variable that rank 0 lacks", result)
    for other in ["NODEWISE_REORDER=on"] + ["NODEWISE_GPU_%s" % w for w in
                  ("MESSAGES=on", "DIRECT=on", "COLLECTIVES=channel")]:
        if not OPENMPI:
            break # its ranks spin
        result = mixed((1, ours, other), (2, ours, "NODEWISE_GPU=off"))
        ok(result.returncode == 0 and result.stdout == plain.stdout,
           "%s on the first alone" % other, result)


# an MPI library for which the profiler was not built: one message, and the program goes on
def foreign():
    other = "mpich" if OPENMPI else "openmpi"
    if not os.path.exists("%s/libnodewise-%s.so" % (BUILD, other)):
        ok(True, "another MPI # SKIP only %s was built" % FLAVOUR)
        return
    library = "%s/libnodewise-%s.so" % (BUILD, other)
    theirs = "%s/tests/mpi/profile/ends-%s" % (BUILD, other)
    loader, private = [BUILD + "/tests/mpi/profile/loader"], BUILD + "/tests/mpi/profile/private-%s.so"
    sentence = {"openmpi": "libnodewise-openmpi.so serves Open MPI",
                "mpich": "libnodewise-mpich.so serves MPICH"}
    remedy = "use the launcher of the program's MPI"

    def one_sentence(result, preloaded, wanted):
        return (result.stderr.count("nodewise: ") == 1 and result.stderr.count("nodewise") == 3
                and "%s: the library does nothing here; %s, and its library libnodewise-%s.so\n"
                % (sentence[preloaded], remedy, wanted) in result.stderr)

    for name in "modes", "others", "collectives":
        words = {"modes": ["all"], "others": [], "collectives": ["allreduce", "480", "0"]}[name]
        plain = run(launcher(3) + [program(name)] + words)
        for variables in [], ["NODEWISE_RECORD=x.pattern", "NODEWISE_REORDER=on"]:
            result = run(launcher(3, variables=["LD_PRELOAD=" + library] + variables)
                         + [program(name)] + words)
            ok(result.returncode == plain.returncode and result.stdout == plain.stdout
               and one_sentence(result, other, FLAVOUR),
               "%s: a preload of the wrong flavour" % name, result)
    plain = run(launcher(2) + [theirs, "good"])
    result, lines = profile(launcher(2) + [theirs, "good"])
    # programs of MPICH 5.0 end in MPI_Init under the launcher of Open MPI 6
    starts = plain.returncode == 5
    ok(result.returncode == plain.returncode and plain.returncode and not lines
       and one_sentence(result, FLAVOUR, other), "a program of the other MPI: one sentence", result)
    for command in "reorder", "gpu-messages":
        result = run([NODEWISE, command, "--"] + launcher(2) + [theirs, "good"])
        ok(result.returncode == plain.returncode and one_sentence(result, FLAVOUR, other),
           "%s, a program of the other MPI: one sentence" % command, result)
    refused = "" if starts else " # SKIP that MPI does not start under this launcher"
    # a launcher may end the other ranks after the first failure, before they report it
    silent = [theirs.replace("ends", "modes"), "all"]
    result, lines = profile(launcher(2) + silent, "--mpi", other)
    ok(not starts or result.returncode == 0 and not lines and
       result.stderr.count("program and launcher belong to different MPI libraries; " + remedy) == 1
       and result.stderr.count("nodewise") == 1, "and the library of that MPI: one sentence" + refused, result)
    result, lines = profile(launcher(2) + loader + [private % FLAVOUR])
    ok(result.stdout == "sum 1 of 2\n" and result.returncode == 6 and "ranks 2 edges 2" in lines,
       "a module that brings its MPI is recorded", result, lines[:3])
    result, lines = profile(launcher(1) + loader + [private % other])
    ok(not starts or result.stdout == "sum 1 of 1\n" and result.returncode == 6 and not lines
       and sentence[FLAVOUR] in result.stderr, "a module that brings another MPI" + refused, result)
    with open("static.c", "w") as file:
        file.write("int main(void) { return 0; }\n")
    if not run(["cc", "-static", "-o", "static", "static.c"]).returncode:
        result, lines = profile(launcher(1) + ["./static"])
        ok(result.returncode == 0 and "no profile: no process of" in result.stderr
           and len(result.stderr.strip().split("\n")) == 1, "a static program", result)
    # at once, Open MPI 6 would say that it could not start the program
    result, lines = profile(launcher(1) + ["sh", "-c", "sleep 1; exit 1"])
    ok(result.returncode == 1 and not lines and result.stderr.count("nodewise profile: no profile: "
       "the command failed, and no process of") == 1 and "if the program was started, use the launcher"
       in result.stderr, "a program that fails before MPI_Init", result)
    # only MPICH has an archive; the program still loads the preloaded library
    linked = ["mpicc.mpich", "-o", "archive", SOURCE + "/tests/mpi/profile/ends.c", "-Wl,-Bstatic",
              "-lmpich", "-Wl,-Bdynamic", "-lfabric", "-lhwloc", "-lucp", "-lucs", "-lm"]
    if OPENMPI or run(linked).returncode:
        skip("a program with MPI in it", "MPI cannot be linked statically here")
    else:
        plain = run(launcher(2) + ["./archive", "good"])
        for variables in [], ["NODEWISE_RECORD=x.pattern", "NODEWISE_REORDER=on"]:
            result = run(launcher(2, variables=["LD_PRELOAD=" + LIBRARY] + variables)
                         + ["./archive", "good"])
            ok(result.returncode == plain.returncode == 5 and not result.stderr
               and result.stdout == plain.stdout, "a preload into a program with MPI in it", result)
        result, lines = profile(launcher(2) + ["./archive", "good"])
        ok(result.returncode == 5 and not lines and "link the program dynamically" in result.stderr
           and len(result.stderr.strip().split("\n")) == 1, "a program with MPI in it: one sentence", result)
    with open("both", "w") as file:
        file.write("%s\n%s -n 2 %s good\n" % (" ".join(launcher(2) + [program("modes"), "all"]),
                                             shutil.which("mpiexec." + other), theirs))
    result, lines = profile(["sh", "both"], "--mpi", FLAVOUR, env={
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    ok(result.returncode == 5 and "ranks 2 edges" in "\n".join(lines)
       and result.stderr.count(sentence[FLAVOUR]) == 1, "a script that starts both", result)


def coverage():
    include = os.environ["NW_MPI_INCLUDE"]
    result = run([sys.executable, SOURCE + "/src/runtime/generate.py", "--list",
                  SOURCE + "/src/runtime/profile/calls.table", "cc",
                  "-I" + include])
    for line in result.stdout.split("\n"):
        print("# " + line)
    ok(result.returncode == 0, "every MPI function is recorded or has a reason")
    for name in re.findall(r"^(\w+): in no row", result.stdout, re.M):
        skip(name, "calls.table has neither a row nor a reason for it")


# the preloaded library: what it depends on, which symbols it exports, and what it costs
def library():
    needs = run(["readelf", "-dW", LIBRARY]).stdout
    needed = {line.split("[")[1].split("]")[0] for line in needs.split("\n")
              if "NEEDED" in line}
    allowed = {"libc.so.6", "libm.so.6", "libhwloc.so.15", "ld-linux-x86-64.so.2"}
    sanitized = any("san.so" in name for name in needed)
    ok(needed <= allowed or sanitized, "needs libc and hwloc only", needed)
    symbols = [line.split() for line in run(["nm", "-D", LIBRARY]).stdout.split("\n")]
    shown = [s[-1] for s in symbols if len(s) == 3 and s[1] in "TDBRW"]
    wanted = [s[-1] for s in symbols if len(s) == 2 and s[0] == "U"]
    ours = ("MPI_", "PMPI_", "MPIX_", "PMPIX_", "nccl", "nw_halo_", "nw_channel_",
            "nw_profile_", "nw_reorder_cart_create", "nw_error_text", "nw_status_")
    ok(shown and all(s.startswith(ours) for s in shown),
       "shows functions of MPI and NCCL, and the API for MPI programs, only", shown)
    ok(not [s for s in wanted if "mpi" in s.lower()],
       "has no undefined MPI symbol", wanted)
    if sanitized:
        return
    best = {}
    for _ in range(30):
        for preload in ("", LIBRARY):
            start = time.perf_counter()
            subprocess.run(["/bin/true"], env={"LD_PRELOAD": preload}, check=True)
            best[preload] = min(best.get(preload, 9), time.perf_counter() - start)
    cost = 1000 * (best[LIBRARY] - best[""])
    print("# starts in %.2f ms more than without it" % cost)


def compare_with_monitoring(name, command, ranks, env=()):
    """E lines of the same run, exactly."""
    result, lines = profile(launcher(ranks, MONITOR) + command,
                            "--collectives", "off")
    ok(result.returncode == 0, name + " runs", result)
    wanted = monitoring("E")
    # without what the library itself sends in MPI_Init: rank 0 and each other rank tell
    # each other once which variables they have
    for pair in [(0, rank) for rank in range(1, ranks)] + \
                [(rank, 0) for rank in range(1, ranks)]:
        wanted[pair][0] -= 0 if pair[0] else 4
        wanted[pair][1] -= 1
    same(name + ": bytes and messages of each pair", edges(lines),
         {pair: sums for pair, sums in wanted.items() if sums[1]})


def oracle():
    if not monitors():
        return
    compare_with_monitoring("cg, Fortran", [program("cg")], 6)
    compare_with_monitoring("heat, Fortran 2008", [program("heat")], 6)
    lammps = "/usr/bin/lmp"
    if not os.path.exists(lammps):
        ok(True, "LAMMPS # SKIP no lmp here")
        return
    compare_with_monitoring(
        "LAMMPS", [lammps, "-in", SOURCE + "/tests/mpi/profile/in.lj", "-log", "none"], 8)


# (call, Open MPI's number, our name). Its linear all-to-all goes by persistent
# requests, which its monitoring does not see.
FORCED = [
    ("bcast", 6, "binomial"), ("allreduce", 3, "recursive-doubling"),
    ("allgather", 2, "bruck"), ("alltoall", 2, "pairwise"),
    ("reduce_scatter", 2, "recursive-halving"),
    ("bcast", 1, "linear"), ("bcast", 2, "chain"), ("bcast", 3, "pipeline"),
    ("bcast", 5, "binary"), ("reduce", 1, "linear"), ("reduce", 2, "chain"),
    ("reduce", 3, "pipeline"), ("reduce", 4, "binary"), ("reduce", 5, "binomial"),
    ("allreduce", 1, "linear"), ("allreduce", 4, "ring"),
    ("allreduce", 6, "rabenseifner"), ("allgather", 3, "recursive-doubling"),
    ("allgather", 4, "ring"), ("allgather", 5, "neighbor"),
    ("alltoall", 3, "bruck"), ("reduce_scatter", 3, "ring"),
    ("gather", 1, "linear"), ("gather", 2, "binomial"),
    ("scatter", 1, "linear"), ("scatter", 2, "binomial"),
]
ROOTED = ("bcast", "reduce", "gather", "scatter")


def compare_collective(call, number, model, ranks):
    """Compares the models with the I lines of Open MPI's monitoring. Two runs are needed,
    since the profiler also sends messages at the end of a run."""
    command = [program("collectives"), call, "4800", "1" if call in ROOTED else "0"]
    run(launcher(ranks, MONITOR + (
        ("coll_tuned_use_dynamic_rules", 1),
        ("coll_tuned_%s_algorithm" % call, number))) + command)
    wanted = monitoring("I")
    _, lines = profile(launcher(ranks) + command, "--collectives",
                       "%s:%s" % (call, model))
    got = edges(lines)
    wrong = ["%s: %s, not %s" % (key, got.get(key), wanted.get(key))
             for key in sorted(set(got) | set(wanted))
             if key not in got or key not in wanted or
             abs(got[key][0] - wanted[key][0]) > 0.1 * wanted[key][0]]
    ok(not wrong and wanted, "%s %s on %d ranks: %d pairs"
       % (call, model, ranks, len(wanted)), *wrong[:10])


# one algorithm of each call on a power of two and on another number of ranks; all of them
# in the long check
def collectives():
    is_long = os.environ.get("NW_LONG")
    if not monitors():
        return
    for case in FORCED if is_long else FORCED[:5]:
        for ranks in (8, 12, 16) if is_long else (4, 6):
            compare_collective(*case, ranks)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    globals()[NAME]()
    os.chdir("/")
tap.plan()
