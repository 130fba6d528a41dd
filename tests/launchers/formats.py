#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads back what `nodewise launch` writes for every launcher, by parsers
written from the launchers' documents, and compares with the mapping: host,
CPUs and GPUs of each rank.  NODEWISE is the command.

The machine has two sockets whose cores the operating system counts in turn, so
that logical number and CPU differ. Mappings are drawn at random, some of them
alike on all nodes and some uneven. Scripts are run, with programs of ours in
the place of taskset, torchrun and uname.
"""
import json, os, random, re, subprocess, sys, tempfile

NODES, CORES, GPUS = 4, 8, 4
CPU_OF = [0, 2, 4, 6, 1, 3, 5, 7]  # the operating system's number of each logical core
CLUSTER = """nodewise: cluster 1
name: four
node_types:
  t:
    cpu: {synthetic: "package:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"}
    devices:
      - package: [0, 1]
        parts:
          - gpu: 2
nodes:
  - {name: "n[1-4]", type: t, switch: s}
network:
  tree: {switch: s}
"""

class Place:
    def __init__(self, node, cores, gpus):
        self.node, self.cores, self.gpus = node, cores, gpus
        self.cpus = frozenset(CPU_OF[c] for c in cores)

def draw(seed):
    """Random places of the ranks; with even seeds they are the same on all nodes."""
    rng, places = random.Random(seed), []
    width = rng.choice([1, 1, 2])
    count = rng.randint(2, CORES // width)
    model = rng.sample(range(CORES), count * width)
    gpus = seed % 3 == 0
    shared = [[rng.randrange(GPUS)] for _ in range(count)]
    order = [n for n in range(1, NODES + 1) for _ in range(count)]
    if seed % 5 == 4:
        order = order[:-1]  # the last node has one rank fewer
    if seed % 5 == 3:
        order = order[1:]
    if seed % 4:
        rng.shuffle(order)
    local = dict.fromkeys(range(1, NODES + 1), 0)
    for node in order:
        l = local[node]
        local[node] += 1
        cores = model[l * width:(l + 1) * width]
        own = shared[l] if gpus else []
        if seed % 2:
            cores = rng.sample(range(CORES), rng.randint(1, 2))
            own = rng.sample(range(GPUS), rng.randint(0, 2)) if gpus else []
        places.append(Place("n%d" % node, cores, own))
    return places

def mapping_text(places):
    lines = ["nodewise mapping 1", "ranks %d" % len(places)]
    for rank, p in enumerate(places):
        lines.append("%d %s %s %s" % (rank, p.node, ",".join(map(str, p.cores)),
                                      ",".join(map(str, p.gpus)) or "-"))
    return "\n".join(lines) + "\n"

def read_mapping(text):
    out = []
    for line in text.splitlines()[2:]:
        word = line.split("#")[0].split()
        out.append(Place(word[1], [int(c) for c in word[2].split(",")],
                         [] if word[3] == "-" else [int(g) for g in word[3].split(",")]))
    return out

class Plan:
    """What was written: files by the ends of their names, words of the command, variables."""
    def __init__(self, plan):
        self.files = {f["path"].rsplit(".", 1)[1]: f["text"] for f in plan["files"]}
        self.paths = {f["path"].rsplit(".", 1)[1]: f["path"] for f in plan["files"]}
        self.words, self.exec = plan["command"], plan["exec"]
        self.env = dict(v.split("=", 1) for v in plan["environment"])
    def after(self, option):
        return self.words[self.words.index(option) + 1]
    def starting(self, head):
        found = [w[len(head):] for w in self.words if w.startswith(head)]
        return found[0] if found else None
    def lines(self, end):
        return self.files[end].split("\n")[:-1]

def locals_of(hosts):
    seen = {}
    for host in hosts:
        seen[host] = seen.get(host, -1) + 1
        yield seen[host]

def by_local(hosts, items):
    """The item of each rank from a list over the local ranks of a node; a list that is too
    short is repeated."""
    return None if items is None else [items[l % len(items)] for l in locals_of(hosts)]

def numbers(text, joint):
    out = set()
    for part in text.split(joint):
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return frozenset(out)

def mask(text):
    value = int(text, 16)
    return frozenset(c for c in range(64) if value >> c & 1)

# Each function returns hosts, CPUs (None if not bound) and GPUs (None if none) by rank.

def openmpi(plan, flat=False):
    hosts, cpus = [], []
    for rank, line in enumerate(plan.lines("rankfile")):
        found = re.fullmatch(r"rank (\d+)=(\S+) slot=(\S+)", line)
        assert int(found[1]) == rank, line
        hosts.append(found[2])
        bound = set()
        for part in found[3].split(","):
            socket, cores = ("0", part) if flat else part.split(":")
            bound |= {CPU_OF[4 * int(socket) + c] for c in numbers(cores, ",")}
        cpus.append(frozenset(bound))
    return hosts, None if plan.exec else cpus, None

def openmpi4(plan):
    assert plan.words[:2] == ["mpirun", "-rf"] and plan.words[2] == plan.paths["rankfile"]
    return openmpi(plan)

def openmpi5(plan):
    assert plan.after("--map-by") == "rankfile:file=" + plan.paths["rankfile"]
    assert plan.after("--bind-to") == "core:overload-allowed"
    slots = dict(re.fullmatch(r"(\S+) slots=(\d+)", l).groups() for l in plan.lines("hostfile"))
    hosts, cpus, gpus = openmpi(plan, flat=True)
    assert {h: str(hosts.count(h)) for h in hosts} == slots
    return hosts, cpus, gpus

def user_binding(plan):
    bind = plan.after("-bind-to")
    if bind == "none":
        return None
    assert bind.startswith("user:")
    return [numbers(part, "+") for part in bind[5:].split(",")]

def mpich(plan):
    hosts, cpus, bind = [], [], user_binding(plan)
    for line in plan.lines("hostfile"):
        host, count = line.rsplit(":", 1)
        hosts += [host] * int(count)
        cpus += [bind[i % len(bind)] for i in range(int(count))] if bind else []
    assert plan.after("-n") == str(len(hosts)) and plan.after("-f") == plan.paths["hostfile"]
    return hosts, cpus or None, None

def mpich41(plan):
    lines = [l.rsplit(":", 1) for l in plan.lines("hostfile")]
    assert plan.after("-rankmap").startswith("(vector,")
    hosts = []
    for node, nodes, each in re.findall(r"\((\d+),(\d+),(\d+)\)", plan.after("-rankmap")):
        for n in range(int(nodes)):
            hosts += [lines[int(node) + n][0]] * int(each)
    assert all(hosts.count(h) == int(c) for h, c in lines)
    return hosts, by_local(hosts, user_binding(plan)), None

def intel(plan):
    hosts, env = [], {}
    for line in plan.lines("machinefile"):
        host, count = line.rsplit(":", 1)
        hosts += [host] * int(count)
    for i, word in enumerate(plan.words):
        if word == "-genv":
            env[plan.words[i + 1]] = plan.words[i + 2]
    if env["I_MPI_PIN"] == "off":
        return hosts, None, None
    if "I_MPI_PIN_PROCESSOR_LIST" in env:
        items = [frozenset([int(c)]) for c in env["I_MPI_PIN_PROCESSOR_LIST"].split(",")]
    else:
        items = [mask(m) for m in env["I_MPI_PIN_DOMAIN"].strip("[]").split(",")]
    return hosts, by_local(hosts, items), None

def mvapich(plan):
    hosts = plan.lines("hosts")
    assert plan.words[0] == "mpirun_rsh" and plan.after("-np") == str(len(hosts))
    assert plan.after("-hostfile") == plan.paths["hosts"]
    if plan.starting("MV2_ENABLE_AFFINITY=") == "0":
        return hosts, None, None
    items = [numbers(m, ",") for m in plan.starting("MV2_CPU_MAPPING=").split(":")]
    return hosts, by_local(hosts, items), None

def slurm_cpus(plan, hosts):
    kind, _, items = plan.starting("--cpu-bind=").partition(":")
    if kind == "none":
        return None
    read = {"map_cpu": lambda w: frozenset([int(w)]), "mask_cpu": mask}[kind]
    return by_local(hosts, [read(w) for w in items.split(",")])

def slurm(plan, end=""):
    hosts = plan.lines("hosts")
    assert plan.env["SLURM_HOSTFILE"] == plan.paths["hosts"]
    assert plan.after("-m") == "arbitrary" and plan.after("-n") == str(len(hosts))
    # each rank sees all GPUs of its node, which CUDA IPC needs, and chooses its own
    assert plan.starting("--gpu-bind=") in (None, "mask%s:0x%x" % (end, 2 ** GPUS - 1))
    return hosts, slurm_cpus(plan, hosts), None

def slurm22(plan):
    return slurm(plan, "_gpu")

def rank_order(plan):
    assert plan.env["MPICH_RANK_REORDER_METHOD"] == "3"
    assert plan.env["MPICH_RANK_REORDER_FILE"] == plan.paths["rank_order"]
    order = []
    for part in plan.files["rank_order"].strip().split(","):
        first, _, last = part.partition("-")
        order += range(int(first), int(last or first) + 1)
    return order

def by_rank(order, items):
    if items is None:
        return None
    out = [None] * len(order)
    for slot, rank in enumerate(order):
        out[rank] = items[slot]
    return out

def cray(plan):
    order, ppn = rank_order(plan), int(plan.starting("--ntasks-per-node="))
    assert plan.after("-m") == "block" and plan.after("-n") == str(len(order))
    hosts = ["n%d" % (1 + slot // ppn) for slot in range(len(order))]
    assert len(set(hosts)) == int(plan.after("-N"))
    return by_rank(order, hosts), by_rank(order, slurm_cpus(plan, hosts)), None

def pals(plan):
    order, ppn = rank_order(plan), int(plan.after("--ppn"))
    lines = plan.lines("hosts")
    hosts = [lines[slot // ppn] for slot in range(len(order))]
    bind, cpus = plan.after("--cpu-bind"), None
    if bind != "none":
        assert bind.startswith("list:")
        cpus = by_local(hosts, [numbers(p, ",") for p in bind[5:].split(":")])
    return by_rank(order, hosts), by_rank(order, cpus), None

def flux(plan):
    assert plan.words[:2] == ["flux", "run"]
    hosts, gpus = plan.lines("hosts"), None
    assert plan.starting("--taskmap=hostfile:") == plan.paths["hosts"]
    assert plan.after("-N") == str(len(set(hosts))) and plan.after("-n") == str(len(hosts))
    cpu, gpu = plan.starting("cpu-affinity="), plan.starting("gpu-affinity=")
    cpus = None if cpu == "off" else by_local(hosts, [numbers(p, ",") for p in cpu[4:].split(";")])
    if gpu and gpu != "off":
        gpus = [[int(g)] for g in by_local(hosts, gpu[4:].split(";"))]
    return hosts, cpus, gpus

TOOLS = {
    "uname": 'echo "$HOST.example.org"',
    "taskset": '[ "$1" = -c ] || exit 1; CPUS=$2; export CPUS; shift 2; exec "$@"',
    # torchrun --nnodes=N --nproc-per-node=P --node-rank=R ... --no-python X ...
    "torchrun": 'echo "torchrun $*"',
    "say": 'echo "$RANK ${CPUS-unbound} ${CUDA_VISIBLE_DEVICES-unset} '
           '${ROCR_VISIBLE_DEVICES-unset} ${HIP_VISIBLE_DEVICES-unset} ${ZE_AFFINITY_MASK-unset}"',
}

def run_script(plan, folder, **env):
    path = folder + "/tools:" + os.environ["PATH"]
    clean = {"PATH": path, "gpus": "9", **env}
    done = subprocess.run([plan.words[0], "say"], env=clean, cwd=folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()

def said_gpus(words, places):
    """Checks that the GPU variables agree with each other; None if none was set."""
    if not any(p.gpus for p in places):
        assert words == ["unset"] * 4, words
        return None
    if not words:  # all four are empty
        return []
    assert words[0] == words[1] == words[3], words
    assert words[2] == ",".join(map(str, range(len(words[0].split(","))))), words
    return [int(g) for g in words[0].split(",")]

def script(plan, folder, places):
    hosts, cpus, gpus = plan.lines("hosts"), [], []
    names = ["SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "FLUX_TASK_RANK"]
    for rank, host in enumerate(hosts):
        words = run_script(plan, folder, HOST=host, RANK="", **{names[rank % 4]: str(rank)})
        cpus.append(numbers(words[0], ","))
        gpus.append(said_gpus(words[1:], places))
    return hosts, cpus, gpus if any(p.gpus for p in places) else None

def torchrun(plan, folder, places):
    """Node by node, process by process, as torchrun numbers them."""
    n, counts, hosts = len(places), {}, [None] * len(places)
    for host in sorted({p.node for p in places}):
        words = run_script(plan, folder, HOST=host)
        option = dict(w[2:].split("=") for w in words if w.startswith("--") and "=" in w)
        assert words[0] == "torchrun" and option["master-addr"] == places[0].node, words
        assert words[-3:] == ["--no-python", plan.words[0], "say"], words
        counts[int(option["node-rank"])] = host, int(option["nproc-per-node"])
        assert int(option["nnodes"]) == len({p.node for p in places})
    slot, cpus, gpus = 0, [None] * n, [None] * n
    for index in sorted(counts):
        host, count = counts[index]
        for local in range(count):
            words = run_script(plan, folder, HOST=host, RANK=str(slot),
                               LOCAL_RANK=str(local), TORCHELASTIC_RUN_ID="1")
            rank, slot = int(words[0]), slot + 1
            hosts[rank], cpus[rank] = host, numbers(words[1], ",")
            seen = said_gpus(words[2:], places)
            # programs use the device LOCAL_RANK (modulo the number of devices)
            gpus[rank] = seen and [seen[local % GPUS]]
    assert slot == n
    want = [p.gpus[:1] for p in places]
    if any(want):
        assert all(g == w for g, w in zip(gpus, want) if w), (gpus, want)
    return hosts, cpus, None

def c10d(plan, folder, places):
    """As torchrun, but torchrun numbers the nodes in any order."""
    hosts, cpus = [None] * len(places), [None] * len(places)
    for host in sorted({p.node for p in places}):
        words = run_script(plan, folder, HOST=host)
        option = dict(w[2:].split("=") for w in words if w.startswith("--") and "=" in w)
        assert option["rdzv-backend"] == "c10d" and "--no-python" in words, words
        assert option["rdzv-endpoint"] == places[0].node + ":29400", words
        for local in range(int(option["nproc-per-node"])):
            # the script passes its numbers on through torchrun
            line = next(l for l in plan.files["sh"].splitlines()
                        if l.startswith("    '%s') " % host))
            node, first = (re.search(k + r"=(\d+)", line).group(1) for k in ("node", "first"))
            words = run_script(plan, folder, HOST=host, RANK="99", LOCAL_RANK=str(local),
                               TORCHELASTIC_RUN_ID="1", nodewise_node=node,
                               nodewise_first=first, nodewise_port="29500")
            rank = int(words[0])
            assert hosts[rank] is None
            hosts[rank], cpus[rank] = host, numbers(words[1], ",")
            seen = said_gpus(words[2:], places)
            if places[rank].gpus:
                assert seen[local % GPUS] == places[rank].gpus[0]
    return hosts, cpus, None

def host_file(plan):
    """DeepSpeed and others count processes in the order of lines."""
    return [host for host, slots in (line.split(" slots=") for line in plan.lines("hostfile"))
            for _ in range(int(slots))]

def megatron(plan, folder, places):
    hosts, cpus, _ = torchrun(plan, folder, places)
    order = list(dict.fromkeys(host_file(plan)))
    assert order == sorted(order, key=hosts.index) and sorted(host_file(plan)) == sorted(hosts)
    return hosts, cpus, None

def deepspeed(plan, folder, places):
    assert plan.words[0] == "deepspeed" and plan.starting("--hostfile=") == plan.paths["hostfile"]
    assert plan.words[2:4] == ["--no_python", "--no_local_rank"], plan.words
    slots, local = host_file(plan), {}
    hosts, cpus = [None] * len(places), [None] * len(places)
    plan.words = plan.words[4:]
    for slot, host in enumerate(slots):
        local[host] = local.get(host, -1) + 1
        words = run_script(plan, folder, HOST=host, RANK=str(slot),
                           LOCAL_RANK=str(local[host]))
        rank = int(words[0])
        hosts[rank], cpus[rank] = host, numbers(words[1], ",")
        if places[rank].gpus:
            assert said_gpus(words[2:], places)[local[host] % GPUS] == places[rank].gpus[0]
    return hosts, cpus, None

def environment(plan, folder, places, hosts=None):
    hosts, cpus, seen = hosts or plan.lines("hosts"), [], {}
    nodes = list(dict.fromkeys(hosts))
    for rank, host in enumerate(hosts):
        words = run_script(plan, folder, HOST=host, RANK="", SLURM_PROCID=str(rank))
        assert words[0] == str(rank)
        cpus.append(numbers(words[1], ","))
        local = seen[host] = seen.get(host, -1) + 1
        if places[rank].gpus:
            assert said_gpus(words[2:6], places)[local % GPUS] == places[rank].gpus[0]
        if rank % 5:
            continue
        env = dict(os.environ, PATH=folder + "/tools:" + os.environ["PATH"], HOST=host,
                   RANK="", SLURM_PROCID=str(rank))
        out = subprocess.run([plan.words[0], "env"], env=env, cwd=folder, check=True,
                             capture_output=True, text=True).stdout.splitlines()
        want = {"RANK": rank, "WORLD_SIZE": len(hosts), "LOCAL_RANK": local,
                "LOCAL_WORLD_SIZE": hosts.count(host), "GROUP_RANK": nodes.index(host),
                "MASTER_ADDR": hosts[0], "MASTER_PORT": 29500}
        assert all("%s=%s" % one in out for one in want.items()), (want, out)
    return hosts, cpus, None

def slurm_torch(plan, folder, places):
    assert plan.words[:4] == ["srun", "-m", "arbitrary", "-n"] and \
        plan.words[4:6] == [str(len(places)), "--cpu-bind=none"], plan.words
    plan.words = plan.words[6:]
    return environment(plan, folder, places)

def config_map(plan, name):
    """The one file of a ConfigMap."""
    head, _, body = plan.files["yaml"].partition("  %s: |\n" % name)
    assert head.startswith("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: nodewise"), head
    assert all(line.startswith("    ") for line in body.splitlines() if line), body
    return "".join(line[4:] for line in body.splitlines(True))

def mpi_operator(plan):
    assert plan.words[:3] == ["mpirun", "--map-by", "rankfile:file=/etc/nodewise/rankfile"]
    plan.files["rankfile"] = config_map(plan, "rankfile")
    return openmpi(plan, flat=True)

def jobset(plan, folder, places):
    assert plan.words[:2] == ["sh", "/etc/nodewise/launch.sh"]
    path = folder + "/launch.sh"
    with open(path, "w") as out:
        out.write(config_map(plan, "launch.sh"))
    os.chmod(path, 0o755)
    plan.words = [path]
    return torchrun(plan, folder, places)

SCRIPTS = {"script": script, "torchrun": torchrun, "torchrun-c10d": c10d, "megatron": megatron,
           "deepspeed": deepspeed, "slurm-torch": slurm_torch, "environment": environment,
           "jobset": jobset}

def seeds(name):
    """Running scripts takes long, so that formats with common parts have only one random
    case, which is uneven and has GPUs."""
    return range(4) if name in ("script", "torchrun") else (3,) if name in SCRIPTS else range(16)

def even(places):
    count = [sum(p.node == "n%d" % n for p in places) for n in range(1, NODES + 1)]
    count = [c for c in count if c]
    return all(c == count[0] for c in count[:-1]) and count[-1] <= count[0]

def compare(name, places, folder):
    base = folder + "/" + name
    done = subprocess.run(
        [os.environ["NODEWISE"], "launch", "-t", folder + "/c.yaml", folder + "/m",
         "--for", name, "--json", "-o", base, "--", "say"],
        capture_output=True, text=True, check=False)
    if name in ("cray", "pals") and not even(places):
        assert done.returncode == 4 and "same number of ranks" in done.stderr, done
        return False
    assert done.returncode == 0, done.stderr
    plan = Plan(json.loads(done.stdout))
    shared = any(p.gpus for p in places) and name in ("slurm", "slurm22")
    assert bool(plan.starting("--gpu-bind=")) == shared, plan.words
    hosts, cpus, gpus = (SCRIPTS[name](plan, folder, places) if name in SCRIPTS
                         else globals()[name.replace("-", "_")](plan))
    assert hosts == [p.node for p in places], hosts
    if plan.exec:
        at = plan.words.index("exec")
        given = read_mapping(open(plan.words[at + 1]).read())
        if name in ("cray", "pals"):
            given = by_rank(rank_order(plan), given)
        assert mapping_text(given) == mapping_text(places) and cpus is None
        return True
    assert cpus == [p.cpus for p in places], cpus
    if name == "script" or name not in SCRIPTS:
        want = [p.gpus for p in places] if any(p.gpus for p in places) else None
        assert gpus == want, (gpus, want)
    return False

def main():
    launchers = ["openmpi4", "openmpi5", "mpich", "mpich41", "intel", "mvapich", "slurm",
                 "slurm22", "cray", "pals", "flux", "torchrun", "torchrun-c10d", "megatron", "deepspeed",
                 "slurm-torch", "environment", "mpi-operator", "jobset", "script"]
    listed = subprocess.run([os.environ["NODEWISE"], "launch", "--list"],
                            capture_output=True, text=True, check=True).stdout
    print("1..%d" % (len(launchers) + 1))
    same = [line.split()[0] for line in listed.splitlines()] == launchers
    print("%s 1 - every launcher of --list is read back" % ("ok" if same else "not ok"))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/tools")
        for name, text in TOOLS.items():
            with open(folder + "/tools/" + name, "w") as out:
                out.write("#!/bin/sh\n" + text + "\n")
            os.chmod(folder + "/tools/" + name, 0o755)
        with open(folder + "/c.yaml", "w") as out:
            out.write(CLUSTER)
        for number, name in enumerate(launchers, 2):
            tally, why = {True: 0, False: 0}, None
            for seed in seeds(name):
                places = draw(seed)
                with open(folder + "/m", "w") as out:
                    out.write(mapping_text(places))
                try:
                    tally[compare(name, places, folder)] += 1
                except (AssertionError, ValueError, KeyError, IndexError) as wrong:
                    why = why or "seed %d: %r" % (seed, wrong)
            print("%s %d - %s (%d with nodewise exec, %d without)"
                  % ("not ok" if why else "ok", number, name, tally[True], tally[False]))
            if why:
                print("# " + why.replace("\n", "\n# "))
            sys.stdout.flush()

main()
