## Where Nodewise is built for Open MPI: what it does with a launcher of that kind.
## An output that cannot be written is known before the program runs.
$ nodewise profile -o /nowhere/x -- mpirun.openmpi true
! /nowhere/x ... No such file or directory
? 1
## An affinity mask is kept: ranks are mapped onto its cores alone, in the machine's own numbers.
$ printf 'nodewise pattern 1\nranks 1 edges 0\n' >one.pattern; printf '#!/bin/sh\nfor w; do case $w in NODEWISE_RECORD=*) cp one.pattern "${w#*=}"; esac; done\necho "mpirun (Open MPI) 4.1.4"\n' >mpirun; chmod +x mpirun
$ nodewise run --store store -n 1 --launcher ./mpirun -q -- ./app
mpirun (Open MPI) 4.1.4
$ [ $(nproc) -gt 1 ] || { echo SKIP one CPU; exit 77; }; for core in 0 1; do printf 'nodewise mapping 1\nranks 1\n0 %s %d -\n' $(hostname) $core >at; taskset -c $(PMI_RANK=0 nodewise exec at sh -c 'taskset -cp $$' | sed 's/.*: *//;s/[-,].*//') nodewise run --store store -n 1 --launcher ./mpirun --dry-run -q -- ./app >/dev/null; sed -n 's/^0 [^ ]*/core/p' store/dry*/launch.mapping; rm -r store/dry*; done
core 0 -
core 1 -
## A topology that cannot be read is known before the second run.
$ nodewise run --store other -n 1 -t bogus --launcher ./mpirun --mpi openmpi --dry-run -q -- ./app >/dev/null 2>err; sed 's/;.*;/; ...;/' err
~ 'bogus' ... topology
## XDG_CACHE_HOME that is no absolute path does not count, as its standard says.
$ HOME=$PWD/home XDG_CACHE_HOME=here nodewise run -n 1 --launcher ./mpirun --mpi openmpi --dry-run -q -- ./app | grep -o '=/[^ ]*/home/.cache/nodewise/' | sed "s|$PWD||"; ls -d here 2>/dev/null
=/home/.cache/nodewise/
? 2
## What the store has of the hosts is used; where it is damaged, or of other hosts, they are looked at again.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 8 1\n' >one.pattern; nodewise run --store two -n 2 --hosts x1:1,x2:1 --launcher ./mpirun -q -- ./app
mpirun (Open MPI) 4.1.4
$ printf 'nodewise: cluster 1\nname: probed\nnode_types:\n  t:\n    cpu: {packages: 1, cores: 2}\nnodes:\n  - {name: "x[1-2]", type: t, switch: s}\nnetwork:\n  tree: {switch: s}\n' >hosts.yaml
> for how in cat 'head -c 40' 'head -c 0' 's/x/z/'; do case $how in s*) sed $how hosts.yaml;; *) $how hosts.yaml;; esac >two/machines/b6216082ba46c9fec81a7bcd0a586d4c.yaml; nodewise run --store two -n 2 --hosts x1:1,x2:1 --launcher ./mpirun --dry-run -- ./app 2>&1 >/dev/null | grep '^nodewise' | sed 's/;.*//'; done
nodewise run: would map 2 ranks on 2 hosts, topology from the store
nodewise run: No gain: the default placement is as good as this mapping.
~ nodewise run ... one exchange ... default 582 ns ... mapped 582 ns
~ 2 hosts ... answered ... ./mpirun ... status 0
~ 2 hosts ... answered ... ./mpirun ... status 0
~ 2 hosts ... answered ... ./mpirun ... status 0
## --no-store leaves the stored topology as it is, also if it is measured again or cannot be used.
$ for how in cat 'head -c 40'; do $how hosts.yaml >two/machines/b6216082ba46c9fec81a7bcd0a586d4c.yaml; $how hosts.yaml >kept; nodewise run --store two -n 2 --hosts x1:1,x2:1 --launcher ./mpirun --no-store --refresh -p one.pattern --dry-run -q -- ./app 2>&1 >/dev/null | sed "s,.*warning: ,," | grep -c "can every host"; cmp kept two/machines/*.yaml && echo kept; rm -r two/dry*; done
1
kept
1
kept
## A halo's choice is kept, in an empty file too; where that fails at last, it is said and is a failure.
$ printf '#!/bin/sh\n[ "$1" != --version ] || exec echo "mpirun (Open MPI) 4.1.4"\nshift 2\n[ -z "$SPOIL" ] || { rm choices; mkdir choices; }\nexec "$@"\n' >mpirun; : >choices; nodewise halo tune -n 8x8x8 --cache choices -- ./mpirun -n 1 >/dev/null; nodewise halo tune --cache choices --show | sed 's/.* cells/cells/;s/: [a-z]*: /: /'
cells of 8 B, radius 1, host memory: self 3.9 kB
$ SPOIL=1 nodewise halo tune -n 8x8x8 --cache choices -- ./mpirun -n 1 >/dev/null
! choices: ... directory
? 1
## Hosts that nobody answers from are asked once, not twice. A double of Open MPI's launcher that
## profiles, and reaches no host.
$ mkdir lost && cd lost && cat >mpirun <<'END' && chmod +x mpirun; for i in 1 2; do nodewise run --store store -n 2 --hosts h1,h2 --launcher ./mpirun -- ../app; done
> #!/bin/sh
> for w; do case $w in NODEWISE_RECORD=*) file=${w#*=} ;; esac; done
> case "$*" in
> --version) echo "mpirun (Open MPI) 4.1.4" ;;
> *NODEWISE_RECORD*) printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' >"$file" ;;
> *nodewise-probe*) echo asked; exit 1 ;;
> *) echo started ;;
> esac
> END
started
! profiled ... 2 ranks
! asked
! 2 hosts ... answered ... ./mpirun ... status 1
## What was written, the heaviest pairs of all kinds but no rank's own, and what comes next. A double of Open MPI's
## launcher, which writes the pattern that the preloaded library would.
$ printf '0 1 100\n1 0 900\n2 0 300\n0 2 300\n3 0 50\n0 3 40\n1 1 9999\n' >four.list; nodewise pattern -q four.list -o four.pattern; printf '#!/bin/sh\n[ "$1" = --version ] && echo "mpirun (Open MPI) 4.1.4" && exit\nfor w; do case $w in NODEWISE_RECORD=*) cp four.pattern "${w#*=}";; esac; done\nexit $FAILS\n' >mpirun; chmod +x mpirun; FAILS=0 nodewise profile -o told.pattern -- ./mpirun -n 4 ./app
! wrote told.pattern: 4 ranks, 11.7 kB in 7 messages
! heaviest pairs: 1 -> 0 (900 B), 0 -> 2 (300 B), 2 -> 0 (300 B), 0 -> 1 (100 B), 3 -> 0 (50 B)
! next: nodewise map -t live -p told.pattern -o app.mapping
$ FAILS=0 nodewise profile -q -o told.pattern -- ./mpirun -n 4 ./app
$ sed -i '2a partial: rank 2 was killed' four.pattern; FAILS=3 nodewise profile -o told.pattern -- ./mpirun -n 4 ./app 2>&1 | sed 1q
~ wrote told.pattern ... partial: rank 2 was killed
## Open MPI 5.0 refuses rankfiles by their path. A double that does so.
$ mkdir five; printf '#!/bin/sh\ncase "$*" in\n--version) echo "mpirun (Open MPI) 5.0.7";;\n*file=/tmp/a-*true) exit 1;;\n*file=*) echo mapped;;\n*) echo plain;;\nesac\n' >five/mpirun; chmod +x five/mpirun; cd five; for store in /tmp/a-b$$ /tmp/ab$$; do nodewise run --store $store -n 2 -t "hwloc:package:1 core:2 pu:1" --hosts machine:2 -p ../one.pattern --launcher ./mpirun --mpi openmpi -q -- ./app; rm -r $store; done
plain
mapped
! Open MPI 5.0 ... '-' ... --store
## An argument that is not UTF-8 is listed and forgotten like others.
$ printf '#!/bin/sh\nfor w; do case $w in NODEWISE_RECORD=*) cp one.pattern "${w#*=}"; esac; done\necho "mpirun (Open MPI) 4.1.4"\n' >mpirun; for a in x "$(printf '\377')"; do nodewise run --store odd -n 2 --launcher ./mpirun -q -- ./app "$a" >/dev/null; done; nodewise run --store odd --list | wc -l; nodewise run --store odd --forget ./app; ls odd
3
machines
! removed 2 files of ./app
## LD_PRELOAD has no way to name a path with a blank.
$ mkdir 'a b'; built=$(dirname "$(command -v nodewise)"); cp "$built/nodewise" "$built/libnodewise-openmpi.so" 'a b'; './a b/nodewise' profile -o blank.pattern -- ./mpirun -n 1 ./app
! a b/libnodewise-openmpi.so ... LD_PRELOAD ... another folder
? 4
## The program keeps its own options, also if they look like those of the launcher.
$ printf '#!/bin/sh\n[ "$1" = --version ] && exec echo "mpirun (Open MPI) 4.1.4"\necho "$@"\n' >mpirun; nodewise reorder -- ./mpirun -x LD_PRELOAD=one.so -n 1 ./app -x LD_PRELOAD=two.so | grep -o 'LD_PRELOAD=[a-z.]*:\|-n 1.*'
LD_PRELOAD=one.so:
-n 1 ./app -x LD_PRELOAD=two.so
