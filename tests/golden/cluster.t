## bad cluster files: one line with file and line, exit 3, nothing on stdout
$ cd "$FIXTURES/topology/invalid" && nodewise topology version.yaml
! version.yaml:1 ... 'nodewise' ... 'cluster 7'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology other-file.yaml
! other-file.yaml:1 ... cluster ... 'nodewise: cluster 1'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology doubled-key.yaml
! doubled-key.yaml:5 ... 'cpu'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology unknown-key.yaml
! unknown-key.yaml:4 ... 'threads' ... 'cpu'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology bad-number.yaml
! bad-number.yaml:6 ... '12GB' ... bandwidth ... 12.5GB/s
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology alias-bomb.yaml
! alias-bomb.yaml:1 ... anchors
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology no-switch.yaml
! no-switch.yaml:6 ... 'leaf9'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology doubled-node.yaml
! doubled-node.yaml:7 ... nodes ... 'n4'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology truncated.yaml
! truncated.yaml:4 ... find ... ',' ... '}'
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology latin1.yaml
! latin1.yaml:2 ... UTF-8 ... text
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology deep.yaml
! deep.yaml:1 ... nested ... 40
? 3
$ cd "$FIXTURES/topology/invalid" && nodewise topology empty.yaml
! empty.yaml:1 ... empty
? 3
## A file of hwloc that the cluster file names: its own place, behind the line that names it.
$ printf 'nodewise: cluster 1\nnode_types:\n  t:\n    cpu: {xml: inner.xml}\nnodes: [{name: x}]\n' >outer.yaml; nodewise topology outer.yaml || echo $?; mkdir inner.xml; nodewise topology outer.yaml || echo $?; rmdir inner.xml; mkfifo inner.xml; timeout 60 nodewise topology outer.yaml || echo $?; rm inner.xml; printf '<topology>\n<object' >inner.xml; nodewise topology outer.yaml || echo $?
3
3
3
3
! outer.yaml:4: inner.xml ... No such file or directory
! outer.yaml:4: inner.xml ... is a directory
! outer.yaml:4: inner.xml ... not a regular file
! outer.yaml:4: inner.xml:2 ... attribute
## Packed, a cluster file has either ending.
$ printf 'nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 3}}}\nnodes: [{name: x}]\n' > c.yml
> python3 -c 'import ctypes, sys
> text, packed, size = sys.stdin.buffer.read(), ctypes.create_string_buffer(999), ctypes.c_size_t
> length = ctypes.CDLL("libzstd.so.1").ZSTD_compress(packed, size(999), text, size(len(text)), 3)
> sys.stdout.buffer.write(packed[:length])' < c.yml > c.yml.zst
> nodewise topology c.yml.zst | sed -n 1p
c.yml.zst: 1 node, 3 cores, 0 GPUs, 5 links (4 with assumed figures)
