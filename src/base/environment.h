/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the variables that change what Nodewise does. `nodewise doctor
 * --env` prints the table, and misspelt names are found by it. */
#ifndef NW_BASE_ENVIRONMENT_H
#define NW_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct nw_variable {
    const char *name;
    const char *value;   /* what it may be set to */
    const char *meaning; /* one sentence, no full stop */
};

/* Sorted by name, ended by a row without one. */
extern const struct nw_variable nw_environment[];

/* Whether `value` is one of the words, WORD|WORD..., that the row of `name`
 * gives. */
bool nw_environment_takes(const char *name, const char *value);

/* The first entry of `entries` (NAME=value, ended by NULL, as in environ) that
 * begins with NODEWISE_ and has no row in the table; NULL if all are known. */
const char *nw_environment_unknown(char *const *entries);

#endif
