/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps while one allocation of the library fails: every seventh one in turn, in
 * calls with one rank and with several ranks on a core. Each call must return
 * NW_ENOMEM or succeed, and must free no memory twice. */
#include <nodewise/map.h>

#include "support/short_memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVERY = 7, CALLS_MAX = 100000 };

static const struct {
    enum nw_objective objective;
    int32_t capacity;
    const char *name;
} cases[] = {
    {NW_OBJECTIVE_LATENCY, 2, "several ranks on a core, latency"},
    {NW_OBJECTIVE_HOP_BYTES, 2, "several ranks on a core, hop-bytes"},
    {NW_OBJECTIVE_HOP_BYTES, 1, "one rank on a core, hop-bytes"},
};

static void need(nw_status status)
{
    if (!status)
        return;
    printf("Bail out! %s\n", nw_error_text());
    exit(1);
}

/* Makes the calls of one case. Returns false if one of them fails otherwise
 * than by NW_ENOMEM. */
static bool survives(const nw_topology *topology, const nw_pattern *pattern,
                     const struct nw_map_options *options)
{
    bool good = true;
    int left = -1;

    for (int at = 0; left < 0 && at < CALLS_MAX * EVERY; at += EVERY) {
        nw_mapping *mapping = NULL;
        nw_status status;

        short_memory = at;
        status = nw_map(topology, pattern, options, &mapping, NULL);
        left = short_memory;
        short_memory = SHORT_MEMORY_OFF;
        if (status && status != NW_ENOMEM) {
            printf("# allocation %d: %s\n", at, nw_error_text());
            good = false;
        }
        if (!status)
            nw_mapping_free(mapping);
    }
    return good;
}

int main(void)
{
    size_t count = sizeof cases / sizeof *cases;
    nw_topology *topology = NULL;
    nw_pattern *pattern = NULL;

    need(nw_topology_load("magc-a", NULL, &topology));
    need(nw_pattern_generate("random:ranks=12,degree=3", &pattern));
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;

        options.objective = cases[i].objective;
        options.capacity = cases[i].capacity;
        options.effort = NW_EFFORT_FAST;
        options.threads = 1;
        printf("%s %zu %s\n",
               survives(topology, pattern, &options) ? "ok" : "not ok", i + 1,
               cases[i].name);
    }
    nw_pattern_free(pattern);
    nw_topology_free(topology);
    return 0;
}
