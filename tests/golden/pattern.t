## The example of the man page: an open 2 x 2 grid, three times more along the
## first dimension.
$ nodewise pattern --generate stencil2d5:dims=2x2,bytes=10,weights=3:1 --to list -q
0 1 10
0 2 30
1 0 10
1 3 30
2 0 30
2 3 10
3 1 30
3 2 10

## MAGC's COL at 64 ranks: 16 groups of 4, 4 x 3 ordered pairs each; the file
## reads back, and the table goes to stdout beside -o.
$ nodewise pattern --generate col:dims=4x4x4,bytes=1000,kind=gg -o col.pattern && head -4 col.pattern
ranks    64
edges    192 (0 to the rank itself)
partners 3 to 3, mean 3.0
note     col:dims=4x4x4,bytes=1000,kind=gg
KIND EDGES  BYTES MESSAGES MEAN MESSAGE  LARGEST EDGE
gg     192 192000      192         1 kB 0 -> 16: 1000
nodewise pattern 1
ranks 64 edges 192
note: col:dims=4x4x4,bytes=1000,kind=gg
0 16 gg 1000 1

$ nodewise pattern $FIXTURES/pattern/valid/small.pattern
ranks    4
edges    5 (1 to the rank itself)
partners 0 to 2, mean 0.8
program  ./jacobi -n 512
KIND EDGES   BYTES MESSAGES MEAN MESSAGE    LARGEST EDGE
hh       3 3146752       50      62.9 kB 1 -> 2: 1049600
gg       1 8388608        8      1.05 MB 1 -> 2: 8388608
gh       1      64        1         64 B      3 -> 3: 64
  MESSAGE SIZE COUNT
      64 - 127     1
    512 - 1023     2
65536 - 131071    48

## The written file is the read one, but for its comment.
$ nodewise pattern $FIXTURES/pattern/valid/small.pattern --to native -q | diff - $FIXTURES/pattern/valid/small.pattern
3a4
> # rank 0 sends its lower border to rank 1
? 1

$ nodewise pattern --generate stencil2d5:dims=4x4,bytes=8 -o host.pattern -q
$ nodewise pattern --combine host.pattern host.pattern --json
{
  "schema": "nodewise.pattern/1",
  "ranks": 16,
  "edges": 96,
  "self_edges": 0,
  "partners": {
    "fewest": 2,
    "most": 4,
    "mean": 3
  },
  "kinds": {
    "hh": {
      "edges": 48,
      "bytes": 384,
      "messages": 48,
      "largest": {
        "src": 0,
        "dst": 1,
        "bytes": 8,
        "messages": 1
      }
    },
    "gg": {
      "edges": 48,
      "bytes": 384,
      "messages": 48,
      "largest": {
        "src": 0,
        "dst": 1,
        "bytes": 8,
        "messages": 1
      }
    }
  }
}
$ nodewise pattern --combine host.pattern col.pattern
! pattern ... 16 ranks ... GPU ... 64
? 3
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 18446744073709551615 1\n0 1 gg 1 1\n' >full; printf 'nodewise pattern 1\nranks 2 edges 0\n' >none; nodewise pattern --combine none full
! full ... edge 0 -> 1 ... 2^64
? 3

## Scaled 4 x 4 is generated 8 x 8.
$ nodewise pattern --generate stencil2d5:dims=8x8,bytes=8 --to mm -q > large && nodewise pattern host.pattern --scale 64 --to mm -q | cmp - large && echo same
same
$ nodewise pattern large --scale 16 | grep ^scaled
scaled   hh: 2-D 5-point stencil with open borders on 8x8, scaled to 4x4; each edge keeps its bytes
$ nodewise pattern host.pattern --scale 61 -o scaled; echo $?; ls scaled 2>&1 | grep -c 'No such'
! 61 ranks ... shape ... 4x4
4
1
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 0 hh 9 1\n' >self.pattern; nodewise pattern self.pattern --to metis
! METIS ... ranks 0 and 0
? 4

$ nodewise pattern host.pattern --svg map.svg -q >/dev/null && head -c 4 map.svg
<svg
$ nodewise pattern host.pattern --to metis -q | head -3
16 24 1
2 8 5 8
1 8 3 8 6 8
## A rank that is too large is the word in the message.
$ for line in '2147483647 0 5' '0 2147483647 5'; do echo $line | nodewise pattern list:-; done; printf '0 init\n2147483647 init\n' | nodewise pattern ti:-
! standard input:1 ... rank ... '2147483647'
! standard input:1 ... rank ... '2147483647'
! standard input:2 ... rank ... '2147483647'
? 3
## METIS has no edge of weight 0.
$ printf 'nodewise pattern 1\nranks 3 edges 4\n0 1 hh 0 5\n0 2 hh 7 1\n1 0 hh 0 5\n2 0 hh 7 1\n' >empty; nodewise pattern empty --to metis -q
3 1 1
3 7

