/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_map and nw_map_default for options that allow several ranks per element.
 */
#ifndef NW_MAP_CAPACITY_MAP_SEVERAL_H
#define NW_MAP_CAPACITY_MAP_SEVERAL_H

#include "map/problem/problem.h"

struct nw_several_result {
    bool is_plain; /* no limit excludes a placement: one rank per element */
    struct nw_map_options plain; /* the options for that */
    nw_mapping *mapping;         /* otherwise */
    struct nw_map_report report;
};

/* True where the options let an element have several ranks. */
bool nw_several_is_asked(const struct nw_map_options *options);
NW_MUST_CHECK nw_status nw_several_map(const struct nw_map_call *call,
                                       struct nw_several_result *out);
NW_MUST_CHECK nw_status nw_several_default(const struct nw_map_call *call,
                                           struct nw_several_result *out);

#endif
