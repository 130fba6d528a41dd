/* SPDX-License-Identifier: BSD-3-Clause */
/* The bandwidth of a PCIe link by generation and width. */
#ifndef NW_TOPOLOGY_GPU_PCIE_H
#define NW_TOPOLOGY_GPU_PCIE_H

/* Bytes/s per direction of `lanes` lanes at `transfers` GT/s; 0 if no
 * generation has this speed. */
double nw_pcie_rate(double transfers, long lanes);
/* The rate of the device at an address such as 0000:3b:00.0, from the files of
 * the kernel below `root` ("/sys"); 0 where they do not tell. Idle devices
 * slow their link down, so the generation is the best the link can do, the
 * width the one in use. */
double nw_pcie_read(const char *root, const char *address);

#endif
