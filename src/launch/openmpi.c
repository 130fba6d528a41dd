/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Open MPI with a rankfile. Version 4 reads `rank N=HOST
 * slot=SOCKET:CORES` with hwloc's logical numbers of sockets, and of cores
 * inside the socket (tested with 4.1.4). Version 5 would bind such a rank to
 * the first socket only, so its rankfile has the logical numbers of cores
 * inside the node (tested with 5.0.7 and 6.0.0rc2). */
#include "launch/launcher.h"
#include "topology/topology.h"

#include <string.h>

/* If the element is in no core, as in a topology without cores, the number of
 * the element within the node is returned instead. */
int32_t nw_launch_core_number(const nw_topology *topology, int32_t element,
                              int32_t *package)
{
    struct nw_end end = nw_topology_element_end(topology, element);
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t v = end.vertex;

    *package = nw_topology_element_package(topology, element);
    while (v > 0 && type->kind[v] != NW_VERTEX_CORE)
        v = type->parent[v];
    if (v <= 0)
        return element - nw_topology_node_elements(topology, end.node).first;
    return type->index[v];
}

static int32_t first_core(const struct nw_launch_job *job, int32_t node,
                          int32_t package)
{
    struct nw_range elements = nw_topology_node_elements(job->topology, node);
    int32_t owner;

    for (int32_t e = elements.first; package >= 0; e++) {
        int32_t core = nw_launch_core_number(job->topology, e, &owner);

        if (owner == package)
            return core;
    }
    return 0;
}

/* Appends a rank's cores such as "1:0-3,0:2": each range of cores with its
 * socket, if the cores are in a socket, as Open MPI 4 requires. With `flat`,
 * cores are numbered inside the node without a socket, as Open MPI 5
 * requires. */
static void add_slots(const struct nw_launch_job *job, int32_t rank, bool flat,
                      struct nw_text *text)
{
    struct nw_ints cores = nw_mapping_cores(job->mapping, rank);
    int32_t node = job->mapping->node[rank];
    const char *comma = "";

    for (size_t i = 0; i < cores.count;) {
        int32_t package, next, last,
            core = nw_launch_core_number(
                job->topology, nw_launch_element(job, rank, cores.values[i]),
                &package);
        int32_t base = flat ? 0 : first_core(job, node, package);

        for (last = core; ++i < cores.count; last++)
            if (nw_launch_core_number(
                    job->topology,
                    nw_launch_element(job, rank, cores.values[i]),
                    &next) != last + 1 ||
                next != package)
                break;
        nw_text_add(text, comma);
        if (package >= 0 && !flat)
            nw_text_format(text, "%d:", package);
        nw_text_format(text, last > core ? "%d-%d" : "%d", core - base,
                       last - base);
        comma = ",";
    }
}

void nw_launch_add_rank_lines(const struct nw_launch_job *job, bool flat,
                              struct nw_text *text)
{
    for (int32_t rank = 0; rank < job->mapping->rank_count; rank++) {
        nw_text_format(text, "rank %d=%s slot=", rank,
                       nw_launch_host(job, rank));
        add_slots(job, rank, flat, text);
        nw_text_add(text, "\n");
    }
}

static nw_status add_rankfile(struct nw_launch_job *job, bool flat,
                              const char **path)
{
    struct nw_text text = {0};

    nw_launch_add_rank_lines(job, flat, &text);
    return nw_launch_add_file(job, "rankfile", &text, path);
}

const char *nw_launch_openmpi_lacks(const struct nw_launch_job *job)
{
    return job->topology->elements == NW_ELEMENTS_PU
               ? "a rankfile names whole cores, the mapping hardware threads"
               : NULL;
}

/* Places ranks by the sequential mapper, without binding them: rank i runs on
 * the host of line i. */
static nw_status place_only(struct nw_launch_job *job)
{
    const char *hosts;
    nw_status status = nw_launch_add_rank_hosts(job, &hosts);

    return status ? status
                  : nw_launch_words(
                        job, (const char *[]){"mpirun", "--hostfile", hosts,
                                              "--map-by", "seq", "--bind-to",
                                              "none", NULL});
}

nw_status nw_launch_openmpi4_write(struct nw_launch_job *job)
{
    const char *path = NULL;
    nw_status status = job->options->place_only
                           ? place_only(job)
                           : add_rankfile(job, false, &path);

    if (!status && path)
        status =
            nw_launch_words(job, (const char *[]){"mpirun", "-rf", path, NULL});
    return status ? status : nw_launch_add_thread_words(job, "-x");
}

/* Writes the rankfile and the command for Open MPI 5, which reads its hosts
 * from a separate hostfile. It rejects ranks that share cores, unless
 * "overload-allowed" is given. The word "core" in the command does not change
 * the binding; it is there because, without it, 5.0.7 misreads a path that
 * contains "pe", such as openmpi/, as the qualifier PE= and fails. */
static nw_status write_rankfile5(struct nw_launch_job *job)
{
    const char *rankfile, *hostfile;
    nw_status status = add_rankfile(job, true, &rankfile);

    if (!status)
        status =
            nw_launch_add_node_hosts(job, "hostfile", " slots=", &hostfile);
    if (!status)
        status = nw_launch_word(job, "mpirun");
    if (!status)
        status = nw_launch_word(job, "--hostfile");
    if (!status)
        status = nw_launch_word(job, "%s", hostfile);
    if (!status)
        status = nw_launch_word(job, "--map-by");
    if (!status)
        status = nw_launch_word(job, "rankfile:file=%s", rankfile);
    if (!status)
        status = nw_launch_word(job, "--bind-to");
    if (!status)
        status = nw_launch_word(job, "core:overload-allowed");
    if (!status && strpbrk(rankfile, "-,:"))
        nw_text_format(&job->note,
                       "Open MPI 5.0 refuses a rankfile with a '%c' in its "
                       "path: use another name for '%s'\n",
                       *strpbrk(rankfile, "-,:"), rankfile);
    return status;
}

nw_status nw_launch_openmpi5_write(struct nw_launch_job *job)
{
    nw_status status =
        job->options->place_only ? place_only(job) : write_rankfile5(job);

    return status ? status : nw_launch_add_thread_words(job, "-x");
}
