## A file written from any source reads back as the same machine: the JSON, in
## which each vertex, link, figure, switch and node stands, is byte for byte
## the same, and so is the file written again.
$ cat > same <<'END'
> for s in "$@"; do
>   nodewise topology -q "$s" -o a.yaml && nodewise topology -q "$s" --json -o a.json &&
>   nodewise topology a.yaml --json -o b.json && nodewise topology a.yaml -o b.yaml
>   cmp a.json b.json && cmp a.yaml b.yaml || echo "$s differs"
> done
> END
> sh ./same dgx-h100:3 dgx-h100-rail:40 dgx-b200:2 gb200-nvl72:3 mi300x:2 gdr-a magc-a magc-b mpdata-inter rashti-192 rashti-32 summit:20 wilkes \
>   "hwloc:package:2 l3:2 core:2 pu:2" "$FIXTURES"/topology/valid/*.yaml "$FIXTURES"/topology/valid/node.xml \
>   ibnet:"$FIXTURES"/fabric/valid/two-rails.ibnetdiscover slurm:"$FIXTURES"/fabric/valid/spines.conf \
>   slurm:"$FIXTURES"/fabric/valid/blocks.conf && echo the same
the same
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> sh ./same "$D"/hwloc/*.xml $(printf "nccl:%s " "$D"/nccl/*.xml) $(printf "nvidia-smi:%s " "$D"/nvidia-smi/*.txt) \
>   ibnet:"$D"/infiniband/X5.ibnetdiscover,map="$D"/infiniband/X5.map slurm:"$D"/slurm/tree-3level.topology.conf && echo the same
the same
## Three sources, one cluster file; what they disagree about is said.
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> cd "$D" && nodewise topology --network ibnet:infiniband/ft16.ibnetdiscover --node hwloc:hwloc/g4dnmetal.xml \
>   --gpus nvidia-smi:nvidia-smi/dgx1-like-mlx5-blanks.txt --tree | sed -n 1,4p
infiniband/ft16.ibnetdiscover: 16 nodes, 768 cores, 128 GPUs, 1320 links (1136 with assumed figures)
part                                 count link    bandwidth latency note
network (graph)
├─leaf[0-3]                              4                           leaves
! GPU 0 ... 48 threads ... hwloc:hwloc/g4dnmetal.xml ... 40 ... nvidia-smi:nvidia-smi/dgx1-like-mlx5-blanks.txt
! nvidia-smi:nvidia-smi/dgx1-like-mlx5-blanks.txt ... 2
! 'gpu-st-g4dnmetal-1' ... hwloc:hwloc/g4dnmetal.xml ... network
$ D="$SHARED/data"; test -d "$D" || { echo SKIP no "$D"; exit 77; }
> cd "$D" && nodewise topology --network ibnet:infiniband/ft16.ibnetdiscover --node hwloc:hwloc/coral-lassen.xml \
>   --gpus nvidia-smi:nvidia-smi/dgx1-like-mlx5-blanks.txt
! nvidia-smi/dgx1-like-mlx5-blanks.txt:1 ... 8 GPUs ... 4 ... hwloc:hwloc/coral-lassen.xml
? 3
## A bundled cluster of one type of node stands for all hosts, as one node of it does.
$ printf 'SwitchName=leaf0 Nodes=gpu[01-04]\n' > leaf.conf
$ for n in dgx-h100:1 dgx-h100 dgx-h100:9; do nodewise topology -q --network slurm:leaf.conf --node $n --json -o $n.json; done
$ cmp dgx-h100:1.json dgx-h100.json && cmp dgx-h100:1.json dgx-h100:9.json &&
> nodewise topology -q --network slurm:leaf.conf --node dgx-h100 | grep -o '4 nodes, 448 cores, 32 GPUs'
4 nodes, 448 cores, 32 GPUs
## Such a cluster does not, if one of its nodes is a host of the network.
$ printf 'SwitchName=leaf0 Nodes=dgx001,other\n' > leaf.conf
$ nodewise topology --network slurm:leaf.conf --node dgx-h100
! leaf.conf:1: no source describes the inside of host 'other' ... --node
? 3
## Hosts are matched by name, long or short; two sources name two hosts, and
## each card keeps its rail. A host that nothing describes is named.
$ cat > two.yaml <<'END'
> nodewise: cluster 1
> node_types:
>   big: {parts: [{package: 2, parts: [{core: 4}, {nic: 1}]}], nics: [{name: mlx5_0}, {name: mlx5_1}]}
> nodes: [{name: n1.site.org, type: big, switch: x}]
> network: {graph: {switches: x}}
> END
> nodewise topology --network ibnet:"$FIXTURES"/fabric/valid/two-rails.ibnetdiscover --node two.yaml --node n2="hwloc:core:3" --route 7 8
link                              way  kind bandwidth latency note
n1: core 7 - package 1            up   core   12 GB/s   20 ns assumed
n1: nic 1 - package 1             down pcie   25 GB/s  250 ns assumed
n1: nic 1 - MF0;rail-b:MQM8700/U1 up   nic  12.5 GB/s  500 ns
n2: nic 1 - MF0;rail-b:MQM8700/U1 down nic  12.5 GB/s  500 ns
n2: nic 1 - node                  up   pcie   25 GB/s  250 ns assumed
n2: core 0 - node                 down core   12 GB/s   20 ns assumed
$ cp "$FIXTURES"/fabric/valid/two-rails.ibnetdiscover . && nodewise topology --network ibnet:two-rails.ibnetdiscover --node n2="hwloc:core:3"
! two-rails.ibnetdiscover:1 ... 'n1' ... --node
? 3
$ nodewise topology --network ibnet:two-rails.ibnetdiscover --node n[1-3]="hwloc:core:3" -o c.yaml && sed -n 4,9p c.yaml
  machine:
    parts:
      - core: 3
        pus: 1
      - nic: 2
    threads:
! 'n3' ... hwloc:core:3 ... network
$ nodewise topology live --network slurm:x
! SOURCE ... --network ... --node ... --gpus
? 2
$ nodewise topology hierarchy:4:8 -o h.yaml; echo $?; test -e h.yaml || echo none
2
none
! 'hierarchy:4:8' ... distances
## Distances make no parts: neither nodes nor a network are made of them.
$ printf 'SwitchName=s0 Nodes=c[1-2],g[1-2]\n' > four.conf && printf '0 1\n1 0\n' > two.mat
> nodewise topology --network slurm:four.conf --node matrix:two.mat -o m.yaml; echo $?; test -e m.yaml || echo none
> nodewise topology --network hierarchy:2:2 --node hwloc:core:2; echo $?
2
none
2
! 'matrix:two.mat' ... distances
! 'hierarchy:2:2' ... distances
## Where some nodes have GPUs, those without have none; where no source sees
## any, all get them, and that is said.
$ printf '\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n' > pair.txt && cat > fat.yaml <<'END'
> nodewise: cluster 1
> node_types:
>   fat: {cpu: {packages: 2, cores: 4}, devices: [{package: [0, 1], parts: [{gpu: 1}]}]}
> nodes: [{name: x}]
> END
> nodewise topology --network slurm:four.conf --node 'c[1-2]=hwloc:package:2 core:2' --node 'g[1-2]=fat.yaml' \
>   --gpus nvidia-smi:pair.txt | sed -n 1p
> nodewise topology --network slurm:four.conf --node 'c[1-2]=hwloc:package:2 core:2' --node 'g[1-2]=hwloc:core:2' \
>   --gpus nvidia-smi:pair.txt -q | sed -n 1p
four.conf: 4 nodes, 24 cores, 4 GPUs, 42 links (42 with assumed figures)
four.conf: 4 nodes, 12 cores, 8 GPUs, 32 links (32 with assumed figures)
## A core without numbers of threads lends none of another processor's: here
## both sources count the GPU's threads from 2.
$ cat > holes.yaml <<'END'
> nodewise: cluster 1
> node_types:
>   t:
>     parts: [{package: 1, parts: [{core: 2, pus: 1}, {core: 1}, {gpu: 1}]}, {package: 1, parts: [{core: 2, pus: 1}]}]
>     threads: ["2-3,0-1"]
> nodes: [{name: x}]
> END
> printf '\tGPU0\tCPU Affinity\nGPU0\t X \t2-3\n' > one.txt
> nodewise topology --node holes.yaml --gpus nvidia-smi:one.txt 2>&1 | sed -n 1p
holes.yaml: 1 node, 5 cores, 1 GPU, 9 links (8 with assumed figures)
## A host is the node of its very name, else the one of its short or long name; which of several is not guessed.
$ printf 'SwitchName=s Nodes=n1,n2.x,n3\n' >net.conf; cat >in.yaml <<'END'
> nodewise: cluster 1
> node_types: {a: {cpu: {cores: 1}}, b: {cpu: {cores: 2}}}
> nodes: [{name: n1.a, type: a, switch: s}, {name: n1, type: b, switch: s}, {name: n2, type: a, switch: s}, {name: n3.x, type: b, switch: s}]
> network: {tree: {switch: s}}
> END
> nodewise topology --network slurm:net.conf --node in.yaml | grep -E '^(a|b): '
b: n[1,3]
a: n2.x
$ sed 's/name: n1,/name: n1.b,/' in.yaml >two.yaml; nodewise topology --network slurm:net.conf --node two.yaml
! net.conf:1 ... 'n1' ... network ... two.yaml
? 3
## GPUs are matched by their whole addresses: a domain may have five digits (Intel
## VMD) or leading zeros. The link of the second file's GPUs 1 and 2 is that of
## 10000:3b:00.0 and 0000:5e:00.0, which are GPUs 0 and 2 of the first.
$ for f in "10000:3b 0000:3b 5e" "0000:3b 10000:3b 00000000:5e"; do set -- $f; printf '%s\n' 'nodewise: cluster 1' 'node_types:' '  n:' '    parts: [{package: 1, parts: [{core: 2}, {gpu: 3}]}]' \
>   "    gpus: [{pci: '$1:00.0'}, {pci: '$2:00.0'}, {pci: '$3:00.0'}]" '    direct: [{pairs: [[gpu 1, gpu 2]], link: 50GB/s}]' 'nodes: [{name: n1}]' > "$1.yaml"; done
$ nodewise topology -q --node ./10000:3b.yaml --gpus ./0000:3b.yaml | grep -o 'gpu . - gpu .'
gpu 0 - gpu 2
## If two addresses match one without a domain, GPUs are matched by number.
$ sed "s/'.*:3b:00.0'}, {pci: '.*:3b:00.0'/'3b:00.0'}, {pci: '86:00.0'/" 0000:3b.yaml > plain.yaml; grep -c "'3b:00.0'}, {pci: '86:00.0'" plain.yaml
1
$ nodewise topology -q --node plain.yaml --gpus ./10000:3b.yaml | grep -o 'gpu . - gpu .'
gpu 1 - gpu 2
