/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds how the adapter of an endpoint reaches GPU memory: through a dma-buf,
 * or else through the kernel's peer-to-peer memory. Some providers accept
 * FI_HMEM, and even the registration, without supporting any GPU. So a trial
 * writes bytes into GPU memory and back, and compares them. */
#include "channel/memory/hmem.h"

#include "base/status.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 64, ROOM = 4096, CONTEXT = 1024 };

/* The part of libfabric 1.20 that registers a dma-buf: FI_MR_DMABUF, struct
 * fi_mr_dmabuf, and struct fi_mr_attr with space for members that later
 * versions append. It is declared here because Nodewise may be compiled with
 * older headers. This interface is stable. */
static const uint64_t MR_DMABUF = UINT64_C(1) << 40;
struct dmabuf {
    int fd;
    uint64_t offset;
    size_t bytes;
    void *base;
};
struct attributes {
    struct fi_mr_attr known;
    uint64_t more[8];
};

/* Resources of a trial. They are freed after the endpoint's operations have
 * ended, and never if one of them hangs. */
struct trial {
    struct nw_endpoint *fabric;
    fi_addr_t self;
    char *host, *gpu;
    struct fid_mr *host_region, *gpu_region;
    bool hangs;
};

bool nw_hmem_is_offered(const char *provider)
{
    return !strncmp(provider, "verbs", 5) || !strcmp(provider, "efa") ||
           !strcmp(provider, "cxi");
}

/* -- registration -- */

static struct attributes attributes_of(struct nw_endpoint *fabric,
                                       const void *memory)
{
    return (struct attributes){
        .known = {
            .iov_count = 1,
            .access = FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE,
            .requested_key = nw_endpoint_draw_key(fabric),
            .iface = FI_HMEM_CUDA,
            .device.cuda = nw_memory_gpu(memory),
        }};
}

static nw_status by_peer(struct nw_endpoint *fabric, void *memory, size_t bytes,
                         struct fid_mr **out)
{
    struct attributes how = attributes_of(fabric, memory);
    struct iovec iov = {memory, bytes};
    struct fid_mr *region = NULL;
    int code;

    how.known.mr_iov = &iov;
    code = fi_mr_regattr(fabric->domain, &how.known, 0, &region);
    return nw_endpoint_ready(fabric, code, region, out);
}

/* Registers GPU memory through a dma-buf. The driver exports only whole pages,
 * so the dma-buf starts at the page that contains `memory`. */
static nw_status by_dmabuf(struct nw_endpoint *fabric, void *memory,
                           size_t bytes, struct fid_mr **out)
{
    struct attributes how = attributes_of(fabric, memory);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)memory & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + bytes + page - 1) & ~(page - 1);
    struct dmabuf buffer = {-1, (uintptr_t)memory - start, bytes,
                            (void *)start};
    const void *at = &buffer;
    struct fid_mr *region = NULL;
    int code;
    nw_status status = nw_memory_dmabuf(how.known.device.cuda, (void *)start,
                                        (size_t)(end - start), &buffer.fd);

    if (status)
        return NW_EIO; /* the caller treats it like a refusal by the provider */
    memcpy(&how.known.mr_iov, &at, sizeof at);
    code = fi_mr_regattr(fabric->domain, &how.known, MR_DMABUF, &region);
    status = nw_endpoint_ready(fabric, code, region, out);
    (void)close(buffer.fd);
    return status;
}

nw_status nw_hmem_register(struct nw_endpoint *fabric, void *memory,
                           size_t bytes, struct fid_mr **out)
{
    return fabric->hmem == NW_HMEM_DMABUF
               ? by_dmabuf(fabric, memory, bytes, out)
               : by_peer(fabric, memory, bytes, out);
}

/* -- requirements -- */

static bool has_module(void)
{
    static const char *const modules[] = {"nvidia_peermem", "nv_peer_mem"};
    const char *folder = getenv("NODEWISE_CHANNEL_MODULES");
    char path[512];

    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder ? folder : "/sys/module",
                 modules[i]);
        if (!access(path, F_OK))
            return true;
    }
    return false;
}

static nw_status hmem_is_possible(const struct nw_endpoint *fabric,
                                  enum nw_hmem kind)
{
    uint32_t version = fabric->info->fabric_attr->api_version;

    if (kind == NW_HMEM_DMABUF && FI_VERSION_LT(version, FI_VERSION(1, 20)))
        return nw_fail(NW_ENODEV, "libfabric takes none before 1.20");
    /* providers other than verbs reach GPU memory by their own kernel module */
    if (kind == NW_HMEM_PEER && !strncmp(fabric->provider, "verbs", 5) &&
        !has_module())
        return nw_fail(NW_ENODEV, "no module nvidia_peermem is loaded");
    return NW_OK;
}

/* -- the trial -- */

static nw_status write_through(struct trial *trial,
                               struct nw_endpoint_write *write)
{
    write->bytes = BYTES;
    write->peer = trial->self;
    write->context = trial->host + CONTEXT;
    return nw_endpoint_write_through(trial->fabric, write, &trial->hangs);
}

