/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the most similar known name by the edit distance: the number of letters
 * to insert, delete or replace. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 31 };

static size_t edit_distance(const struct nw_nearest *nearest, const char *known)
{
    size_t row[LONGEST + 1], n = strlen(known);

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; i <= nearest->length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (nearest->name[i - 1] != known[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

void nw_nearest_start(struct nw_nearest *nearest, const char *name,
                      size_t length)
{
    *nearest = (struct nw_nearest){.name = name, .length = length, .least = 3};
}

void nw_nearest_try(struct nw_nearest *nearest, const char *known)
{
    size_t distance;

    if (nearest->length > LONGEST || strlen(known) > LONGEST)
        return;
    distance = edit_distance(nearest, known);
    if (distance < nearest->least && 2 * distance <= strlen(known)) {
        nearest->least = distance;
        nearest->best = known;
    }
}

const char *nw_nearest_say(struct nw_nearest *nearest, const char *otherwise)
{
    if (!nearest->best)
        return otherwise;
    snprintf(nearest->said, sizeof nearest->said, "did you mean '%s'?",
             nearest->best);
    return nearest->said;
}
