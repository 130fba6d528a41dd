/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an hwloc XML file before hwloc reads it: hwloc reports errors without
 * a line number and accepts invalid numbers. Converts files of hwloc 3 if the
 * library is hwloc 2. This is a scanner of tags and attributes, not a full XML
 * parser. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/hwloc/parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NESTING 128
#define MAX_OS_INDEX 65535

/* The state of the scanner. `open` has the names of the open tags. */
struct scanner {
    const char *file;
    char *at;
    int line;
    int depth;
    struct check_xml_word {
        const char *start;
        int length;
    } open[MAX_NESTING];
    struct check_xml_word type, os_index; /* values of these attributes of the
                                             current tag; `start` is NULL if the
                                             attribute is missing */
    bool is_host; /* the current <info> is named HostName */
    bool turns;   /* the file is of hwloc 3 and must be converted, because the
                     library is hwloc 2 */
    char *host;
};

static nw_status check_xml_bad(const struct scanner *scanner, const char *what,
                               struct check_xml_word word)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.*s'", scanner->file, scanner->line,
                   what, word.length > 60 ? 60 : word.length, word.start);
}

static struct check_xml_word check_xml_one(const char *at)
{
    return (struct check_xml_word){at, *at && *at != '\n'};
}

static bool check_xml_is(struct check_xml_word word, const char *text)
{
    return (size_t)word.length == strlen(text) &&
           !memcmp(word.start, text, (size_t)word.length);
}

static void check_xml_skip_to(struct scanner *scanner, const char *end)
{
    for (; scanner->at < end; scanner->at++)
        scanner->line += *scanner->at == '\n';
}

static void check_xml_skip_blanks(struct scanner *scanner)
{
    check_xml_skip_to(scanner, scanner->at + strspn(scanner->at, " \t\r\n"));
}

static struct check_xml_word check_xml_take_name(struct scanner *scanner)
{
    size_t length = strcspn(scanner->at, " \t\r\n=<>/\"'");
    struct check_xml_word word = {scanner->at,
                                  length > 4096 ? 4096 : (int)length};

    scanner->at += length;
    return word;
}

/* Moves past the next `end` in the text. Fails if the file ends before it. */
static nw_status check_xml_skip_past(struct scanner *scanner, const char *end)
{
    char *found = strstr(scanner->at, end);

    if (!found)
        return nw_fail(NW_EFORMAT, "%s:%d: the file ends before a '%s'",
                       scanner->file, scanner->line, end);
    check_xml_skip_to(scanner, found + strlen(end));
    return NW_OK;
}

/* Checks the version of the file. If the file is of hwloc 3 and the library is
 * hwloc 2, replaces the version by 2 and sets `turns`. Fails if the library
 * cannot read the version. */
static nw_status check_xml_check_version(struct scanner *scanner,
                                         struct check_xml_word value)
{
    int major = atoi(value.start);
    int mine = (int)(hwloc_get_api_version() >> 16);

    scanner->turns = major == 3 && mine == 2;
    if (scanner->turns)
        *(char *)(uintptr_t)value.start = '2';
    else if (major > mine)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: hwloc XML version %.*s, which the hwloc %d here "
                       "cannot read; hwloc %d can, and its 'lstopo "
                       "--export-xml-flags v2 FILE.xml' writes what this reads",
                       scanner->file, scanner->line,
                       value.length > 20 ? 20 : value.length, value.start, mine,
                       major);
    if (major < 1)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: hwloc XML version %.*s; the hwloc here reads "
                       "versions 1 to %d",
                       scanner->file, scanner->line,
                       value.length > 20 ? 20 : value.length, value.start,
                       mine);
    return NW_OK;
}

/* Checks os_index. For a hardware thread or a NUMA node it is the number of a
 * bit in a set; a large number would make hwloc fill all memory. Other objects
 * may have any number of 32 bits: in files of hwloc 1, it may be a PCI address
 * or a manufacturer's number of a package. */
