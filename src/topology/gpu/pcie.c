/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the PCIe generation and width from the kernel's files. */
#include "topology/gpu/pcie.h"
#include "base/c_locale.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

double nw_pcie_rate(double transfers, long lanes)
{
    static const struct {
        /* rate of a lane in GT/s, and its bandwidth in GB/s after encoding */
        double transfers, lane;
    } speeds[] = {{2.5, 0.25}, {5, 0.5},    {8, 0.985},   {16, 1.969},
                  {32, 3.938}, {64, 7.563}, {128, 15.125}};

    if (lanes < 1 || lanes > 32)
        return 0;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (transfers == speeds[i].transfers)
            return speeds[i].lane * 1e9 * (double)lanes;
    return 0;
}

/* Returns the number at the start of a device's file, 0 if the file is missing
 * or does not begin with a number. */
static double read_number(const char *root, const char *address,
                          const char *name)
{
    char path[512], line[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", root, address,
             name);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    return nw_strtod(line, NULL);
}

double nw_pcie_read(const char *root, const char *address)
{
    double transfers = read_number(root, address, "max_link_speed");
    double lanes = read_number(root, address, "current_link_width");

    return lanes >= 1 && lanes <= 32 ? nw_pcie_rate(transfers, (long)lanes) : 0;
}
