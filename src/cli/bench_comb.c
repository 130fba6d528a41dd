/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs LLNL's Comb, another benchmark of halo exchanges, for comparison with
 * nodewise bench halo. Comb is a separate program that writes files to its
 * working folder. It runs before the benchmark in a temporary folder, once for
 * each row of the benchmark's table. The row shows the sum of the four phases
 * of an exchange from Comb's summary. */
#include "cli/bench_comb.h"

#include "base/array.h"
#include "base/install_path.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"

#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROWS 256

/* A row of the benchmark's table: cells along each side of a rank's cube,
 * radius of the halo, and number of ranks along each axis. */
struct bench_comb_row {
    int n, radius, x, y, z;
};

struct bench_comb_work {
    struct nw_comb *comb;
    char program[PATH_MAX]; /* path of Comb */
    char folder[PATH_MAX];  /* temporary working folder */
    struct bench_comb_row row[MOST_ROWS];
    int count;
};

/* Returns an argv of the launcher's words and `words`; NULL if memory is
 * exhausted. The caller frees the array; the strings are borrowed. */
static char **bench_comb_join(char **launcher, char **words, size_t count)
{
    size_t before = 0;
    char **argv;

    while (launcher[before])
        before++;
    argv = calloc(before + count + 1, sizeof *argv);
    if (argv) {
        memcpy(argv, launcher, before * sizeof *argv);
        memcpy(argv + before, words, count * sizeof *argv);
    }
    return argv;
}

/* Called in the child: changes to the folder and writes standard output and
 * standard error to the file "said" there. */
static void bench_comb_enter(void *folder)
{
    if (chdir(folder) || !freopen("said", "w", stdout) || dup2(1, 2) < 0)
        _exit(127);
}

/* Runs a program in a folder; its output goes to the file "said" there. Returns
 * true if its exit status is 0; false also if `argv` is NULL. */
static bool run_in(const char *folder, char **argv)
{
    return argv && !nw_child_run(&(struct nw_child){.command = "bench",
                                                    .argv = argv,
                                                    .out = -1,
                                                    .prepare = bench_comb_enter,
                                                    .user = (void *)folder});
}

/* Asks the benchmark for the rows that it will measure. Only the benchmark,
 * started by the launcher, knows its number of ranks. */
static nw_status ask_rows(struct bench_comb_work *work)
{
    char **own = work->comb->own, **words, path[PATH_MAX + 8], **argv;
    char shape[] = "--shape", *text = NULL, *line;
    size_t count = 0, length;
    struct nw_lines lines;
    bool good;

    while (own[count] && strcmp(own[count], "--"))
        count++;
    if (nw_alloc(count + 2, sizeof *words, &words))
        return NW_ENOMEM;
    words[0] = (char *)work->comb->benchmark;
    words[1] = shape;
    memcpy(words + 2, own, count * sizeof *words);
    argv = bench_comb_join(work->comb->launcher, words, count + 2);
    free(words);
    good = run_in(work->folder, argv);
    free(argv);
    snprintf(path, sizeof path, "%s/said", work->folder);
    if (!good || nw_file_read_text(path, &text, &length))
        return NW_EIO;
    nw_lines_init(&lines, path, text);
    while ((line = nw_lines_next(&lines)) && work->count < MOST_ROWS) {
        struct bench_comb_row *row = &work->row[work->count];

        work->count += sscanf(line, "row %d %d %d %d %d", &row->n, &row->radius,
                              &row->x, &row->y, &row->z) == 5;
    }
    free(text);
    return NW_OK;
}

/* Times of one of Comb's methods, summed over the phases of an exchange. */
struct phases {
    double mean, least; /* mean and minimum over the cycles, in s */
    int count;
};

/* Reads mean and minimum in s if the line has the times of one of the four
 * phases of an exchange; returns false for other lines. */
static bool read_phase(const char *line, double *mean, double *least)
{
    static const char *const names[] = {
        "post-recv:", "post-send:", "wait-recv:", "wait-send:"};
    long times;
    double most;

    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(line, names[i], strlen(names[i])))
            return sscanf(line + strlen(names[i]),
                          " num %ld avg %lf s min %lf s max %lf s", &times,
                          mean, least, &most) == 4;
    return false;
}

/* Stores the times of the method with the smallest mean; each method begins
 * with a line "Comm". Returns false if no method has all four phases, or if the
 * file cannot be read. */
