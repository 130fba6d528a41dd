/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages between processes, from host or GPU memory to host or GPU
 * memory, over libfabric, which is loaded when the first channel opens. Made
 * for small messages: the payload follows its header in one operation, and the
 * receiver stores it into GPU memory by the cheapest way there is.
 *
 * Messages match as in MPI: a receive takes the first message that has its
 * source and tag. Messages of one pair match in the order in which they were
 * sent. Messages without a receive are kept. All calls are thread-safe, and all
 * are local unless they say otherwise. Work goes on only inside calls: test or
 * wait until a request is done.
 *
 * Memory: each peer may have `credits` messages in our landing slots; beyond
 * that it waits. A channel holds (credits + 8) x (slot_bytes + 64) bytes for
 * each peer, and 2 x 4 staging pieces of 256 KiB for large GPU messages.
 *
 * A peer that dies on this host is seen within 0.5 s of progress; one on
 * another host when its provider reports it, or never. Requests that need it
 * then end with NW_EIO; what it had sent is received still, up to the first
 * message that was only announced. A receive from any source goes on as long as
 * one other peer lives. If a GPU, a registration or an allocation fails at one
 * end of a message, that end gets this error, and the other end gets NW_EIO
 * unless its part was done. A peer that does not keep to the protocol, or whose
 * connection fails, is given up, too. Over tcp the provider may then still use
 * a buffer. Requests end when it no longer does, or 1 s after the loss of the
 * peer. If the peer ran on this host and its process has ended, 0.1 s suffice.
 *
 * One limit: libfabric's provider `shm` (1.17) takes a lock in the memory of
 * the peer. If a process is killed at that moment, the peer can wait for the
 * lock for ever. Providers such as `tcp;ofi_rxm` have no lock of that kind.
 */
#ifndef NODEWISE_CHANNEL_H
#define NODEWISE_CHANNEL_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nw_channel nw_channel;
typedef struct nw_channel_request nw_channel_request;

enum { NW_CHANNEL_ANY = -1 }; /* source, or tag, of a receive */

/* How a message is sent; AUTO is the cheapest by the table of costs. A message
 * of more than slot_bytes, over shm also one of more than 20 KiB, always goes
 * by rendezvous, or out of the host's memory by fetch. Where fetch cannot be it
 * is another: to other hosts, where the kernel does not let the one process
 * read the other, of GPU memory beyond slot_bytes. A send by either of these
 * two ends only when its receive was posted, so wait for none before that,
 * whatever its size. */
enum nw_channel_protocol {
    NW_CHANNEL_AUTO,
    NW_CHANNEL_GATHER,     /* header and payload in one fi_sendv */
    NW_CHANNEL_PACK,       /* both packed into one buffer first */
    NW_CHANNEL_TWO,        /* the header, then the payload */
    NW_CHANNEL_RENDEZVOUS, /* ready to send, clear to send, remote write */
    NW_CHANNEL_FETCH,      /* inside a host: read by the receiver */
    NW_CHANNEL_PROTOCOLS
};

/* How an eager payload comes from its slot into GPU memory. */
enum nw_channel_copy {
    NW_CHANNEL_COPY_AUTO,
    NW_CHANNEL_NAIVE,    /* the driver's copy */
    NW_CHANNEL_LOOPBACK, /* the adapter writes to itself */
    NW_CHANNEL_FASTCOPY, /* the CPU stores through a mapping */
    NW_CHANNEL_COPIES
};

struct nw_channel_options {
    size_t size; /* of this struct */
    int32_t rank, count;
    /* The group meets in a file, absent or empty, that all can reach, and that
     * is removed then; what is no meeting's stays as it is. It must belong to
     * the user of the ranks, and only that user can read it. Or by a function:
     * `all` becomes the `bytes` of each rank, in order of ranks. The function
     * is called a few times, in the same order everywhere. With neither it is
     * the job that a launcher with PMIx has started, which then gives rank and
     * count where count is 0. */
    const char *file;
    nw_status (*allgather)(void *context, const void *mine, size_t bytes,
                           void *all);
    void *context;
    /* A libfabric provider ("shm", "tcp;ofi_rxm"); NULL: $NODEWISE_CHANNEL_
     * PROVIDER, else shm to peers of this host and the best found to others. */
    const char *provider;
    /* AUTO: $NODEWISE_CHANNEL_PROTOCOL and $NODEWISE_CHANNEL_COPY, else by
     * cost. */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    size_t slot_bytes;   /* 0: 8192; the largest eager payload */
    uint32_t credits;    /* 0: 16; at least 2 */
    uint32_t timeout_ms; /* 0: 30000; to open, and to close at most a tenth */
};
#define NW_CHANNEL_OPTIONS_INIT                                                \
    {                                                                          \
        sizeof(struct nw_channel_options)                                      \
    }

/* Collective over the ranks. NW_ENODEV without libfabric or provider, NW_EIO
 * where a rank does not come in time, NW_EFORMAT where one speaks another
 * version. */
NW_API NW_MUST_CHECK nw_status
nw_channel_open(const struct nw_channel_options *options, nw_channel **out);
#ifdef MPI_VERSION
#define NW_MPI_API NW_API
/* In libnodewise-openmpi and libnodewise-mpich: include <mpi.h> before this
 * header. Collective over comm, whose ranks become the channel's; rank, count,
 * file and allgather of the options are not read, and `options` may be NULL.
 * Where one rank fails all do. */
NW_MPI_API NW_MUST_CHECK nw_status nw_channel_open_mpi(
    MPI_Comm comm, const struct nw_channel_options *options, nw_channel **out);
#endif

/* Whether a launcher with PMIx has started us, and as which rank of how many:
 * then a channel needs neither file nor function. */
