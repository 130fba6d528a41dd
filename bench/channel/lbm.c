/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs steps of a lattice Boltzmann code like the paper's GPULBM. The domain is
 * a periodic box of 32 x 32 x Z cells. The model is D3Q19 with one relaxation
 * time. The fluid carries a scalar, and the scalar lifts the fluid. The box is
 * divided along Z, one part per process. At each point of a face, six floats
 * are exchanged: five populations and the scalar. Each of them is a plane that
 * is sent from where it is stored. The field is in device memory. The CPU can
 * compute there only because the test double of the driver allows it
 * (FAKE_CUDA_READABLE); it charges no time for this. Instead, the program waits
 * for the time of a kernel: 5 us, plus the bytes that the kernel reads and
 * writes at 1000 GB/s. NODEWISE_CHANNEL_PROTOCOL and NODEWISE_CHANNEL_COPY
 * choose the protocol.
 *
 *     lbm RANKS Z STEPS
 */
#include "base/clock.h"
#include "base/file.h"
#include "channel/memory/memory.h"

#include <nodewise/channel.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { X = 32, Y = 32, PLANE = X * Y, Q = 19, FIELDS = Q + 1, SCALAR = Q };
enum { FACE = 6, UP = 0, DOWN = 1, SYNC = 1000, WARM = 20 };

static const int c[Q][3] = {{0, 0, 0},  {1, 0, 0},  {-1, 0, 0},  {0, 1, 0},
                            {0, -1, 0}, {0, 0, 1},  {0, 0, -1},  {1, 1, 0},
                            {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0}, {1, 0, 1},
                            {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1}, {0, 1, 1},
                            {0, -1, 1}, {0, 1, -1}, {0, -1, -1}};

/* The part of the domain of one process. */
struct part {
    nw_channel *channel;
    int32_t rank, count;
    int z0, planes; /* own planes, without the ghost plane below and above */
    float *now, *next;
    void (*work)(const char *kind, size_t bytes);
    double compute_s, messages_s;
};

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "lbm: %s: %s\n", what, nw_error_text());
    exit(1);
}

static float *at(const struct part *part, float *field, int q, int z)
{
    return field + ((size_t)q * (size_t)(part->planes + 2) + (size_t)z) * PLANE;
}

static float weight(int q)
{
    return !q ? 1.0f / 3 : q <= 6 ? 1.0f / 18 : 1.0f / 36;
}

static float equilibrium(int q, float rho, const float u[3])
{
    float cu =
        (float)c[q][0] * u[0] + (float)c[q][1] * u[1] + (float)c[q][2] * u[2];
    float uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];

    return weight(q) * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * uu);
}

static int wrap(int i, int n)
{
    return (i + n) % n;
}

static float from(const struct part *part, int q, const int cell[3])
{
    return at(part, part->now, q,
              cell[2])[wrap(cell[1], Y) * X + wrap(cell[0], X)];
}

/* The scalar after a step: carried by the fluid (upwind) and diffused, with an
 * explicit scheme. */
static float carry(const struct part *part, const int cell[3], const float u[3])
{
    float here = from(part, SCALAR, cell), out = here;

    for (int d = 0; d < 3; d++) {
        int low[3] = {cell[0], cell[1], cell[2]},
            high[3] = {cell[0], cell[1], cell[2]};
        float below, above;

        low[d]--;
        high[d]++;
        below = from(part, SCALAR, low);
        above = from(part, SCALAR, high);
        out += 0.05f * (below + above - 2 * here);
        out -= u[d] > 0 ? u[d] * (here - below) : u[d] * (above - here);
    }
    return out;
}

static void collide(const struct part *part, const int cell[3])
{
    size_t i = (size_t)(cell[1] * X + cell[0]);
    float f[Q], rho = 0, u[3] = {0};

    for (int q = 0; q < Q; q++) {
        int source[3] = {cell[0] - c[q][0], cell[1] - c[q][1],
                         cell[2] - c[q][2]};

        f[q] = from(part, q, source);
        rho += f[q];
        for (int d = 0; d < 3; d++)
            u[d] += (float)c[q][d] * f[q];
    }
    for (int d = 0; d < 3; d++)
        u[d] /= rho;
    at(part, part->next, SCALAR, cell[2])[i] = carry(part, cell, u);
    u[2] += 0.001f * from(part, SCALAR, cell);
    for (int q = 0; q < Q; q++)
        at(part, part->next, q, cell[2])[i] =
            f[q] + (equilibrium(q, rho, u) - f[q]) / 0.8f;
}

static void compute(struct part *part)
{
    int cell[3];

    for (cell[2] = 1; cell[2] <= part->planes; cell[2]++)
        for (cell[1] = 0; cell[1] < Y; cell[1]++)
            for (cell[0] = 0; cell[0] < X; cell[0]++)
                collide(part, cell);
}

static void start(struct part *part)
{
    const float still[3] = {0};

    for (int z = 0; z < part->planes + 2; z++)
        for (int i = 0; i < PLANE; i++) {
            int global = part->z0 + z - 1 + 64;

            for (int q = 0; q < Q; q++)
                at(part, part->now, q, z)[i] = equilibrium(q, 1, still);
            at(part, part->now, SCALAR, z)[i] =
                (float)((i * 7 + global % 4 * 13) % 11) / 11;
        }
}

/* -- the exchange through the upper and the lower face -- */

static void faces(int way, int out[FACE])
{
    int n = 0;

    for (int q = 0; q < Q; q++)
        if (c[q][2] == (way == UP ? 1 : -1))
            out[n++] = q;
    out[n] = SCALAR;
}

