/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command with a library preloaded into its ranks. The variables reach
 * the ranks of all hosts by options of the launcher. A program without a
 * launcher is a single rank and gets them in its environment. */
#include "cli/preload.h"

#include <nodewise/profile.h>

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *nw_preload_flavour(struct argp_state *state, const char *word)
{
    static const char *const words[] = {"openmpi", "mpich", "mpiabi", NULL};

    return words[nw_argchoose(state, "--mpi", word, words)];
}

nw_status nw_preload_find(const char *flavour, char **argv,
                          struct nw_preload *out)
{
    nw_status status = nw_launcher_find(argv[0], &out->launcher);

    if (status)
        return status;
    if (!flavour)
        flavour = nw_launcher_library(out->launcher, argv);
    if (!flavour)
        return nw_fail(NW_ENODEV,
                       "cannot find out which MPI '%s' uses; give --mpi "
                       "openmpi or --mpi mpich",
                       argv[0]);
    out->mpi = !strcmp(flavour, "mpiabi")  ? "the MPI standard ABI"
               : !strcmp(flavour, "mpich") ? "MPICH"
                                           : "Open MPI";
    return nw_profile_library(flavour, &out->library);
}

/* Copies the variables to new arrays in *out, which have space for `more`
 * further variables. The strings are not copied. */
static nw_status copy_variables(const struct nw_variables *variables,
                                size_t more, struct nw_variables *out)
{
    size_t space = variables->count + more;
    nw_status status = nw_alloc(space, sizeof *out->name, &out->name);

    if (!status)
        status = nw_alloc(space, sizeof *out->value, &out->value);
    if (status)
        return status;
    for (size_t i = 0; i < variables->count; i++) {
        out->name[i] = variables->name[i];
        out->value[i] = variables->value[i];
    }
    out->count = variables->count;
    return NW_OK;
}

/* Copies the variables to *out and adds LD_PRELOAD. */
static nw_status add_library(const struct nw_preload *preload,
                             const struct nw_variables *variables,
                             struct nw_variables *out)
{
    nw_status status = copy_variables(variables, 1, out);

    if (status)
        return status;
    out->name[out->count] = NW_ENV_PRELOAD;
    out->value[out->count++] = preload->library;
    return NW_OK;
}

nw_status nw_preload_prepare(struct nw_preload *preload, char **argv,
                             const struct nw_variables *variables)
{
    struct nw_variables all = {0};
    nw_status status = NW_OK;

    if (preload->launcher == NW_LAUNCHER_NONE)
        return nw_launcher_argv(preload->launcher, argv, variables,
                                &preload->argv);
    status = add_library(preload, variables, &all);
    if (!status)
        status =
            nw_launcher_argv(preload->launcher, argv, &all, &preload->argv);
    free(all.name);
    free(all.value);
    return status;
}

struct environment {
    const struct nw_preload *preload;
    const struct nw_variables *variables;
};

/* Sets the variables in the child, and adds our library to LD_PRELOAD. */
static void set_environment(void *user)
{
    const struct environment *wanted = user;
    const struct nw_variables *variables = wanted->variables;
    const char *preload = getenv(NW_ENV_PRELOAD);
    struct nw_text text = {0};

    for (size_t i = 0; i < variables->count; i++)
        setenv(variables->name[i], variables->value[i], 1);
    nw_text_format(&text, "%s%s%s", preload ? preload : "",
                   preload && preload[0] ? ":" : "", wanted->preload->library);
    if (text.data)
        setenv(NW_ENV_PRELOAD, text.data, 1);
}

int nw_preload_run(const struct nw_preload *preload, const char *command,
                   const struct nw_variables *variables)
{
    bool alone = preload->launcher == NW_LAUNCHER_NONE;

    return nw_child_run(&(struct nw_child){
        .command = command,
        .argv = preload->argv,
        .out = -1,
        .prepare = alone ? set_environment : NULL,
        .user = &(struct environment){preload, variables},
    });
}

void nw_preload_fini(struct nw_preload *preload)
{
    nw_argv_free(preload->argv);
    free(preload->library);
    *preload = (struct nw_preload){0};
}

static bool has_variable(const struct nw_variables *variables,
                         const char *entry)
{
    for (size_t i = 0; i < variables->count; i++) {
        size_t length = strlen(variables->name[i]);

        if (!strncmp(entry, variables->name[i], length) && entry[length] == '=')
            return true;
    }
    return false;
}

/* Adds the variable of an entry "NAME=VALUE" of the environment. Its name is a
 * copy, which the caller frees; its value points into `entry`. */
static nw_status preload_add_entry(struct nw_variables *all, const char *entry)
{
    size_t length = strcspn(entry, "=");
    char *name = strndup(entry, length);

    if (!name)
        return nw_fail(NW_ENOMEM, "out of memory");
    all->name[all->count] = name;
    all->value[all->count++] = entry + length + 1;
    return NW_OK;
}

/* Copies `variables` to *all, then adds those NODEWISE_ variables of the
 * environment that `variables` lacks. The names of the latter are copies. */
static nw_status gather_variables(const struct nw_variables *variables,
                                  struct nw_variables *all)
{
    size_t others = 0;
    nw_status status;

    for (char **entry = environ; *entry; entry++)
        others++;
    status = copy_variables(variables, others, all);
    for (char **entry = environ; !status && *entry; entry++)
        if (!strncmp(*entry, "NODEWISE_", 9) && strchr(*entry, '=') &&
            !has_variable(variables, *entry))
            status = preload_add_entry(all, *entry);
    return status;
}

int nw_preload_command(const char *command, const char *flavour, char **argv,
                       const struct nw_variables *variables)
{
    struct nw_preload preload = {0};
    struct nw_variables all = {0};
    nw_status status = nw_preload_find(flavour, argv, &preload);
    int code = NW_EXIT_FAILED;

    if (!status)
        status = gather_variables(variables, &all);
    if (!status)
        status = nw_preload_prepare(&preload, argv, &all);
    if (!status)
        code = nw_preload_run(&preload, command, &all);
    for (size_t i = variables->count; i < all.count; i++)
        free((char *)(uintptr_t)all.name[i]);
    free(all.name);
    free(all.value);
    nw_preload_fini(&preload);
    return status ? nw_cli_fail(command, status) : code;
}
