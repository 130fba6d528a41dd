/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifies launchers and builds their command lines. Environment variables
 * are passed by options of the launcher, so that the launcher itself never
 * loads libraries meant for the ranks.
 */
#include "cli/launcher.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/launcher_line.h"
#include "cli/launcher_version.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const launcher_words[] = {"mpirun", "mpiexec", "orterun",
                                             "prterun", "srun"};

/* Words in the output of `--version`, and the launcher that they identify. */
static const struct {
    const char *words;
    enum nw_launcher_kind launcher;
} voices[] = {
    {"Open MPI", NW_LAUNCHER_OPENMPI},   {"OpenRTE", NW_LAUNCHER_OPENMPI},
    {"PRRTE", NW_LAUNCHER_OPENMPI},      {"prterun", NW_LAUNCHER_OPENMPI},
    {"HYDRA", NW_LAUNCHER_HYDRA},        {"Hydra", NW_LAUNCHER_HYDRA},
    {"Intel(R) MPI", NW_LAUNCHER_HYDRA}, {"slurm", NW_LAUNCHER_SRUN},
};

bool nw_launcher_is_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof launcher_words / sizeof(char *); i++)
        if (!strncmp(name, launcher_words[i], strlen(launcher_words[i])))
            return true;
    return false;
}

/* Keeps the outputs of `NAME --version` of the launchers asked last, because
 * some launchers need a second for it. */
bool nw_launcher_ask(const char *name, char answer[NW_LAUNCHER_ANSWER])
{
    static struct {
        char name[PATH_MAX], answer[NW_LAUNCHER_ANSWER];
        bool answered;
    } kept[8];
    static size_t next;
    size_t count = sizeof kept / sizeof *kept, i = 0;

    while (i < count && strcmp(kept[i].name, name))
        i++;
    if (i == count) {
        i = next++ % count;
        kept[i].answered = nw_cli_ask(name, kept[i].answer, NW_LAUNCHER_ANSWER);
        snprintf(kept[i].name, PATH_MAX, "%s", name);
    }
    memcpy(answer, kept[i].answer, NW_LAUNCHER_ANSWER);
    return kept[i].answered;
}

nw_status nw_launcher_find(const char *name, enum nw_launcher_kind *out)
{
    char answer[NW_LAUNCHER_ANSWER];

    if (!nw_launcher_is_name(name)) {
        *out = NW_LAUNCHER_NONE;
        return NW_OK;
    }
    if (!nw_launcher_ask(name, answer))
        return nw_fail(NW_EHELPER, "'%s --version' does not end within %d s",
                       name, NW_ASK_SECONDS);
    for (size_t i = 0; i < sizeof voices / sizeof *voices; i++)
        if (strstr(answer, voices[i].words)) {
            *out = voices[i].launcher;
            return NW_OK;
        }
    return nw_fail(NW_ENODEV,
                   "'%s' is not a launcher of Open MPI, MPICH or Slurm, or it "
                   "cannot run here",
                   name);
}

/* A command line in the making. After a failure, `status` is the error and
 * words are no longer added. */
struct words {
    char **word;
    size_t count, capacity;
    nw_status status;
};

static void launcher_add(struct words *words, const char *word)
{
    if (!words->status)
        words->status = nw_grow(&words->word, &words->capacity,
                                words->count + 2, sizeof *words->word);
    if (!words->status)
        words->status = nw_strdup(word, &words->word[words->count]);
    if (!words->status)
        words->word[++words->count] = NULL;
}

/* Adds the word in `text`, and empties `text`. */
static void add_format(struct words *words, struct nw_text *text)
{
    char *word = NULL;

    if (!words->status)
        words->status = nw_text_take(text, &word);
    if (!words->status)
        launcher_add(words, word);
    free(word);
    nw_text_fini(text);
}