static bool read_summary(const char *path, struct phases *best)
{
    struct phases now = {0, 0, 0};
    struct nw_lines lines;
    char *text = NULL, *line;
    size_t length;

    best->count = 0;
    if (nw_file_read_text(path, &text, &length))
        return false;
    nw_lines_init(&lines, path, text);
    while ((line = nw_lines_next(&lines))) {
        double mean, least;

        if (strstr(line, "Comm "))
            now = (struct phases){0, 0, 0};
        if (!read_phase(line, &mean, &least))
            continue;
        now.mean += mean;
        now.least += least;
        if (++now.count == 4 && (!best->count || now.mean < best->mean))
            *best = now;
    }
    free(text);
    return best->count == 4;
}

/* Runs Comb for one row with two variables of doubles per cell, which have as
 * many bytes as four floats. Comb tries all its methods without a GPU: packing
 * by loops or by derived types, new or persistent messages. Sets *out to the
 * times of the best one. Returns false if Comb fails. */
static bool run_row(const struct bench_comb_work *work,
                    const struct bench_comb_row *row, struct phases *out)
{
    char cells[48], divide[48], ghost[48], pattern[PATH_MAX + 32];
    char *words[] = {(char *)work->program,
                     cells,
                     "-divide",
                     divide,
                     "-periodic",
                     "1_1_1",
                     "-ghost",
                     ghost,
                     "-vars",
                     "2",
                     "-cycles",
                     "100",
                     "-comm",
                     "disable",
                     "all",
                     "-comm",
                     "enable",
                     "mpi",
                     "-comm",
                     "enable",
                     "mpi_persistent",
                     "-exec",
                     "disable",
                     "all",
                     "-exec",
                     "enable",
                     "seq",
                     "-exec",
                     "enable",
                     "mpi_type",
                     "-memory",
                     "disable",
                     "all",
                     "-memory",
                     "enable",
                     "host"};
    char **argv = bench_comb_join(work->comb->launcher, words,
                                  sizeof words / sizeof *words);
    glob_t found;
    bool good;

    snprintf(cells, sizeof cells, "%d_%d_%d", row->n * row->x, row->n * row->y,
             row->n * row->z);
    snprintf(divide, sizeof divide, "%d_%d_%d", row->x, row->y, row->z);
    snprintf(ghost, sizeof ghost, "%d_%d_%d", row->radius, row->radius,
             row->radius);
    good = run_in(work->folder, argv);
    free(argv);
    snprintf(pattern, sizeof pattern, "%s/Comb_*_summary", work->folder);
    if (glob(pattern, 0, NULL, &found))
        return false;
    /* remove the files before the next row, since Comb takes the first free of
     * 100 names */
    good = good && read_summary(found.gl_pathv[0], out);
    for (size_t i = 0; i < found.gl_pathc; i++)
        good = !remove(found.gl_pathv[i]) && good;
    globfree(&found);
    return good;
}

/* Runs Comb for each row and stores the list "cells:radius:mean:minimum,..." in
 * comb->figures, times in s. Leaves out rows for which Comb fails; returns
 * NW_EIO if it fails for all. */
static nw_status time_rows(const struct bench_comb_work *work)
{
    struct nw_text text = {0};
    nw_status status = NW_EIO;

    for (int i = 0; i < work->count; i++) {
        const struct bench_comb_row *row = &work->row[i];
        struct phases phases = {0, 0, 0};

        if (run_row(work, row, &phases))
            nw_text_format(&text, "%s%d:%d:%.9g:%.9g", text.length ? "," : "",
                           row->n, row->radius, phases.mean, phases.least);
    }
    if (text.length)
        status = nw_text_take(&text, &work->comb->figures);
    nw_text_fini(&text);
    return status;
}

static int bench_comb_drop(const char *path, const struct stat *what, int flag,
                           struct FTW *where)
{
    (void)what, (void)flag, (void)where;
    return remove(path);
}

nw_status nw_bench_comb(struct nw_comb *comb)
{
    struct bench_comb_work work = {.comb = comb};
    const char *base = getenv("TMPDIR");
    nw_status status;

    if (!nw_install_path_search("comb", work.program))
        return NW_OK;
    snprintf(work.folder, sizeof work.folder, "%s/nodewise-comb-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(work.folder))
        return nw_fail(NW_EIO, "cannot make a folder for Comb");
    status = ask_rows(&work);
    if (!status)
        status = time_rows(&work);
    nftw(work.folder, bench_comb_drop, 8, FTW_DEPTH | FTW_PHYS);
    return status ? nw_fail(status, "'%s' was found and failed: it is left out",
                            work.program)
                  : NW_OK;
}
