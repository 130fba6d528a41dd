/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements nw_map and nw_map_default for options that allow several ranks per
 * element (core or hardware thread) or limit the load of elements. */
#ifndef NW_MAP_CAPACITY_MAP_SEVERAL_H
#define NW_MAP_CAPACITY_MAP_SEVERAL_H

#include "map/problem/problem.h"

/* The result of the functions below: a mapping, or options without limits with
 * which the caller then maps. */
struct nw_several_result {
    bool is_plain; /* true: the options allow one rank per element only and the
                      limits exclude no assignment, so the caller maps with
                      `plain` */
    /* if is_plain: the options without capacities, loads and limits */
    struct nw_map_options plain;
    nw_mapping *mapping; /* if not is_plain: the mapping */
    struct nw_map_report report;
};

/* Returns true if the options allow several ranks on an element or limit the
 * load of elements. */
bool nw_several_is_asked(const struct nw_map_options *options);
NW_MUST_CHECK nw_status nw_several_map(const struct nw_map_call *call,
                                       struct nw_several_result *out);
NW_MUST_CHECK nw_status nw_several_default(const struct nw_map_call *call,
                                           struct nw_several_result *out);

#endif
