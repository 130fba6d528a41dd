## nvidia-smi: the links of a GPU of a DGX-1 are six, of which the matrix
## shows both ends; a card and the GPUs beside it share a PCIe switch.
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> nodewise topology nvidia-smi:"$D"/nvidia-smi/dgx1-like-mlx5-blanks.txt --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> v = t["types"][0]["vertices"]
> count = {}
> for d in t["types"][0]["direct"]:
>     for end in (d["a"], d["b"]):
>         n = v[end]["index"]
>         count[n] = count.get(n, 0) + t["links"][d["link"]]["bandwidth_up"] / 25e9
> print(sorted(count.items()))
> up = lambda i: v[v[i]["parent"]]["kind"] + str(v[v[i]["parent"]]["index"])
> print([(x["kind"], x["index"], up(i)) for i, x in enumerate(v) if x["kind"] in ("gpu", "nic")])'
[(0, 6.0), (1, 6.0), (2, 6.0), (3, 6.0), (4, 6.0), (5, 6.0), (6, 6.0), (7, 6.0)]
[('gpu', 0, 'pcie-switch0'), ('gpu', 1, 'pcie-switch0'), ('gpu', 2, 'package0'), ('gpu', 3, 'package0'), ('gpu', 4, 'pcie-switch1'), ('gpu', 5, 'pcie-switch1'), ('gpu', 6, 'package1'), ('gpu', 7, 'package1'), ('nic', 0, 'pcie-switch0'), ('nic', 1, 'pcie-switch1')]
## A header with NICs and a legend, tabs, terminal codes; as many links to each
## other GPU as only a switch can give (12 of a DGX A100's GPU).
$ cd "$FIXTURES/gpus/valid" && nodewise topology nvidia-smi:nvswitch.txt --tree | sed 1,3d
├─package 0                  socket   40 GB/s   60 ns assumed
│ ├─core 0-15             16 core     12 GB/s   20 ns assumed
│ └─pcie-switch 0            pcie     25 GB/s  250 ns assumed
│   ├─gpu 0-1              2 pcie     25 GB/s  250 ns assumed
│   └─nic 0 mlx5_0           pcie     25 GB/s  250 ns assumed
├─package 1                  socket   40 GB/s   60 ns assumed
│ ├─core 16-31            16 core     12 GB/s   20 ns assumed
│ ├─gpu 2-3                2 pcie     25 GB/s  250 ns assumed
│ └─nic 1 mlx5_1             pcie     25 GB/s  250 ns assumed
└─gpu-switch 0               pcie     25 GB/s  250 ns assumed
direct links of a node
├─gpu 0 - gpu-switch 0       nvlink  300 GB/s  300 ns assumed
├─gpu 1 - gpu-switch 0       nvlink  300 GB/s  300 ns assumed
├─gpu 2 - gpu-switch 0       nvlink  300 GB/s  300 ns assumed
└─gpu 3 - gpu-switch 0       nvlink  300 GB/s  300 ns assumed
## NCCL and RCCL: GPUs, cards, links; a GPU on NVLink to its processor.
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> for f in g5-48xl ndv4 p4d-24xl rccl-8p6l_2nic rccl-8p_rome_4nics; do
>   nodewise topology -q nccl:"$D"/nccl/$f.xml --json | python3 -c '
> import json, sys
> t = json.load(sys.stdin)
> v = t["types"][0]["vertices"]
> print(t["gpu_count"], sum(x["kind"] == "nic" for x in v), t["element_count"], len(t["types"][0]["direct"]))'; done
8 1 2 0
8 8 96 0
8 4 48 0
8 2 48 24
8 4 128 12
## hwloc's NVLink of a Summit class node: each GPU one brick of 40 GB/s to its
## neighbour and one to its processor (power8, NVLink 1: two links of 20).
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> nodewise topology "$D"/hwloc/power8gpudistances.xml | grep nvlink
│ ├─gpu 0 Tesla P100-SXM2-16GB 0002:01:00.0                      nvlink   40 GB/s  300 ns
│ └─gpu 1 Tesla P100-SXM2-16GB 0003:01:00.0                      nvlink   40 GB/s  300 ns
  ├─gpu 2 Tesla P100-SXM2-16GB 000a:01:00.0                      nvlink   40 GB/s  300 ns
  └─gpu 3 Tesla P100-SXM2-16GB 000b:01:00.0                      nvlink   40 GB/s  300 ns
├─gpu 0 - gpu 1                                                  nvlink   40 GB/s  300 ns
└─gpu 2 - gpu 3                                                  nvlink   40 GB/s  300 ns
## live, with doubles of NVML and ROCm SMI for the GPUs that a recorded machine
## has, and a double of the kernel that allows all its cores: Lassen's V100 have three bricks to the neighbour, three to the processor;
## Corona's MI50 are joined by xGMI in two halves.
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> export HWLOC_XMLFILE="$D"/hwloc/coral-lassen.xml HWLOC_THISSYSTEM=1 LD_LIBRARY_PATH="$NW_BUILD"/tests/support/fake_gpus LD_PRELOAD="$NW_BUILD"/tests/support/fake_gpus/liball_cpus.so ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
> FAKE_NVML="$FIXTURES"/gpus/valid/lassen.nvml nodewise topology live | grep nvlink | sed 's/ *GPU-.*//; s/ Tesla[^:]*//'
│ ├─gpu 0:04:00.0        nvlink   75 GB/s  300 ns
│ └─gpu 1:05:00.0        nvlink   75 GB/s  300 ns
  ├─gpu 2:03:00.0        nvlink   75 GB/s  300 ns
  └─gpu 3:04:00.0        nvlink   75 GB/s  300 ns
