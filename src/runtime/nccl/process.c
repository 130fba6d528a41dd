/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the rank from the launcher's variables, and the GPU's bus id from the
 * GPU driver that NCCL has loaded. The plug-in loads no library itself. */
#include "runtime/nccl/process.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables with the rank and the number of ranks. torchrun's come first, since
 * under srun they are set next to those of Slurm, which count the launchers. */
static const char *const process_ranks[][2] = {
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

static bool process_number(const char *name, char out[12])
{
    const char *word = getenv(name);
    size_t length = word ? strlen(word) : 0;

    if (!length || length > 9 || strspn(word, "0123456789") != length)
        return false;
    snprintf(out, 12, "%.9s", word);
    return true;
}

bool nw_nccl_self(struct nw_nccl_self *self)
{
    size_t count = sizeof process_ranks / sizeof *process_ranks;

    self->record = getenv("NODEWISE_RECORD");
    if (!self->record || !self->record[0])
        return false;
    self->host[sizeof self->host - 1] = '\0';
    if (gethostname(self->host, sizeof self->host - 1) || !self->host[0] ||
        strpbrk(self->host, "/ #"))
        strcpy(self->host, "unknown");
    for (size_t i = 0; i < count; i++)
        if (process_number(process_ranks[i][0], self->rank) &&
            process_number(process_ranks[i][1], self->world))
            return true;
    strcpy(self->rank, "-");
    strcpy(self->world, "-");
    return true;
}

/* Looks up a symbol in a library that is already loaded; NULL if the library is
 * not loaded or lacks the symbol. */
static void *process_symbol(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD), *symbol;

    if (!handle)
        return NULL;
    symbol = dlsym(handle, name);
    dlclose(handle);
    return symbol;
}

void nw_nccl_device(char *out, size_t size)
{
    static const struct {
        const char *library, *current, *bus_id;
    } drivers[] = {
        {"libcuda.so.1", "cuCtxGetDevice", "cuDeviceGetPCIBusId"},
        {"libamdhip64.so", "hipGetDevice", "hipDeviceGetPCIBusId"},
        {"libamdhip64.so.6", "hipGetDevice", "hipDeviceGetPCIBusId"},
        {"libamdhip64.so.7", "hipGetDevice", "hipDeviceGetPCIBusId"},
    };

    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        int (*current)(int *) = (int (*)(int *))process_symbol(
            drivers[i].library, drivers[i].current);
        int (*bus_id)(char *, int, int) =
            (int (*)(char *, int, int))process_symbol(drivers[i].library,
                                                      drivers[i].bus_id);
        int device;

        if (current && bus_id && !current(&device) &&
            !bus_id(out, (int)size, device) && out[0] &&
            strspn(out, "0123456789abcdefABCDEF:.") == strlen(out))
            return;
    }
    snprintf(out, size, "-");
}