static nw_status check_bytes(const char *sent, const char *came,
                             const char *what)
{
    return memcmp(sent, came, BYTES)
               ? nw_fail(NW_EIO, "a trial %s it moves wrong bytes", what)
               : NW_OK;
}

/* Writes bytes into GPU memory and back through the adapter, and compares them.
 * The host buffer has three parts: the bytes to send, the driver's copy of the
 * GPU memory, and the bytes that the adapter wrote back. */
static nw_status there_and_back(struct trial *trial)
{
    struct nw_endpoint *fabric = trial->fabric;
    bool whole = fabric->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    char *back = trial->host + 2 * (size_t)BYTES;
    struct nw_endpoint_write in = {
        .from = trial->host,
        .descriptor = fi_mr_desc(trial->host_region),
        .address = whole ? (uintptr_t)trial->gpu : 0,
        .key = fi_mr_key(trial->gpu_region),
    };
    struct nw_endpoint_write out = {
        .from = trial->gpu,
        .descriptor = fi_mr_desc(trial->gpu_region),
        .address = whole ? (uintptr_t)back : 2 * (uint64_t)BYTES,
        .key = fi_mr_key(trial->host_region),
    };
    nw_status status;

    for (int i = 0; i < 3 * BYTES; i++)
        trial->host[i] = (char)(i < BYTES ? 37 * i + getpid() : 0);
    status = write_through(trial, &in);
    if (!status)
        status = nw_memory_copy_out(nw_memory_gpu(trial->gpu),
                                    trial->host + BYTES, trial->gpu, BYTES);
    if (!status)
        status = check_bytes(trial->host, trial->host + BYTES, "write into");
    if (!status)
        status = write_through(trial, &out);
    return status ? status : check_bytes(trial->host, back, "write out of");
}

static nw_status try_kind(struct trial *trial, enum nw_hmem kind)
{
    struct nw_endpoint *fabric = trial->fabric;
    nw_status status = hmem_is_possible(fabric, kind);

    fabric->hmem = kind;
    if (!status)
        status = nw_hmem_register(fabric, trial->gpu, ROOM, &trial->gpu_region);
    if (!status)
        status = nw_memory_keep_in_step(trial->gpu);
    if (!status)
        status = there_and_back(trial);
    if (!trial->hangs)
        nw_endpoint_unregister(trial->gpu_region);
    trial->gpu_region = NULL;
    return status;
}

static nw_status hmem_prepare(struct trial *trial)
{
    struct nw_endpoint *fabric = trial->fabric;
    nw_status status = nw_endpoint_meet(fabric, fabric->name, &trial->self);

    if (!status)
        status = nw_memory_new(nw_memory_home(), ROOM, (void **)&trial->gpu);
    if (!status)
        status = nw_memory_pinned_new(ROOM, (void **)&trial->host);
    if (!status)
        status = nw_endpoint_register(fabric, trial->host, ROOM,
                                      &trial->host_region);
    return status;
}

static const char *const names[NW_HMEM_KINDS] = {
    [NW_HMEM_DMABUF] = "dma-buf",
    [NW_HMEM_PEER] = "peer memory",
};

static void hmem_note(struct nw_endpoint *fabric, const char *what)
{
    size_t used = strlen(fabric->why);

    snprintf(fabric->why + used, sizeof fabric->why - used, "%s%s: %s",
             used ? "; " : "", what, nw_error_text());
}

/* Returns true if one send can gather a host header and a GPU payload without
 * copying. Providers examine the memory of each iovec only if
 * FI_HMEM_P2P_REQUIRED is set; otherwise they treat all like the first. */
static bool can_gather(const struct nw_endpoint *fabric)
{
    int how = FI_HMEM_P2P_REQUIRED;

    return fabric->pieces && !fi_setopt(&fabric->ep->fid, FI_OPT_ENDPOINT,
                                        FI_OPT_FI_HMEM_P2P, &how, sizeof how);
}

bool nw_hmem_find(struct nw_endpoint *fabric)
{
    static const enum nw_hmem kinds[] = {NW_HMEM_DMABUF, NW_HMEM_PEER};
    struct trial trial = {.fabric = fabric};
    nw_status status = hmem_prepare(&trial);
    bool found = false;

    if (status)
        hmem_note(fabric, "a trial");
    for (int i = 0; i < 2 && !status && !found && !trial.hangs; i++) {
        found = !try_kind(&trial, kinds[i]);
        if (!found)
            hmem_note(fabric, names[kinds[i]]);
    }
    if (found)
        fabric->gathers = can_gather(fabric);
    else
        fabric->hmem = NW_HMEM_NONE;
    if (trial.hangs)
        return false; /* the write may still use the trial's memory */
    nw_endpoint_unregister(trial.host_region);
    nw_memory_pinned_free(trial.host);
    nw_memory_free(trial.gpu);
    return found;
}