/* Returns the value in "LD_PRELOAD=x"; "" for "LD_PRELOAD" alone, which exports
 * the value of the environment; NULL for other words. */
static const char *preload_value(const char *word)
{
    if (strncmp(word, "LD_PRELOAD", 10))
        return NULL;
    return word[10] == '=' ? word + 11 : word[10] ? NULL : "";
}

/* Returns how many words at argv set LD_PRELOAD for the ranks; *value is the
 * value that they set. */
static int find_preload(enum nw_launcher_kind launcher, char **argv,
                        const char **value)
{
    if (launcher == NW_LAUNCHER_OPENMPI && argv[1] && !strcmp(argv[0], "-x") &&
        preload_value(argv[1])) {
        *value = preload_value(argv[1]);
        return 2;
    }
    if (launcher == NW_LAUNCHER_HYDRA && argv[1] && argv[2] &&
        (!strcmp(argv[0], "-genv") || !strcmp(argv[0], "-env")) &&
        !strcmp(argv[1], "LD_PRELOAD")) {
        *value = argv[2];
        return 3;
    }
    return 0;
}

/* Appends the value of a variable. The libraries `preload` that the user
 * preloads come first in LD_PRELOAD. */
static void add_value(struct nw_text *text, const char *name, const char *value,
                      const char *preload)
{
    if (!strcmp(name, "LD_PRELOAD") && preload && preload[0])
        nw_text_format(text, "%s:", preload);
    nw_text_add(text, value);
}

/* Adds options of Open MPI (-x) or Hydra (-genv) that set the variables. */
static void add_variables(struct words *words, enum nw_launcher_kind launcher,
                          const struct nw_variables *variables,
                          const char *preload)
{
    for (size_t i = 0; i < variables->count; i++) {
        struct nw_text text = {0};

        launcher_add(words, launcher == NW_LAUNCHER_OPENMPI ? "-x" : "-genv");
        if (launcher == NW_LAUNCHER_OPENMPI)
            nw_text_format(&text, "%s=", variables->name[i]);
        else
            launcher_add(words, variables->name[i]);
        add_value(&text, variables->name[i], variables->value[i], preload);
        add_format(words, &text);
    }
}

/* Returns true if the command has an application file of Open MPI. Options of
 * the command line do not reach the programs in such a file, but an MCA
 * parameter does. */
static bool has_application_file(enum nw_launcher_kind launcher, char **argv)
{
    for (; launcher == NW_LAUNCHER_OPENMPI && *argv; argv++)
        if (!strcmp(*argv, "--app") || !strcmp(*argv, "-app"))
            return true;
    return false;
}

/* Makes a command with an application file of Open MPI, see
 * has_application_file(). */
static void build_application(struct words *words, char **argv,
                              const struct nw_variables *variables,
                              const char *preload)
{
    struct nw_text text = {0};

    for (size_t i = 0; i < variables->count; i++) {
        nw_text_format(&text, "%s%s=", i ? ";" : "", variables->name[i]);
        add_value(&text, variables->name[i], variables->value[i], preload);
    }
    launcher_add(words, *argv++);
    launcher_add(words, "--mca");
    launcher_add(words, "mca_base_env_list");
    add_format(words, &text);
    for (; *argv; argv++)
        launcher_add(words, *argv);
}

/* Adds one variable to the value of srun's --export. A comma separates entries
 * there, so that a value with a comma cannot be in the list: it is set in this
 * process, and srun exports it from there. LD_PRELOAD would then act on srun,
 * too: it is an error. */
static nw_status export_variable(struct nw_text *list, const char *name,
                                 const char *value, const char *preload)
{
    struct nw_text text = {0};
    nw_status status = NW_OK;
    char *all = NULL;

    add_value(&text, name, value, preload);
    status = nw_text_take(&text, &all);
    nw_text_add(list, name);
    if (!status && !strchr(all, ','))
        nw_text_format(list, "=%s", all);
    else if (!status && !strcmp(name, "LD_PRELOAD"))
        status = nw_fail(NW_EUNSUPPORTED,
                         "srun cannot pass a path with a comma in LD_PRELOAD: "
                         "'%s'; use a path without a comma",
                         all);
    else if (!status)
        setenv(name, all, 1);
    free(all);
    return status;
}

