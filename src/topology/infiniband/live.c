/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ibnet:live -- asks the fabric itself: ibnetdiscover, else ibtracert for each
 * pair of the job's nodes. Both need the management device; without it this
 * says what to ask the administrator for. In a job rank 0 asks, once, and the
 * others read what it kept.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_WAIT 60 /* seconds for rank 0 */

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

/* ~/.cache/nodewise/fabric-JOB; NULL outside a job. */
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
    return status ? status : nw_file_folders(*out, 0700);
}

static bool is_there(const char *path)
{
    struct stat about;

    return path && !stat(path, &about) && about.st_size > 0;
}

static void wait_for(const char *path)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};

    for (int i = 0; i < MOST_WAIT * 10 && !is_there(path); i++)
        nanosleep(&pause, NULL);
}

/* All that a command prints; *good where it ended well. */
static void capture(const char *command, struct nw_text *out, bool *good)
{
    FILE *pipe = popen(command, "re");
    char buffer[4096];
    size_t got;

    while (pipe && (got = fread(buffer, 1, sizeof buffer, pipe)))
        nw_text_add_bytes(out, buffer, got);
    *good = pipe && !pclose(pipe);
}

static bool is_safe(const char *host)
{
    return *host && *host != '-' &&
           strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789._-") == strlen(host);
}

static nw_status list_hosts(struct nw_hostlist *hosts)
{
    static const char *const names[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST",
                                        NULL};
    const char *text = first_set(names);

    return text ? nw_hostlist_expand(text, hosts) : NW_OK;
}

/* The lid of a host's first port, as its kernel shows it; 0 for none. */
static int32_t lid_of(const char *host)
{
    static const char show[] = "cat /sys/class/infiniband/*/ports/1/lid";
    struct nw_text answer = {0};
    char command[512];
    int32_t lid = 0;
    bool good;

    if (!is_safe(host))
        return 0;
    if (getenv("SLURM_JOB_ID"))
        snprintf(command, sizeof command,
                 "srun --overlap -N1 -n1 -w %s sh -c '%s' 2>/dev/null", host,
                 show);
    else
        snprintf(command, sizeof command,
                 "ssh -o BatchMode=yes %s '%s' 2>/dev/null </dev/null", host,
                 show);
    capture(command, &answer, &good);
    if (good && answer.data)
        lid = (int32_t)strtol(answer.data, NULL, 0);
    nw_text_fini(&answer);
    return lid > 0 && lid < 65536 ? lid : 0;
}

/* A way for each pair; none at all where one cannot be traced. */
static nw_status trace_pairs(struct nw_text *out)
{
    struct nw_hostlist hosts = {0};
    int32_t *lid = NULL;
    bool good = true;
    nw_status status = list_hosts(&hosts);

    if (!status)
        status = nw_alloc(hosts.count, sizeof *lid, &lid);
    for (size_t i = 0; !status && good && i < hosts.count; i++) {
        lid[i] = lid_of(hosts.name[i]);
        good = lid[i] > 0;
    }
    for (size_t i = 0; !status && good && i < hosts.count; i++)
        for (size_t j = i + 1; good && j < hosts.count; j++) {
            char command[64];

            snprintf(command, sizeof command, "ibtracert %d %d 2>/dev/null",
                     lid[i], lid[j]);
            capture(command, out, &good);
        }
    if (!good)
        nw_text_fini(out);
    free(lid);
    nw_hostlist_fini(&hosts);
    return status;
}

static nw_status ask(char **out)
{
    struct nw_text text = {0};
    bool good;
    nw_status status = NW_OK;

    capture("ibnetdiscover 2>/dev/null", &text, &good);
    if (!good || !text.length) {
        nw_text_fini(&text);
        status = trace_pairs(&text);
    }
    if (!status && !text.length)
        status = nw_fail(
            NW_ENODEV,
            "ibnet:live: neither ibnetdiscover nor ibtracert (infiniband-"
            "diags) gave the fabric; ask the administrator for access to "
            "/dev/infiniband/umad* or, once, for the output of 'ibnetdiscover'"
            ", and read it with ibnet:FILE");
    if (!status)
        return nw_text_take(&text, out);
    nw_text_fini(&text);
    return status;
}

/* Where there is no cache the text passes through a file of its own. */
static nw_status keep(const char *text, const char *cache, char **path)
{
    char own[] = "/tmp/nodewise-fabric-XXXXXX";
    int file;
    nw_status status;

    if (cache && !nw_file_write(cache, text, strlen(text)))
        return nw_strdup(cache, path);
    file = mkstemp(own);
    if (file < 0)
        return nw_fail(NW_EIO, "%s:0: no temporary file", own);
    close(file);
    status = nw_file_write(own, text, strlen(text));
    return status ? status : nw_strdup(own, path);
}

nw_status nw_source_ibnet_live(const char *what, enum nw_elements elements,
                               nw_topology **out)
{
    char *cache = NULL, *text = NULL, *path = NULL;
    nw_status status = cache_path(&cache);

    (void)what;
    if (!status && cache && !is_first_rank())
        wait_for(cache);
    if (!status && is_there(cache)) {
        status = nw_source_ibnet(cache, elements, out);
    } else if (!status) {
        status = ask(&text);
        if (!status)
            status = keep(text, cache, &path);
        if (!status)
            status = nw_source_ibnet(path, elements, out);
        if (path && (!cache || strcmp(path, cache)))
            unlink(path);
    }
    free(cache);
    free(text);
    free(path);
    return status;
}
