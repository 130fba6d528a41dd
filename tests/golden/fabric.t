## Two rails: each pair of cards keeps to its own; an aggregation node of the
## switch is no host; 4xHDR is 200 Gbit/s, 2xHDR and 4xEDR 100.
$ cd "$FIXTURES/fabric/valid" && nodewise topology ibnet:two-rails.ibnetdiscover --tree
two-rails.ibnetdiscover: 2 nodes, 2 cores, 0 GPUs, 12 links (6 with assumed figures)
part                                          count link bandwidth latency note
network (graph)
├─MF0;rail-a:MQM8700/U1,MF0;rail-b:MQM8700/U1     2                        leaves
└─n[1,2]                                          2 nic    25 GB/s  500 ns host, several cards
host: n[1,2]
├─core 0                                            core   12 GB/s   20 ns assumed
├─nic 0 mlx5_0                                      pcie   25 GB/s  250 ns assumed
└─nic 1 mlx5_1                                      pcie   25 GB/s  250 ns assumed
$ cd "$FIXTURES/fabric/valid" && nodewise topology ibnet:two-rails.ibnetdiscover --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> for n in t["nodes"]:
>     print(n["name"], [(p["switch"], t["links"][p["link"]]["bandwidth_up"] / 1e9) for p in n["ports"]])'
n1 [(0, 25.0), (1, 12.5)]
n2 [(0, 25.0), (1, 12.5)]
## X5: another tool made the Slurm file of the same dump. Hosts at each leaf,
## switches beside each spine, and the list of spines must be the same.
$ X="$SHARED/data/infiniband"; test -d "$X" || { echo SKIP no "$X"; exit 77; }
> nodewise topology ibnet:$X/X5.ibnetdiscover,map=$X/X5.map --json -o x5.json && X="$X" python3 -c '
> import json, os, re
> t = json.load(open("x5.json"))
> net = t["network"]
> names = net["switches"]
> def expand(text):
>     out = []
>     for part in re.findall(r"[^,\[]+(?:\[[^]]*\])?", text):
>         m = re.match(r"(.*)\[(.*)\]$", part)
>         for r in m[2].split(",") if m else []:
>             a, _, b = r.partition("-")
>             out += [m[1] + str(i) for i in range(int(a), int(b or a) + 1)]
>         if not m: out.append(part)
>     return set(out)
> nodes, beside = {}, {}
> for n in t["nodes"]:
>     for p in n["ports"]: nodes.setdefault(names[p["switch"]], set()).add(n["name"])
> for l in net["links"]:
>     for a, b in ((l["a"], l["b"]), (l["b"], l["a"])):
>         beside.setdefault(names[a], set()).add(names[b])
> lines = leaves = 0
> for line in open(os.environ["X"] + "/X5.topology.conf"):
>     if line.startswith("#"): continue
>     d = dict(w.split("=") for w in line.split())
>     lines += 1
>     if "Nodes" in d:
>         leaves += 1
>         assert nodes[d["SwitchName"]] == expand(d["Nodes"]), d
>     else:
>         assert beside[d["SwitchName"]] == expand(d["Switches"]), d
> spines = {s for s, l in zip(names, net["levels"]) if l > 0}
> assert spines == {s.strip() for s in open(os.environ["X"] + "/X5.spine") if s.startswith("S-")}
> print(lines, leaves, len(t["nodes"]), t["links"][t["nodes"][0]["ports"][0]["link"]]["bandwidth_up"])'
11 6 89 2000000000
## The simulated fat tree: four nodes on each of four leaves, each leaf on both
## spines, as ft16.net says; two ports of SDR are 2 links and 4 hops apart.
$ X="$SHARED/data/infiniband"; test -d "$X" || { echo SKIP no "$X"; exit 77; }
> nodewise topology ibnet:$X/ft16.ibnetdiscover --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> net = t["network"]
> s = net["switches"]
> print(sorted((s[l["a"]], s[l["b"]]) for l in net["links"]))
> print([s[n["ports"][0]["switch"]] for n in t["nodes"]])
> print(dict(zip(s, net["levels"])), t["links"][net["links"][0]["link"]]["bandwidth_up"])'
[('leaf0', 'spine0'), ('leaf0', 'spine1'), ('leaf1', 'spine0'), ('leaf1', 'spine1'), ('leaf2', 'spine0'), ('leaf2', 'spine1'), ('leaf3', 'spine0'), ('leaf3', 'spine1')]
['leaf0', 'leaf0', 'leaf0', 'leaf0', 'leaf1', 'leaf1', 'leaf1', 'leaf1', 'leaf2', 'leaf2', 'leaf2', 'leaf2', 'leaf3', 'leaf3', 'leaf3', 'leaf3']
{'leaf0': 0, 'leaf1': 0, 'leaf2': 0, 'leaf3': 0, 'spine0': 1, 'spine1': 1} 1000000000
## Slurm: blocks, two spines over the same leaves, the three kinds of
## topology.yaml.
$ cd "$FIXTURES/fabric/valid" && nodewise topology slurm:blocks.conf | sed -n 3,6p
network (tree)
└─b1..b3
  ├─b1..b2              network 12.5 GB/s  150 ns assumed
  │ └─b[1,2]          2 network 12.5 GB/s  150 ns assumed
