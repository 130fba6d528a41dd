/* SPDX-License-Identifier: BSD-3-Clause */
/* A subset of the machine's nodes: --hosts, --hostfile, a batch system's. */
#ifndef NW_CLI_HOSTS_H
#define NW_CLI_HOSTS_H

#include <nodewise/mapping.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stddef.h>

struct nw_hosts {
    int32_t *node;  /* [count], in the order given */
    int32_t *slots; /* [count] most ranks on each; INT32_MAX: not said */
    size_t count;
};

/* `list` is the value of --hosts, "n[1-4]:8,x" with optional slots. `file` is
 * the value of --hostfile: a host per line, "name", "name:8", "name slots=8".
 * At most one of both is given. Without both, the hosts of the batch job count
 * if the machine knows any of their names; otherwise count is 0. */
NW_MUST_CHECK nw_status nw_cli_hosts(const nw_topology *topology,
                                     const char *list, const char *file,
                                     struct nw_hosts *out);
void nw_cli_hosts_fini(struct nw_hosts *hosts);

/* Whether the mapping's ranks fit on the hosts; no hosts, nothing to fit.
 * NW_EFORMAT names the line of `path`, the mapping's file. */
NW_MUST_CHECK nw_status nw_cli_hosts_fit(const struct nw_hosts *hosts,
                                         const nw_mapping *mapping,
                                         const char *path);

/* Reports unknown hosts and ranks that do not fit, and names the file to
 * correct: the hosts' file, else the machine's. */
NW_MUST_CHECK nw_status nw_cli_blame_hosts(const char *source,
                                           const char *hostfile,
                                           nw_status failed);

/* Adds the file and line to an error that the fixed ranks of `path` caused,
 * since nw_map knows only the rank. Other errors stay unchanged. */
nw_status nw_cli_blame_fix(const char *path, nw_status failed);
/* Like above for a rank that the mapping in `path` places nowhere or on an
 * element that the machine lacks. */
nw_status nw_cli_blame_mapping(const char *path, nw_status failed);
/* Like above for sums that overflow because of the pattern of that name. */
nw_status nw_cli_blame_pattern(const char *input, nw_status failed);

#endif
