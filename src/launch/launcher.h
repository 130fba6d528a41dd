/* SPDX-License-Identifier: BSD-3-Clause */
/* Description of a launcher, one row of a table. A new launcher needs a file
 * with a writer, and a row in launch.c. */
#ifndef NW_LAUNCH_LAUNCHER_H
#define NW_LAUNCH_LAUNCHER_H

#include <nodewise/launch.h>

#include "base/text.h"

/* The nodes in use, in the order of the topology, and the ranks of each:
 * node[i] has rank[first[i]] .. up to first[i + 1], ascending. A writer may
 * put nodes or ranks into the order in which its launcher counts. */
struct nw_launch_node_ranks {
    int32_t node_count;
    int32_t *node;
    int32_t *first; /* [node_count + 1] */
    int32_t *rank;
    int32_t fullest; /* index of a node with the most ranks */
};

/* A mapping being written for a launcher. */
struct nw_launch_job {
    const nw_topology *topology;
    const nw_mapping *mapping;
    const struct nw_launch_options *options;
    nw_launch *launch;   /* what is being made */
    struct nw_text note; /* becomes launch->note */
    struct nw_launch_node_ranks places;
    bool exec;                /* nodewise exec stands in front */
    bool binds;               /* the launcher itself binds the ranks */
    bool sets_threads;        /* OpenMP's variables are written */
    bool wrapper;             /* a shell script does instead */
    bool has_gpus;            /* some rank has one of its own node */
    bool chooses_gpus;        /* the launcher itself does */
    const char *mapping_path; /* for nodewise exec; borrowed */
    size_t word_capacity;     /* of launch->word */
    size_t variable_capacity;
};

struct nw_launcher {
    const char *name, *summary;
    /* Why this launcher cannot bind the ranks by itself, NULL where it can.
     * Static. */
    const char *(*lacks)(const struct nw_launch_job *job);
    /* The same of GPUs; NULL for a launcher that knows of none. */
    const char *(*lacks_gpus)(const struct nw_launch_job *job);
    /* Adds the files and the words before the program. */
    nw_status (*write)(struct nw_launch_job *job);
    /* Without nodewise exec a script of ours can do what is lacking. */
    bool may_wrap;
};

/* --- for the writers --- */

/* A word of the command line. */
NW_MUST_CHECK nw_status nw_launch_word(struct nw_launch_job *job,
                                       const char *format, ...) NW_PRINTF(2, 3);
/* Several words as they are, NULL at the end. */
NW_MUST_CHECK nw_status nw_launch_words(struct nw_launch_job *job,
                                        const char *const *words);
/* A variable, "NAME=VALUE", for the launcher. */
NW_MUST_CHECK nw_status nw_launch_variable(struct nw_launch_job *job,
                                           const char *format, ...)
    NW_PRINTF(2, 3);
/* A file PREFIX.SUFFIX; takes the text. *path is borrowed. */
NW_MUST_CHECK nw_status nw_launch_add_file(struct nw_launch_job *job,
                                           const char *suffix,
                                           struct nw_text *text,
                                           const char **path);
const char *nw_launch_host(const struct nw_launch_job *job, int32_t rank);
/* The element of core `core` of the rank's node. */
int32_t nw_launch_element(const struct nw_launch_job *job, int32_t rank,
                          int32_t core);

/* --- node_ranks.c: nodes and their ranks, and how alike they are --- */

NW_MUST_CHECK nw_status nw_launch_node_ranks_init(
    struct nw_launch_node_ranks *places, const nw_mapping *mapping);
void nw_launch_node_ranks_fini(struct nw_launch_node_ranks *places);
/* Ranks of a node in the order of their first cores; nodes in the order of
 * their lowest ranks. */
void nw_launch_node_ranks_sort_by_core(struct nw_launch_node_ranks *places,
                                       const nw_mapping *mapping);
NW_MUST_CHECK nw_status
nw_launch_node_ranks_sort_nodes(struct nw_launch_node_ranks *places);
int32_t nw_launch_node_ranks_count(const struct nw_launch_node_ranks *places,
                                   int32_t index);
