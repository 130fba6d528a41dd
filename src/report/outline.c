/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds equal subtrees by a hash that is computed from the leaves up. Then one
 * walk down the tree shows all items of a line together. */
#include "report/outline.h"
#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>

/* At most this many equal neighbours are shown one by one, if they are
 * `pinned`. */
#define FEW 8

struct walk {
    struct nw_outline *outline;
    int32_t *first; /* [count + 1] index of each item's first child in
                       child[] */
    int32_t *child;
};

static nw_status find_children(struct walk *walk)
{
    struct nw_outline *outline = walk->outline;
    int32_t n = outline->count;
    nw_status status =
        nw_alloc((size_t)n + 2, sizeof *walk->first, &walk->first);

    if (!status)
        status = nw_alloc((size_t)n, sizeof *walk->child, &walk->child);
    if (status)
        return status;
    for (int32_t i = 1; i < n; i++)
        walk->first[outline->parent[i] + 2]++;
    for (int32_t i = 1; i < n; i++)
        walk->first[i + 1] += walk->first[i];
    for (int32_t i = 1; i < n; i++)
        walk->child[walk->first[outline->parent[i] + 1]++] = i;
    return NW_OK;
}

/* Mixes the hashes of the children, in their order, into the hash of each
 * item. */
static void hash_subtrees(struct walk *walk)
{
    uint64_t *hash = walk->outline->hash;

    for (int32_t i = walk->outline->count - 1; i >= 0; i--)
        for (int32_t c = walk->first[i]; c < walk->first[i + 1]; c++)
            hash[i] = nw_hash_word(hash[i], hash[walk->child[c]]);
}

/* Returns how many items of walk->child, from index `c` to at most `end`, share
 * a line, since their subtrees are equal. `many`: the line above stands for
 * several items. */
static int32_t outline_identical(const struct walk *walk, int32_t c,
                                 int32_t end, bool many)
{
    const struct nw_outline *outline = walk->outline;
    int32_t from = c, item = walk->child[c];

    while (c < end && outline->hash[walk->child[c]] == outline->hash[item])
        c++;
    /* below several items, no item is shown by itself */
    if (!many && outline->pinned && outline->pinned[item] && c - from <= FEW)
        return 1;
    return c - from;
}

static nw_status outline_show(struct walk *walk, int32_t above,
                              const struct nw_outline_line *line);

/* Shows one line for children of all items of `line`. On entry, below.item
 * points to these children of the first item of `line` in walk->child, and
 * below.each is their number. */
static nw_status show_children(struct walk *walk, int32_t above,
                               const struct nw_outline_line *line,
                               struct nw_outline_line below)
{
    ptrdiff_t offset = below.item - &walk->child[walk->first[*line->item]];
    int32_t *items;
    size_t filled = 0;
    nw_status status;

    below.count = line->count * below.each;
    status = nw_alloc(below.count, sizeof *items, &items);
    if (status)
        return status;
    for (size_t i = 0; i < line->count; i++)
        for (size_t k = 0; k < below.each; k++)
            items[filled++] =
                walk->child[walk->first[line->item[i]] + offset + (ptrdiff_t)k];
    below.item = items;
    status = outline_show(walk, above, &below);
    free(items);
    return status;
}

static nw_status outline_show(struct walk *walk, int32_t above,
                              const struct nw_outline_line *line)
{
    struct nw_outline *outline = walk->outline;
    int32_t end = walk->first[*line->item + 1], step;
    int32_t row = outline->show(outline->user, above, line);
    nw_status status = NW_OK;

    for (int32_t c = walk->first[*line->item]; !status && c < end; c += step) {
        step = outline_identical(walk, c, end, line->count > 1);
        status = show_children(walk, row, line,
                               (struct nw_outline_line){
                                   .item = &walk->child[c],
                                   .each = (size_t)step,
                               });
    }
    return status;
}

nw_status nw_outline_show(struct nw_outline *outline)
{
    struct walk walk = {.outline = outline};
    int32_t root = 0;
    nw_status status = find_children(&walk);

    if (!status) {
        hash_subtrees(&walk);
        status =
            outline_show(&walk, -1, &(struct nw_outline_line){&root, 1, 1});
    }
    free(walk.first);
    free(walk.child);
    return status;
}
