/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the results of measurements in a text file in the user's cache folder.
 * Each line belongs to one machine and one shape of halo, and begins with a key
 * that identifies both. */
#include "halo/exchange/choose.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KIND "nodewise halo choices "
#define HEAD KIND "4"
/* suffix of the schedule: the model chose the methods */
#define MODELLED "+model"

/* Returns the key of a halo: a hash of everything that affects a measurement.
 * This is the machine of rank 0, the MPI library, and the shape of the halo. */
static uint64_t choice_cache_key_of(const nw_halo *halo)
{
    uint64_t hash = NW_HASH_START;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    struct utsname machine;
    int length;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const struct nw_halo_domain *domain = &halo->layout->domain;
    const struct nw_halo_piece *piece = halo->layout->piece;

    memset(&machine, 0, sizeof machine);
    uname(&machine);
    NW_PMPI(Get_library_version)(library, &length);
    hash = nw_hash_text(hash, machine.nodename);
    hash = nw_hash_text(hash, machine.machine);
    hash = nw_hash_text(hash, library);
    hash = nw_hash(hash, &cores, sizeof cores);
    hash = nw_hash(hash, domain->extent, sizeof domain->extent);
    hash = nw_hash(hash, domain->radius, sizeof domain->radius);
    hash = nw_hash(hash, domain->border, sizeof domain->border);
    for (int32_t i = 0; i < halo->joined_count; i++)
        hash = nw_hash(hash, &halo->field[i].bytes, 2 * sizeof(size_t));
    hash = nw_hash(hash, halo->node_of, (size_t)halo->size * sizeof(int));
    hash = nw_hash(hash, halo->package_of, (size_t)halo->size * sizeof(int));
    hash = nw_hash(hash, &halo->methods, sizeof halo->methods);
    hash = nw_hash(hash, &halo->gpu_memory, sizeof halo->gpu_memory);
    if (halo->paths->topology) /* the model's choice depends on the topology */
        hash = nw_hash_text(hash, nw_topology_name(halo->paths->topology));
    for (int32_t i = 0; i < halo->layout->piece_count; i++) {
        hash = nw_hash(hash, &piece[i].box, sizeof piece->box);
        hash = nw_hash(hash, &piece[i].rank, sizeof piece->rank);
    }
    return hash;
}

/* Parses a line: the key, the schedule, the methods of each class, and a
 * description, which is ignored. Returns false if the line is invalid or has
 * another key. */
static bool choice_cache_parse(const char *line, uint64_t key,
                               struct nw_halo_scheme *out)
{
    struct nw_halo_scheme scheme = {.phased = false};
    unsigned long long number;
    char schedule[16];
    int used = 0;

    if (sscanf(line, "%16llx %15s%n", &number, schedule, &used) != 2 ||
        number != key)
        return false;
    scheme.modelled = strstr(schedule, MODELLED) != NULL;
    schedule[strcspn(schedule, "+")] = '\0';
    scheme.phased = !strcmp(schedule, "phases");
    if (!scheme.phased && strcmp(schedule, "once"))
        return false;
    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++) {
        int more = 0;

        line += used;
        if (sscanf(line, " %x%n", &scheme.methods[i], &more) != 1)
            return false;
        used = more;
    }
    *out = scheme;
    return true;
}

static bool read_here(const nw_halo *halo, const char *file,
                      struct nw_halo_scheme *out)
{
    char *path = NULL, *data = NULL, *line;
    size_t length;
    bool found = false;
    struct nw_lines lines;
    uint64_t key = choice_cache_key_of(halo);

    if (!nw_file_cache_path(file, "halo", &path) && nw_file_has_bytes(path) &&
        !nw_file_read_text(path, &data, &length)) {
        nw_lines_init(&lines, path, data);
        line = nw_lines_next(&lines);
        if (line && !strcmp(line, HEAD))
            while ((line = nw_lines_next(&lines)))
                found = choice_cache_parse(line, key, out) || found;
    }
    NW_FREE_ALL(path, data);
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
    return nw_halo_mpi(code, "share an earlier choice");
}

/* Appends the line of this halo. It ends with a description for people:
 * machine, ranks, shape and methods. nodewise halo tune shows only the
 * description. */
static void choice_cache_add_line(const nw_halo *halo, uint64_t key,
                                  struct nw_text *text)
{
    const struct nw_halo_domain *domain = &halo->layout->domain;
    char host[HOST_NAME_MAX + 1] = "";
    int32_t most = 0;

    (void)gethostname(host, sizeof host - 1);
    for (int d = 0; d < 27; d++)
        most = domain->radius[d] > most ? domain->radius[d] : most;
    nw_text_format(text, "%016llx %s%s", (unsigned long long)key,
                   halo->scheme.phased ? "phases" : "once",
                   halo->scheme.modelled ? MODELLED : "");
    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++)
        nw_text_format(text, " %x", halo->scheme.methods[i]);
    nw_text_format(
        text,
        "  %s: %d ranks, %d nodes, %lldx%lldx%lld cells of %llu B, radius %d, "
        "%s memory: %s\n",
        host, halo->size, halo->layout->node_count,
        (long long)domain->extent[0], (long long)domain->extent[1],
        (long long)domain->extent[2], (unsigned long long)domain->cell_bytes,
        most, halo->gpu_memory ? "GPU" : "host", halo->words);
}

/* Copies the lines of the old file to the new one, except a line with the same
 * key. Drops all lines if the file has another version. Returns false if the
 * file is not a file of choices, since it must not be overwritten. */
static bool choice_cache_add_others(char *data, const char *path, uint64_t key,
                                    struct nw_text *text)
{
    struct nw_lines lines;
    char *line;

    nw_lines_init(&lines, path, data);
    line = nw_lines_next(&lines);
    if (!line || strcmp(line, HEAD))
        return !line || !strncmp(line, KIND, strlen(KIND));
    while ((line = nw_lines_next(&lines)))
        if (strtoull(line, NULL, 16) != key)
            nw_text_format(text, "%s\n", line);
    return true;
}

void nw_halo_cache_write(const nw_halo *halo, const char *file)
{
    char *path = NULL, *data = NULL;
    size_t length = 0;
    struct nw_text text = {0};
    uint64_t key = choice_cache_key_of(halo);
    bool ours = !nw_file_cache_path(file, "halo", &path) &&
                !nw_file_folders(path, 0755);

    nw_text_add(&text, HEAD "\n");
    if (ours && nw_file_has_bytes(path))
        ours = !nw_file_read_text(path, &data, &length) &&
               choice_cache_add_others(data, path, key, &text);
    choice_cache_add_line(halo, key, &text);
    if (ours)
        (void)!nw_file_write_text(path, &text);
    nw_text_fini(&text);
    NW_FREE_ALL(path, data);
}
