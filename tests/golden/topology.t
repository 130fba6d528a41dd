## The example of the man page: 4 cores at distance 1, 8 groups of them at 10,
## 16 groups of those at 100. Links: 512 + 128 + 16, and one to the outside.
$ nodewise topology hierarchy:4:8:16@1:10:100
hierarchy:4:8:16@1:10:100: 1 node, 512 cores, 0 GPUs, 657 links
part                count distance inside
hierarchy: machine                    100
└─group                16              10
  └─group          8 each               1
    └─core 0-511   4 each
$ nodewise topology hierarchy:4:8:16@1:10:100 --distance 0 3
1
$ nodewise topology hierarchy:4:8:16@1:10:100 --distance 0 31
10
$ nodewise topology hierarchy:4:8:16@1:10:100 --distance "0, 31"
10
$ nodewise topology hierarchy:4:8:16@1:10:100 --distance="0 511"
100
$ LC_ALL=C nodewise topology hierarchy:2:2
hierarchy:2:2: 1 node, 4 cores, 0 GPUs, 7 links
part                count distance inside
hierarchy: machine                      4
`-group                 2               2
  `-core 0-3       2 each
$ nodewise topology hierarchy:4:0
! hierarchy ... level ... '0'
? 3
## Three switches in a tree, four nodes (Rashti et al., figure 5).
$ nodewise topology rashti-32
rashti-32: 4 nodes, 32 cores, 0 GPUs, 54 links
part             count link    bandwidth latency note
network (tree)
└─S1
  └─S[2,3]           2 network    2 GB/s  200 ns
    └─N[1-4]    2 each nic      1.5 GB/s  700 ns opteron
opteron: N[1-4]
├─package 0            socket     4 GB/s  100 ns
│ ├─core 0-3         4 core       2 GB/s  200 ns
│ └─nic 0              pcie     1.6 GB/s  400 ns
└─package 1            socket     4 GB/s  100 ns
  └─core 4-7         4 core       2 GB/s  200 ns
$ nodewise topology rashti-32 --route 0 31
link                   way  kind    bandwidth latency note
N1: core 0 - package 0 up   core       2 GB/s  200 ns
N1: nic 0 - package 0  down pcie     1.6 GB/s  400 ns
N1: nic 0 - S2         up   nic      1.5 GB/s  700 ns
S2 - S1                up   network    2 GB/s  200 ns
S3 - S1                down network    2 GB/s  200 ns
N4: nic 0 - S3         down nic      1.5 GB/s  700 ns
N4: nic 0 - package 0  up   pcie     1.6 GB/s  400 ns
N4: package 0 - node   up   socket     4 GB/s  100 ns
N4: package 1 - node   down socket     4 GB/s  100 ns
N4: core 7 - package 1 down core       2 GB/s  200 ns
$ nodewise topology rashti-32 --distance 0 31
10
## Alike parts are counted, cards and boards of the paper's K80 nodes shown.
$ nodewise topology magc-a --tree
magc-a: 4 nodes, 96 cores, 64 GPUs, 228 links
part                                                  count link   bandwidth latency note
network (tree)
└─ib0
  └─a[1-4]                                                4 nic     3.4 GB/s  600 ns k80
k80: a[1-4], GPU messages staged through host memory
├─package 0                                                 socket   25 GB/s   60 ns
│ ├─core 0-11                                            12 core      6 GB/s  100 ns
│ ├─pcie-switch 0-1                                       2 pcie     12 GB/s  150 ns
│ │ └─board 0-3                                      2 each pcie     12 GB/s  150 ns
│ │   └─gpu 0-7                                      2 each pcie     12 GB/s  500 ns
│ └─nic 0 mlx4_0                                            pcie    6.4 GB/s  250 ns
└─package 1                                                 socket   25 GB/s   60 ns
  ├─core 12-23                                           12 core      6 GB/s  100 ns
  └─pcie-switch 2-3                                       2 pcie     12 GB/s  150 ns
    └─board 4-7                                      2 each pcie     12 GB/s  150 ns
      └─gpu 8-15                                     2 each pcie     12 GB/s  500 ns
