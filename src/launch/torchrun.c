/* SPDX-License-Identifier: BSD-3-Clause */
/* torchrun starts a number of processes on every node and numbers them node by
 * node, process by process. The script runs on every node: first it starts
 * torchrun with the node's number, then, in front of each process, it gives
 * the process the rank, the CPUs and the order of GPUs that the mapping has
 * (by torchrun's documentation; not tried with a real PyTorch). */
#include "launch/launcher.h"
#include "base/status.h"
#include "topology/compose/compose.h"

#include <stdlib.h>
#include <string.h>

static const char start[] =
    "#!/bin/sh\n"
    "# Written by nodewise launch. Run on every node: this-script PROGRAM "
    "[ARGUMENT...]\n"
    "if [ -z \"$TORCHELASTIC_RUN_ID\" ]; then\n"
    "    here=$(uname -n)\n"
    "    case $here in\n";

/* A host by so many letters of a node's name. */
static void add_case(const struct nw_launch_job *job, int32_t place,
                     size_t letters, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    const char *name = job->mapping->node_name[places->node[place]];
    bool longer = letters == strlen(name) + 1; /* with any domain behind it */

    nw_text_add(text, "    '");
    nw_text_add_bytes(text, name, letters - longer);
    nw_text_format(text, "'%s) node=%d count=%d ;;\n", longer ? ".*" : "",
                   place, nw_launch_node_ranks_count(places, place));
}

/* As nw_topology_node_find has it: the name itself, else the short one of a
 * long, else the only long one of a short. */
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
        add_case(job, i, strlen(mapping->node_name[node[i]]), text);
    for (int32_t i = 0; !status && i < count; i++) {
        const char *name = mapping->node_name[node[i]];
        size_t letters = strcspn(name, ".");
        char *stem = strndup(name, letters);

        if (!stem)
            status = nw_fail(NW_ENOMEM, "out of memory for a name");
        else if (!name[letters])
            add_case(job, i, letters + 1, text);
        else if (nw_host_index_find(&hosts, stem) == node[i])
            add_case(job, i, letters, text);
        free(stem);
    }
    nw_host_index_fini(&hosts);
    return status;
}

static nw_status add_nodes(const struct nw_launch_job *job,
                           struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    nw_status status = add_cases(job, text);

    nw_text_format(
        text,
        "    *)  echo \"${0##*/}: $here is not a node of the mapping\" >&2; "
        "exit 1 ;;\n    esac\n    exec torchrun --nnodes=%d "
        "--nproc-per-node=$count --node-rank=$node \\\n        --master-addr=",
        places->node_count);
    nw_text_add_quoted(text, job->mapping->node_name[places->node[0]]);
    nw_text_add(text,
                " --master-port=${MASTER_PORT:-29500} \\\n"
                "        --no-python \"$0\" \"$@\"\n"
                "fi\n"
                "case $1 in *.py) set -- \"${PYTHON_EXEC:-python3}\" -u \"$@\" "
                ";; esac\n");
    return status;
}

nw_status nw_launch_torchrun_write(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status = nw_launch_node_ranks_sort_nodes(&job->places);

    if (status)
        return status;
    nw_text_add(&text, start);
    status = add_nodes(job, &text);
    if (!status)
        status = nw_launch_add_rank_cases(job, &text);
    if (!status)
        status = nw_launch_add_file(job, "sh", &text, &path);
    nw_text_fini(&text);
    if (status)
        return status;
    job->launch->file[job->launch->file_count - 1].is_program = true;
    nw_text_add(&job->note, "run the command on every node\n");
    return nw_launch_run_script(job, path);
}
