/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an hwloc XML file before hwloc reads it: hwloc reports errors without
 * a line number and accepts invalid numbers. Converts files of hwloc 3 if the
 * library is hwloc 2. */
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/hwloc/parts.h"
#include "topology/parse/xml.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_OS_INDEX 65535

struct check_xml {
    bool turns; /* the file is of hwloc 3 and must be converted, because the
                   library is hwloc 2 */
    char *host;
};

/* Checks the version of the file. If the file is of hwloc 3 and the library is
 * hwloc 2, replaces the version by 2 and sets `turns`. Fails if the library
 * cannot read the version. */
static nw_status check_xml_check_version(struct check_xml *check,
                                         const struct nw_xml_opening *opening)
{
    struct nw_xml_word value = nw_xml_value(opening, "version");
    int major = value.start ? atoi(value.start) : 1;
    int mine = (int)(hwloc_get_api_version() >> 16);
    int length = value.length > 20 ? 20 : (int)value.length;

    check->turns = major == 3 && mine == 2;
    if (check->turns)
        *value.start = '2';
    else if (major > mine)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: hwloc XML version %.*s, which the hwloc %d here "
                       "cannot read; hwloc %d can, and its 'lstopo "
                       "--export-xml-flags v2 FILE.xml' writes what this reads",
                       opening->file, opening->line, length, value.start, mine,
                       major);
    if (major < 1)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: hwloc XML version %.*s; the hwloc here reads "
                       "versions 1 to %d",
                       opening->file, opening->line, length, value.start, mine);
    return NW_OK;
}

static nw_status check_xml_check_root(struct check_xml *check,
                                      const struct nw_xml_opening *opening)
{
    if (nw_xml_is(opening->tag, "system"))
        return nw_xml_fail(opening->file, opening->line,
                           "nccl:FILE reads NCCL's files; hwloc XML begins "
                           "with <topology>, not",
                           opening->tag);
    if (!nw_xml_is(opening->tag, "topology"))
        return nw_xml_fail(opening->file, opening->line,
                           "hwloc XML begins with <topology>, not",
                           opening->tag);
    return check_xml_check_version(check, opening);
}

/* Checks os_index. For a hardware thread or a NUMA node it is the number of a
 * bit in a set; a large number would make hwloc fill all memory. Other objects
 * may have any number of 32 bits: in files of hwloc 1, it may be a PCI address
 * or a manufacturer's number of a package. */
static nw_status check_index(const struct nw_xml_opening *opening)
{
    struct nw_xml_word type = nw_xml_value(opening, "type");
    struct nw_xml_word value = nw_xml_value(opening, "os_index");
    bool is_bit = nw_xml_is(type, "PU") || nw_xml_is(type, "NUMANode") ||
                  nw_xml_is(type, "Node");
    char text[16];
    uint64_t index;

    if (!value.start)
        return NW_OK;
    snprintf(text, sizeof text, "%.*s",
             value.length > 15 ? 15 : (int)value.length, value.start);
    if (nw_parse_u64(text, &index) &&
        index <= (is_bit ? MAX_OS_INDEX : UINT32_MAX))
        return NW_OK;
    return nw_xml_fail(opening->file, opening->line,
                       is_bit ? "os_index is a number from 0 to 65535, not"
                              : "os_index is not a number:",
                       value);
}

/* Replaces an osdev_type of hwloc 3, which is a set of bits, by hwloc 2's
 * number of the most specific type in the set. */
static void turn_device(struct nw_xml_word value)
{
    static const struct {
        int bit;
        char number;
    } kinds[] = {{8, '5'}, {32, '3'}, {16, '2'}, /* co-processor, verbs, net */
                 {4, '1'}, {64, '4'}, {1, '0'}}; /* GPU, DMA, storage */
    int set;
    size_t k = 0;

    if (!value.length)
        return;
    set = atoi(value.start);
    while (k < sizeof kinds / sizeof *kinds - 1 && !(set & kinds[k].bit))
        k++;
    memset(value.start, ' ', value.length);
    value.start[value.length - 1] = kinds[k].number;
}

