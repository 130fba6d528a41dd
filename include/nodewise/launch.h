/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the ranks of a mapping. The first part makes the files and the command
 * line for a launcher. The second part runs inside each rank (`nodewise exec`):
 * it finds the rank number, binds the rank to its cores, and selects its GPUs.
 * All calls are local.
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

/* Whether the command line starts `nodewise exec`, which then starts the
 * program. */
enum nw_launch_exec {
    NW_LAUNCH_EXEC_AUTO, /* start it only if the launcher cannot do
                            everything */
    NW_LAUNCH_EXEC_ALWAYS,
    NW_LAUNCH_EXEC_NEVER,
};

/* The GPUs that CUDA_VISIBLE_DEVICES shows to a rank. */
enum nw_gpu_visibility {
    NW_GPU_ONE,      /* only its own GPUs, as device 0, 1, ... */
    NW_GPU_PERMUTED, /* all GPUs of its node; its own GPU is device number
                        (local rank) */
};

/* Binding of a rank's memory to the NUMA nodes of its cores. */
enum nw_memory_binding {
    NW_MEMORY_BIND,   /* only on the NUMA nodes of the rank's cores
                         (MPOL_BIND) */
    NW_MEMORY_PREFER, /* first on the NUMA nodes of the rank's cores, then on
                         others (MPOL_PREFERRED_MANY, MPOL_PREFERRED) */
    NW_MEMORY_LEAVE,  /* unchanged */
};

/* Options of nw_launch_new. Initialise with NW_LAUNCH_OPTIONS_INIT. */
struct nw_launch_options {
    size_t size;          /* sizeof of this struct */
    const char *launcher; /* a name that nw_launch_launcher gives */
    const char *prefix;   /* beginning of the file names; NULL: "nodewise" */
    enum nw_launch_exec exec;
    enum nw_gpu_visibility visibility;
    /* Arguments of `nodewise exec`: its program (NULL: "nodewise"), the mapping
     * file, and the topology source if it helps to name GPUs. */
    const char *exec_path, *mapping_path, *topology_source;
    const char *const *program; /* the user's command; NULL: "PROGRAM" */
    size_t program_words;
    enum nw_memory_binding memory; /* passed to `nodewise exec` */
    const char *srun_mpi; /* value of srun's --mpi; NULL: Slurm's default */
    bool
        place_only; /* place the ranks on hosts; bind nothing, select no GPUs */
    /* Give each host one block of consecutive ranks. For this, ranks exchange
     * their nodes, cores, GPUs and NICs. */
    bool consecutive;
};
#define NW_LAUNCH_OPTIONS_INIT                                                 \
    {                                                                          \
        .size = sizeof(struct nw_launch_options)                               \
    }

/* A file that a launcher needs. */
struct nw_launch_file {
    char *path, *text;
    bool is_program; /* a script; it is written as an executable file */
};

/* The files and the command line for a launcher. Made by nw_launch_new, freed
 * by nw_launch_free. */
typedef struct nw_launch {
    const char *launcher; /* static */
    size_t file_count;
    struct nw_launch_file *file;
    size_t word_count;
    char **word; /* the command line */
    bool uses_exec;
    char *note; /* lines for the user, or NULL */
    size_t variable_count;
    char **variable; /* environment of the command: "NAME=VALUE" */
} nw_launch;

/* Sets *name and *summary to the name and the one-sentence summary of the
 * launcher with this index, which starts at 0. Returns false if the index is
 * too large. The strings are static. */
NW_API bool nw_launch_launcher(size_t index, const char **name,
                               const char **summary);

/* Makes the files and the command line for a mapping, whose node indexes must
 * be those of the topology. Writes nothing. The caller frees *out with
 * nw_launch_free. NW_EINVAL: the launcher is unknown, or it cannot place the
 * ranks without `nodewise exec` and exec is forbidden. NW_EFORMAT: the mapping
 * has open fields. NW_EUNSUPPORTED: the launcher cannot express this mapping,
 * for example uneven nodes in a Cray rank order. */
