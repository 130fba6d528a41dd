/* SPDX-License-Identifier: BSD-3-Clause */
/* The measuring program, which `nodewise probe` starts under the user's
 * launcher. If a rank was lost, the others exit without MPI_Finalize, which
 * would wait for the lost rank. */
#include "probe/job.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct nw_probe_lead_options lead;
    double timeout;
    bool host_only;
};

static bool probe_main_parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        bool good = true;

        if (!strcmp(argv[i], "--describe"))
            options->lead.describe = true;
        else if (!strcmp(argv[i], "--host-only"))
            options->host_only = true;
        else if (!strncmp(argv[i], "--time=", 7))
            good = nw_parse_quantity(argv[i] + 7, NW_UNIT_TIME,
                                     &options->lead.seconds);
        else if (!strncmp(argv[i], "--patience=", 11))
            good = nw_parse_quantity(argv[i] + 11, NW_UNIT_TIME,
                                     &options->timeout);
        else
            good = false;
        if (!good)
            return false;
    }
    return true;
}

static bool probe_main_make_buffers(struct nw_probe_self *self)
{
    size_t bytes = NW_PROBE_WINDOW * NW_PROBE_LARGEST;

    self->buffer[NW_PROBE_HOST] = malloc(bytes);
    if (!self->buffer[NW_PROBE_HOST])
        return false;
    memset(self->buffer[NW_PROBE_HOST], 1, bytes); /* so that the buffer gets
                                                      physical pages */
    return true;
}

static int probe_main_run(struct nw_probe_self *self,
                          const struct options *options)
{
    struct nw_probe_place place;
    MPI_Request request;

    nw_probe_find_place(self, !options->host_only && !options->lead.describe,
                        &place);
    if (MPI_Isend(&place, sizeof place, MPI_BYTE, 0, TAG_PLACE, MPI_COMM_WORLD,
                  &request))
        return 1;
    if (self->rank)
        return nw_probe_wait(&request, MPI_STATUS_IGNORE, self->timeout) &&
                       nw_probe_obey(self)
                   ? 0
                   : 1;
    MPI_Request_free(&request);
    return nw_probe_lead(self, &options->lead) ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct options options = {.lead = {.seconds = 60}, .timeout = 10};
    struct nw_probe_self self = {0};
    bool short_of_some;
    int watcher;

    if (!probe_main_parse(argc, argv, &options)) {
        fputs("this program is started by nodewise probe\n", stderr);
        return 2;
    }
    watcher = nw_probe_watch();
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &self.size);
    nw_probe_watch_rank(watcher, self.rank);
    self.timeout = options.timeout;
    if (!probe_main_make_buffers(&self)) {
        fprintf(stderr, "nodewise probe: rank %d: out of memory\n", self.rank);
        return 1;
    }
    short_of_some = probe_main_run(&self, &options);
    nw_probe_watch_end(watcher);
    if (short_of_some) {
        fflush(stdout);
        _exit(0);
    }
    MPI_Finalize();
    return 0;
}
