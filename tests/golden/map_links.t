## SPDX-License-Identifier: BSD-3-Clause
## Traffic of hosts, GPUs and both by the links it takes, worked out by hand.

## two nodes of a package with two cores and a GPU, joined by a switch
$ cat > far.yaml <<END
> nodewise: cluster 1
> name: far
> node_types:
>   n:
>     cpu:
>       cores: 2
>     devices:
>       - package: 0
>         parts:
>           - gpu: 1
> nodes:
>   - {name: "n[0-1]", switch: s}
> network:
>   tree: {switch: s}
> END

## two ranks that exchange 100 bytes as hosts and 1 as GPUs: apart, each beside
## its GPU, six links for both; together, two links for hosts, six for GPUs
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 100 1\n0 1 gg 1 1\n' > far.pattern
$ nodewise map -t far.yaml -p far.pattern --objective hop-bytes --json | grep -e '^  "hop_bytes' -e '^  "remote'
  "hop_bytes": 606,
  "remote_gpus": 0,
$ for a in auto anneal exact; do nodewise map -t far.yaml -p far.pattern --objective hop-bytes --remote-gpus --algorithm $a --json -o far.mapping | grep -e '^  "hop_bytes' -e '^  "remote'; done
  "hop_bytes": 206,
  "remote_gpus": 1,
  "hop_bytes": 206,
  "remote_gpus": 1,
  "hop_bytes": 206,
  "remote_gpus": 1,
$ grep -c ' n[01]:0$' far.mapping
1
$ nodewise evaluate -t far.yaml -p far.pattern far.mapping --json | grep -c '"hop_bytes": 206'
1

## a GPU elsewhere is not where a rank can be held
$ printf 'nodewise mapping 1\nranks 2\n0 n0 0 n1:0\n1 * * *\n' > far.fixed
$ nodewise map -t far.yaml -p far.pattern --remote-gpus --fix far.fixed
! far.fixed:3 ... rank 0 ... GPU of n1 ... n0 ... own node
? 3

## two packages, each with a core, a GPU and a network card of its own, whose
## ports are the narrow links
$ cat > cards.yaml <<END
> nodewise: cluster 1
> name: cards
> node_types:
>   n:
>     cpu:
>       packages: 2
>       cores: 1
>       links:
>         core: {bandwidth: 100, latency: 1}
>         socket: {bandwidth: 100, latency: 1}
>     devices:
>       - package: [0, 1]
>         parts:
>           - gpu: 1
>             link: {bandwidth: 100, latency: 1}
>           - nic: 1
>             link: {bandwidth: 100, latency: 1}
>             port: {bandwidth: 10, latency: 4}
> nodes:
>   - name: "n[0-1]"
>     switch: [s, s]
> network:
>   tree: {switch: s}
> END
$ printf 'nodewise mapping 1\nranks 4\n0 n0 0 0\n1 n0 1 1\n2 n1 0 0\n3 n1 1 1\n' > cards.mapping

## hosts alone: both messages of 1000 bytes leave by a card of their own, so a
## port carries 1000 / 10; six links each, of latency 1 1 4 4 1 1
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 2 hh 1000 1\n1 3 hh 1000 1\n' > hosts.pattern
$ nodewise evaluate -t cards.yaml -p hosts.pattern cards.mapping --json | grep -e '    "max_cong' -e '"hop_bytes' -e '"latency' | tail -5
      "hop_bytes": 12000,
      "max_congestion": 100,
      "max_congestion_host": 100,
      "max_congestion_gpu": 0,
      "latency": 24,

## and 500 bytes from the GPU of rank 0 to the host of rank 3: out by the card
## beside that GPU, in by the one beside that core, and 300 between GPUs of one
## node: up two links, down two
$ printf 'nodewise pattern 1\nranks 4 edges 4\n0 2 hh 1000 1\n0 3 gh 500 1\n1 3 hh 1000 1\n2 3 gg 300 1\n' > mixed.pattern
$ nodewise evaluate -t cards.yaml -p mixed.pattern cards.mapping --json | grep -e '    "max_cong' -e 'hop_bytes' -e '"latency' | tail -7
      "hop_bytes": 16200,
      "host_hop_bytes": 12000,
      "gpu_hop_bytes": 1200,
      "max_congestion": 150,
      "max_congestion_host": 100,
      "max_congestion_gpu": 3,
      "latency": 40,

