## A double of NCCL gives the same calls of 4 ranks to NCCL's profiler plug-in by each
## version of the interface. Ring of 4: 12,000 bytes x 2 x 3/4 to the next rank, in 3 x 6
## messages. Ring of 2 (ranks 0 2, and 1 3): 4,000 bytes x 2 x 1/2. Chain of the tree on one
## node: 1,000 bytes each way. Broadcast from 2: 1,000 bytes along 2 3 0 1. Send: 80 bytes.
$ for v in 1 2 3 4 5 6; do for r in 0 1 2 3; do NODEWISE_RECORD=v$v RANK=$r WORLD_SIZE=4 nccl-job $PLUGIN $v allreduce allreduce allreduce broadcast send tree half finalize; done; nodewise pattern nccl:v$v --to native -q > v$v.pattern; cmp v1.pattern v$v.pattern; done; cat v1.pattern
nodewise pattern 1
ranks 4 edges 11
note: NCCL calls of 4 processes in 3 communicators
phases: dp*11
0 1 gg 20080 21
0 2 gg 4000 2
1 0 gg 1000 1
1 2 gg 19080 20
1 3 gg 4000 2
2 0 gg 4000 2
2 1 gg 1000 1
2 3 gg 20080 21
3 0 gg 19080 20
3 1 gg 4000 2
3 2 gg 1000 1
## The files are the user's alone. Joined files are one input.
$ stat -c %a v6.nccl.* | sort -u; cat v6.nccl.* > joined; nodewise pattern nccl:joined --to native -q | cmp - v6.pattern
600
## A program that never destroys its communicators, forks, and closes all files: the child
## counts nothing, and a closed file ends the recording, not the program.
$ for r in 0 1; do NODEWISE_RECORD=fork RANK=$r WORLD_SIZE=2 nccl-job $PLUGIN 5 send fork; done; nodewise pattern nccl:fork --to list -q
0 1 80
1 0 80
$ NODEWISE_RECORD=closed RANK=0 WORLD_SIZE=1 nccl-job $PLUGIN 5 allreduce close allreduce finalize; echo $?
0
## Copy engines send all blocks directly, without the interface's `algo`.
$ for r in 0 1 2; do NODEWISE_RECORD=ce RANK=$r WORLD_SIZE=3 nccl-job $PLUGIN 6 ce; done; nodewise pattern nccl:ce --to list -q
0 1 64
0 2 64
1 0 64
1 2 64
2 0 64
2 1 64
## NVLS on one node: every rank gets each block, through the switch.
$ for r in 0 1 2; do NODEWISE_RECORD=nvls RANK=$r WORLD_SIZE=3 nccl-job $PLUGIN 4 allgather; done; nodewise pattern nccl:nvls --to list -q
0 1 64
0 2 64
1 0 64
1 2 64
2 0 64
2 1 64
## Without NODEWISE_RECORD, or where the file cannot be made, nothing happens.
$ RANK=0 WORLD_SIZE=1 nccl-job $PLUGIN 6 allreduce finalize; NODEWISE_RECORD=no/folder/x RANK=0 WORLD_SIZE=1 nccl-job $PLUGIN 1 allreduce finalize; ls no 2>/dev/null
? 2
## A killed process leaves what it had counted a second before.
$ (NCCL_JOB_SEEN=seen NODEWISE_RECORD=killed RANK=0 WORLD_SIZE=1 nccl-job $PLUGIN 5 allreduce wait kill; echo $? > code) 2>/dev/null & until grep -q AllReduce killed.nccl.* 2>/dev/null; do sleep 0.05; done; touch seen; wait; cat code; nodewise pattern nccl:killed --to native -q | head -2
137
nodewise pattern 1
ranks 1 edges 0
## Without RANK the communicator of all processes gives the ranks. The pattern is the same.
$ for r in 0 1 2 3; do NODEWISE_RECORD=bare NCCL_JOB_RANK=$r NCCL_JOB_SIZE=4 nccl-job $PLUGIN 6 allreduce allreduce allreduce broadcast send tree half; done; nodewise pattern nccl:bare --to native -q | cmp - v6.pattern
## A process that left no file: its communicators are left out, and the pattern says so.
$ for r in 0 1 3; do NODEWISE_RECORD=lack RANK=$r WORLD_SIZE=4 nccl-job $PLUGIN 6 send half; done; nodewise pattern nccl:lack --to native -q
nodewise pattern 1
ranks 4 edges 2
partial: 2 communicators lack ranks whose processes left no file, and are not counted
note: NCCL calls of 3 processes in 1 communicator
phases: dp*2
1 3 gg 4000 2
3 1 gg 4000 2
## Two runs with one name.
$ for r in 0 1; do NCCL_JOB_RUN=1 NODEWISE_RECORD=fork RANK=$r WORLD_SIZE=2 nccl-job $PLUGIN 5 send; done; nodewise pattern nccl:fork -q
! fork.nccl. ... rank 0 ... earlier run
? 3
## Bad files.
$ nodewise pattern nccl:nothing -q
! nothing.nccl.
? 3
$ printf 'nodewise nccl 1\nprocess 0 1 7 a\ncomm 0 0x1 0 1 -\ncall 0 AllReduce RING 0 many 1\n' > bad; nodewise pattern nccl:bad -q
! bad:4 ... call N FUNCTION
? 3
$ printf 'nodewise nccl 1\nprocess 0 1 7 a\ncomm 0 0x1 1 1 -\n' > bad; nodewise pattern nccl:bad -q
! bad:3 ... comm 0 ID
? 3
$ printf 'nodewise nccl 1\nprocess 0 2 7 a\ncomm 0 0x1 0 2 -\nprocess 1 2 8 a\ncomm 0 0x1 0 2 -\n' > bad; nodewise pattern nccl:bad -q
! bad: ... rank 0 of communicator 0x1
? 3
## A killed process may leave half a line.
$ printf 'nodewise nccl 1\nprocess 0 2 7 a\ncomm 0 0x1 0 2 0000:1b:00.0\ncall 0 Send - 1 8 1\nprocess 1 2 8 a\ncomm 0 0x1 1 2 0000:1c:00.0\ncall 0 Se' > half; nodewise pattern nccl:half --to list -q
0 1 8
## One process with two GPUs is two ranks.
$ printf 'nodewise nccl 1\nprocess 0 1 7 a\ncomm 0 0x1 0 2 0000:1c:00.0\ncomm 1 0x1 1 2 0000:1b:00.0\ncall 0 Send - 1 8 1\n' > two; nodewise pattern nccl:two --to list -q
0 1 8