NW_API NW_MUST_CHECK nw_status
nw_launch_new(const nw_topology *topology, const nw_mapping *mapping,
              const struct nw_launch_options *options, nw_launch **out);
NW_API void nw_launch_free(nw_launch *launch); /* NULL is fine */
/* Writes all files, each one atomically. NW_EIO: a file could not be written.
 */
NW_API NW_MUST_CHECK nw_status nw_launch_write(const nw_launch *launch);

/* Reads the placement of ranks from a launcher's file: a rankfile of Open MPI,
 * or a list of hosts in the order of the ranks with lines "HOST", "HOST:RANKS"
 * or "HOST slots=RANKS". A rankfile leaves the GPUs of the mapping open; a list
 * of hosts leaves the cores open too. A file in the mapping format is read as
 * by nw_mapping_read. The caller frees *out with nw_mapping_free. NW_EFORMAT:
 * the sentence names file and line. */
NW_API NW_MUST_CHECK nw_status nw_launch_placement_read(
    const char *path, const nw_topology *topology, nw_mapping **out);

/* --- inside a rank --- */

struct nw_launch_rank {
    int32_t rank;
    int32_t size;         /* of the job; -1: the launcher does not say */
    const char *variable; /* variable that holds the rank; static */
};
/* Reads the rank of this process from its launcher's environment variables. If
 * a launcher was started inside another, the inner launcher counts. NW_ENODEV:
 * no launcher has set a variable. NW_EINVAL: the variable does not hold a rank.
 */
NW_API NW_MUST_CHECK nw_status nw_launch_find_rank(struct nw_launch_rank *out);

/* The number of lower ranks that the mapping places on the node of `rank`. */
NW_API int32_t nw_launch_local_rank(const nw_mapping *mapping, int32_t rank);
/* True if the mapping gives the rank a GPU of another node. A launcher cannot
 * provide such a GPU. */
NW_API bool nw_launch_has_far_gpu(const nw_mapping *mapping, int32_t rank);

/* Reads the topology of this node with all cores that this process could use,
 * also those outside its current binding; mappings count these cores. The
 * caller frees *out with nw_topology_free. */
NW_API NW_MUST_CHECK nw_status
nw_launch_machine(const struct nw_topology_options *options, nw_topology **out);

/* The node, cores, GPUs and NIC of one rank: entry `index` of `mapping`, which
 * may lack the other ranks. `rank_count` is that of the job. */
struct nw_launch_place {
    nw_mapping *mapping; /* freed with nw_mapping_free */
    int32_t index, rank_count;
};
/* Reads from a mapping file the node, cores, GPUs and NIC of one rank. A file
 * of up to 64 KiB, or any file if `whole` is true, is read and checked as by
 * nw_mapping_read. In a larger file only the head and the rank's line are
 * checked; if that fails, the whole file is read. `index` is -1 if the mapping
 * does not have this rank. NW_EFORMAT and NW_EIO: the sentence names file and
 * line. */
NW_API NW_MUST_CHECK nw_status nw_launch_place_read(
    const char *path, int32_t rank, bool whole, struct nw_launch_place *out);

/* Binds the calling thread to the rank's cores. The CPU numbers come from the
 * kernel's files. They come from hwloc if these files do not suffice, or if
 * HWLOC_XMLFILE, HWLOC_SYNTHETIC or HWLOC_FSROOT is set. NW_ENODEV: a core does
 * not exist here or may not be used; the binding is then unchanged. */
NW_API NW_MUST_CHECK nw_status nw_launch_bind_cores(const nw_mapping *mapping,
                                                    int32_t rank,
                                                    enum nw_elements elements);
/* Checks the binding against the limits of the process that started this one,
 * which is the nearest ancestor in another process group. NW_ENODEV: the
 * calling thread is bound to a CPU that this ancestor may not use, for example
 * because of taskset(1) or a batch system. */
