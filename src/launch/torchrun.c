/* SPDX-License-Identifier: BSD-3-Clause */
/* torchrun starts a number of processes on every node and numbers them node by
 * node, process by process. The script runs on every node: first it starts
 * torchrun with the node's number, then, in front of each process, it gives
 * the process the rank, the CPUs and the order of GPUs that the mapping has
 * (by torchrun's documentation; not tried with a real PyTorch). */
#include "launch/launcher.h"

#include <string.h>

static const char start[] =
    "#!/bin/sh\n"
    "# Written by nodewise launch. Run on every node: this-script PROGRAM "
    "[ARGUMENT...]\n"
    "if [ -z \"$TORCHELASTIC_RUN_ID\" ]; then\n"
    "    here=$(uname -n)\n"
    "    case ${here%%.*} in\n";

/* The name up to its first dot, as a pattern that stands for itself. */
static void add_short_name(struct nw_text *text, const char *name)
{
    nw_text_add(text, "'");
    nw_text_add_bytes(text, name, strcspn(name, ".'"));
    nw_text_add(text, "'");
}

static void add_nodes(const struct nw_launch_job *job, struct nw_text *text)
{
    const struct nw_launch_places *places = &job->places;

    for (int32_t i = 0; i < places->node_count; i++) {
        nw_text_add(text, "    ");
        add_short_name(text, job->mapping->node_name[places->node[i]]);
        nw_text_format(text, ") node=%d count=%d ;;\n", i,
                       nw_launch_places_count(places, i));
    }
    nw_text_format(text,
                   "    *)  echo \"${0##*/}: $here is no node of the mapping\" "
                   ">&2; exit 1 ;;\n"
                   "    esac\n"
                   "    exec torchrun --nnodes=%d --nproc-per-node=$count "
                   "--node-rank=$node \\\n"
                   "        --master-addr=",
                   places->node_count);
    nw_text_add_quoted(text, job->mapping->node_name[places->node[0]]);
    nw_text_add(text,
                " --master-port=${MASTER_PORT:-29500} \\\n"
                "        --no-python \"$0\" \"$@\"\n"
                "fi\n"
                "case $1 in *.py) set -- \"${PYTHON_EXEC:-python3}\" -u \"$@\" "
                ";; esac\n");
}

nw_status nw_launch_torchrun_write(struct nw_launch_job *job)
{
    struct nw_text text = {0};
    const char *path;
    nw_status status = nw_launch_places_sort_nodes(&job->places);

    if (status)
        return status;
    nw_text_add(&text, start);
    add_nodes(job, &text);
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
