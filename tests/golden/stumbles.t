## What a first user wrote, and what Nodewise answers: the names that were meant, and the way out.
$ printf 'nodewise pattern 1\nranks 4 edges 1\n0 1 hh 100 1\n' > app.pattern; nodewise tpology
! unknown command 'tpology' ... did you mean 'topology'?
? 2
$ nodewise map -t dgx-h100:1 -p app.pattern --algorithm multilevl
! unknown algorithm 'multilevl' ... did you mean 'multilevel'?
? 2
$ nodewise map -t dgx-h10:2 -p app.pattern
! 'dgx-h10:2' ... did you mean 'dgx-h100'?
? 2
$ nodewise map -t hwlok:core:4 -p app.pattern
! 'hwlok:core:4' ... did you mean 'hwloc:'?
? 2
$ nodewise map -t dgx-h100:1 -p nativ:app.pattern; nodewise pattern lists:app.pattern
! nativ:app.pattern ... No such file ... 'nativ:' ... did you mean 'native'?
! lists:app.pattern ... No such file ... 'lists:' ... did you mean 'list'?
? 3
$ nodewise pattern --generate stencil2d6:dims=2x2
! unknown generator 'stencil2d6' ... did you mean 'stencil2d
? 2
$ nodewise launch -t dgx-h100:1 --for opnmpi4 x
! unknown launcher 'opnmpi4' ... did you mean 'openmpi4'?
? 2
$ nodewise bench patttern
! unknown benchmark 'patttern' ... did you mean 'pattern'?
? 2
$ for w in latncy 'bw -m DX' 'bw -p fetsh' 'bw -c slow' 'bw -b 2G' 'bw -s 0' 'bw -i none' 'gather -n 1'; do nodewise bench channel $w 2>&1 | sed 1q; done
~ test ... latency, bw ... 'latncy'
~ --memory ... HH, DH ... 'DX'
~ --protocol ... fetch ... 'fetsh'
~ --copy ... fastcopy ... 'slow'
~ --bytes ... 1GiB ... '2G'
~ --slot ... 8KiB ... '0'
~ --iterations ... number ... 'none'
~ --ranks ... 2 to 64 ... '1'
$ nodewise map -t dgx-h100:1 -p app.pattern --algoritm multilevel
! unrecognized option '--algoritm'
! nodewise map ... did you mean '--algorithm'?
? 2
$ nodewise map -t dgx-h100:1 -p app.pattern --nothing-like-it
! unrecognized option '--nothing-like-it'
? 2

## The forgotten --.
$ nodewise profile -o p mpirun -n 2 ./app
! invalid option -- 'n'
! nodewise profile ... put -- in front of 'mpirun'
? 2
$ nodewise probe mpiexec.hydra --hosts n1
! unrecognized option '--hosts'
! nodewise probe ... put -- in front of 'mpiexec.hydra'
? 2

## A picture as the file's name says, or a clear error.
$ printf '#!/bin/sh\nexec cat\n' >rsvg-convert; chmod +x rsvg-convert; PATH=$PWD:$PATH nodewise topology hierarchy:2@1 -o /nowhere/a.png
! /nowhere/a.png ... No such file
? 1
$ printf '#!/bin/sh\nexec cat\n' >rsvg-convert; chmod +x rsvg-convert; PATH=$PWD:$PATH nodewise topology "hwloc:package:1 core:2 pu:1" -o a.png; head -c 4 a.png; echo; mkdir none; ln -s "$(command -v nodewise)" none/; PATH=$PWD/none nodewise topology "hwloc:package:1 core:2 pu:1" -o b.pdf
<svg
! b.pdf ... rsvg-convert ... .svg
? 4
$ if ! command -v rsvg-convert >/dev/null; then echo SKIP no rsvg-convert; exit 77; fi; nodewise topology "hwloc:package:1 core:2 pu:1" -o c.pdf; head -c 5 c.pdf; echo; nodewise topology "hwloc:package:1 core:2 pu:1" -o c.png; head -c 4 c.png | tail -c 3; echo
%PDF-
PNG

