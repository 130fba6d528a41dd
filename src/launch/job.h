/* SPDX-License-Identifier: BSD-3-Clause */
/* The job that a launcher starts, and the functions by which a launcher's
 * writer adds words, variables and files to it. */
#ifndef NW_LAUNCH_JOB_H
#define NW_LAUNCH_JOB_H

#include <nodewise/launch.h>

#include "base/text.h"

/* The nodes that have ranks, in the order of the topology, and the ranks of
 * each node in ascending order: those of node[i] are rank[first[i]] to
 * rank[first[i + 1] - 1]. A writer may sort nodes or ranks differently for its
 * launcher. */
struct nw_launch_node_ranks {
    int32_t node_count;
    int32_t *node;
    int32_t *first; /* [node_count + 1] first index in `rank` of each node */
    int32_t *rank;
    int32_t fullest; /* index in `node` of a node with the most ranks */
};

/* The job that a writer makes from a mapping for one launcher. */
struct nw_launch_job {
    const nw_topology *topology;
    const nw_mapping *mapping;
    const struct nw_launch_options *options;
    nw_launch *launch;   /* the output: files and command line */
    struct nw_text note; /* remarks for the user; become launch->note */
    struct nw_launch_node_ranks places;
    bool exec;                /* the command contains `nodewise exec` */
    bool binds;               /* the launcher itself binds the ranks */
    bool sets_threads;        /* variables for OpenMP were written */
    bool wrapper;             /* a generated shell script binds the ranks */
    bool has_gpus;            /* some rank has a GPU on its own node */
    bool chooses_gpus;        /* the launcher itself gives each rank its GPUs */
    const char *mapping_path; /* mapping file for `nodewise exec`; borrowed */
    size_t word_capacity;     /* allocated length of launch->word */
    size_t variable_capacity;
};

/* --- job.c --- */

/* Adds a word to the command line. */
NW_MUST_CHECK nw_status nw_launch_word(struct nw_launch_job *job,
                                       const char *format, ...) NW_PRINTF(2, 3);
/* Adds several words unchanged; `words` ends with NULL. */
NW_MUST_CHECK nw_status nw_launch_words(struct nw_launch_job *job,
                                        const char *const *words);
/* Adds an environment variable, "NAME=VALUE", for the launcher. */
NW_MUST_CHECK nw_status nw_launch_variable(struct nw_launch_job *job,
                                           const char *format, ...)
    NW_PRINTF(2, 3);
/* Adds a file PREFIX.SUFFIX with the content `text`, which it takes over. *path
 * is borrowed. */
NW_MUST_CHECK nw_status nw_launch_add_file(struct nw_launch_job *job,
                                           const char *suffix,
                                           struct nw_text *text,
                                           const char **path);
/* Returns the logical number of an element's core within its node, as Open MPI
 * counts cores. Sets *package to the core's package, or to -1 if the core is in
 * no package. */
int32_t nw_launch_core_number(const nw_topology *topology, int32_t element,
                              int32_t *package);
const char *nw_launch_host(const struct nw_launch_job *job, int32_t rank);
/* Returns the topology's element for core number `core` of the rank's node. */
int32_t nw_launch_element(const struct nw_launch_job *job, int32_t rank,
                          int32_t core);

/* --- node_ranks.c and lists.c: ranks of each node, and whether nodes are alike
 * --- */

NW_MUST_CHECK nw_status nw_launch_node_ranks_init(
    struct nw_launch_node_ranks *places, const nw_mapping *mapping);
void nw_launch_node_ranks_fini(struct nw_launch_node_ranks *places);
/* The first function sorts the ranks of each node by their first cores; the
 * second sorts the nodes by their lowest ranks. */
void nw_launch_node_ranks_sort_by_core(struct nw_launch_node_ranks *places,
                                       const nw_mapping *mapping);
NW_MUST_CHECK nw_status
nw_launch_node_ranks_sort_nodes(struct nw_launch_node_ranks *places);
int32_t nw_launch_node_ranks_count(const struct nw_launch_node_ranks *places,
                                   int32_t index);
/* Returns the index of a node in places->node, which must be in the order of
 * the topology. */
int32_t nw_launch_node_ranks_find(const struct nw_launch_node_ranks *places,
                                  int32_t node);
/* Returns true if every node has the same number of ranks as the first one; the
 * last node may have fewer. */
bool nw_launch_node_ranks_even(const struct nw_launch_node_ranks *places);

/* nw_launch_same_cpus returns true if two ranks have the same hardware threads.
 * nw_launch_add_cpus appends the operating system's numbers of a rank's
 * hardware threads, separated by `joint`. If a number is unknown, it appends
 * nothing and returns false. */
bool nw_launch_same_cpus(const struct nw_launch_job *job, int32_t a, int32_t b);
bool nw_launch_add_cpus(const struct nw_launch_job *job, int32_t rank,
                        const char *joint, struct nw_text *text);
/* Appends a rank's hardware threads as a hexadecimal mask without "0x". If a
 * number is unknown, appends nothing and returns false. */
bool nw_launch_add_mask(const struct nw_launch_job *job, int32_t rank,
                        struct nw_text *text);
/* nw_launch_single_cpus returns true if every rank has exactly one hardware
 * thread. nw_launch_cpus_known returns true if the operating system's numbers
 * of all ranks' hardware threads are known. */
bool nw_launch_single_cpus(const struct nw_launch_job *job);
bool nw_launch_cpus_known(const struct nw_launch_job *job);
/* These functions return true if, for every l, local rank l has the same
 * hardware threads (or GPUs) on every node. */
