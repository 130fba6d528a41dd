/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a mapping becomes files and a command line: the table of launchers,
 * and what they share (checks, the program behind the launcher's words). */
#include <nodewise/launch.h>

#include "base/array.h"
#include "base/status.h"
#include "launch/launcher.h"
#include "topology/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nw_launcher launchers[] = {
    {"openmpi4", "Open MPI 4 (ORTE): a rankfile", nw_launch_openmpi_lacks,
     nw_launch_openmpi4_write},
    {"openmpi5", "Open MPI 5 (PRRTE): a rankfile and a hostfile",
     nw_launch_openmpi_lacks, nw_launch_openmpi5_write},
    {"mpich", "MPICH (Hydra): a hostfile", nw_launch_mpich_lacks,
     nw_launch_mpich_write},
};

#define LAUNCHER_COUNT (sizeof launchers / sizeof *launchers)

bool nw_launch_launcher(size_t index, const char **name, const char **summary)
{
    if (index >= LAUNCHER_COUNT)
        return false;
    *name = launchers[index].name;
    *summary = launchers[index].summary;
    return true;
}

void nw_launch_free(nw_launch *launch)
{
    if (!launch)
        return;
    for (size_t i = 0; i < launch->file_count; i++) {
        free(launch->file[i].path);
        free(launch->file[i].text);
    }
    for (size_t i = 0; i < launch->word_count; i++)
        free(launch->word[i]);
    free(launch->file);
    free(launch->word);
    free(launch->note);
    free(launch);
}

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
    length = vasprintf(&launch->word[launch->word_count], format, arguments);
    va_end(arguments);
    if (length < 0)
        return nw_fail(NW_ENOMEM, "out of memory for a command line");
    launch->word_count++;
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

static nw_status find_launcher(const char *name, const struct nw_launcher **out)
{
    struct nw_text names = {0};
    nw_status status;

    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        if (name && !strcmp(launchers[i].name, name)) {
            *out = &launchers[i];
            nw_text_fini(&names);
            return NW_OK;
        }
        nw_text_format(&names, "%s%s", i ? ", " : "", launchers[i].name);
    }
    status = nw_fail(NW_EINVAL, "there is no launcher '%s'; there are %s",
                     name ? name : "", names.data ? names.data : "");
    nw_text_fini(&names);
    return status;
}

static nw_status check_closed(const struct nw_launch_job *job)
{
    const char *file = job->options->mapping_path;
    const nw_mapping *mapping = job->mapping;

    for (int32_t rank = 0; rank < mapping->rank_count; rank++) {
        struct nw_ints cores = nw_mapping_cores(mapping, rank);
        struct nw_ints gpus = nw_mapping_gpus(mapping, rank);
        const char *open = mapping->node[rank] < 0              ? "node"
                           : !cores.count                       ? "core"
                           : cores.values[0] < 0                ? "core"
                           : gpus.count && gpus.values[0] == -2 ? "GPU"
                                                                : NULL;

        if (open)
            return nw_fail(NW_EFORMAT,
                           "%s: the %s of rank %d is open ('*'); 'nodewise map "
                           "--fix' completes a mapping",
                           file ? file : "mapping", open, rank);
    }
    return NW_OK;
}

static bool has_gpus(const nw_mapping *mapping)
{
    for (int32_t rank = 0; rank < mapping->rank_count; rank++) {
        struct nw_ints gpus = nw_mapping_gpus(mapping, rank);

        if (gpus.count && gpus.values[0] >= 0)
            return true;
    }
    return false;
}

/* Two ranks on one core run, but slowly: worth a line. */
static nw_status note_sharing(struct nw_launch_job *job)
{
    int32_t *owner, shared = 0, a = -1, b = -1;
    size_t count = (size_t)nw_topology_element_count(job->topology);
    nw_status status = nw_alloc(count, sizeof *owner, &owner);

    if (status)
        return status;
    for (int32_t rank = 0; rank < job->mapping->rank_count; rank++) {
        struct nw_ints cores = nw_mapping_cores(job->mapping, rank);

        for (size_t i = 0; i < cores.count; i++) {
            int32_t e = nw_launch_element(job, rank, cores.values[i]);

            if (owner[e] && !shared++) {
                a = owner[e] - 1;
                b = rank;
            }
            owner[e] = rank + 1;
        }
    }
    if (shared)
        nw_text_format(&job->note,
                       "ranks share cores, the first of them %d and %d on "
                       "%s\n",
                       a, b, nw_launch_host(job, a));
    free(owner);
    return NW_OK;
}