├─gpu 0 - gpu 1                                    nvlink   75 GB/s  300 ns
└─gpu 2 - gpu 3                                    nvlink   75 GB/s  300 ns
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> export HWLOC_XMLFILE="$D"/hwloc/epyc-corona-p2.xml HWLOC_THISSYSTEM=1 LD_LIBRARY_PATH="$NW_BUILD"/tests/support/fake_gpus LD_PRELOAD="$NW_BUILD"/tests/support/fake_gpus/liball_cpus.so ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
> FAKE_ROCM="0000:03:00.0 0000:27:00.0 0000:43:00.0 0000:63:00.0 0000:83:00.0 0000:a3:00.0 0000:c3:00.0 0000:e3:00.0" \
>   nodewise topology live | grep xgmi
├─gpu 0 - gpu 1                                                    xgmi     50 GB/s  300 ns
├─gpu 0 - gpu 2                                                    xgmi     50 GB/s  300 ns
├─gpu 0 - gpu 3                                                    xgmi     50 GB/s  300 ns
├─gpu 1 - gpu 2                                                    xgmi     50 GB/s  300 ns
├─gpu 1 - gpu 3                                                    xgmi     50 GB/s  300 ns
├─gpu 2 - gpu 3                                                    xgmi     50 GB/s  300 ns
├─gpu 4 - gpu 5                                                    xgmi     50 GB/s  300 ns
├─gpu 4 - gpu 6                                                    xgmi     50 GB/s  300 ns
├─gpu 4 - gpu 7                                                    xgmi     50 GB/s  300 ns
├─gpu 5 - gpu 6                                                    xgmi     50 GB/s  300 ns
├─gpu 5 - gpu 7                                                    xgmi     50 GB/s  300 ns
└─gpu 6 - gpu 7                                                    xgmi     50 GB/s  300 ns
## The libraries are of this machine: another one, which hwloc's variables give, has
## only the links of its file.
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> export LD_LIBRARY_PATH="$NW_BUILD"/tests/support/fake_gpus FAKE_NVML="$FIXTURES"/gpus/valid/lassen.nvml
> HWLOC_XMLFILE="$D"/hwloc/coral-lassen.xml nodewise topology live | grep -c nvlink; HWLOC_SYNTHETIC="package:2 core:2 pu:1" nodewise topology live | grep -c gpu
0
0
? 1
## Cores are counted by their numbers, whichever GPU a file names first: GPU 0 is
## near cores 2-3 in both. A thread is counted once where the cores of one GPU
## are some of another's: 8 threads are 4 cores. Ten links of 40,000 MB/s between
## a GPU and its processor are 400 GB/s; a GPU joined to itself is joined to none.
$ cd "$FIXTURES/gpus/valid" && nodewise topology nvidia-smi:crossed.txt | sed 1,3d
├─package 0                  socket   40 GB/s   60 ns assumed
│ ├─core 0-1               2 core     12 GB/s   20 ns assumed
│ └─gpu 1                    pcie     25 GB/s  250 ns assumed
└─package 1                  socket   40 GB/s   60 ns assumed
  ├─core 2-3               2 core     12 GB/s   20 ns assumed
  └─gpu 0                    pcie     25 GB/s  250 ns assumed
direct links of a node
└─gpu 0 - gpu 1              nvlink  100 GB/s  300 ns assumed
$ cd "$FIXTURES/gpus/valid" && nodewise topology nccl:crossed.xml | sed 1,3d
├─package 0                  socket   40 GB/s   60 ns assumed
│ ├─core 0-1               2 core     12 GB/s   20 ns assumed
│ └─gpu 1 0019:01:00.0       pcie     63 GB/s  250 ns
└─package 1                  socket   40 GB/s   60 ns assumed
  ├─core 2-3               2 core     12 GB/s   20 ns assumed
  └─gpu 0 0009:01:00.0       nvlink  400 GB/s  300 ns
$ cd "$FIXTURES/gpus/valid" && for f in crossed.txt crossed.xml; do nodewise topology $(echo $f | sed 's/.*txt/nvidia-smi:&/;s/.*xml/nccl:&/') --yaml | grep -A2 threads; done
    threads:
      - "0-3"
      - "4-7"
    threads:
      - "0-3"
      - "4-7"
