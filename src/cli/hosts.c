/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the nodes of the machine that have given host names, checks mappings
 * against them, and adds file and line to errors of other modules. */
#include "cli/hosts.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hostfile.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/batch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns a pointer to the number of slots of a node, or NULL if the node is
 * not in the list. */
static int32_t *hosts_find(const struct nw_hosts *hosts, int32_t node)
{
    int32_t entry = hosts->entry[node];

    return entry ? &hosts->slots[entry - 1] : NULL;
}

/* Returns the error for a host that the machine does not have. */
static nw_status hosts_unknown(const nw_topology *topology, const char *name)
{
    int32_t count = nw_topology_node_count(topology);

    if (count == 1)
        return nw_fail_about(NW_HOSTS, NW_EFORMAT,
                             "%s has no node '%s'; its only one is %s",
                             nw_topology_name(topology), name,
                             nw_topology_node_name(topology, 0));
    return nw_fail_about(NW_HOSTS, NW_EFORMAT,
                         "%s has no node '%s'; its %d node%s %s to %s",
                         nw_topology_name(topology), name, count,
                         nw_by_count((uint64_t)count, " is", "s are"),
                         nw_topology_node_name(topology, 0),
                         nw_topology_node_name(topology, count - 1));
}

/* The `user` of the functions that add a host. */
struct hosts_listing {
    struct nw_hosts *hosts;
    const nw_topology *topology;
};

static nw_status hosts_add_host(void *user, const char *name, int32_t slots)
{
    const struct hosts_listing *to = user;
    struct nw_hosts *hosts = to->hosts;
    int32_t node = nw_topology_node_find(to->topology, name), *old;

    if (node < 0)
        return hosts_unknown(to->topology, name);
    old = hosts_find(hosts, node);
    if (old) {
        *old = nw_hostfile_slots_sum(*old == INT32_MAX ? 0 : *old, slots);
        return NW_OK;
    }
    hosts->node[hosts->count] = node;
    hosts->slots[hosts->count++] = slots ? slots : INT32_MAX;
    hosts->entry[node] = (int32_t)hosts->count;
    return NW_OK;
}

static nw_status hosts_add_line(void *user, char *line)
{
    return nw_hostfile_line(line, hosts_add_host, user);
}

static nw_status hosts_add_batch_host(struct hosts_listing *to,
                                      const struct nw_batch *batch, size_t i)
{
    struct nw_hosts *hosts = to->hosts;
    const char *name = batch->host.name[i];
    nw_status status = hosts_add_host(to, name, batch->slots[i]);
    int32_t node = nw_topology_node_find(to->topology, name);

    if (!status)
        hosts->tasks[hosts_find(hosts, node) - hosts->slots] += batch->tasks[i];
    return status;
}

static nw_status add_batch(struct hosts_listing *to,
                           const struct nw_batch *batch)
{
    struct nw_hosts *hosts = to->hosts;
    size_t count = batch->host.count;
    bool known = false;
    nw_status status = nw_alloc(count + 1, sizeof *hosts->tasks, &hosts->tasks);

    hosts->variable = batch->variable;
    for (size_t i = 0; i < count; i++)
        known |= nw_topology_node_find(to->topology, batch->host.name[i]) >= 0;
    if (!status && count && !known)
        status = nw_hostlist_compress((const char *const *)batch->host.name,
                                      count, &hosts->elsewhere);
    for (size_t i = 0; !status && known && i < count; i++)
        status = hosts_add_batch_host(to, batch, i);
    return status ? nw_fail(status, "%s: %s; --hosts names the nodes to use",
                            batch->variable, nw_error_text())
                  : NW_OK;
}

/* Adds the hosts of the batch job of this process, if the machine has at least
 * one of their names. If it has none, the machine that is evaluated is not the
 * one that the job runs on. */
static nw_status add_job(struct hosts_listing *to)
{
    struct nw_batch batch;
    nw_status status = nw_batch_find(&batch);

    if (status)
        return status;
    status = add_batch(to, &batch);
    nw_batch_fini(&batch);
    return status;
}

/* The `user` is the number of hosts. */
static nw_status hosts_count_host(void *user, const char *name, int32_t slots)
{
    (void)name;
    (void)slots;
    ++*(size_t *)user;
    return NW_OK;
}

nw_status nw_cli_hosts_check(const char *list)
{
    size_t count = 0;
    nw_status status =
        list ? nw_hostfile_list(list, hosts_count_host, &count) : NW_OK;

    if (status == NW_EFORMAT)
        return nw_fail(NW_EINVAL, "--hosts: %s", nw_error_text());
    return status || !list || count
               ? status
               : nw_fail(NW_EINVAL, "--hosts: no host in '%s'", list);
}

