## A full disk, a closed output, a folder that is not there: said, exit 1.
$ nodewise --help >/dev/full
! standard output ... No space left on device
? 1
$ nodewise map --list >/dev/full
! standard output ... No space left on device
? 1
$ nodewise topology --help >/dev/full 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 >/dev/full 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 >&- 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 --json >/dev/full 2>/dev/null
? 1
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' > two.pattern
$ for c in "topology magc-a" "pattern two.pattern" "map -t magc-a -p two.pattern" "evaluate -t magc-a -p two.pattern" "simulate --estimate -t magc-a -p two.pattern"; do
>   for o in /dev/full /nowhere/x /proc/x .; do
>     nodewise $c -q -o $o >/dev/null 2>err; echo $? $(wc -l <err)
>   done
> done | sort | uniq -c | sed 's/^ *//'
20 1 1
## A file without a name is none; so is a folder. Nothing is started or written.
$ mkdir empty; cd empty; for c in "topology magc-a -o ''" "report -t magc-a -p ../two.pattern --output=" "halo plan -n 8x8x8 -q --svg ''" "pattern ../two.pattern --svg ''" "probe --matrix '' -- touch started" "run -o '' -- touch started" "run --store '' -- touch started" "bench mpdata -o '' -- mpirun -n 2" "bench channel bw -o ''"; do eval "nodewise $c" >/dev/null 2>err; echo $? $(sed q err); rm err; done; ls -A
~ 2 nodewise topology: ... -o ... file
~ 2 nodewise report: ... -o ... file
~ 2 nodewise halo: ... file
~ 2 nodewise pattern: ... file
~ 2 nodewise probe: ... file
~ 2 nodewise run: ... file
~ 2 nodewise run: ... --store ... folder
~ 2 nodewise bench: ... file
~ 2 nodewise bench channel: ... ''
## All outputs are checked before the first is written.
$ mkdir unwritten; cd unwritten; for c in "pattern ../two.pattern -o a --svg nowhere/x" "halo plan -n 8x8x8 --svg a --pattern nowhere/x" "halo plan -n 8x8x8 --svg a -o nowhere/x" "channel tune -o nowhere/x"; do XDG_CACHE_HOME=$PWD/../cache nodewise $c; echo $?; done 2>&1; ls -A
~ nowhere/x: No such file
1
~ nowhere/x: No such file
1
~ nowhere/x: No such file
1
~ nowhere/x: No such file
1
## Standard files that are closed are not taken for others.
$ ASAN_OPTIONS=detect_leaks=0; export ASAN_OPTIONS; for r in '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do rm -f shut; eval "nodewise bench channel latency -f shm -b 1 -i 1 -o shut $r"; echo $? $(grep -c '^[01] ' shut); done
0 2
0 2
0 2
$ built=$(dirname "$(command -v nodewise)"); mpi=openmpi; [ -x "$built/nodewise-probe-$mpi" ] || mpi=mpich; nodewise probe --mpi $mpi -- sh -c 'echo heard' >&-
! heard
! measured ... 'sh' ... status 0
? 1
## The table of a result that was written has nowhere to go.
$ nodewise map -t magc-a -p two.pattern -o two.mapping >/dev/full 2>/dev/null
? 1
## No room for the new file: the old one stays, and nothing beside it.
$ mkdir disk; echo old >disk/old; cd disk; (trap '' XFSZ; ulimit -f 0; nodewise topology magc-a --svg -q -o old); echo $?; cat old; ls -A
! old ... File too large
1
old
old
## An input that -o names, under any of its names, is kept, and said.
$ printf '0 1\n1 0\n' >own.matrix; ln -s two.pattern link; ln own.matrix hard; cksum two.pattern own.matrix >sums
$ printf 'nodewise mapping 1\nranks 2\n0 a1 0 -\n1 a1 1 -\n' >two.mapping
$ for c in "map -t magc-a -p two.pattern -o two.pattern" "map -t matrix:own.matrix -p two.pattern -o hard" "map -t magc-a -p native:two.pattern -o ./link" "evaluate -t magc-a -p two.pattern two.mapping -o two.mapping" "simulate --estimate -t magc-a -p two.pattern -o link" "report -t magc-a -p two.pattern -o two.pattern"; do nodewise $c; echo $?; done 2>&1
~ 'two.pattern' ... input ... -o
2
~ 'hard' ... input ... -o
2
~ './link' ... input ... -o
2
~ 'two.mapping' ... input ... -o
2
~ 'link' ... input ... -o
2
~ 'two.pattern' ... input ... -o
2
$ nodewise topology magc-a -o own.yaml; cksum own.yaml >>sums; printf 'a1:2\n' >app.hosts; cksum app.hosts >>sums
$ for c in "topology own.yaml -o own.yaml" "topology --network magc-a --node a1=own.yaml --yaml -o own.yaml" "halo plan -n 8x8x8 -t own.yaml -o own.yaml" "halo plan -n 8x8x8 -t own.yaml --svg own.yaml" "halo plan -n 8x8x8 -t own.yaml --pattern own.yaml" "halo plan -n 8x8x8 -t own.yaml --mapping own.yaml" "pattern two.pattern --to mm -o link" "pattern two.pattern --svg two.pattern" "pattern --combine two.pattern two.pattern -o two.pattern" "launch -t magc-a two.mapping --for slurm -q --hostfile app.hosts -o app" "map --algorithm rowcol --grid 64x64x4 --bandwidths own.matrix -t magc-a -o hard" "topology magc-a --to nccl --addresses own.yaml -o own.yaml" "run -p two.pattern -o link -- ./app" "run -t own.yaml -o own.yaml -- ./app" "bench pattern -o app.hosts -- mpirun --hostfile app.hosts"; do nodewise $c; echo $?; done 2>&1 | grep -v '^nodewise exec binds'
~ 'own.yaml' ... input ... -o
2
~ 'own.yaml' ... input ... -o
2
~ 'own.yaml' ... input ... -o
2
~ 'own.yaml' ... input ... --svg
2
~ 'own.yaml' ... input ... --pattern
2
~ 'own.yaml' ... input ... --mapping
2
~ 'link' ... input ... -o
2
~ 'two.pattern' ... input ... --svg
2
~ 'two.pattern' ... input ... -o
2
~ 'app.hosts' ... input ... -o
2
~ 'hard' ... input ... -o
2
~ 'own.yaml' ... input ... -o
2
~ 'link' ... input ... -o
2
~ 'own.yaml' ... input ... -o
2
~ 'app.hosts' ... input ... -o
2
$ cksum -c sums 2>/dev/null || cksum two.pattern own.matrix own.yaml app.hosts | cmp - sums
## A mapping may be made better in place; a device is no file.
$ nodewise map -t magc-a -p two.pattern --from two.mapping -q -o two.mapping && nodewise map -t magc-a -p two.pattern -q -o /dev/null; echo $?
0
## What a link leads to is replaced, not the link; it may not be there yet.
$ mkdir far; echo old >far/old; ln -s far/old first; ln -s first second; ln -s far/new new; ln -s loop loop; ln -s nowhere/x none
$ for o in second new loop none; do nodewise pattern two.pattern --to list -q -o $o; done; readlink first second new; cat far/old far/new; ls -A far
far/old
first
far/new
0 1 9
0 1 9
new
old
! loop ... Too many levels of symbolic links
! none ... No such file or directory
## An open file behind a link, as /dev/stdout is, is written on, between what others write.
$ ln -s /proc/self/fd/1 out; { echo before; nodewise pattern two.pattern --to list -q -o out; echo after; } >both; cat both; nodewise pattern two.pattern --to list -q -o ./out | cat; readlink out
before
0 1 9
after
0 1 9
/proc/self/fd/1
## Where there is no room is known before hours of work: nothing is started.
$ nodewise map -t magc-a -p /no/pattern -o /no/folder/x
! /no/folder/x ... No such file or directory
? 1
$ nodewise probe -o /no/folder/x -- touch started; echo $?; nodewise probe --matrix . -- touch started; echo $?; ls started 2>/dev/null
! /no/folder/x ... No such file or directory
! . ... directory
1
1
? 2
$ for c in simulate evaluate report; do nodewise $c -t magc-a -p /no/pattern -o /no/folder/x; echo $?; done
! /no/folder/x ... No such file or directory
! /no/folder/x ... No such file or directory
! /no/folder/x ... No such file or directory
1
1
1
$ cp two.pattern program; nodewise probe -o program -- mpirun --hostfile ./program
! 'program' ... input ... -o
? 2
## So is what has no room to be kept.
$ XDG_CACHE_HOME=/proc/none nodewise channel tune
! /proc/none ... No such file or directory
? 1
$ nodewise halo tune -n 8x8x8 --cache /proc/none/x -- mpirun -n 2; echo $?; nodewise halo tune -n 8x8x8 --cache . -- mpirun -n 2
! /proc/none ... No such file or directory
! . ... directory
1
? 3
## A benchmark without launcher calls itself by its whole name.
$ nodewise bench channel --none
! unrecognized ... '--none'
? 2
## A time is written alike in all commands, with its unit or in seconds.
$ for t in 20ms 0.02 0.02s; do nodewise map -t magc-a -p two.pattern --time $t -q -o /dev/null; echo $?; done; for t in 0s 1parsec; do nodewise map -t magc-a -p two.pattern --time $t 2>&1 | head -1; done
0
0
0
~ --time ... 90s ... '0s'
~ --time ... 90s ... '1parsec'
## A list is JSON where JSON is asked for, and goes where -o says; what a command cannot follow it refuses.
$ nodewise map --list --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["schema"], "magc" in d["algorithms"], "rowcol" in d["algorithms"])'; nodewise map --list -o list.txt; nodewise map --list | cmp - list.txt
nodewise.map/1 True True
$ nodewise halo tune --show --json
! -o ... --json ... plan
? 2
## A file in the place of another is told by what it is.
$ nodewise pattern --generate stencil2d5:dims=2x2 -q -o four.pattern; nodewise map -q -t hierarchy:4@1 -p four.pattern -o four.mapping; nodewise evaluate -t hierarchy:4@1 -p four.mapping
! four.mapping:1 ... 'nodewise mapping 1' ... pattern
? 3
$ nodewise evaluate -t four.pattern -p four.pattern
! 'four.pattern' ... topology source ... ibnet: ... slurm:
? 2
$ nodewise launch -t live --for opnmpi four.mapping 2>&1 | sed 1q
~ launcher ... 'opnmpi'
$ mkdir folder; nodewise pattern folder
! folder ... directory
? 3
## Ids of a list that are cores of some machine are far more than its ranks.
$ printf '0 90 1\n90 7 1\n' >sparse.list; nodewise map -t hierarchy:4@1 -p sparse.list
! 91 ranks ... 1 host ... 4 ... --capacity
? 3
$ nodewise map -q -t hierarchy:4@1 -p sparse.list --compact --output-format pe | sort
0
1
2

