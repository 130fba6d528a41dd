## usage
$ for o in '--list' '--dry-run' '--no-store'; do nodewise run --store store --forget $o 2>&1 | sed -n 1p; done
~ --list ... --forget
~ --forget ... --dry-run
~ --forget ... --no-store
$ nodewise run
! nodewise run -n 64 -- ./app
? 2
$ nodewise run --refresh --no-store -n 1 -- true
! --refresh ... --no-store ... -p
? 2
$ nodewise run -n 0 -- true
! ranks ... '0'
? 2
$ nodewise run --launcher ./none -- ./app
! './none' ... launcher
? 4
## a double of Open MPI's launcher, which prints what it is told
$ printf '#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n' > mpirun && chmod +x mpirun && printf '#!/bin/sh\n# libmpi.so.40\n' > app && chmod +x app && mkdir store
$ HWLOC_SYNTHETIC='package:1 core:4 pu:1' nodewise run --store store -n 4 --launcher './mpirun --oversubscribe' --dry-run --no-store -- ./app 'a b'
./mpirun --oversubscribe -n 4 ./app 'a b'
! pattern ... started
$ printf '#!/bin/sh\necho asked >>asked; echo "mpirun (Open MPI) 4.1.4"\n' >mpirun.slow; chmod +x mpirun.slow; HWLOC_SYNTHETIC='package:1 core:4 pu:1' nodewise run -q -n 4 --launcher ./mpirun.slow --dry-run --no-store -- ./app; wc -l <asked
./mpirun.slow -n 4 ./app
1
## ranks with threads
$ nodewise pattern -q generate:stencil2d5:dims=2x1 -o two.pattern; for c in 2 8 0; do HWLOC_SYNTHETIC='package:2 core:4 pu:1' nodewise run -q --store store -p two.pattern --cores-per-rank $c --launcher ./mpirun --dry-run -- ./app | sed 's|rf [^ ]*/|rf |'; done; cat store/dry.*/launch.rankfile | sed 's/=.* / /'; rm -r store/dry.*
./mpirun -rf launch.rankfile -x OMP_NUM_THREADS=2 -x OMP_PLACES=cores -x OMP_PROC_BIND=close ./app
./mpirun -n 2 ./app
rank 0 slot=0:0-1
rank 1 slot=0:2-3
! 2 ranks do not fit ... --cores-per-rank
! --cores-per-rank ... '0'
$ HWLOC_SYNTHETIC='package:2 core:4 pu:1' nodewise run -q --store store --cores-per-rank 3 --launcher ./mpirun --dry-run -- ./app 2>/dev/null | sed 's/-x [^ ]* //g'
./mpirun -n 2 ./app
## what is started, as JSON and in a file, too
$ nodewise run --store /proc/none -n 1 --launcher ./mpirun --dry-run --json -- ./app "it's"
{
  "schema": "nodewise.run/1",
  "action": "plain",
  "why": "store /proc/none: No such file or directory; name another with --store or NODEWISE_STORE",
  "ranks": 1,
  "hosts": 1,
  "environment": {},
  "command": ["./mpirun", "-n", "1", "./app", "it's"]
}
! /proc/none ... No such file or directory
$ nodewise run --store store -n 1 --launcher ./mpirun --no-store -q -o told -- ./app "it's"; cat told
mpirun (Open MPI) 4.1.4
./mpirun -n 1 ./app 'it'\''s'
$ nodewise run -n 1 --launcher ./mpirun --json -- ./app
! standard output ... -o FILE
? 2
$ nodewise run -n 1 --launcher ./mpirun -o app -- ./app
! 'app' ... input ... -o
? 2
$ nodewise run -n 1 --launcher ./mpirun -o /nowhere/x -- ./app
! /nowhere/x ... No such file or directory
? 1
## no trouble of ours keeps the program from being started
$ nodewise run --store /proc/none -n 1 --launcher ./mpirun --dry-run -- ./app
./mpirun -n 1 ./app
! /proc/none ... No such file or directory
$ touch file && nodewise run --store file -n 1 --launcher ./mpirun --dry-run -- ./app 2>err; sed 's/: [^:]*file:/: file:/' err
./mpirun -n 1 ./app
~ file ... directory
$ printf '# none\nn[1-\n' > bad && nodewise run --store store -n 4 --hostfile bad --launcher ./mpirun --dry-run -- ./app
./mpirun -n 4 --hostfile bad ./app
! bad:2 ... host ... 'n[1-' ... '[' ... ']'
## hosts of a file as map and launch read them; what they refuse is the launcher's to refuse
$ for l in 'me@n1 slots=3 max_slots=4' 'n[1-2] slots = 3 # all' 'n1:2 ifhn=ib0' 'n1 slots=2 slots=3' '[::1]:4' 'n1 sockets=2' ''; do printf "$l\n" > hosts; nodewise run --store store --launcher ./mpirun --hostfile hosts --dry-run --no-store -q -- ./app; done
./mpirun -n 3 --hostfile hosts ./app
./mpirun -n 6 --hostfile hosts ./app
./mpirun -n 2 --hostfile hosts ./app
./mpirun --hostfile hosts ./app
./mpirun --hostfile hosts ./app
./mpirun --hostfile hosts ./app
./mpirun --hostfile hosts ./app
! hosts:1 ... slots ... 2 ... 3
! hosts:1 ... '[::1]:4' ... IPv6 ... address
! hosts:1 ... slots=N ... 'sockets=2'
! hosts:1 ... no host
## Names that a launcher would misread are refused, also behind '--'. Names that the
## launcher itself resolves are left to it. A name of a batch system is on no command line.
$ for h in -x:2 n1,-x:y ../x é +n0:2; do nodewise run --store store -n 2 --hosts "$h" --launcher ./mpirun --dry-run --no-store -q -- ./app; echo "$?"; done
2
2
2
2
./mpirun -n 2 --host +n0:2 ./app
0
! host '-x:2' ... a letter or digit
! host '-x:y' ... a letter or digit
! host '../x' ... a letter or digit
! host 'é' ... a letter or digit
$ nodewise run --store store -n 2 --hosts "$(printf 'a\033[2J')" --launcher ./mpirun --dry-run -- ./app
! host 'a?[2J' ... a letter or digit
? 2
$ nodewise run --store store --hosts -x -p none --launcher ./mpirun --dry-run -- ./app
! host '-x' ... a letter or digit
? 2
$ nodewise run --store store --dry-run --no-store -- ./mpirun -n 2 --host n1,-x ./app
! host '-x' ... a letter or digit
? 2
$ printf 'n1\n-x slots=2\n' >hosts; nodewise run --store store --hostfile hosts --launcher ./mpirun --dry-run --no-store -- ./app
! hosts:2: ... host '-x' ... a letter or digit
? 2
$ printf '+n0\n^n1\n' >hosts; nodewise run --store store --hostfile hosts -n 2 --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 2 --hostfile hosts ./app
$ SLURM_JOB_NODELIST=-x nodewise run --store store -n 2 --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 2 ./app
! host '-x' ... a letter or digit
## hosts of a Slurm allocation, tasks too
$ SLURM_JOB_NODELIST='n[1-2],x' SLURM_NTASKS=6 nodewise run --store store --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 6 ./app
## hosts of other batch systems: a line a slot, a line a host with its slots, pairs, a line a host
$ printf 'n1\nn1\nn2\nn1\n' >slots; printf 'n1 3 all.q@n1 UNDEFINED\nn2 2 all.q@n2 0,1\nn1 1 low.q@n1 UNDEFINED\n' >sizes; printf 'n1\nn2\n' >nodes; for v in PBS_NODEFILE=slots OAR_NODEFILE=slots LSB_DJOB_HOSTFILE=slots PE_HOSTFILE=sizes 'LSB_MCPU_HOSTS=n1 2 n2 4' COBALT_NODEFILE=nodes; do env "$v" nodewise run --store store --launcher ./mpirun --dry-run --no-store --json -q -- ./app | awk -v v="${v%%=*}" '/"ranks"|"hosts"/ {printf "%s ", $2} END {print v}'; done | sed "s/^$(nproc), 2, COBALT/cores, 2, COBALT/; s/^[0-9]*, 2, COBALT/cores, 2, COBALT/"
4, 2, PBS_NODEFILE
4, 2, OAR_NODEFILE
4, 2, LSB_DJOB_HOSTFILE
6, 2, PE_HOSTFILE
6, 2, LSB_MCPU_HOSTS
cores, 2, COBALT_NODEFILE
$ for i in $(seq 32); do seq -f n%.0f 20000; done >many; ulimit -t 20; OAR_NODEFILE=many nodewise run --store store --launcher ./mpirun --dry-run --no-store --json -q -- ./app | awk '/"ranks"/'; nodewise run --store store --hostfile many --launcher ./mpirun --dry-run --no-store --json -q -- ./app | awk '/"ranks"/'
  "ranks": 640000,
  "ranks": 640000,
