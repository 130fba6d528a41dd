## Usage of nodewise-mpdata; what needs MPI is in tests/mpi/mpdata
$ nodewise-mpdata --case sphere --passes none 2>err; echo $?; head -1 err
2
~ --passes ... 'none'
$ nodewise-mpdata 2>err; echo $?; head -1 err
2
~ --case ... --input
$ nodewise mpdata 2>err; echo $?; head -1 err
2
~ --case ... --input
$ nodewise-mpdata --help | grep -A6 ^Cases
Cases:
  sphere    a sphere of 4 once around the diagonal of a cube
  cone      a cone of 4 on 1 six times around a square
  gaussian  a bell of width 1.5 along one axis
  wave      2 + sin sin sin through a periodic cube
  vortex    a box in a flow that turns, with uneven h
$ nodewise-mpdata --case wave --size 0$(printf 'x1%.0s' $(seq 9999)) 2>err; echo $?; head -1 err | cut -c1-70
2
~ --size ... three numbers
$ for o in border=shut arrange-by=frob; do nodewise-mpdata --case wave --$o 2>&1 | tr '\n' ' '; echo; done
~ --border ... not 'shut'
~ --arrange-by ... sum or slowest, not 'frob'
$ for o in input restart; do nodewise-mpdata --case wave --$o '' 2>&1 | head -1; done
~ --input names no file
~ --restart names no file
## Every option of it has its place in the page
$ nodewise-mpdata --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+' >options; grep -c . options
34
$ for o in $(grep -vE 'help|usage' options); do grep -qF -e "*$o*" $SOURCE/man/nodewise-mpdata.1.scd || echo missing $o; done
## A full disk is no success.
$ nodewise-mpdata --help >/dev/full
! standard output ... No space left on device
? 1
