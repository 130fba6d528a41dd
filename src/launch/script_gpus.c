/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the part of a shell script that selects the GPUs of a rank. If the job
 * already has a list of visible GPUs, the script selects from this list, by the
 * rules of granted_gpus.c. The list is known only when the script runs. So the
 * script contains the numbers and UUIDs of the node's GPUs, and which of them
 * the mapping uses. */
#include "launch/gpus.h"
#include "launch/job.h"

#include <stdlib.h>

static const char choose[] =
    "pick() { # the word of the job's list for GPU $1: by name, or by place\n"
    "    place=0\n"
    "    for word in $given; do\n"
    "        case $by$names in name*,\"$1=$word\",*) return 0 ;; esac\n"
    "        [ \"$by$place\" != \"place$1\" ] || return 0\n"
    "        place=$((place + 1))\n"
    "    done\n"
    "    return 1\n"
    "}\n"
    "serves() { # has the list all that the mapping uses here\n"
    "    by=$1\n"
    "    for gpu in $used; do pick \"$gpu\" || return 1; done\n"
    "}\n"
    "choose() { # the list's words for $gpus, in its order\n"
    "    chosen=\n"
    "    for gpu in $gpus; do\n"
    "        before=${names%%=\"$gpu\",*}\n"
    "        ! pick \"${before##*,}\" || chosen=$chosen${chosen:+,}$word\n"
    "    done\n"
    "}\n"
    "arrange() { # all of the list, GPU $1 as device $local\n"
    "    count=0 at=0 all=\n"
    "    for word in $given; do\n"
    "        count=$((count + 1))\n"
    "        case ,$chosen, in *,\"$word\",*) ;; *) chosen=$chosen,$word ;; "
    "esac\n"
    "    done\n"
    "    if pick \"$1\"; then\n"
    "        first=$word\n"
    "        for word in $chosen; do\n"
    "            [ \"$word\" != \"$first\" ] || continue\n"
    "            [ $at -ne $((local % count)) ] || all=$all,$first at=$((at + "
    "1))\n"
    "            all=$all,$word at=$((at + 1))\n"
    "        done\n"
    "        [ $at -eq $count ] || all=$all,$first\n"
    "        chosen=$all\n"
    "    fi\n"
    "    chosen=${chosen#,}\n"
    "}\n"
    "for variable in CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES "
    "ZE_AFFINITY_MASK; do\n"
    "    eval \"given=\\${$variable-} is_given=\\${$variable+yes}\"\n"
    "    [ -z \"$is_given\" ] || break\n"
    "done\n"
    "if [ -n \"$is_given\" ] && [ -n \"${gpus+set}\" ]; then\n"
    "    set -f\n"
    "    IFS=', '\n"
    "    said=$given kept=\n"
    "    for word in $given; do # up to what is no GPU: -1, NoDevFiles\n"
    "        case $word in [0-9]* | GPU-* | MIG-*) kept=$kept,$word ;; *) "
    "break ;; "
    "esac\n"
    "    done\n"
    "    given=${kept#,}\n"
    "    if serves name || serves place; then\n"
    "        choose\n"
    "        [ -z \"${local+set}\" ] || arrange \"$first\"\n"
    "        gpus=$chosen\n"
    "    else\n"
    "        echo \"${0##*/}: rank $rank: $variable=$said does not have GPU "
    "$gpu, which the mapping uses on this node: left as it is\" >&2\n"
    "        unset gpus\n"
    "    fi\n"
    "    unset IFS\n"
    "fi\n"
    "if [ -n \"${gpus+set}\" ]; then\n"
    "    export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=\"$gpus\"\n"
    "    export ROCR_VISIBLE_DEVICES=\"$gpus\"\n"
    "    case $gpus in *[!0-9.,]*) ;; *) export ZE_AFFINITY_MASK=\"$gpus\" ;; "
    "esac\n"
    "    unset HIP_VISIBLE_DEVICES GPU_DEVICE_ORDINAL\n"
    "    count=0 all=\n"
    "    for gpu in $(echo \"$gpus\" | tr , ' '); do\n"
    "        all=$all${all:+,}$count count=$((count + 1))\n"
    "    done\n"
    "    export HIP_VISIBLE_DEVICES=\"$all\"\n"
    "fi\n";

