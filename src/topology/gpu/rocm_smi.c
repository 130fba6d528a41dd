/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from ROCm SMI the PCI addresses and names of AMD GPUs, the pairs of
 * GPUs that are connected by xGMI, and the bandwidth of these pairs. The
 * library's header is not needed: the declarations in this file follow its
 * documented interface. */
#include "base/library.h"
#include "topology/gpu/links.h"

#include <stdio.h>
#include <string.h>

#define SUCCESS 0
#define LINK_XGMI 2

static struct {
    int (*init)(uint64_t);
    int (*shutdown)(void);
    int (*count)(uint32_t *);
    int (*pci)(uint32_t, uint64_t *);
    int (*name)(uint32_t, char *, size_t);
    int (*unique)(uint32_t, uint64_t *);
    int (*link_type)(uint32_t, uint32_t, uint64_t *, int *);
} rocm;

/* A function of ROCm SMI that stores the lowest and highest bandwidth of a pair
 * of GPUs in MB/s. NULL if the release is too old to have this function. */
static int (*bandwidth)(uint32_t, uint32_t, uint64_t *, uint64_t *);

static bool rocm_smi_load(void)
{
    static const char *const names[] = {
        "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
        "librocm_smi64.so"};
    const struct nw_symbol symbols[] = {
        {"rsmi_init", &rocm.init},
        {"rsmi_shut_down", &rocm.shutdown},
        {"rsmi_num_monitor_devices", &rocm.count},
        {"rsmi_dev_pci_id_get", &rocm.pci},
        {"rsmi_dev_name_get", &rocm.name},
        {"rsmi_dev_unique_id_get", &rocm.unique},
        {"rsmi_topo_get_link_type", &rocm.link_type},
    };
    const struct nw_symbol newer[] = {
        {"rsmi_minmax_bandwidth_get", &bandwidth},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (nw_library_load(names[i], symbols, sizeof symbols / sizeof *symbols,
                            "to see xGMI"))
            continue;
        if (nw_library_load(names[i], newer, 1, "to see rates of xGMI"))
            bandwidth = NULL;
        return rocm.init(0) == SUCCESS;
    }
    return false;
}

static void rocm_smi_describe(uint32_t device, struct nw_gpu_found *gpu)
{
    uint64_t id = 0;

    if (rocm.pci(device, &id) == SUCCESS)
        snprintf(gpu->pci, sizeof gpu->pci, "%04x:%02x:%02x.%x",
                 (unsigned)(id >> 32 & 0xffff), (unsigned)(id >> 8 & 0xff),
                 (unsigned)(id >> 3 & 0x1f), (unsigned)(id & 7));
    if (rocm.name(device, gpu->name, sizeof gpu->name) != SUCCESS)
        gpu->name[0] = '\0';
    if (rocm.unique(device, &id) == SUCCESS && id)
        snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%016llx",
                 (unsigned long long)id);
}

static nw_status rocm_smi_add_pair(struct nw_gpu_links *links, uint32_t i,
                                   uint32_t j, int32_t first)
{
    struct nw_gpu_link link = {.gpu = first + (int32_t)i,
                               .far = NW_FAR_GPU,
                               .count = 1,
                               .kind = NW_LINK_XGMI};
    uint64_t hops = 0, least = 0, most = 0;
    int type = 0;

    if (rocm.link_type(i, j, &hops, &type) != SUCCESS || type != LINK_XGMI ||
        hops > 1)
        return NW_OK;
    if (bandwidth && bandwidth(i, j, &least, &most) == SUCCESS)
        link.rate = (double)most * 1e6;
    memcpy(link.pci, links->gpu[first + (int32_t)j].pci, sizeof link.pci);
    return nw_gpu_links_add(links, &link);
}

nw_status nw_rocm_find(struct nw_gpu_links *links)
{
    int32_t first = links->gpu_count;
    uint32_t count = 0;
    nw_status status = NW_OK;

    if (!rocm_smi_load())
        return NW_OK;
    if (rocm.count(&count) != SUCCESS)
        count = 0;
    if (count > (uint32_t)(NW_GPU_MAX - first))
        count = (uint32_t)(NW_GPU_MAX - first);
    for (uint32_t i = 0; i < count; i++)
        rocm_smi_describe(i, &links->gpu[first + (int32_t)i]);
    links->gpu_count += (int32_t)count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; !status && j < count; j++)
            if (i != j)
                status = rocm_smi_add_pair(links, i, j, first);
    rocm.shutdown();
    return status;
}
