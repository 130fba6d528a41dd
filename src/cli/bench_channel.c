/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench channel: measures a channel between two processes of this
 * machine, or between several for a collective test; or between the ranks of a
 * job, if a launcher started several. Measures the same quantities as OSU's
 * benchmarks and prints them in OSU's form. */
#include "cli/bench_channel.h"

#include <nodewise/channel.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/bench_output.h"
#include "cli/child.h"
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_JSON 0x2001

/* As in OSU's benchmarks, WINDOW messages are in flight in a test of bandwidth
 * or message rate; the first WARM rounds are not timed. */
enum { WINDOW = 64, TAG = 1, WARM = 10, MOST_RANKS = 64 };

/* One of the two ranks of a point-to-point test. */
struct bench_channel_end {
    nw_channel *channel;
    const struct nw_channel_bench *bench;
    int32_t rank;
    void *memory;
};

static nw_status bench_channel_begin(const struct bench_channel_end *end,
                                     bool send, size_t bytes,
                                     nw_channel_request **out)
{
    struct nw_channel_message message = {end->memory, bytes, !end->rank, TAG};

    return send ? nw_channel_send(end->channel, &message, out)
                : nw_channel_receive(end->channel, &message, out);
}

static nw_status bench_channel_one(const struct bench_channel_end *end,
                                   bool send, size_t bytes)
{
    nw_channel_request *request = NULL;
    nw_status status = bench_channel_begin(end, send, bytes, &request);

    return status ? status : nw_channel_wait(&request, NULL);
}

/* Sends a message of `bytes` from rank 0 to rank 1, then one back. */
static nw_status bench_channel_ping(const struct bench_channel_end *end,
                                    size_t bytes)
{
    nw_status status = bench_channel_one(end, !end->rank, bytes);

    return status ? status : bench_channel_one(end, end->rank != 0, bytes);
}

/* Sends WINDOW messages from rank 0 to rank 1, all posted at once, then one
 * message of 4 bytes back, which confirms their arrival. */
static nw_status bench_channel_stream(const struct bench_channel_end *end,
                                      size_t bytes)
{
    nw_channel_request *requests[WINDOW] = {NULL};
    nw_status status = NW_OK;

    for (int i = 0; i < WINDOW && !status; i++)
        status = bench_channel_begin(end, !end->rank, bytes, &requests[i]);
    for (int i = 0; i < WINDOW && !status; i++)
        status = nw_channel_wait(&requests[i], NULL);
    return status ? status : bench_channel_one(end, end->rank != 0, 4);
}

/* Prints the result of a message size, computed from the duration of all timed
 * rounds. */
static void bench_channel_tell(const struct nw_channel_bench *bench,
                               size_t bytes, double seconds)
{
    double turns = (double)bench->iterations;

    if (bench->what == NW_TEST_LATENCY)
        nw_bench_tell_latency(bench, bytes, seconds / (2 * turns));
    else
        nw_bench_tell_rate(bench, bytes, turns * WINDOW / seconds);
}

static nw_status bench_channel_measure(const struct bench_channel_end *end,
                                       size_t bytes)
{
    const struct nw_channel_bench *bench = end->bench;
    nw_status (*work)(const struct bench_channel_end *, size_t) =
        bench->what == NW_TEST_LATENCY ? bench_channel_ping
                                       : bench_channel_stream;
    nw_status status = NW_OK;
    uint64_t start = 0;

    for (uint64_t i = 0; i < bench->iterations + WARM && !status; i++) {
        if (i == WARM)
            start = nw_clock_ns();
        status = work(end, bytes);
    }
    if (!status && !end->rank)
        bench_channel_tell(bench, bytes,
                           (double)(nw_clock_ns() - start) * 1e-9);
    return status;
}

/* Allocates the rank's memory. If both ranks are on this machine and only rank
 * 1 needs a GPU, rank 0 looks for one, too: it then reports a missing GPU, and
 * does not wait for rank 1. */
static nw_status bench_channel_allocate(const struct nw_channel_bench *bench,
                                        int32_t rank, void **out)
{
    bool looks = !rank && bench->file[0] && bench->gpu[1] && !bench->gpu[0];
    void *memory = NULL;
    nw_status status = looks ? nw_channel_memory_new(true, 1, &memory) : NW_OK;

    nw_channel_memory_free(true, memory);
    return status ? status
                  : nw_channel_memory_new(bench->gpu[rank], bench->largest + 4,
                                          out);
}

/* Runs one rank of a point-to-point test, for all message sizes. */
static nw_status run_end(const struct nw_channel_bench *bench, int32_t rank)
{
    struct nw_channel_options options = bench->channel;
    struct bench_channel_end end = {NULL, bench, rank, NULL};
    nw_status status;

    options.rank = rank;
    options.count = 2;
    options.file = bench->file[0] ? bench->file : NULL;
    status = bench_channel_allocate(bench, rank, &end.memory);
    if (!status)
        status = nw_channel_open(&options, &end.channel);
    if (!status && !rank)
        nw_bench_tell_head(bench, end.channel);
    for (size_t bytes = bench->what == NW_TEST_LATENCY ? 0 : 1;
         bytes <= bench->largest && !status; bytes = bytes ? 2 * bytes : 1)
        status = bench_channel_measure(&end, bytes);
    if (!status && !rank)
        nw_bench_tell_end(bench, 0);
    nw_channel_close(end.channel);
    nw_channel_memory_free(bench->gpu[rank], end.memory);
    return status;
}