NW_API bool nw_channel_job(int32_t *rank, int32_t *count);

/* Waits, a tenth of the timeout at most, until those we talked to close too.
 * No request may be pending. NULL is fine. */
NW_API void nw_channel_close(nw_channel *channel);

struct nw_channel_message {
    void *buffer; /* not written by a send */
    size_t bytes; /* of the buffer, for a receive */
    int32_t peer; /* NW_CHANNEL_ANY where a receive takes any */
    int32_t tag;  /* not negative; a receive may say NW_CHANNEL_ANY */
};

/* What became of a message. */
struct nw_channel_result {
    int32_t peer, tag;
    size_t bytes; /* as sent, also where fewer fit */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy; /* COPY_AUTO where none was needed */
};

/* The buffer belongs to the channel until the request is done. */
NW_API NW_MUST_CHECK nw_status
nw_channel_send(nw_channel *channel, const struct nw_channel_message *message,
                nw_channel_request **out);
NW_API NW_MUST_CHECK nw_status nw_channel_receive(
    nw_channel *channel, const struct nw_channel_message *message,
    nw_channel_request **out);
/* Whether it is done; then *request is freed and NULL, and the status is its
 * own: NW_EINVAL for a message that did not fit (what fits is there), NW_EIO
 * for a dead peer, NW_ECANCELLED. `result` may be NULL. */
NW_API NW_MUST_CHECK nw_status nw_channel_test(
    nw_channel_request **request, bool *done, struct nw_channel_result *result);
/* The same, once it is done. */
NW_API NW_MUST_CHECK nw_status
nw_channel_wait(nw_channel_request **request, struct nw_channel_result *result);
/* Takes back a receive that nothing matched, or a send of which nothing has
 * left; else without effect. Test or wait as before. */
NW_API void nw_channel_cancel(nw_channel_request *request);

/* Returns once all that we said has left us, at most after a second: only then
 * may a caller stay away from the channel for long while others wait. */
NW_API void nw_channel_flush(nw_channel *channel);

/* What is sent from now on goes by this protocol, what is delivered is copied
 * so, as if the channel had been opened with them; AUTO: as it chooses. */
NW_API void nw_channel_force(nw_channel *channel,
                             enum nw_channel_protocol protocol,
                             enum nw_channel_copy copy);

/* What a channel did since it opened. */
struct nw_channel_counts {
    uint64_t sent[NW_CHANNEL_PROTOCOLS];
    uint64_t copied[NW_CHANNEL_COPIES]; /* eager payloads into GPU memory */
    uint64_t bytes_sent, bytes_received;
    uint64_t unexpected; /* came before their receive */
    uint64_t stalled;    /* sends that waited for a credit or a slot */
    uint64_t malformed;  /* messages refused: damaged, or of a stranger */
    uint64_t lost_peers; /* talked with us and ended without a goodbye */
    uint64_t opened; /* large ones copied into another process's GPU memory */
};
NW_API void nw_channel_count(nw_channel *channel,
                             struct nw_channel_counts *out);
/* The provider that carries messages to a peer. Borrowed. */
NW_API const char *nw_channel_provider(nw_channel *channel, int32_t peer);
/* How the adapter that carries messages to a peer reads and writes this end's
 * GPU memory: "by dma-buf", "by peer memory" (the kernel's module), or "staged"
 * if it cannot, and messages pass through host memory. The reason why no better
 * method is used follows in parentheses. "none" without a GPU. A method is used
 * only if trial writes into GPU memory and out of it were right. Memory that
 * then cannot be registered is staged. Borrowed until the thread's next call.
 */
NW_API const char *nw_channel_reach(nw_channel *channel, int32_t peer);
/* How GPU memory is stored to past the driver: "gdrcopy", "resident" (a kernel
 * that stays on the GPU for a while), "vulkan" (memory of nw_channel_memory_new
 * alone; "vulkan, resident" where another serves the rest), or "none"; what a
 * channel opened now would take, where `channel` is NULL. Borrowed until the
 * thread's next call. */
NW_API const char *nw_channel_mapping(nw_channel *channel);

/* -- which way is best -- */

struct nw_progress;
/* Between the two ranks of `options`: times every protocol and copy by size, on
 * each pair of memories, for single messages and for many under way, with a GPU
 * at each distance that there is. At rank 0 *table is the text of a table of
 * thresholds (nodewise-formats(5)), to be freed. Collective. `rounds` 0: 5;
 * `progress` may be NULL. */
NW_API NW_MUST_CHECK nw_status
nw_channel_tune(const struct nw_channel_options *options, uint32_t rounds,
                struct nw_progress *progress, char **table);
/* Where channels look for this machine's table when they open; without one they
 * go by the figures of a model. To be freed. */
NW_API NW_MUST_CHECK nw_status nw_channel_table_path(char **out);
/* NW_EFORMAT with "file:line: " where the text is no table. */
NW_API NW_MUST_CHECK nw_status nw_channel_table_check(const char *file,
                                                      const char *text);

/* Memory for benchmarks and tests: of the GPU that is current, else of the
 * first that the process uses, else of GPU 0, which is current then; or of the
 * host. NW_ENODEV where there is no GPU. Up to 1 MiB of a GPU's may be
 * Vulkan's, which the CPU reaches and other processes cannot open. */
NW_API NW_MUST_CHECK nw_status nw_channel_memory_new(bool gpu, size_t bytes,
                                                     void **out);
NW_API void nw_channel_memory_free(bool gpu, void *memory);
/* Copies between host memory and either kind. */
NW_API NW_MUST_CHECK nw_status nw_channel_memory_copy(void *to,
                                                      const void *from,
                                                      size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
