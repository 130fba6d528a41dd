## a double of Slurm's launcher: profiles from a file, and says by which files it was started, late
$ nodewise pattern --generate stencil2d5:dims=1x2 -q -o two.pattern; printf 'nodewise: cluster 1\nname: two\nnode_types:\n  t: {cpu: {synthetic: "package:1 core:2 pu:1"}}\nnodes:\n  - {name: "a[1-2],b[1-2]", type: t, switch: s}\nnetwork: {tree: {switch: s}}\n' >two.yaml
> printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp "$HERE/two.pattern" "${r%%%%,*}";;\n*" true") ;;\n*) echo $$ >$HERE/pid; sleep $LATE >/dev/null 2>&1; echo $(cat "$SLURM_HOSTFILE"); ls -ld "${SLURM_HOSTFILE%%/*}" | cut -c1-10;;\nesac\n' >srun; chmod +x srun; printf '#!/bin/sh\n' >app; chmod +x app
> HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app; ls store | grep -vx '[0-9a-f]*\.\(pattern\|entry\)'; ls store | wc -l
machines
3
## two jobs of one program at once: each starts on its own hosts, by files that are its own and gone afterwards
$ for j in a b; do LATE=2 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts ${j}1,${j}2 -n 2 -t two.yaml -- ./app >job.$j & sleep 1; done; wait; cat job.a job.b; ls store | wc -l
a1 a1
drwx------
b1 b1
drwx------
3
## the pattern of another working directory is another
$ mkdir other; (cd other; HERE=.. nodewise run --store ../store --launcher ../srun --mpi mpich --hosts a1,a2 -n 2 -t ../two.yaml -- ../app); ls store | wc -l
5
! first time ... profiled 2 ranks
## a run that was killed: its launcher ends, too, and its files go with the next run; nothing else goes
$ rm -f pid; LATE=300 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app & until [ -s pid ]; do sleep 0.1; done; kill -9 $!; wait 2>/dev/null; ls -d store/run.* | wc -l; mkdir store/run.mine; touch store/run.mine/file; timeout 200 sh -c 'while kill -0 $(cat pid) 2>/dev/null; do sleep 0.1; done' && echo ended; LATE=0 HERE=$PWD nodewise run -q --store store --launcher ./srun --mpi mpich --hosts a1,a2 -n 2 -t two.yaml -- ./app; ls store | grep run
1
ended
a1 a1
drwx------
run.mine
## a store that others may change is not used
$ mkdir open; chmod 777 open; nodewise run --store open --launcher ./srun --mpi mpich --hosts a1 -n 1 --dry-run -- ./app
./srun -n 1 -w a1 ./app
! open ... other users ... started
$ mkdir -p outer/machines; chmod 700 outer; chmod 777 outer/machines; nodewise run --store outer --launcher ./srun --mpi mpich --hosts a1 -n 1 --dry-run -- ./app
./srun -n 1 -w a1 ./app
! outer/machines ... other users ... started
## a group may write to the store only if it is the private group of the store's owner
$ for g in $(id -G) 1; do [ $g = $(id -u) ] || break; done; mkdir group own; chgrp $g group || { echo SKIP one group; exit 77; }; chmod 775 group; nodewise run --store group --launcher ./srun --mpi mpich --hosts a1 -n 1 --dry-run -- ./app
./srun -n 1 -w a1 ./app
! group ... other users ... started
$ chgrp $(id -u) own || { echo SKIP no private group; exit 77; }; chmod 775 own; nodewise run -q --store own --launcher ./srun --mpi mpich --hosts a1 -n 1 --dry-run -- ./app >/dev/null; ls own | grep machines
machines
