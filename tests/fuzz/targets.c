/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One small function for each reader: it gives the bytes to the reader as a
 * file (or as words) and frees the result. The fuzzers and the replay of the
 * corpus both call these functions.
 */
#include "tests/fuzz/targets.h"

#include "base/file.h"
#include "base/hostlist.h"
#include "channel/proto/wire.h"
#include "topology/source.h"

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/profile.h>
#include <nodewise/topology.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_topology(nw_source_reader *reader, const char *what)
{
    nw_topology *topology = NULL;

    if (!reader(what, NW_ELEMENTS_CORE, &topology))
        nw_topology_free(topology);
}

/* Whether the product of the numbers in the words is small: a user may choose
 * large sizes, but a fuzzer would choose only huge ones. */
static bool is_small(const char *words, uint64_t limit)
{
    uint64_t product = 1;

    for (; *words; words++) {
        uint64_t number = strtoull(words, NULL, 10);
        size_t digits = strspn(words, "0123456789");

        if (!digits)
            continue;
        words += digits - 1;
        if (digits > 6 || (product *= number + 1) > limit)
            return false;
    }
    return true;
}

static void fuzz_hierarchy(const char *words)
{
    if (is_small(words, 100000))
        read_topology(nw_source_hierarchy, words);
}

/* hwloc takes a time that grows with the square of a level's size. */
static void fuzz_synthetic(const char *words)
{
    if (is_small(words, 2000))
        read_topology(nw_source_synthetic, words);
}

/* A header from a peer: accepted ones must be within the ranks and the
 * length. */
static void fuzz_wire(const char *path)
{
    char *data = NULL;
    size_t length = 0;
    struct nw_wire wire;
    uint64_t word;

    if (nw_file_read(path, &data, &length))
        return;
    if (!nw_wire_read(data, length, 4, &wire)) {
        assert(wire.source >= 0 && wire.source < 4);
        assert(nw_wire_size(wire.kind) <= length);
        assert(wire.kind != NW_WIRE_EAGER ||
               wire.bytes == length - NW_WIRE_HEADER);
    }
    if (length >= sizeof word) {
        memcpy(&word, data, sizeof word);
        if (nw_wire_read_word(word, length - sizeof word, 4, &wire))
            assert(wire.source >= 0 && wire.source < 4 && wire.tag >= 0 &&
                   wire.bytes == length - sizeof word);
    }
    free(data);
}

static void fuzz_matrix(const char *path)
{
    read_topology(nw_source_matrix, path);
}

static void fuzz_xml(const char *path)
{
    read_topology(nw_source_xml, path);
}

static void fuzz_cluster(const char *path)
{
    read_topology(nw_source_cluster, path);
}

static void fuzz_ibnet(const char *path)
{
    read_topology(nw_source_ibnet, path);
}

static void fuzz_slurm(const char *path)
{
    read_topology(nw_source_slurm, path);
}

static void fuzz_kubernetes(const char *path)
{
    read_topology(nw_source_kubernetes, path);
}

static void fuzz_nccl(const char *path)
{
    read_topology(nw_source_nccl, path);
}

static void fuzz_smi(const char *path)
{
    read_topology(nw_source_smi, path);
}

static void fuzz_mapping(const char *path)
{
    nw_mapping *mapping = NULL;

    if (!nw_mapping_read(path, NULL, &mapping))
        nw_mapping_free(mapping);
}

static void read_pattern(const char *prefix, const char *path)
{
    struct nw_pattern_read_options options = NW_PATTERN_READ_OPTIONS_INIT;
    nw_pattern *pattern = NULL;
    char input[192];

    options.compact = true;
    snprintf(input, sizeof input, "%s%s", prefix, path);
    if (!nw_pattern_read(input, &options, &pattern))
        nw_pattern_free(pattern);
}

static void fuzz_native(const char *path)
{
    read_pattern("native:", path);
}

static void fuzz_metis(const char *path)
{
    read_pattern("metis:", path);
}

static void fuzz_market(const char *path)
{
    read_pattern("mm:", path);
}

static void fuzz_dense(const char *path)
{
    read_pattern("matrix:", path);
}

static void fuzz_list(const char *path)
{
    read_pattern("list:", path);
}

/* Reads both parts: the flow as a pattern, and the distances as a topology. */
static void fuzz_qaplib(const char *path)
{
    double *distances = NULL;
    nw_pattern *flow = NULL;
    size_t n;

    if (!nw_qaplib_read(path, &flow, &distances, &n)) {
        nw_pattern_free(flow);
        free(distances);
    }
    read_pattern("qaplib:", path);
}

/* Reads the file without a prefix, so that its format must be detected. */
static void fuzz_detect(const char *path)
{
    read_pattern("", path);
}

/* Makes a folder in TMPDIR, which is removed by whatever ends this program
 * early. */
static void make_folder(char *folder, size_t size)
{
    const char *above = getenv("TMPDIR");

    snprintf(folder, size, "%s/nodewise-fuzz-XXXXXX", above ? above : "/tmp");
    if (!mkdtemp(folder))
        abort();
}

/* For readers that look for other files in the same folder: makes a folder with
 * only this file, as `name`, and reads it. */
static void read_beside(const char *path, const char *name, const char *prefix,
                        const char *input)
{
    char folder[96], file[128], what[128];

    make_folder(folder, sizeof folder);
    snprintf(file, sizeof file, "%s/%s", folder, name);
    snprintf(what, sizeof what, "%s/%s", folder, input);
    if (!symlink(path, file))
        read_pattern(prefix, what);
    unlink(file);
    rmdir(folder);
}