$ cd "$FIXTURES/fabric/valid" && nodewise topology slurm:spines.conf --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> print([n["name"] for n in t["nodes"]], t["network"]["levels"], len(t["network"]["links"]))'
['a1b0', 'a1b1', 'a2b0', 'a2b1', 'c09', 'login'] [1, 0, 0, 1] 4
$ cd "$FIXTURES/fabric/valid" && for n in "" ,topology=blocks ,topology=round; do
>   nodewise topology slurm:topology.yaml$n --distance 0 3
> done
6
6
7
$ cd "$FIXTURES/fabric/valid" && nodewise topology slurm:topology.yaml,topology=flat
! topology.yaml:2 ... flat
? 3
## A torus of Slurm's: the first coordinate runs fastest, nodes of a region stand
## in its box, each way round a ring is as short as it can be.
$ cat > torus.yaml <<'END'
> - topology: t
>   torus3d:
>     toruses:
>       - name: pod
>         dims: {x: 4, y: 3, z: 2}
>         nodes: n[0-23]
>         placements: [{dims: {x: 2, y: 1, z: 1}}]
> - topology: boxes
>   torus3d:
>     toruses:
>       - name: pod
>         dims: {x: 4, y: 3, z: 2}
>         regions:
>           - {anchor: {x: 2, y: 1, z: 0}, dims: {x: 2, y: 2, z: 1}, nodes: "a[0-3]"}
>           - {anchor: {x: 0, y: 0, z: 1}, dims: {x: 1, y: 1, z: 1}, nodes: b}
> END
> for to in 1 3 2 4 8 12 23; do nodewise topology slurm:torus.yaml --distance 0 $to; done | paste -sd' '
5 5 6 5 5 5 7
$ for to in 1 2 3 4; do nodewise topology slurm:torus.yaml,topology=boxes --distance 0 $to; done | paste -sd' '
5 5 6 8
$ for bad in 's/n.0-23./n[0-22]/' 's/x: 4, y: 3/x: 0, y: 3/' 's/name: pod/title: pod/'; do sed "$bad" torus.yaml > bad.yaml; nodewise topology slurm:bad.yaml 2>&1; echo $?; done
~ bad.yaml:6 ... 23 nodes ... 4 ... coordinates
3
~ bad.yaml:5 ... 'x' ... whole ... 65535
3
~ bad.yaml:4 ... unknown ... 'title'
3
$ for bad in 's/x: 2, y: 1, z: 0/x: 3, y: 1, z: 0/' 's/x: 0, y: 0, z: 1/x: 2, y: 2, z: 0/'; do sed "$bad" torus.yaml > bad.yaml; nodewise topology slurm:bad.yaml,topology=boxes 2>&1; echo $?; done
~ bad.yaml:14 ... reaches
3
~ bad.yaml:15 ... coordinate ... 'b'
3
## What scontrol show topology writes: all nodes below each switch, and numbers.
$ printf '%s\n' 'SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]' 'SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[3-4]' 'SwitchName=core Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=s[0-1]' > shown.conf
$ grep -v ^core shown.conf | sed 's/Level=[0-9]* //; s/Nodes=n.1-4. //' > plain.conf; for f in shown plain; do nodewise topology slurm:$f.conf --yaml | sed 2d | cksum; done | uniq | wc -l
1
$ printf '%s\n' 'BlockName=b0 BlockIndex=0 Nodes=n[1-2] BlockSize=2' 'BlockName=b1 BlockIndex=1 Nodes=n[3-4] BlockSize=2' BlockSizes=2 > blocks.conf; nodewise topology slurm:blocks.conf | sed 1,2d | head -5
network (tree)
└─b0..b1
  └─b[0,1]          2 network 12.5 GB/s  150 ns assumed
    └─n[1-4]   2 each nic     12.5 GB/s  500 ns assumed, host
host: n[1-4]
$ for b in 0 1 2 3; do echo "BlockName=b$b BlockIndex=$b Nodes=n[$((2 * b))-$((2 * b + 1))] BlockSize=2"; done >levels.conf; cp levels.conf flat.conf; printf 'AggregatedBlock=b[%s] BlockIndex=%d Nodes=n[%s] BlockSize=4\n' 0-1 4 0-3 2-3 5 4-7 >>levels.conf; echo BlockSizes=2,4 >>flat.conf; for f in levels flat; do nodewise topology slurm:$f.conf --yaml | sed 2d | cksum; done | uniq | wc -l; nodewise topology slurm:levels.conf | sed -n '4,5p'
1
└─b0..b3
  └─b0..b1,b2..b3      2 network 12.5 GB/s  150 ns assumed
