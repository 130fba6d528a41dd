# SPDX-License-Identifier: BSD-3-Clause
"""Draws the trace of an exchange as lanes over time: one for the computation of the
program, and one for each end of a channel."""

LEFT, WIDTH, LANE, TOP = 190, 680, 20, 40
COLOURS = {"caller": "#228833", "way": "#c5d5ea", "start": "#4477aa", "finish": "#aa3377"}
ORDER = ["caller", "way", "start", "finish"]


def lane_of(row):
    rank, act, end, peer, method, phase = row[:6]
    if act == "caller":
        return (int(rank), -1, "", "rank %s computes" % rank)
    place = "self" if end == "self" else "%s %s" % (end, peer)
    return (int(rank), int(phase), place, "%s, %s%s" % (place, method,
                                                        ", phase %s" % phase if phase != "0" else ""))


def draw(rows):
    lanes = sorted({lane_of(row) for row in rows})
    high = {lane: TOP + i * LANE + 12 * lane[0] for i, lane in enumerate(lanes)}
    last = max(row[7] for row in rows)
    height = max(high.values()) + 3 * LANE + 24
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="900" height="%d" '
           'font-family="sans-serif" font-size="12"><title>Timeline of an exchange</title>'
           '<rect width="100%%" height="100%%" fill="#fff"/>' % height]
    for lane in lanes:
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>'
                   % (LEFT - 8, high[lane] + 13, lane[3]))
    for row in sorted(rows, key=lambda row: ORDER.index(row[1])):
        start, end = (LEFT + WIDTH * value / last for value in row[6:8])
        out.append('<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>'
                   % (start, high[lane_of(row)] + 2, max(0.4, end - start), LANE - 5,
                      COLOURS[row[1]]))
    y = height - 2 * LANE
    for i in range(5):
        x = LEFT + WIDTH * i / 4
        out.append('<path d="M%.1f %dv5" stroke="#777"/><text x="%.1f" y="%d" text-anchor="middle">'
                   '%.0f us</text>' % (x, y - 8, x, y + 10, last * i / 4))
    for i, (act, words) in enumerate([("caller", "computing"), ("start", "pack, send"),
                                      ("way", "in flight"), ("finish", "unpack, copy")]):
        out.append('<rect x="%d" y="12" width="12" height="12" fill="%s"/><text x="%d" y="22">%s'
                   '</text>' % (LEFT + 150 * i, COLOURS[act], LEFT + 18 + 150 * i, words))
    return "\n".join(out + ["</svg>"]) + "\n"
