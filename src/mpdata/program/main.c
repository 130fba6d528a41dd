/* SPDX-License-Identifier: BSD-3-Clause */
/* The program nodewise-mpdata; this is where to start reading. The program sets
 * the size of the grid, arranges the ranks, loads the inputs, computes the
 * steps and writes the files. About four times a second, all ranks check
 * together whether one of them got SIGTERM. */
#include "mpdata/program/job.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told_to_stop;

static void on_signal(int number)
{
    (void)number;
    told_to_stop = 1;
}

struct progress {
    uint64_t begin, shown;
    int64_t first; /* step from which this run starts */
    bool drawn, terminal;
};

static void mpdata_main_show(const struct nw_mp_job *job, struct progress *p,
                             int64_t last)
{
    uint64_t now = nw_clock_ns(), gap = p->terminal ? 160000000u : 30000000000u;
    double spent = 1e-9 * (double)(now - p->begin);
    int64_t done = job->step - p->first;

    if (job->grid.rank || job->settings->quiet || job->settings->silent ||
        !done || now - p->shown < gap || spent < 2)
        return;
    p->shown = now;
    p->drawn = p->terminal;
    fprintf(
        stderr, "%sstep %lld of %lld, %.0f %%, %.0f s left%s",
        p->terminal ? "\r\033[K" : "nodewise-mpdata: ", (long long)job->step,
        (long long)last, 100 * (double)job->step / (double)last,
        spent / (double)done * (double)(last - job->step),
        p->terminal ? "" : "\n");
}

/* Returns true if a rank got SIGTERM. Sets *next to the step at which the ranks
 * check again, about a quarter of a second later, but after 1 to 1000 steps.
 * All ranks call this function and get the same answers. */
static bool stop_now(const struct nw_mp_job *job, int64_t *next,
                     double seconds_per_step)
{
    double both[2] = {told_to_stop, seconds_per_step};

    MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, job->grid.comm);
    double steps = both[1] > 0 ? 0.25 / both[1] : 1;
    *next = job->step + (steps < 1 ? 1 : steps > 1000 ? 1000 : (int64_t)steps);
    return both[0] > 0;
}

/* Aborts the job after a failed exchange, which means that a peer process has
 * ended. */
static void mpdata_main_lose(const struct nw_mp_job *job)
{
    fprintf(stderr, "nodewise-mpdata: %s\n", nw_error_text());
    MPI_Abort(job->grid.comm, 1);
}

/* Computes the steps up to `last`, and writes the checkpoints of --every. Sets
 * *stopped and writes a checkpoint if a signal ended the run earlier. */
static nw_status program_march(struct nw_mp_job *job, int64_t last,
                               bool *stopped)
{
    const struct nw_mp_settings *s = job->settings;
    struct progress p = {.begin = nw_clock_ns(),
                         .first = job->step,
                         .terminal = isatty(STDERR_FILENO) || s->bar};
    int64_t next = job->step + 1;
    nw_status status = NW_OK;

    p.shown = p.begin;
    while (job->step < last && !status && !*stopped) {
        if (nw_mp_step(job))
            mpdata_main_lose(job);
        if (s->every && job->step % s->every == 0)
            status = nw_mp_checkpoint_write(job, nw_mp_checkpoint_path(s));
        mpdata_main_show(job, &p, last);
        if (!status && job->step >= next && job->step < last)
            *stopped = stop_now(job, &next,
                                1e-9 * (double)(nw_clock_ns() - p.begin) /
                                    (double)(job->step - p.first));
    }
    if (p.drawn)
        fputs("\r\033[K", stderr);
    if (!status && *stopped)
        status = nw_mp_checkpoint_write(job, nw_mp_checkpoint_path(s));
    return status;
}

static nw_status mpdata_main_write_files(const struct nw_mp_job *job)
{
    nw_status status = NW_OK;

    if (job->settings->output)
        status = nw_mp_netcdf_write(job);
    if (!status && job->settings->vtk)
        status = nw_mp_vtk_write(job);
    return status;
}

static nw_status mpdata_main_run(struct nw_mp_job *job, bool *stopped)
{
    const struct nw_mp_settings *s = job->settings;
    int64_t last = nw_mp_last(job);
    struct nw_mp_result result = {.first = job->step};
    nw_status status;

    nw_mp_tell_start(job);
    result.sums[0] = nw_mp_sum(job);
    MPI_Barrier(job->grid.comm);
    uint64_t from = nw_clock_ns();
    status = program_march(job, last, stopped);
    if (status)
        return status;
    MPI_Barrier(job->grid.comm);
    result.seconds = 1e-9 * (double)(nw_clock_ns() - from);
    result.sums[1] = nw_mp_sum(job);
    result.stopped = *stopped;
    nw_mp_tell_end(job, &result);
    if (*stopped && !job->grid.rank)
        fprintf(stderr,
                "nodewise-mpdata: stopped after step %lld of %lld; --restart "
                "%s goes on\n",
                (long long)job->step, (long long)last,
                nw_mp_checkpoint_path(s));
    return *stopped ? NW_OK : mpdata_main_write_files(job);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigaction(SIGTERM, &action, NULL);
}

/* Closes stdout and reports an error, such as a full disk. */
static void mpdata_main_close_stdout(void)
{
    if (!nw_file_end_output())
        return;
    fprintf(stderr, "nodewise-mpdata: %s\n", nw_error_text());
    _exit(1);
}

int main(int argc, char **argv)
{
    struct nw_mp_settings settings;
    struct nw_mp_job job = {NULL};
    bool stopped = false;
    nw_status status;
    int level;

    atexit(mpdata_main_close_stdout);
    nw_mp_parse(argc, argv, &settings);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    set_signals();
    status = nw_mp_begin(&job, &settings);
    if (!status)
        status = mpdata_main_run(&job, &stopped);
    fflush(stdout);
    nw_mp_end(&job);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status ? nw_mp_exit_code(status) : stopped;
}
