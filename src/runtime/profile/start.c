/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records calls from MPI_Init to MPI_Finalize. If NODEWISE_RECORD is not set on
 * rank 0, nothing is set up and all calls go to MPI unchanged.
 */
#include "runtime/profile/profile.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/text.h"
#include "runtime/rank0_environment.h"
#include "runtime/profile/nccl.h"
#include "runtime/profile/phases.h"
#include "runtime/warn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static struct {
    char *path; /* absolute path of the profile; NULL: nothing is recorded */
    pid_t pid;
    bool done;
    uint64_t begun_ns;
} state;

static char *profile_start_absolute(const char *path)
{
    struct nw_text text = {0};
    char *out = NULL;

    nw_file_add_absolute(path, &text);
    return nw_text_take(&text, &out) ? NULL : out;
}

/* Returns the path of the profile for spawned processes. They have an
 * MPI_COMM_WORLD of their own, so they write another file next to the profile
 * of their parents. The caller frees the result. Collective. */
static char *spawned_path(const char *path, int rank, MPI_Comm comm)
{
    struct nw_text text = {0};
    long long number = rank ? 0 : (long long)getpid();
    char *out = NULL;

    NW_PMPI(Bcast)(&number, 1, MPI_LONG_LONG, 0, comm);
    nw_text_format(&text, "%s.spawn.%lld", path, number);
    if (nw_text_take(&text, &out))
        return NULL;
    return out;
}

/* Returns a random number that is equal on all ranks, so that two jobs never
 * use the same part file. Collective. */
static uint64_t launch_number(int rank)
{
    uint64_t number = 0;

    if (!rank && getrandom(&number, sizeof number, GRND_NONBLOCK) !=
                     (ssize_t)sizeof number)
        number = (uint64_t)time(NULL) << 32 | (uint32_t)getpid();
    NW_PMPI(Bcast)(&number, sizeof number, MPI_BYTE, 0, nw_profile_comm);
    return number;
}

static char *part_path(int rank)
{
    const char *parts = getenv("NODEWISE_PARTS");
    uint64_t launch = launch_number(rank);
    struct nw_text text = {0};
    char *out = NULL;

    if (parts && !strcmp(parts, "off"))
        return NULL;
    nw_text_format(&text, "%s.part.%d.%016llx", state.path, rank,
                   (unsigned long long)launch);
    if (nw_text_take(&text, &out))
        return NULL;
    return out;
}

static void open_part(void)
{
    int rank, size;
    char *path;

    NW_PMPI(Comm_rank)(nw_profile_comm, &rank);
    NW_PMPI(Comm_size)(nw_profile_comm, &size);
    path = part_path(rank);
    nw_count_open(path, rank, size);
    free(path);
}

/* Stores the program's arguments in the header. Control characters, such as the
 * NULs between arguments, become blanks. */
static void note_program(struct nw_part_header *header)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = 0;

    if (!file)
        return;
    length = fread(header->program, 1, sizeof header->program - 1, file);
    fclose(file);
    while (length && !header->program[length - 1])
        length--;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)header->program[i] < ' ')
            header->program[i] = ' ';
    header->program_length = (uint32_t)length;
}

static bool is_asked(void)
{
    const char *own = getenv("NODEWISE_RECORD");

    return own && own[0];
}

/* Returns false on all ranks if memory is exhausted on any rank. Collective. */
static bool duplicate_world(MPI_Comm world)
{
    MPI_Comm parent = MPI_COMM_NULL;
    char *path;
    int rank;

    if (NW_PMPI(Comm_dup)(world, &nw_profile_comm))
        return false;
    NW_PMPI(Comm_set_errhandler)(nw_profile_comm, MPI_ERRORS_RETURN);
    /* only programs that call MPI_Init can be spawned */
    if (world == MPI_COMM_WORLD)
        NW_PMPI(Comm_get_parent)(&parent);
    if (parent == MPI_COMM_NULL)
        return true;
    NW_PMPI(Comm_rank)(nw_profile_comm, &rank);
    path = spawned_path(state.path, rank, nw_profile_comm);
    free(state.path);
    state.path = path;
    return nw_all_ranks(nw_profile_comm, path);
}

