/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this node, called peers. In MPI_Init they agree on whether
 * envelopes are used, and map host memory that they share (struct
 * nw_shared_page). */
#include "runtime/messages/direct.h"

#include "base/status.h"
#include "runtime/rank0_environment.h"
#include "runtime/messages/passthrough.h"
#include "runtime/warn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { NAME_ROOM = 48 };

/* For each rank of a communicator, the peer number of its process; -1 if that
 * is on another node. */
struct places {
    struct places *next;
    MPI_Comm comm;
    int count;
    int peer[];
};

struct nw_shared_page *nw_shared_page;
bool nw_direct_to_all;

static MPI_Comm node, self;
static bool have_node, have_self;
static int mine, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static struct places *all_places;

int nw_local_peer_mine(void)
{
    return mine;
}

int nw_local_peer_count(void)
{
    return count;
}

MPI_Comm nw_local_peer_self(void)
{
    return self;
}

MPI_Comm nw_local_peer_comm(void)
{
    return node;
}

/* The words follow the array `peer` in the shared page. Each owner of a pool
 * has a row of words, one for each reader. */
uint32_t *nw_local_peer_opens(int owner, int reader)
{
    return (uint32_t *)(void *)&nw_shared_page->peer[count] + owner * count +
           reader;
}

static size_t shared_page_bytes(void)
{
    size_t n = (size_t)count;

    return sizeof *nw_shared_page + n * sizeof *nw_shared_page->peer +
           n * n * sizeof(uint32_t);
}

/* --- ranks of communicators --- */

static void places_remove(struct places *places)
{
    struct places **at = &all_places;

    pthread_mutex_lock(&lock);
    while (*at && *at != places)
        at = &(*at)->next;
    if (*at)
        *at = places->next;
    pthread_mutex_unlock(&lock);
}

static int local_peers_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    places_remove(value);
    free(value);
    return MPI_SUCCESS;
}

static bool local_peers_translate(MPI_Comm comm, struct places *places)
{
    int *ranks = malloc((size_t)places->count * sizeof *ranks);
    MPI_Group from, to;

    if (!ranks)
        return false;
    for (int i = 0; i < places->count; i++)
        ranks[i] = i;
    NW_PMPI(Comm_group)(comm, &from);
    NW_PMPI(Comm_group)(node, &to);
    NW_PMPI(Group_translate_ranks)
    (from, places->count, ranks, to, places->peer);
    NW_PMPI(Group_free)(&from);
    NW_PMPI(Group_free)(&to);
    free(ranks);
    for (int i = 0; i < places->count; i++)
        if (places->peer[i] == MPI_UNDEFINED)
            places->peer[i] = -1;
    return true;
}

/* Finds the peer numbers of all ranks of a communicator. They are all -1 for an
 * intercommunicator, whose ranks are those of the other group. */
static struct places *places_new(MPI_Comm comm)
{
    struct places *places = NULL;
    int between = 0, size = 0;

    NW_PMPI(Comm_test_inter)(comm, &between);
    if (!between)
        NW_PMPI(Comm_size)(comm, &size);
    places = calloc(1, sizeof *places + (size_t)size * sizeof(int));
    if (!places)
        return NULL;
    places->comm = comm;
    places->count = size;
    if ((size && !local_peers_translate(comm, places)) ||
        NW_PMPI(Comm_set_attr)(comm, keyval, places)) {
        free(places);
        return NULL;
    }
    places->next = all_places;
    all_places = places;
    return places;
}

int nw_local_peer_of(MPI_Comm comm, int rank)
{
    struct places *places = NULL;
    int found = 0;

    if (comm == MPI_COMM_NULL)
        return -1;
    pthread_mutex_lock(&lock);
    if (!NW_PMPI(Comm_get_attr)(comm, keyval, &places, &found) && !found)
        places = places_new(comm);
    pthread_mutex_unlock(&lock);
    return places && rank >= 0 && rank < places->count ? places->peer[rank]
                                                       : -1;
}

/* --- the shared page --- */

