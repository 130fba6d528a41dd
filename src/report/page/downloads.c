/* SPDX-License-Identifier: BSD-3-Clause */
/* Embeds the last mapping in the page as files to download: the mapping, a
 * rankfile for Open MPI (if a rankfile can express the mapping), and a table
 * for spreadsheets. Embeds nothing if there are more ranks than
 * NW_PAGE_MOST_RANKS. */
#include "base/status.h"
#include "base/text.h"
#include "cost/mapping_file.h"
#include "report/page/page.h"

#include <nodewise/launch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a data URL with the text `data`. Characters that may have a meaning
 * in URLs or HTML become %XX. */
static void downloads_add_url(struct nw_text *text, const char *data)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789-_.~,:=*/;@+()";

    nw_text_add(text, "data:text/plain;charset=utf-8,");
    while (*data) {
        size_t n = strspn(data, plain);

        nw_text_add_bytes(text, data, n);
        data += n;
        if (*data)
            nw_text_format(text, "%%%02X", (unsigned char)*data++);
    }
}

/* Writes the name of a mapping, without folder and suffix, to `out` as the stem
 * of file names; at most 63 bytes. Replaces characters that some systems do not
 * allow in file names. */
static void downloads_stem(const char *name, char out[64])
{
    const char *slash = strrchr(name, '/'), *dot;
    size_t n;

    name = slash ? slash + 1 : name;
    dot = strrchr(name, '.');
    n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    n = n < 63 ? n : 63;
    for (size_t i = 0; i < n; i++)
        out[i] = strchr("-_.", name[i]) || (name[i] >= '0' && name[i] <= '9') ||
                         ((name[i] | 32) >= 'a' && (name[i] | 32) <= 'z')
                     ? name[i]
                     : '_';
    out[n] = '\0';
}

/* Appends a link by which the reader saves `data` as a file. */
static void downloads_add(struct nw_text *text, const char *stem,
                          const char *ending, const char *data)
{
    nw_text_format(text, "<a class=\"button\" download=\"%s%s\" href=\"", stem,
                   ending);
    downloads_add_url(text, data);
    nw_text_format(text, "\">%s%s</a>\n", stem, ending);
}

/* Appends numbers, separated by blanks; nothing if they are open (-1). */
static void downloads_add_set(struct nw_text *text, struct nw_ints set)
{
    for (size_t i = 0; i < set.count && set.values[0] >= 0; i++)
        nw_text_format(text, i ? " %d" : "%d", set.values[i]);
}

/* Appends a name as a CSV field, in quotes if it contains a comma or a quote.
 */
static void downloads_add_name(struct nw_text *text, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        nw_text_add(text, name);
        return;
    }
    nw_text_add(text, "\"");
    for (; *name; name++)
        nw_text_format(text, *name == '"' ? "\"\"" : "%c", *name);
    nw_text_add(text, "\"");
}

static void downloads_make_csv(const nw_mapping *mapping, struct nw_text *csv)
{
    nw_text_add(csv, "rank,node,cores,gpus,gpu_node,nic\n");
    for (int32_t r = 0; r < mapping->rank_count; r++) {
        bool far = nw_launch_has_far_gpu(mapping, r);

        nw_text_format(csv, "%d,", r);
        downloads_add_name(csv, mapping->node_name[mapping->node[r]]);
        nw_text_add(csv, ",");
        downloads_add_set(csv, nw_mapping_cores(mapping, r));
        nw_text_add(csv, ",");
        downloads_add_set(csv, nw_mapping_gpus(mapping, r));
        nw_text_add(csv, ",");
        if (far)
            downloads_add_name(csv, mapping->node_name[mapping->gpu_node[r]]);
        nw_text_add(csv, ",");
        if (mapping->nic && mapping->nic[r] >= 0)
            nw_text_add_number(csv, mapping->nic[r]);
        nw_text_add(csv, "\n");
    }
}

/* Appends the link to the rankfile; appends nothing if a rankfile cannot
 * express the mapping. */
static nw_status downloads_add_rankfile(struct nw_text *text,
                                        const struct nw_page *page,
                                        const nw_mapping *mapping,
                                        const char *stem)
{
    struct nw_launch_options options = NW_LAUNCH_OPTIONS_INIT;
    nw_launch *launch = NULL;
    nw_status status;

    options.launcher = "openmpi4";
    options.exec = NW_LAUNCH_EXEC_NEVER;
    options.memory = NW_MEMORY_LEAVE;
    status = nw_launch_new(page->input->topology, mapping, &options, &launch);
    if (status)
        return status == NW_ENOMEM ? status : NW_OK;
    for (size_t f = 0; f < launch->file_count; f++)
        if (strstr(launch->file[f].path, "rankfile"))
            downloads_add(text, stem, ".rankfile", launch->file[f].text);
    nw_launch_free(launch);
    return NW_OK;
}

static nw_status downloads_add_all(struct nw_text *text,
                                   const struct nw_page *page,
                                   const struct nw_report_mapping *shown)
{
    struct nw_text csv = {0};
    char stem[64], *words;
    nw_status status = nw_mapping_text(shown->mapping, &words);

    if (status)
        return status;
    downloads_stem(shown->name, stem);
    nw_text_add(text, "<p class=\"row\">Download: ");
    downloads_add(text, stem, ".mapping", words);
    free(words);
    status = downloads_add_rankfile(text, page, shown->mapping, stem);
    downloads_make_csv(shown->mapping, &csv);
    downloads_add(text, stem, ".csv", csv.data ? csv.data : "");
    text->failed |= csv.failed;
    nw_text_fini(&csv);
    nw_text_add(text, "</p>\n");
    return status;
}

nw_status nw_page_downloads(struct nw_text *text, const struct nw_page *page)
{
    size_t last = page->input->mapping_count - 1;
    nw_status status = NW_OK;

    if (page->input->pattern->rank_count <= NW_PAGE_MOST_RANKS)
        status = downloads_add_all(text, page, &page->input->mapping[last]);
    nw_text_add(text, "</section>\n");
    return status;
}
