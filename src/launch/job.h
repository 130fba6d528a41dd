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

/* The inputs and the results while the files and the command line for one
 * launcher are made from a mapping: nw_launch_new fills in the inputs, the
 * writer of the launcher the results. */
struct nw_launch_job {
    const nw_topology *topology;
    const nw_mapping *mapping;
    const struct nw_launch_options *options;
    nw_launch *launch;   /* the output: files and command line */
    struct nw_text note; /* remarks for the user; become launch->note */
    struct nw_launch_node_ranks places;
    /* true: the command contains `nodewise exec`, which binds the ranks */
    bool exec;
    /* true: the launcher, or a script that its writer adds, binds the ranks */
    bool binds;
    /* true: the writer has added the variables for OpenMP, if any */
    bool sets_threads;
    /* true: the command contains a script of nw_launch_add_wrapper, which binds
     * the ranks */
    bool wrapper;
    /* true: some rank has a GPU on its own node, and ranks are not only placed
     * on hosts (place_only) */
    bool has_gpus;
    /* true: the launcher, or a script that its writer adds, gives each rank its
     * GPUs */
    bool chooses_gpus;
    /* mapping file for `nodewise exec`, borrowed; NULL: nodewise.mapping */
    const char *mapping_path;
    size_t word_capacity; /* allocated length of launch->word */
    size_t variable_capacity;
};

/* --- job.c, and openmpi.c for nw_launch_core_number --- */

/* Appends a word to the command line. The format is that of printf. */
NW_MUST_CHECK nw_status nw_launch_word(struct nw_launch_job *job,
                                       const char *format, ...) NW_PRINTF(2, 3);
/* Appends several words unchanged to the command line; `words` ends with NULL.
 */
NW_MUST_CHECK nw_status nw_launch_words(struct nw_launch_job *job,
                                        const char *const *words);
/* Adds a variable "NAME=VALUE" to the environment of the command. The format is
 * that of printf. */
NW_MUST_CHECK nw_status nw_launch_variable(struct nw_launch_job *job,
                                           const char *format, ...)
    NW_PRINTF(2, 3);
/* Adds a file to the job, which nw_launch_write writes later. Its name is
 * PREFIX.SUFFIX; PREFIX is an option of nw_launch_new. Its content is that of
 * `text`, which is freed, also on failure. The job owns *path. */
NW_MUST_CHECK nw_status nw_launch_add_file(struct nw_launch_job *job,
                                           const char *suffix,
                                           struct nw_text *text,
                                           const char **path);
/* Returns the logical number, within its node, of the core to which an element
 * belongs; if it belongs to no core, the element's own number within the node.
 * Sets *package to the number of the core's package within the node, or to -1
 * if the core is in no package. */
int32_t nw_launch_core_number(const nw_topology *topology, int32_t element,
                              int32_t *package);
const char *nw_launch_host(const struct nw_launch_job *job, int32_t rank);
/* Returns the index in the topology of the element (core or hardware thread)
 * that the mapping calls `core` on the rank's node. */
int32_t nw_launch_element(const struct nw_launch_job *job, int32_t rank,
                          int32_t core);

/* --- node_ranks.c and lists.c: ranks of each node, and whether nodes are alike
 * --- */

NW_MUST_CHECK nw_status nw_launch_node_ranks_init(
    struct nw_launch_node_ranks *places, const nw_mapping *mapping);
void nw_launch_node_ranks_fini(struct nw_launch_node_ranks *places);
/* nw_launch_node_ranks_sort_by_core sorts the ranks of each node by their first
 * cores in the mapping. nw_launch_node_ranks_sort_nodes sorts the nodes by
 * their lowest ranks, if the ranks of each node are still in ascending
 * order. */
void nw_launch_node_ranks_sort_by_core(struct nw_launch_node_ranks *places,
                                       const nw_mapping *mapping);
NW_MUST_CHECK nw_status
nw_launch_node_ranks_sort_nodes(struct nw_launch_node_ranks *places);
int32_t nw_launch_node_ranks_count(const struct nw_launch_node_ranks *places,
                                   int32_t index);
/* Returns the index of a node in places->node, which must contain the node and
 * be in the order of the topology. */
