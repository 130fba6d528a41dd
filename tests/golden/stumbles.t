## What a first user wrote, and what Nodewise answers: the names that were meant, and the way out.
$ printf 'nodewise pattern 1\nranks 4 edges 1\n0 1 hh 100 1\n' > app.pattern; nodewise tpology
! unknown command 'tpology' ... did you mean 'topology'?
? 2
$ nodewise map -t dgx-h100:1 -p app.pattern --algorithm multilevl
! unknown algorithm 'multilevl' ... did you mean 'multilevel'?
? 2
$ nodewise map -t dgx-h10:2 -p app.pattern
! 'dgx-h10:2' ... did you mean 'dgx-h100'?
? 2
$ nodewise map -t hwlok:core:4 -p app.pattern
! 'hwlok:core:4' ... did you mean 'hwloc:'?
? 2
$ nodewise pattern --generate stencil2d6:dims=2x2
! unknown generator 'stencil2d6' ... did you mean 'stencil2d
? 2
$ nodewise launch -t dgx-h100:1 --for opnmpi4 x
! unknown launcher 'opnmpi4' ... did you mean 'openmpi4'?
? 2
$ nodewise bench patern
! unknown benchmark 'patern' ... did you mean 'pattern'?
? 2
$ nodewise map -t dgx-h100:1 -p app.pattern --algoritm multilevel
! unrecognized option '--algoritm'
! nodewise map ... did you mean '--algorithm'?
? 2
$ nodewise map -t dgx-h100:1 -p app.pattern --nothing-like-it
! unrecognized option '--nothing-like-it'
? 2

## The forgotten --.
$ nodewise profile -o p mpirun -n 2 ./app
! invalid option -- 'n'
! nodewise profile ... put -- in front of 'mpirun'
? 2
$ nodewise probe mpiexec.hydra --hosts n1
! unrecognized option '--hosts'
! nodewise probe ... put -- in front of 'mpiexec.hydra'
? 2

## A file that is missing has no line; help by its usual names.
$ nodewise map -t dgx-h100:1 -p app.patern
! app.patern: No such file or directory
? 3
$ nodewise help map | head -1; nodewise map -h | head -1; nodewise -h | head -1
Usage: nodewise map [OPTION...]
Usage: nodewise map [OPTION...]
Usage: nodewise COMMAND [OPTION...]

## Times and sizes with their units.
$ nodewise map -q -t "hwloc:package:1 core:4 pu:1" -p app.pattern --time 0.0001h -o m; nodewise map -q -t "hwloc:package:1 core:4 pu:1" -p app.pattern --time 5x -o m
! --time is a time such as 90s or 5m, not '5x'
? 2
$ nodewise pattern -q --generate stencil2d5:dims=2x1,bytes=64k --to list | head -1
0 1 64000
