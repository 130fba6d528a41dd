/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of libfabric with an adapter that can access GPU memory: a
 * provider that passes operations on to a provider of the real library, which
 * moves the bytes. It requires of its callers what such a provider requires:
 * every piece of memory must be registered for the right interface, and
 * operations must give its descriptor. Environment variables set what it
 * accepts (README.md). GPU memory is that of the double of CUDA, whose
 * FAKE_CUDA_COSTS set the time that the adapter takes. */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define API __attribute__((visibility("default")))

enum { PIECES = 4, SPOILED = 4096 };

/* The values and the struct of libfabric 1.20 and later, for builds with older
 * headers. */
static const uint64_t MR_DMABUF = UINT64_C(1) << 40;
struct dmabuf {
    int fd;
    uint64_t offset;
    size_t bytes;
    void *base;
};

/* Bits that mark the keys of GPU memory, because its addresses differ from
 * those of its bytes in host memory. */
static const uint64_t GPU_KEY = UINT64_C(1) << 62, WRONG_KEY = UINT64_C(1)
                                                               << 61;

/* A registered piece of memory. */
struct region {
    struct fid_mr mr;
    struct fid_mr *real;
    uintptr_t start, bytes;
    ptrdiff_t away; /* distance from an address to its bytes in host memory;
                       0 for memory of the host */
};

static struct {
    int (*getinfo)(uint32_t, const char *, const char *, uint64_t,
                   const struct fi_info *, struct fi_info **);
    void (*freeinfo)(struct fi_info *);
    struct fi_info *(*dupinfo)(const struct fi_info *);
    int (*fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    const char *(*strerror)(int);
    uint32_t (*version)(void);
    int (*open)(uint32_t, const char *, void *, size_t, uint64_t, struct fid **,
                void *);
} real;
static int (*find_gpu)(uint64_t gpu, size_t bytes, void **out);
static void (*spend)(const char *kind, size_t bytes);
static ptrdiff_t gpu_away;
static int room = -1; /* how many regions of GPU memory may exist; -1: any
                         number */
static int regions;

/* Whether the value of the environment variable contains the word. */
static bool says(const char *variable, const char *word)
{
    const char *value = getenv(variable);

    return value && strstr(value, word);
}

/* The value of the environment variable, or `otherwise` if it is not set. */
static const char *word(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);

    return value ? value : otherwise;
}

/* The name of the provider that the double appears to be. */
static const char *played(void)
{
    return word("FAKE_HMEM_PROVIDER", "verbs;ofi_rxm");
}