nw_status nw_cli_hosts(const nw_topology *topology, const char *list,
                       const char *file, struct nw_hosts *out)
{
    struct nw_hosts hosts = {0};
    struct hosts_listing to = {&hosts, topology};
    size_t most = (size_t)nw_topology_node_count(topology);
    nw_status status = nw_alloc(most, sizeof *hosts.node, &hosts.node);

    if (!status)
        status = nw_alloc(most, sizeof *hosts.slots, &hosts.slots);
    if (!status)
        status = nw_alloc(most, sizeof *hosts.entry, &hosts.entry);
    if (!status)
        status = nw_cli_hosts_check(list);
    if (!status && list)
        status = nw_hostfile_list(list, hosts_add_host, &to);
    else if (!status && file)
        status = nw_hostfile_read(file, hosts_add_line, &to, &hosts.count);
    else if (!status)
        status = add_job(&to);
    if (status)
        nw_cli_hosts_fini(&hosts);
    else
        *out = hosts;
    return status;
}

void nw_cli_hosts_fini(struct nw_hosts *hosts)
{
    free(hosts->node);
    free(hosts->slots);
    free(hosts->entry);
    free(hosts->tasks);
    free(hosts->elsewhere);
    *hosts = (struct nw_hosts){0};
}

static bool hosts_is_lost(const struct nw_map_options *map, int32_t node)
{
    for (size_t i = 0; i < map->lost_count; i++)
        if (map->lost[i] == node)
            return true;
    return false;
}

/* Returns true if the tasks of the batch job are enough for the ranks on the
 * hosts that remain without map->spare spare nodes and the lost nodes. */
static bool hosts_tasks_hold(const struct nw_hosts *hosts, int32_t ranks,
                             const struct nw_map_options *map)
{
    size_t spare = (size_t)map->spare, count;
    int64_t lost = 0;

    if (!hosts->tasks || spare >= hosts->count)
        return false;
    count = hosts->count - spare;
    for (size_t i = 0; i < count; i++)
        lost += hosts_is_lost(map, hosts->node[i]) ? hosts->tasks[i] : 0;
    return ranks <= INT32_MAX - lost &&
           nw_batch_tasks_hold(hosts->tasks, count, ranks + (int32_t)lost);
}

void nw_cli_hosts_use(struct nw_hosts *hosts, int32_t ranks,
                      struct nw_map_options *map)
{
    if (!hosts->count)
        return;
    if (hosts_tasks_hold(hosts, ranks, map))
        memcpy(hosts->slots, hosts->tasks, hosts->count * sizeof *hosts->slots);
    map->hosts = hosts->node;
    map->slots = hosts->slots;
    map->host_count = hosts->count;
}

/* Prints a warning with the job's hosts and the machine's nodes, each list cut
 * after 200 bytes. */
static void hosts_warn_elsewhere(const char *command,
                                 const nw_topology *topology,
                                 const struct nw_hosts *hosts)
{
    size_t count = (size_t)nw_topology_node_count(topology);
    const char **names = NULL;
    char *list = NULL;
    nw_status status = nw_alloc(count, sizeof *names, &names);

    for (size_t i = 0; !status && i < count; i++)
        names[i] = nw_topology_node_name(topology, (int32_t)i);
    if (!status)
        status = nw_hostlist_compress(names, count, &list);
    if (!status)
        fprintf(stderr,
                "nodewise %s: warning: %s has no host of this job (%s: "
                "%.200s); its own nodes are %.200s; name the nodes to use "
                "with --hosts or --hostfile, or write the job's names under "
                "nodes:\n",
                command, nw_topology_name(topology), hosts->variable,
                hosts->elsewhere, list);
    free(names);
    free(list);
}

void nw_cli_hosts_say(const char *command, const struct nw_common *common,
                      const nw_topology *topology, const struct nw_hosts *hosts)
{
    int32_t least = INT32_MAX, most = 0;
    bool limits = false;
    char text[160], range[32] = "";

    if (hosts->elsewhere)
        hosts_warn_elsewhere(command, topology, hosts);
    if (!hosts->variable || !hosts->count)
        return;
    for (size_t i = 0; i < hosts->count; i++) {
        int32_t slots = hosts->slots[i];

        least = slots < least ? slots : least;
        most = slots > most ? slots : most;
        limits |=
            slots < nw_topology_node_elements(topology, hosts->node[i]).count;
    }
    if (!limits)
        return;
    if (most != least && most != INT32_MAX)
        snprintf(range, sizeof range, " to %d", most);
    snprintf(text, sizeof text,
             "this job (%s) allows %d%s rank%s on each of its %zu host%s; "
             "--hosts allows others",
             hosts->variable, least, range, least == 1 && !*range ? "" : "s",
             hosts->count, nw_plural((uint64_t)hosts->count));
    nw_cli_notes(command, common, text);
}

/* Stores the file name of a source, without prefix and options. Returns false
 * if the source is not a file. */
static bool source_file(const char *source, char *file, size_t size)
{
    const char *colon = source ? strchr(source, ':') : NULL;
    const char *name = colon ? colon + 1 : source;

    if (!source)
        return false;
    snprintf(file, size, "%.*s", (int)strcspn(name, ","), name);
    return !access(file, R_OK);
}

