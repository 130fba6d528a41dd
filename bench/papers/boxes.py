# SPDX-License-Identifier: BSD-3-Clause
"""Draws arrangements of processes, or pieces of a domain, as named boxes."""

FILLS = ["#a6c8e8", "#f4b6b0", "#b8dfb4", "#eadf9b", "#d6bfe3", "#f6cfa3", "#b9e3e3", "#d9d9d9"]
TOP, GAP = 64, 40


def panel(x, title, cells):
    """One grid; cells are (left, top, width, height, words, group) in pixels."""
    out = ['<text x="%d" y="52">%s</text>' % (x, title)]
    for left, top, width, height, words, group in cells:
        out.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="#555"/>'
                   % (x + left, TOP + top, width, height, FILLS[group % len(FILLS)]))
        out.append('<text x="%.1f" y="%.1f" text-anchor="middle" font-size="10">%s</text>'
                   % (x + left + width / 2, TOP + top + height / 2 + 4, words))
    return "\n".join(out)


def draw(caption, panels):
    """Draws panels, each (title, cells), next to each other below the caption."""
    x, out = 20, []
    for title, cells in panels:
        out.append(panel(x, title, cells))
        x += max(max(cell[0] + cell[2] for cell in cells), 7 * len(title)) + GAP
    width = max(x, 7 * len(caption) + 40)
    height = TOP + 20 + max(cell[1] + cell[3] for _, cells in panels for cell in cells)
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" '
            'font-size="12"><title>%s</title><rect width="100%%" height="100%%" fill="#fff"/>'
            '<text x="20" y="24" font-size="14">%s</text>%s</svg>\n'
            % (width, height, caption, caption, "\n".join(out)))


def grid(rows, groups, width=84, height=26):
    """The cells of rows of names."""
    return [(j * width, i * height, width, height, name, groups[name])
            for i, row in enumerate(rows) for j, name in enumerate(row)]
