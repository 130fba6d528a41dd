/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of environment variables. An unknown variable has no effect, so the
 * run-time library warns once about a misspelt name. */
#include "base/environment.h"

#include <string.h>

#define PREFIX "NODEWISE_"

const struct nw_variable nw_environment[] = {
    {"NODEWISE_ALGORITHM", "NAME",
     "the algorithm of nodewise map that orders new communicators"},
    {"NODEWISE_CART_WEIGHTS", "W[,W...]",
     "traffic per dimension of Cartesian grids"},
    {"NODEWISE_CHANNEL_COPY", "auto|naive|loopback|fastcopy",
     "how small messages are copied between host buffers and GPU memory"},
    {"NODEWISE_CHANNEL_FETCH", "on|off",
     "'off' keeps channels from reading messages in the sender's memory"},
    {"NODEWISE_CHANNEL_IPC", "on|off",
     "'off' sends large messages between GPUs of one host over libfabric, too"},
    {"NODEWISE_CHANNEL_MAPPING", "auto|gdrcopy|vulkan|resident|none",
     "how the CPU writes into GPU memory: through an address from GDRCopy or "
     "Vulkan, or by a kernel that stays on the GPU"},
    {"NODEWISE_CHANNEL_MODULES", "FOLDER",
     "the kernel's modules, instead of those in /sys/module, where channels "
     "look for nvidia_peermem"},
    {"NODEWISE_CHANNEL_PROTOCOL", "auto|gather|pack|two|rendezvous|fetch",
     "how the channel sends messages that fit a slot"},
    {"NODEWISE_CHANNEL_PROVIDER", "auto|NAME",
     "the libfabric provider of channels, such as shm or tcp;ofi_rxm"},
    {"NODEWISE_CHANNEL_REACH", "yes|no",
     "'no' keeps the CPU and the adapter away from GPU memory: the driver "
     "copies all messages"},
    {"NODEWISE_CHANNEL_TABLE", "FILE",
     "the thresholds of nodewise channel tune, instead of those in the user's "
     "cache folder"},
    {"NODEWISE_CHECK", "1",
     "check every reordered communicator at both ends of its edges"},
    {"NODEWISE_COLLECTIVES", "CALL:MODEL[,CALL:MODEL...]|off",
     "how a collective's traffic is attributed to pairs of ranks"},
    {"NODEWISE_GATHER", "auto|rank|node",
     "how distributed graphs are collected at the rank that orders them"},
    {"NODEWISE_GPU", "off|assign",
     "whether MPI_Init or the first topology call chooses each rank's GPU"},
    {"NODEWISE_GPU_ADAPTER_AFTER", "MESSAGES",
     "small messages out of GPU memory before libfabric is loaded, for an "
     "adapter to read them (262144)"},
    {"NODEWISE_GPU_AWARE", "yes|no",
     "whether MPI takes GPU memory, instead of asking it"},
    {"NODEWISE_GPU_COLLECTIVES", "auto|host|channel",
     "the form of collective calls with GPU memory: through the host or the "
     "channel; auto takes the channel for large blocks, and is the default if "
     "NODEWISE_GPU_MESSAGES is set"},
    {"NODEWISE_GPU_DIRECT", "auto|on|off",
     "whether large messages between GPUs of one node go from GPU to GPU "
     "(default with NODEWISE_GPU_MESSAGES: auto)"},
    {"NODEWISE_GPU_DIRECT_FROM", "SIZE",
     "size from which NODEWISE_GPU_DIRECT takes a message (64KiB)"},
    {"NODEWISE_GPU_DIRECT_POOL", "SIZE",
     "GPU memory of each process for messages of NODEWISE_GPU_DIRECT (64MiB)"},
    {"NODEWISE_GPU_MESSAGES", "auto|on|off",
     "copy GPU memory to the host for MPI: always, never, or if it is faster "
     "(default: for an MPI without GPU support)"},
    {"NODEWISE_HALO_TRACE", "FILE",
     "each process writes the steps of its halos with times to FILE.RANK, then "
     "FILE.RANK.2 and so on"},
    {"NODEWISE_MAPPING", "FILE",
     "where the ranks run on NODEWISE_TOPOLOGY, for nodewise reorder"},
    {"NODEWISE_MPI", "openmpi|mpich",
     "the MPI whose nodewise-mpdata starts, instead of the launcher's"},
    {"NODEWISE_NCCL", "auto|ring|tree",
     "how an all-reduce by NCCL is attributed to pairs of GPUs"},
    {"NODEWISE_PARTS", "on|off",
     "'off' keeps no part files beside the profile: a killed program then "
     "leaves no profile"},
    {"NODEWISE_PHASES", "pcontrol|DURATION",
     "with NODEWISE_RECORD: a pattern FILE.phase-N of each phase, which "
     "MPI_Pcontrol(N) begins or which lasts DURATION"},
    {"NODEWISE_PROFILE", "FILE",
     "an earlier profile: edge weights for calls without weights"},
    {"NODEWISE_RECORD", "FILE", "write the program's pattern to FILE"},
    {"NODEWISE_RECORD_BEFORE", "INODE:TIME",
     "set by 'nodewise profile': identity of the earlier profile in FILE"},
    {"NODEWISE_RECORD_SAID", "SOCKET",
     "set by 'nodewise profile': socket for ranks that print a warning"},
    {"NODEWISE_REORDER", "off|report|on|force",
     "whether MPI topology functions reorder"},
    {"NODEWISE_REORDER_GAIN", "PERCENT|any",
     "least saving of hop-bytes for which ranks are reordered (1)"},
    {"NODEWISE_REORDER_TELL", "1",
     "set by 'nodewise reorder': say at the end if no call could reorder"},
    {"NODEWISE_SIMGRID", "PROGRAM",
     "the simulator that 'nodewise simulate' starts"},
    {"NODEWISE_STORE", "FOLDER",
     "where nodewise run keeps patterns and topologies"},
    {"NODEWISE_TOPOLOGY", "SOURCE",
     "the machine for nodewise reorder, any source of nodewise topology"},
    {NULL, NULL, NULL},
};

static const struct nw_variable *base_environment_find(const char *name,
                                                       size_t length)
{
    for (const struct nw_variable *row = nw_environment; row->name; row++)
        if (!strncmp(row->name, name, length) && !row->name[length])
            return row;
    return NULL;
}

bool nw_environment_takes(const char *name, const char *value)
{
    const struct nw_variable *row = base_environment_find(name, strlen(name));
    size_t length = strlen(value), word;

    for (const char *at = row ? row->value : ""; *at;
         at += word + (at[word] == '|')) {
        word = strcspn(at, "|");
        if (word == length && !strncmp(at, value, word))
            return true;
    }
    return false;
}

const char *nw_environment_unknown(char *const *entries)
{
    for (; entries && *entries; entries++)
        if (!strncmp(*entries, PREFIX, strlen(PREFIX)) &&
            !base_environment_find(*entries, strcspn(*entries, "=")))
            return *entries;
    return NULL;
}
