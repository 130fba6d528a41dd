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

/* `list` is --hosts, "n[1-4]:8,x" with optional slots; `file` --hostfile, one
 * host a line, "name", "name:8", "name slots=8". One of them may be given;
 * where both are NULL, those of the batch system's job count, if the machine
 * knows any of their names, and count is 0 where it does not. */
NW_MUST_CHECK nw_status nw_cli_hosts(const nw_topology *topology,
                                     const char *list, const char *file,
                                     struct nw_hosts *out);
void nw_cli_hosts_fini(struct nw_hosts *hosts);

/* Whether the mapping's ranks fit on the hosts; no hosts, nothing to fit.
 * NW_EFORMAT names the line of `path`, the mapping's file. */
NW_MUST_CHECK nw_status nw_cli_hosts_fit(const struct nw_hosts *hosts,
                                         const nw_mapping *mapping,
                                         const char *path);

/* Hosts that the machine lacks, and ranks that do not fit, are told with the
 * file that is to blame: the hosts', else the machine's. */
NW_MUST_CHECK nw_status nw_cli_blame_hosts(const char *source,
                                           const char *hostfile,
                                           nw_status failed);

/* Tells a failure that the fixed ranks of `path` caused, which nw_map knows by
 * rank alone, with the file and its line; any other stays as it is. */
nw_status nw_cli_blame_fix(const char *path, nw_status failed);
/* The same of a rank that the mapping in `path` leaves without a place, or
 * gives one that the machine has not. */
nw_status nw_cli_blame_mapping(const char *path, nw_status failed);
/* The same of sums that the pattern of that name is too large for. */
nw_status nw_cli_blame_pattern(const char *input, nw_status failed);

#endif