static void begin(struct part *part, int way, int i, nw_channel_request **both)
{
    int q[FACE], step = way == UP ? 1 : part->count - 1;
    int from_z = way == UP ? part->planes : 1,
        to_z = way == UP ? 0 : part->planes + 1;
    struct nw_channel_message message = {.bytes = PLANE * sizeof(float),
                                         .tag = way * FACE + i};

    faces(way, q);
    message.buffer = at(part, part->next, q[i], to_z);
    message.peer = (part->rank + part->count - step) % part->count;
    must(!nw_channel_receive(part->channel, &message, &both[0]), "receive");
    message.buffer = at(part, part->next, q[i], from_z);
    message.peer = (part->rank + step) % part->count;
    must(!nw_channel_send(part->channel, &message, &both[1]), "send");
}

static void exchange(struct part *part)
{
    nw_channel_request *requests[2 * FACE][2];

    for (int i = 0; i < 2 * FACE; i++)
        begin(part, i / FACE, i % FACE, requests[i]);
    for (int i = 0; i < 4 * FACE; i++)
        must(!nw_channel_wait(&requests[i / 2][i % 2], NULL), "wait");
}

/* A barrier, so that the time of computation is not counted as waiting. */
static void meet(struct part *part)
{
    char words[2];

    for (int i = 0; i < 2 && part->count > 1; i++) {
        bool sends = i == part->rank;
        struct nw_channel_message message = {&words[i], 1, !part->rank, SYNC};
        nw_channel_request *request = NULL;

        must(!(sends ? nw_channel_send(part->channel, &message, &request)
                     : nw_channel_receive(part->channel, &message, &request)) &&
                 !nw_channel_wait(&request, NULL),
             "meet");
    }
}

static void step(struct part *part, bool counts)
{
    size_t cells = (size_t)part->planes * PLANE;
    uint64_t begun, done;
    float *old = part->now;

    compute(part);
    meet(part);
    begun = nw_clock_ns();
    part->work("kernel", cells * 2 * FIELDS * sizeof(float));
    done = nw_clock_ns();
    exchange(part);
    if (counts) {
        part->compute_s += (double)(done - begun) * 1e-9;
        part->messages_s += (double)(nw_clock_ns() - done) * 1e-9;
    }
    part->now = part->next;
    part->next = old;
}

/* -- the result: a sum over planes that does not depend on the division -- */

static uint64_t digest(struct part *part)
{
    uint64_t sum = 0;

    for (int z = 1; z <= part->planes; z++)
        for (int q = 0; q < FIELDS; q++) {
            uint64_t hash = (uint64_t)(part->z0 + z) * 131 + (uint64_t)q;
            const unsigned char *bytes = (void *)at(part, part->now, q, z);

            for (size_t i = 0; i < PLANE * sizeof(float); i++)
                hash = (hash ^ bytes[i]) * 0x100000001b3u;
            sum += hash;
        }
    return sum;
}

static void report(struct part *part, int steps)
{
    uint64_t sums[2] = {digest(part), 0};
    struct nw_channel_message message = {&sums[!part->rank], 8, !part->rank,
                                         SYNC};
    nw_channel_request *request = NULL;

    if (part->count > 1) {
        if (part->rank) {
            message.buffer = &sums[0];
            must(!nw_channel_send(part->channel, &message, &request), "send");
        } else {
            must(!nw_channel_receive(part->channel, &message, &request),
                 "receive");
        }
        must(!nw_channel_wait(&request, NULL), "wait");
    }
    if (!part->rank)
        printf("%.3f\t%.3f\t%016llx\n", part->compute_s * 1e6 / steps,
               part->messages_s * 1e6 / steps,
               (unsigned long long)(sums[0] + sums[1]));
}

static void run(struct nw_channel_options *options, int z, int steps)
{
    struct part part = {.rank = options->rank, .count = options->count};
    size_t bytes;
    void *memory[2];

    part.planes = z / part.count;
    part.z0 = part.rank * part.planes;
    bytes = (size_t)FIELDS * (size_t)(part.planes + 2) * PLANE * sizeof(float);
    must(!nw_channel_open(options, &part.channel), "open");
    for (int i = 0; i < 2; i++)
        must(!nw_channel_memory_new(true, bytes, &memory[i]), "allocate");
    part.work = (void (*)(const char *, size_t))dlsym(
        dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_work");
    must(part.work != NULL, "this is not the driver's double");
    part.now = memory[0];
    part.next = memory[1];
    start(&part);
    for (int s = -WARM; s < steps; s++)
        step(&part, s >= 0);
    report(&part, steps);
    nw_channel_close(part.channel);
    for (int i = 0; i < 2; i++)
        nw_channel_memory_free(true, memory[i]);
}

int main(int argc, char **argv)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    char file[NW_FILE_UNNAMED_PATH];
    int z = argc == 4 ? atoi(argv[2]) : 0, how = 0, fd = -1;
    pid_t child = 1;

    options.count = argc == 4 ? atoi(argv[1]) : 0;
    must((options.count == 1 || options.count == 2) && z >= 2 * options.count &&
             z % options.count == 0,
         "usage: lbm 1|2 Z STEPS");
    must(!nw_file_unnamed(file, &fd), "a place to meet");
    options.file = file;
    if (options.count == 2)
        child = fork();
    options.rank = !child;
    run(&options, z, atoi(argv[3]));
    if (child && options.count == 2)
        must(wait(&how) > 0 && !how, "the other process");
    return 0;
}
