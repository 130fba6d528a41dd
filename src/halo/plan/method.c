/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the methods, and the choice of a method by the fixed order of
 * Pearson et al., "Node-aware stencil communication". */
#include "halo/plan/layout.h"

#include <string.h>

static const char *const words[] = {
#define WORD(name, word, sentence) word,
    NW_HALO_METHOD_LIST(WORD)
#undef WORD
};

static const char *const sentences[] = {
#define SENTENCE(name, word, sentence) sentence,
    NW_HALO_METHOD_LIST(SENTENCE)
#undef SENTENCE
};

const char *nw_halo_method_name(enum nw_halo_method method)
{
    return (unsigned)method < NW_HALO_METHOD_COUNT ? words[method] : "none";
}

const char *nw_halo_method_text(enum nw_halo_method method)
{
    return (unsigned)method < NW_HALO_METHOD_COUNT ? sentences[method] : "";
}

bool nw_halo_method_find(const char *name, enum nw_halo_method *out)
{
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        if (!strcmp(name, words[i])) {
            *out = (enum nw_halo_method)i;
            return true;
        }
    return false;
}

/* For GPUs, follows the order of Pearson et al. (section III-C): a kernel
 * inside a GPU, a peer copy inside a rank, CUDA IPC inside a node, staging
 * through host memory between nodes. For host memory, chooses the corresponding
 * method. */
enum nw_halo_method nw_halo_layout_method(const nw_halo_layout *layout,
                                          int32_t from, int32_t to,
                                          int32_t slots_per_rank)
{
    const struct nw_halo_piece *a = &layout->piece[from];
    const struct nw_halo_piece *b = &layout->piece[to];
    int32_t each = slots_per_rank > 1 ? slots_per_rank : 1;
    bool same_rank = a->slot / each == b->slot / each;

    if (a->node != b->node)
        return layout->gpus ? NW_HALO_STAGED : NW_HALO_PACKED;
    if (a->slot == b->slot)
        return layout->gpus ? NW_HALO_KERNEL : NW_HALO_SELF;
    if (same_rank)
        return layout->gpus ? NW_HALO_PEER : NW_HALO_SELF;
    return layout->gpus ? NW_HALO_COLOCATED : NW_HALO_DIRECT;
}
