/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the reader of ibnet:FILE or of ibnet:live. */
#include "topology/infiniband/ibnet.h"
#include "topology/source.h"

#include <string.h>

nw_status nw_source_ibnet(const char *what, enum nw_elements elements,
                          nw_topology **out)
{
    return strcmp(what, "live") ? nw_ibnet_load(what, elements, out)
                                : nw_ibnet_live(elements, out);
}
