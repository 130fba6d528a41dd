/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Environment variables by which a test makes the double fail or slow down:
 *   FAKE_CUDA_FAIL=CALL[:NTH[:CODE]],...  the NTH call of a driver function
 *     returns CODE (default: 999); if NTH is 0 or missing, every call does.
 *     The names kernel, copy and pageable (a copy from or to pageable memory)
 *     mean work in a stream. Their failure breaks the context, as a real fault
 *     does.
 *   FAKE_CUDA_FAIL_RANK=R                 fail only in this rank of an MPI job
 *   FAKE_CUDA_COSTS=1, or KIND:US:GBS,...  work takes US microseconds, and the
 *     time of its bytes at GBS GB/s. The kinds: copy (over the bus), device
 *     (inside a GPU or between GPUs), kernel; store and load (by the CPU
 *     through GDRCopy's mapping); and those of an adapter (README.md).
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 16, UNKNOWN = 999 };

/* A word of FAKE_CUDA_FAIL: the call, which of its calls fails (0: all), the
 * code, and how many calls were seen. */
struct wish {
    char call[40];
    int nth, code, seen;
};

static struct wish wishes[WORDS];
static int wish_count;
static bool costs_wanted;
const char *const fake_cost_names[COSTS] = {
    "copy",         "device",        "kernel",   "store", "load",
    "adapter-read", "adapter-write", "loopback", "far"};
static double delay[COSTS] = {6e-6,   2e-6,   5e-6,   0.1e-6, 1.7e-6,
                              0.6e-6, 0.6e-6, 1.2e-6, 2e-6};
static double rate[COSTS] = {12e9,  1000e9, 1000e9, 10e9,  0.5e9,
                             0.8e9, 6e9,    2e9,    1000e9};
static pthread_once_t once = PTHREAD_ONCE_INIT;

double fake_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether calls of this process must fail by FAKE_CUDA_FAIL_RANK. */
static bool is_our_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "FAKE_RANK"};
    const char *wanted = getenv("FAKE_CUDA_FAIL_RANK");

    for (int i = 0; wanted && i < 3; i++)
        if (getenv(names[i]))
            return !strcmp(getenv(names[i]), wanted);
    return !wanted;
}

static void read_wishes(char *words)
{
    char *rest = NULL;

    for (char *word = strtok_r(words, ",", &rest); word && wish_count < WORDS;
         word = strtok_r(NULL, ",", &rest)) {
        struct wish *wish = &wishes[wish_count++];

        wish->code = UNKNOWN;
        sscanf(word, "%39[^:]:%d:%d", wish->call, &wish->nth, &wish->code);
    }
}

/* Reads CALL[:NTH[:CODE]]. */
static void read_word(const char *word)
{
    char name[16];
    double us, gbs;

    for (int i = 0; i < COSTS; i++)
        if (sscanf(word, "%15[^:]:%lf:%lf", name, &us, &gbs) == 3 &&
            !strcmp(name, fake_cost_names[i])) {
            delay[i] = us * 1e-6;
            rate[i] = gbs * 1e9;
        }
}

/* Reads KIND:US:GBS,... */
static void read_costs(char *words)
{
    char *rest = NULL;

    costs_wanted = strcmp(words, "0") != 0;
    for (char *word = strtok_r(words, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        read_word(word);
}

static void read_environment(void)
{
    const char *fail = getenv("FAKE_CUDA_FAIL");
    const char *costs = getenv("FAKE_CUDA_COSTS");
    char words[512];

    if (fail && is_our_rank()) {
        snprintf(words, sizeof words, "%s", fail);
        read_wishes(words);
    }
    if (costs) {
        snprintf(words, sizeof words, "%s", costs);
        read_costs(words);
    }
}

int fake_fault(const char *call)
{
    int code = 0;

    if (fake_is_forked())
        return NOT_INITIALIZED;
    pthread_once(&once, read_environment);
    for (int i = 0; i < wish_count; i++)
        if (!strcmp(wishes[i].call, call)) {
            int seen = __atomic_add_fetch(&wishes[i].seen, 1, __ATOMIC_RELAXED);

            if (!wishes[i].nth || wishes[i].nth == seen)
                code = wishes[i].code;
        }
    return code;
}

/* How often each kind of work was done. The real driver has no such
 * counters. */
static unsigned long uses[COSTS];

API unsigned long fake_cuda_uses(const char *kind)
{
    unsigned long count = 0;

    for (int i = 0; i < COSTS; i++)
        if (!strcmp(kind, fake_cost_names[i]))
            count = __atomic_load_n(&uses[i], __ATOMIC_RELAXED);
    return count;
}

double fake_cost(enum cost kind, size_t bytes)
{
    pthread_once(&once, read_environment);
    __atomic_add_fetch(&uses[kind], 1, __ATOMIC_RELAXED);
    return costs_wanted ? delay[kind] + (double)bytes / rate[kind] : 0;
}
