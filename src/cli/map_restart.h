/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of nodewise map for a restart of a program: lost nodes, spare nodes,
 * and the ranks that move. */
#ifndef NW_CLI_MAP_RESTART_H
#define NW_CLI_MAP_RESTART_H

#include <nodewise/map.h>

#include "base/json.h"

struct nw_cli_restart {
    const char *without;  /* value of --without, or NULL */
    const char *moved_by; /* value of --move-cost, or NULL */
    bool spare;           /* --spare is given */
    int32_t *lost;        /* indexes of the nodes of --without, as many as the
                             map options' lost_count */
};

/* Finds the nodes of --without, if given, and stores them in restart->lost and
 * in map->lost and map->lost_count. NW_EINVAL if the machine lacks a node. The
 * caller calls nw_cli_restart_fini. */
NW_MUST_CHECK nw_status nw_cli_restart_read(struct nw_cli_restart *restart,
                                            const nw_topology *topology,
                                            struct nw_map_options *map);
void nw_cli_restart_fini(struct nw_cli_restart *restart);

/* Add lines to the text or keys to the JSON object: the spare nodes with
 * --spare or --without, and the number of ranks that moved with --without. */
NW_MUST_CHECK nw_status nw_cli_restart_add(const struct nw_cli_restart *restart,
                                           const struct nw_map_options *map,
                                           const struct nw_map_answer *answer,
                                           struct nw_text *text);
NW_MUST_CHECK nw_status nw_cli_restart_json(
    const struct nw_cli_restart *restart, const struct nw_map_options *map,
    const struct nw_map_answer *answer, struct nw_json *json);

#endif
