## On any number of threads the same bytes come out: of a grid that is read,
## priced beside its search and written in pieces, and of a graph without shape.
$ nodewise pattern -q --generate stencil3d27:dims=24x23x25,weights=9:3:1 -o grid.pattern
$ awk 'BEGIN { n = 9001; m = split("1237 3571 5003 7919 211 6271 4099 8117", by, " "); print "%%MatrixMarket matrix coordinate integer general"; print n, n, m * (n - 1); for (i = 1; i < n; i++) for (j = 1; j <= m; j++) print i, i * by[j] % n + 1, j }' > random.mtx
$ for t in 1 2 3 7; do nodewise map -q -t hierarchy:4:16:256@1:10:100 -p grid.pattern --objective hop-bytes --threads $t --json -o grid.$t > cost.$t; nodewise map -q -t hierarchy:4:16:256@1:10:100 -p mm:random.mtx --objective hop-bytes --effort fast --threads $t -o random.$t; done
$ for t in 2 3 7; do cmp grid.1 grid.$t; cmp cost.1 cost.$t; cmp random.1 random.$t; done; wc -l < grid.7
13802

## Of some thousand ranks with a shape two starts are searched at once; of those
## without one what the second has done does not count, its steps neither.
$ awk 'BEGIN { w = 40; h = 30; n = w * h; for (i = 0; i < n; i++) { if (i % w < w - 1 && i * 7919 % 11) e[m++] = i " " i + 1; if (i < n - w && i * 6271 % 13) e[m++] = i " " i + w; if (i % w < w - 1 && i < n - w && i * 4099 % 3) e[m++] = i " " i + w + 1 } print "%%MatrixMarket matrix coordinate integer general"; print n, n, m; for (k = 0; k < m; k++) { split(e[k], a, " "); print a[1] * 1237 % n + 1, a[2] * 1237 % n + 1, 1 + k % 7 } }' > mesh.mtx
$ awk 'BEGIN { n = 1201; m = split("237 571 503 919", by, " "); print "%%MatrixMarket matrix coordinate integer general"; print n, n, m * (n - 1); for (i = 1; i < n; i++) for (j = 1; j <= m; j++) print i, i * by[j] % n + 1, j }' > few.mtx
$ for g in mesh few; do for t in 1 2; do nodewise map -q -t hierarchy:4:16:20@1:10:100 -p mm:$g.mtx --objective hop-bytes --threads $t --json -o $g.$t > cost.$g.$t; done; cmp cost.$g.1 cost.$g.2; cmp $g.1 $g.2; wc -l < $g.2; done
1202
1203

## Where a limit of steps cuts the search of a grid, both of its starts have the
## steps that are left, one after the other as well as at once.
$ nodewise pattern -q --generate stencil3d27:dims=5x5x5 -o cube.pattern
$ for t in 1 2; do nodewise map -q -t hierarchy:4:8:4@1:10:100 -p cube.pattern --steps 5000 --threads $t -o cube.$t; done; cmp cube.1 cube.2; wc -l < cube.2
127
