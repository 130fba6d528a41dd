/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages are claimed from the file system before they are touched, since a
 * write to a mapped page that the disk cannot hold would kill the program.
 */
#include "runtime/profile/storage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Chunk c holds 128 << c records, so that an index finds its chunk. */
#define FIRST_CHUNK 128
#define CHUNK_COUNT 24

static int file = -1;
static char *file_path;
static struct nw_part_header *header, spare_header;
static struct nw_part_record *chunk[CHUNK_COUNT];

static void *map_file(size_t offset, size_t size)
{
    void *pages;

    if (file < 0 || posix_fallocate(file, (off_t)offset, (off_t)size))
        return NULL;
    pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                 (off_t)offset);
    return pages == MAP_FAILED ? NULL : pages;
}

static void *map_memory(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

static void drop_file(bool remove)
{
    if (file >= 0)
        close(file);
    file = -1;
    if (file_path && remove)
        unlink(file_path);
    free(file_path);
    file_path = NULL;
}

static void open_file(const char *path)
{
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    file_path = strdup(path);
    header = map_file(0, NW_PART_HEADER);
    if (!header)
        drop_file(true);
}

void nw_storage_open(const char *path, int rank, int rank_count)
{
    if (path)
        open_file(path);
    if (!header)
        header = map_memory(NW_PART_HEADER);
    if (!header)
        header = &spare_header;
    header->order = NW_PART_ORDER;
    header->rank = rank;
    header->rank_count = rank_count;
    header->state = NW_PART_RUNNING;
    memcpy(header->magic, NW_PART_MAGIC, sizeof header->magic);
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

/* A file that cannot grow is given up: what it lacks would mislead. */
static bool map_chunk(int c)
{
    size_t record = sizeof(struct nw_part_record);
    size_t size = ((size_t)FIRST_CHUNK << c) * record;

    if (c >= CHUNK_COUNT)
        return false;
    chunk[c] = map_file(NW_PART_HEADER + chunk_start(c) * record, size);
    if (chunk[c])
        return true;
    drop_file(true);
    chunk[c] = map_memory(size);
    return chunk[c];
}

struct nw_part_record *nw_storage_next(void)
{
    size_t index = header->record_count;
    int c = chunk_of(index);

    if (header == &spare_header || c >= CHUNK_COUNT ||
        (!chunk[c] && !map_chunk(c)))
        return NULL;
    __atomic_store_n(&header->record_count, index + 1, __ATOMIC_RELEASE);
    return nw_storage_at(index);
}

struct nw_part_record *nw_storage_at(size_t index)
{
    int c = chunk_of(index);

    return chunk[c] + (index - chunk_start(c));
}

void nw_storage_close(bool remove)
{
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
