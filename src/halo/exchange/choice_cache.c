/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the results of measurements in a text file, by default in the user's
 * cache folder. Each line after the first belongs to one machine and one shape
 * of halo, and begins with a key that identifies both. */
#include "halo/exchange/choose.h"
#include "halo/exchange/gpus.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KIND "nodewise halo choices "
#define HEAD KIND "5"

/* Returns the first piece that is on the same GPU as `piece`; in host memory,
 * returns `piece`. */
static int32_t choice_cache_first_on_gpu(const nw_halo *halo, int32_t piece)
{
    int32_t first = 0;

    if (!halo->gpus)
        return piece;
    while (halo->gpus->where[first] != halo->gpus->where[piece])
        first++;
    return first;
}

/* Returns the key of a halo. This is a hash of:
 * - the machine of rank 0 (name, architecture, number of CPUs) and the MPI
 *   library;
 * - the topology's name, and the node and package of each rank;
 * - the domain, its pieces and the fields;
 * - the methods that all ranks can use, and the kind of memory;
 * - the pieces that share a GPU, if there are any;
 * - the schedule, if the options demand one of two (halo->schedule). */
static uint64_t choice_cache_key_of(const nw_halo *halo)
{
    uint64_t hash = nw_mpi_hash(NW_HASH_START);
    struct utsname machine;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const struct nw_halo_domain *domain = &halo->layout->domain;
    const struct nw_halo_piece *piece = halo->layout->piece;

    memset(&machine, 0, sizeof machine);
    uname(&machine);
    hash = nw_hash_text(hash, machine.nodename);
    hash = nw_hash_text(hash, machine.machine);
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
    if (halo->schedule != NW_HALO_SCHEDULE_AUTO)
        hash = nw_hash(hash, &halo->schedule, sizeof halo->schedule);
    for (int32_t i = 0; i < halo->layout->piece_count; i++) {
        int32_t first = choice_cache_first_on_gpu(halo, i);

        hash = nw_hash(hash, &piece[i].box, sizeof piece->box);
        hash = nw_hash(hash, &piece[i].rank, sizeof piece->rank);
        if (first < i)
            hash = nw_hash(hash, &first, sizeof first);
    }
    return hash;
}

/* Parses the rest of a line after its key: the schedule, the methods of each
 * class, and a description, which is ignored. Returns false if it is invalid.
 */
static bool choice_cache_parse(char *line, struct nw_halo_scheme *out)
{
    const char *schedule = nw_word_next(&line);

    out->phased = schedule && !strcmp(schedule, "phases");
    if (!schedule || (!out->phased && strcmp(schedule, "once")))
        return false;
    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++) {
        char *end = line;

        out->methods[i] = (uint32_t)strtoul(line, &end, 16);
        if (end == line)
            return false;
        line = end;
    }
    return true;
}

/* The stored choice for one halo, if there is one. */
struct choice_stored {
    bool found;
    struct nw_halo_scheme scheme;
};

/* The file of choices, as one halo sees it. */
struct choice_file {
    char *path;
    uint64_t key;
    struct choice_stored own;
    struct nw_text others; /* the first line, and the lines of other halos */
};

/* Reads the choice of this halo and the lines of others from file->path.
 * Ignores the lines of a file of another version. Returns an error if the file
 * must not be replaced, because it cannot be read or is of another kind. */
static nw_status choice_cache_load(const nw_halo *halo,
                                   struct choice_file *file)
{
    struct nw_lines lines;
    char *data = NULL, *line;
    size_t length;
    nw_status status;

    file->key = choice_cache_key_of(halo);
    nw_text_add(&file->others, HEAD "\n");
    if (!nw_file_has_bytes(file->path))
        return NW_OK;
    status = nw_file_read_text(file->path, &data, &length);
    if (status)
        return status;
    nw_lines_init(&lines, file->path, data);
    line = nw_lines_next(&lines);
    if (line && strncmp(line, KIND, strlen(KIND)))
        status = nw_lines_fail(&lines, "expected '" KIND "'");
    if (line && strcmp(line, HEAD))
        line = NULL;
    while (line && (line = nw_lines_next(&lines))) {
        char *rest = line;

        if (strtoull(line, &rest, 16) == file->key)
            file->own.found = choice_cache_parse(rest, &file->own.scheme);
        else
            nw_text_format(&file->others, "%s\n", line);
    }
    free(data);
    return status;
}

static void choice_cache_fini(struct choice_file *file)
{
    nw_text_fini(&file->others);
    free(file->path);
}

nw_status nw_halo_cache_read(nw_halo *halo, const char *path,
                             struct nw_halo_scheme *out, bool *found)
{
    struct choice_file file = {.path = NULL};
    int code;

    if (!halo->rank && !nw_file_cache_path(path, "halo", &file.path))
        (void)!choice_cache_load(halo, &file);
    choice_cache_fini(&file);
    code = NW_PMPI(Bcast)(&file.own, sizeof file.own, MPI_BYTE, 0, halo->comm);
    *out = file.own.scheme;
    *found = file.own.found;
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
    nw_text_format(text, "%016llx %s", (unsigned long long)key,
                   halo->scheme.phased ? "phases" : "once");
    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++)
        nw_text_format(text, " %x", halo->scheme.methods[i]);
    nw_text_format(
        text,
        "  %s: %d rank%s, %d node%s, %lldx%lldx%lld cells of %llu B, radius "
        "%d, %s memory: %s\n",
        host, halo->size, nw_plural((uint64_t)halo->size),
        halo->layout->node_count, nw_plural((uint64_t)halo->layout->node_count),
        (long long)domain->extent[0], (long long)domain->extent[1],
        (long long)domain->extent[2], (unsigned long long)domain->cell_bytes,
        most, halo->gpu_memory ? "GPU" : "host", halo->words);
}

void nw_halo_cache_write(const nw_halo *halo, const char *path)
{
    struct choice_file file = {.path = NULL};

    if (!nw_file_cache_path(path, "halo", &file.path) &&
        !nw_file_folders(file.path, 0755)) {
        /* another job may add its line at the same time */
        int lock = nw_file_lock(file.path);

        if (!choice_cache_load(halo, &file)) {
            choice_cache_add_line(halo, file.key, &file.others);
            (void)!nw_file_write_text(file.path, &file.others);
        }
        if (lock >= 0)
            close(lock);
    }
    choice_cache_fini(&file);
}
