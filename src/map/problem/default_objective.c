/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the objective if the user names none. For a message of mean size on
 * the route between the first and the last core of the machine, compares the
 * latency with the transfer time on the narrowest link. */
#include <nodewise/map.h>
#include "map/common/parameters.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the mean bytes of a message between different ranks; -1 if there are
 * no messages. */
static double default_objective_mean_size(const nw_pattern *pattern)
{
    double bytes = 0, messages = 0;

    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            if (pattern->dst[e] == r)
                continue;
            bytes += (double)pattern->bytes[e];
            messages += (double)pattern->messages[e];
        }
    return messages > 0 ? bytes / messages : -1;
}

/* The route between the first and the last core of the machine. */
struct default_objective_way {
    double latency; /* latency of the route in s */
    double slow;    /* s per byte on the link with the lowest bandwidth */
};

/* Fills *out for the route from the first element (core) of the machine to the
 * last one, which is on another node if there are several nodes. */
static nw_status default_objective_find_way(const nw_topology *topology,
                                            struct default_objective_way *out)
{
    struct nw_end ends[2] = {
        nw_topology_element_end(topology, 0),
        nw_topology_element_end(topology,
                                nw_topology_element_count(topology) - 1)};
    uint32_t *hop = NULL;
    size_t count;
    nw_status status =
        nw_alloc(nw_topology_route_max(topology) + 1, sizeof *hop, &hop);

    if (status)
        return status;
    count = nw_topology_route(topology, ends[0], ends[1], hop);
    *out = (struct default_objective_way){0, 0};
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(topology, (int32_t)(hop[i] / 2));

        out->latency += link.latency;
        out->slow = fmax(out->slow, 1 / link.bandwidth[hop[i] & 1]);
    }
    free(hop);
    return NW_OK;
}

/* Returns true if the topology states no bandwidths: it has no links, or it is
 * a hierarchy given only by the number of children on each level. */
static bool default_objective_is_plain(const nw_topology *topology)
{
    return !nw_topology_has_links(topology) ||
           (nw_topology_node_count(topology) == 1 &&
            nw_topology_link_count(topology) > 1 &&
            nw_topology_link(topology, 1).kind == NW_LINK_GROUP);
}

static void default_objective_say(struct nw_objective_choice *choice,
                                  enum nw_objective objective, const char *why)
{
    choice->objective = objective;
    snprintf(choice->why, sizeof choice->why, "%s", why);
}

/* Chooses the objective: congestion if a message of mean size (in bytes) takes
 * far more time on the narrowest link than the latency, latency if far less,
 * otherwise time. Writes the reason to choice->why. */
static void default_objective_weigh(struct nw_objective_choice *choice,
                                    double size,
                                    const struct default_objective_way *way)
{
    double wire = size * way->slow;
    const char *what = "about as long as";

    choice->objective = NW_OBJECTIVE_TIME;
    if (wire > nw_tuned.portfolio.objective_factor * way->latency) {
        choice->objective = NW_OBJECTIVE_CONGESTION;
        what = "far more than";
    } else if (wire * nw_tuned.portfolio.objective_factor < way->latency) {
        choice->objective = NW_OBJECTIVE_LATENCY;
        what = "far less than";
    }
    snprintf(choice->why, sizeof choice->why,
             "%.6g bytes a message take %.3g us at the narrowest link, %s the "
             "latency of %.3g us",
             size, 1e6 * wire, what, 1e6 * way->latency);
}

/* Chooses the objective for a machine that states bandwidths and a pattern
 * without phases. */
static nw_status default_objective_compare(const nw_topology *topology,
                                           const nw_pattern *pattern,
                                           struct nw_objective_choice *choice)
{
    double size = default_objective_mean_size(pattern);
    struct default_objective_way way;
    nw_status status = NW_OK;

    if (size < 0) {
        default_objective_say(choice, NW_OBJECTIVE_CONGESTION,
                              "the pattern counts no messages between ranks");
    } else if (nw_topology_element_count(topology) < 2) {
        default_objective_say(choice, NW_OBJECTIVE_CONGESTION,
                              "the machine has one element");
    } else {
        status = default_objective_find_way(topology, &way);
        if (!status)
            default_objective_weigh(choice, size, &way);
    }
    return status;
}

nw_status nw_map_choose_objective(const nw_topology *topology,
                                  const nw_pattern *pattern,
                                  struct nw_objective_choice *out)
{
    struct nw_objective_choice choice;
    const struct nw_pattern_phases *phases = NULL;
    bool plain = default_objective_is_plain(topology);
    nw_status status = plain ? NW_OK : nw_pattern_find_phases(pattern, &phases);

    if (plain)
        default_objective_say(&choice, NW_OBJECTIVE_HOP_BYTES,
                              "the machine states no bandwidths");
    else if (!status && phases->found)
        default_objective_say(
            &choice, NW_OBJECTIVE_TIME,
            "the phases of a training step follow each other");
    else if (!status)
        status = default_objective_compare(topology, pattern, &choice);
    if (!status)
        *out = choice;
    return status;
}
