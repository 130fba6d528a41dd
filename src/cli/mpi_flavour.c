/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which MPI a program is started with: that of its launcher, or else
 * the one whose library the program file names. */
#include "cli/launcher.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Searches a program file for the name of an MPI library. Returns the flavour
 * of this MPI, or NULL if the file contains no such name or is not
 * executable. */
static const char *flavour_of_program(const char *path)
{
    static const char *const needs[][2] = {
        {"libmpi_abi.so.", "mpiabi"},    {"libmpi.so.40", "openmpi"},
        {"libmpi_mpifh.so.", "openmpi"}, {"libmpich.so.", "mpich"},
        {"libmpichfort.so.", "mpich"},   {"libmpi.so.12", "mpich"}};
    struct stat info;
    const char *flavour = NULL;
    size_t length;
    char *data;

    if (stat(path, &info) || !S_ISREG(info.st_mode) || access(path, X_OK) ||
        nw_file_read(path, &data, &length))
        return NULL;
    for (size_t i = 0; !flavour && i < sizeof needs / sizeof *needs; i++)
        if (memmem(data, length, needs[i][0], strlen(needs[i][0])))
            flavour = needs[i][1];
    free(data);
    return flavour;
}

static const char *flavour_of_words(char **argv)
{
    const char *flavour = NULL;

    for (; !flavour && *argv; argv++)
        flavour = flavour_of_program(*argv);
    return flavour;
}

const char *nw_launcher_library(enum nw_launcher_kind launcher, char **argv)
{
    const char *flavour = flavour_of_words(argv);

    return flavour && !strcmp(flavour, "mpiabi")
               ? flavour
               : nw_launcher_flavour(launcher, argv);
}

const char *nw_launcher_flavour(enum nw_launcher_kind launcher, char **argv)
{
    if (launcher == NW_LAUNCHER_OPENMPI)
        return "openmpi";
    if (launcher == NW_LAUNCHER_HYDRA)
        return "mpich";
    return flavour_of_words(argv);
}
