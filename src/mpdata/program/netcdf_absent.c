/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces netcdf.c if the build found no netcdf.h. */
#include "base/status.h"
#include "mpdata/program/job.h"

nw_status nw_mp_netcdf_size(const char *path, int64_t size[3])
{
    (void)size;
    return nw_fail(NW_ENODEV, "%s: built without support for NetCDF", path);
}

nw_status nw_mp_netcdf_read(const char *path, enum nw_mpdata_field field,
                            const int64_t size[3], const int64_t first[3],
                            const int64_t extent[3], double *values)
{
    (void)field, (void)size, (void)first, (void)extent, (void)values;
    return nw_fail(NW_ENODEV, "%s: built without support for NetCDF", path);
}

nw_status nw_mp_netcdf_write(const struct nw_mp_job *job)
{
    return nw_fail(NW_ENODEV, "%s: built without support for NetCDF",
                   job->settings->output);
}