struct bench_channel_arguments {
    struct nw_channel_bench bench;
    const char *output;
};

static error_t bench_channel_parse(int key, char *word,
                                   struct argp_state *state)
{
    static const char *const tests[] = {"latency",  "bw",     "mbw_mr",
                                        "choice",   "gather", "allgather",
                                        "alltoall", NULL};
    static const char *const memories[] = {"HH", "DH", "HD", "DD", NULL};
    struct bench_channel_arguments *arguments = state->input;
    struct nw_channel_bench *bench = &arguments->bench;
    uint64_t bytes = 0;
    int value;

    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num)
            nw_argfail(state, "one test at a time, not '%s', too", word);
        bench->what =
            (enum nw_channel_test)nw_argchoose(state, "the test", word, tests);
        return 0;
    case 'm':
        value = nw_argchoose(state, "--memory", word, memories);
        bench->gpu[0] = value & 1;
        bench->gpu[1] = value & 2;
        return 0;
    case 'p':
        bench->channel.protocol = (enum nw_channel_protocol)nw_argchoose(
            state, "--protocol", word, nw_bench_protocols);
        return 0;
    case 'c':
        bench->channel.copy = (enum nw_channel_copy)nw_argchoose(
            state, "--copy", word, nw_bench_copies);
        return 0;
    case 'f':
        bench->channel.provider = word;
        return 0;
    case 'b':
        if (!nw_parse_size(word, &bench->largest) ||
            bench->largest > UINT64_C(1) << 30)
            nw_argfail(state, "--bytes is a size up to 1GiB, not '%s'", word);
        return 0;
    case 's':
        if (!nw_parse_size(word, &bytes) || !bytes)
            nw_argfail(state, "--slot is a size such as 8KiB, not '%s'", word);
        bench->channel.slot_bytes = bytes;
        return 0;
    case 'i':
        if (!nw_parse_u64(word, &bench->iterations) || !bench->iterations ||
            bench->iterations >= 100000000)
            nw_argfail(state,
                       "--iterations is a number from 1 to 99999999, not '%s'",
                       word);
        return 0;
    case 'n':
        if (!nw_parse_u64(word, &bench->ranks) || bench->ranks < 2 ||
            bench->ranks > MOST_RANKS)
            nw_argfail(state, "--ranks is a number from 2 to %d, not '%s'",
                       MOST_RANKS, word);
        return 0;
    case 'o':
        if (!*word)
            nw_argfail(state, "--output names no file: '%s'", word);
        arguments->output = word;
        return 0;
    case KEY_JSON:
        bench->tell->json = true;
        return 0;
    case ARGP_KEY_END:
        if (!bench->largest && bench->what != NW_TEST_LATENCY)
            nw_argfail(state, "--bytes 0 is a size of latency only");
        return 0;
    case ARGP_KEY_NO_ARGS:
        nw_argfail(state, "name a test: latency, bw, mbw_mr, choice, gather, "
                          "allgather or alltoall");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"memory", 'm', "HH|HD|DH|DD", 0,
     "Memory of sender and receiver: host (H, default) or GPU (D)", 0},
    {"protocol", 'p', "NAME", 0,
     "Protocol: auto, gather, pack, two, rendezvous or fetch", 0},
    {"copy", 'c', "NAME", 0,
     "Copy into GPU memory: auto, naive, loopback or fastcopy", 0},
    {"provider", 'f', "NAME", 0, "libfabric provider, such as shm or tcp", 0},
    {"bytes", 'b', "SIZE", 0, "Largest message in bytes (65536)", 0},
    {"slot", 's', "SIZE", 0, "Bytes of a landing slot (8192)", 0},
    {"iterations", 'i', "N", 0, "Timed iterations at each size (1000)", 0},
    {"ranks", 'n', "N", 0, "Processes of a collective test (4)", 0},
    {"output", 'o', "FILE", 0, "Write the result to FILE (- is stdout)", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = bench_channel_parse,
    .args_doc = "latency|bw|mbw_mr|choice|gather|allgather|alltoall",
    .doc = "Measure the channel between processes of this machine.\v"
           "Example:\n  nodewise bench channel latency --memory DD\n",
};

static nw_status run_rank(const struct nw_channel_bench *bench, int32_t rank)
{
    if (bench->what == NW_TEST_CHOICE)
        return nw_bench_choice(bench, rank);
    return bench->what < NW_TEST_GATHER ? run_end(bench, rank)
                                        : nw_bench_collective(bench, rank);
}

