/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known name that is most similar to an unknown one, for messages
 * such as "did you mean 'map'?". */
#ifndef NW_BASE_NEAREST_H
#define NW_BASE_NEAREST_H

#include <stddef.h>

/* The state of a search for the most similar name. */
struct nw_nearest {
    const char *name; /* the unknown name; borrowed */
    size_t length;
    const char *best; /* the nearest known name, borrowed; NULL if all differ
                         too much */
    size_t least;
    char said[64];
};

/* Sets the unknown name: the first `length` letters of `name`. */
void nw_nearest_start(struct nw_nearest *nearest, const char *name,
                      size_t length);
/* Keeps a known name if its edit distance from the unknown name is at most 2,
 * at most half of its length, and smaller than that of the name kept before.
 * Ignores `known` if it or the unknown name has more than 31 letters. */
void nw_nearest_try(struct nw_nearest *nearest, const char *known);
/* Returns "did you mean ...", stored in *nearest, or `otherwise` if no name is
 * near. */
const char *nw_nearest_say(struct nw_nearest *nearest, const char *otherwise);

#endif
