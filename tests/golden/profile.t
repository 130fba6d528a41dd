## what ranks leave after a bad end is checked before it is believed
$ cp $FIXTURES/profile/invalid/* . && nodewise profile --merge empty
! empty ... no part files
? 4
$ nodewise profile --merge short
! short.part.0:1 ... cut short
? 3
$ nodewise profile --merge magic
! magic.part.0:1 ... profile
? 3
$ nodewise profile --merge order
! order.part.0:1 ... byte order
? 3
$ nodewise profile --merge rank
! rank.part.0:1 ... rank 2
? 3
$ nodewise profile --merge count
! count.part.0:1 ... damaged
? 3
$ nodewise profile --merge state
! state.part.0:1 ... damaged
? 3
$ nodewise profile --merge peer
! peer.part.0:1 ... damaged
? 3
$ nodewise profile --merge negative
! negative.part.0:1 ... damaged
? 3
$ nodewise profile --merge class
! class.part.0:1 ... damaged
? 3
$ nodewise profile --merge twice
! twice.part.00:1 ... run ... twice.part.0
? 3
$ ls | grep -v part
? 1
$ nodewise profile --merge nothing
! nothing ... no part files
? 4
## What cannot be written is no fault of what is read, and parts are kept.
$ cp $SOURCE/tests/fuzz/corpus/part/good good.part.0; for o in /dev/full /nowhere/x good.part.0 ./good.part.0 good.pattern; do nodewise profile --merge good -o $o; echo $?; done; cmp good.part.0 $SOURCE/tests/fuzz/corpus/part/good; ls good*
1
1
2
2
0
good.part.0
good.pattern
! /dev/full ... No space left on device
! /nowhere/x ... No such file or directory
! 'good.part.0' ... input ... -o
! './good.part.0' ... input ... -o
## usage
$ nodewise profile -- mpirun -n 2 ./app
! standard output ... -o FILE
? 2
$ for models in foo bcast:ring allreduce:ring,gather "" off,bcast:binomial; do nodewise profile --collectives "$models" -o x.pattern -- ./nothing 2>&1 | sed -n 1p; done
~ --collectives ... 'foo' ... allreduce:ring
~ --collectives ... 'bcast:ring' ... allreduce:ring
~ --collectives ... 'gather' ... allreduce:ring
~ --collectives ... '' ... allreduce:ring
~ --collectives ... 'off' ... allreduce:ring
$ for models in off bcast:binomial,scan:auto; do nodewise profile --collectives "$models" -o x.pattern -- ./nothing 2>&1; done
~ MPI ... './nothing'
~ MPI ... './nothing'
? 4
$ for o in 0 soon 10 10parsecs; do nodewise profile --phases=$o -o x.pattern -- ./nothing 2>&1 | sed -n 1p; done
~ --phases ... 10s ... '0'
~ --phases ... 10s ... 'soon'
~ MPI ... './nothing'
~ --phases ... 10s ... '10parsecs'
$ nodewise profile --phases --nccl -o x.pattern -- ./nothing 2>&1 | sed -n 1p; nodewise profile --phases --merge x 2>&1 | sed -n 1p
~ --nccl ... --phases
~ --merge ... --phases
$ for o in --nccl '--mpi mpich' '--collectives off'; do nodewise profile --merge x $o 2>&1 | sed -n 1p; done
~ --merge ... --nccl
~ --merge ... --mpi
~ --merge ... --collectives
$ nodewise profile -o x.pattern -- ./nothing
! MPI ... './nothing'
? 4
## a rank that was killed before it wrote anything left an empty file: as if there was none
$ cp $SOURCE/tests/fuzz/corpus/part/good rest.part.0; : >rest.part.1; nodewise profile --merge rest; grep partial rest; ls rest*
partial: rank 0 called MPI_Abort with code 5, only 1 of 2 ranks left their part
rest
rest.part.1
## Pipes and folders are not parts, also if they are named so: --merge does not wait for them.
$ cp $SOURCE/tests/fuzz/corpus/part/good pipe.part.0; mkfifo pipe.part.1 pipe.part.1.0123456789abcdef; mkdir pipe.part.2; timeout 60 nodewise profile --merge pipe; grep partial pipe; ls -d pipe*
partial: rank 0 called MPI_Abort with code 5, only 1 of 2 ranks left their part
pipe
pipe.part.1
pipe.part.1.0123456789abcdef
pipe.part.2
## of several programs the last one's parts; only what is a part by name and content is removed
$ for l in 0123456789abcdef fedcba9876543210; do cp $SOURCE/tests/fuzz/corpus/part/good more.part.0.$l; sleep 0.1; done; : >more.part.1.fedcba9876543210; echo mine | tee more.part.0_my_notes.txt more.part.7 more.spawn.2024-results more.part.0.fedcba987654321 >/dev/null; touch -d 2000-01-01 more.part.7; nodewise profile --merge more; ls more*; cat more.part.7
more
more.part.0.fedcba987654321
more.part.0_my_notes.txt
more.part.7
more.spawn.2024-results
mine
## parts of a rank that is alive stay
$ cp $SOURCE/tests/fuzz/corpus/part/good held.part.0.0123456789abcdef; flock held.part.0.0123456789abcdef nodewise profile --merge held; ls held*
held
held.part.0.0123456789abcdef
## A part is an input, whatever characters its name has.
$ echo >'x[1].part.0'; nodewise profile --merge 'x[1]' -o 'x[1].part.0'
! 'x[1].part.0' ... input ... -o
? 2
