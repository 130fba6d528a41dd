## One rank, as a launcher would start it, on this machine's first core.
$ unset OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID; printf 'nodewise mapping 1\nranks 2\n0 %s 0 0\n1 %s 0 3,1\n' $(hostname) $(hostname) > app.mapping
$ PMI_RANK=1 nodewise exec app.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER'
3,1 PCI_BUS_ID
$ OMPI_COMM_WORLD_RANK=0 nodewise exec app.mapping sh -c 'echo "$CUDA_VISIBLE_DEVICES" "$@"' sh --help -n 3
0 --help -n 3
$ OMPI_COMM_WORLD_RANK=0 nodewise exec app.mapping -- sh -c 'grep Cpus_allowed_list /proc/self/status | wc -w; exit 7'
2
? 7
## The user's program runs whatever is wrong with its place.
$ printf 'nodewise mapping 1\nranks 2\n0 elsewhere 0 0\n1 %s 9999 0\n' $(hostname) > bad.mapping
$ PMI_RANK=0 nodewise exec bad.mapping -- sh -c 'echo ran ${CUDA_VISIBLE_DEVICES-unset}' 2>err; sed "s/$(hostname)/here/" err
ran unset
~ rank 0 ... elsewhere ... GPUs
$ PMI_RANK=1 nodewise exec bad.mapping -- sh -c 'echo ran $CUDA_VISIBLE_DEVICES' 2>err; sed 's/0 to .*/0 to N/' err
ran 0
~ rank 1 ... core 9999 ... process
$ PMI_RANK=1 nodewise exec --strict bad.mapping -- echo ran 2>/dev/null
? 1
$ PMI_RANK=0 PMI_SIZE=4 nodewise exec bad.mapping -- echo ran
ran
! rank 0 ... 4 ranks ... mapping ... 2
$ PMI_RANK=5 nodewise exec bad.mapping -- echo ran
ran
! rank 5 ... mapping
$ nodewise exec app.mapping -- echo ran
! launcher ... OMPI_COMM_WORLD_RANK ... PMI_RANK ... PMIX_RANK ... SLURM_PROCID
? 4
$ PMI_RANK=0 nodewise exec app.mapping -- /no/such/program
! '/no/such/program' ... No such file or directory
? 127
## The exit status does not depend on whether the message can be written.
$ for file in /nowhere .; do PMI_RANK=0 nodewise exec app.mapping -- $file 2>/dev/full; echo $?; nodewise profile -q --nccl -o none.pattern -- $file 2>/dev/full; echo $?; done
127
127
126
126
$ PMI_RANK=0 nodewise exec missing.mapping -- echo ran
! missing.mapping ... No such file or directory
? 3
$ PMI_RANK=0 nodewise exec app.mapping 2>/dev/null
? 2

