/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured choices, remembered per machine and shape: a text file of the
 * user's, one choice a line under its key. */
#include "halo/exchange/channels.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HEAD "nodewise halo choices 1"

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t mix_pieces(uint64_t hash, const nw_halo_layout *layout)
{
    for (int32_t i = 0; i < layout->piece_count; i++) {
        const struct nw_halo_piece *piece = &layout->piece[i];

        hash = mix(hash, &piece->box, sizeof piece->box);
        hash = mix(hash, &piece->rank, sizeof piece->rank);
    }
    return hash;
}

/* Everything a measurement depends on that a plan knows: the machine by rank
 * 0's, the MPI library, and the shape. */
static uint64_t key_of(const nw_halo *halo)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    struct utsname machine;
    int length;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const struct nw_halo_domain *domain = &halo->layout->domain;

    memset(&machine, 0, sizeof machine);
    uname(&machine);
    NW_PMPI(Get_library_version)(library, &length);
    hash = mix(hash, machine.nodename, strlen(machine.nodename));
    hash = mix(hash, machine.machine, strlen(machine.machine));
    hash = mix(hash, library, strlen(library));
    hash = mix(hash, &cores, sizeof cores);
    hash = mix(hash, domain->extent, sizeof domain->extent);
    hash = mix(hash, domain->radius, sizeof domain->radius);
    hash = mix(hash, domain->border, sizeof domain->border);
    for (int32_t i = 0; i < halo->joined_count; i++)
        hash = mix(hash, &halo->field[i].bytes, 2 * sizeof(size_t));
    hash = mix(hash, halo->node_of, (size_t)halo->size * sizeof(int));
    hash = mix(hash, &halo->methods, sizeof halo->methods);
    hash = mix(hash, &halo->gpu_memory, sizeof halo->gpu_memory);
    return mix_pieces(hash, halo->layout);
}

/* $XDG_CACHE_HOME/nodewise/halo or ~/.cache/nodewise/halo; false where neither
 * is set. */
static bool find_file(const char *file, char path[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;

    if (file)
        length = snprintf(path, PATH_MAX, "%s", file);
    else if (cache && *cache)
        length = snprintf(path, PATH_MAX, "%s/nodewise/halo", cache);
    else if (home && *home)
        length = snprintf(path, PATH_MAX, "%s/.cache/nodewise/halo", home);
    else
        return false;
    return length > 0 && length < PATH_MAX;
}

static void make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0755);
        *at = '/';
    }
}

/* A choice as three words: schedule, methods inside a node, between nodes. */
static bool parse(char *line, uint64_t key, struct nw_halo_scheme *out)
{
    unsigned long long number;
    unsigned inside, between;
    char schedule[16];

    if (sscanf(line, "%16llx %15s %x %x", &number, schedule, &inside,
               &between) != 4 ||
        number != key)
        return false;
    if (strcmp(schedule, "phases") && strcmp(schedule, "once"))
        return false;
    *out =
        (struct nw_halo_scheme){!strcmp(schedule, "phases"), inside, between};
    return true;
}

static bool read_here(const nw_halo *halo, const char *file,
                      struct nw_halo_scheme *out)
{
    char path[PATH_MAX], *data = NULL, *line;
    size_t length;
    bool found = false;
    struct nw_lines lines;
    uint64_t key = key_of(halo);

    if (!find_file(file, path) || access(path, R_OK) ||
        nw_file_read_text(path, &data, &length))
        return false;
    nw_lines_init(&lines, path, data);
    line = nw_lines_next(&lines);
    if (line && !strcmp(line, HEAD))
        while ((line = nw_lines_next(&lines)))
            found = parse(line, key, out) || found;
    free(data);
    return found;
}

nw_status nw_halo_cache_read(nw_halo *halo, const char *file,
                             struct nw_halo_scheme *out, bool *found)
{
    struct {
        struct nw_halo_scheme scheme;
        int found;
    } answer = {.found = 0};
    int code;

    if (!halo->rank)
        answer.found = read_here(halo, file, &answer.scheme);
    code = NW_PMPI(Bcast)(&answer, sizeof answer, MPI_BYTE, 0, halo->comm);
    *out = answer.scheme;
    *found = answer.found;
    return nw_halo_mpi(code, "tell of an earlier choice");
}

void nw_halo_cache_write(const nw_halo *halo, const char *file)
{
    char path[PATH_MAX], *data = NULL;
    size_t length = 0;
    struct nw_text text = {0};

    if (!find_file(file, path))
        return;
    make_folders(path);
    if (!access(path, R_OK) && nw_file_read_text(path, &data, &length))
        data = NULL;
    nw_text_add(&text,
                data && !strncmp(data, HEAD, strlen(HEAD)) ? data : HEAD "\n");
    nw_text_format(&text, "%016llx %s %x %x\n",
                   (unsigned long long)key_of(halo),
                   halo->scheme.phased ? "phases" : "once", halo->scheme.inside,
                   halo->scheme.between);
    if (!text.failed)
        (void)!nw_file_write(path, text.data, text.length);
    nw_text_fini(&text);
    free(data);
}
