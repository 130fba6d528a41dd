/* SPDX-License-Identifier: BSD-3-Clause */
/* The faster form of each collective call, for later programs with the same
 * setup. Rank 0 keeps a file in the user's cache folder. Its name depends on
 * the host, the MPI library, each rank's GPU, providers, mapping and variables,
 * and which ranks share a node. */
#include "runtime/messages/algorithm_cache.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/selector.h"
#include "base/status.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "runtime/messages/passthrough.h"
#include "runtime/messages/library.h"

#include <nodewise/channel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "nodewise collectives 1";
static const char *const forms[NW_CALLS] = {"bcast",    "gather", "allgather",
                                            "alltoall", "reduce", "allreduce"};

/* -- the setup of one rank -- */

struct share {
    uint64_t host, has;
};

/* The sum does not depend on the order of the variables. */
static uint64_t variables(void)
{
    uint64_t sum = 0;

    for (char **one = environ; *one; one++)
        if (!strncmp(*one, "NODEWISE_CHANNEL_", 17))
            sum += nw_hash_text(NW_HASH_START, *one);
    return sum;
}

static struct share algorithm_cache_share_of(struct nw_algorithm_comm *record,
                                             nw_channel *channel)
{
    struct nw_gpu_properties facts = {.name = ""};
    uint64_t words = variables();
    char host[256] = "";
    struct share share;

    (void)gethostname(host, sizeof host - 1);
    share.host = nw_hash_text(NW_HASH_START, host);
    if (nw_is_messaging() && !nw_messages_open_gpu())
        (void)!nw_gpu_cuda.facts(0, &facts);
    share.has = nw_hash_text(NW_HASH_START, facts.name);
    share.has = nw_hash_text(share.has, nw_channel_mapping(channel));
    for (int i = 0; i < record->size; i++)
        if (i != record->rank)
            share.has =
                nw_hash_text(share.has, nw_channel_provider(channel, i));
    share.has = nw_hash(share.has, &words, sizeof words);
    return share;
}

/* -- the setup of all ranks -- */

/* A node is identified by its first rank. */
static int algorithm_cache_node_of(const struct share *share, int rank)
{
    int first = 0;

    while (share[first].host != share[rank].host)
        first++;
    return first;
}

static nw_status algorithm_cache_find_path(const struct share *share, int size,
                                           char **out)
{
    struct nw_text text = {0};
    uint64_t all = nw_mpi_hash(nw_passthrough ? 1 : NW_HASH_START);
    char host[256] = "";
    int nodes = 0;

    if (!nw_file_cache(&text))
        return nw_fail(NW_EIO, "neither XDG_CACHE_HOME nor HOME is set");
    for (int i = 0; i < size; i++) {
        int node = algorithm_cache_node_of(share, i);

        nodes += node == i;
        all = nw_hash(all, &node, sizeof node);
        all = nw_hash(all, &share[i].has, sizeof share[i].has);
    }
    (void)gethostname(host, sizeof host - 1);
    nw_text_format(&text, "/collectives/%s.%dx%d.%016llx", host, nodes, size,
                   (unsigned long long)all);
    return nw_text_take(&text, out);
}

/* -- the file -- */

static bool find_form(const char *word, int *out)
{
    for (int i = 0; word && i < NW_CALLS; i++)
        if (!strcmp(word, forms[i])) {
            *out = i;
            return true;
        }
    return false;
}

/* form bytes host|channel */
static nw_status algorithm_cache_parse(struct nw_lines *lines, char *line,
                                       struct nw_algorithm_cache *known)
{
    const char *words[3];
    uint64_t bytes;
    int form, class;

    for (int i = 0; i < 3; i++)
        words[i] = nw_word_next(&line);
    if (!find_form(words[0], &form))
        return nw_lines_fail(lines, "expected a collective call");
    if (!words[1] || !nw_parse_u64(words[1], &bytes) || !bytes)
        return nw_lines_fail(lines, "expected bytes");
    if (!words[2] || nw_word_next(&line) ||
        (strcmp(words[2], "host") && strcmp(words[2], "channel")))
        return nw_lines_fail(lines, "expected host or channel");
    class = nw_selector_class(bytes, NW_CLASSES);
    known->form[form][class] = *words[2] == 'c' ? NW_BY_CHANNEL : NW_BY_HOST;
    return NW_OK;
}

static void algorithm_cache_forget(struct nw_algorithm_cache *known)
{
    memset(known->form, NW_BY_NONE, sizeof known->form);
}

/* Loads the whole file, or nothing if it is invalid. */
static void algorithm_cache_load(const char *path,
                                 struct nw_algorithm_cache *known)
{
    struct nw_lines lines;
    char *text = NULL, *line;
    size_t length;
    nw_status status = nw_file_read_text(path, &text, &length);

    algorithm_cache_forget(known);
    if (status)
        return;
    nw_lines_init(&lines, path, text);
    line = nw_lines_next(&lines);
    if (!line || strcmp(line, head))
        status = nw_lines_fail(&lines, "expected '%s'", head);
    while (!status && (line = nw_lines_next(&lines)) != NULL)
        status = algorithm_cache_parse(&lines, line, known);
    if (status)
        algorithm_cache_forget(known);
    free(text);
}

static void algorithm_cache_add_rows(const struct nw_algorithm_cache *known,
                                     struct nw_text *text)
{
    nw_text_format(text, "%s\n# call, bytes up to, form\n", head);
    for (int i = 0; i < NW_CALLS; i++)
        for (int class = 0; class < NW_CLASSES; class ++)
            if (known->form[i][class] != NW_BY_NONE)
                nw_text_format(text, "%s %llu %s\n", forms[i], 1ull << class,
                               known->form[i][class] == NW_BY_CHANNEL
                                   ? "channel"
                                   : "host");
}

/* -- for a communicator -- */

void nw_algorithm_cache_open(struct nw_algorithm_cache *known,
                             struct nw_algorithm_comm *record,
                             nw_channel *channel)
{
    struct share mine = algorithm_cache_share_of(record, channel),
                 all[NW_MOST_RANKS];
    MPI_Comm comm = record->comm;

    known->open = true;
    algorithm_cache_forget(known);
    if (NW_PMPI(Gather)(&mine, sizeof mine, MPI_BYTE, all, sizeof mine,
                        MPI_BYTE, 0, comm))
        return;
    if (!record->rank &&
        !algorithm_cache_find_path(all, record->size, &known->path))
        algorithm_cache_load(known->path, known);
    if (NW_PMPI(Bcast)(known->form, sizeof known->form, MPI_BYTE, 0, comm))
        algorithm_cache_forget(known);
}

void nw_algorithm_cache_save(const struct nw_algorithm_cache *known)
{
    struct nw_text text = {0};
    struct nw_algorithm_cache both;

    if (!known->path)
        return;
    algorithm_cache_load(known->path,
                         &both); // another communicator may have measured more
    for (int i = 0; i < NW_CALLS; i++)
        for (int class = 0; class < NW_CLASSES; class ++)
            if (known->form[i][class] != NW_BY_NONE)
                both.form[i][class] = known->form[i][class];
    algorithm_cache_add_rows(&both, &text);
    /* if this fails, the next program measures again */
    if (!nw_file_folders(known->path, 0700))
        (void)!nw_file_write_text(known->path, &text);
    nw_text_fini(&text);
}