$ echo 'AggregatedBlock=b[0-1] BlockSize=many' >bad.conf; nodewise topology slurm:bad.conf
! bad.conf:1 ... BlockSize ... 'many'
? 3
## Several rings: one switch, joined to the first node of each, joins them.
$ printf '%s\n' '- topology: r' '  ring:' '    rings:' '      - {ring: a, nodes: "n[1-4]"}' '      - {ring: b, nodes: "n[5-8]"}' > rings.yaml
$ for way in '0 2' '0 3' '1 4'; do nodewise topology slurm:rings.yaml --route "$way" | sed 1d | grep network | awk '{print $1, $3}' | paste -sd,; done
n1 n2,n2 n3
n4 n1
n1 n2,n1 (top),n5 (top)
## A switch with two parents, and a separate part: "(top)" joins the parts, although it is not in the file.
$ printf '%s\n' 'SwitchName=a Switches=d' 'SwitchName=b Switches=d' 'SwitchName=c Nodes=n[1-2]' 'SwitchName=d Nodes=n[3-4]' > parts.conf; nodewise topology slurm:parts.conf --route '0 2' | sed 1d | grep network | awk '{print $1, $3}' | paste -sd,
c (top),a (top),d a
## topology.conf names the same rings by RingName, and nothing else beside them.
$ printf '%s\n' 'RingName=a Nodes=n[1-4]' 'RingName=b Nodes=n[5-8]' > rings.conf; for f in rings.yaml rings.conf; do nodewise topology slurm:$f | sed 1d > $f.txt; done; cmp rings.yaml.txt rings.conf.txt; grep -c . rings.conf.txt
8
## scontrol show topology adds the size of each ring.
$ printf '%s\n' 'RingName=a Nodes=n[1-4] RingSize=4' 'RingName=b Nodes=n[5-8] RingSize=4' > rings.conf; nodewise topology slurm:rings.conf | sed 1d | cmp - rings.yaml.txt
$ printf '%s\n' 'RingName=a Nodes=n[1-4]' 'SwitchName=s Nodes=n5' > rings.conf; nodewise topology slurm:rings.conf
! rings.conf:1 ... rings ... switches
? 3
$ printf '\nRingName=a\n' > rings.conf; nodewise topology slurm:rings.conf
! rings.conf:2 ... RingName ... Nodes
? 3
## Blanks around names of a list are passed over, as is the line feed at its end.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 1\n' > two; for l in "n[1-2]$(printf '\n.')" ' n1 , n2 '; do nodewise map -q -t slurm:plain.conf -p two --hosts "${l%.}" | sed 1,2d; done
0 n1 0 -
1 n2 0 -
0 n1 0 -
1 n2 0 -
## Forwarding tables give the true routes: here all go by spine1, or, told by
## lids alone, by spine0; without them ties are spread by destination.
$ cd "$FIXTURES/fabric/valid" && for o in "" ,lft=tree.lft ,lft=tree-lids.lft; do for to in 2 3; do
>   nodewise topology ibnet:tree.ibnetdiscover$o --route "0 $to" | grep -o "leaf0 - spine."; done; done
leaf0 - spine0
leaf0 - spine1
leaf0 - spine1
leaf0 - spine1
leaf0 - spine0
leaf0 - spine0
## The same tables as OpenSM writes them, and with the warnings of the tools; the
## same fabric as ibnetdiscover -p lists it, behind a warning.
$ cd "$FIXTURES/fabric/valid" && { cat tree-lids.lft; echo "*** WARNING ***: this command has been replaced by dump_fts"; } > "$OLDPWD"/warned.lft && for t in tree.fdbs "$OLDPWD"/warned.lft; do
>   nodewise topology ibnet:tree.ibnetdiscover,lft=$t --yaml | sed 1,2d | cksum; done | uniq -c | sed 's/ [0-9]* [0-9]*$//; s/ *//'
2
## A dump that was interrupted: a note counts the entries that it lacks.
$ for n in 10 20; do head -$n "$FIXTURES/fabric/valid/tree.lft" > cut.lft; nodewise topology "ibnet:$FIXTURES/fabric/valid/tree.ibnetdiscover,lft=cut.lft" -o cut.yaml; done
! cut.lft lacks 12 of 16 entries ... shortest paths
! cut.lft lacks 7 of 16 entries ... shortest paths
$ cd "$FIXTURES/fabric/valid" && for f in tree tree-ports; do nodewise topology ibnet:$f.ibnetdiscover,lft=tree.lft --yaml | sed 1,2d | cksum; done | uniq -c | sed 's/ [0-9]* [0-9]*$//; s/ *//'
2
$ for bad in "s/'leaf0' )/leaf0/" 's/^CA/HA/'; do sed "$bad" "$FIXTURES/fabric/valid/tree-ports.ibnetdiscover" > bad.ports; nodewise topology ibnet:bad.ports 2>&1; echo $?; done
~ bad.ports:2 ... ibnetdiscover
3
~ bad.ports:2 ... ibnetdiscover
3
## An assumed PCIe link is at least as fast as the port behind it, up to XDR.
$ for r in EDR NDR XDR; do sed "s/EDR/$r/" "$FIXTURES/fabric/valid/tree.ibnetdiscover" > r; nodewise topology ibnet:r --route '0 1' | grep -E 'pcie|port|nic' | awk '{print $NF == "assumed" ? $(NF-4) $(NF-3) : $(NF-3) $(NF-2)}' | paste -sd' '; done
25GB/s 12.5GB/s 12.5GB/s 25GB/s
50GB/s 50GB/s 50GB/s 50GB/s
100GB/s 100GB/s 100GB/s 100GB/s
## A cluster file keeps them: its routes are the same, and those of what is put
## together from it.
$ F="$FIXTURES/fabric/valid" && for s in "$F"/tree.ibnetdiscover,lft="$F"/tree.lft "$F"/tree.ibnetdiscover,lft="$F"/tree-lids.lft "$F"/tree.ibtracert; do
>   nodewise topology "ibnet:$s" -o lft.yaml && nodewise topology lft.yaml -o again.yaml && cmp lft.yaml again.yaml
>   for way in "0 2" "0 3"; do for t in "ibnet:$s" lft.yaml; do nodewise topology "$t" --route "$way" | grep -o "leaf. - spine." | uniq; done; done; done | paste -sd' '
leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1 leaf0 - spine0 leaf1 - spine0 leaf0 - spine0 leaf1 - spine0 leaf0 - spine0 leaf1 - spine0 leaf0 - spine0 leaf1 - spine0 leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1 leaf0 - spine1 leaf1 - spine1
## Both cards of a node at one switch, each with routes of its own: by the tables
## card 0, that of cores 0 and 1, is reached by b, card 1, that of cores 2 and 3,
## by c. If the node's source names the cards in the other order, the routes
## follow the names; a file written from this keeps them.
$ for o in 0,1 1,0; do printf '%s\n' 'nodewise: cluster 1' "node_types: {n: {cpu: {packages: 2, cores: 2}, devices: [{package: [0, 1], parts: [{nic: 1}]}], nic_names: \"mlx5_[$o]\"}}" \
>   'network:' '  graph:' '    switches: "a,b,c,d"' '    links: [{between: [a, "b,c"]}, {between: [d, "b,c"]}]' '    tables:' \
>   '      - {at: a, by: b, to: n2}' '      - {at: a, by: c, card: 1, to: n2}' '      - {at: b, by: d, to: n2}' '      - {at: c, by: d, card: 1, to: n2}' \
>   'nodes: [{name: n1, switch: a}, {name: n2, switch: d}]' > cards$o.yaml; done; nodewise topology --network cards0,1.yaml --node cards1,0.yaml -o turned.yaml
$ for s in cards0,1.yaml "--network cards0,1.yaml --node cards1,0.yaml" turned.yaml; do for way in "0 4" "2 6"; do nodewise topology $s --route "$way" | grep -o "^[a-d] - [a-d]" | paste -sd,; done; done
a - b,d - b
a - c,d - c
a - c,d - c
a - b,d - b
a - c,d - c
a - b,d - b
$ F="$FIXTURES/fabric/valid" && nodewise topology --network ibnet:"$F"/tree.ibnetdiscover,lft="$F"/tree-lids.lft --node hwloc:core:4 --route 0 12 | grep -o "leaf0 - spine."
leaf0 - spine0
! 'machine' ... hwloc:core:4 ... network
$ for bad in 's/by: spine1, to: n2/by: leaf1, to: n2/' 's/by: spine1, to: n2/by: spine1, cable: 1, to: n2/' 's/by: spine1, to: n2/by: spine1, to: n9/' 's/by: spine1, to: n2/by: spine1, card: 1, to: n2/' 's/by: spine1, to: n2/by: spine1, to: "n2,n2"/' 's/at: spine1, by: leaf1/at: spine1, by: leaf0/'; do
>   printf '%s\n' 'nodewise: cluster 1' 'node_types: {t: {cpu: {cores: 1}}}' 'nodes: [{name: n1, switch: leaf0}, {name: n2, switch: leaf1}]' \
>     'network:' '  graph:' '    switches: "leaf[0,1],spine1"' '    links: [{between: [spine1, "leaf[0,1]"]}]' '    tables:' \
>     '      - {at: leaf0, by: spine1, to: n2}' '      - {at: spine1, by: leaf1, to: n2}' | sed "$bad" > bad.yaml; nodewise topology bad.yaml 2>&1; echo $?; done
~ bad.yaml:9 ... 'leaf0' ... 'leaf1' ... 0 links
3
~ bad.yaml:9 ... 'leaf0' ... 'spine1' ... link
3
~ bad.yaml:9 ... node ... 'n9'
3
~ bad.yaml:9 ... 'n2' ... card 1
3
~ bad.yaml:9 ... card 0 ... 'n2'
3
~ bad.yaml:9 ... forwarding ... 'leaf0'
3
$ cd "$FIXTURES/fabric/invalid" && for f in *.lft; do nodewise topology ibnet:../valid/tree.ibnetdiscover,lft=$f 2>&1; echo $?; done
~ cut.lft:6 ... lid ... port
3
~ loop.lft:1 ... forwarding ... 'leaf0'
3
~ number.lft:6 ... lid ... port
3
~ other.lft:1 ... forwarding
3
~ port.lft:6 ... port 7 ... 'S-0000000000000010' ... cable
3
~ switch.lft:25 ... 'S-0000000000000099' ... ../valid/tree.ibnetdiscover
3
## Recorded ibtracert output: only what the ways touched is there, and each way
## is the one that was traced, by spine1.
$ cd "$FIXTURES/fabric/valid" && nodewise topology ibnet:tree.ibtracert --route "0 2" | grep -o "leaf. - spine."
leaf0 - spine1
leaf1 - spine1
## Messages of the tools may be anywhere in the file. A description with the word
## "switch" does not make an adapter a switch: there are still 4 nodes.
$ cd "$FIXTURES/fabric/valid" && sed '1i src/query.c:12; test\n' tree.ibtracert | sed 's/^To/ibwarn: [5] test\n&/; s/"n1 /"switch1 /' > "$OLDPWD"/warned.ibtracert; cd "$OLDPWD" && nodewise topology ibnet:warned.ibtracert | grep ^host
host: n[2-4],switch1
$ for way in "3 0" "3 1"; do nodewise topology ibnet:warned.ibtracert --route "$way" | grep -o "leaf. - [ls][^ ]*"; done
leaf0 - spine1
leaf1 - spine1
$ cd "$FIXTURES/fabric/invalid" && for f in *.ibtracert; do nodewise topology ibnet:$f 2>&1; echo $?; done
~ cut.ibtracert:3 ... file
3
~ port.ibtracert:7 ... hop
3
## ibnet:live, by doubles of the commands: ibnetdiscover where it works, kept
## for the job; else ibtracert for each pair; else what to ask for.
$ mkdir bin && cp "$FIXTURES"/fabric/valid/tree.* . && printf '#!/bin/sh\necho run >> runs; cat tree.ibnetdiscover\n' > bin/ibnetdiscover && chmod +x bin/ibnetdiscover
> export PATH="$PWD/bin:$PATH" XDG_CACHE_HOME="$PWD" SLURM_JOB_ID=7
> nodewise topology ibnet:live --distance 0 2; nodewise topology ibnet:live --distance 0 1; SLURM_PROCID=1 nodewise topology ibnet:live --distance 0 1; wc -l < runs
8
6
6
1
## The fabric of a job is read even if no folder can be made to keep it.
$ touch file; PATH="$PWD/bin:$PATH" XDG_CACHE_HOME="$PWD/file" SLURM_JOB_ID=7 SLURM_PROCID=1 nodewise topology ibnet:live --distance 0 2
8
$ printf '#!/bin/sh\nexit 1\n' > bin/ibnetdiscover; printf '#!/bin/sh\ncase "$*" in *"-w n1 "*) echo 0x5;; *) echo 0x7;; esac\n' > bin/ssh
> printf '#!/bin/sh\necho "$@" >&2\ntest "$*" = "5 7" && sed -n 5,10p tree.ibtracert\n' > bin/ibtracert; cp bin/ssh bin/srun; chmod +x bin/*
> export PATH="$PWD/bin:$PATH" XDG_CACHE_HOME="$PWD" SLURM_JOB_ID=8 SLURM_JOB_NODELIST="n[1,3]"; nodewise topology ibnet:live --route "0 1" | grep -o "leaf. - spine."
leaf0 - spine1
leaf1 - spine1
$ printf '#!/bin/sh\nexit 1\n' > bin/ibtracert; PATH="$PWD/bin:$PATH" nodewise topology ibnet:live
! ibnet:live ... infiniband-diags
? 4
## What is wrong is said with its line.
$ cd "$FIXTURES/fabric/invalid" && for f in *.ibnetdiscover; do nodewise topology ibnet:$f 2>&1; echo $?; done
~ apart.ibnetdiscover:1 ... network ... 'n2' ... 'n1'
3
~ dangling.ibnetdiscover:8 ... [2] ... 'S-00000000000000a0' ... 'H-0000000000000020' ... elsewhere
3
~ huge.ibnetdiscover:8 ... port
3
~ latin1.ibnetdiscover:6 ... UTF-8 ... text
3
~ one-name.ibnetdiscover:31 ... nodes ... 'n1'
3
~ ports.ibnetdiscover:9 ... ports
3
~ truncated.ibnetdiscover:9 ... dangling ... [41] ... 'S-00000000000000a0' ... 'H-00000000000000af'
3
## A guid that is not a number is an error, and not the guid 0.
$ bad() { sed "$1" "$FIXTURES/fabric/valid/$2" > bad; nodewise topology "ibnet:$3bad" 2>&1; echo $?; }
> tree="$FIXTURES/fabric/valid/tree.ibnetdiscover,lft="
> bad 's/^\[1](51)/[1](5z)/' tree.ibnetdiscover; bad '1s/.*/sysimgguid=z/' tree.ibnetdiscover; bad '3s/61 4x/6z 4x/' tree-ports.ibnetdiscover
> bad '2s/0x0*10/z/' tree.ibtracert; bad '4s/0x0*51/0x00000000000000051/' tree.lft "$tree"; bad '1s/0x0*10/10z/' tree.fdbs "$tree"
~ bad:27 ... port ... [1]
3
~ bad:1 ... guid
3
~ bad:3 ... ibnetdiscover
3
~ bad:2 ... {guid}
3
~ bad:4 ... guid
3
~ bad:1 ... guid
3
$ cd "$FIXTURES/fabric/invalid" && for f in *.conf; do nodewise topology slurm:$f 2>&1; echo $?; done
~ all-switches.conf:2 ... s[0-2] ... 'ALL'
3
~ all.conf:2 ... 'ALL' ... slurm.conf ... scontrol
3
~ dangling.conf:1 ... switch ... 'a2'
3
~ key.conf:1 ... unknown ... 'Speed'
3
~ loop.conf:3 ... switch ... 'a' ... 'b'
3
~ range.conf:1 ... 'n[4-1]' ... larger
3
~ value.conf:1 ... Nodes
3
## A node on two leaf switches is on both, with the words of Slurm's warning.
$ cd "$FIXTURES/fabric/valid" && nodewise topology slurm:twice.conf --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> print([[t["network"]["switches"][p["switch"]] for p in n["ports"]] for n in t["nodes"] if n["name"] in ("n3", "n4", "n5")])'
> nodewise topology -q slurm:twice.conf --route '2 3' | grep -c top || true
[['a'], ['a', 'b'], ['b']]
0
! note: twice.conf:3 ... Multiple leaf switches contain nodes: n4
## Files that are included, from the folder of the first; what is wrong is told with the file
## that says it, what cannot be included with the line that asks for it.
$ mkdir -p conf/sub; cd conf; printf 'include leaves.conf # of a and b\nSwitchName=top Switches=a,b\n' >topology.conf; printf 'SwitchName=a Nodes=n[1-2]\nInclude sub/b.conf\n' >leaves.conf; printf 'SwitchName=b Nodes=m[1-3]\n' >sub/b.conf; cd ..; nodewise topology slurm:conf/topology.conf | sed -n 3,8p
network (tree)
└─top
  ├─a                     network 12.5 GB/s  150 ns assumed
  │ └─n[1,2]            2 nic     12.5 GB/s  500 ns assumed, host
  └─b                     network 12.5 GB/s  150 ns assumed
    └─m[1-3]            3 nic     12.5 GB/s  500 ns assumed, host
