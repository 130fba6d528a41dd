## a double of Slurm's launcher: profiles from a file, and says by which files it was started, late
$ nodewise pattern --generate stencil2d5:dims=1x2 -q -o two.pattern; printf 'nodewise: cluster 1\nname: two\nnode_types:\n  t: {cpu: {synthetic: "package:1 core:2 pu:1"}}\nnodes:\n  - {name: "a[1-2],b[1-2]", type: t, switch: s}\nnetwork: {tree: {switch: s}}\n' >two.yaml
> printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp "$HERE/two.pattern" "${r%%%%,*}";;\n*" true") ;;\n*) echo $$ >$HERE/pid; sleep $LATE; echo $(cat "$SLURM_HOSTFILE"); ls -ld "${SLURM_HOSTFILE%%/*}" | cut -c1-10;;\nesac\n' >srun; chmod +x srun; printf '#!/bin/sh\n' >app; chmod +x app
> HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app; ls store | grep -vx '[0-9a-f]*\.\(pattern\|entry\)'; ls store | wc -l
2
## two jobs of one program at once: each starts on its own hosts, by files that are its own and gone afterwards
$ for j in a b; do LATE=2 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts ${j}1,${j}2 -n 2 -t two.yaml -- ./app >job.$j & sleep 1; done; wait; cat job.a job.b; ls store | wc -l
a1 a1
drwx------
b1 b1
drwx------
2
## the pattern of another working directory is another
$ mkdir other; (cd other; HERE=.. nodewise run --store ../store --launcher ../srun --mpi mpich --hosts a1,a2 -n 2 -t ../two.yaml -- ../app); ls store | wc -l
4
! first time ... profiled 2 ranks
## a run that was killed: its launcher ends, too, and its files go with the next run; nothing else goes
$ rm -f pid; LATE=60 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app & until [ -s pid ]; do sleep 0.1; done; kill -9 $!; wait 2>/dev/null; ls -d store/run.* | wc -l; mkdir store/run.mine; touch store/run.mine/file; timeout 20 sh -c 'while kill -0 $(cat pid) 2>/dev/null; do sleep 0.1; done' && echo ended; LATE=0 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app; ls store | grep run
1
ended
a1 a1
drwx------
run.mine
## a store that others may change is not used
$ mkdir open; chmod 777 open; nodewise run --store open --launcher ./srun --mpi mpich --hosts a1 -n 1 --dry-run -- ./app
./srun -n 1 -w a1 ./app
! open ... others ... started
## the pattern of one input serves another of the same program, and by its grid another number of ranks
$ printf '#!/bin/sh\n# libmpi.so.40\n' >mpi; chmod +x mpi; printf '#!/bin/sh\nHERE=%s LATE=0 exec nodewise run --store inputs --launcher ./srun --mpi mpich -t two.yaml --hosts a1,a2 "$@"\n' "$PWD" >start; chmod +x start; ./start -n 2 -- ./mpi 100; ./start -n 2 -- ./mpi 101; ./start -q -n 4 -- ./mpi 101
a1 a1
drwx------
a1 a1 a2 a2
drwx------
! first time ... profiled 2 ranks ... .pattern
! './mpi 100' ... --refresh
! mapped 2 ranks
! No gain
! communication
## a changed program, another program and a script without MPI are profiled
$ ./start -n 2 --refresh -q -- ./mpi 101; echo '# changed' >>mpi; cp mpi other; ./start -n 2 --dry-run -q -- ./mpi 102 | grep -o RECORD; ./start -n 2 --dry-run -q -- ./other 100 | grep -o RECORD; ./start -n 2 -q -- ./app 100; ./start -n 2 --dry-run -q -- ./app 101 | grep -o RECORD
RECORD
RECORD
RECORD
## a pattern that is named; its ranks are the job's, unless -n says another number and a grid is found
$ nodewise pattern --generate 'random:ranks=3,degree=1' -q -o three.pattern; for n in '' '-n 4'; do ./start -q $n -p two.pattern -- ./app | head -1; done; ./start -p three.pattern -n 4 -q --dry-run -- ./app; ./start -p missing -n 1 --dry-run -- ./app
a1 a1
a1 a1 a2 a2
./srun -n 4 -w a1,a2 ./app
./srun -n 1 -w a1,a2 ./app
! no grid ... started
! missing ... No such file or directory ... started
## what is stored, and how it is removed
$ nodewise run --store inputs --list | awk '{print $1, $4, $5}'; nodewise run --store inputs --list --json | grep -e schema -e program
RANKS PATTERN 
2 ./app 100
2 ./mpi 101
2 ./mpi 100
  "schema": "nodewise.run-list/1",
      "program": "./app 100",
      "program": "./mpi 101",
      "program": "./mpi 100",
$ nodewise run --store inputs --forget ./mpi; nodewise run --store inputs --list | awk '{print $1, $4, $5}'; nodewise run --store inputs --forget -q; nodewise run --store inputs --list | sed 's/ in .*//'; ls inputs | grep -vc dry
RANKS PATTERN 
2 ./app 100
no patterns
0
! removed 2 files of ./mpi
? 1
$ nodewise run --store none --list | sed 's/ in .*//'; nodewise run --store none --forget
no patterns
! removed 0 files
## both placements run in turns; without a pattern the program is profiled first
$ printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp two.pattern "${r%%%%,*}"; echo profiled;;\n*" true") ;;\n*) if [ "$SLURM_HOSTFILE" ]; then echo mapped; exit $FAILS; else echo default; fi;;\nesac\n' >srun; ./start -n 2 --store both --compare=2 -o both.json --json -- ./mpi; grep -c '"default": \[[0-9.e-]*, [0-9.e-]*\]' both.json
profiled
default
mapped
mapped
default
1
! first time ... profiled 2 ranks
! mapped 2 ranks
! No gain
! communication
! round 1 of 2 ... default ... mapped
! round 2 of 2 ... default ... mapped
! measured in 2 rounds ... default ... mapped ... times as fast ... predicted ... less communication time
$ FAILS=3 ./start -n 2 --store both -q --compare -- ./mpi
default
mapped
! mapped run failed ... 0 of 3
? 3
$ nodewise run --compare --dry-run -- ./mpi
! --dry-run ... --compare
? 2
$ nodewise run --compare=none -- ./mpi
! --compare ... 'none'
? 2