static nw_status check_index(struct scanner *scanner)
{
    struct check_xml_word type = scanner->type, value = scanner->os_index;
    bool is_bit = check_xml_is(type, "PU") || check_xml_is(type, "NUMANode") ||
                  check_xml_is(type, "Node");
    char text[16];
    uint64_t index;

    if (!value.start)
        return NW_OK;
    snprintf(text, sizeof text, "%.*s", value.length, value.start);
    if (nw_parse_u64(text, &index) &&
        index <= (is_bit ? MAX_OS_INDEX : UINT32_MAX))
        return NW_OK;
    return check_xml_bad(scanner,
                         is_bit ? "os_index is a number from 0 to 65535, not"
                                : "os_index is not a number:",
                         value);
}

/* Replaces an osdev_type of hwloc 3, which is a set of bits, by hwloc 2's
 * number of the most specific type in the set. */
static void turn_device(struct check_xml_word value)
{
    static const struct {
        int bit;
        char number;
    } kinds[] = {{8, '5'}, {32, '3'}, {16, '2'}, /* co-processor, verbs, net */
                 {4, '1'}, {64, '4'}, {1, '0'}}; /* GPU, DMA, storage */
    char *text = (char *)(uintptr_t)value.start;
    int set = atoi(text);
    size_t k = 0;

    while (k < sizeof kinds / sizeof *kinds - 1 && !(set & kinds[k].bit))
        k++;
    memset(text, ' ', (size_t)value.length);
    if (value.length)
        text[value.length - 1] = kinds[k].number;
}

static nw_status check_attribute(struct scanner *scanner,
                                 struct check_xml_word tag,
                                 struct check_xml_word name,
                                 struct check_xml_word value)
{
    if (check_xml_is(tag, "topology") && check_xml_is(name, "version"))
        return check_xml_check_version(scanner, value);
    if (scanner->turns && check_xml_is(name, "osdev_type"))
        turn_device(value);
    if (check_xml_is(name, "type"))
        scanner->type = value;
    if (check_xml_is(tag, "object") && check_xml_is(name, "os_index"))
        scanner->os_index = value;
    if (check_xml_is(tag, "info") && check_xml_is(name, "name"))
        scanner->is_host = check_xml_is(value, "HostName");
    if (check_xml_is(tag, "info") && check_xml_is(name, "value") &&
        scanner->is_host && !scanner->host && value.length) {
        scanner->is_host = false;
        scanner->host = strndup(value.start, (size_t)value.length);
        if (!scanner->host)
            return nw_fail(NW_ENOMEM, "out of memory for a host name");
    }
    return NW_OK;
}

static nw_status check_xml_take_attribute(struct scanner *scanner,
                                          struct check_xml_word tag)
{
    struct check_xml_word name = check_xml_take_name(scanner), value;
    char quote[3] = {0};

    if (!name.length)
        return check_xml_bad(scanner, "an attribute was expected at",
                             check_xml_one(scanner->at));
    check_xml_skip_blanks(scanner);
    if (*scanner->at != '=')
        return check_xml_bad(scanner, "no value for attribute", name);
    scanner->at++;
    check_xml_skip_blanks(scanner);
    if (*scanner->at != '"' && *scanner->at != '\'')
        return check_xml_bad(scanner, "no quoted value for attribute", name);
    quote[0] = *scanner->at++;
    quote[1] = '<';
    value =
        (struct check_xml_word){scanner->at, (int)strcspn(scanner->at, quote)};
    if (scanner->at[value.length] != quote[0])
        return check_xml_bad(scanner, "no end of the value of attribute", name);
    check_xml_skip_to(scanner, scanner->at + value.length + 1);
    return check_attribute(scanner, tag, name, value);
}

static nw_status check_xml_open_tag(struct scanner *scanner,
                                    struct check_xml_word tag)
{
    nw_status status = NW_OK;

    if (!tag.length)
        return check_xml_bad(scanner, "no tag after",
                             (struct check_xml_word){"<", 1});
    if (!scanner->depth && check_xml_is(tag, "system"))
        return check_xml_bad(scanner,
                             "nccl:FILE reads NCCL's files; hwloc XML begins "
                             "with <topology>, not",
                             tag);
    if (!scanner->depth && !check_xml_is(tag, "topology"))
        return check_xml_bad(scanner, "hwloc XML begins with <topology>, not",
                             tag);
    if (scanner->depth == MAX_NESTING)
        return check_xml_bad(scanner, "more than 128 levels at", tag);
    scanner->type = scanner->os_index = (struct check_xml_word){NULL, 0};
    check_xml_skip_blanks(scanner);
    while (!status && *scanner->at != '>' && *scanner->at != '/') {
        status = check_xml_take_attribute(scanner, tag);
        check_xml_skip_blanks(scanner);
    }
    if (!status)
        status = check_index(scanner);
    if (status)
        return status;
    if (*scanner->at == '>')
        scanner->open[scanner->depth++] = tag;
    else if (*++scanner->at != '>')
        return check_xml_bad(scanner, "no '>' ends", tag);
    scanner->at++;
    return NW_OK;
}