## The rank of whatever launcher, the inner one of two.
$ for v in OMPI_COMM_WORLD_RANK MV2_COMM_WORLD_RANK MPIRUN_RANK PMI_RANK PMI_ID PMIX_RANK PALS_RANKID ALPS_APP_PE FLUX_TASK_RANK JSM_NAMESPACE_RANK SLURM_PROCID; do env $v=1 nodewise exec app.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES' | grep -qx 3,1 || echo $v; done
## The script of `launch --for script` finds the rank in the same variables.
$ printf 'nodewise mapping 1\nranks 1\n0 %s 0 -\n' $(hostname) > script.mapping; nodewise launch -q -t live script.mapping --for script -o app -- true; for v in OMPI_COMM_WORLD_RANK MV2_COMM_WORLD_RANK MPIRUN_RANK PMI_RANK PMI_ID PMIX_RANK PALS_RANKID ALPS_APP_PE FLUX_TASK_RANK JSM_NAMESPACE_RANK SLURM_PROCID; do env $v=77 ./app.sh true 2>&1 | grep -qF "no place for rank '77'" || echo $v; done
./app.sh true
$ for v in SLURM_PROCID=0 TORCHELASTIC_RUN_ID=x WORLD_SIZE=2; do env SLURM_PROCID= $v RANK=78 ./app.sh true 2>&1 | grep -o "rank '78'"; done
rank '78'
rank '78'
$ export TORCHELASTIC_RUN_ID= RANK=79 OMPI_COMM_WORLD_RANK=78; ./app.sh true 2>&1 | grep -o "rank '7.'"; nodewise exec script.mapping -- true 2>&1 | grep -o 'rank 7.' | sort -u
rank '78'
rank 78
$ SLURM_PROCID=0 SLURM_NTASKS=2 TORCHELASTIC_RUN_ID=x RANK=1 WORLD_SIZE=2 nodewise exec app.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
3,1
$ SLURM_PROCID=0 RANK=1 nodewise exec app.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
0
## ROCm counts twice: HIP's numbers are of what ROCR_VISIBLE_DEVICES leaves.
$ PMI_RANK=1 GPU_DEVICE_ORDINAL=2 nodewise exec app.mapping -- sh -c 'echo $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES $ZE_AFFINITY_MASK ${GPU_DEVICE_ORDINAL-unset}'
3,1 0,1 3,1 unset
## A rank that the mapping does not have.
$ OMPI_COMM_WORLD_RANK=33 nodewise exec app.mapping -- echo ran
ran
! rank 33: the mapping is for 2 ranks ... not bound
## Memory follows the cores; a kernel that forbids it is no reason to stop.
$ python3 -c 'import ctypes,sys; m=ctypes.c_ulong(1); sys.exit(ctypes.CDLL(None).syscall(238,2,ctypes.byref(m),64)!=0)' || { echo "SKIP set_mempolicy is not allowed here"; exit 77; }; PMI_RANK=0 nodewise exec app.mapping -- sh -c 'grep -qE " bind(=static)?:" /proc/self/numa_maps && echo bound'
bound
$ PMI_RANK=0 nodewise exec --memory=leave app.mapping -- sh -c 'grep -cE " bind:" /proc/self/numa_maps'
0
? 1
$ PMI_RANK=0 nodewise exec --memory=most app.mapping -- echo ran
! --memory ... 'most'
? 2
## A card that is not here.
$ printf 'nodewise mapping 1\nranks 1\n0 %s 0 - 99\n' $(hostname) > card.mapping; PMI_RANK=0 nodewise exec card.mapping -- echo ran 2>err; sed 's/has .*/has N/' err
ran
~ rank 0 ... network ... card 99
## In a large file a rank looks up its line.
$ (echo nodewise mapping 1; echo ranks 20000; seq 0 19998 | sed 's/$/ far 0 -/'; echo 19999 $(hostname) 0 2) > large.mapping; PMI_RANK=19999 PMI_SIZE=20000 nodewise exec large.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
2
$ PMI_RANK=7 nodewise exec large.mapping -- true 2>&1 | sed "s/$(hostname)/here/"
~ rank 7 ... mapping ... GPUs
$ PMI_RANK=20000 nodewise exec large.mapping -- true
! rank 20000 ... mapping
## Damage: a line that is none, and an end too early.
$ sed 's/^7 far/7 far x/' large.mapping > damaged.mapping; PMI_RANK=7 nodewise exec damaged.mapping -- echo ran
! damaged.mapping:10 ... 'x' ... number
? 3
$ head -c 200000 large.mapping > cut.mapping; PMI_RANK=19000 nodewise exec cut.mapping -- echo ran 2>/dev/null
? 3
$ sed 's/^1 .*/1 here zero -/' app.mapping > small.mapping; PMI_RANK=0 nodewise exec small.mapping -- echo ran
! small.mapping:4 ... 'zero' ... number
? 3
## It loads libc and libm and nothing else
$ nodewise=$(command -v nodewise); LD_TRACE_LOADED_OBJECTS=1 "$nodewise" | grep -q lib.san && { echo SKIP a sanitizer is linked; exit 77; }
> printf 'nodewise mapping 1\nranks 1\n0 %s 0 -\n' $(hostname) > one.mapping; PMI_RANK=0 LD_DEBUG=files nodewise exec one.mapping -- true 2>&1 | sed -n 's/.*file=\([^ ]*\) \[0\];  \(needed\|dynamically loaded\) by [^ ]*nodewise .*/\1/p' | sort -u
libc.so.6
libm.so.6
$ sed 's/^1 .*/1 here -7 -/' app.mapping > small.mapping; PMI_RANK=0 nodewise exec small.mapping -- echo ran
! small.mapping:4 ... '-7' ... number
? 3
## An empty variable tells no rank: the next that tells one is asked; a word that is no rank is refused.
$ printf 'nodewise mapping 1\nranks 2\n0 %s 0 -\n1 elsewhere 0 -\n' $(hostname) >empty.mapping
$ unset PMI_RANK; OMPI_COMM_WORLD_RANK= SLURM_PROCID=0 nodewise exec empty.mapping -- echo ran
ran
$ OMPI_COMM_WORLD_RANK=1x SLURM_PROCID=0 nodewise exec empty.mapping -- echo ran
! OMPI_COMM_WORLD_RANK ... '1x' ... rank
? 2
## GPUs that a batch system has left the job: the mapping chooses among those, by the node's numbers where
## all that it uses on the node are there, else by their places in the list.
$ printf 'nodewise mapping 1\nranks 4\n0 %s 0 0\n1 %s 0 1\n2 %s 0 -\n3 far 0 7\n' $(hostname) $(hostname) $(hostname) >granted.mapping
$ for l in 0,1 4,5 1,0,2 1,3 GPU-a,GPU-b; do for r in 0 1 2; do PMI_RANK=$r CUDA_VISIBLE_DEVICES=$l nodewise exec granted.mapping -- sh -c 'echo "$CUDA_VISIBLE_DEVICES;$ROCR_VISIBLE_DEVICES;$HIP_VISIBLE_DEVICES"'; done | tr '\n' ' '; echo; done
0;0;0 1;1;0 ;; 
4;4;0 5;5;0 ;; 
0;0;0 1;1;0 ;; 
1;1;0 3;3;0 ;; 
GPU-a;GPU-a;0 GPU-b;GPU-b;0 ;; 
$ printf 'nodewise mapping 1\nranks 2\n0 %s 0 5\n1 %s 0 4,5\n' $(hostname) $(hostname) >late.mapping; for l in 4,5 2,4,5,6,0,1; do for r in 0 1; do PMI_RANK=$r ROCR_VISIBLE_DEVICES=$l nodewise exec late.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES'; done | tr '\n' ' '; done
5 4,5 5 4,5 
$ PMI_RANK=1 ZE_AFFINITY_MASK=0.1,1.0 nodewise exec granted.mapping -- sh -c 'echo $ZE_AFFINITY_MASK'; PMI_RANK=1 CUDA_VISIBLE_DEVICES=4,5,7 nodewise exec --gpu-visibility=permuted granted.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES'
1.0
4,5,7
$ for l in 6 ''; do PMI_RANK=0 CUDA_VISIBLE_DEVICES=$l nodewise exec late.mapping -- sh -c 'echo "ran $CUDA_VISIBLE_DEVICES${ROCR_VISIBLE_DEVICES-, no more}"'; done; PMI_RANK=0 CUDA_VISIBLE_DEVICES=6 nodewise exec --strict late.mapping -- echo ran
! rank 0 ... CUDA_VISIBLE_DEVICES=6 ... 1 GPU ... mapping ... GPU 5
! rank 0 ... CUDA_VISIBLE_DEVICES= ... 0 GPUs ... mapping ... GPU 5
! rank 0 ... CUDA_VISIBLE_DEVICES=6 ... 1 GPU ... mapping ... GPU 5
ran 6, no more
ran , no more
? 1
## A list ends at the first word that is no GPU, as for CUDA: Slurm's NoDevFiles.
$ for l in NoDevFiles -1 4,-1,5 4,5,none; do PMI_RANK=1 CUDA_VISIBLE_DEVICES=$l nodewise exec granted.mapping -- sh -c 'echo "$CUDA_VISIBLE_DEVICES ${ROCR_VISIBLE_DEVICES-left}"'; done
NoDevFiles left
-1 left
4,-1,5 left
5 5
! rank 1 ... CUDA_VISIBLE_DEVICES=NoDevFiles ... 0 GPUs ... mapping ... GPU 0
! rank 1 ... CUDA_VISIBLE_DEVICES=-1 ... 0 GPUs ... mapping ... GPU 0
! rank 1 ... CUDA_VISIBLE_DEVICES=4,-1,5 ... 1 GPU ... mapping ... GPU 1
## The scripts that stand for nodewise exec choose as it does.
$ printf 'nodewise: cluster 1\nname: c\nnode_types:\n  fat:\n    cpu: {synthetic: "package:1 core:4 pu:1"}\n    devices: [{package: 0, parts: [{gpu: 4}]}]\nnodes:\n  - {name: %s, type: fat}\n' $(hostname) >c.yaml; awk -v h=$(hostname) 'BEGIN {print "nodewise mapping 1\nranks 4"; n = split("1 2 1,2 -", g); for (i = 0; i < n; i++) print i, h, i, g[i + 1]}' >four.mapping
> for v in one permuted; do nodewise launch -t c.yaml --gpu-visibility $v --for script -o app four.mapping -- x >/dev/null 2>&1; for l in 2,1 4,5,6 GPU-a,GPU-b,GPU-c '2, 0,1' 7 NoDevFiles 4,5,6,-1,7; do for r in 0 1 2 3; do for by in ./app.sh "nodewise exec -t c.yaml --gpu-visibility=$v four.mapping"; do PMI_RANK=$r CUDA_VISIBLE_DEVICES=$l $by sh -c 'echo "$CUDA_VISIBLE_DEVICES;$ROCR_VISIBLE_DEVICES;$HIP_VISIBLE_DEVICES;$ZE_AFFINITY_MASK"' 2>/dev/null; done | uniq | wc -l; done; done; done | sort | uniq -c | sed 's/ *//'
56 1
$ nodewise launch -t c.yaml --for script -o app four.mapping -- x >/dev/null 2>&1; for l in 4,5,6 0,2,1; do for r in 0 1 2 3; do PMI_RANK=$r ROCR_VISIBLE_DEVICES=$l ./app.sh sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"' 2>/dev/null; done | tr '\n' ' '; done; PMI_RANK=0 CUDA_VISIBLE_DEVICES=7 ./app.sh true 2>&1 | grep -v CPUs
[5] [6] [5,6] [] [1] [2] [1,2] [] app.sh: rank 0: CUDA_VISIBLE_DEVICES=7 does not have GPU 1, which the mapping uses on this node: left as it is
$ sed "s/^nodes:/    gpus: [{uuid: GPU-a}, {uuid: GPU-b}, {uuid: GPU-c}, {uuid: \"GPU'd\"}]\nnodes:/" c.yaml >u.yaml; nodewise launch -t u.yaml --for script -o app four.mapping -- x >/dev/null 2>&1; for l in GPU-c,GPU-b 1,GPU-c GPU-x,GPU-y,GPU-z; do for r in 0 1 2; do for by in ./app.sh "nodewise exec -t u.yaml four.mapping"; do PMI_RANK=$r CUDA_VISIBLE_DEVICES=$l $by sh -c 'echo "$CUDA_VISIBLE_DEVICES"' 2>/dev/null; done | paste -sd' '; done; done; PMI_RANK=2 ZE_AFFINITY_MASK= ./app.sh true 2>&1 | grep -v CPUs; PMI_RANK=1 ./app.sh sh -c 'echo $CUDA_VISIBLE_DEVICES ${ZE_AFFINITY_MASK-unset}' 2>/dev/null
GPU-b GPU-b
GPU-c GPU-c
GPU-b,GPU-c GPU-b,GPU-c
1 1
GPU-c GPU-c
1,GPU-c 1,GPU-c
GPU-y GPU-y
GPU-z GPU-z
GPU-y,GPU-z GPU-y,GPU-z
app.sh: rank 2: ZE_AFFINITY_MASK= does not have GPU 1, which the mapping uses on this node: left as it is
GPU-c unset
$ nodewise launch -t c.yaml --for torchrun -o torch four.mapping -- x >/dev/null 2>&1; for r in 0 1 2; do TORCHELASTIC_RUN_ID=1 RANK=$r CUDA_VISIBLE_DEVICES=4,5,6 ./torch.sh sh -c 'echo $CUDA_VISIBLE_DEVICES' 2>/dev/null; done
5,6,4
5,6,4
4,6,5
## A launcher under taskset: its ranks are bound outside of it, which is said. A binding of the rank's own
## is the launcher's, and so is that of a script around it.
$ [ $(nproc) -gt 1 ] || { echo SKIP one CPU; exit 77; }; first=$(taskset -cp $$ | sed 's/.*: *//;s/[-,].*//'); printf 'nodewise mapping 1\nranks 1\n0 %s 1 -\n' $(hostname) >second.mapping
> taskset -c $first sh -c 'PMI_RANK=0 setsid -w sh -c "nodewise exec second.mapping -- echo ran; true"; true' 2>err; sed 's/CPUs [0-9,-]*/CPUs N/g' err; PMI_RANK=0 setsid -w taskset -c $first sh -c 'nodewise exec second.mapping -- echo ran; true' 2>&1; taskset -c $first sh -c 'PMI_RANK=0 setsid -w nodewise exec --strict second.mapping -- echo ran' 2>/dev/null
ran
~ rank 0 ... CPUs ... launcher
ran
? 1
## What a rank has got: as taskset(1) and the shell see it inside the program.
$ printf 'nodewise mapping 1\nranks 2\n0 %s 0 1,0\n1 elsewhere 0 -\n' $(hostname) >got.mapping; unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK UCX_NET_DEVICES
> PMI_RANK=0 nodewise exec --memory=leave --show got.mapping >shown; PMI_RANK=0 nodewise exec --memory=leave got.mapping -- sh -c 'echo "rank 0 on $(uname -n): CPUs $(taskset -cp $$ | sed "s/.*: //"), CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES=$ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK=$ZE_AFFINITY_MASK"' | diff - shown
$ PMI_RANK=0 nodewise exec --json --memory=leave got.mapping | python3 -c 'import json, os, sys; d = json.load(sys.stdin); print(d["schema"], d["rank"], d["host"] == os.uname().nodename, set(d["cpus"]) <= os.sched_getaffinity(0), d["environment"])'
nodewise.exec/1 0 True True {'CUDA_VISIBLE_DEVICES': '1,0', 'ROCR_VISIBLE_DEVICES': '1,0', 'ZE_AFFINITY_MASK': '1,0'}
$ PMI_RANK=1 nodewise exec --show --strict got.mapping 2>err; echo $?; sed 's/on .*, the/on HOST, the/' err
1
~ rank 1 ... HOST ... elsewhere ... GPUs
$ PMI_RANK=0 nodewise exec --show got.mapping true 2>&1 | head -1
~ --show ... program
$ python3 -c 'import ctypes,sys; m=ctypes.c_ulong(1); sys.exit(ctypes.CDLL(None).syscall(238,2,ctypes.byref(m),64)!=0)' || { echo "SKIP set_mempolicy is not allowed here"; exit 77; }; for m in bind prefer leave; do PMI_RANK=0 nodewise exec --json --memory=$m got.mapping | python3 -c 'import json, sys; print(json.load(sys.stdin)["memory"])'; done
bind
prefer
any
## All GPUs of a node that has none, among nodes that have: an empty list, be there a list already or not.
$ printf 'nodewise mapping 1\nranks 2\n0 %s 0 -\n1 far 0 0\n' $(hostname) >bare.mapping; for l in '' NoDevFiles -1; do PMI_RANK=0 CUDA_VISIBLE_DEVICES=$l nodewise exec --strict --gpu-visibility=permuted bare.mapping -- sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"'; done
[]
[]
[]
$ printf 'nodewise: cluster 1\nname: c\nnode_types:\n  fat:\n    cpu: {synthetic: "package:1 core:4 pu:1"}\n    devices: [{package: 0, parts: [{gpu: 4}]}]\n  thin:\n    cpu: {synthetic: "package:1 core:4 pu:1"}\nnodes:\n  - {name: far, type: fat, switch: s}\n  - {name: %s, type: thin, switch: s}\nnetwork: {tree: {switch: s}}\n' $(hostname) >mixed.yaml; sed 's/type: thin/type: fat/' mixed.yaml >fat.yaml
> nodewise launch -t mixed.yaml --for script --gpu-visibility=permuted -o bare bare.mapping -- x >/dev/null 2>&1; for l in unset -1; do for by in ./bare.sh 'nodewise exec -t mixed.yaml --strict --gpu-visibility=permuted bare.mapping'; do (unset CUDA_VISIBLE_DEVICES; [ $l = unset ] || export CUDA_VISIBLE_DEVICES=$l; PMI_RANK=0 $by sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"'); done; done
[]
[]
[]
[]
## A GPU of another node is none of this node's with that number; the rank sees none.
$ printf 'nodewise mapping 1\nranks 3\n0 %s 0 far:1\n1 far 0 0\n2 %s 0 2\n' $(hostname) $(hostname) >remote.mapping; for r in 0 2; do PMI_RANK=$r nodewise exec remote.mapping -- sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"' 2>&1; done; PMI_RANK=0 CUDA_VISIBLE_DEVICES=4,5,6 nodewise exec --strict remote.mapping -- echo ran
! rank 0 ... GPU ... middleware ... GPUs
~ rank 0 ... GPU ... middleware ... GPUs
[]
[2]
? 1
$ nodewise launch -t fat.yaml --for slurm --exec never -o remote remote.mapping -- x 2>&1 >/dev/null | head -1; for l in unset 4,5,6; do for r in 0 1 2; do (unset CUDA_VISIBLE_DEVICES; [ $l = unset ] || export CUDA_VISIBLE_DEVICES=$l; PMI_RANK=$r SLURMD_NODENAME=far ./remote.sh sh -c 'echo "[${CUDA_VISIBLE_DEVICES-unset}]"'); done | tr '\n' ' '; done; echo
GPUs on other nodes (rank 0's on far, 1 in all) are not chosen: only a middleware that lends GPUs over the network gives them
[] [0] [2] [] [4] [6] 
