/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the writers of all launchers: add words, variables and files to
 * a job, and find the hosts and cores of its ranks. */
#include "launch/job.h"

#include "base/array.h"
#include "base/c_locale.h"
#include "base/status.h"

#include <stdlib.h>

nw_status nw_launch_word(struct nw_launch_job *job, const char *format, ...)
{
    nw_launch *launch = job->launch;
    nw_status status = nw_grow(&launch->word, &job->word_capacity,
                               launch->word_count + 1, sizeof *launch->word);
    va_list arguments;
    int length;

    if (status)
        return status;
    va_start(arguments, format);
    length = nw_vasprintf(&launch->word[launch->word_count], format, arguments);
    va_end(arguments);
    if (length < 0)
        return nw_fail(NW_ENOMEM, "out of memory for a command line");
    launch->word_count++;
    return NW_OK;
}

nw_status nw_launch_words(struct nw_launch_job *job, const char *const *words)
{
    nw_status status = NW_OK;

    for (; !status && *words; words++)
        status = nw_launch_word(job, "%s", *words);
    return status;
}

nw_status nw_launch_variable(struct nw_launch_job *job, const char *format, ...)
{
    nw_launch *launch = job->launch;
    nw_status status =
        nw_grow(&launch->variable, &job->variable_capacity,
                launch->variable_count + 1, sizeof *launch->variable);
    va_list arguments;
    int length;

    if (status)
        return status;
    va_start(arguments, format);
    length = nw_vasprintf(&launch->variable[launch->variable_count], format,
                          arguments);
    va_end(arguments);
    if (length < 0)
        return nw_fail(NW_ENOMEM, "out of memory");
    launch->variable_count++;
    return NW_OK;
}

nw_status nw_launch_add_file(struct nw_launch_job *job, const char *suffix,
                             struct nw_text *text, const char **path)
{
    nw_launch *launch = job->launch;
    const char *prefix = job->options->prefix;
    struct nw_launch_file file = {0};
    struct nw_text name = {0};
    size_t capacity = launch->file_count;
    nw_status status = nw_grow(&launch->file, &capacity, launch->file_count + 1,
                               sizeof *launch->file);

    nw_text_format(&name, "%s.%s", prefix ? prefix : "nodewise", suffix);
    if (!status)
        status = nw_text_take(&name, &file.path);
    if (!status)
        status = nw_text_take(text, &file.text);
    nw_text_fini(&name);
    nw_text_fini(text);
    if (status) {
        free(file.path);
        return status;
    }
    launch->file[launch->file_count++] = file;
    *path = file.path;
    return NW_OK;
}

const char *nw_launch_host(const struct nw_launch_job *job, int32_t rank)
{
    return job->mapping->node_name[job->mapping->node[rank]];
}

int32_t nw_launch_element(const struct nw_launch_job *job, int32_t rank,
                          int32_t core)
{
    int32_t node = job->mapping->node[rank];

    return nw_topology_node_elements(job->topology, node).first + core;
}
