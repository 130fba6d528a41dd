/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds links to the list of links between GPUs, for the readers of NVML and
 * ROCm SMI. */
#include "topology/gpu/links.h"
#include "base/array.h"
#include <string.h>

nw_status nw_gpu_links_add(struct nw_gpu_links *links,
                           const struct nw_gpu_link *link)
{
    nw_status status;

    for (size_t i = 0; i < links->link_count; i++)
        if (links->link[i].gpu == link->gpu &&
            !strcmp(links->link[i].pci, link->pci)) {
            links->link[i].count += link->count;
            return NW_OK;
        }
    status = nw_grow(&links->link, &links->link_capacity, links->link_count + 1,
                     sizeof *links->link);
    if (!status)
        links->link[links->link_count++] = *link;
    return status;
}
