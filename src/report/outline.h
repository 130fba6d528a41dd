/* SPDX-License-Identifier: BSD-3-Clause */
/* Short form of a tree: siblings that look alike all the way down become one
 * line, so that a machine of 10,000 nodes is a page. */
#ifndef NW_REPORT_OUTLINE_H
#define NW_REPORT_OUTLINE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items that are shown on one line, ascending, and how many of them each of
 * the things on the line above has. */
struct nw_outline_line {
    const int32_t *item;
    size_t count, each;
};

struct nw_outline {
    int32_t count;
    const int32_t *parent; /* parents before children; -1 for item 0 alone */
    uint64_t *look;        /* equal where items look alike; changed */
    const bool *apart;     /* never merged while few, or NULL */
    /* Shows a line below the line `above` (-1: none); returns its number. */
    int32_t (*show)(void *user, int32_t above,
                    const struct nw_outline_line *line);
    void *user;
};
NW_MUST_CHECK nw_status nw_outline_show(struct nw_outline *outline);

/* Mixes a word into a look. */
uint64_t nw_outline_mix(uint64_t look, uint64_t word);

#endif
