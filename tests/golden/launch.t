## Core 4 is the first of the second socket; the slots were tried with mpirun.
$ printf 'nodewise mapping 1\nranks 3\n0 machine 4 -\n1 machine 0-1,5 -\n2 machine 3 -\n' > app.mapping
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for openmpi4 app.mapping
rank 0=machine slot=1:0
rank 1=machine slot=0:0-1,1:1
rank 2=machine slot=0:3
! mpirun -rf nodewise.rankfile PROGRAM
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for openmpi4 -o app app.mapping -- ./app -n 100
mpirun -rf app.rankfile ./app -n 100
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for openmpi4 -- ./app app.mapping
? 2
! the mapping is missing ... MAPPING -- PROGRAM
$ cat app.rankfile
rank 0=machine slot=1:0
rank 1=machine slot=0:0-1,1:1
rank 2=machine slot=0:3
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" app.mapping --for openmpi5 -o v5 -- ./app "it's"
mpirun --hostfile v5.hostfile --map-by rankfile:file=v5.rankfile --bind-to core:overload-allowed ./app 'it'\''s'
$ cat v5.rankfile
rank 0=machine slot=4
rank 1=machine slot=0-1,5
rank 2=machine slot=3
$ cat v5.hostfile
machine slots=3

## Hydra counts as the operating system: here the sockets take turns.
$ nodewise launch -t "hwloc:package:2 core:4 pu:1(indexes=package:core)" --for mpich app.mapping
machine:3
! mpiexec -f nodewise.hostfile -n 3 -bind-to user:1,0+2+3,6 PROGRAM
$ nodewise launch -t "hwloc:package:2 core:4 pu:2" --elements pu --for openmpi4 --json app.mapping | sed -n '/command/,$p'
  "command": ["mpirun", "-rf", "nodewise.rankfile", "nodewise", "exec", "--elements=pu", "app.mapping", "--", "PROGRAM"],
  "exec": true,
  "notes": [
    "nodewise exec binds the ranks: a rankfile names whole cores, the mapping hardware threads"
  ]
}
! nodewise exec ... hardware threads
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for openmpi4 --exec always app.mapping 2>&1 >/dev/null
mpirun -rf nodewise.rankfile nodewise exec app.mapping -- PROGRAM

## Slurm's lists are by local task: alike on all nodes, or nodewise exec does
## it, or where that is forbidden a script that needs nothing of ours.
$ printf 'nodewise mapping 1\nranks 3\n0 machine 4 -\n1 machine 0-1 -\n2 machine 3 -\n' > app.mapping; nodewise launch -t "hwloc:package:2 core:4 pu:1" --for slurm -o app app.mapping -- ./app
SLURM_HOSTFILE=app.hosts srun -m arbitrary -n 3 --cpu-bind=mask_cpu:0x10,0x3,0x8 ./app
$ cat app.hosts
machine
machine
machine
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for slurm --exec always --memory prefer -o app app.mapping -- ./app
SLURM_HOSTFILE=app.hosts srun -m arbitrary -n 3 --cpu-bind=none nodewise exec --memory=prefer app.mapping -- ./app
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for script -o app app.mapping -- ./app -n 1
./app.sh ./app -n 1
! app.hosts ... launcher
$ grep '^[0-9]' app.sh; test -x app.sh
0) node='machine' rank=0 cpus=4 ;;
1) node='machine' rank=1 cpus=0,1 ;;
2) node='machine' rank=2 cpus=3 ;;
$ nodewise launch --list | cut -d' ' -f1 | head -3
openmpi4
openmpi5
mpich

## Under Slurm every rank sees all GPUs of its node, or CUDA IPC between ranks fails; nodewise exec selects its own.
$ printf 'nodewise: cluster 1\nname: one\nnode_types:\n  t:\n    cpu: {synthetic: "package:1 core:2 pu:1"}\n    devices: [{package: 0, parts: [{gpu: 4}]}]\nnodes: [{name: n1, type: t, switch: s}]\nnetwork: {tree: {switch: s}}\n' > gpus.yaml; printf 'nodewise mapping 1\nranks 2\n0 n1 0 1\n1 n1 1 2\n' > gpus.mapping; for f in slurm slurm22; do nodewise launch -t gpus.yaml --for $f -o gpus gpus.mapping -- ./app; done
SLURM_HOSTFILE=gpus.hosts srun -m arbitrary -n 2 --cpu-bind=none --gpu-bind=mask:0xf nodewise exec gpus.mapping -- ./app
SLURM_HOSTFILE=gpus.hosts srun -m arbitrary -n 2 --cpu-bind=none --gpu-bind=mask_gpu:0xf nodewise exec gpus.mapping -- ./app
! nodewise exec ... GPUs ... CUDA IPC
! --gpus-per-node
! nodewise exec ... GPUs ... CUDA IPC
! --gpus-per-node

