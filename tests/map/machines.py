# SPDX-License-Identifier: BSD-3-Clause
"""Random machines, and the costs on them, computed only by the rules of
nodewise-topology(5): nothing here comes from the program that is checked."""
import itertools

KINDS = ("core", "socket")


class Network:
    """Switches, and the links between two of them that a message to node d
    takes: a list of (key, bandwidth, latency), key telling the direction."""

    def __init__(self, rng):
        self.link = (rng.choice((2, 5, 8)), rng.choice((3, 10)))

    def hop(self, *key):
        return (("net",) + key,) + self.link

    def figures(self):
        return "{bandwidth: %d, latency: %d}" % self.link


class Tree(Network):
    def __init__(self, rng):
        super().__init__(rng)
        self.leaves = rng.randint(1, 4)
        self.above = [rng.randint(0, 1) for _ in range(self.leaves)]
        self.names = ["l%d" % i for i in range(self.leaves)]

    def yaml(self):
        text = "  tree:\n    switch: r\n    link: %s\n    switches:\n" % self.figures()
        for middle in (0, 1):
            below = [n for n, a in zip(self.names, self.above) if a == middle]
            text += "      - switch: m%d\n" % middle
            if below:
                text += "        switches:\n" + "".join(
                    "          - switch: %s\n" % n for n in below)
        return text

    def route(self, a, b, d):
        if a == b:
            return []
        up, down = ["l%d" % a], ["l%d" % b]
        for way, leaf in ((up, a), (down, b)):
            way.append("m%d" % self.above[leaf])
            way.append("r")
        while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
            up.pop(), down.pop()
        way = up + down[-2::-1]
        return [self.hop(x, y) for x, y in zip(way, way[1:])]


class Torus(Network):
    def __init__(self, rng):
        super().__init__(rng)
        self.dims = rng.choice(((4,), (3, 2), (2, 2, 2), (4, 2), (5,)))
        self.wrap = rng.choice((True, False))
        self.at = list(itertools.product(*map(range, self.dims)))
        self.names = ["t" + ".".join(map(str, c)) for c in self.at]

    def yaml(self):
        return "  torus:\n    dimensions: [%s]\n    wrap: %s\n    link: %s\n" % (
            ", ".join(map(str, self.dims)), str(self.wrap).lower(), self.figures())

    def route(self, a, b, d):
        here, to, hops = list(self.at[a]), self.at[b], []
        for k, size in enumerate(self.dims):
            ahead = (to[k] - here[k]) % size
            step = 1 if to[k] > here[k] else -1
            if self.wrap and size > 2:
                step = 1 if 2 * ahead < size else -1
                if 2 * ahead == size:
                    step = 1 if here[k] % 2 == 0 else -1
            while here[k] != to[k]:
                before = tuple(here)
                here[k] = (here[k] + step) % size
                hops.append(self.hop(before, tuple(here)))
        return hops


class FatTree(Network):
    def __init__(self, rng):
        super().__init__(rng)
        self.levels = [(rng.choice((2, 3)), rng.choice((1, 2)), rng.choice((1, 2)))
                       for _ in range(rng.choice((1, 2)))]
        leaves = 1
        for down, _, _ in self.levels:
            leaves *= down
        self.names = ["leaf%d" % i for i in range(leaves)]

    def yaml(self):
        text = "  fat_tree:\n    leaf_nodes: 1\n    levels:\n"
        for level in self.levels:
            text += "      - {down: %d, up: %d, parallel: %d, link: %s}\n" % (
                level + (self.figures(),))
        return text

    def route(self, a, b, d):
        up, down, width, y, level = [], [], 1, 0, 0
        while a != b:
            low, wide, strands = self.levels[level]
            port = d // width % (wide * strands)
            up.append(self.hop(level, a, y, port, "up"))
            down.insert(0, self.hop(level, b, y, port, "down"))
            y += width * (port % wide)
            width *= wide
            a, b, level = a // low, b // low, level + 1
        return up + down


