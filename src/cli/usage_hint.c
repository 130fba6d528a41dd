/* SPDX-License-Identifier: BSD-3-Clause */
/* After wrong usage, getopt prints that an option is unknown, and argp ends the
 * program. So the hint is printed by a function that is called at exit. */
#include "cli/usage_hint.h"

#include "base/nearest.h"
#include "cli/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command and a copy of the pointers to its arguments, since getopt
 * reorders argv. */
static struct usage {
    const struct nw_command *command;
    char **word;
} usage;

/* Compares the name with all options of a command. *is_known becomes true if
 * the name is an option or the beginning of one. */
static void usage_try_options(const struct argp *argp,
                              struct nw_nearest *nearest, bool *is_known)
{
    for (const struct argp_option *o = argp->options;
         o && (o->name || o->key || o->doc); o++)
        if (o->name) {
            /* getopt also accepts the beginning of a name */
            *is_known |= !strncmp(o->name, nearest->name, nearest->length);
            nw_nearest_try(nearest, o->name);
        }
    for (const struct argp_child *c = argp->children; c && c->argp; c++)
        usage_try_options(c->argp, nearest, is_known);
}

/* Prints the known option whose name is most similar to `word`, which begins
 * with "--"; nothing if none is similar. Returns false if `word` is a known
 * option or the beginning of one. */
static bool usage_hint_option(const char *word)
{
    struct nw_nearest nearest;
    bool is_known = false;

    nw_nearest_start(&nearest, word + 2, strcspn(word + 2, "="));
    usage_try_options(usage.command->argp, &nearest, &is_known);
    if (is_known || !nearest.best)
        return !is_known;
    fprintf(stderr, "nodewise %s: did you mean '--%s'?\n", usage.command->name,
            nearest.best);
    return true;
}

/* Returns the first word that is the name of a launcher, if the command needs
 * "--" before it and the user forgot it; else NULL. A word after an option does
 * not count, since it may be the option's value. */
static const char *usage_find_launcher(void)
{
    const char *arguments = usage.command->argp->args_doc, *found = NULL;
    const char *before = "";

    if (!arguments || !strstr(arguments, "-- "))
        return NULL;
    for (char **word = usage.word; *word; before = *word++) {
        if (!strcmp(*word, "--"))
            return NULL;
        if (!found && *before != '-' && nw_launcher_is_name(*word))
            found = *word;
    }
    return found;
}

static void usage_hint(int code, void *unused)
{
    const char *launcher = usage_find_launcher();

    (void)unused;
    if (code != NW_EXIT_USAGE)
        return;
    if (launcher) {
        fprintf(stderr, "nodewise %s: put -- in front of '%s'\n",
                usage.command->name, launcher);
        return;
    }
    for (char **word = usage.word; *word && strcmp(*word, "--"); word++) {
        if (!strncmp(*word, "--", 2) && usage_hint_option(*word))
            return;
    }
}

void nw_cli_usage_hint(const struct nw_command *command, int argc, char **argv)
{
    usage.word = malloc(((size_t)argc + 1) * sizeof *usage.word);
    if (!usage.word)
        return;
    usage.command = command;
    memcpy(usage.word, argv + 1, (size_t)argc * sizeof *usage.word);
    on_exit(usage_hint, NULL);
}
