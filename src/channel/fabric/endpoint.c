/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes endpoints of libfabric providers, registers memory, and
 * writes to peers. Loads libfabric at first use. */
#include "channel/fabric/endpoint.h"

#include "base/clock.h"
#include "base/library.h"
#include "base/status.h"

#include <rdma/fi_errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static struct {
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t,
                   const struct fi_info *, struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    const char *(*strerror)(int);
    uint32_t (*version)(void);
} fi;

enum { SIGNALS = 32, PATIENCE_S = 5, LOOK_TURNS = 64 };

/* Loads libfabric without changing the program's signal handlers. Libraries
 * that libfabric loads install their own handlers; those of PSM write .btr
 * files, and end or hang the program. All signals are blocked until the old
 * handlers are restored, so that none reaches a foreign handler. */
static nw_status load_quietly(const struct nw_symbol *symbols, size_t count)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction before[SIGNALS];
    bool had[SIGNALS];
    sigset_t all, blocked;
    nw_status status;

    sigfillset(&all);
    /* without this lock, a second thread could save PSM's handlers as the old
     * ones */
    (void)pthread_mutex_lock(&lock);
    (void)pthread_sigmask(SIG_BLOCK, &all, &blocked);
    for (int i = 1; i < SIGNALS; i++)
        had[i] = !sigaction(i, NULL, &before[i]);
    status = nw_library_load("libfabric.so.1", symbols, count, "for channels");
    for (int i = 1; i < SIGNALS; i++)
        if (had[i] && i != SIGKILL && i != SIGSTOP)
            (void)sigaction(i, &before[i], NULL);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    (void)pthread_mutex_unlock(&lock);
    return status;
}

static nw_status endpoint_load(void)
{
    const struct nw_symbol symbols[] = {
        {"fi_getinfo", &fi.getinfo},   {"fi_freeinfo", &fi.freeinfo},
        {"fi_dupinfo", &fi.dupinfo},   {"fi_fabric", &fi.fabric},
        {"fi_strerror", &fi.strerror}, {"fi_version", &fi.version},
    };

    return load_quietly(symbols, sizeof symbols / sizeof *symbols);
}

static nw_status endpoint_check(const struct nw_endpoint *fabric, ssize_t code,
                                const char *what)
{
    if (code >= 0)
        return NW_OK;
    return nw_fail(NW_EIO, "provider %s cannot %s: %s", fabric->provider, what,
                   fi.strerror((int)-code));
}

/* Returns a unique endpoint name for the provider shm, or NULL for other
 * providers. shm names its shared memory after the endpoint. A killed process
 * leaves this memory behind, so the process id is not enough: a later process
 * with the same id needs another name. */
static const char *own_name(const char *provider, char *room, size_t bytes)
{
    struct timespec now;

    if (strcmp(provider, "shm"))
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(room, bytes, "nodewise-%ld-%lx%05lx", (long)getpid(),
             (unsigned long)now.tv_sec, (unsigned long)now.tv_nsec >> 10);
    return room;
}

/* Returns the version of libfabric's interface to ask for. Registration of a
 * dma-buf needs 1.20. Code for 1.17 also works with 1.20: the only changed
 * structs are those that libfabric itself allocates, and fi_cq_err_entry, which
 * have grown at their ends. */
static uint32_t version_for(bool gpu)
{
    uint32_t dmabuf = FI_VERSION(1, 20);

    return gpu && FI_VERSION_GE(fi.version(), dmabuf) ? dmabuf
                                                      : FI_VERSION(1, 17);
}

static int endpoint_ask(const char *provider, bool gpu, struct fi_info **out)
{
    struct fi_info *hints = fi.dupinfo(NULL);
    char name[64], room[64];
    const char *own = own_name(provider, room, sizeof room);
    int code;

    if (!hints)
        return -FI_ENOMEM;
    snprintf(name, sizeof name, "%s", provider);
    hints->fabric_attr->prov_name = name;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->cq_data_size = 4;
    hints->domain_attr->mr_mode =
        FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
    if (gpu) {
        hints->caps |= FI_HMEM;
        hints->domain_attr->mr_mode |= FI_MR_HMEM | FI_MR_LOCAL;
    }
    code = fi.getinfo(version_for(gpu), own, NULL, own ? FI_SOURCE : 0, hints,
                      out);
    hints->fabric_attr->prov_name = NULL;
    fi.freeinfo(hints);
    return code;
}