$ for v in PBS_NODEFILE=none PE_HOSTFILE=nodes 'LSB_MCPU_HOSTS=n1 2 n2'; do env "$v" nodewise run --store store -n 2 --launcher ./mpirun --dry-run --no-store -q -- ./app; done
./mpirun -n 2 ./app
./mpirun -n 2 ./app
./mpirun -n 2 ./app
! PBS_NODEFILE ... none ... No such file or directory
! PE_HOSTFILE ... nodes:1 ... slots ... 'n1'
! LSB_MCPU_HOSTS ... slots ... 'n2'
## Flux is asked: all of the instance, or the job that we are in. A double of flux(1) that
## answers what flux-resource(1) and flux-jobs(1) say, and nothing else.
$ mkdir double; printf '#!/bin/sh\ncase "$*" in\n"resource list -n -s up -o {nodelist}") echo "n[1-3],x";;\n"jobs -n -o {nodelist} f7") echo x;;\n"jobs -n -o {nodelist} f8") ;;\n*) exit 1;;\nesac\n' >double/flux; chmod +x double/flux; for v in FLUX_JOB_ID= FLUX_JOB_ID=f7 FLUX_JOB_ID=f8 FLUX_JOB_ID=f9 SLURM_JOB_NODELIST=n4; do [ $v = FLUX_JOB_ID= ] && set -- -u FLUX_JOB_ID || set -- $v; env "$@" FLUX_URI=local:///run/flux/local PATH="$PWD/double:$PATH" nodewise run --store store -n 4 --launcher ./mpirun --dry-run --no-store --json -q -- ./app | grep -e why -e hosts; done
  "hosts": 4,
  "hosts": 1,
  "why": "FLUX_URI: flux(1) lists no host of this job",
  "hosts": 0,
  "why": "FLUX_URI: flux(1) does not list the hosts of this job",
  "hosts": 0,
  "hosts": 1,
