/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Hydra, the launcher of MPICH: a hostfile in the order of
 * ranks, with a line for each group of consecutive ranks on one host. Hydra
 * starts one proxy for each line, numbers local ranks within the line, and
 * binds local rank k of every line to the same CPUs of the operating system
 * (tested with 4.0.2). */
#include "launch/launcher.h"

/* Returns the first rank above `rank` that is on another host. Returns the
 * number of ranks if all higher ranks are on the same host. */
static int32_t mpich_run_end(const struct nw_launch_job *job, int32_t rank)
{
    const int32_t *node = job->mapping->node;
    int32_t end = rank + 1;

    while (end < job->mapping->rank_count && node[end] == node[rank])
        end++;
    return end;
}

/* Returns the first rank of the longest group of consecutive ranks on one host,
 * and sets *length to the group's length. All other groups must be bound like
 * the first ranks of this group. */
static int32_t longest_run(const struct nw_launch_job *job, int32_t *length)
{
    int32_t best = 0;

    *length = 0;
    for (int32_t rank = 0; rank < job->mapping->rank_count;) {
        int32_t end = mpich_run_end(job, rank);

        if (end - rank > *length) {
            *length = end - rank;
            best = rank;
        }
        rank = end;
    }
    return best;
}

const char *nw_launch_mpich_lacks(const struct nw_launch_job *job)
{
    int32_t length, model = longest_run(job, &length);

    for (int32_t rank = 0; rank < job->mapping->rank_count;) {
        int32_t end = mpich_run_end(job, rank);

        for (int32_t i = rank; i < end; i++)
            if (!nw_launch_same_cpus(job, model + i - rank, i))
                return "Hydra binds the ranks of every host alike, by the "
                       "operating system's numbers, and these differ or are "
                       "not known";
        rank = end;
    }
    return NULL;
}

/* Adds a note if a host has several lines in the hostfile. Hydra treats these
 * lines as different nodes, so their ranks are not in one shared-memory
 * communicator. */
static nw_status note_scattered(struct nw_launch_job *job, int32_t lines)
{
    if (lines > job->places.node_count)
        nw_text_add(&job->note,
                    "ranks of one host are not consecutive: MPICH before 5.0 "
                    "then takes each run of ranks for a node of its own "
                    "(MPI_COMM_TYPE_SHARED, shared memory); --consecutive or "
                    "'nodewise map --whole-nodes' avoids it\n");
    return NW_OK;
}

static nw_status add_hostfile(struct nw_launch_job *job, const char **path)
{
    struct nw_text text = {0};
    int32_t lines = 0;
    nw_status status;

    for (int32_t rank = 0; rank < job->mapping->rank_count; lines++) {
        int32_t end = mpich_run_end(job, rank);

        nw_text_format(&text, "%s:%d\n", nw_launch_host(job, rank), end - rank);
        rank = end;
    }
    status = nw_launch_add_file(job, "hostfile", &text, path);
    return status ? status : note_scattered(job, lines);
}

static nw_status mpich_add_binding(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    int32_t length, model = longest_run(job, &length);
    nw_status status;

    for (int32_t i = 0; i < length && job->binds; i++) {
        nw_text_add(&text, i ? "," : "user:");
        nw_launch_add_cpus(job, model + i, "+", &text);
    }
    status = nw_launch_word(job, "-bind-to");
    if (!status)
        status = nw_launch_word(job, "%s", text.data ? text.data : "none");
    nw_text_fini(&text);
    return status;
}

nw_status nw_launch_mpich_write(struct nw_launch_job *job)
{
    const char *path;
    nw_status status = add_hostfile(job, &path);

    if (!status)
        status = nw_launch_word(job, "mpiexec");
    if (!status)
        status = nw_launch_word(job, "-f");
    if (!status)
        status = nw_launch_word(job, "%s", path);
    if (!status)
        status = nw_launch_word(job, "-n");
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    return status ? status : mpich_add_binding(job);
}
