/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the JSON files of NCCL's Inspector plug-in, which have one object for
 * each call and process. The names of values are unique in an object, whatever
 * inner object (header, metadata, coll_perf, p2p_perf) has them, so the reader
 * ignores the nesting.
 */
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
#include "pattern/nccl/files.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names of the values that the reader keeps. A value is the text in the file;
 * NULL: missing. */
enum inspector_key {
    INSPECTOR_ID,
    INSPECTOR_RANK,
    INSPECTOR_RANKS,
    INSPECTOR_HOST,
    INSPECTOR_PID,
    INSPECTOR_CALL,
    INSPECTOR_CALL_BYTES,
    INSPECTOR_MESSAGE,
    INSPECTOR_PEER,
    INSPECTOR_MESSAGE_BYTES,
    INSPECTOR_KEYS
};

static const char *const inspector_names[INSPECTOR_KEYS] = {
    "id",
    "rank",
    "n_ranks",
    "hostname",
    "pid",
    "coll",
    "coll_msg_size_bytes",
    "p2p",
    "p2p_peer",
    "p2p_msg_size_bytes"};

/* The state while one file is read. `at` is the position in the text, `depth`
 * the number of open brackets. */
struct inspector_file {
    struct nw_nccl_job *job;
    const char *path;
    char *at;
    int line, depth;
    char *value[INSPECTOR_KEYS];
};

static nw_status inspector_fail(const struct inspector_file *in,
                                const char *what)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s", in->path, in->line, what);
}

static bool inspector_has(const struct inspector_file *in,
                          enum inspector_key key, uint64_t *out)
{
    return in->value[key] && nw_parse_u64(in->value[key], out);
}

/* Reads the id of the communicator, such as "0x7f8c". */
static bool inspector_has_id(const struct inspector_file *in, uint64_t *out)
{
    const char *word = in->value[INSPECTOR_ID];
    char *end;

    if (!word || !isxdigit((unsigned char)*word))
        return false;
    errno = 0;
    *out = strtoull(word, &end, 16);
    return !errno && !*end;
}

static bool inspector_has_rank(const struct inspector_file *in,
                               enum inspector_key key, int32_t *out)
{
    return in->value[key] && nw_parse_i32(in->value[key], out) && *out >= 0;
}

static bool inspector_read_call(const struct inspector_file *in,
                                struct nw_nccl_call *call, const char **name)
{
    bool is_message = in->value[INSPECTOR_MESSAGE];

    *name = in->value[is_message ? INSPECTOR_MESSAGE : INSPECTOR_CALL];
    *call = (struct nw_nccl_call){
        .algorithm = NW_NCCL_UNKNOWN, .root = -1, .calls = 1};
    return *name &&
           inspector_has(
               in, is_message ? INSPECTOR_MESSAGE_BYTES : INSPECTOR_CALL_BYTES,
               &call->bytes) &&
           (!is_message || inspector_has_rank(in, INSPECTOR_PEER, &call->root));
}

/* Adds the call of a complete object to the job. */
static nw_status inspector_add(struct inspector_file *in)
{
    struct nw_nccl_process process = {.host = in->value[INSPECTOR_HOST],
                                      .rank = -1,
                                      .world = -1,
                                      .file = in->path};
    struct nw_nccl_member member = {.device = -1};
    struct nw_nccl_call call;
    const char *name;
    size_t index;
    nw_status status;

    if (!process.host || !inspector_has(in, INSPECTOR_PID, &process.pid) ||
        !inspector_has_id(in, &member.comm) ||
        !inspector_has_rank(in, INSPECTOR_RANK, &member.rank) ||
        !inspector_has_rank(in, INSPECTOR_RANKS, &member.size) ||
        member.rank >= member.size || !inspector_read_call(in, &call, &name))
        return inspector_fail(
            in, "expected an object of NCCL's Inspector, with 'header', "
                "'metadata' and 'coll_perf' or 'p2p_perf'");
    status = nw_nccl_job_process(in->job, &process, &member.process);
    if (!status)
        status = nw_nccl_job_member(in->job, &member, &index);
    if (status)
        return status;
    if (nw_nccl_function_find(name, &call.function))
        return nw_nccl_job_call(in->job, index, &call);
    nw_nccl_job_skip(in->job, 1);
    return NW_OK;
}

