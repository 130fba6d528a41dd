/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a mapping into files and a command line for a launcher, and writes
 * the files. Contains the table of launchers, and the checks and program
 * arguments that are common to all. */
#include <nodewise/launch.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "launch/launcher.h"
#include "topology/topology.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* each row: name, summary, functions `lacks`, `lacks_gpus` and `write`,
 * may_wrap */
static const struct nw_launcher launchers[] = {
    {"openmpi4", "Open MPI 4 (ORTE): a rankfile", nw_launch_openmpi_lacks, NULL,
     nw_launch_openmpi4_write, false},
    {"openmpi5", "Open MPI 5 and 6 (PRRTE): a rankfile and a hostfile",
     nw_launch_openmpi_lacks, NULL, nw_launch_openmpi5_write, false},
    {"mpich", "MPICH up to 4.3 (Hydra): a hostfile", nw_launch_mpich_lacks,
     NULL, nw_launch_mpich_write, false},
    {"mpich41", "MPICH from 5.0 (Hydra): a hostfile and -rankmap",
     nw_launch_rankmap_lacks, NULL, nw_launch_rankmap_write, false},
    {"intel", "Intel MPI: a machinefile and I_MPI_PIN variables",
     nw_launch_intel_lacks, NULL, nw_launch_intel_write, false},
    {"mvapich", "MVAPICH (mpirun_rsh): a hostfile and MV2_CPU_MAPPING",
     nw_launch_mvapich_lacks, NULL, nw_launch_mvapich_write, false},
    {"slurm",
     "Slurm from 23.02: an arbitrary host file, --cpu-bind, --gpu-bind",
     nw_launch_slurm_lacks, nw_launch_slurm_lacks_gpus, nw_launch_slurm_write,
     true},
    {"slurm22", "Slurm up to 22.05: as slurm, but with older options for GPUs",
     nw_launch_slurm_lacks, nw_launch_slurm_lacks_gpus, nw_launch_slurm22_write,
     true},
    {"cray", "Cray MPICH under Slurm: a rank order", nw_launch_cray_lacks, NULL,
     nw_launch_cray_write, false},
    {"pals", "Cray MPICH under PALS: a rank order and a hostfile",
     nw_launch_pals_lacks, NULL, nw_launch_pals_write, false},
    {"flux", "Flux: a task map by hosts, affinity maps", nw_launch_flux_lacks,
     nw_launch_flux_lacks_gpus, nw_launch_flux_write, false},
    {"torchrun", "torchrun: a script for every node", nw_launch_script_lacks,
     nw_launch_script_lacks_gpus, nw_launch_torchrun_write, false},
    {"torchrun-c10d",
     "torchrun with a c10d rendezvous: a script for every node",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus, nw_launch_c10d_write,
     false},
    {"megatron", "Megatron-LM: torchrun's script and a host file",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_megatron_write, false},
    {"deepspeed", "DeepSpeed: a host file and a script in front of the program",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_deepspeed_write, false},
    {"slurm-torch",
     "Slurm without torchrun: an arbitrary host file and a script",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_slurm_torch_write, false},
    {"environment",
     "any other launcher of PyTorch: a script that sets torchrun's "
     "variables, hosts by rank",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_environment_write, false},
    {"mpi-operator", "MPI Operator of Kubernetes: a rankfile in a ConfigMap",
     nw_launch_openmpi_lacks, NULL, nw_launch_mpi_operator_write, false},
    {"jobset", "JobSet of Kubernetes: torchrun's script in a ConfigMap",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_jobset_write, false},
    {"script",
     "any other launcher: a script in front of the program, hosts by rank",
     nw_launch_script_lacks, nw_launch_script_lacks_gpus,
     nw_launch_script_write, false},
};

#define LAUNCHER_COUNT (sizeof launchers / sizeof *launchers)

bool nw_launch_launcher(size_t index, const char **name, const char **summary)
{
    if (index >= LAUNCHER_COUNT)
        return false;
    *name = launchers[index].name;
    *summary = launchers[index].summary;
    return true;
}

void nw_launch_free(nw_launch *launch)
{
    if (!launch)
        return;
    for (size_t i = 0; i < launch->file_count; i++) {
        free(launch->file[i].path);
        free(launch->file[i].text);
    }
    for (size_t i = 0; i < launch->word_count; i++)
        free(launch->word[i]);
    for (size_t i = 0; i < launch->variable_count; i++)
        free(launch->variable[i]);
    free(launch->variable);
    free(launch->file);
    free(launch->word);
    free(launch->note);
    free(launch);
}

nw_status nw_launch_write(const nw_launch *launch)
{
    for (size_t i = 0; i < launch->file_count; i++) {
        const struct nw_launch_file *file = &launch->file[i];
        nw_status status =
            nw_file_write(file->path, file->text, strlen(file->text));

        if (!status && file->is_program && chmod(file->path, 0755))
            status = nw_fail(NW_EIO, "%s: %s", file->path, strerror(errno));
        if (status)
            return status;
    }
    return NW_OK;
}

