/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of libpmix.so.2: a job of FAKE_PMIX_SIZE ranks (default 1), in
 * which this process is rank 0. PMIx_Get returns the value that this process
 * put last, whichever rank is asked for. A fence ends when the test calls
 * fake_pmix_end, or at once after fake_pmix_at_once(1). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { UINT32 = 14, BYTES = 27, AT_ONCE = -157, NOT_FOUND = -46 };

struct proc {
    char job[256];
    uint32_t rank;
};

struct value {
    uint16_t type;
    union {
        uint32_t number;
        struct {
            char *bytes;
            size_t size;
        } object;
        char room[64];
    } data;
};

API int PMIx_Init(struct proc *me, void *infos, size_t count);
API int PMIx_Finalize(const void *infos, size_t count);
API int PMIx_Put(uint8_t scope, const char *key, const struct value *value);
API int PMIx_Commit(void);
API int PMIx_Fence_nb(const struct proc *procs, size_t count, const void *infos,
                      size_t info_count, void (*done)(int, void *),
                      void *context);
API int PMIx_Get(const struct proc *proc, const char *key, const void *infos,
                 size_t count, struct value **out);
API const char *PMIx_Error_string(int status);
API void fake_pmix_at_once(int yes);
API void fake_pmix_end(int status);

/* The value that was put last, and the fence that has not ended: its function
 * and the argument of that. */
static char *said;
static size_t size;
static int at_once;
static void (*waiting)(int, void *);
static void *waits;

int PMIx_Init(struct proc *me, void *infos, size_t count)
{
    (void)infos, (void)count;
    *me = (struct proc){.job = "fake", .rank = 0};
    return 0;
}

int PMIx_Finalize(const void *infos, size_t count)
{
    (void)infos, (void)count;
    free(said);
    said = NULL;
    return 0;
}

int PMIx_Put(uint8_t scope, const char *key, const struct value *value)
{
    (void)scope, (void)key;
    free(said);
    size = value->data.object.size;
    said = malloc(size);
    memcpy(said, value->data.object.bytes, size);
    return 0;
}

int PMIx_Commit(void)
{
    return 0;
}

int PMIx_Fence_nb(const struct proc *procs, size_t count, const void *infos,
                  size_t info_count, void (*done)(int, void *), void *context)
{
    (void)procs, (void)count, (void)infos, (void)info_count;
    waiting = done;
    waits = context;
    return at_once ? AT_ONCE : 0;
}

int PMIx_Get(const struct proc *proc, const char *key, const void *infos,
             size_t count, struct value **out)
{
    const char *ranks = getenv("FAKE_PMIX_SIZE");
    struct value *value = calloc(1, sizeof *value);

    (void)infos, (void)count;
    if (!strcmp(key, "pmix.job.size")) {
        value->type = UINT32;
        value->data.number = ranks ? (uint32_t)atoi(ranks) : 1;
    } else if (said && proc->rank < INT32_MAX) {
        value->type = BYTES;
        value->data.object.bytes = malloc(size);
        memcpy(value->data.object.bytes, said, size);
        value->data.object.size = size;
    } else {
        free(value);
        return NOT_FOUND;
    }
    *out = value;
    return 0;
}

const char *PMIx_Error_string(int status)
{
    return status == NOT_FOUND ? "NOT-FOUND" : "SOMETHING";
}

/* Sets whether later fences end at once. */
void fake_pmix_at_once(int yes)
{
    at_once = yes;
}

/* Ends the current fence with the status. */
void fake_pmix_end(int status)
{
    void (*done)(int, void *) = waiting;

    waiting = NULL;
    if (done)
        done(status, waits);
}
