## What is refused before anything is started.
$ nodewise bench what -- mpirun -n 4
! nodewise bench: there is no benchmark 'what'; there is pattern, halo, channel
? 2
$ nodewise bench pattern --host 3d
! nodewise bench: under which launcher? -- mpirun -n 64
? 2
$ nodewise bench
! nodewise bench: which one? nodewise bench pattern -- mpirun -n 64
? 2
$ nodewise bench pattern -- cat -n 4
! nodewise bench: 'cat' is no launcher that tells its MPI; name mpirun or mpiexec
? 2

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
