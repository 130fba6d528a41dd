/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes lists of many numbers or names in a short form, bandwidths, and the
 * counts of a machine. */
#include "report/topology_words.h"
#include "base/hostlist.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANGES 8
#define MOST_LETTERS 60

void nw_words_ranges(struct nw_text *text, const int32_t *values, size_t count)
{
    int ranges = 0;

    for (size_t i = 0; i < count; i++) {
        size_t from = i;

        while (i + 1 < count && values[i + 1] == values[i] + 1)
            i++;
        if (ranges == MOST_RANGES) {
            nw_text_add(text, ",...");
            return;
        }
        nw_text_format(text, ranges++ ? ",%d" : "%d", values[from]);
        if (i > from)
            nw_text_format(text, "-%d", values[i]);
    }
}

nw_status nw_words_names(struct nw_text *text, const char *const *names,
                         size_t count)
{
    char *words;
    size_t length;
    nw_status status = nw_hostlist_compress(names, count, &words);

    if (status)
        return status;
    length = nw_text_cut(words, MOST_LETTERS);
    nw_text_add_bytes(text, words, length);
    if (words[length])
        nw_text_add(text, "...");
    free(words);
    return NW_OK;
}

const char *nw_words_bandwidth(const struct nw_link_class *class, char out[64])
{
    char up[24], down[24];

    nw_format_quantity(class->bandwidth[0], NW_UNIT_BANDWIDTH, up, sizeof up);
    nw_format_quantity(class->bandwidth[1], NW_UNIT_BANDWIDTH, down,
                       sizeof down);
    if (strcmp(up, down))
        snprintf(out, 64, "%s up, %s down", up, down);
    else
        snprintf(out, 64, "%s", up);
    return out;
}

static void add_count(struct nw_text *text, int32_t count, const char *what)
{
    nw_text_format(text, "%d %s%s", count, what, nw_plural((uint64_t)count));
}

void nw_words_counts(struct nw_text *text, const nw_topology *topology)
{
    add_count(text, topology->node_count, "node");
    nw_text_add(text, ", ");
    add_count(text, nw_topology_element_count(topology),
              topology->elements == NW_ELEMENTS_PU ? "hardware thread"
                                                   : "core");
    nw_text_add(text, ", ");
    add_count(text, nw_topology_gpu_count(topology), "GPU");
    if (!topology->domain_count)
        return;
    nw_text_add(text, ", ");
    add_count(text, topology->domain_count, "NVLink domain");
    if (!topology->upper)
        return;
    nw_text_add(text, ", ");
    add_count(text, topology->upper_count, "second-level domain");
}
