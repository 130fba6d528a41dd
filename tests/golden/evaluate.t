## Sums by hand: 7 bytes at distance 1, 5 at 10: 57; moved: 7 at 10, 5 at 1: 75.
$ printf 'nodewise pattern 1\nranks 4 edges 3\n0 1 hh 7 2\n1 2 hh 5 1\n3 3 hh 9 1\n' > app.pattern
$ printf 'nodewise mapping 1\nranks 4\n0 machine 0 -\n1 machine 2 -\n2 machine 3 -\n3 machine 1 -\n' > app.mapping
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern app.mapping
MAPPING     HOP-BYTES HOST GPU MAX CONGESTION HOST GPU LATENCY LESS HOP-BYTES
default          57 B 57 B 0 B            7 s  7 s 0 s    12 s          0.0 %
app.mapping      75 B 75 B 0 B            7 s  7 s 0 s    21 s        -31.6 %

BYTES WITHIN default app.mapping
same             9 B         9 B
distance 1       7 B         5 B
distance 10      5 B         7 B

default: the most congested link of the whole run is machine: core 0 - group 0 (outward)
app.mapping: the most congested link of the whole run is machine: group 0 - node (outward)
app.mapping: Predicted: 31.6 % more hop-bytes (this machine states no bandwidths) than the default.
hop-bytes: default 57 B, mapped 75 B
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern --objective latency app.mapping | sed -n 3p
app.mapping      75 B 75 B 0 B            7 s  7 s 0 s    21 s      -75.0 %
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern app.mapping --json | grep -c '"hop_bytes": 75,'
1
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern no-such-mapping
! no-such-mapping ... No such file or directory
? 3
$ printf 'nodewise mapping 1\nranks 4\n0 machine 0 -\n1 * * -\n2 machine 3 -\n3 machine 1 -\n' > open.mapping
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern open.mapping
! open.mapping:4 ... rank 1
? 3
$ printf 'nodewise mapping 1\nranks 2\n0 machine 0 -\n1 machine 1 -\n' > short.mapping
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern short.mapping
! short.mapping ... 2 ranks ... 4
? 3
$ printf 'nodewise mapping 1\nranks 4\n0 machine 0 -\n1 machine 4 -\n2 machine 3 -\n3 machine 1 -\n' > outside.mapping
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern outside.mapping
! outside.mapping:4 ... core 4 ... cores ... 3
? 3
## A list that repeats a long range is refused before it fills the memory.
$ printf 'nodewise mapping 1\nranks 1\n0 machine 0-1000000,0-1000000 -\n' | nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern -
! 3 ... 1000001 cores
? 3
$ nodewise evaluate -p app.pattern 2>/dev/null
? 2
$ nodewise evaluate -t hierarchy:2:2@1:10 -p app.pattern -o /nowhere/x app.mapping
! /nowhere/x ... No such file or directory
? 1
## One number: map, evaluate, simulate and report have the same headline for the
## same mapping, also if edges have different numbers of messages. By hand: all
## that changes on this machine is on its links, so the sum is that of map.
$ printf 'nodewise pattern 1\nranks 32 edges 3\n0 1 hh 8000000 2\n0 31 hh 9000000 9\n31 0 hh 90000 1\n' > odd.pattern; nodewise map -q -t magc-a -p odd.pattern --json -o odd.mapping > map.json; nodewise map -q -t magc-a -p odd.pattern --json > map.json; for c in evaluate simulate; do nodewise $c -t magc-a -p odd.pattern odd.mapping --json > $c.json; done; nodewise report -q -t magc-a -p odd.pattern odd.mapping --json -o report.html > report.json; python3 -c '
> import json
> heads = [json.load(open(c + ".json"))["headline"] for c in ("map", "evaluate", "simulate", "report")]
> print(heads[0]["metric"], all(h == heads[0] for h in heads), heads[0]["percent_less"] > 0)
> print(heads[0]["verdict"] in open("report.html").read())'
exchange-time True True
True
## An edge with many messages weighs as in the whole run: the percentage is the same.
## Package to package stays inside the node, and so do all bytes here.
$ for o in "" --total; do nodewise simulate --estimate -t magc-a -p odd.pattern odd.mapping $o --json | sed -n 's/.*"percent_less": \([0-9.]*\).*/\1/p' | tail -1; done | uniq | wc -l
1
$ printf 'nodewise pattern 1\nranks 64 edges 2\n0 32 hh 1000000 2\n1 2 hh 1000 1\n' > uneven.pattern; nodewise map -t hwloc:'package:2 core:32' -p uneven.pattern --algorithm block -o block.mapping | grep -o 'default: 100 %'
default: 100 %
## Nothing to gain is said with its reason; the whole run only if asked for.
$ printf 'nodewise mapping 1\nranks 2\n0 a1 0 -\n1 a1 1 -\n' > two.mapping; printf 'nodewise pattern 1\nranks 2 edges 0\n' > silent.pattern; nodewise evaluate -t magc-a -p silent.pattern two.mapping | tail -1
two.mapping: No gain possible here: the ranks send each other nothing.
$ nodewise simulate -t magc-a -p odd.pattern odd.mapping --total --json | grep -m1 '"metric"'
        "metric": "run-time",
