/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the names that a command knows with a sentence for each: for
 * --list. */
#ifndef NW_CLI_LIST_H
#define NW_CLI_LIST_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>

struct nw_cli_list {
    const char *command;
    const char *key; /* key of the list of names in JSON */
    /* Stores name i and its sentence; returns false if i is past the last. */
    bool (*name)(size_t i, const char **name, const char **summary);
    const char *more_key, *more; /* key and value of one more entry; NULL:
                                    none */
};

/* Prints the list as a table or as JSON; returns the exit status. */
int nw_cli_list(const struct nw_cli_list *list, const struct nw_common *common);

#endif