/* The symbol of the real library, which is a file with the same name. */
static void *symbol(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen(LIBFABRIC, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

static void __attribute__((constructor)) load(void)
{
    *(void **)&real.getinfo = symbol("fi_getinfo");
    *(void **)&real.freeinfo = symbol("fi_freeinfo");
    *(void **)&real.dupinfo = symbol("fi_dupinfo");
    *(void **)&real.fabric = symbol("fi_fabric");
    *(void **)&real.strerror = symbol("fi_strerror");
    *(void **)&real.version = symbol("fi_version");
    *(void **)&real.open = symbol("fi_open");
}

/* Whether the bytes are GPU memory; *out becomes their address in host
 * memory. */
static bool is_gpu(const void *memory, size_t bytes, void **out)
{
    void *driver;

    if (!find_gpu) {
        driver = dlopen("libcuda.so.1", RTLD_NOW);
        if (driver) {
            *(void **)&spend = dlsym(driver, "fake_cuda_work");
            *(void **)&find_gpu = dlsym(driver, "fake_cuda_map");
        }
    }
    return find_gpu && !find_gpu((uintptr_t)memory, bytes, out);
}

/* Sets how many regions of GPU memory may exist from now on. The real libfabric
 * has no such function. */
API void fake_hmem_room(int most)
{
    room = most;
}

API int fake_hmem_regions(void)
{
    return regions;
}

/* -- registration -- */

static int region_close(struct fid *fid)
{
    struct region *region = (struct region *)fid;
    int code = fi_close(&region->real->fid);

    regions -= region->away != 0;
    free(region);
    return code;
}

static struct fi_ops region_ops = {.size = sizeof region_ops,
                                   .close = region_close};
static struct fi_ops_mr mr_ops, *mr_before;

/* Registers memory with the real provider, and makes the region that the caller
 * gets as a handle. */
static int wrap(struct fid *domain, struct region about, uint64_t access,
                uint64_t key, struct fid_mr **out)
{
    struct region *region = calloc(1, sizeof *region);
    int code;

    if (!region)
        return -FI_ENOMEM;
    *region = about;
    code = mr_before->reg(domain, (char *)about.start + about.away, about.bytes,
                          access, 0, key, 0, &region->real, NULL);
    if (code) {
        free(region);
        return code;
    }
    region->mr.fid.fclass = FI_CLASS_MR;
    region->mr.fid.ops = &region_ops;
    region->mr.mem_desc = region;
    region->mr.key |= fi_mr_key(region->real);
    regions += about.away != 0;
    *out = &region->mr;
    return 0;
}

static int mr_reg(struct fid *domain, const void *memory, size_t bytes,
                  uint64_t access, uint64_t offset, uint64_t key,
                  uint64_t flags, struct fid_mr **out, void *context)
{
    struct region region = {.start = (uintptr_t)memory, .bytes = bytes};
    void *found;

    if (offset || flags || context || is_gpu(memory, 1, &found))
        return -FI_EFAULT;
    return wrap(domain, region, access, key, out);
}

/* Whether the dma-buf is the given memory: a byte that is written through it
 * must appear there. */
static bool is_of(const struct dmabuf *buffer, volatile char *bytes)
{
    size_t length = buffer->offset + buffer->bytes;
    char *seen =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
    bool same;

    if (seen == MAP_FAILED)
        return false;
    seen[buffer->offset] ^= 1;
    same = bytes[0] == seen[buffer->offset];
    seen[buffer->offset] ^= 1;
    same = same && bytes[0] == seen[buffer->offset];
    munmap(seen, length);
    return same;
}

/* Finds the memory that the attributes describe, and checks the interface. */
static int find_memory(const struct fi_mr_attr *attr, bool dmabuf,
                       struct region *out)
{
    const struct dmabuf *buffer;
    void *found = NULL;

    memcpy(&buffer, &attr->mr_iov, sizeof buffer);
    out->start = dmabuf ? (uintptr_t)buffer->base + buffer->offset
                        : (uintptr_t)attr->mr_iov->iov_base;
    out->bytes = dmabuf ? buffer->bytes : attr->mr_iov->iov_len;
    if (!is_gpu((void *)out->start, out->bytes, &found) ||
        attr->device.cuda < 0 || attr->iov_count != 1)
        return -FI_EFAULT;
    if (dmabuf && !is_of(buffer, found))
        return -FI_EBADF;
    out->away = gpu_away = (char *)found - (char *)out->start;
    return 0;
}

static int mr_regattr(struct fid *domain, const struct fi_mr_attr *attr,
                      uint64_t flags, struct fid_mr **out)
{
    bool dmabuf = flags & MR_DMABUF;
    const char *way = dmabuf ? "dmabuf" : "peer";
    struct region region = {.mr.key = GPU_KEY};
    int code;

    if (attr->iface != FI_HMEM_CUDA || says("FAKE_HMEM_REFUSE", way))
        return -FI_EOPNOTSUPP;
    if (room >= 0 && regions >= room)
        return -FI_ENOMEM;
    if (says("FAKE_HMEM_WRONG", way))
        region.mr.key |= WRONG_KEY;
    code = find_memory(attr, dmabuf, &region);
    return code ? code
                : wrap(domain, region, attr->access, attr->requested_key, out);
}

/* -- costs -- */

/* The operation that the real provider did not take, for which the time is not
 * spent again when the caller repeats it. */
static const void *paid;

/* The number of bytes of the pieces in GPU memory. */
static size_t gpu_bytes(const struct iovec *iov, void **descriptors,
                        size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count && i < PIECES; i++) {
        const struct region *region = descriptors ? descriptors[i] : NULL;

        if (region && region->away)
            bytes += iov[i].iov_len;
    }
    return bytes;
}

/* Spends the time in which the adapter reads GPU memory that is sent, before
 * the bytes leave it. */
static void pay_read(const struct iovec *iov, void **descriptors, size_t count,
                     const void *context)
{
    size_t bytes = gpu_bytes(iov, descriptors, count);

    if (bytes && paid != context)
        spend("adapter-read", bytes);
    paid = context;
}

/* Notes whether the real provider took the operation; returns its code. */
static ssize_t taken(ssize_t code)
{
    if (code != -FI_EAGAIN)
        paid = NULL;
    return code;
}

/* The endpoints of this process, the address vector of each, and the address of
 * the endpoint itself in that vector. */
enum { ENDPOINTS = 8, ADDRESSES = 64, NAME = 256 };
static struct own {
    struct fid *ep;
    struct fid_av *av;
    fi_addr_t self;
} owns[ENDPOINTS];
static int own_count;
static struct fi_ops fid_ops, *fid_before;

static int ep_bind(struct fid *ep, struct fid *other, uint64_t flags)
{
    if (other->fclass == FI_CLASS_AV)
        owns[own_count++ % ENDPOINTS] =
            (struct own){ep, (struct fid_av *)other, FI_ADDR_NOTAVAIL};
    return fid_before->bind(ep, other, flags);
}

/* The address of the endpoint itself in its address vector, or
 * FI_ADDR_NOTAVAIL. */
static fi_addr_t find_self(const struct own *own)
{
    char name[NAME], other[NAME];
    size_t length = NAME;

    if (fi_getname(own->ep, name, &length) || length > NAME)
        return FI_ADDR_NOTAVAIL;
    for (fi_addr_t i = 0; i < ADDRESSES; i++) {
        size_t bytes = NAME;

        if (!fi_av_lookup(own->av, i, other, &bytes) &&
            !memcmp(name, other, bytes < length ? bytes : length))
            return i;
    }
    return FI_ADDR_NOTAVAIL;
}

/* Whether the address is that of the endpoint itself. */
static bool is_self(const struct fid_ep *ep, fi_addr_t to)
{
    for (int i = 0; i < ENDPOINTS; i++)
        if (owns[i].ep == &ep->fid) {
            if (owns[i].self == FI_ADDR_NOTAVAIL)
                owns[i].self = find_self(&owns[i]);
            return owns[i].self == to;
        }
    return false;
}

/* Spends the time of a write. A write from host memory to a GPU of the same
 * process crosses the adapter's link three times, and a write from that GPU to
 * host memory crosses it twice. */
static void pay_write(const struct fid_ep *ep, const struct fi_msg_rma *msg)
{
    bool self = is_self(ep, msg->addr);
    size_t read = gpu_bytes(msg->msg_iov, msg->desc, msg->iov_count);
    size_t bytes = msg->rma_iov->len;

    if (paid == msg->context)
        return;
    if (read)
        spend("adapter-read", read);
    if (msg->rma_iov->key & GPU_KEY)
        spend(self ? "loopback" : "adapter-write", bytes);
    else if (self && read)
        spend("adapter-write", bytes);
    paid = msg->context;
}

/* -- operations -- */

/* Translates a piece of memory and its descriptor to those of the real
 * provider. */
static int take_piece(const struct iovec *iov, void *descriptor,
                      struct iovec *out, void **out_descriptor)
{
    const struct region *region = descriptor;
    uintptr_t at = (uintptr_t)iov->iov_base;

    if (!region || at < region->start ||
        at - region->start > region->bytes - iov->iov_len)
        return -FI_EFAULT;
    *out = (struct iovec){(char *)at + region->away, iov->iov_len};
    *out_descriptor = fi_mr_desc(region->real);
    return 0;
}

static int take_pieces(const struct iovec *iov, void **descriptors,
                       size_t count, struct iovec *out, void **out_descriptors)
{
    int code = count > PIECES || (count && !descriptors) ? -FI_EINVAL : 0;

    for (size_t i = 0; i < count && !code; i++)
        code =
            take_piece(&iov[i], descriptors[i], &out[i], &out_descriptors[i]);
    return code;
}

static struct fi_ops_msg msg_ops, *msg_before;
static struct fi_ops_rma rma_ops, *rma_before;
static struct fi_ops_ep ep_ops, *ep_before;
static bool virtual;

static ssize_t ep_recv(struct fid_ep *ep, void *buffer, size_t bytes,
                       void *descriptor, fi_addr_t from, void *context)
{
    struct iovec iov = {buffer, bytes};
    int code = take_piece(&iov, descriptor, &iov, &descriptor);

    return code ? code
                : msg_before->recv(ep, iov.iov_base, bytes, descriptor, from,
                                   context);
}

static ssize_t ep_sendv(struct fid_ep *ep, const struct iovec *iov,
                        void **descriptors, size_t count, fi_addr_t to,
                        void *context)
{
    struct iovec pieces[PIECES];
    void *words[PIECES];
    int code = take_pieces(iov, descriptors, count, pieces, words);

    if (code)
        return code;
    pay_read(iov, descriptors, count, context);
    return taken(msg_before->sendv(ep, pieces, words, count, to, context));
}

static ssize_t ep_send(struct fid_ep *ep, const void *buffer, size_t bytes,
                       void *descriptor, fi_addr_t to, void *context)
{
    struct iovec iov = {(void *)buffer, bytes}, piece;
    void *word;
    int code = take_piece(&iov, descriptor, &piece, &word);

    if (code)
        return code;
    pay_read(&iov, &descriptor, 1, context);
    return taken(
        msg_before->send(ep, piece.iov_base, bytes, word, to, context));
}

static ssize_t ep_senddata(struct fid_ep *ep, const void *buffer, size_t bytes,
                           void *descriptor, uint64_t data, fi_addr_t to,
                           void *context)
{
    struct iovec iov = {(void *)buffer, bytes}, piece;
    void *word;
    int code = take_piece(&iov, descriptor, &piece, &word);

    if (code)
        return code;
    pay_read(&iov, &descriptor, 1, context);
    return taken(msg_before->senddata(ep, piece.iov_base, bytes, word, data, to,
                                      context));
}

static ssize_t ep_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
                           uint64_t flags)
{
    static char spoiled[SPOILED];
    struct iovec pieces[PIECES];
    void *words[PIECES];
    struct fi_rma_iov to = *msg->rma_iov;
    struct fi_msg_rma below = *msg;
    int code =
        take_pieces(msg->msg_iov, msg->desc, msg->iov_count, pieces, words);

    if (code)
        return code;
    pay_write(ep, msg);
    if (to.key & WRONG_KEY && to.len <= SPOILED) {
        memcpy(spoiled, pieces[0].iov_base, to.len);
        spoiled[0] ^= 1;
        pieces[0].iov_base = spoiled;
    }
    if (to.key & GPU_KEY && virtual)
        to.addr += (uint64_t)gpu_away;
    to.key &= ~(GPU_KEY | WRONG_KEY);
    below.msg_iov = pieces;
    below.desc = words;
    below.rma_iov = &to;
    return taken(rma_before->writemsg(ep, &below, flags));
}

