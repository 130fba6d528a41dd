/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Cart_create and MPI_Cart_map. If machine and grid are regular, every rank
 * computes its own vertex from the locations of all ranks, which each rank
 * knows. Then the only message before the split is one all-reduce. Otherwise
 * rank 0 searches an order. */
#include "runtime/reorder/plan.h"

#include "base/text.h"

#include "runtime/reorder/reorder.h"

#include <nodewise/reorder.h>

#include "runtime/warn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets the weights of the dimensions. They come from the first of these sources
 * that has one for each dimension: the argument of nw_reorder_cart_create, the
 * communicator's info key, the environment variable, the profile. Without a
 * source, all are 1. */
static void find_weights(const struct nw_call *call, const struct nw_cart *cart,
                         double *weight)
{
    const struct nw_reorder_settings *settings = nw_reorder_settings();
    const char *noted =
        settings->weights_first ? NULL : nw_reorder_noted(call->comm);
    double given[NW_CART_WEIGHTS];

    if (noted && nw_cart_weights_parse(noted, given) == cart->count) {
        memcpy(weight, given, (size_t)cart->count * sizeof *weight);
        return;
    }
    if (noted && !call->rank)
        nw_warn_once("nodewise_cart_weights is '%s' for %d dimension%s", noted,
                     cart->count, nw_plural((uint64_t)cart->count));
    if (settings->weight_count == cart->count) {
        memcpy(weight, settings->weight, (size_t)cart->count * sizeof *weight);
        return;
    }
    if (nw_reorder_profile() && nw_cart_profiled(cart, nw_reorder_profile(),
                                                 call->members->world, weight))
        return;
    for (int d = 0; d < cart->count; d++)
        weight[d] = 1;
}

/* The grid of one call, with the weights of its dimensions. */
struct grid {
    struct nw_cart cart;
    double *weight;
    bool planned; /* every rank computes its own vertex */
    struct nw_cart_plan plan;
};

/* If the grid has fewer vertices than the communicator has members, the choice
 * of members matters, so rank 0 searches; but only up to this number of
 * members. */
#define SEARCH_MOST 1024

static bool uses_plan(const struct nw_call *call, const struct nw_cart *cart)
{
    const char *algorithm = nw_reorder_settings()->algorithm;

    return (!strcmp(algorithm, "auto") || !strcmp(algorithm, "tile")) &&
           (call->size > SEARCH_MOST ||
            nw_cart_vertices(cart, call->size) == call->size);
}

/* Sets the weights of the grid's dimensions, on which the order and the choice
 * of GPUs depend. Returns false if no weight is positive or memory is
 * exhausted. */
static bool cart_weigh(struct nw_call *call, struct grid *grid)
{
    grid->weight = calloc((size_t)grid->cart.count, sizeof *grid->weight);
    if (!grid->weight)
        return false;
    find_weights(call, &grid->cart, grid->weight);
    if (!nw_cart_scale(grid->weight, grid->cart.count))
        return false;
    call->weight = grid->weight;
    return true;
}

/* Prepares the search or the plan on this rank. Returns false if the weights or
 * the machine are missing. */
static bool cart_prepare(struct nw_call *call, struct grid *grid)
{
    if (!cart_weigh(call, grid))
        return false;
    if (nw_members_locate(call->members)) {
        nw_warn_once("%s: not reordered: %s", call->name, nw_error_text());
        return false;
    }
    grid->planned = uses_plan(call, &grid->cart) &&
                    nw_cart_plan(call->members, &grid->cart, grid->weight,
                                 call->rank, &grid->plan);
    return true;
}

static bool cart_search(struct nw_call *call, const struct grid *grid)
{
    nw_pattern *graph = NULL;
    bool good = !nw_cart_graph(&grid->cart, grid->weight, &graph) &&
                nw_call_decide(call, graph);

    nw_pattern_free(graph);
    return good;
}

static void take_plan(struct nw_call *call, const struct grid *grid)
{
    call->mine = grid->plan.vertex;
    call->decision.before = (double)grid->plan.cost[0];
    call->decision.after = (double)grid->plan.cost[1];
    call->decision.changes = nw_is_worth(
        nw_reorder_settings(), call->decision.before, call->decision.after);
}

static void cart_describe(const struct nw_cart *cart, char *out, size_t size)
{
    size_t used = 0;

    for (int d = 0; cart->dims && d < cart->count && used < size; d++)
        used += (size_t)snprintf(out + used, size - used, "%s%d", d ? "x" : "",
                                 cart->dims[d]);
}

static uint64_t cart_hash_of(const struct grid *grid)
{
    size_t n = (size_t)grid->cart.count;
    uint64_t hash = nw_hash_ints(2 * n + grid->planned, grid->cart.dims, n);

    hash = nw_hash_ints(hash, grid->cart.periods, n);
    for (size_t d = 0; d < n; d++)
        hash = nw_hash_ints(hash, (int[]){(int)grid->weight[d]}, 1);
    return hash;
}

