## Ranks 0 and 3, 1 and 2 talk; on 2 x 2 elements the best J has both pairs
## inside a group: 9 x 1 + 7 x 1; the default pays 9 x 10 + 7 x 10. Algorithm 1
## by hand: delta is -9 -7 -7 -9: 1 on element 0; then 2 (+7) on 1; then 0 and 3.
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 3 hh 9 1\n1 2 hh 7 1\n' > app.pattern
$ nodewise map -t hierarchy:2:2@1:10 -p app.pattern --algorithm magc-greedy --output-format pe 2>/dev/null
2
0
1
3
$ nodewise map -t hierarchy:2:2@1:10 -p app.pattern --algorithm magc-greedy --json -o app.mapping | grep -e '"hop_bytes"' -e algorithm
  "algorithm": "magc-greedy",
  "hop_bytes": 16,
    "hop_bytes": 160,
$ cat app.mapping
nodewise mapping 1
ranks 4
0 machine 2 -
1 machine 0 -
2 machine 1 -
3 machine 3 -
## Fixed ranks stay: 3 on element 0, the others in order after it.
$ printf 'nodewise mapping 1\nranks 4\n0 * * -\n1 * * -\n2 * * -\n3 machine 0 -\n' > some.fixed
$ nodewise map -t hierarchy:2:2@1:10 -p app.pattern --algorithm block --fix some.fixed --output-format pe 2>/dev/null
1
2
3
0
## With several ranks a core, too, others leave a node to those fixed there.
$ printf 'nodewise mapping 1\nranks 4\n0 * * -\n1 * * -\n2 a1 * -\n3 a1 * -\n' > node.fixed
$ nodewise map -t magc-a -p app.pattern --hosts a1:2,a2:2 --fix node.fixed --capacity 2 -o - 2>/dev/null | cut -d ' ' -f 1,2
nodewise mapping
ranks 4
0 a2
1 a2
2 a1
3 a1
## Ranks 1 and 4 exchange so much that they must share a node, from where 1 sends
## 7 bytes each to 0 and 2: 14 s on its link of 1 byte/s are the least, and what
## was tried before must leave nothing on the links.
$ printf 'nodewise: cluster 1\nname: slow\nnode_types:\n  pair: {cpu: {packages: 1, cores: 2, links: {core: 1000000000GB/s}}}\nnodes:\n  - {name: "n[0-2]", type: pair, switch: top, port: {bandwidth: 1}}\nnetwork:\n  tree: {switch: top}\n' > slow.yaml
$ printf '0 2 1\n0 3 1\n1 0 7\n1 2 7\n1 4 288230376151711745\n2 0 1\n3 0 7\n3 4 3\n' > apart.list
$ nodewise map -t slow.yaml -p list:apart.list --algorithm exact --objective congestion --json -q | grep -e proven -e '"max_congestion":' | head -2
  "proven": true,
  "max_congestion": 14,