static int ep_setopt(struct fid *ep, int level, int option, const void *value,
                     size_t bytes)
{
    if (option == FI_OPT_FI_HMEM_P2P)
        return says("FAKE_HMEM_REFUSE", "gather") ? -FI_EOPNOTSUPP : 0;
    return ep_before->setopt(ep, level, option, value, bytes);
}

/* -- opening -- */

/* The request to the real provider for a request of the caller. */
static struct fi_info *below(const struct fi_info *info)
{
    struct fi_info *copy = real.dupinfo(info);

    if (!copy)
        return NULL;
    free(copy->fabric_attr->prov_name);
    copy->fabric_attr->prov_name =
        strdup(word("FAKE_HMEM_OVER", "tcp;ofi_rxm"));
    copy->caps &= ~FI_HMEM;
    copy->tx_attr->caps &= ~FI_HMEM;
    copy->rx_attr->caps &= ~FI_HMEM;
    copy->domain_attr->mr_mode &= ~(FI_MR_LOCAL | FI_MR_HMEM);
    if (getenv("FAKE_HMEM_OFFSETS"))
        copy->domain_attr->mr_mode &= ~FI_MR_VIRT_ADDR;
    return copy;
}

static struct fi_ops_domain domain_ops, *domain_before;
static struct fi_ops_fabric fabric_ops, *fabric_before;

