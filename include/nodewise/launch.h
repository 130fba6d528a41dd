/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a mapping to running ranks: the files and the command line a launcher
 * wants, and what each rank does on arrival (`nodewise exec`): find its
 * number, bind itself to its cores, choose its GPUs.
 */
#ifndef NODEWISE_LAUNCH_H
#define NODEWISE_LAUNCH_H

#include <nodewise/mapping.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `nodewise exec` stands in front of the program. */
enum nw_launch_exec {
    NW_LAUNCH_EXEC_AUTO, /* where the launcher alone cannot do it all */
    NW_LAUNCH_EXEC_ALWAYS,
    NW_LAUNCH_EXEC_NEVER,
};

/* What a rank sees in CUDA_VISIBLE_DEVICES. */
enum nw_gpu_visibility {
    NW_GPU_ONE,      /* its own GPUs only, as device 0, 1, ... */
    NW_GPU_PERMUTED, /* all of its node; its own as device (local rank) */
};

/* What a rank's memory is bound to: the NUMA nodes of its cores. */
enum nw_memory_binding {
    NW_MEMORY_BIND,   /* nowhere else (MPOL_BIND) */
    NW_MEMORY_PREFER, /* there first (MPOL_PREFERRED_MANY, MPOL_PREFERRED) */
    NW_MEMORY_LEAVE,  /* as it is */
};

struct nw_launch_options {
    size_t size;          /* sizeof of this struct */
    const char *launcher; /* a name of nw_launch_launcher */
    const char *prefix;   /* of the files' names; "nodewise" where NULL */
    enum nw_launch_exec exec;
    enum nw_gpu_visibility visibility;
    /* how `nodewise exec` is called: the program ("nodewise" where NULL), the
     * mapping file and, where it helps to name GPUs, the topology source */
    const char *exec_path, *mapping_path, *topology_source;
    const char *const *program; /* the user's command; "./app" where NULL */
    size_t program_words;
    enum nw_memory_binding memory; /* what `nodewise exec` is told */
};
#define NW_LAUNCH_OPTIONS_INIT                                                 \
    {                                                                          \
        .size = sizeof(struct nw_launch_options)                               \
    }

struct nw_launch_file {
    char *path, *text;
    bool is_program; /* a script that is run: written executable */
};

/* What a launcher wants. Owned by the caller of nw_launch_new. */
typedef struct nw_launch {
    const char *launcher; /* static */
    size_t file_count;
    struct nw_launch_file *file;
    size_t word_count;
    char **word; /* the command line */
    bool uses_exec;
    char *note; /* lines a person should read; NULL where there are none */
    size_t variable_count;
    char **variable; /* "NAME=VALUE", to set for the command */
} nw_launch;

/* The launchers: name and one sentence of number 0, 1, ...; false past the
 * last. Static strings. */
NW_API bool nw_launch_launcher(size_t index, const char **name,
                               const char **summary);

/* The files and the command line for a mapping whose node indexes are the
 * topology's. Writes nothing. NW_EINVAL: an unknown launcher, or exec forbidden
 * where the launcher alone cannot place the ranks; NW_EFORMAT: a mapping with
 * open fields; NW_EUNSUPPORTED: a mapping that this launcher cannot express at
 * all, such as uneven nodes for a Cray rank order. */
NW_API NW_MUST_CHECK nw_status
nw_launch_new(const nw_topology *topology, const nw_mapping *mapping,
              const struct nw_launch_options *options, nw_launch **out);
NW_API void nw_launch_free(nw_launch *launch); /* NULL is fine */
/* Writes all its files, atomically each. NW_EIO. */
NW_API NW_MUST_CHECK nw_status nw_launch_write(const nw_launch *launch);

/* --- inside a rank --- */

struct nw_launch_rank {
    int32_t rank;
    int32_t size;         /* of the job, -1 where the launcher does not tell */
    const char *variable; /* where the rank was found; static */
};
/* The rank of this process, by the environment of its launcher; where one was
 * started inside another, the inner one's. NW_ENODEV where no launcher's
 * variable is set, NW_EINVAL where it is no rank. */
NW_API NW_MUST_CHECK nw_status nw_launch_find_rank(struct nw_launch_rank *out);

/* How many lower ranks the mapping puts on the same node. */
NW_API int32_t nw_launch_local_rank(const nw_mapping *mapping, int32_t rank);
/* Whether the mapping gives the rank a GPU of another node, which nothing that
 * starts a program can give it. */
NW_API bool nw_launch_has_far_gpu(const nw_mapping *mapping, int32_t rank);

/* The live topology as a mapping counts it: all cores this process may be
 * given, not only those its launcher has bound it to. The caller frees *out
 * with nw_topology_free. */
NW_API NW_MUST_CHECK nw_status
nw_launch_machine(const struct nw_topology_options *options, nw_topology **out);