$ cd conf; printf '#\n\n# \344\n' >latin1.conf; for l in 'Include leaves.conf' 'Include ./topology.conf' 'Include none.conf' 'Include sub' 'Include latin1.conf' 'Include' 'Include a.conf b.conf' 'SwitchName=a Nodes=m1' 'SwitchName=b Switches=q'; do printf '#\n%s\n' "$l" >sub/b.conf; nodewise topology slurm:topology.conf; done
! sub/b.conf:2 ... leaves.conf ... includes
! sub/b.conf:2 ... ./topology.conf ... includes
! sub/b.conf:2 ... none.conf ... No such file or directory
! sub/b.conf:2 ... directory
! sub/b.conf:2 ... Include latin1.conf:3 ... UTF-8
! sub/b.conf:2 ... Include
! sub/b.conf:2 ... Include
! sub/b.conf:2 ... switch ... 'a'
! sub/b.conf:2 ... switch ... 'q'
? 3
## An error about an included file does not quote the file: its words may be
## secret.
$ cd conf; for l in 'secretline' 'secretkey=1'; do printf '%s\n' "$l" >sub/b.conf; nodewise topology slurm:topology.conf 2>err; echo $? $(grep -c secret err) $(grep -c 'sub/b.conf:1' err); done
3 0 1
3 0 1
## Lines that go on, also in the middle of a list, as Slurm joins them
$ printf 'SwitchName=a Nodes=n[1-2],\\\nm[01-\\ \n03] # \\\nSwitchName=b Nodes=k\\\r\n[1-2]\nSwitchName=c Switches=a,b \\\n LinkSpeed=1\nSwitchName=d Nodes\n' > joined.conf; nodewise topology slurm:joined.conf; sed '$d' joined.conf > good.conf; nodewise topology slurm:good.conf | sed -n 3,8p
network (tree)
└─c
  ├─a                              network 12.5 GB/s  150 ns assumed
  │ └─m[01-03],n[1,2]            5 nic     12.5 GB/s  500 ns assumed, host
  └─b                              network 12.5 GB/s  150 ns assumed
    └─k[1,2]                     2 nic     12.5 GB/s  500 ns assumed, host
