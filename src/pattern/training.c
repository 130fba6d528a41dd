/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates the traffic of one training step of a transformer, split over
 * tensor (tp), context (cp), expert (ep, inside dp), data (dp) and pipeline
 * (pp) groups. The formulas and their sources are in nodewise-pattern(1),
 * TRAINING. */
#include "base/json.h"
#include "base/status.h"
#include "pattern/format.h"
#include "pattern/nccl/tree.h"
#include "pattern/spec.h"

#include <string.h>

/* The keys of the specification, and numbers derived from them. */
struct training {
    uint64_t tp, cp, ep, dp, pp;
    uint64_t hidden, layers, seq, batch, micro, experts, topk;
    uint64_t width; /* bytes of one number */
    uint64_t iterations;
    uint64_t replicas; /* replicas of each expert in a data-parallel group */
    uint64_t stage_layers;  /* layers of one pipeline stage */
    uint64_t sequences;     /* sequences of one replica in one step */
    uint64_t micro_batches; /* micro-batches of one replica in one step */
    bool trees;             /* data groups use trees; false: rings */
    enum nw_kind kind;
    int only; /* enum nw_phase; -1: all phases */
    nw_pattern_builder *builder;
};

/* The position of a rank in each kind of group. Ranks of a tensor group are
 * adjacent; ranks of neighbouring pipeline stages are farthest apart. */
struct training_place {
    uint64_t t, c, e, x, p; /* tensor, context, expert, replica, stage */
};

static struct training_place place_of(const struct training *t, uint64_t rank)
{
    struct training_place place;

    place.t = rank % t->tp;
    rank /= t->tp;
    place.c = rank % t->cp;
    rank /= t->cp;
    place.e = rank % t->ep;
    rank /= t->ep;
    place.x = rank % t->replicas;
    place.p = rank / t->replicas;
    return place;
}

static int32_t training_rank_of(const struct training *t,
                                struct training_place place)
{
    uint64_t rank = place.p * t->replicas + place.x;

    rank = (rank * t->ep + place.e) * t->cp + place.c;
    return (int32_t)(rank * t->tp + place.t);
}

static nw_status read_precision(struct nw_spec *spec, uint64_t *width)
{
    static const struct {
        const char *name;
        uint64_t width;
    } names[] = {{"fp32", 4}, {"tf32", 4}, {"bf16", 2},
                 {"fp16", 2}, {"fp8", 1},  {"fp64", 8}};
    const char *word = nw_spec_find(spec, "precision");

    for (size_t i = 0; word && i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i].name)) {
            *width = names[i].width;
            return NW_OK;
        }
    return word ? nw_fail(NW_EINVAL,
                          "training: precision= is fp64, fp32, tf32, bf16, "
                          "fp16 or fp8, not '%s'",
                          word)
                : NW_OK;
}

static nw_status read_trees(struct nw_spec *spec, bool *trees)
{
    const char *word = nw_spec_find(spec, "data");

    *trees = word && !strcmp(word, "tree");
    return word && !*trees && strcmp(word, "ring")
               ? nw_fail(NW_EINVAL, "training: data= is ring or tree, not '%s'",
                         word)
               : NW_OK;
}

/* Reads the keys that are numbers. Their limits keep every product in this file
 * within 128 bits. */
static nw_status read_numbers(struct nw_spec *spec, struct training *t)
{
    const struct nw_spec_number numbers[] = {
        {"tp", 1, 1 << 16, &t->tp},
        {"cp", 1, 1 << 16, &t->cp},
        {"ep", 1, 1 << 16, &t->ep},
        {"dp", 1, 1 << 16, &t->dp},
        {"pp", 1, 1 << 16, &t->pp},
        {"hidden", 1, 1 << 18, &t->hidden},
        {"layers", 1, 1 << 16, &t->layers},
        {"seq", 1, 1 << 22, &t->seq},
        {"batch", 1, 1 << 24, &t->batch},
        {"micro", 1, 1 << 24, &t->micro},
        {"experts", 1, 1 << 16, &t->experts},
        {"topk", 1, 1 << 10, &t->topk},
        {"iterations", 1, 1 << 20, &t->iterations},
    };
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < sizeof numbers / sizeof *numbers; i++)
        status = nw_spec_number(spec, &numbers[i]);
    return status;
}

static nw_status check_splits(const struct training *t)
{
    const struct {
        const char *whole, *part;
        uint64_t value, by;
    } splits[] = {
        {"layers", "pp", t->layers, t->pp},
        {"batch", "dp", t->batch, t->dp},
        {"batch / dp", "micro", t->batch / t->dp, t->micro},
        {"seq", "cp", t->seq, t->cp},
        {"dp", "ep", t->dp, t->ep},
        {"experts", "ep", t->experts, t->ep},
        {"hidden", "tp", t->hidden, t->tp},
    };

    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (splits[i].value % splits[i].by || !splits[i].value)
            return nw_fail(
                NW_EINVAL,
                "training: %s = %llu must be a multiple of %s = %llu",
                splits[i].whole, (unsigned long long)splits[i].value,
                splits[i].part, (unsigned long long)splits[i].by);
    return NW_OK;
}

