## SPDX-License-Identifier: BSD-3-Clause
## Whole nodes, spare nodes and lost nodes.

## two leaves with two nodes of two GPUs each
$ cat > leaves.yaml <<END
> nodewise: cluster 1
> name: leaves
> node_types:
>   n:
>     cpu: {cores: 2}
>     devices: [{package: 0, parts: [{gpu: 2}]}]
> nodes:
>   - {name: "n[1-2]", switch: a}
>   - {name: "n[3-4]", switch: b}
> network:
>   tree: {switch: top, switches: [{switch: a}, {switch: b}]}
> END

## Most bytes go between ranks 0 and 4 and between 2 and 6. A free mapping joins each pair on a node and separates 0 from 1; whole
## nodes keep 0 1, 2 3, 4 5 and 6 7, and put the first and third block, and the second and fourth, below one leaf each.
$ printf 'nodewise pattern 1\nranks 8 edges 3\n0 4 gg 100 1\n1 2 gg 10 1\n2 6 gg 100 1\n' > pairs.pattern
$ nodes() { awk '$1 ~ /^[0-9]/ { printf "%s ", $2 } END { print "" }' $1; }; nodewise map -q -t leaves.yaml -p pairs.pattern --objective hop-bytes -o free.mapping >/dev/null; nodes free.mapping | awk '{ print ($1 == $5), ($3 == $7), ($1 == $2) }'
1 1 0
$ nodes() { awk '$1 ~ /^[0-9]/ { printf "%s ", $2 } END { print "" }' $1; }; for o in hop-bytes congestion time "hop-bytes --effort fast" "time --algorithm refine" "latency --algorithm magc-greedy --hosts n[4,1,3,2]"; do nodewise map -q -t leaves.yaml -p pairs.pattern --whole-nodes --objective $o -o whole.mapping >/dev/null; nodes whole.mapping | awk '{ gsub("n[12]", "&a"); gsub("n[34]", "&b"); for (i = 1; i <= 4; i++) leaf[i] = substr($(2 * i), 3); print ($1 == $2 && $3 == $4 && $5 == $6 && $7 == $8), (leaf[1] == leaf[3] && leaf[2] == leaf[4] && leaf[1] != leaf[2]) }'; done
1 1
1 1
1 1
1 1
1 1
1 1

## The ranks of such a mapping are torchrun's own numbers: local ranks of node rank 0 first. Three ranks fill one node and half another.
$ nodewise map -q -t leaves.yaml -p pairs.pattern --whole-nodes -o whole.mapping >/dev/null; nodewise launch -q -t leaves.yaml whole.mapping --for torchrun -o torch -- ./app; sed -n 's/^\([0-9]*\)) .* rank=\([0-9]*\) .*/\1 \2/p' torch.sh | awk '$1 != $2 { print "renumbered" } END { print NR }'
./torch.sh ./app
8
$ printf 'nodewise pattern 1\nranks 3 edges 2\n0 1 gg 1 1\n1 2 gg 100 1\n' > three.pattern; nodewise map -q -t leaves.yaml -p three.pattern --whole-nodes -o three.mapping >/dev/null; awk '$1 ~ /^[0-9]/ { print $2 }' three.mapping | uniq -c | awk '{ print $1 }'
2
1
$ nodewise launch -q -t leaves.yaml three.mapping --for torchrun -o torch -- ./app; grep -o 'count=[0-9] first=[0-9]' torch.sh | sort -u
./torch.sh ./app
count=1 first=2
count=2 first=0

## With the default algorithm the nodes stay in order. A mapping to begin from must have whole nodes.
$ nodewise map -q -t leaves.yaml -p pairs.pattern --whole-nodes --algorithm default | awk '$1 ~ /^[0-9]/ { printf "%s ", $2 } END { print "" }'
n1 n1 n2 n2 n3 n3 n4 n4 
$ nodewise map -q -t leaves.yaml -p pairs.pattern --whole-nodes --from whole.mapping | diff - whole.mapping
$ printf 'nodewise mapping 1\nranks 8\n0 n1 0 0\n1 n2 0 0\n2 n1 1 1\n3 n2 1 1\n4 n3 0 0\n5 n3 1 1\n6 n4 0 0\n7 n4 1 1\n' > split.mapping; nodewise map -t leaves.yaml -p pairs.pattern --whole-nodes --from split.mapping
! whole nodes ... consecutive ranks ... rank 2 on n1
? 3
$ nodewise map -t leaves.yaml -p pairs.pattern --whole-nodes --algorithm random
! whole nodes and random
? 3
$ for o in "--fix whole.mapping" --remote-gpus "--capacity 2" "--imbalance 3%"; do nodewise map -t leaves.yaml -p pairs.pattern --whole-nodes $o; done
! --whole-nodes and --fix
! --whole-nodes and --remote-gpus
! --whole-nodes and --capacity
! --whole-nodes and --imbalance
? 2

