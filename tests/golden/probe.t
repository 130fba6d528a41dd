## What is refused before anything is started.
$ nodewise probe
! nodewise probe -- mpirun -n 8
? 2
$ nodewise probe --time never -- mpirun -n 2
! --time ... 30s ... 'never'
? 2
$ nodewise probe --mpi lam -- mpirun -n 2
! --mpi ... openmpi ... 'lam'
? 2
$ nodewise probe -- cat
! MPI ... 'cat'
? 4
$ nodewise probe -- ./nowhere/mpirun -n 2
! './nowhere/mpirun' ... launcher ... MPI ... MPICH
? 4
## Two results have two files.
$ nodewise probe -o x --matrix x -- touch started; echo $?; nodewise probe --matrix - -- touch started; echo $?; nodewise probe --json --matrix - -- touch started; echo $?; nodewise probe --json -o y --matrix - -- touch started; echo $?; ls
! -o ... --matrix
! --matrix ... standard output
! --json ... --matrix ... standard output
! --json ... --matrix ... standard output
2
2
2
2
## Who ends it ends the launcher: it is waited until the signals are caught.
$ printf '#!/bin/sh\ntrap "echo ended >ended; exit 0" TERM\necho >started\nfor i in $(seq 1200); do sleep 0.05; done\n' >slow; chmod +x slow; built=$(dirname "$(command -v nodewise)"); mpi=openmpi; [ -x "$built/nodewise-probe-$mpi" ] || mpi=mpich
> for s in TERM HUP KILL; do
>   rm -f started ended; env --default-signal=HUP nodewise probe --mpi $mpi -o machine -- ./slow & p=$!
>   for i in $(seq 3000); do [ -e started ] && grep -Eq '^SigCgt:.[0-9a-f]{12}[4-7c-f]' /proc/$p/status && break; sleep 0.02; done
>   kill -$s $p; wait $p; echo $?; for i in $(seq 3000); do [ -e ended ] || sleep 0.02; done; cat ended
> done 2>/dev/null; ls machine* 2>/dev/null
143
ended
129
ended
137
ended
? 2
## A job of which nothing is heard.
$ built=$(dirname "$(command -v nodewise)"); mpi=openmpi; [ -x "$built/nodewise-probe-$mpi" ] || mpi=mpich; nodewise probe --mpi $mpi -- true
! measured ... 'true' ... status 0
? 1
## A NUL byte of the launcher does not end the reading.
$ built=$(dirname "$(command -v nodewise)"); mpi=openmpi; [ -x "$built/nodewise-probe-$mpi" ] || mpi=mpich; nodewise probe --mpi $mpi -- sh -c 'printf "one\0two\nthree\n"'
! one?two
! three
! measured ... 'sh' ... status 0
? 1
## What stands in front of a program leaves its input alone.
$ built=$(dirname "$(command -v nodewise)"); mpi=openmpi; [ -x "$built/nodewise-probe-$mpi" ] || mpi=mpich; echo kept | { nodewise probe --mpi $mpi -- sh -c 'cat >/dev/null'; cat; }
kept
! measured ... 'sh' ... status 0