/* Replaces the closing quote of a string by a NUL and returns the string; NULL
 * if the quote is missing. */
static char *inspector_cut_string(struct inspector_file *in)
{
    char *start = ++in->at;

    while (*in->at && *in->at != '"' && *in->at != '\n')
        in->at += *in->at == '\\' && in->at[1] && in->at[1] != '\n' ? 2 : 1;
    if (*in->at != '"')
        return NULL;
    *in->at++ = '\0';
    return start;
}

/* Ends a number, true, false or null with a NUL and returns it; sets *behind to
 * the character that was there. */
static char *inspector_cut_word(struct inspector_file *in, char *behind)
{
    char *start = in->at;

    in->at += strcspn(in->at, ",}] \t\r\n");
    *behind = *in->at;
    *in->at = '\0';
    return start;
}

static void inspector_keep(struct inspector_file *in, const char *name,
                           char *value)
{
    for (int i = 0; i < INSPECTOR_KEYS; i++)
        if (!strcmp(name, inspector_names[i]))
            in->value[i] = value;
}

static void inspector_skip_blanks(struct inspector_file *in)
{
    for (; *in->at && strchr(" \t\r\n,", *in->at); in->at++)
        in->line += *in->at == '\n';
}

static nw_status inspector_close(struct inspector_file *in)
{
    nw_status status = NW_OK;

    if (--in->depth == 0) {
        status = inspector_add(in);
        memset(in->value, 0, sizeof in->value);
    }
    in->at++;
    return status;
}

/* Reads a name, and its value unless an object or a list follows. A bracket
 * directly behind the value also counts for the nesting. */
static nw_status inspector_member(struct inspector_file *in)
{
    char *name = inspector_cut_string(in), *value = NULL, behind = '\0';

    if (!name)
        return inspector_fail(in, "a string without an end");
    inspector_skip_blanks(in);
    if (*in->at != ':')
        return inspector_fail(in, "expected ':' behind a name");
    in->at++;
    inspector_skip_blanks(in);
    if (*in->at == '{' || *in->at == '[')
        return NW_OK;
    value = *in->at == '"' ? inspector_cut_string(in)
                           : inspector_cut_word(in, &behind);
    if (!value)
        return inspector_fail(in, "a string without an end");
    inspector_keep(in, name, value);
    if (behind == '}' || behind == ']')
        return inspector_close(in);
    in->line += behind == '\n';
    in->at += behind != '\0';
    return NW_OK;
}

static nw_status inspector_step(struct inspector_file *in)
{
    if (*in->at == '{' || (*in->at == '[' && in->depth)) {
        in->depth++;
        in->at++;
        return NW_OK;
    }
    if ((*in->at == '}' || *in->at == ']') && in->depth)
        return inspector_close(in);
    if (*in->at == '"' && in->depth)
        return inspector_member(in);
    return inspector_fail(in, "expected a JSON object of NCCL's Inspector");
}

static nw_status inspector_read_file(struct nw_nccl_job *job, const char *path)
{
    struct inspector_file in = {.job = job, .path = path, .line = 1};
    nw_status status;
    size_t length;
    char *data;

    if (!nw_file_has_bytes(path))
        return NW_OK; /* the process made no call */
    status = nw_file_read_text(path, &data, &length);
    if (status)
        return status;
    in.at = data;
    for (inspector_skip_blanks(&in); !status && *in.at;
         inspector_skip_blanks(&in))
        status = inspector_step(&in);
    free(data);
    return status;
}

nw_status nw_nccl_inspector_open(const char *path, nw_pattern **out)
{
    return nw_nccl_files_read(
        path, &(struct nw_nccl_reader){inspector_read_file, NULL, ""}, out);
}
