/* SPDX-License-Identifier: BSD-3-Clause */
/* One endpoint of a libfabric provider and its operations. Only this module
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

enum { NW_ENDPOINT_NAME = 256 }; /* maximum bytes of an endpoint's address */

/* How the adapter (NIC) reaches GPU memory: not at all, through a registered
 * dma-buf, or through the kernel's peer-to-peer memory (nvidia_peermem). */
enum nw_hmem { NW_HMEM_NONE, NW_HMEM_DMABUF, NW_HMEM_PEER, NW_HMEM_KINDS };

/* Space for the fi_cq_err_entry of libfabric 1.20 and later, which is longer
 * than the one in older headers. Nodewise may be compiled with older headers.
 */
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
    size_t limit; /* maximum bytes of one operation */
    /* The largest message in bytes that the provider shm copies through its own
     * shared memory; a larger message needs a system call. SIZE_MAX for other
     * providers. */
    size_t whole;
    /* True only for the provider shm: messages of up to `whole` bytes are sent
     * with FI_INJECT, so the provider copies them during the call and reports
     * no completion. */
    bool copies;
    bool streams; /* tcp: data moves only during our calls */
    enum nw_hmem hmem;
    bool local;    /* host memory must be registered before it is sent */
    bool gathers;  /* one send can take a header from host memory and a payload
                      from GPU memory */
    bool pieces;   /* one send may gather from several iovecs */
    char why[384]; /* why the methods tried do not reach GPU memory; "" if none
                      failed */
};

/* Opens an endpoint of the first usable provider in a list that ends with NULL.
 * If `gpu` is set, the endpoint also accepts GPU memory, provided that a trial
 * shows that the adapter reaches GPU memory. */
NW_MUST_CHECK nw_status nw_endpoint_open(const char *const *providers, bool gpu,
                                         struct nw_endpoint *out);
/* Opens an endpoint of this provider, with or without GPU memory. */
NW_MUST_CHECK nw_status nw_endpoint_open_one(const char *provider, bool gpu,
                                             struct nw_endpoint *out);
/* Closes the endpoint and zeroes the struct; does nothing for a zeroed
 * struct. */
void nw_endpoint_close(struct nw_endpoint *fabric);
/* Adds the peer with the endpoint address `name` and sets *out to the libfabric
 * address for operations with this peer. */
NW_MUST_CHECK nw_status nw_endpoint_meet(struct nw_endpoint *fabric,
                                         const void *name, fi_addr_t *out);
/* Removes the file name of the shared memory of provider shm (only with
 * libfabric 1.17), so that a killed process leaves no file behind. Call it
 * after all peers have added this endpoint. */
void nw_endpoint_hide(const struct nw_endpoint *fabric);
/* Returns a random key for registered memory, so that only a process that
 * received the key can write to the memory. */
uint64_t nw_endpoint_draw_key(const struct nw_endpoint *fabric);
/* Registers host memory so that peers can write to it. */
NW_MUST_CHECK nw_status nw_endpoint_register(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **out);
/* Sets *out to the descriptor of host memory for local operations, or to NULL
 * if the provider needs no descriptor. The first call registers the memory and
 * stores the registration in *region. */
NW_MUST_CHECK nw_status nw_endpoint_describe(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **region,
                                             void **out);
/* Completes a registration. `code` is the result of the libfabric call that
 * registered `region`. On success, makes the region usable by the endpoint and
 * sets *out to it. If that fails, closes the region. Returns an error if it
 * fails or if `code` is a libfabric error. */
NW_MUST_CHECK nw_status nw_endpoint_ready(const struct nw_endpoint *fabric,
                                          int code, struct fid_mr *region,
                                          struct fid_mr **out);
/* Returns the address by which peers name the start of a registered region,
 * `memory`, in remote writes: its virtual address, or 0 if the provider counts
 * from the region's start. */
uint64_t nw_endpoint_address(const struct nw_endpoint *fabric,
                             const void *memory);
void nw_endpoint_unregister(struct fid_mr *region); /* NULL is ignored */

struct nw_endpoint_write {
    const void *from;
    void *descriptor; /* descriptor of the memory at `from`, or NULL */
    size_t bytes;
    fi_addr_t peer;
    uint64_t address, key;
    void *context;
    /* the write may complete before the peer's process confirms it (shm) */
    bool at_once;
};
/* Starts a write into a peer's memory. Completion means that the bytes have
 * arrived, or will arrive before the next message. Returns a libfabric code,
 * which may be -FI_EAGAIN. */
ssize_t nw_endpoint_write(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write);
/* Writes and waits for the completion. The endpoint must have no other
 * operation in flight. Returns an error after 5 s; if libfabric had accepted
 * the write by then, also sets *hangs to true, because the write may still
 * access the memory. */
NW_MUST_CHECK nw_status
nw_endpoint_write_through(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write, bool *hangs);

#endif
