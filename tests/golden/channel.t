## What is measured is kept in the user's cache folder, and told again; times
## differ, situations do not (no GPU, where the double of the driver is not).
$ XDG_CACHE_HOME=$PWD/c FAKE_CUDA_DEVICES=0 ASAN_OPTIONS=detect_leaks=0 nodewise channel tune -f shm -i 1 -q | awk '{ print $1, $2, $3, $5 }' | uniq
nodewise channel 1 
# from to locality
host host shm latency
host host shm flood
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show -q | tail -1 | awk '{ print $4, $5, $6, $8 }'
socket flood 8192 auto
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show --json | grep -c '"regime": "flood", "bytes": 8192'
1
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show --json | tail -1
}
$ ls c/nodewise/channel | wc -l
1

## Another provider is kept beside it.
$ XDG_CACHE_HOME=$PWD/c FAKE_CUDA_DEVICES=0 ASAN_OPTIONS=detect_leaks=0 nodewise channel tune -f 'tcp;ofi_rxm' -i 1 -q | awk 'NR > 2 { print $3 }' | sort -u
tcp;ofi_rxm
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show -q | awk 'NR > 2 { print $3 }' | sort -u
shm
tcp;ofi_rxm

## A process that stores its lines at the same time loses none: the lock is held
## as by another process, which then stores those of another provider.
$ cat > meanwhile <<'END'
> import contextlib, fcntl, glob, os, subprocess, sys
> table, = glob.glob("c/nodewise/channel/*")
> with open(table) as file:
>     fcntl.flock(file, fcntl.LOCK_EX)
>     with open("new", "w") as new:
>         new.write("nodewise channel 1\nhost host other socket latency 8192 two auto\n")
>     job = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
>     with contextlib.suppress(subprocess.TimeoutExpired):
>         job.wait(3)
>     os.rename("new", table)
> sys.exit(job.wait())
> END
$ XDG_CACHE_HOME=$PWD/c FAKE_CUDA_DEVICES=0 ASAN_OPTIONS=detect_leaks=0 python3 meanwhile nodewise channel tune -f shm -i 1 -q
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show -q | awk 'NR > 2 { print $3 }' | sort -u
other
shm

## And forgotten.
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --clear
$ XDG_CACHE_HOME=$PWD/c nodewise channel tune --show 2>&1 | sed 's/.*: no/no/'
no table is stored; 'nodewise channel tune' measures one

## Channels do as the table says: all in two messages here.
$ printf 'nodewise channel 1\nhost host shm socket latency 8192 two auto\n' > two
$ NODEWISE_CHANNEL_TABLE=two nodewise channel tune --show
nodewise channel 1
host host shm socket latency 8192 two auto
! from to   provider locality regime  bytes protocol copy
! host host shm      socket   latency  8192 two      auto
$ NODEWISE_CHANNEL_TABLE=two ASAN_OPTIONS=detect_leaks=0 nodewise bench channel choice -f shm -i 10 -b 1 | awk '/^1/ { print $4 }'
two

## Ctrl-C, which reaches both processes, ends what is measured in one word.
$ cat > interrupt <<'END'
> import os, signal, subprocess, sys
> signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background ignores it
> job = subprocess.Popen(sys.argv[1:], start_new_session=True, stderr=subprocess.PIPE, text=True)
> print(job.stderr.readline(), end="", flush=True)
> os.killpg(job.pid, signal.SIGINT)
> print(job.stderr.read(), end="")
> sys.exit(job.wait())
> END
$ XDG_CACHE_HOME=$PWD/c FAKE_CUDA_DEVICES=0 ASAN_OPTIONS=detect_leaks=0 timeout 60 python3 interrupt nodewise channel tune --progress=always -f shm -i 100000
measure: 0 %
nodewise channel: cancelled
? 1

## Before it measures, while the second process may still be missing, Ctrl-C ends it at once.
$ cat > early <<'END'
> import contextlib, os, signal, subprocess, sys
> signal.signal(signal.SIGINT, signal.SIG_DFL)
> job = subprocess.Popen(sys.argv[1:])
> while not (child := open("/proc/%d/task/%d/children" % (job.pid, job.pid)).read()):
>     pass
> os.kill(int(child), signal.SIGSTOP)
> job.send_signal(signal.SIGINT)
> print(signal.Signals(-job.wait()).name)
> with contextlib.suppress(ProcessLookupError):  # it ends with its parent
>     os.kill(int(child), signal.SIGCONT)
> END
$ XDG_CACHE_HOME=$PWD/c FAKE_CUDA_DEVICES=0 timeout 60 python3 early nodewise channel tune -f shm
SIGINT

