/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged messages between processes, from host or GPU memory to host or GPU
 * memory, over libfabric. The first channel that opens loads libfabric. These
 * functions are in libnodewise-channel, which libnodewise loads at its first
 * use, and in the preloaded libraries. Channels are made for small messages:
 * one operation sends header and payload together, and the receiver stores the
 * payload into GPU memory by the cheapest available method.
 *
 * Messages match as in MPI. A receive takes the first message with its source
 * and tag; messages between two processes match in the order in which they were
 * sent; a message without a receive is kept. All calls are thread-safe, and
 * local unless their comment says otherwise. Communication advances only inside
 * calls, so test or wait until a request is done.
 *
 * Memory: small messages arrive in landing slots of `slot_bytes` bytes. A peer
 * may occupy `credits` slots; its further sends wait. A channel needs (credits
 * + 8) x (slot_bytes + 136) bytes for each rank. On a machine with GPUs, it
 * also needs 2 x 4 staging buffers of 256 KiB for large GPU messages.
 *
 * Failures: a peer that dies on this host is detected within 0.5 s of progress.
 * A peer on another host is detected when its provider reports the loss, which
 * may never happen. Requests that need the lost peer then end with NW_EIO.
 * Messages that the lost peer had sent are still received, up to the first
 * message whose payload had not been sent. A receive from any source continues
 * while another peer lives. If a GPU, a registration or an allocation fails at
 * one end of a message, that end gets this error; the other end gets NW_EIO
 * unless its part was done. A peer that violates the protocol, or whose
 * connection fails, counts as lost. The provider tcp may still use a request's
 * buffer after the loss. Therefore the request ends only when the provider has
 * released its buffer, or 1 s after the loss. If the peer ran on this host and
 * its process has ended, 0.1 s are enough.
 *
 * Known limit: libfabric's provider `shm` (1.17) takes a lock in the memory of
 * the peer. If a process is killed while it holds this lock, the peer may wait
 * forever. Providers such as `tcp;ofi_rxm` do not have such a lock.
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

enum { NW_CHANNEL_ANY = -1 }; /* any source or any tag, in a receive */

/* Protocol of a message. AUTO chooses the cheapest by the cost table. Messages
 * above slot_bytes, and over shm above 20 KiB, always use rendezvous, or CMA if
 * they are in host memory. CMA is replaced by another protocol if the peer is
 * on another host, if the kernel does not let one process read the other, for
 * an empty message, or for GPU memory above slot_bytes.
 *
 * A rendezvous or CMA send ends only after its receive was posted. Therefore
 * never wait for a send before the receive is posted, whatever its size. */
enum nw_channel_protocol {
    NW_CHANNEL_AUTO,
    NW_CHANNEL_GATHER,     /* header and payload in one fi_sendv */
    NW_CHANNEL_PACK,       /* header and payload packed into one buffer */
    NW_CHANNEL_TWO,        /* first the header, then the payload */
    NW_CHANNEL_RENDEZVOUS, /* ready to send, clear to send, remote write */
    /* "fetch" in options and tables. Cross-memory attach: inside a host, the
     * receiver reads the payload from the sender's memory. */
    NW_CHANNEL_CMA,
    NW_CHANNEL_PROTOCOLS,
    NW_CHANNEL_FETCH = NW_CHANNEL_CMA /* old name */
};

/* Method that copies an eager payload from its slot into GPU memory. */
enum nw_channel_copy {
    NW_CHANNEL_COPY_AUTO,
    NW_CHANNEL_NAIVE,    /* the driver copies the payload */
    NW_CHANNEL_LOOPBACK, /* the NIC writes to its own host */
    NW_CHANNEL_FASTCOPY, /* written without the driver, in the way that
                            nw_channel_mapping names */
    NW_CHANNEL_COPIES
};