int32_t nw_launch_node_ranks_find(const struct nw_launch_node_ranks *places,
                                  int32_t node);
/* Returns true if every node has the same number of ranks as the first one; the
 * last node may have fewer. */
bool nw_launch_node_ranks_even(const struct nw_launch_node_ranks *places);

/* nw_launch_same_cpus returns true if the operating system's numbers of two
 * ranks' hardware threads are known, and are the same in the same order.
 * nw_launch_add_cpus appends these numbers of a rank, separated by `joint`. If
 * a number is unknown, it appends nothing and returns false. */
bool nw_launch_same_cpus(const struct nw_launch_job *job, int32_t a, int32_t b);
bool nw_launch_add_cpus(const struct nw_launch_job *job, int32_t rank,
                        const char *joint, struct nw_text *text);
/* nw_launch_single_cpus returns true if every rank has exactly one hardware
 * thread, and the operating system's number of this thread is known.
 * nw_launch_cpus_known returns true if the numbers of all ranks' hardware
 * threads are known. */
bool nw_launch_single_cpus(const struct nw_launch_job *job);
bool nw_launch_cpus_known(const struct nw_launch_job *job);
/* Local rank l of a node is here the l-th of its ranks in job->places.
 * nw_launch_alike returns true if, for every l, local rank l has the same
 * hardware threads on all nodes that have a local rank l. It compares the
 * operating system's numbers, and returns false if one is unknown.
 * nw_launch_gpus_alike returns true if local rank l has the same GPUs on all
 * these nodes. */
bool nw_launch_alike(const struct nw_launch_job *job);
bool nw_launch_gpus_alike(const struct nw_launch_job *job);
/* nw_launch_add_cpu_list, nw_launch_add_mask_list and nw_launch_add_gpu_list
 * append a list with an entry for each local rank of the node with the most
 * ranks: its hardware threads by the operating system's numbers, the mask of
 * these, or its GPUs. `joint` separates the numbers of one rank, `comma`
 * separates ranks, and `before` precedes each mask. Masks are separated by ",".
 * The entry of a rank whose numbers are unknown is empty. */
void nw_launch_add_cpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
void nw_launch_add_mask_list(const struct nw_launch_job *job,
                             const char *before, struct nw_text *text);
void nw_launch_add_gpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text);
/* Returns the GPUs of a rank, borrowed from the mapping. Returns an empty list
 * if the rank has none, or if they are on another node, which no launcher
 * supports. */
struct nw_ints nw_launch_own_gpus(const nw_mapping *mapping, int32_t rank);
bool nw_launch_has_gpus(const nw_mapping *mapping);
bool nw_launch_has_gpu(const nw_mapping *mapping, int32_t rank);

/* --- threads.c: variables for OpenMP; none if the ranks have different numbers
 * of cores, or only one core each --- */

/* Appends the variables for OpenMP that are unset in this process as words of
 * the command line. If `option` is not NULL, this word precedes each of
 * them. */
NW_MUST_CHECK nw_status nw_launch_add_thread_words(struct nw_launch_job *job,
                                                   const char *option);
/* Appends the variables for OpenMP to a script, as export lines that keep the
 * value of a variable that is already set. */
void nw_launch_add_thread_exports(struct nw_launch_job *job,
                                  struct nw_text *text);
/* Adds the variables for OpenMP that are unset in this process to the command's
 * environment; does nothing if nw_launch_add_thread_words or
 * nw_launch_add_thread_exports was called for this job. */
NW_MUST_CHECK nw_status
nw_launch_add_thread_variables(struct nw_launch_job *job);

/* --- consecutive.c --- */

/* Gives each host a block of consecutive ranks. For this, it lists the ranks
 * host by host, and sorts the hosts by their lowest ranks. Rank i gets the
 * node, cores, GPUs and NIC of the i-th rank in this list. If this changes the
 * mapping, the new one becomes job->mapping, and the file PREFIX.slots with it
 * is added to the job. It is also stored in *out, which the caller frees;
 * otherwise *out is unchanged. */
NW_MUST_CHECK nw_status nw_launch_make_consecutive(struct nw_launch_job *job,
                                                   nw_mapping **out);

/* --- files that several launchers use --- */

/* Adds the file PREFIX.hosts, in which line i, counted from 0, is the host of
 * rank i. */