NW_API NW_MUST_CHECK nw_status nw_launch_check_cores(void);
/* Binds the memory of the calling thread, and of a program that it executes, to
 * the NUMA nodes of its CPUs. NW_EUNSUPPORTED: there are several NUMA nodes and
 * the kernel refuses. */
NW_API NW_MUST_CHECK nw_status
nw_launch_bind_memory(enum nw_memory_binding how);

/* Binds the calling thread to the rank's cores with hwloc's CPU numbers.
 * `machine` comes from nw_launch_machine. NW_ENODEV: a core does not exist here
 * or may not be used; the binding is then unchanged. */
NW_API NW_MUST_CHECK nw_status nw_launch_bind(const nw_topology *machine,
                                              const nw_mapping *mapping,
                                              int32_t rank);

/* The value of CUDA_VISIBLE_DEVICES for a rank. The value has UUIDs if the
 * topology knows all of them, and otherwise indexes in PCI bus order. It is ""
 * for a rank without a GPU if other ranks have one, and NULL if the mapping has
 * no GPUs. `node` is the rank's node in `topology`, or -1 if the topology does
 * not describe it. With -1, the GPU drivers give the number of GPUs. NW_ENODEV:
 * that number is unknown and NW_GPU_PERMUTED needs it. The caller frees *out
 * with free(). */
NW_API NW_MUST_CHECK nw_status nw_launch_gpus(
    const nw_topology *topology, int32_t node, const nw_mapping *mapping,
    int32_t rank, enum nw_gpu_visibility visibility, char **out);
/* The name of the variable that already limits the GPUs of this process, for
 * example because a batch system set it: the first of CUDA_VISIBLE_DEVICES,
 * ROCR_VISIBLE_DEVICES and ZE_AFFINITY_MASK that is set, or NULL. Static. */
NW_API const char *nw_launch_granted(void);
/* Like nw_launch_gpus, but selects from the list in the variable that
 * nw_launch_granted names, if one is set. If the list contains all GPUs that
 * the mapping uses on this node, by number or UUID, the mapping's numbers are
 * those of the node. Otherwise they are positions in the list. NW_ENODEV: the
 * list is too short. `mapping` must have all ranks of the node. */
NW_API NW_MUST_CHECK nw_status nw_launch_granted_gpus(
    const nw_topology *topology, int32_t node, const nw_mapping *mapping,
    int32_t rank, enum nw_gpu_visibility visibility, char **out);
/* Sets the variables with which CUDA, ROCm and oneAPI select GPUs, and removes
 * GPU_DEVICE_ORDINAL, which would select again. `gpus` is a list from
 * nw_launch_gpus. Changes the environment by setenv(3): call it while
 * no other thread runs. NW_ENOMEM: out of memory.
 *
 * - CUDA: CUDA_DEVICE_ORDER and CUDA_VISIBLE_DEVICES
 * - ROCm: ROCR_VISIBLE_DEVICES, and HIP_VISIBLE_DEVICES, which counts the GPUs
 *   that remain visible
 * - oneAPI: ZE_AFFINITY_MASK, if the list has numbers */
NW_API NW_MUST_CHECK nw_status nw_launch_choose_gpus(const char *gpus);

/* The name of the NIC that the mapping gives the rank: from the topology if
 * `node` is not -1 and the topology has the name, and otherwise from the
 * kernel. *out is NULL if the mapping gives no NIC. NW_ENODEV: the NIC does not
 * exist. The caller frees *out with free(). */
NW_API NW_MUST_CHECK nw_status nw_launch_nic(const nw_topology *topology,
                                             int32_t node,
                                             const nw_mapping *mapping,
                                             int32_t rank, char **out);
/* Sets the variables with which UCX, libfabric, NCCL, Open MPI, MVAPICH and
 * Gloo select a NIC, if they have a variable for this kind of NIC. Changes the
 * environment by setenv(3): call it while no other thread runs. NW_ENOMEM: out
 * of memory. */
NW_API NW_MUST_CHECK nw_status nw_launch_choose_nic(const char *name);

#ifdef __cplusplus
}
#endif
#endif
