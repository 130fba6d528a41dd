## One rank, as a launcher would start it, on this machine's first core.
$ unset OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID; printf 'nodewise mapping 1\nranks 2\n0 %s 0 0\n1 %s 0 3,1\n' $(hostname) $(hostname) > app.mapping
$ PMI_RANK=1 nodewise exec app.mapping -- sh -c 'echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER'
3,1 PCI_BUS_ID
$ OMPI_COMM_WORLD_RANK=0 nodewise exec app.mapping sh -c 'echo "$CUDA_VISIBLE_DEVICES" "$@"' sh --help -n 3
0 --help -n 3
$ OMPI_COMM_WORLD_RANK=0 nodewise exec app.mapping -- sh -c 'grep Cpus_allowed_list /proc/self/status | wc -w; exit 7'
2
? 7
## The user's program runs whatever is wrong with its place.
$ printf 'nodewise mapping 1\nranks 2\n0 elsewhere 0 0\n1 %s 9999 0\n' $(hostname) > bad.mapping
$ PMI_RANK=0 nodewise exec bad.mapping -- sh -c 'echo ran ${CUDA_VISIBLE_DEVICES-unset}' 2>err; sed "s/$(hostname)/here/" err
ran unset
nodewise exec: rank 0: runs on here, the mapping says elsewhere: not bound, GPUs left as they are
$ PMI_RANK=1 nodewise exec bad.mapping -- sh -c 'echo ran $CUDA_VISIBLE_DEVICES' 2>err; sed 's/0 to .*/0 to N/' err
ran 0
nodewise exec: rank 1: core 9999 is not here: this machine has cores 0 to N
$ PMI_RANK=1 nodewise exec --strict bad.mapping -- echo ran 2>/dev/null
? 1
$ PMI_RANK=0 PMI_SIZE=4 nodewise exec bad.mapping -- echo ran
ran
! nodewise exec: rank 0: the job has 4 ranks, the mapping is for 2: left as it is
$ PMI_RANK=5 nodewise exec bad.mapping -- echo ran
ran
! nodewise exec: rank 5: the mapping has no place for it: left as it is
$ nodewise exec app.mapping -- echo ran
! nodewise exec: no launcher has told this process its rank (OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID and others)
? 4
$ PMI_RANK=0 nodewise exec app.mapping -- /no/such/program
! nodewise exec: cannot run '/no/such/program': No such file or directory
? 127
$ PMI_RANK=0 nodewise exec missing.mapping -- echo ran
! missing.mapping:0: No such file or directory
? 3
$ PMI_RANK=0 nodewise exec app.mapping 2>/dev/null
? 2
