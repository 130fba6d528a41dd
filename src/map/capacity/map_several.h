/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements nw_map and nw_map_default for options that allow several ranks per
 * element (core or hardware thread) or limit the load of elements. */
#ifndef NW_MAP_CAPACITY_MAP_SEVERAL_H
#define NW_MAP_CAPACITY_MAP_SEVERAL_H

#include "map/problem/problem.h"

/* The result of nw_several_map: a mapping, or options without limits with which
 * the caller then maps. */
struct nw_several_result {
    nw_mapping *mapping; /* NULL: the caller maps with `plain` */
    /* the options without capacities, loads and limits */
    struct nw_map_options plain;
    struct nw_map_report report;
};

/* Returns true if the options allow several ranks on an element or limit the
 * load of elements. */
bool nw_several_is_asked(const struct nw_map_options *options);
/* Maps or, if `is_default` is set, makes the default mapping. The result has no
 * mapping if the options allow one rank per element only and the limits exclude
 * no assignment. Nor has the default mapping if ranks use GPUs, since that for
 * one rank per element assigns them. */
NW_MUST_CHECK nw_status nw_several_map(const struct nw_map_call *call,
                                       bool is_default,
                                       struct nw_several_result *out);

#endif