! joined.conf:8 ... Key=Value ... 'Nodes'
## Blanks around the sign, quotes, keys in any case, as Slurm's parser takes them
$ printf 'switchname = a  NODES = "n[1-2],m[01-03]"\nSwitchName=b\tnodes=rack[1-2]node[8-9]x LinkSpeed = 50\nSwitchName=c Switches=a,b\n' > free.conf; nodewise topology slurm:free.conf | sed -n 3,8p
network (tree)
└─c
  ├─a                                                       network 12.5 GB/s  150 ns assumed
  │ └─m[01-03],n[1,2]                                     5 nic     12.5 GB/s  500 ns assumed, host
  └─b                                                       network 12.5 GB/s  150 ns assumed
    └─rack1node[8,9]x,rack2node[8,9]x                     4 nic     12.5 GB/s  500 ns assumed, host
$ X="$SHARED/data/infiniband"; test -d "$X" || { echo SKIP no "$X"; exit 77; }
> cd "$X" && nodewise topology slurm:X5.topology.conf
! X5.topology.conf:11 ... switch ... 'S-0008f105001086a2' ... 'S-0008f10500108530'
? 3
## 10,000 hosts and 1,000 switches load in less than two seconds of CPU time.
$ python3 "$SOURCE/bench/topology/fabric.py" > big.txt && python3 -c '
> import resource, subprocess
> done = subprocess.run(["nodewise", "topology", "ibnet:big.txt"], capture_output=True, text=True)
> used = resource.getrusage(resource.RUSAGE_CHILDREN)
> print(done.stdout.split(",")[0], used.ru_utime + used.ru_stime < 10)'
big.txt: 10000 nodes True
## As Slurm: a switch without anything below it is an empty leaf, a block without nodes an empty block; one
## with both kinds of things below it is refused, and so is a speed that is no number.
$ printf 'SwitchName=a Nodes=n[1-2]\nSwitchName=b LinkSpeed=4\nSwitchName=top Switches=a,b\n' >leaf.conf; nodewise topology slurm:leaf.conf | grep -cE '^  ([├]─a|└─b)  '; printf 'BlockName=a Nodes=n[1-2]\nBlockName=b\nBlockSizes=2\n' >block.conf; nodewise topology slurm:block.conf | head -1
2
block.conf: 2 nodes, 2 cores, 0 GPUs, 6 links (6 with assumed figures)
$ for words in 'Nodes=n1 Switches=b' 'LinkSpeed=fast Nodes=n1' 'LinkSpeed=4294967296 Nodes=n1'; do printf 'SwitchName=b Nodes=n2\nSwitchName=a %s\n' "$words" >bad.conf; nodewise topology slurm:bad.conf || echo $?; done
! bad.conf:2 ... switch ... 'a' ... Switches= ... Nodes=
! bad.conf:2 ... LinkSpeed ... 'fast'
! bad.conf:2 ... LinkSpeed ... '4294967296'
3
3
3
## BlockSizes is a line of its own, once, for blocks alone; a wrong size is told with its line. Only a
## topology.yaml holds several topologies.
$ for line in 'BlockName=b Nodes=m1 BlockSizes=2' 'BlockSizes=2\nBlockSizes=4' 'BlockSizes=2,4,6' 'BlockSizes=2\nSwitchName=s Nodes=m1'; do printf "#\nBlockName=a Nodes=n[1-2]\n$line\n" >sizes.conf; nodewise topology slurm:sizes.conf || echo $?; done; nodewise topology slurm:block.conf,topology=b || echo $?
! sizes.conf:3 ... BlockSizes
! sizes.conf:4 ... BlockSizes
! sizes.conf:3 ... BlockSizes ... 6 ... multiple ... 4
! sizes.conf:4 ... switches
! topology=b ... topology.yaml ... block.conf
3
3
3
3
2
$ printf -- '- topology: b\n  block:\n    block_sizes:\n      - 2\n      - 3\n    blocks: [{block: a, nodes: "n[1-2]"}]\n' >sizes.yaml; nodewise topology slurm:sizes.yaml
! sizes.yaml:5 ... block_sizes ... 3 ... multiple ... 2
? 3
## A node named twice on one switch is one node, as for Slurm.
$ printf 'SwitchName=a Nodes=n[1-3],n2,n1\nSwitchName=b Nodes=m1\nSwitchName=top Switches=a,b\n' >repeated.conf; sed 's/,n2,n1//' repeated.conf >single.conf; for f in repeated single; do nodewise topology slurm:$f.conf --json | sed "s/$f//g"; nodewise topology slurm:$f.conf --yaml | sed "s/$f//g"; done >all; head -n $(($(wc -l <all) / 2)) all >one; tail -n $(($(wc -l <all) / 2)) all | cmp - one && nodewise topology slurm:repeated.conf | head -1
repeated.conf: 4 nodes, 4 cores, 0 GPUs, 10 links (10 with assumed figures)