NW_MUST_CHECK nw_status nw_launch_add_rank_hosts(struct nw_launch_job *job,
                                                 const char **path);
/* Adds the file PREFIX.SUFFIX with one line for each node of job->places: the
 * host, followed by `between` and the node's number of ranks unless `between`
 * is NULL. */
NW_MUST_CHECK nw_status nw_launch_add_node_hosts(struct nw_launch_job *job,
                                                 const char *suffix,
                                                 const char *between,
                                                 const char **path);
/* Appends the lines that set the shell's variable `rank` from the variable that
 * nw_launch_find_rank would read. The lines do not check the value. */
void nw_launch_add_rank_search(struct nw_text *text);
/* nw_launch_add_wrapper adds PREFIX.sh, a script that selects the GPUs of a
 * rank, binds it and then executes the program. nw_launch_add_rank_cases
 * appends lines that do the same to a script that torchrun or DeepSpeed starts.
 * These lines also replace the launcher's RANK by the rank of the mapping. */
NW_MUST_CHECK nw_status nw_launch_add_wrapper(struct nw_launch_job *job,
                                              const char **path);
NW_MUST_CHECK nw_status nw_launch_add_rank_cases(struct nw_launch_job *job,
                                                 struct nw_text *text);
/* Adds a script PREFIX.sh that sets the variables of torchrun (RANK,
 * WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...), selects the GPUs of a rank, binds
 * it, and executes the program. The script fails if it runs on another host
 * than the mapping's host for this rank. Sorts the nodes of job->places by
 * their lowest ranks. */
NW_MUST_CHECK nw_status
nw_launch_add_environment_wrapper(struct nw_launch_job *job, const char **path);
/* nw_launch_add_torchrun appends a script that starts torchrun on a node, and
 * that torchrun in turn starts for each process. With `c10d`, torchrun uses a
 * c10d rendezvous and numbers the nodes itself; otherwise the script gives it
 * the node's number. Sorts the nodes of job->places by their lowest ranks.
 * nw_launch_add_python appends the lines that let Python run a program whose
 * name ends in ".py". */
NW_MUST_CHECK nw_status nw_launch_add_torchrun(struct nw_launch_job *job,
                                               bool c10d, struct nw_text *text);
void nw_launch_add_python(struct nw_text *text);
/* Appends the lines of a rankfile for Open MPI. A core is numbered within the
 * node if `flat` is true or the core is in no package, else within its
 * package. */
void nw_launch_add_rank_lines(const struct nw_launch_job *job, bool flat,
                              struct nw_text *text);
/* One rank in a generated script. The shell compares a process's rank, or with
 * torchrun and DeepSpeed the launcher's number of the process, with `key`.
 * `place` is the index of the rank's node in job->places. */
struct nw_launch_case {
    int32_t key, rank, place;
    enum nw_gpu_visibility visibility;
};
/* nw_launch_add_gpus appends assignments of the rank's GPUs to shell variables.
 * nw_launch_add_gpu_choice appends the lines that set CUDA_VISIBLE_DEVICES and
 * similar variables from these shell variables. Both append nothing if
 * job->has_gpus is false. */
NW_MUST_CHECK nw_status nw_launch_add_gpus(const struct nw_launch_job *job,
                                           const struct nw_launch_case *one,
                                           struct nw_text *text);
NW_MUST_CHECK nw_status
nw_launch_add_gpu_choice(const struct nw_launch_job *job, struct nw_text *text);
NW_MUST_CHECK nw_status nw_launch_run_script(struct nw_launch_job *job,
                                             const char *path);
/* Adds PREFIX.slots, a mapping whose entry i is that of the i-th rank in
 * job->places, and makes it the mapping of `nodewise exec`. The name is
 * PREFIX.processes if nw_launch_make_consecutive has added PREFIX.slots. It is
 * for launchers whose process numbers are not MPI ranks. */
NW_MUST_CHECK nw_status nw_launch_add_slots(struct nw_launch_job *job);
/* Appends the text of PREFIX.slots: `mapping` in the order of `places`. */
void nw_launch_put_slots(const nw_mapping *mapping,
                         const struct nw_launch_node_ranks *places,
                         struct nw_text *text);

#endif
