## A full disk, a closed output, a folder that is not there: said, exit 1.
$ nodewise --help >/dev/full
! nodewise: standard output: No space left on device
? 1
$ nodewise map --list >/dev/full
! nodewise: standard output: No space left on device
? 1
$ nodewise topology --help >/dev/full 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 >/dev/full 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 >&- 2>/dev/null
? 1
$ nodewise topology hierarchy:4@1 --json >/dev/full 2>/dev/null
? 1
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' > two.pattern
$ for c in "topology magc-a" "pattern two.pattern" "map -t magc-a -p two.pattern" "evaluate -t magc-a -p two.pattern" "simulate --estimate -t magc-a -p two.pattern"; do
>   for o in /dev/full /nowhere/x /proc/x .; do
>     nodewise $c -q -o $o >/dev/null 2>err; echo $? $(wc -l <err)
>   done
> done | sort | uniq -c | sed 's/^ *//'
20 1 1
## The table of a result that was written has nowhere to go.
$ nodewise map -t magc-a -p two.pattern -o two.mapping >/dev/full 2>/dev/null
? 1
## No room for the new file: the old one stays, and nothing beside it.
$ mkdir disk; echo old >disk/old; cd disk; (trap '' XFSZ; ulimit -f 0; nodewise topology magc-a --svg -q -o old); echo $?; cat old; ls -A
! old: File too large
1
old
old
