/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the environment variables that change what Nodewise does.
 * `nodewise doctor --env` prints it; it is also used to find misspelt names. */
#ifndef NW_BASE_ENVIRONMENT_H
#define NW_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* A row of the table. */
struct nw_variable {
    const char *name;
    const char *value;   /* the possible values */
    const char *meaning; /* one sentence, no full stop */
};

/* Sorted by name; the last row has the name NULL. */
extern const struct nw_variable nw_environment[];

/* Returns true if `value` is one of the words WORD|WORD... in the row of
 * `name`. */
bool nw_environment_takes(const char *name, const char *value);

/* Returns the first entry of `entries` (NAME=value, NULL at the end, as in
 * environ) that begins with NODEWISE_ and has no row in the table; NULL if all
 * are known. */
const char *nw_environment_unknown(char *const *entries);

#endif
