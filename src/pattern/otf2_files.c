/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that the files of an OTF2 trace are complete before libotf2 reads
 * them: libotf2 3.0 reads uninitialised memory if a file is truncated. */
#include "pattern/otf2_files.h"

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Fails if a file does not end with the marks "end of file" and "end of chunk".
 * A missing file is not an error here, because libotf2 reports it. */
static nw_status check_file(const char *path)
{
    unsigned char end[2] = {0, 0};
    struct stat info;
    FILE *file;
    bool whole;

    if (!stat(path, &info) && !S_ISREG(info.st_mode))
        return nw_fail(NW_EIO, "%s: is not a regular file", path);
    file = fopen(path, "rbe");
    if (!file)
        return NW_OK;
    whole = !fseek(file, -2, SEEK_END) && fread(end, 1, 2, file) == 2 &&
            end[0] == 2 && end[1] == 1;
    fclose(file);
    return whole ? NW_OK
                 : nw_fail(NW_EFORMAT,
                           "%s: the file of the trace is "
                           "truncated",
                           path);
}

static nw_status otf2_files_check(struct nw_text *name)
{
    char *path;
    nw_status status = nw_text_take(name, &path);

    if (status)
        return status;
    status = check_file(path);
    free(path);
    return status;
}

/* The anchor file is checked here, because libotf2 leaks memory if it fails to
 * open a file that is not a trace. */
nw_status nw_otf2_check_anchor(const char *anchor)
{
    static const char mark[] = "\003BOTF2";
    char *data;
    size_t length;
    nw_status status = nw_file_read(anchor, &data, &length);
    bool fits;

    if (status)
        return status;
    fits = length >= sizeof mark - 1 && !memcmp(data, mark, sizeof mark - 1);
    free(data);
    return fits ? NW_OK
                : nw_fail(NW_EFORMAT, "%s:1: not an OTF2 trace", anchor);
}

nw_status nw_otf2_check_definitions(const char *anchor)
{
    size_t length = strlen(anchor);
    struct nw_text name = {0};

    if (!nw_text_ends_with(anchor, ".otf2"))
        return NW_OK;
    nw_text_add_bytes(&name, anchor, length - strlen("otf2"));
    nw_text_add(&name, "def");
    return otf2_files_check(&name);
}

nw_status nw_otf2_check_location(const char *anchor, uint64_t location)
{
    static const char *const kinds[] = {"def", "evt"};
    size_t length = strlen(anchor);
    nw_status status = NW_OK;

    if (!nw_text_ends_with(anchor, ".otf2"))
        return NW_OK;
    for (int i = 0; !status && i < 2; i++) {
        struct nw_text name = {0};

        nw_text_add_bytes(&name, anchor, length - strlen(".otf2"));
        nw_text_format(&name, "/%llu.%s", (unsigned long long)location,
                       kinds[i]);
        status = otf2_files_check(&name);
    }
    return status;
}

static _Thread_local size_t folder_size;

static int otf2_files_add_size(const char *path, const struct stat *info,
                               int kind, struct FTW *where)
{
    (void)path, (void)where;
    if (kind != FTW_NS) /* else *info is not set */
        folder_size += (size_t)info->st_size;
    return 0;
}

unsigned nw_otf2_seconds(const char *anchor)
{
    size_t length = strlen(anchor);
    char *folder = NULL;

    folder_size = 0;
    if (nw_text_ends_with(anchor, ".otf2") && !nw_strdup(anchor, &folder)) {
        folder[length - strlen(".otf2")] = '\0';
        nftw(folder, otf2_files_add_size, 16, FTW_PHYS);
    }
    free(folder);
    return 10 + (unsigned)(folder_size >> 20);
}