static nw_status training_read_keys(struct nw_spec *spec, struct training *t)
{
    nw_status status = read_numbers(spec, t);

    if (!status)
        status = read_precision(spec, &t->width);
    if (!status)
        status = read_trees(spec, &t->trees);
    if (!status)
        status = nw_spec_kind(spec, &t->kind);
    if (status)
        return status;
    t->batch = t->batch ? t->batch : t->dp * t->micro;
    t->experts = t->experts ? t->experts : t->ep;
    status = check_splits(t);
    if (status)
        return status;
    t->replicas = t->dp / t->ep;
    t->stage_layers = t->layers / t->pp;
    t->sequences = t->batch / t->dp;
    t->micro_batches = t->sequences / t->micro;
    return NW_OK;
}

/* The traffic of an edge: numbers / by floating-point numbers, rounded up to
 * whole bytes, in `messages` messages. */
struct training_load {
    nw_uint128 numbers, by;
    uint64_t messages;
};

static nw_status add_load(const struct training *t, struct training_place from,
                          struct training_place to,
                          const struct training_load *load)
{
    nw_uint128 bytes =
        (load->numbers * t->width * t->iterations + load->by - 1) / load->by;
    int32_t src = training_rank_of(t, from), dst = training_rank_of(t, to);
    uint64_t messages;

    if (src == dst)
        return NW_OK;
    if (bytes > UINT64_MAX ||
        __builtin_mul_overflow(load->messages, t->iterations, &messages))
        return nw_fail(NW_EINVAL, "an edge passes 2^64 - 1");
    return nw_pattern_builder_add(t->builder, src, dst, t->kind,
                                  (uint64_t)bytes, messages);
}

/* Returns the number of floating-point numbers in the activations of one layer
 * on one rank, over all sequences of a step. */
static nw_uint128 training_activations(const struct training *t)
{
    return (nw_uint128)t->sequences * (t->seq / t->cp) * t->hidden;
}

/* Adds four ring all-reduces per layer: two in the forward pass and two in the
 * backward pass. */
static nw_status add_tensor(const struct training *t, struct training_place at)
{
    struct training_place next = at;
    struct training_load load = {
        .numbers =
            4 * t->stage_layers * training_activations(t) * 2 * (t->tp - 1),
        .by = t->tp,
        .messages = 4 * t->stage_layers * t->micro_batches * 2 * (t->tp - 1)};

    next.t = (at.t + 1) % t->tp;
    return add_load(t, at, next, &load);
}

/* Adds the traffic of context groups: keys and values move around the ring in
 * both passes; their gradients move around the whole ring back to their owner.
 */
static nw_status add_context(const struct training *t, struct training_place at)
{
    struct training_place next = at;
    uint64_t rounds = 3 * t->cp - 2;
    struct training_load load = {
        .numbers = 2 * t->stage_layers * training_activations(t) * rounds,
        .by = t->tp,
        .messages = t->stage_layers * t->micro_batches * rounds};

    next.c = (at.c + 1) % t->cp;
    return add_load(t, at, next, &load);
}

static nw_status add_pipeline(const struct training *t,
                              struct training_place at)
{
    struct training_place to = at;
    struct training_load load = {training_activations(t), t->tp,
                                 t->micro_batches};
    nw_status status = NW_OK;

    if (at.p + 1 < t->pp) {
        to.p = at.p + 1;
        status = add_load(t, at, to, &load);
    }
    if (!status && at.p) {
        to.p = at.p - 1;
        status = add_load(t, at, to, &load);
    }
    return status;
}

/* A group of ranks that hold the same weights, which are numbers / by
 * floating-point numbers. place() returns the position of the group's rank
 * `index`. */
struct training_replicas {
    nw_uint128 numbers, by;
    uint64_t size, index; /* `index` is the index of the sending rank */
    struct training_place (*place)(const struct training *t,
                                   struct training_place at, uint64_t index);
};

/* Adds a reduce-scatter of the gradients and an all-gather of the weights over
 * a ring. */
static nw_status training_add_ring(const struct training *t,
                                   struct training_place at,
                                   const struct training_replicas *group)
{
    struct training_load load = {group->numbers * 2 * (group->size - 1),
                                 group->by * group->size,
                                 2 * (group->size - 1)};

    return add_load(
        t, at, group->place(t, at, (group->index + 1) % group->size), &load);
}

/* Adds an all-reduce over NCCL's two binary trees, each with half of the
 * gradients, up and down in as many steps as the trees have levels. A pair of
 * ranks in both trees exchanges both halves in one message. */
