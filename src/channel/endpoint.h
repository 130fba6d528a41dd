/* SPDX-License-Identifier: BSD-3-Clause */
/* One endpoint of one libfabric provider, and the few operations on it. The
 * only place that knows how libfabric is asked. */
#ifndef NW_CHANNEL_ENDPOINT_H
#define NW_CHANNEL_ENDPOINT_H

#include <nodewise/status.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdint.h>

enum { NW_ENDPOINT_NAME = 256 }; /* bytes of an endpoint's name, at most */

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
    uint64_t next_key;
    size_t limit; /* bytes of one operation */
    /* Of a message that the provider passes through its own memory; beyond,
     * each costs a call of the kernel. SIZE_MAX: all are alike. */
    size_t whole;
    bool copies; /* what is not beyond: sent with FI_INJECT it has no end to
                    await, and takes a call less */
};

/* Of several names ended by NULL the first that opens. */
NW_MUST_CHECK nw_status nw_endpoint_open(const char *const *providers,
                                         struct nw_endpoint *out);
void nw_endpoint_close(struct nw_endpoint *fabric); /* zeroed is fine */
NW_MUST_CHECK nw_status nw_endpoint_meet(struct nw_endpoint *fabric,
                                         const void *name, fi_addr_t *out);
/* Memory that others write to, and what they must say for it. */
NW_MUST_CHECK nw_status nw_endpoint_register(struct nw_endpoint *fabric,
                                             void *memory, size_t bytes,
                                             struct fid_mr **out);
uint64_t nw_endpoint_address(const struct nw_endpoint *fabric,
                             const void *memory);
void nw_endpoint_unregister(struct fid_mr *region); /* NULL is fine */

struct nw_endpoint_write {
    const void *from;
    size_t bytes;
    fi_addr_t peer;
    uint64_t address, key;
    void *context;
    bool at_once; /* the provider lets the kernel write, and awaits nothing */
};
/* Completes when the bytes are there. A libfabric code, -FI_EAGAIN too. */
ssize_t nw_endpoint_write(struct nw_endpoint *fabric,
                          const struct nw_endpoint_write *write);

#endif
