## The paper's example, figure 4: [2,6,1] nodes, then [2,2,1] GPUs of 1 x 2 x 2.
$ nodewise halo plan -n 4x24x2 --nodes 12 --slots 4 --partition paper | sed -n 1,2p
domain     4 x 24 x 2
partition  nodes [2,6,1], slots [2,2,1], 48 pieces

## Its placement case: the best of all 720 carries a quarter less over the
## busiest link than placement in order (proven in tests/unit/test_halo.c).
$ nodewise halo plan -t summit:1 -n 1440x1452x700 -r 3 --quantities 4 --element 4
domain     1440 x 1452 x 700
partition  nodes [1,1,1], slots [2,3,1], 6 pieces
exchange   693 MB, 0 B of it between nodes, 201 MB inside pieces
placement  20.1 ms in nodes, in order 23.3 ms, proven best
predicted  1.56 ms, in order 2.05 ms: 24 % less

method     pairs      bytes
kernel         6     201 MB  one kernel inside a GPU
colocated     30     492 MB  the same to another process by IPC

piece  node  slot  cells
    0     0     0  [0,720) x [0,484) x [0,700)
    1     0     4  [720,1440) x [0,484) x [0,700)
    2     0     2  [0,720) x [484,968) x [0,700)
    3     0     3  [720,1440) x [484,968) x [0,700)
    4     0     1  [0,720) x [968,1452) x [0,700)
    5     0     5  [720,1440) x [968,1452) x [0,700)

## Two pieces of 4 x 4 cells, open: one face of 4 cells each way.
$ nodewise halo plan -n 8x4 --border open --slots 2 --element 1 --pairs | tail -3
 from    to      bytes       time  method
    0     1        4 B     551 ns  direct
    1     0        4 B     551 ns  direct

## By the model: faces, edges and corners each their way; times by hand in
## tests/unit/test_halo.c.
$ nodewise halo plan -t $FIXTURES/topology/valid/pairs.yaml --nodes 1 -n 512x512x256 --border open --placement trivial --choose model --pairs | sed -n '/^method/,/^$/p;/^ from/,/^    1/p'
method     pairs      bytes
write          8    2.11 MB  one kernel writes the peer GPU's ghost cells
peer3d         4     2.1 MB  3-D copies between GPUs, nothing packed

 from    to      bytes       time  method
    0     1     524 kB    14.3 us  write
    0     2     524 kB      31 us  peer3d
    0     3    2.05 kB    8.91 us  write
    1     0     524 kB    14.3 us  write
$ nodewise halo plan -n 8x8x8 -n 4 | sed -n 1p
domain     4 x 1 x 1
$ nodewise halo plan -n 8x8x8 --slots 2 --choose best 2>/dev/null
? 2

## A halo twice as deep every other step: 2 x 8 cells in each direction against
## 8, so no more bytes a step but for the corners.
$ nodewise halo plan -n 8x8 --border open --slots 2 --element 1 --interval 2 | grep interval
interval   2 steps: 16 B a step instead of 16 B; breaks even where a message costs as much as 0 B
$ nodewise halo plan -n 8x8x8 --slots 2 --json | grep -c '"method": '
4
$ nodewise halo plan -t summit:2 -n 64x64x64 --pattern p --mapping m --svg s >/dev/null && nodewise evaluate -t summit:2 -p p m >/dev/null && grep -c '<rect' s
12
$ grep -c -e '>64 x 64 x 64 cells, x to the right, y down<' -e '>each piece is labelled node.slot<' s
2
$ nodewise halo plan -n 1x1x99 --nodes 1 --slots 99 --svg layers >/dev/null; grep -o 'node.slot; layers .* drawn' layers
node.slot; layers above are not drawn
$ nodewise halo plan -n 0x4x4
! domain ... 0 cells ... 2^40
? 2
$ nodewise halo plan -n 3x3x3 --slots 64
! 3 x 3 x 3 cells ... 64 parts
? 2
$ nodewise halo plan -n 2x2x2 -r 3
! domain ... 2 cells ... 3
? 2
$ nodewise halo plan -t nowhere.yaml -n 4x4x4 2>/dev/null
? 3
$ nodewise halo tune 2>/dev/null
? 2