## A mapping to begin from that is not valid itself is refused: a core twice, a
## node of more ranks than it is to have, a fixed rank elsewhere.
$ printf 'nodewise mapping 1\nranks 4\n0 a1 0 -\n1 a1 0 -\n2 a1 1 -\n3 a2 0 -\n' > twice.mapping
$ nodewise map -t magc-a -p app.pattern --from twice.mapping --algorithm anneal
! mapping ... rank 1
? 3
$ sed 's/a1 0 -/a1 2 -/; s/^0 a1 2/0 a1 0/' twice.mapping > from.mapping
$ nodewise map -t magc-a -p app.pattern --from from.mapping --hosts a1:2,a2 --algorithm tabu
! mapping ... a1 ... 2
? 3
$ printf 'nodewise mapping 1\nranks 4\n0 a2 * *\n1 * * *\n2 * * *\n3 * * *\n' > elsewhere.fixed
$ nodewise map -t magc-a -p app.pattern --from from.mapping --fix elsewhere.fixed --algorithm exact
! mapping ... rank 0 ... a1 ... a2
? 3
## --steps 0 keeps the placement of a rankfile, and compares it with the default.
$ printf 'rank 0=a1 slot=0:1\nrank 1=a2 slot=0:0\nrank 2=a1 slot=0:0\nrank 3=a2 slot=1:0\n' > mine.rankfile
$ nodewise map -q -t magc-a -p app.pattern --from mine.rankfile --steps 0 -o - | cut -d ' ' -f 1-3
nodewise mapping 1
ranks 4
0 a1 1
1 a2 0
2 a1 0
3 a2 12
$ nodewise map -t magc-a -p app.pattern --from mine.rankfile --steps 0 -o kept.mapping | awk '{ print $1 }' | sed -n '2,3p'
default
from
## Ranks that do not fit where a rankfile or a list of hosts puts them.
$ sed 's/rank 2=a1 slot=0:0/rank 2=a1 slot=0:1/' mine.rankfile > full.rankfile; nodewise map -t magc-a -p app.pattern --from full.rankfile --steps 0
! full.rankfile:3 ... rank 2 ... core 1 of a1
? 3
$ echo a1:25 > full.hosts; nodewise map -t magc-a -p generate:stencil2d5:dims=5x5 --from full.hosts
! full.hosts: 25 ranks ... a1 ... 24 slots
? 3
$ nodewise evaluate -t magc-a -p app.pattern mine.rankfile
! mine.rankfile:1 ... rankfile ... nodewise map --from
? 3
$ nodewise map -t magc-a -p app.pattern --from twice.mapping --steps 0
! twice.mapping ... rank 1
? 3
$ nodewise map -t magc-a -p app.pattern --steps 0
! --steps 0 ... --from
? 2
$ nodewise map -t magc-a -p app.pattern --from mine.rankfile --steps 0 --algorithm anneal
! --steps 0 ... --algorithm
? 2
## Too small, unknown names, a GPU layer without GPUs: what would fit.
$ nodewise map -t hierarchy:3@1 -p app.pattern
! 4 ranks ... 1 host ... 3 ... --capacity
? 3
$ nodewise map -t magc-a -p app.pattern --hosts 'a[1-2],z'
! magc-a ... 'z'
? 3
$ for h in 'a[1-2' a1,,a2 a1:nan; do nodewise map -t magc-a -p app.pattern --hosts "$h" || echo $?; done
! nodewise map: --hosts: host list 'a[1-2' ... ']'
! nodewise map: --hosts: ... name is empty
! nodewise map: --hosts: host 'a1': slots ... 'nan'
2
2
2
$ for i in 1e6 -1 9999999999%; do nodewise map -t magc-a -p app.pattern --imbalance $i 2>&1 | head -1; done
~ --imbalance ... 3% ... 1000000 ... '1e6'
~ --imbalance ... '-1'
~ --imbalance ... '9999999999%'
$ printf 'a1 slots=2\n# rest\na9\n' > hosts
$ nodewise map -t magc-a -p app.pattern --hostfile hosts
! hosts:3 ... magc-a ... 'a9'
? 3
$ SLURM_JOB_NODELIST=a1,x7 nodewise map -t magc-a -p app.pattern
! SLURM_JOB_NODELIST ... magc-a ... 'x7' ... --hosts
? 3
$ for a in auto default sorted fold anneal tabu exact; do nodewise map -t magc-a -p app.pattern --algorithm $a --phase2 block 2>&1 | head -1; nodewise map -t magc-a -p app.pattern --algorithm $a --phase2 block 2>/dev/null; echo $?; done
~ auto ... phases
2
~ default ... phases
2
~ sorted ... phases
2
~ fold ... phases
2
~ anneal ... phases
2
~ tabu ... phases
2
~ exact ... phases
2
$ nodewise map -t magc-a -p app.pattern --algorithm auto --phase2 block 2>/dev/null
? 2
## Other batch systems: the job's hosts, where the machine knows one of them.
$ printf 'a3\na1.site.org\na3\na1.site.org\n' >slots; printf 'a2 3 all.q@a2 UNDEFINED\na4 2 q x\n' >sizes; printf 'a2\na3\n' >parts; printf 'b1\n' >other; nodes() { nodewise map -q -t magc-a -p app.pattern --algorithm block | sed 1,2d | cut -d' ' -f2 | paste -sd' '; }
> PBS_NODEFILE=slots nodes; PE_HOSTFILE=sizes nodes; LSB_MCPU_HOSTS='a3 1 a1 3' nodes; PBS_NODEFILE=parts nodes; OAR_NODEFILE=slots SLURM_JOB_NODELIST=a4 nodes; PBS_NODEFILE=other nodes 2>/dev/null
a3 a3 a1 a1
a2 a2 a2 a4
a3 a1 a1 a1
a2 a2 a2 a2
a4 a4 a4 a4
a1 a1 a1 a1
$ mkdir double; printf '#!/bin/sh\n# a double of flux(1)\necho "a[3-4]"\n' >double/flux; chmod +x double/flux; FLUX_URI=local:///x PATH="$PWD/double:$PATH" nodewise map -q -t magc-a -p app.pattern --algorithm block | sed 1,2d | cut -d' ' -f2 | paste -sd' '
a3 a3 a3 a3
$ LSB_MCPU_HOSTS='a2 2147483647 a2 2147483647' nodewise map -q -t magc-a -p app.pattern --algorithm block | sed 1,2d | cut -d' ' -f2 | paste -sd' '
a2 a2 a2 a2
## The job's hosts that the machine lacks: both lists are named. Tasks of a node limit its
## ranks if all tasks together are enough: 4 ranks fit 2 + 2 tasks, not 2 + 1; --hosts and --spare decide first.
$ PBS_NODEFILE=other nodewise map -t magc-a -p app.pattern -o elsewhere >said; SLURM_JOB_NODELIST='gpu[017,023]' nodewise map -q -t magc-a -p app.pattern -o elsewhere
! nodewise map: warning: magc-a has no host ... PBS_NODEFILE: b1 ... a[1-4] ... --hosts or --hostfile ... nodes:
! nodewise map: warning: magc-a has no host ... SLURM_JOB_NODELIST: gpu[017,023] ... a[1-4]
$ export SLURM_JOB_NODELIST='a[1-2]' SLURM_JOB_CPUS_PER_NODE='16(x2)'; nodes() { nodewise map -t magc-a -p app.pattern --algorithm block "$@" | sed 1,2d | cut -d' ' -f2 | paste -sd' '; }
> SLURM_TASKS_PER_NODE='2(x2)' nodes 2>said; head -1 said; SLURM_TASKS_PER_NODE=2,1 nodes -q; SLURM_TASKS_PER_NODE='2(x2)' nodes -q --hosts a2,a1; SLURM_TASKS_PER_NODE='4(x2)' nodes -q --spare 1; SLURM_TASKS_PER_NODE='3(x2)' nodes -q --spare 1
a1 a1 a2 a2
nodewise map: note: this job (SLURM_JOB_NODELIST) allows 2 ranks on each of its 2 hosts; --hosts allows others
a1 a1 a1 a1
a2 a2 a2 a2
a1 a1 a1 a1
a1 a1 a1 a1
$ OAR_NODEFILE=parts nodewise map -q -t magc-a -p app.pattern
! 4 ranks ... 2 hosts ... more slots
? 3
## The time is linear in the lines and hosts: 640,000 lines of 20,000 hosts take less than 20 seconds of CPU time.
$ printf 'nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 32}}}\nnodes: [{name: "n[1-20000]", switch: s}]\nnetwork: {tree: {switch: s}}\n' >many.yaml; for i in $(seq 32); do seq -f n%.0f 20000; done >many; ulimit -t 20; OAR_NODEFILE=many nodewise evaluate -t many.yaml -p app.pattern | head -1 | cut -d' ' -f1
MAPPING
$ printf 'a1\nz9\n' >odd; LSB_DJOB_HOSTFILE=odd nodewise map -t magc-a -p app.pattern
! LSB_DJOB_HOSTFILE ... magc-a ... 'z9'
? 3
$ printf 'a1 x q y\n' >odd; PE_HOSTFILE=odd nodewise map -t magc-a -p app.pattern
! PE_HOSTFILE ... odd:1 ... slots ... 'a1'
? 3
## Lists of launchers: PBS names a node once for each place, Open MPI takes blanks
## around the sign and adds up, MPICH has words of its own. The four ranks of the
## pattern in order.
$ nodes() { nodewise map -q -t magc-a -p app.pattern --algorithm block --hostfile hosts | sed 1,2d | cut -d' ' -f2 | paste -sd' '; }
> printf 'a3\na1\na3\na1\n' > hosts; nodes; printf 'a1 slots = 1\na1 cpu=2\na2\n' > hosts; nodes; printf 'a2:3 ifhn=ib0\na4:1\n' > hosts; nodes; printf 'a2\na3\n' > hosts; nodes; printf 'me@a4 slots=3\nme@a2:1\n' > hosts; nodes
a3 a3 a1 a1
a1 a1 a1 a2
a2 a2 a2 a4
a2 a2 a2 a2
a4 a4 a4 a2
## A list of --hosts that is none is wrong usage in all commands that take it.
$ for c in 'map -p app.pattern' 'evaluate -p app.pattern' 'simulate -p app.pattern' 'report -p app.pattern'; do for h in '' 'a[1' a1:x; do nodewise $c -q -t magc-a --hosts "$h" 2>err; echo $?; grep -c '^nodewise [a-z]*: --hosts: ' err; done; done | sort | uniq -c | awk '{print $1, $2}'
12 1
12 2
## What no launcher takes: slots said twice, addresses of IPv6; and one that most do.
$ for l in 'a1 slots=2 cpu=3' 'a1:2 slots=3' '[::1] slots=4' 'me@fe80::1%eth0' 'a1 slot=4'; do echo "$l" > hosts; nodewise map -q -t magc-a -p app.pattern --hostfile hosts; done
! hosts:1 ... slots ... 2 ... 3
! hosts:1 ... slots ... 3 ... 2
! hosts:1 ... '[::1]' ... IPv6 ... address
! hosts:1 ... 'fe80::1%eth0' ... IPv6 ... address
! hosts:1 ... slots=N ... 'slot=4'
? 3
$ printf 'a2 username=me slots-max=4 slots=3\na4\n' > hosts; nodewise map -q -t magc-a -p app.pattern --algorithm block --hostfile hosts | sed 1,2d | cut -d' ' -f2 | paste -sd' '
a2 a2 a2 a4
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 gg 9 1\n' > gpu.pattern
$ nodewise map -t hierarchy:4@1 -p gpu.pattern
! GPU layer ... hierarchy:4@1
? 3
$ nodewise map -t magc-a -p gpu.pattern --algorithm block --hosts a3 -q
nodewise mapping 1
ranks 2
0 a3 0 0
1 a3 1 1
## Sharing of GPUs gives GPUs to the ranks of host messages, too: 4 ranks on the GPUs of one node, two on each.
$ nodewise map -q -t magc-a -p app.pattern --ranks-per-gpu 2 --algorithm block --hosts a3 | sed 1,2d | cut -d' ' -f4 | sort | uniq -c | awk '$2 == "-" || $1 > 2'; nodewise map -q -t hierarchy:8@1 -p app.pattern --ranks-per-gpu 2
! hierarchy:8@1 has no GPUs
? 3
$ SLURM_JOB_NODELIST='a[3-4]' nodewise map -t magc-a -p gpu.pattern --algorithm block -q
nodewise mapping 1
ranks 2
0 a3 0 0
1 a3 1 1
$ nodewise map -t magc-a -p gpu.pattern --algorithm fastest 2>&1 | head -1
~ algorithm ... 'fastest'
$ nodewise map -t magc-a -p gpu.pattern -o /nowhere/x
! /nowhere/x ... No such file or directory
? 1
## As many cores, GPUs or sharers a rank as a number can say.
$ nodewise map -t magc-a -p gpu.pattern --algorithm block --cores-per-rank 2147483647 2>/dev/null
? 3
$ nodewise map -t magc-a -p gpu.pattern --algorithm block --gpus-per-rank 2147483647 2>/dev/null
? 3
$ nodewise map -t magc-a -p gpu.pattern --algorithm block --ranks-per-gpu 2147483647 -q | tail -1
1 a1 1 0
## Searches have a seat for each sharer: no more than there are ranks.
$ for n in 2 2147483647; do nodewise map -qt magc-a -p gpu.pattern --ranks-per-gpu $n --json; done | grep -c '"algorithm"'
2
## QAPLIB: 0 and 1 exchange 5, 0 and 2 exchange 1; elements 0 and 2 are 1 apart,
## the rest 9. Default 2 x (5 x 9 + 1 x 1) = 92, best 2 x (5 x 1 + 1 x 9) = 28.
$ printf '3\n0 5 1\n5 0 0\n1 0 0\n0 9 1\n9 0 9\n1 9 0\n' > tiny.dat
$ nodewise map --qaplib tiny.dat --json | grep '"hop_bytes"'
  "hop_bytes": 28,
    "hop_bytes": 92,