## What costs the same is decided by nearness, in the default, too: the cores of
## each rank and its GPU are below one package.
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 gg 9 1\n1 0 gg 9 1\n' > two; for o in "" "--algorithm default"; do nodewise map -q -t nvidia-smi:"$FIXTURES/gpus/valid/crossed.txt" -p two $o | sed 1,2d; done
0 crossed 0 1
1 crossed 2 0
0 crossed 0 1
1 crossed 2 0
## So it is with several cores a rank, where only hosts talk, with several ranks a
## GPU, in each order asked for, and where a rank's host and GPU both send.
$ cat > far.yaml <<END
> nodewise: cluster 1
> node_types:
>   far:
>     cpu: {packages: 2, numa: 2, cores: 4}
>     devices:
>       - {numa: 3, parts: [{gpu: 1}, {nic: 1}]}
>       - {numa: 2, parts: [{gpu: 1}, {nic: 1}]}
>       - {numa: 1, parts: [{gpu: 1}, {nic: 1}]}
>       - {numa: 0, parts: [{gpu: 1}, {nic: 1}]}
>     direct: [{mesh: [gpu 0-3], link: 100GB/s}]
> nodes: [{name: "n[0-1]", switch: [s, s, s, s]}]
> network: {tree: {switch: s}}
> END
$ nodewise pattern --generate stencil2d5:dims=2x2,bytes=1MB -q -o hosts; nodewise pattern --generate stencil2d5:dims=2x2,bytes=1MB,kind=gg -q -o gpus; nodewise pattern --generate stencil2d5:dims=4x2,bytes=1MB -q -o eight; nodewise pattern --combine hosts gpus -q -o both
$ cat > near.py <<END
> import sys
> print(sys.argv[1], *("ok" if 3 - int(core.split("-")[0]) // 4 == int(gpu) else core + " far from " + gpu
>       for _, _, core, gpu in (line.split() for line in sys.stdin.readlines()[2:])))
> END
$ for p in hosts gpus both; do for o in auto default block magc-greedy; do nodewise map -q -t far.yaml -p $p --gpus-per-rank 1 --cores-per-rank 4 --algorithm $o --hosts n0 | python3 near.py "$p $o"; done; done
hosts auto ok ok ok ok
hosts default ok ok ok ok
hosts block ok ok ok ok
hosts magc-greedy ok ok ok ok
gpus auto ok ok ok ok
gpus default ok ok ok ok
gpus block ok ok ok ok
gpus magc-greedy ok ok ok ok
both auto ok ok ok ok
both default ok ok ok ok
both block ok ok ok ok
both magc-greedy ok ok ok ok
$ for o in auto default; do nodewise map -q -t far.yaml -p eight --gpus-per-rank 1 --ranks-per-gpu 2 --cores-per-rank 2 --algorithm $o --hosts n0 | python3 near.py $o; done
auto ok ok ok ok ok ok ok ok
default ok ok ok ok ok ok ok ok
## Limits of load do not change that: one core of each NUMA node bears a rank.
$ printf '1\n0\n0\n0\n%.0s' 1 2 3 4 5 6 7 8 > speeds; nodewise map -q -t far.yaml -p hosts --gpus-per-rank 1 --capacity 1 --imbalance 1 --speeds speeds --hosts n0 | python3 near.py limits
limits ok ok ok ok
## Ranks that share a GPU exchange it with the ranks of another one, all at once.
$ awk 'BEGIN {print "nodewise pattern 1\nranks 8 edges 16"; for (r = 0; r < 8; r++) for (k = 0; k < 8; k++) if (k == (r + 1) % 8 || k == (r + 7) % 8) print r, k, "gg", int(r / 2) == int(k / 2) ? 9000000 : 1000, 1}' > couples; nodewise map -q -t far.yaml -p couples --gpus-per-rank 1 --ranks-per-gpu 2 --cores-per-rank 2 --algorithm block --hosts n0 | python3 near.py block
block ok ok ok ok ok ok ok ok
## A near GPU is shared before a far one is taken. If one rank alone can have the
## nearest GPU, the first one has it.
$ nodewise map -q -t far.yaml -p hosts --gpus-per-rank 1 --ranks-per-gpu 2 --cores-per-rank 2 --hosts n0 | python3 near.py shared
shared ok ok ok ok
$ nodewise map -q -t far.yaml -p hosts --gpus-per-rank 1 --hosts n0 | sed 1,2d | head -1
0 n0 0 3
## The default gives a rank the GPU of its NUMA node, also if an earlier rank is
## as near to that GPU as to another one.
$ cat > later.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {numa: 4, cores: 1}, devices: [{numa: 1, parts: [{gpu: 1}]}, {numa: 3, parts: [{gpu: 1}]}]}}
> nodes: [{name: n}]
> END
$ nodewise map -q -t later.yaml -p two --algorithm default | sed 1,2d
0 n 0 1
1 n 1 0
## Ranks without GPUs that send to other nodes are near a network card: cores 4 to
## 11 are. One rank on a node was on core 0.
$ cat > cards.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {packages: 2, numa: 2, cores: 4}, devices: [{numa: 1, parts: [{nic: 1}]}, {numa: 2, parts: [{nic: 1}]}]}}
> nodes: [{name: "n[0-3]", switch: [s, s]}]
> network: {tree: {switch: s}}
> END
$ for k in 1 2; do for a in auto magc-greedy; do for o in hop-bytes congestion; do nodewise map -q -t cards.yaml -p $(test $k = 1 && echo hosts || echo eight) --algorithm $a --objective $o --hosts "n0:$k,n1:$k,n2:$k,n3:$k" | awk 'NR > 2 {far += $3 < 4 || $3 > 11; n++} END {print n, far + 0}'; done; done; done
4 0
4 0
4 0
4 0
8 0
8 0
8 0
8 0
## Ranks that are near each other come near their GPUs, or near the network card,
## together: alone, each of them would leave the other. Cores 3 to 5 are near the
## GPUs, cores 2 and 3 of each node are near the card.
$ cat > couple.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {numa: 2, cores: 3}, devices: [{numa: 1, parts: [{gpu: 2}]}]}}
> nodes: [{name: n}]
> END
$ cat > card.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {numa: 3, cores: 2}, devices: [{numa: 1, parts: [{nic: 1}]}]}}
> nodes: [{name: "n[0-1]", switch: s}]
> network: {tree: {switch: s}}
> END
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 9 1\n1 0 hh 9 1\n' > two-hosts
$ awk 'BEGIN {print "nodewise pattern 1\nranks 4 edges 12"; for (r = 0; r < 4; r++) for (k = 0; k < 4; k++) if (k != r) print r, k, "hh", int(r / 2) == int(k / 2) ? 9000000 : 1000, 1}' > two-couples
$ for a in auto magc magc-greedy multilevel; do for o in hop-bytes congestion; do nodewise map -q -t couple.yaml -p two-hosts --gpus-per-rank 1 --algorithm $a --objective $o | awk 'NR > 2 {printf "%s ", $3 < 3 ? "far" : "near"}'; nodewise map -q -t card.yaml -p two-couples --hosts n0:2,n1:2 --algorithm $a --objective $o | awk 'NR > 2 {printf "%s ", $3 == 2 || $3 == 3 ? "near" : "far"}'; done; echo; done | sed 's/ $//'
near near near near near near near near near near near near
near near near near near near near near near near near near
near near near near near near near near near near near near
near near near near near near near near near near near near
## So does one rank whose core and GPU are both far from the free ones that are
## near each other, and a rank whose core then shares a link with GPU messages, as
## long as that link is not the most loaded one.
$ cat > joint.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {packages: 2, numa: 2, cores: 1}, devices: [{numa: 0, parts: [{gpu: 2}]}, {numa: 2, parts: [{gpu: 1}]}], direct: [{mesh: [gpu 0-2]}]}}
> nodes: [{name: n}]
> END
$ cat > share.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {numa: 3, cores: 1}, devices: [{numa: 0, parts: [{gpu: 1}]}, {numa: 2, parts: [{gpu: 1}]}]}}
> nodes: [{name: n}]
> END
$ printf 'nodewise pattern 1\nranks 2 edges 4\n0 1 hh 9 1\n0 1 gg 9 1\n1 0 hh 9 1\n1 0 gg 9 1\n' > two-both
$ for a in auto magc-greedy multilevel; do for o in hop-bytes congestion latency time; do echo $(nodewise map -q -t joint.yaml -p two --algorithm $a --objective $o | sed 1,2d | cut -d' ' -f3,4) $(nodewise map -q -t share.yaml -p two-both --algorithm $a --objective $o | sed 1,2d | cut -d' ' -f3,4); done; done | uniq -c | sed 's/^ *//'
12 0 0 2 2 0 0 2 1
## Pairs stripe over all GPU switches: what a bare machine with two, the same in
## a virtual machine and a cluster file with count: 2 tell is one machine. So do
## pairs on two boards, one of whose switches has lost its class.
$ cat > planes.yaml <<END
> nodewise: cluster 1
> node_types: {n: {cpu: {cores: 4}, devices: [{parts: [{gpu: 2}]}], direct: [{switch: [gpu 0-1], count: 2, link: {bandwidth: 112.5GB/s, latency: 300ns}}]}}
> nodes: [{name: planes}]
> END
$ V="$FIXTURES/gpus/valid"; printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 gg 450000000 1\n1 0 gg 450000000 1\n' > pair; for t in nccl:$V/planes.xml nccl:$V/planes-vm.xml planes.yaml; do nodewise topology --route 'gpu0 gpu1' $t | sed '1d; s/.*nvlink *//'; nodewise map -t $t -p pair -q --json | grep -m1 max_congestion_gpu; done
225 GB/s  300 ns
225 GB/s  300 ns
  "max_congestion_gpu": 0.002,
