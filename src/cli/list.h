/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that a command knows, each with a sentence: for --list. */
#ifndef NW_CLI_LIST_H
#define NW_CLI_LIST_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>

struct nw_cli_list {
    const char *command;
    const char *key; /* of the names, in JSON */
    int width;       /* of the names, in the table */
    /* Name i and its sentence; false where there are no more. */
    bool (*name)(size_t i, const char **name, const char **summary);
    const char *more_key, *more; /* one thing more, or NULL */
};

/* As a table or as JSON; the exit status. */
int nw_cli_list(const struct nw_cli_list *list, const struct nw_common *common);

#endif