$ nodewise map --qaplib tiny.dat --objective congestion
! tiny.dat ... congestion
? 3
## Several ranks on an element: 0 with 2 and 1 with 3 exchange 9 bytes, 0 sends 1
## byte to 1. In order both nines cross, 18 x 5; better only the 1 does, 1 x 5.
$ printf 'nodewise pattern 1\nranks 4 edges 3\n0 1 hh 1 1\n0 2 hh 9 1\n1 3 hh 9 1\n' > pairs.pattern
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --imbalance 0 --json | grep '"hop_bytes"'
  "hop_bytes": 5,
    "hop_bytes": 90,
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --capacity 4 --json | grep '"hop_bytes": 0'
  "hop_bytes": 0,
    "hop_bytes": 0,
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --imbalance 0 -q -o pairs.mapping > pairs.table
$ nodewise evaluate -t hierarchy:2@5 -p pairs.pattern pairs.mapping --json | grep -c '"hop_bytes": 5,'
1
## Rank 0 is as heavy as the others together: it is alone. Three times as fast an
## element takes three times the ranks.
$ printf '3\n1\n1\n1\n' > heavy
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --imbalance 0% --weights heavy --output-format pe -q | sort | uniq -c | sort -n | sed 's/ [01]$//;s/ *//'
1
3
$ printf '3\n1\n' > fast
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --imbalance 0 --speeds fast --output-format pe -q | sort | uniq -c | sed 's/ *//'
3 0
1 1
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --imbalance 0 --speeds heavy
! heavy:3 ... 2 numbers
? 3
$ nodewise map -t hierarchy:2@5 -p pairs.pattern --capacity 1
! 4 ranks ... 1 host ... 2 ... --capacity
? 3
## One objective or two, by name; auto takes back both
$ nodewise pattern --generate stencil2d5:dims=4x4 -q -o back.pattern; nodewise map -t magc-a -p back.pattern --objective time,latency --objective auto --steps 9 -o back.mapping | grep -c '^seed.*objective [a-z-]*$'
1

