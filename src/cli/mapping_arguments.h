/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of commands that compare given mappings with the default
 * mapping. */
#ifndef NW_CLI_MAPPING_ARGUMENTS_H
#define NW_CLI_MAPPING_ARGUMENTS_H

#include <nodewise/map.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include "cli/command.h"
#include "cli/hosts.h"

/* The values of the options for machine and program, and the arguments
 * MAPPING... A command whose argp has nw_priced_children sets
 * state->child_inputs[0] as for nw_common_argp, and [1] to its struct
 * nw_priced. */
struct nw_priced {
    const char *source, *pattern;
    struct nw_topology_options topology;
    struct nw_pattern_read_options read;
    const char *hosts, *hostfile; /* values of --hosts and --hostfile, the nodes
                                     of the default mapping; NULL: not given */
    char **mapping;               /* [mapping_count] */
    size_t mapping_count;
};
#define NW_PRICED_INIT                                                         \
    {                                                                          \
        .topology = NW_TOPOLOGY_OPTIONS_INIT,                                  \
        .read = NW_PATTERN_READ_OPTIONS_INIT,                                  \
    }
extern const struct argp_child nw_priced_children[]; /* parse struct nw_common
                                                        and struct nw_priced */

/* Loads the machine and the pattern. Returns NW_EINVAL if -o names one of the
 * inputs. The caller frees *topology and *pattern. */
NW_MUST_CHECK nw_status nw_priced_load(const struct nw_priced *priced,
                                       const struct nw_common *common,
                                       nw_topology **topology,
                                       nw_pattern **pattern);

/* Like nw_mapping_read, but a rank with an open GPU ('*') is an error. */
NW_MUST_CHECK nw_status nw_cli_read_priced(const char *path,
                                           const nw_topology *topology,
                                           nw_mapping **out);

/* Arguments of nw_priced_hosts: the command's name and options, the machine,
 * and the given mappings with their number of ranks. */
struct nw_priced_set {
    const char *command;
    const struct nw_common *common;
    const nw_topology *topology;
    int32_t rank_count;
    nw_mapping *const *mapping; /* [count] */
    size_t count;
};
/* Sets *hosts and map->hosts to the nodes of the default mapping. These are the
 * nodes of --hosts or --hostfile, else those of the batch job if all given
 * mappings use only these nodes, else all nodes (no hosts). Prints a note if
 * the job limits the mapping. The caller calls nw_cli_hosts_fini after the last
 * use of `map`. */
NW_MUST_CHECK nw_status nw_priced_hosts(const struct nw_priced *priced,
                                        const struct nw_priced_set *set,
                                        struct nw_hosts *hosts,
                                        struct nw_map_options *map);

/* A mapping that costs more than the default. */
struct nw_priced_worse {
    const nw_mapping *standard, *mapping;
    const char *name; /* name of `mapping` */
};
/* Unless --quiet is given, prints a note if no hosts were named and the mapping
 * uses other nodes than the default. The note advises to give the --hosts with
 * which the mapping was made, if it was made with that option or in a job.
 * Returns whether it printed the note. The mappings in `set` are not used. */
bool nw_priced_note_hosts(const struct nw_priced_set *set,
                          const struct nw_hosts *hosts,
                          const struct nw_priced_worse *worse);

#endif
