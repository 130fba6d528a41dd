/* SPDX-License-Identifier: BSD-3-Clause */
/* "did you mean 'map'?": the known name that is nearest to an unknown one. */
#ifndef NW_BASE_NEAREST_H
#define NW_BASE_NEAREST_H

#include <stddef.h>

struct nw_nearest {
    const char *name; /* borrowed */
    size_t length;
    const char *best; /* borrowed; NULL: none is near */
    size_t least;
    char said[64];
};

/* The unknown name, by its first `length` letters. */
void nw_nearest_start(struct nw_nearest *nearest, const char *name,
                      size_t length);
/* Keeps a known name if at most two letters differ, and fewer than before. */
void nw_nearest_try(struct nw_nearest *nearest, const char *known);
/* The question, which lives as long as *nearest, or `otherwise`. */
const char *nw_nearest_say(struct nw_nearest *nearest, const char *otherwise);

#endif
