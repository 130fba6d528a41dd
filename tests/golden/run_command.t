## usage
$ nodewise run
! nodewise run: which program? nodewise run -n 64 -- ./app
! Try `nodewise run --help' or `nodewise run --usage' for more information.
? 2
$ nodewise run -n 0 -- true
! nodewise run: ranks are a number from 1, not '0'
! Try `nodewise run --help' or `nodewise run --usage' for more information.
? 2
$ nodewise run --launcher ./none -- ./app
! nodewise run: './none' is no launcher that is known
? 4
## a double of Open MPI's launcher, which prints what it is told
$ printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' > mpirun && chmod +x mpirun && printf '#!/bin/sh\n# libmpi.so.40\n' > app && chmod +x app && mkdir store
$ nodewise run --store store -n 4 --launcher './mpirun --oversubscribe' --dry-run --no-store -- ./app 'a b'
./mpirun --oversubscribe -n 4 ./app 'a b'
! nodewise run: no pattern is known, and none is to be stored: started as without nodewise
## no trouble of ours keeps the program from being started
$ nodewise run --store /proc/none -n 4 --launcher ./mpirun --dry-run -- ./app
./mpirun -n 4 ./app
! nodewise run: warning: /proc/none: No such file or directory; started as without nodewise
$ touch file && nodewise run --store file -n 4 --launcher ./mpirun --dry-run -- ./app 2>err; sed 's/: [^:]*file:/: file:/' err
./mpirun -n 4 ./app
nodewise run: warning: file: not a directory; started as without nodewise
$ printf 'n[1-\n' > bad && nodewise run --store store -n 4 --hostfile bad --launcher ./mpirun --dry-run -- ./app 2>err; cut -c1-21 err
./mpirun -n 4 --hostfile bad ./app
nodewise run: warning
## hosts of a Slurm allocation, tasks too
$ SLURM_JOB_NODELIST='n[1-2],x' SLURM_NTASKS=6 nodewise run --store store --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 6 ./app
$ nodewise run --store store --hosts 'n[1-2]:3' --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 6 --host n1:3,n2:3 ./app
## Without '--' too the program's options are its own.
$ nodewise run --launcher ./none ./app -n 3 --help
! nodewise run: './none' is no launcher that is known
? 4
## As many ranks as cores, not as hardware threads, where nobody says how many.
$ HWLOC_SYNTHETIC='package:1 core:3 pu:2' nodewise run --store store --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 3 ./app
## An affinity mask is kept: ranks are mapped onto its cores alone, in the machine's own numbers.
$ printf 'nodewise pattern 1\nranks 1 edges 0\n' >one.pattern; printf '#!/bin/sh\nfor w; do case $w in NODEWISE_RECORD=*) cp one.pattern "${w#*=}"; esac; done\necho "mpirun (Open MPI) 4.1.4"\n' >mpirun
$ nodewise run --store store -n 1 --launcher ./mpirun -q -- ./app
mpirun (Open MPI) 4.1.4
$ [ $(nproc) -gt 1 ] || { echo SKIP one CPU; exit 77; }; ls store/*.pattern >/dev/null 2>&1 || { echo SKIP built without Open MPI; exit 77; }; for core in 0 1; do printf 'nodewise mapping 1\nranks 1\n0 %s %d -\n' $(hostname) $core >at; taskset -c $(PMI_RANK=0 nodewise exec at sh -c 'taskset -cp $$' | sed 's/.*: *//;s/[-,].*//') nodewise run --store store -n 1 --launcher ./mpirun --dry-run -q -- ./app >/dev/null; sed -n 's/^0 [^ ]*/core/p' store/*.mapping; done
core 0 -
core 1 -
## What the store has of the hosts is used; where it is damaged, or of other hosts, they are looked at again.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 8 1\n' >one.pattern; nodewise run --store two -n 2 --hosts x1:1,x2:1 --launcher ./mpirun -q -- ./app
mpirun (Open MPI) 4.1.4
$ ls two/*.pattern >/dev/null 2>&1 || { echo SKIP built without Open MPI; exit 77; }
> printf 'nodewise: cluster 1\nname: probed\nnode_types:\n  t:\n    cpu: {packages: 1, cores: 2}\nnodes:\n  - {name: "x[1-2]", type: t, switch: s}\nnetwork:\n  tree: {switch: s}\n' >hosts.yaml
> for how in cat 'head -c 40' 'head -c 0' 's/x/z/'; do case $how in s*) sed $how hosts.yaml;; *) $how hosts.yaml;; esac >two/b6216082ba46c9fec81a7bcd0a586d4c.yaml; nodewise run --store two -n 2 --hosts x1:1,x2:1 --launcher ./mpirun --dry-run -- ./app 2>&1 >/dev/null | grep '^nodewise' | sed 's/;.*//'; done
nodewise run: would map 2 ranks on 2 hosts, topology from the store
nodewise run: warning: the hosts could not be measured: ./mpirun ended with status 0
nodewise run: warning: the hosts could not be measured: ./mpirun ended with status 0
nodewise run: warning: the hosts could not be measured: ./mpirun ended with status 0