/* The index of a node in use, while nodes stand in the topology's order. */
int32_t nw_launch_node_ranks_find(const struct nw_launch_node_ranks *places,
                                  int32_t node);
/* Every node has as many ranks as the first, the last may have fewer. */
bool nw_launch_node_ranks_even(const struct nw_launch_node_ranks *places);

/* The operating system's numbers of a rank's hardware threads, joined; false,
 * with nothing added, if a number is unknown. */
bool nw_launch_same_cpus(const struct nw_launch_job *job, int32_t a, int32_t b);
bool nw_launch_add_cpus(const struct nw_launch_job *job, int32_t rank,
                        const char *joint, struct nw_text *text);
/* The same as a hexadecimal mask without 0x. */
bool nw_launch_add_mask(const struct nw_launch_job *job, int32_t rank,
                        struct nw_text *text);
/* Whether the number of hardware threads is one for every rank. */
bool nw_launch_single_cpus(const struct nw_launch_job *job);
bool nw_launch_cpus_known(const struct nw_launch_job *job);
/* Local rank l has the same hardware threads (GPUs) on every node. */
bool nw_launch_alike(const struct nw_launch_job *job);
bool nw_launch_gpus_alike(const struct nw_launch_job *job);
/* A list over the local ranks of the fullest node: numbers joined by `joint`,
 * ranks by `comma`; the second is of masks, `before` in front of each. */
void nw_launch_add_cpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
void nw_launch_add_mask_list(const struct nw_launch_job *job,
                             const char *before, struct nw_text *text);
void nw_launch_add_gpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
/* The GPUs of its own node that a rank has: none where the mapping gives it
 * one of another node, which nothing that starts a program can give. */
struct nw_ints nw_launch_own_gpus(const nw_mapping *mapping, int32_t rank);
bool nw_launch_has_gpus(const nw_mapping *mapping);
bool nw_launch_has_gpu(const nw_mapping *mapping, int32_t rank);

/* --- threads.c: OpenMP's variables, if every rank has several cores --- */

/* As words of the command, `option` (may be NULL) in front of each. */
NW_MUST_CHECK nw_status nw_launch_add_thread_words(struct nw_launch_job *job,
                                                   const char *option);
/* As lines of a script. */
void nw_launch_add_thread_exports(struct nw_launch_job *job,
                                  struct nw_text *text);
/* In the environment of the command, if neither of the above was called. */
NW_MUST_CHECK nw_status
nw_launch_add_thread_variables(struct nw_launch_job *job);

/* --- consecutive.c --- */

/* Gives each host one block of ranks: rank i gets the place of the i-th rank in
 * the order of hosts, hosts in the order of their lowest ranks. If this changes
 * the mapping, it becomes the job's, is in a file, and is also in *out, which
 * the caller frees. */
NW_MUST_CHECK nw_status nw_launch_make_consecutive(struct nw_launch_job *job,
                                                   nw_mapping **out);

/* --- files that several launchers want --- */

/* PREFIX.hosts: the host of rank i on line i. */
NW_MUST_CHECK nw_status nw_launch_add_rank_hosts(struct nw_launch_job *job,
                                                 const char **path);
/* PREFIX.SUFFIX: the nodes in use, in the order of the places; with `between`
 * that and the number of ranks behind each. */
NW_MUST_CHECK nw_status nw_launch_add_node_hosts(struct nw_launch_job *job,
                                                 const char *suffix,
                                                 const char *between,
                                                 const char **path);
/* PREFIX.sh, which binds a rank and becomes the program; and the part of it
 * behind torchrun's numbering. */
NW_MUST_CHECK nw_status nw_launch_add_wrapper(struct nw_launch_job *job,
                                              const char **path);
NW_MUST_CHECK nw_status nw_launch_add_rank_cases(struct nw_launch_job *job,
                                                 struct nw_text *text);
/* PREFIX.sh as nw_launch_add_wrapper makes it, which also sets the variables of
 * torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...) and refuses to run
 * on another host than the mapping's. */
