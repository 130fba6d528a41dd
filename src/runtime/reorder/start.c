/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the settings and the location of every rank between MPI_Init and
 * MPI_Finalize. */
#include "runtime/reorder/gpus.h"
#include "runtime/reorder/reorder.h"
#include "runtime/reorder/discover.h"

#include "base/text.h"
#include "pattern/format.h"
#include "runtime/rank0_environment.h"
#include "runtime/warn.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct nw_job_location job;
    struct nw_reorder_settings settings;
    nw_pattern *profile;
    MPI_Group world;
    bool was_asked;  /* nw_reorder_ask has tried to read the machine */
    bool is_open;    /* `job` and `world` are valid */
    int note_key;    /* attribute with the value of nodewise_cart_weights */
    int members_key; /* attribute with a struct start_known */
    bool has_keys;
} state;

const struct nw_reorder_settings *nw_reorder_settings(void)
{
    return &state.settings;
}

const nw_pattern *nw_reorder_profile(void)
{
    return state.profile;
}

static void read_profile(struct nw_text *text)
{
    const char *path = getenv("NODEWISE_PROFILE");
    nw_pattern *pattern = NULL;

    if (!path || !path[0])
        return;
    if (nw_pattern_read(path, NULL, &pattern))
        nw_warn_once("NODEWISE_PROFILE: %s", nw_error_text());
    else if (pattern->rank_count != state.job.rank_count)
        nw_warn_once("NODEWISE_PROFILE: %s has %d rank%s, this job %d", path,
                     pattern->rank_count,
                     nw_plural((uint64_t)pattern->rank_count),
                     state.job.rank_count);
    else
        nw_native_render(pattern, text);
    nw_pattern_free(pattern);
}

/* Rank 0 reads the file of NODEWISE_PROFILE and broadcasts its text to all
 * ranks. If memory is exhausted on a rank, no rank has a profile. */
static void share_profile(MPI_Comm comm)
{
    struct nw_text text = {0};
    unsigned long length;
    char *data = NULL;

    if (!state.job.rank)
        read_profile(&text);
    length = text.failed ? 0 : text.length;
    NW_PMPI(Bcast)(&length, 1, MPI_UNSIGNED_LONG, 0, comm);
    if (length && length < 1ul << 31)
        data = state.job.rank ? malloc(length + 1) : text.data;
    if (nw_all_ranks(comm, data)) {
        NW_PMPI(Bcast)(data, (int)length, MPI_BYTE, 0, comm);
        data[length] = '\0';
        if (nw_native_read(&(struct nw_pattern_text){.file = "NODEWISE_PROFILE",
                                                     .data = data,
                                                     .length = length},
                           &state.profile))
            nw_warn_once("%s", nw_error_text());
        if (!nw_all_ranks(comm, state.profile)) {
            nw_pattern_free(state.profile);
            state.profile = NULL;
        }
    }
    if (state.job.rank)
        free(data);
    nw_text_fini(&text);
}

static int copy_note(MPI_Comm comm, int keyval, void *extra, void *in,
                     void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(char **)out = strdup(in);
    *flag = *(char **)out != NULL;
    return MPI_SUCCESS;
}