## A picture has standard output to itself, and JSON, asked to go there, is told once.
$ for o in "--svg -" "--svg - -o kept" "--svg - -q"; do nodewise pattern four.pattern $o 2>words | sed '1s/ .*//' | sed -n '1p;$p' | paste -sd' '; wc -l <words; done
<svg </svg>
6
<svg </svg>
6
<svg </svg>
0
$ nodewise halo plan -n 8x8x8 --slots 4 -q --svg - | sed '1s/ .*//' | sed -n '1p;$p' | paste -sd' '; nodewise halo plan -n 8x8x8 --slots 4 -q --pattern - | nodewise pattern - | sed -n 1p
<svg </svg>
ranks    4
$ for o in "--svg p -o p" "--svg - -o -" "--svg - --json" "--svg - --json -o p" "--svg - --to list"; do nodewise pattern four.pattern $o; echo $?; done 2>&1; nodewise halo plan -n 8x8x8 --slots 4 --pattern p --svg p; test -e p
~ -o ... --svg
2
~ -o ... --svg ... standard output
2
~ --json ... --svg ... standard output
2
~ --json ... --svg ... standard output
2
~ --svg ... --to ... standard output
2
! --svg ... --pattern
? 1
$ mkdir side; ln -s ../q side/link; for o in "--pattern q --svg ./q" "--pattern q --svg side/link" "--mapping $PWD/q --svg q -t hierarchy:4@1" "-o side/q --svg side/../side/q"; do nodewise halo plan -n 8x8x8 --slots 4 $o; echo $?; done 2>&1 | sed "s|$PWD|.|"; ls q side; nodewise halo plan -n 8x8x8 --slots 4 -q --pattern q --svg side/q >/dev/null; ls q side
~ --svg ... --pattern ... ./q
2
~ --svg ... --pattern ... side/link
2
~ --svg ... --mapping
2
~ -o ... --svg ... side/q
2
side:
link
q

