/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NCCL's profiler interface, versions 1 to 6, with the members that the plug-in
 * reads. NCCL 2.23 introduced version 1; RCCL has the same interface. NCCL uses
 * the highest version that a plug-in exports as ncclProfiler_vN.
 *
 * In versions 1 to 3, each event has the id and the rank of its communicator.
 * From version 4 on, `init` receives them. From version 5 on, the type of an
 * event has 64 bits. Version 6 adds collective calls of the copy engines.
 */
#ifndef NW_NCCL_INTERFACE_H
#define NW_NCCL_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

enum { NW_NCCL_SUCCESS = 0 };

/* Types of events, as bits of the mask that a plug-in returns to NCCL. */
enum {
    NW_NCCL_EVENT_COLL = 1 << 1,
    NW_NCCL_EVENT_P2P = 1 << 2,
    NW_NCCL_EVENT_CE_COLL = 1 << 12,
};

struct nw_nccl_coll_v1 {
    const char *name;
    uint64_t comm, sequence;
    uint8_t function;
    const void *from;
    void *to;
    size_t count;
    int root;
    uint8_t type;
    uint32_t operation;
    size_t traffic;
    uint8_t channels, warps, algorithm, protocol;
    int collnet, nvls;
};

struct nw_nccl_p2p_v1 {
    const char *name;
    uint64_t comm;
    uint8_t function;
    void *buffer;
    uint8_t type;
    size_t count;
    int peer;
};

struct nw_nccl_coll_v2 {
    const char *name;
    uint64_t comm, sequence;
    const char *function;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *type;
    size_t traffic; /* not in version 3 */
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

struct nw_nccl_coll_v3 {
    const char *name;
    uint64_t comm, sequence;
    const char *function;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *type;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

struct nw_nccl_p2p_v2 {
    const char *name;
    uint64_t comm;
    const char *function;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
};

/* In versions 5 and 6 NCCL appends members to these structs. */
struct nw_nccl_coll_v4 {
    uint64_t sequence;
    const char *function;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *type;
    uint8_t channels, warps;
    const char *algorithm, *protocol;
};

struct nw_nccl_p2p_v4 {
    const char *function;
    void *buffer;
    const char *type;
    size_t count;
    int peer;
};

struct nw_nccl_ce_coll_v6 {
    uint64_t sequence;
    const char *function;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *type;
};

/* An event in versions 1 to 4. */
struct nw_nccl_event_v1 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct nw_nccl_coll_v1 coll_v1;
        struct nw_nccl_coll_v2 coll_v2;
        struct nw_nccl_coll_v3 coll_v3;
        struct nw_nccl_coll_v4 coll_v4;
        struct nw_nccl_p2p_v1 p2p_v1;
        struct nw_nccl_p2p_v2 p2p_v2; /* also version 3 */
        struct nw_nccl_p2p_v4 p2p_v4;
    };
};

/* An event in versions 5 and 6. */
struct nw_nccl_event_v5 {
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct nw_nccl_coll_v4 coll_v4;
        struct nw_nccl_p2p_v4 p2p_v4;
        struct nw_nccl_ce_coll_v6 ce_coll_v6;
    };
};

/* The table that a plug-in exports for each version. Versions differ in the
 * type of `init` and in the type of the event. */
#define NW_NCCL_PROFILER(name_of_init)                                         \
    struct {                                                                   \
        const char *name;                                                      \
        name_of_init *init;                                                    \
        int (*start)(void *context, void **handle, const void *event);         \
        int (*stop)(void *handle);                                             \
        int (*record)(void *handle, int state, const void *arguments);         \
        int (*finalize)(void *context);                                        \
    }

typedef int nw_nccl_init_v1(void **context, int *mask);
typedef int nw_nccl_init_v4(void **context, int *mask, const char *name,
                            uint64_t comm, int nodes, int size, int rank,
                            void *log);
typedef int nw_nccl_init_v5(void **context, uint64_t comm, int *mask,
                            const char *name, int nodes, int size, int rank,
                            void *log);

#endif
