/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a tree in a short form: neighbouring siblings with equal subtrees share
 * one line, so that a machine of 10,000 nodes fits on a page. */
#ifndef NW_REPORT_OUTLINE_H
#define NW_REPORT_OUTLINE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* item[count] are the items of one line, in the order of the items of the line
 * above. Each item of the line above has `each` of them as children. */
struct nw_outline_line {
    const int32_t *item;
    size_t count, each;
};

struct nw_outline {
    int32_t count;
    const int32_t *parent; /* [count] parent of each item, which comes before
                              it; -1 for item 0, the root */
    /* [count] hash of each item, without its children; equal for items that
     * are shown identically; overwritten */
    uint64_t *hash;
    /* [count] items that get a line each if few of them are equal and the line
     * above has one item; or NULL */
    const bool *pinned;
    /* Shows a line below the line with the number `above` (-1: no line above).
     * Returns the number of the new line. */
    int32_t (*show)(void *user, int32_t above,
                    const struct nw_outline_line *line);
    void *user;
};
NW_MUST_CHECK nw_status nw_outline_show(struct nw_outline *outline);

#endif