/* Options of nw_channel_open. Initialise with NW_CHANNEL_OPTIONS_INIT. */
struct nw_channel_options {
    size_t size; /* of this struct */
    int32_t rank, count;
    /* The ranks find each other by one of these:
     *
     * - `file`: a file that all ranks can reach. It must be missing or empty,
     *   and is removed afterwards. A file with other content is not changed.
     *   It must belong to the ranks' user, and only this user can read it.
     * - `allgather`: a function that stores the `bytes` of each rank in `all`,
     *   in rank order. It is called a few times, in the same order on all
     *   ranks.
     * - neither: a launcher with PMIx has started the job. It also gives rank
     *   and count if `count` is 0. */
    const char *file;
    nw_status (*allgather)(void *context, const void *mine, size_t bytes,
                           void *all);
    void *context;
    /* A libfabric provider ("shm", "tcp;ofi_rxm"). NULL:
     * $NODEWISE_CHANNEL_PROVIDER. If that is not set, or if the name is "" or
     * "auto": shm for peers of this host and the best provider found for
     * others. */
    const char *provider;
    /* AUTO: $NODEWISE_CHANNEL_PROTOCOL and $NODEWISE_CHANNEL_COPY; if they are
     * not set, the cheapest. */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    size_t slot_bytes;   /* largest eager payload; 0: 8192 */
    uint32_t credits;    /* landing slots for each peer, at least 2; 0: 16 */
    uint32_t timeout_ms; /* maximum time to open; closing may take a tenth of
                            it. 0: 30000 */
};
#define NW_CHANNEL_OPTIONS_INIT                                                \
    {                                                                          \
        sizeof(struct nw_channel_options)                                      \
    }

/* Opens a channel between the ranks. NW_ENODEV: libfabric or the provider is
 * missing. NW_EIO: a rank did not arrive in time. NW_EFORMAT: a rank uses
 * another version. The caller closes *out with nw_channel_close. Collective
 * over the ranks. */
NW_API NW_MUST_CHECK nw_status
nw_channel_open(const struct nw_channel_options *options, nw_channel **out);

/* Returns true if a launcher with PMIx has started this process, and its rank
 * and the number of ranks. A channel then needs neither `file` nor `allgather`.
 */
NW_API bool nw_channel_job(int32_t *rank, int32_t *count);

/* Closes a channel. The call waits until all peers with which this channel
 * exchanged messages close too, but at most a tenth of the timeout. No request
 * may be pending. NULL is allowed. */
NW_API void nw_channel_close(nw_channel *channel);

/* The arguments of a send or a receive. */
struct nw_channel_message {
    void *buffer; /* a send does not write to it */
    size_t bytes; /* of the message; for a receive, of the buffer */
    int32_t peer; /* NW_CHANNEL_ANY: a receive from any source */
    int32_t tag;  /* not negative; a receive may use NW_CHANNEL_ANY */
};

/* The outcome of a send or a receive. */
struct nw_channel_result {
    int32_t peer, tag;
    size_t bytes; /* sent by the peer, even if the buffer was smaller */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy; /* of a receive; COPY_AUTO: no payload was copied
                                  from a slot into GPU memory */
};

/* Starts a send or a receive. The channel uses the buffer until the request is
 * done. The caller passes *out to nw_channel_test or nw_channel_wait. */
NW_API NW_MUST_CHECK nw_status
nw_channel_send(nw_channel *channel, const struct nw_channel_message *message,
                nw_channel_request **out);
NW_API NW_MUST_CHECK nw_status nw_channel_receive(
    nw_channel *channel, const struct nw_channel_message *message,
    nw_channel_request **out);
/* Sets *done to true if the request has ended. It is then freed, *request
 * becomes NULL, and the returned status is that of the request. NW_EINVAL: the
 * message was larger than the buffer, which holds its beginning. NW_EIO: the
 * peer is lost. NW_ECANCELLED: the request was cancelled. `result` may be NULL.
 */
NW_API NW_MUST_CHECK nw_status nw_channel_test(
    nw_channel_request **request, bool *done, struct nw_channel_result *result);
/* Waits until the request has ended; results are those of nw_channel_test. */
NW_API NW_MUST_CHECK nw_status
nw_channel_wait(nw_channel_request **request, struct nw_channel_result *result);
/* Cancels a receive that no message has matched, or a send that has not
 * started; otherwise it has no effect. Test or wait for the request afterwards.
 */
NW_API void nw_channel_cancel(nw_channel_request *request);

/* Returns when libfabric has sent all messages that do not wait for a grant or
 * a read by their receiver, or after 1 s. Call it before a long time without
 * channel calls, because peers may wait for these messages. */
NW_API void nw_channel_flush(nw_channel *channel);