## Only the hosts: no binding, no GPUs, no nodewise exec.
$ for f in openmpi4 openmpi5 mpich mpich41 intel mvapich slurm flux torchrun script; do nodewise launch -q -t gpus.yaml --for $f --place-only -o place gpus.mapping -- ./app; done; cat place.hosts; grep -c 'taskset\|CUDA' place.sh
mpirun --hostfile place.hosts --map-by seq --bind-to none ./app
mpirun --hostfile place.hosts --map-by seq --bind-to none ./app
mpiexec -f place.hostfile -n 2 -bind-to none ./app
mpiexec -f place.hostfile -n 2 -rankmap '(vector,(0,1,2))' -bind-to none ./app
mpirun -machinefile place.machinefile -genv I_MPI_PIN off -n 2 ./app
mpirun_rsh -np 2 -hostfile place.hosts MV2_ENABLE_AFFINITY=0 ./app
SLURM_HOSTFILE=place.hosts srun -m arbitrary -n 2 --cpu-bind=none ./app
flux run --exclusive -N 1 -n 2 --taskmap=hostfile:place.hosts -o cpu-affinity=off ./app
./place.sh ./app
./place.sh ./app
n1
n1
0
? 1
$ nodewise launch -t gpus.yaml --for mpi-operator --place-only gpus.mapping
! --place-only ... rankfile
? 4
$ nodewise launch -t gpus.yaml --for slurm --place-only --exec always gpus.mapping
! --place-only ... --exec
? 2

