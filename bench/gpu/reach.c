/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests each method of accessing GPU memory without the driver that is
 * available here, and compares it with the driver's own copies. The program
 * checks every size byte for byte and then prints the microseconds of a store
 * and of a load. For the resident kernel, the program also prints the time of a
 * wait for the whole GPU after a message, with and without the resident kernel.
 *
 *     reach [REPEATS]      (1000; 0 only checks)
 *
 * Exit status 77: the driver or the GPU is missing.
 */
#include "base/clock.h"
#include "channel/memory/mapping.h"
#include "channel/memory/memory.h"
#include "gpu/gpu.h"

#include <nodewise/channel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 65536, READS = 16384 };

static char mine[MOST + 1], back[MOST + 1], *device;
static const struct nw_gpu_mapping *mapping;
static size_t bytes;

static void must(nw_status status)
{
    if (!status)
        return;
    fprintf(stderr, "reach: %s\n", nw_error_text());
    exit(status == NW_ENODEV ? 77 : 1);
}

static nw_status store(void)
{
    return nw_gpu_mapping_store(mapping, device + 1, mine, bytes);
}

static nw_status load(void)
{
    return nw_gpu_mapping_load(mapping, back, device + 1, bytes);
}

static nw_status copy_in(void)
{
    return nw_memory_copy_in(0, device + 1, mine, bytes);
}

static nw_status copy_out(void)
{
    return nw_memory_copy_out(0, back, device + 1, bytes);
}

/* The mean time in microseconds. The work is done once more than `repeats`, so
 * that what is set up at first use is not measured. */
static double microseconds(nw_status (*work)(void), int repeats)
{
    uint64_t since = 0;

    for (int i = -repeats / 10 - 3; i < repeats; i++) {
        if (!i)
            since = nw_clock_ns();
        must(work());
    }
    return (double)(nw_clock_ns() - since) * 1e-3 / repeats;
}

/* How many messages a resident kernel has moved; UINT64_MAX if the mapping has
 * no such kernel. */
static uint64_t moved(void)
{
    struct nw_resident_counts counts;

    nw_resident_count(&counts);
    return mapping == &nw_gpu_mapping_resident ? counts.served : UINT64_MAX;
}

/* Checks bytes that the mapping stores and the driver reads, and the other way
 * round, and repeats this until a resident kernel has moved some, for at most
 * two seconds. */
static void check(void)
{
    uint64_t before = mapping == &nw_gpu_mapping_resident ? moved() : 0;
    uint64_t until = nw_clock_ns() + UINT64_C(2000000000);

    for (int i = 0; i < 20 || (moved() - before < 20 && nw_clock_ns() < until);
         i++) {
        for (size_t b = 0; b < bytes; b++)
            mine[b] = (char)(b * 31 + (size_t)i * 7 + bytes);
        memset(back, 0, sizeof back);
        must(i % 2 ? copy_in() : store());
        must(i % 2 ? load() : copy_out());
        if (memcmp(mine, back, bytes)) {
            printf("reach: %s, %zu bytes are wrong\n", mapping->name, bytes);
            exit(1);
        }
    }
}

static double wait_for_all(void)
{
    void *other = NULL;
    uint64_t since;

    must(nw_gpu_cuda.alloc(1, &other));
    bytes = 8;
    for (int i = 0; mapping && i < 100; i++)
        must(store());
    since = nw_clock_ns();
    nw_gpu_cuda.free(other); /* waits for every kernel */
    return (double)(nw_clock_ns() - since) * 1e-3;
}

static void show_resident(void)
{
    const struct nw_gpu_mapping *resident = mapping;
    struct nw_resident_counts counts;
    double with = wait_for_all(), without;

    mapping = NULL;
    without = wait_for_all();
    mapping = resident;
    nw_resident_count(&counts);
    printf("# resident: %llu kernels, %llu with their inbox on the GPU; %llu "
           "messages by them, %llu by the driver; memory freed after a message "
           "in %.1f us, else %.1f\n",
           (unsigned long long)counts.launched,
           (unsigned long long)counts.beside, (unsigned long long)counts.served,
           (unsigned long long)counts.driven, with, without);
}

static void try_sizes(int repeats)
{
    for (bytes = 1; bytes < MOST; bytes = bytes < 8 ? 8 : bytes * 4) {
        bool reads = mapping->load || bytes <= READS;

        check();
        if (!repeats)
            continue;
        printf("%-9s %6zu %9.2f", mapping->name, bytes,
               microseconds(store, repeats));
        printf(" %9.2f", reads ? microseconds(load, repeats / 4 + 1) : 0);
        printf(" %9.2f", microseconds(copy_in, repeats));
        printf(" %9.2f\n", microseconds(copy_out, repeats));
    }
}

/* A resident kernel must have moved messages, otherwise it was not tested. */
static void must_have_moved(void)
{
    if (moved())
        return;
    printf("reach: no resident kernel came in time\n");
    exit(1);
}

static void try_one(const char *name, int repeats)
{
    void *memory = NULL;

    setenv("NODEWISE_CHANNEL_MAPPING", name, 1);
    mapping = nw_gpu_mapping_open();
    if (!mapping) {
        printf("# %s: not here: %s\n", name, nw_error_text());
        return;
    }
    must(nw_channel_memory_new(true, MOST + 64, &memory));
    must(nw_memory_keep_in_step(memory));
    device = memory;
    if (nw_gpu_mapping_serves(mapping, memory)) {
        try_sizes(repeats);
        must_have_moved();
    } else {
        printf("# %s: gives no memory here\n", name);
    }
    if (repeats && mapping == &nw_gpu_mapping_resident)
        show_resident();
    nw_gpu_mapping_close(mapping);
    nw_channel_memory_free(true, memory);
}

int main(int count, char **word)
{
    static const char *const names[] = {"gdrcopy", "vulkan", "resident"};
    int repeats = count > 1 ? atoi(word[1]) : 1000;

    if (!nw_memory_open()) {
        fprintf(stderr, "reach: no GPU is here\n");
        return 77;
    }
    if (repeats)
        printf("# way      bytes  store us   load us   driver's in and out\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        try_one(names[i], repeats);
    return 0;
}
