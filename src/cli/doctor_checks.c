/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of things that nodewise doctor checks, and the functions that check
 * them. Some serve many items: a program on the PATH, its version, a library,
 * the entries of a folder, a file with access rights. Others serve one item,
 * such as the limit of locked memory. */
#include "cli/doctor.h"
#include "base/cpus.h"
#include "base/install_path.h"
#include "base/text.h"
#include "cli/batch.h"
#include "cli/launcher_version.h"
#include "cli/launcher.h"
#include "config.h"

#include <nodewise/launch.h>
#include <nodewise/topology.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Stores the path of the first of the programs "a b c" that is on the PATH;
 * returns false if all are missing. */
static bool doctor_look_find_program(const char *names, char path[PATH_MAX])
{
    char list[PATH_MAX], *name, *rest;

    snprintf(list, sizeof list, "%s", names);
    for (name = strtok_r(list, " ", &rest); name;
         name = strtok_r(NULL, " ", &rest))
        if (nw_install_path_search(name, path))
            return true;
    return false;
}

/* The following functions are checks, as nw_check.look in doctor.h describes
 * them. */
static enum nw_finding doctor_checks_program(const char *names,
                                             struct nw_text *detail)
{
    char path[PATH_MAX];

    if (!doctor_look_find_program(names, path))
        return NW_MISSING;
    nw_text_add(detail, path);
    return NW_FOUND;
}

/* Cuts the program's answer to the rest of the line after "Version:", or to its
 * first line if it has none, and returns it. */
static const char *version_line(char answer[NW_LAUNCHER_ANSWER])
{
    char *line = strstr(answer, "Version:");

    if (!line)
        line = answer + strspn(answer, " \n");
    else
        line += strspn(line + 8, " ") + 8;
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static enum nw_finding tell_silent(const char *path, struct nw_text *detail)
{
    nw_text_format(detail, "%s: --version does not end within %d s", path,
                   NW_ASK_SECONDS);
    return NW_MISSING;
}

static enum nw_finding doctor_checks_versioned(const char *names,
                                               struct nw_text *detail)
{
    char path[PATH_MAX], answer[NW_LAUNCHER_ANSWER];

    if (!doctor_look_find_program(names, path))
        return NW_MISSING;
    if (!nw_launcher_ask(path, answer))
        return tell_silent(path, detail);
    nw_text_add(detail, path);
    if (*answer)
        nw_text_format(detail, ": %s", version_line(answer));
    return NW_FOUND;
}

/* Searches for a launcher whose version text has one of the words in `voices`,
 * separated by '|'. The name mpirun does not tell which MPI a launcher belongs
 * to. If none is found, reports the first launcher that did not end in time. */
static enum nw_finding doctor_checks_mpi(const char *voices,
                                         struct nw_text *detail)
{
    static const char *const names[] = {
        "mpirun",  "mpiexec",       "mpirun.openmpi",
        "prterun", "mpiexec.mpich", "mpiexec.hydra",
    };
    char path[PATH_MAX], answer[NW_LAUNCHER_ANSWER], list[200], *voice, *rest;
    char silent[PATH_MAX] = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!doctor_look_find_program(names[i], path))
            continue;
        if (!nw_launcher_ask(path, answer) && !*silent)
            memcpy(silent, path, sizeof silent);
        snprintf(list, sizeof list, "%s", voices);
        for (voice = strtok_r(list, "|", &rest); voice;
             voice = strtok_r(NULL, "|", &rest))
            if (strstr(answer, voice)) {
                nw_text_format(detail, "%s: %s", path, version_line(answer));
                return NW_FOUND;
            }
    }
    return *silent ? tell_silent(silent, detail) : NW_MISSING;
}

static bool doctor_checks_loads(const char *soname)
{
    return dlopen(soname, RTLD_LAZY | RTLD_LOCAL) != NULL;
}

static enum nw_finding doctor_checks_library(const char *sonames,
                                             struct nw_text *detail)
{
    return nw_doctor_tell_first(sonames, doctor_checks_loads, detail);
}

/* Appends the names of the entries of a folder. Returns NW_MISSING if it has
 * none. */
