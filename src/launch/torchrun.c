/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a script for torchrun, which starts a number of processes on every
 * node and numbers them node by node. On each node, the script first starts
 * torchrun with the node's number. Then torchrun starts the script again, once
 * for each process. This time, the script gives the process the rank, the CPUs
 * and the order of GPUs of the mapping. tests/launchers/torchrun runs it with
 * the torchrun of PyTorch 2.6.
 *
 * With a c10d rendezvous, torchrun numbers the nodes itself. The script then
 * computes a process's rank from the first rank of its node and LOCAL_RANK. It
 * also sets MASTER_ADDR to the host of rank 0, whose process opens the store
 * (TCPStore), because torchrun may name another host. */
#include "launch/launcher.h"
#include "base/status.h"
#include "topology/compose/compose.h"

#include <stdlib.h>
#include <string.h>

static const char start[] =
    "#!/bin/sh\n"
    "# Written by nodewise launch. Run on every node: this-script PROGRAM "
    "[ARGUMENT...]\n";

static const char find_node[] = "if [ -z \"$TORCHELASTIC_RUN_ID\" ]; then\n"
                                "    here=${NODE_NAME:-$(uname -n)}\n"
                                "    case $here in\n";

/* Appends a line to a shell "case" statement that sets the number of a node
 * (its index `place` in job->places). The line is for a host whose name is the
 * first `letters` letters of the node's name. If `letters` is the length of the
 * node's name plus 1, the line is for hosts with the node's name and any
 * domain. */
static void torchrun_add_case(const struct nw_launch_job *job, int32_t place,
                              size_t letters, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    const char *name = job->mapping->node_name[places->node[place]];
    bool longer = letters == strlen(name) + 1; /* the host's name may have
                                                  any domain */

    nw_text_add(text, "    '");
    nw_text_add_bytes(text, name, letters - longer);
    nw_text_format(
        text, "'%s) node=%d count=%d first=%d ;;\n", longer ? ".*" : "", place,
        nw_launch_node_ranks_count(places, place), places->first[place]);
}

/* Appends the lines that find the node of a host, by the rules of
 * nw_topology_node_find: the exact name, else the short form of a long name,
 * else the only long name with that short form. */
static nw_status add_cases(const struct nw_launch_job *job,
                           struct nw_text *text)
{
    const nw_mapping *mapping = job->mapping;
    const int32_t *node = job->places.node;
    int32_t count = job->places.node_count;
    struct nw_host_index hosts = {0};
    nw_status status = nw_host_index_init(&hosts, mapping->node_name,
                                          (size_t)mapping->node_count);

    for (int32_t i = 0; !status && i < count; i++)
        torchrun_add_case(job, i, strlen(mapping->node_name[node[i]]), text);
    for (int32_t i = 0; !status && i < count; i++) {
        const char *name = mapping->node_name[node[i]];
        size_t letters = strcspn(name, ".");
        char *stem = strndup(name, letters);

        if (!stem)
            status = nw_fail(NW_ENOMEM, "out of memory");
        else if (!name[letters])
            torchrun_add_case(job, i, letters + 1, text);
        else if (nw_host_index_find(&hosts, stem) == node[i])
            torchrun_add_case(job, i, letters, text);
        free(stem);
    }
    nw_host_index_fini(&hosts);
    return status;
}

/* Appends the host of rank 0, with the subdomain of a Kubernetes service if the
 * variable POD_SUBDOMAIN is set. */
static void add_master(const struct nw_launch_job *job, struct nw_text *text)
{
    nw_text_add_quoted(text, nw_launch_host(job, 0));
    nw_text_add(text, "${POD_SUBDOMAIN:+.$POD_SUBDOMAIN}");
}

static void add_static(const struct nw_launch_job *job, struct nw_text *text)
{
    nw_text_format(text,
                   "    exec torchrun --nnodes=%d --nproc-per-node=$count "
                   "--node-rank=$node \\\n"
                   "        --master-addr=",
                   job->places.node_count);
    add_master(job, text);
    nw_text_add(text, " --master-port=${MASTER_PORT:-29500} \\\n"
                      "        --no-python \"$0\" \"$@\"\n"
                      "fi\n");
}

static void add_c10d(const struct nw_launch_job *job, struct nw_text *text)
{
    nw_text_format(text,
                   "    export nodewise_node=$node nodewise_first=$first "
                   "nodewise_port=${MASTER_PORT:-29500}\n"
                   "    exec torchrun --nnodes=%d --nproc-per-node=$count "
                   "--rdzv-backend=c10d \\\n"
                   "        --rdzv-id=${RDZV_ID:-nodewise} --rdzv-endpoint=",
                   job->places.node_count);
    add_master(job, text);
    nw_text_add(text, ":${RDZV_PORT:-29400} \\\n"
                      "        --no-python \"$0\" \"$@\"\n"
                      "fi\n"
                      "RANK=$((nodewise_first + LOCAL_RANK))\n"
                      "export GROUP_RANK=$nodewise_node "
                      "MASTER_PORT=$nodewise_port "
                      "TORCHELASTIC_USE_AGENT_STORE=False\n"
                      "export MASTER_ADDR=");
    add_master(job, text);
    nw_text_add(text, "\n");
}

nw_status nw_launch_add_torchrun(struct nw_launch_job *job, bool c10d,
                                 struct nw_text *text)
{
    nw_status status = nw_launch_node_ranks_sort_nodes(&job->places);

    nw_text_add(text, start);
    nw_launch_add_thread_exports(job, text);
    nw_text_add(text, find_node);
    if (!status)
        status = add_cases(job, text);
    nw_text_add(text, "    *)  echo \"${0##*/}: $here is not a node of the "
                      "mapping; set NODE_NAME to the name of this node "
                      "there\" >&2; exit 1 ;;\n"
                      "    esac\n");
    if (status)
        return status;
    if (c10d)
        add_c10d(job, text);
    else
        add_static(job, text);
    nw_launch_add_python(text);
    return nw_launch_add_rank_cases(job, text);
}

static nw_status write_script(struct nw_launch_job *job, bool c10d)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status = nw_launch_add_torchrun(job, c10d, &text);

    if (!status)
        status = nw_launch_add_file(job, "sh", &text, &path);
    nw_text_fini(&text);
    if (status)
        return status;
    job->launch->file[job->launch->file_count - 1].is_program = true;
    nw_text_add(&job->note, "run the command on every node\n");
    return nw_launch_run_script(job, path);
}

nw_status nw_launch_torchrun_write(struct nw_launch_job *job)
{
    return write_script(job, false);
}

nw_status nw_launch_c10d_write(struct nw_launch_job *job)
{
    return write_script(job, true);
}

/* Writes a job for Megatron-LM, whose processes are started by torchrun.
 * Megatron's start scripts use the node's line number in the host file as the
 * node's number. */
nw_status nw_launch_megatron_write(struct nw_launch_job *job)
{
    const char *path;
    nw_status status = write_script(job, false);

    return status ? status
                  : nw_launch_add_node_hosts(job, "hostfile", " slots=", &path);
}