## Ranks of several cores each: OpenMP gets a thread for each core; what the user has set stays.
$ printf 'nodewise mapping 1\nranks 2\n0 machine 0-2 -\n1 machine 4-6 -\n' > wide.mapping; wide() { nodewise launch -q -t "hwloc:package:2 core:4 pu:1" -o wide wide.mapping "$@" -- ./app; }; for f in openmpi4 mpich slurm mvapich; do wide --for $f; done; wide --for slurm --place-only
mpirun -rf wide.rankfile -x OMP_NUM_THREADS=3 -x OMP_PLACES=cores -x OMP_PROC_BIND=close ./app
OMP_NUM_THREADS=3 OMP_PLACES=cores OMP_PROC_BIND=close mpiexec -f wide.hostfile -n 2 -bind-to user:0+1+2,4+5+6 ./app
SLURM_HOSTFILE=wide.hosts OMP_NUM_THREADS=3 OMP_PLACES=cores OMP_PROC_BIND=close srun -m arbitrary -n 2 --cpu-bind=mask_cpu:0x7,0x70 ./app
mpirun_rsh -np 2 -hostfile wide.hosts MV2_ENABLE_AFFINITY=1 OMP_NUM_THREADS=3 OMP_PLACES=cores OMP_PROC_BIND=close MV2_CPU_MAPPING=0,1,2:4,5,6 ./app
SLURM_HOSTFILE=wide.hosts OMP_NUM_THREADS=3 srun -m arbitrary -n 2 --cpu-bind=none ./app
$ OMP_NUM_THREADS=2 nodewise launch -q -t "hwloc:package:2 core:4 pu:1" -o wide wide.mapping --for openmpi4 -- ./app; nodewise launch -q -t "hwloc:package:2 core:4 pu:2" --elements pu -o wide wide.mapping --for mpich -- ./app
mpirun -rf wide.rankfile -x OMP_PLACES=cores -x OMP_PROC_BIND=close ./app
OMP_NUM_THREADS=3 OMP_PLACES=threads OMP_PROC_BIND=close mpiexec -f wide.hostfile -n 2 -bind-to user:0+1+2,4+5+6 ./app
$ for f in torchrun deepspeed script; do nodewise launch -q -t "hwloc:package:2 core:4 pu:1" -o wide wide.mapping --for $f -- ./app; grep -c 'export OMP_[A-Z_]*=' wide.sh; done; mkdir tools; printf '#!/bin/sh\nshift 2; exec "$@"\n' >tools/taskset; printf '#!/bin/sh\necho machine\n' >tools/uname; chmod +x tools/*; env -u OMP_NUM_THREADS -u OMP_PLACES PATH=$PWD/tools:$PATH PMI_RANK=0 OMP_PROC_BIND=spread ./wide.sh env | grep ^OMP_ | sort
./wide.sh ./app
3
deepspeed --hostfile=wide.hostfile --no_python --no_local_rank ./wide.sh ./app
3
./wide.sh ./app
3
OMP_NUM_THREADS=3
OMP_PLACES=cores
OMP_PROC_BIND=spread

## What cannot be.
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for bproc app.mapping
! launcher ... 'bproc'
? 2
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" app.mapping 2>/dev/null
? 2
$ nodewise launch -t "hwloc:package:2 core:2 pu:1" --for openmpi4 -o no app.mapping
! app.mapping:3 ... core 4 ... cores
? 3
$ printf 'nodewise mapping 1\nranks 2\n0 machine 0 -\n1 elsewhere 0 -\n' > lost.mapping
$ nodewise launch -t "hwloc:package:2 core:2 pu:1" --for openmpi4 -o no lost.mapping
! lost.mapping:4 ... 'elsewhere' ... topology ... hwloc:package:2 ... core:2 ... pu:1
? 3
$ printf 'nodewise mapping 1\nranks 2\n0 machine 0 -\n1 * * -\n' > open.mapping
$ nodewise launch -t "hwloc:package:2 core:2 pu:1" --for openmpi4 -o no open.mapping
! open.mapping ... node ... rank 1 ... '*'
? 3
$ nodewise launch -t "hwloc:package:2 core:2 pu:1" --for openmpi4 -o no missing.mapping
! missing.mapping ... No such file or directory
? 3
$ ls no.* 2>/dev/null | wc -l
0
$ nodewise launch -t "hwloc:package:2 core:4 pu:1" --for openmpi4 -o /nowhere/app app.mapping
! /nowhere/app.rankfile ... No such file or directory
? 1

## The job that is there must hold the mapping: Slurm's allocation where it is of
## this machine, or the hosts given. Nothing is written otherwise.
$ printf 'nodewise: cluster 1\nname: four\nnode_types:\n  t:\n    cpu: {synthetic: "package:1 core:2 pu:1"}\nnodes:\n  - {name: "n[1-4]", type: t, switch: s}\nnetwork:\n  tree: {switch: s}\n' > four.yaml
$ printf 'nodewise mapping 1\nranks 4\n0 n1 0 -\n1 n1 1 -\n2 n4 0 -\n3 n2 0 -\n' > four.mapping
$ SLURM_JOB_NODELIST='n[1-3]' nodewise launch -t four.yaml four.mapping --for slurm -o no
! four.mapping:5 ... rank 2 ... 'n4' ... 3 hosts
? 3
$ SLURM_JOB_NODELIST='n[1-4],n9' nodewise launch -t four.yaml four.mapping --for slurm -o no
! SLURM_JOB_NODELIST ... four ... 'n9'
? 3
$ SLURM_JOB_NODELIST='n[1-4]' SLURM_JOB_CPUS_PER_NODE='1(x4)' nodewise launch -t four.yaml four.mapping --for openmpi4 -o no
! four.mapping:4 ... rank 1 ... many ... 'n1'
? 3
$ printf 'n1\nn7\n' > hosts; nodewise launch -t four.yaml four.mapping --for mpich --hostfile hosts -o no
! hosts:2 ... four ... 'n7'
? 3
$ ls no.* 2>/dev/null | wc -l
0
$ SLURM_JOB_NODELIST='n[1-3]' nodewise launch -t four.yaml four.mapping --for mpich --hosts n1:2,n2,n4:1 -q
n1:2
n4:1
n2:1
$ SLURM_JOB_NODELIST='x[1-3]' nodewise launch -t four.yaml four.mapping --for mpich -q | head -1
n1:2
! nodewise launch: warning ... four has no host ... SLURM_JOB_NODELIST: x[1-3] ... n[1-4] ... --hosts
$ printf 'nodewise pattern 1\nranks 6 edges 1\n0 1 hh 5 1\n' > six.pattern; SLURM_JOB_NODELIST='n[1-4]' SLURM_JOB_CPUS_PER_NODE='1(x4)' nodewise map -q -t four.yaml -p six.pattern
! four.yaml:1 ... 6 ranks ... 4 hosts ... more slots
? 3

## MPICH to 4.0 shares memory within a run of ranks: scattered ranks exchange places, and the file says how.
$ printf 'nodewise mapping 1\nranks 4\n0 n2 0 -\n1 n1 0 -\n2 n2 1 -\n3 n1 1 -\n' >apart.mapping; nodewise launch -t four.yaml apart.mapping --for mpich -o apart -- ./app; cat apart.hostfile
mpiexec -f apart.hostfile -n 4 -bind-to none nodewise exec apart.mapping -- ./app
n2:1
n1:1
n2:1
n1:1
! nodewise exec binds the ranks
! --consecutive ... 'nodewise map --whole-nodes'
$ nodewise launch -t four.yaml apart.mapping --for mpich --consecutive -o apart -- ./app; cat apart.hostfile apart.slots
mpiexec -f apart.hostfile -n 4 -bind-to user:0,1 ./app
n2:2
n1:2
nodewise mapping 1
ranks 4
0 n2 0 - # rank 0
1 n2 1 - # rank 2
2 n1 0 - # rank 1
3 n1 1 - # rank 3
! 2 of 4 ranks exchange places
## Cray's processes are numbered by slots: their mapping is another file.
$ nodewise launch -q -t four.yaml apart.mapping --for cray --consecutive --exec always -o cray -- ./app | sed 's/.*\(exec .*\)/\1/'; grep rank cray.slots cray.processes
exec cray.processes -- ./app
cray.slots:ranks 4
cray.slots:0 n2 0 - # rank 0
cray.slots:1 n2 1 - # rank 2
cray.slots:2 n1 0 - # rank 1
cray.slots:3 n1 1 - # rank 3
cray.processes:ranks 4
cray.processes:0 n1 0 - # rank 2
cray.processes:1 n1 1 - # rank 3
cray.processes:2 n2 0 - # rank 0
cray.processes:3 n2 1 - # rank 1
## A mapping whose hosts have consecutive ranks stays as it is.
$ nodewise launch -q -t four.yaml apart.slots --for mpich --consecutive -o same -- ./app; ls same.*
mpiexec -f same.hostfile -n 4 -bind-to user:0,1 ./app
same.hostfile

## Hosts of one short name in two domains are two: scripts compare as nodewise exec does.
$ printf 'nodewise: cluster 1\nname: two\nnode_types:\n  t:\n    cpu: {synthetic: "package:1 core:2 pu:1"}\nnodes:\n  - {name: "n1.east,n1.west,n2", type: t, switch: s}\nnetwork:\n  tree: {switch: s}\n' > two.yaml
$ printf 'nodewise mapping 1\nranks 3\n0 n1.east 0 -\n1 n1.west 1 -\n2 n2 0 -\n' > two.mapping; mkdir fake; printf '#!/bin/sh\necho $HOST\n' > fake/uname; printf '#!/bin/sh\nshift; echo "$2"\n' > fake/torchrun; printf '#!/bin/sh\n[ "$3" = true ] || echo "bound to $2"\n' > fake/taskset; chmod +x fake/*
$ nodewise launch -t two.yaml two.mapping --for torchrun -o torch -q -- ./app; for h in n1.east n1.west n2 n2.far n1 n3; do HOST=$h PATH=$PWD/fake:$PATH ./torch.sh ./app; done
./torch.sh ./app
--node-rank=0
--node-rank=1
--node-rank=2
--node-rank=2
! torch.sh ... n1 ... mapping
! torch.sh ... n3 ... mapping
? 1
$ NODE_NAME=n9 ./torch.sh ./app
! torch.sh: n9 is not a node of the mapping; set NODE_NAME ... name of this node
? 1
$ nodewise launch -t two.yaml two.mapping --for script -o any -q -- ./app; for h in n1.east n1.west n1; do PMI_RANK=1 HOST=$h PATH=$PWD/fake:$PATH ./any.sh echo unbound; done; HOST=n9 SLURMD_NODENAME=n2 PMI_RANK=2 PATH=$PWD/fake:$PATH ./any.sh echo unbound
./any.sh ./app
unbound
bound to 1
bound to 1
bound to 0
! any.sh ... rank 1 ... n1.east ... mapping ... n1.west

## A script for 65,536 ranks in any order, of which every one is to know its node's others.
$ printf 'nodewise: cluster 1\nname: many\nnode_types:\n  t:\n    cpu: {synthetic: "package:1 core:64 pu:1"}\n    devices:\n      - {package: 0, parts: [{gpu: 8}]}\nnodes:\n  - {name: "n[0-1023]", type: t, switch: s}\nnetwork:\n  tree: {switch: s}\n' > many.yaml; awk 'BEGIN { print "nodewise mapping 1\nranks 65536"; for (r = 0; r < 65536; r++) { s = (r * 40503) % 65536; c = s % 64; print r, "n" int(s / 64), c, int(c / 8) } }' > many.mapping
$ if ldd $(command -v nodewise) | grep -q libasan; then echo SKIP sanitized; exit 77; fi; (ulimit -t 3; nodewise launch -t many.yaml many.mapping --for torchrun -o many -q -- ./app); grep '^[0-9]*)' many.sh | sed -n '1p;$p'
./many.sh ./app
0) node='n0' rank=0 cpus=0 gpus='0,1,3,5,7,6,2,4' first=0 local=0 ;;
65535) node='n298' rank=65530 cpus=54 gpus='0,2,4,3,7,5,1,6' first=6 local=63 ;;
## Names that a launcher would read as options, lists, slots or ports are refused.
$ for h in -x a:b ../x é n1.site-2_a; do printf 'nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 2}}}\nnodes: [{name: "%s", type: t, switch: s}]\nnetwork: {tree: {switch: s}}\n' "$h" > odd.yaml; printf 'nodewise mapping 1\nranks 1\n0 %s 0 -\n' "$h" > odd.mapping; nodewise launch -t odd.yaml odd.mapping --for openmpi4 -o odd -q -- ./app >>odd.lines; done; wc -l <odd.lines
1
! host '-x' ... a letter or digit
! host 'a:b' ... a letter or digit
! host '../x' ... a letter or digit
! host 'é' ... a letter or digit

## What is installed, or the batch system's launcher; the command by the name under which it was found. The files are
## written without -o, too, but not with -o - and not with JSON, which has them.
$ mkdir bin; printf '#!/bin/sh\necho "mpirun (Open MPI) 5.0.7"\n' >bin/mpirun.openmpi; printf '#!/bin/sh\necho "slurm 22.05.8"\n' >bin/srun; printf '#!/bin/sh\n# libmpi.so.40\n' >ompi; printf '#!/bin/sh\n# libmpich.so.12\n' >mpich; chmod +x bin/* ompi mpich; printf 'nodewise mapping 1\nranks 2\n0 n1 0 -\n1 n2 1 -\n' >two.mapping; for f in auto openmpi; do PATH="$PWD/bin:${PATH%%:*}" nodewise launch -t four.yaml --for $f -o two two.mapping -- ./ompi; done
mpirun.openmpi --hostfile two.hostfile --map-by rankfile:file=two.rankfile --bind-to core:overload-allowed ./ompi
mpirun.openmpi --hostfile two.hostfile --map-by rankfile:file=two.rankfile --bind-to core:overload-allowed ./ompi
$ for p in ./ompi ./mpich ./app; do SLURM_JOB_ID=1 SLURM_JOB_NODELIST='n[1-4]' PATH="$PWD/bin:$PATH" nodewise launch -t four.yaml --for auto -o two two.mapping -- $p; done; nodewise launch -t four.yaml --for slurm --mpi=none -o two two.mapping -- ./mpich
SLURM_HOSTFILE=two.hosts srun --mpi=pmix -m arbitrary -n 2 --cpu-bind=none nodewise exec two.mapping -- ./ompi
SLURM_HOSTFILE=two.hosts srun --mpi=pmi2 -m arbitrary -n 2 --cpu-bind=none nodewise exec two.mapping -- ./mpich
SLURM_HOSTFILE=two.hosts srun -m arbitrary -n 2 --cpu-bind=none nodewise exec two.mapping -- ./app
SLURM_HOSTFILE=two.hosts srun --mpi=none -m arbitrary -n 2 --cpu-bind=none nodewise exec two.mapping -- ./mpich
! nodewise exec binds
! nodewise exec binds
! nodewise exec binds
! nodewise exec binds
$ PATH="${PATH%%:*}" nodewise launch -t four.yaml --for auto two.mapping
! --for auto ... no such launcher ... --list
? 4
$ mkdir empty; cd empty; nodewise launch -q -t ../four.yaml --for mpich ../two.mapping 2>/dev/null >shown; cmp shown nodewise.hostfile; rm *; nodewise launch -q -t ../four.yaml --for mpich -o - ../two.mapping 2>/dev/null >/dev/null; nodewise launch -q -t ../four.yaml --for mpich --json ../two.mapping >/dev/null; ls

## Without CPU numbers there is nothing to bind to, and nothing is said.
$ printf '0 1 8\n' > pair.list && nodewise map -q -t hierarchy:1:2 -p list:pair.list -o pair.mapping && nodewise launch -q -t hierarchy:1:2 pair.mapping --for script -o pair -- x >/dev/null && SLURMD_NODENAME=machine PMI_RANK=1 ./pair.sh echo runs 2>&1
runs
## A restart begins where a hostfile or a rankfile had the ranks. Core 1:2 of two
## packages of 12 cores is core 14; only the lost node's rank 0 moves.
$ printf 'nodewise pattern 1\nranks 4 edges 3\n0 1 hh 9 1\n1 2 hh 9 1\n2 3 hh 9 1\n' >chain.pattern; printf 'a1\na2 slots=2\na3:1\n' >old.hosts; nodewise map -qt magc-a -p chain.pattern --from old.hosts --without a1 --move-cost 1 -o new.mapping && sed 1,3d new.mapping
1 a2 0 -
2 a2 12 -
3 a3 0 -
$ printf 'rank 1=a2 slot=0:1\nrank 0=a1 slot=9\nrank 3=a3 slot=1:2\nrank 2=a2 slot=1:0\n' >old.rankfile; nodewise map -qt magc-a -p chain.pattern --from old.rankfile --without a1 --move-cost 1 -o new.mapping && sed 1,3d new.mapping
1 a2 1 -
2 a2 12 -
3 a3 14 -
$ printf 'a1\na9\n' >old.hosts; nodewise map -qt magc-a -p chain.pattern --from old.hosts
! old.hosts:2: node 'a9' is not in the topology
? 3

## Options without effect are refused. The files are all written, or none.
$ nodewise launch -t four.yaml --for slurm --mpi= -o no two.mapping -- ./app
! --mpi names no type
? 2
$ for o in '--for cray --mpi=pmix' '--for openmpi --mpi=pmix' '--for mpich --exec=never --memory=leave' '--for mpich --place-only --memory=leave' '--for mpich --place-only --gpu-visibility=permuted'; do nodewise launch -t four.yaml $o -o no two.mapping; echo $?; done; echo no.*
2
2
2
2
2
no.*
! --mpi ... slurm22 ... cray
! --mpi ... slurm22 ... openmpi
! --memory ... --exec=never
! --memory ... --place-only
! --gpu-visibility ... --place-only
$ mkdir no.hostfile; nodewise launch -t four.yaml --for openmpi5 -o no two.mapping; echo $?; ls -d no.*
1
no.hostfile
! no.hostfile: is a directory
$ nodewise launch -t four.yaml --for openmpi5 -o a:b two.mapping >/dev/null
! Open MPI 5.0 ... ':' ... a:b.rankfile
$ mkdir ./-d; nodewise launch -q -t four.yaml --for slurm-torch -o -d/x two.mapping
SLURM_HOSTFILE=-d/x.hosts srun -m arbitrary -n 2 --cpu-bind=none ./-d/x.sh PROGRAM
