/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise halo tune: starts a program under the launcher, which plans a halo
 * exchange once. This measures the methods and stores the choices for all
 * programs with the same halo on this machine. Also shows and removes the
 * stored choices. */
#include "cli/halo_tune.h"

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "nodewise halo choices "

/* Prints the readable part of a stored choice. It begins after the numbers,
 * from which it is separated by two blanks. */
static void print_choice(const char *line)
{
    const char *words = strstr(line, "  ");

    puts(words ? words + 2 : line);
}

/* Reads the stored choices into *data, which the caller frees; *data stays NULL
 * if the file is empty or missing. `lines` begins after the header. Returns an
 * error if the file has another format. */
static nw_status halo_tune_read_kept(const char *path, char **data,
                                     struct nw_lines *lines)
{
    size_t length;
    const char *line;
    nw_status status;

    if (!nw_file_has_bytes(path))
        return NW_OK;
    status = nw_file_read_text(path, data, &length);
    if (status)
        return status;
    nw_lines_init(lines, path, *data);
    line = nw_lines_next(lines);
    return line && strncmp(line, HEAD, strlen(HEAD))
               ? nw_lines_fail(lines, "expected '" HEAD "'")
               : NW_OK;
}

static nw_status halo_tune_show(const char *path)
{
    struct nw_lines lines;
    char *data = NULL, *line;
    size_t count = 0;
    nw_status status = halo_tune_read_kept(path, &data, &lines);

    for (; !status && data && (line = nw_lines_next(&lines)); count++)
        print_choice(line);
    if (!status && !count)
        puts("nothing is kept");
    free(data);
    return status;
}

static nw_status halo_tune_clear(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return nw_fail(NW_EIO, "cannot remove '%s': %s", path, strerror(errno));
    return NW_OK;
}

/* Makes the argument that describes the halo: its numbers in the order in which
 * the measuring program reads them. The caller frees *out. */
static nw_status write_words(const struct nw_cli_halo_tuning *tuning,
                             char **out)
{
    const struct nw_halo_options *plan = tuning->plan;
    struct nw_text text = {0};

    for (int axis = 0; axis < 3; axis++)
        nw_text_format(&text, "%lld,", (long long)plan->extent[axis]);
    for (int d = 0; d < 27; d++)
        nw_text_format(&text, "%d,", plan->radius[d]);
    for (int axis = 0; axis < 3; axis++)
        nw_text_format(&text, "%d,", (int)plan->border[axis][0]);
    nw_text_format(&text, "%d,%d,%d,%d", tuning->quantities, tuning->element,
                   plan->interval, tuning->per_rank);
    return nw_text_take(&text, out);
}

/* Replaces this process by the launcher with the measuring program and its two
 * arguments, the numbers and the file of choices. Returns only on failure. */
static nw_status halo_tune_start(const struct nw_cli_halo_tuning *tuning,
                                 const char *program, const char *path)
{
    size_t words = 0;
    char **argv, *numbers = NULL;
    nw_status status = write_words(tuning, &numbers);

    while (tuning->launcher[words])
        words++;
    argv = calloc(words + 4, sizeof *argv);
    if (!status && !argv)
        status = nw_fail(NW_ENOMEM, "out of memory");
    if (!status) {
        memcpy(argv, tuning->launcher, words * sizeof *argv);
        argv[words] = (char *)program;
        argv[words + 1] = numbers;
        argv[words + 2] = (char *)path;
        fflush(NULL);
        execvp(argv[0], argv);
        status =
            nw_fail(NW_ENODEV, "cannot run '%s': %s", argv[0], strerror(errno));
    }
    free(argv);
    free(numbers);
    return status;
}

/* Checks the halo for errors before any rank starts, by planning it for one
 * rank. Returns an error, too, if the file of choices has another format, since
 * it must not be overwritten. */
static nw_status halo_tune_check(const struct nw_cli_halo_tuning *tuning,
                                 const char *path)
{
    static const int32_t slots[] = {1};
    struct nw_halo_places one = {1, slots};
    struct nw_halo_options plan = *tuning->plan;
    nw_halo_layout *layout = NULL;
    struct nw_lines lines;
    char *data = NULL;
    nw_status status = halo_tune_read_kept(path, &data, &lines);

    plan.topology = NULL;
    plan.pieces_per_rank = 1;
    if (!status)
        status = nw_halo_layout_make(&plan, &one, &layout);
    nw_halo_layout_free(layout);
    free(data);
    return status;
}

/* Finds the measuring program for the launcher's MPI and starts it. */
static nw_status halo_tune_launch(const struct nw_cli_halo_tuning *tuning,
                                  const char *path)
{
    enum nw_launcher_kind kind;
    const char *flavour = NULL;
    char program[PATH_MAX];
    nw_status status = nw_launcher_find(tuning->launcher[0], &kind);

    if (!status && kind != NW_LAUNCHER_NONE)
        flavour = nw_launcher_flavour(kind, tuning->launcher);
    if (!status && !flavour)
        status = nw_fail(NW_EINVAL,
                         "cannot find out which MPI the launcher '%s' belongs "
                         "to; use mpirun or mpiexec",
                         tuning->launcher[0]);
    if (!status)
        status = nw_cli_find_program("bench/halo/", "nodewise-bench-halo-tune",
                                     flavour, program);
    return status ? status : halo_tune_start(tuning, program, path);
}

int nw_cli_halo_tune(const struct nw_cli_halo_tuning *tuning)
{
    char *path = NULL;
    nw_status unkept = NW_OK,
              status = nw_file_cache_path(tuning->file, "halo", &path);

    if (!status && tuning->clear)
        status = halo_tune_clear(path);
    else if (!status && tuning->show)
        status = halo_tune_show(path);
    else if (!status)
        status = halo_tune_check(tuning, path);
    if (!status && tuning->launcher && !tuning->clear && !tuning->show) {
        status = nw_file_folders(path, 0755);
        if (!status)
            status = nw_file_writable(path);
        unkept = status;
        if (!status)
            status = halo_tune_launch(tuning, path);
    }
    free(path);
    if (unkept)
        return nw_cli_fail_output("halo", unkept);
    return status ? nw_cli_fail("halo", status) : 0;
}