## An open mapping has no price: its file and the line of the rank.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' >two.pattern
$ printf 'nodewise mapping 1\n# open\nranks 2\n0 a1 0 -\n1 * * -\n' >open.mapping
$ for c in evaluate "simulate --estimate" "report -o page.html"; do nodewise $c -t magc-a -p two.pattern open.mapping; echo $?; done 2>&1
~ open.mapping:5 ... rank 1
3
~ open.mapping:5 ... rank 1
3
~ open.mapping:5 ... rank 1
3
$ printf 'nodewise mapping 1\nranks 2\n0 a1 0 -\n1 a1 1 *\n' >open.gpu; for c in evaluate "simulate --estimate" "report -o page.html"; do nodewise $c -t magc-a -p two.pattern open.gpu; echo $?; done 2>&1; nodewise evaluate -q -t magc-a -p two.pattern - <open.gpu
~ open.gpu:4 ... GPU ... rank 1 ... '*'
3
~ open.gpu:4 ... GPU ... rank 1 ... '*'
3
~ open.gpu:4 ... GPU ... rank 1 ... '*'
3
! GPU ... rank 1 ... open ... '*'
? 3
## A pipe is not read a second time to find the line.
$ mkfifo pipe; cat open.mapping >pipe & nodewise evaluate -t magc-a -p two.pattern pipe
! pipe ... rank 1 ... mapping
? 3
$ printf 'nodewise mapping 1\nranks 2\n0 a1 0 -\n1 a1 1 -\n' | nodewise launch -t magc-a --hosts a2 --for openmpi4 -
! standard input ... rank 0 ... 'a1' ... 1 host of
? 3
## Two ranks a GPU, two GPUs six links apart: 1 + 3 bytes between them. The
## default beside it shares them, too.
$ printf 'nodewise pattern 1\nranks 4 edges 4\n0 1 gg 1 1\n1 2 gg 2 1\n2 3 gg 3 1\n3 0 gg 9 1\n' > gpus.pattern
$ printf 'nodewise mapping 1\nranks 4\n0 b1 0 0\n1 b2 1 0\n2 b2 0 0\n3 b1 1 0\n' > gpus.mapping
$ nodewise topology gdr-b --distance gpu0 gpu1
6
$ nodewise evaluate -t gdr-b -p gpus.pattern gpus.mapping | awk 'NR < 4 { print $1, (NR > 1 ? $6 " " $7 : $4) }'
MAPPING GPU
default 66 B
gpus.mapping 24 B
$ for c in simulate report; do nodewise $c -t gdr-b -p gpus.pattern gpus.mapping --json | grep -c '"name": "gpus.mapping"'; done
1
1
## Five GPUs, but four of them beside one core: the default has three ranks on
## the fifth.
$ printf 'nodewise: cluster 1\nnode_types:\n  a:\n    cpu: {packages: 1, cores: 1}\n    devices:\n      - parts: [{gpu: 4}]\n  b:\n    cpu: {packages: 1, cores: 8}\n    devices:\n      - parts: [{gpu: 1}]\nnodes:\n  - name: n0\n    type: a\n  - name: n1\n    type: b\nnetwork:\n  torus:\n    dimensions: [2]\n' > uneven.yaml
$ printf 'nodewise mapping 1\nranks 4\n0 n0 0 0\n1 n1 1 0\n2 n1 0 0\n3 n1 2 0\n' > uneven.mapping
$ nodewise evaluate -t uneven.yaml -p gpus.pattern uneven.mapping | awk 'NR < 4 { print $1 }'
MAPPING
default
uneven.mapping

## A training step by group. Two tensor groups of two ranks send 4 x 8 x 8 x 1/2 numbers of 2 bytes (256 B), the two pipelines 4 x 4
## numbers (32 B). By default the tensor groups are inside nodes; in the other mapping the pipelines are.
$ cat > pairs.yaml <<END
> nodewise: cluster 1
> name: pairs
> node_types:
>   n:
>     cpu: {cores: 2}
>     devices: [{package: 0, parts: [{gpu: 2}]}]
> nodes:
>   - {name: "n[0-1]", switch: s}
> network:
>   tree: {switch: s}
> END
$ nodewise pattern -q --generate training:tp=2,pp=2,hidden=2,layers=2,seq=4 -o step.pattern; printf 'nodewise mapping 1\nranks 4\n0 n0 0 0\n1 n1 0 0\n2 n0 1 1\n3 n1 1 1\n' > split.mapping; nodewise evaluate -t pairs.yaml -p step.pattern split.mapping | sed -n '/GROUP/,/^$/p' | grep -v time
BYTES OF GROUP WITHIN   default split.mapping
tensor (tp)    package    256 B           0 B
               1 switch     0 B         256 B
pipeline (pp)  package      0 B          32 B
               1 switch    32 B           0 B

$ for c in evaluate report; do nodewise $c -t pairs.yaml -p step.pattern split.mapping --json > groups.json; sed -n 's/"name": "\([tcedp]p\)",/\1/p' groups.json | paste -s -d ' ' | tr -s ' '; done; nodewise report -t pairs.yaml -p step.pattern split.mapping -o page.html | grep -c -e '^tensor' -e '^pipeline'
 tp pp tp pp
 tp pp tp pp
2
$ for p in "tp=2,pp=2,hidden=2,layers=2,seq=4" "tp=2,pp=2,hidden=4,layers=2,seq=4" "tp=65536,pp=30000" "tp=4,dp=1,ep=40000" "tp=4,pp=x" "tp=4,only=tp"; do sed "s/^note: .*/note: training:$p/" step.pattern > other.pattern; nodewise evaluate -t pairs.yaml -p other.pattern | grep -c '^tensor'; done | paste -s -d ' '
1 0 0 0 0 0
$ nodewise pattern -q --generate training:tp=2,pp=2,hidden=2,layers=2,seq=4,only=pp -o - | grep -c ' gg 8 1'; nodewise pattern --generate training:tp=2,only=xx
4
! only= is tp, cp, ep, dp, edp or pp ... 'xx'
? 2