## All pictures become PNG and PDF by the name of the file, those of other commands as well
$ if ! command -v rsvg-convert >/dev/null; then echo SKIP no rsvg-convert; exit 77; fi; nodewise pattern --generate stencil2d5:dims=2x2 -o four.pattern -q; for f in f.png f.pdf f.svg; do nodewise pattern -q --svg $f four.pattern >/dev/null; nodewise map -q -t hierarchy:4@1 -p four.pattern -o four.mapping >/dev/null 2>&1; nodewise report -q -t hierarchy:4@1 -p four.pattern -o r$f four.mapping >/dev/null; nodewise halo plan -q -n 8x8x8 -t summit:2 --svg h$f >/dev/null; for g in $f r$f h$f; do head -c 5 $g | tr -dc '<%A-Za-z'; echo; done; done
PNG
PNG
PNG
%PDF
%PDF
%PDF
<svg
<svg
<svg
## The heaviest pairs, two patterns compared, and a table for a spreadsheet.
$ printf 'nodewise pattern 1\nranks 3 edges 4\n0 1 hh 3000 3\n0 1 gg 3000 1\n1 2 hh 2000 1\n2 2 hh 9000 1\n' >a.pattern; printf 'nodewise pattern 1\nranks 4 edges 3\n0 1 hh 3000 3\n1 2 hh 2000 1\n3 0 hh 500 1\n' >b.pattern; nodewise pattern a.pattern --top 1
from to bytes  share messages
   0  1  6 kB 75.0 %        4
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 8 18446744073709551615\n0 1 gg 8 2\n' >full.pattern; nodewise pattern full.pattern --top 1
from to bytes   share             messages
   0  1  16 B 100.0 % 18446744073709551615
$ nodewise pattern --diff a.pattern b.pattern
from  to before  after  change
 all all   8 kB 5.5 kB -31.2 %
   0   1   6 kB   3 kB -50.0 %
   3   0    0 B  500 B     new
$ nodewise pattern a.pattern --to csv -q
src,dst,kind,bytes,messages
0,1,hh,3000,3
0,1,gg,3000,1
1,2,hh,2000,1
2,2,hh,9000,1
$ nodewise pattern csv:a.pattern; nodewise pattern --diff a.pattern
! csv:a.pattern: No such file
! --diff ... two patterns
? 2
$ nodewise pattern --diff a.pattern b.pattern --scale 8
! --diff ... --scale
? 2

## A file that is missing has no line; help by its usual names.
$ nodewise map -t dgx-h100:1 -p app.patttern
! app.patttern: No such file or directory
? 3
$ nodewise help map | head -1; nodewise map -h | head -1; nodewise -h | head -1
Usage: nodewise map [OPTION...]
Usage: nodewise map [OPTION...]
Usage: nodewise COMMAND [OPTION...]

