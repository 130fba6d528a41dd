/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the heading of a machine's picture: its name, its counts, and a legend
 * of the colours. */
#include "report/picture.h"
#include "report/svg.h"
#include "report/topology_words.h"

#include <string.h>

int nw_picture_letters(char *const *names, int32_t count)
{
    size_t most = 0;

    for (int32_t i = 0; i < count; i++) {
        size_t length = names[i] ? strlen(names[i]) : 0;

        most = length > most ? length : most;
    }
    return most < NW_MOST_LETTERS ? (int)most : NW_MOST_LETTERS;
}

/* Returns true if the machine has a part of one of the kinds, given as bits. */
static bool has_kind(const nw_topology *topology, uint32_t kinds)
{
    for (int32_t t = 0; t < topology->type_count; t++)
        for (int32_t v = 1; v < topology->type[t]->vertex_count; v++)
            if (kinds >> topology->type[t]->kind[v] & 1)
                return true;
    return false;
}

static bool has_lines(const nw_topology *topology)
{
    bool any = topology->network != NULL;

    for (int32_t t = 0; t < topology->type_count; t++)
        any |= topology->type[t]->direct_count > 0;
    return any;
}

/* Writes the words of a legend entry at `x`; returns the x coordinate of the
 * next entry. */
static double draw_key_words(struct nw_text *text, double x, const char *words)
{
    nw_svg_label(text, (struct nw_svg_label){x + 16, 60, "small"}, "%s", words);
    return x + 30 + NW_LETTER_WIDTH * (double)strlen(words);
}

/* Draws the legend, from left to right: the colour of each kind of part that
 * the machine has, and a line if it has links to draw. */
static void draw_key(struct nw_text *text, const nw_topology *topology)
{
    static const struct {
        uint32_t kinds;
        const char *class, *words;
    } keys[] = {
        {1U << NW_VERTEX_CORE, "core", "core"},
        {1U << NW_VERTEX_GPU, "gpu", "GPU"},
        {1U << NW_VERTEX_GPU_SWITCH, "switch", "GPU switch"},
        {1U << NW_VERTEX_NIC, "nic", "network card"},
        {1U << NW_VERTEX_PACKAGE | 1U << NW_VERTEX_NUMA | 1U << NW_VERTEX_DIE |
             1U << NW_VERTEX_GROUP | 1U << NW_VERTEX_BRIDGE |
             1U << NW_VERTEX_BOARD,
         "part", "package, NUMA node or PCIe bridge"},
    };
    double x = 16;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!has_kind(topology, keys[i].kinds))
            continue;
        nw_svg_box(text,
                   &(struct nw_svg_box){x, 51, 11, 11, keys[i].class, NULL});
        x = draw_key_words(text, x, keys[i].words);
    }
    if (!has_lines(topology))
        return;
    nw_text_format(
        text, "<path class=\"wire\" stroke-width=\"3\" d=\"M%g 57h12\"/>\n", x);
    draw_key_words(text, x, "link");
}

void nw_picture_heading(struct nw_text *text, const struct nw_picture *picture,
                        double width)
{
    const nw_topology *topology = picture->topology;
    struct nw_text words = {0};
    char high[32];

    nw_words_counts(&words, topology);
    nw_svg_label(text, (struct nw_svg_label){16, 22, "strong"}, "%.*s",
                 nw_svg_whole(topology->name, (int)(width / 8)),
                 topology->name);
    nw_svg_label(text, (struct nw_svg_label){16, 40, "small faint"}, "%s",
                 words.data ? words.data : "");
    nw_text_fini(&words);
    if (!picture->congestion)
        draw_key(text, topology);
    if (!picture->congestion || picture->high <= 0)
        return;
    nw_format_quantity(picture->high, NW_UNIT_TIME, high, sizeof high);
    nw_svg_legend(text,
                  &(struct nw_svg_legend){width - 290, 34, 'c', "0", high});
}
