/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a shell script that starts the program. The script contains the host,
 * the CPUs and the GPUs of every rank, so Nodewise need not be installed where
 * it runs. It is for launchers that apply one list of CPUs to all nodes, for
 * unknown launchers, and for torchrun and DeepSpeed, which start a given number
 * of processes on each node and number them themselves. */
#include "launch/launcher.h"

#include "base/status.h"

#include <string.h>

const char *nw_launch_script_lacks(const struct nw_launch_job *job)
{
    (void)job;
    return NULL;
}

const char *nw_launch_script_lacks_gpus(const struct nw_launch_job *job)
{
    (void)job;
    return NULL;
}

/* Appends the line of a rank to a shell "case" statement, such as "3) node='n1'
 * rank=7 cpus=0,4 gpus='2' ;;". */
static nw_status script_add_case(const struct nw_launch_job *job,
                                 const struct nw_launch_case *one,
                                 struct nw_text *text)
{
    nw_status status;

    nw_text_format(text, "%d) node=", one->key);
    nw_text_add_quoted(text, nw_launch_host(job, one->rank));
    nw_text_format(text, " rank=%d cpus=", one->rank);
    if (!job->options->place_only)
        nw_launch_add_cpus(job, one->rank, ",", text);
    status = nw_launch_add_gpus(job, one, text);
    nw_text_add(text, " ;;\n");
    return status;
}

void nw_launch_add_python(struct nw_text *text)
{
    nw_text_add(text, "case $1 in *.py) set -- \"${PYTHON_EXEC:-python3}\" -u "
                      "\"$@\" ;; esac\n");
}

static const char check_host[] =
    "is_same() { # names of a host, each with or without its domain\n"
    "    case $1/$2 in\n"
    "    *.*/*.*) [ \"$1\" = \"$2\" ] ;;\n"
    "    *) [ \"${1%%.*}\" = \"${2%%.*}\" ] ;;\n"
    "    esac\n"
    "}\n"
    "here=$(uname -n)\n"
    "if ! is_same \"$here\" \"$node\" && ! is_same \"$SLURMD_NODENAME\" "
    "\"$node\"; then\n";

static const char leave_alone[] =
    "    echo \"${0##*/}: rank $rank: runs on $here, the mapping says $node: "
    "left as it is\" >&2\n"
    "    exec \"$@\"\n"
    "fi\n";

static const char run_bound[] =
    "[ -n \"$cpus\" ] || exec \"$@\" # the machine has no CPU numbers\n"
    "if taskset -c \"$cpus\" true 2>/dev/null; then\n"
    "    exec taskset -c \"$cpus\" \"$@\"\n"
    "fi\n"
    "echo \"${0##*/}: rank $rank: cannot be bound to CPUs $cpus\" >&2\n"
    "exec \"$@\"\n";

static void script_start_lines(struct nw_text *text)
{
    nw_text_add(text,
                "#!/bin/sh\n"
                "# Written by nodewise launch: binds one rank, chooses its "
                "GPUs and becomes the\n"
                "# program. Usage: LAUNCHER this-script PROGRAM "
                "[ARGUMENT...]\n"
                "unset node cpus gpus first local\n");
    nw_launch_add_rank_search(text);
    nw_text_add(text, "case $rank in\n");
}

/* Appends the lines that bind the process, except with place_only, and execute
 * the program. Adds a note to the job if some CPU numbers are unknown. */
static void script_end_lines(struct nw_launch_job *job, struct nw_text *text)
{
    nw_text_add(text, job->options->place_only ? "exec \"$@\"\n" : run_bound);
    if (!job->options->place_only && !nw_launch_cpus_known(job))
        nw_text_add(&job->note, "the script binds only ranks whose CPU numbers "
                                "are known: the topology lacks the numbers of "
                                "the operating system for some cores\n");
}

/* Appends the selection of GPUs, the variables for OpenMP, the binding and the
 * start of the program to a script, and adds the script to the job. Frees the
 * text in any case. If `status` is an error, returns it and adds no file. */
static nw_status end_script(struct nw_launch_job *job, nw_status status,
                            struct nw_text *text, const char **path)
{
    if (!status)
        status = nw_launch_add_gpu_choice(job, text);
    nw_launch_add_thread_exports(job, text);
    script_end_lines(job, text);
    if (!status)
        status = nw_launch_add_file(job, "sh", text, path);
    nw_text_fini(text);
    if (!status)
        job->launch->file[job->launch->file_count - 1].is_program = true;
    return status;
}