225 GB/s  300 ns
225 GB/s  300 ns
  "max_congestion_gpu": 0.002,
225 GB/s  300 ns
225 GB/s  300 ns
  "max_congestion_gpu": 0.002,
$ nodewise topology --route 'gpu0 gpu3' "$FIXTURES/topology/valid/two-boards.xml" | sed 1d
two-boards: gpu 0 - gpu-switch 0 up   nvlink   50 GB/s  300 ns
two-boards: gpu 3 - gpu-switch 0 down nvlink   50 GB/s  300 ns
## Intel's GPUs for servers are GPUs, the display of the board is none. Slingshot calls
## itself Ethernet; beside it the Ethernet card of the management carries no messages.
$ nodewise topology "$FIXTURES/topology/valid/slingshot.xml" | grep -E '─(gpu|nic)'
    ├─gpu 0 0000:02:00.0            pcie     63 GB/s  250 ns
    └─nic 0 hsn0 0000:03:00.0       pcie   31.5 GB/s  250 ns
## RCCL's file gives the number of xGMI links, not their rate: 2 of 50 GB/s, assumed.
$ gpu() { printf '<pci busid="0000:0%d:00.0" class="0x038000"><gpu dev="%d"><xgmi target="0000:0%d:00.0" count="2" tclass="0x038000"/></gpu></pci>' $1 $1 $2; }; { echo '<system version="1"><cpu numaid="0" affinity="3">'; gpu 1 2; gpu 2 1; echo '</cpu></system>'; } > xgmi.xml; nodewise topology nccl:xgmi.xml | grep 'gpu 0 - gpu 1' | tr -s ' '
└─gpu 0 - gpu 1 xgmi 100 GB/s 300 ns assumed
## Each partition of an AMD GPU is one, and each pair has one direct link.
$ nodewise topology "$FIXTURES/topology/valid/partitions.xml" > partitions; grep '─gpu' partitions | head -6; grep -c xgmi partitions
    ├─gpu 0 0000:01:00.0       pcie     63 GB/s  250 ns
    ├─gpu 1 0000:01:00.0       pcie     63 GB/s  250 ns
    ├─gpu 2 0000:01:00.0       pcie     63 GB/s  250 ns
    ├─gpu 3 0000:02:00.0       pcie     63 GB/s  250 ns
    ├─gpu 4 0000:02:00.0       pcie     63 GB/s  250 ns
    └─gpu 5 0000:02:00.0       pcie     63 GB/s  250 ns