## Times and sizes with their units.
$ nodewise map -q -t "hwloc:package:1 core:4 pu:1" -p app.pattern --time 0.0001h -o m; nodewise map -q -t "hwloc:package:1 core:4 pu:1" -p app.pattern --time 5x -o m
! --time is a time such as 90s or 5m, not '5x'
? 2
$ nodewise pattern -q --generate stencil2d5:dims=2x1,bytes=64k --to list | head -1
0 1 64000
## The preload by a command: the library of the launcher's MPI, and the shell's variables, reach the ranks alone.
$ printf '#!/bin/sh\n[ "$1" = --version ] && echo "HYDRA build details:" && exit\necho "$@" | sed "s|[^ :=]*/lib|lib|"; exit 7\n' >mpiexec; chmod +x mpiexec; export NODEWISE_CHECK=1; nodewise reorder --report -t flat.yaml -p app.pattern --algorithm rashti -- ./mpiexec -n 2 ./app
-genv NODEWISE_REORDER report -genv NODEWISE_REORDER_TELL 1 -genv NODEWISE_TOPOLOGY flat.yaml -genv NODEWISE_PROFILE app.pattern -genv NODEWISE_ALGORITHM rashti -genv NODEWISE_CHECK 1 -genv LD_PRELOAD libnodewise-mpich.so -n 2 ./app
? 7
$ NODEWISE_REORDER=report nodewise reorder -- ./mpiexec -n 2 ./app; nodewise gpu-messages -- ./mpiexec -n 2 ./app; nodewise gpu-messages --force -- ./mpiexec -genv LD_PRELOAD libm.so -n 2 ./app
-genv NODEWISE_REORDER on -genv NODEWISE_REORDER_TELL 1 -genv LD_PRELOAD libnodewise-mpich.so -n 2 ./app
-genv NODEWISE_GPU_MESSAGES auto -genv LD_PRELOAD libnodewise-mpich.so -n 2 ./app
-genv NODEWISE_GPU_MESSAGES on -genv LD_PRELOAD libm.so:libnodewise-mpich.so -n 2 ./app
? 7
## srun ends a variable at a comma.
$ printf '#!/bin/sh\n[ "$1" = --version ] && echo "slurm 22.05" && exit\necho "$@" | sed "s|[^ :=]*/lib|lib|"; echo $NODEWISE_CART_WEIGHTS\n' >srun; chmod +x srun; NODEWISE_CART_WEIGHTS=1,2 nodewise reorder --mpi mpich -- ./srun -n 2 ./app
--export=ALL,NODEWISE_REORDER=on,NODEWISE_REORDER_TELL=1,NODEWISE_CART_WEIGHTS,LD_PRELOAD=libnodewise-mpich.so -n 2 ./app
1,2
$ nodewise reorder --mpi mpich -- ./srun -n2 --mpi pmi2 --export A ./app --export B; nodewise reorder --mpi mpich -- ./srun --new x --export A ./app
--export=A,NODEWISE_REORDER=on,NODEWISE_REORDER_TELL=1,LD_PRELOAD=libnodewise-mpich.so -n2 --mpi pmi2 ./app --export B

