## a double of Slurm's launcher: profiles from a file, and says by which files it was started, and counts its trials
$ nodewise pattern --generate stencil2d5:dims=1x2 -q -o two.pattern; printf 'nodewise: cluster 1\nname: two\nnode_types:\n  t: {cpu: {synthetic: "package:1 core:2 pu:1"}}\nnodes:\n  - {name: "a[1-2],b[1-2]", type: t, switch: s}\nnetwork: {tree: {switch: s}}\n' >two.yaml
> printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp "$HERE/two.pattern" "${r%%%%,*}";;\n*" true") echo >>trials;;\n*) echo $(cat "$SLURM_HOSTFILE");;\nesac\n' >srun; chmod +x srun; printf '#!/bin/sh\n' >app; chmod +x app
## the pattern of one input serves another of the same program, and by its grid another number of ranks
$ printf '#!/bin/sh\n# libmpi.so.40\n' >mpi; chmod +x mpi; printf '#!/bin/sh\nHERE=%s exec nodewise run --store inputs --launcher ./srun --mpi mpich -t two.yaml --hosts a1,a2 "$@"\n' "$PWD" >start; chmod +x start; ./start -n 2 -- ./mpi 100; ./start -n 2 -- ./mpi 101; ./start -q -n 4 -- ./mpi 101
a1 a1
a1 a1 a2 a2
! first time ... profiled 2 ranks ... .pattern
! './mpi 100' ... --refresh
! mapped 2 ranks
! No gain
! communication
## the launcher is tried once for each mapping, and again after a failure
$ wc -l <trials; ./start -q -n 2 -- ./mpi 101; wc -l <trials; ./start -q -n 2 --no-store -- ./mpi 102; ./start -q -n 2 -- ./mpi 102;  wc -l <trials
2
a1 a1
2
a1 a1
a1 a1
4
## and again if a variable changes that srun takes for an option
$ for n in 1 2; do SLURM_CPU_BIND=none SLURM_LAUNCH_NODE_IPADDR=$n ./start -q -n 2 -- ./mpi 102; wc -l <trials; done
a1 a1
5
a1 a1
5
## a changed program, another program and a script without MPI are profiled
$ ./start -n 2 --refresh -q -- ./mpi 101; echo '# changed' >>mpi; cp mpi other; ./start -n 2 --dry-run -q -- ./mpi 102 | grep -o RECORD; ./start -n 2 --dry-run -q -- ./other 100 | grep -o RECORD; ./start -n 2 -q -- ./app 100; ./start -n 2 --dry-run -q -- ./app 101 | grep -o RECORD
RECORD
RECORD
RECORD
## the reason is that of the job's own pattern, also if the one of another input is damaged, too
$ for i in 1 2; do ./start --store torn -q -n 2 --refresh -- ./mpi $i >/dev/null; done; own=$(grep -l 'mpi 2' torn/*.entry); own=${own%.entry}; rm $own.pattern; mkdir $own.pattern; sed -i 's/^pattern: .*/pattern: 6c62272e07bb014262b821756295c58d/' $own.entry; for p in torn/*.pattern; do [ -d $p ] || echo x >>$p; done; ./start --store torn -n 2 --dry-run -- ./mpi 2 2>&1 >/dev/null | grep 'again' | sed "s,[^ ]*$own,own,"
nodewise run: own.pattern: is a directory: profiling again
## a pattern that is named; its ranks are the job's, unless -n says another number and a grid is found
$ nodewise pattern --generate 'random:ranks=3,degree=1' -q -o three.pattern; for n in '' '-n 4'; do ./start -q $n -p two.pattern -- ./app ; done; ./start -p three.pattern -n 4 -q --dry-run -- ./app; ./start -p missing -n 1 --dry-run -- ./app
a1 a1
a1 a1 a2 a2
./srun -n 4 -w a1,a2 ./app
./srun -n 1 -w a1,a2 ./app
! three.pattern is for 3 ranks ... 4 ... no grid ... started
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
$ nodewise run --store inputs --forget ./mpi; nodewise run --store inputs --list | awk '{print $1, $4, $5}'; nodewise run --store inputs --forget -q; nodewise run --store inputs --list | sed 's/ in .*//'; ls inputs
RANKS PATTERN 
2 ./app 100
no patterns
! removed 2 files of ./mpi
$ nodewise run --store none --list | sed 's/ in .*//'; nodewise run --store none --forget
no patterns
! removed 0 files
## both placements run in turns; without a pattern the program is profiled first
$ printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp two.pattern "${r%%%%,*}"; echo profiled;;\n*" true") echo >>trials;;\n*) if [ "$SLURM_HOSTFILE" ]; then echo mapped; exit $FAILS; else echo default; fi;;\nesac\n' >srun; ./start -n 2 --store both --compare=2 -o both.json --json -- ./mpi; grep -c '"default": \[[0-9.e-]*, [0-9.e-]*\]' both.json
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
$ rm trials; for i in 1 2; do FAILS=3 ./start -n 2 --store both -q -- ./mpi; done; wc -l <trials
mapped
mapped
2
$ nodewise run --compare --dry-run -- ./mpi
! --dry-run ... --compare
? 2
$ nodewise run --compare 2 -- ./mpi
! --compare=2
? 2
$ nodewise run --compare=none -- ./mpi
! --compare ... 'none'
? 2
## a program of one MPI under the launcher of another is not mapped, for each of its ranks is alone
$ printf '#!/bin/sh\n# libmpich.so.12\necho alone\n' >mpich; printf '#!/bin/sh\ncase $1 in --version) echo "mpirun (Open MPI) 4.1.4";; *) shift 2; exec "$@";; esac\n' >mpirun; chmod +x mpich mpirun; for p in '' '-p two.pattern'; do nodewise run --store inputs --launcher ./mpirun $p -n 2 -- ./mpich; done
alone
alone
! './mpich' uses MPICH ... './mpirun' ... Open MPI ... launcher of the program's MPI ... started
! './mpich' uses MPICH ... './mpirun' ... Open MPI ... launcher of the program's MPI ... started
## without its topology no run is promised to be mapped; a store that cannot be made says how to name another
$ printf 'a file' >storage; ./start -n 2 --store new -t absent.yaml -- ./mpi 2>said; grep -c 'next run' said; ./start -n 2 --store storage -- ./mpi
profiled
0
default
! storage: not a directory ... --store ... NODEWISE_STORE ... started