/* Adds srun's option --export with our variables after `list`, the value of the
 * user's own --export, unless this is NONE. */
static void add_export(struct words *words, const char *list,
                       const struct nw_variables *variables,
                       const char *preload)
{
    struct nw_text text = {0};

    nw_text_add(&text, "--export=");
    if (strcmp(list, "NONE"))
        nw_text_add(&text, list);
    for (size_t i = 0; !words->status && i < variables->count; i++) {
        nw_text_add(&text, i || strcmp(list, "NONE") ? "," : "");
        words->status = export_variable(&text, variables->name[i],
                                        variables->value[i], preload);
    }
    add_format(words, &text);
}

/* Returns the value if --export begins at argv[0], else NULL; *words is the
 * number of words of the option. */
static const char *find_export(char **argv, int *words)
{
    *words = 0;
    if (!strncmp(argv[0], "--export=", 9)) {
        *words = 1;
        return argv[0] + 9;
    }
    if (!strcmp(argv[0], "--export") && argv[1]) {
        *words = 2;
        return argv[1];
    }
    return NULL;
}

static void build_srun(struct words *words, char **argv,
                       const struct nw_variables *variables,
                       const char *preload)
{
    /* the program may have an option --export, too */
    char **program = argv + nw_launcher_words(NW_LAUNCHER_SRUN, argv);
    const char *list = "ALL";
    int skip;

    for (char **word = argv; word < program; word++)
        if (find_export(word, &skip))
            list = find_export(word, &skip);
    launcher_add(words, argv[0]);
    add_export(words, list, variables, preload);
    for (argv++; argv < program; argv += skip ? skip : 1)
        if (!find_export(argv, &skip))
            launcher_add(words, *argv);
    for (; *argv; argv++)
        launcher_add(words, *argv);
}

static void launcher_build(struct words *words, enum nw_launcher_kind launcher,
                           char **argv, const struct nw_variables *variables)
{
    const char *preload = getenv("LD_PRELOAD"), *given = NULL;
    char **program = argv + nw_launcher_words(launcher, argv);
    int skip;

    for (char **word = argv; word < program; word++)
        find_preload(launcher, word, &given);
    preload = given && given[0] ? given : preload;
    if (launcher == NW_LAUNCHER_SRUN) {
        build_srun(words, argv, variables, preload);
        return;
    }
    if (has_application_file(launcher, argv)) {
        build_application(words, argv, variables, preload);
        return;
    }
    launcher_add(words, argv[0]);
    add_variables(words, launcher, variables, preload);
    for (argv++; *argv; argv += skip ? skip : 1) {
        skip = argv < program ? find_preload(launcher, argv, &given) : 0;
        if (!skip)
            launcher_add(words, *argv);
        /* under Open MPI, each of several programs has its own options */
        if (launcher == NW_LAUNCHER_OPENMPI && !strcmp(*argv, ":"))
            add_variables(words, launcher, variables, preload);
    }
}

nw_status nw_launcher_argv(enum nw_launcher_kind launcher, char **argv,
                           const struct nw_variables *variables, char ***out)
{
    struct words words = {0};

    if (launcher == NW_LAUNCHER_NONE)
        for (; *argv; argv++)
            launcher_add(&words, *argv);
    else
        launcher_build(&words, launcher, argv, variables);
    if (words.status) {
        nw_argv_free(words.word);
        return words.status;
    }
    *out = words.word;
    return NW_OK;
}

void nw_argv_free(char **argv)
{
    for (char **word = argv; word && *word; word++)
        free(*word);
    free(argv);
}
