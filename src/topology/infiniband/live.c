/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads ibnet:live, the fabric of this computer. It runs ibnetdiscover or, if
 * that fails, ibtracert for each pair of the job's nodes. Both programs need
 * access to the management device; without it, the error message says what to
 * ask the administrator for. In a job, rank 0 reads the fabric once, and the
 * other ranks read the cache file that rank 0 writes.
 */
#include "topology/infiniband/ibnet.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/spawn.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time limit for all commands together. The other ranks wait for rank 0 up to
 * this time. */
enum { LIMIT_S = 60 };

/* The commands' common time limit. */
struct fabric_commands {
    uint64_t until_ns;
    /* the command that was running, or was to be started, when the time was
     * over; NULL: none */
    const char *late;
};

static const char *first_set(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names) && *getenv(*names))
            return getenv(*names);
    return NULL;
}

static const char *job_id(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID",
                                        "LSB_JOBID", "FLUX_JOB_ID", NULL};

    return first_set(names);
}

static bool is_first_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK", "SLURM_PROCID", NULL};
    const char *rank = first_set(names);

    return !rank || !strcmp(rank, "0");
}

/* Sets *out to the path of the job's cache file, fabric-JOB in the folder of
 * nw_file_cache, and makes the folders. Sets *out to NULL outside a job, or if
 * that folder is unknown or cannot be made; then each rank reads the fabric. */
