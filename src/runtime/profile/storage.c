/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores records in memory and writes them to the part file from time to time.
 * The file is not mapped: if a mapped file is truncated, the program gets
 * SIGBUS at its next access.
 */
#include "runtime/profile/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Records are in chunks. Chunk c has 128 << c records, so the index of a record
 * gives its chunk. */
#define FIRST_CHUNK 128
#define CHUNK_COUNT 24
/* All changed records are written once a second, or less often if writing takes
 * more than 1 % of the time. */
#define PERIOD_NS UINT64_C(1000000000)
#define PERIOD_FACTOR 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the file */
static int file = -1;
static struct stat file_info;
static char *file_path;
static pid_t file_owner; /* process that created the file */
static uint64_t next_save_ns;
static struct nw_part_header *header, spare_header;
static struct nw_part_record *chunk[CHUNK_COUNT];

/* True while this thread holds the lock or takes it. A signal handler that
 * calls MPI_Abort or exit may have interrupted the thread meanwhile. */
static _Thread_local volatile bool storage_is_locked;

/* Takes the lock with thread cancellation disabled, since a cancelled thread
 * would keep the lock. Sets *cancel to the old cancellation state. Returns
 * false, without the lock, if this thread holds it already. */
static bool take_lock(int *cancel)
{
    if (storage_is_locked)
        return false;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
    storage_is_locked = true;
    (void)pthread_mutex_lock(&lock);
    return true;
}

static void give_lock(int cancel)
{
    (void)pthread_mutex_unlock(&lock);
    storage_is_locked = false;
    (void)pthread_setcancelstate(cancel, NULL);
}

static void *map_memory(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

/* Returns true if the file descriptor is still that of our file. The program
 * may have closed it and opened another file with the same number. */
static bool storage_is_open(void)
{
    struct stat now;

    return file >= 0 && !fstat(file, &now) && now.st_ino == file_info.st_ino &&
           now.st_dev == file_info.st_dev;
}

static void drop_file(bool remove)
{
    if (storage_is_open())
        close(file);
    file = -1;
    if (file_path && remove)
        unlink(file_path);
    free(file_path);
    file_path = NULL;
}

/* Returns false if a write up to `end` exceeds the process's size limit
 * (RLIMIT_FSIZE), which the program may lower at any time. The write would then
 * end the program with SIGXFSZ. */
static bool is_allowed(off_t end)
{
    struct rlimit most;

    return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY ||
           (rlim_t)end <= most.rlim_cur;
}

/* Writes to the file. If the write fails or the program has closed the file,
 * removes the file, since an incomplete file would be misleading. A forked
 * child that has closed the file only forgets it, because its parent still
 * writes to it. */
static void storage_put(const void *bytes, size_t size, size_t offset)
{
    off_t end = (off_t)(offset + size);
    ssize_t done = -1;

    if (!storage_is_open()) {
        drop_file(file_owner == getpid());
        return;
    }
    if (is_allowed(end))
        do
            done = pwrite(file, bytes, size, (off_t)offset);
        while (done < 0 && errno == EINTR);
    if (done != (ssize_t)size)
        drop_file(true);
}

/* Writes the whole header page, which readers expect even before the first
 * record. The spare header is used only without a file. */
static void put_header(void)
{
    if (file >= 0)
        storage_put(header, NW_PART_HEADER, 0);
}

/* Creates the file and locks it. The lock shows other processes that the rank
 * is alive. */
static void open_file(const char *path)
{
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    file_path = strdup(path);
    if (!file_path || fstat(file, &file_info) || ftruncate(file, 0)) {
        close(file);
        unlink(path);
        file = -1;
        return;
    }
    (void)flock(file, LOCK_EX | LOCK_NB);
    file_owner = getpid();
}

void nw_storage_open(const char *path, int rank, int rank_count)
{
    header = map_memory(NW_PART_HEADER);
    if (!header)
        header = &spare_header;
    header->order = NW_PART_ORDER;
    header->rank = rank;
    header->rank_count = rank_count;
    header->state = NW_PART_RUNNING;
    memcpy(header->magic, NW_PART_MAGIC, sizeof header->magic);
    if (path && header != &spare_header)
        open_file(path);
    nw_storage_save();
}

struct nw_part_header *nw_storage_header(void)
{
    return header ? header : &spare_header;
}

static size_t chunk_start(int c)
{
    return ((size_t)FIRST_CHUNK << c) - FIRST_CHUNK;
}

static int chunk_of(size_t index)
{
    return 63 - __builtin_clzll(index / FIRST_CHUNK + 1);
}

static bool map_chunk(int c)
{
    chunk[c] =
        map_memory(((size_t)FIRST_CHUNK << c) * sizeof(struct nw_part_record));
    return chunk[c];
}

struct nw_part_record *nw_storage_next(void)
{
    size_t index = header->record_count;
    int c = chunk_of(index);

    if (header == &spare_header || c >= CHUNK_COUNT ||
        (!chunk[c] && !map_chunk(c)))
        return NULL;
    nw_storage_at(index)->index = (uint32_t)index;
    __atomic_store_n(&header->record_count, index + 1, __ATOMIC_RELEASE);
    return nw_storage_at(index);
}

struct nw_part_record *nw_storage_at(size_t index)
{
    int c = chunk_of(index);

    return chunk[c] + (index - chunk_start(c));
}

/* Writes a record to the file. Callers write the header afterwards, so that the
 * record count in the file never includes records that are not there. */
static void put_record(struct nw_part_record *record)
{
    __atomic_store_n(&record->is_new, 0, __ATOMIC_RELAXED);
    if (file >= 0)
        storage_put(record, sizeof *record,
                    NW_PART_HEADER + record->index * sizeof *record);
}

void nw_storage_put(struct nw_part_record *record)
{
    int cancel;

    if (__atomic_load_n(&file, __ATOMIC_RELAXED) < 0 || !take_lock(&cancel))
        return;
    put_record(record);
    put_header();
    give_lock(cancel);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void nw_storage_save(void)
{
    size_t count = header ? header->record_count : 0;
    uint64_t begun = now_ns(), taken;
    int cancel;

    if (!take_lock(&cancel))
        return;
    for (size_t i = 0; file >= 0 && i < count; i++)
        if (__atomic_load_n(&nw_storage_at(i)->is_new, __ATOMIC_RELAXED))
            put_record(nw_storage_at(i));
    put_header();
    taken = PERIOD_FACTOR * (now_ns() - begun);
    next_save_ns = begun + (taken > PERIOD_NS ? taken : PERIOD_NS);
    give_lock(cancel);
}

void nw_storage_save_at_times(void)
{
    if (__atomic_load_n(&file, __ATOMIC_RELAXED) >= 0 &&
        now_ns() >= __atomic_load_n(&next_save_ns, __ATOMIC_RELAXED))
        nw_storage_save();
}

void nw_storage_close(bool remove)
{
    if (!remove)
        nw_storage_save();
    for (int c = 0; c < CHUNK_COUNT; c++) {
        if (chunk[c])
            munmap(chunk[c],
                   ((size_t)FIRST_CHUNK << c) * sizeof(struct nw_part_record));
        chunk[c] = NULL;
    }
    if (header && header != &spare_header)
        munmap(header, NW_PART_HEADER);
    header = NULL;
    drop_file(remove);
}