/* Messages that are sent from now on use this protocol, and later copies of
 * received payloads into GPU memory use this method. AUTO restores the
 * channel's own choice. Sends that have started are not changed. */
NW_API void nw_channel_force(nw_channel *channel,
                             enum nw_channel_protocol protocol,
                             enum nw_channel_copy copy);

/* Counters of a channel since it was opened. */
struct nw_channel_counts {
    uint64_t sent[NW_CHANNEL_PROTOCOLS];
    uint64_t copied[NW_CHANNEL_COPIES]; /* eager payloads into GPU memory */
    uint64_t bytes_sent, bytes_received;
    uint64_t unexpected; /* messages that arrived before their receive */
    uint64_t stalled;    /* sends that could not start at once, for example for
                            lack of a credit */
    uint64_t
        malformed; /* rejected: damaged or from a process outside the group */
    uint64_t lost_peers; /* peers that exchanged messages with this channel and
                            were lost before they closed theirs */
    uint64_t opened; /* large messages copied directly into another process's
                        GPU memory */
};
NW_API void nw_channel_count(nw_channel *channel,
                             struct nw_channel_counts *out);
/* The provider that carries messages to a peer. Borrowed. */
NW_API const char *nw_channel_provider(nw_channel *channel, int32_t peer);
/* How the NIC that carries messages to a peer accesses this process's GPU
 * memory: "by dma-buf", "by peer memory" (the kernel's module), "staged"
 * (messages pass through host memory), or "none" without a GPU. The reason why
 * no better method is used follows in parentheses. A method is used only if
 * trial writes into and out of GPU memory gave the right data. Memory that
 * cannot be registered later is staged. Borrowed until the thread's next call.
 */
NW_API const char *nw_channel_reach(nw_channel *channel, int32_t peer);
/* How data is written to GPU memory without the driver: "gdrcopy", "resident"
 * (a kernel that stays on the GPU for a while), "vulkan" (only memory of
 * nw_channel_memory_new; "vulkan, resident" if other memory uses a kernel), or
 * "none". If `channel` is NULL, the answer is the method that a newly opened
 * channel would use. Borrowed until the thread's next call. */
NW_API const char *nw_channel_mapping(nw_channel *channel);

/* -- Choice of protocol -- */

struct nw_progress;
/* Measures all protocols and copy methods between the two ranks of `options`:
 * each message size, each pair of memory kinds, single messages and many at
 * once, and a GPU at each distance. On rank 0, *table is a text with the table
 * of thresholds (nodewise-formats(5)), which the caller frees with free().
 * `rounds` is the number of rounds; 0 means 5. `progress` may be NULL.
 * Collective over both ranks. */
NW_API NW_MUST_CHECK nw_status
nw_channel_tune(const struct nw_channel_options *options, uint32_t rounds,
                struct nw_progress *progress, char **table);
/* The path at which channels look for this machine's table when they open.
 * Without a table, they use the costs of a model. The caller frees *out with
 * free(). */
NW_API NW_MUST_CHECK nw_status nw_channel_table_path(char **out);
/* Checks the text of a table. NW_EFORMAT: the text is invalid; the sentence
 * begins with "file:line: ", where `file` is only used for this sentence. */
NW_API NW_MUST_CHECK nw_status nw_channel_table_check(const char *file,
                                                      const char *text);

/* Memory for benchmarks and tests, on the host or on a GPU. The GPU is the
 * current one, else the first that the process uses, else GPU 0, which becomes
 * current. NW_ENODEV: no GPU. If the user has selected the mapping "vulkan",
 * GPU memory may come from Vulkan: the CPU can access it, but other processes
 * cannot open it. The caller frees *out with nw_channel_memory_free. */
NW_API NW_MUST_CHECK nw_status nw_channel_memory_new(bool gpu, size_t bytes,
                                                     void **out);
NW_API void nw_channel_memory_free(bool gpu, void *memory);
/* Copies bytes between host memory and host or GPU memory. */
NW_API NW_MUST_CHECK nw_status nw_channel_memory_copy(void *to,
                                                      const void *from,
                                                      size_t bytes);

#ifdef __cplusplus
}
#endif

/* The functions with MPI types were once in this header. It still declares them
 * for programs that include mpi.h first. */
#ifdef MPI_VERSION
#include <nodewise/channel_mpi.h>
#endif

#endif