bool nw_launch_alike(const struct nw_launch_job *job);
bool nw_launch_gpus_alike(const struct nw_launch_job *job);
/* These functions append a list for the local ranks of the node with the most
 * ranks. `joint` separates the numbers of one rank, `comma` separates ranks,
 * and `before` precedes each mask. */
void nw_launch_add_cpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
void nw_launch_add_mask_list(const struct nw_launch_job *job,
                             const char *before, struct nw_text *text);
void nw_launch_add_gpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
/* Returns the GPUs of a rank on its own node. Returns an empty list if the
 * mapping gives it a GPU of another node, which no launcher supports. */
struct nw_ints nw_launch_own_gpus(const nw_mapping *mapping, int32_t rank);
bool nw_launch_has_gpus(const nw_mapping *mapping);
bool nw_launch_has_gpu(const nw_mapping *mapping, int32_t rank);

/* --- threads.c: variables for OpenMP, if every rank has several cores --- */

/* Adds the variables as words of the command line. If `option` is not NULL,
 * this word precedes each of them. */
NW_MUST_CHECK nw_status nw_launch_add_thread_words(struct nw_launch_job *job,
                                                   const char *option);
/* Appends the variables to a script, as export lines. */
void nw_launch_add_thread_exports(struct nw_launch_job *job,
                                  struct nw_text *text);
/* Adds the variables to the command's environment, unless they were added by
 * one of the two functions above. */
NW_MUST_CHECK nw_status
nw_launch_add_thread_variables(struct nw_launch_job *job);

/* --- consecutive.c --- */

/* Gives each host a block of consecutive ranks: sorts the hosts by their lowest
 * ranks, and gives rank i the position of the i-th rank in this order. If this
 * changes the mapping, the new one becomes job->mapping and is written to a
 * file. It is also stored in *out, which the caller frees. */
NW_MUST_CHECK nw_status nw_launch_make_consecutive(struct nw_launch_job *job,
                                                   nw_mapping **out);

/* --- files that several launchers use --- */

/* Adds the file PREFIX.hosts, whose line i is the host of rank i. */
NW_MUST_CHECK nw_status nw_launch_add_rank_hosts(struct nw_launch_job *job,
                                                 const char **path);
/* Adds the file PREFIX.SUFFIX with one line for each node of job->places: the
 * host, followed by `between` and the node's number of ranks unless `between`
 * is NULL. */
NW_MUST_CHECK nw_status nw_launch_add_node_hosts(struct nw_launch_job *job,
                                                 const char *suffix,
                                                 const char *between,
                                                 const char **path);
/* Appends the lines that set the shell's variable `rank` by the rules of
 * nw_launch_find_rank. */
void nw_launch_add_rank_search(struct nw_text *text);
/* nw_launch_add_wrapper adds PREFIX.sh, a script that binds a rank and then
 * executes the program. nw_launch_add_rank_cases appends the part of such a
 * script that depends on the rank, for torchrun. */
NW_MUST_CHECK nw_status nw_launch_add_wrapper(struct nw_launch_job *job,
                                              const char **path);
NW_MUST_CHECK nw_status nw_launch_add_rank_cases(struct nw_launch_job *job,
                                                 struct nw_text *text);
/* Adds a script PREFIX.sh that binds a rank, sets the variables of torchrun
 * (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...), and executes the program.
 * The script fails if it runs on another host than the mapping's host for this
 * rank. */
NW_MUST_CHECK nw_status
nw_launch_add_environment_wrapper(struct nw_launch_job *job, const char **path);
/* nw_launch_add_torchrun appends a script that starts torchrun on a node, and
 * that torchrun in turn starts for each process. nw_launch_add_python appends
 * the lines that run a program such as train.py by Python. */
NW_MUST_CHECK nw_status nw_launch_add_torchrun(struct nw_launch_job *job,
                                               bool c10d, struct nw_text *text);
void nw_launch_add_python(struct nw_text *text);
/* Appends the lines of a rankfile for Open MPI. If `flat` is true, cores are
 * numbered within the node, else within the package. */
void nw_launch_add_rank_lines(const struct nw_launch_job *job, bool flat,
                              struct nw_text *text);
/* One rank in a script of nw_launch_add_wrapper. The shell compares the number
 * of the process with `key`. `place` is the index of the rank's node in
 * job->places. */
struct nw_launch_case {
    int32_t key, rank, place;
    enum nw_gpu_visibility visibility;
};
/* nw_launch_add_gpus appends the rank's GPUs as shell variables.
 * nw_launch_add_gpu_choice appends the lines that set the environment from
 * these shell variables. */
NW_MUST_CHECK nw_status nw_launch_add_gpus(const struct nw_launch_job *job,
                                           const struct nw_launch_case *one,
                                           struct nw_text *text);
NW_MUST_CHECK nw_status
nw_launch_add_gpu_choice(const struct nw_launch_job *job, struct nw_text *text);
NW_MUST_CHECK nw_status nw_launch_run_script(struct nw_launch_job *job,
                                             const char *path);
/* Adds PREFIX.slots, the mapping with ranks in the order of job->places, for
 * launchers whose process numbers are not MPI ranks. */
NW_MUST_CHECK nw_status nw_launch_add_slots(struct nw_launch_job *job);
/* Appends the text of PREFIX.slots. */
void nw_launch_put_slots(const nw_mapping *mapping,
                         const struct nw_launch_node_ranks *places,
                         struct nw_text *text);

#endif