/* What one rank must know of a mapping: its own place is that of `index` in
 * `mapping`, which need not hold the others; `rank_count` is that of the job.
 */
struct nw_launch_place {
    nw_mapping *mapping; /* freed with nw_mapping_free */
    int32_t index, rank_count;
};
/* Reads a rank's place. A file of up to 64 KiB, and any with `whole`, is read
 * and checked as by nw_mapping_read; in a larger one the line is looked up, and
 * only the head and that line are checked. `index` is -1 where the mapping has
 * no such rank. NW_EFORMAT and NW_EIO with file and line. */
NW_API NW_MUST_CHECK nw_status nw_launch_place_read(
    const char *path, int32_t rank, bool whole, struct nw_launch_place *out);

/* Binds the calling thread to the rank's cores, whose numbers are found in the
 * kernel's own files, without hwloc (unless HWLOC_XMLFILE, HWLOC_SYNTHETIC or
 * HWLOC_FSROOT say that this machine is another). NW_ENODEV, with the old
 * binding left in place, where a core is not here or may not be used. */
NW_API NW_MUST_CHECK nw_status nw_launch_bind_cores(const nw_mapping *mapping,
                                                    int32_t rank,
                                                    enum nw_elements elements);
/* NW_ENODEV where the CPUs that the calling thread is bound to are not all
 * among those of the process that started it (the first one up that is of
 * another process group): it was started under taskset(1), or by a batch
 * system that limits jobs so. */
NW_API NW_MUST_CHECK nw_status nw_launch_check_cores(void);
/* Binds the memory of the calling thread, and of the program it becomes, to
 * the NUMA nodes of the CPUs it is bound to. NW_EUNSUPPORTED where the kernel
 * refuses and there are several nodes. */
NW_API NW_MUST_CHECK nw_status
nw_launch_bind_memory(enum nw_memory_binding how);

/* As nw_launch_bind_cores, by hwloc's numbers. `machine` comes from
 * nw_launch_machine. NW_ENODEV, with the old binding left in place, where a
 * core is not here or may not be used. */
NW_API NW_MUST_CHECK nw_status nw_launch_bind(const nw_topology *machine,
                                              const nw_mapping *mapping,
                                              int32_t rank);

/* The value of CUDA_VISIBLE_DEVICES for a rank: UUIDs where the topology knows
 * them for all, else indexes in PCI bus order; "" for a rank without GPU among
 * ranks with; NULL where the mapping names no GPU at all. `node` is the rank's
 * node in `topology`, -1 where it is not described: then the GPUs' drivers here
 * are asked how many there are, and NW_GPU_PERMUTED is NW_ENODEV where they
 * know none. The caller frees *out. */
NW_API NW_MUST_CHECK nw_status nw_launch_gpus(
    const nw_topology *topology, int32_t node, const nw_mapping *mapping,
    int32_t rank, enum nw_gpu_visibility visibility, char **out);
/* The name of the variable that already says which GPUs this process may see,
 * as a batch system does: the first of CUDA_VISIBLE_DEVICES,
 * ROCR_VISIBLE_DEVICES and ZE_AFFINITY_MASK that is set; NULL. Static. */
NW_API const char *nw_launch_granted(void);
/* As nw_launch_gpus, in the words and out of the list of that variable where
 * one is set. The mapping's numbers are the node's where the list has all that
 * the mapping uses of the node, by number or UUID, and else count within the
 * list. NW_ENODEV where it is too short. `mapping` has all ranks of the node.
 */
NW_API NW_MUST_CHECK nw_status nw_launch_granted_gpus(
    const nw_topology *topology, int32_t node, const nw_mapping *mapping,
    int32_t rank, enum nw_gpu_visibility visibility, char **out);
/* Sets the variables by which CUDA, ROCm and oneAPI choose GPUs, for a list as
 * nw_launch_gpus gives it: CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES,
 * ROCR_VISIBLE_DEVICES with HIP_VISIBLE_DEVICES counting what that leaves,
 * ZE_AFFINITY_MASK where the list is of numbers. NW_ENOMEM. */
NW_API NW_MUST_CHECK nw_status nw_launch_choose_gpus(const char *gpus);

/* The name of the network card that the mapping gives the rank, from the
 * topology where `node` is not -1 and the name is known there, else from the
 * kernel; NULL where the mapping names none. The caller frees *out. NW_ENODEV
 * where there is no such card. */
NW_API NW_MUST_CHECK nw_status nw_launch_nic(const nw_topology *topology,
                                             int32_t node,
                                             const nw_mapping *mapping,
                                             int32_t rank, char **out);
/* Sets the variables by which UCX, libfabric, NCCL, Open MPI, MVAPICH and Gloo
 * choose a network card, as far as they have one for its kind. NW_ENOMEM. */
NW_API NW_MUST_CHECK nw_status nw_launch_choose_nic(const char *name);

#ifdef __cplusplus
}
#endif
#endif
