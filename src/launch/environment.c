/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets environment variables that libraries read when a program starts, to
 * select the visible GPUs and the NIC. Finds the name of a rank's NIC. */
#include <nodewise/launch.h>

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "launch/local_cpus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static nw_status launch_environment_set(const char *name, const char *value)
{
    if (setenv(name, value, 1))
        return nw_fail(NW_ENOMEM, "out of memory for %s", name);
    return NW_OK;
}

/* Sets HIP_VISIBLE_DEVICES to 0,1,2,...: HIP numbers the devices that
 * ROCR_VISIBLE_DEVICES has selected from 0. */
static nw_status set_hip(const char *gpus)
{
    struct nw_text text = {0};
    int32_t count = *gpus != '\0';
    char *list = NULL;
    nw_status status;

    for (const char *at = gpus; *at; at++)
        count += *at == ',';
    nw_text_add(&text, "");
    for (int32_t i = 0; i < count; i++)
        nw_text_format(&text, "%s%d", i ? "," : "", i);
    status = nw_text_take(&text, &list);
    if (!status)
        status = launch_environment_set("HIP_VISIBLE_DEVICES", list);
    free(list);
    return status;
}

nw_status nw_launch_choose_gpus(const char *gpus)
{
    bool numbers = gpus[strspn(gpus, "0123456789.,")] == '\0';
    nw_status status =
        launch_environment_set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");

    if (!status)
        status = launch_environment_set("CUDA_VISIBLE_DEVICES", gpus);
    if (!status)
        status = launch_environment_set("ROCR_VISIBLE_DEVICES", gpus);
    if (!status)
        status = set_hip(gpus);
    /* GPU_DEVICE_ORDINAL would select again among the GPUs that the variables
     * set here select */
    unsetenv("GPU_DEVICE_ORDINAL");
    if (status || !numbers)
        return status;
    return launch_environment_set("ZE_AFFINITY_MASK", gpus);
}

nw_status nw_launch_nic(const nw_topology *topology, int32_t node,
                        const nw_mapping *mapping, int32_t rank, char **out)
{
    int32_t nic = mapping->nic ? mapping->nic[rank] : -1;
    char name[64];
    nw_status status;

    *out = NULL;
    if (nic < 0)
        return NW_OK;
    if (node >= 0 && nic < nw_topology_node_nic_count(topology, node)) {
        const char *known = nw_topology_nic_info(topology, node, nic).name;

        if (known)
            return nw_strdup(known, out);
    }
    status = nw_local_cpus_nic("/sys", nic, name, sizeof name);
    return status ? status : nw_strdup(name, out);
}

/* A variable's name, and the text before and after the NIC's name in its value.
 */
struct choice {
    const char *variable, *before, *behind;
};

/* Variables for InfiniBand and similar adapters. They take the adapter's verbs
 * name. */
static const struct choice verbs[] = {
    {"UCX_NET_DEVICES", "", ":1"},
    {"NCCL_IB_HCA", "=", ""},
    {"FI_VERBS_DEVICE_NAME", "", ""},
    {"OMPI_MCA_btl_openib_if_include", "", ""},
    {"MV2_IBA_HCA", "", ""},
};

/* Variables for other NICs. They take the name of the network interface. */
static const struct choice interfaces[] = {
    {"UCX_NET_DEVICES", "", ""},
    {"NCCL_SOCKET_IFNAME", "=", ""},
    {"GLOO_SOCKET_IFNAME", "", ""},
    {"FI_TCP_IFACE", "", ""},
    {"OMPI_MCA_btl_tcp_if_include", "", ""},
};

static bool environment_begins(const char *name, const char *const *begin)
{
    for (; *begin; begin++)
        if (!strncmp(name, *begin, strlen(*begin)))
            return true;
    return false;
}

static nw_status set_all(const char *name, const struct choice *choices,
                         size_t count)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i++) {
        struct nw_text text = {0};
        char *value = NULL;

        nw_text_format(&text, "%s%s%s", choices[i].before, name,
                       choices[i].behind);
        status = nw_text_take(&text, &value);
        if (!status)
            status = launch_environment_set(choices[i].variable, value);
        free(value);
    }
    return status;
}

/* Sets libfabric's name of a Slingshot NIC, which is cxi2 for the interface
 * hsn2. */
static nw_status set_slingshot(const char *name)
{
    struct nw_text text = {0};
    char *value = NULL;
    nw_status status;

    nw_text_format(&text, "cxi%s", name + 3);
    status = nw_text_take(&text, &value);
    if (!status)
        status = launch_environment_set("FI_CXI_DEVICE_NAME", value);
    free(value);
    return status;
}

nw_status nw_launch_choose_nic(const char *name)
{
    static const char *const adapters[] = {"mlx",     "hfi",    "qib",  "ib_",
                                           "bnxt_re", "irdma",  "rdma", "efa_",
                                           "rxe",     "cxgb4_", "hns_", NULL};

    if (environment_begins(name, adapters))
        return set_all(name, verbs, sizeof verbs / sizeof *verbs);
    if (!strncmp(name, "hsn", 3) && isdigit((unsigned char)name[3])) {
        nw_status status = set_slingshot(name);

        if (status)
            return status;
    }
    return set_all(name, interfaces, sizeof interfaces / sizeof *interfaces);
}
