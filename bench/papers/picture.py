# SPDX-License-Identifier: BSD-3-Clause
"""README's picture, drawn from the command's own output: which ranks communicate, in the
order of the cores, before and after mapping."""

MACHINE, PROGRAM = "magc-a", "col:dims=8x8,bytes=1MB"
CELL, GAP, TOP, LEFT = 5, 60, 64, 20
INK, SOFT, HOST, CROSS = "#24292f", "#57606a", "#1a7f64", "#cf4a2b"


def traffic(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line[:1].isdigit()]
    return [(int(row[0]), int(row[1])) for row in rows]


def places(path):
    """Node and core of each rank."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line[:1].isdigit()]
    return [(row[1], int(row[2])) for row in rows]


def panel(x, edges, place, title, caption):
    order = sorted(range(len(place)), key=lambda rank: place[rank])
    position = {rank: i for i, rank in enumerate(order)}
    size = CELL * len(place)
    out = ['<text x="%d" y="28" class="t">%s</text>' % (x, title),
           '<text x="%d" y="48" class="c">%s</text>' % (x, caption),
           '<rect x="%d" y="%d" width="%d" height="%d" fill="#f6f8fa" '
           'stroke="#d0d7de"/>' % (x, TOP, size, size)]
    for source, target in edges:
        inside = place[source][0] == place[target][0]
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>' %
                   (x + CELL * position[target], TOP + CELL * position[source],
                    CELL, CELL, HOST if inside else CROSS))
    for i in range(1, len(order)):
        if place[order[i]][0] != place[order[i - 1]][0]:
            at = CELL * i
            out.append('<path d="M%d %dh%dM%d %dv%d" stroke="#8c959f"/>' %
                       (x, TOP + at, size, x + at, TOP, size))
    return "\n".join(out)


def figure(costs):
    return "busiest link %.1f ms" % (1000 * costs["max_congestion"])


def picture(nodewise):
    """The picture, and both rows of its table: busiest link and simulated time."""
    nodewise.call("pattern", "--generate", PROGRAM, "-q", "-o", "p")
    for name, algorithm in ("before", "default"), ("after", "auto"):
        nodewise.call("map", "-t", MACHINE, "-p", "p", "--algorithm", algorithm, "-q", "-o", name)
    costs = {m["name"]: m for m in nodewise.answer("evaluate", "-t", MACHINE, "-p", "p", "-q",
                                                    "before", "after")["mappings"]}
    times = {m["name"]: m["time"] for m in nodewise.answer("simulate", "-t", MACHINE, "-p", "p",
                                                           "-q", "before", "after")["mappings"]}
    folder = nodewise.folder + "/"
    edges = traffic(folder + "p")
    before, after = places(folder + "before"), places(folder + "after")
    side = CELL * len(before)
    width, height = 2 * (LEFT + side) + GAP - LEFT + 20, TOP + side + 50
    y = TOP + side + 30
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
           'font-family="sans-serif"><title>Traffic before and after mapping</title>'
           '<style>.t{font-size:16px;font-weight:bold;fill:%s}.c{font-size:13px;'
           'fill:%s}</style><rect width="100%%" height="100%%" fill="#fff"/>'
           % (width, height, INK, SOFT),
           panel(LEFT, edges, before, "As the launcher would", figure(costs["before"])),
           panel(LEFT + side + GAP, edges, after, "As Nodewise maps it", figure(costs["after"])),
           '<rect x="%d" y="%d" width="12" height="12" fill="%s"/><text x="%d" y="%d" '
           'class="c">inside a node</text><rect x="%d" y="%d" width="12" height="12" '
           'fill="%s"/><text x="%d" y="%d" class="c">across the network; 64 ranks, '
           'in the order of their cores, lines between nodes</text></svg>'
           % (LEFT, y - 11, HOST, LEFT + 18, y, LEFT + 130, y - 11, CROSS, LEFT + 148, y)]
    rows = [[name, 1e3 * costs[name]["max_congestion"], 1e3 * times[name]]
            for name in ("before", "after")]
    return "\n".join(svg) + "\n", rows
