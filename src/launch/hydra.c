/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for later versions of Hydra and for related launchers. MPICH 5
 * has the option -rankmap, which gives a node for every rank, as the number of
 * the node's line in the hostfile (tested with 5.0.2; 4.2.1 ignores the
 * option). Intel MPI (see its Developer Reference) and MVAPICH (see its User
 * Guide) have variables of their own for binding; both were not tested. All of
 * these launchers bind local rank k of every node to the same CPUs. */
#include "launch/launcher.h"

static const char *const unlike =
    "one list of CPUs serves the ranks of every node, by the operating "
    "system's numbers, and here they differ or are not known";

const char *nw_launch_rankmap_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job) ? NULL : unlike;
}

const char *nw_launch_intel_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job) ? NULL : unlike;
}

const char *nw_launch_mvapich_lacks(const struct nw_launch_job *job)
{
    return nw_launch_alike(job) ? NULL : unlike;
}

/* Appends a rank map such as "(vector,(0,1,2),(3,1,1),...)". Each group has
 * three numbers: the first node, the number of nodes, and the number of ranks
 * on each of them. */
static void add_rankmap(const struct nw_launch_job *job, struct nw_text *text)
{
    const int32_t *node = job->mapping->node;
    int32_t count = job->mapping->rank_count;

    nw_text_add(text, "(vector");
    for (int32_t rank = 0, first = 0; rank < count; first = rank) {
        while (rank < count && node[rank] == node[first])
            rank++;
        nw_text_format(text, ",(%d,1,%d)",
                       nw_launch_node_ranks_find(&job->places, node[first]),
                       rank - first);
    }
    nw_text_add(text, ")");
}

static nw_status hydra_word_of(struct nw_launch_job *job, struct nw_text *text)
{
    nw_status status = nw_launch_word(job, "%s", text->data ? text->data : "");

    nw_text_fini(text);
    return status;
}

static nw_status add_user_binding(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    nw_status status = nw_launch_word(job, "-bind-to");

    if (!job->binds)
        nw_text_add(&text, "none");
    else {
        nw_text_add(&text, "user:");
        nw_launch_add_cpu_list(job, "+", ",", &text);
    }
    return status ? status : hydra_word_of(job, &text);
}

nw_status nw_launch_rankmap_write(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status = nw_launch_add_node_hosts(job, "hostfile", ":", &path);

    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"mpiexec", "-f", path, "-n", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_word(job, "-rankmap");
    if (!status) {
        add_rankmap(job, &text);
        status = hydra_word_of(job, &text);
    }
    return status ? status : add_user_binding(job);
}

/* Writes a file with a line "HOST:COUNT" for each group of consecutive ranks on
 * one host. */
static nw_status add_machinefile(struct nw_launch_job *job, const char **path)
{
    const int32_t *node = job->mapping->node;
    struct nw_text text = {0};

    for (int32_t rank = 0, first = 0; rank < job->mapping->rank_count;
         first = rank) {
        while (rank < job->mapping->rank_count && node[rank] == node[first])
            rank++;
        nw_text_format(&text, "%s:%d\n", nw_launch_host(job, first),
                       rank - first);
    }
    return nw_launch_add_file(job, "machinefile", &text, path);
}

static nw_status add_intel_binding(struct nw_launch_job *job)
{
    bool single = nw_launch_single_cpus(job);
    struct nw_text text = {0};
    nw_status status =
        nw_launch_words(job, (const char *[]){"-genv", "I_MPI_PIN",
                                              job->binds ? "on" : "off", NULL});

    if (status || !job->binds)
        return status;
    status = nw_launch_words(
        job, (const char *[]){"-genv",
                              single ? "I_MPI_PIN_PROCESSOR_LIST"
                                     : "I_MPI_PIN_DOMAIN",
                              NULL});
    if (single)
        nw_launch_add_cpu_list(job, ",", ",", &text);
    else {
        nw_text_add(&text, "[");
        nw_launch_add_mask_list(job, "", &text);
        nw_text_add(&text, "]");
    }
    if (!status)
        return hydra_word_of(job, &text);
    nw_text_fini(&text);
    return status;
}

nw_status nw_launch_intel_write(struct nw_launch_job *job)
{
    const char *path;
    nw_status status = add_machinefile(job, &path);

    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"mpirun", "-machinefile", path, NULL});
    if (!status)
        status = add_intel_binding(job);
    if (!status)
        status = nw_launch_word(job, "-n");
    return status ? status
                  : nw_launch_word(job, "%d", job->mapping->rank_count);
}

nw_status nw_launch_mvapich_write(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status = nw_launch_add_rank_hosts(job, &path);

    if (!status)
        status =
            nw_launch_words(job, (const char *[]){"mpirun_rsh", "-np", NULL});
    if (!status)
        status = nw_launch_word(job, "%d", job->mapping->rank_count);
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"-hostfile", path,
                                  job->binds ? "MV2_ENABLE_AFFINITY=1"
                                             : "MV2_ENABLE_AFFINITY=0",
                                  NULL});
    if (!status)
        status = nw_launch_add_thread_words(job, NULL);
    if (status || !job->binds)
        return status;
    nw_text_add(&text, "MV2_CPU_MAPPING=");
    nw_launch_add_cpu_list(job, ",", ":", &text);
    return hydra_word_of(job, &text);
}
