/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: one HTML page in reading order, with its style inside. */
#include "report/page.h"
#include "report/panel.h"
#include "report/picture.h"
#include "report/svg.h"
#include "report/topology_words.h"

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d2731;--faint:#5c6975;"
    "--paper:#fff;--card:#f7f9fb;--line:#d9e0e6;--good:#16704c;--bad:#a33b12;"
    "--bar:#4a90c8}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--faint:#9aa7b4;"
    "--paper:#11161b;--card:#1a2129;--line:#2e3944;--good:#63cfa0;"
    "--bad:#f0926a;--bar:#3f8fd0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1340px;padding:24px 28px 60px;"
    "background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;"
    "overflow-wrap:anywhere}\n"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:0 0 6px}"
    "h3{font-size:15px;margin:18px 0 6px}p{margin:4px 0 12px;max-width:80ch;"
    "color:var(--faint)}\n"
    "section{margin-top:34px;padding-top:18px;"
    "border-top:1px solid var(--line)}\n"
    "p.verdict{font-size:20px;font-weight:600;color:var(--ink);"
    "margin:14px 0 2px}\n"
    ".row{display:flex;flex-wrap:wrap;gap:8px}"
    ".tiles{gap:14px;margin-top:18px}"
    ".wide{overflow-x:auto}svg{height:auto}\n"
    ".tile{background:var(--card);border:1px solid var(--line);"
    "border-radius:8px;padding:12px 18px;min-width:180px}"
    ".tile b{display:block;font-size:26px}"
    ".tile span{display:block}.tile small{color:var(--faint)}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:5px 14px 5px 0;text-align:right;white-space:nowrap;"
    "vertical-align:top}th:first-child{text-align:left;max-width:300px;"
    "overflow:hidden;text-overflow:ellipsis}"
    "thead th{color:var(--faint);font-weight:600;"
    "border-bottom:1px solid var(--line)}"
    "tbody th{font-weight:600}"
    "tbody tr+tr>*{border-top:1px solid var(--line)}\n"
    "td small{display:block;color:var(--faint)}"
    "td small.good{color:var(--good)}td small.bad{color:var(--bad)}"
    ".bar{display:block;height:4px;margin-top:4px;border-radius:2px;"
    "background:var(--line);min-width:70px}"
    ".bar i{display:block;height:4px;border-radius:2px;"
    "background:var(--bar)}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;"
    "margin:0}dt{color:var(--faint)}dd{margin:0}code{font-size:13px}"
    "summary{cursor:pointer;color:var(--faint)}\n";

/* The verdict on the last mapping, and the figures behind it. */
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

void nw_page_head(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;
    const nw_topology *topology = input->topology;
    const char *machine = nw_topology_name(topology);
    const char *program =
        input->pattern->program ? input->pattern->program : "";
    int ranks = input->pattern->rank_count;
    const char *s = ranks == 1 ? "" : "s";
    int most = nw_svg_whole(machine, 60);
    struct nw_text counts = {0};

    nw_text_add(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                      "content=\"width=device-width, initial-scale=1\"/>\n");
    nw_page_element(text, "title", "%d rank%s on %.*s", ranks, s, most,
                    machine);
    nw_text_add(text, "\n<style>\n");
    nw_text_add(text, style);
    nw_svg_style(text);
    nw_text_add(text, "</style>\n</head>\n<body>\n<header>");
    nw_page_element(text, "h1", "%d rank%s on %.*s", ranks, s, most, machine);
    nw_words_counts(&counts, topology);
    nw_page_element(text, "p", "%s%s%.*s", counts.data ? counts.data : "",
                    *program ? "; program: " : "", nw_svg_whole(program, 200),
                    program);
    nw_text_fini(&counts);
    page_add_verdict(text, page);
    nw_text_add(text, "</header>\n");
}

static void add_fact(struct nw_text *text, const char *what, const char *words)
{
    if (!words)
        return;
    nw_page_element(text, "dt", "%s", what);
    nw_page_element(text, "dd", "%s", words);
    nw_text_add(text, "\n");
}

void nw_page_origin(struct nw_text *text, const struct nw_page *page)
{
    const struct nw_report_input *input = page->input;

    nw_text_add(text, "<section><h2>Where this comes from</h2>\n<dl>\n");
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
    nw_text_add(text, "</dl>\n</section>\n</body>\n</html>\n");
}

static nw_status add_machine(struct nw_text *text, const struct nw_page *page)
{
    struct nw_picture picture = {.topology = page->input->topology,
                                 .title = "The machine"};
    nw_status status;

    nw_text_add(text, "<section><h2>The machine</h2>\n<div class=\"wide\">\n");
    status = nw_picture_draw(text, &picture);
    nw_text_add(text, "</div>\n</section>\n");
    return status;
}

/* The pattern in the order of its ranks, before any mapping. */
static nw_status add_pattern(struct nw_text *text, const struct nw_page *page)
{
    nw_status status = NW_OK;

    nw_text_add(text, "<section><h2>The pattern</h2>\n<p>What each rank sends "
                      "to each other, in the order of the ranks.</p>\n"
                      "<div class=\"row\">\n");
    for (int layer = 0; !status && layer < NW_LAYER_COUNT; layer++) {
        char title[64];

        if (!page->used[layer])
            continue;
        snprintf(title, sizeof title, "The %s layer by rank",
                 nw_layer_name((enum nw_layer)layer));
        nw_svg_begin(text, &(struct nw_svg_frame){
                               NW_PANEL_WIDTH, NW_PANEL_HEIGHT, title, false});
        status = nw_panel_draw(
            text,
            &(struct nw_panel){.heat = {page->input->pattern,
                                        (enum nw_layer)layer, NULL, 128}});
        nw_svg_end(text);
    }
    nw_text_add(text, "</div>\n</section>\n");
    return status;
}

static nw_status add_sections(struct nw_text *text, const struct nw_page *page)
{
    nw_status status;

    nw_page_head(text, page);
    nw_page_tiles(text, page);
    nw_page_costs(text, page);
    status = nw_page_maps(text, page);
    if (!status)
        status = nw_page_links(text, page);
    if (!status)
        nw_page_levels(text, page);
    if (!status)
        status = add_machine(text, page);
    if (!status)
        status = add_pattern(text, page);
    if (!status)
        nw_page_origin(text, page);
    return status;
}

nw_status nw_report_html(const struct nw_report_input *input, char **out)
{
    struct nw_text text = {0};
    struct nw_page page;
    nw_status status = nw_page_init(&page, input);

    if (!status)
        status = add_sections(&text, &page);
    nw_page_fini(&page);
    if (status)
        nw_text_fini(&text);
    else
        status = nw_text_take(&text, out);
    return status;
}