## --show prints the faults of a table. Channels then use the model instead.
$ printf 'nodewise channel 1\nhost host shm socket latency 8192 fast auto\n' > bad
$ NODEWISE_CHANNEL_TABLE=bad nodewise channel tune --show
! bad:2 ... rendezvous
? 3
$ NODEWISE_CHANNEL_TABLE=bad ASAN_OPTIONS=detect_leaks=0 nodewise bench channel choice -f shm -i 10 -b 1 | awk '/^1/ { print $4 }'
gather
$ NODEWISE_CHANNEL_TABLE=. nodewise channel tune --show
! . ... directory
? 3
$ NODEWISE_CHANNEL_TABLE=/dev/zero nodewise channel tune --show
! /dev/zero ... device
? 3
$ NODEWISE_CHANNEL_TABLE=/dev/zero ASAN_OPTIONS=detect_leaks=0 nodewise bench channel choice -f shm -i 10 -b 1 | awk '/^1/ { print $4 }'
gather
$ nodewise channel tune -f nothing 2>&1 | sed "s/' here.*/'/"
~ libfabric ... 'nothing'

## Words that are none are told by every channel, and what is empty is not set.
$ for word in PROTOCOL=fast COPY=slow MAPPING=gdr REACH=off FETCH=no IPC=no; do env NODEWISE_CHANNEL_$word ASAN_OPTIONS=detect_leaks=0 nodewise bench channel latency -b 1 -i 5; done
! NODEWISE_CHANNEL_PROTOCOL ... unknown ... 'fast'
! NODEWISE_CHANNEL_COPY ... unknown ... 'slow'
! NODEWISE_CHANNEL_MAPPING ... unknown ... 'gdr'
! NODEWISE_CHANNEL_REACH ... unknown ... 'off'
! NODEWISE_CHANNEL_FETCH ... unknown ... 'no'
! NODEWISE_CHANNEL_IPC ... unknown ... 'no'
? 2
$ NODEWISE_CHANNEL_PROTOCOL= NODEWISE_CHANNEL_PROVIDER= NODEWISE_CHANNEL_MAPPING= ASAN_OPTIONS=detect_leaks=0 nodewise bench channel latency -b 1 -i 5 > empty; head -1 empty
# Nodewise channel Latency Test, provider shm
$ nodewise channel tune --show --clear
! --show ... --clear
? 2

$ nodewise channel tune mpirun
! 'mpirun' ... tune or reach
? 2

$ nodewise channel reach -i 3 2>&1 | head -1
~ --iterations ... tune
## How an adapter reaches GPU memory, on the doubles of the driver and of libfabric.
$ FAKE_CUDA_DEVICES=0 nodewise channel reach 2>&1 | sed 's/^.*channel: .*/absent/'
absent

## The first way whose trial writes are right is taken.
$ cat > reach <<'END'
> #!/bin/sh
> export ASAN_OPTIONS=detect_leaks=0 NODEWISE_CHANNEL_MODULES=.
> export LD_LIBRARY_PATH="$NW_BUILD/tests/support/fake_cuda:$NW_BUILD/tests/support/fake_hmem"
> exec nodewise channel reach "$@"
> END
> chmod +x reach
$ ./reach -f 'verbs;ofi_rxm'
verbs;ofi_rxm: by dma-buf
$ FAKE_HMEM_MINOR=17 ./reach -f 'verbs;ofi_rxm'
verbs;ofi_rxm: staged: dma-buf: libfabric takes none before 1.20; peer memory: no module nvidia_peermem is loaded
$ mkdir nvidia_peermem
$ FAKE_HMEM_WRONG=dmabuf ./reach -f 'verbs;ofi_rxm' --json
{
  "schema": "nodewise.channel-reach/1",
  "providers": [
    {
      "provider": "verbs;ofi_rxm",
      "reach": "by peer memory",
      "why": "dma-buf: a trial write into it moves wrong bytes"
    }
  ]
}
$ ./reach -f nothing
nothing: absent: libfabric has no provider 'nothing' here: No data available
$ nodewise channel reach --show
! reach
? 2