static int shared_page_create(char name[NAME_ROOM])
{
    uint64_t random = 0;
    int fd;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -1;
    snprintf(name, NAME_ROOM, "/nodewise-direct-%016llx",
             (unsigned long long)random);
    fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    /* allocate all pages now, since a later access to a page that cannot be
     * allocated would raise SIGBUS */
    if (fd >= 0 && posix_fallocate(fd, 0, (off_t)shared_page_bytes())) {
        close(fd);
        shm_unlink(name);
        return -1;
    }
    return fd;
}

static void shared_page_map(int fd)
{
    void *memory = fd < 0 ? MAP_FAILED
                          : mmap(NULL, shared_page_bytes(),
                                 PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    nw_shared_page = memory == MAP_FAILED ? NULL : memory;
}

static void shared_page_unmap(void)
{
    if (nw_shared_page)
        munmap(nw_shared_page, shared_page_bytes());
    nw_shared_page = NULL;
}

/* Maps the shared page of the node, which its first process creates. Its name
 * is removed when all processes have mapped it. Returns true on all processes
 * or on none. Collective over the processes of the node. */
static bool shared_page_open(void)
{
    char name[NAME_ROOM] = "";
    bool good = true;
    int fd = -1;

    if (!mine)
        fd = shared_page_create(name);
    NW_PMPI(Bcast)(name, NAME_ROOM, MPI_BYTE, 0, node);
    if (mine && name[0])
        fd = shm_open(name, O_RDWR, 0600);
    shared_page_map(fd);
    if (nw_shared_page && !mine)
        good = getrandom(nw_shared_page->nonce, NW_NONCE, 0) == NW_NONCE;
    good = nw_all_ranks(node, good && nw_shared_page);
    if (!mine && name[0])
        shm_unlink(name);
    return good;
}

/* --- MPI_Init and MPI_Finalize --- */

static bool is_wanted(void)
{
    const char *word = nw_rank0_environment_variable("NODEWISE_GPU_DIRECT");

    nw_direct_to_all = word && !strcmp(word, "on");
    if (!word || !strcmp(word, "auto") || nw_direct_to_all)
        return true;
    if (strcmp(word, "off"))
        nw_warn_once("NODEWISE_GPU_DIRECT=%s is unknown; use auto, on or off",
                     word);
    return false;
}

/* Returns true if the CUDA driver library can be loaded. Does not initialise
 * the driver. */
static bool has_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);

    if (driver)
        dlclose(driver);
    return driver != NULL;
}

static void local_peers_close_all(void)
{
    shared_page_unmap();
    if (have_self)
        NW_PMPI(Comm_free)(&self);
    if (have_node)
        NW_PMPI(Comm_free)(&node);
    have_self = have_node = false;
    if (keyval != MPI_KEYVAL_INVALID)
        NW_PMPI(Comm_free_keyval)(&keyval);
}

static bool open_self(void)
{
    have_self = !NW_PMPI(Comm_dup)(MPI_COMM_SELF, &self);
    return have_self;
}

static bool local_peers_open_all(bool messaging)
{
    if (NW_PMPI(Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &node))
        return false;
    have_node = true;
    NW_PMPI(Comm_set_errhandler)(node, MPI_ERRORS_RETURN);
    NW_PMPI(Comm_rank)(node, &mine);
    NW_PMPI(Comm_size)(node, &count);
    return nw_all_ranks(node, messaging && !nw_passthrough && is_wanted() &&
                                  has_driver()) &&
           shared_page_open() &&
           nw_all_ranks(node,
                        open_self() && !NW_PMPI(Comm_create_keyval)(
                                           nw_shape_not_copied,
                                           local_peers_drop, &keyval, NULL));
}

void nw_direct_start(bool messaging)
{
    if (!nw_rank0_environment_variable("NODEWISE_GPU_DIRECT") &&
        !nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES"))
        return;
    if (local_peers_open_all(messaging))
        __atomic_store_n(&nw_direct, true, __ATOMIC_RELEASE);
    else
        local_peers_close_all();
}

void nw_local_peers_close(void)
{
    while (all_places)
        NW_PMPI(Comm_delete_attr)(all_places->comm, keyval);
    local_peers_close_all();
}