static int open_endpoint(struct nw_endpoint *fabric)
{
    struct fi_info *info = fabric->info;
    struct fi_av_attr av = {.type = info->domain_attr->av_type};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .size = 4096};
    int code = fi.fabric(info->fabric_attr, &fabric->fabric, NULL);

    if (!code)
        code = fi_domain(fabric->fabric, info, &fabric->domain, NULL);
    if (!code)
        code = fi_av_open(fabric->domain, &av, &fabric->av, NULL);
    if (!code)
        code = fi_cq_open(fabric->domain, &cq, &fabric->cq, NULL);
    if (!code)
        code = fi_endpoint(fabric->domain, info, &fabric->ep, NULL);
    if (!code)
        code = fi_ep_bind(fabric->ep, &fabric->av->fid, 0);
    if (!code)
        code = fi_ep_bind(fabric->ep, &fabric->cq->fid,
                          FI_SEND |
                              (fabric->copies ? FI_SELECTIVE_COMPLETION : 0));
    if (!code)
        code = fi_ep_bind(fabric->ep, &fabric->cq->fid, FI_RECV);
    if (!code)
        code = fi_enable(fabric->ep);
    fabric->name_bytes = sizeof fabric->name;
    if (!code)
        code = fi_getname(&fabric->ep->fid, fabric->name, &fabric->name_bytes);
    return code;
}

nw_status nw_endpoint_open_one(const char *provider, bool gpu,
                               struct nw_endpoint *fabric)
{
    nw_status status = endpoint_load();
    int code;

    if (status)
        return status;
    memset(fabric, 0, sizeof *fabric);
    snprintf(fabric->provider, sizeof fabric->provider, "%s", provider);
    code = endpoint_ask(provider, gpu, &fabric->info);
    if (code)
        return nw_fail(NW_ENODEV, "libfabric has no provider '%s'%s here: %s",
                       provider, gpu ? " for GPU memory" : "",
                       fi.strerror(-code));
    fabric->local = fabric->info->domain_attr->mr_mode & FI_MR_LOCAL;
    fabric->pieces = fabric->info->tx_attr->iov_limit > 1;
    fabric->limit = fabric->info->ep_attr->max_msg_size;
    fabric->copies = !strcmp(provider, "shm");
    fabric->streams = !strncmp(provider, "tcp", 3);
    fabric->whole =
        fabric->copies ? fabric->info->tx_attr->inject_size : SIZE_MAX;
    fabric->info->tx_attr->op_flags |= FI_COMPLETION;
    code = open_endpoint(fabric);
    if (code) {
        nw_endpoint_close(fabric);
        return nw_fail(NW_ENODEV, "provider '%s' does not open here: %s",
                       provider, fi.strerror(-code));
    }
    return NW_OK;
}

static void close_fid(void *fid)
{
    if (fid)
        (void)fi_close(fid);
}

void nw_endpoint_close(struct nw_endpoint *fabric)
{
    close_fid(fabric->ep);
    close_fid(fabric->cq);
    close_fid(fabric->av);
    close_fid(fabric->domain);
    close_fid(fabric->fabric);
    if (fabric->info)
        fi.freeinfo(fabric->info);
    memset(fabric, 0, sizeof *fabric);
}

nw_status nw_endpoint_meet(struct nw_endpoint *fabric, const void *name,
                           fi_addr_t *out)
{
    if (fi_av_insert(fabric->av, name, 1, out, 0, NULL) == 1)
        return NW_OK;
    return nw_fail(NW_EIO, "provider %s does not accept the address of a peer",
                   fabric->provider);
}

/* The shared memory of an shm endpoint must keep its name until all peers have
 * opened it. libfabric 1.17 opens it in nw_endpoint_meet; later versions may
 * open it with the first message, so with them this function keeps the name. */
void nw_endpoint_hide(const struct nw_endpoint *fabric)
{
    const char *name = strstr(fabric->name, "://");

    if (fabric->copies && fi.version() == FI_VERSION(1, 17))
        (void)shm_unlink(name ? name + 3 : fabric->name);
}

nw_status nw_endpoint_ready(const struct nw_endpoint *fabric, int code,
                            struct fid_mr *region, struct fid_mr **out)
{
    if (!code && fabric->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        code = fi_mr_bind(region, &fabric->ep->fid, 0);
        if (!code)
            code = fi_mr_enable(region);
        if (code)
            (void)fi_close(&region->fid);
    }
    if (!code)
        *out = region;
    return endpoint_check(fabric, code, "register memory");
}

