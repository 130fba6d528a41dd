/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the files that NCCL's profiler plug-in writes: PREFIX.nccl.HOST.PID,
 * one per process, or one file that contains them all. The grammar is in
 * nodewise-formats(5), NCCL CALLS.
 */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
#include "pattern/nccl/files.h"

#include <stdlib.h>
#include <string.h>

/* The state while one file is read. */
struct calls_file {
    struct nw_nccl_job *job;
    struct nw_lines lines;
    int32_t process; /* -1 before the first process line */
    size_t *member;  /* [count] for each communicator of the file: the number of
                        this process's member, from nw_nccl_job_member */
    size_t count, capacity;
};

/* Reads a number. If `may_lack` is set, the word "-" is allowed and leaves *out
 * unchanged. */
static bool calls_number(char **rest, int32_t *out, bool may_lack)
{
    const char *word = nw_word_next(rest);

    if (word && may_lack && !strcmp(word, "-"))
        return true;
    return word && nw_parse_i32(word, out) && *out >= 0;
}

static bool calls_hexadecimal(const char *word, uint64_t *out)
{
    char *end;

    if (!word || strncmp(word, "0x", 2) || strlen(word) > 18 ||
        strspn(word + 2, "0123456789abcdef") != strlen(word + 2) || !word[2])
        return false;
    *out = strtoull(word, &end, 16);
    return true;
}

/* Parses a PCI bus id. NCCL's number of "0000:1b:00.0" is the hexadecimal
 * number with the same digits, without the separators. */
static bool calls_bus_id(const char *word, int64_t *out)
{
    char digits[17] = "", *end;
    size_t count = 0;

    for (; *word; word++) {
        if (*word == ':' || *word == '.')
            continue;
        if (count == sizeof digits - 2)
            return false;
        digits[count++] = *word;
    }
    if (!count || strspn(digits, "0123456789abcdefABCDEF") != count)
        return false;
    *out = strtoll(digits, &end, 16);
    return true;
}

static nw_status calls_read_process(struct calls_file *in, char *rest)
{
    struct nw_nccl_process process = {
        .rank = -1, .world = -1, .file = in->lines.file};
    const char *pid;

    if (!calls_number(&rest, &process.rank, true) ||
        !calls_number(&rest, &process.world, true) ||
        !(pid = nw_word_next(&rest)) || !nw_parse_u64(pid, &process.pid) ||
        !(process.host = nw_word_next(&rest)) || nw_word_next(&rest))
        return nw_lines_fail(&in->lines,
                             "expected 'process RANK WORLD PID HOST'");
    in->count = 0;
    return nw_nccl_job_process(in->job, &process, &in->process);
}

static nw_status calls_read_comm(struct calls_file *in, char *rest)
{
    struct nw_nccl_member member = {.process = in->process, .device = -1};
    const char *device;
    int32_t index;
    nw_status status;

    if (in->process < 0)
        return nw_lines_fail(&in->lines,
                             "a line 'process' must precede this line");
    if (!calls_number(&rest, &index, false) || (size_t)index != in->count ||
        !calls_hexadecimal(nw_word_next(&rest), &member.comm) ||
        !calls_number(&rest, &member.rank, false) ||
        !calls_number(&rest, &member.size, true) ||
        (member.size && member.rank >= member.size) ||
        !(device = nw_word_next(&rest)) ||
        (strcmp(device, "-") && !calls_bus_id(device, &member.device)) ||
        nw_word_next(&rest))
        return nw_lines_fail(
            &in->lines, "expected 'comm %zu ID RANK SIZE DEVICE'", in->count);
    status =
        nw_grow(&in->member, &in->capacity, in->count + 1, sizeof *in->member);
    return status
               ? status
               : nw_nccl_job_member(in->job, &member, &in->member[in->count++]);
}

static nw_status calls_read_call(struct calls_file *in, char *rest)
{
    struct nw_nccl_call call = {.root = -1};
    const char *function, *algorithm, *bytes, *calls;
    int32_t index;

    if (!calls_number(&rest, &index, false) || (size_t)index >= in->count ||
        !(function = nw_word_next(&rest)) ||
        !(algorithm = nw_word_next(&rest)) ||
        !calls_number(&rest, &call.root, true) ||
        !(bytes = nw_word_next(&rest)) || !nw_parse_u64(bytes, &call.bytes) ||
        !(calls = nw_word_next(&rest)) || !nw_parse_u64(calls, &call.calls) ||
        nw_word_next(&rest))
        return nw_lines_fail(
            &in->lines,
            "expected 'call N FUNCTION ALGORITHM ROOT BYTES CALLS', "
            "with N of a line 'comm' before");
    if (!nw_nccl_algorithm_find(algorithm, &call.algorithm))
        call.algorithm = NW_NCCL_UNKNOWN;
    if (nw_nccl_function_find(function, &call.function))
        return nw_nccl_job_call(in->job, in->member[index], &call);
    nw_nccl_job_skip(in->job, call.calls);
    return NW_OK;
}

static nw_status calls_read_lines(struct calls_file *in)
{
    nw_status status = NW_OK;
    char *line;

    while (!status && (line = nw_lines_next(&in->lines))) {
        char *rest = line;
        const char *word = nw_word_next(&rest);

        if (!strcmp(word, "process"))
            status = calls_read_process(in, rest);
        else if (!strcmp(word, "comm"))
            status = calls_read_comm(in, rest);
        else if (!strcmp(word, "call"))
            status = calls_read_call(in, rest);
        else if (strcmp(word, "nodewise") || !(word = nw_word_next(&rest)) ||
                 strcmp(word, "nccl") || !(word = nw_word_next(&rest)) ||
                 strcmp(word, "1"))
            status = nw_lines_fail(&in->lines,
                                   "expected 'nodewise nccl 1', 'process', "
                                   "'comm' or 'call'");
    }
    return status;
}

/* Cuts an incomplete last line off, which a killed process may leave. */
static void calls_cut_last_line(char *data, size_t length)
{
    while (length && data[length - 1] != '\n')
        data[--length] = '\0';
}

static nw_status calls_read_text(struct nw_nccl_job *job, const char *file,
                                 char *data)
{
    struct calls_file in = {.job = job, .process = -1};
    nw_status status;

    nw_lines_init(&in.lines, file, data);
    status = calls_read_lines(&in);
    if (!status && in.process < 0)
        status = nw_fail(NW_EFORMAT, "%s:1: no line 'process'", file);
    free(in.member);
    return status;
}

static nw_status calls_read_file(struct nw_nccl_job *job, const char *path)
{
    char *data;
    size_t length;
    nw_status status;

    if (!nw_file_has_bytes(path))
        return NW_OK; /* the process ended before it wrote a line */
    status = nw_file_read_text(path, &data, &length);
    if (status)
        return status;
    calls_cut_last_line(data, length);
    status = calls_read_text(job, path, data);
    free(data);
    return status;
}

nw_status nw_nccl_calls_open(const char *path, nw_pattern **out)
{
    return nw_nccl_files_read(
        path, &(struct nw_nccl_reader){calls_read_file, ".nccl.*", ""}, out);
}