static enum nw_finding doctor_checks_entries(const char *folder,
                                             struct nw_text *detail)
{
    struct dirent **list;
    int count = scandir(folder, &list, NULL, alphasort), shown = 0;

    for (int i = 0; i < count; i++) {
        if (list[i]->d_name[0] != '.')
            nw_text_format(detail, "%s%s", shown++ ? ", " : "",
                           list[i]->d_name);
        free(list[i]);
    }
    if (count >= 0)
        free(list);
    return shown ? NW_FOUND : NW_MISSING;
}

/* Checks whether this user may read and write a file that matches `pattern`. */
static enum nw_finding doctor_checks_device(const char *pattern,
                                            struct nw_text *detail)
{
    enum nw_finding found = NW_MISSING;
    glob_t paths;

    if (glob(pattern, 0, NULL, &paths))
        return NW_MISSING;
    for (size_t i = 0; i < paths.gl_pathc && found != NW_FOUND; i++)
        found = access(paths.gl_pathv[i], R_OK | W_OK) ? NW_DENIED : NW_FOUND;
    nw_text_format(detail, "%s%s", paths.gl_pathv[0],
                   found == NW_DENIED ? ": permission denied" : "");
    globfree(&paths);
    return found;
}

/* Checks for a file that Nodewise installs. */
static enum nw_finding doctor_checks_own(const char *name,
                                         struct nw_text *detail)
{
    char path[PATH_MAX];

    if (!nw_install_path_find(name, name, R_OK, path))
        return NW_MISSING;
    nw_text_add(detail, path);
    return NW_FOUND;
}

static enum nw_finding doctor_checks_machine(const char *what,
                                             struct nw_text *detail)
{
    nw_topology *topology = NULL;

    (void)what;
    if (nw_launch_machine(NULL, &topology)) {
        nw_text_add(detail, nw_error_text());
        return NW_MISSING;
    }
    nw_text_format(detail,
                   "cores: %d, packages: %d, GPUs: %d, network cards: %d",
                   nw_topology_element_count(topology),
                   nw_topology_node_package_count(topology, 0),
                   nw_topology_gpu_count(topology),
                   nw_topology_node_nic_count(topology, 0));
    nw_topology_free(topology);
    return NW_FOUND;
}

static enum nw_finding doctor_checks_batch_job(const char *what,
                                               struct nw_text *detail)
{
    const char *variable = nw_batch_variable();

    (void)what;
    if (!variable)
        return NW_MISSING;
    nw_text_format(detail, "%s=%s", variable, getenv(variable));
    return NW_FOUND;
}

static enum nw_finding doctor_checks_binding(const char *what,
                                             struct nw_text *detail)
{
    unsigned long cpus[NW_CPU_WORDS];
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int words = nw_cpus_read(0, cpus);

    (void)what;
    if (!words || !nw_cpus_bind(cpus)) {
        nw_text_add(detail, strerror(errno));
        return NW_DENIED;
    }
    nw_text_format(detail, "%d of %ld CPU%s may be used",
                   nw_cpus_count(cpus, words), online,
                   nw_plural((uint64_t)online));
    return NW_FOUND;
}

static enum nw_finding memory_policy(const char *what, struct nw_text *detail)
{
    (void)what;
    if (syscall(SYS_set_mempolicy, 0, NULL, 0ul)) { /* set the default policy,
                                                       which the process has
                                                       already */
        nw_text_add(detail, strerror(errno));
        return NW_DENIED;
    }
    return NW_FOUND;
}

/* Checks the limit of locked memory: network cards lock the memory of messages,
 * and less than 64 MiB is too little. */
static enum nw_finding locked_memory(const char *what, struct nw_text *detail)
{
    struct rlimit limit;

    (void)what;
    if (getrlimit(RLIMIT_MEMLOCK, &limit))
        return NW_MISSING;
    if (limit.rlim_cur == RLIM_INFINITY) {
        nw_text_add(detail, "unlimited");
        return NW_FOUND;
    }
    nw_text_format(detail, "%llu KiB (ulimit -l)",
                   (unsigned long long)limit.rlim_cur / 1024);
    return limit.rlim_cur < (rlim_t)64 << 20 ? NW_DENIED : NW_FOUND;
}

