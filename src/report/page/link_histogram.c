/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a table of the number of links of each kind by their congestion, for
 * each mapping. */
#include "base/array.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Number of equal ranges into which the congestions up to that of the busiest
 * link are divided. */
#define LINK_HISTOGRAM_PARTS 5

struct histogram {
    int32_t all;
    /* number of links in each range of congestion; part[0]: links without
     * traffic */
    int32_t part[LINK_HISTOGRAM_PARTS + 1];
};

/* Returns the index in histogram.part for a congestion. `share` is the
 * congestion divided by the highest one. */
static int link_histogram_part(double share)
{
    return share > 0 ? (int)fmin(LINK_HISTOGRAM_PARTS,
                                 ceil(share * LINK_HISTOGRAM_PARTS))
                     : 0;
}

static void link_histogram_count(const struct nw_page *page, size_t m,
                                 double most,
                                 struct histogram count[NW_LINK_KIND_COUNT])
{
    const nw_topology *topology = page->input->topology;

    for (int32_t link = 0; link < page->cost[m].link_count; link++) {
        struct histogram *kind = &count[nw_topology_link(topology, link).kind];

        kind->all++;
        kind->part[link_histogram_part(nw_page_busier(page, m, link) / most)]++;
    }
}

static void link_histogram_add_row(struct nw_text *text, const char *kind,
                                   const char *name,
                                   const struct histogram *count)
{
    nw_text_add(text, "<tr>");
    nw_page_element(text, "th scope=\"row\"", "%s", kind);
    nw_page_element(text, "td class=\"word\"", "%s", name);
    nw_page_element(text, "td", "%d", count->all);
    for (int p = 0; p <= LINK_HISTOGRAM_PARTS; p++) {
        char words[16];

        snprintf(words, sizeof words, "%d", count->part[p]);
        nw_page_share(text, words, count->part[p], count->all);
    }
    nw_text_add(text, "</tr>\n");
}

static void link_histogram_add_head(struct nw_text *text)
{
    nw_text_add(text,
                "<table><thead><tr><th scope=\"col\">kind of link</th><th "
                "scope=\"col\" class=\"word\">mapping</th><th scope=\"col\">"
                "links</th><th scope=\"col\">idle</th>");
    for (int p = 1; p <= LINK_HISTOGRAM_PARTS; p++)
        nw_text_format(text, "<th scope=\"col\">%sto %d %%</th>",
                       p == 1 ? "up " : "", 100 * p / LINK_HISTOGRAM_PARTS);
    nw_text_add(text, "</tr></thead>\n<tbody>\n");
}

nw_status nw_page_histogram(struct nw_text *text, const struct nw_page *page)
{
    size_t n = page->input->mapping_count;
    struct histogram *count;
    double most = page->most_congestion;
    nw_status status = nw_alloc(n * NW_LINK_KIND_COUNT, sizeof *count, &count);

    if (status)
        return status;
    for (size_t m = 0; m < n && most > 0; m++)
        link_histogram_count(page, m, most, &count[m * NW_LINK_KIND_COUNT]);
    nw_text_add(text,
                "<h3>How busy the links are</h3>\n<p>Number of links of each "
                "kind, by their congestion in percent of the busiest link of "
                "all mappings.</p>\n");
    nw_page_wide(text, "Links of each kind by congestion");
    link_histogram_add_head(text);
    for (int kind = 0; kind < NW_LINK_KIND_COUNT; kind++)
        for (size_t m = 0; m < n; m++) {
            const struct histogram *row =
                &count[m * NW_LINK_KIND_COUNT + (size_t)kind];

            if (row->all)
                link_histogram_add_row(
                    text, nw_link_kind_name((enum nw_link_kind)kind),
                    page->input->mapping[m].name, row);
        }
    nw_text_add(text, "</tbody></table>\n");
    nw_page_wide_end(text);
    free(count);
    return NW_OK;
}