1 7
$ nodewise pattern col.pattern --kind hh
ranks    64
edges    0 (0 to the rank itself)
partners 0 to 0, mean 0.0
note     col:dims=4x4x4,bytes=1000,kind=gg
$ nodewise pattern col.pattern --to xml
! pattern ... 'xml'
? 2
$ nodewise pattern --generate stencil2d5:dims=4x4,colour=red
! stencil2d5 ... 'colour'
? 2
$ nodewise pattern
! PATTERN
? 2
$ nodewise pattern col.pattern -o /nowhere/x
! /nowhere/x ... No such file or directory
? 1

## Each bad input is one line with its place, exit 3, and no output.
$ cd $FIXTURES/pattern/invalid && for f in *; do nodewise pattern ${f%%-*}:$f --json -o "$OLDPWD/out" 2>&1; echo $?; done; ls "$OLDPWD/out" 2>&1 | grep -c 'No such'
~ list-duplicate:3 ... edge 0 -> 1
3
~ list-inf:1 ... bytes ... 'inf'
3
~ list-sparse:1 ... id 1999999999 ... file ... 15 bytes
3
~ matrix-negative:1 ... bytes ... '-1'
3
~ matrix-oblong:2 ... file ... 3 rows
3
~ metis-huge:1 ... 99999999999999 ranks ... file ... 17 bytes
3
~ metis-one-way:2 ... edge 1 ... missing ... vertex 2
3
~ metis-range:2 ... vertex 3 ... outside
3
~ metis-truncated:3 ... 2 ... vertices
3
~ metis-weights-differ:2 ... edge 1 ... vertex 2
3
~ mm-complex:1 ... integer ... 'complex'
3
~ mm-oblong:2 ... 2 rows ... 3 columns ... square
3
~ mm-truncated:3 ... 2 ... entries
3
~ native-cut-line:4 ... bytes
3
~ native-duplicate:4 ... edge 0 -> 1
3
~ native-empty:1 ... empty
3
~ native-huge:3 ... bytes ... '18446744073709551616'
3
~ native-many-edges:2 ... 18446744073709551615 edges ... 54 bytes
3
~ native-many-ranks:2 ... 2147483647 ranks ... file ... 44 bytes
3
~ native-nan:3 ... bytes ... 'nan'
3
~ native-negative:3 ... bytes ... '-5'
3
~ native-not-utf8:3 ... UTF-8 ... text
3
~ native-nul:3 ... UTF-8 ... text
3
~ native-order:4 ... source 0
3
~ native-other-kind:1 ... 'nodewise pattern 1'
3
~ native-range:3 ... rank 2 ... outside
3
~ native-truncated:3 ... file ... 2 edges
3
~ native-version:1 ... pattern ... version 9
3
~ qaplib-truncated:5 ... distances
3
~ ti-action:2 ... 'teleport'
3
~ ti-range:2 ... rank 5 ... outside
3
1
$ nodewise pattern /nowhere
! /nowhere ... No such file or directory
? 3
$ nodewise pattern .
! . ... directory
? 3
$ printf '0 1 5\n1 2 5\n2 0 5\n' > three.txt; nodewise pattern three.txt
! three.txt:1 ... format
? 3
$ nodewise pattern list:three.txt --to matrix -q
0 5 0
0 0 5
5 0 0