$ nodewise map -t magc-a -p x --objective frob 2>&1 | head -1
~ 'frob'; use auto, hop-bytes, congestion, latency or time
$ nodewise map -t magc-a -p x --objective auto,hop-bytes 2>&1 | head -1
~ auto ... objective
$ nodewise map -t magc-a -p x --objective hop-bytes,auto 2>&1 | head -1
~ auto ... objective
$ nodewise map -t magc-a -p x --objective hop-bytes,latency,time 2>&1 | head -1
~ objectives ... 'latency,time'
$ nodewise map -t magc-a -p x --objective hops 2>&1 | head -1
~ objective ... 'hops'

## Without an objective: by the bytes of a message. From core 0 to the last core
## of magc-a: 0.1 + 0.25 + 0.6 us to the switch, 0.6 + 0.25 + 2 x 0.06 + 0.1 from
## it; 3.4 GB/s at the narrowest.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 80 10\n' > small.pattern
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 70000 10\n' > middle.pattern
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 10000000 10\n' > large.pattern
$ for p in small middle large; do nodewise map -t magc-a -p $p.pattern -o x.mapping | grep ^objective; done
objective latency: 8 bytes a message take 0.00235 us at the narrowest link, far less than the latency of 2.02 us
objective time: 7000 bytes a message take 2.06 us at the narrowest link, about as long as the latency of 2.02 us
objective congestion: 1e+06 bytes a message take 294 us at the narrowest link, far more than the latency of 2.02 us
$ nodewise map -t magc-a -p small.pattern --objective auto --json | grep -e objective
  "objective": "latency",
  "objective_why": "8 bytes a message take 0.00235 us at the narrowest link, far less than the latency of 2.02 us",
