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
! nodewise bench: nothing tells whose MPI 'cat' starts; name mpirun or mpiexec
? 2