class Dragonfly(Network):
    def __init__(self, rng):
        super().__init__(rng)
        self.groups, self.routers = rng.choice(((2, 2), (3, 2), (3, 1), (4, 3)))
        self.ports = rng.choice((2, 3))
        self.names = ["g%dr%d" % (g, r) for g in range(self.groups)
                      for r in range(self.routers)]

    def yaml(self):
        return ("  dragonfly:\n    groups: %d\n    routers: %d\n    global_links: %d\n"
                "    router_nodes: 1\n    local: %s\n    global: %s\n" % (
                    self.groups, self.routers, self.ports, self.figures(), self.figures()))

    def globals_of(self, g, h):
        """Pairs of routers that a global link connects, with g's router first."""
        rounds = self.routers * self.ports // (self.groups - 1)
        at = lambda x, y: y - (y > x)
        return [((k * (self.groups - 1) + at(g, h)) // self.ports,
                 (k * (self.groups - 1) + at(h, g)) // self.ports)
                for k in range(rounds)]

    def route(self, a, b, d):
        (g, r), (h, s) = divmod(a, self.routers), divmod(b, self.routers)
        local = lambda g, x, y: [self.hop("l", g, x, y)] if x != y else []
        if g == h:
            return local(g, r, s)
        ways = [local(g, r, x) + [self.hop("g", g, h, i)] + local(h, y, s)
                for i, (x, y) in enumerate(self.globals_of(g, h))]
        least = min(map(len, ways))
        ways = [w for w in ways if len(w) == least]
        return ways[d % len(ways)]


class Graph(Network):
    def __init__(self, rng):
        super().__init__(rng)
        count = rng.randint(2, 6)
        self.names = ["s%d" % i for i in range(count)]
        self.links = [(i, rng.randrange(i)) for i in range(1, count)]
        for _ in range(rng.randint(0, count)):
            a, b = rng.sample(range(count), 2)
            if (a, b) not in self.links and (b, a) not in self.links:
                self.links.append((a, b))
        self.speed = [(rng.choice((1, 4)), rng.choice((1, 3))) for _ in self.links]
        self.spread = rng.choice((True, False))

    def yaml(self):
        text = "  graph:\n    switches: s[0-%d]\n    ties: %s\n    links:\n" % (
            len(self.names) - 1, "spread" if self.spread else "first")
        for (a, b), speed in zip(self.links, self.speed):
            text += "      - {between: [s%d, s%d], link: {bandwidth: [%d, %d], latency: 7}}\n" % (
                a, b, speed[0], speed[1])
        return text

    def far(self, to):
        far, layer = {to: 0}, [to]
        while layer:
            layer = [y for x in layer for l in self.links if x in l
                     for y in l if y not in far and not far.update({y: far[x] + 1})]
        return far

    def route(self, a, b, d):
        far, hops = self.far(b), []
        while a != b:
            nearer = [i for i, l in enumerate(self.links)
                      if a in l and far[sum(l) - a] < far[a]]
            i = nearer[d % len(nearer) if self.spread else 0]
            back = self.links[i][1] == a
            hops.append((("net", i, back), self.speed[i][back], 7))
            a = sum(self.links[i]) - a
        return hops


NETWORKS = {"tree": Tree, "torus": Torus, "fat-tree": FatTree,
            "dragonfly": Dragonfly, "graph": Graph}


class Kind:
    """A kind of node: packages of cores, GPUs below them by a PCIe switch,
    cards at packages or at the node, direct links between GPUs."""

    def __init__(self, rng, gpus):
        self.packages, self.cores = rng.choice((1, 2)), rng.randint(1, 3)
        self.gpus = rng.randint(1, 2) if gpus else 0    # of each package
        self.cards = rng.choice(("none", "node", "one", "each", "two"))
        self.direct = gpus and self.gpus * self.packages > 1 and rng.random() < 0.5
        self.figures = {k: (rng.choice((2, 6)), rng.choice((3, 9)), rng.choice((1, 4)))
                        for k in ("core", "socket", "switch", "gpu", "card", "nvlink")}
        self.half = rng.random() < 0.3                  # half-duplex links between sockets
        self.port = (rng.choice((1, 3)), rng.choice((2, 5)), 11)

    def text(self, kind):
        up, down, latency = self.figures[kind]
        if kind == "socket" and self.half:
            return "{bandwidth: %d, latency: %d, half_duplex: true}" % (up, latency)
        return "{bandwidth: [%d, %d], latency: %d}" % (up, down, latency)

    def card_parents(self):
        return {"none": [], "node": ["node"], "one": ["p0"], "two": ["p0", "p0"],
                "each": ["p%d" % p for p in range(self.packages)]}[self.cards]

    def yaml(self, name):
        text = "  %s:\n    cpu:\n      packages: %d\n      cores: %d\n      links:\n" % (
            name, self.packages, self.cores)
        for kind in KINDS:
            text += "        %s: %s\n" % (kind, self.text(kind))
        if self.gpus or self.cards != "none":
            text += "    devices:\n"
        for p in range(self.packages if self.gpus else 0):
            text += ("      - package: %d\n        parts:\n          - pcie-switch: 1\n"
                     "            link: %s\n            parts:\n              - gpu: %d\n"
                     "                link: %s\n" % (p, self.text("switch"), self.gpus,
                                                     self.text("gpu")))
        for parent in self.card_parents():
            text += "      - " + ("package: %s\n        " % parent[1:]
                                  if parent != "node" else "")
            text += "parts:\n          - nic: 1\n            link: %s\n" % self.text("card")
            text += "            port: {bandwidth: [%d, %d], latency: %d}\n" % self.port
        if self.direct:
            text += "    direct:\n      - {pairs: [[gpu 0, gpu 1]], link: %s}\n" % self.text("nvlink")
        return text

    def way_up(self, vertex):
        """The vertices from one up to the node, each with the kind of its link upwards."""
        what, i = vertex
        if what == "core":
            return [(vertex, "core"), ("p%d" % (i // self.cores), "socket"), ("node", None)]
        if what == "gpu":
            p = i // self.gpus
            return [(vertex, "gpu"), ("x%d" % p, "switch"), ("p%d" % p, "socket"), ("node", None)]
        parent = self.card_parents()[i]
        ways = [(vertex, "card")]
        return ways + ([] if parent == "node" else [(parent, "socket")]) + [("node", None)]

    def hop(self, node, vertex, kind, down):
        figures = self.figures[kind]
        shared = kind == "socket" and self.half
        return ((node, vertex, False if shared else down),
                figures[0 if shared else down], figures[2])

    def tree(self, node, a, b):
        up, down = list(a), list(b)
        while len(up) > 1 and len(down) > 1 and up[-2][0] == down[-2][0]:
            up.pop(), down.pop()
        return ([self.hop(node, v, k, False) for v, k in up[:-1]]
                + [self.hop(node, v, k, True) for v, k in reversed(down[:-1])])

    def card_of(self, vertex):
        cards = [(len(self.tree(0, self.way_up(vertex), self.way_up(("card", c)))), c)
                 for c in range(len(self.card_parents()))]
        near = [c for links, c in cards if links == min(cards)[0]]
        return near[vertex[1] % len(near)] if near else None


class Machine:
    def __init__(self, rng, network, gpus, most=8):
        self.network = NETWORKS[network](rng)
        self.kinds = [Kind(rng, gpus) for _ in range(rng.choice((1, 2)))]
        self.staged = gpus and rng.random() < 0.3
        count = min(rng.randint(2, most), len(self.network.names))
        if network == "tree":
            count = rng.randint(1, most)
            self.at = [rng.randrange(self.network.leaves) for _ in range(count)]
        else:
            self.at = sorted(rng.sample(range(len(self.network.names)), count))
        self.kind = [rng.choice(self.kinds) for _ in self.at]

    def yaml(self):
        text = "nodewise: cluster 1\nname: trial\ngpu_messages: %s\nnode_types:\n" % (
            "staged" if self.staged else "direct")
        for i, kind in enumerate(self.kinds):
            text += kind.yaml("k%d" % i)
        text += "nodes:\n"
        for n, (at, kind) in enumerate(zip(self.at, self.kind)):
            text += "  - {name: n%d, type: k%d, switch: %s" % (
                n, self.kinds.index(kind), self.switches(at, kind))
            if kind.cards == "none":
                text += ", port: {bandwidth: [%d, %d], latency: %d}" % kind.port
            text += "}\n"
        return text + "network:\n" + self.network.yaml()

    def switches(self, at, kind):
        name, cards = self.network.names[at], len(kind.card_parents())
        return name if cards < 2 else "[%s]" % ", ".join([name] * cards)

    def cores(self, node):
        return self.kind[node].packages * self.kind[node].cores

    def gpus(self, node):
        return self.kind[node].packages * self.kind[node].gpus

    def leave(self, end, down):
        """The links from an end to its node's network port, with the link of the port; in
        the other direction if `down`."""
        node, vertex = end
        kind = self.kind[node]
        ways, hops = kind.way_up(vertex), []
        card = kind.card_of(vertex)
        door = [("node", None)] if card is None else kind.way_up(("card", card))
        start = ways
        if self.staged and vertex[0] == "gpu":
            start = ways[2:]
        legs = [(ways, start), (start, door)]
        for a, b in ([(b, a) for a, b in reversed(legs)] if down else legs):
            hops += kind.tree(node, a, b)
        port = ((node, "port", card, down), kind.port[down], kind.port[2])
        return [port] + hops if down else hops + [port]

    def route(self, a, b):
        """Ends are (node, ("core" or "gpu", number in the node))."""
        if a == b:
            return []
        if a[0] != b[0]:
            return (self.leave(a, False)
                    + self.network.route(self.at[a[0]], self.at[b[0]], b[0])
                    + self.leave(b, True))
        kind = self.kind[a[0]]
        if kind.direct and {a[1], b[1]} == {("gpu", 0), ("gpu", 1)}:
            figures = kind.figures["nvlink"]
            back = a[1] == ("gpu", 1)
            return [((a[0], "nvlink", back), figures[back], figures[2])]
        return kind.tree(a[0], kind.way_up(a[1]), kind.way_up(b[1]))