15
## The Xe Links of two Intel GPUs are one direct link of 26.6 GB/s for each link of four
## lanes at 53.125 Gbit/s, also in the file written from it. The rates between their tiles
## are counted once, whether hwloc has added them up (2.11) or not. The large values
## between tiles of one GPU do not become links.
$ nodewise topology "$FIXTURES/topology/valid/xelink.xml" | tail -2; nodewise topology -q "$FIXTURES/topology/valid/xelink.xml" --to hwloc -o xelink.xml; nodewise topology xelink.xml | tail -1; nodewise topology -q "$FIXTURES/topology/valid/xelink.xml" -o xelink.yaml; nodewise topology xelink.yaml | tail -1
direct links of a node
└─gpu 0 - gpu 1                xelink 53.1 GB/s  300 ns
└─gpu 0 - gpu 1                xelink 53.1 GB/s  300 ns
└─gpu 0 - gpu 1                xelink 53.1 GB/s  300 ns
$ for s in 's/101326/000000/g' 's/ 50663/ 00000/g'; do sed "$s" "$FIXTURES/topology/valid/xelink.xml" > added.xml; nodewise topology added.xml | tail -1; done; grep -o 101326 xelink.xml
└─gpu 0 - gpu 1                xelink 53.1 GB/s  300 ns
└─gpu 0 - gpu 1                xelink 53.1 GB/s  300 ns
101326
101326
## Many tiles take time in proportion to the matrix.
$ cat >tiles.py <<'END'
> import re, sys
> text, tiles = open(sys.argv[1]).read(), 400
> for gpu in 0, 1:
>     more = "".join('<object type="OSDev" gp_index="%d" name="ze%d.%d" subtype="LevelZero" osdev_type="5"/>' % (1000 + gpu * tiles + t, gpu, t) for t in range(tiles))
>     text = re.sub('(name="ze%d" .*?<info [^>]*>).*(</object>)' % gpu, lambda m: m.group(1) + more + m.group(2), text)
> def block(name, values):
>     words = " ".join(map(str, values)) + " "
>     return '<%s length="%d">%s</%s>' % (name, len(words), words, name)
> ids = [61, *range(1000, 1000 + tiles), 71, *range(1000 + tiles, 1000 + 2 * tiles)]
> n = len(ids)
> rates = [125 if abs(ids[a] - ids[b]) == tiles else 0 for a in range(n) for b in range(n)]
> text = re.sub('nbobjs="6"', 'nbobjs="%d"' % n, text)
> text = re.sub("<indexes.*</indexes>", block("indexes", ids), text)
> print(re.sub("<u64values.*</u64values>", block("u64values", rates), text), end="")
> END
> python3 tiles.py "$FIXTURES/topology/valid/xelink.xml" >tiles.xml; (ulimit -t 20; nodewise topology tiles.xml | tail -1)
└─gpu 0 - gpu 1                xelink 26.2 GB/s  300 ns
## hwloc 3 writes the same machine in other words: kinds of devices as sets, and
## lines about the whole.
$ sed 's/version="2.0"/version="3.0"/; s/osdev_type="5"/osdev_type="12"/; s/ a1" pci/ a1 00" pci/; s|^</topology>|  <info name="Backend" value="NVML"/>\n  <pci_locality domain="0x0" bus_min="0x10" bus_max="0x19" cpuset="0x1"/>\n&|' "$FIXTURES/topology/valid/two-boards.xml" > two-boards.xml
$ nodewise topology --yaml two-boards.xml > three && nodewise topology --yaml "$FIXTURES/topology/valid/two-boards.xml" | sed 's|^name: .*|name: two-boards.xml|' | cmp - three
$ sed 's/version="3.0"/version="4.0"/' two-boards.xml > four.xml; nodewise topology four.xml
! four.xml:3 ... version 4.0 ... hwloc 2
? 3
## hwloc prints a banner about a file of hwloc 1 whose sockets are not in order; it
## stays off standard error, also if hwloc takes the file from its variable.
$ s() { echo "<object type='Socket' os_index='$1' cpuset='$2' complete_cpuset='$2'><object type='PU' os_index='$1' cpuset='$2' complete_cpuset='$2'/></object>"; }; echo "<?xml version='1.0'?><topology><object type='Machine' os_index='0' cpuset='0x3' complete_cpuset='0x3'>$(s 1 0x2)$(s 0 0x1)</object></topology>" >one.xml
$ nodewise topology -q one.xml | tail -4; HWLOC_XMLFILE=one.xml nodewise topology live | sed q
├─package 0       socket   40 GB/s   60 ns assumed
│ └─core 0        core     12 GB/s   20 ns assumed
└─package 1       socket   40 GB/s   60 ns assumed
  └─core 1        core     12 GB/s   20 ns assumed