## Open MPI's own figures of NPB cg.S on 16 ranks, added up without us.
$ [ -d $SHARED/data/monitoring ] || { echo SKIP no shared data; exit 77; }; cat $SHARED/data/monitoring/cg.S.16/*.prof | awk '$1 == "E" { print $2, $3, $4 }' | sort > sum; nodewise pattern monitoring:$SHARED/data/monitoring/cg.S.16/prof --to list -q | sort | cmp - sum && echo same
same

## The traces of 32 ranks: the models of the man page added up by awk.
$ [ -d $SHARED/data/traces ] || { echo SKIP no shared data; exit 77; }
> cat $SHARED/data/traces/simgrid-ti32/*.txt | awk 'BEGIN { n = 32 }
> $2 == "alltoall" { b += $3 * 8 * (n - 1) }
> $2 == "alltoallv" { for (i = 0; i < n; i++) if (i != $1) b += $(4 + i) * 8 }
> $2 == "bcast" { b += $3 * 8 * (n - 1) / n }
> $2 == "allreduce" { b += 2 * $3 * ($5 == "1" ? 4 : 8) * (n - 1) / n }
> $2 == "gather" { if ($1 != $5) b += $3 * 8 }
> END { printf "bytes %.0f\n", b }'
> nodewise pattern ti:$SHARED/data/traces/simgrid-ti32 --json | awk '/"bytes"/ { print "bytes", $2 + 0; exit }' OFMT=%.0f CONVFMT=%.0f
bytes 6935728496
bytes 6935728496

## Measured lists: sparse ids of Theta are 64 ranks; the file's sum is ours.
$ [ -d $SHARED/data/patterns ] || { echo SKIP no shared data; exit 77; }
> f=$SHARED/data/patterns/hopbyte_MiniMD_Theta_n64_c1_w_hopbyte.txt
> nodewise pattern list:$f --compact --json | awk '/"(ranks|edges|bytes)":/ && n < 4 { printf n++ ? " %.0f" : "%.0f", $2 }'; echo
> awk '{ s += $3; n++; id[$1]; id[$2] } END { printf "%d %d %.0f\n", length(id), n, s }' $f
64 384 384 2188745604
64 384 2188745604

## A list of traces that holds something else.
$ printf '\nranks of the run\n' >list.ti; nodewise pattern ti:list.ti
! list.ti:2 ... 'ranks of the run' ... trace ... No such file or directory
? 3
$ printf '\nlatin1\n' >list.ti; printf '0 init\n\344\n' >latin1; nodewise pattern ti:list.ti || echo $?; rm latin1; mkdir latin1; nodewise pattern ti:list.ti
3
! list.ti:2 ... 'latin1' ... latin1:2 ... UTF-8
! list.ti:2 ... 'latin1' ... is a directory
? 3
$ mkfifo pipe; printf 'pipe\n' >list.ti; timeout 60 nodewise pattern ti:list.ti
! list.ti:1 ... 'pipe' ... not a regular file
? 3
$ mkfifo monitor.0.prof; timeout 60 nodewise pattern monitoring:monitor
! monitor.0.prof: is not a regular file
? 3
$ for p in 2 0:2 1:1:1; do nodewise pattern --generate stencil2d5:dims=4x4,periodic=$p -q; done
! stencil2d5 ... periodic= ... ':' ... '2'
! stencil2d5 ... periodic= ... ':' ... '0:2'
! stencil2d5 ... periodic= ... ':' ... '1:1:1'
? 2
## Open MPI counts messages inside collective calls among the sizes of a pair, not
## among its messages: such sizes are left out, and what is written is read again.
$ printf '# POINT TO POINT\nE\t0\t1\t16 bytes\t2 msgs sent\t1,0,0,0,2\nE\t0\t0\t8 bytes\t1 msgs sent\t0,0,0,0,1\nI\t0\t1\t0 bytes\t1 msgs sent\n# OSC\n# COLLECTIVES\n' >mixed.0.prof; printf '# POINT TO POINT\n# OSC\n# COLLECTIVES\n' >mixed.1.prof; nodewise pattern monitoring:mixed -q -o mixed.pattern && sed 1,3d mixed.pattern && nodewise pattern mixed.pattern | grep note
0 0 hh 8 1 4:1
0 1 hh 16 2
note     Open MPI monitoring, point-to-point messages; 1 edge has no sizes, because its sizes include messages of collective calls
$ [ -d $SHARED/data/monitoring ] || { echo SKIP no shared data; exit 77; }; nodewise pattern monitoring:$SHARED/data/monitoring/cg.S.16/prof -q -o cg.pattern && nodewise pattern cg.pattern | sed -n 2p
edges    48 (4 to the rank itself)
## A trace that comes through a pipe, named or not, as the file: it is read once.
$ printf '0 init\n1 init\n0 send 1 0 100\n1 bcast 7 1\n' >sends; for p in sends ti:sends; do nodewise pattern $p --to list -q; cat sends | nodewise pattern "$(echo $p | sed 's/sends/-/')" --to list -q; done
0 1 100
1 0 7
0 1 100
1 0 7
0 1 100
1 0 7
0 1 100
1 0 7
## A sum that passes 64 bits is told with the line on which it does, as is a file that does not fit the other.
$ mkdir sums; printf '0 init\n0 send 1 1 9223372036854775807\n1 init\n' >sums/a; printf '# none\n0 send 1 1 1\n1 send 0 1 9223372036854775807\n0 send 1 1 9223372036854775808\n0 send 1 1 5\n' >sums/b; nodewise pattern ti:sums || echo $?; cat sums/a sums/b | nodewise pattern - || echo $?
! sums/b:4 ... edge 0 -> 1 ... 2^64
! standard input:7 ... edge 0 -> 1 ... 2^64
3
3
$ printf '0 1\n1 0\n' >all_size.mat; printf '0 1 1\n1 0 1\n1 1 0\n' >all_msg.mat; nodewise pattern monitoring:all_size.mat
! all_msg.mat:1 ... 3 ranks ... 2
? 3
## Sums of edges are told as they are, also beyond 64 bits.
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 hh 18446744073709551615 18446744073709551615 3:18446744073709551615\n1 0 hh 18446744073709551615 18446744073709551615 3:1\n' >wide.pattern; nodewise pattern wide.pattern | tail -4; nodewise pattern wide.pattern --json | grep -E '36893488147419103230|18446744073709551616'; nodewise pattern wide.pattern --heat | sed -n 3p
KIND EDGES                BYTES             MESSAGES MEAN MESSAGE                 LARGEST EDGE
hh       2 36893488147419103230 36893488147419103230          1 B 0 -> 1: 18446744073709551615
MESSAGE SIZE                COUNT
       4 - 7 18446744073709551616
      "bytes": 36893488147419103230,
      "messages": 36893488147419103230,
      "count": 18446744073709551616
hh       2             1 36893488147419103230 36.9 EB          1 B
## What cannot fit into memory is refused before it is tried.
$ nodewise pattern --generate=alltoall:ranks=65535 -o none.pattern
! alltoall: 65535 ranks with 65535 edges each take about 255 GiB of memory, this machine has
? 1
$ test ! -e none.pattern
$ nodewise pattern generate:alltoall:ranks=8 --scale 2000000000 -o none.pattern
! scale: 2000000000 ranks with 1999999999 edges each are too many
? 2
## What a profile knows beside its messages: who moved them, and time in MPI over the ranks.
$ printf 'nodewise pattern 1\nranks 2 edges 1\ntraffic: point-to-point 300 3\ntraffic: collective 100 1\ntime: run 2 4000000 5000000 6000000\ntime: MPI 5 1000000 1250000 1500000\ntime: MPI_Wait 4 900000 1150000 1400000\ntime: MPI_Bcast 1 100000 100000 100000\n0 1 hh 400 4\n' >timed; nodewise pattern timed | sed -n '4,5p;/^MPI/p'
traffic  point-to-point 300 B in 3 messages, collective 100 B in 1 message
in MPI   mean 1.25 ms (25.0 % of 5 ms), min 1 ms, max 1.5 ms
MPI CALL  CALLS MIN TIME MEAN TIME MAX TIME
MPI_Wait      4   900 us   1.15 ms   1.4 ms
MPI_Bcast     1   100 us    100 us   100 us
$ nodewise pattern --json timed | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["traffic"]["point_to_point"], d["traffic"]["one_sided"]); print(d["time"]["run"]["mean"], d["time"]["mpi"]["max"], d["time"]["calls"][1])'; nodewise pattern -q timed -o again && cmp timed again
{'bytes': 300, 'messages': 3} {'bytes': 0, 'messages': 0}
0.005 0.0015 {'call': 'MPI_Bcast', 'calls': 1, 'min': 0.0001, 'mean': 0.0001, 'max': 0.0001}
$ for l in 'traffic: telepathy 1 1' 'traffic: nccl 1' 'traffic: nccl 1 0' 'traffic: collective 1 1' 'time: MPI_Wait 1 2 3' 'time: MPI-Wait 1 2 3 4' 'time:' 'time: MPI_Wait 1 3 2 4' 'time: MPI_Wait 1 1 1 1 1'; do sed "4a $l" timed >bad; nodewise pattern bad 2>&1 || echo $?; done
~ bad:5 ... point-to-point, one-sided, collective or nccl
3
~ bad:5 ... number of messages
3
~ bad:5 ... number of messages
3
~ bad:5 ... 'collective' occurs twice
3
~ bad:5 ... 3 times in nanoseconds
3
~ bad:5 ... the name of an MPI call
3
~ bad:5 ... the name of an MPI call
3
~ bad:5 ... minimum, mean, maximum
3
~ bad:5 ... end of the line
3
## A key that is nearly right is named before one that is missing; a pattern without pairs says so.
$ nodewise pattern --generate alltoall:rank=4
! no key 'rank' ... 'ranks'
? 2
$ nodewise pattern --generate stencil2d5:dims=2x2,byte=4
! no key 'byte' ... 'bytes'
? 2
$ nodewise pattern --generate random
! ranks= is needed ... ranks=64
? 2
$ nodewise pattern --generate foo 2>&1 | grep -v 'did you mean'
nodewise pattern: unknown generator 'foo'; see nodewise-pattern(1)
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 0 hh 9 1\n' >alone.pattern; nodewise pattern alone.pattern --top 3
no rank sends to another rank
## A table for spreadsheets is not read back, and the error says so.
$ nodewise pattern -q --generate alltoall:ranks=2 --to csv -o two.csv; nodewise pattern two.csv
! two.csv:1 ... CSV ... not read ... list:
? 3
$ nodewise pattern --generate stencil2d5:dims=2x2 --heat --json
! --heat ... --json
? 2