! FLUX_URI ... flux(1) ... host
! FLUX_URI ... flux(1) ... hosts
$ nodewise run --store store --hosts 'n[1-2]:3' --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 6 --host n1:3,n2:3 ./app
## Without '--' too the program's options are its own.
$ nodewise run --launcher ./none ./app -n 3 --help
! './none' ... launcher
? 4
## As many ranks as cores, not as hardware threads, where nobody says how many.
$ HWLOC_SYNTHETIC='package:1 core:3 pu:2' nodewise run --store store --launcher ./mpirun --dry-run --no-store -q -- ./app
./mpirun -n 3 ./app
## More ranks than cores: Open MPI is told that it may, where nobody has said what there is room for.
$ for l in ./mpirun './mpirun --OverSubscribe' './mpirun --map-by :OVERSUBSCRIBE'; do HWLOC_SYNTHETIC='package:1 core:3 pu:2' nodewise run --store store -n 4 --launcher "$l" --dry-run --no-store -q -- ./app; done; echo n1 >one; for v in SLURM_JOB_ID PBS_NODEFILE; do env $v=one HWLOC_SYNTHETIC='package:1 core:3 pu:2' nodewise run --store store -n 4 --launcher ./mpirun --dry-run --no-store -q -- ./app; done
./mpirun --oversubscribe -n 4 ./app
./mpirun --OverSubscribe -n 4 ./app
./mpirun --map-by :OVERSUBSCRIBE -n 4 ./app
./mpirun -n 4 ./app
./mpirun -n 4 ./app
$ printf '#!/bin/sh\necho "mpirun (Open MPI) 5.0.7"\n' >five && mkdir 5 && mv five 5/mpirun && chmod +x 5/mpirun && HWLOC_SYNTHETIC='package:1 core:3 pu:2' nodewise run --store store -n 4 --launcher 5/mpirun --dry-run --no-store -q -- ./app
5/mpirun --map-by :OVERSUBSCRIBE -n 4 ./app
## A quote without its other end.
$ nodewise run --launcher "./mpirun 'x" --dry-run -- ./app
! --launcher ... quote
? 2
## A list of hosts that cannot be read is the launcher's, as it was given.
$ nodewise run --hosts 'a:2,b[' -n 2 --launcher ./mpirun --store store --dry-run -- ./app
./mpirun -n 2 --host 'a:2,b[' ./app
! host ... 'b[' ... '[' ... ']'
## ranks where nobody says: all slots, a bare name's one among them; more than there are numbers for are no sum below 0
$ for l in a:4,b a:2000000000,b:2000000000; do nodewise run --store store --launcher ./mpirun --hosts $l --dry-run --no-store -q -- ./app; done
./mpirun -n 5 --host a:4,b ./app
./mpirun -n 2147483647 --host a:2000000000,b:2000000000 ./app
## a launcher that does not take the mapping is started with the variables that were there before
$ nodewise pattern --generate stencil2d5:dims=1x2 -q -o two.pattern; printf 'nodewise: cluster 1\nname: two\nnode_types:\n  t: {cpu: {synthetic: "package:1 core:2 pu:1"}}\nnodes:\n  - {name: "n[1-2]", type: t, switch: s}\nnetwork: {tree: {switch: s}}\n' >two.yaml
> printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp two.pattern "${r%%%%,*}";;\n*" true") exit 1;;\n*) echo "hosts: $SLURM_HOSTFILE";;\nesac\n' >srun; chmod +x srun
> for i in 1 2; do SLURM_HOSTFILE=mine nodewise run --store hosts.store --launcher ./srun --mpi mpich --hosts n1,n2 -n 2 -t two.yaml -- ./app; done
hosts: mine
! profiled ... 2 ranks
! launcher ... mapping ... started
## while unknown hosts are measured a bar is drawn on a terminal
$ python3 -c 'import os; os.openpty()' 2>/dev/null || { echo SKIP no pseudo terminal; exit 77; }
> printf '#!/bin/sh\ncase "$*" in\n--version) echo slurm 22.05.8;;\n*NODEWISE_RECORD=*) r=${*#*NODEWISE_RECORD=}; cp two.pattern "${r%%%%,*}";;\n*nodewise-probe*) for i in 1 2 3 4 5 6; do echo "@nodewise-probe stage pairs $i 6"; sleep 0.5; done;;\nesac\n' >srun
> for i in 1 2; do python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' nodewise run --store bar.store --launcher ./srun --mpi mpich --hosts n1,n2 -n 2 -- ./app; done | tr '\r' '\n' | grep -c 'pairs \[#* *\].*%' | grep -vx 0 >/dev/null && echo drawn
drawn
## A line pasted behind '--': the launcher's own options stay, those that place ranks too if nothing is mapped.
$ nodewise run --store store -np 4 --launcher './mpirun --oversubscribe' --dry-run --no-store -q -- ./app -np 3
./mpirun --oversubscribe -n 4 ./app -np 3
$ nodewise run --store store --dry-run --no-store -q -- ./mpirun -np 2 --hostfile one --bind-to core -x A=b --mca btl self ./app -np 3
./mpirun -x A=b --mca btl self -n 2 --hostfile one --bind-to core ./app -np 3
$ mkdir hydra; printf '#!/bin/sh\necho "HYDRA build details:"\n' >hydra/mpiexec; printf '#!/bin/sh\necho "slurm 22.05.8"\n' >hydra/srun; printf '# libmpich.so.12\n' >hydra/app; chmod +x hydra/*; nodewise run --store store --dry-run --no-store -q -- hydra/mpiexec -genv A b -ppn 2 -n 4 -hosts a,b hydra/app; nodewise run --store store --dry-run --no-store -q -- hydra/srun -n4 --mpi=pmi2 -w 'a[1-2]' --cpu-bind=cores ./app
hydra/mpiexec -genv A b -n 4 -hosts a,b -ppn 2 hydra/app
hydra/srun --mpi=pmi2 -n 4 -w a1,a2 --cpu-bind=cores ./app
## The number of ranks is that of the launcher: Open MPI gives the slots of its hosts, not the tasks of the Slurm job, and
## counts by ppr, PE and rankfiles; srun starts a rank on each node. srun's -N takes the first hosts, since -N and more
## nodes than the mapping has contradict each other; --exclude takes others.
$ SLURM_JOB_NODELIST='n[1-2]' SLURM_NTASKS=6; export SLURM_JOB_NODELIST SLURM_NTASKS; for l in '--host a:2,b' '--host a,b' '--map-by ppr:1:node' '--map-by socket:PE=2 --host a:4' '-rf file' '--map-by ppr:1:node -n 2' '--map-by core'; do nodewise run --store store --dry-run --no-store -q -- ./mpirun $l ./app; done
./mpirun -n 3 --host a:2,b ./app
./mpirun --host a,b ./app
./mpirun --map-by ppr:1:node ./app
./mpirun --map-by socket:PE=2 --host a:4 ./app
./mpirun -rf file ./app
./mpirun -n 2 --map-by ppr:1:node ./app
./mpirun -n 6 --map-by core ./app
! ranks ... slots ... -n ... started
! ranks ... -n ... started
! ranks ... -n ... started
! ranks ... -n ... started
$ export SLURM_JOB_NODELIST='n[1-3]'; printf 'nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 2}}}\nnodes: [{name: "n[1-3]", switch: s}]\nnetwork: {tree: {switch: s}}\n' >three.yaml; nodewise pattern -q --generate alltoall:ranks=2 -o two.pattern; for l in '' '-N 2' '-N 2 -n 2' '-N 1-2 -n 2' '-x n1 -n 2'; do nodewise run --store store --dry-run --no-store -t three.yaml -p two.pattern -- hydra/srun $l hydra/app 2>&1 | grep -E '^hydra|warning|would' | cut -d/ -f1,2; done
nodewise run: warning: the number of ranks is not in the line (give -n); started as without nodewise
hydra/srun hydra
nodewise run: warning: the number of ranks is not in the line (give -n); started as without nodewise
hydra/srun -N 2 hydra
nodewise run: would map 2 ranks on 2 hosts, topology given
nodewise run: warning: the number of nodes is one number from 1, not '1-2'; started as without nodewise
hydra/srun -N 1-2 -n 2 hydra
nodewise run: warning: '-x' takes hosts out of the job (name the others by -w); started as without nodewise
hydra/srun -x n1 -n 2 hydra
## What only the launcher understands is started as it is.
$ for l in '-n 1 ./app : -n 1 ./app' '--unknown 3 ./app' '-npernode 2 ./app' '-n 2' '-n 2 -host a -host b ./app' '-n 2 --hostfile one -host b ./app' '-n 2 -n 3 ./app'; do nodewise run --store store --dry-run -- ./mpirun $l; done
./mpirun -n 1 ./app : -n 1 ./app
./mpirun --unknown 3 ./app
./mpirun -npernode 2 ./app
./mpirun -n 2
./mpirun -n 2 -host a -host b ./app
./mpirun -n 2 --hostfile one -host b ./app
./mpirun -n 2 -n 3 ./app
! several programs ... started
! '--unknown' ... value ... started
! ranks ... -n ... started
! no program ... './mpirun' ... started
! hosts ... twice ... started
! hosts ... twice ... started
! number of ranks ... twice ... started
## Another launcher, or one behind another command, is started as it is: mpirun in front would start it several times.
$ for l in 'jsrun -n 4' 'flux run -n 4' 'env A=b ./mpirun -n 2'; do nodewise run --store store --dry-run --no-store -q -- $l ./app; done; nodewise run --store store --dry-run --no-store -q -n 2 --launcher ./mpirun -- torchrun ./app
jsrun -n 4 ./app
flux run -n 4 ./app
env A=b ./mpirun -n 2 ./app
./mpirun -n 2 torchrun ./app
! 'jsrun' ... nodewise launch --list ... started
! 'flux' ... nodewise launch --list ... started
! './mpirun' ... 'env' ... started
## Ranks and hosts are options of nodewise run, not of --launcher, which could contradict them.
$ nodewise run --store store --launcher './mpirun -x A -n 4' --dry-run -- ./app
! --launcher ... '-n' ... nodewise run
? 2
$ nodewise run --store store --launcher './mpirun --host a' --dry-run -- ./app
! --launcher ... '--host' ... nodewise run
? 2
## Said twice.
$ nodewise run -n 3 -- ./mpirun -n 4 ./app
! ranks ... '--'
? 2
$ nodewise run --hosts a -- ./mpirun -n 4 --host b ./app
! hosts ... '--'
? 2
$ nodewise run --launcher ./mpirun -- ./mpirun -n 4 ./app
! launcher ... '--'
? 2
