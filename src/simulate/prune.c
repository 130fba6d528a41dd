/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes links that never limit a flow. If all flows of link A also cross link
 * B, and A is at least as fast as B, then A is never full before B. For
 * example, the flows on a core's link also cross the link of its package. This
 * halves the work of the simulation and changes no rate. */
#include "simulate/traffic.h"

#include "base/array.h"

#include <stdlib.h>

struct pruning {
    struct nw_traffic *traffic;
    /* [link_count + 1] flows of link l: flow[first[l]] to flow[first[l + 1] -
     * 1] */
    size_t *first;
    /* numbers of the flows of each link, ascending */
    size_t *flow;
    /* links that may dominate the link under test: all of its flows that were
     * checked so far cross them */
    int32_t *candidate;
    size_t candidate_count;
    int32_t *number; /* [link_count] new number; -1: removed */
};

static size_t flows_on(const struct pruning *work, int32_t link)
{
    return work->first[link + 1] - work->first[link];
}

static nw_status index_links(struct pruning *work)
{
    const struct nw_traffic *traffic = work->traffic;
    size_t links = (size_t)traffic->link_count;
    size_t crossings = traffic->row[traffic->flow_count];
    nw_status status = nw_alloc(links + 2, sizeof(size_t), &work->first);

    if (!status)
        status = nw_alloc(crossings, sizeof(size_t), &work->flow);
    if (!status)
        status = nw_alloc(crossings, sizeof(int32_t), &work->candidate);
    if (!status)
        status = nw_alloc(links, sizeof(int32_t), &work->number);
    if (status)
        return status;
    for (size_t i = 0; i < crossings; i++)
        work->first[traffic->link[i] + 2]++;
    for (size_t l = 2; l < links + 2; l++)
        work->first[l] += work->first[l - 1];
    for (size_t f = 0; f < traffic->flow_count; f++)
        for (size_t i = traffic->row[f]; i < traffic->row[f + 1]; i++)
            work->flow[work->first[traffic->link[i] + 1]++] = f;
    return NW_OK;
}

static bool prune_crosses(const struct nw_traffic *traffic, size_t f,
                          int32_t link)
{
    for (size_t i = traffic->row[f]; i < traffic->row[f + 1]; i++)
        if (traffic->link[i] == link)
            return true;
    return false;
}

/* Returns true if a flow crosses the link twice. Such a flow has double weight
 * on this link only, so that the link is kept. */
static bool is_doubled(const struct pruning *work, int32_t link)
{
    for (size_t i = work->first[link] + 1; i < work->first[link + 1]; i++)
        if (work->flow[i] == work->flow[i - 1])
            return true;
    return false;
}

/* Returns true if link `b` could make link `a` superfluous: it is at most as
 * fast and has at least as many flows. If both links have the same bandwidth
 * and number of flows, only the link with the lower number can make the other
 * superfluous. This rule keeps exactly one of the two. */
static bool may_dominate(const struct pruning *work, int32_t b, int32_t a)
{
    const double *bandwidth = work->traffic->bandwidth;

    if (a == b || bandwidth[b] > bandwidth[a])
        return false;
    if (bandwidth[b] < bandwidth[a] || flows_on(work, b) > flows_on(work, a))
        return true;
    return flows_on(work, b) == flows_on(work, a) && b < a;
}

/* Removes the candidates that flow `f` does not cross. */
static void keep_crossed(struct pruning *work, size_t f)
{
    size_t kept = 0;

    for (size_t i = 0; i < work->candidate_count; i++)
        if (prune_crosses(work->traffic, f, work->candidate[i]))
            work->candidate[kept++] = work->candidate[i];
    work->candidate_count = kept;
}

/* Returns true if the link has no flows, or another link makes it
 * superfluous. */
static bool is_dominated(struct pruning *work, int32_t link)
{
    const struct nw_traffic *traffic = work->traffic;
    size_t f;

    if (!flows_on(work, link))
        return true;
    f = work->flow[work->first[link]];
    if (is_doubled(work, link))
        return false;
    work->candidate_count = 0;
    for (size_t i = traffic->row[f]; i < traffic->row[f + 1]; i++)
        if (may_dominate(work, traffic->link[i], link))
            work->candidate[work->candidate_count++] = traffic->link[i];
    for (size_t i = work->first[link] + 1;
         work->candidate_count && i < work->first[link + 1]; i++)
        keep_crossed(work, work->flow[i]);
    return work->candidate_count > 0;
}

/* Removes the links with number -1 from the traffic and renumbers the
 * others. */
static void leave_out(struct pruning *work)
{
    struct nw_traffic *traffic = work->traffic;
    int32_t count = 0;
    size_t at = 0, i = 0;

    for (int32_t l = 0; l < traffic->link_count; l++)
        if (work->number[l] >= 0) {
            traffic->bandwidth[count] = traffic->bandwidth[l];
            work->number[l] = count++;
        }
    traffic->link_count = count;
    for (size_t f = 0; f < traffic->flow_count; f++) {
        for (; i < traffic->row[f + 1]; i++)
            if (work->number[traffic->link[i]] >= 0)
                traffic->link[at++] = work->number[traffic->link[i]];
        traffic->row[f + 1] = at;
    }
}

nw_status nw_traffic_prune(struct nw_traffic *traffic)
{
    struct pruning work = {.traffic = traffic};
    nw_status status = index_links(&work);

    for (int32_t l = 0; !status && l < traffic->link_count; l++)
        work.number[l] = is_dominated(&work, l) ? -1 : 0;
    if (!status)
        leave_out(&work);
    free(work.first);
    free(work.flow);
    free(work.candidate);
    free(work.number);
    return status;
}
