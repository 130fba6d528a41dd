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
