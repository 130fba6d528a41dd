/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the reader of `nvidia-smi topo -m`: GPUs and NICs, how close
 * each pair is, and the cores near each. */
#ifndef NW_TOPOLOGY_GPU_NVIDIA_SMI_H
#define NW_TOPOLOGY_GPU_NVIDIA_SMI_H

#include "topology/gpu/single_node.h"

#define NW_SMI_MAX 256 /* largest number of devices */

/* How close two devices are, from near to far, in the words of nvidia-smi. For
 * a pair with NV# (NVLINK), their distance in the PCI tree is unknown. */
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
    const char *card;  /* name of a NIC in the legend, or NULL */
    const char *cores; /* "0-19,40-59"; NULL if unknown */
    const char *numa;
    bool gpu;
    int line;      /* 0: the device has a column but no row */
    int32_t group; /* number of its package */
    int32_t vertex;
};

/* The table of a file, and the node type that is built from it. */
struct nw_smi {
    const char *file;
    nw_topology *topology;
    struct nw_node_type *type;
    int32_t count;
    struct nw_smi_device device[NW_SMI_MAX];
    uint8_t close[NW_SMI_MAX][NW_SMI_MAX];
    int16_t links[NW_SMI_MAX][NW_SMI_MAX]; /* number of NVLinks between two
                                              devices, from NV#; 0: none */
};

/* Parses the table. `text` is changed and must outlive *smi. Returns NW_EFORMAT
 * also if the matrix is not symmetric. */
NW_MUST_CHECK nw_status nw_smi_parse(struct nw_smi *smi, char *text);

#endif