/* Keeps the value of the first <info> that is named HostName. */
static nw_status check_xml_keep_host(struct check_xml *check,
                                     const struct nw_xml_opening *opening)
{
    struct nw_xml_word value = nw_xml_value(opening, "value");

    if (check->host || !value.length ||
        !nw_xml_is(nw_xml_value(opening, "name"), "HostName"))
        return NW_OK;
    check->host = strndup(value.start, value.length);
    return check->host ? NW_OK
                       : nw_fail(NW_ENOMEM, "out of memory for a host name");
}

/* Overwrites a tag with blanks, except for its ends of lines. */
static void check_xml_blank(struct nw_xml_word text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.start[i] != '\n')
            text.start[i] = ' ';
}

static nw_status check_xml_take_tag(void *user,
                                    const struct nw_xml_opening *opening)
{
    struct check_xml *check = user;
    bool is_info = nw_xml_is(opening->tag, "info");
    nw_status status = NW_OK;

    if (!opening->depth)
        status = check_xml_check_root(check, opening);
    else if (is_info)
        status = check_xml_keep_host(check, opening);
    else if (nw_xml_is(opening->tag, "object"))
        status = check_index(opening);
    if (status || !check->turns)
        return status;
    turn_device(nw_xml_value(opening, "osdev_type"));
    /* hwloc 2 rejects these tags of hwloc 3 */
    if (opening->depth == 1 && opening->closed &&
        (is_info || nw_xml_is(opening->tag, "pci_locality")))
        check_xml_blank(opening->text);
    return NW_OK;
}

/* Overwrites comments with blanks, since hwloc's own XML parser does not accept
 * comments. */
static void blank_comments(char *text)
{
    char *end;

    while ((text = strstr(text, "<!--")) && (end = strstr(text + 4, "-->"))) {
        end += strlen("-->");
        check_xml_blank((struct nw_xml_word){text, (size_t)(end - text)});
        text = end;
    }
}

/* Fails for texts of 2 GiB or more, since hwloc keeps their length in an
 * int. */
static nw_status check_xml_check_size(const char *file, uint64_t bytes)
{
    return bytes < INT_MAX ? NW_OK
                           : nw_fail(NW_EFORMAT,
                                     "%s: of 2 GiB or more, which hwloc "
                                     "cannot read",
                                     file);
}

/* Reads the file into *text, which the caller frees. A file whose size is known
 * to be too large is not read. */
static nw_status check_xml_read_text(const char *file, char **text,
                                     size_t *count)
{
    struct stat info;
    nw_status status = NW_OK;

    if (!stat(file, &info) && S_ISREG(info.st_mode))
        status = check_xml_check_size(file, (uint64_t)info.st_size);
    if (!status)
        status = nw_file_read_text(file, text, count);
    if (status)
        return status;
    status = check_xml_check_size(file, *count);
    if (status)
        free(*text);
    return status;
}

nw_status nw_hwloc_xml_read(const char *file, char **data, size_t *length,
                            char **host)
{
    struct check_xml check = {.turns = false};
    char *text;
    size_t count;
    nw_status status = check_xml_read_text(file, &text, &count);

    if (status)
        return status;
    status = nw_hwloc_load();
    if (status) {
        free(text);
        return status;
    }
    status = nw_xml_scan(file, text, check_xml_take_tag, &check);
    if (status || !host)
        free(check.host);
    if (status) {
        free(text);
        return status;
    }
    if (host)
        *host = check.host;
    blank_comments(text);
    *data = text;
    *length = count;
    return NW_OK;
}

nw_status nw_hwloc_host_name(const char *file, char **out)
{
    char *data;
    size_t length;
    nw_status status = nw_hwloc_xml_read(file, &data, &length, out);

    if (!status)
        free(data);
    return status;
}
