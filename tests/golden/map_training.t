## SPDX-License-Identifier: BSD-3-Clause
## Training steps on large machines, an NVLink domain of eight racks, two network cards for each GPU.

## On more than 1200 GPUs the default effort takes as many steps as --effort fast and finds the same mapping; --steps counts the steps of the longer search.
$ nodewise pattern -q --generate training:tp=8,pp=2,dp=80,layers=4,hidden=64,seq=64 -o large.pattern; hosts=$(seq -f dgx%04g 160 | sort -R --random-source=/usr/bin/env | paste -s -d ,); for o in "" "--effort fast" "--steps 20000"; do nodewise map -q -t dgx-h100-rail:160 -p large.pattern --hosts $hosts $o -o large.mapping --json | sed -n 's/^ *"steps": \([0-9]*\),/\1/p'; cksum <large.mapping; done | awk '{ said[NR] = $1 } END { print (said[3] == said[1]), (said[4] == said[2]), said[5] }'
1 1 20000

## NVL576: eight racks of 72 GPUs are one NVLink domain, as the second level of its NVLink switches has the bandwidth of the first. Two such
## domains are joined by the rails. 128 experts on two racks of a domain send everything over NVLink, in the cost and in the simulation.
$ nodewise topology gb200-nvl72:16 -o racks.yaml; sed 's/^name: .*/name: nvl576/; s/nvl\[001-016\]/pod[1-2]/' racks.yaml >nvl576.yaml; for r in "gpu0 gpu575" "gpu0 gpu576"; do nodewise topology nvl576.yaml --route $r | awk '{ print $1, $2, $3, $5, $6 }' | head -3; done
link way kind latency note
rack001n01: gpu 0 gpu-switch 0
rack008n18: gpu 3 gpu-switch 0
link way kind latency note
rack001n01: gpu 0 package 0
rack001n01: nic 0 package 0
$ nodewise pattern -q --generate training:ep=128,dp=128,topk=8,layers=2,hidden=512,seq=512,batch=128 -o experts.pattern; for t in nvl576.yaml gb200-nvl72:16; do nodewise evaluate -t $t -p experts.pattern | awk '/^BYTES OF/ { on = 1 } on' | grep -o -e 'direct link' -e '[0-9] switch' | sort -u; nodewise simulate -q -t $t -p experts.pattern --json | sed -n 's/^ *"time": \(.*\),/\1/p' | head -n 1 | xargs printf '%.3g\n'; done
direct link
0.000256
3 switch
direct link
0.00138
$ nodewise topology nvl576.yaml | sed -n '1s/ (.*//p'; nodewise topology nvl576.yaml --svg -o nvl576.svg; grep -o 'gpu-switch 0; NVLink domain [a-z0-9]*' nvl576.svg | sort -u; grep -c '288 nodes, .* 2 NVLink domains' nvl576.svg; nodewise topology nvl576.yaml --to slurm-block -q | head -n 3 | cut -c 1-33
nvl576: 288 nodes, 41472 cores, 1152 GPUs, 2 NVLink domains, 48384 links
gpu-switch 0; NVLink domain pod1
1
BlockName=pod1 Nodes=rack001n[01-
BlockName=pod2 Nodes=rack009n[01-
BlockSizes=144

## A second level of NVLink with less bandwidth: three messages of 1 GB share the uplink of 50 GB/s of their domain, 3 / 50 s.
## The evaluation adds the mean over 16 ranks of the sum of all links, 2 x 3 / 50 + 6 x 1 / 100 s, and of the latencies, 3 x 2.6 us.
$ cp "$FIXTURES"/topology/valid/two_levels.yaml .; printf 'nodewise pattern 1\nranks 16 edges 3\n0 4 gg 1000000000 1\n1 5 gg 1000000000 1\n2 6 gg 1000000000 1\n' >across.pattern; for r in "gpu0 gpu3" "gpu0 gpu7" "gpu7 gpu8"; do nodewise topology two_levels.yaml --route $r | sed -n '2,5s/  */ /gp'; done
n1: gpu 0 - gpu-switch 0 up nvlink 100 GB/s 300 ns
n2: gpu 1 - gpu-switch 0 down nvlink 100 GB/s 300 ns
n1: gpu 0 - gpu-switch 0 up nvlink 100 GB/s 300 ns
d1 - u1 up nvlink 50 GB/s 1 us
d2 - u1 down nvlink 50 GB/s 1 us
n4: gpu 1 - gpu-switch 0 down nvlink 100 GB/s 300 ns
n4: gpu 1 - package 1 up pcie 25 GB/s 250 ns assumed
n4: nic 1 - package 1 down pcie 25 GB/s 250 ns assumed
n4: nic 1 - leaf3 up nic 12.5 GB/s 500 ns assumed
leaf3 - up1-0 up network 12.5 GB/s 150 ns assumed
$ nodewise evaluate -t two_levels.yaml -p across.pattern --json | sed -n -e 's/^ *"max_congestion": \(.*\),/\1/p' -e 's/^ *"time": \(.*\),/\1/p' | head -n 2; nodewise evaluate -t two_levels.yaml -p across.pattern | grep -o 'second NVLink level'; nodewise simulate -t two_levels.yaml -p across.pattern | awk '/^default/ { print $2, $3 }'
0.06
0.0712504875
second NVLink level
60 ms
## The mapping puts the ranks of each message into one domain. The messages are then as fast as the links of their GPUs.
$ nodewise map -q -t two_levels.yaml -p across.pattern -o across.mapping; nodewise evaluate -t two_levels.yaml -p across.pattern across.mapping --json | sed -n 's/^ *"max_congestion": \(.*\),/\1/p' | sed -n '1p;$p'
0.06
0.01
$ nodewise topology two_levels.yaml | grep -o -e '4 NVLink domains, 2 second-level domains' -e 'uplinks .*'; nodewise topology two_levels.yaml --json | grep '"upper"'
4 NVLink domains, 2 second-level domains
uplinks of NVLink domains     4 nvlink    50 GB/s    1 us
    {"name": "d1", "upper": "u1", "link": 6},
    {"name": "d2", "upper": "u1", "link": 6},
    {"name": "d3", "upper": "u2", "link": 6},
    {"name": "d4", "upper": "u2", "link": 6}
## The picture shows the uplinks; if there are more than 64 domains, those of the second-level domain with the busiest uplink.
$ nodewise topology two_levels.yaml --svg -o two.svg; grep -o -e '<title>d[0-9] - u[^<]*' -e 'gpu-switch 0; NVLink domain d4 of u2' two.svg | uniq
gpu-switch 0; NVLink domain d4 of u2
<title>d1 - u1: nvlink, 50 GB/s, 1 us
<title>d2 - u1: nvlink, 50 GB/s, 1 us
<title>d3 - u2: nvlink, 50 GB/s, 1 us
<title>d4 - u2: nvlink, 50 GB/s, 1 us
$ sed 's/n\[1-8\]/n[1-130]/; s/d\[1-4\]/d[1-65]/; s/u\[1-2\]/u[1-13]/' two_levels.yaml >many.yaml; printf 'nodewise pattern 1\nranks 260 edges 1\n250 254 gg 1000000000 1\n' >last.pattern; nodewise report -q -t many.yaml -p last.pattern -o many.html >many.txt; grep -o '<title>d[0-9]* - u[^:]*' many.html | head -n 5
<title>d61 - u13
<title>d62 - u13
<title>d63 - u13
<title>d64 - u13
<title>d65 - u13
$ for f in slurm-block k8s; do nodewise topology two_levels.yaml --to $f -o two.$f; done
! topology.conf of blocks cannot express: ... the second level of NVLink domains
! labels of Kubernetes cannot express: ... the second level of NVLink domains

## A port of twice the rate takes half the time.
$ for rate in 10 20; do printf 'nodewise: cluster 1\nname: cards\nnode_types:\n  n:\n    cpu: {packages: 2, cores: 2}\n    devices: [{package: [0, 1], parts: [{gpu: 1, link: 100GB/s}, {nic: 1, link: 100GB/s, port: %sGB/s}]}]\nnodes: [{name: "n[1-4]"}]\nnetwork: {fat_tree: {leaf_nodes: 2, rails: 2, levels: [{up: 2, link: 20GB/s}]}}\n' $rate >cards.yaml; printf 'nodewise pattern 1\nranks 8 edges 1\n0 2 gg 1000000000 1\n' >one.pattern; nodewise topology cards.yaml --route gpu0 gpu2 | awk '$6 == "leaf0" || $5 == "leaf0"'; nodewise evaluate -t cards.yaml -p one.pattern --json | sed -n 's/^ *"max_congestion": //p' | head -n 1; nodewise simulate -t cards.yaml -p one.pattern | awk '/^default/ { print $2, $3 }'; done
n1: nic 0 - leaf0     up   nic    10 GB/s  500 ns
n2: nic 0 - leaf0     down nic    10 GB/s  500 ns
0.1,
100 ms
n1: nic 0 - leaf0     up   nic    20 GB/s  500 ns
n2: nic 0 - leaf0     down nic    20 GB/s  500 ns
0.05,
50 ms

## NCCL divides each message over the two cards of a GPU: 0.5 GB of 1 GB through each port of 10 GB/s. Three such messages to
## one GPU: 1.5 GB through each of its ports.
$ cp "$FIXTURES"/topology/valid/two_cards.yaml .; nodewise topology two_cards.yaml --route gpu0 gpu2 | awk '$5 ~ /^leaf/ { print $1, $2, $3, $5, $6 }'
n1: nic 0 leaf0 up
n2: nic 0 leaf0 down
n1: nic 1 leaf1 up
n2: nic 1 leaf1 down
$ for edges in "0 2" "2 0,4 0,6 0"; do echo "$edges" | tr , '\n' | awk '{ line[NR] = $0 " gg 1000000000 1" } END { print "nodewise pattern 1\nranks 8 edges " NR; for (i = 1; i <= NR; i++) print line[i] }' >striped.pattern; nodewise evaluate -t two_cards.yaml -p striped.pattern --json | sed -n 's/^ *"max_congestion": //p' | head -n 1; nodewise simulate -t two_cards.yaml -p striped.pattern | awk '/^default/ { print $2, $3, $4, $5 }'; done
0.05,
50 ms 50 ms
0.15,
150 ms 150 ms