static nw_status cache_path(char **out)
{
    const char *job = job_id();
    struct nw_text text = {0};
    nw_status status;

    *out = NULL;
    if (!job || strchr(job, '/') || !nw_file_cache(&text))
        return NW_OK;
    nw_text_format(&text, "/fabric-%s", job);
    status = nw_text_take(&text, out);
    if (!status && nw_file_folders(*out, 0700)) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static bool is_there(const char *path)
{
    struct stat about;

    return path && !stat(path, &about) && about.st_size > 0;
}

static void live_wait_for(const char *path)
{
    for (int i = 0; i < LIMIT_S * 10 && !is_there(path); i++)
        (void)usleep(100000);
}

/* Runs a command and appends its output to `out`. Returns true if the command
 * ended in time with exit status 0. `words` is the command with its arguments,
 * NULL at the end. If the time is over, sets commands->late and returns
 * false. */
static bool live_capture(struct fabric_commands *commands,
                         const char *const *words, struct nw_text *out)
{
    uint64_t now = nw_clock_ns();
    struct nw_spawn spawn = {
        .program = words[0], .arguments = words + 1, .from_path = true};
    int how = 0;

    if (commands->late || now >= commands->until_ns) {
        commands->late = words[0];
        return false;
    }
    spawn.seconds = (unsigned)((commands->until_ns - now) / 1000000000) + 1;
    if (nw_spawn_run(&spawn, out, &how))
        return false;
    if (how == NW_SPAWN_TIMED_OUT)
        commands->late = words[0];
    return !how;
}

static nw_status list_hosts(struct nw_hostlist *hosts)
{
    static const char *const names[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST",
                                        NULL};
    const char *text = first_set(names);

    return text ? nw_hostlist_expand(text, hosts) : NW_OK;
}

/* Returns the lid of port 1 of a host's first adapter, which srun or ssh reads
 * from that host's kernel; 0 if that fails. */
static int32_t lid_of(struct fabric_commands *commands, const char *host)
{
    static const char show[] = "cat /sys/class/infiniband/*/ports/1/lid";
    const char *const srun[] = {"srun", "--overlap", "-N1", "-n1", "-w",
                                host,   "sh",        "-c",  show,  NULL};
    const char *const ssh[] = {"ssh", "-o", "BatchMode=yes", host, show, NULL};
    struct nw_text answer = {0};
    int32_t lid = 0;

    if (nw_host_is_plain(host) &&
        live_capture(commands, getenv("SLURM_JOB_ID") ? srun : ssh, &answer) &&
        answer.data)
        lid = (int32_t)strtol(answer.data, NULL, 0);
    nw_text_fini(&answer);
    return lid > 0 && lid < 65536 ? lid : 0;
}

static bool trace_pair(struct fabric_commands *commands, int32_t from,
                       int32_t to, struct nw_text *out)
{
    char first[12], second[12];
    const char *const words[] = {"ibtracert", first, second, NULL};

    snprintf(first, sizeof first, "%d", from);
    snprintf(second, sizeof second, "%d", to);
    return live_capture(commands, words, out);
}

/* Traces the path between each pair of the job's hosts, in one direction, and
 * appends it to `out`. If a trace fails, or a host's lid is unknown, `out` is
 * empty. */
static nw_status trace_pairs(struct fabric_commands *commands,
                             struct nw_text *out)
{
    struct nw_hostlist hosts = {0};
    int32_t *lid = NULL;
    bool good = true;
    nw_status status = list_hosts(&hosts);

    if (!status)
        status = nw_alloc(hosts.count, sizeof *lid, &lid);
    for (size_t i = 0; !status && good && i < hosts.count; i++) {
        lid[i] = lid_of(commands, hosts.name[i]);
        good = lid[i] > 0;
    }
    for (size_t i = 0; !status && good && i < hosts.count; i++)
        for (size_t j = i + 1; good && j < hosts.count; j++)
            good = trace_pair(commands, lid[i], lid[j], out);
    if (!good)
        nw_text_fini(out);
    free(lid);
    nw_hostlist_fini(&hosts);
    return status;
}

static nw_status fail_without_answer(const struct fabric_commands *commands)
{
    if (commands->late)
        return nw_fail(NW_ENODEV,
                       "ibnet:live: %s was ended because the fabric was not "
                       "read within %d s; write the output of 'ibnetdiscover' "
                       "to a file and read it with ibnet:FILE",
                       commands->late, LIMIT_S);
    return nw_fail(
        NW_ENODEV,
        "ibnet:live: neither ibnetdiscover nor ibtracert (infiniband-"
        "diags) gave the fabric; ask the administrator for access to "
        "/dev/infiniband/umad* or, once, for the output of 'ibnetdiscover'"
        ", and read it with ibnet:FILE");
}

static nw_status live_ask(char **out)
{
    static const char *const discover[] = {"ibnetdiscover", NULL};
    struct fabric_commands commands = {
        .until_ns = nw_clock_ns() + LIMIT_S * UINT64_C(1000000000)};
    struct nw_text text = {0};
    nw_status status = NW_OK;

    if (!live_capture(&commands, discover, &text) || !text.length) {
        nw_text_fini(&text);
        status = trace_pairs(&commands, &text);
    }
    if (!status && !text.length)
        status = fail_without_answer(&commands);
    return nw_text_take_if(status, &text, out);
}

/* Writes the text to the cache file or, if that fails or `cache` is NULL, to a
 * temporary file. Sets *path, which the caller frees. */
static nw_status live_keep(const char *text, const char *cache, char **path)
{
    char own[] = "/tmp/nodewise-fabric-XXXXXX";
    int file;
    nw_status status;

    if (cache && !nw_file_write(cache, text, strlen(text)))
        return nw_strdup(cache, path);
    file = mkostemp(own, O_CLOEXEC);
    if (file < 0)
        return nw_fail(NW_EIO, "%s: no temporary file", own);
    close(file);
    status = nw_file_write(own, text, strlen(text));
    if (!status)
        status = nw_strdup(own, path);
    if (status)
        unlink(own);
    return status;
}

nw_status nw_ibnet_live(enum nw_elements elements, nw_topology **out)
{
    char *cache = NULL, *text = NULL, *path = NULL;
    nw_status status = cache_path(&cache);

    if (!status && cache && !is_first_rank())
        live_wait_for(cache);
    if (!status && is_there(cache)) {
        status = nw_ibnet_load(cache, elements, out);
    } else if (!status) {
        status = live_ask(&text);
        if (!status)
            status = live_keep(text, cache, &path);
        if (!status)
            status = nw_ibnet_load(path, elements, out);
        if (path && (!cache || strcmp(path, cache)))
            unlink(path);
    }
    free(cache);
    free(text);
    free(path);
    return status;
}
