/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of `nvidia-smi topo -m` while it is read: GPUs and network cards,
 * how close each two are, and the cores near each GPU. */
#ifndef NW_TOPOLOGY_GPU_NVIDIA_SMI_H
#define NW_TOPOLOGY_GPU_NVIDIA_SMI_H

#include "topology/gpu/single_node.h"

#define NW_SMI_MAX 256 /* devices */

/* From near to far; NV# hides how the PCI tree joins a pair. */
enum nw_smi_close {
    NW_SMI_SELF,
    NW_SMI_PIX,
    NW_SMI_PXB,
    NW_SMI_PHB,
    NW_SMI_NODE,
    NW_SMI_SYS,
    NW_SMI_NVLINK,
};

struct nw_smi_device {
    char *name;        /* "GPU0", "NIC0" or "mlx5_0"; borrowed from the text */
    const char *card;  /* what the legend calls a NIC; NULL */
    const char *cores; /* "0-19,40-59"; NULL if unknown */
    const char *numa;
    bool gpu;
    int line;      /* 0: no row, only a column */
    int32_t group; /* package */
    int32_t vertex;
};

struct nw_smi {
    const char *file;
    nw_topology *topology;
    struct nw_node_type *type;
    int32_t count;
    struct nw_smi_device device[NW_SMI_MAX];
    uint8_t close[NW_SMI_MAX][NW_SMI_MAX];
    int16_t links[NW_SMI_MAX][NW_SMI_MAX]; /* of NV# */
};

/* `text` is cut up and must outlive *smi. NW_EFORMAT also where the matrix is
 * not symmetric. */
NW_MUST_CHECK nw_status nw_smi_parse(struct nw_smi *smi, char *text);
/* The tree that gives each pair its closeness, and the direct links. */
NW_MUST_CHECK nw_status nw_smi_build(struct nw_smi *smi);

#endif