## rank 0 sends 6.2 MB by its core's 12 GB/s, whatever the mapping; what has 5 %
## more hop-bytes than the least is worse than ranks in order, and what is not
## needs fewer than MAGC's, which was taken then
$ cat > hub.yaml <<END
> nodewise: cluster 1
> node_types:
>   plain: {cpu: {cores: 2}}
> nodes:
>   - {name: "n[0-7]"}
> network:
>   fat_tree:
>     leaf_nodes: 2
>     levels:
>       - {down: 4, up: 1, link: 12.5GB/s}
> END
$ printf '%s %s %s00000\n' 0 1 7 0 3 3 0 4 5 0 6 6 0 7 4 0 8 23 0 9 6 0 12 5 0 14 3 2 5 1 3 1 20 4 3 2 4 6 20 4 10 20 5 2 5 6 0 1 6 3 20 6 7 20 6 15 7 8 10 20 8 11 1 8 14 20 9 10 20 9 14 1 10 0 2 11 1 20 11 2 2 11 15 1 12 1 2 12 3 1 12 11 1 12 14 20 13 14 1 15 2 20 15 4 3 > hub
$ nodewise map -t hub.yaml -p list:hub --algorithm magc-greedy --objective congestion -q -o magc.mapping
$ nodewise map -t hub.yaml -p list:hub --objective congestion -q -o hub.mapping --json | grep '^  "max_congestion"'
  "max_congestion": 0.0005166666666666667,
$ nodewise evaluate -t hub.yaml -p list:hub magc.mapping hub.mapping --json | grep '^      "hop_bytes"' > hop_bytes
$ grep -c . hop_bytes
3
$ tr -dc '0-9\n' < hop_bytes | sort -c -u -rn

## GPUs and hosts that talk on magc-b: what lies near the least
## hop-bytes was more congested than MAGC's; what is not worse than that is found
## within 5 % (a) or, where that is not, with fewer hop-bytes than MAGC's (b)
$ cat > compare.py <<END
> import json, sys
> m = {x["name"]: x for x in json.load(sys.stdin)["mappings"]}
> least, magc, ours = m["least"], m["magc"], m["ours"]
> print(ours["max_congestion"] <= magc["max_congestion"] * (1 + 1e-9),
>       ours["hop_bytes"] <= 1.05 * least["hop_bytes"], ours["hop_bytes"] < magc["hop_bytes"])
> END
$ cat > compare.sh <<'END'
> nodewise map -t magc-b -p both --objective hop-bytes -q -o least
> nodewise map -t magc-b -p both --algorithm magc-greedy -q -o magc
> nodewise map -t magc-b -p both --objective congestion -q -o ours
> nodewise evaluate -t magc-b -p both least magc ours --json | python3 compare.py
> END
$ nodewise pattern --generate stencil3d7:dims=4x4x3,bytes=64KiB,weights=3:1:1 -q -o a
$ nodewise pattern --combine a a -q -o both
$ sh compare.sh | cut -d' ' -f1,2
True True
$ nodewise pattern --generate stencil3d7:dims=4x4x2,bytes=4KiB -q -o host
$ nodewise pattern --generate col:dims=4x4x2,bytes=4KiB -q -o gpu
$ nodewise pattern --combine host gpu -q -o plain
$ awk 'NR > 2 {$4 = int($4 * (3 + NR * 7 % 27) / 10)} 1' plain > both
$ sh compare.sh | cut -d' ' -f1,3
True True

## what is named second costs nothing in what is named first: at most what that
## needs alone, here 33 ranks of 36 seats below four switches
$ cat > uneven.yaml <<END
> nodewise: cluster 1
> node_types:
>   n: {cpu: {cores: 4}}
> nodes:
>   - {name: "n[0-0]", switch: a}
>   - {name: "n[1-3]", switch: b}
>   - {name: "n[4-5]", switch: c}
>   - {name: "n[6-8]", switch: d}
> network:
>   tree:
>     switch: top
>     link: 12.5GB/s
>     switches: [{switch: a}, {switch: b}, {switch: c}, {switch: d}]
> END
$ for o in hop-bytes hop-bytes,congestion; do nodewise map -q -t uneven.yaml -p generate:stencil2d5:dims=3x11,bytes=1MB --objective $o --json | grep '^  "hop_bytes'; done
  "hop_bytes": 424000000,
  "hop_bytes": 424000000,