static nw_status decide_exec(struct nw_launch_job *job,
                             const struct nw_launcher *launcher)
{
    const char *lacks = launcher->lacks(job);
    enum nw_launch_exec wish = job->options->exec;
    bool gpus = has_gpus(job->mapping);

    job->exec = wish == NW_LAUNCH_EXEC_ALWAYS ||
                (wish == NW_LAUNCH_EXEC_AUTO && (lacks || gpus));
    if (wish == NW_LAUNCH_EXEC_NEVER && lacks)
        return nw_fail(NW_EINVAL, "%s cannot do without nodewise exec: %s",
                       launcher->name, lacks);
    if (wish == NW_LAUNCH_EXEC_NEVER && gpus)
        nw_text_add(&job->note, "without nodewise exec nobody chooses the "
                                "GPUs the mapping names\n");
    if (job->exec && lacks)
        nw_text_format(&job->note, "nodewise exec binds the ranks: %s\n",
                       lacks);
    return NW_OK;
}

static nw_status add_exec(struct nw_launch_job *job)
{
    const struct nw_launch_options *options = job->options;
    const char *path = options->exec_path, *map = options->mapping_path;
    nw_status status = nw_launch_word(job, "%s", path ? path : "nodewise");

    if (!status)
        status = nw_launch_word(job, "exec");
    if (!status && job->topology->elements == NW_ELEMENTS_PU)
        status = nw_launch_word(job, "--elements=pu");
    if (!status && options->visibility == NW_GPU_PERMUTED)
        status = nw_launch_word(job, "--gpu-visibility=permuted");
    if (!status && options->topology_source && has_gpus(job->mapping)) {
        status = nw_launch_word(job, "-t");
        if (!status)
            status = nw_launch_word(job, "%s", options->topology_source);
    }
    if (!status)
        status = nw_launch_word(job, "%s", map ? map : "nodewise.mapping");
    if (!status)
        status = nw_launch_word(job, "--");
    return status;
}

static nw_status add_program(struct nw_launch_job *job)
{
    static const char *const placeholder[] = {"./app"};
    const struct nw_launch_options *options = job->options;
    const char *const *word = options->program ? options->program : placeholder;
    size_t count = options->program ? options->program_words : 1;
    nw_status status = job->exec ? add_exec(job) : NW_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = nw_launch_word(job, "%s", word[i]);
    return status;
}

static nw_status make(struct nw_launch_job *job,
                      const struct nw_launcher *launcher)
{
    nw_status status = check_closed(job);

    if (!status)
        status = decide_exec(job, launcher);
    if (!status)
        status = launcher->write(job);
    if (!status)
        status = add_program(job);
    if (!status)
        status = note_sharing(job);
    if (status || !job->note.length)
        return status;
    return nw_text_take(&job->note, &job->launch->note);
}

nw_status nw_launch_new(const nw_topology *topology, const nw_mapping *mapping,
                        const struct nw_launch_options *options,
                        nw_launch **out)
{
    struct nw_launch_job job = {
        .topology = topology, .mapping = mapping, .options = options};
    const struct nw_launcher *launcher = NULL;
    nw_status status = find_launcher(options->launcher, &launcher);

    if (!status)
        status = nw_alloc(1, sizeof *job.launch, &job.launch);
    if (status)
        return status;
    job.launch->launcher = launcher->name;
    status = make(&job, launcher);
    job.launch->uses_exec = job.exec;
    nw_text_fini(&job.note);
    if (status)
        nw_launch_free(job.launch);
    else
        *out = job.launch;
    return status;
}
