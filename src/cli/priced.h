/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of commands that compare given mappings. Reads the mappings, and
 * makes the default mapping beside them. */
#ifndef NW_CLI_PRICED_H
#define NW_CLI_PRICED_H

#include <nodewise/map.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include "cli/command.h"

/* The input of nw_priced_children: machine, program, and MAPPING... A command
 * sets state->child_inputs[0] as for nw_common_argp, and [1] to its struct
 * nw_priced. */
struct nw_priced {
    const char *source, *pattern;
    struct nw_topology_options topology;
    struct nw_pattern_read_options read;
    char **mapping; /* [mapping_count] */
    size_t mapping_count;
};
#define NW_PRICED_INIT                                                         \
    {                                                                          \
        .topology = NW_TOPOLOGY_OPTIONS_INIT,                                  \
        .read = NW_PATTERN_READ_OPTIONS_INIT,                                  \
    }
extern const struct argp_child nw_priced_children[]; /* common, priced */

/* Loads machine and program; NW_EINVAL if -o names one of the inputs. */
NW_MUST_CHECK nw_status nw_priced_load(const struct nw_priced *priced,
                                       const struct nw_common *common,
                                       nw_topology **topology,
                                       nw_pattern **pattern);

/* nw_mapping_read for a mapping to evaluate: an open GPU ('*') is an error. */
NW_MUST_CHECK nw_status nw_cli_read_priced(const char *path,
                                           const nw_topology *topology,
                                           nw_mapping **out);

/* The default mapping for a comparison. If there are more ranks than elements
 * or GPUs, the ranks share them evenly. */
NW_MUST_CHECK nw_status nw_cli_default_beside(const nw_topology *topology,
                                              const nw_pattern *pattern,
                                              struct nw_map_options map,
                                              nw_mapping **out);

#endif