side:
link
q
! ls ... 'q' ... No such file or directory
$ nodewise evaluate -t hierarchy:4@1 -p four.pattern --json -o - | tail -1
}
$ name=$(printf 'l\351.mapping'); cp four.mapping "$name"; nodewise evaluate -t hierarchy:4@1 -p four.pattern --json "$name" | python3 -c 'import json, sys; print(json.loads(sys.stdin.buffer.read().decode())["mappings"][1]["name"])'
l�.mapping
## What files and their names say cannot steer a terminal, or pass for lines of ours.
$ printf 'nodewise pattern 1\nranks 4 edges 1\nprogram: a\\x1b[2J\\x0ab\n0 1 hh 5 1\n' >odd.pattern; nodewise pattern odd.pattern | grep program; nodewise pattern odd.pattern --heat | grep program
program  a?[2J?b
program: a?[2J?b
$ name=$(printf 'a\nb\033[2J'); cp four.mapping "$name"; nodewise evaluate -t hierarchy:4@1 -p four.pattern "$name" | grep "a?b.*congested"
a?b?[2J: the most congested link of the whole run is machine: core 0 - node (outward)
## Nothing that a terminal would obey is printed of names and arguments: escapes, C1, and text that turns.
$ printf 'nodewise: cluster 1\nname: "a\\u009b31m"\n' > c1.yaml; printf 'nodewise: cluster 1\nname: "a\\u202eb"\n' > turned.yaml; esc=$(printf '\033[31m'); c1=$(printf '\302\23331m'); for a in "topology c1.yaml" "topology turned.yaml" "topology --fo$esc" "topology no$esc$c1" "map --threads $esc$c1" "$esc$c1" "map --th$esc=1"; do nodewise $a 2>&1; done | tee odd | LC_ALL=C grep -c "$(printf '[\033\302\342]')"; grep -v Try odd
0
c1.yaml:2: a control character or line break in a value
turned.yaml:2: a control character or line break in a value
nodewise: '--fo?[31m': a control character in an option
nodewise topology: 'no?[31m?31m' is not a topology source; 'nodewise topology --help' lists the kinds
nodewise map: --threads is a number from 1, not '?[31m?31m'
nodewise: unknown command '?[31m?31m'; see nodewise --help
nodewise: '--th?[31m=1': a control character in an option
## The nearest command is named; help and -h work for each of them.
$ nodewise evalute
! nodewise: unknown command 'evalute' ... did you mean 'evaluate'?
? 2
$ nodewise help mapp
! nodewise: unknown command 'mapp' ... did you mean 'map'?
? 2
$ nodewise xyz
! nodewise: unknown command 'xyz' ... nodewise --help
? 2
$ nodewise map --help > long; nodewise map -h | cmp - long && nodewise help map | cmp - long && nodewise -h | head -1
Usage: nodewise COMMAND [OPTION...]
## A new result has the mode of the umask; one that is replaced keeps its own.
$ for m in 0 027 077; do (umask $m; nodewise pattern --generate stencil2d5:dims=2x2 -q -o mode.$m; stat -c %a mode.$m); done; chmod 604 mode.0; nodewise pattern --generate stencil2d5:dims=2x2 -q -o mode.0; stat -c %a mode.0; ls mode.*
666
640
600
604
mode.0
mode.027
mode.077