## The algorithms on 2 nodes of 2 ranks, 4,000 bytes. Trees: a chain in each node, half of
## the data on each of two trees of nodes.
$ calls() { for r in 0 1 2 3; do printf 'nodewise nccl 1\nprocess %d 4 %d node%d\ncomm 0 0x9 %d 4 -\ncall 0 %s %s 0 4000 1\n' $r $r $((r / 2)) $r $1 $2; done > alg; nodewise pattern nccl:alg --to list -q | tr '\n' ' '; echo; }; calls AllReduce TREE; calls AllReduce COLLNET_CHAIN; calls AllReduce NVLS_TREE; calls AllReduce COLLNET_DIRECT; calls ReduceScatter NVLS; calls AllGather PAT; calls ReduceScatter RING; calls AlltoAll -; calls Gather -; calls Scatter -; calls Reduce RING
0 1 4000 0 2 4000 1 0 4000 2 0 4000 2 3 4000 3 2 4000 
0 1 4000 0 2 4000 1 0 4000 2 0 4000 2 3 4000 3 2 4000 
0 1 4000 0 2 2000 1 0 4000 1 3 2000 2 0 2000 2 3 4000 3 1 2000 3 2 4000 
0 1 4000 0 2 2000 1 0 4000 1 3 2000 2 0 2000 2 3 4000 3 1 2000 3 2 4000 
0 1 8000 0 2 4000 1 0 8000 1 3 4000 2 0 4000 2 3 8000 3 1 4000 3 2 8000 
0 1 4000 0 2 8000 1 2 4000 1 3 8000 2 0 8000 2 3 4000 3 0 4000 3 1 8000 
0 1 12000 1 2 12000 2 3 12000 3 0 12000 
0 1 4000 0 2 4000 0 3 4000 1 0 4000 1 2 4000 1 3 4000 2 0 4000 2 1 4000 2 3 4000 3 0 4000 3 1 4000 3 2 4000 
1 0 4000 2 0 4000 3 0 4000 
0 1 4000 0 2 4000 0 3 4000 
1 2 4000 2 3 4000 3 0 4000 
## A root outside the communicator gets no messages.
$ for call in Gather Send; do for r in 0 1; do printf 'nodewise nccl 1\nprocess %d 2 %d a\ncomm 0 0x9 %d 2 -\ncall 0 %s - 2000000000 8 1\n' $r $r $r $call; done > root; nodewise pattern nccl:root --to mm -q; done
%%MatrixMarket matrix coordinate integer general
2 2 0
%%MatrixMarket matrix coordinate integer general
2 2 0

