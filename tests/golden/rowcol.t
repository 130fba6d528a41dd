## The two published figures, 22424946 before and 2143978 after, on the
## bandwidths fitted to them; with single columns allowed the reference's model
## has 920879, eleven links in a chain.
$ nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths $SOURCE/data/clusters/mpdata-inter.bandwidths --arrange paper --json | grep -m3 -e '"rows"' -e '"sum"' -e iterations
    "rows": 6,
    "sum": 2143978,
    "iterations": 1
$ nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths $SOURCE/data/clusters/mpdata-inter.bandwidths --shapes all -o m | awk '$1 == "best" { print $2, $4, $7 }'
12 1 920879
$ sed -n 1,2p m
nodewise mapping 1
ranks 12
$ nodewise map -t mpdata-intra --algorithm rowcol --grid 512x512x64 --bandwidths $SOURCE/data/clusters/mpdata-intra.bandwidths --arrange paper -o - 2>&1 | tail -6
grisou-1 grisou-7
grisou-2 grisou-8
grisou-3 grisou-9
grisou-4 grisou-10
grisou-5 grisou-11
grisou-6 grisou-12
## Speeds: two rows of slow Nancy, one of both, three of Rennes, 9 times as fast.
## Heights are 1, 1, 1, 9, 9, 9 thirtieths, so the row across hands over 1/30 of
## 7314586, the others 29/30 of 12906
$ printf '%s\n' 1 1 1 9 9 9 9 1 1 9 9 9 >speeds
$ nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths $SOURCE/data/clusters/mpdata-inter.bandwidths --speeds speeds -o m | awk '$1 == "paper" { print $2, $4, $5 }'
6 2 256296
$ echo 1 >speeds; nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --speeds speeds
? 3
! speeds:1 ... 1 number ... 12
## Bad input; what it would pass over is refused. The message has the option and its value.
$ for o in grid=frob grid=5x5 grid=1x2x3x4 arrange=paging arrange-by=frob shapes=one; do nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --$o 2>&1 | head -1; done
~ --grid ... 512x512x64, not 'frob'
~ --grid ... 512x512x64, not '5x5'
~ --grid ... 512x512x64, not '1x2x3x4'
~ --arrange is best or paper, not 'paging'
~ --arrange-by is sum or slowest, not 'frob'
~ --shapes is several or all, not 'one'
$ for o in --hosts=grisou-1 --output-format=pe --capacity=4 --fix=none --elements=pu --time=1s --steps=9 --effort=fast --threads=1; do nodewise map -t mpdata-intra --algorithm rowcol --grid 512x512x64 $o 2>&1 >/dev/null | head -1; done
~ --hosts ... --algorithm ... rowcol
~ --output-format ... --algorithm ... rowcol
~ --capacity ... --algorithm ... rowcol
~ --fix ... --algorithm ... rowcol
~ --elements ... --algorithm ... rowcol
~ --time ... --algorithm ... rowcol
~ --steps ... --algorithm ... rowcol
~ --effort ... --algorithm ... rowcol
~ --threads ... --algorithm ... rowcol
$ nodewise map -t mpdata-inter --algorithm rowcol
? 2
! -t ... SOURCE ... --grid ... NxMxL ... pattern
$ printf 'nodewise bandwidths 1\ngroup a 12\nbetween a a 0 1\n' > zero; nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths zero -o none
? 3
! zero:3 ... bandwidth
$ test -e none
? 1
$ printf 'nodewise bandwidths 1\ngroup a 11\ngroup b 1\nbetween a a 1 1\n' > half; nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths half
? 3
! half:1 ... bandwidths ... 11
$ printf 'nodewise bandwidths 1\ngroup a 2\nbetween a a 1 1\n' > two; nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths two
? 3
! two:1 ... bandwidths ... 2 ... 12 nodes
$ printf 'nodewise bandwidths 1\ngroup a 12\nbetween a a 1e-308 1e-308\n' > slow; nodewise map -t mpdata-inter --algorithm rowcol --grid 512x512x64 --bandwidths slow
? 3
! slowest link
