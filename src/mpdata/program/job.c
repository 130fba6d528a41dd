/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates a job from the settings that is ready to compute steps. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/cpus.h"
#include "base/file.h"
#include "base/host.h"
#include "base/status.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Returns this rank's share of the CPUs in its set `own`, at least 1. A CPU
 * that several ranks of the node may use is divided equally among them. `set`
 * has a set of `words` words for each rank. */
static int32_t begin_share_of(const unsigned long *set, int words, int ranks,
                              const unsigned long *own)
{
    double share = 1e-9; // rounds sums such as 3 * 1/3 up

    for (int core = 0; core < words * NW_CPU_WORD; core++) {
        int sharers = 0;
        if (!nw_cpus_has(own, words, core))
            continue;
        for (int i = 0; i < ranks; i++)
            sharers += nw_cpus_has(set + i * words, words, core);
        share += 1.0 / sharers;
    }
    return share < 1 ? 1 : (int32_t)share;
}

/* Returns the number of threads: that of OpenMP if OMP_NUM_THREADS is set,
 * otherwise this rank's share of the node's CPUs. */
static int32_t choose_threads(void)
{
    MPI_Comm part, node;
    unsigned long own[NW_CPU_WORDS], *set;
    int ranks, words, own_words = nw_cpus_read(0, own), host[2];
    int32_t share;

    /* not MPI_COMM_TYPE_SHARED: an MPI that never shares memory says then that
     * each rank is alone */
    nw_host_numbers(host);
    MPI_Comm_split(MPI_COMM_WORLD, host[0], 0, &part);
    MPI_Comm_split(part, host[1], 0, &node);
    MPI_Comm_free(&part);
    MPI_Comm_size(node, &ranks);
    if (!own_words) {
        nw_cpus_add(own, 0);
        own_words = 1;
    }
    MPI_Allreduce(&own_words, &words, 1, MPI_INT, MPI_MAX, node);
    if (nw_alloc((size_t)ranks * (size_t)words, sizeof *set, &set))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allgather(own, words, MPI_UNSIGNED_LONG, set, words, MPI_UNSIGNED_LONG,
                  node);
    share = begin_share_of(set, words, ranks, own);
    free(set);
    MPI_Comm_free(&node);
    return getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : share;
}

static nw_status begin_prepare(struct nw_mp_job *job, struct nw_mp_settings *s)
{
    nw_status status = nw_mp_size(job);

    if (status)
        return status;
    s->options = job->options; // now with the case's borders
    status = nw_mp_arrange(s, &job->grid);
    if (!status)
        status = nw_mp_divide(&job->grid, &job->options);
    if (!status)
        status = nw_mp_load(job);
    for (int f = NW_MPDATA_U1; f < NW_MPDATA_FIELD_COUNT && !status; f++)
        job->fingerprint =
            job->fingerprint * 31 + nw_mp_hash(job, (enum nw_mpdata_field)f);
    if (!status && s->restart)
        status = nw_mp_checkpoint_read(job);
    return status ? status : nw_mp_plan(job);
}

/* Returns an error if an output would overwrite an input. */
static nw_status program_job_spare(const struct nw_mp_settings *s,
                                   const char *option, const char *output)
{
    const char *inputs[] = {s->input, s->restart};
    struct stat a, b;

    for (int i = 0; i < 2; i++)
        if (inputs[i] && output && !stat(inputs[i], &a) && !stat(output, &b) &&
            a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return nw_fail(NW_EINVAL,
                           "'%s' is an input: %s would write over it", output,
                           option);
    return NW_OK;
}

/* Checks before the run starts that all outputs can be written. */
static nw_status begin_check_outputs(const struct nw_mp_settings *s)
{
    const char *checkpoint =
        s->checkpoint || s->every ? nw_mp_checkpoint_path(s) : NULL;
    nw_status status = program_job_spare(s, "-o", s->output);

    if (!status)
        status = program_job_spare(s, "--vtk", s->vtk);
    if (!status)
        status = nw_file_writable_in_parts(s->output);
    if (!status)
        status = nw_file_writable_in_parts(s->vtk);
    return status ? status : nw_file_writable_in_parts(checkpoint);
}

nw_status nw_mp_begin(struct nw_mp_job *job, struct nw_mp_settings *settings)
{
    *job = (struct nw_mp_job){.settings = settings};
    job->grid.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &job->grid.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->grid.size);
    if (!settings->options.threads)
        settings->options.threads = choose_threads();
    omp_set_num_threads(settings->options.threads);
    nw_status status = nw_mp_agree(
        MPI_COMM_WORLD, job->grid.rank ? NW_OK : begin_check_outputs(settings));
    return status ? status : begin_prepare(job, settings);
}

void nw_mp_end(struct nw_mp_job *job)
{
    nw_halo_free(job->halo);
    nw_mpdata_free(job->solver);
    nw_mp_grid_free(&job->grid);
}
