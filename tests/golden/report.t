## The example of the man page. Every page is read by an XML parser, which finds
## an unclosed or unescaped word anywhere, and searched for other hosts, files
## and scripts beside its own.
$ cat > check.py <<'END'
> import re, sys, xml.dom.minidom
> for path in sys.argv[1:]:
>     text = open(path, encoding="utf-8").read()
>     page = xml.dom.minidom.parseString(text)
>     tags = {node.tagName for node in page.getElementsByTagName("*")}
>     away = re.findall(r"https?://(?!www\.w3\.org/2000/svg)|(?<!http:)//[a-z]|src=|href=\"(?!#|data:text/plain;)|url\(|@import", text)
>     svgs = page.getElementsByTagName("svg")
>     named = all(svg.getElementsByTagName("title") for svg in svgs)
>     scripts = len(page.getElementsByTagName("script"))
>     print(path, len(svgs), named, away, scripts, sorted(tags & {"img", "link", "iframe", "object"}), len(text) < 1000000)
> END
$ nodewise pattern -q --generate stencil2d5:dims=8x8,weights=3:1 -o host.pattern
$ nodewise pattern -q --generate stencil3d7:dims=4x4x4 -o gpu.pattern
$ nodewise pattern -q --combine host.pattern gpu.pattern -o app.pattern
$ nodewise map -q -t magc-a -p app.pattern --algorithm magc-greedy -o app.mapping
$ nodewise report -t magc-a -p app.pattern app.mapping -o report.html > table
$ python3 check.py report.html
report.html 11 True [] 1 [] True
$ nodewise evaluate -t magc-a -p app.pattern app.mapping | diff - table
$ grep -c 'nodewise report -t magc-a -p app.pattern app.mapping -o report.html' report.html
1
## The same input gives the same bytes, and without a mapping one is computed.
$ nodewise report -q -t magc-a -p app.pattern app.mapping -o report.html && cp report.html first.html && nodewise report -q -t magc-a -p app.pattern app.mapping -o report.html && cmp report.html first.html
$ nodewise report -q -t magc-a -p app.pattern --algorithm block --seed 7 -o block.html && grep -o '<dt>seed</dt><dd>7</dd>' block.html
<dt>seed</dt><dd>7</dd>

## If no placement is better, the mapping still has another name than the default.
$ printf '0 1 8\n1 2 8\n2 3 8\n' > line && nodewise report --algorithm default -t hierarchy:4 -p list:line -o line.html | cut -d' ' -f1 | sed -n 2,3p
default
mapped
## 16 and 1024 ranks, a machine too large to draw whole, a plain hierarchy, a
## matrix without links.
$ nodewise pattern -q --generate stencil2d5:dims=4x4 -o 16.pattern
$ nodewise report -q -t rashti-32 -p 16.pattern --algorithm block -o 16.html
$ nodewise pattern -q --generate stencil3d7:dims=8x8x16 -o 1024.pattern
$ nodewise report -q -t summit:100 -p 1024.pattern --algorithm block -o 1024.html
$ nodewise report -q -t hierarchy:4:4:4 -p host.pattern --algorithm block -o tree.html
$ printf '0 1 2 2\n1 0 2 2\n2 2 0 1\n2 2 1 0\n' > m && printf '0 1 5\n1 2 5\n' > l
$ nodewise report -q -t matrix:m -p list:l --algorithm block -o matrix.html
$ python3 check.py 16.html 1024.html tree.html matrix.html
16.html 7 True [] 1 [] True
1024.html 7 True [] 1 [] True
tree.html 7 True [] 1 [] True
matrix.html 5 True [] 1 [] True
$ nodewise report -q -t magc-a -p app.pattern app.mapping --svg -o maps.svg && python3 check.py maps.svg
maps.svg 1 True [] 0 [] True
## Words of files and of the command line stay words.
$ cp app.mapping '<img src=x onerror=alert(1)>&"'
$ sed '2a program: ./a </dd><script>alert(2)</script> & "b"' app.pattern > evil.pattern
$ nodewise report -q -t magc-a -p evil.pattern '<img src=x onerror=alert(1)>&"' -o evil.html
$ python3 - <<'END'
> import xml.dom.minidom
> page = xml.dom.minidom.parse("evil.html")
> print(len(page.getElementsByTagName("script")), len(page.getElementsByTagName("img")))
> facts = [list(part.getElementsByTagName("dd")) for part in page.getElementsByTagName("section")]
> print(facts[-1][2].firstChild.data)
> END
1 0
./a </dd><script>alert(2)</script> & "b"
$ nodewise report --json -t magc-a -p app.pattern app.mapping | python3 -c '
> import json, sys
> r = json.load(sys.stdin)
> print(r["schema"], [m["name"] for m in r["mappings"]])'
nodewise.report/1 ['default', 'app.mapping']
## Bad input leaves no page.
$ nodewise report -t magc-a
! -t ... SOURCE ... -p ... PATTERN
? 2
$ nodewise report -t magc-a -p none.pattern -o no.html
! none.pattern ... No such file or directory
? 3
$ nodewise report -t magc-a -p app.pattern host.pattern -o no.html
! host.pattern:1 ... 'nodewise mapping 1'
? 3
$ nodewise report -t magc-a -p 16.pattern app.mapping -o no.html
! app.mapping ... 64 ranks ... 16
? 3
$ test -e no.html
? 1