uint64_t nw_endpoint_draw_key(const struct nw_endpoint *fabric)
{
    static uint64_t next;
    size_t bits = 8 * fabric->info->domain_attr->mr_key_size;
    uint64_t key;

    if (getrandom(&key, sizeof key, 0) != sizeof key)
        key = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
    return bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key;
}

nw_status nw_endpoint_register(struct nw_endpoint *fabric, void *memory,
                               size_t bytes, struct fid_mr **out)
{
    uint64_t access =
        FI_REMOTE_WRITE | FI_WRITE | (fabric->local ? FI_SEND | FI_RECV : 0);
    struct fid_mr *region = NULL;
    int code = fi_mr_reg(fabric->domain, memory, bytes, access, 0,
                         nw_endpoint_draw_key(fabric), 0, &region, NULL);

    return nw_endpoint_ready(fabric, code, region, out);
}

nw_status nw_endpoint_describe(struct nw_endpoint *fabric, void *memory,
                               size_t bytes, struct fid_mr **region, void **out)
{
    nw_status status = NW_OK;

    if (!fabric->local) {
        *out = NULL;
        return NW_OK;
    }
    if (!*region)
        status = nw_endpoint_register(fabric, memory, bytes, region);
    if (!status)
        *out = fi_mr_desc(*region);
    return status;
}

uint64_t nw_endpoint_address(const struct nw_endpoint *fabric,
                             const void *memory)
{
    return fabric->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR
               ? (uint64_t)(uintptr_t)memory
               : 0;
}

void nw_endpoint_unregister(struct fid_mr *region)
{
    if (region)
        (void)fi_close(&region->fid);
}

ssize_t nw_endpoint_write(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write)
{
    struct iovec iov = {(void *)write->from, write->bytes};
    void *descriptor = write->descriptor;
    struct fi_rma_iov to = {write->address, write->bytes, write->key};
    struct fi_msg_rma msg = {
        .msg_iov = &iov,
        .desc = &descriptor,
        .iov_count = 1,
        .addr = write->peer,
        .rma_iov = &to,
        .rma_iov_count = 1,
        .context = write->context,
    };

    /* with FI_REMOTE_CQ_DATA, shm copies the bytes through its shared memory in
     * order, which is faster than a system call */
    if (write->at_once && write->bytes <= fabric->whole)
        return fi_writemsg(fabric->ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA);
    return fi_writemsg(fabric->ep, &msg,
                       write->at_once ? FI_COMPLETION
                                      : FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* Returns true if the operation with this context has ended or the queue
 * reports an error, and sets *code to the result: 0, or a negative libfabric
 * code. */
static bool is_over(struct nw_endpoint *fabric, const void *context,
                    ssize_t *code)
{
    struct fi_cq_data_entry entry;
    struct nw_endpoint_error error = {0};
    ssize_t n = fi_cq_read(fabric->cq, &entry, 1);

    if (n == -FI_EAGAIN || (n == 1 && entry.op_context != context))
        return false;
    if (n == -FI_EAVAIL)
        n = fi_cq_readerr(fabric->cq, &error.known, 0) == 1 ? -error.known.err
                                                            : -FI_EIO;
    *code = n < 0 ? n : 0;
    return true;
}

nw_status nw_endpoint_write_through(struct nw_endpoint *fabric,
                                    const struct nw_endpoint_write *write,
                                    bool *hangs)
{
    uint64_t until = 0, turns = 0;
    ssize_t code = nw_endpoint_write(fabric, write), ended = 0;
    bool over = false, taken = !code;

    while ((!code || code == -FI_EAGAIN) && !over) {
        if (!(++turns % LOOK_TURNS) && !until)
            until = nw_clock_ns() + PATIENCE_S * UINT64_C(1000000000);
        else if (!(turns % LOOK_TURNS) && nw_clock_ns() > until)
            break;
        over = is_over(fabric, write->context, &ended) && taken;
        if (!taken)
            code = nw_endpoint_write(fabric, write);
        taken = !code;
    }
    *hangs = !code && !over;
    code = code ? code : over ? ended : -FI_ETIMEDOUT;
    return code < 0 ? nw_fail(NW_EIO, "a write through provider %s fails: %s",
                              fabric->provider, fi.strerror((int)-code))
                    : NW_OK;
}
