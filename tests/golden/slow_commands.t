## Commands of the system that never answer are ended at their limit, and the
## error says so.
$ mkdir bin; printf '#!/bin/sh\nexec sleep 1000\n' >bin/flux; cp bin/flux bin/ibnetdiscover; chmod +x bin/*; export PATH="$PWD/bin:$PATH"; nodewise topology ibnet:live; echo $?
! ibnet:live ... ibnetdiscover ... 60 s ... ibnet:FILE
4
$ nodewise pattern -q --generate=alltoall:ranks=2 -o app.pattern; FLUX_URI=local:///x PATH="$PWD/bin:$PATH" nodewise map -q -t magc-a -p app.pattern -o app.mapping; echo $?
! FLUX_URI ... flux(1) ... 20 s
4