## Traffic of GPUs stays inside the node of the GPUs, wherever their ranks are.
$ printf 'nodewise pattern 1\nranks 2 edges 2\n0 1 gg 1000000 1\n1 0 gg 1000000 1\n' >gg.pattern
$ printf 'nodewise mapping 1\nranks 2\n0 a1 0 0\n1 a2 0 a1:1\n' >remote.mapping
$ nodewise report -t magc-a -p gg.pattern remote.mapping -o remote.html | grep "another node"
remote.mapping: 1 rank has its GPU on another node
$ grep -c 'of it inside a node' remote.html; grep -c '<td>2 MB</td><td>2 us' remote.html
0
0
? 1
## The command can be typed again, the machine is counted in what is placed on,
## long names are not cut within a letter.
$ cp app.mapping 'a b$(c).mapping'; nodewise report -q -t magc-a -p app.pattern 'a b$(c).mapping' -o typed.html; grep -o "<dt>command</dt>.*</dd>" typed.html
<dt>command</dt><dd>nodewise report -q -t magc-a -p app.pattern &#39;a b$(c).mapping&#39; -o typed.html</dd>
$ printf 'nodewise pattern 1\nranks 4 edges 0\n' >four.pattern; nodewise report -q -t 'hwloc:core:2 pu:2' --elements pu -p four.pattern -o pu.html; grep -o '<p>1 node, 4 hardware threads, 0 GPUs' pu.html
<p>1 node, 4 hardware threads, 0 GPUs
$ long=$(printf 'ä%.0s' $(seq 60)); cp app.mapping "x$long"; nodewise report -q -t magc-a -p app.pattern "x$long" -o long.html; grep -c '�' long.html
0
? 1
## Mappings that share cores are shown beside a default that does.
$ nodewise map -q -t 'hwloc:package:2 core:4' -p 16.pattern --imbalance 0 -o share.mapping
$ nodewise report -q -t 'hwloc:package:2 core:4' -p 16.pattern share.mapping -o share.html && python3 check.py share.html
share.html 7 True [] 1 [] True
$ nodewise report -q -t 'hwloc:package:2 core:4' -p 16.pattern -o no.html
! 16 ranks ... 1 host ... 8 ... --capacity
? 3

