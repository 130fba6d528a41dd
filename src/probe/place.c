/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a rank's host name, its cores, the core it is bound to, and its GPU. */
#include "probe/job.h"

#include "base/cpus.h"
#include "base/slurm_node.h"

#include <nodewise/launch.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the core that this process is bound to; -1 if it may use several
 * cores, or if no core of the machine is known to be its own. */
static int32_t find_core(const nw_topology *machine, const unsigned long *mine)
{
    int32_t found = -1;

    for (int32_t e = 0; e < nw_topology_element_count(machine); e++) {
        const int32_t *cpus;
        size_t count = nw_topology_element_cpus(machine, e, &cpus);
        bool here = false;

        for (size_t i = 0; i < count; i++)
            here |= nw_cpus_has(mine, NW_CPU_WORDS, cpus[i]);
        if (here && found >= 0)
            return -1;
        if (here)
            found = e;
    }
    return found;
}

static void describe_machine(struct nw_probe_place *place)
{
    unsigned long mine[NW_CPU_WORDS];
    nw_topology *machine;

    (void)nw_cpus_read(0, mine);
    if (!nw_launch_machine(NULL, &machine)) {
        place->cores = nw_topology_element_count(machine);
        place->packages = nw_topology_node_package_count(machine, 0);
        place->core = find_core(machine, mine);
        if (place->core >= 0)
            place->package = nw_topology_element_package(machine, place->core);
        nw_topology_free(machine);
    }
    if (place->packages < 1 || place->packages > place->cores)
        place->packages = 1;
}

/* Returns the launcher's number of this rank among the ranks of its host; 0 if
 * the launcher does not give it. */
static int32_t local_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID", "SLURM_LOCALID",
                                        "PMI_LOCAL_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return (int32_t)strtol(getenv(names[i]), NULL, 10);
    return 0;
}

/* Opens the GPU and allocates its buffers. Messages are copied through host
 * memory if the MPI does not say that it accepts GPU memory. */
static void probe_place_open_gpu(struct nw_probe_self *self,
                                 struct nw_probe_place *place)
{
    const struct nw_gpu *gpu = &nw_gpu_cuda;
    size_t bytes = NW_PROBE_WINDOW * NW_PROBE_LARGEST;
    int (*takes_gpu)(void) =
        (int (*)(void))dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    void *memory = NULL, *stage = NULL;
    int32_t count;

    if (gpu->open(&count) || gpu->select(local_rank() % count) ||
        gpu->alloc(bytes, &memory))
        return;
    self->gpu = gpu;
    self->buffer[NW_PROBE_GPU] = memory;
    self->staged = !takes_gpu || takes_gpu() != 1;
    if (self->staged) {
        /* pinned memory, as an efficient MPI uses it for such copies, since
         * copies of pageable memory are slower */
        if (gpu->alloc_pinned(bytes, &stage))
            return;
        self->stage = memset(stage, 1, bytes);
    }
    place->gpus = count;
    place->staged = self->staged;
}

/* Sets the name that mappings must use for this host: Slurm's name of the node,
 * else the host name. */
static void probe_place_find_name(struct nw_probe_place *place)
{
    gethostname(place->name, sizeof place->name - 1);
    (void)nw_slurm_node(place->name, sizeof place->name);
    if (!place->name[0])
        strcpy(place->name, "unnamed");
}

void nw_probe_find_place(struct nw_probe_self *self, bool use_gpu,
                         struct nw_probe_place *place)
{
    *place = (struct nw_probe_place){
        .cores = 1, .packages = 1, .core = -1, .package = -1};
    probe_place_find_name(place);
    describe_machine(place);
    if (use_gpu)
        probe_place_open_gpu(self, place);
}