## Phases, one after the other, on two nodes. Tensor groups 0 1 and 2 3: ten all-reduces of 4,000
## bytes send 40,000 bytes in 20 messages to the other rank. Data groups 0 2 and 1 3: 8,000 bytes in
## two. An all-reduce of all ranks by trees sends 4 bytes more within nodes, and 4 in two messages
## between their first ranks. Ports of 1 GB/s, 1 ms for a route: 21 rounds and 40,004 bytes, then 4
## rounds and 8,004 bytes, 25.048 ms. A file keeps the phases, and the model agrees.
$ for r in 0 1 2 3; do printf "nodewise nccl 1\nprocess $r 4 $r node$((r / 2))\ncomm 0 0x1 $r 4 -\ncall 0 AllReduce TREE 0 4 1\ncomm 1 0x2$((r / 2)) $((r % 2)) 2 -\ncall 1 AllReduce RING 0 40000 10\ncomm 2 0x3$((r % 2)) $((r / 2)) 2 -\ncall 2 AllReduce RING 0 8000 1\n"; done > phases; nodewise pattern nccl:phases --to native -q | tee phases.pattern | grep -e phases -e '^0'; nodewise pattern phases.pattern --to native -q | cmp - phases.pattern
phases: tp dp tp dp*2 tp dp tp
0 1 gg 40004 21
0 2 gg 8004 4
$ printf 'nodewise: cluster 1\nname: four\nnode_types: {n: {cpu: {cores: 1}, devices: [{package: 0, parts: [{gpu: 1, link: {bandwidth: 1TB/s, latency: 0s}}, {nic: 1, link: {bandwidth: 1TB/s, latency: 0s}, port: {bandwidth: 1GB/s, latency: 500us}}]}]}}\nnodes: [{name: "n[0-3]", switch: s}]\nnetwork: {tree: {switch: s}}\n' > four.yaml; for p in nccl:phases phases.pattern; do nodewise simulate -t four.yaml -p $p --json | sed -n 's/^ *"\([td][ip]*m*e*p*\)": \([0-9.e-]*\),*$/\1 \2/p' | awk '{ printf "%s %.6f\n", $1, $2 }'; nodewise evaluate -t four.yaml -p $p --json | sed -n 's/^ *"time": \([0-9.e-]*\),*$/\1/p' | head -1 | xargs printf '%.6f\n'; done
time 0.025048
tp 0.021040
dp 0.004008
0.025048
time 0.025048
tp 0.021040
dp 0.004008
0.025048
$ nodewise map -t four.yaml -p phases.pattern 2>&1 | grep communication
communication of the whole run: default 25 ms, mapped 25 ms; 0 % of the bytes stay inside nodes (default: 0 %)
## All-to-alls and sends to more than two ranks are experts, other sends pipelines, the calls of all ranks data groups.
$ kinds() { for r in 0 1 2 3; do printf 'nodewise nccl 1\nprocess %d 4 %d a\ncomm 0 0x9 %d 4 -\n' $r $r $r; for to in $2; do [ $to = $r ] || printf 'call 0 %s - %d 8 1\n' $1 $to; done; done > kinds; nodewise pattern nccl:kinds --to native -q | grep phases; }; kinds Send "0 1 2 3"; kinds Send "1 2"; kinds AlltoAll 9; kinds AllGather 9
phases: ep*12
phases: pp*6
phases: ep*12
phases: dp*4
## Bad phases.
$ for l in 'tp*2' 'tp dp*3' 'tp tq' 'tp tp*x' 'tp tp*0' '*2'; do printf "nodewise pattern 1\nranks 2 edges 3\nphases: $l\n0 1 gg 1 1\n1 0 gg 1 1\n1 1 gg 1 1\n" | nodewise pattern - -q; done
! :3: 2 phases for 3 edges
! :3: more phases than the 3 edges
! :3: expected a phase ... 'tq'
! :3: expected a phase ... 'tp*x'
! :3: expected a phase ... 'tp*0'
! :3: expected a phase ... '*2'
? 3