static nw_status check_xml_close_tag(struct scanner *scanner)
{
    struct check_xml_word tag = check_xml_take_name(scanner), open;

    check_xml_skip_blanks(scanner);
    if (*scanner->at != '>')
        return check_xml_bad(scanner, "no '>' ends", tag);
    scanner->at++;
    if (!scanner->depth)
        return check_xml_bad(scanner, "nothing is open at the end of", tag);
    open = scanner->open[--scanner->depth];
    if (open.length != tag.length ||
        memcmp(open.start, tag.start, (size_t)tag.length))
        return check_xml_bad(scanner,
                             "the tag closed is not the one open:", tag);
    return NW_OK;
}

/* Reads an opening tag. If the file is converted and the tag is a closed one
 * (<.../>) that hwloc 3 writes directly below <topology> and hwloc 2 rejects,
 * overwrites the tag with blanks. */
static nw_status blank_unknown(struct scanner *scanner)
{
    char *start = scanner->at++;
    struct check_xml_word tag = check_xml_take_name(scanner);
    bool unknown =
        scanner->turns && scanner->depth == 1 &&
        (check_xml_is(tag, "info") || check_xml_is(tag, "pci_locality"));
    int depth = scanner->depth;
    nw_status status = check_xml_open_tag(scanner, tag);

    if (!status && unknown && scanner->depth == depth)
        for (; start < scanner->at; start++)
            if (*start != '\n')
                *start = ' ';
    return status;
}

static nw_status check_xml_take_tag(struct scanner *scanner)
{
    if (!strncmp(scanner->at, "<!--", 4))
        return check_xml_skip_past(scanner, "-->");
    if (scanner->at[1] == '?')
        return check_xml_skip_past(scanner, "?>");
    if (scanner->at[1] == '!')
        return check_xml_skip_past(scanner, ">");
    if (scanner->at[1] == '/') {
        scanner->at += 2;
        return check_xml_close_tag(scanner);
    }
    return blank_unknown(scanner);
}

static nw_status check_xml_scan(struct scanner *scanner)
{
    bool any = false;

    for (;;) {
        nw_status status;

        check_xml_skip_blanks(scanner);
        if (!*scanner->at)
            break;
        if (*scanner->at != '<' && !scanner->depth)
            return check_xml_bad(scanner,
                                 "no hwloc XML: a tag was expected, not",
                                 check_xml_one(scanner->at));
        check_xml_skip_to(scanner, scanner->at + strcspn(scanner->at, "<"));
        if (!*scanner->at)
            break;
        status = check_xml_take_tag(scanner);
        if (status)
            return status;
        any |= scanner->depth > 0;
        if (any && !scanner->depth)
            return NW_OK;
    }
    if (scanner->depth)
        return check_xml_bad(scanner, "the file ends inside",
                             scanner->open[scanner->depth - 1]);
    return nw_fail(NW_EFORMAT, "%s:%d: no <topology> in the file",
                   scanner->file, scanner->line);
}

/* Overwrites comments with blanks, since hwloc's own XML parser does not accept
 * comments. */
static void blank_comments(char *text)
{
    char *end;

    while ((text = strstr(text, "<!--")) && (end = strstr(text + 4, "-->"))) {
        for (end += 3; text < end; text++)
            if (*text != '\n')
                *text = ' ';
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
    struct scanner scanner = {.file = file, .line = 1};
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
    scanner.at = text;
    status = check_xml_scan(&scanner);
    if (status || !host)
        free(scanner.host);
    if (status) {
        free(text);
        return status;
    }
    if (host)
        *host = scanner.host;
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
