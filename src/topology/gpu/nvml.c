/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads from NVML the names of GPUs, the active links of each GPU, their
 * bandwidth and their other ends, and the distance between two GPUs. NVML's
 * header is not needed: the declarations in this file follow NVML's documented
 * interface. */
#include "base/library.h"
#include "topology/gpu/links.h"

#include <stdio.h>
#include <string.h>

#define MAX_LINKS 18
#define SUCCESS 0

typedef struct nvml_device *device_handle;

struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, pci_id, subsystem_id;
    char id[32];
};

/* NVML's codes for versions of NVLink: code 1 is version 1.0, code 6 is version
 * 4.0. */
enum { NVLINK_1_0 = 1, NVLINK_4_0 = 6 };

enum { REMOTE_GPU = 0, REMOTE_NPU = 1, REMOTE_SWITCH = 2 };

static struct {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *);
    int (*handle)(unsigned, device_handle *);
    int (*name)(device_handle, char *, unsigned);
    int (*uuid)(device_handle, char *, unsigned);
    int (*pci)(device_handle, struct pci_info *);
    int (*capability)(device_handle, int *, int *);
    int (*ancestor)(device_handle, device_handle, unsigned *);
    int (*link_state)(device_handle, unsigned, unsigned *);
    int (*link_version)(device_handle, unsigned, unsigned *);
    int (*link_remote)(device_handle, unsigned, struct pci_info *);
} nvml;

/* A function of NVML that stores the kind of a link's other end. NULL if the
 * driver is too old to have this function. */
static int (*remote_type)(device_handle, unsigned, unsigned *);

static bool nvml_load(void)
{
    const struct nw_symbol symbols[] = {
        {"nvmlInit_v2", &nvml.init},
        {"nvmlShutdown", &nvml.shutdown},
        {"nvmlDeviceGetCount_v2", &nvml.count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml.handle},
        {"nvmlDeviceGetName", &nvml.name},
        {"nvmlDeviceGetUUID", &nvml.uuid},
        {"nvmlDeviceGetPciInfo_v3", &nvml.pci},
        {"nvmlDeviceGetCudaComputeCapability", &nvml.capability},
        {"nvmlDeviceGetTopologyCommonAncestor", &nvml.ancestor},
        {"nvmlDeviceGetNvLinkState", &nvml.link_state},
        {"nvmlDeviceGetNvLinkVersion", &nvml.link_version},
        {"nvmlDeviceGetNvLinkRemotePciInfo_v2", &nvml.link_remote},
    };
    const struct nw_symbol newer[] = {
        {"nvmlDeviceGetNvLinkRemoteDeviceType", &remote_type},
    };

    if (nw_library_load("libnvidia-ml.so.1", symbols,
                        sizeof symbols / sizeof *symbols, "to see NVLink"))
        return false;
    if (nw_library_load("libnvidia-ml.so.1", newer, 1, "to see NVSwitch"))
        remote_type = NULL;
    return nvml.init() == SUCCESS;
}

/* Returns the bandwidth of one link in one direction (bytes/s), or 0 if the
 * version is unknown. The compute capability decides, since links of one
 * version differ, and some drivers report 5.0 for Hopper, which has NVLink 4.
 * If it is unknown, the rate is that of the first GPU with the version. */
static double nvml_nvlink_rate(device_handle device, unsigned version)
{
    int major = 0, minor = 0;

    if (!version)
        return 0;
    if (nvml.capability(device, &major, &minor) == SUCCESS)
        return nw_nvlink_rate(10 * major + minor);
    return nw_nvlink_rate(version <= NVLINK_1_0   ? 60
                          : version <= NVLINK_4_0 ? 70
                                                  : 100);
}

/* Returns the kind of a link's other end. If the driver does not know it, an
 * end that is not one of the listed GPUs counts as a switch. */
static enum nw_gpu_far far_of(device_handle device, unsigned link,
                              const struct nw_gpu_links *links, const char *pci)
{
    unsigned type = 255;

    if (remote_type && remote_type(device, link, &type) == SUCCESS &&
        type <= REMOTE_SWITCH)
        return type == REMOTE_GPU   ? NW_FAR_GPU
               : type == REMOTE_NPU ? NW_FAR_PROCESSOR
                                    : NW_FAR_SWITCH;
    for (int32_t i = 0; i < links->gpu_count; i++)
        if (!strcmp(links->gpu[i].pci, pci))
            return NW_FAR_GPU;
    return NW_FAR_SWITCH;
}

static void write_address(const struct pci_info *pci, char out[32])
{
    snprintf(out, 32, "%04x:%02x:%02x.0", pci->domain, pci->bus & 0xff,
             pci->device & 0xff);
}

static nw_status nvml_add_link(struct nw_gpu_links *links, device_handle device,
                               int32_t gpu, unsigned link)
{
    struct nw_gpu_link found = {.gpu = gpu, .count = 1, .kind = NW_LINK_NVLINK};
    struct pci_info pci = {.domain = 0};
    unsigned active = 0, version = 0;

    if (nvml.link_state(device, link, &active) != SUCCESS || !active ||
        nvml.link_remote(device, link, &pci) != SUCCESS)
        return NW_OK;
    if (nvml.link_version(device, link, &version) == SUCCESS)
        found.rate = nvml_nvlink_rate(device, version);
    write_address(&pci, found.pci);
    found.far = far_of(device, link, links, found.pci);
    return nw_gpu_links_add(links, &found);
}

static void nvml_describe(device_handle device, struct nw_gpu_found *gpu)
{
    struct pci_info pci = {.domain = 0};

    if (nvml.pci(device, &pci) == SUCCESS)
        write_address(&pci, gpu->pci);
    if (nvml.name(device, gpu->name, sizeof gpu->name) != SUCCESS)
        gpu->name[0] = '\0';
    if (nvml.uuid(device, gpu->uuid, sizeof gpu->uuid) != SUCCESS)
        gpu->uuid[0] = '\0';
}

static nw_status find_all(struct nw_gpu_links *links, unsigned count)
{
    device_handle device[NW_GPU_MAX];
    int32_t first = links->gpu_count, n = 0;
    nw_status status = NW_OK;

    for (unsigned i = 0; i < count && first + n < NW_GPU_MAX; i++)
        if (nvml.handle(i, &device[n]) == SUCCESS) {
            nvml_describe(device[n], &links->gpu[first + n]);
            n++;
        }
    links->gpu_count += n;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            unsigned level = 0;

            if (i != j &&
                nvml.ancestor(device[i], device[j], &level) == SUCCESS)
                links->near[first + i][first + j] =
                    level ? (uint8_t)level : NW_GPU_ONE_BOARD;
        }
    for (int32_t i = 0; i < n; i++)
        for (unsigned l = 0; !status && l < MAX_LINKS; l++)
            status = nvml_add_link(links, device[i], first + i, l);
    return status;
}

nw_status nw_nvml_find(struct nw_gpu_links *links)
{
    unsigned count = 0;
    nw_status status = NW_OK;

    if (!nvml_load())
        return NW_OK;
    if (nvml.count(&count) == SUCCESS)
        status = find_all(links, count);
    nvml.shutdown();
    return status;
}
