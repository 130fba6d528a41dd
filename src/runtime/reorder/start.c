/* SPDX-License-Identifier: BSD-3-Clause */
/* From MPI_Init to MPI_Finalize: where every rank sits and what was asked. */
#include "runtime/reorder/reorder.h"

#include "base/text.h"
#include "pattern/format.h"
#include "runtime/warn.h"

#include <stdlib.h>
#include <string.h>

bool nw_reordering;

static struct {
    struct nw_site site;
    struct nw_reorder_settings settings;
    nw_pattern *profile;
    int keyval; /* of the noted weights: a string of ours */
    bool has_keyval;
} state;

const struct nw_site *nw_reorder_site(void)
{
    return &state.site;
}

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
    else if (pattern->rank_count != state.site.rank_count)
        nw_warn_once("NODEWISE_PROFILE: %s has %d ranks, this job %d", path,
                     pattern->rank_count, state.site.rank_count);
    else
        nw_native_render(pattern, text);
    nw_pattern_free(pattern);
}

/* Rank 0 reads the file, all get its text. */
static void share_profile(MPI_Comm comm)
{
    struct nw_text text = {0};
    unsigned long length;
    char *data;

    if (!state.site.rank)
        read_profile(&text);
    length = text.failed ? 0 : text.length;
    NW_PMPI(Bcast)(&length, 1, MPI_UNSIGNED_LONG, 0, comm);
    if (length && length < 1ul << 31) {
        data = state.site.rank ? malloc(length + 1) : text.data;
        NW_PMPI(Bcast)(data, (int)length, MPI_BYTE, 0, comm);
        data[length] = '\0';
        if (nw_native_read(&(struct nw_pattern_text){.file = "NODEWISE_PROFILE",
                                                     .data = data,
                                                     .length = length},
                           &state.profile))
            nw_warn_once("%s", nw_error_text());
        if (state.site.rank)
            free(data);
    }
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

    if (!state.has_keyval ||
        NW_PMPI(Comm_get_attr)(comm, state.keyval, &value, &found) || !found)
        return NULL;
    return value;
}

void nw_reorder_note_info(MPI_Comm comm, MPI_Info info)
{
    char words[256];
    int found = 0;

    if (!state.has_keyval || comm == MPI_COMM_NULL || info == MPI_INFO_NULL)
        return;
    if (NW_PMPI(Info_get)(info, "nodewise_cart_weights", sizeof words - 1,
                          words, &found) ||
        !found)
        return;
    NW_PMPI(Comm_set_attr)(comm, state.keyval, strdup(words));
}

static bool open_all(MPI_Comm comm)
{
    if (!nw_site_open(&state.site, comm))
        return false;
    share_profile(comm);
    state.has_keyval =
        !NW_PMPI(Comm_create_keyval)(copy_note, drop_note, &state.keyval, NULL);
    return true;
}

void nw_reorder_start(void)
{
    MPI_Comm comm;
    int rank;

    if (nw_reordering)
        return;
    /* rank 0 decides: a launcher may have left the variables of the other
     * hosts behind, and then some ranks would wait for the others forever */
    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    if (!rank)
        nw_reorder_settings_read(&state.settings);
    NW_PMPI(Bcast)
    (&state.settings, sizeof state.settings, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (state.settings.mode == NW_REORDER_OFF ||
        NW_PMPI(Comm_dup)(MPI_COMM_WORLD, &comm))
        return;
    NW_PMPI(Comm_set_errhandler)(comm, MPI_ERRORS_RETURN);
    nw_reordering = open_all(comm);
    if (!nw_reordering)
        nw_warn_once("the machine could not be read: nothing is reordered");
    NW_PMPI(Comm_free)(&comm);
}

void nw_reorder_finish(void)
{
    if (!nw_reordering)
        return;
    nw_reordering = false;
    if (state.has_keyval)
        NW_PMPI(Comm_free_keyval)(&state.keyval);
    nw_pattern_free(state.profile);
    state.profile = NULL;
    nw_site_close(&state.site);
}
