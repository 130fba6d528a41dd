/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the report as one HTML page that includes its style sheet and script.
 */
#include "report/page/page.h"
#include "base/text.h"
#include "report/heat_map_panel.h"
#include "report/picture.h"
#include "report/svg.h"
#include "report/topology_words.h"

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_CELLS 128 /* largest number of rows of cells in a heat map */

/* Appends the verdict on the last mapping against the first, and the figures
 * behind it. Appends nothing if there is one mapping. */
static void page_add_verdict(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;
    size_t last = input->mapping_count - 1;
    const struct nw_cost *const cost[2] = {&page->cost[0], &page->cost[last]};
    struct nw_headline headline = {0};
    char *words = NULL, *line;

    if (!last)
        return;
    nw_report_headline(input->topology, input->pattern, cost, &headline);
    if (nw_report_headline_text(&headline, &words)) {
        text->failed = true;
        return;
    }
    line = strchr(words, '\n');
    *line++ = '\0';
    nw_page_element(text, "p class=\"verdict\"", "%s", words);
    if (*line)
        nw_page_element(text, "p", "%s: %s", input->mapping[last].name, line);
    free(words);
}

/* Appends the links to the sections, in page order. */
static void page_add_contents(struct nw_text *text, const struct nw_page *page)
{
    const struct {
        const char *id, *title;
        bool shown;
    } parts[] = {
        {"costs", "Costs", true},
        {"groups", "Groups", page->cost[0].phase != NULL},
        {"levels", "Levels", true},
        {"messages", "Messages", true},
        {"traffic", "Traffic", true},
        {"links", "Links", true},
        {"ranks", "Ranks and downloads", true},
        {"pattern", "Pattern", true},
        {"machine", "Machine", true},
        {"glossary", "Glossary", true},
    };

    nw_text_add(text, "<nav aria-label=\"Sections\">");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].shown)
            nw_text_format(text, "<a href=\"#%s\">%s</a> ", parts[i].id,
                           parts[i].title);
    nw_text_add(text, "</nav>");
}

static void page_add_style(struct nw_text *text, const struct nw_page *page)
{
    nw_text_add(text, "\n<style>\n");
    nw_text_add(text, nw_page_style);
    nw_page_views_style(text, page->input->mapping_count + 1);
    nw_svg_style(text);
    nw_text_add(text, "</style>\n");
}

static void page_add_head(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;
    const nw_topology *topology = input->topology;
    const char *machine = nw_topology_name(topology);
    const char *program =
        input->pattern->program ? input->pattern->program : "";
    int ranks = input->pattern->rank_count;
    const char *s = nw_plural((uint64_t)ranks);
    int most = nw_svg_whole(machine, 60);
    struct nw_text counts = {0};

    nw_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\"/>\n");
    nw_page_element(text, "title", "%d rank%s on %.*s", ranks, s, most,
                    machine);
    page_add_style(text, page);
    nw_text_add(text, "</head>\n<body>\n<header>");
    nw_page_element(text, "h1", "%d rank%s on %.*s", ranks, s, most, machine);
    page_add_verdict(text, page);
    nw_words_counts(&counts, topology);
    nw_page_element(text, "p", "%s%s%.*s", counts.data ? counts.data : "",
                    *program ? "; program: " : "", nw_svg_whole(program, 200),
                    program);
    nw_text_fini(&counts);
    page_add_contents(text, page);
    nw_text_add(text, "</header>\n<main>\n");
}

static void add_fact(struct nw_text *text, const char *what, const char *words)
{
    if (!words)
        return;
    nw_page_element(text, "dt", "%s", what);
    nw_page_element(text, "dd", "%s", words);
    nw_text_add(text, "\n");
}

static void page_add_origin(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;

    nw_text_add(text, "<section id=\"origin\"><h2>Where this comes from</h2>\n"
                      "<dl>\n");
    add_fact(text, "machine", input->topology_source);
    add_fact(text, "pattern", input->pattern_source);
    add_fact(text, "program", input->pattern->program);
    add_fact(text, "note", input->pattern->note);
    add_fact(text, "partial", input->pattern->partial);
    for (size_t m = 0; m < input->mapping_count; m++)
        add_fact(text, m ? "mapping" : "before", input->mapping[m].name);
    add_fact(text, "seed", input->seed);
    add_fact(text, "command", input->command);
    add_fact(text, "made by", "nodewise " NW_VERSION);
    nw_text_add(text, "</dl>\n</section>\n</main>\n<script>"
                      "/*<![CDATA[*/\n");
    nw_text_add(text, nw_page_script);
    nw_text_add(text, "/*]]>*/</script>\n</body>\n</html>\n");
}

static nw_status add_machine(struct nw_text *text, const struct nw_page *page)
{
    struct nw_picture picture = {.topology = page->input->topology,
                                 .title = "The machine"};
    nw_status status;

    nw_text_add(text, "<section id=\"machine\"><h2>The machine</h2>\n");
    nw_page_wide(text, "The machine");
    status = nw_picture_draw(text, &picture);
    nw_page_wide_end(text);
    nw_text_add(text, "</section>\n");
    return status;
}

/* Appends the heat maps of the pattern with the ranks in numerical order, as
 * without a mapping. */
static nw_status add_pattern(struct nw_text *text, const struct nw_page *page)
{
    nw_status status = NW_OK;

    nw_text_add(text, "<section id=\"pattern\"><h2>The pattern</h2>\n<p>Bytes "
                      "from each rank to each other, in the order of the ranks."
                      "</p>\n<div class=\"panels\">\n");
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++) {
        char title[64];

        if (!page->used[layer])
            continue;
        snprintf(title, sizeof title, "The %s layer by rank",
                 nw_layer_name((enum nw_layer)layer));
        nw_svg_begin(text,
                     &(struct nw_svg_frame){NW_PANEL_WIDTH, NW_PANEL_HEIGHT,
                                            title, false, NULL});
        status = nw_panel_layer(text,
                                &(struct nw_heat_what){page->input->pattern,
                                                       (enum nw_layer)layer,
                                                       NULL, PAGE_CELLS},
                                0);
        nw_svg_end(text);
    }
    nw_text_add(text, "</div>\n</section>\n");
    return status;
}

static nw_status add_sections(struct nw_text *text, const struct nw_page *page)
{
    static nw_status (*const sections[])(struct nw_text *,
                                         const struct nw_page *) = {
        nw_page_messages, nw_page_maps,      nw_page_links, nw_page_switches,
        nw_page_ranks,    nw_page_downloads, add_pattern,   add_machine};
    nw_status status = NW_OK;

    page_add_head(text, page);
    nw_page_tiles(text, page);
    nw_page_costs(text, page);
    nw_page_groups(text, page);
    nw_page_levels(text, page);
    for (size_t i = 0; !status && i < sizeof sections / sizeof *sections; i++)
        status = sections[i](text, page);
    nw_page_glossary(text);
    page_add_origin(text, page);
    return status;
}

nw_status nw_report_html(const struct nw_report_input *input, char **out)
{
    struct nw_text text = {0};
    struct nw_page page;
    nw_status status = nw_page_init(&page, input, PAGE_CELLS);

    if (!status)
        status = add_sections(&text, &page);
    nw_page_fini(&page);
    return nw_text_take_if(status, &text, out);
}