static bool is_used(const struct nw_launch_job *job, int32_t place, int32_t gpu)
{
    const struct nw_launch_node_ranks *places = &job->places;

    for (int32_t i = places->first[place]; i < places->first[place + 1]; i++) {
        struct nw_ints own = nw_launch_own_gpus(job->mapping, places->rank[i]);

        for (size_t g = 0; g < own.count; g++)
            if (own.values[g] == gpu)
                return true;
    }
    return false;
}

/* Appends the names of a node's GPUs in the form NUMBER=NAME, as one word such
 * as ",0=0,0=GPU-a,1=1,1=GPU-b,". */
static nw_status script_gpus_add_names(const struct nw_launch_job *job,
                                       int32_t node, struct nw_text *text)
{
    struct nw_range gpus = nw_topology_node_gpus(job->topology, node);
    struct nw_text names = {0};
    char *word = NULL;
    nw_status status;

    nw_text_add(&names, ",");
    for (int32_t g = 0; g < gpus.count; g++) {
        const char *uuid =
            nw_topology_gpu_info(job->topology, gpus.first + g).uuid;

        nw_text_format(&names, "%d=%d,", g, g);
        if (uuid)
            nw_text_format(&names, "%d=%s,", g, uuid);
    }
    status = nw_text_take(&names, &word);
    if (!status)
        nw_text_add_quoted(text, word);
    free(word);
    return status;
}

/* Appends the line of a node to a shell "case" statement, such as "'n1')
 * names=',0=0,1=1,' used='0 1 ' ;;". */
static nw_status script_gpus_add_node(const struct nw_launch_job *job,
                                      int32_t place, struct nw_text *text)
{
    int32_t node = job->places.node[place];
    struct nw_range gpus = nw_topology_node_gpus(job->topology, node);
    nw_status status;

    nw_text_add_quoted(text, job->mapping->node_name[node]);
    nw_text_add(text, ") names=");
    status = script_gpus_add_names(job, node, text);
    nw_text_add(text, " used='");
    for (int32_t g = 0; g < gpus.count; g++)
        if (is_used(job, place, g))
            nw_text_format(text, "%d ", g);
    nw_text_add(text, "' ;;\n");
    return status;
}

nw_status nw_launch_add_gpu_choice(const struct nw_launch_job *job,
                                   struct nw_text *text)
{
    nw_status status = NW_OK;

    if (!job->has_gpus)
        return NW_OK;
    nw_text_add(text, "case $node in\n");
    for (int32_t i = 0; !status && i < job->places.node_count; i++)
        status = script_gpus_add_node(job, i, text);
    nw_text_add(text, "esac\n");
    nw_text_add(text, choose);
    return status;
}

/* Appends " gpus='0,1'", the GPUs that a rank sees if the job has no list of
 * GPUs. If ranks see all GPUs, also appends " first=1 local=3", the rank's
 * first GPU (-1: none) and its local rank. Appends nothing if job->has_gpus is
 * false. */
nw_status nw_launch_add_gpus(const struct nw_launch_job *job,
                             const struct nw_launch_case *one,
                             struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    const struct nw_launch_node_rank place = {
        job->mapping,
        one->rank,
        {places->rank + places->first[one->place],
         (size_t)nw_launch_node_ranks_count(places, one->place)}};
    struct nw_ints own = nw_launch_own_gpus(job->mapping, one->rank);
    char *gpus = NULL;
    nw_status status;

    if (!job->has_gpus)
        return NW_OK;
    status =
        nw_launch_node_rank_gpus(job->topology, job->mapping->node[one->rank],
                                 &place, one->visibility, &gpus);
    if (!status) {
        nw_text_add(text, " gpus=");
        nw_text_add_quoted(text, gpus);
        if (one->visibility == NW_GPU_PERMUTED)
            nw_text_format(text, " first=%d local=%d",
                           own.count ? own.values[0] : -1,
                           nw_launch_node_rank_index(&place));
    }
    free(gpus);
    return status;
}
