/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tables from which an open channel chooses protocols. Uses the
 * measured table of this machine if there is one, otherwise the cost model with
 * its default figures. */
#include "channel/state.h"

#include "base/file.h"
#include "base/status.h"
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

static double selection_cost(const void *context,
                             struct nw_protocol_copy method, uint64_t bytes)
{
    return nw_cost_of_protocol(context, method, bytes);
}

static void of_model(const nw_channel *channel, int fabric,
                     const struct nw_situation *of, struct nw_choice *out)
{
    const struct nw_endpoint *endpoint = &channel->fabric[fabric];
    struct nw_ends ends = {
        .costs = channel->costs,
        .gpu = {of->gpu[0], of->gpu[1]},
        .adapter = endpoint->hmem != NW_HMEM_NONE,
        .packs = !endpoint->gathers,
        .reads = endpoint->copies && channel->ack_page,
        .opens = endpoint->copies && channel->opens,
        .whole = endpoint->copies ? endpoint->whole - channel->head[fabric] : 0,
        .mapping = channel->mapping != NULL,
        .regime = of->regime};

    nw_costs_of_provider(&ends.costs, of->provider);
    nw_costs_of_locality(&ends.costs, of->locality);
    nw_choice_make(selection_cost, &ends, channel->options.slot_bytes, out);
}

static void selection_fill(nw_channel *channel,
                           const struct nw_thresholds *thresholds, int fabric,
                           const struct nw_situation *of)
{
    struct nw_choice *out =
        &channel
             ->choice[fabric][of->locality][of->regime][of->gpu[0]][of->gpu[1]];
    const struct nw_choice *measured = nw_thresholds_find(thresholds, of);

    if (measured && !of->gpu[0] && !of->gpu[1])
        channel->tabled[fabric] = true;
    if (measured)
        *out = *measured;
    else
        of_model(channel, fabric, of, out);
}

/* Returns true if nw_choose_protocol can use the table of this situation. A
 * table for a sender with GPU memory and a receiver with host memory is never
 * used, since nw_choose_protocol assumes the same kind for both. Unused tables
 * are not made, because each takes some hundred thousand instructions. */
static bool is_needed(const nw_channel *channel, int fabric,
                      const struct nw_situation *of)
{
    bool gpu = of->gpu[0] || of->gpu[1];

    if (!channel->fabric[fabric].ep || (gpu && !channel->has_gpu) ||
        (of->gpu[0] && !of->gpu[1]))
        return false;
    if (of->locality == NW_LOCAL_SOCKET)
        return true;
    for (int32_t i = 0; gpu && i < NW_GPUS; i++)
        if (channel->locality[fabric][i] == of->locality)
            return true;
    return false;
}

static void selection_fill_all(nw_channel *channel,
                               const struct nw_thresholds *thresholds)
{
    for (int f = 0; f < NW_ENDPOINTS; f++)
        for (int i = 0; i < NW_LOCALITIES * NW_REGIMES * 4; i++) {
            struct nw_situation of = {
                .gpu = {i & 1, i & 2},
                .regime = (enum nw_regime)(i / 4 % NW_REGIMES),
                .locality = (enum nw_locality)(i / 4 / NW_REGIMES)};

            snprintf(of.provider, sizeof of.provider, "%.*s",
                     NW_PROVIDER_NAME - 1, channel->fabric[f].provider);
            if (is_needed(channel, f, &of))
                selection_fill(channel, thresholds, f, &of);
        }
}

static void find_small(nw_channel *channel)
{
    for (int f = 0; f < NW_ENDPOINTS; f++)
        for (int r = 0; r < NW_REGIMES; r++) {
            const struct nw_step *first =
                &channel->choice[f][NW_LOCAL_SOCKET][r][0][0].step[0];
            const struct nw_endpoint *fabric = &channel->fabric[f];
            uint64_t most = channel->options.slot_bytes;

            if (fabric->copies && fabric->whole - channel->head[f] < most)
                most = fabric->whole - channel->head[f];
            if (first->bytes < most)
                most = first->bytes;
            channel->small[f][r] =
                first->method.protocol == NW_CHANNEL_GATHER ? most + 1 : 0;
        }
}

/* Returns the distance between a GPU and the adapter of an endpoint. */
static enum nw_locality selection_locality(const nw_channel *channel,
                                           int fabric, int32_t gpu)
{
    const struct fi_info *info = channel->fabric[fabric].info;
    struct nw_gpu_properties properties;
    char adapter[32] = "";

    if (info && info->nic && info->nic->bus_attr &&
        info->nic->bus_attr->bus_type == FI_BUS_PCI)
        snprintf(adapter, sizeof adapter, "%04x:%02x:%02x.%x",
                 info->nic->bus_attr->attr.pci.domain_id,
                 info->nic->bus_attr->attr.pci.bus_id,
                 info->nic->bus_attr->attr.pci.device_id,
                 info->nic->bus_attr->attr.pci.function_id);
    if (nw_gpu_cuda.properties(gpu, &properties))
        properties.pci_id[0] = '\0';
    return nw_locality_find("/sys", properties.pci_id, adapter);
}

static void find_localities(nw_channel *channel)
{
    for (int f = 0; f < NW_ENDPOINTS; f++)
        for (int32_t gpu = 0; gpu < NW_GPUS; gpu++)
            channel->locality[f][gpu] =
                channel->has_gpu && gpu < channel->gpu_count
                    ? selection_locality(channel, f, gpu)
                    : NW_LOCAL_SOCKET;
}

/* An invalid table file is ignored here. The command nodewise channel tune
 * --show reports its errors. */
void nw_selection_open(nw_channel *channel)
{
    struct nw_thresholds thresholds = {0};
    char *path = NULL, *text = NULL;
    size_t length;

    if (!nw_thresholds_path(&path) &&
        !nw_file_read_text(path, &text, &length) &&
        nw_thresholds_parse(path, text, &thresholds))
        thresholds = (struct nw_thresholds){0};
    find_localities(channel);
    selection_fill_all(channel, &thresholds);
    find_small(channel);
    nw_thresholds_fini(&thresholds);
    free(text);
    free(path);
}

static enum nw_locality selection_place_of(const nw_channel *channel,
                                           const nw_channel_request *request)
{
    return request->gpu >= 0 && request->gpu < NW_GPUS
               ? channel->locality[request->peer->fabric][request->gpu]
               : NW_LOCAL_SOCKET;
}

bool nw_choose_to_copy(const nw_channel_request *request)
{
    struct nw_costs costs = request->channel->costs;
    uint64_t bytes = request->message.bytes;

    nw_costs_of_locality(&costs, selection_place_of(request->channel, request));
    return nw_cost(&costs, NW_COST_COPY, bytes) <
           nw_cost(&costs, NW_COST_READ, bytes);
}

/* A sender does not know the kind of the receiver's memory, and assumes that it
 * is the same as its own. */
struct nw_protocol_copy nw_choose_protocol(nw_channel *channel,
                                           const nw_channel_request *request,
                                           uint64_t bytes)
{
    int f = request->peer->fabric;
    int32_t gpu = request->gpu;
    enum nw_locality at = selection_place_of(channel, request);

    return nw_choice_find(
        &channel->choice[f][at][channel->regime][request->is_send && gpu >= 0]
                        [gpu >= 0],
        bytes);
}