NW_MUST_CHECK nw_status
nw_launch_add_environment_wrapper(struct nw_launch_job *job, const char **path);
/* The script that starts torchrun on a node and is started by it for each
 * process. A script such as train.py runs by Python. */
NW_MUST_CHECK nw_status nw_launch_add_torchrun(struct nw_launch_job *job,
                                               bool c10d, struct nw_text *text);
void nw_launch_add_python(struct nw_text *text);
/* The lines of Open MPI's rankfile; `flat`: cores are counted inside the
 * node. */
void nw_launch_add_rank_lines(const struct nw_launch_job *job, bool flat,
                              struct nw_text *text);
/* A rank in such a script, known to the shell by `key`; `place` is the index of
 * its node. */
struct nw_launch_case {
    int32_t key, rank, place;
    enum nw_gpu_visibility visibility;
};
/* Its GPUs as the shell's variables; what sets the environment by them. */
NW_MUST_CHECK nw_status nw_launch_add_gpus(const struct nw_launch_job *job,
                                           const struct nw_launch_case *one,
                                           struct nw_text *text);
NW_MUST_CHECK nw_status
nw_launch_add_gpu_choice(const struct nw_launch_job *job, struct nw_text *text);
NW_MUST_CHECK nw_status nw_launch_run_script(struct nw_launch_job *job,
                                             const char *path);
/* PREFIX.slots, the mapping in the order of the places: for launchers whose
 * process numbers are not yet ranks. */
NW_MUST_CHECK nw_status nw_launch_add_slots(struct nw_launch_job *job);
/* The text of that file. */
void nw_launch_put_slots(const nw_mapping *mapping,
                         const struct nw_launch_node_ranks *places,
                         struct nw_text *text);

/* --- the writers, one file a family --- */

const char *nw_launch_openmpi_lacks(const struct nw_launch_job *job);
nw_status nw_launch_openmpi4_write(struct nw_launch_job *job);
nw_status nw_launch_openmpi5_write(struct nw_launch_job *job);
const char *nw_launch_mpich_lacks(const struct nw_launch_job *job);
nw_status nw_launch_mpich_write(struct nw_launch_job *job);
const char *nw_launch_rankmap_lacks(const struct nw_launch_job *job);
nw_status nw_launch_rankmap_write(struct nw_launch_job *job);
const char *nw_launch_intel_lacks(const struct nw_launch_job *job);
nw_status nw_launch_intel_write(struct nw_launch_job *job);
const char *nw_launch_mvapich_lacks(const struct nw_launch_job *job);
nw_status nw_launch_mvapich_write(struct nw_launch_job *job);
const char *nw_launch_slurm_lacks(const struct nw_launch_job *job);
const char *nw_launch_slurm_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_slurm_write(struct nw_launch_job *job);
nw_status nw_launch_slurm22_write(struct nw_launch_job *job);
const char *nw_launch_cray_lacks(const struct nw_launch_job *job);
nw_status nw_launch_cray_write(struct nw_launch_job *job);
const char *nw_launch_pals_lacks(const struct nw_launch_job *job);
nw_status nw_launch_pals_write(struct nw_launch_job *job);
const char *nw_launch_flux_lacks(const struct nw_launch_job *job);
const char *nw_launch_flux_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_flux_write(struct nw_launch_job *job);
const char *nw_launch_script_lacks(const struct nw_launch_job *job);
const char *nw_launch_script_lacks_gpus(const struct nw_launch_job *job);
nw_status nw_launch_script_write(struct nw_launch_job *job);
nw_status nw_launch_torchrun_write(struct nw_launch_job *job);
nw_status nw_launch_c10d_write(struct nw_launch_job *job);
nw_status nw_launch_megatron_write(struct nw_launch_job *job);
nw_status nw_launch_deepspeed_write(struct nw_launch_job *job);
nw_status nw_launch_environment_write(struct nw_launch_job *job);
nw_status nw_launch_slurm_torch_write(struct nw_launch_job *job);
nw_status nw_launch_mpi_operator_write(struct nw_launch_job *job);
nw_status nw_launch_jobset_write(struct nw_launch_job *job);

#endif
