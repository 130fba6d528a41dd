/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the properties of a topology that a format cannot express. */
#include "topology/export/export.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void nw_export_lose(struct nw_export *export, const char *format, ...)
{
    char *words = NULL;
    va_list list;
    int length;

    va_start(list, format);
    length = vasprintf(&words, format, list);
    va_end(list);
    if (length < 0) {
        export->lost.failed = true;
        return;
    }
    nw_text_format(&export->lost, "%s%s", export->lost.length ? "; " : "",
                   words);
    free(words);
}

/* Returns true if a node type has more than two vertices: readers of network
 * formats assume a node with one core. */
static bool has_inside(const nw_topology *topology)
{
    for (int32_t t = 0; t < topology->type_count; t++)
        if (topology->type[t]->vertex_count > 2)
            return true;
    return false;
}

static bool has_figures(const nw_topology *topology)
{
    for (int32_t c = 0; c < topology->class_count; c++)
        if (!topology->class[c].assumed)
            return true;
    return false;
}

void nw_export_lose_inside(struct nw_export *export)
{
    if (has_inside(export->topology))
        nw_export_lose(export, "the inside of nodes");
    if (has_figures(export->topology))
        nw_export_lose(export, "the rates of links");
}