/* Forks the ranks 1 to ranks - 1. If a rank cannot be started, ends those
 * before it, which would wait for it. */
static nw_status bench_channel_fork(const struct nw_channel_bench *bench,
                                    int32_t ranks)
{
    pid_t child[MOST_RANKS];

    fflush(NULL);
    for (int32_t rank = 1; rank < ranks; rank++) {
        child[rank] = nw_child_fork();
        if (!child[rank])
            _exit(run_rank(bench, rank) ? 1 : 0);
        if (child[rank] < 0) {
            nw_status status = nw_fail(NW_EIO, "cannot start %d processes: %s",
                                       ranks, strerror(errno));

            while (--rank)
                kill(child[rank], SIGTERM);
            return status;
        }
    }
    return NW_OK;
}

/* Runs rank 0 in this process and forks the others. Returns true if all other
 * ranks succeed; *status is the result of rank 0. */
static bool run_all(const struct nw_channel_bench *bench, nw_status *status)
{
    int32_t ranks = bench->what < NW_TEST_GATHER ? 2 : (int32_t)bench->ranks;
    bool good = true;
    int how;

    *status = bench_channel_fork(bench, ranks);
    if (!*status)
        *status = run_rank(bench, 0);
    while (wait(&how) > 0)
        good &= !how;
    return good;
}

/* Runs one of the launcher's ranks; the ranks connect through PMIx. */
static nw_status run_in_job(struct nw_channel_bench *bench, int32_t rank,
                            int32_t count)
{
    if (bench->what < NW_TEST_GATHER && count != 2)
        return nw_fail(NW_EINVAL, "this takes 2 ranks, not %d", count);
    bench->ranks = (uint64_t)count;
    return run_rank(bench, rank);
}

static nw_status run_here(struct nw_channel_bench *bench)
{
    nw_status status;
    bool good;
    int fd = -1;

    status = nw_file_unnamed(bench->file, &fd);
    if (status)
        return status;
    good = run_all(bench, &status);
    (void)close(fd);
    if (!status && !good)
        return nw_fail(NW_EMPI, "another process failed");
    return status;
}

/* Runs the benchmark in the job if a launcher started several ranks, else with
 * processes that this function forks. */
static nw_status run_where_started(struct nw_channel_bench *bench)
{
    int32_t rank, count;

    return nw_channel_job(&rank, &count) && count > 1
               ? run_in_job(bench, rank, count)
               : run_here(bench);
}

/* Runs the benchmark with its standard output redirected to file `fd`. */
static nw_status bench_channel_run_into(struct nw_channel_bench *bench, int fd)
{
    int kept;
    nw_status status;

    fflush(stdout);
    kept = dup(STDOUT_FILENO);
    if (kept < 0)
        return nw_fail(NW_EIO, "standard output: %s", strerror(errno));
    status = dup2(fd, STDOUT_FILENO) < 0
                 ? nw_fail(NW_EIO, "standard output: %s", strerror(errno))
                 : run_where_started(bench);
    if (fflush(stdout) && !status)
        status = nw_fail(NW_EIO, "standard output: %s", strerror(errno));
    dup2(kept, STDOUT_FILENO);
    (void)close(kept);
    return status;
}

/* Runs the benchmark and writes its output to the file `path`. The output stays
 * in memory until it is complete, so that an interrupted run leaves no partial
 * file. */
static nw_status run_for(struct nw_channel_bench *bench, const char *path)
{
    char own[NW_FILE_UNNAMED_PATH], *text = NULL;
    size_t length;
    int fd = -1;
    nw_status status = nw_file_unnamed(own, &fd);

    if (status)
        return status;
    status = bench_channel_run_into(bench, fd);
    if (!status)
        status = nw_file_read(own, &text, &length);
    (void)close(fd);
    if (!status)
        status = nw_file_write(path, text, length);
    free(text);
    return status;
}

/* Returns true if this process writes the output to a file: `path` is neither
 * NULL nor "-", and no launcher made this process another rank than 0. */
static bool has_file(const char *path)
{
    int32_t rank, count;

    return path && strcmp(path, "-") &&
           !(nw_channel_job(&rank, &count) && rank > 0);
}

int nw_bench_channel(int argc, char **argv)
{
    struct nw_bench_teller tell = {.json = false};
    struct bench_channel_arguments arguments = {
        .bench = {.channel = NW_CHANNEL_OPTIONS_INIT,
                  .largest = 65536,
                  .iterations = 1000,
                  .ranks = 4,
                  .tell = &tell},
    };
    nw_status status;

    argv[0] = (char *)"nodewise bench channel";
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    status = nw_file_writable(arguments.output);
    if (status)
        return nw_cli_fail_output("bench", status);
    status = has_file(arguments.output)
                 ? run_for(&arguments.bench, arguments.output)
                 : run_where_started(&arguments.bench);
    nw_text_fini(&tell.text);
    return status ? nw_cli_fail("bench", status) : NW_EXIT_DONE;
}