$ nodewise map -t hierarchy:2@5 -p small.pattern -o x.mapping | grep ^objective
objective hop-bytes: the machine states no bandwidths
$ nodewise map -t magc-a -p large.pattern --objective hop-bytes --json | grep -e objective_why
? 1
## What does not go together is said with the file that is to blame: hosts by
## the machine, or by the file of hosts; long and short names are one host.
$ printf 'SwitchName=a Nodes=n[1-4]\n' > slurm.conf; printf 'nodewise pattern 1\nranks 4 edges 1\n0 1 hh 10 1\n' > four
> printf 'n1 slots=1\nn2 slots=1\n' > hosts; printf 'n1\nn9\n' > other; printf 'n[1-4].site.org\n' > long
> for o in "--hosts n[1-3]" "--hosts n9" "--hostfile hosts" "--hostfile other" "--hostfile long"; do nodewise map -q -t slurm:slurm.conf -p four $o -o m >/dev/null 2>err; echo $?; cat err; done
3
~ slurm.conf:1 ... 4 ranks ... 3 hosts ... --capacity
3
~ slurm.conf:1 ... 'n9'
3
~ hosts:1 ... 4 ranks ... 2 hosts ... more slots
3
~ other:2 ... slurm.conf ... 'n9'
0
## What fixed ranks say against the hosts, each other and the pattern: the line.
$ printf 'nodewise mapping 1\nranks 4\n# held\n0 a1 0 -\n1 a1 0 -\n2 * * -\n3 * * -\n' > held.fixed
$ nodewise map -t magc-a -p app.pattern --hosts 'a[2-3]' --fix held.fixed
! held.fixed:4 ... rank 0 ... a1
? 3
$ nodewise map -t magc-a -p app.pattern --fix held.fixed
! held.fixed:5 ... rank 1 ... core 0 ... a1
? 3
$ nodewise map -t magc-a -p small.pattern --fix held.fixed
! held.fixed:2 ... 4 ranks ... pattern
? 3
## A GPU that two ranks share, one of them fixed there: of the three that could
## join it rank 1 leaves least between the nodes, 1 + 3 bytes.
$ printf 'nodewise pattern 1\nranks 4 edges 4\n0 1 gg 1 1\n1 2 gg 2 1\n2 3 gg 3 1\n3 0 gg 9 1\n' > shared.pattern
$ printf 'nodewise mapping 1\nranks 4\n0 * * *\n1 * * *\n2 b2 0 0\n3 * * *\n' > shared.fixed
$ for o in hop-bytes congestion time; do nodewise map -qt gdr-b -p shared.pattern --ranks-per-gpu 2 --fix shared.fixed --objective $o -o - | awk 'NR > 2 { printf "%s%s", $2, NR < 6 ? " " : "\n" }'; done
b1 b2 b2 b1
b1 b2 b2 b1
b1 b2 b2 b1
## Two ranks a core and rank 0 fixed: rank 2 joins it, rank 1 is next to them on
## a core of its own, 43 + 850 bytes at distance 1.
$ printf 'nodewise pattern 1\nranks 3 edges 3\n0 1 hh 43 1\n0 2 hh 100000000 1\n1 2 hh 850 1\n' > pair.pattern
$ printf 'nodewise mapping 1\nranks 3\n0 machine 3 -\n1 * * -\n2 * * -\n' > pair.fixed
$ nodewise map -qt hierarchy:2:2@1:10 -p pair.pattern --fix pair.fixed --capacity 2 --objective hop-bytes --json | grep -e '"hop_bytes": 893,' -e proven
  "proven": true,
  "hop_bytes": 893,
