/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise profile --nccl. The program's processes inherit two variables: one
 * makes NCCL load our plug-in; the other is the path from which each process
 * derives the name of its file. The path includes a random number of this run,
 * so that two runs never share a file. */
#include "cli/profile_nccl.h"

#include <nodewise/pattern.h>
#include <nodewise/profile.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/profile_output.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct nccl_run {
    const char *output;
    char **command;
    char *library;
    char *record; /* value of NODEWISE_RECORD for this run */
};

/* Called in the child: sets the two variables. */
static void nccl_set_environment(void *user)
{
    const struct nccl_run *run = user;

    setenv("NCCL_PROFILER_PLUGIN", run->library, 1);
    setenv(NW_ENV_RECORD, run->record, 1);
}

/* Makes run->record, with which the names of the ranks' files begin: the
 * output's absolute path and a random number of this run. */
static nw_status nccl_name_record(struct nccl_run *run)
{
    uint64_t number = 0;
    struct nw_text text = {0};

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) !=
        (ssize_t)sizeof number)
        number = (uint64_t)time(NULL) << 32 | (uint32_t)getpid();
    nw_file_add_absolute(run->output, &text);
    nw_text_format(&text, ".%016llx", (unsigned long long)number);
    return nw_text_take(&text, &run->record);
}

static nw_status nccl_prepare(const struct nw_common *common,
                              struct nccl_run *run)
{
    nw_status status = nw_profile_library("nccl", &run->library);

    if (!status)
        status = nccl_name_record(run);
    if (!status)
        status = nw_file_writable_in_parts(run->output);
    for (char **word = run->command; !status && *word; word++)
        status = nw_cli_output_spares(common, *word);
    return status;
}

/* Finds the files that the ranks of this run wrote. Returns false if they wrote
 * no file or memory is exhausted. The caller calls globfree. */
static bool nccl_find_parts(const struct nccl_run *run, glob_t *found)
{
    struct nw_text text = {0};
    char *words;
    int code;

    nw_text_add_glob(&text, run->record);
    nw_text_add(&text, ".nccl.*");
    if (nw_text_take(&text, &words))
        return false;
    code = glob(words, 0, NULL, found);
    free(words);
    return !code;
}

/* Stores the command line, with blanks for control characters, as the pattern's
 * program. */
static nw_status nccl_note_program(const struct nccl_run *run,
                                   nw_pattern *pattern)
{
    struct nw_text text = {0};

    for (char **word = run->command; *word; word++)
        nw_text_format(&text, "%s%s", word == run->command ? "" : " ", *word);
    if (text.data)
        for (char *at = text.data; *at; at++)
            if ((unsigned char)*at < ' ')
                *at = ' ';
    free(pattern->program);
    pattern->program = NULL;
    return nw_text_take(&text, &pattern->program);
}

static nw_status nccl_read(const struct nccl_run *run, nw_pattern **out)
{
    struct nw_text text = {0};
    char *input;
    nw_status status;

    nw_text_format(&text, "nccl:%s", run->record);
    status = nw_text_take(&text, &input);
    if (!status)
        status = nw_pattern_read(input, NULL, out);
    free(input);
    return status;
}

/* Joins the files of the processes to the pattern, writes it and removes the
 * files. *is_read is true if the files could be read. */
static nw_status nccl_merge(const struct nccl_run *run, const glob_t *parts,
                            bool *is_read)
{
    nw_pattern *pattern = NULL;
    nw_status status = nccl_read(run, &pattern);

    *is_read = !status;
    if (!status)
        status = nccl_note_program(run, pattern);
    if (!status)
        status = nw_pattern_write(pattern, run->output);
    for (size_t i = 0; !status && i < parts->gl_pathc; i++)
        unlink(parts->gl_pathv[i]);
    nw_pattern_free(pattern);
    return status;
}

/* Writes the pattern that the processes have recorded, or prints why it cannot
 * be written. Returns the program's exit status. If the program succeeded but
 * the recorded pattern cannot be written, returns NW_EXIT_FAILED. */
static int nccl_conclude(const struct nccl_run *run, bool quiet, int code)
{
    glob_t parts = {0};
    bool is_read = true;
    nw_status status = NW_OK;

    if (nccl_find_parts(run, &parts)) {
        status = nccl_merge(run, &parts, &is_read);
        if (!status && !quiet)
            nw_profile_tell(run->output, false);
    } else if (code != 126 && code != 127)
        fprintf(stderr,
                "nodewise profile: no profile: no process of '%s' made a "
                "communicator of NCCL 2.23 or later; NCCL_DEBUG=INFO says "
                "whether NCCL loaded the plug-in\n",
                run->command[0]);
    globfree(&parts);
    if (!status)
        return code;
    if (is_read)
        nw_cli_fail_output("profile", status);
    else
        nw_cli_fail("profile", status);
    return code ? code : NW_EXIT_FAILED;
}

int nw_profile_nccl(const struct nw_common *common, char **command)
{
    struct nccl_run run = {.output = common->output, .command = command};
    nw_status status = nccl_prepare(common, &run);
    int code;

    if (status == NW_EIO)
        code = nw_cli_fail_output("profile", status);
    else if (status)
        code = nw_cli_fail("profile", status);
    else {
        code = nw_child_run(&(struct nw_child){.command = "profile",
                                               .argv = command,
                                               .out = -1,
                                               .prepare = nccl_set_environment,
                                               .user = &run});
        code = nccl_conclude(&run, common->quiet, code);
    }
    free(run.library);
    free(run.record);
    return code;
}
