/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums a pattern into the cells of a heat map and draws the cells. Cells of the
 * same colour are drawn together, so that the text of a large map stays
 * small. */
#include "report/heat_map.h"
#include "base/array.h"
#include "report/svg.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *nw_layer_name(enum nw_layer layer)
{
    static const char *const names[] = {"host", "GPU", "host and GPU"};

    return names[layer];
}

enum nw_layer nw_layer_of(enum nw_kind kind)
{
    if (kind == NW_KIND_HH)
        return NW_LAYER_HOST;
    return kind == NW_KIND_GG ? NW_LAYER_GPU : NW_LAYER_MIXED;
}

bool nw_layer_is_used(const nw_pattern *pattern, enum nw_layer layer)
{
    for (size_t e = 0; e < pattern->edge_count; e++)
        if (nw_layer_of((enum nw_kind)pattern->kind[e]) == layer)
            return true;
    return false;
}

static void add_edges(const struct nw_heat_what *what, struct nw_heat *heat)
{
    const nw_pattern *pattern = what->pattern;

    for (int32_t src = 0; src < pattern->rank_count; src++)
        for (size_t e = pattern->row[src]; e < pattern->row[src + 1]; e++) {
            int32_t dst = pattern->dst[e];
            size_t row, column;

            if (nw_layer_of((enum nw_kind)pattern->kind[e]) != what->layer)
                continue;
            row = (what->place ? what->place[src] : src) / heat->bin;
            column = (what->place ? what->place[dst] : dst) / heat->bin;
            heat->bytes[row * heat->cells + column] +=
                (double)pattern->bytes[e];
        }
}

/* Sets total, low and high of the map from the absolute values of its cells. */
static void heat_find_range(struct nw_heat *heat)
{
    size_t count = (size_t)heat->cells * heat->cells;

    for (size_t i = 0; i < count; i++) {
        double bytes = fabs(heat->bytes[i]);

        heat->total += bytes;
        if (bytes > heat->high)
            heat->high = bytes;
        if (bytes > 0 && (heat->low == 0 || bytes < heat->low))
            heat->low = bytes;
    }
}

nw_status nw_heat_bin(const struct nw_heat_what *what, struct nw_heat *heat)
{
    int32_t ranks = what->pattern->rank_count;
    nw_status status;

    *heat = (struct nw_heat){.ranks = ranks};
    heat->bin = (ranks - 1) / what->most_cells + 1;
    heat->cells = (ranks - 1) / heat->bin + 1;
    status = nw_alloc((size_t)heat->cells * heat->cells, sizeof *heat->bytes,
                      &heat->bytes);
    if (status)
        return status;
    add_edges(what, heat);
    heat_find_range(heat);
    return NW_OK;
}

void nw_heat_fini(struct nw_heat *heat)
{
    free(heat->bytes);
    *heat = (struct nw_heat){0};
}

nw_status nw_heat_subtract(const struct nw_heat *heat,
                           const struct nw_heat *before, struct nw_heat *out)
{
    size_t count = (size_t)heat->cells * heat->cells;
    nw_status status;

    *out = (struct nw_heat){heat->ranks, heat->bin, heat->cells,
                            .difference = true};
    status = nw_alloc(count, sizeof *out->bytes, &out->bytes);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        out->bytes[i] = heat->bytes[i] - before->bytes[i];
    heat_find_range(out);
    return NW_OK;
}

/* Returns the number of a cell's colour, or -1 for a cell of 0 bytes or of no
 * difference. The smallest differences have the colours beside the middle of
 * the ramp, larger positive ones those above, larger negative ones those below.
 */
static int heat_colour(const struct nw_heat *heat, double bytes)
{
    int middle = NW_SVG_STEPS / 2, step;

    if (!heat->difference)
        return bytes > 0 ? nw_svg_step(bytes, heat->low, heat->high) : -1;
    if (bytes == 0)
        return -1;
    step = 1 + nw_svg_step(fabs(bytes), heat->low, heat->high) * middle /
                   NW_SVG_STEPS;
    return bytes > 0 ? middle + step : middle - step;
}

/* Draws all cells of one colour as one path. Neighbours in a row are one
 * stroke. `step` has the colour of each cell. */
static void draw_step(struct nw_text *text, const struct nw_heat *heat,
                      const signed char *step, int colour)
{
    bool begun = false;

    for (int32_t row = 0; row < heat->cells; row++)
        for (int32_t column = 0; column < heat->cells; column++) {
            const signed char *at = &step[(size_t)row * heat->cells];
            int32_t from = column;

            while (column < heat->cells && at[column] == colour)
                column++;
            if (column == from)
                continue;
            if (!begun)
                nw_text_format(text, "<path class=\"%c%d\" d=\"",
                               heat->difference ? 'd' : 't', colour);
            begun = true;
            nw_text_format(text, "M%d %d.5h%d", from, row, column - from);
        }
    if (begun)
        nw_text_add(text, "\"/>\n");
}

static void draw_blocks(struct nw_text *text, const struct nw_heat *heat,
                        const struct nw_heat_square *square)
{
    double unit = square->side / heat->cells / heat->bin;

    nw_text_add(text, "<path class=\"grid\" d=\"");
    for (int32_t i = 0; i < square->block_count; i++) {
        double at = square->block[i] * unit;

        nw_text_format(text, "M%.6g %gv%gM%g %.6gh%g", square->x + at,
                       square->y, square->side, square->x, square->y + at,
                       square->side);
    }
    nw_text_add(text, "\"/>\n");
}

void nw_heat_draw(struct nw_text *text, const struct nw_heat *heat,
                  const struct nw_heat_square *square)
{
    size_t count = (size_t)heat->cells * heat->cells;
    signed char *step;

    if (nw_alloc(count, 1, &step)) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        step[i] = (signed char)heat_colour(heat, heat->bytes[i]);
    nw_svg_box(text, &(struct nw_svg_box){square->x, square->y, square->side,
                                          square->side, "frame", NULL});
    nw_text_format(text,
                   "<g class=\"heat\" transform=\"translate(%g %g) "
                   "scale(%.9g)\">\n",
                   square->x, square->y, square->side / heat->cells);
    for (int colour = 0; colour < NW_SVG_STEPS; colour++)
        draw_step(text, heat, step, colour);
    nw_text_add(text, "</g>\n");
    if (square->block_count)
        draw_blocks(text, heat, square);
    free(step);
}

/* Returns two characters that show the bytes of a cell. */
static const char *heat_map_shade(const struct nw_heat *heat, double bytes,
                                  bool utf8)
{
    static const char *const blocks[] = {"··", "░░", "▒▒", "▓▓", "██"};
    static const char *const letters[] = {"  ", "..", "++", "%%", "##"};
    int step = 0;

    if (bytes > 0)
        step = 1 + nw_svg_step(bytes, heat->low, heat->high) * 4 / NW_SVG_STEPS;
    return utf8 ? blocks[step] : letters[step];
}

void nw_heat_letters(struct nw_text *text, const struct nw_heat *heat)
{
    bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");

    for (int32_t row = 0; row < heat->cells; row++) {
        nw_text_format(text, "%8d ", row * heat->bin);
        for (int32_t column = 0; column < heat->cells; column++)
            nw_text_add(
                text, heat_map_shade(
                          heat, heat->bytes[(size_t)row * heat->cells + column],
                          utf8));
        nw_text_add(text, "\n");
    }
}