## Bytes of sixteen orders of magnitude: small ones are less than the searches'
## floats tell, and what was found is priced again before it is an answer.
$ awk 'BEGIN { for (i = 0; i < 32; i++) for (k = 1; k < 32; k *= 2) printf "%d %d %.0f\n", i, (i * 5 + k) % 32, 10 ^ ((i * 7 + k) % 17) }' > wide.list
$ nodewise map -qt hierarchy:2:2:2:2:2@1:10:100:1000:10000 -p list:wide.list --objective hop-bytes --algorithm multilevel --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["hop_bytes"] < d["default"]["hop_bytes"] / 100)'
True
$ printf 'nodewise pattern 1\nranks 7 edges 8\n0 1 hh 4611686018427387904 1\n0 4 hh 100000 1\n0 5 hh 40423 1\n1 2 hh 10000000 1\n1 3 hh 1 1\n2 4 hh 1 1\n3 5 hh 810543 1\n4 2 hh 10 1\n' > few.pattern
$ for o in hop-bytes congestion; do nodewise map -qt hierarchy:4:8@0:1 -p few.pattern --objective $o --capacity 2 --json | grep -m1 '"hop_bytes"'; done
  "hop_bytes": 0,
  "hop_bytes": 0,
$ awk 'BEGIN { print 14; for (k = 0; k < 2; k++) for (i = 0; i < 14; i++) { for (j = 0; j < 14; j++) printf "%.0f ", i == j ? 0 : 10 ^ ((i * j * (3 + k) + i + j) % 16); print "" } }' > wide.dat
$ nodewise map -q --qaplib wide.dat --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["hop_bytes"] < d["default"]["hop_bytes"])'
True
## Fixed to a node alone, two ranks come together inside it: 80 bytes over two
## links; the default has them in two packages, four links apart.
$ printf 'nodewise mapping 1\nranks 2\n0 a2 * -\n1 a2 * -\n' > node.fixed
$ for a in refine anneal auto; do nodewise map -t magc-a -p small.pattern --fix node.fixed --objective hop-bytes --algorithm $a --json | grep '"hop_bytes"'; done
  "hop_bytes": 160,
    "hop_bytes": 320,
  "hop_bytes": 160,
    "hop_bytes": 320,
  "hop_bytes": 160,
    "hop_bytes": 320,
$ nodewise map -t magc-a -p small.pattern --fix node.fixed --objective hop-bytes --algorithm refine -q | cut -d' ' -f1,2 | tail -2
0 a2
1 a2

