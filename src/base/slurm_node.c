/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable SLURMD_NODENAME of a rank may name another node, because a
 * launcher in a batch job passes its own environment to all ranks. Only the
 * process that slurmstepd started (the rank, or the launcher's daemon above the
 * rank) got the right value. The kernel keeps the environment with which a
 * process started, so the value is read from there. */
#include "base/slurm_node.h"

#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ANCESTORS 64
#define VARIABLE "SLURMD_NODENAME="

/* Returns true if the process is slurmstepd. */
static bool slurm_node_is_step(pid_t process)
{
    char path[40], name[32] = "";
    FILE *file;
    bool is_step;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    file = fopen(path, "re");
    is_step = file && fgets(name, sizeof name, file) &&
              !strncmp(name, "slurmstepd", 10);
    if (file)
        fclose(file);
    return is_step;
}

/* Stores the node name that slurmd gave to a process when the process started.
 * Returns false if this name is unknown or too long. */
static bool find_told(pid_t process, char *name, size_t size)
{
    char path[40], *variable = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
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
    pid_t process = getpid();

    if (!getenv("SLURM_JOB_ID"))
        return false;
    for (int i = 0; process > 1 && i < MOST_ANCESTORS; i++) {
        pid_t parent = nw_process_parent(process, NULL);

        if (parent > 0 && slurm_node_is_step(parent))
            return find_told(process, name, size);
        process = parent;
    }
    return false;
}
