## What is here is found by programs of our own making in PATH.
$ mkdir bin; printf '#!/bin/sh\necho "mpirun (Open MPI) 5.0.3"\n' > bin/mpirun; printf '#!/bin/sh\nprintf "HYDRA build details:\\n    Version:     4.2.1\\n"\n' > bin/mpiexec; printf '#!/bin/sh\necho "slurm 23.11.4"\n' > bin/srun; printf '#!/bin/sh\n' > bin/ibtracert; chmod +x bin/*
$ nw=$(command -v nodewise); PATH=$PWD/bin $nw doctor > list; sed -n "s,$PWD/,,; / Open MPI .*bin/p; / MPICH .*bin/p; / Slurm /p; / ibtracert /p" list
  + Open MPI               bin/mpirun: mpirun (Open MPI) 5.0.3
  + MPICH                  bin/mpiexec: 4.2.1
  + Slurm                  bin/srun: slurm 23.11.4
  + ibtracert              bin/ibtracert
$ grep -A1 -e '- Flux ' -e '- MVAPICH ' list
  - MVAPICH                missing
                           needed for: nodewise launch --for mvapich
--
  - Flux                   missing
                           needed for: nodewise launch --for flux
$ PATH= $(command -v nodewise) doctor | grep ' Slurm '
  - Slurm                  missing
$ SLURM_JOB_NODELIST=n7 nodewise doctor | grep 'batch job'
  + batch job              SLURM_JOB_NODELIST=n7
$ PE_HOSTFILE=/spool/7 nodewise doctor | grep 'batch job'; OAR_NODEFILE=/var/7 nodewise doctor | grep 'batch job'
  + batch job              PE_HOSTFILE=/spool/7
  + batch job              OAR_NODEFILE=/var/7
$ nodewise doctor | grep -E '^[A-Z]' | tr '\n' ' '
MPI Launchers Machine GPUs Fabrics Libraries Permissions 
## A launcher that does not answer is told, and ended with what it has started.
$ mkdir mute; printf '#!/bin/sh\n'"$(command -v sleep)"' 300 & echo $! > $0.$PPID; wait\n' > mute/mpirun; chmod +x mute/mpirun; nw=$(command -v nodewise)
> PATH=$PWD/mute $nw doctor > list & PATH=$PWD/mute $nw run -n 2 -- /bin/true; echo $?; wait
> for i in $(seq 1000); do grep -qs '^State:.[^Z]' $(sed 's,.*,/proc/&/status,' mute/mpirun.*) || break; sleep 0.1; done
> grep -s '^State:.[^Z]' $(sed 's,.*,/proc/&/status,' mute/mpirun.*); ls mute/mpirun.* | wc -l; sed -n "s,$PWD/,,; / - Open MPI /p; / - MPICH /p" list
4
2
  - Open MPI               mute/mpirun: --version does not end within 20 s
  - MPICH                  mute/mpirun: --version does not end within 20 s
! 'mpirun --version' ... 20 s
! launcher ... MPI ... PATH
## What doctor says of the machine is what topology says.
$ nodewise doctor | sed -n 's/.*this machine *cores: \([0-9]*\),.*/\1/p' > cores; nodewise topology live --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["element_count"])' | cmp - cores
$ nodewise doctor --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["schema"], {f["state"] for f in d["findings"]} <= {"here","missing","denied"}, all(f["gives"] for f in d["findings"]))'
nodewise.doctor/1 True True
$ nodewise doctor --env | grep -A1 ^NODEWISE_COLLECTIVES | grep -o 'CALL[^ ]*'
CALL:MODEL[,CALL:MODEL...]|off
$ NODEWISE_RECORD=x.pattern nodewise doctor --env | grep -A2 ^NODEWISE_RECORD=
NODEWISE_RECORD=FILE
    write the program's pattern to FILE
    now: x.pattern
$ nodewise doctor -o out.txt; grep -c Permissions out.txt
1
## With -o the JSON goes to the file, as everything that a command is asked for.
$ for what in "doctor" "doctor --env" "map --list" "launch --list" "topology --list" "run --list" "evaluate -t hierarchy:2 -p generate:hypercube:ranks=2" "simulate --estimate -t magc-a -p generate:hypercube:ranks=2" "halo plan -t summit:1 -n 64x64x64"; do nodewise $what --json -o out.json; nodewise $what --json | cmp - out.json; done
$ nodewise doctor --what 2>/dev/null
? 2
## An installed tree that was moved finds what belongs to it.
$ mkdir -p moved/bin moved/libexec/nodewise; cp "$(command -v nodewise)" moved/bin; printf '#!/bin/sh\n' > moved/libexec/nodewise/nodewise-simgrid; chmod +x moved/libexec/nodewise/*; env -u NODEWISE_SIMGRID moved/bin/nodewise doctor | grep -o 'moved/libexec/.*'; rm -r moved
moved/libexec/nodewise/nodewise-simgrid

## Values come from anywhere: what would move the cursor is shown as ?.
$ NODEWISE_RECORD=$(printf 'a\033[2Jb') nodewise doctor --env | grep -A 2 ^NODEWISE_RECORD=
NODEWISE_RECORD=FILE
    write the program's pattern to FILE
    now: a?[2Jb
$ SLURM_JOB_NODELIST=$(printf '7\033[2J') nodewise doctor | grep 'batch job'
  + batch job              SLURM_JOB_NODELIST=7?[2J