## Switches with very many links are asked once for each way, not once for each step of it.
$ awk -v L=1200 -v S=64 'BEGIN { print "nodewise: cluster 1\nname: wide\nnode_types:\n  t:\n    cpu: {synthetic: \"package:1 core:1 pu:1\"}\nnodes:\n  - {name: \"n[1-" L "]\", type: t, switch: \"L[1-" L "]\"}\nnetwork:\n  graph:\n    switches: \"L[1-" L "],S[1-" S "]\"\n    links: [{between: [\"L[1-" L "]\", \"S[1-" S "]\"]}]\n    tables:\n      - {at: L1, by: S9, to: n2}" }' > wide.yaml; if ldd $(command -v nodewise) | grep -q libasan; then echo SKIP sanitized; exit 77; fi; (ulimit -t 3; nodewise topology wide.yaml --route 0 1)
link                   way  kind    bandwidth latency note
n1: core 0 - package 0 up   core      12 GB/s   20 ns assumed
n1: package 0 - node   up   socket    40 GB/s   60 ns assumed
n1: node - L1          up   nic     12.5 GB/s  500 ns assumed
L1 - S9                up   network 12.5 GB/s  150 ns assumed
L2 - S9                down network 12.5 GB/s  150 ns assumed
n2: node - L2          down nic     12.5 GB/s  500 ns assumed
n2: package 0 - node   down socket    40 GB/s   60 ns assumed
n2: core 0 - package 0 down core      12 GB/s   20 ns assumed
## Files that include others many times, and pipes, are refused at once.
$ for i in $(seq 30); do printf 'Include laugh%d.conf\nInclude laugh%d.conf\n' $((i + 1)) $((i + 1)) >laugh$i.conf; done; echo >laugh31.conf; nodewise topology slurm:laugh1.conf
! laugh17.conf:1: more than 16 levels of Include
? 3
$ for i in $(seq 12); do printf 'Include many%d.conf\nInclude many%d.conf\n' $((i + 1)) $((i + 1)) >many$i.conf; done; echo '#' >many13.conf; nodewise topology slurm:many1.conf
! more than 16 levels of Include, or 1000 files
? 3
$ mkfifo pipe.conf; echo Include pipe.conf >pipes.conf; nodewise topology slurm:pipes.conf
! pipes.conf:1: Include pipe.conf: not a regular file
? 3
## Two halves of 2,048 switches, each joined to all of the other half: a million links.
## Two of a half are two links of the network apart, others one.
$ printf 'nodewise: cluster 1\nnode_types: {a: {cpu: {cores: 1}}}\nnodes: [{name: "n[1-2048]", switch: "s[1-2048]"}]\nnetwork: {graph: {switches: "s[1-2048]", links: [{between: ["s[1-1024]","s[1025-2048]"]}]}}\n' >dense.yaml; (ulimit -t 20; echo $(($(nodewise topology dense.yaml --distance 0 1) - $(nodewise topology dense.yaml --distance 0 1500))))
1
## An error of the whole network names the file.
$ (echo 'SwitchName=s0 Nodes=n1'; for i in $(seq 300); do echo "SwitchName=s$i Switches=s$((i - 1))"; done) > deep.conf; nodewise topology slurm:deep.conf; printf 'RingName=a Nodes=a[1-600]\nRingName=b Nodes=b[1-3]\n' > wide.conf; nodewise topology slurm:wide.conf; python3 -c '
> for i in range(300):
>     print(f"Switch 4 \"S-{i:016x}\"")
>     for port, far in ((1, i - 1), (2, i + 1)):
>         if 0 <= far < 300:
>             print(f"[{port}] \"S-{far:016x}\"[{3 - port}]")' > deep.txt; nodewise topology ibnet:deep.txt
! deep.conf:1 ... deeper
! wide.conf:1 ... links away
! deep.txt:1 ... links away
? 3
