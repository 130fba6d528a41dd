/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable SLURMD_NODENAME of a rank may name another node, because a
 * launcher in a batch job passes its own environment to all ranks. Only the
 * process that slurmstepd started (the rank, or the launcher's daemon above the
 * rank) got the right value. The kernel keeps the environment with which a
 * process started, so the value is read from there. */
#include "base/slurm_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ANCESTORS 64
#define VARIABLE "SLURMD_NODENAME="

/* Returns the parent of a process, or -1 if the kernel does not give it.
 * *is_step is true if the parent is slurmstepd. */
static long slurm_node_parent_of(long process, bool *is_step)
{
    char path[64], line[512], name[32] = "";
    long parent = -1;
    char *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    file = fopen(path, "re");
    if (!file)
        return -1;
    /* the name in parentheses may hold anything */
    if (fgets(line, sizeof line, file) && (end = strrchr(line, ')')) &&
        sscanf(end + 1, " %*c %ld", &parent) != 1)
        parent = -1;
    fclose(file);
    snprintf(path, sizeof path, "/proc/%ld/comm", parent);
    file = parent > 0 ? fopen(path, "re") : NULL;
    *is_step = file && fgets(name, sizeof name, file) &&
               !strncmp(name, "slurmstepd", 10);
    if (file)
        fclose(file);
    return parent;
}

/* Stores the node name that slurmd gave to a process when the process started.
 */
static bool find_told(long process, char *name, size_t size)
{
    char path[64], *variable = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/environ", process);
    file = fopen(path, "re");
    while (file && !found && getdelim(&variable, &room, '\0', file) > 0)
        if (!strncmp(variable, VARIABLE, strlen(VARIABLE))) {
            const char *value = variable + strlen(VARIABLE);

            found = *value && strlen(value) < size;
            if (found)
                strcpy(name, value);
        }
    if (file)
        fclose(file);
    free(variable);
    return found;
}

bool nw_slurm_node(char *name, size_t size)
{
    long process = (long)getpid();
    bool is_step = false;

    if (!getenv("SLURM_JOB_ID"))
        return false;
    for (int i = 0; process > 1 && i < MOST_ANCESTORS; i++) {
        long parent = slurm_node_parent_of(process, &is_step);

        if (is_step)
            return find_told(process, name, size);
        process = parent;
    }
    return false;
}
