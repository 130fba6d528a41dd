$ nodewise topology hierarchy:4:8:16@1:10:100
1 nodes, 512 elements, 0 GPUs
$ nodewise topology hierarchy:4:0
! hierarchy: a level size is a number from 1, not '0'
? 3
