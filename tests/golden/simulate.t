## Ranks 0 and 1 send 6 and 4 bytes across one link of 1 byte/s: half of it each
## until the 4 bytes are there after 8 s, then 2 bytes are left: 10 s. Beside
## their partners nothing is shared: 6 s. (Sizes are means: 12 bytes, 2 messages.)
$ printf 'nodewise pattern 1\nranks 4 edges 2\n0 2 hh 12 2\n1 3 hh 4 1\n' > app.pattern
$ printf 'nodewise mapping 1\nranks 4\n0 machine 0 -\n1 machine 2 -\n2 machine 1 -\n3 machine 3 -\n' > app.mapping
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern app.mapping
MAPPING     SIMULATED ESTIMATE LESS SIMULATED
default          10 s     10 s          0.0 %
app.mapping       6 s      6 s         40.0 %
app.mapping: Predicted: 90.0 % fewer hop-bytes (this machine states no bandwidths).
hop-bytes: default 160 B, mapped 16 B
## The JSON, its times to six digits.
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern app.mapping --json | python3 -c "
> import json, sys
> j = json.load(sys.stdin)
> print(j['schema'])
> for m in j['mappings']:
>     print(*('%s=%s' % (k, '%.6g' % v if isinstance(v, float) else v) for k, v in m.items()))"
nodewise.simulate/1
name=default method=simulation time=10 estimate=10 improvement_percent=0 resolution=0 flows=2 bytes=10
name=app.mapping method=simulation time=6 estimate=6 improvement_percent=40 resolution=0 flows=2 bytes=10 headline={'metric': 'hop-bytes', 'default': 160, 'mapped': 16, 'percent_less': 90, 'verdict': 'Predicted: 90.0 % fewer hop-bytes (this machine states no bandwidths)'}
## All 12 bytes; then the larger message scaled to 3 bytes, the other to 2.
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern --total | tail -1
default      16 s     16 s          0.0 %
$ nodewise simulate -t hierarchy:2:2@1:10 -p app.pattern --bytes 3B | tail -1
default       5 s      5 s          0.0 %