static nw_status training_add_trees(const struct training *t,
                                    struct training_place at,
                                    const struct training_replicas *group)
{
    int peer[2 * NW_NCCL_TREE_PEERS], size = (int)group->size;
    struct training_load load = {group->numbers, 2 * group->by, 0};
    size_t first = nw_nccl_tree_peers((int)group->index, size, 0, peer);
    size_t count =
        first + nw_nccl_tree_peers((int)group->index, size, 1, peer + first);
    uint64_t steps = 0;
    nw_status status = NW_OK;

    for (int ranks = 1; ranks < size; ranks *= 2)
        steps += 2;
    for (size_t i = 0; !status && i < count; i++) {
        load.messages = steps;
        for (size_t k = 0; i >= first && k < first; k++)
            if (peer[k] == peer[i])
                load.messages = 0;
        status = add_load(t, at, group->place(t, at, (uint64_t)peer[i]), &load);
    }
    return status;
}

static nw_status training_add_replicas(const struct training *t,
                                       struct training_place at,
                                       const struct training_replicas *group)
{
    return t->trees ? training_add_trees(t, at, group)
                    : training_add_ring(t, at, group);
}

static struct training_place place_of_data(const struct training *t,
                                           struct training_place at,
                                           uint64_t index)
{
    at.c = index % t->cp;
    at.e = index / t->cp % t->ep;
    at.x = index / t->cp / t->ep;
    return at;
}

static nw_status add_data(const struct training *t, struct training_place at)
{
    nw_uint128 square = (nw_uint128)t->hidden * t->hidden * t->stage_layers;
    struct training_replicas group = {
        square * (t->experts > 1 ? 4 : 12), t->tp, t->dp * t->cp,
        (at.x * t->ep + at.e) * t->cp + at.c, place_of_data};

    return training_add_replicas(t, at, &group);
}

static struct training_place place_of_expert_data(const struct training *t,
                                                  struct training_place at,
                                                  uint64_t index)
{
    at.c = index % t->cp;
    at.x = index / t->cp;
    return at;
}

static nw_status add_expert_data(const struct training *t,
                                 struct training_place at)
{
    nw_uint128 square = (nw_uint128)t->hidden * t->hidden * t->stage_layers;
    struct training_replicas group = {square * 8 * (t->experts / t->ep), t->tp,
                                      t->replicas * t->cp, at.x * t->cp + at.c,
                                      place_of_expert_data};

    if (t->experts == 1)
        return NW_OK;
    return training_add_replicas(t, at, &group);
}

/* Adds the all-to-all of tokens to their experts and back, in both passes. */
static nw_status add_expert(const struct training *t, struct training_place at)
{
    struct training_load load = {
        .numbers = 4 * t->stage_layers * training_activations(t) * t->topk,
        .by = (nw_uint128)t->tp * t->ep,
        .messages = 4 * t->stage_layers * t->micro_batches};
    nw_status status = NW_OK;

    for (uint64_t e = 0; !status && e < t->ep; e++) {
        struct training_place to = at;

        to.e = e;
        status = add_load(t, at, to, &load);
    }
    return status;
}

static nw_status (*const training_phases[NW_PHASE_COUNT])(
    const struct training *t,
    struct training_place at) = {[NW_PHASE_TENSOR] = add_tensor,
                                 [NW_PHASE_CONTEXT] = add_context,
                                 [NW_PHASE_EXPERT] = add_expert,
                                 [NW_PHASE_DATA] = add_data,
                                 [NW_PHASE_EXPERT_DATA] = add_expert_data,
                                 [NW_PHASE_PIPELINE] = add_pipeline};

static nw_status read_only(struct nw_spec *spec, int *only)
{
    const char *word = nw_spec_find(spec, "only");

    *only = word ? nw_phase_find(word, strlen(word)) : -1;
    return word && *only < 0
               ? nw_fail(
                     NW_EINVAL,
                     "training: only= is tp, cp, ep, dp, edp or pp, not '%s'",
                     word)
               : NW_OK;
}

static nw_status add_rank(const struct training *t, uint64_t rank)
{
    struct training_place at = place_of(t, rank);
    nw_status status = NW_OK;

    for (int g = 0; !status && g < NW_PHASE_COUNT; g++)
        if (t->only < 0 || t->only == g)
            status = training_phases[g](t, at);
    return status;
}

nw_status nw_generate_training(struct nw_spec *spec,
                               nw_pattern_builder **builder)
{
    struct training t = {.tp = 1,
                         .cp = 1,
                         .ep = 1,
                         .dp = 1,
                         .pp = 1,
                         .hidden = 4096,
                         .layers = 32,
                         .seq = 2048,
                         .micro = 1,
                         .topk = 2,
                         .width = 2,
                         .iterations = 1,
                         .kind = NW_KIND_GG};
    uint64_t ranks;
    nw_status status = training_read_keys(spec, &t);

    if (!status)
        status = read_only(spec, &t.only);
    if (status)
        return status;
    if (__builtin_mul_overflow(t.tp * t.cp, t.dp * t.pp, &ranks))
        ranks = UINT64_MAX;
    status = nw_spec_builder(spec, ranks, t.ep + 6, builder);
    t.builder = *builder;
    for (uint64_t r = 0; !status && r < ranks; r++)
        status = add_rank(&t, r);
    return status;
}