static nw_status find_launcher(const char *name, const struct nw_launcher **out)
{
    struct nw_text names = {0};
    nw_status status;

    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        if (name && !strcmp(launchers[i].name, name)) {
            *out = &launchers[i];
            nw_text_fini(&names);
            return NW_OK;
        }
        nw_text_format(&names, "%s%s", i ? ", " : "", launchers[i].name);
    }
    status = nw_fail(NW_EINVAL, "unknown launcher '%s'; known launchers: %s",
                     name ? name : "", names.data ? names.data : "");
    nw_text_fini(&names);
    return status;
}

static nw_status check_closed(const struct nw_launch_job *job)
{
    const char *file = job->options->mapping_path;
    const nw_mapping *mapping = job->mapping;

    for (int32_t rank = 0; rank < mapping->rank_count; rank++) {
        struct nw_ints cores = nw_mapping_cores(mapping, rank);
        struct nw_ints gpus = nw_mapping_gpus(mapping, rank);
        const char *open = mapping->node[rank] < 0              ? "node"
                           : !cores.count                       ? "core"
                           : gpus.count && gpus.values[0] == -2 ? "GPU"
                                                                : NULL;

        if (open)
            return nw_fail(NW_EFORMAT,
                           "%s: the %s of rank %d is open ('*'); 'nodewise map "
                           "--fix' completes a mapping",
                           file ? file : "mapping", open, rank);
    }
    return NW_OK;
}

static bool has_nics(const nw_mapping *mapping)
{
    for (int32_t rank = 0; mapping->nic && rank < mapping->rank_count; rank++)
        if (mapping->nic[rank] >= 0)
            return true;
    return false;
}

/* Adds a note if ranks share an element (core or hardware thread), because they
 * then run slowly. */
static nw_status note_sharing(struct nw_launch_job *job)
{
    int32_t *owner, shared = 0, a = -1, b = -1;
    size_t count = (size_t)nw_topology_element_count(job->topology);
    nw_status status = nw_alloc(count, sizeof *owner, &owner);

    if (status)
        return status;
    for (int32_t rank = 0; rank < job->mapping->rank_count; rank++) {
        struct nw_ints cores = nw_mapping_cores(job->mapping, rank);

        for (size_t i = 0; i < cores.count; i++) {
            int32_t e = nw_launch_element(job, rank, cores.values[i]);

            if (owner[e] && !shared++) {
                a = owner[e] - 1;
                b = rank;
            }
            owner[e] = rank + 1;
        }
    }
    if (shared)
        nw_text_format(&job->note,
                       "ranks share cores, the first of them %d and %d on "
                       "%s\n",
                       a, b, nw_launch_host(job, a));
    free(owner);
    return NW_OK;
}

static void note_reason(struct nw_launch_job *job, const char *does,
                        const char *reason)
{
    if (reason)
        nw_text_format(&job->note, "%s: %s\n", does, reason);
}

static void note_far_gpus(struct nw_launch_job *job)
{
    const nw_mapping *mapping = job->mapping;
    int32_t count = 0, first = 0;

    for (int32_t r = mapping->rank_count - 1; r >= 0; r--)
        if (nw_launch_has_far_gpu(mapping, r)) {
            count++;
            first = r;
        }
    if (count)
        nw_text_format(&job->note,
                       "GPUs on other nodes (rank %d's on %s, %d in all) are "
                       "not chosen: only a middleware that lends GPUs over "
                       "the network gives them\n",
                       first, mapping->node_name[mapping->gpu_node[first]],
                       count);
}

/* Decides whether the command uses `nodewise exec`, or the wrapper script, for
 * the tasks that the launcher cannot do; with place_only, neither. Fails with
 * NW_EINVAL if the launcher cannot bind the ranks and neither is possible; if
 * it only cannot select their GPUs, adds a note. */
static nw_status decide_exec(struct nw_launch_job *job,
                             const struct nw_launcher *launcher)
{
    static const char *const nobody = "the launcher knows of no GPUs";
    const char *lacks = launcher->lacks(job), *lacks_gpus = NULL;
    enum nw_launch_exec wanted = job->options->exec;
    bool nics = has_nics(job->mapping);

    if (job->options->place_only)
        return NW_OK;
    note_far_gpus(job);
    if (job->has_gpus)
        lacks_gpus = launcher->lacks_gpus ? launcher->lacks_gpus(job) : nobody;
    job->exec =
        wanted == NW_LAUNCH_EXEC_ALWAYS ||
        (wanted == NW_LAUNCH_EXEC_AUTO && (lacks || lacks_gpus || nics));
    job->chooses_gpus = !job->exec && job->has_gpus && !lacks_gpus;
    if (job->exec) {
        note_reason(job, "nodewise exec binds the ranks", lacks);
        if (lacks_gpus != nobody)
            note_reason(job, "nodewise exec chooses the GPUs", lacks_gpus);
        return NW_OK;
    }
    job->wrapper = launcher->may_wrap && (lacks || lacks_gpus || nics);
    job->binds = !job->wrapper;
    if (job->wrapper)
        job->chooses_gpus = false;
    else if (lacks)
        return nw_fail(NW_EINVAL, "%s cannot do without nodewise exec: %s",
                       launcher->name, lacks);
    else if (lacks_gpus)
        nw_text_add(&job->note, "without nodewise exec, the ranks do not "
                                "select the GPUs of the mapping\n");
    return NW_OK;
}