## one rank an element, loads and speeds: the heavy rank fits on the fast element
## alone, and who talks with it (rank 2) comes beside it
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 2 hh 9 1\n1 3 hh 9 1\n' > loads.pattern
$ printf '200\n100\n100\n100\n' > loads; printf '1\n1\n1\n2\n' > speeds
$ nodewise map -t hierarchy:2:2@1:10 -p loads.pattern --capacity 1 --imbalance 0 --weights loads --speeds speeds --output-format pe -q | sed -n '1p;3p'
3
2
$ printf '201\n100\n100\n100\n' > loads; printf '1\n1\n1\n1\n' > speeds
$ nodewise map -t hierarchy:2:2@1:10 -p loads.pattern --capacity 1 --imbalance 0.5 --weights loads --speeds speeds
! rank 0 ... 201 ... 189 ... imbalance
? 3

## A long narrow grid takes as long as any other of its size: each cut looks at
## the layers of its own cells alone (else 8 s of CPU).
$ ulimit -t $(ldd $(command -v nodewise) | grep -q libasan && echo 24 || echo 6); nodewise map -qt hierarchy:4:16:64:64@1:10:100:1000 -p generate:stencil2d5:dims=2x131071 --objective hop-bytes --algorithm tile --json | grep '"algorithm"'
  "algorithm": "tile",

## distances may be times: a message of 2 us and one of 1 ms
$ printf '0 2us\n1ms 0\n' > times.matrix; printf '0 1 9\n1 0 9\n' > times.list; nodewise evaluate -t matrix:times.matrix -p list:times.list --json | grep -m1 '"latency"'
      "latency": 0.001002,

## bad input is one line
$ printf '0 nan\n1 0\n' > nan.matrix
$ nodewise map -t matrix:nan.matrix -p large.pattern
! nan.matrix:1 ... distance ... 'nan'
? 3
$ printf '0 1e300\n1e300 0\n' > far.matrix; nodewise map -t matrix:far.matrix -p large.pattern
! far.matrix:1 ... distance ... 1e300 ... 1e+200
? 3
$ nodewise map -t hierarchy:2:2@1:1e300 -p large.pattern
! hierarchy ... distances ... '1e300'
? 3
## Fractions are no nearer to each other than whole numbers: a table of distances
## and a thousandth of it are the same to all.
$ for x in 1 1024; do awk -v x=$x 'BEGIN { for (i = 0; i < 24; i++) { for (j = 0; j < 24; j++) printf "%.17g ", i == j ? 0 : ((i * j * 7 + (i + j) * 13) % 97 + 1) / x; print "" } }' > m$x; done
$ awk 'BEGIN { for (i = 0; i < 24; i++) for (j = 0; j < 24; j++) if (i != j && (i * 11 + j * 5) % 17 < 5) print i, j, (i * 3 + j) % 9 + 1 }' > some.list
$ for x in 1 1024; do nodewise map -qt matrix:m$x -p some.list --algorithm partition --output-format pe -o - 2>/dev/null | cksum; done | uniq | wc -l
1
## A walk along a line of cores is at most a tenth longer by Scotch in thousandths.
$ for x in 1 1024; do awk -v x=$x 'BEGIN { for (i = 0; i < 24; i++) { for (j = 0; j < 24; j++) printf "%.17g ", (i > j ? i - j : j - i) / x; print "" } }' > line$x; done
$ awk 'BEGIN { for (r = 0; r < 24; r++) print r * 7 % 24, (r + 1) * 7 % 24, 100 }' > walk.list
$ nodewise map -qt matrix:line1 -p walk.list --algorithm scotch -o m >/dev/null 2>&1 || { echo SKIP Scotch is absent; exit 77; }; for x in 1 1024; do nodewise map -qt matrix:line$x -p walk.list --algorithm scotch --json | grep -m1 '"hop_bytes"'; done | awk -F'[:,]' '{ j[NR] = $2 } END { print j[2] * 1024 <= j[1] * 1.1 }'
1
$ printf '18446744073709551615\n1\n1\n1\n' > loads
$ nodewise map -t hierarchy:2:2@1:10 -p loads.pattern --imbalance 1 --weights loads
! weights ... 2^63
? 3
$ printf '1\n-1\n1\n1\n' > speeds
$ nodewise map -t hierarchy:2:2@1:10 -p loads.pattern --imbalance 1 --speeds speeds
! speeds:2 ... '-1'
? 3
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 18446744073709551615 1\n1 0 hh 18446744073709551615 1\n' > wide.pattern
$ nodewise map -t hierarchy:2@3 -p wide.pattern
! wide.pattern ... bytes ... 2^64
? 3
$ nodewise report -p native:wide.pattern -t hierarchy:2@3 -o never.html; echo $?; test -e never.html || nodewise evaluate -t hierarchy:2@3 -p - <wide.pattern
3
! wide.pattern ... bytes ... 2^64
! standard input ... bytes ... 2^64
? 3
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 4611686018427387904 1\n1 0 hh 4611686018427387904 1\n' > wide.pattern
$ nodewise map -t hierarchy:2@3 -p wide.pattern --json | grep -c '"hop_bytes": 27670116110564327424'
2
## In haste small hierarchies are searched as trees, too. 8 x 8 ranks in squares
## of 4 and of 16: 128 messages at distance 1, 64 at 10, 32 at 100.
$ nodewise map -t hierarchy:4:4:4@1:10:100 -p generate:stencil2d5:dims=8x8,bytes=1 --effort fast --json -o fast.mapping | grep -m1 '"hop_bytes"'
  "hop_bytes": 3968,