live: 1 node, 2 cores, 0 GPUs, 5 links (4 with assumed figures)
## GPUs that exchange over their switch do so inside the node, as packages do.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 gg 1000 1\n' >two.pattern; sed s/gg/hh/ two.pattern >two.hosts; nodewise map -t dgx-h100:1 -p two.pattern -o x.mapping | tail -1 | grep -o '100 % of the bytes'; nodewise map -t hwloc:"package:2 core:1" -p two.hosts -o x.mapping | tail -1 | grep -o '100 % of the bytes'
100 % of the bytes
100 % of the bytes
## A byte order mark is no part of a table.
$ f="$FIXTURES/gpus/valid/crossed.txt"; nodewise topology nvidia-smi:$f | sed 1,3d >plain; for e in '\033' ''; do sed "1s/GPU0/$(printf "$e")[4mGPU0/; 1s/\$/$(printf "$e")[0m/" "$f" >coded.txt; head -1 coded.txt | grep -c '\[4mGPU0.*\[0m'; nodewise topology nvidia-smi:coded.txt | sed 1,3d | cmp - plain; done
1
1
$ { printf '\357\273\277'; cat "$FIXTURES/gpus/valid/crossed.txt"; } > mark.txt; nodewise topology nvidia-smi:mark.txt | grep -c gpu
3
## Blanks and tabs at the ends of lines, as in copies from an editor.
$ for f in crossed nvswitch; do nodewise topology -q nvidia-smi:"$FIXTURES/gpus/valid/$f.txt" | sed 1,3d >plain; sed 's/$/ \t /' "$FIXTURES/gpus/valid/$f.txt" >ends.txt; nodewise topology -q nvidia-smi:ends.txt | sed 1,3d | cmp - plain; done
## A table may be indented, and other text may follow it. A repeated table is read
## once; different tables are those of two hosts, or of another command.
$ f="$FIXTURES/gpus/valid/crossed.txt"; nodewise topology nvidia-smi:$f | sed 1,3d >plain; { sed 's/^/    /' "$f"; printf 'Legend:\n\nHypervisor vendor: none\nGPU 0: a name\n'; } >more.txt; nodewise topology nvidia-smi:more.txt | sed 1,3d | cmp - plain; cat "$f" "$f" more.txt "$f" >twice.txt; nodewise topology nvidia-smi:twice.txt | sed 1,3d | cmp - plain
$ f="$FIXTURES/gpus/valid/nvswitch.txt"; nodewise topology nvidia-smi:$f | sed 1,3d >plain; cat "$f" "$f" >twice.txt; nodewise topology nvidia-smi:twice.txt | sed 1,3d | cmp - plain
$ f="$FIXTURES/gpus/valid/nvswitch.txt"; for e in s/NV12/NV6/ s/mlx5_1/mlx5_2/ s/0-15/0-14/ s/GPU3/GPU4/ s/NV12/OK/ /^GPU3/d; do { cat "$f" "$f"; sed $e "$f"; } >hosts.txt; nodewise topology nvidia-smi:hosts.txt 2>&1; echo $?; done
~ hosts.txt:37 ... second table ... file of its own
3
~ hosts.txt:37 ... second table ... file of its own
3
~ hosts.txt:37 ... second table ... file of its own
3
~ hosts.txt:37 ... second table ... file of its own
3
~ hosts.txt:37 ... second table ... file of its own
3
~ hosts.txt:37 ... second table ... file of its own
3
## Columns that a copy has run together are refused with the way out.
$ printf '\tGPU0\tGPU1\tNIC0\tNIC1\nGPU0\t X \tNV4\tSYSNODE\n' > glued.txt; nodewise topology nvidia-smi:glued.txt
! glued.txt:2 ... 'SYSNODE' ... topo -m
? 3
$ printf '\tGPU0\tGPU1\tNIC0NIC1\nGPU0\t X \tNV4\tSYS\n' > glued.txt; nodewise topology nvidia-smi:glued.txt
! glued.txt:1 ... topo -m ... NIC0NIC1
? 3
## One of four GPUs without NVLink: the others share a switch, none leads to it.
$ printf '\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNODE\tNV18\tNV18\nGPU1\tNODE\t X \tNODE\tNODE\nGPU2\tNV18\tNODE\t X \tNV18\nGPU3\tNV18\tNODE\tNV18\t X \n' > off.txt; nodewise topology -q nvidia-smi:off.txt | sed -n '/direct/,$p' | awk '{print $2, $4, $5, $7}'
links a node 
0 gpu-switch 0 450
2 gpu-switch 0 450
3 gpu-switch 0 450
## A container with cores of one processor: GPUs without cores go by their NUMA
## node. A card as close to both joins them to nothing.
$ printf '\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\tNODE\t0-35\t0\nGPU1\tNV18\t X \tNODE\t\t1\nNIC0\tNODE\tNODE\t X \n' > empty.txt; nodewise topology nvidia-smi:empty.txt | sed '1,3d; /direct/,$d' | sed 's/  *pcie.*//; s/  *core .*//; s/  *socket.*//'
├─package 0
│ ├─core 0-35             36
│ ├─gpu 0
│ └─nic 0 NIC0
└─package 1
  └─gpu 1
! empty.txt ... cores near some of its GPUs ... --node live --gpus SOURCE
## POWER9 numbers the four threads of a core one after the other, and its two
## NUMA nodes 0 and 8.
$ printf '\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-79\t0\nGPU1\tSYS\t X \t80-159\t8\n' > power.txt; nodewise topology nvidia-smi:power.txt | grep core; nodewise topology nvidia-smi:power.txt --yaml | grep -A1 threads: | tail -1 | cut -c1-25; sed 's/8$/1/' power.txt > other.txt; nodewise topology nvidia-smi:other.txt | head -1
power.txt: 1 node, 40 cores, 2 GPUs, 45 links (44 with assumed figures)
│ ├─core 0-19     20 core     12 GB/s   20 ns assumed
  ├─core 20-39    20 core     12 GB/s   20 ns assumed
      - "0,4,8,12,16,20,2
