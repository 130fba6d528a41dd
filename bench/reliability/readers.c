/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads many inputs in one process, for the cases of a grammar that
 * bench/reliability/run makes. A line of standard input is `topology PATH` or
 * `pattern PATH`. A line of standard output answers it: the status, and the
 * sentence of the error. A case that takes longer than a minute ends the
 * program by SIGALRM.
 */
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

static nw_status read_topology(const char *path)
{
    nw_topology *topology = NULL;
    nw_status status = nw_topology_load(path, NULL, &topology);

    if (!status)
        nw_topology_free(topology);
    return status;
}

static nw_status read_pattern(const char *path)
{
    nw_pattern *pattern = NULL;
    nw_status status = nw_pattern_read(path, NULL, &pattern);

    if (!status)
        nw_pattern_free(pattern);
    return status;
}

int main(void)
{
    char line[4096];

    while (fgets(line, sizeof line, stdin)) {
        char *path = strchr(line, ' ');
        nw_status status;

        line[strcspn(line, "\n")] = '\0';
        if (!path)
            return 2;
        *path++ = '\0';
        alarm(PATIENCE_S);
        status = !strcmp(line, "topology") ? read_topology(path)
                                           : read_pattern(path);
        printf("%s %s\n", nw_status_name(status),
               status ? nw_error_text() : "");
        (void)fflush(stdout);
    }
    return 0;
}