## Parts of grids that fill no boxes are round where cells talk askew, too. The
## best peer, SharedMap 1.0 with its eco settings, sends 371531200 hop-bytes.
$ for t in 1 2; do nodewise map -qt hierarchy:55:4:30@1:10:100 -p generate:stencil3d27:dims=30x10x22,bytes=100 --objective hop-bytes --threads $t --json -o round.mapping | sed -n 's/^  "hop_bytes": \(.*\),/\1/p' | awk '{print $1 <= 0.98 * 371531200 ? "below" : $1}'; done
below
below

## Of few ranks several starts are made round, also where seats stay free. The
## best peer, SharedMap strong, sends 1904200 hop-bytes.
$ for t in 1 2; do nodewise map -qt hierarchy:14:14@1:10 -p generate:stencil3d27:dims=4x6x8,bytes=100 --objective hop-bytes --threads $t --json -o round.mapping | sed -n 's/^  "hop_bytes": \(.*\),/\1/p' | awk '{print $1 <= 0.97 * 1904200 ? "below" : $1}'; done
below
below
## Where machine and program are read at the same time the machine is blamed first.
$ for t in 1 3; do nodewise map -t hierarchy:0@1 -p absent.pattern --threads $t -o absent.mapping; done
! hierarchy ... level ... '0'
! hierarchy ... level ... '0'
? 3

## Options are named in what is wrong with them; what does nothing here is refused; a machine without GPUs has none for ranks that want them.
$ for o in --threads=0 --capacity=-1 --cores-per-rank=x --gpus-per-rank=0 --ranks-per-gpu=; do nodewise map $o 2>&1 | head -1; done
~ --threads ... '0'
~ --capacity ... '-1'
~ --cores-per-rank ... 'x'
~ --gpus-per-rank ... '0'
~ --ranks-per-gpu ... ''
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' >host.pattern; for o in --grid=4x4x4 --periodic --gpus-per-rank=1 --hosts=x; do nodewise map -t hierarchy:4@1 -p host.pattern $o 2>&1 | head -1; done; nodewise map -t hierarchy:4@1 -p - </dev/null
~ --grid ... --algorithm ... rowcol
~ --periodic ... --algorithm ... rowcol
~ hierarchy:4@1 ... GPUs
hierarchy:4@1 has no node 'x'; its only one is machine
! standard input:1 ... empty
? 3
$ for s in matrix slurm nccl nvidia-smi; do nodewise map -t $s: -p host.pattern; done
! name ... file ... empty
! name ... file ... empty
! name ... file ... empty
! name ... file ... empty
? 2

## Tuned numbers by part of the engine; three values are those of the efforts.
$ nodewise map --show-parameters | grep -A2 '^digit_embedding'; nodewise map --show-parameters | grep -e ' grouped_starts ' -e ' qap_divided '
digit_embedding: digit embedding of grids (src/map/congestion/)
  measured in bench/results/mapping-congestion.txt
  work                         4000000  All trials together look at this many edges.
  grouped_starts                 1/3/8  This many partitions are made if every second one is made group by group.
  qap_divided                 1000/1/1  Tabu and memetic search divide their steps by this number.
## Without messages the table of bytes is left out, and one empty line remains.
$ printf 'nodewise pattern 1\nranks 2 edges 0\n' >nothing.pattern; nodewise map -t hierarchy:2@1 -p nothing.pattern -o nothing.mapping | grep -c -e '^$' -e WITHIN
1