$ for b in open,periodic open,open,open,mirror open,; do nodewise halo plan -n 8x8x8 --border $b 2>&1 | sed 1q; done
~ --border ... commas ... 'open,periodic'
~ --border ... commas ... 'open,open,open,mirror'
~ --border ... commas ... 'open,'
$ nodewise halo plan -n 8x8x8 --border open,periodic,mirror -q >/dev/null
## A program in the place of a launcher is not started.
$ nodewise halo tune --cache none -n 8x8x8 -- cat x
! 'cat' ... launcher ... MPI
? 2

## Measured choices: none yet; and none without a launcher.
$ nodewise halo tune --cache none --show
nothing is kept
$ nodewise halo tune --cache none --clear
$ nodewise halo tune -n 8x8x8
! -- mpirun -n 2
? 2
$ nodewise halo tune --show --cache $FIXTURES/pattern/valid/small.pattern 2>/dev/null
? 3

## What belongs to the other command is refused before anything is started.
$ for o in --svg=x --pattern=x --mapping=x --pairs; do nodewise halo tune -n 8x8x8 $o --cache none -- touch started 2>&1 | sed 1q; done; ls x started 2>/dev/null
~ --svg ... --pattern ... --mapping ... --pairs ... plan
~ --svg ... --pattern ... --mapping ... --pairs ... plan
~ --svg ... --pattern ... --mapping ... --pairs ... plan
~ --svg ... --pattern ... --mapping ... --pairs ... plan
? 2
$ nodewise halo plan -n 8x8x8 --cache none
! --show ... --clear ... --cache ... tune
? 2

## On a machine without GPUs the pieces go to cores and the bytes are of host
## memory: 27 pieces of 16 cells a side have 26 neighbours each, and 18^3 - 16^3
## ghost cells of 8 bytes.
$ nodewise halo plan -t "hwloc:package:3 core:9" -n 48x48x48 --pattern p --mapping m | tail -n +2 | head -2
partition  nodes [1,1,1], slots [3,3,3], 27 pieces
exchange   375 kB, 0 B of it between nodes, 0 B inside pieces
$ sed -n '2,3p' p; grep -c -- " -$" m
ranks 27 edges 702
0 1 hh 2048 1
27
$ nodewise halo plan -t "hwloc:package:2 core:4" -n 64 | grep slots
partition  nodes [1,1,1], slots [8,1,1], 8 pieces

## Tuning: what no rank could exchange is said before any is started, and a file
## of something else stays as it is.
$ nodewise halo tune -n 8x8x8 -r 9 --cache none -- mpirun -n 2
! domain ... 8 cells ... 9
? 2
$ echo mine > other; nodewise halo tune -n 8x8x8 --cache other -- mpirun -n 2; cat other
! other:1 ... 'nodewise halo choices '
mine
## A plan needs a domain; one cell without neighbours has nothing to exchange.
$ nodewise halo plan
! domain ... -n ... XxYxZ
? 2
$ nodewise halo plan -n 1x1x1 --border open 2>&1 | grep -c 'runtime error\|^exchange   0 B'
1

$ for n in frob 1x2x3x4 ''; do nodewise halo plan -n "$n" 2>&1 | head -1; done
~ --cells is XxYxZ, XxY or X, not 'frob'
~ --cells is XxYxZ, XxY or X, not '1x2x3x4'
~ --cells is XxYxZ, XxY or X, not ''

## More bytes than can be counted; files that cannot be written are no bad input.
$ nodewise halo plan -n 4000000000x4000000000x4000000000
! domain ... 4000000000 ... 8 bytes ... 2^58
? 2
$ for o in svg pattern mapping; do nodewise halo plan -t magc-a -n 8x8 --$o /nowhere/x; echo $?; done
1
1
1
! /nowhere/x ... No such file or directory
! /nowhere/x ... No such file or directory
! /nowhere/x ... No such file or directory
## A search on distances that are no tree says where it is, on a terminal.
$ python3 -c 'import os; os.openpty()' 2>/dev/null || { echo SKIP no pseudo terminal; exit 77; }; printf 'nodewise: cluster 1\nname: torus\nnode_types:\n  t:\n    cpu: {packages: 1, cores: 1}\nnodes:\n  - {name: "n[1-18]", type: t}\nnetwork:\n  torus: {dimensions: [3, 6]}\n' >torus.yaml; python3 -c 'import pty; pty.spawn("nodewise halo plan -n 36x36x8 -t torus.yaml --progress=always".split())' | tr '\r' '\n' | grep -c '\[#* *\].*%' | grep -vx 0 >/dev/null && echo drawn
drawn