--export=A,NODEWISE_REORDER=on,NODEWISE_REORDER_TELL=1,LD_PRELOAD=libnodewise-mpich.so --new x ./app
$ LD_PRELOAD=one,two.so nodewise reorder --mpi mpich -- ./srun -n 2 ./app 2>err; echo $?; grep '^nodewise' err | cut -d: -f1-3
4
nodewise reorder: srun cannot pass a path with a comma in LD_PRELOAD: 'one,two.so
$ nodewise reorder; nodewise gpu-messages --mpi lam -- ./mpiexec ./app
! reorder: the program is missing ... nodewise reorder -- mpirun -n 8 ./app
! --mpi is openmpi, mpich or mpiabi, not 'lam'
? 2
$ nodewise reorder --report --force -- ./mpiexec ./app
! --report and --force exclude each other
? 2
$ nodewise reorder -- ./nothing-here
! which MPI './nothing-here' ... --mpi
? 4
$ nodewise gpu-messages -n 2 mpirun ./app
! invalid option
! put -- in front of 'mpirun'
? 2
## A cluster file to start from reads back as the machine that was asked for; its comments are examples.
$ nodewise topology --new nodes=4,sockets=2,cores=8,gpus=4,network=fat-tree:2:2 -o new.yaml; nodewise topology new.yaml --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(len(d["nodes"]), [n["name"] for n in d["nodes"]], len(d["network"]["switches"])); k=[v["kind"] for v in d["types"][0]["vertices"]]; print(*(k.count(w) for w in ("package", "core", "gpu", "nic")))'
4 ['n1', 'n2', 'n3', 'n4'] 4
2 16 4 1
$ sed 's/^\(    *\)# \(link: \|port: \|links: \|  - mesh\|    link: \|direct:\)/\1\2/;s/^    #   /      /;s/ *# .*//' new.yaml >filled.yaml; grep -c bandwidth filled.yaml; nodewise topology filled.yaml --route gpu0 gpu3 | tail -1
5
n1: gpu 0 - gpu 3 up  nvlink   50 GB/s  300 ns
$ for n in cores=4 nodes=2,cores=1,nics=0 nodes=8,cores=4,numa=2,threads=2,network=torus:2x2 nodes=6,cores=4,nics=2,sockets=2,network=dragonfly:3x2x1 nodes=16,cores=1,network=fat-tree:2:2:2:2 nodes=3,cores=1,gpus=1,sockets=4,network=switch; do nodewise topology --new $n -o x.yaml && nodewise topology x.yaml --distance 0 0; done
0
0
0
0
0
0
$ for n in node=4,cores=2 cores cores=0 cores=2,cores=3 nodes=2 cores=2,gpus=3,sockets=2 cores=2,network=fat-treee:2 cores=2,nodes=4,network=fat-tree:2 cores=2,nodes=4,network=torus:3x1 cores=2,nodes=4,network=dragonfly:2x2 cores=2,nodes=4,network=fat-tree:1:999999999 '' cores=99999999999999999999; do nodewise topology --new "$n" -o none.yaml 2>&1; echo $?; done; ls none.yaml 2>/dev/null
~ --new ... 'node' ... did you mean 'nodes'?
2
~ 'cores' needs a value
2
~ cores is a number from 1 to 4096, not '0'
2
~ 'cores' occurs twice
2
~ --new needs cores=N
2
~ gpus=3 ... 2 sockets
2
~ 'fat-treee:2' ... did you mean 'fat-tree'?
2
~ fat-tree:NODES:UP ... '2'
2
~ divides 4 nodes ... '3x1'
2
~ divides 4 nodes ... '2x2'
2
~ --new
3
~ unknown key ''
2
~ cores is a number
2
? 2
$ nodewise topology --new cores=2 --json; nodewise topology --new cores=2 live
! --json ... --new
! --new reads no machine
? 2
## A missing file has no line; times and sizes have units; help has its command; a benchmark names the command that runs it.
$ nodewise pattern missing.pattern 2>err; echo $?; cat err
3
missing.pattern: No such file or directory
$ nodewise pattern --generate stencil2d5:dims=2x2,bytes=64k -q -o kilo.pattern; sed -n '$p' kilo.pattern; nodewise map -t magc-a -p kilo.pattern --time 0.1s -q -o kilo.mapping; nodewise map -t magc-a -p kilo.pattern --time soon 2>&1 | sed -n 1p
3 2 hh 64000 1
~ --time ... 90s or 5m ... 'soon'
$ for w in help -h --help; do nodewise $w | sed -n 1p; done; nodewise help map | sed -n 1p; nodewise bench pattern --help | sed -n 1p
Usage: nodewise COMMAND [OPTION...]
Usage: nodewise COMMAND [OPTION...]
Usage: nodewise COMMAND [OPTION...]
Usage: nodewise map [OPTION...]
Usage: nodewise bench pattern [OPTION...]
## One number: the same mapping has the same gain in every command, in time per exchange.
$ cat >eight.yaml <<'END'
> nodewise: cluster 1
> name: eight
> node_types:
>   t: {cpu: {synthetic: "package:1 core:2 pu:1"}}
> nodes:
>   - {name: "n[1-8]", type: t, switch: s}
> network:
>   tree: {switch: s}
> END
$ nodewise pattern -q --generate stencil2d5:dims=4x4,weights=9:1 -o grid.pattern; nodewise map -t eight.yaml -p grid.pattern -o grid.mapping >said.map; nodewise evaluate -t eight.yaml -p grid.pattern grid.mapping >said.evaluate; nodewise report -t eight.yaml -p grid.pattern grid.mapping -o grid.html >said.report; grep -ho 'Predicted: [0-9.]* % less communication time' said.* | sort | uniq -c | sed 's/^ *//; s/[0-9.]* %/X %/'; grep -c "$(grep -o 'Predicted: [0-9.]* % less' said.map)" grid.html
3 Predicted: X % less communication time
1
$ for c in map evaluate report; do grep -h '^communication of one exchange' said.$c; done | uniq | wc -l
1
## So say simulate and run, and report without a mapping.
$ printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' >mpirun; printf '# libmpi.so.40\n' >app; chmod +x mpirun app; { nodewise simulate --estimate -t eight.yaml -p grid.pattern grid.mapping; nodewise run --store store --dry-run -t eight.yaml -p grid.pattern --hosts 'n[1-8]:2' --launcher ./mpirun -- ./app 2>&1; nodewise report --simulate never -t eight.yaml -p grid.pattern -o own.html; } >said.more; grep -c "$(grep '^communication' said.map)" said.more; grep -c "$(grep '^Predicted' said.map)" said.more
3
3
## Hosts in an order of their own: the default fills them in this order, in every command, also if
## a batch job names them. A mapping on other nodes than the job's is compared on the whole machine.
$ printf 'n8\nn1\nn5\nn2\nn7\nn3\nn6\nn4\n' >shuffled; head() { grep -h '^communication of one exchange' "$@" | uniq | wc -l; }; cat >eight2.yaml <<'END'
> nodewise: cluster 1
> name: eight2
> node_types:
>   t: {cpu: {synthetic: "package:1 core:2 pu:1"}}
> nodes:
>   - {name: "n[1-4]", type: t, switch: a}
>   - {name: "n[5-8]", type: t, switch: b}
> network:
>   tree: {switch: top, switches: [{switch: a}, {switch: b}]}
> END
> nodewise map -t eight2.yaml -p grid.pattern --hostfile shuffled -o far.mapping >said.map
> for c in evaluate 'simulate --estimate' 'report --simulate never --json'; do nodewise $c -t eight2.yaml -p grid.pattern --hostfile shuffled far.mapping; done >said.far
> grep -c "$(grep -o '^communication .*' said.map)" said.far; python3 -c 'import re; f = lambda n: float(re.search("([0-9.]+) % less", open(n).read()).group(1)); g = re.findall("\"percent_less\": ([0-9.]+)", open("said.far").read()); print(abs(f("said.map") - float(g[-1])) < 0.1)'
> PBS_NODEFILE=shuffled nodewise evaluate -t eight2.yaml -p grid.pattern far.mapping 2>said.note | grep -c "$(grep -o '^communication .*' said.map)"; nodewise evaluate -t eight2.yaml -p grid.pattern far.mapping | grep -c "$(grep -o '^communication .*' said.map)"; SLURM_JOB_NODELIST='n[1-2]' nodewise evaluate -t eight2.yaml -p grid.pattern far.mapping 2>&1 | grep -c 'outside this job'
2
True
1
0
1
## A mapping of some hosts is worse than a default on others: a note names the option.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' >near.pattern; nodewise map -q -t eight2.yaml -p near.pattern --hosts n1:1,n8:1 -o wide.mapping; for c in evaluate 'simulate --estimate' 'report --simulate never -o wide.html'; do nodewise $c -t eight2.yaml -p near.pattern wide.mapping 2>&1 >said | grep -o 'note: .* wide.mapping'; grep -c ' more communication' said; nodewise $c -t eight2.yaml -p near.pattern --hosts n1:1,n8:1 wide.mapping >said; done
note: the default uses other nodes than wide.mapping
1
note: the default uses other nodes than wide.mapping
1
note: the default uses other nodes than wide.mapping
1
$ nodewise simulate -t eight2.yaml -p grid.pattern --hosts n1 --hostfile shuffled far.mapping
! --hosts and --hostfile exclude
? 2
## No gain says why.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 100 1\n' >pair.pattern; nodewise map -t "hwloc:package:1 l3:2 core:4 pu:1" -p pair.pattern -o pair.mapping | grep gain
No gain possible here: all ranks share one cache.
## Pairs in two caches do not share one; a single rank has no partner; empty messages are messages.
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 1 hh 9 1\n2 3 hh 9 1\n' >caches.pattern; nodewise map -t "hwloc:package:1 l3:2 core:2 pu:1" -p caches.pattern -o caches.mapping | grep gain
No gain: the default placement already keeps every message inside a cache.
$ printf 'nodewise pattern 1\nranks 1 edges 1\n0 0 hh 9 1\n' >single.pattern; nodewise map -t "hwloc:package:1 core:2 pu:1" -p single.pattern -o single.mapping | grep gain
No gain possible here: there is only one rank.
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 1 hh 0 1\n1 2 hh 0 1\n' >zero.pattern; nodewise map -t hierarchy:2:2@1:10 -p zero.pattern -o zero.mapping | grep gain
No gain: the messages between ranks carry no bytes.
$ nodewise map -t hierarchy:2:2@0:10 -p pair.pattern -o zero.mapping | grep gain
No gain: the default placement is as good as this mapping.
## Ranks that share a core by default are as close as possible.
$ printf 'nodewise pattern 1\nranks 3 edges 1\n0 1 hh 9 1\n' >apart.pattern; printf 'nodewise mapping 1\nranks 3\n0 machine 0 -\n1 machine 1 -\n2 machine 1 -\n' >apart.mapping; nodewise map -q -t hierarchy:2@1 --capacity 2 -p apart.pattern | grep -c '^. machine'; nodewise map -t hierarchy:2@1 --capacity 2 -p apart.pattern -o near.mapping | grep gain; nodewise evaluate -t hierarchy:2@1 -p apart.pattern apart.mapping | grep -e 'gain' -e Pred
3
No gain: the default placement already keeps every message inside a core.
apart.mapping: Predicted: more hop-bytes (this machine states no bandwidths) than the default, which has none.
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 3 hh 9 1\n1 2 hh 7 1\n' >some.pattern; for t in hierarchy:8@1 hierarchy:8@0 'hwloc:package:1 core:8 pu:1'; do nodewise map -t "$t" -p some.pattern -o flat.mapping | grep gain; done; awk 'BEGIN {print "nodewise pattern 1\nranks 8 edges 56"; for (i = 0; i < 8; i++) for (k = 0; k < 8; k++) if (i != k) print i, k, "hh", 1000, 1}' >all.pattern; for t in 'hwloc:package:2 core:4 pu:1'; do nodewise map -t "$t" -p all.pattern -o all.mapping | grep gain; nodewise evaluate -t "$t" -p all.pattern all.mapping | grep -o 'No gain.*'; done
No gain: all cores are equally far from each other.
No gain: all cores are equally far from each other.
No gain: all cores are equally far from each other.
No gain: every rank sends the same to all others, so their order does not matter.
No gain: every rank sends the same to all others, so their order does not matter.
## A ring whose ranks also send to themselves has as many edges as an exchange of all with all.
$ printf 'nodewise pattern 1\nranks 3 edges 6\n0 0 hh 9 1\n0 1 hh 9 1\n1 1 hh 9 1\n1 2 hh 9 1\n2 0 hh 9 1\n2 2 hh 9 1\n' > self.pattern
$ nodewise map -t hierarchy:3@1 -p self.pattern -o self.mapping 2>&1 | grep gain
No gain: all cores are equally far from each other.
## A mapping outside the allocation is refused, with the node that is missing; a program is a placeholder.
$ SLURM_JOB_NODELIST='n[5-8]' nodewise launch -t eight.yaml grid.mapping --for openmpi4 -o no -- ./app; ls no.* 2>/dev/null | wc -l
0
! grid.mapping ... rank ... not among the 4 hosts of this job
$ mkdir four; printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' >four/mpirun; chmod +x four/mpirun; nodewise launch -q -t eight.yaml grid.mapping --for openmpi4 -o yes; PATH=$PWD/four:$PATH nodewise launch -q -t eight.yaml grid.mapping --for openmpi -o yes
mpirun -rf yes.rankfile PROGRAM
mpirun -rf yes.rankfile PROGRAM
$ SLURM_JOB_NODELIST='x[5-8]' nodewise launch -t eight.yaml grid.mapping --for openmpi4 -o other -- ./app
mpirun -rf other.rankfile ./app
! warning ... eight has no host of this job (SLURM_JOB_NODELIST: x[5-8]) ... n[1-8] ... --hosts
## A page on a terminal: the table, and how the page is written.
$ python3 -c 'import os; os.openpty()' 2>/dev/null || { echo SKIP no pseudo terminal; exit 77; }
> python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' nodewise report -t eight.yaml -p grid.pattern grid.mapping | tr -d '\r' >shown; sed -n 1p shown; grep -c html shown; grep 'Predicted: .* less communication time' shown | wc -l
nodewise report: -o report.html writes the page
1
1
## The search says how much is done, what is left, and that Ctrl-C keeps its best.
$ python3 -c 'import os; os.openpty()' 2>/dev/null || { echo SKIP no pseudo terminal; exit 77; }
> python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' nodewise map -t eight.yaml -p grid.pattern --time 3s --progress always -o long.mapping | tr '\r' '\n' | grep -c '^best so far: .*Ctrl-C keeps it.*[0-9] %, [0-9]* s left' | grep -vx 0 >/dev/null && echo drawn
drawn
