/* SPDX-License-Identifier: BSD-3-Clause */
/* One endpoint of one libfabric provider and its operations. Only this module
 * calls libfabric to open endpoints. */
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

/* libfabric 1.20 has a longer fi_cq_err_entry for callers of that version. */
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
    /* The largest message that the provider passes through its own memory; a
     * larger one costs a system call. SIZE_MAX: no such limit. */
    size_t whole;
    bool copies;  /* FI_INJECT up to `whole`: no completion */
    bool streams; /* sends and remote writes advance within our calls */
    enum nw_hmem reach;
    bool local;    /* host memory must be registered for sends */
    bool gathers;  /* sends a header and GPU memory without a copy */
    bool pieces;   /* a message may have several */
    char why[384]; /* why no better method reaches GPU memory */
};

/* Opens the first usable provider of a list that ends with NULL. The endpoint
 * also takes GPU memory if `gpu` is set and a trial shows that the adapter
 * reaches GPU memory. */
NW_MUST_CHECK nw_status nw_endpoint_open(const char *const *providers, bool gpu,
                                         struct nw_endpoint *out);
/* Opens this provider, with or without GPU memory. */
NW_MUST_CHECK nw_status nw_endpoint_open_one(const char *provider, bool gpu,
                                             struct nw_endpoint *out);
void nw_endpoint_close(struct nw_endpoint *fabric); /* zeroed is fine */
NW_MUST_CHECK nw_status nw_endpoint_meet(struct nw_endpoint *fabric,
                                         const void *name, fi_addr_t *out);
/* Call it when all peers have met the endpoint: from then on a killed process
 * leaves nothing behind. */
void nw_endpoint_hide(const struct nw_endpoint *fabric);
/* Draws a random key for memory, so that only a process that received the key
 * can write there. */
uint64_t nw_endpoint_draw_key(const struct nw_endpoint *fabric);
/* Registers memory that peers write to. */
NW_MUST_CHECK nw_status nw_endpoint_register(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **out);
/* The descriptor of host memory for local operations. The first call registers
 * the memory. NULL if the provider needs no descriptor. */
NW_MUST_CHECK nw_status nw_endpoint_describe(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **region,
                                             void **out);
/* Completes a registration: makes the region ready, or reports `code`. */
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
    bool at_once; /* shm: the peer need not answer */
};
/* Writes to a peer. Completion means that the bytes have arrived, or will
 * arrive before the next message. Returns a libfabric code, possibly
 * -FI_EAGAIN. */
ssize_t nw_endpoint_write(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write);
/* Writes and waits for the completion, on an endpoint without other operations.
 * *hangs: after some seconds the write may still run. */
NW_MUST_CHECK nw_status
nw_endpoint_write_through(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write, bool *hangs);

#endif