/* Returns true if the arguments are valid and the grid has at least two
 * vertices. */
static bool cart_is_sound(const struct nw_call *call,
                          const struct nw_cart *cart)
{
    return cart->count > 0 && cart->dims && cart->periods &&
           nw_cart_vertices(cart, call->size) > 1;
}

/* Returns true if MPI would reject the arguments. A grid without vertices or
 * dimensions is valid. */
static bool cart_is_bad(const struct nw_call *call, const struct nw_cart *cart)
{
    long long product = 1;

    if (cart->count <= 0 || !cart->dims || !cart->periods)
        return cart->count != 0;
    for (int d = 0; d < cart->count; d++) {
        product *= cart->dims[d];
        if (cart->dims[d] < 0 || product > call->size)
            return true;
    }
    return false;
}

static int cart_create(const struct nw_call *call, const struct nw_cart *cart,
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
    return code;
}

/* Decides the order of the ranks. Returns true if all ranks agree on the
 * result. Collective. */
static bool cart_settle(struct nw_call *call, struct grid *grid)
{
    bool good = call->wanted && cart_is_sound(call, &grid->cart) &&
                cart_prepare(call, grid) &&
                (grid->planned || nw_call_reserve(call));

    call->bad = cart_is_bad(call, &grid->cart);
    if (!nw_call_sum(call, good, good ? cart_hash_of(grid) : 0,
                     grid->plan.cost))
        return false;
    if (!grid->planned)
        return nw_call_share(call, call->rank || cart_search(call, grid));
    take_plan(call, grid);
    return true;
}

int nw_cart_create(MPI_Comm comm, int count, const int *dims,
                   const int *periods, int reorder, MPI_Comm *out)
{
    struct grid grid = {.cart = {count, dims, periods}};
    struct nw_call call;
    char shape[96] = "";
    bool ours = nw_call_open(&call, "MPI_Cart_create", comm, reorder);
    int code;

    if (ours) {
        cart_describe(&grid.cart, shape, sizeof shape);
        if (!call.wanted && call.members && nw_reorder_settings()->gpus &&
            cart_is_sound(&call, &grid.cart))
            cart_weigh(&call, &grid);
        ours = cart_settle(&call, &grid) && nw_call_report(&call, shape);
    }
    code = call.refused ? nw_call_refuse(&call, MPI_ERR_DIMS)
           : ours       ? cart_create(&call, &grid.cart, out)
                        : NW_PMPI(Cart_create)(comm, count, dims, periods,
                                         nw_call_reorder(&call, reorder), out);
    if (!code && call.opened)
        nw_call_finish(&call, *out);
    free(grid.weight);
    nw_call_close(&call);
    return code;
}

int nw_reorder_cart_create(MPI_Comm comm, const struct nw_reorder_grid *grid,
                           MPI_Comm *out)
{
    struct nw_reorder_settings before;
    int code;

    nw_depth++;
    if (nw_reorder_ask(grid->weights, grid->count, &before)) {
        code = nw_cart_create(comm, grid->count, grid->dims, grid->periods, 1,
                              out);
        nw_reorder_settle(&before);
    } else {
        code = NW_PMPI(Cart_create)(comm, grid->count, grid->dims,
                                    grid->periods, 0, out);
    }
    nw_depth--;
    return code;
}

/* Decides the order on this rank without messages. All ranks get the same
 * result. */
static bool settle_alone(struct nw_call *call, struct grid *grid)
{
    if (!cart_is_sound(call, &grid->cart) || !cart_prepare(call, grid))
        return false;
    if (!grid->planned) {
        if (!cart_search(call, grid))
            return false;
        call->mine = call->decision.vertex[call->rank];
        return true;
    }
    nw_cart_plan_total(call->members, &grid->cart, grid->weight, &grid->plan);
    take_plan(call, grid);
    return true;
}

int nw_cart_map(MPI_Comm comm, int count, const int *dims, const int *periods,
                int *rank)
{
    struct grid grid = {.cart = {count, dims, periods}};
    struct nw_call call;
    bool ours = nw_call_open(&call, "MPI_Cart_map", comm, 1) && call.wanted &&
                settle_alone(&call, &grid);
    int code = MPI_SUCCESS;

    if (ours && call.decision.changes &&
        nw_reorder_settings()->mode != NW_REORDER_REPORT)
        *rank = call.mine < 0 ? MPI_UNDEFINED : call.mine;
    else
        code = NW_PMPI(Cart_map)(comm, count, dims, periods, rank);
    free(grid.weight);
    nw_call_close(&call);
    return code;
}
