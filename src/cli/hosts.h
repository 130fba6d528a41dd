/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects a subset of the machine's nodes, given by --hosts, by --hostfile or
 * by a batch system. */
#ifndef NW_CLI_HOSTS_H
#define NW_CLI_HOSTS_H

#include "cli/command.h"

#include <nodewise/map.h>
#include <nodewise/mapping.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stddef.h>

struct nw_hosts {
    int32_t *node;  /* [count] indexes of the nodes, in the order in which
                       they are listed */
    int32_t *slots; /* [count] most ranks on each node; INT32_MAX: not given */
    int32_t *entry; /* [nodes of the machine] 1 + index of the node in node[],
                       or 0; NULL if the hosts were not found by
                       nw_cli_hosts */
    size_t count;
    /* the following members are NULL unless the hosts of a batch job were
     * looked up and this process belongs to one */
    const char *variable; /* the variable that describes the job; static */
    int32_t *tasks;  /* [count] tasks of the job on each node; 0: unknown */
    char *elsewhere; /* list of the job's hosts if the machine has none of
                        them, else NULL */
};

/* Returns NW_EINVAL if `list`, the value of --hosts, is not a list of hosts;
 * the machine may still lack them. NULL is valid. */
NW_MUST_CHECK nw_status nw_cli_hosts_check(const char *list);

/* Finds the nodes of `list`, the value of --hosts ("n[1-4]:8,x", slots are
 * optional), or of `file`, the value of --hostfile (one host per line: "name",
 * "name:8", "name slots=8"). At most one of them is not NULL. If both are NULL,
 * the hosts of the batch job are taken if the machine has one of these names;
 * otherwise out->count is 0. NW_EFORMAT: the machine lacks a host, of a batch
 * job only if it has others. The caller calls nw_cli_hosts_fini. */
NW_MUST_CHECK nw_status nw_cli_hosts(const nw_topology *topology,
                                     const char *list, const char *file,
                                     struct nw_hosts *out);
void nw_cli_hosts_fini(struct nw_hosts *hosts);

/* Sets map->hosts and map->slots, which then refer to `hosts`; does nothing if
 * hosts->count is 0. The tasks of a batch job become the slots if they are
 * enough for `ranks` ranks on the nodes that remain without the spare nodes
 * (map->spare) and the lost nodes (map->lost). */
void nw_cli_hosts_use(struct nw_hosts *hosts, int32_t ranks,
                      struct nw_map_options *map);

/* Prints a warning if the machine has no host of the batch job. Unless --quiet,
 * prints a note if the job limits the ranks of a node to fewer than the node
 * has cores. */
void nw_cli_hosts_say(const char *command, const struct nw_common *common,
                      const nw_topology *topology,
                      const struct nw_hosts *hosts);

/* Checks that the mapping's ranks fit on the hosts; every mapping fits if
 * hosts->count is 0. NW_EFORMAT names `path`, the mapping's file, and the line
 * if the file can be read again. */
NW_MUST_CHECK nw_status nw_cli_hosts_fit(const struct nw_hosts *hosts,
                                         const nw_mapping *mapping,
                                         const char *path);

/* Completes an error of unknown hosts or of ranks that do not fit on the hosts
 * by the name of the file to correct: `hostfile`, or if NULL the file of the
 * machine `source`. Returns other errors unchanged. */
NW_MUST_CHECK nw_status nw_cli_blame_hosts(const char *source,
                                           const char *hostfile,
                                           nw_status failed);

/* Adds file and line to an error that is caused by a fixed rank, since nw_map
 * knows only the number of the rank. `path` is the file of fixed ranks. Returns
 * other errors unchanged. */
nw_status nw_cli_blame_fix(const char *path, nw_status failed);
/* Like nw_cli_blame_fix for an error in the mapping `path`: a rank that has no
 * element, or an element that the machine lacks. */
nw_status nw_cli_blame_mapping(const char *path, nw_status failed);
/* Adds the name of the pattern `input` to an error of sums that overflow.
 * Returns other errors unchanged. */
nw_status nw_cli_blame_pattern(const char *input, nw_status failed);

#endif
