$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 2 hh 12 2\n1 3 hh 4 1\n' > app.pattern
$ printf 'nodewise mapping 1\nranks 4\n0 machine 0 -\n1 machine 2 -\n2 machine 1 -\n3 machine 3 -\n' > app.mapping
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern --estimate app.mapping
MAPPING     NOT SIMULATED ESTIMATE LESS ESTIMATE
default                 -     10 s         0.0 %
app.mapping             -      6 s        40.0 %
app.mapping: Predicted: 90.0 % fewer hop-bytes (this machine states no bandwidths).
hop-bytes: default 160 B, mapped 16 B
## What a rank sends itself is none of the messages that are scaled: 3 and 2 bytes of the others.
$ printf 'nodewise pattern 1\nranks 4 edges 3\n0 0 hh 600 1\n0 2 hh 12 2\n1 3 hh 4 1\n' > self.pattern; nodewise simulate -t hierarchy:2:2@1:10 -p self.pattern --bytes 3B --estimate | tail -1
default             -      5 s         0.0 %
## Without the helper the estimate is still there.
$ NODEWISE_SIMGRID=/nowhere nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern
! NODEWISE_SIMGRID ... '/nowhere'
? 4
$ NODEWISE_SIMGRID=/nowhere nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern --estimate | tail -1
default             -     10 s         0.0 %
## A helper that fails.
$ NODEWISE_SIMGRID=/bin/false nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern
! nodewise-simgrid ... answer
? 1
## More messages than can be simulated in a minute: 500 ranks, all to all.
$ awk 'BEGIN{print "nodewise pattern 1\nranks 500 edges 249500"; for(i=0;i<500;i++)for(j=0;j<500;j++)if(i!=j)print i,j,"hh 1 1"}' > all.pattern
$ nodewise simulate -t hierarchy:512@1 -p all.pattern
! 249500 messages ... 200000 ... congestion
MAPPING NOT SIMULATED ESTIMATE LESS ESTIMATE
default             -    499 s         0.0 %
## Only another mapping has that many: by default the ranks that send to each other share a GPU.
$ printf 'nodewise: cluster 1\nname: shared\nnode_types: {n: {cpu: {cores: 460}, devices: [{package: 0, parts: [{gpu: 1}, {nic: 1}]}]}}\nnodes: [{name: "n[0-1]", switch: s}]\nnetwork: {tree: {switch: s}}\n' >shared.yaml; awk 'BEGIN{print "nodewise pattern 1\nranks 920 edges 422280"; for(i=0;i<920;i++)for(j=0;j<460;j++){k=j+460*(i>=460);if(i!=k)print i,k,"gg 8 1"}}' >shared.pattern; awk 'BEGIN{print "nodewise mapping 1\nranks 920"; for(i=0;i<920;i++)print i,"n"(i%2),int(i/2),0}' >shared.mapping; nodewise simulate -t shared.yaml -p shared.pattern shared.mapping | awk 'NR>1&&NR<4{print $1, $2}'
default 0
shared.mapping -
! 211600 messages ... 200000 ... congestion
## Nothing to share, nothing that fits, nothing asked for.
$ printf '0 1\n1 0\n' > two.txt
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 6 1\n' > two.pattern
$ nodewise simulate -t matrix:two.txt -p two.pattern
! 'two.txt' ... distances ... nodewise evaluate
? 4
$ nodewise simulate -t hierarchy:2:2@1:10 -p two.pattern app.mapping
! app.mapping ... 4 ranks ... 2
? 3
$ nodewise simulate -t hierarchy:2:2@1:10 -p no-such-file
! no-such-file ... No such file or directory
? 3
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern --bytes 0 2>/dev/null
? 2
$ nodewise simulate -t hierarchy:2:2@1:10 2>/dev/null
? 2
$ nodewise simulate -t hierarchy:2:2@1:10 -p two.pattern --estimate --force 2>&1 | head -1
~ --estimate ... --force ... exclude

## A mapping that is wrong is known before anything is simulated, which here would fail.
$ printf 'nodewise pattern 1\nranks 8 edges 1\n0 1 hh 8 1\n' >eight.pattern; printf 'nodewise mapping 1\nranks 8\nfirst here\n' >wrong.mapping; NODEWISE_SIMGRID=/bin/false nodewise simulate -t hierarchy:4:2@1:10 -p eight.pattern wrong.mapping
! wrong.mapping:2 ... 8 ranks ... short
? 3
## Who starts a command in the background has it ignore Ctrl-C: it is not called off.
$ printf 'nodewise pattern 1\nranks 2 edges 1\n0 1 hh 9 1\n' >two.pattern; printf '#!/bin/sh\ncat >/dev/null; sleep 1; echo time 9\n' >slow; chmod +x slow
> trap '' INT; NODEWISE_SIMGRID=./slow nodewise simulate -t hierarchy:2:2@1:10 -p two.pattern & sleep 0.4; kill -INT $!; wait $!
MAPPING SIMULATED ESTIMATE LESS SIMULATED
default       9 s      9 s          0.0 %
