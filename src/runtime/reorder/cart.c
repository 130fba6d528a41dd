/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank finds the same answer by itself, from the seats that all know:
 * but for one agreement there is no message before the split. */
#include "runtime/reorder/grid.h"
#include "runtime/reorder/reorder.h"

#include "base/text.h"
#include "runtime/warn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The info key of the communicator, then the variable, then the profile. */
static void find_weights(const struct nw_call *call, const struct nw_cart *cart,
                         double *weight)
{
    const struct nw_reorder_settings *settings = nw_reorder_settings();
    const char *noted = nw_reorder_noted(call->comm);
    double given[NW_CART_WEIGHTS];

    if (noted && nw_cart_weights_parse(noted, given) == cart->count) {
        memcpy(weight, given, (size_t)cart->count * sizeof *weight);
        return;
    }
    if (noted && !call->rank)
        nw_warn_once("nodewise_cart_weights is '%s' for %d dimensions", noted,
                     cart->count);
    if (settings->weight_count == cart->count) {
        memcpy(weight, settings->weight, (size_t)cart->count * sizeof *weight);
        return;
    }
    if (nw_reorder_profile() &&
        nw_cart_profiled(cart, nw_reorder_profile(), call->world, weight))
        return;
    for (int d = 0; d < cart->count; d++)
        weight[d] = 1;
}

static bool decide(struct nw_call *call, const struct nw_cart *cart)
{
    nw_pattern *graph = NULL;
    double *weight = calloc((size_t)cart->count, sizeof *weight);
    bool good;

    if (!weight)
        return false;
    find_weights(call, cart, weight);
    good = !nw_cart_graph(cart, weight, &graph) && nw_call_decide(call, graph);
    nw_pattern_free(graph);
    free(weight);
    return good;
}

static void describe(const struct nw_cart *cart, char *out, size_t size)
{
    size_t used = 0;

    for (int d = 0; cart->dims && d < cart->count && used < size; d++)
        used += (size_t)snprintf(out + used, size - used, "%s%d", d ? "x" : "",
                                 cart->dims[d]);
}

static uint64_t hash_of(const struct nw_call *call, const struct nw_cart *cart)
{
    size_t n = (size_t)cart->count;
    uint64_t hash = nw_hash_ints(n, cart->dims, n);

    hash = nw_hash_ints(hash, cart->periods, n);
    if (call->decision.vertex)
        hash = nw_hash_ints(hash, call->decision.vertex, (size_t)call->size);
    return hash;
}

/* True where the arguments are such as MPI takes. */
static bool is_sound(const struct nw_call *call, const struct nw_cart *cart)
{
    return cart->count > 0 && cart->dims && cart->periods &&
           nw_cart_vertices(cart, call->size) > 1;
}

static int create(const struct nw_call *call, const struct nw_cart *cart,
                  MPI_Comm *out)
{
    MPI_Comm permuted;
    int code = nw_call_permute(call, &permuted);

    *out = MPI_COMM_NULL;
    if (code || permuted == MPI_COMM_NULL)
        return code;
    code = NW_PMPI(Cart_create)(permuted, cart->count, cart->dims,
                                cart->periods, 0, out);
    NW_PMPI(Comm_free)(&permuted);
    if (!code)
        nw_call_check(call, *out);
    return code;
}

int nw_cart_create(MPI_Comm comm, int count, const int *dims,
                   const int *periods, int reorder, MPI_Comm *out)
{
    struct nw_cart cart = {count, dims, periods};
    struct nw_call call;
    char shape[96] = "";
    bool ours = nw_call_open(&call, "MPI_Cart_create", comm, reorder);
    int code;

    if (ours) {
        bool good =
            call.wanted && is_sound(&call, &cart) && decide(&call, &cart);

        describe(&cart, shape, sizeof shape);
        ours = nw_call_agree(&call, good, good ? hash_of(&call, &cart) : 0) &&
               nw_call_report(&call, shape);
    }
    code = ours ? create(&call, &cart, out)
                : NW_PMPI(Cart_create)(comm, count, dims, periods,
                                       nw_call_reorder(&call, reorder), out);
    nw_call_close(&call);
    return code;
}

int nw_cart_map(MPI_Comm comm, int count, const int *dims, const int *periods,
                int *rank)
{
    struct nw_cart cart = {count, dims, periods};
    struct nw_call call;
    bool ours = nw_call_open(&call, "MPI_Cart_map", comm, 1) &&
                is_sound(&call, &cart) && decide(&call, &cart);
    int code = MPI_SUCCESS;

    if (ours && call.decision.changes &&
        nw_reorder_settings()->mode != NW_REORDER_REPORT) {
        int vertex = call.decision.vertex[call.rank];

        *rank = vertex < 0 ? MPI_UNDEFINED : vertex;
    } else {
        code = NW_PMPI(Cart_map)(comm, count, dims, periods, rank);
    }
    nw_call_close(&call);
    return code;
}
