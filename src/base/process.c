/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/process.h"

#include <stdio.h>
#include <string.h>

pid_t nw_process_parent(pid_t process, char *state)
{
    char path[40], line[512], letter, *end;
    pid_t parent = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    file = fopen(path, "re");
    if (!file)
        return -1;
    /* the program's name may contain blanks and brackets, so search for the
     * last bracket */
    if (!fgets(line, sizeof line, file) || !(end = strrchr(line, ')')) ||
        sscanf(end + 1, " %c %d", &letter, &parent) != 2)
        parent = -1;
    else if (state)
        *state = letter;
    fclose(file);
    return parent;
}