## The command runs a program and joins the files; nothing else stays.
$ printf '#!/bin/sh\nfor r in 0 1 2; do RANK=$r WORLD_SIZE=3 nccl-job $NCCL_PROFILER_PLUGIN 6 ce & done\nwait\nexit 3\n' > torchrun; chmod +x torchrun; nodewise profile --nccl -o app.pattern -q -- ./torchrun; echo $?; grep -c ' gg 64 1$' app.pattern; grep program app.pattern; ls app.*
3
6
program: ./torchrun
app.pattern
$ nodewise profile --nccl -o none.pattern -- true
! no profile ... 'true' ... NCCL_DEBUG=INFO
$ nodewise profile --nccl --mpi openmpi -o none.pattern -- true
! --nccl ... --mpi
? 2

## A log: two rings carry half of 4 MiB x 2 x 3/4 each; 80 bytes from 3 to 0.
$ nodewise pattern nccl-log:$FIXTURES/pattern/valid/nccl.log --to native -q
nodewise pattern 1
ranks 4 edges 7
note: NCCL calls of 4 processes in 1 communicator
phases: dp*7
0 1 gg 3145728 6
0 2 gg 3145728 6
1 2 gg 3145728 6
1 3 gg 3145728 6
2 1 gg 3145728 6
2 3 gg 3145728 6
3 0 gg 6291536 13
## A communicator that ncclCommSplit makes has no id: 4 ranks in two pairs, {0, 2} and {1, 3}; their AllReduce of 1 MB
## sends 1 MB each way, that of 4096 bytes of all ranks follows a tree of the hosts {0, 1} and {2, 3}. The tag of mpirun --tag-output is not part of the host's name.
$ for r in 0 1 2 3; do for l in "ncclCommInitRank comm 0x1$r rank $r nranks 4 busId ${r}000 commId 0x7f - Init START" "ncclCommSplit comm 0x2$r rank $((r / 2)) nranks 2 busId ${r}000 parent 0x1$r childCount 1 color $((r % 2)) key 0- Init START" "ncclCommSplit comm 0x2$r rank $((r / 2)) nranks 2 busId ${r}000 parent 0x1$r childCount 1 color $((r % 2)) key 0 - Init COMPLETE" "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 250000 datatype 7 op 0 root 0 comm 0x2$r [nranks=2] stream 0x3" "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 0 comm 0x1$r [nranks=4] stream 0x3"; do echo "[1,$r]<stdout>:n$((r / 2)):10$r:10$r [0] NCCL INFO $l"; done; done > split.log; sed 's/.*>://' split.log > untagged.log; nodewise pattern nccl-log:split.log -q --to list | tee split.list; nodewise pattern nccl-log:untagged.log -q --to list | cmp - split.list
0 1 4096
0 2 1004096
1 0 4096
1 3 1000000
2 0 1004096
2 3 4096
3 1 1000000
3 2 4096
$ echo hello > x.log; nodewise pattern nccl-log:x.log -q
! x.log: ... no communicator ... NCCL_DEBUG=INFO ... NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL
? 3
## Calls that cannot be read, or of a communicator without a start, are counted.
$ for e in 's/count 1048576/count 99999999999999999999/' 's/\(Send: opCount 1 sendb\).*/\1/' 's/ comm 0x7800 \[/ comm 0x7900 [/' '/rank 2 nranks/d'; do sed "$e" $FIXTURES/pattern/valid/nccl.log >torn.log; nodewise pattern nccl-log:torn.log | grep ^partial; done
partial  calls that could not be read, or whose communicator starts outside the log: 4
partial  calls that could not be read, or whose communicator starts outside the log: 1
partial  calls that could not be read, or whose communicator starts outside the log: 2
partial  1 communicator lacks ranks whose processes left no file, and is not counted; calls that could not be read, or whose communicator starts outside the log: 1
## Files of NCCL's Inspector: a ring of two, and 8,192 bytes from 1 to 0.
$ nodewise pattern nccl-inspector:$FIXTURES/pattern/valid/inspector --to native -q
nodewise pattern 1
ranks 2 edges 2
note: NCCL calls of 2 processes in 1 communicator
phases: dp*2
0 1 gg 65536 1
1 0 gg 73728 2
$ printf '{"header":{"id":"0x1","rank":0,"n_ranks":1},\n"metadata":{"hostname":"a"}}\n' > x.json; nodewise pattern nccl-inspector:x.json -q
! x.json:2 ... Inspector
? 3
$ for id in 0x10000000000000000 none; do printf '{"header":{"id":"%s","rank":0,"n_ranks":1},"metadata":{"hostname":"a","pid":7},"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":8}}\n' $id > x.json; nodewise pattern nccl-inspector:x.json -q | wc -l; done
0
0
! x.json:1 ... Inspector
! x.json:1 ... Inspector
## The Inspector does not name GPUs: those of a process are told apart by their ranks.
$ say() { printf '{"header":{"id":"%s","rank":%s,"n_ranks":%s},"metadata":{"hostname":"%s","pid":7},"coll_perf":{"coll":"AllGather","coll_msg_size_bytes":8192}}\n' "$@"; }; mkdir one; for r in 0 1; do say 0x2 $r 4 a >> one/a; say 0x2 $((r + 2)) 4 b >> one/b; done; nodewise pattern nccl-inspector:one --to list -q; say 0x1 0 1 a >> one/a; nodewise pattern nccl-inspector:one -q
0 1 24576
1 2 24576
2 3 24576
3 0 24576
! one/a: ... several GPUs in several communicators
? 4

## NCCL 2.28.9 under PyTorch, four processes on an H100, each with an NCCL_HOSTID of its own
## (bench/gpu/nccl.py). With B = 1,290,240 bytes, a ring of n ranks sends 2B(n-1)/n for an
## all-reduce, B(n-1) each for an all-gather and a reduce-scatter, and B along the chain of a
## broadcast. Rings: 0 1 2 3, 0 2 and 1 3. Sends: B from 0 to 3, B/2 from 3 to 1.
$ nodewise pattern nccl:$FIXTURES/pattern/valid/nccl-2.28/calls --to list -q
0 1 10967040
0 2 5160960
0 3 1290240
1 2 10967040
1 3 5160960
2 0 3870720
2 3 10967040
3 0 9676800
3 1 4515840
$ nodewise pattern nccl:$FIXTURES/pattern/valid/nccl-2.28/calls --to list -q > calls; nodewise pattern nccl-log:$FIXTURES/pattern/valid/nccl-2.28/logs --to list -q | cmp - calls
$ nodewise topology nccl:$FIXTURES/pattern/valid/nccl-2.28/topology.xml -q | grep gpu
  └─gpu 0 0000:00:06.0       pcie     25 GB/s  250 ns assumed