static int open_endpoint(struct fid_domain *domain, struct fi_info *info,
                         struct fid_ep **ep, void *context)
{
    struct fi_info *asked = below(info);
    int code = domain_before->endpoint(domain, asked, ep, context);

    real.freeinfo(asked);
    if (code || !(info->caps & FI_HMEM))
        return code;
    virtual = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    msg_before = (*ep)->msg;
    msg_ops = *msg_before;
    msg_ops.recv = ep_recv;
    msg_ops.send = ep_send;
    msg_ops.sendv = ep_sendv;
    msg_ops.senddata = ep_senddata;
    (*ep)->msg = &msg_ops;
    rma_before = (*ep)->rma;
    rma_ops = *rma_before;
    rma_ops.writemsg = ep_writemsg;
    (*ep)->rma = &rma_ops;
    ep_before = (*ep)->ops;
    ep_ops = *ep_before;
    ep_ops.setopt = ep_setopt;
    (*ep)->ops = &ep_ops;
    fid_before = (*ep)->fid.ops;
    fid_ops = *fid_before;
    fid_ops.bind = ep_bind;
    (*ep)->fid.ops = &fid_ops;
    return 0;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain, void *context)
{
    struct fi_info *asked = below(info);
    int code = fabric_before->domain(fabric, asked, domain, context);

    real.freeinfo(asked);
    if (code)
        return code;
    domain_before = (*domain)->ops;
    domain_ops = *domain_before;
    domain_ops.endpoint = open_endpoint;
    (*domain)->ops = &domain_ops;
    if (!(info->caps & FI_HMEM))
        return 0;
    mr_before = (*domain)->mr;
    mr_ops = *mr_before;
    mr_ops.reg = mr_reg;
    mr_ops.regattr = mr_regattr;
    (*domain)->mr = &mr_ops;
    return 0;
}

