## What is refused before anything is started.
$ nodewise bench what -- mpirun -n 4
! benchmark ... 'what'
? 2
$ nodewise bench pattern --host 3d
! -- mpirun -n 64
? 2
$ nodewise bench
! nodewise bench pattern -- mpirun -n 64
? 2
$ nodewise bench --host 3d pattern -- mpirun -n 4
! benchmark comes first ... nodewise bench pattern -- mpirun
? 2
$ nodewise bench --rounds 3 halo -- mpirun -n 4
! benchmark comes first
? 2
$ nodewise bench -- mpirun -n 4
! benchmark comes first
? 2
$ nodewise bench pattern -- cat -n 4
! 'cat' ... launcher ... MPI
? 2

## Its own file is looked at before anything is started, too.
$ nodewise bench mpdata -o -- mpirun -n 2
! -o ... file
? 2
$ nodewise bench mpdata --output=/nowhere/x -- mpirun -n 2
! /nowhere/x ... No such file or directory
? 1
$ nodewise bench channel latency -o /nowhere/x
! /nowhere/x ... No such file or directory
? 1
$ nodewise bench channel latency bw
! one test ... 'bw'
? 2
$ nodewise bench channel choice -b 0
! --bytes 0 ... latency
? 2
## A missing GPU of the receiver is found at once.
$ CUDA_VISIBLE_DEVICES= timeout 5 nodewise bench channel latency --memory HD
! no GPU
? 4
## If no process can be started, no rank waits for it.
$ cat > no_fork <<'END'
> import ctypes, errno, os, platform, struct, sys
> clone = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
> # load the number of the system call; if it is clone, fail with EAGAIN; else allow
> code = [(0x20, 0, 0, 0), (0x15, 0, 1, clone), (0x06, 0, 0, 0x50000 | errno.EAGAIN), (0x06, 0, 0, 0x7fff0000)]
> lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
> program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(lines)))
> libc = ctypes.CDLL(None)
> if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
>     print("SKIP no seccomp"); sys.exit(77)
> os.execvp(sys.argv[1], sys.argv[1:])
> END
$ ASAN_OPTIONS=detect_leaks=0 timeout 20 python3 no_fork nodewise bench channel latency
! start 2 processes
? 3

## As JSON, into a file; one that fails leaves none.
$ ASAN_OPTIONS=detect_leaks=0 nodewise bench channel latency -f shm -b 2 -i 3 --json -o latency.json
$ python3 -c 'import json; d = json.load(open("latency.json")); print(d["schema"], d["test"], d["provider"], d["send"], d["ranks"], [r["bytes"] for r in d["rows"]], all(r["time"] > 0 for r in d["rows"]))'
nodewise.bench.channel/1 latency shm host 2 [0, 1, 2] True
$ ASAN_OPTIONS=detect_leaks=0 nodewise bench channel mbw_mr -f shm -b 2 -i 3 --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(all(abs(r["bandwidth"] - r["bytes"] * r["messages_per_second"]) < 1 for r in d["rows"]), len(d["rows"]))'
True 2
$ ASAN_OPTIONS=detect_leaks=0 nodewise bench channel choice -f shm -b 2 -i 10 --json | python3 -c 'import json, sys; d = json.load(sys.stdin); r = d["rows"]; print(len(r), d["worst_ratio"] == max(x["ratio"] for x in r), all(x["best"] != "auto" for x in r))'
2 True True
$ ASAN_OPTIONS=detect_leaks=0 nodewise bench channel gather -f none -b 2 -o gather.json
! 'none' ... No data available
? 4
$ test -e gather.json
? 1

## The channel's collectives, every byte checked; figures differ, sizes do not.
$ for t in gather allgather alltoall; do ASAN_OPTIONS=detect_leaks=0 nodewise bench channel $t -f shm -n 3 -b 4 -i 3 | awk '/^#/ { if (NR == 1) { sub(", .*", ""); print } next } NF == 2 && $2 > 0 { print $1 }'; done
# Nodewise channel Gather Latency Test
1
2
4
# Nodewise channel Allgather Latency Test
1
2
4
# Nodewise channel All-to-All Personalized Exchange Latency Test
1
2
4

## Headings over their columns, as OSU's benchmarks 7 print them.
$ for t in latency bw mbw_mr gather; do ASAN_OPTIONS=detect_leaks=0 nodewise bench channel $t -f shm -n 2 -b 2 -i 3 | awk 'NR == 3 { print; w = length } NR > 3 && length != w { print "not as wide:", $0 }'; done
# Size       Avg Latency(us)
# Size      Bandwidth (MB/s)
# Size                  MB/s        Messages/s
# Size       Avg Latency(us)

## One that is told to end has no result, even where its launcher says that all went well.
$ built=$(dirname "$(command -v nodewise)"); mpi=HYDRA; [ -x "$built/bench/pattern/nodewise-bench-pattern-mpich" ] || mpi="Open MPI"; printf '#!/bin/sh\n[ "$1" = --version ] && echo "'"$mpi"'" && exit\ntrap "exit 0" TERM\necho >started\nfor i in $(seq 4000); do sleep 0.05; done\n' >mpirun; chmod +x mpirun; echo old >figures
> nodewise bench pattern -o figures -- ./mpirun -n 2 & p=$!
> until [ -e started ] && grep -Eq '^SigCgt:.[0-9a-f]{12}[4-7c-f]' /proc/$p/status; do sleep 0.02; done
> kill $p; wait $p; echo $?; cat figures; ls figures*
143
old
figures
! benchmark
## Who ends the channel's leaves no file behind, and no process that waits for it.
$ { nodewise bench channel bw -f shm -b 1048576 -i 1000000 -o figures & p=$!
> while c=$(cat /proc/$p/task/$p/children); c=${c%% *}; [ -z "$c" ]; do sleep 0.02; done
> kill $p; wait $p; echo $?
> while grep -q '^State:.[^Z]' /proc/$c/status; do sleep 0.02; done
> } 2>/dev/null; cat figures; ls figures*
143
old
figures