/* Returns true if the source of the topology is given and `nodewise exec` needs
 * the topology: for UUIDs of GPUs, names of NICs, or the order of GPUs, but not
 * for cores. */
static bool needs_topology(const struct nw_launch_job *job)
{
    const nw_topology *topology = job->topology;

    if (!job->options->topology_source)
        return false;
    if (job->has_gpus && job->options->visibility == NW_GPU_PERMUTED)
        return true;
    for (int32_t g = 0; job->has_gpus && g < nw_topology_gpu_count(topology);
         g++)
        if (nw_topology_gpu_info(topology, g).uuid)
            return true;
    for (int32_t n = 0;
         has_nics(job->mapping) && n < nw_topology_node_count(topology); n++)
        if (nw_topology_node_nic_count(topology, n) &&
            nw_topology_nic_info(topology, n, 0).name)
            return true;
    return false;
}

static nw_status add_exec(struct nw_launch_job *job)
{
    const struct nw_launch_options *options = job->options;
    const char *path = options->exec_path, *map = job->mapping_path;
    static const char *const memory[] = {NULL, "--memory=prefer",
                                         "--memory=leave"};
    nw_status status = nw_launch_word(job, "%s", path ? path : "nodewise");

    if (!status)
        status = nw_launch_word(job, "exec");
    if (!status && job->topology->elements == NW_ELEMENTS_PU)
        status = nw_launch_word(job, "--elements=pu");
    if (!status && options->visibility == NW_GPU_PERMUTED)
        status = nw_launch_word(job, "--gpu-visibility=permuted");
    if (!status && memory[options->memory])
        status = nw_launch_word(job, "%s", memory[options->memory]);
    if (!status && needs_topology(job)) {
        status = nw_launch_word(job, "-t");
        if (!status)
            status = nw_launch_word(job, "%s", options->topology_source);
    }
    if (!status)
        status = nw_launch_word(job, "%s", map ? map : "nodewise.mapping");
    if (!status)
        status = nw_launch_word(job, "--");
    return status;
}

static nw_status launch_add_program(struct nw_launch_job *job)
{
    static const char *const placeholder[] = {"PROGRAM"};
    const struct nw_launch_options *options = job->options;
    const char *const *word = options->program ? options->program : placeholder;
    size_t count = options->program ? options->program_words : 1;
    nw_status status = job->exec ? add_exec(job) : NW_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = nw_launch_word(job, "%s", word[i]);
    return status;
}

static nw_status add_wrapper(struct nw_launch_job *job)
{
    const char *path;
    nw_status status = nw_launch_add_wrapper(job, &path);

    return status ? status : nw_launch_run_script(job, path);
}

static nw_status check_hosts(const struct nw_launch_job *job)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; !status && r < job->mapping->rank_count; r++)
        status = nw_host_check(nw_launch_host(job, r));
    return status;
}

/* Makes the files and the command line of a job. If --consecutive changes the
 * mapping, sets *blocks to the new mapping of the job, which the caller frees.
 */
static nw_status launch_make(struct nw_launch_job *job,
                             const struct nw_launcher *launcher,
                             nw_mapping **blocks)
{
    nw_status status = check_closed(job);

    if (!status)
        status = check_hosts(job);

    job->mapping_path = job->options->mapping_path;
    if (!status && job->options->consecutive)
        status = nw_launch_make_consecutive(job, blocks);
    job->has_gpus =
        !job->options->place_only && nw_launch_has_gpus(job->mapping);
    if (!status)
        status = nw_launch_node_ranks_init(&job->places, job->mapping);
    if (!status)
        status = decide_exec(job, launcher);
    if (!status)
        status = launcher->write(job);
    if (!status && job->wrapper)
        status = add_wrapper(job);
    if (!status)
        status = launch_add_program(job);
    if (!status)
        status = nw_launch_add_thread_variables(job);
    if (!status && !job->options->place_only)
        status = note_sharing(job);
    if (status || !job->note.length)
        return status;
    return nw_text_take(&job->note, &job->launch->note);
}

nw_status nw_launch_new(const nw_topology *topology, const nw_mapping *mapping,
                        const struct nw_launch_options *options,
                        nw_launch **out)
{
    struct nw_launch_job job = {
        .topology = topology, .mapping = mapping, .options = options};
    const struct nw_launcher *launcher = NULL;
    nw_mapping *blocks = NULL;
    nw_status status = find_launcher(options->launcher, &launcher);

    if (!status)
        status = nw_alloc(1, sizeof *job.launch, &job.launch);
    if (status)
        return status;
    job.launch->launcher = launcher->name;
    status = launch_make(&job, launcher, &blocks);
    job.launch->uses_exec = job.exec;
    nw_text_fini(&job.note);
    nw_launch_node_ranks_fini(&job.places);
    nw_mapping_free(blocks);
    if (status)
        nw_launch_free(job.launch);
    else
        *out = job.launch;
    return status;
}