nw_status nw_cli_blame_hosts(const char *source, const char *hostfile,
                             nw_status failed)
{
    char file[PATH_MAX];

    if (nw_error_about().subject != NW_ABOUT_HOSTS)
        return failed;
    if (hostfile)
        snprintf(file, sizeof file, "%s", hostfile);
    else if (!source_file(source, file, sizeof file))
        return failed;
    return nw_fail(NW_EFORMAT, "%s:1: %s", file, nw_error_text());
}

/* --- fixed ranks --- */

/* Returns true if a line of a mapping ("3 n1 0 -") or of a rankfile
 * ("rank 3=n1 slot=0") is that of `rank`. */
static bool is_line_of(const char *line, int rank)
{
    int found;
    char end = 0;

    return (sscanf(line, "rank %d%c", &found, &end) >= 1 ||
            sscanf(line, "%d%c", &found, &end) >= 1) &&
           found == rank && strchr(" \t=", end);
}

/* Reads lines up to the line of `rank`, or to the line "ranks N" if `rank` is
 * -1. Returns false if the file lacks this line, as a list of hosts does. */
static bool find_rank(struct nw_lines *lines, int rank)
{
    const char *line;

    while ((line = nw_lines_next(lines)))
        if (rank < 0 ? !strncmp(line, "ranks", 5) : is_line_of(line, rank))
            return true;
    return false;
}

/* Returns true if the file can be read a second time; a pipe or standard input
 * cannot. */
static bool is_there_again(const char *path)
{
    struct stat info;

    return strcmp(path, "-") && !stat(path, &info) && S_ISREG(info.st_mode);
}

/* Returns the error "FILE:LINE: WHAT" with the line of `rank` in the mapping
 * `path` (-1: the line "ranks N"). Returns "FILE: WHAT" if the file cannot be
 * read again or has no such line. */
static nw_status blame_rank(const char *path, int rank, const char *what)
{
    struct nw_lines lines;
    char sentence[NW_ERROR_MOST], *text = NULL;
    size_t length;
    nw_status status;

    snprintf(sentence, sizeof sentence, "%s", what);
    if (!is_there_again(path) || nw_file_read_text(path, &text, &length))
        return nw_fail(NW_EFORMAT, "%s: %s",
                       strcmp(path, "-") ? path : "standard input", sentence);
    nw_lines_init(&lines, path, text);
    status = find_rank(&lines, rank)
                 ? nw_lines_fail(&lines, "%s", sentence)
                 : nw_fail(NW_EFORMAT, "%s: %s", path, sentence);
    free(text);
    return status;
}

nw_status nw_cli_blame_fix(const char *path, nw_status failed)
{
    struct nw_about about = nw_error_about();

    if (about.subject != NW_ABOUT_FIXED || !strcmp(path, "-"))
        return failed;
    return blame_rank(path, about.rank, nw_error_text());
}

nw_status nw_cli_blame_mapping(const char *path, nw_status failed)
{
    struct nw_about about = nw_error_about();

    if (!failed || about.subject != NW_ABOUT_MAPPING || !strcmp(path, "-"))
        return failed;
    if (about.rank < 0)
        return nw_fail(NW_EFORMAT, "%s: %s", path, nw_error_text());
    return blame_rank(path, about.rank, nw_error_text());
}

nw_status nw_cli_blame_pattern(const char *input, nw_status failed)
{
    const char *colon = strchr(input, ':');

    if (!failed || nw_error_about().subject != NW_ABOUT_PATTERN)
        return failed;
    if (colon && access(input, F_OK)) /* the pattern may be list:FILE */
        input = colon + 1;
    return nw_fail(failed, "%s: %s",
                   strcmp(input, "-") ? input : "standard input",
                   nw_error_text());
}

/* --- does a mapping fit on the hosts? --- */

nw_status nw_cli_hosts_fit(const struct nw_hosts *hosts,
                           const nw_mapping *mapping, const char *path)
{
    int32_t *taken;
    char what[512] = "";
    nw_status status = nw_alloc(hosts->count + 1, sizeof *taken, &taken);
    int32_t r = 0;

    if (status)
        return status;
    for (; hosts->count && !what[0] && r < mapping->rank_count; r++) {
        int32_t node = mapping->node[r], *slots;
        const char *name = node < 0 ? NULL : mapping->node_name[node];

        if (!name) /* a rank without a node */
            continue;
        slots = hosts_find(hosts, node);
        if (!slots)
            snprintf(what, sizeof what,
                     "rank %d is on '%s', which is not among the %zu host%s of "
                     "this job",
                     r, name, hosts->count, nw_plural(hosts->count));
        else if (taken[slots - hosts->slots]++ == *slots)
            snprintf(
                what, sizeof what,
                "rank %d is too many for '%s': slots of this job there: %d", r,
                name, *slots);
    }
    free(taken);
    return what[0] ? blame_rank(path, r - 1, what) : NW_OK;
}
