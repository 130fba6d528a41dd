## On any number of threads the same bytes come out: of a grid that is read,
## priced beside its search and written in pieces, and of a graph without shape.
$ nodewise pattern -q --generate stencil3d27:dims=24x23x25,weights=9:3:1 -o grid.pattern
$ awk 'BEGIN { n = 9001; m = split("1237 3571 5003 7919 211 6271 4099 8117", by, " "); print "%%MatrixMarket matrix coordinate integer general"; print n, n, m * (n - 1); for (i = 1; i < n; i++) for (j = 1; j <= m; j++) print i, i * by[j] % n + 1, j }' > random.mtx
$ for t in 1 2 3 7; do nodewise map -q -t hierarchy:4:16:256@1:10:100 -p grid.pattern --objective hop-bytes --threads $t --json -o grid.$t > cost.$t; nodewise map -q -t hierarchy:4:16:256@1:10:100 -p mm:random.mtx --objective hop-bytes --effort fast --threads $t -o random.$t; done
$ for t in 2 3 7; do cmp grid.1 grid.$t; cmp cost.1 cost.$t; cmp random.1 random.$t; done; wc -l < grid.7
13802