static void warn_of_misspelt(MPI_Comm world)
{
    const char *entry = nw_environment_unknown(environ);
    int rank = 0;

    if (!entry || NW_PMPI(Comm_rank)(world, &rank) || rank)
        return;
    nw_warn(
        "unknown variable %.*s; 'nodewise doctor --env' lists all variables",
        (int)strcspn(entry, "="), entry);
}

void nw_profile_start(MPI_Comm world)
{
    const char *path = nw_rank0_environment_variable("NODEWISE_RECORD");

    warn_of_misspelt(world);
    if (nw_rank0_environment_joined() && !path && is_asked())
        nw_warn_once("no profile: NODEWISE_RECORD is not set on rank 0");
    if (nw_is_active() || state.done || !path)
        return;
    state.path = profile_start_absolute(path);
    if (!nw_all_ranks(world, state.path) || !duplicate_world(world)) {
        if (nw_is_first_process())
            nw_warn_once("no profile: the program could not be joined");
        return;
    }
    nw_comm_open(nw_profile_comm);
    open_part();
    note_program(nw_count_header());
    nw_count_set_state(NW_PART_RUNNING);
    nw_collective_open();
    nw_phases_open();
    nw_nccl_open();
    state.pid = getpid();
    state.begun_ns = nw_clock_ns();
    __atomic_store_n(&nw_active, true, __ATOMIC_RELEASE);
}

/* Changes state.path if a profile was written there after `nodewise profile`
 * began. A script may run several programs, and the second must not overwrite
 * the profile of the first. */
static void spare_written(void)
{
    const char *before = getenv("NODEWISE_RECORD_BEFORE");
    struct nw_text name = {0};
    struct stat now;
    char seen[80];

    if (!before || stat(state.path, &now))
        return;
    snprintf(seen, sizeof seen, "%llu:%lld.%09ld",
             (unsigned long long)now.st_ino, (long long)now.st_mtim.tv_sec,
             now.st_mtim.tv_nsec);
    if (!strcmp(seen, before))
        return;
    for (int i = 2; !name.length || !access(name.data, F_OK); i++) {
        nw_text_fini(&name);
        nw_text_format(&name, "%s.%d", state.path, i);
        if (name.failed)
            return;
    }
    nw_warn("another program of this command has its profile in '%s'; this "
            "program's is '%s'",
            state.path, name.data);
    free(state.path);
    if (nw_text_take(&name, &state.path))
        state.path = NULL;
}

void nw_profile_without_world(const char *reason)
{
    if (!state.pid && is_asked() && nw_is_first_process())
        nw_warn_once("no profile: %s", reason);
}

void nw_profile_finish(void)
{
    bool written;
    int rank = 0;

    if (!nw_is_active())
        return;
    __atomic_store_n(&nw_active, false, __ATOMIC_RELEASE);
    state.done = true;
    nw_nccl_finish(nw_profile_comm);
    nw_count_add_time(NW_CALL_RUN, NW_PATTERN_RUN,
                      nw_clock_ns() - state.begun_ns);
    nw_count_set_state(NW_PART_FINALIZED);
    NW_PMPI(Comm_rank)(nw_profile_comm, &rank);
    if (!rank)
        spare_written();
    written = nw_profile_gather(nw_profile_comm, state.path);
    nw_count_close(written);
    nw_requests_close();
    nw_comm_close();
    NW_PMPI(Comm_free)(&nw_profile_comm);
    free(state.path);
    state.path = NULL;
}

/* Returns false in a forked child: it shares the part file with this process,
 * and its copy of a lock may be held by a thread that it does not have. */
static bool writes_part(void)
{
    return nw_is_active() && state.pid == getpid();
}

void nw_profile_aborted(int code)
{
    if (!writes_part())
        return;
    nw_count_header()->abort_code = code;
    nw_count_set_state(NW_PART_ABORTED);
}

/* At exit without MPI_Finalize, marks the part as exited. */
__attribute__((destructor)) static void leave(void)
{
    if (writes_part() && nw_count_header()->state == NW_PART_RUNNING)
        nw_count_set_state(NW_PART_EXITED);
}