nw_status nw_launch_add_wrapper(struct nw_launch_job *job, const char **path)
{
    struct nw_text text = {0};
    nw_status status = NW_OK;

    script_start_lines(&text);
    for (int32_t r = 0; !status && r < job->mapping->rank_count; r++) {
        const struct nw_launch_case one = {
            r, r,
            nw_launch_node_ranks_find(&job->places, job->mapping->node[r]),
            job->options->visibility};

        status = script_add_case(job, &one, &text);
    }
    nw_text_add(&text, "*)\n    echo \"${0##*/}: no place for rank '$rank'\" "
                       ">&2\n    exec \"$@\" ;;\nesac\n");
    nw_text_add(&text, check_host);
    nw_text_add(&text, leave_alone);
    return end_script(job, status, &text, path);
}

/* Appends the lines of two shell "case" statements, with one line for each
 * rank. A line of the first, such as "0) at=1 of=8 group=0 ;;", has the local
 * rank, the number of ranks on the node and the number of the node. The second
 * has the lines of script_add_case. */
static nw_status add_environment_cases(struct nw_launch_job *job,
                                       struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    nw_status status = NW_OK;

    for (int32_t i = 0; i < places->node_count; i++)
        for (int32_t slot = places->first[i]; slot < places->first[i + 1];
             slot++)
            nw_text_format(text, "%d) at=%d of=%d group=%d ;;\n",
                           places->rank[slot], slot - places->first[i],
                           nw_launch_node_ranks_count(places, i), i);
    nw_text_add(text, "esac\ncase $rank in\n");
    for (int32_t i = 0; i < places->node_count; i++)
        for (int32_t slot = places->first[i];
             !status && slot < places->first[i + 1]; slot++)
            status = script_add_case(
                job,
                &(const struct nw_launch_case){
                    places->rank[slot], places->rank[slot], i, NW_GPU_PERMUTED},
                text);
    return status;
}

nw_status nw_launch_add_environment_wrapper(struct nw_launch_job *job,
                                            const char **path)
{
    struct nw_text text = {0};
    nw_status status = nw_launch_node_ranks_sort_nodes(&job->places);

    script_start_lines(&text);
    if (!status)
        status = add_environment_cases(job, &text);
    nw_text_add(&text, "*)\n    echo \"${0##*/}: no place for rank '$rank'\" "
                       ">&2\n    exit 1 ;;\nesac\n");
    nw_text_add(&text, check_host);
    nw_text_format(&text,
                   "    echo \"${0##*/}: rank $rank: runs on $here, the "
                   "mapping says $node\" >&2\n    exit 1\nfi\n"
                   "export RANK=$rank WORLD_SIZE=%d LOCAL_RANK=$at "
                   "LOCAL_WORLD_SIZE=$of GROUP_RANK=$group NODE_RANK=$group\n"
                   "export MASTER_PORT=${MASTER_PORT:-29500} MASTER_ADDR=",
                   job->mapping->rank_count);
    nw_text_add_quoted(&text, nw_launch_host(job, 0));
    nw_text_add(&text, "\n");
    nw_launch_add_python(&text);
    return end_script(job, status, &text, path);
}

/* The RANK that torchrun or DeepSpeed sets counts the processes in the order of
 * the nodes; the script replaces it by the rank in the mapping. Programs use
 * the device with the number LOCAL_RANK, so each rank sees all GPUs, in an
 * order of its own. */
nw_status nw_launch_add_rank_cases(struct nw_launch_job *job,
                                   struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    nw_status status = NW_OK;

    nw_text_add(text, "unset node cpus gpus first local\ncase $RANK in\n");
    for (int32_t i = 0; i < places->node_count; i++)
        for (int32_t slot = places->first[i];
             !status && slot < places->first[i + 1]; slot++)
            status = script_add_case(
                job,
                &(const struct nw_launch_case){slot, places->rank[slot], i,
                                               NW_GPU_PERMUTED},
                text);
    nw_text_add(text, "*)\n    echo \"${0##*/}: no place for rank '$RANK'\" "
                      ">&2\n    exit 1 ;;\nesac\n"
                      "export RANK=$rank\n");
    if (!status)
        status = nw_launch_add_gpu_choice(job, text);
    script_end_lines(job, text);
    return status;
}

nw_status nw_launch_script_write(struct nw_launch_job *job)
{
    const char *hosts, *script;
    nw_status status = nw_launch_add_wrapper(job, &script);

    if (!status)
        status = nw_launch_add_rank_hosts(job, &hosts);
    nw_text_format(&job->note,
                   "start rank i on the host of line i of %s by any launcher\n",
                   status ? "" : hosts);
    return status ? status : nw_launch_run_script(job, script);
}

/* Appends the path of a script to the command line. A command without a slash
 * would be searched in PATH, and one that begins with '-' would be an option of
 * the launcher, so such a path gets "./" in front. */
nw_status nw_launch_run_script(struct nw_launch_job *job, const char *path)
{
    return nw_launch_word(job, "%s%s",
                          strchr(path, '/') && *path != '-' ? "" : "./", path);
}
