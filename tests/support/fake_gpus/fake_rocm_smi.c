/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of ROCm SMI, librocm_smi64.so.7. The GPUs have the addresses
 * that FAKE_ROCM lists, separated by blanks. The GPUs within each half of the
 * list are connected by xGMI of 50 GB/s, GPUs of different halves by PCIe. The
 * signatures are those of the real library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define MAX 32

enum { SUCCESS = 0, INVALID = 1, LINK_PCIE = 1, LINK_XGMI = 2 };

static uint64_t address[MAX];
static uint32_t count;

API int rsmi_init(uint64_t flags)
{
    const char *at = getenv("FAKE_ROCM");
    unsigned domain, bus, device, function;
    int length;

    count = 0;
    while (at && count < MAX &&
           sscanf(at, " %x:%x:%x.%x%n", &domain, &bus, &device, &function,
                  &length) == 4) {
        address[count++] =
            (uint64_t)domain << 32 | bus << 8 | device << 3 | function;
        at += length;
    }
    return flags || !count ? INVALID : SUCCESS;
}

API int rsmi_shut_down(void)
{
    return SUCCESS;
}

API int rsmi_num_monitor_devices(uint32_t *out)
{
    *out = count;
    return SUCCESS;
}

API int rsmi_dev_pci_id_get(uint32_t device, uint64_t *out)
{
    *out = address[device];
    return SUCCESS;
}

API int rsmi_dev_name_get(uint32_t device, char *out, size_t size)
{
    snprintf(out, size, "Double %u", device);
    return SUCCESS;
}

API int rsmi_dev_unique_id_get(uint32_t device, uint64_t *out)
{
    *out = 0xabc0 + device;
    return SUCCESS;
}

API int rsmi_topo_get_link_type(uint32_t a, uint32_t b, uint64_t *hops,
                                int *type)
{
    *type = a / (count / 2) == b / (count / 2) ? LINK_XGMI : LINK_PCIE;
    *hops = *type == LINK_XGMI ? 1 : 2;
    return SUCCESS;
}

API int rsmi_minmax_bandwidth_get(uint32_t a, uint32_t b, uint64_t *least,
                                  uint64_t *most)
{
    *least = *most = 50000;
    return a == b ? INVALID : SUCCESS;
}