/* Reads a time-independent trace, or a list of traces. */
static void fuzz_ti(const char *path)
{
    read_beside(path, "trace", "ti:", "trace");
}

static void fuzz_nccl_calls(const char *path)
{
    read_pattern("nccl:", path);
}

static void fuzz_nccl_log(const char *path)
{
    read_pattern("nccl-log:", path);
}

static void fuzz_nccl_inspector(const char *path)
{
    read_pattern("nccl-inspector:", path);
}

static void fuzz_monitoring(const char *path)
{
    read_beside(path, "m.0.prof", "monitoring:", "m");
}

#define OTF2_MARK "\n=== "

/* Writes the next file of a packed archive, in which "\n=== NAME\n" precedes
 * its bytes, into the folder; returns where the following file begins, or
 * NULL. */
static const char *unpack(const char *folder, const char *at, const char *end)
{
    const char *next, *name = at + strlen(OTF2_MARK);
    const char *stop = memchr(name, '\n', (size_t)(end - name));
    char path[160];
    FILE *file;

    if (!stop || stop - name > 32 ||
        memmem(name, (size_t)(stop - name), "..", 2))
        return NULL;
    next = memmem(stop, (size_t)(end - stop), OTF2_MARK, strlen(OTF2_MARK));
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)(stop - name), name);
    file = fopen(path, "w");
    if (file) {
        fwrite(stop + 1, 1, (size_t)((next ? next : end) - stop - 1), file);
        fclose(file);
    }
    return next;
}

static void remove_folder(const char *folder)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command))
        abort();
}

/* Reads an archive, which is a folder of files: anchor, definitions, events. */
static void fuzz_otf2(const char *path)
{
    char folder[96], name[128];
    char *data = NULL;
    size_t length = 0;

    if (nw_file_read(path, &data, &length))
        return;
    make_folder(folder, sizeof folder);
    snprintf(name, sizeof name, "%s/traces", folder);
    mkdir(name, 0700);
    for (const char *at = data; at && length > strlen(OTF2_MARK);)
        at = unpack(folder, at, data + length);
    snprintf(name, sizeof name, "%s/traces.otf2", folder);
    read_pattern("otf2:", name);
    remove_folder(folder);
    free(data);
}

static void fuzz_generate(const char *words)
{
    nw_pattern *pattern = NULL;
    bool sparse = strstr(words, "stencil") || strstr(words, "training");

    if (is_small(words, sparse ? 1000000 : 1000) &&
        !nw_pattern_generate(words, &pattern))
        nw_pattern_free(pattern);
}

static void fuzz_hostlist(const char *words)
{
    struct nw_hostlist list = {0};

    if (is_small(words, 1000000) && nw_hostlist_expand(words, &list))
        assert(list.count == 0);
    nw_hostlist_fini(&list);
}

/* Reads what a rank has written of a profile, which is found by the name of the
 * profile. */
static void fuzz_part(const char *path)
{
    nw_pattern *pattern = NULL;
    char folder[96], profile[112], part[128];

    make_folder(folder, sizeof folder);
    snprintf(profile, sizeof profile, "%s/p", folder);
    snprintf(part, sizeof part, "%s.part.0", profile);
    if (!symlink(path, part) && !nw_profile_merge(profile, &pattern))
        nw_pattern_free(pattern);
    unlink(part);
    rmdir(folder);
}

const struct nw_fuzz_target nw_fuzz_targets[] = {
    {"hierarchy", fuzz_hierarchy, true},
    {"synthetic", fuzz_synthetic, true},
    {"hostlist", fuzz_hostlist, true},
    {"matrix", fuzz_matrix, false},
    {"xml", fuzz_xml, false},
    {"cluster", fuzz_cluster, false},
    {"ibnet", fuzz_ibnet, false},
    {"slurm", fuzz_slurm, false},
    {"kubernetes", fuzz_kubernetes, false},
    {"nccl", fuzz_nccl, false},
    {"smi", fuzz_smi, false},
    {"mapping", fuzz_mapping, false},
    {"native", fuzz_native, false},
    {"metis", fuzz_metis, false},
    {"market", fuzz_market, false},
    {"dense", fuzz_dense, false},
    {"list", fuzz_list, false},
    {"part", fuzz_part, false},
    {"qaplib", fuzz_qaplib, false},
    {"detect", fuzz_detect, false},
    {"ti", fuzz_ti, false},
    {"monitoring", fuzz_monitoring, false},
    {"nccl_calls", fuzz_nccl_calls, false},
    {"nccl_log", fuzz_nccl_log, false},
    {"nccl_inspector", fuzz_nccl_inspector, false},
    {"otf2", fuzz_otf2, false},
    {"generate", fuzz_generate, true},
    {"wire", fuzz_wire, false},
};
const size_t nw_fuzz_target_count =
    sizeof nw_fuzz_targets / sizeof *nw_fuzz_targets;

static void call_with_words(const struct nw_fuzz_target *target,
                            const uint8_t *data, size_t size)
{
    char *words = strndup((const char *)data, size);

    target->run(words);
    free(words);
}

/* Calls the target with a file in memory. Such a file has a name, so that the
 * reader is tested as users call it. */
static void call_with_file(const struct nw_fuzz_target *target,
                           const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    target->run(path);
    close(fd);
}

void nw_fuzz_run(const struct nw_fuzz_target *target, const uint8_t *data,
                 size_t size)
{
    if (target->words)
        call_with_words(target, data, size);
    else
        call_with_file(target, data, size);
}
