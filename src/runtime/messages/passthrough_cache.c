/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores measured round-trip times in a file, for later programs on this host.
 */
#include "runtime/messages/passthrough.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "runtime/mpi_symbols.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "nodewise messages 1";

static nw_status passthrough_cache_find_path(bool near, char **out)
{
    struct nw_text text = {0};
    char host[256] = "";

    if (!nw_file_cache(&text))
        return nw_fail(NW_EIO, "neither XDG_CACHE_HOME nor HOME is set");
    (void)gethostname(host, sizeof host - 1);
    nw_text_format(&text, "/messages/%s.%s.%016llx", host,
                   near ? "near" : "far",
                   (unsigned long long)nw_mpi_hash(NW_HASH_START));
    return nw_text_take(&text, out);
}

static bool passthrough_cache_parse(char *line, struct nw_round_trip *out)
{
    struct nw_round_trip round;
    const char *words[3];

    for (int i = 0; i < 3; i++)
        words[i] = nw_word_next(&line);
    if (!words[2] || nw_word_next(&line) ||
        !nw_parse_u64(words[0], &round.bytes) ||
        !nw_parse_double(words[1], &round.ours) ||
        !nw_parse_double(words[2], &round.theirs) || round.ours <= 0 ||
        round.theirs <= 0)
        return false;
    *out = round;
    return true;
}

static nw_status
passthrough_cache_parse_all(const char *path, char *text,
                            struct nw_round_trip rounds[NW_ROUNDS])
{
    struct nw_lines lines;
    char *line;
    int count = 0;

    nw_lines_init(&lines, path, text);
    line = nw_lines_next(&lines);
    if (!line || strcmp(line, head))
        return nw_lines_fail(&lines, "expected '%s'", head);
    while ((line = nw_lines_next(&lines)) != NULL)
        if (count == NW_ROUNDS ||
            !passthrough_cache_parse(line, &rounds[count++]) ||
            (count > 1 && rounds[count - 1].bytes <= rounds[count - 2].bytes))
            return nw_lines_fail(&lines, "expected bytes and two times");
    return count == NW_ROUNDS ? NW_OK : nw_lines_fail(&lines, "lines missing");
}

nw_status nw_passthrough_cache_read(bool near,
                                    struct nw_round_trip rounds[NW_ROUNDS])
{
    char *path = NULL, *text = NULL;
    size_t length;
    nw_status status = passthrough_cache_find_path(near, &path);

    if (!status)
        status = nw_file_read_text(path, &text, &length);
    if (!status)
        status = passthrough_cache_parse_all(path, text, rounds);
    free(text);
    free(path);
    return status;
}

nw_status
nw_passthrough_cache_write(bool near,
                           const struct nw_round_trip rounds[NW_ROUNDS])
{
    struct nw_text text = {0};
    char *path = NULL;
    nw_status status = passthrough_cache_find_path(near, &path);

    nw_text_format(&text, "%s\n# bytes, us staged, us by MPI itself\n", head);
    for (int i = 0; i < NW_ROUNDS; i++)
        nw_text_format(&text, "%llu %.3f %.3f\n",
                       (unsigned long long)rounds[i].bytes, rounds[i].ours,
                       rounds[i].theirs);
    if (!status)
        status = nw_file_folders(path, 0700);
    if (!status)
        status = nw_file_write_text(path, &text);
    nw_text_fini(&text);
    free(path);
    return status;
}