## The tree of 2000 nodes is no longer than that of four.
$ test $(nodewise topology summit:2000 | wc -l) -le $(nodewise topology summit | wc -l) && echo no longer
no longer
## JSON keeps its keys; pictures are XML that names no other host.
$ nodewise topology magc-b --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> print(t["schema"], t["node_count"], t["element_count"], t["gpu_count"])
> print(sorted(t["links"][0]))
> print(len(t["types"][0]["vertices"]), t["nodes"][7]["first_gpu"])'
nodewise.topology/1 8 160 64
['assumed', 'bandwidth_down', 'bandwidth_up', 'half_duplex', 'kind', 'latency']
36 56
$ nodewise topology --list --json | python3 -c '
> import json, sys
> print("magc-a" in [c["name"] for c in json.load(sys.stdin)["clusters"]])'
True
$ for t in magc-a rashti-192 dgx-h100:2 summit:100 hierarchy:4:8:2 hwloc:"package:2 core:4 pu:2"; do
>   nodewise topology "$t" --svg -o p.svg && python3 -c '
> import re, sys, xml.dom.minidom
> text = open("p.svg").read()
> xml.dom.minidom.parseString(text)
> print(len(re.findall("<title>core [0-9]+;", text)), re.findall("https?://(?!www.w3.org/2000/svg)", text))'
> done
96 []
192 []
224 []
44 []
64 []
8 []
## One machine as hwloc 1 and hwloc 2 write it: memory around packages and inside
## them, a node of memory without cores (a GPU's), addresses on the bus and a
## maker's numbers as os_index.
$ cd "$FIXTURES/topology/valid"; nodewise topology gpu-memory.v2.xml >"$OLDPWD/2" &&
> nodewise topology gpu-memory.v1.xml | diff - "$OLDPWD/2" | tail -n +5; nodewise topology gpu-memory.v1.xml --distance "gpu 0" gpu1
6
## Comments, which hwloc's own parser does not know.
$ sed 's/<topology[^>]*>/<!-- a --> & <!-- <object\n> -->/; 0,/<object/! s/<object/<!-- - -->&/' "$FIXTURES/topology/valid/node.xml" >node.xml; [ $(grep -c '<!--' node.xml) -gt 2 ] && nodewise topology node.xml | tail -n +3 >a; nodewise topology "$FIXTURES/topology/valid/node.xml" | tail -n +3 | diff - a | head -3
## What cannot be is said, in words that name what would do.
$ nodewise topology magc-a --distance 0 96
! element ... 96 ... 96 elements
? 2
$ nodewise topology magc-a --distance gpu64 0
! gpu64 ... 64 GPUs
? 2
$ nodewise topology magc-a --distance 0 core1
! gpuN ... 'core1'
? 2
$ nodewise topology magc-a --svg --list
! --tree ... --svg ... --route
? 2
$ nodewise topology no-such-machine -o kept.svg --svg; echo $?; test -e kept.svg || echo none
2
none
! 'no-such-machine' ... topology
## A file longer than hwloc can be told is refused unread.
$ truncate -s 2G long.xml; nodewise topology long.xml
! long.xml ... 2 ... GiB ... hwloc
? 3
$ rm long.xml
## What hwloc is told to take for this machine is taken, or refused: not passed over.
$ HWLOC_XMLFILE=nothing.xml nodewise topology -q
! nothing.xml ... No such file or directory ... HWLOC_XMLFILE
? 3
$ echo hello >hello.xml; HWLOC_XMLFILE=hello.xml nodewise topology -q
! hello.xml:1 ... tag ... 'h' ... HWLOC_XMLFILE
? 3
$ HWLOC_SYNTHETIC=zebra nodewise topology live -q
! HWLOC_SYNTHETIC ... 'zebra'
? 2
$ HWLOC_SYNTHETIC='core:3 pu:1' HWLOC_XMLFILE= nodewise topology live | sed -n 1p
live: 1 node, 3 cores, 0 GPUs, 4 links (3 with assumed figures)
## The name of the output chooses the form, where no option does.
$ for f in m.yaml m.yml m.json m.svg m.txt; do nodewise topology magc-a -o $f; head -c 9 $f | head -n 1; echo; done; nodewise topology magc-a --tree -o tree.json; head -c 9 tree.json; echo; nodewise topology --list -o list.json; python3 -c 'import json; print(json.load(open("m.json"))["schema"], json.load(open("list.json"))["schema"])'
nodewise:
nodewise:
{

<svg clas
magc-a: 4
magc-a: 4
nodewise.topology/1 nodewise.topology-list/1
## hwloc crashes on this file, in a helper program: see nodewise-reader. From 2.15 on
## hwloc refuses it.
$ nodewise topology "$FIXTURES/topology/invalid/hwloc-crash.xml"
! hwloc-crash.xml:1: hwloc can make no machine of this XML
? 3
$ nodewise topology "$FIXTURES/topology/invalid/hwloc-crash.xml" 2>&1 | grep -c 'crashed\|without cpuset'
1
## Pictures: each GPU has its own line to the switch, kinds that are there are in
## the legend, a switch is above its children, hosts have their whole names.
$ cat >seen.py <<'END'
> import re, sys, xml.dom.minidom
> page = xml.dom.minidom.parse(sys.argv[1])
> words = {t.firstChild.data: t for t in page.getElementsByTagName("text") if t.firstChild}
> starts = [re.match(r"M([\d.]+) ", p.getAttribute("d"))[1] for p in page.getElementsByTagName("path")
>           if p.getElementsByTagName("title") and "gpu-switch" in p.firstChild.firstChild.data]
> print(len(starts), len(set(starts)), [w for w in words if w in ("core", "GPU", "GPU switch", "network card", "link")])
> print([float(words[w].getAttribute("y")) for w in sys.argv[2:5]] == sorted({float(words[w].getAttribute("y")) for w in sys.argv[2:5]}), [w for w in sys.argv[5:] if w not in words])
> END
$ awk 'BEGIN { for (i = 0; i < 8; i++) printf "\tGPU%d", i; print "\tCPU Affinity"; for (i = 0; i < 8; i++) { printf "GPU%d", i; for (k = 0; k < 8; k++) printf "\t%s", i == k ? " X " : "NV18"; print i < 4 ? "\t0-7" : "\t8-15" } }' >eight.txt; nodewise topology -q -o eight.svg nvidia-smi:eight.txt >/dev/null && python3 seen.py eight.svg
8 8 ['core', 'GPU', 'GPU switch', 'link']
True []
$ printf 'SwitchName=s Switches=l[1-2]\nSwitchName=l1 Nodes=longname-a[1-2]\nSwitchName=l2 Nodes=longname-b[1-2]\nSwitchName=alone Nodes=longname-c\n' >halls.conf; nodewise topology -q -o halls.svg slurm:halls.conf >/dev/null && python3 seen.py halls.svg '(top)' s l1 alone longname-a1 longname-b2
0 0 ['core', 'link']
True []
## Network cards that belong to no package are drawn above the packages: no line from a GPU
## crosses them there.
$ printf '\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tNV4\tSYS\tSYS\t0-3\nGPU1\tNV4\t X \tSYS\tSYS\t4-7\nNIC0\tSYS\tSYS\t X \tPIX\t\nNIC1\tSYS\tSYS\tPIX\t X \t\n' >aside.txt; nodewise topology -q -o aside.svg nvidia-smi:aside.txt; for k in nic core gpu; do grep -o "<rect class=\"$k\"[^>]*rx=\"4\"" aside.svg | sed "s/.* y=\"\([0-9.]*\)\".*/\1 $k/"; done | sort -n | uniq -f1 | cut -d' ' -f2 | paste -sd' '
nic core gpu
## A file whose name or host a list of hosts cannot contain still gives a machine that reads back.
$ nodewise topology hwloc:core:2 -q --to hwloc > m.xml; sed /HostName/d m.xml > 'a,b[1].xml'; sed 's/"machine"/"x,y"/' m.xml > c.xml; for f in 'a,b[1]' c; do nodewise topology "$f.xml" -q -o back.yaml; sed -n '/^nodes/,$p' back.yaml; nodewise topology back.yaml -q | grep '^[ac]:'; done
nodes:
  - name: a
a: a
nodes:
  - name: c
c: c
## Files of other programs; each reads back, and a note names what is lost.
$ nodewise topology rashti-32 --to slurm -o topology.conf && cat topology.conf
SwitchName=S1 Switches=S[2,3]
SwitchName=S2 Nodes=N[1,2]
SwitchName=S3 Nodes=N[3,4]
! a topology.conf cannot express ... the inside of nodes ... the rates of links
$ nodewise topology slurm:topology.conf
topology.conf: 4 nodes, 4 cores, 0 GPUs, 10 links (10 with assumed figures)
part            count link    bandwidth latency note
network (tree)
└─S1
  └─S[2,3]          2 network 12.5 GB/s  150 ns assumed
    └─N[1-4]   2 each nic     12.5 GB/s  500 ns assumed, host
host: N[1-4]
└─core 0              core      12 GB/s   20 ns assumed
$ nodewise topology slurm:topology.conf --to slurm-yaml-block
- topology: default
  cluster_default: true
  block:
    block_sizes: [2]
    blocks:
      - block: "S2"
        nodes: "N[1,2]"
      - block: "S3"
        nodes: "N[3,4]"
$ nodewise topology wilkes:40 --to slurm
SwitchName=leaf0 Nodes=wilkes[001-018]
SwitchName=leaf1 Nodes=wilkes[019-036]
SwitchName=leaf2 Nodes=wilkes[037-040]
SwitchName=up1-0 Switches=leaf[0-2]
! cannot express ... all but 4 of the 21 switches ... not a tree
$ nodewise topology gb200-nvl72:1 --to k8s -q | head -10
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Node
    metadata:
      name: "rack001n01"
      labels:
        accelerator.topograph.run/domain: "nvl001"
        fabric.topograph.run/tier-0: "leaf0"
## What kubectl prints beside names and labels is not read: texts of several lines, other keys, deep lists.
$ nodewise topology gb200-nvl72:1 --to k8s -q > plain.yaml; sed 's/^\( *\)labels:/\1annotations:\n\1  applied: |\n\1    {"kind":\n\1    "Node"}\n\1labels:/; s/^\( *\)metadata:/\1status:\n\1  conditions: [{message: "one\\ntwo"}, [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n\1metadata:/' plain.yaml > full.yaml; grep -c 'status\|applied' full.yaml; for f in plain full; do nodewise topology k8s:$f.yaml -q | sed 1d > $f.txt; done; cmp plain.txt full.txt
36
$ nodewise topology rashti-32 --to k8s
! 'N1' is not a valid name of a node of Kubernetes
? 4
$ nodewise topology rashti-32 --to slrum
! unknown format 'slrum' ... did you mean 'slurm'?
? 2
$ nodewise topology rashti-32 --to slurm --json
! --json cannot be combined with --to
? 2
$ nodewise topology rashti-32 --host N1
! --host needs --to
? 2
$ nodewise topology rashti-32 --to slurm --host N1
! the format slurm describes all hosts ... 'N1'
? 2
$ nodewise topology rashti-32 --to hwloc --addresses rashti-32
! only the format nccl takes addresses, not hwloc
? 2
## hwloc itself reads the file of one node.
$ nodewise topology dgx-h100 --to hwloc -q -o node.xml; command -v lstopo >/dev/null || { echo SKIP lstopo is not installed; exit 77; }; lstopo -i node.xml --of console --only core | wc -l; lstopo -i node.xml --of console | grep -c -E 'PCI 1[0-9a-f]+:..:00.0 \((3D|InfiniBand)\)'
112
16
## The distances of a matrix are in its JSON.
$ printf '0 1.5\n2 0\n' >two.matrix; nodewise topology matrix:two.matrix --json | grep -A3 '"matrix": \['
  "matrix": [
    [0, 1.5],
    [2, 0]
  ],
## A note about links whose figures are assumed, of a node type without a name.
$ printf 'nodewise: cluster 1\nname: x\nnode_types:\n  "": {cpu: {packages: 1, cores: 2}}\nnodes:\n  - {name: "a[1-2]", switch: s}\nnetwork: {tree: {switch: s}}\n' >unnamed.yaml; nodewise topology unnamed.yaml | grep -o '500 ns.*'
500 ns assumed