## Heat maps show nothing that a simulation finds.
$ nodewise report -t hierarchy:2:2@1:10 -p app.pattern --svg --simulate always -o both.svg 2>&1 | head -1; ls both.svg 2>/dev/null
~ --svg ... --simulate ... finds
? 2
$ nodewise report -t hierarchy:2:2@1:10 -p app.pattern app.mapping --seed 7 -o both.html 2>&1 | head -1; ls both.html 2>/dev/null
~ --algorithm ... --seed ... mapping ... MAPPING
? 2

## The page carries the mapping, a rankfile and a table; the mapping reads back as the file that was
## given, and the rankfile is the one that launch writes.
$ cat > files.py <<'END'
> import sys, urllib.parse, xml.dom.minidom
> for a in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("a"):
>     if a.hasAttribute("download"):
>         data = urllib.parse.unquote(a.getAttribute("href").partition(",")[2])
>         open("got-" + a.getAttribute("download"), "w").write(data)
>         print(a.getAttribute("download"), a.firstChild.data)
> END
$ python3 files.py report.html; cmp got-app.mapping app.mapping && nodewise launch -q -t magc-a app.mapping --for openmpi4 --exec never -o l -- ./x >/dev/null 2>&1; cmp got-app.rankfile l.rankfile; sed -n 1,2p got-app.csv; wc -l <got-app.csv
app.mapping app.mapping
app.rankfile app.rankfile
app.csv app.csv
rank,node,cores,gpus,gpu_node,nic
0,a1,0,0,,
65
## Links alike share a line: a ring over 64 nodes of one core crosses all 64 cards alike. The words
## of each part are there without the script.
$ nodewise topology --new nodes=64,cores=1,network=switch -o ring.yaml; nodewise pattern -q --generate stencil2d5:dims=64x1,periodic=1 -o ring.pattern; nodewise report -q -t ring.yaml -p ring.pattern --algorithm block -o ring.html; grep -o 'nic 0 - [a-z0-9]*<details><summary>64 links like this</summary>' ring.html | uniq -c | sed 's/^ *//'
2 nic 0 - switch0<details><summary>64 links like this</summary>
$ for w in 'id="links"' 'How busy the links are' 'Message sizes' 'Where each rank is' 'id="glossary"' 'class="verdict"'; do grep -c "$w" ring.html; done
1
1
1
1
1
1
## A machine of more than 64 nodes: its switches open. 128 nodes on 8 leaves of a fat tree.
$ nodewise topology --new nodes=128,cores=2,network=fat-tree:16:4 -o tree.yaml; nodewise pattern -q --generate stencil3d7:dims=4x8x8 -o 256.pattern; nodewise report -q -t tree.yaml -p 256.pattern --algorithm block -o open.html; grep -c '<details class="switch">' open.html; grep -o 'leaf[0-9]* <small>[0-9]* nodes, [0-9]* links' open.html | sort -u | head -2; grep -c '<span class="item">' open.html
12
leaf0 <small>16 nodes, 4 links
leaf1 <small>16 nodes, 4 links
192
## The traffic of a training step by kind of group, with the figures of evaluate: tensor groups of
## 8 stay on the nodes of 8 GPUs, the others cross the network.
$ nodewise pattern -q --generate training:layers=8,hidden=1024,tp=8,pp=2,dp=2 -o step.pattern; nodewise report -t dgx-h100:4 -p step.pattern --algorithm block -o step.html >step.txt; python3 - <<'END'
> import xml.dom.minidom
> page = xml.dom.minidom.parse("step.html")
> table = [s for s in page.getElementsByTagName("section") if s.getAttribute("id") == "groups"][0]
> text = open("step.txt").read()
> for row in table.getElementsByTagName("tr")[1:]:
>     name, within, *figures = (c.firstChild.data for c in row.childNodes if c.nodeType == 1)
>     print(name, within, len(figures), name == "all kinds" or all(f in text for f in figures), sep=", ")
> END
tensor (tp), direct link, 2, True
tensor (tp), time, 2, True
data (dp), 1 switch, 2, True
data (dp), time, 2, True
pipeline (pp), 1 switch, 2, True
pipeline (pp), time, 2, True
all kinds, time, 2, True
