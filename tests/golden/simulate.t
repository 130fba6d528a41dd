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
## A training step is the sum of its phases. Four nodes with one GPU each, 1 GB/s and 1 ms for a route. Ring all-reduce of S bytes:
## 6 rounds of S/4. Gradients: 24 MB, 36 + 6 ms. Tensor groups: 4 of 4 MB, 4 x (6 + 6) ms. Experts: 4 all-to-alls in which each port
## sends 3 x 1 MB, 4 x (3 + 1) ms, and 8 MB of dense gradients, 12 + 6 ms; two replicas of each expert hold 32 MB of it, 2 rounds of
## 16 MB. Pipeline: 2 micro-batches, middle stages send 4 MB each way in one round, 2 x (8 + 1) ms. The model of evaluate agrees.
$ cat > four.yaml <<END
> nodewise: cluster 1
> name: four
> node_types:
>   n:
>     cpu: {cores: 1}
>     devices:
>       - package: 0
>         parts:
>           - {gpu: 1, link: {bandwidth: 1TB/s, latency: 0s}}
>           - {nic: 1, link: {bandwidth: 1TB/s, latency: 0s}, port: {bandwidth: 1GB/s, latency: 500us}}
> nodes:
>   - {name: "n[0-3]", switch: s}
> network:
>   tree: {switch: s}
> END
$ for p in layers=1,dp=4 layers=1,tp=4 layers=1,dp=4,ep=4,topk=1 layers=1,dp=4,ep=2,experts=4,topk=1 layers=4,pp=4,batch=2; do nodewise pattern -q --generate training:hidden=1000,seq=2000,$p -o step.pattern; nodewise simulate -t four.yaml -p step.pattern | sed -n '/^default/p;/PHASE/,/^$/p' | awk 'NF && $1 != "TIME" { print $1, $2, $3 }'; done
default 42 ms
dp 42 ms
default 48 ms
tp 48 ms
default 34 ms
ep 16 ms
dp 18 ms
default 64 ms
ep 12 ms
dp 18 ms
edp 34 ms
default 18 ms
pp 18 ms
## The same by the model, by the phase alone, and in JSON. --bytes and --total are one exchange: 4 MB each way and 1 ms.
$ nodewise pattern -q --generate training:hidden=1000,layers=4,seq=2000,pp=4,batch=2,only=pp -o only.pattern; for f in step only; do nodewise simulate -t four.yaml -p $f.pattern --json | grep -A1 '"phases"' | sed -n 's/.*"pp": //p'; nodewise evaluate -t four.yaml -p $f.pattern --json | sed -n 's/^ *"time": //p'; done | tr -d , | xargs printf '%.6g\n'; for o in "--bytes 4MB" --total; do nodewise simulate -t four.yaml -p step.pattern $o | grep -c -e '^default  *9 ms' -e '^default  *17 ms' -e PHASE; done
0.018
0.018
0.018
0.018
0.018
0.018
1
1
## Nodes of two racks in turn: any tensor group of eight ranks would be on two racks. Sorted, each is on one.
$ nodewise pattern -q --generate training:tp=8,dp=2 -o two.pattern; for o in "--algorithm default" "--algorithm sorted" "--effort fast" "--effort fast --whole-nodes"; do nodewise map -q -t gb200-nvl72:2 -p two.pattern --hosts rack001n01,rack002n01,rack001n02,rack002n02 $o | awk '/rack/ { print int($1 / 8), substr($2, 1, 7) }' | sort -u | wc -l; done
4
2
2
2
## If one mapping has too many messages to be simulated, the estimates are compared: 1 - 222.16 / 554.12.
$ nodewise pattern --generate alltoall:ranks=448,bytes=1000 -q -o big.pattern; printf 'nodewise: cluster 1\nname: big\nnode_types: {t: {cpu: {synthetic: "package:2 core:8 pu:1"}}}\nnodes: [{name: "n[1-28]", type: t, switch: s}]\nnetwork: {tree: {switch: s}}\n' > big.yaml; { printf 'nodewise mapping 1\nranks 448\n'; seq -f '%g n1 0 -' 0 441; for n in 1 2 3; do printf '%d n%d 1 -\n%d n%d 9 -\n' $((440 + 2 * n)) $n $((441 + 2 * n)) $n; done; } > big.mapping; nodewise simulate -t big.yaml -p big.pattern big.mapping 2>/dev/null | sed -n 1,3p; nodewise simulate -q -t big.yaml -p big.pattern big.mapping --json | sed -n 's/^ *"improvement_percent": \([0-9.]*\),*/\1/p' | xargs printf '%.2f\n'
MAPPING     NOT SIMULATED ESTIMATE LESS ESTIMATE
default                 -   554 us         0.0 %
big.mapping        221 us   222 us        59.9 %
0.00
59.91
## If one phase of a step has too many messages, the time of the step and of each phase is the estimate.
$ printf 'nodewise: cluster 1\nname: many\nnode_types: {t: {cpu: {synthetic: "package:2 core:8 pu:1"}}}\nnodes: [{name: "n[1-64]", type: t, switch: s}]\nnetwork: {tree: {switch: s}}\n' > many.yaml; for e in '' --estimate; do nodewise simulate -q -t many.yaml -p generate:training:tp=4,ep=300,dp=300,hidden=256,kind=hh,data=tree --json $e | sed '/headline/,$d'; done | sort | uniq -u