static int drop_note(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

const char *nw_reorder_noted(MPI_Comm comm)
{
    char *value = NULL;
    int found = 0;

    if (!state.has_keys ||
        NW_PMPI(Comm_get_attr)(comm, state.note_key, &value, &found) || !found)
        return NULL;
    return value;
}

#define WEIGHTS_KEY "nodewise_cart_weights"

static void reorder_start_warn_of_misspelt(MPI_Info info)
{
    static int warned;
    char key[MPI_MAX_INFO_KEY + 1];
    int count = 0;

    if (state.job.rank || __atomic_load_n(&warned, __ATOMIC_RELAXED) ||
        NW_PMPI(Info_get_nkeys)(info, &count))
        return;
    for (int i = 0; i < count; i++)
        if (!NW_PMPI(Info_get_nthkey)(info, i, key) &&
            !strncmp(key, "nodewise_", 9) && strcmp(key, WEIGHTS_KEY) &&
            !__atomic_exchange_n(&warned, 1, __ATOMIC_RELAXED))
            nw_warn("unknown info key %s; use " WEIGHTS_KEY, key);
}

/* Stores the weights of `info` with the communicator. Returns false if `info`
 * has none. */
static bool reorder_start_note(MPI_Comm comm, MPI_Info info)
{
    char words[256], *note;
    int found = 0;

    if (NW_PMPI(Info_get)(info, WEIGHTS_KEY, sizeof words - 1, words, &found) ||
        !found)
        return false;
    note = strdup(words);
    if (!note || NW_PMPI(Comm_set_attr)(comm, state.note_key, note))
        free(note);
    return true;
}

void nw_reorder_note_info(MPI_Comm comm, MPI_Info info)
{
    if (!state.has_keys || comm == MPI_COMM_NULL || info == MPI_INFO_NULL)
        return;
    reorder_start_warn_of_misspelt(info);
    reorder_start_note(comm, info);
}

void nw_reorder_note_copy(MPI_Comm comm, MPI_Info info)
{
    if (!state.has_keys || comm == MPI_COMM_NULL)
        return;
    if (info != MPI_INFO_NULL) {
        reorder_start_warn_of_misspelt(info);
        if (reorder_start_note(comm, info))
            return;
    }
    if (nw_reorder_noted(comm))
        NW_PMPI(Comm_delete_attr)(comm, state.note_key);
}

/* The value of the attribute that is stored with a communicator. `group` is
 * used to check whether the value was made for this communicator or one of its
 * duplicates. The check is necessary because Open MPI 4 also copies attributes
 * in MPI_Comm_create_group, and these copies are wrong. */
struct start_known {
    struct nw_members *members;
    MPI_Group group;
};

/* Creates the attribute's value for a communicator. Takes over one use of
 * `members`. If it fails, drops this use and returns NULL. */
static struct start_known *known_new(MPI_Comm comm, struct nw_members *members)
{
    struct start_known *known = malloc(sizeof *known);

    if (known && !NW_PMPI(Comm_group)(comm, &known->group)) {
        known->members = members;
        return known;
    }
    free(known);
    nw_members_drop(members);
    return NULL;
}

static void known_free(struct start_known *known)
{
    NW_PMPI(Group_free)(&known->group);
    nw_members_drop(known->members);
    free(known);
}

/* Returns true if the communicator has the group of `known`. Compares the
 * handles first, because duplicates in Open MPI share their group and its
 * MPI_Group_compare is slow. */
static bool known_fits(const struct start_known *known, MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    MPI_Group group;

    if (NW_PMPI(Comm_group)(comm, &group))
        return false;
    if (group == known->group)
        result = MPI_IDENT;
    else
        NW_PMPI(Group_compare)(group, known->group, &result);
    NW_PMPI(Group_free)(&group);
    return result == MPI_IDENT;
}

static int share_members(MPI_Comm comm, int keyval, void *extra, void *in,
                         void *out, int *flag)
{
    struct start_known *known = in, *copy = NULL;

    (void)keyval, (void)extra;
    if (known_fits(known, comm))
        copy = known_new(comm, nw_members_use(known->members));
    *(void **)out = copy;
    *flag = copy != NULL;
    return MPI_SUCCESS;
}

static int drop_members(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    known_free(value);
    return MPI_SUCCESS;
}

/* Returns an array with the rank in MPI_COMM_WORLD of each member, which the
 * caller frees. Returns NULL if a member is not in MPI_COMM_WORLD. */
static int *world_ranks(MPI_Comm comm, int size)
{
    int *ranks = malloc((size_t)size * sizeof *ranks);
    int *world = malloc((size_t)size * sizeof *world);
    MPI_Group group;
    bool good = ranks && world && !NW_PMPI(Comm_group)(comm, &group);

    for (int i = 0; good && i < size; i++)
        ranks[i] = i;
    if (good) {
        good = !NW_PMPI(Group_translate_ranks)(group, size, ranks, state.world,
                                               world);
        NW_PMPI(Group_free)(&group);
    }
    for (int i = 0; good && i < size; i++)
        good = world[i] != MPI_UNDEFINED;
    free(ranks);
    if (good)
        return world;
    free(world);
    return NULL;
}

static struct nw_members *find_members(MPI_Comm comm)
{
    struct nw_members *members;
    struct start_known *known;
    int size, *world;

    NW_PMPI(Comm_size)(comm, &size);
    world = world_ranks(comm, size);
    if (!world || nw_members_new(&state.job, world, size, &members))
        return NULL;
    known = known_new(comm, members);
    if (known && !NW_PMPI(Comm_set_attr)(comm, state.members_key, known))
        return members;
    if (known)
        known_free(known);
    return NULL;
}

/* Returns true if all members of the communicator are in MPI_COMM_WORLD. Unlike
 * world_ranks, it allocates no memory. */
static bool all_in_world(MPI_Comm comm)
{
    int size = 0, world = MPI_UNDEFINED;
    MPI_Group group;

    if (NW_PMPI(Comm_group)(comm, &group))
        return false;
    NW_PMPI(Group_size)(group, &size);
    for (int i = 0; i < size; i++)
        if (NW_PMPI(Group_translate_ranks)(group, 1, &i, state.world, &world) ||
            world == MPI_UNDEFINED)
            break;
    NW_PMPI(Group_free)(&group);
    return world != MPI_UNDEFINED;
}

bool nw_reorder_members(MPI_Comm comm, struct nw_members **out)
{
    struct start_known *known = NULL;
    int found = 0;

    *out = NULL;
    if (NW_PMPI(Comm_get_attr)(comm, state.members_key, &known, &found))
        return true;
    if (found && known_fits(known, comm)) {
        *out = known->members;
        return true;
    }
    if (found)
        NW_PMPI(Comm_delete_attr)(comm, state.members_key);
    *out = find_members(comm);
    return *out || all_in_world(comm);
}

int nw_reorder_own_node(void)
{
    return state.job.location[state.job.rank].node;
}

static bool reorder_start_open_all(MPI_Comm comm)
{
    if (!nw_discover(&state.job, comm))
        return false;
    share_profile(comm);
    NW_PMPI(Comm_group)(MPI_COMM_WORLD, &state.world);
    state.has_keys = !NW_PMPI(Comm_create_keyval)(copy_note, drop_note,
                                                  &state.note_key, NULL) &&
                     !NW_PMPI(Comm_create_keyval)(share_members, drop_members,
                                                  &state.members_key, NULL);
    return nw_all_ranks(comm, state.has_keys);
}

/* Assigns GPUs by the messages between GPUs in the profile, if it has any.
 * Collective. */
static void reorder_start_assign_gpus(MPI_Comm comm)
{
    const nw_pattern *profile = state.profile;
    size_t first = profile->row[state.job.rank];
    size_t end = profile->row[state.job.rank + 1];
    struct nw_gpu_edge *edge = NULL;
    int count = 0;

    if (!memchr(profile->kind, NW_KIND_GG, profile->edge_count))
        return;
    edge = calloc(end - first + 1, sizeof *edge);
    for (size_t e = first; edge && e < end; e++)
        if (profile->kind[e] == NW_KIND_GG)
            edge[count++] = (struct nw_gpu_edge){profile->dst[e],
                                                 (int64_t)profile->bytes[e]};
    nw_gpus_assign(comm, edge, count);
    free(edge);
}

/* Deletes our attribute of MPI_COMM_WORLD, because programs never free that
 * communicator. */
static void forget_world(void)
{
    void *known;
    int found = 0;

    if (!NW_PMPI(Comm_get_attr)(MPI_COMM_WORLD, state.members_key, &known,
                                &found) &&
        found)
        NW_PMPI(Comm_delete_attr)(MPI_COMM_WORLD, state.members_key);
}

/* Broadcasts the settings of rank 0. A launcher may have passed the environment
 * variables only to some hosts; with different settings, some ranks would wait
 * forever for the others. Collective. */
static void share_settings(int rank)
{
    if (!rank)
        nw_reorder_settings_read(&state.settings);
    NW_PMPI(Bcast)
    (&state.settings, sizeof state.settings, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void open_machine(int rank)
{
    MPI_Comm comm;

    if (NW_PMPI(Comm_dup)(MPI_COMM_WORLD, &comm))
        return;
    NW_PMPI(Comm_set_errhandler)(comm, MPI_ERRORS_RETURN);
    state.is_open = reorder_start_open_all(comm);
    if (!state.is_open && !rank)
        nw_warn_once("the machine could not be read: nothing is reordered");
    if (state.is_open && state.settings.gpus && state.profile)
        reorder_start_assign_gpus(comm);
    NW_PMPI(Comm_free)(&comm);
}

void nw_reorder_start(void)
{
    int rank;

    if (nw_reordering || !nw_rank0_environment_joined())
        return;
    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    share_settings(rank);
    if (state.settings.mode == NW_REORDER_OFF && !state.settings.gpus)
        return;
    open_machine(rank);
    if (state.is_open)
        nw_unused_start(rank);
    nw_reordering = state.is_open;
}

bool nw_reorder_ask(const double *weights, int count,
                    struct nw_reorder_settings *before)
{
    struct nw_reorder_settings *settings = &state.settings;
    int rank;

    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    if (!state.is_open && !state.was_asked) {
        share_settings(rank);
        open_machine(rank);
        state.was_asked = true;
    }
    *before = *settings;
    if (settings->mode == NW_REORDER_OFF) {
        settings->mode = NW_REORDER_ON;
        settings->quiet = true;
    }
    if (weights && count > 0 && count <= NW_CART_WEIGHTS) {
        memcpy(settings->weight, weights, (size_t)count * sizeof *weights);
        settings->weight_count = count;
        settings->weights_first = true;
    }
    return state.is_open;
}

void nw_reorder_settle(const struct nw_reorder_settings *before)
{
    state.settings = *before;
}

void nw_reorder_finish(void)
{
    if (!state.is_open)
        return;
    nw_asked_finish();
    nw_unused_finish(state.job.rank_count);
    nw_reordering = state.is_open = state.was_asked = false;
    forget_world();
    NW_PMPI(Comm_free_keyval)(&state.note_key);
    NW_PMPI(Comm_free_keyval)(&state.members_key);
    NW_PMPI(Group_free)(&state.world);
    nw_pattern_free(state.profile);
    state.profile = NULL;
    nw_discovered_free(&state.job);
}