other.txt: 1 node, 160 cores, 2 GPUs, 165 links (164 with assumed figures)
## Threads that a cgroup hides leave two ranges of unequal length, beside a package
## with equal ones or with none; NUMA nodes of two parts have four ranges. If the
## ranges do not fit all packages, they are cores.
$ for l in 0-27,112-131/28-55,140-167 2-27,112-139/28-55,140-167 0-27,112-125/28-55,126-153 0-3,8-15/16-31 0-13,28-41,112-125,140-153/14-27,42-55,126-139,154-167 0,2,4,6/1,3,5,7; do printf '\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t%s\t0\nGPU1\tSYS\t X \t%s\t1\n' ${l%/*} ${l#*/} > ranges.txt; echo $(nodewise topology nvidia-smi:ranges.txt | sed -n 's/.*─core //p' | awk '{print $1, $2}'); done
0-27 28 28-55 28
0-27 28 28-55 28
0-27 28 28-55 28
0-11 12 12-27 16
0-27 28 28-55 28
0-3 4 4-7 4
## No other package confirms the guess for a package alone, which is said.
$ printf '\tGPU0\tCPU Affinity\nGPU0\t X \t1-3,8-11\n' > ranges.txt; nodewise topology nvidia-smi:ranges.txt --yaml | grep -A2 threads:; nodewise topology -q nvidia-smi:ranges.txt --elements pu | sed q; nodewise topology -q --node 'hwloc:package:1 core:7' --gpus nvidia-smi:ranges.txt | grep -o 7.cores
    threads:
      - "1-3,8"
      - "9-11"
ranges.txt: 1 node, 7 hardware threads, 1 GPU, 14 links (13 with assumed figures)
7 cores
! note ... ranges.txt ... 7 CPUs are taken for 4 cores ... --node live --gpus SOURCE
## A package without cores is said beside the guess.
$ printf '\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tSYS\tSYS\t1-3,8-11\nGPU1\tSYS\t X \tSYS\t\nGPU2\tSYS\tSYS\t X \t\n' > ranges.txt; nodewise topology nvidia-smi:ranges.txt | grep -c gpu
3
! note ... ranges.txt ... 7 CPUs are taken for 4 cores
! note ... ranges.txt does not name the cores near some of its GPUs
## A file without cores says where they come from; joined to a node it has them,
## with its cards at the processors or bridges that it names.
$ printf '<system version="1">\n<cpu numaid="-1" arch="arm64">\n<pci busid="0009:01:00.0" class="0x028000" link_speed="5.0 GT/s PCIe" link_width="1"><nic><net name="w0" speed="10000"/></nic></pci>\n<pci busid="000f:01:00.0" class="0x030000" link_speed="2.5 GT/s PCIe" link_width="16"><gpu dev="0" sm="121" rank="0"><c2c bw="43125" count="8"/></gpu></pci>\n</cpu>\n</system>\n' > spark.xml; nodewise topology nccl:spark.xml | head -1; nodewise topology --node 'hwloc:package:1 core:20' --gpus nccl:spark.xml -q | sed 1,3d
spark.xml: 1 node, 1 core, 1 GPU, 6 links (2 with assumed figures)
└─package 0                     socket   40 GB/s   60 ns assumed
  ├─core 0-19                20 core     12 GB/s   20 ns assumed
  ├─gpu 0 000f:01:00.0          nvlink  345 GB/s  300 ns
  └─nic 0 w0 0009:01:00.0       pcie    500 MB/s  250 ns
! note ... spark.xml ... cores ... --node live --gpus
$ printf 'nodewise pattern 1\nranks 4 edges 1\n0 1 hh 1 1\n' > four; nodewise map -t nccl:spark.xml -p four
! note ... spark.xml ... cores ... --node live --gpus
! spark.xml:1 ... 4 ranks ... 1
? 3
## A virtual machine may hide the peers of a GPU: it then writes the GPU itself
## as the other end of each link, once or for each peer. Nodewise and hwloc both
## ignore these links.
$ gpu() { printf '<pci busid="000%d:00:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="%d" sm="80">' $1 $1; for n in $2; do printf '<nvlink target="000%d:00:00.0" count="%d" tclass="0x030200"/>' $1 $n; done; echo '</gpu></pci>'; }; for k in '' 12 '4 4 4'; do { echo '<system version="1"><cpu numaid="0" affinity="ff">'; gpu 1 "$k"; gpu 2 "$k"; echo '</cpu></system>'; } > self.xml; nodewise topology nccl:self.xml > self$(echo "$k" | wc -w); done; grep -c gpu self0; cmp self0 self1; cmp self0 self3; grep -c nvlink self3
2
0
? 1
$ sed 's/192">0 0 0/196">25000 0 0/' "$FIXTURES/topology/valid/two-boards.xml" > two-boards.xml; grep -c '>25000' two-boards.xml; nodewise topology two-boards.xml > self; nodewise topology "$FIXTURES/topology/valid/two-boards.xml" | sed '1s|^.*/||' | cmp - self
1
## A table's card is kept at a synthetic node, and at hosts that Slurm names.
$ nodewise topology -q --node 'hwloc:package:2 core:8' --gpus nvidia-smi:"$FIXTURES/gpus/valid/nvswitch.txt" | grep -E '─(nic|package)' | sed 's/  *pcie.*//; s/  *socket.*//'
├─package 0
│   └─nic 0 mlx5_0
├─package 1
│ └─nic 1 mlx5_1
$ echo 'SwitchName=s Nodes=n[1-2]' > joined.conf; nodewise topology -q --network slurm:joined.conf --gpus nvidia-smi:"$FIXTURES/gpus/valid/nvswitch.txt" | grep -E '─(nic|package)' | sed 's/  *pcie.*//; s/  *socket.*//'
├─package 0
│   └─nic 0 mlx5_0
├─package 1
│ └─nic 1 mlx5_1
## Several hosts in one dump are nodes of one machine, each card with its rate.
$ host() { sed "s/<cpu /<cpu host_hash=\"0x$1\" /; /system/d" spark.xml; }; { echo '<system version="1">'; host 1; host 2; host 3 | sed 's/43125/40000/'; echo '</system>'; } > hosts.xml; nodewise topology nccl:hosts.xml -q | sed 1,2d | grep -v core; { echo '<system version="1">'; host 1; host 2; host 1; echo '</system>'; } > again.xml; nodewise topology nccl:again.xml
network (tree)
└─(network)
  ├─host[1,2]                 2 nic    1.25 GB/s  500 ns node1
  └─host3                       nic    1.25 GB/s  500 ns node2