/* clang-format off: one row an item */
const struct nw_check nw_checks[] = {
    {"MPI", "Open MPI", doctor_checks_mpi, "Open MPI|OpenRTE|PRRTE|prterun",
     "profiles of Open MPI programs, nodewise launch --for openmpi4"},
    {"MPI", "MPICH", doctor_checks_mpi, "HYDRA|Hydra",
     "profiles of MPICH programs, nodewise launch --for mpich"},
    {"MPI", "Intel MPI", doctor_checks_mpi, "Intel(R) MPI",
     "nodewise launch --for intel"},
    {"MPI", "MVAPICH", doctor_checks_program, "mpirun_rsh",
     "nodewise launch --for mvapich"},
    {"MPI", "profiler, Open MPI", doctor_checks_own, "libnodewise-openmpi.so",
     "nodewise profile and run under Open MPI (build with libopenmpi-dev)"},
    {"MPI", "profiler, MPICH", doctor_checks_own, "libnodewise-mpich.so",
     "nodewise profile and run under MPICH, Intel MPI and MVAPICH (build with "
     "libmpich-dev)"},
    {"MPI", "profiler, standard ABI", doctor_checks_own,
     "libnodewise-mpiabi.so",
     "nodewise profile and run of programs linked with libmpi_abi (build with "
     "an MPI that has the MPI-5 standard ABI)"},

    {"Launchers", "Slurm", doctor_checks_versioned, "srun",
     "nodewise launch --for slurm, and the nodes of a job"},
    {"Launchers", "Flux", doctor_checks_versioned, "flux",
     "nodewise launch --for flux"},
    {"Launchers", "PALS", doctor_checks_versioned, "pals palstat",
     "nodewise launch --for pals"},
    {"Launchers", "torchrun", doctor_checks_program, "torchrun",
     "nodewise launch --for torchrun"},
    {"Launchers", "batch job", doctor_checks_batch_job, NULL,
     "the job's hosts in nodewise map, launch and run"},
    {"Launchers", "taskset", doctor_checks_program, "taskset",
     "nodewise launch --for script on nodes without nodewise"},

    {"Machine", "hwloc", doctor_checks_library, "libhwloc.so.15",
     "topology live, hwloc XML and synthetic machines"},
    {"Machine", "this machine", doctor_checks_machine, NULL, "topology live"},

    {"GPUs", "CUDA driver", doctor_checks_library, "libcuda.so.1",
     "profiles that separate GPU buffers from host buffers, GPU messages, "
     "GPU memory in nodewise probe"},
    {"GPUs", "NVML", doctor_checks_library, "libnvidia-ml.so.1",
     "NVLink and UUIDs of GPUs in topology live"},
    {"GPUs", "NVIDIA GPUs", doctor_checks_entries, "/proc/driver/nvidia/gpus",
     "mappings onto NVIDIA GPUs of this machine"},
    {"GPUs", "NVIDIA device files", doctor_checks_device, "/dev/nvidia[0-9]*",
     "use of these GPUs by this user"},
    {"GPUs", "nvidia-smi", doctor_checks_program, "nvidia-smi",
     "nodewise topology nvidia-smi:FILE, by 'nvidia-smi topo -m'"},
    {"GPUs", "GDRCopy", doctor_checks_library, "libgdrapi.so.2",
     "small GPU messages that the CPU writes, with its kernel module"},
    {"GPUs", "GDRCopy's module", doctor_checks_device, "/dev/gdrdrv",
     "small GPU messages that the CPU writes"},
    {"GPUs", "Vulkan", doctor_checks_library, "libvulkan.so.1",
     "small GPU messages that the CPU writes without GDRCopy (Debian: "
     "libvulkan1)"},
    {"GPUs", "CPU's stores", nw_doctor_stores, NULL,
     "small GPU messages without calls of the driver"},
    {"GPUs", "dma-buf", nw_doctor_dmabuf, NULL,
     "GPU memory in messages of network cards (tried first)"},
    {"GPUs", "peer-memory module", nw_doctor_module,
     "nvidia_peermem nv_peer_mem",
     "GPU memory in messages of network cards, if dma-buf fails"},
    {"GPUs", "ROCm SMI", doctor_checks_library,
     "librocm_smi64.so librocm_smi64.so.7 librocm_smi64.so.5",
     "AMD GPUs and their xGMI links in topology live"},
    {"GPUs", "AMD GPUs", doctor_checks_device, "/dev/kfd",
     "mappings onto AMD GPUs of this machine"},
    {"GPUs", "Level Zero", doctor_checks_library, "libze_loader.so.1",
     "selecting Intel GPUs (ZE_AFFINITY_MASK)"},

    {"Fabrics", "InfiniBand adapters", doctor_checks_entries,
     "/sys/class/infiniband", "names of InfiniBand cards"},
    {"Fabrics", "management datagrams", doctor_checks_device,
     "/dev/infiniband/umad*",
     "ibnet:live: ask the administrator to let you read and write it, or for a "
     "file of ibnetdiscover"},
    {"Fabrics", "ibnetdiscover", doctor_checks_program, "ibnetdiscover",
     "ibnet:live, the switches of an InfiniBand fabric (Debian: "
     "infiniband-diags)"},
    {"Fabrics", "ibtracert", doctor_checks_program, "ibtracert",
     "ibnet:live if ibnetdiscover is not allowed (Debian: "
     "infiniband-diags)"},
    {"Fabrics", "Slingshot", doctor_checks_entries, "/sys/class/cxi",
     "selecting Slingshot cards (FI_CXI_DEVICE_NAME)"},
    {"Fabrics", "UCX", doctor_checks_library, "libucp.so.0",
     "selecting network cards of UCX programs (UCX_NET_DEVICES)"},
    {"Fabrics", "libfabric", doctor_checks_library, "libfabric.so.1",
     "small messages by libfabric"},
    {"Fabrics", "channel", doctor_checks_own, "libnodewise-channel.so.0",
     "channels of programs that are linked with libnodewise"},

    {"Libraries", "Scotch, 64 bits", doctor_checks_library, NW_SCOTCH_LIBRARY,
     "mapping by recursive bipartition (Debian: libscotch-7.0 or "
     "libscotch-64i-7.0)"},
    {"Libraries", "SimGrid helper", doctor_checks_own, "nodewise-simgrid",
     "nodewise simulate (build with libsimgrid-dev); --estimate works without "
     "it"},
    {"Libraries", "libyaml", doctor_checks_library, "libyaml-0.so.2",
     "cluster files (Debian: libyaml-0-2)"},
    {"Libraries", "zstd", doctor_checks_library, "libzstd.so.1",
     "compressed files, .zst (Debian: libzstd1)"},
    {"Libraries", "libsmartcols", doctor_checks_library, "libsmartcols.so.1",
     "tables and trees (Debian: libsmartcols1)"},
    {"Libraries", "expat", doctor_checks_library, "libexpat.so.1",
     "NCCL XML files (Debian: libexpat1)"},
    {"Libraries", "OTF2", doctor_checks_library,
     "libotf2.so.10 libopen-trace-format2.so.10 libotf2.so",
     "traces of Score-P as patterns (Debian: libotf2-trace-dev)"},

    {"Permissions", "binding to cores", doctor_checks_binding, NULL,
     "binding by nodewise exec and launchers"},
    {"Permissions", "binding of memory", memory_policy, NULL,
     "memory on the NUMA nodes of the cores; containers may forbid "
     "set_mempolicy"},
    {"Permissions", "locked memory", locked_memory, NULL,
     "messages of InfiniBand and similar cards, at least 64 MiB: the "
     "administrator raises memlock in /etc/security/limits.conf"},
    {"Permissions", "shared memory", doctor_checks_device, "/dev/shm",
     "messages inside a node by shared memory"},
};
/* clang-format on */

const size_t nw_check_count = sizeof nw_checks / sizeof *nw_checks;
