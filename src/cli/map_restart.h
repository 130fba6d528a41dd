/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map for a restart: nodes that were lost, spare nodes, and the ranks
 * that moved. */
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

/* Reads the node names of --without, and sets `lost` and `lost_count` of the
 * map options. */
NW_MUST_CHECK nw_status nw_cli_restart_read(struct nw_cli_restart *restart,
                                            const nw_topology *topology,
                                            struct nw_map_options *map);
void nw_cli_restart_fini(struct nw_cli_restart *restart);

/* Add lines to the text or keys to the JSON object: with --spare or --without
 * the nodes without ranks, with --without also the ranks that moved. */
NW_MUST_CHECK nw_status nw_cli_restart_add(const struct nw_cli_restart *restart,
                                           const struct nw_map_options *map,
                                           const struct nw_map_answer *answer,
                                           struct nw_text *text);
NW_MUST_CHECK nw_status nw_cli_restart_json(
    const struct nw_cli_restart *restart, const struct nw_map_options *map,
    const struct nw_map_answer *answer, struct nw_json *json);

#endif