node1: host[1,2]
└─package 0                     socket   40 GB/s   60 ns assumed
  ├─gpu 0 000f:01:00.0          nvlink  345 GB/s  300 ns
  └─nic 0 w0 0009:01:00.0       pcie    500 MB/s  250 ns
node2: host3
└─package 0                     socket   40 GB/s   60 ns assumed
  ├─gpu 0 000f:01:00.0          nvlink  320 GB/s  300 ns
  └─nic 0 w0 0009:01:00.0       pcie    500 MB/s  250 ns
! again.xml:11 ... a second device '0009:01:00.0'
? 3
## Hosts that differ only in the second threads of their cores are of two types.
$ printf '<system version="1">\n<cpu host_hash="0x1" affinity="000000ff"/>\n<cpu host_hash="0x2" affinity="00ff00ff"/>\n</system>\n' > smt.xml; nodewise topology nccl:smt.xml -q -o smt.yaml; sed -n '/^      - "/p' smt.yaml
      - "0-7"
      - "0-7"
      - "16-23"
## Files that are wrong.
$ cd "$FIXTURES/gpus/invalid" && for f in *.txt; do nodewise topology nvidia-smi:$f 2>&1; echo $?; done
~ asymmetric.txt:3 ... GPU1 ... GPU0 ... NV6 ... NV12
3
~ close.txt:7 ... symmetric ... NIC1 ... GPU2 ... PHB ... NODE
3
~ cores-late.txt:3 ... '0-nan'
3
~ cores.txt:2 ... '0-99999999'
3
~ cut-row.txt:3 ... 3 columns ... 6 ... devices
3
~ huge.txt:2 ... PIX ... PXB ... PHB ... NODE ... SYS ... NV# ... 'NV99999999999'
3
~ numa.txt:3 ... NUMA ... nodes ... 'O'
3
~ other.txt:1 ... 'GPU0 GPU1 CPU Affinity' ... nvidia-smi ... -m
3
~ rocm.txt:1 ... rocm-smi ... nvidia-smi ... 'live'
3
~ truncated.txt:1 ... GPU3
3
~ word.txt:2 ... PIX ... PXB ... PHB ... NODE ... SYS ... NV# ... 'NVL'
3
$ cd "$FIXTURES/gpus/invalid" && for f in *.xml; do nodewise topology nccl:$f 2>&1; echo $?; done
~ asymmetric.xml:5 ... 3 links ... '0000:04:00.0' ... '0000:05:00.0' ... 2
3
~ back.xml:4 ... symmetric ... 1 link ... '0000:01:00.0' ... '0000:02:00.0' ... 4000000000
3
~ c2c.xml:4 ... <c2c> ... numbers
3
~ count.xml:5 ... <nvlink> ... 1024
3
~ mask.xml:2 ... mask ... '0x00ff'
3
~ other.xml:1 ... <system> ... 'topology'
3
~ quote.xml:2 ... attribute ... 'arch'
3
~ speed.xml:3 ... link_speed ... '7 GT/s'
3
~ truncated.xml:8 ... file ... 'pci'
3
~ twice.xml:9 ... device ... '0000:04:00.0'
3
~ width.xml:9 ... link_width ... '61'
3
## A mask of more than 65536 threads names some beyond any that are counted.
$ mask() { printf '<system version="1">\n<cpu affinity="%s1"/>\n</system>\n' "$(printf '0,%.0s' $(seq $1))"; }
> mask 2047 > most.xml && nodewise topology nccl:most.xml | sed -n 1p
> mask 2048 > more.xml && nodewise topology nccl:more.xml
most.xml: 1 node, 1 core, 0 GPUs, 3 links (2 with assumed figures)
! more.xml:2 ... cores ... 0000ffff ... '0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,'
? 3
## Attributes are compared with each other, so a tag has few.
$ (printf '<system version="1"><cpu '; seq -f 'a%g="1"' 1 100000 | tr '\n' ' '; printf '></cpu></system>\n') >attributes.xml; nodewise topology nccl:attributes.xml
! attributes.xml:1: <cpu> has more than 256 attributes
? 3
## A GPU switch that a matrix of hwloc names before its GPUs: links of different rates are not written as equal ones.
$ printf 'nodewise: cluster 1\nnode_types:\n  node:\n    cpu: {cores: 2}\n    devices: [{parts: [{gpu: 2}]}]\n    direct: [{switch: [gpu 0-1], link: 300GB/s}]\nnodes: [{name: a}]\n' > s.yaml; nodewise topology s.yaml -q --to hwloc | sed 's/>\(OSDev.*\) \(PCIDev:[0-9]*\) </>\2 \1 </' | awk '/u64values/ {w = ++n == 1 ? "0 300000 100000 " : n == 2 ? "300000 0 0 " : "100000 0 0 "; $0 = "<u64values length=\"" length(w) "\">" w "</u64values>"} 1' > s.xml; sed -n '/<indexes/p' s.xml; nodewise topology s.xml -q | tail -2; nodewise topology s.xml -q -o back.yaml
    <indexes length="27">PCIDev:7 OSDev:12 OSDev:13 </indexes>
├─gpu 0 - gpu-switch 0       nvlink  300 GB/s  300 ns
└─gpu 1 - gpu-switch 0       nvlink  100 GB/s  300 ns
! node type a ... one figure
? 4