API int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                  void *context)
{
    struct fi_fabric_attr asked = *attr;
    int code;

    if (strcmp(attr->prov_name, played()))
        return real.fabric(attr, fabric, context);
    asked.prov_name = (char *)word("FAKE_HMEM_OVER", "tcp;ofi_rxm");
    asked.api_version = FI_VERSION(1, 17);
    code = real.fabric(&asked, fabric, context);
    if (code)
        return code;
    fabric_before = (*fabric)->ops;
    fabric_ops = *fabric_before;
    fabric_ops.domain = open_domain;
    (*fabric)->ops = &fabric_ops;
    return 0;
}

/* Makes the description of the real provider that of the provider which the
 * double appears to be. */
static void dress(struct fi_info *info, uint32_t version, bool gpu)
{
    for (; info; info = info->next) {
        free(info->fabric_attr->prov_name);
        info->fabric_attr->prov_name = strdup(played());
        info->fabric_attr->api_version = version;
        if (!gpu)
            continue;
        info->caps |= FI_HMEM;
        info->domain_attr->mr_mode |= FI_MR_LOCAL | FI_MR_HMEM;
        /* as the keys of an adapter are; the marks of the double use higher
         * bits */
        info->domain_attr->mr_key_size = sizeof(uint32_t);
    }
}

API int fi_getinfo(uint32_t version, const char *node, const char *service,
                   uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out)
{
    const char *name = hints ? hints->fabric_attr->prov_name : NULL;
    bool gpu = hints && hints->caps & FI_HMEM;
    struct fi_info *asked;
    int code;

    if (!name || strcmp(name, played()))
        return real.getinfo(version, node, service, flags, hints, out);
    if (gpu && says("FAKE_HMEM_REFUSE", "hint"))
        return -FI_ENODATA;
    asked = below(hints);
    code = real.getinfo(FI_VERSION(1, 17), node, service, flags, asked, out);
    real.freeinfo(asked);
    if (!code)
        dress(*out, version, gpu);
    return code;
}

API uint32_t fi_version(void)
{
    int minor = atoi(word("FAKE_HMEM_MINOR", "20"));

    return FI_VERSION(1, (uint32_t)minor);
}

API int fi_open(uint32_t version, const char *name, void *attr, size_t length,
                uint64_t flags, struct fid **fid, void *context)
{
    return real.open(version, name, attr, length, flags, fid, context);
}

API void fi_freeinfo(struct fi_info *info)
{
    real.freeinfo(info);
}

API struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    return real.dupinfo(info);
}

API const char *fi_strerror(int code)
{
    return real.strerror(code);
}

/* Open MPI 6 asks for the version of libfabric 2. In the double both versions
 * are the same function: its structs are those of the header that is compiled.
 */
#define TWO_VERSIONS(name)                                                     \
    API __typeof__(name) name##_older __attribute__((alias(#name)));           \
    API __typeof__(name) name##_newer __attribute__((alias(#name)));           \
    __asm__(".symver " #name "_older, " #name "@@FABRIC_1.3");                 \
    __asm__(".symver " #name "_newer, " #name "@FABRIC_1.8")

TWO_VERSIONS(fi_getinfo);
TWO_VERSIONS(fi_freeinfo);
TWO_VERSIONS(fi_dupinfo);
