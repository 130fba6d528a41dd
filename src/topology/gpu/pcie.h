/* SPDX-License-Identifier: BSD-3-Clause */
/* The bandwidth of a PCIe link, from its generation and width. */
#ifndef NW_TOPOLOGY_GPU_PCIE_H
#define NW_TOPOLOGY_GPU_PCIE_H

/* Returns the bytes/s per direction of `lanes` lanes at `transfers` GT/s; 0 if
 * no PCIe generation has this speed, or `lanes` is not from 1 to 32. */
double nw_pcie_rate(double transfers, long lanes);
/* Returns the bandwidth in bytes/s of the PCIe link of the device at a PCI
 * address such as 0000:3b:00.0, from the kernel's files below `root` ("/sys");
 * 0 if unknown. Idle devices slow their link down, so the function uses the
 * highest generation of the link, and its current width. */
double nw_pcie_read(const char *root, const char *address);

#endif