## Six nodes for four. --spare leaves the last nodes without ranks and names all nodes that have none.
$ sed 's/leaves/six/; s/n\[1-2\]/n[1-3]/; s/n\[3-4\]/n[4-6]/' leaves.yaml > six.yaml; nodewise map -t six.yaml -p pairs.pattern --whole-nodes --spare 2 -o old.mapping | grep spare; nodewise map -t six.yaml -p pairs.pattern --spare 0 --hosts n[6,1-3] --json | grep spare; nodewise map -t six.yaml -p pairs.pattern --spare 1 --algorithm default --json | sed -n '/spare/,/]/p'; nodewise map -t six.yaml -p pairs.pattern --algorithm default --json | grep -c spare
spare nodes: n[5,6]
  "spare_nodes": [],
  "spare_nodes": [
    "n5",
    "n6"
  ],
0
? 1
$ nodewise map -t six.yaml -p pairs.pattern --spare 3
! six.yaml:1 ... 8 ranks do not fit on 3 hosts
? 3
$ nodewise map -t six.yaml -p pairs.pattern --spare 6
! six.yaml:1 ... 6 spare nodes of 6
? 3

## A restart without n2: its ranks 2 and 3 go to a free node and nobody else moves, as long as a move costs more than it gains.
$ for o in --whole-nodes ""; do nodewise map -t six.yaml -p pairs.pattern $o --from old.mapping --without n2 --move-cost 1s -o new.mapping | grep -e spare -e moved; grep -v '^[23] ' old.mapping | diff - new.mapping | cut -c1-6; done
spare nodes: n6
moved ranks: 2 of lost nodes, 0 others (a move must gain 1e+06 us of an exchange)
4a5,6
> 2 n5
> 3 n5
spare nodes: n6
moved ranks: 2 of lost nodes, 0 others (a move must gain 1e+06 us of an exchange)
4a5,6
> 2 n5
> 3 n5
$ for c in 1s 0; do nodewise map -t six.yaml -p pairs.pattern --from old.mapping --without n2 --move-cost $c --json | awk '/"moved_ranks"|"time"/ && n++ < 2 { print $2 + 0 }'; done | paste -s | awk '{ print $1, ($3 > $1), ($4 < $2) }'
2 1 1
$ nodewise map -t six.yaml -p pairs.pattern --from old.mapping --without n1,n3 --spare 0 --json | grep -e spare -e lost
  "spare_nodes": [],
  "lost_ranks": 4,

## What cannot be restarted
$ M="nodewise map -t six.yaml -p pairs.pattern --from old.mapping"; for o in "n9" "n2,n2" "n5" "n[1-3]" "n[1-3] --whole-nodes" "n2 --spare 3" "n1 --hosts n[1-2,5-6]" "n[2"; do $M --without $o; done
! nodewise map ... --without ... six has no node 'n9' ... did you mean
! lost node n2 is given twice
! no rank on the lost node n5
! 8 ranks do not fit on 3 hosts ... at most 6
! no free node of the type of n3 ... 2 ranks
! 3 spare nodes ... 2 nodes are free
! rank 4 on n3 ... not among the hosts
! nodewise map: --without ... 'n[2'
? 3
$ nodewise map -q -t leaves.yaml -p pairs.pattern --algorithm default -o all.mapping >/dev/null; nodewise map -t leaves.yaml -p pairs.pattern --from all.mapping --without n[1-4]
! all nodes are lost
? 3
$ M="nodewise map -t six.yaml -p pairs.pattern"; for o in "--without n2" "--move-cost 3us" "--from old.mapping --without n2 --move-cost x" "--from old.mapping --without n2 --fix old.mapping" "--spare x" "--spare 1 --capacity 2"; do $M $o; done
! --without needs --from
! --move-cost needs --without
! --move-cost is a time ... 'x'
! --without and --fix
! --spare is a number ... 'x'
! --spare excludes --capacity
? 2
## An error in the mapping to begin from names its file, slots name their host, and ranks that do not fit name what limits them.
$ printf '0 1 9\n2 3 9\n' >four.list; printf 'nodewise mapping 1\nranks 2\n0 machine 0 -\n1 machine 1 -\n' >begun.mapping; nodewise map -t hwloc:'core:4 pu:1' -p four.list --from begun.mapping
! begun.mapping: ... 2 ranks ... 4
? 3
$ nodewise map -t hwloc:'core:4 pu:1' -p four.list --hosts machine:0
! 'machine' ... slots ... '0'
? 2
$ nodewise map -t hwloc:'core:4 pu:1' -p four.list --hosts machine:3 2>&1 | grep -c -e --capacity; nodewise map -t hwloc:'core:4 pu:1' -p four.list --hosts machine:3
0
! 4 ranks ... 1 host ... 3 ... more slots
? 3
$ nodewise map -t hwloc:'core:4 pu:1' -p four.list --hosts machine:3 --capacity 2
! 4 ranks ... 4 elements ... 3 ... more slots
? 3
$ nodewise map -t hwloc:'core:4 pu:1' -p four.list --cores-per-rank 2
! 4 ranks ... 2 ... --cores-per-rank
? 3
