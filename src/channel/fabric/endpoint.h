/* SPDX-License-Identifier: BSD-3-Clause */
/* One endpoint of one libfabric provider, and the few operations on it. The
 * only place that knows how libfabric is asked. */
#ifndef NW_CHANNEL_FABRIC_ENDPOINT_H
#define NW_CHANNEL_FABRIC_ENDPOINT_H

#include <nodewise/status.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdint.h>

enum { NW_ENDPOINT_NAME = 256 }; /* bytes of an endpoint's name, at most */

/* How a GPU's memory is known to the adapter: not at all, as a dma-buf, or by
 * the kernel's peer-to-peer memory. */
enum nw_hmem { NW_HMEM_NONE, NW_HMEM_DMABUF, NW_HMEM_PEER, NW_HMEM_WAYS };

/* Its end has grown in 1.20, for those who ask for that version. */
struct nw_endpoint_error {
    struct fi_cq_err_entry known;
    uint64_t more[4];
};

struct nw_endpoint {
    char provider[64];
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    size_t name_bytes;
    char name[NW_ENDPOINT_NAME];
    size_t limit; /* bytes of one operation */
    /* Of a message that the provider passes through its own memory; beyond,
     * each costs a call of the kernel. SIZE_MAX: all are alike. */
    size_t whole;
    bool copies;  /* what is not beyond: sent with FI_INJECT it has no end to
                     await, and takes a call less */
    bool streams; /* what it sends and what others write it copies by and by,
                     within our calls */
    enum nw_hmem reach;
    bool local;    /* the host's memory is registered for sends, too */
    bool gathers;  /* a header and GPU memory in one message, uncopied */
    bool pieces;   /* more than one in a message */
    char why[384]; /* no other, or no better way into GPU memory */
};

/* Of several names ended by NULL the first that opens; for GPU memory, too,
 * where that is wanted and a trial shows that the adapter reaches it. */
NW_MUST_CHECK nw_status nw_endpoint_open(const char *const *providers, bool gpu,
                                         struct nw_endpoint *out);
/* That provider, asked for GPU memory or not. */
NW_MUST_CHECK nw_status nw_endpoint_open_one(const char *provider, bool gpu,
                                             struct nw_endpoint *out);
void nw_endpoint_close(struct nw_endpoint *fabric); /* zeroed is fine */
NW_MUST_CHECK nw_status nw_endpoint_meet(struct nw_endpoint *fabric,
                                         const void *name, fi_addr_t *out);
/* All whom it will talk to have met it: a process that is killed leaves nothing
 * behind from now on. */
void nw_endpoint_hide(const struct nw_endpoint *fabric);
/* A key for memory that others may write to. It is random, so that only a
 * process that was told the key can write. */
uint64_t nw_endpoint_draw_key(const struct nw_endpoint *fabric);
/* Memory that others write to, and what they must say for it. */
NW_MUST_CHECK nw_status nw_endpoint_register(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **out);
/* What operations on the host's memory say of it, which is registered the first
 * time; NULL where the provider does not ask for it. */
NW_MUST_CHECK nw_status nw_endpoint_describe(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **region,
                                             void **out);
/* Ends what a call of libfabric said of a region: made ready, or an error. */
NW_MUST_CHECK nw_status nw_endpoint_ready(const struct nw_endpoint *fabric,
                                          int code, struct fid_mr *region,
                                          struct fid_mr **out);
uint64_t nw_endpoint_address(const struct nw_endpoint *fabric,
                             const void *memory);
void nw_endpoint_unregister(struct fid_mr *region); /* NULL is fine */

struct nw_endpoint_write {
    const void *from;
    void *descriptor; /* of that memory, or NULL */
    size_t bytes;
    fi_addr_t peer;
    uint64_t address, key;
    void *context;
    bool at_once; /* shm: it writes, or the kernel, and no word is awaited */
};
/* Completes when the bytes are there, or will be before what is sent next. A
 * libfabric code, -FI_EAGAIN too. */
ssize_t nw_endpoint_write(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write);
/* The same, and waits for its end; of an endpoint that does nothing else.
 * *hangs: some seconds have passed, and it may still write. */
NW_MUST_CHECK nw_status
nw_endpoint_write_through(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write, bool *hangs);

#endif
