/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an endpoint of the first usable provider in a list. It is opened for
 * GPU memory if a trial shows that the adapter reaches GPU memory. */
#include "channel/memory/hmem.h"
#include "channel/fabric/endpoint.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

/* Opens an endpoint of one provider; if `gpu` is set, for GPU memory. If its
 * adapter then cannot reach GPU memory, opens it again without GPU memory,
 * because host memory then need not be registered. */
static nw_status open_best(const char *provider, bool gpu,
                           struct nw_endpoint *fabric)
{
    char why[sizeof fabric->why] = "";
    bool offered = nw_hmem_is_offered(provider);
    nw_status status;

    if (gpu && offered) {
        status = nw_endpoint_open_one(provider, true, fabric);
        if (!status && nw_hmem_find(fabric))
            return NW_OK;
        snprintf(why, sizeof why, "%s", status ? nw_error_text() : fabric->why);
        nw_endpoint_close(fabric);
    }
    status = nw_endpoint_open_one(provider, false, fabric);
    if (gpu && !offered)
        snprintf(why, sizeof why, "%s is not the provider of a network adapter",
                 provider);
    memcpy(fabric->why, why, sizeof why);
    return status;
}

nw_status nw_endpoint_open(const char *const *providers, bool gpu,
                           struct nw_endpoint *out)
{
    nw_status status = NW_OK;
    struct nw_endpoint fabric = {0};

    for (; *providers; providers++) {
        status = open_best(*providers, gpu, &fabric);
        if (!status) {
            *out = fabric;
            return NW_OK;
        }
    }
    return status;
}
